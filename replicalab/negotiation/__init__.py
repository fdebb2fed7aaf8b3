"""The negotiation: its players, its rounds, its outcome, and the trace that is kept of it."""

from replicalab.negotiation.games import begin, negotiate, play_action, play_turn, state_of
from replicalab.negotiation.judging import Judgement, judge
from replicalab.negotiation.ledger import Gift, ledger
from replicalab.negotiation.model_player import ModelAnswer, ask_model
from replicalab.negotiation.players import choose_turn
from replicalab.negotiation.recorded import Output, generate_from
from replicalab.negotiation.recording import Attempt, Recorder, attempts
from replicalab.negotiation.records import (
    AUTOMATIC,
    Ending,
    LabManagerKind,
    Outcome,
    Round,
    ScientistKind,
    Setup,
    State,
    Trace,
    Turn,
)
from replicalab.negotiation.rewording import reword, rewording
from replicalab.negotiation.rounds import observe, scenario_digest, setup_for, start, step
from replicalab.negotiation.traces import (
    Difference,
    fork,
    load_trace,
    replay_differences,
    save_trace,
    state_before,
)

__all__ = [
    "AUTOMATIC",
    "Attempt",
    "Difference",
    "Ending",
    "Gift",
    "Judgement",
    "LabManagerKind",
    "ModelAnswer",
    "Outcome",
    "Output",
    "Recorder",
    "Round",
    "ScientistKind",
    "Setup",
    "State",
    "Trace",
    "Turn",
    "ask_model",
    "attempts",
    "begin",
    "choose_turn",
    "fork",
    "generate_from",
    "judge",
    "ledger",
    "load_trace",
    "negotiate",
    "observe",
    "play_action",
    "play_turn",
    "replay_differences",
    "reword",
    "rewording",
    "save_trace",
    "scenario_digest",
    "setup_for",
    "start",
    "state_before",
    "state_of",
    "step",
]
