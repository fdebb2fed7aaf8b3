"""The plans that nothing beats in sentences: what beats a plan, the balance, what more buys."""

from __future__ import annotations

from typing import Final

from replicalab.agents import FeasibilityCheckResult
from replicalab.concessions import PlanPrice, price
from replicalab.evidence import Evidence, planned_evidence, used_substitutions
from replicalab.lexicon import amount_text, count_text
from replicalab.models import Dimension, Protocol
from replicalab.planner import Frontier, FrontierPlan, LeastLoss, Standing, asks, asks_text
from replicalab.scenarios import Pack
from replicalab.sentences.verdicts import Status, Verdict, failing_text
from replicalab.tradeoffs import Extra

_UNITS: Final = {
    Dimension.BUDGET: "credit",
    Dimension.SCHEDULE: "day",
    Dimension.STAFF: "staff unit",
}


# --- the frontier ---------------------------------------------------------------------------


def priced_size_text(samples: int, days: int, credits: float) -> str:
    """Return a plan in numbers: ``161 samples in 3 days for 2,210 credits``."""
    noun = "sample" if samples == 1 else "samples"
    return f"{amount_text(samples)} {noun} in {count_text(days, 'day')} for {_credits(credits)}"


def _credits(amount: float) -> str:
    return count_text(amount, "credit")


def standing_verdict(
    plan: Protocol,
    check: FeasibilityCheckResult,
    found: Frontier,
    least: LeastLoss,
    scenario: Pack,
) -> Verdict:
    """Return where a plan stands to the plans that nothing beats.

    Args:
        plan: the plan.
        check: its check.
        found: the plans of its lab that nothing beats.
        least: the plan that gives up the least of it.
        scenario: the study in its lab.
    """
    if not found.plans:
        return _nothing_fits(plan, scenario)
    standing, worth = found.standing(plan, scenario), planned_evidence(plan, scenario)
    better = _better_text(plan, standing, scenario)
    if not check.feasible:
        text = f"Your plan does not fit this lab: {failing_text(check.failing)}."
        rest = better or _as_much_text(price(plan, scenario), found, least)
        return Verdict(Status.FAIL, "Does not fit", f"{text} {rest}")
    if better:
        return Verdict(Status.CAUTION, "Beaten", better)
    if worth.void:
        return Verdict(Status.FAIL, "No evidence", f"Your plan yields no evidence: {worth.void}.")
    return Verdict(
        Status.PASS,
        "Unbeaten",
        "Nothing beats your plan: more evidence takes more credits, more days, or more given up "
        "of the study.",
    )


def _better_text(plan: Protocol, standing: Standing, scenario: Pack) -> str:
    mine, cheaper, stronger = price(plan, scenario), standing.cheaper, standing.stronger
    lines = []
    if cheaper is not None:
        lines.append(
            f"No less evidence can be had for {_credits(mine.credits - cheaper.credits)} less: "
            f"{_plan_text(cheaper, mine.evidence)}."
        )
    if stronger is not None:
        lines.append(
            f"For no more credits and days: {_plan_text(stronger, mine.evidence)}, instead of "
            f"{mine.evidence.text}."
        )
    if standing.gentler is not None:
        lines.append(
            "As much evidence for no more credits, with less given up or in fewer days: "
            f"{_plan_text(standing.gentler, mine.evidence)}, fidelity loss {standing.gentler.loss}."
        )
    return " ".join(lines)


def _as_much_text(mine: PlanPrice, found: Frontier, least: LeastLoss) -> str:
    """Return which plan that fits has as much evidence, at the precision shown, if one has."""
    if mine.evidence.void:
        return f"Nor would it yield evidence: {mine.evidence.void}."
    theirs = least.price
    if not least.none_feasible and theirs.evidence.text == mine.evidence.text:
        saved = mine.credits - theirs.credits
        cost = (
            f"{_credits(abs(saved))} {'less' if saved > 0 else 'more'}"
            if saved
            else "as many credits"
        )
        return f"The least-loss plan fits and has {theirs.evidence.text} too, for {cost}."
    rivals = [each for each in found.plans if _as_strong(each, mine.evidence, found)]
    if not rivals:
        return "No plan that fits has as much evidence as yours."
    best = min(rivals, key=lambda each: (each.loss, each.credits))
    loss = f", fidelity loss {best.loss}" if best.loss else ""
    return f"A plan that fits has as much evidence: {_plan_text(best, mine.evidence)}{loss}."


def _as_strong(rival: FrontierPlan, mine: Evidence, found: Frontier) -> bool:
    stronger = rival.value < mine.value if found.lower_is_better else rival.value > mine.value
    return stronger or mine.amount(rival.value) == mine.amount(mine.value)


