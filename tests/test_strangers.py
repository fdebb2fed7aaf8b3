"""A damaged file, sheet or model answer ends in a named error or a view; numbers reproduce it."""

import copy
import json
import random
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, Final
from zipfile import ZipFile

import pytest

from replicalab import negotiation as core
from replicalab.assessment import assess
from replicalab.errors import ReplicaLabError
from replicalab.facts.negotiation_facts import outcome_verdict, round_caption, round_summary
from replicalab.facts.verdicts import offer_story, plan_verdict
from replicalab.features.sheets import read_items, read_table
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import Difficulty, load_scenario, pack_of, parse_study
from tests.factories import make_setup
from tests.features.workbooks import workbook
from tests.scenarios.small_study import SMALL, STUDY_TEXT, parts, put
from tests.tiers import batches

ROOT: Final = Path(__file__).resolve().parents[1]
LONGEST_MESSAGE: Final = 20_000
SHOWN: Final = "it was shown"

TEXTS: Final = (
    "", " ", "0", "-1", "1e9", "9" * 40, "null", "true", "nan", "..", "/etc/passwd", "\u202e",
    "\x00", "![x](https://h.example/p.png)", "<img src=x>", ":green-badge[ok]", "\u05d0\u05d1",
    "\ud7ff", "x" * 5000, "hard", "easy", "accept", "psy_stroop", "=1+1", "'", '"', "\n", "a\nb: c",
    "&a", "*a", "%s",
)  # fmt: skip
NUMBERS: Final = (0, -1, 1, 2, 0.5, -0.0, 1e-300, 1e308, 10**6, 10**15, 10**15 + 1, 2**63, 10**40)
VALUES: Final[tuple[object, ...]] = (
    *TEXTS, *NUMBERS, None, True, False, [], {}, [[]], [None], {"": ""}, ["x"] * 300, [0] * 300
)  # fmt: skip
SIGNS: Final = "{}[]:,-#&*!|>%@`'\"\\ \n\t0129aZ~\u00e9\u202e\u05d0\x07=?_"


def bent_text(text: str, chance: random.Random) -> str:
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(text) + 1)
        to = min(len(text), at + chance.choice((1, 1, 3, 20, 400)))
        part = text[at:to]
        new = chance.choice(("", part * 2, part[::-1], chance.choice(SIGNS), chance.choice(TEXTS)))
        text = text[:at] + new + text[to if chance.random() < 0.7 else at :]
    return text


def bent_data(data: Any, chance: random.Random) -> Any:
    data = json.loads(json.dumps(data))
    for _ in range(chance.choice((1, 1, 2, 3))):
        places = list(parts(data))
        if not places:
            break
        path, value = chance.choice(places)
        how = chance.random()
        around = data
        for step in path[:-1]:
            around = around[step]
        if how < 0.6:
            put(data, path, copy.deepcopy(chance.choice(VALUES)))
        elif how < 0.75:
            del around[path[-1]]
        elif isinstance(around, list):
            around.insert(chance.randrange(len(around) + 1), copy.deepcopy(value))
        else:
            around[chance.choice(TEXTS)] = copy.deepcopy(value)
    return data


@cache
def shipped_texts() -> tuple[str, ...]:
    return tuple(path.read_text("utf-8") for path in sorted((ROOT / "scenarios").rglob("*.yaml")))


def study_text(number: int) -> str:
    chance = random.Random(f"study {number}")
    if number % 25 == 0:
        return bent_text(chance.choice(shipped_texts()), chance)
    if number % 2:
        return bent_text(STUDY_TEXT, chance)
    return json.dumps(bent_data(SMALL, chance), ensure_ascii=False, indent=1)


def view_study(number: int) -> None:
    study = parse_study(study_text(number), "your study")
    for level in Difficulty:
        pack = pack_of(study, level)
        options = PlanAnalysis(assess(pack.reference_protocol, pack))
        assert offer_story(options).text
        assert plan_verdict(options.yours).text


@cache
def saved_runs() -> tuple[Any, ...]:
    texts = [
        recording.model_dump_json(exclude_defaults=True) for recording in core.shipped_recordings()
    ]
    for scientist in (core.ScientistKind.BASELINE, core.ScientistKind.DIRECT):
        pack = load_scenario("psy_stroop", "hard")
        setup = make_setup(
            pack, pack.reference_protocol, 4, scientist=scientist,
            lab_manager=core.LabManagerKind.LEAST_LOSS,
        )  # fmt: skip
        texts.append(core.save(core.negotiate(setup, pack)))
    return tuple(json.loads(text) for text in texts)


def run_text(number: int) -> str:
    chance = random.Random(f"run {number}")
    data = chance.choice(saved_runs())
    if number % 4 == 0:
        return bent_text(json.dumps(data), chance)
    return json.dumps(bent_data(data, chance))


def view_run(number: int) -> None:
    transcript = core.load(run_text(number))
    setup = transcript.setup
    pack = load_scenario(setup.scenario_id, setup.difficulty.value, setup.seed)
    again = core.replay(transcript, pack)
    assert outcome_verdict(again).text
    for place, done in enumerate(again.rounds):
        assert round_caption(again, place)
        assert round_summary(done)
    assert len(core.ledger(again)) <= 2 * len(again.rounds)
    assert core.replay(core.load(core.save(again)), pack) == again


def ended(view: Callable[[int], None], number: int) -> str:
    try:
        view(number)
    except ReplicaLabError as error:
        return str(error)
    except Exception as error:
        error.add_note(f"{view.__name__}({number})")
        raise
    return SHOWN


@pytest.mark.parametrize("numbers", batches(200, quick=60, long=4))
@pytest.mark.parametrize("view", [view_study, view_run])
def test_damaged_file_opens_or_is_refused(view: Callable[[int], None], numbers: range) -> None:
    texts = {ended(view, number) for number in numbers}
    assert SHOWN in texts
    assert 0 < min(map(len, texts)) <= max(map(len, texts)) < LONGEST_MESSAGE


ROWS: Final = (("flume", "equipment", "booked", 12, 2.5), ("Größe", "reagent", "available"))
SHEETS: Final = (
    workbook(*ROWS),
    'name;kind;state;until;price\nflume;equipment;booked;12;"2,5"\nGröße;reagent\n'.encode(),
)


def bent_bytes(data: bytes, chance: random.Random) -> bytes:
    start, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    if chance.random() < 0.5:
        return data[:start] + data[end:]
    flipped = bytearray(data)
    for _ in range(chance.choice((1, 2, 8))):
        flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
    return bytes(flipped)


def bent_book(book: bytes, chance: random.Random) -> bytes:
    with ZipFile(BytesIO(book)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = chance.choice(sorted(parts))
    parts[name] = bent_text(parts[name].decode("utf-8", "replace"), chance).encode(
        "utf-8", "replace"
    )
    file = BytesIO()
    with ZipFile(file, "w") as archive:
        for part, content in parts.items():
            archive.writestr(part, content)
    return file.getvalue()


def bent_sheet(number: int) -> tuple[bytes, str]:
    chance = random.Random(f"sheet {number}")
    data = chance.choice(SHEETS)
    is_book = data.startswith(b"PK")
    bend = bent_book if is_book and number % 2 else bent_bytes
    return bend(data, chance), "ours.xlsx" if is_book else "ours.csv"


@pytest.mark.parametrize("numbers", batches(50, quick=20, long=4))
def test_bent_sheet_opens_or_is_refused(numbers: range) -> None:
    for number in numbers:
        with suppress(ReplicaLabError):
            frame = read_table(*bent_sheet(number))
            read_items(frame, "ours")
