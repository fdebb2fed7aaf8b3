"""Plans side by side: what differs comes first, bars equal the numbers, long texts are folded."""

from __future__ import annotations

from typing import Final
from xml.etree import ElementTree

import pytest
from hypothesis import given

from replicalab.assessment import assess
from replicalab.comparison import Side, negotiated
from replicalab.models import FIELD_LABELS, NUMBER_FIELDS, PROTOCOL_FIELDS, Protocol, revise
from replicalab.scenarios import EvidenceAssumptions, LabOverrides, Pack, load_scenario
from replicalab.views.blocks import Status
from replicalab.views.comparison import (
    COST,
    DIFFERS,
    EVIDENCE,
    OUTCOME,
    SLACK,
    comparison_panel,
    parts,
    same_text,
    table,
)
from replicalab.views.lab import STEPS
from tests.strategies import itemised_protocols, studied_packs
from tests.ui.reading import heard
from tests.views.reading import bars, tree

PACK: Final = load_scenario("psy_stroop", "medium")
PLAN: Final = PACK.reference_protocol
"""100 samples for 1,600 credits, of which the lab has 1,000."""


def side(plan: Protocol = PLAN, pack: Pack = PACK, name: str = "A") -> Side:
    found = assess(plan, pack)
    return Side(name, found, negotiated(found))


def cells(title: str, label: str, *sides: Side) -> list[str]:
    line = next(line for line in parts(sides)[title] if line.label == label)
    return [cell.text for cell in line.cells]


def test_one_changed_field_is_the_one_that_differs() -> None:
    sides = side(), side(revise(PLAN, sample_size=7))
    [line] = parts(sides)[DIFFERS]
    assert (line.label, [cell.number for cell in line.cells]) == ("Sample size", [100, 7])
    alike = same_text(sides).split(" · ")
    assert "Sample size" not in alike
    assert "Duration" in alike
    equal = parts([side(), side(name="B")])
    assert DIFFERS not in equal
    assert not any(line.differs for lines in equal.values() for line in lines)


def test_alpha_of_an_audit_is_no_row() -> None:
    audit = load_scenario("math_pythagorean", "easy")
    asked = audit.with_own(LabOverrides(), EvidenceAssumptions(alpha=0.01, dropout=0.1))
    sides = [side(audit.reference_protocol, pack) for pack in (audit, asked)]
    assert [line.label for line in parts(sides)[DIFFERS]] == ["Dropout"]


def test_labs_differ_in_means_and_items_and_questions_in_their_numbers() -> None:
    easy = side(pack=load_scenario("psy_stroop", "easy"))
    labels = {line.label for line in parts([easy, side()])[DIFFERS]}
    assert {"Budget, credits", "Days", "voice-key booth"} <= labels
    own = PACK.with_own(
        LabOverrides(rates={"per_sample": 11}, steps={"base": 2}), EvidenceAssumptions(target=0.9)
    )
    labels = {line.label for line in parts([side(pack=own), side()])[DIFFERS]}
    assert labels == {"A sample, credits", STEPS["base"], "Target"}


def test_numbers_are_the_assessments_own() -> None:
    one, other = side(), side(revise(PLAN, sample_size=25))
    assert cells(COST, "Total", one, other) == ["1,600", "850"]
    assert cells(SLACK, "Budget", one, other)[0] == "1,600 / 1,000 credits (−600)"
    power = next(line for line in parts([one, other])[EVIDENCE] if line.label == "Power")
    values = [each.plan.evidence.value for each in (one, other)]
    assert [cell.number for cell in power.cells] == values
    budget = next(line for line in parts([one, other])[SLACK] if line.label == "Budget")
    assert [cell.status for cell in budget.cells] == [Status.FAIL, Status.PASS]


def test_evidence_of_different_kinds_is_named_with_its_measure() -> None:
    other = load_scenario("phys_millikan", "medium")
    found = side(), side(other.reference_protocol, other)
    told = cells(EVIDENCE, "Evidence", *found)
    assert told == [each.plan.evidence.text for each in found]
    assert "Smallest detectable effect" not in {line.label for line in parts(found)[EVIDENCE]}


