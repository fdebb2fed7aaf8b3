"""Why the least-loss plan changes what it changes: the first term of the order that decides.

A change is taken back by one step in the finished plan; the term that this worsens is the reason.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from replicalab.agents.suggestions import SuggestionChange, change_of
from replicalab.assessment import Assessment
from replicalab.assessment.phrases import asked_text, days_text
from replicalab.lexicon import count_text, joined, label_key
from replicalab.models import NUMBER_FIELDS, Protocol, revise
from replicalab.planner.limits import step_of
from replicalab.planner.order import Rank, rank
from replicalab.planner.steps import judged

_NOUNS: Final = {"duration_days": "day", "sample_size": "sample"}  # in the order of the changes


def with_reasons(
    worded: Iterable[SuggestionChange], before: Assessment, after: Assessment
) -> tuple[SuggestionChange, ...]:
    """Return the changes from a plan to its least-loss plan.

    Args:
        worded: the changes of items and controls.
        before: the plan.
        after: its least-loss plan.
    """
    kept = set(map(label_key, after.plan.controls))
    changes = []
    for change in worded:
        if change.field == "controls" and label_key(change.original) not in kept:
            restored = revise(after.plan, controls=[*after.plan.controls, change.original])
            reason = _reason("With it", restored, before, after)
            changes.append(change.model_copy(update={"reason": reason}))
        else:
            changes.append(change)
    return *changes, *_number_changes(before, after)


def _number_changes(before: Assessment, after: Assessment) -> Iterator[SuggestionChange]:
    for name, noun in _NOUNS.items():
        old, new = getattr(before.plan, name), getattr(after.plan, name)
        if old == new:
            continue
        back = new + (1 if old > new else -1)
        undone = revise(after.plan, **{name: back})
        if name == "duration_days" and back > after.pack.lab.days_left:
            reason = f"The lab has {days_text(after.pack.lab)}."
        else:
            reason = _reason(f"With {count_text(back, noun)}", undone, before, after)
        resized = {**{each: getattr(after.plan, each) for each in NUMBER_FIELDS}, name: old}
        there = judged(revise(after.plan, **resized), after, [])
        yield change_of(name, old, new, reason, _tradeoff(noun, old, new, there, after))


def _reason(subject: str, undone: Protocol, before: Assessment, after: Assessment) -> str:
    """Return what a plan with one step taken back would worsen."""
    other = judged(undone, after, [before])
    better, worse = (rank(plan, before.plan) for plan in (after, other))
    terms = zip(Rank._fields, better, worse, strict=True)
    term = next((name for name, low, high in terms if low != high), "")
    if term == "failing":
        new = [each for each in other.failing if each not in after.failing]
        return f"{subject} the plan fails on {joined(new)}."
    if term == "endpoint_lost" or other.evidence.void_reason:
        return f"The study's endpoint needs {count_text(after.pack.min_days, 'day')}."
    if term == "wishes":
        return (
            f"{asked_text(next(w for w in other.broken_wishes if w not in after.broken_wishes))}."
        )
    if term == "tier":
        bound = ("target", "floor")[better.tier]
        whose = "the" if bound in after.pack.question.asked else "the study's"
        return f"{subject} the plan misses {whose} {bound}: {other.evidence.text}."
    texts = {
        "loss": "more fidelity is lost",
        "evidence": f"it shows less: {other.evidence.text}",
        "cuts": "less of the study is kept",
        "credits": f"it costs {after.pack.lab.money(other.cost - after.cost)} more",
    }
    return f"{subject} {texts.get(term, 'nothing is gained')}."


def _tradeoff(noun: str, old: int, new: int, there: Assessment, after: Assessment) -> str:
    """Return what a changed number loses: ``there`` is the plan with the old number."""
    if new > old:
        paid = there.cost < after.cost
        return "Nothing of the evidence; the cost rises." if paid else "Nothing of the evidence."
    fewer = count_text(old - new, noun)
    if noun == "sample":
        steps = (step_of(each.evidence, each.pack.design) for each in (there, after))
        weaker = next(steps) < next(steps)
        return f"{fewer} fewer: {'weaker evidence' if weaker else 'the evidence is no weaker'}."
    if new < after.pack.min_days:
        return f"Below {count_text(after.pack.min_days, 'day')} the study's endpoint is lost."
    return f"{fewer} fewer to run and to repeat what fails."
