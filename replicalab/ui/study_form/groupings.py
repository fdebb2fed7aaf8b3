"""Units and arms of the study form."""

from typing import Final

from replicalab.drafts import Block, Draft
from replicalab.scenarios.fields import LONGEST_SHORT_TITLE
from replicalab.scenarios.reading import Data
from replicalab.ui.controls import places
from replicalab.ui.study_form import fields, record

_UNITS: Final = ("design", "units")
_ARMS: Final = ("design", "arms")


def draw() -> None:
    """Draw units and arms if the design can have them."""
    row = record.draft().row
    if row.uses("units"):
        _draw_units()
    if row.uses("arms"):
        _draw_arms()


def _draw_units() -> None:
    place = places(4)
    with next(place):
        fields.text(
            "What is treated as one",
            *(*_UNITS, "name"),
            max_chars=LONGEST_SHORT_TITLE,
            placeholder="tank, class, lot",
            change=_with_unit,
            help="If several samples share one; empty if each is treated on its own.",
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
            help="Empty if unknown: the samples then count as independent.",
        )
    with next(place):
        fields.text("Why so many", "design", "why", "units")


def _draw_arms() -> None:
    place = places(2)
    with next(place):
        fields.optional_number(
            "Share of samples in the first arm",
            *(*_ARMS, "share"),
            step=0.05,
            change=_with_share,
            help="The first arm is the treated one; empty for two equal arms.",
        )
    if record.draft().at(*_ARMS) is not None:
        with next(place):
            fields.text("Why that share", "design", "why", "arms")


def _with_unit(draft: Draft, name: str) -> Draft:
    if not name.strip():
        return draft.put(None, *_UNITS)
    units = draft.at(*_UNITS)
    current: Block = units if isinstance(units, dict) else {"samples": 1.0}
    return draft.put({**current, "name": name.strip()}, *_UNITS)


def _with_share(draft: Draft, share: Data) -> Draft:
    return draft.put(None if share is None else {"share": share}, *_ARMS)
