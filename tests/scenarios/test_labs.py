"""A study in its labs: as written, seeded, the agents' views, and the calendar."""

import calendar
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from replicalab import scenarios
from replicalab.limits import MAX_SEED
from replicalab.scenarios.lab import date_of, date_text
from replicalab.scenarios.pack import draw
from tests.factories import with_means
from tests.scenarios.small_study import STUDY_TEXT, bent
from tests.strategies import start_dates

SHIPPED = [study.scenario_id for study in scenarios.list_scenarios()]
SEEDS = st.integers(min_value=1, max_value=MAX_SEED)
DIFFICULTIES = st.sampled_from(list(scenarios.Difficulty))


@pytest.fixture
def study() -> scenarios.Study:
    return scenarios.parse_study(STUDY_TEXT, "tiny.yaml")


def test_seed_0_is_the_lab_as_written(study: scenarios.Study) -> None:
    pack = scenarios.pack_of(study, scenarios.Difficulty.HARD)
    assert pack.seed == 0
    assert pack.lab_manager_observation.model_dump() == {
        "budget_total": 300.0, "budget_remaining": 300.0, "equipment_available": ["ice box"],
        "equipment_booked": ["kettle", "Thermometer"], "reagents_in_stock": ["water", "(-)-tea"],
        "reagents_out_of_stock": ["tea"], "staff_count": 1, "time_limit_days": 3,
        "safety_restrictions": ["No open fire."], "conversation_history": [],
        "current_protocol": None, "round_number": 0, "max_rounds": scenarios.MAX_ROUNDS,
    }  # fmt: skip
    booked = {item.label: item.booked_until_day for item in pack.resources if not item.available}
    assert booked == {"kettle": 6, "Thermometer": 2, "tea": None}
    assert [one.key for one in pack.constraints] == ["heat", "budget", "time_limit", "staff"]
    assert [one.hard for one in pack.constraints] == [False, True, True, True]


def test_resource_keys_never_clash_with_staff_or_vanish() -> None:
    text = bent(('"ice box"', '"Staff"'), ('"water"', '"水"'))
    resources = scenarios.pack_of(
        scenarios.parse_study(text, "x"), scenarios.Difficulty.EASY
    ).resources
    assert [item.quantity for item in resources] == [None] * 6 + [2]
    keys = [item.key for item in resources]
    assert keys == ["kettle", "thermometer", "staff_2", "tea", "item", "tea_2", "staff"]


def test_observations_omit_the_hidden_reference(study: scenarios.Study) -> None:
    pack = scenarios.pack_of(study, scenarios.Difficulty.EASY)
    assert pack.hidden_reference_spec.model_dump_json().count("canary") == 5
    for visible in (
        pack.scientist_observation.model_dump_json(),
        pack.lab_manager_observation.model_dump_json(),
        pack.task_summary,
    ):
        assert "canary" not in visible


def test_draw_is_the_hash_of_its_parts() -> None:
    # printf '7|tiny|days' | sha256sum gives 9d5bc6a355b863d2..., of which 53 bits are kept.
    assert draw(7, "tiny", "days") == (0x9D5BC6A355B863D2 >> 11) / 2**53


def test_seeded_lab_is_the_same_everywhere() -> None:
    lab = scenarios.load_scenario("fin_momentum", "hard", 1).lab
    assert (lab.budget, lab.days, lab.booked) == (1710, 5, {"research server": 9})
    assert lab.out_of_stock == ["CRSP delisting returns"]
    lab = scenarios.load_scenario("math_four_colour", "hard", 42).lab
    assert (lab.budget, lab.days) == (2770, 6)
    assert lab.booked == {"independent reducibility checker": 1}
    assert lab.out_of_stock == ["RSST configuration file (633 entries)"]


@given(st.sampled_from(SHIPPED), DIFFICULTIES, SEEDS)
def test_seeded_lab_stays_near_the_written_one(
    scenario_id: str, difficulty: scenarios.Difficulty, seed: int
) -> None:
    written = scenarios.load_scenario(scenario_id, difficulty).lab
    pack = scenarios.load_scenario(scenario_id, difficulty, seed)
    lab = pack.lab
    assert 0.85 <= lab.budget / written.budget <= 1.15
    assert 0.8 <= lab.days / written.days <= 1.2
    assert lab.staff == written.staff
    assert len(lab.booked) == len(written.booked)
    assert len(lab.out_of_stock) == len(written.out_of_stock)
    assert all(1 <= day <= 2 * lab.days for day in lab.booked.values())
    assert pack.expected is None


