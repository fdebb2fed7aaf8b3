"""A whole negotiation, for every pairing of players, played on, taken back and forked."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.errors import NegotiationError
from replicalab.models import Protocol, revise
from replicalab.negotiation import (
    AUTOMATIC,
    Ending,
    LabManagerKind,
    Move,
    Negotiation,
    Outcome,
    ScientistKind,
    State,
    Turn,
    TurnAuthor,
    ask_model,
    fork,
    load,
    moves_of,
    negotiate,
    play,
    play_moves,
    replay,
    save,
)
from replicalab.negotiation.rounds import play_rule
from replicalab.scenarios import Pack
from tests.factories import make_protocol
from tests.negotiation.playing import (
    ACCEPT,
    BOOKED,
    FLAMING,
    MEDIUM,
    MODELLED,
    OPEN,
    PLAN,
    PROSE,
    RULED,
    STUCK,
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


def went_on(negotiation: Negotiation) -> Negotiation:
    """Return the next round of whoever plays: by rule, by a scripted model, or by hand."""
    if negotiation.setup.scientist in AUTOMATIC:
        return play_rule(negotiation)
    action = propose(PLAN) if negotiation.state.plan is None else ACCEPT
    if negotiation.setup.scientist is ScientistKind.PERSON:
        return play(negotiation, Turn(action=action))
    model = ScriptedGenerate([PROSE, said(action)])
    answer = ask_model(model, negotiation.state, negotiation.pack)
    assert answer.turn is not None
    return play(negotiation, answer.turn)


@pytest.mark.parametrize(("scientist", "lab_manager"), [*product(ScientistKind, LabManagerKind)])
@pytest.mark.parametrize(
    "pack", [OPEN, BOOKED, STUCK, MEDIUM], ids=["open", "booked", "stuck", "m"]
)
def test_every_pairing_plays_to_an_end_and_replays(
    pack: Pack, scientist: ScientistKind, lab_manager: LabManagerKind
) -> None:
    setup = game(pack, None, 5, scientist, lab_manager)
    negotiation = Negotiation(setup, pack)
    while negotiation.ending is None:
        negotiation = went_on(negotiation)
    assert negotiation.outcome is not None
    assert replay(load(save(negotiation)), pack) == (negotiation, ())
    if scientist in AUTOMATIC:
        assert negotiate(setup, pack) == negotiation, "at once and turn by turn are the same"


def test_state_before_a_round_is_where_the_rounds_before_led() -> None:
    negotiation = by_person(BOOKED, propose(PLAN), revise_to(make_protocol(sample_size=30)), ACCEPT)
    assert negotiation.state_before(0) == State(0, 5)
    for number in range(3):
        earlier = by_person(BOOKED, *(done.action for done in negotiation.rounds[:number]))
        assert negotiation.state_before(number) == earlier.state
    assert negotiation.state_before(1).offer is not None


def test_digest_covers_all_that_was_decided_up_to_a_round_and_the_setup() -> None:
    one, same = (by_person(BOOKED, propose(PLAN), ask("The days?")) for _ in range(2))
    assert [done.digest for done in one.rounds] == [done.digest for done in same.rounds]
    others = [
        by_person(BOOKED, propose(PLAN), ask("The days?"), max_rounds=9),
        by_person(BOOKED, propose(FLAMING), ask("The days?")),
        by_person(STUCK, propose(PLAN), ask("The days?")),
        by_person(BOOKED, propose(PLAN), ask("The staff?")),
    ]
    digests = {each.rounds[1].digest for each in (one, *others)}
    assert len(digests) == 5
    assert others[3].rounds[0].digest == one.rounds[0].digest


# --- forked ---------------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(5))
def test_fork_keeps_the_rounds_before_and_puts_the_plan_forward(number: int) -> None:
    before, plan = save(RULED), revise(MEDIUM.reference_protocol, sample_size=111)
    forked = fork(RULED, number, plan)
    assert forked.rounds[:number] == RULED.rounds[:number]
    done = forked.rounds[number]
    assert done.action == (revise_to(plan) if number else propose(plan))
    assert plan_of(done) == plan
    assert (done.turn.by, done.reason) == (TurnAuthor.FORK, "A plan put forward by hand.")
    assert forked.setup == RULED.setup.model_copy(update={"forked_at": number})
    assert save(RULED) == before


def test_fork_goes_on_with_the_baseline() -> None:
    # 111 samples, 7 days cost 1110 + 350 + 450 = 1910 in a lab of 3700 credits and 6 days.
    forked = fork(RULED, 1, revise(MEDIUM.reference_protocol, sample_size=111, duration_days=7))
    sizes = [(plan_of(d).sample_size, plan_of(d).duration_days) for d in forked.rounds]
    assert sizes == [(420, 8), (111, 7), (55, 6), (27, 5), (27, 5)]
    assert forked.ending is Ending.SCIENTIST_ACCEPTED


def test_fork_with_a_plan_that_passes_ends_there() -> None:
    offer = RULED.rounds[0].offer
    assert offer is not None
    forked = fork(RULED, 1, offer.after.plan)
    assert len(forked.rounds) == 2
    assert (forked.ending, forked.outcome) == (
        Ending.LAB_MANAGER_ACCEPTED,
        Outcome.AGREED_BELOW_FLOOR,
    )
    assert forked.final_plan is offer.after, "it is judged already"


def test_fork_in_the_last_round_can_run_out_of_rounds() -> None:
    forked = fork(RULED, 4, MEDIUM.reference_protocol)
    assert (forked.ending, forked.outcome) == (Ending.OUT_OF_ROUNDS, Outcome.NO_DEAL)


def test_fork_of_a_models_negotiation_waits_for_its_next_turn() -> None:
    forked = fork(MODELLED, 1, make_protocol(sample_size=90))
    assert len(forked.rounds) == 2
    assert forked.rounds[0].attempts == MODELLED.rounds[0].attempts
    assert forked.outcome is None


@pytest.mark.parametrize(("first", "second"), [(1, 3), (3, 1), (2, 2)])
def test_fork_of_a_fork_replays_whichever_comes_first(first: int, second: int) -> None:
    plan = revise(MEDIUM.reference_protocol, sample_size=200)
    twice = fork(fork(RULED, first, plan), second, PLAN)
    assert twice.setup.forked_at == second
    assert replay(load(save(twice)), MEDIUM) == (twice, ())


@given(studied_packs(), openings(), itemised_protocols(), st.data())
def test_any_fork_keeps_its_past_and_replays(
    pack: Pack, opening: Protocol | None, plan: Protocol, data: st.DataObject
) -> None:
    negotiation = by_rule(pack, opening)
    number = data.draw(st.integers(0, len(negotiation.rounds) - 1))
    forked = fork(negotiation, number, revise(plan, sample_size=plan.sample_size + 1))
    assert forked.rounds[:number] == negotiation.rounds[:number]
    assert len(forked.rounds) <= 5
    assert replay(load(save(forked)), pack) == (forked, ())


@pytest.mark.parametrize(
    ("number", "plan", "why"),
    [
        *(
            (n, PLAN, f"round {n + 1}: the negotiation has 5 rounds; choose one from 1 to 5")
            for n in (-1, 5, 99)
        ),
        (
            1,
            make_protocol(sample_size=0),
            "the plan has a sample size of 0; a proposal needs at least 1 sample",
        ),
    ],
)
def test_fork_at_no_round_or_without_samples_is_refused(
    number: int, plan: Protocol, why: str
) -> None:
    with pytest.raises(NegotiationError) as caught:
        fork(RULED, number, plan)
    assert str(caught.value) == why


def test_negotiation_kept_light_is_the_same_and_holds_no_search() -> None:
    whole = negotiate(RULED.setup, RULED.pack)
    light = whole.light()
    assert light == whole
    assert any(len(vars(done.after.options)) > 1 for done in whole.rounds)
    assert all(list(vars(done.after.options)) == ["yours"] for done in light.rounds)


# --- what was played by hand ------------------------------------------------------------------

OTHER = revise(MEDIUM.reference_protocol, sample_size=120)
PERSONS = by_person(MEDIUM, propose(OTHER), ask("Days?"), ACCEPT)


@pytest.mark.parametrize(
    ("negotiation", "by_hand"),
    [
        (RULED, 0),
        (fork(RULED, 1, OTHER), 1),
        (fork(fork(RULED, 1, OTHER), 0, OTHER), 1),
        (by_person(MEDIUM), 0),
        (PERSONS, 3),
        (by_person(MEDIUM, None), 1),
        (play(fork(PERSONS, 0, OTHER), Turn(action=ACCEPT)), 2),
    ],
    ids=["rule", "fork", "fork of a fork", "nothing yet", "person", "leaves", "person's fork"],
)
def test_moves_are_what_no_rule_plays_and_play_the_same_again(
    negotiation: Negotiation, by_hand: int
) -> None:
    moves, setup = moves_of(negotiation), negotiation.setup
    assert moves is not None
    assert len(moves) == by_hand
    again = play_moves(setup.model_copy(update={"forked_at": None}), moves, MEDIUM)
    assert again.setup == setup
    assert [done.digest for done in again.rounds] == [done.digest for done in negotiation.rounds]


def test_model_leaves_no_moves() -> None:
    assert moves_of(MODELLED) is None


@pytest.mark.parametrize("numbers", [(1,), (0, 0), (0, 1)])
def test_moves_that_do_not_follow_each_other_are_refused(numbers: tuple[int, ...]) -> None:
    setup = by_person(MEDIUM).setup
    with pytest.raises(NegotiationError):
        play_moves(setup, [Move(number=number) for number in numbers], MEDIUM)
