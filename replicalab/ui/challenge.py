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
from replicalab.errors import LinkError
from replicalab.facts.blocks import listed_panel
from replicalab.facts.score import (
    COLUMNS,
    HIDDEN,
    YOU,
    answer_text,
    challenge_panel,
    result_row,
    score_panel,
)
from replicalab.facts.verdicts import answer_to
from replicalab.lexicon import count_text
from replicalab.models import LabManagerActionType, Protocol
from replicalab.negotiation import score_of
from replicalab.planner import PlanAnalysis
from replicalab.tables import sheet
from replicalab.ui import panel, state
from replicalab.ui.address import to_query
from replicalab.ui.controls import button, page_link
from replicalab.ui.files import download
from replicalab.ui.workspace import Workspace

# Pages that would give the answer away.
_HIDDEN_PAGES: Final = ("Negotiation", "Trade-offs", "Compare")
_PAGE: Final = "Protocol"
_HANDED: Final = "challenge_handed"
_RESULTS: Final = "challenge_results"
_NAME: Final = "challenge_name"
_ANSWERS: Final = "challenge_answers"
_OFFERS: Final = LabManagerActionType.SUGGEST_ALTERNATIVE
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
    st.session_state.pop(_ANSWERS, None)
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


def draw_way_back(title: str) -> None:
    """Draw, on another page, that there is a challenge, and the way to it."""
    if is_hidden() and title != _PAGE:
        page_link("pages/1_Protocol.py", "A challenge is on: to its plan", "emoji_events")


def draw(here: PlanAnalysis) -> None:
    """Draw the plan next to what the lab has, the way to ask, and the way to hand in."""
    panel.draw(challenge_panel(here.yours))
    with st.container(horizontal=True, vertical_alignment="bottom", key="challenge"):
        st.text_input("Your name, if you like", key=_NAME, max_chars=_LONGEST_NAME, width=220)
        button("Hand in", "task_alt", partial(_hand_in, here.yours), type="primary")
        most = state.case().max_rounds
        button(
            "Ask the Lab Manager",
            "forum",
            partial(_ask, here),
            disabled=len(_answers()) >= most,
            help=f"It answers {count_text(most, 'time')}: whether the lab runs the plan, and what "
            "it would change. It does not look at the evidence.",
        )
        button("Leave the challenge", "lock_open", leave)
    _draw_answers(here.yours)
    _draw_link()
    _draw_results()


def draw_score(here: PlanAnalysis) -> None:
    """Draw the score of what was handed in, and the ways on; nothing where nothing was."""
    if not state.workspace().challenge or is_hidden():
        return
    _, handed = st.session_state[_HANDED]
    panel.draw(score_panel(score_of(here.yours.revised(handed)), YOU))
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
    """Keep what the Lab Manager answers: its verdict and its offer, not the seven checks."""
    text = answer_text(len(_answers()) + 1, here)
    offered = here.offered.plan if answer_to(here) is _OFFERS else None
    st.session_state[_ANSWERS] = [*_answers(), (text, offered)]


def _answers() -> Sequence[tuple[str, Protocol | None]]:
    found: Sequence[tuple[str, Protocol | None]] = st.session_state.get(_ANSWERS, ())
    return found


def _draw_answers(yours: Assessment) -> None:
    """Draw what the Lab Manager answered, round by round, and the way to take its last offer."""
    if not _answers():
        return
    panel.draw(listed_panel("With the Lab Manager", [text for text, _ in _answers()]))
    _, offered = _answers()[-1]
    if offered is not None and offered != yours.plan:
        button("Take its offer", "handshake", partial(state.replace_plan, offered))


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
    try:
        query = urlencode(to_query(Workspace(case=case, challenge=True)))
    except LinkError as error:
        st.caption(f"No link: {error}.")
        return
    st.caption("The link to this challenge:")
    address = f"{(st.context.url or '').rsplit('/', 1)[0]}/Protocol?{query}"
    st.code(address, language=None, wrap_lines=True)  # one that is scrolled cannot be by keyboard
