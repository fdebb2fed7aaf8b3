"""The slides of a deck: each shows the numbers of the very plan that it is of, in its lab."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import Final
from xml.etree import ElementTree

import pytest

from replicalab.assessment import Assessment, assess
from replicalab.case import Case
from replicalab.comparison import negotiated
from replicalab.lexicon import amount_text, count_text
from replicalab.models import revise
from replicalab.negotiation import AUTOMATIC, LabManagerKind, Negotiation, ScientistKind
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import load_scenario
from replicalab.ui.negotiation.table import RunSession
from replicalab.ui.present import Shown, slides
from replicalab.views.negotiation import last_plan_text, outcome_verdict
from replicalab.views.present import Slide
from tests.ui.reading import IN_EVERY_LAB, heard
from tests.views.reading import tree

PLAYERS: Final = [*product(sorted(AUTOMATIC), LabManagerKind)]
_FIELDS: Final = ("Sample size", "Duration", "Credits")
_FITS: Final = re.compile(
    r"What fits( and counts)?: (up to|more than) ([\d,]+) samples?, (?:(\d+) to )?([\d,]+) days?"
)


class Deck:
    """The slides of a negotiation between rules, and the plans that they are of."""

    def __init__(
        self, study: str, lab: str, scientist: ScientistKind, lab_manager: LabManagerKind
    ) -> None:
        pack = load_scenario(study, lab)
        here = PlanAnalysis(assess(pack.reference_protocol, pack))
        case = Case.of(pack, scientist=scientist, lab_manager=lab_manager)
        talks = negotiated(here.yours, case)
        assert talks is not None
        assert talks.final_plan is not None
        self.yours, self.least, self.final = here.yours, here.least.after, talks.final_plan
        self.talks: Negotiation = talks
        self.shown: list[Shown] = slides(here, RunSession(talks))

    def of(self, kind: Slide) -> list[ElementTree.Element]:
        return [tree(each.panel()) for each in self.shown if each.slide is kind]

    @property
    def named(self) -> dict[str, Assessment]:
        """The plans that may stand beside yours, by what they are called."""
        mine = [
            done for done in self.talks.rounds if done.plan and done.plan.plan == self.yours.plan
        ]
        offers = [done.after.offer for done in mine if done.after.offer]
        return {
            **({"the Lab Manager’s offer": offers[0]} if offers else {}),
            "the least-loss plan": self.least,
            last_plan_text(self.talks): self.final,
        }


def numbers(plan: Assessment) -> list[str]:
    """Return samples, days, credits and evidence of a plan, as slides write them."""
    given = plan.plan.sample_size, plan.plan.duration_days, plan.cost
    return [*map(amount_text, given), plan.evidence.number]


def tabled(panel: ElementTree.Element) -> Iterator[list[str]]:
    """Yield the rows of the last table of a panel as heard, without its header."""
    yield from (
        [heard(cell) for cell in row] for row in [*panel.findall(".//table")[-1].iter("tr")][1:]
    )


def stands(panel: ElementTree.Element, before: Assessment, plan: Assessment) -> bool:
    """Return whether a slide's table has the numbers of a plan and of the one before."""
    values = [value.rpartition(" → ") for _, value, *_ in tabled(panel)]
    now = [now for _, _, now in values] == numbers(plan)
    return now and [was or now for was, _, now in values] == numbers(before)


def seven(panel: ElementTree.Element) -> list[str]:
    """Return how each of the seven dimensions is marked."""
    lines = (line.partition(" ") for line in heard(panel).split("\n"))
    names = "Protocol Budget Equipment Reagents Schedule Staff Policy".split()
    return [sign for sign, _, name in lines if name in names]


def marks(plan: Assessment) -> list[str]:
    return ["passes" if slack.ok else "fails" for slack in plan.slack.values()]


