"""The errors this project raises on purpose: all are below `ReplicaLabError`.

Every message names the value, the place and the remedy. All are ValueErrors too. Two are next to
their data: `agents.parsing.ScientistOutputParseError`, `library.LibraryConflictError`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from pydantic_core import PydanticCustomError


class ReplicaLabError(Exception):
    """Root of the tree: catch this to catch everything the project raises on purpose."""


class FeatureError(ReplicaLabError, ValueError):
    """An optional feature that cannot be imported."""


class Refusal(NamedTuple):
    """Why a record refuses its values: the problem, the remedy, and the field to change."""

    problem: str
    remedy: str
    field: str = ""

    @property
    def text(self) -> str:
        return f"{self.problem}; {self.remedy}"

    @property
    def error(self) -> PydanticCustomError:
        """The ValueError to raise in a validator; `of` returns this refusal again."""
        return PydanticCustomError("refusal", "{problem}; {remedy}", self._asdict())

    @classmethod
    def of(cls, error: PydanticCustomError) -> "Refusal":
        return cls(**(error.context or {}))


@dataclass(frozen=True)
class Fault:
    """A fault of a study file: its place, the problem with the value, and the remedy."""

    path: str  # dotted (``labs.hard.budget``); empty for the whole file
    problem: str
    remedy: str
    line: int = 0  # 1-based, 0 if unknown
    column: int = 0  # 1-based, 0 if unknown

    def __str__(self) -> str:
        line = f"line {self.line}" if self.line else ""
        column = f"column {self.column}" if self.column else ""
        place = ", ".join(filter(None, (line, column, self.path)))
        return f"{place}{': ' if place else ''}{self.problem}; {self.remedy}"


@dataclass(frozen=True)
class CellFault:
    """A fault of a table: its place, the problem with the value, and the remedy."""

    row: int | None  # as in a spreadsheet, from 1; None for the whole table
    column: str  # its name or letter; empty for the whole row
    problem: str
    remedy: str

    def __str__(self) -> str:
        place = ", ".join(filter(None, (f"row {self.row}" if self.row else "", self.column)))
        return f"{place}{': ' if place else ''}{self.problem}; {self.remedy}"


_AnyFault = TypeVar("_AnyFault", Fault, CellFault)


class _FaultyFileError(ReplicaLabError, ValueError, Generic[_AnyFault]):
    """A file that cannot be used.

    Attributes:
        source: the file or an id.
        faults: at least one, in the file's order.
        more: the number of further faults.
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
    """A bad argument of a Python call; its source is the call."""


class TableError(_FaultyFileError[CellFault]):
    """A table, CSV or Excel, that cannot be read."""


class LinkError(ReplicaLabError, ValueError):
    """An address whose workspace cannot be read in full."""


class PortfolioError(ReplicaLabError, ValueError):
    """Studies that cannot share a lab: too many, or of different labs."""


class NegotiationError(ReplicaLabError, ValueError):
    """A turn that no negotiation allows: an opening without samples, a turn after the end."""


class TraceError(ReplicaLabError, ValueError):
    """A saved negotiation that cannot be read, or whose replay differs."""

    def __init__(self, problem: str, remedy: str = "") -> None:
        self.problem, self.remedy = problem, remedy
        super().__init__("; ".join(filter(None, (problem, remedy))))


class PrintError(ReplicaLabError, ValueError):
    """A document that cannot become a PDF here, because the renderer is not installed."""


class ModelError(ReplicaLabError, ValueError):
    """A language model that gave no answer.

    The message names the server by its host, and the remedy. Neither it nor its causes hold the
    key, or a text of the server's that might repeat it.
    """


class ModelSettingsError(ModelError):
    """An address, a model's name, a key or a limit that cannot be used."""


class ModelUnreachableError(ModelError):
    """The server does not answer, or the connection dropped during the answer."""


class ModelTimeoutError(ModelError):
    """The server was silent for too long, or the answer exceeded its time limit."""


class ModelRefusedError(ModelError):
    """The server refused the request: the key, its rights, the model or the address."""


class ModelRateLimitedError(ModelError):
    """Too many requests, even after waiting; or the quota is used up."""


class ModelServerError(ModelError):
    """The server reports its own failure, even when asked again."""


class ModelFormatError(ModelError):
    """The server answered, but not with a chat completion."""


class ModelAnswerTooLongError(ModelError):
    """The answer is longer than the limit."""


class LibraryError(ReplicaLabError, ValueError):
    """A failure of the library; its content is unchanged."""


class LibraryContentError(LibraryError):
    """A name, a note or a content that cannot be kept."""


class LibraryMissingError(LibraryError):
    """An entry or a version that its owner does not have."""


class LibraryFullError(LibraryError):
    """No room is left, for this owner or for all."""


class LibraryBusyError(LibraryError):
    """Another process held the library for too long; nothing was saved."""


class LibraryStorageError(LibraryError):
    """A disk, a folder, a file or a server that cannot be used."""


class LibraryReplacedError(LibraryStorageError):
    """The file of an open library was deleted or replaced."""


class LibraryVersionError(LibraryError):
    """A library that a newer version wrote; it is left unchanged."""
