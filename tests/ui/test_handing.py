"""Hand over: each part of the drawer, and what its files hold."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from typing import Any, Final

import pytest
import streamlit as st
from openpyxl import load_workbook
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Element

from replicalab.assessment import assess
from replicalab.errors import PrintError
from replicalab.lexicon import amount_text
from replicalab.models import revise
from replicalab.negotiation import Transcript, shipped_recordings
from replicalab.report import open_bundle
from replicalab.scenarios import OwnLab, Question, load_scenario, read_lab
from replicalab.scenarios.plan_file import read_plan
from replicalab.ui.address import encode_plan
from replicalab.ui.handing import documents
from replicalab.ui.handing.printing import PRESS
from replicalab.ui.handing.whole import file_name
from tests.ui.reading import (
    IN_EVERY_LAB,
    NEGOTIATION,
    PROTOCOL,
    choose_more,
    drawer_of,
    heard,
    in_drawer,
    panel_of,
    run,
    visit,
)

TABS: Final = "handing_part"
Files = dict[str, tuple[str, Any]]


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> Files:
    """What can be downloaded: of each button its file's name, and what makes it."""
    found: Files = {}

    def draw(label: str, data: Callable[[], str | bytes], file_name: str, **_: Any) -> None:
        found[label] = file_name, data

    monkeypatch.setattr(st, "download_button", draw)
    return found


def part(name: str, page: str = PROTOCOL, **query: str) -> AppTest:
    """Return a page with a part of the drawer open."""
    app = visit(page, **query)
    app.session_state[TABS] = name
    return choose_more(app, "Hand over")


def text(files: Files, label: str) -> str:
    made = files[label][1]()
    assert isinstance(made, str)
    return made


@IN_EVERY_LAB
def test_brief_tells_the_numbers_of_the_page(files: Files, study: str, lab: str) -> None:
    pack = load_scenario(study, lab).with_own(OwnLab(budget=1_234), Question())
    yours = assess(pack.reference_protocol, pack)
    part("Brief", study=study, lab=lab, budget="1234")
    told = text(files, "Markdown").replace("\\", "")
    for fact in ("1,234 credits", amount_text(yours.cost), yours.evidence.number, pack.paper.name):
        assert fact in told
    assert "1 change" in told
    assert files["HTML"][0] == f"{study.replace('_', '-')}-{lab}-brief.html"


def test_brief_is_seen_before_it_leaves(files: Files) -> None:
    app = part("Brief", study="psy_stroop", budget="1200")
    [seen] = [each for each in drawer_of(app) if isinstance(each, Element) and _is_preview(each)]
    for line in ("Not feasible here", "1,200 credits", "Least-loss plan"):
        assert line in heard(panel_of(seen))
    assert not [each for each in drawer_of(part("Report")) if _is_preview(each)]
    assert files


def _is_preview(element: Any) -> bool:
    return bool(element.type == "html" and 'class="rl preview"' in element.proto.body)


def again(app: AppTest, name: str, **held: object) -> AppTest:
    """Open the drawer at a part once more; the harness knows neither tabs nor a fragment's run."""
    for key, value in {TABS: name, "handing_is_open": True, **held}.items():
        app.session_state[key] = value
    return run(app)


def test_negotiation_is_told_where_it_is_asked_for(files: Files) -> None:
    app = part("Report", study="psy_stroop")
    assert "Round by round" not in text(files, "Markdown")
    again(app, "Report", hand_negotiated=True)
    assert "Round by round" in text(files, "Markdown")


def test_report_says_what_is_filled_in_and_what_is_not(files: Files) -> None:
    plan = revise(load_scenario("psy_stroop", "medium").reference_protocol, sample_size=42)
    app = part("Report", study="psy_stroop", plan=encode_plan(plan))
    assert text(files, "Markdown").count("| Authors | Not given |") == 1
    filled = {"Authors": "A. <b>Nobody</b>", "Sample size: why it is changed": "We have 42."}
    again(app, "Report", hand_filling=True)
    for label, said in filled.items():
        [field] = [each for each in app.text_input if each.label == label]
        field.set_value(said)
    again(app, "Report", hand_filling=True)
    again(app, "Report", hand_filling=False)
    told = text(files, "Markdown")
    for line in ("| Title | Not given |", r"A. \<b\>Nobody", "| Sample size | We have 42."):
        assert line in told


