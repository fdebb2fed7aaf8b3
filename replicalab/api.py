"""The ten names of ``import replicalab``, for scripts and notebooks.

What they return are the core's own results, which say in a notebook what the pages say: the same
panels, drawn when they are shown.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from replicalab import batch as _batch
from replicalab import negotiation as _negotiation
from replicalab import planner, scenarios
from replicalab.agents import SuggestionChange
from replicalab.agents.scientist_policy import GenerateFn
from replicalab.assessment import Assessment
from replicalab.batch import Result, Seat, Summary, summaries
from replicalab.case import Case
from replicalab.lexicon import CREDITS, amount_text
from replicalab.models import Protocol, revise
from replicalab.negotiation import LabManagerKind, Negotiation, ScientistKind, Score
from replicalab.scenarios.folders import content_at

if TYPE_CHECKING:
    import pandas as pd

    from replicalab.views.blocks import Block

NAMES: Final = (
    *("Lab", "asks", "assess", "frontier", "least_loss"),
    *("load", "negotiate", "run_batch", "studies", "suggest"),
)
"""What `replicalab` offers, in alphabetical order."""


def _page(*blocks: Block) -> str:
    """Return blocks as a notebook shows them."""
    from replicalab.render.html import in_notebook  # noqa: PLC0415 - Jinja2, with the first shown

    return in_notebook(*blocks)


# --- studies and labs ---------------------------------------------------------------------------


class Studies(tuple[scenarios.ScenarioSummary, ...]):
    """Studies, by domain and then by id."""

    def _repr_html_(self) -> str:
        from replicalab.views.blocks import plain_table  # noqa: PLC0415

        rows = [
            (
                each.scenario_id,
                each.name,
                each.domain_id,
                each.kind,
                str(each.reference_sample_size),
            )
            for each in self
        ]
        names = ("id", "name", "domain", "kind", "n")
        return _page(plain_table("Studies", names, rows))


def studies(domain: str | None = None) -> Studies:
    """Return what is known of every study on the shelf, or of those of one domain.

    >>> [study.scenario_id for study in studies("psychology")]
    ['psy_ego_depletion', 'psy_stroop']
    """
    return Studies(s for s in scenarios.list_scenarios() if domain in (None, s.domain_id))


class Lab(scenarios.LabOverrides):
    """What is said of a lab in place of a study's: what is not said stays as it is there.

    Its fields: name, budget, days, staff, start_day, currency, start_date, weekends, rates, steps,
    items.

    >>> ours = Lab(name="Ours", budget=2000, start_day=2)
    >>> assess(load("psy_stroop", own=ours)).slack["budget"].slack
    400.0
    """

    def _repr_html_(self) -> str:
        from replicalab.views.blocks import listed_panel  # noqa: PLC0415
        from replicalab.views.lab import MEANS, MONEY, RATES, STEPS, in_currency  # noqa: PLC0415

        numbers = {
            **{label: getattr(self, name) for name, label in MEANS.items()},
            **{label: self.rates.get(name) for name, label in (RATES | MONEY).items()},  # type: ignore[call-overload]
            **{label: self.steps.get(name) for name, label in STEPS.items()},  # type: ignore[call-overload]
        }
        currency = self.currency or CREDITS
        lines = [
            f"{in_currency(label, currency)}: {amount_text(n)}"
            for label, n in numbers.items()
            if n is not None
        ]
        lines += [f"Currency: {self.currency}"] if self.currency else []
        lines += [f"Start date: {self.start_date}"] if self.start_date else []
        lines += ["Weekends do not count"] if self.weekends is False else []
        lines += [f"{item.label}: {item.state or 'its own price'}" for item in self.items]
        return _page(listed_panel(self.name or "Your lab", lines))


class LoadedPack(scenarios.Pack):
    """A study in one lab."""

    def _repr_html_(self) -> str:
        from replicalab.assessment import assess as judged  # noqa: PLC0415
        from replicalab.views.study import lab_panel, paper_panel  # noqa: PLC0415

        return _page(paper_panel(self), lab_panel(judged(self.reference_protocol, self)))


def load(
    study: str | Path,
    lab: str = "medium",
    seed: int = 0,
    *,
    own: scenarios.LabOverrides | None = None,
    question: scenarios.EvidenceAssumptions | None = None,
) -> LoadedPack:
    """Return a study in its easy, medium or hard lab, moved by a seed that is not 0.

    Args:
        study: its id, or the path of a study file (``.yaml``).
        lab: which of the study's three.
        seed: 0 is the lab as written.
        own: what is said of the lab in place of the study's, see `Lab`.
        question: what is asked of the evidence in place of the study's.

    Raises:
        ScenarioError: with every fault, by place, and its remedy.
        OSError: the file cannot be read.

    >>> load("psy_stroop", lab="hard").lab.budget
    620.0
    """
    if str(study).endswith((".yaml", ".yml")):
        path = Path(study)
        pack = scenarios.pack_of(
            scenarios.parse_study(content_at(path), path.name), _difficulty(lab), seed
        )
    else:
        pack = scenarios.load_scenario(str(study), lab, seed)
    # A transcript compares labs, and knows no other kind of them.
    own_lab = (
        scenarios.LabOverrides()
        if own is None
        else scenarios.LabOverrides.model_validate(dict(own))
    )
    pack = pack.with_own(own_lab, scenarios.EvidenceAssumptions() if question is None else question)
    return LoadedPack.model_construct(**dict(pack))


def _difficulty(lab: str) -> scenarios.Difficulty:
    try:
        return scenarios.Difficulty(lab)
    except ValueError:
        raise ValueError(
            f"lab '{lab}' is unknown; known: {', '.join(scenarios.Difficulty)}"
        ) from None


# --- a plan -------------------------------------------------------------------------------------


class Plan(Assessment):
    """A plan in its lab: the seven dimensions, cost and evidence."""

    @cached_property
    def options(self) -> planner.PlanAnalysis:
        """What may be done about it."""
        return planner.PlanAnalysis(self)

    def _repr_html_(self) -> str:
        from replicalab.views.check import check_panel, cost_panel, evidence_panel, header_panel  # noqa: PLC0415

        return _page(
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

        return _page(revision_panel(self.step, all_changes(self.before, self.changes)))


def _options(plan: Assessment) -> planner.PlanAnalysis:
    return plan.options if isinstance(plan, Plan) else planner.PlanAnalysis(plan)


def least_loss(plan: Assessment) -> Revision:
    """Return the plan for the same lab that gives up the least; the plan itself where none does.

    >>> best = least_loss(assess(load("psy_stroop")))
    >>> best.plan.sample_size, best.plan.duration_days, best.evidence.text
    (15, 1, 'power 0.82')
    >>> [change.field for change in best.changes]
    ['required_equipment', 'duration_days', 'sample_size']
    """
    least = _options(plan).least
    return Revision.of(plan, least.after, least.changes)


def suggest(plan: Assessment) -> Revision | None:
    """Return the plan that the Lab Manager offers instead; None for one that is feasible.

    >>> offer = suggest(assess(load("psy_stroop")))
    >>> offer.plan.sample_size, offer.step.credits_saved
    (25, 800.0)
    >>> suggest(offer) is None
    True
    """
    offer = _options(plan).offer
    return None if offer is None else Revision.of(plan, offer.after, offer.changes)


class Needs:
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

    def _repr_html_(self) -> str:
        from replicalab.views.options import take_panel  # noqa: PLC0415

        return _page(take_panel(self._options))


def asks(plan: Assessment) -> Needs:
    """Return what the lab would have to add to run a plan, and to reach the target.

    >>> [ask.text for ask in asks(assess(load("psy_stroop"))).run.asks]
    ['600 more credits', '1 more day', "'voice-key booth' released"]
    """
    return Needs(_options(plan))


class ParetoFrontier(tuple[planner.FrontierPlan, ...]):
    """The plans that nothing beats, cheapest first."""

    options: planner.PlanAnalysis

    @property
    def balanced(self) -> Assessment | None:
        """The plan at which the two sides' gains balance, None where none does."""
        return self.options.balanced

    def _repr_html_(self) -> str:
        from replicalab.views.blocks import plain_table, sentences_panel  # noqa: PLC0415
        from replicalab.views.frontier import standing_verdict  # noqa: PLC0415

        evidence = self.options.yours.evidence
        names = (
            "samples",
            "days",
            self.options.yours.pack.lab.currency,
            evidence.measure,
            "fidelity loss",
        )
        rows = [
            (
                *map(amount_text, (p.samples, p.days, p.credits)),
                evidence.amount(p.value),
                str(p.loss),
            )
            for p in self.options.frontier.listed
        ]
        lines = [standing_verdict(self.options).text]
        return _page(sentences_panel(lines), plain_table("The frontier", names, rows))


