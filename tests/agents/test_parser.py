"""Answers of models: the action that was written, or its one error code."""

import copy
import json
import pickle
import random
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.agents.parsing import (
    ParseErrorCode,
    ScientistOutputParseError,
    parse_scientist_output,
)
from replicalab.errors import ReplicaLabError
from replicalab.limits import MAX_DIGITS, MAX_NESTING, MAX_PROBLEMS, MOST_OBJECTS
from replicalab.models import ACCEPT_ACTION, ScientistAction, ScientistActionType
from tests.factories import make_scientist_action
from tests.strategies import scientist_actions
from tests.tiers import batches

ACCEPT = ACCEPT_ACTION.model_dump_json()
PROPOSE = make_scientist_action().model_dump_json()


def failure(raw_text: str) -> ScientistOutputParseError:
    with pytest.raises(ScientistOutputParseError) as caught:
        parse_scientist_output(raw_text)
    return caught.value


def outcome(raw_text: str) -> str:
    try:
        parse_scientist_output(raw_text)
    except ScientistOutputParseError as error:
        return error.code
    return "action"


def accept_with(**fields: object) -> str:
    return json.dumps({**ACCEPT_ACTION.model_dump(mode="json"), **fields})


@pytest.mark.parametrize(
    "text",
    [
        PROPOSE,
        f"Here it is: ```json\r\n{PROPOSE}\r\n```\r\nDone.",
        f"  ```JSON\n{PROPOSE}\n  ```",
        f"```json\n{PROPOSE}",
        f"Notes {{draft}} and so on: {PROPOSE}",
        f'Notes {{"a": 1}} and so on: {PROPOSE}',
        f"```json\n{{broken}}\n```\n{PROPOSE}",
        f"```\nno object\n```\n```json\n{PROPOSE}\n```",
        f"{PROPOSE}{{",
        f"\ufeff{PROPOSE}",
        f'He said "so {PROPOSE}',
        # The first of two, a fence before prose, the first fence that is one and holds one.
        f"{PROPOSE}\n{ACCEPT}",
        f"I thought of {ACCEPT} but:\n```json\n{PROPOSE}\n```",
        f"```json\n{{}}\n```\n```json\n{PROPOSE}\n```\n{ACCEPT}",
        f"I thought of {ACCEPT} but:\n```json\n{PROPOSE}",
        f"I thought of {ACCEPT} but: ```json \r\n{PROPOSE}\r\n```",
        f"I thought of {ACCEPT} but:\n```\n{PROPOSE}\n```",
        f"{PROPOSE}\n```c++\n{ACCEPT}\n```",
        f"  ```\n  {{}}\n  ```\n{ACCEPT}\n```json\n{PROPOSE}\n```",
        f"so ```{PROPOSE}``` is\n{ACCEPT}",
        f"{PROPOSE}\nas ```json``` says\n{ACCEPT}",
    ],
)
def test_parser_finds_the_action_in(text: str) -> None:
    assert parse_scientist_output(text) == make_scientist_action()


