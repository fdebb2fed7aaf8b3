"""I have a power analysis: a name, what is compared, four numbers; the fifth is worked out."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Final

import streamlit as st

from replicalab import scenarios
from replicalab.assessment import assess
from replicalab.designs import KINDS, PARAMETERS, EffectSource, Kind, Unknown, unknowns_of
from replicalab.drafts import FEWEST_DAYS, TypedAnalysis, can_safeguard, check, place_of
from replicalab.drafts.beginning import new_study
from replicalab.drafts.draft import Draft
from replicalab.errors import Fault
from replicalab.facts.plan import groups_text
from replicalab.facts.study import unknown_name, worked_out_panel
from replicalab.lexicon import capitalised
from replicalab.limits import LONGEST_TITLE
from replicalab.scenarios.reading import dotted
from replicalab.ui import own_studies, panel
from replicalab.ui.controls import NumberField, button, complain
from replicalab.ui.study_form import fields, record
from replicalab.ui.study_form.parts import kinds_shown

_PREFIX: Final = "analysis"
_DAYS: Final = "duration_days"
_DROPOUT: Final = Unknown.DROPOUT.value
_SAMPLES: Final = Unknown.SAMPLES.value
_EXACT: Final = 14  # decimals of a share that was typed in percent
_WIDTH: Final = 180  # Six stand in a row on a projector

Slots = Mapping[str, AbstractContextManager[object]]


def draw() -> None:
    """Draw the fields of a power analysis, what they come to, and the ways on."""
    name, kind = _draw_what()
    row = KINDS[kind]
    unknown, source, safeguarded = _draw_which(row)
    numbers, reported = _numbers(row, source), _reported(row, source)
    values = {name: field.typed for name, field in numbers.items()}
    samples, days = values.pop(_SAMPLES), values.pop(_DAYS)
    if (dropout := values[_DROPOUT]) is not None:
        values[_DROPOUT] = round(dropout / 100, _EXACT)
    stated = {name: field.typed for name, field in reported.items()}
    typed = TypedAnalysis(kind, unknown, values, samples, days, source, stated, safeguarded)
    slots = _draw_fields({**reported, **numbers}, typed)
    draft = typed.draft(record.new_id(), name or record.free_name())
    result = check(draft, own_studies.usable_study)
    _draw_faults(typed, result.faults, slots)
    study = result.study if typed.worked_out is not None else None
    if study is not None:
        plan = study.reference_protocol
        if shares := groups_text(plan.sample_size, study.design, per_group=True):
            with slots[_SAMPLES]:
                st.caption(shares)
        pack = scenarios.pack_of(study, scenarios.Difficulty.MEDIUM)
        panel.draw(worked_out_panel(assess(plan, pack), unknown))
    with st.container(horizontal=True):
        pressed = st.button(
            "Use this analysis", icon=":material/play_arrow:", type="primary", disabled=not study
        )
        button("Go on in the form", "edit_note", lambda: record.current().begin(draft))
    if pressed and study is not None:
        _use(name, result.text, study)
    st.caption("It opens in a lab that can run it; say there, under **Your lab**, what yours has.")


def _use(name: str, text: str, study: scenarios.Study) -> None:
    if taken := own_studies.name_refusal(name, own_studies.names()):
        complain(taken)
    elif not name:
        complain("The study has no name yet. Type one above, by which you find it again.")
    else:
        complain(record.open_on_protocol(text, study))


# --- what is chosen -----------------------------------------------------------------------------


def _draw_what() -> tuple[str, str]:
    """Draw what the study is called and what it compares; return both."""
    with st.container(horizontal=True):
        name = st.text_input(
            "Name of the study",
            key=f"{_PREFIX}_name",
            max_chars=LONGEST_TITLE,
            placeholder="Music and seedlings",
            persist_state="session",
            width=300,
        )
        kind = st.selectbox(
            "What is compared",
            kinds_shown(),
            format_func=lambda kind: f"{KINDS[kind].title}: {KINDS[kind].asks}",
            key=f"{_PREFIX}_kind",
            persist_state="session",
            width=480,
        )
    return " ".join(name.split()), kind


def _draw_which(row: Kind) -> tuple[Unknown, EffectSource | None, bool]:
    """Draw which number is worked out, what the effect is typed as, and whether as a safeguard."""
    sources = {source.label: source for source in row.sources}
    source = None
    with st.container(horizontal=True):
        unknown = st.radio(
            "Work out",
            sorted(unknowns_of(row), key=lambda each: each is not Unknown.SAMPLES),
            format_func=lambda each: unknown_name(row, each),
            key=f"{_PREFIX}_{row.kind}_unknown",
            horizontal=True,
            persist_state="session",
        )
        if unknown is not Unknown.EFFECT and row.effect is not None:
            chosen = st.selectbox(
                "The effect is typed as",
                [row.effect.name, *sources],
                key=f"{_PREFIX}_{row.kind}_source",
                persist_state="session",
                width=300,
            )
            source = sources.get(chosen)
    if not can_safeguard(row.kind, source):
        return unknown, source, False
    return (
        unknown,
        source,
        st.toggle(
            "Plan with the safeguard effect",
            key=f"{_PREFIX}_{row.kind}_safeguard",
            persist_state="session",
            help="The end of the reported effect’s 60 % interval that is nearer to no effect. "
            "What was reported is kept as the original either way.",
        ),
    )


# --- the numbers --------------------------------------------------------------------------------


def _numbers(row: Kind, source: EffectSource | None) -> dict[str, NumberField]:
    """Return the numbers of a study by name, also the unknown one, without those of the source."""
    usual = Draft(new_study("usual", row.kind))
    effect = {"effect_planning": (f"Effect: {row.effect.name}", 0.05)} if row.effect else {}
    pairs: dict[str, tuple[str, float]] = {
        **effect,
        **{name: (row.label(name), PARAMETERS[name].step) for name in (*row.needs, *row.extras)},
        Unknown.EVIDENCE.value: (capitalised(row.measure), 0.05),
        _SAMPLES: ("Samples in all", 1),
        _DROPOUT: ("Dropout, %", 1.0),
        _DAYS: ("Days it takes", 1),
    }
    numbers = {}
    for name, (label, step) in pairs.items():
        if source is None or name not in source.sets:
            at = usual.at(*place_of(name))
            value = at if name in row.extras else at or 0
            visible = fields.as_number(value, whole=isinstance(step, int))
            numbers[name] = NumberField(label, f"{_PREFIX}_{row.kind}_{name}", visible, step=step)
    return numbers


def _reported(row: Kind, source: EffectSource | None) -> dict[str, NumberField]:
    """Return the numbers that the effect is worked out from, by their short names."""
    if source is None:
        return {}
    prefix = f"{_PREFIX}_{row.kind}_{row.sources.index(source)}"
    return {
        number.name: NumberField(
            number.label, f"{prefix}_{number.name}", number.usual, step=1 if number.whole else 0.1
        )
        for number in source.asked
    }


def _draw_fields(asked: Mapping[str, NumberField], typed: TypedAnalysis) -> Slots:
    """Draw the fields in a row; return the place below each.

    The unknown number has another field than the one it is typed into, which keeps its value.
    """
    slots = {}
    with st.container(horizontal=True, vertical_alignment="top"):
        for name, field in asked.items():
            with st.container(key=f"slot_{name}", width=_WIDTH):
                if name == typed.unknown:
                    _draw_unknown(field, typed)
                else:
                    optional = "optional" if field.value is None else None
                    field.draw(persist_state="session", placeholder=optional)
                slots[name] = st.container()
    return slots


def _draw_unknown(field: NumberField, typed: TypedAnalysis) -> None:
    value, whole = typed.worked_out, isinstance(field.step, int)
    if value is not None and typed.unknown is Unknown.DROPOUT:
        value = round(value * 100, _EXACT)
    visible = field._replace(key=f"{field.key}_found")
    st.session_state[visible.key] = fields.as_number(value, whole=whole)
    look = None if whole else fields.AS_DOCUMENTS
    visible.draw(value=None, placeholder="none", disabled=True, format=look)


def _draw_faults(typed: TypedAnalysis, faults: Mapping[str, list[Fault]], slots: Slots) -> None:
    """Draw what is wrong below its field, without what follows from it."""
    result = dict(typed.faults)
    for name in slots:
        # A plan may have 0 days, a study may not: one of the two faults is enough.
        places = (FEWEST_DAYS, place_of(name)) if name == _DAYS else (place_of(name),)
        at = next(filter(None, (faults.get(dotted(place)) for place in places)), None)
        if at and name not in result and (typed.worked_out is not None or name != typed.unknown):
            result[name] = at
    for name, at in result.items():
        with slots[name] if name in slots else st.container():
            fields.draw_faults(at)
    if not result:
        for at in faults.values():
            fields.draw_faults(at)
