"""What is on the table: the negotiation that the page shows, and every way to change it.

A negotiation by rule is played at once and kept; one with a person or a model is kept as far as it
has gone. All of it lives in the session, so it survives a walk to another page.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import streamlit as st

from replicalab.cassettes import Cassette, play_cassette, shipped_cassettes
from replicalab.errors import TraceError
from replicalab.models import Protocol
from replicalab.negotiation import (
    AUTOMATIC,
    ScientistKind,
    Setup,
    Turn,
    begin,
    fork,
    negotiate,
    play_turn,
    scenario_digest,
    setup_for,
)
from replicalab.negotiation.games import state_after, trace_of
from replicalab.scenarios import Pack
from replicalab.ui import session
from replicalab.ui.negotiation.talks import Place, Talks, talks_of, told
from replicalab.ui.session import Here
from replicalab.workspace import Workspace

_KEPT: Final = "talks_kept"
_OPENED: Final = "talks_opened"
_ASIDE: Final = "talks_aside"
_BRANCH: Final = "talks_branch"
_FORKING: Final = "talks_forking"
_MOST_KEPT: Final = 16


class Opened(NamedTuple):
    """A negotiation that came from elsewhere.

    Attributes:
        talks: the negotiation.
        told: what it is and where it came from, for people.
        faults: what its replay found different; empty where every round is identical.
        seen_from: the workspace in which it was opened; with any other it is put aside.
        recorded: whether it is a recording of a language model.
    """

    talks: Talks
    told: str
    faults: tuple[str, ...]
    seen_from: Workspace
    recorded: bool = False


class Branch(NamedTuple):
    """What followed when another plan was put forward in a round of a negotiation."""

    talks: Talks
    origin: str
    at: int


# --- the negotiation on show ------------------------------------------------------------------


def current(here: Here, model: str | None) -> Talks:
    """Return the negotiation on show, played by rule where it can be.

    Args:
        here: what the page is about.
        model: the language model's name, None where none is set.

    Raises:
        NegotiationError: the plan cannot be put forward.
        TraceError: the recording cannot be played here.
    """
    opened, recording = opened_one(), session.workspace().recording
    if opened is not None:
        return opened.talks
    if recording is not None:
        return _recorded(recording, here.pack)
    return _played(setup_here(here, model), here.pack)


def setup_here(here: Here, model: str | None) -> Setup:
    """Return the setup that the workspace asks for; people and models choose their own opening."""
    work = session.workspace()
    opening = here.plan if work.scientist in AUTOMATIC else None
    setup = setup_for(here.pack, opening, work.max_rounds, work.scientist, work.lab_manager)
    named = model if work.scientist is ScientistKind.MODEL else None
    return setup.model_copy(update={"model": named}) if named else setup


def _recorded(key: str, pack: Pack) -> Talks:
    kept = st.session_state.setdefault(_KEPT, {})
    place = f"{scenario_digest(pack)} recording {key}"
    if place not in kept:
        _keep(place, talks_of(play_cassette(_cassette(key), pack), pack))
    found: Talks = kept[place]
    return found


def _cassette(key: str) -> Cassette:
    known = {cassette.key: cassette for cassette in shipped_cassettes()}
    if key not in known:
        raise TraceError(f"the recording '{key}' is not known; known: {', '.join(known)}")
    return known[key]


def _played(setup: Setup, pack: Pack) -> Talks:
    kept = st.session_state.setdefault(_KEPT, {})
    key = _key(setup, pack)
    if key not in kept:
        by_rule = setup.scientist in AUTOMATIC
        trace = negotiate(setup, pack) if by_rule else begin(setup, pack)
        _keep(key, talks_of(trace, pack))
    found: Talks = kept[key]
    return found


def _key(setup: Setup, pack: Pack) -> str:
    return f"{scenario_digest(pack)} {setup.model_dump_json()}"


def _keep(key: str, talks: Talks) -> None:
    """Keep a negotiation; of too many, forget first what a rule can play again."""
    kept: dict[str, Talks] = st.session_state.setdefault(_KEPT, {})
    kept.pop(key, None)
    kept[key] = talks
    if len(kept) > _MOST_KEPT:
        others = [each for each in kept if each != key]
        by_rule = [each for each in others if kept[each].trace.setup.scientist in AUTOMATIC]
        del kept[(by_rule or others)[0]]


def shown_round(talks: Talks) -> int:
    """Return the round on show, counted from 0: the workspace's, within what was played."""
    return min(session.workspace().round_number, talks.last)


# --- from elsewhere ---------------------------------------------------------------------------


def opened_one() -> Opened | None:
    """Return the negotiation that was opened from elsewhere, while it belongs to what is shown."""
    found: Opened | None = st.session_state.get(_OPENED)
    if found is not None and found.seen_from != _still(session.workspace()):
        put_aside()
        return None
    return found


