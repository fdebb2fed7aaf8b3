"""``batch``: many negotiations, how often each outcome came, and how far they are from the best."""

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import closing, contextmanager, nullcontext
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Final, NamedTuple, cast

from rich.console import RenderableType

from replicalab.batch import (
    MOST_JOBS,
    MeanRegret,
    Result,
    Seat,
    Summary,
    in_order,
    jobs_of,
    regrets,
    run_batch,
    summaries,
)
from replicalab.case import Case
from replicalab.cli import asking, facts
from replicalab.cli.files import check_writable, fills_standard_output, written
from replicalab.cli.model import MODEL, Model
from replicalab.cli.negotiations import LAB_MANAGERS_NAMED, SCIENTISTS_NAMED, require_rounds
from replicalab.cli.printing import Answer, CommandError, is_watched, say
from replicalab.lexicon import amount_text, count_text, shortened
from replicalab.negotiation import LabManagerKind, ScientistKind
from replicalab.render import terminal
from replicalab.scenarios import MAX_ROUNDS, MAX_SEED, list_scenarios
from replicalab.views.batch import (
    faults_text,
    outcomes_text,
    regret_panel,
    share_text,
    stopped_text,
)
from replicalab.views.blocks import table
from replicalab.views.negotiation import LAB_MANAGERS, OUTCOME_TITLES, SCIENTISTS

_MAX_CALLS: Final = 16
ALL: Final = "all"
_DASK_WAIT: Final = 10  # So many seconds a scheduler has to answer
# Fields of a case in the facts of its result.
_TOLD: Final = {"study", "lab", "seed", "scientist", "lab_manager", "max_rounds"}
# What scheduler and workers import: a job comes to them by its name there.
_CODE: Final = "replicalab"


def seeds(text: str) -> range:
    """Return the seeds that a text names: ``7``, or ``0-99``."""
    first, _, last = text.partition("-")
    numbers = [
        int(part) if part.isascii() and part.isdecimal() else -1
        for part in (first, last or first)
        if len(part) < 12
    ]
    if (
        len(numbers) != 2
        or not 0 <= numbers[0] <= numbers[1] <= MAX_SEED
        or numbers[1] - numbers[0] >= MOST_JOBS
    ):
        problem = f"--seeds '{shortened(text)}' is no range of 1 to {MOST_JOBS:,} seeds"
        raise CommandError(f"{problem}; write one such as 0-99")
    return range(numbers[0], numbers[1] + 1)


class Played(NamedTuple):
    """What came of a batch, and of how many jobs."""

    results: list[Result]
    asked: int
    model: Model | None = None

    @property
    def stopped(self) -> bool:
        """Whether not all came."""
        return len(self.results) < self.asked

    @property
    def code(self) -> int:
        """The exit code of it."""
        if self.stopped:
            return 130
        return 1 if any(result.error for result in self.results) else 0


def batch(asked: SimpleNamespace) -> Answer:
    """Return what came of the batch; after Ctrl-C of what was played until then."""
    jobs, model = _jobs(asked), _model(asked)
    is_silent = fills_standard_output(asked)
    if asked.csv:
        check_writable(asked.csv)
    with _dask(asked.dask) if asked.dask is not None else nullcontext((None, None)) as cluster:
        executor, workers = cluster
        came = _played(jobs, executor, asked.workers or workers, model)
    played = Played(came, len(jobs), model)
    saved = ""
    if asked.csv:
        from replicalab.tables.batch import results_csv  # noqa: PLC0415 - brings pandas in

        saved = written(asked.csv, results_csv(played.results))
    if model:
        model.wait()
    return Answer(played.code, _lines(played, saved), lambda: _facts(played), is_silent)


def _model(asked: SimpleNamespace) -> Model | None:
    """Return the language model where one plays.

    Raises:
        CommandError: it cannot play where the rest is to be played.
        ModelSettingsError: it is nowhere to be reached.
    """
    if MODEL not in (asked.scientist or []):
        return None
    if asked.dask is not None:
        raise CommandError(f"--dask: a language model is asked from here; leave out it or {MODEL}")
    if asked.workers is not None and asked.workers > _MAX_CALLS:
        most = f"a language model plays at most {_MAX_CALLS} negotiations at once"
        raise CommandError(f"--workers {asked.workers}: {most}; ask for fewer")
    return Model()


def _jobs(asked: SimpleNamespace) -> list[Case]:
    """Return the negotiations; a study or a question with a fault is refused before the first."""
    every = [summary.scenario_id for summary in list_scenarios()] if ALL in asked.study else []
    studies = [asking.study_at(name) for name in every or dict.fromkeys(asked.study)]
    scientists = dict.fromkeys(asked.scientist or [ScientistKind.DIRECT.value])
    managers = dict.fromkeys(asked.lab_manager or [LabManagerKind.REFERENCE.value])
    for scientist in scientists:
        asking.choice("--scientist", scientist, SCIENTISTS_NAMED)
    for manager in managers:
        asking.choice("--lab-manager", manager, LAB_MANAGERS_NAMED)
    require_rounds(asked.rounds)
    cases = list[Case]()
    for study, text in studies:
        for lab in dict.fromkeys(asked.lab or asking.LEVELS):
            case = asking.case_of(asked, study, lab).changed(text=text)
            case.question.over(study.design)
            cases.append(case)
    numbers = seeds(asked.seeds)
    if len(cases) * len(numbers) * len(scientists) * len(managers) > MOST_JOBS:
        problem = f"more than {MOST_JOBS:,} negotiations are asked for"
        raise CommandError(f"{problem}; name fewer seeds, labs or studies")
    return [
        job
        for case in cases
        for job in jobs_of(
            [case],
            [case.lab],
            numbers,
            scientists=cast("list[Seat]", [ScientistKind(name) for name in scientists]),
            lab_managers=[LabManagerKind(name) for name in managers],
            max_rounds=asked.rounds or MAX_ROUNDS,
        )
    ]


