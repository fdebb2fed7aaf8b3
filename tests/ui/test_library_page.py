"""The Library page: what is kept, found, opened, changed, taken away, brought in."""

import os
from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.assessment import assess
from replicalab.documents.forms import bundle
from replicalab.errors import LibraryStorageError
from replicalab.library import Entry, EntryKind, Library
from replicalab.library.rows import NewVersion, OwnerRows
from replicalab.negotiation.case import case_text, read_case
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import (
    EvidenceAssumptions,
    LabOverrides,
    copy_text,
    lab_json,
    load_scenario,
    plan_json,
    study_yaml,
)
from replicalab.ui.library import shelf as writer
from replicalab.ui.library.shelf import owner, shelf
from tests.library.making import make_batch, make_plan, make_run
from tests.reports.making import work
from tests.ui.acting import can_press, labels, number, pick, press, run, type_number, type_text
from tests.ui.pages import LIBRARY, PROTOCOL, STUDY
from tests.ui.reading import alerts, rows_of, said, texts, where
from tests.ui.visitors import Browsers
from tests.ui.walking import at_gallery, go, visit

pytestmark = pytest.mark.usefixtures("browsers")

OWN: Final = copy_text("psy_stroop", "my_stroop")
LAB: Final = lab_json(LabOverrides(name="Our lab", budget=900))
CONTENTS: Final = {
    EntryKind.PLAN: make_plan(41),
    EntryKind.LAB: LAB,
    EntryKind.STUDY: OWN,
    EntryKind.RUN: make_run(),
    EntryKind.BATCH: make_batch(),
}


def keep(kind: EntryKind, name: str, content: str = "", notes: str = "") -> Entry:
    """Keep something for the visitor."""
    whose = owner()
    return shelf().keep(whose, kind, name, content or CONTENTS[kind], notes=notes)


def names(app: AppTest) -> list[str]:
    """Return what the list shows."""
    return [str(option).replace("\\", "") for radio in app.radio for option in radio.options]


def filtered(app: AppTest, name: str) -> AppTest:
    """Choose what is shown and return the app."""
    return pick(app, "Show", name)


def hand_in(app: AppTest, data: str | bytes, name: str) -> AppTest:
    """Import a file and return the app."""
    [uploader] = app.file_uploader
    uploader.set_value((name, data.encode() if isinstance(data, str) else data, ""))
    return run(app)


# --- the list ---------------------------------------------------------------------------------


def test_list_has_what_the_visitor_kept_and_nobody_elses_and_says_what_to_do_where_it_is_empty(
    browsers: Browsers,
) -> None:
    for kind in CONTENTS:
        keep(kind, f"a {kind}")
    assert names(visit(LIBRARY)) == [f"a {kind}" for kind in reversed(CONTENTS)]
    browsers.use()
    app = visit(LIBRARY)
    assert names(app) == []
    [notice] = alerts(app)
    assert notice.colour == "info"
    assert "Save, above on every page" in notice.text


def test_list_is_searched_filtered_and_comes_in_pages() -> None:
    keep(EntryKind.LAB, "two", notes="for Friday")
    for item in range(10):
        keep(EntryKind.PLAN, f"plan {item}", make_plan(40 + item))
    app = visit(LIBRARY)
    assert names(app) == [f"plan {item}" for item in range(9, 1, -1)]
    app.session_state["library_page"] = 2
    assert names(run(app)) == ["plan 1", "plan 0", "two"]
    assert names(type_text(app, "Search", "FRIDAY two")) == ["two"], "which is on no second page"
    assert "Nothing fits" in said(type_text(app, "Search", "tuesday"))
    assert names(filtered(visit(LIBRARY), "Labs")) == ["two"]


# --- opening ----------------------------------------------------------------------------------


def opened(kind: EntryKind) -> AppTest:
    """Return the app after a visitor has opened something that they kept."""
    keep(kind, f"a {kind}")
    return press(visit(LIBRARY, study="fin_momentum"), "Open")


def test_plan_becomes_the_workspace_and_goes_on_as_its_entry() -> None:
    app = go(opened(EntryKind.PLAN), PROTOCOL)
    assert number(app, "Sample size").value == 41
    press(type_number(app, "Sample size", 42), "Save")
    [entry] = shelf().entries(owner())
    assert (entry.name, entry.version) == ("a plan", 2)


def test_unsaved_work_is_offered_after_a_saved_plan_opens() -> None:
    keep(EntryKind.PLAN, "kept")
    app = type_number(visit(PROTOCOL, study="fin_momentum", lab="easy"), "Sample size", 31)
    press(go(app, LIBRARY), "Open")
    writer.finish()
    app = go(app, PROTOCOL)
    assert number(app, "Sample size").value == 41
    press(go(app, LIBRARY), "Go on with it")
    assert number(go(app, PROTOCOL), "Sample size").value == 31


