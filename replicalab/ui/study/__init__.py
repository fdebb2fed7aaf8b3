"""The Study page: the choice of lab, what happens in it, and the study with its sources."""

from collections.abc import Callable
from typing import Final, NoReturn

import streamlit as st

from replicalab.planner import PlanAnalysis
from replicalab.scenarios import Difficulty, Pack
from replicalab.ui import challenge, panel, state
from replicalab.ui.cards import reference_options
from replicalab.ui.controls import open_tab, page_link
from replicalab.ui.study import own
from replicalab.ui.workspace import LARGEST_SEED
from replicalab.views.blocks import Block
from replicalab.views.study import (
    design_panel,
    lab_panel,
    paper_panel,
    rules_panel,
    story_panel,
    substitutions_panel,
)

TABS: Final = "study_part"
_LAB: Final = "lab_choice"
_SEED: Final = "seed_choice"
PARTS: Final[dict[str, Callable[[PlanAnalysis], list[Block]]]] = {
    "The paper": lambda here: [paper_panel(here.yours.pack), design_panel(here.yours.pack)],
    "The lab": lambda here: [lab_panel(here.yours)],
    "Substitutions": lambda here: [substitutions_panel(here.yours.pack)],
    "Restrictions and criteria": lambda here: [rules_panel(here.yours.pack)],
}
"""The parts of a study; only the one that is looked at is drawn."""


def go_there() -> NoReturn:
    """Go to this page, which shows the study that was just opened."""
    st.switch_page("pages/0_Study.py", query_params=state.address())


def draw(here: PlanAnalysis) -> None:
    """Draw the page: all of it is about the reference protocol, whatever the plan."""
    pack = here.yours.pack
    is_reference = here.yours.plan == pack.reference_protocol
    reference = here if is_reference else reference_options(pack)
    choice, story = st.columns([1, 3], gap="large")
    with choice:
        _draw_lab_choice(pack)
    with story:
        own.draw()
        if not challenge.is_hidden():
            panel.draw(story_panel(reference))
        with st.container(horizontal=True, key="ways_on"):
            page_link("pages/1_Protocol.py", "Edit the protocol", "tune")
            page_link("pages/2_Negotiation.py", "Step through the negotiation", "forum")
    with open_tab(PARTS, TABS) as name:
        panel.draw(*PARTS[name](reference))


def _draw_lab_choice(pack: Pack) -> None:
    st.session_state[_LAB] = pack.difficulty.value
    st.session_state[_SEED] = pack.seed
    st.radio(
        "Lab",
        [level.value for level in Difficulty],
        format_func=str.capitalize,
        key=_LAB,
        horizontal=True,
        on_change=_open_lab,
    )
    st.number_input(
        "Seed",
        min_value=0,
        max_value=LARGEST_SEED,
        step=1,
        key=_SEED,
        on_change=_open_lab,
        help="0 is the lab as written; any other number moves budget, days and what is missing, "
        "always the same way.",
    )


def _open_lab() -> None:
    chosen = state.case().with_lab(st.session_state[_LAB], st.session_state[_SEED])
    state.open_case(chosen)
