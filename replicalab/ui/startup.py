"""The server's hooks: load the pages, check the library, save at the end.

The server answers while the pages are imported. The database and the charts follow after the
first page, which needs neither; SciPy follows its heading.
"""

import gc
import sys
from functools import cache
from importlib import import_module
from typing import Final

_PAUSE_SECONDS: Final = 2.0  # for the first page to be drawn


def load() -> None:
    """Load the pages."""
    gc.disable()  # nearly all objects made here stay
    try:
        for module in ("replicalab.ui.frame", "replicalab.ui.scenarios"):
            import_module(module)
    finally:
        gc.enable()
    writer = import_module("replicalab.ui.library.writer")
    writer.later("opening the library", _open_library, _PAUSE_SECONDS)


def _open_library() -> None:
    """Open the library, so that the first save need not wait."""
    _keep_out_of_collections()
    import_module("replicalab.ui.library.shelf").shelf()


@cache
def _keep_out_of_collections() -> None:
    """Load the rest, and exclude everything loaded from garbage collection."""
    for module in ("replicalab.library.store", "replicalab.render.figures.region"):
        import_module(module)
    gc.collect()
    gc.freeze()


def require_library() -> None:
    """Raise a LibraryError if the library does not answer."""
    owner = import_module("replicalab.library").Owner.of("")
    import_module("replicalab.ui.library.shelf").shelf().usage(owner)


def finish() -> None:
    """Finish the pending saves."""
    if (writer := sys.modules.get("replicalab.ui.library.writer")) is not None:
        writer.finish()
