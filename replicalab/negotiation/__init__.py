"""The negotiation: its players, its rounds, its outcome, and the transcript that is kept of it."""

from replicalab.negotiation.asking import (
    MAX_RETRIES,
    Clock,
    ModelAnswer,
    Recorder,
    ask_model,
    observe,
    readable,
    reword,
)
from replicalab.negotiation.players import (
    best_options,
    best_text,
    is_worth_running,
    put_forward,
    question,
)
from replicalab.negotiation.records import (
    AUTOMATIC,
    MOST_ROUNDS,
    Attempt,
    Ending,
    LabManagerKind,
    Move,
    Negotiation,
    Outcome,
    Output,
    Round,
    ScientistKind,
    Setup,
    State,
    Turn,
    TurnAuthor,
)
from replicalab.negotiation.rounds import course, fork, moves_of, negotiate, play, play_moves
from replicalab.negotiation.score import (
    Concession,
    Score,
    concession_steps,
    ledger,
    score,
    score_of,
)
from replicalab.negotiation.transcript import (
    MOST_BYTES,
    ModelSettings,
    Recording,
    Transcript,
    load,
    replay,
    save,
    shipped_recordings,
)
