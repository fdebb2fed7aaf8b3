"""The JSON Schema of a study file, for editors that complete and check it.

``python -m replicalab.scenarios.schema`` rewrites the shipped file from the models. Rules between
fields are checked by `parse_study` only.
"""

import json
import re
from typing import Final

from replicalab.models import PROTOCOL_ROWS
from replicalab.scenarios.lab import AMOUNTS
from replicalab.scenarios.loading import SCENARIO_FOLDER
from replicalab.scenarios.reading import Data
from replicalab.scenarios.study import Study

SCHEMA_FILE: Final = "study.schema.json"
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_SECTION: Final = "\n\nAttributes:\n"
_ENTRY: Final = re.compile(r"^    (\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)


def study_schema() -> dict[str, Data]:
    schema = Study.model_json_schema()
    for part in (schema, *schema["$defs"].values()):
        # Each field is described by its entry under Attributes.
        summary, _, attributes = part["description"].replace("``", "'").partition(_SECTION)
        part["description"] = "\n\n".join(map(_one_line, summary.split("\n\n")))
        for name, text in _ENTRY.findall(attributes):
            part["properties"][name]["description"] = _one_line(text)
    for name, row in PROTOCOL_ROWS.items():
        described = f"{row.label}: {row.form}."
        schema["$defs"]["Protocol"]["properties"][name]["description"] = described
    for amount in AMOUNTS.values():
        model = {"": "Lab", "rates": "CostModel", "steps": "StaffModel"}[amount.part]
        schema["$defs"][model]["properties"][amount.key]["description"] = amount.help
    return {"$schema": _DIALECT, **schema, "title": "ReplicaLab study"}


def _one_line(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    text = json.dumps(study_schema(), indent=2, ensure_ascii=False) + "\n"
    (SCENARIO_FOLDER / SCHEMA_FILE).write_text(text, encoding="utf-8")
