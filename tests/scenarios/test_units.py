"""Units and arms as fields of a study and of a question."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pydantic import ValidationError

from replicalab.designs import GROUPINGS, KINDS
from replicalab.errors import ScenarioError
from replicalab.scenarios import QUESTION_RECORDS, Arms, EvidenceAssumptions, LabOverrides, Units
from tests.designs.examples import design_of
from tests.factories import make_design, make_pack

TANKS = Units(name="tank", samples=16.0, icc=0.1)

NO_NUMBERS = (math.nan, math.inf, -math.inf, -1.0, 1e308, "16", True)
INVALID = {
    "name": ("", " ", "x" * 31, 5, None),
    "samples": (*NO_NUMBERS, None, 0.0, 0.999, 10**9 + 1),
    "icc": (*NO_NUMBERS, 1.0000001, -5e-324),
    "share": (*NO_NUMBERS, None, 0.0, 0.0499, 0.9501, 1.0, 10**9),
}


@pytest.mark.parametrize("field", INVALID)
def test_invalid_units_and_arms_are_refused(field: str) -> None:
    model, others = (Arms, {}) if field == "share" else (Units, {"name": "tank", "samples": 2})
    for value in INVALID[field]:
        with pytest.raises(ValidationError, match=field):
            model.model_validate({**others, field: value})


def test_ends_of_what_is_valid_are_taken() -> None:
    assert Units(name="x" * 30, samples=1e9, icc=1.0).icc == 1.0
    for share in (0.05, 0.95):
        assert Arms(share=share).share == share


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", GROUPINGS)
def test_kinds_without_groupings_refuse_them(kind: str, name: str) -> None:
    assert GROUPINGS.keys() == QUESTION_RECORDS.keys()
    value = TANKS if name == "units" else Arms(share=0.2)
    changes: dict[str, Any] = {name: value}
    if name in KINDS[kind].optional:
        assert getattr(design_of(kind, **changes), name) == value
        return
    with pytest.raises(ValidationError, match=f"{name} are given, but {KINDS[kind].named} design"):
        design_of(kind, **changes)


def test_question_replaces_the_units() -> None:
    pack = make_pack(
        design=make_design(kind="two_group", units=TANKS.model_copy(update={"icc": 0.2}))
    )
    request = pack.with_own(LabOverrides(), EvidenceAssumptions(units=TANKS, arms=Arms(share=0.3)))
    assert request.asked == ("units", "arms")
    assert (request.design.units, request.design.arms) == (TANKS, Arms(share=0.3))
    why = EvidenceAssumptions(units=TANKS, why={"units": "A pilot."})
    assert pack.with_own(LabOverrides(), why).design.why["units"] == "A pilot."
    assert EvidenceAssumptions.model_validate_json(why.model_dump_json()) == why


def test_question_of_units_is_refused_for_an_audit() -> None:
    pack = make_pack(design=design_of("audit"))
    with pytest.raises(ScenarioError) as caught:
        pack.with_own(LabOverrides(), EvidenceAssumptions(units=TANKS))
    [fault] = caught.value.faults
    assert fault.problem == "units are given, but an audit design has no experimental units"
    assert fault.remedy == "leave them out"
