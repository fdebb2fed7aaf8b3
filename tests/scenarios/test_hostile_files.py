"""Study files that mean harm, or do it by accident: they are refused calmly, or are plain text."""

from __future__ import annotations

import difflib
import json
import math
import re
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Any, Final, NoReturn

import pytest

from replicalab.errors import ScenarioError
from replicalab.assessment import assess
from replicalab.lint import lint
from replicalab.models import revise
from replicalab.scenarios import Difficulty, Study, checking, pack_of, parse_study
from replicalab.scenarios.reading import Data, FieldPath, dotted, read_document
from tests.scenarios.tiny_study import STUDY_TEXT

TINY: Final = read_document(STUDY_TEXT, "tiny").data
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
"""Fields whose text must stand elsewhere in the file, or is a key."""

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


def values(data: Data, here: FieldPath = ()) -> Iterator[tuple[FieldPath, Data]]:
    """Yield every value of the data that holds no other, with its path."""
    if isinstance(data, dict):
        inner: list[tuple[str | int, Data]] = [*data.items()]
    elif isinstance(data, list):
        inner = [*enumerate(data)]
    else:
        yield here, data
        return
    for step, value in inner:
        yield from values(value, (*here, step))


FREE_TEXTS: Final = [
    path
    for path, value in values(TINY)
    if isinstance(value, str)
    and path[-1] not in CHOSEN
    and not dotted(path).startswith(LABELS)
    and path[0] not in ("equipment", "reagents", "controls")
]
FREE_TEXTS_AND_NAMES: Final = [*FREE_TEXTS, ("equipment", 2), ("reagents", 2)]


def with_value(path: FieldPath, value: Data) -> str:
    """Return the small study with another value at a path, as a file."""
    data = json.loads(json.dumps(TINY))
    part = data
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    return json.dumps(data, ensure_ascii=False, indent=1)


def value_at(study: Study, path: FieldPath) -> object:
    """Return what a study holds at a path."""
    part: object = study.model_dump(mode="json")
    for step in path:
        assert isinstance(part, dict | list)
        part = part[step]  # type: ignore[index]  # a list has an int, a dict a key
    return part


def message(text: str | bytes) -> str:
    """Return what is said about a file that must be refused."""
    with pytest.raises(ScenarioError) as refused:
        parse_study(text, "x.yaml")
    return str(refused.value)


@pytest.mark.parametrize("path", FREE_TEXTS_AND_NAMES, ids=dotted)
def test_markup_in_a_text_field_stays_the_text_it_is(path: FieldPath) -> None:
    for markup in MARKUP:
        study = parse_study(with_value(path, markup), "x.yaml")
        assert value_at(study, path) == markup
        assert pack_of(study, Difficulty.EASY).scenario_id == "tiny"


@pytest.mark.parametrize("word", ["no", "NO", "off", "y", "2024-01-31", "12:30", "0x1F", "1_000"])
def test_word_that_old_yaml_takes_for_something_else_is_text(word: str) -> None:
    for path in FREE_TEXTS_AND_NAMES:
        text = with_value(path, "PLACE").replace('"PLACE"', word)
        assert value_at(parse_study(text, "x.yaml"), path) == word


@pytest.mark.parametrize("value", ["2024", "1.5", "1e3", "true", "null", "[a]", "{a: b}"])
def test_what_is_no_text_is_refused_in_a_text_field_with_line_path_and_remedy(value: str) -> None:
    text = STUDY_TEXT.replace('title: "A tiny study"', f"title: {value}")
    said = message(text)
    assert said.startswith("x.yaml: line 5, paper.title: ")
    assert said.endswith("must be text, in quotes if it looks like a number or true or false")


NUMBERS: Final = [
    path for path, value in values(TINY) if isinstance(value, int | float) and path != ("format",)
]


