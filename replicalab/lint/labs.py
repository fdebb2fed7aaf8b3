"""How a study plays in its three labs, and whether that is what its author expects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from replicalab.agents.lab_manager_policy import answer_type
from replicalab.agents.suggestions import reference_offer
from replicalab.assessment import Assessment, assess
from replicalab.lexicon import amount_text, count_text, plural
from replicalab.lint.findings import LintFinding, note, warning
from replicalab.models import DIMENSIONS, LAB_DIMENSIONS, Dimension, LabManagerActionType, revise
from replicalab.scenarios import Difficulty, ExpectedOutcome, Pack, Study, pack_of


class LabAnswer(NamedTuple):
    """What happens when the reference protocol is proposed in a lab, as written.

    Attributes:
        reference: the reference protocol in the lab.
        action: the Lab Manager's answer.
        after: the plan that the answer leads to.
    """

    reference: Assessment
    action: LabManagerActionType
    after: Assessment

    @property
    def pack(self) -> Pack:
        """The study in the lab."""
        return self.reference.pack

    @property
    def place(self) -> str:
        """The lab's path in the file."""
        return f"labs.{self.pack.difficulty}"


def in_each_lab(study: Study) -> list[LabAnswer]:
    """Return what happens in the easy, the medium and the hard lab."""
    return [_answer(pack_of(study, difficulty)) for difficulty in Difficulty]


def _answer(pack: Pack) -> LabAnswer:
    reference = assess(pack.reference_protocol, pack)
    offer = reference_offer(reference)
    action = answer_type(reference.check, offer.suggestion if offer else None)
    return LabAnswer(reference, action, offer.after if offer else reference)


def lab_findings(answers: list[LabAnswer]) -> Iterator[LintFinding]:
    """Yield a note per lab, then what its author should see."""
    yield from map(_note, answers)
    for answer in answers:
        yield from _negotiable(answer)
        if answer.pack.expected is not None:
            yield from _unexpected(answer, answer.pack.expected)


def _note(answer: LabAnswer) -> LintFinding:
    binding = ", ".join(answer.reference.failing) or "nothing"
    message = (
        f"What binds for the reference protocol: {binding}. {_tightest(answer)} "
        f"The Lab Manager answers {answer.action}, {_outcome(answer)}."
    )
    return note(answer.place, message)


def _tightest(answer: LabAnswer) -> str:
    tightest = answer.reference.slack[answer.reference.binding]
    used, limit = amount_text(tightest.used), amount_text(tightest.limit)
    return f"Tightest is {tightest.dimension}: {used} of {limit} {plural(tightest.row.noun, 2)}."


def _outcome(answer: LabAnswer) -> str:
    counts, evidence = answer.after.counts, answer.after.evidence
    samples, days = count_text(counts.samples, "sample"), count_text(counts.days, "day")
    return f"for a plan of {samples} in {days}: {evidence.text}, {evidence.tier}"


def _negotiable(answer: LabAnswer) -> Iterator[LintFinding]:
    accepts = answer.action is LabManagerActionType.ACCEPT
    easy = answer.pack.difficulty is Difficulty.EASY
    if easy and not accepts:
        binding = ", ".join(answer.reference.failing)
        yield warning(
            answer.place,
            f"The easy lab should accept the reference protocol but answers {answer.action}, for "
            f"{binding}; give this lab more, or plan less.",
        )
    elif accepts and not easy:
        yield warning(
            answer.place,
            "This lab accepts the reference protocol, so there is nothing to negotiate; give it "
            "less budget, days or staff, or let an item be missing.",
        )


def _unexpected(answer: LabAnswer, expected: ExpectedOutcome) -> Iterator[LintFinding]:
    for field, written, found in _compared(answer, expected):
        if written != found:
            yield warning(
                f"{answer.place}.expected.{field}",
                f"The file says {written}, but what happens is {found}; correct this value, or "
                "the lab.",
            )


def _compared(answer: LabAnswer, expected: ExpectedOutcome) -> Iterator[tuple[str, str, str]]:
    """Yield (field, what the file says, what happens), the values as text."""
    plan, evidence = answer.after.plan, answer.after.evidence
    fails = [d for d in answer.reference.failing if d in LAB_DIMENSIONS or d in expected.fails]
    yield "fails", _named(expected.fails), _named(fails)
    yield "answer", expected.answer, answer.action
    yield "still_fails", _named(expected.still_fails), _named(answer.after.failing)
    yield "sample_size", str(expected.sample_size), str(plan.sample_size)
    yield "duration_days", str(expected.duration_days), str(plan.duration_days)
    yield "credits", amount_text(expected.credits), amount_text(answer.after.cost)
    found = None if evidence.void else evidence.value
    yield "evidence", _value(answer, expected.evidence), _value(answer, found)
    yield "verdict", expected.verdict, evidence.tier
    if expected.largest_sample is not None:
        yield "largest_sample", str(expected.largest_sample), str(_largest_sample(answer))


def _named(dimensions: list[Dimension]) -> str:
    return ", ".join(d for d in DIMENSIONS if d in dimensions) or "none"


def _value(answer: LabAnswer, value: float | None) -> str:
    return "no evidence" if value is None else answer.after.evidence.row.scale.by_hand(value)


def _largest_sample(answer: LabAnswer) -> int:
    """Return the most samples, up to the reference protocol's, with which the plan fits."""
    low, high = 0, answer.pack.reference_protocol.sample_size
    while low < high:
        middle = (low + high + 1) // 2
        plan = revise(answer.after.plan, sample_size=middle)
        if assess(plan, answer.pack).check.lab_feasible:
            low = middle
        else:
            high = middle - 1
    return low
