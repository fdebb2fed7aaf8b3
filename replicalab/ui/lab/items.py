"""The items of the lab: one row each, which opens for its state, its booking and its price."""

from typing import Final

import streamlit as st

from replicalab.characters import on_one_line
from replicalab.facts import lab
from replicalab.facts.blocks import sentences_panel
from replicalab.lexicon import label_key
from replicalab.limits import LONGEST_LABEL, MOST_OWN_ITEMS
from replicalab.scenarios import CATEGORIES, ItemState, OwnItem, Pack
from replicalab.scenarios.fields import Rate, Step
from replicalab.scenarios.own import ItemCategory
from replicalab.ui import notices, panel, state
from replicalab.ui.controls import NumberField, between, bounds_of, complain
from replicalab.ui.lab.fields import draw_back, override, stamp
from replicalab.ui.words import badge, escaped

_ITEM: Final = "lab_item"
_ANOTHER: Final = "Another item …"
_ROWS: Final = 40  # rows shown; further items are picked by name
_FULL: Final = (
    f"{MOST_OWN_ITEMS} items are yours already, the most there is room for. "
    "Pick one of them and take it back to the study’s."
)


def draw() -> None:
    """Draw the choice of an item, then a row for each."""
    pack = state.analysis().yours.pack
    items = _categories(pack)
    if st.session_state.get(_ITEM) not in (None, _ANOTHER, *items):
        st.session_state[_ITEM] = None  # it was taken back, or belongs to another study
    chosen = st.selectbox(
        "Item",
        [*items, _ANOTHER],
        index=None,
        format_func=on_one_line,
        key=_ITEM,
        on_change=_open_chosen,
        placeholder="Pick an item, or open its row below",
    )
    if chosen == _ANOTHER and _is_full(_ANOTHER):
        complain(_FULL)
    elif chosen == _ANOTHER:
        _draw_another()
    rows = list(items)[:_ROWS]
    if chosen in items and chosen not in rows:
        rows.append(str(chosen))
    for label in rows:
        _draw_row(label, items[label], pack)
    hidden = len(items) - _ROWS
    more = f"{hidden} more: pick them by name above." if hidden > 0 else ""
    panel.draw(sentences_panel([*filter(None, (more, lab.unspoken_text(pack)))]))


def row_key(label: str) -> str:
    """Return the session's key for whether an item's row is open."""
    return f"lab_row_{label_key(label)}"


def _open_chosen() -> None:
    if (chosen := st.session_state[_ITEM]) not in (None, _ANOTHER):
        st.session_state[row_key(chosen)] = True


def _categories(pack: Pack) -> dict[str, ItemCategory]:
    """Return the items of study, lab and open plan with their categories."""
    plan = state.plan()
    labels = [(label, pack.category_of(label) or CATEGORIES[0]) for label in pack.known_items]
    planned = (plan.required_equipment, plan.required_reagents)
    for category, names in zip(CATEGORIES, planned, strict=True):
        labels += [(name, category) for name in names]
    items: dict[str, tuple[str, ItemCategory]] = {}
    for label, category in labels:
        items.setdefault(label_key(label), (label, category))
    return dict(items.values())


def _draw_row(label: str, category: ItemCategory, pack: Pack) -> None:
    item, key = lab.item_row(state.written(), pack, label, category), row_key(label)
    title = f"**{escaped(label)}** {badge(item.status, item.where)} {item.more}"
    # The browser takes a row with another title for a new one, so its state is set again.
    st.session_state[key] = bool(st.session_state.get(key))
    row = st.expander(title, key=key, on_change="rerun")
    if row.open:
        with row:
            if _is_full(label):
                complain(_FULL)
            else:
                _draw_item(_override_of(label) or OwnItem(label=label, category=category), pack)


def _draw_another() -> None:
    """Draw the name and the category of an item that the study does not list."""
    with st.form("lab_another", border=False):
        st.text_input("Its name", max_chars=LONGEST_LABEL, key="lab_another_name")
        notices.draw(_ANOTHER)
        st.radio(
            "Is it used and booked, or used up?",
            CATEGORIES,
            format_func=state.analysis().yours.pack.study.term,
            horizontal=True,
            key="lab_another_kind",
        )
        st.form_submit_button("Add it", on_click=_add, icon=":material/add:")


def _add() -> None:
    """Add an available item, or choose the known one of that name."""
    name = str(st.session_state["lab_another_name"]).strip()
    known = {label_key(label): label for label in state.analysis().yours.pack.known_items}
    if label_key(name) in ("", label_key(_ANOTHER)):
        problem = f"It has no name yet. Type one of at most {LONGEST_LABEL} characters."
        notices.leave_problem(problem, _ANOTHER, "edit_off")
        return
    if label_key(name) not in known:
        category = st.session_state["lab_another_kind"]
        _put(OwnItem(label=name, category=category, state=ItemState.AVAILABLE))
    st.session_state[_ITEM] = known.get(label_key(name), name)
    _open_chosen()


def _draw_item(item: OwnItem, pack: Pack) -> None:
    """Draw the state, the last day of a booking, the price, and the way back."""

    def key(field: str) -> str:
        return f"lab_item_{field}_{label_key(item.label)}_{stamp()}"

    def change(**changes: object) -> None:
        _put(item.model_copy(update=changes))

    kept, states = "the item keeps its value", list(ItemState)
    status = pack.inventory.status(item.label, item.category).value
    left, middle, right = st.columns(3)
    with left:
        st.selectbox(
            "Availability",
            states,
            format_func=pack.study.term,
            index=states.index(ItemState(status)) if status in states else None,
            key=key("state"),
            on_change=lambda: change(state=st.session_state[key("state")], until=None),
        )
    with middle:
        day = NumberField(
            "Booked until day",
            key("until"),
            pack.inventory.booked_until(item.label),
            take=lambda typed: change(until=typed, state=ItemState.BOOKED),
            why_not=between("Booked until day", bounds_of(Step), kept),
        )
        day.draw(disabled=status != ItemState.BOOKED)
    with right:
        price = NumberField(
            f"Price, {pack.lab.currency}",
            key("price"),
            item.price,
            take=lambda typed: change(price=None if typed is None else float(typed)),
            why_not=between("Price", bounds_of(Rate), kept),
            step=0.01,
        )
        by_rate = f"by rate: {lab.price_text(pack, item.label, item.category)}"
        price.draw(placeholder=by_rate, format=None)
    complain(day.problem, price.problem)
    if _override_of(item.label) is not None:
        written = lab.standing_text(state.written(), item.label, item.category)
        cleared = OwnItem(label=item.label, category=item.category)
        draw_back(f"lab_item_{label_key(item.label)}", written, lambda: _put(cleared))


def _override_of(label: str) -> OwnItem | None:
    items = state.case().own_lab.items
    return next((item for item in items if label_key(item.label) == label_key(label)), None)


def _others(label: str) -> list[OwnItem]:
    items = state.case().own_lab.items
    return [item for item in items if label_key(item.label) != label_key(label)]


def _is_full(label: str) -> bool:
    """Return whether the other items leave no room for this one."""
    return len(_others(label)) >= MOST_OWN_ITEMS


def _put(item: OwnItem) -> None:
    """Override an item; without state and price it is the study's again."""
    if not _is_full(item.label):
        overrides = [] if item.state is None and item.price is None else [item]
        items = (*_others(item.label), *overrides)
        override(state.case().own_lab.model_copy(update={"items": items}))
