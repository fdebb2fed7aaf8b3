"""Labs that are kept for the session by name."""

from __future__ import annotations

from functools import partial
from typing import Final

import streamlit as st

from replicalab.scenarios import LONGEST_SHORT_TITLE, OwnLab
from replicalab.ui import state
from replicalab.ui.controls import button
from replicalab.ui.lab import files
from replicalab.ui.lab.fields import begin, say
from replicalab.ui.words import escaped

_NAME: Final = "lab_name"
MOST_LABS: Final = 12


def draw() -> None:
    """Draw the name under which the lab is kept, and the labs that are."""
    st.session_state.setdefault(_NAME, state.workspace().own_lab.name or "")
    st.text_input(
        "Name of this lab",
        key=_NAME,
        max_chars=LONGEST_SHORT_TITLE,
        placeholder="Our lab",
        help="A named lab goes along to other studies.",
    )
    name = str(st.session_state[_NAME]).strip()
    button("Keep this lab", "bookmark", _keep, disabled=not name, key="keep_lab")
    kept = state.current().labs
    if len(kept) >= MOST_LABS:
        st.caption(f"{MOST_LABS} labs are kept, the most there is room for; forget one.")
    for each in kept:
        with st.container(horizontal=True, vertical_alignment="center"):
            in_use = state.workspace().own_lab == kept[each]
            st.markdown(f"{escaped(each)}{' · in use' if in_use else ''}")
            button("Use", "check", partial(_use, each), key=f"use_{each}", disabled=in_use)
            button("Forget", "delete", partial(_forget, each), key=f"forget_{each}")
    files.draw()


def _keep() -> None:
    """Keep the lab under its name, with budget, days and staff as its own."""
    kept, name = state.current().labs, str(st.session_state[_NAME]).strip()
    if name not in kept and len(kept) >= MOST_LABS:
        return
    lab, own = state.here().yours.pack.lab, state.workspace().own_lab
    means = {"budget": max(1, int(lab.budget)), "days": lab.days, "staff": lab.staff}
    kept[name] = own.model_copy(update={"name": name, **means})
    say(kept[name])
    begin()


def _forget(name: str) -> None:
    """Forget a lab that was kept; the one in use stays in use."""
    del state.current().labs[name]


def _use(name: str) -> None:
    """Use a lab that was kept."""
    found: OwnLab = state.current().labs[name]
    st.session_state[_NAME] = name
    say(found)
    begin()
