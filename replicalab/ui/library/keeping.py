"""Save the workspace with one click, resolve conflicts of two tabs, and offer the draft."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Final

import streamlit as st

from replicalab import errors, library, scenarios, server
from replicalab.assessment import Assessment
from replicalab.case import Case, case_text, read_case
from replicalab.lexicon import CREDITS, capitalised
from replicalab.models import FIELD_LABELS, LONGEST_TEXT
from replicalab.ui import state
from replicalab.ui.controls import button, page_link
from replicalab.ui.library import drafting
from replicalab.ui.library.cases import case_here, kept_case, name_of
from replicalab.ui.library.drafting import DraftOffer
from replicalab.ui.library.shelf import keep_beside, owner, shelf
from replicalab.ui.words import draw_table, escaped, moment_text
from replicalab.ui.workspace import Workspace

PAGE: Final = "pages/5_Library.py"
_NAME: Final = "kept_name"
_NOTES: Final = "kept_notes"
NONE: Final = "—"
_NAMES: Final = {
    **FIELD_LABELS,
    **{key: amount.label_in(CREDITS) for key, amount in scenarios.AMOUNTS.items()},
    "lab": "Lab",
}
_LONGEST: Final = 300  # Of a longer text its beginning is shown, and its length


@dataclass
class SaveNotice:
    """What came of keeping something, for the page to say.

    Attributes:
        entry: what is kept now, None where it could not be.
        there: what another tab has saved in the meantime.
        content: what was to be kept.
        page: where it is said first.
    """

    entry: library.Entry | None = None
    text: str = ""
    problem: str = ""
    there: library.StoredVersion | None = None
    content: str = ""
    page: str = ""


def keep() -> None:
    """Keep the workspace: as a version of the entry that it comes from, or as a new one."""
    plan = kept_case(state.case())
    _attempt(case_text(plan), lambda: _kept(plan), _settle)


def keep_new(kind: library.EntryKind, name: str, content: str) -> None:
    """Keep something else than the workspace, as an entry of its own."""
    name = name[: library.LONGEST_NAME]
    _attempt(content, lambda: keep_beside(owner(), kind, name, content), _leave)


def mark_kept(entry: library.Entry) -> None:
    """Remember that the workspace is what an entry holds."""
    tab = state.current().tab
    tab.entry, tab.seen = (entry.id, entry.version), None


def _attempt(
    content: str, save: Callable[[], library.Entry], then: Callable[[library.Entry], None]
) -> None:
    found = state.current()
    try:
        entry = save()
    except library.LibraryConflictError as error:
        found.notice = SaveNotice(problem=str(error), there=error.now, content=content)
    except errors.LibraryError as error:
        found.notice = SaveNotice(problem=str(error))
    else:
        then(entry)


def _kept(plan: Case) -> library.Entry:
    tab, content, name = state.current().tab, case_text(plan), name_of(plan)
    before = _entry_before(plan)
    if before is None or tab.entry is None:
        return shelf().keep(owner(), library.EntryKind.PLAN, name, content)
    named_itself = before.entry.name == name_of(read_case(before.content))
    return shelf().update(
        owner(),
        before.entry.id,
        content,
        base_version=tab.entry[1],
        name=name if named_itself else "",
    )


def _entry_before(plan: Case) -> library.StoredVersion | None:
    """Return what the tab's plan was kept as, None where that is gone or of another lab."""
    if (last := state.current().tab.entry) is None:
        return None
    try:
        found = shelf().read(owner(), last[0])
    except errors.LibraryMissingError:
        return None
    if found.entry.deleted or found.problem:
        return None
    was = read_case(found.content)
    same = (was.study, was.lab, was.seed) == (plan.study, plan.lab, plan.seed)
    return found if same else None


def _settle(entry: library.Entry) -> None:
    last = state.current().tab.entry
    mark_kept(entry)
    if last == (entry.id, entry.version):
        _leave(entry, "Nothing has changed since it was saved")
    else:
        _leave(entry)


def _leave(entry: library.Entry, text: str = "Saved") -> None:
    state.current().notice = SaveNotice(entry, text)
    st.session_state[_NAME], st.session_state[_NOTES] = entry.name, entry.notes


def note_of(plan: Assessment) -> str:
    """Return the note of the tab's saved plan, if it is this plan in the same lab."""
    if (last := state.current().tab.entry) is None:
        return ""
    try:
        found = shelf().read(owner(), last[0])
        saved = read_case(found.content).assessed()
    except errors.ReplicaLabError:
        return ""
    same = (saved.pack, saved.plan) == (plan.pack, plan.plan)
    return found.entry.notes if same and not found.entry.deleted else ""


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
            what = "Not changed" if notice.entry else "Not saved"
            st.error(f"{what}: {escaped(notice.problem)}.", icon=":material/error:")
            if notice.entry is None:
                _draw_close()
        if notice.entry is not None:
            _draw_kept(notice.entry, notice)


def _draw_close() -> None:
    button("Close", "close", _close, key="kept_close", type="tertiary")


def _draw_kept(entry: library.Entry, notice: SaveNotice) -> None:
    version = f", version {entry.version}" if entry.version > 1 else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            f":green[:material/check_circle:] **{notice.text}: {escaped(entry.name)}**{version}",
            width="content",
        )
        if not server.is_lasting():
            st.markdown("This browser takes no cookies: once the tab is closed nobody finds it.")
        page_link(PAGE, "To the library", "bookmarks")
        _draw_close()
    draw_fields(entry, _NAME, _NOTES, partial(_change, entry), wide=True)


