"""Trade-offs in sentences: golden text for each kind of answer."""

from __future__ import annotations

import pytest

from replicalab.agents import check_feasibility
from replicalab.models import revise
from replicalab.planner import frontier, least_loss, nash_point
from replicalab.scenarios import load_scenario
from replicalab.scenarios.levers import with_means
from replicalab.sentences import (
    Status,
    Verdict,
    apart_text,
    balance_text,
    extra_text,
    limit_labels,
    limit_meanings,
    priced_size_text,
    region_title,
    standing_verdict,
    supposed_text,
    worded_text,
)
from replicalab.tradeoffs import Constraint, as_least_loss, extras, worded


def standing(study: str, lab: str, samples: int | None = None, days: int = 0) -> Verdict:
    """Return the standing of the reference protocol, or of a plan of these numbers that fits."""
    pack = load_scenario(study, lab)
    plan = pack.reference_protocol
    if samples is not None:
        plan = revise(worded(plan, pack).plan, sample_size=samples, duration_days=days)
    return standing_verdict(plan, check_feasibility(plan, pack), frontier(pack, plan), pack)


def bought(study: str, lab: str) -> list[str]:
    pack = load_scenario(study, lab)
    return [extra_text(extra) for extra in extras(pack.reference_protocol, pack)]


def test_plan_that_is_beaten_says_by_what() -> None:
    assert standing("fin_momentum", "medium", 150, 6) == Verdict(
        Status.CAUTION,
        "Beaten",
        "No less evidence can be had for 150 credits less: 150 samples in 3 days for 2,100 "
        "credits, power 0.58. For no more credits and days: 165 samples in 3 days for 2,250 "
        "credits, power 0.62, instead of power 0.58.",
    )


def test_plan_on_the_frontier_is_beaten_by_nothing() -> None:
    found = standing("fin_momentum", "medium", 161, 3)
    assert (found.status, found.title) == (Status.PASS, "Unbeaten")
    assert found.text.startswith("Nothing beats your plan: more evidence takes more credits")


def test_plan_that_does_not_fit_says_why() -> None:
    assert standing("fin_momentum", "medium").text == (
        "Your plan does not fit this lab: protocol, budget, equipment and schedule fail. "
        "No plan that fits has as much evidence for as little."
    )


@pytest.mark.parametrize(
    ("lab", "text"),
    [
        (
            ("chem_suzuki_ppb", "hard"),
            "No plan that fits this lab has any evidence. It would take 'ultrapure sodium "
            "carbonate' restocked to reach the floor.",
        ),
        (
            ("bio_jq1_myeloma", "hard"),
            "No plan that fits this lab has any evidence. To run your plan it would take 1,190 "
            "more credits, 22 more days, 1 more staff unit, 'bioluminescence imager' released "
            "and '(-)-JQ1 inactive enantiomer' restocked.",
        ),
    ],
)
def test_lab_without_evidence_says_what_it_would_take(lab: tuple[str, str], text: str) -> None:
    assert standing(*lab) == Verdict(Status.FAIL, "Nothing fits", text)


def test_plan_that_fits_without_evidence_says_what_is_lost() -> None:
    assert standing("bio_jq1_myeloma", "hard", 12, 14).text == (
        "No plan that fits this lab has any evidence. Your plan fits, but the study's endpoint "
        "needs 22 days, and the plan has 14."
    )


def test_balance_names_both_gains() -> None:
    pack = load_scenario("fin_momentum", "medium")
    found = nash_point(frontier(pack, pack.reference_protocol), pack)
    assert balance_text(found, pack) == (
        "The balanced plan is 161 samples in 3 days for 2,210 credits. Both sides gain: the "
        "Scientist has power 0.61 against a floor of 0.50, and 390 credits of 2,600 are left over."
    )


def test_balance_of_no_plan_says_that_there_is_none() -> None:
    pack = load_scenario("math_four_colour", "hard")
    assert balance_text(None, pack) == (
        "There is no balanced plan: none that fits reaches the floor of 100 %, so an agreement "
        "would leave the Scientist with nothing."
    )


