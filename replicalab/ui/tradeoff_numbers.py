"""What the Trade-offs page shows, asked of the core once per lab and plan and then kept."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from replicalab.agents import FeasibilityCheckResult, check_feasibility, suggest_alternative
from replicalab.concessions import PlanPrice, price
from replicalab.costs import amount_text
from replicalab.evidence import AssumedEffect, assumed_effects, planned_evidence
from replicalab.figures import FrontierPoint, Measure
from replicalab.models import Protocol, revise
from replicalab.planner import Frontier, FrontierPlan, LeastLoss, frontier, least_loss, nash_point
from replicalab.regions import Region, grid_for, region
from replicalab.scenarios import DesignKind, NormalizedScenarioPack
from replicalab.scenarios.models import PackKey
from replicalab.sentences import Status, Verdict
from replicalab.tradeoffs import (
    Extra,
    Worded,
    as_least_loss,
    extras,
    worded,
)

_KEPT: Final = 128
_MOST_SHOWN: Final = 120
"""So many plans of a frontier are drawn and listed; of more, evenly spaced ones."""

_TICKS: Final = {"half-width": ".1%", "share examined": ".0%"}
PLANNED: Final = "planned"


class Outlook(NamedTuple):
    """A plan in a lab: what is drawn, and the plans beside it.

    Attributes:
        worded: the plan that the region is drawn for.
        least_worded: the least-loss plan to draw it for instead, None when it is worded alike.
        fix: the Lab Manager's revision, None when the plan is feasible.
        least: the plan that gives up the least.
    """

    pack: NormalizedScenarioPack
    plan: Protocol
    worded: Worded
    least_worded: Worded | None
    fix: Protocol | None
    least: LeastLoss


def outlook(pack: NormalizedScenarioPack, plan: Protocol) -> Outlook:
    """Return a plan in a lab, with the plans to compare it with."""
    return _outlook(pack.key, plan.model_dump_json())


@lru_cache(maxsize=_KEPT)
def _outlook(key: PackKey, text: str) -> Outlook:
    plan, pack = Protocol.model_validate_json(text), key.pack
    suggestion = suggest_alternative(plan, check_feasibility(plan, pack), pack)
    drawn, least = worded(plan, pack), least_loss(plan, pack)
    return Outlook(
        pack=pack,
        plan=plan,
        worded=drawn,
        least_worded=as_least_loss(least, drawn, pack),
        fix=None if suggestion is None else suggestion.revised_protocol,
        least=least,
    )


def region_of(view: Outlook, effect: float | None, *, as_least: bool = False) -> Region:
    """Return the region of an outlook's plan.

    Args:
        view: the plan in its lab.
        effect: the effect to assume, None for the planning effect.
        as_least: whether to draw it for the least-loss plan's wording.
    """
    return _region(view.pack.key, view.plan.model_dump_json(), effect, as_least)


@lru_cache(maxsize=_KEPT)
def _region(key: PackKey, text: str, effect: float | None, as_least: bool) -> Region:
    view = _outlook(key, text)
    drawn = drawn_of(view, as_least=as_least)
    plans = [view.plan, *([view.fix] if view.fix else []), view.least.plan]
    days, samples = grid_for(plans, key.pack)
    return region(drawn.plan, key.pack, days, samples, effect)


def effects_of(pack: NormalizedScenarioPack) -> tuple[AssumedEffect, ...]:
    """Return the effects to choose from, the planning effect first; one only where none differ."""
    planning = pack.design.effect_planning
    others = assumed_effects(pack.design)
    if planning is None or not others:
        return ()
    same = [other.label for other in others if other.effect == abs(planning)]
    planned = AssumedEffect(", ".join([PLANNED, *same]), abs(planning))
    return planned, *(other for other in others if other.effect != planned.effect)


def measure_of(view: Outlook) -> Measure:
    """Return how the study's evidence is shown in charts."""
    evidence, design = planned_evidence(view.plan, view.pack), view.pack.design
    precise = design.kind is DesignKind.PRECISION
    return Measure(
        name=evidence.measure,
        amount=evidence.amount,
        lowest=0.0,
        highest=2 * design.floor if precise else 1.0,
        lower_is_better=precise,
        tick_format=_TICKS.get(evidence.measure, ".1f"),
    )


def extras_of(pack: NormalizedScenarioPack, plan: Protocol) -> tuple[Extra, ...]:
    """Return what each single addition to the lab would buy."""
    return _extras(pack.key, plan.model_dump_json())


@lru_cache(maxsize=_KEPT)
def _extras(key: PackKey, text: str) -> tuple[Extra, ...]:
    return extras(Protocol.model_validate_json(text), key.pack)


class Point(NamedTuple):
    """The point that was chosen: the plan there, its check and its price."""

    plan: Protocol
    check: FeasibilityCheckResult
    price: PlanPrice


def drawn_of(view: Outlook, *, as_least: bool) -> Worded:
    """Return the plan that the region is drawn for."""
    return view.least_worded if as_least and view.least_worded else view.worded


def point_of(view: Outlook, drawn: Worded, days: int, samples: int) -> Point:
    """Return the plan at a point of the region."""
    plan = revise(drawn.plan, sample_size=samples, duration_days=days)
    return Point(plan, check_feasibility(plan, view.pack), price(plan, view.pack))


class Best(NamedTuple):
    """The plans that nothing beats, those of them that are shown, and the balanced one."""

    frontier: Frontier
    shown: tuple[FrontierPlan, ...]
    balanced: FrontierPlan | None


def best_of(view: Outlook) -> Best:
    """Return the plans that nothing beats in an outlook's lab."""
    return _best(view.pack.key, view.plan.model_dump_json())


@lru_cache(maxsize=_KEPT)
def _best(key: PackKey, text: str) -> Best:
    found = frontier(key.pack, Protocol.model_validate_json(text))
    plans, balanced = found.plans, nash_point(found, key.pack)
    every = max(1, -(-len(plans) // _MOST_SHOWN))
    shown = [
        plan
        for place, plan in enumerate(plans)
        if place % every == 0 or plan is plans[-1] or plan is balanced
    ]
    return Best(found, tuple(shown), balanced)


def frontier_points(best: Best, measure: Measure) -> list[FrontierPoint]:
    """Return the shown plans of a frontier as points of a chart."""
    return [
        FrontierPoint(
            each.credits,
            each.value,
            each.loss,
            f"{amount_text(each.samples)} samples, {each.days} days<br>"
            f"{amount_text(each.credits)} credits<br>{measure.name} {measure.amount(each.value)}",
        )
        for each in best.shown
    ]


def frontier_title(best: Best, verdict: Verdict) -> str:
    """Return what the frontier's chart shows."""
    if not best.frontier.plans:
        return "No plan that fits has any evidence"
    mine = "nothing beats your plan" if verdict.status is Status.PASS else "what can be had instead"
    return f"Evidence for credits: {mine}"
