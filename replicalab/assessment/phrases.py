"""Short texts on a plan; a half-width is within a floor of ±2.50 %, never above it."""

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Final, Protocol

from replicalab.assessment.evidence import Evidence, counted_units
from replicalab.assessment.plan_in_lab import PlanInLab
from replicalab.designs import KINDS, LEAST_UNITS
from replicalab.lexicon import amount_text, count_text, distinct_text, joined, plural
from replicalab.models import Dimension
from replicalab.scenarios import Bounds, EvidenceTier, Lab, Pack, StudyLimit

_STANDS: Final = {
    EvidenceTier.MEETS_TARGET: "{text}, which meets the target of {target}",
    EvidenceTier.ABOVE_FLOOR: (
        "{text}, {worse} the target of {target} but {kept} the floor of {floor}"
    ),
    EvidenceTier.BELOW_FLOOR: "{text}, {worse} the floor of {floor}",
}
_FEW_UNITS: Final = (
    "has only {units}{where}: a difference between {names} cannot be separated from a treatment "
    "effect"
)
_NO_CORRELATION: Final = (
    "treats {samples} in one {name} as independent, because no intraclass correlation was given"
)


def placed_text(evidence: Evidence) -> str:
    """Return evidence next to its bounds: ``power 0.33, below the floor of 0.50``."""
    if evidence.void_reason:
        return f"no evidence, since {evidence.void_reason}"
    scale = evidence.row.scale
    return _STANDS[evidence.tier].format(
        text=evidence.text,
        worse=scale.worse,
        kept="at" if scale.reaches(evidence.floor, evidence.value) else scale.within,
        target=evidence.amount(evidence.target),
        floor=evidence.amount(evidence.floor),
    )


def size_text(plan: PlanInLab) -> str:
    return f"{samples_text(plan)} in {count_text(plan.counts.days, 'day')}"


def samples_text(plan: PlanInLab) -> str:
    """Return the planned samples: ``152 samples (128 analysed)``; one number if all are."""
    planned, noun = plan.counts.samples, plan.pack.design.sample_noun
    text = analysed_text(planned, plan.evidence.analysed)
    return f"{count_text(planned, noun)}{f' ({text})' if text else ''}"


def analysed_text(planned: int, analysed: int) -> str:
    """Return the analysed samples: ``128 analysed``; empty if all are."""
    return f"{amount_text(analysed)} analysed" if analysed < planned else ""


def days_text(lab: Lab) -> str:
    """Return the days of a lab: ``30 days``, ``17 working days from day 14 on``."""
    return f"{_counted_days(lab)}{start_text(lab)}"


def _counted_days(lab: Lab) -> str:
    noun = "day" if lab.weekends or lab.start_date is None else "working day"
    return count_text(lab.days_left, noun)


def start_text(lab: Lab) -> str:
    """Return the first day of a lab: `` from day 14 on``; empty if day 1, undated."""
    start, dated = lab.start_day, lab.dated(lab.start_day)
    return f" from day {start}{dated} on" if start > 1 or dated else ""


def last_day_text(plan: PlanInLab) -> str:
    """Return the date of a plan's last day: `` (to Fri 18 Dec 2026)``; empty if undated."""
    days, lab = plan.counts.days, plan.pack.lab
    return lab.dated(lab.start_day + days - 1, "to") if days else ""


def left_text(lab: Lab) -> str:
    """Return the days left: ``17 days are left (start on day 14 of 30)``; empty if all are."""
    if lab.start_day == 1:
        return ""
    are, day = "is" if lab.days_left == 1 else "are", f"{lab.start_day}{lab.dated(lab.start_day)}"
    return f"{_counted_days(lab)} {are} left (start on day {day} of {lab.days})"


class _JudgedPlan(Protocol):
    @property
    def pack(self) -> Pack: ...
    @property
    def failing(self) -> list[str]: ...


def failing_text(
    plan: _JudgedPlan, failing: Sequence[str] | None = None, *, still: bool = False
) -> str:
    """Return the failing dimensions, by default the plan's: ``budget and schedule still fail``."""
    failing = plan.failing if failing is None else failing
    fail = "fail" if are_many(failing) else "fails"
    return f"{dimensions_text(plan.pack, failing)} {'still ' if still else ''}{fail}"


def are_many(dimensions: Sequence[str]) -> bool:
    return len(dimensions) != 1 or dimensions[0] == Dimension.REAGENTS


