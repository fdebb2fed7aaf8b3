"""The slides of a deck next to each other: what one says of a plan, every other one says too."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations, pairwise, product
from typing import Final
from xml.etree import ElementTree

from replicalab.assessment import assess
from replicalab.case import Case
from replicalab.comparison import negotiated
from replicalab.negotiation import (
    AUTOMATIC,
    RULED_LAB_MANAGERS,
    LabManagerKind,
    Outcome,
    ScientistKind,
)
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import load_scenario
from replicalab.ui.negotiation.table import RunSession
from replicalab.ui.present import slides
from replicalab.views.plan import unit_noun
from replicalab.views.present import Slide
from tests.ui.pages import IN_EVERY_LAB
from tests.ui.reading import heard
from tests.views.reading import tree

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
        found = negotiated(here.yours, case)
        assert found is not None
        self.outcome, self.pack = found.outcome, pack
        self.noun = unit_noun(pack.design)
        self.measure = here.yours.evidence.measure.capitalize()
        shown = slides(here, RunSession(found))
        self.kinds = [each.slide for each in shown]
        self.trees = [tree(each.panel()) for each in shown]

    def of(self, kind: Slide) -> list[ElementTree.Element]:
        return [panel for found, panel in zip(self.kinds, self.trees, strict=True) if found is kind]

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
    found: Callable[[str, str], None] = IN_EVERY_LAB(test)
    return found


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


def seven(panel: ElementTree.Element) -> dict[str, str]:
    """Return how each of the seven dimensions is marked."""
    marks = (heard(each).split() for each in panel.findall(".//ul[@class='seven']/li"))
    return {name: sign for sign, name in marks}


def number(text: str) -> float:
    return float(text.replace(",", "").replace("−", "-").replace("±", ""))


@in_every_deck
def test_deck_goes_from_what_is_at_stake_to_what_is_to_be_decided(deck: Deck) -> None:
    order = [*dict.fromkeys(deck.kinds)]
    assert order[:2] == [Slide.STAKE, Slide.PLAN]
    assert order[-2:] == [Slide.OUTCOME, Slide.DECISION]
    assert (Slide.LEDGER in order) == (Slide.CONCESSION in order)


@in_every_deck
def test_heading_has_twelve_words_at_most(deck: Deck) -> None:
    for panel in deck.trees:
        assert len(heading(panel).split()) <= MOST_WORDS


@in_every_deck
def test_samples_are_called_what_the_study_calls_them(deck: Deck) -> None:
    for panel in deck.trees:
        counted = re.findall(r"[\d,]+ samples\b", heard(panel))
        assert deck.noun == "samples" or not counted


@in_every_deck
def test_plan_goes_on_from_slide_to_slide_where_the_last_one_left_it(deck: Deck) -> None:
    first, (_, last) = moved(deck.one(Slide.PLAN))[1], moved(deck.one(Slide.OUTCOME))
    assert moved(deck.one(Slide.OUTCOME))[0] == first
    stations = [({}, first), *deck.path(), (last, {})]
    for (_, after), (before, _) in pairwise(stations):
        assert after == before


@in_every_deck
def test_limits_are_the_same_on_every_pair_of_slides(deck: Deck) -> None:
    limits = [{row[0]: row[2] for row in stands(panel)} for panel in deck.trees if stands(panel)]
    has = [heard(each) for each in deck.one(Slide.STAKE).findall(".//ul[@class='has']/li")]
    budget, days = (amount.split()[0] for amount in has[:2])
    for one, other in combinations(limits, 2):
        for name in ("Days", "Credits", deck.measure):
            assert one[name] == other[name]
    assert all(each["Credits"] == f"of {budget}" for each in limits)
    assert all(each["Days"] == f"of {days}" for each in limits)


@in_every_deck
def test_ledger_adds_up_to_the_way_from_the_first_plan_to_the_last(deck: Deck) -> None:
    for panel in deck.of(Slide.LEDGER):
        *rows, total = [[heard(cell) for cell in row] for row in panel.iter("tr")][1:]
        first, last = moved(deck.one(Slide.OUTCOME))
        credits = [number(row[1]) for row in rows]
        assert sum(credits) == number(total[1])
        assert number(total[1]) == number(last["Credits"]) - number(first["Credits"])
        ends = [first[deck.measure], last[deck.measure]]
        assert total[3] == ("unchanged" if ends[0] == ends[1] else " → ".join(ends))
        given = [
            _signed(number(after["Credits"]) - number(before["Credits"]))
            for before, after in deck.path()
        ]
        assert len(given) > MOST_ROWS or [row[1] for row in rows] == given


def _signed(moved: float) -> str:
    return f"{'−' if moved < 0 else '+' if moved else '±'}{abs(moved):,.0f}"


@in_every_deck
def test_refused_offer_is_never_the_plan_that_it_came_to(deck: Deck) -> None:
    for panel in deck.of(Slide.REFUSED):
        assert moved(panel)[1] != moved(deck.one(Slide.OUTCOME))[1] or deck.outcome not in (
            Outcome.AGREED,
            Outcome.AGREED_BELOW_FLOOR,
        )


@in_every_deck
def test_verdicts_are_what_the_seven_checks_say(deck: Deck) -> None:
    plan, outcome = deck.one(Slide.PLAN), deck.one(Slide.OUTCOME)
    failing = [*seven(plan).values()].count("fails")
    assert (f"fails {failing} of the 7" if failing else "passes all 7") in heading(plan)
    ended = heading(outcome)
    passes = {*seven(outcome).values()} == {"passes"}
    agreed = deck.outcome in (Outcome.AGREED, Outcome.AGREED_BELOW_FLOOR)
    assert passes if agreed else deck.outcome is Outcome.NO_DEAL or not passes
    if deck.outcome is Outcome.AGREED:
        last = moved(outcome)[1]
        assert f"{last[deck.noun.capitalize()]} " in ended
        assert ended.endswith(last[deck.measure]) or last[deck.measure] in ended


@in_every_deck
def test_decision_is_about_the_plan_that_was_agreed(deck: Deck) -> None:
    decision, (_, last) = deck.one(Slide.DECISION), moved(deck.one(Slide.OUTCOME))
    text = heard(decision)
    assert ("The agreed plan" in text) == (deck.outcome is Outcome.AGREED)
    if deck.outcome is Outcome.AGREED:
        assert f"{last['Credits']} credits" in text
        assert f"in {last['Days']} day" in text
    assert ("worth running" in text) != ("The agreed plan" in text or "The best plan" in text)


@in_every_deck
def test_what_the_agreed_plan_breaks_stands_on_both_of_its_slides(deck: Deck) -> None:
    if deck.outcome is Outcome.AGREED:
        outcome = heard(deck.one(Slide.OUTCOME))
        agreed, _, more = heard(deck.one(Slide.DECISION)).partition("What it would take to do more")
        assert more
        for word in ("breaks", "lacks"):
            assert (word in outcome.lower()) == (word in agreed.lower())
