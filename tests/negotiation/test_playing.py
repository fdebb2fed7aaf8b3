"""A negotiation played: rounds, answers, offers, endings by hand; taken back, forked, by moves."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab import negotiation as core
from replicalab.errors import NegotiationError
from replicalab.models import Protocol, ScientistAction, revise
from replicalab.negotiation.rounds import play_rule
from replicalab.scenarios import Pack
from tests.factories import make_protocol
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
        assert (done.turn.by, done.reason) == (core.TurnAuthor.FORK, "A plan put forward by hand.")
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
