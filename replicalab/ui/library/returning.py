"""The last draft, offered to whoever comes back without an address; never forced on anyone."""

from __future__ import annotations

from functools import partial

import streamlit as st

from replicalab.errors import LibraryError, ScenarioError
from replicalab.ui import state
from replicalab.ui.controls import button
from replicalab.ui.library import drafting
from replicalab.ui.library.cases import case_here
from replicalab.ui.library.drafting import DraftOffer
from replicalab.ui.words import escaped, moment_text
from replicalab.ui.workspace import Workspace


def draw() -> None:
    """Draw the way back to the last draft, where one is offered."""
    if (offered := state.current().offered) is not None:
        _draw(offered, "offered")


def draw_all() -> None:
    """Draw every draft, also of tabs that were closed, with the ways back to it.

    Raises:
        LibraryError: they cannot be read.
    """
    found = drafting.offers()
    for offer in found:
        _draw(offer, f"draft_{offer.draft.place}")
    if not found:
        st.info("Nothing waits to be kept.", icon=":material/done_all:")


def _draw(offer: DraftOffer, key: str) -> None:
    when = moment_text(offer.draft.saved)
    with st.container(horizontal=True, vertical_alignment="center", border=True, key=key):
        beside = f", and {len(offer.plan.beside)} beside" if offer.plan.beside else ""
        st.markdown(
            f":material/history: Not kept, from {when}: **{escaped(offer.name)}**{beside}.",
            width="content",
        )
        go_on, discard = partial(_go_on, offer), partial(_discard, offer)
        button("Go on with it", "play_arrow", go_on, key=f"{key}_on")
        button("Discard", "delete", discard, key=f"{key}_off", type="tertiary")


def _go_on(offer: DraftOffer) -> None:
    found = state.current()
    found.offered = None
    try:
        work = Workspace(case=case_here(offer.plan.case))
    except (LibraryError, ScenarioError) as error:
        found.problems = str(error).splitlines()
        return
    problems = list[str]()
    work = work.changed(tray=drafting.tray_of(offer.plan, problems))
    if not problems:  # else the draft stays as it is, for when all of it can be used again
        drafting.go_on(found.tab, offer.draft)
    state.open_workspace(work)
    found.problems = problems


def _discard(offer: DraftOffer) -> None:
    found = state.current()
    if found.offered and found.offered.draft.place == offer.draft.place:
        found.offered = None
    try:
        drafting.discard(offer.draft)
    except LibraryError as error:
        found.problems = [str(error)]
