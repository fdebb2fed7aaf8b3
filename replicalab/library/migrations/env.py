"""What alembic runs to bring a database forward: in the transaction of whoever asked."""

from alembic import context

from replicalab.library.database import VERSION_TABLE

context.configure(connection=context.config.attributes["connection"], version_table=VERSION_TABLE)
context.run_migrations()
