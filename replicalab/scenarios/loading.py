"""Studies from files: one text, the shipped folder and one's own, and one study in one lab.

A broken file breaks nothing: `list_scenarios` leaves it out, and `broken_scenarios` says what is
wrong with it. A file is read again when it changes.
"""

import os
from collections.abc import Hashable
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from replicalab.errors import Fault, ScenarioError
from replicalab.notebook import Framed
from replicalab.places import TREE
from replicalab.scenarios.folders import StudyFile, StudyFolder, content, files_in
from replicalab.scenarios.lab import Difficulty
from replicalab.scenarios.pack import Pack, pack_of, require_seed
from replicalab.scenarios.reading import (
    Document,
    known_names,
    read_document,
    readable_text,
    record_error,
    shown,
    with_text_at,
)
from replicalab.scenarios.study import WRITTEN_STUDY, Study

SCENARIO_FOLDER: Final = TREE / "scenarios"
"""The shipped studies: ``<domain_id>/<scenario_id>.yaml``."""

FOLDER_VARIABLE: Final = "REPLICALAB_SCENARIO_DIR"
"""Names a folder of one's own studies, read next to the shipped one."""

ScenarioSummary = Study
"""What `list_scenarios` returns of each study."""


class Studies(tuple[ScenarioSummary, ...], Framed):
    """Studies, by domain and id."""

    __slots__ = ()


def parse_study(text: str | bytes, source: str) -> Study:
    """Return the study in a file's content; ``source`` is its name in a message.

    Raises:
        ScenarioError: with every fault by line, column, path, value and remedy.
    """
    return _checked(read_document(text, source))


def _checked(document: Document) -> Study:
    try:
        return WRITTEN_STUDY.validate_python(document.data)
    except ValidationError as error:
        refused = record_error(error, Study, document.source, document)
    raise refused  # without the many errors that it was made from


def list_scenarios() -> list[ScenarioSummary]:
    """Return every usable study, by domain and then by id."""
    return _shelf()[0]


def broken_scenarios() -> list[ScenarioError]:
    """Return what is wrong with each file that `list_scenarios` leaves out, and with a folder."""
    return _shelf()[1]


def shelf_fingerprint() -> Hashable:
    """Return a value that differs as soon as a study file is added, removed or changed."""
    return _all_files()


def _shelf() -> tuple[list[Study], list[ScenarioError]]:
    names: dict[str, str] = {}
    usable: list[Study] = []
    broken = [error for folder in scenario_folders() if (error := _folder_fault(folder))]
    for file in _all_files():
        outcome = _outcome(file)
        if isinstance(outcome, ScenarioError):
            broken.append(outcome)
        elif first := names.get(outcome.scenario_id):
            taken = f"'{outcome.scenario_id}' is already the id of {first}"
            fault = Fault("scenario_id", taken, "choose another id")
            broken.append(ScenarioError(file.name, [fault]))
        else:
            names[outcome.scenario_id] = file.name
            usable.append(outcome)
    return sorted(usable, key=lambda study: (study.domain_id, study.scenario_id)), broken


def load_scenario(
    scenario_id: str, difficulty: Difficulty | str = Difficulty.EASY, seed: int = 0
) -> Pack:
    """Return the study of that id in its lab of that difficulty.

    Raises:
        ScenarioError: the id, the difficulty or the seed is unknown.
    """
    levels = [level.value for level in Difficulty]
    if difficulty not in levels:
        raise _unknown("difficulty", difficulty, levels)
    return pack_of(_found(scenario_id)[1], Difficulty(difficulty), seed)


def generate_scenario(seed: int, domain_id: str, difficulty: Difficulty | str) -> Pack:
    """Return a study of that domain, picked by the seed, in its lab of that difficulty.

    Raises:
        ScenarioError: the seed, the domain or the difficulty is unknown.
    """
    seed = require_seed(seed)
    studies = list_scenarios()
    ids = [study.scenario_id for study in studies if study.domain_id == domain_id]
    if not ids:
        raise _unknown("domain_id", domain_id, sorted({study.domain_id for study in studies}))
    digest = sha256(f"{seed}|{domain_id}".encode()).digest()
    return load_scenario(ids[int.from_bytes(digest, "big") % len(ids)], difficulty, seed)


def study_text(scenario_id: str) -> str:
    """Return the text of a study's file, as its author wrote it.

    Raises:
        ScenarioError: the id is unknown.
    """
    file, _ = _found(scenario_id)
    return readable_text(content(file), file.name)


def copy_text(scenario_id: str, new_id: str) -> str:
    """Return the text of a study's file under another id: that value changes and nothing else.

    Raises:
        ScenarioError: the id is unknown.
    """
    return with_text_at(study_text(scenario_id), new_id, "scenario_id")


def template_text() -> str:
    """Return a small study with a comment on every part, to start one's own from."""
    return (SCENARIO_FOLDER / "template.yaml").read_text(encoding="utf-8")


def _found(scenario_id: str) -> tuple[StudyFile, Study]:
    """Return the first usable file that is named after the study; read no other file."""
    wrong = None
    for file in (file for file in _all_files() if file.path.stem == scenario_id):
        outcome = _outcome(file)
        if isinstance(outcome, Study):
            return file, outcome
        wrong = wrong or outcome
    if wrong:  # a new error: a cached one would keep its traceback alive
        raise ScenarioError(wrong.source, wrong.faults, wrong.more)
    raise _unknown("scenario_id", scenario_id, sorted(s.scenario_id for s in list_scenarios()))


def _unknown(field: str, name: str, known: list[str]) -> ScenarioError:
    fault = Fault(field, f"{shown(name)} is unknown", known_names(str(name), known))
    return ScenarioError("scenarios", [fault])


def scenario_folders() -> list[StudyFolder]:
    """Return the folders that studies are read from: the shipped one, then one's own, if named."""
    shipped = StudyFolder(SCENARIO_FOLDER)
    named = os.environ.get(FOLDER_VARIABLE, "")
    if not named or os.path.realpath(named) == os.path.realpath(SCENARIO_FOLDER):
        return [shipped]
    return [shipped, StudyFolder(Path(named).absolute(), flat=True)]


def _folder_fault(folder: StudyFolder) -> ScenarioError | None:
    try:
        os.scandir(folder.path).close()
    except OSError as error:
        problem = f"the folder that it names cannot be read ({error.strerror})"
        fault = Fault("", problem, "name a folder that exists and may be read, or unset it")
        return ScenarioError(FOLDER_VARIABLE, [fault])
    return None


def _all_files() -> tuple[StudyFile, ...]:
    return tuple(file for folder in scenario_folders() for file in files_in(folder))


@lru_cache(maxsize=1024)  # The shipped twelve take some 70 ms, and a page asks on every run
def _outcome(file: StudyFile) -> Study | ScenarioError:
    """Return the study in a file or what is wrong with it: a raised error would not be cached."""
    try:
        document = read_document(content(file), file.name)
        study = _checked(document)
    except ScenarioError as error:
        return error
    faults = []
    for field, study_id, part, name in (
        ("scenario_id", study.scenario_id, "file", file.path.stem),
        ("domain_id", study.domain_id, "folder", file.domain or study.domain_id),
    ):
        if study_id != name:
            problem = f"'{study_id}' differs from the name of its {part}, '{name}'"
            faults.append(Fault(field, problem, "rename one of them", *document.place((field,))))
    return ScenarioError(file.name, faults) if faults else study
