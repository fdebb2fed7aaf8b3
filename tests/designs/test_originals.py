"""Estimates of originals: scales and standard errors against textbooks and papers."""

import math
from itertools import product

import pytest
from scipy import stats

from replicalab.designs import KINDS, Estimate, estimate_of
from replicalab.designs.distributions import t_beyond
from replicalab.designs.originals import doubt_of
from replicalab.scenarios import Design, Original
from tests.factories import make_design


def original_of(**reported: object) -> Original:
    return Original.model_validate({"source": "Invented", "confidence": "verified", **reported})


def estimate(kind: str, **reported: object) -> Estimate:
    result = estimate_of(KINDS[kind], original_of(**reported))
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("kind", "effect", "n", "value", "se"),
    [
        # √(1/20 + 1/20), √(1/15 + 1/16).
        ("two_group", 0.5, 40, 0.5, 0.316228),
        ("two_group", -0.5, 31, -0.5, 0.359398),
        ("paired", 0.5, 25, 0.5, 0.2),
        ("one_sample", 0.5, 100, 0.5, 0.1),
        # Borenstein, Hedges, Higgins & Rothstein (2009), Introduction to Meta-Analysis, p. 42: of
        # r 0.50 from n 100 Fisher's z is 0.5493, its standard error 0.1015.
        ("correlation", 0.5, 100, 0.5493, 0.1015),
        ("two_proportions", 0.5, 50, 0.5, 0.282843),
    ],
)
def test_normal_scale_of_a_kind(kind: str, effect: float, n: int, value: float, se: float) -> None:
    result, scale = estimate(kind, effect=effect, n=n), KINDS[kind].normal
    assert scale is not None
    assert (result.value, result.se) == pytest.approx((value, se), abs=5e-5)
    assert result.n == n
    assert scale.effect(result.value) == pytest.approx(effect)
    assert scale.se(scale.sizes(n)) == result.se


def test_normal_scale_of_a_hazard_ratio_counts_events() -> None:
    # Parmar, Torri & Stewart (1998): the variance of a log hazard ratio is 4 over the events.
    result = estimate("survival", effect=0.7, events=100, n=400)
    assert (result.value, result.se, result.n) == pytest.approx((math.log(0.7), 0.2, 100))
    scale = KINDS["survival"].normal
    assert scale is not None
    assert scale.se(scale.sizes(400, 0.25)) == pytest.approx(0.2)


def test_too_few_samples_have_no_standard_error() -> None:
    scales = [row.normal for row in KINDS.values() if row.normal]
    assert len(scales) == 6
    for scale in scales:
        assert scale.se(scale.sizes(0)) == math.inf
        assert scale.se(()) == math.inf


def test_estimate_prefers_error_to_interval_to_n() -> None:
    reported = {"effect": 0.5, "low": 0.1, "high": 0.9, "n": 40}
    assert estimate("two_group", se=0.2, **reported).se == 0.2
    # 0.8 / (2 · 1.959964).
    assert estimate("two_group", **reported).se == pytest.approx(0.204085, abs=1e-6)
    # 0.8 / (2 · 1.644854).
    assert estimate("two_group", level=0.9, **reported).se == pytest.approx(0.243183, abs=1e-6)


def test_estimate_of_a_hazard_ratio_by_its_interval() -> None:
    # Altman & Bland (2011), BMJ 343, d2090: a ratio of 0.81 with an interval of 0.70 to 0.94 has a
    # log of -0.211, a standard error of 0.075, and so z of -2.81 (they print it without its sign).
    result = estimate("survival", effect=0.81, low=0.70, high=0.94)
    assert (result.value, result.se) == pytest.approx((-0.211, 0.075), abs=5e-4)
    assert result.z == pytest.approx(-2.81, abs=0.02)
    assert result.p == pytest.approx(0.005, abs=5e-4)


@pytest.mark.parametrize(
    ("kind", "reported", "t", "df"),
    [
        ("one_sample", {"numbers": {"t": 3.07}, "n": 300}, 3.07, 299),
        ("two_group", {"numbers": {"t": -2.2}, "n1": 16, "n2": 16}, 2.2, 30),
        ("two_group", {"numbers": {"F": 4.84}, "n": 32}, 2.2, 30),
        ("paired", {"effect": 0.5, "n": 20}, 2.23607, 19),
        ("paired", {"numbers": {"F": 13.71}, "n": 24}, 3.70270, 23),
        ("two_group", {"effect": 2.3, "low": 1.1, "high": 3.46, "n1": 10, "n2": 9}, 5.00579, 17),
    ],
)
def test_estimate_has_t_and_p(kind: str, reported: dict[str, object], t: float, df: int) -> None:
    result = estimate(kind, **reported)
    assert result.t == pytest.approx(t, abs=1e-5)
    assert result.df == df
    assert result.p == pytest.approx(2 * stats.t.sf(t, df), rel=1e-5)


