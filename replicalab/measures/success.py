"""What counts as replicated, and how probable that is before the replication's data.

All of it is in units of the original's standard error: its estimate is z, the relative size c is
its variance over the replication's, and the replication's estimate has a variance of x = 1 / c.
Given the original, every criterion is an interval of that estimate; several at once are the part
that their intervals share.

Sources: Held (2020), JRSS A 183, 431-448 (sceptical p-value); Held, Micheloud & Pawel (2022),
Annals of Applied Statistics 16, 706-720 (golden level); Micheloud & Held (2022), Statistical
Science 37, 369-379 (power, and the size for it); Pawel & Held (2020), PLOS ONE 15, e0231416 (the
priors, and heterogeneity); Pawel, Consonni & Held (2023), Psychological Methods (probability of
success); Open Science Collaboration (2015), Science 349, aac4716, and Patil, Peng & Leek (2016),
Perspectives on Psychological Science 11, 539-544 (intervals); Simonsohn (2015), Psychological
Science 26, 559-569.
"""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, partial
from typing import Final, NamedTuple

from replicalab.measures.distributions import normal_cdf, z_critical

_ROOT_OF_GOLDEN: Final = math.sqrt((1 + math.sqrt(5)) / 2)
_SLACK: Final = 1e-12  # As much as a value may miss its bound by, in `Scale.reaches`
_SAME: Final = 1e-13  # Chances closer than this are one
_ROUNDING: Final = 1e-15  # Chances this close may differ by rounding alone
_STEP: Final = 1e-6  # Relative sizes are first looked at so far apart, in their logarithm
_FAR: Final = math.log(1e12)
_NOTHING: Final = 1e-9  # Of a study as good as nothing
_LEAST: Final = 1e-5  # Peaks are looked for from this part of what bends the chance
_APART: Final = 0.04  # in logarithms of sizes so far apart
# So many bounds are looked at; then the peaks decide, which a grid has found.
_MOST_CELLS: Final = 4000


class Prior(StrEnum):
    """What is assumed of the effect."""

    CONDITIONAL = "conditional"
    PREDICTIVE = "predictive"
    EMPIRICAL_BAYES = "empirical_bayes"


class Criterion(StrEnum):
    """What may count as replicated."""

    SIGNIFICANT = "significant"
    INTERVAL = "interval"
    PREDICTION = "prediction"
    EQUIVALENCE = "equivalence"
    SCEPTICAL = "sceptical"
    SCEPTICAL_NOMINAL = "sceptical_nominal"
    SMALL_TELESCOPES = "small_telescopes"


class Basis(NamedTuple):
    """What the criteria and the priors are worked out from; lengths in standard errors.

    Attributes:
        z: the original's estimate, 0 or more: the direction that it has counts as positive.
        alpha: the level, in (0, 1).
        sides: of a test of significance, and of the sceptical p-value, 1 or 2.
        h: the relative heterogeneity, the variance between studies over the original's.
        margin: the half-width of the range of equivalence about no effect.
        telescope: the effect at which the original had a power of one third.
    """

    z: float
    alpha: float = 0.05
    sides: int = 2
    h: float = 0.0
    margin: float = 0.0
    telescope: float = 0.0

    @property
    def one_sided(self) -> float:
        """The critical value of a test in the original's direction."""
        return z_critical(2 * self.alpha / self.sides) if self.alpha < self.sides / 2 else 0.0

    @property
    def two_sided(self) -> float:
        """The critical value of an interval of level 1 - alpha."""
        return z_critical(self.alpha)


# --- priors -----------------------------------------------------------------------------------


class Belief(NamedTuple):
    """A normal distribution of the effect that the replication estimates."""

    mean: float
    variance: float


def _conditional(of: Basis) -> Belief:
    return Belief(of.z, of.h)


def _predictive(of: Basis) -> Belief:
    # Between studies the original varies about the mean effect, and the replication does again.
    return Belief(of.z, 1 + 2 * of.h)


def _empirical_bayes(of: Basis) -> Belief:
    square, noise = of.z * of.z, 1 + of.h
    kept = 1 - noise / square if square > noise else 0.0
    return Belief(kept * of.z, kept * (1 + of.h) + of.h)


