"""Model text in, one validated `ScientistAction` or one of three error codes out.

Every character is read a fixed number of times. Source: docs/methods.md, Scientist.
"""

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from enum import StrEnum
from itertools import accumulate, chain, islice
from typing import Final, NoReturn, TypeAlias

from pydantic import ValidationError

from replicalab.errors import ReplicaLabError
from replicalab.limits import LONGEST_QUOTED, MAX_DIGITS, MAX_NESTING, MAX_PROBLEMS, MOST_OBJECTS
from replicalab.models import ScientistAction

Payload: TypeAlias = dict[str, object]
_FENCE: Final = "```"
_MARK: Final = re.compile(r'\\.|[{}\[\]"]', re.DOTALL)
_OPEN_OR_CLOSE: Final = {"{": 1, "[": 1, "]": -1, "}": -1}
_THOUGHT: Final = (
    r"(?:think|thought|reason|rationale|analysis|reflect|deliberat|contemplat|brainstorm|scratch"
    r"|monologue|planning|\bdraft\b|\bcot\b)"
)
_REASONING: Final = rf"[\w:.-]{{0,20}}{_THOUGHT}[\w:.-]{{0,20}}"
_REASONING_TAG: Final = re.compile(
    rf"(?:[<◁]|&lt;)\|?\s?(?P<end>/\s?|(?=[\w:.-]*(?<![a-z])end(?![a-z])))?{_REASONING}"
    r"(?:\s[^<>▷\n]{0,80}?)?(?(end)/?)\|?(?:[>▷]|&gt;)"
    # In brackets, where small letters may be prose; in the words of some models.
    rf"|\[(?:(?P<end_2>/){_REASONING}|think(?:ing)?"
    r"|(?-i:[A-Z_]{0,20}(?:REASON|THOUGHT|ANALYSIS)[A-Z_]{0,20}))\]"
    r"|<\|channel>thought|<unused94>|<\|inner_prefix\|>|<\|im_start\|>think"
    r"|here(?: i|['’])s my thought process:"
    r"|(?P<end_3><channel\|>|<unused95>|<\|inner_suffix\|>|<\|im_start\|>answer"
    r"|here(?: i|['’])s my response:|\.\.\.done thinking\.)",
    re.IGNORECASE,
)
# Channels of the Harmony format, with its tokens or, as some servers answer, without them.
_FINAL_CHANNEL: Final = re.compile(
    r"<\|channel\|>\s*final\b[^{]{0,80}?<\|message\|>|assistant\s{0,3}final"
)
_ANSWER_TAG: Final = re.compile(r"<(?:final_?)?answer>", re.IGNORECASE)
_REASONING_BLOCK: Final = re.compile(
    r"^[ \t]{0,8}(?P<fence>```|~~~)(?i:think|thought|reason)[\w ]{0,9}\s*?$"
    r".*?(?:^[ \t]{0,8}(?P=fence)\s*?$|\Z)"
    rf"|(?i:(?:<|&lt;)details\b[^<]{{0,99}}(?:<\w{{1,9}}>[^<]{{0,99}}){{0,3}}{_THOUGHT}"
    r".*?(?:(?:<|&lt;)/details|\Z))"
    r"|<\|think\|>(?:(?!<\|).)*<\|end\|>"
    r"|(?:<\|channel\|>(?!\s*final\b)|\A\s*analysis(?=[A-Z\n]))"
    r".*?(?:<\|(?:end|return|call)\|>|(?=<\|channel\|>|assistant\s{0,3}final)|\Z)",
    re.MULTILINE | re.DOTALL,
)


class ParseErrorCode(StrEnum):
    """The fault of a model's text."""

    NO_JSON = "no_json"
    INVALID_JSON = "invalid_json"
    INVALID_ACTION = "invalid_action"


class ScientistOutputParseError(ReplicaLabError, ValueError):
    """Model text without one valid action; ``parsed_payload`` is an object that decoded."""

    def __init__(
        self,
        code: ParseErrorCode,
        message: str,
        raw_text: str,
        parsed_payload: Payload | None = None,
    ) -> None:
        # All four go to the base class so that a copy or a pickle is rebuilt from them.
        super().__init__(code, message, raw_text, parsed_payload)
        self.code = code
        self.message = message
        self.raw_text = raw_text
        self.parsed_payload = parsed_payload

    def __str__(self) -> str:
        return self.message


