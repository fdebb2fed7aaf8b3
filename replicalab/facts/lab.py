"""The lab in words: what it is called, and what of it is one's own."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from replicalab.assessment.phrases import days_text
from replicalab.facts import texts
from replicalab.facts.blocks import Status
from replicalab.lexicon import CREDITS, amount_text, count_text, joined, money_text, quoted
from replicalab.scenarios import AMOUNTS, ItemStatus, Lab, LabOverrides, Pack, Study
from replicalab.scenarios.lab import date_of, date_text


def in_currency(label: str, currency: str) -> str:
    """Return what a number is called in a lab of that currency: ``Budget, EUR``."""
    return label.replace(f", {CREDITS}", f", {currency}")


def amounts_text(lab: Lab) -> str:
    """Return what a lab has: ``2,600 credits, 6 days, 3 staff units``."""
    has = lab.money(lab.budget), days_text(lab), count_text(lab.staff, "staff unit")
    return ", ".join(has)


class OverriddenValue(NamedTuple):
    """A value of one's own in place of the study's: what it is called, and both."""

    label: str
    yours: str
    written: str

    @property
    def text(self) -> str:
        """Both in words: ``9 days instead of 6``."""
        return f"{self.label} {self.yours} instead of {self.written}".strip()


def lab_text(pack: Pack) -> str:
    """Return which lab it is: ``medium lab, seed 3``, ``medium lab, 2 changes``, or its name."""
    if pack.own_lab.name:
        return pack.own_lab.name
    seed = f", seed {pack.seed}" if pack.seed else ""
    changes = pack.own_lab.changes
    text = f", {count_text(changes, 'change')}" if changes else ""
    return f"{pack.difficulty} lab{seed}{text}"


def own_values(written: Pack, pack: Pack) -> list[OverriddenValue]:
    """Return what of the lab differs from the study's, in a fixed order."""
    before, after = written.lab, pack.lab
    return [*_numbers(pack.study, before, after), *_calendar(before, after), *_items(written, pack)]


def weekends_text(lab: Lab) -> str:
    """Return whether weekends count as days of a lab."""
    return "worked" if lab.weekends else "not worked"


def _calendar(before: Lab, after: Lab) -> Iterator[OverriddenValue]:
    """Yield what differs of the currency and the calendar."""
    pairs: tuple[tuple[str, Callable[[Lab], str]], ...] = (
        ("currency", lambda lab: lab.currency),
        ("first day", lambda lab: lab.dated(1).strip(" ()") or "no date"),
        ("weekends", weekends_text),
    )
    for label, text_of in pairs:
        if (yours := text_of(after)) != (written := text_of(before)):
            yield OverriddenValue(label, yours, written)


def _numbers(study: Study, before: Lab, after: Lab) -> Iterator[OverriddenValue]:
    for amount in AMOUNTS.values():
        yours, written = amount.of(after), amount.of(before)
        if yours != written:
            label = "" if amount.noun else study.term(amount.label).lower()
            text = amount_text(yours) + (" %" if amount.unit == "%" else "")
            if amount.noun:
                money = amount.key == "budget"
                text = after.money(yours) if money else count_text(yours, amount.noun)
            yield OverriddenValue(label, text, amount_text(written))


def _by_its_calendar(written: Pack, pack: Pack) -> Pack:
    """Return the study's lab by one's own calendar, so that only what else differs does."""
    calendar = {name: getattr(pack.lab, name) for name in ("start_date", "weekends")}
    same = all(getattr(written.lab, name) == value for name, value in calendar.items())
    return written if same else written.in_lab(written.lab.model_copy(update=calendar))


def _items(written: Pack, pack: Pack) -> Iterator[OverriddenValue]:
    written = _by_its_calendar(written, pack)
    for item in pack.own_lab.items:
        where = [standing_text(entry, item.label, item.category) for entry in (pack, written)]
        if where[0] != where[1]:
            yield OverriddenValue(item.label, *where)
        if item.price is not None:
            price = price_text(written, item.label, item.category)
            yield OverriddenValue(item.label, pack.lab.money(item.price), price)


def standing_text(pack: Pack, label: str, category: str) -> str:
    """Return where an item stands in a lab: ``booked until day 9``."""
    return pack.inventory.status_text(label, category)


def price_text(pack: Pack, label: str, category: str) -> str:
    """Return what an item costs in a lab: its own price, or the rate of its kind."""
    return amount_text(pack.price(label, category))


def unspoken_text(pack: Pack) -> str:
    """Return which of the study's items a lab of another study says nothing of; empty for none."""
    if not pack.unspoken:
        return ""
    items = joined(quoted(pack.unspoken))
    return texts.UNSPOKEN.format(lab=pack.own_lab.name, items=items)


def own_text(written: Pack, pack: Pack) -> str:
    """Return in a sentence what of the lab is one's own; empty where nothing is."""
    text = ", ".join(own_value.text for own_value in own_values(written, pack))
    return f"Your lab: {text}." if text else ""


def any_lab_text(own: LabOverrides, difficulty: str, seed: int) -> str:
    """Return which lab all studies are in: what is said of it, and the study's own for the rest."""
    currency = own.currency or CREDITS
    means = [
        money_text(value, currency) if amount.key == "budget" else count_text(value, amount.noun)
        for amount in AMOUNTS.values()
        if amount.is_shared and (value := getattr(own, amount.key)) is not None
    ]
    if (start := own.start_day) is not None:
        means.append(f"work from day {start:,}{_dated(own, start)}")
    others = own.changes - len(means)
    text = [*means, *([count_text(others, "change", "other" if means else "")] if others else [])]
    name = f" ({own.name})" if own.name else ""
    written = f"{difficulty} lab{f', seed {seed}' if seed else ''}"
    if not text:
        return texts.EACH_STUDYS_LAB.format(written=written)
    return texts.OWN_LAB.format(name=name, changes=joined(text), written=written)


def _dated(own: LabOverrides, day: int) -> str:
    """Return the date of a day where it is the same in every study; else nothing."""
    if own.start_date is None or own.weekends is None:
        return ""
    result = date_of(day, own.start_date, weekends=own.weekends)
    return f" ({date_text(result)})" if result else ""


# --- an item in its row ---


class ItemRow(NamedTuple):
    """An item of a lab: where it stands there, and what else there is to say of it in a line."""

    status: Status
    where: str
    more: str


def item_row(written: Pack, pack: Pack, label: str, category: str) -> ItemRow:
    """Return how an item of a lab is shown, with what the study's lab has in place of it."""
    written = _by_its_calendar(written, pack)
    where, was = (standing_text(item, label, category) for item in (pack, written))
    price, rate = (price_text(item, label, category) for item in (pack, written))
    more = [pack.study.term(category), f"{price} {pack.lab.currency}"]
    more += [f"the study’s: {was}"] if where != was else []
    more += [f"the study’s price: {rate}"] if price != rate else []
    is_free = pack.inventory.status(label, category) is ItemStatus.AVAILABLE
    return ItemRow(Status.PASS if is_free else Status.FAIL, where, " · ".join(more))
