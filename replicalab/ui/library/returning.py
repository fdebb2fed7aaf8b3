"""The last draft, offered to whoever comes back without an address; never forced on anyone."""

from __future__ import annotations

from functools import partial

import streamlit as st

from replicalab.errors import LibraryError, ScenarioError
from replicalab.ui import state
from replicalab.ui.controls import button
from replicalab.ui.library import drafting
from replicalab.ui.library.drafting import Offer
from replicalab.ui.library.moments import moment_text
from replicalab.ui.library.work import workspace_of
from replicalab.ui.words import escaped


def draw() -> None:
    """Draw the way back to the last draft, where one is offered."""
    offered = state.current().offered
    if offered is None:
        return
    when = moment_text(offered.draft.saved)
    with st.container(horizontal=True, vertical_alignment="center", border=True, key="offered"):
        st.markdown(
            f":material/history: Not kept, from {when}: **{escaped(offered.name)}**.",
            width="content",
        )
        button("Go on with it", "play_arrow", partial(_go_on, offered))
        button("Discard", "delete", partial(_discard, offered), type="tertiary")


def _go_on(offer: Offer) -> None:
    found = state.current()
    found.offered = None
    try:
        work = workspace_of(offer.plan)
    except (LibraryError, ScenarioError) as error:
        found.problems = str(error).splitlines()
        return
    drafting.go_on(found.tab, offer.draft)
    state.open_workspace(work)


def _discard(offer: Offer) -> None:
    state.current().offered = None
    drafting.discard(offer.draft)
