"""Effects from reported numbers: means and SDs, t, F, chi-squared, shares and ratios, events.

Sources: Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), pp. 20-72 (d, of two
groups and of pairs), 180-183 (h), 274-284 (f, eta squared); Rosenthal, in Cooper & Hedges, The
Handbook of Research Synthesis (1994), chapter 16 (d and r from t, F and chi-squared);
Borenstein, Hedges, Higgins & Rothstein, Introduction to Meta-Analysis (2009), chapter 5 (ratios);
Schoenfeld (1981), Biometrika 68, 316-319 (a hazard ratio from the log-rank statistic).
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

from replicalab.errors import Refusal
from replicalab.lexicon import amount_text, exact_text

_MOST: Final = 1e9
_ROUNDING: Final = 1e-9


class ReportedNumber(NamedTuple):
    """A reported number in the formula of an effect; ``usual`` is the first value of its field.

    The bounds are not allowed themselves if it is ``between`` them.
    """

    name: str
    label: str
    usual: float = 1.0
    least: float = -_MOST
    most: float = _MOST
    between: bool = False
    whole: bool = False

    def fault(self, value: object) -> str:
        """Return the allowed range, empty if the value is in it."""
        is_number = isinstance(value, int if self.whole else (int, float))
        if is_number and isinstance(value, int | float) and math.isfinite(value):
            inside = self.least < value < self.most
            if inside or (not self.between and self.least <= value <= self.most):
                return ""
        text, limit = amount_text(self.least), amount_text(self.most)
        return f"between {text} and {limit}" if self.between else f"{text} to {limit}"


class EffectSource(NamedTuple):
    """A way to compute an effect; ``work`` takes the asked numbers and returns a design's."""

    label: str
    asked: tuple[ReportedNumber, ...]
    work: Callable[..., Mapping[str, float]]
    formula: str

    @property
    def sets(self) -> frozenset[str]:
        return frozenset(self.numbers({number.name: number.usual for number in self.asked}))

    def faults(self, typed: Mapping[str, object]) -> Iterator[tuple[str, str, str]]:
        """Yield each number out of its range: its name, the problem and the remedy."""
        for number in self.asked:
            value = typed.get(number.name)
            if fault := number.fault(value):
                text = exact_text(value) if isinstance(value, int | float) else "empty"
                yield number.name, f"{number.label} is {text}", f"type {fault}"

    def numbers(self, typed: Mapping[str, float]) -> dict[str, float]:
        """Return the numbers of a design, by field; ValueError if they leave no effect."""
        try:
            numbers = self.work(*(typed[number.name] for number in self.asked))
        except (ZeroDivisionError, OverflowError):
            numbers = {"": math.nan}
        if not all(map(math.isfinite, numbers.values())):
            problem = f"{_stated(self.asked, typed)} leave no effect"
            raise Refusal(problem, f"check {self.formula}").error
        return dict(numbers)

    def text(self, typed: Mapping[str, float]) -> str:
        """Return numbers and formula in a sentence: ``From t = 2.5, n = 20: d = t / √n``."""
        return f"From {_stated(self.asked, typed)}: {self.formula}."


def _stated(asked: Sequence[ReportedNumber], typed: Mapping[str, float]) -> str:
    return ", ".join(f"{number.name} = {exact_text(typed[number.name])}" for number in asked)


def _effect(value: float, **others: float) -> dict[str, float]:
    return {"effect_planning": abs(value), **others}


def _two_groups(t: float, first: float, second: float) -> dict[str, float]:
    return _effect(t * math.sqrt(1 / first + 1 / second))


def _two_shares(p1: float, p2: float) -> dict[str, float]:
    # Without any event there is no effect either, which is reported as a fault.
    higher = {"baseline": max(p1, p2)} if p1 or p2 else {}
    return _effect(2 * math.asin(math.sqrt(p1)) - 2 * math.asin(math.sqrt(p2)), **higher)


def _by_ratio(share: float, p2: float) -> dict[str, float]:
    if share > 1:
        problem = f"a share of {share:.4g} follows for group 1"
        raise Refusal(problem, "type a smaller ratio or share").error
    return _two_shares(share, p2)


def _by_phi(phi: float, higher: float) -> dict[str, float]:
    # Phi of two equal groups is half of their difference over the SD at their mean share.
    root = math.sqrt(phi * phi + 4 * higher * (1 - higher))
    lower = higher - phi * (phi * (2 * higher - 1) + root) / (1 + phi * phi)
    if lower < -_ROUNDING:
        problem = f"phi {phi:.4g} leaves no share below {higher:g}"
        raise Refusal(problem, "check it, or type a higher share").error
    return _two_shares(higher, max(0.0, lower))


def _correlation(t: float, n: float) -> dict[str, float]:
    return _effect(t / math.hypot(t, math.sqrt(n - 2)))


