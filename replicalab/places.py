"""Where what is kept lies: in the user's data folder, unless the environment says more."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import platformdirs

DATA_VARIABLE: Final = "REPLICALAB_DATA"
"""Names another folder for the file."""
URL_VARIABLE: Final = "REPLICALAB_DATABASE_URL"
"""Names another database altogether: PostgreSQL, or a file of SQLite."""
FILE_NAME: Final = "library.db"


def library_url(environment: Mapping[str, str] = os.environ) -> str:
    """Return the address of the database."""
    if url := environment.get(URL_VARIABLE, "").strip():
        return url
    file = str(data_folder(environment) / FILE_NAME)
    return f"sqlite:///{file.replace('%', '%25').replace('?', '%3F')}"


def data_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of what is kept, whether or not it is there yet."""
    if named := environment.get(DATA_VARIABLE, "").strip():
        folder = Path(named)
        with suppress(RuntimeError):  # nobody has that home: a folder that is called so
            folder = folder.expanduser()
        return folder.absolute()
    return platformdirs.user_data_path("replicalab", appauthor=False)
