"""What every page has: its settings, the navigation, and a header that says where you are."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Final

import streamlit as st

from replicalab.costs import Counts, cost_terms
from replicalab.errors import ScenarioError
from replicalab.figures import cost_chart
from replicalab.gallery import cards
from replicalab.scenarios import CostModel
from replicalab.sentences import plan_verdict
from replicalab.ui import session
from replicalab.ui.session import Here
from replicalab.ui.words import escaped, verdict_badge

_ICON: Final = str(Path(__file__).with_name("icon.png"))
"""A file of ours: a Material symbol would be fetched from another host."""

PAGES: Final = (
    ("app.py", "Scenarios", ":material/science:"),
    ("pages/1_Protocol.py", "Protocol", ":material/tune:"),
    ("pages/2_Negotiation.py", "Negotiation", ":material/forum:"),
    ("pages/3_Trade-offs.py", "Trade-offs", ":material/query_stats:"),
)


_FRONT_DOOR: Final = PAGES[0][1]


def open_page(title: str) -> Here:
    """Set the page up, draw its header, and return what it is about; every page's first call."""
    st.set_page_config(page_title=f"{title} · ReplicaLab", page_icon=_ICON, layout="wide")
    _begin()
    _draw_navigation()
    here = session.here()
    _draw_header(here)
    _draw_context(here, title)
    _draw_link_problems()
    return here


def _begin() -> None:
    try:
        _warm_up()
        session.begin()
    except ScenarioError as error:
        st.error(
            "There is no study that can be read. Put one into the folder scenarios/ and load "
            "this page again.",
            icon=":material/folder_off:",
        )
        st.text(str(error))
        st.stop()


def close_page() -> None:
    """Write the workspace into the address; the last call of every page."""
    session.write_address()


@st.cache_resource(show_spinner=False)
def _warm_up() -> None:
    """Load what the pages use, once per process, and keep it out of every later collection."""
    cards()
    cost_chart(cost_terms(Counts(1, 1, 1, 1, 1), CostModel()), 1.0, 1.0).to_json()
    gc.collect()
    gc.freeze()


def _draw_navigation() -> None:
    query = session.address()
    with st.container(horizontal=True, vertical_alignment="center", key="navigation"):
        st.markdown("**ReplicaLab**", width="content")
        for page, label, icon in PAGES:
            st.page_link(page, label=label, icon=icon, query_params=query)


def _draw_header(here: Here) -> None:
    pack, verdict = here.pack, plan_verdict(here.check, here.evidence)
    seed = f", seed {pack.seed}" if pack.seed else ""
    with st.container(key="where"):
        st.markdown(
            f"{escaped(pack.paper.title)} · **{pack.difficulty} lab**{seed} · "
            f"{verdict_badge(verdict)}"
        )


def _draw_context(here: Here, title: str) -> None:
    """Draw what a sample is, which the front door says itself, and the story that is being told."""
    if title == _FRONT_DOOR:
        return
    st.caption(f"Samples: {escaped(here.pack.design.unit_of_n)}.")
    story = session.told_story()
    if story is not None and title.lower() == story.page:
        st.markdown(
            f":material/auto_stories: **Story: {escaped(story.title)}.** {escaped(story.line)}"
        )


def _draw_link_problems() -> None:
    problems = session.link_problems()
    if problems:
        lines = "\n".join(f"- {escaped(problem)}" for problem in problems)
        st.warning(f"Not everything could be opened.\n{lines}", icon=":material/link_off:")
        st.button("Dismiss", on_click=session.dismiss_link_problems)