def frontier(plan: Assessment) -> ParetoFrontier:
    """Return the feasible plans that no other beats on cost, days, evidence and fidelity.

    >>> front = frontier(assess(load("psy_stroop")))
    >>> front[0].samples, front[0].days, front[0].credits
    (2, 1, 445.0)
    """
    found = ParetoFrontier(_options(plan).frontier.plans)
    found.options = _options(plan)
    return found


# --- negotiations -------------------------------------------------------------------------------


class FinishedNegotiation(Negotiation):
    """A negotiation to its end."""

    @cached_property
    def score(self) -> Score:
        """How good its result is against the best that the lab could run; its regret is 0 at best.

        >>> negotiate(load("psy_stroop"), scientist="baseline").score.regret
        0.0
        """
        return _negotiation.score(self)

    def _repr_html_(self) -> str:
        from replicalab.views.negotiation import outcome_verdict  # noqa: PLC0415
        from replicalab.views.rounds import ledger_panel, outcome_panel, round_panel  # noqa: PLC0415
        from replicalab.views.score import score_panel  # noqa: PLC0415

        rounds = [round_panel(self, at) for at in range(len(self.rounds))]
        ending = outcome_panel(outcome_verdict(self))
        return _page(ending, *rounds, ledger_panel(self), score_panel(self.score))


