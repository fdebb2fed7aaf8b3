"""Imports between rooms: strictly downward, with one room for each outside library.

A rule without a test decays, so the source is read as syntax trees and every import is checked.
"""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

import pytest

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGE: Final = "replicalab"

PAGES: Final = "pages"
"""app.py and pages/*.py: above every layer, never imported."""


FEATURE: Final = "features/*"
"""The room of each folder of `replicalab.features`; its `__init__.py` is the room `features`."""

FOLDERS: Final = [
    [path.parent.name] for path in (ROOT / PACKAGE / "features").glob("*/__init__.py")
]


def _layers() -> tuple[frozenset[str], ...]:
    drawn = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    [block] = re.findall(r"```rooms\n(.*?)```", drawn, flags=re.DOTALL)
    return tuple(frozenset(line.split(" · ")) for line in reversed(block.splitlines()))


LAYERS: Final = _layers()
"""A room may import from rooms of lower layers only; the pages are the highest."""

ROOMS: Final = frozenset(chain.from_iterable(LAYERS)) - {PAGES}

ONLY_IN: Final[dict[str, frozenset[str]]] = {
    "streamlit": frozenset({"ui", "server", FEATURE, PAGES}),
    "starlette": frozenset({"server"}),
    "google": frozenset({"server"}),
    "jinja2": frozenset({"render"}),
    "plotly": frozenset({"render", "ui"}),
    "pandas": frozenset({"tables", "models", FEATURE}),
    "openpyxl": frozenset({"tables", FEATURE}),
    "sqlalchemy": frozenset({"library"}),
    "alembic": frozenset({"library"}),
    "psycopg": frozenset(),
    "platformdirs": frozenset({"places"}),
    "yaml": frozenset({"scenarios"}),
    "openai": frozenset({FEATURE}),
    "gymnasium": frozenset({"environment"}),
    "distributed": frozenset({"cli"}),
    "typer": frozenset({"cli", FEATURE}),
    "rich": frozenset({"cli", "render"}),
    "loky": frozenset({"negotiation"}),
    "httpx2": frozenset({FEATURE}),
    "numpy": frozenset({"planner", "render", "ui", FEATURE}),
    "scipy": frozenset({"designs", "planner", FEATURE}),
    "weasyprint": frozenset({FEATURE}),
    "docx": frozenset({FEATURE}),
}
"""Outside libraries and the rooms that may import them."""

NOT_FOR_PAGES: Final = ROOMS - {"ui", "server"}
"""Rooms that a page reaches through `replicalab.ui`, so that no page computes."""

CORE: Final = ROOMS - {FEATURE, "library", "render", "reports", "server", "ui"}
NOT_IN_CORE: Final = frozenset(
    "streamlit plotly pandas openai httpx2 jinja2 sqlalchemy distributed docx".split()
)


class Import(NamedTuple):
    """One import statement: its place and the dotted name."""

    file: Path
    line: int
    name: str

    @property
    def place(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}"

    @property
    def top(self) -> str:
        return self.name.split(".")[0]

    @property
    def source(self) -> str:
        return room_of(self.file)

    @property
    def target(self) -> str | None:
        parts = self.name.split(".")
        if parts[0] != PACKAGE or len(parts) == 1:
            return None
        return FEATURE if self.feature else parts[1]

    @property
    def feature(self) -> str:
        parts = self.name.split(".")
        return parts[2] if parts[:2] == [PACKAGE, "features"] and parts[2:3] in FOLDERS else ""


def room_of(file: Path) -> str:
    package = ROOT / PACKAGE
    if not file.is_relative_to(package):
        return PAGES
    parts = file.relative_to(package).parts
    if parts[0] == "features" and len(parts) > 2:
        return FEATURE
    first = Path(parts[0]).stem
    return "" if first == "__init__" else first


def package_files() -> list[Path]:
    return sorted((ROOT / PACKAGE).rglob("*.py"))


def page_files() -> list[Path]:
    entry = ROOT / "app.py"
    return [*([entry] if entry.exists() else []), *sorted((ROOT / "pages").glob("*.py"))]