CODES: Final = {
    "no_json": [
        "", "I accept.", "[1, 2]", "12", '"text"', "null", "```json\n[]\n```", "}",
    ],
    "invalid_json": [
        "{", "{draft}", PROPOSE[:-1], PROPOSE[: len(PROPOSE) // 2], PROPOSE[:-1] + ",}",
        PROPOSE.replace('"', "'"), "{'a': 1} // comment",
        '{"a": NaN}', '{"a": Infinity}', '{"a": -Infinity}',
        '{"a": 1, "a": 1}', '{"a": {"b": 1, "b": 2}}', ACCEPT[:-1] + ', "action_type": "accept"}',
        '{"a": "line\nbreak"}', '{"a": "\x00"}',
        # Nothing smaller is looked for inside what failed to decode.
        f'{{"action_type": "propose_protocol", "rationale": {ACCEPT}', f'{{"plan": {ACCEPT}, }}',
        f"{{ {ACCEPT} }}", f"{{ {ACCEPT}", f'{{"a": NaN, "b": {ACCEPT}}}',
        f"```json\n{{broken\n```\n{ACCEPT}",
    ],
    "invalid_action": [
        "{}", '{"a": 1e999}', accept_with(note="x"), accept_with(sample_size="12"),
        accept_with(sample_size=True), accept_with(sample_size=12.0),
        accept_with(action_type="agree"), accept_with(sample_size=1),
        accept_with(action_type="\ud800"), '{"\\ud800": 1}', f'{{"action": {PROPOSE}}}',
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "code"), [(text, code) for code, texts in CODES.items() for text in texts]
)
def test_parser_code_of(text: str, code: str) -> None:
    assert failure(text).code == code


@pytest.mark.parametrize("inside", ["}", "{", '\\"}', "{}", "\\\\", "```json", "[[[", "\\u0000"])
def test_parser_reads_text_in_strings_as_text(inside: str) -> None:
    text = PROPOSE.replace("randomised trays", inside)
    assert parse_scientist_output(text).rationale.startswith(json.loads(f'"{inside}"'))


@pytest.mark.parametrize(
    ("text", "code", "payload"),
    [
        ("none", "no_json", None),
        ("no object {draft}", "invalid_json", None),
        ("{draft} {}", "invalid_action", {}),
        ("{} {draft}", "invalid_action", {}),
        ("```json\n{draft}\n```\n{}", "invalid_action", {}),
        ('{draft} {"first": 1} {"second": 2}', "invalid_action", {"first": 1}),
        ('so: {"action_type": "accept"} \n', "invalid_action", {"action_type": "accept"}),
    ],
)
def test_parser_error_carries_text_and_object(text: str, code: str, payload: object) -> None:
    error = failure(text)
    assert (error.code, error.raw_text, error.parsed_payload) == (code, text, payload)
    assert isinstance(error, ReplicaLabError)
    assert isinstance(error, ValueError)
    thawed = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    for twin in (copy.copy(error), thawed):
        assert vars(twin) == vars(error)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("none", "No JSON object found in output"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": 1, "a": 2}', "duplicate key 'a'"),
        (
            '{"a": 1,}',
            "Expecting property name enclosed in double quotes: line 1 column 9 (char 8)",
        ),
        (
            accept_with(sample_size=-1, duration_days="2"),
            "sample_size: Input should be greater than or equal to 0; "
            "duration_days: Input should be a valid integer",
        ),
        # Of a list the first fault alone.
        (
            accept_with(controls=["a", 1, " ", *[1] * 100_000]),
            "controls[1]: Input should be a valid string",
        ),
        (accept_with(note=1), "'note': Extra inputs are not permitted"),
        (accept_with(**{"a\nb": 1}), "'a\\nb': Extra inputs are not permitted"),
        (
            accept_with(sample_size=5),
            "action: accept takes no plan; leave these empty or 0: sample_size",
        ),
    ],
)
def test_parser_message_says(text: str, message: str) -> None:
    error = failure(text)
    assert str(error) == error.message == message


def test_parser_tries_a_hundred_objects_and_no_more() -> None:
    valid = accept_with()
    assert parse_scientist_output("{}" * (MOST_OBJECTS - 1) + valid) == ACCEPT_ACTION
    assert failure("{}" * MOST_OBJECTS + valid).code == "invalid_action"


def test_parser_message_counts_further_problems() -> None:
    extra = {f"note{n}": 1 for n in range(MAX_PROBLEMS + 3)}
    message = failure(accept_with(**extra)).message
    assert message.count("Extra inputs") == MAX_PROBLEMS
    assert message.endswith("; and 3 more")


@pytest.mark.parametrize(
    "value", ["9" * MAX_DIGITS, "9" * (MAX_DIGITS + 1), "-1" + "0" * 5000, "1" * 500_000], ids=len
)
def test_parser_refuses_huge_numbers(value: str) -> None:
    error = failure(PROPOSE.replace('"sample_size":40', f'"sample_size":{value}'))
    assert error.code == "invalid_action"
    assert "sample_size" in error.message
    assert error.parsed_payload is not None
    assert error.parsed_payload["controls"] == json.loads(PROPOSE)["controls"]


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_parser_limit_of_nesting_is_exact(opening: str, closing: str) -> None:
    def nested(depth: int) -> str:
        return '{"a":' + opening * (depth - 1) + "1" + closing * (depth - 1) + "}"

    assert failure(nested(MAX_NESTING)).code == "invalid_action"
    assert failure(nested(MAX_NESTING + 1)).code == "invalid_json"


