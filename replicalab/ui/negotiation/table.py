"""What is on the table: the negotiations of this session, and every way to change them.

What a person plays, a fork too, stands in the workspace as moves, and so in the address: it is
played again from there. Everything else is one record in the session.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Final, NamedTuple

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.errors import TraceError
from replicalab.negotiation import (
    AUTOMATIC,
    By,
    ModelAnswer,
    Move,
    Negotiation,
    Recording,
    ScientistKind,
    Setup,
    Turn,
    moves_of,
    play_moves,
    replay,
    setup_for,
    shipped_recordings,
)
from replicalab.negotiation import play as play_turn
from replicalab.scenarios import Pack
from replicalab.text.negotiation import kept_text, outcome_verdict
from replicalab.text.verdicts import Status, Verdict
from replicalab.ui import own_studies, state
from replicalab.ui.workspace import Workspace

_KEY: Final = "negotiation_table"
MOST_BYTES: Final = 16 * 2**20
"""What a session keeps of negotiations that no rule plays again; the files of three may be open."""
NOT_DRAWN: Final = (
    "No check, no chart and no ledger is drawn of a run that is not confirmed. Play it anew here "
    "to see them."
)
_MOST_AGAIN: Final = 16
"""So many are kept that a rule plays again, or that nobody has begun."""
_MOST_WORDS: Final = 2**20
"""Of answers in a model's words so many characters are kept; others are asked for again."""


class Task(Enum):
    """What a model is asked for."""

    ROUND = "its turn"
    TEST = "a test of the connection"
    WORDING = "an answer in other words"


@dataclass(eq=False)
class Kept:
    """A negotiation that the session keeps, and how its next round stands.

    Attributes:
        negotiation: as far as it has gone.
        source: where it came from, for people; empty where it was begun here.
        differences: what its replay found different; empty where every round is identical.
        seen_from: the workspace in which it was opened; with any other it is put aside.
        recording: what is known of the language model that played; None where nothing is.
        recorded: whether it is shown as a recorded run, of which no model is asked any more.
        failure: how the model failed in the next round, None where it has not.
        acting: whether a person acts for the model in the next round.
    """

    negotiation: Negotiation
    source: str = ""
    differences: tuple[str, ...] = ()
    seen_from: Workspace | None = None
    recording: Recording | None = None
    recorded: bool = False
    failure: ModelAnswer | None = None
    acting: bool = False

    def __post_init__(self) -> None:
        """Keep no more of it than can be shown and played on from."""
        self.negotiation = self.negotiation.light()

    @property
    def confirmed(self) -> bool:
        """Whether it was played here, or replays here identically."""
        return not self.differences

    @property
    def verdict(self) -> Verdict:
        """How it ended; of one that does not replay here nothing is good news."""
        found = outcome_verdict(self.negotiation)
        if self.confirmed:
            return found
        return Verdict(Status.FAIL, "Not confirmed", f"Not confirmed: {found.text}")

    @property
    def plays_again(self) -> bool:
        """Whether nothing is lost with it: the workspace says all of it, or nobody has begun."""
        again = not (self.source or self.is_model)
        return again or not (self.negotiation.rounds or self.failure)

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        failed = self.failure.outputs if self.failure else ()
        said = sum(len(output.text or output.failure or "") for output in failed)
        return said + sum(done.size for done in self.negotiation.rounds)

    @property
    def is_model(self) -> bool:
        """Whether a language model plays the Scientist."""
        return self.negotiation.setup.scientist is ScientistKind.MODEL

    def play(self, number: int, turn: Turn) -> None:
        """Play a turn as that round; pressed twice, it is played once."""
        self.back_to(number)
        self.negotiation = play_turn(self.negotiation, turn).light()

    def back_to(self, number: int) -> None:
        """Take back every round from that one on; what stood of the next one is over."""
        self.negotiation = replace(self.negotiation, rounds=self.negotiation.rounds[:number])
        self.failure, self.acting = None, False


class Wordings(dict[str, str]):
    """Texts by key, of which the oldest are forgotten where they are too many."""

    def __setitem__(self, key: str, text: str) -> None:
        super().__setitem__(key, text)
        while len(self) > 1 and sum(len(k) + len(each) for k, each in self.items()) > _MOST_WORDS:
            del self[next(iter(self))]