def draw_fields(
    entry: library.Entry,
    name: str,
    notes: str,
    change: Callable[[Callable[[], library.Entry], str], object],
    *,
    wide: bool = False,
) -> None:
    """Draw an entry's name and notes by their keys, next to each other where there is room.

    ``change`` is given what saves the one that was typed, and what to call that.
    """
    typed = st.session_state
    places: Sequence[AbstractContextManager[object]] = (
        st.columns([2, 3]) if wide else [nullcontext(), nullcontext()]
    )

    def rename() -> None:
        change(lambda: shelf().rename(owner(), entry.id, str(typed[name])), "Renamed")

    def note() -> None:
        new, base = str(typed[notes]), entry.version
        save = partial(shelf().update, owner(), entry.id, base_version=base, notes=new)
        change(save, "Noted")

    with places[0]:
        st.text_input("Name", key=name, max_chars=library.LONGEST_NAME, on_change=rename)
    with places[1]:
        height = 68 if wide else 90
        st.text_area("Notes", key=notes, max_chars=LONGEST_TEXT, height=height, on_change=note)


def _draw_conflict(notice: SaveNotice, there: library.StoredVersion) -> None:
    """Say what is there already, field by field next to one's own, and let one choose."""
    content, now = notice.content, there.entry

    def keep_another() -> library.Entry:
        return keep_beside(owner(), library.EntryKind.PLAN, name_of(read_case(content)), content)

    def keep_over() -> library.Entry:
        return shelf().update(owner(), now.id, content, base_version=now.version)

    st.warning(f"Not saved yet: {escaped(notice.problem)}.", icon=":material/call_split:")
    if rows := differences(now.kind, there.content, content):
        draw_table(("What differs", f"There, version {there.version.number}", "Yours"), rows)
    else:
        st.markdown("Only their notes differ.")
    with st.container(horizontal=True):
        for label, icon, save in (
            ("Save mine as another", "note_add", keep_another),
            (f"Save mine over it, as version {now.version + 1}", "history", keep_over),
        ):
            button(label, icon, partial(_attempt, content, save, _settle))
        _draw_close()
    st.caption("What is there stays in its history either way.")


def _change(entry: library.Entry, save: Callable[[], library.Entry], done: str) -> None:
    """Change an entry's name or notes; one that cannot be stays as it was, and the field says."""
    tab = state.current().tab
    try:
        changed = save()
    except errors.LibraryError as error:
        state.current().notice = SaveNotice(entry, "Saved", problem=str(error))
        return
    if tab.entry and tab.entry[0] == entry.id:
        tab.entry = entry.id, changed.version
    _leave(changed, done)


def _close() -> None:
    state.current().notice = None


# --- what differs between two contents -------------------------------------------------------


def differences(kind: library.EntryKind, one: str, other: str) -> list[tuple[str, str, str]]:
    """Return what of two contents differs: what it is called, and both; or why none can be read."""
    try:
        before, after = (dict(_facts("", library.KINDS[kind].facts(text))) for text in (one, other))
    except errors.ReplicaLabError as error:
        return [("Cannot be read", str(error), "")]
    names = list(dict.fromkeys((*before, *after)))
    pairs = ((name, before.get(name, NONE), after.get(name, NONE)) for name in names)
    return [(name, _short(was), _short(now)) for name, was, now in pairs if was != now]


def _facts(name: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            called = _NAMES.get(key, capitalised(key.replace("_", " ")))
            if key != "format":
                yield from _facts(f"{name}: {called}" if name else called, each)
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        for number, each in enumerate(value, start=1):
            yield from _facts(f"{name} {number}", each)
    elif value not in (None, "", []):
        yield name, ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _short(text: str) -> str:
    more = len(text) - _LONGEST
    return f"{text[:_LONGEST]}… ({more:,} characters more)" if more > 0 else text


# --- the draft --------------------------------------------------------------------------------


def draw_offer(offer: DraftOffer | None) -> None:
    """Offer to continue a draft, unless this tab wrote it."""
    if offer is None or offer.draft.place == state.current().tab.place:
        return
    when = moment_text(offer.draft.saved)
    with st.container(horizontal=True, vertical_alignment="center", border=True, key="offered"):
        tray = f", and {len(offer.plan.beside)} in the comparison" if offer.plan.beside else ""
        st.markdown(
            f":material/history: Not saved, from {when}: **{escaped(offer.name)}**{tray}",
            width="content",
        )
        button("Go on with it", "play_arrow", partial(_continue, offer), key="offered_on")
        button("Discard", "delete", partial(_discard, offer), key="offered_off", type="tertiary")


def _continue(offer: DraftOffer) -> None:
    session = state.current()
    session.offered = None
    try:
        work = Workspace(case=case_here(offer.plan.case))
    except (errors.LibraryError, errors.ScenarioError) as error:
        session.problems = str(error).splitlines()
        return
    problems = list[str]()
    work = work.changed(tray=drafting.tray_of(offer.plan, problems))
    session.tab.place, session.tab.saved = offer.draft.place, offer.draft.saved
    state.open_workspace(work)
    session.problems = problems


def _discard(offer: DraftOffer) -> None:
    state.current().offered = None
    try:
        drafting.discard(offer.draft.place, owner())
    except errors.LibraryError as error:
        state.current().problems = [str(error)]
