"""The first tables; a later change gets a file of its own."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "2.0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "library_entries",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        *_required(sa.Text, "name", "name_key", "notes", "about", "words"),
        *_required(sa.Integer, "version"),
        *_required(sa.BigInteger, "size", "created", "changed"),
        sa.Column("deleted", sa.BigInteger),
    )
    clause = sa.text("deleted IS NULL")
    op.create_index(
        "library_entries_names",
        "library_entries",
        ["owner", "kind", "name_key"],
        unique=True,
        sqlite_where=clause,
        postgresql_where=clause,
    )
    op.create_index("library_entries_latest", "library_entries", ["owner", "changed"])
    op.create_index("library_entries_deleted", "library_entries", ["deleted"])
    entry = sa.ForeignKey("library_entries.id", ondelete="CASCADE")
    op.create_table(
        "library_versions",
        sa.Column("entry", sa.String(32), entry, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        *_required(sa.Text, "notes"),
        *_required(sa.BigInteger, "size", "saved"),
        sa.Column("restored", sa.Integer),
        *_required(sa.Text, "content"),
    )
    op.create_table(
        "library_drafts",
        sa.Column("owner", sa.String(64), primary_key=True),
        sa.Column("place", sa.String(64), nullable=False),
        *_required(sa.BigInteger, "size", "saved"),
        *_required(sa.Text, "content"),
    )
    op.create_index("library_drafts_saved", "library_drafts", ["saved"])


def _required(kind: type[sa.types.TypeEngine[Any]], *names: str) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind, nullable=False) for name in names]
