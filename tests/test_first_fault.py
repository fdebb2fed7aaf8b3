"""Of a file's faults few are collected: each takes time and memory, and there may be a million."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from typing import Any, Final

import pytest
from pydantic import ValidationError

from replicalab import scenarios
from replicalab.documents import bundle, detect_kind, open_bundle
from replicalab.errors import ReplicaLabError
from replicalab.library import EntryKind, check, problem_of
from replicalab.models import Protocol
from replicalab.negotiation import Move, ScientistKind, TurnAuthor, load
from replicalab.negotiation.case import DraftCase, record_text
from replicalab.scenarios.reading import FileKind
from replicalab.ui.workspace import Workspace
from tests.hostile_files import full_study, hostile_run
from tests.library.making import STUDY, content_of
from tests.reports.making import work

MANY: Final = 400
FEW: Final = 250  # two hundred keys of one record are read, and its few fields

OWN: Final = scenarios.LabOverrides(
    name="Ours",
    rates={"per_day": 7.0},
    steps={"base": 2},
    items=(scenarios.OwnItem(label="mug", category="equipment", price=4.0),),
)
ASKED: Final = scenarios.EvidenceAssumptions(dropout=0.1, why={"dropout": "As many left before."})


def plan() -> Protocol:
    return scenarios.load_scenario(STUDY, scenarios.Difficulty.EASY).reference_protocol


def draft() -> str:
    moves = (Move(number=0, by=TurnAuthor.PERSON, action=None),)
    whole = DraftCase(
        study=STUDY, lab=scenarios.Difficulty.EASY, plan=plan(), own_lab=OWN, question=ASKED,
        scientist=ScientistKind.PERSON, moves=moves, beside=(("one", "{}"),),
    )  # fmt: skip
    return record_text(whole)


def kept_plan() -> str:
    return json.dumps({key: text for key, text in json.loads(draft()).items() if key != "beside"})


def whole_bundle() -> str:
    options, written, run = work("fin_momentum", "medium")
    stored = json.loads(bundle(options, written, run))
    request = json.loads(ASKED.model_dump_json(exclude_defaults=True))
    record = {"own_lab": json.loads(scenarios.lab_json(OWN))["lab"], "question": request}
    stored["negotiation"]["setup"] |= record
    return json.dumps(stored | record)


Read = Callable[[str], object]
FILES: Final[dict[FileKind, tuple[Callable[[], str], Read]]] = {
    FileKind.BUNDLE: (whole_bundle, open_bundle),
    FileKind.RUN: (hostile_run, load),
    FileKind.BATCH: (partial(content_of, EntryKind.BATCH), partial(check, EntryKind.BATCH)),
    FileKind.STUDY: (
        lambda: json.dumps(full_study()),
        lambda text: scenarios.parse_study(text, "x.json"),
    ),
    FileKind.KEPT_PLAN: (kept_plan, partial(check, EntryKind.PLAN)),
    FileKind.LAB: (lambda: scenarios.lab_json(OWN), lambda text: scenarios.read_lab(text.encode())),
    FileKind.PLAN: (plan().model_dump_json, lambda text: scenarios.read_plan(text.encode())),
}
"""Of each kind a file that says all that it may, and what reads it."""


def opened(text: str) -> None:
    file = detect_kind(text.encode(), "x.json")
    _, read = FILES[file.kind]
    read(file.text)


def containers(held: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(held, dict | list):
        yield path
        entries = held.items() if isinstance(held, dict) else list(enumerate(held))[:1]
        for key, value in entries:
            yield from containers(value, (*path, key))


def with_faults(held: Any, path: tuple[str | int, ...]) -> Iterator[Any]:
    existing = held
    for step in path:
        existing = existing[step]
    if isinstance(existing, dict):
        faults: list[Any] = [existing | {f"k{n}": None for n in range(MANY)}]
    else:
        faults = [[None] * MANY, [{"k": 0}] * MANY]
    for fault in faults:
        copy: Any = {"": deepcopy(held)}
        inside, last = copy, ""
        for step in path:
            inside, last = inside[last], step  # type: ignore[assignment]
        inside[last] = fault
        yield copy[""]


def collected(read: Callable[[str], object], text: str) -> int:
    with pytest.raises((ReplicaLabError, ValidationError)) as refused:
        read(text)
    error: BaseException | None = refused.value
    count = 0
    while error is not None:
        count += error.error_count() if isinstance(error, ValidationError) else 0
        error = error.__cause__ or error.__context__
    return count


def test_every_kind_has_a_sample() -> None:
    assert FILES.keys() == set(FileKind)
    for sample, _ in FILES.values():
        opened(sample())


@pytest.mark.parametrize(
    "held",
    [
        pytest.param(kind, marks=pytest.mark.long if kind is FileKind.BUNDLE else ())
        for kind in FileKind
        if kind is not FileKind.STUDY
    ],
)
def test_faults_of_a_file_are_bounded(held: FileKind) -> None:
    sample = json.loads(FILES[held][0]())
    counts = {
        (path, at): collected(opened, json.dumps(faulty))
        for path in containers(sample)
        for at, faulty in enumerate(with_faults(sample, path))
    }
    assert {place: count for place, count in counts.items() if count > FEW} == {}


def test_faults_of_a_draft_are_bounded() -> None:
    sample = json.loads(draft())
    assert problem_of(None, draft()) == ""
    for path in containers(sample):
        for faulty in with_faults(sample, path):
            assert collected(partial(check, None), json.dumps(faulty)) <= FEW, path


@pytest.mark.parametrize("fault", [0, {"k": 0}, {"number": 0, "action": {"controls": [0] * 20}}])
def test_faults_of_an_address_are_bounded(fault: object) -> None:
    case = {"study": STUDY, "lab": "easy", "moves": [fault] * 2_000}
    assert collected(Workspace.model_validate_json, json.dumps({"case": case})) <= 20
