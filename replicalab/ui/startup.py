"""The server's hooks: load the pages, check the library, save at the end.

The server answers while the pages are imported. The database and the charts follow after the
first page, which needs neither; SciPy follows its heading.
"""

import gc
import sys
from importlib import import_module
from typing import Final

from replicalab import server

_PAUSE_SECONDS: Final = 2.0  # for the first page to be drawn
_SHELF: Final = "replicalab.ui.library_page.shelf"


def load() -> None:
    gc.disable()  # nearly all objects made here stay
    try:
        for module in ("replicalab.ui.frame", "replicalab.ui.scenarios_page"):
            import_module(module)
    finally:
        gc.enable()
    import_module(_SHELF).later("opening the library", open_library, _PAUSE_SECONDS)


def open_library() -> None:
    """Load the rest and open the library, so that the first save need not wait."""
    if not gc.get_freeze_count():  # it is opened again after a failure
        for module in ("replicalab.library.store", "replicalab.render.figures.region_map"):
            import_module(module)
        gc.collect()
        gc.freeze()
    import_module(_SHELF).shelf()


def require_library() -> None:
    """Raise a LibraryError if the library does not answer; a demo has none."""
    if not server.is_demo():
        owner = import_module("replicalab.library").Owner.of("")
        import_module(_SHELF).shelf().usage(owner)


def finish() -> None:
    if (shelf := sys.modules.get(_SHELF)) is not None:
        shelf.finish()
