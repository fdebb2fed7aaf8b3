"""The Share drawer and its files; Open a file: verified, or refused with its fault."""

import io
import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any, Final
from urllib.parse import parse_qsl

import pytest
import streamlit as st
from openpyxl import load_workbook
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Element

from replicalab import scenarios
from replicalab.assessment import assess
from replicalab.documents import bundle, open_bundle
from replicalab.errors import PrintError
from replicalab.features import office
from replicalab.models import revise
from replicalab.negotiation import ScientistKind, save
from replicalab.negotiation.case import record_text
from replicalab.planner import PlanAnalysis
from replicalab.ui import own_studies
from replicalab.ui.export import file_name
from replicalab.ui.own_studies import StudyCache
from replicalab.ui.workspace import Workspace
from tests.negotiation.playing import by_rule
from tests.ui.acting import choose_more, number, press, run, type_text
from tests.ui.negotiating import hand_over, shows
from tests.ui.pages import COMPARE, NEGOTIATION, PAGES, PROTOCOL
from tests.ui.reading import drawer_of, in_drawer, page_text, where
from tests.ui.walking import go, query_of, visit

TABS: Final = "export_part"
STROOP: Final = scenarios.load_scenario("psy_stroop", "medium")
FILLING: Final = {"hand_filling": True}
Files = dict[str, tuple[str, Any]]


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> Files:
    pairs: Files = {}

    def draw(label: str, data: Callable[[], str | bytes], file_name: str, **_: Any) -> None:
        pairs[label] = file_name, data

    monkeypatch.setattr(st, "download_button", draw)
    return pairs


def part(name: str, page: str = PROTOCOL, **query: str) -> AppTest:
    app = visit(page, **query)
    app.session_state[TABS] = name
    return press(app, "Share")


def text(files: Files, label: str) -> str:
    return str(files[label][1]())


def link(app: AppTest) -> dict[str, str]:
    [code] = [item for item in drawer_of(app) if isinstance(item, Element) and item.type == "code"]
    return dict(parse_qsl(str(code.value).partition("?")[2]))


def test_share_shows_the_address_and_its_content() -> None:
    record = {"budget": "1200", "alpha": "0.01", "round": "2", "samples": "42"}
    app = visit(study="psy_stroop", **record)
    for page in PAGES:
        press(go(app, page), "Share")
        assert link(app) == query_of(app)
    assert "does not carry" not in in_drawer(app)
    message = in_drawer(press(visit(NEGOTIATION, scientist="model"), "Share"))
    assert "the answers of a language model" in message


def test_local_link_is_marked_as_local(monkeypatch: pytest.MonkeyPatch) -> None:
    for server, here_only in {
        "http://127.8.0.1/": True,
        "http://[::1]:8501/": True,
        "http://192.168.1.7:8501/Protocol": False,
        "https://localhost.example.org/": False,
    }.items():
        monkeypatch.setattr(type(st.context), "url", server)
        message = in_drawer(press(visit(), "Share"))
        assert ("only on this computer" in message) is here_only


@pytest.mark.usefixtures("browsers")
def test_brief_prints_the_note_of_its_saved_plan(files: Files) -> None:
    app = press(visit(PROTOCOL, study="psy_stroop"), "Save")
    type_text(app, "Notes", "Run it in May.")
    again(app, "Brief")
    assert "**The decision.** Run it in May." in text(files, "Markdown")


def again(app: AppTest, name: str, **held: object) -> AppTest:
    for key, value in {TABS: name, "export_is_open": True, **held}.items():
        app.session_state[key] = value
    return run(app)


def test_documents_with_negotiation_show_its_final_plan(files: Files) -> None:
    app = part("Report", study="psy_stroop")
    assert "| Sample size | 100 |" in text(files, "Markdown").splitlines()
    again(app, "Report", hand_negotiated=True, hand_filling=True)
    negotiated = text(files, "Markdown")
    assert "| Sample size | 45 |" in negotiated.splitlines()
    assert "Round 1, Scientist:" in negotiated
    assert [item.label for item in app.text_input if item.label.startswith("Sample size: why")]
    again(app, "Brief", hand_negotiated=True)
    assert "45 participants in 3 days for 1,000 of 1,000 credits" in text(files, "Markdown")