def _plan_text(found: FrontierPlan, evidence: Evidence) -> str:
    size = priced_size_text(found.samples, found.days, found.credits)
    return f"{size}, {evidence.measure} {evidence.amount(found.value)}"


def _nothing_fits(plan: Protocol, scenario: Pack) -> Verdict:
    found = asks(plan, scenario)
    text = "No plan that fits this lab has any evidence."
    void = planned_evidence(plan, scenario).void
    if found.alone_floor:
        ways = " or ".join(ask.text for ask in found.alone_floor)
        text += f" It would take {ways} to reach the floor."
    elif found.run.possible and found.run.asks:
        text += f" To run your plan it would take {asks_text(found.run.asks)}."
    elif void:
        text += f" Your plan fits, but {void}."
    return Verdict(Status.FAIL, "Nothing fits", text)


def fidelity_text(plan: Protocol, scenario: Pack) -> str:
    """Return a plan's fidelity loss as a sum, with its parts if it has two.

    ``fidelity loss 3 in all (substitution 2, dropped control 1)``.
    """
    priced = price(plan, scenario)
    lossy = [s for s in used_substitutions(plan, scenario) if s.fidelity_loss]
    total = f"fidelity loss {priced.loss}"
    if len(lossy) + len(priced.dropped) < 2:
        return total
    parts = [
        f"{noun}{'' if number == 1 else 's'} {loss}"
        for noun, number, loss in (
            ("substitution", len(lossy), priced.fidelity_loss),
            ("dropped control", len(priced.dropped), len(priced.dropped)),
        )
        if number
    ]
    return f"{total} in all ({', '.join(parts)})"


def given_up_text(plan: Protocol, scenario: Pack) -> str:
    """Return which substitutions and dropped controls a plan's fidelity loss comes from."""
    parts = [
        f"'{each.alternative}' for '{each.original}'"
        for each in used_substitutions(plan, scenario)
        if each.fidelity_loss
    ]
    parts += [f"no '{control.name}'" for control in price(plan, scenario).dropped]
    return "; ".join(parts) or "nothing"


def balance_text(found: FrontierPlan | None, plan: Protocol, scenario: Pack) -> str:
    """Return the Nash point as what each side gains by agreeing on it."""
    design, budget = scenario.design, scenario.lab.budget
    evidence = planned_evidence(scenario.reference_protocol, scenario)
    floor = evidence.amount(design.floor)
    if found is None:
        return (
            f"There is no balanced plan: none that fits reaches the floor of {floor}, so an "
            "agreement would leave the Scientist with nothing."
        )
    parts = fidelity_text(found.plan(plan), scenario)
    given_up = f" It gives up some of the study: {parts}." if found.loss else ""
    size = priced_size_text(found.samples, found.days, found.credits)
    return (
        f"The balanced plan is {size}. Both sides gain: the Scientist has {evidence.measure} "
        f"{evidence.amount(found.value)} against a floor of {floor}, and "
        f"{_credits(budget - found.credits)} of {amount_text(budget)} are "
        f"left over.{given_up}"
    )


# --- more means -----------------------------------------------------------------------------


def extra_text(extra: Extra) -> str:
    """Return what one addition to the lab would buy: ``+1 day: nothing``."""
    unit = _UNITS[extra.dimension] + ("" if extra.more == 1 else "s")
    return f"+{extra.more} {unit}: {_bought(extra.before, extra.after, better=extra.better)}"


def _bought(before: LeastLoss, after: LeastLoss, *, better: bool) -> str:
    if not better:
        return "nothing"
    if after.none_feasible:
        return f"still no plan that fits; {failing_text(after.check.failing)}"
    worth = after.price.evidence
    if before.none_feasible:
        size = priced_size_text(
            after.plan.sample_size, after.plan.duration_days, after.price.credits
        )
        return f"a plan that fits, {size}, {worth.text}"
    return ", ".join(_gains(before, after))


def _gains(before: LeastLoss, after: LeastLoss) -> list[str]:
    samples = after.plan.sample_size - before.plan.sample_size
    old, new = before.price.evidence, after.price.evidence
    found = []
    if samples:
        noun = "sample" if abs(samples) == 1 else "samples"
        found.append(f"{amount_text(abs(samples))} {'more' if samples > 0 else 'fewer'} {noun}")
    found.append(f"{new.text}, unchanged" if old.text == new.text else _moved(old, new))
    if before.price.loss != after.price.loss:
        found.append(f"fidelity loss {before.price.loss} → {after.price.loss}")
    return found


def _moved(old: Evidence, new: Evidence) -> str:
    if old.void or new.void:
        return f"{new.text} instead of {old.text}"
    better = f"{new.measure} {old.amount(old.value)} → {new.amount(new.value)}"
    return f"{better} ({new.tier})" if new.tier is not old.tier else better
