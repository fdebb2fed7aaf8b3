"""The Pareto frontier as rows: a plan against better ones, and the value of more means."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from replicalab import assessment, lexicon, planner
from replicalab.assessment import Assessment, Evidence, phrases
from replicalab.facts import check_facts, texts
from replicalab.facts.blocks import Bar, Cell, Fact, Status, Table, Verdict, number_cell, table
from replicalab.facts.change_facts import least_days_text, proof_text, too_short_text
from replicalab.facts.negotiation_facts import step_changes
from replicalab.facts.plan_facts import evidence_text, fidelity_move

ROOM: Final = 1.06  # height of the frontier's chart over its highest mark
_VOID: Final = ", without which the study is void"
_PASSES: Final = "Your plan passes every dimension"
_BETTER: Final = (
    "One plan is better on cost, days, evidence or fidelity, and at least as good on the others."
)
_LEAST: Final = " Least loss keeps the study's days; the frontier counts fewer days as better."


def scale_end(evidence: Evidence) -> float:
    """Return the upper end of the scale of a study's evidence; the lower one is 0."""
    return 2 * evidence.floor if evidence.row.scale.lower_is_better else 1.0


def standing_verdict(analysis: planner.PlanAnalysis) -> Verdict:
    """Return whether the plan is on the Pareto frontier, as a sentence; see `standing_table`."""
    yours, frontier = analysis.yours, analysis.frontier
    void = yours.evidence.void_reason
    if not frontier.plans:
        # In fewer days than the endpoint needs, no plan has evidence, so a proof adds nothing.
        proof = "" if too_short_text(yours.pack) else proof_text(analysis.least)
        text = proof or "No plan that fits this lab has any evidence."
        shown = f" {_PASSES} and shows nothing: {void}." if yours.feasible else ""
        return Verdict(Status.FAIL, "Nothing fits", f"{text}{shown}")
    better = better_plans(analysis)
    if not yours.feasible:
        text = f"Your plan does not fit this lab: {yours.fails_text}."
        return Verdict(Status.FAIL, "Does not fit", text)
    if better:
        least = _LEAST if analysis.least.plan == yours.plan else ""
        return Verdict(Status.CAUTION, "Off the frontier", f"{_BETTER}{least}")
    if void:
        return Verdict(Status.FAIL, "No evidence", f"{_PASSES} and shows nothing: {void}.")
    if not frontier.exact:
        text = f"No better plan was found. {texts.NOT_ALL_SEARCHED}"
        return Verdict(Status.CAUTION, "On the frontier, not proven", text)
    text = (
        f"Nothing{yours.no_control_text} beats your plan: more evidence takes more "
        f"{yours.pack.lab.currency}, more days, or a greater fidelity loss."
    )
    return Verdict(Status.CAUTION if yours.dropped else Status.PASS, "On the frontier", text)


def better_plans(analysis: planner.PlanAnalysis) -> dict[str, Assessment]:
    """Return feasible plans that are better, by how; else one with as much evidence."""
    yours, frontier = analysis.yours, analysis.frontier
    standing, evidence = frontier.standing(yours), yours.evidence
    better = {
        "Same evidence, cheaper": standing.cheaper,
        "More evidence, same cost or less": standing.stronger,
        "Less fidelity loss, or fewer days": standing.gentler,
    }
    if not (any(better.values()) or yours.feasible or evidence.void_reason):
        least = analysis.least.after
        if least.feasible and least.evidence.text == evidence.text:
            return {"Least loss, as much evidence": least}
        better = {"As much evidence": frontier.as_strong(evidence)}
    return {name: yours.revised(plan.plan(yours.plan)) for name, plan in better.items() if plan}


def standing_table(analysis: planner.PlanAnalysis) -> Table:
    """Return a plan, the better ones that fit, and the balanced one."""
    plans = {check_facts.YOURS: analysis.yours, **better_plans(analysis)}
    if analysis.balanced is not None:
        plans["Balanced"] = analysis.balanced
    table = check_facts.plans_table(plans)
    return replace(table, caption=f"Plans that fit. {table.caption}")


