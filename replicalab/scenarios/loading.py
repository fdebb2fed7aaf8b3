"""Studies from files: one text, the shipped folder and one's own, and one study in one lab.

Nothing in a folder is trusted: only regular files below it are read, each up to a limit of bytes.
"""

import os
import stat
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from replicalab.errors import Fault, Refusal, ScenarioError
from replicalab.lexicon import label_key, shortened
from replicalab.limits import MOST_STUDY_BYTES
from replicalab.models import NotebookTable
from replicalab.places import TREE
from replicalab.scenarios import reading
from replicalab.scenarios.lab import LAB_CONSTRAINTS, Difficulty
from replicalab.scenarios.pack import Pack, pack_of, require_seed
from replicalab.scenarios.study import Design, Study

SCENARIO_FOLDER: Final = TREE / "scenarios"
"""The shipped studies: ``<domain_id>/<scenario_id>.yaml``."""

FOLDER_VARIABLE: Final = "REPLICALAB_SCENARIO_DIR"
"""The environment variable with a folder of one's own studies."""

_AT_ONCE: Final = getattr(os, "O_NONBLOCK", 0)  # a pipe would wait for a writer
_SUFFIXES: Final = (".yaml", ".yml", ".YAML", ".YML")

ScenarioSummary = Study
"""An entry of `list_scenarios`."""


class Studies(tuple[ScenarioSummary, ...], NotebookTable):
    """Studies, by domain and id."""

    __slots__ = ()


def parse_study(text: str | bytes, source: str) -> Study:
    """Return the study in a file's content; raises ScenarioError with every fault."""
    return _checked(reading.read_document(text, source))


def _checked(document: reading.ParsedFile) -> Study:
    try:
        study = Study.model_validate(document.data)
        if errors := _label_errors(study):
            raise ValidationError.from_exception_data("Study", errors)
        return study
    except ValidationError as error:
        refused = reading.record_error(error, Study, document.source, document)
    raise refused  # without the many errors that it was made from


_REPEATED: Final = "list it once, or choose another name"
_Labels = dict[str, tuple[Iterable[str], Sequence[str]]]  # by place: labels, and others


def _label_errors(study: Study) -> list[InitErrorDetails]:
    # Each label is listed once; of such a study, each label it refers to is listed.
    items, plan = [*study.equipment, *study.reagents], study.reference_protocol
    alternatives = [swap.alternative for swap in study.substitutions]
    controls = [control.name for control in study.controls]
    lists: _Labels = {
        "equipment.*": (study.equipment, ()),
        "reagents.*": (study.reagents, study.equipment),
        "controls.*.name": (controls, ()),
        "constraints.*.key": ([rule.key for rule in study.constraints], tuple(LAB_CONSTRAINTS)),
        "policy_rules.*.key": ([rule.key for rule in study.policy_rules], ()),
    }
    references: _Labels = {
        "reference_protocol.required_equipment.*": (plan.required_equipment, study.equipment),
        "reference_protocol.required_reagents.*": (plan.required_reagents, study.reagents),
        "reference_protocol.controls.*": (plan.controls, controls),
        "substitutions.*.original": ([swap.original for swap in study.substitutions], items),
        "design.why.*": (study.design.why, [*Design.model_fields]),
    }
    for level in Difficulty:
        lab, place = study.labs.at(level), f"labs.{level}"
        here = [*items, *lab.equipment, *lab.reagents]
        lists[f"{place}.equipment.*"] = lab.equipment, items
        lists[f"{place}.reagents.*"] = lab.reagents, [*items, *lab.equipment]
        lists[f"{place}.booked.*"] = lab.booked, ()
        lists[f"{place}.out_of_stock.*"] = lab.out_of_stock, [*lab.booked]
        lists[f"{place}.prices.*"] = lab.prices, ()
        references[f"{place}.booked.*"] = lab.booked, here
        references[f"{place}.out_of_stock.*"] = lab.out_of_stock, here
        references[f"{place}.prices.*"] = lab.prices, here + alternatives
    repeated, unknown = list[InitErrorDetails](), list[InitErrorDetails]()
    for place, (labels, before) in lists.items():
        keys = {*map(label_key, before)}
        for path, label in _entries(place, labels):
            if label_key(label) in keys:
                problem = f"'{shortened(label)}' is listed already"
                fault = Refusal(problem, _REPEATED)
                repeated.append(InitErrorDetails(type=fault.error, loc=path, input=label))
            keys.add(label_key(label))
    for place, (labels, names) in references.items():
        keys = {*map(label_key, names)}
        for path, label in _entries(place, labels):
            if label_key(label) not in keys:
                message = "'{label}' is not in this study"
                words = {"label": shortened(label), "known": names}
                error = PydanticCustomError("unknown_label", message, words)
                unknown.append(InitErrorDetails(type=error, loc=path, input=label))
    return repeated or unknown


