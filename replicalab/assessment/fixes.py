"""Changes of a plan, and those by which the Lab Manager fixes items and days.

Source: docs/methods.md, Lab Manager.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from replicalab.assessment.phrases import days_text
from replicalab.lexicon import capitalised, count_text, label_key
from replicalab.models import LIST_FIELDS, NonEmptyText, Protocol, Record
from replicalab.scenarios import Item, Pack

if TYPE_CHECKING:
    from replicalab.assessment.assess import Assessment

DROPPED: Final = "dropped"  # The revised value of a change that drops a control


class SuggestionChange(Record):
    """One change: ``original`` and ``revised`` are the item, or the number, as text."""

    field: NonEmptyText
    original: NonEmptyText
    revised: NonEmptyText
    reason: NonEmptyText
    tradeoff: NonEmptyText


def apply_changes(protocol: Protocol, changes: Iterable[SuggestionChange]) -> Protocol:
    """Return the plan with some of a suggestion's changes applied, in their order.

    A change whose original item is no longer in the plan does nothing.
    """
    fields = protocol.model_dump()
    for change in changes:
        name, value = change.field, change.revised
        if name not in LIST_FIELDS:
            fields[name] = int(value)
        elif change.original in (items := fields[name]):
            at = items.index(change.original)
            items[at : at + 1] = [] if name == "controls" and value == DROPPED else [value]
    return Protocol.model_validate(fields)


def change_of(field: str, before: object, after: object, why: str, lost: str) -> SuggestionChange:
    """Return a change that was worked out here: what of the plan, the reason and the tradeoff."""
    return SuggestionChange(
        field=field, original=str(before), revised=str(after), reason=why, tradeoff=lost
    )


def substitution(
    item: Item, alternative: str, pack: Pack, cause: str | None = None
) -> SuggestionChange:
    """Return the change that puts an allowed alternative in the place of an item.

    Its reason is the item's status in the lab, unless there is another cause.
    """
    allowed = pack.study.swaps[item.key, alternative]
    cause = cause or f"'{item.label}' is {item.status_text}"
    lost = capitalised(allowed.tradeoff.removesuffix("."))
    why = f"{cause}; allowed {allowed.condition}."
    return change_of(item.field, item.label, alternative, why, f"{lost}.")


def substitutions(category: str, plan: Assessment, listed: set[str]) -> Iterator[SuggestionChange]:
    """Yield a substitution for each missing item of a category that has one.

    ``listed`` are the keys of the items in the plan already; it grows.
    """
    missing = {
        (item.field, item.label): item
        for item in plan.missing_items
        if item.options and item.category == category
    }
    for field in dict.fromkeys([field for field, _ in missing]):
        for label in getattr(plan.plan, field):  # one that is listed twice is replaced twice
            if (item := missing.get((field, label))) is None:
                continue
            free = (option for option in item.options if label_key(option) not in listed)
            if (alternative := next(free, None)) is not None:
                listed.add(label_key(alternative))
                yield substitution(item, alternative, plan.pack)


def fewer_days(plan: Assessment, _: set[str]) -> Iterator[SuggestionChange]:
    """Yield the change to the lab's days; nothing where it leaves no day at all."""
    days, limit, pack = plan.counts.days, plan.pack.lab.days_left, plan.pack
    if days > limit > 0:
        why = f"The lab has {days_text(pack.lab)}."
        yield change_of("duration_days", days, limit, why, lost_days(days, limit, pack))


def lost_days(before: int, after: int, pack: Pack) -> str:
    """Return the loss by fewer days."""
    if after < pack.min_days:
        return f"Below {count_text(pack.min_days, 'day')} the study's endpoint is lost."
    return f"{count_text(before - after, 'day')} fewer to run and to repeat what fails."
