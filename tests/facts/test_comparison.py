"""Plans side by side: what differs comes first, bars equal the numbers, long texts are folded."""

from collections.abc import Sequence
from datetime import date
from typing import Final
from xml.etree import ElementTree

import pytest
from hypothesis import given

from replicalab.assessment import assess
from replicalab.facts import comparison_facts
from replicalab.facts.blocks import Status
from replicalab.models import FIELD_LABELS, NUMBER_FIELDS, PROTOCOL_FIELDS, Protocol, revise
from replicalab.negotiation.case import Side, play_case
from replicalab.scenarios import EvidenceAssumptions, LabOverrides, Pack, load_scenario
from tests.factories import change_pack
from tests.facts.reading import bars, tree
from tests.golden import assert_golden, new_lines
from tests.strategies import itemised_protocols, studied_packs
from tests.ui.reading import heard

PACK: Final = load_scenario("psy_stroop", "medium")
PLAN: Final = PACK.reference_protocol


def side(plan: Protocol = PLAN, pack: Pack = PACK, name: str = "A") -> Side:
    result = assess(plan, pack)
    return Side(name, result, play_case(result))


AUDIT: Final = load_scenario("math_pythagorean", "easy")
ASKED: Final = AUDIT.with_own(LabOverrides(), EvidenceAssumptions(alpha=0.01, dropout=0.1))
OWN: Final = PACK.with_own(
    LabOverrides(rates={"per_sample": 11}, steps={"base": 2}), EvidenceAssumptions(target=0.9)
)
PRICED: Final = PACK.with_own(
    LabOverrides(rates={"per_staff_day": 10.0, "overhead_percent": 50.0}), EvidenceAssumptions()
)
EUROS: Final = PACK.with_own(
    LabOverrides(currency="EUR", start_date=date(2026, 12, 7), weekends=False),
    EvidenceAssumptions(),
)
WHOLE: Final = {"one field", "staff days and an overhead", "labs of two currencies"}
ONE_SIDED: Final = change_pack(PACK, design=PACK.design.model_copy(update={"sides": 1}))
OIL: Final = load_scenario("phys_millikan", "medium")
COMPARED: Final = {
    "one field": (side(), side(revise(PLAN, sample_size=25), name="=B")),
    "a third that was not played": (
        side(), side(revise(PLAN, sample_size=0)), side()._replace(played=None)
    ),
    "an audit that is asked otherwise": (side(AUDIT.reference_protocol, AUDIT),
                                         side(AUDIT.reference_protocol, ASKED)),
    "labs": (side(pack=load_scenario("psy_stroop", "easy")), side()),
    "a lab of one's own": (side(pack=OWN), side()),
    "staff days and an overhead": (side(), side(pack=PRICED, name="B")),
    "labs of two currencies": (side(), side(pack=EUROS, name="B")),
    "a one-sided study": (side(), side(pack=ONE_SIDED, name="B")),
    "other evidence": (side(), side(OIL.reference_protocol, OIL)),
}  # fmt: skip


def sentences(name: str, sides: Sequence[Side]) -> str:
    visible = (
        line
        for title, lines in comparison_facts.parts(sides).items()
        if name in WHOLE
        or title in (comparison_facts.DIFFERS, comparison_facts.EVIDENCE, comparison_facts.OUTCOME)
        for line in lines
    )
    lines = (" | ".join([line.label, *(cell.text for cell in line.cells)]) for line in visible)
    return "\n".join([*lines, f"alike: {comparison_facts.same_text(sides)}"])


def test_sentences_on_compared_sides() -> None:
    texts = {name: sentences(name, sides) for name, sides in COMPARED.items()}
    assert_golden("comparison", new_lines(texts))


def test_numbers_come_from_assessments() -> None:
    pair = COMPARED["one field"]
    record = comparison_facts.parts(pair)
    power = next(line for line in record[comparison_facts.EVIDENCE] if line.label == "Power")
    assert [cell.number for cell in power.cells] == [item.plan.evidence.value for item in pair]
    budget = next(line for line in record[comparison_facts.SLACK] if line.label == "Budget")
    assert [cell.status for cell in budget.cells] == [Status.FAIL, Status.PASS]
    heading, *rows = comparison_facts.table(pair)
    assert heading == ["Part", "What", "A", "=B"]
    assert [comparison_facts.DIFFERS, "Sample size", 100, 25] in rows
    assert {len(row) for row in rows} == {4}
    equal = comparison_facts.parts([side(), side(name="B")])
    assert comparison_facts.DIFFERS not in equal
    assert not any(line.differs for lines in equal.values() for line in lines)


@given(studied_packs(), itemised_protocols(), itemised_protocols())
def test_only_different_fields_differ(pack: Pack, one: Protocol, other: Protocol) -> None:
    sides = [Side("A", assess(plan, pack), None) for plan in (one, other)]
    differ = {
        line.label for line in comparison_facts.parts(sides).get(comparison_facts.DIFFERS, [])
    }
    alike = {name for name in PROTOCOL_FIELDS if getattr(one, name) == getattr(other, name)}
    assert not differ & {FIELD_LABELS[name] for name in alike}
    assert differ >= {FIELD_LABELS[name] for name in NUMBER_FIELDS if name not in alike}


def sides(**changes: object) -> list[Side]:
    plans = {"A": PLAN, "B": revise(PLAN, **changes)}
    return [Side(name, assess(plan, PACK), None) for name, plan in plans.items()]


def panel(found: list[Side]) -> ElementTree.Element:
    return tree(comparison_facts.comparison_panel(found))


def test_cost_bars_share_one_scale() -> None:
    drawn = bars(comparison_facts.comparison_panel(sides(sample_size=25)))
    assert drawn[1] == (0.0, 1.0, [0.625])
    assert drawn[3] == (0.0, 0.85, [1.0])
    totals = [to for _, to, marks in drawn[4:] if not marks][-2:]
    assert totals == [1.0, pytest.approx(850 / 1600, abs=0.001)]


def test_evidence_of_failing_plans_is_marked() -> None:
    element = panel(sides(sample_size=25))
    pictured, compared = element.findall(".//table")
    texts = [heard(row.findall("td")[1]) for row in pictured.findall("tbody/tr")]
    assert texts == ["fails power 1.00, not feasible"] * 2
    rows = {cells[0]: cells[1:] for cells in (heard(r).split(" | ") for r in compared.iter("tr"))}
    assert rows["Power"] == ["1.00", "1.00"]
    assert rows["Tier"] == ["fails meets target, not feasible"] * 2


def test_other_evidence_has_its_own_scale() -> None:
    other = load_scenario("phys_millikan", "medium")
    mixed = [*sides()[:1], Side("C", assess(other.reference_protocol, other), None)]
    alone = bars(comparison_facts.comparison_panel([mixed[0], mixed[0]]))[0]
    assert bars(comparison_facts.comparison_panel(mixed))[0] == alone
