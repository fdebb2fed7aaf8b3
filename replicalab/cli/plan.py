"""``plan``: what may be done about a plan, what each change costs, and what it would take."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from replicalab.agents import SuggestionChange
from replicalab.assessment import Assessment, assess
from replicalab.cli import asking, facts
from replicalab.cli.check import heading, verdict_line
from replicalab.cli.printing import Answer, indented, section, written
from replicalab.planner import Options, PlanStep, change_steps
from replicalab.scenarios import EvidenceTier, plan_json
from replicalab.text.negotiation import numbers_text
from replicalab.text.options import difference_text, first_of_all, search_text, take_parts
from replicalab.text.plan import (
    change_title,
    loss_text,
    newly_broken_text,
    saved_text,
    total_loss_text,
)
from replicalab.text.verdicts import ANSWERS, answer_to, plan_verdict

ABOUT: Final = "The plan that gives up the least, change by change, and what it would take."
CODES: Final = "0 where that plan passes all seven dimensions and reaches the floor, 1 where not"
EXAMPLES: Final = (
    "plan psy_stroop",
    "plan bio_jq1_myeloma --lab hard --save plan.json",
    "plan psy_stroop --samples 40 --json",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    asking.add_study(parser)
    asking.add_lab(parser)
    asking.add_plan(parser)
    parser.add_argument(
        "--save", metavar="PLAN.json", type=Path, help="keep the least-loss plan as a file"
    )


def answer(asked: argparse.Namespace) -> Answer:
    """Return what may be done about the plan."""
    pack = asking.pack(asked)
    options = Options(assess(asking.plan(asked, pack), pack))
    least = options.least
    saved = written(asked.save, plan_json(least.plan, pack.scenario_id)) if asked.save else ""
    shows = least.after.evidence.tier is not EvidenceTier.BELOW_FLOOR
    code = 0 if least.after.feasible and shows else 1
    return Answer(code, _lines(options, saved), lambda: facts.planned(options))


def _lines(options: Options, saved: str) -> Iterator[str]:
    yours, least, offer = options.yours, options.least, options.offer
    yield heading(yours)
    yield verdict_line(plan_verdict(yours))
    yield from filter(None, [first_of_all(options)])
    if offer:
        yield from section(
            "The Lab Manager's changes",
            [
                *indented([ANSWERS[answer_to(options)].text]),
                *_changes(yours, offer.after, offer.changes, options),
            ],
        )
    told = indented([difference_text(options), search_text(options)])
    shows = not least.after.evidence.void
    changes = _changes(yours, least.after, least.changes, options) if shows else ()
    yield from section("The least-loss plan", [*told, *changes])
    for title, texts in take_parts(options):
        name = f"What it would take: {title[:1].lower()}{title[1:]}" if title else ""
        yield from section(name or "What it would take", indented(texts))
    yield from ["", saved] if saved else []


def _changes(
    yours: Assessment, after: Assessment, changes: Iterable[SuggestionChange], options: Options
) -> Iterator[str]:
    """Yield what a revised plan comes to, then each change with its price and its reason."""
    steps = change_steps(yours, changes, options.known)
    if not steps:
        return
    whole = PlanStep(yours, after)
    yield f"  {numbers_text(after)}: {saved_text(whole)}; {total_loss_text(whole)}"
    yield f"  {verdict_line(plan_verdict(after))}"
    for number, step in enumerate(steps, start=1):
        change = step.change
        if change is None:
            continue
        lost = f"{change.tradeoff} {newly_broken_text(step)}".strip()
        yield f"  {number}. {change_title(change)}"
        yield f"     {saved_text(step)}; {loss_text(step)}"
        yield f"     {change.reason} {lost}"
