"""The lab in words: its name, and its changes from the study's lab."""

from collections.abc import Iterator
from typing import NamedTuple

from replicalab import lexicon
from replicalab.facts import texts
from replicalab.facts.blocks import Status
from replicalab.scenarios import AMOUNTS, ItemStatus, Lab, LabOverrides, Pack, Study
from replicalab.scenarios.lab import date_of, date_text


def amounts_text(lab: Lab) -> str:
    """Return a lab's amounts: ``2,600 credits, 6 days, 3 staff units``."""
    return ", ".join(
        lab.days_text if key == "days" else row.text(row.of(lab), lab.currency)
        for key, row in AMOUNTS.items()
        if row.is_shared
    )


def lab_text(pack: Pack) -> str:
    """Return the name of a lab: ``medium lab, seed 3``, ``medium lab, 2 changes``, or its own."""
    if pack.own_lab.name:
        return pack.own_lab.name
    seed = f", seed {pack.seed}" if pack.seed else ""
    changes = pack.own_lab.changes
    text = f", {lexicon.count_text(changes, 'change')}" if changes else ""
    return f"{pack.difficulty} lab{seed}{text}"


def weekends_text(lab: Lab) -> str:
    """Return whether weekends count as days of a lab."""
    return "worked" if lab.weekends else "not worked"


def first_day_text(lab: Lab) -> str:
    """Return the date of a lab's first day."""
    first = date_of(1, lab.start_date, weekends=lab.weekends) if lab.start_date else None
    return date_text(first) if first else "no date"


class OverriddenValue(NamedTuple):
    """A value of the visitor's own lab that replaces the study's."""

    label: str
    yours: str
    written: str

    @property
    def text(self) -> str:
        """Both values in words: ``9 days instead of 6``."""
        return f"{self.label} {self.yours} instead of {self.written}".strip()


def own_values(written: Pack, pack: Pack) -> list[OverriddenValue]:
    """Return the values of a lab that differ from the study's, in a fixed order."""
    before, after = written.lab, pack.lab
    values = [
        *_numbers(pack.study, before, after),
        OverriddenValue("currency", after.currency, before.currency),
        OverriddenValue("first day", first_day_text(after), first_day_text(before)),
        OverriddenValue("weekends", weekends_text(after), weekends_text(before)),
        *_items(written, pack),
    ]
    return [value for value in values if value.yours != value.written]


def _numbers(study: Study, before: Lab, after: Lab) -> Iterator[OverriddenValue]:
    for amount in AMOUNTS.values():
        yours, written = amount.of(after), amount.of(before)
        if yours != written:
            label = "" if amount.noun else study.term(amount.label).lower()
            text = lexicon.amount_text(yours) + (" %" if amount.unit == "%" else "")
            if amount.noun:
                text = amount.text(yours, after.currency)
            yield OverriddenValue(label, text, lexicon.amount_text(written))


def _items(written: Pack, pack: Pack) -> Iterator[OverriddenValue]:
    written = _by_its_calendar(written, pack)
    for item in pack.own_lab.items:
        where = (lab.inventory.status_text(item.label, item.category) for lab in (pack, written))
        yield OverriddenValue(item.label, *where)
        if item.price is not None:
            price = price_text(written, item.label, item.category)
            yield OverriddenValue(item.label, pack.lab.money(item.price), price)


def _by_its_calendar(written: Pack, pack: Pack) -> Pack:
    """Return the study's lab with the calendar of ``pack``, to compare the rest."""
    calendar = {name: getattr(pack.lab, name) for name in ("start_date", "weekends")}
    same = all(getattr(written.lab, name) == value for name, value in calendar.items())
    return written if same else written.in_lab(written.lab.model_copy(update=calendar))


def price_text(pack: Pack, label: str, category: str) -> str:
    """Return the price of an item in a lab."""
    return lexicon.amount_text(pack.price(label, category))


def unspoken_text(pack: Pack) -> str:
    """Return the study's items that a lab of another study does not list; empty for none."""
    if not pack.unspoken:
        return ""
    items = lexicon.joined(lexicon.quoted(pack.unspoken))
    return texts.UNSPOKEN.format(lab=pack.own_lab.name, items=items)


def own_text(written: Pack, pack: Pack) -> str:
    """Return the changes of a lab in a sentence; empty without any."""
    text = ", ".join(value.text for value in own_values(written, pack))
    return f"Your lab: {text}." if text else ""


def any_lab_text(own: LabOverrides, difficulty: str, seed: int) -> str:
    """Return the lab of all studies: the visitor's changes to each study's own."""
    written = f"{difficulty} lab{f', seed {seed}' if seed else ''}"
    means = []
    for amount in AMOUNTS.values():
        value = getattr(own, amount.key) if amount.is_shared else None
        if value is not None:
            means.append(amount.text(value, own.currency or lexicon.CREDITS))
    if others := own.changes - len(means):
        means.append(lexicon.count_text(others, "change", "other" if means else ""))
    if not means:
        return f"Each study is judged in its own {written}. Enter your lab above."
    name, changes = f" ({own.name})" if own.name else "", lexicon.joined(means)
    return f"Your lab{name}: {changes}. All else is from each study’s {written}."


def item_row(written: Pack, pack: Pack, label: str, category: str) -> tuple[Status, str, str]:
    """Return the sign of an item in a lab, its state, and its kind and price."""
    written = _by_its_calendar(written, pack)
    where, was = (lab.inventory.status_text(label, category) for lab in (pack, written))
    price, rate = (price_text(lab, label, category) for lab in (pack, written))
    more = [pack.study.term(category), f"{price} {pack.lab.currency}"]
    more += [f"the study’s: {was}"] if where != was else []
    more += [f"the study’s price: {rate}"] if price != rate else []
    is_free = pack.inventory.status(label, category) is ItemStatus.AVAILABLE
    return Status.PASS if is_free else Status.FAIL, where, " · ".join(more)
