"""The slides of a deck beside each other: what one says of a plan, every other one says too."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from itertools import product
from typing import Final
from xml.etree import ElementTree

import pytest

from replicalab.assessment import assess
from replicalab.case import Case
from replicalab.comparison import negotiated
from replicalab.models import revise
from replicalab.negotiation import AUTOMATIC, LabManagerKind, ScientistKind
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import load_scenario
from replicalab.ui.negotiation.table import RunSession
from replicalab.ui.present import Shown, slides
from replicalab.views.present import Slide
from tests.ui.reading import IN_EVERY_LAB, heard
from tests.views.reading import tree

PLAYERS: Final = [*product(sorted(AUTOMATIC), LabManagerKind)]

_NAMES: Final = {
    "Your plan": "yours",
    "the Lab Manager’s offer": "offer",
    "the least-loss plan": "least",
    "the agreed plan": "last",
    "the last plan of the negotiation": "last",
}
_FIELDS: Final = {"Sample size": "samples", "Duration": "days", "Credits": "credits"}
_SIZE: Final = re.compile(r"([\d,]+) samples?(?: \([\d,]+ analysed\))? in ([\d,]+) days?")
_FITS: Final = re.compile(
    r"What fits( and counts)?: (up to|more than) ([\d,]+) samples?, (?:(\d+) to )?([\d,]+) days?"
)
Plan = dict[str, str]
"""What is told of a plan: samples, days, credits, evidence, verdict."""


def number(text: str) -> str:
    """Return a number without its unit: ``18 days`` is 18."""
    return text.split(" ", 1)[0]


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
        self.measure = here.yours.evidence.measure
        self.final = found.final_plan
        self.shown: list[Shown] = slides(here, RunSession(found))
        self.trees = [tree(shown.panel()) for shown in self.shown]

    def of(self, kind: Slide) -> list[ElementTree.Element]:
        pairs = zip(self.shown, self.trees, strict=True)
        return [panel for shown, panel in pairs if shown.slide is kind]

    def fits(self, samples: int) -> bool:
        """Return whether the plan that it came to passes with so many samples, in some days."""
        assert self.final is not None
        plan, pack = self.final.plan, self.final.pack
        return any(
            assess(revise(plan, sample_size=samples, duration_days=days), pack).feasible
            for days in range(1, pack.lab.days_left + 1)
        )

    @cached_property
    def told(self) -> dict[str, dict[str, set[str]]]:
        """Every value that any slide gives for any number of any plan, by plan and number."""
        found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for name, plan in self.claims():
            for what, value in plan.items():
                found[name][what].add(value)
        return found

    @cached_property
    def means(self) -> dict[str, str]:
        """What the lab has, by noun, as the question says it."""
        [question] = self.of(Slide.QUESTION)
        has = question.findall(".//ul[@class='has']/li")
        amounts = (heard(each).split(" ", 1) for each in has)
        return {f"{noun.removesuffix('s')}s": amount for amount, noun in amounts}

    @cached_property
    def bounds(self) -> tuple[str, str]:
        """The target and the floor, as the question says them."""
        [question] = self.of(Slide.QUESTION)
        terms = [heard(each) for each in question.findall(".//ul[@class='terms']/li")]
        target, floor = (re.match(r"\w+ (.*?):", each) for each in terms[-2:])
        assert target
        assert floor
        return target[1], floor[1]

    def claims(self) -> Iterator[tuple[str, Plan]]:
        """Yield what each slide says of a plan, with the plan's name."""
        [plan] = self.of(Slide.PLAN)
        yours = standing(plan, self.measure)[1]
        yield "yours", yours
        rounds = [standing(each, self.measure) for each in self.of(Slide.ROUND) if stands(each)]
        for at, (before, after) in enumerate(rounds, 1):
            yield f"round {at}", after
            yield f"round {max(1, at - 1)}", before
        [outcome] = self.of(Slide.OUTCOME)
        if stands(outcome):
            first, last = standing(outcome, self.measure)
            yield from (("round 1", first), ("last", last), (f"round {len(rounds)}", last))
        beside = set()
        for each in self.of(Slide.BESIDE):
            names, mine, other = compared(each, self.measure)
            beside |= set(names)
            yield "yours", mine
            whole = {**self.first_told(yours), **other}
            yield from ((name, whole) for name in names)
        if "last" not in beside and stands(outcome):
            yield "last", self.first_told(yours)

    @staticmethod
    def first_told(yours: Plan) -> Plan:
        """Return what is true of a plan that is said to differ in nothing else from yours."""
        return {what: value for what, value in yours.items() if what != "verdict"}


