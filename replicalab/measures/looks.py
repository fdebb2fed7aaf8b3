"""Interim looks: at which z a test may stop early, and what that costs and saves in samples.

A statistic that grows as the root of the information is, at each analysis, the value of a Brownian
motion with drift. The density of those paths that have not stopped yet is carried from one analysis
to the next by numerical integration. It is carried without drift only: with drift each path has
the same density times its likelihood ratio, so that one integration serves every effect.

Sources: Armitage, McPherson & Rowe (1969), Journal of the Royal Statistical Society A 132, 235-244,
for the integration; Jennison & Turnbull, Group Sequential Methods (2000), chapters 2 and 19;
Pocock (1977), Biometrika 64, 191-199; O'Brien & Fleming (1979), Biometrics 35, 549-556; Hwang, Shih
& DeCani (1990), Statistics in Medicine 9, 1439-1445.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from statistics import NormalDist
from typing import Final, NamedTuple

from replicalab.measures.distributions import normal_cdf

_NORMAL: Final = NormalDist()
_REACH: Final = 8.0  # SDs below 0 beyond which no path weighs anything
_PANEL: Final = (
    2.0  # The width of a panel, in SDs of the step to the next analysis or from the last
)
_EXACT: Final = 1e-11
_MOST_STEPS: Final = 200
_HALF_RULE: Final = (
    (0.1488743389816312, 0.2955242247147529),
    (0.4333953941292472, 0.2692667193099963),
    (0.6794095682990244, 0.2190863625159821),
    (0.8650633666889845, 0.1494513491505806),
    (0.9739065285171717, 0.0666713443086881),
)
# Nodes and weights of Gauss and Legendre on [-1, 1]: Abramowitz & Stegun (1964), table 25.4.
_RULE: Final = (*_HALF_RULE, *((-node, weight) for node, weight in _HALF_RULE))

MOST_LOOKS: Final = 4
"""The most interim looks; the final analysis comes on top."""
LEAST_ALPHA: Final = 1e-5
MOST_ALPHA: Final = 0.5
MOST_POWER: Final = 0.99999
"""The levels and the power between which bounds are worked out."""


class LooksFamily(StrEnum):
    """How the level is shared out over the analyses."""

    POCOCK = "pocock"
    OBRIEN_FLEMING = "obrien_fleming"
    HWANG_SHIH_DECANI = "hwang_shih_decani"


@dataclass(frozen=True)
class StoppingRule:
    """A test that stops where its z is beyond the bound of an analysis.

    Attributes:
        shares: the information at each analysis, as shares of that at the last, rising to 1.
        bounds: the critical z of each; a two-sided test stops below its negative too.
        sides: 1 or 2.
    """

    shares: tuple[float, ...]
    bounds: tuple[float, ...]
    sides: int = 2

    def crossings(self, drift: float, sides: int | None = None) -> tuple[float, ...]:
        """Return the probability of stopping beyond the bound at each analysis.

        Args:
            drift: the mean of the last analysis' z if no look stopped the test.
            sides: 1 for the upper bounds alone; None for all there are.
        """
        sides = self.sides if sides is None else sides
        chances = [self._tail(drift, 0.0, 0.0, 0, sides)]
        for place, density in enumerate(self._densities):
            root = math.sqrt(self.shares[place])
            lean, loss = drift * root, drift * drift * self.shares[place] / 2
            chances.append(
                sum(
                    weight
                    * math.exp(lean * z - loss)
                    * self._tail(drift, z, root, place + 1, sides)
                    for z, weight in density
                )
            )
        return tuple(chances)

    def drift_for(self, power: float, sides: int | None = 1) -> float:
        """Return the drift at which the test is significant with that probability; 0 at least.

        On its side; with ``sides`` None, on all that it has.
        """
        high = self.bounds[-1] + 1
        while sum(self.crossings(high, sides)) < power:
            high += 2
        return _root(lambda drift: power - sum(self.crossings(drift, sides)), 0.0, high)

    def bound_for(self, chance: float) -> float:
        """Return the bound of the last analysis that is crossed with that probability.

        Without drift, and by paths that no look before has stopped.
        """

        def left(bound: float) -> float:
            last = StoppingRule(self.shares, (*self.bounds[:-1], bound), self.sides)
            vars(last)["_densities"] = self._densities
            return math.log(last.crossings(0.0)[-1]) - math.log(chance)

        return _root(left, 0.0, _critical(chance, self.sides) + 1)

    def _tail(self, drift: float, z: float, root: float, place: int, sides: int) -> float:
        """Return the probability of crossing at an analysis after z at the one before.

        ``root`` is that of the share at the one before.
        """
        now = self.shares[place]
        step = now - root * root
        bound, mean, spread = self.bounds[place] * math.sqrt(now), z * root, math.sqrt(step)
        mean += drift * step
        above = normal_cdf((mean - bound) / spread)
        return above + normal_cdf((-mean - bound) / spread) if sides > 1 else above

    @cached_property
    def _densities(self) -> list[list[tuple[float, float]]]:
        """The paths that go on after each look but the last, without drift: z, and its weight."""
        found: list[list[tuple[float, float]]] = []
        for place, bound in enumerate(self.bounds[:-1]):
            share, root = self.shares[place], math.sqrt(self.shares[place])
            before = found[-1] if found else [(0.0, 1.0)]
            last = self.shares[place - 1] if place else 0.0
            step, past = share - last, math.sqrt(last)
            spread, scale = math.sqrt(step), root / math.sqrt(2 * math.pi * step)
            finest = min(spread, math.sqrt(self.shares[place + 1] - share)) / root
            low = -bound if self.sides > 1 else min(-_REACH, bound - 1)
            points = []
            for z, weight in _nodes(low, bound, _PANEL * finest):
                at = z * root
                density = sum(
                    w * math.exp(-(((at - y * past) / spread) ** 2) / 2) for y, w in before
                )
                points.append((z, weight * scale * density))
            found.append(points)
        return found


def _nodes(low: float, high: float, width: float) -> Iterator[tuple[float, float]]:
    """Yield where, and with which weight, a function is summed between two points."""
    panels = max(1, math.ceil((high - low) / width))
    half = (high - low) / panels / 2
    for panel in range(panels):
        centre = low + half * (2 * panel + 1)
        yield from ((centre + half * node, half * weight) for node, weight in _RULE)


def _root(falls: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling function is 0, which lies between two points.

    By regula falsi as in Dowell & Jarratt (1971), BIT 11, 168-174 (the Illinois rule).
    """
    at_low, at_high, side = falls(low), falls(high), 0
    if at_low <= 0:
        return low
    if at_high >= 0:
        return high
    middle = low
    for _ in range(_MOST_STEPS):
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        value = falls(middle)
        if value == 0 or high - low < _EXACT:
            break
        if value > 0:
            moved = middle - low
            low, at_low = middle, value
            at_high, side = (at_high / 2 if side > 0 else at_high), 1
        else:
            moved = high - middle
            high, at_high = middle, value
            at_low, side = (at_low / 2 if side < 0 else at_low), -1
        if moved < _EXACT:
            break
    return middle


