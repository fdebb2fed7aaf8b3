"""One entry of the library: what it is, what may be done with it, and its history."""

from functools import partial
from typing import Final

import streamlit as st

from replicalab.documents import DOCUMENTS, KEPT
from replicalab.errors import ReplicaLabError
from replicalab.library import Entry, EntryKind, StoredVersion, Version
from replicalab.ui import notices, own_studies, state
from replicalab.ui.controls import button
from replicalab.ui.documents import open_entry
from replicalab.ui.files import download
from replicalab.ui.library.keeping import NONE, differences, draw_fields
from replicalab.ui.library.shelf import owner, shelf
from replicalab.ui.words import draw_table, escaped, moment_text

_CHOSEN: Final = "library_chosen"


def draw(entry: Entry) -> None:
    """Draw an entry.

    Raises:
        LibraryError: it cannot be read.
    """
    kept = shelf().read(owner(), entry.id)
    st.markdown(f"**{escaped(entry.name)}**")
    if kept.problem:
        st.warning(
            f"It can no longer be opened: {escaped(kept.problem)}. Its text is as it was saved; "
            "export it.",
            icon=":material/broken_image:",
        )
    if entry.deleted is not None:
        with st.container(horizontal=True):
            button("Bring it back", "restore_from_trash", partial(_undelete, entry))
            _draw_export(entry, kept)
            button("Delete it for good", "delete_forever", partial(_purge, entry))
        return
    _draw_acts(entry, kept)
    name, notes = f"entry_name_{entry.id}", f"entry_notes_{entry.id}"
    st.session_state[name], st.session_state[notes] = entry.name, entry.notes
    draw_fields(entry, name, notes, lambda save, _: notices.attempt(save))
    _draw_history(entry, kept)


def _draw_acts(entry: Entry, kept: StoredVersion) -> None:
    with st.container(horizontal=True):
        if st.button(
            "Open",
            icon=":material/open_in_new:",
            type="primary",
            disabled=bool(kept.problem),
        ):
            _open(entry)
        button("Duplicate", "content_copy", partial(_duplicate, entry))
        _draw_export(entry, kept)
        button("Delete", "delete", partial(_delete, entry))


def _open(entry: Entry) -> None:
    try:
        page = open_entry(entry)
    except ReplicaLabError as error:
        notices.leave_problem(f"It cannot be opened.\n{error}")
        st.rerun()
    st.switch_page(page, query_params=state.address())


def _draw_export(entry: Entry, kept: StoredVersion) -> None:
    download("Export", kept.content, f"{entry.kind}.{DOCUMENTS[KEPT[entry.kind]].suffix}")


def _duplicate(entry: Entry) -> None:
    notices.attempt(
        lambda: st.session_state.update({_CHOSEN: shelf().duplicate(owner(), entry.id).id})
    )


def _delete(entry: Entry) -> None:
    if notices.attempt(partial(shelf().delete, owner(), entry.id)) and _at_hand(entry):
        notices.leave(f"{entry.name} is deleted.", undo=partial(_undelete, entry))


def _at_hand(entry: Entry) -> bool:
    """Let the pages have of a study what the library now has; where they cannot, say so."""
    if entry.kind is not EntryKind.STUDY:
        return True
    return notices.attempt(partial(own_studies.take_stock, entry.about))


def _undelete(entry: Entry) -> None:
    if notices.attempt(partial(shelf().undelete, owner(), entry.id)):
        st.session_state[_CHOSEN] = entry.id
        if _at_hand(entry):
            notices.leave(f"{entry.name} is back.")


def _purge(entry: Entry) -> None:
    if notices.attempt(partial(shelf().purge, owner(), entry.id)):
        notices.leave(f"{entry.name} is deleted for good.")


# --- its history ------------------------------------------------------------------------------


def _draw_history(entry: Entry, kept: StoredVersion) -> None:
    if entry.version == 1:
        return
    key = f"history_{entry.id}"
    part = st.expander(f"History: {entry.version} versions", key=key, on_change="rerun")
    if not part.open:
        return
    with part:
        versions = {each.number: each for each in shelf().versions(owner(), entry.id)}
        del versions[kept.version.number]
        number = st.selectbox(
            "Earlier version",
            list(versions),
            key=f"version_{entry.id}",
            format_func=lambda each: _version_text(versions[each]),
        )
        then = shelf().read(owner(), entry.id, number)
        rows = differences(entry.kind, then.content, kept.content)
        if then.version.notes != kept.version.notes:
            rows.append(("Notes", then.version.notes or NONE, kept.version.notes or NONE))
        if rows:
            draw_table(("What differs", f"Version {number}", "Now"), rows)
        else:
            st.markdown("It is the same as now.")
        button("Restore it, as a new version", "restore", partial(_restore, entry, number))


def _version_text(version: Version) -> str:
    again = f", version {version.restored} again" if version.restored else ""
    return f"Version {version.number}{again}, {moment_text(version.saved)}"


def _restore(entry: Entry, number: int) -> None:
    if notices.attempt(partial(shelf().restore, owner(), entry.id, number)) and _at_hand(entry):
        notices.leave(
            f"Version {number} of {entry.name} is there again, as version {entry.version + 1}."
        )
