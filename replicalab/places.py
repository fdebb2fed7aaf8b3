"""Where files are: the app's own, and what a user keeps.

The latter are in the user's data folder, unless the environment says more.
"""

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

In a folder of its own there: the server puts the folder of app.py in front of all others that
modules are imported from, and `text` or `tables` would then mean a room of this package.
"""

DATA_VARIABLE: Final = "REPLICALAB_DATA"  # Names another folder for the file
URL_VARIABLE: Final = "REPLICALAB_DATABASE_URL"
"""Names another database altogether: PostgreSQL, or a file of SQLite."""
FILE_NAME: Final = "library-2.db"


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
