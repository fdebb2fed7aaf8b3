"""Hand-made turns, texts that a model may say, and labs that answer in each of the four ways."""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from replicalab import models
from replicalab import negotiation as core
from replicalab.scenarios import Pack, load_scenario
from tests.factories import EQUIPMENT, make_hidden_reference, make_pack, make_protocol, make_setup
from tests.scripted import ScriptedGenerate

CHAMBER, METER = EQUIPMENT
# Costs 40 × 10 + 5 × 50 + 2 × 25 + 2 × 100 + 2 × 75 = 1050 credits and needs 2 people
PLAN: Final = make_protocol()
# Breaks the lab's one restriction and nothing else
FLAMING: Final = make_protocol(rationale="An open flame, with a dark control and blinded counting.")
SMALL: Final = make_protocol(sample_size=10)  # power near 0.2, and the floor is 0.50
SHORT: Final = make_protocol(duration_days=2)  # too short for the endpoint: no evidence

OPEN: Final = make_pack()  # accepts `PLAN`
BOOKED: Final = make_pack(booked={CHAMBER: 10})  # offers the window shelf for the chamber in `PLAN`
STUCK: Final = make_pack(booked={CHAMBER: 10}, allowed_substitutions=[])  # rejects `PLAN`
# The offers of `BOOKED` for `PLAN` and `FLAMING`
OFFER: Final = make_protocol(required_equipment=["window shelf", METER])
FLAMING_ON_THE_SHELF: Final = models.revise(FLAMING, required_equipment=OFFER.required_equipment)

CANARIES: Final = {
    "summary": "canary-one",
    "required_elements": ["canary-two"],
    "flexible_elements": ["canary-three"],
    "target_metric": "canary-four",
    "target_value": "canary-five",
}
_HIDDEN: Final = make_hidden_reference(**CANARIES)
CANARY_PACK: Final = make_pack(booked={CHAMBER: 10}, hidden_reference_spec=_HIDDEN)

ACCEPT: Final = models.ACCEPT_ACTION
ask: Final = core.ask_lab


def propose(plan: models.Protocol) -> models.ScientistAction:
    return models.plan_action(models.ScientistActionType.PROPOSE_PROTOCOL, plan)


def revise_to(plan: models.Protocol) -> models.ScientistAction:
    return models.plan_action(models.ScientistActionType.REVISE_PROTOCOL, plan)


def said(action: models.ScientistAction) -> str:
    return action.model_dump_json()


PROSE: Final = "I would rather start with a smaller plan. May I?"
CUT_OFF: Final = '{"action_type": "propose_protocol", "sample_size": 4'
NO_SAMPLES: Final = '{"action_type": "propose_protocol", "sample_size": 0}'
PROPOSAL: Final = said(propose(PLAN))

RECORDING: Final = core.Recording(
    key="shelf",
    title="The window shelf",
    note="Short.",
    settings=core.ModelSettings(
        model="qwen", host="localhost:11434", temperature=0.2, max_tokens=500, max_retries=2
    ),
)


def game(
    pack: Pack,
    opening: models.Protocol | None = None,
    max_rounds: int = 5,
    scientist: core.ScientistKind = core.ScientistKind.BASELINE,
    lab_manager: core.LabManagerKind = core.LabManagerKind.REFERENCE,
) -> core.Setup:
    return make_setup(pack, opening, max_rounds, scientist=scientist, lab_manager=lab_manager)


def by_rule(pack: Pack, *args: Any, **kwargs: Any) -> core.Negotiation:
    return core.negotiate(game(pack, *args, **kwargs), pack)


def by_person(
    pack: Pack,
    *actions: models.ScientistAction | None,
    max_rounds: int = 5,
    lab_manager: core.LabManagerKind = core.LabManagerKind.REFERENCE,
) -> core.Negotiation:
    setup = game(pack, None, max_rounds, core.ScientistKind.PERSON, lab_manager)
    negotiation = core.Negotiation(setup, pack)
    for action in actions:
        negotiation = core.play(negotiation, core.Turn(action=action))
    return negotiation


def by_model(pack: Pack, *turns: list[str], rounds: int = 5) -> core.Negotiation:
    setup = game(pack, None, rounds, core.ScientistKind.MODEL)
    setup = setup.model_copy(update={"model": "scripted"})
    negotiation = core.Negotiation(setup, pack)
    for texts in turns:
        answer = core.ask_model(ScriptedGenerate(texts), negotiation.state, pack)
        assert answer.turn is not None, answer.failure
        negotiation = core.play(negotiation, answer.turn)
    return negotiation


