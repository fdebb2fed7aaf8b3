"""Drafts: the last state of each tab that nobody has kept, saved beside the pages.

An address carries most of a workspace. What it has no room for stands in the tab's draft, which the
address names under ``draft``: the tab's place, and a letter for each part that is only there.
"""

from __future__ import annotations

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

from replicalab.comparison import MOST_SIDES
from replicalab.errors import LibraryError, ReplicaLabError, ScenarioError
from replicalab.lexicon import joined
from replicalab.library import Draft, KeptDraft, Owner, plan_text, read_draft
from replicalab.scenarios import parse_study
from replicalab.ui import own_studies, visitor
from replicalab.ui.address import (
    BESIDE,
    OWN_LAB,
    PLAYED,
    LinkReading,
    beside_in,
    beside_query,
    from_query,
)
from replicalab.ui.library import writer
from replicalab.ui.library.shelf import owner, shelf
from replicalab.ui.library.work import any_name_of, is_work, kept_plan
from replicalab.ui.workspace import Beside, Workspace

_DRAFT: Final = "draft"
"""The key of an address that names its tab's draft."""
_KEPT: Final = "kept"
"""The key of an address that names the entry, and its version, that the workspace was kept as."""
ROOM: Final = 80
"""The most characters that both take there."""
_NAMED: Final = re.compile(r"([0-9a-f]{12})\.([spimb]{1,5})")
_ENTRY: Final = re.compile(r"([0-9a-f]{32})\.([0-9]{1,6})")
_STUDY: Final = "s"
_PARTS: Final = {
    "p": ("plan", "the plan"),
    "i": (OWN_LAB, "what is said of the lab’s items"),
    "m": (PLAYED, "what was played by hand"),
    "b": (BESIDE, "what stands beside"),
}
"""What an address may have no room for: its key there, and what it is called."""
_SOON: Final = 0.3
_LATER: Final = 2.0
"""Seconds of rest after which a draft is saved: where the address lacks something, and else."""


def _place() -> str:
    return secrets.token_hex(6)


@dataclass
class Tab:
    """A tab of a browser, and what the library has of it.

    Attributes:
        place: what its draft is called.
        saved: when that was saved last, None while there is none.
        seen: the workspace that was looked at last.
        done: the one that the draft holds.
        safe: the one that was kept under a name, or came from there.
        entry: the entry and the version that it was kept as, None while it never was.
        problem: why the draft could not be saved, empty where it could.
    """

    place: str = field(default_factory=_place)
    saved: datetime | None = None
    seen: Workspace | None = None
    done: Workspace | None = None
    safe: Workspace | None = None
    entry: tuple[str, int] | None = None
    problem: str = ""


# --- the address ----------------------------------------------------------------------------


def lacking(work: Workspace, carried: Workspace, query: Mapping[str, str]) -> str:
    """Return a letter for each part of a workspace that its address has no room for.

    ``carried`` is what the address, ``query``, has room for: of what stands beside, the first few.
    """
    there = {
        "p": work.protocol is not None,
        "i": work.own_lab.items,
        "m": work.moves,
        "b": work.beside,
    }
    lost = {letter for letter, (key, _) in _PARTS.items() if there[letter] and key not in query}
    if len(carried.beside) < len(work.beside):
        lost.add("b")
    return (_STUDY if work.own else "") + "".join(letter for letter in _PARTS if letter in lost)


def named(tab: Tab, letters: str) -> dict[str, str]:
    """Return what names a tab's draft in an address that lacks something, and its entry."""
    draft = {_DRAFT: f"{tab.place}.{letters}"} if letters else {}
    return draft | ({_KEPT: f"{tab.entry[0]}.{tab.entry[1]}"} if tab.entry else {})


def read(query: Mapping[str, str], tab: Tab) -> LinkReading:
    """Return the workspace of an address, with what only its draft has."""
    entry = _ENTRY.fullmatch(query.get(_KEPT, ""))
    tab.entry = (entry[1], int(entry[2])) if entry else None
    found = _NAMED.fullmatch(query.get(_DRAFT, ""))
    if found is None:
        return from_query(query, own_studies.find)
    tab.place, letters = found.groups()
    plan, problem = _draft_of(tab)
    if plan and plan.text and _STUDY in letters and _lacks_study(query):
        query = {**query, "own": _study_at_hand(plan) or query.get("own", "")}
    work, problems = from_query(query, own_studies.find)
    parts = [_PARTS[letter][1] for letter in letters if letter in _PARTS]
    if plan is not None and plan.study == work.scenario_id:
        work, lost = _filled(work, plan, letters)
        problems += lost
        if lost:  # this draft stays as it is, for when that can be used again
            tab.place, tab.saved = _place(), None
    elif parts:
        told = problem or "ask whoever sent it for a file; what it does carry is shown"
        problems.append(f"this address has no room for {joined(parts)}: {told}")
    return LinkReading(work, problems)


def _lacks_study(query: Mapping[str, str]) -> bool:
    own = query.get("own")
    try:
        own_studies.find(query.get("study", ""), query.get("lab", "medium"), 0, own)
    except (ScenarioError, ValueError):
        return True
    return False


