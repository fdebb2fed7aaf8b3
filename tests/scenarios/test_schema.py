"""The JSON Schema that is shipped: in step with the models, and of the same mind as the reader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from jsonschema import Draft202012Validator

from replicalab.errors import ScenarioError
from replicalab.scenarios import parse_study
from replicalab.scenarios.loading import SCENARIO_FOLDER
from replicalab.scenarios.reading import Data, read_document
from replicalab.scenarios.schema import SCHEMA_FILE, schema_text, study_schema
from tests.scenarios.small_study import bent

ROOT: Final = Path(__file__).resolve().parents[2]
SHIPPED: Final = sorted([*SCENARIO_FOLDER.glob("*/*.yaml"), SCENARIO_FOLDER / "template.yaml"])
VALIDATOR: Final = Draft202012Validator(study_schema())


def faults_by_schema(data: object) -> list[str]:
    """Return the paths at which data does not fit the schema."""
    return [error.json_path for error in VALIDATOR.iter_errors(data)]


def test_shipped_schema_is_what_the_models_say() -> None:
    assert (SCENARIO_FOLDER / SCHEMA_FILE).read_text(encoding="utf-8") == schema_text(), (
        "run: python -m replicalab.scenarios.schema"
    )


def test_schema_is_a_valid_one_of_its_draft() -> None:
    Draft202012Validator.check_schema(study_schema())
    assert study_schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def blocks(schema: Data, path: str = "") -> Iterator[tuple[str, dict[str, Data]]]:
    """Yield every mapping within a schema, with its path."""
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
    # Its lists and texts are bounded together: what a plan may be is said in one place.
    assert {path.split("/")[2] for path in unbounded} == {"Protocol"}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_study_fits_the_schema_and_tells_an_editor_where_it_is(path: Path) -> None:
    assert faults_by_schema(read_document(path.read_bytes(), path.name).data) == []
    first = path.read_text(encoding="utf-8").splitlines()[0]
    schema = first.removeprefix("# yaml-language-server: $schema=")
    assert schema != first
    assert (path.parent / schema).resolve() == (SCENARIO_FOLDER / SCHEMA_FILE).resolve()


def test_schema_refuses_what_the_reader_refuses() -> None:
    for old, new, where in (
        ("format: 1", "format: 2", "$.format"),
        ("days: 5", "dayz: 5", "$.labs.easy"),
        ("budget: 500", "budget: -5", "$.labs.easy.budget"),
        ("hard: false", "hard: no", "$.constraints[0].hard"),
        ('title: "A tiny study"', "title: 2024", "$.paper.title"),
        ("confidence: verified", "confidence: sure", "$.paper.facts[0].confidence"),
        ('doi: "10.1000/tiny"', 'doi: "https://doi.org/10.1000/tiny"', "$.paper.doi"),
        ('booked: {"kettle": 6}', "booked: [kettle]", "$.labs.medium.booked"),
    ):
        text = bent((old, new))
        with pytest.raises(ScenarioError):
            parse_study(text, "x.yaml")
        assert where in faults_by_schema(read_document(text, "x.yaml").data)
