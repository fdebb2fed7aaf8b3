"""The distance of a result from the least-loss plan: regret, 0 if no plan ranks above it."""

from collections.abc import Mapping
from itertools import islice
from math import isfinite
from typing import Final, NamedTuple, cast

from replicalab.assessment import Assessment, assess
from replicalab.limits import MOST_FRONTIER_PLANS
from replicalab.models import LabManagerActionType, Role
from replicalab.negotiation.players import best_options, is_worth_running
from replicalab.negotiation.records import Negotiation, Outcome
from replicalab.planner import PlanAnalysis, PlanStep, Rank, rank
from replicalab.planner.least_loss import field_steps
from replicalab.planner.search import SharedSearch

LARGEST_REGRET: Final = float(len(Rank._fields))
"""The regret of no agreement if a plan is worth running."""


class Score(NamedTuple):
    """A result compared with the least-loss plan of the same study in the same lab.

    Leaving without a plan is optimal if the lab can run no plan that reaches the floor. ``best`` is
    the result itself if it ranks above the least-loss plan, which other items can achieve.
    ``exact`` says whether every plan was searched.
    """

    plan: Assessment | None
    best: Assessment
    exact: bool = True

    @property
    def counts(self) -> bool:
        return self.plan is not None and is_worth_running(self.plan)

    @property
    def deciding(self) -> str | None:
        return self._shortfall[0]

    @property
    def regret(self) -> float:
        """The distance to the best plan in the order, 0 if no plan ranks above the result.

        The whole part is the number of terms after the deciding one, the fraction grows with the
        difference.
        """
        if self.plan is None:
            return LARGEST_REGRET if is_worth_running(self.best) else 0.0
        return regret_of(*self._shortfall)

    @property
    def _shortfall(self) -> tuple[str | None, float]:
        if self.plan is None:
            return None, 0.0
        original = self.best.pack.reference_protocol
        study = assess(original, self.best.pack)
        return shortfall(*(rank(plan, original, study) for plan in (self.plan, self.best)))


def shortfall(mine: Rank, best: Rank) -> tuple[str | None, float]:
    """Return the first term in which a plan ranks below the best one, and the difference."""
    ranks = (cast("tuple[float, ...]", place) for place in (mine, best))
    terms = zip(Rank._fields, *ranks, strict=True)
    first = ((name, float(value - term)) for name, value, term in terms if value != term)
    return next(first, (None, 0.0)) if mine > best else (None, 0.0)


def regret_of(term: str | None, difference: float) -> float:
    """Return the regret of a shortfall; see `Score.regret`."""
    if term is None:
        return 0.0
    after = len(Rank._fields) - 1 - Rank._fields.index(term)
    return after + (difference / (1 + difference) if isfinite(difference) else 1.0)


def score_of(plan: Assessment) -> Score:
    return _against(plan, best_options(None, plan.pack))


def _against(plan: Assessment | None, analysis: PlanAnalysis) -> Score:
    loss, study = analysis.least, analysis.yours
    if plan is not None and rank(plan, study.plan, study) < loss.rank:
        return Score(plan, plan, analysis.least.exact)
    return Score(plan, loss.after, analysis.least.exact)


def score(negotiation: Negotiation) -> Score:
    """Return the score of a negotiation's result: the agreed plan, or none."""
    agreed = negotiation.outcome not in (None, Outcome.NO_DEAL)
    # The search that a rule made of the study's own plan is not repeated.
    analysis, reference = None, negotiation.pack.reference_protocol
    if negotiation.rounds and (options := negotiation.rounds[0].after.options):
        analysis = options if options.yours.plan == reference else None
    best = analysis or best_options(None, negotiation.pack)
    return _against(negotiation.final_plan if agreed else None, best)


