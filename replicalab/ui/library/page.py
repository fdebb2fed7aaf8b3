"""The page of what is kept: a list of it, and next to it the one that is chosen."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

import streamlit as st

from replicalab import server
from replicalab.errors import LibraryError
from replicalab.lexicon import capitalised, count_text, plural
from replicalab.library import DELETED_DAYS, Entry, EntryKind
from replicalab.ui import notices, own_studies, state
from replicalab.ui.controls import button, open_tab, page_link
from replicalab.ui.documents import keep_file
from replicalab.ui.files import upload
from replicalab.ui.library import drafting, keeping, one
from replicalab.ui.library.shelf import owner, shelf
from replicalab.ui.words import escaped, moment_text

_SEARCH: Final = "library_search"
_FILTER: Final = "library_filter"
_PAGE: Final = "library_page"
_CHOSEN: Final = "library_chosen"
_NAMES: Final = "library_names"
_MORE: Final = "library_more"
_ALL: Final = "All"
_DELETED: Final = "Deleted"
_FILTERS: Final = {
    _ALL: None,
    **{capitalised(plural(kind, 2)): kind for kind in EntryKind},
    _DELETED: None,
}
_ENTRIES_A_PAGE: Final = 8
_LONGEST: Final = 70  # So much of the notes stands in the list
_MIB: Final = 2**20


def draw() -> None:
    """Draw the library, or why it cannot be read."""
    notices.draw()
    try:
        library = shelf()
        for notice in library.notices:
            st.info(escaped(notice), icon=":material/info:")
        if state.current().offered is None:
            keeping.draw_offer(drafting.latest())
        search, wanted = _draw_filters()
        if found := library.entries(owner(), _FILTERS[wanted], search, deleted=wanted == _DELETED):
            _draw_list(found)
        else:
            _draw_nothing(deleted=wanted == _DELETED, searched=bool(search or wanted != _ALL))
        _draw_more()
    except LibraryError as error:
        st.error(
            f"The library cannot be used. {escaped(str(error))}.", icon=":material/folder_off:"
        )
        st.caption("All else works as before; what you do stays in this tab and in its address.")


def _draw_filters() -> tuple[str, str]:
    text, kinds = st.columns([3, 1])
    search = text.text_input(
        "Search",
        key=_SEARCH,
        max_chars=200,
        placeholder="Name, notes, study…",
        on_change=_to_first_page,
    )
    wanted = kinds.selectbox("Show", list(_FILTERS), key=_FILTER, on_change=_to_first_page)
    return search, wanted


def _to_first_page() -> None:
    st.session_state.pop(_PAGE, None)


def _draw_nothing(*, deleted: bool, searched: bool) -> None:
    if deleted:
        st.info(f"Nothing was deleted in the last {DELETED_DAYS} days.", icon=":material/delete:")
    elif searched:
        st.info("Nothing fits. Search for less, or show all.", icon=":material/search_off:")
    else:
        st.info(
            "Nothing is saved yet. **Save**, above on every page, saves the plan that you have in "
            "its lab; a lab is saved under Your lab, a negotiation on its own page, and a batch of "
            "them on Compare.",
            icon=":material/bookmarks:",
        )
        page_link("pages/1_Protocol.py", "To the plan", "tune")


def _draw_list(found: Sequence[Entry]) -> None:
    listed, chosen = st.columns([2, 3], gap="medium")
    pages = -(-len(found) // _ENTRIES_A_PAGE)
    if st.session_state.get(_PAGE, 1) > pages:
        _to_first_page()
    with listed:
        page = st.pagination(pages, key=_PAGE) if pages > 1 else 1
        shown = {
            entry.id: entry for entry in found[(page - 1) * _ENTRIES_A_PAGE :][:_ENTRIES_A_PAGE]
        }
        _choose(shown)
        entry_id = st.radio(
            count_text(len(found), "entry"),
            list(shown),
            key=_CHOSEN,
            format_func=lambda each: escaped(shown[each].name),
            captions=[_caption(entry) for entry in shown.values()],
        )
    with chosen, st.container(border=True, key="entry"):
        one.draw(shown[entry_id])


def _choose(shown: Mapping[str, Entry]) -> None:
    """Choose the first where none of these is chosen; tell the browser anew where a name changed.

    A browser knows what is chosen by its name.
    """
    names = [entry.name for entry in shown.values()]
    if st.session_state.get(_CHOSEN) not in shown:
        st.session_state[_CHOSEN] = next(iter(shown))
    elif st.session_state.get(_NAMES) != names:
        st.session_state[_CHOSEN] = st.session_state[_CHOSEN]
    st.session_state[_NAMES] = names


def _caption(entry: Entry) -> str:
    notes = " ".join(entry.notes.split())
    notes = f"{notes[:_LONGEST]}…" if len(notes) > _LONGEST else notes
    about = "" if entry.kind is EntryKind.LAB else entry.about
    parts = [capitalised(entry.kind), about, moment_text(entry.changed), notes]
    return " · ".join(escaped(part) for part in parts if part)


# --- files, and how much ----------------------------------------------------------------------


def _draw_more() -> None:
    usage = "How much is saved, and where"
    with open_tab(("Import a file", usage), _MORE) as name:
        if name == usage:
            _draw_usage()
            return
        upload(
            "A plan, lab, study, negotiation, batch or bundle",
            "library_file",
            _import,
            refused="{file} is not imported.\n{error}",
        )


def _import(data: bytes, name: str) -> None:
    taken = keep_file(data, name)
    names = ", ".join(f"{entry.name} ({entry.kind})" for entry in taken.entries)
    st.session_state[_CHOSEN] = taken.entries[0].id
    notices.leave(f"Imported and kept: {names}.")
    if taken.caution:
        notices.leave_problem(taken.caution)


def _draw_usage() -> None:
    used, name = shelf().usage(owner()), server.user_name()
    how_long = (
        "as long as this browser keeps its cookie: a year after your last visit. Nobody else sees "
        "them"
        if not name
        else f"in any browser in which you sign in as {escaped(name)}. No other visitor sees them"
    )
    st.markdown(
        f"{count_text(used.entries, 'entry')}, deleted ones "
        f"counted, in {used.size / _MIB:,.1f} MiB. They are in this server’s library, and yours "
        f"{how_long}. A deleted entry can be brought back for {DELETED_DAYS} days."
    )
    sure = st.checkbox("Delete everything that I kept, with its history and drafts")
    button("Delete it for good", "delete_forever", _forget, disabled=not sure)


def _forget() -> None:
    if notices.attempt(partial(shelf().forget, owner())):
        for scenario_id in own_studies.kept():
            own_studies.forget(scenario_id)
        tab = state.current().tab
        tab.entry = tab.saved = tab.done = None
        notices.leave("Everything that you kept is deleted for good.")
