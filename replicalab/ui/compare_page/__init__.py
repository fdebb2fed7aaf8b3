"""The Compare page: up to four cases side by side, and many negotiations at once."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

import streamlit as st

from replicalab import errors, library, planner, server
from replicalab.characters import on_one_line
from replicalab.documents import DOCUMENTS, KEPT
from replicalab.facts.comparison_facts import comparison_panel, table
from replicalab.lexicon import ended, joined
from replicalab.negotiation import case as core
from replicalab.negotiation import load, replay
from replicalab.scenarios import Difficulty, read_lab
from replicalab.tables import sheet, workbook
from replicalab.ui import batches, controls, notices, own_studies, screen, state, tray, workspace
from replicalab.ui.compare_page import many
from replicalab.ui.file_transfer import download
from replicalab.ui.library_page.drafting import case_of_run, case_to_open
from replicalab.ui.library_page.shelf import owner, shelf
from replicalab.ui.negotiation_page.sessions import with_moves

TABS: Final = "compare_part"
BESIDE: Final = "Side by side"
MANY: Final = "Many negotiations"
_CHOSEN: Final = "compare_chosen"


def draw(here: planner.PlanAnalysis) -> None:
    """Draw the open tab; a visitor with a running batch comes back to it."""
    if TABS not in st.session_state:
        batch = batches.BATCHES.of(server.visitor())
        st.session_state[TABS] = BESIDE if batch is None or batch.is_over else MANY
    with controls.open_tab((BESIDE, MANY), TABS) as name:
        (many.draw if name == MANY else _draw_sides)(here)


def _draw_sides(here: planner.PlanAnalysis) -> None:
    own = state.case().own_lab
    label = "Yours and the study’s" if own.name or own.changes else "The three labs"
    alone = state.case().own is not None and len(_labs()) < core.FEWEST_SIDES
    with st.container(horizontal=True, vertical_alignment="center", key="sources"):
        controls.button(label, "science", lambda: tray.keep_only(_labs()), disabled=alone)
        ways = "Yours, offer, least loss"
        controls.button(ways, "balance", lambda: tray.keep_only(_ways(here)))
        _draw_library()
        controls.button("Undo", "undo", state.undo, disabled=not state.current().past)
    if alone:
        st.caption("The three labs of this study are the same. Enter yours under **Your lab**.")
    notices.draw()
    tray.draw_line(linked=False)
    compared = all_sides()
    for problem in compared.problems:
        st.warning(f"Not compared: {controls.escape(problem)}", icon=":material/link_off:")
    if len(compared.sides) < core.FEWEST_SIDES:
        lacking = "Nothing to compare yet."
        if compared.cases:
            name = controls.escape(compared.cases[0].name)
            lacking = f"{name} is the open plan; add one to compare it with."
        text = f"{lacking} Choose above, or press Compare this on any page."
        st.info(text, icon=":material/compare_arrows:")
        return
    screen.draw(comparison_panel(compared.sides))
    with st.container(horizontal=True, key="compare_files"):
        rows = table(compared.sides)
        names = [str(name) for name in rows[0]]
        download("Download as CSV", lambda: sheet(names, rows[1:]), "comparison.csv")
        download("Download as Excel", lambda: workbook({"Comparison": rows}), "comparison.xlsx")


class SideList(NamedTuple):
    """The sides, their cases in the same order, and why other cases are left out."""

    sides: list[core.Side]
    cases: list[workspace.TrayCase]
    problems: list[str]


def all_sides() -> SideList:
    """Return the sides of the tray, and the open plan next to a single one."""
    work = state.workspace()
    cases, open_case = list(work.tray), work.case.restart()
    if len(cases) < core.FEWEST_SIDES and cases and tray.place_of(open_case, run=False) is None:
        cases.append(tray.name_case(tray.TrayCandidate("The open plan", open_case), cases))
    compared = SideList([], [], [])
    for item in cases:
        try:
            compared.sides.append(_side(item))
            compared.cases.append(item)
        except errors.ReplicaLabError as error:
            compared.problems.append(f"{item.name}: {error}")
    return compared


def _side(entry: workspace.TrayCase) -> core.Side:
    case = entry.case if entry.is_run else entry.case.replace(moves=())
    plan = case.assess(own_studies.find)
    key = case.recording
    played = core.play_recording(plan, key) if key else core.play_case(plan, case)
    if entry.is_run and played:
        return core.side_of(entry.name, played)
    return core.Side(entry.name, plan, played)


def _labs() -> list[tray.TrayCandidate]:
    case, own = state.case(), state.case().own_lab
    cases = {level: case.with_lab(level, case.seed) for level in Difficulty}
    labs = {level: item.author_pack(own_studies.find).lab for level, item in cases.items()}
    alike: dict[Difficulty, list[Difficulty]] = {}
    for level in Difficulty:
        first = next((other for other in alike if labs[other] == labs[level]), level)
        alike.setdefault(first, []).append(level)
    candidates = []
    if own.name or own.changes:
        candidates = [tray.TrayCandidate(own.name or "Your lab", case.restart())]
    for first, levels in alike.items():
        name = "the study’s lab" if len(levels) == len(Difficulty) else f"{joined(levels)} lab"
        candidates.append(tray.TrayCandidate(name, cases[first]))
    return candidates


def _ways(here: planner.PlanAnalysis) -> Iterator[tray.TrayCandidate]:
    case = state.case()
    yield tray.TrayCandidate("Your plan", case.restart())
    for name, plan in (("The Lab Manager’s", here.offered), ("Least loss", here.least.after)):
        if plan.plan != here.yours.plan:
            yield tray.TrayCandidate(name, case.with_plan(plan.plan, own_studies.find))


def _draw_library() -> None:
    icon, key = ":material/bookmarks:", "compare_library"
    place = st.popover("From the library", icon=icon, key=key, on_change="rerun")
    if not place.open:
        return
    with place:
        try:
            saved = shelf().entries(owner())
        except errors.LibraryError as error:
            text = f"The library cannot be used. {controls.escape(str(error))}."
            st.error(text, icon=":material/folder_off:")
            return
        entries = {entry.id: entry for entry in saved if DOCUMENTS[KEPT[entry.kind]].is_compared}
        if not entries:
            st.caption("Nothing is saved yet. Press **Save** at the top of any page.")
            return
        st.selectbox(
            "Saved entry",
            list(entries),
            format_func=lambda key: f"{on_one_line(entries[key].name)} ({entries[key].kind})",
            key=_CHOSEN,
        )
        full = not tray.has_room()
        controls.button("Add it", "compare_arrows", lambda: _add(entries), disabled=full)


def _add(entries: dict[str, library.Entry]) -> None:
    entry = entries[st.session_state[_CHOSEN]]
    try:
        content = shelf().read(owner(), entry.id).content
        tray.keep(_candidate_of_entry(entry.kind, entry.name, content))
    except errors.ReplicaLabError as error:
        notices.leave_problem(ended(f"Not added: {error}"), icon="block")


def _candidate_of_entry(kind: library.EntryKind, name: str, content: str) -> tray.TrayCandidate:
    if kind is library.EntryKind.PLAN:
        return tray.TrayCandidate(name, case_to_open(core.read_case(content)))
    if kind is library.EntryKind.LAB:
        return tray.TrayCandidate(name, state.case().with_own(own_lab=read_lab(content.encode())))
    transcript = load(content)
    base = case_of_run(transcript.setup, state.case())
    again = replay(transcript, base.pack(own_studies.find))
    if case := with_moves(again, base):
        return tray.TrayCandidate(name, case, run=True)
    plan = again.final_plan
    last = base.with_plan(plan.plan if plan else None, own_studies.find)
    return tray.TrayCandidate(f"{name}: its last plan", last)
