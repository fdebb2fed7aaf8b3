"""Studies from files: one text, the shipped folder and one's own, and one study in one lab.

A broken file breaks nothing: `list_scenarios` leaves it out, and `broken_scenarios` says what is
wrong with it. What was read is kept in memory, and read again when the file changes.
"""

import os
from collections.abc import Hashable
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from replicalab.errors import Fault, ScenarioError
from replicalab.measures import DesignKind
from replicalab.models import Count, NonEmptyText, Record
from replicalab.notebook import Framed
from replicalab.places import TREE
from replicalab.scenarios.checking import Guesser, checked_study, shown
from replicalab.scenarios.fields import Identifier
from replicalab.scenarios.folders import StudyFile, StudyFolder, content, files_in
from replicalab.scenarios.lab import Difficulty
from replicalab.scenarios.pack import Pack, pack_of, require_seed
from replicalab.scenarios.reading import read_document, readable_text, with_text_at
from replicalab.scenarios.study import Study

SCENARIO_FOLDER: Final = TREE / "scenarios"
"""The shipped studies: ``<domain_id>/<scenario_id>.yaml``."""

FOLDER_VARIABLE: Final = "REPLICALAB_SCENARIO_DIR"
"""Names a folder of one's own studies, read next to the shipped one."""


class ScenarioSummary(Record):
    """What a gallery card shows of a study."""

    scenario_id: Identifier
    domain_id: Identifier
    name: NonEmptyText
    title: NonEmptyText
    citation: NonEmptyText
    doi: str | None
    goal: NonEmptyText
    published: NonEmptyText
    teaches: NonEmptyText
    contested: NonEmptyText | None
    kind: DesignKind
    unit_of_n: NonEmptyText
    reference_sample_size: Count


def summary_of(study: Study) -> ScenarioSummary:
    """Return what a gallery card shows of a study."""
    paper = dict(study.paper)
    return ScenarioSummary.model_validate(
        {
            **{name: paper[name] for name in ScenarioSummary.model_fields if name in paper},
            "scenario_id": study.scenario_id,
            "domain_id": study.domain_id,
            "name": study.paper.name,
            "kind": study.design.kind,
            "unit_of_n": study.design.unit_of_n,
            "reference_sample_size": study.reference_protocol.sample_size,
        }
    )


def parse_study(text: str | bytes, source: str) -> Study:
    """Return the study that a file holds.

    Args:
        text: the file's content; bytes must be UTF-8.
        source: what to call the file in a message.

    Raises:
        ScenarioError: with what is wrong, each fault with its line, field, value and remedy.
    """
    return checked_study(read_document(text, source))


# --- all studies ----------------------------------------------------------------------------


def list_scenarios() -> list[ScenarioSummary]:
    """Return a summary of every usable study, by domain and then by id."""
    return _shelf()[0]


def broken_scenarios() -> list[ScenarioError]:
    """Return what is wrong with each file that `list_scenarios` leaves out, and with a folder."""
    return _shelf()[1]


def shelf_fingerprint() -> Hashable:
    """Return a value that differs as soon as a study file is added, removed or changed."""
    return _all_files()


def _shelf() -> tuple[list[ScenarioSummary], list[ScenarioError]]:
    names: dict[str, str] = {}
    usable: list[ScenarioSummary] = []
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
            usable.append(summary_of(outcome))
    return sorted(usable, key=lambda study: (study.domain_id, study.scenario_id)), broken


# --- one study ------------------------------------------------------------------------------


class Studies(tuple[ScenarioSummary, ...], Framed):
    """Studies, by domain and id."""

    __slots__ = ()


def load_scenario(
    scenario_id: str, difficulty: Difficulty | str = Difficulty.EASY, seed: int = 0
) -> Pack:
    """Return the study of that id in its lab of that difficulty.

    Raises:
        ScenarioError: the id, the difficulty or the seed is not a known one.
    """
    levels = [level.value for level in Difficulty]
    if difficulty not in levels:
        raise _unknown("difficulty", difficulty, levels)
    _, study = _found(scenario_id)
    return pack_of(study, Difficulty(difficulty), seed)


def generate_scenario(seed: int, domain_id: str, difficulty: Difficulty | str) -> Pack:
    """Return a study of that domain, picked by the seed, in its lab of that difficulty.

    Raises:
        ScenarioError: the seed, the domain or the difficulty is not a known one.
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
        ScenarioError: the id is not a known one.
    """
    file, _ = _found(scenario_id)
    return readable_text(content(file), file.name)


def copy_text(scenario_id: str, new_id: str) -> str:
    """Return the text of a study's file under another id: that value changes and nothing else.

    Raises:
        ScenarioError: the id is not a known one.
    """
    return with_text_at(study_text(scenario_id), new_id, "scenario_id")


def template_text() -> str:
    """Return a small study with a comment on every part, to start one's own from."""
    return (SCENARIO_FOLDER / "template.yaml").read_text(encoding="utf-8")


def _found(scenario_id: str) -> tuple[StudyFile, Study]:
    """Return the first usable file that is named after the study; read no other file."""
    wrong = None
    for folder in scenario_folders():
        for file in files_in(folder, scenario_id):
            outcome = _outcome(file)
            if isinstance(outcome, Study):
                return file, outcome
            wrong = wrong or outcome
    if wrong:  # a new error: a cached one would keep its traceback alive
        raise ScenarioError(wrong.source, wrong.faults, wrong.more)
    known = sorted(summary.scenario_id for summary in list_scenarios())
    raise _unknown("scenario_id", scenario_id, known)


def _unknown(field: str, name: str, known: list[str]) -> ScenarioError:
    fault = Fault(field, f"{shown(name)} is unknown", Guesser().remedy(str(name), known))
    return ScenarioError("scenarios", [fault])


# --- folders and files ----------------------------------------------------------------------


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


@lru_cache(maxsize=1024)
def _outcome(file: StudyFile) -> Study | ScenarioError:
    """Return the study in a file or what is wrong with it: a raised error would not be cached."""
    # To read the shipped twelve takes some 70 ms, 200 of one's own more than a second; a page asks
    # for them on every run.
    try:
        document = read_document(content(file), file.name)
        study = checked_study(document)
    except ScenarioError as error:
        return error
    faults = [
        Fault(
            field,
            f"'{written}' differs from the name of its {part}, '{expected}'",
            "rename one of them",
            *document.place((field,)),
        )
        for field, written, part, expected in (
            ("scenario_id", study.scenario_id, "file", file.path.stem),
            ("domain_id", study.domain_id, "folder", file.domain or study.domain_id),
        )
        if written != expected
    ]
    return ScenarioError(file.name, faults) if faults else study
