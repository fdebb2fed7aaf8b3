"""A study, a plan and a lab of one's own as files: there and back, and how a file can be wrong."""

import json
import random
import tracemalloc
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from replicalab.errors import ScenarioError
from replicalab.limits import LONGEST_LABEL, MOST_FILE_BYTES, MOST_OWN_ITEMS
from replicalab.lint import lint
from replicalab.models import Protocol, too_large
from replicalab.scenarios import (
    Difficulty,
    ItemState,
    LabOverrides,
    OwnItem,
    lab_json,
    pack_of,
    parse_study,
    plan_json,
    read_lab,
    read_plan,
    study_yaml,
    template_text,
)
from replicalab.scenarios.reading import Data, read_document
from replicalab.scenarios.study import Study
from replicalab.scenarios.writing import data_yaml
from tests.factories import make_protocol
from tests.golden import assert_golden
from tests.strategies import own_labs, protocols, studies


def refused(data: bytes | str, read: Callable[[bytes], object] = read_lab) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        read(data.encode() if isinstance(data, str) else data)
    return caught.value


AWKWARD: Final = (
    *("no", "yes", "On", "null", "Null", "~", "true", "FALSE", "5", "-7", "+7", "010", "0x1F"),
    *("1e3", "1E-3", ".5", "5.", "-.5", "1_000", "190:20", "12:30:45", "2024-01-31", ".inf", "="),
    *("<<", "- a", "-", "--- a", "... b", "? a", ": a", "a: b", "a:", "a #b", "#b", "&a", "*a"),
    *("!a", "%a", "@a", "`a`", "|", ">-", "[a", "a]", "{a: b}", "}", ",", "'", '"', "''", '"a"'),
    *("it's", "C:\\temp\\n", "\\u0041", "a\nb", "a\n\nb", "a\n  b\nc", "- a\n- b", "a: b\nc: d"),
    *("a  b", "tab\there", "caf\xe9", "\u65e5\u672c", "\U0001f9ea", "\u05d0\u05d1", "a\xa0b"),
    *("x" * 300, "word " * 90 + "end", "a: " * 60 + "b"),
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(studies(), st.integers(0, 10**6))
def test_any_study_survives_its_file(study: Study, seed: int) -> None:
    written = study_yaml(study)
    read = parse_study(written, "x.yaml")
    assert read == study
    assert study_yaml(read) == written
    assert study == Study.model_validate(study.model_dump())
    assert study == Study.model_validate_json(study.model_dump_json())
    assert pack_of(read, Difficulty.HARD, seed) == pack_of(study, Difficulty.HARD, seed)
    places = [finding.place for finding in lint(study)]
    assert {"labs.easy", "labs.medium", "labs.hard"} <= set(places)


def test_text_stays_text_as_value_entry_and_key() -> None:
    for text in AWKWARD:
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


@given(protocols())
def test_plan_comes_back_as_it_left(plan: Protocol) -> None:
    data = plan_json(plan, "psy_stroop").encode()
    if too_large(plan):
        with pytest.raises(ScenarioError, match="at most"):
            read_plan(data)
    else:
        assert read_plan(data) == (plan, "psy_stroop")


PLAN: Final = make_protocol().model_dump()
WRONG_PLANS: Final[dict[str, bytes | str]] = {
    **{
        f"{change}": json.dumps({**PLAN, **change})
        for change in (
            {"sample_size": -1}, {"sample_size": 1.5}, {"sample_size": 1_000_001},
            {"controls": "one"}, {"technique": " "}, {"cost": 3}, {"format": 1},
        )
    },
    "a negotiation": '{"format": 2, "setup": {}, "turns": []}',
    "a bundle": '{"format": 1, "decided": {}, "study": {}}',
    "a kept plan": '{"format": 2, "study": "psy_stroop"}',
    "a lab": '{"format": 2, "lab": {}}',
    "empty": "",
    "a list": "[]",
    "cut short": "{",
    "a text": '"x"',
    "no text": b"\xff",
    "deep": "[" * 100_000,
    "many": "{}" * 10**6,
}  # fmt: skip


def test_plan_file_faults_name_place_and_remedy() -> None:
    assert read_plan(json.dumps(PLAN).encode()) == (make_protocol(), None), "no study is named"
    texts = [f"{what}\n{refused(data, read_plan)}" for what, data in WRONG_PLANS.items()]
    assert_golden("plan_file_faults", "\n".join(texts))


LAB: Final = LabOverrides(
    name="Ours",
    days=30,
    rates={"per_day": 20.5},
    items=(OwnItem(label="flume", category="equipment", state=ItemState.BOOKED, until=9),),
)


@given(own_labs())
def test_lab_survives_its_file(own_lab: LabOverrides) -> None:
    assert read_lab(lab_json(own_lab).encode()) == own_lab


def test_lab_file_holds_what_differs_and_its_format() -> None:
    assert json.loads(lab_json(LabOverrides())) == {"format": 2, "lab": {}}
    assert json.loads(lab_json(LAB))["lab"].keys() == {"name", "days", "rates", "items"}


def test_largest_lab_fits_its_file() -> None:
    labels = ["\x01" * (LONGEST_LABEL - 3) + f"{n:03}" for n in range(MOST_OWN_ITEMS)]
    items = tuple(OwnItem(label=label, category="reagent") for label in labels)
    lab = LabOverrides(items=items)
    data = lab_json(lab).encode()
    assert len(data) <= MOST_FILE_BYTES
    assert read_lab(data) == lab
    assert read_lab(lab_json(LAB).encode("utf-8-sig")) == LAB, "a byte order mark is no fault"


def as_file(lab: Any, version: object = 2) -> str:
    return json.dumps({"format": version, "lab": lab})


WRONG: Final[dict[str, bytes | str]] = {
    "empty": "", "no JSON": "name: Ours", "cut short": lab_json(LAB)[:60],
    "not UTF-8": lab_json(LAB).encode("utf-16"), "a list": "[]", "no format": '{"lab": {}}',
    "no lab": '{"format": 2}', "newer": as_file({}, 3), "older": as_file({}, 1),
    "no such format": as_file({}, "2"), "unknown key": as_file({"budgets": 5}),
    "hostile key": as_file({"<b>\u202e\n" + "x" * 300: 5}),
    "of a study": as_file({"budget": "much", "days": 0, "staff": 1.5}),
    "rate": as_file({"rates": {"per_day": -1, "per_hour": 2}}),
    "steps": as_file({"steps": {"base": 10**10}}),
    "item": as_file({"items": [{"label": "x", "category": "tool", "state": "lost", "price": -1}]}),
    "item twice": as_file({"items": [{"label": "x", "category": "reagent"}] * 2}),
    "201 items": as_file({"items": [{"label": f"{n}", "category": "reagent"} for n in range(201)]}),
    "long name": as_file({"name": "x" * 31}), "no number": '{"format": 2, "lab": {"days": NaN}}',
    "long number": '{"format": 2, "lab": {"days": ' + "9" * 5000 + "}}",
    "deep": '{"lab":' + "[" * 100_000, "too large": "{}" + " " * (MOST_FILE_BYTES - 1),
}  # fmt: skip


def test_lab_file_faults_name_place_and_remedy() -> None:
    texts = [f"{what}\n{refused(data)}" for what, data in WRONG.items()]
    assert_golden("lab_file_faults", "\n".join(texts))
    assert max(map(len, texts)) < 1000


@given(st.integers(0, 2**32))
def test_edited_lab_file_is_a_lab_or_refused(seed: int) -> None:
    rng, data = random.Random(seed), bytearray(lab_json(LAB).encode())
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(data))
        data[at : at + rng.randint(0, 2)] = rng.randbytes(rng.randint(0, 2))
    try:
        overrides = read_lab(bytes(data))
    except ScenarioError as error:
        text = str(error)
        assert len(text) < 2000
    else:
        assert read_lab(lab_json(overrides).encode()) == overrides


@pytest.mark.parametrize("part", ["[],", '{"label": 1},'])
def test_largest_lab_file_takes_bounded_memory(part: str) -> None:
    inside = (part * ((MOST_FILE_BYTES - 99) // len(part))).rstrip(",")
    data = f'{{"format": 2, "lab": {{"items": [{inside}]}}}}'.encode()
    tracemalloc.start()
    try:
        refused(data)
        limit = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert limit < 50 * 10**6
