"""The studies of visitors, in memory and in the library.

A secret cookie names the owner. A study is read by its key, a keyed hash of that secret and the
study's id: it cannot be guessed, and stays the same if the owner uploads the file again. Memory is
bounded in bytes; a study in use is never dropped.
"""

import hmac
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from threading import RLock
from typing import Final, NamedTuple

from replicalab import drafts, lexicon, limits, scenarios, server
from replicalab.errors import Fault, LibraryError, LibraryFullError, ScenarioError
from replicalab.library import Entry, EntryKind, Owner
from replicalab.ui.library_page.shelf import Save, later, owner, shelf

IN_USE_SECONDS: Final = 3600.0  # after the last page run of the owner or a reader
_REMOVE_ONE: Final = "Remove one under All studies, then use this one."


class OwnStudy(NamedTuple):
    """A visitor's study and its file."""

    key: str
    text: str
    size: int  # of the file in bytes
    study: scenarios.Study


@dataclass
class _Drawer:
    studies: dict[str, OwnStudy] = field(default_factory=dict)  # by id, the latest last
    used: float = 0.0

    def size(self, without: str = "") -> int:
        return sum(study.size for name, study in self.studies.items() if name != without)


class StudyCache:
    """The studies of all owners, for any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = RLock()
        self._drawers: OrderedDict[str, _Drawer] = OrderedDict()  # the longest unused first
        self._places: dict[str, tuple[str, str]] = {}  # owner and id by key

    def of(self, owner: str) -> dict[str, OwnStudy]:
        """Return an owner's studies by id, the latest last."""
        with self._lock:
            return dict(self._opened(owner).studies)

    def read(self, key: str | None) -> OwnStudy | None:
        """Return the study of a key, if any."""
        with self._lock:
            owner, scenario_id = self._places.get(key or "", ("", ""))
            return self._opened(owner).studies.get(scenario_id)

    def refusal(self, owner: str, scenario_id: str, text: str) -> str:
        """Return why a study cannot be kept, with a remedy; empty if it can."""
        with self._lock:
            drawer = self._opened(owner)
            if len({*drawer.studies, scenario_id}) > limits.MOST_OWN_STUDIES:
                return f"You keep {limits.MOST_OWN_STUDIES} studies here, the limit. {_REMOVE_ONE}"
            wanted = drawer.size(without=scenario_id) + _bytes(text)
            if wanted > limits.MOST_OWN_STUDY_BYTES:
                size = f"{wanted:,} bytes, of at most {limits.MOST_OWN_STUDY_BYTES:,}"
                return f"With this study yours take {size}. {_REMOVE_ONE}"
            oldest = self._clock() - IN_USE_SECONDS
            others = (d for d in self._drawers.values() if d is not drawer and d.used >= oldest)
            if sum(other.size() for other in others) + wanted > limits.MOST_CACHED_BYTES:
                return (
                    "This server has no room for another study: those it keeps are in use. "
                    "Download the file, and try again in an hour."
                )
            return ""

    def keep(self, owner: str, text: str, study: scenarios.Study) -> str:
        """Keep a study in place of the owner's one of this id, or return why not."""
        name, key = study.scenario_id, cache_key(owner, study.scenario_id)
        with self._lock:
            if refused := self.refusal(owner, name, text):
                return refused
            drawer = self._drawers[owner] = self._opened(owner)
            drawer.studies.pop(name, None)
            drawer.studies[name] = OwnStudy(key, text, _bytes(text), study)
            self._places[key] = owner, name
            total = sum(other.size() for other in self._drawers.values())
            while total > limits.MOST_CACHED_BYTES:  # none dropped is in use, see `refusal`
                _, unused = self._drawers.popitem(last=False)
                total -= unused.size()
                for dropped in unused.studies.values():
                    del self._places[dropped.key]
            return ""

    def remove(self, owner: str, scenario_id: str) -> None:
        with self._lock:
            drawer = self._opened(owner)
            drawer.studies.pop(scenario_id, None)
            self._places.pop(cache_key(owner, scenario_id), None)
            if not drawer.studies:
                self._drawers.pop(owner, None)

    def _opened(self, owner: str) -> _Drawer:
        drawer = self._drawers.get(owner, _Drawer())  # a new one is not stored yet
        drawer.used = self._clock()
        if owner in self._drawers:
            self._drawers.move_to_end(owner)
        return drawer


