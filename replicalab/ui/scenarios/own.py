"""Bring your own study: write, upload or copy a file, see its faults, use it at once."""

from __future__ import annotations

import json
from typing import Final

import streamlit as st

from replicalab.errors import ScenarioError
from replicalab.lexicon import count_text
from replicalab.lint import LintLevel, lint
from replicalab.panels import labs_panel, sentences_panel
from replicalab.scenarios import (
    Study,
    copy_text,
    list_scenarios,
    readable_text,
    study_schema,
    template_text,
)
from replicalab.text.verdicts import Status, Verdict
from replicalab.ui import own_studies, panel, state
from replicalab.ui.controls import button
from replicalab.ui.cupboard import OwnStudy
from replicalab.ui.gallery import labs_of
from replicalab.ui.study import go_there
from replicalab.ui.words import badge, draw_table, escaped
from replicalab.ui.workspace import Workspace

ALL_STUDIES: Final = "All studies"
BRING: Final = "Bring your own"
TABS: Final = "door"
_TEXT: Final = "own_text"
_SOURCE: Final = "own_source"
_UPLOAD: Final = "own_upload"
_UPLOAD_FAULT: Final = "own_upload_fault"
_TEMPLATE: Final = "the template"
_NAME: Final = "your study"
_LONGEST_ID: Final = 64
_LONGEST_TEXT: Final = 300_000
"""Characters that the editor takes: more than a file may have, so that its reader says by how much,
and a seventh of the largest message, which would end the page's connection."""


def draw() -> None:
    """Draw the ways to start, the editor, and what the file in it is worth."""
    st.markdown(
        "A study is one text file. Start from the template or from a shipped study, upload a "
        "file, or paste one. It stays in this server's memory and no longer than that: download "
        "it to keep it. Whoever has the address of one of your studies can read that one; only "
        "this browser can change or remove it."
    )
    _draw_ways_to_start()
    st.text_area(
        "Study file (YAML)",
        key=_TEXT,
        height=420,
        max_chars=_LONGEST_TEXT,
        persist_state="session",
        help="Checked when you click outside, or press Ctrl and Enter.",
    )
    st.caption(f"At most {_LONGEST_TEXT:,} characters; a longer paste changes nothing.")
    text = st.session_state.get(_TEXT, "")
    if text.strip():
        _draw_verdict(text)


def edit(own: OwnStudy) -> None:
    """Put a study's text into the editor, and show it."""
    st.session_state[TABS] = BRING
    st.session_state[_TEXT] = own.text


def take_away(own: OwnStudy) -> None:
    """Forget one of the visitor's studies; its text goes into the editor, so nothing is lost."""
    edit(own)
    own_studies.remove(own.study.scenario_id)
    if state.workspace().own == own.key:
        state.open_workspace(Workspace())


def _draw_ways_to_start() -> None:
    source, upload = st.columns(2, gap="large", vertical_alignment="bottom")
    with source:
        st.selectbox(
            "Start from",
            [_TEMPLATE, *(summary.scenario_id for summary in list_scenarios())],
            key=_SOURCE,
        )
        button("Put it into the editor", "edit_document", _start)
    with upload:
        st.file_uploader(
            "Or upload a file",
            type=["yaml", "yml"],
            key=_UPLOAD,
            max_upload_size=1,
            on_change=_take_upload,
        )
    fault = st.session_state.get(_UPLOAD_FAULT)
    if fault:
        st.error(escaped(fault), icon=":material/upload_file:")


def _start() -> None:
    chosen = st.session_state[_SOURCE]
    st.session_state[_UPLOAD_FAULT] = None
    st.session_state[_TEXT] = (
        template_text() if chosen == _TEMPLATE else copy_text(chosen, f"my_{chosen}"[:_LONGEST_ID])
    )


def _take_upload() -> None:
    """Put an uploaded file into the editor; one that is no text is refused with the reason."""
    upload = st.session_state[_UPLOAD]
    st.session_state[_UPLOAD_FAULT] = None
    if upload is None:
        return
    try:
        st.session_state[_TEXT] = readable_text(upload.getvalue(), upload.name)
    except ScenarioError as error:
        st.session_state[_UPLOAD_FAULT] = f"{error}. The editor keeps what it had."


def _draw_verdict(text: str) -> None:
    try:
        study = own_studies.usable_study(text, _NAME)
    except ScenarioError as error:
        _draw_faults(error)
        return
    verdict = Verdict(Status.PASS, "Can be used", study.paper.title)
    panel.draw(sentences_panel([verdict.text], verdict=verdict), labs_panel(labs_of(study)))
    _draw_lint(study)
    _draw_actions(text, study)


def _draw_faults(error: ScenarioError) -> None:
    faults, number = error.faults, len(error.faults) + error.more
    count = count_text(number, "fault") if number > 1 else "One fault"
    first = f" The first {len(faults)} are listed." if error.more else ""
    st.error(f"{count}. The file can be used when none is left.{first}", icon=":material/cancel:")
    draw_table(
        ("Line", "Field", "What is wrong", "What to do"),
        [
            (str(fault.line or "–"), fault.path or "the file", fault.problem, fault.remedy)
            for fault in faults
        ],
        alt="Faults of the study file",
    )


def _draw_lint(study: Study) -> None:
    findings = lint(study)
    warnings = [finding for finding in findings if finding.level is LintLevel.WARNING]
    counted = count_text(len(warnings), "warning"), count_text(len(findings), "finding")
    with st.expander(f"Worth a look: {', '.join(counted)}"):
        for finding in findings:
            mark = badge(
                Status.CAUTION if finding.level is LintLevel.WARNING else Status.PASS,
                finding.level.value,
            )
            st.markdown(f"{mark} {escaped(finding.place)}: {escaped(finding.message)}")


def _draw_actions(text: str, study: Study) -> None:
    refused, mine = own_studies.refusal(text, study), own_studies.kept().get(study.scenario_id)
    if refused:
        st.warning(refused, icon=":material/inventory_2:")
    elif mine and mine.text != text:
        st.caption(f"It takes the place of your '{escaped(study.scenario_id)}' as it is now.")
    with st.container(horizontal=True, key="own_actions"):
        if st.button(
            "Use this study",
            icon=":material/play_arrow:",
            type="primary",
            disabled=bool(refused),
        ) and not state.bring(text, study):
            go_there()
        st.download_button(
            "Download the file",
            text,
            file_name=f"{study.scenario_id}.yaml",
            mime="application/yaml",
            icon=":material/download:",
            on_click="ignore",
        )
        st.download_button(
            "Download the JSON Schema",
            json.dumps(study_schema(), indent=2),
            file_name="study.schema.json",
            mime="application/schema+json",
            icon=":material/schema:",
            on_click="ignore",
        )
