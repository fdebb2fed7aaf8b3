"""docs/glossary.md: at most forty words, each of which stands in the code."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
ROWS: Final = re.findall(
    r"^\| (?!word|-)(.+?) \| (.+?) \| `(\w+)` \|$",
    (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)
TREES: Final = [ast.parse(path.read_text("utf-8")) for path in (ROOT / "replicalab").rglob("*.py")]
CLASSES: Final = [
    node.name for tree in TREES for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
]
OF_THE_API: Final = {"Batch", "Lab"}
"""What a script gets of the class of that name, with its view for a notebook."""


def test_glossary_has_at_most_forty_words_each_once() -> None:
    words = [word for row in ROWS for word in row[0].split(", ")]
    assert 0 < len(ROWS) <= 40
    assert len(words) == len(set(words))


def test_names_of_the_glossary_stand_in_the_code() -> None:
    functions = {
        node.name for tree in TREES for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
    }
    fields = {
        node.target.id
        for tree in TREES
        for node in ast.walk(tree)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    aliases = {
        target.id
        for tree in TREES
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    known = {*CLASSES, *functions, *fields, *aliases}
    assert [name for *_, name in ROWS if name not in known] == []


def test_class_name_stands_for_one_class() -> None:
    public = (name for name in CLASSES if not name.startswith("_"))
    assert {name for name, many in Counter(public).items() if many > 1} <= OF_THE_API
