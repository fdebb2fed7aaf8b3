"""The Scientist that concedes step by step, and a person in the Lab Manager's seat."""

from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab import negotiation as core
from replicalab.assessment import Assessment, assess
from replicalab.errors import NegotiationError
from replicalab.models import LIST_FIELDS, Protocol, revise
from replicalab.planner import PlanAnalysis, rank
from replicalab.planner.least_loss import differences
from replicalab.scenarios import Difficulty, EvidenceTier, Pack, load_scenario
from tests.factories import make_pack
from tests.negotiation.playing import MEDIUM, acts, by_rule, game, plan_of
from tests.strategies import openings, studied_packs
from tests.tiers import EVERY_LAB, FEW_LABS

STEPS: Final = core.ScientistKind.STEP_BY_STEP
BELOW: Final = EvidenceTier.BELOW_FLOOR
AGREEMENTS: Final = (core.Ending.LAB_MANAGER_ACCEPTED, core.Ending.SCIENTIST_ACCEPTED)


def stepwise(pack: Pack, opening: Protocol | None = None, rounds: int = 5) -> core.Negotiation:
    return by_rule(pack, opening or pack.reference_protocol, rounds, STEPS)


def proposals(negotiation: core.Negotiation) -> list[Assessment]:
    rounds = [done for done in negotiation.rounds if done.action and done.action.protocol]
    return [done.plan for done in rounds if done.plan]


def opened(negotiation: core.Negotiation) -> PlanAnalysis:
    plan = negotiation.setup.opening or negotiation.pack.reference_protocol
    return PlanAnalysis(assess(plan, negotiation.pack))


def assert_ends_by_the_rules(negotiation: core.Negotiation) -> None:
    assert negotiation.ending in (*AGREEMENTS, core.Ending.WALKED_AWAY)
    last, plan = negotiation.final_plan, opened(negotiation).least.after
    if negotiation.ending in AGREEMENTS:
        assert last is not None
        assert core.is_worth_running(last)
        assert last.evidence.tier is plan.evidence.tier
        return
    if len(negotiation.rounds) == 1:
        assert not core.is_worth_running(plan)
        return
    assert last is not None
    is_last = len(negotiation.rounds) == negotiation.setup.max_rounds
    if opened(negotiation).yours.evidence.tier is BELOW or not plan.feasible or is_last:
        return
    assert plan.evidence.tier is BELOW
    numbers = [difference.field for difference in differences(last.plan, plan.plan)]
    for name in {"duration_days", "sample_size"} & set(numbers):
        alone = revise(last.plan, **{name: getattr(plan.plan, name)})
        assert assess(alone, negotiation.pack).evidence.tier is BELOW


@pytest.mark.parametrize(("study", "lab"), EVERY_LAB)
def test_runs_end_by_the_rules(study: str, lab: Difficulty) -> None:
    for seed in (0, 1, 7):
        pack = load_scenario(study, lab, seed)
        for rounds in range(1, 7):
            negotiation = stepwise(pack, rounds=rounds)
            assert 1 <= len(negotiation.rounds) <= rounds
            assert_ends_by_the_rules(negotiation)


@pytest.mark.parametrize(("study", "lab"), EVERY_LAB)
def test_each_concession_is_one_field(study: str, lab: Difficulty) -> None:
    negotiation = stepwise(load_scenario(study, lab), rounds=10)
    plans, protocol = proposals(negotiation), opened(negotiation).least.plan
    for before, after in pairwise(plans):
        changes = differences(before.plan, after.plan)
        newly = set(assess(after.plan, after.pack).failing) - set(before.failing)
        assert not newly
        assert len(changes) == 1
        [change] = changes
        if change.field not in LIST_FIELDS:
            assert change.after == getattr(protocol, change.field)
    ledger = core.concession_steps(negotiation)
    saved = sum(concession.step.credits_saved for concession in ledger)
    assert negotiation.final_plan is not None
    assert saved == pytest.approx(plans[0].cost - negotiation.final_plan.cost)
    if ledger:
        assert ledger[-1].step.after.plan == negotiation.final_plan.plan
    left_over = {difference.field for difference in differences(plans[0].plan, protocol)}
    fields = {difference.field for difference in differences(plans[0].plan, plans[-1].plan)}
    assert fields <= left_over


def test_momentum_concedes_item_then_days_then_samples() -> None:
    negotiation = stepwise(MEDIUM)
    first, *later = proposals(negotiation)
    assert (first.plan.sample_size, first.plan.duration_days) == (420, 8)
    changes = [differences(a.plan, b.plan)[0] for a, b in pairwise([first, *later])]
    fields = [change.field for change in changes]
    assert fields == ["required_equipment", "duration_days", "sample_size"]
    assert negotiation.ending is core.Ending.LAB_MANAGER_ACCEPTED


@pytest.mark.parametrize(("study", "lab"), FEW_LABS)
def test_run_replays_and_forks_at_every_round(study: str, lab: Difficulty) -> None:
    negotiation = stepwise(load_scenario(study, lab))
    assert core.replay(core.load(core.save(negotiation)), negotiation.pack) == negotiation
    for number in range(len(negotiation.rounds)):
        plan = opened(negotiation).yours.plan
        other = revise(plan, sample_size=plan.sample_size + 1)
        forked = core.fork(negotiation, number, other)
        assert forked.rounds[number].after.opening == PlanAnalysis(assess(other, forked.pack))
        assert core.replay(core.load(core.save(forked)), forked.pack) == forked


