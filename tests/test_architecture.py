"""Imports between packages: strictly downward, and each outside library in few of them.

A rule without a test decays, so the source is read as syntax trees and every import is checked.
"""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple, get_args

import pytest

import replicalab
from replicalab.features import FEATURES, MODULES, Feature, Hook

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGE: Final = "replicalab"

PAGES: Final = "pages"
"""app.py and pages/*.py: above every layer, never imported."""
FEATURE: Final = "features/*"
"""Each folder of `replicalab.features`; its `__init__.py` is the package `features`."""
FOLDERS: Final = [
    [path.parent.name] for path in (ROOT / PACKAGE / "features").glob("*/__init__.py")
]


def _layers() -> tuple[frozenset[str], ...]:
    drawn = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    [block] = re.findall(r"```layers\n(.*?)```", drawn, flags=re.DOTALL)
    return tuple(frozenset(line.split(" · ")) for line in reversed(block.splitlines()))


LAYERS: Final = _layers()
"""A package may import from lower layers only; the pages are the highest."""

PACKAGES: Final = frozenset(chain.from_iterable(LAYERS)) - {PAGES}

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
"""Outside libraries and the packages that may import them."""

NOT_FOR_PAGES: Final = PACKAGES - {"ui", "server"}
"""Packages that a page reaches through `replicalab.ui`, so that no page computes."""

CORE: Final = PACKAGES - {FEATURE, "library", "render", "documents", "server", "ui"}
NOT_IN_CORE: Final = frozenset(
    "streamlit plotly pandas openai httpx2 jinja2 sqlalchemy distributed docx".split()
)


class Import(NamedTuple):
    """One import statement: its place and the dotted name."""

    file: Path
    line: int
    name: str

    @property
    def parts(self) -> list[str]:
        return self.name.split(".")

    @property
    def source(self) -> str:
        return package_of(self.file)

    @property
    def target(self) -> str | None:
        if self.parts[0] != PACKAGE or len(self.parts) == 1:
            return None
        return FEATURE if self.feature else self.parts[1]

    @property
    def feature(self) -> str:
        in_feature = self.parts[:2] == [PACKAGE, "features"] and self.parts[2:3] in FOLDERS
        return self.parts[2] if in_feature else ""


def package_of(file: Path) -> str:
    if not file.is_relative_to(ROOT / PACKAGE):
        return PAGES
    parts = file.relative_to(ROOT / PACKAGE).parts
    if parts[0] == "features" and len(parts) > 2:
        return FEATURE
    first = Path(parts[0]).stem
    return "" if first == "__init__" else first


PACKAGE_FILES: Final = sorted((ROOT / PACKAGE).rglob("*.py"))
PAGE_FILES: Final = [ROOT / "app.py", *sorted((ROOT / "pages").glob("*.py"))]


