"""How evidence, a plan and its failures are put into words, the same way wherever they stand.

A half-width is better the smaller it is, so a plan is *within* a floor of ±2.50 %, never above it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import TYPE_CHECKING

from replicalab.assessment.evidence import Evidence, counted_units
from replicalab.designs import KINDS, LEAST_UNITS
from replicalab.lexicon import amount_text, count_text, distinct_text, joined, plural
from replicalab.models import Dimension
from replicalab.scenarios import Bounds, Control, EvidenceTier, Lab, Pack, StudyLimit

if TYPE_CHECKING:
    from replicalab.assessment.assess import Assessment


def placed_text(evidence: Evidence) -> str:
    """Return evidence and where it stands: ``power 0.33, below the floor of 0.50``.

    Evidence that is void says why there is none instead.
    """
    if evidence.void_reason:
        return f"no evidence, since {evidence.void_reason}"
    target, floor = evidence.amount(evidence.target), evidence.amount(evidence.floor)
    worse = evidence.row.scale.worse
    kept = f"{_kept_text(evidence)} {floor_text(evidence)}"
    where = {
        EvidenceTier.MEETS_TARGET: f"which meets the target of {target}",
        EvidenceTier.ABOVE_FLOOR: f"{worse} the target of {target} but {kept}",
        EvidenceTier.BELOW_FLOOR: f"{worse} the floor of {floor}",
    }[evidence.tier]
    return f"{evidence.text}, {where}"


def floor_text(evidence: Evidence) -> str:
    """Return the least that is worth running: ``the floor of 0.50``."""
    return f"the floor of {evidence.amount(evidence.floor)}"


def _kept_text(evidence: Evidence) -> str:
    """Return how an evidence that reaches the floor stands to it: above it, or at it."""
    scale = evidence.row.scale
    return "at" if scale.reaches(evidence.floor, evidence.value) else scale.within


def size_text(plan: Assessment) -> str:
    """Return how large a plan is: ``1,200 samples in 3 days``."""
    return f"{samples_text(plan)} in {count_text(plan.counts.days, 'day')}"


def samples_text(plan: Assessment) -> str:
    """Return how many samples are planned, and of fewer that are analysed how many."""
    return planned_text(plan.counts.samples, plan.evidence.analysed)


def planned_text(planned: int, analysed: int) -> str:
    """Return planned samples, with those analysed: ``152 samples (128 analysed)``.

    Where all are, one number is enough.
    """
    left = analysed_text(planned, analysed)
    return f"{count_text(planned, 'sample')}{f' ({left})' if left else ''}"


def analysed_text(planned: int, analysed: int) -> str:
    """Return how many planned samples are analysed: ``128 analysed``; empty where all are."""
    # The others cannot be had in the days, or drop out.
    return f"{amount_text(analysed)} analysed" if analysed < planned else ""


def days_text(lab: Lab) -> str:
    """Return how many days a lab gives: ``30 days``, ``17 days from day 14 on``.

    Where dates are known and weekends do not count they are called working days.
    """
    return f"{_counted_days(lab)}{start_text(lab)}"


def _counted_days(lab: Lab) -> str:
    noun = "day" if lab.weekends or lab.start_date is None else "working day"
    return count_text(lab.days_left, noun)


def start_text(lab: Lab) -> str:
    """Return from when on a lab's days count: `` from day 14 on``.

    Empty if from the first, unless that has a date.
    """
    start, dated = lab.start_day, lab.dated(lab.start_day)
    return f" from day {start}{dated} on" if start > 1 or dated else ""


def last_day_text(plan: Assessment) -> str:
    """Return the date of a plan's last day: `` (to Fri 18 Dec 2026)``; empty without one."""
    days, lab = plan.counts.days, plan.pack.lab
    return lab.dated(lab.start_day + days - 1, "to") if days else ""


def left_text(lab: Lab) -> str:
    """Return how many days are left: ``17 days are left (start on day 14 of 30)``.

    Empty where work begins on the first day, so that all of them are.
    """
    if lab.start_day == 1:
        return ""
    left = lab.days_left
    first = f"{lab.start_day}{lab.dated(lab.start_day)}"
    start = f"(start on day {first} of {lab.days})"
    return f"{_counted_days(lab)} {'is' if left == 1 else 'are'} left {start}"


def failing_text(
    plan: Assessment, failing: Sequence[str] | None = None, *, still: bool = False
) -> str:
    """Return which dimensions fail: ``budget fails``, ``budget and schedule still fail``.

    They are those of the plan if ``failing`` is None.
    """
    failing = plan.failing if failing is None else failing
    fail = "fail" if are_many(failing) else "fails"
    return f"{dimensions_text(plan.pack, failing)} {'still ' if still else ''}{fail}"


def are_many(dimensions: Sequence[str]) -> bool:
    """Return whether a verb after these dimensions is in the plural."""
    return len(dimensions) != 1 or dimensions[0] == Dimension.REAGENTS


def dimensions_text(pack: Pack, dimensions: Iterable[str]) -> str:
    """Return dimensions in the words of the study's field: ``budget, equipment and staff``."""
    return joined([pack.study.term(dimension) for dimension in dimensions])


