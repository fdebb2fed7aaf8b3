"""The errors this project raises on purpose.

    ReplicaLabError
    ├── ScenarioError                a study file, a study id or a lab that cannot be used
    ├── TableError                   a table, CSV or Excel, that cannot be taken
    ├── LinkError                    an address whose workspace cannot be read
    ├── NegotiationError             a turn that no negotiation allows
    ├── TraceError                   a saved negotiation that cannot be read or replayed
    ├── PrintError                   a document that cannot be made into PDF here
    ├── ModelError                   a language model that gave no answer
    │   ├── ModelSettingsError       an address, a name or a key that cannot be used
    │   ├── ModelUnreachableError    nobody answers there, or the connection dropped
    │   ├── ModelTimeoutError        silent for too long, or not done within the time limit
    │   ├── ModelRefusedError        the request was refused: key, rights, model, address
    │   ├── ModelRateLimitedError    too many requests, or a quota that is used up
    │   ├── ModelServerError         the server failed by its own account
    │   ├── ModelFormatError         an answer that is no chat completion
    │   └── ModelAnswerTooLongError  an answer longer than is read
    ├── LibraryError                 something that the library cannot keep or give
    │   ├── LibraryContentError      a name, a note or a content that cannot be kept
    │   ├── LibraryMissingError      an entry or a version that its owner does not have
    │   ├── LibraryFullError         no room is left, for this owner or for anybody
    │   ├── LibraryBusyError         somebody else held the library for too long
    │   ├── LibraryStorageError      a disk, a folder, a file or a server that cannot be used
    │   ├── LibraryVersionError      a library that a newer version wrote
    │   └── LibraryConflictError     somebody else saved first (library.records)
    └── ScientistOutputParseError    model text without one valid action (agents.parsing)

Every message names the value, the place and the remedy. All are ValueErrors too, so a caller
that only knows the standard library can still catch them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class ReplicaLabError(Exception):
    """Root of the tree: catch this to catch everything the project raises on purpose."""


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a study file: where it is, what stands there, what to do.

    Attributes:
        path: dotted field path (``labs.hard.budget``); empty for the file as a whole.
        problem: what is wrong, with the offending value.
        remedy: what to write instead.
        line: 1-based line in the file, or None when no single line is to blame.
    """

    path: str
    problem: str
    remedy: str
    line: int | None = None

    def __str__(self) -> str:
        place = f"line {self.line}, " if self.line else ""
        field = f"{self.path}: " if self.path else ""
        return f"{place}{field}{self.problem}; {self.remedy}"


def _told(source: str, faults: Sequence[object], more: int) -> str:
    """Return what is wrong with a file, a line each."""
    said = [*map(str, faults), *([f"and {more} more fault{'s' * (more > 1)}"] if more else [])]
    return "\n".join(f"{source}: {each}" for each in said)


class ScenarioError(ReplicaLabError, ValueError):
    """A study file, a study id or a lab that cannot be used.

    Attributes:
        source: the file or id at fault.
        faults: what is wrong, in file order (at least one fault).
        more: how many faults there are beyond these.
    """

    def __init__(self, source: str, faults: Sequence[Fault], more: int = 0) -> None:
        self.source = source
        self.faults = tuple(faults)
        self.more = more
        super().__init__(_told(source, faults, more))


@dataclass(frozen=True)
class CellFault:
    """One thing wrong with a table: where it is, what stands there, what to do.

    Attributes:
        row: as a spreadsheet counts them, from 1; None for the table as a whole.
        column: its name, or its letter where it has none; empty for the row as a whole.
        problem: what is wrong, with the offending value.
        remedy: what to write instead.
    """

    row: int | None
    column: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        row = f"row {self.row}" if self.row else ""
        place = ", ".join(filter(None, (row, self.column)))
        return (
            f"{place}: {self.problem}; {self.remedy}"
            if place
            else (f"{self.problem}; {self.remedy}")
        )


class TableError(ReplicaLabError, ValueError):
    """A table that cannot be taken; nothing of it is.

    Attributes:
        source: the file at fault.
        faults: what is wrong, in row order (at least one fault).
        more: how many faults there are beyond these.
    """

    def __init__(self, source: str, faults: Sequence[CellFault], more: int = 0) -> None:
        self.source = source
        self.faults = tuple(faults)
        self.more = more
        super().__init__(_told(source, faults, more))


class LinkError(ReplicaLabError, ValueError):
    """An address whose workspace cannot be read in full."""


class NegotiationError(ReplicaLabError, ValueError):
    """A turn that no negotiation allows: an opening without samples, a turn after the end."""


class TraceError(ReplicaLabError, ValueError):
    """A saved negotiation that cannot be read, or whose replay differs."""


class PrintError(ReplicaLabError, ValueError):
    """A document that cannot be made into PDF here: what draws it is not installed."""


class ModelError(ReplicaLabError, ValueError):
    """A language model that gave no answer.

    The message names the server by its host, and what to do. Neither it nor any error behind it
    holds the key, or a text of the server's that might repeat it.
    """


class ModelSettingsError(ModelError):
    """An address, a model's name, a key or a limit that cannot be used."""


class ModelUnreachableError(ModelError):
    """Nobody answers at the address, or the connection dropped before the answer was complete."""


class ModelTimeoutError(ModelError):
    """The server was silent for too long, or the answer was not complete within its time limit."""


class ModelRefusedError(ModelError):
    """The server refused the request: the key, its rights, the model or the address."""


class ModelRateLimitedError(ModelError):
    """Too many requests, also after waiting; or a quota that is used up."""


class ModelServerError(ModelError):
    """The server failed by its own account, also when asked again."""


class ModelFormatError(ModelError):
    """The server answered, but not with a chat completion."""


class ModelAnswerTooLongError(ModelError):
    """The answer is longer than is read."""


class LibraryError(ReplicaLabError, ValueError):
    """Something that the library cannot keep or give; what it holds stays as it was."""


class LibraryContentError(LibraryError):
    """A name, a note or a content that cannot be kept."""


class LibraryMissingError(LibraryError):
    """An entry or a version that its owner does not have, or no longer."""


class LibraryFullError(LibraryError):
    """No room is left, for this owner or for anybody."""


class LibraryBusyError(LibraryError):
    """Somebody else held the library for longer than we wait; nothing was saved."""


class LibraryStorageError(LibraryError):
    """A disk, a folder, a file or a server that cannot be used."""


class LibraryVersionError(LibraryError):
    """A library that a newer version wrote; it is left as it is."""