class Branch(NamedTuple):
    """What followed when another plan was put forward in a round of a negotiation."""

    origin: Kept
    at: int
    kept: Kept


class Left(NamedTuple):
    """What gave way to something else: its workspace, what was opened there, and its name."""

    workspace: Workspace
    opened: Kept | None
    name: str

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return self.opened.size if self.opened else len(self.workspace.model_dump_json())


@dataclass
class Table:
    """Everything that the page keeps in a session.

    Attributes:
        kept: the negotiations begun here, the one shown last at the end.
        recordings: the shipped ones that were shown, by key.
        opened: the negotiation from elsewhere that is on show.
        own: where the visitor was before something from elsewhere was opened.
        shown: what was on show last, if it was played by hand.
        aside: what gave way to something else, the last one last.
        branch: another course of a negotiation, beside it.
        forking: the negotiation and its round for which another plan is asked.
        task: what the next run of the script asks a model for; None where it asks nothing.
        stopped: what it was just stopped in.
        tested: what came of the last test of the connection.
        playing_since: when the round was turned that plays by itself; None while none does.
        reworded: the answers in a model's words, by their round and built-in text.
        unworded: the round, as in ``reworded``, that has no other words, and why.
        settings: where the model is reached, as typed in this session, by field.
        settings_open: whether the settings stay unfolded.
        uploads: how many files were handed over; each makes room for the next.
        upload_problem: why the last one could not be opened.
    """

    kept: list[Kept] = field(default_factory=list)
    recordings: dict[str, Kept] = field(default_factory=dict)
    opened: Kept | None = None
    own: Left | None = None
    shown: Left | None = None
    aside: list[Left] = field(default_factory=list)
    branch: Branch | None = None
    forking: tuple[Kept, int] | None = None
    task: Task | None = None
    stopped: Task | None = None
    tested: Verdict | None = None
    playing_since: float | None = None
    reworded: dict[str, str] = field(default_factory=Wordings)
    unworded: tuple[str, str] | None = None
    settings: dict[str, str | int] = field(default_factory=dict)
    settings_open: bool = False
    uploads: int = 0
    upload_problem: str = ""


def table() -> Table:
    """Return what this session keeps."""
    found: Table = st.session_state.setdefault(_KEY, Table())
    return found


# --- the negotiation on show ------------------------------------------------------------------


def current(yours: Assessment, model: str | None) -> Kept:
    """Return the negotiation on show, played by rule where it can be.

    Args:
        yours: the plan of the workspace.
        model: the language model's name, None where none is set.

    Raises:
        NegotiationError: the plan cannot be put forward.
        TraceError: the recording cannot be played here.
    """
    found, work = table(), state.workspace()
    found.shown = None
    if found.opened is not None:
        return found.opened
    if work.recording is not None:
        return _recorded(work.recording, yours.pack)
    setup = setup_for(
        yours.pack,
        yours.plan if work.scientist in AUTOMATIC else None,  # others choose their own opening
        work.max_rounds,
        scientist=work.scientist,
        lab_manager=work.lab_manager,
    )
    setup = setup.model_copy(update={"model": model}) if model else setup
    kept = _played(setup, yours.pack, work.moves)
    if work.moves:
        found.shown = Left(work, None, kept_text(kept.negotiation))
    return kept


def _recorded(key: str, pack: Pack) -> Kept:
    kept = table().recordings
    if key not in kept or kept[key].negotiation.pack != pack:
        shipped = {each.recording.key: each for each in shipped_recordings() if each.recording}
        if key not in shipped:
            raise TraceError(f"'{key}' is not known; known: {', '.join(shipped)}")
        again = replay(shipped[key], pack)
        if again.differences:
            raise TraceError(again.differences[0].message.removesuffix("."))
        kept[key] = Kept(again.negotiation, recording=shipped[key].recording, recorded=True)
    return kept[key]


