"""The items of the lab: where each stands and what it costs, one at a time."""

from __future__ import annotations

from typing import Final

import streamlit as st

from replicalab.characters import on_one_line
from replicalab.lexicon import label_key
from replicalab.models import LONGEST_LABEL
from replicalab.scenarios import CATEGORIES, MOST_OWN_ITEMS, ItemState, OwnItem, Pack
from replicalab.scenarios.fields import Rate, Step
from replicalab.ui import notices, panel, state
from replicalab.ui.controls import NumberField, between, bounds_of, button, complain
from replicalab.ui.lab.fields import override, redraw, stamp
from replicalab.views.blocks import sentences_panel
from replicalab.views.lab import inventory_panel, price_text, standing_text, unspoken_text

_ITEM: Final = "lab_item"
_ANOTHER: Final = "Another item …"
_FULL: Final = (
    f"{MOST_OWN_ITEMS} items are yours already, the most there is room for, so nothing more is "
    "taken. Pick one of them and take it back to the study’s."
)


def draw() -> None:
    """Draw the choice of an item, what may be stated of it, and all items."""
    pack = state.analysis().yours.pack
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
        complain(_FULL)
    elif chosen == _ANOTHER:
        _draw_another()
    elif chosen is not None:
        label = str(chosen)
        category = pack.category_of(label) or CATEGORIES[0]
        _draw_fields(_override_of(label) or OwnItem(label=label, category=category), pack)
    notes = [text for text in (unspoken_text(pack),) if text]
    panel.draw(inventory_panel(state.written(), pack), sentences_panel(notes))


def _draw_another() -> None:
    """Draw the name and the kind of an item that the study does not list."""
    with st.form("lab_another", border=False):
        st.text_input("Its name", max_chars=LONGEST_LABEL, key="lab_another_name")
        notices.draw(_ANOTHER)
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
    known = {label_key(label): label for label in state.analysis().yours.pack.known_items}
    if label_key(name) in ("", label_key(_ANOTHER)):
        remedy = f"Type one of at most {LONGEST_LABEL} characters."
        notices.leave_problem(f"It has no name yet. {remedy}", _ANOTHER, "edit_off")
        return
    if label_key(name) not in known:
        category = st.session_state["lab_another_kind"]
        _put(OwnItem(label=name, category=category, state=ItemState.AVAILABLE))
    st.session_state[_ITEM] = known.get(label_key(name), name)


def _draw_fields(item: OwnItem, pack: Pack) -> None:
    status = pack.inventory.status(item.label, item.category)
    states = list(ItemState)
    state_now = ItemState(status.value) if status.value in states else None
    day, price = _fields(item, pack)
    left, middle, right = st.columns(3)
    with left:
        st.selectbox(
            "Where it stands",
            states,
            index=None if state_now is None else states.index(state_now),
            key=_key(item.label, "state"),
            on_change=_take_state,
            args=(item,),
        )
    with middle:
        day.draw(disabled=state_now is not ItemState.BOOKED)
    with right:
        by_rate = f"by rate: {price_text(pack, item.label, item.category)}"
        price.draw(placeholder=by_rate, format=None)
    complain(day.problem, price.problem)
    if _override_of(item.label) is not None:
        written = standing_text(state.written(), item.label, item.category)
        label = f"The study’s: {written}"
        button(label, "undo", lambda: _forget(item), key=_key(item.label, "back"), type="tertiary")


def _fields(item: OwnItem, pack: Pack) -> tuple[NumberField, NumberField]:
    """Return the last day on which an item is booked, and its price."""
    kept = "the item keeps what it had"
    day = NumberField(
        "Booked until day",
        _key(item.label, "until"),
        pack.inventory.booked_until(item.label),
        take=lambda typed: _change(item, until=typed, state=ItemState.BOOKED),
        why_not=between("Booked until day", bounds_of(Step), kept),
    )
    price = NumberField(
        "Its own price, credits",
        _key(item.label, "price"),
        item.price,
        take=lambda typed: _change(item, price=None if typed is None else float(typed)),
        why_not=between("Its own price", bounds_of(Rate), kept),
        step=0.01,
    )
    return day, price


def _key(label: str, field: str) -> str:
    return f"lab_item_{field}_{label_key(label)}_{stamp()}"


def _override_of(label: str) -> OwnItem | None:
    """Return what a visitor states of an item, None where nothing."""
    items = state.case().own_lab.items
    return next((item for item in items if label_key(item.label) == label_key(label)), None)


def _take_state(item: OwnItem) -> None:
    _change(item, state=st.session_state[_key(item.label, "state")], until=None)


def _change(item: OwnItem, **changes: object) -> None:
    _put((_override_of(item.label) or item).model_copy(update=changes))


def _is_full(label: str) -> bool:
    """Return whether other items leave no room to state anything of this one."""
    return len(_others(label)) >= MOST_OWN_ITEMS


def _others(label: str) -> list[OwnItem]:
    items = state.case().own_lab.items
    return [item for item in items if label_key(item.label) != label_key(label)]


def _put(item: OwnItem) -> None:
    """State something of an item; the drawer offers it only where there is room."""
    if _is_full(item.label):
        return
    empty = item.state is None and item.price is None
    kept = _others(item.label) if empty else [*_others(item.label), item]
    override(state.case().own_lab.model_copy(update={"items": tuple(kept)}))


def _forget(item: OwnItem) -> None:
    """Take every override of an item back."""
    _put(OwnItem(label=item.label, category=item.category))
    redraw()
