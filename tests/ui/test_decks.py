"""The slides of a deck next to each other: what one says of a plan, every other one says too."""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise, product
from typing import Final
from xml.etree import ElementTree

from replicalab.assessment import assess, cautions_text
from replicalab.facts.negotiation import offered_plan
from replicalab.facts.present import Slide
from replicalab.lexicon import amount_text
from replicalab.negotiation import (
    AUTOMATIC,
    RULED_LAB_MANAGERS,
    LabManagerKind,
    Outcome,
    ScientistKind,
    concession_steps,
)
from replicalab.negotiation.case import Case
from replicalab.negotiation.comparison import negotiated
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import load_scenario
from replicalab.ui.negotiation.table import RunSession
from replicalab.ui.present import slides
from tests.facts.reading import tree
from tests.ui.pages import IN_EVERY_LAB
from tests.ui.reading import heard

PLAYERS: Final = [*product(sorted(AUTOMATIC), RULED_LAB_MANAGERS)]
MOST_WORDS: Final = 12
MOST_ROWS: Final = 4
"""So many steps stand in a ledger one by one; of more each field does."""

Numbers = dict[str, str]
"""What a slide says of a plan: its size, days, credits and evidence, by the row's name."""


class Deck:
    """The slides of a negotiation between rules, read as an audience reads them."""

    def __init__(
        self, study: str, lab: str, scientist: ScientistKind, lab_manager: LabManagerKind
    ) -> None:
        pack = load_scenario(study, lab)
        here = PlanAnalysis(assess(pack.reference_protocol, pack))
        case = Case.of(pack, scientist=scientist, lab_manager=lab_manager)
        negotiation = negotiated(here.yours, case)
        assert negotiation is not None
        self.outcome, self.pack, self.opening = negotiation.outcome, pack, here.yours
        self.is_contrasted = scientist is not ScientistKind.BASELINE
        self.noun = pack.design.samples_noun
        self.measure = here.yours.evidence.measure.capitalize()
        self.negotiation = negotiation
        showns = [*slides(here, RunSession(negotiation))]
        self.kinds = [item.slide for item in showns]
        self.trees = [tree(item.panel) for item in showns]

    def of(self, kind: Slide) -> list[ElementTree.Element]:
        return [panel for slide, panel in zip(self.kinds, self.trees, strict=True) if slide is kind]

    def one(self, kind: Slide) -> ElementTree.Element:
        [panel] = self.of(kind)
        return panel

    def path(self) -> Iterator[tuple[Numbers, Numbers]]:
        """Yield what each concession makes of the plan's numbers: before it, and after it."""
        return map(moved, self.of(Slide.CONCESSION))


@cache
def deck_of(study: str, lab: str, scientist: ScientistKind, lab_manager: LabManagerKind) -> Deck:
    return Deck(study, lab, scientist, lab_manager)


def in_every_deck(check: Callable[[Deck], None]) -> Callable[[str, str], None]:
    """Return a test that checks the decks of a study in a lab, of all who play by rule."""

    def test(study: str, lab: str) -> None:
        for players in PLAYERS:
            check(deck_of(study, lab, *players))

    test.__name__ = check.__name__
    result: Callable[[str, str], None] = IN_EVERY_LAB(test)
    return result


def heading(panel: ElementTree.Element) -> str:
    return heard(panel.findall(".//h1")[0])


def stands(panel: ElementTree.Element) -> list[list[str]]:
    """Return the rows of a slide's plan in numbers; none where it shows none."""
    tables = panel.findall(".//table[@class='stands']")
    return [[heard(cell) for cell in row] for table in tables for row in table.iter("tr")][1:]


def moved(panel: ElementTree.Element) -> tuple[Numbers, Numbers]:
    """Return the numbers of the plan before and after what a slide shows."""
    both: tuple[Numbers, Numbers] = ({}, {})
    for name, value, *_ in stands(panel):
        was, _, now = value.rpartition(" → ")
        both[0][name], both[1][name] = was or now, now
    return both


def number(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-").replace("±", ""))


@in_every_deck
def test_deck_leads_from_claim_to_decision(deck: Deck) -> None:
    order = [*dict.fromkeys(deck.kinds)]
    assert order[:2] == [Slide.STAKE, Slide.PLAN]
    assert order[-1] is Slide.DECISION
    assert (Slide.LEDGER in order) == (Slide.CONCESSION in order)
    assert (Slide.RULE in order) == (deck.is_contrasted and not deck.opening.feasible)


@in_every_deck
def test_heading_has_twelve_words_at_most(deck: Deck) -> None:
    for panel in deck.trees:
        assert len(heading(panel).split()) <= MOST_WORDS


@in_every_deck
def test_each_slide_begins_at_the_last_plan(deck: Deck) -> None:
    stations = [({}, moved(deck.one(Slide.PLAN))[1]), *deck.path()]
    for (_, after), (before, _) in pairwise(stations):
        assert after == before


@in_every_deck
def test_ledger_adds_up_from_first_to_last_plan(deck: Deck) -> None:
    for panel in deck.of(Slide.LEDGER):
        *rows, total = [[heard(cell) for cell in row] for row in panel.iter("tr")][1:]
        path = [*deck.path()]
        first, last = path[0][0], path[-1][1]
        assert sum(number(row[1]) for row in rows) == number(total[1])
        assert number(total[1]) == number(last["Credits"]) - number(first["Credits"])
        ends = [first[deck.measure], last[deck.measure]]
        assert total[3] == ("unchanged" if ends[0] == ends[1] else " → ".join(ends))
        moves = [
            -concession_step.step.credits_saved
            for concession_step in concession_steps(deck.negotiation)
        ]
        assert len(moves) > MOST_ROWS or [row[1] for row in rows] == [*map(_signed, moves)]


def _signed(moved: float) -> str:
    return f"{'−' if moved < 0 else '+' if moved else '±'}{abs(moved):,.0f}"


@in_every_deck
def test_concession_shows_the_answer_to_it(deck: Deck) -> None:
    rounds = deck.negotiation.rounds
    plans = [done.plan for done in rounds if done.plan]
    changed = [now for was, now in pairwise(plans) if was.plan != now.plan]
    elements = deck.of(Slide.CONCESSION)
    assert len(elements) == len(changed)
    for panel, plan in zip(elements, changed, strict=True):
        done = next(done for done in rounds if done.plan is plan)
        offer, text = offered_plan(done), heard(panel)
        assert ("accepts" in text) == plan.feasible
        assert offer is None or f"{amount_text(offer.counts.samples)} " in text


@in_every_deck
def test_decision_is_about_the_agreed_plan(deck: Deck) -> None:
    decision = deck.one(Slide.DECISION)
    text = heard(decision)
    assert ("Agreed in round" in text) == (deck.outcome is Outcome.AGREED)
    if deck.outcome is Outcome.AGREED:
        plan = deck.negotiation.final_plan
        assert plan is not None
        assert f"{amount_text(plan.cost)} credits" in heading(decision)
        assert f"in {plan.counts.days} day" in heading(decision)
        assert plan.evidence.number in text
        of_plan = text.lower().partition("to do more")[0]  # then another plan's cautions may follow
        for word in ("breaks", "lacks"):
            assert (word in cautions_text(plan)) == (word in of_plan)
    assert ("Do not run" in heading(decision)) != heading(decision).startswith(
        ("passes Run", "caution Run")
    )
