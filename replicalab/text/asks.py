"""What it would take, and what the planned evidence rests on, in sentences."""

from __future__ import annotations

from typing import Final

from replicalab.assessment import DIMENSION_ROWS, Assessment, Evidence, assumed_effects
from replicalab.assessment.phrases import failing_text, size_text
from replicalab.lexicon import amount_text, capitalised, count_text, joined
from replicalab.measures import Given
from replicalab.planner import Ask, Options, Relief, Single, asks_text
from replicalab.scenarios import EvidenceTier
from replicalab.text.plan import effect_text, listed

_BOUNDS: Final = {EvidenceTier.MEETS_TARGET: "target", EvidenceTier.ABOVE_FLOOR: "floor"}


# --- what it would take ---------------------------------------------------------------------


def nothing_needed(options: Options) -> bool:
    """Return whether the lab can run the plan as it is and the plan meets the study's target."""
    yours = options.yours
    at_target = yours.evidence.tier is EvidenceTier.MEETS_TARGET
    return yours.feasible and at_target and options.least.plan == yours.plan


def ask_text(ask: Ask) -> str:
    """Return an ask as has → needs: ``Budget: 2,600 → 3,850 credits``."""
    needs = ask.text
    if ask.item is None:
        noun = DIMENSION_ROWS[ask.dimension].noun
        needs = f"{amount_text(ask.has)} → {count_text(ask.needs, noun)}"
    return f"{capitalised(ask.dimension)}: {needs}"


def run_text(relief: Relief) -> str:
    """Return what it takes together to run a plan exactly as it is."""
    left = failing_text(relief.left)
    if not relief.asks:
        if relief.possible:
            return "Nothing: the lab can run the plan as it is."
        return f"Nothing that the lab could add is enough: {left} all the same."
    together = capitalised(asks_text(relief.asks))
    if relief.left:
        return f"{together}; but {left} whatever the lab adds."
    return f"{together}: with that the lab can run the plan as it is."


def wasted_text(plan: Assessment) -> str:
    """Return how many samples of a plan are paid for in vain; empty where every one counts."""
    counted, planned = plan.evidence.counted, plan.counts.samples
    if counted >= planned:
        return ""
    size = count_text(planned, "sample")
    return f"Of its {size} only {counted:,} can count; plan no more than these."


def target_text(options: Options) -> str:
    """Return how many samples and days reach the evidence target, and what that takes."""
    yours, least = options.yours, options.least.after
    goal, relief = bound_text(yours.evidence, "target"), options.asks.target
    if relief is None:
        most = yours.pack.design.population_max
        why = f" The study has {count_text(most, 'sample')} at most." if most else ""
        return f"With these items and controls no sample size reaches {goal}.{why}"
    verb = "reaches" if relief.plan.sample_size == 1 else "reach"
    size, left = f"{size_text(relief.plan)} {verb} {goal}", failing_text(relief.left)
    if not relief.asks:
        if relief.possible:
            return f"Nothing: {size}, and the lab has the means."
        return f"{size}, but {left} whatever the lab adds."
    still = f"; but {left} all the same" if relief.left else ""
    own = f"{size}. That takes {asks_text(relief.asks)}{still}."
    if least.feasible and least.evidence.tier is EvidenceTier.MEETS_TARGET:
        return f"Nothing is needed if you take the least-loss plan. With your own items: {own}"
    return own


def alone_lines(options: Options) -> list[str]:
    """Return each single addition that is enough once the plan is adapted, and that plan."""
    return [_single_text(single, options.yours) for single in options.asks.singles]


def _single_text(single: Single, yours: Assessment) -> str:
    """Return what an addition opens, what that plan gives up, and the price of giving up less."""
    after = single.least.after
    come = [s.alternative for s in after.substitutions if s not in yours.substitutions]
    changes = listed(", with ", come) + listed(", without ", [c.name for c in single.dropped])
    loss = f" (fidelity loss {after.fidelity_loss} in all)" if after.fidelity_loss else ""
    goal = bound_text(after.evidence, _BOUNDS[single.tier])
    size = f"{size_text(after.plan)}{changes}{loss if changes else ''}"
    text = f"{capitalised(single.ask.text)}: {size}, for {goal}."
    if not single.dropped:
        return text
    kept = f": {single.kept.text}" if single.kept else " it is not enough"
    return f"{text} With every control kept{kept}."


def alone_text(options: Options) -> str:
    """Return what single additions cannot do, or that none is needed; empty when they can."""
    least, asks = options.least, options.asks
    evidence = least.after.evidence
    reached = evidence.tier if least.after.feasible else EvidenceTier.BELOW_FLOOR
    if reached is EvidenceTier.MEETS_TARGET:
        whose = "your plan" if least.plan == options.yours.plan else "the least-loss plan"
        return f"Nothing: {whose} reaches {bound_text(evidence, 'target')}."
    missed = ["floor"] if reached is EvidenceTier.BELOW_FLOOR and not asks.alone_floor else []
    missed += [] if asks.alone_target else ["target"]
    goals = joined([bound_text(evidence, bound) for bound in missed], "or")
    return f"No single addition reaches {goals}." if missed else ""


def bound_text(evidence: Evidence, bound: str) -> str:
    """Return the study's target or floor with its number: ``the target of power 0.80``."""
    value = evidence.target if bound == "target" else evidence.floor
    return f"the {bound} of {evidence.measure} {evidence.amount(value)}"


# --- what the evidence rests on -------------------------------------------------------------


def assumption_text(plan: Assessment) -> str:
    """Return at which assumed effect the evidence is planned, how, and that none was observed."""
    evidence, row = plan.evidence, plan.evidence.row
    if row.effect is None:
        return f"Planned, by {row.method}; no effect is assumed."
    design = plan.pack.design
    setting, seen = (row.setting_text(Given.by(design, f)) for f in (1.0, evidence.factor))
    assumed = f"{row.effect.name} of {effect_text(design.effect_planning)}{setting}"
    if evidence.factor != 1:
        seen_as = f"{effect_text(evidence.effect)}{seen if seen != setting else ''}"
        assumed = f"{assumed}, seen as {seen_as} through the substitutions"
    return f"Planned, at an assumed {assumed}, by {row.method}; never observed {evidence.measure}."


def assumed_rows(plan: Assessment) -> list[tuple[str, str, Evidence]]:
    """Return the evidence at each effect worth assuming: its name, its size, what the plan buys."""
    return [
        (label, effect_text(effect), plan.evidence_at(effect))
        for label, effect in assumed_effects(plan.pack.design)
    ]


def assumed_text(plan: Assessment) -> str:
    """Return all the evidence at the effects worth assuming, in one sentence; empty if none is."""
    texts = [
        f"{label} none" if found.void else f"{label} ({size}) {found.amount(found.value)}"
        for label, size, found in assumed_rows(plan)
    ]
    measure = capitalised(plan.evidence.measure)
    return f"{measure} at an effect {', '.join(texts)}." if texts else ""
