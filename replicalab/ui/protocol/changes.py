"""What to change: the Lab Manager's suggestion with a tick per change, and the least-loss plan."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple
from zlib import crc32

import streamlit as st

from replicalab.agents import SuggestionChange
from replicalab.assessment import Assessment
from replicalab.assessment.phrases import failing_text, size_text
from replicalab.lexicon import amount_text
from replicalab.models import FIELD_LABELS
from replicalab.planner import Options, PlanStep, change_steps
from replicalab.planner.steps import NUMBERS
from replicalab.scenarios import EvidenceTier, Pack
from replicalab.text.options import difference_text, search_text
from replicalab.text.plan import (
    loss_text,
    protection_losses,
    saved_text,
    total_loss_text,
    unreached_days_text,
)
from replicalab.text.verdicts import (
    ANSWERS,
    answer_to,
    plan_verdict,
)
from replicalab.ui import state
from replicalab.ui.controls import button
from replicalab.ui.words import escaped, verdict_badge


class Tick(NamedTuple):
    """One change of the suggestion.

    Attributes:
        key: of its box.
        on: whether it is taken.
        change: what is changed.
        step: what that does: a ticked one in its turn, another as if it came last.
    """

    key: str
    on: bool
    change: SuggestionChange
    step: PlanStep


class Ticked(NamedTuple):
    """The suggestion as ticked.

    Attributes:
        yours: the plan that it starts from.
        ticks: its changes.
        result: the plan with exactly the ticked ones.
        known: every plan that was judged on the way.
    """

    yours: Assessment
    ticks: tuple[Tick, ...]
    result: Assessment
    known: tuple[Assessment, ...]

    @property
    def taken(self) -> list[Tick]:
        """The ticked changes, in order."""
        return [tick for tick in self.ticks if tick.on]


def ticked(options: Options) -> Ticked:
    """Return the suggestion as the boxes now stand; a new change starts with a tick."""
    yours = options.yours
    changes = options.offer.changes if options.offer else []
    keys = [_key(number, change, yours.pack) for number, change in enumerate(changes)]
    ticks = [bool(st.session_state.get(key, True)) for key in keys]
    chosen = [change for change, tick in zip(changes, ticks, strict=True) if tick]
    taken = change_steps(yours, chosen, options.known)
    known = [*options.known, *(step.after for step in taken)]
    result = taken[-1].after if taken else yours
    in_turn, found = iter(taken), []
    for key, tick, change in zip(keys, ticks, changes, strict=True):
        step = next(in_turn) if tick else change_steps(result, [change], known)[0]
        found.append(Tick(key, tick, change, step))
        known.append(step.after)
    return Ticked(yours, tuple(found), result, tuple(known))


def _key(number: int, change: SuggestionChange, pack: Pack) -> str:
    """Return a key made of the change and its lab: a tick never moves to another."""
    parts = (pack.scenario_id, pack.difficulty, pack.seed, number, *dict(change).values())
    return f"tick_{crc32(repr(parts).encode()):08x}"


def draw(options: Options, found: Ticked) -> None:
    """Draw what the Lab Manager would change, and the plan that gives up the least."""
    st.header("What to change")
    manager, least = st.columns(2, gap="large")
    with manager:
        st.markdown("### The Lab Manager's changes")
        _draw_suggestion(options, found)
    with least:
        _draw_least_loss(options, found.known)


def _draw_suggestion(options: Options, found: Ticked) -> None:
    answer = ANSWERS[answer_to(options)]
    st.markdown(f"{verdict_badge(answer)} {answer.text}")
    if options.offer is None:
        st.caption("Nothing needs to change: the plan passes all seven dimensions.")
        return
    if not found.ticks:
        st.caption("The Lab Manager knows no change that would help. Edit what fails above.")
        return
    _draw_totals(PlanStep(found.yours, found.result))
    taken, total = len(found.taken), len(found.ticks)
    below = found.result.evidence.tier is EvidenceTier.BELOW_FLOOR
    button(
        "Apply all changes" if taken == total else f"Apply the ticked changes ({taken} of {total})",
        "done_all",
        partial(state.replace_plan, found.result.plan),
        type="primary" if found.result.feasible and not below else "secondary",
        key="apply_all",
        disabled=not taken,
    )
    for number, tick in enumerate(found.ticks, start=1):
        with st.container(border=True, gap="xsmall", key=f"change_{number}"):
            title = _title(number, tick.change)
            st.checkbox(title, value=True, key=tick.key, persist_state="session")
            _draw_price(tick.change, tick.step)
            if not tick.on:
                st.caption("Not ticked: the price is what it would add to the ticked changes.")


def _draw_least_loss(options: Options, known: Sequence[Assessment]) -> None:
    """Draw how the least-loss plan differs, what is proven by it, its totals and its changes."""
    least = options.least
    more = options.offer is None and least.changes
    st.markdown("### What more this lab could do" if more else "### The least-loss plan")
    st.markdown(escaped(difference_text(options)))
    if proof := search_text(options):
        st.caption(escaped(proof))
    if not least.changes or least.after.evidence.void:
        return
    _draw_totals(PlanStep(options.yours, least.after))
    button(
        "Apply the least-loss plan",
        "balance",
        partial(state.replace_plan, least.plan),
        key="apply_least_loss",
    )
    steps = change_steps(options.yours, least.changes, known)
    for number, (change, step) in enumerate(zip(least.changes, steps, strict=True), start=1):
        with st.container(border=True, gap="xsmall", key=f"least_{number}"):
            st.markdown(_title(number, change))
            _draw_price(change, step)


# --- one change, and the totals of several --------------------------------------------------


def _title(number: int, change: SuggestionChange) -> str:
    """Return a change in one line of Markdown: its number, field, and from → to."""
    old, new = (
        f"{int(value):,}" if change.field in NUMBERS else escaped(value)
        for value in (change.original, change.revised)
    )
    return f"**{number}. {FIELD_LABELS[change.field]}:** {old} → **{new}**"


def _draw_price(change: SuggestionChange, step: PlanStep) -> None:
    """Draw why a change is made, what is lost by it, and its price in numbers."""
    days = step.before.counts.days, step.after.counts.days
    lost = f"{change.tradeoff} {unreached_days_text(*days, step.after.pack)}"
    price = f"{saved_text(step)} · {escaped(loss_text(step))}"
    st.markdown(
        f"**Why:** {escaped(change.reason)}  \n**What is lost:** {escaped(lost)}  \n:gray[{price}]"
    )


def _draw_totals(step: PlanStep) -> None:
    """Draw what a revised plan comes to: its verdict, its totals, and all that it gives up."""
    after = step.after
    cost, budget = amount_text(after.cost), amount_text(after.pack.lab.budget)
    lines = [
        f"{verdict_badge(plan_verdict(after))} {size_text(after.plan)} · "
        f"{cost} of {budget} credits · **{after.evidence.text}**"
    ]
    if after.failing:
        lines.append(f"Still: {failing_text(after.failing)}.")
    lines.append(f"In all: {saved_text(step)} · {total_loss_text(step)}")
    lines += [escaped(loss) for loss in protection_losses(step)]
    st.markdown("  \n".join(lines))
