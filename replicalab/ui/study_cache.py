"""Where the studies that visitors brought are kept: in memory, bounded in bytes.

It knows no page. An owner is known by a secret. A study is read by whoever has its key, which is
made of that secret and the study's id: nobody can guess it, it says nothing of the secret, and it
is the same again when its owner brings the file anew. What is in use never gives way.
"""

import hmac
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Final, NamedTuple

from replicalab.scenarios import Study

MOST_STUDIES: Final = 12
MOST_BYTES: Final = 512 * 1024
"""The most text of one owner; a file has at most half of it, a shipped one some 10 KiB."""
MOST_BYTES_IN_ALL: Final = 24 * 1024 * 1024
"""The most text of all owners. With what is read of it, up to 12 times as much: some 290 MiB."""
IN_USE_SECONDS: Final = 3600.0
"""How long after the last run of a page, its owner's or a reader's, a study counts as in use."""


class OwnStudy(NamedTuple):
    """A study as its author wrote it, its bytes, as it was read, and the key to read it by."""

    key: str
    text: str
    size: int
    study: Study


@dataclass
class _Drawer:
    """One owner's studies by id, the latest last, and when one of them was seen last."""

    studies: dict[str, OwnStudy] = field(default_factory=dict)
    seen: float = 0.0

    def size(self, without: str = "") -> int:
        """Return the bytes of the texts, leaving one study out."""
        return sum(own.size for name, own in self.studies.items() if name != without)


class StudyCache:
    """Every owner's drawer; any thread may ask."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._drawers: OrderedDict[str, _Drawer] = OrderedDict()
        """The one that was seen longest ago first."""
        self._places: dict[str, tuple[str, str]] = {}
        """Whose a key's study is, and its id."""

    def of(self, owner: str) -> dict[str, OwnStudy]:
        """Return an owner's studies by id, the latest last."""
        with self._lock:
            return dict(self._opened(owner).studies)

    def read(self, key: str) -> OwnStudy | None:
        """Return the study of that key, None if there is none."""
        with self._lock:
            owner, scenario_id = self._places.get(key, ("", ""))
            return self._opened(owner).studies.get(scenario_id)

    def refusal(self, owner: str, scenario_id: str, text: str) -> str:
        """Return why an owner's study cannot be kept, and what to do; empty where it can."""
        with self._lock:
            return self._refusal(owner, scenario_id, size_of(text))

    def keep(self, owner: str, text: str, study: Study) -> str:
        """Keep a study in place of the owner's of that id; return why not, and change nothing."""
        size, name = size_of(text), study.scenario_id
        with self._lock:
            if refused := self._refusal(owner, name, size):
                return refused
            drawer = self._drawers[owner] = self._opened(owner)
            # What it takes the place of goes first, or another's would give way for its bytes.
            drawer.studies.pop(name, None)
            self._make_room(size)
            drawer.studies[name] = OwnStudy(key_of(owner, name), text, size, study)
            self._places[key_of(owner, name)] = owner, name
            return ""

    def remove(self, owner: str, scenario_id: str) -> None:
        """Forget a study of that owner's."""
        with self._lock:
            drawer = self._opened(owner)
            drawer.studies.pop(scenario_id, None)
            self._places.pop(key_of(owner, scenario_id), None)
            if not drawer.studies:
                self._drawers.pop(owner, None)

    def _opened(self, owner: str) -> _Drawer:
        """Return an owner's drawer, now seen; an empty one that is not kept where there is none."""
        drawer = self._drawers.get(owner, _Drawer())
        drawer.seen = self._clock()
        if owner in self._drawers:
            self._drawers.move_to_end(owner)
        return drawer

    def _refusal(self, owner: str, scenario_id: str, size: int) -> str:
        drawer = self._opened(owner)
        if len({*drawer.studies, scenario_id}) > MOST_STUDIES:
            return (
                f"You keep {MOST_STUDIES} studies here, the most there is room for. Remove one "
                "under All studies, then use this one."
            )
        wanted = drawer.size(without=scenario_id) + size
        if wanted > MOST_BYTES:
            return (
                f"With this study yours take {wanted:,} bytes, and there is room for "
                f"{MOST_BYTES:,}. Remove one under All studies, then use this one."
            )
        others = sum(
            each.size()
            for each in self._drawers.values()
            if each is not drawer and self._used(each)
        )
        if others + wanted > MOST_BYTES_IN_ALL:
            return (
                "This server has no room for another study: what it keeps is in use. Nothing is "
                "lost. Download the file, and try again in an hour."
            )
        return ""

    def _used(self, drawer: _Drawer) -> bool:
        return self._clock() - drawer.seen <= IN_USE_SECONDS

    def _make_room(self, more: int) -> None:
        """Let the drawers that nobody has seen for the longest go, until that much more fits.

        None of them is in use: `_refusal` has seen to it that those in use leave the room.
        """
        total = sum(drawer.size() for drawer in self._drawers.values()) + more
        for owner, drawer in list(self._drawers.items()):
            if total <= MOST_BYTES_IN_ALL:
                return
            total -= drawer.size()
            del self._drawers[owner]
            for own in drawer.studies.values():
                del self._places[own.key]


def key_of(owner: str, scenario_id: str) -> str:
    """Return the key by which others read that owner's study of that id: 32 hexadecimal digits."""
    return hmac.new(owner.encode(), scenario_id.encode(), "sha256").hexdigest()[:32]


def size_of(text: str) -> int:
    """Return the bytes of a text."""
    return len(text.encode("utf-8", "surrogatepass"))
