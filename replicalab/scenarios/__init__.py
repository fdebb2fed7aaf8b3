"""Studies and labs: the study file, its loading, and the pack that both agents read."""

from replicalab.designs import EvidenceTier
from replicalab.scenarios.constraints import (
    Bounds,
    Comparator,
    ScenarioConstraint,
    StudyLimit,
    hard_range,
)
from replicalab.scenarios.field_types import CORRELATIONS, MOST, Arms, Confidence, Identifier, Units
from replicalab.scenarios.lab import (
    AMOUNTS,
    LAB_CONSTRAINTS,
    AmountGroup,
    CostModel,
    Difficulty,
    ExpectedOutcome,
    Lab,
    LabAmount,
    Labs,
    StaffModel,
    amounts_in,
)
from replicalab.scenarios.loading import (
    FOLDER_VARIABLE,
    ScenarioSummary,
    Studies,
    broken_scenarios,
    copy_text,
    generate_scenario,
    list_scenarios,
    load_scenario,
    parse_study,
    scenario_folders,
    shelf_fingerprint,
    study_text,
    template_text,
)
from replicalab.scenarios.overrides import (
    CATEGORIES,
    QUESTION_FIELDS,
    QUESTION_RECORDS,
    EvidenceAssumptions,
    ItemState,
    LabOverrides,
    OwnItem,
)
from replicalab.scenarios.pack import (
    MAX_ROUNDS,
    MISSING,
    Item,
    ItemStatus,
    NormalizedScenarioPack,
    Pack,
    ResourceCategory,
    ScenarioResource,
    Seed,
    pack_of,
)
from replicalab.scenarios.reading import known_names, readable_text
from replicalab.scenarios.study import (
    AllowedSubstitution,
    Control,
    Design,
    HiddenReferenceSpec,
    Original,
    Paper,
    PolicyRule,
    Statement,
    Study,
    Throughput,
    term_in,
)
from replicalab.scenarios.writing import lab_json, plan_json, read_lab, read_plan, study_yaml