def cache_key(owner: str, scenario_id: str) -> str:
    """Return the key of an owner's study: 32 hexadecimal digits."""
    return hmac.new(owner.encode(), scenario_id.encode(), "sha256").hexdigest()[:32]


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


STUDIES: Final = StudyCache()  # not a cache of Streamlit, which any session can clear


def studies() -> dict[str, OwnStudy]:
    """Return this visitor's studies by id, the latest last, and mark them as used."""
    return STUDIES.of(server.visitor())


def readable_studies(key: str | None) -> tuple[OwnStudy, ...]:
    """Return this visitor's studies, after the one of another visitor with this key."""
    study = STUDIES.read(key)
    return (*([study] if study and not is_mine(study) else ()), *studies().values())


def is_mine(own: OwnStudy) -> bool:
    return own.key == key_of(own.study.scenario_id)


def origin(own: OwnStudy | None) -> str:
    """Return the owner of a visitor's study, for people; empty for a shipped one."""
    if own is None:
        return ""
    return "yours" if is_mine(own) else "shared with you, to read"


def key_of(scenario_id: str) -> str | None:
    """Return the key of this visitor's study of this id, if any."""
    study = studies().get(scenario_id)
    return study.key if study else None


def names(but: str = "") -> list[str]:
    """Return the names of this visitor's studies, except one id, and of the shipped ones."""
    mine = [study.study.paper.name for name, study in studies().items() if name != but]
    return [*mine, *(summary.paper.name for summary in scenarios.list_scenarios())]


def name_refusal(name: str, others: Iterable[str]) -> str:
    """Return why a study cannot have this name, with a remedy; empty if it can."""
    if lexicon.label_key(name) not in map(lexicon.label_key, others):
        return ""
    return f"Another study is named “{name}” already. Give this one another name."


def refusal(text: str, study: scenarios.Study) -> str:
    """Return why a study cannot be kept, with a remedy; empty if it can.

    It may have the name of the shipped study of which it is a copy.
    """
    others = (own.study.paper.name for name, own in studies().items() if name != study.scenario_id)
    refused = name_refusal(study.paper.name, others)
    return refused or STUDIES.refusal(server.visitor(), study.scenario_id, text)


def keep(text: str, study: scenarios.Study) -> str:
    """Keep a study in place of the visitor's study of this id, or return why not."""
    if refused := STUDIES.keep(server.visitor(), text, study):
        return refused
    _later(study.scenario_id, partial(_save, owner(), text, study))
    return ""


def rename(own: OwnStudy, name: str) -> str:
    """Rename one of this visitor's studies, or return why not."""
    if refused := name_refusal(name, names(but=own.study.scenario_id)):
        return refused
    try:
        text = drafts.rename(own.text, own.study, name)
    except ScenarioError as error:
        return str(error.faults[0])
    return keep(text, usable_study(text, "the study’s file"))


def remove(scenario_id: str) -> None:
    """Remove one of this visitor's studies; in the library it becomes a deleted entry."""
    visitor = owner()

    def delete() -> None:
        for entry in _entries(visitor, scenario_id):
            shelf().delete(visitor, entry.id)

    forget(scenario_id)
    _later(scenario_id, delete)


def forget(scenario_id: str) -> None:
    """Remove one of this visitor's studies from memory."""
    STUDIES.remove(server.visitor(), scenario_id)


def find_or_add(text: str, study: scenarios.Study) -> str | None:
    """Return the key under which a stored study can be read; None if it is a shipped one.

    If the visitor's study of that id has changed since, both can be read. Raises ScenarioError if
    a shipped study has its id, and LibraryFullError if there is no room for it in memory.
    """
    if is_on_the_shelf(study, "the study's file"):
        return None
    mine = studies().get(study.scenario_id)
    if mine is not None and mine.text == text:
        return mine.key
    keeper = server.visitor() if mine is None else f"{server.visitor()} as it was kept"
    if refused := STUDIES.keep(keeper, text, study):
        raise LibraryFullError(refused)
    return cache_key(keeper, study.scenario_id)


def text_of(key: str | None) -> str:
    """Return the file of a study by its key; empty if missing."""
    study = STUDIES.read(key)
    return study.text if study else ""


