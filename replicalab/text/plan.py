"""A plan against its lab, what to do about it, and what each step of it saves and loses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from replicalab.assessment import (
    AMOUNTS,
    Assessment,
    Cliff,
    Evidence,
    Slack,
    smallest_detectable_effect,
)
from replicalab.assessment.phrases import failing_text, size_text
from replicalab.lexicon import (
    amount_text,
    capitalised,
    count_text,
    joined,
    label_key,
    plural,
    quoted,
)
from replicalab.models import DIMENSIONS, FIELD_LABELS, Dimension, Protocol
from replicalab.planner import LeastLoss, Options, PlanStep
from replicalab.scenarios import (
    Bounds,
    Comparator,
    Control,
    EvidenceTier,
    Pack,
    ScenarioConstraint,
)

_KEPT_TEXTS: Final = ("technique", "rationale")
_ITEMS: Final = (Dimension.EQUIPMENT, Dimension.REAGENTS)
_NOTHING_LEFT_OF: Final = (Dimension.PROTOCOL, Dimension.POLICY)
_REPORTED_BY: Final = {
    "duration": Dimension.SCHEDULE,
    "equipment": Dimension.EQUIPMENT,
    "reagent": Dimension.REAGENTS,
}
"""The errors on paper that are failures of another dimension too."""


# --- a plan against its lab -----------------------------------------------------------------


def used_text(plan: Assessment, slack: Slack) -> str:
    """Return used against the limit: ``2,250 / 2,600 credits``, ``2 needed, 1 free``."""
    used, limit, row = amount_text(slack.used), amount_text(slack.limit), slack.row
    if slack.dimension in _ITEMS:
        return f"{used} needed, {limit} free"
    if slack.dimension not in _NOTHING_LEFT_OF:
        return f"{used} / {limit} {plural(row.noun, 2)}"
    errors = plan.validation.errors if slack.dimension is Dimension.PROTOCOL else []
    about = dict.fromkeys(error.category.replace("_", " ") for error in errors)
    counted = count_text(slack.used, row.noun)
    return f"{counted}: {', '.join(about)}" if about else f"{counted}, none allowed"


def slack_text(slack: Slack) -> str:
    """Return what is left, signed (``+350``, ``−2``, ``0``); empty where nothing can be left."""
    return "" if slack.dimension in _NOTHING_LEFT_OF else signed_text(slack.slack)


def signed_text(amount: float) -> str:
    """Return an amount with its sign: ``+350``, ``−2``, ``0``."""
    sign = "+" if amount > 0 else "\u2212" if amount < 0 else ""
    return f"{sign}{amount_text(abs(amount))}"


def reasons_once(plan: Assessment) -> list[tuple[Dimension, str]]:
    """Return why dimensions fail, each fact once, in the document's order.

    An error on paper that another dimension reports too is only pointed at.
    """
    own: list[str] = []
    elsewhere: list[str] = []
    for issue in plan.validation.errors:
        other = _REPORTED_BY.get(issue.category)
        if other is None or other not in plan.failing:
            own.append(issue.message)
        elif other.value not in elsewhere:
            elsewhere.append(other.value)
    pointer = [f"see {joined(elsewhere)}."] if elsewhere else []
    others = (d for d in DIMENSIONS if d is not Dimension.PROTOCOL)
    found = [(Dimension.PROTOCOL, text) for text in [*own, *pointer]]
    return found + [(d, reason) for d in others for reason in plan.check.check(d).reasons]


def cliff_text(cliff: Cliff) -> str:
    """Return a small step that changes a lot: a staff unit more or less, the endpoint lost."""
    if cliff.endpoint:
        return f"One {cliff.noun} fewer loses the study's endpoint."
    if cliff.more:
        return f"One more {cliff.noun} adds a staff unit."
    return f"One {cliff.noun} fewer saves a staff unit."


def staff_text(plan: Assessment) -> str:
    """Return the lab's staff formula for a plan: ``1 to start + 1 for more than 20 samples …``."""
    steps = [
        f"{int(step.adds)} for more than {count_text(step.threshold, step.noun)}"
        for step in plan.staff_steps
    ]
    has = count_text(plan.pack.lab.staff, "staff unit")
    base = plan.pack.staff_model.base
    return f"{' + '.join([f'{base} to start', *steps])} = {plan.staff} of {has}"


def unmet_durations(days: int, pack: Pack, *, checked: bool = True) -> list[str]:
    """Return each duration that the study itself names and that so many days do not reach.

    Days below the study's fewest are left to the check, which says that the endpoint is lost.

    Args:
        days: of the plan.
        pack: the study in its lab.
        checked: whether to name those too that the check of a plan holds, and reports itself.
    """
    return [
        f"Below the study's '{each.key.replace('_', ' ')}' of {amount_text(each.quantity)} days."
        for each in pack.constraints
        if each.comparator is Comparator.AT_LEAST
        and each.quantity is not None
        and _names_days(each, checked)
        and max(days, pack.min_days) < each.quantity
    ]


