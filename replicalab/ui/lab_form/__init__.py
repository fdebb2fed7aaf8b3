"""Your lab: a drawer on every page for the values of a visitor's lab."""

from functools import partial
from typing import Final

import streamlit as st

from replicalab import errors, lexicon, library, limits, scenarios
from replicalab.facts.check_facts import header_panel
from replicalab.facts.lab_facts import own_values
from replicalab.ui import file_transfer, notices, screen, state
from replicalab.ui.controls import button, escape, open_tab
from replicalab.ui.lab_form import lab_fields
from replicalab.ui.library_page.shelf import owner, shelf

_OPEN: Final = "lab_is_open"
_NAME: Final = "lab_name"
_NOTICE: Final = "lab_kept"
_FILE: Final = "lab_file"
_LABS_SHOWN: Final = 12  # the latest; the library's page has all


def open_form() -> None:
    """Open the drawer in the next run."""
    st.session_state[_OPEN] = True
    lab_fields.redraw()


def draw_if_open() -> None:
    if st.session_state.pop(_OPEN, False):
        _draw()


def draw_way_back(key: str) -> None:
    """Draw the button that drops all overrides of the lab."""
    back = partial(lab_fields.use, scenarios.LabOverrides())
    button("Use the study’s lab", "restart_alt", back, key=key, type="tertiary")


# A drawer is a fragment: a field runs it alone, and the page is drawn again on closing.
@st.dialog("Your lab", position="right", width="medium", on_dismiss="rerun")
def _draw() -> None:
    screen.draw_scheme()
    screen.draw(header_panel(state.analysis().yours, yours=state.case().plan is not None))
    if own_values(state.author_pack(), state.analysis().yours.pack):
        draw_way_back("lab_back")
    with open_tab(_PARTS, "lab_part") as name:
        _PARTS[name]()
    state.write_address()  # a reload may come before the page writes it


def _draw_saving() -> None:
    st.session_state.setdefault(_NAME, state.case().own_lab.name or "")
    st.text_input(
        "Name of this lab",
        key=_NAME,
        max_chars=limits.LONGEST_SHORT_TITLE,
        placeholder="Our lab",
        help="A named lab stays when you open another study.",
    )
    name = str(st.session_state[_NAME]).strip()
    button("Save this lab", "bookmark_add", partial(_save, name), disabled=not name, key="keep_lab")
    notices.draw(_NOTICE)
    _draw_saved()

    def take(data: bytes, file: str) -> None:
        lab_fields.use(scenarios.read_lab(data))
        notices.leave(f"The lab of {file} is in use.", _FILE)

    file_transfer.upload("Open a lab", _FILE, take, ["json"], help="A lab file from ReplicaLab.")
    lab = scenarios.lab_json(state.case().own_lab)
    file_transfer.download("Download this lab", lab, "lab.json", key="get_lab")
    screen.draw_features("lab", state.analysis())


def _draw_saved() -> None:
    try:
        entries = shelf().entries(owner(), library.EntryKind.LAB)
    except errors.LibraryError as error:
        st.error(escape(str(error)), icon=":material/folder_off:")
        return
    overrides = state.case().own_lab
    for entry in entries[:_LABS_SHOWN]:
        with st.container(horizontal=True, vertical_alignment="center"):
            # Only an entry with the name of the lab in use is read.
            has_name = entry.about == (overrides.name or "")
            in_use = has_name and _content(entry) == scenarios.lab_json(overrides)
            st.markdown(f"{escape(entry.name)}{' · in use' if in_use else ''}")
            use = partial(notices.attempt, partial(_use, entry), _NOTICE)
            forget = partial(notices.attempt, partial(shelf().delete, owner(), entry.id), _NOTICE)
            button("Use", "check", use, key=f"use_{entry.id}", disabled=in_use)
            button("Forget", "delete", forget, key=f"forget_{entry.id}")
    if more := len(entries[_LABS_SHOWN:]):
        st.caption(f"{more} more under Library.")


def _content(entry: library.Entry) -> str:
    return shelf().read(owner(), entry.id).content


def _save(name: str) -> None:
    """Save the lab with its budget, days and staff; a saved lab of this name gets a new version."""
    lab, overrides = state.analysis().yours.pack.lab, state.case().own_lab
    changes = {"name": name, "budget": max(1, int(lab.budget)), "days": lab.days}
    currency = overrides.currency if lab.currency == lexicon.CREDITS else lab.currency
    try:
        named = overrides.model_copy(update={**changes, "staff": lab.staff, "currency": currency})
        content = scenarios.lab_json(named)
        try:
            shelf().keep(owner(), library.EntryKind.LAB, name, content)
        except library.LibraryConflictError as error:
            entry = error.now.entry
            shelf().update(owner(), entry.id, content, base_version=entry.version)
    except (errors.ReplicaLabError, ValueError) as error:
        notices.leave_problem(str(error), _NOTICE)
        return
    lab_fields.use(named)


def _use(entry: library.Entry) -> None:
    lab_fields.use(scenarios.read_lab(_content(entry).encode()))
    st.session_state[_NAME] = entry.name


_PARTS: Final = {
    "Means": lab_fields.draw_means,
    "Items": lab_fields.draw_items,
    "Rates and staff": lab_fields.draw_rates,
    "Save": _draw_saving,
}
