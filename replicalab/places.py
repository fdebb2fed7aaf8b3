"""Where what is kept lies: in the user's data folder, unless the environment says more."""

from __future__ import annotations

import os
from collections.abc import Mapping
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
    return f"sqlite:///{data_folder(environment) / FILE_NAME}"


def data_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of what is kept, whether or not it is there yet."""
    if named := environment.get(DATA_VARIABLE, "").strip():
        return Path(named).expanduser().absolute()
    return platformdirs.user_data_path("replicalab", appauthor=False)
