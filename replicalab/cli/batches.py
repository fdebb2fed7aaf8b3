"""``batch``: many negotiations, the share of each outcome, and their regret."""

import re
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, nullcontext
from itertools import product
from typing import Any, Final

from replicalab import features
from replicalab.batch import Batch, collect, run_batch
from replicalab.case import Case
from replicalab.cli import asking
from replicalab.cli.commands import Options, command
from replicalab.cli.plans import Blocks
from replicalab.cli.printing import Answer, CommandError, say
from replicalab.facts import records
from replicalab.facts.batch import batch_blocks
from replicalab.lexicon import amount_text, count_text, shortened
from replicalab.limits import MAX_SEED, MOST_JOBS
from replicalab.negotiation import ScientistKind
from replicalab.scenarios import MAX_ROUNDS, Difficulty, list_scenarios

_PLAYERS: Final = ("scientist", "lab_manager")
_DASK_SECONDS: Final = 10  # for a scheduler to answer


@command(
    *("studies", "labs", "seeds", "settings", "scientists", "lab_managers"),
    *("workers", "dask", "save", "as_json"),
    codes="0 if every negotiation was played, 1 if one failed",
    example="psy_stroop --seeds 0-3 --workers 1",
)
def batch(options: Options) -> Answer:
    """Play many negotiations, and count their outcomes; `all` names every study."""
    jobs = _jobs(options)
    plays_model = ScientistKind.MODEL in (options.scientists or ())
    if plays_model and options.dask is not None:
        problem = "--dask: a language model is asked from here"
        raise CommandError(f"{problem}; omit it or {ScientistKind.MODEL}")
    model = features.load("language_model").CountedModel() if plays_model else None
    with _dask(options.dask) if options.dask is not None else nullcontext((None, None)) as cluster:
        executor, threads = cluster
        played = _played(jobs, executor, options.workers or threads, model)
    code = 130 if played.stopped else int(any(result.error for result in played.results))
    file = ""
    if options.save:
        file = records.results_csv(played.results)
    return Answer(code, _blocks(played, model), lambda: _facts(played, model), file)


def _jobs(options: Options) -> list[Case]:
    """Return the negotiations; a fault is refused before the first."""
    shelf = [summary.scenario_id for summary in list_scenarios()]
    names = shelf if "all" in options.studies else options.studies
    lists = options.scientists or [""], options.lab_managers or [""]
    cases = list[Case]()
    for name in dict.fromkeys(names):
        study, text = asking.study_at(name)
        for lab, *players in product(*map(dict.fromkeys, (options.labs or [*Difficulty], *lists))):
            named = {k: v for k, v in zip(_PLAYERS, players, strict=True) if v}
            case = asking.case_of(options, study, lab, {"max_rounds": MAX_ROUNDS, **named})
            case.question.over(study.design)
            cases.append(case.changed(text=text))
    seeds = _seeds(options.seeds)
    if len(cases) * len(seeds) > MOST_JOBS:
        problem = f"more than {MOST_JOBS:,} negotiations are asked for"
        raise CommandError(f"{problem}; name fewer seeds, labs or studies")
    return [case.changed(seed=seed) for case in cases for seed in seeds]


def _seeds(text: str) -> range:
    match = re.fullmatch(r"(\d{1,10})(?:-(\d{1,10}))?", text, re.ASCII)
    first, last = (int(number) for number in match.groups(match[1])) if match else (1, 0)
    if not first <= last <= MAX_SEED or last - first >= MOST_JOBS:
        problem = f"--seeds '{shortened(text)}' is no range of 1 to {MOST_JOBS:,} seeds"
        raise CommandError(f"{problem}; write one such as 0-99")
    return range(first, last + 1)


def _played(jobs: list[Case], executor: Executor | None, workers: int | None, model: Any) -> Batch:
    step = max(1, len(jobs) // 10)

    def show(came: int, number: int) -> None:
        if came % step == 0 or came == number:
            say(f"{amount_text(came)} of {count_text(number, 'negotiation')}")

    try:
        return collect(jobs, run_batch(jobs, executor, workers, model), show)
    finally:
        if model:
            model.stop()


@contextmanager
def _dask(address: str) -> Iterator[tuple[Executor, int]]:
    """Yield a cluster's executor, and its number of threads."""
    try:
        from distributed import Client  # noqa: PLC0415 - an extra
    except ImportError:
        remedy = "pip install distributed, or omit --dask"
        raise CommandError(f"--dask: the package distributed is not installed; {remedy}") from None
    try:
        client = Client(address, timeout=_DASK_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        problem = f"--dask '{address}': no scheduler answers there ({type(error).__name__})"
        raise CommandError(f"{problem}; write one such as tcp://127.0.0.1:8786") from None
    with client:
        workers = sum(client.nthreads().values())
        if not workers:
            raise CommandError(f"--dask '{address}': the cluster has no worker; start one")
        # Equal jobs are each played: the result of a dead worker is worked out again.
        yield client.get_executor(pure=False), workers


def _blocks(played: Batch, model: Any) -> Blocks:
    yield from batch_blocks(played)
    if model:
        yield model.spent_text(count_text(len(played.results), "negotiation"))


def _facts(played: Batch, model: Any) -> records.Data:
    groups = [
        {
            **records.fields(group, "study", "lab", "scientist", "lab_manager", "failed"),
            "regret": group.regret and group.regret.value,
            "shares": {
                outcome: records.fields(share, "number", "of", "value", "interval")
                for outcome, share in group.shares.items()
            },
        }
        for group in played.summaries
    ]
    rows = [result.model_dump(mode="json", exclude={"job": {"text"}}) for result in played.results]
    data = {"asked": played.asked, "stopped": played.stopped, "spent": model and model.spent}
    return {**data, "summaries": groups, "results": rows}
