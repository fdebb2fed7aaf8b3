"""A language model at the table of the Negotiation page: settings, calls, failures, rewording.

One run of the script makes one call, after everything else is drawn, and plays at most one round,
so every round is kept. The typed settings stay in the session: they are in no address, log or file.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any, Final

import streamlit as st

from replicalab.agents.scientist_policy import GenerateFn
from replicalab.errors import ModelError, ModelSettingsError
from replicalab.facts.blocks import Status, Verdict
from replicalab.facts.rounds import attempts_panel
from replicalab.features import language_model as core
from replicalab.features.language_model import SETTINGS, Endpoint, Progress
from replicalab.lexicon import count_text
from replicalab.negotiation import Recording, Round, Setup, ask_model
from replicalab.ui.controls import button
from replicalab.ui.negotiation import table
from replicalab.ui.negotiation.table import Pending, RunSession
from replicalab.ui.panel import draw
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
_MAX_REWORDED: Final = 100  # answers per session


class Task(Enum):
    """A call of the model."""

    ROUND = "its turn"
    TEST = "a test of the connection"
    WORDING = "an answer in other words"


@dataclass
class ModelSession:
    """The model's part of a session.

    Attributes:
        settings: as typed, by field.
        settings_open: whether the settings stay unfolded.
        task: the call of the next run of the script.
        stopped: the call that was just stopped.
        tested: the result of the last test of the connection.
        reworded: answers in the model's words, by round and built-in text.
        unworded: a round as in ``reworded``, and why it has no other words.
    """

    settings: dict[str, str | int] = field(default_factory=dict)
    settings_open: bool = False
    task: Task | None = None
    stopped: Task | None = None
    tested: Verdict | None = None
    reworded: dict[str, str] = field(default_factory=dict)
    unworded: tuple[str, str] | None = None


def session() -> ModelSession:
    """Return the model's part of this session."""
    value: ModelSession = st.session_state.setdefault("language_model", ModelSession())
    return value


def panel(_: str, __: object) -> dict[str, Any]:
    """Return the model's seat, whose call, if one is due, is that of this run."""
    task, session().task = session().task, None
    return {"seat": ModelSeat(None if table.is_full() and task is Task.ROUND else task)}


def _start(task: Task) -> None:
    now = session()
    now.task, now.stopped, now.tested, now.unworded = task, None, None, None


def _stop(task: Task) -> None:
    session().stopped = task


def _call(slot: Any, endpoint: Endpoint, purpose: str, use: Callable[[GenerateFn], object]) -> None:
    """Call the model, drawing its progress in the slot, and run the script again."""
    call = f"{purpose}: {escaped(endpoint.model)} on {escaped(endpoint.host)}"
    with slot:
        status = st.status(f"{call} is asked …")

    def show(progress: Progress) -> None:
        # Streamlit ends a script only where it draws: when anything is pressed, or the browser's
        # connection closes. Each update is such a place, and the call ends with the script.
        characters = count_text(progress.characters, "character")
        seconds = count_text(round(progress.seconds), "second")
        status.update(label=f"{call}: {characters} in {seconds}")

    use(core.build_generate_fn(endpoint, on_progress=show))
    st.rerun()


# --- the endpoint -------------------------------------------------------------------------------


def _environment() -> dict[str, str]:
    """Return the settings of the process environment, then of Streamlit's secrets."""
    secrets = dict(st.secrets) if st.secrets.load_if_toml_exists() else {}
    values = {**secrets, **os.environ}
    names = (*SETTINGS.values(), core.ALLOWED_SETTING)
    return {name: str(values[name]) for name in names if name in values}


def _settings() -> dict[str, str]:
    """Return the settings; typed ones have priority."""
    environment = _environment()
    typed = {SETTINGS[name]: str(value).strip() for name, value in session().settings.items()}
    settings = {**environment, **{name: text for name, text in typed.items() if text}}
    if settings.get(_BASE_URL) != environment.get(_BASE_URL) and not typed.get(_KEY):
        settings.pop(_KEY, None)  # or a typed address would be sent the server's key
    return settings