def each_plan_stands_with_its_own_numbers(deck: Deck) -> None:
    [plan], [outcome], *_ = deck.of(Slide.PLAN), deck.of(Slide.OUTCOME)
    rounds = [done for done in deck.talks.rounds if done.plan]
    assert stands(plan, deck.yours, deck.yours)
    assert seven(plan) == marks(deck.yours)
    first = before = rounds[0].plan
    assert first is not None
    for done, panel in zip(deck.talks.rounds, deck.of(Slide.ROUND), strict=True):
        if done.plan and before:
            assert stands(panel, before, done.plan)
            assert seven(panel) == marks(done.plan)
            before = done.plan
    assert stands(outcome, first, deck.final)
    assert seven(outcome) == marks(deck.final)
    ended = heard(outcome.findall(".//h1")[0]).partition(" ")[2]
    assert ended == " ".join(outcome_verdict(deck.talks).text.split())


def each_plan_beside_yours_is_the_one_that_is_named(deck: Deck) -> None:
    told, measure = set(), deck.yours.evidence.measure.capitalize()
    for panel in deck.of(Slide.BESIDE):
        title = heard(panel.findall(".//h1")[0])
        rows = {name: cells for name, *cells in tabled(panel)}
        for name in re.split(", also | and ", title.removeprefix("Your plan beside ")):
            told.add(name)
            both = zip(numbers(deck.yours), numbers(deck.named[name]), strict=True)
            for field, (mine, other) in zip((*_FIELDS, measure), both, strict=True):
                if field in rows or mine != other:
                    assert [re.sub(" days?$", "", cell) for cell in rows[field]] == [mine, other]
    assert told == {name for name, plan in deck.named.items() if plan.plan != deck.yours.plan}


def limits_are_those_of_the_lab_and_the_study(deck: Deck) -> None:
    pack, evidence = deck.yours.pack, deck.yours.evidence
    days, budget = pack.lab.days_left, pack.lab.budget
    [question], [region] = deck.of(Slide.QUESTION), deck.of(Slide.REGION)
    for has in ((budget, "credit"), (days, "day"), (pack.lab.staff, "staff unit")):
        assert count_text(*has) in heard(question)
        assert count_text(*has) in heard(region)
    target, floor = evidence.amount(evidence.target), evidence.amount(evidence.floor)
    limits = [f"of {amount_text(days)}", f"of {amount_text(budget)}"]
    for panel in (*deck.of(Slide.PLAN), *deck.of(Slide.OUTCOME)):
        assert [row[2] for row in tabled(panel)][1:] == [*limits, f"target {target}, floor {floor}"]


def region_is_of_the_plan_that_it_came_to_and_holds_it(deck: Deck) -> None:
    [region], [shown] = deck.of(Slide.REGION), [s for s in deck.shown if s.slide is Slide.REGION]
    samples, days, _, evidence = numbers(deck.final)
    size = rf"{samples} samples?(?: \(([\d,]+) analysed\))? in {days} day"
    told = re.search(size, heard(region))
    assert told is not None
    assert shown.figure is not None
    labels = [each.text for each in shown.figure().layout.annotations]
    fits = _FITS.search(heard(region))
    if not deck.final.feasible:
        return
    if deck.final.evidence.void_reason:
        assert fits is None
        return
    assert fits is not None
    most, first, last = (int((text or "0").replace(",", "")) for text in fits.groups()[2:])
    fit_more = any(
        assess(
            revise(deck.final.plan, sample_size=most + 1, duration_days=day), deck.final.pack
        ).feasible
        for day in range(1, deck.final.pack.lab.days_left + 1)
    )
    assert fit_more == (fits[2] == "more than" or bool(fits[1]))
    assert int((told[1] or samples).replace(",", "")) <= most
    assert first <= deck.final.counts.days <= last
    assert any(evidence in label for label in labels)


CHECKS: Final = (
    each_plan_stands_with_its_own_numbers,
    each_plan_beside_yours_is_the_one_that_is_named,
    limits_are_those_of_the_lab_and_the_study,
    region_is_of_the_plan_that_it_came_to_and_holds_it,
)


@pytest.mark.parametrize("players", PLAYERS, ids="-".join)
@IN_EVERY_LAB
def test_deck_says_of_each_plan_what_the_core_says(
    study: str, lab: str, players: tuple[ScientistKind, LabManagerKind]
) -> None:
    deck = Deck(study, lab, *players)
    for check in CHECKS:
        check(deck)
