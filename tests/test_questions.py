"""docs/questions.md: each address opens without a problem, and shows what the text says of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.ui.reading import PAGES, SCENARIOS, alerts, said, visit

ROOT: Final = Path(__file__).resolve().parents[1]
TEXT: Final = (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")
_LINK: Final = re.compile(r"\]\((http://localhost:8501/[^)]*)\)")


class Answer(NamedTuple):
    """A question, the address of its answer, and what is quoted from there."""

    question: str
    address: str
    quotes: list[str]


def answers() -> list[Answer]:
    """Return the questions of the document, each with the one address of its answer."""
    found = []
    for section in TEXT.split("\n## ")[1:]:
        [address] = _LINK.findall(section)
        told = " ".join(section.split(address)[1].split())
        found.append(Answer(section.partition("\n")[0], address, re.findall("“([^”]+)”", told)))
    return found


def test_document_answers_the_four_questions() -> None:
    assert len(answers()) == 4
    assert all(len(answer.quotes) >= 1 for answer in answers())


@pytest.mark.parametrize("answer", answers(), ids=lambda answer: answer.question[:30])
def test_answer_opens_without_a_problem_and_says_what_is_quoted(answer: Answer) -> None:
    parts = urlsplit(answer.address)
    page = next((p for p in PAGES if p.endswith(f"_{parts.path[1:]}.py")), SCENARIOS)
    app = visit(page, **dict(parse_qsl(parts.query)))
    assert alerts(app) == []
    shown = " ".join(said(app).split()).replace(" | ", " ")
    assert [quote for quote in answer.quotes if quote not in shown] == []
