"""What a study begins with: a power analysis, an empty form, a copy, or a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from replicalab.drafts import Checked, Draft, check, new_study
from replicalab.errors import ScenarioError
from replicalab.lexicon import capitalised
from replicalab.measures import KINDS, PARAMETERS, Kind
from replicalab.scenarios import (
    DesignKind,
    Study,
    copy_text,
    list_scenarios,
    readable_text,
    template_text,
)
from replicalab.scenarios.reading import Data, dotted
from replicalab.text.plan import groups_text
from replicalab.ui import own_studies
from replicalab.ui.controls import button
from replicalab.ui.making import fields, record
from replicalab.ui.making.parts import KINDS_SHOWN, open_on_protocol
from replicalab.ui.words import escaped

_EMPTY: Final = "an empty form"
_TEMPLATE: Final = "the template"
_SOURCE: Final = "own_source"
_UPLOAD: Final = "own_upload"
_UPLOAD_FAULT: Final = "own_upload_fault"
_LONGEST_ID: Final = 64
_SAMPLES: Final = ("reference_protocol", "sample_size")
_DAYS: Final = ("reference_protocol", "duration_days")
_FEWEST: Final = "min_days"


class Asked(NamedTuple):
    """A number of a power analysis: where it stands in a study, its label and its step."""

    path: tuple[str, ...]
    label: str
    step: float

    @property
    def name(self) -> str:
        """The key of the number in its block."""
        return self.path[-1]


def draw() -> None:
    """Draw the ways to begin, the shortest first."""
    with st.container(border=True, key="analysis"):
        st.markdown("**I have a power analysis**")
        _draw_analysis()
    form, upload = st.columns(2, gap="large")
    with form:
        st.selectbox(
            "Start from",
            [_EMPTY, _TEMPLATE, *(summary.scenario_id for summary in list_scenarios())],
            key=_SOURCE,
        )
        with st.container(horizontal=True):
            button("Start the form", "edit_note", _start)
            if record.current().begun:
                button("Back to the form", "arrow_back", _go_back, type="tertiary")
    with upload:
        st.file_uploader(
            "Or upload a file",
            type=["yaml", "yml"],
            key=_UPLOAD,
            max_upload_size=1,
            on_change=_take_upload,
        )
    if fault := st.session_state.get(_UPLOAD_FAULT):
        st.error(escaped(fault), icon=":material/upload_file:")


# --- a power analysis -----------------------------------------------------------------------


def _asked(row: Kind) -> Iterator[Asked]:
    """Yield the numbers of a power analysis of a kind of design."""
    if row.effect is not None:
        yield Asked(("design", "effect_planning"), f"Effect: {row.effect.name}", 0.05)
    for name in row.needs:
        yield Asked(("design", name), row.label(name), PARAMETERS[name].step)
    yield Asked(("design", "target"), capitalised(row.measure), 0.05)
    yield Asked(_SAMPLES, "Samples in all", 1)
    yield Asked(_DAYS, "Days it takes", 1)


def _draw_analysis() -> None:
    chosen = st.selectbox(
        "What is compared",
        [DesignKind(row.kind) for row in KINDS_SHOWN],
        format_func=lambda kind: f"{KINDS[kind].title}: {KINDS[kind].asks}",
        key="analysis_kind",
        persist_state="session",
    )
    usual, asked = Draft(new_study("usual", chosen)), list(_asked(KINDS[chosen]))
    slots = {}
    with st.container(horizontal=True, vertical_alignment="top"):
        for each in asked:
            with st.container(key=f"slot_{each.name}", width=190):
                _draw_number(each, chosen, usual.at(*each.path))
                slots[each.path] = st.empty()
    found = _analysed(chosen, asked)
    _draw_faults(found, slots)
    _draw_by_group(found.study, slots[_SAMPLES])
    with st.container(horizontal=True):
        pressed = st.button(
            "Use this analysis",
            icon=":material/play_arrow:",
            type="primary",
            disabled=found.study is None,
        )
        if pressed and found.study is not None:
            open_on_protocol(found.text, found.study)
        button("Go on in the form", "edit_note", lambda: record.begin(_draft_of(chosen, asked)))
    st.caption("It opens in a lab that can run it; say there, under **Your lab**, what yours has.")


def _draw_faults(found: Checked, slots: dict[tuple[str, ...], DeltaGenerator]) -> None:
    """Draw what is wrong below its field; what follows from it is not told beside it."""
    said = False
    for path, slot in slots.items():
        places = (dotted(path), _FEWEST) if path == _DAYS else (dotted(path),)
        if faults := next(filter(None, map(found.faults.get, places)), None):
            said = True
            with slot.container():
                fields.draw_faults(faults)
    if not said:
        for faults in found.faults.values():
            fields.draw_faults(faults)


def _draw_by_group(study: Study | None, slot: DeltaGenerator) -> None:
    """Say below the samples how many of them each group has, where there are groups."""
    if study is not None:
        plan = study.reference_protocol
        if told := groups_text(plan.sample_size, study.design, per_group=True):
            slot.caption(told)


def _draw_number(asked: Asked, kind: DesignKind, usual: Data) -> None:
    whole = isinstance(asked.step, int)
    st.number_input(
        asked.label,
        value=fields.as_number(usual, whole=whole),
        step=asked.step,
        format=None if whole else "%g",
        key=_key(asked, kind),
        persist_state="session",
    )


def _key(asked: Asked, kind: DesignKind) -> str:
    return f"analysis_{kind}_{asked.name}"


def _draft_of(kind: DesignKind, asked: list[Asked]) -> Draft:
    """Return the study of the analysis that stands in the fields, right or wrong.

    With fewer days than it takes there is no evidence, so that no plan of a day is offered.
    """
    typed = {each.path: st.session_state.get(_key(each, kind)) for each in asked}
    numbers = {path[-1]: value for path, value in typed.items() if path[0] == "design"}
    size, days = typed[_SAMPLES], typed[_DAYS]
    draft = Draft(new_study(record.new_id(), kind, numbers, size or 0, days or 0))
    return draft.put(size, *_SAMPLES).put(days, *_DAYS).put(days, _FEWEST)


def _analysed(kind: DesignKind, asked: list[Asked]) -> Checked:
    return check(_draft_of(kind, asked), own_studies.usable_study)


# --- the other ways -------------------------------------------------------------------------


def _start() -> None:
    chosen = st.session_state.get(_SOURCE, _EMPTY)  # a browser may send the click alone
    st.session_state[_UPLOAD_FAULT] = None
    if chosen == _EMPTY:
        record.begin(Draft(new_study(record.new_id())))
    elif chosen == _TEMPLATE:
        record.write(template_text())
    else:
        record.write(copy_text(chosen, f"my_{chosen}"[:_LONGEST_ID]))


def _go_back() -> None:
    record.current().choosing = False


def _take_upload() -> None:
    """Take an uploaded file; one that is no text is refused with the reason."""
    upload = st.session_state[_UPLOAD]
    st.session_state[_UPLOAD_FAULT] = None
    if upload is None:
        return
    try:
        record.write(readable_text(upload.getvalue(), upload.name))
    except ScenarioError as error:
        st.session_state[_UPLOAD_FAULT] = f"{error}. What you had is kept."