# --- the families -----------------------------------------------------------------------------

Shares = tuple[float, ...]


def _critical(alpha: float, sides: int) -> float:
    return -_NORMAL.inv_cdf(alpha / sides)


def _constant(bounds: Callable[[float, Shares], Shares]) -> Callable[..., Shares]:
    """Return what finds the bounds that one constant sets, so that the whole level is used."""

    def find(shares: Shares, alpha: float, sides: int, gamma: float) -> Shares:
        del gamma

        def left(constant: float) -> float:
            rule = StoppingRule(shares, bounds(constant, shares), sides)
            return sum(rule.crossings(0.0)) - alpha

        # No looks would do with the first, tests that share the level evenly with the second.
        low, high = _critical(alpha, sides), _critical(alpha / len(shares), sides)
        return bounds(_root(left, low, high), shares)

    return find


def spent(share: float, gamma: float) -> float:
    """Return which part of the level is spent up to a share of the information."""
    return math.expm1(-gamma * share) / math.expm1(-gamma) if gamma else share


def _spending(shares: Shares, alpha: float, sides: int, gamma: float) -> Shares:
    """Return the bounds at which each analysis crosses with what the level lets it spend."""
    bounds: Shares = ()
    before = 0.0
    for place, share in enumerate(shares):
        up_to = alpha * spent(share, gamma)
        here, before = up_to - before, up_to
        rule = StoppingRule(shares[: place + 1], (*bounds, 0.0), sides)
        bounds = (*bounds, rule.bound_for(here))
    return bounds


class Family(NamedTuple):
    """A way to share out the level.

    Attributes:
        title: its name for people.
        about: what it does, in a few words.
        bounds: the critical z, from shares, alpha, sides and gamma.
        usual_gamma: its parameter where none is given; None where it has none.
    """

    title: str
    about: str
    bounds: Callable[[Shares, float, int, float], Shares]
    usual_gamma: float | None = None


