"""The negotiation: its players, its rounds, its outcome, and the transcript that is kept of it."""

from replicalab.negotiation.asking import (
    Clock,
    ModelAnswer,
    Recorder,
    Tape,
    ask_model,
    observe,
)
from replicalab.negotiation.attempts import Attempt, Output, readable
from replicalab.negotiation.games import begin, fork, negotiate, play, setup_for
from replicalab.negotiation.judge import Judgement, judge
from replicalab.negotiation.ledger import Gift, ledger
from replicalab.negotiation.loading import MOST_BYTES, load, shipped_recordings
from replicalab.negotiation.prospects import Prospect, prospect
from replicalab.negotiation.records import (
    AUTOMATIC,
    MOST_ROUNDS,
    By,
    Ending,
    LabManagerKind,
    Negotiation,
    Outcome,
    Round,
    ScientistKind,
    Setup,
    State,
    Turn,
)
from replicalab.negotiation.replaying import Difference, Replay, replay
from replicalab.negotiation.rewording import reword
from replicalab.negotiation.step import step
from replicalab.negotiation.transcript import Made, ModelSettings, Recording, Transcript, save

__all__ = [
    "AUTOMATIC",
    "MOST_BYTES",
    "MOST_ROUNDS",
    "Attempt",
    "By",
    "Clock",
    "Difference",
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
    "Prospect",
    "Recorder",
    "Recording",
    "Replay",
    "Round",
    "ScientistKind",
    "Setup",
    "State",
    "Tape",
    "Transcript",
    "Turn",
    "ask_model",
    "begin",
    "fork",
    "judge",
    "ledger",
    "load",
    "negotiate",
    "observe",
    "play",
    "prospect",
    "readable",
    "replay",
    "reword",
    "save",
    "setup_for",
    "shipped_recordings",
    "step",
]
