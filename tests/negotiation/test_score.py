"""Score and ledger by hand and by brute force; no agent hears of the hidden reference."""

from itertools import combinations, pairwise, product
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab import negotiation as core
from replicalab.agents.scientist_policy import (
    build_scientist_system_prompt,
    format_scientist_observation,
)
from replicalab.assessment import assess
from replicalab.models import Protocol, Role, ScientistAction, revise
from replicalab.negotiation import Outcome, ScientistKind, negotiate, score, score_of
from replicalab.negotiation.case import Case
from replicalab.planner import PlanAnalysis, rank
from replicalab.scenarios import Difficulty, Pack, list_scenarios, load_scenario
from tests import factories
from tests.negotiation.playing import (
    BOOKED,
    CANARY_PACK,
    FLAMING,
    MEDIUM,
    OFFER,
    OPEN,
    PLAN,
    RULED,
    ask,
    by_person,
    by_rule,
    propose,
    revise_to,
)
from tests.strategies import openings, studied_packs
from tests.tiers import EVERY_LAB, one_in

PACKS: Final = [load_scenario(s.scenario_id, lab) for s in list_scenarios() for lab in Difficulty]


@pytest.mark.parametrize(("study", "lab"), EVERY_LAB)
def test_least_loss_plan_is_optimal(study: str, lab: Difficulty) -> None:
    pack = load_scenario(study, lab)
    best = PlanAnalysis(assess(pack.reference_protocol, pack)).least.after
    assert score_of(best).regret == 0


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


@pytest.mark.parametrize(
    ("budget", "samples", "controls", "deciding", "regret"),
    [
        (1235.0, 41, 2, "wishes", 7.5),  # for nine days a control must go
        # Power 0.79204 of a target of 0.80: one tier lower, and nine terms after it
        (5000.0, 40, 1, "tier", 9.5),
        (5000.0, 4, 1, "tier", 9 + 2 / 3),  # below the floor: two tiers lower
    ],
)
def test_regret_goes_by_the_first_term_that_differs(
    budget: float, samples: int, controls: int, deciding: str, regret: float
) -> None:
    # The plan takes five days of nine that are wished for, and a control may go.
    names = [
        factories.make_control(name=name, droppable=name == factories.CONTROLS[1])
        for name in factories.CONTROLS
    ]
    wish = {"bounds": "days", "comparator": ">=", "quantity": 9, "unit": "days", "hard": False}
    pack = factories.make_pack(
        constraints=[factories.make_constraint(label="Watching", **wish)],
        budget=budget,
        min_days=5,
        reference_protocol=factories.make_protocol(sample_size=41),
        controls=names,
    )
    plan = factories.make_protocol(sample_size=samples, controls=factories.CONTROLS[:controls])
    result = score_of(assess(plan, pack))
    assert (result.deciding, result.regret) == (deciding, regret)
    assert result.best.broken_wishes == ()
    assert score_of(result.best).regret == 0


def test_result_is_compared_with_the_studys_plan() -> None:
    # The plan with the flame can never run, and the study's own reaches the target with 41 trays.
    result = score(by_rule(OPEN, FLAMING))
    assert result.best.plan == factories.make_protocol(sample_size=41)
    assert (result.plan, result.counts, result.regret) == (assess(FLAMING, OPEN), False, 10.5)


@pytest.mark.parametrize("actions", [(), (propose(FLAMING), None), (propose(FLAMING),)])
def test_no_deal_scores_like_no_plan(actions: tuple[ScientistAction | None, ...]) -> None:
    result = score(by_person(OPEN, *actions))
    assert (result.plan, result.counts, result.regret) == (None, False, 11.0)


SCIENTIST, MANAGER = Role.SCIENTIST, Role.LAB_MANAGER


@pytest.mark.parametrize("scientist", sorted(core.AUTOMATIC))
@pytest.mark.parametrize("lab_manager", core.RULED_LAB_MANAGERS)
@pytest.mark.parametrize("plan", [PLAN, FLAMING])
@pytest.mark.parametrize("budget", [CANARY_PACK.lab.budget, 600.0])
def test_agents_never_see_the_hidden_reference(
    scientist: core.ScientistKind, lab_manager: core.LabManagerKind, plan: Protocol, budget: float
) -> None:
    pack = factories.with_means(CANARY_PACK, budget=budget)
    negotiation = by_rule(pack, plan, 5, scientist, lab_manager)
    heard = [build_scientist_system_prompt(pack)]
    for number, done in enumerate(negotiation.rounds):
        seen = core.observe(negotiation.state_before(number), pack)
        heard += [seen.model_dump_json(), format_scientist_observation(seen), done.reason]
        heard += done.action.questions if done.action else []
        heard += [done.answer.explanation] if done.answer else []
    assert not any("canary" in text for text in heard)
    assert negotiation.final_plan is not None
    assert negotiation.final_plan.missing_elements == ("canary-two",), "the canary is dead"


