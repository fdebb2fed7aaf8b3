"""Save the workspace with one click, resolve conflicts of two tabs, and offer the draft."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Final

import streamlit as st

from replicalab import assessment, errors, lexicon, library, limits, models, scenarios, server
from replicalab.negotiation.case import read_case, record_text
from replicalab.ui import state, workspace
from replicalab.ui.controls import button, draw_table, escape, moment_text, page_link
from replicalab.ui.library_page import drafting
from replicalab.ui.library_page.shelf import owner, shelf

PAGE: Final = "pages/5_Library.py"
_NAME: Final = "kept_name"
_NOTES: Final = "kept_notes"
NONE: Final = "—"
_LABELS: Final = {
    **models.FIELD_LABELS,
    **{key: amount.label_in(lexicon.CREDITS) for key, amount in scenarios.AMOUNTS.items()},
    "lab": "Lab",
}


def keep() -> None:
    """Save the workspace: as a version of its entry, or as a new one."""
    plan, tab = drafting.case_to_save(state.case()), state.current().tab
    content, name = record_text(plan), drafting.name_of(plan)

    def save() -> library.Entry:
        before = _last_saved()
        if before and tab.entry and not before.problem:
            was, entry = read_case(before.content), before.entry
            if (was.study, was.lab, was.seed) == (plan.study, plan.lab, plan.seed):
                new = name if entry.name == drafting.name_of(was) else ""
                base = tab.entry[1]
                return shelf().update(owner(), entry.id, content, base_version=base, name=new)
        return shelf().keep(owner(), library.EntryKind.PLAN, name, content)

    _attempt(content, save, _settle)


def keep_new(kind: library.EntryKind, name: str, content: str) -> None:
    _attempt(content, lambda: shelf().save_as_new(owner(), (kind, name, content))[0], _leave)


def mark_saved(entry: library.Entry) -> None:
    """Note that an entry holds the workspace."""
    tab = state.current().tab
    tab.entry, tab.seen = (entry.id, entry.version), None


def _attempt(
    content: str, save: Callable[[], library.Entry], then: Callable[[library.Entry], None]
) -> None:
    session = state.current()
    try:
        entry = save()
    except library.LibraryConflictError as error:
        session.notice = drafting.SaveNotice(problem=str(error), newer=error.now, content=content)
    except errors.LibraryError as error:
        session.notice = drafting.SaveNotice(problem=str(error))
    else:
        then(entry)


def _last_saved() -> library.StoredVersion | None:
    if last := state.current().tab.entry:
        with suppress(errors.LibraryMissingError):
            stored = shelf().read(owner(), last[0])
            return None if stored.entry.deleted else stored
    return None


def _settle(entry: library.Entry) -> None:
    is_same = state.current().tab.entry == (entry.id, entry.version)
    mark_saved(entry)
    _leave(entry, "Nothing has changed since it was saved" if is_same else "Saved")


def _leave(entry: library.Entry, text: str = "Saved") -> None:
    state.current().notice = drafting.SaveNotice(entry, text)
    st.session_state[_NAME], st.session_state[_NOTES] = entry.name, entry.notes


def note_of(plan: assessment.Assessment) -> str:
    """Return the note of the tab's saved plan, if it is this plan in the same lab."""
    try:
        stored = _last_saved()
        saved = read_case(stored.content).assess() if stored else None
    except errors.ReplicaLabError:
        return ""
    is_same = saved and (saved.pack, saved.plan) == (plan.pack, plan.plan)
    return stored.entry.notes if stored and is_same else ""


def draw(title: str) -> None:
    """Draw the notice of the last save until the workspace changes; success on one page only."""
    notice = state.current().notice
    if notice is None:
        return
    notice.page = notice.page or title
    if notice.entry is not None and notice.page != title:
        state.current().notice = None
        return
    with st.container(border=True, key="kept"):
        if notice.newer is not None:
            _draw_conflict(notice, notice.newer)
        elif notice.problem:
            heading = "Not changed" if notice.entry else "Not saved"
            st.error(f"{heading}: {escape(notice.problem)}.", icon=":material/error:")
        if notice.entry is not None:
            _draw_kept(notice.entry, notice.text)
        close = partial(setattr, state.current(), "notice", None)
        button("Close", "close", close, key="kept_close", type="tertiary")


def _draw_kept(entry: library.Entry, text: str) -> None:
    version = f", version {entry.version}" if entry.version > 1 else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        saved = f":green[:material/check_circle:] **{text}: {escape(entry.name)}**{version}"
        st.markdown(saved, width="content")
        if not server.is_lasting():
            st.markdown("This browser takes no cookies: closing the tab loses it.")
        page_link(PAGE, "To the library", "bookmarks")
    draw_fields(entry, _NAME, _NOTES, partial(_change, entry))


