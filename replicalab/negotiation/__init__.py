"""The negotiation: its rounds, its outcome, and the trace that is kept of it."""

from replicalab.negotiation.records import (
    Ending,
    LabManagerKind,
    Outcome,
    Round,
    ScientistKind,
    Setup,
    State,
    Trace,
)
from replicalab.negotiation.rounds import (
    choose_action,
    negotiate,
    observe,
    scenario_digest,
    setup_for,
    start,
    step,
)
from replicalab.negotiation.traces import (
    Difference,
    fork,
    load_trace,
    replay_differences,
    save_trace,
    state_before,
)

__all__ = [
    "Difference",
    "Ending",
    "LabManagerKind",
    "Outcome",
    "Round",
    "ScientistKind",
    "Setup",
    "State",
    "Trace",
    "choose_action",
    "fork",
    "load_trace",
    "negotiate",
    "observe",
    "replay_differences",
    "save_trace",
    "scenario_digest",
    "setup_for",
    "start",
    "state_before",
    "step",
]
