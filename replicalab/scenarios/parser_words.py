"""What the YAML parser complains of, in words that an author can act on.

A parser says what it expected next; an author wants to know what stands there and what to write
instead. Every message of PyYAML's scanner and parser has its row here.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import yaml

from replicalab.errors import Fault
from replicalab.lexicon import shortened

_LONGEST_LINE: Final = 60
"""Of the line at fault a message quotes so many characters."""
_QUOTE_IT: Final = "put the whole text in quotes"


class Row(NamedTuple):
    """A message of the parser, and what is said in its place.

    Attributes:
        message: the message, as a pattern; its group is what the parser found.
        problem: what is wrong, ``{found}`` being that.
        remedy: what to write.
        within: what the parser was reading, as a pattern.
        at_start: whether the line to mend is where that begins, not where the parser gave up.
    """

    message: str
    problem: str
    remedy: str
    within: str = ""
    at_start: bool = False


ROWS: Final = (
    Row(
        r"",
        "a line that begins with % is an instruction to the parser, and not one that it knows",
        f"{_QUOTE_IT}, or take the line out",
        within="a directive",
    ),
    Row(
        r"found (?:duplicate|incompatible) YAML|duplicate tag handle",
        "a line that begins with % is an instruction to the parser, and not one that it takes",
        "take the line out",
    ),
    Row(
        r"", "& and * at the beginning of a text stand for a mark", _QUOTE_IT, "an anchor|an alias"
    ),
    Row(r"", "! at the beginning of a text stands for a type", _QUOTE_IT, "a tag"),
    Row(r"found undefined tag handle", "! at the beginning of a text stands for a type", _QUOTE_IT),
    Row(
        r"",
        "after | and > at most a - may stand",
        "begin the text in the next line, indented",
        "a block scalar",
    ),
    Row(
        r"found character '\\t' that",
        "a tab stands where the line is indented",
        "indent with spaces",
    ),
    Row(r"found character (.+) that", "no text begins with {found}", _QUOTE_IT),
    Row(
        r"could not find expected ':'",
        "a key without its colon",
        "write 'key: value', or indent the line if it goes on with the text above",
        at_start=True,
    ),
    Row(
        r"sequence entries are not allowed here",
        "an entry of a list stands behind its key",
        "put each '- entry' on a line of its own, below the key",
    ),
    Row(r"mapping keys are not allowed here", "'? ' would begin a key here", _QUOTE_IT),
    Row(
        r"mapping values are not allowed here",
        "a colon too many, or a line that is indented too far",
        "put a text that holds ': ' in quotes, or indent the line like the one above",
    ),
    Row(
        r"found unexpected (?:end of stream|document separator)",
        "a text in quotes begins here and does not end",
        "close the quotes",
        at_start=True,
    ),
    Row(
        r"found unknown escape character (.+)",
        "a backslash before {found} means nothing in double quotes",
        "write two backslashes for one, or use single quotes",
    ),
    Row(
        r"expected escape sequence of (\d+)",
        "a backslash with x, u or U needs {found} digits in double quotes",
        "write two backslashes for one, or use single quotes",
    ),
    Row(
        r"expected ',' or '(.)'",
        "a list in brackets begins here, and a comma or its '{found}' is missing",
        "close it, and put a text that holds a comma, colon or bracket in quotes",
        at_start=True,
    ),
    Row(
        r"expected <block end>",
        "the line is indented unlike those around it, or a text goes on behind its quotes",
        "indent it like its neighbours; within single quotes write '' for one of them",
    ),
    Row(
        r"expected the node content, but found '([^<]+)'",
        "a value is missing before '{found}'",
        "write it, or null for none",
    ),
    Row(r"expected the node content", "a value is missing here", "write it, or null for none"),
    Row(
        r"expected '<document start>'",
        "something stands behind the end of the study",
        "keep one study per file, as 'key: value' lines",
    ),
)
"""The first row that fits is the one that counts."""

UNKNOWN: Final = Row("", "this cannot be read", "check quotes, colons and indentation here")


def row_for(problem: str, context: str) -> Row:
    """Return the row of a message, given what the parser was reading; a general one for a new."""
    return next(
        (
            row
            for row in ROWS
            if re.match(row.message, problem) and re.search(row.within or "", context)
        ),
        UNKNOWN,
    )


def parser_fault(error: yaml.MarkedYAMLError, text: str) -> Fault:
    """Return what is wrong with a file: the line, what stands there, and what to write."""
    problem, context = str(error.problem or ""), str(error.context or "")
    row = row_for(problem, context)
    found = re.match(row.message, problem)
    said = row.problem.format(found=found[1] if found and found.re.groups else "")
    marks = (error.context_mark, error.problem_mark)
    mark = next(filter(None, marks if row.at_start else marks[::-1]), None)
    if mark is None:
        return Fault("", said, row.remedy)
    lines = text.splitlines()
    line = lines[mark.line].strip() if mark.line < len(lines) else ""
    stands = f", in '{shortened(line, _LONGEST_LINE)}'" if line else ""
    return Fault("", f"{said}{stands}", row.remedy, mark.line + 1)
