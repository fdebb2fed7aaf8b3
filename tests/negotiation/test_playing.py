"""A negotiation played: rounds, answers, offers, endings by hand; taken back, forked, by moves."""

from itertools import pairwise, product
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab import negotiation as core
from replicalab.assessment import Assessment, assess
from replicalab.errors import NegotiationError
from replicalab.models import LIST_FIELDS, Protocol, ScientistAction, revise
from replicalab.negotiation.rounds import play_rule
from replicalab.planner import PlanAnalysis, rank
from replicalab.planner.least_loss import differences
from replicalab.scenarios import Difficulty, EvidenceTier, Pack, list_scenarios, load_scenario
from tests.factories import make_pack, make_protocol
from tests.golden import assert_golden
from tests.negotiation.playing import (
    ACCEPT,
    BOOKED,
    ENDS,
    FLAMING,
    FLAMING_ON_THE_SHELF,
    MEDIUM,
    MODELLED,
    OFFER,
    OPEN,
    PLAN,
    PROSE,
    RULED,
    STUCK,
    acts,
    answers,
    ask,
    by_person,
    by_rule,
    game,
    plan_of,
    propose,
    revise_to,
    said,
)
from tests.scripted import ScriptedGenerate
from tests.strategies import itemised_protocols, openings, studied_packs
from tests.tiers import EVERY_LAB, FEW_LABS

ASKS = ask("The budget?")
THIRTY = make_protocol(sample_size=30)


def test_turns_and_answers_in_words() -> None:
    bare = make_protocol(
        sample_size=1,
        duration_days=1,
        controls=[],
        required_equipment=[],
        required_reagents=[],
        rationale=FLAMING.rationale,
    )
    actions = [ACCEPT, propose(PLAN), ask("The budget?", "And the days?"), revise_to(bare), None]
    negotiation = by_person(BOOKED, *actions)
    texts = [f"{e.role}, {e.action_type}: {e.message}" for e in negotiation.state.history]
    assert_golden("negotiation#history", "\n".join(texts))
    assert [e.round_number for e in negotiation.state.history] == [0, 0, 1, 1, 2, 2, 3, 3, 4]


def test_changed_observation_changes_no_state() -> None:
    negotiation = by_person(BOOKED, propose(PLAN), ask("The days?"))
    before = [done.plan for done in negotiation.rounds]
    seen = core.observe(negotiation.state, BOOKED)
    for protocol in (seen.current_protocol, seen.suggested_protocol):
        assert protocol is not None
        protocol.controls.append("mine")
    seen.conversation_history.clear()
    assert core.observe(negotiation.state, BOOKED).current_protocol == PLAN
    assert [done.plan for done in negotiation.rounds] == before


@pytest.mark.parametrize(
    ("pack", "actions", "kinds", "accepted"),
    [
        (BOOKED, [propose(PLAN)], ["suggest_alternative", "accept"], OFFER),
        (STUCK, [propose(PLAN)], ["reject", "reject"], PLAN),
        (BOOKED, [propose(PLAN), ASKS], ["suggest_alternative", "report_feasibility", "accept"],
         OFFER),
        (BOOKED, [propose(PLAN), revise_to(FLAMING_ON_THE_SHELF)],
         ["suggest_alternative", "report_feasibility", "report_feasibility"], FLAMING_ON_THE_SHELF),
        (BOOKED, [propose(PLAN), revise_to(THIRTY)],
         ["suggest_alternative", "suggest_alternative", "accept"],
         make_protocol(sample_size=30, required_equipment=OFFER.required_equipment)),
        (BOOKED, [propose(FLAMING)], ["suggest_alternative", "report_feasibility"],
         FLAMING_ON_THE_SHELF),
    ],
    ids=["taken", "none, so the plan", "through a question", "fallen", "replaced", "forbidden"],
)  # fmt: skip
def test_accept_takes_the_standing_offer_or_plan(
    pack: Pack, actions: list[ScientistAction], kinds: list[str], accepted: Protocol
) -> None:
    negotiation = by_person(pack, *actions, ACCEPT)
    before = negotiation.state_before(len(actions))
    assert answers(negotiation) == kinds
    assert negotiation.final_plan is (before.offer or before.plan)
    assert plan_of(negotiation.rounds[-1]) == accepted
    assert negotiation.ending is core.Ending.SCIENTIST_ACCEPTED


@pytest.mark.parametrize("name", ENDS)
def test_ending_and_outcome_are(name: str) -> None:
    negotiation = ENDS[name].played()
    assert (negotiation.ending, negotiation.outcome) == ENDS[name][-2:]


def test_turn_after_the_end_is_refused() -> None:
    for action in (propose(PLAN), None):
        with pytest.raises(NegotiationError) as caught:
            core.play(by_person(OPEN, propose(PLAN)), core.Turn(action=action))
        assert str(caught.value).startswith("round 2: the negotiation has ended, the Lab Manager ")


@given(studied_packs(), openings(), st.integers(1, 8), st.sampled_from(core.RULED_LAB_MANAGERS))
def test_negotiation_by_rule_ends_in_one_outcome(
    pack: Pack, opening: Protocol | None, rounds: int, lab_manager: core.LabManagerKind
) -> None:
    setup = game(pack, opening, rounds, lab_manager=lab_manager)
    before = (pack.model_dump_json(), setup.model_dump_json())
    negotiation = by_rule(pack, opening, rounds, lab_manager=lab_manager)
    assert by_rule(pack, opening, rounds, lab_manager=lab_manager) == negotiation
    assert (pack.model_dump_json(), setup.model_dump_json()) == before
    assert [done.number for done in negotiation.rounds] == list(range(len(negotiation.rounds)))
    assert len(negotiation.rounds) <= rounds
    assert negotiation.final_plan is not None
    endings = {core.Ending.SCIENTIST_ACCEPTED, core.Ending.LAB_MANAGER_ACCEPTED}
    accepted = negotiation.ending in endings
    assert (negotiation.outcome is core.Outcome.NO_DEAL) is not accepted
    if accepted:
        false = negotiation.outcome is core.Outcome.FALSE_AGREEMENT
        assert false is not negotiation.final_plan.feasible
    assert "accept" not in answers(negotiation)[:-1]


