"""The parts of the form: what is compared, assumed and needed, and the lab with its plan."""

from functools import partial
from typing import Any, Final

import streamlit as st

from replicalab.designs import KINDS, PARAMETERS
from replicalab.drafts import UNSTATED, YOUR_LAB, Block, Draft, OtherLabs
from replicalab.facts.study import kind_panel
from replicalab.lexicon import CREDITS, capitalised
from replicalab.models import LONGEST_TEXT
from replicalab.scenarios import AmountGroup, amounts_in
from replicalab.scenarios.fields import LONGEST_CURRENCY, LONGEST_SHORT_TITLE, LONGEST_TITLE
from replicalab.scenarios.reading import Data
from replicalab.ui import panel
from replicalab.ui.controls import places
from replicalab.ui.study_form import fields, original, record
from replicalab.ui.words import escaped

_PLAN: Final = "reference_protocol"
_LAB: Final = ("labs", YOUR_LAB)
_LOSSES: Final = {
    0: "0: the same study",
    1: "1: a small declared deviation",
    2: "2: a related but different test",
    3: "3: the hypothesis goes untested",
}
_EFFECT: Final[dict[str, Any]] = {"step": 0.05, "format": fields.AS_DOCUMENTS}
KINDS_SHOWN: Final = sorted(KINDS.values(), key=lambda row: row.sought is None)
"""The kinds of design, those that test something first."""


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
    fields.draw_faults_at("design", "kind")
    with st.grid("auto", min_column_width=170, key="kinds"):
        for row in KINDS_SHOWN:
            kind, is_chosen = row.kind, row is chosen
            with st.container(key=f"kind_{row.kind}", gap=None):
                st.button(
                    row.title,
                    key=f"choose_{row.kind}",
                    icon=":material/check:" if is_chosen else None,
                    type="primary" if is_chosen else "secondary",
                    width="stretch",
                    on_click=partial(_choose_kind, kind),
                )
                panel.draw(kind_panel(kind))


def _choose_kind(kind: str) -> None:
    record.change(record.draft().of_kind(kind), redraw=True)


# --- what is assumed ------------------------------------------------------------------------


def draw_assumptions() -> None:
    """Draw the effect with its source, what is aimed at, and the numbers that the kind needs."""
    row = record.draft().row
    if row.effect is not None:
        assumed, published, smallest = st.columns(3)
        name = row.effect.name
        with assumed:
            fields.number(f"Assumed: {name}", "design", "effect_planning", **_EFFECT)
        with published:
            fields.optional_number(f"Published: {name}", "design", "effect_published", **_EFFECT)
        with smallest:
            fields.optional_number(f"Smallest of interest: {name}", "design", "sesoi", **_EFFECT)
    fields.text("Where the effect comes from", "design", "source", max_chars=LONGEST_TEXT)
    numbers = {"target": f"{capitalised(row.measure)} to aim at", "floor": "Least worth running"}
    numbers |= {name: row.label(name) for name in row.numbers}
    for (name, label), place in zip(numbers.items(), places(3), strict=False):
        with place:
            _draw_design_number(name, label)
    unit, dropout = st.columns([2, 1])
    with unit:
        fields.text("What one sample is", "design", "unit_of_n")
    with dropout:
        fields.number(
            "Dropout, as a share",
            *("design", "dropout"),
            step=0.05,
            usual=0.0,
            help="Of the planned samples, how many are not analysed.",
        )
    original.draw()
    _draw_groupings()


def _draw_design_number(name: str, label: str) -> None:
    parameter, needs = PARAMETERS.get(name), record.draft().row.needs
    step = parameter.step if parameter else 0.05
    if parameter and name not in needs:
        fields.optional_number(label, "design", name, step=step, help=parameter.help)
        return
    fields.number(
        label,
        *("design", name),
        step=step,
        change=lambda draft, value: draft.with_number(name, value),
    )


# --- what is needed -------------------------------------------------------------------------


