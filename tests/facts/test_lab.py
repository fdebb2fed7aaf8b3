"""The lab in words: its name and its changes, in a golden file."""

from typing import Any, Final

from replicalab import scenarios
from replicalab.facts.lab_facts import any_lab_text, lab_text, own_text
from tests.golden import assert_golden

WRITTEN: Final = scenarios.load_scenario("fin_momentum", "medium")
TERMINAL: Final = {"label": "licensed-data terminal", "category": "equipment", "state": "available",
                  "price": 400.0}  # fmt: skip
MUG: Final = {"label": "mug", "category": "reagent", "state": "available"}

OVERRIDES: Final[list[dict[str, Any]]] = [
    {},
    {"days": 6},
    {"days": 40},
    {"budget": 5000, "days": 9},
    {"budget": 1, "days": 1, "staff": 2},
    {"staff": 1, "start_day": 4},
    {"days": 9, "rates": {"per_day": 4.0}, "items": (TERMINAL,)},
    {"days": 9, "steps": {"base": 0}},
    {"items": (MUG,)},
    {"start_date": "2026-12-07", "weekends": False, "start_day": 4},
    {"name": "Ours", "rates": {"per_day": 4.0, "per_sample": 0.0}},
]


def test_sentences_on_own_labs() -> None:
    texts = [f"seeded: {lab_text(scenarios.load_scenario('fin_momentum', 'hard', 3))}"]
    for record in OVERRIDES:
        overrides = scenarios.LabOverrides.model_validate(record)
        pack = WRITTEN.with_own(overrides, scenarios.EvidenceAssumptions())
        texts += ["", f"called: {lab_text(pack)}", own_text(WRITTEN, pack)]
        texts.append(any_lab_text(overrides, "hard", 3))
    assert_golden("labs", "\n".join(texts))
