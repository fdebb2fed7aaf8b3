"""Two drawers of every page: what is exported, a part for each form; and a file that is opened."""

from collections.abc import Callable
from functools import partial
from typing import Final

import streamlit as st

from replicalab.facts.blocks import Status
from replicalab.facts.check import header_panel
from replicalab.lexicon import count_text, joined
from replicalab.scenarios import lab_json
from replicalab.scenarios.writing import plan_json
from replicalab.ui import panel, state
from replicalab.ui.controls import button, open_tab, page_link
from replicalab.ui.documents import Opening, open_file
from replicalab.ui.export import documents, link, registration
from replicalab.ui.export.content import export_content
from replicalab.ui.export.documents import TABS
from replicalab.ui.files import download, upload
from replicalab.ui.words import ICONS, escaped

_OPEN: Final = "export_is_open"
_OPENING: Final = "opening_is_open"
_OPENED: Final = "handed_file_opened"


def open_drawer() -> None:
    """Open the drawer of what is exported in the run that follows."""
    st.session_state[_OPEN] = True


def open_opening() -> None:
    """Open the drawer for a file in the run that follows."""
    st.session_state.pop(_OPENED, None)
    st.session_state[_OPENING] = True


def draw_if_open() -> None:
    """Draw the drawer that was just asked for."""
    if st.session_state.pop(_OPEN, False):
        _draw()
    elif st.session_state.pop(_OPENING, False):
        _draw_opening()


@st.dialog("Share", position="right", width="medium", on_dismiss="rerun")
def _draw() -> None:
    panel.draw_scheme()
    with open_tab(_PARTS, TABS) as name:
        _PARTS[name]()


@st.dialog("Open a file", position="right", width="medium", on_dismiss="rerun")
def _draw_opening() -> None:
    panel.draw_scheme()
    upload(
        "A bundle, a negotiation, a plan, a lab (JSON), or a study (YAML)",
        "handed_file",
        _take,
    )
    opened: Opening | None = st.session_state.get(_OPENED)
    if opened is None:
        st.caption("It takes the place of what is open, which Undo brings back.")
    else:
        _draw_opened(opened)


def _draw_opened(opened: Opening) -> None:
    st.success(escaped(opened.text), icon=":material/check_circle:")
    if opened.caution:
        st.warning(escaped(opened.caution), icon=ICONS[Status.CAUTION])
    panel.draw(header_panel(state.analysis().yours, yours=state.case().plan is not None))
    with st.container(horizontal=True, vertical_alignment="center"):
        page_link("pages/1_Protocol.py", "Protocol", "tune")
        page_link("pages/2_Negotiation.py", "Negotiation", "forum")
        button("Undo", "undo", _take_back, key="handed_undo", disabled=not state.current().past)


def _take_back() -> None:
    st.session_state.pop(_OPENED, None)
    state.undo()


def _take(data: bytes, name: str) -> None:
    """Open a file that was handed in; what is refused has changed nothing."""
    st.session_state.pop(_OPENED, None)
    st.session_state[_OPENED] = open_file(data, name)


def _draw_bundle() -> None:
    """Draw the bundle, what is in it, and the smaller files."""
    found = export_content()
    plan = found.options.yours.plan
    talks = f"negotiation ({count_text(len(found.run.rounds), 'round')})" if found.run else ""
    held = joined([*filter(None, ("Study", "lab", "question", "plan", talks))])
    st.caption(
        f"{held} as one file. It opens here and elsewhere under More, Open a file, with its study."
    )
    download("Bundle", found.bundle, found.name("bundle", "json"), type="primary")
    with st.container(horizontal=True):
        alone = partial(plan_json, plan, found.written.scenario_id)
        download("Plan alone", alone, found.name("plan", "json"))
        lab = state.case().own_lab
        download("Lab alone", partial(lab_json, lab), found.name("lab", "json"))


_PARTS: Final[dict[str, Callable[[], None]]] = {
    "Link": link.draw,
    "Brief": documents.draw_brief,
    "Funding": documents.draw_funding,
    "Report": documents.draw_report,
    "Registration": registration.draw,
    "Tables": documents.draw_tables,
    "Bundle": _draw_bundle,
}
