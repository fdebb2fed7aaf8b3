"""What the front door shows of each study: what it teaches, and how its three labs answer."""

from collections.abc import Callable, Hashable, Iterable
from functools import lru_cache, partial
from typing import NamedTuple

from replicalab import scenarios
from replicalab.assessment import assess
from replicalab.lexicon import label_key
from replicalab.models import Dimension
from replicalab.planner import PlanAnalysis
from replicalab.ui.study_cache import OwnStudy


class Card(NamedTuple):
    """One study at a glance.

    Attributes:
        summary: what it is about.
        labs: the reference protocol in the easy, the medium and the hard lab.
        own: as a visitor brought it, this one or another; None on the shelf.
    """

    summary: scenarios.ScenarioSummary
    labs: tuple[PlanAnalysis, ...]
    own: OwnStudy | None = None


class Filter(NamedTuple):
    """What to look for; None and "" look for nothing.

    ``binds`` asks for the limit that binds the reference protocol, in ``lab`` or in any lab.
    """

    text: str = ""
    domain: str | None = None
    binds: Dimension | None = None
    lab: scenarios.Difficulty | None = None


def reference_options(pack: scenarios.Pack) -> PlanAnalysis:
    """Return what may be done about a study's reference protocol in its lab."""
    return PlanAnalysis(assess(pack.reference_protocol, pack))


def cards() -> list[Card]:
    """Return a card per study on the shelf, in the shelf's order; kept until a file changes."""
    return list(_cards(scenarios.shelf_fingerprint()))


@lru_cache(maxsize=2)
def _cards(_fingerprint: Hashable) -> tuple[Card, ...]:
    return tuple(
        Card(about, _labs(partial(scenarios.load_scenario, about.scenario_id)))
        for about in scenarios.list_scenarios()
    )


def own_card(own: OwnStudy) -> Card:
    """Return the card of a study that a visitor brought."""
    return Card(scenarios.summary_of(own.study), _labs(partial(scenarios.pack_of, own.study)), own)


def _labs(pack_in: Callable[[scenarios.Difficulty], scenarios.Pack]) -> tuple[PlanAnalysis, ...]:
    return tuple(reference_options(pack_in(level)) for level in scenarios.Difficulty)


def matching(found: Iterable[Card], wanted: Filter) -> list[Card]:
    """Return the cards that fit a filter, in their order."""
    words = label_key(wanted.text).split()
    return [card for card in found if _fits(card, wanted, words)]


def _fits(card: Card, wanted: Filter, words: list[str]) -> bool:
    about = card.summary
    labs = [lab for lab in card.labs if wanted.lab in (None, lab.yours.pack.difficulty)]
    binds = wanted.binds is None or any(wanted.binds is lab.binding for lab in labs)
    domain = about.domain_id.replace("_", " ")
    named = (
        about.scenario_id,
        domain,
        about.name,
        about.title,
        about.citation,
        about.goal,
        about.teaches,
    )
    said = label_key(" ".join((*named, about.unit_of_n)))
    return binds and wanted.domain in (None, about.domain_id) and all(w in said for w in words)
