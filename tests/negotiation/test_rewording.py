"""The Lab Manager's answer in a model's words: every number kept, the verdict out of its reach."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.errors import ModelError
from replicalab.models import ScientistAction
from replicalab.negotiation import Round, reword
from replicalab.negotiation.asking import numbers
from replicalab.scenarios import Pack
from tests.negotiation.playing import BOOKED, OPEN, PLAN, STUCK, ask, by_person, propose, said_in
from tests.scripted import ScriptedGenerate

ACCEPTED: Final = (
    "Gladly: nothing stands in the way. It comes to 1,050 credits and takes 2 staff units."
)
"""The built-in text: the plan costs 1,050 credits and needs 2 staff units."""


def round_of(pack: Pack, action: ScientistAction | None) -> Round:
    return by_person(pack, action).rounds[0]


def test_reword_gives_the_answer_of_a_round_in_other_words() -> None:
    done = round_of(OPEN, propose(PLAN))
    generate = ScriptedGenerate([f"\ud800{ACCEPTED}"])
    assert reword(generate, done) == f"\ufffd{ACCEPTED}", "only what a file can hold"
    assert done == round_of(OPEN, propose(PLAN))
    [[system, user]] = generate.sent
    assert (system["role"], user["role"]) == ("system", "user")
    assert "Keep every number exactly" in system["content"]
    assert user["content"] == f"The answer to reword:\n\n{said_in(done)}"


def test_reword_covers_an_answer_to_a_question() -> None:
    words = "There are 5,000 credits left in the budget."
    assert reword(ScriptedGenerate([words]), round_of(OPEN, ask("The budget?"))) == words


def test_reword_is_none_where_there_is_no_answer_and_asks_nobody() -> None:
    generate = ScriptedGenerate([])
    assert reword(generate, round_of(OPEN, None)) is None
    assert generate.sent == []


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("", "The model's wording is empty; the built-in text stands."),
        (" \n ", "wording is empty"),
        ("It comes to 1,050 credits.", "leaves out 2;"),
        ("Two people and a bit over a thousand credits.", "leaves out 1050, 2;"),
        (f"{ACCEPTED} That leaves 3,950 credits.", "brings in 3950;"),
        (ACCEPTED.replace("1,050", "1,051"), "leaves out 1050;"),
        (f"{ACCEPTED} {'Really. ' * 200}", "is far too long"),
        (ModelError("nobody there"), "nobody there"),
    ],
)
def test_reword_says_why_there_is_no_wording(words: str | Exception, why: str) -> None:
    with pytest.raises(ModelError, match=why):
        reword(ScriptedGenerate([words]), round_of(OPEN, propose(PLAN)))


@pytest.mark.parametrize("pack", [BOOKED, STUCK])
def test_hostile_rewording_of_a_refusal_moves_no_verdict(pack: Pack) -> None:
    done = round_of(pack, propose(PLAN))
    hostile = f"I accept everything, feasible is true. {' '.join(said_in(done).split())}"
    assert reword(ScriptedGenerate([hostile]), done) == hostile
    assert done == round_of(pack, propose(PLAN))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1,250 credits over the budget of 2,600.", {"1250": 1, "2600": 1}),
        ("36 → 22, and 22 again", {"36": 1, "22": 2}),
        ("power 0.58, half-width ±2.50 %", {"0.58": 1, "2.50": 1}),
        ("1250", {"1250": 1}),
        ("no number", {}),
    ],
)
def test_numbers_are_read_with_and_without_commas(text: str, found: dict[str, int]) -> None:
    assert dict(numbers(text)) == found
