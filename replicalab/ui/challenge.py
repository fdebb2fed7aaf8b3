"""A challenge: the open study in its lab, without its checks and its best plan, until one hands in.

The workspace, and so a link, says that there is one; what was handed in stays in the session.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Final
from urllib.parse import urlencode

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.negotiation import score_of
from replicalab.planner import PlanAnalysis
from replicalab.tables import sheet
from replicalab.ui import panel, state
from replicalab.ui.address import to_query
from replicalab.ui.controls import button
from replicalab.ui.files import download
from replicalab.ui.workspace import Workspace
from replicalab.views.score import COLUMNS, HIDDEN, challenge_panel, result_row, score_panel
from replicalab.views.verdicts import ANSWERS, answer_to

# Pages that would give the answer away.
_HIDDEN_PAGES: Final = ("Negotiation", "Trade-offs", "Compare")
_HANDED: Final = "challenge_handed"
_RESULTS: Final = "challenge_results"
_NAME: Final = "challenge_name"
_ASKED: Final = "challenge_asked"
_LONGEST_NAME: Final = 100
_MOST_RESULTS: Final = 1000

Row = tuple[str | float, ...]


def is_hidden() -> bool:
    """Return whether there is a challenge, and nothing was handed in for it yet."""
    where, _ = st.session_state.get(_HANDED, (None, None))
    return state.workspace().challenge and where != state.case().where


def hides(study: str) -> bool:
    """Return whether the best plan of a study is hidden."""
    return is_hidden() and study == state.case().study


def start() -> None:
    """Hide the checks and the best plan of the open study in its lab."""
    st.session_state.pop(_HANDED, None)
    st.session_state.pop(_ASKED, None)
    state.show(challenge=True, presenting=0)


def leave() -> None:
    """Show everything again."""
    state.show(challenge=False)


def draw_gate(title: str) -> bool:
    """Draw why a page is hidden, where it is; return whether."""
    if not is_hidden() or title not in _HIDDEN_PAGES:
        return False
    st.info(HIDDEN, icon=":material/lock:")
    button("Leave the challenge", "lock_open", leave)
    return True


def draw(here: PlanAnalysis) -> None:
    """Draw the plan next to what the lab has, the way to ask, and the way to hand in."""
    panel.draw(challenge_panel(here.yours))
    with st.container(horizontal=True, vertical_alignment="bottom", key="challenge"):
        st.text_input("Your name, if you like", key=_NAME, max_chars=_LONGEST_NAME, width=220)
        button("Hand in", "task_alt", partial(_hand_in, here.yours), type="primary")
        button("Ask the Lab Manager", "forum", partial(_ask, here))
        button("Leave the challenge", "lock_open", leave)
    plan, asked = st.session_state.get(_ASKED, (None, ""))
    if plan == here.yours.plan:  # of another plan nothing is known yet
        st.caption(f"The Lab Manager: {asked}")
    _draw_link()
    _draw_results()


def draw_score(here: PlanAnalysis) -> None:
    """Draw the score of what was handed in, and the ways on; nothing where nothing was."""
    if not state.workspace().challenge or is_hidden():
        return
    _, handed = st.session_state[_HANDED]
    panel.draw(score_panel(score_of(here.yours.revised(handed))))
    with st.container(horizontal=True, vertical_alignment="center", key="challenge"):
        button("Try again", "replay", start)
        button("Leave the challenge", "lock_open", leave)
    _draw_link()
    _draw_results()


def _hand_in(yours: Assessment) -> None:
    now, name = st.session_state, " ".join(st.session_state[_NAME].split())
    row = result_row(score_of(yours), name, datetime.now(UTC))
    now[_RESULTS] = [*_results(), row][-_MOST_RESULTS:]
    now[_HANDED] = state.case().where, yours.plan


def _ask(here: PlanAnalysis) -> None:
    """Keep what the Lab Manager answers, by its verdict alone: no check and no offer."""
    st.session_state[_ASKED] = here.yours.plan, ANSWERS[answer_to(here)].title.lower()


def _results() -> Sequence[Row]:
    found: Sequence[Row] = st.session_state.get(_RESULTS, ())
    return found


def _draw_results() -> None:
    if rows := _results():
        download(
            f"Download the results ({len(rows)})", partial(sheet, COLUMNS, rows), "challenge.csv"
        )


def _draw_link() -> None:
    """Draw the link to this challenge: study, lab and question, and no plan."""
    case = state.case().changed(plan=None, moves=(), recording=None)
    query = urlencode(to_query(Workspace(case=case, challenge=True)))
    st.code(f"{(st.context.url or '').rsplit('/', 1)[0]}/Protocol?{query}", language=None)