def _draft_of(tab: Tab) -> tuple[KeptDraft | None, str]:
    """Return what a tab's draft holds, or why it cannot be read."""
    try:
        draft = shelf().draft(owner(), tab.place)
        plan = read_draft(draft.content) if draft else None
    except LibraryError as error:
        return None, str(error)
    if draft is not None:
        tab.saved = draft.saved
    return plan, ""


def _study_at_hand(plan: KeptDraft) -> str | None:
    with suppress(ReplicaLabError):
        return own_studies.at_hand(plan.text, parse_study(plan.text, "the study's file"))
    return None


def _filled(work: Workspace, plan: KeptDraft, letters: str) -> tuple[Workspace, list[str]]:
    """Return a workspace with those parts of a draft, and what of them cannot be used.

    What the address has beside stays, and may be newer; the draft has the rest.
    """
    items = work.own_lab.model_copy(update={"items": plan.own_lab.items})
    beside, problems = work.beside, list[str]()
    if "b" in letters:
        there = {each.name for each in beside}
        beside = (*beside, *beside_of(plan, problems, there))[:MOST_SIDES]
    parts = {
        "p": ("protocol", plan.plan),
        "i": ("own_lab", items),
        "m": ("moves", plan.moves),
        "b": ("beside", beside),
    }
    for letter in letters:
        if letter in parts:
            name, value = parts[letter]
            with suppress(ValidationError):  # moves that these players do not make
                work = work.changed(**{name: value})
    return work, problems


def beside_of(
    plan: KeptDraft, problems: list[str], there: Container[str] = ()
) -> tuple[Beside, ...]:
    """Return what stood beside a draft under other names; add what of it cannot be used."""
    said = [(name, dict(parse_qsl(query))) for name, query in plan.beside if name not in there]
    return beside_in(said, own_studies.find, problems)


# --- the last one ---------------------------------------------------------------------------


class Offer(NamedTuple):
    """A draft that one may go on with, and what it is called."""

    draft: Draft
    plan: KeptDraft
    name: str


def latest() -> Offer | None:
    """Return this visitor's last draft that can be opened, None where there is none."""
    with suppress(LibraryError):
        draft = shelf().draft(owner())
        return _offer(draft) if draft and not draft.problem else None
    return None


def offers() -> list[Offer]:
    """Return all of this visitor's drafts that can be opened, the last saved first.

    Raises:
        LibraryError: they cannot be read.
    """
    return [_offer(draft) for draft in shelf().drafts(owner()) if not draft.problem]


def _offer(draft: Draft) -> Offer:
    plan = read_draft(draft.content)
    return Offer(draft, plan, any_name_of(plan))


def go_on(tab: Tab, draft: Draft) -> None:
    """Let a tab go on with a draft."""
    tab.place, tab.saved = draft.place, draft.saved


def discard(draft: Draft) -> None:
    """Forget a draft.

    Raises:
        LibraryError: it cannot be forgotten now.
    """
    shelf().discard_draft(owner(), draft.place)


# --- saving ---------------------------------------------------------------------------------


def note(tab: Tab, work: Workspace, *, soon: bool) -> None:
    """Have a tab's workspace saved once it rests; the page does not wait."""
    if work is tab.seen:
        return
    tab.seen = work
    if not visitor.is_known():
        tab.problem = "this browser takes no cookies, so nothing of it would be found again"
        return
    whose = owner()
    save = partial(_save, tab, whose, work, own_studies.text_of(work.own))
    # A place stands in an address, and may be another visitor's: without its owner, of two drafts
    # that wait under one name the later would take the first one's turn.
    writer.later(f"draft {tab.place} of {whose.digest}", save, _SOON if soon else _LATER)


def _save(tab: Tab, whose: Owner, work: Workspace, text: str) -> None:
    """Save a tab's draft, or take it away where there is nothing that anybody would miss."""
    if work.own and not text:
        return  # a study that is not here; its file is asked for
    alone, work = work.alone, work.alone.changed(beside=work.beside)
    try:
        if not work.beside and (alone == tab.safe or not (is_work(alone) or alone.own)):
            if tab.saved is not None:
                shelf().discard_draft(whose, tab.place)
            tab.saved = tab.done = None
        elif work != tab.done:
            tab.place, tab.saved = _put(tab, whose, plan_text(_kept(work, text)))
            tab.done = work
    except LibraryError as error:
        tab.problem = str(error)
        raise
    tab.problem = ""


def _kept(work: Workspace, text: str) -> KeptDraft:
    beside = tuple((each.name, urlencode(beside_query(each))) for each in work.beside)
    return KeptDraft(**dict(kept_plan(work, text)), beside=beside)


def _put(tab: Tab, whose: Owner, content: str) -> tuple[str, datetime]:
    """Save a draft, and return its place, and when it was saved.

    A page that was loaded anew goes on with the draft that it left. Where another tab went on with
    the same one, this one gets a place of its own.
    """
    place, last = tab.place, shelf().draft(whose)
    if tab.saved is None and last is not None and last.content == content:
        return last.place, last.saved
    there = shelf().draft(whose, place)
    if there is not None and there.saved != tab.saved:
        place = _place()
    return place, shelf().save_draft(whose, content, place).saved
