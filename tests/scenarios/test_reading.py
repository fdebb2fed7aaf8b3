"""The reader: plain data with line numbers from friendly files, one clear error from others."""

import json
from contextlib import suppress
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.documents import detect_kind
from replicalab.errors import ScenarioError, TraceError
from replicalab.limits import MAX_DEPTH, MOST_JSON_VALUES, MOST_STUDY_BYTES, MOST_VALUES
from replicalab.negotiation import load
from replicalab.scenarios import read_lab, read_plan, reading
from replicalab.scenarios.reading import Data, dotted, read_document, read_json
from tests.golden import assert_golden
from tests.scenarios.small_study import refusal


def message(text: str | bytes) -> str:
    return refusal(lambda: read_document(text, "x.yaml"))


def test_reader_returns_data_and_place_of_each_path() -> None:
    document = read_document("a: 1\nb:\n  - c: x\n    d: y\n  -\n    z\n", "x.yaml")
    assert document.data == {"a": 1, "b": [{"c": "x", "d": "y"}, "z"]}
    places = {dotted(path): place for path, place in document.places.items() if path}
    assert places == {
        "a": (1, 1), "b": (2, 1), "b[0]": (3, 5), "b[0].c": (3, 5), "b[0].d": (4, 5), "b[1]": (6, 5)
    }  # fmt: skip


def test_place_of_missing_path_is_its_nearest_parent() -> None:
    document = read_document("a: 1\nb:\n  - c: x\n", "x.yaml")
    assert document.place(("b", 0, "missing", "deeper")) == (3, 5)
    assert document.place(("missing",)) == (0, 0)


STAYS_TEXT: Final = """no yes on Off 2024-01-31 12:30:45 190:20 0o10 0x1F 1_000 .inf .nan 1.2.3
    1234567890123456789 << =""".split()


@pytest.mark.parametrize(
    ("written", "read"),
    [
        *((word, word) for word in STAYS_TEXT),
        ("true", True), ("False", False), ("null", None), ("~", None), ("", None),
        ("010", 10), ("-7", -7), ("+7", 7), ("123456789012345678", 123456789012345678),
        (".5", 0.5), ("5.", 5.0), ("-1.5e-3", -0.0015), ("1e3", 1000.0),
        ("'5'", "5"), ('"true"', "true"), ('""', ""), ("|\n  5\n", "5\n"),
    ],
)  # fmt: skip
def test_scalar_reads_as_in_yaml_1_2(written: str, read: Data) -> None:
    result = read_document(f"key: {written}", "x.yaml").data["key"]
    assert (result, type(result)) == (read, type(read))


def test_keys_are_text_and_byte_order_marks_ignored() -> None:
    data = read_document("no: 1\n5: 2\n<<: {a: 3}\n", "x.yaml").data
    assert data == {"no": 1, "5": 2, "<<": {"a": 3}}
    for text in (b"\xef\xbb\xbfa: 1", "\ufeffa: 1"):
        assert read_document(text, "x.yaml").data == {"a": 1}


REFUSED: Final[list[str | bytes]] = [
    *("", "# only a comment", "---\n", "- a\n- b\n", "hello"),
    "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "a: 1\nb: [1, *a]", "paper: &a {title: *a}",
    "? &k a\n: 1", "a: 1\nb: !!python/object/apply:os.system ['true']", "a: !!str 5", "!x a: 1",
    "a:\n  b: 1\n  c: 2\n  b: 3\n", "a: 1\n---\nb: 2\n", "a: 1\n? [b, c]\n: 2\n",
    "a: 1\n*b : 2\n", *("a: b: c", "a:\n\t- b", "a: 1\nb: \x00", "a: 1\nb: \ud800"),
    *('a: "\\ud800"', 'a: "\\U99999999"', f"%YAML 1.{'9' * 5000}\n---\na: 1"),
    f"{'k' * 99}: 1\n{'k' * 99}: 2",
    *(f"a: !{'t' * 99} 1", f"a: !{'t' * 199}!x 1", f"a: &{'t' * 99} 1"),
    *(b"a: 1\nb: caf\xe9", "a: 1\n".encode("utf-16")),
    *("a" * (300 * 1024), f"a: [{'0, ' * 10_001}]", f"a: {'[' * 21}{']' * 21}"),
]  # fmt: skip
MISTYPED: Final = [
    *("a: 1\n  b: 2", "a: 1\nhello\nb: 2", "a: - b", "a: 'it's'", 'a: "b" c', 'a: "x\nb: 2'),
    *(
        "a:\n  b: 1\n c: 2", "a: [1, 2\nb: 3", "a: {x: 1\nb: 2", "a: ]", 'a: "\\q"', "a: | x",
        "a: @x",
    ),
    *("a: & b", "a: !<", "a: !x!y 1", "%YAML 1", "{a: 1} b", f"a: {'b: ' * 99}"),
]  # fmt: skip
"""Common mistakes, each on a line that the message names."""