def usable_endpoint() -> Endpoint | None:
    """Return the endpoint of the settings; None if a value is missing or unusable."""
    try:
        return Endpoint.from_environment(_settings())
    except ModelSettingsError:
        return None


def _draw_fields() -> None:
    environment, typed = _environment(), session().settings
    *columns, last = st.columns(3)
    for column, (name, (label, placeholder)) in zip(columns, _TEXTS.items(), strict=True):
        column.text_input(
            label,
            str(typed.get(name, environment.get(SETTINGS[name], ""))),
            max_chars=2000,
            placeholder=placeholder,
            autocomplete="off",
            **_kept(name),
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
    for column, (name, (label, minimum, limit)) in zip(
        st.columns(3), _NUMBERS.items(), strict=False
    ):
        text = environment.get(SETTINGS[name], "")
        default = int(Endpoint.model_fields[name].default)
        value = int(text) if text.isdecimal() and minimum <= int(text) <= limit else default
        value = int(typed.setdefault(name, value))
        column.number_input(label, minimum, limit, value, step=1, **_kept(name))


def _kept(name: str) -> dict[str, Any]:
    """Return the key of a field's widget, and the callback that keeps its value."""

    def keep() -> None:
        session().settings[name] = st.session_state[f"model_{name}"]
        session().tested = None

    return {"key": f"model_{name}", "on_change": keep}


# --- the seat -----------------------------------------------------------------------------------


class ModelSeat:
    """The model as a player; ``task`` is the call of this run of the script."""

    def __init__(self, task: Task | None) -> None:
        self.task, self.endpoint = task, usable_endpoint()

    @property
    def model(self) -> str | None:
        """The name of the model; None if none is set."""
        return self.endpoint.model if self.endpoint else None

    def recording(self, setup: Setup) -> Recording:
        """Return the record of the model and its settings."""
        return core.recording_of(setup, self.endpoint)

    def draw(self, kept: RunSession) -> Pending | None:
        """Draw settings and controls; return the call that they start."""
        test = self._draw_settings()
        if kept.negotiation.ending is not None:
            if not kept.source:
                forgets = "Forgets this run. Save it below first if you want to keep it."
                button("Run it again", "replay", partial(_run_again, kept), help=forgets)
            return test
        number = len(kept.negotiation.rounds) + 1
        what = f"Round {number} of at most {kept.negotiation.setup.max_rounds}"
        pending = self._pending(Task.ROUND, what, partial(_play_round, kept), _ROUNDS_KEPT)
        if pending is None:
            self._draw_controls(kept)
        if kept.failure is not None:
            _draw_failure(kept)
        return pending or test

    def reworded(self, done: Round) -> str:
        """Return a round's answer in the model's words; empty if it was not asked for."""
        return session().reworded.get(_wording(done), "")

    def draw_rewording(self, done: Round) -> Pending | None:
        """Draw a button that asks for an answer in other words; return the call that it starts."""
        if done.answer is None or done.plan is None or done.only_asks or self.endpoint is None:
            return None
        if pending := self._pending(Task.WORDING, "Other words", partial(_reword, done)):
            return pending
        button("Let the model reword this", "translate", partial(_start, Task.WORDING))
        _draw_stopped(Task.WORDING)
        key, problem = session().unworded or ("", "")
        if problem and key == _wording(done):
            st.warning(escaped(problem), icon=":material/cloud_off:")
        return None

    def _pending(
        self, task: Task, what: str, use: Callable[[GenerateFn], object], kept: str = ""
    ) -> Pending | None:
        """Draw the way to stop this call; return it, or None if another or no call is due."""
        if self.endpoint is None or self.task is not task:
            return None
        with st.container(horizontal=True, vertical_alignment="center", key="model_stop"):
            button("Stop the model", "stop", partial(_stop, task), type="primary")
            st.caption(f"Anything else that you press stops it too. {kept}")
        return partial(_call, st.empty(), self.endpoint, what, use)

    def _draw_settings(self) -> Pending | None:
        now, settings = session(), _settings()
        missing = core.what_to_set(settings)
        now.settings_open = now.settings_open or bool(missing)
        with st.expander("Model settings", expanded=now.settings_open, icon=":material/settings:"):
            st.caption(
                "What is typed here is kept for this session only: it is never stored, logged, "
                "exported or put in a link."
            )
            with suppress(ModelSettingsError):  # the error is drawn below
                if allowed := core.AllowList(settings.get(core.ALLOWED_SETTING)).text:
                    st.caption(escaped(allowed))
            _draw_fields()
            test = self._draw_test()
        if missing:
            text = f"{escaped(missing)} Or fill in base URL and model above."
            st.info(text, icon=":material/smart_toy:")
            return test
        try:
            Endpoint.from_environment(settings)
        except ModelSettingsError as error:
            st.error(escaped(str(error)), icon=":material/cloud_off:")
        return test

    def _draw_test(self) -> Pending | None:
        if self.endpoint is not None:
            test = partial(_test, self.endpoint)
            if pending := self._pending(Task.TEST, "Test of the connection", test):
                return pending
        start, is_off = partial(_start, Task.TEST), self.endpoint is None
        button("Test the connection", "network_check", start, disabled=is_off)
        _draw_stopped(Task.TEST)
        if (tested := session().tested) is not None:
            draw_verdict(tested)
        return None

    def _draw_controls(self, kept: RunSession) -> None:
        played = len(kept.negotiation.rounds)
        with st.container(horizontal=True, vertical_alignment="center", key="model_controls"):
            label, is_off = "Go on" if played else "Run", self.endpoint is None
            button(label, "smart_toy", partial(_run, kept), type="primary", disabled=is_off)
            if played:
                button("Undo last round", "undo", partial(table.back_to, kept, played - 1))
            _draw_stopped(Task.ROUND, _ROUNDS_KEPT)


def _draw_stopped(task: Task, kept: str = "") -> None:
    if session().stopped is task:
        st.caption(f"Stopped. {kept}")
        session().stopped = None


def _test(endpoint: Endpoint, generate: GenerateFn) -> None:
    try:
        session().tested = Verdict(Status.PASS, "Answers", core.check_endpoint(endpoint, generate))
    except ModelError as error:
        session().tested = Verdict(Status.FAIL, "Does not answer", str(error))


def _run(kept: RunSession) -> None:
    kept.failure, kept.acting = None, False
    session().settings_open = False
    _start(Task.ROUND)


def _run_again(kept: RunSession) -> None:
    table.back_to(kept, 0)
    _run(kept)


def _play_round(kept: RunSession, generate: GenerateFn) -> None:
    negotiation = kept.negotiation
    answer = ask_model(generate, negotiation.state, negotiation.pack)
    if answer.turn is None:
        kept.failure = answer
        return
    table.play(kept, len(negotiation.rounds), answer.turn)
    if kept.negotiation.ending is None:
        _start(Task.ROUND)


def _draw_failure(kept: RunSession) -> None:
    answer, number = kept.failure, len(kept.negotiation.rounds)
    if answer is None:
        return
    st.warning(
        f"**Round {number + 1}: the model gave no action, and its turn is over.** "
        f"{escaped(answer.failure or '')} {_ROUNDS_KEPT}",
        icon=":material/cloud_off:",
    )
    draw(attempts_panel(answer.attempts))
    leave = partial(table.play, kept, number, answer.walking_away)
    act = partial(setattr, kept, "acting", True)
    with st.container(horizontal=True, key="model_failed"):
        button("Try again", "refresh", partial(_run, kept))
        button("Act for the model in this round", "person", act, disabled=kept.acting)
        button("Let it walk away", "logout", leave)


def _wording(done: Round) -> str:
    """Return the key of a round's answer among those in other words."""
    return f"{done.number} {done.answer.explanation}" if done.answer else ""


def _reword(done: Round, generate: GenerateFn) -> None:
    now, key = session(), _wording(done)
    try:
        now.reworded[key] = core.reword(generate, done) or ""
    except ModelError as error:
        now.unworded = key, str(error)
    if len(now.reworded) > _MAX_REWORDED:
        del now.reworded[next(iter(now.reworded))]
