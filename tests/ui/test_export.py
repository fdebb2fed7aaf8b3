"""Hand over: each part of the drawer, and what its files hold."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any, Final

import pytest
import streamlit as st
from openpyxl import load_workbook
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Element

from replicalab.assessment import assess
from replicalab.errors import PrintError
from replicalab.lexicon import amount_text
from replicalab.library import EntryKind
from replicalab.models import revise
from replicalab.negotiation import Transcript, shipped_recordings
from replicalab.report import Document, open_bundle
from replicalab.scenarios import EvidenceAssumptions, LabOverrides, load_scenario, read_lab
from replicalab.scenarios.writing import read_plan
from replicalab.ui.address import encode_plan
from replicalab.ui.export import documents
from replicalab.ui.export.content import file_name
from replicalab.ui.export.documents import PRESS, Press
from replicalab.ui.library.shelf import owner, shelf
from tests.ui.reading import (
    COMPARE,
    IN_EVERY_LAB,
    NEGOTIATION,
    PROTOCOL,
    at_making,
    choose_more,
    drawer_of,
    go,
    heard,
    in_drawer,
    panel_of,
    press,
    run,
    unopened,
    visit,
)
from tests.ui.test_opening import opened
from tests.ui.test_study_form import type_value

TABS: Final = "export_part"
WHY: Final = "Sample size: why it is changed"
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
    pack = load_scenario(study, lab).with_own(LabOverrides(budget=1_234), EvidenceAssumptions())
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
    for key, value in {TABS: name, "export_is_open": True, **held}.items():
        app.session_state[key] = value
    return run(app)


def test_documents_with_the_negotiation_are_about_the_plan_that_it_came_to(files: Files) -> None:
    """The Scientist opens with 100 samples and takes the offer of 25."""
    app = part("Report", study="psy_stroop")
    alone = text(files, "Markdown")
    assert "| Sample size | 100 |" in alone.splitlines()
    assert "Round by round" not in alone
    again(app, "Report", hand_negotiated=True, hand_filling=True)
    negotiated = text(files, "Markdown")
    assert "| Sample size | 25 |" in negotiated.splitlines()
    assert "| Sample size | 100 |" not in negotiated.splitlines()
    assert "Round by round" in negotiated
    assert [each.label for each in app.text_input if each.label.startswith("Sample size: why")]
    again(app, "Brief", hand_negotiated=True)
    assert "25 samples in 3 days for 800 of 1,000 credits" in text(files, "Markdown")


def filled(**said: str) -> AppTest:
    """Return the report of a plan of 42 samples with that typed into the fields of these labels."""
    plan = revise(load_scenario("psy_stroop", "medium").reference_protocol, sample_size=42)
    app = part("Report", study="psy_stroop", plan=encode_plan(plan))
    again(app, "Report", hand_filling=True)
    for label, text in said.items():
        [field] = [each for each in app.text_input if each.label == label]
        field.set_value(text)
    return again(app, "Report", hand_filling=True)


def test_report_says_what_is_filled_in_and_what_is_not(files: Files) -> None:
    app = filled(**{"Authors": "A. <b>Nobody</b>", WHY: "We have 42."})
    again(app, "Report", hand_filling=False)
    told = text(files, "Markdown")
    for line in ("| Title | Not given |", r"A. \<b\>Nobody", "| Sample size | We have 42."):
        assert line in told


def test_typed_title_names_the_report_and_its_tables(files: Files) -> None:
    app = filled(**{"Title": "Our Own: Title", WHY: "=42"})
    assert files["HTML"][0] == "our-own-title-report.html"
    assert text(files, "Markdown").count("| Authors | Not given |") == 1
    assert text(files, "Markdown").startswith("# Our Own: Title\n")
    again(app, "Tables")
    name, made = files["Excel, every table a sheet"]
    assert name == "our-own-title-tables.xlsx"
    assert files["CSV of this table"][0].startswith("our-own-title-")
    book = load_workbook(io.BytesIO(made()))
    assert book.properties.title == "Our Own: Title"
    values = [str(cell.value) for sheet in book for row in sheet.iter_rows() for cell in row]
    assert [value for value in values if value.startswith("=42")]


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


def test_tables_are_those_of_the_report_by_their_names_as_they_read(files: Files) -> None:
    app = part("Tables", study="psy_stroop")
    [box] = [each for each in app.selectbox if each.label == "Table"]
    assert "Power: floor 0.50, target 0.80; budget: 1,000 credits" in box.options
    assert not [each for each in box.options if "\\" in each]
    book = files["Excel, every table a sheet"][1]()
    assert isinstance(book, bytes)
    sheets = load_workbook(io.BytesIO(book)).sheetnames
    assert len(sheets) == 9
    again(app, "Tables", hand_table="The plan in full")
    name, _ = files["CSV of this table"]
    assert name == "the-plan-in-full.csv"
    rows = list(csv.reader(io.StringIO(text(files, "CSV of this table").lstrip("\ufeff"))))
    assert ["Sample size", "100"] in rows


def test_files_open_as_what_is_on_the_screen(files: Files) -> None:
    part("Bundle", NEGOTIATION, study="psy_stroop", lab="easy", budget="1200", alpha="0.01")
    opened = open_bundle(text(files, "Bundle"))
    yours = opened.options.yours
    pack = load_scenario("psy_stroop", "easy").with_own(
        LabOverrides(budget=1200), EvidenceAssumptions(alpha=0.01)
    )
    assert (yours.pack, yours.plan) == (pack, pack.reference_protocol)
    assert opened.run is not None
    assert opened.differences == ()
    assert read_plan(text(files, "Plan alone").encode()) == (yours.plan, pack.scenario_id)
    assert read_lab(text(files, "Lab alone").encode()) == LabOverrides(budget=1200)


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


def picture(name: str, **query: str) -> tuple[AppTest, Element]:
    """Return a page with a picture chosen in the drawer, and its chart."""
    app = visit(PROTOCOL, **query)
    app.session_state["hand_picture"] = name
    again(app, "Pictures")
    [chart] = [each for each in drawer_of(app) if each.type == "plotly_chart"]
    assert isinstance(chart, Element)
    return app, chart


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_picture_is_dark_on_white_and_named(name: str) -> None:
    app, chart = picture(name, study="psy_stroop")
    [box] = [each for each in app.selectbox if each.label == "Picture"]
    assert set(box.options) == PICTURES
    assert '"paper_bgcolor":"#FFFFFF"' in chart.proto.spec
    assert '"format": "png"' in chart.proto.config.replace('":"', '": "')
    assert file_name(f"psy stroop medium {name}", "x")[:-2] in chart.proto.config
    read = "deeper blue: more power; no blue: no evidence; hatched: does not fit"
    assert (read in chart.proto.spec) == (name == "Days and samples")


@pytest.mark.parametrize(("effect", "empty"), [("1000000.0", True), (None, False)])
def test_frontier_that_shows_no_plan_says_so(effect: str | None, empty: bool) -> None:
    asked = {"effect": effect} if effect else {}
    _, chart = picture("Evidence for credits", study="phys_millikan", **asked)
    told = "<br>No plan that fits lies in the picture: the best has half-width ±"
    assert (told in json.loads(chart.proto.spec)["layout"]["title"]["subtitle"]["text"]) is empty


def test_decision_stands_in_report_and_bundle_and_opens_again_elsewhere(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("replicalab.server.visitor.secret", lambda: "who decided here")
    app = press(visit(COMPARE, study="psy_stroop"), "Yours, the Lab Manager’s and least loss")
    app.session_state["deciding"] = True
    run(app)
    app.text_area(key="decision_why").set_value("It keeps the most.")
    app.text_input(key="decision_who").set_value("Ada")
    press(app, "Record it")
    again(app, "Report")
    told = ["| Chosen | Your plan |", "| Why | It keeps the most. |", "| Who decided | Ada |"]
    assert all(line in text(files, "Markdown") for line in told)
    again(app, "Bundle")
    data = text(files, "Bundle")
    monkeypatch.setattr("replicalab.server.visitor.secret", lambda: "who opens it elsewhere")
    for _ in range(2):
        app = opened(data)
        [entry] = shelf().entries(owner(), EntryKind.DECISION)
        assert entry.name.startswith("Your plan, not The Lab Manager’s")
    again(app, "Report")
    assert all(line in text(files, "Markdown") for line in told)
    again(app, "Bundle")
    assert open_bundle(text(files, "Bundle")).decision == open_bundle(data).decision


@pytest.mark.usefixtures("browsers")
def test_report_of_a_power_analysis_gives_no_reason_that_nobody_gave(files: Files) -> None:
    app = type_value(at_making(unopened()), "Samples in all", 60)
    press(app, "Use this analysis")
    again(go(app, PROTOCOL), "Report")
    told = text(files, "Markdown")
    assert "power 0.48, below the floor of 0.50" in told
    assert r"| Planned sample | 60 samples | Not given. 30 a group \= 60 in all. |" in told
    for choice in ("Assumed Cohen's d | 0.5", "Alpha, two-sided | 0.05", "Target of power | 0.80"):
        assert f"| {choice} | Not given. |" in told
    assert "riginal" not in told
    for invented in ("planning value", "endpoint", "the plan’s substitutions"):
        assert invented not in told


# --- the server's press: one PDF at a time, few waiting, and none that holds the others -----------

PAGE: Final = Document("", "", (), ())


def test_press_makes_one_at_a_time_and_refuses_who_would_wait_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, go_on, running = Event(), Event(), list[int]()

    def make(*_: object) -> bytes:
        running.append(1)
        assert len(running) == 1, "two at a time"
        begun.set()
        assert go_on.wait(10)
        running.pop()
        return b"%PDF"

    monkeypatch.setattr(documents, "pdf_apart", make)
    press = Press(most_waiting=2)
    with ThreadPoolExecutor(2) as others:
        made = [others.submit(press.pdf, PAGE, "A4") for _ in range(2)]
        assert begun.wait(10)
        while press._room._value:  # noqa: SLF001 - until both have come
            pass
        with pytest.raises(PrintError, match="others are being made"):
            press.pdf(PAGE, "A4")
        go_on.set()
        assert [each.result(10) for each in made] == [b"%PDF", b"%PDF"]
    assert press.pdf(PAGE, "A4") == b"%PDF", "and then there is room again"


def test_press_has_room_again_after_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise PrintError("no PDF: it is not done")

    monkeypatch.setattr(documents, "pdf_apart", fail)
    press = Press(most_waiting=1)
    for _ in range(3):
        with pytest.raises(PrintError, match="not done"):
            press.pdf(PAGE, "A4")
