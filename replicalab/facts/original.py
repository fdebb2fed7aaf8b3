"""What is said of a study's original: what was reported, what each effect to plan with takes."""

from collections.abc import Iterator
from typing import Final

from replicalab.assessment import Assessment, missing_choices, offered_effects, original_estimate
from replicalab.assessment.effects import PLANNED, YOURS, original_interval
from replicalab.designs import KINDS, Estimate
from replicalab.designs.originals import doubt_of, effect_of
from replicalab.facts import blocks, texts
from replicalab.facts.blocks import Cell, Column, Group, Heading, Sentence, Table
from replicalab.facts.curves import able_text, fit_text
from replicalab.facts.plan import effect_text
from replicalab.facts.verdicts import evidence_status
from replicalab.lexicon import amount_text, capitalised, count_text, ended, exact_text, percent_text
from replicalab.planner.curves import Curves
from replicalab.scenarios import Confidence, Design, Original

TITLE: Final = "The original"
CONFIDENCE: Final = {
    Confidence.VERIFIED: "verified",
    Confidence.RECALLED: "recalled, not found again",
    Confidence.DERIVED: "derived from verified numbers",
    Confidence.PLANNING_VALUE: "planning value",
}
"""How sure a fact is, for people."""
_TINY_P: Final = 1e-4


def original_panel(found: Curves) -> Group | None:
    """Return what the original reported, and each effect to plan with; None where none is known."""
    parts = original_blocks(found)
    return blocks.group(Heading(TITLE, 2, part=True), *parts) if parts else None


def original_blocks(found: Curves) -> list[Sentence | Table]:
    """Return the same without a heading; nothing where no original is known."""
    design, planned = _written(found), found.plan.pack.design
    if design.original is None:
        return []
    return [
        Sentence(reported_text(design, design.original)),
        *([] if planned.row.effect is None else [effects_table(found)]),
        Sentence(fits_text(found)),
        *(Sentence(text, quiet=True) for text in _lost(design)),
        Sentence(source_text(design.original), "Source:", quiet=True),
    ]


def reported_text(design: Design, original: Original) -> str:
    """Return what was reported, what it comes to, and where its numbers are far apart.

    ``d 2.3, 95 % interval 1.1 to 3.46, n = 10 and 9: z = 3.82, two-sided p = 0.00011.``
    """
    row = KINDS[design.kind]
    effect, estimate = effect_of(row, original), original_estimate(design)
    name = row.effect.name if row.effect else ""
    text = [f"{capitalised(name)} {effect_text(effect)}", *_given(original)]
    comes = f": {estimate_text(estimate)}" if estimate else ""
    reported = ended(f"{', '.join(text)}{comes}")
    return f"{reported} {doubt_of(row, original)}".strip()


def choices_texts(design: Design) -> list[str]:
    """Return what an original comes to, and which effects to plan with follow from it."""
    if design.original is None:
        return []
    effects = [
        f"{choice.label} {effect_text(effect)}" for choice, effect in offered_effects(design)
    ]
    offered = texts.EFFECTS_OFFERED.format(effects=", ".join(effects)) if effects else ""
    return [reported_text(design, design.original), offered, *_lost(design)]


def _lost(design: Design) -> list[str]:
    return [
        texts.NOT_OFFERED.format(name=capitalised(name), why=why)
        for name, why in missing_choices(design)
    ]


def _given(original: Original) -> Iterator[str]:
    numbers = [f"{name} = {exact_text(value)}" for name, value in original.numbers.items()]
    if numbers:
        yield f"from {', '.join(numbers)}"
    if original.se is not None:
        yield f"standard error {exact_text(original.se)}"
    yield from filter(None, (interval_text(original), counts_text(original)))
    if original.sides == 1:
        yield "tested one-sided"


def interval_text(original: Original) -> str:
    """Return the interval that was reported; empty where none was."""
    if original.low is None or original.high is None:
        return ""
    level = percent_text(original.level)
    return f"{level} interval {exact_text(original.low)} to {exact_text(original.high)}"


