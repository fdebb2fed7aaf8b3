"""Groups, margins, ratios and assurance of some kinds, by simulation and by hand."""

import math
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from scipy import stats

from replicalab import assessment
from replicalab.designs import KINDS, DesignParameters
from replicalab.designs.distributions import scale_quantile, tost_power
from replicalab.models import Protocol
from replicalab.scenarios import Design, Pack
from tests.designs.examples import design_of
from tests.designs.test_distributions import quad_tost
from tests.factories import make_pack, make_protocol


def bought(plan: Protocol, pack: Pack, factor: float = 1.0) -> assessment.Evidence:
    return assessment.evidence_of(plan.sample_size, plan.duration_days, pack, factor)


def anova_power(groups: int, n: int, effect: float) -> float:
    return assessment.evidence_value(design_of("anova", groups=groups), n, effect)


@pytest.mark.parametrize("groups", [2, 3, 7])
def test_samples_beyond_equal_groups_do_not_count(groups: int) -> None:
    full = anova_power(groups, groups * 9, 0.4)
    assert [anova_power(groups, groups * 9 + n, 0.4) for n in range(groups)] == [full] * groups
    assert anova_power(groups, groups * 10, 0.4) > full


@pytest.mark.parametrize(("groups", "n"), [(2, 3), (3, 5), (3, 0), (10**9, 10**6)])
def test_groups_of_one_sample_have_no_test(groups: int, n: int) -> None:
    assert anova_power(groups, n, 5.0) == 0.0


