"""``check``: a plan against its lab, in the seven dimensions, its cost and its evidence."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Final

from replicalab.assessment import Assessment, assess, size_text
from replicalab.cli import asking, facts
from replicalab.cli.printing import SIGNS, Answer, indented, section, table
from replicalab.lexicon import amount_text, capitalised, count_text
from replicalab.planner import Options
from replicalab.scenarios import Pack
from replicalab.text.lab import lab_text
from replicalab.text.plan import (
    asked_text,
    assumption_text,
    effect_text,
    notes,
    slack_text,
    staff_text,
    term_text,
    used_text,
)
from replicalab.text.verdicts import Status, Verdict, evidence_sentence, plan_verdict

ABOUT: Final = "Can the lab run the plan, and what would it show?"
CODES: Final = "0 where the plan passes all seven dimensions, whatever it shows; 1 where not"
EXAMPLES: Final = (
    "check psy_stroop",
    "check psy_stroop --lab hard --samples 60 --days 3 --json",
    "check bio_jq1_myeloma --budget 9000 --staff 6 --target 0.9",
)


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    asking.add_study(parser)
    asking.add_lab(parser)
    asking.add_plan(parser)


def answer(asked: argparse.Namespace) -> Answer:
    """Return the check."""
    pack = asking.pack(asked)
    options = Options(assess(asking.plan(asked, pack), pack))
    code = 0 if options.yours.feasible else 1
    return Answer(code, lines(options), lambda: facts.checked(options))


def lines(options: Options) -> Iterator[str]:
    """Yield the check in words."""
    plan = options.yours
    yield heading(plan)
    yield verdict_line(plan_verdict(plan))
    yield from section("Dimensions", table(_dimensions(options)))
    yield from section("Why", table((capitalised(d), why) for d, why in plan.check.reasons_once))
    yield from section("Cost", table(_cost(plan), right=(2,)))
    yield f"  Staff: {staff_text(plan)}."
    yield from section("Evidence", indented(_evidence(plan)))
    yield from section("To know", indented(f"{kind}: {text}" for kind, text in notes(plan)))


def heading(plan: Assessment) -> str:
    """Return which plan it is, of which study and in which lab."""
    return f"{where(plan.pack)} · {size_text(plan)}"


def where(pack: Pack) -> str:
    """Return which study it is, in which lab, and what of the evidence is one's own question."""
    return " · ".join(filter(None, (pack.paper.name, lab_text(pack), asked_text(pack))))


def verdict_line(verdict: Verdict) -> str:
    """Return a verdict behind its sign."""
    return f"{SIGNS[verdict.status]}: {verdict.text}"


def _dimensions(options: Options) -> Iterator[tuple[str, ...]]:
    plan, binding = options.yours, options.binding
    for dimension, slack in plan.slack.items():
        sign = SIGNS[Status.PASS if slack.ok else Status.FAIL]
        bound = "binding" if dimension is binding else ""
        used = used_text(plan, slack)
        yield sign, capitalised(dimension), used, slack_text(slack), bound


def _cost(plan: Assessment) -> Iterator[tuple[str, ...]]:
    for term in plan.cost_terms:
        yield term.label, term_text(term), amount_text(term.credits)
    budget = count_text(plan.pack.lab.budget, "credit")
    yield "Total", f"of {budget}", amount_text(plan.cost)


def _evidence(plan: Assessment) -> Iterator[str]:
    yield evidence_sentence(plan.evidence)
    if sought := plan.evidence.row.sought:
        yield f"{capitalised(sought)}: {effect_text(plan.detectable_effect)}"
    yield assumption_text(plan)
