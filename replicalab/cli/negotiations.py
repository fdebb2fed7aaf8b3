"""``negotiate``: the Scientist and the Lab Manager talk it through, or a transcript replays.

Each round of a language model is printed at once; an interruption keeps the rounds before it.
"""

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from replicalab import llm, negotiation
from replicalab.assessment import size_text
from replicalab.case import Case, in_labs_of
from replicalab.cli import asking, facts
from replicalab.cli.files import called, check_writable, content, fills_standard_output, written
from replicalab.cli.model import MODEL, Model
from replicalab.cli.plans import Lines, where
from replicalab.cli.printing import Answer, CommandError, say, tell_lines
from replicalab.errors import ModelError, TraceError
from replicalab.lexicon import count_text
from replicalab.render import terminal
from replicalab.scenarios import Pack
from replicalab.views import negotiation as texts
from replicalab.views.plan import cautions_sentence
from replicalab.views.score import score_text, score_verdict

RULES: Final = tuple(
    kind.value for kind in negotiation.ScientistKind if kind in negotiation.AUTOMATIC
)
SCIENTISTS_NAMED: Final = (*RULES, MODEL)
LAB_MANAGERS_NAMED: Final = tuple(kind.value for kind in negotiation.LabManagerKind)
_PLAN: Final = ("plan", "samples", "days")
_SET_BY_TRANSCRIPT: Final = ("scientist", "lab_manager", "rounds", *_PLAN, "settings", "save")


def negotiate(asked: SimpleNamespace) -> Answer:
    """Return a negotiation, or the replay of a saved one."""
    return _replayed(asked) if asked.replay else _played(asked)


def players(asked: SimpleNamespace) -> dict[str, Any]:
    """Return the players and rounds of a command as fields of a case.

    Raises:
        CommandError: a player has another name, or there are too many rounds.
    """
    if asked.scientist:
        asking.choice("--scientist", asked.scientist, SCIENTISTS_NAMED)
    if asked.lab_manager:
        asking.choice("--lab-manager", asked.lab_manager, LAB_MANAGERS_NAMED)
    require_rounds(asked.rounds)
    names = {"scientist": "scientist", "lab_manager": "lab_manager", "rounds": "max_rounds"}
    return {field: value for name, field in names.items() if (value := getattr(asked, name))}


def require_rounds(rounds: int | None) -> None:
    """Refuse more rounds than a negotiation may have."""
    most = negotiation.MOST_ROUNDS
    if rounds and rounds > most:
        raise CommandError(f"--rounds {rounds:,} is out of range; write 1 to {most}")


def _played(asked: SimpleNamespace) -> Answer:
    if asked.study is None:
        raise CommandError("no STUDY is named; name one, or a transcript with --replay")
    fields = players(asked)
    is_silent = fills_standard_output(asked)
    by_model = asked.scientist == MODEL
    if by_model and (option := _first_of(asked, _PLAN)):
        remedy = f"omit it with --scientist {MODEL}"
        raise CommandError(f"{option}: a language model opens with a plan of its own; {remedy}")
    pack = asking.pack(asked)
    if by_model:
        return _by_model(asked, Case.of(pack, **fields), pack)
    case = Case.of(pack, asking.plan(asked, pack), **fields)
    talk = Talk(negotiation.negotiate(case.setup(pack), pack))
    saved = written(asked.save, negotiation.save(talk.played)) if asked.save else ""
    return Answer(talk.code, _lines(talk, saved), lambda: _facts(talk), is_silent)


class Talk(NamedTuple):
    """A negotiation as far as it went.

    Attributes:
        model: who was asked, None where rules played.
        stop: what ended it before its end.
    """

    played: negotiation.Negotiation
    model: Model | None = None
    stop: KeyboardInterrupt | ModelError | None = None

    @property
    def code(self) -> int:
        """The exit code of it."""
        if self.stop is not None:
            return 2 if isinstance(self.stop, ModelError) else 130
        return 0 if self.played.outcome is negotiation.Outcome.AGREED else 1

    @property
    def stopped_text(self) -> str:
        """What ended it before its end; empty where nothing did."""
        if self.stop is None:
            return ""
        rounds = count_text(len(self.played.rounds), "round")
        why = "the language model failed" if isinstance(self.stop, ModelError) else "by Ctrl-C"
        return f"Stopped after {rounds}, {why}."

    @property
    def score(self) -> negotiation.Score | None:
        """How good its result is; None before its end."""
        return negotiation.score(self.played) if self.played.ending else None


def _by_model(asked: SimpleNamespace, case: Case, pack: Pack) -> Answer:
    """Return the negotiation of a language model, each round printed before the next request.

    Raises:
        ModelError: no round could be played.
        KeyboardInterrupt: it was stopped before the first.
    """
    model = Model(shows_progress=True)
    if asked.save:
        check_writable(asked.save)
    is_silent = fills_standard_output(asked)
    tell = (lambda _: None) if is_silent or asked.as_json else tell_lines
    talk = Talk(negotiation.Negotiation(case.setup(pack, model.endpoint.model), pack), model)
    saved = ""
    try:
        tell(_opening(talk.played))
        for played in negotiation.course(talk.played, model):
            talk = talk._replace(played=played)
            tell(_round_lines(played, len(played.rounds) - 1))
    except (KeyboardInterrupt, ModelError) as stop:
        if not talk.played.rounds:
            raise
        say(str(stop))
        talk = talk._replace(stop=stop)
    finally:
        if asked.save and talk.played.rounds:
            saved = written(asked.save, _transcript(talk.played, model))
    return Answer(talk.code, _ending_lines(talk, saved), lambda: _facts(talk), is_silent)


