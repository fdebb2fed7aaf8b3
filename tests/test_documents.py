"""Commands, files and links that the documents name exist."""

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlsplit

import pytest

from replicalab.designs import KINDS
from tests.ui.pages import PAGES, SCENARIOS
from tests.ui.reading import alerts
from tests.ui.walking import visit

ROOT: Final = Path(__file__).resolve().parents[1]
GUIDES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PATH: Final = re.compile(r"\.?[\w-]+(/[\w.<>-]+)*(/|\.(py|md|toml|txt|ya?ml|png))|\.ci/run")
MADE_ON_USE: Final = (".venv", "test-artifacts", "library", "deploy/.env", "replicalab/tree", "/")
"""Beginnings of paths that a fresh clone lacks."""
MADE_BY_COMMANDS: Final = re.compile(r"^(?:my|your|our)[\w-]*\.")

guides: Final = pytest.mark.parametrize(
    "document", GUIDES, ids=lambda path: str(path.relative_to(ROOT))
)


def console_lines(text: str) -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line]


@cache
def program_help() -> str:
    command = [sys.executable, "-m", "replicalab", "--help"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def paths_exist(path: str, document: Path) -> bool:
    pattern = re.sub(r"<\w+>", "*", path.rstrip("/"))
    folders = (ROOT, ROOT / "replicalab", document.parent)
    return any(any(folder.glob(pattern)) for folder in folders)


@guides
def test_commands_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    lines = "\n".join([*console_lines(text), *re.findall(r"`(make [^`]+)`", text)])
    assert set(re.findall(r"(?:^|&& )make ([a-z-]+)", lines, re.MULTILINE)) <= targets
    commands = set(re.findall(r"(?:^|bin/|-m |\. )replicalab ([a-z]+)", lines, re.MULTILINE))
    assert [name for name in commands if not re.search(rf"\b{name}\b", program_help())] == []


@guides
def test_named_files_exist(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    spans = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text)
    paths = {span for span in spans if PATH.fullmatch(span) and not span.startswith(MADE_ON_USE)}
    named = {path for path in paths if not MADE_BY_COMMANDS.match(path)}
    assert sorted(path for path in named if not paths_exist(path, document)) == []


def slugs(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


@pytest.mark.parametrize("document", [*GUIDES, ROOT / "CHANGELOG.md"])
def test_links_resolve(document: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", document.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (document.parent / path) if path else document
        assert target.exists(), link
        if anchor:
            assert anchor in slugs(target.read_text(encoding="utf-8")), link


def test_methods_describe_every_kind_of_design() -> None:
    text = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    assert [row.title for row in KINDS.values() if f"\n### {row.title}\n" not in text] == []


ADDRESSES: Final = re.findall(
    r"\((http://localhost:8501/[^)]*)\)", (ROOT / "docs" / "questions.md").read_text("utf-8")
)


@pytest.mark.parametrize("address", ADDRESSES)
def test_address_opens_without_a_problem(address: str) -> None:
    parts = urlsplit(address)
    page = next((page for page in PAGES if page.endswith(f"_{parts.path[1:]}.py")), SCENARIOS)
    assert alerts(visit(page, **dict(parse_qsl(parts.query)))) == []


@pytest.mark.parametrize(
    "notebook", sorted((ROOT / "docs" / "examples").glob("*.ipynb")), ids=lambda path: path.stem
)
def test_example_notebook_runs(notebook: Path) -> None:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    names: dict[str, object] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)  # noqa: S102 - our own files
    assert len(names) > 3
