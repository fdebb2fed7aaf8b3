"""A design as tables: arms and units, and the days of plan, lab and bookings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from replicalab.assessment import Assessment, samples_in_arms, samples_text, units_in_arms
from replicalab.assessment.phrases import last_day_text
from replicalab.facts.blocks import Bar, Cell, Column, Table, table
from replicalab.facts.plan import in_its_noun
from replicalab.lexicon import amount_text, capitalised, count_text, joined, one_line
from replicalab.scenarios import ItemStatus

TITLE: Final = "The design"
ROWS: Final = 6  # of arms and of bookings; the rest are counted

_Span = tuple[str, str, int, int]  # A name, its days in words, the first and the last of them


def design_tables(plan: Assessment) -> list[Table]:
    """Return the arms with their samples, and the days of plan, lab and bookings."""
    size = capitalised(in_its_noun(samples_text(plan), plan.pack.design))
    samples = Column("Samples", bar="after", picture="Share of the largest group")
    span = Column("Days", bar="after", picture="Place among these days")
    return [
        table(f"{TITLE}: {size}", ("Group", samples), _arm_rows(plan)),
        table("Days of plan and lab", ("Use", span), _day_rows(plan)),
    ]


def _arm_rows(plan: Assessment) -> Iterator[tuple[str, Cell]]:
    arms = list(_arms(plan))
    largest = max((samples for _, samples, _ in arms), default=0) or 1
    for name, samples, text in arms[:ROWS]:
        yield name, Cell(text, samples, bar=Bar(samples / largest))
    if (extra := len(arms) - ROWS) > 0:
        yield "Others", Cell(f"{count_text(extra, 'group')} like these")


def _arms(plan: Assessment) -> Iterator[tuple[str, int, str]]:
    """Yield each arm's name, its number of samples, and its samples and units in words."""
    design, row = plan.pack.design, plan.evidence.row
    groups, samples, units = row.groups_of(design), plan.counts.samples, design.units
    sizes = [int(size) for size in samples_in_arms(samples, design)]
    numbers = [int(number) for number in units_in_arms(samples, design)]
    if groups > len(sizes):
        # Samples left over belong to no group.
        sizes, numbers = [samples // groups] * groups, [numbers[0] // groups] * groups
    for place, (size, number) in enumerate(zip(sizes, numbers, strict=True)):
        if groups == 1:
            name = "One group"
        elif design.arms:
            name = ("First arm", "Second arm")[place]
        else:
            name = f"Group {place + 1}"
        per_unit = f" in {count_text(number, units.name)} of {units.samples:g}" if units else ""
        yield name, size, f"{amount_text(size)}{per_unit}"


def _day_rows(plan: Assessment) -> Iterator[tuple[str, Cell]]:
    spans, bookings = list(_spans(plan)), list(_bookings(plan))
    lab_end = max(plan.pack.lab.days, plan.pack.lab.start_day)
    # A booking that ends long after plan and lab is cut, so that both stay visible.
    end = max(last for *_, last in spans)
    scale = max([end, *(min(last, 2 * end) for *_, last in bookings)])
    for name, text, first, last in [*spans, *bookings[:ROWS]]:
        ends = min(last, scale) / scale
        yield name, Cell(text, bar=Bar(ends, lab_end / scale, begins=(first - 1) / scale))
    if missing := _missing_text(plan, len(bookings) - ROWS):
        yield "Missing", Cell(missing)


def _spans(plan: Assessment) -> Iterator[_Span]:
    lab, days = plan.pack.lab, plan.counts.days
    start = lab.start_day
    if days:
        last = start + days - 1
        yield "Plan", f"{_days(start, last)}{last_day_text(plan)}", start, last
    end = max(lab.days, start)
    yield "Lab", f"{_days(start, end)}{lab.dated(lab.days, 'to')}", start, end


def _bookings(plan: Assessment) -> Iterator[_Span]:
    for item in plan.missing_items:
        until = plan.pack.inventory.booked_until(item.label)
        if item.status is ItemStatus.BOOKED and until is not None:
            yield one_line(item.label), item.status_text, 1, until


def _days(first: int, last: int) -> str:
    return f"day {first:,}" if first == last else f"days {first:,} to {last:,}"


def _missing_text(plan: Assessment, more: int) -> str:
    """Name the items missing on all days, and count the bookings not listed."""
    items = [
        f"{one_line(item.label)} ({item.status_text})"
        for item in plan.missing_items
        if item.status is not ItemStatus.BOOKED
    ]
    bookings = [count_text(more, "more booked item")] if more > 0 else []
    return capitalised(joined([*items, *bookings]))
