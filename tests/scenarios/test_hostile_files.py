"""Study files that mean harm, or do it by accident: they are refused calmly, or are plain text."""

import difflib
import re
from collections.abc import Sequence
from time import process_time
from typing import Final

import pytest

from replicalab.errors import ScenarioError
from replicalab.scenarios import Difficulty, Study, pack_of, parse_study, reading
from replicalab.scenarios.reading import FieldPath, dotted
from tests.scenarios.small_study import SMALL, STUDY_TEXT, message, outcome, parts, with_values

NUMBERS: Final = [
    path
    for path, value in parts(SMALL)
    if isinstance(value, int | float) and not isinstance(value, bool) and path != ("format",)
]


def written(path: FieldPath, text: str) -> str:
    return with_values((path, "PLACE")).replace('"PLACE"', text)


@pytest.mark.parametrize("path", NUMBERS, ids=dotted)
def test_number_fields_refuse_other_values(path: FieldPath) -> None:
    for text in ('"5"', "1_000", ".nan"):
        line = message(written(path, text))
        assert f"{dotted(path)}: " in line
        assert " is not allowed; must be " in line
    for number in (10**9, 1.7e308, -1):
        result = outcome(with_values((path, number)))
        if isinstance(result, Study):
            assert pack_of(result, Difficulty.HARD, 3).scenario_id == "tiny"
        else:
            assert re.search("is not allowed|design|at most", str(result))


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_endings_of_other_systems_are_read(ending: str) -> None:
    text = STUDY_TEXT.replace("\n", ending)
    assert parse_study(text.encode(), "x.yaml") == parse_study(STUDY_TEXT, "x.yaml")
    assert "line 66, column 5, labs.easy.budget" in message(
        text.replace("budget: 500", "budget: -5")
    )


BOMB: Final = "\n".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}' if n else 'lol'] * 10)}]" for n in range(12)
)
NONSENSE: Final = [*("[{", "- ", "? ", "a: b\n", '"', "é", f"{BOMB}\n", "1")]


@pytest.mark.parametrize("filling", NONSENSE, ids=lambda text: repr(text)[:12])
def test_file_full_of_nonsense_is_refused_at_once(filling: str) -> None:
    whole = filling * (5 * 1024**2 // len(filling.encode()))
    largest = whole[: 128 * 1024]
    assert "more than the 262144 allowed; shorten it" in message(whole)
    for text in (largest, f"paper: [{largest}", f"paper: {largest}ex"):
        began = process_time()
        assert len(message(text)) < 1000
        assert process_time() - began < 5


Change = tuple[str, object]
"""A dotted path in the small study, and what to put there."""


def labels(number: int, mark: str = "") -> list[str]:
    return [f"{'ab' * 30}{mark}{place:05d}"[-60:] for place in range(number)]


SWAP: Final[dict[str, object]] = {"original": "kettle", "alternative": "pot", "condition": "if dry",
                                  "tradeoff": "Slower.", "fidelity_loss": 0}  # fmt: skip
RULE: Final[dict[str, object]] = {"key": "k", "restriction": "r", "forbidden_phrases": ["p"]}
PHRASES: Final = {"forbidden_phrases": labels(20), "allowed_mentions": labels(20)}


ATTACKS: Final[dict[str, list[Change]]] = {
    "labels that almost match": [
        ("equipment", labels(40, mark="e")),
        ("reagents", labels(40, mark="r")),
        ("substitutions", [SWAP | {"original": label} for label in labels(80, mark="x")]),
    ],
    "keys that almost match": [(f"equipmen{n}", 1) for n in range(150)],
    "more keys than are read": [(f"equipmen{n}", 1) for n in range(4000)],
    "one long key": [("k" * 500, 1)],
    "many facts of another shape": [("paper.facts", [{"fact": 1}] * 150)],
    "many labels": [("equipment", labels(4000))],
    "unknown labels in the plan": [("reference_protocol.controls", labels(200))],
    "many rules of many phrases": [
        ("policy_rules", [RULE | PHRASES | {"key": f"k{n}"} for n in range(11)])
    ],
    "many reasons": [("design.why", dict.fromkeys(labels(4000), "x"))],
    "many booked items": [("labs.hard.booked", dict.fromkeys(labels(4000), 1))],
    "one long text": [("paper.title", "x" * 200_000)],
    "one long doi": [("paper.doi", "10.1000/" + "x" * 200_000)],
    "more values than are read": [("paper", [0] * 10_001)],
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_attack_is_refused_with_bounded_work(attack: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def noted(word: str, possibilities: Sequence[str], n: int) -> list[str]:
        compared.extend(word + other for other in possibilities)
        return difflib.get_close_matches(word, possibilities, n)

    monkeypatch.setattr(reading, "get_close_matches", noted)
    with pytest.raises(ScenarioError) as refused:
        parse_study(with_values(*ATTACKS[attack]), "x.yaml")
    error = refused.value
    assert len(error.faults) <= 50
    assert max(len(str(fault)) for fault in error.faults) < 1000
    assert len(str(error)) < 50_000
    assert len(compared) <= 50 * 50
    assert max(map(len, compared), default=0) <= 80
    assert str(error).endswith("x.yaml: and 100 more faults") or attack != "keys that almost match"
