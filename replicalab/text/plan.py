"""A plan against its lab, what to do about it, and what each step of it saves and loses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from replicalab.assessment import (
    AMOUNTS,
    Assessment,
    Cliff,
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
    signed_text,
)
from replicalab.models import DIMENSIONS, FIELD_LABELS, Dimension, Protocol
from replicalab.planner import LeastLoss, Options, PlanStep
from replicalab.scenarios import Bounds, Comparator, Control, EvidenceTier, Pack

_ITEMS: Final = (Dimension.EQUIPMENT, Dimension.REAGENTS)
_NOTHING_LEFT_OF: Final = (Dimension.PROTOCOL, Dimension.POLICY)
_REPORTED_BY: Final = {
    "duration": Dimension.SCHEDULE,
    "equipment": Dimension.EQUIPMENT,
    "reagent": Dimension.REAGENTS,
}
"""The errors on paper that are failures of another dimension too."""


def listed(opening: str, labels: Iterable[str]) -> str:
    """Return labels in quotation marks after an opening; empty where there are none."""
    found = joined(quoted(labels))
    return f"{opening}{found}" if found else ""


def moved_text(before: int, after: int, noun: str) -> str:
    """Return by how much a number has moved: ``4 more samples``, ``1 fewer day``; empty if not."""
    if before == after:
        return ""
    return count_text(abs(after - before), noun, "more" if after > before else "fewer")


# --- a plan against its lab -----------------------------------------------------------------


def used_text(plan: Assessment, slack: Slack) -> str:
    """Return used against the limit: ``2,250 / 2,600 credits``, ``2 needed, 1 free``."""
    used, limit, noun = amount_text(slack.used), amount_text(slack.limit), slack.row.noun
    if slack.dimension in _ITEMS:
        return f"{used} needed, {limit} free"
    if slack.dimension not in _NOTHING_LEFT_OF:
        return f"{used} / {limit} {plural(noun, 2)}"
    errors = plan.validation.errors if slack.dimension is Dimension.PROTOCOL else []
    about = dict.fromkeys(error.category.replace("_", " ") for error in errors)
    counted = count_text(slack.used, noun)
    return f"{counted}: {', '.join(about)}" if about else f"{counted}, none allowed"


def slack_text(slack: Slack) -> str:
    """Return what is left, signed (``+350``, ``−2``, ``0``); empty where nothing can be left."""
    return "" if slack.dimension in _NOTHING_LEFT_OF else signed_text(slack.slack)


def reasons_once(plan: Assessment) -> list[tuple[Dimension, str]]:
    """Return why dimensions fail, each fact once, in the document's order.

    An error on paper that another dimension reports too is only pointed at.
    """
    told = {dimension: plan.check.check(dimension).reasons for dimension in DIMENSIONS}
    paper: list[str] = []
    elsewhere: list[str] = []
    for issue in plan.validation.errors:
        other = _REPORTED_BY.get(issue.category)
        if other is None or other not in plan.failing:
            paper.append(issue.message)
        elif other not in elsewhere:
            elsewhere.append(other)
    told[Dimension.PROTOCOL] = [*paper, f"see {joined(elsewhere)}."] if elsewhere else paper
    return [(dimension, reason) for dimension, reasons in told.items() for reason in reasons]


def cliff_text(cliff: Cliff) -> str:
    """Return a small step that changes a lot: a staff unit more or less, the endpoint lost."""
    if cliff.more:
        return f"One more {cliff.noun} adds a staff unit."
    lost = "loses the study's endpoint" if cliff.endpoint else "saves a staff unit"
    return f"One {cliff.noun} fewer {lost}."


def staff_text(plan: Assessment) -> str:
    """Return the lab's staff formula for a plan: ``1 to start + 1 for more than 20 samples …``."""
    terms = [f"{plan.pack.staff_model.base} to start"]
    terms += [
        f"{int(step.adds)} for more than {count_text(step.threshold, step.noun)}"
        for step in plan.staff_steps
    ]
    has = count_text(plan.pack.lab.staff, "staff unit")
    return f"{' + '.join(terms)} = {plan.staff} of {has}"


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
        and max(days, pack.min_days) < each.quantity
        and (
            label_key(each.unit or "") in ("day", "days")
            if each.bounds is None
            else checked and each.bounds is Bounds.DAYS
        )
    ]


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
    old, new = (effect_text(detectable_effect(plan)) for plan in (step.before, step.after))
    sought = step.after.evidence.row.sought
    detects = f"{sought.name} {old} → {new}" if sought and old != new else ""
    return "; ".join(filter(None, (evidence_text(step), detects, fidelity_move(step))))


def fidelity_move(step: PlanStep) -> str:
    """Return what a step does to the fidelity loss: ``fidelity loss 0 → 2``; empty if nothing."""
    old, new = step.before.fidelity_loss, step.after.fidelity_loss
    return f"fidelity loss {old} → {new}" if old != new else ""