@given(studied_packs(), openings(), st.integers(1, 6))
def test_any_opening_ends_by_the_rules(pack: Pack, opening: Protocol, rounds: int) -> None:
    negotiation = stepwise(pack, opening, rounds)
    assert len(negotiation.rounds) <= rounds
    assert_ends_by_the_rules(negotiation)
    assert all(done.reason for done in negotiation.rounds)


def test_last_round_takes_all_changes() -> None:
    negotiation = stepwise(MEDIUM, rounds=2)
    assert plan_of(negotiation.rounds[1]) == opened(negotiation).least.plan
    assert negotiation.outcome is core.Outcome.AGREED


def test_offer_is_accepted_only_if_best() -> None:
    halved = stepwise(MEDIUM)
    offer = halved.rounds[0].after.offer
    assert offer is not None
    assert rank(offer, MEDIUM.reference_protocol) > opened(halved).least.rank
    assert "accept" not in acts(halved)
    best = by_rule(MEDIUM, MEDIUM.reference_protocol, 5, STEPS, core.LabManagerKind.LEAST_LOSS)
    assert acts(best) == ["propose_protocol", "accept"]
    assert plan_of(best.rounds[1]) == opened(halved).least.plan


def awaited(pack: Pack, scientist: core.ScientistKind = STEPS) -> core.Negotiation:
    setup = game(pack, pack.reference_protocol, 5, scientist, core.LabManagerKind.PERSON)
    return core.negotiate(setup, pack)


def test_negotiation_awaits_the_persons_answer() -> None:
    negotiation = awaited(MEDIUM)
    assert (len(negotiation.rounds), negotiation.awaits_reply) == (1, True)
    assert negotiation.rounds[0].answer is None
    with pytest.raises(NegotiationError, match=r"^round 1 awaits the Lab Manager's answer"):
        core.play(negotiation, core.Turn(action=None))
    with pytest.raises(NegotiationError, match="awaits no answer of a person"):
        core.reply_to(stepwise(MEDIUM), core.Reply())


def test_rejections_lead_step_by_step_to_least_loss() -> None:
    negotiation = awaited(MEDIUM)
    while not proposals(negotiation)[-1].feasible:
        negotiation = core.play_on(core.reply_to(negotiation, core.Reply()))
    assert proposals(negotiation)[-1].plan == opened(negotiation).least.plan
    agreed = core.reply_to(negotiation, core.Reply(accepts=True))
    assert agreed.ending is core.Ending.LAB_MANAGER_ACCEPTED
    assert agreed.outcome is core.Outcome.AGREED
    rest = core.play_on(core.reply_to(negotiation, core.Reply()))
    assert rest.ending is core.Ending.WALKED_AWAY
    for played in (agreed, rest):
        assert len(core.moves_of(played)) == 4
        assert core.replay(core.load(core.save(played)), MEDIUM) == played


def test_failing_plan_is_no_reply() -> None:
    negotiation = awaited(MEDIUM)
    with pytest.raises(NegotiationError, match=r"cannot be accepted: .*budget"):
        core.reply_to(negotiation, core.Reply(accepts=True))
    with pytest.raises(NegotiationError, match=r"counter-offer does not pass: .*budget"):
        core.reply_to(negotiation, core.Reply(counter=MEDIUM.reference_protocol))


def test_best_counter_offer_is_accepted() -> None:
    negotiation = awaited(MEDIUM)
    best = opened(negotiation).least.plan
    done = core.play_on(core.reply_to(negotiation, core.Reply(counter=best)))
    assert acts(done) == ["propose_protocol", "accept"]
    assert (done.outcome, plan_of(done.rounds[1])) == (core.Outcome.AGREED, best)


def test_counter_offer_becomes_the_opening() -> None:
    negotiation = awaited(MEDIUM)
    best = opened(negotiation).least.plan
    counter = revise(best, sample_size=best.sample_size - 20)
    countered = core.reply_to(negotiation, core.Reply(counter=counter))
    opening, offer = countered.state.opening, countered.state.offer
    assert opening is not None
    assert offer is not None
    assert opening.yours.plan == offer.plan == counter
    answered = core.play_on(countered)
    assert not differences(plan_of(answered.rounds[1]), opening.least.plan)
    below = revise(best, sample_size=20)
    rest = core.play_on(core.reply_to(negotiation, core.Reply(counter=below)))
    assert rest.ending is core.Ending.WALKED_AWAY
    assert rest.rounds[-1].reason.startswith("The offer has power ")


def test_person_plays_one_side_only() -> None:
    for scientist in (core.ScientistKind.PERSON, core.ScientistKind.MODEL):
        with pytest.raises(ValueError, match="lab_manager is a person and scientist is"):
            game(make_pack(), None, 5, scientist, core.LabManagerKind.PERSON)


@pytest.mark.parametrize("scientist", [core.ScientistKind.BASELINE, core.ScientistKind.DIRECT])
def test_other_rules_play_against_a_person(scientist: core.ScientistKind) -> None:
    negotiation = awaited(MEDIUM, scientist)
    while negotiation.ending is None:
        negotiation = core.play_on(core.reply_to(negotiation, core.Reply()))
    assert len(negotiation.rounds) <= 5
    assert core.replay(core.load(core.save(negotiation)), MEDIUM) == negotiation