BIG = 30_000
HOSTILE = {
    "open braces": ("{" * BIG, "invalid_json"),
    "nested objects": ('{"a":' * BIG + "1" + "}" * BIG, "invalid_json"),
    "open lists": ('{"a":' + "[" * BIG, "invalid_json"),
    "empty objects": ("{}" * BIG, "invalid_action"),
    "broken objects": ("{x}" * BIG, "invalid_json"),
    "quotes": ("{" + '"' * BIG, "invalid_json"),
    "escapes": ("{" + '\\"' * BIG, "invalid_json"),
    "open string": ('{"a": "' + "x" * 10 * BIG, "invalid_json"),
    "fences": ("```\n" * BIG, "no_json"),
    "openings of fences": ("a```\n" * BIG, "no_json"),
    "long list": (accept_with(controls=[1] * BIG), "invalid_action"),
    "many keys": (json.dumps({f"k{n}": n for n in range(BIG)}), "invalid_action"),
    "action in a megabyte": (ACCEPT.replace("[]", " " * 10 * BIG + "[]"), "action"),
}


@pytest.mark.parametrize(("text", "code"), HOSTILE.values(), ids=HOSTILE)
def test_parser_survives_long_text(text: str, code: str) -> None:
    assert outcome(text) == code


json_soup = st.lists(
    st.sampled_from(
        [
            *'{}[]",:\\`\n 1eE-+.',
            *("\\u", "\\ud800", "\x00", "\ud800", "NaN", "Infinity", "null", "true", "```json\n"),
            *(f'"{name}":' for name in ScientistAction.model_fields),
            *('"accept"', "[]", '""', "0", ACCEPT, PROPOSE),
        ]
    ),
    max_size=60,
).map("".join)
numbers = st.integers(-(10**9), 10**9) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(st.one_of(st.text(st.characters()), json_soup, json_values.map(json.dumps)))
def test_parser_gives_an_action_or_a_code(text: str) -> None:
    assert outcome(text) in {"action", *CODES}


@given(scientist_actions(), st.sampled_from([None, 2]), st.booleans())
def test_parser_reads_back_any_valid_action(
    action: ScientistAction, indent: Any, plain: bool
) -> None:
    text = json.dumps(action.model_dump(mode="json"), indent=indent, ensure_ascii=plain)
    assert parse_scientist_output(f"[1] {text} Fine?") == action


@given(scientist_actions(), st.data())
def test_parser_never_takes_part_of_an_action(action: ScientistAction, data: st.DataObject) -> None:
    text = action.model_dump_json()
    cut = data.draw(st.integers(1, len(text) - 1))
    assert failure(text[:cut]).code == "invalid_json"


FENCED: Final = f"```json\n{ACCEPT}\n```"