class PriorRow(NamedTuple):
    """A prior: its name for people, what it assumes, in a sentence, and how it is worked out."""

    label: str
    meaning: str
    belief: Callable[[Basis], Belief]


PRIORS: Final = {
    Prior.CONDITIONAL: PriorRow(
        "Conditional", "The effect is exactly what the original found.", _conditional
    ),
    Prior.PREDICTIVE: PriorRow(
        "Predictive",
        "The effect is what the original found, as uncertain as its standard error says.",
        _predictive,
    ),
    Prior.EMPIRICAL_BAYES: PriorRow(
        "Empirical Bayes",
        "The effect is what the original found times 1 − 1/z², or with heterogeneity less, and "
        "uncertain.",
        _empirical_bayes,
    ),
}
"""The row of each prior."""
PRIORS_SOURCE: Final = "Pawel & Held (2020)"
"""The paper of the priors, and of the heterogeneity."""


# --- criteria ---------------------------------------------------------------------------------


class End(NamedTuple):
    """An end of an interval of the replication's estimate: at + by · √(x + more), x its variance.

    Every criterion has ends of this form; so each stands, in standard deviations of what is
    expected, at one turning point over x at most.
    """

    at: float
    by: float = 0.0
    more: float = 0.0

    def place(self, x: float) -> float:
        """Return where the end is."""
        return self.at + self.by * math.sqrt(x + self.more)

    def standard(self, x: float, belief: Belief) -> float:
        """Return where it is, in standard deviations from the mean."""
        # The means first: an interval about a far estimate would be lost in its digits.
        away = self.at - belief.mean + self.by * math.sqrt(x + self.more)
        return away / math.sqrt(belief.variance + x)

    def turn(self, belief: Belief) -> float | None:
        """Return the x at which `standard` turns; None where it never does."""
        away = self.at - belief.mean
        root = self.by * (belief.variance - self.more) / away if away else -1.0
        x = root * root - self.more if root > 0 and root < math.inf else 0.0
        return x if 0 < x < math.inf else None


class Range(NamedTuple):
    """The interval of the estimate that meets a criterion; an end that is None has no bound."""

    low: End | None = None
    high: End | None = None


NEVER: Final = Range(End(math.inf), End(-math.inf))
"""No estimate meets the criterion."""


def _interval(of: Basis) -> Range:
    return Range(End(of.z, -of.two_sided), End(of.z, of.two_sided))


def _prediction(of: Basis) -> Range:
    return Range(End(of.z, -of.two_sided, 1), End(of.z, of.two_sided, 1))


def _equivalence(of: Basis) -> Range:
    critical = z_critical(2 * of.alpha) if of.alpha < 0.5 else 0.0
    return Range(End(-of.margin, critical), End(of.margin, -critical))


def _sceptical(of: Basis, root: float = 1.0) -> Range:
    level = of.one_sided / root
    if of.z <= level:
        return NEVER
    return Range(End(0, level, 1 / ((of.z / level) ** 2 - 1) if level else 0.0))


def _small_telescopes(of: Basis) -> Range:
    critical = z_critical(2 * of.alpha) if of.alpha < 0.5 else 0.0
    return Range(End(of.telescope, -critical))


class CriterionRow(NamedTuple):
    """A criterion.

    Attributes:
        label: its name for people.
        meaning: when it is met, in a sentence.
        source: its paper.
        range: the interval of estimates that meets it.
        beyond: what the original's z has to exceed, or no estimate meets it.
        contradicted: what shows that it is not so, rather than too little, in a sentence.
        has_sides: whether it is one-sided or two-sided as that is chosen; the others are as their
            papers have them.
        decides: whether each estimate either meets it or contradicts it.
    """

    label: str
    meaning: str
    source: str
    range: Callable[[Basis], Range]
    contradicted: str
    beyond: Callable[[Basis], float] = lambda _: -math.inf
    has_sides: bool = False
    decides: bool = False


