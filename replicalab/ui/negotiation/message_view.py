"""A message opened: the rule behind it, its numbers, and a model's every attempt.

A model's text is data: it is shown as plain text or code, and nothing reads it as anything else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import streamlit as st

from replicalab.margins import Margin, margins
from replicalab.negotiation import Attempt, Round
from replicalab.scenarios import Pack
from replicalab.sentences import answer_rule
from replicalab.ui.words import DIMENSION_LABELS, coloured, escaped, pass_or_fail

OPENER: Final = "Rule and numbers"
_LONG: Final = 1200
_FOLDED_HEIGHT: Final = 240


def draw_scientist_rule(done: Round) -> None:
    """Draw, folded, why the Scientist did so, and how a model came to it."""
    with st.expander(OPENER, icon=":material/rule:", key=f"scientist_rule_{done.number}"):
        st.markdown(escaped(done.reason) or "No rule: a person chose this.")
    draw_attempts(done.attempts, f"round_{done.number}")


def draw_manager_rule(done: Round, pack: Pack) -> None:
    """Draw, folded, by which rule the Lab Manager answered, and the seven margins."""
    with st.expander(OPENER, icon=":material/rule:", key=f"manager_rule_{done.number}"):
        st.markdown(answer_rule(done))
        if done.plan is not None and done.check is not None:
            _draw_margins(margins(done.plan, done.check, pack))


def _draw_margins(found: Sequence[Margin]) -> None:
    st.table(
        {
            "Dimension": [DIMENSION_LABELS[margin.dimension] for margin in found],
            "Used / limit": [margin.text for margin in found],
            "Slack": [margin.slack_text for margin in found],
            "Passes": [
                coloured(pass_or_fail(margin.ok), "pass" if margin.ok else "fail")
                for margin in found
            ],
        },
        hide_index=True,
    )


def draw_attempts(attempts: Sequence[Attempt], name: str) -> None:
    """Draw each attempt of a model, folded: all that was said to it and by it."""
    for attempt in attempts:
        with st.expander(
            f"Attempt {attempt.number}: {_verdict(attempt)}",
            icon=":material/smart_toy:",
            key=f"attempt_{name}_{attempt.number}",
        ):
            _draw_attempt(attempt)


def _verdict(attempt: Attempt) -> str:
    if attempt.error_code is not None:
        return f"no valid action ({escaped(attempt.error_code)})"
    return "no answer" if attempt.failure is not None else "a valid action"


def _draw_attempt(attempt: Attempt) -> None:
    st.markdown(f"**Tokens and time:** {_usage(attempt)}")
    if attempt.error_code is not None:
        st.markdown(f"**Error code:** {escaped(attempt.error_code)}")
    _said("What was wrong", attempt.error_message)
    _said("Why there is no answer", attempt.failure)
    _said("Raw output", attempt.raw_output)
    action = attempt.action.model_dump_json(indent=1) if attempt.action else None
    _said("Parsed action", action, "json")
    _said("Correction prompt", attempt.correction_prompt)
    _said("Observation", attempt.observation)
    _said("System prompt", attempt.system_prompt)


def _said(title: str, text: str | None, language: str | None = None) -> None:
    if text is not None:
        st.markdown(f"**{title}**")
        st.code(text or "(empty)", language=language, wrap_lines=True, height=_height(text))


def _height(text: str) -> int | Literal["content"]:
    return _FOLDED_HEIGHT if len(text) > _LONG else "content"


def _usage(attempt: Attempt) -> str:
    used = attempt.usage
    sent = "unknown" if used.prompt_tokens is None else f"{used.prompt_tokens:,}"
    came = "unknown" if used.completion_tokens is None else f"{used.completion_tokens:,}"
    ended = f", ended by {escaped(used.finish_reason)}" if used.finish_reason else ""
    return f"{sent} tokens sent, {came} received, {used.seconds:.1f} s{ended}"
