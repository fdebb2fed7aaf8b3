"""Study files that mean harm, or do it by accident: they are refused calmly, or are plain text."""

import difflib
import json
import math
import re
from collections.abc import Sequence
from itertools import product
from time import process_time
from typing import Any, Final

import pytest

from replicalab.assessment import assess
from replicalab.designs import KINDS
from replicalab.errors import ScenarioError
from replicalab.limits import MOST_FAULTS
from replicalab.lint import lint
from replicalab.models import revise
from replicalab.scenarios import Difficulty, Study, pack_of, parse_study, reading
from replicalab.scenarios.reading import FieldPath, dotted
from tests.scenarios.small_study import SMALL, STUDY_TEXT, message, outcome, parts, with_values

CHOSEN: Final = ("format", "scenario_id", "domain_id", "doi", "kind", "confidence", "comparator")
"""Fields whose text is one of a few, or has a shape."""

LABELS: Final = (
    "constraints[0].key",
    "policy_rules[0].key",
    "substitutions[0].original",
    "reference_protocol.controls",
    "reference_protocol.required_equipment",
    "reference_protocol.required_reagents",
    "labs.hard.out_of_stock",
)
"""Fields whose text must be listed elsewhere in the file, or is a key."""

MARKUP: Final = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "![x](https://example.org/pixel.png)",
    "**bold** _it_ `code` ~~gone~~ # not a heading",
    "$x^2$ :red[text] :material/delete: :smile:",
    "| a | b |\n|---|---|",
    "{{ 7 * 7 }} ${7*7} %s {0}",
    "=HYPERLINK(1)",
    "'; DROP TABLE studies; --",
    "&lt;b&gt; &amp; &#x41;",
)
OLD_WORDS: Final = ("no", "NO", "off", "y", "2024-01-31", "12:30", "0x1F", "1_000")
"""What older YAML takes for booleans, dates and numbers."""

FREE_TEXTS: Final = [
    *(
        path
        for path, value in parts(SMALL)
        if isinstance(value, str)
        and path[-1] not in CHOSEN
        and not dotted(path).startswith(LABELS)
        and path[0] not in ("equipment", "reagents", "controls")
    ),
    ("equipment", 2),
    ("reagents", 2),
]
NUMBERS: Final = [
    path
    for path, value in parts(SMALL)
    if isinstance(value, int | float) and not isinstance(value, bool) and path != ("format",)
]


def value_at(study: Study, path: FieldPath) -> object:
    part: Any = study.model_dump(mode="json")
    for step in path:
        part = part[step]
    return part


def written(path: FieldPath, text: str) -> str:
    return with_values((path, "PLACE")).replace('"PLACE"', text)


def test_text_fields_keep_any_text_within_bounds() -> None:
    # No label may be repeated, so the last one, of a reagent, is tried alone.
    for text, paths in product((*MARKUP, *OLD_WORDS), (FREE_TEXTS[:-1], FREE_TEXTS[-1:])):
        file = with_values(*((path, text) for path in paths))
        if text in OLD_WORDS:  # without quotes, older YAML reads something else
            file = file.replace(f'"{text}"', text)
        study = parse_study(file, "x.yaml")
        assert {value_at(study, path) for path in paths} == {text}
        assert pack_of(study, Difficulty.EASY).scenario_id == "tiny"
    for path in FREE_TEXTS:
        line = message(with_values((path, "x" * 4001)))
        assert re.search(r"must have at most (200|300|4000) characters|at most (4,000|300) f", line)


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


