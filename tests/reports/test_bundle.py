"""A bundle comes back equal; an edit is a caution, a fault has its place."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from replicalab import scenarios
from replicalab.assessment import assess
from replicalab.documents import bundle, open_bundle
from replicalab.errors import ScenarioError
from replicalab.models import revise
from replicalab.negotiation import LabManagerKind, ScientistKind, load, negotiate, replay
from replicalab.planner import PlanAnalysis
from tests.factories import make_setup
from tests.hostile_files import PACK, hostile_run
from tests.reports.making import strangers, work
from tests.tiers import one_in

OWN = scenarios.LabOverrides(
    name="Mine", budget=2_000, items=(scenarios.OwnItem(label="mug", category="equipment"),)
)
ASKED = scenarios.EvidenceAssumptions(dropout=0.1, why={"dropout": "As many left before."})

Edit = Callable[[dict[str, Any]], object]


def saved() -> dict[str, Any]:
    result = work("fin_momentum", "medium")
    record: dict[str, Any] = json.loads(bundle(*result))
    return record


def faults(held: object) -> list[str]:
    with pytest.raises(ScenarioError) as error:
        open_bundle(json.dumps(held))
    assert all(fault.remedy for fault in error.value.faults)
    return [fault.path for fault in error.value.faults]


@pytest.mark.parametrize(
    "scenario_id", one_in(4, [scenario.scenario_id for scenario in scenarios.list_scenarios()])
)
def test_bundle_comes_back_equal_and_verified(scenario_id: str) -> None:
    written = scenarios.load_scenario(scenario_id, "medium", 3)
    pack = written.with_own(OWN, ASKED)
    options = PlanAnalysis(assess(revise(pack.reference_protocol, sample_size=7), pack))
    setup = make_setup(pack, scientist=ScientistKind.DIRECT, lab_manager=LabManagerKind.LEAST_LOSS)
    run = negotiate(setup, pack)
    text = bundle(options, written, run)
    opened = open_bundle(text.encode())
    assert not opened.caution
    assert (opened.written, opened.options.yours.pack) == (written, pack)
    assert opened.options.yours.plan == options.yours.plan
    assert opened.run is not None
    assert opened.run == run
    assert bundle(opened.options, opened.written, opened.run) == text


def test_bundle_of_unknown_study_opens() -> None:
    options, written, _ = strangers()["study"]
    opened = open_bundle(bundle(options, written))
    assert opened.written == written
    assert (opened.run, opened.recording, opened.caution) == (None, None, "")


def test_bundle_keeps_the_recording_of_a_model() -> None:
    transcript = load(hostile_run())
    pack = PACK.with_own(transcript.setup.own_lab, transcript.setup.question)
    run = replay(transcript, pack)
    options = PlanAnalysis(assess(pack.reference_protocol, pack))
    opened = open_bundle(bundle(options, PACK, run, transcript.recording))
    assert not opened.caution
    assert opened.recording == transcript.recording


@pytest.mark.parametrize(
    "edit",
    [
        lambda data: data["plan"].update(sample_size=2),
        lambda data: data["study"]["paper"].update(goal="x"),
    ],
)
def test_edit_of_a_bundle_is_a_caution(edit: Edit) -> None:
    data = saved()
    edit(data)
    caution = open_bundle(json.dumps(data)).caution
    assert caution == "The study, the lab or the plan differs from the one that was saved."


def test_bundle_of_version_1_is_refused() -> None:
    with pytest.raises(ScenarioError, match="ReplicaLab 1 wrote this file"):
        open_bundle(json.dumps(saved() | {"format": 1}))


@pytest.mark.parametrize(
    ("edit", "place"),
    [
        (lambda data: data.pop("plan"), "plan"),
        (lambda data: data["plan"].update(sample_size="9"), "plan.sample_size"),
        (lambda data: data.update(seed="x"), "seed"),
        (lambda data: data.update(extra=1), "extra"),
        (lambda data: data.update(difficulty="harder"), "difficulty"),
        (lambda data: data.update(own_lab={"budget": -1}), "own_lab.budget"),
        (lambda data: data["study"].pop("design"), "study.design"),
        (lambda data: data["study"]["design"].update(alpha=7.0), "study.design.alpha"),
        (lambda data: data["negotiation"].update(format=9), "negotiation.format"),
        (lambda data: data["negotiation"]["setup"].update(seed="x"), "negotiation.setup.seed"),
        # A negotiation that cannot be replayed
        (lambda data: data["negotiation"]["setup"].update(seed=4), "negotiation"),
    ],
)
def test_fault_of_a_bundle_has_its_place(edit: Edit, place: str) -> None:
    data = json.loads(bundle(*work("fin_momentum", "medium")))
    edit(data)
    assert faults(data) == [place]