class RobustPlan(NamedTuple):
    """The plan with the smallest largest regret over several worlds: labs, or assumptions.

    Attributes:
        options: of one plan by world; its revisions are compared.
        likely: the name of the world of the plan.
        exact: False if not all plans were searched.
    """

    options: Mapping[str, PlanAnalysis]
    likely: str
    plan: Assessment
    exact: bool

    @property
    def least(self) -> Assessment:
        """The least-loss plan of the likely world."""
        return self.options[self.likely].least.after

    def everywhere(self, plan: Assessment) -> dict[str, Assessment]:
        """Return a plan in each world."""
        return {name: one.yours.revised(plan.plan) for name, one in self.options.items()}

    def worlds_reached(self, plan: Assessment) -> int:
        """Return the number of worlds in which a plan passes and reaches the floor."""
        return sum(map(is_worth_running, self.everywhere(plan).values()))

    @property
    def helps(self) -> bool:
        """Whether the plan reaches the floor in some world, and in as many as least loss."""
        return self.worlds_reached(self.plan) >= max(1, self.worlds_reached(self.least))

    def regrets(self, plan: Assessment) -> dict[str, float]:
        """Return the regret of a plan in each world."""
        plans = self.everywhere(plan)
        return {name: _regret_in(one, plans[name]) for name, one in self.options.items()}


def _regret_in(analysis: PlanAnalysis, plan: Assessment) -> float:
    # A world in which no plan passes tells no plans apart.
    if not analysis.least.after.passes or not plan.passes:
        return LARGEST_REGRET * analysis.least.after.passes
    mine = rank(plan, analysis.yours.plan, analysis.study)
    return regret_of(*shortfall(mine, analysis.least.rank))


def robust_of(worlds: Mapping[str, PlanAnalysis], likely: str) -> RobustPlan:
    """Return the revision of a plan with the smallest largest regret over several worlds.

    The regret of a plan that does not pass is the largest, 11, if another does. Ties are decided
    by the next largest regret, and so on, then by the rank in the likely world. Items and their
    relative prices must be the same in all worlds.
    """
    options, at = [*worlds.values()], [*worlds].index(likely)
    yours, studies = ([getattr(one, name) for one in options] for name in ("yours", "study"))
    variants, most = worlds[likely].variants, MOST_FRONTIER_PLANS
    plans = [*islice(SharedSearch(yours, studies, variants).candidates(), most + 1)]
    is_exact = variants.exact and len(plans) <= most
    plans += [tuple(one.revised(other.least.plan) for one in yours) for other in options]

    def lost(in_worlds: tuple[Assessment, ...]) -> int:
        pairs = zip(options, in_worlds, strict=True)
        return sum(one.least.after.passes and not plan.passes for one, plan in pairs)

    def place(in_worlds: tuple[Assessment, ...]) -> tuple[object, ...]:
        regrets = sorted(map(_regret_in, options, in_worlds), reverse=True)
        return *regrets, rank(in_worlds[at], yours[at].plan, studies[at])

    # No regret outweighs a world in which the plan does not pass, so few plans are ranked.
    fewest = min(map(lost, plans))
    best = min((in_worlds for in_worlds in plans if lost(in_worlds) == fewest), key=place)
    return RobustPlan(worlds, likely, best[at], is_exact)


class Concession(NamedTuple):
    """One step of the side ``who``; ``total`` is from its first position."""

    round_number: int
    who: Role
    step: PlanStep
    total: PlanStep

    @property
    def counts(self) -> bool:
        step = self.step
        same_loss = step.before.fidelity_loss == step.after.fidelity_loss
        return step.credits_saved != 0 or step.evidence_changed or not same_loss


def ledger(negotiation: Negotiation) -> list[Concession]:
    concessions: list[Concession] = []
    first: dict[Role, Assessment] = {}
    last: dict[Role, Assessment] = {}
    for done in negotiation.rounds:
        accepts = done.answer and done.answer.action_type is LabManagerActionType.ACCEPT
        offered = done.plan if accepts else done.after.offer
        for who, plan in ((Role.SCIENTIST, done.plan), (Role.LAB_MANAGER, offered)):
            if plan is None or (who in last and last[who].plan == plan.plan):
                continue
            if who in last:
                total = PlanStep(first[who], plan)
                concessions.append(Concession(done.number, who, PlanStep(last[who], plan), total))
            first.setdefault(who, plan)
            last[who] = plan
    return concessions


def concession_steps(negotiation: Negotiation) -> list[Concession]:
    """Return the Scientist's moves field by field; a new rationale alone is no move."""
    return [
        whole._replace(step=step, total=PlanStep(whole.total.before, step.after))
        for whole in ledger(negotiation)
        if whole.who is Role.SCIENTIST
        for step in field_steps(whole.step.before, whole.step.after)
        if [field.field for field in step.fields] != ["rationale"]
    ]
