"""Which version a library is of, and bringing an older one forward.

Alembic is loaded only where there is something to do: it takes longer to load than a library takes
to open.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from sqlalchemy import Connection, inspect, text

VERSION_TABLE: Final = "library_version"
REVISIONS: Final = ["0001"]
"""Every version there has been, the newest last; the migrations' files are these."""
FOLDERS: Final = [Path(__file__).with_name("migrations") / "versions"]


def revision_of(connection: Connection) -> str | None:
    """Return the version of a library, None where there is none yet."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    rows = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}"))  # noqa: S608 # ours
    return rows.scalar_one_or_none()


def upgrading() -> Callable[[Connection], None]:
    """Return what brings a library to the newest version, in the transaction that it is given.

    It is made before a transaction is begun, so that nobody waits while Alembic is loaded.
    """
    from alembic import command  # noqa: PLC0415 # see above
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", _escaped(str(FOLDERS[0].parent)))
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", _escaped("\n".join(map(str, FOLDERS))))

    def upgrade(connection: Connection) -> None:
        config.attributes["connection"] = connection
        command.upgrade(config, REVISIONS[-1])

    return upgrade


def _escaped(value: str) -> str:
    return value.replace("%", "%%")
