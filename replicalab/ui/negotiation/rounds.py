"""A round: the way from one to the next, and in three columns who asked, changed and answered.

A model's text is data: it is shown as plain text or code, and nothing reads it as anything else.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Final, Literal

import streamlit as st

from replicalab.agents.scientist_policy import GenerateFn
from replicalab.assessment import Assessment, size_text
from replicalab.characters import shown
from replicalab.errors import ModelError
from replicalab.lexicon import amount_text, label_key, signed_text
from replicalab.models import ScientistActionType
from replicalab.negotiation import Attempt, Negotiation, Output, Round, reword
from replicalab.planner import PlanStep
from replicalab.text.negotiation import (
    answer_rule,
    answer_verdict,
    change_rows,
    signed_credits,
    turn_title,
)
from replicalab.text.plan import evidence_text, used_text
from replicalab.ui import state
from replicalab.ui.controls import button
from replicalab.ui.negotiation import settings
from replicalab.ui.negotiation.asking import Asking, draw_stop, draw_stopped, start
from replicalab.ui.negotiation.table import Task, last_round, shown_round, table
from replicalab.ui.words import DIMENSION_LABELS, as_list, escaped, pass_or_fail, verdict_badge

_OPENER: Final = "Rule and numbers"
_SECONDS_PER_ROUND: Final = 2.0
_LONG: Final = 1200
_FOLDED_HEIGHT: Final = 240


# --- from round to round: nothing is played anew ----------------------------------------------


def draw_scrubber(negotiation: Negotiation) -> None:
    """Draw first, back, next, last and play, and where we are; the arrow keys do the same."""
    at, last = shown_round(negotiation), last_round(negotiation)
    playing = table().playing_since is not None
    with st.container(horizontal=True, vertical_alignment="center", key="scrubber"):
        for label, icon, by, shortcut in (
            ("First", "first_page", -last, None),
            ("Back", "chevron_left", -1, "Left"),
            ("Next", "chevron_right", 1, "Right"),
            ("Last", "last_page", last, None),
        ):
            if label == "Next":
                st.markdown(f"**Round {at + 1} of {last + 1}**", width="content")
            st.button(
                label,
                icon=f":material/{icon}:",
                on_click=_go,
                args=(by, last),
                disabled=at == (0 if label in ("First", "Back") else last),
                shortcut=shortcut,
            )
        st.button(
            "Pause" if playing else "Play",
            icon=":material/pause:" if playing else ":material/play_arrow:",
            on_click=_stop if playing else _play,
            args=() if playing else (at, last),
            disabled=last == 0,
        )
    if playing:
        _advance(last)


def _go(by: int, last: int) -> None:
    """Go on by some rounds from where we are now, so that quick presses add up."""
    _stop()
    at = min(state.workspace().round_number, last)
    state.show(round_number=max(0, min(at + by, last)))


def _play(at: int, last: int) -> None:
    state.show(round_number=0 if at == last else at)
    table().playing_since = time.monotonic()


def _stop() -> None:
    table().playing_since = None


@st.fragment(run_every=_SECONDS_PER_ROUND)
def _advance(last: int) -> None:
    """Go on by one round when its time has come; the fragment runs on a timer."""
    since = table().playing_since
    if since is None or time.monotonic() - since < _SECONDS_PER_ROUND * 0.9:
        return
    at = min(state.workspace().round_number + 1, last)
    state.show(round_number=at)
    table().playing_since = None if at == last else time.monotonic()
    st.rerun()


# --- the round on show ------------------------------------------------------------------------


def draw(negotiation: Negotiation, task: Task | None, *, confirmed: bool) -> Asking | None:
    """Draw the round on show: what was asked, what changed, what was answered and why.

    Of a run that is not confirmed only the words are drawn, and no verdict in its colour. Return
    the answer in other words, if that is what the model is to be asked for.
    """
    at = shown_round(negotiation)
    done, before = negotiation.rounds[at], negotiation.state_before(at).plan
    scientist, change, manager = st.columns([4, 3, 5], border=True)
    with scientist:
        _draw_scientist(before, done)
    with change:
        _draw_change(before, done.plan)
    with manager:
        return _draw_manager(done, task, confirmed=confirmed)


def _draw_scientist(before: Assessment | None, done: Round) -> None:
    st.markdown("## Scientist")
    st.markdown(f"**{turn_title(done)}**")
    action = done.action
    if action is not None and action.action_type is ScientistActionType.ACCEPT:
        moves = done.plan is not None and (before is None or done.plan.plan != before.plan)
        st.markdown("Takes the Lab Manager's offer." if moves else "Takes the plan.")
    for question in action.questions if action else []:
        st.text(shown(question))
    if done.reason and before is not None:
        st.markdown(escaped(done.reason))
    if action is not None and action.protocol is not None and done.plan is not None:
        _draw_asked(done.plan)
    with st.expander(_OPENER, icon=":material/rule:", key=f"scientist_rule_{done.number}"):
        st.markdown(escaped(done.reason) or "No rule: a person chose this.")
    draw_attempts(done.attempts, f"round_{done.number}")


def _draw_asked(asked: Assessment) -> None:
    plan = asked.plan
    known = {label_key(each.name): each.protects_against for each in asked.pack.controls}
    guarded = "; ".join(known.get(label_key(label), label) for label in plan.controls)
    st.markdown(f"{size_text(plan)}, {escaped(plan.technique)}.")
    st.markdown(f"**Protects against:** {escaped(guarded or 'nothing: it has no controls')}.")
    st.caption(escaped(plan.rationale))


def _draw_change(before: Assessment | None, now: Assessment | None) -> None:
    st.markdown("## What changed")
    if now is None:
        st.markdown("No plan is on the table yet.")
        return
    if before is None:
        st.markdown("The opening plan.")
        st.markdown(f"{amount_text(now.cost)} credits · {escaped(now.evidence.text)}")
        return
    step = PlanStep(before, now)
    rows = change_rows(step)
    for label, old, new in rows:
        st.markdown(f"**{label}:** {escaped(old)} → **{escaped(new)}**")
    if not rows:
        st.markdown("Nothing.")
    st.markdown(f"{signed_credits(step)} credits · {escaped(evidence_text(step))}")


def _draw_manager(done: Round, task: Task | None, *, confirmed: bool) -> Asking | None:
    st.markdown("## Lab Manager")
    verdict = answer_verdict(done)
    if done.answer is None or verdict is None:
        st.markdown("Has nothing to answer.")
        return None
    st.markdown(verdict_badge(verdict) if confirmed else f"**{verdict.title}**")
    st.caption(verdict.text)
    st.markdown(as_list(done.answer.explanation))
    if not confirmed:
        return None
    asking = _draw_reworded(done, task)
    with st.expander(_OPENER, icon=":material/rule:", key=f"manager_rule_{done.number}"):
        st.markdown(answer_rule(done))
        if (plan := done.plan) is not None:
            found = plan.slack.values()
            st.table(
                {
                    "Dimension": [DIMENSION_LABELS[slack.dimension] for slack in found],
                    "Used / limit": [used_text(plan, slack) for slack in found],
                    "Slack": [signed_text(slack.slack) for slack in found],
                    "Passes": [pass_or_fail(ok=slack.ok) for slack in found],
                },
                hide_index=True,
            )
    return asking


# --- in a model's words -----------------------------------------------------------------------


def _draw_reworded(done: Round, task: Task | None) -> Asking | None:
    """Draw the reworded answer, or a button that asks for it where a model is set."""
    if done.answer is None or done.plan is None or done.only_asks:
        return None
    key = f"{done.digest} {done.answer.explanation}"
    found = table().reworded.get(key)
    if found is not None:
        st.markdown("**In the model's words** (they decide nothing)")
        st.text(shown(found))
        return None
    endpoint = settings.usable_endpoint()
    if endpoint is None:
        return None
    if task is Task.WORDING:
        draw_stop(task)
        return Asking(st.empty(), endpoint, "Other words", partial(_reword, key, done))
    button("Let the model reword this", "translate", partial(start, Task.WORDING))
    draw_stopped(Task.WORDING)
    unworded = table().unworded
    if unworded is not None and unworded[0] == key:
        st.warning(escaped(unworded[1]), icon=":material/cloud_off:")
    return None


def _reword(key: str, done: Round, generate: GenerateFn) -> None:
    try:
        table().reworded[key] = reword(generate, done) or ""
    except ModelError as error:
        table().unworded = key, str(error)


# --- a model's attempts -----------------------------------------------------------------------


def draw_attempts(attempts: Sequence[Attempt], name: str) -> None:
    """Draw each attempt of a model, folded: all that was said to it and by it."""
    for place, attempt in enumerate(attempts):
        verdict = "no answer" if attempt.output.text is None else "a valid action"
        if attempt.error_code is not None:
            verdict = f"no valid action ({escaped(attempt.error_code)})"
        with st.expander(
            f"Attempt {attempt.number}: {verdict}",
            icon=":material/smart_toy:",
            key=f"attempt_{name}_{place}",
        ):
            _draw_attempt(attempt)


def _draw_attempt(attempt: Attempt) -> None:
    st.markdown(f"**Tokens and time:** {_usage(attempt.output)}")
    if attempt.error_code is not None:
        st.markdown(f"**Error code:** {escaped(attempt.error_code)}")
    action = attempt.action.model_dump_json(indent=1) if attempt.action else None
    for title, text, language in (
        ("What was wrong", attempt.error_message, None),
        ("Why there is no answer", attempt.output.failure, None),
        ("Raw output", attempt.output.text, None),
        ("Parsed action", action, "json"),
        ("Correction prompt", attempt.correction_prompt, None),
        ("Observation", attempt.observation, None),
        ("System prompt", attempt.system_prompt, None),
    ):
        if text is not None:
            height: int | Literal["content"] = _FOLDED_HEIGHT if len(text) > _LONG else "content"
            st.markdown(f"**{title}**")
            st.code(shown(text) or "(empty)", language=language, wrap_lines=True, height=height)


def _usage(output: Output) -> str:
    sent, came = (
        "unknown" if tokens is None else f"{tokens:,}"
        for tokens in (output.prompt_tokens, output.completion_tokens)
    )
    ended = f", ended by {escaped(output.finish_reason)}" if output.finish_reason else ""
    return f"{sent} tokens sent, {came} received, {output.seconds:.1f} s{ended}"
