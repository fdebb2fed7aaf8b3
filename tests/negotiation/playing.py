"""Hand-made turns, and labs that answer them in each of the four ways."""

from __future__ import annotations

from typing import Any, Final

from replicalab.models import (
    ACCEPT_ACTION,
    Protocol,
    ScientistAction,
    ScientistActionType,
    plan_action,
)
from replicalab.negotiation import (
    LabManagerKind,
    Negotiation,
    Round,
    ScientistKind,
    Setup,
    Turn,
    begin,
    negotiate,
    play,
    setup_for,
)
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


def game(
    pack: Pack,
    opening: Protocol | None = None,
    max_rounds: int = 5,
    scientist: ScientistKind = ScientistKind.BASELINE,
    lab_manager: LabManagerKind = LabManagerKind.REFERENCE,
) -> Setup:
    """Return a setup with players by default, which the application itself does not have."""
    return setup_for(pack, opening, max_rounds, scientist=scientist, lab_manager=lab_manager)


def by_person(
    pack: Pack,
    *actions: ScientistAction | None,
    max_rounds: int = 5,
    lab_manager: LabManagerKind = LabManagerKind.REFERENCE,
) -> Negotiation:
    """Return the negotiation that a person's turns make."""
    setup = game(pack, None, max_rounds, ScientistKind.PERSON, lab_manager)
    negotiation = begin(setup, pack)
    for action in actions:
        negotiation = play(negotiation, Turn(action=action))
    return negotiation


def by_rule(pack: Pack, *args: Any, **kwargs: Any) -> Negotiation:
    """Return the negotiation that rules play, with a setup as `game` makes it."""
    return negotiate(game(pack, *args, **kwargs), pack)


def plan_of(done: Round) -> Protocol:
    """Return a round's plan; it has one."""
    assert done.plan is not None
    return done.plan.plan


def answer_of(done: Round) -> str:
    """Return the kind of the Lab Manager's answer; the round has one."""
    assert done.answer is not None
    return done.answer.action_type.value


def said_in(done: Round) -> str:
    """Return what the Lab Manager says in a round; it says something."""
    assert done.answer is not None
    return done.answer.explanation


def acts(negotiation: Negotiation) -> list[str]:
    """Return what the Scientist did in each round."""
    return [
        each.action.action_type.value if each.action else "leaves" for each in negotiation.rounds
    ]