@pytest.mark.parametrize(("n1", "n2"), [(20, 60), (60, 20), (5, 4), (30, 30)])
def test_estimate_of_means_and_sds_matches_scipy(n1: int, n2: int) -> None:
    numbers = {"m1": 10.0, "m2": 8.0, "SD1": 4.0, "SD2": 3.0}
    result = estimate("two_group", numbers=numbers, n1=n1, n2=n2)
    t, p = stats.ttest_ind_from_stats(10, 4, n1, 8, 3, n2)
    assert result.t == pytest.approx(t)
    assert result.p == pytest.approx(p)
    # If only n in all is known, or no n at all, groups are equal.
    in_all, alone = (estimate("two_group", numbers=numbers, **n) for n in ({"n": 40}, {"se": 0.3}))
    assert in_all.value == pytest.approx(alone.value)
    assert alone.value == pytest.approx(2 / math.sqrt(12.5))


def test_unexplained_large_error_has_no_t_test() -> None:
    # Hedges & Olkin (1985): of d 2.3 from 10 and 9 it is √(1/10 + 1/9 + 2.3²/38) = 0.592.
    explained = {"effect": 2.3, "n1": 10, "n2": 9}
    assert estimate("two_group", se=0.592, **explained).df == 17
    wider = estimate("two_group", se=0.7, **explained)
    assert (wider.t, wider.df) == (None, None)
    assert wider.p == pytest.approx(2 * stats.norm.sf(2.3 / 0.7))


def test_unexplained_small_error_has_no_t_test() -> None:
    # Of d 0.5 from 20 and 20 it is 0.316; an interval of ±0.2288 has 0.1167, and z 4.28.
    result = estimate("two_group", effect=0.5, low=0.2712, high=0.7288, n1=20, n2=20)
    assert result.z == pytest.approx(4.28, abs=0.005)
    assert (result.t, result.df) == (None, None)
    assert result.p == pytest.approx(2 * stats.norm.sf(result.z))
    # Rounding alone leaves it the t-test.
    assert estimate("two_group", effect=0.5, se=0.3, n1=20, n2=20).df == 38


@pytest.mark.parametrize(
    ("kind", "reported", "words"),
    [
        ("two_group", {"effect": 0.5, "low": 0.2712, "high": 0.7288, "n": 40},
         "The interval leaves a standard error of 0.117 on the scale of d; "
         "40 samples would have 0.316, 2.71 times as large."),
        # Past 1.5 times 1/√100, and √(1/100 + 0.25/200) = 0.1061.
        ("paired", {"effect": 0.5, "se": 0.0666, "n": 100}, "100 samples would have 0.1, 1.5 "),
        ("paired", {"effect": 0.5, "se": 0.16, "n": 100}, "would have 0.106, 1.51 times as small."),
        ("correlation", {"effect": 0.5, "se": 0.3, "n": 103}, "is 0.3 on the scale of Fisher’s z"),
        ("survival", {"effect": 0.7, "se": 0.1, "events": 100}, "100 events would have 0.2, 2 "),
    ],
)  # fmt: skip
def test_unexplained_error_is_doubted(kind: str, reported: dict[str, object], words: str) -> None:
    text = doubt_of(KINDS[kind], original_of(**reported))
    assert words in text
    what = "interval" if "low" in reported else "standard error"
    assert f"z, p and later results use the {what}; the small telescopes use the " in text


@pytest.mark.parametrize(
    ("kind", "reported"),
    [
        ("paired", {"effect": 0.5, "se": 0.0667, "n": 100}),
        ("paired", {"effect": 0.5, "se": 0.159, "n": 100}),
        ("two_group", {"effect": 0.5, "se": 1e-6}), ("two_group", {"effect": 0.5, "n": 40}),
        ("two_group", {"effect": 1e6, "se": 1.6e5, "n": 40}),
        ("anova", {"effect": 0.5, "se": 1e-6, "n": 60}),
        ("survival", {"effect": 0.7, "se": 1e-6, "n": 60}),
    ],
)  # fmt: skip
def test_explained_error_is_not_doubted(kind: str, reported: dict[str, object]) -> None:
    assert doubt_of(KINDS[kind], original_of(**reported)) == ""


def test_estimate_needs_effect_and_error() -> None:
    rows = KINDS["two_group"], KINDS["anova"]
    assert estimate_of(rows[0], original_of(effect=0.5)) is None
    assert estimate_of(rows[1], original_of(numbers={"F": 4.0, "groups": 3}, n=60)) is None


@pytest.mark.parametrize("t", [1e-9, 0.1, 1.0, 2.5, 40.0, 1e5])
@pytest.mark.parametrize("df", [1, 2, 18, 299, 10**6])
def test_p_of_a_t_is_scipys(t: float, df: int) -> None:
    for sign in (1, -1):
        assert Estimate(1, 1, t=sign * t, df=df).p == pytest.approx(2 * stats.t.sf(t, df), rel=1e-9)


