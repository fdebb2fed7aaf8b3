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
from replicalab.api.shown import OneLine, page
from replicalab.assessment import Assessment
from replicalab.batch import Result, Seat, Summary, summaries
from replicalab.case import Case
from replicalab.lexicon import amount_text, count_text
from replicalab.negotiation import LabManagerKind, Negotiation, ScientistKind, Score

if TYPE_CHECKING:
    import pandas as pd


class NegotiationScore(OneLine, Score):
    """How good the result of a negotiation is."""

    def _line(self) -> str:
        from replicalab.views.score import score_text  # noqa: PLC0415

        return score_text(self)

    def _repr_html_(self) -> str:
        from replicalab.views.score import score_panel  # noqa: PLC0415

        return page(score_panel(self))


class FinishedNegotiation(OneLine, Negotiation):
    """A negotiation to its end."""

    @cached_property
    def score(self) -> NegotiationScore:
        """How good its result is against the best that the lab could run; its regret is 0 at best.

        >>> negotiate(load("psy_stroop"), scientist="baseline").score.regret
        0.0
        """
        return NegotiationScore(*_negotiation.score(self))

    def _line(self) -> str:
        from replicalab.views.negotiation import outcome_verdict  # noqa: PLC0415

        return f"{self.pack.paper.name}: {outcome_verdict(self).text}"

    def _repr_html_(self) -> str:
        from replicalab.views.negotiation import outcome_verdict  # noqa: PLC0415
        from replicalab.views.rounds import ledger_panel, outcome_panel, round_panel  # noqa: PLC0415
        from replicalab.views.score import score_panel  # noqa: PLC0415

        rounds = [round_panel(self, at) for at in range(len(self.rounds))]
        ending = outcome_panel(outcome_verdict(self))
        return page(ending, *rounds, ledger_panel(self), score_panel(self.score))


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


class Batch(OneLine, tuple[Result, ...]):
    """The results of a batch, in the order of its jobs.

    Attributes:
        asked: how many negotiations it was to have; it has fewer where it was stopped.
    """

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
        from replicalab.views.batch import failed_text, stopped_text  # noqa: PLC0415
        from replicalab.views.negotiation import OUTCOME_TITLES  # noqa: PLC0415

        times = Counter(result.outcome for result in self)
        told = [f"{amount_text(n)} {OUTCOME_TITLES[o].lower()}" for o, n in times.items() if o]
        told += [failed_text(times[None])] if times[None] else []
        came = count_text(len(self), "negotiation")
        if self.stopped:
            came = stopped_text(len(self), self.asked).rstrip(".")
        return ": ".join(filter(None, (came, ", ".join(told))))

    def _repr_html_(self) -> str:
        from replicalab.views.batch import outcomes_text, regret_panel, stopped_text  # noqa: PLC0415
        from replicalab.views.blocks import plain_table, sentences_panel  # noqa: PLC0415

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
        return page(sentences_panel(stopped), outcomes, regret_panel(self))


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

    Ctrl-C stops it once one has come, and loses none that came: the result says that it is
    ``stopped``.

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
