"""Where the language model is reached: from the environment, secrets, or typed for this state.

What is typed stays in this session: it is in no address, no log and no file. A key from the
environment goes to the environment's address only, never to one that a visitor typed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any, Final

import streamlit as st

from replicalab.agents.scientist_policy import GenerateFn
from replicalab.errors import ModelError, ModelSettingsError
from replicalab.llm import (
    ALLOWED_SETTING,
    LONGEST_KEY,
    SETTINGS,
    Allowed,
    Endpoint,
    check_endpoint,
    what_to_set,
)
from replicalab.negotiation import ScientistKind
from replicalab.text.verdicts import Status, Verdict
from replicalab.ui import state
from replicalab.ui.controls import button
from replicalab.ui.negotiation.asking import Asking, draw_stop, draw_stopped, start
from replicalab.ui.negotiation.table import Task, table
from replicalab.ui.words import draw_verdict, escaped

_BASE_URL, _KEY = SETTINGS["base_url"], SETTINGS["api_key"]
_TEXTS: Final = {
    "base_url": ("Base URL", "http://localhost:11434/v1"),
    "model": ("Model", "the name that the server knows"),
}
_NUMBERS: Final = {
    "timeout": ("Longest silence (seconds)", 1, 3600),
    "max_tokens": ("Longest answer (tokens)", 1, 1_000_000),
}


def usable_endpoint() -> Endpoint | None:
    """Return the endpoint that the settings name, None where a value is missing or unusable."""
    try:
        return _endpoint(_environment())
    except ModelSettingsError:
        return None


def seated_model() -> str | None:
    """Return the language model that plays, None where none does or none is set."""
    by_model = state.workspace().scientist is ScientistKind.MODEL
    endpoint = usable_endpoint() if by_model else None
    return endpoint.model if endpoint else None


def _endpoint(environment: Mapping[str, str]) -> Endpoint | None:
    return Endpoint.from_environment(_merged(environment))


def _environment() -> dict[str, str]:
    """Return what the process environment sets, and secrets where it does not."""
    secrets = dict(st.secrets) if st.secrets.load_if_toml_exists() else {}
    found = {**secrets, **os.environ}
    names = (*SETTINGS.values(), ALLOWED_SETTING)
    return {name: str(found[name]) for name in names if name in found}


def _merged(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the settings with what was typed first; the key stays with its own address."""
    typed = {SETTINGS[field]: str(value).strip() for field, value in table().settings.items()}
    found = {**environment, **{name: text for name, text in typed.items() if text}}
    elsewhere = found.get(_BASE_URL) != environment.get(_BASE_URL)
    if elsewhere and not typed.get(_KEY):
        found.pop(_KEY, None)
    return found


def draw(task: Task | None) -> Asking | None:
    """Draw the settings, and a test of the connection; once open, they stay so until a run.

    Return the test, if that is what the model is to be asked for.
    """
    environment = _environment()
    missing = what_to_set(_merged(environment))
    if missing:
        table().settings_open = True
    with st.expander("Model settings", expanded=table().settings_open, icon=":material/settings:"):
        st.caption(
            "What is typed here is kept for this session only: it is never stored, logged, "
            "exported or put in a link."
        )
        _draw_allowed(environment)
        _draw_fields(environment)
        test = _draw_test(task)
    if missing:
        or_here = "Or fill in base URL and model above."
        st.info(f"{escaped(missing)} {or_here}", icon=":material/smart_toy:")
    try:
        _endpoint(environment)
    except ModelSettingsError as error:
        st.error(escaped(str(error)), icon=":material/cloud_off:")
    return test


def _draw_allowed(environment: Mapping[str, str]) -> None:
    with suppress(ModelSettingsError):  # it is said below
        if told := Allowed(environment.get(ALLOWED_SETTING)).told():
            st.caption(escaped(told))


def _draw_fields(environment: Mapping[str, str]) -> None:
    *columns, last = st.columns(3)
    for column, (field, (label, placeholder)) in zip(columns, _TEXTS.items(), strict=True):
        column.text_input(
            label,
            str(table().settings.get(field, environment.get(SETTINGS[field], ""))),
            max_chars=2000,
            placeholder=placeholder,
            autocomplete="off",
            **_kept(field),
        )
    last.text_input(
        "Key",
        str(table().settings.get("api_key", "")),
        type="password",
        max_chars=LONGEST_KEY,
        placeholder="set in the environment" if _KEY in environment else "if the server asks",
        autocomplete="off",
        **_kept("api_key"),
    )
    for column, (field, (label, least, most)) in zip(st.columns(3), _NUMBERS.items(), strict=False):
        text = environment.get(SETTINGS[field], "")
        default = int(Endpoint.model_fields[field].default)
        value = int(text) if text.isdecimal() and least <= int(text) <= most else default
        value = int(table().settings.setdefault(field, value))
        column.number_input(label, least, most, value, step=1, **_kept(field))


def _kept(field: str) -> dict[str, Any]:
    """Return the key of a field's widget, and what keeps what is typed into it."""
    return {"key": f"model_{field}", "on_change": _keep, "args": (field,)}


def _keep(field: str) -> None:
    table().settings[field] = st.session_state[f"model_{field}"]
    table().tested = None


def _draw_test(task: Task | None) -> Asking | None:
    found = usable_endpoint()
    if found is not None and task is Task.TEST:
        draw_stop(task)
        return Asking(st.empty(), found, "Test of the connection", partial(_test, found))
    button(
        "Test the connection",
        "network_check",
        partial(start, Task.TEST),
        disabled=found is None,
    )
    draw_stopped(Task.TEST)
    if (tested := table().tested) is not None:
        draw_verdict(tested)
    return None


def _test(found: Endpoint, generate: GenerateFn) -> None:
    try:
        table().tested = Verdict(Status.PASS, "Answers", check_endpoint(found, generate))
    except ModelError as error:
        table().tested = Verdict(Status.FAIL, "Does not answer", str(error))
