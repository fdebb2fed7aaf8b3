"""Every registry is walked: what is in one table of a kind of thing is in each of its tables.

Where to add what is in docs/architecture.md, under "To add …"; tests/test_documents.py checks that
its files and names exist.
"""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Final, get_args

import plotly.graph_objects as go

from replicalab import reports
from replicalab.agents.prompts import FIELD_FORMS
from replicalab.assessment import (
    AMOUNTS,
    DIMENSION_ROWS,
    ITEM_DIMENSIONS,
    FeasibilityCheckResult,
    Slack,
    assess,
)
from replicalab.cli.asking import LAB_OPTIONS
from replicalab.cli.lab_options import MONEY_OPTIONS
from replicalab.documents import DOCUMENTS, FORMS, KEPT, MIMES, SUFFIXES
from replicalab.errors import ReplicaLabError
from replicalab.lexicon import parts_of
from replicalab.library import KINDS as ENTRIES
from replicalab.library import EntryKind
from replicalab.measures import KINDS, PARAMETERS, DesignKind, DesignParameters
from replicalab.models import (
    DIMENSIONS,
    FIELD_LABELS,
    LAB_DIMENSIONS,
    LIST_FIELDS,
    NUMBER_FIELDS,
    PROTOCOL_FIELDS,
    Dimension,
    LabManagerAction,
    Protocol,
    ScientistAction,
    wording_of,
)
from replicalab.places import TREE
from replicalab.planner import Combination, Goal, MeansPrices
from replicalab.planner.least_loss import _BY_NUMBERS
from replicalab.planner.shortfalls import Addition, with_additions
from replicalab.planner.steps import _IN_TURN
from replicalab.render import figures
from replicalab.render.figures.convergence import _LINES
from replicalab.scenarios import LAB_AMOUNTS, CostModel, Design, Lab, LabOverrides, load_scenario
from replicalab.scenarios.json_file import _KNOWN, FileKind
from replicalab.scenarios.own import CALENDAR_AND_CURRENCY, RateName
from replicalab.ui import state
from replicalab.ui.address import _KEYS, _PLAN_IN_ORDER, _REST
from replicalab.ui.documents import PAGE_ROWS
from replicalab.ui.frame import PAGES
from replicalab.ui.study_form.fields import _WORDS
from replicalab.views.combinations import GOALS, PRICES
from replicalab.views.lab import MEANS, MONEY, RATES
from replicalab.views.plan import slack_text, used_text
from tests.factories import make_protocol

PACK: Final = load_scenario("psy_stroop", "hard")
UI: Final = Path(state.__file__).parent
PLAN: Final = assess(PACK.reference_protocol, PACK)


# --- dimensions -----------------------------------------------------------------------------


def test_each_dimension_is_a_row_a_field_of_the_check_and_a_flag() -> None:
    assert tuple(DIMENSION_ROWS) == DIMENSIONS
    assert tuple(FeasibilityCheckResult.model_fields)[: len(DIMENSIONS)] == DIMENSIONS
    for dimension in set(DIMENSIONS) - {Dimension.POLICY}:  # which the document names no flag for
        assert getattr(PLAN.check, f"{dimension}_ok") is PLAN.check.check(dimension).ok
    answers = [name for name in LabManagerAction.model_fields if name.endswith("_ok")]
    assert answers == [f"{dimension}_ok" for dimension in LAB_DIMENSIONS]


def test_each_dimension_is_decided_by_the_wording_or_the_numbers_and_is_an_amount_or_of_items() -> (
    None
):
    by_wording = [d for d, row in DIMENSION_ROWS.items() if row.by_wording]
    by_numbers = [*_BY_NUMBERS, Dimension.SCHEDULE]  # the days always fit
    assert sorted([*by_wording, *by_numbers]) == sorted(DIMENSIONS)
    assert sorted([*AMOUNTS, *ITEM_DIMENSIONS.values()]) == sorted(LAB_DIMENSIONS)


