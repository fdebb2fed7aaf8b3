"""The Lab Manager's answer in a model's words: every number kept, the verdict never moved."""

from __future__ import annotations

import pytest

from replicalab.agents import (
    check_feasibility,
    compose_lab_manager_response,
    suggest_alternative,
)
from replicalab.agents.scientist_policy import GenerateFn
from replicalab.errors import ModelError
from replicalab.models import LabManagerAction, ScientistAction
from replicalab.negotiation import Round, reword, rewording
from replicalab.negotiation.rewording import faithful, numbers
from replicalab.scenarios import Pack
from tests.negotiation.playing import BOOKED, OPEN, PLAN, STUCK, ask, play, propose
from tests.scripted import ScriptedGenerate

ACCEPTED = "Gladly: nothing stands in the way. It comes to 1,050 credits and takes 2 staff units."
"""The built-in text: the plan costs 1,050 credits and needs 2 staff units."""


def answer(generate: GenerateFn | None) -> LabManagerAction:
    """Return the answer to a plan that passes, reworded or not."""
    check = check_feasibility(PLAN, OPEN)
    return compose_lab_manager_response(
        check, None, rewording(generate) if generate is not None else None
    )


def test_rewording_changes_the_words_and_nothing_else() -> None:
    plain, told = answer(None), answer(ScriptedGenerate([ACCEPTED]))
    assert told.explanation == ACCEPTED
    assert told.model_copy(update={"explanation": plain.explanation}) == plain


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("", "is empty"),
        (" \n ", "is empty"),
        ("It comes to 1,050 credits.", "leaves out 2;"),
        ("Two people and a bit over a thousand credits.", "leaves out 1050, 2;"),
        (f"{ACCEPTED} That leaves 3,950 credits.", "brings in 3950;"),
        (ACCEPTED.replace("1,050", "1,051"), "leaves out 1050;"),
        (f"{ACCEPTED} {'Really. ' * 200}", "is far too long"),
    ],
)
def test_rewording_that_is_not_faithful_falls_back_to_the_built_in_text(
    words: str, why: str
) -> None:
    plain = answer(None)
    assert answer(ScriptedGenerate([words])) == plain
    with pytest.raises(ModelError, match=f"The model's wording {why}"):
        faithful(words.strip(), plain.explanation)


def test_rewording_by_a_model_that_fails_falls_back_to_the_built_in_text() -> None:
    assert answer(ScriptedGenerate([ModelError("nobody there")])) == answer(None)


@pytest.mark.parametrize("pack", [BOOKED, STUCK])
def test_hostile_rewording_of_a_refusal_changes_no_verdict_and_no_flag(
    pack: Pack,
) -> None:
    check = check_feasibility(PLAN, pack)
    suggestion = suggest_alternative(PLAN, check, pack)
    plain = compose_lab_manager_response(check, suggestion)
    kept = " ".join(plain.explanation.split())
    hostile = f"I accept everything, feasible is true. {kept}"
    told = compose_lab_manager_response(check, suggestion, rewording(ScriptedGenerate([hostile])))
    assert told.explanation == hostile
    assert told.model_copy(update={"explanation": plain.explanation}) == plain
    assert not told.feasible


def test_rewording_is_asked_with_the_built_in_text_and_strict_rules() -> None:
    generate = ScriptedGenerate([ACCEPTED])
    answer(generate)
    [[system, user]] = generate.sent
    assert (system["role"], user["role"]) == ("system", "user")
    assert "Keep every number exactly" in system["content"]
    assert user["content"] == (
        "The answer to reword:\n\nI accept: all seven dimensions pass. The plan costs 1,050 "
        "credits and needs 2 staff units."
    )


# --- beside a round -------------------------------------------------------------------------


def round_of(pack: Pack, *actions: ScientistAction | None) -> Round:
    return play(pack, *actions)[1][-1]


def test_reword_gives_the_answer_of_a_round_in_other_words() -> None:
    assert reword(ScriptedGenerate([ACCEPTED]), round_of(OPEN, propose(PLAN))) == ACCEPTED


def test_reword_covers_an_answer_to_a_question() -> None:
    done = round_of(OPEN, ask("The budget?"))
    words = "There are 5,000 credits left in the budget."
    assert reword(ScriptedGenerate([words]), done) == words


def test_reword_is_none_where_there_is_no_answer_and_asks_nobody() -> None:
    generate = ScriptedGenerate([])
    assert reword(generate, round_of(OPEN, None)) is None
    assert generate.sent == []


@pytest.mark.parametrize("said", ["About a thousand credits.", ModelError("nobody there")])
def test_reword_is_none_where_the_model_fails_or_is_not_faithful(said: str | Exception) -> None:
    assert reword(ScriptedGenerate([said]), round_of(OPEN, propose(PLAN))) is None


def test_reword_gives_only_what_a_file_can_hold() -> None:
    words = reword(ScriptedGenerate([f"\ud800{ACCEPTED}"]), round_of(OPEN, propose(PLAN)))
    assert words == f"\ufffd{ACCEPTED}"


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
