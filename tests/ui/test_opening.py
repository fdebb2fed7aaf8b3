"""Open a file: what was handed over opens as it was, verified, or is refused and told by place."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.assessment import assess
from replicalab.case import case_text
from replicalab.models import revise
from replicalab.negotiation import ScientistKind, replay, save, shipped_recordings
from replicalab.planner import PlanAnalysis
from replicalab.report import bundle
from replicalab.scenarios import EvidenceAssumptions, LabOverrides, lab_json, load_scenario
from replicalab.scenarios.writing import plan_json, study_yaml
from replicalab.ui import own_studies
from replicalab.ui.study_cache import StudyCache
from replicalab.ui.workspace import Workspace
from tests.negotiation.playing import by_rule
from tests.ui.negotiating import shows
from tests.ui.reading import (
    NEGOTIATION,
    PROTOCOL,
    choose_more,
    drawer_of,
    go,
    in_drawer,
    number,
    press,
    query_of,
    run,
    said,
    visit,
    where,
)

WRITTEN: Final = load_scenario("psy_stroop", "easy")
PACK: Final = WRITTEN.with_own(LabOverrides(budget=1200), EvidenceAssumptions(alpha=0.01))
YOURS: Final = assess(revise(PACK.reference_protocol, sample_size=44), PACK)
RUN: Final = by_rule(PACK, YOURS.plan, scientist=ScientistKind.EVIDENCE_AWARE)
BUNDLE: Final = bundle(PlanAnalysis(YOURS), WRITTEN, RUN)
OWN: Final = WRITTEN.study.model_copy(update={"scenario_id": "our_stroop"})
OPEN: Final = "Open a file"


def edited_kept(**changes: Any) -> str:
    """Return a kept plan of a study of one's own, edited."""
    kept = case_text(Workspace().changed(study="our_stroop", text=study_yaml(OWN)).case)
    return json.dumps({**json.loads(kept), **changes})


def edited(**changes: Any) -> str:
    return json.dumps({**json.loads(BUNDLE), **changes})


FAKED: Final = edited_kept(
    study="psy_stroop", text=study_yaml(OWN.model_copy(update={"scenario_id": "psy_stroop"})) + "\n"
).replace("participants", "people")
"""A plan whose study says something else under the id of a shipped one."""


@pytest.fixture(autouse=True)
def _no_studies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_studies, "_STUDIES", StudyCache())


def opened(data: str, name: str = "mine.json", app: AppTest | None = None) -> AppTest:
    """Return the app after a file was handed in, with the drawer open."""
    app = choose_more(app or visit(PROTOCOL), OPEN)
    app.file_uploader[-1].set_value((name, data.encode(), "application/json"))
    app.session_state["opening_is_open"] = True
    return run(app)


def told(app: AppTest) -> str:
    """Return what the drawer says, its good news too."""
    boxes = [str(each.value) for each in drawer_of(app) if each.type == "success"]  # type: ignore[union-attr]
    return "\n".join([in_drawer(app), *boxes])


def own_bundle() -> str:
    written = load_scenario("psy_stroop", "easy").model_copy(update={"study": OWN})
    return bundle(PlanAnalysis(assess(written.reference_protocol, written)), written)


def test_bundle_opens_verified_with_all_that_was_in_it_and_is_undone() -> None:
    app = visit(PROTOCOL, study="fin_momentum")
    before = where(app), query_of(app)
    opened(BUNDLE, app=app)
    assert "Verified" in told(app)
    query = query_of(app)
    for key, value in {"study": "psy_stroop", "budget": "1200", "alpha": "0.01"}.items():
        assert query[key] == value
    assert number(app, "Sample size").value == 44
    assert shows(go(app, NEGOTIATION), RUN)
    press(go(app, PROTOCOL), "Undo")
    assert (where(app), query_of(app)) == before


def test_bundle_of_a_study_that_nobody_has_brings_it_along() -> None:
    app = opened(own_bundle())
    assert "Verified" in told(app)
    assert query_of(app)["study"] == "our_stroop"


def test_bundle_that_was_edited_opens_and_says_where_it_differs() -> None:
    plan = json.loads(BUNDLE)["plan"] | {"sample_size": 45}
    app = opened(edited(plan=plan))
    text = told(app)
    assert "not verified" in text
    assert "The study, the lab or the plan is not the one that was saved." in text
    assert "Verified" not in text
    assert number(app, "Sample size").value == 45


@pytest.mark.parametrize(
    ("data", "name", "fault"),
    [
        (edited(seed=10**9), "mine.json", "mine.json: seed is 1,000,000,000, and at most 999,999"),
        (edited(own_lab={"budget": -1}), "mine.json", "own_lab.budget"),
        (edited(format=9), "mine.json", "format"),
        (BUNDLE[:-400], "mine.json", "mine.json: line"),
        ("", "mine.json", "mine.json: the file is empty; choose one saved here"),
        (edited(version="\ud800"), "mine.json", "mine.json: U+D800 is half a character"),
        (edited(input_hash="X"), "mine.json", "input_hash: 'X' is not allowed; must be as it was"),
        (edited(study={}), "mine.json", "mine.json: study.paper"),
        (
            study_yaml(OWN),
            "mine.json",
            "it is not JSON; choose one saved here; the name of a study",
        ),
        (
            '{"options": [], "chosen": 0}',
            "mine.json",
            "it holds a decision; import it on the Library",
        ),
        (FAKED, "mine.json", "another study of the id 'psy_stroop' is on the shelf"),
        (edited_kept(study="x"), "mine.json", "'x' stands beside the file of 'our_stroop'"),
        (edited_kept(plan=1), "mine.json", "mine.json: plan"),
        (save(RUN).replace('"turns"', '"turned"'), "mine.json", "mine.json: turns: Field required"),
        (
            "[1, 2]",
            "mine.json",
            "mine.json: the file holds no bundle, negotiation, plan, lab or study",
        ),
        (
            '{"a": 1}',
            "mine.json",
            "mine.json: the file holds no bundle, negotiation, plan, lab or study",
        ),
        ('{"a":' + "[" * 40_000, "mine.json", "nested too deeply"),
        ("[" * 200_000, "mine.json", "the file holds more than 150,000 lists and blocks; shorten"),
        ('{"sample_size": 12}', "plan.json", "duration_days"),
        ('{"format": 1, "lab": {"budget": "much"}}', "lab.json", "lab.budget"),
        ("title: x", "study.yaml", "scenario_id"),
        ("<b>hi</b>", "<img src=x>.json", "it is not JSON"),
    ],
)
def test_file_that_cannot_be_opened_is_told_by_place_and_changes_nothing(
    data: str, name: str, fault: str
) -> None:
    app = visit(PROTOCOL, study="fin_momentum", budget="2000")
    before = where(app), query_of(app)
    opened(data, name, app)
    assert fault in told(app)
    assert (where(app), query_of(app)) == before


