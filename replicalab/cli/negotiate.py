"""``negotiate``: the Scientist and the Lab Manager talk it through, or a transcript replays.

A language model's rounds are told as they come; what it has played is kept, whatever ends it.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import ValidationError

from replicalab import llm, negotiation
from replicalab.case import Case, in_labs_of
from replicalab.cli import asking, facts
from replicalab.cli.check import heading, where
from replicalab.cli.files import called, check_writable, content, fills_standard_output, written
from replicalab.cli.lab import PARTS
from replicalab.cli.lab_options import MONEY_OPTIONS
from replicalab.cli.model import MODEL, PLAYERS_HELP, Model
from replicalab.cli.printing import Answer, CommandError, say, tell_lines
from replicalab.cli.record_options import RECORD_OPTIONS
from replicalab.errors import ModelError, TraceError
from replicalab.lexicon import count_text
from replicalab.render import terminal
from replicalab.scenarios import MAX_ROUNDS, QUESTION_FIELDS, Pack
from replicalab.views import negotiation as texts
from replicalab.views.plan import cautions_sentence
from replicalab.views.score import score_text, score_verdict

ABOUT: Final = "What the two sides say, round by round, and how it ends."
CODES: Final = (
    "0 where they agree on a plan above the floor, or the transcript replays; 1 where they do not"
)
EXAMPLES: Final = (
    "negotiate psy_stroop",
    "negotiate psy_stroop --scientist baseline --rounds 3 --save talk.json",
    "negotiate --replay talk.json",
)
RULES: Final = tuple(
    kind.value for kind in negotiation.ScientistKind if kind in negotiation.AUTOMATIC
)
SCIENTISTS_NAMED: Final = (*RULES, MODEL)
LAB_MANAGERS_NAMED: Final = tuple(kind.value for kind in negotiation.LabManagerKind)
_PLAN: Final = ("plan", "samples", "days", "without", "swap")
# What a transcript says itself.
_SET_BY_TRANSCRIPT: Final = (
    *("scientist", "lab_manager", "rounds", *_PLAN),
    *("lab_file", *asking.LAB_OPTIONS, *MONEY_OPTIONS, *(part.option for part in PARTS.values())),
    *QUESTION_FIELDS,
    *RECORD_OPTIONS,
)


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    asking.add_study(parser, "?")
    asking.add_lab(parser)
    asking.add_plan(parser)
    group = parser.add_argument_group("players")
    group.add_argument(
        "--scientist",
        choices=SCIENTISTS_NAMED,
        help=f"(default: evidence_aware); {PLAYERS_HELP}",
    )
    group.add_argument("--lab-manager", choices=LAB_MANAGERS_NAMED, help="(default: reference)")
    group.add_argument(
        "--rounds",
        type=asking.whole(1, negotiation.MOST_ROUNDS),
        metavar="N",
        help=f"at most so many (default: {MAX_ROUNDS})",
    )
    files = parser.add_argument_group("files").add_mutually_exclusive_group()
    files.add_argument("--save", metavar="TALK.json", type=Path, help="keep the transcript")
    files.add_argument(
        "--replay",
        metavar="TALK.json",
        type=Path,
        help="verify a transcript; it says itself which study, lab and players it is of",
    )


def answer(asked: argparse.Namespace) -> Answer:
    """Return a negotiation, or the replay of a saved one."""
    return _replayed(asked) if asked.replay else _played(asked)


def _played(asked: argparse.Namespace) -> Answer:
    if asked.study is None:
        raise CommandError("no STUDY is named; name one, or a transcript with --replay")
    by_model = asked.scientist == MODEL
    if by_model and (said := _said(asked, _PLAN)):
        remedy = f"leave it out with --scientist {MODEL}"
        raise CommandError(f"{said}: a language model opens with a plan of its own; {remedy}")
    pack = asking.pack(asked)
    players = {
        "scientist": asked.scientist,
        "lab_manager": asked.lab_manager,
        "max_rounds": asked.rounds,
    }
    chosen = {name: value for name, value in players.items() if value}
    if by_model:
        return _by_model(asked, Case.of(pack, **chosen), pack)
    case = Case.of(pack, asking.plan(asked, pack), **chosen)
    talk = Talk(negotiation.negotiate(case.setup(pack), pack))
    saved = written(asked.save, negotiation.save(talk.played)) if asked.save else ""
    return Answer(talk.code, _lines(talk, saved), lambda: _facts(talk))


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


def _by_model(asked: argparse.Namespace, case: Case, pack: Pack) -> Answer:
    """Return the negotiation of a language model, each round told before the next is asked for.

    Raises:
        ModelError: no round could be played.
        KeyboardInterrupt: it was stopped before the first.
    """
    model = Model(shows_progress=True)
    if asked.save:
        check_writable(asked.save)
    is_silent = asked.json or fills_standard_output(asked)
    tell = (lambda _: None) if is_silent else tell_lines
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
    return Answer(talk.code, _ending_lines(talk, saved), lambda: _facts(talk))


def _transcript(played: negotiation.Negotiation, model: Model) -> str:
    try:
        return negotiation.save(played, llm.recording_of(played.setup, model.endpoint))
    except (TraceError, ValidationError):  # what is known of the model cannot be written down
        return negotiation.save(played)


def _said(asked: argparse.Namespace, names: tuple[str, ...]) -> str:
    """Return the first of these options that is given; empty where none is."""
    given = [name for name in names if getattr(asked, name) not in (None, [])]
    return f"--{given[0].replace('_', '-')}" if given else ""


def _replayed(asked: argparse.Namespace) -> Answer:
    if said := _said(asked, _SET_BY_TRANSCRIPT):
        raise CommandError(f"{said}: a transcript says that itself; leave it out with --replay")
    transcript = asking.transcript_of(content(asked.replay), asked.replay)
    find = in_labs_of(asking.study_at(asked.study)[0]) if asked.study is not None else None
    try:
        played = negotiation.replay(transcript, Case.of_run(transcript.setup).pack(find))
    except TraceError as error:
        raise CommandError(f"{called(asked.replay)}: {error}") from error
    return Answer(0, _replay_lines(played), lambda: _facts(Talk(played)))


# --- in words -----------------------------------------------------------------------------------


def _lines(talk: Talk, saved: str) -> Iterator[str]:
    yield from _opening(talk.played)
    for at in range(len(talk.played.rounds)):
        yield from _round_lines(talk.played, at)
    yield from _ending_lines(talk, saved)


def _opening(played: negotiation.Negotiation) -> Iterator[str]:
    yield where(played.pack)
    yield _players(played)


def _round_lines(played: negotiation.Negotiation, at: int) -> Iterator[str]:
    told = terminal.indented(_round(played.rounds[at]))
    yield from terminal.section(texts.round_caption(played, at), told)


def _ending_lines(talk: Talk, saved: str) -> Iterator[str]:
    played = talk.played
    outcome = texts.outcome_verdict(played)
    yield from terminal.section(
        terminal.verdict_line(outcome),
        terminal.indented([texts.ledger_sentence(negotiation.ledger(played))]),
    )
    rounds = count_text(len(played.rounds), "round")
    told = [talk.stopped_text, talk.model.spent_text(rounds) if talk.model else "", saved]
    yield from (line for text in told if text for line in ("", text))
    yield from _score_lines(talk.score)


def _score_lines(found: negotiation.Score | None) -> Iterator[str]:
    if found:
        verdict = score_verdict(found)
        told = terminal.indented([verdict.text, score_text(found)])
        yield from terminal.section(f"{terminal.SIGNS[verdict.status]}: {verdict.title}", told)


def _players(played: negotiation.Negotiation) -> str:
    setup = played.setup
    scientist, manager = texts.SCIENTISTS[setup.scientist], texts.LAB_MANAGERS[setup.lab_manager]
    named = f" ({setup.model})" if setup.model else ""
    return f"Scientist: {scientist.name}{named}. Lab Manager: {manager.name}."


def _round(done: negotiation.Round) -> Iterator[str]:
    reason = f": {done.reason}" if done.reason else "."
    yield f"Scientist: {texts.turn_title(done).lower()}{reason}"
    if done.plan and (cautions := cautions_sentence(done.plan)):
        yield cautions
    verdict = texts.answer_verdict(done)
    if verdict and done.answer:
        first, *rest = done.answer.explanation.splitlines()
        yield f"Lab Manager: {verdict.title.lower()} ({terminal.SIGNS[verdict.status]}): {first}"
        yield from terminal.indented([*rest, texts.offer_breaks_text(done)])


def _replay_lines(played: negotiation.Negotiation) -> Iterator[str]:
    if played.final_plan:
        yield from terminal.section(
            heading(played.final_plan), terminal.indented([_players(played)])
        )
    yield terminal.verdict_line(texts.outcome_verdict(played))
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
