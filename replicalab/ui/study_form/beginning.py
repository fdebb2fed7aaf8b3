"""What a study begins with: a power analysis, an empty form, a copy, or a file."""

from typing import Final

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from replicalab import scenarios
from replicalab.documents import STUDY_MB, STUDY_SUFFIXES
from replicalab.drafts import Checked, Draft, check, new_study
from replicalab.lexicon import capitalised
from replicalab.measures import KINDS, PARAMETERS, Kind
from replicalab.scenarios.reading import FieldPath, dotted
from replicalab.ui import notices, own_studies, state
from replicalab.ui.controls import NumberField, button
from replicalab.ui.files import upload
from replicalab.ui.study_form import fields, record
from replicalab.ui.study_form.parts import KINDS_SHOWN
from replicalab.views.plan import groups_text

_EMPTY: Final = "an empty form"
_TEMPLATE: Final = "the template"
_SOURCE: Final = "own_source"
_UPLOAD: Final = "own_upload"
_LONGEST_ID: Final = 64
_SAMPLES: Final = ("reference_protocol", "sample_size")
_DAYS: Final = ("reference_protocol", "duration_days")
_FEWEST: Final = ("min_days",)


def draw() -> None:
    """Draw the ways to begin, the shortest first."""
    with st.container(border=True, key="analysis"):
        st.markdown("**I have a power analysis**")
        _draw_analysis()
    form, file = st.columns(2, gap="large")
    with form:
        st.selectbox(
            "Start from",
            [_EMPTY, _TEMPLATE, *(summary.scenario_id for summary in scenarios.list_scenarios())],
            key=_SOURCE,
        )
        with st.container(horizontal=True):
            button("Start the form", "edit_note", _start)
            if record.current().begun:
                button("Back to the form", "arrow_back", _go_back, type="tertiary")
    with file:
        upload(
            "Or upload a file",
            _UPLOAD,
            lambda data, name: record.write(scenarios.readable_text(data, name)),
            STUDY_SUFFIXES,
            most_mb=STUDY_MB,
            stays=True,
            refused="{error}. What you had is kept.",
        )


def open_on_protocol(text: str, study: scenarios.Study) -> None:
    """Keep a study and open it on Protocol; why it cannot be kept stands next to the button."""
    if not state.bring(text, study):
        st.switch_page("pages/1_Protocol.py", query_params=state.address())


# --- a power analysis -----------------------------------------------------------------------


def _numbers(row: Kind) -> dict[FieldPath, NumberField]:
    """Return the numbers of a power analysis of a kind of design, by their paths in a study."""
    usual = Draft(new_study("usual", scenarios.DesignKind(row.kind)))
    effect = [f"Effect: {row.effect.name}"] if row.effect else []
    asked: list[tuple[FieldPath, str, float]] = [
        *((("design", "effect_planning"), label, 0.05) for label in effect),
        *((("design", name), row.label(name), PARAMETERS[name].step) for name in row.needs),
        (("design", "target"), capitalised(row.measure), 0.05),
        (_SAMPLES, "Samples in all", 1),
        (_DAYS, "Days it takes", 1),
    ]
    found = {}
    for path, label, step in asked:
        shown = fields.as_number(usual.at(*path), whole=isinstance(step, int))
        key = f"analysis_{row.kind}_{path[-1]}"
        found[path] = NumberField(label, key, shown, step=step)
    return found


def _draw_analysis() -> None:
    chosen = st.selectbox(
        "What is compared",
        [scenarios.DesignKind(row.kind) for row in KINDS_SHOWN],
        format_func=lambda kind: f"{KINDS[kind].title}: {KINDS[kind].asks}",
        key="analysis_kind",
        persist_state="session",
    )
    numbers = _numbers(KINDS[chosen])
    slots = {}
    with st.container(horizontal=True, vertical_alignment="top"):
        for path, field in numbers.items():
            with st.container(key=f"slot_{path[-1]}", width=190):
                field.draw(persist_state="session")
                slots[path] = st.empty()
    result = check(_draft_of(chosen, numbers), own_studies.usable_study)
    _draw_faults(result, slots)
    if result.study is not None:
        plan, design = result.study.reference_protocol, result.study.design
        if shares := groups_text(plan.sample_size, design, per_group=True):
            slots[_SAMPLES].caption(shares)
    with st.container(horizontal=True):
        pressed = st.button(
            "Use this analysis",
            icon=":material/play_arrow:",
            type="primary",
            disabled=result.study is None,
        )
        if pressed and result.study is not None:
            open_on_protocol(result.text, result.study)
        button("Go on in the form", "edit_note", lambda: record.begin(_draft_of(chosen, numbers)))
    st.caption("It opens in a lab that can run it; say there, under **Your lab**, what yours has.")


def _draw_faults(result: Checked, slots: dict[FieldPath, DeltaGenerator]) -> None:
    """Draw what is wrong below its field; what follows from it is not said too."""
    is_said = False
    for path, slot in slots.items():
        places = (path, _FEWEST) if path == _DAYS else (path,)
        if faults := next(filter(None, (result.faults.get(dotted(at)) for at in places)), None):
            is_said = True
            with slot.container():
                fields.draw_faults(faults)
    if not is_said:
        for faults in result.faults.values():
            fields.draw_faults(faults)


def _draft_of(kind: scenarios.DesignKind, numbers: dict[FieldPath, NumberField]) -> Draft:
    """Return the study of the analysis that stands in the fields, right or wrong.

    With fewer days than it takes there is no evidence, so that no plan of a day is offered.
    """
    typed = {path: field.typed for path, field in numbers.items()}
    design = {str(path[-1]): value for path, value in typed.items() if path[0] == "design"}
    size, days = typed[_SAMPLES], typed[_DAYS]
    draft = Draft(new_study(record.new_id(), kind, design, size or 0, days or 0))
    return draft.put(size, *_SAMPLES).put(days, *_DAYS).put(days, *_FEWEST)


# --- the other ways -------------------------------------------------------------------------


def _start() -> None:
    chosen = st.session_state.get(_SOURCE, _EMPTY)  # a browser may send the click alone
    notices.clear(_UPLOAD)
    if chosen == _EMPTY:
        record.begin(Draft(new_study(record.new_id())))
    elif chosen == _TEMPLATE:
        record.write(scenarios.template_text())
    else:
        record.write(scenarios.copy_text(chosen, f"my_{chosen}"[:_LONGEST_ID]))


def _go_back() -> None:
    record.current().choosing = False
