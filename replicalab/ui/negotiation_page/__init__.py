"""The Negotiation page: players, outcome, rounds, and the next move."""

import time
from collections.abc import Mapping
from functools import partial
from typing import Final

import streamlit as st

from replicalab import assessment, errors, limits, planner
from replicalab.facts import blocks, round_facts
from replicalab.facts.negotiation_facts import LAB_MANAGERS, RECORDED, SCIENTISTS, Player, kept_text
from replicalab.negotiation import AUTOMATIC, LabManagerKind, Negotiation, ScientistKind
from replicalab.render import figures
from replicalab.ui import screen, state, tray
from replicalab.ui.controls import button, choice_callback, escape, fold, page_link
from replicalab.ui.negotiation_page import moves, saved_runs, sessions
from replicalab.ui.negotiation_page.sessions import ModelSeat, Pending, RunSession

_SCIENTIST: Final = "scientist_choice"
_MANAGER: Final = "manager_choice"
_ROUNDS: Final = "rounds_choice"
_RECORDED: Final = "recorded"
_LISTED: Final = 20  # negotiations offered for forgetting
_SECONDS_PER_ROUND: Final = 2.0


def draw(analysis: planner.PlanAnalysis) -> Pending | None:
    """Draw the page, and return the pending call of a language model."""
    seat = screen.draw_features(sessions.PLACE, None).get("seat")
    _draw_players()
    saved_runs.draw_origin()
    _draw_undo()
    session = _find_run(analysis.yours)
    _draw_full(session)
    if session is None:
        st.header("Negotiation")
    pending = _draw_negotiation(session, seat) if session else None
    saved_runs.draw(session)
    return pending


def _find_run(yours: assessment.Assessment) -> RunSession | None:
    icon, case = ":material/block:", state.case()
    try:
        return sessions.current(yours)
    except errors.NegotiationError as error:
        st.error(f"The negotiation cannot start: {escape(str(error))}.", icon=icon)
        if case.moves:
            button("Start again", "replay", sessions.start_again)
        page_link("pages/1_Protocol.py", "Edit the protocol", "tune")
    except errors.TraceError as error:
        st.error(f"The recording cannot be played: {escape(str(error))}.", icon=icon)
        with st.container(horizontal=True, key="recording_problem"):
            if case.recording in saved_runs.recordings():
                play = partial(saved_runs.open_recording, case.recording)
                button("Open its study", "science", play)
            closed = state.workspace().replace(recording=None, round_number=0)
            button("Close the recording", "close", partial(state.open_workspace, closed))
    return None


def _draw_full(shown: RunSession | None) -> None:
    if not sessions.is_full():
        return
    st.warning(
        f"Your negotiations fill the {limits.MOST_GAME_BYTES // 2**20} MiB of a session: no more "
        "are played or opened. Save some, then forget them.",
        icon=":material/inventory_2:",
    )
    others = [run for run in sessions.played_by_hand() if run is not shown]
    for number, run in enumerate(others[:_LISTED]):
        with st.container(horizontal=True, vertical_alignment="center", key=f"room_{number}"):
            st.markdown(escape(kept_text(run.negotiation)), width="content")
            button("Forget it", "close", partial(sessions.forget, run), key=f"room_{number}_forget")


def _draw_negotiation(origin: RunSession, seat: ModelSeat | None) -> Pending | None:
    fork = moves.fork_of(origin)
    session = fork.run if fork else origin
    negotiation = session.negotiation
    _draw_kept_fork(origin)
    pending = seat.draw(origin) if seat and origin.is_model and not origin.recorded else None
    if negotiation.rounds:
        _draw_scrubber(session, origin)
        moves.draw_courses(origin)
    if session is origin and _shows_last_round(negotiation):
        screen.draw(round_facts.outcome_panel(session.verdict, is_open=negotiation.outcome is None))
        if negotiation.outcome is not None:
            _draw_ending(origin)
    if negotiation.rounds:
        done = negotiation.rounds[sessions.shown_round(negotiation)]
        words = seat.reworded(done) if seat else ""
        screen.draw(round_facts.round_panel(negotiation, done.number, reworded=words))
        if seat and not words:
            pending = seat.draw_rewording(done) or pending
        moves.draw_fork(origin)
    # A fork has its own move.
    if fork is None and not origin.recorded and (origin.acting or not origin.is_model):
        moves.draw_move(origin)
    if negotiation.rounds:
        _draw_run(negotiation)
    return pending


def _shows_last_round(negotiation: Negotiation) -> bool:
    return sessions.shown_round(negotiation) == sessions.last_round(negotiation)


def _draw_ending(session: RunSession) -> None:
    case = state.case()
    with st.container(horizontal=True, key="ending"):
        moves.draw_using(session.negotiation, "use_plan")
        button("Save", "bookmark_add", partial(saved_runs.keep, session), key="keep_ending")
        if not (case.has_run and session.plays_again):
            return
        if st.button("Compare", icon=":material/compare_arrows:", key="compare_ending"):
            if tray.place_of(case, run=True) is None:
                tray.keep(tray.TrayCandidate("", case, run=True))
            st.switch_page(tray.COMPARE_PAGE, query_params=state.address())