def _names_days(constraint: ScenarioConstraint, checked: bool) -> bool:
    if constraint.bounds is not None:
        return checked and constraint.bounds is Bounds.DAYS
    return constraint.unit is not None and label_key(constraint.unit) in ("day", "days")


def unreached_days_text(before: int, after: int, pack: Pack) -> str:
    """Return which of the study's own durations fewer days no longer reach; empty if none."""
    return " ".join(unmet_durations(after, pack)) if after < before else ""


def dropped_cautions(plan: Assessment) -> list[str]:
    """Return what a plan does without of the study's controls; first what makes the study void."""
    return [
        _protection(control)
        if control.droppable
        else f"{_protection(control)} It is a fixed control: the study is void without it."
        for control in sorted(plan.dropped, key=lambda control: control.droppable)
    ]


def _protection(control: Control) -> str:
    return f"Without '{control.name}' nothing protects against {control.protects_against}."


def detectable_effect(plan: Assessment) -> float | None:
    """Return the smallest effect, as the study's own endpoint shows it, that a plan detects.

    A substitution's factor makes every effect look smaller, so the effect must be larger by it.
    None where no test exists, without evidence, and where no effect is large enough.
    """
    if plan.evidence.void:
        return None
    return smallest_detectable_effect(plan.pack.design, plan.evidence.counted, plan.evidence_factor)


def effect_text(effect: float | None) -> str:
    """Return an effect to three digits, ``none`` where there is none."""
    return "none" if effect is None else f"{effect:.3g}"


# --- a step from one plan to another --------------------------------------------------------


def saved_text(step: PlanStep) -> str:
    """Return what a step saves: ``saves 1,500 credits``, ``costs 50 credits``."""
    if step.credits_saved == 0:
        return "saves no credits"
    word = "saves" if step.credits_saved > 0 else "costs"
    return f"{word} {count_text(abs(step.credits_saved), 'credit')}"


def evidence_text(step: PlanStep) -> str:
    """Return what happens to the evidence: ``power 0.86 → 0.58``, or that nothing does."""
    old, new = step.before.evidence, step.after.evidence
    if not step.evidence_changed:
        return f"{old.text}, unchanged"
    if old.void or new.void:
        return f"{old.text} → {new.text}"
    return f"{old.measure} {old.amount(old.value)} → {new.amount(new.value)}"


def loss_text(step: PlanStep) -> str:
    """Return what a step does to the study: evidence, the effect it detects, its fidelity."""
    parts = [evidence_text(step)]
    old, new = (effect_text(detectable_effect(plan)) for plan in (step.before, step.after))
    sought = step.after.evidence.row.sought
    if sought and old != new:
        parts.append(f"{sought} {old} → {new}")
    if step.before.fidelity_loss != step.after.fidelity_loss:
        parts.append(f"fidelity loss {step.before.fidelity_loss} → {step.after.fidelity_loss}")
    return "; ".join(parts)


def total_loss_text(step: PlanStep) -> str:
    """Return what several steps do to the study in all, the fidelity loss by its parts.

    A plan's fidelity loss is a sum, so it may be more than the 3 of a single substitution.
    """
    text, loss = loss_text(step), step.after.fidelity_loss
    if not loss or step.before.fidelity_loss == loss:
        return text
    return f"{text} in all ({loss_parts_text(step.after)})"


def loss_parts_text(plan: Assessment) -> str:
    """Return where a plan's fidelity loss comes from: ``substitution 2, dropped control 1``."""
    dropped = len(plan.dropped)
    parts = [f"substitution {plan.substitution_loss}"] if plan.substitution_loss else []
    parts += [f"dropped {plural('control', dropped)} {dropped}"] if dropped else []
    return ", ".join(parts)


def protection_losses(step: PlanStep) -> list[str]:
    """Return each protection that a step gives up: the control, and what it guards against."""
    return [_protection(control) for control in step.newly_dropped]


# --- what to do -----------------------------------------------------------------------------


def what_to_do(options: Options) -> str:
    """Return what fails, what the Lab Manager would do about it, and the least-loss way."""
    yours = options.yours
    first = f"{do_not_run_text(yours.pack)}{_put_back(yours)}"
    if options.offer is None:
        proof = proof_text(options.least)
        after = f" {proof}." if proof else ""
        return f"{first}{difference_text(options)}{after}"
    return f"{first}{shortage_text(yours)}. {_managers_way(options)} {_least_way(options)}"


