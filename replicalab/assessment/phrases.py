"""Short texts on a plan; a half-width is within a floor of ±2.50 %, never above it."""

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Final

from replicalab.assessment.evidence import counted_units
from replicalab.assessment.plan_in_lab import PlanInLab
from replicalab.designs import KINDS, LEAST_UNITS
from replicalab.lexicon import amount_text, count_text, distinct_text, joined, plural
from replicalab.models import Dimension
from replicalab.scenarios import Bounds, Pack, StudyLimit

_FEW_UNITS: Final = (
    "has only {units}{where}: a difference between {names} cannot be separated from a treatment "
    "effect"
)
_NO_CORRELATION: Final = (
    "treats {samples} in one {name} as independent, because no intraclass correlation was given"
)


class PlanInWords(PlanInLab):
    """A plan in a lab, with its size and its cautions in words."""

    @property
    def size_text(self) -> str:
        return f"{self.samples_text} in {self.days_text}"

    @property
    def days_text(self) -> str:
        return count_text(self.counts.days, "day")

    @property
    def samples_text(self) -> str:
        """The planned samples: ``152 samples (128 analysed)``; one number if all are."""
        planned, noun = self.counts.samples, self.pack.design.sample_noun
        text = analysed_text(planned, self.evidence.analysed)
        return f"{count_text(planned, noun)}{f' ({text})' if text else ''}"

    @property
    def last_day_text(self) -> str:
        """The date of the last day: `` (to Fri 18 Dec 2026)``; empty if undated."""
        days, lab = self.counts.days, self.pack.lab
        return lab.dated(lab.start_day + days - 1, "to") if days else ""

    @property
    def cautions_text(self) -> str:
        """The cautions on units, soft constraints and missing controls; empty if none."""
        cautions = [self.units_text, wishes_text(self, self.broken_wishes)]
        for control in sorted(self.dropped, key=lambda control: control.droppable):
            guards = f", which protects against {control.guards}" if control.guards else ""
            void = "" if control.droppable else ": the study is void without it"
            cautions.append(f"lacks '{control.name}'{guards}{void}")
        return "; ".join(filter(None, cautions))

    @property
    def cautions_title(self) -> str:
        """The cautions for narrow places: ``breaks a wish, lacks a control``."""
        is_void = any(not control.droppable for control in self.dropped)
        controls = f"lacks a {'fixed ' if is_void else ''}control" if self.dropped else ""
        titles = self.few_units_title, wishes_title(self.broken_wishes), controls
        return ", ".join(filter(None, titles))

    @property
    def few_units_title(self) -> str:
        """``too few tanks`` if there are too few units; else empty."""
        design, units = self.pack.design, self.pack.design.units
        if units is None or min(counted_units(design, self.evidence.usable)) >= LEAST_UNITS:
            return ""
        return f"too few {plural(units.name, 2)}"

    @property
    def units_text(self) -> str:
        """The caution that units are too few, or their correlation not given; or empty."""
        design, units = self.pack.design, self.pack.design.units
        if units is None or not self.counts.samples:
            return ""
        if self.few_units_title:
            where = " per arm" if KINDS[design.kind].groups_of(design) > 1 else ""
            counted = count_text(min(counted_units(design, self.evidence.usable)), units.name)
            return _FEW_UNITS.format(units=counted, where=where, names=plural(units.name, 2))
        samples = design.samples_noun
        return _NO_CORRELATION.format(samples=samples, name=units.name) if units.icc is None else ""

    @property
    def no_control_text(self) -> str:
        """`` that adds no control`` for searches on a plan that lacks controls; or empty."""
        return " that adds no control" if self.dropped else ""


def analysed_text(planned: int, analysed: int) -> str:
    """Return the analysed samples: ``128 analysed``; empty if all are."""
    return f"{amount_text(analysed)} analysed" if analysed < planned else ""


def failing_text(pack: Pack, failing: Sequence[str], *, still: bool = False) -> str:
    """Return that dimensions fail: ``budget and schedule still fail``."""
    fail = "fail" if are_many(failing) else "fails"
    return f"{dimensions_text(pack, failing)} {'still ' if still else ''}{fail}"


def are_many(dimensions: Sequence[str]) -> bool:
    return len(dimensions) != 1 or dimensions[0] == Dimension.REAGENTS


def dimensions_text(pack: Pack, dimensions: Iterable[str]) -> str:
    return joined([pack.study.term(dimension) for dimension in dimensions])


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
        f"{wish.asked_text}, the plan has {bounded_text(wish, plan)}" for wish in wishes
    )


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