def test_each_dimension_is_written_with_its_noun() -> None:
    for dimension in DIMENSIONS:
        slack = PLAN.slack[dimension]
        assert isinstance(slack, Slack)
        assert used_text(PLAN, slack)
        assert bool(slack_text(slack)) is (dimension in LAB_DIMENSIONS)


def test_each_amount_can_be_asked_for_and_is_drawn_over_the_rounds() -> None:
    for dimension in AMOUNTS:
        has = PLAN.slack[dimension].limit
        more = with_additions([Addition(dimension, has, has + 1)], PACK)
        assert PLAN.in_lab(more).slack[dimension].limit == has + 1
        assert dimension in [line[0] for line in _LINES]


def test_each_goal_has_its_name_and_each_mean_but_credits_and_waiting_its_price() -> None:
    assert GOALS.keys() == {*Goal}
    assert PRICES.keys() == MeansPrices.model_fields.keys()
    more = [Addition(dimension, 1, 3) for dimension in AMOUNTS]
    items = [Addition(dimension, 0, 1, dimension) for dimension in ITEM_DIMENSIONS.values()]
    one = Combination(Goal.PLAN, PACK.lab.start_day, (*more, *items), PLAN, PLAN.plan)
    assert one.price(MeansPrices(day=10.0, staff=100.0, item=1000.0)) == 2 + 20 + 200 + 2000


def test_each_amount_that_a_visitor_may_state_is_a_lab_s_and_has_its_label_key_and_option() -> None:
    assert {*LAB_AMOUNTS} <= Lab.model_fields.keys() & LabOverrides.model_fields.keys()
    assert MEANS.keys() == {*LAB_AMOUNTS}
    assert {field for field, *_ in LAB_OPTIONS.values()} == {*LAB_AMOUNTS}
    stated = {f"case.own_lab.{name}" for name in LAB_AMOUNTS}
    assert {key.path for key in _KEYS.values() if ".own_lab." in key.path} == stated


def test_what_else_a_visitor_may_state_of_a_lab_is_a_lab_s_and_is_packed_in_links() -> None:
    whole, rates = {*CALENDAR_AND_CURRENCY}, {*CostModel.model_fields}
    assert whole <= Lab.model_fields.keys() & LabOverrides.model_fields.keys()
    assert (RATES | MONEY).keys() == rates == {*get_args(RateName)}
    asked = {option.field for option in MONEY_OPTIONS.values()}
    assert asked == whole | MONEY.keys()
    stated = {*LAB_AMOUNTS} | _REST
    assert stated == LabOverrides.model_fields.keys()


# --- kinds of design ------------------------------------------------------------------------


def test_each_number_of_a_design_is_a_field_has_its_words_and_reaches_the_formulas() -> None:
    assert PARAMETERS.keys() <= Design.model_fields.keys()
    assert tuple(PARAMETERS) == DesignParameters._fields[: len(PARAMETERS)]
    assert {name for row in KINDS.values() for name in row.needs} <= PARAMETERS.keys()
    given = {name: place / 10 for place, name in enumerate(PARAMETERS, start=1)}
    of_units = {"per_unit": 16.0, "icc": 0.1, "planned": 128}
    units = SimpleNamespace(samples=16.0, icc=0.1)
    design = SimpleNamespace(**given, units=units, arms=SimpleNamespace(share=0.3))
    assert DesignParameters.by(design, planned=128)._asdict() == {**given, "share": 0.3, **of_units}
    assert _WORDS.items() >= {name: row.phrase for name, row in PARAMETERS.items()}.items()
    assert {kind.value for kind in DesignKind} == KINDS.keys() <= _WORDS.keys()


# --- fields of a protocol -------------------------------------------------------------------


def test_each_field_of_a_protocol_has_its_label_its_turn_and_is_a_field_of_an_action() -> None:
    assert tuple(FIELD_LABELS) == PROTOCOL_FIELDS
    assert set(PROTOCOL_FIELDS) <= ScientistAction.model_fields.keys() == FIELD_FORMS.keys()
    assert sorted(_IN_TURN) == sorted(PROTOCOL_FIELDS)


