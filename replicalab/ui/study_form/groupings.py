"""The parts of a design that say how samples share units, and how they are shared out over arms."""

from typing import Final

from replicalab.drafts import Block, Draft
from replicalab.scenarios.fields import LONGEST_SHORT_TITLE
from replicalab.scenarios.reading import Data
from replicalab.ui.controls import places
from replicalab.ui.study_form import fields, record

_UNITS: Final = ("design", "units")
_ARMS: Final = ("design", "arms")


def draw() -> None:
    """Draw units and arms, as far as the kind of design can have them."""
    row = record.draft().row
    if row.uses("units"):
        _draw_units()
    if row.uses("arms"):
        _draw_arms()


def _draw_units() -> None:
    place = places(3)
    with next(place):
        fields.text(
            "What is treated as one",
            *(*_UNITS, "name"),
            max_chars=LONGEST_SHORT_TITLE,
            placeholder="tank, class, lot",
            change=_with_unit,
            help="Where several samples share one; empty where each is treated on its own.",
        )
    if record.draft().at(*_UNITS) is None:
        return
    with next(place):
        fields.number("Samples in one of them", *(*_UNITS, "samples"), step=1.0)
    with next(place):
        fields.optional_number(
            "Intraclass correlation",
            *(*_UNITS, "icc"),
            step=0.01,
            help="Empty where it is not known: the samples then count as independent.",
        )
    with next(place):
        fields.text("Why so many", "design", "why", "units")


def _draw_arms() -> None:
    place = places(3)
    with next(place):
        fields.optional_number(
            "Share of samples in the first arm",
            *(*_ARMS, "share"),
            step=0.05,
            change=_with_share,
            help="The first arm is the treated one; empty for two equal arms.",
        )
    if record.draft().at(*_ARMS) is None:
        return
    with next(place):
        fields.text("Why that share", "design", "why", "arms")


def _with_unit(draft: Draft, name: str) -> Draft:
    if not name.strip():
        return draft.put(None, *_UNITS)
    here = draft.at(*_UNITS)
    known: Block = here if isinstance(here, dict) else {"samples": 1.0}
    return draft.put({**known, "name": name.strip()}, *_UNITS)


def _with_share(draft: Draft, share: Data) -> Draft:
    here = draft.at(*_ARMS)
    known: Block = here if isinstance(here, dict) else {}
    return draft.put(None if share is None else {**known, "share": share}, *_ARMS)
