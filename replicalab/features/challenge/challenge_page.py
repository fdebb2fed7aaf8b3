"""The challenge on the Protocol page and in the menu More.

The workspace, and so a link, has the challenge; results stay in the session.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.errors import LinkError
from replicalab.facts.blocks import Heading, listing
from replicalab.facts.score_facts import YOU, score_panel
from replicalab.features.challenge import answer_text, challenge_panel, result_of
from replicalab.lexicon import count_text
from replicalab.models import LabManagerActionType, Protocol
from replicalab.negotiation import score_of
from replicalab.planner import PlanAnalysis
from replicalab.tables import sheet
from replicalab.ui import screen, state
from replicalab.ui.controls import button
from replicalab.ui.file_transfer import download
from replicalab.ui.workspace import Workspace, to_query

RESULTS: Final = "challenge_results"
_NAME: Final = "challenge_name"
_ANSWERS: Final = "challenge_answers"
_NAME_LENGTH: Final = 100
_MAX_RESULTS: Final = 1000


def panel(place: str, plan: PlanAnalysis | None) -> Mapping[str, Any]:
    """Return the entry of the menu, or draw the challenge or its score."""
    if plan is None:
        return {"Challenge": ("emoji_events", lambda _: start())}
    if state.is_hidden():
        _draw(plan)
    elif state.workspace().challenge:
        _, handed = st.session_state[state.HANDED]
        screen.draw(score_panel(score_of(plan.yours.revised(handed)), YOU))
        with st.container(horizontal=True, vertical_alignment="center", key="challenge"):
            button("Try again", "replay", start)
            button("Leave the challenge", "lock_open", state.leave_challenge)
        _draw_link_and_results()
    return {}


def start() -> None:
    """Hide the checks and the best plan of the open study in its lab."""
    st.session_state.pop(state.HANDED, None)
    st.session_state.pop(_ANSWERS, None)
    state.update(challenge=True, presenting=0)


def _draw(here: PlanAnalysis) -> None:
    screen.draw(challenge_panel(here.yours))
    with st.container(horizontal=True, vertical_alignment="bottom", key="challenge"):
        st.text_input("Your name (optional)", key=_NAME, max_chars=_NAME_LENGTH, width=220)
        button("Hand in", "task_alt", partial(_hand_in, here.yours), type="primary")
        limit = state.case().max_rounds
        button(
            "Ask the Lab Manager",
            "forum",
            partial(_ask, here),
            disabled=len(_answers()) >= limit,
            help=f"It answers {count_text(limit, 'time')}: whether the lab runs the plan, and its "
            "changes. It does not look at the evidence.",
        )
        button("Leave the challenge", "lock_open", state.leave_challenge)
    if answers := _answers():
        heading = Heading("With the Lab Manager", 2, part=True)
        screen.draw(heading, listing(text for text, _ in answers))
        _, offered = answers[-1]
        if offered is not None and offered != here.yours.plan:
            button("Take its offer", "handshake", partial(state.replace_plan, offered))
    _draw_link_and_results()


def _hand_in(yours: Assessment) -> None:
    now, name = st.session_state, " ".join(st.session_state[_NAME].split())
    result = result_of(score_of(yours), name, datetime.now(UTC))
    now[RESULTS] = [*now.get(RESULTS, ()), result][-_MAX_RESULTS:]
    now[state.HANDED] = state.case().where, yours.plan


def _ask(here: PlanAnalysis) -> None:
    text = answer_text(len(_answers()) + 1, here)
    offers = here.answer is LabManagerActionType.SUGGEST_ALTERNATIVE
    offered = here.offered.plan if offers else None
    st.session_state[_ANSWERS] = [*_answers(), (text, offered)]


def _answers() -> Sequence[tuple[str, Protocol | None]]:
    pairs: Sequence[tuple[str, Protocol | None]] = st.session_state.get(_ANSWERS, ())
    return pairs


def _draw_link_and_results() -> None:
    if results := st.session_state.get(RESULTS, ()):
        rows = [tuple(result.values()) for result in results]
        label = f"Download the results ({len(rows)})"
        download(label, partial(sheet, [*results[0]], rows), "challenge.csv")
    case = state.case().replace(plan=None, moves=(), recording=None)
    try:
        query = urlencode(to_query(Workspace(case=case, challenge=True)))
    except LinkError as error:
        st.caption(f"No link: {error}.")
        return
    st.caption("The link to this challenge:")
    address = f"{(st.context.url or '').rsplit('/', 1)[0]}/Protocol?{query}"
    st.code(address, language=None, wrap_lines=True)  # one that is scrolled cannot be by keyboard
