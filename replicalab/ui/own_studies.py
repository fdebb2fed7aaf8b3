"""The studies that a visitor brought, and those that others let one read by a link.

Who owns a study is known by a cookie that no page and no address shows; whoever has a study's
address reads it. They are in memory, and those that a visitor brought in the library too: from
there they come back where the server has forgotten them.
"""

from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import Final

from replicalab import scenarios, server
from replicalab.drafts import renamed
from replicalab.errors import Fault, LibraryError, LibraryFullError, ScenarioError
from replicalab.lexicon import label_key
from replicalab.library import Entry, EntryKind, Owner
from replicalab.limits import LONGEST_ENTRY_NAME, MOST_OWN_STUDIES
from replicalab.ui.library import writer
from replicalab.ui.library.shelf import keep_beside, owner, shelf
from replicalab.ui.study_cache import OwnStudy, StudyCache

_STUDIES: Final = StudyCache()  # Not a cache of Streamlit's, which any session can have cleared


def kept() -> dict[str, OwnStudy]:
    """Return this visitor's studies by id, the latest last; they are in use."""
    return _STUDIES.of(server.visitor())


def shared(key: str | None) -> OwnStudy | None:
    """Return another visitor's study by its key; None where there is none, or it is one's own."""
    study = _STUDIES.read(key) if key else None
    return None if study is None or key_of(study.study.scenario_id) == key else study


def readable(key: str | None) -> tuple[OwnStudy, ...]:
    """Return the studies that are not on the shelf: one by its key, shared to be read; own ones."""
    other = shared(key)
    return (*([other] if other else []), *kept().values())


def is_mine(own: OwnStudy) -> bool:
    """Return whether a study is this visitor's own."""
    return own.key == key_of(own.study.scenario_id)


def origin(own: OwnStudy) -> str:
    """Return whose a study is."""
    return "yours" if is_mine(own) else "shared with you, to read"


def key_of(scenario_id: str) -> str | None:
    """Return the key of this visitor's study of that id, None where there is none."""
    study = kept().get(scenario_id)
    return study.key if study else None


def names(but: str = "") -> list[str]:
    """Return the names of this visitor's studies, leaving one id out, and of those on the shelf."""
    shelved = (summary.paper.name for summary in scenarios.list_scenarios())
    return [*(study.study.paper.name for name, study in kept().items() if name != but), *shelved]


def name_refusal(name: str, others: Iterable[str]) -> str:
    """Return why a study cannot be named as others are, and what to do; empty where it can.

    A name is its author's: where it is taken they are asked for another, and nothing is put after
    it for them.
    """
    if label_key(name) not in map(label_key, others):
        return ""
    return f"Another study is named “{name}” already. Give this one another name."


def refusal(text: str, study: scenarios.Study) -> str:
    """Return why a study cannot be kept now, and what to do; empty where it can.

    One may have the name of a study on the shelf, of which it is a copy: lists say that it is
    one's own.
    """
    others = (
        custom.study.paper.name for name, custom in kept().items() if name != study.scenario_id
    )
    if refused := name_refusal(study.paper.name, others):
        return refused
    return _STUDIES.refusal(server.visitor(), study.scenario_id, text)


def keep(text: str, study: scenarios.Study) -> str:
    """Keep a study in place of one's own of that id; return why not, and change nothing."""
    if refused := _STUDIES.keep(server.visitor(), text, study):
        return refused
    _save_later(study.scenario_id, partial(_save, owner(), text, study))
    return ""


def rename(own: OwnStudy, name: str) -> str:
    """Give one of this visitor's studies another name; return why not, and change nothing."""
    if refused := name_refusal(name, names(but=own.study.scenario_id)):
        return refused
    try:
        text = renamed(own.text, own.study, name)
    except ScenarioError as error:
        return str(error.faults[0])
    return keep(text, usable_study(text, "the study’s file"))


def remove(scenario_id: str) -> None:
    """Forget one of this visitor's studies; the library keeps it as long as what is deleted."""
    forget(scenario_id)
    _save_later(scenario_id, partial(_delete, owner(), scenario_id))


def forget(scenario_id: str) -> None:
    """Forget one of this visitor's studies, which the library keeps no more."""
    _STUDIES.remove(server.visitor(), scenario_id)


def find_or_add(text: str, study: scenarios.Study, source: str = "the study's file") -> str | None:
    """Return the key of a study as it was when it was kept, now to be found; None on the shelf.

    Where one's own of that id has changed since, both are there, this one to be read.

    Raises:
        ScenarioError: another study of that id is on the shelf.
        LibraryFullError: there is no room for it in memory.
    """
    if is_on_the_shelf(study, source):
        return None
    mine = kept().get(study.scenario_id)
    if mine is not None and mine.text == text:
        return mine.key
    whose = server.visitor() if mine is None else f"{server.visitor()} as it was kept"
    if refused := _STUDIES.keep(whose, text, study):
        raise LibraryFullError(refused)
    return _STUDIES.of(whose)[study.scenario_id].key


def text_of(key: str | None) -> str:
    """Return the text of a study by its key; empty where there is none."""
    study = _STUDIES.read(key) if key else None
    return study.text if study else ""