def _draw_players() -> None:
    case, opened = state.case(), sessions.opened_run()
    recorded = opened.recorded if opened else case.recording is not None
    players = {kind.value: player for kind, player in SCIENTISTS.items()}
    for key, (run, _) in saved_runs.recordings().items():
        players[key] = RECORDED._replace(name=f"{RECORDED.name}: {run.title} ({run.made})")
    chosen = case.recording or _RECORDED if recorded else case.scientist.value
    players.setdefault(chosen, RECORDED)
    st.session_state[_SCIENTIST] = chosen
    st.session_state[_MANAGER] = case.lab_manager.value
    st.session_state[_ROUNDS] = case.max_rounds
    with st.container(horizontal=True, vertical_alignment="bottom", key="players"):
        _choice("Scientist", _SCIENTIST, players)
        if recorded:
            return
        managers = {kind.value: player for kind, player in LAB_MANAGERS.items()}
        _choice("Lab Manager", _MANAGER, managers)
        with st.popover("More", icon=":material/tune:"):
            st.number_input(
                "Rounds at most",
                min_value=1,
                max_value=limits.MOST_PAGE_ROUNDS,
                step=1,
                key=_ROUNDS,
                on_change=lambda: sessions.seat(max_rounds=st.session_state[_ROUNDS]),
                width=160,
            )


def _choice(label: str, key: str, offered: Mapping[str, Player]) -> None:
    st.selectbox(
        label,
        list(offered),
        format_func=lambda kind: offered[kind].name,
        key=key,
        on_change=choice_callback(key, offered, _seat),
        help=offered[st.session_state[key]].rule,
    )


def _seat() -> None:
    chosen = st.session_state[_SCIENTIST]
    moves.drop_fork()
    if chosen in saved_runs.recordings():
        saved_runs.open_recording(chosen)
        return
    if sessions.is_away():
        sessions.close()
        sessions.seat(scientist=chosen)
        return
    manager = st.session_state[_MANAGER]
    if manager == LabManagerKind.PERSON and chosen not in AUTOMATIC:
        # A person plays one side: the seat chosen last.
        if chosen == state.case().scientist:
            chosen = ScientistKind.STEP_BY_STEP
        else:
            manager = LabManagerKind.REFERENCE
    sessions.seat(scientist=chosen, lab_manager=manager)


def _draw_undo() -> None:
    last = next(reversed(state.current().past), None)
    had_run = last and (last.whole or (last.workspace.case.moves and not state.case().moves))
    if had_run and not sessions.is_away():
        button("Undo last negotiation", "undo", state.undo, type="tertiary")


def _draw_kept_fork(session: RunSession) -> None:
    case, at = state.case(), session.negotiation.setup.forked_at
    by_rule = case.moves and case.scientist in AUTOMATIC
    if by_rule and at is not None and sessions.opened_run() is None:
        with st.container(horizontal=True, vertical_alignment="center", key="forked"):
            st.markdown(f"Your fork from round {at + 1}.", width="content")
            button("Undo the fork", "undo", sessions.start_again)


def _draw_scrubber(session: RunSession, origin: RunSession) -> None:
    negotiation = session.negotiation
    name = "" if session is origin else f"{moves.name_of(session)}: "
    at, last = sessions.shown_round(negotiation), sessions.last_round(negotiation)
    playing = sessions.table().playing_since is not None
    with st.container(horizontal=True, vertical_alignment="center", key="scrubber"):
        for label, icon, by, end, shortcut in (
            ("First", "first_page", -last, 0, None),
            ("Back", "chevron_left", -1, 0, "Left"),
            ("Next", "chevron_right", 1, last, "Right"),
            ("Last", "last_page", last, last, None),
        ):
            if icon == "chevron_right":
                so_far = "" if negotiation.ending else " so far"
                st.markdown(f"{name}**Round {at + 1} of {last + 1}{so_far}**", width="content")
            button(label, icon, partial(_go, by, last), disabled=at == end, shortcut=shortcut)
        label, icon = ("Pause", "pause") if playing else ("Play", "play_arrow")
        button(
            label,
            icon,
            _stop if playing else partial(_start_slide_show, at, last),
            disabled=last == 0,
        )
        if session is origin:
            moves.draw_fork_button(origin)
    if playing:
        _advance(last)


def _go(by: int, last: int) -> None:
    _stop()
    # From the round on show now, so that quick presses add up.
    at = min(state.workspace().round_number, last)
    state.update(round_number=max(0, min(at + by, last)))


def _start_slide_show(at: int, last: int) -> None:
    state.update(round_number=0 if at == last else at)
    sessions.table().playing_since = time.monotonic()


def _stop() -> None:
    sessions.table().playing_since = None


@st.fragment(run_every=_SECONDS_PER_ROUND)
def _advance(last: int) -> None:
    since = sessions.table().playing_since
    # A tick that comes a little early counts, or the round would wait for the next one.
    if since is None or time.monotonic() - since < _SECONDS_PER_ROUND * 0.9:
        return
    at = min(state.workspace().round_number + 1, last)
    state.update(round_number=at)
    sessions.table().playing_since = None if at == last else time.monotonic()
    st.rerun()


def _draw_run(negotiation: Negotiation) -> None:
    at = sessions.shown_round(negotiation)
    screen.draw(round_facts.rounds_panel(negotiation, at))
    if _shows_last_round(negotiation):
        screen.draw(round_facts.ledger_panel(negotiation))
    with fold("Chart of the rounds", "rounds_chart", icon=":material/show_chart:") as is_open:
        if not is_open:
            return
        visible = negotiation.rounds[: at + 1]
        if plans := [(done.number + 1, done.plan) for done in visible if done.plan]:
            alt = "Use of budget, days and staff by round, and below it the evidence by round"
            screen.draw_chart(figures.convergence_chart(plans), "convergence", alt)
        else:
            st.caption("No plan has been put forward yet.")
