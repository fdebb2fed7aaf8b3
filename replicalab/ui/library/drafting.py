"""The draft: a browser's last unsaved state, saved in the background.

A link carries most workspaces. One that is too long is read from the draft: the address names the
tab that wrote it under ``draft``, with a letter for each thing that the draft has.
"""

import re
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple

from pydantic import ValidationError

from replicalab import server
from replicalab.case import Case, DraftCase, case_text, read_case, read_draft
from replicalab.errors import LibraryError, ReplicaLabError, ScenarioError
from replicalab.lexicon import shortened
from replicalab.library import Owner, StoredDraft
from replicalab.ui import address, own_studies
from replicalab.ui.library import writer
from replicalab.ui.library.cases import case_here, is_work, kept_case, name_of
from replicalab.ui.library.shelf import owner, shelf
from replicalab.ui.workspace import TrayCase, Workspace

_DRAFT: Final = "draft"  # The key of an address that names its tab's draft
# The key of an address that names the entry, and its version, that the case was kept as.
_KEPT: Final = "kept"
ROOM: Final = 80  # The most characters that both take there
_NAMED: Final = re.compile(r"([0-9a-f]{12})\.([sw]{1,2})")
_ENTRY: Final = re.compile(r"([0-9a-f]{32})\.([0-9]{1,6})")
_STUDY: Final = "s"
_WHOLE: Final = "w"
_SOON: Final = 0.3
# Seconds of rest after which a draft is saved: where the address lacks something, and else.
_LATER: Final = 2.0


def _place() -> str:
    return secrets.token_hex(6)


@dataclass
class Tab:
    """A tab of a browser, and what the library has of it.

    Attributes:
        place: its name in the draft.
        saved: when it saved the draft last, None if it did not.
        seen: the workspace that was looked at last.
        done: the one that the draft holds.
        entry: the entry and the version that it was saved as or opened from, None if it never was.
        problem: why the draft could not be saved, empty where it could.
    """

    place: str = field(default_factory=_place)
    saved: datetime | None = None
    seen: Workspace | None = None
    done: tuple[Case, tuple[TrayCase, ...]] | None = None
    entry: tuple[str, int] | None = None
    problem: str = ""


# --- the address ----------------------------------------------------------------------------


def named(tab: Tab, work: Workspace, *, is_whole: bool) -> dict[str, str]:
    """Return what names a tab's draft and its entry in an address, which may carry all of it."""
    letters = (_STUDY if work.case.own else "") + ("" if is_whole else _WHOLE)
    draft = {_DRAFT: f"{tab.place}.{letters}"} if letters else {}
    return draft | ({_KEPT: f"{tab.entry[0]}.{tab.entry[1]}"} if tab.entry else {})


def without_contents(work: Workspace) -> Workspace:
    """Return a workspace with its study and its lab alone."""
    case = Case(study=work.case.study, own=work.case.own, lab=work.case.lab, seed=work.case.seed)
    return work.changed(case=case, tray=())


def read(query: Mapping[str, str], tab: Tab) -> address.LinkReading:
    """Return the workspace of an address, from its draft if the address cannot carry it."""
    entry = _ENTRY.fullmatch(query.get(_KEPT, ""))
    tab.entry = (entry[1], int(entry[2])) if entry else None
    found = _NAMED.fullmatch(query.get(_DRAFT, ""))
    if found is None:
        return address.from_query(query, own_studies.find)
    tab.place, letters = found.groups()
    draft, problem = _draft_of(tab)
    if draft and draft.text and _STUDY in letters and _lacks_study(query):
        with suppress(ReplicaLabError):  # the link then says that its study is not here
            study = draft.own_study()
            own = own_studies.find_or_add(draft.text, study) if study else None
            query = {**query, "own": own or query.get("own", "")}
    work, problems = address.from_query(query, own_studies.find)
    if _WHOLE in letters and not problems:
        work = _from_draft(draft, work, problem, problems)
        if problems:  # this draft stays as it is, for when it can be used again
            tab.place, tab.saved = _place(), None
    return address.LinkReading(work, problems)


def _from_draft(
    draft: DraftCase | None, work: Workspace, problem: str, problems: list[str]
) -> Workspace:
    """Return the workspace of a draft; add why it cannot be used."""
    if draft is None or draft.study != work.case.study:
        remedy = problem or "ask the sender for a bundle"
        problems.append(f"This workspace is too long for a link: {remedy}.")
        return work
    try:
        case = case_here(draft.case)
    except (LibraryError, ScenarioError) as error:
        problems.append(f"The draft cannot be used: {error}.")
        return work
    return work.changed(case=case, tray=tray_of(draft, problems))


