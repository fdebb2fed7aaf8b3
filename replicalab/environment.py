"""A negotiation for players from other projects, and the comparison of two players.

The environment has the interface of Gymnasium. The package need not be installed; if it is, the
classes here are Gymnasium's own subclasses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from replicalab import api, negotiation
from replicalab.errors import ArgumentError, Fault, NegotiationError
from replicalab.models import ACCEPT_ACTION, ScientistAction, ScientistObservation, revise
from replicalab.negotiation import LabManagerKind, Negotiation, ScientistKind, Turn
from replicalab.negotiation.batch import mean_interval
from replicalab.negotiation.case import Case
from replicalab.scenarios import MAX_ROUNDS, Difficulty, EvidenceAssumptions, LabOverrides
from replicalab.scenarios.reading import checked_call, shown

if TYPE_CHECKING or find_spec("gymnasium"):
    from gymnasium import Env, Space
else:

    class Space:
        """A set of values, if Gymnasium is not installed."""

        def __class_getitem__(cls, _: object) -> type[Space]:
            return cls

        def __contains__(self, value: object) -> bool:
            return self.contains(value)

    class Env(Space):
        """The base of an environment, if Gymnasium is not installed."""

        def reset(self, **_: object) -> None:
            """Do nothing: the environment draws no random numbers."""


_Value = TypeVar("_Value")
Info: TypeAlias = dict[str, Any]
Action: TypeAlias = ScientistAction | None  # None leaves without an agreement
Player = Callable[[ScientistObservation], Action]


class RecordSpace(Space[_Value]):
    """The values of some types; a sample is drawn by a function."""

    def __init__(self, draw: Callable[[Random], _Value], *types: type) -> None:
        super().__init__()
        self._draw, self._types = draw, types
        self.seed()

    def contains(self, x: object) -> bool:
        return isinstance(x, self._types)

    def sample(self, mask: Any = None, probability: Any = None) -> _Value:
        """Return a value; masks have no effect."""
        return self._draw(self._chance)

    def seed(self, seed: int | None = None) -> int | None:
        self._chance = Random(seed)  # noqa: S311 - samples keep no secret
        return seed

    @property
    def is_np_flattenable(self) -> bool:
        return False


class NegotiationEnv(Env[ScientistObservation, Action]):
    """A negotiation in which the player is the Scientist and a rule is the Lab Manager.

    The reward is 0 until the end, then minus the regret: 0 if no plan ranks above the result, and
    never higher for a plan that ranks lower. The last round ends it without an agreement.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it
    render_mode = None

    def __init__(
        self,
        study: str | Path,
        lab: str = "medium",
        *,
        lab_manager: str = LabManagerKind.REFERENCE,
        max_rounds: int = MAX_ROUNDS,
        own: LabOverrides | Mapping[str, object] | None = None,
        question: EvidenceAssumptions | Mapping[str, object] | None = None,
    ) -> None:
        """Take the arguments of `replicalab.load` and `replicalab.negotiate`."""
        self._load = partial(api.load, study, lab, own=own, question=question)
        seats: dict[str, Any] = {"lab_manager": lab_manager, "max_rounds": max_rounds}
        with api.checked("NegotiationEnv"):
            self._case = Case.of(self._load(), scientist=ScientistKind.PERSON, **seats)
        self.negotiation = self._begun(0)
        self.action_space = RecordSpace(self._drawn, ScientistAction, type(None))
        self.observation_space = RecordSpace(self._seen, ScientistObservation)

    def _begun(self, seed: int) -> Negotiation:
        pack = self._load(seed)
        return Negotiation(self._case.replace(seed=seed).setup(pack), pack)

    def _seen(self, _: Random | None = None) -> ScientistObservation:
        return negotiation.observe(self.negotiation.state, self.negotiation.pack)

    def reset(
        self, *, seed: int | None = None, options: Info | None = None
    ) -> tuple[ScientistObservation, Info]:
        """Begin in the lab of a seed, 0 for the lab as written; by default in the same lab."""
        super().reset(seed=seed, options=options)
        self.negotiation = self._begun(self.negotiation.pack.seed if seed is None else seed)
        return self._seen(), {"outcome": None, "regret": None, "answer": None}

    def step(self, action: Action) -> tuple[ScientistObservation, float, bool, bool, Info]:
        """Play one round; the information has outcome, regret and the Lab Manager's answer.

        Raises ArgumentError for another type, and NegotiationError after the end.
        """
        if action not in self.action_space:
            problem, remedy = f"{shown(action)} is no action", "use a ScientistAction or None"
            raise ArgumentError("step", [Fault("action", problem, remedy)])
        if ending := self.negotiation.ending:
            raise NegotiationError(f"the negotiation has ended, {ending}; reset it")
        self.negotiation = negotiation.play(self.negotiation, Turn(action=action))
        outcome, regret = self.negotiation.outcome, None
        if outcome is not None:
            regret = negotiation.score(self.negotiation).regret
        answer = self.negotiation.rounds[-1].answer
        info = {"outcome": outcome, "regret": regret, "answer": answer}
        return self._seen(), 0.0 - (regret or 0.0), outcome is not None, False, info

    def _drawn(self, chance: Random) -> Action:
        plan = self.negotiation.pack.reference_protocol
        changed = revise(
            plan,
            sample_size=chance.randint(1, 2 * plan.sample_size),
            duration_days=chance.randint(0, 2 * plan.duration_days),
            controls=[control for control in plan.controls if chance.random() < 0.5],
        )
        proposal = negotiation.put_forward(self.negotiation.state, changed)
        asking = negotiation.ask_lab("What does the lab have?")
        return chance.choice((proposal, proposal, asking, ACCEPT_ACTION, None))


