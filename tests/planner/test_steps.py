"""A step from one plan to another: its changes, savings and losses."""

from itertools import pairwise

import pytest
from hypothesis import given

from replicalab.assessment import assess
from replicalab.models import Protocol
from replicalab.planner import PlanStep, change_steps
from replicalab.planner.least_loss import FieldChange, differences, field_steps
from replicalab.scenarios import Pack
from tests.factories import CONTROLS, EQUIPMENT, REAGENTS, make_design, make_pack, make_protocol
from tests.planner.small_labs import analysed
from tests.strategies import itemised_protocols, studied_packs

CHAMBER, METER = EQUIPMENT
PLATES, BROTH = REAGENTS


@given(itemised_protocols(), studied_packs())
def test_steps_lead_from_plan_to_offer(plan: Protocol, pack: Pack) -> None:
    options = analysed(plan, pack)
    if options.offer is None or not options.offer.changes:
        return
    steps = change_steps(options.yours, options.offer.changes)
    assert steps[0].before is options.yours
    assert steps[-1].after == options.offered
    assert all(one.after is two.before for one, two in pairwise(steps))
    saved = sum(step.credits_saved for step in steps)
    assert saved == pytest.approx(options.yours.cost - options.offered.cost)


@pytest.mark.parametrize(
    ("changes", "field", "gone", "come"),
    [
        ({"sample_size": 20}, "sample_size", 40, 20),
        ({"technique": "photo"}, "technique", "germination count under blue light", "photo"),
        ({"controls": [CONTROLS[0]]}, "controls", (CONTROLS[1],), ()),
        ({"required_equipment": ["shelf", METER]}, "required_equipment", (CHAMBER,), ("shelf",)),
        ({"required_reagents": [PLATES, BROTH, PLATES]}, "required_reagents", (), (PLATES,)),
    ],
)
def test_differences_are_what_left_and_what_came(
    changes: dict[str, object], field: str, gone: object, come: object
) -> None:
    before, after = make_protocol(), make_protocol(**changes)
    assert differences(before, after) == [FieldChange(field, gone, come)]  # type: ignore[arg-type]
    assert differences(after, before) == [FieldChange(field, come, gone)]  # type: ignore[arg-type]


def test_order_and_case_of_items_do_not_differ() -> None:
    items = [f"light   {METER.split()[1]}", CHAMBER.upper()]
    assert differences(make_protocol(), make_protocol(required_equipment=items)) == []


@pytest.mark.parametrize(
    "design",
    [{}, {"kind": "precision", "effect_planning": 0.5, "target": 0.1, "floor": 0.3}],
    ids=["power", "half-width"],
)
def test_evidence_falls_where_what_is_shown_is_worse(design: dict[str, object]) -> None:
    # Fewer samples have the smaller power, and the larger half-width.
    pack = make_pack(design=make_design(**design))
    many, few = (assess(make_protocol(sample_size=n), pack) for n in (40, 20))
    assert PlanStep(many, few).evidence_falls
    assert not PlanStep(few, many).evidence_falls
    assert not PlanStep(few, few).evidence_falls


IN_TURN = (
    "technique", "required_equipment", "required_reagents", "controls", "duration_days",
    "sample_size", "rationale",
)  # fmt: skip


@given(itemised_protocols(), itemised_protocols(), studied_packs())
def test_field_steps_change_one_field_each(before: Protocol, after: Protocol, pack: Pack) -> None:
    start, end = assess(before, pack), assess(after, pack)
    steps = field_steps(start, end)
    assert [step.fields[0].field for step in steps] == sorted(
        (difference.field for difference in differences(before, after)), key=IN_TURN.index
    )
    assert all(len(step.fields) == 1 for step in steps)
    assert all(one.after is two.before for one, two in pairwise(steps))
    if steps:
        assert steps[0].before is start
        assert differences(steps[-1].after.plan, after) == []