def total_loss_text(step: PlanStep) -> str:
    """Return what several steps do to the study in all, the fidelity loss by its parts.

    A plan's fidelity loss is a sum, so it may be more than the 3 of a single substitution.
    """
    parts = loss_parts_text(step.after) if fidelity_move(step) else ""
    return f"{loss_text(step)} in all ({parts})" if parts else loss_text(step)


def loss_parts_text(plan: Assessment) -> str:
    """Return where a plan's fidelity loss comes from: ``substitution 2, dropped control 1``."""
    dropped = len(plan.dropped)
    parts = {"substitution": plan.substitution_loss, plural("dropped control", dropped): dropped}
    return ", ".join(f"{name} {loss}" for name, loss in parts.items() if loss)


def protection_losses(step: PlanStep) -> list[str]:
    """Return each protection that a step gives up: the control, and what it guards against."""
    return [_protection(control) for control in step.newly_dropped]


# --- what to do -----------------------------------------------------------------------------


def what_to_do(options: Options) -> str:
    """Return what fails, what the Lab Manager would do about it, and the least-loss way."""
    yours = options.yours
    fixed = listed("Put back ", [c.name for c in yours.dropped if not c.droppable])
    told = [do_not_run_text(yours.pack), f"{fixed}: the study is void without it." if fixed else ""]
    if options.offer is None:
        proof = proof_text(options.least)
        told += [difference_text(options), f"{proof}." if proof else ""]
    else:
        told += [f"{_shortage(yours)}.", _managers_way(options), _least_way(options)]
    return " ".join(filter(None, told))


def do_not_run_text(pack: Pack) -> str:
    """Return that a study cannot show anything in so few days, empty where it can."""
    return f"Do not run this here: {_needs_days(pack, 'has')}." if too_short(pack) else ""


def too_short(pack: Pack) -> bool:
    """Return whether the lab has fewer days than the study's endpoint needs."""
    return pack.lab.days < pack.min_days


def _shortage(plan: Assessment) -> str:
    """Return what fails, in numbers: ``1,250 credits too many and 1 item missing``."""
    amounts = [plan.slack[dimension] for dimension in AMOUNTS]
    short = [f"{count_text(-s.slack, s.row.noun)} {s.row.over}" for s in amounts if s.slack < 0]
    missing = sum(-plan.slack[dimension].slack for dimension in _ITEMS)
    short += [f"{count_text(missing, 'item')} missing"] if missing > 0 else []
    short += ["a restriction broken"] if Dimension.POLICY in plan.failing else []
    return capitalised(joined(short or [failing_text(plan.failing)]))


def _managers_way(options: Options) -> str:
    before, after, evidence = options.yours.plan, options.offered, options.offered.evidence
    if options.offer is None or not options.offer.changes:
        return "The Lab Manager knows no change that would help."
    if after.failing:
        return f"After every change that the Lab Manager may make, {failing_text(after.failing)}."
    verb = f"offer {size_text(after.plan)}"
    if {change.field for change in options.offer.changes} == {"sample_size"}:
        halved = after.plan.sample_size == before.sample_size // 2
        verb = f"{'halve' if halved else 'cut'} the sample to {after.plan.sample_size:,}"
    below = ""
    if evidence.tier is EvidenceTier.BELOW_FLOOR and not evidence.void:
        below = f", below the floor of {evidence.amount(evidence.floor)}"
    move = evidence_text(PlanStep(options.yours, after))
    return f"The Lab Manager would {verb}: {move}{below}."


def _least_way(options: Options) -> str:
    least, before, after = options.least, options.yours.plan, options.least.plan
    proof = proof_text(least)
    if not least.after.feasible:
        return f"{proof}."
    opening = f"{proof}. " if proof else ""
    if least.after.evidence.void:
        return f"{opening}{capitalised(_shows_nothing(options))}."
    if after == options.offered.plan:
        known = "for this lab" if least.exact else "that was found"
        return opening.strip() or f"No plan {known} gives up less."
    size = size_text(after)
    if after.sample_size == before.sample_size > 1:
        size = f"all {size}"
    elif after.sample_size < before.sample_size:
        of = count_text(before.sample_size, "sample")
        size = f"{after.sample_size:,} of {of} in {count_text(after.duration_days, 'day')}"
    if after.duration_days != before.duration_days:
        size = f"{size} instead of {before.duration_days:,}"
    without = _without(" without ", PlanStep(options.yours, least.after))
    return f"{opening}Same lab, least loss: {size}{without}: {least.after.evidence.text}."


def _without(opening: str, step: PlanStep) -> str:
    return listed(opening, [control.name for control in step.newly_dropped])


# --- the least-loss plan against the other --------------------------------------------------


