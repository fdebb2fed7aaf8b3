"""Presenting: what is on the screen, slide by slide, one screen each, for an audience.

A presentation takes the place of any page and leaves it as it was. `deck` alone decides which
slides there are, in which order; the workspace, and so the address, holds which one is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final, NamedTuple

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.errors import NegotiationError, TraceError
from replicalab.figures import CONFIG
from replicalab.lexicon import capitalised
from replicalab.panels import Slide
from replicalab.panels.present import (
    beside_slide,
    outcome_slide,
    plan_slide,
    point_panel,
    question_slide,
    region_slide,
    round_slide,
    stated_slide,
    top_panel,
)
from replicalab.planner import Options
from replicalab.text.tradeoffs import means_text, own_items_text, region_title, shade_text
from replicalab.ui import panel, state
from replicalab.ui.negotiation import aside, settings, table
from replicalab.ui.negotiation.table import NOT_DRAWN, Kept
from replicalab.ui.tradeoffs.outlook import Outlook, look
from replicalab.ui.tradeoffs.region import region_chart

_PLOT: Final = 215
"""The height of the region's plot before it is enlarged, in px; a higher screen shows it higher."""
_LARGER: Final = 1.7
"""How many times larger than on a page the region is, so that its smallest type has 22 px."""
_SEEN: Final = (
    ("Back", "chevron_left", "Left", "back"),
    ("Next", "chevron_right", "Right", "next"),
    ("Leave", "close", "Esc", "leave"),
)
_UNSEEN: Final = (
    ("PageUp", "back"),
    ("Up", "back"),
    ("PageDown", "next"),
    ("Down", "next"),
    ("Space", "next"),
    ("Home", "first"),
    ("End", "last"),
)
"""A button has one key of its own: these are further keys of a clicker and of a keyboard."""


class Shown(NamedTuple):
    """A slide: what it shows, and its panel, made when it is shown."""

    slide: Slide
    panel: Callable[[], str]


def draw(here: Options) -> None:
    """Draw in a corner the way on, where it stays from slide to slide, and the slide on show."""
    slides = deck(here)
    last, story = len(slides), state.told_story()
    number = min(state.workspace().presenting, last)
    shown = slides[number - 1]
    _draw_ways(number, last)
    panels = [top_panel(here.yours.pack, number, last), shown.panel()]
    if story is not None and number == last:
        panels.append(point_panel(story.title, story.line))
    panel.draw(*panels)
    if shown.slide is Slide.REGION:
        _draw_region(look(here))


# --- the deck -------------------------------------------------------------------------------


def deck(here: Options) -> list[Shown]:
    """Return the slides: a story's up to its point; of a run that is not confirmed only its words.

    How it ended comes after every round, and what would give that away after it.
    """
    yours = here.yours
    question = Shown(Slide.QUESTION, partial(question_slide, yours))
    own = Shown(Slide.PLAN, partial(plan_slide, yours))
    try:
        aside.settle()
        kept = table.current(yours, settings.seated_model())
    except (NegotiationError, TraceError) as error:
        told = Shown(Slide.OUTCOME, partial(stated_slide, "No negotiation", f"{error}."))
        return _told([question, own, told, *_after(here, None)])
    if not kept.confirmed:
        return [question, *_negotiated(kept)]
    return _told([question, own, *_negotiated(kept), *_after(here, kept)])


def _told(slides: list[Shown]) -> list[Shown]:
    """Return the slides up to the point of the story that is told; all where none is."""
    story = state.told_story()
    kinds = [shown.slide for shown in slides]
    if story is None or story.ends not in kinds:
        return slides
    return slides[: kinds.index(story.ends) + 1]


def _negotiated(kept: Kept) -> Iterator[Shown]:
    negotiation, note = kept.negotiation, "" if kept.confirmed else NOT_DRAWN
    for at in range(len(negotiation.rounds)):
        yield Shown(Slide.ROUND, partial(round_slide, negotiation, at, note))
    yield Shown(Slide.OUTCOME, partial(outcome_slide, negotiation, kept.verdict, note))


def _after(here: Options, kept: Kept | None) -> Iterator[Shown]:
    """Yield your plan beside each other one, and the region."""
    for plan, names in _others(here, kept):
        yield Shown(Slide.BESIDE, partial(beside_slide, here.yours, plan, *names))
    yield Shown(Slide.REGION, partial(_region_heading, here))


def _others(here: Options, kept: Kept | None) -> list[tuple[Assessment, list[str]]]:
    """Return each plan to be seen beside yours, with all its names."""
    named = [(here.offered, "the Lab Manager’s offer"), (here.least.after, "the least-loss plan")]
    if kept is not None and (last := kept.negotiation.state.plan) is not None:
        named.append((last, "the last plan of the negotiation"))
    found: list[tuple[Assessment, list[str]]] = []
    for plan, name in named:
        same = next((names for each, names in found if each.plan == plan.plan), None)
        if same is not None:
            same.append(name)
        elif plan.plan != here.yours.plan and plan.pack == here.yours.pack:
            found.append((plan, [name]))
    return found


# --- the region -----------------------------------------------------------------------------


def _region_heading(here: Options) -> str:
    view = look(here)
    shade = shade_text(view.region.plan.evidence)
    reading = f"{capitalised(means_text(view.pack))}. {capitalised(shade)}; hatched: does not fit."
    own = own_items_text(view.drawn, view.yours, view.effect)
    return region_slide(region_title(view.region), reading, own)


def _draw_region(view: Outlook) -> None:
    """Draw the region's figure."""
    title = region_title(view.region)
    with st.container(key="stage_region"):
        st.plotly_chart(
            region_chart(view, None, plot=_PLOT, by=_LARGER),
            key="stage_chart",
            height="stretch",
            config={**CONFIG, "staticPlot": True},
            theme=None,
            alt=f"{title} {means_text(view.pack)}. Days against samples.",
        )


# --- the way on -----------------------------------------------------------------------------


def open_first() -> None:
    """Present from the first slide."""
    state.show(presenting=1)


def _draw_ways(number: int, last: int) -> None:
    """Draw back, next and leave in a corner; every key of a clicker is heard."""
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
