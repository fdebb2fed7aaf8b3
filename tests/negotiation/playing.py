"""Hand-made turns, and labs that answer them in each of the four ways."""

from __future__ import annotations

from typing import Final

from replicalab.models import (
    ACCEPT_ACTION,
    Protocol,
    ScientistAction,
    ScientistActionType,
    plan_action,
)
from replicalab.negotiation import Outcome, Round, State, step
from replicalab.negotiation.rounds import outcome_of
from replicalab.scenarios import Pack
from tests.factories import (
    EQUIPMENT,
    make_hidden_reference,
    make_pack,
    make_protocol,
    make_scientist_action,
)

CHAMBER, METER = EQUIPMENT
PLAN: Final = make_protocol()
"""Costs 40 × 10 + 5 × 50 + 2 × 25 + 2 × 100 + 2 × 75 = 1050 credits and needs 2 people."""
FLAMING: Final = make_protocol(rationale="An open flame, with a dark control and blinded counting.")
"""Breaks the lab's one restriction and nothing else."""
SMALL: Final = make_protocol(sample_size=10)
"""Five seed trays a group at d = 0.9: power near 0.2, and the floor is 0.50."""
SHORT: Final = make_protocol(duration_days=2)
"""A day less than the study's endpoint needs: no evidence at all."""

OPEN: Final = make_pack()
"""Accepts `PLAN`."""
BOOKED: Final = make_pack(booked={CHAMBER: 10})
"""Offers the window shelf for the chamber in `PLAN`."""
STUCK: Final = make_pack(booked={CHAMBER: 10}, allowed_substitutions=[])
"""Rejects `PLAN`: the chamber is booked and nothing may replace it."""
OFFER: Final = make_protocol(required_equipment=["window shelf", METER])
"""What `BOOKED` offers instead of `PLAN`."""
FLAMING_ON_THE_SHELF: Final = make_protocol(
    required_equipment=OFFER.required_equipment, rationale=FLAMING.rationale
)
"""What `BOOKED` offers instead of `FLAMING`."""

CANARIES: Final = {
    "summary": "canary-one",
    "required_elements": ["canary-two"],
    "flexible_elements": ["canary-three"],
    "target_metric": "canary-four",
    "target_value": "canary-five",
}
CANARY_PACK: Final = make_pack(
    booked={CHAMBER: 10}, hidden_reference_spec=make_hidden_reference(**CANARIES)
)
"""`BOOKED` with a hidden reference whose every text would be noticed."""

ACCEPT: Final = ACCEPT_ACTION


def propose(plan: Protocol) -> ScientistAction:
    return plan_action(ScientistActionType.PROPOSE_PROTOCOL, plan)


def revise_to(plan: Protocol) -> ScientistAction:
    return plan_action(ScientistActionType.REVISE_PROTOCOL, plan)


def ask(*questions: str) -> ScientistAction:
    empty = {name: value for name, value in ACCEPT.model_dump().items() if name != "action_type"}
    return make_scientist_action(
        **{**empty, "action_type": "request_info", "questions": list(questions)}
    )


def play(
    scenario: Pack, *actions: ScientistAction | None, max_rounds: int = 5
) -> tuple[State, list[Round]]:
    """Return where these turns lead, and their rounds."""
    state = State(round_number=0, max_rounds=max_rounds, history=[])
    rounds = []
    for action in actions:
        state, done = step(state, action, scenario)
        rounds.append(done)
    return state, rounds


def outcome(scenario: Pack, *actions: ScientistAction | None, max_rounds: int = 5) -> Outcome:
    """Return what the negotiation is called that these turns end."""
    state, rounds = play(scenario, *actions, max_rounds=max_rounds)
    assert state.ending is not None, "these turns do not end the negotiation"
    return outcome_of(state.ending, rounds[-1], scenario)
