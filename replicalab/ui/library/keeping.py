"""Keep: one click keeps the workspace, says when it is safe, and lets two tabs lose nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from replicalab.errors import LibraryError, LibraryMissingError
from replicalab.library import (
    LONGEST_NAME,
    Entry,
    Kept,
    KeptPlan,
    Kind,
    LibraryConflictError,
    plan_text,
    read_plan,
)
from replicalab.models import LONGEST_TEXT
from replicalab.ui import own_studies, state, visitor
from replicalab.ui.controls import button, page_link
from replicalab.ui.library.differences import differences
from replicalab.ui.library.shelf import keep_beside, owner, shelf
from replicalab.ui.library.work import any_name_of, kept_plan
from replicalab.ui.words import draw_table, escaped

_NAME: Final = "kept_name"
_NOTES: Final = "kept_notes"
PAGE: Final = "pages/5_Library.py"


@dataclass
class Told:
    """What came of keeping something, for the page to say.

    Attributes:
        entry: what is kept now, None where it could not be.
        text: how it went.
        problem: what is in the way, and what to do.
        there: what another tab has saved in the meantime.
        content: what was to be kept.
        before: the version that it was kept after, 0 where it is the first.
        page: where it is said first.
    """

    entry: Entry | None = None
    text: str = ""
    problem: str = ""
    there: Kept | None = None
    content: str = ""
    before: int = 0
    page: str = ""


def keep() -> None:
    """Keep the workspace: as a version of the entry that it comes from, or as a new one."""
    work = state.workspace().alone
    plan = kept_plan(work, own_studies.text_of(work.own))
    _attempt(plan_text(plan), lambda: _kept(plan), _settle)


def keep_new(kind: Kind, name: str, content: str) -> None:
    """Keep something else than the workspace, as an entry of its own."""
    name = name[:LONGEST_NAME]
    _attempt(content, lambda: keep_beside(owner(), kind, name, content), _tell)


def mark_kept(entry: Entry) -> None:
    """Remember that the workspace is what an entry holds."""
    tab = state.current().tab
    tab.entry, tab.safe, tab.seen = (entry.id, entry.version), state.workspace().alone, None


def _attempt(content: str, save: Callable[[], Entry], then: Callable[[Entry], None]) -> None:
    """Save, and remember what came of it for the page to say."""
    found = state.current()
    try:
        entry = save()
    except LibraryConflictError as error:
        found.told = Told(problem=str(error), there=error.now, content=content)
    except LibraryError as error:
        found.told = Told(problem=str(error))
    else:
        then(entry)


def _kept(plan: KeptPlan) -> Entry:
    """Return the entry that the plan now is.

    Raises:
        LibraryError: it could not be kept.
    """
    tab, content, name = state.current().tab, plan_text(plan), any_name_of(plan)
    before = _entry_before(plan)
    if before is None or tab.entry is None:
        return shelf().keep(owner(), Kind.PLAN, name, content)
    named_itself = before.entry.name == any_name_of(read_plan(before.content))
    return shelf().update(
        owner(),
        before.entry.id,
        content,
        base_version=tab.entry[1],
        name=name if named_itself else "",
    )


def _entry_before(plan: KeptPlan) -> Kept | None:
    """Return what the tab's plan was kept as, None where that is gone or of another lab."""
    if (last := state.current().tab.entry) is None:
        return None
    try:
        found = shelf().read(owner(), last[0])
    except LibraryMissingError:
        return None
    if found.entry.deleted or found.problem:
        return None
    was = read_plan(found.content)
    same = (was.study, was.lab, was.seed) == (plan.study, plan.lab, plan.seed)
    return found if same else None


def _settle(entry: Entry) -> None:
    """Say that the workspace is kept as an entry; its draft is not needed any more."""
    last = state.current().tab.entry
    mark_kept(entry)
    if last == (entry.id, entry.version):
        _tell(entry, "Nothing has changed since it was kept")
    else:
        _tell(entry, before=last[1] if last and last[0] == entry.id else 0)


def _tell(entry: Entry, text: str = "Kept", before: int = 0) -> None:
    state.current().told = Told(entry, text, before=before)
    st.session_state[_NAME], st.session_state[_NOTES] = entry.name, entry.notes


# --- what came of it ------------------------------------------------------------------------


