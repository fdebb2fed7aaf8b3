"""The library's tables, as the migrations make them: a test compares the two.

Their names begin with ``library_``, so that they can share a database of PostgreSQL with others.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

import sqlalchemy
from sqlalchemy.engine import Dialect

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Moment(sqlalchemy.TypeDecorator[datetime]):
    """A time in UTC, as whole microseconds since 1970: the same number in every database."""

    impl = sqlalchemy.BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Return the number of a time."""
        return None if value is None else (value - _EPOCH) // timedelta(microseconds=1)

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        """Return the time of a number."""
        return None if value is None else _EPOCH + timedelta(microseconds=value)


METADATA: Final = sqlalchemy.MetaData()

ENTRIES: Final = sqlalchemy.Table(
    "library_entries",
    METADATA,
    sqlalchemy.Column("id", sqlalchemy.String(32), primary_key=True),
    sqlalchemy.Column("owner", sqlalchemy.String(64), nullable=False),
    sqlalchemy.Column("kind", sqlalchemy.String(16), nullable=False),
    sqlalchemy.Column("name", sqlalchemy.Text, nullable=False),
    sqlalchemy.Column("name_key", sqlalchemy.Text, nullable=False),
    sqlalchemy.Column("notes", sqlalchemy.Text, nullable=False),
    sqlalchemy.Column("about", sqlalchemy.Text, nullable=False),
    sqlalchemy.Column("words", sqlalchemy.Text, nullable=False),
    sqlalchemy.Column("version", sqlalchemy.Integer, nullable=False),
    sqlalchemy.Column("size", sqlalchemy.BigInteger, nullable=False),
    sqlalchemy.Column("created", Moment, nullable=False),
    sqlalchemy.Column("changed", Moment, nullable=False),
    sqlalchemy.Column("deleted", Moment),
)
"""``words`` is what a search looks through. The contents are not here: a list reads none."""

NAMES: Final = sqlalchemy.Index(
    "library_entries_names",
    ENTRIES.c.owner,
    ENTRIES.c.kind,
    ENTRIES.c.name_key,
    unique=True,
    sqlite_where=ENTRIES.c.deleted.is_(None),
    postgresql_where=ENTRIES.c.deleted.is_(None),
)
sqlalchemy.Index("library_entries_latest", ENTRIES.c.owner, ENTRIES.c.changed)
sqlalchemy.Index("library_entries_deleted", ENTRIES.c.deleted)

VERSIONS: Final = sqlalchemy.Table(
    "library_versions",
    METADATA,
    sqlalchemy.Column(
        "entry", sqlalchemy.ForeignKey("library_entries.id", ondelete="CASCADE"), primary_key=True
    ),
    sqlalchemy.Column("number", sqlalchemy.Integer, primary_key=True, autoincrement=False),
    sqlalchemy.Column("notes", sqlalchemy.Text, nullable=False),
    sqlalchemy.Column("size", sqlalchemy.BigInteger, nullable=False),
    sqlalchemy.Column("saved", Moment, nullable=False),
    sqlalchemy.Column("restored", sqlalchemy.Integer),
    sqlalchemy.Column("content", sqlalchemy.Text, nullable=False),
)

DRAFTS: Final = sqlalchemy.Table(
    "library_drafts",
    METADATA,
    sqlalchemy.Column("owner", sqlalchemy.String(64), primary_key=True),
    sqlalchemy.Column("place", sqlalchemy.String(64), nullable=False),
    sqlalchemy.Column("size", sqlalchemy.BigInteger, nullable=False),
    sqlalchemy.Column("saved", Moment, nullable=False),
    sqlalchemy.Column("content", sqlalchemy.Text, nullable=False),
)
sqlalchemy.Index("library_drafts_saved", DRAFTS.c.saved)
