"""The interim looks of a study, asked for in the form; all of it is optional."""

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import streamlit as st

from replicalab.drafts import Block, Draft
from replicalab.measures.looks import FAMILIES, MOST_LOOKS, LooksFamily
from replicalab.scenarios import Looks
from replicalab.scenarios.looks import with_shares
from replicalab.scenarios.reading import Data, FieldPath
from replicalab.ui.controls import complain
from replicalab.ui.study_form import fields, record
from replicalab.views.blocks import NOT_GIVEN
from replicalab.views.looks import TITLE

_AT: Final[FieldPath] = ("design", "looks")
_NAMES: Final[dict[str, str]] = {each.value: row.title for each, row in FAMILIES.items()}
_LONGEST: Final = 60


def draw() -> None:
    """Draw the stopping rule and what else it needs, where the kind can have one, or has one."""
    draft = record.draft()
    looks = draft.at(*_AT)
    if draft.row.information is None and looks is None:
        return
    with st.container(horizontal=True, vertical_alignment="top", key="study_looks"):
        _draw_choice(
            "Stopping rule",
            "family",
            {NOT_GIVEN: NOT_GIVEN, **_NAMES},
            NOT_GIVEN,
            _with_family,
            help="; ".join(f"{each.title}: {each.about}" for each in FAMILIES.values()),
        )
        if looks is not None:
            numbers = {number: str(number) for number in range(1, MOST_LOOKS + 1)}
            _draw_choice(TITLE, "interim", numbers, 1, _with_number)
            _draw_shares()
            _draw_gamma(draft)
    if looks is not None:
        for name in ("", "family", "interim"):
            fields.draw_faults_at(*_AT, *filter(None, [name]))
        _draw_faults_of_shares(draft.at(*_AT, "shares"))
        fields.text("Why these looks", "design", "why", "looks")


def _take(change: Callable[[Draft, Any], Draft], widget: str) -> None:
    # Each of these changes what another shows, so they are drawn anew.
    record.change(change(record.draft(), st.session_state[widget]), redraw=True)


def _draw_choice(
    label: str,
    name: str,
    named: dict[Any, str],
    usual: object,
    change: Callable[[Draft, Any], Draft],
    **how: Any,
) -> None:
    """Draw a choice of one; what a file has that is none of them is shown too."""
    at, widget = record.draft().at(*_AT, name), fields.key(*_AT, name)
    shown = usual if at is None else at
    options = list(named) if shown in named else [*named, shown]
    with st.container(width=220 if name == "family" else 160):
        st.selectbox(
            label,
            options,
            index=options.index(shown),
            format_func=lambda each: named.get(each, str(each)),
            key=widget,
            on_change=lambda: _take(change, widget),
            **how,
        )


def _draw_shares() -> None:
    """Draw when the looks are; what is no list of numbers stays as it was typed."""
    at, widget = record.draft().at(*_AT, "shares"), fields.key(*_AT, "shares")
    shown = ", ".join(map(str, at)) if isinstance(at, list) else "" if at is None else str(at)
    with st.container(width=160):
        st.text_input(
            "When, as shares of n",
            shown,
            max_chars=_LONGEST,
            placeholder="Evenly spaced",
            key=widget,
            on_change=lambda: _take(_with_shares, widget),
        )


def _draw_faults_of_shares(at: Data) -> None:
    """Draw what is wrong with when the looks are."""
    if not isinstance(at, str):
        fields.draw_faults_at(*_AT, "shares")
        return
    try:
        with_shares(Looks(family=LooksFamily.POCOCK), at)
    except ValueError as error:
        complain(f"{error}.")


def _draw_gamma(draft: Draft) -> None:
    """Draw what spends the level, in the families that have it, or where it stands."""
    family, at = draft.at(*_AT, "family"), draft.at(*_AT, "gamma")
    usual = FAMILIES[LooksFamily(family)].usual_gamma if family in _NAMES else None
    if usual is None and at is None:
        return
    with st.container(width=160):
        place = "None" if usual is None else f"{usual:g}"
        fields.optional_number("Gamma", *_AT, "gamma", step=0.5, placeholder=place)


def _block(draft: Draft) -> Block:
    here = draft.at(*_AT)
    return dict(here) if isinstance(here, dict) else {}


def _with_family(draft: Draft, family: str) -> Draft:
    """Return a draft with a stopping rule, or without one."""
    if family == NOT_GIVEN:
        return draft.put(None, *_AT)
    looks: Block = {"interim": 1, **_block(draft), "family": family}
    if FAMILIES[LooksFamily(family)].usual_gamma is None:
        looks.pop("gamma", None)
    return draft.put(looks, *_AT)


def _with_number(draft: Draft, number: int) -> Draft:
    """Return a draft with so many looks, evenly spaced."""
    return draft.put({**_block(draft), "interim": number, "shares": []}, *_AT)


def _with_shares(draft: Draft, typed: str) -> Draft:
    """Return a draft with looks at the shares that are typed; empty for evenly spaced ones."""
    looks = _block(draft)
    if not typed.strip():
        return draft.put({**looks, "shares": []}, *_AT)
    with suppress(ValueError):
        shares = [float(share) for share in typed.split(",")]
        if all(map(math.isfinite, shares)):
            return draft.put({**looks, "interim": len(shares), "shares": [*shares]}, *_AT)
    return draft.put({**looks, "shares": typed}, *_AT)