_OPPOSITE: Final = "The replication's estimate lies in the direction opposite to the original's."
_SCEPTICAL_MEANING: Final = (
    "A sceptic who doubts the original enough to find it no longer convincing is contradicted by "
    "the replication: the {} sceptical p-value is at most the level."
)
CRITERIA: Final = {
    Criterion.SIGNIFICANT: CriterionRow(
        "Significant",
        "The replication is significant, in the original's direction.",
        "Open Science Collaboration (2015)",
        lambda of: Range(End(0, of.one_sided)),
        "The replication is significant, in the direction opposite to the original's.",
        has_sides=True,
    ),
    Criterion.INTERVAL: CriterionRow(
        "Original in the interval",
        "The original's estimate lies in the replication's confidence interval.",
        "Open Science Collaboration (2015)",
        _interval,
        "The original's estimate lies outside the replication's confidence interval.",
        decides=True,
    ),
    Criterion.PREDICTION: CriterionRow(
        "In the prediction interval",
        "The replication's estimate lies in the original's prediction interval.",
        "Patil, Peng & Leek (2016)",
        _prediction,
        "The replication's estimate lies outside the original's prediction interval.",
        decides=True,
    ),
    Criterion.EQUIVALENCE: CriterionRow(
        "Equivalence",
        "The replication's interval of level 1 − 2 alpha lies within the margin about no effect.",
        "Schuirmann (1987)",
        _equivalence,
        "The replication's interval of level 1 − 2 alpha lies outside the margin about no effect.",
    ),
    Criterion.SCEPTICAL: CriterionRow(
        "Golden sceptical p",
        _SCEPTICAL_MEANING.format("golden"),
        "Held, Micheloud & Pawel (2022)",
        lambda of: _sceptical(of, _ROOT_OF_GOLDEN),
        _OPPOSITE,
        lambda of: of.one_sided / _ROOT_OF_GOLDEN,
        has_sides=True,
    ),
    Criterion.SCEPTICAL_NOMINAL: CriterionRow(
        "Nominal sceptical p",
        _SCEPTICAL_MEANING.format("nominal"),
        "Held (2020)",
        _sceptical,
        _OPPOSITE,
        lambda of: of.one_sided,
        has_sides=True,
    ),
    Criterion.SMALL_TELESCOPES: CriterionRow(
        "Small telescopes",
        "The replication is not significantly smaller than the effect for which the original had "
        "a power of one third.",
        "Simonsohn (2015)",
        _small_telescopes,
        "The replication is significantly smaller than the effect for which the original had a "
        "power of one third.",
        decides=True,
    ),
}
"""The row of each criterion."""


def sceptical_p(z_o: float, z_r: float, c: float, *, golden: bool = False) -> float:
    """Return the one-sided sceptical p-value of an original and a replication in one direction.

    Args:
        z_o: the estimate of the original over its standard error, above 0.
        z_r: that of the replication, above 0.
        c: the relative size, above 0.
        golden: whether it is recalibrated, so that it is held against the level itself.
    """
    # (z_o²/y - 1) (z_r²/y - 1) = c, solved for the smaller root y without a difference of two
    # close numbers, so that c = 1 is no case of its own.
    one, other = z_o * z_o, z_r * z_r
    both = (one + other) / 2
    y = one * other / (both + math.sqrt(both * both + (c - 1) * one * other))
    return normal_cdf(-math.sqrt(y) * (_ROOT_OF_GOLDEN if golden else 1))


# --- the chance -------------------------------------------------------------------------------

Sized = Callable[[int], float]
"""The relative size, above 0, of a number of samples; it never falls when that grows."""


class Peak(NamedTuple):
    """A relative size from which the probability falls, and the probability there."""

    c: float
    chance: float