def is_saved(scenario_id: str, text: str) -> bool:
    """Return whether the library has this text as this visitor's study of this id."""
    if server.is_lasting():  # else this browser cannot find the study again
        with suppress(LibraryError):
            entries = _entries(owner(), scenario_id)
            return any(shelf().read(owner(), entry.id).content == text for entry in entries)
    return False


def load_saved() -> None:
    """Load this visitor's studies from the library, unless one is in memory."""
    if studies():
        return
    with suppress(LibraryError):  # the Library page shows the problem
        for entry in reversed(shelf().entries(owner(), EntryKind.STUDY)[: limits.MOST_OWN_STUDIES]):
            _load(entry)


def reload(scenario_id: str) -> None:
    """Load this visitor's study of this id from the library, or forget it if deleted there.

    Raises LibraryError if it cannot be read; nothing has changed then.
    """
    if entries := _entries(owner(), scenario_id):
        _load(entries[0])
    else:
        forget(scenario_id)


def _entries(visitor: Owner, scenario_id: str) -> list[Entry]:
    entries = shelf().entries(visitor, EntryKind.STUDY)
    return [entry for entry in entries if entry.about == scenario_id]


def _load(entry: Entry) -> None:
    text = shelf().read(owner(), entry.id).content
    with suppress(ScenarioError):  # its entry on the Library page shows the problem
        STUDIES.keep(server.visitor(), text, usable_study(text, entry.name))


def _later(scenario_id: str, save: Save) -> None:
    later(f"study {owner().digest} {scenario_id}", save)


def _save(visitor: Owner, text: str, study: scenarios.Study) -> None:
    entry = next(iter(_entries(visitor, study.scenario_id)), None)
    if entry is None:
        shelf().save_as_new(visitor, (EntryKind.STUDY, study.paper.name, text))
        return
    new_name = ""  # a renamed entry keeps its name
    with suppress(ScenarioError):
        before = scenarios.parse_study(shelf().read(visitor, entry.id).content, "the study")
        if entry.name == before.paper.name[: limits.LONGEST_ENTRY_NAME]:
            new_name = study.paper.name[: limits.LONGEST_ENTRY_NAME]
    shelf().update(visitor, entry.id, text, base_version=entry.version, name=new_name)


def is_on_the_shelf(study: scenarios.Study, source: str) -> bool:
    """Return whether a study is a shipped one; raise ScenarioError if another has its id."""
    shipped = on_the_shelf(study.scenario_id)
    if shipped is not None:
        require_same(study, shipped, "on the shelf", source)
    return shipped is not None


def on_the_shelf(scenario_id: str) -> scenarios.Study | None:
    shipped = {summary.scenario_id for summary in scenarios.list_scenarios()}
    return scenarios.load_scenario(scenario_id).study if scenario_id in shipped else None


def require_same(study: scenarios.Study, other: scenarios.Study, where: str, source: str) -> None:
    """Require that two studies of one id are equal; raise ScenarioError if they differ."""
    if study != other:
        problem = f"another study of the id '{study.scenario_id}' is {where}"
        remedy = "give this one another id in its file; both can then be opened"
        raise ScenarioError(source, [Fault("scenario_id", problem, remedy)])


def usable_study(text: str, name: str) -> scenarios.Study:
    """Return the study in a visitor's file; raise ScenarioError if it cannot be used."""
    study = scenarios.parse_study(text, name)
    if on_the_shelf(study.scenario_id):
        taken = f"'{study.scenario_id}' is already the id of a study on the shelf"
        raise ScenarioError(name, [Fault("scenario_id", taken, "choose another id")])
    return study


def find(scenario_id: str, difficulty: str, seed: int, own: str | None) -> scenarios.Pack:
    """Return a visitor's study, by its key, or a shipped one; raise ScenarioError if missing."""
    if own is None:
        return scenarios.load_scenario(scenario_id, difficulty, seed)
    if (study := STUDIES.read(own)) is None:
        load_saved()
        study = STUDIES.read(own)
    if study is None or study.study.scenario_id != scenario_id:
        problem = f"'{scenario_id}' is not on this server"
        gone = Fault("scenario_id", problem, "upload its file under Make a study on Scenarios")
        raise ScenarioError("studies of visitors", [gone])
    return scenarios.pack_of(study.study, scenarios.Difficulty(difficulty), seed)
