"""Folders of the app's own files and of the user's data."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import platformdirs

_PACKAGE: Final = Path(__file__).resolve().parent
_INSTALLED: Final = _PACKAGE / "tree"
TREE: Final = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent
"""The folder of app.py, pages/, scenarios/ and .streamlit/: a clone's top, or the wheel's copy.

The wheel's copy is a separate folder, because Streamlit puts the folder of app.py first in the
import path, and `tables` would then mean a module of this package.
"""

DATA_VARIABLE: Final = "REPLICALAB_DATA"  # another folder for the file
URL_VARIABLE: Final = "REPLICALAB_DATABASE_URL"  # another database: PostgreSQL or SQLite
FILE_NAME: Final = "library-2.db"


def library_url(environment: Mapping[str, str] = os.environ) -> str:
    if url := environment.get(URL_VARIABLE, "").strip():
        return url
    file = str(data_folder(environment) / FILE_NAME)
    return f"sqlite:///{file.replace('%', '%25').replace('?', '%3F')}"


def data_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the user's data folder, which may not exist yet."""
    if named := environment.get(DATA_VARIABLE, "").strip():
        folder = Path(named)
        with suppress(RuntimeError):  # no such user: a folder of that name
            folder = folder.expanduser()
        return folder.absolute()
    return platformdirs.user_data_path("replicalab", appauthor=False)