def put_aside() -> None:
    """Put the opened negotiation aside; with what was played on in it, it stays until forgotten."""
    found: Opened | None = st.session_state.get(_OPENED)
    if found is not None:
        others = [each for each in aside() if each.talks.trace != found.talks.trace]
        st.session_state[_ASIDE] = (*others, found)
    st.session_state[_OPENED] = None


def aside() -> tuple[Opened, ...]:
    """Return the opened negotiations that are put aside, the last one last."""
    found: tuple[Opened, ...] = st.session_state.get(_ASIDE, ())
    return found


def forget(one: Opened) -> None:
    """Forget an opened negotiation that was put aside."""
    st.session_state[_ASIDE] = tuple(each for each in aside() if each is not one)


def go_back_to(one: Opened) -> None:
    """Show an opened negotiation that was put aside, in its lab; a plan in that lab is kept."""
    put_aside()
    forget(one)
    work = one.seen_from
    if _lab_of(session.workspace()) == _lab_of(work):
        work = work.changed(protocol=session.workspace().protocol)
    if work != session.workspace():
        session.open_workspace(work)
    st.session_state[_OPENED] = one._replace(seen_from=_still(work))
    drop_branch()


def _lab_of(work: Workspace) -> tuple[str, str, int]:
    return work.scenario_id, work.difficulty.value, work.seed


def _still(work: Workspace) -> Workspace:
    """Return a workspace without what may change while a negotiation stays open."""
    return work.with_levers().changed(round_number=0, presenting=False)


def open_talks(
    talks: Talks, source: str, *, faults: tuple[str, ...] = (), recorded: bool = False
) -> None:
    """Show a negotiation from elsewhere, in the workspace as it is now."""
    put_aside()
    seen_from = _still(session.workspace())
    st.session_state[_OPENED] = Opened(talks, source, faults, seen_from, recorded)
    drop_branch()


def close_opened() -> None:
    """Go back to the negotiation that the workspace asks for."""
    st.session_state[_OPENED] = None
    drop_branch()


# --- playing on -------------------------------------------------------------------------------


def play(place: Place, talks: Talks, turn: Turn, pack: Pack) -> None:
    """Play a turn, and show the round that it made."""
    _put(place, talks_of(play_turn(talks.trace, turn, pack), pack), pack)


def undo(place: Place, talks: Talks, pack: Pack) -> None:
    """Take the last round back."""
    rounds = talks.trace.rounds[:-1]
    state = state_after(talks.trace, len(rounds), pack)
    _put(place, told(trace_of(talks.trace.setup, state, rounds, pack), state, pack), pack)


def start_again(talks: Talks, pack: Pack) -> None:
    """Take every round back."""
    _put(Place.TABLE, talks_of(begin(talks.trace.setup, pack), pack), pack)


def _put(place: Place, talks: Talks, pack: Pack) -> None:
    branch, opened = st.session_state.get(_BRANCH), opened_one()
    if place is Place.BRANCH and branch is not None:
        st.session_state[_BRANCH] = branch._replace(talks=talks)
        return
    if opened is not None:
        st.session_state[_OPENED] = opened._replace(talks=talks)
    else:
        _keep(_key(talks.trace.setup, pack), talks)
    session.show_round(talks.last)


# --- branches ---------------------------------------------------------------------------------


def origin_of(talks: Talks) -> str:
    """Return what tells one negotiation from another, whatever round it has come to."""
    return f"{talks.trace.scenario_digest} {talks.trace.setup.model_dump_json()}"


def forking_at(talks: Talks) -> int | None:
    """Return the round that is being forked, counted from 0; None while none is."""
    found: tuple[str, int] | None = st.session_state.get(_FORKING)
    if found is None or found[0] != origin_of(talks) or found[1] >= len(talks.trace.rounds):
        return None
    return found[1]


def begin_fork(talks: Talks, at: int) -> None:
    """Ask for another plan in a round."""
    st.session_state[_FORKING] = (origin_of(talks), at)


def leave_fork() -> None:
    """Ask for no other plan."""
    st.session_state.pop(_FORKING, None)


def branch_off(talks: Talks, at: int, plan: Protocol, pack: Pack) -> None:
    """Put another plan forward in a round, and keep what follows beside the original."""
    found = talks_of(fork(talks.trace, at, plan, pack), pack)
    st.session_state[_BRANCH] = Branch(found, origin_of(talks), at)
    leave_fork()


def branch_of(talks: Talks) -> Branch | None:
    """Return the branch of this negotiation, None where there is none."""
    found: Branch | None = st.session_state.get(_BRANCH)
    return found if found is not None and found.origin == origin_of(talks) else None


def drop_branch() -> None:
    """Forget the branch."""
    st.session_state.pop(_BRANCH, None)


def keep_branch(branch: Branch) -> None:
    """Show the branch in place of what it came from."""
    open_talks(branch.talks, f"Your branch from round {branch.at + 1}")
    session.show_round(min(branch.at, branch.talks.last))
