"""Keep: one click keeps the workspace, says when it is safe, and lets two tabs lose nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from replicalab.case import Case, case_text, read_case
from replicalab.errors import LibraryError, LibraryMissingError
from replicalab.library import LONGEST_NAME, Entry, EntryKind, LibraryConflictError, StoredVersion
from replicalab.models import LONGEST_TEXT
from replicalab.server import visitor
from replicalab.ui import state
from replicalab.ui.controls import button, page_link
from replicalab.ui.library.cases import any_name_of, kept_case
from replicalab.ui.library.differences import differences
from replicalab.ui.library.shelf import keep_beside, owner, shelf
from replicalab.ui.words import draw_table, escaped

_NAME: Final = "kept_name"
_NOTES: Final = "kept_notes"
PAGE: Final = "pages/5_Library.py"


@dataclass
class SaveNotice:
    """What came of keeping something, for the page to say.

    Attributes:
        entry: what is kept now, None where it could not be.
        there: what another tab has saved in the meantime.
        content: what was to be kept.
        before: the version that it was kept after, 0 where it is the first.
        page: where it is said first.
    """

    entry: Entry | None = None
    text: str = ""
    problem: str = ""
    there: StoredVersion | None = None
    content: str = ""
    before: int = 0
    page: str = ""


def keep() -> None:
    """Keep the workspace: as a version of the entry that it comes from, or as a new one."""
    plan = kept_case(state.case())
    _attempt(case_text(plan), lambda: _kept(plan), _settle)


def keep_new(kind: EntryKind, name: str, content: str) -> None:
    """Keep something else than the workspace, as an entry of its own."""
    name = name[:LONGEST_NAME]
    _attempt(content, lambda: keep_beside(owner(), kind, name, content), _leave)


def mark_kept(entry: Entry) -> None:
    """Remember that the workspace is what an entry holds."""
    tab = state.current().tab
    tab.entry, tab.safe, tab.seen = (entry.id, entry.version), state.case(), None


def _attempt(content: str, save: Callable[[], Entry], then: Callable[[Entry], None]) -> None:
    found = state.current()
    try:
        entry = save()
    except LibraryConflictError as error:
        found.notice = SaveNotice(problem=str(error), there=error.now, content=content)
    except LibraryError as error:
        found.notice = SaveNotice(problem=str(error))
    else:
        then(entry)


def _kept(plan: Case) -> Entry:
    tab, content, name = state.current().tab, case_text(plan), any_name_of(plan)
    before = _entry_before(plan)
    if before is None or tab.entry is None:
        return shelf().keep(owner(), EntryKind.PLAN, name, content)
    named_itself = before.entry.name == any_name_of(read_case(before.content))
    return shelf().update(
        owner(),
        before.entry.id,
        content,
        base_version=tab.entry[1],
        name=name if named_itself else "",
    )


def _entry_before(plan: Case) -> StoredVersion | None:
    """Return what the tab's plan was kept as, None where that is gone or of another lab."""
    if (last := state.current().tab.entry) is None:
        return None
    try:
        found = shelf().read(owner(), last[0])
    except LibraryMissingError:
        return None
    if found.entry.deleted or found.problem:
        return None
    was = read_case(found.content)
    same = (was.study, was.lab, was.seed) == (plan.study, plan.lab, plan.seed)
    return found if same else None


def _settle(entry: Entry) -> None:
    last = state.current().tab.entry
    mark_kept(entry)
    if last == (entry.id, entry.version):
        _leave(entry, "Nothing has changed since it was kept")
    else:
        _leave(entry, before=last[1] if last and last[0] == entry.id else 0)


def _leave(entry: Entry, text: str = "Kept", before: int = 0) -> None:
    state.current().notice = SaveNotice(entry, text, before=before)
    st.session_state[_NAME], st.session_state[_NOTES] = entry.name, entry.notes


# --- what came of it ------------------------------------------------------------------------


def draw(title: str) -> None:
    """Draw what came of keeping something last; nothing once the workspace has changed.

    That it is safe is said on one page; what is in the way, until it is decided.
    """
    notice = state.current().notice
    if notice is None:
        return
    notice.page = notice.page or title
    if notice.entry is not None and notice.page != title:
        _close()
        return
    with st.container(border=True, key="kept"):
        if notice.there is not None:
            _draw_conflict(notice, notice.there)
        elif notice.problem:
            what = "Not changed" if notice.entry else "Not kept"
            st.error(f"{what}: {escaped(notice.problem)}.", icon=":material/error:")
            if notice.entry is None:
                _draw_close()
        if notice.entry is not None:
            _draw_kept(notice.entry, notice)


def _draw_close() -> None:
    button("Close", "close", _close, key="kept_close", type="tertiary")


def _draw_kept(entry: Entry, notice: SaveNotice) -> None:
    version = f", version {entry.version}" if entry.version > 1 else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f":green[:material/check_circle:] **{notice.text}: {escaped(entry.name)}**{version}. "
            "It is safe on the disk.",
            width="content",
        )
        if not visitor.is_known():
            st.markdown("This browser takes no cookies: once the tab is closed nobody finds it.")
        page_link(PAGE, "To the library", "bookmarks")
        if notice.before:
            part = partial(_part, entry, notice.before)
            button("Keep as another instead", "note_add", part, type="tertiary")
        _draw_close()
    name, notes = st.columns([2, 3])
    rename, note = partial(_rename, entry), partial(_note, entry)
    name.text_input("Name", key=_NAME, max_chars=LONGEST_NAME, on_change=rename)
    notes.text_area("Notes", key=_NOTES, max_chars=LONGEST_TEXT, height=68, on_change=note)


def _draw_conflict(notice: SaveNotice, there: StoredVersion) -> None:
    """Say what is there already, field by field beside one's own, and let one choose."""
    st.warning(f"Not kept yet: {escaped(notice.problem)}.", icon=":material/call_split:")
    if rows := differences(there.entry.kind, there.content, notice.content):
        draw_table(("What differs", f"There, version {there.version.number}", "Yours"), rows)
    else:
        st.markdown("Only their notes differ.")
    with st.container(horizontal=True):
        button("Keep mine as another", "note_add", partial(_keep_beside, notice))
        over = f"Save mine over it, as version {there.entry.version + 1}"
        button(over, "history", partial(_keep_over, notice, there))
        _draw_close()
    st.caption("What is there stays in its history either way.")


def _keep_beside(notice: SaveNotice) -> None:
    content = notice.content
    name = any_name_of(read_case(content))
    _attempt(content, lambda: keep_beside(owner(), EntryKind.PLAN, name, content), _settle)


def _keep_over(notice: SaveNotice, there: StoredVersion) -> None:
    content, base = notice.content, there.entry.version
    update = partial(shelf().update, owner(), there.entry.id, content, base_version=base)
    _attempt(content, update, _settle)


def _part(entry: Entry, before: int) -> None:
    """Give what was kept as a version its own entry; the one that it came from is as before."""

    def parted() -> Entry:
        was, now = (shelf().read(owner(), entry.id, each) for each in (before, entry.version))
        old, new = (any_name_of(read_case(each.content)) for each in (was, now))
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
        state.current().notice = SaveNotice(entry, "Kept", problem=str(error))
        return
    if tab.entry and tab.entry[0] == entry.id:
        tab.entry = entry.id, changed.version
    _leave(changed, text)


def _close() -> None:
    state.current().notice = None
