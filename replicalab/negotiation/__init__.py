"""The negotiation: its players, its rounds, its outcome, and the transcript that is kept of it."""

from replicalab.negotiation.asking import (
    MAX_RETRIES,
    Clock,
    ModelAnswer,
    Recorder,
    ask_model,
    observe,
    readable,
)
from replicalab.negotiation.judge import Judgement, judge
from replicalab.negotiation.ledger import Gift, ledger
from replicalab.negotiation.loading import MOST_BYTES, load, shipped_recordings
from replicalab.negotiation.players import best_options, best_text, put_forward, question
from replicalab.negotiation.records import (
    AUTOMATIC,
    MOST_ROUNDS,
    Attempt,
    By,
    Ending,
    LabManagerKind,
    Negotiation,
    Outcome,
    Output,
    Round,
    ScientistKind,
    Setup,
    State,
    Turn,
)
from replicalab.negotiation.replaying import Replay, replay
from replicalab.negotiation.rewording import reword
from replicalab.negotiation.rounds import begin, fork, negotiate, play, setup_for
from replicalab.negotiation.transcript import Made, ModelSettings, Recording, Transcript, save

__all__ = [
    "AUTOMATIC",
    "MAX_RETRIES",
    "MOST_BYTES",
    "MOST_ROUNDS",
    "Attempt",
    "By",
    "Clock",
    "Ending",
    "Gift",
    "Judgement",
    "LabManagerKind",
    "Made",
    "ModelAnswer",
    "ModelSettings",
    "Negotiation",
    "Outcome",
    "Output",
    "Recorder",
    "Recording",
    "Replay",
    "Round",
    "ScientistKind",
    "Setup",
    "State",
    "Transcript",
    "Turn",
    "ask_model",
    "begin",
    "best_options",
    "best_text",
    "fork",
    "judge",
    "ledger",
    "load",
    "negotiate",
    "observe",
    "play",
    "put_forward",
    "question",
    "readable",
    "replay",
    "reword",
    "save",
    "setup_for",
    "shipped_recordings",
]
