"""How probable it is that a plan's study counts as replicated, by each criterion and by all."""

from typing import NamedTuple

from replicalab.assessment.assess import Assessment
from replicalab.measures import KINDS
from replicalab.measures.replicated import Replicated, replicated_of
from replicalab.measures.success import CRITERIA, Criterion
from replicalab.models import LARGEST_PLANNED

TOGETHER = "All together"


class SuccessRow(NamedTuple):
    """What a plan has by a criterion, or by all at once.

    Attributes:
        criterion: None where it is all of them.
        label: its name for people.
        meaning: when it is met, in a sentence, with its paper; empty of all.
        chance: the probability at the plan's n; None where the plan shows nothing.
        needed: the fewest planned samples that have the target, None beyond the most that can be
            planned, or exist.
        ceiling: what the probability cannot exceed, however many samples there are.
    """

    criterion: Criterion | None
    label: str
    meaning: str
    chance: float | None
    needed: int | None
    ceiling: float


class Fewer(NamedTuple):
    """Fewer samples, as planned, that are likelier to succeed, and how probable that is."""

    samples: int
    chance: float


def success_of(plan: Assessment) -> Replicated | None:
    """Return the probability of success over n; None where nothing is chosen to count."""
    design = plan.pack.design
    return replicated_of(KINDS[design.kind], design)


def success_rows(plan: Assessment) -> list[SuccessRow]:
    """Return a row for each criterion, and one for all; none where nothing is chosen."""
    found = success_of(plan)
    if found is None:
        return []
    rows = [
        _row(plan, each, name, CRITERIA[name].label, f"{CRITERIA[name].meaning} {source}.")
        for name, each in found.alone()
        for source in [CRITERIA[name].source]
    ]
    return [*rows, _row(plan, found, None, TOGETHER, "")]


def _row(
    plan: Assessment, found: Replicated, name: Criterion | None, label: str, meaning: str
) -> SuccessRow:
    evidence, factor = plan.evidence, plan.evidence_factor
    chance = None if evidence.void_reason else found.chance(evidence.able, factor)
    most = min(LARGEST_PLANNED, plan.pack.design.population_max or LARGEST_PLANNED)
    needed = found.fewest(evidence.target, factor, most)
    return SuccessRow(name, label, meaning, chance, needed, found.ceiling)


def likelier_with_fewer(plan: Assessment) -> Fewer | None:
    """Return the fewest samples that are likeliest to succeed; None where no fewer are likelier."""
    found, evidence, factor = success_of(plan), plan.evidence, plan.evidence_factor
    if found is None or evidence.void_reason:
        return None
    best = found.best(evidence.able, factor)
    if best <= found.chance(evidence.able, factor) + _ANY:
        return None
    fewer = found.fewest(best, factor, evidence.able)
    return None if fewer is None else Fewer(fewer, best)


_ANY = 0.005  # From here on a difference shows
