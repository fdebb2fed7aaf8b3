"""The library: saved entries and their versions, in SQLite or PostgreSQL.

`Library` is imported on first use: SQLAlchemy is a third of the imports of a cold start, and the
first page does not need it.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from replicalab.library.contents import (
    DELETED_DAYS,
    DRAFT_DAYS,
    KINDS,
    Entry,
    EntryKind,
    KeptBatch,
    LibraryConflictError,
    LibraryLimits,
    Owner,
    StoredDraft,
    StoredVersion,
    Usage,
    Version,
    batch_text,
    read_batch,
)
from replicalab.places import data_folder, library_url

if TYPE_CHECKING:
    from replicalab.library.store import Library


def __getattr__(name: str) -> object:
    if name == "Library":
        return import_module("replicalab.library.store").Library
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
