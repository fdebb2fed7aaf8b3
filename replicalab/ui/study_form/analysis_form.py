"""The form of a power analysis, from which a study begins."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Final

import streamlit as st

from replicalab import drafts, errors, lexicon, limits, scenarios
from replicalab.assessment import assess
from replicalab.designs import KINDS, PARAMETERS, EffectSource, Kind, Unknown, unknowns_of
from replicalab.facts import plan_facts, study_facts
from replicalab.scenarios.reading import dotted
from replicalab.ui import own_studies, screen
from replicalab.ui.controls import NumberField, button, complain
from replicalab.ui.study_form import study_fields

_PREFIX: Final = "analysis"
_DAYS: Final = "duration_days"
_DROPOUT: Final = Unknown.DROPOUT.value
_SAMPLES: Final = Unknown.SAMPLES.value
_DECIMALS: Final = 14  # of a share that was typed in percent
_WIDTH: Final = 180  # six fit in a row on a projector

Slots = Mapping[str, AbstractContextManager[object]]


def draw() -> None:
    """Draw the fields of a power analysis, its result, and the ways on."""
    name, kind = _draw_name_and_kind()
    row = KINDS[kind]
    unknown, source, safeguarded = _draw_choices(row)
    numbers, reported = _numbers(row, source), _reported(row, source)
    values = {name: field.typed for name, field in numbers.items()}
    samples, days = values.pop(_SAMPLES), values.pop(_DAYS)
    if (dropout := values[_DROPOUT]) is not None:
        values[_DROPOUT] = round(dropout / 100, _DECIMALS)
    inputs = {name: field.typed for name, field in reported.items()}
    typed = drafts.TypedAnalysis(kind, unknown, values, samples, days, source, inputs, safeguarded)
    slots = _draw_fields({**reported, **numbers}, typed)
    draft = typed.draft(study_fields.new_id(), name or study_fields.free_name())
    result = drafts.check(draft, own_studies.usable_study)
    _draw_faults(typed, result.faults, slots)
    study = result.study if typed.worked_out is not None else None
    if study is not None:
        plan = study.reference_protocol
        if shares := plan_facts.groups_text(plan.sample_size, study.design, per_group=True):
            with slots[_SAMPLES]:
                st.caption(shares)
        pack = scenarios.pack_of(study, scenarios.Difficulty.MEDIUM)
        screen.draw(study_facts.worked_out_panel(assess(plan, pack), unknown))
    with st.container(horizontal=True):
        pressed = st.button(
            "Use this analysis", icon=":material/play_arrow:", type="primary", disabled=not study
        )
        button("Continue in the form", "edit_note", lambda: study_fields.session().begin(draft))
    if pressed and study is not None:
        refused = own_studies.name_refusal(name, own_studies.names())
        if not name:
            refused = "The study has no name yet. Type one above."
        complain(refused or study_fields.open_on_protocol(result.text, study))
    st.caption("It opens in a lab that can run it. Enter your own under **Your lab** there.")


def _draw_name_and_kind() -> tuple[str, str]:
    with st.container(horizontal=True):
        name = st.text_input(
            "Name of the study",
            key=f"{_PREFIX}_name",
            max_chars=limits.LONGEST_TITLE,
            placeholder="Music and seedlings",
            persist_state="session",
            width=300,
        )
        kind = st.selectbox(
            "Design",
            study_fields.kinds_shown(),
            format_func=lambda kind: f"{KINDS[kind].title}: {KINDS[kind].asks}",
            key=f"{_PREFIX}_kind",
            persist_state="session",
            width=480,
        )
    return " ".join(name.split()), kind


def _draw_choices(row: Kind) -> tuple[Unknown, EffectSource | None, bool]:
    sources, source = {source.label: source for source in row.sources}, None
    with st.container(horizontal=True):
        unknown = st.radio(
            "Work out",
            sorted(unknowns_of(row), key=lambda unknown: unknown is not Unknown.SAMPLES),
            format_func=lambda unknown: study_facts.unknown_name(row, unknown),
            key=f"{_PREFIX}_{row.kind}_unknown",
            horizontal=True,
            persist_state="session",
        )
        if unknown is not Unknown.EFFECT and row.effect is not None:
            chosen = st.selectbox(
                "Effect typed as",
                [row.effect.name, *sources],
                key=f"{_PREFIX}_{row.kind}_source",
                persist_state="session",
                width=300,
            )
            source = sources.get(chosen)
    if not drafts.can_safeguard(row.kind, source):
        return unknown, source, False
    safeguarded = st.toggle(
        "Use the safeguard effect",
        key=f"{_PREFIX}_{row.kind}_safeguard",
        persist_state="session",
        help="The end of the reported effect’s 60 % interval that is nearer to no effect. "
        "The reported effect stays the original either way.",
    )
    return unknown, source, safeguarded


def _numbers(row: Kind, source: EffectSource | None) -> dict[str, NumberField]:
    usual = drafts.Draft(drafts.new_study("usual", row.kind))
    effect = {"effect_planning": (f"Effect: {row.effect.name}", 0.05)} if row.effect else {}
    sides, names = st.session_state.get(f"{_PREFIX}_{row.kind}_sides"), (*row.needs, *row.extras)
    labels: dict[str, tuple[str, float]] = {
        **effect,
        **{name: (row.label(name, sides), PARAMETERS[name].step) for name in names},
        Unknown.EVIDENCE.value: (lexicon.capitalised(row.measure), 0.05),
        _SAMPLES: ("Samples in all", 1),
        _DROPOUT: ("Dropout, %", 1.0),
        _DAYS: ("Days it takes", 1),
    }
    numbers = {}
    for name, (label, step) in labels.items():
        if source is None or name not in source.sets:
            default = PARAMETERS[name].usual if name in row.extras else 0
            value = usual.at(*drafts.place_of(name)) or default
            number = study_fields.as_number(value, whole=isinstance(step, int))
            numbers[name] = NumberField(label, f"{_PREFIX}_{row.kind}_{name}", number, step=step)
    return numbers


def _reported(row: Kind, source: EffectSource | None) -> dict[str, NumberField]:
    if source is None:
        return {}
    prefix = f"{_PREFIX}_{row.kind}_{row.sources.index(source)}"
    return {
        number.name: NumberField(
            number.label, f"{prefix}_{number.name}", number.usual, step=1 if number.whole else 0.1
        )
        for number in source.asked
    }


def _draw_fields(numbers: Mapping[str, NumberField], typed: drafts.TypedAnalysis) -> Slots:
    slots = {}
    with st.container(horizontal=True, vertical_alignment="top"):
        for name, field in numbers.items():
            with st.container(key=f"slot_{name}", width=_WIDTH):
                if name == typed.unknown:
                    # A field of its own, so the one to type the number into keeps its value.
                    value, whole = typed.worked_out, isinstance(field.step, int)
                    if value is not None and typed.unknown is Unknown.DROPOUT:
                        value = round(value * 100, _DECIMALS)
                    answer = field._replace(key=f"{field.key}_found")
                    st.session_state[answer.key] = study_fields.as_number(value, whole=whole)
                    look = None if whole else study_fields.SIGNIFICANT
                    answer.draw(value=None, placeholder="none", disabled=True, format=look)
                else:
                    optional = "optional" if field.value is None else None
                    field.draw(persist_state="session", placeholder=optional)
                slots[name] = st.container()
    return slots


def _draw_faults(
    typed: drafts.TypedAnalysis, faults: Mapping[str, list[errors.Fault]], slots: Slots
) -> None:
    visible = dict(typed.faults)
    for name in slots:
        places = [drafts.place_of(name)]
        if name == _DAYS:  # a plan may have 0 days, a study may not
            places.insert(0, drafts.FEWEST_DAYS)
        at = next((faults[place] for place in map(dotted, places) if place in faults), None)
        if at and name not in visible and (typed.worked_out is not None or name != typed.unknown):
            visible[name] = at
    for name, at in visible.items():
        with slots[name] if name in slots else st.container():
            study_fields.draw_faults(at)
    if not visible:
        for at in faults.values():
            study_fields.draw_faults(at)