def went_on(negotiation: core.Negotiation) -> core.Negotiation:
    if negotiation.setup.scientist in core.AUTOMATIC:
        return play_rule(negotiation)
    action = propose(PLAN) if negotiation.state.plan is None else ACCEPT
    if negotiation.setup.scientist is core.ScientistKind.PERSON:
        return core.play(negotiation, core.Turn(action=action))
    model = ScriptedGenerate([PROSE, said(action)])
    answer = core.ask_model(model, negotiation.state, negotiation.pack)
    assert answer.turn is not None
    return core.play(negotiation, answer.turn)


@pytest.mark.parametrize(
    ("scientist", "lab_manager"), [*product(core.ScientistKind, core.RULED_LAB_MANAGERS)]
)
@pytest.mark.parametrize("pack", [BOOKED, MEDIUM], ids=["booked", "medium"])
def test_every_pairing_plays_to_an_end_and_replays(
    pack: Pack, scientist: core.ScientistKind, lab_manager: core.LabManagerKind
) -> None:
    setup = game(pack, None, 5, scientist, lab_manager)
    negotiation = core.Negotiation(setup, pack)
    while negotiation.ending is None:
        negotiation = went_on(negotiation)
    assert negotiation.outcome is not None
    assert core.replay(core.load(core.save(negotiation)), pack) == negotiation
    if scientist in core.AUTOMATIC:
        assert core.negotiate(setup, pack) == negotiation, "at once and turn by turn are the same"


def test_fork_keeps_the_rounds_before() -> None:
    before, plan = (core.save(RULED), revise(MEDIUM.reference_protocol, sample_size=111))
    for number, action in ((0, propose(plan)), (3, revise_to(plan))):
        forked = core.fork(RULED, number, plan)
        assert forked.rounds[:number] == RULED.rounds[:number]
        done = forked.rounds[number]
        assert done.action == action
        assert (done.turn.by, done.reason) == (core.TurnAuthor.FORK, "A person put it forward.")
        assert forked.setup == RULED.setup.model_copy(update={"forked_at": number})
    assert core.save(RULED) == before


def test_fork_goes_on_with_the_baseline() -> None:
    # 111 samples, 7 days cost 1110 + 350 + 450 = 1910 in a lab of 3700 credits and 6 days.
    plan = revise(MEDIUM.reference_protocol, sample_size=111, duration_days=7)
    forked = core.fork(RULED, 1, plan)
    sizes = [(plan_of(d).sample_size, plan_of(d).duration_days) for d in forked.rounds]
    assert sizes == [(420, 8), (111, 7), (55, 6), (27, 5), (27, 5)]
    assert forked.ending is core.Ending.SCIENTIST_ACCEPTED


def test_fork_of_a_model_waits() -> None:
    forked = core.fork(MODELLED, 1, make_protocol(sample_size=90))
    assert (len(forked.rounds), forked.outcome) == (2, None)
    assert forked.rounds[0].attempts == MODELLED.rounds[0].attempts


@given(studied_packs(), openings(), itemised_protocols(), st.data())
def test_any_fork_keeps_its_past_and_replays(
    pack: Pack, opening: Protocol | None, plan: Protocol, data: st.DataObject
) -> None:
    negotiation = by_rule(pack, opening)
    number = data.draw(st.integers(0, len(negotiation.rounds) - 1))
    forked = core.fork(negotiation, number, revise(plan, sample_size=plan.sample_size + 1))
    assert forked.rounds[:number] == negotiation.rounds[:number]
    assert len(forked.rounds) <= 5
    assert core.replay(core.load(core.save(forked)), pack) == forked


def test_impossible_fork_is_refused() -> None:
    for number, plan, why in (
        (-1, PLAN, "^round 0: the negotiation has 5 rounds; choose 1 to 5$"),
        (5, PLAN, "^round 6: the negotiation has 5 rounds; choose 1 to 5$"),
        (1, make_protocol(sample_size=0), "a sample size of 0; a proposal needs at least 1 sample"),
    ):
        with pytest.raises(NegotiationError, match=why):
            core.fork(RULED, number, plan)


def test_moves_out_of_order_are_refused() -> None:
    for numbers, why in (
        ((1,), "follows no rule"),
        ((0, 0), "^round 1 is played twice; play each once$"),
        ((0, 1), "^round 2: the negotiation has ended"),
    ):
        with pytest.raises(NegotiationError, match=why):
            core.play_moves(by_person(MEDIUM).setup, [core.Move(number=n) for n in numbers], MEDIUM)


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


@pytest.mark.parametrize(("study", "lab"), FEW_LABS)
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


def test_most_runs_take_three_rounds_or_more() -> None:
    labs = [(study.scenario_id, lab) for study in list_scenarios() for lab in ("medium", "hard")]
    runs = [stepwise(load_scenario(*at)) for at in labs]
    assert (sum(len(run.rounds) >= 3 for run in runs), len(runs)) == (20, 24)


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
