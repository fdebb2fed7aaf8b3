"""The Library page, and Save on every page."""

import os
from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab import scenarios
from replicalab.assessment import assess
from replicalab.documents import bundle
from replicalab.library import Entry, EntryKind
from replicalab.negotiation.case import read_case, record_text
from replicalab.planner import PlanAnalysis
from replicalab.ui.library_page import shelf as writer
from replicalab.ui.library_page.shelf import owner, shelf
from tests.library.making import make_batch, make_plan, make_run
from tests.reports.making import work
from tests.ui.acting import can_press, labels, number, pick, press, run, type_number, type_text
from tests.ui.negotiating import hand_over
from tests.ui.pages import LIBRARY, NEGOTIATION, PAGES, PROTOCOL, STUDY
from tests.ui.reading import alerts, keyed, page_text, rows_of, texts, where
from tests.ui.visitors import Browsers
from tests.ui.walking import at_gallery, go, query_of, visit

OWN: Final = scenarios.copy_text("psy_stroop", "my_stroop")
LAB: Final = scenarios.lab_json(scenarios.LabOverrides(name="Our lab", budget=900))
CONTENTS: Final = {
    EntryKind.PLAN: make_plan(41),
    EntryKind.LAB: LAB,
    EntryKind.STUDY: OWN,
    EntryKind.RUN: make_run(),
    EntryKind.BATCH: make_batch(),
}


def keep(kind: EntryKind, name: str, content: str = "", notes: str = "") -> Entry:
    whose = owner()
    return shelf().keep(whose, kind, name, content or CONTENTS[kind], notes=notes)


def names(app: AppTest) -> list[str]:
    return [str(option).replace("\\", "") for radio in app.radio for option in radio.options]


def test_list_has_only_entries_of_the_visitor(browsers: Browsers) -> None:
    for kind in CONTENTS:
        keep(kind, f"a {kind}")
    assert names(visit(LIBRARY)) == [f"a {kind}" for kind in reversed(CONTENTS)]
    browsers.use()
    app = visit(LIBRARY)
    assert names(app) == []
    [notice] = alerts(app)
    assert notice.colour == "info"
    assert "at the top of any page" in notice.text


def test_list_is_searched_filtered_and_comes_in_pages() -> None:
    keep(EntryKind.LAB, "two", notes="for Friday")
    for item in range(10):
        keep(EntryKind.PLAN, f"plan {item}", make_plan(40 + item))
    app = visit(LIBRARY)
    assert names(app) == [f"plan {item}" for item in range(9, 1, -1)]
    app.session_state["library_page"] = 2
    assert names(run(app)) == ["plan 1", "plan 0", "two"]
    assert names(type_text(app, "Search", "FRIDAY two")) == ["two"], "which is on no second page"
    assert "No entry matches" in page_text(type_text(app, "Search", "tuesday"))
    assert names(pick(visit(LIBRARY), "Show", "Labs")) == ["two"]


def opened(kind: EntryKind) -> AppTest:
    keep(kind, f"a {kind}")
    return press(visit(LIBRARY, study="fin_momentum"), "Open")


def test_opened_plan_saves_to_its_entry() -> None:
    app = go(opened(EntryKind.PLAN), PROTOCOL)
    assert number(app, "Sample size").value == 41
    press(type_number(app, "Sample size", 42), "Save")
    [entry] = shelf().entries(owner())
    assert (entry.name, entry.version) == ("a plan", 2)


def test_unsaved_work_is_offered_after_opening_another() -> None:
    keep(EntryKind.PLAN, "kept")
    app = type_number(visit(PROTOCOL, study="fin_momentum", lab="easy"), "Sample size", 31)
    press(go(app, LIBRARY), "Open")
    writer.finish()
    app = go(app, PROTOCOL)
    assert number(app, "Sample size").value == 41
    press(go(app, LIBRARY), "Continue")
    assert number(go(app, PROTOCOL), "Sample size").value == 31


def test_study_stays_in_gallery_while_an_entry_exists() -> None:
    app = opened(EntryKind.STUDY)
    assert where(go(app, STUDY)).startswith("Stroop interference")
    press(press(go(app, LIBRARY), "Duplicate"), "Delete")
    assert "yours" in page_text(at_gallery(app))
    press(go(app, LIBRARY), "Delete")
    assert "yours" not in page_text(at_gallery(app))


def test_entry_is_renamed_noted_and_duplicated() -> None:
    keep(EntryKind.PLAN, "one")
    app = type_text(visit(LIBRARY), "Name", "two")
    type_text(app, "Notes", "for Friday")
    assert names(press(app, "Duplicate")) == ["two (copy)", "two"]
    assert [entry.notes for entry in shelf().entries(owner())] == ["for Friday"] * 2
    assert "choose another name" in page_text(type_text(app, "Name", "two"))


