"""Studies from files: one text, the shipped folder, and one study in one lab.

Nothing here lets a broken file break the app: `list_scenarios` leaves it out and
`broken_scenarios` says what is wrong with it. Parsed files and packs are kept in memory and read
again when the file changes.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import ValidationError

from replicalab.errors import Fault, ScenarioError
from replicalab.models import Count, NonEmptyText, Record
from replicalab.scenarios.checking import cross_faults, field_faults, known_or_nearest
from replicalab.scenarios.labs import pack_of, require_seed
from replicalab.scenarios.models import (
    DesignKind,
    Difficulty,
    Identifier,
    NormalizedScenarioPack,
    Study,
)
from replicalab.scenarios.reading import MAX_BYTES, Document, read_document

SCENARIO_FOLDER: Final = Path(__file__).resolve().parents[2] / "scenarios"
"""The shipped studies: ``<domain_id>/<scenario_id>.yaml``."""


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


class _Stamp(NamedTuple):
    """A file at one moment: when any part differs, the file is read again."""

    path: Path
    modified_ns: int
    size: int


class _Shelf(NamedTuple):
    """A folder's studies by id, sorted by domain and id, and the files that cannot be used."""

    files: dict[str, _Stamp]
    studies: dict[str, Study]
    broken: list[ScenarioError]


def parse_study(text: str | bytes, source: str) -> Study:
    """Return the study that a file holds.

    Args:
        text: the file's content; bytes must be UTF-8.
        source: what to call the file in a message.

    Raises:
        ScenarioError: with every fault found, each with its line, field, value and remedy.
    """
    return _checked(read_document(text, source), source)


def _checked(document: Document, source: str) -> Study:
    try:
        study = Study.model_validate(document.data)
    except ValidationError as error:
        raise ScenarioError(source, field_faults(error, document)) from None
    if faults := cross_faults(study, document):
        raise ScenarioError(source, faults)
    return study


def list_scenarios(folder: Path | None = None) -> list[ScenarioSummary]:
    """Return a summary of every usable study in the folder, by domain and then by id."""
    return [_summary(study) for study in _shelf(folder).studies.values()]


def broken_scenarios(folder: Path | None = None) -> list[ScenarioError]:
    """Return what is wrong with each file in the folder that `list_scenarios` leaves out."""
    return _shelf(folder).broken


def load_scenario(
    scenario_id: str,
    difficulty: Difficulty | str = Difficulty.EASY,
    seed: int = 0,
    *,
    folder: Path | None = None,
) -> NormalizedScenarioPack:
    """Return the study of that id in its lab of that difficulty.

    Raises:
        ScenarioError: the id, the difficulty or the seed is not a known one.
    """
    difficulty, seed = _require_difficulty(difficulty), require_seed(seed)
    shelf = _shelf(folder)
    if scenario_id in shelf.files:
        return _pack(shelf.files[scenario_id], difficulty, seed)
    for broken in shelf.broken:
        if Path(broken.source).stem == scenario_id:
            raise broken
    raise _unknown("scenario_id", scenario_id, list(shelf.files))


def generate_scenario(
    seed: int,
    domain_id: str,
    difficulty: Difficulty | str,
    *,
    folder: Path | None = None,
) -> NormalizedScenarioPack:
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


def _require_difficulty(name: str) -> Difficulty:
    known = [difficulty.value for difficulty in Difficulty]
    if name not in known:
        raise _unknown("difficulty", name, known)
    return Difficulty(name)


def _unknown(field: str, name: str, known: list[str]) -> ScenarioError:
    fault = Fault(field, f"{name!r} is unknown", known_or_nearest(str(name), known))
    return ScenarioError("scenarios", [fault])


def _summary(study: Study) -> ScenarioSummary:
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


def _shelf(folder: Path | None) -> _Shelf:
    shelf = _Shelf({}, {}, [])
    for path in sorted((folder or SCENARIO_FOLDER).glob("*/*.yaml")):
        try:
            stamp = _stamp(path)
            study = _study(stamp)
            if study.scenario_id in shelf.files:
                raise _taken(study, path, shelf.files[study.scenario_id].path)
        except ScenarioError as error:
            shelf.broken.append(error)
        else:
            shelf.files[study.scenario_id] = stamp
            shelf.studies[study.scenario_id] = study
    return shelf


def _taken(study: Study, path: Path, first: Path) -> ScenarioError:
    problem = f"'{study.scenario_id}' is already the id of {_name(first)}"
    return ScenarioError(_name(path), [Fault("scenario_id", problem, "choose another id")])


def _name(path: Path) -> str:
    return "/".join(path.parts[-3:])


def _stamp(path: Path) -> _Stamp:
    try:
        status = path.stat()
    except OSError as error:
        raise _unreadable(path, error) from None
    return _Stamp(path, status.st_mtime_ns, status.st_size)


def _unreadable(path: Path, error: OSError) -> ScenarioError:
    problem = f"the file cannot be read ({error.strerror})"
    return ScenarioError(_name(path), [Fault("", problem, "check that it is a readable file")])


def _study(stamp: _Stamp) -> Study:
    outcome = _outcome(stamp)
    if isinstance(outcome, ScenarioError):
        raise ScenarioError(outcome.source, list(outcome.faults))
    return outcome


@lru_cache(maxsize=256)
def _outcome(stamp: _Stamp) -> Study | ScenarioError:
    """Return the study in a file or what is wrong with it: a raised error would not be cached."""
    try:
        return _in_its_place(stamp.path)
    except OSError as error:
        return _unreadable(stamp.path, error)
    except ScenarioError as error:
        return error


def _in_its_place(path: Path) -> Study:
    with path.open("rb") as file:
        document = read_document(file.read(MAX_BYTES + 1), _name(path))
    study = _checked(document, _name(path))
    if faults := _misplaced(study, document, path):
        raise ScenarioError(_name(path), faults)
    return study


def _misplaced(study: Study, document: Document, path: Path) -> list[Fault]:
    places = (
        ("scenario_id", study.scenario_id, path.stem, "file's name"),
        ("domain_id", study.domain_id, path.parent.name, "folder's name"),
    )
    return [
        Fault(
            field,
            f"'{written}' is not the {part}",
            f"write '{found}', or move the file",
            document.line((field,)),
        )
        for field, written, found, part in places
        if written != found
    ]


@lru_cache(maxsize=256)
def _pack(stamp: _Stamp, difficulty: Difficulty, seed: int) -> NormalizedScenarioPack:
    return pack_of(_study(stamp), difficulty, seed)
