"""Studies from files: one text, the shipped folder and one's own, and one study in one lab.

Nothing here lets a broken file break the app: `list_scenarios` leaves it out and
`broken_scenarios` says what is wrong with it. Parsed files and packs are kept in memory and read
again when the file changes.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from replicalab.errors import Fault, ScenarioError
from replicalab.measures import DesignKind
from replicalab.models import Count, NonEmptyText, Record
from replicalab.scenarios.checking import (
    IDENTIFIER_REMEDY,
    Guesser,
    checked_study,
    is_identifier,
    shown,
)
from replicalab.scenarios.fields import Identifier
from replicalab.scenarios.lab import Difficulty
from replicalab.scenarios.pack import Pack, pack_of, require_seed
from replicalab.scenarios.reading import read_document, with_text_at
from replicalab.scenarios.shelf import (
    StudyFile,
    StudyFolder,
    printable,
    read_study,
    read_text,
    study_files,
    unreadable,
)
from replicalab.scenarios.study import Study

SCENARIO_FOLDER: Final = Path(__file__).resolve().parents[2] / "scenarios"
"""The shipped studies: ``<domain_id>/<scenario_id>.yaml``."""

FOLDER_VARIABLE: Final = "REPLICALAB_SCENARIO_DIR"
"""Names a folder of one's own studies, read beside the shipped one."""

_TEMPLATE: Final = "template.yaml"


class ScenarioSummary(Record):
    """What a gallery card shows of a study; ``contested`` is None when nothing is disputed."""

    scenario_id: Identifier
    domain_id: Identifier
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


class _Shelf(NamedTuple):
    """The usable studies, sorted by domain and id, and the files that cannot be used."""

    summaries: tuple[ScenarioSummary, ...]
    broken: tuple[ScenarioError, ...]


def parse_study(text: str | bytes, source: str) -> Study:
    """Return the study that a file holds.

    Args:
        text: the file's content; bytes must be UTF-8.
        source: what to call the file in a message.

    Raises:
        ScenarioError: with every fault found, each with its line, field, value and remedy.
    """
    return checked_study(read_document(text, source), source)


def scenario_folders() -> list[StudyFolder]:
    """Return the folders that studies are read from: the shipped one, then one's own, if named."""
    shipped = StudyFolder(SCENARIO_FOLDER)
    named = os.environ.get(FOLDER_VARIABLE, "")
    if not named or os.path.realpath(named) == os.path.realpath(SCENARIO_FOLDER):
        return [shipped]
    return [shipped, StudyFolder(Path(named).absolute(), flat=True)]


def list_scenarios(folder: Path | None = None) -> list[ScenarioSummary]:
    """Return a summary of every usable study, by domain and then by id.

    Args:
        folder: a folder to read instead of `scenario_folders`.
    """
    return list(_shelf(_all_files(folder)).summaries)


def broken_scenarios(folder: Path | None = None) -> list[ScenarioError]:
    """Return what is wrong with each file that `list_scenarios` leaves out, and with a folder."""
    folders = [fault for each in _folders(folder) if (fault := _folder_fault(each))]
    return [*folders, *_shelf(_all_files(folder)).broken]


def shelf_fingerprint(folder: Path | None = None) -> Hashable:
    """Return a value that differs as soon as a study file is added, removed or changed."""
    return _all_files(folder)


def load_scenario(
    scenario_id: str,
    difficulty: Difficulty | str = Difficulty.EASY,
    seed: int = 0,
    *,
    folder: Path | None = None,
) -> Pack:
    """Return the study of that id in its lab of that difficulty.

    Raises:
        ScenarioError: the id, the difficulty or the seed is not a known one.
    """
    difficulty, seed = _require_difficulty(difficulty), require_seed(seed)
    return _pack(_file_of(scenario_id, folder), difficulty, seed)


def generate_scenario(
    seed: int,
    domain_id: str,
    difficulty: Difficulty | str,
    *,
    folder: Path | None = None,
) -> Pack:
    """Return a study of that domain, picked by the seed, in its lab of that difficulty.

    Raises:
        ScenarioError: the seed, the domain or the difficulty is not a known one.
    """
    seed = require_seed(seed)
    studies = list_scenarios(folder)
    ids = [study.scenario_id for study in studies if study.domain_id == domain_id]
    if not ids:
        raise _unknown("domain_id", domain_id, sorted({study.domain_id for study in studies}))
    digest = sha256(f"{seed}|{domain_id}".encode()).digest()
    picked = ids[int.from_bytes(digest, "big") % len(ids)]
    return load_scenario(picked, difficulty, seed, folder=folder)


