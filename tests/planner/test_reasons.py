"""Every reason of the least-loss plan is true: each sentence is taken apart and tried."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import pytest

from replicalab.assessment import Assessment, assess
from replicalab.assessment.dimensions import SuggestionChange
from replicalab.lexicon import joined, label_key
from replicalab.models import NUMBER_FIELDS, Protocol, revise
from replicalab.planner import PlanAnalysis, least_loss
from replicalab.scenarios import EvidenceAssumptions, LabOverrides
from tests.factories import make_design, make_pack, make_protocol
from tests.planner.brute_force import Place, ranked
from tests.planner.small_labs import opened
from tests.tiers import batches

LABS: Final = 300
BATCHES: Final = pytest.mark.parametrize("first", batches(LABS, short=1, long=4))

WITH: Final = r"With (?:it|([\d,]+) (?:day|sample)s?)"
TERMS: Final = {
    rf"{WITH} the plan fails on .*\.": 0,
    rf"{WITH} the plan misses the (?:study's )?(?:target|floor): .*\.": 1,
    r"The study's endpoint needs \d+ days?\.": 2,
    r"'wish \d' should be .*\.": 3,
    rf"{WITH} more fidelity is lost\.": 4,
    rf"{WITH} it shows less: .*\.": 5,
    rf"{WITH} less of the study is kept\.": 6,
    rf"{WITH} it costs .* more\.": 8,
    rf"{WITH} nothing is gained\.": -1,
}
"""Each sentence, and the place of the term of the order that it names."""
RARE: Final = {rf"{WITH} more fidelity is lost\.", rf"{WITH} nothing is gained\."}
"""Sentences that some batches never meet."""


def taken_back(change: SuggestionChange, found: Protocol) -> Protocol:
    """Return the found plan with one step of a change taken back."""
    if change.field == "controls":
        return revise(found, controls=[*found.controls, change.original])
    old, new = int(change.original), int(change.revised)
    return revise(found, **{change.field: new + (1 if old > new else -1)})


def own_changes(options: PlanAnalysis) -> Iterator[SuggestionChange]:
    """Yield each change of numbers and controls that the planner makes itself."""
    theirs = options.offer.changes if options.offer else ()
    changes = () if options.least.changes == theirs else options.least.changes
    texts = set(map(label_key, options.least.plan.controls))
    for change in changes:
        dropped = change.field == "controls" and label_key(change.original) not in texts
        if change.field in NUMBER_FIELDS or dropped:
            yield change


def first_worse(better: Place, worse: Place) -> int:
    """Return the place of the first term in which two plans differ, -1 if they are equal."""
    differing = (n for n, (low, high) in enumerate(zip(better, worse, strict=True)) if low != high)
    return next(differing, -1)


@BATCHES
def test_every_reason_names_the_first_worse_term(first: int) -> None:
    used = set()
    for options in map(opened, range(first, first + LABS)):
        result, plan, pack = options.least.after, options.yours.plan, options.yours.pack
        for change in own_changes(options):
            back = assess(taken_back(change, result.plan), pack)
            if change.field == "duration_days" and change.reason.startswith("The lab has"):
                assert back.counts.days == pack.lab.days_left + 1
                continue
            pattern = next(text for text in TERMS if re.fullmatch(text, change.reason))
            used.add(pattern)
            term = first_worse(ranked(result, plan), ranked(back, plan))
            endpoint = TERMS[pattern] == 2 and back.evidence.void_reason
            assert term == TERMS[pattern] or endpoint, change.reason
            check_numbers(change.reason, result, back)
    assert {*TERMS} - used <= RARE


def check_numbers(reason: str, found: Assessment, back: Assessment) -> None:
    """Check what a sentence says of the plan that is taken back."""
    if "fails on" in reason:
        new = [text for text in back.failing if text not in found.failing]
        assert reason.endswith(f"fails on {joined(new)}.")
    elif "misses" in reason or "shows less" in reason:
        assert reason.endswith(f": {back.evidence.text}.")
    elif "costs" in reason:
        assert found.pack.lab.money(back.cost - found.cost) in reason
    elif "should be" in reason:
        missed = [wish for wish in back.broken_wishes if wish not in found.broken_wishes]
        assert reason.startswith(f"'{missed[0].constraint.label}'")


# Cohen (1988), table 2.4.1: at d = 0.5 and alpha 0.05, 64 a group have power 0.80. With 128 samples
# a plan of the synthetic study costs 1,680 credits and 50 a day.
HALF: Final = make_design(effect_planning=0.5, alpha=0.05, target=0.8, floor=0.5)


@pytest.mark.parametrize(
    ("question", "whose"),
    [
        (EvidenceAssumptions(), "the study's target"),
        (EvidenceAssumptions(target=0.9), "the target"),
    ],
)
def test_own_target_is_not_called_the_studys(question: EvidenceAssumptions, whose: str) -> None:
    pack = make_pack(design=HALF, budget=5000.0).with_own(LabOverrides(), question)
    [change] = least_loss(make_protocol(sample_size=10), pack).changes
    assert f"misses {whose}: power" in change.reason
