"""``negotiate``: the Scientist and the Lab Manager talk it through, or a transcript replays."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from replicalab import negotiation
from replicalab.case import Case, in_labs_of
from replicalab.cli import asking, facts
from replicalab.cli.check import heading, where
from replicalab.cli.printing import Answer, CommandError, written
from replicalab.render import terminal
from replicalab.scenarios import MAX_ROUNDS, QUESTION_FIELDS
from replicalab.views import negotiation as texts
from replicalab.views.blocks import Status
from replicalab.views.plan import cautions_sentence

ABOUT: Final = "What the two sides say, round by round, and how it ends."
CODES: Final = (
    "0 where they agree on a plan above the floor, or the transcript replays as it was saved;\n"
    "1 where they do not, or it does not"
)
EXAMPLES: Final = (
    "negotiate psy_stroop",
    "negotiate psy_stroop --scientist baseline --rounds 3 --save talk.json",
    "negotiate --replay talk.json",
)
RULES: Final = tuple(
    kind.value for kind in negotiation.ScientistKind if kind in negotiation.AUTOMATIC
)
LAB_MANAGERS_NAMED: Final = tuple(kind.value for kind in negotiation.LabManagerKind)
# What a transcript says itself.
_SET_BY_TRANSCRIPT: Final = (
    *("scientist", "lab_manager", "rounds", "plan", "samples", "days", "without", "swap"),
    *("lab_file", *asking.LAB_OPTIONS, *QUESTION_FIELDS),
)


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    asking.add_study(parser, "?")
    asking.add_lab(parser)
    asking.add_plan(parser)
    group = parser.add_argument_group("players")
    group.add_argument("--scientist", choices=RULES, help="(default: evidence_aware)")
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
    """Return a negotiation between rules, or the replay of a saved one."""
    return _replayed(asked) if asked.replay else _played(asked)


def _played(asked: argparse.Namespace) -> Answer:
    if asked.study is None:
        raise CommandError("no STUDY is named; name one, or a transcript with --replay")
    pack = asking.pack(asked)
    players = {
        "scientist": asked.scientist,
        "lab_manager": asked.lab_manager,
        "max_rounds": asked.rounds,
    }
    chosen = {name: value for name, value in players.items() if value}
    played = negotiation.negotiate(
        Case.of(pack, asking.plan(asked, pack), **chosen).setup(pack), pack
    )
    saved = written(asked.save, negotiation.save(played)) if asked.save else ""
    code = 0 if played.outcome is negotiation.Outcome.AGREED else 1
    return Answer(code, _lines(played, saved), lambda: _facts(played))


def _replayed(asked: argparse.Namespace) -> Answer:
    said = [name for name in _SET_BY_TRANSCRIPT if getattr(asked, name) not in (None, [])]
    if said:
        option = said[0].replace("_", "-")
        raise CommandError(f"--{option}: a transcript says that itself; leave it out with --replay")
    transcript = asking.transcript_of(asking.content(asked.replay), asked.replay)
    find = in_labs_of(asking.study_at(asked.study)[0]) if asked.study is not None else None
    found = negotiation.replay(transcript, Case.of_run(transcript.setup).pack(find))
    code = 1 if found.differences else 0
    return Answer(code, _replay_lines(found), lambda: _replay_facts(found))


# --- in words -----------------------------------------------------------------------------------


def _lines(played: negotiation.Negotiation, saved: str) -> Iterator[str]:
    yield where(played.pack)
    yield _players(played)
    for at, done in enumerate(played.rounds):
        yield from terminal.section(
            texts.round_caption(played, at), terminal.indented(_round(done))
        )
    outcome = texts.outcome_verdict(played)
    yield from terminal.section(
        terminal.verdict_line(outcome),
        terminal.indented([texts.ledger_sentence(negotiation.ledger(played))]),
    )
    yield from ["", saved] if saved else []


def _players(played: negotiation.Negotiation) -> str:
    setup = played.setup
    scientist, manager = texts.SCIENTISTS[setup.scientist], texts.LAB_MANAGERS[setup.lab_manager]
    return f"Scientist: {scientist.name}. Lab Manager: {manager.name}."


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


def _replay_lines(found: negotiation.Replay) -> Iterator[str]:
    played = found.negotiation
    if not found.differences:
        yield f"{terminal.SIGNS[Status.PASS]}: The transcript replays as it was saved."
    else:
        yield f"{terminal.SIGNS[Status.FAIL]}: The transcript does not replay as it was saved."
        yield from terminal.indented(each.message for each in found.differences)
    if played.final_plan:
        yield from terminal.section(
            heading(played.final_plan), terminal.indented([_players(played)])
        )
    yield terminal.verdict_line(texts.outcome_verdict(played))


# --- as data ------------------------------------------------------------------------------------


def _facts(played: negotiation.Negotiation) -> dict[str, object]:
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
    }


def _replay_facts(found: negotiation.Replay) -> dict[str, object]:
    differences = [
        {
            "round": None if each.round_number is None else each.round_number + 1,
            "told": each.message,
        }
        for each in found.differences
    ]
    return {"identical": not differences, "differences": differences, **_facts(found.negotiation)}