def test_refused_text_names_place_value_and_remedy() -> None:
    assert all("line " in message(text) for text in MISTYPED)
    refused = [f"{text[:60]!r}\n-> {message(text)}" for text in (*REFUSED, *MISTYPED)]
    assert_golden("study_syntax", "\n".join(refused))


def test_largest_allowed_file_is_read() -> None:
    padding = MOST_STUDY_BYTES - len("a: 1 #")
    assert read_document(f"a: 1 #{'x' * padding}", "x.yaml").data == {"a": 1}
    assert "more than" in message(f"a: 1 #{'x' * (padding + 1)}")
    assert "more than" in message(f"a: 1 #{'é' * (padding // 2 + 1)}")
    assert read_document(f"a: {'[' * MAX_DEPTH}{']' * MAX_DEPTH}", "x.yaml").places
    data = read_document(f"a: [{'0, ' * (MOST_VALUES - 3)}]", "x.yaml").data
    assert data == {"a": [0] * (MOST_VALUES - 3)}


SOUP = r"""a : - [ ] { } , ' " \ \x | > # &a *a ! !!int %YAML %TAG ? 1 --- ..."""
yaml_soup = st.lists(
    st.sampled_from([*SOUP.split(), " ", "  ", "\n", "\t", "\x85", "\n---\n"]), max_size=40
).map("".join)


@given(st.text() | st.binary() | yaml_soup)
def test_reader_raises_nothing_but_scenario_errors(text: str | bytes) -> None:
    with suppress(ScenarioError):
        assert isinstance(read_document(text, "x.yaml").data, dict)


ROW: Final = {
    "outcome": "no_deal", "rounds": 3, "samples": 100, "days": 4, "credits": 1600.0,
    "evidence": 0.9999999999999996, "tier": "meets target", "wishes_broken": 0, "job": 2,
    "seed": 19,
}  # fmt: skip
ITEM: Final = {"label": "mug", "category": "reagent", "price": 1.0}
VALUES: Final = "the file holds more than 500,000 values; shorten it"


@pytest.mark.parametrize(
    "text",
    [
        "[" + "1," * (MOST_JSON_VALUES - 2) + "1]",
        json.dumps([ROW] * (5 * 2**20 // len(json.dumps(ROW)))),
        json.dumps([ITEM] * (5 * 2**20 // len(json.dumps(ITEM)))),
    ],
)
def test_largest_file_is_read(text: str) -> None:
    values = read_json(f'{{"results": {text}}}', "x.json", "batch", "remedy")["results"]
    assert values == json.loads(text)


def test_file_of_too_many_values_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "from_json", lambda *_, **__: pytest.fail("it was read"))
    for text in (
        "[" * (MOST_JSON_VALUES + 1),
        '{"a":' * (MOST_JSON_VALUES + 1),
        "[" + "1," * MOST_JSON_VALUES + "1]",
        '{"setup":[' + "[]," * 1_700_000 + "[]]}",
    ):
        with pytest.raises(ScenarioError, match=VALUES):
            detect_kind(text.encode(), "x.json")


def test_large_file_is_named_for_what_it_is() -> None:
    data = json.dumps({"input_hash": "x", "study": "x" * 600_000}).encode()
    for read in (read_plan, read_lab):
        with pytest.raises(ScenarioError, match="the file holds a bundle, no"):
            read(data)
    with pytest.raises(TraceError, match=VALUES):
        load('{"setup":[' + "[]," * 260_000 + "[]]}")
