"""What README.md and CONTRIBUTING.md tell people to type or open is there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[1]
README: Final = (ROOT / "README.md").read_text()
GUIDES: Final = ("docs/authoring.md", "docs/questions.md")
DOCUMENTS: Final = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", *GUIDES)
MADE_ON_USE: Final = (".venv", "test-artifacts")
"""Folders that a command makes, so a fresh clone does not hold them."""


def text_of(document: str) -> str:
    return (ROOT / document).read_text()


def targets() -> set[str]:
    """Return the names of the Makefile's targets that a person may call."""
    return set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))


def commands(document: str) -> list[str]:
    """Return the lines of a document's console blocks."""
    blocks = re.findall(r"```console\n(.*?)```", text_of(document), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line]


def named_paths(document: str) -> set[str]:
    """Return what a document writes as code or links to, if it looks like a path of the project."""
    text = text_of(document)
    spans = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text) + re.findall(r"\]\(([^)]+)\)", text)
    path = re.compile(r"\.?[\w-]+(/[\w.-]+)*(/|\.(py|md|toml|txt|yaml|png))|\.ci/run|LICENSE")
    return {span for span in spans if path.fullmatch(span)}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_make_commands_are_targets(document: str) -> None:
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", text_of(document), re.MULTILINE))
    assert named <= targets()


def test_readme_gives_the_two_commands_and_their_plain_forms() -> None:
    assert {"make run", "make test"} <= set(commands("README.md"))
    assert ".venv/bin/streamlit run app.py" in commands("README.md")
    assert ".venv/bin/pytest" in commands("README.md")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_named_files_and_folders_exist(document: str) -> None:
    named = {p for p in named_paths(document) if not p.startswith(MADE_ON_USE)}
    assert sorted(p for p in named if not (ROOT / p).exists()) == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_files_in_commands_exist(document: str) -> None:
    words = {word for line in commands(document) for word in line.split()}
    files = {w for w in words if re.fullmatch(r"[\w-]+\.(py|txt)", w)}
    assert sorted(f for f in files if not (ROOT / f).exists()) == []


def test_readme_shows_a_picture_that_exists() -> None:
    pictures = re.findall(r"!\[(.+?)\]\((.+?)\)", README)
    assert pictures
    for alternative_text, path in pictures:
        assert alternative_text.strip()
        assert (ROOT / path).read_bytes().startswith(b"\x89PNG")


def test_readme_names_every_page() -> None:
    titles = [re.sub(r"^\d+_", "", page.stem) for page in (ROOT / "pages").glob("*.py")]
    assert [t for t in titles if f"**{t.replace('_', ' ')}" not in README] == []


def test_readme_glossary_has_ten_words() -> None:
    table = README.split("## Ten words")[1].split("\n## ")[0]
    assert len(re.findall(r"^\| (?!word )\w", table, re.MULTILINE)) == 10
