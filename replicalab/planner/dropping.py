"""Why the least-loss plan drops a control: what would become of the plan with it."""

from __future__ import annotations

from typing import Final

from replicalab.agents import FeasibilityCheckResult, check_feasibility
from replicalab.agents.suggestions import DROPPED, SuggestionChange
from replicalab.costs import counts_of
from replicalab.evidence import planned_evidence
from replicalab.lexicon import amount_text, label_key
from replicalab.models import Protocol, revise
from replicalab.planner.limits import Limits, largest
from replicalab.planner.order import TIER_RANK
from replicalab.scenarios import EvidenceTier, Pack

_BOUNDS: Final = {EvidenceTier.MEETS_TARGET: "target", EvidenceTier.ABOVE_FLOOR: "floor"}


def with_reasons(
    changes: tuple[SuggestionChange, ...],
    plan: Protocol,
    check: FeasibilityCheckResult,
    scenario: Pack,
) -> tuple[SuggestionChange, ...]:
    """Return the changes that led to a plan, each dropped control with the reason why it goes."""
    return tuple(
        revised_reason(change, _reason(change.original, plan, check, scenario))
        if _drops(change, plan)
        else change
        for change in changes
    )


def _drops(change: SuggestionChange, plan: Protocol) -> bool:
    gone = change.field == "controls" and change.revised == DROPPED
    return gone and label_key(change.original) not in set(map(label_key, plan.controls))


def revised_reason(change: SuggestionChange, reason: str) -> SuggestionChange:
    """Return a change with another reason."""
    return SuggestionChange.model_validate({**change.model_dump(), "reason": reason})


def _reason(label: str, plan: Protocol, check: FeasibilityCheckResult, scenario: Pack) -> str:
    """Return which holds with the control: less evidence, a check that fails, or a higher cost.

    The plan gives up the least fidelity for its tier and its failing dimensions, so with a control
    more it has either fewer samples that reach no such tier, or a failing dimension more.
    """
    kept = revise(plan, controls=[*plan.controls, label])
    most = _most_that_fit(kept, scenario)
    if most is not None and most < plan.sample_size:
        days = Limits.of(scenario).fewest_days(most)
        fitting = revise(kept, sample_size=most, duration_days=days)
        tier = planned_evidence(plan, scenario).tier
        weaker = TIER_RANK[planned_evidence(fitting, scenario).tier] > TIER_RANK[tier]
        if weaker and not _fails_more(fitting, check, scenario):
            samples = f"{amount_text(most)} {'sample' if most == 1 else 'samples'}"
            return f"With it no more than {samples} fit, short of the study's {_BOUNDS[tier]}."
    failing = _fails_more(kept, check, scenario)
    if failing:
        return f"With it the plan fails on {' and '.join(failing)}."
    more = check_feasibility(kept, scenario).estimated_cost - check.estimated_cost
    return f"With it the plan costs {amount_text(more)} credits more."


def _most_that_fit(plan: Protocol, scenario: Pack) -> int | None:
    limits, counts = Limits.of(scenario), counts_of(plan)
    return largest(
        lambda n: limits.at_best(counts._replace(samples=n)),
        len(plan.controls) + 1,
        limits.most_samples(limits.days[1]),
    )


def _fails_more(plan: Protocol, check: FeasibilityCheckResult, scenario: Pack) -> list[str]:
    """Return the dimensions that a plan fails and the checked one does not."""
    failing = check_feasibility(plan, scenario).failing
    return [dimension.value for dimension in failing if dimension not in check.failing]
