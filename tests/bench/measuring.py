"""What the benchmarks share: a line on the terminal, and empty caches."""

from __future__ import annotations

import sys

import pytest

from replicalab.measures import distributions, kinds


def say(capsys: pytest.CaptureFixture[str], line: str) -> None:
    """Print a line, past what pytest catches."""
    with capsys.disabled():
        sys.stdout.write(f"\n{line}")


def forget() -> None:
    """Empty the caches of the evidence, as in a process that has just begun."""
    kinds._value.cache_clear()  # noqa: SLF001
    distributions.t_critical.cache_clear()
    distributions.detection_probability.cache_clear()
