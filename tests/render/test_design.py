"""The picture of a design: what it draws stands where study, lab and plan say, and can be read."""

from __future__ import annotations

import re
from datetime import date
from itertools import combinations, product
from typing import Final, NamedTuple

import pytest

from replicalab.assessment import Assessment, assess
from replicalab.models import LARGEST_PLANNED, revise
from replicalab.render.figures.design import WIDTH, design_drawing
from replicalab.render.figures.drawing import Area, Stroke, Text, _font
from replicalab.render.pictures import picture_png, picture_svg
from replicalab.scenarios import (
    Arms,
    Difficulty,
    EvidenceAssumptions,
    ItemState,
    LabOverrides,
    OwnItem,
    Pack,
    Units,
    list_scenarios,
    load_scenario,
)
from replicalab.views.design import MOST_ARMS, MOST_BOOKINGS, design_facts, design_picture
from tests.factories import make_design, make_pack
from tests.hostile import ATTACK, UNSEEN

STUDIES: Final = [summary.scenario_id for summary in list_scenarios()]
_DOT_CORNERS: Final = 8


class Axis(NamedTuple):
    """Where the middle of a day stands, read off two numbers of the axis."""

    day: int
    place: float
    step: float

    def at(self, place: float) -> float:
        """Return the day at a place; the middle of a day is a whole number."""
        return self.day + (place - self.place) / self.step


def plan_of(pack: Pack, **changes: object) -> Assessment:
    return assess(revise(pack.reference_protocol, **changes), pack)


def shapes(plan: Assessment) -> list[Area | Stroke | Text]:
    return design_drawing(design_facts(plan)).shapes


def texts(plan: Assessment) -> list[str]:
    return [each.text for each in shapes(plan) if isinstance(each, Text)]


def axis(drawn: list[Area | Stroke | Text]) -> Axis:
    """Return the axis: a tick below each number stands in the middle of its day."""
    numbers = [
        int(each.text.removeprefix("day ").replace(",", ""))
        for each in drawn
        if isinstance(each, Text) and re.fullmatch(r"(day )?[\d,]+", each.text)
    ]
    ticks = [
        each.spots[0][0]
        for each in drawn
        if isinstance(each, Stroke)
        and len(each.spots) == 2
        and each.spots[0][0] == each.spots[1][0]
        and each.spots[1][1] - each.spots[0][1] == 5
    ]
    assert len(ticks) == len(numbers) > 1
    step = (ticks[-1] - ticks[0]) / (numbers[-1] - numbers[0])
    return Axis(numbers[0], ticks[0], step)


def ends(area: Area) -> tuple[float, float]:
    across = [x for x, _ in area.outlines[0]]
    return min(across), max(across)


@pytest.mark.parametrize("study", STUDIES)
def test_texts_of_every_study_in_every_lab_stand_apart_and_inside(study: str) -> None:
    dated = LabOverrides(start_date=date(2026, 12, 7), weekends=False)
    for lab, own in product(Difficulty, (LabOverrides(), dated)):
        pack = load_scenario(study, lab.value).with_own(own, EvidenceAssumptions())
        found = design_drawing(design_facts(assess(pack.reference_protocol, pack)))
        boxes = [_box(each) for each in found.shapes if isinstance(each, Text)]
        for left, top, right, below in boxes:
            assert 0 <= left < right <= WIDTH
            assert 0 <= top < below <= found.height
        for one, other in combinations(boxes, 2):
            apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1]
            assert apart or other[3] <= one[1], (one, other)


def _box(text: Text) -> tuple[float, float, float, float]:
    """Return the box of a text in the letters that a PNG has, which are as wide as the pages'."""
    wide = _font(100, bold=text.bold).getlength(text.text) * text.size / 100
    left = text.x - wide * {"start": 0.0, "middle": 0.5, "end": 1.0}[text.anchor]
    return left, text.y - text.size * 0.6, left + wide, text.y + text.size * 0.6


@pytest.mark.parametrize("study", STUDIES)
def test_days_are_drawn_where_plan_and_lab_say(study: str) -> None:
    """The oracle is the study's file: what is booked of the plan's items, and until when."""
    for lab in Difficulty:
        pack = load_scenario(study, lab.value)
        plan = assess(pack.reference_protocol, pack)
        drawn = shapes(plan)
        on = axis(drawn)
        booked = {
            until
            for item, until in pack.lab.booked.items()
            if item in (*plan.plan.required_equipment, *plan.plan.required_reagents)
        }
        hatched = [each for each in drawn if isinstance(each, Area) and each.hatching]
        days = {tuple(round(on.at(end) - 0.5) for end in ends(each)) for each in hatched}
        assert days == {(0, until) for until in booked}
        [solid] = [each for each in drawn if isinstance(each, Area) and each.fill == "#3B424A"]
        assert [round(on.at(end) - 0.5, 6) for end in ends(solid)] == [
            0,
            plan.plan.duration_days,
        ]


