"""A language model on the Negotiation page; one run of the script makes one call, as its last act.

Typed settings stay in the session: they are in no address, log or file.
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any, Final

import streamlit as st

from replicalab import server
from replicalab.agents.scientist_policy import GenerateFn
from replicalab.errors import ModelError, ModelSettingsError
from replicalab.facts.blocks import Status, Verdict
from replicalab.facts.round_facts import attempts_panel
from replicalab.features import language_model as core
from replicalab.features.language_model import ALLOWED_SETTING, SETTINGS, AllowList, Endpoint
from replicalab.lexicon import count_text
from replicalab.negotiation import Recording, Round, Setup, ask_model
from replicalab.ui.controls import button, draw_verdict, escape
from replicalab.ui.negotiation_page import sessions
from replicalab.ui.negotiation_page.sessions import Pending, RunSession
from replicalab.ui.screen import draw

_BASE_URL, _KEY = SETTINGS["base_url"], SETTINGS["api_key"]
_TEXTS: Final = {
    "base_url": ("Base URL", "http://localhost:11434/v1"),
    "model": ("Model", "the name on the server"),
    "api_key": ("Key", "if the server asks"),
}
_NUMBERS: Final = {
    "timeout": ("Timeout (seconds)", 3600),
    "max_tokens": ("Longest answer (tokens)", 1_000_000),
}
_ROUNDS_KEPT: Final = "The rounds played so far are kept."
_Use = Callable[[GenerateFn], object]  # calls the model and uses its answer
Task = Enum("Task", ["ROUND", "TEST", "WORDING"])  # a call of the model


@dataclass
class ModelSession:
    """The model's part of a session; ``task`` is the call of the next run of the script."""

    settings: dict[str, str | int] = field(default_factory=dict)  # typed values by field
    settings_open: bool = False
    task: Task | None = None
    stopped: Task | None = None
    tested: Verdict | None = None
    reworded: dict[str, tuple[str, str]] = field(default_factory=dict)  # words, or the failure


def _session() -> ModelSession:
    value: ModelSession = st.session_state.setdefault("language_model", ModelSession())
    return value


def panel(_: str, __: object) -> dict[str, Any]:
    """Return the model's seat with the call of this run, if one is due."""
    task, _session().task = _session().task, None
    return {"seat": ModelPlayer(None if sessions.is_full() and task is Task.ROUND else task)}


def _start(task: Task) -> None:
    now = _session()
    now.task, now.stopped, now.tested = task, None, None


def _call(slot: Any, endpoint: Endpoint, purpose: str, use: _Use) -> None:
    call = f"{purpose}: {escape(endpoint.model)} on {escape(endpoint.host)}"
    with slot:
        status = st.status(f"Waiting for {call} …")

    def show(number: int, elapsed: float) -> None:
        # After a press, or without a connection, Streamlit ends the script here, and the call.
        characters, seconds = count_text(number, "character"), count_text(round(elapsed), "second")
        status.update(label=f"{call}: {characters} in {seconds}")

    use(core.build_generate_fn(endpoint, on_progress=show))
    st.rerun()


def _environment() -> dict[str, str]:
    values = dict(os.environ)
    if server.is_demo() or (server.is_public() and ALLOWED_SETTING not in values):
        values[ALLOWED_SETTING] = "none"  # else visitors could reach its own network
    names = (*SETTINGS.values(), ALLOWED_SETTING)
    return {name: str(values[name]) for name in names if name in values}


def _settings() -> dict[str, str]:
    environment = _environment()
    typed = {SETTINGS[name]: str(value).strip() for name, value in _session().settings.items()}
    settings = {**environment, **{name: text for name, text in typed.items() if text}}
    if settings.get(_BASE_URL) != environment.get(_BASE_URL) and not typed.get(_KEY):
        settings.pop(_KEY, None)  # or the server's key would be sent to a typed address
    return settings


def _draw_fields() -> None:
    environment, typed = _environment(), _session().settings
    for column, (name, (label, example)) in zip(st.columns(3), _TEXTS.items(), strict=True):
        value, how = environment.get(SETTINGS[name], ""), _field(name)
        how |= {"max_chars": 4096, "placeholder": example, "autocomplete": "off"}
        if name == "api_key":
            how["type"] = "password"
            how["placeholder"] = "set in the environment" if value else example
            value = ""  # the browser never gets the server's key
        column.text_input(label, str(typed.get(name, value)), **how)
    for column, (name, (label, limit)) in zip(st.columns(3), _NUMBERS.items(), strict=False):
        text = environment.get(SETTINGS[name], "")
        is_number = text.isdecimal() and 1 <= int(text) <= limit
        number = int(text if is_number else Endpoint.model_fields[name].default)
        column.number_input(label, 1, limit, int(typed.setdefault(name, number)), **_field(name))


def _field(name: str) -> dict[str, Any]:
    def store() -> None:
        _session().settings[name] = st.session_state[f"model_{name}"]
        _session().tested = None

    return {"key": f"model_{name}", "on_change": store}


