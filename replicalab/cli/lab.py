"""The rates, staff steps and items of a lab of one's own: from options, or from a lab's file."""

import argparse
import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import Final, NamedTuple, get_args

from replicalab.cli import files
from replicalab.cli.printing import CommandError
from replicalab.errors import TableError
from replicalab.lexicon import label_key, repeated_labels, shortened
from replicalab.models import LARGEST_COUNT, LONGEST_LABEL
from replicalab.scenarios import (
    CATEGORIES,
    MOST,
    MOST_OWN_ITEMS,
    Difficulty,
    Guesser,
    ItemState,
    LabOverrides,
    OwnItem,
    Study,
    read_lab,
)
from replicalab.scenarios.fields import CURRENCY
from replicalab.scenarios.own import ItemCategory, RateName, StepName
from replicalab.tables import SUFFIXES, read_inventory

_ITEM_EXAMPLE: Final = "'imager: booked until 12'"
# What an option may give of an item: how it is written, and the fields of `OwnItem` that it sets.
_ITEM_FIELDS: Final[dict[str, Callable[[str], dict[str, object]]]] = {
    r"booked until (?:day )?([0-9]{1,40})": lambda day: {
        "state": ItemState.BOOKED,
        "until": int(day),
    },
    f"({'|'.join(ItemState)})": lambda state: {"state": ItemState(state)},
}
_PRICE: Final = re.compile(f"([0-9.]{{1,40}}) ?({CURRENCY})")
_CREDITS: Final = ("credit", "credits")
_WAYS: Final = (*ItemState, "booked until 12", "250 credits")


class ItemOption(NamedTuple):
    """An item that an option names, and the fields of `OwnItem` that it sets.

    ``currency`` is that of its price, empty for credits.
    """

    label: str
    fields: dict[str, object]
    currency: str = ""


def _pair(field: str, names: Sequence[str], example: str) -> Callable[[str], tuple[str, float]]:
    """Return what reads ``name=number`` for a field of `LabOverrides`."""

    def read(text: str) -> tuple[str, float]:
        name, sign, value = map(str.strip, text.partition("="))
        if not sign:
            raise ArgumentTypeError(
                f"'{shortened(text)}' has no number; write one such as {example}"
            )
        if name not in names:
            remedy = Guesser().remedy(name, names)
            raise ArgumentTypeError(f"'{shortened(name)}' is unknown; {remedy}")
        try:
            number = int(value) if value.isascii() and value.isdecimal() else float(value)
            LabOverrides.model_validate({field: {name: number}})
        except ValueError:
            kind = "whole number" if field == "steps" else "number"
            problem = f"'{shortened(value)}' is no {kind} from 0 to {MOST:,}"
            raise ArgumentTypeError(f"{problem}; write one such as {example}") from None
        return name, number

    return read


def _item(text: str) -> ItemOption:
    label, _, listed = (" ".join(part.split()) for part in text.rpartition(":"))
    if not 0 < len(label) <= LONGEST_LABEL:
        problem = f"'{shortened(text)}' names no item of 1 to {LONGEST_LABEL} characters"
        raise ArgumentTypeError(f"{problem}; write one such as {_ITEM_EXAMPLE}")
    fields: dict[str, object] = {}
    currency = ""
    for part in map(str.strip, listed.split(",")):
        new = _fields_of(part)
        if found := _PRICE.fullmatch(part):
            currency = found[2]
        if twice := fields.keys() & new.keys():
            raise ArgumentTypeError(
                f"'{shortened(listed)}' gives the {min(twice)} twice; give it once"
            )
        fields |= new
    return ItemOption(label, fields, "" if currency.casefold() in _CREDITS else currency)


def _fields_of(part: str) -> dict[str, object]:
    """Return the fields of `OwnItem` that a part of an option sets."""
    ways = [(re.fullmatch(pattern, part.casefold()), of) for pattern, of in _ITEM_FIELDS.items()]
    ways.append((_PRICE.fullmatch(part), lambda price: {"price": float(price)}))
    for found, fields in ways:
        if found:
            try:
                given = fields(found[1])
                OwnItem.model_validate({"label": "x", "category": CATEGORIES[0], **given})
            except ValueError:
                most = f"a day to {LARGEST_COUNT:,}, a price to {MOST:,}"
                raise ArgumentTypeError(f"'{part}' is out of range; {most}") from None
            return given
    remedy = Guesser().remedy(shortened(part), _WAYS)
    raise ArgumentTypeError(f"'{shortened(part)}' is no state and no price; {remedy}")


class LabPart(NamedTuple):
    """A part of a lab that options give, one at a time.

    Attributes:
        option: its name; also what a refusal calls it.
        unit: what is written.
        read: what is written as a pair.
        about: what it is.
    """

    option: str
    unit: str
    read: Callable[[str], tuple[object, ...]]
    about: str


