"""Any lab × any study × any plan: what a visitor says survives its address and files unchanged."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as some

from replicalab.errors import NegotiationError, TraceError
from replicalab.negotiation import (
    RULED_LAB_MANAGERS,
    LabManagerKind,
    ScientistKind,
    load,
    negotiate,
    replay,
    save,
)
from replicalab.scenarios import Difficulty, lab_json, list_scenarios, load_scenario, read_lab
from replicalab.ui.own_studies import find
from replicalab.ui.workspace import Workspace, from_query, to_query
from tests.factories import make_setup
from tests.strategies import itemised_protocols, own_labs_of, questions

STUDIES: Final = [study.scenario_id for study in list_scenarios()]


@some.composite
def workspaces(draw: some.DrawFn) -> Workspace:
    """Return any shipped study in any lab, with any plan, and anything that is said of the two."""
    difficulty = draw(some.sampled_from(Difficulty))
    written = load_scenario(draw(some.sampled_from(STUDIES)), difficulty)
    return Workspace().changed(
        study=written.scenario_id,
        lab=difficulty,
        plan=draw(some.none() | itemised_protocols()),
        own_lab=draw(own_labs_of(written.study)),
        question=draw(questions(written.design)),
    )


@given(workspaces())
def test_own_lab_and_question_survive_the_address_and_the_labs_file(work: Workspace) -> None:
    assert from_query(to_query(work), find) == (work, [])
    assert read_lab(lab_json(work.case.own_lab).encode()) == work.case.own_lab


@given(workspaces(), some.sampled_from(RULED_LAB_MANAGERS))
def test_own_lab_and_question_survive_a_saved_negotiation(
    work: Workspace, lab_manager: LabManagerKind
) -> None:
    pack, scientist = work.case.pack(find), ScientistKind.DIRECT
    setup = make_setup(pack, work.case.protocol(find), scientist=scientist, lab_manager=lab_manager)
    try:
        played = negotiate(setup, pack)
    except NegotiationError:  # a plan without samples opens nothing
        return
    transcript = load(save(played))
    assert (transcript.setup.own_lab, transcript.setup.question) == (
        work.case.own_lab,
        work.case.question,
    )
    assert replay(transcript, pack) == played
    if pack != work.case.written(find):
        with pytest.raises(TraceError):
            replay(transcript, work.case.written(find))
