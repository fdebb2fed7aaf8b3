"""Presenting: what is on the screen, slide by slide, one screen each, for an audience.

A presentation takes the place of any page and leaves it as it was. `deck` alone decides which
slides there are, in which order; the workspace, and so the address, holds which one is shown.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final, NamedTuple

import plotly.graph_objects as go
import streamlit as st

from replicalab.assessment import Assessment
from replicalab.errors import NegotiationError, TraceError
from replicalab.lexicon import capitalised
from replicalab.models import LabManagerActionType
from replicalab.negotiation import Negotiation
from replicalab.planner import PlanAnalysis, PlanToDraw, plan_to_draw
from replicalab.planner.region import Region, region
from replicalab.render import figures
from replicalab.scenarios import Pack
from replicalab.ui import panel, state
from replicalab.ui.negotiation import model, table
from replicalab.ui.negotiation.table import NOT_DRAWN, RunSession
from replicalab.views import present
from replicalab.views.blocks import Panel
from replicalab.views.negotiation import last_plan_text
from replicalab.views.region import (
    drawn_for_text,
    fillings_text,
    limit_texts,
    means_text,
    own_items_text,
    region_title,
)
from replicalab.views.verdicts import answer_to

# The height of the region's plot before it is enlarged, in px; a higher screen shows it higher.
_PLOT: Final = 215
# How many times larger than on a page the region is, so that its smallest type has 22 px.
_LARGER: Final = 1.7
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
    """A slide: what it shows, its panel, and the figure below it; made when it is shown."""

    slide: present.Slide
    panel: Callable[[], Panel]
    figure: Callable[[], go.Figure] | None = None


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
    if shown.figure is not None:
        _draw_region(shown.figure(), here.yours.pack)


# --- the deck -------------------------------------------------------------------------------


def deck(here: PlanAnalysis) -> list[Shown]:
    """Return the slides of what is open, a story's up to its point."""
    try:
        kept = table.current(here.yours, model.seated_model())
    except (NegotiationError, TraceError) as error:
        found = slides(here, None, f"{error}.")
    else:
        found = slides(here, kept)
    story = state.open_story()
    kinds = [shown.slide for shown in found]
    if story is None or story.ends not in kinds:
        return found
    return found[: kinds.index(story.ends) + 1]


def slides(here: PlanAnalysis, kept: RunSession | None, refused: str = "") -> list[Shown]:
    """Return the slides of a plan and its negotiation; of one not confirmed only its words.

    How it ended comes after every round, and what would give that away after it. Without a
    negotiation ``refused`` says why there is none.
    """
    yours = here.yours
    question = Shown(present.Slide.QUESTION, partial(present.question_slide, yours))
    own = Shown(present.Slide.PLAN, partial(present.plan_slide, yours))
    if kept is None:
        outcome = Shown(
            present.Slide.OUTCOME, partial(present.stated_slide, "No negotiation", refused)
        )
        return [question, own, outcome, *_after(here, None)]
    if not kept.confirmed:
        return [question, *_negotiated(kept)]
    return [question, own, *_negotiated(kept), *_after(here, kept.negotiation)]


def _negotiated(kept: RunSession) -> Iterator[Shown]:
    negotiation, note = kept.negotiation, "" if kept.confirmed else NOT_DRAWN
    for at in range(len(negotiation.rounds)):
        yield Shown(present.Slide.ROUND, partial(present.round_slide, negotiation, at, note))
    yield Shown(
        present.Slide.OUTCOME, partial(present.outcome_slide, negotiation, kept.verdict, note)
    )


def _after(here: PlanAnalysis, negotiation: Negotiation | None) -> Iterator[Shown]:
    """Yield your plan next to each other one, and the region of the plan that it came to."""
    for plan, names in _others(here, negotiation):
        yield Shown(present.Slide.BESIDE, partial(present.beside_slide, here.yours, plan, *names))
    fit = _Fit(here, negotiation)
    yield Shown(present.Slide.REGION, fit.heading, fit.figure)


