"""What the original found, asked for in the ways in which people have it; all of it is optional."""

from functools import partial
from typing import Final

import streamlit as st

from replicalab.designs import EffectSource, Kind
from replicalab.drafts import UNSTATED, Block, Draft
from replicalab.facts.blocks import NOT_GIVEN, sentences_panel
from replicalab.facts.original import choices_texts
from replicalab.lexicon import capitalised
from replicalab.models import LONGEST_TEXT
from replicalab.scenarios import Confidence
from replicalab.scenarios.reading import Data, FieldPath
from replicalab.ui import panel
from replicalab.ui.study_form import fields, record

_AT: Final[FieldPath] = ("design", "original")
_NUMBERS: Final = "numbers"
_SIDES: Final = {2: "two-sided", 1: "one-sided"}
_KNOWN: Final = (Confidence.VERIFIED, Confidence.RECALLED, Confidence.DERIVED)
_COUNTS: Final = frozenset({"n", "n1", "n2", "events", "samples"})


def draw() -> None:
    """Draw how the original's effect is known, its numbers, and the effects that they come to."""
    row = record.draft().row
    if row.effect is None:
        return
    source = _draw_way(row)
    if record.draft().at(*_AT) is None:
        return
    with st.container(horizontal=True, vertical_alignment="top", key="original_numbers"):
        if source is None:
            _draw_effect(row)
        for number in source.asked if source else ():
            if number.name not in _COUNTS:
                step = 1 if number.whole else 0.1
                _draw_number(number.label, _NUMBERS, number.name, step=step)
        for name, label in _counts(row).items():
            _draw_number(label, name, step=1)
    with st.container(horizontal=True, vertical_alignment="top", key="original_source"):
        with st.container(width="stretch"):
            fields.text("Where the numbers stand", *_AT, "source", max_chars=LONGEST_TEXT)
        with st.container(width=150):
            fields.choice("How sure", [each.value for each in _KNOWN], *_AT, "confidence")
        with st.container(width=150):
            fields.choice("Its test was", [*_SIDES], *_AT, "sides", usual=2, format_func=_side)
    fields.draw_faults_at(*_AT)
    if (study := record.current().study) is not None:
        panel.draw(sentences_panel(choices_texts(study.design), quiet=True))


def _side(sides: object) -> str:
    return _SIDES.get(sides, str(sides)) if isinstance(sides, int) else str(sides)


def _draw_way(row: Kind) -> EffectSource | None:
    """Draw in which way the original's effect is known; return its source, None for the effect."""
    name = row.effect.name if row.effect else ""
    ways = [NOT_GIVEN, name, *(source.label for source in _sources(row))]
    key = fields.key(*_AT, "way")

    def take() -> None:
        way = st.session_state[key]
        record.change(_with_way(record.draft(), None if way == NOT_GIVEN else way))

    way = st.selectbox(
        "The original’s effect, as it was reported",
        ways,
        index=ways.index(_way(row)),
        key=key,
        on_change=take,
        help="With its numbers, more cautious effects to plan with are offered.",
    )
    return next((source for source in row.sources if source.label == way), None)


def _sources(row: Kind) -> list[EffectSource]:
    """Return the ways to know an effect; n is asked beside each, so that it tells no two apart."""
    by_numbers = {frozenset(_numbers(source)): source for source in row.sources}
    return [*by_numbers.values()]


def _numbers(source: EffectSource) -> set[str]:
    return {number.name for number in source.asked} - _COUNTS


def _way(row: Kind) -> str:
    """Return the way in which the original's effect is known."""
    draft = record.draft()
    numbers = draft.at(*_AT, _NUMBERS)
    if draft.at(*_AT) is None or row.effect is None:
        return NOT_GIVEN
    known = {*numbers} if isinstance(numbers, dict) else set()
    for source in _sources(row):
        if known and known == _numbers(source):
            return source.label
    return row.effect.name


def _with_way(draft: Draft, way: str | None) -> Draft:
    """Return a draft whose original is known in another way; its numbers are typed anew."""
    if way is None:
        return draft.put(None, *_AT)
    old = draft.at(*_AT)
    begun: Block = {"sides": 2, "source": UNSTATED, "confidence": Confidence.RECALLED.value}
    kept = dict(old) if isinstance(old, dict) else {}
    gone = ("effect", "se", "low", "high", "level", _NUMBERS)
    return draft.put({**begun, **{k: v for k, v in kept.items() if k not in gone}}, *_AT)


def _draw_effect(row: Kind) -> None:
    name = row.effect.name if row.effect else ""
    _draw_number(capitalised(name), "effect", step=0.05)
    _draw_number("Standard error", "se", step=0.01)
    _draw_number("Interval from", "low", step=0.05)
    _draw_number("to", "high", step=0.05)
    _draw_number("Level of it", "level", step=0.01, placeholder="0.95")


def _counts(row: Kind) -> dict[str, str]:
    """Return the counts that an original of a kind has, and what each is called."""
    if row.normal is not None and row.normal.in_events:
        return {"events": "Events", "n": "n in all"}
    if row.groups == 2:
        return {"n1": "n, group 1", "n2": "n, group 2"}
    return {"n": "n"}


def _draw_number(label: str, *path: str, step: float, placeholder: str = "None") -> None:
    with st.container(width=150):
        fields.optional_number(
            label,
            *(*_AT, *path),
            step=step,
            change=partial(_with_number, path),
            placeholder=placeholder,
        )


def _with_number(path: FieldPath, draft: Draft, value: Data) -> Draft:
    """Return a draft with a number of the original, or without it where its field is empty."""
    around = draft.at(*_AT, *path[:-1])
    held: Block = dict(around) if isinstance(around, dict) else {}
    held.pop(str(path[-1]), None)
    if value is not None:
        held[str(path[-1])] = value
    return draft.put(held, *_AT, *path[:-1])
