"""The sides of a comparison, and their negotiations."""

import pytest

from replicalab.assessment import assess
from replicalab.errors import NegotiationError
from replicalab.models import ScientistAction, ScientistActionType, plan_action, revise
from replicalab.negotiation import Move, Negotiation, ScientistKind, question, shipped_recordings
from replicalab.negotiation.case import Case, negotiated, recorded, side_of_run
from replicalab.scenarios import load_scenario

PACK = load_scenario("psy_stroop", "medium")
PLAN = assess(PACK.reference_protocol, PACK)


def test_unplayed_side_has_no_negotiation() -> None:
    assert negotiated(PLAN, Case.of(PACK, scientist=ScientistKind.PERSON)) is None
    assert negotiated(PLAN, Case.of(PACK, scientist=ScientistKind.MODEL)) is None
    assert negotiated(assess(revise(PLAN.plan, sample_size=0), PACK), Case.of(PACK)) is None


def by_moves(*actions: ScientistAction) -> Negotiation:
    moves = [Move(number=number, action=action) for number, action in enumerate(actions)]
    played = negotiated(PLAN, Case.of(PACK, scientist=ScientistKind.PERSON, moves=moves))
    assert played is not None
    assert (len(played.rounds), played.outcome) == (len(moves), None)
    return played


def test_run_is_a_side_by_its_plan() -> None:
    played = negotiated(PLAN, Case.of(PACK, scientist=ScientistKind.DIRECT))
    assert played is not None
    side = side_of_run("A run", played)
    assert (side.plan.plan.sample_size, side.plan.cost, side.is_run) == (25, 800, True)
    smaller = revise(PLAN.plan, sample_size=60)
    goes_on = by_moves(plan_action(ScientistActionType.PROPOSE_PROTOCOL, smaller))
    assert side_of_run("A run", goes_on).plan.plan == smaller
    with pytest.raises(NegotiationError, match="no plan is on the table"):
        side_of_run("A run", by_moves(question("Which days?")))


def test_recording_plays_in_its_lab_only() -> None:
    shipped = next(recording for recording in shipped_recordings() if recording.recording)
    assert shipped.recording is not None
    key, setup = shipped.recording.key, shipped.setup
    pack = load_scenario(setup.scenario_id, setup.difficulty, setup.seed)
    played = recorded(assess(pack.reference_protocol, pack), key)
    assert played is not None
    assert len(played.rounds) == len(shipped.moves)
    assert recorded(PLAN, key) is None
    assert recorded(PLAN, "not_there") is None
