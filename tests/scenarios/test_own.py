"""A visitor's lab and question in place of the study's."""

import math
import re
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from replicalab.assessment import assess
from replicalab.designs import GROUPINGS, KINDS
from replicalab.errors import ScenarioError
from replicalab.lexicon import label_key
from replicalab.scenarios import (
    QUESTION_FIELDS,
    QUESTION_RECORDS,
    Arms,
    Design,
    Difficulty,
    EvidenceAssumptions,
    ItemState,
    ItemStatus,
    LabOverrides,
    OwnItem,
    Pack,
    Units,
    list_scenarios,
    load_scenario,
    read_lab,
)
from tests.designs.examples import design_of
from tests.factories import EQUIPMENT, REAGENTS, make_design, make_pack
from tests.golden import assert_golden
from tests.strategies import designs, own_packs, seen

CHAMBER, METER = EQUIPMENT
PLATES, BROTH = REAGENTS

OWN: Final = LabOverrides(
    name="Bench 4",
    start_day=5,
    items=(
        OwnItem(label=CHAMBER, category="equipment", state=ItemState.BOOKED, until=4),
        OwnItem(label=METER, category="equipment", state=ItemState.OUT_OF_STOCK),
        OwnItem(label=BROTH, category="reagent", state=ItemState.BOOKED, until=5, price=3.0),
        OwnItem(label="centrifuge", category="equipment", price=400.0),
        OwnItem(label="dry ice", category="reagent", state=ItemState.OUT_OF_STOCK),
    ),
)


@pytest.mark.parametrize("study", [study.scenario_id for study in list_scenarios()])
def test_empty_overrides_leave_the_pack_unchanged(study: str) -> None:
    pack = load_scenario(study, Difficulty.HARD)
    assert pack.with_own(LabOverrides(), EvidenceAssumptions()) == pack
    assert (pack.lab.days_left, pack.unspoken) == (pack.lab.days, [])
    assert pack.lab.cost_model.rate("equipment") == pack.price("anything", "equipment")


def test_own_items_are_in_all_views() -> None:
    pack = make_pack().with_own(OWN, EvidenceAssumptions())
    seen = pack.lab_manager_observation
    assert (seen.equipment_available, seen.equipment_booked) == ([CHAMBER, "centrifuge"], [METER])
    assert (seen.reagents_in_stock, seen.reagents_out_of_stock) == ([PLATES], [BROTH, "dry ice"])
    available = [resource.label for resource in pack.resources if resource.available]
    assert available == [CHAMBER, "centrifuge", PLATES, "lab staff"]
    assert seen.time_limit_days == 16
    assert [
        constraint.quantity for constraint in pack.constraints if constraint.key == "time_limit"
    ] == [16]


def test_semicolon_in_a_name_ends_no_message() -> None:
    item = {"label": "saline; sterile", "category": "reagent"}
    with pytest.raises(ScenarioError) as error:
        read_lab({"format": 2, "lab": {"items": [item, item]}})
    [fault] = error.value.faults
    assert (fault.problem, fault.remedy) == ("'saline; sterile' is listed twice", "list it once")


def test_price_is_the_items_own_or_its_rate() -> None:
    pack = make_pack().with_own(OWN, EvidenceAssumptions())
    rows = ((BROTH.upper(), "reagent"), ("centrifuge", "equipment"), (METER, "equipment"))
    assert [pack.price(*row) for row in rows] == [3.0, 400.0, 100.0]
    # A lab with a name says of which of the study's items it says nothing.
    assert pack.unspoken == [PLATES]
    unnamed = OWN.model_copy(update={"name": None})
    assert make_pack().with_own(unnamed, EvidenceAssumptions()).unspoken == []


def test_alternative_in_the_lab_is_listed_once() -> None:
    item = OwnItem(label="Window shelf", category="equipment", price=5.0)
    before = make_pack()
    after = before.with_own(LabOverrides(items=(item,)), EvidenceAssumptions())
    result = [pack.inventory.replacements["equipment"] for pack in (before, after)]
    assert result == [["window shelf"], []]
    assert [resource.label for resource in after.resources][2] == "Window shelf"
    assert after.inventory.alternatives(CHAMBER) == ("window shelf",)


