"""The library: saved entries and their versions, in SQLite or PostgreSQL.

`Library` is imported on first use: SQLAlchemy is a third of the imports of a cold start, and the
first page does not need it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from replicalab.library.contents import (
    KINDS,
    LONGEST_NAME,
    KeptBatch,
    batch_text,
    read_batch,
)
from replicalab.library.records import (
    DELETED_DAYS,
    DRAFT_DAYS,
    Entry,
    EntryKind,
    LibraryConflictError,
    LibraryLimits,
    Owner,
    StoredDraft,
    StoredVersion,
    Usage,
    Version,
)
from replicalab.places import data_folder, library_url

if TYPE_CHECKING:
    from replicalab.library.store import Library


def __getattr__(name: str) -> object:
    if name == "Library":
        return import_module("replicalab.library.store").Library
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
