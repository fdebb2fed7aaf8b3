"""Presentations: the open plan and its negotiation as slides, in place of any page."""

from collections.abc import Iterator
from typing import Final, NamedTuple

import streamlit as st

from replicalab.errors import NegotiationError, TraceError
from replicalab.facts import blocks, negotiation_facts, slide_facts
from replicalab.facts.blocks import Panel
from replicalab.facts.lab_facts import lab_text
from replicalab.facts.round_facts import suggested
from replicalab.facts.slide_facts import Slide
from replicalab.negotiation import concession_steps
from replicalab.planner import PlanAnalysis
from replicalab.ui import screen, state
from replicalab.ui.library_page.keeping import note_of
from replicalab.ui.negotiation_page import sessions
from replicalab.ui.negotiation_page.sessions import RunSession

_BUTTONS: Final = (
    ("Back", "chevron_left", "Left", "back"),
    ("Next", "chevron_right", "Right", "next"),
    ("Leave", "close", "Esc", "leave"),
)
# A button has one shortcut: hidden buttons have the other keys of clickers and keyboards.
_KEYS: Final = (
    ("PageUp", "back"),
    ("Up", "back"),
    ("PageDown", "next"),
    ("Down", "next"),
    ("Space", "next"),
    ("Home", "first"),
    ("End", "last"),
)


class SlidePanel(NamedTuple):
    """A slide: its kind and its panel."""

    slide: Slide
    panel: Panel


def draw(here: PlanAnalysis) -> None:
    """Draw the buttons and the slide on show; the others are for the printer."""
    note, story = note_of(here.yours), state.open_story()
    try:
        panels = [shown.panel for shown in slides(here, sessions.current(here.yours), note)]
    except (NegotiationError, TraceError) as error:
        panels = [shown.panel for shown in slides(here, None, note)]
        panels.insert(2, blocks.panel("slide_stated", title="No negotiation", text=f"{error}."))
    last = len(panels)
    number = min(state.workspace().presenting, last)
    _draw_buttons(number, last)
    pack = here.yours.pack
    point = blocks.panel("slide_point", title=story.title, line=story.line) if story else None
    head = {"study": pack.paper.name, "lab": lab_text(pack), "point": point}
    screen.draw(blocks.panel("deck", **head, slides=panels, number=number))


def slides(here: PlanAnalysis, session: RunSession | None, note: str = "") -> Iterator[SlidePanel]:
    """Yield the slides of a plan and its negotiation; the last one shows the plan's note."""
    yours = here.yours
    negotiation, verdict = (session.negotiation, session.verdict) if session else (None, None)
    players = (negotiation.setup.scientist, negotiation.setup.lab_manager) if negotiation else ()
    yield SlidePanel(Slide.STAKE, slide_facts.stake_slide(yours, *players))
    yield SlidePanel(Slide.PLAN, slide_facts.plan_slide(yours))
    if negotiation is not None:
        steps, changes = concession_steps(negotiation), suggested(negotiation)
        for at in range(len(slide_facts.scientist_concessions(negotiation))):
            yield SlidePanel(
                Slide.CONCESSION, slide_facts.concession_slide(negotiation, at, changes)
            )
        if steps:
            yield SlidePanel(Slide.LEDGER, slide_facts.ledger_slide(steps, changes))
        opening = next((done.plan for done in negotiation.rounds if done.plan), None)
        rule = negotiation_facts.simple_rule_run(negotiation)
        if rule is not None and opening is not None and opening.failing:
            yield SlidePanel(Slide.RULE, slide_facts.rule_slide(negotiation, rule))
    decided = slide_facts.decided_plan(here, negotiation)
    for slide in screen.draw_features("slides", decided).values():
        yield SlidePanel(Slide.FEATURE, slide)
    yield SlidePanel(Slide.DECISION, slide_facts.decision_slide(here, negotiation, verdict, note))


def _draw_buttons(number: int, last: int) -> None:
    ends = {"back": number == 1, "first": number == 1, "next": number == last}
    ends["last"] = number == last
    with st.container(key="stage_ways", horizontal=True):
        for label, icon, shortcut, way in _BUTTONS:
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
        for shortcut, way in _KEYS:
            st.button(
                shortcut,
                key=f"stage_{shortcut}",
                on_click=_go,
                args=(way, last),
                disabled=ends[way],
                shortcut=shortcut,
            )


def _go(way: str, last: int) -> None:
    # From the slide on show now, so that quick presses add up.
    now = min(state.workspace().presenting, last)
    to = {"first": 1, "back": max(1, now - 1), "next": min(now + 1, last), "last": last, "leave": 0}
    state.update(presenting=to[way])
