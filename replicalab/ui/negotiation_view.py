"""The negotiation, stepped through: outcome, scrubber, the round, the matrix, the costs."""

from __future__ import annotations

import time
from typing import Final

import streamlit as st

from replicalab.agents import FeasibilityCheckResult
from replicalab.concessions import (
    Concession,
    plan_concession,
    plan_differences,
    price,
    protections,
)
from replicalab.costs import amount_text
from replicalab.errors import NegotiationError
from replicalab.figures import CONFIG, round_cost_chart
from replicalab.models import DIMENSIONS, Protocol, ScientistActionType
from replicalab.negotiation import Round, Trace, negotiate, scenario_digest, setup_for
from replicalab.scenarios import NormalizedScenarioPack
from replicalab.sentences import (
    ANSWER_MEANINGS,
    ANSWER_STATUS,
    ANSWER_TITLES,
    Status,
    evidence_status,
    outcome_verdict,
)
from replicalab.ui import session
from replicalab.ui.check_view import draw_verdict
from replicalab.ui.words import DIMENSION_LABELS, as_list, badge, coloured, escaped, pass_or_fail
from replicalab.workspace import MOST_ROUNDS

_TRACE: Final = "trace"
_PLAYING: Final = "playing_since"
_ROUNDS: Final = "rounds_choice"
_MOST_SIDE_BY_SIDE: Final = 6
_SECONDS_PER_ROUND: Final = 2.0
_ACTION_TITLES: Final = {
    ScientistActionType.PROPOSE_PROTOCOL: "Proposes",
    ScientistActionType.REVISE_PROTOCOL: "Revises",
    ScientistActionType.REQUEST_INFO: "Asks",
    ScientistActionType.ACCEPT: "Accepts",
}


def current_trace(pack: NormalizedScenarioPack, plan: Protocol) -> Trace | None:
    """Return the negotiation over the plan, computed once; None when it cannot be opened."""
    setup = setup_for(pack, plan, session.workspace().max_rounds)
    kept: Trace | None = st.session_state.get(_TRACE)
    if kept and kept.setup == setup and kept.scenario_digest == scenario_digest(pack):
        return kept
    try:
        st.session_state[_TRACE] = negotiate(setup, pack)
    except NegotiationError as error:
        st.error(f"The negotiation cannot start: {escaped(str(error))}.", icon=":material/block:")
        st.page_link(
            "pages/1_Protocol.py",
            label="Edit the protocol",
            icon=":material/tune:",
            query_params=session.address(),
        )
        return None
    return st.session_state[_TRACE]  # type: ignore[no-any-return]  # just stored as a Trace


def shown_round(trace: Trace) -> int:
    """Return the round on show, 0-based: the workspace's, within what was played."""
    return min(session.workspace().round_number, len(trace.rounds) - 1)


def draw_setup() -> None:
    """Draw who plays, from which plan, for how long."""
    st.session_state[_ROUNDS] = session.workspace().max_rounds
    players, rounds = st.columns([5, 1], vertical_alignment="bottom")
    with players:
        st.markdown(
            "**Scientist:** baseline. Opens with your plan; while the answer names a blocker it "
            "halves the sample and cuts a day, and it accepts in the last round.  \n"
            "**Lab Manager:** reference. Substitutes items, cuts days, then halves the sample "
            "until the budget fits."
        )
    with rounds:
        st.number_input(
            "Rounds at most",
            min_value=1,
            max_value=MOST_ROUNDS,
            step=1,
            key=_ROUNDS,
            on_change=_set_rounds,
        )


def _set_rounds() -> None:
    session.set_rounds(st.session_state[_ROUNDS])


def draw_outcome(trace: Trace, pack: NormalizedScenarioPack) -> None:
    """Draw how it ended, in one sentence."""
    draw_verdict(outcome_verdict(trace, pack))


# --- stepping ---------------------------------------------------------------------------------


def draw_scrubber(trace: Trace) -> None:
    """Draw first, back, next, last and play, and where we are."""
    at, last = shown_round(trace), len(trace.rounds) - 1
    playing = _PLAYING in st.session_state
    with st.container(horizontal=True, vertical_alignment="center", key="scrubber"):
        _jump("First", ":material/first_page:", -last, at == 0)
        _jump("Back", ":material/chevron_left:", -1, at == 0, "Left")
        st.markdown(f"**Round {at + 1} of {last + 1}**", width="content")
        _jump("Next", ":material/chevron_right:", 1, at == last, "Right")
        _jump("Last", ":material/last_page:", last, at == last)
        st.button(
            "Pause" if playing else "Play",
            icon=":material/pause:" if playing else ":material/play_arrow:",
            on_click=_stop if playing else _play,
            args=() if playing else (at, last),
            disabled=last == 0,
        )
    if playing:
        _advance(last)


def _jump(label: str, icon: str, by: int, disabled: bool, shortcut: str | None = None) -> None:
    st.button(label, icon=icon, on_click=_go, args=(by,), disabled=disabled, shortcut=shortcut)


def _go(by: int) -> None:
    """Go on by some rounds from where we are now, so that quick presses add up."""
    _stop()
    trace: Trace = st.session_state[_TRACE]
    session.show_round(max(0, min(shown_round(trace) + by, len(trace.rounds) - 1)))


def _play(at: int, last: int) -> None:
    session.show_round(0 if at == last else at)
    st.session_state[_PLAYING] = time.monotonic()


def _stop() -> None:
    st.session_state.pop(_PLAYING, None)


@st.fragment(run_every=_SECONDS_PER_ROUND)
def _advance(last: int) -> None:
    """Go on by one round when its time has come; the fragment runs on a timer."""
    since = st.session_state.get(_PLAYING)
    if since is None or time.monotonic() - since < _SECONDS_PER_ROUND * 0.9:
        return
    at = min(session.workspace().round_number + 1, last)
    session.show_round(at)
    st.session_state[_PLAYING] = time.monotonic()
    if at == last:
        _stop()
    st.rerun()