def test_report_has_the_fields_and_its_title(files: Files) -> None:
    app = again(part("Report", study="psy_stroop", samples="42"), "Report", **FILLING)
    assert "| Title | Not given |" in text(files, "Markdown")
    for label, typed in (
        ("Title", "Our Own: Title"),
        ("Authors", "A. <b>Nobody</b>"),
        ("Sample size: why it is changed", "=42"),
    ):
        next(item for item in app.text_input if item.label == label).set_value(typed)
    again(again(app, "Report", **FILLING), "Report", hand_filling=False)
    assert files["HTML"][0] == "our-own-title-report.html"
    message = text(files, "Markdown")
    assert message.startswith("# Our Own: Title\n")
    for line in (r"A. \<b\>Nobody", r"| Sample size | \=42"):
        assert line in message
    again(app, "Tables")
    name, made = files["All tables as Excel"]
    assert name == "our-own-title-tables.xlsx"
    book = load_workbook(io.BytesIO(made()))
    values = [str(cell.value) for sheet in book for row in sheet.iter_rows() for cell in row]
    assert [value for value in values if value.startswith("=42")]


def test_pdf_is_made_or_its_problem_shown(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office, "missing", lambda: "no PDF: print the HTML from a browser")
    app, name = part("Brief", study="psy_stroop"), "psy-stroop-medium-brief.pdf"
    assert "no PDF: print the HTML from a browser" in in_drawer(app)
    monkeypatch.setattr(office, "missing", lambda: "")

    def no_pdf(*_: object) -> bytes:
        raise PrintError("no PDF: others <b>; print the HTML")

    monkeypatch.setattr(office, "pdf", no_pdf)
    print_it(again(app, "Brief"))
    assert "No PDF: others <b>; print the HTML." in in_drawer(app)
    assert f"Save {name}" not in files
    monkeypatch.setattr(office, "pdf", lambda *_: b"%PDF")
    print_it(app)
    assert files[f"Save {name}"] == (name, b"%PDF")


def print_it(app: AppTest) -> None:
    [button] = [item for item in app.button if item.label == "PDF"]
    button.set_value(True)
    again(app, "Brief")


def test_files_open_as_what_is_on_the_screen(files: Files) -> None:
    part("Bundle", NEGOTIATION, study="psy_stroop", lab="easy", budget="1200", alpha="0.01")
    opened = open_bundle(text(files, "Bundle"))
    yours = opened.options.yours
    pack = scenarios.load_scenario("psy_stroop", "easy").with_own(
        scenarios.LabOverrides(budget=1200), scenarios.EvidenceAssumptions(alpha=0.01)
    )
    assert (yours.pack, yours.plan) == (pack, pack.reference_protocol)
    assert opened.run is not None
    assert not opened.caution
    assert scenarios.read_plan(text(files, "Plan alone").encode()) == (yours.plan, pack.scenario_id)
    assert scenarios.read_lab(text(files, "Lab alone").encode()) == scenarios.LabOverrides(
        budget=1200
    )


@pytest.mark.parametrize(
    "text", ["../../etc/passwd", "<b>x</b>", "CON.", "a\u202eexe.pdf\x00", "日本", "x" * 500, ""]
)
def test_file_name_is_plain(text: str) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*\.pdf", file_name(text, "pdf"))
    assert len(file_name(text, "pdf")) < 70


def test_reviewer_questions_unfold_and_link_to_remedies(files: Files) -> None:
    app = part("Report", study="psy_stroop")
    assert files
    message = "22 questions: 3 concerns, 14 not answered, 5 answered."
    assert message not in in_drawer(app)
    assert message in in_drawer(again(app, "Report", critique=True))
    boxes = [item for item in drawer_of(app) if isinstance(item, Element) and item.type == "html"]
    links = {link for box in boxes for link in re.findall(r'href="(.*?)"', box.proto.body)}
    [(page, query)] = {tuple(unescape(link).split("?")) for link in links}
    assert (page, dict(parse_qsl(query))) == ("Protocol", query_of(app))
    press(app, "Answer on the form")
    assert app.session_state[TABS] == "Registration"