def difference_text(options: Options) -> str:
    """Return in one sentence how the least-loss plan differs from the Lab Manager's, or yours."""
    least, offered, after = options.least, options.offered, options.least.after
    if after.evidence.void:
        return f"Nothing to gain here: {_shows_nothing(options)}."
    whose = _whose(offered.plan, options)
    if least.plan == offered.plan:
        if not least.exact:
            return f"No revision of {whose} that gives up less was found."
        within = least_days_text(after.pack) if least.none_above_floor else ""
        return f"Nothing to gain: in this lab no revision of {whose}{within} gives up less."
    step, was = PlanStep(offered, after), offered.evidence
    sizes = [
        moved_text(offered.counts.samples, after.counts.samples, "sample"),
        moved_text(offered.counts.days, after.counts.days, "day"),
    ]
    size = joined([text for text in sizes if text]) or "other items"
    other = was.text if was.void else was.amount(was.value)
    instead = f"instead of {other}" if step.evidence_changed else "either way"
    passing = ""  # More evidence means little when a limit breaks.
    if not offered.feasible and not after.feasible:
        passing = f"; {failing_text(after.failing)} either way"
    elif not offered.feasible:
        failing = failing_text(offered.failing)
        passing = f"; it passes all seven dimensions, where {failing} otherwise"
    without = _without(", without ", step)
    return f"Same lab, {size} than {whose}{without}: {after.evidence.text} {instead}{passing}."


def _whose(plan: Protocol, options: Options) -> str:
    if plan == options.yours.plan:
        return "your plan"
    return "the Lab Manager's plan" if plan == options.offered.plan else "the least-loss plan"


def _shows_nothing(options: Options) -> str:
    """Return why the least-loss plan shows nothing, and first that it passes where it does."""
    least = options.least.after
    pack, why = least.pack, least.evidence.void or ""
    if too_short(pack):
        why = _needs_days(pack, "gives")
    if not least.feasible:
        return why
    return f"{_whose(least.plan, options)} passes all seven dimensions and shows nothing, as {why}"


def _needs_days(pack: Pack, verb: str) -> str:
    needs = count_text(pack.min_days, "day")
    return f"the study's endpoint needs {needs}, and the lab {verb} {pack.lab.days}"


# --- what the search has proven -------------------------------------------------------------


def proof_text(least: LeastLoss) -> str:
    """Return what the search has proven, without a full stop; empty when the floor is reached.

    Passing comes first in the order of plans. A plan in fewer days than the endpoint needs shows
    nothing, so of the floor the proof holds for every number of days, of passing it does not.
    """
    plan = least.after
    failing = failing_text(plan.failing)
    if not plan.feasible and not least.exact:
        return f"The best that was found, not proven to be the best: {failing}"
    if least.none_feasible:
        none, kept = none_passes_text(plan.pack), _kept_phrases(plan)
        if not kept:
            return f"{capitalised(none)} all seven dimensions: {failing} at best"
        text = "Your wording breaks a restriction, and the search does not change wording. Remove"
        others = [each for each in plan.failing if each is not Dimension.POLICY]
        even = f"; even then {none}: {failing_text(others)} at best" if others else ""
        return f"{text} {joined(kept)}{even}"
    if least.none_above_floor:
        floor = f"{plan.evidence.measure} {plan.evidence.amount(plan.evidence.floor)}"
        return f"No plan for this lab reaches the floor of {floor}"
    return ""


def least_days_text(pack: Pack) -> str:
    """Return the fewest days that were searched: `` of at least 7 days``; empty if any was."""
    if pack.min_days <= 1 or too_short(pack):
        return ""
    return f" of at least {count_text(pack.min_days, 'day')}"


def none_passes_text(pack: Pack) -> str:
    """Return that none of the plans that were searched passes: ``no plan for this lab passes``."""
    return f"no plan{least_days_text(pack)} for this lab passes"


def _kept_phrases(plan: Assessment) -> list[str]:
    """Return what breaks a restriction in texts that the search keeps, and where it stands."""
    return [
        f"'{each.phrase}' from the {FIELD_LABELS[each.field].lower()}"
        for each in plan.violations
        if each.field in ("technique", "rationale")
    ]


def search_text(options: Options) -> str:
    """Return what the search has proven, with what was searched; empty when nothing is missing.

    The search keeps the technique and the rationale, so the proof holds for them.
    """
    least, plan = options.least, options.least.after
    pack, proof = plan.pack, proof_text(least)
    told = [f"{proof}."] if proof else []
    if not least.exact:
        told.append(
            "Not every combination of the plan's many items and controls could be searched."
        )
    elif proof and not _kept_phrases(plan):
        fewest = f"from {pack.min_days} " if least_days_text(pack) else "up "
        told.append(
            f"Searched: every number of days {fewest}to {pack.lab.days}, every allowed "
            "substitution, every set of droppable controls, every sample size."
        )
    return " ".join(told)
