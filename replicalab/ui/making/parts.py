"""The parts of the form: what is compared, what is assumed, the plan and the lab."""

from __future__ import annotations

from functools import partial
from typing import Final

import streamlit as st

from replicalab.drafts import YOUR_LAB, Draft, Others
from replicalab.lexicon import capitalised
from replicalab.measures import KINDS, PARAMETERS
from replicalab.models import LONGEST_TEXT
from replicalab.panels import kind_panel
from replicalab.scenarios import DesignKind, Study
from replicalab.scenarios.fields import LONGEST_SHORT_TITLE, LONGEST_TITLE
from replicalab.ui import panel, state
from replicalab.ui.making import fields, record
from replicalab.ui.words import escaped

_PLAN: Final = "reference_protocol"
_LAB: Final = ("labs", YOUR_LAB)
KINDS_SHOWN: Final = sorted(KINDS.values(), key=lambda row: row.sought is None)
"""The kinds of design, those that test something first."""


def open_on_protocol(text: str, study: Study) -> None:
    """Keep a study and open it on Protocol; why it cannot be kept is said beside the button."""
    if not state.bring(text, study):
        st.switch_page("pages/1_Protocol.py", query_params=state.address())


# --- what is compared -----------------------------------------------------------------------


def draw_comparison() -> None:
    """Draw the name of the study, its question, and a sketch of every kind of design."""
    name, short = st.columns([3, 1])
    with name:
        fields.text("Name of the study", "paper", "title", max_chars=LONGEST_TITLE)
    with short:
        fields.text(
            "Short name",
            *("paper", "short_title"),
            max_chars=LONGEST_SHORT_TITLE,
            placeholder="For headings",
            change=lambda draft, name: draft.put(name.strip() or None, "paper", "short_title"),
        )
    fields.prose("What is to be found out", "paper", "goal")
    chosen = record.draft().row
    fields.say("design", "kind")
    with st.grid("auto", min_column_width=170, key="kinds"):
        for row in KINDS_SHOWN:
            with st.container(key=f"kind_{row.kind}", gap=None):
                is_chosen = row is chosen
                st.button(
                    row.title,
                    key=f"choose_{row.kind}",
                    icon=":material/check:" if is_chosen else None,
                    type="primary" if is_chosen else "secondary",
                    width="stretch",
                    on_click=partial(_choose_kind, DesignKind(row.kind)),
                )
                panel.draw(kind_panel(DesignKind(row.kind)))


def _choose_kind(kind: DesignKind) -> None:
    now = record.current()
    record.change(record.draft().of_kind(kind))
    now.version += 1


# --- what is assumed ------------------------------------------------------------------------


def draw_assumptions() -> None:
    """Draw the effect with its source, what is aimed at, and the numbers that the kind needs."""
    row = record.draft().row
    if row.effect is not None:
        assumed, published, smallest = st.columns(3)
        with assumed:
            name = row.effect.name
            fields.number(f"Assumed: {name}", "design", "effect_planning", step=0.05)
        with published:
            fields.optional_number(f"Published: {name}", "design", "effect_published", step=0.05)
        with smallest:
            fields.optional_number(f"Smallest of interest: {name}", "design", "sesoi", step=0.05)
    fields.text("Where the effect comes from", "design", "source", max_chars=LONGEST_TEXT)
    columns = st.columns(3)
    numbers = {"target": f"{capitalised(row.measure)} to aim at", "floor": "Least worth running"}
    numbers |= {name: row.label(name) for name in row.numbers}
    for place, (name, label) in enumerate(numbers.items()):
        with columns[place % len(columns)]:
            draw_design_number(name, label)
    fields.text("What one sample is", "design", "unit_of_n")


def draw_design_number(name: str, label: str) -> None:
    """Draw a number of the design."""
    if name == "population_max" and name not in record.draft().row.needs:
        fields.optional_number(label, "design", name, help="Empty for no limit.")
    else:
        fields.number(
            label,
            "design",
            name,
            step=PARAMETERS[name].step if name in PARAMETERS else 0.05,
            change=lambda draft, value: draft.with_number(name, value),
        )


# --- the lab and the plan -------------------------------------------------------------------


def draw_lab() -> None:
    """Draw the plan that does the study justice, and the lab that is to run it."""
    plan, lab = st.columns(2, gap="large")
    with plan:
        st.markdown("**The plan that does it justice**")
        _draw_plan()
    with lab:
        st.markdown("**The lab**")
        _draw_means()


def _draw_plan() -> None:
    size, days = st.columns(2)
    with size:
        fields.number("Sample size", _PLAN, "sample_size")
    with days:
        fields.number("Duration (days)", _PLAN, "duration_days")
    fields.prose("Technique", _PLAN, "technique")
    fields.prose("Rationale", _PLAN, "rationale")
    for label, field, part in (
        ("Equipment of the plan", "required_equipment", "equipment"),
        ("Reagents of the plan", "required_reagents", "reagents"),
    ):
        if record.draft().labels(part) or record.draft().labels(_PLAN, field):
            fields.labels(label, _PLAN, field, options=record.draft().labels(part))
    names = record.draft().names("controls", "name")
    if names or record.draft().labels(_PLAN, "controls"):
        fields.labels("Controls of the plan", _PLAN, "controls", options=names)


def _draw_means() -> None:
    columns = st.columns([3, 2, 2])
    for column, label, name in zip(
        columns,
        ("Budget (credits)", "Days", "Staff"),
        ("budget", "days", "staff"),
        strict=True,
    ):
        with column:
            fields.number(label, *_LAB, name, step=100.0 if name == "budget" else 1)
    equipment, reagents = record.draft().labels("equipment"), record.draft().labels("reagents")
    if equipment or record.draft().labels(*_LAB, "booked"):
        fields.labels("Booked", *_LAB, "booked", options=equipment, change=_with_booked)
    for item in record.draft().labels(*_LAB, "booked"):
        fields.number(f"{escaped(item)}: booked until day", *_LAB, "booked", item)
    if reagents or record.draft().labels(*_LAB, "out_of_stock"):
        fields.labels("Out of stock", *_LAB, "out_of_stock", options=reagents)
    others = [each for each in Others if each is not Others.KEPT or _has_kept()]
    st.radio(
        "The easy and the hard lab are",
        others,
        index=others.index(record.draft().others),
        key=fields.key("others"),
        on_change=_choose_others,
        help="Made from it: in the easy one nothing is missing and the plan fits; the hard one has "
        "three quarters of the credits and the days, and one person fewer.",
    )


def _with_booked(draft: Draft, chosen: list[str]) -> Draft:
    """Return a draft with these items booked; one that is new, for as long as the lab has days."""
    days = draft.at(*_LAB, "days")
    until = {item: draft.at(*_LAB, "booked", item) for item in chosen}
    booked = {item: days if day is None else day for item, day in until.items()}
    return draft.put({**booked}, *_LAB, "booked")


def _has_kept() -> bool:
    return record.draft().others is Others.KEPT or "labs" in record.draft().aside


def _choose_others() -> None:
    record.change(record.draft().with_others(st.session_state[fields.key("others")]))
