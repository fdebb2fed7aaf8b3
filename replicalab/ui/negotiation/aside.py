"""What gives way to something else on the Negotiation page, and every way back to it.

A recorded run, or a file, stands in for the visitor's own study, lab and plan, which come back when
it is closed. What was played by hand, or opened, is put aside where another study, lab or player
takes its place.
"""

from __future__ import annotations

from replicalab.negotiation import AUTOMATIC
from replicalab.text.lab import lab_text
from replicalab.ui import state
from replicalab.ui.negotiation.table import (
    Branch,
    Kept,
    Left,
    last_round,
    show,
    table,
    with_moves,
)
from replicalab.ui.workspace import Workspace


def settle() -> None:
    """Put aside what the workspace has moved on from: from elsewhere, by hand, or one's own."""
    found, now = table(), state.workspace()
    if found.shown is not None and not _goes_on(found.shown.workspace, now):
        _keep_aside(found.shown)
    opened = found.opened
    moved_on = opened is not None and opened.seen_from != _still(now)
    at_home = now.recording is None and (opened is None or moved_on)
    if found.own is not None and at_home:
        if _still(now) != _still(found.own.workspace):
            _keep_aside(found.own)
        found.own = None
    if moved_on:
        put_aside()


def _goes_on(was: Workspace, now: Workspace) -> bool:
    """Return whether what was played by hand is still being played; an own one waits elsewhere."""
    own = table().own
    if own is not None and own.workspace == was:
        return True
    if not now.moves or (was.scientist in AUTOMATIC and was.protocol != now.protocol):
        return False
    return was.seated(**_places(now)) == was.seated()


def _places(work: Workspace) -> dict[str, object]:
    """Return where a negotiation is played, by whom, and for how long."""
    lab = ("scenario_id", "own", "difficulty", "seed", "own_lab", "question")
    fields = (*lab, "scientist", "lab_manager", "max_rounds")
    return {name: getattr(work, name) for name in fields}


def put_aside() -> None:
    """Put the opened negotiation aside; with what was played on in it, it stays until forgotten."""
    found = table()
    if (opened := found.opened) is not None:
        _keep_aside(Left(opened.seen_from or state.workspace(), opened, opened.source))
    found.opened = None


def _keep_aside(left: Left) -> None:
    table().aside = [*(each for each in table().aside if not _is_same(each, left)), left]


def _is_same(one: Left, other: Left) -> bool:
    if one.opened and other.opened:
        return one.opened.negotiation == other.opened.negotiation
    return one.opened is other.opened and _still(one.workspace) == _still(other.workspace)


def forget(one: Kept) -> None:
    """Forget a negotiation that is not on show: one put aside, a branch, or one played before."""
    found = table()
    found.aside = [each for each in found.aside if each.opened is not one]
    found.kept = [each for each in found.kept if each is not one]
    if found.branch and found.branch.kept is one:
        found.branch = None


def forget_left(one: Left) -> None:
    """Forget what was put aside."""
    table().aside = [each for each in table().aside if each is not one]


def go_back_to(one: Left) -> None:
    """Show what was put aside, in its lab; a plan in that lab is kept beside an opened one."""
    forget_left(one)
    now, work = state.workspace(), one.workspace
    if one.opened is None:
        put_aside()
        state.open_workspace(work)
        return
    same = now.where == work.where
    open_kept(one.opened, work.changed(protocol=now.protocol) if same else work)


def _still(work: Workspace) -> Workspace:
    """Return a workspace without what may change while a negotiation stays open."""
    return work.changed(round_number=0, presenting=0)


def leave_own() -> None:
    """Remember where the visitor is before something from elsewhere is opened."""
    found, work = table(), state.workspace()
    if found.own is None and found.opened is None and work.recording is None:
        pack = state.here().yours.pack
        found.own = Left(work, None, f"{pack.paper.title}, {lab_text(pack)}")


def go_back_to_own() -> None:
    """Bring study, lab and plan back as they were before something from elsewhere was opened."""
    found, recording = table(), state.workspace().recording
    forked, found.opened, found.branch = found.opened is not None, None, None
    if forked and recording is not None:
        return  # a branch of a recorded run gives way to it
    if (own := found.own) is not None:
        found.own, found.shown = None, own if own.workspace.moves else None
        state.open_workspace(own.workspace)
    elif recording is not None:
        state.open_workspace(state.workspace().seated())


def open_kept(found: Kept, work: Workspace) -> None:
    """Show a negotiation from elsewhere, in this workspace."""
    leave_own()
    put_aside()
    forget(found)
    left = Left(work, found, found.source)
    table().aside = [each for each in table().aside if not _is_same(each, left)]
    if work != state.workspace():
        state.open_workspace(work)
    found.seen_from = _still(work)
    table().opened, table().branch = found, None


def keep_branch(branch: Branch) -> None:
    """Show a branch in place of what it came from, which is put aside if a rule cannot play it."""
    found, kept = table(), branch.kept
    put_aside()
    if found.shown is not None:
        _keep_aside(found.shown)
    if with_moves(kept.negotiation) is None:
        kept.source = f"Your branch from round {branch.at + 1}"
        open_kept(kept, state.workspace())
    else:
        found.branch = None
    show(kept, min(branch.at, last_round(kept.negotiation)))
