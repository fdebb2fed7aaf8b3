"""A plan judged once: its check, its cost, what it is worth, and what it gives up of the study."""

from replicalab.assessment.assess import Assessment, Cliff, assess, used_substitutions
from replicalab.assessment.costs import (
    CostTerm,
    Counts,
    cost,
    counts_of,
    credits_needed,
    samples_in_arms,
    staff,
    units_in_arms,
)
from replicalab.assessment.dimensions import (
    DIMENSION_ROWS,
    ITEM_DIMENSIONS,
    Amount,
    DimensionRow,
    Slack,
    amounts,
    registered,
)
from replicalab.assessment.effects import (
    CHOICES,
    AssumedEffect,
    EffectChoice,
    NamedEffect,
    assumed_effects,
    chosen_effect,
    effects_of,
    merged_effects,
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
    seen_effect,
    smallest_detectable_effect,
    tier_of,
)
from replicalab.assessment.paper import breaks, violations
from replicalab.assessment.phrases import (
    cautions_text,
    cautions_title,
    dimensions_text,
    failing_text,
    placed_text,
    samples_text,
    size_text,
    wishes_text,
)
from replicalab.assessment.results import DimensionCheck, FeasibilityCheckResult
from replicalab.scenarios import Item