WIDEST: Final[dict[str, tuple[object, int]]] = {
    "equipment": ("e{}", 40),
    "reagents": ("r{}", 40),
    "controls": ({"name": "c{}", "droppable": True, "protects_against": "p"}, 40),
    "substitutions": (SWAP, 80),
    "constraints": (
        {"key": "k{}", "label": "l", "quantity": 9, "unit": "u", "comparator": "<=", "hard": True,
         "bounds": "samples"},
        40,
    ),
    "paper.facts": ({"text": "t", "source": "s", "confidence": "verified"}, 200),
    "success_criteria": ("s", 40),
    "hidden_reference.required_elements": ("e{}", 40),
    "hidden_reference.flexible_elements": ("e", 40),
    "labs.hard.expected.fails": ("budget", 7),
    "labs.hard.equipment": ("x{}", 240),
}  # fmt: skip
"""Lists of a study: an entry, and the most entries."""

EXPECTED: Final = {"answer": "reject", "sample_size": 1, "duration_days": 1, "credits": 1.0,
                   "evidence": None, "verdict": "below floor"}  # fmt: skip
NOTHING_NEEDED: Final[list[Change]] = [
    ("labs.hard.expected", EXPECTED),
    ("labs.hard.booked", {}),
    ("labs.medium.booked", {}),
    ("labs.hard.out_of_stock", []),
    ("reference_protocol.required_equipment", []),
    ("reference_protocol.required_reagents", []),
    ("reference_protocol.controls", []),
    ("substitutions", []),
    ("equipment", ["kettle"]),
    ("reagents", [f"r{n}" for n in range(40)]),
]
"""Changes after which the lists of the small study may hold anything."""


def full(path: str) -> Change:
    entry, limit = WIDEST[path]
    text = json.dumps(entry)
    return path, [json.loads(text.replace("{}", str(place))) for place in range(limit)]


def test_widest_study_is_read_and_judged() -> None:
    rules = [RULE | PHRASES | {"key": f"k{n}"} for n in range(10)]
    text = with_values(
        *NOTHING_NEEDED,
        *map(full, WIDEST),
        ("policy_rules", rules),
        ("substitutions", [SWAP | {"original": f"r{n % 40}"} for n in range(80)]),
        ("reference_protocol.required_reagents", [f"r{n}" for n in range(40)]),
        ("reference_protocol.technique", "ab, " * 900),
    )
    assert len(lint(parse_study(text, "x.yaml"))) == MOST_FAULTS + 1


BASES: Final[dict[str, dict[str, object]]] = {
    "correlation": {"effect_published": 0.5, "effect_planning": 0.3},
    "audit": {
        "effect_published": None, "effect_planning": 0.01, "population_max": 1000
    },
    "coverage": {
        "effect_published": None, "effect_planning": None, "population_max": 100
    },
    "precision": {"effect_published": None, "target": 0.01, "floor": 0.02},
    "anova": {"groups": 3},
    "equivalence": {"margin": 1.2},
    "survival": {"event_share": 0.6},
}  # fmt: skip
"""Changes of the small study's design for other kinds."""

EXTREMES: Final = (5e-324, 0.01, 1 - 2**-53, 1e6)
DESIGN_NUMBERS: Final = ("effect_published", "effect_planning", "sesoi", "alpha", "target", "floor",
                         "population_max", "groups", "margin", "event_share",
                         "baseline", "assurance")  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_evidence_is_finite_at_extreme_designs(kind: str) -> None:
    changes = {"kind": kind, **BASES.get(kind, {})}
    base: list[Change] = [(f"design.{name}", value) for name, value in changes.items()]
    base.append(("substitutions.0.evidence_factor", 0.01))
    assert parse_study(with_values(*base), "x.yaml").design.kind == kind
    for field in DESIGN_NUMBERS:
        for extreme in EXTREMES:
            study = outcome(with_values(*base, (f"design.{field}", extreme)))
            if isinstance(study, ScenarioError):
                continue
            pack = pack_of(study, Difficulty.EASY)
            for items in (["kettle"], ["pot"]):
                plan = revise(pack.reference_protocol, required_equipment=items)
                evidence = assess(plan, pack).evidence
                assert math.isfinite(evidence.value), (field, extreme)
                assert not math.isnan(evidence.effect or 0)
                assert len(evidence.text) < 60
