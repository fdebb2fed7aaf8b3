"""Costs of the core, mostly as ratios to pydantic's validation of the plan in the same run."""

import subprocess
import sys
import time
import timeit
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from replicalab.agents import (
    build_scientist_system_prompt,
    check_feasibility,
    compose_lab_manager_response,
    suggest_alternative,
)
from replicalab.assessment import Counts, assess
from replicalab.models import Protocol, revise
from replicalab.negotiation import LabManagerKind, ScientistKind, negotiate
from replicalab.negotiation.batch import run_job
from replicalab.negotiation.case import Case
from replicalab.planner import PlanAnalysis
from replicalab.planner.region import numeric_checks
from replicalab.scenarios import Difficulty, Pack, list_scenarios, load_scenario, pack_of
from tests.bench.measuring import BARS, best, hold, say
from tests.factories import make_setup

pytestmark = pytest.mark.bench

ROOT: Final = Path(__file__).resolve().parents[2]
STUDIES: Final = [study.scenario_id for study in list_scenarios()]
PACKS: Final = [load_scenario(study, lab) for study in STUDIES for lab in Difficulty]


def named(pack: Pack) -> str:
    return f"{pack.scenario_id} {pack.difficulty}"


def steps_of(pack: Pack) -> dict[str, Callable[[], object]]:
    plan = pack.reference_protocol
    values = plan.model_dump()
    setup = make_setup(
        pack, plan, scientist=ScientistKind.BASELINE, lab_manager=LabManagerKind.REFERENCE
    )
    seeds = count(1)
    job = Case(study=pack.scenario_id, lab=pack.difficulty, scientist=ScientistKind.BASELINE)
    judged = assess(plan, pack)
    checked = judged.check
    suggestion = suggest_alternative(plan, checked, pack)
    fewer = revise(plan, sample_size=plan.sample_size - 1)
    return {
        "validation": lambda: Protocol.model_validate(values),
        "check": lambda: assess(plan, pack).failing,
        "new plan": lambda: judged.revised(fewer).failing,
        "check in sentences": lambda: check_feasibility(plan, pack),
        "suggest": lambda: suggest_alternative(plan, checked, pack),
        "compose": lambda: compose_lab_manager_response(checked, suggestion),
        "prompt": lambda: build_scientist_system_prompt(pack),
        "pack": lambda: pack_of(pack.study, pack.difficulty, next(seeds)),
        "negotiation": lambda: negotiate(setup, pack),
        "job of a batch": lambda: run_job(job),
    }


def seconds(works: Sequence[Callable[[], object]]) -> list[float]:
    """Return the time of one call of each: the best of several turns of some 20 ms each.

    All take a turn before any takes the next, so that a busy minute of the machine does not fall
    on some of them alone; what counts is the processor's time.
    """
    timers = [timeit.Timer(work, timer=time.thread_time) for work in works]
    numbers = [max(1, round(0.02 / min(timer.repeat(3, 1)))) for timer in timers]
    turns = [
        [timer.timeit(number) / number for timer, number in zip(timers, numbers, strict=True)]
        for _ in range(15)
    ]
    return [min(taken) for taken in zip(*turns, strict=True)]


@pytest.fixture(scope="module")
def taken() -> dict[tuple[str, str], float]:
    works = {(named(pack), step): work for pack in PACKS for step, work in steps_of(pack).items()}
    return dict(zip(works, seconds([*works.values()]), strict=True))


@pytest.mark.parametrize("step", [*steps_of(PACKS[0])][1:])
def test_step_against_validating_the_plan(
    step: str, taken: dict[tuple[str, str], float], capsys: pytest.CaptureFixture[str]
) -> None:
    ratios = {lab: taken[lab, step] / taken[lab, "validation"] for lab in map(named, PACKS)}
    slowest = max(ratios, key=lambda lab: ratios[lab])
    hold(capsys, f"{step} / validating the plan", ratios[slowest], slowest)


def test_import_of_the_agents(capsys: pytest.CaptureFixture[str]) -> None:
    def start(code: str) -> float:
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
        return time.perf_counter() - began

    codes = ("pass", "import replicalab.agents", "import pydantic.main")
    # In turn, and the best of each, so that other load slows all of them alike.
    rounds = [[start(code) for code in codes] for _ in range(9)]
    empty, agents, pydantic = map(min, zip(*rounds, strict=True))
    hold(
        capsys,
        "import of replicalab.agents / of pydantic",
        (agents - empty) / (pydantic - empty),
        f"{agents - empty:.3f} s; the interpreter's {empty:.3f} s taken off",
    )


SEARCHES: Final[dict[str, Callable[[Pack], object]]] = {
    "least_loss": lambda pack: PlanAnalysis(assess(pack.reference_protocol, pack)).least,
    "asks": lambda pack: PlanAnalysis(assess(pack.reference_protocol, pack)).asks,
    "frontier": lambda pack: PlanAnalysis(assess(pack.reference_protocol, pack)).frontier,
}


@pytest.mark.parametrize("name", SEARCHES)
def test_search_on_the_slowest_study(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    taken, pack = max(
        ((best(partial(SEARCHES[name], pack), cold=True) * 1000, pack) for pack in PACKS),
        key=lambda found: found[0],
    )
    where = f"on {named(pack)}, the slowest lab"
    if f"{name}, ms" in BARS:
        hold(capsys, f"{name}, ms", taken, where)
    else:
        say(capsys, f"{name}: {taken:.1f} ms {where}")


@pytest.mark.parametrize("study", STUDIES)
def test_a_million_plans_of_any_size_on_arrays(
    study: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(1)
    counts = Counts(*(rng.integers(0, limit, 10**6) for limit in (400, 30, 6, 5, 5)))
    pack = load_scenario(study, Difficulty.MEDIUM)
    assert numeric_checks(counts, pack).all_ok.shape == (10**6,)
    taken = best(lambda: numeric_checks(counts, pack), clock=time.process_time)
    hold(capsys, "seconds for a million plans on arrays", taken, study)


def test_load_of_the_shipped_studies(capsys: pytest.CaptureFixture[str]) -> None:
    def load_all() -> None:
        for study in list_scenarios():
            for lab in Difficulty:
                load_scenario(study.scenario_id, lab)

    cold, warm = best(load_all, cold=True) * 1000, best(load_all) * 1000
    hold(capsys, "all studies, ms", cold, f"12 studies in 3 labs each; then {warm:.1f} ms")