def stands(panel: ElementTree.Element) -> bool:
    return any("The plan in numbers" in heard(each) for each in panel.findall(".//table"))


def standing(panel: ElementTree.Element, measure: str) -> tuple[Plan, Plan]:
    """Return the numbers of the plan before and of the plan now, as the slide's table has them."""
    rows = [[heard(cell) for cell in row] for row in panel.findall(".//table")[-1].iter("tr")][1:]
    both: tuple[Plan, Plan] = ({}, {})
    for name, value, *_ in rows:
        what = "evidence" if name.lower() == measure else name.lower()
        was, _, now = value.rpartition(" → ")
        both[0][what], both[1][what] = was or now, now
    return both


def compared(panel: ElementTree.Element, measure: str) -> tuple[list[str], Plan, Plan]:
    """Return the other plan's names, and what is told of yours and of the other one."""
    title = heard(panel.findall(".//h1")[0])
    names = re.split(", also | and ", title.removeprefix("Your plan beside "))
    mine: Plan = {}
    other: Plan = {}
    fields = {**_FIELDS, measure.capitalize(): "evidence", "Verdict": "verdict"}
    for row in panel.findall(".//table")[-1].iter("tr"):
        name, one, two = (heard(cell) for cell in row)
        if name in fields:
            what = fields[name]
            keep = what in ("evidence", "verdict")
            mine[what], other[what] = (one, two) if keep else (number(one), number(two))
    return [_NAMES[name] for name in names], mine, other


def seven(panel: ElementTree.Element) -> dict[str, str]:
    """Return how each of the seven dimensions is marked."""
    lines = (line.partition(" ") for line in heard(panel).split("\n"))
    names = ("Protocol", "Budget", "Equipment", "Reagents", "Schedule", "Staff", "Policy")
    return {name: sign for sign, _, name in lines if name in names}


def failing_named(verdict: str) -> list[str]:
    """Return the dimensions that a verdict names as failing."""
    named = verdict.partition(": ")[2].removesuffix(" fails").removesuffix(" fail")
    found = re.split(", | and ", named) if "Not feasible" in verdict else []
    return [name.capitalize() for name in found]


def one_plan_has_the_same_numbers_on_every_slide(deck: Deck) -> None:
    for name, plan in deck.told.items():
        for what, values in plan.items():
            assert len(values) == 1, (name, what, values)


def limits_are_the_same_on_every_slide(deck: Deck) -> None:
    limits = {"Days": deck.means["days"], "Credits": deck.means["credits"]}
    target, floor = deck.bounds
    for panel in filter(stands, deck.trees):
        rows = {heard(row[0]): heard(row[2]) for row in panel.findall(".//table")[-1].iter("tr")}
        assert {name: rows[name] for name in limits} == {n: f"of {v}" for n, v in limits.items()}
        assert rows[deck.measure.capitalize()] == f"target {target}, floor {floor}"
    [region] = deck.of(Slide.REGION)
    for noun, amount in deck.means.items():
        assert f"{amount} {noun.removesuffix('s')}" in heard(region)


