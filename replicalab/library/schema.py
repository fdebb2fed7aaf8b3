"""The library's tables, as the migrations make them: a test compares the two.

Their names begin with ``library_``, so that they can share a database of PostgreSQL with others.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
)
from sqlalchemy.engine import Dialect

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Moment(TypeDecorator[datetime]):
    """A time in UTC, as whole microseconds since 1970: the same number in every database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Return the number of a time."""
        return None if value is None else (value - _EPOCH) // timedelta(microseconds=1)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        """Return the time of a number."""
        return None if value is None else _EPOCH + timedelta(microseconds=value)


METADATA: Final = MetaData()

OWNERS: Final = Table(
    "library_owners",
    METADATA,
    Column("owner", String(64), primary_key=True),
    Column("entries", Integer, nullable=False),
    Column("size", BigInteger, nullable=False),
)
"""What each owner has in all: the bounds are held without counting. A write locks its row."""

ENTRIES: Final = Table(
    "library_entries",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("owner", ForeignKey("library_owners.owner"), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("name", Text, nullable=False),
    Column("name_key", Text, nullable=False),
    Column("notes", Text, nullable=False),
    Column("about", Text, nullable=False),
    Column("words", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("created", Moment, nullable=False),
    Column("changed", Moment, nullable=False),
    Column("deleted", Moment),
)
"""``words`` is what a search looks through. The contents are not here: a list reads none."""

NAMES: Final = Index(
    "library_entries_names",
    ENTRIES.c.owner,
    ENTRIES.c.kind,
    ENTRIES.c.name_key,
    unique=True,
    sqlite_where=ENTRIES.c.deleted.is_(None),
    postgresql_where=ENTRIES.c.deleted.is_(None),
)
Index("library_entries_latest", ENTRIES.c.owner, ENTRIES.c.changed)
Index("library_entries_deleted", ENTRIES.c.deleted)

VERSIONS: Final = Table(
    "library_versions",
    METADATA,
    Column("entry", ForeignKey("library_entries.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("notes", Text, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("saved", Moment, nullable=False),
    Column("restored", Integer),
    Column("content", Text, nullable=False),
)

DRAFTS: Final = Table(
    "library_drafts",
    METADATA,
    Column("owner", ForeignKey("library_owners.owner"), primary_key=True),
    Column("place", String(64), primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("saved", Moment, nullable=False),
    Column("content", Text, nullable=False),
)
Index("library_drafts_saved", DRAFTS.c.saved)