def test_pdf_that_cannot_be_made_is_said_with_the_way_out(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "missing", lambda: "no PDF: print the HTML from a browser")
    assert "no PDF: print the HTML from a browser" in in_drawer(part("Brief"))
    assert "HTML" in files


def test_pdf_is_made_in_place_and_says_there_why_it_is_not(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "missing", lambda: "")
    made: list[bytes | PrintError] = [PrintError("no PDF: others <b>; print the HTML"), b"%PDF"]

    def pdf(*_: object) -> bytes:
        result = made.pop(0)
        if isinstance(result, PrintError):
            raise result
        return result

    monkeypatch.setattr(PRESS, "pdf", pdf)
    app, name = part("Brief", study="psy_stroop"), "psy-stroop-medium-brief.pdf"
    print_it(app)
    assert "No PDF: others <b>; print the HTML." in in_drawer(app)
    assert f"Save {name}" not in files
    print_it(app)
    assert files[f"Save {name}"] == (name, b"%PDF")
    assert "No PDF" not in in_drawer(app)


def print_it(app: AppTest) -> None:
    """Press the button of the PDF; the harness knows no fragment's run."""
    [button] = [each for each in app.button if each.label == "PDF"]
    button.set_value(True)
    again(app, "Brief")


def test_tables_are_those_of_the_report(files: Files) -> None:
    part("Tables", study="psy_stroop")
    book = files["Excel, every table a sheet"][1]()
    assert isinstance(book, bytes)
    sheets = load_workbook(io.BytesIO(book)).sheetnames
    assert len(sheets) == 8
    name, _ = files["CSV of this table"]
    assert name == "the-plan-as-it-is-to-be-run.csv"
    rows = list(csv.reader(io.StringIO(text(files, "CSV of this table").lstrip("\ufeff"))))
    assert ["Sample size", "100"] in rows


def test_files_open_as_what_is_on_the_screen(files: Files) -> None:
    part("Bundle", NEGOTIATION, study="psy_stroop", lab="easy", budget="1200", alpha="0.01")
    opened = open_bundle(text(files, "Bundle"))
    yours = opened.options.yours
    pack = load_scenario("psy_stroop", "easy").with_own(OwnLab(budget=1200), Question(alpha=0.01))
    assert (yours.pack, yours.plan) == (pack, pack.reference_protocol)
    assert opened.run is not None
    assert opened.differences == ()
    assert read_plan(text(files, "Plan alone").encode()) == yours.plan
    assert read_lab(text(files, "Lab alone").encode()) == OwnLab(budget=1200)


@pytest.mark.parametrize("transcript", shipped_recordings(), ids=lambda each: each.recording.key)
def test_bundle_of_a_recorded_run_replays(files: Files, transcript: Transcript) -> None:
    setup, known = transcript.setup, transcript.recording
    assert known is not None
    where = {"study": setup.scenario_id, "lab": setup.difficulty, "seed": str(setup.seed)}
    part("Bundle", NEGOTIATION, recording=known.key, rounds=str(setup.max_rounds), **where)
    opened = open_bundle(text(files, "Bundle"))
    assert opened.recording == known
    assert opened.run is not None
    assert opened.run.outcome == transcript.outcome
    assert opened.differences == ()


@pytest.mark.parametrize(
    "text", ["../../etc/passwd", "<b>x</b>", "CON.", "a\u202eexe.pdf\x00", "日本", "x" * 500, ""]
)
def test_name_of_a_file_is_plain_whatever_it_is_made_of(text: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*\.pdf", file_name(text, "pdf"))
    assert len(file_name(text, "pdf")) < 70


PICTURES: Final = {
    "Days and samples", "Evidence for credits", "Evidence over n", "Evidence over effect",
    "n over effect", "The negotiation",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_picture_is_dark_on_white_and_named(name: str) -> None:
    app = visit(PROTOCOL, study="psy_stroop")
    app.session_state[TABS] = "Pictures"
    app.session_state["hand_picture"] = name
    choose_more(app, "Hand over")
    [box] = [each for each in app.selectbox if each.label == "Picture"]
    assert set(box.options) == PICTURES
    [chart] = [each for each in drawer_of(app) if each.type == "plotly_chart"]
    assert isinstance(chart, Element)
    assert '"paper_bgcolor":"#FFFFFF"' in chart.proto.spec
    assert '"format": "png"' in chart.proto.config.replace('":"', '": "')
    assert file_name(f"psy stroop medium {name}", "x")[:-2] in chart.proto.config
