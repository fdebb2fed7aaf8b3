"""A study written as YAML: read again it is the same study, whatever its texts look like."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from replicalab.scenarios import list_scenarios, parse_study, study_text, study_yaml, template_text
from replicalab.scenarios.reading import Data, read_document
from replicalab.scenarios.study import Study
from replicalab.scenarios.writing import data_yaml
from tests.golden import assert_golden
from tests.strategies import studies

SHIPPED: Final = [summary.scenario_id for summary in list_scenarios()]

AWKWARD: Final = (
    *("no", "yes", "On", "null", "Null", "~", "true", "FALSE", "5", "-7", "+7", "010", "0x1F"),
    *("1e3", "1E-3", ".5", "5.", "-.5", "1_000", "190:20", "12:30:45", "2024-01-31", ".inf", "="),
    *("<<", "- a", "-", "--- a", "... b", "? a", ": a", "a: b", "a:", "a #b", "#b", "&a", "*a"),
    *("!a", "%a", "@a", "`a`", "|", ">-", "[a", "a]", "{a: b}", "}", ",", "'", '"', "''", '"a"'),
    *("it's", "C:\\temp\\n", "\\u0041", "a\nb", "a\n\nb", "a\n  b\nc", "- a\n- b", "a: b\nc: d"),
    *("a  b", "tab\there", "caf\xe9", "\u65e5\u672c", "\U0001f9ea", "\u05d0\u05d1", "a\xa0b"),
    *("x" * 300, "word " * 90 + "end", "a: " * 60 + "b"),
)
"""Texts that YAML, of one version or another, would read as something else."""


@pytest.mark.parametrize("scenario_id", SHIPPED)
def test_shipped_study_is_read_back_as_written(scenario_id: str) -> None:
    study = parse_study(study_text(scenario_id), scenario_id)
    assert parse_study(study_yaml(study), scenario_id) == study


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(studies())
def test_study_is_read_back_as_written_and_written_alike_again(study: Study) -> None:
    written = study_yaml(study)
    found = parse_study(written, "x.yaml")
    assert found == study
    assert study_yaml(found) == written


@pytest.mark.parametrize("text", AWKWARD)
def test_text_stays_text_as_value_entry_and_key(text: str) -> None:
    data: dict[str, Data] = {"a": text, "list": [text, [text]], "block": {text: {text: text}}}
    assert read_document(data_yaml(data), "x.yaml").data == data


plain_data: Final = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(AWKWARD)
    | st.text("ab:-#[]{}'\"|>&*!%@`,?\\0129.e+ \n", max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(AWKWARD), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["a", "b", "no"]), plain_data, min_size=1))
def test_data_is_read_back_as_written(data: dict[str, Data]) -> None:
    assert read_document(data_yaml(data), "x.yaml").data == data


def test_template_is_written_for_people() -> None:
    assert_golden("study_written", study_yaml(parse_study(template_text(), "template.yaml")))