@pytest.mark.parametrize("path", NUMBERS, ids=dotted)
def test_number_as_text_is_refused_where_it_stands(path: FieldPath) -> None:
    for text in ('"5"', "five", "2024-01-31", "0x5", "1_000", ".inf", ".nan", "5 5"):
        said = message(with_value(path, "PLACE").replace('"PLACE"', text))
        assert f"{dotted(path)}: " in said
        assert " is not allowed; must be " in said


def test_alias_bomb_is_refused_quickly() -> None:
    levels = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    began = perf_counter()
    assert message("\n".join(levels)) == (
        "x.yaml: line 1, a0: anchor &a0 is not allowed; remove it"
    )
    assert perf_counter() - began < 2


def test_alias_that_contains_itself_is_refused() -> None:
    assert "anchor &a is not allowed" in message("paper: &a {title: *a}")


@pytest.mark.parametrize(
    "tag",
    [
        "!!python/object/apply:os.system ['true']",
        "!!python/object/new:subprocess.Popen [['true']]",
        "!!python/name:os.system",
        "!!python/module:os",
        "!!python/tuple [1, 2]",
        "!!binary aGVsbG8=",
        "!!timestamp 2024-01-31",
        "!!set {a, b}",
        "!!omap [a: 1]",
        "!include /etc/passwd",
        "!!float 5",
    ],
)
def test_tag_constructs_nothing(tag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name in ((subprocess, "Popen"), (socket, "socket")):
        monkeypatch.setattr(owner, name, _never)
    said = message(STUDY_TEXT.replace('title: "A tiny study"', f"title: {tag}"))
    assert said.startswith("x.yaml: line 5, paper.title: tag '")
    assert said.endswith("' is not allowed; remove it")


def _never(*_: object) -> NoReturn:
    raise AssertionError("a study file must start nothing")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-32-be", "cp037"])
def test_other_encoding_is_refused_in_words(encoding: str) -> None:
    said = message(STUDY_TEXT.encode(encoding))
    assert "save the file as UTF-8" in said or "is not allowed" in said


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "mac-roman"])
def test_letter_of_an_old_encoding_is_refused_with_its_line(encoding: str) -> None:
    text = STUDY_TEXT.replace('caution: "None."', 'caution: "Café."').encode(encoding)
    assert message(text).startswith("x.yaml: line 13, byte 0x")


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_endings_of_other_systems_are_read(ending: str) -> None:
    text = STUDY_TEXT.replace("\n", ending)
    assert parse_study(text.encode(), "x.yaml") == parse_study(STUDY_TEXT, "x.yaml")
    assert "line 66, labs.easy.budget" in message(text.replace("budget: 500", "budget: -5"))


def test_byte_order_mark_is_read_over() -> None:
    assert parse_study(STUDY_TEXT.encode("utf-8-sig"), "x") == parse_study(STUDY_TEXT, "x")


@pytest.mark.parametrize("filling", ["#", "a: b\n", "- ", "[", "é", "\n", "&a ", '"'])
def test_megabytes_are_refused_at_once(filling: str) -> None:
    began = perf_counter()
    assert "more than the 262144 allowed; shorten it" in message(filling * (5 * 1024**2))
    assert perf_counter() - began < 2


