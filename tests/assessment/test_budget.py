"""A budget by year and category: its lines add up to the plan's cost, and invent no category."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from replicalab.assessment import Assessment, assess
from replicalab.assessment.budget import MOST_YEARS, NOT_SAID, OVERHEAD, budget_of
from replicalab.models import LARGEST_PLANNED, revise
from replicalab.scenarios import BudgetCategory, CostModel, Lab, LabOverrides, Pack, load_scenario
from replicalab.views.budget import budget_blocks, budget_table, money_digits
from tests.factories import make_pack, make_protocol
from tests.strategies import itemised_protocols, start_dates, studied_packs
from tests.tiers import EVERY_LAB

PLAN: Final = make_protocol(
    sample_size=30,
    duration_days=6,
    controls=["blank"],
    required_equipment=[],
    required_reagents=[],
)
RATES: Final = st.one_of(
    st.sampled_from([0.0, 0.01, 33.333333, 1 / 3, 1e9]), st.floats(0, 1e4, allow_subnormal=False)
)


def with_lab(pack: Pack, **said: Any) -> Pack:
    return pack.in_lab(pack.lab.model_copy(update=said))


def adds_up(plan: Assessment) -> None:
    """Check that the lines of a budget come to the plan's cost, whole and by year and category."""
    budget = budget_of(plan)
    millionths = sum(line.millionths for line in budget.lines)
    assert millionths / 1_000_000 == budget.credits() == plan.cost
    assert all(line.millionths > 0 for line in budget.lines)
    cells = [
        Fraction(str(budget.credits(category, year)))
        for category in budget.categories
        for year in budget.years
    ]
    if plan.cost < 1e9:  # a double of more has not all millionths
        assert sum(cells) == Fraction(millionths, 1_000_000)


@pytest.mark.parametrize(("study", "lab"), EVERY_LAB)
@given(data=st.data())
def test_lines_add_up_to_the_cost_of_any_plan_in_every_lab(
    study: str, lab: str, data: st.DataObject
) -> None:
    pack = load_scenario(study, lab)
    rates = {name: data.draw(RATES) for name in CostModel.model_fields if name[0] == "p"}
    model = CostModel(**rates, overhead_percent=data.draw(st.sampled_from([0.0, 15.0, 7.77])))
    there = with_lab(
        pack,
        cost_model=data.draw(st.sampled_from([pack.lab.cost_model, model])),
        start_date=data.draw(st.none() | start_dates),
        weekends=data.draw(st.booleans()),
        start_day=data.draw(st.integers(1, 400)),
    )
    numbers = st.integers(0, 3000) | st.just(LARGEST_PLANNED)
    plan = revise(
        pack.reference_protocol, sample_size=data.draw(numbers), duration_days=data.draw(numbers)
    )
    adds_up(assess(plan, there))


@given(itemised_protocols(), studied_packs())
def test_lines_add_up_with_items_that_have_prices_and_are_listed_twice(
    plan: Any, pack: Pack
) -> None:
    adds_up(assess(plan, pack))


def test_lines_are_the_terms_worked_out_by_hand() -> None:
    # Tue 29 Dec 2026 and five more days: three in 2026, three in 2027. 30 x 10 = 300 for samples,
    # 6 x 50 = 300 for days, 25 for the control; three staff units x 6 days x 40 = 720, so 360 a
    # year; 15 % of 300 + 150 + 25 + 360 = 835 and of 150 + 360 = 510.
    lab = {
        "cost_model": CostModel(per_staff_day=40.0, overhead_percent=15.0),
        "start_date": date(2026, 12, 29),
        "categories": {"samples": BudgetCategory.ANIMALS, "Controls": BudgetCategory.MATERIAL},
    }
    budget = budget_of(assess(PLAN, with_lab(make_pack(), **lab)))
    assert [(*line[:3], line.credits) for line in budget.lines] == [
        ("2026", "personnel", "Staff", 360.0),
        ("2026", "material", "Controls", 25.0),
        ("2026", "animals", "Samples", 300.0),
        ("2026", NOT_SAID, "Days", 150.0),
        ("2026", OVERHEAD, "Overhead", 125.25),
        ("2027", "personnel", "Staff", 360.0),
        ("2027", NOT_SAID, "Days", 150.0),
        ("2027", OVERHEAD, "Overhead", 76.5),
    ]
    assert budget.unpriced_staff == 0


def test_item_is_where_study_or_lab_puts_it_and_the_lab_s_word_goes_first() -> None:
    pack = load_scenario("psy_stroop", "easy")
    lines = {line.what: line.category for line in budget_of(plan_of(pack)).lines}
    assert lines["voice-key booth"] == "instruments"
    assert lines["colour-word stimulus set"] == "material"
    assert lines["participant payments"] == lines["Samples"] == "participants"
    assert lines["Days"] == lines["Controls"] == NOT_SAID
    said = {"samples": BudgetCategory.OTHER, "PARTICIPANT  payments": BudgetCategory.PERSONNEL}
    other = LabOverrides(categories=said)
    there = with_lab(pack, categories=other.over(pack.lab, pack.study).categories)
    lines = {line.what: line.category for line in budget_of(plan_of(there)).lines}
    assert (lines["Samples"], lines["participant payments"]) == ("other", "personnel")