def swap_text(old: str, new: str | None = None) -> str:
    """Return a substitution, or a control that is dropped: ``'B' instead of 'A'``, ``no 'A'``."""
    quoted = lexicon.quoted([old] if new is None else [new, old])
    return f"no {quoted[0]}" if new is None else " instead of ".join(quoted)


def given_up_text(plan: Assessment) -> str:
    """Return the substitutions and dropped controls behind a plan's fidelity loss."""
    parts = [swap_text(s.original, s.alternative) for s in plan.substitutions if s.fidelity_loss]
    parts += [swap_text(c.name) + ("" if c.droppable else _VOID) for c in plan.dropped]
    return "; ".join(parts) or "nothing"


def extra_facts(analysis: planner.PlanAnalysis) -> Iterator[Fact]:
    """Yield the smallest useful addition to each amount of the lab, with its effect."""
    if not any(analysis.least.rank[:5]):
        caution = analysis.least.after.cautions_title
        text = "The least-loss plan meets the target and loses no fidelity."
        yield Fact("none", "None needed", text, note=caution)
        return
    yield from map(_extra_fact, analysis.extras)
    bought = {extra.ask.dimension for extra in analysis.extras}
    currency = analysis.yours.pack.lab.currency
    for row in assessment.DIMENSION_ROWS.values():
        if row.lab_limit and row.is_addable and row.key not in bought:
            noun = currency if row.currency else lexicon.plural(row.noun, 2)
            yield Fact(row.key, f"More {noun}", "no gain on its own")


def _extra_fact(extra: planner.SmallestAddition) -> Fact:
    step = planner.PlanStep(extra.before.after, extra.after.after)
    before, after = step.before, step.after
    moved = evidence_text(step) if step.evidence_changed else ""
    changed = [*filter(None, (step_changes(step), moved, fidelity_move(step)))]
    if not after.feasible:
        none = "no plan" if extra.after.exact else "no plan found"
        changed.append(f"{none}{least_days_text(after.pack)} fits: {after.fails_text}")
    elif not before.feasible:
        changed.insert(0, "a plan fits")
    status, caution = None if after.feasible else Status.FAIL, after.cautions_title
    label = f"+{extra.ask.amount_text()}"
    return Fact(extra.ask.dimension, label, ", ".join(changed), status=status, note=caution)


def frontier_table(analysis: planner.PlanAnalysis) -> Table:
    """Return plans of each line: the cheapest, the most expensive, and some between them."""
    frontier, yours = analysis.frontier, analysis.yours
    lab, evidence, rows = yours.pack.lab, yours.evidence, list[tuple[Cell | str, ...]]()
    for plan in frontier.listed:
        judged = yours.revised(plan.plan(yours.plan))
        balanced = " (balanced)" if plan is frontier.balanced else ""
        nothing = ", shows nothing" if plan.value == evidence.row.scale.worst else ""
        value = f"{evidence.format(plan.value)}{nothing}"
        rows.append(
            (
                f"{judged.size_text} for {lab.money(judged.cost)}{balanced}",
                Cell(value, plan.value, bar=worth_bar(evidence, plan.value)),
                number_cell(plan.loss),
                Cell(given_up_text(judged), note=phrases.wishes_title(judged.broken_wishes)),
            )
        )
    caption = f"{len(rows)} of {len(frontier.plans):,} plans, spaced by {lab.currency} on each line"
    return table(caption, ("Plan", "Evidence", "Fidelity loss", "Given up"), rows, kind="plain")


def worth_bar(evidence: Evidence, value: float) -> Bar:
    """Return a value as a bar on the scale of the charts; better is always longer."""
    end, lower_is_better = scale_end(evidence), evidence.row.scale.lower_is_better

    def share(at: float) -> float:
        part = min(1.0, at / end)
        return 1 - part if lower_is_better else part

    return Bar(share(value), limit=share(evidence.target), floor=share(evidence.floor))
