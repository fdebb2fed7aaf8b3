"""Open a file: it opens verified, or is refused with the place of its fault."""

import json
from typing import Any, Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.assessment import assess
from replicalab.documents.forms import bundle
from replicalab.models import revise
from replicalab.negotiation import ScientistKind, replay, save, shipped_recordings
from replicalab.negotiation.case import case_text
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import EvidenceAssumptions, LabOverrides, Study, lab_json, load_scenario
from replicalab.scenarios.writing import plan_json, study_yaml
from replicalab.ui import own_studies
from replicalab.ui.own_studies import StudyCache
from replicalab.ui.workspace import Workspace
from tests.negotiation.playing import by_rule
from tests.ui.acting import choose_more, number, press, run
from tests.ui.negotiating import shows
from tests.ui.pages import COMPARE, NEGOTIATION, PROTOCOL
from tests.ui.reading import drawer_of, in_drawer, page_text, where
from tests.ui.walking import go, query_of, visit

WRITTEN: Final = load_scenario("psy_stroop", "easy")
PACK: Final = WRITTEN.with_own(LabOverrides(budget=1200), EvidenceAssumptions(alpha=0.01))
YOURS: Final = assess(revise(PACK.reference_protocol, sample_size=44), PACK)
RUN: Final = by_rule(PACK, YOURS.plan, scientist=ScientistKind.DIRECT)
BUNDLE: Final = bundle(PlanAnalysis(YOURS), WRITTEN, RUN)
OWN: Final = WRITTEN.study.model_copy(update={"scenario_id": "our_stroop"})
OPEN: Final = "Open a file"


def edited(saved: str = BUNDLE, /, **changes: Any) -> str:
    return json.dumps({**json.loads(saved), **changes})


def ours(criterion: str = "") -> Study:
    changes = {"success_criteria": [criterion]} if criterion else {}
    return OWN.model_copy(update=changes)


KEPT: Final = case_text(Workspace().changed(study="our_stroop", text=study_yaml(OWN)).case)
"""A kept plan of a study of one's own."""
FAKED: Final = edited(
    KEPT,
    study="psy_stroop",
    text=study_yaml(ours("Any.").model_copy(update={"scenario_id": "psy_stroop"})),
)
"""A plan whose study says something else under the id of a shipped one."""


@pytest.fixture(autouse=True)
def _no_studies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_studies, "_STUDIES", StudyCache())


def opened(data: str | bytes, name: str = "mine.json", app: AppTest | None = None) -> AppTest:
    app = choose_more(app or visit(PROTOCOL), OPEN)
    app.file_uploader[-1].set_value(
        (name, data.encode() if isinstance(data, str) else data, "application/json")
    )
    app.session_state["opening_is_open"] = True
    return run(app)


def own_bundle() -> str:
    written = load_scenario("psy_stroop", "easy").model_copy(update={"study": OWN})
    return bundle(PlanAnalysis(assess(written.reference_protocol, written)), written)


def test_bundle_opens_whole_and_is_undone() -> None:
    app = visit(PROTOCOL, study="fin_momentum")
    before = where(app), query_of(app)
    opened(BUNDLE, "mine.yaml", app)
    assert " open" in in_drawer(app)
    wanted = {"study": "psy_stroop", "budget": "1200", "alpha": "0.01"}
    assert wanted.items() <= query_of(app).items()
    assert number(app, "Sample size").value == 44
    assert shows(go(app, NEGOTIATION), RUN)
    go(press(go(app, COMPARE), "Undo"), PROTOCOL)
    assert (where(app), query_of(app)) == before


def test_bundle_of_recorded_run_opens_as_recorded() -> None:
    transcript = shipped_recordings()[0]
    setup, recording = transcript.setup, transcript.recording
    assert recording is not None
    written = load_scenario(setup.scenario_id, setup.difficulty, setup.seed)
    run = replay(transcript, written)
    plan = assess(written.reference_protocol, written)
    app = opened(bundle(PlanAnalysis(plan), written, run, recording))
    assert " open" in in_drawer(app)
    assert shows(press(go(app, NEGOTIATION), "Last"), run)
    assert recording.title in page_text(app)