def do_not_run_text(pack: Pack) -> str:
    """Return that a study cannot show anything in so few days, empty where it can."""
    if not too_short(pack):
        return ""
    needs = count_text(pack.min_days, "day")
    return (
        f"Do not run this here: the study's endpoint needs {needs}, and the lab has "
        f"{pack.lab.days}. "
    )


def too_short(pack: Pack) -> bool:
    """Return whether the lab has fewer days than the study's endpoint needs."""
    return pack.lab.days < pack.min_days


def _put_back(plan: Assessment) -> str:
    fixed = quoted(control.name for control in plan.dropped if not control.droppable)
    return f"Put back {joined(fixed)}: the study is void without it. " if fixed else ""


def shortage_text(plan: Assessment) -> str:
    """Return what fails, in numbers: ``1,250 credits too many and 1 item missing``."""
    return capitalised(joined(list(_shortages(plan)) or [failing_text(plan.failing)]))


def _shortages(plan: Assessment) -> Iterator[str]:
    for dimension in AMOUNTS:
        slack = plan.slack[dimension]
        if slack.slack < 0:
            yield f"{count_text(-slack.slack, slack.row.noun)} {slack.row.over}"
    missing = sum(-plan.slack[dimension].slack for dimension in _ITEMS)
    if missing > 0:
        yield f"{count_text(missing, 'item')} missing"
    if Dimension.POLICY in plan.failing:
        yield "a restriction broken"


def _managers_way(options: Options) -> str:
    before, after = options.yours.plan, options.offered
    if options.offer is None or not options.offer.changes:
        return "The Lab Manager knows no change that would help."
    if after.failing:
        return f"After every change that the Lab Manager may make, {failing_text(after.failing)}."
    verb = f"offer {size_text(after.plan)}"
    if {change.field for change in options.offer.changes} == {"sample_size"}:
        halved = after.plan.sample_size == before.sample_size // 2
        verb = f"{'halve' if halved else 'cut'} the sample to {after.plan.sample_size:,}"
    move = evidence_text(PlanStep(options.yours, after))
    return f"The Lab Manager would {verb}: {move}{_below(after.evidence)}."


def _below(evidence: Evidence) -> str:
    """Return that a revision's evidence is below the floor; empty when it is not, or is none."""
    if evidence.void or evidence.tier is not EvidenceTier.BELOW_FLOOR:
        return ""
    return f", below the floor of {evidence.amount(evidence.floor)}"


def _least_way(options: Options) -> str:
    least = options.least
    proof = proof_text(least)
    if not least.after.feasible:
        return f"{proof}."
    opening = f"{proof}. " if proof else ""
    if least.after.evidence.void:
        return f"{opening}{capitalised(_shows_nothing(options))}."
    if least.plan == options.offered.plan:
        known = "for this lab" if least.exact else "that was found"
        return opening.strip() or f"No plan {known} gives up less."
    step = PlanStep(options.yours, least.after)
    size = f"{_cut_text(options.yours.plan, least.plan)}{_without(step, ' without ')}"
    return f"{opening}Same lab, least loss: {size}: {least.after.evidence.text}."


def _without(step: PlanStep, opening: str) -> str:
    """Return the controls that a step gives up, after an opening; empty where it gives up none."""
    gone = quoted(control.name for control in step.newly_dropped)
    return f"{opening}{joined(gone)}" if gone else ""


def _cut_text(before: Protocol, after: Protocol) -> str:
    """Return a revision's two numbers, and which is cut: ``all 24 samples in 22 days instead``."""
    samples = count_text(after.sample_size, "sample")
    if after.sample_size == before.sample_size > 1:
        samples = f"all {samples}"
    elif after.sample_size < before.sample_size:
        samples = f"{after.sample_size:,} of {count_text(before.sample_size, 'sample')}"
    days = count_text(after.duration_days, "day")
    if after.duration_days != before.duration_days:
        days = f"{days} instead of {before.duration_days:,}"
    return f"{samples} in {days}"


# --- the least-loss plan against the other --------------------------------------------------


def difference_text(options: Options) -> str:
    """Return in one sentence how the least-loss plan differs from the Lab Manager's, or yours."""
    least, offered = options.least, options.offered
    if least.after.evidence.void:
        return f"Nothing to gain here: {_shows_nothing(options)}."
    whose = _whose(offered.plan, options)
    if least.plan == offered.plan:
        if not least.exact:
            return f"No revision of {whose} that gives up less was found."
        within = least_days_text(least.after.pack) if least.none_above_floor else ""
        return f"Nothing to gain: in this lab no revision of {whose}{within} gives up less."
    step = PlanStep(offered, least.after)
    parts = list(_size_differences(offered.plan, least.plan))
    size = f"{joined(parts)} than {whose}" if parts else f"other items than {whose}"
    without = _without(step, ", without ")
    return f"Same lab, {size}{without}: {_instead(step)}{_passing(options)}."