def negotiate(
    plan: Assessment | scenarios.Pack,
    scientist: str | GenerateFn = ScientistKind.EVIDENCE_AWARE,
    lab_manager: str = LabManagerKind.REFERENCE,
    max_rounds: int = scenarios.MAX_ROUNDS,
    *,
    model: str | None = None,
) -> FinishedNegotiation:
    """Return the negotiation that opens with a plan, or with a study's own.

    Args:
        plan: what the Scientist opens with. A language model opens with a plan of its own: hand in
            the pack, or the study's plan.
        scientist: ``evidence_aware`` or ``baseline``; a function that takes chat messages (each
            with ``role`` and ``content``) and returns a language model's text; or ``model`` for
            the endpoint that ``REPLICALAB_LLM_BASE_URL`` and ``REPLICALAB_LLM_MODEL`` name. A
            model that gives no valid action, corrected twice, walks away.
        lab_manager: ``reference`` or ``least_loss``.
        max_rounds: how long at most.
        model: what the language model is called in the transcript.

    Raises:
        ValueError: no such player, or a model with a plan that it would not open with.
        ModelError: a call of the endpoint failed. What a function raises goes on as it is.

    >>> talk = negotiate(assess(load("psy_stroop")))
    >>> str(talk.outcome), len(talk.rounds), talk.final_plan.counts.samples
    ('agreed', 2, 25)
    """
    pack = plan if isinstance(plan, scenarios.Pack) else plan.pack
    chosen = None if isinstance(plan, scenarios.Pack) else plan.plan
    kind, generate_fn, name = _seated(scientist)
    if generate_fn and chosen not in (None, pack.reference_protocol):
        raise ValueError(
            "a language model opens with a plan of its own, not with the one that was changed; "
            "hand in its pack"
        )
    case = Case.of(
        pack,
        chosen,
        scientist=kind,
        lab_manager=LabManagerKind(lab_manager),
        max_rounds=max_rounds,
    )
    setup = case.setup(pack, (model or name) if generate_fn else None)
    played = _negotiation.negotiate(setup, pack, generate_fn)
    return FinishedNegotiation(played.setup, played.pack, played.rounds)


