"""A language model at the table: where it is reached, how it is asked, stopped, and what fails.

One run of the script asks one thing, after all else is drawn, and plays at most one round, so every
round that was played is kept. What is typed of the endpoint stays in this session: it is in no
address, no log and no file.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from functools import partial
from typing import Any, Final, NamedTuple

import streamlit as st

from replicalab import llm
from replicalab.agents.scientist_policy import GenerateFn
from replicalab.errors import ModelError, ModelSettingsError
from replicalab.facts.blocks import Status, Verdict
from replicalab.facts.rounds import attempts_panel
from replicalab.lexicon import count_text
from replicalab.llm import SETTINGS, Endpoint, Progress, build_generate_fn
from replicalab.negotiation import (
    ModelAnswer,
    Round,
    ScientistKind,
    ask_model,
    reword,
)
from replicalab.ui import panel, state
from replicalab.ui.controls import button
from replicalab.ui.negotiation.table import RunSession, Task, back_to, play, table
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
_ROUNDS_KEPT: Final = "The rounds played so far are kept."


# --- asking, and stopping -----------------------------------------------------------------------


class PendingCall(NamedTuple):
    """What is about to be asked of a model.

    Attributes:
        slot: where its progress is drawn.
        endpoint: whom to ask.
        what: what for, in a few words.
        ask: calls the model through the function that it is given, and keeps the answer.
    """

    slot: AbstractContextManager[object]
    endpoint: Endpoint
    what: str
    ask: Callable[[GenerateFn], None]


def carry_on(asking: PendingCall | None) -> None:
    """Ask the model, and run again to show what came of it."""
    if asking is None:
        return
    endpoint = asking.endpoint
    asked = f"{asking.what}: {escaped(endpoint.model)} on {escaped(endpoint.host)}"
    with asking.slot:
        status = st.status(f"{asked} is asked …")

    def touch(progress: Progress) -> None:
        # Streamlit ends a script only where it draws: when anything is pressed, or the browser's
        # connection closes. Each update is such a place, and the call ends with the script.
        status.update(
            label=f"{asked}: {count_text(progress.characters, 'character')} in "
            f"{count_text(round(progress.seconds), 'second')}"
        )

    asking.ask(build_generate_fn(endpoint, on_progress=touch))
    st.rerun()


def _start(task: Task) -> None:
    now = table()
    now.task, now.stopped, now.tested, now.unworded = task, None, None, None


def _draw_stop(task: Task, kept: str = "") -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="model_stop"):
        button("Stop the model", "stop", partial(_stop, task), type="primary")
        st.caption(f"Anything else that you press stops it too. {kept}")


def _stop(task: Task) -> None:
    table().stopped = task


def _draw_stopped(task: Task, kept: str = "") -> None:
    if table().stopped is task:
        st.caption(f"Stopped. {kept}")
        table().stopped = None


# --- where it is reached ------------------------------------------------------------------------


def usable_endpoint() -> Endpoint | None:
    """Return the endpoint that the settings name; None if a value is missing or unusable."""
    try:
        return _endpoint(_environment())
    except ModelSettingsError:
        return None


def seated_model() -> str | None:
    """Return the name of the language model that plays, None where none does or none is set."""
    by_model = state.case().scientist is ScientistKind.MODEL
    endpoint = usable_endpoint() if by_model else None
    return endpoint.model if endpoint else None


def _endpoint(environment: Mapping[str, str]) -> Endpoint | None:
    return Endpoint.from_environment(_with_typed(environment))


def _environment() -> dict[str, str]:
    """Return what the process environment sets, and Streamlit's secrets where it does not."""
    secrets = dict(st.secrets) if st.secrets.load_if_toml_exists() else {}
    values = {**secrets, **os.environ}
    names = (*SETTINGS.values(), llm.ALLOWED_SETTING)
    return {name: str(values[name]) for name in names if name in values}


