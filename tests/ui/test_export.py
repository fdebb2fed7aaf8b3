"""The Share drawer: each part and its files."""

import io
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

from replicalab.assessment import assess
from replicalab.documents.forms import open_bundle
from replicalab.errors import PrintError
from replicalab.features import office
from replicalab.lexicon import amount_text
from replicalab.scenarios import EvidenceAssumptions, LabOverrides, load_scenario, read_lab
from replicalab.scenarios.writing import read_plan
from replicalab.ui.export import file_name
from tests.ui.acting import choose, press, run, type_text
from tests.ui.pages import LETTERS, NEGOTIATION, PAGES, PROTOCOL
from tests.ui.reading import drawer_of, heard, in_drawer, panel_of
from tests.ui.walking import go, query_of, visit

TABS: Final = "export_part"
STROOP: Final = load_scenario("psy_stroop", "medium")
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
    made = files[label][1]()
    assert isinstance(made, str)
    return made


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
    assert "does not carry" in message
    assert "the answers of a language model" in message


@pytest.mark.parametrize(
    ("server", "here_only"),
    [
        ("http://localhost:8501/Protocol", True),
        ("http://127.8.0.1/", True),
        ("http://[::1]:8501/", True),
        ("http://192.168.1.7:8501/Protocol", False),
        ("https://localhost.example.org/", False),
    ],
)
def test_local_link_is_marked_as_local(
    monkeypatch: pytest.MonkeyPatch, server: str, here_only: bool
) -> None:
    monkeypatch.setattr(type(st.context), "url", property(lambda _: server))
    message = in_drawer(press(visit(), "Share"))
    assert ("only on this computer" in message) is here_only
    assert ("Anyone with this link who can reach this server" in message) is not here_only


def test_share_names_content_too_long_for_links() -> None:
    app = press(choose(visit(PROTOCOL), "Controls", *LETTERS), "Share")
    assert "more" not in link(app)
    message = in_drawer(app)
    assert "your plan and the lab around it: they are too long for a link" in message
    assert "opens this page with" not in message


def test_brief_has_the_numbers_of_the_page(files: Files) -> None:
    pack = STROOP.with_own(LabOverrides(budget=1_234), EvidenceAssumptions())
    yours = assess(pack.reference_protocol, pack)
    app = part("Brief", study="psy_stroop", budget="1234")
    message = text(files, "Markdown").replace("\\", "")
    for fact in ("1,234 credits", amount_text(yours.cost), yours.evidence.number, pack.paper.name):
        assert fact in message
    assert "1 change" in message
    assert files["HTML"][0] == "psy-stroop-medium-brief.html"
    [seen] = [item for item in drawer_of(app) if isinstance(item, Element) and _is_preview(item)]
    for line in ("Not feasible here", "1,234 credits", "Least-loss plan"):
        assert line in heard(panel_of(seen))
    assert not [item for item in drawer_of(again(app, "Report")) if _is_preview(item)]


@pytest.mark.usefixtures("browsers")
def test_brief_prints_the_note_of_its_saved_plan(files: Files) -> None:
    app = press(visit(PROTOCOL, study="psy_stroop"), "Save")
    type_text(app, "Notes", "Run it in May.")
    again(app, "Brief")
    assert "**The decision.** Run it in May." in text(files, "Markdown")


def _is_preview(element: Any) -> bool:
    return bool(element.type == "html" and 'class="rl preview"' in element.proto.body)


def again(app: AppTest, name: str, **held: object) -> AppTest:
    for key, value in {TABS: name, "export_is_open": True, **held}.items():
        app.session_state[key] = value
    return run(app)


def test_documents_with_negotiation_show_its_final_plan(files: Files) -> None:
    app = part("Report", study="psy_stroop")
    alone = text(files, "Markdown")
    assert "| Sample size | 100 |" in alone.splitlines()
    assert "Round by round" not in alone
    again(app, "Report", hand_negotiated=True, hand_filling=True)
    negotiated = text(files, "Markdown")
    assert "| Sample size | 45 |" in negotiated.splitlines()
    assert "| Sample size | 100 |" not in negotiated.splitlines()
    assert "Round by round" in negotiated
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
        [field] = [item for item in app.text_input if item.label == label]
        field.set_value(typed)
    again(again(app, "Report", **FILLING), "Report", hand_filling=False)
    assert files["HTML"][0] == "our-own-title-report.html"
    message = text(files, "Markdown")
    assert message.startswith("# Our Own: Title\n")
    for line in (r"A. \<b\>Nobody", r"| Sample size | \=42"):
        assert line in message
    again(app, "Tables")
    name, made = files["Excel, every table a sheet"]
    assert name == "our-own-title-tables.xlsx"
    assert files["CSV of this table"][0].startswith("our-own-title-")
    book = load_workbook(io.BytesIO(made()))
    assert book.properties.title == "Our Own: Title"
    values = [str(cell.value) for sheet in book for row in sheet.iter_rows() for cell in row]
    assert [value for value in values if value.startswith("=42")]


def test_pdf_is_made_or_its_problem_shown(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office, "missing", lambda: "no PDF: print the HTML from a browser")
    app, name = part("Brief", study="psy_stroop"), "psy-stroop-medium-brief.pdf"
    assert "no PDF: print the HTML from a browser" in in_drawer(app)
    assert "HTML" in files
    monkeypatch.setattr(office, "missing", lambda: "")
    made: list[bytes | PrintError] = [PrintError("no PDF: others <b>; print the HTML"), b"%PDF"]

    def pdf(*_: object) -> bytes:
        result = made.pop(0)
        if isinstance(result, PrintError):
            raise result
        return result

    monkeypatch.setattr(office, "pdf", pdf)
    print_it(again(app, "Brief"))
    assert "No PDF: others <b>; print the HTML." in in_drawer(app)
    assert f"Save {name}" not in files
    print_it(app)
    assert files[f"Save {name}"] == (name, b"%PDF")
    assert "No PDF" not in in_drawer(app)


def print_it(app: AppTest) -> None:
    [button] = [item for item in app.button if item.label == "PDF"]
    button.set_value(True)
    again(app, "Brief")


def test_files_open_as_what_is_on_the_screen(files: Files) -> None:
    part("Bundle", NEGOTIATION, study="psy_stroop", lab="easy", budget="1200", alpha="0.01")
    opened = open_bundle(text(files, "Bundle"))
    yours = opened.options.yours
    pack = load_scenario("psy_stroop", "easy").with_own(
        LabOverrides(budget=1200), EvidenceAssumptions(alpha=0.01)
    )
    assert (yours.pack, yours.plan) == (pack, pack.reference_protocol)
    assert opened.run is not None
    assert not opened.caution
    assert read_plan(text(files, "Plan alone").encode()) == (yours.plan, pack.scenario_id)
    assert read_lab(text(files, "Lab alone").encode()) == LabOverrides(budget=1200)


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
    again(app, "Report", critique=True)
    assert message in in_drawer(app)
    boxes = [item for item in drawer_of(app) if isinstance(item, Element) and item.type == "html"]
    links = {link for box in boxes for link in re.findall(r'href="(.*?)"', box.proto.body)}
    [(page, query)] = {tuple(unescape(link).split("?")) for link in links}
    assert (page, dict(parse_qsl(query))) == ("Protocol", query_of(app))
    press(app, "Answer on the form")
    assert app.session_state[TABS] == "Registration"
