"""The two agents: deterministic policies for the Scientist and the Lab Manager."""

from replicalab.agents.lab_manager_policy import (
    AlternativeSuggestion,
    FeasibilityCheckResult,
    SuggestionChange,
    check_feasibility,
    compose_lab_manager_response,
    suggest_alternative,
)
from replicalab.agents.scientist_policy import (
    RetryMetadata,
    ScientistCallResult,
    ScientistOutputParseError,
    build_baseline_scientist_action,
    build_scientist_system_prompt,
    call_scientist_with_retry,
    format_scientist_observation,
    parse_scientist_output,
)