def dimensions_text(pack: Pack, dimensions: Iterable[str]) -> str:
    return joined([pack.study.term(dimension) for dimension in dimensions])


def cautions_text(plan: PlanInLab) -> str:
    """Return the cautions on units, soft constraints and missing controls; empty if none."""
    cautions = [units_text(plan), wishes_text(plan, plan.broken_wishes)]
    for control in sorted(plan.dropped, key=lambda control: control.droppable):
        guards = f", which protects against {control.guards}" if control.guards else ""
        void = "" if control.droppable else ": the study is void without it"
        cautions.append(f"lacks '{control.name}'{guards}{void}")
    return "; ".join(filter(None, cautions))


def cautions_title(plan: PlanInLab) -> str:
    """Return the cautions for narrow places: ``breaks a wish, lacks a control``."""
    is_void = any(not control.droppable for control in plan.dropped)
    controls = f"lacks a {'fixed ' if is_void else ''}control" if plan.dropped else ""
    titles = few_units_title(plan), wishes_title(plan.broken_wishes), controls
    return ", ".join(filter(None, titles))


def few_units_title(plan: PlanInLab) -> str:
    """Return ``too few tanks`` if a plan has too few units; else empty."""
    design, units = plan.pack.design, plan.pack.design.units
    if units is None or min(counted_units(design, plan.evidence.able)) >= LEAST_UNITS:
        return ""
    return f"too few {plural(units.name, 2)}"


def units_text(plan: PlanInLab) -> str:
    """Return that units are too few, or that their correlation is not given; or empty."""
    design, units = plan.pack.design, plan.pack.design.units
    if units is None or not plan.counts.samples:
        return ""
    if few_units_title(plan):
        where = " per arm" if KINDS[design.kind].groups_of(design) > 1 else ""
        counted = count_text(min(counted_units(design, plan.evidence.able)), units.name)
        return _FEW_UNITS.format(units=counted, where=where, names=plural(units.name, 2))
    samples = design.samples_noun
    return _NO_CORRELATION.format(samples=samples, name=units.name) if units.icc is None else ""


def adding_none(plan: PlanInLab) -> str:
    """Return `` that adds no control`` for searches on a plan that lacks controls; or empty."""
    return " that adds no control" if plan.dropped else ""


def wishes_text(plan: PlanInLab, wishes: Sequence[StudyLimit]) -> str:
    """Return the soft constraints that a plan misses, with numbers; empty if none."""
    return f"{wishes_title(wishes)} of the study: {asked_and_had(plan, wishes)}" if wishes else ""


def further_text(before: PlanInLab, after: PlanInLab) -> str:
    """Return the soft constraints that a plan misses by more than another; empty if none."""
    moves = [
        f"'{wish.constraint.label}' goes from {bounded_text(wish, before)} to "
        f"{bounded_text(wish, after)} (the study asks for {wish.text})"
        for wish in after.broken_wishes
        if wish.is_further(after.bounded(wish), before.bounded(wish))
    ]
    return "; ".join(moves)


def asked_and_had(plan: PlanInLab, wishes: Sequence[StudyLimit]) -> str:
    return "; ".join(
        f"{asked_text(wish)}, the plan has {bounded_text(wish, plan)}" for wish in wishes
    )


def asked_text(wish: StudyLimit) -> str:
    """Return a soft constraint: ``'follow-up' should be at least 36 days``."""
    return f"'{wish.constraint.label}' should be {wish.text}"


def kept_text(wish: StudyLimit) -> str:
    return f"'{wish.constraint.label}' ({wish.text})"


def wishes_title(wishes: Sequence[StudyLimit]) -> str:
    """Return the number of missed soft constraints: ``breaks a wish``; empty if none."""
    if not wishes:
        return ""
    return "breaks a wish" if len(wishes) == 1 else f"breaks {len(wishes)} wishes"


def bounded_text(limit: StudyLimit, plan: PlanInLab) -> str:
    """Return the plan's number for a constraint, with enough digits to differ from the bound."""
    if limit.number is not Bounds.EVIDENCE:
        return amount_text(plan.bounded(limit))
    if plan.evidence.void_reason:
        return plan.evidence.number
    if not isfinite(plan.evidence.value):
        return "an unbounded one"
    bound = limit.constraint.quantity or 0.0
    return distinct_text(plan.evidence.value, [bound], 2, lambda v, digits: f"{v:z.{digits}f}")
