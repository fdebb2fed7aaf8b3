"""The plans that nothing beats in words: where a plan stands to them, and what more means buy."""

from typing import Final

from replicalab import assessment, planner
from replicalab.assessment import phrases
from replicalab.facts.blocks import Bar, Cell, Status, Table, Verdict, number_cell, table
from replicalab.facts.options import least_days_text, proof_text, too_short
from replicalab.facts.plan import (
    evidence_text,
    fidelity_move,
    loss_parts_text,
    moved_text,
    wishes_move,
    with_cautions,
)
from replicalab.lexicon import CREDITS, amount_text, count_text, joined, money_text, plural
from replicalab.models import Dimension
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
    """Return what the frontier's chart shows."""
    unbeaten = standing.status is Status.PASS
    mine = "where your plan stands" if unbeaten else "what can be had instead"
    return f"Evidence for {currency}: {mine}"


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
    scale = evidence.row.scale
    best = (min if scale.lower_is_better else max)(plan.value for plan in found.plans)
    text = evidence.text_of(evidence.amount(best))
    return f"No plan that fits lies in the picture: the best has {text}."


def standing_verdict(options: planner.PlanAnalysis) -> Verdict:
    """Return where a plan stands to the plans that nothing beats."""
    yours, found = options.yours, options.frontier
    if not found.plans:
        return _nothing_fits(options)
    better = _better_text(options, found.standing(yours))
    if not yours.feasible:
        text = f"Your plan does not fit this lab: {phrases.failing_text(yours)}."
        return Verdict(Status.FAIL, "Does not fit", f"{text} {better or _as_much_text(options)}")
    if better:
        return Verdict(Status.CAUTION, "Beaten", better)
    if yours.evidence.void_reason:
        return Verdict(Status.FAIL, "No evidence", _passes_for_nothing(yours))
    if not found.exact:
        text = (
            "Nothing that was found beats your plan. That is not proven: not every combination of "
            "its many items and controls could be searched."
        )
        return Verdict(Status.CAUTION, "Unbeaten, not proven", with_cautions(text, yours))
    text = (
        f"Nothing{phrases.adding_none(yours)} beats your plan: more evidence takes more "
        f"{yours.pack.lab.currency}, more days, or more given up of the study."
    )
    status = Status.CAUTION if yours.dropped else Status.PASS
    return Verdict(status, "Unbeaten", with_cautions(text, yours))


def _passes_for_nothing(plan: assessment.Assessment) -> str:
    return f"Your plan passes all seven dimensions and shows nothing: {plan.evidence.void_reason}."


def _better_text(options: planner.PlanAnalysis, standing: planner.Standing) -> str:
    cheaper, stronger, gentler = standing.cheaper, standing.stronger, standing.gentler
    yours, lines = options.yours, []
    lab = yours.pack.lab
    if cheaper is not None:
        less = lab.money(yours.cost - cheaper.credits)
        lines.append(_rival_text(f"The same evidence costs {less} less", cheaper, options))
    if stronger is not None:
        text, instead = (
            f"For no more {lab.currency} and days",
            f", instead of {yours.evidence.text}",
        )
        lines.append(_rival_text(text, stronger, options, instead))
    if gentler is not None:
        none = f"As much evidence for no more {lab.currency}"
        text = f"{none}, with less given up or in fewer days"
        lines.append(_rival_text(text, gentler, options, f", fidelity loss {gentler.loss}"))
    return " ".join(lines)


def _rival_text(
    text: str, rival: planner.FrontierPlan, options: planner.PlanAnalysis, more: str = ""
) -> str:
    """Return a text about a plan that fits, its numbers, and its cautions."""
    yours = options.yours
    evidence = yours.evidence.text_of(yours.evidence.amount(rival.value))
    plan, size = options.judged(rival.plan(yours.plan)), priced_size_text(rival, yours.pack.lab)
    return with_cautions(f"{text}: {size}, {evidence}{more}.", plan)


def _as_much_text(options: planner.PlanAnalysis) -> str:
    """Return which plan that fits has as much evidence, at the precision shown, if one has."""
    yours, least, found = options.yours, options.least.after, options.frontier
    evidence, lab = yours.evidence, yours.pack.lab
    if evidence.void_reason:
        return f"Nor would it yield evidence: {evidence.void_reason}."
    if least.feasible and least.evidence.text == evidence.text:
        saved = yours.cost - least.cost
        cost = f"{lab.money(abs(saved))} {'less' if saved > 0 else 'more'}"
        cost = cost if saved else f"as many {lab.currency}"
        fits = f"The least-loss plan fits and has {evidence.text} too, for {cost}."
        return with_cautions(fits, least)
    rival = found.as_strong(evidence)
    if rival is None:
        none = "No plan that fits" if found.exact else "No plan that was found to fit"
        return f"{none} has as much evidence as yours."
    loss = f", fidelity loss {rival.loss}" if rival.loss else ""
    return _rival_text("A plan that fits has as much evidence", rival, options, loss)


def _nothing_fits(options: planner.PlanAnalysis) -> Verdict:
    """Return that no plan that fits has evidence, what is proven of that, and what it would take.

    In fewer days than the endpoint needs nothing is shown, so of evidence it holds for any days.
    """
    yours, asks = options.yours, options.asks
    proof = "" if too_short(yours.pack) else proof_text(options.least)
    lines = [proof or "No plan that fits this lab has any evidence."]
    if yours.feasible:
        lines.append(_passes_for_nothing(yours))
    if asks.alone_floor:
        ways = joined([single.ask.text for single in asks.alone_floor], "or")
        lines.append(f"It would take {ways} to reach the floor.")
    elif asks.run.possible and asks.run.asks:
        lines.append(f"To run your plan it would take {planner.additions_text(asks.run.asks)}.")
    return Verdict(Status.FAIL, "Nothing fits", " ".join(lines))


