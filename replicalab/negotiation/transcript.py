"""A saved negotiation: its set-up and the moves that no rule makes. Loading replays it."""

from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import FailFast, Field, StringConstraints, ValidationError, model_validator

from replicalab.errors import NegotiationError, ScenarioError, TraceError
from replicalab.limits import LONGEST_LABEL, MOST_OUTPUTS, MOST_ROUNDS
from replicalab.models import NonEmptyText, Passage, Record
from replicalab.negotiation import records
from replicalab.negotiation.rounds import moves_of, play_moves
from replicalab.scenarios import Identifier, Pack
from replicalab.scenarios.reading import FileKind, format_problem, read_json, record_error

FORMAT: Final = 3
FOLDER: Final = Path(__file__).with_name("recordings")
_REMEDY: Final = "load a negotiation that was saved here"

Host = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9.-]+(:[0-9]{1,5})?$|^\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?$"),
]
"""A host and perhaps a port; no scheme, user or path, so that no key fits."""


class ModelSettings(Record):
    """The settings of a language model: never a key, and only the host of the address."""

    model: records.ModelName
    host: Host | None = None
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)]
    max_tokens: Annotated[int, Field(ge=1)]
    max_retries: Annotated[int, Field(ge=0, lt=MOST_OUTPUTS)]


class Recording(Record):
    """A recorded model, with a title and a note for people."""

    key: Identifier
    title: Annotated[NonEmptyText, Field(max_length=LONGEST_LABEL)]
    made: Literal["recorded", "written by hand"] = "recorded"
    note: Passage = ""
    settings: ModelSettings


class Transcript(Record):
    """A negotiation as a file: set-up, moves, and the recorded model, if any."""

    format: Literal[3]
    setup: records.Setup
    recording: Recording | None = None
    moves: Annotated[tuple[records.Move, ...], Field(max_length=MOST_ROUNDS), FailFast()] = ()

    @model_validator(mode="after")
    def _has_a_model(self) -> Self:
        by_model = any(move.outputs or move.by is records.TurnAuthor.MODEL for move in self.moves)
        if (self.recording or by_model) and self.setup.scientist is not records.ScientistKind.MODEL:
            problem = f"setup.scientist is {self.setup.scientist}"
            raise ValueError(f"{problem}; leave the recording and the model's moves out")
        return self


def save(negotiation: records.Negotiation, recording: Recording | None = None) -> str:
    """Return a negotiation, finished or not, as JSON text."""
    moves = moves_of(negotiation)
    if recording and not any(move.by is records.TurnAuthor.MODEL for move in moves):
        raise TraceError("this negotiation has no turn of a model; let one play first")
    setup = negotiation.setup
    transcript = Transcript(format=FORMAT, setup=setup, recording=recording, moves=moves)
    return transcript.model_dump_json(indent=1, exclude_defaults=True)


def load(text: str | bytes) -> Transcript:
    """Return the transcript that `save` wrote; raises TraceError with the first fault."""
    try:
        values = read_json(text, "the file", FileKind.RUN, _REMEDY)
        number = values.get("format", 1) if "setup" in values else FORMAT
        if problem := format_problem(number, FORMAT):
            raise TraceError(problem)
        return Transcript.model_validate(values)
    except ScenarioError as error:
        raise TraceError(str(error.faults[0])) from error
    except ValidationError as error:
        raise TraceError(str(record_error(error, Transcript, "").faults[0])) from error


def replay(transcript: Transcript, pack: Pack) -> records.Negotiation:
    """Return the negotiation of a transcript, played again; raises TraceError."""
    setup = transcript.setup
    expected, here = (f"{at.scenario_id}, {at.difficulty}, seed {at.seed}" for at in (setup, pack))
    if expected != here:
        problem = f"it is about {expected}, not about {here}"
        raise TraceError(f"{problem}; open that study in the same lab")
    if (setup.own_lab, setup.question) != (pack.own_lab, pack.question):
        raise TraceError("it has other values of Your lab or the question; open it with its own")
    try:
        return play_moves(setup, transcript.moves, pack)
    except NegotiationError as error:
        raise TraceError(f"this negotiation cannot be replayed in this version: {error}") from error


def shipped_recordings() -> tuple[Transcript, ...]:
    """Return the recordings of the application, by file name."""
    return tuple(load(file.read_bytes()) for file in sorted(FOLDER.glob("*.json")))
