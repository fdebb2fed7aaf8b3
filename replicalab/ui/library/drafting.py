"""The draft: a browser's last unsaved state, saved in the background.

An address carries most of a workspace. Parts that are too long for it are read from the draft. The
address names them under ``draft``: the tab that wrote the draft, and a letter for each part.
"""

import re
import secrets
from collections.abc import Container, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urlencode

from pydantic import ValidationError

from replicalab import server
from replicalab.case import MOST_SIDES, Case, DraftCase, case_text, read_draft
from replicalab.errors import LibraryError, ReplicaLabError, ScenarioError
from replicalab.lexicon import joined
from replicalab.library import Owner, StoredDraft
from replicalab.ui import address, own_studies
from replicalab.ui.library import writer
from replicalab.ui.library.cases import is_work, kept_case, name_of
from replicalab.ui.library.shelf import owner, shelf
from replicalab.ui.workspace import TrayCase, Workspace

_DRAFT: Final = "draft"  # The key of an address that names its tab's draft
# The key of an address that names the entry, and its version, that the case was kept as.
_KEPT: Final = "kept"
ROOM: Final = 80
"""The most characters that both take there."""
_NAMED: Final = re.compile(r"([0-9a-f]{12})\.([spimbtr]{1,7})")
_ENTRY: Final = re.compile(r"([0-9a-f]{32})\.([0-9]{1,6})")
_STUDY: Final = "s"
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
        safe: the one that was kept under a name, or came from there.
        entry: the entry and the version that it was kept as, None while it never was.
        problem: why the draft could not be saved, empty where it could.
    """

    place: str = field(default_factory=_place)
    saved: datetime | None = None
    seen: Workspace | None = None
    done: tuple[Case, tuple[TrayCase, ...]] | None = None
    safe: Case | None = None
    entry: tuple[str, int] | None = None
    problem: str = ""


# --- the address ----------------------------------------------------------------------------


def named(tab: Tab, work: Workspace, carried: Workspace) -> dict[str, str]:
    """Return what names a tab's draft and its entry in the address of a workspace.

    The draft is named with a letter for each part that the address, which is that of ``carried``,
    has no room for: only those are read back from it, as all else may be newer in the address.
    """
    letters = (_STUDY if work.case.own else "") + "".join(address.left_out(work, carried))
    draft = {_DRAFT: f"{tab.place}.{letters}"} if letters else {}
    return draft | ({_KEPT: f"{tab.entry[0]}.{tab.entry[1]}"} if tab.entry else {})


def read(query: Mapping[str, str], tab: Tab) -> address.LinkReading:
    """Return the workspace of an address, with what only its draft has."""
    entry = _ENTRY.fullmatch(query.get(_KEPT, ""))
    tab.entry = (entry[1], int(entry[2])) if entry else None
    found = _NAMED.fullmatch(query.get(_DRAFT, ""))
    if found is None:
        return address.from_query(query, own_studies.find)
    tab.place, letters = found.groups()
    draft, problem = _draft_of(tab)
    if draft and draft.text and _STUDY in letters and _lacks_study(query):
        with suppress(ReplicaLabError):  # its file is asked for then
            study = draft.own_study()
            own = own_studies.find_or_add(draft.text, study) if study else None
            query = {**query, "own": own or query.get("own", "")}
    work, problems = address.from_query(query, own_studies.find)
    parts = {letter: address.PARTS[letter] for letter in letters if letter in address.PARTS}
    if draft is not None and draft.study == work.case.study:
        known = len(problems)
        for part in parts.values():
            with suppress(ValidationError):  # moves that these players do not make
                work = address.put(work, part.path, _held(draft, part.path, work, problems))
        if problems[known:]:  # this draft stays as it is, for when that can be used again
            tab.place, tab.saved = _place(), None
    elif parts:
        remedy = problem or "ask whoever sent it for a file; what it does carry is shown"
        lost = joined([part.called for part in parts.values()])
        problems.append(f"this address has no room for {lost}: {remedy}")
    return address.LinkReading(work, problems)


def _held(draft: DraftCase, path: str, work: Workspace, problems: list[str]) -> object:
    """Return what a draft holds of a part; add what of it cannot be used.

    The cases of the address stay, and may be newer; the draft has the rest of the tray.
    """
    if path == "tray":
        there = {each.name for each in work.tray}
        return (*work.tray, *tray_of(draft, problems, there))[:MOST_SIDES]
    return address.at(draft, path)  # as a draft has its case


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


def tray_of(
    draft: DraftCase, problems: list[str], there: Container[str] = ()
) -> tuple[TrayCase, ...]:
    """Return a draft's tray, without these names; add what of it cannot be used."""
    cases = [(name, dict(parse_qsl(query))) for name, query in draft.beside if name not in there]
    return address.tray_in(cases, own_studies.find, problems)


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
    if case == tab.safe or not is_work(case):
        return tab
    return Tab(safe=tab.safe, entry=tab.entry)


def _save(tab: Tab, whose: Owner, work: Workspace, kept: Case) -> None:
    """Save a tab's draft; remove it if the tab has no unsaved work."""
    case, shown = work.case, (work.case, work.tray)
    if case.own and not kept.text:
        return  # a study that is not here; its file is asked for
    try:
        if not work.tray and (case == tab.safe or not (is_work(case) or case.own)):
            discard(tab.place, whose)
            tab.saved = tab.done = None
        elif shown != tab.done:
            beside = tuple((each.name, urlencode(address.tray_query(each))) for each in work.tray)
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
