"""The errors this project raises on purpose: all are below `ReplicaLabError`.

Every message names the value, the place and the remedy. All are ValueErrors too, so a caller
that only knows the standard library can still catch them. Two stand where their data do:
`agents.parsing.ScientistOutputParseError` and `library.contents.LibraryConflictError`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar


class ReplicaLabError(Exception):
    """Root of the tree: catch this to catch everything the project raises on purpose."""


class FeatureError(ReplicaLabError, ValueError):
    """An optional feature that cannot be imported."""


@dataclass(frozen=True)
class Fault:
    """One thing wrong with a study file: where it is, what stands there, what to do.

    Attributes:
        path: dotted field path (``labs.hard.budget``); empty for the file as a whole.
        problem: what is wrong, with the offending value.
        remedy: what to write instead.
        line: 1-based line in the file, 0 when no single line is to blame.
        column: 1-based column in that line, 0 if unknown.
    """

    path: str
    problem: str
    remedy: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        line = f"line {self.line}" if self.line else ""
        column = f"column {self.column}" if self.column else ""
        place = ", ".join(filter(None, (line, column, self.path)))
        return f"{place}{': ' if place else ''}{self.problem}; {self.remedy}"


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
        place = ", ".join(filter(None, (f"row {self.row}" if self.row else "", self.column)))
        return f"{place}{': ' if place else ''}{self.problem}; {self.remedy}"


_AnyFault = TypeVar("_AnyFault", Fault, CellFault)


class _FaultyFileError(ReplicaLabError, ValueError, Generic[_AnyFault]):
    """A file that cannot be used.

    Attributes:
        source: the file at fault, or an id.
        faults: what is wrong, in the file's order (at least one fault).
        more: how many faults there are beyond these.
    """

    def __init__(self, source: str, faults: Sequence[_AnyFault], more: int = 0) -> None:
        self.source = source
        self.faults: tuple[_AnyFault, ...] = tuple(faults)
        self.more = more
        lines = [*map(str, faults), *([f"and {more} more fault{'s' * (more > 1)}"] if more else [])]
        super().__init__("\n".join(f"{source}: {line}" for line in lines))


class ScenarioError(_FaultyFileError[Fault]):
    """A study file, a study id or a lab that cannot be used."""


class ArgumentError(_FaultyFileError[Fault]):
    """A value that a Python call does not take; its source is the call."""


class TableError(_FaultyFileError[CellFault]):
    """A table, CSV or Excel, that cannot be taken; nothing of it is."""


class LinkError(ReplicaLabError, ValueError):
    """An address whose workspace cannot be read in full."""


class PortfolioError(ReplicaLabError, ValueError):
    """Studies among which a lab cannot choose: too many, or of labs that are not the same."""


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