class PlayedCase(NamedTuple):
    """A study in the lab of a seed, with the rewards of both players."""

    study: str
    lab: str
    seed: int
    first: float
    second: float


@dataclass(frozen=True)
class PairedComparison:
    """The rewards of two players on the same cases."""

    cases: tuple[PlayedCase, ...]

    @property
    def differences(self) -> list[float]:
        return [case.first - case.second for case in self.cases]

    @property
    def mean(self) -> float:
        """The mean difference; above 0 the first player is better."""
        return mean_interval(self.differences)[0]

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % t interval of the mean difference; infinite for one case."""
        return mean_interval(self.differences)[1:]


@checked_call
def compare_players(
    first: str | Player,
    second: str | Player,
    studies: str | Sequence[str],
    labs: Sequence[str] = tuple(Difficulty),
    seeds: Sequence[int] = (0,),
    *,
    lab_manager: str = LabManagerKind.REFERENCE,
    max_rounds: int = MAX_ROUNDS,
    executor: Executor | None = None,
) -> PairedComparison:
    """Play every study, lab and seed with two players, and return their rewards pair by pair.

    A player is a function from observation to action, or a rule: ``step_by_step``, ``direct`` or
    ``baseline``. ``executor`` is a pool; None plays one after another.

    >>> compared = compare_players("direct", "baseline", "psy_stroop", seeds=range(3))
    >>> len(compared.cases), compared.mean > 0
    (9, True)
    """
    named = [studies] if isinstance(studies, str) else studies
    cases = [*product(named, labs, seeds)]
    if not cases:
        fault = Fault("studies", "no case is named", "name a study, a lab and a seed")
        raise ArgumentError("compare_players", [fault])
    rewards = partial(_rewards, (first, second), lab_manager, max_rounds)
    results = (executor.map if executor else map)(rewards, cases)
    pairs = zip(cases, results, strict=True)
    return PairedComparison(tuple(PlayedCase(*case, *both) for case, both in pairs))


def _rewards(
    players: Sequence[str | Player], lab_manager: str, max_rounds: int, case: tuple[str, str, int]
) -> list[float]:
    study, lab, seed = case
    seats: dict[str, Any] = {"lab_manager": lab_manager, "max_rounds": max_rounds}
    rewards = []
    for player in players:
        if not callable(player):
            run = api.negotiate(api.load(study, lab, seed), player, **seats)
            rewards.append(0.0 - negotiation.score(run).regret)
            continue
        env, reward, has_ended = NegotiationEnv(study, lab, **seats), 0.0, False
        seen, _ = env.reset(seed=seed)
        while not has_ended:
            seen, reward, has_ended, *_ = env.step(player(seen))
        rewards.append(reward)
    return rewards