def test_deleting_can_be_undone_at_once_and_later() -> None:
    keep(EntryKind.PLAN, "one")
    app = press(visit(LIBRARY), "Delete")
    assert names(app) == []
    assert names(press(app, "Undo")) == ["one"]
    for act, usage in (("Bring it back", 1), ("Delete it for good", 0)):
        press(pick(app, "Show", "All"), "Delete")
        assert names(pick(app, "Show", "Deleted")) == ["one"]
        press(app, act)
        assert names(pick(app, "Show", "All")) == ["one"] * usage
        assert shelf().usage(owner()).entries == usage


def test_history_shows_differences_and_restores() -> None:
    whose, entry = owner(), keep(EntryKind.PLAN, "one", make_plan(41))
    shelf().update(whose, entry.id, make_plan(80, seed=3), base_version=1, notes="larger")
    app = visit(LIBRARY)
    app.session_state[f"history_{entry.id}"] = True
    assert rows_of(run(app).table[0]) == [
        ["Difference", "Version 1", "Now"],
        ["Sample size", "41", "80"],
        ["Seed", "0", "3"],
        ["Notes", "—", "larger"],
    ]
    press(app, "Restore this version")
    assert shelf().read(whose, entry.id).content == make_plan(41)
    assert [version.number for version in shelf().versions(whose, entry.id)] == [3, 2, 1]


def test_everything_is_deleted_after_confirmation() -> None:
    keep(EntryKind.PLAN, "one")
    keep(EntryKind.STUDY, "mine")
    app = visit(LIBRARY)
    app.session_state["library_more"] = "Space in use"
    assert "2 entries" in page_text(run(app))
    assert os.environ["REPLICALAB_DATA"] not in page_text(app)
    app.checkbox[0].check()
    press(run(app), "Delete it for good")
    assert names(app) == []
    assert tuple(shelf().usage(owner())) == (0, 0)
    assert "yours" not in page_text(at_gallery(app))


STROOP: Final = scenarios.load_scenario("psy_stroop", "hard")
FILES: Final = {
    **{f"a {kind}.json": (CONTENTS[kind], kind) for kind in EntryKind if kind != "study"},
    "study.yaml": (OWN, EntryKind.STUDY),
    "bare.json": (scenarios.plan_json(STROOP.reference_protocol, "psy_stroop"), EntryKind.PLAN),
    "bundle.json": (
        bundle(PlanAnalysis(assess(STROOP.reference_protocol, STROOP)), STROOP),
        EntryKind.PLAN,
    ),
}


def test_file_is_imported_by_its_content_once() -> None:
    app, whose = visit(LIBRARY, study="fin_momentum"), owner()
    caution = "saved for another study, 'psy_stroop'; here it is judged as a plan for 'fin_mom"
    for name, (content, kind) in FILES.items():
        before = {item.id for item in shelf().entries(whose)}
        assert "Imported and saved" in page_text(hand_over(app, content, name))
        assert (caution in page_text(app)) is (name == "bare.json")
        [entry] = [item for item in shelf().entries(whose) if item.id not in before]
        assert entry.kind == kind
        if CONTENTS.get(kind) == content:
            assert shelf().read(whose, entry.id).content == content
        entries = shelf().entries(whose)
        hand_over(visit(LIBRARY), content, name)
        assert shelf().entries(whose) == entries, "once more it is the same"


ANY: Final = STROOP.study.model_copy(update={"success_criteria": ["Any."]})
PLAN_41: Final = read_case(CONTENTS[EntryKind.PLAN])
FAKED: Final = record_text(
    PLAN_41.model_copy(update={"study": "psy_stroop", "text": scenarios.study_yaml(ANY)})
)


def test_imported_plan_uses_the_shipped_study() -> None:
    pack = STROOP.with_own(scenarios.LabOverrides(), scenarios.EvidenceAssumptions(alpha=0.01))
    written = bundle(PlanAnalysis(assess(pack.reference_protocol, pack)), STROOP)
    hand_over(visit(LIBRARY), written, "a.json")
    [entry] = shelf().entries(owner())
    plan = read_case(shelf().read(owner(), entry.id).content)
    assert (plan.study, plan.text, plan.question) == ("psy_stroop", "", pack.question)


def test_refused_file_is_shown_with_every_fault() -> None:
    app = visit(LIBRARY)
    for name, data, text in (
        ("cut.json", "{", ["line 1, column 1: it is not JSON", "choose one saved here"]),
        ("lab.json", '{"format": 2, "lab": {"budget": -1, "days": -1}}', ["budget", "days"]),
        ("faked.json", FAKED, ["another study of the id 'psy_stroop' is on the shelf"]),
    ):
        [alert] = [item for item in alerts(hand_over(app, data, name)) if item.colour == "error"]
        assert f"{name} is not imported." in alert.text
        assert [part for part in text if part not in alert.text] == []
        assert shelf().entries(owner()) == []