def test_each_kind_of_file_opens() -> None:
    app = opened(study_yaml(WRITTEN.study), "theirs.yaml", visit(PROTOCOL, study="fin_momentum"))
    assert query_of(app)["study"] == "psy_stroop"
    assert "own" not in query_of(app), "it is the shipped one"
    opened(plan_json(YOURS.plan, "psy_stroop"), app=app)
    assert number(app, "Sample size").value == 44
    assert "another study" not in in_drawer(app)
    opened(lab_json(LabOverrides(budget=1234)), app=app)
    assert query_of(app)["budget"] == "1234"
    opened(save(RUN), app=app)
    assert " open" in in_drawer(app)
    assert shows(go(app, NEGOTIATION), RUN)
    plan = YOURS.plan.model_copy(update={"sample_size": 43})
    work = Workspace().changed(study="psy_stroop", plan=plan, own_lab=LabOverrides(budget=1200))
    opened(case_text(work.case), app=go(app, PROTOCOL))
    assert (query_of(app)["study"], query_of(app)["budget"]) == ("psy_stroop", "1200")
    assert number(app, "Sample size").value == 43


def test_refused_file_is_explained_and_changes_nothing() -> None:
    app = visit(PROTOCOL, study="fin_momentum", budget="2000")
    before = where(app), query_of(app)
    none = "mine.json: the file holds no bundle, negotiation, plan, lab or study"
    for data, name, fault in (
        (
            edited(seed=10**9, negotiation=None),
            "mine.json",
            "mine.json: seed is 1,000,000,000, and at most 999,999",
        ),
        (edited(own_lab={"budget": -1}), "mine.json", "own_lab.budget"),
        (edited(study={}), "mine.json", "mine.json: study.paper"),
        (BUNDLE[:-400], "mine.json", "mine.json: line"),
        (FAKED, "mine.json", "another study of the id 'psy_stroop' is on the shelf"),
        (edited(KEPT, study="x"), "mine.json", "'x' is not the study of the file"),
        ("[1, 2]", "mine.json", none),
        ('{"a":' + "[" * 40_000, "mine.json", "recursion limit exceeded"),
        ("[" * 600_000, "mine.json", "the file holds more than 500,000 values; shorten"),
        ('{"sample_size": 12}', "plan.json", "duration_days"),
        ('{"format": 2, "lab": {"budget": "much"}}', "lab.json", "lab.budget"),
        ("title: x", "study.yaml", "scenario_id"),
        ("<b>hi</b>", "<img src=x>.json", "it is not JSON"),
    ):
        app.session_state["opening_is_open"] = True
        opened(data, name, app)
        assert fault in in_drawer(app)
        assert (where(app), query_of(app)) == before


def test_bundle_opens_in_the_current_study() -> None:
    study = json.loads(BUNDLE)["study"]
    study["paper"]["title"] = "Another title"
    app = opened(edited(study=study))
    assert query_of(app)["study"] == "psy_stroop"
    assert "own" not in query_of(app)
    assert "Another title" not in page_text(app)
    assert "The plan and its negotiation are open." in in_drawer(app)


def test_file_never_replaces_an_own_study() -> None:
    app = opened(ours("Something else.").model_dump_json(), "ours.json")
    assert query_of(app)["study"] == "our_stroop"
    mine = query_of(app)["own"]
    opened(study_yaml(OWN), "theirs.yaml", app)
    assert "another study of the id 'our_stroop' is among your own" in in_drawer(app)
    assert query_of(app)["own"] == mine
    opened(own_bundle(), app=app)
    assert " open" in in_drawer(app)
    assert query_of(app)["own"] != mine
    assert query_of(press(go(app, COMPARE), "Undo"))["own"] == mine
    shared = in_drawer(press(app, "Share"))
    assert "does not carry" in shared
    assert "the file of your study" in shared


def test_hostile_names_are_text_in_drawers() -> None:
    name = "<b>L</b> ![](http://x/y.png)"
    app = opened(lab_json(LabOverrides(name=name, budget=1200)), f"{name}.json")
    for drawer in (drawer_of(press(app, "Share")), drawer_of(choose_more(app, OPEN))):
        bodies = [getattr(item, "value", "") for item in drawer]
        assert not [body for body in bodies if "![](" in str(body) or "<b>L" in str(body)]