FAMILIES: Final = {
    LooksFamily.POCOCK: Family(
        "Pocock", "the same level at every look", _constant(lambda c, shares: (c,) * len(shares))
    ),
    LooksFamily.OBRIEN_FLEMING: Family(
        "O’Brien–Fleming",
        "strict early, nearly the whole level at the end",
        _constant(lambda c, shares: tuple(c / math.sqrt(share) for share in shares)),
    ),
    LooksFamily.HWANG_SHIH_DECANI: Family(
        "Hwang–Shih–DeCani",
        "spends the level as its gamma says: at −4 strict early, at 1 much like Pocock",
        _spending,
        -4.0,
    ),
}
"""The row of each family."""


# --- a design with looks ----------------------------------------------------------------------


class SequentialTest(NamedTuple):
    """A test with interim looks beside the fixed one of the same level and power.

    Attributes:
        rule: when it stops.
        drift: the mean of its last z at the effect at which it has that power.
        inflation: its information at the last analysis, as a multiple of the fixed test's.
    """

    rule: StoppingRule
    drift: float
    inflation: float

    @property
    def levels(self) -> tuple[float, ...]:
        """The p below which each analysis is significant, of as many sides as the test has."""
        return tuple(self.rule.sides * normal_cdf(-bound) for bound in self.rule.bounds)

    def ends(self, *, effect: bool) -> tuple[float, ...]:
        """Return the probability of ending at each analysis: what no look stops ends at the last.

        Args:
            effect: whether there is the effect that is planned for, or none.
        """
        *looks, _ = self.rule.crossings(self.drift if effect else 0.0)
        return (*looks, max(0.0, 1 - sum(looks)))

    def expected(self, *, effect: bool) -> float:
        """Return the mean information at the end, as a multiple of the fixed test's."""
        ends = zip(self.ends(effect=effect), self.rule.shares, strict=True)
        return self.inflation * sum(chance * share for chance, share in ends)


@lru_cache(maxsize=64)
def stopping_rule(
    family: LooksFamily, shares: Shares, alpha: float, sides: int = 2, gamma: float | None = None
) -> StoppingRule:
    """Return the rule of a family, exact to about 1e-8 in z.

    Args:
        family: how the level is shared out.
        shares: of the information at each analysis, rising, the last of them 1.
        alpha: the level in all, `LEAST_ALPHA` to `MOST_ALPHA`; of both sides where there are two.
        sides: 1 or 2.
        gamma: what spends the level in families that have it; None for the usual one.

    Raises:
        ValueError: shares or a level for which there is none.
    """
    rises = [later - one for one, later in zip((0.0, *shares), shares, strict=False)]
    if not (shares and shares[-1] == 1 and min(rises) > 0):
        raise ValueError(f"the shares are {shares}; give shares that rise to 1")
    if not LEAST_ALPHA <= alpha <= MOST_ALPHA:
        raise ValueError(f"alpha is {alpha}; give {LEAST_ALPHA} to {MOST_ALPHA}")
    row = FAMILIES[family]
    parameter = row.usual_gamma if gamma is None else gamma
    return StoppingRule(shares, row.bounds(shares, alpha, sides, parameter or 0.0), sides)


@lru_cache(maxsize=64)
def sequential_test(rule: StoppingRule, alpha: float, power: float) -> SequentialTest:
    """Return a rule's test at the effect where it has that power, beside the fixed test.

    ``alpha`` is the level of the rule, ``power`` above it and at most `MOST_POWER`.

    Raises:
        ValueError: no effect has that power.
    """
    if not alpha < power <= MOST_POWER:
        raise ValueError(f"the power is {power}; give one above alpha, at most {MOST_POWER}")
    drift, fixed = rule.drift_for(power), fixed_drift(alpha, power, rule.sides)
    return SequentialTest(rule, drift, (drift / fixed) ** 2)


def fixed_drift(alpha: float, power: float, sides: int = 2) -> float:
    """Return the mean of the z of a test without looks that has that level and power."""
    return StoppingRule((1.0,), (_critical(alpha, sides),), sides).drift_for(power)


def evenly(looks: int) -> Sequence[float]:
    """Return the shares of so many evenly spaced interim looks."""
    return [place / (looks + 1) for place in range(1, looks + 1)]
