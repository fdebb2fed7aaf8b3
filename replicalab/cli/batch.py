"""``batch``: many negotiations, how often each outcome came, and how far they are from the best."""

import argparse
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import closing, contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

from replicalab.batch import (
    MODELS_AT_ONCE,
    MOST_JOBS,
    MeanRegret,
    Result,
    Summary,
    in_order,
    jobs_of,
    regrets,
    run_batch,
    summaries,
)
from replicalab.case import Case
from replicalab.cli import asking, facts
from replicalab.cli.files import check_writable, written
from replicalab.cli.model import MODEL, PLAYERS_HELP, Model
from replicalab.cli.negotiate import LAB_MANAGERS_NAMED, SCIENTISTS_NAMED
from replicalab.cli.printing import Answer, CommandError, say
from replicalab.cli.progress import ProgressBar
from replicalab.lexicon import count_text
from replicalab.negotiation import MOST_ROUNDS, LabManagerKind, ScientistKind
from replicalab.render import terminal
from replicalab.scenarios import MAX_ROUNDS, MAX_SEED, Difficulty, list_scenarios
from replicalab.views.batch import (
    faults_text,
    outcomes_text,
    regret_panel,
    share_text,
    stopped_text,
)
from replicalab.views.negotiation import LAB_MANAGERS, OUTCOME_TITLES, SCIENTISTS

_MAX_CALLS: Final = 16
ABOUT: Final = "Many negotiations: each study, lab, seed and pair of players, and the outcomes."
CODES: Final = "0 where every negotiation was played, 1 where one could not be"
EXAMPLES: Final = (
    "batch psy_stroop --seeds 0-9",
    "batch all --lab hard --scientist baseline --scientist evidence_aware --json",
    "batch psy_stroop fin_momentum --seeds 0-19 --workers 2 --csv results.csv",
)
ALL: Final = "all"
MOST_WORKERS: Final = 256
_DASK_WAIT: Final = 10  # So many seconds a scheduler has to answer
# What of a case stands with its result, besides its own lab and question.
_TOLD: Final = {"study", "lab", "seed", "scientist", "lab_manager", "max_rounds"}
# What scheduler and workers import: a job comes to them by its name there.
_CODE: Final = "replicalab"


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "study",
        metavar="STUDY",
        nargs="+",
        help=f"a study's id, the path of a study file, or {ALL}",
    )
    labs = parser.add_argument_group("labs")
    labs.add_argument(
        "--lab", action="append", choices=asking.LABS, help="again for each (default: each of them)"
    )
    labs.add_argument(
        "--seeds", type=seeds, default=(0,), metavar="A-B", help="such as 0-99 (default: 0)"
    )
    asking.add_own(parser)
    players = parser.add_argument_group("players, again for each")
    players.add_argument(
        "--scientist",
        action="append",
        choices=SCIENTISTS_NAMED,
        help=f"(default: evidence_aware); {PLAYERS_HELP}",
    )
    players.add_argument(
        "--lab-manager",
        action="append",
        choices=LAB_MANAGERS_NAMED,
        help="(default: reference)",
    )
    players.add_argument(
        "--rounds",
        type=asking.whole(1, MOST_ROUNDS),
        default=MAX_ROUNDS,
        metavar="N",
        help=f"at most so many (default: {MAX_ROUNDS})",
    )
    run = parser.add_argument_group("how it runs")
    where = run.add_mutually_exclusive_group()
    where.add_argument(
        "--workers",
        type=asking.whole(1, MOST_WORKERS),
        metavar="N",
        help="so many processes (default: one for each core); with a language model so many "
        f"negotiations at once, at most {_MAX_CALLS} (default: {MODELS_AT_ONCE})",
    )
    where.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="on a Dask cluster, by its scheduler's address; each worker needs this same code",
    )
    run.add_argument(
        "--csv", metavar="FILE.csv", type=Path, help="keep each result, a row for each"
    )


def seeds(text: str) -> range:
    """Return the seeds that a text names: ``7``, or ``0-99``."""
    first, _, last = text.partition("-")
    read = asking.whole(0, MAX_SEED)
    low, high = read(first), read(last or first)
    if high < low or high - low >= MOST_JOBS:
        problem = f"'{text}' is no range of 1 to {MOST_JOBS:,} seeds"
        raise argparse.ArgumentTypeError(f"{problem}; write one such as 0-99")
    return range(low, high + 1)


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


def answer(asked: argparse.Namespace) -> Answer:
    """Return what came of the batch; after Ctrl-C of what was played until then."""
    jobs, model = _jobs(asked), _model(asked)
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
    return Answer(played.code, _lines(played, saved), lambda: _facts(played))


def _model(asked: argparse.Namespace) -> Model | None:
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


def _jobs(asked: argparse.Namespace) -> list[Case]:
    """Return what is to be played; a study or a question that cannot be is refused before."""
    cases = list[Case]()
    labs = list(dict.fromkeys(map(Difficulty, asked.lab or asking.LABS)))
    every = [summary.scenario_id for summary in list_scenarios()] if ALL in asked.study else []
    studies = [asking.study_at(name) for name in every or dict.fromkeys(asked.study)]
    own = asking.own_lab(asked, [study for study, _ in studies])
    for study, text in studies:
        question = asking.question(asked, study)
        question.over(study.design)
        cases.append(
            Case(study=study.scenario_id, text=text, lab=labs[0], own_lab=own, question=question)
        )
    try:
        return jobs_of(
            cases,
            labs,
            asked.seeds,
            scientists=list(dict.fromkeys(asked.scientist or [ScientistKind.EVIDENCE_AWARE])),
            lab_managers=list(dict.fromkeys(asked.lab_manager or [LabManagerKind.REFERENCE])),
            max_rounds=asked.rounds,
        )
    except ValueError:
        asked_for = f"more than {MOST_JOBS:,} negotiations are asked for"
        raise CommandError(f"{asked_for}; name fewer seeds, labs or studies") from None


# --- how it runs --------------------------------------------------------------------------------


def _played(
    jobs: list[Case], executor: Executor | None, workers: int | None, model: Model | None
) -> list[Result]:
    """Return the results in the order of the jobs; after Ctrl-C those that had come."""
    came: list[Result] = []
    progress = ProgressBar(len(jobs), "negotiation")
    try:
        with closing(run_batch(jobs, executor, workers, model)) as results:
            for result in results:
                came.append(result)
                progress.show(len(came))
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


# --- what came of it ----------------------------------------------------------------------------


def _lines(played: Played, saved: str) -> Iterator[str]:
    if played.stopped:
        yield stopped_text(len(played.results), played.asked)
    found = summaries(played.results)
    heads = ("STUDY", "LAB", "SCIENTIST", "LAB MANAGER", "OUTCOME", "SHARE (95 % INTERVAL)")
    yield from terminal.columns([heads, *(row for each in found for row in _rows(each))])
    regret = list(terminal.lines(regret_panel(played.results)))
    yield from ["", *regret] if regret else []
    why = faults_text(result.error for result in played.results)
    yield from terminal.section("Not played", terminal.indented(why))
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
