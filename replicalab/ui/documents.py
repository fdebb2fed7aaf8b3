"""How each kind of file is opened, shown and saved.

A file and an entry of the library are opened alike, except for a study: a file never replaces a
visitor's own study, but a restored version of its entry does.
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
from replicalab.ui.library import drafting
from replicalab.ui.library.keeping import mark_kept
from replicalab.ui.library.shelf import owner, shelf
from replicalab.ui.negotiation import files
from replicalab.ui.workspace import Workspace

PROTOCOL: Final = "pages/1_Protocol.py"


class Opening(NamedTuple):
    """A sentence about what was opened, and a caution; empty for none."""

    text: str
    caution: str = ""


def open_file(data: bytes, name: str) -> Opening:
    """Open a file by its content.

    Raises:
        ReplicaLabError: it cannot be opened; nothing has changed.
    """
    file = detect_kind(data, name)
    if not DOCUMENTS[file.kind].opens:
        fault = errors.Fault("", f"it holds a {file.kind}", "import it on the Library page")
        raise errors.ScenarioError(name, [fault])
    try:
        return PAGE_ROWS[file.kind].open(file, name)
    except (errors.LibraryContentError, errors.TraceError) as error:  # without the file's name
        raise type(error)(f"{name}: {error}") from error


def open_entry(entry: Entry) -> str:
    """Open an entry of the library, and return the page that shows it.

    Raises:
        ReplicaLabError: it cannot be opened; nothing has changed.
    """
    kind, version = KEPT[entry.kind], shelf().read(owner(), entry.id)
    file = FoundFile(kind, version.content, {})
    open_it = _reopen_study if kind is FileKind.STUDY else PAGE_ROWS[kind].open
    open_it(file, entry.name)
    if kind is FileKind.KEPT_PLAN:
        mark_kept(version.entry)
    return PAGE_ROWS[kind].page


# --- each kind, opened ------------------------------------------------------------------------


def _open_bundle(found: FoundFile, name: str) -> Opening:
    opened = drafting.bundle_here(found.values, name)
    before, played = state.workspace(), ""
    work = before.begun(drafting.case_here(drafting.bundled_case(opened, name)))
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
    state.open_workspace(before.begun(drafting.case_here(read_case(found.text))))
    _leave_as_a_draft(before)
    return Opening("The plan is open, in the study and the lab that it was saved with.")


def _leave_as_a_draft(before: Workspace) -> None:
    """Keep unsaved work as a draft, next to the draft of what is open now."""
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
    """How a kind of file is opened, and the page that shows it."""

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
"""Every kind; the facts of a kind that do not concern pages are in `documents.DOCUMENTS`."""


# --- saved in the library ---------------------------------------------------------------------


class Kept(NamedTuple):
    """The entries that a file was saved as, and a caution."""

    entries: list[Entry]
    caution: str = ""


Part = tuple[EntryKind, str, str]  # kind, name and content


def keep_file(data: bytes, file: str) -> Kept:
    """Save the content of a file in the library.

    Raises:
        ReplicaLabError: it cannot be saved; names every fault.
    """
    result, stem = detect_kind(data, file), PurePath(file).stem
    if kept_as := DOCUMENTS[result.kind].kept_as:
        part = kept_as, _name_in(result, file) or stem, result.text
        return Kept(shelf().keep_beside(owner(), part))
    if result.kind is FileKind.PLAN:  # saved with the open study and lab
        saved = read_plan(result.values, file)
        part = _plan_part(drafting.kept_case(state.case().changed(plan=saved.plan)))
        caution = elsewhere_text(saved.study, state.written())
        return Kept(shelf().keep_beside(owner(), part), caution=caution)
    bundle = drafting.bundle_here(result.values, file)
    parts = [_plan_part(drafting.bundled_case(bundle, file))]
    if bundle.run is not None:
        parts.append((EntryKind.RUN, stem, save(bundle.run, bundle.recording)))
    return Kept(shelf().keep_beside(owner(), *parts), bundle.caution)


def _plan_part(case: Case) -> Part:
    return EntryKind.PLAN, drafting.name_of(case), case_text(case)


def _name_in(found: FoundFile, file: str) -> str:
    """Return the name that a file gives itself; empty if it has none.

    Raises:
        ReplicaLabError: it cannot be read.
    """
    if found.kind is FileKind.STUDY:
        return own_studies.usable_study(found.text, file).paper.name
    if found.kind is FileKind.LAB:
        return read_lab(found.values, file).name or ""
    if found.kind is not FileKind.KEPT_PLAN:
        return ""
    plan = read_case(found.text)
    if study := plan.own_study():
        own_studies.is_on_the_shelf(study, "the plan’s study")
    return drafting.name_of(plan)
