"""``plan``: what may be done about a plan, what each change costs, and what it would take."""

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from replicalab.agents import SuggestionChange
from replicalab.assessment import Assessment
from replicalab.cli import asking, facts
from replicalab.cli.check import heading
from replicalab.cli.files import written
from replicalab.cli.printing import Answer
from replicalab.planner import PlanAnalysis, PlanStep
from replicalab.render import terminal
from replicalab.scenarios import EvidenceTier, plan_json
from replicalab.views import options as texts
from replicalab.views.changes import all_changes, change_text, revision_text
from replicalab.views.verdicts import ANSWERS, answer_to, plan_verdict

ABOUT: Final = "The plan that gives up the least, change by change, and what it would take."
CODES: Final = "0 where that plan passes all seven dimensions and reaches the floor, 1 where not"
EXAMPLES: Final = (
    "plan psy_stroop",
    "plan bio_jq1_myeloma --lab hard --save plan.json",
    "plan psy_stroop --samples 40 --json",
    "plan eco_reef_fish --lab hard --reach floor --price-day 20 --price-staff 300",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    asking.add_case(parser)
    parser.add_argument(
        "--save", metavar="PLAN.json", type=Path, help="keep the least-loss plan as a file"
    )


def answer(asked: argparse.Namespace) -> Answer:
    """Return what may be done about the plan."""
    options = asking.analysis(asked)
    least, study = options.least, options.yours.pack.scenario_id
    saved = written(asked.save, plan_json(least.plan, study)) if asked.save else ""
    shows = least.after.evidence.tier is not EvidenceTier.BELOW_FLOOR
    code = 0 if least.after.feasible and shows else 1
    return Answer(code, _lines(options, saved), lambda: facts.planned(options))


def _lines(options: PlanAnalysis, saved: str) -> Iterator[str]:
    yours, least, offer = options.yours, options.least, options.offer
    yield heading(yours)
    yield terminal.verdict_line(plan_verdict(yours))
    yield from filter(None, [texts.first_of_all(options)])
    if offer:
        answer = terminal.indented([ANSWERS[answer_to(options)].text])
        changes = _changes(options, offer.after, offer.changes)
        yield from terminal.section("The Lab Manager's changes", [*answer, *changes])
    difference = terminal.indented([texts.difference_text(options), texts.search_text(options)])
    shows = not least.after.evidence.void_reason
    changes = _changes(options, least.after, least.changes) if shows else iter(())
    yield from terminal.section("The least-loss plan", [*difference, *changes])
    yield from terminal.lines(texts.take_panel(options))
    yield from ["", saved] if saved else []


def _changes(
    options: PlanAnalysis, after: Assessment, changes: Iterable[SuggestionChange]
) -> Iterator[str]:
    """Yield what a revised plan comes to, then each change with its price and its reason."""
    made = all_changes(options.yours, changes, options.known)
    if not made:
        return
    whole = revision_text(PlanStep(options.yours, after))
    sign = terminal.SIGNS[plan_verdict(after).status]
    yield from terminal.indented([f"{sign}: {whole.size}", whole.still, whole.breaks, whole.total])
    for change in map(change_text, made):
        yield f"  {change.number}. {change.title}"
        yield f"     {change.price}"
        yield f"     {change.why} {change.lost}"
