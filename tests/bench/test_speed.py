"""What a check, a pack, a negotiation and the first import cost.

Times differ from machine to machine, so they are given as ratios to one yardstick in the same
run: pydantic's validation of the plan that is checked or negotiated.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
import timeit
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from replicalab.agents import check_feasibility
from replicalab.models import Protocol
from replicalab.negotiation import LabManagerKind, ScientistKind, negotiate, setup_for
from replicalab.scenarios import Difficulty, list_scenarios, load_scenario, pack_of
from tests.bench.measuring import hold

pytestmark = pytest.mark.bench

ROOT: Final = Path(__file__).resolve().parents[2]
REPEATS: Final = 15
STARTS: Final = 9
PLACES: Final = [(study.scenario_id, lab) for study in list_scenarios() for lab in Difficulty]


def seconds(*works: Callable[[], object]) -> list[float]:
    """Return the time of one call of each: the best of several turns of some 20 ms each.

    They take turns, so that a busy moment of the machine does not fall on one of them alone.
    """
    timers = [timeit.Timer(work) for work in works]
    numbers = [max(1, round(0.02 / min(timer.repeat(3, 1)))) for timer in timers]
    turns = [
        [timer.timeit(number) / number for timer, number in zip(timers, numbers, strict=True)]
        for _ in range(REPEATS)
    ]
    return [min(taken) for taken in zip(*turns, strict=True)]


@pytest.mark.parametrize(("study", "lab"), PLACES)
def test_check_pack_and_negotiation_against_validating_the_plan(
    study: str, lab: Difficulty, capsys: pytest.CaptureFixture[str]
) -> None:
    pack = load_scenario(study, lab)
    plan = pack.reference_protocol
    values = plan.model_dump()
    setup = setup_for(
        pack, plan, scientist=ScientistKind.BASELINE, lab_manager=LabManagerKind.REFERENCE
    )
    seeds = count(1)
    validation, check, made, whole = seconds(
        lambda: Protocol.model_validate(values),
        lambda: check_feasibility(plan, pack),
        lambda: pack_of(pack.study, lab, next(seeds)),
        lambda: negotiate(setup, pack),
    )
    where = f"{study} {lab}"
    hold(capsys, "check / validating the plan", check / validation, where)
    hold(capsys, "pack / validating the plan", made / validation, where)
    rounds = len(negotiate(setup, pack).rounds)
    detail = f"{where}, {rounds} rounds, of {validation * 1e6:.2f} µs"
    hold(capsys, "negotiation / validating the plan", whole / validation, detail)


def test_import_of_the_agents(capsys: pytest.CaptureFixture[str]) -> None:
    def start(code: str) -> float:
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
        return time.perf_counter() - began

    empty = statistics.median(start("pass") for _ in range(STARTS))
    agents = statistics.median(start("import replicalab.agents") for _ in range(STARTS))
    pydantic = statistics.median(start("import pydantic.main") for _ in range(STARTS))
    hold(
        capsys,
        "import of replicalab.agents / of pydantic",
        (agents - empty) / (pydantic - empty),
        f"{agents - empty:.3f} s; the interpreter's {empty:.3f} s taken off",
    )
