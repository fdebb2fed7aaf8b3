"""The way from an opening to the least-loss plan, one change at a time.

Source: docs/methods.md, Negotiation.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from replicalab.agents.suggestions import SuggestionChange, apply_changes
from replicalab.assessment import Assessment
from replicalab.lexicon import count_text, joined, label_key
from replicalab.models import LIST_FIELDS, Protocol
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import EvidenceTier, Pack

Change = tuple[SuggestionChange, ...]
"""One field, one dropped control, or the items that are assigned together."""

_NUMBERS: Final = {
    # field: the verbs for fewer and for more, and the noun
    "duration_days": ("shortens the work", "lengthens the work", "day"),
    "sample_size": ("reduces the sample", "enlarges the sample", "sample"),
}


class Concession(NamedTuple):
    """The next proposal on the way to the least-loss plan.

    Attributes:
        changes: more than one if one repairs what another makes fail.
        needed_for: the later change that it only prepares, None if it helps by itself.
    """

    changes: tuple[Change, ...]
    after: Assessment
    needed_for: Change | None = None

    @property
    def text(self) -> str:
        """The changes in words, with their losses."""
        parts = [part for change in self.changes for part in change]
        why = f", needed for {_aim(self.needed_for)}" if self.needed_for else ""
        lost = " ".join(dict.fromkeys(part.tradeoff for part in parts))
        return f"It {joined([_deed(part) for part in parts])}{why}. Lost: {lost}"


def changes_between(opening: PlanAnalysis) -> list[Change]:
    """Return the changes from an opening to its least-loss plan, in the order of concessions.

    Item swaps come first, then dropped controls, days and samples.
    """
    parts, pack = opening.least.changes, opening.yours.pack
    swaps = [part for part in parts if part.field in LIST_FIELDS and part.field != "controls"]
    single = [(part,) for name in ("controls", *_NUMBERS) for part in parts if part.field == name]
    return [*_assigned_together(swaps, pack), *single]


def _assigned_together(swaps: Sequence[SuggestionChange], pack: Pack) -> Iterator[Change]:
    """Yield the swaps in groups; in a group they compete for the same alternatives."""
    groups: list[tuple[set[str], Change]] = []
    for swap in swaps:
        labels = {swap.original, swap.revised, *pack.inventory.alternatives(swap.original)}
        keys = {label_key(label) for label in labels}
        tied = [group for group in groups if group[0] & keys]
        groups = [group for group in groups if group not in tied]
        earlier = tuple(part for _, change in tied for part in change)
        groups.append((keys.union(*(group[0] for group in tied)), (*earlier, swap)))
    yield from (change for _, change in groups)


def next_concession(
    opening: PlanAnalysis, plan: Assessment, *, is_last: bool = False
) -> Concession | None:
    """Return the next proposal after a plan between an opening and its least-loss plan.

    None if nothing remains to be changed, or if every remaining change falls below the floor. The
    last one takes all that remain.
    """
    least = opening.least
    remaining = [
        change for change in changes_between(opening) if _remains(change, plan.plan, least.plan)
    ]
    if is_last and remaining:
        return Concession(tuple(remaining), least.after)
    for change in remaining:
        found = _with_repair(change, remaining, plan)
        if found.after.evidence.tier is not EvidenceTier.BELOW_FLOOR:
            return found
    return None


def _remains(change: Change, plan: Protocol, least: Protocol) -> bool:
    part = change[0]
    now, aim = getattr(plan, part.field), getattr(least, part.field)
    if part.field not in LIST_FIELDS:
        return bool(now != aim)
    key = label_key(part.original)
    return Counter(map(label_key, now))[key] > Counter(map(label_key, aim))[key]


def _with_repair(change: Change, remaining: Sequence[Change], plan: Assessment) -> Concession:
    """Return a change, joined by the one that repairs the dimensions it makes fail."""
    others = [other for other in remaining if other != change]
    alone = _changed(plan, change)
    if set(alone.failing) <= set(plan.failing):
        only_prepares = others and not _helps(plan, alone)
        return Concession((change,), alone, others[0] if only_prepares else None)
    for other in others:
        both = _changed(plan, change, other)
        if set(both.failing) <= set(plan.failing):
            return Concession((change, other), both)
    return Concession((change, *others), _changed(plan, change, *others))


def _changed(plan: Assessment, *changes: Change) -> Assessment:
    parts = [part for change in changes for part in change]
    return plan.revised(apply_changes(plan.plan, parts))


def _helps(before: Assessment, after: Assessment) -> bool:
    """Return whether a change repairs, saves or shows anything by itself."""
    was, now = before.evidence, after.evidence
    better = was.value != now.value and now.row.scale.reaches(now.value, was.value)
    return (
        better
        or set(after.failing) < set(before.failing)
        or len(after.missing_items) < len(before.missing_items)
        or after.fidelity_loss < before.fidelity_loss
        or after.cost < before.cost
        or after.staff < before.staff
        or after.counts.days < before.counts.days
    )


def _deed(part: SuggestionChange) -> str:
    if part.field in _NUMBERS:
        less, more, noun = _NUMBERS[part.field]
        before, after = int(part.original), int(part.revised)
        verb = less if after < before else more
        return f"{verb} from {before:,} to {count_text(after, noun)}"
    if part.field == "controls":
        return f"drops '{part.original}'"
    return f"swaps '{part.original}' for '{part.revised}'"


def _aim(change: Change) -> str:
    part = change[0]
    if part.field in _NUMBERS:
        return count_text(int(part.revised), _NUMBERS[part.field][2])
    return f"'{part.original}' to go" if part.field == "controls" else f"'{part.revised}'"
