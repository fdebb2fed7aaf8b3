"""One page for a funder: the plan asked for, what each cut costs, and the price of the target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Final

from replicalab.assessment import Assessment
from replicalab.assessment.phrases import size_text
from replicalab.lexicon import amount_text, percent_text, shortened
from replicalab.models import Dimension
from replicalab.planner import Aim, Goal, PlanAnalysis, PlanStep
from replicalab.planner.combinations import Combinations
from replicalab.planner.frontier import FrontierPlan
from replicalab.registration import Registration
from replicalab.scenarios import EvidenceTier
from replicalab.views import blocks, combinations, documents
from replicalab.views import options as options_text
from replicalab.views.blocks import Block, Cell, Column, Document, Sentence, Table, part
from replicalab.views.budget import TITLE as BUDGET_TITLE
from replicalab.views.budget import budget_blocks
from replicalab.views.changes import Changed, all_changes, change_text
from replicalab.views.lab import lab_text
from replicalab.views.plan import newly_broken_text
from replicalab.views.verdicts import evidence_cell, plan_verdict

MOST_WORDS: Final = 12
"""A headline has at most so many words."""

MOST_WAYS: Final = 3
SHARES: Final = (0.9, 0.75, 0.5, 0.25)
"""Of the money, for each of which the best plan is shown."""

# The most characters of a cell, so that one page is enough whatever a study says: of the ways to
# the target the first and any other, of the budget, and of the other tables.
_LONGEST, _LISTED, _SHORT = (200, 80), (64, 96), (96, 112)


def funding_request(
    options: PlanAnalysis, *, on: date, said: Registration | None = None
) -> Document:
    """Return one page for whoever may give more: the plan, its cuts, and what the target takes."""
    yours = options.yours
    pack = yours.pack
    authors = said.authors if said else ""
    parts = (
        part(
            "The plan asked for",
            Sentence(pack.paper.goal),
            documents.sized_sentence(yours),
            documents.verdict_sentence(plan_verdict(yours)),
        ),
        part(BUDGET_TITLE, *budget_blocks(yours)),
        part("What the lab’s own means buy", *_cuts(options)),
        part("What less money would buy", *_less(options)),
        part("What the target takes", *_properly(options)),
    )
    name = shortened(pack.paper.name, documents.LONGEST)
    return Document(
        title=headline(options),
        about=f"Funding request · {name} · {lab_text(pack)} · {documents.day_text(on)}",
        parts=tuple(replace(each, blocks=tuple(map(_fitting, each.blocks))) for each in parts),
        foot=documents.origin_lines(yours),
        compact=True,
        authors=authors,
        on=on,
    )


# --- the headline ---------------------------------------------------------------------------


def headline(options: PlanAnalysis) -> str:
    """Return in at most `MOST_WORDS` words what to give, and what it buys.

    ``Give 630 more credits: power 0.81 instead of 0.52.``
    """
    found, yours = options.combinations(Goal.TARGET), options.yours
    if found.reached:
        if yours.feasible and yours.evidence.tier is EvidenceTier.MEETS_TARGET:
            return f"{yours.pack.lab.money(yours.cost)} buy {yours.evidence.text}: target met."
        return f"No more money needed: adapted, it shows {options.least.after.evidence.text}."
    if not found.found and _is_worth_asking(yours):
        # What no means reach is not asked for; the plan as it is still shows more than the lab's.
        found = options.combinations(Goal.PLAN)
    if not found.found:
        goal = f"the target of {yours.evidence.amount(yours.evidence.target)}"
        known = "No means reach" if found.exact else "No way was found to reach"
        return f"{known} {goal} in this lab."
    return next(each for each in _headlines(options, found) if len(each.split()) <= MOST_WORDS)


def _is_worth_asking(yours: Assessment) -> bool:
    return not yours.feasible and yours.evidence.tier is EvidenceTier.ABOVE_FLOOR


def _headlines(options: PlanAnalysis, found: Combinations) -> Iterator[str]:
    """Yield the headlines of a way to a goal, the fullest first; the last one always fits."""
    one = found.by_money or found.found[0]
    shows, instead = one.plan.evidence.text, f" instead of {_best_here(options)}"
    asked, money = combinations.means_text(one), one.more(Dimension.BUDGET)
    asked = f"Give {asked}" if found.by_money else asked
    credits = options.yours.pack.lab.money(money, "more")
    others = f"{credits} and the means below" if money else "Give the means below"
    for means in (asked, others):
        for more in (instead, ""):
            yield f"{means}: {shows}{more}."


def _best_here(options: PlanAnalysis) -> str:
    """Return the evidence of the best plan in the lab as it is; that it is none where it is."""
    best = options.least.after
    return best.evidence.number if best.feasible and not best.evidence.void_reason else "nothing"


# --- the parts ------------------------------------------------------------------------------


def _cuts(options: PlanAnalysis) -> Iterator[Block]:
    """Yield each change from the plan to the one that gives up the least in the lab as it is."""
    yours, least = options.yours, options.least
    yield Sentence(options_text.search_text(options))
    if not least.changes or least.after.evidence.void_reason:
        text = "Nothing is cut: no plan for this lab gives up less."
        yield Sentence(text if yours.feasible and not least.changes else "")
        return
    made = all_changes(yours, least.changes, options.known)
    rows = [_row("The plan asked for", "", yours)]
    rows += [_row(*_change(each), each.step.after, _gives_up(each.step)) for each in made]
    name = f"Changes that fit this lab, one after the other, {yours.pack.lab.currency}"
    yield blocks.table(name, _columns("Change", "Saves", yours), rows)


def _change(each: Changed) -> tuple[str, str]:
    saved = each.step.credits_saved
    return change_text(each).title, amount_text(saved or 0).replace("-", "\u2212")


def _gives_up(step: PlanStep) -> str:
    """Return what a cut gives up besides those before it; its own name says what it changes."""
    more = step.after.fidelity_loss - step.before.fidelity_loss
    lost = f"{more} of fidelity" if more else ""
    return ". ".join(filter(None, (lost, newly_broken_text(step)))) or "nothing more"


def _less(options: PlanAnalysis) -> Iterator[Block]:
    """Yield the best plan for each share of the money that the lab has, or that the plan needs."""
    yours, found = options.yours, options.frontier
    lab = yours.pack.lab
    money, rows, shown = min(lab.budget, yours.cost), [], set[FrontierPlan]()
    for share in SHARES:
        best = found.best_for(money * share)
        named, amount = f"{percent_text(share)} of it", amount_text(money * share)
        if best is None:
            rows.append(blocks.row(named, amount, "no plan fits that shows anything", "", "", ""))
            break
        if best not in shown:
            shown.add(best)
            rows.append(_row(named, amount, options.judged(best.plan(yours.plan))))
    what = "what the plan costs" if money == yours.cost else "the lab’s budget"
    name = f"The most evidence for less than {lab.money(money)}, {what}"
    yield blocks.table(name, _columns("Money", "At most", yours), rows)


def _properly(options: PlanAnalysis) -> Iterator[Block]:
    """Yield what the plan as it is takes, and the smallest ways to reach the target."""
    yield Sentence(options_text.run_text(options.asks.run), "The plan as it is:")
    yield from combinations.blocks_of(options, Aim(Goal.TARGET), MOST_WAYS)
    if not options.combinations(Goal.TARGET).found:
        yield from combinations.blocks_of(options, Aim(Goal.FLOOR), MOST_WAYS)


def _columns(what: str, amount: str, plan: Assessment) -> tuple[Column, ...]:
    names = "The plan then", "Costs", "Evidence", "Gives up"
    return Column(what), Column(amount, "number"), *map(Column, names)


def _row(what: str, amount: str, plan: Assessment, gives_up: str | None = None) -> tuple[Cell, ...]:
    """Return a plan in a row: its size, what it costs and shows, and what it gives up."""
    return blocks.row(
        what,
        amount,
        size_text(plan),
        blocks.number_cell(plan.cost),
        evidence_cell(plan),
        combinations.lost_text(plan) if gives_up is None else gives_up,
    )


def _fitting(block: Block) -> Block:
    """Return a block no longer than there is room for on one page, whatever a study says."""
    if not isinstance(block, Table):
        return documents.fitting(block)
    first, others = _LONGEST if block.kind else _LISTED if block.totals else _SHORT
    rows = tuple(
        tuple(
            cell._replace(text=shortened(cell.text, others if at else first))
            for at, cell in enumerate(row)
        )
        for row in block.rows
    )
    return replace(block, rows=rows)
