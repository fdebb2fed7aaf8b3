"""An answer of the Lab Manager in a model's words: the same numbers, or an error."""

from typing import Final

import pytest

from replicalab.errors import ModelError
from replicalab.features.language_model import reword
from replicalab.models import ScientistAction
from replicalab.negotiation import Round
from replicalab.scenarios import Pack
from tests.negotiation.playing import OPEN, PLAN, by_person, propose, said_in
from tests.scripted import ScriptedGenerate

ACCEPTED: Final = (
    "Gladly: nothing stands in the way. It comes to 1,050 credits and takes 2 staff units."
)
"""The built-in text: the plan costs 1,050 credits and needs 2 staff units."""


def round_of(pack: Pack, action: ScientistAction | None) -> Round:
    return by_person(pack, action).rounds[0]


def test_answer_is_reworded() -> None:
    done = round_of(OPEN, propose(PLAN))
    generate = ScriptedGenerate([f"<think>They accept.</think>\ud800{ACCEPTED}"])
    assert reword(generate, done) == f"\ufffd{ACCEPTED}", "lone surrogates are replaced"
    [[system, user]] = generate.sent
    assert (system["role"], user["role"]) == ("system", "user")
    assert "Keep every number exactly" in system["content"]
    assert user["content"] == f"The answer to reword:\n\n{said_in(done)}"
    assert reword(generate, round_of(OPEN, None)) is None, (
        "without an answer the model is not called"
    )


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("", "The model's wording is empty; the built-in text is kept."),
        (" \n ", "wording is empty"),
        (f"<think>Let me say: {ACCEPTED}", "wording is empty"),
        ("Two people and a bit over a thousand credits.", "leaves out 1050, 2;"),
        (f"{ACCEPTED} That leaves 3,950 credits.", "brings in 3950;"),
        (ACCEPTED.replace("2 staff", "2.50 staff"), "leaves out 2;"),
        (ACCEPTED.replace("1,050", "1,051"), "leaves out 1050;"),
        (ModelError("no server"), "no server"),
    ],
)
def test_changed_wording_is_refused(words: str | Exception, why: str) -> None:
    with pytest.raises(ModelError, match=why):
        reword(ScriptedGenerate([words]), round_of(OPEN, propose(PLAN)))


def test_wording_has_a_longest_length() -> None:
    done = round_of(OPEN, propose(PLAN))
    words = ACCEPTED + "." * (500 + 3 * len(said_in(done)) - len(ACCEPTED))
    assert reword(ScriptedGenerate([words]), done) == words
    with pytest.raises(ModelError, match="is far too long"):
        reword(ScriptedGenerate([f"{words}."]), done)