def _entries(place: str, labels: Iterable[str]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for number, label in enumerate(labels):
        step = label if isinstance(labels, dict) else number
        yield tuple(step if part == "*" else part for part in place.split(".")), label


def list_scenarios() -> list[ScenarioSummary]:
    """Return every usable study, by domain and then by id."""
    return _shelf()[0]


def broken_scenarios() -> list[ScenarioError]:
    """Return the faults of each file that `list_scenarios` leaves out, and of a folder."""
    return _shelf()[1]


def shelf_fingerprint() -> Hashable:
    """Return a value that changes when a study file is added, removed or changed."""
    return _all_files()


def _shelf() -> tuple[list[Study], list[ScenarioError]]:
    names: dict[str, str] = {}
    usable: list[Study] = []
    broken: list[ScenarioError] = []
    for folder in scenario_folders():
        try:
            os.scandir(folder).close()
        except OSError as error:
            problem = f"the folder that it names cannot be read ({error.strerror})"
            fault = Fault("", problem, "name a folder that exists and may be read, or unset it")
            broken.append(ScenarioError(FOLDER_VARIABLE, [fault]))
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
    """Return a study in a lab; raises ScenarioError if id, difficulty or seed is unknown."""
    levels = [level.value for level in Difficulty]
    if difficulty not in levels:
        raise _unknown("difficulty", difficulty, levels)
    return pack_of(_find(scenario_id)[1], Difficulty(difficulty), seed)


def generate_scenario(seed: int, domain_id: str, difficulty: Difficulty | str) -> Pack:
    """Return a study of a domain, picked by the seed, in a lab; raises ScenarioError."""
    seed = require_seed(seed)
    studies = list_scenarios()
    ids = [study.scenario_id for study in studies if study.domain_id == domain_id]
    if not ids:
        raise _unknown("domain_id", domain_id, sorted({study.domain_id for study in studies}))
    digest = sha256(f"{seed}|{domain_id}".encode()).digest()
    return load_scenario(ids[int.from_bytes(digest, "big") % len(ids)], difficulty, seed)


def study_text(scenario_id: str) -> str:
    """Return the text of a study's file, as its author wrote it."""
    file, _ = _find(scenario_id)
    return reading.readable_text(_content(file), file.name)


def copy_text(scenario_id: str, new_id: str) -> str:
    return reading.with_text_at(study_text(scenario_id), new_id, "scenario_id")


def template_text() -> str:
    return (SCENARIO_FOLDER / "template.yaml").read_text(encoding="utf-8")


def _find(scenario_id: str) -> tuple["StudyFile", Study]:
    # The first usable file named after the study; no other file is read.
    wrong = None
    for file in _all_files(scenario_id):
        outcome = _outcome(file)
        if isinstance(outcome, Study):
            return file, outcome
        wrong = wrong or outcome
    if wrong:  # a new error: a cached one would keep its traceback alive
        raise ScenarioError(wrong.source, wrong.faults, wrong.more)
    raise _unknown("scenario_id", scenario_id, sorted(s.scenario_id for s in list_scenarios()))


def _unknown(field: str, name: str, names: list[str]) -> ScenarioError:
    remedy = reading.known_names(str(name), names)
    return ScenarioError("scenarios", [Fault(field, f"{reading.shown(name)} is unknown", remedy)])


class StudyFile(NamedTuple):
    """A file at one moment; it is read again when any part changes."""

    path: Path
    name: str  # its name in a message
    domain: str | None  # its domain's folder, None if none
    state: tuple[int, ...]  # its times, size and inode
    problem: str  # the reason why it may not be read, or empty


def scenario_folders() -> list[Path]:
    """Return the folders of studies: the shipped one, then one's own, if named."""
    named = os.environ.get(FOLDER_VARIABLE, "")
    if not named or os.path.realpath(named) == os.path.realpath(SCENARIO_FOLDER):
        return [SCENARIO_FOLDER]
    return [SCENARIO_FOLDER, Path(named).absolute()]


def _all_files(stem: str | None = None) -> tuple[StudyFile, ...]:
    return tuple(file for folder in scenario_folders() for file in _files_in(folder, stem))


@lru_cache(maxsize=1024)  # The shipped twelve take some 70 ms, and a page asks on every run
def _outcome(file: StudyFile) -> Study | ScenarioError:
    # Returns the error: a raised one would not be cached.
    try:
        document = reading.read_document(_content(file), file.name)
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


def _files_in(folder: Path, stem: str | None) -> Iterator[StudyFile]:
    top = os.fspath(folder)
    try:
        with os.scandir(top) as entries:
            domains = sorted(e.name for e in entries if not _is_study(e.name) and e.is_dir())
    except OSError:
        return
    # In one's own folder, studies may also lie outside a domain's folder.
    places: list[tuple[str, str | None]] = [] if folder == SCENARIO_FOLDER else [(top, None)]
    places += [(f"{top}/{name}", name) for name in domains if not name.startswith(".")]
    for place, domain in places:
        for file in _names(place):
            path = Path(place, file)
            if stem not in (None, path.stem):
                continue
            linked = path.is_symlink() or Path(place).is_symlink()
            root = os.path.realpath(top) if linked else ""
            inside = not linked or Path(os.path.realpath(path)).is_relative_to(root)
            name = "/".join(filter(None, (folder.name, domain, file)))
            yield StudyFile(path, _printable(name), domain, *_state(path, inside))


def _names(place: str) -> list[str]:
    try:
        with os.scandir(place) as entries:
            names = sorted(entry.name for entry in entries if _is_study(entry.name))
    except OSError:
        return [""]  # for the place itself, which is then listed as broken
    return [name for name in names if not name.startswith(".")]


def _is_study(name: str) -> bool:
    return name.endswith(_SUFFIXES)


def _state(path: Path, inside: bool) -> tuple[tuple[int, ...], str]:
    leaves = "" if inside else "it is a link that leaves the folder"
    try:
        facts = path.stat()
    except OSError as error:
        return (), leaves or error.strerror or "no such file"
    kind = ""
    if stat.S_ISDIR(facts.st_mode):
        kind = "it is a folder" if _is_study(path.name) else "its files cannot be listed"
    elif not stat.S_ISREG(facts.st_mode):
        kind = "it is not a regular file"
    state = (facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size, facts.st_ino)
    return state, leaves or kind


def _printable(name: str) -> str:
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in name)


def _content(file: StudyFile) -> bytes:
    if file.problem:
        raise _unreadable(file.name, file.problem)
    return content_at(file.path, file.name)


def content_at(path: Path, name: str = "") -> bytes:
    """Return the content of a study's file anywhere; ``name`` is used in a message.

    Raises:
        ScenarioError: it is no regular file, too large, or cannot be opened.
    """
    name = name or _printable(path.name)
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | _AT_ONCE)) as opened:
            facts = os.fstat(opened.fileno())
            if not stat.S_ISREG(facts.st_mode):
                raise _unreadable(name, "it is not a regular file")
            reading.require_size(facts.st_size, name)
            return opened.read(MOST_STUDY_BYTES + 1)
    except ScenarioError:
        raise
    except OSError as error:
        raise _unreadable(name, str(error.strerror)) from None
    except ValueError:
        raise _unreadable(name, "no file can have that name") from None


def _unreadable(name: str, problem: str) -> ScenarioError:
    message = f"the file cannot be read ({problem})"
    return ScenarioError(name, [Fault("", message, "check that it is a readable file")])
