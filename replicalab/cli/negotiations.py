"""``negotiate``: a negotiation, each round printed at once, or a transcript replayed."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from replicalab import features, negotiation
from replicalab.assessment import size_text
from replicalab.case import Case
from replicalab.cli import asking
from replicalab.cli.commands import PLAN, Options, command
from replicalab.cli.plans import Blocks, place_text, signed
from replicalab.cli.printing import STANDARD, Answer, CommandError, called, say, show
from replicalab.errors import ModelError, TraceError
from replicalab.facts import negotiation as texts
from replicalab.facts import records
from replicalab.facts.blocks import Heading
from replicalab.facts.report import said_blocks
from replicalab.facts.rounds import ledger_panel
from replicalab.facts.score import score_panel
from replicalab.lexicon import count_text
from replicalab.negotiation import Negotiation, Outcome, ScientistKind
from replicalab.scenarios import MAX_ROUNDS, Pack, Study


@command(
    *(*PLAN, "scientist", "lab_manager", "replay", "save"),
    codes="0 if they agree above the floor or the transcript replays, 1 if not",
    example="psy_stroop",
)
def negotiate(options: Options) -> Answer:
    """Play a negotiation round by round, or replay a transcript."""
    study, _ = asking.study_at(options.study)
    if options.replay:
        return _replayed(options, options.replay, study)
    fields = {"max_rounds": MAX_ROUNDS, **_named(options, "scientist", "lab_manager")}
    if options.scientist == ScientistKind.MODEL:
        for option in _named(options, "plan", "samples", "days"):
            problem = f"--{option}: a language model opens with a plan of its own"
            raise CommandError(f"{problem}; omit it with --scientist {ScientistKind.MODEL}")
        case = asking.case_of(options, study, options.lab, fields)
    else:
        case = asking.plan_case(options, study, fields)
    return _played(options, case, asking.pack_of(case, study))


def _named(options: Options, *names: str) -> dict[str, object]:
    """Return the options of these names that have a value."""
    return {name: value for name in names if (value := getattr(options, name)) is not None}


def _played(options: Options, case: Case, pack: Pack) -> Answer:
    by_model = case.scientist is ScientistKind.MODEL
    model = features.load("language_model").CountedModel() if by_model else None
    talk = start = Negotiation(case.setup(pack, model.endpoint.model if model else None), pack)
    is_silent, stop = options.as_json or str(options.save) == STANDARD, ""
    try:
        for talk in negotiation.course(start, model):
            if not is_silent:
                show(_round_blocks(talk))
        code = 0 if talk.outcome is Outcome.AGREED else 1
    except (KeyboardInterrupt, ModelError) as error:
        if not talk.rounds:
            raise
        say(str(error))
        failed = isinstance(error, ModelError)
        code, why = (2, "the language model failed") if failed else (130, "by Ctrl-C")
        stop = f"Stopped after {count_text(len(talk.rounds), 'round')}, {why}."
    spent = model.spent_text(count_text(len(talk.rounds), "round")) if model else ""
    more = {"spent": model.spent, "stopped": stop} if model else {}
    blocks = [*_ending_blocks(talk), stop, spent]
    return Answer(code, blocks, lambda: {**more, **_facts(talk)}, _transcript(talk, model))


def _transcript(talk: Negotiation, model: Any) -> str:
    if model:
        with suppress(TraceError, ValidationError):  # no recording has the settings of the model
            return negotiation.save(talk, model.recording_of(talk.setup))
    return negotiation.save(talk)


def _replayed(options: Options, path: Path, study: Study) -> Answer:
    fixed = ("scientist", "lab_manager", "plan", "samples", "days", "settings", "save")
    for name in _named(options, *fixed):
        option = name.replace("settings", "set").replace("_", "-")
        raise CommandError(f"--{option}: a transcript contains that; omit it with --replay")
    talk = asking.run_at(path, study)
    if talk is None:
        raise CommandError(f"{called(path)}: it holds no negotiation; name one saved here")
    size = f" · {size_text(talk.final_plan)}" if talk.final_plan else ""
    blocks = [f"{place_text(talk.pack)}{size}", _players(talk), *_ending_blocks(talk)]
    return Answer(0, blocks, lambda: _facts(talk))


def _round_blocks(talk: Negotiation) -> Blocks:
    number = len(talk.rounds)
    if number == 1:
        yield place_text(talk.pack)
        yield _players(talk)
    yield Heading(texts.round_caption(talk, number - 1))
    yield from said_blocks(talk.rounds[-1], talk.pack.design)


def _ending_blocks(talk: Negotiation) -> Blocks:
    yield Heading("Outcome")
    yield signed(texts.outcome_verdict(talk))
    yield ledger_panel(talk)
    if talk.ending:
        yield score_panel(negotiation.score(talk))


def _players(talk: Negotiation) -> str:
    setup = talk.setup
    scientist, manager = texts.SCIENTISTS[setup.scientist], texts.LAB_MANAGERS[setup.lab_manager]
    model = f" ({setup.model})" if setup.model else ""
    return f"Scientist: {scientist.name}{model}. Lab Manager: {manager.name}."


def _facts(talk: Negotiation) -> records.Data:
    score = negotiation.score(talk) if talk.ending else None
    rounds = [
        {
            "caption": texts.round_caption(talk, at),
            "action": done.action and done.action.action_type,
            "plan": done.plan and records.plan(done.plan),
            **records.fields(done, "reason", "answer"),
        }
        for at, done in enumerate(talk.rounds)
    ]
    return {
        **records.place(talk.pack),
        **records.fields(talk.setup, "scientist", "lab_manager", "model"),
        **records.fields(talk, "outcome", "ending"),
        "verdict": texts.outcome_verdict(talk)._asdict(),
        "final": talk.final_plan and records.plan(talk.final_plan),
        "rounds": rounds,
        "score": score and records.fields(score, "regret", "deciding"),
    }