@pytest.mark.parametrize(
    "text",
    [
        f"<think>\nA first idea: {ACCEPT}\nFar too few.\n</think>\n\n{PROPOSE}",
        f"<think>\nDraft:\n{FENCED}\nToo few.\n</think>\n{PROPOSE}",
        f"A first idea: {ACCEPT}\n</think>\n{PROPOSE}",
        f"{FENCED}\n</think>\n```json\n{PROPOSE}\n```",
        f'<think>an open brace {{ and a quote " first</think>{PROPOSE}',
        f"<think>a <think>nested {ACCEPT}</think> thought {ACCEPT}</think>{PROPOSE}",
        f"<think>{ACCEPT}</think>{PROPOSE}<think>{ACCEPT}",
        *(f"{form.replace('…', ACCEPT)}{PROPOSE}" for form in (
            "<thinking>…</thinking>", '<reasoning effort="high">…</reasoning>', "<think>…</think/>",
            "<seed:think>…</seed:think>", "◁think▷…◁/think▷", "&lt;think&gt;…&lt;/think&gt;",
            "[THINK]…[/THINK]", "[REASONING]…[/REASONING]", "<inner_monologue>…</inner_monologue>",
            "<thought_process>…</thought_process>", "<|inner_prefix|>…<|inner_suffix|>",
            "<|begin_of_thought|>…<|end_of_thought|>", "<unused94>thought\n…<unused95>",
            "<|channel>thought\n…<channel|>", "<|think_start|>…<|think_end|>", "…<answer>",
            "<|thinking|>…<|/thinking|>", "<|think|>…<|end|><|begin|>assistant<|content|>",
            "<|im_start|>think\n…\n<|im_start|>answer\n", "Thinking...\n…\n...done thinking.\n\n",
            "Here is my thought process:\n…\nHere is my response:\n", "```thinking\n…\n```\n",
            "~~~thought process\n…\n~~~\n", "<details>\n<summary><b>Think</b></summary>…</details>",
            '<details type="reasoning" done="true"><summary>5 s</summary>\n> …\n</details>\n',
            "<|channel|>analysis<|message|>…<|end|>", "analysisWe could try ….assistantfinal",
            "analysis\n\n…\n\nassistant\nfinal\n\n", "analysis\nwe try … assistantfinal json",
            "<|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>",
        )),
        f"<|START_THINKING|>{ACCEPT}<|END_THINKING|><|START_RESPONSE|>{PROPOSE}<|END_RESPONSE|>",
        f"<|channel|>final <|constrain|>json<|message|>{PROPOSE}<|return|>",
        f"The analysis follows. I think <b>80</b> is right.\n{PROPOSE}",
        f"A plan by [analysis]:\n<details><summary>JSON</summary>\n{PROPOSE}\n</details>",
    ],
)  # fmt: skip
def test_answer_after_the_reasoning_is_played(text: str) -> None:
    assert parse_scientist_output(text) == make_scientist_action()


@pytest.mark.parametrize(
    "text",
    [
        f"<think>{ACCEPT}", f"<think>{FENCED}\n</think>", f"analysisWe could try {ACCEPT}.",
        f"<|channel|>analysis<|message|>{ACCEPT}<|end|>",
        f"<details><summary>Thinking</summary>\n{ACCEPT}",
        f"<|channel|>final<|message|>Yes.<|end|><|channel|>analysis<|message|>{ACCEPT}",
    ],
)  # fmt: skip
def test_reasoning_without_an_answer_is_no_json(text: str) -> None:
    assert (failure(text).code, failure(text).raw_text) == ("no_json", text)


def test_tag_inside_an_answer_is_text() -> None:
    action = make_scientist_action(rationale="</think> is a tag, <think> another")
    assert parse_scientist_output(action.model_dump_json()) == action


Chance = random.Random
Values = dict[str, object]
TEXTS = ("rate", 'a "quoted" {brace}', "two\nlines", "≥ 5 µL [sic]", "C:\\new", *"}{", "` ```")
TAGS: Final = (
    *("think", "thinking", "thought", "reasoning", "analysis", "scratchpad", "seed:think"),
    *("antThinking", "chain-of-thought", "cot", "draft", "deliberation"),
)
PROSE: Final = ("", "Here is my plan.\n", "I think <b>80</b> is it:\n", "“So be it”\n\n", "\ufeff")
KINDS: Final = [*ScientistActionType]


def texts(chance: Chance, fewest: int = 0) -> list[str]:
    return chance.sample(TEXTS, chance.randrange(fewest, 4))


def action(chance: Chance) -> Values:
    kind = chance.choice(KINDS)
    values = {**ACCEPT_ACTION.model_dump(mode="json"), "action_type": str(kind)}
    if kind is ScientistActionType.REQUEST_INFO:
        return {**values, "questions": texts(chance, 1)}
    if kind is ScientistActionType.ACCEPT:
        return values
    names = ("controls", "required_equipment", "required_reagents")
    return {
        **values,
        **{name: texts(chance) for name in names},
        **{name: chance.choice(TEXTS) for name in ("technique", "rationale")},
        "sample_size": chance.randrange(1, 10**6),
        "duration_days": chance.randrange(400),
    }


