"""The probability of success: a panel, and a row of the report."""

from typing import Final

from replicalab.assessment import Assessment, original_estimate
from replicalab.assessment.effects import success_of
from replicalab.designs.planning_effects import CRITERIA
from replicalab.facts import blocks
from replicalab.facts.blocks import Cell, Column, Sentence, Table
from replicalab.facts.original import p_text
from replicalab.lexicon import amount_text
from replicalab.scenarios import Design

TITLE: Final = "Probability of success"
PRIOR: Final = (
    "Prior: the effect is what the original found, as uncertain as its standard error says."
)
_FAR: Final = 1.1  # Ratio of two z from which the normal approximation counts as rough
_ALMOST: Final = 0.9995  # A probability from here on would be written as 1


def success_blocks(plan: Assessment) -> list[Sentence | Table]:
    """Return the probability of success by criterion and sample size; nothing if unknown."""
    success = success_of(plan)
    if success is None:
        return []
    columns = [Column("Criterion")]
    for n in success.samples:
        yours = ", yours" if n == success.yours else ""
        columns.append(Column(f"n {amount_text(n)}{yours}", "number"))
    rows = [
        (Cell(CRITERIA[name].label), *(Cell(share_text(share), share) for share in chances))
        for name, chances in success.chances.items()
    ]
    below = [(f"{row.meaning} {row.source}.",) for row in CRITERIA.values()]
    table = blocks.table(TITLE, columns, rows, below=below, kind="success")
    texts = [PRIOR, rough_text(plan.pack.design)]
    return [*(Sentence(text) for text in texts if text), table]


def success_text(plan: Assessment) -> str:
    """Return the probabilities at the plan's sample size on one line; empty if unknown."""
    success = success_of(plan)
    if success is None:
        return ""
    return "; ".join(
        f"{row.label}: {share_text(success.of_plan(name))}" for name, row in CRITERIA.items()
    )


def rough_text(design: Design) -> str:
    """Return that the original's t is far from normal, with both z; empty if it is near."""
    estimate = original_estimate(design)
    if estimate is None or abs(estimate.z) <= _FAR * estimate.z_of_p:
        return ""
    return (
        f"Estimates are taken as normal, which is rough of few samples: the original’s |z| counts "
        f"as {abs(estimate.z):.3g}, and its p {p_text(estimate.p)} is that of "
        f"{estimate.z_of_p:.3g}."
    )


def share_text(value: float) -> str:
    """Return a probability: ``0.86``, ``0.997``; none below 1 is written as 1."""
    if _ALMOST <= value < 1:
        return "> 0.999"
    return f"{value:.3f}" if 0.995 <= value < 1 else f"{value:.2f}"
