"""``compare``: two to four plans side by side, what differs first."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from replicalab.assessment import Assessment, assess
from replicalab.cli import asking, facts
from replicalab.cli.printing import SIGNS, Answer, CommandError, Row, section, table
from replicalab.lexicon import amount_text, capitalised
from replicalab.models import FIELD_LABELS, PROTOCOL_FIELDS
from replicalab.negotiation import (
    LabManagerKind,
    Negotiation,
    ScientistKind,
    negotiate,
    setup_for,
)
from replicalab.planner import Options
from replicalab.scenarios import MAX_SEED, Pack, read_plan
from replicalab.text.lab import MEANS, lab_text
from replicalab.text.negotiation import OUTCOME_TITLES
from replicalab.text.plan import detectable_effect, effect_text, slack_text, used_text
from replicalab.text.verdicts import Status, plan_verdict

ABOUT: Final = "Two to four plans side by side, what differs first."
CODES: Final = "0 once they are compared"
EXAMPLES: Final = (
    "compare psy_stroop --plan study --plan offer --plan least-loss",
    "compare psy_stroop --lab easy --lab medium --lab hard",
    "compare psy_stroop --plan study --plan plan.json --lab hard --json",
)
MOST: Final = 4
_WIDEST: Final = 34
"""So wide is a column: four and their heading fit a wide terminal."""
_NAMED: Final[dict[str, Callable[[Options], Assessment]]] = {
    "study": lambda options: options.yours,
    "offer": lambda options: options.offered,
    "least-loss": lambda options: options.least.after,
}
"""Plans that need no file: the study's own, and what the two ways make of it."""


class Side(NamedTuple):
    """A plan in its lab, what it is called, and what comes of opening a negotiation with it."""

    name: str
    plan: Assessment
    played: Negotiation | None


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    asking.add_study(parser)
    parser.add_argument(
        "--plan",
        action="append",
        metavar="PLAN",
        help=f"a plan's file, or one of: {', '.join(_NAMED)}; again for each (default: study)",
    )
    parser.add_argument(
        "--lab",
        action="append",
        choices=asking.LABS,
        help="each plan in this lab; again for each (default: medium)",
    )
    parser.add_argument("--seed", type=asking.whole(0, MAX_SEED), default=0)
    asking.add_own(parser)


def answer(asked: argparse.Namespace) -> Answer:
    """Return the plans side by side."""
    plans, labs = asked.plan or ["study"], asked.lab or ["medium"]
    number = len(plans) * len(labs)
    if not 2 <= number <= MOST:
        raise CommandError(
            f"{number} of plan and lab are asked for; name 2 to {MOST} with --plan and --lab"
        )
    sides = [
        _side(name, asking.pack(asked, lab), many=len(plans) > 1, labs=len(labs) > 1)
        for lab in labs
        for name in plans
    ]
    return Answer(0, _lines(sides), lambda: [_facts(side) for side in sides])


def _side(name: str, pack: Pack, *, many: bool, labs: bool) -> Side:
    reference = Options(assess(pack.reference_protocol, pack))
    if find := _NAMED.get(name):
        plan = find(reference)
    else:
        path = Path(name)
        plan = assess(read_plan(asking.content(path), name), pack)
    called = [Path(name).stem if many else "", lab_text(pack) if labs or not many else ""]
    return Side(", ".join(filter(None, called)), plan, _played(plan))


def _played(plan: Assessment) -> Negotiation | None:
    """Return the negotiation that the evidence-aware Scientist opens with a plan."""
    if not plan.counts.samples:
        return None
    players = ScientistKind.EVIDENCE_AWARE, LabManagerKind.REFERENCE
    setup = setup_for(plan.pack, plan.plan, scientist=players[0], lab_manager=players[1])
    return negotiate(setup, plan.pack)


# --- in words -----------------------------------------------------------------------------------


def _lines(sides: Sequence[Side]) -> Iterator[str]:
    yield sides[0].plan.pack.paper.name
    groups = {
        "What differs": [row for row in _fields(sides) if len(set(row[1:])) > 1],
        "Used, and left": list(_slack(sides)),
        "Cost, credits": list(_cost(sides)),
        "Evidence": list(_evidence(sides)),
        "Outcome": list(_outcomes(sides)),
    }
    heads = ("", *(side.name for side in sides))
    for title, rows in groups.items():
        if rows:
            yield from section(title, table([heads, *rows], most=_WIDEST))


def _fields(sides: Sequence[Side]) -> Iterator[Row]:
    for name in PROTOCOL_FIELDS:
        yield FIELD_LABELS[name], *(_value(getattr(side.plan.plan, name)) for side in sides)
    for name, label in MEANS.items():
        yield label, *(amount_text(getattr(side.plan.pack.lab, name)) for side in sides)


def _value(value: int | str | list[str]) -> str:
    if isinstance(value, list):
        return ", ".join(value) or "none"
    return amount_text(value) if isinstance(value, int) else value


def _slack(sides: Sequence[Side]) -> Iterator[Row]:
    for dimension in sides[0].plan.slack:
        cells = []
        for side in sides:
            slack = side.plan.slack[dimension]
            sign = SIGNS[Status.PASS if slack.ok else Status.FAIL]
            left = slack_text(slack)
            cells.append(f"{sign} {used_text(side.plan, slack)}{f' ({left})' if left else ''}")
        yield capitalised(dimension), *cells


def _cost(sides: Sequence[Side]) -> Iterator[Row]:
    terms = [side.plan.cost_terms for side in sides]
    for row in zip(*terms, strict=True):
        yield row[0].label, *(amount_text(term.credits) for term in row)
    yield "Total", *(amount_text(side.plan.cost) for side in sides)


def _evidence(sides: Sequence[Side]) -> Iterator[Row]:
    first = sides[0].plan.evidence
    yield capitalised(first.measure), *(side.plan.evidence.number for side in sides)
    yield "Stands", *(str(side.plan.evidence.tier) for side in sides)
    if sought := first.row.sought:
        yield capitalised(sought), *(effect_text(detectable_effect(side.plan)) for side in sides)
    yield "Fidelity loss", *(str(side.plan.fidelity_loss) for side in sides)


def _outcomes(sides: Sequence[Side]) -> Iterator[Row]:
    yield "Plan", *(plan_verdict(side.plan).title for side in sides)
    yield "Negotiated", *(_outcome(side.played) for side in sides)


def _outcome(played: Negotiation | None) -> str:
    return OUTCOME_TITLES[played.outcome] if played and played.outcome else "no samples"


def _facts(side: Side) -> dict[str, object]:
    played = side.played
    outcome = str(played.outcome) if played and played.outcome else None
    found = facts.checked(Options(side.plan))
    return {"name": side.name, **found, "negotiated": outcome}