@pytest.mark.parametrize("t", [0.5, 1.58, 5.0, 30.0])
@pytest.mark.parametrize("shift", [0.0, 0.7, 4.0, 29.0])
@pytest.mark.parametrize("df", [1, 2, 17, 1000])
def test_t_beyond_is_scipys_noncentral_t(t: float, shift: float, df: int) -> None:
    expected = float(stats.nct.sf(t, df, shift)) if shift else float(stats.t.sf(t, df))
    assert t_beyond(t, shift, df) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(
    ("kind", "reported", "words"),
    [
        ("two_group", {"effect": 0.5, "low": 0.6, "high": 0.9}, "does not hold the effect of 0.5"),
        ("correlation", {"effect": 0.5, "low": 0.6, "high": 0.9}, "give both as correlation r"),
        ("two_group", {"effect": 0.5, "low": 0.9, "high": 0.1}, "give the lower end as low"),
        ("two_group", {"effect": 0.5, "low": 0.1}, "low is given without high"),
        ("two_group", {"effect": 0.5, "low": 0.2, "high": 0.8, "se": 0.4}, "width gives 0.153"),
        ("two_group", {"effect": 0.5, "n": 2}, "needs 3 or more"),
        ("two_group", {"effect": 0.5, "n1": 20}, "n1 is given without n2"),
        ("two_group", {"effect": 0.5, "n": 41, "n1": 20, "n2": 20}, "40 together"),
        ("two_group", {"effect": 0.5, "events": 20}, "counts none"),
        ("two_group", {"effect": 0.9, "numbers": {"t": 2.2}, "n": 32}, "0.7778 follows"),
        ("two_group", {"numbers": {"t": 2.2}}, "no effect follows from t alone"),
        ("two_group", {"numbers": {"z": 2.2}, "n": 32}, "'z', which a two-group effect cannot"),
        ("two_group", {"numbers": {"n1": 5.0, "t": 2}, "n": 32}, "'n1', which"),
        ("two_group", {"numbers": {"t": 1e308}, "n": 32}, "type -1,000,000,000 to 1,000,000,000"),
        ("two_group", {"numbers": {"t": 1e9}, "n": 32}, "up to 1,000,000"),
        ("two_group", {}, "no effect follows from it; give effect"),
        ("one_sample", {"effect": 0.5, "n1": 20, "n2": 20}, "has no two groups"),
        ("correlation", {"effect": 0.5, "n": 3}, "needs 4 or more"),
        ("correlation", {"effect": 1.0, "n": 30}, "less than 1"),
        ("correlation", {"effect": 0.9, "low": 0.5, "high": 1.0}, "high is 1"),
        ("survival", {"effect": 0.0, "events": 30}, "above 0"),
        ("survival", {"effect": 0.5, "events": 30, "n": 20}, "at most as many events"),
        ("anova", {"numbers": {"F": 4.0, "groups": 2.5}, "n": 60}, "Groups is 2.5"),
        ("anova", {"numbers": {"F": 4.0, "groups": 60}, "n": 3}, "60 groups in 3 samples"),
    ],
)
def test_original_that_cannot_be_is_refused(
    kind: str, reported: dict[str, object], words: str
) -> None:
    with pytest.raises(ValueError, match="original: ") as refused:
        make_design(kind=kind, effect_published=None, original=dict(original_of(**reported)))
    assert words in str(refused.value)


def test_coverage_refuses_an_original() -> None:
    with pytest.raises(ValueError, match="leave the original out"):
        make_design(kind="coverage", population_max=5, original=dict(original_of(effect=0.5)))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *product(
            ("effect", "se", "low", "high", "level", "n", "n1", "events"),
            (math.nan, math.inf, -math.inf, 1e308, "1", True),
        ),
        *(("n1", 0), ("n1", 30.5), ("n2", 10**10), ("level", 95), ("p", 0.01), ("sides", 3)),
        *(("numbers", {"t": "abc"}), ("confidence", "planning value")),
    ],
)
def test_original_number_that_is_none_is_refused(name: str, wrong: object) -> None:
    with pytest.raises(ValueError, match=name):
        original_of(**{"effect": 0.5, name: wrong})


@pytest.mark.parametrize(
    "ends",
    [
        {"se": 1e-6, "effect": 1e6},
        {"se": 1e6, "effect": 0.0},
        {"effect": -1e6, "n": 10**9},
        {"effect": 5e-324, "n": 3},
        {"effect": 0.5, "low": 0.5, "high": math.nextafter(0.5, 1), "level": 0.9999},
        {"effect": 0.5, "low": -1e6, "high": 1e6, "level": 0.5},
        {"numbers": {"t": 1e6}, "n1": 2, "n2": 10**9},
    ],
)
def test_extreme_originals_have_estimates(ends: dict[str, object]) -> None:
    design: Design = make_design(effect_published=None, original=dict(original_of(**ends)))
    assert design.original is not None
    result = estimate_of(KINDS[design.kind], design.original)
    assert result is not None
    assert not any(word in doubt_of(KINDS[design.kind], design.original) for word in ("nan", "inf"))
    assert math.isfinite(result.z)
    assert 0 <= result.p <= 1