def cautions_text(plan: Assessment) -> str:
    """Return the cautions about a plan that its verdict does not contain; empty if none.

    How its samples stand to the study's units, which of the study's wishes it breaks, and which of
    the study's controls it lacks, the fixed ones first, with what each protects against.
    """
    cautions = [units_text(plan), wishes_text(plan, plan.broken_wishes)]
    for control in sorted(plan.dropped, key=lambda control: control.droppable):
        void = "" if control.droppable else ": the study is void without it"
        cautions.append(f"lacks {guarding_text(control)}{void}")
    return "; ".join(filter(None, cautions))


def guarding_text(control: Control) -> str:
    """Return a control with what it protects against: ``'blank', which protects against dirt``.

    Its name alone where that is not given.
    """
    guards = f", which protects against {control.guards}" if control.guards else ""
    return f"'{control.name}'{guards}"


def cautions_title(plan: Assessment) -> str:
    """Return the same for narrow places: ``breaks a wish, lacks a control``; empty if nothing."""
    fixed = any(not control.droppable for control in plan.dropped)
    controls = f"lacks a {'fixed ' if fixed else ''}control" if plan.dropped else ""
    return ", ".join(
        filter(None, (few_units_title(plan), wishes_title(plan.broken_wishes), controls))
    )


def few_units_title(plan: Assessment) -> str:
    """Return that a plan has too few units, ``too few tanks``; empty where it has not."""
    units = plan.pack.design.units
    return f"too few {plural(units.name, 2)}" if units and too_few_units(plan) else ""


def too_few_units(plan: Assessment) -> bool:
    """Return whether an arm of a plan has so few units that nothing tells them from treatment."""
    return plan.pack.design.units is not None and _least_units(plan) < LEAST_UNITS


def _least_units(plan: Assessment) -> int:
    return min(counted_units(plan.pack.design, plan.evidence.able))


def units_text(plan: Assessment) -> str:
    """Return what is to be known of a plan's units; empty where nothing is.

    ``has 1 tank in an arm, and …``; ``takes samples that share a tank as independent: …``.
    """
    design = plan.pack.design
    if design.units is None or not plan.counts.samples:
        return ""
    name = design.units.name
    if too_few_units(plan):
        where = " in an arm" if KINDS[design.kind].groups_of(design) > 1 else ""
        few = f"has {count_text(_least_units(plan), name)}{where}"
        return f"{few}, and with fewer than {LEAST_UNITS} nothing tells {name} from treatment"
    if design.units.icc is None:
        return f"takes samples of one {name} as independent: no intraclass correlation is given"
    return ""


def adding_none(plan: Assessment) -> str:
    """Return which revisions are searched of a plan that lacks controls; empty where none are."""
    # The search puts no control back.
    return " that adds no control" if plan.dropped else ""


def wishes_text(plan: Assessment, wishes: Sequence[StudyLimit]) -> str:
    """Return some wishes of the study that a plan breaks, with their numbers; empty if none.

    ``breaks a wish of the study: 'follow-up' should be at least 36 days, the plan has 28``.
    """
    return f"{wishes_title(wishes)} of the study: {asked_and_had(plan, wishes)}" if wishes else ""


def further_text(before: Assessment, after: Assessment) -> str:
    """Return which of the study's wishes a plan breaks further than another; empty if none.

    ``breaks a wish of the study further: 'follow-up' should be at least 36 days, 28 → 22``.
    """
    further = [
        f"{asked_text(wish)}, {bounded_text(wish, before)} → {bounded_text(wish, after)}"
        for wish in after.broken_wishes
        if wish.is_further(after.bounded(wish), before.bounded(wish))
    ]
    wishes = "a wish" if len(further) == 1 else f"{len(further)} wishes"
    return f"breaks {wishes} of the study further: {'; '.join(further)}" if further else ""


def asked_and_had(plan: Assessment, wishes: Sequence[StudyLimit]) -> str:
    """Return what wishes of the study ask, and what a plan has of it."""
    return "; ".join(
        f"{asked_text(wish)}, the plan has {bounded_text(wish, plan)}" for wish in wishes
    )


def asked_text(wish: StudyLimit) -> str:
    """Return what a wish of the study asks: ``'follow-up' should be at least 36 days``."""
    return f"'{wish.constraint.label}' should be {wish.text}"


def kept_text(wish: StudyLimit) -> str:
    """Return a wish of the study that a plan keeps: ``'follow-up' (at least 36 days)``."""
    return f"'{wish.constraint.label}' ({wish.text})"


def wishes_title(wishes: Sequence[StudyLimit]) -> str:
    """Return how many wishes are broken, for narrow places: ``breaks a wish``; empty if none."""
    if not wishes:
        return ""
    return "breaks a wish" if len(wishes) == 1 else f"breaks {len(wishes)} wishes"


def bounded_text(limit: StudyLimit, plan: Assessment) -> str:
    """Return the number of a plan that a constraint bounds, written distinct from the bound."""
    if limit.number is not Bounds.EVIDENCE:
        counts = plan.counts
        return amount_text(counts.days if limit.number is Bounds.DAYS else counts.samples)
    if plan.evidence.void_reason:
        return plan.evidence.number
    if not isfinite(plan.evidence.value):
        return "an unbounded one"
    bound = limit.constraint.quantity or 0.0
    return distinct_text(plan.evidence.value, [bound], 2, lambda v, digits: f"{v:z.{digits}f}")