def test_bundle_and_study_open_whatever_they_are_called() -> None:
    assert "Verified" in told(opened(BUNDLE, "mine.yaml"))
    app = opened(OWN.model_dump_json(), "ours.json")
    assert query_of(app)["study"] == "our_stroop"


def test_file_of_a_shipped_study_opens_that_study() -> None:
    app = opened(study_yaml(WRITTEN.study), "theirs.yaml", visit(PROTOCOL, study="fin_momentum"))
    assert query_of(app)["study"] == "psy_stroop"
    assert "own" not in query_of(app)


def test_bundle_of_another_study_by_a_shelfs_id_is_refused() -> None:
    study = json.loads(BUNDLE)["study"]
    study["paper"]["title"] = "Another title"
    app = opened(edited(study=study), app=visit(PROTOCOL, study="fin_momentum"))
    fault = "mine.json: scenario_id: another study of the id 'psy_stroop' is on the shelf"
    assert fault in told(app)
    assert query_of(app)["study"] == "fin_momentum"


def test_own_study_is_never_replaced_by_a_file() -> None:
    app = opened(study_yaml(OWN), "ours.yaml")
    assert query_of(app)["study"] == "our_stroop"
    other = OWN.model_copy(update={"success_criteria": ["Something else."]})
    opened(study_yaml(other), "theirs.yaml", app)
    assert "another study of the id 'our_stroop' is among your own" in told(app)


def test_link_of_an_own_study_says_that_its_text_stays_here() -> None:
    app = choose_more(opened(study_yaml(OWN), "ours.yaml"), "Hand over")
    assert "does not carry" in in_drawer(app)
    assert "your study’s text" in in_drawer(app)


def test_hostile_names_are_shown_as_text_in_both_drawers() -> None:
    name = "<b>L</b> ![](http://x/y.png)"
    app = opened(lab_json(LabOverrides(name=name, budget=1200)), f"{name}.json")
    for drawer in ("Hand over", OPEN):
        bodies = [getattr(each, "value", "") for each in drawer_of(choose_more(app, drawer))]
        assert not [body for body in bodies if "![](" in str(body) or "<b>L" in str(body)]
    assert name in in_drawer(choose_more(app, "Hand over"))


def test_bundle_of_ones_own_study_as_it_was_opens_beside_the_present_one() -> None:
    other = OWN.model_copy(update={"success_criteria": ["Something else."]})
    app = opened(study_yaml(other), "ours.yaml")
    mine = query_of(app)["own"]
    opened(own_bundle(), app=app)
    assert "Verified" in told(app)
    assert query_of(app)["own"] != mine
    assert query_of(press(go(app, PROTOCOL), "Undo"))["own"] == mine


def test_bundle_of_a_recorded_run_is_shown_as_recorded() -> None:
    transcript = shipped_recordings()[0]
    setup, known = transcript.setup, transcript.recording
    assert known is not None
    written = load_scenario(setup.scenario_id, setup.difficulty, setup.seed)
    run = replay(transcript, written).negotiation
    plan = assess(written.reference_protocol, written)
    app = opened(bundle(PlanAnalysis(plan), written, run, known))
    assert "Verified" in told(app)
    assert shows(go(app, NEGOTIATION), run)
    assert known.title in said(app)


def test_plan_that_was_exported_from_the_library_opens_with_its_study_and_lab() -> None:
    work = Workspace().changed(
        study="psy_stroop", plan=YOURS.plan, own_lab=LabOverrides(budget=1200)
    )
    app = opened(case_text(work.case))
    assert (query_of(app)["study"], query_of(app)["budget"]) == ("psy_stroop", "1200")
    assert number(app, "Sample size").value == 44


def test_plan_that_was_saved_for_another_study_opens_with_a_word() -> None:
    saved = plan_json(YOURS.plan, "psy_stroop")
    word = "saved for another study, 'psy_stroop'; here it is judged as a plan for 'fin_momentum'."
    assert word in told(opened(saved, app=visit(PROTOCOL, study="fin_momentum")))
    assert "another study" not in told(opened(saved, app=visit(PROTOCOL, study="psy_stroop")))


def test_plan_lab_and_negotiation_open_alone() -> None:
    app = opened(plan_json(YOURS.plan, "psy_stroop"), app=visit(PROTOCOL, study="psy_stroop"))
    assert number(app, "Sample size").value == 44
    opened(lab_json(LabOverrides(budget=1234)), app=app)
    assert query_of(app)["budget"] == "1234"
    opened(save(RUN), app=app)
    assert "Verified" in told(app)
    assert shows(go(app, NEGOTIATION), RUN)
