"""The library: saved entries and their versions, in SQLite or PostgreSQL."""

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
    batch_text,
    read_batch,
)
from replicalab.places import data_folder, library_url

if TYPE_CHECKING:
    from replicalab.library.store import Library


def __getattr__(name: str) -> object:
    if name == "Library":  # SQLAlchemy is slow to import, and the first page does not need it
        return import_module("replicalab.library.store").Library
    raise AttributeError(name)
