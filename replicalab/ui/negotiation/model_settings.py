"""Where the language model is reached: from the environment, secrets, or typed for this session.

What is typed stays in this session: it is in no address, no log and no file. A key from the
environment goes to the environment's address only, never to one that a visitor typed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

import streamlit as st

from replicalab.errors import ModelError, ModelSettingsError
from replicalab.llm import SETTINGS, Endpoint, check_endpoint, what_to_set
from replicalab.ui.words import escaped

_BASE_URL, _MODEL, _KEY = (SETTINGS[field] for field in ("base_url", "model", "api_key"))
_OPEN: Final = "model_settings_open"
_NUMBERS: Final = {
    "timeout": ("Longest silence (seconds)", 1, 3600),
    "max_tokens": ("Longest answer (tokens)", 1, 1_000_000),
}


def endpoint() -> Endpoint | None:
    """Return the endpoint that the settings name, None where address or model is missing.

    Raises:
        ModelSettingsError: a value cannot be used.
    """
    return Endpoint.from_environment(_merged(_environment(), _typed()))


def usable_endpoint() -> Endpoint | None:
    """Return the endpoint, None also where a value cannot be used."""
    try:
        return endpoint()
    except ModelSettingsError:
        return None


def _environment() -> dict[str, str]:
    """Return what the process environment sets, and secrets where it does not."""
    secrets = dict(st.secrets) if st.secrets.load_if_toml_exists() else {}
    found = {**secrets, **os.environ}
    return {name: str(found[name]) for name in SETTINGS.values() if name in found}


def _typed() -> dict[str, str]:
    typed = {name: st.session_state.get(_widget(field)) for field, name in SETTINGS.items()}
    return {name: str(value).strip() for name, value in typed.items() if value is not None}


def _widget(field: str) -> str:
    return f"model_{field}"


def _merged(environment: Mapping[str, str], typed: Mapping[str, str]) -> dict[str, str]:
    """Return the settings with what was typed first; the key stays with its own address."""
    found = {**environment, **{name: text for name, text in typed.items() if text}}
    elsewhere = found.get(_BASE_URL) != environment.get(_BASE_URL)
    if elsewhere and not typed.get(_KEY):
        found.pop(_KEY, None)
    return found


def draw() -> None:
    """Draw the settings, and a test of the connection; once open, they stay so until `fold`."""
    environment = _environment()
    missing = what_to_set(_merged(environment, _typed()))
    if missing:
        st.session_state[_OPEN] = True
    unfolded = bool(st.session_state.get(_OPEN))
    with st.expander("Model settings", expanded=unfolded, icon=":material/settings:"):
        st.caption(
            "Any server with an OpenAI-compatible address. What is typed here is kept for this "
            "session only: it is never stored, logged, exported or put in a link."
        )
        _draw_fields(environment)
        _draw_test()
    if missing:
        or_here = "Or fill in base URL and model above, for this session only."
        st.info(f"{escaped(missing)} {or_here}", icon=":material/smart_toy:")


def fold() -> None:
    """Fold the settings: a model that is about to be asked needs them no more."""
    st.session_state[_OPEN] = False


def _draw_fields(environment: Mapping[str, str]) -> None:
    address, model, key = st.columns(3)
    with address:
        _text("base_url", "Base URL", environment, "http://localhost:11434/v1")
    with model:
        _text("model", "Model", environment, "the name that the server knows")
    with key:
        st.text_input(
            "Key",
            type="password",
            placeholder="set in the environment" if _KEY in environment else "if the server asks",
            key=_widget("api_key"),
            persist_state="session",
            autocomplete="off",
        )
    for column, field in zip(st.columns(3), _NUMBERS, strict=False):
        with column:
            _number(field, environment)


def _text(field: str, label: str, environment: Mapping[str, str], placeholder: str) -> None:
    st.text_input(
        label,
        environment.get(SETTINGS[field], ""),
        max_chars=2000,
        placeholder=placeholder,
        key=_widget(field),
        persist_state="session",
        autocomplete="off",
    )


def _number(field: str, environment: Mapping[str, str]) -> None:
    label, least, most = _NUMBERS[field]
    text = environment.get(SETTINGS[field], "")
    default = int(Endpoint.model_fields[field].default)
    value = int(text) if text.isdecimal() and least <= int(text) <= most else default
    st.number_input(label, least, most, value, step=1, key=_widget(field), persist_state="session")


def _draw_test() -> None:
    if not st.button("Test the connection", icon=":material/network_check:"):
        return
    try:
        found = endpoint()
        if found is None:
            return
        with st.spinner("Asking the model for one word …", show_time=True):
            sentence = check_endpoint(found)
    except ModelError as error:
        st.error(escaped(str(error)), icon=":material/cloud_off:")
    else:
        st.success(escaped(sentence), icon=":material/check_circle:")