def is_saved(scenario_id: str, text: str) -> bool:
    """Return whether the library has this visitor's study of that id as this text.

    What no cookie leads back to is not found again, and counts as not saved.
    """
    if not server.is_lasting():
        return False
    with suppress(LibraryError):
        entries = _entries(owner(), scenario_id)
        return any(shelf().read(owner(), entry.id).content == text for entry in entries)
    return False


# --- in the library -------------------------------------------------------------------------


def restock() -> None:
    """Bring this visitor's studies back from the library, where the server knows none of them."""
    if kept():
        return
    with suppress(LibraryError):  # the Library page says what is wrong; the file is asked for
        # Entries come with the latest first; of what is in memory the latest stands last.
        for entry in reversed(shelf().entries(owner(), EntryKind.STUDY)[:MOST_OWN_STUDIES]):
            _bring_back(entry)


def take_stock(scenario_id: str) -> None:
    """Have at hand what the library now keeps of this visitor's study of that id, or nothing.

    Raises:
        LibraryError: it cannot be read; nothing has changed.
    """
    if entries := _entries(owner(), scenario_id):
        _bring_back(entries[0])
    else:
        forget(scenario_id)


def _entries(whose: Owner, scenario_id: str) -> list[Entry]:
    return [
        entry for entry in shelf().entries(whose, EntryKind.STUDY) if entry.about == scenario_id
    ]


def _bring_back(entry: Entry) -> None:
    text = shelf().read(owner(), entry.id).content
    with suppress(ScenarioError):  # its entry on the Library page says what is wrong
        _STUDIES.keep(server.visitor(), text, usable_study(text, entry.name))


def _save_later(scenario_id: str, save: writer.Save) -> None:
    writer.later(f"study {owner().digest} {scenario_id}", save)


def _save(whose: Owner, text: str, study: scenarios.Study) -> None:
    if entries := _entries(whose, study.scenario_id):
        entry = entries[0]
        # An entry goes by its study's name until somebody gives it one of its own.
        is_by_study = entry.name == _name_in(shelf().read(whose, entry.id).content)
        name = study.paper.name[:LONGEST_ENTRY_NAME] if is_by_study else ""
        shelf().update(whose, entry.id, text, base_version=entry.version, name=name)
    else:
        keep_beside(whose, EntryKind.STUDY, study.paper.name, text)


def _name_in(text: str) -> str:
    """Return the name of a study that was kept, as its entry has it; empty where there is none."""
    with suppress(ScenarioError):
        return scenarios.parse_study(text, "the study").paper.name[:LONGEST_ENTRY_NAME]
    return ""


def _delete(whose: Owner, scenario_id: str) -> None:
    for entry in _entries(whose, scenario_id):
        shelf().delete(whose, entry.id)


# --- two of one id ---------------------------------------------------------------------------


def is_on_the_shelf(study: scenarios.Study, source: str) -> bool:
    """Return whether a study is one on the shelf.

    Raises:
        ScenarioError: another study of that id is there.
    """
    existing = on_the_shelf(study.scenario_id)
    if existing is None:
        return False
    require_same(study, existing, "on the shelf", source)
    return True


def on_the_shelf(scenario_id: str) -> scenarios.Study | None:
    """Return the study of an id that is on the shelf, None where none is."""
    if all(scenario_id != summary.scenario_id for summary in scenarios.list_scenarios()):
        return None
    return scenarios.load_scenario(scenario_id).study


def require_same(study: scenarios.Study, there: scenarios.Study, where: str, source: str) -> None:
    """Refuse a study by whose id there is another one.

    Raises:
        ScenarioError: they differ; says where the other is, and what to do.
    """
    if study != there:
        problem = f"another study of the id '{study.scenario_id}' is {where}"
        remedy = "give this one another id in its file; it then opens beside that one"
        raise ScenarioError(source, [Fault("scenario_id", problem, remedy)])


# --- finding them ---------------------------------------------------------------------------


def usable_study(text: str, name: str) -> scenarios.Study:
    """Return the study in a visitor's file.

    Raises:
        ScenarioError: with what is wrong, also that its id belongs to a study on the shelf.
    """
    study = scenarios.parse_study(text, name)
    if any(study.scenario_id == summary.scenario_id for summary in scenarios.list_scenarios()):
        taken = f"'{study.scenario_id}' is already the id of a study on the shelf"
        raise ScenarioError(name, [Fault("scenario_id", taken, "choose another id")])
    return study


def find(scenario_id: str, difficulty: str, seed: int, own: str | None) -> scenarios.Pack:
    """Return a study in its lab: a visitor's, by its key, or one on the shelf.

    Raises:
        ScenarioError: it is not there.
    """
    if own is None:
        return scenarios.load_scenario(scenario_id, difficulty, seed)
    if (study := _STUDIES.read(own)) is None:
        restock()
        study = _STUDIES.read(own)
    if study is None or study.study.scenario_id != scenario_id:
        problem = f"'{scenario_id}' is not on this server"
        gone = Fault("scenario_id", problem, "bring its file under Make a study on Scenarios")
        raise ScenarioError("studies of visitors", [gone])
    return scenarios.pack_of(study.study, scenarios.Difficulty(difficulty), seed)