def _transcript(played: negotiation.Negotiation, model: Model) -> str:
    try:
        return negotiation.save(played, llm.recording_of(played.setup, model.endpoint))
    except (TraceError, ValidationError):  # the model has settings that no recording holds
        return negotiation.save(played)


def _first_of(asked: SimpleNamespace, names: tuple[str, ...]) -> str:
    """Return the first option with a value; empty without one."""
    present = [name for name in names if getattr(asked, name)]
    option = present[0].replace("settings", "set").replace("_", "-") if present else ""
    return f"--{option}" if option else ""


def _replayed(asked: SimpleNamespace) -> Answer:
    if option := _first_of(asked, _SET_BY_TRANSCRIPT):
        raise CommandError(f"{option}: a transcript contains that; omit it with --replay")
    transcript = asking.transcript_of(content(asked.replay), asked.replay)
    find = in_labs_of(asking.study_at(asked.study)[0]) if asked.study is not None else None
    try:
        played = negotiation.replay(transcript, Case.of_run(transcript.setup).pack(find))
    except TraceError as error:
        raise CommandError(f"{called(asked.replay)}: {error}") from error
    return Answer(0, _replay_lines(played), lambda: _facts(Talk(played)))


# --- in words -----------------------------------------------------------------------------------


def _lines(talk: Talk, saved: str) -> Lines:
    yield from _opening(talk.played)
    for at in range(len(talk.played.rounds)):
        yield from _round_lines(talk.played, at)
    yield from _ending_lines(talk, saved)


def _opening(played: negotiation.Negotiation) -> Lines:
    yield where(played.pack)
    yield _players(played)


def _round_lines(played: negotiation.Negotiation, at: int) -> Lines:
    yield terminal.heading(texts.round_caption(played, at))
    yield from terminal.rendered(*filter(None, _round(played.rounds[at])))


def _ending_lines(talk: Talk, saved: str) -> Lines:
    played, rounds = talk.played, count_text(len(talk.played.rounds), "round")
    outcome = texts.outcome_verdict(played)
    yield ""
    yield terminal.signed(outcome.status, outcome.text)
    yield from terminal.rendered(texts.ledger_sentence(negotiation.ledger(played)))
    spent = talk.model.spent_text(rounds) if talk.model else ""
    for text in filter(None, (talk.stopped_text, spent, saved)):
        yield from ("", text)
    yield from _score_lines(talk.score)


def _score_lines(score: negotiation.Score | None) -> Lines:
    if score:
        verdict = score_verdict(score)
        yield ""
        yield terminal.signed(verdict.status, verdict.title)
        yield from terminal.rendered(verdict.text, score_text(score))


def _players(played: negotiation.Negotiation) -> str:
    setup = played.setup
    scientist, manager = texts.SCIENTISTS[setup.scientist], texts.LAB_MANAGERS[setup.lab_manager]
    model = f" ({setup.model})" if setup.model else ""
    return f"Scientist: {scientist.name}{model}. Lab Manager: {manager.name}."


def _round(done: negotiation.Round) -> Iterator[str]:
    reason = f": {done.reason}" if done.reason else "."
    yield f"Scientist: {texts.turn_title(done).lower()}{reason}"
    if done.plan and (cautions := cautions_sentence(done.plan)):
        yield cautions
    verdict = texts.answer_verdict(done)
    if verdict and done.answer:
        first, *rest = done.answer.explanation.splitlines()
        yield f"Lab Manager: {verdict.title.lower()} ({terminal.SIGNS[verdict.status]}): {first}"
        yield from (f"  {text}" for text in (*rest, texts.offer_breaks_text(done)) if text)


def _replay_lines(played: negotiation.Negotiation) -> Lines:
    verdict = texts.outcome_verdict(played)
    if played.final_plan:
        yield f"{where(played.pack)} · {size_text(played.final_plan)}"
        yield from terminal.rendered(_players(played))
    yield terminal.signed(verdict.status, verdict.text)
    yield from _score_lines(Talk(played).score)


# --- as data ------------------------------------------------------------------------------------


def _facts(talk: Talk) -> dict[str, object]:
    played, found = talk.played, talk.score
    outcome, ending, final = played.outcome, played.ending, played.final_plan
    return {
        **facts.place(played.pack),
        "scientist": str(played.setup.scientist),
        "lab_manager": str(played.setup.lab_manager),
        "outcome": str(outcome) if outcome else None,
        "ending": str(ending) if ending else None,
        "verdict": facts.verdict(texts.outcome_verdict(played)),
        "final": facts.plan(final) if final else None,
        "rounds": [
            {
                "round": at + 1,
                "told": texts.round_caption(played, at),
                "action": str(done.action.action_type) if done.action else None,
                "reason": done.reason,
                "plan": facts.plan(done.plan) if done.plan else None,
                "answer": json.loads(done.answer.model_dump_json()) if done.answer else None,
            }
            for at, done in enumerate(played.rounds)
        ],
        **({"model": played.setup.model} if played.setup.model else {}),
        **({"spent": talk.model.spent, "stopped": talk.stopped_text} if talk.model else {}),
        "score": facts.score(found) if found else None,
    }
