"""``check``: a plan against its lab, in the seven dimensions, its cost and its evidence."""

import argparse
from collections.abc import Iterator
from typing import Final

from replicalab.assessment import Assessment, size_text
from replicalab.cli import asking, facts
from replicalab.cli.printing import Answer
from replicalab.planner import PlanAnalysis
from replicalab.planner.curves import Curves
from replicalab.render import terminal
from replicalab.scenarios import Pack
from replicalab.views.check import YOURS, check_panel, cost_panel, evidence_panel
from replicalab.views.lab import lab_text
from replicalab.views.original import original_panel
from replicalab.views.plan import asked_text
from replicalab.views.verdicts import plan_verdict

ABOUT: Final = "Can the lab run the plan, and what would it show?"
CODES: Final = "0 where the plan passes all seven dimensions, whatever it shows; 1 where not"
EXAMPLES: Final = (
    "check psy_stroop",
    "check psy_stroop --lab hard --samples 60 --days 3 --json",
    "check bio_jq1_myeloma --budget 9000 --staff 6 --target 0.9",
    "check fin_momentum --effect safeguard",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    asking.add_case(parser)


def answer(asked: argparse.Namespace) -> Answer:
    """Return the check."""
    options = asking.analysis(asked)
    code = 0 if options.yours.feasible else 1
    return Answer(code, _lines(options), lambda: facts.checked(options))


def _lines(options: PlanAnalysis) -> Iterator[str]:
    plan = options.yours
    yield heading(plan)
    yield terminal.verdict_line(plan_verdict(plan))
    yield ""
    yield from terminal.lines(
        check_panel(plan, options.binding), cost_panel(plan), evidence_panel({YOURS: plan})
    )
    if original := original_panel(Curves(plan)):
        yield from terminal.lines(original)


def heading(plan: Assessment) -> str:
    """Return which plan it is, of which study and in which lab."""
    return f"{where(plan.pack)} · {size_text(plan)}"


def where(pack: Pack) -> str:
    """Return which study it is, in which lab, and what of the evidence is one's own question."""
    return " · ".join(filter(None, (pack.paper.name, lab_text(pack), asked_text(pack))))
