"""Negotiations, one or many, by rules or with a language model."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Executor
from contextlib import closing
from functools import cached_property
from typing import TYPE_CHECKING

from replicalab import batch as _batch
from replicalab import negotiation as _negotiation
from replicalab import scenarios
from replicalab.agents.scientist_policy import GenerateFn
from replicalab.api.labs import difficulty
from replicalab.api.shown import Shown
from replicalab.assessment import Assessment
from replicalab.batch import Result, Seat, Summary, summaries
from replicalab.case import Case
from replicalab.lexicon import amount_text, count_text
from replicalab.negotiation import LabManagerKind, Negotiation, ScientistKind, Score
from replicalab.views.batch import failed_text, outcomes_text, regret_panel, stopped_text
from replicalab.views.blocks import Block, plain_table, sentences_panel
from replicalab.views.negotiation import OUTCOME_TITLES, outcome_verdict
from replicalab.views.rounds import ledger_panel, outcome_panel, round_panel
from replicalab.views.score import score_panel

if TYPE_CHECKING:
    import pandas as pd


class FinishedNegotiation(Shown, Negotiation):
    """A negotiation to its end."""

    @cached_property
    def score(self) -> Score:
        """The regret of its result against the best plan for the lab; 0 is optimal."""
        return _negotiation.score(self)

    def _line(self) -> str:
        return f"{self.pack.paper.name}: {outcome_verdict(self).text}"

    def _blocks(self) -> tuple[Block, ...]:
        rounds = [round_panel(self, at) for at in range(len(self.rounds))]
        ending = outcome_panel(outcome_verdict(self))
        return ending, *rounds, ledger_panel(self), score_panel(self.score)


def negotiate(
    plan: Assessment | scenarios.Pack,
    scientist: str | GenerateFn = ScientistKind.DIRECT,
    lab_manager: str = LabManagerKind.REFERENCE,
    max_rounds: int = scenarios.MAX_ROUNDS,
    *,
    model: str | None = None,
) -> FinishedNegotiation:
    """Return the negotiation that opens with a plan, or with a study's own.

    Args:
        plan: the Scientist's first plan. A language model takes a pack, or the study's plan.
        scientist: ``direct``, ``baseline``, a function from chat messages to a model's
            text, or ``model`` for the endpoint in ``REPLICALAB_LLM_BASE_URL``.
        lab_manager: ``reference`` or ``least_loss``.
        max_rounds: the limit of rounds.
        model: the model's name in the transcript.

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
    if not isinstance(scientist, str):
        if not callable(scientist):
            raise ValueError(f"scientist {scientist!r} is no name of a rule, and no function")
        return ScientistKind.MODEL, scientist, None
    if scientist == ScientistKind.MODEL:
        from replicalab import llm  # noqa: PLC0415 - its settings, with the first model

        endpoint = llm.needed_endpoint(os.environ)
        return ScientistKind.MODEL, llm.build_generate_fn(endpoint), endpoint.model
    for rule in (ScientistKind.DIRECT, ScientistKind.BASELINE):
        if scientist == rule:
            return rule, None, None
    known = f"{ScientistKind.DIRECT}, {ScientistKind.BASELINE}, {ScientistKind.MODEL}"
    raise ValueError(f"scientist '{scientist}' is unknown; known: {known}, or a function")


class Batch(Shown, tuple[Result, ...]):
    """The results of a batch, in the order of its jobs; `asked` is the number of jobs."""

    asked: int = 0

    @property
    def stopped(self) -> bool:
        """Whether not all came, since Ctrl-C stopped it."""
        return len(self) < self.asked

    @property
    def summaries(self) -> list[Summary]:
        """The share of each outcome, with its interval, by study, lab and players."""
        return summaries(self)

    def frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each result."""
        from replicalab.tables.batch import results_frame  # noqa: PLC0415 - pandas

        return results_frame(self)

    def _line(self) -> str:
        times = Counter(result.outcome for result in self)
        told = [f"{amount_text(n)} {OUTCOME_TITLES[o].lower()}" for o, n in times.items() if o]
        told += [failed_text(times[None])] if times[None] else []
        came = count_text(len(self), "negotiation")
        if self.stopped:
            came = stopped_text(len(self), self.asked).rstrip(".")
        return ": ".join(filter(None, (came, ", ".join(told))))

    def _blocks(self) -> tuple[Block, ...]:
        rows = [
            (
                *(each.study, str(each.lab), str(each.scientist), str(each.lab_manager)),
                outcomes_text(each),
            )
            for each in self.summaries
        ]
        names = ("study", "lab", "Scientist", "Lab Manager", "outcomes")
        stopped = [stopped_text(len(self), self.asked)] if self.stopped else []
        outcomes = plain_table("Outcomes", names, rows)
        return sentences_panel(stopped), outcomes, regret_panel(self)


def run_batch(
    studies: str | Sequence[str],
    labs: Sequence[str] = tuple(scenarios.Difficulty),
    seeds: Sequence[int] = (0,),
    *,
    scientists: Sequence[str | GenerateFn] = (ScientistKind.DIRECT,),
    lab_managers: Sequence[LabManagerKind] = (LabManagerKind.REFERENCE,),
    max_rounds: int = scenarios.MAX_ROUNDS,
    executor: Executor | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Batch:
    """Return the result of every combination; each opens with its study's own plan.

    Ctrl-C stops the batch once a result has come; `stopped` is then true.

    Args:
        studies: ids of studies.
        labs: easy, medium, hard.
        seeds: seeds of the labs.
        scientists: as in `negotiate`, with one language model at most.
        lab_managers: as in `negotiate`.
        max_rounds: the limit of rounds.
        executor: a pool, or a Dask client's ``get_executor()``; None plays one after another.
        progress: a function of the number of results and the number of jobs.

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
        [difficulty(lab) for lab in labs],
        seeds,
        scientists=[kind for kind, *_ in seats],
        lab_managers=lab_managers,
        max_rounds=max_rounds,
    )
    came = list[Result]()
    try:
        with closing(_played(jobs, executor, generate_fn)) as results:
            for result in results:
                came.append(result)
                if progress:
                    progress(len(came), len(jobs))
    except KeyboardInterrupt:
        if not came:  # there is nothing to lose
            raise
    found = Batch(_batch.in_order(jobs, came))
    found.asked = len(jobs)
    return found


def _played(
    jobs: Sequence[Case], executor: Executor | None, generate_fn: GenerateFn | None
) -> Generator[Result]:
    if executor:
        yield from _batch.run_batch(jobs, executor, generate_fn=generate_fn)
        return
    # Processes would import the caller's script anew, which must then be written for that.
    for job in jobs:
        yield _batch.run_job(job, generate_fn)
