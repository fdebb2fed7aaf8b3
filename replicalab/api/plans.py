"""A plan in its lab, and what may be done about it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from replicalab import planner, scenarios
from replicalab.agents import SuggestionChange
from replicalab.api.shown import OneLine, page
from replicalab.assessment import Assessment, CostTerm, Slack
from replicalab.assessment.phrases import failing_text
from replicalab.critique import Remark, critique
from replicalab.lexicon import amount_text, count_text
from replicalab.models import Protocol, revise
from replicalab.registration import Registration
from replicalab.tables import rows

if TYPE_CHECKING:
    import pandas as pd


class Dimensions(OneLine, tuple[Slack, ...]):
    """The seven dimensions of a plan, in the document's order."""

    plan: Plan

    def frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each dimension: used, limit, and what is left."""
        binding = self.plan.options.binding
        return rows.frame(rows.DIMENSION, (rows.dimension_row(each, binding) for each in self))

    def _line(self) -> str:
        return failing_text(self.plan.failing) if self.plan.failing else "all pass"

    def _repr_html_(self) -> str:
        from replicalab.views.check import check_panel  # noqa: PLC0415

        return page(check_panel(self.plan, self.plan.options.binding))


class Costs(OneLine, tuple[CostTerm, ...]):
    """The five terms of a plan's cost, in the document's order."""

    plan: Plan

    def frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each term; credits are in the lab's currency."""
        return rows.frame(rows.COST, map(rows.cost_row, self))

    def _line(self) -> str:
        lab = self.plan.pack.lab
        return f"{amount_text(self.plan.cost)} of {lab.money(lab.budget)}"

    def _repr_html_(self) -> str:
        from replicalab.views.check import cost_panel  # noqa: PLC0415

        return page(cost_panel(self.plan))


