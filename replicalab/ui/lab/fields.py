"""The fields of the lab: its numbers, each with the study's own below it, and its items."""

import re
from datetime import date
from typing import Final, NamedTuple

import streamlit as st

from replicalab.characters import on_one_line
from replicalab.facts import lab
from replicalab.facts.blocks import sentences_panel
from replicalab.facts.lab import MONEY
from replicalab.facts.plan import staff_text
from replicalab.lexicon import CREDITS, amount_text, count_text, label_key, shortened
from replicalab.models import LONGEST_LABEL
from replicalab.scenarios import (
    CATEGORIES,
    MOST_OWN_ITEMS,
    ItemState,
    Lab,
    LabOverrides,
    OwnItem,
    Pack,
)
from replicalab.scenarios.calendar import FIRST_YEAR, LAST_YEAR
from replicalab.scenarios.fields import CURRENCY, AtLeastOne, Percent, Rate, Step
from replicalab.scenarios.own import ItemCategory
from replicalab.ui import notices, panel, state
from replicalab.ui.controls import NumberField, between, bounds_of, button, complain, places
from replicalab.ui.words import badge, escaped

_STAMP: Final = "lab_form"
# The least and the most of the numbers of a part of `LabOverrides`, of a mean by ``""``.
_BOUNDS: Final = {"": bounds_of(AtLeastOne), "rates": bounds_of(Rate), "steps": bounds_of(Step)}
_PERCENT: Final = bounds_of(Percent)
# The means that a visitor may state for every study at once.
_EVERYWHERE: Final = ("budget", "days", "staff")


def stamp() -> int:
    """Return what the keys of the drawer's widgets end in."""
    number: int = st.session_state.setdefault(_STAMP, 0)
    return number


def redraw() -> None:
    """Let the widgets show what the lab has, and not what was typed before."""
    st.session_state[_STAMP] = stamp() + 1


def override(own_lab: LabOverrides) -> None:
    """Use other overrides of the lab; the page behind draws its fields anew."""
    state.suppose(own_lab)
    state.current().version += 1


def go_back() -> None:
    """Take every override of the lab back."""
    override(LabOverrides())
    redraw()


# --- one study's lab ------------------------------------------------------------------------


class _Number(NamedTuple):
    """A number of the lab.

    Attributes:
        part: the field of `LabOverrides` that has it among others, empty for a mean.
        now, written: in the lab, and in the study's.
    """

    part: str
    name: str
    label: str
    now: float
    written: float

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the most that it may be."""
        return _PERCENT if self.name == "overhead_percent" else _BOUNDS[self.part]

    @property
    def shown(self) -> float:
        """The number as its field shows it; only a study's own budget may be other than whole."""
        return float(self.now) if self.part == "rates" else max(int(self.bounds[0]), int(self.now))

    @property
    def field(self) -> NumberField:
        return NumberField(
            self.label,
            f"lab_{self.name}_{stamp()}",
            self.shown,
            take=lambda typed: self.put(None if typed == self.written else typed),
            why_not=between(self.label, self.bounds, f"the lab keeps {amount_text(self.now)}"),
            step=0.01 if self.part == "rates" else 1,
        )

    def put(self, value: float | None) -> None:
        """Override the number; None leaves the study's."""
        own = state.case().own_lab
        if not self.part:
            override(own.model_copy(update={self.name: value}))
            return
        others = {name: was for name, was in getattr(own, self.part).items() if name != self.name}
        new = {} if value is None else {self.name: value}
        override(own.model_copy(update={self.part: others | new}))

    def back(self) -> None:
        """Take the number back to the study's."""
        self.put(None)
        redraw()


def draw_means() -> None:
    """Draw budget, days, start day and staff."""
    now, written = state.analysis().yours.pack.lab, state.written().lab
    draw_numbers("", lab.MEANS, now, written)
    if now.start_day > 1 or now.start_date:
        left = count_text(now.days_left, "day")
        first, last = (f"day {day}{now.dated(day)}" for day in (now.start_day, now.days))
        st.caption(f"From {first} to {last}: {left} to work in.")


def draw_rates() -> None:
    """Draw what things cost by rate, and when one more person is needed."""
    pack, written = state.analysis().yours.pack, state.written().lab
    now, rates = pack.lab, {name: pack.study.term(label) for name, label in lab.RATES.items()}
    draw_numbers("rates", rates, now.cost_model, written.cost_model, per_row=3)
    panel.draw(sentences_panel([f"Your plan’s staff: {staff_text(state.analysis().yours)}."]))
    draw_numbers("steps", lab.STEPS, now.staff_model, written.staff_model, per_row=3)


