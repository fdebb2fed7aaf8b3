"""Mutation testing of the core: `python -m tests.mutants`, every tenth place by default.

One change at a time is made to a function of a room: a comparison, an operator, a number, a
condition, a statement left out. The tests that call the function run on it, in a process of their
own that ends with the first failure. A change that none of them notices is told; either a test is
missing, or nothing that matters is changed.
"""

import argparse
import ast
import copy
import functools
import gc
import os
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from cProfile import Profile
from pathlib import Path
from types import CodeType, FunctionType
from typing import Final, NamedTuple

import pytest
from _pytest.runner import runtestprotocol

ROOT: Final = Path(__file__).resolve().parents[1]
APP: Final = str(ROOT / "replicalab")
ROOMS: Final = ("assessment", "agents", "planner", "negotiation")
_BELOW: Final = tuple(
    f"replicalab.{room}" for room in ("designs", "lexicon", "models", "scenarios")
)
"""What these have worked out holds no part of a room's."""
LONGEST: Final = 60.0
"""Seconds of the processor after which a change counts as noticed, at the most: it never ends."""
MOST_TESTS: Final = 150  # a process ends with a number below 255
_COMPARED: Final = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_WORKED: Final = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or,
    ast.Or: ast.And, ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult, ast.Mod: ast.Mult,
}  # fmt: skip
_NAMED: Final = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil"}
_Function = ast.FunctionDef | ast.Lambda
Place = tuple[str, str, int]
"""Of a function: its file, its qualified name, its first line."""


class Mutant(NamedTuple):
    """A change of a function: what becomes what, in which module."""

    path: Path
    tree: ast.Module
    function: _Function
    node: ast.AST
    new: ast.AST
    change: str

    @property
    def where(self) -> str:
        line = getattr(self.node, "lineno", self.function.lineno)
        return f"{self.path.relative_to(ROOT)}:{line}"

    def is_at(self, places: list[str]) -> bool:
        return not {self.where, self.where.rpartition(":")[0]}.isdisjoint(places)

    def code(self) -> CodeType | None:
        changed = copy.deepcopy(self.tree, {id(self.node): self.new})
        ast.fix_missing_locations(changed)
        try:
            return _code_at(
                compile(changed, str(self.path), "exec", dont_inherit=True), self.function
            )
        except SyntaxError:
            return None


def mutants(path: Path) -> Iterator[Mutant]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for function in _outermost(tree):
        for node in (node for part in _body(function) for node in ast.walk(part)):
            for change, new in _changes(node):
                yield Mutant(path, tree, function, node, new, change)


def _outermost(tree: ast.AST) -> Iterator[_Function]:
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, _Function):
            yield child
        else:
            yield from _outermost(child)


def _body(function: _Function) -> list[ast.AST]:
    if isinstance(function, ast.Lambda):
        return [function.body]
    return [*function.body]


def _code_at(code: CodeType, function: _Function) -> CodeType | None:
    name = "<lambda>" if isinstance(function, ast.Lambda) else function.name
    lines = {function.lineno, *(item.lineno for item in getattr(function, "decorator_list", ()))}
    types = [
        entry for entry in _codes(code) if entry.co_name == name and entry.co_firstlineno in lines
    ]
    return types[0] if len(types) == 1 else None


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Compare(ops=[op, *others]) if type(op) in _COMPARED:
            new = copy.copy(node)
            new.ops = [_COMPARED[type(op)](), *others]
            yield f"{ast.unparse(node)} → {ast.unparse(new)}", new
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.AugAssign(op=op) if type(op) in _WORKED:
            changed = copy.copy(node)
            changed.op = _WORKED[type(op)]()  # type: ignore[assignment]
            yield f"{ast.unparse(node)} → {ast.unparse(changed)}", changed
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield f"{ast.unparse(node)} → {ast.unparse(operand)}", operand
        case ast.Constant(value=bool(value)):
            yield f"{value} → {not value}", ast.copy_location(ast.Constant(not value), node)
        case ast.Constant(value=int(value) | float(value)):
            yield f"{value} → {value + 1}", ast.copy_location(ast.Constant(value + 1), node)
        case ast.Call(func=ast.Name(id=name)) if name in _NAMED:
            called = copy.copy(node)
            called.func = ast.copy_location(ast.Name(_NAMED[name], ast.Load()), node)
            yield f"{name} → {_NAMED[name]}", called
        case ast.If(test=test) | ast.IfExp(test=test):
            branch = copy.copy(node)
            branch.test = ast.copy_location(ast.UnaryOp(ast.Not(), test), test)
            yield f"if {ast.unparse(test)} → if not", branch
        case ast.Expr(value=ast.Call()) | ast.Continue() | ast.Break():
            yield f"{ast.unparse(node)} left out", ast.copy_location(ast.Pass(), node)