def test_extras_say_what_they_buy() -> None:
    assert bought("fin_momentum", "medium") == [
        "+100 credits: 10 more samples, power 0.69 → 0.71",
        "+1 day: nothing",
        "+1 staff unit: nothing",
    ]
    assert bought("eco_reef_fish", "medium")[2] == (
        "+1 staff unit: 2 fewer samples, power 0.57, unchanged, fidelity loss 3 → 2"
    )
    assert bought("ml_rl_seeds", "hard")[0] == (
        "+100 credits: 4 more samples, power 0.46 → 0.56 (above floor)"
    )
    assert bought("chem_suzuki_ppb", "hard")[0] == (
        "+100 credits: still no plan that fits; protocol and reagents fail"
    )


def test_supposed_lab_is_named_by_what_moved() -> None:
    pack = load_scenario("fin_momentum", "medium")
    assert supposed_text(pack, pack) is None
    assert supposed_text(pack, with_means(pack, budget=2700, days=1, staff=5)) == (
        "A supposed lab: 2,700 credits instead of 2,600, 1 day instead of 6, 5 staff units "
        "instead of 4. The other pages keep the real lab."
    )


def test_region_says_for_which_plan_it_is_drawn() -> None:
    pack = load_scenario("fin_momentum", "medium")
    assert worded_text(worded(pack.reference_protocol, pack)) == (
        "The region is drawn for the plan with 'vendor-approved extract on the research server' "
        "for 'licensed-data terminal'."
    )
    easy = load_scenario("fin_momentum", "easy")
    assert worded_text(worded(easy.reference_protocol, easy)) is None
    hard = load_scenario("chem_suzuki_ppb", "hard")
    assert worded_text(worded(hard.reference_protocol, hard)) == (
        "No point here is feasible: equipment and reagents fail whatever the days and samples. "
        "The lines show what the numbers alone would allow."
    )


def test_least_loss_plan_that_drops_a_control_is_told_apart() -> None:
    pack = load_scenario("eco_reef_fish", "medium")
    plan = pack.reference_protocol
    least = as_least_loss(least_loss(plan, pack), worded(plan, pack), pack)
    assert least is not None
    assert apart_text(least) == (
        "The least-loss plan is not a point of this region: it has 'two-source choice arena' for "
        "'two-current choice flume' and no 'side-swap of currents'. So it may fit where this "
        "region is hatched; below you can draw the region for it."
    )


@pytest.mark.parametrize(
    ("useful", "feasible", "title"),
    [
        ([-1, 180, 195], [5, 190, 195], "What fits: up to 195 samples, 2 to 3 days"),
        ([-1, 1200, -1], [5, 1200, 9], "What fits: up to 1,200 samples, 2 days"),
        ([-1, -1, -1], [5, 6, 7], "Whatever fits here yields no evidence"),
        ([-1, -1, -1], [-1, -1, -1], "No days and samples fit this lab"),
    ],
)
def test_title_of_the_region(useful: list[int], feasible: list[int], title: str) -> None:
    assert region_title([1, 2, 3], useful, feasible) == title


def test_limits_are_labelled_with_their_numbers() -> None:
    pack = load_scenario("fin_momentum", "medium")
    assert limit_labels(pack) == {
        Constraint.BUDGET: "budget 2,600",
        Constraint.SCHEDULE: "limit 6 days",
        Constraint.STAFF: "staff 4",
        Constraint.ENDPOINT: "endpoint 3 days",
        Constraint.THROUGHPUT: "60 a day",
        Constraint.POPULATION: "all 300",
    }
    assert limit_meanings(pack)[Constraint.THROUGHPUT] == "60 samples a day can count"
    assert set(limit_meanings(pack)) == set(limit_labels(pack))


def test_size_of_one_is_singular() -> None:
    assert priced_size_text(1, 1, 1) == "1 sample in 1 day for 1 credit"
