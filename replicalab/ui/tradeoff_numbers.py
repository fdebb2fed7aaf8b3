"""What the Trade-offs page shows, asked of the core once per lab and plan and then kept."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

from replicalab.agents import FeasibilityCheckResult, check_feasibility, suggest_alternative
from replicalab.concessions import PlanPrice, price
from replicalab.evidence import AssumedEffect, assumed_effects, merged_effects, planned_evidence
from replicalab.figures import (
    LEAST_LOSS,
    OFFER,
    YOUR_PLAN,
    FrontierLine,
    FrontierPoint,
    Level,
    Measure,
)
from replicalab.lexicon import amount_text, count_text
from replicalab.measures import KINDS
from replicalab.models import Protocol, revise
from replicalab.planner import Frontier, FrontierPlan, LeastLoss, frontier, least_loss, nash_point
from replicalab.regions import Region, grid_for, region, zoomed
from replicalab.scenarios import Pack, PackKey
from replicalab.sentences import Status, Verdict
from replicalab.tradeoffs import (
    Extra,
    LossLine,
    Worded,
    as_least_loss,
    extras,
    listed_plans,
    loss_lines,
    worded,
)

_KEPT: Final = 128
PLANNED: Final = "planned"


class Outlook(NamedTuple):
    """A plan in a lab: what is drawn, and the plans beside it.

    Attributes:
        worded: the plan that the region is drawn for.
        least_worded: the least-loss plan to draw it for instead, None when it is worded alike.
        offer: the Lab Manager's offer, None when there is none.
        least: the plan that gives up the least.
    """

    pack: Pack
    plan: Protocol
    worded: Worded
    least_worded: Worded | None
    offer: Protocol | None
    least: LeastLoss

    @property
    def plans(self) -> dict[str, Protocol]:
        """The plans that are shown, by name; a least-loss plan without evidence is no plan."""
        least = None if self.least.price.evidence.void else self.least.plan
        named = {YOUR_PLAN: self.plan, OFFER: self.offer, LEAST_LOSS: least}
        return {name: plan for name, plan in named.items() if plan is not None}


def outlook(pack: Pack, plan: Protocol) -> Outlook:
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
        offer=None if suggestion is None else suggestion.revised_protocol,
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
    days, samples = grid_for(list(view.plans.values()), key.pack)
    found = region(drawn.plan, key.pack, days, samples, effect)
    nearer = zoomed(found)
    return found if nearer is None else region(drawn.plan, key.pack, days, nearer, effect)


def levels_of(view: Outlook, found: Region) -> list[Level]:
    """Return where the evidence reaches target and floor; one level where they are the same."""
    evidence = planned_evidence(view.plan, view.pack)
    levels = [("target", evidence.target, found.to_target)]
    if evidence.floor != evidence.target:
        levels.append(("floor", evidence.floor, found.to_floor))
    return [
        Level(f"{name} {evidence.amount(value)}", samples)
        for name, value, samples in levels
        if samples is not None
    ]


def outside_of(view: Outlook, found: Region) -> list[tuple[str, int]]:
    """Return the plans and levels that lie outside a region's grid, with their samples."""
    highest, longest = int(found.samples[-1]), int(found.days[-1])
    plans = [
        (name, plan.sample_size)
        for name, plan in view.plans.items()
        if plan.sample_size > highest or plan.duration_days > longest
    ]
    beyond = [(level.label, level.samples) for level in levels_of(view, found)]
    return [*plans, *((label, samples) for label, samples in beyond if samples > highest)]


def effects_of(pack: Pack) -> tuple[AssumedEffect, ...]:
    """Return the effects to choose from, the planning effect first; one only where none differ."""
    effect, planning = KINDS[pack.design.kind].effect, pack.design.effect_planning
    others = assumed_effects(pack.design)
    if effect is None or planning is None or not others:
        return ()
    return merged_effects([AssumedEffect(PLANNED, effect.unsigned(planning)), *others])


def measure_of(view: Outlook) -> Measure:
    """Return how the study's evidence is shown in charts."""
    evidence = planned_evidence(view.plan, view.pack)
    scale = evidence.row.scale
    return Measure(
        name=evidence.measure,
        amount=evidence.amount,
        lowest=0.0,
        highest=2 * evidence.floor if scale.lower_is_better else 1.0,
        lower_is_better=scale.lower_is_better,
        tick_format=scale.ticks,
    )


def extras_of(pack: Pack, plan: Protocol) -> tuple[Extra, ...]:
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
    """The plans that nothing beats: their lines, those that are listed, and the balanced one."""

    frontier: Frontier
    lines: tuple[LossLine, ...]
    listed: tuple[FrontierPlan, ...]
    balanced: FrontierPlan | None

    @property
    def all_on_lines(self) -> bool:
        """Whether every plan is on one of the lines."""
        return sum(len(line.plans) for line in self.lines) == len(self.frontier.plans)


def best_of(view: Outlook) -> Best:
    """Return the plans that nothing beats in an outlook's lab."""
    return _best(view.pack.key, view.plan.model_dump_json())


@lru_cache(maxsize=_KEPT)
def _best(key: PackKey, text: str) -> Best:
    found = frontier(key.pack, Protocol.model_validate_json(text))
    lines, balanced = loss_lines(found), nash_point(found, key.pack)
    return Best(found, lines, listed_plans(lines, balanced), balanced)


def frontier_lines(best: Best, measure: Measure) -> list[FrontierLine]:
    """Return the lines of a frontier for its chart."""
    return [
        FrontierLine(line.loss, tuple(_frontier_point(each, measure) for each in line.plans))
        for line in best.lines
    ]


def _frontier_point(found: FrontierPlan, measure: Measure) -> FrontierPoint:
    return FrontierPoint(
        found.credits,
        found.value,
        f"{amount_text(found.samples)} samples, {count_text(found.days, 'day')}<br>"
        f"{amount_text(found.credits)} credits<br>{measure.name} {measure.amount(found.value)}",
    )


def frontier_title(verdict: Verdict) -> str:
    """Return what the frontier's chart shows."""
    mine = "nothing beats your plan" if verdict.status is Status.PASS else "what can be had instead"
    return f"Evidence for credits: {mine}"
