"""Reasons of the least-loss plan's changes: the first term of the order that decides.

A change is taken back by one step in the finished plan; the term that this worsens is the reason.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from replicalab.assessment import Assessment
from replicalab.assessment.fixes import SuggestionChange, change_of
from replicalab.assessment.phrases import asked_text, days_text
from replicalab.lexicon import count_text, joined, label_key
from replicalab.models import Protocol, revise
from replicalab.planner.limits import largest_sample, step_of
from replicalab.planner.order import Rank, rank
from replicalab.planner.steps import judged

_NOUNS: Final = {"duration_days": "day", "sample_size": "sample"}  # in the order of the changes


@dataclass(frozen=True)
class Reasons:
    """The reasons of the changes from a plan to its least-loss plan.

    Attributes:
        before: the plan.
        after: its least-loss plan.
        study: the study's own protocol in this lab.
        known: the plans of this lab that are judged already; it grows.
    """

    before: Assessment
    after: Assessment
    study: Assessment
    known: list[Assessment]

    def of_words(self, changes: Iterable[SuggestionChange]) -> Iterator[SuggestionChange]:
        """Yield the changes of items and controls, each dropped control with its reason."""
        kept = set(map(label_key, self.after.plan.controls))
        for change in changes:
            if change.field == "controls" and label_key(change.original) not in kept:
                controls = [*self.after.plan.controls, change.original]
                reason = self._reason("With it", self._judged(controls=controls))
                yield change.model_copy(update={"reason": reason})
            else:
                yield change

    def of_numbers(self) -> Iterator[SuggestionChange]:
        """Yield the change of the days, then that of the samples."""
        for name, noun in _NOUNS.items():
            old, new = getattr(self.before.plan, name), getattr(self.after.plan, name)
            if old != new:
                back = new + (1 if old > new else -1)
                reason = f"The lab has {days_text(self.after.pack.lab)}."
                if name == "sample_size" or back <= self.after.pack.lab.days_left:
                    undone = self._judged(**{name: back})
                    reason = self._reason(f"With {count_text(back, noun)}", undone)
                yield change_of(name, old, new, reason, self._tradeoff(name, old, new))

    def _judged(self, **changes: object) -> Assessment:
        return judged(revise(self.after.plan, **changes), self.after, self.known)

    def _reason(self, subject: str, undone: Assessment) -> str:
        """Return the first term that a plan with one step taken back would worsen."""
        after, pack = self.after, self.after.pack
        better, worse = (rank(plan, self.before.plan, self.study) for plan in (after, undone))
        terms = zip(Rank._fields, better, worse, strict=True)
        term = next((name for name, low, high in terms if low != high), "")
        if term == "failing":
            new = [each for each in undone.failing if each not in after.failing]
            return f"{subject} the plan fails on {joined(new)}."
        if term == "endpoint_lost" or undone.evidence.void_reason:
            return f"The study's endpoint needs {count_text(pack.min_days, 'day')}."
        if term == "wishes":
            missed = (wish for wish in undone.broken_wishes if wish not in after.broken_wishes)
            return f"{asked_text(next(missed))}."
        if term == "tier":
            bound = ("target", "floor")[better.tier]
            whose = "the" if bound in pack.question.asked else "the study's"
            return f"{subject} the plan misses {whose} {bound}: {undone.evidence.text}."
        texts = {
            "loss": "more fidelity is lost",
            "evidence": f"it shows less: {undone.evidence.text}",
            "cuts": "less of the study is kept",
            "credits": f"it costs {pack.lab.money(undone.cost - after.cost)} more",
        }
        return f"{subject} {texts.get(term, 'nothing is gained')}."

    def _tradeoff(self, name: str, old: int, new: int) -> str:
        """Return the loss by a changed number."""
        after, design = self.after, self.after.pack.design
        counted = count_text(old - new, _NOUNS[name])
        if new < old and name == "duration_days":
            if new < after.pack.min_days:
                needed = count_text(after.pack.min_days, "day")
                return f"Below {needed} the study's endpoint is lost."
            return f"{counted} fewer to run and to repeat what fails."
        there = self._judged(**{name: old})
        if new > old:
            rises = "; the cost rises" if there.cost < after.cost else ""
            return f"Nothing of the evidence{rises}."
        weaker = step_of(there.evidence, design) < step_of(after.evidence, design)
        return f"{counted} fewer: {'weaker evidence' if weaker else 'the evidence is no weaker'}."


def deciding_text(
    plan: Assessment, study: Assessment, judge: Callable[[Protocol], Assessment]
) -> str:
    """Return the price of one step closer to the study; empty if the plan fails or cuts nothing.

    Args:
        plan: the least-loss plan.
        study: the study's own protocol in this lab.
        judge: returns the assessment of a plan in this lab.
    """
    counts, pack, longest = plan.counts, plan.pack, plan.pack.lab.days_left
    if not plan.feasible:
        return ""
    if counts.days < min(study.counts.days, longest):
        most = largest_sample(revise(plan.plan, duration_days=counts.days + 1), pack) or 0
        if most < counts.samples:
            return f"1 more day would cost {count_text(counts.samples - most, 'sample')}."
    if counts.samples < study.counts.samples:
        more = revise(plan.plan, sample_size=counts.samples + 1)
        days = (
            days
            for days in range(counts.days, pack.min_days - 1, -1)
            if judge(revise(more, duration_days=days)).feasible
        )
        if fewer := counts.days - next(days, counts.days):
            return f"1 more sample would cost {count_text(fewer, 'day')}."
        if failing := judge(more).failing:
            return f"With 1 more sample the plan fails on {joined(failing)}."
    return f"The lab has {days_text(pack.lab)}." if counts.days < study.counts.days else ""
