"""The plans that nothing beats as rows: where a plan stands to them, and what more means buy."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from replicalab import assessment, planner
from replicalab.assessment import phrases
from replicalab.facts import check, texts
from replicalab.facts.blocks import Bar, Cell, Status, Table, Verdict, number_cell, table
from replicalab.facts.fact import Fact, moves
from replicalab.facts.options import least_days_text, proof_text, too_short
from replicalab.lexicon import CREDITS, amount_text, count_text, joined, money_text, plural
from replicalab.scenarios import Lab

ROOM: Final = 1.06  # How much higher the frontier's chart is than what stands in it
_VOID: Final = ", without which the study is void"


def priced_size_text(
    plan: assessment.Assessment | planner.FrontierPlan, lab: Lab | None = None
) -> str:
    """Return a plan in numbers: ``161 samples in 3 days for 2,210 credits``.

    Of a plan of the frontier the lab is given, too.
    """
    if not isinstance(plan, planner.FrontierPlan):
        return f"{phrases.size_text(plan)} for {plan.pack.lab.money(plan.cost)}"
    samples = phrases.planned_text(plan.samples, plan.analysed)
    cost = money_text(plan.credits, lab.currency if lab else CREDITS)
    return f"{samples} in {count_text(plan.days, 'day')} for {cost}"


def fits_text(plan: assessment.Assessment) -> str:
    """Return whether a plan fits, in a cell: ``yes, breaks a wish``, ``no: budget, staff``."""
    fits = f"no: {', '.join(map(plan.pack.study.term, plan.failing))}" if plan.failing else "yes"
    return ", ".join(filter(None, (fits, assessment.cautions_title(plan))))


def frontier_title(standing: Verdict, currency: str = CREDITS) -> str:
    """Return the title of the frontier's chart."""
    title = texts.FRONTIER_PASSED if standing.status is Status.PASS else texts.FRONTIER_BEATEN
    return title.format(currency=currency)


def scale_end(evidence: assessment.Evidence) -> float:
    """Return the upper end of the scale that a study's evidence is shown on; the lower one is 0."""
    return 2 * evidence.floor if evidence.row.scale.lower_is_better else 1.0


def shows_nothing(evidence: assessment.Evidence, value: float) -> bool:
    """Return whether a value of an evidence is what no samples at all are worth.

    A plan of too few samples for a test may be one that nothing beats: nothing is cheaper.
    """
    return value == evidence.row.scale.worst


def worth_text(evidence: assessment.Evidence, value: float) -> str:
    """Return a value of an evidence in a cell, and where it is none that it shows nothing."""
    nothing = ", shows nothing" if shows_nothing(evidence, value) else ""
    return f"{evidence.amount(value)}{nothing}"


def shows_a_plan(found: planner.Frontier, evidence: assessment.Evidence) -> bool:
    """Return whether a plan that nothing beats lies in the frontier's chart."""
    return any(plan.value <= scale_end(evidence) * ROOM for plan in found.plans)


def all_outside_text(found: planner.Frontier, evidence: assessment.Evidence) -> str:
    """Return that no plan that fits lies in the frontier's chart, and what the best one shows."""
    best = (min if evidence.row.scale.lower_is_better else max)(plan.value for plan in found.plans)
    return texts.OUTSIDE_PICTURE.format(evidence=evidence.text_of(evidence.amount(best)))


def standing_verdict(options: planner.PlanAnalysis) -> Verdict:
    """Return where a plan stands to the plans that nothing beats; see `standing_table`."""
    yours, frontier = options.yours, options.frontier
    void = yours.evidence.void_reason
    if not frontier.plans:
        return Verdict(Status.FAIL, "Nothing fits", " ".join(_nothing_fits(options)))
    better = better_plans(options)
    if not yours.feasible:
        text = texts.DOES_NOT_FIT.format(failing=phrases.failing_text(yours))
        extra = ""
        if not better and void:
            extra = texts.NOR_EVIDENCE.format(reason=void)
        elif not better:
            extra = texts.NONE_AS_STRONG if frontier.exact else texts.NONE_FOUND_AS_STRONG
        return Verdict(Status.FAIL, "Does not fit", f"{text} {extra}".strip())
    if better:
        return Verdict(Status.CAUTION, "Beaten", texts.BEATEN)
    if void:
        return Verdict(Status.FAIL, "No evidence", texts.PASSES_FOR_NOTHING.format(reason=void))
    if not frontier.exact:
        return Verdict(Status.CAUTION, "Unbeaten, not proven", texts.UNBEATEN_NOT_PROVEN)
    adding, currency = phrases.adding_none(yours), yours.pack.lab.currency
    status = Status.CAUTION if yours.dropped else Status.PASS
    return Verdict(status, "Unbeaten", texts.UNBEATEN.format(adding=adding, currency=currency))


def better_plans(options: planner.PlanAnalysis) -> dict[str, assessment.Assessment]:
    """Return plans that fit and are better, by how; else one with as much evidence."""
    yours, frontier = options.yours, options.frontier
    standing, evidence = frontier.standing(yours), yours.evidence
    better = {
        "Same evidence, cheaper": standing.cheaper,
        "More evidence, no dearer": standing.stronger,
        "Less given up, or faster": standing.gentler,
    }
    if not (any(better.values()) or yours.feasible or evidence.void_reason):
        minimum = options.least.after
        if minimum.feasible and minimum.evidence.text == evidence.text:
            return {"Least loss, as much evidence": minimum}
        better = {"As much evidence": frontier.as_strong(evidence)}
    return {name: options.judged(plan.plan(yours.plan)) for name, plan in better.items() if plan}