@dataclass(frozen=True)
class Success:
    """The probability that a replication meets some criteria, all of them at once.

    It may fall when the replication grows: a larger one tells more exactly how far the original
    was off. So the searches bound the chance of many sizes at once, and leave out, or halve, what
    they bound; none takes for granted that it grows.

    Attributes:
        basis: what is known of the original.
        prior: what is assumed of the effect.
        criteria: at least one.
    """

    basis: Basis
    prior: Prior
    criteria: tuple[Criterion, ...]

    @cached_property
    def belief(self) -> Belief:
        """The effect that the replication estimates."""
        return PRIORS[self.prior].belief(self.basis)

    @cached_property
    def _ranges(self) -> list[Range]:
        return [CRITERIA[name].range(self.basis) for name in self.criteria]

    @cached_property
    def _lows(self) -> list[tuple[End, float | None]]:
        ends = [each.low for each in self._ranges if each.low]
        return [(end, end.turn(self.belief)) for end in ends]

    @cached_property
    def _highs(self) -> list[tuple[End, float | None]]:
        ends = [each.high for each in self._ranges if each.high]
        return [(end, end.turn(self.belief)) for end in ends]

    @property
    def is_possible(self) -> bool:
        """Whether any estimate meets each criterion."""
        return NEVER not in self._ranges

    @property
    def beyond(self) -> dict[Criterion, float]:
        """The criteria that no estimate meets, and what the original's z would have to exceed."""
        needed = {name: CRITERIA[name].beyond(self.basis) for name in self.criteria}
        return {name: z for name, z in needed.items() if self.basis.z <= z}

    def chance(self, c: float) -> float:
        """Return the probability of success at a relative size of 0 or more, exact."""
        return self._most(c, c)

    @cached_property
    def limit(self) -> float:
        """What the probability comes to when the replication grows without end."""
        if not self.is_possible:
            return 0.0
        mean, variance = self.belief
        low = max((end.place(0) for end, _ in self._lows), default=-math.inf)
        high = min((end.place(0) for end, _ in self._highs), default=math.inf)
        if variance:
            sd = math.sqrt(variance)
            return _between((low - mean) / sd, (high - mean) / sd)
        # Without any uncertainty left: far within, or on an end, as intervals about it are.
        return self.chance(1e30)

    def up_to(self, c: float, least: float) -> float:
        """Return the largest probability of relative sizes from ``least`` up to ``c``.

        It never falls when that grows; below the least it is at most that of the least.
        """
        if not c > 0:
            return 0.0
        if c < least:
            # The less there is, the likelier an interval so wide holds anything.
            smaller = [peak.chance for peak in self.peaks if peak.c <= c]
            start = self.chance(c * _NOTHING)
            return min(self.chance(least), max([self.chance(c), start, *smaller]))
        between = (peak.chance for peak in self.peaks if least <= peak.c <= c)
        return max([self.chance(c), self.chance(least), *between])

    def ceiling(self, least: float) -> float:
        """Return what the probability of no relative size from ``least`` on exceeds."""
        beyond = (peak.chance for peak in self.peaks if peak.c >= least)
        return max([self.limit, self.chance(least), *beyond])

    @cached_property
    def peaks(self) -> tuple["Peak", ...]:
        """The sizes from which the probability falls, and towards which it rises."""
        # All that bends it does so where the variance of the estimate is that of the prior, or near
        # a square of these lengths; in between it changes over a good part of a size's logarithm.
        lengths = (self.basis.z, self.basis.margin, self.basis.telescope, 1.0)
        scale = sum(each * each for each in lengths) + self.belief.variance
        low, high = math.log(_LEAST / scale), math.log(scale / _LEAST)
        turns = [turn for _, turn in (*self._lows, *self._highs) if turn]
        steps = int((high - low) / _APART) + 1
        grid = sorted(
            {low + step * _APART for step in range(steps)} | {-math.log(turn) for turn in turns}
        )
        chances = [self.chance(math.exp(at)) for at in grid]
        found = list[Peak]()
        for i in range(1, len(grid) - 1):
            here = chances[i]
            if here >= chances[i - 1] and here > chances[i + 1] + _ROUNDING:
                found.append(self._summit(grid[i - 1], grid[i + 1]))
        return tuple(found)

    def _summit(self, low: float, high: float) -> "Peak":
        """Return the peak between two logarithms of a size, by thirds."""
        while high - low > _SAME * max(1.0, abs(low)):
            one, other = low + (high - low) / 3, high - (high - low) / 3
            if self.chance(math.exp(one)) < self.chance(math.exp(other)):
                low = one
            else:
                high = other
        c = math.exp((low + high) / 2)
        return Peak(c, self.chance(c))

    def best(self, sized: Sized, low: int, high: int) -> float:
        """Return the largest probability of ``low`` to ``high`` samples."""
        near = self._about_peaks(sized, low, high)
        best = max(self.chance(sized(n)) for n in (low, *near, high))
        cells, left = [(low, high)], _MOST_CELLS
        while cells and (left := left - 1):
            low, high = cells.pop()
            if self._most(sized(low), sized(high)) <= best + _SAME or high - low < 2:
                continue
            middle = (low + high) // 2
            best = max(best, self.chance(sized(middle)))
            cells += [(low, middle), (middle, high)]
        return best

    def fewest(self, wanted: float, sized: Sized, low: int, high: int) -> int | None:
        """Return the fewest of ``low`` to ``high`` samples with a wanted probability, or None."""
        wanted -= _SLACK
        cells, left = [(low, high)], _MOST_CELLS
        while cells and (left := left - 1):
            few, many = cells.pop()
            if self._most(sized(few), sized(many)) < wanted:
                continue
            if few == many:
                return few
            middle = (few + many) // 2
            cells += [(middle + 1, many), (few, middle)]
        return None if left else self._fewest_by_peaks(wanted, sized, low, high)

    def _fewest_by_peaks(self, wanted: float, sized: Sized, low: int, high: int) -> int | None:
        # Between two peaks the chance falls, then rises: once it was too small at the first, the
        # sizes up to the second that have enough follow on all that have not.
        before = low - 1
        for n in (low, *self._about_peaks(sized, low, high), high):
            if self.chance(sized(n)) >= wanted:
                between = range(before + 1, n + 1)
                is_enough = partial(self._has, wanted, sized)
                return before + 1 + bisect_left(between, True, key=is_enough)
            before = n
        return None

    def _has(self, wanted: float, sized: Sized, n: int) -> bool:
        return self.chance(sized(n)) >= wanted

    def _about_peaks(self, sized: Sized, low: int, high: int) -> list[int]:
        """Return the sizes of ``low`` to ``high`` samples next to each peak, in their order."""
        sizes = range(low, high + 1)
        beyond = (low + bisect_left(sizes, peak.c, key=sized) for peak in self.peaks)
        return sorted({n for at in beyond for n in (at - 1, at) if low <= n <= high})

    def relative_size(self, wanted: float) -> float | None:
        """Return the smallest relative size with a wanted probability, None where none has it."""

        def sized(step: int) -> float:
            return math.exp(step * _STEP - _FAR)

        found = self.fewest(wanted, sized, 0, int(2 * _FAR / _STEP))
        if found is None:
            return None
        low, high = sized(found - 1), sized(found)
        while low < (middle := (low + high) / 2) < high:
            low, high = (low, middle) if self.chance(middle) >= wanted else (middle, high)
        return high

    def _most(self, few: float, many: float) -> float:
        """Return a bound that no size from ``few`` to ``many`` exceeds; of one size, its chance."""
        if not self.is_possible or not many > 0:
            return 0.0
        if not few > 0:
            return 1.0
        xs = (1 / many, 1 / few)
        low = max((self._extreme(min, *each, xs) for each in self._lows), default=-math.inf)
        high = min((self._extreme(max, *each, xs) for each in self._highs), default=math.inf)
        return _between(low, high)

    def _extreme(
        self,
        chosen: Callable[[Sequence[float]], float],
        end: End,
        turn: float | None,
        xs: tuple[float, float],
    ) -> float:
        at = [xs[0]] if xs[0] == xs[1] else [*xs]
        if turn is not None and xs[0] < turn < xs[1]:
            at.append(turn)
        return chosen([end.standard(x, self.belief) for x in at])


def _between(low: float, high: float) -> float:
    """Return the standard normal probability between two numbers, accurate in both tails."""
    if not low < high:
        return 0.0
    if low > 0:
        low, high = -high, -low
    return max(0.0, normal_cdf(high) - normal_cdf(low))