def imports_of(file: Path) -> Iterator[Import]:
    for node in ast.walk(ast.parse(file.read_text(), filename=str(file))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            for alias in node.names:
                yield Import(file, node.lineno, f"{module}{alias.name}")


IMPORTS: Final = [*chain.from_iterable(map(imports_of, [*PACKAGE_FILES, *PAGE_FILES]))]


def places(is_wrong: Callable[[Import], bool]) -> list[str]:
    wrong = [one for one in IMPORTS if is_wrong(one)]
    return [f"{one.file.relative_to(ROOT)}:{one.line}: {one.name}" for one in wrong]


def layer_of(package: str | None) -> int:
    return next((height for height, packages in enumerate(LAYERS) if package in packages), -1)


def test_drawn_packages_are_the_existing_ones() -> None:
    packages = {package_of(file) for file in PACKAGE_FILES} - {""}
    assert packages == PACKAGES, "draw the packages in docs/architecture.md as they are"
    assert len(LAYERS) <= 12


def goes_up(one: Import) -> bool:
    is_between_packages = (
        one.target in PACKAGES and one.source in {*PACKAGES, PAGES} and one.target != one.source
    )
    return is_between_packages and layer_of(one.target) >= layer_of(one.source)


def test_packages_import_strictly_downward() -> None:
    assert places(goes_up) == []


def test_features_do_not_import_each_other() -> None:
    assert places(lambda i: bool(i.feature and i.source) and i.feature not in i.file.parts) == []


@pytest.mark.parametrize("row", FEATURES, ids=attrgetter("name"))
def test_feature_defines_the_hooks_of_its_row(row: Feature) -> None:
    def defines(hook: Hook) -> bool:
        module = MODULES.get(hook, ".__init__").format(row.name).removeprefix(".")
        file = ROOT / PACKAGE / "features" / row.name / f"{module}.py"
        return file.exists() and f"\ndef {hook}(" in file.read_text(encoding="utf-8")

    hooks = get_args(Hook)
    assert [*filter(defines, hooks)] == [hook for hook in hooks if getattr(row, hook)]
    assert {*row.names} <= {*replicalab.__all__}


CORE_WORDS: Final = {"challenge", "registration", "portfolio"}
"""A field of the workspace, one of a case, and a function of `import replicalab`."""


def test_only_features_know_the_name_of_one() -> None:
    names = {row.name for row in FEATURES} - CORE_WORDS
    named = [
        f"{file.name}:{node.lineno}"
        for file in [*PACKAGE_FILES, *PAGE_FILES]
        if "features" not in file.parts
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and names & {*str(node.value).split(".")}
    ]
    importing = {one.file for one in IMPORTS if one.feature and one.source != FEATURE}
    assert named == []
    assert importing == {ROOT / PACKAGE / "__init__.py"}  # for type checkers alone


def test_pages_and_tests_are_not_imported() -> None:
    assert places(lambda i: i.parts[0] in {"app", "pages", "tests"}) == []


def test_agents_do_not_know_each_other() -> None:
    agents = {"scientist_policy", "lab_manager_policy"}
    assert (
        places(lambda i: i.file.stem in agents and bool((agents - {i.file.stem}) & {*i.parts}))
        == []
    )


def test_outside_libraries_stay_in_their_packages() -> None:
    assert places(lambda i: i.parts[0] in ONLY_IN and i.source not in ONLY_IN[i.parts[0]]) == []


def test_package_is_light_to_import() -> None:
    code = f"""
import ast, importlib, inspect, json, pkgutil, sys, types, {PACKAGE}
at_once = [name for name in sys.modules if name.startswith("{PACKAGE}.")]
for package in {sorted({package_of(file) for file in PACKAGE_FILES} & CORE)}:
    importlib.import_module("{PACKAGE}." + package)
{PACKAGE}.negotiate({PACKAGE}.assess({PACKAGE}.load("psy_stroop")))
heavy = sorted(set(sys.modules) & {set(NOT_IN_CORE)})
found = [each.name for each in pkgutil.walk_packages({PACKAGE}.__path__, "{PACKAGE}.")]
names = [name for name in found if "__main__" not in name and ".migrations." not in name]
shadowed = []
for module in [importlib.import_module(name) for name in names]:
    nodes = ast.parse(inspect.getsource(module)).body
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    taken = [node for node in imports if node.module != module.__name__]
    for name in [each.asname or each.name for node in taken for each in node.names]:
        here = getattr(module, name, None)
        if isinstance(here, types.ModuleType) and here.__name__ == module.__name__ + "." + name:
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
        for file in PAGE_FILES
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ClassDef | ast.BinOp | ast.AugAssign)
        or (isinstance(node, ast.stmt) and (node.end_lineno or 0) - node.lineno >= 25)
    ]
    assert not wrong, "long code and numbers belong in the layers below:\n" + "\n".join(wrong)


def test_page_reaches_the_domain_through_the_interface() -> None:
    assert places(lambda i: i.source == PAGES and i.target in NOT_FOR_PAGES) == []


def test_one_module_sends_html() -> None:
    def using(pattern: str) -> list[str]:
        files = [*PACKAGE_FILES, *PAGE_FILES]
        using = [file for file in files if re.search(pattern, file.read_text(encoding="utf-8"))]
        return [file.relative_to(ROOT).as_posix() for file in using]

    assert using(r"unsafe_allow_html\s*=") == []
    assert using(r"\bst\.html\(") == ["replicalab/ui/screen.py"]
    calls = [path for path in using(r"\bcore\.build_generate_fn\(") if path.endswith("page.py")]
    assert calls == ["replicalab/features/language_model/language_model_page.py"]


MOST_FILES: Final = {
    "a feature": 1,  # outside its folder
    "a dimension": 8,
    "an amount of a lab": 6,
    "a design kind": 3,
    "a field of the protocol": 8,
    "a page": 3,
    "a document": 3,
    "a part of a document": 3,
    "an export format": 3,
    "an import format": 3,
}
"""The files and folders that the paragraph of each thing may name."""
OWN_FILES: Final = {"features/<name>/", "tests/features/", "__init__.py"}


@pytest.mark.parametrize(("thing", "most"), MOST_FILES.items())
def test_new_thing_takes_few_files(thing: str, most: int) -> None:
    document = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    [paragraph] = re.findall(rf"- \*\*{thing}\*\*: (.*?)(?=\n- |\n\n)", document, re.DOTALL)
    named = {*re.findall(r"`([\w./<>]+(?:/|\.(?:py|md|yaml)))`", paragraph)}
    assert 0 < len(named - OWN_FILES) <= most, named
