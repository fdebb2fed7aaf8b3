"""A score: 0 for the best that a lab can run, and for nothing else, in words that are so."""

from itertools import combinations, product
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.assessment import assess
from replicalab.facts.blocks import Status
from replicalab.facts.score import score_verdict
from replicalab.models import ScientistAction, revise
from replicalab.negotiation import Outcome, ScientistKind, negotiate, score, score_of
from replicalab.negotiation.case import Case
from replicalab.planner import PlanAnalysis, rank
from replicalab.scenarios import Difficulty, Pack, list_scenarios, load_scenario
from tests.factories import CONTROLS, make_constraint, make_control, make_pack, make_protocol
from tests.negotiation.playing import FLAMING, OPEN, by_person, by_rule, propose
from tests.tiers import one_in

PACKS: Final = [load_scenario(s.scenario_id, lab) for s in list_scenarios() for lab in Difficulty]


def named(pack: Pack) -> str:
    return f"{pack.scenario_id} {pack.difficulty}"


@pytest.mark.parametrize("pack", PACKS, ids=named)
def test_least_loss_plan_is_optimal(pack: Pack) -> None:
    best = PlanAnalysis(assess(pack.reference_protocol, pack)).least.after
    result = score_of(best)
    assert result.regret == 0
    if result.counts:
        assert score_verdict(result).status is Status.PASS


@pytest.mark.parametrize("days", one_in(2, [range(15, 16), range(7, 19)]))
def test_no_plan_beats_the_best(days: range) -> None:
    pack = load_scenario("eco_reef_fish", "medium")
    reference = pack.reference_protocol
    best = PlanAnalysis(assess(reference, pack)).least.after
    swapped = best.plan.required_equipment
    equals = 0
    for number in range(len(reference.controls) + 1):
        for controls, equipment, duration in product(
            combinations(reference.controls, number), (reference.required_equipment, swapped), days
        ):
            for samples in (20, 57, 100, 116, 117, 118, 120, 128):
                plan = assess(
                    revise(
                        reference,
                        controls=[*controls],
                        required_equipment=equipment,
                        duration_days=duration,
                        sample_size=samples,
                    ),
                    pack,
                )
                result = score_of(plan)
                assert (result.deciding is None) == (result.regret == 0)
                if not result.regret:
                    equals += 1
                    assert plan.evidence.value >= best.evidence.value
                    assert plan.fidelity_loss == best.fidelity_loss
    assert equals


@given(st.sampled_from(PACKS), st.data())
def test_regret_follows_the_order(pack: Pack, data: st.DataObject) -> None:
    reference = pack.reference_protocol
    best = PlanAnalysis(assess(reference, pack))
    plans = [
        assess(revise(plan, sample_size=samples, duration_days=days), pack)
        for plan, samples, days in data.draw(
            st.lists(
                st.tuples(
                    st.sampled_from([reference, best.least.plan]),
                    st.integers(1, reference.sample_size + 2),
                    st.integers(1, reference.duration_days + 2),
                ),
                min_size=2,
            )
        )
    ]
    ranked = sorted(plans, key=lambda plan: rank(plan, reference))
    regret = [score_of(plan).regret for plan in ranked]
    assert regret == sorted(regret)
    for plan, distance in zip(ranked, regret, strict=True):
        assert (distance == 0) == (rank(plan, reference) <= best.least.rank)


def test_walking_away_is_optimal_without_a_good_plan() -> None:
    pack = load_scenario("math_four_colour", "medium")
    played = negotiate(Case.of(pack, scientist=ScientistKind.DIRECT).setup(pack), pack)
    assert played.outcome is Outcome.NO_DEAL
    assert score(played).regret == 0
    assert score_verdict(score(played)).text == ("Regret 0: no plan of this lab is worth running.")


def wishful(*, days: int = 9, budget: float = 1085.0) -> Pack:
    wish = make_constraint(
        label="Watching", bounds="days", comparator=">=", quantity=days, unit="days", hard=False
    )
    controls = [make_control(name=name, droppable=name == CONTROLS[1]) for name in CONTROLS]
    record = {"reference_protocol": make_protocol(sample_size=41), "controls": controls}
    return make_pack(constraints=[wish], budget=budget, min_days=5, **record)


def test_missed_soft_constraint_is_regretted() -> None:
    pack = wishful(budget=1235.0)  # for nine days a control must go
    best = PlanAnalysis(assess(pack.reference_protocol, pack)).least.after
    assert (len(best.broken_wishes), best.fidelity_loss) == (0, 1)
    result = score_of(assess(pack.reference_protocol, pack))
    assert (result.deciding, result.regret) == ("wishes", 7.5)
    verdict = score_verdict(result)
    assert verdict.status is Status.CAUTION
    assert "Soft constraints missed: 1 instead of 0." in verdict.text
    assert score_of(best).regret == 0


def test_regret_goes_by_the_first_term_that_differs() -> None:
    # For nine days without a wish broken 41 trays meet the target. Forty in five days break the
    # wish, and without a control lose fidelity of 1; they have power 0.79204, of a target of 0.80.
    pack = wishful(budget=5000.0)
    plan = revise(pack.reference_protocol, sample_size=40, controls=CONTROLS[:1])
    result = score_of(assess(plan, pack))
    assert (len(result.best.broken_wishes), result.best.fidelity_loss) == (0, 0)
    assert (result.deciding, result.regret) == ("tier", 9.5), (
        "one tier lower, and nine terms after it"
    )


def test_plan_below_the_floor_is_two_tiers_lower() -> None:
    # Four trays are below the floor, break the soft constraint and lose fidelity.
    pack = wishful(budget=5000.0)
    plan = assess(revise(pack.reference_protocol, sample_size=4, controls=CONTROLS[:1]), pack)
    assert (plan.feasible, len(plan.broken_wishes), plan.fidelity_loss) == (True, 1, 1)
    result = score_of(plan)
    assert (result.counts, result.deciding, result.regret) == (False, "tier", 9 + 2 / 3)


def test_result_is_compared_with_the_studys_plan() -> None:
    # The plan with the flame can never run, and the study's own reaches the target with 41 trays.
    result = score(by_rule(OPEN, FLAMING))
    assert result.best.plan == make_protocol(sample_size=41)
    assert (result.plan, result.counts, result.regret) == (assess(FLAMING, OPEN), False, 10.5)


@pytest.mark.parametrize("actions", [(), (propose(FLAMING), None), (propose(FLAMING),)])
def test_no_deal_scores_like_no_plan(actions: tuple[ScientistAction | None, ...]) -> None:
    result = score(by_person(OPEN, *actions))
    assert (result.plan, result.counts, result.regret) == (None, False, 11.0)
