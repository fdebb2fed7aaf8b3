"""One page for a funder: the plan asked for, what each cut costs, and the price of the target."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Final

from replicalab.assessment import Assessment
from replicalab.assessment.phrases import size_text, wishes_text
from replicalab.drafts import stated
from replicalab.facts import blocks, documents, texts
from replicalab.facts import options as options_text
from replicalab.facts.blocks import Block, Cell, Column, Document, Sentence, part
from replicalab.facts.changes import Changed, all_changes, change_text, changes_table
from replicalab.facts.lab import lab_text
from replicalab.facts.plan import newly_broken_text, term_text
from replicalab.facts.verdicts import evidence_cell, plan_verdict
from replicalab.lexicon import amount_text, capitalised, percent_text
from replicalab.planner import PlanAnalysis, PlanStep
from replicalab.planner.frontier import FrontierPlan
from replicalab.planner.shortfalls import Addition, additions_text
from replicalab.registration import Registration
from replicalab.scenarios import EvidenceTier

MOST_WORDS: Final = 12  # A headline has at most so many words

SHARES: Final = (0.9, 0.75, 0.5, 0.25)  # Of the money, for each of which the best plan is shown


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
        part("What it would take", *documents.take_blocks(options, 2)),
    )
    return Document(
        title=headline(options),
        about=f"Funding request · {pack.paper.name} · {lab_text(pack)} · {documents.day_text(on)}",
        parts=parts,
        foot=documents.origin_lines(yours),
        compact=True,
        authors=authors,
        on=on,
    )


# --- the headline ---------------------------------------------------------------------------


def headline(options: PlanAnalysis) -> str:
    """Return the request and its gain in at most `MOST_WORDS` words.

    ``Give 630 more credits: power 0.81 instead of 0.52.``
    """
    yours, best = options.yours, options.least.after
    evidence, lab = yours.evidence, yours.pack.lab
    cheaper = _better_for_less(options)
    if yours.feasible and evidence.tier is EvidenceTier.MEETS_TARGET:
        if cheaper is not None:
            return f"{capitalised(lab.money(cheaper.cost))} buy {cheaper.evidence.text}, adapted."
        return f"{capitalised(lab.money(yours.cost))} buy {evidence.text}: target met."
    best = cheaper or best
    if best.feasible and best.evidence.tier is EvidenceTier.MEETS_TARGET:
        return f"No more money needed: adapted, it shows {best.evidence.text}."
    is_shown = best.feasible and not best.evidence.void_reason
    now = best.evidence.number if is_shown else "nothing"
    for asks, after in _ways(options):
        gain = f"{after.evidence.text} instead of {now}"
        named = (f"Give {additions_text(asks)}: {gain}.", f"Give the means below: {gain}.")
        return next(text for text in named if len(text.split()) <= MOST_WORDS)
    target = evidence.text_of(evidence.amount(evidence.target))
    return f"The lab cannot reach the target of {target}."


def _better_for_less(options: PlanAnalysis) -> Assessment | None:
    """Return the plan for less money that shows more than the one in the headline, if any does."""
    yours, minimum = options.yours, options.least.after
    meets = yours.feasible and yours.evidence.tier is EvidenceTier.MEETS_TARGET
    named = yours if meets else minimum
    plan = options.frontier.best_for(_money(yours) * SHARES[0])
    if plan is None or (
        named.feasible and not named.evidence.row.scale.reaches(plan.value, named.evidence.value)
    ):
        return None
    after = options.judged(plan.plan(yours.plan))
    same = after.evidence.text == named.evidence.text and named.feasible
    return None if same or after.evidence.void_reason else after


def _money(yours: Assessment) -> float:
    """Return the money that the request is about: the plan's cost, at most the lab's budget."""
    return min(yours.pack.lab.budget, yours.cost)


def _ways(options: PlanAnalysis) -> Iterator[tuple[tuple[Addition, ...], Assessment]]:
    """Yield ways to more evidence, the best first: the additions, and the plan with them."""
    for single in options.asks.alone_target:
        yield (single.ask,), single.least.after
    for relief in filter(None, (options.asks.target, options.asks.run)):
        is_enough = relief.asks and relief.possible
        if is_enough and relief.judged.evidence.tier is not EvidenceTier.BELOW_FLOOR:
            yield relief.asks, relief.judged


# --- the parts ------------------------------------------------------------------------------


def _cost_text(plan: Assessment) -> str:
    lab = plan.pack.lab
    terms = [
        f"{plan.pack.study.term(term.label)}: {term_text(term)} = {amount_text(term.credits)}"
        for term in plan.cost_terms
    ]
    cost, budget = lab.money(plan.cost), lab.money(lab.budget)
    return texts.IN_ALL.format(terms="; ".join(terms), cost=cost, budget=budget)


def _cuts(options: PlanAnalysis) -> Iterator[Block]:
    """Yield each change from the plan to the one that gives up the least in the lab as it is."""
    yours, loss = options.yours, options.least
    yield Sentence(options_text.search_text(options))
    if not loss.changes or loss.after.evidence.void_reason:
        text = "Nothing more is cut from the plan asked for: no plan for this lab gives up less."
        yield Sentence(text if yours.feasible and not loss.changes else "")
        yield from _cut_already(yours)
        return
    made = all_changes(yours, loss.changes, options.known)
    rows = [_row("The plan asked for", "", yours)]
    rows += [
        _row(*_change(changed), changed.step.after, _gives_up(changed.step)) for changed in made
    ]
    name = f"Changes that fit this lab, one after the other, {yours.pack.lab.currency}"
    yield blocks.table(name, _columns("Change", "Saves", yours), rows)


def _cut_already(yours: Assessment) -> Iterator[Block]:
    """Yield what the plan asked for changes of the study's own, where it is another."""
    reference = documents.reference_of(yours)
    if reference is not yours:
        yield changes_table(reference, yours)


def _change(each: Changed) -> tuple[str, str]:
    saved = each.step.credits_saved
    return change_text(each).title, amount_text(saved or 0).replace("-", "\u2212")


def _gives_up(step: PlanStep) -> str:
    """Return what a cut gives up besides those before it; its own name says what it changes."""
    extra = step.after.fidelity_loss - step.before.fidelity_loss
    lost = f"{extra} of fidelity" if extra else ""
    return ". ".join(filter(None, (lost, newly_broken_text(step)))) or "nothing more"


def _less(options: PlanAnalysis) -> Iterator[Block]:
    """Yield the best plan for each share of the money that the lab has, or that the plan needs."""
    yours, result = options.yours, options.frontier
    lab = yours.pack.lab
    money, rows, plans = _money(yours), [], set[FrontierPlan]()
    for share in SHARES:
        best = result.best_for(money * share)
        named, amount = f"{percent_text(share)} of it", amount_text(money * share)
        if best is None or best.value == yours.evidence.row.scale.worst:
            rows.append(blocks.row(named, amount, "no plan fits that shows anything", "", "", ""))
            break
        if best not in plans:
            plans.add(best)
            rows.append(_row(named, amount, options.judged(best.plan(yours.plan))))
    what = "what the plan costs" if money == yours.cost else "the lab’s budget"
    name = f"The most evidence for less than {lab.money(money)}, {what}"
    yield blocks.table(name, _columns("Money", "At most", yours), rows)


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
        _lost_text(plan) if gives_up is None else gives_up,
    )


def _lost_text(plan: Assessment) -> str:
    lost = f"{plan.fidelity_loss} of fidelity" if plan.fidelity_loss else ""
    return "; ".join(filter(None, (lost, wishes_text(plan, plan.broken_wishes)))) or "nothing"
