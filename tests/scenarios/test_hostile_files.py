"""Study files that mean harm, or do it by accident: they are refused calmly, or are plain text."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from time import perf_counter
from typing import Final, NoReturn

import pytest
import yaml

from replicalab.errors import ScenarioError
from replicalab.scenarios import Difficulty, Study, pack_of, parse_study
from replicalab.scenarios.reading import Data, FieldPath, dotted, read_document
from tests.scenarios.tiny_study import STUDY_TEXT

TINY: Final = read_document(STUDY_TEXT, "tiny").data
CHOSEN: Final = ("format", "scenario_id", "domain_id", "doi", "kind", "confidence", "comparator")
"""Fields whose text is one of a few, or has a shape."""

LABELS: Final = (
    "constraints[0].key",
    "policy_rules[0].key",
    "substitutions[0].original",
    "reference_protocol.controls",
    "reference_protocol.required_equipment",
    "reference_protocol.required_reagents",
    "labs.hard.out_of_stock",
)
"""Fields whose text must stand elsewhere in the file, or is a key."""

MARKUP: Final = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "![x](https://example.org/pixel.png)",
    "**bold** _it_ `code` ~~gone~~ # not a heading",
    "$x^2$ :red[text] :material/delete: :smile:",
    "| a | b |\n|---|---|",
    "{{ 7 * 7 }} ${7*7} %s {0}",
    "=HYPERLINK(1)",
    "'; DROP TABLE studies; --",
    "&lt;b&gt; &amp; &#x41;",
)


def values(data: Data, here: FieldPath = ()) -> Iterator[tuple[FieldPath, Data]]:
    """Yield every value of the data that holds no other, with its path."""
    if isinstance(data, dict):
        inner: list[tuple[str | int, Data]] = [*data.items()]
    elif isinstance(data, list):
        inner = [*enumerate(data)]
    else:
        yield here, data
        return
    for step, value in inner:
        yield from values(value, (*here, step))


FREE_TEXTS: Final = [
    path
    for path, value in values(TINY)
    if isinstance(value, str)
    and path[-1] not in CHOSEN
    and not dotted(path).startswith(LABELS)
    and path[0] not in ("equipment", "reagents", "controls")
]
FREE_TEXTS_AND_NAMES: Final = [*FREE_TEXTS, ("equipment", 2), ("reagents", 2)]


def with_value(path: FieldPath, value: Data) -> str:
    """Return the small study with another value at a path, as a file."""
    data = json.loads(json.dumps(TINY))
    part = data
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    return json.dumps(data, ensure_ascii=False, indent=1)


def value_at(study: Study, path: FieldPath) -> object:
    """Return what a study holds at a path."""
    part: object = study.model_dump(mode="json")
    for step in path:
        assert isinstance(part, dict | list)
        part = part[step]  # type: ignore[index]  # a list has an int, a dict a key
    return part


def message(text: str | bytes) -> str:
    """Return what is said about a file that must be refused."""
    with pytest.raises(ScenarioError) as refused:
        parse_study(text, "x.yaml")
    return str(refused.value)


@pytest.mark.parametrize("path", FREE_TEXTS_AND_NAMES, ids=dotted)
def test_markup_in_a_text_field_stays_the_text_it_is(path: FieldPath) -> None:
    for markup in MARKUP:
        study = parse_study(with_value(path, markup), "x.yaml")
        assert value_at(study, path) == markup
        assert pack_of(study, Difficulty.EASY).scenario_id == "tiny"


@pytest.mark.parametrize("word", ["no", "NO", "off", "y", "2024-01-31", "12:30", "0x1F", "1_000"])
def test_word_that_old_yaml_takes_for_something_else_is_text(word: str) -> None:
    for path in FREE_TEXTS_AND_NAMES:
        text = with_value(path, "PLACE").replace('"PLACE"', word)
        assert value_at(parse_study(text, "x.yaml"), path) == word


@pytest.mark.parametrize("value", ["2024", "1.5", "1e3", "true", "null", "[a]", "{a: b}"])
def test_what_is_no_text_is_refused_in_a_text_field_with_line_path_and_remedy(value: str) -> None:
    text = STUDY_TEXT.replace('title: "A tiny study"', f"title: {value}")
    said = message(text)
    assert said.startswith("x.yaml: line 5, paper.title: ")
    assert said.endswith("must be text, in quotes if it looks like a number or true or false")


NUMBERS: Final = [
    path for path, value in values(TINY) if isinstance(value, int | float) and path != ("format",)
]


@pytest.mark.parametrize("path", NUMBERS, ids=dotted)
def test_number_as_text_is_refused_where_it_stands(path: FieldPath) -> None:
    for text in ('"5"', "five", "2024-01-31", "0x5", "1_000", ".inf", ".nan", "5 5"):
        said = message(with_value(path, "PLACE").replace('"PLACE"', text))
        assert f"{dotted(path)}: " in said
        assert " is not allowed; must be " in said


def test_alias_bomb_is_refused_quickly() -> None:
    levels = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    began = perf_counter()
    assert message("\n".join(levels)) == (
        "x.yaml: line 1, a0: anchor &a0 is not allowed; remove it"
    )
    assert perf_counter() - began < 2


def test_alias_that_contains_itself_is_refused() -> None:
    assert "anchor &a is not allowed" in message("paper: &a {title: *a}")


@pytest.mark.parametrize(
    "tag",
    [
        "!!python/object/apply:os.system ['true']",
        "!!python/object/new:subprocess.Popen [['true']]",
        "!!python/name:os.system",
        "!!python/module:os",
        "!!python/tuple [1, 2]",
        "!!binary aGVsbG8=",
        "!!timestamp 2024-01-31",
        "!!set {a, b}",
        "!!omap [a: 1]",
        "!include /etc/passwd",
        "!!float 5",
    ],
)
def test_tag_constructs_nothing(tag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name in ((subprocess, "Popen"), (socket, "socket")):
        monkeypatch.setattr(owner, name, _never)
    said = message(STUDY_TEXT.replace('title: "A tiny study"', f"title: {tag}"))
    assert said.startswith("x.yaml: line 5, paper.title: tag '")
    assert said.endswith("' is not allowed; remove it")


def _never(*_: object) -> NoReturn:
    raise AssertionError("a study file must start nothing")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-32-be", "cp037"])
def test_other_encoding_is_refused_in_words(encoding: str) -> None:
    said = message(STUDY_TEXT.encode(encoding))
    assert "save the file as UTF-8" in said or "is not allowed" in said


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "mac-roman"])
def test_letter_of_an_old_encoding_is_refused_with_its_line(encoding: str) -> None:
    text = STUDY_TEXT.replace('caution: "None."', 'caution: "Café."').encode(encoding)
    assert message(text).startswith("x.yaml: line 13, byte 0x")


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_endings_of_other_systems_are_read(ending: str) -> None:
    text = STUDY_TEXT.replace("\n", ending)
    assert parse_study(text.encode(), "x.yaml") == parse_study(STUDY_TEXT, "x.yaml")
    assert "line 66, labs.easy.budget" in message(text.replace("budget: 500", "budget: -5"))


def test_byte_order_mark_is_read_over() -> None:
    assert parse_study(STUDY_TEXT.encode("utf-8-sig"), "x") == parse_study(STUDY_TEXT, "x")


@pytest.mark.parametrize("filling", ["#", "a: b\n", "- ", "[", "é", "\n", "&a ", '"'])
def test_megabytes_are_refused_at_once(filling: str) -> None:
    began = perf_counter()
    assert "more than the 262144 allowed; shorten it" in message(filling * (5 * 1024**2))
    assert perf_counter() - began < 2


@pytest.mark.parametrize(
    "filling", ["a: b\n", "- a\n", "#\n", "x" * 99 + "\n", "a,", '"', "- [a]\n"]
)
def test_largest_file_of_nonsense_is_refused_quickly(filling: str) -> None:
    text = filling * (256 * 1024 // len(filling))
    for whole in (text, f"paper: [{text}", f"paper:\n  {text}"[: 256 * 1024]):
        began = perf_counter()
        assert message(whole[: 256 * 1024])
        assert perf_counter() - began < 20


@pytest.mark.parametrize("trick", ["../../etc/passwd", "a/b", "C:\\x", "..", "x.yaml", "x\\0", "~"])
def test_path_trick_in_an_id_is_refused(trick: str) -> None:
    for field in ("scenario_id: tiny", "domain_id: demo"):
        said = message(STUDY_TEXT.replace(field, f"{field.split(':')[0]}: '{trick}'"))
        assert "must be lower-case letters, digits and _, beginning with a letter" in said


def test_numbers_beyond_all_labs_are_refused_or_harmless() -> None:
    for path in NUMBERS:
        for number in (10**9, 10**15, 10**17, 1.7e308, -1, -(10**17)):
            try:
                study = parse_study(with_value(path, number), "x.yaml")
            except ScenarioError as error:
                said = str(error)
                assert "is not allowed" in said or "design" in said or "at most" in said
            else:
                assert pack_of(study, Difficulty.HARD, 3).scenario_id == "tiny"


def test_more_items_than_a_search_can_weigh_are_refused() -> None:
    study = yaml.safe_load(STUDY_TEXT)
    study["equipment"] = [f"item {number}" for number in range(41)]
    with pytest.raises(ScenarioError, match=r"equipment.*41.*at most 40"):
        parse_study(yaml.safe_dump(study), "x.yaml")


def test_reference_protocol_beyond_what_can_be_planned_is_refused() -> None:
    study = yaml.safe_load(STUDY_TEXT)
    study["reference_protocol"]["sample_size"] = 2_000_000
    with pytest.raises(ScenarioError, match="Sample size is 2,000,000; at most 1,000,000"):
        parse_study(yaml.safe_dump(study), "x.yaml")