# --- how it runs --------------------------------------------------------------------------------


def _played(
    jobs: list[Case], executor: Executor | None, workers: int | None, model: Model | None
) -> list[Result]:
    """Return the results in the order of the jobs; after Ctrl-C those that had come."""
    came: list[Result] = []
    try:
        with closing(run_batch(jobs, executor, workers, model)) as results:
            for result in results:
                came.append(result)
                _show_progress(len(came), len(jobs))
    except KeyboardInterrupt:
        say("")
    finally:
        if model:  # whose calls would go on by themselves
            model.stop()
    return in_order(jobs, came)


@contextmanager
def _dask(address: str) -> Iterator[tuple[Executor, int]]:
    """Yield a cluster's executor, and how many negotiations it plays at once.

    Raises:
        CommandError: there is no ``distributed`` here, or no scheduler there, or it has no worker,
            or one of them does not have this code.
    """
    try:
        from distributed import Client  # noqa: PLC0415 - a development requirement only
    except ImportError:
        remedy = "pip install distributed, or leave --dask out"
        raise CommandError(f"--dask: the package distributed is not installed; {remedy}") from None
    try:
        client = Client(address, timeout=_DASK_WAIT, set_as_default=False)
    except (OSError, ValueError) as error:
        problem = f"--dask '{address}': no scheduler answers there ({type(error).__name__})"
        raise CommandError(f"{problem}; write one such as tcp://127.0.0.1:8786") from None
    with client:
        workers = sum(client.nthreads().values())
        if not workers:
            raise CommandError(f"--dask '{address}': the cluster has no worker; start one")
        found = {
            "the scheduler": client.run_on_scheduler(find_spec, _CODE),
            **client.run(find_spec, _CODE),
        }
        for who, code in found.items():
            if code is None:
                remedy = "start it in this folder, with PYTHONPATH=. before its command"
                raise CommandError(f"--dask '{address}': {who} does not have this code; {remedy}")
        # Of equal jobs each is played: a result that a dead worker held is worked out again.
        yield client.get_executor(pure=False), workers


def _show_progress(number: int, of: int) -> None:
    """Show the number of results: over itself in a terminal, else once for each tenth."""
    step = max(1, of // (200 if is_watched() else 10))
    if number == of or number % step == 0:
        text = f"{amount_text(number)} of {count_text(of, 'negotiation')}"
        say(f"\r{text}" if is_watched() else text, "" if is_watched() and number < of else "\n")


# --- what came of it ----------------------------------------------------------------------------


_COLUMNS: Final = ("Study", "Lab", "Scientist", "Lab Manager", "Outcome", "Share (95 % interval)")


def _lines(played: Played, saved: str) -> Iterator[RenderableType]:
    if played.stopped:
        yield stopped_text(len(played.results), played.asked)
    rows = [row for summary in summaries(played.results) for row in _rows(summary)]
    yield from terminal.rendered(table("Outcomes", _COLUMNS, rows))
    yield from terminal.rendered(regret_panel(played.results))
    if faults := [*faults_text(result.error for result in played.results)]:
        yield terminal.heading("Not played")
        yield from terminal.rendered(*faults)
    if played.model:
        number = count_text(len(played.results), "negotiation")
        yield from ["", played.model.spent_text(number)]
    yield from ["", saved] if saved else []


def _rows(summary: Summary) -> Iterator[tuple[str, ...]]:
    players = SCIENTISTS[summary.scientist].name, LAB_MANAGERS[summary.lab_manager].name
    group = summary.study, str(summary.lab), *players
    for outcome, share in summary.shares.items():
        yield *group, OUTCOME_TITLES[outcome], share_text(share)
    if not summary.shares:
        yield *group, "", outcomes_text(summary)


def _facts(played: Played) -> dict[str, object]:
    return {
        "asked": played.asked,
        "played": sum(not result.error for result in played.results),
        "stopped": played.stopped,
        **({"spent": played.model.spent} if played.model else {}),
        "summaries": [_summary(each) for each in summaries(played.results)],
        "results": [_result(result) for result in played.results],
        "regrets": {str(who): _mean(mean) for who, mean in regrets(played.results).items()},
    }


def _result(result: Result) -> dict[str, object]:
    job = result.job.model_dump(mode="json", include=_TOLD)
    ending = result.model_dump(mode="json", exclude={"job"})
    own = facts.own(result.job.own_lab, result.job.question)
    return {**job, **own, **ending, "regret": result.regret}


def _mean(found: MeanRegret) -> dict[str, object]:
    return {**found._asdict(), "regret": found.value}


def _summary(found: Summary) -> dict[str, object]:
    shares = {
        str(outcome): {
            "number": share.number,
            "of": share.of,
            "share": share.value,
            "interval": share.interval,
        }
        for outcome, share in found.shares.items()
    }
    players = {"scientist": str(found.scientist), "lab_manager": str(found.lab_manager)}
    group = {"study": found.study, "lab": str(found.lab), **players}
    regret = found.regret.value if found.regret else None
    return {**group, "shares": shares, "failed": found.failed, "regret": regret}
