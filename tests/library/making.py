"""Contents for tests of the library, and a PostgreSQL server."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Final, Self

import psycopg
import pytest
from sqlalchemy import Engine, create_engine, make_url

from replicalab.library import EntryKind, KeptBatch, Owner, batch_text
from replicalab.negotiation import LabManagerKind, ScientistKind, negotiate, save
from replicalab.negotiation.batch import jobs_of, run_job
from replicalab.negotiation.case import Case, record_text
from replicalab.scenarios import Difficulty, LabOverrides, lab_json, load_scenario, template_text
from tests.factories import make_setup

STUDY: Final = "fin_momentum"
ANN: Final = Owner.of("the secret of Ann's browser")
BEN: Final = Owner.of("the secret of Ben's browser")
TIME: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    """A clock that moves by `wait`, and by a microsecond at each reading."""

    def __init__(self) -> None:
        self.now = TIME

    def __call__(self) -> datetime:
        self.now += timedelta(microseconds=1)
        return self.now

    def wait(self, days: int) -> None:
        self.now += timedelta(days=days)


def make_plan(samples: int = 40, **changes: object) -> str:
    reference = load_scenario(STUDY, Difficulty.MEDIUM, 0).reference_protocol
    plan = reference.model_copy(update={"sample_size": samples})
    record = {"study": STUDY, "lab": Difficulty.MEDIUM, "plan": plan} | changes
    return record_text(Case.model_validate(record))


def make_run(seed: int = 0) -> str:
    pack = load_scenario(STUDY, Difficulty.HARD, seed)
    players = {"scientist": ScientistKind.DIRECT, "lab_manager": LabManagerKind.REFERENCE}
    return save(negotiate(make_setup(pack, max_rounds=6, **players), pack))  # type: ignore[arg-type]


def make_batch(seeds: int = 2, asked: int = 6) -> str:
    results = [run_job(job) for job in jobs_of((STUDY,), seeds=range(seeds))]
    return batch_text(KeptBatch.of(results, asked))


_MAKERS: Final[dict[EntryKind, Callable[[], str]]] = {
    EntryKind.PLAN: make_plan,
    EntryKind.LAB: lambda: lab_json(LabOverrides(name="Our lab", budget=900)),
    EntryKind.STUDY: template_text,
    EntryKind.RUN: make_run,
    EntryKind.BATCH: make_batch,
}


@cache
def content_of(kind: EntryKind) -> str:
    return _MAKERS[kind]()


def engine_of(url: str) -> Engine:
    address = make_url(url)
    if address.drivername == "postgresql":
        address = address.set(drivername="postgresql+psycopg")
    return create_engine(address)


_REMEDY: Final = (
    "no PostgreSQL found: install it (Debian: apt-get install postgresql) or name the folder of "
    "its programs in REPLICALAB_POSTGRES"
)
_NOBODY: Final = 65534  # PostgreSQL refuses to be run by root


def find_postgres() -> Path:
    if named := os.environ.get("REPLICALAB_POSTGRES"):
        return Path(named)
    paths = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    paths += [Path(text).resolve() for text in [shutil.which("initdb")] if text]
    if paths:
        return paths[-1].parent
    if os.environ.get("REPLICALAB_REQUIRE_POSTGRES") == "1":
        pytest.fail(_REMEDY, pytrace=False)
    pytest.skip(_REMEDY)


class PostgresServer:
    """A server with an empty database, in a folder of its own."""

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        self._user = _NOBODY if os.geteuid() == 0 else None
        # A path under pytest's own folders is not open to another user, and too long for a socket.
        self._folder = Path(tempfile.mkdtemp(prefix="replicalab-postgres-"))
        if self._user:
            os.chown(self._folder, self._user, -1)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"postgresql://tester@127.0.0.1:{self.port}/postgres"

    def __enter__(self) -> Self:
        data = str(self._folder / "data")
        self._run("initdb", "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-sync")
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    def start(self) -> None:
        settings = f"-p {self.port} -k {self._folder} -h 127.0.0.1"
        self._control("-o", settings, "-l", str(self._folder / "log"), "start")

    def stop(self) -> None:
        self._control("-m", "immediate", "stop")

    def fresh(self) -> str:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        return self.url

    def _control(self, *arguments: str) -> None:
        self._run("pg_ctl", "-D", str(self._folder / "data"), "-w", *arguments)

    def _run(self, program: str, *arguments: str) -> None:
        # A program that keeps running must hold no pipe, or the run would not end.
        out = self._folder / f"{program}.out"
        with out.open("w") as iowrapper:
            done = subprocess.run(
                [self._programs / program, *arguments],
                cwd=self._folder,
                user=self._user,
                stdin=subprocess.DEVNULL,
                stdout=iowrapper,
                stderr=iowrapper,
                check=False,
            )
        assert done.returncode == 0, out.read_text()