@given(own_packs())
def test_overrides_apply_in_any_lab(pack: Pack) -> None:
    overrides, lab, written = pack.own_lab, pack.lab, pack.study.labs.at(pack.difficulty)
    assert lab.days_left == len(range(lab.start_day, lab.days + 1))
    assert lab.start_day == (overrides.start_day or written.start_day)
    categories = {label_key(r.label): r.category.value for r in pack.resources}
    for item in overrides.items:
        category = categories[label_key(item.label)]
        assert category == item.category
        if item.price is not None:
            assert pack.price(item.label, category) == item.price
        status = pack.inventory.status(item.label, category)
        if item.state is ItemState.BOOKED:
            until = lab.days if item.until is None else item.until
            booked = until >= lab.start_day
            assert status is (ItemStatus.BOOKED if booked else ItemStatus.AVAILABLE)
        elif item.state is not None:
            assert status.value == item.state.value
    assert Pack.model_validate_json(pack.model_dump_json()) == pack


NUMBERS: Final = [*QUESTION_FIELDS]


def questions() -> st.SearchStrategy[EvidenceAssumptions]:
    near = st.sampled_from((0.001, 0.05, 0.2, 0.5, 0.8, 0.95))
    shares = st.none() | near | st.floats(0, 1, exclude_min=True, exclude_max=True)
    bounds = st.none() | near | st.floats(1e-6, 1e6)
    return st.builds(
        EvidenceAssumptions,
        effect=st.none() | near | st.floats(-1e6, 1e6),
        alpha=shares,
        sides=st.none() | st.sampled_from((1, 2)),
        target=bounds,
        floor=bounds,
        dropout=st.none() | st.just(0.0) | shares.filter(bool),
        baseline=st.none() | shares,
        assurance=st.none() | st.floats(0.5, 1, exclude_max=True),
        why=st.dictionaries(st.sampled_from(NUMBERS), seen, max_size=2),
    )


@given(questions(), designs())
def test_question_fits_a_design_or_is_refused(
    question: EvidenceAssumptions, design: Design
) -> None:
    try:
        result = question.over(design)
    except ScenarioError as error:
        [fault] = error.faults
        assert re.search(r"\d", fault.problem) or "has no effect" in fault.problem
        assert fault.remedy
        return
    for number in QUESTION_FIELDS:
        field = QUESTION_FIELDS[number]
        value: float | None = getattr(question, number)
        assert getattr(result, field) == (getattr(design, field) if value is None else value)
        why: dict[str, str] = dict(question.why.items())
        assert result.why.get(field) == why.get(number, design.why.get(field))


@given(designs(), st.sampled_from(NUMBERS))
def test_asking_the_studys_own_number_asks_nothing(design: Design, number: str) -> None:
    custom = getattr(design, QUESTION_FIELDS[number])
    numbers = dict(zip(QUESTION_FIELDS, (0.3, 0.01, 2, 0.9, 0.2, 0.1, 0.4, 0.7), strict=True))
    assumptions = EvidenceAssumptions(**numbers).model_copy(update={"why": {number: "because"}})
    result = assumptions.asking(number, custom, design)
    assert getattr(result, number) is None
    assert number not in result.why
    assert set(result.asked) == set(QUESTION_FIELDS) - {number}


IMPOSSIBLE: Final[list[tuple[Any, dict[str, float]]]] = [
    ("correlation", {"effect": 1.2}), ("two_group", {"effect": 0.0}),
    ("coverage", {"effect": 0.3}), ("two_group", {"target": 0.4}), ("two_group", {"target": 1.5}),
    ("two_group", {"target": 1.0}), ("survival", {"target": 1.0, "floor": 1.0}),
    ("precision", {"target": 0.3}), ("equivalence", {"effect": 0.7}),
    ("two_proportions", {"baseline": 0.1}), ("two_group", {"baseline": 0.5}),
    ("correlation", {"assurance": 0.8}),
]  # fmt: skip


