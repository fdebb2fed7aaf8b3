"""Precision with assurance: the spread of an estimated SD by SciPy, and simulated intervals."""

from __future__ import annotations

import math
from itertools import pairwise, product
from typing import Any, Final

import numpy as np
import pytest
from pydantic import ValidationError
from scipy import stats

from replicalab.assessment import evidence_value
from replicalab.designs import KINDS
from replicalab.designs.distributions import scale_quantile
from replicalab.scenarios import Design
from tests.designs.examples import design_of

ROW: Final = KINDS["precision"]


def with_assurance(assurance: float | None, alpha: float = 0.05) -> Design:
    return design_of("precision", alpha, effect_planning=0.5, assurance=assurance)


def expected(n: int, sd: float, assurance: float, alpha: float) -> float:
    t, chi2 = stats.t.isf(alpha / 2, n - 1), stats.chi2.ppf(assurance, n - 1)
    return float(t * sd * math.sqrt(chi2 / (n - 1) / n))


@pytest.mark.parametrize("df", [1, 2, 3, 5, 10, 31, 100, 1000, 10**5])
@pytest.mark.parametrize("share", [1e-9, 1e-3, 0.05, 0.3, 0.5, 0.8, 0.95, 0.999, 1 - 1e-9])
def test_quantile_of_a_chi_square_is_scipys(share: float, df: int) -> None:
    upper = stats.chi2.isf(1 - share, df) if share > 0.5 else stats.chi2.ppf(share, df)
    assert df * scale_quantile(share, df) ** 2 == pytest.approx(upper, rel=1e-10)


def test_chi_square_quantile_of_two_is_a_logarithm() -> None:
    for share, within in ((0.5, 1e-12), (0.9, 1e-12), (1 - 2**-53, 1e-11)):
        assert scale_quantile(share, 2) ** 2 == pytest.approx(-math.log1p(-share), rel=within)


@pytest.mark.parametrize(("assurance", "alpha"), [*product((0.5, 0.8, 0.99), (0.01, 0.05, 0.3))])
def test_half_width_agrees_with_kupper_and_hafner(assurance: float, alpha: float) -> None:
    design = with_assurance(assurance, alpha)
    for n in (2, 3, 10, 97, 1000):
        value = evidence_value(design, n, 0.5)
        assert value == pytest.approx(expected(n, 0.5, assurance, alpha), rel=1e-9)


@pytest.mark.long
@pytest.mark.parametrize(("n", "assurance"), [(5, 0.8), (20, 0.5), (40, 0.9)])
def test_simulated_intervals_are_as_narrow_as_assured(n: int, assurance: float) -> None:
    random, rounds = np.random.default_rng(20261124), 200_000
    sds = random.standard_normal((rounds, n)).std(axis=1, ddof=1) * 0.5
    widths = stats.t.isf(0.025, n - 1) * sds / math.sqrt(n)
    narrow = float((widths <= evidence_value(with_assurance(assurance), n, 0.5)).mean())
    assert narrow == pytest.approx(assurance, abs=4 * math.sqrt(0.25 / rounds))


@pytest.mark.parametrize("alpha", [1e-12, 0.01, 0.05, 0.5, 0.99])
@pytest.mark.parametrize("assurance", [0.5, 0.51, 0.8, 0.99, 1 - 2**-53])
def test_half_width_with_assurance_never_widens_with_n(assurance: float, alpha: float) -> None:
    design = with_assurance(assurance, alpha)
    sizes = [*range(1, 200), *(round(10 ** (k / 4)) for k in range(10, 37))]
    widths = [evidence_value(design, n, 0.5) for n in sizes]
    assert widths[0] == math.inf
    assert all(after < before for before, after in pairwise(widths))


@pytest.mark.parametrize("wrong", [0.0, -0.1, 0.49, 1.0, 1e308, math.nan, math.inf, 10**9, "most"])
def test_an_assurance_that_cannot_be_is_refused(wrong: Any) -> None:
    with pytest.raises(ValidationError, match="assurance"):
        with_assurance(wrong)