class Search:
    """A plugin that runs all tests once, to see what they call, and then some for each mutant."""

    def __init__(self, rooms: list[str], every: int, offset: int, places: list[str]) -> None:
        files = [
            file for room in rooms for file in sorted((ROOT / "replicalab" / room).rglob("*.py"))
        ]
        self.all = [mutant for file in files for mutant in mutants(file)]
        chosen = self.all[offset::every]
        self.chosen = [mutant for mutant in chosen if not places or mutant.is_at(places)]

    def pytest_sessionstart(self) -> None:
        # Imported sooner, pytest could not rewrite it.
        from hypothesis import Phase, settings  # noqa: PLC0415

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile(
            "mutants",
            max_examples=10,
            deadline=None,
            database=None,
            derandomize=True,
            phases=phases,
        )
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        gc.unfreeze()  # the tests' own settings hide what is loaded from `gc.get_objects`
        calls, slow = self._called(session.items)
        functions: dict[Place, list[FunctionType]] = defaultdict(list)
        for get_object in gc.get_objects():
            if isinstance(get_object, FunctionType):
                functions[_place(get_object.__code__)].append(get_object)
        counts = dict.fromkeys(("noticed", "survived", "never called"), 0)
        for mutant in self.chosen:
            code = mutant.code()
            place = _place(code) if code else ("", "", 0)
            items = calls[place]
            text = "never called"
            if code and items and functions[place]:
                # What takes twice as long as with a profile does not end.
                longest = min(LONGEST, 5.0 + 2.0 * sum(map(slow.__getitem__, items)))
                status = _status(items, functions[place], code, longest)
                text = "noticed" if status else "survived"
                failed = os.waitstatus_to_exitcode(status)
                if 0 < failed <= len(items):  # it is the likeliest to notice the next, too
                    items.insert(0, items.pop(failed - 1))
            counts[text] += 1
            if text != "noticed":
                self._tell(f"{text}: {mutant.where}: {mutant.change[:150]}")
        self._tell(f"{len(self.chosen):,} of {len(self.all):,} changes: {counts}")
        return True

    def _called(
        self, items: list[pytest.Item]
    ) -> tuple[dict[Place, list[pytest.Item]], dict[pytest.Item, float]]:
        calls: dict[Place, list[pytest.Item]] = defaultdict(list)
        slow: dict[pytest.Item, float] = {}
        for item in items:
            _forget()
            profile = Profile(subcalls=False, builtins=False)
            began = time.process_time()
            profile.enable()
            failed = _fails(item)
            profile.disable()
            slow[item] = time.process_time() - began
            if failed:
                self._tell(f"left out, it fails without a change: {item.nodeid}")
                continue
            for code in {entry.code for entry in profile.getstats()}:
                if isinstance(code, CodeType) and code.co_filename.startswith(APP):
                    calls[_place(code)].append(item)
        # Quick ones first; where a function is called by hundreds, the quickest of them.
        for place, called in calls.items():
            calls[place] = sorted(called, key=slow.__getitem__)[:MOST_TESTS]
        return calls, slow

    @staticmethod
    def _tell(text: str) -> None:
        sys.__stdout__.write(f"{text}\n")  # type: ignore[union-attr]
        sys.__stdout__.flush()  # type: ignore[union-attr]


def _place(code: CodeType) -> Place:
    return (code.co_filename, code.co_qualname, code.co_firstlineno)


def _fails(item: pytest.Item) -> bool:
    item._initrequest()  # type: ignore[attr-defined]  # noqa: SLF001 - it runs once more
    return any(report.failed for report in runtestprotocol(item, log=False, nextitem=None))


def _forget() -> None:
    for get_object in gc.get_objects():
        cached = isinstance(get_object, functools._lru_cache_wrapper)  # noqa: SLF001 - its only name
        if cached and not get_object.__module__.startswith(_BELOW):
            get_object.cache_clear()


def _status(
    items: list[pytest.Item], functions: list[FunctionType], code: CodeType, longest: float
) -> int:
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_VIRTUAL, longest)  # its signal ends the process
        try:
            for function in functions:
                function.__code__ = code
            _forget()
            os._exit(next((n for n, item in enumerate(items, 1) if _fails(item)), 0))
        except BaseException:  # noqa: BLE001 - also that of a change that breaks the session
            os._exit(255)
    return os.waitpid(child, 0)[1]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rooms", nargs="*", choices=ROOMS, default=[*ROOMS])
    parser.add_argument("--every", type=int, default=10, help="one in so many")
    parser.add_argument("--from", dest="offset", type=int, default=0, help="the first, from 0")
    parser.add_argument("--at", nargs="*", default=[], help="only these files, or FILE:LINE")
    parser.add_argument("--tests", nargs="*", help="files of tests, else those of the rooms")
    namespace = parser.parse_args(arguments)
    search = Search(namespace.rooms, namespace.every, namespace.offset, namespace.at)
    tests = namespace.tests or [str(ROOT / "tests" / room) for room in namespace.rooms]
    options = ("-p", "no:cacheprovider", "--capture=no", "-m", "not long and not bench")
    return pytest.main(["-q", *options, *tests], [search])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
