"""The plan that the Trade-offs page shows, and the visitor's choices of how to show it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import streamlit as st

from replicalab import assessment, models, scenarios
from replicalab.facts.region_facts import LEAST_LOSS, plans_shown
from replicalab.planner import PlanAnalysis, PlanToDraw, least_to_draw, plan_to_draw
from replicalab.ui import state

if TYPE_CHECKING:
    from replicalab.planner.region import Region

_CHOICE: Final = "trade_offs"


class LoadedPlan(NamedTuple):
    """A plan that was loaded into the editor, and its message."""

    text: str
    plan: models.Protocol


@dataclass(frozen=True)
class ViewChoice:
    """The visitor's choices for a study; another version of the plan ends the choice of a point."""

    study: str
    version: int
    effect: int = 0
    lost: bool = False  # samples that cannot count are shown
    as_least: bool = False  # the region is drawn with the least-loss plan's items
    point: tuple[int, int] | None = None
    clicked: tuple[int, int] | None = None
    clicks: int = 0
    loaded: LoadedPlan | None = None

    @property
    def key(self) -> str:
        """The end of the keys of widgets that another choice redraws."""
        return f"{self.version}_{self.clicks}_{int(self.as_least)}"


def view_choice() -> ViewChoice:
    """Return the visitor's choices for the open study and plan."""
    study, version = state.case().study, state.current().version
    choice: ViewChoice | None = st.session_state.get(_CHOICE)
    if choice is None or choice.study != study:
        return ViewChoice(study, version)
    if choice.version != version:
        return ViewChoice(study, version, choice.effect, choice.lost)
    return choice


def choose(**changes: object) -> None:
    st.session_state[_CHOICE] = replace(view_choice(), **changes)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Outlook:
    """A plan in its lab as it is shown."""

    real: scenarios.Pack  # the study's lab, without the visitor's overrides
    options: PlanAnalysis  # of the plan in the visitor's lab
    choice: ViewChoice

    @property
    def yours(self) -> assessment.Assessment:
        return self.options.yours

    @property
    def pack(self) -> scenarios.Pack:
        return self.yours.pack

    @cached_property
    def plans(self) -> dict[str, assessment.Assessment]:
        return plans_shown(self.options)

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
        return (self.least_to_draw if self.choice.as_least else None) or self.plan_to_draw

    @cached_property
    def effects(self) -> tuple[assessment.AssumedEffect, ...]:
        """The effects to choose from, the planning effect first; empty for certain evidence."""
        return assessment.effects_of(self.pack.design, self.real.design)

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
    def point(self) -> assessment.Assessment:
        return self.drawn.at(*self.place)
