"""docs/architecture.md, "To add …": each file and each name in it exists."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[1]
MAKEFILE: Final = (ROOT / "Makefile").read_text(encoding="utf-8")
_PATH: Final = re.compile(r"[\w.<>/-]+(/|\.(py|md|in|txt|ya?ml|toml))")
_READ: Final = (".py", ".md", ".toml", ".yaml")
_NAME: Final = re.compile(r"[A-Za-z_][\w.]*")


def paragraphs() -> dict[str, list[str]]:
    """Return what stands between backticks in each paragraph, by what is added."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    section = text.split("## To add …\n")[1]
    opened = re.findall(r"^- \*\*(.+?)\*\*: (.*?)(?=^- \*\*|\Z)", section, re.MULTILINE | re.DOTALL)
    return {title: re.findall(r"`([^`]+)`", " ".join(body.split())) for title, body in opened}


PARAGRAPHS: Final = paragraphs()


def files_at(path: str) -> list[Path]:
    """Return the files that a path in the document names, from the root or from the package."""
    pattern = re.sub(r"<\w+>", "*", path.rstrip("/"))
    found = [each for base in (ROOT / "replicalab", ROOT) for each in base.glob(pattern)]
    return [file for each in found for file in ([each] if each.is_file() else each.rglob("*.*"))]


def test_document_says_where_each_kind_of_thing_is_added() -> None:
    asked = {
        *("a dimension", "a design kind", "a field of the protocol", "a page", "a sentence"),
        *("a command", "a form of a report", "a chart", "a kind of thing to keep"),
    }
    assert asked <= PARAGRAPHS.keys()


@pytest.mark.parametrize("title", PARAGRAPHS)
def test_files_and_names_of_a_paragraph_exist(title: str) -> None:
    quoted = PARAGRAPHS[title]
    paths = [each for each in quoted if _PATH.fullmatch(each)]
    assert [path for path in paths if not files_at(path)] == []
    code = "".join(
        file.read_text(encoding="utf-8")
        for path in paths
        for file in files_at(path)
        if file.suffix in _READ
    )
    for each in set(quoted) - set(paths):
        if each.startswith("make "):
            assert re.search(rf"^{each.removeprefix('make ')}:", MAKEFILE, re.MULTILINE), each
        elif each.startswith("python -m "):
            assert find_spec(each.removeprefix("python -m ")), each
        else:
            assert _NAME.fullmatch(each), f"{each}: neither a file nor a name"
            assert re.search(rf"(?<!\w){re.escape(each.rpartition('.')[2])}(?!\w)", code), each
