"""The JSON Schema that is shipped: in step with the models, and of the same mind as the reader."""

import json
from collections.abc import Iterator

from replicalab.scenarios.loading import SCENARIO_FOLDER
from replicalab.scenarios.reading import Data
from replicalab.scenarios.schema import SCHEMA_FILE, study_schema


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
