"""Studies and labs: the study file, its loading, and the pack that both agents read."""

from replicalab.scenarios.inventory import Inventory, ItemStatus
from replicalab.scenarios.labs import pack_of
from replicalab.scenarios.loading import (
    ScenarioSummary,
    broken_scenarios,
    generate_scenario,
    list_scenarios,
    load_scenario,
    parse_study,
)
from replicalab.scenarios.models import (
    AllowedSubstitution,
    Comparator,
    Confidence,
    Control,
    Design,
    DesignKind,
    Difficulty,
    EvidenceTier,
    HiddenReferenceSpec,
    NormalizedScenarioPack,
    PolicyRule,
    ResourceCategory,
    ScenarioConstraint,
    ScenarioResource,
    Study,
)
from replicalab.scenarios.rates import CostModel, StaffModel

__all__ = [
    "AllowedSubstitution",
    "Comparator",
    "Confidence",
    "Control",
    "CostModel",
    "Design",
    "DesignKind",
    "Difficulty",
    "EvidenceTier",
    "HiddenReferenceSpec",
    "Inventory",
    "ItemStatus",
    "NormalizedScenarioPack",
    "PolicyRule",
    "ResourceCategory",
    "ScenarioConstraint",
    "ScenarioResource",
    "ScenarioSummary",
    "StaffModel",
    "Study",
    "broken_scenarios",
    "generate_scenario",
    "list_scenarios",
    "load_scenario",
    "pack_of",
    "parse_study",
]