def parse_scientist_output(raw_text: str) -> ScientistAction:
    """Return the first JSON object in ``raw_text`` that is a valid action.

    Fenced blocks are read before the whole text. Text that failed to decode is never searched for a
    smaller object, so half an answer cannot pass for a whole one.

    Raises:
        ScientistOutputParseError: of several failures the first object that decoded, if any.
    """
    failure: ScientistOutputParseError | None = None
    tried, text = 0, without_reasoning(raw_text)
    for span in chain.from_iterable(map(_balanced_spans, chain(_fenced_blocks(text), [text]))):
        try:
            payload = _decode(span)
        except ValueError as error:
            invalid = ScientistOutputParseError(ParseErrorCode.INVALID_JSON, str(error), raw_text)
            failure = failure or invalid
            continue
        try:
            return ScientistAction.model_validate(payload)
        except ValidationError as error:
            if failure is None or failure.code is not ParseErrorCode.INVALID_ACTION:
                code, why = ParseErrorCode.INVALID_ACTION, _problems(error)
                failure = ScientistOutputParseError(code, why, raw_text, payload)
            tried += 1
            if tried == MOST_OBJECTS:
                break
    nothing = "No JSON object found in output"
    raise failure or ScientistOutputParseError(ParseErrorCode.NO_JSON, nothing, raw_text)


def without_reasoning(text: str) -> str:
    """Return a model's answer without its reasoning, which may hold drafts.

    Left out is the text between tags such as ``<think>``, of which one may lack its partner, and
    the text before an ``<answer>``; of several channels the last final one is returned. One JSON
    object is returned as it is.
    """
    if _is_object(text.strip()):
        return text
    text = _FINAL_CHANNEL.split(_REASONING_BLOCK.sub("", text))[-1]
    parts: list[str] = []
    start = depth = 0
    for tag in _REASONING_TAG.finditer(text):
        if tag.lastgroup:
            if depth == 0:
                parts.clear()
            depth, start = max(0, depth - 1), tag.end()
        else:
            if depth == 0:
                parts.append(text[start : tag.start()])
            depth += 1
    kept = parts if depth else [*parts, text[start:]]
    return _ANSWER_TAG.split("".join(kept))[-1]


def _is_object(text: str) -> bool:
    try:
        return text.startswith("{") and bool(_decode(text))
    except ValueError:
        return False


def _fenced_blocks(text: str) -> Iterator[str]:
    # A fence opens at the end of a line and closes at the start of one, so neither can be part of a
    # JSON string. A last block may lack its closing fence.
    block: list[str] | None = None
    for line in text.split("\n"):
        if block is None:
            _, *languages = line.split(_FENCE)
            if len(languages) == 1 and (languages[0].strip() or "json").isalnum():
                block = []
        elif line.lstrip().startswith(_FENCE):
            yield "\n".join(block)
            block = None
        else:
            block.append(line)
    if block:
        yield "\n".join(block)


def _balanced_spans(text: str) -> Iterator[str]:
    # From each brace to its partner, left to right; an open rest is last.
    start = text.find("{")
    while start >= 0:
        end, depth = len(text), 0
        for mark in _structure(text, start):
            depth += {"{": 1, "}": -1}.get(mark.group(), 0)
            if depth == 0:
                end = mark.end()
                break
        yield text[start:end]
        start = text.find("{", end)


def _structure(text: str, start: int = 0) -> Iterator[re.Match[str]]:
    in_string = False
    for mark in _MARK.finditer(text, start):
        if mark.group() == '"':
            in_string = not in_string
        elif not in_string and mark.group() in _OPEN_OR_CLOSE:
            yield mark


def _decode(span: str) -> Payload:
    steps = (_OPEN_OR_CLOSE[mark.group()] for mark in _structure(span))
    if max(accumulate(steps)) > MAX_NESTING:  # a span opens at least its own brace
        raise ValueError(f"nested more than {MAX_NESTING} deep")
    payload: Payload = _DECODER.decode(span)
    return payload


def _unique(pairs: list[tuple[str, object]]) -> Payload:
    record: Payload = {}
    for key, value in pairs:
        if key in record:
            raise ValueError(f"duplicate key {_name(key)}")
        record[key] = value
    return record


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_int=lambda digits: Decimal(digits) if len(digits) > MAX_DIGITS else int(digits),
    parse_constant=_no_constant,
)


def _problems(error: ValidationError) -> str:
    records = error.errors(include_url=False, include_input=False)
    parts = ((_place(r["loc"]), r["msg"].removeprefix("Value error, ")) for r in records)
    texts = [f"{place}: {message}" for place, message in islice(parts, MAX_PROBLEMS)]
    if len(records) > MAX_PROBLEMS:
        texts.append(f"and {len(records) - MAX_PROBLEMS} more")
    return "; ".join(texts)


def _place(location: tuple[int | str, ...]) -> str:
    text = ""
    for part in location:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += part if part in ScientistAction.model_fields else _name(part)
    return text or "action"


def _name(key: str) -> str:
    return repr(key if len(key) <= LONGEST_QUOTED else f"{key[:LONGEST_QUOTED]}…")
