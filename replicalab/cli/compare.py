"""``compare``: two to four plans side by side, what differs first."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from replicalab.assessment import Assessment, assess
from replicalab.case import MOST_SIDES
from replicalab.cli import asking, facts
from replicalab.cli.files import STANDARD, called, content
from replicalab.cli.printing import Answer, CommandError
from replicalab.comparison import FEWEST_SIDES, Side, negotiated, side_of_run
from replicalab.planner import PlanAnalysis
from replicalab.render import terminal
from replicalab.scenarios import MAX_SEED, Guesser, Pack
from replicalab.views import comparison
from replicalab.views.lab import lab_text

ABOUT: Final = "Two to four plans side by side, what differs first."
CODES: Final = "0 once they are compared"
EXAMPLES: Final = (
    "compare psy_stroop --plan study --plan offer --plan least-loss",
    "compare psy_stroop --lab easy --lab medium --lab hard",
    "compare psy_stroop --plan study --plan plan.json --lab hard --json",
)
_WIDEST: Final = 34  # So wide is a column: four and their heading fit a wide terminal
# Plans that need no file: the study's own, and what the two ways make of it.
_NAMED: Final[dict[str, Callable[[PlanAnalysis], Assessment]]] = {
    "study": lambda options: options.yours,
    "offer": lambda options: options.offered,
    "least-loss": lambda options: options.least.after,
}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    asking.add_study(parser)
    parser.add_argument(
        "--plan",
        action="append",
        metavar="PLAN",
        help="a plan's file, a transcript for the plan that it came to, or one of: "
        f"{', '.join(_NAMED)}; again for each (default: study)",
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
    if not FEWEST_SIDES <= number <= MOST_SIDES:
        few = f"name {FEWEST_SIDES} to {MOST_SIDES} with --plan and --lab"
        raise CommandError(f"{number} of plan and lab are asked for; {few}")
    sides = [
        _side(name, asking.pack(asked, lab), many=len(plans) > 1, labs=len(labs) > 1)
        for lab in labs
        for name in plans
    ]
    return Answer(0, _lines(sides), lambda: {"sides": [_facts(side) for side in sides]})


def _side(name: str, pack: Pack, *, many: bool, labs: bool) -> Side:
    parts = [Path(called(name)).stem if many else "", lab_text(pack) if labs or not many else ""]
    title = ", ".join(filter(None, parts))
    if find := _NAMED.get(name):
        plan = find(PlanAnalysis(assess(pack.reference_protocol, pack)))
        return Side(title, plan, negotiated(plan))
    path = Path(name)
    if not (path.suffix or name == STANDARD or path.exists()):
        remedy = Guesser().remedy(name, [*_NAMED])
        raise CommandError(f"--plan '{name}' is no plan and no file; {remedy}")
    run = asking.run_in(content(path), path, pack)
    if run and run.pack == pack:
        return side_of_run(title, run)
    plan = assess(asking.plan_at(path, pack), pack)
    return Side(title, plan, negotiated(plan))


# --- in words -----------------------------------------------------------------------------------


def _lines(sides: Sequence[Side]) -> Iterator[str]:
    yield sides[0].plan.pack.paper.name
    heads = ("", *(side.name for side in sides))
    for title, lines in comparison.parts(sides).items():
        rows = [(line.label, *map(terminal.cell_text, line.cells)) for line in lines]
        yield from terminal.section(title, terminal.columns([heads, *rows], most=_WIDEST))


def _facts(side: Side) -> dict[str, object]:
    played = side.played
    outcome = str(played.outcome) if played and played.outcome else None
    found = facts.checked(PlanAnalysis(side.plan))
    judged = comparison.judged_text(side)
    return {"name": side.name, "judged": judged, **found, "negotiated": outcome}