def _others(
    here: PlanAnalysis, negotiation: Negotiation | None
) -> list[tuple[Assessment, list[str]]]:
    """Return each plan to be seen next to yours, with all its names."""
    offered, last = _offered(here, negotiation), negotiation and negotiation.state.plan
    named = [(offered, "the Lab Manager’s offer")] if offered else []
    named.append((here.least.after, "the least-loss plan"))
    if negotiation and last:
        named.append((last, last_plan_text(negotiation)))
    found: list[tuple[Assessment, list[str]]] = []
    for plan, name in named:
        same = next((names for each, names in found if each.plan == plan.plan), None)
        if same is not None:
            same.append(name)
        elif plan.plan != here.yours.plan and plan.pack == here.yours.pack:
            found.append((plan, [name]))
    return found


def _offered(here: PlanAnalysis, negotiation: Negotiation | None) -> Assessment | None:
    """Return what the Lab Manager suggests in place of your plan, None where nothing is."""
    if negotiation is None:
        suggests = answer_to(here) is LabManagerActionType.SUGGEST_ALTERNATIVE
        return here.offered if suggests else None
    answers = (
        done for done in negotiation.rounds if done.plan and done.plan.plan == here.yours.plan
    )
    return next((done.after.offer for done in answers if done.after.offer), None)


# --- the region -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Fit:
    """The region of the plan that a negotiation came to; of yours without a negotiation."""

    here: PlanAnalysis
    negotiation: Negotiation | None

    @cached_property
    def plan(self) -> Assessment:
        """The plan that it is drawn for."""
        last = self.negotiation.state.plan if self.negotiation else None
        yours = self.here.yours
        return last if last and last.plan != yours.plan and last.pack == yours.pack else yours

    @cached_property
    def drawn(self) -> PlanToDraw:
        """The same, with substitutions where only they let some days and samples fit."""
        return plan_to_draw(self.here if self.plan is self.here.yours else PlanAnalysis(self.plan))

    @cached_property
    def plans(self) -> dict[str, Assessment]:
        """The plans to mark, by name: of the others those that are points of this region."""
        here, offered = self.here, _offered(self.here, self.negotiation)
        others = {
            figures.YOUR_PLAN: here.yours,
            figures.OFFER: offered,
            figures.LEAST_LOSS: here.least.after,
        }
        found = {figures.YOUR_PLAN if self.plan is here.yours else figures.LAST: self.plan}
        for name, plan in others.items():
            if plan and not plan.evidence.void_reason and self.drawn.holds(plan):
                found.setdefault(name, plan)
        return found

    @cached_property
    def region(self) -> Region:
        """The plans over days and samples."""
        return region(self.drawn, [*self.plans.values()])

    @property
    def name(self) -> str:
        """What the plan is called that it is drawn for."""
        if self.negotiation is None or self.plan is self.here.yours:
            return "your plan"
        return last_plan_text(self.negotiation)

    def heading(self) -> Panel:
        """Return what stands above it: what fits, and for which plan and lab."""
        means = capitalised(means_text(self.plan.pack))
        shade = capitalised(fillings_text(self.region.plan.evidence))
        return present.region_slide(
            region_title(self.region),
            drawn_for_text(self.drawn, self.plan, self.name),
            f"{means}. {shade}.",
        )

    def figure(self) -> go.Figure:
        """Return the map, with the plans in it."""
        noted = own_items_text(self.drawn, self.plan, None)
        called = {figures.LAST: self.name.removeprefix("the ")}
        marks = [
            figures.Mark(
                name,
                plan,
                f"{called.get(name, name)}{'*' * bool(noted and plan is self.plan)}",
                plan.evidence.number,
            )
            for name, plan in self.plans.items()
        ]
        limits = {limit: text.label for limit, text in limit_texts(self.plan.pack).items()}
        return figures.region_figure(self.region, marks, limits, None, plot=_PLOT, by=_LARGER)


def _draw_region(figure: go.Figure, pack: Pack) -> None:
    with st.container(key="stage_region"):
        st.plotly_chart(
            figure,
            key="stage_chart",
            height="stretch",
            config={**figures.CONFIG, "staticPlot": True},
            theme=None,
            alt=f"What fits {means_text(pack)}. Days against samples.",
        )


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
