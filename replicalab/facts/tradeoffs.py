"""The plans that the trade-offs mark, and the part of the report that lists them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from replicalab.assessment import Assessment
from replicalab.facts import frontier, region
from replicalab.facts.blocks import Block, Sentence
from replicalab.facts.fact import facts_table
from replicalab.lexicon import capitalised
from replicalab.planner import PlanAnalysis, PlanToDraw, plan_to_draw

YOUR_PLAN: Final = "your plan"
OFFER: Final = "Lab Manager's offer"
LEAST_LOSS: Final = "least loss"
BALANCED: Final = "balanced"
CHEAPEST: Final = "cheapest"
STRONGEST: Final = "most evidence"
LAST: Final = "last plan"  # Of a negotiation


def plans_shown(options: PlanAnalysis) -> dict[str, Assessment]:
    """Return the plans that are marked, by name; a least-loss plan without evidence is no plan."""
    plans, plan = {YOUR_PLAN: options.yours}, options.least.after
    if options.offer is not None:
        plans[OFFER] = options.offered
    return plans if plan.evidence.void_reason else {**plans, LEAST_LOSS: plan}


def unbeaten_shown(options: PlanAnalysis) -> dict[str, Assessment]:
    """Return the plans marked in the chart of the frontier."""
    plans = {name: plan for name, plan in plans_shown(options).items() if name != OFFER}
    plans |= {name.lower(): plan for name, plan in options.ends.items()}
    return plans if options.balanced is None else {**plans, BALANCED: options.balanced}


def points_of(plans: Mapping[str, Assessment], drawn: PlanToDraw) -> dict[str, Assessment]:
    """Return the plan itself, and those others that are points of the region of a plan."""
    return {name: plan for name, plan in plans.items() if name == YOUR_PLAN or drawn.holds(plan)}


def trade_off_blocks(options: PlanAnalysis) -> Iterator[Block]:
    """Yield the region of days and samples, and the plans that nothing beats."""
    from replicalab.planner.region import region as region_of  # noqa: PLC0415 - numpy, with the first region

    plans, drawn, yours = plans_shown(options), plan_to_draw(options), options.yours
    field = region_of(drawn, list(plans.values()), None)
    outside = field.outside(points_of(plans, drawn))
    yield Sentence(f"{capitalised(region.means_text(yours.pack))}.")
    if rows := [*region.region_facts(drawn, yours, None, outside)]:
        yield facts_table("The region", rows)
    yield region.region_table(region.region_title(field), field, drawn)
    yield facts_table("The limits", region.limit_facts(yours.pack).values())
    standing = frontier.standing_verdict(options)
    yield Sentence(standing.text, status=standing.status)
    yield frontier.standing_table(options)
    if options.frontier.plans:
        yield frontier.frontier_table(options)
