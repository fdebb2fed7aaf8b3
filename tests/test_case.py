"""A case: its pack, its plan, its changes, and the sides of a comparison."""

from typing import Final

import pytest
from pydantic import ValidationError

from replicalab import scenarios
from replicalab.answers import Registration
from replicalab.assessment import assess
from replicalab.errors import NegotiationError, ScenarioError
from replicalab.library import KeptBatch
from replicalab.models import ScientistAction, ScientistActionType, plan_action, revise
from replicalab.negotiation import (
    LabManagerKind,
    Move,
    Negotiation,
    ScientistKind,
    ask_lab,
    shipped_recordings,
)
from replicalab.negotiation.batch import Result
from replicalab.negotiation.case import (
    Case,
    play_case,
    play_recording,
    read_case,
    record_text,
    side_of,
)
from replicalab.ui.own_studies import find
from replicalab.ui.workspace import Workspace, from_query, to_query
from tests.factories import make_protocol

START: Final = Case(study="fin_momentum", lab=scenarios.Difficulty.MEDIUM)
PLAN: Final = make_protocol()
FULL: Final = START.replace(
    lab=scenarios.Difficulty.HARD,
    seed=3,
    plan=PLAN,
    max_rounds=7,
    own_lab=scenarios.LabOverrides(budget=2700, days=9),
    question=scenarios.EvidenceAssumptions(alpha=0.01),
    scientist=ScientistKind.PERSON,
    lab_manager=LabManagerKind.LEAST_LOSS,
    recording="one_run",
)
NAMED: Final = scenarios.LabOverrides(name="Ours", budget=2700)
OTHER_STUDY: Final = FULL.replace(
    study="math_four_colour", plan=None, question=scenarios.EvidenceAssumptions(), recording=None
)


def test_case_opens_its_pack_and_its_plan() -> None:
    case = START.replace(study="math_four_colour", lab=scenarios.Difficulty.HARD, seed=3)
    reference = case.pack(find).reference_protocol
    assert case.pack(find) == scenarios.load_scenario("math_four_colour", "hard", 3)
    assert case.protocol(find) == reference
    assert case.with_plan(PLAN, find).protocol(find) == PLAN
    # No plan is kept that is the reference protocol.
    assert case.with_plan(PLAN, find).with_plan(reference, find) == case
    assert case.with_plan(PLAN, find).with_plan(None, find) == case
    with pytest.raises(ScenarioError, match="zebra"):
        START.replace(study="zebra").pack(find)
    with pytest.raises(ScenarioError, match="floor <= target"):
        START.replace(question=scenarios.EvidenceAssumptions(target=0.2)).pack(find)


def test_case_that_moves_keeps_all_else() -> None:
    smaller = make_protocol(sample_size=7)
    as_written = scenarios.LabOverrides()
    named = FULL.replace(own_lab=NAMED)
    assert FULL.with_study("math_four_colour") == OTHER_STUDY.replace(own_lab=as_written)
    assert named.with_study("math_four_colour") == OTHER_STUDY.replace(own_lab=NAMED)
    elsewhere = FULL.replace(lab="easy", seed=9, recording=None, own_lab=as_written)
    assert FULL.with_lab("easy", 9) == elsewhere
    assert FULL.with_own(own_lab=NAMED) == named.replace(recording=None)
    assert FULL.with_plan(smaller, find) == FULL.replace(plan=smaller, recording=None)


SAMPLES: Final[dict[str, object]] = {
    "study": "psy_stroop",
    "own": "0" * 32,
    "lab": scenarios.Difficulty.HARD,
    "seed": 7,
    "own_lab": scenarios.LabOverrides(name="Ours", days=9, rates={"per_day": 2.5}),
    "question": scenarios.EvidenceAssumptions(dropout=0.1, why={"dropout": "As many left before."}),
    "plan": PLAN,
    "scientist": ScientistKind.PERSON,
    "lab_manager": LabManagerKind.LEAST_LOSS,
    "max_rounds": 3,
    "recording": "one_run",
    "moves": (Move(number=0),),
    "registration": Registration(title="Ours", texts={"ethics": "Approved."}),
}
"""A value of each field that a case need not have."""


