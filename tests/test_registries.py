"""Every registry is walked: what is in one table of a kind of thing is in each of its tables.

Where to add what is in docs/architecture.md, under "To add …"; tests/test_to_add.py checks that its
files and names exist.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Final

import pytest

from replicalab import figures
from replicalab.agents.prompts import FIELD_FORMS
from replicalab.assessment import (
    AMOUNTS,
    DIMENSION_ROWS,
    ITEM_DIMENSIONS,
    FeasibilityCheckResult,
    Slack,
    assess,
)
from replicalab.cli import report as cli_report
from replicalab.figures.convergence import _LINES
from replicalab.library import KINDS as ENTRIES
from replicalab.library import Kind
from replicalab.measures import KINDS, PARAMETERS, DesignKind, Given
from replicalab.models import (
    DIMENSIONS,
    FIELD_LABELS,
    LAB_DIMENSIONS,
    PROTOCOL_FIELDS,
    Dimension,
    LabManagerAction,
    Protocol,
    ScientistAction,
    wording_of,
)
from replicalab.planner.asks import Ask, granted
from replicalab.planner.least_loss import _BY_NUMBERS
from replicalab.planner.steps import NUMBERS
from replicalab.report import FORMS
from replicalab.scenarios import Design, load_scenario
from replicalab.text.plan import slack_text, used_text
from replicalab.ui import state
from replicalab.ui.address import _PLAN_IN_ORDER
from replicalab.ui.library.opening import OPENINGS
from replicalab.ui.making.fields import _WORDS
from tests.factories import make_protocol

PACK: Final = load_scenario("psy_stroop", "hard")
PLAN: Final = assess(PACK.reference_protocol, PACK)


# --- dimensions -----------------------------------------------------------------------------


def test_each_dimension_is_a_row_a_field_of_the_check_and_a_flag() -> None:
    assert tuple(DIMENSION_ROWS) == DIMENSIONS
    assert tuple(FeasibilityCheckResult.model_fields)[: len(DIMENSIONS)] == DIMENSIONS
    for dimension in set(DIMENSIONS) - {Dimension.POLICY}:  # which the document names no flag for
        assert getattr(PLAN.check, f"{dimension}_ok") is PLAN.check.check(dimension).ok


def test_each_dimension_of_the_lab_is_a_flag_of_the_lab_managers_answer() -> None:
    answers = [name for name in LabManagerAction.model_fields if name.endswith("_ok")]
    assert answers == [f"{dimension}_ok" for dimension in LAB_DIMENSIONS]


def test_each_dimension_is_decided_by_the_wording_or_the_numbers_of_a_plan() -> None:
    by_wording = [d for d, row in DIMENSION_ROWS.items() if row.by_wording]
    by_numbers = [*_BY_NUMBERS, Dimension.SCHEDULE]  # the days always fit
    assert sorted([*by_wording, *by_numbers]) == sorted(DIMENSIONS)


def test_each_dimension_of_the_lab_is_an_amount_or_of_items() -> None:
    assert sorted([*AMOUNTS, *ITEM_DIMENSIONS.values()]) == sorted(LAB_DIMENSIONS)


@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_each_dimension_is_written_with_its_noun(dimension: Dimension) -> None:
    slack = PLAN.slack[dimension]
    assert isinstance(slack, Slack)
    assert used_text(PLAN, slack)
    assert bool(slack_text(slack)) is (dimension in LAB_DIMENSIONS)


@pytest.mark.parametrize("dimension", AMOUNTS)
def test_each_amount_can_be_asked_for_and_is_drawn_over_the_rounds(dimension: Dimension) -> None:
    limit = DIMENSION_ROWS[dimension].limit
    more = granted([Ask(dimension, limit(PLAN), limit(PLAN) + 1)], PACK)
    assert limit(PLAN.in_lab(more)) == limit(PLAN) + 1
    assert dimension in [line[0] for line in _LINES]


# --- kinds of design ------------------------------------------------------------------------


def test_each_number_that_a_kind_of_design_may_need_is_a_field_of_design_and_is_given() -> None:
    assert PARAMETERS.keys() <= Design.model_fields.keys()
    assert tuple(PARAMETERS) == Given._fields
    assert {name for row in KINDS.values() for name in row.needs} <= PARAMETERS.keys()


def test_each_number_of_a_design_and_each_kind_has_its_words_in_the_form() -> None:
    assert _WORDS.items() >= {name: row.phrase for name, row in PARAMETERS.items()}.items()
    assert {kind.value for kind in DesignKind} == KINDS.keys() <= _WORDS.keys()


# --- fields of a protocol -------------------------------------------------------------------


def test_each_field_of_a_protocol_has_its_label_and_is_a_field_of_an_action() -> None:
    assert tuple(FIELD_LABELS) == PROTOCOL_FIELDS
    assert set(PROTOCOL_FIELDS) <= ScientistAction.model_fields.keys() == FIELD_FORMS.keys()


def test_each_text_of_a_protocol_is_read_for_restrictions() -> None:
    texts = wording_of(make_protocol()).texts
    assert {field for field, _ in texts} == {*PROTOCOL_FIELDS} - {*NUMBERS}


def test_fields_that_a_link_once_had_by_position_are_still_fields() -> None:
    assert set(_PLAN_IN_ORDER) <= set(PROTOCOL_FIELDS)
    later = set(PROTOCOL_FIELDS) - set(_PLAN_IN_ORDER)
    assert not {name for name in later if Protocol.model_fields[name].is_required()}


# --- forms of a document --------------------------------------------------------------------


def test_each_form_of_a_document_is_saved_by_the_command_and_its_button_says_its_name() -> None:
    assert (*(f".{ending}" for ending in FORMS), ".json") == cli_report.FORMS


# --- kinds of entries -----------------------------------------------------------------------


def test_each_kind_of_entry_is_read_described_and_opened() -> None:
    assert [*ENTRIES] == [*OPENINGS] == [*Kind]


# --- charts ---------------------------------------------------------------------------------


def test_each_chart_is_of_a_plan_or_of_many_negotiations() -> None:
    public = {name: getattr(figures, name) for name in figures.__all__}
    charts = {
        name
        for name, function in public.items()
        if inspect.isfunction(function)
        and inspect.signature(function).return_annotation == "go.Figure"
        and "figure" not in inspect.signature(function).parameters
    }
    assert charts == {*figures.OF_A_PLAN, *figures.OF_MANY}
    assert set(figures.OF_A_PLAN).isdisjoint(figures.OF_MANY)


def test_each_chart_of_a_plan_leaves_as_a_picture() -> None:
    ui = Path(state.__file__).parent
    drawn = ("handing/pictures", "protocol/power", "tradeoffs/frontier", "tradeoffs/region")
    code = "".join((ui / f"{module}.py").read_text(encoding="utf-8") for module in drawn)
    assert {name for name in figures.OF_A_PLAN if re.search(rf"\b{name}\b", code)} == {
        *figures.OF_A_PLAN
    }