def test_start_day_dates_and_a_booking_beyond_all_else() -> None:
    own = LabOverrides(
        start_day=4,
        days=12,
        start_date=date(2026, 12, 7),
        items=(
            OwnItem(
                label="growth chamber", category="equipment", state=ItemState.BOOKED, until=900
            ),
        ),
    )
    plan = assess(
        (pack := make_pack().with_own(own, EvidenceAssumptions())).reference_protocol, pack
    )
    said = " ".join(texts(plan))
    assert "The plan: days 4 to 8 (to Mon 14 Dec 2026)" in said
    assert "The lab: days 4 to 12 (to Fri 18 Dec 2026)" in said
    assert "growth chamber: booked until day 900" in said
    facts = design_facts(plan)
    assert (facts.last_day, facts.dates) == (24, ("Mon 7 Dec 2026", "Wed 30 Dec 2026"))
    drawn = shapes(plan)
    outline = [each for each in drawn if isinstance(each, Stroke) and each.colour == "#5A5750"]
    assert [len(each.spots) for each in outline] == [4], "it has no end"


def test_arms_share_the_samples_and_each_sample_of_a_unit_is_a_dot() -> None:
    """128 fish in tanks of 16, a quarter treated: 32 in 2 tanks, 96 in 6."""
    units = Units(name="tank", samples=16.0, icc=0.1)
    pack = make_pack(design=make_design(units=units, arms=Arms(share=0.25)))
    plan = plan_of(pack, sample_size=128)
    assert {"First arm: 32 in 2 tanks of 16", "Second arm: 96 in 6 tanks of 16"} <= {*texts(plan)}
    dots = [
        each
        for each in shapes(plan)
        if isinstance(each, Area) and len(each.outlines[0]) == _DOT_CORNERS
    ]
    assert len(dots) == 128


def test_last_unit_is_filled_in_part() -> None:
    units = Units(name="tank", samples=16.0, icc=0.1)
    plan = plan_of(make_pack(design=make_design(units=units)), sample_size=40)
    assert "Group 1: 20 in 2 tanks of 16" in texts(plan)


def test_bars_of_arms_are_as_long_as_their_shares() -> None:
    plan = plan_of(make_pack(design=make_design(arms=Arms(share=0.2))), sample_size=100)
    first, second = (
        ends(each)
        for each in shapes(plan)
        if isinstance(each, Area) and each.fill in ("#0072B2", "#B84E00")
    )
    assert (first[1] - first[0]) / (second[1] - second[0]) == pytest.approx(20 / 80)


@pytest.mark.parametrize(
    "changes",
    [
        {"sample_size": 0},
        {"duration_days": 0},
        {"sample_size": 1, "duration_days": 1},
        {"sample_size": LARGEST_PLANNED, "duration_days": LARGEST_PLANNED},
    ],
)
def test_ends_of_what_can_be_planned_are_drawn(changes: dict[str, int]) -> None:
    for study, lab in product(STUDIES, Difficulty):
        plan = plan_of(load_scenario(study, lab.value), **changes)
        picture = design_picture(plan)
        assert "NaN" not in picture_svg(picture)
    assert picture_png(picture).startswith(b"\x89PNG")


def test_more_arms_and_bookings_than_fit_are_counted() -> None:
    pack = make_pack(design=make_design(kind="anova", groups=9))
    items = [f"machine {at}" for at in range(9)]
    pack = pack.in_lab(
        pack.lab.model_copy(
            update={
                "equipment": items,
                "booked": dict.fromkeys(items, 7),
            }
        )
    )
    plan = plan_of(pack, sample_size=92, required_equipment=items)
    facts = design_facts(plan)
    assert (len(facts.arms), len(facts.bookings)) == (MOST_ARMS, MOST_BOOKINGS)
    assert {arm.samples for arm in facts.arms} == {10}  # 2 of 92 are in no group
    said = " ".join(texts(plan))
    assert "And 3 groups like these." in said
    assert "3 more booked items" in said


def test_all_that_is_drawn_is_said_too() -> None:
    for study, lab in product(STUDIES, Difficulty):
        pack = load_scenario(study, lab.value)
        plan = assess(pack.reference_protocol, pack)
        alt = " ".join(design_picture(plan).alt.split())
        for text in texts(plan):
            if not re.fullmatch(r"(day )?[\d,]+", text):
                assert text.removeprefix("◆ ").rstrip("…").strip() in alt


def test_hostile_labels_are_text() -> None:
    label = f"{UNSEEN}{ATTACK}"[:290]
    pack = make_pack()
    lab = pack.lab.model_copy(update={"equipment": [label], "booked": {label: 9}})
    plan = plan_of(pack.in_lab(lab), required_equipment=[label])
    svg = picture_svg(design_picture(plan))
    assert "<img" not in svg
    assert not {*UNSEEN} & {*svg}
