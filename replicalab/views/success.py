"""What is said of success: what counts as replicated, and how probable that is."""

from collections.abc import Iterator
from typing import Final

from replicalab.assessment import Assessment, original_estimate
from replicalab.assessment.success import SuccessRow, likelier_with_fewer, success_of, success_rows
from replicalab.lexicon import amount_text, ended, exact_text, joined
from replicalab.measures import KINDS
from replicalab.measures.replicated import within
from replicalab.measures.success import CRITERIA, PRIORS
from replicalab.scenarios import Design, Replication
from replicalab.views import blocks
from replicalab.views.blocks import Cell, Column, Group, Heading, Sentence, Table
from replicalab.views.original import p_text
from replicalab.views.unreached import ceiling_text, share_text

TITLE: Final = "What counts as replicated"
_FAR: Final = 1.1  # A z that is more than so many times that of its p is told


def success_panel(plan: Assessment) -> Group | None:
    """Return how probable success is, under its title; None where nothing is chosen to count."""
    parts = success_blocks(plan)
    return blocks.group(Heading(TITLE, 2, part=True), *parts) if parts else None


def success_blocks(plan: Assessment) -> list[Sentence | Table]:
    """Return the same without a heading; nothing where nothing is chosen."""
    chosen = plan.pack.design.replication
    if chosen is None or success_of(plan) is None:
        return []
    texts = [ceiling_text(plan), fewer_text(plan), rough_text(plan.pack.design)]
    return [
        Sentence(chosen_text(chosen, plan.pack.design)),
        success_table(plan),
        *(Sentence(text) for text in texts if text),
    ]


def chosen_text(chosen: Replication, design: Design) -> str:
    """Return what is chosen, before the data, and under which assumptions."""
    return ended(f"Chosen before the data: {', '.join(_chosen(chosen, design))}")


def _chosen(chosen: Replication, design: Design) -> Iterator[str]:
    yield joined([within(CRITERIA[name].label) for name in chosen.criteria], "and")
    yield f"level {exact_text(chosen.level or design.alpha or 0.05)}"
    if chosen.has_sides:
        yield "one-sided" if chosen.sides == 1 else "two-sided"
    scale = KINDS[design.kind].normal
    unit = f" of {scale.name}" if scale else ""
    if chosen.margin is not None:
        yield f"margin ±{exact_text(chosen.margin)}{unit}"
    yield f"{within(PRIORS[chosen.prior].label)} prior"
    if chosen.tau:
        yield f"heterogeneity tau {exact_text(chosen.tau)}{unit}"


def success_table(plan: Assessment) -> Table:
    """Return each criterion, and all together: at the plan's n, n for the target, the ceiling."""
    rows, below = [], []
    for each in success_rows(plan):
        text = "no evidence" if each.chance is None else share_text(each.chance)
        rows.append(
            (
                Cell(each.label),
                Cell(text, each.chance),
                Cell(_needed_text(each, plan), each.needed),
                Cell(share_text(each.ceiling), each.ceiling),
            )
        )
        below.append((each.meaning,) if each.meaning else ())
    columns = (
        Column("Criterion"),
        Column("At your n", "number"),
        Column(f"Samples for {plan.evidence.amount(plan.evidence.target)}", "number"),
        Column("At most", "number"),
    )
    return blocks.table("The probability of success", columns, rows, below=below, kind="success")


def _needed_text(each: SuccessRow, plan: Assessment) -> str:
    """Return the fewest samples that have the target, and whether the plan has too many."""
    if each.needed is None:
        return "none"
    evidence, chance = plan.evidence, each.chance
    is_short = chance is not None and not evidence.row.scale.reaches(chance, evidence.target)
    too_many = is_short and each.needed < plan.counts.samples
    return f"{amount_text(each.needed)}{'; yours are too many' if too_many else ''}"


def success_cell(plan: Assessment) -> Cell:
    """Return how probable it is that all criteria are met at the plan's n."""
    rows = success_rows(plan)
    if not rows:
        return Cell("not chosen")
    chance = rows[-1].chance
    text = "no evidence" if chance is None else f"{share_text(chance)}"
    return Cell(text, chance)


def fewer_text(plan: Assessment) -> str:
    """Return that fewer samples are likelier to succeed; empty where they are not."""
    fewer = likelier_with_fewer(plan)
    if fewer is None:
        return ""
    return (
        f"Fewer samples are likelier to succeed: {amount_text(fewer.samples)} with a probability "
        f"of {share_text(fewer.chance)}. More show more exactly how far off the original was."
    )


def rough_text(design: Design) -> str:
    """Return that the original's t is far from normal, with both z; empty where it is not."""
    found = original_estimate(design)
    if found is None or abs(found.z) <= _FAR * found.z_of_p:
        return ""
    return (
        f"Estimates are taken as normal, which is rough of so few samples: the original’s |z| "
        f"counts as {abs(found.z):.3g}, and its p {p_text(found.p)} is that of {found.z_of_p:.3g}."
    )
