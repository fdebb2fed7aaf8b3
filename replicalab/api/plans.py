"""A plan in its lab, and the changes that would make it feasible."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from replicalab import planner, scenarios
from replicalab.agents import SuggestionChange
from replicalab.agents.suggestions import Offer
from replicalab.api.shown import Shown
from replicalab.assessment import Assessment
from replicalab.assessment.phrases import failing_text
from replicalab.lexicon import amount_text, count_text
from replicalab.models import Protocol, revise
from replicalab.tables import rows
from replicalab.views.blocks import Block, plain_table, sentences_panel
from replicalab.views.changes import all_changes, revision_panel
from replicalab.views.check import check_panel, cost_panel, evidence_panel, header_panel
from replicalab.views.frontier import standing_verdict, worth_text
from replicalab.views.lab import lab_text
from replicalab.views.options import take_panel
from replicalab.views.verdicts import plan_size

if TYPE_CHECKING:
    import pandas as pd


class Plan(Shown, Assessment):
    """A plan in its lab: the seven dimensions, cost and evidence."""

    @cached_property
    def options(self) -> planner.PlanAnalysis:
        """Offer, least loss, asks and frontier of the plan."""
        return planner.PlanAnalysis(self)

    def frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each dimension: used, limit and slack."""
        binding = self.options.binding
        lines = (rows.dimension_row(slack, binding) for slack in self.slack.values())
        return rows.frame(rows.DIMENSION, lines)

    def _line(self) -> str:
        place = f"{self.pack.paper.name}, {lab_text(self.pack)}"
        passes = failing_text(self.failing) if self.failing else "feasible"
        return f"{place}: {plan_size(self)}, {self.evidence.text}; {passes}"

    def _blocks(self) -> tuple[Block, ...]:
        check = check_panel(self, self.options.binding)
        return header_panel(self), check, evidence_panel({"Your plan": self}), cost_panel(self)


def assess(pack: scenarios.Pack, plan: Protocol | None = None, **changes: object) -> Plan:
    """Return the assessment of a plan, the study's own by default, with fields changed.

    >>> plan = assess(load("psy_stroop"), sample_size=60)
    >>> plan.feasible, plan.cost, [str(dimension) for dimension in plan.failing]
    (False, 1200.0, ['protocol', 'budget', 'equipment', 'schedule'])
    >>> plan.evidence.text
    'power 1.00'
    """
    chosen = pack.reference_protocol if plan is None else plan
    return Plan(revise(chosen, **changes) if changes else chosen, pack)


class Revision(Plan):
    """A plan that another one was changed to, with `before`, `changes` and `step`."""

    before: Assessment
    changes: tuple[SuggestionChange, ...]

    @classmethod
    def of(cls, before: Assessment, revised: planner.LeastLoss | Offer) -> Revision:
        """Return a revised plan with the changes that led to it."""
        plan = cls(revised.after.plan, revised.after.pack)
        # Everything that the planner worked out about the plan is used again.
        facts = {"before": before, "changes": tuple(revised.changes)}
        vars(plan).update(vars(revised.after) | facts)
        return plan

    @property
    def step(self) -> planner.PlanStep:
        """The savings and losses of all changes together."""
        return planner.PlanStep(self.before, self)

    def _blocks(self) -> tuple[Block, ...]:
        return (revision_panel(self.step, all_changes(self.before, self.changes)),)


def analysis(plan: Assessment) -> planner.PlanAnalysis:
    """Return the options of a plan; nothing is worked out twice."""
    return plan.options if isinstance(plan, Plan) else planner.PlanAnalysis(plan)


def least_loss(plan: Assessment) -> Revision:
    """Return the plan for the same lab that gives up the least.

    >>> best = least_loss(assess(load("psy_stroop")))
    >>> best.plan.sample_size, best.plan.duration_days, best.evidence.text
    (15, 1, 'power 0.82')
    """
    return Revision.of(plan, analysis(plan).least)


def suggest(plan: Assessment) -> Revision | None:
    """Return the plan that the Lab Manager offers instead; None for a feasible one.

    >>> offer = suggest(assess(load("psy_stroop")))
    >>> offer.plan.sample_size, offer.step.credits_saved, suggest(offer)
    (25, 800.0, None)
    """
    offer = analysis(plan).offer
    return None if offer is None else Revision.of(plan, offer)


class Needs(Shown):
    """The additions that a lab needs: `run`, `target`, `singles`, `waits`."""

    def __init__(self, options: planner.PlanAnalysis) -> None:
        self._options = options
        asks = options.asks
        self.run, self.target = asks.run, asks.target
        self.singles, self.waits = asks.singles, asks.waits

    def _line(self) -> str:
        return ", ".join(ask.text for ask in self.run.asks) or "nothing"

    def _blocks(self) -> tuple[Block, ...]:
        return (take_panel(self._options),)


def asks(plan: Assessment) -> Needs:
    """Return the additions with which the lab runs a plan, or reaches the target.

    >>> [ask.text for ask in asks(assess(load("psy_stroop"))).run.asks]
    ['600 more credits', '1 more day', "'voice-key booth' released"]
    """
    return Needs(analysis(plan))


class ParetoFrontier(Shown, tuple[planner.FrontierPlan, ...]):
    """The plans that no other plan beats, cheapest first."""

    options: planner.PlanAnalysis

    def frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each plan, cheapest first."""
        return rows.frame(rows.FRONTIER, map(rows.frontier_row, self))

    def _line(self) -> str:
        if not self:
            return "no plan fits"
        low, high = self[0].credits, self.options.yours.pack.lab.money(self[-1].credits)
        return f"{count_text(len(self), 'plan')} of {amount_text(low)} to {high}"

    def _blocks(self) -> tuple[Block, ...]:
        evidence, lab = self.options.yours.evidence, self.options.yours.pack.lab
        names = ("samples", "days", lab.currency, evidence.measure, "fidelity loss")
        lines = []
        for plan in self.options.frontier.listed:
            amounts = map(amount_text, (plan.samples, plan.days, plan.credits))
            lines.append((*amounts, worth_text(evidence, plan.value), str(plan.loss)))
        verdict = sentences_panel([standing_verdict(self.options).text])
        return verdict, plain_table("The frontier", names, lines)


def frontier(plan: Assessment) -> ParetoFrontier:
    """Return the feasible plans that no other beats on cost, days, evidence and fidelity.

    >>> front = frontier(assess(load("psy_stroop")))
    >>> front[0].samples, front[0].days, front[0].credits
    (2, 1, 445.0)
    """
    front = ParetoFrontier(analysis(plan).frontier.plans)
    front.options = analysis(plan)
    return front
