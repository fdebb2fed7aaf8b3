"""What the library takes and gives: owners, entries, their versions, drafts, bounds."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple, Self

from replicalab.errors import LibraryError

DELETED_DAYS: Final = 30  # Days in which a deleted entry can be restored
DRAFT_DAYS: Final = 90  # Days after which an untouched draft is removed


class EntryKind(StrEnum):
    """What an entry holds; `contents` says in which form."""

    PLAN = "plan"
    LAB = "lab"
    STUDY = "study"
    RUN = "run"
    BATCH = "batch"


@dataclass(frozen=True)
class Owner:
    """Whose an entry is: a hash, from which nobody learns the visitor's secret."""

    digest: str

    @classmethod
    def of(cls, secret: str) -> Self:
        """Return the owner who has a secret.

        The secret is a random token of 256 bits, so a plain hash of it cannot be guessed back.
        """
        return cls(hashlib.sha256(f"replicalab library\n{secret}".encode()).hexdigest())


class LibraryLimits(NamedTuple):
    """Limits per owner; a deleted entry counts until it is removed for good.

    Attributes:
        entries: number of entries.
        owner_bytes: size of all versions, notes and the draft.
        content_bytes: size of one content.
    """

    entries: int = 5_000
    owner_bytes: int = 64 * 2**20
    content_bytes: int = 5 * 2**20


class Entry(NamedTuple):
    """One thing that is kept, as a list shows it.

    Attributes:
        about: the id of its study, or of each of a batch’s, or the name that its lab gives itself.
        version: the number of the latest.
        size: the bytes of all versions.
    """

    id: str
    kind: EntryKind
    name: str
    notes: str
    about: str
    version: int
    size: int
    created: datetime
    changed: datetime
    deleted: datetime | None


class Version(NamedTuple):
    """One of an entry's saved states; ``restored`` is the number of the one that it repeats."""

    number: int
    notes: str
    size: int
    saved: datetime
    restored: int | None


class StoredVersion(NamedTuple):
    """An entry in one of its versions, with its content as it was saved.

    ``problem`` says why the content can no longer be read, and is empty where it can.
    """

    entry: Entry
    version: Version
    content: str
    problem: str = ""


class StoredDraft(NamedTuple):
    """The last unsaved state of an owner's workspace.

    Attributes:
        place: the browser tab that wrote it.
        problem: why the content cannot be read; empty if it can.
    """

    place: str
    content: str
    saved: datetime
    problem: str = ""


class Usage(NamedTuple):
    """How many entries an owner has, the deleted ones too, and how many bytes."""

    entries: int
    size: int


class LibraryConflictError(LibraryError):
    """Somebody else saved first: another tab, or the same name was given before.

    Attributes:
        now: what is there instead; nothing of it was changed.
    """

    def __init__(self, message: str, now: StoredVersion) -> None:
        self.now = now
        super().__init__(message)