MEDIUM: Final = load_scenario("fin_momentum", "medium")
HARD: Final = load_scenario("fin_momentum", "hard")
# Five rounds: 420, 210, 105 and 52 samples, each with an offer, and the offer accepted
RULED: Final = by_rule(MEDIUM, MEDIUM.reference_protocol)
MODELLED: Final = by_model(BOOKED, [PROSE, CUT_OFF, PROPOSAL], [said(ask("Days?"))], [said(ACCEPT)])


def plan_of(done: core.Round) -> models.Protocol:
    assert done.plan is not None
    return done.plan.plan


def said_in(done: core.Round) -> str:
    assert done.answer is not None
    return done.answer.explanation


def answers(negotiation: core.Negotiation) -> Sequence[str | None]:
    return [done.answer.action_type if done.answer else None for done in negotiation.rounds]


def acts(negotiation: core.Negotiation) -> list[str]:
    actions = [done.action for done in negotiation.rounds]
    return [action.action_type.value if action else "leaves" for action in actions]


Edit = Callable[[dict[str, Any]], object]


def at(*path: str | int, **changes: object) -> Edit:
    def edit(data: dict[str, Any]) -> None:
        place: Any = data
        for key in path:
            place = place[key]
        place.update(changes)

    return edit


class Ended(NamedTuple):
    """A person's actions in a lab within a limit of rounds, and the ending by hand."""

    pack: Pack
    actions: Sequence[models.ScientistAction | None]
    most: int
    ending: core.Ending | None
    outcome: core.Outcome | None

    def played(self) -> core.Negotiation:
        return by_person(self.pack, *self.actions, max_rounds=self.most)


BY_MANAGER, BY_SCIENTIST = core.Ending.LAB_MANAGER_ACCEPTED, core.Ending.SCIENTIST_ACCEPTED
BELOW, FALSE = core.Outcome.AGREED_BELOW_FLOOR, core.Outcome.FALSE_AGREEMENT
LEFT, RAN_OUT = core.Ending.WALKED_AWAY, core.Ending.OUT_OF_ROUNDS
ENDS: Final = {
    "nothing yet": Ended(BOOKED, [], 5, None, None),
    "a question": Ended(BOOKED, [ask("The budget?")], 5, None, None),
    "an offer stands": Ended(BOOKED, [propose(PLAN)], 5, None, None),
    "nothing is offered, twice": Ended(STUCK, [propose(PLAN)] * 2, 3, None, None),
    "nothing is on the table": Ended(OPEN, [ACCEPT], 5, None, None),
    "the plan passes": Ended(OPEN, [propose(PLAN)], 5, BY_MANAGER, core.Outcome.AGREED),
    "it passes later": Ended(OPEN, [ACCEPT, propose(PLAN)], 5, BY_MANAGER, core.Outcome.AGREED),
    "the offer is accepted": Ended(
        BOOKED, [propose(PLAN), ACCEPT], 5, BY_SCIENTIST, core.Outcome.AGREED
    ),
    "accepted below the floor": Ended(OPEN, [propose(SMALL)], 5, BY_MANAGER, BELOW),
    "accepted without evidence": Ended(OPEN, [propose(SHORT)], 5, BY_MANAGER, BELOW),
    "the plan is stuck and accepted": Ended(STUCK, [propose(PLAN), ACCEPT], 5, BY_SCIENTIST, FALSE),
    "it breaks a restriction": Ended(OPEN, [propose(FLAMING), ACCEPT], 5, BY_SCIENTIST, FALSE),
    "the Scientist leaves": Ended(BOOKED, [propose(PLAN), None], 5, LEFT, core.Outcome.NO_DEAL),
    "it leaves at once": Ended(OPEN, [None], 1, LEFT, core.Outcome.NO_DEAL),
    "nothing is accepted": Ended(OPEN, [ACCEPT], 1, RAN_OUT, core.Outcome.NO_DEAL),
    "the rounds run out": Ended(BOOKED, [propose(PLAN)], 1, RAN_OUT, core.Outcome.NO_DEAL),
    "three rounds run out": Ended(STUCK, [propose(PLAN)] * 3, 3, RAN_OUT, core.Outcome.NO_DEAL),
}
