"""The first tables: entries, their versions, drafts.

Do not edit it after the release: a later shape is a later file.
"""

import sqlalchemy as sa
from alembic import op

revision = "2.0001"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "library_entries",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("owner", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("name_key", sa.Text, nullable=False),
        sa.Column("notes", sa.Text, nullable=False),
        sa.Column("about", sa.Text, nullable=False),
        sa.Column("words", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("changed", sa.BigInteger, nullable=False),
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
    op.create_table(
        "library_versions",
        sa.Column(
            "entry",
            sa.String(32),
            sa.ForeignKey("library_entries.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("notes", sa.Text, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("saved", sa.BigInteger, nullable=False),
        sa.Column("restored", sa.Integer),
        sa.Column("content", sa.Text, nullable=False),
    )
    op.create_table(
        "library_drafts",
        sa.Column("owner", sa.String(64), primary_key=True),
        sa.Column("place", sa.String(64), nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("saved", sa.BigInteger, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
    )
    op.create_index("library_drafts_saved", "library_drafts", ["saved"])
