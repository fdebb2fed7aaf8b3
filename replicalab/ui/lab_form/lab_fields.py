"""The fields of the lab: amounts, calendar and items, each with a way back to the study's value."""

import re
from collections.abc import Callable
from datetime import date
from functools import partial
from typing import Final

import streamlit as st

from replicalab import scenarios
from replicalab.characters import on_one_line
from replicalab.facts import lab_facts
from replicalab.facts.blocks import sentences_panel
from replicalab.facts.plan_facts import staff_text
from replicalab.lexicon import CREDITS, amount_text, count_text, label_key, shortened
from replicalab.limits import LONGEST_LABEL, MOST_OWN_ITEMS
from replicalab.scenarios.field_types import CURRENCY, Rate, Step
from replicalab.scenarios.lab import FIRST_YEAR, LAST_YEAR
from replicalab.scenarios.overrides import ItemCategory
from replicalab.ui import controls, notices, screen, state
from replicalab.ui.controls import badge, escape

_STAMP: Final = "lab_form"


def stamp() -> int:
    """Return the number that ends the keys of the drawer's widgets."""
    return int(st.session_state.setdefault(_STAMP, 0))


def redraw() -> None:
    """Start the widgets again with the values of the lab."""
    st.session_state[_STAMP] = stamp() + 1


def override(own_lab: scenarios.LabOverrides) -> None:
    """Use other overrides; the page behind the drawer draws its fields again."""
    state.change_lab(own_lab)
    state.current().version += 1


def use(own_lab: scenarios.LabOverrides) -> None:
    """Use other overrides; the drawer draws its fields again too."""
    override(own_lab)
    redraw()


def draw_back(name: str, written: str, back: Callable[[], None]) -> None:
    """Draw the button that restores the study's value of one field."""

    def restore() -> None:
        back()
        redraw()

    key = f"back_{name}_{stamp()}"
    controls.button(f"Reset to {written}", "undo", restore, key=key, type="tertiary")


def draw_means() -> None:
    """Draw budget, days, start day and staff, then the calendar and the money."""
    _draw_amounts(scenarios.AmountGroup.MEANS)
    lab = state.analysis().yours.pack.lab
    if lab.start_day > 1 or lab.start_date:
        first, last = (f"day {day}{lab.dated(day)}" for day in (lab.start_day, lab.days))
        st.caption(f"From {first} to {last}: {count_text(lab.days_left, 'day')} to work in.")
    with controls.fold("Calendar and money", "lab_calendar") as is_open:
        if is_open:
            _draw_calendar()
            _draw_amounts(scenarios.AmountGroup.MONEY)


def draw_rates() -> None:
    """Draw the rates, and the numbers above which a plan needs one more staff unit."""
    _draw_amounts(scenarios.AmountGroup.RATES, per_row=3)
    screen.draw(sentences_panel([f"Your plan’s staff: {staff_text(state.analysis().yours)}."]))
    _draw_amounts(scenarios.AmountGroup.STEPS, per_row=3)


def _draw_amounts(group: scenarios.AmountGroup, per_row: int = 2) -> None:
    for amount, place in zip(scenarios.amounts_in(group), controls.places(per_row), strict=False):
        with place:
            _draw_amount(amount)


def _draw_amount(amount: scenarios.LabAmount) -> None:
    pack = state.analysis().yours.pack
    now, written = amount.of(pack.lab), amount.of(state.author_pack().lab)
    bounds = controls.bounds_of(amount.bounds)
    is_rate = amount.part == "rates"
    # Only a study's own budget may be other than whole.
    start = float(now) if is_rate else max(int(bounds[0]), int(now))
    label = amount.label_in(pack.lab.currency, pack.study.term)
    field = controls.NumberField(
        label,
        f"lab_{amount.key}_{stamp()}",
        start,
        take=lambda typed: _put(amount, None if typed == written else typed),
        why_not=controls.between(label, bounds, f"the lab keeps {amount_text(now)}"),
        step=0.01 if is_rate else 1,
    )
    field.draw(help=amount.help)
    controls.complain(field.problem)
    if now != written:
        draw_back(amount.key, amount_text(written), partial(_put, amount, None))
    elif now != start:
        st.caption(f"The study’s: {amount_text(written)}")


def _put(amount: scenarios.LabAmount, value: float | None) -> None:
    override(state.case().own_lab.with_amount(amount, value))


