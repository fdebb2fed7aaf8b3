"""The part Registration of the drawer Share: a form, its items, and its files."""

import json
from collections.abc import Callable
from functools import partial
from typing import Final

import streamlit as st

from replicalab.features.registration import (
    PROFILES,
    FormAnswer,
    answers_of,
    left_text,
    registration,
    registry_values,
)
from replicalab.features.registration.answers import Registered
from replicalab.lexicon import capitalised
from replicalab.limits import LONGEST_TEXT
from replicalab.registration import Finder, Question
from replicalab.ui import state
from replicalab.ui.controls import button
from replicalab.ui.export.documents import draw_files, draw_line, draw_look, export_content
from replicalab.ui.files import download
from replicalab.ui.words import escaped

_FORM: Final = "registration_form"
_LINES: Final = {"title": "Title", "authors": "Authors", "licence": "Licence"}


def panel(_: str, __: object) -> dict[str, Callable[[], None]]:
    """Return the part of the drawer."""
    return {"Registration": draw}


def draw() -> None:
    """Draw the chosen form: how much of it is answered, its items, and its files."""
    st.caption(
        "What the plan and the study’s file answer is filled in; the rest only you can say. It is "
        "kept with the plan. Nothing is made up: what nobody answers reads “not given”."
    )
    key = st.selectbox(
        "Form",
        list(PROFILES),
        format_func=lambda each: PROFILES[each].title,
        key=_FORM,
        persist_state="session",
    )
    profile, content = PROFILES[key], export_content()
    text = state.case().registration
    registered = Registered(content.options, text, content.run)
    answers = answers_of(profile, registered)
    number = sum(each.is_given for each in answers)
    st.progress(number / len(answers), text=left_text(answers))
    for column, (field, label) in zip(st.columns(len(_LINES)), _LINES.items(), strict=True):
        with column:
            draw_line(label, field, getattr(registered.said, field))
    by_item = {answer.item.id: answer for answer in answers}
    for title, items in profile.sections.items():
        section = f"{_FORM}_{key}_{items[0].id}"
        _draw_section(title, section, [by_item[item.id] for item in items])
    make, what = partial(registration, profile, registered, on=content.on), f"registration_{key}"
    named = partial(content.name, title=registered.said.title)
    draw_files(what, make, named)
    values = registry_values(answers, text)
    download(
        "JSON by the form’s own ids",
        lambda: json.dumps(values, ensure_ascii=False, indent=1),
        named(what, "json"),
    )
    draw_look(what, make, is_open=False)


def _draw_section(title: str, key: str, answers: list[FormAnswer]) -> None:
    left = sum(not answer.is_given for answer in answers)
    place = st.expander(
        f"{title} · {len(answers) - left} of {len(answers)}",
        icon=":material/edit_note:" if left else ":material/check:",
        key=key,
        on_change="rerun",
    )
    if not place.open:
        return
    with place:
        for answer in answers:
            _draw_item(answer, key)


def _draw_item(answer: FormAnswer, section: str) -> None:
    question = answer.item.question
    label = f"{question.label} *" if answer.item.required else question.label
    key = f"{_FORM}_{state.case().study}_{question.key}"
    if key not in st.session_state:
        st.session_state[key] = _said(question)
    take = partial(_take, question, key, section)
    if question.options:
        named = escaped(label)
        if question.several:
            st.pills(named, question.options, selection_mode="multi", key=key, on_change=take)
        else:
            st.segmented_control(named, question.options, key=key, on_change=take)
    else:
        st.text_area(escaped(label), key=key, max_chars=LONGEST_TEXT, height=68, on_change=take)
    for who, text in answer.found:
        if who is not Finder.AUTHOR:
            st.caption(escaped(capitalised(f"{who}: {text}")))
    if answer.hint:
        st.caption(escaped(f"{capitalised(Finder.CORE)}, which is no answer yet: {answer.hint}"))
    if answer.proposal:
        proposed, why = answer.proposal
        label, what = (proposed, f"{proposed}.") if question.options else ("this", proposed)
        with st.container(horizontal=True, vertical_alignment="center"):
            confirm = partial(_confirm, question, key, section, proposed)
            button(f"Confirm {label}", "check", confirm, key=f"{key}_confirm")
            st.caption(escaped(f"Proposed: {what} Why: {why}."), width="stretch")


def _said(question: Question) -> str | list[str] | None:
    """Return the author's answer as its widget holds it."""
    text = state.case().registration
    chosen = text.choices.get(question.key, ())
    if not question.options:
        return text.texts.get(question.key, "")
    return list(chosen) if question.several else next(iter(chosen), None)


def _take(question: Question, key: str, section: str) -> None:
    typed = st.session_state[key]
    # Its title counts the answers; one of another title would be another one, and closed.
    st.session_state[section] = True
    if question.options:
        chosen = typed if question.several else [typed] if typed else []
        before = state.case().registration.choices.get(question.key, ())
        answer: str | tuple[str, ...] = question.settled(before, chosen)
        if question.several:
            st.session_state[key] = list(answer)
    else:
        answer = typed.strip()
    state.show(registration=state.case().registration.answering(question.key, answer))


def _confirm(question: Question, key: str, section: str, proposed: str) -> None:
    st.session_state[key] = proposed
    _take(question, key, section)
