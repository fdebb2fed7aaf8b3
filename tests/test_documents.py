"""What the README and the guides tell people to type is there, and what the glossary names."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[1]
README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDES: Final = ("docs/authoring.md", "docs/questions.md")
DOCUMENTS: Final = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", *GUIDES)
MADE_ON_USE: Final = (".venv", "test-artifacts")
"""Folders that a command makes, so a fresh clone does not hold them."""


def text_of(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def commands(document: str) -> list[str]:
    """Return the lines of a document's console blocks."""
    blocks = re.findall(r"```console\n(.*?)```", text_of(document), re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_are_targets_and_named_files_exist(document: str) -> None:
    text = text_of(document)
    targets = set(re.findall(r"^([a-z-]+):.*##", text_of("Makefile"), re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)) <= targets
    spans = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text) + re.findall(r"\]\(([^)]+)\)", text)
    path = re.compile(r"\.?[\w-]+(/[\w.-]+)*(/|\.(py|md|toml|txt|yaml|png))|\.ci/run|LICENSE")
    named = {span for span in spans if path.fullmatch(span) and not span.startswith(MADE_ON_USE)}
    words = {word for line in commands(document) for word in line.split()}
    named |= {word for word in words if re.fullmatch(r"[\w-]+\.(py|txt)", word)}
    assert sorted(each for each in named if not (ROOT / each).exists()) == []


def test_readme_gives_the_two_commands_and_their_plain_forms() -> None:
    plain = {".venv/bin/streamlit run app.py", ".venv/bin/pytest"}
    assert {"make run", "make test", *plain} <= set(commands("README.md"))


def test_readme_names_every_page_and_shows_a_picture_that_exists() -> None:
    titles = [re.sub(r"^\d+_", "", page.stem) for page in (ROOT / "pages").glob("*.py")]
    assert [t for t in titles if f"**{t.replace('_', ' ')}" not in README] == []
    pictures = re.findall(r"!\[(.+?)\]\((.+?)\)", README)
    assert pictures
    for alternative_text, path in pictures:
        assert alternative_text.strip()
        assert (ROOT / path).read_bytes().startswith(b"\x89PNG")


# --- the words ------------------------------------------------------------------------------

ROWS: Final = re.findall(
    r"^\| (?!word|-)(.+?) \| (.+?) \| `(\w+)` \|$", text_of("docs/glossary.md"), re.MULTILINE
)
OF_THE_API: Final = {"Batch", "Lab"}
"""What a script gets of the class of that name, with its view for a notebook."""


def test_glossary_has_at_most_forty_words_each_once_and_names_what_stands_in_the_code() -> None:
    words = [word for row in ROWS for word in row[0].split(", ")]
    assert 0 < len(ROWS) <= 40
    assert len(words) == len(set(words))
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "replicalab").rglob("*.py"))
    known = {*re.findall(r"^ *(?:class|def) (\w+)", code, re.MULTILINE)}
    known |= {*re.findall(r"^ *(\w+)(?:: | = )", code, re.MULTILINE)}

    assert [name for *_, name in ROWS if name not in known] == []


def test_class_name_stands_for_one_class() -> None:
    trees = [ast.parse(path.read_text("utf-8")) for path in (ROOT / "replicalab").rglob("*.py")]
    classes = [n.name for tree in trees for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]
    public = Counter(name for name in classes if not name.startswith("_"))
    assert {name for name, many in public.items() if many > 1} <= OF_THE_API