class ModelPlayer:
    """The model as a player; ``task`` is the call of this run."""

    def __init__(self, task: Task | None) -> None:
        self.task, self.problem = task, ""
        self.endpoint: Endpoint | None = None
        try:
            self.endpoint = Endpoint.from_environment(_settings())
        except ModelSettingsError as error:
            self.problem = str(error)

    @property
    def model(self) -> str | None:
        return self.endpoint.model if self.endpoint else None

    def recording(self, setup: Setup) -> Recording:
        return core.recording_of(setup, self.endpoint)

    def draw(self, run: RunSession) -> Pending | None:
        test, negotiation = self._draw_settings(), run.negotiation
        played = len(negotiation.rounds)
        if negotiation.ending is not None:
            if not run.source:
                forgets = "Forgets this run. Save it below first if you want to keep it."
                button("Run it again", "replay", partial(_run, run, again=True), help=forgets)
            return test
        purpose = f"Round {played + 1} of at most {negotiation.setup.max_rounds}"
        label, use = "Go on" if played else "Run", partial(_play_round, run)
        how: dict[str, Any] = {"icon": "smart_toy", "start": partial(_run, run), "type": "primary"}
        with st.container(horizontal=True, vertical_alignment="center", key="model_controls"):
            pending = self._offer(Task.ROUND, purpose, use, label, **how)
            if played and pending is None:
                button("Undo last round", "undo", partial(sessions.back_to, run, played - 1))
        if (answer := run.failure) is not None:
            title = f"**Round {played + 1}: the model gave no action, and its turn is over.**"
            failure = f"{title} {escape(answer.failure or '')} {_ROUNDS_KEPT}"
            st.warning(failure, icon=":material/cloud_off:")
            draw(attempts_panel(answer.attempts))
            act = partial(setattr, run, "acting", True)
            leave = partial(sessions.play, run, played, answer.walking_away)
            with st.container(horizontal=True, key="model_failed"):
                button("Try again", "refresh", partial(_run, run))
                button("Act for the model", "person", act, disabled=run.acting)
                button("Let it walk away", "logout", leave)
        return pending or test

    def reworded(self, done: Round) -> str:
        return _session().reworded.get(_wording(done), ("", ""))[0]

    def draw_rewording(self, done: Round) -> Pending | None:
        """Draw the button that rewords a round's answer; return the call that it starts."""
        if done.answer is None or done.plan is None or done.only_asks or self.endpoint is None:
            return None
        label, use = "Let the model reword this", partial(_reword, done)
        if pending := self._offer(Task.WORDING, "Other words", use, label, icon="translate"):
            return pending
        if problem := _session().reworded.get(_wording(done), ("", ""))[1]:
            st.warning(escape(problem), icon=":material/cloud_off:")
        return None

    def _offer(
        self, task: Task, purpose: str, use: _Use, label: str, *, icon: str, **how: Any
    ) -> Pending | None:
        """Draw the start button of a call; return a call that is due, with its stop button."""
        now, note = _session(), _ROUNDS_KEPT if task is Task.ROUND else ""
        if self.endpoint is not None and self.task is task:
            with st.container(horizontal=True, vertical_alignment="center", key="model_stop"):
                stop = partial(setattr, now, "stopped", task)
                button("Stop the model", "stop", stop, type="primary")
                st.caption(f"Any other button stops it too. {note}")
            return partial(_call, st.empty(), self.endpoint, purpose, use)
        start = how.pop("start", partial(_start, task))
        button(label, icon, start, disabled=self.endpoint is None, **how)
        if now.stopped is task:
            st.caption(f"Stopped. {note}")
            now.stopped = None
        return None

    def _draw_settings(self) -> Pending | None:
        now, settings = _session(), _settings()
        allowed = settings.get(ALLOWED_SETTING, "any").strip().lower()
        if allowed in ("", "none"):
            st.info(escape(AllowList(allowed).text), icon=":material/smart_toy:")
            return None
        missing = core.missing_settings_text(settings)
        now.settings_open = now.settings_open or bool(missing)
        with st.expander("Model settings", expanded=now.settings_open, icon=":material/settings:"):
            st.caption("For this session only: never stored, logged, exported or put in a link.")
            with suppress(ModelSettingsError):  # drawn below
                st.caption(escape(AllowList(settings.get(ALLOWED_SETTING)).text))
            _draw_fields()
            label, use = "Test the connection", partial(_test, self.model)
            test = self._offer(Task.TEST, "Connection test", use, label, icon="network_check")
            if test is None and now.tested is not None:
                draw_verdict(now.tested)
        if missing:
            text = f"{escape(missing)} Or fill in base URL and model above."
            st.info(text, icon=":material/smart_toy:")
        elif self.problem:
            st.error(escape(self.problem), icon=":material/cloud_off:")
        return test


def _test(model: str | None, generate: GenerateFn) -> None:
    started = time.monotonic()
    try:
        generate([{"role": "user", "content": "Reply with the word OK and nothing else."}])
        text = f"Model '{model}' answered in {time.monotonic() - started:.1f} s."
        _session().tested = Verdict(Status.PASS, "Answers", text)
    except ModelError as error:
        _session().tested = Verdict(Status.FAIL, "Does not answer", str(error))


def _run(run: RunSession, *, again: bool = False) -> None:
    if again:
        sessions.back_to(run, 0)
    run.failure, run.acting, _session().settings_open = None, False, False
    _start(Task.ROUND)


def _play_round(run: RunSession, generate: GenerateFn) -> None:
    answer = ask_model(generate, run.negotiation.state, run.negotiation.pack)
    if answer.turn is None:
        run.failure = answer
        return
    sessions.play(run, len(run.negotiation.rounds), answer.turn)
    if run.negotiation.ending is None:
        _start(Task.ROUND)


def _wording(done: Round) -> str:
    return f"{done.number} {done.answer.explanation}" if done.answer else ""


def _reword(done: Round, generate: GenerateFn) -> None:
    words = problem = ""
    try:
        words = core.reword(generate, done) or ""
    except ModelError as error:
        problem = str(error)
    _session().reworded[_wording(done)] = words, problem
