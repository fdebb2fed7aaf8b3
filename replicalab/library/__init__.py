"""The library: what people make, kept by name in SQLite or PostgreSQL, with its history.

`Library` itself is loaded when it is first asked for: SQLAlchemy is a third of what a cold start
loads, and the first page does without.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from replicalab.library.batches import KeptBatch
from replicalab.library.contents import (
    KINDS,
    LONGEST_NAME,
    Decision,
    KeptDraft,
    KeptPlan,
    Option,
    batch_text,
    decision_text,
    plan_text,
    read_batch,
    read_decision,
    read_draft,
    read_plan,
)
from replicalab.library.records import (
    DELETED_DAYS,
    DRAFT_DAYS,
    Draft,
    Entry,
    Kept,
    Kind,
    LibraryConflictError,
    Limits,
    Owner,
    Usage,
    Version,
)
from replicalab.places import data_folder, library_url

if TYPE_CHECKING:
    from replicalab.library.store import Library

__all__ = [
    "DELETED_DAYS",
    "DRAFT_DAYS",
    "KINDS",
    "LONGEST_NAME",
    "Decision",
    "Draft",
    "Entry",
    "Kept",
    "KeptBatch",
    "KeptDraft",
    "KeptPlan",
    "Kind",
    "Library",
    "LibraryConflictError",
    "Limits",
    "Option",
    "Owner",
    "Usage",
    "Version",
    "batch_text",
    "data_folder",
    "decision_text",
    "library_url",
    "plan_text",
    "read_batch",
    "read_decision",
    "read_draft",
    "read_plan",
]


def __getattr__(name: str) -> object:
    if name == "Library":
        return import_module("replicalab.library.store").Library
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
