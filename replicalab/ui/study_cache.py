"""Visitors' own studies in memory, bounded in bytes.

An owner is known by a secret. A study is read by its key, a keyed hash of that secret and the
study's id: nobody can guess it, and it stays the same when the owner brings the file again. A
study in use is never dropped.
"""

import hmac
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Final, NamedTuple

from replicalab.limits import MOST_CACHED_BYTES, MOST_OWN_STUDIES, MOST_OWN_STUDY_BYTES
from replicalab.scenarios import Study

IN_USE_SECONDS: Final = 3600.0  # after the last page run of the owner or a reader


class OwnStudy(NamedTuple):
    """A visitor's study: its key, its file, the bytes of that, and the parsed study."""

    key: str
    text: str
    size: int
    study: Study


@dataclass
class _Drawer:
    """An owner's studies by id, the latest last, and when one of them was used last."""

    studies: dict[str, OwnStudy] = field(default_factory=dict)
    used: float = 0.0

    def size(self, without: str = "") -> int:
        return sum(study.size for name, study in self.studies.items() if name != without)


class StudyCache:
    """The studies of all owners, for any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._drawers: OrderedDict[str, _Drawer] = OrderedDict()  # the longest unused first
        self._places: dict[str, tuple[str, str]] = {}  # owner and id by key

    def of(self, owner: str) -> dict[str, OwnStudy]:
        """Return an owner's studies by id, the latest last."""
        with self._lock:
            return dict(self._opened(owner).studies)

    def read(self, key: str) -> OwnStudy | None:
        """Return the study of a key; None if missing."""
        with self._lock:
            owner, scenario_id = self._places.get(key, ("", ""))
            return self._opened(owner).studies.get(scenario_id)

    def refusal(self, owner: str, scenario_id: str, text: str) -> str:
        """Return why a study cannot be kept, with a remedy; empty if it can."""
        with self._lock:
            return self._refusal(owner, scenario_id, size_of(text))

    def keep(self, owner: str, text: str, study: Study) -> str:
        """Keep a study in place of the owner's of that id, or return why not."""
        size, name = size_of(text), study.scenario_id
        with self._lock:
            if refused := self._refusal(owner, name, size):
                return refused
            drawer = self._drawers[owner] = self._opened(owner)
            drawer.studies.pop(name, None)  # before others are dropped for its bytes
            self._make_room(size)
            drawer.studies[name] = OwnStudy(key_of(owner, name), text, size, study)
            self._places[key_of(owner, name)] = owner, name
            return ""

    def remove(self, owner: str, scenario_id: str) -> None:
        """Remove a study of an owner."""
        with self._lock:
            drawer = self._opened(owner)
            drawer.studies.pop(scenario_id, None)
            self._places.pop(key_of(owner, scenario_id), None)
            if not drawer.studies:
                self._drawers.pop(owner, None)

    def _opened(self, owner: str) -> _Drawer:
        """Return an owner's drawer, now used; a new one is not stored yet."""
        drawer = self._drawers.get(owner, _Drawer())
        drawer.used = self._clock()
        if owner in self._drawers:
            self._drawers.move_to_end(owner)
        return drawer

    def _refusal(self, owner: str, scenario_id: str, size: int) -> str:
        drawer = self._opened(owner)
        if len({*drawer.studies, scenario_id}) > MOST_OWN_STUDIES:
            return (
                f"You keep {MOST_OWN_STUDIES} studies here, the most there is room for. Remove one "
                "under All studies, then use this one."
            )
        wanted = drawer.size(without=scenario_id) + size
        if wanted > MOST_OWN_STUDY_BYTES:
            return (
                f"With this study yours take {wanted:,} bytes, and there is room for "
                f"{MOST_OWN_STUDY_BYTES:,}. Remove one under All studies, then use this one."
            )
        oldest = self._clock() - IN_USE_SECONDS
        others = (d for d in self._drawers.values() if d is not drawer and d.used >= oldest)
        if sum(other.size() for other in others) + wanted > MOST_CACHED_BYTES:
            return (
                "This server has no room for another study: what it keeps is in use. Nothing is "
                "lost. Download the file, and try again in an hour."
            )
        return ""

    def _make_room(self, more: int) -> None:
        """Drop the longest unused drawers; `_refusal` ensures that none of them is in use."""
        total = sum(drawer.size() for drawer in self._drawers.values()) + more
        for owner, drawer in list(self._drawers.items()):
            if total <= MOST_CACHED_BYTES:
                return
            total -= drawer.size()
            del self._drawers[owner]
            for study in drawer.studies.values():
                del self._places[study.key]


def key_of(owner: str, scenario_id: str) -> str:
    """Return the key of an owner's study: 32 hexadecimal digits."""
    return hmac.new(owner.encode(), scenario_id.encode(), "sha256").hexdigest()[:32]


def size_of(text: str) -> int:
    """Return the bytes of a text."""
    return len(text.encode("utf-8", "surrogatepass"))