def draw_needs() -> None:
    """Draw how long it takes, what it uses, allowed substitutes, its controls and its rules."""
    days, rate, why = st.columns([1, 1, 2])
    with days:
        fields.number("Least days", "min_days", help="With fewer there is nothing to measure.")
    with rate:
        fields.optional_number(
            "Samples a day",
            *("samples_per_day", "value"),
            change=_with_rate,
            help="The most that can be finished; empty where all run together.",
        )
    if record.draft().at("samples_per_day") is not None:
        with why:
            fields.text("Why so many a day", "samples_per_day", "why")
    for part, label, note in (
        ("equipment", "Equipment", "What is booked."),
        (
            "reagents",
            record.term("Reagents"),
            "What is used up: materials, data sets, licences, pay.",
        ),
    ):
        help_text = f"{note} One that you take away leaves the plan and the lab too."
        fields.labels(label, part, change=partial(_with_labels, part), help=help_text)
    st.markdown("**Allowed substitutes**")
    _draw_substitutions()
    st.markdown("**Controls**")
    _draw_controls()
    st.markdown("**What is forbidden**")
    _draw_rules()


def _with_labels(part: str, draft: Draft, chosen: list[str]) -> Draft:
    return draft.with_labels(part, chosen)


def _with_rate(draft: Draft, rate: int | None) -> Draft:
    if rate is None:
        return draft.put(None, "samples_per_day")
    why = draft.at("samples_per_day", "why") or UNSTATED
    return draft.put({"value": rate, "why": why}, "samples_per_day")


def _draw_substitutions() -> None:
    part = "substitutions"
    items = [*record.draft().labels("equipment"), *record.draft().labels("reagents")]
    if not items and not record.draft().items(part):
        st.caption("Name an item above first.")
        return

    def add(draft: Draft, name: str) -> Draft:
        swap: Block = {
            "original": items[0] if items else "",
            "alternative": name,
            "condition": UNSTATED,
            "tradeoff": UNSTATED,
            "fidelity_loss": 1,
        }
        return draft.with_entry(part, swap)

    def draw(place: int) -> None:
        at = (part, place)
        instead, other = st.columns(2)
        with instead:
            fields.choice("In place of", items, *at, "original")
            fields.choice(
                "How far it leads away",
                list(_LOSSES),
                *(*at, "fidelity_loss"),
                format_func=lambda loss: _LOSSES.get(loss, str(loss)),
            )
            fields.text("When it is allowed", *at, "condition", max_chars=LONGEST_TEXT)
        with other:
            fields.text("What stands in", *at, "alternative")
            at_factor, label = (*at, "evidence_factor"), "What is left of the effect"
            fields.number(label, *at_factor, step=0.05, usual=1.0, help="1 for all of it.")
            fields.text("What is lost", *at, "tradeoff", max_chars=LONGEST_TEXT)

    pairs = zip(
        *(record.draft().names(part, of) for of in ("alternative", "original")), strict=True
    )
    names = [" for ".join(pair) for pair in pairs]
    fields.entries(part, "replacement", names, add=add, draw=draw, placeholder="What stands in")


def _draw_controls() -> None:
    def draw(place: int) -> None:
        at = ("controls", place)
        name, guard = st.columns(2)
        with name:
            fields.text(
                "Name",
                *(*at, "name"),
                change=lambda draft, name: draft.with_control_named(place, name),
            )
        with guard:
            fields.text("Protects against", *at, "protects_against", max_chars=LONGEST_TEXT)
        fields.switch("The study is worth something without it", *at, "droppable")

    names, add = record.draft().names("controls", "name"), Draft.with_control
    fields.entries("controls", "control", names, add=add, draw=draw, placeholder="Its name")