def _part(number: float, total: float, parts: str, whole: str) -> float:
    if number > total:
        problem = f"{exact_text(number)} {parts} in {exact_text(total)} {whole}"
        raise Refusal(problem, f"type at most as many {parts} as {whole}").error
    return number / total


def _several_groups(f: float, groups: float, n: float) -> dict[str, float]:
    _part(groups, n, "groups", "samples")
    return _effect(math.sqrt(f * (groups - 1) / n), groups=groups)


_mean: Final = ReportedNumber
_positive: Final = partial(ReportedNumber, least=0.0, between=True)
_count: Final = partial(ReportedNumber, least=2, whole=True)
_share: Final = partial(ReportedNumber, least=0.0, most=1.0)

_T: Final = _mean("t", "Reported t", 2.0)
_F: Final = ReportedNumber("F", "Reported F", 4.0, least=0.0)
_CHI_SQUARED: Final = ReportedNumber("chi²", "Reported chi-squared", 4.0, least=0.0)
_N: Final = _count("n", "Reported n", 20, least=3)
_PAIRS: Final = _count("n", "Reported pairs", 20)
_SDS: Final = (_positive("SD1", "SD of group 1"), _positive("SD2", "SD of group 2"))
_GROUP_SIZES: Final = (
    _count("n1", "Reported n, group 1", 20),
    _count("n2", "Reported n, group 2", 20),
)
_MEANS: Final = (_mean("m1", "Mean of group 1", 0.5), _mean("m2", "Mean of group 2", 0.0))
_CONDITIONS: Final = (_mean("m1", "Mean before", 0.0), _mean("m2", "Mean after", 0.5))
_R: Final = ReportedNumber("r", "Correlation", 0.5, -1.0, 1.0, between=True)
_CONDITION_SDS: Final = (_positive("SD1", "SD before"), _positive("SD2", "SD after"))

# The source with more numbers is first: SDs are weighted if the sizes are known.
TWO_GROUP: Final = (
    EffectSource(
        "two means, two SDs and n of both", (*_MEANS, *_SDS, *_GROUP_SIZES),
        lambda m1, m2, sd1, sd2, n1, n2: _effect(
            (m1 - m2) / math.sqrt(((n1 - 1) * sd1**2 + (n2 - 1) * sd2**2) / (n1 + n2 - 2))
        ),
        "d = (m1 − m2) / √(((n1 − 1) · SD1² + (n2 − 1) · SD2²) / (n1 + n2 − 2))",
    ),
    EffectSource(
        "two means and two SDs", (*_MEANS, *_SDS),
        lambda m1, m2, sd1, sd2: _effect((m1 - m2) / (math.hypot(sd1, sd2) / math.sqrt(2))),
        "d = (m1 − m2) / √((SD1² + SD2²) / 2), as of groups of one size",
    ),
    EffectSource(
        "two means and a pooled SD", (*_MEANS, _positive("SD", "Pooled SD")),
        lambda m1, m2, sd: _effect((m1 - m2) / sd), "d = (m1 − m2) / SD",
    ),
    EffectSource(
        "t and n of both groups", (_T, *_GROUP_SIZES), _two_groups, "d = t · √(1/n1 + 1/n2)",
    ),
    EffectSource(
        "F of two groups and n of both", (_F, *_GROUP_SIZES),
        lambda f, n1, n2: _two_groups(math.sqrt(f), n1, n2), "t = √F, d = t · √(1/n1 + 1/n2)",
    ),
)  # fmt: skip
PAIRED: Final = (
    EffectSource(
        "mean and SD of the differences",
        (_mean("mean", "Mean difference", 0.5), _positive("SD", "SD of the differences")),
        lambda m, sd: _effect(m / sd), "d = mean / SD, of the differences",
    ),
    EffectSource(
        "two means, two SDs and their correlation",
        (*_CONDITIONS, *_CONDITION_SDS, _R),
        lambda m1, m2, s1, s2, r: _effect((m1 - m2) / math.sqrt(s1**2 + s2**2 - 2 * r * s1 * s2)),
        "d = (m1 − m2) / √(SD1² + SD2² − 2 · r · SD1 · SD2)",
    ),
    EffectSource(
        "t and n of the pairs", (_T, _PAIRS), lambda t, n: _effect(t / math.sqrt(n)), "d = t / √n",
    ),
    EffectSource(
        "F of one df and n of the pairs", (_F, _PAIRS), lambda f, n: _effect(math.sqrt(f / n)),
        "t = √F, d = t / √n",
    ),
)  # fmt: skip
ONE_SAMPLE: Final = (
    EffectSource(
        "mean, SD and the fixed value",
        (_mean("mean", "Mean", 0.5), _mean("fixed", "Fixed value", 0.0), _positive("SD", "SD")),
        lambda m, m0, sd: _effect((m - m0) / sd), "d = (mean − fixed) / SD",
    ),
    EffectSource(
        "t and n", (_T, _count("n", "Reported n", 20)), lambda t, n: _effect(t / math.sqrt(n)),
        "d = t / √n",
    ),
)  # fmt: skip
CORRELATION: Final = (
    EffectSource("t and n", (_T, _N), _correlation, "r = t / √(t² + n − 2)"),
    EffectSource(
        "F of one df and n", (_F, _N), lambda f, n: _correlation(math.sqrt(f), n),
        "t = √F, r = t / √(t² + n − 2)",
    ),
    EffectSource(
        "chi-squared of one df and n", (_CHI_SQUARED, _count("n", "Reported n", 100, least=3)),
        lambda chi2, n: _effect(math.sqrt(chi2 / n)), "r = √(chi² / n)",
    ),
)  # fmt: skip
_H: Final = "h = 2 · asin √p1 − 2 · asin √p2, baseline = the higher of them"
_P2: Final = _share("p2", "Share in group 2", 0.3)
_HIGHER: Final = _share("p", "Higher of both shares", 0.5)
_PHI: Final = (
    "phi = (p − p2) / (2 · √(m · (1 − m))) of equal groups, m their mean share; h of p and p2"
)

