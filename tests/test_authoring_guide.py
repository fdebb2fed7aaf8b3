"""docs/authoring.md: every block in it can be used, and what it tells people to press is there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import pytest

from replicalab.models import LARGEST_PLANNED, LONGEST_LABEL, LONGEST_TEXT
from replicalab.scenarios import (
    FOLDER_VARIABLE,
    Bounds,
    CostModel,
    Design,
    Difficulty,
    Lab,
    StaffModel,
    Study,
    parse_study,
    template_text,
)
from replicalab.scenarios.fields import (
    LONGEST_SHORT_TITLE,
    LONGEST_TITLE,
    MOST_FACTS,
    MOST_ITEMS,
    MOST_PHRASES,
    MOST_SUBSTITUTIONS,
)
from replicalab.scenarios.reading import MAX_BYTES, MOST_VALUES, Data, read_document

ROOT: Final = Path(__file__).resolve().parents[1]
GUIDE: Final = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    """Return the text of a section of the guide."""
    return GUIDE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def blocks(text: str) -> list[str]:
    """Return the YAML blocks of a text."""
    return re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)


def test_blocks_are_read_and_one_after_the_other_are_the_template() -> None:
    assert all(read_document(block, "docs/authoring.md").data for block in blocks(GUIDE))
    whole = parse_study("".join(blocks(section("Block by block"))), "docs/authoring.md")
    assert whole == parse_study(template_text(), "template.yaml")


@pytest.mark.parametrize("block", blocks(section("Variations")), ids=lambda b: b.split(":")[0])
def test_variation_fits_into_the_template(block: str) -> None:
    data: dict[str, Data] = read_document(template_text(), "template.yaml").data
    changes = read_document(block, "docs/authoring.md").data
    study = parse_study(json.dumps(data | changes), "varied")
    written = study.model_dump(mode="json", exclude_unset=True)
    assert {key: written[key] for key in changes} == changes


def test_guide_speaks_of_every_field_of_a_study() -> None:
    names = [*Study.model_fields, *Design.model_fields, *Lab.model_fields, *Difficulty]
    assert [name for name in names if f"{name}:" not in GUIDE] == []
    assert [bounds for bounds in Bounds if f"`{bounds}`" not in GUIDE] == []


def test_guide_gives_the_rates_that_hold() -> None:
    text = " ".join(section("Block by block").split())
    rates, steps = CostModel(), StaffModel()
    assert (
        f"A plan costs {rates.per_sample:g} credits a sample, {rates.per_day:g} a day, "
        f"{rates.per_control:g} a control, {rates.per_equipment_item:g} a piece of equipment and "
        f"{rates.per_reagent:g} a reagent"
    ) in text
    assert (
        f"above {steps.sample_threshold} samples, {steps.control_threshold} controls, "
        f"{steps.day_threshold} days and {steps.equipment_threshold} pieces of equipment"
    ) in text
    assert FOLDER_VARIABLE in section("In a folder")


def test_guide_gives_the_bounds_that_hold() -> None:
    text = " ".join(section("How large it may be").split())
    assert (
        f"at most {MAX_BYTES // 1024} KiB and {MOST_VALUES:,} values, the title "
        f"{LONGEST_TITLE} characters (the short one {LONGEST_SHORT_TITLE}), a label "
        f"{LONGEST_LABEL}, a text {LONGEST_TEXT:,}. A list has "
        f"at most {MOST_ITEMS} entries; the facts are at most {MOST_FACTS}, the substitutions "
        f"{MOST_SUBSTITUTIONS}, and the forbidden phrases of all restrictions together "
        f"{MOST_PHRASES}"
    ) in text
    assert f"at most {LARGEST_PLANNED:,} samples" in text


def test_what_the_guide_tells_people_to_press_is_on_the_page() -> None:
    sources = [ROOT / "app.py", *(ROOT / "replicalab" / "ui").rglob("*.py")]
    page = "\n".join(source.read_text(encoding="utf-8") for source in sources)
    named = re.findall(r"\*\*(.+?)\*\*", section("In the browser"))
    assert len(named) == 9
    assert [name for name in named if f'"{name}' not in page] == []
