"""What the core costs: a check, a pack, a negotiation, evidence, a search, files, the first import.

Times differ from machine to machine, so what is held is mostly a ratio to a yardstick in the same
run: pydantic's validation of the plan that is checked or negotiated.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time
import timeit
from collections.abc import Callable, Iterator, Sequence
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
from replicalab.assessment import Counts, assess, evidence_value, smallest_detectable_effect
from replicalab.batch import run_job
from replicalab.case import Case
from replicalab.designs import KINDS
from replicalab.designs.distributions import t_test_power
from replicalab.models import Protocol, revise
from replicalab.negotiation import LabManagerKind, ScientistKind, negotiate
from replicalab.planner import asks, frontier, least_loss
from replicalab.planner.region import numeric_checks
from replicalab.scenarios import (
    FOLDER_VARIABLE,
    Difficulty,
    Pack,
    copy_text,
    list_scenarios,
    load_scenario,
    pack_of,
)
from replicalab.ui.cards import cards
from tests.bench.measuring import BARS, best, forget, hold, say
from tests.designs.examples import design_of, effect_of
from tests.factories import make_design, make_setup

pytestmark = pytest.mark.bench

ROOT: Final = Path(__file__).resolve().parents[2]
STUDIES: Final = [study.scenario_id for study in list_scenarios()]
PACKS: Final = [load_scenario(study, lab) for study in STUDIES for lab in Difficulty]


def named(pack: Pack) -> str:
    return f"{pack.scenario_id} {pack.difficulty}"


# --- a check, a pack, a negotiation -----------------------------------------------------------


def steps_of(pack: Pack) -> dict[str, Callable[[], object]]:
    """Return what is timed in a pack: what it is held against, and each step of a negotiation."""
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


def test_steps_of_a_negotiation_against_validating_the_plan(
    capsys: pytest.CaptureFixture[str],
) -> None:
    works = {(named(pack), step): work for pack in PACKS for step, work in steps_of(pack).items()}
    taken = dict(zip(works, seconds([*works.values()]), strict=True))
    for name in list(steps_of(PACKS[0]))[1:]:
        ratios = {
            lab: each / taken[lab, "validation"]
            for (lab, step), each in taken.items()
            if step == name
        }
        dearest = max(ratios, key=lambda lab: ratios[lab])
        hold(capsys, f"{name} / validating the plan", ratios[dearest], dearest)


def test_import_of_the_agents(capsys: pytest.CaptureFixture[str]) -> None:
    def start(code: str) -> float:
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
        return time.perf_counter() - began

    codes = ("pass", "import replicalab.agents", "import pydantic.main")
    # In turn, and the best of each: what else the machine does then slows no one of them alone.
    rounds = [[start(code) for code in codes] for _ in range(9)]
    empty, agents, pydantic = map(min, zip(*rounds, strict=True))
    hold(
        capsys,
        "import of replicalab.agents / of pydantic",
        (agents - empty) / (pydantic - empty),
        f"{agents - empty:.3f} s; the interpreter's {empty:.3f} s taken off",
    )


# --- evidence, printed and never asserted -----------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_cost_of_one_cold_value(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    design, sizes, effect = design_of(kind), range(30, 530), effect_of(kind, 0.3)
    taken = best(lambda: [evidence_value(design, n, effect) for n in sizes], cold=True)
    say(capsys, f"{kind}: {taken / len(sizes) * 1e6:.1f} microseconds a value")


@pytest.mark.parametrize("n", [10, 128, 10**4])
def test_cost_of_the_smallest_detectable_effect(n: int, capsys: pytest.CaptureFixture[str]) -> None:
    taken = best(lambda: smallest_detectable_effect(make_design(), n), cold=True)
    say(capsys, f"smallest detectable effect at n = {n}: {taken * 1000:.2f} ms")


def test_dearest_t_test_power(capsys: pytest.CaptureFixture[str]) -> None:
    taken, shift, df = max(
        (best(partial(t_test_power, shift, df, 0.05), cold=True), shift, df)
        for shift in (0.25 * step for step in range(1, 400))
        for df in (1, 2, 3, 10, 100)
        if shift < 20 * math.sqrt(df)
    )
    say(capsys, f"dearest power: {taken * 1e6:.0f} microseconds (shift {shift}, df {df})")


# --- searches ---------------------------------------------------------------------------------


SEARCHES: Final[dict[str, Callable[[Pack], object]]] = {
    "least_loss": lambda pack: least_loss(pack.reference_protocol, pack),
    "asks": lambda pack: asks(pack.reference_protocol, pack),
    "frontier": lambda pack: frontier(pack, pack.reference_protocol),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_search_on_the_dearest_study(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    taken, pack = max(
        ((best(partial(SEARCHES[name], pack), cold=True) * 1000, pack) for pack in PACKS),
        key=lambda found: found[0],
    )
    where = f"on {named(pack)}, the dearest lab"
    if f"{name}, ms" in BARS:
        hold(capsys, f"{name}, ms", taken, where)
    else:
        say(capsys, f"{name}: {taken:.1f} ms {where}")


@pytest.mark.parametrize("study", STUDIES)
def test_a_million_plans_of_any_size_on_arrays(
    study: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(1)
    counts = Counts(*(rng.integers(0, most, 10**6) for most in (400, 30, 6, 5, 5)))
    pack = load_scenario(study, Difficulty.MEDIUM)
    assert numeric_checks(counts, pack).all_ok.shape == (10**6,)
    taken = best(lambda: numeric_checks(counts, pack), clock=time.process_time)
    hold(capsys, "seconds for a million plans on arrays", taken, study)


# --- study files ------------------------------------------------------------------------------

OWN_STUDIES: Final = 200


@pytest.fixture
def full_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Name a folder of many studies in the variable, copies of the shipped ones in turn."""
    for number in range(OWN_STUDIES):
        text = copy_text(STUDIES[number % len(STUDIES)], f"own_{number}")
        (tmp_path / f"own_{number}.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    yield
    forget()


def test_load_of_the_shipped_studies(capsys: pytest.CaptureFixture[str]) -> None:
    def load_all() -> None:
        for study in list_scenarios():
            for lab in Difficulty:
                load_scenario(study.scenario_id, lab)

    cold, warm = best(load_all, cold=True) * 1000, best(load_all) * 1000
    hold(capsys, "all studies, ms", cold, f"12 studies in 3 labs each; then {warm:.1f} ms")


@pytest.mark.usefixtures("full_folder")
def test_load_beside_a_folder_of_many(capsys: pytest.CaptureFixture[str]) -> None:
    works: dict[str, tuple[Callable[[], object], int]] = {
        "list": (list_scenarios, 2),
        "one study": (lambda: load_scenario("own_7"), 5),
        "gallery": (cards, 1),
    }
    for what, (work, times) in works.items():
        cold, warm = best(work, cold=True, times=times) * 1000, best(work) * 1000
        line = f"{what} beside {OWN_STUDIES} own files: {cold:.0f} ms at first, then {warm:.2f} ms"
        say(capsys, line)
    assert len(list_scenarios()) == OWN_STUDIES + 12