@pytest.mark.parametrize(
    "filling", ["a: b\n", "- a\n", "#\n", "x" * 99 + "\n", "a,", '"', "- [a]\n"]
)
def test_largest_file_of_nonsense_is_refused_quickly(filling: str) -> None:
    text = filling * (256 * 1024 // len(filling))
    for whole in (text, f"paper: [{text}", f"paper:\n  {text}"[: 256 * 1024]):
        began = perf_counter()
        assert message(whole[: 256 * 1024])
        assert perf_counter() - began < 5


@pytest.mark.parametrize("trick", ["../../etc/passwd", "a/b", "C:\\x", "..", "x.yaml", "x\\0", "~"])
def test_path_trick_in_an_id_is_refused(trick: str) -> None:
    for field in ("scenario_id: tiny", "domain_id: demo"):
        said = message(STUDY_TEXT.replace(field, f"{field.split(':')[0]}: '{trick}'"))
        assert "must be lower-case letters, digits and _, beginning with a letter" in said


def test_numbers_beyond_all_labs_are_refused_or_harmless() -> None:
    for path in NUMBERS:
        for number in (10**9, 10**15, 10**17, 1.7e308, -1, -(10**17)):
            try:
                study = parse_study(with_value(path, number), "x.yaml")
            except ScenarioError as error:
                said = str(error)
                assert "is not allowed" in said or "design" in said or "at most" in said
            else:
                assert pack_of(study, Difficulty.HARD, 3).scenario_id == "tiny"


# --- As large as a file may be, and larger ---

Build = Callable[[dict[str, Any]], None]


def bent_data(*changes: Build) -> dict[str, Any]:
    """Return the small study's data after some changes in place."""
    data: dict[str, Any] = json.loads(json.dumps(TINY))
    for change in changes:
        change(data)
    return data


def labels(number: int, length: int = 60, mark: str = "") -> list[str]:
    """Return labels that almost match one another."""
    return [f"{'ab' * (length // 2)}{mark}{place:05d}"[-length:] for place in range(number)]


def put(path: str, value: object) -> Build:
    """Return the change that puts a value at a dotted path; numbers are places in a list."""
    steps = path.split(".")

    def change(data: Any) -> None:
        for step in steps[:-1]:
            data = data[int(step) if step.isdigit() else step]
        data[int(steps[-1]) if steps[-1].isdigit() else steps[-1]] = value

    return change


SWAP: Final = {"original": "kettle", "alternative": "pot", "condition": "if clean",
               "tradeoff": "Slower.", "fidelity_loss": 0}  # fmt: skip
FACT: Final = {"text": "t", "source": "s", "confidence": "verified"}
RULE: Final[dict[str, object]] = {"key": "k", "restriction": "r", "forbidden_phrases": ["p"]}
SHORT_LABELS: Final = (put("equipment", labels(40, 50, "e")), put("reagents", labels(40, 50, "r")))
LONG_LABELS: Final = (put("equipment", labels(40, 199, "e")), put("reagents", labels(40, 199, "r")))
ATTACKS: Final[dict[str, tuple[Build, ...]]] = {
    "labels that almost match": (
        *SHORT_LABELS,
        put("substitutions", [SWAP | {"original": label} for label in labels(80, 50, "x")]),
    ),
    "long labels that almost match": (
        *LONG_LABELS,
        put("substitutions", [SWAP | {"original": label} for label in labels(80, 199, "x")]),
    ),
    "keys that almost match": (lambda data: data.update({f"equipmen{n}": 1 for n in range(4000)}),),
    "one long key": (lambda data: data.update({"k" * 500: 1}),),
    "many facts of another shape": (put("paper.facts", [{"fact": 1}] * 150),),
    "many labels": (put("equipment", labels(4000)),),
    "many labels in the plan": (put("reference_protocol.required_equipment", labels(4000)),),
    "many unknown labels in the plan": (put("reference_protocol.controls", labels(200)),),
    "many elements": (put("hidden_reference.required_elements", labels(4000)),),
    "many phrases": (put("policy_rules.0.forbidden_phrases", labels(4000)),),
    "many rules of many phrases": (
        put("policy_rules", [RULE | {"key": f"k{n}", "forbidden_phrases": labels(40)}
                             for n in range(6)]),
    ),
    "many reasons": (put("design.why", dict.fromkeys(labels(4000), "x")),),
    "many booked items": (put("labs.hard.booked", dict.fromkeys(labels(4000), 1)),),
    "many texts that are none": (put("success_criteria", [[]] * 39), put("paper.title", {})),
    "one long text": (put("paper.title", "x" * 200_000),),
    "one long id": (put("scenario_id", "x" * 200_000),),
    "one long doi": (put("paper.doi", "10.1000/" + "x" * 200_000),),
    "more values than are read": (put("paper", [0] * 5001),),
}  # fmt: skip


@pytest.mark.parametrize("attack", ATTACKS)
def test_attack_is_refused_in_few_words_and_few_comparisons(
    attack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []

    def noted(word: str, possibilities: Sequence[str], n: int) -> list[str]:
        compared.extend(word + other for other in possibilities)
        return difflib.get_close_matches(word, possibilities, n)

    monkeypatch.setattr(checking, "get_close_matches", noted)
    with pytest.raises(ScenarioError) as refused:
        parse_study(json.dumps(bent_data(*ATTACKS[attack]), indent=1), "x.yaml")
    error = refused.value
    assert len(error.faults) <= 50
    assert max(len(str(fault)) for fault in error.faults) < 1000
    assert len(str(error)) < 50_000
    assert len(compared) <= 200
    assert max(map(len, compared), default=0) <= 120


def test_faults_beyond_fifty_are_counted() -> None:
    said = message(json.dumps(bent_data(*ATTACKS["keys that almost match"]), indent=1))
    assert said.count("\n") == 50
    assert said.endswith("x.yaml: and 3950 more faults")


@pytest.mark.parametrize("key", ["a" * 500, '"é' + "b" * 500 + '"'])
def test_name_of_the_files_own_is_quoted_short(key: str) -> None:
    for text in (f"{key}: 1\n{key}: 2\n", f"{key}: !{'t' * 500} 1", f"{key}: &{'a' * 500} 1"):
        assert len(message(text)) < 300


WIDEST: Final[dict[str, tuple[str, object, int]]] = {
    "equipment": ("equipment", "e{}", 40),
    "reagents": ("reagents", "r{}", 40),
    "controls": ("controls", {"name": "c{}", "droppable": True, "protects_against": "p"}, 40),
    "substitutions": ("substitutions", SWAP, 80),
    "constraints": (
        "constraints",
        {"key": "k{}", "label": "l", "quantity": 9, "unit": "u", "comparator": "<=", "hard": True,
         "bounds": "samples"},
        40,
    ),
    "facts": ("paper.facts", FACT, 200),
    "success criteria": ("success_criteria", "s", 40),
    "required elements": ("hidden_reference.required_elements", "e{}", 40),
    "flexible elements": ("hidden_reference.flexible_elements", "e", 40),
    "rules": ("policy_rules", RULE | {"key": "k{}"}, 40),
    "phrases": ("policy_rules.0.forbidden_phrases", "p", 40),
    "mentions": ("policy_rules.0.allowed_mentions", "m", 40),
    "missing items": ("labs.hard.out_of_stock", "r{}", 40),
    "expected failures": ("labs.hard.expected.fails", "budget", 7),
}  # fmt: skip
"""Lists of a study: where each stands, what it may hold, and how many of that."""

EXPECTED: Final = {"answer": "reject", "sample_size": 1, "duration_days": 1, "credits": 1.0,
                   "evidence": None, "verdict": "below floor"}  # fmt: skip
WIDE: Final = (
    put("labs.hard.expected", EXPECTED),
    put("substitutions", []),
    put("labs.hard.booked", {}),
    put("labs.medium.booked", {}),
    put("labs.hard.out_of_stock", []),
    put("reference_protocol.required_equipment", []),
    put("reference_protocol.required_reagents", []),
    put("reference_protocol.controls", []),
    put("equipment", ["kettle"]),
    put("reagents", [f"r{n}" for n in range(40)]),
)


def numbered(entry: object, number: int) -> list[Any]:
    """Return so many entries of a list, each with a number of its own where it has a place."""
    text = json.dumps(entry)
    return [json.loads(text.replace("{}", str(place))) for place in range(number)]


@pytest.mark.parametrize("name", WIDEST)
def test_list_is_bounded_and_the_bound_belongs_to_it(name: str) -> None:
    path, entry, most = WIDEST[name]
    full = put(path, numbered(entry, most)), put(path, numbered(entry, most + 1))
    assert parse_study(json.dumps(bent_data(*WIDE, full[0])), "x.yaml").scenario_id == "tiny"
    said = message(json.dumps(bent_data(*WIDE, full[1]), indent=1))
    assert f"a list of {most + 1} is not allowed; must have at most {most} entries" in said


def test_widest_study_is_read_and_judged() -> None:
    wide = [put(path, numbered(entry, most)) for path, entry, most in WIDEST.values()]
    phrases = {"forbidden_phrases": labels(20), "allowed_mentions": labels(20)}
    rules = [RULE | phrases | {"key": f"k{n}"} for n in range(10)]
    whole = bent_data(
        *WIDE,
        *wide[:9],
        *wide[12:],
        put("policy_rules", rules),
        put("substitutions", [SWAP | {"original": f"r{n % 40}"} for n in range(80)]),
        put("reference_protocol.required_reagents", [f"r{n}" for n in range(40)]),
        put("reference_protocol.technique", "ab, " * 900),
    )
    study = parse_study(json.dumps(whole), "x.yaml")
    assert len(lint(study)) <= 101


@pytest.mark.parametrize("path", FREE_TEXTS_AND_NAMES, ids=dotted)
def test_text_is_bounded(path: FieldPath) -> None:
    assert value_at(parse_study(with_value(path, "x" * 300), "x.yaml"), path) == "x" * 300
    said = message(with_value(path, "x" * 4001))
    assert re.search(r"must have at most (300|4000) characters|at most (4,000|300) fit", said)


# --- Numbers at the ends of what is allowed ---

KINDS: Final[dict[str, dict[str, object]]] = {
    "two_group": {},
    "paired": {},
    "correlation": {"effect_published": 0.5, "effect_planning": 0.3},
    "two_proportions": {},
    "audit": {"effect_published": None, "effect_planning": 0.01, "population_max": 1000},
    "coverage": {"effect_published": None, "effect_planning": None, "population_max": 100},
    "precision": {"effect_published": None, "target": 0.01, "floor": 0.02},
}
EXTREMES: Final = (5e-324, 1e-300, 1e-9, 0.01, 1 - 2**-53, 1, 1e6, -1e6, 1e7, 10**9, 1e308)


@pytest.mark.parametrize("kind", KINDS)
def test_evidence_is_a_number_at_the_ends_of_what_a_design_may_say(kind: str) -> None:
    base = bent_data(lambda data: data["design"].update(KINDS[kind] | {"kind": kind}))
    base["substitutions"][0]["evidence_factor"] = 0.01
    for field in ("effect_published", "effect_planning", "sesoi", "alpha", "target", "floor",
                  "population_max"):  # fmt: skip
        for extreme in EXTREMES:
            data = base | {"design": base["design"] | {field: extreme}}
            try:
                pack = pack_of(parse_study(json.dumps(data), "x.yaml"), Difficulty.EASY)
            except ScenarioError:
                continue
            for items in (["kettle"], ["pot"]):
                plan = revise(pack.reference_protocol, required_equipment=items)
                found = assess(plan, pack).evidence
                assert math.isfinite(found.value), (field, extreme)
                assert not math.isnan(found.effect or 0)
                assert len(found.text) < 60


@pytest.mark.parametrize("field", ["effect_published", "effect_planning", "sesoi"])
def test_coverage_has_no_effect(field: str) -> None:
    design = KINDS["coverage"] | {"kind": "coverage", "alpha": None}
    text = json.dumps(bent_data(lambda data: data["design"].update(design | {field: 0.5})))
    assert message(text).endswith(
        f"design: coverage has no effect, and {field} gives one; write null"
    )


def test_factor_that_leaves_next_to_nothing_is_refused() -> None:
    said = message(json.dumps(bent_data(put("substitutions.0.evidence_factor", 1e-300)), indent=1))
    assert said.endswith("1e-300 is not allowed; must be greater than or equal to 0.01")


def test_reference_protocol_beyond_what_can_be_planned_is_refused() -> None:
    text = json.dumps(bent_data(put("reference_protocol.sample_size", 2_000_000)))
    assert "Sample size is 2,000,000; at most 1,000,000" in message(text)