@pytest.mark.parametrize("act", ["Delete", "Duplicate", "Open"])
def test_entry_deleted_in_another_tab_is_named(act: str) -> None:
    entry = keep(EntryKind.PLAN, "one")
    app = visit(LIBRARY)
    next(button for button in app.button if button.label == act).click()
    shelf().delete(owner(), entry.id)
    run(app)
    assert "no longer" in page_text(app) or "Nothing is saved yet" in page_text(app)


pytestmark = pytest.mark.usefixtures("browsers")

PLAN = "Momentum returns · medium lab · n 420"


def kept() -> list[Entry]:
    return shelf().entries(owner(), EntryKind.PLAN)


def plans(entry: Entry) -> list[int]:
    whose = owner()
    versions = (shelf().read(whose, entry.id, v.number) for v in shelf().versions(whose, entry.id))
    read = (read_case(version.content).plan for version in versions)
    return [plan.sample_size if plan else 0 for plan in read]


def box(app: AppTest) -> str:
    return "\n".join(texts(keyed(app, "kept")))


def test_save_on_any_page_saves_the_plan() -> None:
    app = visit(PROTOCOL, study="psy_stroop", lab="hard", budget="900")
    for page in PAGES:
        assert can_press(go(app, page), "Save")
    press(app, "Save")
    [entry] = kept()
    assert entry.name in box(app)
    assert entry.name.startswith("Stroop interference · hard lab, 1 change · n ")
    plan = read_case(shelf().read(owner(), entry.id).content)
    assert (plan.study, plan.lab, plan.own_lab.budget) == ("psy_stroop", "hard", 900)


def test_only_a_changed_plan_is_a_version() -> None:
    app = press(press(visit(PROTOCOL), "Save"), "Save")
    assert "Nothing has changed since it was saved" in box(app)
    assert [(entry.name, entry.version) for entry in kept()] == [(PLAN, 1)]
    assert "Close" not in labels(type_number(app, "Sample size", 75))
    again = press(visit(PROTOCOL, **query_of(app)), "Save")
    assert "version 2" in box(again)
    [entry] = kept()
    assert (entry.name, entry.version) == ("Momentum returns · medium lab · n 75", 2)
    assert plans(entry) == [75, 0]


def test_other_lab_visitor_or_deletion_makes_new_entry(browsers: Browsers) -> None:
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
    assert [item.id != entry.id for item in kept() if item.name == PLAN] == [True]


def test_name_and_notes_stay_with_next_version() -> None:
    press(visit(PROTOCOL, lab="easy"), "Save")
    [taken] = kept()
    app = press(visit(PROTOCOL), "Save")
    assert "choose another name" in page_text(type_text(app, "Name", taken.name))
    type_text(app, "Name", "For Friday")
    type_text(app, "Notes", "the board wants it small")
    press(type_number(app, "Sample size", 75), "Save")
    [entry] = [item for item in kept() if item.id != taken.id]
    assert (entry.name, entry.notes) == ("For Friday", "the board wants it small")
    assert plans(entry)[0] == 75


def second_tab() -> AppTest:
    first = press(visit(PROTOCOL), "Save")
    second = visit(PROTOCOL, **query_of(first))
    press(type_number(first, "Sample size", 75), "Save")
    return type_number(second, "Sample size", 60)


def test_second_tab_sees_differences_and_saves_over() -> None:
    second = second_tab()
    assert "was saved elsewhere since" in page_text(press(second, "Save"))
    assert "was saved elsewhere since" in page_text(go(second, NEGOTIATION)), "until it is closed"
    [table] = [item for item in second.table if "Difference" in item.value.columns]
    assert rows_of(table)[1:] == [["Sample size", "75", "60"]]
    assert "Save mine as another" not in labels(press(second, "Close"))
    assert [entry.version for entry in kept()] == [2]
    press(press(second, "Save"), "Save as version 3")
    [entry] = kept()
    assert plans(entry) == [60, 75, 0]


def test_second_tab_saves_its_plan_as_another() -> None:
    second = second_tab()
    press(press(second, "Save"), "Save mine as another")
    press(type_number(second, "Sample size", 61), "Save")
    assert sorted(plans(entry) for entry in kept()) == [[61, 60], [75, 0]]


def test_negotiation_is_saved_from_its_page() -> None:
    app = press(visit(NEGOTIATION), "Save to the library")
    [entry] = shelf().entries(owner(), EntryKind.RUN)
    assert (entry.about, entry.name in box(app)) == ("fin_momentum", True)


def test_bundle_is_imported_as_two_entries() -> None:
    hand_over(visit(LIBRARY), bundle(*work("fin_momentum", "medium")), "a.json")
    assert {entry.kind for entry in shelf().entries(owner())} == {EntryKind.PLAN, EntryKind.RUN}
