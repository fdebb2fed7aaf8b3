"""Rewrites the shipped JSON Schema: ``python -m replicalab.scenarios.schema``."""

from __future__ import annotations

from replicalab.scenarios.loading import SCENARIO_FOLDER
from replicalab.scenarios.schema import SCHEMA_FILE, schema_text

if __name__ == "__main__":
    (SCENARIO_FOLDER / SCHEMA_FILE).write_text(schema_text(), encoding="utf-8")