def tost(n: int, difference: float, margin: float, alpha: float = 0.05) -> float:
    return assessment.evidence_value(design_of("equivalence", alpha, margin=margin), n, difference)


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_equivalence_at_the_margin_comes_to_alpha(alpha: float) -> None:
    assert tost(10**4, 0.5, 0.5, alpha) == pytest.approx(alpha, abs=1e-12)
    assert tost(40, 0.5, 0.5, alpha) <= alpha
    assert tost(10**4, 0.6, 0.5, alpha) < alpha


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7, 8, 9, 12, 29])
def test_equivalence_agrees_with_the_best_smaller_test(n: int) -> None:
    # With three samples the SD comes out far too small by chance more often than with ten.
    record = {}
    for size in {*range(3, min(n, 8) + 1), n}:
        end = 0.8 * math.sqrt(size // 2 * (size - size // 2) / size)
        record[size] = quad_tost(end, end, size - 2, 0.05)
    best = record[n] if record[n] >= 0.1 else max(record.values())
    assert tost(n, 0.0, 0.8) == pytest.approx(best, abs=1e-9)
    assert best - record[n] < 0.02


@pytest.mark.parametrize("alpha", [1e-12, 0.3, 0.5, 0.999])
@pytest.mark.parametrize("n", [3, 4, 1000, 10**6])
def test_equivalence_is_a_share_at_any_margin(n: int, alpha: float) -> None:
    for difference in (0.0, 1e-300, 0.3, 1e6, 1e15, 1e308):
        for margin in (5e-324, 1e-300, 0.5, 1e6, 1e308):
            numbers = DesignParameters(alpha=alpha, margin=margin)
            assert 0 <= KINDS["equivalence"].value(n, difference, numbers) <= 1


@pytest.mark.parametrize(("n", "planned", "seen"), [(200, 0.2, 0.1), (100, 0.0, 0.0)])
def test_a_substitution_shrinks_the_difference_and_the_margin(
    n: int, planned: float, seen: float
) -> None:
    # With a factor of one half a true difference of 0.2 is seen as 0.1; so is the margin of 0.8 as
    # 0.4, for a difference as large as that must not pass. It costs evidence even if no
    # difference is assumed.
    design = design_of("equivalence", margin=0.8, effect_planning=planned)
    pack, plan = make_pack(design=design), make_protocol(sample_size=n)
    evidence = bought(plan, pack, factor=0.5)
    assert (evidence.effect, evidence.factor) == (seen, 0.5)
    assert evidence.value == pytest.approx(tost(n, seen, 0.4), abs=1e-15)
    assert evidence.value < bought(plan, pack).value


@pytest.mark.parametrize("factor", [1.0, 0.8])
def test_smallest_margin_is_that_of_own_items(factor: float) -> None:
    design = design_of("equivalence", margin=0.8, effect_planning=0.1)
    value = assessment.smallest_detectable_effect(design, 140, factor)
    assert value is not None
    assert tost(140, 0.1 * factor, value * factor) == pytest.approx(design.target, abs=1e-9)


def test_a_substitution_multiplies_the_logarithm() -> None:
    pack = make_pack(design=design_of("survival", effect_planning=0.49))
    plan = make_protocol(sample_size=200)
    assert bought(plan, pack, factor=0.5).effect == pytest.approx(0.7)
    assert bought(plan, pack).effect == 0.49


def test_hazard_ratios_are_halved_in_the_log() -> None:
    design = design_of("survival", effect_published=0.64, effect_planning=0.7, sesoi=0.85)
    labels, effects = zip(*assessment.assumed_effects(design), strict=True)
    assert labels == ("as published", "halved", "smallest of interest")
    assert effects == pytest.approx((0.64, 0.8, 0.85), rel=1e-15)


@pytest.mark.parametrize(("planned", "found"), [(0.7, 0.7001), (1.4, 1 / 0.7001)])
def test_detectable_ratio_stays_on_its_side(planned: float, found: float) -> None:
    design = design_of("survival", effect_planning=planned, event_share=1.0)
    assert assessment.smallest_detectable_effect(design, 247) == pytest.approx(found, abs=2e-4)


@pytest.mark.long
@pytest.mark.parametrize("alpha", [1e-6, 0.05, 0.2, 0.49])
def test_equivalence_gains_at_most_a_fiftieth(alpha: float) -> None:
    row = KINDS["equivalence"]
    assert "at most 0.02" in row.method
    for n, margin, part in product(range(3, 40), np.geomspace(0.05, 20, 60), (0, 0.7)):
        parameters = DesignParameters(alpha=alpha, margin=float(margin))
        root = math.sqrt((n // 2) * (n - n // 2) / n)
        near, far = (1 - part) * margin * root, (1 + part) * margin * root
        value = row.value(n, float(part * margin), parameters)
        assert -0.02 < tost_power(near, far, n - 2, alpha) - value < 1e-12


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
        value = assessment.evidence_value(design, n, 0.5)
        assert value == pytest.approx(expected(n, 0.5, assurance, alpha), rel=1e-9)


@pytest.mark.long
@pytest.mark.parametrize(("n", "assurance"), [(5, 0.8), (20, 0.5), (40, 0.9)])
def test_simulated_intervals_are_as_narrow_as_assured(n: int, assurance: float) -> None:
    random, rounds = np.random.default_rng(20261124), 200_000
    sds = random.standard_normal((rounds, n)).std(axis=1, ddof=1) * 0.5
    widths = stats.t.isf(0.025, n - 1) * sds / math.sqrt(n)
    narrow = float((widths <= assessment.evidence_value(with_assurance(assurance), n, 0.5)).mean())
    assert narrow == pytest.approx(assurance, abs=4 * math.sqrt(0.25 / rounds))


@pytest.mark.parametrize("alpha", [1e-12, 0.01, 0.05, 0.5, 0.99])
@pytest.mark.parametrize("assurance", [0.5, 0.51, 0.8, 0.99, 1 - 2**-53])
def test_half_width_with_assurance_never_widens_with_n(assurance: float, alpha: float) -> None:
    design = with_assurance(assurance, alpha)
    sizes = [*range(1, 200), *(round(10 ** (k / 4)) for k in range(10, 37))]
    widths = [assessment.evidence_value(design, n, 0.5) for n in sizes]
    assert widths[0] == math.inf
    assert all(after < before for before, after in pairwise(widths))


@pytest.mark.parametrize("wrong", [0.0, -0.1, 0.49, 1.0, 1e308, math.nan, math.inf, 10**9, "most"])
def test_an_assurance_that_cannot_be_is_refused(wrong: Any) -> None:
    with pytest.raises(ValidationError, match="assurance"):
        with_assurance(wrong)
