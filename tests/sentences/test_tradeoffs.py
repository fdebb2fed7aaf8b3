"""Trade-offs in sentences: golden text for each kind of answer."""

from __future__ import annotations

import pytest

from replicalab.agents import check_feasibility
from replicalab.concessions import price
from replicalab.models import revise
from replicalab.planner import Frontier, FrontierPlan, frontier, least_loss, nash_point
from replicalab.scenarios import load_scenario
from replicalab.sentences import (
    Status,
    Verdict,
    apart_text,
    balance_text,
    do_not_run_text,
    extra_text,
    fidelity_text,
    given_up_text,
    limit_labels,
    limit_meanings,
    loaded_text,
    outside_text,
    priced_size_text,
    region_title,
    standing_verdict,
    supposed_text,
    worded_text,
)
from replicalab.tradeoffs import Constraint, as_least_loss, extras, worded
from tests.factories import with_means


def standing(study: str, lab: str, samples: int | None = None, days: int = 0) -> Verdict:
    """Return the standing of the reference protocol, or of a plan of these numbers that fits."""
    pack = load_scenario(study, lab)
    plan = pack.reference_protocol
    if samples is not None:
        plan = revise(worded(plan, pack).plan, sample_size=samples, duration_days=days)
    check, least = check_feasibility(plan, pack), least_loss(plan, pack)
    return standing_verdict(plan, check, frontier(pack, plan), least, pack)


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
        "No plan that fits has as much evidence as yours."
    )


def test_plan_that_does_not_fit_is_told_of_equal_evidence_at_the_precision_shown() -> None:
    assert standing("psy_stroop", "medium").text == (
        "Your plan does not fit this lab: protocol, budget, equipment and schedule fail. "
        "The least-loss plan fits and has power 1.00 too, for 600 credits less."
    )


def test_plan_that_does_not_fit_and_yields_nothing_says_both() -> None:
    assert standing("fin_momentum", "medium", 300, 2).text == (
        "Your plan does not fit this lab: budget fails. Nor would it yield evidence: the study's "
        "endpoint needs 3 days, and the plan has 2."
    )


def test_plan_that_does_not_fit_is_shown_the_gentlest_that_has_as_much_evidence() -> None:
    assert standing("chem_suzuki_ppb", "medium").text.endswith(
        "A plan that fits has as much evidence: 24 samples in 4 days for 1,190 credits, power "
        "0.94, fidelity loss 2."
    )


def test_plan_beaten_only_in_days_is_not_called_unbeaten() -> None:
    pack = load_scenario("fin_momentum", "medium")
    plan = revise(worded(pack.reference_protocol, pack).plan, sample_size=161, duration_days=4)
    mine = price(plan, pack)
    faster = FrontierPlan(
        161, 3, mine.credits, mine.evidence.value, mine.evidence.tier, mine.loss, ()
    )
    check, least = check_feasibility(plan, pack), least_loss(plan, pack)
    found = standing_verdict(plan, check, Frontier((faster,), False), least, pack)
    assert found == Verdict(
        Status.CAUTION,
        "Beaten",
        "As much evidence for no more credits, with less given up or in fewer days: 161 samples "
        "in 3 days for 2,260 credits, power 0.61, fidelity loss 0.",
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
    assert balance_text(found, pack.reference_protocol, pack) == (
        "The balanced plan is 161 samples in 3 days for 2,210 credits. Both sides gain: the "
        "Scientist has power 0.61 against a floor of 0.50, and 390 credits of 2,600 are left over."
    )


def test_balance_of_no_plan_says_that_there_is_none() -> None:
    pack = load_scenario("math_four_colour", "hard")
    assert balance_text(None, pack.reference_protocol, pack) == (
        "There is no balanced plan: none that fits reaches the floor of 100 %, so an agreement "
        "would leave the Scientist with nothing."
    )


def test_balance_that_gives_something_up_says_what_the_sum_is_made_of() -> None:
    pack = load_scenario("eco_reef_fish", "medium")
    plan = pack.reference_protocol
    assert balance_text(nash_point(frontier(pack, plan), pack), plan, pack).endswith(
        "It gives up some of the study: fidelity loss 3 in all (substitution 2, dropped control 1)."
    )


def test_fidelity_loss_of_one_part_or_none_is_a_plain_number() -> None:
    pack = load_scenario("eco_reef_fish", "medium")
    plan = pack.reference_protocol
    assert fidelity_text(plan, pack) == "fidelity loss 0"
    assert fidelity_text(worded(plan, pack).plan, pack) == "fidelity loss 2"


def test_what_a_plan_gives_up_is_named() -> None:
    pack = load_scenario("eco_reef_fish", "medium")
    plan = pack.reference_protocol
    assert given_up_text(plan, pack) == "nothing"
    assert given_up_text(least_loss(plan, pack).plan, pack) == (
        "'two-source choice arena' for 'two-current choice flume'; no 'side-swap of currents'"
    )


def test_lab_too_short_for_the_endpoint_is_told_not_to_run() -> None:
    pack = load_scenario("bio_jq1_myeloma", "hard")
    least = least_loss(pack.reference_protocol, pack)
    assert do_not_run_text(least, pack) == (
        "Do not run this here: the endpoint needs 22 days, the lab has 14."
    )
    medium = load_scenario("bio_jq1_myeloma", "medium")
    assert do_not_run_text(least_loss(medium.reference_protocol, medium), medium) is None


def test_load_says_what_it_brought() -> None:
    pack = load_scenario("eco_reef_fish", "medium")
    plan = pack.reference_protocol
    least = revise(least_loss(plan, pack).plan, sample_size=1, duration_days=1)
    assert loaded_text(plan, least) == (
        "Loaded: 1 sample, 1 day, with 'two-source choice arena', without 'two-current choice "
        "flume' and 'side-swap of currents'."
    )
    assert loaded_text(plan, revise(plan, sample_size=1200)) == (
        f"Loaded: 1,200 samples, {plan.duration_days} days."
    )


def test_what_lies_outside_the_chart_is_named_with_its_samples() -> None:
    assert outside_text([]) is None
    assert outside_text([("your plan", 1633), ("target 100 %", 1)]) == (
        "Outside the chart: your plan (1,633 samples), target 100 % (1 sample)."
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
        Constraint.STAFF: "staff limit 4",
        Constraint.ENDPOINT: "under 3 days: no evidence",
        Constraint.THROUGHPUT: "at most 60 a day count",
        Constraint.POPULATION: "only 300 exist",
    }
    assert limit_meanings(pack)[Constraint.THROUGHPUT] == "60 samples a day can count"
    assert set(limit_meanings(pack)) == set(limit_labels(pack))


def test_size_of_one_is_singular() -> None:
    assert priced_size_text(1, 1, 1) == "1 sample in 1 day for 1 credit"
