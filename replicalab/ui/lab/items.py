"""The items of the lab: where each stands and what it costs, one at a time."""

from __future__ import annotations

from typing import Final

import streamlit as st

from replicalab.characters import on_one_line
from replicalab.lexicon import amount_text, label_key
from replicalab.models import LONGEST_LABEL
from replicalab.panels import inventory_panel, sentences_panel
from replicalab.scenarios import (
    CATEGORIES,
    MOST,
    MOST_OWN_ITEMS,
    ItemState,
    OwnItem,
    Pack,
)
from replicalab.text.lab import price_text, standing_text, unspoken_text
from replicalab.ui import panel, state
from replicalab.ui.controls import button
from replicalab.ui.lab.fields import begin, say, stamp
from replicalab.ui.words import escaped

_ITEM: Final = "lab_item"
_ANOTHER: Final = "Another item …"
_UNNAMED: Final = "lab_another_unnamed"
_FULL: Final = (
    f"{MOST_OWN_ITEMS} items are yours already, the most there is room for, so nothing more is "
    "taken. Pick one of them and take it back to the study’s."
)


def draw() -> None:
    """Draw the choice of an item, what may be said of it, and all items."""
    pack = state.here().yours.pack
    if st.session_state.get(_ITEM) not in (None, _ANOTHER, *pack.known_items):
        st.session_state[_ITEM] = None  # it was taken back, or is of another study
    chosen = st.selectbox(
        "Item",
        [*pack.known_items, _ANOTHER],
        index=None,
        format_func=on_one_line,
        key=_ITEM,
        placeholder="Pick an item to say where it stands and what it costs",
    )
    if chosen is not None and _is_full(str(chosen)):
        st.error(_FULL, icon=":material/edit_off:")
    elif chosen == _ANOTHER:
        _draw_another()
    elif chosen is not None:
        label = str(chosen)
        category = pack.category_of(label) or CATEGORIES[0]
        _draw_fields(_said(label) or OwnItem(label=label, category=category), pack)
    notes = [text for text in (unspoken_text(pack),) if text]
    panel.draw(inventory_panel(state.written(), pack), sentences_panel(notes))


def _draw_another() -> None:
    """Draw the name and the kind of an item that the study does not list."""
    with st.form("lab_another", border=False):
        st.text_input("Its name", max_chars=LONGEST_LABEL, key="lab_another_name")
        if st.session_state.pop(_UNNAMED, False):
            told = f"It has no name yet. Type one of at most {LONGEST_LABEL} characters."
            st.error(told, icon=":material/edit_off:")
        st.radio(
            "Is it used and booked, or used up?",
            CATEGORIES,
            horizontal=True,
            key="lab_another_kind",
        )
        st.form_submit_button("Add it", on_click=_add, icon=":material/add:")


def _add() -> None:
    """Add an item that is there; one that is known already is only chosen."""
    name = str(st.session_state["lab_another_name"]).strip()
    known = {label_key(label): label for label in state.here().yours.pack.known_items}
    if label_key(name) in ("", label_key(_ANOTHER)):
        st.session_state[_UNNAMED] = True
        return
    if label_key(name) not in known:
        category = st.session_state["lab_another_kind"]
        _put(OwnItem(label=name, category=category, state=ItemState.AVAILABLE))
    st.session_state[_ITEM] = known.get(label_key(name), name)


def _draw_fields(item: OwnItem, pack: Pack) -> None:
    status = pack.inventory.status(item.label, item.category)
    states = list(ItemState)
    shown = ItemState(status.value) if status.value in states else None
    left, middle, right = st.columns(3)
    with left:
        st.selectbox(
            "Where it stands",
            states,
            index=None if shown is None else states.index(shown),
            key=_key(item.label, "state"),
            on_change=_take,
            args=(item, "state"),
        )
    with middle:
        until = pack.inventory.booked_until(item.label)
        st.number_input(
            "Booked until day",
            value=until,
            step=1,
            key=_key(item.label, "until"),
            disabled=shown is not ItemState.BOOKED,
            on_change=_take,
            args=(item, "until"),
        )
    with right:
        st.number_input(
            "Its own price, credits",
            value=item.price,
            placeholder=f"by rate: {price_text(pack, item.label, item.category)}",
            key=_key(item.label, "price"),
            on_change=_take,
            args=(item, "price"),
        )
    for field in ("until", "price"):
        if problem := _problem(item, field):
            st.error(escaped(problem), icon=":material/edit_off:")
    if _said(item.label) is not None:
        written = standing_text(state.written(), item.label, item.category)
        label = f"The study’s: {written}"
        button(label, "undo", lambda: _forget(item), key=_key(item.label, "back"), type="tertiary")


def _key(label: str, field: str) -> str:
    return f"lab_item_{field}_{label_key(label)}_{stamp()}"


def _said(label: str) -> OwnItem | None:
    """Return what is said of an item, None where nothing is."""
    items = state.workspace().own_lab.items
    return next((each for each in items if label_key(each.label) == label_key(label)), None)


def _problem(item: OwnItem, field: str) -> str:
    """Return why what a field of an item holds cannot be; empty where it can."""
    typed = st.session_state.get(_key(item.label, field))
    if typed is None or 0 <= typed <= MOST:
        return ""
    name = "Booked until day" if field == "until" else "Its own price"
    return (
        f"{name} cannot be {amount_text(typed)}, so the item keeps what it had. Type 0 to {MOST:,}."
    )


def _take(item: OwnItem, field: str) -> None:
    """Take what a field of an item holds, where it can be."""
    if field != "state" and _problem(item, field):
        return
    typed = st.session_state[_key(item.label, field)]
    before = _said(item.label) or item
    changes = {field: float(typed) if field == "price" and typed is not None else typed}
    if field == "state":
        changes |= {"until": None}
    if field == "until":
        changes |= {"state": ItemState.BOOKED}
    _put(before.model_copy(update=changes))


def _is_full(label: str) -> bool:
    """Return whether nothing can be said of an item, because of others so much is."""
    return len(_others(label)) >= MOST_OWN_ITEMS


def _others(label: str) -> list[OwnItem]:
    items = state.workspace().own_lab.items
    return [each for each in items if label_key(each.label) != label_key(label)]


def _put(item: OwnItem) -> None:
    """Say something of an item; the drawer offers it only where there is room."""
    if _is_full(item.label):
        return
    empty = item.state is None and item.price is None
    kept = _others(item.label) if empty else [*_others(item.label), item]
    say(state.workspace().own_lab.model_copy(update={"items": tuple(kept)}))


def _forget(item: OwnItem) -> None:
    """Take all that is said of an item back."""
    _put(OwnItem(label=item.label, category=item.category))
    begin()