def _whose(plan: Protocol, options: Options) -> str:
    if plan == options.yours.plan:
        return "your plan"
    return "the Lab Manager's plan" if plan == options.offered.plan else "the least-loss plan"


def _shows_nothing(options: Options) -> str:
    """Return why the least-loss plan shows nothing, and first that it passes where it does."""
    least = options.least.after
    pack, why = least.pack, least.evidence.void or ""
    if too_short(pack):
        needs = count_text(pack.min_days, "day")
        why = f"the study's endpoint needs {needs}, and the lab gives {pack.lab.days}"
    if not least.feasible:
        return why
    return f"{_whose(least.plan, options)} passes all seven dimensions and shows nothing, as {why}"


def _size_differences(before: Protocol, after: Protocol) -> Iterator[str]:
    for noun, old, new in (
        ("sample", before.sample_size, after.sample_size),
        ("day", before.duration_days, after.duration_days),
    ):
        if new != old:
            yield count_text(abs(new - old), noun, "more" if new > old else "fewer")


def _instead(step: PlanStep) -> str:
    before, after = step.before.evidence, step.after.evidence
    if not step.evidence_changed:
        return f"{after.text} either way"
    was = before.text if before.void or after.void else before.amount(before.value)
    return f"{after.text} instead of {was}"


def _passing(options: Options) -> str:
    """Return the verdicts where they differ: more evidence means little when a limit breaks."""
    least, offered = options.least.after, options.offered
    if offered.feasible:
        return ""
    if least.feasible:
        failing = failing_text(offered.failing)
        return f"; it passes all seven dimensions, where {failing} otherwise"
    return f"; {failing_text(least.failing)} either way"


# --- what the search has proven -------------------------------------------------------------


def proof_text(least: LeastLoss) -> str:
    """Return what the search has proven, without a full stop; empty when the floor is reached.

    Passing comes first in the order of plans. A plan in fewer days than the endpoint needs shows
    nothing, so of the floor the proof holds for every number of days, of passing it does not.
    """
    plan = least.after
    if not plan.feasible and not least.exact:
        return f"The best that was found, not proven to be the best: {failing_text(plan.failing)}"
    if least.none_feasible:
        if any(each.field in _KEPT_TEXTS for each in plan.violations):
            return _reword_text(least)
        still = failing_text(plan.failing)
        searched = f"No plan{least_days_text(plan.pack)} for this lab"
        return f"{searched} passes all seven dimensions: {still} at best"
    if least.none_above_floor:
        floor = f"{plan.evidence.measure} {plan.evidence.amount(plan.evidence.floor)}"
        return f"No plan for this lab reaches the floor of {floor}"
    return ""


def least_days_text(pack: Pack) -> str:
    """Return the fewest days that were searched: `` of at least 7 days``; empty if any was."""
    if pack.min_days <= 1 or too_short(pack):
        return ""
    return f" of at least {count_text(pack.min_days, 'day')}"


def _reword_text(least: LeastLoss) -> str:
    """Return what to remove from the texts, which the search keeps as they are."""
    found = [
        f"'{each.phrase}' from the {FIELD_LABELS[each.field].lower()}"
        for each in least.after.violations
        if each.field in _KEPT_TEXTS
    ]
    text = (
        "Your wording breaks a restriction, and the search does not change wording. "
        f"Remove {joined(found)}"
    )
    others = [each for each in least.after.failing if each is not Dimension.POLICY]
    if not others:
        return text
    none = f"no plan{least_days_text(least.after.pack)} for this lab passes"
    return f"{text}; even then {none}: {failing_text(others)} at best"


def search_text(options: Options) -> str:
    """Return what the search has proven, with what was searched; empty when nothing is missing.

    The search keeps the technique and the rationale, so the proof holds for them.
    """
    least, plan = options.least, options.least.after
    proof, pack = proof_text(least), plan.pack
    if not least.exact:
        inexact = "Not every combination of the plan's many items and controls could be searched"
        return f"{proof}. {inexact}." if proof else f"{inexact}."
    if not proof or any(each.field in _KEPT_TEXTS for each in plan.violations):
        return f"{proof}." if proof else ""
    fewest = f"from {pack.min_days} " if least_days_text(pack) else "up "
    return (
        f"{proof}. Searched: every number of days {fewest}to {pack.lab.days}, every allowed "
        "substitution, every set of droppable controls, every sample size."
    )
