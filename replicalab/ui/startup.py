"""What the server asks of the pages: to load, to ask the library, to save at the end.

The server answers while the pages are imported. The database and the charts follow after the
first page, which needs neither; SciPy follows its heading.
"""

import gc
import sys
from functools import cache
from importlib import import_module
from typing import Final

_REST_SECONDS: Final = 2.0  # So long what is left is put off, for the first page to be drawn


def load() -> None:
    """Load the pages. The library, the charts and SciPy follow when they are needed."""
    gc.disable()  # nearly all that is made here stays
    try:
        for module in ("replicalab.ui.frame", "replicalab.ui.scenarios"):
            import_module(module)
    finally:
        gc.enable()
    writer = import_module("replicalab.ui.library.writer")
    writer.later("opening the library", _open_library, _REST_SECONDS)


def _open_library() -> None:
    """Open the library, so that the first who keeps something does not wait."""
    _keep_out_of_collections()
    import_module("replicalab.ui.library.shelf").shelf()


@cache
def _keep_out_of_collections() -> None:
    """Load what is left, and look through what is loaded once more and never again."""
    for module in ("replicalab.library.store", "replicalab.render.figures.region"):
        import_module(module)
    gc.collect()
    gc.freeze()


def require_library() -> None:
    """Ask the library something.

    Raises:
        LibraryError: it does not answer.
    """
    shelf = import_module("replicalab.ui.library.shelf")
    shelf.shelf().usage(shelf.Owner.of(""))


def finish() -> None:
    """Save what is still to be saved, if a page has ever had something to save."""
    if (writer := sys.modules.get("replicalab.ui.library.writer")) is not None:
        writer.finish()