@given(st.floats(0.01, 1e6), st.integers(1, 400), SEEDS)
def test_seeded_lab_keeps_a_budget_and_a_day(budget: float, days: int, seed: int) -> None:
    text = STUDY_TEXT.replace("budget: 500\n    days: 5", f"budget: {budget!r}\n    days: {days}")
    lab = scenarios.pack_of(scenarios.parse_study(text, "x"), scenarios.Difficulty.EASY, seed).lab
    assert lab.budget >= 10
    assert lab.budget % 10 == 0
    assert abs(lab.budget - budget) <= max(10, 0.15 * budget)
    assert lab.days >= 1
    assert abs(lab.days - days) <= 0.2 * days


def test_seeds_reach_every_item_and_the_bounds(study: scenarios.Study) -> None:
    labs = [
        scenarios.pack_of(study, scenarios.Difficulty.MEDIUM, seed).lab for seed in range(1, 200)
    ]
    assert {item for lab in labs for item in lab.booked} == {*study.equipment}
    assert {lab.budget for lab in labs} == {*range(340, 470, 10)}
    labs = [scenarios.pack_of(study, scenarios.Difficulty.EASY, seed).lab for seed in range(1, 200)]
    assert {lab.days for lab in labs} == {4, 5, 6}


@pytest.mark.parametrize("scenario_id", SHIPPED)
def test_other_means_change_only_the_lab(scenario_id: str) -> None:
    pack = scenarios.load_scenario(scenario_id, scenarios.Difficulty.HARD)
    lab = pack.lab.model_copy(update={"expected": None})
    assert with_means(pack) == pack.model_copy(update={"lab": lab})
    means: dict[str, Any] = {"budget": 777, "days": 9, "staff": 4}
    assert with_means(pack, **means).lab == lab.model_copy(update=means)
    for item in (*lab.booked, *lab.out_of_stock):
        record = {other: day for other, day in lab.booked.items() if other != item}
        texts = [other for other in lab.out_of_stock if other != item]
        freed = lab.model_copy(update={"booked": record, "out_of_stock": texts})
        assert pack.lab.with_means(released=[item.upper()]) == freed
    # More may be asked for than a file may name.
    assert with_means(pack, budget=1e15, staff=10**9 + 4).lab.budget == 1e15


MONDAY = date(2026, 12, 7)


@pytest.mark.parametrize(
    ("day", "start", "weekends", "found"),
    [
        (1, MONDAY, True, "Mon 7 Dec 2026"), (6, MONDAY, True, "Sat 12 Dec 2026"),
        (5, MONDAY, False, "Fri 11 Dec 2026"), (6, MONDAY, False, "Mon 14 Dec 2026"),
        (1, date(2026, 12, 5), False, "Mon 7 Dec 2026"),
        (1, date(2026, 12, 6), False, "Mon 7 Dec 2026"),
        (2, date(2026, 12, 4), False, "Mon 7 Dec 2026"),
        (60, date(2024, 1, 1), True, "Thu 29 Feb 2024"),
        (1, date(1970, 1, 1), True, "Thu 1 Jan 1970"),
        (1, date(2100, 12, 31), True, "Fri 31 Dec 2100"),
    ],
)  # fmt: skip
def test_day_has_its_calendar_date(day: int, start: date, weekends: bool, found: str) -> None:
    existing = date_of(day, start, weekends=weekends)
    assert existing is not None
    assert date_text(existing) == found


@given(start_dates, st.integers(1, 800), st.booleans())
def test_date_agrees_with_counting_day_by_day(start: date, day: int, weekends: bool) -> None:
    at, rest = start - timedelta(days=1), day
    while rest:
        at += timedelta(days=1)
        rest -= weekends or calendar.weekday(at.year, at.month, at.day) < calendar.SATURDAY
    assert date_of(day, start, weekends=weekends) == at


@pytest.mark.parametrize("weekends", [True, False])
def test_day_out_of_range_has_no_date(weekends: bool) -> None:
    assert date_of(0, MONDAY, weekends=weekends) is None
    assert date_of(10**9, MONDAY, weekends=weekends) is None
    assert date_of(2**60, MONDAY, weekends=weekends) is None


@pytest.mark.parametrize(
    "value",
    [
        *("", " 2026-12-07", "2026-12-7", "07.12.2026", "2026-13-01", "2026-02-30", "20261207"),
        *(
            "1969-12-31", "2101-01-01", "2026-12-07T00:00:00", "\u0662\u0660\u0662\u0666-12-07",
            "x" * 10**4,
        ),
        *(0, 5, 1.5, True, datetime(2026, 12, 7, tzinfo=UTC), date(1969, 12, 31), ["2026-12-07"]),
    ],
)  # fmt: skip
def test_invalid_date_is_refused_with_a_remedy(value: object) -> None:
    with pytest.raises(ValidationError) as caught:
        scenarios.LabOverrides.model_validate({"start_date": value})
    [error] = caught.value.errors()
    assert error["loc"] == ("start_date",)
    assert str(value)[:20] in error["msg"] or repr(value)[:60] in error["msg"]
    assert "write one of 1970 to 2100 as year-month-day, such as 2026-12-07" in error["msg"]