def _seated(scientist: str | GenerateFn) -> tuple[Seat, GenerateFn | None, str | None]:
    """Return who plays, with the function and the name of a language model.

    Raises:
        ValueError: it is nobody who can.
        ModelSettingsError: no endpoint is set.
    """
    if not isinstance(scientist, str):
        if not callable(scientist):
            raise ValueError(f"scientist {scientist!r} is no name of a rule, and no function")
        return ScientistKind.MODEL, scientist, None
    if scientist == ScientistKind.MODEL:
        from replicalab import llm  # noqa: PLC0415 - its settings, with the first model

        endpoint = llm.needed_endpoint(os.environ)
        return ScientistKind.MODEL, llm.build_generate_fn(endpoint), endpoint.model
    for rule in (ScientistKind.EVIDENCE_AWARE, ScientistKind.BASELINE):
        if scientist == rule:
            return rule, None, None
    known = f"{ScientistKind.EVIDENCE_AWARE}, {ScientistKind.BASELINE}, {ScientistKind.MODEL}"
    raise ValueError(f"scientist '{scientist}' is unknown; known: {known}, or a function")


class Batch(tuple[Result, ...]):
    """The results of a batch, in the order of its jobs."""

    @property
    def summaries(self) -> list[Summary]:
        """The share of each outcome, with its interval, by study, lab and players."""
        return summaries(self)

    def frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each result."""
        from replicalab.tables.batch import results_frame  # noqa: PLC0415 - pandas

        return results_frame(self)

    def _repr_html_(self) -> str:
        from replicalab.views.batch import outcomes_text, regret_panel  # noqa: PLC0415
        from replicalab.views.blocks import plain_table  # noqa: PLC0415

        rows = [
            (
                *(each.study, str(each.lab), str(each.scientist), str(each.lab_manager)),
                outcomes_text(each),
            )
            for each in self.summaries
        ]
        names = ("study", "lab", "Scientist", "Lab Manager", "outcomes")
        return _page(plain_table("Outcomes", names, rows), regret_panel(self))


def run_batch(
    studies: str | Sequence[str],
    labs: Sequence[str] = tuple(scenarios.Difficulty),
    seeds: Sequence[int] = (0,),
    *,
    scientists: Sequence[str | GenerateFn] = (ScientistKind.EVIDENCE_AWARE,),
    lab_managers: Sequence[LabManagerKind] = (LabManagerKind.REFERENCE,),
    max_rounds: int = scenarios.MAX_ROUNDS,
    executor: Executor | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Batch:
    """Return how every combination ends; each opens with its study's own plan.

    Args:
        studies: ids of the shelf.
        labs: easy, medium, hard.
        seeds: of the labs.
        scientists: each of them plays all; as in `negotiate`, with one language model at most.
        lab_managers: each of them, too.
        max_rounds: how long at most.
        executor: where they are played; None plays them here, one after another. A process pool's,
            or a Dask cluster's ``client.get_executor()``, plays many at once; a language model's
            take threads, and a function that may be called from several.
        progress: is called with how many came, and of how many.

    Raises:
        ValueError: no such player or lab, or too many.

    >>> found = run_batch("psy_stroop", labs=["hard"], seeds=range(10))
    >>> {str(outcome): share.number for outcome, share in found.summaries[0].shares.items()}
    {'agreed': 6, 'no_deal': 4}
    """
    named = [studies] if isinstance(studies, str) else studies
    seats = [*map(_seated, scientists)]
    models = [generate_fn for _, generate_fn, _ in seats if generate_fn]
    if len(models) > 1:
        raise ValueError(f"{len(models)} language models are to play; name one in each batch")
    generate_fn = models[0] if models else None
    jobs = _batch.jobs_of(
        named,
        [_difficulty(lab) for lab in labs],
        seeds,
        scientists=[kind for kind, *_ in seats],
        lab_managers=lab_managers,
        max_rounds=max_rounds,
    )
    # Processes would import the caller's script anew, which must then be written for that.
    results: Iterable[Result] = map(partial(_batch.run_job, generate_fn=generate_fn), jobs)
    if executor:
        results = _batch.run_batch(jobs, executor, generate_fn=generate_fn)
    came = list[Result]()
    for result in results:
        came.append(result)
        if progress:
            progress(len(came), len(jobs))
    return Batch(_batch.in_order(jobs, came))