# --- the round --------------------------------------------------------------------------------


def draw_round(trace: Trace, pack: NormalizedScenarioPack) -> None:
    """Draw a round in three columns: the Scientist, what changed, the Lab Manager."""
    at = shown_round(trace)
    done = trace.rounds[at]
    before = trace.rounds[at - 1].plan if at else None
    scientist, change, manager = st.columns([4, 3, 5], border=True)
    with scientist:
        _draw_scientist(before, done, pack)
    with change:
        _draw_change(before, done, pack)
    with manager:
        _draw_manager(done)


def _draw_scientist(before: Protocol | None, done: Round, pack: NormalizedScenarioPack) -> None:
    st.markdown("## Scientist")
    action = done.scientist_action
    if action is None:
        st.markdown("Walks away.")
        return
    st.markdown(f"**{_ACTION_TITLES[action.action_type]}**")
    if action.action_type is ScientistActionType.ACCEPT:
        changed = done.plan != before
        st.markdown("Takes the Lab Manager's offer." if changed else "Takes the plan.")
    for question in action.questions:
        st.text(question)
    if action.protocol is not None:
        plan = action.protocol
        st.markdown(
            f"{amount_text(plan.sample_size)} samples in {plan.duration_days} days, "
            f"{escaped(plan.technique)}."
        )
        guarded = "; ".join(protections(plan, pack)) or "nothing: it has no controls"
        st.markdown(f"**Protects against:** {escaped(guarded)}.")
        st.caption(escaped(plan.rationale))


def _draw_change(before: Protocol | None, done: Round, pack: NormalizedScenarioPack) -> None:
    st.markdown("## What changed")
    if done.plan is None:
        st.markdown("No plan is on the table.")
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
    step = plan_concession(before, done.plan, pack)
    st.markdown(_ledger_line(step))


def _ledger_line(step: Concession) -> str:
    sign = "\u2212" if step.credits_saved > 0 else "+"
    credits = f"{sign}{amount_text(abs(step.credits_saved))} credits"
    return f"{credits if step.credits_saved else '±0 credits'} · {escaped(step.evidence_text)}"


def _draw_manager(done: Round) -> None:
    st.markdown("## Lab Manager")
    answer = done.lab_manager_action
    if answer is None:
        st.markdown("Has nothing to answer.")
        return
    kind = answer.action_type
    st.markdown(badge(ANSWER_STATUS[kind], ANSWER_TITLES[kind]))
    st.caption(ANSWER_MEANINGS[kind])
    st.markdown(as_list(answer.explanation))


# --- the whole run ----------------------------------------------------------------------------


def draw_run(trace: Trace, pack: NormalizedScenarioPack) -> None:
    """Draw the matrix and the costs of all rounds: side by side, or in turn when there are many."""
    if _is_long(trace):
        _draw_matrix(trace)
        _draw_costs(trace, pack)
        return
    matrix, costs = st.columns(2, gap="large")
    with matrix:
        _draw_matrix(trace)
    with costs:
        _draw_costs(trace, pack)


def _is_long(trace: Trace) -> bool:
    return len(trace.rounds) > _MOST_SIDE_BY_SIDE


def _draw_matrix(trace: Trace) -> None:
    """Draw the seven dimensions by round, as symbols with words."""
    at = shown_round(trace)
    table: dict[str, list[str]] = {
        "Dimension": [DIMENSION_LABELS[dimension] for dimension in DIMENSIONS]
    }
    for done in trace.rounds:
        name = str(done.number + 1) if _is_long(trace) else f"Round {done.number + 1}"
        table[f"**{name}**" if done.number == at else name] = [
            _cell(done.check, number) for number in range(len(DIMENSIONS))
        ]
    st.markdown("**The seven dimensions, round by round**")
    st.table(table, hide_index=True, border="horizontal", alt="Seven dimensions by round")


def _cell(check: FeasibilityCheckResult | None, number: int) -> str:
    if check is None:
        return "no plan"
    ok = check.check(DIMENSIONS[number]).ok
    return coloured(pass_or_fail(ok), "pass" if ok else "fail")


def _draw_costs(trace: Trace, pack: NormalizedScenarioPack) -> None:
    """Draw each round's cost against the budget, as a chart and as a table."""
    checked = [(r.number + 1, r.plan, r.check) for r in trace.rounds if r.plan and r.check]
    if not checked:
        return
    figure = round_cost_chart(
        [number for number, _, _ in checked],
        [check.estimated_cost for _, _, check in checked],
        [check.feasible for _, _, check in checked],
        pack.lab.budget_remaining,
    )
    st.plotly_chart(
        figure, key="round_costs", config=CONFIG, alt="Cost of each round's plan against the budget"
    )
    prices = [price(plan, pack) for _, plan, _ in checked]
    with st.expander("The same as a table, with the evidence"):
        st.table(
            {
                "Round": [str(number) for number, _, _ in checked],
                "Samples": [amount_text(plan.sample_size) for _, plan, _ in checked],
                "Days": [str(plan.duration_days) for _, plan, _ in checked],
                "Credits": [amount_text(check.estimated_cost) for _, _, check in checked],
                "Evidence": [
                    coloured(evidence_status(p.evidence), escaped(p.evidence.text)) for p in prices
                ],
                "Plan": [
                    coloured(
                        Status.PASS if check.feasible else Status.FAIL,
                        "feasible" if check.feasible else "not feasible",
                    )
                    for _, _, check in checked
                ],
            },
            hide_index=True,
        )
