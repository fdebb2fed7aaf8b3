"""Presenting: what is on the screen, slide by slide, one screen each, for an audience.

A presentation takes the place of any page and leaves it as it was. `deck` alone decides which
slides there are, in which order; the workspace, and so the address, holds which one is shown.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

import streamlit as st

from replicalab.errors import NegotiationError, TraceError
from replicalab.negotiation import concession_steps
from replicalab.planner import PlanAnalysis
from replicalab.ui import panel, state
from replicalab.ui.library.keeping import note_of
from replicalab.ui.negotiation import model, table
from replicalab.ui.negotiation.table import RunSession
from replicalab.views import present
from replicalab.views.blocks import Panel
from replicalab.views.present import Slide
from replicalab.views.rounds import suggested

_SEEN: Final = (
    ("Back", "chevron_left", "Left", "back"),
    ("Next", "chevron_right", "Right", "next"),
    ("Leave", "close", "Esc", "leave"),
)
# A button has one key of its own: these are further keys of a clicker and of a keyboard.
_UNSEEN: Final = (
    ("PageUp", "back"),
    ("Up", "back"),
    ("PageDown", "next"),
    ("Down", "next"),
    ("Space", "next"),
    ("Home", "first"),
    ("End", "last"),
)


class Shown(NamedTuple):
    """A slide: what it shows, and its panel, which is made when it is shown."""

    slide: Slide
    panel: Callable[[], Panel]


def draw(here: PlanAnalysis) -> None:
    """Draw in a corner the way on, where it stays from slide to slide, and the slide on show."""
    shown_slides = deck(here)
    last, story = len(shown_slides), state.open_story()
    number = min(state.workspace().presenting, last)
    shown = shown_slides[number - 1]
    _draw_ways(number, last)
    panels = [present.top_panel(here.yours.pack, number, last), shown.panel()]
    if story is not None and number == last:
        panels.append(present.point_panel(story.title, story.line))
    panel.draw(*panels)


# --- the deck -------------------------------------------------------------------------------


def deck(here: PlanAnalysis) -> list[Shown]:
    """Return the slides of what is open."""
    try:
        kept = table.current(here.yours, model.seated_model())
    except (NegotiationError, TraceError) as error:
        return slides(here, None, note_of(here.yours), f"{error}.")
    return slides(here, kept, note_of(here.yours))


def slides(
    here: PlanAnalysis, kept: RunSession | None, note: str = "", refused: str = ""
) -> list[Shown]:
    """Return the slides of a plan and its negotiation.

    The rounds come before the outcome. The last slide shows the note of the saved plan. Without a
    negotiation, ``refused`` gives the reason.
    """
    yours = here.yours
    stake = Shown(Slide.STAKE, partial(present.stake_slide, yours))
    own = Shown(Slide.PLAN, partial(present.plan_slide, yours))
    negotiation = kept.negotiation if kept else None
    decision = Shown(Slide.DECISION, partial(present.decision_slide, here, negotiation, note))
    if kept is None:
        none = Shown(Slide.OUTCOME, partial(present.stated_slide, "No negotiation", refused))
        return [stake, own, none, decision]
    return [stake, own, *_argument(kept), decision]


def _argument(kept: RunSession) -> Iterator[Shown]:
    """Yield what was refused, asked and given up, round by round; the sum of it; and the end."""
    negotiation = kept.negotiation
    steps, changes = concession_steps(negotiation), suggested(negotiation)
    for done in negotiation.rounds:
        for at, step in enumerate(steps):
            if step.round_number == done.number:
                yield Shown(Slide.CONCESSION, partial(present.concession_slide, steps, at, changes))
        if done.only_asks:
            yield Shown(Slide.ROUND, partial(present.round_slide, negotiation, done.number))
        elif present.is_refused(negotiation, done.number):
            yield Shown(Slide.REFUSED, partial(present.refused_slide, negotiation, done.number))
    if steps:
        yield Shown(Slide.LEDGER, partial(present.ledger_slide, steps, changes))
    yield Shown(Slide.OUTCOME, partial(present.outcome_slide, negotiation, kept.verdict))


# --- the way on -----------------------------------------------------------------------------


def open_first() -> None:
    """Present from the first slide."""
    state.show(presenting=1)


def _draw_ways(number: int, last: int) -> None:
    ends = {"back": number == 1, "first": number == 1, "next": number == last}
    ends["last"] = number == last
    with st.container(key="stage_ways", horizontal=True):
        for label, icon, shortcut, way in _SEEN:
            st.button(
                label,
                icon=f":material/{icon}:",
                type="tertiary",
                on_click=_go,
                args=(way, last),
                disabled=ends.get(way, False),
                shortcut=shortcut,
            )
    with st.container(key="stage_keys"):
        for shortcut, way in _UNSEEN:
            st.button(
                shortcut,
                key=f"stage_{shortcut}",
                on_click=_go,
                args=(way, last),
                disabled=ends[way],
                shortcut=shortcut,
            )


def _go(way: str, last: int) -> None:
    """Go from the slide that is shown now, so that quick presses add up."""
    now = min(state.workspace().presenting, last)
    to = {"first": 1, "back": max(1, now - 1), "next": min(now + 1, last), "last": last, "leave": 0}
    state.show(presenting=to[way])
