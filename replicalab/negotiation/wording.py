"""How evidence, a plan and a floor are put into words, the same way wherever an offer is weighed.

A half-width is better the smaller it is, so a plan is *within* a floor of ±2.50 %, never above it.
"""

from __future__ import annotations

from collections.abc import Sequence

from replicalab.evidence import Evidence
from replicalab.lexicon import count_text, joined
from replicalab.models import Protocol, ScientistAction, ScientistActionType
from replicalab.scenarios import EvidenceTier


def lower_is_better(evidence: Evidence) -> bool:
    """Return whether less of this evidence is more: so it is with a half-width."""
    return evidence.row.scale.lower_is_better


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


def fails_text(failing: Sequence[str]) -> str:
    """Return which dimensions fail: ``budget fails``, ``budget and schedule fail``."""
    return f"{joined(failing)} {'fails' if len(failing) == 1 else 'fail'}"


def scientist_message(action: ScientistAction | None, reason: str = "") -> str:
    """Return a turn of the Scientist as a line of conversation."""
    if action is None:
        return f"The Scientist walks away. {reason}".rstrip()
    if action.action_type is ScientistActionType.ACCEPT:
        return "I accept."
    if action.action_type is ScientistActionType.REQUEST_INFO:
        return " ".join(action.questions)
    lists = (
        ("controls", action.controls),
        ("equipment", action.required_equipment),
        ("reagents", action.required_reagents),
    )
    parts = [f"{name}: {', '.join(labels) or 'none'}" for name, labels in lists]
    return (
        f"{count_text(action.sample_size, 'sample')} in "
        f"{count_text(action.duration_days, 'day')}, {action.technique}; "
        f"{'; '.join(parts)}. {action.rationale}"
    )
