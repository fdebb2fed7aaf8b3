"""The negotiations of this session: the one on show, and every way to change it.

The workspace, and so the address, has the moves of a person or a fork, from which they are played
again. A run that cannot be played again, such as a model's, stays in the session.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple, Protocol

import streamlit as st

from replicalab import assessment, errors, features, limits, scenarios
from replicalab import negotiation as core
from replicalab.facts import blocks, negotiation_facts
from replicalab.negotiation import LabManagerKind, Negotiation, ScientistKind, Setup, Turn
from replicalab.negotiation.case import Case
from replicalab.ui import own_studies, state, workspace

_KEY: Final = "negotiation_table"
PLACE: Final = "negotiation"
_MOST_AGAIN: Final = 16  # runs that can be played again; one more drops the oldest
Pending = Callable[[], None]  # a call of a model, made when the page is drawn


@dataclass(eq=False)
class RunSession:
    """A negotiation in the session, and the state of its next round."""

    negotiation: Negotiation
    source: str = ""  # empty if it was begun here
    opened_in: Case | None = None  # if it came from a file
    recording: core.Recording | None = None
    recorded: bool = False  # shown as a recorded run, for which no model is asked
    failure: core.ModelAnswer | None = None
    acting: bool = False

    def __post_init__(self) -> None:
        self.negotiation = self.negotiation.without_searches()

    @property
    def verdict(self) -> blocks.Verdict:
        return negotiation_facts.outcome_verdict(self.negotiation)

    @property
    def plays_again(self) -> bool:
        """Whether the workspace can play the negotiation again, or it has not begun."""
        again = not (self.source or self.is_model)
        return again or not (self.negotiation.rounds or self.failure)

    @property
    def size(self) -> int:
        failed = self.failure.outputs if self.failure else ()
        answers = sum(len(output.text or output.failure or "") for output in failed)
        return answers + sum(done.size for done in self.negotiation.rounds)

    @property
    def is_model(self) -> bool:
        return self.negotiation.setup.scientist is ScientistKind.MODEL

    def play(self, number: int, turn: Turn) -> None:
        """Play a turn as round ``number``; a second press changes nothing."""
        self.back_to(number)
        self.negotiation = core.play(self.negotiation, turn).without_searches()

    def back_to(self, number: int) -> None:
        self.negotiation = replace(self.negotiation, rounds=self.negotiation.rounds[:number])
        if self.negotiation.setup.lab_manager is LabManagerKind.PERSON:
            self.negotiation = core.play_on(self.negotiation).without_searches()
        self.failure, self.acting = None, False


class ModelSeat(Protocol):
    """A language model as a player, provided by its feature."""

    @property
    def model(self) -> str | None:
        """The name of the model, if set."""

    def recording(self, setup: Setup) -> core.Recording:
        """Return the record of the model and its settings."""

    def draw(self, session: RunSession) -> Pending | None:
        """Draw settings and controls; return the call that they start."""

    def reworded(self, done: core.Round) -> str:
        """Return a round's answer in the model's words, if asked for."""

    def draw_rewording(self, done: core.Round) -> Pending | None:
        """Draw a button for an answer in other words; return the call that it starts."""


def model_seat() -> ModelSeat | None:
    replies = features.ask("panel", PLACE, None, key=PLACE)
    return next((reply.value["seat"] for reply in replies if reply.value), None)


class Fork(NamedTuple):
    """The rounds that follow another plan in round ``at`` of a negotiation."""

    origin: RunSession
    at: int
    run: RunSession


@dataclass
class NegotiationSession:
    """The state of the page."""

    runs: list[RunSession] = field(default_factory=list)  # the one shown last at the end
    recordings: dict[str, RunSession] = field(default_factory=dict)
    home: workspace.Workspace | None = None  # before a recording or a file was opened
    forks: list[Fork] = field(default_factory=list)
    shown_fork: Fork | None = None
    forking: tuple[RunSession, int] | None = None  # the round of the open form for a fork
    playing_since: float | None = None


def table() -> NegotiationSession:
    session: NegotiationSession = st.session_state.setdefault(_KEY, NegotiationSession())
    return session


def current(yours: assessment.Assessment) -> RunSession:
    """Return the negotiation on show, played by rule if it can be.

    Raises NegotiationError for a plan that cannot be put forward, and TraceError for a recording
    that does not fit the lab.
    """
    case = state.case()
    if (run := opened_run()) is not None:
        return run
    if (key := case.recording) is not None:
        sessions, pack = table().recordings, yours.pack
        if key not in sessions or sessions[key].negotiation.pack != pack:
            shipped = {run.recording.key: run for run in core.shipped_recordings() if run.recording}
            if key not in shipped:
                raise errors.TraceError(f"'{key}' is not known; known: {', '.join(shipped)}")
            again, recording = core.replay(shipped[key], pack), shipped[key].recording
            sessions[key] = RunSession(again, recording=recording, recorded=True)
        return sessions[key]
    seat = model_seat() if case.scientist is ScientistKind.MODEL else None
    setup = case.setup(yours.pack, seat.model if seat else None)
    return _played(setup, yours.pack, case.moves)


def opened_run() -> RunSession | None:
    """Return the negotiation from a file that is on show, if any."""
    case = state.case()
    return next((run for run in table().runs if run.opened_in == case), None)


def _played(setup: Setup, pack: scenarios.Pack, moves: tuple[core.Move, ...]) -> RunSession:
    by_model = setup.scientist is ScientistKind.MODEL

    def fits(run: RunSession) -> bool:
        played = run.negotiation
        unforked = played.setup.model_copy(update={"forked_at": None})
        is_same = run.opened_in is None and played.pack == pack and unforked == setup
        return is_same and (by_model or core.moves_of(played) == moves)

    run = next(filter(fits, table().runs), None) or RunSession(core.play_moves(setup, moves, pack))
    others = [session for session in table().runs if session is not run]
    again = [other for other in others if other.plays_again]
    if len(again) >= _MOST_AGAIN:
        others.remove(again[0])
    table().runs = [*others, run]
    return run


def last_round(negotiation: Negotiation) -> int:
    """Return the index of the last round; 0 before the first."""
    return max(0, len(negotiation.rounds) - 1)


def shown_round(negotiation: Negotiation) -> int:
    return min(state.workspace().round_number, last_round(negotiation))


def played_by_hand() -> list[RunSession]:
    """Return the runs that cannot be played again, once each."""
    runs = [*table().runs, *(fork.run for fork in table().forks)]
    return [session for session in dict.fromkeys(runs) if not session.plays_again]


def is_full(more: int = 0) -> bool:
    return sum(session.size for session in played_by_hand()) + more >= limits.MOST_GAME_BYTES


def forget(run: RunSession) -> None:
    now = table()
    now.runs = [session for session in now.runs if session is not run]
    now.forks = [fork for fork in now.forks if run not in (fork.run, fork.origin)]
    if now.shown_fork not in now.forks:
        now.shown_fork = None


def is_away() -> bool:
    """Return whether a recording or a file is on show."""
    return opened_run() is not None or state.case().recording is not None


def leave_home() -> None:
    """Remember the workspace before a recording or a file opens."""
    if not is_away():
        table().home = state.workspace()


def open_run(run: RunSession, work: workspace.Workspace) -> None:
    """Show a negotiation from a file in this workspace, without forks."""
    leave_home()
    now = table()
    if work != state.workspace():
        state.open_workspace(work, whole=True)
    run.opened_in = work.case
    # `run` itself is opened in this case, too.
    others = (session for session in now.runs if session.opened_in != run.opened_in)
    now.runs, now.shown_fork = [*others, run], None


def close() -> None:
    """Restore the workspace before a file or a recording."""
    now, run, recording = table(), opened_run(), state.case().recording
    now.shown_fork = None
    if run is not None and recording is not None:  # kept from a fork of the recorded run
        forget(run)
        return
    home, now.home = now.home, None
    if run is not None and (home is None or home.case == run.opened_in):
        forget(run)
    if home is not None:
        state.open_workspace(home, whole=True)
    elif recording is not None:
        state.open_case(state.case().restart(), whole=True)


def play(session: RunSession, number: int, turn: Turn) -> None:
    """Play a turn as round ``number``, counted from 0, and show it, if there is room.

    A model is asked only if there is room, so its answer is never lost.
    """
    if turn.by is core.TurnAuthor.MODEL or not is_full():
        session.play(number, turn)
        show_last(session)


def answer(session: RunSession, number: int, reply: core.Reply) -> None:
    """Answer round ``number``, counted from 0, as Lab Manager, and show the next."""
    negotiation = session.negotiation
    if negotiation.awaits_reply and len(negotiation.rounds) == number + 1:  # else pressed twice
        session.negotiation = core.play_on(core.reply_to(negotiation, reply)).without_searches()
    show_last(session)


def back_to(session: RunSession, number: int) -> None:
    """Undo round ``number`` and those after it, and show the last."""
    session.back_to(number)
    show_last(session)


def show_last(session: RunSession) -> None:
    """Show the last round; the page stays at the fork if it is over."""
    fork, last = table().shown_fork, last_round(session.negotiation)
    if fork is None or fork.run is not session:
        show(session, last)
    else:
        state.update(round_number=fork.at if session.negotiation.ending else last)


def show(session: RunSession, round_number: int, *, whole: bool = False) -> None:
    """Show a changed negotiation, as moves of the workspace if it can be played again.

    Undo restores the run on show if ``whole``.
    """
    case, now = with_moves(session.negotiation), table()
    if case is None:
        state.update(round_number=round_number)
        return
    now.shown_fork, now.runs = None, [*(run for run in now.runs if run is not session), session]
    session.source, session.opened_in = "", None
    work = state.workspace().replace(case=case, round_number=round_number)
    if case.plan == state.case().plan and not whole:
        state.update(case=case, round_number=round_number)
    else:
        state.open_workspace(work, whole=whole)


def with_moves(negotiation: Negotiation, base: Case | None = None) -> Case | None:
    """Return the case, in the lab of ``base``, that plays a negotiation again, if any can."""
    setup, moves = negotiation.setup, core.moves_of(negotiation)
    by_person = setup.scientist is ScientistKind.PERSON
    if setup.scientist is ScientistKind.MODEL or (by_person and setup.opening):
        return None
    case = base or state.case()
    if setup.opening:
        case = case.with_plan(setup.opening, own_studies.find)
    seats = {name: getattr(setup, name) for name in ("scientist", "lab_manager", "max_rounds")}
    return case.restart(**seats, moves=moves)


def seat(**players: object) -> None:
    """Seat other players or change the rounds; Undo restores moves played by hand."""
    case = state.case()
    if case.moves or opened_run() is not None:
        state.open_case(case.restart(**players), whole=True)
    else:
        state.update(case=case.restart(**players), round_number=0)


def start_again() -> None:
    """Start again without moves; Undo restores them."""
    state.open_workspace(state.workspace().replace(moves=(), round_number=0), whole=True)