def test_ledger_of_a_medium_lab_by_hand() -> None:
    concessions = core.ledger(RULED)
    rows = [
        (
            concession.round_number + 1,
            concession.who,
            (concession.step.after.counts.samples, concession.step.after.counts.days),
            concession.step.credits_saved,
            concession.step.after.evidence.text.removeprefix("power "),
            concession.total.credits_saved,
        )
        for concession in concessions
    ]
    # (round, who, samples and days after, credits saved, power after, saved in all)
    #  plans:  420/8 = 5050 · 210/7 = 2900 · 105/6 = 1800 · 52/5 = 1220 · the offer of round 4
    #  offers: 210/6 = 2850 · the same · 105/6 = 1800 · 52/5 = 1220, accepted
    assert rows == [
        (2, SCIENTIST, (210, 7), 2150, "0.47", 2150),
        (3, SCIENTIST, (105, 6), 1100, "0.26", 3250),
        (3, MANAGER, (105, 6), 1050, "0.26", 1050),
        (4, SCIENTIST, (52, 5), 580, "0.15", 3830),
        (4, MANAGER, (52, 5), 580, "0.15", 1630),
        (5, SCIENTIST, (52, 5), 0, "0.15", 3830),
    ]
    # The extract of the same data loses no fidelity: the last step moves nothing.
    items = ("licensed-data terminal",), ("vendor-approved extract on the research server",)
    assert concessions[-1].step.fields == [("required_equipment", *items)]


def test_ledger_skips_questions_and_walking_away() -> None:
    # The shelf replaces the chamber at the same price: only fidelity is lost.
    actions = (ask("The budget?"), propose(PLAN), ask("The days?"), revise_to(OFFER))
    [concession] = core.ledger(by_person(BOOKED, *actions))
    assert (concession.round_number, concession.who) == (3, SCIENTIST)
    assert concession.step.credits_saved == 0
    assert concession.step.after.fidelity_loss > concession.step.before.fidelity_loss
    assert core.ledger(by_person(BOOKED, *actions[:3], None)) == []
    assert core.ledger(by_rule(OPEN, PLAN)) == []


def test_leap_is_one_step_per_field() -> None:
    # The Lab Manager's offers move along, and are no steps of the Scientist's. A day costs 50 and
    # a tray 10; days come before samples.
    smaller = factories.make_protocol(sample_size=30, duration_days=4, rationale=FLAMING.rationale)
    actions = (propose(PLAN), revise_to(smaller), revise_to(revise(smaller, rationale="Other.")))
    negotiation = by_person(BOOKED, *actions, revise_to(PLAN))
    assert {concession.who for concession in core.ledger(negotiation)} == {SCIENTIST, MANAGER}
    rows = [
        (
            move.round_number,
            [change.field for change in move.step.fields],
            move.step.credits_saved,
            move.total.credits_saved,
        )
        for move in core.concession_steps(negotiation)
    ]
    assert rows == [
        (1, ["duration_days"], 50, 50),
        (1, ["sample_size"], 100, 150),
        (3, ["duration_days"], -50, 100),
        (3, ["sample_size"], -100, 0),
    ]
    assert {move.who for move in core.concession_steps(negotiation)} == {SCIENTIST}


def assert_adds_up(negotiation: core.Negotiation) -> None:
    concessions = core.ledger(negotiation)
    for who in (SCIENTIST, MANAGER):
        custom = [concession for concession in concessions if concession.who is who]
        saved = sum(concession.step.credits_saved for concession in custom)
        assert not custom or custom[-1].total.credits_saved == pytest.approx(saved)
        assert all(one.step.after is other.step.before for one, other in pairwise(custom))
    numbers = [concession.round_number for concession in concessions]
    assert numbers == sorted(numbers)


def test_repeated_offer_is_one_step() -> None:
    # 150 months in 6 days are offered for both the second and the third plan.
    sizes = ((75, 6), (300, 8), (150, 7), (60, 6))
    plans = [revise(MEDIUM.reference_protocol, sample_size=n, duration_days=d) for n, d in sizes]
    negotiation = by_person(MEDIUM, propose(plans[0]), *map(revise_to, plans[1:]))
    assert [g.round_number for g in core.ledger(negotiation) if g.who is MANAGER] == [1, 3]
    assert_adds_up(negotiation)


@given(studied_packs(), openings(), st.integers(1, 5), st.sampled_from(core.RULED_LAB_MANAGERS))
def test_steps_of_each_side_add_up(
    pack: Pack, opening: Protocol | None, rounds: int, manager: core.LabManagerKind
) -> None:
    negotiation = by_rule(pack, opening, rounds, lab_manager=manager)
    assert_adds_up(negotiation)
