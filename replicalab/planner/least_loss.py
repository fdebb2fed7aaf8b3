"""The order of all plans for a lab, its first plan, and the steps between two plans."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Final, NamedTuple

from replicalab.agents.lab_manager_policy import Offer, reference_offer
from replicalab.assessment import Assessment, assess
from replicalab.assessment.dimensions import (
    SuggestionChange,
    apply_changes,
    change_of,
    days_lost_text,
)
from replicalab.lexicon import count_text, joined, label_key
from replicalab.models import PROTOCOL_FIELDS, NotebookView, Protocol, revise
from replicalab.planner.sample_limits import BELOW_FLOOR, TIER_RANK, largest_sample, step_of
from replicalab.planner.search import PlanSearch
from replicalab.planner.variants import PlanVariants, variants_of
from replicalab.scenarios import Control

ORDER: Final = (
    "Least loss ranks plans by failing checks, evidence tier, minimum days, soft constraints "
    "missed, fidelity lost, evidence up to the study's own, days and samples cut, fields changed "
    "and cost."
)
GivenUp = tuple[int, int, int, int, int, float]  # the first six terms of a `Rank`


class Rank(NamedTuple):
    """The place of a plan in the order; a smaller rank is a better plan."""

    failing: int
    tier: int  # 0 meets the target, 1 is above the floor, 2 is below it
    endpoint_lost: int  # 1 if the plan has fewer days than the study's endpoint needs
    wishes: int  # the number of soft constraints missed
    fidelity: int  # given up; each substitution counts 0 to 3, each dropped control 1
    evidence: float  # in steps of 0.01, at best that of the study's protocol; see `step_of`
    cuts: Fraction  # the sum of the shares by which the study's days and samples are cut
    changes: int  # fields that differ from the revised plan
    credits: float
    samples: int  # up to the study's; negative, since more are better
    days: int

    @property
    def given_up(self) -> GivenUp:
        return self[:6]


def rank(plan: Assessment, original: Protocol, study: Assessment | None = None) -> Rank:
    """Return the rank of a plan as a revision of the original.

    ``study`` assesses the reference protocol; it is worked out if missing.
    """
    pack, counts = plan.pack, plan.counts
    study = study or assess(pack.reference_protocol, pack)
    own_counts, design = study.counts, pack.design
    return Rank(
        len(plan.failing),
        TIER_RANK[plan.evidence.tier],
        int(counts.days < pack.min_days),
        len(plan.broken_wishes),
        plan.fidelity_loss,
        max(step_of(plan.evidence, design), step_of(study.evidence, design)),
        _cut(counts.samples, own_counts.samples) + _cut(counts.days, own_counts.days),
        len(differences(original, plan.plan)),
        plan.cost,
        -min(counts.samples, own_counts.samples),
        -min(counts.days, own_counts.days),
    )


def _cut(number: int, of_study: int) -> Fraction:
    return Fraction(max(0, of_study - number), max(1, of_study))


_Changes = Callable[[], Sequence[SuggestionChange]]


@dataclass(frozen=True)
class LeastLoss(NotebookView):
    """The plan closest to the study, with proofs from the search."""

    before: Assessment  # the original
    after: Assessment  # the plan; the original itself if no other ranks above it
    rank: Rank
    exact: bool = True  # False if not all combinations of items and controls were searched
    _changes: _Changes = field(default=tuple, repr=False, compare=False)

    @cached_property
    def changes(self) -> tuple[SuggestionChange, ...]:
        # Lazy: the search for the binding limit makes dozens of plans and reads few changes.
        return tuple(self._changes())

    @property
    def plan(self) -> Protocol:
        return self.after.plan

    @property
    def none_above_floor(self) -> bool:
        """Whether it is proven that no passing plan reaches the floor."""
        return self.exact and (self.rank.tier == BELOW_FLOOR or not self.after.feasible)


def gives_up_less(one: LeastLoss, now: LeastLoss) -> bool:
    return one.rank.given_up < now.rank.given_up and not one.after.evidence.void_reason


def least_loss_of(
    plan: Assessment, offer: Offer | None = None, variants: PlanVariants | None = None
) -> LeastLoss:
    """Return the first plan in the order, never below the plan or the offer."""
    study = plan.revised(plan.pack.reference_protocol)
    search = PlanSearch(plan, variants or variants_of(plan), study)

    def ranked(after: Assessment, changes: _Changes = tuple) -> LeastLoss:
        place = rank(after, plan.plan, study)
        return LeastLoss(plan, after, place, search.variants.exact, changes)

    plans = [ranked(plan)]
    if offered := offer or reference_offer(plan):
        plans.append(ranked(offered.after, lambda: offered.changes))
    if best := search.closest():
        after = plan.revised(best.plan(plan.plan))

        def changes() -> Sequence[SuggestionChange]:
            worded = best.variant.changes(plan.pack)
            return tuple(_Reasons(plan, after, study).completed(worded))

        plans.insert(0, ranked(after, changes))
    return min(plans, key=lambda loss: loss.rank)


_WORSE: Final = {
    "failing": "{subject} the plan fails on {failing}.",
    "tier": "{subject} the plan misses {bound}: {evidence}.",
    "endpoint_lost": "The study's endpoint needs {days}.",
    "wishes": "{wish}.",
    "loss": "{subject} more fidelity is lost.",
    "evidence": "{subject} it shows less: {evidence}.",
    "cuts": "{subject} less of the study is kept.",
    "credits": "{subject} it costs {credits} more.",
}
"""The reason of a change, by the first term of `Rank` that gets worse without it."""
_NO_GAIN: Final = "{subject} nothing is gained."


@dataclass(frozen=True)
class _Reasons:
    before: Assessment
    after: Assessment
    study: Assessment

    def completed(self, changes: Iterable[SuggestionChange]) -> Iterator[SuggestionChange]:
        control_keys = set(map(label_key, self.after.plan.controls))
        for change in changes:
            if change.field == "controls" and label_key(change.original) not in control_keys:
                controls = [*self.after.plan.controls, change.original]
                reason = self._reason("With it", self._judged(controls=controls))
                yield change.model_copy(update={"reason": reason})
            else:
                yield change
        nouns = {"duration_days": "day", "sample_size": self.after.pack.design.sample_noun}
        for name, noun in nouns.items():  # in the order of the changes
            old, new = getattr(self.before.plan, name), getattr(self.after.plan, name)
            if old != new:
                back = new + (1 if old > new else -1)
                reason = f"The lab has {self.after.pack.lab.days_text}."
                if name == "sample_size" or back <= self.after.pack.lab.days_left:
                    undone = self._judged(**{name: back})
                    reason = self._reason(f"With {count_text(back, noun)}", undone)
                yield change_of(name, old, new, reason, self._tradeoff(name, old, new))

    def _judged(self, **changes: object) -> Assessment:
        return self.after.revised(revise(self.after.plan, **changes))

    def _reason(self, subject: str, undone: Assessment) -> str:
        after, pack = self.after, self.after.pack
        better, worse = (rank(plan, self.before.plan, self.study) for plan in (after, undone))
        terms = zip(Rank._fields, better, worse, strict=True)
        term = next((name for name, low, high in terms if low != high), "")
        if undone.evidence.void_reason and term != "failing":
            term = "endpoint_lost"
        new = [wish for wish in undone.broken_wishes if wish not in after.broken_wishes]
        bound = "floor" if better.tier else "target"
        text = "the" if bound in pack.question.asked else "the study's"
        return _WORSE.get(term, _NO_GAIN).format(
            subject=subject,
            failing=joined([item for item in undone.failing if item not in after.failing]),
            days=count_text(pack.min_days, "day"),
            wish=new[0].asked_text if new else "",
            bound=f"{text} {bound}",
            evidence=undone.evidence.text,
            credits=pack.lab.money(undone.cost - after.cost),
        )

    def _tradeoff(self, name: str, old: int, new: int) -> str:
        after, design = self.after, self.after.pack.design
        if new < old and name == "duration_days":
            return days_lost_text(old, new, after.pack)
        plan = self._judged(**{name: old})
        if new > old:
            rises = "; the cost rises" if plan.cost < after.cost else ""
            return f"No evidence is lost{rises}."
        weaker = step_of(plan.evidence, design) < step_of(after.evidence, design)
        lost = "weaker evidence" if weaker else f"still {after.evidence.text}"
        return f"{count_text(old - new, design.sample_noun)} fewer: {lost}."


def deciding_text(plan: Assessment, study: Assessment) -> str:
    """Return the price of 1 more day or sample; empty if the plan fails or cuts nothing."""
    counts, pack, longest = plan.counts, plan.pack, plan.pack.lab.days_left
    noun = pack.design.sample_noun
    if not plan.feasible:
        return ""
    if counts.days < min(study.counts.days, longest):
        protocol = revise(plan.plan, duration_days=counts.days + 1)
        limit = largest_sample(protocol, pack) or counts.samples
        most = plan.revised(revise(protocol, sample_size=min(limit, counts.samples)))
        if not most.feasible:
            return f"With 1 more day the plan fails on {joined(most.failing)}."
        if limit < counts.samples:
            return f"1 more day means {count_text(counts.samples - limit, noun, 'fewer')}."
    if counts.samples < study.counts.samples:
        protocol = revise(plan.plan, sample_size=counts.samples + 1)
        days = (
            days
            for days in range(counts.days, pack.min_days - 1, -1)
            if plan.revised(revise(protocol, duration_days=days)).feasible
        )
        if fewer := counts.days - next(days, counts.days):
            return f"1 more {noun} means {count_text(fewer, 'day', 'fewer')}."
        if failing := plan.revised(protocol).failing:
            return f"With 1 more {noun} the plan fails on {joined(failing)}."
    return f"The lab has {pack.lab.days_text}." if counts.days < study.counts.days else ""


# The order of the planner's and the Lab Manager's changes; their tradeoffs are worded for it
_FIRST: Final = (
    "technique required_equipment required_reagents controls duration_days sample_size"
).split()
_IN_TURN: Final = dict.fromkeys([*_FIRST, *PROTOCOL_FIELDS])


class FieldChange(NamedTuple):
    """A protocol field in which two plans differ; of lists only the labels that differ."""

    field: str
    before: int | str | tuple[str, ...]
    after: int | str | tuple[str, ...]


class PlanStep(NamedTuple):
    """A step from one plan to another, with the suggested change if it makes one."""

    before: Assessment
    after: Assessment
    change: SuggestionChange | None = None

    @property
    def credits_saved(self) -> float:
        return self.before.cost - self.after.cost

    @property
    def evidence_changed(self) -> bool:
        return self.before.evidence.text != self.after.evidence.text

    @property
    def evidence_falls(self) -> bool:
        before, after = self.before.evidence, self.after.evidence
        return self.evidence_changed and not after.row.scale.reaches(after.value, before.value)

    @property
    def newly_dropped(self) -> list[Control]:
        before = {control.name for control in self.before.dropped}
        return [control for control in self.after.dropped if control.name not in before]

    @property
    def fields(self) -> list[FieldChange]:
        return differences(self.before.plan, self.after.plan)


def change_steps(plan: Assessment, changes: Iterable[SuggestionChange]) -> list[PlanStep]:
    steps = []
    for change in changes:
        after = plan.revised(apply_changes(plan.plan, [change]))
        steps.append(PlanStep(plan, after, change))
        plan = after
    return steps


def field_steps(before: Assessment, after: Assessment) -> list[PlanStep]:
    """Return the steps from one plan to another, one field at a time in the planner's order."""
    steps, plan = [], before
    differing = {change.field for change in differences(before.plan, after.plan)}
    for name in (name for name in _IN_TURN if name in differing):
        revised = plan.revised(revise(plan.plan, **{name: getattr(after.plan, name)}))
        steps.append(PlanStep(plan, revised))
        plan = revised
    return steps


def differences(before: Protocol, after: Protocol) -> list[FieldChange]:
    changes = []
    for name in PROTOCOL_FIELDS:
        old, new = getattr(before, name), getattr(after, name)
        if isinstance(old, list):
            labels = _only(old, new), _only(new, old)
            old, new = labels
        if old != new:
            changes.append(FieldChange(name, old, new))
    return changes


def _only(these: list[str], others: list[str]) -> tuple[str, ...]:
    rest, labels = Counter(map(label_key, others)), []
    for label in these:
        rest[label_key(label)] -= 1
        if rest[label_key(label)] < 0:
            labels.append(label)
    return tuple(labels)
