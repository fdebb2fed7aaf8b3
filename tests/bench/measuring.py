"""What the benchmarks share: the bars that they are held to, and empty caches."""

from __future__ import annotations

import sys
from typing import Final, NamedTuple

import pytest

from replicalab.measures import beta, distributions, kinds, rows


class Bar(NamedTuple):
    """What a figure is held to.

    Attributes:
        held: a benchmark past it fails.
        aim: what it is to come to, where that is less.
    """

    held: float
    aim: float | None = None


BARS: Final = {
    "check / validating the plan": Bar(90, 45),
    "negotiation / validating the plan": Bar(1500, 300),
    "pack / validating the plan": Bar(60, 20),
    "seconds for a million plans on arrays": Bar(1.0, 0.1),
    "least_loss, ms": Bar(100, 5),
    "import of replicalab.agents / of pydantic": Bar(4.5, 2.5),
    "all studies, ms": Bar(1000),
    "edit to paint, Protocol": Bar(5.0, 1.3),
    "edit to paint, Trade-offs": Bar(5.5, 2.0),
    "move between pages": Bar(5.5, 2.0),
    "cold start": Bar(1.8, 1.5),
    "thirty people, p95": Bar(10.0, 1.0),
    "a further session, MiB": Bar(1.0, 0.3),
}
"""Ratios to a yardstick in the same run, unless the name gives a unit."""


def say(capsys: pytest.CaptureFixture[str], line: str) -> None:
    """Print a line, past what pytest catches."""
    with capsys.disabled():
        sys.stdout.write(f"\n{line}")


def hold(capsys: pytest.CaptureFixture[str], name: str, figure: float, detail: str = "") -> None:
    """Print a figure beside its bar, and fail where it is past it."""
    bar = BARS[name]
    aim = "" if bar.aim is None else f", aim {bar.aim:g}"
    say(capsys, f"{name}: {figure:.2f} (bar {bar.held:g}{aim}) {detail}".rstrip())
    assert figure <= bar.held, f"{name} is past its bar"


def forget() -> None:
    """Empty the caches of the evidence, as in a process that has just begun."""
    rows._value.cache_clear()  # noqa: SLF001
    kinds._two_one_sided.cache_clear()  # noqa: SLF001
    distributions.f_test_power.cache_clear()
    beta.upper_logit.cache_clear()
