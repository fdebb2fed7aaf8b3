"""How each kind of file is opened, shown and saved.

A file never replaces a visitor's own study; an entry of the library does.
"""

from collections.abc import Callable
from pathlib import PurePath
from typing import Final, NamedTuple

import streamlit as st

from replicalab import errors, library, server
from replicalab.documents import DOCUMENTS, KEPT, FoundFile, detect_kind
from replicalab.facts.plan_facts import elsewhere_text
from replicalab.library import Entry, EntryKind
from replicalab.negotiation import save
from replicalab.negotiation.case import Case, read_case, record_text
from replicalab.scenarios import parse_study, read_lab, read_plan
from replicalab.scenarios.reading import FileKind
from replicalab.ui import compare_page, own_studies, state, tray
from replicalab.ui.batches import BATCHES, VisitorBatch
from replicalab.ui.library_page import drafting
from replicalab.ui.library_page.keeping import mark_saved
from replicalab.ui.library_page.shelf import owner, shelf
from replicalab.ui.negotiation_page import saved_runs
from replicalab.ui.workspace import Workspace

PROTOCOL: Final = "pages/1_Protocol.py"


class Opening(NamedTuple):
    """A sentence about an opened file, and a caution, if any."""

    text: str
    caution: str = ""


def open_file(data: bytes, name: str) -> Opening:
    """Open a file by its content; raise ReplicaLabError, with nothing changed, if that fails."""
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
    if kind is FileKind.STUDY:
        study = own_studies.usable_study(version.content, entry.name)
        if refused := state.open_own_study(version.content, study):
            raise errors.LibraryFullError(refused)
    else:
        PAGE_ROWS[kind].open(FoundFile(kind, version.content, {}), entry.name)
    if kind is FileKind.KEPT_PLAN:
        mark_saved(version.entry)
    return PAGE_ROWS[kind].page


def _open_bundle(document: FoundFile, name: str) -> Opening:
    opened = drafting.current_bundle(document.values, name)
    before, subject = state.workspace(), "plan is"
    work = before.reset_to(drafting.case_to_open(drafting.bundled_case(opened, name)))
    if opened.run is None:
        state.open_workspace(work)
    else:
        saved_runs.open_played(opened.run, work, name, opened.recording)
        subject = "plan and its negotiation are"
    _leave_as_a_draft(before)
    return Opening(f"The {subject} open.", opened.caution)


def _open_run(document: FoundFile, name: str) -> Opening:
    saved_runs.open_text(document.text, name)
    return Opening("The negotiation is open, played again from the file.")


def _open_kept_plan(document: FoundFile, _: str) -> Opening:
    before = state.workspace()
    state.open_workspace(before.reset_to(drafting.case_to_open(read_case(document.text))))
    _leave_as_a_draft(before)
    return Opening("The plan is open, in its study and lab.")


def _leave_as_a_draft(before: Workspace) -> None:
    if before.case != state.case():
        state.current().tab = drafting.leave_tab(state.current().tab, before.case)


def _open_plan(document: FoundFile, name: str) -> Opening:
    saved = read_plan(document.values, name)
    state.replace_plan(saved.plan)
    caution = elsewhere_text(saved.study, state.author_pack())
    return Opening("The plan is open in the same lab.", caution)


def _open_lab(document: FoundFile, name: str) -> Opening:
    state.change_lab(read_lab(document.values or document.text.encode(), name))
    state.current().version += 1  # new widgets for the lab
    return Opening("The lab is open with the same plan.")


def _open_study(document: FoundFile, name: str) -> Opening:
    study, text = parse_study(document.text, name), document.text
    if own_studies.is_on_the_shelf(study, name):
        state.open_study(study.scenario_id)
    else:
        if mine := own_studies.studies().get(study.scenario_id):
            own_studies.require_same(study, mine.study, "among your own", name)
        if refused := own_studies.refusal(text, study) or state.open_own_study(text, study):
            raise errors.ReplicaLabError(refused)
    return Opening("The study is open, with its reference protocol.")


def _open_batch(document: FoundFile, name: str) -> Opening:
    batch = VisitorBatch.from_library(name, library.read_batch(document.text))
    if refused := BATCHES.show(server.visitor(), batch):
        raise errors.LibraryFullError(refused)
    st.session_state[compare_page.TABS] = compare_page.MANY
    return Opening("The batch is shown.")


class PageRow(NamedTuple):
    """How a kind of file is opened, and the page that shows it."""

    open: Callable[[FoundFile, str], Opening]
    page: str = PROTOCOL


PAGE_ROWS: Final = {
    FileKind.BUNDLE: PageRow(_open_bundle),
    FileKind.RUN: PageRow(_open_run, "pages/2_Negotiation.py"),
    FileKind.BATCH: PageRow(_open_batch, tray.COMPARE_PAGE),
    FileKind.STUDY: PageRow(_open_study, "pages/0_Study.py"),
    FileKind.KEPT_PLAN: PageRow(_open_kept_plan),
    FileKind.LAB: PageRow(_open_lab),
    FileKind.PLAN: PageRow(_open_plan),
}
"""How pages open every kind; `documents.DOCUMENTS` has its other facts."""


def keep_file(data: bytes, name: str) -> tuple[list[Entry], str]:
    """Save a file in the library, and return the entries and a caution.

    Raises:
        ReplicaLabError: it cannot be saved; names every fault.
    """
    file, stem, caution = detect_kind(data, name), PurePath(name).stem, ""
    if kept_as := DOCUMENTS[file.kind].kept_as:
        parts = [(kept_as, _name_in(file, name) or stem, file.text)]
    elif file.kind is FileKind.PLAN:  # saved with the open study and lab
        saved = read_plan(file.values, name)
        parts = [_plan_part(drafting.case_to_save(state.case().replace(plan=saved.plan)))]
        caution = elsewhere_text(saved.study, state.author_pack())
    else:
        bundle = drafting.current_bundle(file.values, name)
        parts, caution = [_plan_part(drafting.bundled_case(bundle, name))], bundle.caution
        if bundle.run is not None:
            parts.append((EntryKind.RUN, stem, save(bundle.run, bundle.recording)))
    return shelf().save_as_new(owner(), *parts), caution


def _plan_part(case: Case) -> tuple[EntryKind, str, str]:
    return EntryKind.PLAN, drafting.name_of(case), record_text(case)


def _name_in(document: FoundFile, file: str) -> str:
    if document.kind is FileKind.STUDY:
        return own_studies.usable_study(document.text, file).paper.name
    if document.kind is FileKind.LAB:
        return read_lab(document.values, file).name or ""
    if document.kind is not FileKind.KEPT_PLAN:
        return ""
    plan = read_case(document.text)
    if study := plan.own_study():
        own_studies.is_on_the_shelf(study, "the plan’s study")
    return drafting.name_of(plan)
