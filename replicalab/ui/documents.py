"""What the pages do with each kind of document: how it is opened, shown and kept.

A file and an entry of the library are opened alike. A study is not: a file never takes the place of
a visitor's own study, and an earlier version of an entry is there to do so.
"""

from collections.abc import Callable
from pathlib import PurePath
from typing import Final, NamedTuple

import streamlit as st

from replicalab import errors, library, server
from replicalab.case import Case, case_text, read_case
from replicalab.documents import DOCUMENTS, KEPT, FoundFile, detect_kind
from replicalab.facts.plan import elsewhere_text
from replicalab.library import Entry, EntryKind
from replicalab.negotiation import save
from replicalab.scenarios import parse_study, read_lab, read_plan
from replicalab.scenarios.reading import FileKind
from replicalab.ui import compare, own_studies, state, tray
from replicalab.ui.batches import BATCHES, VisitorBatch
from replicalab.ui.library import cases, drafting
from replicalab.ui.library.keeping import mark_kept
from replicalab.ui.library.shelf import owner, shelf
from replicalab.ui.negotiation import files
from replicalab.ui.workspace import Workspace

PROTOCOL: Final = "pages/1_Protocol.py"


class Opening(NamedTuple):
    """What came of a document that was opened.

    Attributes:
        text: what was opened, in a sentence.
        caution: what is to be known of it; empty for nothing.
    """

    text: str
    caution: str = ""


def open_file(data: bytes, name: str) -> Opening:
    """Open a file by what it holds.

    Raises:
        ReplicaLabError: it cannot be opened; nothing has changed.
    """
    found = detect_kind(data, name)
    if not DOCUMENTS[found.kind].opens:
        fault = errors.Fault("", f"it holds a {found.kind}", "import it on the Library page")
        raise errors.ScenarioError(name, [fault])
    try:
        return PAGE_ROWS[found.kind].open(found, name)
    except (
        errors.LibraryContentError,
        errors.TraceError,
    ) as error:  # which do not know the file's name
        raise type(error)(f"{name}: {error}") from error


def open_entry(entry: Entry) -> str:
    """Open an entry of the library, and return the page that shows it.

    Raises:
        ReplicaLabError: it cannot be opened; nothing has changed.
    """
    kind, kept = KEPT[entry.kind], shelf().read(owner(), entry.id)
    found = FoundFile(kind, kept.content, {})
    open_it = _reopen_study if kind is FileKind.STUDY else PAGE_ROWS[kind].open
    open_it(found, entry.name)
    if kind is FileKind.KEPT_PLAN:
        mark_kept(kept.entry)
    return PAGE_ROWS[kind].page


# --- each kind, opened ------------------------------------------------------------------------


def _open_bundle(found: FoundFile, name: str) -> Opening:
    opened = cases.bundle_here(found.values, name)
    before, played = state.workspace(), ""
    work = before.begun(cases.case_here(cases.bundled_case(opened, name)))
    if opened.run is None:
        state.open_workspace(work)
    else:
        files.open_played(opened.run, work, name, opened.recording)
        played = " and its negotiation"
    _leave_as_a_draft(before)
    return Opening(f"The plan{played} {'are' if played else 'is'} open.", opened.caution)


def _open_run(found: FoundFile, name: str) -> Opening:
    files.open_text(found.text, name)
    return Opening("The negotiation is open, played again from the file.")


def _open_kept_plan(found: FoundFile, _: str) -> Opening:
    before = state.workspace()
    state.open_workspace(before.begun(cases.case_here(read_case(found.text))))
    _leave_as_a_draft(before)
    return Opening("The plan is open, in the study and the lab that it was saved with.")


def _leave_as_a_draft(before: Workspace) -> None:
    """Let what nobody had saved stay as a draft, next to that of what is open now."""
    if before.case != state.case():
        state.current().tab = drafting.left(state.current().tab, before.case)


def _open_plan(found: FoundFile, name: str) -> Opening:
    saved = read_plan(found.values, name)
    state.replace_plan(saved.plan)
    caution = elsewhere_text(saved.study, state.written())
    return Opening("The plan is open, judged in the lab that was.", caution=caution)


