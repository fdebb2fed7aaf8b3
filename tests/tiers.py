"""Which cases `make test` tries; `make test-long` tries the others."""

import os
from collections.abc import Iterable
from typing import Any, Final

import pytest

from replicalab.scenarios import Difficulty, list_scenarios


def one_in(number: int, cases: Iterable[Any]) -> list[Any]:
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)),
            marks=() if place % number == 0 else pytest.mark.long,
        )
        for place, case in enumerate(cases)
    ]


def batches(size: int, *, quick: int, long: int) -> list[Any]:
    """Return ranges of seeds: the first `quick` ones, then batches for `make test-long`."""
    times = int(os.environ.get("REPLICALAB_SEARCH_TIMES", "1"))
    firsts = range(0, times * long * size, size)
    searched = (range(first, first + size) for first in firsts)
    return [range(quick), *(pytest.param(seeds, marks=pytest.mark.long) for seeds in searched)]


EVERY_LAB: Final = [
    pytest.param(
        study.scenario_id,
        lab,
        id=f"{study.scenario_id}-{lab}",
        # Of each study one lab, and each lab for a third of the studies.
        marks=() if (place + step) % len(Difficulty) == 0 else pytest.mark.long,
    )
    for place, study in enumerate(list_scenarios())
    for step, lab in enumerate(Difficulty)
]
"""Every shipped study in each of its labs; `make test` tries one lab a study."""

_FEW: Final = ("bio_jq1_myeloma-hard", "fin_momentum-medium", "phys_millikan-hard")
FEW_LABS: Final = [
    pytest.param(*item.values, id=item.id, marks=() if item.id in _FEW else pytest.mark.long)
    for item in EVERY_LAB
]
"""The same for whole pages, whose parts are tried in every lab elsewhere: `make test` tries three.

A lab that can show nothing, one with something to suggest, and one that measures a half-width.
"""
