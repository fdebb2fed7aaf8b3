"""Effects from the numbers that people have, against textbooks; every source at its ends."""

import math
from itertools import product
from typing import Final

import pytest

from replicalab.designs import KINDS, EffectSource

SOURCES: Final = [(kind, source) for kind, row in KINDS.items() for source in row.sources]


OF_TEN: Final = {"effect_planning": 0.1925, "baseline": 0.10}


def source_of(kind: str, label: str) -> EffectSource:
    return next(source for source in KINDS[kind].sources if source.label == label)


@pytest.mark.parametrize(
    ("kind", "label", "typed", "numbers"),
    [
        # Borenstein, Hedges, Higgins & Rothstein (2009), Introduction to Meta-Analysis, p. 27:
        # means 103 and 100, SDs 5.5 and 4.5, n 50 and 50: d = 0.5970.
        ("two_group", "two means and two SDs", (103, 100, 5.5, 4.5), {"effect_planning": 0.5970}),
        # Borenstein and others (2009), p. 26: SDs of unlike groups are pooled by n - 1. Of means
        # apart by 2, SDs 4 and 3, n 20 and 60: 2 / √((19 · 16 + 59 · 9) / 78) = 2 / 3.2717.
        ("two_group", "two means, two SDs and n of both", (103, 100, 5.5, 4.5, 50, 50),
         {"effect_planning": 0.5970}),
        ("two_group", "two means, two SDs and n of both", (10, 8, 4, 3, 20, 60),
         {"effect_planning": 0.61130}),
        # Cohen (1988), p. 20: the difference over the SD.
        ("two_group", "two means and a pooled SD", (10, 12, 4), {"effect_planning": 0.5}),
        # Rosenthal (1994): d = t √(1/n1 + 1/n2): 2.5 √0.1, and √(1/15 + 1/35) = 0.308607.
        ("two_group", "t and n of both groups", (2.5, 20, 20), {"effect_planning": 0.790569}),
        ("two_group", "t and n of both groups", (-3, 15, 35), {"effect_planning": 0.925820}),
        # F of one degree of freedom is t².
        ("two_group", "F of two groups and n of both", (6.25, 20, 20),
         {"effect_planning": 0.790569}),
        ("paired", "mean and SD of the differences", (-3, 6), {"effect_planning": 0.5}),
        # Borenstein and others (2009), p. 29: 103 and 100, SD of the differences 5.5, r 0.7; the SD
        # within is 5.5 / √(2 · 0.3) = 7.1005, so that two such SDs give 3 / 5.5 again.
        ("paired", "two means, two SDs and their correlation", (103, 100, 7.1005, 7.1005, 0.7),
         {"effect_planning": 0.5455}),
        ("paired", "t and n of the pairs", (2.5, 25), {"effect_planning": 0.5}),
        # Reproducibility Project: Psychology (2015): F(1, 23) = 13.71 of 24 pairs.
        ("paired", "F of one df and n of the pairs", (13.71, 24), {"effect_planning": 0.7558}),
        ("one_sample", "mean, SD and the fixed value", (103, 100, 15), {"effect_planning": 0.2}),
        ("one_sample", "t and n", (2.5, 25), {"effect_planning": 0.5}),
        # Rosenthal (1994): r = √(t² / (t² + df)): 4 / (4 + 96).
        ("correlation", "t and n", (2, 98), {"effect_planning": 0.2}),
        ("correlation", "F of one df and n", (4, 98), {"effect_planning": 0.2}),
        # Rosnow & Rosenthal (1989), American Psychologist 44, 1279: aspirin, r = .034.
        ("correlation", "chi-squared of one df and n", (25.01, 22071),
         {"effect_planning": 0.03366}),
        # Borenstein and others (2009), p. 33: 5 of 100 against 10 of 100, risk ratio 0.5, odds
        # ratio 0.4737; chi² 200 (5 · 90 − 10 · 95)² / (15 · 185 · 100 · 100) = 1.8018, phi 0.0949.
        # Cohen (1988), table 6.2.2: the arcsines of .10 and .05 differ by 0.1925.
        ("two_proportions", "odds ratio and the share in group 2", (0.473684, 0.10), OF_TEN),
        ("two_proportions", "odds ratio and the share in group 2", (1 / 0.473684, 0.05), OF_TEN),
        ("two_proportions", "risk ratio and the share in group 2", (0.5, 0.10), OF_TEN),
        ("two_proportions", "risk ratio and the share in group 2", (2, 0.05), OF_TEN),
        ("two_proportions", "chi-squared of one df, n and the higher share",
         (1.801802, 200, 0.10), OF_TEN),
        ("two_proportions", "phi and the higher share", (-0.094916, 0.10), OF_TEN),
        # At a phi of 1 one group has the event throughout, the other never.
        ("two_proportions", "phi and the higher share", (1, 1),
         {"effect_planning": 3.1416, "baseline": 1}),
        # Cohen (1988), table 6.2.2, p. 183: phi of .40 is 1.369, of .25 1.047, of .05 0.451.
        ("two_proportions", "two proportions", (0.40, 0.25),
         {"effect_planning": 0.322, "baseline": 0.40}),
        ("two_proportions", "two proportions", (0.05, 0.25),
         {"effect_planning": 0.596, "baseline": 0.25}),
        ("two_proportions", "two proportions", (0, 1),
         {"effect_planning": 3.1416, "baseline": 1}),
        # Cohen (1988), p. 280: f² is F df1 over n where n are all samples: 4 · 2 / 60, so f 0.3651.
        ("anova", "F, groups and n in all", (4, 3, 60), {"effect_planning": 0.3651, "groups": 3}),
        # Cohen (1988), table 8.2.2, p. 283: eta² .0588 is f .25, .1379 is .40.
        ("anova", "eta squared", (0.0588,), {"effect_planning": 0.25}),
        ("anova", "eta squared", (0.1379,), {"effect_planning": 0.40}),
        ("equivalence", "difference, margin and SD", (1, 5, 10),
         {"effect_planning": 0.1, "margin": 0.5}),
        ("survival", "hazard ratio and events", (0.7, 50, 200),
         {"effect_planning": 0.7, "event_share": 0.25}),
        # Of exponential times the hazard is log 2 over the median.
        ("survival", "median times of both groups", (14, 20), {"effect_planning": 0.7}),
        # Schoenfeld (1981): log HR = 2 z / √events: at 100 events and z 2 it is 0.4.
        ("survival", "log-rank z and events", (-2, 100), {"effect_planning": 0.6703}),
        ("audit", "bad units in a sample", (3, 60), {"effect_planning": 0.05}),
        ("precision", "mean and SD", (20, 5), {"effect_planning": 0.25}),
    ],
)  # fmt: skip
def test_effect_from_reported_numbers_agrees_with_the_textbook(
    kind: str, label: str, typed: tuple[float, ...], numbers: dict[str, float]
) -> None:
    source = source_of(kind, label)
    stated = {number.name: value for number, value in zip(source.asked, typed, strict=True)}
    assert not list(source.faults(stated))
    assert source.numbers(stated) == pytest.approx(numbers, rel=1e-3)
    assert source.sets == set(numbers)