def _with_typed(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the settings, what was typed first."""
    typed = {SETTINGS[field]: str(value).strip() for field, value in table().settings.items()}
    merged = {**environment, **{name: text for name, text in typed.items() if text}}
    elsewhere = merged.get(_BASE_URL) != environment.get(_BASE_URL)
    if elsewhere and not typed.get(_KEY):
        # A visitor who types an address of their own would otherwise be sent the server's key.
        merged.pop(_KEY, None)
    return merged


def _draw_settings(task: Task | None) -> PendingCall | None:
    """Draw the settings; return the test of the connection where that is asked for."""
    environment = _environment()
    missing = llm.what_to_set(_with_typed(environment))
    if missing:
        table().settings_open = True
    with st.expander("Model settings", expanded=table().settings_open, icon=":material/settings:"):
        st.caption(
            "What is typed here is kept for this session only: it is never stored, logged, "
            "exported or put in a link."
        )
        with suppress(ModelSettingsError):  # the error is drawn below
            if allowed := llm.AllowList(environment.get(llm.ALLOWED_SETTING)).text:
                st.caption(escaped(allowed))
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


def _draw_fields(environment: Mapping[str, str]) -> None:
    typed = table().settings
    *columns, last = st.columns(3)
    for column, (field, (label, placeholder)) in zip(columns, _TEXTS.items(), strict=True):
        column.text_input(
            label,
            str(typed.get(field, environment.get(SETTINGS[field], ""))),
            max_chars=2000,
            placeholder=placeholder,
            autocomplete="off",
            **_kept(field),
        )
    last.text_input(
        "Key",
        str(typed.get("api_key", "")),
        type="password",
        max_chars=4096,
        placeholder="set in the environment" if _KEY in environment else "if the server asks",
        autocomplete="off",
        **_kept("api_key"),
    )
    for column, (field, (label, least, most)) in zip(st.columns(3), _NUMBERS.items(), strict=False):
        text = environment.get(SETTINGS[field], "")
        default = int(Endpoint.model_fields[field].default)
        value = int(text) if text.isdecimal() and least <= int(text) <= most else default
        value = int(typed.setdefault(field, value))
        column.number_input(label, least, most, value, step=1, **_kept(field))


def _kept(field: str) -> dict[str, Any]:
    """Return the key of a field's widget, and what keeps what is typed into it."""
    return {"key": f"model_{field}", "on_change": _keep, "args": (field,)}


def _keep(field: str) -> None:
    table().settings[field] = st.session_state[f"model_{field}"]
    table().tested = None


def _draw_test(task: Task | None) -> PendingCall | None:
    endpoint = usable_endpoint()
    if endpoint is not None and task is Task.TEST:
        _draw_stop(task)
        return PendingCall(st.empty(), endpoint, "Test of the connection", partial(_test, endpoint))
    start = partial(_start, Task.TEST)
    button("Test the connection", "network_check", start, disabled=endpoint is None)
    _draw_stopped(Task.TEST)
    if (tested := table().tested) is not None:
        draw_verdict(tested)
    return None


def _test(endpoint: Endpoint, generate: GenerateFn) -> None:
    try:
        answer = llm.check_endpoint(endpoint, generate)
        table().tested = Verdict(Status.PASS, "Answers", answer)
    except ModelError as error:
        table().tested = Verdict(Status.FAIL, "Does not answer", str(error))


# --- its turns ----------------------------------------------------------------------------------


def draw(kept: RunSession, task: Task | None) -> PendingCall | None:
    """Draw the model's settings and controls; return what it is to be asked, if anything here."""
    test = _draw_settings(task)
    if kept.negotiation.ending is not None:
        if not kept.source:
            forgets = "Forgets this run. Save it below first if you want to keep it."
            button("Run it again", "replay", partial(_run_again, kept), help=forgets)
        return test
    endpoint = usable_endpoint()
    running = endpoint if task is Task.ROUND else None
    if running is not None:
        _draw_stop(Task.ROUND, _ROUNDS_KEPT)
    else:
        _draw_controls(kept, ready=endpoint is not None)
    if kept.failure is not None:
        _draw_failure(kept, kept.failure)
    if running is None:
        return test
    number = len(kept.negotiation.rounds) + 1
    what = f"Round {number} of at most {kept.negotiation.setup.max_rounds}"
    return PendingCall(st.empty(), running, what, partial(_play_round, kept))


def _draw_controls(kept: RunSession, *, ready: bool) -> None:
    played = len(kept.negotiation.rounds)
    with st.container(horizontal=True, vertical_alignment="center", key="model_controls"):
        label, run = "Go on" if played else "Run", partial(_run, kept)
        button(label, "smart_toy", run, type="primary", disabled=not ready)
        if played:
            button("Undo last round", "undo", partial(back_to, kept, played - 1))
        _draw_stopped(Task.ROUND, _ROUNDS_KEPT)


def _run(kept: RunSession) -> None:
    kept.failure, kept.acting = None, False
    table().settings_open = False
    _start(Task.ROUND)


def _run_again(kept: RunSession) -> None:
    back_to(kept, 0)
    _run(kept)


def _play_round(kept: RunSession, generate: GenerateFn) -> None:
    negotiation = kept.negotiation
    answer = ask_model(generate, negotiation.state, negotiation.pack)
    if answer.turn is None:
        kept.failure = answer
        return
    play(kept, len(negotiation.rounds), answer.turn)
    if kept.negotiation.ending is None:
        _start(Task.ROUND)


def _draw_failure(kept: RunSession, answer: ModelAnswer) -> None:
    number = len(kept.negotiation.rounds)
    st.warning(
        f"**Round {number + 1}: the model gave no action, and its turn is over.** "
        f"{escaped(answer.failure or '')} {_ROUNDS_KEPT}",
        icon=":material/cloud_off:",
    )
    panel.draw(attempts_panel(answer.attempts))
    act, acts = partial(_act, kept), "Act for the model in this round"
    with st.container(horizontal=True, key="model_failed"):
        button("Try again", "refresh", partial(_run, kept))
        button(acts, "person", act, disabled=kept.acting)
        button("Let it walk away", "logout", partial(play, kept, number, answer.walking_away))


def _act(kept: RunSession) -> None:
    kept.acting = True


# --- an answer in its words ---------------------------------------------------------------------


def reworded(done: Round) -> str:
    """Return a round's answer in the model's words, empty where it was not asked for."""
    return table().reworded.get(_wording(done), "")


def draw_rewording(done: Round, task: Task | None) -> PendingCall | None:
    """Draw a button that asks for an answer in other words, where there is one and a model."""
    endpoint = usable_endpoint()
    if done.answer is None or done.plan is None or done.only_asks or endpoint is None:
        return None
    key = _wording(done)
    if task is Task.WORDING:
        _draw_stop(task)
        return PendingCall(st.empty(), endpoint, "Other words", partial(_reword, key, done))
    button("Let the model reword this", "translate", partial(_start, Task.WORDING))
    _draw_stopped(Task.WORDING)
    unworded = table().unworded
    if unworded is not None and unworded[0] == key:
        st.warning(escaped(unworded[1]), icon=":material/cloud_off:")
    return None


def _wording(done: Round) -> str:
    """Return the key of a round's answer among those in other words."""
    return f"{done.number} {done.answer.explanation}" if done.answer else ""


def _reword(key: str, done: Round, generate: GenerateFn) -> None:
    try:
        table().reworded[key] = reword(generate, done) or ""
    except ModelError as error:
        table().unworded = key, str(error)
