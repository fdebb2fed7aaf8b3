"""Evidence against values that others have printed: manuals, package examples, worked exercises.

Each row says where its value stands. The tolerance is half a unit of the last printed digit, or
what the row says. Every power is confirmed by SciPy as well, so that a slip in copying would show,
and no expected value comes from the code under test.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import pytest
from scipy import stats

from replicalab.assessment import evidence_value, smallest_detectable_effect
from tests.factories import make_design


class Power(NamedTuple):
    """A printed power: the kind, n in all, the effect, alpha, the value and its rounding."""

    kind: str
    n: int
    effect: float
    alpha: float
    value: float
    within: float


class Size(NamedTuple):
    """A printed sample size, as a fraction: per group where there are two."""

    kind: str
    effect: float
    alpha: float
    target: float
    size: float


STATSMODELS: Final = "R's pwr, quoted in statsmodels/stats/tests/test_power.py"
PWR: Final = "R's pwr, quoted in public course notes and test suites"

POWERS: Final = {
    # pwr.t.test and pwr.2p.test, n in each group.
    f"{STATSMODELS}: two.sample n=30 d=1": Power(
        "two_group", 60, 1.0, 0.05, 0.967708258242517, 1e-12
    ),
    f"{STATSMODELS}: two.sample n=20 d=0.1": Power(
        "two_group", 40, 0.1, 0.05, 0.06095912465411235, 1e-12
    ),
    f"{STATSMODELS}: one.sample n=30 d=1": Power(
        "one_sample", 30, 1.0, 0.05, 0.9995636009612725, 1e-12
    ),
    f"{STATSMODELS}: one.sample n=20 d=0.2": Power(
        "one_sample", 20, 0.2, 0.05, 0.1359562887679666, 1e-12
    ),
    f"{STATSMODELS}: 2p h=0.3 n=80": Power(
        "two_proportions", 160, 0.3, 0.05, 0.475100870572638, 1e-12
    ),
    f"{STATSMODELS}: 2p h=0.01 n=80": Power(
        "two_proportions", 160, 0.01, 0.05, 0.05045832927039234, 1e-12
    ),
    f"{PWR}: two.sample n=30 d=0.5 (the vignette says 48 %)": Power(
        "two_group", 60, 0.5, 0.05, 0.477896520760209, 1e-12
    ),
    f"{PWR}: two.sample n=91 d=0.8110413": Power(
        "two_group", 182, 0.8110413, 0.05, 0.9997506, 5e-8
    ),
    f"{PWR}: paired n=33 d=0.02": Power("paired", 33, 0.02, 0.05, 0.05142498, 5e-9),
    f"{PWR}: one.sample n=60 d=0.2 alpha=0.1 (Cohen 1988, exercise 2.5)": Power(
        "one_sample", 60, 0.2, 0.10, 0.4555818, 5e-8
    ),
    # FDRsampsize, ?power.twosampt: both tails by the noncentral F; alpha printed to 9 decimals.
    "FDRsampsize manual: n=8 delta=2": Power("two_group", 16, 2.0, 0.008087158, 0.800038317, 2e-8),
    # R's power.t.test leaves out the far tail, at these sizes 1e-7 or less.
    "R power.t.test: two.sample n=66 d=0.6741298": Power(
        "two_group", 132, 0.6741298, 0.05, 0.9702076, 1e-7
    ),
    "R power.t.test: one.sample n=100 delta=0.25": Power(
        "one_sample", 100, 0.25, 0.05, 0.697, 5e-4
    ),
    "R power.t.test: one.sample n=20 delta=1.5 sd=2": Power(
        "one_sample", 20, 0.75, 0.05, 0.8888, 5e-5
    ),
    "R power.t.test: one.sample n=25 delta=2 sd=3": Power(
        "one_sample", 25, 2 / 3, 0.05, 0.8920169, 2e-7
    ),
    "R power.t.test: one.sample n=25 delta=3 sd=3": Power(
        "one_sample", 25, 1.0, 0.05, 0.9976846, 1e-7
    ),
    # G*Power 3 user guide, Generic t test: N = 25, d = -0.25, delta = -1.25, df = 24, two-sided.
    # Its sixth digit is one too high: SciPy says 0.2245240.
    "G*Power user guide, generic t test": Power("one_sample", 25, -0.25, 0.05, 0.224525, 1e-6),
    # "G*Power: t Tests" (course notes, GPower3-T.docx): IQ, d = 5/15, N = 25.
    "course notes on G*Power": Power("one_sample", 25, 1 / 3, 0.05, 0.360, 5e-4),
    # SAS/STAT User's Guide, PROC POWER, Getting Started: mean 8, SD 40, N = 150: about 0.68.
    "SAS PROC POWER, getting started": Power("one_sample", 150, 0.2, 0.05, 0.68, 5e-3),
    # Introduction to SAS Power and Sample Size Analysis (seminar), example 1: mean 1, SD 1, N = 10.
    "seminar on PROC POWER": Power("one_sample", 10, 1.0, 0.05, 0.803, 5e-4),
}

SIZES: Final = {
    # Where a source prints only the next whole number, half a unit less stands here.
    f"{PWR}: two.sample d=0.5": Size("two_group", 0.5, 0.05, 0.80, 63.76561),
    f"{PWR}: two.sample d=0.3": Size("two_group", 0.3, 0.05, 0.80, 175.3847),
    "R power.t.test: two.sample d=1.08": Size("two_group", 1.08, 0.05, 0.95, 23.28802),
    "pwr vignette: two.sample d=0.75/2.25, at least 143": Size(
        "two_group", 0.75 / 2.25, 0.05, 0.80, 142.5
    ),
    f"{PWR}: paired d=0.5": Size("paired", 0.5, 0.05, 0.80, 33.36713),
    f"{PWR}: paired d=0.4": Size("paired", 0.4, 0.05, 0.90, 67.07532),
    f"{PWR}: paired d=0.15": Size("paired", 0.15, 0.05, 0.80, 350.7638),
    f"{PWR}: one.sample d=0.2769913": Size("one_sample", 0.2769913, 0.05, 0.80, 104.2368),
    f"{PWR}: one.sample d=1": Size("one_sample", 1.0, 0.05, 0.80, 9.93785),
    f"{PWR}: one.sample d=0.1337089": Size("one_sample", 0.1337089, 0.05, 0.90, 589.6508),
    f"{PWR}: one.sample d=0.5 alpha=0.01": Size("one_sample", 0.5, 0.01, 0.90, 62.87021),
    f"{PWR}: 2p h=0.2": Size("two_proportions", 0.2, 0.05, 0.80, 392.443026235748),
    f"{PWR}: 2p h=0.1001674 (55 % against 50 %)": Size(
        "two_proportions", 0.1001674, 0.05, 0.80, 1564.529
    ),
    f"{PWR}: 2p h=0.1924743 (10 % against 5 %)": Size(
        "two_proportions", 0.1924743, 0.05, 0.80, 423.7319
    ),
    f"{PWR}: 2p 70 % against 55 %": Size(
        "two_proportions",
        2 * (math.asin(math.sqrt(0.70)) - math.asin(math.sqrt(0.55))),
        0.05,
        0.80,
        161.9349146,
    ),
    # Fisher's z without a correction for bias, ((z + z) / atanh(r))² + 3. R's pwr.r.test corrects
    # for bias, tests by t, and asks for 84.07 at r = .3, so its values are none to compare with.
    "Lachin 1981, by CUHK's calculator: r=0.4, n=47": Size("correlation", 0.4, 0.05, 0.80, 46.5),
    "clinicaltrials-tools, Fisher z: r=0.3, n=85": Size("correlation", 0.3, 0.05, 0.80, 84.5),
}


def power(kind: str, n: int, effect: float, alpha: float) -> float:
    return evidence_value(make_design(kind=kind, alpha=alpha), n, effect)


def scipy_power(kind: str, n: int, effect: float, alpha: float) -> float:
    """Return the power of an even ``n`` from SciPy's noncentral t, or its normal."""
    groups = 2 if kind.startswith("two") else 1
    shift = abs(effect) * math.sqrt(n) / groups
    if kind in ("correlation", "two_proportions"):
        if kind == "correlation":
            shift = math.atanh(effect) * math.sqrt(n - 3)
        critical = stats.norm.isf(alpha / 2)
        return float(stats.norm.sf(critical - shift) + stats.norm.cdf(-critical - shift))
    critical = stats.t.isf(alpha / 2, n - groups)
    near = stats.nct.sf(critical, n - groups, shift)
    far = stats.nct.cdf(-critical, n - groups, shift)
    return float(near + (0.0 if math.isnan(far) else far))