def _open_lab(found: FoundFile, name: str) -> Opening:
    state.suppose(read_lab(found.values or found.text.encode(), name))
    state.current().version += 1  # the sliders of the lab are drawn anew
    return Opening("The lab is in use, for the plan that was.")


def _open_study(found: FoundFile, name: str) -> Opening:
    study = parse_study(found.text, name)
    if own_studies.is_on_the_shelf(study, name):
        state.open_study(study.scenario_id)
    else:
        if (mine := own_studies.kept().get(study.scenario_id)) is not None:
            own_studies.require_same(study, mine.study, "among your own", name)
        if refused := own_studies.refusal(found.text, study) or state.bring(found.text, study):
            raise errors.ReplicaLabError(refused)
    return Opening("The study is open, with its reference protocol.")


def _reopen_study(found: FoundFile, name: str) -> Opening:
    study = own_studies.usable_study(found.text, name)
    if refused := state.bring(found.text, study):
        raise errors.LibraryFullError(refused)
    return Opening("The study is open, with its reference protocol.")


def _open_batch(found: FoundFile, name: str) -> Opening:
    batch = VisitorBatch.opened(name, library.read_batch(found.text))
    if refused := BATCHES.show(server.visitor(), batch):
        raise errors.LibraryFullError(refused)
    st.session_state[compare.TABS] = compare.MANY
    return Opening("The batch is shown.")


class PageRow(NamedTuple):
    """What the pages do with a kind of document.

    Attributes:
        open: opens one, by its name.
        page: the page that shows it then.
    """

    open: Callable[[FoundFile, str], Opening]
    page: str = PROTOCOL


PAGE_ROWS: Final = {
    FileKind.BUNDLE: PageRow(_open_bundle),
    FileKind.RUN: PageRow(_open_run, "pages/2_Negotiation.py"),
    FileKind.BATCH: PageRow(_open_batch, tray.PAGE),
    FileKind.STUDY: PageRow(_open_study, "pages/0_Study.py"),
    FileKind.KEPT_PLAN: PageRow(_open_kept_plan),
    FileKind.LAB: PageRow(_open_lab),
    FileKind.PLAN: PageRow(_open_plan),
}
"""Every kind; what else there is to know of one is in `documents.DOCUMENTS`."""


# --- kept in the library ----------------------------------------------------------------------


class Kept(NamedTuple):
    """What the library keeps of a file, and a caution about it."""

    entries: list[Entry]
    caution: str = ""


Part = tuple[EntryKind, str, str]
"""A part of a file as it is kept: its kind, its name and its content."""


def keep_file(data: bytes, file: str) -> Kept:
    """Keep what a file holds.

    Raises:
        ReplicaLabError: it holds nothing that can be kept; names every fault.
    """
    found, stem = detect_kind(data, file), PurePath(file).stem
    if kept_as := DOCUMENTS[found.kind].kept_as:
        part = kept_as, _name_in(found, file) or stem, found.text
        return Kept(shelf().keep_beside(owner(), part))
    if found.kind is FileKind.PLAN:  # which is kept with the study and in the lab that are open
        saved = read_plan(found.values, file)
        part = _plan_part(cases.kept_case(state.case().changed(plan=saved.plan)))
        caution = elsewhere_text(saved.study, state.written())
        return Kept(shelf().keep_beside(owner(), part), caution=caution)
    bundle = cases.bundle_here(found.values, file)
    parts = [_plan_part(cases.bundled_case(bundle, file))]
    if bundle.run is not None:
        parts.append((EntryKind.RUN, stem, save(bundle.run, bundle.recording)))
    return Kept(shelf().keep_beside(owner(), *parts), bundle.caution)


def _plan_part(case: Case) -> Part:
    return EntryKind.PLAN, cases.name_of(case), case_text(case)


def _name_in(found: FoundFile, file: str) -> str:
    """Return the name that a file gives itself; empty where it has none and the library checks it.

    Raises:
        ReplicaLabError: it cannot be read.
    """
    match found.kind:
        case FileKind.STUDY:
            return own_studies.usable_study(found.text, file).paper.name
        case FileKind.KEPT_PLAN:
            plan = read_case(found.text)
            cases.require_its_own(plan)
            return cases.name_of(plan)
        case FileKind.LAB:
            return read_lab(found.values, file).name or ""
    return ""
