"""Evidence against values that others have printed: manuals, package examples, worked exercises.

Each row names its source. The tolerance is half a unit of the last printed digit, or
that of the row. No expected value comes from the code under test.
"""

import math
from typing import Any, Final

import pytest

from replicalab.assessment import evidence_value
from replicalab.designs import KINDS
from tests.designs.examples import design_of


def groups_of(kind: str) -> int:
    return int(kind.partition("/")[2] or (2 if kind.startswith("two") else 1))


def power(kind: str, n: int, effect: float, alpha: float) -> float:
    name = kind.partition("/")[0]
    every = {"groups": groups_of(kind), "event_share": 1.0}
    needed = {number: every[number] for number in KINDS[name].needs if number != "alpha"}
    return evidence_value(design_of(name, alpha, **needed), n, effect)


@pytest.mark.parametrize(
    ("kind", "n", "effect", "alpha", "value", "within"),
    # n in all, of equal groups.
    [
        # R's pwr.t.test and pwr.2p.test, quoted in statsmodels/stats/tests/test_power.py.
        ("two_group", 60, 1.0, 0.05, 0.967708258242517, 1e-12),
        ("one_sample", 20, 0.2, 0.05, 0.1359562887679666, 1e-12),
        ("two_proportions", 160, 0.3, 0.05, 0.475100870572638, 1e-12),
        # The same, quoted in public course notes and test suites; the last is Cohen (1988),
        # exercise 2.5, p. 47.
        ("two_group", 60, 0.5, 0.05, 0.477896520760209, 1e-12),
        ("paired", 33, 0.02, 0.05, 0.05142498, 5e-9),
        ("one_sample", 60, 0.2, 0.10, 0.4555818, 5e-8),
        # Of two groups of 7 and 6: SciPy's noncentral t at 0.9 √(42 / 13), of which 11 are free.
        ("two_group", 13, 0.9, 0.05, 0.3151066740980777, 1e-8),
        # FDRsampsize, ?power.twosampt: both tails by the noncentral F; alpha to 9 decimals.
        ("two_group", 16, 2.0, 0.008087158, 0.800038317, 2e-8),
        # G*Power 3 user guide, Generic t test: N = 25, d = -0.25, delta = -1.25, df = 24,
        # two-sided. Its sixth digit is one too high: SciPy says 0.2245240.
        ("one_sample", 25, -0.25, 0.05, 0.224525, 1e-6),
        # R's ?pwr.anova.test; Cohen (1988), exercise 8.1, p. 355.
        ("anova/4", 80, 0.28, 0.05, 0.5149793, 5e-8),
        # R's ?power.anova.test: variances 1 between and 3 within; f² = (k - 1) / k × 1/3.
        ("anova/4", 20, 0.5, 0.05, 0.3535594, 5e-8),
    ],
)
def test_power_agrees_with_the_printed_value(
    kind: str, n: int, effect: float, alpha: float, value: float, within: float
) -> None:
    assert power(kind, n, effect, alpha) == pytest.approx(value, abs=within)


@pytest.mark.parametrize(
    ("kind", "effect", "alpha", "target", "size"),
    # The sample as a fraction, per group if there are several; half a unit less than the next whole
    # number if a source prints only that.
    [
        # R's pwr, quoted in public course notes and test suites; of two proportions the second is
        # 55 % against 50 %, the last 70 % against 55 %.
        ("two_group", 0.5, 0.05, 0.80, 63.76561),
        ("paired", 0.5, 0.05, 0.80, 33.36713),
        ("paired", 0.4, 0.05, 0.90, 67.07532),
        ("one_sample", 0.2769913, 0.05, 0.80, 104.2368),
        ("one_sample", 0.5, 0.01, 0.90, 62.87021),
        ("two_proportions", 0.2, 0.05, 0.80, 392.443026235748),
        ("two_proportions", 0.1001674, 0.05, 0.80, 1564.529),
        ("two_proportions", 2 * (math.asin(0.70**0.5) - math.asin(0.55**0.5)), 0.05, 0.80,
         161.9349146),
        ("anova/3", 0.25, 0.05, 0.80, 52.3966),
        ("anova/5", 0.25, 0.05, 0.80, 39.1534),
        # R's power.t.test.
        ("two_group", 1.08, 0.05, 0.95, 23.28802),
        # G*Power 3.1, bivariate normal model, as papers quote it: 84 and 29.
        ("correlation", 0.3, 0.05, 0.80, 83.5),
        ("correlation", 0.5, 0.05, 0.80, 28.5),
        # Cohen (1988), exercise 8.10.
        ("anova/4", 0.28, 0.05, 0.80, 35.75789),
        # R's ?power.anova.test: means 120 to 150 within a variance of 500.
        ("anova/4", math.sqrt(125 / 500), 0.05, 0.90, 15.18834),
        # Events, by R's gsDesign, nEvents(hr, alpha = .05, sided = 2), at beta .20.
        ("survival", 0.7, 0.05, 0.80, 246.79),
        ("survival", 0.65, 0.05, 0.80, 169.18),
        # Events, by 4 (z + z)² / log(hr)², as trial reports quote it: 66 halve or double a hazard,
        # 508 with power .90.
        ("survival", 0.5, 0.05, 0.80, 65.5),
        ("survival", 2.0, 0.05, 0.80, 65.5),
        ("survival", 0.75, 0.05, 0.90, 507.5),
    ],
)  # fmt: skip
def test_printed_size_reaches_the_power(
    kind: str, effect: float, alpha: float, target: float, size: float
) -> None:
    assert power(kind, groups_of(kind) * int(size), effect, alpha) < target
    assert power(kind, groups_of(kind) * (int(size) + 1), effect, alpha) >= target


