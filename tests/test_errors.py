"""The error tree: its drawing is the tree, and every message says where, what and what to do."""

from __future__ import annotations

import re

import pytest

from replicalab import errors
from replicalab.agents import ScientistOutputParseError
from replicalab.errors import (
    CellFault,
    Fault,
    LibraryBusyError,
    LibraryContentError,
    LibraryError,
    LibraryFullError,
    LibraryMissingError,
    LibraryStorageError,
    LibraryVersionError,
    LinkError,
    ModelAnswerTooLongError,
    ModelError,
    ModelFormatError,
    ModelRateLimitedError,
    ModelRefusedError,
    ModelServerError,
    ModelSettingsError,
    ModelTimeoutError,
    ModelUnreachableError,
    NegotiationError,
    PrintError,
    ReplicaLabError,
    ScenarioError,
    TableError,
    TraceError,
)
from replicalab.library import LibraryConflictError

OF_A_MODEL = [
    ModelSettingsError,
    ModelUnreachableError,
    ModelTimeoutError,
    ModelRefusedError,
    ModelRateLimitedError,
    ModelServerError,
    ModelFormatError,
    ModelAnswerTooLongError,
]
OF_THE_LIBRARY = [
    LibraryContentError,
    LibraryMissingError,
    LibraryFullError,
    LibraryBusyError,
    LibraryStorageError,
    LibraryVersionError,
    LibraryConflictError,
]
BRANCHES = [
    *(ScenarioError, TableError, LinkError, NegotiationError, TraceError, PrintError, ModelError),
    LibraryError,
    ScientistOutputParseError,
]
LEAVES = [*BRANCHES[:7], *OF_A_MODEL, LibraryError, *OF_THE_LIBRARY, *BRANCHES[8:]]
"""Every error below the root, in the order in which the tree is drawn."""


def drawn() -> list[str]:
    """Return the class names in the module's drawing, the root first."""
    assert errors.__doc__ is not None
    return re.findall(r"^ +(?:│ +)?(?:[├└]── )?(\w+Error)\b", errors.__doc__, re.MULTILINE)


def test_tree_is_drawn_as_it_is() -> None:
    assert drawn() == [error.__name__ for error in [ReplicaLabError, *LEAVES]]


def test_tree_has_no_other_classes() -> None:
    assert set(ReplicaLabError.__subclasses__()) == set(BRANCHES)
    assert ModelError.__subclasses__() == OF_A_MODEL
    assert LibraryError.__subclasses__() == OF_THE_LIBRARY
    trunks = (ModelError, LibraryError)
    assert all(error.__subclasses__() == [] for error in LEAVES if error not in trunks)


@pytest.mark.parametrize("error", LEAVES)
def test_error_is_the_projects_and_a_value_error(error: type[Exception]) -> None:
    assert issubclass(error, ReplicaLabError)
    assert issubclass(error, ValueError)


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (Fault("labs.hard.budget", "-5 is not allowed", "must be > 0", 7),
         "line 7, labs.hard.budget: -5 is not allowed; must be > 0"),
        (Fault("seed", "-1 is not a seed", "use 0"), "seed: -1 is not a seed; use 0"),
        (Fault("", "the file is empty", "write a study"), "the file is empty; write a study"),
        (Fault("", "a tab", "use spaces", 3), "line 3, a tab; use spaces"),
    ],
)  # fmt: skip
def test_fault_names_line_place_value_and_remedy(fault: Fault, text: str) -> None:
    assert str(fault) == text


def test_scenario_error_gives_every_fault_a_line_with_the_file() -> None:
    faults = [Fault("a", "1 is odd", "use 2", 4), Fault("b", "missing", "add it")]
    error = ScenarioError("biology/x.yaml", faults)
    assert str(error) == (
        "biology/x.yaml: line 4, a: 1 is odd; use 2\nbiology/x.yaml: b: missing; add it"
    )
    assert (error.source, error.faults) == ("biology/x.yaml", tuple(faults))


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (CellFault(3, "price", "'x' is no number", "write 5"),
         "row 3, price: 'x' is no number; write 5"),
        (CellFault(3, "", "7 values", "write 5"), "row 3: 7 values; write 5"),
        (CellFault(None, "", "no rows", "write one"), "no rows; write one"),
    ],
)  # fmt: skip
def test_cell_fault_names_row_column_value_and_remedy(fault: CellFault, text: str) -> None:
    assert str(fault) == text


def test_table_error_gives_every_fault_a_line_and_counts_the_rest() -> None:
    error = TableError("our.csv", [CellFault(2, "name", "it is empty", "write one")], more=2)
    assert str(error) == "our.csv: row 2, name: it is empty; write one\nour.csv: and 2 more faults"
