"""The part Registration of the drawer Share: a form, its items, and its files."""

import json
from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Final

import streamlit as st

from replicalab.answers import AnswerSource, Question
from replicalab.features import registration as forms
from replicalab.features.registration import PROFILES, FormAnswer
from replicalab.lexicon import capitalised
from replicalab.limits import LONGEST_TEXT
from replicalab.ui import state
from replicalab.ui.controls import button, escape
from replicalab.ui.export import DocumentFiles, draw_files, draw_line, export_content
from replicalab.ui.file_transfer import download

_FORM: Final = "registration_form"
_TITLES: Final = {key: profile.title for key, profile in PROFILES.items()}
_LINES: Final = {"title": "Title", "authors": "Authors", "licence": "Licence"}


def panel(_: str, __: object) -> dict[str, Callable[[], None]]:
    return {"Registration": _draw}


def _draw() -> None:
    st.caption("Filled in from plan and study. Unanswered questions are exported as “not given”.")
    name = _TITLES.__getitem__
    key = st.selectbox("Form", [*_TITLES], format_func=name, key=_FORM, persist_state="session")
    profile, content, author = PROFILES[key], export_content(), state.case().registration
    registered = forms.RegisteredPlan(content.options, author, content.run)
    sections = forms.answers_of(profile, registered)
    answers = list(chain.from_iterable(sections.values()))
    share = sum(bool(answer.sources) for answer in answers) / len(answers)
    st.progress(share, text=forms.progress_text(answers))
    for column, (field, label) in zip(st.columns(len(_LINES)), _LINES.items(), strict=True):
        with column:
            draw_line(label, field, getattr(author, field))
    for title, items in sections.items():
        answered = sum(bool(answer.sources) for answer in items)
        icon = ":material/check:" if answered == len(items) else ":material/edit_note:"
        place, label = f"{_FORM}_{key}_{items[0].item.id}", f"{title} · {answered} of {len(items)}"
        with st.expander(label, icon=icon, key=place, on_change="rerun") as section:
            for answer in items if section.open else ():
                _draw_item(answer, place)
    make = partial(forms.registration, profile, registered, on=content.on)
    kind, file_name = f"registration_{key}", partial(content.name, title=author.title)
    values = {answer.item.id: answer.value for answer in answers}
    make_json = partial(json.dumps, values, ensure_ascii=False, indent=1)
    download("JSON with form ids", make_json, file_name(kind, "json"))
    draw_files(DocumentFiles(kind, make, file_name))


def _draw_item(answer: FormAnswer, section: str) -> None:
    question, label = answer.item.question, escape(answer.item.label)
    key = f"{_FORM}_{state.case().study}_{question.key}"
    if key not in st.session_state:
        text = state.case().registration.texts.get(question.key, "")
        st.session_state[key] = answer.value if question.options else text
    take = partial(_take, question, key, section)
    if question.several:
        st.pills(label, question.options, selection_mode="multi", key=key, on_change=take)
    elif question.options:
        st.segmented_control(label, question.options, key=key, on_change=take)
    else:
        st.text_area(label, key=key, max_chars=LONGEST_TEXT, height=68, on_change=take)
    for source, text in answer.sources:
        if source is not AnswerSource.AUTHOR:
            st.caption(escape(capitalised(f"{source}: {text}")))
    if answer.hint:
        st.caption(escape(f"{capitalised(AnswerSource.CORE)}, not an answer yet: {answer.hint}"))
    if answer.proposal:
        text, why = answer.proposal
        label, sentence = (text, f"{text}.") if question.options else ("this", text)
        with st.container(horizontal=True, vertical_alignment="center"):
            confirm = partial(_take, question, key, section, text)
            button(f"Confirm {label}", "check", confirm, key=f"{key}_confirm")
            st.caption(escape(f"Proposed: {sentence} Why: {why}."), width="stretch")


def _take(question: Question, key: str, section: str, proposed: str | None = None) -> None:
    if proposed:
        st.session_state[key] = proposed
    # The section's title counts its answers; Streamlit closes an expander whose title changes.
    st.session_state[section] = True
    typed, author = st.session_state[key], state.case().registration
    if question.options:
        chosen = typed if question.several else [typed] if typed else []
        answer: str | tuple[str, ...] = question.settled(
            author.choices.get(question.key, ()), chosen
        )
        st.session_state[key] = list(answer) if question.several else typed
    else:
        answer = typed.strip()
    state.update(registration=author.answering(question.key, answer))
