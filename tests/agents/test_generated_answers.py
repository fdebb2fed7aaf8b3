"""Generated answers of models: the action that was written, or its one error code."""

import json
import random
from typing import Final

import pytest

from replicalab.agents.parsing import (
    ParseErrorCode,
    ScientistOutputParseError,
    parse_scientist_output,
)
from replicalab.models import ACCEPT_ACTION, ScientistAction, ScientistActionType
from tests.tiers import batches

Chance = random.Random
Values = dict[str, object]
TEXTS: Final = (
    "rate",
    'a "quoted" {brace}',
    "two\nlines",
    "≥ 5 µL [sic]",
    "C:\\new",
    *"}{",
    "` ```",
)
TAGS: Final = ("think", "thinking", "thought", "reasoning", "analysis", "scratchpad", "seed:think")
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


@pytest.mark.parametrize("numbers", batches(500, quick=200, long=20))
def test_generated_answers_are_read_right(numbers: range) -> None:
    for number in numbers:
        text, meaning = case(random.Random(number))
        try:
            read: ScientistAction | ParseErrorCode = parse_scientist_output(text)
        except ScientistOutputParseError as error:
            read = error.code
        assert read == meaning, (number, text)
