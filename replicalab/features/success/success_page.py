"""The part of the assumptions on the probability of success."""

from collections.abc import Callable
from typing import Final

from replicalab.assessment import Assessment, original_estimate
from replicalab.facts import blocks
from replicalab.facts.blocks import Cell, Column, Sentence
from replicalab.facts.curve_facts import p_text
from replicalab.features.success import CRITERIA, PRIOR, TITLE, share_text, success_of
from replicalab.lexicon import amount_text
from replicalab.scenarios import Design
from replicalab.ui.screen import draw

_FAR: Final = 1.1  # ratio of two z from which the normal approximation counts as rough


def panel(_: str, plan: Assessment) -> dict[str, Callable[[], None]]:
    """Return the part by its title; none if the probability is unknown."""
    success = success_of(plan)
    if success is None:
        return {}
    columns = [Column("Criterion")]
    for n in success.samples:
        yours = ", yours" if n == success.yours else ""
        columns.append(Column(f"n {amount_text(n)}{yours}", "number"))
    rows = [
        (Cell(CRITERIA[name].label), *(Cell(share_text(share), share) for share in shares))
        for name, shares in success.probabilities.items()
    ]
    below = [(f"{row.meaning} {row.source}.",) for row in CRITERIA.values()]
    table = blocks.table(TITLE, columns, rows, below=below, kind="success")
    sentences = [Sentence(text) for text in (PRIOR, rough_text(plan.pack.design)) if text]
    return {TITLE: lambda: draw(*sentences, table)}


def rough_text(design: Design) -> str:
    """Return that the original's t is far from normal, with both z; empty if it is near."""
    estimate = original_estimate(design)
    if estimate is None or abs(estimate.z) <= _FAR * estimate.z_of_p:
        return ""
    return (
        f"Estimates are taken as normal, which is rough for few samples: the original’s |z| counts "
        f"as {abs(estimate.z):.3g}; its p {p_text(estimate.p)} is that of {estimate.z_of_p:.3g}."
    )
