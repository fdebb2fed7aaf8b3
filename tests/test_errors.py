"""The error tree: one root, and every message says where, what and what to do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from replicalab import errors
from replicalab.agents import ScientistOutputParseError
from replicalab.errors import CellFault, Fault, ReplicaLabError, ScenarioError, TableError
from replicalab.library import LibraryConflictError


def below(root: type[Exception]) -> Iterator[type[Exception]]:
    for error in root.__subclasses__():
        yield error
        yield from below(error)


def test_errors_of_the_project_are_value_errors_and_stand_in_one_module() -> None:
    found = {*below(ReplicaLabError)}
    assert {error for error in found if error.__module__ != errors.__name__} == {
        ScientistOutputParseError,
        LibraryConflictError,
    }
    assert len(found) > 20
    assert all(issubclass(error, ValueError) for error in found)


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (Fault("labs.hard.budget", "-5 is not allowed", "must be > 0", 7),
         "line 7, labs.hard.budget: -5 is not allowed; must be > 0"),
        (Fault("seed", "-1 is not a seed", "use 0"), "seed: -1 is not a seed; use 0"),
        (Fault("", "the file is empty", "write a study"), "the file is empty; write a study"),
        (Fault("", "a tab", "use spaces", 3), "line 3, a tab; use spaces"),
        (CellFault(3, "", "7 values", "write 5"), "row 3: 7 values; write 5"),
        (CellFault(None, "", "no rows", "write one"), "no rows; write one"),
    ],
)  # fmt: skip
def test_fault_names_place_value_and_remedy(fault: Fault | CellFault, text: str) -> None:
    assert str(fault) == text


def test_error_gives_every_fault_a_line_with_the_file_and_counts_the_rest() -> None:
    faults = [Fault("a", "1 is odd", "use 2", 4), Fault("b", "missing", "add it")]
    error = ScenarioError("biology/x.yaml", faults)
    assert str(error) == (
        "biology/x.yaml: line 4, a: 1 is odd; use 2\nbiology/x.yaml: b: missing; add it"
    )
    assert (error.source, error.faults) == ("biology/x.yaml", tuple(faults))
    of_a_table = TableError("our.csv", [CellFault(2, "name", "empty", "write one")], more=2)
    assert str(of_a_table) == "our.csv: row 2, name: empty; write one\nour.csv: and 2 more faults"