def study_text(scenario_id: str, *, folder: Path | None = None) -> str:
    """Return the text of a study's file, as its author wrote it.

    Raises:
        ScenarioError: the id is not a known one.
    """
    return read_text(_file_of(scenario_id, folder))


def copy_text(scenario_id: str, new_id: str, *, folder: Path | None = None) -> str:
    """Return the text of a study's file under another id: that value changes and nothing else.

    Raises:
        ScenarioError: the id is not a known one, or the new one is no id.
    """
    if not is_identifier(new_id):
        fault = Fault("scenario_id", f"{shown(new_id)} is not an id", IDENTIFIER_REMEDY)
        raise ScenarioError("copy", [fault])
    return with_text_at(study_text(scenario_id, folder=folder), "scenario_id", new_id)


def template_text() -> str:
    """Return a small study with a comment on every part, to start one's own from.

    Raises:
        ScenarioError: the shipped template is missing or cannot be read.
    """
    try:
        return (SCENARIO_FOLDER / _TEMPLATE).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(f"{SCENARIO_FOLDER.name}/{_TEMPLATE}", str(error)) from None


def _require_difficulty(name: str) -> Difficulty:
    known = [difficulty.value for difficulty in Difficulty]
    if name not in known:
        raise _unknown("difficulty", name, known)
    return Difficulty(name)


def _unknown(field: str, name: str, known: list[str]) -> ScenarioError:
    fault = Fault(field, f"{shown(name)} is unknown", Guesser().remedy(str(name), known))
    return ScenarioError("scenarios", [fault])


def summary_of(study: Study) -> ScenarioSummary:
    """Return what a gallery card shows of a study."""
    paper = study.paper
    return ScenarioSummary(
        scenario_id=study.scenario_id,
        domain_id=study.domain_id,
        title=paper.title,
        citation=paper.citation,
        doi=paper.doi,
        goal=paper.goal,
        published=paper.published,
        teaches=paper.teaches,
        contested=paper.contested,
        kind=study.design.kind,
        unit_of_n=study.design.unit_of_n,
        reference_sample_size=study.reference_protocol.sample_size,
    )


def _folders(folder: Path | None) -> list[StudyFolder]:
    return scenario_folders() if folder is None else [StudyFolder(folder)]


def _folder_fault(folder: StudyFolder) -> ScenarioError | None:
    """Return why one's own folder cannot be read, None when it can."""
    if not folder.flat:
        return None
    try:
        next(study_files(folder), None)
    except OSError as error:
        problem = f"the folder '{printable(str(folder.path))}' cannot be read ({error.strerror})"
        fault = Fault("", problem, "name a folder that exists and may be read, or unset it")
        return ScenarioError(FOLDER_VARIABLE, [fault])
    return None


def _all_files(folder: Path | None) -> tuple[StudyFile, ...]:
    return tuple(file for each in _folders(folder) for file in _files(each))


def _files(folder: StudyFolder, stem: str = "") -> Iterator[StudyFile]:
    try:
        yield from study_files(folder, stem)
    except OSError:
        return


@lru_cache(maxsize=8)
def _shelf(files: tuple[StudyFile, ...]) -> _Shelf:
    studies: dict[str, tuple[StudyFile, Study]] = {}
    broken = []
    for file in files:
        try:
            study = read_study(file)
            if study.scenario_id in studies:
                raise _taken(study, file, studies[study.scenario_id][0])
        except ScenarioError as error:
            broken.append(error)
        else:
            studies[study.scenario_id] = file, study
    summaries = [summary_of(study) for _, study in studies.values()]
    summaries.sort(key=lambda summary: (summary.domain_id, summary.scenario_id))
    return _Shelf(tuple(summaries), tuple(broken))


def _taken(study: Study, file: StudyFile, first: StudyFile) -> ScenarioError:
    problem = f"'{study.scenario_id}' is already the id of {first.name}"
    return ScenarioError(file.name, [Fault("scenario_id", problem, "choose another id")])


def _file_of(scenario_id: str, folder: Path | None) -> StudyFile:
    """Return the first usable file that is named after the study; no other file is looked at."""
    faults = []
    if is_identifier(scenario_id):
        for file in (f for each in _folders(folder) for f in _files(each, scenario_id)):
            try:
                read_study(file)
            except ScenarioError as error:
                faults.append(error)
            else:
                return file
    if faults:
        raise faults[0]
    known = sorted(summary.scenario_id for summary in list_scenarios(folder))
    raise _unknown("scenario_id", scenario_id, known)


@lru_cache(maxsize=1024)
def _pack(file: StudyFile, difficulty: Difficulty, seed: int) -> Pack:
    return pack_of(read_study(file), difficulty, seed)
