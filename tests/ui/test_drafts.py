"""The draft: unsaved work comes back after a reload, a restart, or without an address."""

from functools import partial
from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.library import StoredDraft
from replicalab.negotiation.case import read_draft, record_text
from replicalab.scenarios import LabOverrides, copy_text
from replicalab.ui.library_page import drafting
from replicalab.ui.library_page import shelf as writer
from replicalab.ui.library_page.drafting import Tab
from replicalab.ui.library_page.shelf import owner, shelf
from replicalab.ui.workspace import TrayCase, Workspace, to_query
from tests.ui.acting import choose, chosen, labels, number, press, run, type_number, undo
from tests.ui.pages import LETTERS, LIBRARY, PROTOCOL, SCENARIOS
from tests.ui.reading import page_text, tray, where
from tests.ui.test_address import LONG
from tests.ui.visitors import Browsers, move, restart
from tests.ui.walking import go, query_of, visit, write

pytestmark = pytest.mark.usefixtures("browsers")

BESIDE: Final = "Compare this"


def draft() -> StoredDraft | None:
    writer.finish()
    return shelf().draft(owner())


def test_long_plan_survives_a_restart(browsers: Browsers, monkeypatch: pytest.MonkeyPatch) -> None:
    app = choose(visit(PROTOCOL), "Controls", *LETTERS)
    query = query_of(app)
    assert "a reload here brings it back" in page_text(app)
    writer.finish()
    restart(monkeypatch)
    again = visit(PROTOCOL, **query)
    assert chosen(again, "Controls") == LETTERS
    assert query_of(again) == query
    browsers.use()
    assert chosen(visit(PROTOCOL, **query), "Controls") != LETTERS


def saved(work: Workspace) -> Tab:
    tab = Tab()
    drafting.note(tab, work, soon=True)
    writer.finish()
    return tab


def test_draft_holds_more_than_a_link() -> None:
    long = Workspace().replace(plan=LONG, own_lab=LabOverrides(budget=9), presenting=2).case
    work = Workspace(case=long, presenting=2, tray=(TrayCase(name="A", case=long),))
    tab, again = saved(work), Tab()
    query = to_query(Workspace(presenting=2)) | drafting.names_of(tab, work, is_whole=False)
    assert drafting.read(query, again) == (work, [])
    assert again.place == tab.place


def test_study_survives_a_restart_for_each_reader(
    browsers: Browsers, monkeypatch: pytest.MonkeyPatch
) -> None:
    author = browsers.token
    link = query_of(press(write(visit(), copy_text("psy_stroop", "my_stroop")), "Use this study"))
    reader = browsers.use()
    records = {}
    for browsers.token in (author, reader):
        app = type_number(visit(PROTOCOL, **link), "Sample size", 41)
        records[browsers.token] = query_of(app)
    for browsers.token, query in records.items():
        restart(monkeypatch)
        again = visit(PROTOCOL, **query)
        assert where(again).startswith("Stroop interference")
        assert number(again, "Sample size").value == 41


def offered(app: AppTest) -> bool:
    return "Continue" in labels(app)


def test_last_draft_is_offered_to_its_author(browsers: Browsers) -> None:
    author = browsers.token
    app = press(type_number(visit(PROTOCOL, study="psy_stroop"), "Sample size", 41), BESIDE)
    press(type_number(app, "Sample size", 42), BESIDE)
    writer.finish()
    assert not offered(visit(SCENARIOS, **query_of(app)))
    browsers.use()
    assert not offered(visit())
    browsers.token = author
    back = visit()
    assert "Stroop interference · medium lab · n 42, and 2 in the comparison" in page_text(back)
    go(press(back, "Continue"), PROTOCOL)
    assert tray(back) == tray(app)
    assert number(back, "Sample size").value == 42
    assert not offered(back)


def test_discarded_draft_is_offered_no_more() -> None:
    type_number(visit(PROTOCOL), "Sample size", 41)
    writer.finish()
    press(visit(), "Discard")
    assert draft() is None
    assert not offered(visit())


def test_saved_or_undone_plan_needs_no_draft() -> None:
    app = type_number(visit(PROTOCOL), "Sample size", 41)
    for act, is_needed in (("", True), ("Save", False), (BESIDE, True), ("Remove it", False)):
        if act:
            press(app, act)
        assert (draft() is not None) == is_needed, act
    type_number(app, "Sample size", 42)
    assert draft() is not None
    undo(app)
    assert draft() is None


def test_lost_case_of_a_draft_is_named() -> None:
    app = press(type_number(visit(PROTOCOL), "Sample size", 41), BESIDE)
    press(type_number(app, "Sample size", 42), BESIDE)
    result = draft()
    assert result is not None
    stored = read_draft(result.content)
    (name, query), other = stored.beside
    gone = query.replace("fin_momentum", "gone")
    changed = record_text(stored.model_copy(update={"beside": ((name, gone), other)}))
    shelf().save_draft(owner(), changed, result.place)
    back = go(press(visit(), "Continue"), PROTOCOL)
    assert "comparison, Plan A: " in page_text(back)
    assert tray(back) == tray(app)[1:]


def test_last_tab_replaces_the_draft_of_another() -> None:
    query = query_of(choose(visit(PROTOCOL), "Controls", *LETTERS))
    writer.finish()
    other = type_number(visit(PROTOCOL, study="fin_momentum"), "Sample size", 42)
    writer.finish()
    assert "This workspace is too long for a link" in page_text(visit(PROTOCOL, **query))
    assert not offered(go(other, LIBRARY)), "it is open here"
    app = press(visit(LIBRARY, study="psy_stroop"), "Continue")
    assert number(go(app, PROTOCOL), "Sample size").value == 42


def test_draft_is_saved_once_for_real_work() -> None:
    visit(PROTOCOL, study="psy_stroop", lab="hard", round="2")
    assert draft() is None
    query = query_of(type_number(visit(PROTOCOL), "Sample size", 41))
    first = draft()
    assert first is not None
    for _ in range(2):
        visit(PROTOCOL, **query)
        assert draft() == first
    assert shelf().usage(owner()).size == len(first.content.encode())


def test_broken_library_stops_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    move(monkeypatch)
    monkeypatch.setenv("REPLICALAB_DATABASE_URL", "nonsense")
    app = type_number(visit(PROTOCOL), "Sample size", 41)
    assert number(app, "Sample size").value == 41
    assert "Not saved: REPLICALAB_DATABASE_URL" in page_text(press(app, "Save"))
    choose(app, "Controls", *LETTERS)
    writer.finish()
    assert "could not be saved as a draft either" in page_text(run(app))
    assert "The library cannot be used." in page_text(go(app, LIBRARY))


def test_writer_saves_the_last_state_of_each_place() -> None:
    texts, wanted = list[str](), writer.Writer()
    for text in "abc":
        wanted.later("one", partial(texts.append, text), 60)
    wanted.later("other", partial(texts.append, "d"), 60)
    assert texts == []
    wanted.finish()
    assert texts == ["c", "d"]


def test_writer_outlives_an_exception(caplog: pytest.LogCaptureFixture) -> None:
    texts, wanted = list[str](), writer.Writer()
    wanted.later("one", lambda: 1 // 0)
    wanted.later("other", partial(texts.append, "saved"), 0.01)
    wanted.finish()
    assert texts == ["saved"]
    assert "'one' could not be saved" in caplog.text
