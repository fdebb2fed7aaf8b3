"""One page for a funder: the plan asked for, what each cut costs, and the price of the target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Final

from replicalab.assessment import Assessment
from replicalab.assessment.phrases import size_text
from replicalab.drafts import stated
from replicalab.lexicon import (
    amount_text,
    capitalised,
    count_text,
    cut_short,
    joined,
    percent_text,
)
from replicalab.models import Dimension
from replicalab.planner import Aim, Goal, PlanAnalysis, PlanStep
from replicalab.planner.combinations import Combinations
from replicalab.planner.frontier import FrontierPlan
from replicalab.registration import Registration
from replicalab.scenarios import EvidenceTier
from replicalab.views import blocks, combinations, documents, frontier, standing
from replicalab.views import options as options_text
from replicalab.views.blocks import Block, Cell, Column, Document, Sentence, Table, part
from replicalab.views.changes import Changed, all_changes, change_text, changes_table
from replicalab.views.lab import lab_text
from replicalab.views.plan import moved_text, newly_broken_text, term_text
from replicalab.views.verdicts import evidence_cell, plan_verdict

MOST_WORDS: Final = 12
"""A headline has at most so many words."""

_ENDINGS: Final = {
    None: ": target met",
    standing.Looked.MISSES: ": target missed",
    standing.Looked.UNKNOWN: "; with looks not worked out",
    standing.Looked.OVER: ", but may not fit",
}
"""How the headline of a plan that meets the target without looks ends."""

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
            Sentence(stated(pack.paper.goal)),
            documents.unstated_sentence({documents.GOAL: pack.paper.goal}),
            documents.sized_sentence(yours),
            documents.verdict_sentence(plan_verdict(yours)),
        ),
        part("Cost", Sentence(_cost_text(yours))),
        part("What the lab’s own means buy", *_cuts(options)),
        part("What less money would buy", *_less(options)),
        part("What the target takes", *_properly(options)),
    )
    name = cut_short(pack.paper.name, documents.LONGEST)
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
        return _first(_reached(options))
    if not found.found and _is_worth_asking(yours):
        # What no means reach is not asked for; the plan as it is still shows more than the lab's.
        found = options.combinations(Goal.PLAN)
    if not found.found:
        goal = f"the target of {yours.evidence.amount(yours.evidence.target)}"
        known = "No means reach" if found.exact else "No way was found to reach"
        return f"{known} {goal} in this lab."
    return _first(_headlines(options, found))


def _first(headlines: Iterator[str]) -> str:
    return next(each for each in headlines if len(each.split()) <= MOST_WORDS)


def _is_worth_asking(yours: Assessment) -> bool:
    return not yours.feasible and yours.evidence.tier is EvidenceTier.ABOVE_FLOOR


def _reached(options: PlanAnalysis) -> Iterator[str]:
    """Yield the headlines of a target that the lab reaches, the fullest first.

    Of a study with looks it is what the plan shows with them, since so it is run.
    """
    yours = options.yours
    is_asked = yours.feasible and yours.evidence.tier is EvidenceTier.MEETS_TARGET
    plan = yours if is_asked else options.least.after
    against, lost = standing.standing_title(plan), _lost(options, plan)
    buys = ", ".join(filter(None, ("adapted", lost, "it shows")))
    if is_asked:
        buys = f"{yours.pack.lab.money(yours.cost)} buy"
    shows = f"{buys} {standing.shown_text(plan)}"
    if against or is_asked:
        yield f"{capitalised(shows)}{_ENDINGS[against]}."
    else:
        yield f"No more money needed: {shows}."
    yield f"{capitalised(shows)}."


def _headlines(options: PlanAnalysis, found: Combinations) -> Iterator[str]:
    """Yield the headlines of a way to a goal, the fullest first; the last one always fits."""
    one = found.by_money or found.found[0]
    asked, money = combinations.means_text(one), one.more(Dimension.BUDGET)
    asked = f"Give {asked}" if found.by_money else asked
    credits = options.yours.pack.lab.money(money, "more")
    others = f"{credits} and the means below" if money else "Give the means below"
    *bought, least = _bought(options, one.plan)
    below = "Give the means below"
    yield from (f"{means}: {each}." for means in (asked, others, below) for each in bought)
    yield f"{below}: {least}."


def _bought(options: PlanAnalysis, plan: Assessment) -> Iterator[str]:
    """Yield what a way buys, the fullest first: more evidence, and what it gives up for that.

    Where the lab shows as much as it is, the plan as it was asked for is what is bought.
    """
    shows, number, best = (
        standing.shown_text(plan),
        standing.shown_number(plan),
        _best_here(options),
    )
    lost = f", {text}" if (text := _lost(options, plan)) else ""
    if number == best and plan.plan == options.yours.plan:
        yield f"{_larger(options.least.after, plan)}, {shows} either way"
        yield f"the plan as asked, {shows} either way"
        yield "the plan as asked"
        return
    if number != best:
        yield f"{shows} instead of {best}{lost}"
    yield f"{shows}{lost}"
    yield f"{plan.evidence.measure} {number}{lost}"
    yield f"{number}{lost}"


def _larger(before: Assessment, after: Assessment) -> str:
    """Return by how much a plan is larger: ``6 more days``; else that it is the one asked for."""
    pairs = (
        (before.counts.samples, after.counts.samples, "sample"),
        (before.counts.days, after.counts.days, "day"),
    )
    more = [moved_text(*pair) for pair in pairs if pair[1] > pair[0]]
    return joined(more) or "the plan as asked"


def _lost(options: PlanAnalysis, plan: Assessment) -> str:
    """Return what a plan gives up of the one asked for, in a few words; empty where nothing.

    ``without 1 control``, ``with 1 substitute``; of both ``fidelity loss 2``.
    """
    yours, dropped = options.yours, len(PlanStep(options.yours, plan).newly_dropped)
    swaps = [each for each in plan.substitutions if each not in yours.substitutions]
    swapped = sum(1 for each in swaps if each.fidelity_loss)
    if dropped and swapped:
        return f"fidelity loss {plan.fidelity_loss}"
    if swapped:
        return f"with {count_text(swapped, 'substitute')}"
    return f"without {count_text(dropped, 'control')}" if dropped else ""


def _best_here(options: PlanAnalysis) -> str:
    """Return the evidence of the best plan in the lab as it is; that it is none where it is."""
    best = options.least.after
    if not best.feasible or best.evidence.void_reason:
        return "nothing"
    return standing.shown_number(best)


# --- the parts ------------------------------------------------------------------------------


def _cost_text(plan: Assessment) -> str:
    lab = plan.pack.lab
    terms = [
        f"{term.label}: {term_text(term)} = {amount_text(term.credits)}" for term in plan.cost_terms
    ]
    return f"{'; '.join(terms)}. In all {lab.money(plan.cost)} of {lab.money(lab.budget)}."


def _cuts(options: PlanAnalysis) -> Iterator[Block]:
    """Yield each change from the plan to the one that gives up the least in the lab as it is."""
    yours, least = options.yours, options.least
    yield Sentence(options_text.search_text(options))
    if not least.changes or least.after.evidence.void_reason:
        text = "Nothing more is cut from the plan asked for: no plan for this lab gives up less."
        yield Sentence(text if yours.feasible and not least.changes else "")
        yield from _cut_already(yours)
        return
    made = all_changes(yours, least.changes, options.known)
    rows = [_row("The plan asked for", "", yours)]
    rows += [_row(*_change(each), each.step.after, _gives_up(each.step)) for each in made]
    name = f"Changes that fit this lab, one after the other, {yours.pack.lab.currency}"
    yield blocks.table(name, _columns("Change", "Saves", yours), rows)


def _cut_already(yours: Assessment) -> Iterator[Block]:
    """Yield what the plan asked for changes of the study's own, where it is another."""
    reference = documents.reference_of(yours)
    if reference is not yours:
        yield changes_table(reference, yours, documents.LONGEST)


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
        if best is None or frontier.shows_nothing(yours.evidence, best.value):
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
            cell._replace(text=cut_short(cell.text, others if at else first))
            for at, cell in enumerate(row)
        )
        for row in block.rows
    )
    return replace(block, rows=rows)