def test_study_is_opened_and_stands_in_the_gallery_as_long_as_one_entry_of_it_does() -> None:
    app = opened(EntryKind.STUDY)
    assert where(go(app, STUDY)).startswith("Stroop interference")
    assert any("yours" in text for text in texts(at_gallery(app).main))
    assert len(shelf().entries(owner())) == 1
    press(press(go(app, LIBRARY), "Duplicate"), "Delete")
    assert "not on this server" not in said(app)
    assert "yours" in said(at_gallery(app))
    press(go(app, LIBRARY), "Delete")
    assert "yours" not in said(at_gallery(app))


def test_plan_with_an_older_study_of_ones_own_changes_nothing_of_that() -> None:
    old, new = OWN, OWN.replace("Stroop interference", "Stroop anew")
    assert old != new
    plan = make_plan(41, study="my_stroop", text=old, plan=None)
    keep(EntryKind.STUDY, "mine", new)
    keep(EntryKind.PLAN, "with the old one", plan)
    app = visit()
    assert any("Stroop anew" in label for label in labels(at_gallery(app)))
    press(go(app, LIBRARY), "Open")
    assert where(go(app, PROTOCOL)).startswith("Stroop interference")
    whose = owner()
    [study] = shelf().entries(whose, EntryKind.STUDY)
    assert shelf().read(whose, study.id).content == new


# --- changing and taking away -----------------------------------------------------------------


def test_entry_is_renamed_noted_and_duplicated_and_no_two_have_one_name() -> None:
    keep(EntryKind.PLAN, "one")
    app = type_text(visit(LIBRARY), "Name", "two")
    type_text(app, "Notes", "for Friday")
    assert names(press(app, "Duplicate")) == ["two (copy)", "two"]
    entries = shelf().entries(owner())
    assert [entry.notes for entry in entries] == ["for Friday"] * 2
    assert "choose another name" in said(type_text(app, "Name", "two"))
    assert names(app) == ["two (copy)", "two"]


def test_deleting_can_be_undone_at_once_and_later() -> None:
    keep(EntryKind.PLAN, "one")
    app = press(visit(LIBRARY), "Delete")
    assert names(app) == []
    assert names(press(app, "Undo")) == ["one"]
    for act, usage in (("Bring it back", 1), ("Delete it for good", 0)):
        press(filtered(app, "All"), "Delete")
        assert names(filtered(app, "Deleted")) == ["one"]
        press(app, act)
        assert names(filtered(app, "All")) == ["one"] * usage
        assert shelf().usage(owner()).entries == usage


def restored(entry: Entry) -> tuple[AppTest, list[list[str]]]:
    """Return the page after an entry's earlier version was restored, and what it said differs."""
    app = visit(LIBRARY)
    app.session_state[f"history_{entry.id}"] = True
    table = rows_of(run(app).table[0])
    return press(app, "Restore it, as a new version"), table


def test_history_shows_what_differs_first_and_restores() -> None:
    whose, entry = owner(), keep(EntryKind.PLAN, "one", make_plan(41))
    shelf().update(whose, entry.id, make_plan(80, seed=3), base_version=1, notes="larger")
    assert restored(entry)[1] == [
        ["Difference", "Version 1", "Now"],
        ["Sample size", "41", "80"],
        ["Seed", "0", "3"],
        ["Notes", "—", "larger"],
    ]
    assert shelf().read(whose, entry.id).content == make_plan(41)
    assert [version.number for version in shelf().versions(whose, entry.id)] == [3, 2, 1]


def test_everything_is_deleted_for_good_where_one_is_sure() -> None:
    keep(EntryKind.PLAN, "one")
    keep(EntryKind.STUDY, "mine")
    app = visit(LIBRARY)
    app.session_state["library_more"] = "How much is saved, and where"
    run(app)
    assert "2 entries" in said(app)
    assert "in this server’s library" in said(app)
    assert os.environ["REPLICALAB_DATA"] not in said(app)
    app.checkbox[0].check()
    press(run(app), "Delete it for good")
    assert names(app) == []
    assert tuple(shelf().usage(owner())) == (0, 0)
    assert "yours" not in said(at_gallery(app))


# --- files ------------------------------------------------------------------------------------


STROOP: Final = load_scenario("psy_stroop", "hard")
FILES: Final = {
    **{f"a {kind}.json": (CONTENTS[kind], kind) for kind in EntryKind if kind != "study"},
    "study.yaml": (OWN, EntryKind.STUDY),
    "bare.json": (plan_json(STROOP.reference_protocol, "psy_stroop"), EntryKind.PLAN),
    "bundle.json": (
        bundle(PlanAnalysis(assess(STROOP.reference_protocol, STROOP)), STROOP),
        EntryKind.PLAN,
    ),
}
"""Files of each kind as they leave, and of those that hold a plan in another form."""


