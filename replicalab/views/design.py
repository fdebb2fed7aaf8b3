"""A design as a picture: arms and units, and the days of the plan and of bookings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from replicalab.assessment import Assessment, samples_in_arms, samples_text, units_in_arms
from replicalab.assessment.phrases import last_day_text
from replicalab.lexicon import amount_text, capitalised, count_text, ended, joined, one_line
from replicalab.scenarios import ItemStatus
from replicalab.views.blocks import Picture
from replicalab.views.plan import in_its_noun

TITLE: Final = "The design"
_TWO: Final = 2
MOST_ARMS: Final = 6
MOST_BOOKINGS: Final = 6
"""Of more arms, or bookings, the rest are only counted."""


class Arm(NamedTuple):
    """An arm of a design, or its only group.

    Attributes:
        text: what it is called, and what is in it.
        samples: how many are planned in it.
        units: in how many experimental units; 0 where no sample shares one.
        per_unit: samples in a unit, on average.
    """

    text: str
    samples: int
    units: int
    per_unit: float


class DaySpan(NamedTuple):
    """Days of the lab on which something is done or booked, the last one included."""

    text: str
    first: int
    last: int


class DesignFacts(NamedTuple):
    """What a picture of a design is drawn of.

    Attributes:
        size: how many samples are planned, and analysed.
        arms: those that are drawn, and in words how many more there are.
        more_arms: the rest of them; empty where none is left.
        plan: the days of the plan; None where it has none.
        bookings: the plan's items that are booked when the lab begins, from day 1 on.
        more_items: which other items the lab lacks; empty for none.
        lab: the days of the lab.
        dates: of the first and the last day that are drawn; empty where none is known.
    """

    size: str
    arms: tuple[Arm, ...]
    more_arms: str
    plan: DaySpan | None
    bookings: tuple[DaySpan, ...]
    more_items: str
    lab: DaySpan
    dates: tuple[str, str]

    @property
    def last_day(self) -> int:
        """The last day that is drawn; a booking that ends far beyond all else goes on."""
        end = max(self.lab.last, self.plan.last if self.plan else 1, 1)
        return max([end, *(min(booked.last, end * _TWO) for booked in self.bookings)])


def design_facts(plan: Assessment) -> DesignFacts:
    """Return what a picture of a plan's design is drawn of."""
    lab, design = plan.pack.lab, plan.pack.design
    arms = tuple(_arms(plan))
    left = len(arms) - MOST_ARMS
    days, start = plan.counts.days, lab.start_day
    bookings = tuple(_bookings(plan))
    facts = DesignFacts(
        size=capitalised(in_its_noun(samples_text(plan), design)),
        arms=arms[:MOST_ARMS],
        more_arms=f"And {count_text(left, 'group')} like these." if left > 0 else "",
        plan=_days("The plan", start, start + days - 1, last_day_text(plan)) if days else None,
        bookings=bookings[:MOST_BOOKINGS],
        more_items=_more_items(plan, len(bookings) - MOST_BOOKINGS),
        lab=_days("The lab", start, max(lab.days, start), lab.dated(lab.days, "to")),
        dates=("", ""),
    )
    ends = (1, facts.last_day)
    first, last = (lab.dated(day).strip(" ()") for day in ends)
    return facts._replace(dates=(first, last))


def _days(what: str, first: int, last: int, dated: str) -> DaySpan:
    days = f"day {first:,}" if first == last else f"days {first:,} to {last:,}"
    return DaySpan(f"{what}: {days}{dated}", first, last)


def _arms(plan: Assessment) -> Iterator[Arm]:
    design, row = plan.pack.design, plan.evidence.row
    groups, samples, units = row.groups_of(design), plan.counts.samples, design.units
    shares = [int(each) for each in samples_in_arms(samples, design)]
    held = [int(each) for each in units_in_arms(samples, design)]
    if groups > len(shares):
        # Samples that are left over are in no group.
        shares, held = [samples // groups] * groups, [held[0] // groups] * groups
    for at, (share, number) in enumerate(zip(shares, held, strict=True), start=1):
        if groups == 1:
            name = "One group"
        elif design.arms:
            name = ("First arm", "Second arm")[at - 1]
        else:
            name = f"Group {at}"
        per_unit = units.samples if units else 1.0
        within = f" in {count_text(number, units.name)} of {per_unit:g}" if units else ""
        text = f"{name}: {amount_text(share)}{within}"
        yield Arm(text, share, number if units else 0, per_unit)


def _bookings(plan: Assessment) -> Iterator[DaySpan]:
    for item in plan.missing_items:
        until = plan.pack.inventory.booked_until(item.label)
        if item.status is ItemStatus.BOOKED and until is not None:
            yield DaySpan(f"{one_line(item.label)}: {item.status_text}", 1, until)


def _more_items(plan: Assessment, left: int) -> str:
    """Return which items are missing on all days, and how many more are booked."""
    gone = [
        f"{one_line(item.label)} ({item.status_text})"
        for item in plan.missing_items
        if item.status is not ItemStatus.BOOKED
    ]
    more = [count_text(left, "more booked item")] if left > 0 else []
    return capitalised(joined([*gone, *more]))


# --- the picture ------------------------------------------------------------------------------


def design_picture(plan: Assessment) -> Picture:
    """Return the picture of a plan's design, with all that it shows in words."""
    facts = design_facts(plan)
    spans = [facts.plan, facts.lab, *facts.bookings]
    texts = [
        facts.size,
        *(arm.text for arm in facts.arms),
        facts.more_arms,
        *(span.text for span in spans if span),
        f"Missing: {facts.more_items}" if facts.more_items else "",
    ]
    alt = " ".join(ended(text) for text in texts if text)
    said = (
        "Arms with their units; below, the days of plan and bookings, marked where the lab’s end."
    )
    return Picture(TITLE, said, alt, "design", {"facts": facts})