@pytest.mark.parametrize("printed", POWERS.values(), ids=POWERS)
def test_power_agrees_with_the_printed_value(printed: Power) -> None:
    found = power(printed.kind, printed.n, printed.effect, printed.alpha)
    assert found == pytest.approx(printed.value, abs=printed.within)


@pytest.mark.parametrize("printed", POWERS.values(), ids=POWERS)
def test_printed_power_is_copied_right(printed: Power) -> None:
    confirmed = scipy_power(printed.kind, printed.n, printed.effect, printed.alpha)
    assert confirmed == pytest.approx(printed.value, abs=max(printed.within, 1e-10))


@pytest.mark.parametrize("printed", SIZES.values(), ids=SIZES)
def test_power_is_reached_between_the_whole_numbers_around_the_printed_size(printed: Size) -> None:
    groups = 2 if printed.kind.startswith("two") else 1
    below, above = (groups * whole for whole in (int(printed.size), int(printed.size) + 1))
    for judge in (power, scipy_power):
        assert judge(printed.kind, below, printed.effect, printed.alpha) < printed.target
        assert judge(printed.kind, above, printed.effect, printed.alpha) >= printed.target


# --- audit: the probability of at least one bad unit ------------------------------------------


class Audit(NamedTuple):
    """A printed probability: units examined, bad units, all units, the value, its rounding."""

    n: int
    bad: int
    population: int
    detected: float
    within: float