def draw_fields(
    entry: library.Entry,
    name: str,
    notes: str,
    change: Callable[[Callable[[], library.Entry]], object],
) -> None:
    """Draw an entry's name and notes by their keys; ``change`` calls a function that saves it."""

    def rename() -> None:
        change(lambda: shelf().rename(owner(), entry.id, st.session_state[name]))

    def note() -> None:
        new, base = st.session_state[notes], entry.version
        change(lambda: shelf().update(owner(), entry.id, base_version=base, notes=new))

    places, most = st.columns([2, 3]), limits.LONGEST_TEXT
    places[0].text_input("Name", key=name, max_chars=limits.LONGEST_ENTRY_NAME, on_change=rename)
    places[1].text_area("Notes", key=notes, max_chars=most, height=68, on_change=note)


def _draw_conflict(notice: drafting.SaveNotice, newer: library.StoredVersion) -> None:
    content, now = notice.content, newer.entry
    st.warning(f"Not saved yet: {escape(notice.problem)}.", icon=":material/call_split:")
    if rows := differences(now.kind, newer.content, content):
        draw_table(("Difference", f"Saved, version {newer.version.number}", "Yours"), rows)
    else:
        st.markdown("Only their notes differ.")
    with st.container(horizontal=True):
        part = library.EntryKind.PLAN, drafting.name_of(read_case(content)), content
        another = partial(_attempt, content, lambda: shelf().save_as_new(owner(), part)[0], _settle)
        button("Save mine as another", "note_add", another)
        update = partial(shelf().update, owner(), now.id, content, base_version=now.version)
        over = f"Save as version {now.version + 1}"
        button(over, "history", partial(_attempt, content, update, _settle))
    st.caption("The other version stays in the history.")


def _change(entry: library.Entry, save: Callable[[], library.Entry]) -> None:
    tab = state.current().tab
    try:
        changed = save()
    except errors.LibraryError as error:
        state.current().notice = drafting.SaveNotice(entry, "Saved", problem=str(error))
        return
    if tab.entry and tab.entry[0] == entry.id:
        tab.entry = entry.id, changed.version
    _leave(changed)


def differences(kind: library.EntryKind, one: str, other: str) -> list[tuple[str, str, str]]:
    """Return the label and both values of each difference, or why a content cannot be read."""
    try:
        before, after = (
            dict(_facts("", library.ENTRY_KINDS[kind].facts(text))) for text in (one, other)
        )
    except errors.ReplicaLabError as error:
        return [("Cannot be read", str(error), "")]
    labels = dict.fromkeys((*before, *after))
    rows = ((label, before.get(label, NONE), after.get(label, NONE)) for label in labels)
    return [(label, was, now) for label, was, now in rows if was != now]


def _facts(label: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            inner = _LABELS.get(key, lexicon.capitalised(key.replace("_", " ")))
            if key != "format":
                yield from _facts(f"{label}: {inner}" if label else inner, part)
    elif isinstance(value, list) and any(isinstance(part, dict) for part in value):
        for number, part in enumerate(value, start=1):
            yield from _facts(f"{label} {number}", part)
    elif value not in (None, "", []):
        yield label, ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def draw_offer(offer: drafting.DraftOffer | None) -> None:
    """Offer to continue a draft, unless this tab wrote it."""
    if offer is None or offer.draft.place == state.current().tab.place:
        return
    with st.container(horizontal=True, vertical_alignment="center", border=True, key="offered"):
        tray = f", and {len(offer.plan.beside)} in the comparison" if offer.plan.beside else ""
        st.markdown(
            f":material/history: Unsaved work of {moment_text(offer.draft.saved)}: "
            f"**{escape(offer.name)}**{tray}",
            width="content",
        )
        button("Continue", "play_arrow", partial(_continue, offer), key="offered_on")
        button("Discard", "delete", partial(_discard, offer), key="offered_off", type="tertiary")


def _continue(offer: drafting.DraftOffer) -> None:
    session, problems = state.current(), list[str]()
    session.offered = None
    if work := drafting.from_draft(offer.plan, workspace.Workspace(), problems):
        session.tab.place, session.tab.saved = offer.draft.place, offer.draft.saved
        state.open_workspace(work)
    session.problems = problems


def _discard(offer: drafting.DraftOffer) -> None:
    state.current().offered = None
    try:
        drafting.discard(offer.draft.place, owner())
    except errors.LibraryError as error:
        state.current().problems = [str(error)]