def draw_means_everywhere() -> list[str]:
    """Draw budget, days and staff for every study; return the problem of each, empty if none."""
    problems = []
    for amount in (row for row in scenarios.AMOUNTS.values() if row.is_shared):
        overrides = state.case().own_lab
        now, label = getattr(overrides, amount.key), amount.label_in(overrides.currency or CREDITS)
        text = "each study keeps its own" if now is None else f"the lab keeps {amount_text(now)}"
        field = controls.NumberField(
            label,
            f"said_{amount.key}",
            None,
            take=partial(_put, amount),
            why_not=controls.between(label, controls.bounds_of(amount.bounds), text),
        )
        problems.append(field.problem)
        if not field.problem:  # the drawer, undo and a link change the same numbers
            st.session_state[field.key] = now
        field.draw(placeholder="study’s own", help=amount.help)
    return problems


def _draw_calendar() -> None:
    now, (first, second) = state.analysis().yours.pack.lab, st.columns(2)
    start_date, weekends = f"lab_start_date_{stamp()}", f"lab_weekends_{stamp()}"
    with first:
        st.date_input(
            "Start date",
            now.start_date,
            key=start_date,
            min_value=date(FIRST_YEAR, 1, 1),
            max_value=date(LAST_YEAR, 12, 31),
            format="YYYY-MM-DD",
            on_change=lambda: _set_field("start_date", st.session_state[start_date]),
        )
        if state.case().own_lab.start_date is not None:
            written = str(state.author_pack().lab.start_date or "no date")
            draw_back("start_date", written, partial(_set_field, "start_date", None))
    with second:
        _draw_currency()
    st.toggle(
        "Weekends count as days",
        now.weekends,
        key=weekends,
        on_change=lambda: _set_field("weekends", st.session_state[weekends]),
        help="If not, plans and bookings skip Saturdays and Sundays.",
    )


def _draw_currency() -> None:
    now, key = state.analysis().yours.pack.lab.currency, f"lab_currency_{stamp()}"
    is_valid = re.compile(f"({CURRENCY})?").fullmatch

    def take() -> None:
        if is_valid(currency := st.session_state[key].strip()):
            _set_field("currency", currency or None)

    help_text = "The name of a unit of cost. Amounts are not converted."
    typed = st.text_input("Currency", now, key=key, on_change=take, help=help_text).strip()
    if not is_valid(typed):
        remedy = "Type 1 to 8 letters or €, £ or ¥, such as EUR."
        controls.complain(f"“{shortened(typed)}” is no currency, so the lab keeps {now}. {remedy}")
    if state.case().own_lab.currency is not None:
        written = state.author_pack().lab.currency
        draw_back("currency", written, partial(_set_field, "currency", None))


def _set_field(name: str, value: object) -> None:
    is_written = value == getattr(state.author_pack().lab, name)
    changes = {name: None if is_written else value}
    override(state.case().own_lab.model_copy(update=changes))


_ITEM: Final = "lab_item"
_ANOTHER: Final = "Another item …"
_ROWS: Final = 40  # rows shown; further items are picked by name
_FULL: Final = f"{MOST_OWN_ITEMS} items are yours, the limit. Reset one to the study’s value first."


def draw_items() -> None:
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
        placeholder="Pick an item",
    )
    if chosen == _ANOTHER and _is_full(_ANOTHER):
        controls.complain(_FULL)
    elif chosen == _ANOTHER:
        _draw_another()
    rows = list(items)[:_ROWS]
    if chosen in items and chosen not in rows:
        rows.append(str(chosen))
    for label in rows:
        _draw_row(label, items[label], pack)
    hidden = len(items) - _ROWS
    further = f"{hidden} more: pick them by name above." if hidden > 0 else ""
    screen.draw(sentences_panel([*filter(None, (further, lab_facts.unspoken_text(pack)))]))


def row_key(label: str) -> str:
    """Return the session's key for whether an item's row is open."""
    return f"lab_row_{label_key(label)}"


def _open_chosen() -> None:
    if (chosen := st.session_state[_ITEM]) not in (None, _ANOTHER):
        st.session_state[row_key(chosen)] = True


def _categories(pack: scenarios.Pack) -> dict[str, ItemCategory]:
    plan = state.plan()
    labels = [*pack.known_items.items()]
    planned = (plan.required_equipment, plan.required_reagents)
    for category, names in zip(scenarios.CATEGORIES, planned, strict=True):
        labels += [(name, category) for name in names]
    items: dict[str, tuple[str, ItemCategory]] = {}
    for label, category in labels:
        items.setdefault(label_key(label), (label, category))
    return dict(items.values())


