"""Studies from texts, with the line and reason of each fault; the shipped JSON Schema."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from replicalab.errors import ScenarioError
from replicalab.scenarios import Study, parse_study
from replicalab.scenarios.loading import SCENARIO_FOLDER
from replicalab.scenarios.reading import Data
from replicalab.scenarios.schema import SCHEMA_FILE, study_schema
from tests.golden import assert_golden
from tests.scenarios.small_study import bent, message

FILES: Final = sorted(SCENARIO_FOLDER.glob("*/*.yaml"))
EVERY_STUDY: Final = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def shipped_study(path: Path) -> Study:
    return parse_study(path.read_bytes(), path.name)


@EVERY_STUDY
def test_shipped_study_explains_planning_values_and_survives_json(path: Path) -> None:
    study = shipped_study(path)
    for field in ("effect_planning", "sesoi"):
        assert getattr(study.design, field) is None or field in study.design.why
    assert any(fact.confidence.value == "verified" for fact in study.paper.facts)
    assert parse_study(study.model_dump_json(), "json is yaml") == study


HEAT_AGAIN: Final = "  - {key: heat, label: x, quantity: 1, unit: x, comparator: '=', hard: true}"
FAULTS: Final[list[list[tuple[str, str]]]] = [
    # within a field
    [("budget: 500", "budget: -5")], [("budget: 500", 'budget: "500"')],
    [("budget: 500", "budget: 1e999")], [("budget: 500", "budget: 2e9")],
    [("days: 5", "days: 2.5")], [("days: 5", "days: 12:30")], [("days: 5", f"days: {'9' * 99}")],
    [("hard: false", "hard: no")], [('title: "A tiny study"', "title: true")],
    [('title: "A tiny study"', 'title: " "')], [('title: "A tiny study"', "title:")],
    [('title: "A tiny study"', f"title: {'long ' * 900}")], [("staff: 2", "stuff: 2")],
    [("    staff: 2", "    staff: 2\n    cost_model: {xyz: 1}")],
    [("      source:", "      sauce:")], [("min_days: 1\n", "")],
    [("doi: ", 'doi: "https://doi.org/10.1000/x" # ')],
    [("scenario_id: tiny", "scenario_id: Tiny-1")],
    [("confidence: verified", "confidence: sure")],
    [('success_criteria:\n  - "p < 0.05"', "success_criteria: []")],
    [('success_criteria:\n  - "p < 0.05"', "success_criteria: {a: b}")],
    [('required_elements: ["canary-required"]', f"required_elements: [{'a, ' * 41}]")],
    [('booked: {"kettle": 6}', "booked: [kettle]")],
    [('booked: {"kettle": 6}', 'booked: {"": 6}')],
    [("fidelity_loss: 0", "fidelity_loss: 0\n    evidence_factor: 1e-300")],
    [("design:\n", "design: soon\nold:\n")], [("alpha: 0.05", "alpha: null")],
    [("kind: two_group", "kind: coverage"), ("population_max: null", "population_max: 9")],
    [("quantity: 90", "quantity: null, bounds: days")],
    [("hard: false", "hard: false, bounds: evidence")],
    [("quantity: 90", "quantity: 2000000000"), ("hard: false", "hard: false, bounds: samples")],
    [("hard: false", "hard: false, bounds: samples_per_condition")],
    [("hard: false", "hard: false, bounds: samples_per_condition, conditions: 1")],
    [("hard: false", "hard: false, bounds: samples, conditions: 2")],
    [("hard: false", "hard: false, conditions: 2")],
    [("hard: false", "hard: false, bounds: fish")],
    [("quantity: 90", "quantity: 2.5"), ("hard: false", "hard: false, bounds: samples")],
    [('"empty cup", droppable', '"empty cup", droppable: 1, dropable')],
    [("technique: ", f"technique: [] # {'x' * 99}\n  rationals: ")],
    [("sample_size: 10", "sample_size: 2000000")], [("days: 5", "days: 5\n    currency: US$")],
    [("days: 5", "days: 5\n    currency: 5")],
    [("days: 5", "days: 5\n    start_date: 2026-02-30")],
    [("days: 5", "days: 5\n    start_date: 20261207")],
    [("days: 5", "days: 5\n    weekends: no")],
    [("days: 5", "days: 5\n    cost_model: {overhead_percent: 1001}")],
    [("days: 5", "days: 5\n    cost_model: {per_staff_day: .nan}")],
    # between fields
    [('booked: {"kettle": 6}', 'booked: {"ketle": 6}')],
    [('booked: {"kettle": 6}', 'booked: {"kettle": 6, "KETTLE ": 7}')],
    [('out_of_stock: ["tea"]', 'out_of_stock: ["kettle", "water", " Water"]')],
    [("days: 5", "days: 5\n    start_day: 6")],
    [("days: 5", 'days: 5\n    equipment: ["Kettle", "oven"]\n    reagents: ["oven", "milk"]')],
    [("days: 5", 'days: 5\n    prices: {"tea": 9, "pot": 0, "lid": 2, "TEA": 1, "water": -1}')],
    [("days: 5", 'days: 5\n    prices: {"tea": 9, "pot": 0, "pott": 2, "TEA": 1}')],
    [("days: 5", 'days: 5\n    equipment: ["oven"]\n    booked: {"oven": 2, "pot": 3}')],
    [('original: "kettle"', 'original: "samovar"')],
    [
        ('controls: ["empty cup"]', 'controls: ["empty cap"]'),
        ('required_equipment: ["kettle"]', 'required_equipment: ["kettle", "pot"]'),
        ('required_reagents: ["tea"]', 'required_reagents: ["(+)-tea"]'),
    ],
    [
        (
            'controls:\n  - {name: "empty cup", droppable: true, '
            'protects_against: "a broken thermometer"}',
            "controls: []",
        )
    ],
    [("key: heat", "key: budget")],
    [("hard: false}", f"hard: false}}\n{HEAT_AGAIN}")],
    [
        (
            'phrases: ["open fire"]\n',
            'phrases: ["open fire"]\n'
            '  - {key: no_fire, restriction: "x", forbidden_phrases: ["y"]}\n',
        )
    ],
    [('source: "Table 1"\nsuccess', 'source: "Table 1"\n  why: {flor: "x"}\nsuccess')],
]  # fmt: skip
"""Ways to break the small study, each as (old text, new text)."""


def test_fault_names_line_path_value_and_remedy() -> None:
    texts = [
        "\n".join([*(new.strip()[:80] for _, new in changes), f"-> {message(bent(*changes))}"])
        for changes in FAULTS
    ]
    assert_golden("study_faults", "\n".join(texts))


def test_faults_are_reported_in_file_order() -> None:
    with pytest.raises(ScenarioError) as refused:
        parse_study(
            bent(("days: 5", "days: 0"), ("alpha: 0.05", "alpha: 2"), ("1\n", "1\nx: y\n")), "x"
        )
    assert [fault.path for fault in refused.value.faults] == ["x", "design.alpha", "labs.easy.days"]


def test_labels_compare_without_case_and_spare_spaces() -> None:
    study = parse_study(bent(('booked: {"kettle": 6}', 'booked: {"KETTLE ": 6}')), "x")
    assert study.labs.medium.booked == {"KETTLE": 6}


def test_shipped_schema_is_what_the_models_say() -> None:
    shipped = json.loads((SCENARIO_FOLDER / SCHEMA_FILE).read_text(encoding="utf-8"))
    assert shipped == study_schema(), "run: python -m replicalab.scenarios.schema"


def blocks(schema: Data, path: str = "") -> Iterator[tuple[str, dict[str, Data]]]:
    if isinstance(schema, dict):
        yield path, schema
        for key, part in schema.items():
            yield from blocks(part, f"{path}/{key}")
    elif isinstance(schema, list):
        for part in schema:
            yield from blocks(part, path)


def test_schema_describes_every_field_and_refuses_others() -> None:
    for path, block in blocks(study_schema()):
        if "properties" in block:
            assert block["description"], path
            assert block["additionalProperties"] is False, path
            properties = block["properties"]
            assert isinstance(properties, dict)
            for name, part in properties.items():
                assert isinstance(part, dict), (path, name)
                assert part.get("description"), (path, name)


def test_schema_bounds_every_list_and_every_text() -> None:
    bounds = {"array": "maxItems", "string": "maxLength", "object": "maxProperties"}
    unbounded = [
        path
        for path, block in blocks(study_schema())
        if (kind := block.get("type")) in bounds
        and bounds[str(kind)] not in block
        and not {"enum", "pattern", "properties"} & {*block}
    ]
    # The lists and texts of a plan are bounded together, in the model.
    assert {path.split("/")[2] for path in unbounded} == {"Protocol"}