def draw_numbers(
    part: str, labels: dict[str, str], now: object, written: object, per_row: int = 2
) -> None:
    """Draw the numbers of a part of the lab, so many in a row."""
    currency = state.analysis().yours.pack.lab.currency
    numbers = [
        _Number(
            part, name, lab.in_currency(label, currency), getattr(now, name), getattr(written, name)
        )
        for name, label in labels.items()
    ]
    for number, place in zip(numbers, places(per_row), strict=False):
        with place:
            _draw_number(number)


def _draw_number(number: _Number) -> None:
    field, written = number.field, f"The study’s: {amount_text(number.written)}"
    field.draw()
    complain(field.problem)
    if number.now != number.written:
        button(written, "undo", number.back, key=f"back_{field.key}", type="tertiary")
    elif number.now != number.shown:
        st.caption(written)


# --- the lab in every study -----------------------------------------------------------------


def draw_means_everywhere() -> list[str]:
    """Draw budget, days and staff for every study; return what is wrong with what was typed.

    They are empty where every study has its own.
    """
    fields = [_mean(name) for name in _EVERYWHERE]
    for name, field in zip(_EVERYWHERE, fields, strict=True):
        if not field.problem:  # the drawer, undo and a link change the same numbers
            st.session_state[field.key] = getattr(state.case().own_lab, name)
        field.draw(placeholder="study’s own")
    return [field.problem for field in fields]


def _mean(name: str) -> NumberField:
    own = state.case().own_lab
    now, label = getattr(own, name), lab.in_currency(lab.MEANS[name], own.currency or CREDITS)
    kept = "each study keeps its own" if now is None else f"the lab keeps {amount_text(now)}"
    return NumberField(
        label,
        f"said_{name}",
        None,
        take=lambda typed: override(state.case().own_lab.model_copy(update={name: typed})),
        why_not=between(label, _BOUNDS[""], kept),
    )


# --- its items: where each stands and what it costs, each in a row of its own ---------------------

_ITEM: Final = "lab_item"
_ANOTHER: Final = "Another item …"
_MOST_ROWS: Final = 40  # So many stand below one another; any other is picked by its name
_FULL: Final = (
    f"{MOST_OWN_ITEMS} items are yours already, the most there is room for, so nothing more is "
    "taken. Pick one of them and take it back to the study’s."
)


def draw_items() -> None:
    """Draw the choice of an item, and a row for each, which opens what may be stated of it."""
    pack = state.analysis().yours.pack
    items = _named(pack)
    if st.session_state.get(_ITEM) not in (None, _ANOTHER, *items):
        st.session_state[_ITEM] = None  # it was taken back, or is of another study
    chosen = st.selectbox(
        "Item",
        [*items, _ANOTHER],
        index=None,
        format_func=on_one_line,
        key=_ITEM,
        on_change=_open_chosen,
        placeholder="Pick an item, or click its row, to say where it stands and what it costs",
    )
    if chosen == _ANOTHER and _is_full(_ANOTHER):
        complain(_FULL)
    elif chosen == _ANOTHER:
        _draw_another()
    listed = list(items)[:_MOST_ROWS]
    for label in [*listed, *([chosen] if chosen in items and chosen not in listed else [])]:
        _draw_row(str(label), items[str(label)], pack)
    more = len(items) - len(listed)
    notes = [f"{more} more: pick them by name above."] if more else []
    panel.draw(sentences_panel([*notes, *filter(None, [lab.unspoken_text(pack)])]))


def row_key(label: str) -> str:
    """Return the key of an item's row, which is open where the session says so."""
    return f"lab_row_{label_key(label)}"


def _open_chosen() -> None:
    if (chosen := st.session_state[_ITEM]) not in (None, _ANOTHER):
        st.session_state[row_key(chosen)] = True


def _named(pack: Pack) -> dict[str, ItemCategory]:
    """Return the items that study, lab and open plan name, each with its category.

    What one of them names nobody types again.
    """
    plan = state.plan()
    known = {label_key(label) for label in pack.known_items}
    found = {label: pack.category_of(label) or CATEGORIES[0] for label in pack.known_items}
    planned = (plan.required_equipment, plan.required_reagents)
    for category, labels in zip(CATEGORIES, planned, strict=True):
        for label in labels:
            if label_key(label) not in known:
                known.add(label_key(label))
                found[label] = category
    return found