def plan_of(pack: Pack) -> Assessment:
    return assess(pack.reference_protocol, pack)


def test_lab_without_a_date_has_one_year_and_says_so() -> None:
    plan = plan_of(make_pack())
    assert budget_of(plan).years == ("year 1",)
    said = " ".join(str(getattr(block, "text", "")) for block in budget_blocks(plan))
    assert "no start date" in said
    assert "no price" in said


def test_lines_are_whole_hundredths_where_the_cost_is_by_the_largest_remainder() -> None:
    # From 31 December on 1 + 3 days at 0.01, and a quarter on top: overheads of 0.0025 and 0.0075
    # make 0.05 in all, so the hundredth that both come to is the second's.
    free = dict.fromkeys(_NO_OTHERS, 0.0)
    lab = {
        "cost_model": CostModel(per_day=0.01, overhead_percent=25.0, **free),
        "start_date": date(2026, 12, 31),
    }
    plan = assess(revise(PLAN, duration_days=4), with_lab(make_pack(), **lab))
    assert plan.cost == 0.05
    assert [(line.year, line.what, line.credits) for line in budget_of(plan).lines] == [
        ("2026", "Days", 0.01),
        ("2027", "Days", 0.03),
        ("2027", "Overhead", 0.01),
    ]


def test_day_beyond_the_last_date_is_in_no_year_that_has_one() -> None:
    # The plan begins on the last day of 9998; Python has no date after 9999.
    first = date(1970, 1, 1)
    begin = (date(9998, 12, 31) - first).days + 1
    model = CostModel(per_day=1.0, **dict.fromkeys(_NO_OTHERS, 0.0))
    lab = {"start_date": first, "days": 10**8, "start_day": begin, "cost_model": model}
    budget = budget_of(assess(revise(PLAN, duration_days=1000), with_lab(make_pack(), **lab)))
    costs = [(year, budget.credits("", year)) for year in budget.years]
    assert costs == [("9998", 1.0), ("9999", 365.0), ("10000 on", 634.0)]


@example(start=date(2026, 12, 30), day=1, days=2, weekends=True)
@example(start=date(2026, 12, 31), day=1, days=5 * 366, weekends=True)
@example(start=date(2026, 12, 31), day=1, days=7 * 366, weekends=True)
@example(start=date(2026, 12, 31), day=1, days=0, weekends=True)
@given(
    start=start_dates,
    day=st.integers(1, 500),
    days=st.integers(0, 2500),
    weekends=st.booleans(),
)
def test_each_day_counts_in_its_year(start: date, day: int, days: int, weekends: bool) -> None:
    # The days one by one, by a calendar of the standard library.
    dates, at = list[date](), start
    while len(dates) < day + days:
        if weekends or at.weekday() < 5:
            dates.append(at)
        at += timedelta(days=1)
    begins, worked = dates[day - 1], dates[day - 1 : -1]
    model = CostModel(per_day=1.0, **dict.fromkeys(_NO_OTHERS, 0.0))
    lab = {"start_date": start, "weekends": weekends, "start_day": day, "cost_model": model}
    budget = budget_of(assess(revise(PLAN, duration_days=days), with_lab(make_pack(), **lab)))
    years = [str(year) for year in sorted({each.year for each in (begins, *worked)})]
    if len(years) > MOST_YEARS:
        years[MOST_YEARS - 1 :] = [f"{years[MOST_YEARS - 1]} on"]
    assert [*budget.years] == years
    for place, year in enumerate(budget.years):
        last = place == MOST_YEARS - 1
        number = int(year.removesuffix(" on"))
        had = [each for each in worked if each.year == number or (last and each.year > number)]
        assert budget.credits("", year) == len(had)


_NO_OTHERS: Final = ("per_sample", "per_control", "per_equipment_item", "per_reagent")


@pytest.mark.parametrize("days", [LARGEST_PLANNED, 10**4, 10**8])
def test_years_beyond_the_last_column_are_one(days: int) -> None:
    lab = {"start_date": date(2099, 12, 31)}
    budget = budget_of(assess(revise(PLAN, duration_days=days), with_lab(make_pack(), **lab)))
    assert budget.years == ("2099", "2100", "2101", "2102", "2103", "2104 on")
    adds_up(assess(revise(PLAN, duration_days=days), with_lab(make_pack(), **lab)))


def test_table_shows_every_digit_so_that_a_reader_can_add_it_up() -> None:
    lab = Lab(budget=1.0, days=9, staff=1, cost_model=CostModel(per_sample=0.000001))
    plan = assess(PLAN, make_pack().in_lab(lab))
    table = budget_table(budget_of(plan), lab)
    *parts, total = [row[-2].text.replace(",", "") for row in table.rows]
    assert sum(map(Fraction, parts)) == Fraction(total) == Fraction(str(plan.cost))
    assert money_digits(0.000001) == "0.000001"
