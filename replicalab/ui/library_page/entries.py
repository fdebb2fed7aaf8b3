"""The Library page: the list of entries, and next to it the chosen one."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

import streamlit as st

from replicalab import documents, errors, lexicon, scenarios, server
from replicalab.library import DELETED_DAYS, Entry, EntryKind, Owner, StoredVersion
from replicalab.ui import controls, file_kinds, file_transfer, notices, own_studies, state
from replicalab.ui.library_page import drafting, keeping
from replicalab.ui.library_page.shelf import owner, shelf

_PAGE: Final = "library_page"
_CHOSEN: Final = "library_chosen"
_NAMES: Final = "library_names"
_ALL: Final = "All"
_DELETED: Final = "Deleted"
_KINDS: Final = {lexicon.capitalised(lexicon.plural(kind, 2)): kind for kind in EntryKind}
_PAGE_SIZE: Final = 8


def draw() -> None:
    notices.draw()
    try:
        library = shelf()
        for notice in library.notices:
            st.info(controls.escape(notice), icon=":material/info:")
        if state.current().offered is None:
            keeping.draw_offer(drafting.latest_draft())
        search, show = _draw_filters()
        entries = library.entries(owner(), _KINDS.get(show), search, deleted=show == _DELETED)
        if entries:
            _draw_list(entries)
        elif search or show != _ALL:
            text = "No entry matches. Clear the search, or show all."
            st.info(text, icon=":material/search_off:")
        else:
            text = "Nothing is saved yet. Press **Save** at the top of any page."
            st.info(text, icon=":material/bookmarks:")
            controls.page_link("pages/1_Protocol.py", "To the plan", "tune")
        usage = "Space in use"
        with controls.open_tab(("Import a file", usage), "library_more") as name:
            if name == usage:
                _draw_usage()
            else:
                label = "File to import"
                refused = "{file} is not imported.\n{error}"
                file_transfer.upload(label, "library_file", _import, refused=refused)
    except errors.LibraryError as error:
        text = f"The library cannot be used. {controls.escape(lexicon.capitalised(str(error)))}."
        st.error(text, icon=":material/folder_off:")
        st.caption("All else works as before; your plan stays in this tab and in its address.")


def _draw_filters() -> tuple[str, str]:
    text, kinds = st.columns([3, 1])
    key, hint = "library_search", "Name, notes, study…"
    search = text.text_input(
        "Search", key=key, max_chars=200, placeholder=hint, on_change=_to_first_page
    )
    shown = [_ALL, *_KINDS, _DELETED]
    return search, kinds.selectbox("Show", shown, key="library_filter", on_change=_to_first_page)


def _to_first_page() -> None:
    st.session_state.pop(_PAGE, None)


def _draw_list(entries: Sequence[Entry]) -> None:
    listed, chosen = st.columns([2, 3], gap="medium")
    pages = -(-len(entries) // _PAGE_SIZE)
    if st.session_state.get(_PAGE, 1) > pages:
        _to_first_page()
    with listed:
        page = st.pagination(pages, key=_PAGE) if pages > 1 else 1
        first = (page - 1) * _PAGE_SIZE
        visible = {entry.id: entry for entry in entries[first : first + _PAGE_SIZE]}
        _choose(visible)
        entry_id = st.radio(
            lexicon.count_text(len(entries), "entry"),
            list(visible),
            key=_CHOSEN,
            format_func=lambda key: controls.escape(visible[key].name),
            captions=[_caption(entry) for entry in visible.values()],
        )
    with chosen, st.container(border=True, key="entry"):
        _draw_entry(visible[entry_id])


def _choose(visible: Mapping[str, Entry]) -> None:
    names = [entry.name for entry in visible.values()]
    if st.session_state.get(_CHOSEN) not in visible:
        st.session_state[_CHOSEN] = next(iter(visible))
    elif st.session_state.get(_NAMES) != names:
        # The browser knows the chosen entry by its name, so a changed name is sent again.
        st.session_state[_CHOSEN] = st.session_state[_CHOSEN]
    st.session_state[_NAMES] = names


def _caption(entry: Entry) -> str:
    notes = lexicon.shortened(" ".join(entry.notes.split()), 70)
    names = {summary.scenario_id: summary.paper.name for summary in scenarios.list_scenarios()}
    about = ", ".join(names.get(study, study) for study in entry.about.split(", "))
    about = "" if entry.kind is EntryKind.LAB else about
    parts = [lexicon.capitalised(entry.kind), about, controls.moment_text(entry.changed), notes]
    return " · ".join(controls.escape(part) for part in parts if part)


def _draw_entry(entry: Entry) -> None:
    version = shelf().read(owner(), entry.id)
    st.markdown(f"**{controls.escape(entry.name)}**")
    if version.problem:
        text = f"It can no longer be opened, only exported: {controls.escape(version.problem)}."
        st.warning(text, icon=":material/broken_image:")
    file = f"{entry.kind}.{documents.DOCUMENTS[documents.KEPT[entry.kind]].suffix}"

    def duplicate() -> None:
        st.session_state[_CHOSEN] = shelf().duplicate(owner(), entry.id).id

    with st.container(horizontal=True):
        back = partial(_act, entry, shelf().undelete, f"{entry.name} is back.")
        if entry.deleted is not None:
            controls.button("Bring it back", "restore_from_trash", back)
            file_transfer.download("Export", version.content, file)
            purge = partial(_act, entry, shelf().purge, f"{entry.name} is deleted for good.")
            controls.button("Delete it for good", "delete_forever", purge)
            return
        is_pressed = st.button(
            "Open", icon=":material/open_in_new:", type="primary", disabled=bool(version.problem)
        )
        if is_pressed:
            _open(entry)
        controls.button("Duplicate", "content_copy", partial(notices.attempt, duplicate))
        file_transfer.download("Export", version.content, file)
        delete = partial(_act, entry, shelf().delete, f"{entry.name} is deleted.", back)
        controls.button("Delete", "delete", delete)
    name, notes = f"entry_name_{entry.id}", f"entry_notes_{entry.id}"
    st.session_state[name], st.session_state[notes] = entry.name, entry.notes
    keeping.draw_fields(entry, name, notes, notices.attempt)
    if entry.version > 1:
        _draw_history(entry, version)


def _open(entry: Entry) -> None:
    try:
        page = file_kinds.open_entry(entry)
    except errors.ReplicaLabError as error:
        notices.leave_problem(f"It cannot be opened.\n{error}")
        st.rerun()
    st.switch_page(page, query_params=state.address())


def _act(
    entry: Entry,
    act: Callable[[Owner, str], object],
    text: str,
    undo: Callable[[], None] | None = None,
) -> None:
    if not notices.attempt(lambda: act(owner(), entry.id)):
        return
    if entry.kind is EntryKind.STUDY:
        notices.attempt(partial(own_studies.reload, entry.about))
    st.session_state[_CHOSEN] = entry.id
    notices.leave(text, undo=undo)


def _draw_history(entry: Entry, newest: StoredVersion) -> None:
    key = f"history_{entry.id}"
    with controls.fold(f"History: {entry.version} versions", key) as is_open:
        if not is_open:
            return
        names = {}
        for version in shelf().versions(owner(), entry.id):
            again = f", version {version.restored} again" if version.restored else ""
            saved = controls.moment_text(version.saved)
            names[version.number] = f"Version {version.number}{again}, {saved}"
        del names[newest.version.number]
        number = st.selectbox(
            "Earlier version", list(names), key=f"version_{entry.id}", format_func=names.__getitem__
        )
        then = shelf().read(owner(), entry.id, number)
        rows = keeping.differences(entry.kind, then.content, newest.content)
        if then.version.notes != newest.version.notes:
            notes = (then.version.notes or keeping.NONE, newest.version.notes or keeping.NONE)
            rows.append(("Notes", *notes))
        if rows:
            controls.draw_table(("Difference", f"Version {number}", "Now"), rows)
        else:
            st.markdown("It is the same as now.")
        text = f"Version {number} of {entry.name} is restored as {entry.version + 1}."
        restore = partial(_act, entry, partial(shelf().restore, number=number), text)
        controls.button("Restore this version", "restore", restore)


def _import(data: bytes, name: str) -> None:
    entries, caution = file_kinds.keep_file(data, name)
    names = ", ".join(f"{entry.name} ({entry.kind})" for entry in entries)
    st.session_state[_CHOSEN] = entries[0].id
    notices.leave(f"Imported and saved: {names}.")
    notices.leave_problem(caution)


def _draw_usage() -> None:
    used, name = shelf().usage(owner()), server.user_name()
    size = f"{used.size / 2**20:,.1f} MiB"
    size = "under 0.1 MiB" if size == "0.0 MiB" else size
    reach = (
        f"in any browser in which you sign in as {controls.escape(name)}"
        if name
        else "as long as this browser keeps its cookie: a year after your last visit"
    )
    st.markdown(
        f"{lexicon.count_text(used.entries, 'entry')} in {size}, deleted ones included. Only you "
        f"can open them, {reach}. A deleted entry can be brought back for {DELETED_DAYS} days."
    )
    sure = st.checkbox("Delete everything I saved", help="With its versions and drafts.")
    controls.button("Delete it for good", "delete_forever", _forget, disabled=not sure)


def _forget() -> None:
    if notices.attempt(partial(shelf().forget, owner())):
        for scenario_id in own_studies.studies():
            own_studies.forget(scenario_id)
        tab = state.current().tab
        tab.entry = tab.saved = tab.done = None
        notices.leave("Everything that you saved is deleted for good.")