def _draw_row(label: str, category: ItemCategory, pack: scenarios.Pack) -> None:
    status, where, detail = lab_facts.item_row(state.author_pack(), pack, label, category)
    key = row_key(label)
    title = f"**{escape(label)}** {badge(status, where)} {detail}"
    # The browser takes a row with another title for a new one, so its state is set again.
    st.session_state[key] = bool(st.session_state.get(key))
    with controls.fold(title, key) as is_open:
        if is_open and _is_full(label):
            controls.complain(_FULL)
        elif is_open:
            changed = _own_items().get(label_key(label))
            _draw_item(changed or scenarios.OwnItem(label=label, category=category), pack)


def _draw_another() -> None:
    with st.form("lab_another", border=False):
        st.text_input("Its name", max_chars=LONGEST_LABEL, key="lab_another_name")
        notices.draw(_ANOTHER)
        st.radio(
            "Booked or used up?",
            scenarios.CATEGORIES,
            format_func=state.analysis().yours.pack.study.term,
            horizontal=True,
            key="lab_another_kind",
        )
        st.form_submit_button("Add it", on_click=_add, icon=":material/add:")


def _add() -> None:
    name = str(st.session_state["lab_another_name"]).strip()
    listed = {label_key(label): label for label in state.analysis().yours.pack.known_items}
    if label_key(name) in ("", label_key(_ANOTHER)):
        problem = f"It has no name yet. Type one of at most {LONGEST_LABEL} characters."
        notices.leave_problem(problem, _ANOTHER, "edit_off")
        return
    if label_key(name) not in listed:
        category, free = st.session_state["lab_another_kind"], scenarios.ItemState.AVAILABLE
        _put_item(scenarios.OwnItem(label=name, category=category, state=free))
    st.session_state[_ITEM] = listed.get(label_key(name), name)
    _open_chosen()


def _draw_item(item: scenarios.OwnItem, pack: scenarios.Pack) -> None:
    def key(field: str) -> str:
        return f"lab_item_{field}_{label_key(item.label)}_{stamp()}"

    def change(**changes: object) -> None:
        _put_item(item.model_copy(update=changes))

    def take() -> None:
        change(state=st.session_state[key("state")], until=None)

    unchanged, states = "the item keeps its value", list(scenarios.ItemState)
    status = pack.inventory.status(item.label, item.category).value
    first, second, third = st.columns(3)
    with first:
        st.selectbox(
            "Availability",
            states,
            format_func=pack.study.term,
            index=states.index(scenarios.ItemState(status)) if status in states else None,
            key=key("state"),
            on_change=controls.choice_callback(key("state"), states, take),
        )
    with second:
        day = controls.NumberField(
            "Booked until day",
            key("until"),
            pack.inventory.booked_until(item.label),
            take=lambda typed: change(until=typed, state=scenarios.ItemState.BOOKED),
            why_not=controls.between("Booked until day", controls.bounds_of(Step), unchanged),
        )
        day.draw(disabled=status != scenarios.ItemState.BOOKED)
    with third:
        price = controls.NumberField(
            f"Price, {pack.lab.currency}",
            key("price"),
            item.price,
            take=lambda typed: change(price=None if typed is None else float(typed)),
            why_not=controls.between("Price", controls.bounds_of(Rate), unchanged),
            step=0.01,
        )
        by_rate = f"by rate: {lab_facts.price_text(pack, item.label, item.category)}"
        price.draw(placeholder=by_rate, format=None)
    controls.complain(day.problem, price.problem)
    if label_key(item.label) in _own_items():
        written = state.author_pack().inventory.status_text(item.label, item.category)
        cleared = scenarios.OwnItem(label=item.label, category=item.category)
        draw_back(f"lab_item_{label_key(item.label)}", written, lambda: _put_item(cleared))


def _own_items() -> dict[str, scenarios.OwnItem]:
    return {label_key(item.label): item for item in state.case().own_lab.items}


def _is_full(label: str) -> bool:
    return len(_own_items().keys() - {label_key(label)}) >= MOST_OWN_ITEMS


def _put_item(item: scenarios.OwnItem) -> None:
    """Override an item; without state and price it is the study's again."""
    if not _is_full(item.label):
        items, key = _own_items(), label_key(item.label)
        items.pop(key, None)
        if item.state is not None or item.price is not None:
            items[key] = item
        override(state.case().own_lab.model_copy(update={"items": tuple(items.values())}))