def verdicts_are_what_the_seven_dimensions_say(deck: Deck) -> None:
    [plan], [outcome] = deck.of(Slide.PLAN), deck.of(Slide.OUTCOME)
    verdict = next(iter(deck.told["yours"]["verdict"])) if "verdict" in deck.told["yours"] else ""
    assert ("fails" in seven(plan).values()) == ("Not feasible" in heard(plan))
    assert all(seven(plan)[name] == "fails" for name in failing_named(verdict))
    ended = heard(outcome.findall(".//h1")[0]).partition(" ")[2]
    agreed, passes = ended.startswith("Agreed"), set(seven(outcome).values()) == {"passes"}
    assert agreed or ended.startswith(("False agreement", "No deal"))
    assert seven(outcome) == seven(deck.of(Slide.ROUND)[-1])
    assert passes if agreed else not passes or ended.startswith("No deal")
    if last := deck.told["last"].get("verdict"):
        [verdict] = last
        assert passes == any(f" {word}" in verdict for word in ("Feasible", "Shows nothing"))
        worthless = ("below the floor", "Shows nothing")
        assert not agreed or any(w in verdict for w in worthless) == (
            "below the floor" in ended[:30]
        )


def offer_is_the_one_that_the_lab_manager_made(deck: Deck) -> None:
    first = deck.of(Slide.ROUND)[0]
    manager = first.findall(".//div[@class='pair']/section")[1]
    made = {heard(row[0]): heard(row[1]).rpartition(" → ")[2] for row in manager.iter("tr")}
    assert bool(made) == ("offer" in deck.told)
    for name, what in (("Sample size", "samples"), ("Duration", "days")):
        if name in made:
            assert deck.told["offer"][what] == {number(made[name])}


def region_is_of_the_plan_that_it_came_to_and_holds_it(deck: Deck) -> None:
    [region], [shown] = deck.of(Slide.REGION), [s for s in deck.shown if s.slide is Slide.REGION]
    [outcome] = deck.of(Slide.OUTCOME)
    last = {what: next(iter(values)) for what, values in deck.told["last"].items()}
    assert _SIZE.findall(heard(region))[0] == (last["samples"], last["days"])
    assert shown.figure is not None
    labels = [each.text for each in shown.figure().layout.annotations]
    if set(seven(outcome).values()) != {"passes"}:
        return
    fits = _FITS.search(heard(region))
    if last["evidence"] == "no evidence":
        assert fits is None
        return
    assert fits is not None
    most, first, final = (int((text or "0").replace(",", "")) for text in fits.groups()[2:])
    counts = re.search(r"\(([\d,]+) analysed\)", heard(region))
    planned = counts[1] if counts else last["samples"]
    assert deck.fits(most + 1) == (fits[2] == "more than" or bool(fits[1]))
    assert int(planned.replace(",", "")) <= most
    assert first <= int(last["days"]) <= final
    assert any(f"{last['evidence']}" in label for label in labels)


def region_does_not_deny_a_plan_that_fits_on_an_earlier_slide(deck: Deck) -> None:
    title = heard(deck.of(Slide.REGION)[0].findall(".//h1")[0])
    fits = any(" Feasible" in text for plan in deck.told.values() for text in plan["verdict"])
    if fits and not title.startswith("What fits"):
        assert "these items and controls" in title


CHECKS: Final = (
    one_plan_has_the_same_numbers_on_every_slide,
    limits_are_the_same_on_every_slide,
    verdicts_are_what_the_seven_dimensions_say,
    offer_is_the_one_that_the_lab_manager_made,
    region_is_of_the_plan_that_it_came_to_and_holds_it,
    region_does_not_deny_a_plan_that_fits_on_an_earlier_slide,
)


@pytest.mark.parametrize("players", PLAYERS, ids="-".join)
@IN_EVERY_LAB
def test_slides_of_a_deck_say_the_same(
    study: str, lab: str, players: tuple[ScientistKind, LabManagerKind]
) -> None:
    deck = Deck(study, lab, *players)
    for check in CHECKS:
        check(deck)