def test_each_text_of_a_protocol_is_read_for_restrictions() -> None:
    texts = wording_of(make_protocol()).texts
    assert {field for field, _ in texts} == {*PROTOCOL_FIELDS} - {*NUMBER_FIELDS}


def test_each_text_of_a_protocol_is_among_those_in_which_a_phrase_or_an_element_is_found() -> None:
    phrase = PACK.policy_rules[0].forbidden_phrases[0]
    for name in {*PROTOCOL_FIELDS} - {*NUMBER_FIELDS}:
        value = [phrase] if name in LIST_FIELDS else phrase
        plan = assess(make_protocol(**{name: value}), PACK)
        assert [found.field for found in plan.violations] == [name]
        assert parts_of(phrase) <= plan.parts, name


def test_fields_that_a_link_once_had_by_position_are_still_fields() -> None:
    assert set(_PLAN_IN_ORDER) <= set(PROTOCOL_FIELDS)
    later = set(PROTOCOL_FIELDS) - set(_PLAN_IN_ORDER)
    assert not {name for name in later if Protocol.model_fields[name].is_required()}


# --- documents and entries ------------------------------------------------------------------


def test_each_form_kind_of_file_and_kind_of_entry_is_in_all_their_tables() -> None:
    assert all(callable(getattr(reports, form.maker)) for form in FORMS.values())
    assert FORMS.keys() <= MIMES.keys()
    assert DOCUMENTS.keys() == _KNOWN.keys() == PAGE_ROWS.keys() == {*FileKind}
    assert {row.suffix for row in DOCUMENTS.values()} <= {*SUFFIXES} & MIMES.keys()
    assert {*ENTRIES} == {*KEPT} == {*EntryKind}


def test_every_file_comes_in_by_one_upload_and_leaves_by_one_download() -> None:
    used = {
        path.relative_to(UI).as_posix()
        for path in UI.rglob("*.py")
        if re.search(r"st\.(file_uploader|download_button)\(", path.read_text(encoding="utf-8"))
    }
    assert used == {"files.py"}


# --- charts and pages -----------------------------------------------------------------------


def test_each_chart_is_of_a_plan_and_leaves_as_a_picture_or_of_many_negotiations() -> None:
    face = ast.parse(Path(figures.__file__).read_text(encoding="utf-8"))
    imports = [each for each in ast.walk(face) if isinstance(each, ast.ImportFrom)]
    names = {each.name for line in imports for each in line.names if line.module != "typing"}
    offered = {name: getattr(figures, name) for name in names - {"import_module"}}
    charts = {
        name
        for name, function in offered.items()
        if inspect.isfunction(function)
        and inspect.signature(function, eval_str=True).return_annotation is go.Figure
        and "figure" not in inspect.signature(function).parameters
    }
    assert sorted(charts) == sorted([*figures.OF_A_PLAN, *figures.OF_MANY])
    drawn = ("export/pictures", "protocol/assumptions", "tradeoffs/pictures")
    code = "".join((UI / f"{module}.py").read_text(encoding="utf-8") for module in drawn)
    assert not {name for name in figures.OF_A_PLAN if not re.search(rf"\b{name}\b", code)}


def test_each_page_stands_in_the_navigation_by_the_name_of_its_address() -> None:
    files = sorted(f"pages/{file.name}" for file in (TREE / "pages").glob("*.py"))
    assert [file for file, *_ in PAGES] == ["app.py", *files]
    for file, title in PAGES[1:]:
        assert re.fullmatch(rf"pages/\d_{title}\.py", file)


# --- errors ---------------------------------------------------------------------------------


def test_each_error_of_ours_is_a_value_error() -> None:
    """So a validator may raise one."""
    found, wanted = set[type[Exception]](), [ReplicaLabError]
    while wanted:
        found.add(error := wanted.pop())
        wanted += error.__subclasses__()
    assert len(found) > 20
    assert [error for error in found - {ReplicaLabError} if not issubclass(error, ValueError)] == []
