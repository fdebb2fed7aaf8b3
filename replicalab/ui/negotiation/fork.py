"""Another plan in a round of the past, and what follows from it beside the original."""

from __future__ import annotations

from functools import partial
from itertools import zip_longest
from typing import Final, NamedTuple

import streamlit as st

from replicalab.negotiation import fork
from replicalab.panels.negotiation import branches_panel, outcome_panel
from replicalab.text.negotiation import outcome_verdict
from replicalab.ui import beside, panel, state
from replicalab.ui.beside import Wanted
from replicalab.ui.controls import button
from replicalab.ui.editor import Form, draw_fields, draw_preview
from replicalab.ui.negotiation import moves
from replicalab.ui.negotiation.aside import keep_branch
from replicalab.ui.negotiation.table import (
    Branch,
    Kept,
    is_full,
    last_round,
    shown_round,
    table,
    with_moves,
)

_NAMES: Final = ("As it was", "Your branch")
"""What the two courses are called."""


def draw_button(kept: Kept) -> None:
    """Draw the way to fork at the round on show."""
    if _forking(kept) is None:
        at = shown_round(kept.negotiation)
        button(
            "Fork here",
            "call_split",
            partial(_ask, (kept, at)),
            help=f"Put another plan forward in round {at + 1}, and compare what follows.",
        )


def _forking(kept: Kept) -> int | None:
    """Return the round of this negotiation for which another plan is asked; None where none is."""
    asked, at = table().forking or (None, 0)
    return at if asked is kept and at < len(kept.negotiation.rounds) else None


def draw(kept: Kept) -> None:
    """Draw the form for another plan, and the branch beside the original."""
    if (at := _forking(kept)) is not None:
        _draw_form(kept, at)
    branch = branch_of(kept)
    if branch is not None:
        _draw_branches(branch)


def branch_of(kept: Kept) -> Branch | None:
    """Return the branch of this negotiation, None where there is none."""
    found = table().branch
    return found if found is not None and found.origin is kept else None


class OnShow(NamedTuple):
    """The course whose rounds are shown, and what it is called where there are two."""

    kept: Kept
    name: str = ""


def on_show(kept: Kept) -> OnShow:
    """Return which course is looked at, round by round: the branch while that is played on."""
    branch = branch_of(kept)
    if branch is None:
        return OnShow(kept)
    was, other = _NAMES
    goes_on = branch.kept.negotiation.ending is None
    return OnShow(branch.kept, other) if goes_on else OnShow(kept, was)


def _ask(forking: tuple[Kept, int] | None) -> None:
    """Ask for another plan in a round of a negotiation; None asks for none."""
    table().forking = forking


def _draw_form(kept: Kept, at: int) -> None:
    negotiation = kept.negotiation
    form = moves.form_of(f"fork_{at}", negotiation, negotiation.rounds[at].plan)
    with st.container(border=True, key="forking"):
        st.header(f"What if round {at + 1} had gone differently?")
        st.caption("The fields hold the plan of that round. Change it, then go on from there.")
        fields, preview = st.columns([3, 2], gap="large")
        with fields:
            draw_fields(form, negotiation.pack)
        with preview:
            draw_preview(form, negotiation.pack)
            with st.container(horizontal=True, key="forking_buttons"):
                button(
                    "Continue from here",
                    "call_split",
                    partial(_branch_off, kept, at, form),
                    type="primary",
                )
                st.button("Cancel", on_click=_ask, args=(None,))


def _branch_off(kept: Kept, at: int, form: Form) -> None:
    """Fork with what the fields hold at the moment of the press, and keep both courses."""
    plan = form.read()
    if plan is not None and not is_full():
        branch = table().branch = Branch(kept, at, Kept(fork(kept.negotiation, at, plan)))
        table().forking = None
        if branch.kept.negotiation.ending is None:
            state.show(round_number=last_round(branch.kept.negotiation))


def _draw_branches(branch: Branch) -> None:
    original, other = branch.origin.negotiation, branch.kept.negotiation
    st.header(f"Two branches from round {branch.at + 1}")
    outcomes = (
        outcome_panel(outcome_verdict(each), name, is_open=each.outcome is None)
        for name, each in zip(_NAMES, (original, other), strict=True)
    )
    pairs = list(zip_longest(original.rounds, other.rounds))[branch.at :]
    panel.draw(*outcomes, branches_panel(pairs, branch.at + 1))
    with st.container(horizontal=True, key="branch_buttons"):
        button(
            "Keep the branch",
            "check",
            partial(keep_branch, branch),
            help="Shows the branch in place of the run as it was. A button brings that back.",
        )
        button("Drop the branch", "delete", drop)
        _draw_comparing(branch)
    moves.draw(branch.kept, "branch")


def _draw_comparing(branch: Branch) -> None:
    """Draw the way to compare both courses, where moves say all of them."""
    works = [with_moves(each.negotiation) for each in (branch.origin, branch.kept)]
    pairs = zip(_NAMES, works, strict=True)
    found = [Wanted(name, work, run=True) for name, work in pairs if work]
    if len(found) == len(_NAMES) and st.button("Compare the two", icon=":material/compare_arrows:"):
        beside.keep_only(found)
        st.switch_page(beside.PAGE, query_params=state.address())


def drop() -> None:
    """Forget the branch."""
    table().branch = None