def draw(title: str) -> None:
    """Draw what came of keeping something last; nothing once the workspace has changed.

    That it is safe is said on one page; what is in the way, until it is decided.
    """
    told = state.current().told
    if told is None:
        return
    told.page = told.page or title
    if told.entry is not None and told.page != title:
        _close()
        return
    with st.container(border=True, key="kept"):
        if told.there is not None:
            _draw_conflict(told, told.there)
        elif told.problem:
            what = "Not changed" if told.entry else "Not kept"
            st.error(f"{what}: {escaped(told.problem)}.", icon=":material/error:")
            if told.entry is None:
                _draw_close()
        if told.entry is not None:
            _draw_kept(told.entry, told)


def _draw_close() -> None:
    button("Close", "close", _close, key="kept_close", type="tertiary")


def _draw_kept(entry: Entry, told: Told) -> None:
    """Say where it is and that it is safe; its name and notes are fields."""
    version = f", version {entry.version}" if entry.version > 1 else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f":green[:material/check_circle:] **{told.text}: {escaped(entry.name)}**{version}. "
            "It is safe on the disk.",
            width="content",
        )
        if not visitor.is_known():
            st.markdown("This browser takes no cookies: once the tab is closed nobody finds it.")
        page_link(PAGE, "To the library", "bookmarks")
        if told.before:
            part = partial(_part, entry, told.before)
            button("Keep as another instead", "note_add", part, type="tertiary")
        _draw_close()
    name, notes = st.columns([2, 3])
    rename, note = partial(_rename, entry), partial(_note, entry)
    name.text_input("Name", key=_NAME, max_chars=LONGEST_NAME, on_change=rename)
    notes.text_area("Notes", key=_NOTES, max_chars=LONGEST_TEXT, height=68, on_change=note)


def _draw_conflict(told: Told, there: Kept) -> None:
    """Say what is there already, field by field beside one's own, and let one choose."""
    st.warning(f"Not kept yet: {escaped(told.problem)}.", icon=":material/call_split:")
    try:
        rows = differences(there.entry.kind, there.content, told.content)
    except LibraryError as error:
        rows = [("Cannot be read", str(error), "")]
    if rows:
        draw_table(("What differs", f"There, version {there.version.number}", "Yours"), rows)
    else:
        st.markdown("Only their notes differ.")
    with st.container(horizontal=True):
        button("Keep mine as another", "note_add", partial(_keep_beside, told))
        over = f"Save mine over it, as version {there.entry.version + 1}"
        button(over, "history", partial(_keep_over, told, there))
        _draw_close()
    st.caption("What is there stays in its history either way.")


def _keep_beside(told: Told) -> None:
    content = told.content
    name = any_name_of(read_plan(content))
    _attempt(content, lambda: keep_beside(owner(), Kind.PLAN, name, content), _settle)


def _keep_over(told: Told, there: Kept) -> None:
    content, base = told.content, there.entry.version
    update = partial(shelf().update, owner(), there.entry.id, content, base_version=base)
    _attempt(content, update, _settle)


def _part(entry: Entry, before: int) -> None:
    """Give what was kept as a version its own entry; the one that it came from is as before."""

    def parted() -> Entry:
        was, now = (shelf().read(owner(), entry.id, each) for each in (before, entry.version))
        old, new = (any_name_of(read_plan(each.content)) for each in (was, now))
        named = old if entry.name == new else entry.name  # it had named itself
        return shelf().part(owner(), entry.id, before, named=named, name=new)

    _attempt("", parted, _settle)


def _rename(entry: Entry) -> None:
    name = str(st.session_state[_NAME])
    _change(entry, lambda: shelf().rename(owner(), entry.id, name), "Renamed")


def _note(entry: Entry) -> None:
    notes, base = str(st.session_state[_NOTES]), entry.version
    _change(
        entry,
        lambda: shelf().update(owner(), entry.id, base_version=base, notes=notes),
        "Noted",
    )


def _change(entry: Entry, save: Callable[[], Entry], text: str) -> None:
    """Change an entry's name or notes; one that cannot be stays as it was, and the field says."""
    tab = state.current().tab
    try:
        changed = save()
    except LibraryError as error:
        state.current().told = Told(entry, "Kept", problem=str(error))
        return
    if tab.entry and tab.entry[0] == entry.id:
        tab.entry = entry.id, changed.version
    _tell(changed, text)


def _close() -> None:
    state.current().told = None