ONE_SIDED: Final = {"sides": 1}


@pytest.mark.parametrize(
    ("kind", "changes", "effect", "target", "below", "enough"),
    [
        # One-sided at .05. R's pwr, alternative = "greater": 26.14 pairs (statsmodels issue 9378),
        # 50.15 a group, 309.13 a group (arcsine); G*Power 3.1, bivariate normal model: 67 and 23.
        ("paired", ONE_SIDED, 0.5, 0.80, 26, 27),
        ("one_sample", ONE_SIDED, 0.5, 0.80, 26, 27),
        ("two_group", ONE_SIDED, 0.5, 0.80, 100, 102),
        ("two_proportions", ONE_SIDED, 0.2, 0.80, 618, 620),
        ("correlation", ONE_SIDED, 0.3, 0.80, 66, 67),
        ("correlation", ONE_SIDED, 0.5, 0.80, 22, 23),
        # Schoenfeld (1983), Biometrics 39, 499: 4 (1.645 + 0.842)² / log(2)² = 51.5 events.
        ("survival", {"event_share": 1.0, **ONE_SIDED}, 2.0, 0.80, 51, 52),
        # Jachno, Heritier & Wolfe (2015), Trials 16, 213, Table 1: N by Schoenfeld's formula for
        # 80 % at 5 %, half of the samples censored; the events are rounded up to an even number.
        ("survival", {"event_share": 0.5}, 1.50, 0.80, 380, 384),
        ("survival", {"event_share": 0.5}, 2.00, 0.80, 128, 132),
        # R's TOSTER, power_t_TOST(type = "two.sample"), alpha .05: n per group is 69.20, 81.44,
        # 4946.72 and 87.5; of the last only the next whole number is printed.
        ("equivalence", {"margin": 0.5}, 0.0, 0.80, 138, 140),
        ("equivalence", {"margin": 0.5}, 0.1, 0.80, 162, 164),
        ("equivalence", {"margin": 0.5}, 0.45, 0.80, 9892, 9894),
        ("equivalence", {"margin": 0.5}, 0.0, 0.90, 174, 176),
        # Lakens (2017), Soc. Psychol. Pers. Sci. 8, 355-362, by 2 (z(.95) + z(.90))² / margin²,
        # each rounded up: 191 and 48; the exact test needs up to one more in each group.
        ("equivalence", {"margin": 0.3}, 0.0, 0.80, 380, 384),
        ("equivalence", {"margin": 0.6}, 0.0, 0.80, 94, 98),
        # The success-run theorem, n = ln(1 - confidence) / ln(reliability), as quality engineers
        # quote it: 90 pouches for 99 % / 95 % (Westpak, Sample Size for Attributes when C = 0). 59
        # for 5 % is also Wilks's number for a one-sided tolerance limit (Wilks 1941).
        ("audit", {"population_max": None}, 0.05, 0.99, 89, 90),
        ("audit", {"population_max": None}, 0.05, 0.95, 58, 59),
        # Worked exercises on (z sd / E)², each rounded up: 38.5 (justaaa.com 119405) at 95 %, 76.3
        # (homeworksource.com 1000522) at 98 %.
        ("precision", {"alpha": 0.05}, 19, 6, 38, 39),
        ("precision", {"alpha": 0.02}, 15, 4, 76, 77),
    ],
)
def test_printed_size_reaches_the_target(
    kind: str, changes: dict[str, Any], effect: float, target: float, below: int, enough: int
) -> None:
    design, scale = design_of(kind, **changes), KINDS[kind].scale
    assert not scale.reaches(evidence_value(design, below, effect), target)
    assert scale.reaches(evidence_value(design, enough, effect), target)


@pytest.mark.parametrize(
    ("kind", "population", "n", "share", "value", "within"),
    [
        # "Acceptance Sampling: An Application of the Hypergeometric Distribution" (studylib.net
        # 6591195): 5 of 25 parts of an X-ray unit, 2 of them bad, are accepted with 0.6333.
        ("audit", 25, 5, 2 / 25, 1 - 0.6333, 5e-5),
        # 4 of 4500 compact discs, 150 defective: rejected with 0.1269 (qammunity.org 5089203).
        ("audit", 4500, 4, 150 / 4500, 0.1269, 5e-5),
        # 55,525,372 of the 82,598,880 samples of 6 from 65 transistors have no bad one of the 4
        # (askanewquestion.com 1594205).
        ("audit", 65, 6, 4 / 65, 1 - 55525372 / 82598880, 1e-12),
        # 47 of 4000 batteries, 1 % bad: none with 0.62181 (assignmentexpert.com 174570).
        ("audit", 4000, 47, 40 / 4000, 1 - 0.62181, 5e-6),
        # Of a million Pythagorean triples, as the shipped audit assumes.
        ("audit", 10**6, 300, 0.01, 0.95, 5e-3),
        # Errington et al. 2021, eLife 10:e67995, abstract: 50 of 193 experiments.
        ("coverage", 193, 50, None, 0.2591, 5e-5),
        # The 633 configurations of the four-colour theorem, of which no more can be examined.
        ("coverage", 633, 1, None, 0.00158, 1e-5),
        ("coverage", 633, 9999, None, 1.0, 0.0),
    ],
)
def test_share_found_agrees_with_the_printed_value(
    kind: str, population: int, n: int, share: float | None, value: float, within: float
) -> None:
    design = design_of(kind, population_max=population)
    assert evidence_value(design, n, share) == pytest.approx(value, abs=within)
