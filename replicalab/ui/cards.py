"""What the front door shows of each study: what it teaches, and how its three labs answer."""

from collections.abc import Callable, Hashable, Iterable
from functools import lru_cache, partial
from typing import Final, NamedTuple

from replicalab import scenarios
from replicalab.assessment import assess
from replicalab.lexicon import label_key
from replicalab.models import Dimension
from replicalab.planner import PlanAnalysis
from replicalab.ui.study_cache import OwnStudy


class ShownLabs(NamedTuple):
    """The labs of a card: the study's three at a seed, and the visitor's lab if it differs.

    Attributes:
        level: the lab that ``own`` changes.
        own: those changes as JSON, to be hashed.
    """

    seed: int = 0
    level: scenarios.Difficulty = scenarios.Difficulty.MEDIUM
    own: str = "{}"


_AS_WRITTEN: Final = ShownLabs()


class Card(NamedTuple):
    """One study at a glance.

    Attributes:
        summary: title, field, lesson.
        labs: the reference protocol in each lab, by the lab's name.
        own: as a visitor brought it, this one or another; None on the shelf.
    """

    summary: scenarios.ScenarioSummary
    labs: dict[str, PlanAnalysis]
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


def cards(labs: ShownLabs = _AS_WRITTEN) -> list[Card]:
    """Return a card per study on the shelf, in the shelf's order; kept until a file changes."""
    return list(_cards(scenarios.shelf_fingerprint(), labs))


@lru_cache(maxsize=4)
def _cards(_fingerprint: Hashable, labs: ShownLabs) -> tuple[Card, ...]:
    return tuple(
        Card(about, _analyses(partial(scenarios.load_scenario, about.scenario_id), labs))
        for about in scenarios.list_scenarios()
    )


def own_card(own: OwnStudy, labs: ShownLabs = _AS_WRITTEN) -> Card:
    """Return the card of a study that a visitor brought."""
    found = _analyses(partial(scenarios.pack_of, own.study), labs)
    return Card(own.study, found, own)


def _analyses(
    pack_in: Callable[[scenarios.Difficulty, int], scenarios.Pack], labs: ShownLabs
) -> dict[str, PlanAnalysis]:
    packs = {level.capitalize(): pack_in(level, labs.seed) for level in scenarios.Difficulty}
    if labs.own != _AS_WRITTEN.own:
        own_lab = scenarios.LabOverrides.model_validate_json(labs.own)
        written = packs[labs.level.capitalize()]
        packs["Yours"] = written.with_own(own_lab, scenarios.EvidenceAssumptions())
    return {name: reference_options(pack) for name, pack in packs.items()}


def matching(found: Iterable[Card], wanted: Filter) -> list[Card]:
    """Return the cards that fit a filter, in their order."""
    words = label_key(wanted.text).split()
    return [card for card in found if _fits(card, wanted, words)]


def _fits(card: Card, wanted: Filter, words: list[str]) -> bool:
    about, paper = card.summary, card.summary.paper
    labs = [lab for lab in card.labs.values() if wanted.lab in (None, lab.yours.pack.difficulty)]
    binds = wanted.binds is None or any(wanted.binds is lab.binding for lab in labs)
    domain = about.domain_id.replace("_", " ")
    named = (
        about.scenario_id,
        domain,
        paper.name,
        paper.title,
        paper.citation,
        paper.goal,
        paper.teaches,
    )
    said = label_key(" ".join((*named, about.design.unit_of_n)))
    return binds and wanted.domain in (None, about.domain_id) and all(w in said for w in words)