def _draw_row(label: str, category: ItemCategory, pack: Pack) -> None:
    """Draw an item's row; what may be stated of it is drawn where it is open."""
    found, key = lab.item_row(state.written(), pack, label, category), row_key(label)
    title = f"**{escaped(label)}** {badge(found.status, found.where)} {found.more}"
    # To the browser a row with another title is another row: whether it is open is told anew.
    st.session_state[key] = bool(st.session_state.get(key))
    row = st.expander(title, key=key, on_change="rerun")
    if not row.open:
        return
    with row:
        if _is_full(label):
            complain(_FULL)
        else:
            _draw_item(_override_of(label) or OwnItem(label=label, category=category), pack)


def _draw_another() -> None:
    """Draw the name and the kind of an item that the study does not list."""
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
    _open_chosen()


def _draw_item(item: OwnItem, pack: Pack) -> None:
    status = pack.inventory.status(item.label, item.category)
    states = list(ItemState)
    state_now = ItemState(status.value) if status.value in states else None
    (day, price), place = _item_fields(item, pack), _key(item.label, "state")
    left, middle, right = st.columns(3)
    with left:
        st.selectbox(
            "Where it stands",
            states,
            format_func=pack.study.term,
            index=None if state_now is None else states.index(state_now),
            key=place,
            on_change=lambda: _change(item, state=st.session_state[place], until=None),
        )
    with middle:
        day.draw(disabled=state_now is not ItemState.BOOKED)
    with right:
        by_rate = f"by rate: {lab.price_text(pack, item.label, item.category)}"
        price.draw(placeholder=by_rate, format=None)
    complain(day.problem, price.problem)
    if _override_of(item.label) is not None:
        written = lab.standing_text(state.written(), item.label, item.category)
        label = f"The study’s: {written}"
        button(label, "undo", lambda: _forget(item), key=_key(item.label, "back"), type="tertiary")


def _item_fields(item: OwnItem, pack: Pack) -> tuple[NumberField, NumberField]:
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
        f"Its own price, {pack.lab.currency}",
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


def draw_money() -> None:
    """Draw the folded part; until it is unfolded its fields are not worked out."""
    now, written = state.analysis().yours.pack.lab, state.written().lab
    place = st.expander("Calendar and money", key="lab_calendar", on_change="rerun")
    if place.open:
        with place:
            _draw_calendar(now, written)
            draw_numbers("rates", MONEY, now.cost_model, written.cost_model)


def _draw_calendar(now: Lab, written: Lab) -> None:
    """Draw the start date and the currency, and whether weekends count."""
    left, right = st.columns(2)
    start, currency, weekends = (
        f"lab_{name}_{stamp()}" for name in ("start_date", "currency", "weekends")
    )
    with left:
        st.date_input(
            "Start date",
            now.start_date,
            key=start,
            min_value=date(FIRST_YEAR, 1, 1),
            max_value=date(LAST_YEAR, 12, 31),
            format="YYYY-MM-DD",
            on_change=lambda: _state("start_date", st.session_state[start], written.start_date),
        )
        _draw_back("start_date", str(written.start_date or "no date"))
    with right:
        st.text_input(
            "Currency",
            now.currency,
            key=currency,
            on_change=lambda: _take_currency(st.session_state[currency], written),
            help="What a unit of cost is called. Amounts are not converted.",
        )
        typed = str(st.session_state[currency]).strip()
        if typed and not re.fullmatch(CURRENCY, typed):
            quoted = f"“{shortened(typed)}” is no currency, so the lab keeps {now.currency}"
            complain(f"{quoted}. Type 1 to 8 letters or €, £ or ¥, such as EUR.")
        _draw_back("currency", written.currency)
    st.toggle(
        "Weekends count as days",
        now.weekends,
        key=weekends,
        on_change=lambda: _state("weekends", st.session_state[weekends], written.weekends),
        help="Where they do not, plans and bookings skip Saturdays and Sundays.",
    )


def _take_currency(typed: str, written: Lab) -> None:
    """Use a currency that is one; an empty field is the study's."""
    if not typed.strip() or re.fullmatch(CURRENCY, typed.strip()):
        _state("currency", typed.strip() or None, written.currency)


def _state(name: str, value: object, written: object) -> None:
    """State something of the lab; the study's own leaves it to the study."""
    changed = {name: None if value == written else value}
    override(state.case().own_lab.model_copy(update=changed))


def _draw_back(name: str, written: str) -> None:
    """Draw the way back to what the study says, where the lab says something else."""
    if getattr(state.case().own_lab, name) is None:
        return

    def back() -> None:
        _state(name, None, None)
        redraw()

    label = f"The study’s: {written}"
    button(label, "undo", back, key=f"back_{name}_{stamp()}", type="tertiary")
