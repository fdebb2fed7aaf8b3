"""``batch``: every result once, partial results after Ctrl-C, and on a Dask cluster."""

import csv
import json
import os
import signal
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import pytest

from replicalab.negotiation.batch import jobs_of, run_job
from replicalab.scenarios import LabOverrides, study_text
from tests.cli.asking import Asking, started

STUDY: Final = "psy_stroop"
REQUIRED: Final = "REPLICALAB_REQUIRE_DASK"
SEEDS: Final = 60


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_batch_results_are_in_order(ask: Asking) -> None:
    options = "--seeds 2-11 --workers 1 --set own_lab.budget=500 --save out.csv --json"
    answer = ask(f"batch {STUDY} --lab hard --lab easy {options}")
    jobs = jobs_of([STUDY], ["hard", "easy"], range(2, 12))
    ours = [run_job(job.model_copy(update={"own_lab": LabOverrides(budget=500)})) for job in jobs]
    assert answer.code == 0
    keys = ("outcome", "credits", "samples", "evidence")
    result = [tuple(item[key] for key in keys) for item in answer.data["results"]]
    assert result == [tuple(our.model_dump(mode="json")[key] for key in keys) for our in ours]
    assert answer.data["results"][0]["job"]["own_lab"]["budget"] == 500
    assert [int(row["seed"]) for row in rows_of(Path("out.csv"))] == [*range(2, 12)] * 2
    assert answer.err.splitlines()[-1] == "20 of 20 negotiations"
    assert len(answer.err.splitlines()) <= 10


def test_batch_of_a_file_equals_its_study(ask: Asking) -> None:
    Path("mine.yaml").write_text(study_text(STUDY), encoding="utf-8")
    mine, ours = ask(f"batch mine.yaml {STUDY} --lab easy --workers 1 --json").data["results"]
    assert mine == ours


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as a signal")
def test_batch_that_is_stopped_keeps_what_it_had(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    line = f"batch {STUDY} --lab hard --seeds 0-399 --workers 1 --save {path}"
    process = started(line, start_new_session=True)
    assert process.stderr
    assert process.stderr.readline() == "40 of 400 negotiations\n"
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to its workers too
    text, faults = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in faults
    seeds = [int(row["seed"]) for row in rows_of(path)]
    assert 40 <= len(seeds) < 400
    assert len(set(seeds)) == len(seeds)
    assert text.strip().startswith(f"Stopped: {len(seeds):,} of 400 negotiations are played.")


def test_missing_dask_is_named(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    answer = ask(f"batch {STUDY} --dask tcp://127.0.0.1:1")
    assert answer.code == 2
    assert answer.err == (
        "--dask: the package distributed is not installed; pip install distributed, or omit "
        "--dask\n"
    )


@pytest.fixture(scope="module")
def dask() -> None:
    if find_spec("distributed") is None and not os.environ.get(REQUIRED):
        pytest.skip(f"distributed is not installed; {REQUIRED}=1 makes that a failure")


@pytest.fixture(scope="module")
def cluster(dask: None) -> Iterator[Any]:
    from distributed import LocalCluster  # noqa: PLC0415 - it may not be installed

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as result:
        yield result


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_cluster_that_loses_a_worker_keeps_results(tmp_path: Path, cluster: Any) -> None:
    path = tmp_path / "all.csv"
    pids = [worker.pid for worker in cluster.workers.values()]
    line = f"batch {STUDY} --seeds 0-{SEEDS - 1} --dask {cluster.scheduler_address} --save {path}"
    process = started(f"{line} --json")
    assert process.stderr
    assert process.stderr.readline() == "18 of 180 negotiations\n"
    os.kill(pids[0], signal.SIGKILL)
    text, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert pids[0] not in [worker.pid for worker in cluster.workers.values()]
    times = Counter((row["lab"], int(row["seed"])) for row in rows_of(path))
    assert set(times.values()) == {1}
    assert len(times) == 3 * SEEDS
    here = [run_job(job).model_dump(mode="json") for job in jobs_of([STUDY], seeds=range(SEEDS))]
    results = json.loads(text)["results"]
    for name in ("outcome", "credits"):
        assert [result[name] for result in results] == [result[name] for result in here]