def _played(setup: Setup, pack: Pack, moves: tuple[Move, ...]) -> Kept:
    """Return the negotiation of that setup; of too many, forget what can be played again."""
    kept = table().kept
    here = (each for each in kept if _is_of(each.negotiation, setup, pack))
    by_hand = None if setup.scientist is ScientistKind.MODEL else moves
    found = next((each for each in here if moves_of(each.negotiation) == by_hand), None)
    if found is None:
        found = Kept(play_moves(setup, moves, pack))
    others = [each for each in kept if each is not found]
    again = [each for each in others if each.plays_again]
    if len(again) >= _MOST_AGAIN:
        others.remove(again[0])
    table().kept = [*others, found]
    return found


def _is_of(negotiation: Negotiation, setup: Setup, pack: Pack) -> bool:
    """Return whether it is a negotiation of that setup, forked or not."""
    unforked = negotiation.setup.model_copy(update={"forked_at": None})
    return unforked == setup and negotiation.pack == pack


def last_round(negotiation: Negotiation) -> int:
    """Return the last round, counted from 0; 0 where none was played."""
    return max(0, len(negotiation.rounds) - 1)


def shown_round(negotiation: Negotiation) -> int:
    """Return the round on show, counted from 0: the workspace's, within what was played."""
    return min(state.workspace().round_number, last_round(negotiation))


# --- from elsewhere ---------------------------------------------------------------------------


def played_by_hand() -> list[Kept]:
    """Return what the session keeps and no rule plays again, once each."""
    found, branch = table(), table().branch
    shown = [found.opened] if found.opened else []
    opened = [left.opened for left in found.aside if left.opened]
    held = [*found.kept, *opened, *shown, *([branch.kept] if branch else [])]
    return [each for each in dict.fromkeys(held) if not each.plays_again]


def is_full(more: int = 0) -> bool:
    """Return whether there is no room for so many bytes more."""
    left = sum(each.size for each in table().aside if each.opened is None)
    return sum(each.size for each in played_by_hand()) + left + more >= MOST_BYTES


# --- playing on -------------------------------------------------------------------------------


def play(kept: Kept, number: int, turn: Turn) -> None:
    """Play a turn as that round, counted from 0, and show it; where there is room for it.

    A model is asked only where there is room, so what it then says is not lost.
    """
    if turn.by is By.MODEL or not is_full():
        kept.play(number, turn)
        show_last(kept)


def back_to(kept: Kept, number: int) -> None:
    """Take back every round from that one on, and show the last that is left."""
    kept.back_to(number)
    show_last(kept)


def show_last(kept: Kept) -> None:
    """Show the last round; of a branch that is over the round of its origin stays on show."""
    branch = table().branch
    if branch is None or branch.kept is not kept:
        show(kept, last_round(kept.negotiation))
    elif kept.negotiation.ending is None:
        state.show(round_number=last_round(kept.negotiation))
    else:
        state.show(round_number=branch.at)


def show(kept: Kept, round_number: int) -> None:
    """Show a negotiation as it was just changed by hand: as moves of the workspace where it can be.

    What a model said stays in the session, and so does an opening that no workspace has.
    """
    found, now, work = table(), state.workspace(), with_moves(kept.negotiation)
    if work is None:
        state.show(round_number=round_number)
        return
    kept.source, found.shown = "", None
    others = [each for each in found.kept if each is not kept]
    found.opened, found.branch, found.kept = None, None, [*others, kept]
    work = work.changed(round_number=round_number)
    if work.protocol == now.protocol:
        state.show(**dict(work))
    else:
        state.open_workspace(work)


def with_moves(negotiation: Negotiation, base: Workspace | None = None) -> Workspace | None:
    """Return the workspace in which a negotiation is played again; None where there is none.

    Args:
        negotiation: what is played.
        base: the workspace of its study and lab; None is the open one.
    """
    setup, moves = negotiation.setup, moves_of(negotiation)
    if moves is None or (setup.scientist is ScientistKind.PERSON and setup.opening):
        return None
    work = base or state.workspace()
    if setup.opening:
        work = work.with_plan(setup.opening, own_studies.find)
    seats = {name: getattr(setup, name) for name in ("scientist", "lab_manager", "max_rounds")}
    return work.seated(**seats).changed(moves=moves)


def start_again() -> None:
    """Begin anew what was played by hand; as it was it is put aside."""
    state.show(moves=(), round_number=0)
