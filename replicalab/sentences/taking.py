"""What it would take, and what the planned evidence rests on, in sentences."""

from __future__ import annotations

from typing import Final

from replicalab.evidence import (
    Evidence,
    assumed_effects,
    counted_samples,
    planned_evidence,
    used_substitutions,
)
from replicalab.lexicon import amount_text, capitalised, count_text, joined
from replicalab.measures import Given
from replicalab.models import Dimension, Protocol
from replicalab.negotiation.wording import size_text
from replicalab.planner import Ask, Relief, Single, asks_text
from replicalab.scenarios import EvidenceTier, Pack
from replicalab.sentences.losing import effect_text
from replicalab.sentences.planning import Options
from replicalab.sentences.verdicts import failing_text

_BOUNDS: Final = {EvidenceTier.MEETS_TARGET: "target", EvidenceTier.ABOVE_FLOOR: "floor"}
_NOUNS: Final = {
    Dimension.BUDGET: "credit",
    Dimension.SCHEDULE: "day",
    Dimension.STAFF: "staff unit",
}


# --- what it would take ---------------------------------------------------------------------


def nothing_needed(options: Options) -> bool:
    """Return whether the lab can run the plan as it is and the plan meets the study's target."""
    least = options.least
    at_target = least.price.evidence.tier is EvidenceTier.MEETS_TARGET
    return options.check.feasible and least.plan == options.plan and at_target


def run_lines(relief: Relief) -> list[str]:
    """Return one line for each thing that the lab has too little of, with has and needs."""
    return [ask_text(ask) for ask in relief.asks]


def ask_text(ask: Ask) -> str:
    """Return an ask as has → needs: ``Budget: 2,600 → 3,850 credits``."""
    name = ask.dimension.value.capitalize()
    if ask.item is not None:
        return f"{name}: {ask.text}"
    return f"{name}: {amount_text(ask.has)} → {count_text(ask.needs, _NOUNS[ask.dimension])}"


def run_text(relief: Relief) -> str:
    """Return what it takes together to run a plan exactly as it is."""
    if relief.possible and not relief.asks:
        return "Nothing: the lab can run the plan as it is."
    left = failing_text(list(relief.left)) if relief.left else ""
    if not relief.asks:
        return f"Nothing that the lab could add is enough: {left} all the same."
    together = f"{capitalised(asks_text(relief.asks))}"
    if left:
        return f"{together}; but {left} whatever the lab adds."
    return f"{together}: with that the lab can run the plan as it is."


def wasted_text(plan: Protocol, scenario: Pack) -> str:
    """Return how many samples of a plan are paid for in vain; empty where every one counts."""
    counted, planned = counted_samples(plan, scenario), plan.sample_size
    if counted >= planned:
        return ""
    return f"Of its {planned:,} samples only {counted:,} can count; plan no more than these."


def target_text(options: Options, scenario: Pack) -> str:
    """Return how many samples and days reach the evidence target, and what that takes."""
    least = options.least
    goal, relief = bound_text(least.price.evidence, "target"), options.asks.target
    if relief is None:
        most = scenario.design.population_max
        why = f" The study has {count_text(most, 'sample')} at most." if most else ""
        return f"With these items and controls no sample size reaches {goal}.{why}"
    size = f"{size_text(relief.plan)} reach {goal}"
    if relief.possible and not relief.asks:
        return f"Nothing: {size}, and the lab has the means."
    if not relief.asks:
        return f"{size}, but {failing_text(list(relief.left))} whatever the lab adds."
    still = f"; but {failing_text(list(relief.left))} all the same" if relief.left else ""
    own = f"{size}. That takes {asks_text(relief.asks)}{still}."
    if least.check.feasible and least.price.evidence.tier is EvidenceTier.MEETS_TARGET:
        return f"Nothing is needed if you take the least-loss plan. With your own items: {own}"
    return own


def alone_lines(options: Options, scenario: Pack) -> list[str]:
    """Return each single addition that is enough once the plan is adapted, and that plan."""
    return [_single_text(single, options.plan, scenario) for single in options.singles]