def standing_table(options: planner.PlanAnalysis) -> Table:
    """Return a plan, the better ones that fit, and the balanced one."""
    plans = {check.YOURS: options.yours, **better_plans(options)}
    balanced = options.balanced
    plans |= {} if balanced is None else {"Balanced": balanced}
    table = check.plans_table(plans)
    return replace(table, caption=f"Plans that fit. {table.caption}")


def balance_text(options: planner.PlanAnalysis) -> str:
    """Return that there is no balanced plan, empty if there is one."""
    if options.balanced is not None:
        return ""
    evidence = options.yours.evidence
    none = "none that fits" if options.frontier.exact else "none that was found to fit"
    return texts.NO_BALANCE.format(none=none, floor=evidence.amount(evidence.floor))


def _nothing_fits(options: planner.PlanAnalysis) -> Iterator[str]:
    """Yield that no plan that fits has evidence, what is proven of that, and what it would take.

    In fewer days than the endpoint needs nothing is shown, so of evidence it holds for any days.
    """
    yours, asks = options.yours, options.asks
    proof = "" if too_short(yours.pack) else proof_text(options.least)
    yield proof or texts.NONE_WITH_EVIDENCE
    if yours.feasible:
        yield texts.PASSES_FOR_NOTHING.format(reason=yours.evidence.void_reason)
    if asks.alone_floor:
        ways = joined([single.ask.text for single in asks.alone_floor], "or")
        yield texts.TO_REACH_FLOOR.format(ways=ways)
    elif asks.run.possible and asks.run.asks:
        yield texts.TO_RUN_YOURS.format(additions=planner.additions_text(asks.run.asks))


def swap_text(old: str, new: str | None = None) -> str:
    """Return what is replaced by what, or done without: ``'B' for 'A'``, ``no 'A'``."""
    return (texts.DONE_WITHOUT if new is None else texts.REPLACED).format(old=old, new=new)


def given_up_text(plan: assessment.Assessment) -> str:
    """Return which substitutions and dropped controls a plan's fidelity loss comes from."""
    parts = [swap_text(s.original, s.alternative) for s in plan.substitutions if s.fidelity_loss]
    parts += [
        f"{swap_text(control.name)}{'' if control.droppable else _VOID}" for control in plan.dropped
    ]
    return "; ".join(parts) or "nothing"


def lost_text(plan: assessment.Assessment) -> str:
    """Return what a plan gives up and how many of the study's wishes it breaks, in a cell."""
    breaks, given_up = phrases.wishes_title(plan.broken_wishes), given_up_text(plan)
    if not breaks:
        return given_up
    return f"{given_up}; {breaks}" if plan.fidelity_loss else breaks


# --- more means -----------------------------------------------------------------------------


def extra_facts(options: planner.PlanAnalysis) -> Iterator[Fact]:
    """Yield the smallest step beyond each amount of the lab, with what it buys."""
    if not any(options.least.rank[:5]):
        caution = assessment.cautions_title(options.least.after)
        yield Fact("none", "None needed", texts.NO_ADDITION, note=caution)
        return
    for extra in options.extras:
        yield _extra_fact(extra)
    bought = {extra.ask.dimension for extra in options.extras}
    currency = options.yours.pack.lab.currency
    for row in assessment.DIMENSION_ROWS.values():
        if row.is_amount and row.is_granted and row.key not in bought:
            noun = currency if row.currency else plural(row.noun, 2)
            yield Fact(row.key, f"More {noun}", "buys nothing alone")


def _extra_fact(extra: planner.SmallestAddition) -> Fact:
    before, after = extra.before.after, extra.after.after
    changed = [
        f"{fact.label.lower()} {fact.text}"
        for fact in moves(before, after)
        if fact.key not in ("cost", "analysed")
    ]
    if not after.feasible:
        none = "no plan" if extra.after.exact else "no plan found"
        changed.append(f"{none}{least_days_text(after.pack)} fits: {phrases.failing_text(after)}")
    elif not before.feasible:
        changed.insert(0, "a plan fits")
    status = None if after.feasible else Status.FAIL
    label, caution = f"+{extra.ask.amount_text()}", assessment.cautions_title(after)
    return Fact(extra.ask.dimension, label, ", ".join(changed), status=status, note=caution)


# --- its table --------------------------------------------------------------------------------


def frontier_table(options: planner.PlanAnalysis) -> Table:
    """Return plans of each line: the cheapest, the dearest, and some between them."""
    frontier = options.frontier
    listed, plans = len(frontier.listed), amount_text(len(frontier.plans))
    currency = options.yours.pack.lab.currency
    caption = texts.FRONTIER_CAPTION.format(listed=listed, plans=plans, currency=currency)
    names = ("Plan", "Evidence", "Fidelity loss", "Given up")
    rows = [_frontier_row(plan, options) for plan in frontier.listed]
    return table(caption, names, rows, kind="plain")


def _frontier_row(
    plan: planner.FrontierPlan, options: planner.PlanAnalysis
) -> tuple[Cell | str, ...]:
    yours = options.yours
    balanced = " (balanced)" if plan is options.frontier.balanced else ""
    return (
        f"{priced_size_text(plan, yours.pack.lab)}{balanced}",
        Cell(
            worth_text(yours.evidence, plan.value),
            plan.value,
            bar=worth_bar(yours.evidence, plan.value),
        ),
        number_cell(plan.loss),
        lost_text(options.judged(plan.plan(yours.plan))),
    )


def worth_bar(evidence: assessment.Evidence, value: float) -> Bar:
    """Return a value as a bar on the scale of the charts; better is always longer."""
    end, lower_is_better = scale_end(evidence), evidence.row.scale.lower_is_better

    def share(at: float) -> float:
        part = min(1.0, at / end)
        return 1 - part if lower_is_better else part

    return Bar(share(value), limit=share(evidence.target), floor=share(evidence.floor))