AUDITS: Final = {
    # "Acceptance Sampling: An Application of the Hypergeometric Distribution" (studylib.net
    # 6591195): 5 of 25 parts of an X-ray unit, 2 of them bad, are accepted with 0.6333.
    "lot of 25, 2 bad": Audit(5, 2, 25, 1 - 0.6333, 5e-5),
    # "Lot inspection sampling" (homeworksource.com 1085671): 4 of lots of 10; accepted with 0.6
    # and 0.333333333.
    "lot of 10, 1 bad": Audit(4, 1, 10, 1 - 0.6, 1e-12),
    "lot of 10, 2 bad": Audit(4, 2, 10, 1 - 0.333333333, 1e-9),
    # 4 of 4500 compact discs, 150 defective: rejected with 0.1269 (qammunity.org 5089203).
    "lot of 4500, 150 bad": Audit(4, 150, 4500, 0.1269, 5e-5),
    # 55,525,372 of the 82,598,880 samples of 6 from 65 transistors have none of the 4 bad ones
    # (askanewquestion.com 1594205).
    "lot of 65, 4 bad": Audit(6, 4, 65, 1 - 55525372 / 82598880, 1e-12),
    # Shipments of 50 items, 20 % bad, sample of 5: none with 0.31056 (assignmentexpert.com 72628).
    "lot of 50, 10 bad": Audit(5, 10, 50, 1 - 0.31056, 5e-6),
    # 47 of 4000 batteries, 1 % bad: none with 0.62181 (assignmentexpert.com 174570).
    "lot of 4000, 40 bad": Audit(47, 40, 4000, 1 - 0.62181, 5e-6),
}


@pytest.mark.parametrize("printed", AUDITS.values(), ids=AUDITS)
def test_detection_agrees_with_the_printed_value(printed: Audit) -> None:
    share = printed.bad / printed.population
    design = make_design(kind="audit", effect_planning=share, population_max=printed.population)
    found = evidence_value(design, printed.n, share)
    assert found == pytest.approx(printed.detected, abs=printed.within)
    exact = stats.hypergeom.sf(0, printed.population, printed.bad, printed.n)
    assert exact == pytest.approx(printed.detected, abs=printed.within)