TWO_PROPORTIONS: Final = (
    EffectSource("two proportions", (_share("p1", "Share in group 1", 0.5), _P2), _two_shares, _H),
    EffectSource(
        "odds ratio and the share in group 2", (_positive("OR", "Odds ratio", 2.0), _P2),
        lambda ratio, p2: _by_ratio(ratio * p2 / (1 - p2 + ratio * p2), p2),
        f"p1 = OR · p2 / (1 − p2 + OR · p2), {_H}",
    ),
    EffectSource(
        "risk ratio and the share in group 2", (_positive("RR", "Risk ratio", 1.5), _P2),
        lambda ratio, p2: _by_ratio(ratio * p2, p2), f"p1 = RR · p2, {_H}",
    ),
    EffectSource(
        "chi-squared of one df, n and the higher share",
        (_CHI_SQUARED, _count("n", "Reported n in all", 100), _HIGHER),
        lambda chi2, n, share: _by_phi(math.sqrt(chi2 / n), share), f"phi = √(chi² / n), {_PHI}",
    ),
    EffectSource(
        "phi and the higher share",
        (ReportedNumber("phi", "Phi", 0.2, least=-1.0, most=1.0), _HIGHER),
        lambda phi, higher: _by_phi(abs(phi), higher), _PHI,
    ),
)  # fmt: skip
AUDIT: Final = (
    EffectSource(
        "bad units in a sample",
        (_count("bad", "Bad units", 1, least=0), _count("all", "Units examined", 100, least=1)),
        lambda bad, seen: _effect(_part(bad, seen, "bad units", "units")), "share = bad / all",
    ),
)  # fmt: skip
PRECISION: Final = (
    EffectSource(
        "mean and SD", (_positive("mean", "Mean", 2.0), _positive("SD", "SD of one sample")),
        lambda m, sd: _effect(sd / m), "relative SD = SD / mean",
    ),
)  # fmt: skip
ANOVA: Final = (
    EffectSource(
        "F, groups and n in all",
        (_F, _count("groups", "Groups", 3), _count("n", "Reported n in all", 60)), _several_groups,
        "f = √(F · df1 / n), df1 = groups − 1, n in all",
    ),
    EffectSource(
        "eta squared", (ReportedNumber("eta²", "Eta squared", 0.06, 0.0, 1.0, between=True),),
        lambda eta2: _effect(math.sqrt(eta2 / (1 - eta2))), "f = √(eta² / (1 − eta²))",
    ),
)  # fmt: skip
EQUIVALENCE: Final = (
    EffectSource(
        "difference, margin and SD",
        (_mean("difference", "True difference", 0.0),
         _positive("margin", "Margin, in its unit", 0.5), _positive("SD", "SD")),
        lambda m, margin, sd: _effect(m / sd, margin=margin / sd),
        "d = difference / SD, margin = margin / SD",
    ),
)  # fmt: skip
_EVENTS: Final = _count("events", "Events", 50, least=1)
SURVIVAL: Final = (
    EffectSource(
        "hazard ratio and events",
        (_positive("HR", "Hazard ratio", 0.7), _EVENTS,
         _count("samples", "Samples in all", 100, least=1)),
        lambda ratio, events, samples: {
            "effect_planning": ratio, "event_share": _part(events, samples, "events", "samples"),
        },
        "share with an event = events / samples",
    ),
    EffectSource(
        "median times of both groups",
        (_positive("median1", "Median, group 1", 14.0),
         _positive("median2", "Median, group 2", 20.0)),
        lambda m1, m2: {"effect_planning": m1 / m2},
        "HR = median1 / median2, hazards taken as constant",
    ),
    EffectSource(
        "log-rank z and events",
        (_mean("z", "Reported z", -2.0), _EVENTS),
        lambda z, events: {"effect_planning": math.exp(2 * z / math.sqrt(events))},
        "HR = exp(2 · z / √events)",
    ),
)  # fmt: skip
