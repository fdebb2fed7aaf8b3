"""What is said of success: what counts as replicated, and how probable that is."""

from collections.abc import Iterator
from typing import Final

from replicalab.assessment import Assessment, original_estimate
from replicalab.assessment.success import SuccessRow, likelier_with_fewer, success_of, success_rows
from replicalab.lexicon import amount_text, ended, exact_text, joined
from replicalab.measures import KINDS
from replicalab.measures.replicated import within
from replicalab.measures.success import CRITERIA, PRIORS, Success
from replicalab.scenarios import Design, Replication
from replicalab.views import blocks
from replicalab.views.blocks import Cell, Column, Group, Heading, Sentence, Table
from replicalab.views.original import p_text

TITLE: Final = "What counts as replicated"
_ANY: Final = 0.005  # A probability below this is written as 0.00
_ALMOST: Final = 0.9995  # A probability from here on would be written as 1
_FAR: Final = 1.1  # A z that is more than so many times that of its p is told
_LEAST_DIGITS: Final = 3  # Two z that differ are written with so many more as show it
_MOST_DIGITS: Final = 17


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
        text = "no evidence" if each.chance is None else _share(each.chance)
        rows.append(
            (
                Cell(each.label),
                Cell(text, each.chance),
                Cell(_needed_text(each, plan), each.needed),
                Cell(_share(each.ceiling), each.ceiling),
            )
        )
        below.append((each.meaning,) if each.meaning else ())
    columns = (
        Column("Criterion"),
        Column(f"At your n{_without(plan)}", "number"),
        Column(f"Samples for {plan.evidence.amount(plan.evidence.target)}", "number"),
        Column("At most", "number"),
    )
    return blocks.table("The probability of success", columns, rows, below=below, kind="success")


def _needed_text(each: SuccessRow, plan: Assessment) -> str:
    """Return the fewest samples that have the target, and whether the plan has too many."""
    if each.needed is None:
        return "none"
    samples, target = plan.counts.samples, plan.evidence.target
    too_many = each.chance is not None and each.chance < target and each.needed < samples
    return f"{amount_text(each.needed)}{'; yours are too many' if too_many else ''}"


def success_cell(plan: Assessment) -> Cell:
    """Return how probable it is that all criteria are met at the plan's n."""
    rows = success_rows(plan)
    if not rows:
        return Cell("not chosen")
    chance = rows[-1].chance
    text = "no evidence" if chance is None else f"{_share(chance)}{_without(plan)}"
    return Cell(text, chance)


def _without(plan: Assessment) -> str:
    return ", without looks" if plan.pack.design.is_looked_at else ""


def ceiling_text(plan: Assessment) -> str:
    """Return that no number of samples reaches the target, and why; empty where one does."""
    found = success_of(plan)
    if found is None or found.ceiling >= plan.evidence.target:
        return ""
    if why := never_text(found.success):
        return f"Success is impossible, however many samples there are: {why}."
    ceiling = _share(found.ceiling) if found.ceiling < _ALMOST else f"{found.ceiling:.6g}"
    most = f"exceed {ceiling}" if found.ceiling >= _ANY else f"reach {_ANY:g}"
    return (
        f"The probability of success cannot {most}, however many samples "
        f"there are; the target is {plan.evidence.amount(plan.evidence.target)}."
    )


def never_text(success: Success) -> str:
    """Return why no estimate meets the criteria, as it follows on a colon; empty where one may."""
    beyond = success.beyond
    if not beyond:
        return ""
    z, digits = success.basis.z, _LEAST_DIGITS
    while any(f"{z:.{digits}g}" == f"{least:.{digits}g}" for least in beyond.values()):
        digits += 1
        if digits > _MOST_DIGITS:
            break
    needs = [
        f"a {within(CRITERIA[name].label)} at the level takes an original with a |z| above "
        f"{least:.{digits}g}"
        for name, least in beyond.items()
    ]
    return f"{joined(needs, 'and')}; this one has {z:.{digits}g}"


def fewer_text(plan: Assessment) -> str:
    """Return that fewer samples are likelier to succeed; empty where they are not."""
    fewer = likelier_with_fewer(plan)
    if fewer is None:
        return ""
    return (
        f"Fewer samples are likelier to succeed: {amount_text(fewer.samples)} with a probability "
        f"of {_share(fewer.chance)}. More show more exactly how far off the original was."
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


def _share(value: float) -> str:
    """Return a probability: ``0.86``, ``0.997``; none below 1 is written as 1."""
    if _ALMOST <= value < 1:
        return "> 0.999"
    return f"{value:.3f}" if 0.995 <= value < 1 else f"{value:.2f}"
