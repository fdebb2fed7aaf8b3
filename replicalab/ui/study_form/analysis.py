"""I have a power analysis: a name, what is compared, four numbers; the fifth is worked out."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Final

import streamlit as st

from replicalab import scenarios
from replicalab.assessment import assess
from replicalab.designs import KINDS, PARAMETERS, EffectSource, Kind, Unknown, unknowns_of
from replicalab.drafts import (
    FEWEST_DAYS,
    Draft,
    TypedAnalysis,
    can_safeguard,
    check,
    new_study,
    place_of,
)
from replicalab.errors import Fault
from replicalab.facts.plan import groups_text
from replicalab.facts.study import unknown_name, worked_out_panel
from replicalab.lexicon import capitalised
from replicalab.scenarios.fields import LONGEST_TITLE
from replicalab.scenarios.reading import dotted
from replicalab.ui import own_studies, panel
from replicalab.ui.controls import NumberField, button, complain
from replicalab.ui.study_form import fields, record
from replicalab.ui.study_form.parts import kinds_shown

_PREFIX: Final = "analysis"
_DAYS: Final = "duration_days"
_DROPOUT: Final = Unknown.DROPOUT.value
_SAMPLES: Final = Unknown.SAMPLES.value
_IN_PERCENT: Final = 100
_EXACT: Final = 14  # So many decimals a percentage is taken back to a share with
_WIDTH: Final = 180  # Six stand in a row on a projector


def draw() -> None:
    """Draw the fields of a power analysis, what they come to, and the ways on."""
    name, kind = _draw_what()
    unknown, source = _draw_which(KINDS[kind])
    numbers, reported = _numbers(KINDS[kind], source), _reported(KINDS[kind], source)
    typed = _typed(kind, unknown, numbers, source, reported)
    if can_safeguard(kind, source):
        typed = replace(typed, safeguarded=_draw_safeguard(kind))
    slots = _draw_fields({**reported, **numbers}, typed)
    draft = typed.draft(record.new_id(), name or record.free_name())
    result = check(draft, own_studies.usable_study)
    _draw_faults(typed, result.faults, slots)
    is_done = result.study is not None and typed.worked_out is not None
    if result.study is not None and is_done:
        plan, design = result.study.reference_protocol, result.study.design
        if shares := groups_text(plan.sample_size, design, per_group=True):
            with slots[_SAMPLES]:
                st.caption(shares)
        pack = scenarios.pack_of(result.study, scenarios.Difficulty.MEDIUM)
        panel.draw(worked_out_panel(assess(plan, pack), unknown))
    with st.container(horizontal=True):
        pressed = st.button(
            "Use this analysis",
            icon=":material/play_arrow:",
            type="primary",
            disabled=not is_done,
        )
        button("Go on in the form", "edit_note", lambda: record.begin(draft))
    if pressed and result.study is not None:
        _use(name, result.text, result.study)
    st.caption("It opens in a lab that can run it; say there, under **Your lab**, what yours has.")


def _use(name: str, text: str, study: scenarios.Study) -> None:
    """Keep the study and open it on Protocol; why it cannot be kept stands below the button."""
    if taken := own_studies.name_refusal(name, own_studies.names()):
        complain(taken)
    elif not name:
        complain("The study has no name yet. Type one above, by which you find it again.")
    else:
        complain(record.open_on_protocol(text, study))


# --- what is chosen ---------------------------------------------------------------------------


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


def _draw_which(row: Kind) -> tuple[Unknown, EffectSource | None]:
    """Draw which number is worked out, and what the effect is typed as; return both."""
    sources = {each.label: each for each in row.sources}
    with st.container(horizontal=True):
        unknown = st.radio(
            "Work out",
            sorted(unknowns_of(row), key=lambda each: each is not Unknown.SAMPLES),
            format_func=lambda each: unknown_name(row, each),
            key=f"{_PREFIX}_{row.kind}_unknown",
            horizontal=True,
            persist_state="session",
        )
        if unknown is Unknown.EFFECT or row.effect is None:
            return unknown, None
        chosen = st.selectbox(
            "The effect is typed as",
            [row.effect.name, *sources],
            key=f"{_PREFIX}_{row.kind}_source",
            persist_state="session",
            width=300,
        )
    return unknown, sources.get(chosen)


def _draw_safeguard(kind: str) -> bool:
    """Draw whether the safeguard effect is planned with; return whether it is."""
    return st.toggle(
        "Plan with the safeguard effect",
        key=f"{_PREFIX}_{kind}_safeguard",
        persist_state="session",
        help="The end of the reported effect’s 60 % interval that is nearer to no effect, in place "
        "of the reported effect. What was reported is kept as the original either way.",
    )


# --- the numbers ------------------------------------------------------------------------------


def _numbers(row: Kind, source: EffectSource | None) -> dict[str, NumberField]:
    """Return the numbers of a study, by their short names; those that a source sets are left out.

    One that is worked out is among them.
    """
    usual = Draft(new_study("usual", row.kind))
    effect = [("effect_planning", f"Effect: {row.effect.name}", 0.05)] if row.effect else []
    asked: list[tuple[str, str, float]] = [
        *effect,
        *((name, row.label(name), PARAMETERS[name].step) for name in (*row.needs, *row.extras)),
        (Unknown.EVIDENCE.value, capitalised(row.measure), 0.05),
        (_SAMPLES, "Samples in all", 1),
        (_DROPOUT, "Dropout, %", 1.0),
        (_DAYS, "Days it takes", 1),
    ]
    left = source.sets if source else ()
    at = {name: usual.at(*place_of(name)) for name, _, _ in asked}
    return {
        name: NumberField(
            label,
            f"{_PREFIX}_{row.kind}_{name}",
            fields.as_number(
                at[name] if name in row.extras else at[name] or 0, whole=isinstance(step, int)
            ),
            step=step,
        )
        for name, label, step in asked
        if name not in left
    }


def _reported(row: Kind, source: EffectSource | None) -> dict[str, NumberField]:
    """Return the numbers that the effect is worked out from, by their short names."""
    if source is None:
        return {}
    at = row.sources.index(source)
    return {
        number.name: NumberField(
            number.label,
            f"{_PREFIX}_{row.kind}_{at}_{number.name}",
            number.usual,
            step=1 if number.whole else 0.1,
        )
        for number in source.asked
    }


def _typed(
    kind: str,
    unknown: Unknown,
    numbers: Mapping[str, NumberField],
    source: EffectSource | None,
    reported: Mapping[str, NumberField],
) -> TypedAnalysis:
    """Return what stands in the fields, right or wrong."""
    values = {name: field.typed for name, field in numbers.items()}
    samples, days = values.pop(_SAMPLES), values.pop(_DAYS)
    if (dropout := values[_DROPOUT]) is not None:
        values[_DROPOUT] = round(dropout / _IN_PERCENT, _EXACT)
    stated = {name: field.typed for name, field in reported.items()}
    return TypedAnalysis(kind, unknown, values, samples, days, source, stated)


def _draw_fields(
    asked: Mapping[str, NumberField], typed: TypedAnalysis
) -> Mapping[str, AbstractContextManager[object]]:
    """Draw the fields in a row; return the place below each.

    That of the unknown number is another than the one that it is typed into, which keeps what
    stands in it.
    """
    slots = {}
    with st.container(horizontal=True, vertical_alignment="top"):
        for name, field in asked.items():
            with st.container(key=f"slot_{name}", width=_WIDTH):
                if name == typed.unknown:
                    shown = field._replace(key=f"{field.key}_found")
                    st.session_state[shown.key] = _found(field, typed)
                    look = None if isinstance(field.step, int) else fields.AS_DOCUMENTS
                    shown.draw(value=None, placeholder="none", disabled=True, format=look)
                else:
                    field.draw(
                        persist_state="session",
                        placeholder="optional" if field.value is None else None,
                    )
                slots[name] = st.container()
    return slots


def _found(field: NumberField, typed: TypedAnalysis) -> float | None:
    """Return the unknown number as its field shows it; None where there is none."""
    found = typed.worked_out
    if found is not None and typed.unknown is Unknown.DROPOUT:
        found = round(found * _IN_PERCENT, _EXACT)
    return fields.as_number(found, whole=isinstance(field.step, int))


def _draw_faults(
    typed: TypedAnalysis,
    faults: Mapping[str, list[Fault]],
    slots: Mapping[str, AbstractContextManager[object]],
) -> None:
    """Draw what is wrong below its field; what follows from it is not said too."""
    found = dict(typed.faults)
    for name in slots:
        # A plan may have 0 days, a study may not: what it says of them is enough.
        places = (FEWEST_DAYS, place_of(name)) if name == _DAYS else (place_of(name),)
        at = next(filter(None, (faults.get(dotted(place)) for place in places)), None)
        if at and name not in found and (typed.worked_out is not None or name != typed.unknown):
            found[name] = at
    for name, at in found.items():
        with slots[name] if name in slots else st.container():
            fields.draw_faults(at)
    if not found:
        for at in faults.values():
            fields.draw_faults(at)
