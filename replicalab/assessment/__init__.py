"""A plan judged once: its check, cost, evidence and fidelity loss."""

from replicalab.assessment.assess import Assessment, Cliff, assess
from replicalab.assessment.costs import (
    CostTerm,
    Counts,
    counts_of,
    credits_needed,
    samples_in_arms,
    units_in_arms,
)
from replicalab.assessment.dimensions import (
    DIMENSION_ROWS,
    ITEM_DIMENSIONS,
    DimensionRow,
    LabLimit,
    Slack,
    lab_limits,
)
from replicalab.assessment.effects import (
    AssumedEffect,
    assumed_effects,
    effects_of,
    missing_choices,
    named_effect,
    offered_effects,
    original_estimate,
)
from replicalab.assessment.evidence import (
    Evidence,
    counted_of,
    counted_units,
    evidence_of,
    evidence_value,
    place_of,
    scale_of,
    smallest_detectable_effect,
    tier_of,
)
from replicalab.assessment.findings import DimensionCheck, FeasibilityCheckResult
from replicalab.assessment.phrases import dimensions_text, failing_text
from replicalab.assessment.plan_in_lab import breaks, used_substitutions, violations
