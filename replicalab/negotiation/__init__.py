"""The negotiation: players, rounds, outcome, score and transcript."""

from replicalab.negotiation.players import (
    MAX_RETRIES,
    ModelAnswer,
    ask_model,
    best_options,
    best_text,
    is_worth_running,
    observe,
    put_forward,
    question,
    readable,
)
from replicalab.negotiation.records import (
    AUTOMATIC,
    RULED_LAB_MANAGERS,
    Attempt,
    Ending,
    LabManagerKind,
    Move,
    Negotiation,
    Outcome,
    Output,
    Reply,
    Round,
    ScientistKind,
    Setup,
    State,
    Turn,
    TurnAuthor,
)
from replicalab.negotiation.rounds import (
    course,
    fork,
    moves_of,
    negotiate,
    play,
    play_moves,
    play_on,
    reply_to,
)
from replicalab.negotiation.score import (
    Concession,
    Score,
    concession_steps,
    ledger,
    score,
    score_of,
)
from replicalab.negotiation.transcript import (
    ModelSettings,
    Recording,
    Transcript,
    load,
    replay,
    save,
    shipped_recordings,
)
