"""Model answers and sheets with random damage end in a value or a named error."""

import json
import random
from contextlib import suppress
from io import BytesIO
from typing import Final
from zipfile import ZipFile

import pytest

from replicalab.agents import parse_scientist_output
from replicalab.errors import ReplicaLabError
from replicalab.features.sheets import read_items, read_table
from replicalab.negotiation import Negotiation, Turn, play
from tests.features.workbooks import workbook
from tests.negotiation.playing import ACCEPT, OPEN, PLAN, ask, game, revise_to, said
from tests.test_strangers import bent_data, bent_text
from tests.tiers import batches

ANSWERS: Final = tuple(said(action) for action in (ACCEPT, ask("Why?"), revise_to(PLAN)))


def bent_answer(number: int) -> str:
    chance = random.Random(f"answer {number}")
    text = chance.choice(ANSWERS)
    if number % 3:
        text = json.dumps(bent_data(json.loads(text), chance))
    if number % 2:
        text = f"Thinking {{so}}.\n```json\n{text}\n```\nDone."
    return bent_text(text, chance) if number % 3 == 0 else text


@pytest.mark.parametrize("first", batches(200, short=1, long=50))
def test_bent_answer_plays_or_is_refused(first: int) -> None:
    for number in range(first, first + 200):
        with suppress(ReplicaLabError):
            action = parse_scientist_output(bent_answer(number))
            play(Negotiation(game(OPEN, PLAN, 3), OPEN), Turn(action=action))


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


@pytest.mark.parametrize("first", batches(50, short=1, long=40))
def test_bent_sheet_opens_or_is_refused(first: int) -> None:
    for number in range(first, first + 50):
        with suppress(ReplicaLabError):
            frame = read_table(*bent_sheet(number))
            read_items(frame, "ours")
