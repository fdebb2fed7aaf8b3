"""The original study: its reported numbers, and the effects to plan with that follow from it."""

from typing import Final

from replicalab import lexicon
from replicalab.assessment import missing_choices, offered_effects, original_estimate
from replicalab.assessment.effects import PLANNED, YOURS, original_interval
from replicalab.designs import KINDS, Estimate
from replicalab.designs.originals import doubt_of, effect_of
from replicalab.facts import blocks
from replicalab.facts.blocks import Cell, Column, Group, Heading, Sentence, Table
from replicalab.facts.curves import able_text, fit_text
from replicalab.facts.plan import effect_text
from replicalab.facts.verdicts import evidence_status
from replicalab.planner.curves import Curves
from replicalab.scenarios import Confidence, Design, Original

TITLE: Final = "The original"
CONFIDENCE: Final = {
    Confidence.VERIFIED: "verified",
    Confidence.RECALLED: "recalled, not found again",
    Confidence.DERIVED: "derived from verified numbers",
    Confidence.PLANNING_VALUE: "planning value",
}
"""The confidence of a fact, for people."""
_TINY_P: Final = 1e-4


def original_panel(curves: Curves) -> Group | None:
    """Return `original_blocks` under a heading, or None."""
    parts = original_blocks(curves)
    return blocks.group(Heading(TITLE, 2, part=True), *parts) if parts else None


def original_blocks(curves: Curves) -> list[Sentence | Table]:
    """Return the original's numbers and each effect to plan with; empty without an original."""
    design, planned = _written(curves), curves.plan.pack.design
    if design.original is None:
        return []
    return [
        Sentence(reported_text(design, design.original)),
        *([] if planned.row.effect is None else [effects_table(curves)]),
        Sentence(fits_text(curves)),
        *(Sentence(text, quiet=True) for text in _not_offered(design)),
        Sentence(source_text(design.original), "Source:", quiet=True),
    ]


def _written(curves: Curves) -> Design:
    return curves.written or curves.plan.pack.design


def reported_text(design: Design, original: Original) -> str:
    """Return the reported numbers, their test, and any contradiction between them."""
    row, estimate = KINDS[design.kind], original_estimate(design)
    name = row.effect.name if row.effect else ""
    numbers = [f"{key} = {lexicon.exact_text(value)}" for key, value in original.numbers.items()]
    se = "" if original.se is None else f"standard error {lexicon.exact_text(original.se)}"
    parts = (
        f"{lexicon.capitalised(name)} {effect_text(effect_of(row, original))}",
        f"from {', '.join(numbers)}" if numbers else "",
        se,
        interval_text(original),
        counts_text(original),
        "tested one-sided" if original.sides == 1 else "",
    )
    test = f": {estimate_text(estimate)}" if estimate else ""
    reported = lexicon.ended(f"{', '.join(filter(None, parts))}{test}")
    return f"{reported} {doubt_of(row, original)}".strip()


def choices_texts(design: Design) -> list[str]:
    """Return an original's numbers, and the effects to plan with that follow from them."""
    if design.original is None:
        return []
    effects = ", ".join(
        f"{choice.label} {effect_text(effect)}" for choice, effect in offered_effects(design)
    )
    offered = f"Effects to plan with: {effects}." if effects else ""
    return [reported_text(design, design.original), offered, *_not_offered(design)]


def _not_offered(design: Design) -> list[str]:
    missing = missing_choices(design)
    return [f"{lexicon.capitalised(name)} is not offered: {why}." for name, why in missing]


def interval_text(original: Original) -> str:
    """Return the reported interval, or an empty text."""
    if original.low is None or original.high is None:
        return ""
    low, high = map(lexicon.exact_text, (original.low, original.high))
    return f"{lexicon.percent_text(original.level)} interval {low} to {high}"


def counts_text(original: Original) -> str:
    """Return the reported samples and events; empty if none."""
    n1, n2, n, events = original.n1, original.n2, original.n, original.events
    counts = [] if n is None else [f"n = {lexicon.amount_text(n)}"]
    if n1 is not None and n2 is not None:
        counts = [f"n = {lexicon.amount_text(n1)} and {lexicon.amount_text(n2)}"]
    counts += [] if events is None else [lexicon.count_text(events, "event")]
    return ", ".join(counts)


def worked_out_interval_text(design: Design) -> str:
    """Return the 95 % interval from an estimate and its standard error; empty without them."""
    if (ends := original_interval(design)) is None:
        return ""
    low, high = map(effect_text, ends)
    return f"95 % interval {low} to {high}, from the estimate and its standard error."


def estimate_text(estimate: Estimate) -> str:
    """Return the t or z of an estimate and its two-sided p."""
    p, z = f"two-sided p {p_text(estimate.p)}", _statistic(estimate.z)
    if estimate.t is None or estimate.df is None:
        return f"z = {z}, {p}"
    t = _statistic(estimate.t)
    test = f"t = {t} ({estimate.df:,} df), {p}"
    return test if t == z else f"{test}; by its standard error z = {z}"


def _statistic(value: float) -> str:
    return f"{value:z.3g}".replace("-", "\u2212")


def p_text(p: float) -> str:
    """Return a p with its sign: ``= 0.036``, ``< 0.0001``."""
    return f"< {_TINY_P:.4f}" if p < _TINY_P else f"= {p:.2g}"


def source_text(original: Original) -> str:
    """Return the source of the original's numbers, with its confidence and place."""
    where = f"; {original.where}" if original.where else ""
    sure = CONFIDENCE[Confidence(original.confidence)]
    return f"{original.source.removesuffix('.')} ({sure}{where})."


def effects_table(curves: Curves) -> Table:
    """Return each effect to plan with: its size, the samples it takes, and the plan's evidence."""
    plan, written = curves.plan, _written(curves)
    planned, value = written.effect_planning, plan.pack.design.effect_planning
    effects: list[tuple[str, float | None, str]] = []
    is_yours = value != planned or "effect" in plan.pack.asked
    if is_yours:
        effects.append((YOURS, value, "The effect that is asked here."))
    if not is_yours or value != planned:
        effects.append((PLANNED, planned, "The effect that the study plans with."))
    for choice, size in offered_effects(written):
        source = f" {choice.source}." if choice.source else ""
        effects.append((choice.label, size, f"{choice.meaning}{source}"))
    rows, below = [], []
    for label, effect, meaning in effects:
        if effect is not None:
            needed, evidence = (
                curves.needed_anywhere(effect),
                curves.at(plan.counts.samples, effect),
            )
            worth = None if evidence.void_reason else evidence.value
            rows.append(
                (
                    Cell(lexicon.capitalised(label)),
                    Cell(effect_text(effect), effect),
                    Cell("none" if needed is None else lexicon.amount_text(needed), needed),
                    Cell(evidence.number, worth, evidence_status(evidence)),
                )
            )
            below.append((meaning,))
    columns = [
        Column("Effect"),
        *(Column(name, "number") for name in ("Size", "Takes", "Your plan")),
    ]
    return blocks.table("Which effect to plan with", columns, rows, below=below)


def fits_text(curves: Curves) -> str:
    """Return the meaning of the table's column of samples, and the samples that the lab allows."""
    limit, evidence = curves.most_counted, curves.plan.evidence
    counted = f"; {able_text(limit)}" if limit is not None else ""
    fits = lexicon.capitalised(f"{fit_text(curves.largest)} here{counted}.")
    if evidence.row.effect is None:  # no table
        return fits
    target = evidence.text_of(evidence.amount(evidence.target))
    return f"Takes: the samples for {target}. {fits}"