def test_file_is_kept_as_what_it_holds_and_once() -> None:
    app, whose = visit(LIBRARY, study="fin_momentum"), owner()
    caution = "saved for another study, 'psy_stroop'; here it is judged as a plan for 'fin_mom"
    for name, (content, kind) in FILES.items():
        before = {item.id for item in shelf().entries(whose)}
        assert "Imported and saved" in said(hand_in(app, content, name))
        assert (caution in said(app)) is (name == "bare.json")
        [entry] = [item for item in shelf().entries(whose) if item.id not in before]
        assert entry.kind == kind
        if CONTENTS.get(kind) == content:
            assert shelf().read(whose, entry.id).content == content
        entries = shelf().entries(whose)
        hand_in(visit(LIBRARY), content, name)
        assert shelf().entries(whose) == entries, "once more it is the same"


FAKED: Final = case_text(
    read_case(CONTENTS[EntryKind.PLAN]).model_copy(
        update={
            "study": "psy_stroop",
            "text": study_yaml(STROOP.study.model_copy(update={"success_criteria": ["Any."]})),
        }
    )
)
"""A plan whose study says something else under the id of a shipped one."""


def test_of_a_bundle_all_is_kept_or_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    options, written, run = work("fin_momentum", "medium")
    add, added = OwnerRows.add, list[EntryKind]()

    def add_once(self: OwnerRows, kind: EntryKind, name: str, new: NewVersion) -> Entry:
        if added:
            raise LibraryStorageError("the library: the disk is full; nothing was saved")
        added.append(kind)
        return add(self, kind, name, new)

    with monkeypatch.context() as patch:
        patch.setattr(OwnerRows, "add", add_once)
        app = hand_in(visit(LIBRARY), bundle(options, written, run), "a.json")
    assert any("nothing was saved" in alert.text for alert in alerts(app))
    assert shelf().entries(owner()) == []
    hand_in(visit(LIBRARY), bundle(options, written, run), "a.json")
    assert len(shelf().entries(owner())) == 2


def test_plan_goes_by_the_shelfs_study_and_opens_no_second_card_for_another_of_its_id() -> None:
    pack = STROOP.with_own(LabOverrides(), EvidenceAssumptions(alpha=0.01))
    written = bundle(PlanAnalysis(assess(pack.reference_protocol, pack)), STROOP)
    hand_in(visit(LIBRARY), written, "a.json")
    [entry] = shelf().entries(owner())
    plan = read_case(shelf().read(owner(), entry.id).content)
    assert (plan.study, plan.text) == ("psy_stroop", "")
    assert plan.question == EvidenceAssumptions(alpha=0.01)
    keep(EntryKind.PLAN, "one", FAKED)
    app = press(visit(LIBRARY), "Open")
    assert "another study of the id 'psy_stroop' is on the shelf" in said(app)
    assert "yours" not in said(at_gallery(app))


def test_file_that_cannot_be_kept_is_told_by_every_fault() -> None:
    app = visit(LIBRARY)
    for name, data, text in (
        (
            "cut.json",
            "{",
            ["line 1, column 1: it is not JSON (it ends while", "choose one saved here"],
        ),
        ("lab.json", '{"format": 2, "lab": {"budget": -1, "days": -1}}', ["budget", "days"]),
        ("faked.json", FAKED, ["another study of the id 'psy_stroop' is on the shelf"]),
        ("study.yaml", "scenario_id: x\n", ["paper", "design"]),
        ("old.json", '{"format": 1, "study": "x"}', ["ReplicaLab 1 wrote this file"]),
    ):
        [alert] = [item for item in alerts(hand_in(app, data, name)) if item.colour == "error"]
        assert f"{name} is not imported." in alert.text
        assert [part for part in text if part not in alert.text] == []
        assert shelf().entries(owner()) == []


# --- faults -----------------------------------------------------------------------------------


def test_library_or_content_that_cannot_be_read_is_named_and_the_rest_works(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def broken(*_: object, **__: object) -> list[Entry]:
        raise LibraryStorageError("the library: the disk does not give it; see that it is there")

    keep(EntryKind.PLAN, "one")
    app = visit(LIBRARY, study="fin_momentum")
    with monkeypatch.context() as patch:
        patch.setattr(Library, "entries", broken)
        assert "The library cannot be used. the library: the disk" in said(run(app))
        go(app, PROTOCOL)
        assert number(type_number(app, "Sample size", 41), "Sample size").value == 41
    assert "cannot be used" not in said(go(app, LIBRARY))
    monkeypatch.setattr("replicalab.library.contents.problem_of", lambda *_: "its study is gone")
    assert "It can no longer be opened: its study is gone" in said(run(app))
    assert not can_press(app, "Open")


@pytest.mark.parametrize("act", ["Delete", "Duplicate", "Open"])
def test_entry_that_another_tab_deleted_is_told(act: str) -> None:
    entry = keep(EntryKind.PLAN, "one")
    app = visit(LIBRARY)
    next(button for button in app.button if button.label == act).click()
    shelf().delete(owner(), entry.id)
    run(app)
    assert "no longer" in said(app) or "Nothing is saved yet" in said(app)