def counts_text(original: Original) -> str:
    """Return the samples and events that were reported; empty if none."""
    n1, n2, n, events = original.n1, original.n2, original.n, original.events
    counts = [f"n = {amount_text(n)}"] if n is not None else []
    if n1 is not None and n2 is not None:
        counts = [texts.TWO_GROUPS.format(n1=amount_text(n1), n2=amount_text(n2))]
    return ", ".join([*counts, *([count_text(events, "event")] if events is not None else [])])


def worked_out_interval_text(design: Design) -> str:
    """Return the 95 % interval that an estimate and its standard error leave; empty without."""
    if (ends := original_interval(design)) is None:
        return ""
    return texts.WORKED_OUT_INTERVAL.format(low=effect_text(ends[0]), high=effect_text(ends[1]))


def estimate_text(estimate: Estimate) -> str:
    """Return the z of an estimate, or its t, with the two-sided p that belongs to it.

    Where the standard error is not the one of its t-test, its z is another number and stands last.
    """
    p, z = f"two-sided p {p_text(estimate.p)}", _statistic(estimate.z)
    if estimate.t is None or estimate.df is None:
        return f"z = {z}, {p}"
    t = _statistic(estimate.t)
    test = f"t = {t} ({estimate.df:,} df), {p}"
    return test if t == z else texts.OWN_STANDARD_ERROR.format(test=test, z=f"z = {z}")


def _statistic(value: float) -> str:
    return f"{value:z.3g}".replace("-", "\u2212")


def p_text(p: float) -> str:
    """Return a p with its sign: ``= 0.036``, ``< 0.0001``."""
    return f"< {_TINY_P:.4f}" if p < _TINY_P else f"= {p:.2g}"


def source_text(original: Original) -> str:
    """Return where the numbers stand, and how well they are known."""
    where = f"; {original.where}" if original.where else ""
    sure = CONFIDENCE[Confidence(original.confidence)]
    return f"{original.source.removesuffix('.')} ({sure}{where})."


def effects_table(found: Curves) -> Table:
    """Return each effect to plan with: its size, the samples it takes, what the plan shows then."""
    plan, written = found.plan, _written(found)
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
    names = [(label, size, meaning) for label, size, meaning in effects if size is not None]
    for label, effect, meaning in names:
        needed, evidence = found.needed_anywhere(effect), found.at(plan.counts.samples, effect)
        worth = None if evidence.void_reason else evidence.value
        rows.append(
            (
                Cell(capitalised(label)),
                Cell(effect_text(effect), effect),
                Cell("none" if needed is None else amount_text(needed), needed),
                Cell(evidence.number, worth, evidence_status(evidence)),
            )
        )
        below.append((meaning,))
    columns = (
        Column("Effect"),
        Column("Size", "number"),
        Column("Takes", "number"),
        Column("Your plan", "number"),
    )
    return blocks.table("Which effect to plan with", columns, rows, below=below)


def takes_text(plan: Assessment, effect: float) -> str:
    """Return how many samples reach the target at an effect; empty where no original is known.

    ``target takes 481``
    """
    if plan.pack.design.original is None:
        return ""
    needed = Curves(plan).needed_anywhere(effect)
    if needed is None:
        return texts.NO_SAMPLE_IS_ENOUGH
    return texts.TARGET_TAKES.format(samples=amount_text(needed))


def fits_text(found: Curves) -> str:
    """Return what the column of samples says, and how many samples the lab allows.

    ``Takes: the samples for power 0.80. 36 affordable here; 24 can count.``
    """
    limit, evidence = found.most_counted, found.plan.evidence
    counted = f"; {able_text(limit)}" if limit is not None else ""
    fits = capitalised(texts.FITS.format(fits=fit_text(found.largest), counted=counted))
    if evidence.row.effect is None:  # no table, and so no such column
        return fits
    target = evidence.text_of(evidence.amount(evidence.target))
    return texts.TAKES.format(target=target, fits=fits)


def _written(found: Curves) -> Design:
    return found.written or found.plan.pack.design