def written(chance: Chance, values: Values) -> str:
    pairs = chance.sample([*values.items()], len(values))
    is_plain, indent = chance.random() < 0.5, chance.choice((None, 1))
    return json.dumps(dict(pairs), ensure_ascii=is_plain, indent=indent)


def wrong(chance: Chance, values: Values) -> Values:
    """Return values that no action has, in one field."""
    name, number = chance.choice([*values]), chance.choice(("sample_size", "duration_days"))
    return chance.choice(
        (
            {key: value for key, value in values.items() if key != name},
            {**values, f"{name}_2": 1},
            {**values, name: None},
            {**values, name: {"value": values[name]}},
            {**values, number: chance.choice((-1, 2.5, "80", True, 10**400, [80]))},
            {**values, "action_type": chance.choice(("propose", "", "ACCEPT", 1))},
            {**values, "controls": chance.choice(("a, b", [1], [None], {"a": 1}))},
        )
    )


def broken(chance: Chance, text: str) -> str:
    """Return a text of an object that is not JSON."""
    first = text.index('"')
    key = text[first : text.index(":", first)]
    return chance.choice(
        (
            text[: chance.randrange(1, len(text))],
            f"{text.rstrip().removesuffix('}')},}}",
            f"{{{key}: NaN, {text[1:]}",
            f"{{{key}: 1, {text[1:]}",
            f"{{// the plan\n{text[1:]}",
            f"{{'a': 1, {text[1:]}",
        )
    )


def reasoned(chance: Chance, answer: str) -> str:
    """Return an answer after reasoning with drafts."""
    draft, tag = written(chance, action(chance)), chance.choice(TAGS)
    thought = "\n".join(
        chance.choice(
            ("Hm.", draft, f"```json\n{draft}\n```", "an open brace {", 'a quote " and', draft[:40])
        )
        for _ in range(chance.randrange(1, 4))
    )
    return chance.choice(
        (
            f"<{tag}>{thought}</{tag}>\n{answer}",
            f"{thought}\n</{tag}>{answer}",
            f"<{tag}><{tag}>{thought}</{tag}>{draft}</{tag}>\n\n{answer}",
            f"[THINK]{thought}[/THINK]{answer}",
            f"<{tag}>{thought}</{tag}>\n{answer}\n<{tag}>{draft}",
            f"<|channel|>analysis<|message|>{thought}<|end|><|start|>assistant"
            f"<|channel|>final<|message|>{answer}",
        )
    )


def placed(chance: Chance, text: str, decoy: str) -> str:
    """Return an object between prose, or in a fence with another one around it."""
    before, after = chance.choice(PROSE), chance.choice(PROSE)
    fenced = f"{before}{decoy}\n```{chance.choice(('json', 'JSON', ''))}\n{text}\n```\n{decoy}"
    return chance.choice((text, f"{before}{text}\n{after}", fenced))


def case(chance: Chance) -> tuple[str, ScientistAction | ParseErrorCode]:
    """Return an answer, and the action or the error code that it means."""
    values = action(chance)
    text, decoy = written(chance, values), written(chance, action(chance))
    meaning: ScientistAction | ParseErrorCode = ScientistAction.model_validate(values)
    match chance.randrange(6):
        case 0:
            text, meaning = written(chance, wrong(chance, values)), ParseErrorCode.INVALID_ACTION
        case 1:
            text, meaning = broken(chance, text), ParseErrorCode.INVALID_JSON
        case 2:
            text, meaning = chance.choice(("I agree.", "", "```json\n```")), ParseErrorCode.NO_JSON
    answer = placed(chance, text, decoy if isinstance(meaning, ScientistAction) else "")
    return reasoned(chance, answer) if chance.random() < 0.6 else answer, meaning


@pytest.mark.parametrize("numbers", batches(500, quick=200, long=10))
def test_generated_answers_are_read_right(numbers: range) -> None:
    for number in numbers:
        text, meaning = case(random.Random(number))
        try:
            read: ScientistAction | ParseErrorCode = parse_scientist_output(text)
        except ScientistOutputParseError as error:
            read = error.code
        assert read == meaning, (number, text)