@pytest.mark.parametrize("field", sorted(Case.model_fields.keys() - {"format", "text"}))
def test_case_round_trips_every_field(field: str) -> None:
    others: dict[str, dict[str, object]] = {
        "moves": {"scientist": ScientistKind.PERSON},
        "own": {"study": "somebodys"},
    }
    case = START.replace(**others.get(field, {}), **{field: SAMPLES[field]})
    assert case != START
    assert read_case(record_text(case)) == case
    if case.own is None:  # else its study is needed
        work = Workspace(case=case)
        assert from_query(to_query(work), find).workspace == work


def test_case_with_a_study_file_is_complete() -> None:
    text = scenarios.copy_text("psy_stroop", "my_stroop")
    case = START.replace(study="my_stroop", text=text)
    assert read_case(record_text(case)) == case
    assert case.pack().study == scenarios.parse_study(text, "mine")
    with pytest.raises(ScenarioError, match="name that one"):
        case.replace(study="psy_stroop").pack()


def test_jobs_refuse_persons_and_kept_batches_models() -> None:
    with pytest.raises(ValidationError, match="use baseline, direct, model or step_by_step"):
        Result(job=START.replace(scientist=ScientistKind.PERSON), error="none")
    by_model = Result(job=START.replace(scientist=ScientistKind.MODEL), error="none")
    with pytest.raises(ValidationError, match="use baseline, direct or step_by_step"):
        KeptBatch.of([by_model], 1)


STROOP = scenarios.load_scenario("psy_stroop", "medium")
UNPLAYED = assess(STROOP.reference_protocol, STROOP)


def test_unplayed_side_has_no_negotiation() -> None:
    assert play_case(UNPLAYED, Case.of(STROOP, scientist=ScientistKind.PERSON)) is None
    assert play_case(UNPLAYED, Case.of(STROOP, scientist=ScientistKind.MODEL)) is None
    assert play_case(assess(revise(UNPLAYED.plan, sample_size=0), STROOP), Case.of(STROOP)) is None


def by_moves(*actions: ScientistAction) -> Negotiation:
    moves = [Move(number=number, action=action) for number, action in enumerate(actions)]
    played = play_case(UNPLAYED, Case.of(STROOP, scientist=ScientistKind.PERSON, moves=moves))
    assert played is not None
    assert (len(played.rounds), played.outcome) == (len(moves), None)
    return played


def test_run_is_a_side_by_its_plan() -> None:
    played = play_case(UNPLAYED, Case.of(STROOP, scientist=ScientistKind.DIRECT))
    assert played is not None
    side = side_of("A run", played)
    assert (side.plan.plan.sample_size, side.plan.cost, side.is_run) == (25, 800, True)
    smaller = revise(UNPLAYED.plan, sample_size=60)
    goes_on = by_moves(plan_action(ScientistActionType.PROPOSE_PROTOCOL, smaller))
    assert side_of("A run", goes_on).plan.plan == smaller
    with pytest.raises(NegotiationError, match="has no plan on the table"):
        side_of("A run", by_moves(ask_lab("Which days?")))


def test_recording_plays_in_its_lab_only() -> None:
    shipped = next(recording for recording in shipped_recordings() if recording.recording)
    assert shipped.recording is not None
    key, setup = shipped.recording.key, shipped.setup
    pack = scenarios.load_scenario(setup.scenario_id, setup.difficulty, setup.seed)
    played = play_recording(assess(pack.reference_protocol, pack), key)
    assert played is not None
    assert len(played.rounds) == len(shipped.moves)
    assert play_recording(UNPLAYED, key) is None
    assert play_recording(UNPLAYED, "not_there") is None
