"""What the server asks of the pages: to load, to know a visitor again, to save at the end.

Nothing here imports the pages before it is asked to: the server answers meanwhile. The database's
part and the charts come last, when the first page stands, which shows neither.
"""

import gc
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any, Final

from replicalab.errors import ScenarioError
from replicalab.people import Person
from replicalab.server.internals import load_for_first_run

_REST_SECONDS: Final = 2.0  # So long what is left is put off, for the first page to be drawn


def load() -> None:
    """Load what the pages use, and see to it that the rest follows."""
    gc.disable()  # nearly all that is made here stays
    try:
        frame = import_module("replicalab.ui.frame")
        import_module("replicalab.ui.scenarios")
        load_for_first_run()
        with suppress(ScenarioError):  # the page says what is wrong with the studies
            frame.warm_up()
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
    for module in ("replicalab.library.store", "replicalab.render.pictures"):
        import_module(module)
    gc.collect()
    gc.freeze()


def is_known(secret: str) -> bool:
    """Return whether the library has work of the visitor with that secret."""
    shelf = import_module("replicalab.ui.library.shelf")
    known: bool = shelf.shelf().knows(shelf.Owner.of(secret))
    return known


def hand_over(secret: str, fresh: str) -> None:
    """Let what a visitor kept be found with another secret, and no longer with the first."""
    shelf = import_module("replicalab.ui.library.shelf")
    shelf.shelf().hand_over(shelf.Owner.of(secret), shelf.Owner.of(fresh))


def sign_in(person: Person, token: str, state: str, hours: float) -> bool:
    """Let a browser's token stand for a person; False where the state was used before."""
    done: bool = _people().sign_in(person, token, state, hours)
    return done


def signed_in(token: str) -> Person | None:
    """Return whom a browser's token stands for."""
    person: Person | None = _people().signed_in(token)
    return person


def sign_out(token: str) -> None:
    """Let a browser's token stand for nobody."""
    _people().sign_out(token)


def see(person: Person) -> None:
    """Note a person whom the proxy names."""
    _people().see(person)


def note_refusal(note: str) -> None:
    """Note in the audit log that somebody was refused."""
    kind = import_module("replicalab.library").EventKind.REFUSAL
    _people().note(kind, "", note)


def _people() -> Any:
    return import_module("replicalab.ui.library.shelf").shelf().people


def require_library() -> None:
    """Ask the library something.

    Raises:
        LibraryError: it does not answer.
    """
    is_known("")


def finish() -> None:
    """Save what is still to be saved, if a page has ever had something to save."""
    if (writer := sys.modules.get("replicalab.ui.library.writer")) is not None:
        writer.finish()
