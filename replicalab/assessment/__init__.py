"""A plan judged once: its check, its cost, what it is worth, and what it gives up of the study."""

from replicalab.assessment.assess import Assessment, Cliff, Item, assess
from replicalab.assessment.costs import (
    CostTerm,
    Counts,
    StaffStep,
    cost,
    cost_terms,
    counts_of,
    credits_needed,
    staff,
    staff_steps,
)
from replicalab.assessment.dimensions import AMOUNTS, DIMENSION_ROWS, DimensionRow, Slack
from replicalab.assessment.evidence import (
    AssumedEffect,
    Evidence,
    assumed_effects,
    counted_samples,
    evidence_curve,
    evidence_value,
    merged_effects,
    planned_evidence,
    seen_effect,
    smallest_detectable_effect,
    tier_of,
)
from replicalab.assessment.fidelity import dropped_controls, used_substitutions
from replicalab.assessment.paper import REQUIRED_ELEMENT
from replicalab.assessment.phrases import (
    failing_text,
    floor_text,
    placed_text,
    size_text,
)
from replicalab.assessment.results import (
    DimensionCheck,
    FeasibilityCheckResult,
    Severity,
    ValidationIssue,
    ValidationResult,
)
from replicalab.assessment.rules import Violation, breaks, violations

__all__ = [
    "AMOUNTS",
    "DIMENSION_ROWS",
    "REQUIRED_ELEMENT",
    "Assessment",
    "AssumedEffect",
    "Cliff",
    "CostTerm",
    "Counts",
    "DimensionCheck",
    "DimensionRow",
    "Evidence",
    "FeasibilityCheckResult",
    "Item",
    "Severity",
    "Slack",
    "StaffStep",
    "ValidationIssue",
    "ValidationResult",
    "Violation",
    "assess",
    "assumed_effects",
    "breaks",
    "cost",
    "cost_terms",
    "counted_samples",
    "counts_of",
    "credits_needed",
    "dropped_controls",
    "evidence_curve",
    "evidence_value",
    "failing_text",
    "floor_text",
    "merged_effects",
    "placed_text",
    "planned_evidence",
    "size_text",
    "seen_effect",
    "smallest_detectable_effect",
    "staff",
    "staff_steps",
    "tier_of",
    "used_substitutions",
    "violations",
]