def imports_of(file: Path) -> Iterator[Import]:
    for node in ast.walk(ast.parse(file.read_text(), filename=str(file))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(file, node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield Import(file, node.lineno, f"{_base(file, node)}.{alias.name}")


def _base(file: Path, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = file.relative_to(ROOT).with_suffix("").parts[: -node.level]
    return ".".join((*package, *filter(None, [node.module])))


@cache
def all_imports() -> list[Import]:
    return list(chain.from_iterable(map(imports_of, [*package_files(), *page_files()])))


def layer_of(room: str) -> int:
    return next((height for height, rooms in enumerate(LAYERS) if room in rooms), -1)


def test_drawn_rooms_are_the_existing_ones() -> None:
    rooms = {room_of(file) for file in package_files()} - {""}
    assert rooms == ROOMS, "draw the rooms in docs/architecture.md as they are"


def test_rooms_import_strictly_downward() -> None:
    upward = {
        f"{result.place}: {result.source} imports {result.target}": None
        for result in all_imports()
        if result.target in ROOMS
        and result.source in {*ROOMS, PAGES}
        and result.target != result.source
        and layer_of(result.target) >= layer_of(result.source)
    }
    assert not upward, "\n".join(upward)


def test_features_do_not_import_each_other() -> None:
    met = [
        f"{result.place}: {result.name}"
        for result in all_imports()
        if result.feature and result.source and result.feature not in result.file.parts
    ]
    assert not met, "\n".join(met)


def test_nobody_imports_the_pages_or_the_tests() -> None:
    texts = [f"{i.place}: {i.name}" for i in all_imports() if i.top in {"app", "pages", "tests"}]
    assert not texts, "\n".join(texts)


def test_agents_do_not_know_each_other() -> None:
    agents = {"scientist_policy", "lab_manager_policy"}
    met = [
        f"{result.place}: {result.name}"
        for result in all_imports()
        if result.file.stem in agents and (agents - {result.file.stem}) & {*result.name.split(".")}
    ]
    assert not met, "\n".join(met)


def test_outside_libraries_stay_in_their_rooms() -> None:
    strays = [
        f"{result.place}: {result.top} belongs to {sorted(ONLY_IN[result.top]) or 'nobody'}"
        for result in all_imports()
        if result.top in ONLY_IN and result.source not in ONLY_IN[result.top]
    ]
    assert not strays, "\n".join(strays)


def test_package_is_light_to_import() -> None:
    code = f"""
import ast, importlib, inspect, json, pkgutil, sys, types, {PACKAGE}
at_once = [name for name in sys.modules if name.startswith("{PACKAGE}.")]
for room in {sorted({room_of(file) for file in package_files()} & CORE)}:
    importlib.import_module("{PACKAGE}." + room)
{PACKAGE}.negotiate({PACKAGE}.assess({PACKAGE}.load("psy_stroop")))
heavy = sorted(set(sys.modules) & {set(NOT_IN_CORE)})
found = [each.name for each in pkgutil.walk_packages({PACKAGE}.__path__, "{PACKAGE}.")]
names = [name for name in found if "__main__" not in name and ".migrations." not in name]
shadowed = []
for room in [importlib.import_module(name) for name in names]:
    imports = [n for n in ast.parse(inspect.getsource(room)).body if isinstance(n, ast.ImportFrom)]
    taken = [node for node in imports if node.module != room.__name__]
    for name in [each.asname or each.name for node in taken for each in node.names]:
        here = getattr(room, name, None)
        if isinstance(here, types.ModuleType) and here.__name__ == room.__name__ + "." + name:
            shadowed.append(here.__name__)
print(json.dumps([at_once, heavy, shadowed]))
"""
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert json.loads(process.stdout) == [[], [], []]


def test_page_has_no_class_or_arithmetic() -> None:
    wrong = [
        f"{file.name}:{node.lineno}: {ast.unparse(node)[:80]}"
        for file in page_files()
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ClassDef | ast.BinOp | ast.AugAssign)
        or (isinstance(node, ast.stmt) and (node.end_lineno or 0) - node.lineno >= 25)
    ]
    assert not wrong, "what is long and numbers come from the rooms below:\n" + "\n".join(wrong)


def test_page_reaches_the_domain_through_the_interface_room() -> None:
    direct = [
        f"{result.place}: {result.name}"
        for result in all_imports()
        if result.source == PAGES and result.target in NOT_FOR_PAGES
    ]
    assert not direct, "\n".join(direct)


def test_one_module_sends_html() -> None:
    def using(pattern: str) -> list[str]:
        files = [*(ROOT / PACKAGE).rglob("*.py"), *page_files()]
        return [
            file.relative_to(ROOT).as_posix()
            for file in files
            if re.search(pattern, file.read_text(encoding="utf-8"))
        ]

    assert using(r"unsafe_allow_html\s*=") == []
    assert using(r"\bst\.html\(") == ["replicalab/ui/panel.py"]
    calls = [path for path in using(r"\bcore\.build_generate_fn\(") if path.endswith("page.py")]
    assert calls == ["replicalab/features/language_model/page.py"]


MOST_FILES: Final = {
    "a feature": 1,  # outside its folder
    "a dimension": 8,
    "an amount of a lab": 6,
    "a design kind": 3,
    "a field of the protocol": 8,
    "a page": 3,
    "a part of a document": 3,
    "a form of a document": 3,
    "a file that opens": 3,
}
"""The files and folders that the paragraph of each thing may name."""
OF_A_FEATURE: Final = {
    "features/<name>/",
    "tests/features/",
    "__init__.py",
    "page.py",
    "command.py",
}


@pytest.mark.parametrize(("thing", "most"), MOST_FILES.items())
def test_new_thing_takes_few_files(thing: str, most: int) -> None:
    document = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    [paragraph] = re.findall(rf"- \*\*{thing}\*\*: (.*?)(?=\n- |\n\n)", document, re.DOTALL)
    named = {*re.findall(r"`([\w./<>]+(?:/|\.(?:py|md|yaml)))`", paragraph)}
    assert 0 < len(named - OF_A_FEATURE) <= most, named
