"""A round in three columns: the Scientist, what changed, the Lab Manager."""

from __future__ import annotations

import streamlit as st

from replicalab.concessions import (
    Concession,
    plan_concession,
    plan_differences,
    price,
    protections,
)
from replicalab.lexicon import amount_text, count_text
from replicalab.models import Protocol, ScientistActionType
from replicalab.negotiation import Round
from replicalab.scenarios import Pack
from replicalab.sentences import answer_verdict, turn_title
from replicalab.ui.negotiation import rewording_view
from replicalab.ui.negotiation.message_view import draw_manager_rule, draw_scientist_rule
from replicalab.ui.negotiation.table import shown_round
from replicalab.ui.negotiation.talks import Talks
from replicalab.ui.words import as_list, escaped, verdict_badge


def draw(talks: Talks, pack: Pack) -> None:
    """Draw the round on show: what was asked, what changed, what was answered and why."""
    at = shown_round(talks)
    done = talks.trace.rounds[at]
    before = talks.trace.rounds[at - 1].plan if at else None
    scientist, change, manager = st.columns([4, 3, 5], border=True)
    with scientist:
        _draw_scientist(before, done, pack)
    with change:
        _draw_change(before, done, pack)
    with manager:
        _draw_manager(talks, done, pack)


def _draw_scientist(before: Protocol | None, done: Round, pack: Pack) -> None:
    st.markdown("## Scientist")
    st.markdown(f"**{turn_title(done)}**")
    action = done.scientist_action
    if action is not None and action.action_type is ScientistActionType.ACCEPT:
        changed = done.plan != before
        st.markdown("Takes the Lab Manager's offer." if changed else "Takes the plan.")
    for question in action.questions if action else []:
        st.text(question)
    if done.reason and before is not None:
        st.markdown(escaped(done.reason))
    if action is not None and action.protocol is not None:
        _draw_asked(action.protocol, pack)
    draw_scientist_rule(done)


def _draw_asked(plan: Protocol, pack: Pack) -> None:
    samples = "sample" if plan.sample_size == 1 else "samples"
    st.markdown(
        f"{amount_text(plan.sample_size)} {samples} in "
        f"{count_text(plan.duration_days, 'day')}, "
        f"{escaped(plan.technique)}."
    )
    guarded = "; ".join(protections(plan, pack)) or "nothing: it has no controls"
    st.markdown(f"**Protects against:** {escaped(guarded)}.")
    st.caption(escaped(plan.rationale))


def _draw_change(before: Protocol | None, done: Round, pack: Pack) -> None:
    st.markdown("## What changed")
    if done.plan is None:
        st.markdown("No plan is on the table yet.")
        return
    if before is None:
        now = price(done.plan, pack)
        st.markdown("The opening plan.")
        st.markdown(f"{amount_text(now.credits)} credits · {escaped(now.evidence.text)}")
        return
    rows = plan_differences(before, done.plan)
    for label, old, new in rows:
        st.markdown(f"**{label}:** {escaped(old)} → **{escaped(new)}**")
    if not rows:
        st.markdown("Nothing.")
    st.markdown(_priced(plan_concession(before, done.plan, pack)))


def _priced(step: Concession) -> str:
    sign = "\u2212" if step.credits_saved > 0 else "+"
    credits = f"{sign}{amount_text(abs(step.credits_saved))} credits"
    return f"{credits if step.credits_saved else '±0 credits'} · {escaped(step.evidence_text)}"


def _draw_manager(talks: Talks, done: Round, pack: Pack) -> None:
    st.markdown("## Lab Manager")
    answer, verdict = done.lab_manager_action, answer_verdict(done)
    if answer is None or verdict is None:
        st.markdown("Has nothing to answer.")
        return
    st.markdown(verdict_badge(verdict))
    st.caption(verdict.text)
    st.markdown(as_list(answer.explanation))
    rewording_view.draw(talks, done)
    draw_manager_rule(done, pack)
