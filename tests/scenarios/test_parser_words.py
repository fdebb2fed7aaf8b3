"""The words for what the YAML parser refuses: one for each of its messages, and none of its own."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import Final

import pytest
import yaml
from yaml import parser, scanner

from replicalab.errors import ScenarioError
from replicalab.scenarios.parser_words import ROWS, UNKNOWN, parser_fault, row_for
from replicalab.scenarios.reading import read_document
from tests.golden import assert_golden

FOUND: Final = "'x'"
"""What stands in a message where the parser tells what it found."""
NAMES: Final = {
    f"while scanning an {FOUND}": ("anchor", "alias"),
    f"while scanning a {FOUND}": ("tag", "directive"),
    f"while parsing a {FOUND}": ("tag", "directive"),
}
"""What is being read in its place, where several are."""


def messages() -> Iterator[tuple[str, str]]:
    """Yield each message in PyYAML's scanner and parser, and what was being read."""
    for module in (scanner, parser):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in (
                "ScannerError",
                "ParserError",
            ):
                context, _, problem, *_ = node.args
                for name in NAMES.get(as_told(context), ("",)):
                    yield as_told(problem), as_told(context).replace(FOUND, name)


def as_told(part: ast.expr) -> str:
    """Return a message as it is told; one that is worked out is any text."""
    if isinstance(part, ast.BinOp):
        part = part.left
    if not isinstance(part, ast.Constant):
        return "anything"
    text = str(part.value or "")
    return text.replace("%r", FOUND).replace("%d", "4").replace("%s", FOUND)


MESSAGES: Final = sorted(set(messages()))


def test_messages_of_the_parser_are_found_in_its_source() -> None:
    told = {problem for problem, _ in MESSAGES}
    assert {"mapping values are not allowed here", "could not find expected ':'"} <= told
    assert len(MESSAGES) > 30


@pytest.mark.parametrize(("problem", "context"), MESSAGES)
def test_message_of_the_parser_has_words_of_ours(problem: str, context: str) -> None:
    row = row_for(problem, context)
    assert row is not UNKNOWN
    assert problem not in row.problem


def test_row_is_there_for_some_message() -> None:
    used = {row_for(problem, context) for problem, context in MESSAGES}
    told = {
        "found character '\\t' that cannot start any token",
        "expected the node content, but found '<stream end>'",
    }
    used |= {row_for(problem, "") for problem in told}
    assert set(ROWS) == used


def test_message_that_nobody_knows_has_words_of_ours_too() -> None:
    mark = yaml.Mark("x", 0, 1, 0, None, 0)
    error = yaml.MarkedYAMLError(None, None, "frobnicated the quux", mark)
    fault = parser_fault(error, "a: 1\nb: 2\n")
    assert (fault.line, fault.problem, fault.remedy) == (
        2,
        f"{UNKNOWN.problem}, in 'b: 2'",
        UNKNOWN.remedy,
    )
    assert parser_fault(yaml.MarkedYAMLError(), "").problem == UNKNOWN.problem


REFUSED: Final = (
    *("a: b: c", "a: 1\n  b: 2", "a: 1\nhello\nb: 2", "a: - b", "a: ? b", "a:\n\tb: 1", "a: @x"),
    *("a: %x", "a: `x`", "a: 'it's'", 'a: "b" c', "a:\n  b: 1\n c: 2", "- a\nb: 1", 'a: "x\nb: 2'),
    *('a: "x\n---\nb', "a: [1, 2\nb: 3", "a: {x: 1\nb: 2", "a: [1 2: 3: 4]", "a: ]", "a: [,]"),
    *('a: "\\q"', 'a: "\\xZZ"', "a: | x", "a: |0\n x", "a: & b", "a: *", "a: !<", "a: !x!y 1"),
    *("%YAML 1", "%TAG", "%YAML 2.0\n---\na: 1", "%TAG ! a\n%TAG ! b\n---\na: 1", "{a: 1} b"),
    f"a: {'b: ' * 99}",
)


def test_refused_line_is_told_with_what_stands_there_and_what_to_write() -> None:
    told = []
    for text in REFUSED:
        with pytest.raises(ScenarioError) as refused:
            read_document(text, "x.yaml")
        [fault] = refused.value.faults
        assert fault.line is not None
        told.append(f"{text[:60]!r}\n-> {fault}")
    assert_golden("study_parser_words", "\n\n".join(told))