def test_refused_questions_name_a_remedy() -> None:
    texts = []
    for number, value in (("effect", 2e6), ("alpha", 1.2), ("target", 0.0), ("dropout", 1.0)):
        with pytest.raises(ScenarioError) as refused:
            EvidenceAssumptions().asking(number, value, make_design())
        texts.append(f"{number} {value}: {refused.value}")
    for kind, record in IMPOSSIBLE:
        design = design_of(kind) if kind != "coverage" else make_design(kind=kind, population_max=9)
        with pytest.raises(ScenarioError) as refused:
            EvidenceAssumptions.model_validate(record).over(design)
        texts.append(f"{kind} {record}: {refused.value}")
    assert_golden("question_faults", "\n".join(texts))


SHIPPED: Final = [load_scenario(study.scenario_id, "medium") for study in list_scenarios()]


@given(questions(), st.sampled_from(SHIPPED))
def test_shipped_studies_answer_or_refuse_any_question(
    question: EvidenceAssumptions, pack: Pack
) -> None:
    try:
        request = pack.with_own(LabOverrides(), question)
    except ScenarioError:  # which says why, as above
        return
    plan = assess(pack.reference_protocol, request)
    assert plan.evidence.value >= 0  # no NaN
    assert plan.evidence.analysed <= plan.evidence.usable <= plan.counts.samples
    assert request.design.effect_published == pack.design.effect_published
    assert EvidenceAssumptions.model_validate_json(question.model_dump_json()) == question
    assert request.with_own(LabOverrides(), EvidenceAssumptions()) == request
    assert Pack.model_validate_json(request.model_dump_json()) == request


TANKS = Units(name="tank", samples=16.0, icc=0.1)

NO_NUMBERS = (math.nan, math.inf, -math.inf, -1.0, 1e308, "16", True)
INVALID = {
    "name": ("", " ", "x" * 31, 5, None),
    "samples": (*NO_NUMBERS, None, 0.0, 0.999, 10**9 + 1),
    "icc": (*NO_NUMBERS, 1.0000001, -5e-324),
    "share": (*NO_NUMBERS, None, 0.0, 0.0499, 0.9501, 1.0, 10**9),
}


@pytest.mark.parametrize("field", INVALID)
def test_invalid_units_and_arms_are_refused(field: str) -> None:
    model, others = (Arms, {}) if field == "share" else (Units, {"name": "tank", "samples": 2})
    for value in INVALID[field]:
        with pytest.raises(ValidationError, match=field):
            model.model_validate({**others, field: value})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", GROUPINGS)
def test_kinds_without_groupings_refuse_them(kind: str, name: str) -> None:
    assert GROUPINGS.keys() == QUESTION_RECORDS.keys()
    value = TANKS if name == "units" else Arms(share=0.2)
    changes: dict[str, Any] = {name: value}
    if name in KINDS[kind].optional:
        assert getattr(design_of(kind, **changes), name) == value
        return
    with pytest.raises(ValidationError, match=f"{name} are given, but {KINDS[kind].named} design"):
        design_of(kind, **changes)


def test_question_replaces_the_units() -> None:
    pack = make_pack(
        design=make_design(kind="two_group", units=TANKS.model_copy(update={"icc": 0.2}))
    )
    request = pack.with_own(LabOverrides(), EvidenceAssumptions(units=TANKS, arms=Arms(share=0.3)))
    assert request.asked == ("units", "arms")
    assert (request.design.units, request.design.arms) == (TANKS, Arms(share=0.3))
    why = EvidenceAssumptions(units=TANKS, why={"units": "A pilot."})
    assert pack.with_own(LabOverrides(), why).design.why["units"] == "A pilot."
    assert EvidenceAssumptions.model_validate_json(why.model_dump_json()) == why
