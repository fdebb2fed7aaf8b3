"""Save: one click on every page, a version after a change, and two tabs that lose nothing."""

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.library import Entry, EntryKind
from replicalab.library.rows import OwnerRows
from replicalab.negotiation.case import read_case
from replicalab.ui.library.shelf import owner, shelf
from tests.ui.acting import can_press, labels, press, type_number, type_text
from tests.ui.pages import NEGOTIATION, PAGES, PROTOCOL
from tests.ui.reading import alerts, keyed, rows_of, said, texts
from tests.ui.visitors import Browsers, full_disk
from tests.ui.walking import go, query_of, visit

pytestmark = pytest.mark.usefixtures("browsers")

PLAN = "Momentum returns · medium lab · n 420"


def kept(kind: EntryKind = EntryKind.PLAN) -> list[Entry]:
    """Return what the visitor has kept."""
    return shelf().entries(owner(), kind)


def plans(entry: Entry) -> list[int]:
    """Return the sample size of each version of a plan, the latest first; 0 is the reference's."""
    whose = owner()
    versions = (shelf().read(whose, entry.id, v.number) for v in shelf().versions(whose, entry.id))
    read = (read_case(version.content).plan for version in versions)
    return [plan.sample_size if plan else 0 for plan in read]


def box(app: AppTest) -> str:
    """Return what is said of the last keeping."""
    return "\n".join(texts(keyed(app, "kept")))


def test_one_click_on_any_page_keeps_the_plan() -> None:
    app = visit(PROTOCOL, study="psy_stroop", lab="hard", budget="900")
    for page in PAGES:
        assert can_press(go(app, page), "Save")
    press(app, "Save")
    [entry] = kept()
    assert entry.name in box(app)
    assert "Saved" in box(app)
    assert entry.name.startswith("Stroop interference · hard lab, 1 change · n ")
    plan = read_case(shelf().read(owner(), entry.id).content)
    assert (plan.study, plan.lab, plan.own_lab.budget) == ("psy_stroop", "hard", 900)


def test_changed_plan_is_a_new_version() -> None:
    app = press(visit(PROTOCOL), "Save")
    assert [entry.name for entry in kept()] == [PLAN]
    press(type_number(app, "Sample size", 75), "Save")
    [entry] = kept()
    assert (entry.name, entry.version) == ("Momentum returns · medium lab · n 75", 2)
    assert plans(entry) == [75, 0]
    assert "version 2" in box(app)


def test_disk_that_is_full_or_fills_in_the_middle_of_a_save_keeps_nothing_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = visit(PROTOCOL)
    for act, samples in (("Save", 420), ("Save", 75)):
        type_number(app, "Sample size", samples)
        entries = kept()
        with monkeypatch.context() as patch:
            # What each does last: an entry is added, a version gets its name.
            for step in ("named", "add"):
                patch.setattr(OwnerRows, step, full_disk)
            press(app, act)
        assert [alert.text for alert in alerts(app) if alert.colour == "error"] == [
            "Not saved: /srv/library.db: the disk is full; nothing was saved."
        ]
        assert box(app) == ""
        assert kept() == entries
        press(app, "Save")
        assert kept()[0].name in box(app)


def test_same_plan_is_no_version_and_a_changed_one_is_also_after_a_reload() -> None:
    app = press(press(visit(PROTOCOL), "Save"), "Save")
    assert "Nothing has changed since it was saved" in box(app)
    assert [entry.version for entry in kept()] == [1]
    assert "Close" not in labels(type_number(app, "Sample size", 75)), "what was said is over"
    again = press(visit(PROTOCOL, **query_of(app)), "Save")
    assert "version 2" in box(again)
    assert [entry.version for entry in kept()] == [2]


def test_plan_of_another_lab_or_visitor_or_of_a_deleted_entry_is_kept_as_another(
    browsers: Browsers,
) -> None:
    app = press(visit(PROTOCOL), "Save")
    query, theirs = query_of(app), browsers.token
    press(visit(PROTOCOL, lab="hard", kept=query["kept"]), "Save")
    assert [entry.version for entry in kept()] == [1, 1]
    browsers.use()
    press(type_number(visit(PROTOCOL, **query), "Sample size", 75), "Save")
    assert [entry.version for entry in kept()] == [1]
    browsers.token = theirs
    assert [entry.version for entry in kept()] == [1, 1]
    [entry] = [item for item in kept() if item.name == PLAN]
    shelf().delete(owner(), entry.id)
    press(app, "Save")
    assert entry.id not in {item.id for item in kept()}
    assert PLAN in {item.name for item in kept()}


def test_name_and_notes_are_changed_in_place_and_stay_with_the_next_version() -> None:
    press(visit(PROTOCOL, lab="easy"), "Save")
    [taken] = kept()
    app = press(visit(PROTOCOL), "Save")
    assert "choose another name" in said(type_text(app, "Name", taken.name))
    assert sorted(entry.name for entry in kept()) == sorted([PLAN, taken.name])
    type_text(app, "Name", "For Friday")
    type_text(app, "Notes", "the board wants it small")
    for samples in (0, 75):
        [entry] = [item for item in kept() if item.id != taken.id]
        assert (entry.name, entry.notes) == ("For Friday", "the board wants it small")
        assert plans(entry)[0] == samples
        press(type_number(app, "Sample size", 75), "Save")


# --- two tabs ---------------------------------------------------------------------------------


def two_tabs() -> tuple[AppTest, AppTest]:
    """Return two tabs of the same plan that was kept; the first has saved another version."""
    first = press(visit(PROTOCOL), "Save")
    second = visit(PROTOCOL, **query_of(first))
    press(type_number(first, "Sample size", 75), "Save")
    return first, type_number(second, "Sample size", 60)


def test_second_tab_sees_what_differs_and_may_save_over_it_with_both_in_the_history() -> None:
    _, second = two_tabs()
    assert "was saved elsewhere since" in said(press(second, "Save"))
    assert "was saved elsewhere since" in said(go(second, NEGOTIATION)), "until it is closed"
    [table] = [item for item in second.table if "Difference" in item.value.columns]
    assert rows_of(table) == [
        ["Difference", "There, version 2", "Yours"],
        ["Sample size", "75", "60"],
    ]
    assert "Save mine as another" not in labels(press(second, "Close"))
    assert [entry.version for entry in kept()] == [2]
    press(press(second, "Save"), "Save mine over it, as version 3")
    [entry] = kept()
    assert plans(entry) == [60, 75, 0]
    assert "Close" not in labels(go(second, PROTOCOL)), "a good word stays on its page"


def test_second_tab_may_keep_its_own_as_another() -> None:
    _, second = two_tabs()
    press(press(second, "Save"), "Save mine as another")
    record = {entry.version: plans(entry) for entry in kept()}
    assert record == {1: [60], 2: [75, 0]}
    press(type_number(second, "Sample size", 61), "Save")
    assert sorted(plans(entry) for entry in kept()) == [[61, 60], [75, 0]]


# --- what else is kept ------------------------------------------------------------------------


def test_negotiation_is_kept_from_its_page() -> None:
    app = visit(NEGOTIATION)
    press(app, "Save to the library")
    [entry] = kept(EntryKind.RUN)
    assert entry.about == "fin_momentum"
    assert entry.name in box(app)