def _lacks_study(query: Mapping[str, str]) -> bool:
    own = query.get("own")
    try:
        own_studies.find(query.get("study", ""), query.get("lab", "medium"), 0, own)
    except (ScenarioError, ValueError):
        return True
    return False


def _draft_of(tab: Tab) -> tuple[DraftCase | None, str]:
    """Return what a tab's draft holds, or why it cannot be read."""
    try:
        draft = _stored(tab.place, owner())
        case = read_draft(draft.content) if draft else None
    except LibraryError as error:
        return None, str(error)
    if draft is not None:
        tab.saved = draft.saved
    return case, ""


def _stored(place: str, whose: Owner) -> StoredDraft | None:
    draft = shelf().draft(whose)
    return draft if draft and draft.place == place else None


def discard(place: str, whose: Owner) -> None:
    """Remove the draft that a tab wrote; another tab's draft stays.

    Raises:
        LibraryError: it cannot be removed.
    """
    if _stored(place, whose):
        shelf().discard_draft(whose)


def tray_of(draft: DraftCase, problems: list[str]) -> tuple[TrayCase, ...]:
    """Return a draft’s tray; report each case that cannot be used."""
    tray = []
    for name, text in draft.beside:
        try:
            kept = TrayCase.model_validate_json(text)
            kept.case.pack(own_studies.find)
            tray.append(kept)
        except (ValidationError, ScenarioError) as error:
            reason = error.faults[0].problem if isinstance(error, ScenarioError) else "unreadable"
            problems.append(f"comparison, {shortened(name)}: {reason}; it is left out.")
    return tuple(tray)


# --- the last one ---------------------------------------------------------------------------


class DraftOffer(NamedTuple):
    """A draft that one may go on with, and what it is called."""

    draft: StoredDraft
    plan: DraftCase
    name: str


def latest() -> DraftOffer | None:
    """Return this visitor's draft; None if missing or unreadable."""
    with suppress(LibraryError):
        draft = shelf().draft(owner())
        if draft and not draft.problem:
            plan = read_draft(draft.content)
            return DraftOffer(draft, plan, name_of(plan))
    return None


# --- saving ---------------------------------------------------------------------------------


def note(tab: Tab, work: Workspace, *, soon: bool) -> None:
    """Save a tab's workspace once it rests, without delay for the page."""
    if work is tab.seen:
        return
    tab.seen = work
    if not server.is_lasting():
        tab.problem = "this browser takes no cookies, so nothing of it would be found again"
        return
    whose = owner()
    save = partial(_save, tab, whose, work, kept_case(work.case))
    # A place stands in an address, and may be another visitor's: without its owner, of two drafts
    # that wait under one name the later would take the first one's turn.
    writer.later(f"draft {tab.place} of {whose.digest}", save, _SOON if soon else _LATER)


def left(tab: Tab, case: Case) -> Tab:
    """Return the tab in which another case is opened; unsaved work stays in its draft."""
    if not is_work(case) or _is_saved(tab, owner(), kept_case(case)):
        return tab
    return Tab(entry=tab.entry)


def _is_saved(tab: Tab, whose: Owner, kept: Case) -> bool:
    """Return whether the entry that a tab names holds this case."""
    if tab.entry is None:
        return False
    try:
        stored = shelf().read(whose, *tab.entry)
        return stored.entry.deleted is None and read_case(stored.content) == kept
    except LibraryError:
        return False


def _save(tab: Tab, whose: Owner, work: Workspace, kept: Case) -> None:
    """Save a tab's draft; remove it if the tab has no unsaved work."""
    case, shown = work.case, (work.case, work.tray)
    if case.own and not kept.text:
        return  # a study that is not here; its file is asked for
    try:
        is_work_here = is_work(case) or case.own
        if not work.tray and (not is_work_here or _is_saved(tab, whose, kept)):
            discard(tab.place, whose)
            tab.saved = tab.done = None
        elif shown != tab.done:
            beside = tuple(
                (each.name, each.model_dump_json(exclude_defaults=True)) for each in work.tray
            )
            draft = DraftCase(**dict(kept), beside=beside)
            tab.place, tab.saved = _put(tab, whose, case_text(draft))
            tab.done = shown
    except LibraryError as error:
        tab.problem = str(error)
        raise
    tab.problem = ""


def _put(tab: Tab, whose: Owner, content: str) -> tuple[str, datetime]:
    """Save a draft; return its place, and when it was saved.

    A reloaded page continues its draft. If another tab continued it too, the place is a new one.
    """
    place, last = tab.place, shelf().draft(whose)
    if tab.saved is None and last is not None and last.content == content:
        return last.place, last.saved
    if last is not None and last.place == place and last.saved != tab.saved:
        place = _place()
    return place, shelf().save_draft(whose, content, place).saved
