"""What to change: the Lab Manager's answer, its suggestion change by change, and applying it."""

from __future__ import annotations

import streamlit as st

from replicalab.agents import (
    AlternativeSuggestion,
    SuggestionChange,
    compose_lab_manager_response,
    suggest_alternative,
)
from replicalab.agents.suggestions import apply_changes
from replicalab.concessions import Concession, change_concessions, plan_concession
from replicalab.costs import amount_text
from replicalab.evidence import planned_evidence
from replicalab.models import Protocol
from replicalab.scenarios import NormalizedScenarioPack
from replicalab.sentences import ANSWER_MEANINGS, ANSWER_STATUS, ANSWER_TITLES, plan_verdict
from replicalab.ui import session
from replicalab.ui.check_view import draw_verdict
from replicalab.ui.session import Here
from replicalab.ui.words import badge, escaped


def draw(here: Here) -> None:
    """Draw the answer to the plan and, change by change, what the Lab Manager would do to it."""
    suggestion = suggest_alternative(here.plan, here.check, here.pack)
    answer = compose_lab_manager_response(here.check, suggestion)
    st.markdown(
        f"{badge(ANSWER_STATUS[answer.action_type], ANSWER_TITLES[answer.action_type])} "
        f"{ANSWER_MEANINGS[answer.action_type]}"
    )
    if suggestion is None:
        st.caption("Nothing needs to change. Edit the plan above, or step through the talks.")
    elif not suggestion.applied_changes:
        st.caption("The Lab Manager knows no change that would help. Edit what fails above.")
    else:
        _draw_suggestion(here.plan, suggestion, here.pack)
    st.page_link(
        "pages/2_Negotiation.py",
        label="Negotiate this plan",
        icon=":material/forum:",
        query_params=session.address(),
    )


def _draw_suggestion(
    plan: Protocol, suggestion: AlternativeSuggestion, pack: NormalizedScenarioPack
) -> None:
    revised = suggestion.revised_protocol
    whole = plan_concession(plan, revised, pack)
    st.markdown(f"With all changes: {_saved(whole)} · {escaped(whole.evidence_text)}")
    draw_verdict(plan_verdict(suggestion.post_check, planned_evidence(revised, pack)))
    st.button(
        "Apply all changes",
        type="primary" if suggestion.post_check.feasible else "secondary",
        icon=":material/done_all:",
        key="apply_all",
        on_click=session.replace_plan,
        args=(revised,),
    )
    steps = change_concessions(plan, suggestion.applied_changes, pack)
    with st.grid("auto", min_column_width=330, key="changes"):
        for number, (change, step) in enumerate(
            zip(suggestion.applied_changes, steps, strict=True), start=1
        ):
            _draw_change(number, plan, change, step)


def _draw_change(number: int, plan: Protocol, change: SuggestionChange, step: Concession) -> None:
    with st.container(border=True, height="stretch", key=f"change_{number}"):
        st.markdown(
            f"**{number}. {step.label}:** {escaped(change.original)} → "
            f"**{escaped(change.revised)}**"
        )
        st.markdown(
            f"**Why:** {escaped(change.reason)}  \n"
            f"**What is lost:** {escaped(change.tradeoff)}  \n"
            f":gray[{_saved(step)} · {escaped(step.evidence_text)}]"
        )
        st.button(
            f"Apply change {number}",
            key=f"apply_{number}",
            on_click=session.replace_plan,
            args=(apply_changes(plan, [change]),),
        )


def _saved(step: Concession) -> str:
    if step.credits_saved == 0:
        return "saves no credits"
    word = "saves" if step.credits_saved > 0 else "costs"
    return f"{word} {amount_text(abs(step.credits_saved))} credits"