WRITTEN: Final = scenarios.load_scenario("psy_stroop", "easy")
PACK: Final = WRITTEN.with_own(
    scenarios.LabOverrides(budget=1200), scenarios.EvidenceAssumptions(alpha=0.01)
)
YOURS: Final = assess(revise(PACK.reference_protocol, sample_size=44), PACK)
RUN: Final = by_rule(PACK, YOURS.plan, scientist=ScientistKind.DIRECT)
BUNDLE: Final = bundle(PlanAnalysis(YOURS), WRITTEN, RUN)
OWN: Final = WRITTEN.study.model_copy(update={"scenario_id": "our_stroop"})
OPEN: Final = "Open a file"


def edited(saved: str = BUNDLE, /, **changes: Any) -> str:
    return json.dumps({**json.loads(saved), **changes})


KEPT: Final = record_text(
    Workspace().replace(study="our_stroop", text=scenarios.study_yaml(OWN)).case
)
FAKED: Final = edited(
    KEPT,
    study="psy_stroop",
    text=scenarios.study_yaml(WRITTEN.study.model_copy(update={"success_criteria": ["Any."]})),
)


@pytest.fixture(autouse=True)
def _no_studies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_studies, "STUDIES", StudyCache())


def opened(data: str | bytes, name: str = "mine.json", app: AppTest | None = None) -> AppTest:
    app = choose_more(app or visit(PROTOCOL), OPEN)
    app.session_state["opening_is_open"] = True
    return hand_over(app, data, name)


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


def test_each_kind_of_file_opens() -> None:
    app = opened(
        scenarios.study_yaml(WRITTEN.study), "theirs.yaml", visit(PROTOCOL, study="fin_momentum")
    )
    assert query_of(app)["study"] == "psy_stroop"
    assert "own" not in query_of(app), "it is the shipped one"
    opened(scenarios.plan_json(YOURS.plan, "psy_stroop"), app=app)
    assert number(app, "Sample size").value == 44
    assert "another study" not in in_drawer(app)
    opened(scenarios.lab_json(scenarios.LabOverrides(budget=1234)), app=app)
    assert query_of(app)["budget"] == "1234"
    opened(save(RUN), app=app)
    assert " open" in in_drawer(app)
    assert shows(go(app, NEGOTIATION), RUN)
    plan = YOURS.plan.model_copy(update={"sample_size": 43})
    work = Workspace().replace(
        study="psy_stroop", plan=plan, own_lab=scenarios.LabOverrides(budget=1200)
    )
    opened(record_text(work.case), app=go(app, PROTOCOL))
    assert (query_of(app)["study"], query_of(app)["budget"]) == ("psy_stroop", "1200")
    assert number(app, "Sample size").value == 43


def test_refused_file_is_explained_and_changes_nothing() -> None:
    app = visit(PROTOCOL, study="fin_momentum", budget="2000")
    before = where(app), query_of(app)
    for data, name, fault in (
        (edited(seed=10**9, negotiation=None), "mine.json", "mine.json: seed is 1,000,000,000"),
        (edited(own_lab={"budget": -1}), "mine.json", "own_lab.budget"),
        (FAKED, "mine.json", "another study of the id 'psy_stroop' is on the shelf"),
        (edited(KEPT, study="x"), "mine.json", "'x' is not the study of the file"),
        ("[1, 2]", "mine.json", "the file holds no bundle, negotiation, plan, lab or study"),
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
    ours = OWN.model_copy(update={"success_criteria": ["Something else."]})
    app = opened(ours.model_dump_json(), "ours.json")
    assert query_of(app)["study"] == "our_stroop"
    mine = query_of(app)["own"]
    opened(scenarios.study_yaml(OWN), "theirs.yaml", app)
    assert "another study of the id 'our_stroop' is among your own" in in_drawer(app)
    assert query_of(app)["own"] == mine
    written = scenarios.load_scenario("psy_stroop", "easy").model_copy(update={"study": OWN})
    plan = assess(written.reference_protocol, written)
    opened(bundle(PlanAnalysis(plan), written), app=app)
    assert query_of(app)["own"] != mine
    assert query_of(press(go(app, COMPARE), "Undo"))["own"] == mine
    assert "the file of your study" in in_drawer(press(app, "Share"))
