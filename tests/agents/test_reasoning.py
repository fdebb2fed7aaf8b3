"""A draft inside a model's reasoning is never taken for its answer."""

import json

import pytest

from replicalab.agents import parsing

ACTION = {
    "action_type": "propose_protocol",
    "sample_size": 80,
    "controls": ["naming colour squares"],
    "technique": "colour naming",
    "duration_days": 1,
    "required_equipment": [],
    "required_reagents": [],
    "questions": [],
    "rationale": "enough",
}
ANSWER = json.dumps(ACTION)
DRAFT = json.dumps({**ACTION, "sample_size": 4})
FENCED = f"```json\n{DRAFT}\n```"


@pytest.mark.parametrize(
    "text",
    [
        f"<think>\nA first idea: {DRAFT}\nFar too few.\n</think>\n\n{ANSWER}",
        f"<think>\nDraft:\n{FENCED}\nToo few.\n</think>\n{ANSWER}",
        f"A first idea: {DRAFT}\n</think>\n{ANSWER}",
        f"{FENCED}\n</think>\n```json\n{ANSWER}\n```",
        f'<think>an open brace {{ and a quote " first</think>{ANSWER}',
        f"<think>a <think>nested {DRAFT}</think> thought {DRAFT}</think>{ANSWER}",
        f"<think>{DRAFT}</think>{ANSWER}<think>{DRAFT}",
        f"<thinking>{DRAFT}</thinking>{ANSWER}",
        f'<reasoning effort="high">{DRAFT}</reasoning>{ANSWER}',
        f"<seed:think>{DRAFT}</seed:think>{ANSWER}",
        f"◁think▷{DRAFT}◁/think▷{ANSWER}",
        f"[THINK]{DRAFT}[/THINK]{ANSWER}",
        f"<inner_monologue>{DRAFT}</inner_monologue>{ANSWER}",
        f"<thought_process>{DRAFT}</thought_process>{ANSWER}",
        f"<|START_THINKING|>{DRAFT}<|END_THINKING|><|START_RESPONSE|>{ANSWER}<|END_RESPONSE|>",
        f"<|begin_of_thought|>{DRAFT}<|end_of_thought|>{ANSWER}",
        f"<unused94>thought\n{DRAFT}<unused95>{ANSWER}",
        f"<|channel|>analysis<|message|>{DRAFT}<|end|><|start|>assistant"
        f"<|channel|>final<|message|>{ANSWER}<|return|>",
        f"analysisWe could try {DRAFT}.assistantfinal{ANSWER}",
    ],
)
def test_answer_after_the_reasoning_is_played(text: str) -> None:
    assert parsing.parse_scientist_output(text).sample_size == 80


@pytest.mark.parametrize(
    "text",
    [
        f"<think>{DRAFT}",
        f"<think>{FENCED}\n</think>",
        f"<|channel|>analysis<|message|>{DRAFT}<|end|>",
        f"analysisWe could try {DRAFT}.",
    ],
)
def test_reasoning_without_an_answer_is_no_json(text: str) -> None:
    with pytest.raises(parsing.ScientistOutputParseError) as caught:
        parsing.parse_scientist_output(text)
    assert caught.value.code is parsing.ParseErrorCode.NO_JSON
    assert caught.value.raw_text == text


def test_tag_inside_an_answer_is_text() -> None:
    answer = json.dumps({**ACTION, "rationale": "</think> is a tag, <think> another"})
    assert parsing.parse_scientist_output(answer).rationale.startswith("</think>")


def test_text_without_reasoning_is_unchanged() -> None:
    text = f"The analysis follows. I think <b>80</b> is right.\n{ANSWER}"
    assert parsing.without_reasoning(text) == text