def _draw_rules() -> None:
    part = "policy_rules"

    def add(draft: Draft, restriction: str) -> Draft:
        taken = draft.names(part, "key")
        key = next(name for n in range(len(taken) + 1) if (name := f"rule_{n + 1}") not in taken)
        phrases: Data = [restriction]
        rule = {"key": key, "restriction": restriction, "forbidden_phrases": phrases}
        return draft.with_entry(part, rule)

    def draw(place: int) -> None:
        fields.text("Rule", part, place, "restriction", max_chars=LONGEST_TEXT)
        fields.labels(
            "Phrases that break it",
            *(part, place, "forbidden_phrases"),
            help="A plan that says one of them breaks the rule, unless it says 'no' before.",
        )

    names = record.draft().names(part, "restriction")
    fields.entries(part, "rule", names, add=add, draw=draw, placeholder="open flame")


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
    draft = record.draft()
    size, days = st.columns(2)
    with size:
        fields.number("Sample size", _PLAN, "sample_size")
    with days:
        fields.number("Duration (days)", _PLAN, "duration_days")
    fields.prose("Technique", _PLAN, "technique")
    fields.prose("Rationale", _PLAN, "rationale")
    for label, name, options in (
        ("Equipment of the plan", "required_equipment", draft.labels("equipment")),
        (record.term("Reagents of the plan"), "required_reagents", draft.labels("reagents")),
        ("Controls of the plan", "controls", draft.names("controls", "name")),
    ):
        if options or draft.labels(_PLAN, name):
            fields.labels(label, _PLAN, name, options=options)


def _draw_means() -> None:
    draft, currency = record.draft(), str(record.draft().at(*_LAB, "currency") or CREDITS)
    means = (f"Budget ({escaped(currency)})", "budget", 100.0), ("Days", "days", 1)
    for column, (label, name, step) in zip(
        st.columns([3, 2, 2]), (*means, ("Staff", "staff", 1)), strict=True
    ):
        with column:
            fields.number(label, *_LAB, name, step=step)
    _draw_calendar_and_money(currency)
    equipment, reagents = draft.labels("equipment"), draft.labels("reagents")
    booked = draft.labels(*_LAB, "booked")
    if equipment or booked:
        fields.labels("Booked", *_LAB, "booked", options=equipment, change=_with_booked)
    for item in booked:
        fields.number(f"{escaped(item)}: booked until day", *_LAB, "booked", item)
    if reagents or draft.labels(*_LAB, "out_of_stock"):
        fields.labels(record.term("Out of stock"), *_LAB, "out_of_stock", options=reagents)
    has_kept = draft.others is OtherLabs.KEPT or "labs" in draft.aside
    others = [choice for choice in OtherLabs if choice is not OtherLabs.KEPT or has_kept]
    st.radio(
        "The easy and the hard lab are",
        others,
        index=others.index(draft.others),
        key=fields.key("others"),
        on_change=_choose_others,
        help="Made from it: in the easy one nothing is missing and the plan fits; the hard one has "
        f"three quarters of the {escaped(currency)} and the days, and one person fewer.",
    )


def _draw_calendar_and_money(currency: str) -> None:
    start, called = st.columns(2)
    with start:
        fields.day("Start date", *_LAB, "start_date")
    with called:
        fields.text("Currency", *_LAB, "currency", usual=CREDITS, max_chars=LONGEST_CURRENCY)
    for place, amount in zip(st.columns(2), amounts_in(AmountGroup.MONEY), strict=True):
        with place:
            shown = amount.label_in(escaped(currency))
            fields.number(shown, *_LAB, "cost_model", amount.key, step=1.0, usual=0.0)
    fields.switch("Weekends count as days", *_LAB, "weekends", usual=True)


def _with_booked(draft: Draft, chosen: list[str]) -> Draft:
    """Return a draft with these items booked; one that is new, for as long as the lab has days."""
    days = draft.at(*_LAB, "days")
    until = {item: draft.at(*_LAB, "booked", item) for item in chosen}
    booked = {item: days if day is None else day for item, day in until.items()}
    return draft.put({**booked}, *_LAB, "booked")


def _choose_others() -> None:
    record.change(record.draft().with_others(st.session_state[fields.key("others")]))


_UNITS: Final = ("design", "units")
_ARMS: Final = ("design", "arms")


def _draw_groupings() -> None:
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
