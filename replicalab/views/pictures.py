"""The pictures of a document: what each shows in words, and the facts that it is drawn of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from replicalab.assessment import Assessment
from replicalab.lexicon import capitalised, joined
from replicalab.planner import PlanAnalysis, PlanToDraw, plan_to_draw
from replicalab.planner.curves import Curves
from replicalab.views import curves, frontier
from replicalab.views.blocks import Block, Picture, Sentence

YOUR_PLAN: Final = "your plan"
OFFER: Final = "Lab Manager's offer"
LEAST_LOSS: Final = "least loss"
BALANCED: Final = "balanced"
LAST: Final = "last plan"
"""Of a negotiation."""


def plans_shown(options: PlanAnalysis) -> dict[str, Assessment]:
    """Return the plans that are marked, by name; a least-loss plan without evidence is no plan."""
    found, least = {YOUR_PLAN: options.yours}, options.least.after
    if options.offer is not None:
        found[OFFER] = options.offered
    return found if least.evidence.void_reason else {**found, LEAST_LOSS: least}


def unbeaten_shown(options: PlanAnalysis) -> dict[str, Assessment]:
    """Return those that are marked beside the plans that nothing beats."""
    found = {name: plan for name, plan in plans_shown(options).items() if name != OFFER}
    return found if options.balanced is None else {**found, BALANCED: options.balanced}


def points_of(plans: Mapping[str, Assessment], drawn: PlanToDraw) -> dict[str, Assessment]:
    """Return the plan itself, and those others that are points of the region of a plan."""
    return {name: each for name, each in plans.items() if name == YOUR_PLAN or drawn.holds(each)}


def curve_pictures(found: Curves) -> Iterator[Picture]:
    """Yield the evidence over the samples planned, where any number of them shows some."""
    if not found.over_samples:
        return
    row = found.plan.evidence.row
    about = capitalised(f"{curves.assumed_text(found)}.")
    yield Picture(
        curves.samples_title(found),
        " ".join(filter(None, (about, curves.bound_text(found)))),
        f"A curve: {row.measure} over the samples planned. The table below has its numbers.",
        "curve",
        {"found": found},
    )


def trade_off_blocks(options: PlanAnalysis) -> Iterator[Block]:
    """Yield the region of days and samples, and the plans that nothing beats."""
    yield _region(options)
    found, evidence = options.frontier, options.yours.evidence
    verdict, lab = frontier.standing_verdict(options), options.yours.pack.lab
    if not found.plans:
        return
    if not frontier.shows_a_plan(found, evidence):
        yield Sentence(frontier.all_outside_text(found, evidence))
        return
    losses = joined([f"{line.loss}" for line in found.lines])
    yield Picture(
        frontier.frontier_title(verdict, lab.currency),
        verdict.text,
        f"Lines of plans: {evidence.measure} over {lab.currency}, one for each fidelity loss "
        f"({losses}), with floor, target and budget.",
        "frontier",
        {"options": options},
    )


def _region(options: PlanAnalysis) -> Picture:
    from replicalab.planner.region import region  # noqa: PLC0415 - numpy, with the first region
    from replicalab.views import region as words  # noqa: PLC0415

    plans, drawn, yours = plans_shown(options), plan_to_draw(options), options.yours
    found = region(drawn, list(plans.values()), None)
    fillings = f"{words.means_text(yours.pack)}; {words.fillings_text(yours.evidence)}."
    texts = (
        capitalised(fillings),
        words.worded_text(drawn),
        words.own_items_text(drawn, yours, None),
        words.outside_text(found.outside(points_of(plans, drawn))),
    )
    limits = "; ".join(limit.meaning for limit in words.limit_texts(yours.pack).values())
    return Picture(
        words.region_title(found),
        " ".join(filter(None, texts)),
        f"A map of {yours.evidence.measure} over days and samples, with its limits: {limits}.",
        "region",
        {"found": found, "plans": plans, "drawn": drawn},
    )
