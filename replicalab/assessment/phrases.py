"""How evidence, a plan and its failures are put into words, the same way wherever they stand.

A half-width is better the smaller it is, so a plan is *within* a floor of ±2.50 %, never above it.
"""

from __future__ import annotations

from collections.abc import Sequence

from replicalab.assessment.evidence import Evidence
from replicalab.lexicon import count_text, joined
from replicalab.models import Protocol
from replicalab.scenarios import EvidenceTier, Lab


def placed_text(evidence: Evidence) -> str:
    """Return evidence and where it stands: ``power 0.33, below the floor of 0.50``.

    Evidence that is void says why there is none instead.
    """
    if evidence.void:
        return f"no evidence, since {evidence.void}"
    target, floor = evidence.amount(evidence.target), evidence.amount(evidence.floor)
    worse = evidence.row.scale.worse
    where = {
        EvidenceTier.MEETS_TARGET: f"which meets the target of {target}",
        EvidenceTier.ABOVE_FLOOR: f"{worse} the target of {target} but {floor_text(evidence)}",
        EvidenceTier.BELOW_FLOOR: f"{worse} the floor of {floor}",
    }[evidence.tier]
    return f"{evidence.text}, {where}"


def floor_text(evidence: Evidence) -> str:
    """Return where a plan must stand: ``above the floor of 0.50``, ``within …`` a half-width."""
    return f"{evidence.row.scale.within} the floor of {evidence.amount(evidence.floor)}"


def size_text(plan: Protocol) -> str:
    """Return how large a plan is: ``1,200 samples in 3 days``."""
    samples, days = plan.sample_size, plan.duration_days
    return f"{count_text(samples, 'sample')} in {count_text(days, 'day')}"


def days_text(lab: Lab) -> str:
    """Return how many days a lab gives: ``30 days``, ``17 days from day 14 on``."""
    return f"{count_text(lab.days_left, 'day')}{start_text(lab)}"


def start_text(lab: Lab) -> str:
    """Return from when on a lab's days count: `` from day 14 on``; empty if from the first."""
    return f" from day {lab.start_day} on" if lab.start_day > 1 else ""


def left_text(lab: Lab) -> str:
    """Return how many days are left: ``17 days are left (start on day 14 of 30)``.

    Empty where work begins on the first day, so that all of them are.
    """
    if lab.start_day == 1:
        return ""
    left = lab.days_left
    start = f"(start on day {lab.start_day} of {lab.days})"
    return f"{count_text(left, 'day')} {'is' if left == 1 else 'are'} left {start}"


def failing_text(failing: Sequence[str]) -> str:
    """Return which dimensions fail: ``budget fails``, ``budget and schedule fail``."""
    return f"{joined(failing)} {'fails' if len(failing) == 1 else 'fail'}"
