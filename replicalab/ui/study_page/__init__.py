"""The Study page: the choice of lab, the story of the study in it, and its sources."""

from collections.abc import Callable
from functools import partial
from typing import Final, NoReturn

import streamlit as st

from replicalab.assessment import assess
from replicalab.drafts import longest_name
from replicalab.facts import study_facts
from replicalab.facts.blocks import Block
from replicalab.limits import LARGEST_SEED
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import Difficulty, Pack
from replicalab.ui import notices, own_studies, screen, state, study_form
from replicalab.ui.controls import button, choice_callback, open_tab, page_link
from replicalab.ui.own_studies import OwnStudy

TABS: Final = "study_part"
_OWN_PLACE: Final = "study_own"
_RENAME: Final = "study_rename"
_LAB: Final = "lab_choice"
_SEED: Final = "seed_choice"
PARTS: Final[dict[str, Callable[[PlanAnalysis], list[Block]]]] = {
    "The paper": lambda analysis: [
        study_facts.paper_panel(analysis.yours.pack),
        study_facts.design_panel(analysis.yours),
    ],
    "The lab": lambda analysis: [study_facts.lab_panel(analysis.yours)],
    "Substitutions": lambda analysis: [study_facts.substitutions_panel(analysis.yours.pack)],
    "Restrictions and criteria": lambda analysis: [study_facts.rules_panel(analysis.yours.pack)],
}
"""The parts of a study; only the open one is drawn."""


def reference_options(pack: Pack) -> PlanAnalysis:
    """Return the analysis of a study's reference protocol in its lab."""
    return PlanAnalysis(assess(pack.reference_protocol, pack))


def go_there() -> NoReturn:
    st.switch_page("pages/0_Study.py", query_params=state.address())


def draw(analysis: PlanAnalysis) -> None:
    """Draw the page, about the reference protocol, whatever the plan."""
    pack = analysis.yours.pack
    is_reference = analysis.yours.plan == pack.reference_protocol
    reference = analysis if is_reference else reference_options(pack)
    choice, story = st.columns([1, 3], gap="large")
    with choice:
        _draw_lab_choice(pack)
    with story:
        _draw_own()
        if not state.is_hidden():
            screen.draw(study_facts.story_panel(reference))
        with st.container(horizontal=True, key="ways_on"):
            page_link("pages/1_Protocol.py", "Edit the protocol", "tune")
            page_link("pages/2_Negotiation.py", "Step through the negotiation", "forum")
    with open_tab(PARTS, TABS) as name:
        screen.draw(*PARTS[name](reference))


def _draw_lab_choice(pack: Pack) -> None:
    st.session_state[_LAB] = pack.difficulty.value
    st.session_state[_SEED] = pack.seed
    levels = [level.value for level in Difficulty]
    st.radio(
        "Lab",
        levels,
        format_func=str.capitalize,
        key=_LAB,
        horizontal=True,
        on_change=choice_callback(_LAB, levels, _open_lab),
    )
    with st.popover("More", icon=":material/more_horiz:"):
        st.number_input(
            "Seed",
            min_value=0,
            max_value=LARGEST_SEED,
            step=1,
            key=_SEED,
            on_change=_open_lab,
            help="0 is the lab as written. Any other number changes budget, days and missing "
            "items, always in the same way.",
        )


def _open_lab() -> None:
    chosen = state.case().with_lab(st.session_state[_LAB], st.session_state[_SEED])
    state.open_case(chosen)


def _draw_own() -> None:
    mine = own_studies.studies().get(state.case().study)
    if mine is None or mine.key != state.case().own:
        return
    with st.container(horizontal=True, key=_OWN_PLACE):
        place = st.popover("Rename", icon=":material/edit:", key=_RENAME, on_change="rerun")
        if place.open:
            with place:
                key, longest = f"study_name_{mine.study.scenario_id}", longest_name(mine.study)
                st.text_input(
                    "Name of the study", mine.study.paper.name, key=key, max_chars=longest
                )
                button("Rename it", "check", partial(_rename, mine, key), type="primary")
        if st.button("Edit", icon=":material/edit_document:", key="study_edit"):
            study_form.edit(mine)
            st.switch_page("app.py", query_params=state.address())
    notices.draw(_OWN_PLACE)


def _rename(own: OwnStudy, key: str) -> None:
    name = " ".join(str(st.session_state.get(key, own.study.paper.name)).split())
    refused = "A study needs a name. Type one, then press Rename it."
    if name:
        refused = own_studies.rename(own, name)
    notices.leave_problem(refused, _OWN_PLACE)
    if not refused:
        st.session_state[_RENAME] = False
        notices.leave(f"It is called {name} now.", _OWN_PLACE)