@pytest.mark.parametrize(
    ("target", "share", "least"),
    # The success-run theorem, n = ln(1 - confidence) / ln(reliability), as quality engineers quote
    # it: 90 pouches for 99 % / 95 % (Westpak, Sample Size for Attributes when C = 0), 299 units for
    # 95 % / 99 % (harishsnotebook.com).
    [(0.99, 0.05, 90), (0.95, 0.01, 299)],
)
def test_detection_needs_the_sample_of_the_success_run_theorem(
    target: float, share: float, least: int
) -> None:
    endless = make_design(kind="audit", effect_planning=share, target=target)
    assert evidence_value(endless, least - 1, share) < target
    assert evidence_value(endless, least, share) >= target


# --- coverage and precision -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "population", "share"),
    [
        # Errington et al. 2021, eLife 10:e67995, abstract: 50 of 193 experiments, 23 of 53 papers.
        pytest.param(50, 193, 0.2591, id="experiments"),
        pytest.param(23, 53, 0.4340, id="papers"),
        # "Sampling fraction" (grokipedia.com): 100 drawn from 1000 are 10 % of the population.
        pytest.param(100, 1000, 0.1, id="survey"),
    ],
)
def test_coverage_is_the_sampling_fraction(n: int, population: int, share: float) -> None:
    design = make_design(kind="coverage", population_max=population, effect_planning=None)
    assert evidence_value(design, n, None) == pytest.approx(share, abs=5e-5)


@pytest.mark.parametrize(
    ("alpha", "sd", "half_width", "least"),
    # Worked exercises on (z sd / E)², each rounded up: 38.5 (justaaa.com 119405), 266.8
    # (homeworksource.com 1024707), 2401 (assignmentexpert.com 302236) and 140.2 (wyzant.com 896906)
    # at 95 %, 76.3 (homeworksource.com 1000522) at 98 %.
    [
        (0.05, 19, 6, 39),
        (0.05, 2.5, 0.3, 267),
        (0.05, 5, 0.2, 2401),
        (0.05, 30.2, 5, 141),
        (0.02, 15, 4, 77),
    ],
)
def test_half_width_is_reached_at_the_printed_sample_size(
    alpha: float, sd: float, half_width: float, least: int
) -> None:
    design = make_design(kind="precision", alpha=alpha, target=0.1, floor=0.2)
    assert evidence_value(design, least, sd) <= half_width
    assert evidence_value(design, least - 1, sd) > half_width


# --- the smallest detectable effect -----------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "n", "alpha", "target", "effect", "within"),
    [
        # R's pwr, in public course notes: paired n = 32, two.sample n = 20 and n = 30. Its root
        # finder stops within 1e-4 of itself.
        ("paired", 32, 0.05, 0.80, 0.5112738, 5e-5),
        ("two_group", 40, 0.05, 0.80, 0.9091587, 5e-5),
        ("two_group", 60, 0.05, 0.80, 0.7356292, 5e-5),
        # The whole numbers that pwr rounds up from 9.93785, 33.36713 and 63.76561.
        ("one_sample", 10, 0.05, 0.80, 1.0, 0.005),
        ("paired", 34, 0.05, 0.80, 0.5, 0.006),
        ("two_group", 128, 0.05, 0.80, 0.5, 0.001),
        # (1.9599640 + 0.8416212) / sqrt(n / 2), by Cohen's h, and its tanh over sqrt(n - 3).
        ("two_proportions", 126, 0.05, 0.80, 0.4991701, 2e-6),
        ("correlation", 85, 0.05, 0.80, 0.2998760, 2e-6),
    ],
)
def test_smallest_detectable_effect_agrees_with_the_printed_one(
    kind: str, n: int, alpha: float, target: float, effect: float, within: float
) -> None:
    found = smallest_detectable_effect(make_design(kind=kind, alpha=alpha, target=target), n)
    assert found == pytest.approx(effect, abs=within)
