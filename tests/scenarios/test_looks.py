"""Interim looks as they are written: in a study's file, in a question, and as a short text."""

from __future__ import annotations

import math
from typing import Any, Final

import pytest
from hypothesis import given
from pydantic import ValidationError

from replicalab.case import Case, case_text, read_case
from replicalab.errors import ScenarioError
from replicalab.measures import KINDS, DesignParameters
from replicalab.measures.looks import LooksFamily
from replicalab.negotiation import ScientistKind, load, replay, save
from replicalab.scenarios import (
    DesignKind,
    EvidenceAssumptions,
    LabOverrides,
    Looks,
    parse_study,
    read_looks,
    study_yaml,
)
from replicalab.scenarios.looks import with_shares
from tests.factories import make_design, make_pack, make_protocol
from tests.golden import assert_golden
from tests.measures.designs import design_of
from tests.negotiation.playing import by_rule
from tests.strategies import interim_looks

TWO: Final = Looks(family=LooksFamily.OBRIEN_FLEMING, interim=2)


@given(interim_looks())
def test_looks_are_read_as_they_are_written(looks: Looks) -> None:
    assert read_looks(str(looks)) == looks
    assert Looks.model_validate_json(looks.model_dump_json()) == looks
    assert len(looks.analyses) == looks.interim + 1
    assert list(looks.analyses) == sorted({*looks.analyses})
    assert looks.analyses[-1] == 1


WRONG: Final = (
    *("", "x", ":", "x:2", "pocock", "pocock:", "pocock:9", "pocock:-1", "pocock:1e9"),
    *("pocock:nan", "pocock:inf", "pocock:0.3,0.31", "pocock:0.6,0.3", "pocock:0.99", "pocock:2:1"),
    *("pocock:0.1,0.2,0.3,0.4,0.5,0.6", "hwang_shih_decani:2:1e308", "hwang_shih_decani:2:nan"),
    *("pocock:2:3:4", "pocock:²", f"pocock:{'9' * 5000}", f"{'x' * 5000}:2"),
)
"""Texts that name no looks."""


def test_text_that_names_no_looks_is_refused_with_what_to_write() -> None:
    told = []
    for text in WRONG:
        with pytest.raises(ValueError, match=r".") as refused:
            read_looks(text)
        told.append(str(refused.value))
        assert len(told[-1]) < 400
    assert_golden("looks_faults", "\n".join(told))


@pytest.mark.parametrize(
    "held",
    [
        {"interim": 5},
        {"interim": -1},
        {"interim": 10**9},
        {"interim": 1.5},
        {"interim": "2"},
        {"shares": [0.5, 0.6]},
        {"shares": [math.nan]},
        {"shares": [0.0]},
        {"shares": [1e308]},
        {"gamma": -4.0},
        {"family": "hwang_shih_decani", "gamma": 1e308},
        {"family": "hwang_shih_decani", "gamma": math.nan},
        {"family": "nobody"},
        {"looks": 2},
    ],
)
def test_looks_beyond_what_is_worked_out_are_refused(held: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Looks.model_validate({"family": "pocock", **held})


def test_shares_are_typed_apart_from_the_rest() -> None:
    assert with_shares(TWO, " 0.2, 0.5 ,0.8 ").shares == (0.2, 0.5, 0.8)
    assert with_shares(TWO, " 0.2, 0.5 ,0.8 ").interim == 3
    assert with_shares(with_shares(TWO, "0.2,0.5"), "") == TWO
    for text in ("x", "0.5,", "0.5 0.6", "0.5,0.5", "2", "nan", "0.1,0.2,0.3,0.4,0.5", "9" * 5000):
        with pytest.raises(ValueError, match=r"are no shares .* such as 0\.3, 0\.6"):
            with_shares(TWO, text)


@pytest.mark.parametrize("kind", DesignKind)
def test_design_has_looks_where_its_kind_can(kind: DesignKind) -> None:
    design = design_of(kind) if KINDS[kind].effect else make_design(kind=kind, population_max=9)
    question = EvidenceAssumptions(looks=TWO)
    if KINDS[kind].information:
        assert question.over(design).looks == TWO
        return
    with pytest.raises(ScenarioError, match=rf"{kind.value.replace('_', '-')} design has no test"):
        question.over(design)
    none = EvidenceAssumptions(looks=Looks(family=LooksFamily.POCOCK, interim=0))
    assert none.over(design).looks == none.looks


def test_looks_that_are_asked_for_stand_in_place_of_the_studys() -> None:
    pack = make_pack(design=make_design(looks=TWO))
    other = Looks(family=LooksFamily.POCOCK, interim=4)
    asked = pack.with_own(LabOverrides(), EvidenceAssumptions(looks=other))
    assert (pack.design.looks, asked.design.looks) == (TWO, other)
    assert asked.asked == ()
    kept = pack.with_own(LabOverrides(), EvidenceAssumptions(alpha=0.01))
    assert kept.design.looks == TWO


def test_information_of_a_kind_grows_with_the_sample() -> None:
    at = DesignParameters(alpha=0.05, event_share=0.3)
    for kind, row in KINDS.items():
        if row.information is not None:
            values = [row.information.of(n, at) for n in range(1, 200)]
            assert values == sorted(values), kind
            assert values[-1] > 0


# --- where they go along ---


def test_study_file_holds_looks_and_names_what_is_wrong_with_them() -> None:
    written = study_yaml(make_pack(design=make_design(looks=TWO)).study)
    assert parse_study(written, "x.yaml").design.looks == TWO
    wrong = written.replace("interim: 2", "interim: 9")
    assert wrong != written
    with pytest.raises(ScenarioError) as refused:
        parse_study(wrong, "x.yaml")
    [fault] = refused.value.faults
    assert fault.path == "design.looks.interim"
    assert (fault.problem, fault.remedy) == (
        "9 is not allowed",
        "must be less than or equal to 4",
    )
    coverage = make_design(kind="coverage", population_max=9)
    with pytest.raises(ValidationError, match="a coverage design has no test"):
        make_design(**{**dict(coverage), "looks": TWO})


def test_case_and_negotiation_keep_looks_and_end_as_without() -> None:
    pack = make_pack().with_own(LabOverrides(), EvidenceAssumptions(looks=TWO))
    case = Case.of(pack, make_protocol())
    assert read_case(case_text(case)) == case
    kept, plain = (
        by_rule(each, make_protocol(), scientist=ScientistKind.EVIDENCE_AWARE)
        for each in (pack, make_pack())
    )
    assert kept.outcome == plain.outcome
    assert kept.final_plan
    assert plain.final_plan
    assert kept.final_plan.plan == plain.final_plan.plan
    again = replay(load(save(kept)), pack)
    assert again.setup.question.looks == TWO


def test_nothing_is_written_of_looks_where_there_are_none() -> None:
    case = Case.of(make_pack(), make_protocol())
    assert "looks" not in case_text(case)
    assert "looks" not in study_yaml(make_pack().study)
    plain = by_rule(make_pack(), make_protocol(), scientist=ScientistKind.EVIDENCE_AWARE)
    assert "looks" not in save(plain)