def _single_text(single: Single, plan: Protocol, scenario: Pack) -> str:
    """Return what an addition opens, what that plan gives up, and the price of giving up less."""
    found = single.least
    size = f"{size_text(found.plan)}{_adapted_text(single, plan, scenario)}"
    goal = bound_text(found.price.evidence, _BOUNDS[single.tier])
    text = f"{capitalised(single.ask.text)}: {size}, for {goal}."
    if not single.dropped:
        return text
    if single.kept is None:
        return f"{text} With every control kept it is not enough."
    return f"{text} With every control kept: {single.kept.text}."


def _adapted_text(single: Single, plan: Protocol, scenario: Pack) -> str:
    """Return which items and controls an adapted plan changes: ``, without 'a' and 'b' (…)``."""
    before = used_substitutions(plan, scenario)
    swaps = used_substitutions(single.least.plan, scenario)
    come = [f"'{swap.alternative}'" for swap in swaps if swap not in before]
    gone = [f"'{control.name}'" for control in single.dropped]
    text = f", with {joined(come)}" if come else ""
    text += f", without {joined(gone)}" if gone else ""
    loss = single.least.price.loss
    return f"{text} (fidelity loss {loss} in all)" if text and loss else text


def alone_text(options: Options) -> str:
    """Return what single additions cannot do, or that none is needed; empty when they can."""
    least, asks = options.least, options.asks
    reached = least.price.evidence.tier if least.check.feasible else EvidenceTier.BELOW_FLOOR
    if reached is EvidenceTier.MEETS_TARGET:
        whose = "your plan" if least.plan == options.plan else "the least-loss plan"
        return f"Nothing: {whose} reaches {bound_text(least.price.evidence, 'target')}."
    missed = [] if asks.alone_target else ["target"]
    if reached is EvidenceTier.BELOW_FLOOR and not asks.alone_floor:
        missed.append("floor")
    goals = joined([bound_text(least.price.evidence, bound) for bound in reversed(missed)])
    return f"No single addition reaches {goals.replace(' and ', ' or ')}." if missed else ""


def bound_text(evidence: Evidence, bound: str) -> str:
    """Return the study's target or floor with its number: ``the target of power 0.80``."""
    value = evidence.target if bound == "target" else evidence.floor
    return f"the {bound} of {evidence.measure} {evidence.amount(value)}"


# --- what the evidence rests on -------------------------------------------------------------


def assumption_text(evidence: Evidence, scenario: Pack) -> str:
    """Return at which assumed effect the evidence is planned, how, and that none was observed."""
    row = evidence.row
    if row.effect is None:
        return f"Planned, by {row.method}; no effect is assumed."
    planned, seen = (Given.by(scenario.design, factor) for factor in (1.0, evidence.factor))
    setting, changed = row.setting_text(planned), row.setting_text(seen)
    assumed = f"{row.effect.name} of {effect_text(scenario.design.effect_planning)}{setting}"
    if evidence.factor != 1:
        now = f"{effect_text(evidence.effect)}{changed if changed != setting else ''}"
        assumed = f"{assumed}, seen as {now} through the substitutions"
    return f"Planned, at an assumed {assumed}, by {row.method}; never observed {evidence.measure}."


def assumed_rows(plan: Protocol, scenario: Pack) -> list[tuple[str, str, Evidence]]:
    """Return the evidence at each effect worth assuming: its name, its size, what the plan buys."""
    return [
        (label, effect_text(effect), planned_evidence(plan, scenario, effect))
        for label, effect in assumed_effects(scenario.design)
    ]


def assumed_text(plan: Protocol, scenario: Pack) -> str:
    """Return all the evidence at the effects worth assuming, in one sentence; empty if none is."""
    rows = assumed_rows(plan, scenario)
    if not rows:
        return ""
    texts = [
        f"{label} ({size}) {found.amount(found.value)}" if not found.void else f"{label} none"
        for label, size, found in rows
    ]
    return f"{capitalised(rows[0][2].measure)} at an effect {', '.join(texts)}."