_RATES: Final[tuple[str, ...]] = get_args(RateName)
_STEPS: Final[tuple[str, ...]] = get_args(StepName)
PARTS: Final = {
    "rates": LabPart(
        "rate",
        "NAME=CREDITS",
        _pair("rates", _RATES, "per_sample=4"),
        f"what one costs: {', '.join(_RATES)}; again for each",
    ),
    "steps": LabPart(
        "step",
        "NAME=NUMBER",
        _pair("steps", _STEPS, "sample_threshold=30"),
        f"when staff is needed: {', '.join(_STEPS)}; again for each",
    ),
    "items": LabPart(
        "item",
        "'ITEM: STATE'",
        _item,
        "where an item of the study stands, what it costs, or both: available, out of stock, "
        "booked, booked until 12, 250 credits; again for each",
    ),
}
"""The parts of a lab that have a name each, by the field of `LabOverrides`."""


def add_parts(group: argparse._ArgumentGroup) -> None:
    """Add an option for each part of a lab."""
    for part in PARTS.values():
        group.add_argument(
            f"--{part.option}",
            action="append",
            default=[],
            type=part.read,
            metavar=part.unit,
            help=part.about,
        )


# --- what they come to --------------------------------------------------------------------------


def lab_at(path: Path) -> LabOverrides:
    """Return the lab of a file: one that was saved as a lab, or a table of its items.

    Raises:
        CommandError: the file cannot be read.
        ScenarioError: it holds no lab.
        TableError: it is no table of items.
    """
    data, name = files.content(path), files.called(path)
    ending = PurePath(path).suffix.casefold().removeprefix(".")
    if not ending and data.strip() and not data.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{"):
        ending = "xlsx" if data.startswith(b"PK") else "csv"  # a pipe, which has no ending
    if ending not in SUFFIXES:
        return read_lab(data, name)
    try:
        return LabOverrides(items=read_inventory(data, f"{PurePath(name).stem}.{ending}"))
    except TableError as error:
        raise TableError(name, error.faults, error.more) from None


def with_parts(
    lab: LabOverrides, asked: argparse.Namespace, studies: Sequence[Study]
) -> LabOverrides:
    """Return a lab with the parts that options give; an item is one of the studies'.

    Raises:
        CommandError: a part is given twice, or an item is unknown.
    """
    given = {field: getattr(asked, part.option) for field, part in PARTS.items()}
    for field, part in PARTS.items():
        for twice in repeated_labels(name for name, *_ in given[field]):
            raise CommandError(f"--{part.option} '{twice}' is given twice; give it once")
    items = {label_key(item.label): item for item in lab.items}
    known = {**_known_items(studies), **{key: (i.label, i.category) for key, i in items.items()}}
    for label, fields, currency in given["items"]:
        _check_currency(label, currency, lab, studies)
        items[label_key(label)] = _with_fields(items.get(label_key(label)), label, fields, known)
    if len(items) > MOST_OWN_ITEMS:
        raise CommandError(f"--item: {len(items):,} items are named; keep {MOST_OWN_ITEMS} at most")
    return lab.model_copy(
        update={
            "rates": {**lab.rates, **dict(given["rates"])},
            "steps": {**lab.steps, **dict(given["steps"])},
            "items": tuple(items.values()),
        }
    )


def _check_currency(label: str, currency: str, lab: LabOverrides, studies: Sequence[Study]) -> None:
    """Check that an item's price is in the lab's currency; credits are what any lab counts in.

    Raises:
        CommandError: it is in another one.
    """
    labs = [study.labs.at(level) for study in studies for level in Difficulty]
    known = [lab.currency] if lab.currency else sorted({each.currency for each in labs})
    if currency and currency not in known:
        problem = f"--item '{shortened(label)}': its price is in {currency}, the lab's money in"
        remedy = f"write it in {known[0]}, or add --currency {currency}"
        raise CommandError(f"{problem} {' and '.join(known)}; {remedy}")


def _with_fields(
    item: OwnItem | None,
    label: str,
    fields: dict[str, object],
    known: dict[str, tuple[str, ItemCategory]],
) -> OwnItem:
    found = known.get(label_key(label))
    if found is None:
        remedy = Guesser().remedy(label, [name for name, _ in known.values()])
        problem = f"--item '{shortened(label)}' is no item of the study"
        raise CommandError(f"{problem}; {remedy}; name others in a --lab-file")
    own = item or OwnItem(label=found[0], category=found[1])
    moved = {"until": None} if "state" in fields else {}
    return own.model_copy(update={**moved, **fields})


def _known_items(studies: Sequence[Study]) -> dict[str, tuple[str, ItemCategory]]:
    """Return every item that a study names: its label and its kind, by its key."""
    found: dict[str, tuple[str, ItemCategory]] = {}
    for label, category in (pair for study in studies for pair in _items_of(study)):
        found.setdefault(label_key(label), (label, category))
    return found


def _items_of(study: Study) -> Iterator[tuple[str, ItemCategory]]:
    labs = [study.labs.easy, study.labs.medium, study.labs.hard]
    needed: dict[ItemCategory, Sequence[str]] = {
        "equipment": study.equipment,
        "reagent": study.reagents,
    }
    for category, labels in needed.items():
        keys = {*map(label_key, labels)}
        yield from ((label, category) for label in labels)
        for swap in study.substitutions:
            if label_key(swap.original) in keys:
                yield swap.alternative, category
        for lab in labs:
            others = lab.equipment if category == "equipment" else lab.reagents
            yield from ((label, category) for label in others)