class Critique(OneLine, tuple[Remark, ...]):
    """What a reviewer would ask of a plan: concerns first, then what nobody said."""

    def frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each question."""
        return rows.frame(rows.CRITIQUE, map(rows.remark_row, self))

    def _line(self) -> str:
        from replicalab.views.critique import summary_text  # noqa: PLC0415

        return summary_text(self)

    def _repr_html_(self) -> str:
        from replicalab.views.critique import critique_panel  # noqa: PLC0415

        return page(critique_panel(self))


class Plan(OneLine, Assessment):
    """A plan in its lab: the seven dimensions, cost and evidence."""

    @property
    def dimensions(self) -> Dimensions:
        """What it uses of each limit, and what is left."""
        found = Dimensions(self.slack.values())
        found.plan = self
        return found

    @property
    def costs(self) -> Costs:
        """What it costs, term by term."""
        found = Costs(self.cost_terms)
        found.plan = self
        return found

    def critique(self, said: Registration | None = None) -> Critique:
        """Return what a reviewer would ask of it.

        Args:
            said: what its author answers on registration forms.

        >>> plan = assess(load("psy_stroop"))
        >>> [each.key for each in plan.critique() if each.standing == "raises a concern"]
        ['availability', 'covered', 'multiplicity']
        """
        return Critique(critique(self, said))

    def _line(self) -> str:
        from replicalab.views.lab import lab_text  # noqa: PLC0415
        from replicalab.views.verdicts import plan_size  # noqa: PLC0415

        where = f"{self.pack.paper.name}, {lab_text(self.pack)}"
        passes = failing_text(self.failing) if self.failing else "feasible"
        return f"{where}: {plan_size(self)}, {self.evidence.text}; {passes}"

    @cached_property
    def options(self) -> planner.PlanAnalysis:
        """What may be done about it."""
        return planner.PlanAnalysis(self)

    def _repr_html_(self) -> str:
        from replicalab.views.check import check_panel, cost_panel, evidence_panel, header_panel  # noqa: PLC0415

        return page(
            header_panel(self),
            check_panel(self, self.options.binding),
            evidence_panel({"Your plan": self}),
            cost_panel(self),
        )


def assess(pack: scenarios.Pack, plan: Protocol | None = None, **changes: object) -> Plan:
    """Return everything that is known of a plan in a lab.

    Args:
        pack: what `load` returned.
        plan: None for the study's own.
        changes: fields of the plan to be changed.

    >>> plan = assess(load("psy_stroop"), sample_size=60)
    >>> plan.feasible, plan.cost, [str(dimension) for dimension in plan.failing]
    (False, 1200.0, ['protocol', 'budget', 'equipment', 'schedule'])
    >>> plan.evidence.text
    'power 1.00'
    """
    chosen = pack.reference_protocol if plan is None else plan
    return Plan(revise(chosen, **changes) if changes else chosen, pack)


class Revision(Plan):
    """A plan that another one was changed to, as `before`, `changes` and `step` tell."""

    before: Assessment
    changes: tuple[SuggestionChange, ...]

    @classmethod
    def of(
        cls, before: Assessment, after: Assessment, changes: Iterable[SuggestionChange]
    ) -> Revision:
        """Return a revised plan with the changes that led to it."""
        found = cls(after.plan, after.pack)
        # An Assessment keeps what it has worked out in its dict: nothing is worked out again.
        vars(found).update({**vars(after), "before": before, "changes": tuple(changes)})
        return found

    @property
    def step(self) -> planner.PlanStep:
        """What all changes together save and lose."""
        return planner.PlanStep(self.before, self)

    def _repr_html_(self) -> str:
        from replicalab.views.changes import all_changes, revision_panel  # noqa: PLC0415

        return page(revision_panel(self.step, all_changes(self.before, self.changes)))


def analysis(plan: Assessment) -> planner.PlanAnalysis:
    """Return what may be done about a plan; nothing is worked out twice."""
    return plan.options if isinstance(plan, Plan) else planner.PlanAnalysis(plan)


def least_loss(plan: Assessment) -> Revision:
    """Return the plan for the same lab that gives up the least; the plan itself where none does.

    >>> best = least_loss(assess(load("psy_stroop")))
    >>> best.plan.sample_size, best.plan.duration_days, best.evidence.text
    (15, 1, 'power 0.82')
    >>> [change.field for change in best.changes]
    ['required_equipment', 'duration_days', 'sample_size']
    """
    least = analysis(plan).least
    return Revision.of(plan, least.after, least.changes)


def suggest(plan: Assessment) -> Revision | None:
    """Return the plan that the Lab Manager offers instead; None for one that is feasible.

    >>> offer = suggest(assess(load("psy_stroop")))
    >>> offer.plan.sample_size, offer.step.credits_saved
    (25, 800.0)
    >>> suggest(offer) is None
    True
    """
    offer = analysis(plan).offer
    return None if offer is None else Revision.of(plan, offer.after, offer.changes)


class Needs(OneLine):
    """What a lab would have to add; each is worked out when it is first asked for."""

    def __init__(self, options: planner.PlanAnalysis) -> None:
        self._options = options

    @property
    def run(self) -> planner.Shortfall:
        """All that it takes to run the plan exactly as it is."""
        return self._options.asks.run

    @property
    def target(self) -> planner.Shortfall | None:
        """The same for the fewest samples that reach the target; None where none does."""
        return self._options.asks.target

    @property
    def singles(self) -> tuple[planner.SingleAddition, ...]:
        """Each single addition that is enough once the plan is adapted."""
        return self._options.asks.singles

    @property
    def waits(self) -> tuple[planner.LaterStart, ...]:
        """Each later start that buys something."""
        return self._options.asks.waits

    def _line(self) -> str:
        return ", ".join(ask.text for ask in self.run.asks) or "nothing"

    def _repr_html_(self) -> str:
        from replicalab.views.options import take_panel  # noqa: PLC0415

        return page(take_panel(self._options))


def asks(plan: Assessment) -> Needs:
    """Return what the lab would have to add to run a plan, and to reach the target.

    >>> [ask.text for ask in asks(assess(load("psy_stroop"))).run.asks]
    ['600 more credits', '1 more day', "'voice-key booth' released"]
    """
    return Needs(analysis(plan))


class ParetoFrontier(OneLine, tuple[planner.FrontierPlan, ...]):
    """The plans that nothing beats, cheapest first."""

    options: planner.PlanAnalysis

    def frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each plan, cheapest first."""
        return rows.frame(rows.FRONTIER, map(rows.frontier_row, self))

    def _line(self) -> str:
        if not self:
            return "no plan fits"
        low, high = self[0].credits, self.options.yours.pack.lab.money(self[-1].credits)
        return f"{count_text(len(self), 'plan')} of {amount_text(low)} to {high}"

    @property
    def balanced(self) -> Assessment | None:
        """The plan at which the two sides' gains balance, None where none does."""
        return self.options.balanced

    def _repr_html_(self) -> str:
        from replicalab.views.blocks import plain_table, sentences_panel  # noqa: PLC0415
        from replicalab.views.frontier import standing_verdict, worth_text  # noqa: PLC0415

        evidence = self.options.yours.evidence
        currency = self.options.yours.pack.lab.currency
        names = ("samples", "days", currency, evidence.measure, "fidelity loss")
        rows = [
            (
                *map(amount_text, (p.samples, p.days, p.credits)),
                worth_text(evidence, p.value),
                str(p.loss),
            )
            for p in self.options.frontier.listed
        ]
        lines = [standing_verdict(self.options).text]
        return page(sentences_panel(lines), plain_table("The frontier", names, rows))


def frontier(plan: Assessment) -> ParetoFrontier:
    """Return the feasible plans that no other beats on cost, days, evidence and fidelity.

    >>> front = frontier(assess(load("psy_stroop")))
    >>> front[0].samples, front[0].days, front[0].credits
    (2, 1, 445.0)
    """
    found = ParetoFrontier(analysis(plan).frontier.plans)
    found.options = analysis(plan)
    return found
