"""Who signed in, in which browsers, and the audit log."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "library_people",
        sa.Column("owner", sa.String(64), primary_key=True),
        sa.Column("issuer", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("email", sa.Text, nullable=False),
        sa.Column("groups", sa.Text, nullable=False),
        sa.Column("seen", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "library_sign_ins",
        sa.Column("token", sa.String(64), primary_key=True),
        sa.Column("state", sa.String(64), nullable=False, unique=True),
        sa.Column(
            "owner",
            sa.String(64),
            sa.ForeignKey("library_people.owner", ondelete="CASCADE"),
            nullable=False,
        ),
        sa.Column("until", sa.BigInteger, nullable=False),
        sa.Column("ended", sa.Boolean, nullable=False),
    )
    op.create_table(
        "library_events",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("event", sa.String(16), nullable=False),
        sa.Column("who", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
    )
    op.create_index("library_events_at", "library_events", ["at"])