def swap_text(old: str, new: str | None = None) -> str:
    """Return what is replaced by what, or done without: ``'B' for 'A'``, ``no 'A'``."""
    return f"no '{old}'" if new is None else f"'{new}' for '{old}'"


def fidelity_text(plan: assessment.Assessment) -> str:
    """Return a plan's fidelity loss as a sum, with its parts if it has two.

    ``fidelity loss 3 in all (substitution 2, dropped control 1)``.
    """
    parts = sum(1 for each in plan.substitutions if each.fidelity_loss) + len(plan.dropped)
    total = f"fidelity loss {plan.fidelity_loss}"
    return f"{total} in all ({loss_parts_text(plan)})" if parts > 1 else total


def given_up_text(plan: assessment.Assessment) -> str:
    """Return which substitutions and dropped controls a plan's fidelity loss comes from."""
    parts = [swap_text(s.original, s.alternative) for s in plan.substitutions if s.fidelity_loss]
    parts += [f"{swap_text(each.name)}{'' if each.droppable else _VOID}" for each in plan.dropped]
    return "; ".join(parts) or "nothing"


def lost_text(plan: assessment.Assessment) -> str:
    """Return what a plan gives up and how many of the study's wishes it breaks, in a cell."""
    breaks, given_up = phrases.wishes_title(plan.broken_wishes), given_up_text(plan)
    if not breaks:
        return given_up
    return f"{given_up}; {breaks}" if plan.fidelity_loss else breaks


def balance_text(options: planner.PlanAnalysis) -> str:
    """Return the Nash point as what each side gains by agreeing on it."""
    evidence, balanced = options.yours.evidence, options.balanced
    floor = evidence.amount(evidence.floor)
    if balanced is None:
        none = "none that fits" if options.frontier.exact else "none that was found to fit"
        return (
            f"There is no balanced plan: {none} reaches the floor of {floor}, so an "
            "agreement would leave the Scientist with nothing."
        )
    loss, budget = fidelity_text(balanced), balanced.pack.lab.budget
    given_up = f" It gives up some of the study: {loss}." if balanced.fidelity_loss else ""
    left = balanced.pack.lab.money(budget - balanced.cost)
    text = (
        f"The balanced plan is {priced_size_text(balanced)}. Both sides gain: the Scientist has "
        f"{balanced.evidence.text} against a floor of {floor}, and "
        f"{left} of {amount_text(budget)} are left over.{given_up}"
    )
    return with_cautions(text, balanced)


# --- more means -----------------------------------------------------------------------------


def extras_lines(options: planner.PlanAnalysis) -> list[str]:
    """Return what the smallest steps beyond the lab's amounts buy, and which amounts buy nothing.

    ``+20 credits: 2 more samples, power 0.69 → 0.70``
    """
    if not any(options.least.rank[:5]):
        met = "No addition is needed: the least-loss plan meets the target and loses no fidelity."
        return [with_cautions(met, options.least.after)]
    bought = {extra.ask.dimension for extra in options.extras}
    currency = options.yours.pack.lab.currency
    rest = [
        currency if row.currency else plural(row.noun, 2)
        for row in assessment.DIMENSION_ROWS.values()
        if row.is_amount and row.is_granted
        if row.key not in bought
    ]
    none = [f"No single addition of {joined(rest, 'or')} buys anything."] if rest else []
    return [*map(_extra_text, options.extras), *none]


def _extra_text(extra: planner.SmallestAddition) -> str:
    before, after = extra.before.after, extra.after.after
    none = f"no plan{least_days_text(after.pack)} fits"
    none = none if extra.after.exact else "none found that fits"
    if len(after.failing) == len(before.failing):
        step, tier = planner.PlanStep(before, after), after.evidence.tier
        days = moved_text(before.counts.days, after.counts.days, "day")
        gains = (
            moved_text(before.counts.samples, after.counts.samples, "sample"),
            "" if extra.ask.dimension is Dimension.SCHEDULE else days,
            evidence_text(step) + (f" ({tier})" if tier is not before.evidence.tier else ""),
            wishes_move(step),
            fidelity_move(step),
        )
        bought = ", ".join(filter(None, gains)) + ("" if after.feasible else f"; still {none}")
    elif after.feasible:
        breaks = assessment.cautions_title(after)
        worth = ", ".join(filter(None, (after.evidence.text, breaks)))
        bought = f"a plan that fits, {priced_size_text(after)}, {worth}"
    else:
        bought = f"still {none}; {phrases.failing_text(after)}"
    return f"+{extra.ask.amount_text()}: {bought}"


# --- its table --------------------------------------------------------------------------------


def frontier_table(options: planner.PlanAnalysis) -> Table:
    """Return plans of each line: the cheapest, the dearest, and some between them."""
    found = options.frontier
    caption = (
        f"{len(found.listed)} of {amount_text(len(found.plans))} plans: of each line the cheapest, "
        "the dearest, and some between them, evenly spaced by "
        f"{options.yours.pack.lab.currency}"
    )
    names = ("Plan", "Evidence", "Fidelity loss", "Given up")
    rows = [_frontier_row(plan, options) for plan in found.listed]
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
