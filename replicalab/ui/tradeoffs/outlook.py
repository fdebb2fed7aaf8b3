"""What the Trade-offs page shows: worked out once in a run, for what the visitor has chosen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import streamlit as st

from replicalab.assessment import Assessment, AssumedEffect, effects_of
from replicalab.facts.tradeoffs import LEAST_LOSS, OFFER, plans_shown
from replicalab.models import Protocol
from replicalab.planner import PlanAnalysis, PlanToDraw, least_to_draw, plan_to_draw
from replicalab.scenarios import Pack
from replicalab.ui import state

if TYPE_CHECKING:
    from replicalab.planner.region import Region

_CHOICE: Final = "trade_offs"


class Loaded(NamedTuple):
    """A plan that was loaded into the editor: next to which button, and what is said of it."""

    place: str
    text: str
    plan: Protocol


@dataclass(frozen=True)
class ViewChoice:
    """What the visitor has chosen on the page.

    Attributes:
        study: the study that it was chosen for; another one makes all of it void.
        version: the editor's; a plan from elsewhere makes the points void.
        effect: which of the effects that the evidence may assume.
        lost: whether samples that cannot count are shown.
        as_least: whether the region is drawn for the least-loss plan's wording.
        point: days and samples, None until a point is chosen.
        clicked: the point that was clicked last, None for none.
        clicks: how often one was.
        loaded: what was loaded from here last.
    """

    study: str
    version: int
    effect: int = 0
    lost: bool = False
    as_least: bool = False
    point: tuple[int, int] | None = None
    clicked: tuple[int, int] | None = None
    clicks: int = 0
    loaded: Loaded | None = None

    @property
    def key(self) -> str:
        """What the keys of widgets end in that another choice draws anew."""
        return f"{self.version}_{self.clicks}_{int(self.as_least)}"


def chosen() -> ViewChoice:
    """Return what the visitor has chosen for the study and the plan on the screen."""
    study, version = state.case().study, state.current().version
    choice: ViewChoice | None = st.session_state.get(_CHOICE)
    if choice is None or choice.study != study:
        return ViewChoice(study, version)
    return (
        choice
        if choice.version == version
        else ViewChoice(study, version, choice.effect, choice.lost)
    )


def choose(**changes: object) -> None:
    """Change some of what is chosen."""
    st.session_state[_CHOICE] = replace(chosen(), **changes)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Outlook:
    """A plan in its lab as it is to be shown; all worked out once.

    Attributes:
        real: the study's lab, as it is written.
        options: what may be done about the plan in the lab as the visitor says it is.
        choice: what the visitor has chosen.
    """

    real: Pack
    options: PlanAnalysis
    choice: ViewChoice

    @property
    def yours(self) -> Assessment:
        """The plan in the lab."""
        return self.options.yours

    @property
    def pack(self) -> Pack:
        """The study in the lab."""
        return self.yours.pack

    @cached_property
    def plans(self) -> dict[str, Assessment]:
        """The plans that are shown, by name."""
        return plans_shown(self.options)

    @property
    def compared(self) -> dict[str, Assessment]:
        """Of these the plan and the least-loss plan."""
        return {name: plan for name, plan in self.plans.items() if name != OFFER}

    @cached_property
    def plan_to_draw(self) -> PlanToDraw:
        """The plan that the region is drawn for at first."""
        return plan_to_draw(self.options)

    @cached_property
    def least_to_draw(self) -> PlanToDraw | None:
        """The least-loss plan to draw it for instead, None when it is worded alike."""
        return least_to_draw(self.options, self.plan_to_draw)

    @property
    def drawn(self) -> PlanToDraw:
        """The plan that the region is drawn for."""
        return (self.least_to_draw if self.choice.as_least else None) or self.plan_to_draw

    @cached_property
    def effects(self) -> tuple[AssumedEffect, ...]:
        """The effects to choose from, the planning effect first; none where none can be off."""
        return effects_of(self.pack.design, self.real.design)

    @property
    def effect_place(self) -> int:
        """Which of them is chosen; the first where the study no longer has the one chosen."""
        return self.choice.effect if self.choice.effect < len(self.effects) else 0

    @property
    def effect(self) -> float | None:
        """The effect that the evidence assumes, None for the planning effect."""
        return self.effects[self.effect_place].effect if self.effect_place else None

    @cached_property
    def region(self) -> Region:
        """The region of the plan that it is drawn for."""
        from replicalab.planner.region import region  # noqa: PLC0415 - numpy, with the first

        return region(self.drawn, list(self.plans.values()), self.effect)

    @property
    def place(self) -> tuple[int, int]:
        """The days and samples chosen: those of a plan of this region until a point is chosen."""
        if self.choice.point is not None:
            return self.choice.point
        plan = self.plans.get(LEAST_LOSS, self.yours)
        if self.least_to_draw is not None and not self.choice.as_least:
            plan = self.options.offered
        return plan.counts.days, plan.counts.samples

    @cached_property
    def point(self) -> Assessment:
        """The plan at that point."""
        return self.drawn.at(*self.place)


def look(analysis: PlanAnalysis) -> Outlook:
    """Return the plan in its lab, as the visitor has chosen to see it."""
    return Outlook(state.written(), analysis, chosen())
