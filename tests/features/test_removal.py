"""Everything else works without a feature: checks, pages, documents and commands."""

import shlex
import subprocess
import sys

import pytest

from replicalab import api, documents, features
from replicalab.cli import main
from tests.ui.acting import press, run
from tests.ui.pages import PAGES, PROTOCOL
from tests.ui.reading import in_drawer
from tests.ui.walking import go, visit

STUDY = "psy_stroop"
CORE = """
import sys
for name in {names}:
    sys.modules["replicalab.features." + name] = None
import replicalab.ui.frame, replicalab.ui.scenarios_page
from replicalab.cli import main
sys.exit(main(["check", "psy_stroop"]))
"""


@pytest.fixture(params=features.FEATURES, ids=lambda feature: feature.name)
def removed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> features.Feature:
    feature: features.Feature = request.param
    package = f"{features.__name__}.{feature.name}"
    loaded = [name for name in sys.modules if name.startswith(f"{package}.")]
    for name in (package, *loaded):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delattr(features, feature.name, raising=False)
    return feature


def test_documents_show_note_of_removed_feature(removed: features.Feature) -> None:
    plan = api.assess(api.load(STUDY))
    assert plan.failing
    for kind in documents.REPORTS:
        text = str(api.report(plan, kind).form("md"))
        concerned = {*removed.section, *(["report"] * bool(removed.facts))}
        assert f"{removed.title} is not available" in text or kind not in concerned


def test_pages_open_without_removed_feature(removed: features.Feature) -> None:
    app = visit(PROTOCOL, study=STUDY)
    for page in PAGES:
        assert not go(app, page).exception, page
    for drawer in ("Share", "Your lab"):
        assert not press(app, drawer).exception
    app.session_state["export_is_open"] = True
    app.session_state["export_part"] = "Report"
    assert not run(app).exception
    if {"share", "report"} & {*removed.panel}:
        assert f"{removed.title} is not available" in in_drawer(app)


def test_other_commands_run_without_removed_feature(
    removed: features.Feature, capsys: pytest.CaptureFixture[str]
) -> None:
    for line, code in ((f"check {STUDY}", 1), (f"plan {STUDY}", 0), (f"report {STUDY}", 0)):
        assert main(shlex.split(line)) == code, line
    assert capsys.readouterr().err == ""


def test_core_starts_without_any_feature() -> None:
    names = [feature.name for feature in features.FEATURES]
    process = subprocess.run(
        [sys.executable, "-c", CORE.format(names=names)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert (process.returncode, process.stderr) == (1, "")  # the plan fails its check