@pytest.mark.parametrize(("kind", "source"), SOURCES, ids=lambda each: str(each)[:40])
def test_extreme_numbers_are_finite_or_refused(kind: str, source: EffectSource) -> None:
    for values in product(
        *(_ends(number.least, number.most, number.whole) for number in source.asked)
    ):
        typed = {number.name: value for number, value in zip(source.asked, values, strict=True)}
        if list(source.faults(typed)):
            continue
        try:
            assert all(map(math.isfinite, source.numbers(typed).values())), (kind, typed)
        except ValueError as error:
            assert "; " in str(error), (kind, typed)  # noqa: PT017


def _ends(least: float, most: float, whole: bool) -> tuple[float, ...]:
    if whole:
        return int(least), int(least) + 1, int(most)
    return least, math.nextafter(least, most), 0.0, 0.5, math.nextafter(most, least), most


@pytest.mark.parametrize(
    ("label", "typed", "message"),
    [
        ("risk ratio and the share in group 2", {"RR": 3, "p2": 0.5},
         "a share of 1.5 follows for group 1; type a smaller ratio or share"),
        ("phi and the higher share", {"phi": 0.5, "p": 0.1},
         "phi 0.5 leaves no share below 0.1; check it, or type a higher share"),
    ],
)  # fmt: skip
def test_impossible_share_is_refused(label: str, typed: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        source_of("two_proportions", label).numbers(typed)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300, None, "2", 10**30])
def test_invalid_number_is_refused_with_its_range(value: object) -> None:
    for _, source in SOURCES:
        usual = {number.name: number.usual for number in source.asked}
        for number in source.asked:
            [(name, problem, remedy)] = source.faults({**usual, number.name: value})
            assert name == number.name
            assert problem.startswith(f"{number.label} is ")
            assert remedy.startswith("type ")


def test_usual_numbers_of_sources_can_be_planned() -> None:
    for kind, source in SOURCES:
        usual = {number.name: number.usual for number in source.asked}
        assert not list(source.faults(usual))
        effect = KINDS[kind].effect
        assert effect is not None
        assert effect.fault_in_plan(source.numbers(usual)["effect_planning"]) is None, source.label
