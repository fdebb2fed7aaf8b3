"""The plan on the Trade-offs page, computed once per run, as the visitor has chosen to see it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import streamlit as st

from replicalab.assessment import Assessment, AssumedEffect, effects_of
from replicalab.facts.region import LEAST_LOSS, OFFER, plans_shown
from replicalab.models import Protocol
from replicalab.planner import PlanAnalysis, PlanToDraw, least_to_draw, plan_to_draw
from replicalab.scenarios import Pack
from replicalab.ui import state

if TYPE_CHECKING:
    from replicalab.planner.region import Region

_CHOICE: Final = "trade_offs"


class Loaded(NamedTuple):
    """A plan that was loaded into the editor: next to which button, and its message."""

    place: str
    text: str
    plan: Protocol


@dataclass(frozen=True)
class ViewChoice:
    """The visitor's choices on the page.

    Attributes:
        study: their study; they end with it.
        version: the editor's; another one ends the choice of a point.
        lost: whether samples that cannot count are shown.
        as_least: whether the region is drawn for the least-loss plan's wording.
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
        """The end of the keys of widgets that another choice redraws."""
        return f"{self.version}_{self.clicks}_{int(self.as_least)}"


def chosen() -> ViewChoice:
    """Return the visitor's choices for the open study and plan."""
    study, version = state.case().study, state.current().version
    choice: ViewChoice | None = st.session_state.get(_CHOICE)
    if choice is None or choice.study != study:
        return ViewChoice(study, version)
    if choice.version != version:
        return ViewChoice(study, version, choice.effect, choice.lost)
    return choice


def choose(**changes: object) -> None:
    """Change some of the choices."""
    st.session_state[_CHOICE] = replace(chosen(), **changes)  # type: ignore[arg-type]


def look(analysis: PlanAnalysis) -> Outlook:
    """Return the plan in its lab as it is shown."""
    return Outlook(state.written(), analysis, chosen())


@dataclass(frozen=True)
class Outlook:
    """A plan in its lab as it is shown."""

    real: Pack  # the study's lab, without the visitor's overrides
    options: PlanAnalysis  # of the plan in the visitor's lab
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
        """The plan and the least-loss plan, by name."""
        return {name: plan for name, plan in self.plans.items() if name != OFFER}

    @cached_property
    def plan_to_draw(self) -> PlanToDraw:
        """The plan that the region is drawn for at first."""
        return plan_to_draw(self.options)

    @cached_property
    def least_to_draw(self) -> PlanToDraw | None:
        """The least-loss plan to draw the region for instead, None if it is worded alike."""
        return least_to_draw(self.options, self.plan_to_draw)

    @property
    def drawn(self) -> PlanToDraw:
        """The plan that the region is drawn for."""
        return (self.least_to_draw if self.choice.as_least else None) or self.plan_to_draw

    @cached_property
    def effects(self) -> tuple[AssumedEffect, ...]:
        """The effects to choose from, the planning effect first; empty for certain evidence."""
        return effects_of(self.pack.design, self.real.design)

    @property
    def effect_place(self) -> int:
        """The place of the chosen effect; the first if the study no longer has it."""
        return self.choice.effect if self.choice.effect < len(self.effects) else 0

    @property
    def effect(self) -> float | None:
        """The effect that the evidence assumes, None for the planning effect."""
        return self.effects[self.effect_place].effect if self.effect_place else None

    @cached_property
    def region(self) -> Region:
        """The region of the drawn plan."""
        from replicalab.planner.region import region  # noqa: PLC0415 - numpy, with the first

        return region(self.drawn, list(self.plans.values()), self.effect)

    @property
    def place(self) -> tuple[int, int]:
        """The chosen days and samples, at first those of a plan of this region."""
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