def test_negotiation_is_told_by_its_outcome_or_why_there_is_none() -> None:
    unplayed = side()._replace(played=None)
    empty = side(revise(PLAN, sample_size=0))
    told = cells(OUTCOME, "Negotiated", side(), unplayed, empty)
    assert told == ["Agreed", "not played", "no samples"]


def test_table_holds_numbers_where_there_are_any_and_as_many_cells_in_each_row() -> None:
    third = side(pack=load_scenario("psy_stroop", "hard"), name="C")
    heading, *rows = table([side(), side(revise(PLAN, sample_size=7), name="=B"), third])
    assert heading == ["Part", "What", "A", "=B", "C"]
    assert {len(row) for row in rows} == {5}
    assert [DIFFERS, "Sample size", 100, 7, 100] in rows


@given(studied_packs(), itemised_protocols(), itemised_protocols())
def test_whatever_is_compared_what_is_alike_never_differs_and_numbers_always_do(
    pack: Pack, one: Protocol, other: Protocol
) -> None:
    sides = side(one, pack), side(other, pack)
    differ = {line.label for line in parts(sides).get(DIFFERS, [])}
    alike = {name for name in PROTOCOL_FIELDS if getattr(one, name) == getattr(other, name)}
    assert not differ & {FIELD_LABELS[name] for name in alike}
    assert differ >= {FIELD_LABELS[name] for name in NUMBER_FIELDS if name not in alike}


# --- as a panel -------------------------------------------------------------------------------


def sides(**changes: object) -> list[Side]:
    """Return the study's plan of 1,600 credits beside a changed one, in a lab of 1,000."""
    plans = {"A": PLAN, "B": revise(PLAN, **changes)}
    return [Side(name, assess(plan, PACK), None) for name, plan in plans.items()]


def panel(found: list[Side]) -> ElementTree.Element:
    return tree(comparison_panel(found))


def test_bars_of_costs_share_one_scale_and_those_above_stand_against_the_budget() -> None:
    drawn = bars(comparison_panel(sides(sample_size=25)))
    assert drawn[1] == (0.0, 1.0, [0.625])
    assert drawn[3] == (0.0, 0.85, [1.0])
    totals = [to for _, to, marks in drawn[4:] if not marks][-2:]
    assert totals == [1.0, pytest.approx(850 / 1600, abs=0.001)]


def test_heads_tell_names_and_verdicts_once() -> None:
    found = panel(sides(sample_size=25))
    compared = found.findall(".//table")[1]
    heads = [heard(each) for each in compared.iter("th")][1:3]
    assert heads == ["A fails Not feasible", "B fails Not feasible"]


def test_evidence_of_a_plan_that_fails_has_no_mark_of_one_that_passes() -> None:
    found = panel(sides(sample_size=25))
    pictured, compared = found.findall(".//table")
    shown = [heard(row.findall("td")[1]) for row in pictured.findall("tbody/tr")]
    assert shown == ["fails power 1.00, not feasible"] * 2
    rows = {cells[0]: cells[1:] for cells in (heard(r).split(" | ") for r in compared.iter("tr"))}
    assert rows["Power"] == ["1.00", "1.00"]
    assert rows["Stands"] == ["fails meets target, not feasible"] * 2


def test_long_text_is_folded_and_whole() -> None:
    long = "word " * 100
    found = panel(sides(rationale=long.strip()))
    [folded] = [each for each in found.iter("details") if "word word" in "".join(each.itertext())]
    assert long.strip() in (folded[0].tail or "")


def test_evidence_of_other_kinds_is_drawn_on_a_scale_of_its_own() -> None:
    other = load_scenario("phys_millikan", "medium")
    mixed = [*sides()[:1], Side("C", assess(other.reference_protocol, other), None)]
    alone = bars(comparison_panel([mixed[0], mixed[0]]))[0]
    assert bars(comparison_panel(mixed))[0] == alone
