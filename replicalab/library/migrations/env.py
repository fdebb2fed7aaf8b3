"""Alembic's script: migrates in the caller's transaction."""

from alembic import context

from replicalab.library.database import VERSION_TABLE

context.configure(connection=context.config.attributes["connection"], version_table=VERSION_TABLE)
context.run_migrations()
