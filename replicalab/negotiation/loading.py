"""What was saved, read back: one way for every file, which trusts nothing in it.

Earlier versions saved traces and cassettes, both of format 1. Only the decisions and numbers of
such a file are read, as a transcript's; its prose is made anew by every replay.
"""

from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import AliasPath, BaseModel, FailFast, Field, ValidationError
from pydantic_core import from_json

from replicalab.agents.parsing import ScientistOutputParseError, parse_scientist_output
from replicalab.characters import on_one_line
from replicalab.errors import NegotiationError, TraceError
from replicalab.lexicon import amount_text
from replicalab.models import DIMENSIONS, ScientistActionType
from replicalab.negotiation.asking import readable
from replicalab.negotiation.players import put_forward
from replicalab.negotiation.records import (
    AUTOMATIC,
    MOST_OUTPUTS,
    MOST_ROUNDS,
    Ending,
    Outcome,
    Output,
    Setup,
    State,
    TurnAuthor,
    prompt_digest,
)
from replicalab.negotiation.rounds import BY_HAND, FOR_THE_MODEL
from replicalab.negotiation.transcript import FORMAT, Recording, Transcript
from replicalab.scenarios.json_file import too_many
from replicalab.scenarios.reading import dotted

MOST_BYTES: Final = 5 * 2**20
"""The largest file that is read, 5 MiB: fifty rounds with three attempts of a model each fit."""
FOLDER: Final = Path(__file__).with_name("recordings")

_REMEDY: Final = "load a file that was saved here and not edited since"

Data = dict[str, Any]


def load(text: str) -> Transcript:
    """Return the transcript that was saved, by this version or an earlier one.

    Raises:
        TraceError: the text is no saved negotiation, or too long for one, or lists more than a
            plan can need; the message names the first place at fault.
    """
    size = len(text) if len(text) > MOST_BYTES else len(text.encode("utf-8", "surrogatepass"))
    if size > MOST_BYTES:
        raise TraceError(
            f"the file: {amount_text(size)} bytes, and {amount_text(MOST_BYTES)} are read at most; "
            f"{_REMEDY}"
        )
    if more := too_many(text):
        raise TraceError(f"the file: it holds {more}; {_REMEDY}")
    try:
        data = from_json(readable(text))
    except ValueError as error:
        raise TraceError(f"the file: Invalid JSON: {error}; {_REMEDY}") from error
    if not isinstance(data, dict):
        raise TraceError(f"the file: it holds no JSON object; {_REMEDY}")
    earlier = data.get("format", 1) == 1
    try:
        if earlier:
            data = _of_cassette(data) if "turns" in data else _of_trace(data)
        transcript = Transcript.model_validate(data)
    except ValidationError as error:
        raise TraceError(f"{_first_fault(error)}; {_REMEDY}") from error
    except NegotiationError as error:
        raise TraceError(f"setup.opening: {error}") from error
    if transcript.start is None and not earlier:
        raise TraceError(f"start: it is missing; {_REMEDY}")
    return transcript


def _first_fault(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    why = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return f"the file: {why}"
    shown = f" is {first['input']!r}" if isinstance(first["input"], int | float) else ""
    return f"{on_one_line(dotted(first['loc']))}{shown}: {why}"


def shipped_recordings() -> tuple[Transcript, ...]:
    """Return the recordings that come with the application, by file name.

    Raises:
        TraceError: one of them cannot be read; the message names the file.
    """
    found = []
    for file in sorted(FOLDER.glob("*.json")):
        try:
            found.append(load(file.read_text(encoding="utf-8")))
        except (TraceError, OSError, UnicodeDecodeError) as error:
            said = error.strerror if isinstance(error, OSError) else error
            raise TraceError(f"{file.name}: {said}") from error
    return tuple(found)


# --- traces ---------------------------------------------------------------------------------


class _Attempt(BaseModel):
    """One attempt of a model."""

    system_prompt: str
    observation: str
    text: str | None = Field(validation_alias="raw_output")
    failure: str | None
    usage: Data


class _Round(BaseModel):
    """One round; what else stood in it is passed over."""

    number: int
    action: Data | None = Field(validation_alias="scientist_action")
    plan: Data | None
    checked: Data | None = Field(validation_alias="check")
    answer: object = Field(None, validation_alias=AliasPath("lab_manager_action", "action_type"))
    offer: object = Field(None, validation_alias=AliasPath("suggestion", "revised_protocol"))
    reason: str = ""
    attempts: Annotated[list[_Attempt], Field(max_length=MOST_OUTPUTS), FailFast()] = []


class _Trace(BaseModel):
    """A whole negotiation."""

    setup: Setup
    rounds: Annotated[list[_Round], Field(max_length=MOST_ROUNDS), FailFast()]
    ending: Ending | None
    outcome: Outcome | None


def _of_trace(data: Data) -> Data:
    trace = _Trace.model_validate(data)
    for place, done in enumerate(trace.rounds):
        if done.number != place:
            raise TraceError(
                f"rounds[{place}].number is {done.number}; number the rounds from 0 on"
            )
    turns = [_of_round(done, trace.setup) for done in trace.rounds]
    ended = {"ending": trace.ending, "outcome": trace.outcome}
    return {"format": FORMAT, "setup": trace.setup, "turns": turns, **ended}


def _of_round(done: _Round, setup: Setup) -> Data:
    """Return a turn with the facts that its round states; an offer only answers a plan."""
    check, first = done.checked or {}, done.attempts[0] if done.attempts else None
    asks = done.action is None or done.action.get("action_type") == ScientistActionType.REQUEST_INFO
    oks = {
        d: found["ok"] for d, found in check.items() if isinstance(found, dict) and "ok" in found
    }
    return {
        "action": done.action,
        "by": _chosen_by(done, setup),
        "outputs": [
            {"text": each.text, "failure": each.failure, **each.usage} for each in done.attempts
        ],
        "facts": {
            "plan": done.plan,
            "failing": [d for d in DIMENSIONS if check and oks.get(d) is not True],
            "cost": check.get("estimated_cost"),
            "staff": check.get("required_staff"),
            "answer": done.answer,
            "offer": None if asks else done.offer,
        },
        "told": prompt_digest(first.system_prompt, first.observation) if first else None,
    }


def _chosen_by(done: _Round, setup: Setup) -> TurnAuthor:
    """Return who chose a turn, by what its round says of it."""
    if done.reason == BY_HAND:
        return TurnAuthor.FORK
    if (setup.opening is not None and done.number == 0) or setup.scientist in AUTOMATIC:
        return TurnAuthor.RULE
    # A person gave no reason but when acting for a model.
    spoke = done.attempts or done.reason
    return TurnAuthor.MODEL if spoke and done.reason != FOR_THE_MODEL else TurnAuthor.PERSON


# --- cassettes ------------------------------------------------------------------------------


class _Cassette(BaseModel):
    """A recorded model: what it said in each of its turns, and digests of its prompts."""

    setup: Setup
    turns: Annotated[
        list[Annotated[list[Output], Field(min_length=1, max_length=MOST_OUTPUTS), FailFast()]],
        Field(min_length=1, max_length=MOST_ROUNDS),
        FailFast(),
    ]
    prompts: Annotated[list[str] | None, FailFast()] = None


def _of_cassette(data: Data) -> Data:
    cassette = _Cassette.model_validate(data)
    setup = cassette.setup
    prompts = cassette.prompts or (None,) * len(cassette.turns)
    if len(prompts) != len(cassette.turns):
        raise TraceError(
            f"prompts has {len(prompts)} entries for {len(cassette.turns)} turns; give one for each"
        )
    turns: list[Data] = []
    if setup.opening is not None:
        action = put_forward(State(0, setup.max_rounds), setup.opening)
        turns.append({"action": action, "by": TurnAuthor.RULE})
    for number, outputs in enumerate(cassette.turns):
        try:
            action = parse_scientist_output(outputs[-1].text or "")
        except ScientistOutputParseError as error:
            raise TraceError(f"turns[{number}]: {error}; end each turn with an action") from error
        turn = {
            "action": action,
            "by": TurnAuthor.MODEL,
            "outputs": outputs,
            "told": prompts[number],
        }
        turns.append(turn)
    recording = {name: data[name] for name in Recording.model_fields if name in data}
    return {"format": FORMAT, "setup": setup, "recording": recording, "turns": turns}
