"""The row of a design kind: its scales, effect, formula, words and sketch.

Evidence depends on an effect's *size* only, its distance from no effect in either direction.
Sources: Cohen, Statistical Power Analysis for the Behavioral Sciences (1988), chapters 2 and 6 (d,
h); Fisher (1921), Metron 1, 3-32 (atanh r); Schoenfeld (1981), Biometrika 68, 316-319 (the log
hazard ratio).
"""

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final, NamedTuple

from replicalab.designs.distributions import least_reaching
from replicalab.designs.parameters import GROUPINGS, PARAMETERS, DesignParameters, _Design
from replicalab.designs.reported import EffectSource
from replicalab.errors import Refusal
from replicalab.lexicon import EXACT_DIGITS, distinct_text, percent_text

_EFFECTS: Final = {
    "effect_published": "the published effect",
    "effect_planning": "the effect",
    "sesoi": "the smallest effect of interest",
}
_SLACK: Final = 1e-12  # of a computed value that equals its bound, such as 1.0 × n / n


class EvidenceTier(StrEnum):
    """Evidence relative to the study's target and floor, best first."""

    MEETS_TARGET = "meets target"
    ABOVE_FLOOR = "above floor"
    BELOW_FLOOR = "below floor"


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How the values of a measure are written and compared."""

    write: Callable[[float, int], str]  # a value with a number of decimals
    decimals: int  # if no bound is near
    factor: int
    ticks: str
    by_hand: Callable[[float], str] = "{:z.2f}".format  # with the precision of an author
    lower_is_better: bool = False
    worse: str = "below"  # for a value that misses a bound
    within: str = "above"  # for a value that keeps it

    @property
    def worst(self) -> float:
        """The evidence without samples."""
        return math.inf if self.lower_is_better else 0.0

    def reaches(self, value: float, bound: float) -> bool:
        """Return whether a value is as good as a bound, apart from rounding."""
        return value <= bound + _SLACK if self.lower_is_better else value >= bound - _SLACK

    def attained(self, value: float, target: float) -> float:
        """Return the share of a target that a value reaches, at most 1."""
        if not value:
            return 0.0
        return min(1.0, target / value if self.lower_is_better else value / target)

    def format(self, value: float, bounds: Sequence[float]) -> str:
        """Return a value as text, with the digits that distinguish it from the bounds."""
        # At a bound it has every decimal that the bound's author gave: else 0.978 would meet "the
        # target of 0.98" if that is 0.975.
        for bound in bounds:
            if abs(value - bound) <= _SLACK:
                written, decimals = bound * self.factor, self.decimals
                while decimals < EXACT_DIGITS and (
                    abs(round(written, decimals) - written) > 10**-EXACT_DIGITS
                ):
                    decimals += 1
                return self.write(bound, decimals)
        return distinct_text(value, bounds, self.decimals, self.write)


def _half_width(value: float, decimals: int = 2) -> str:
    return f"±{value * 100:z.{decimals}f} %" if math.isfinite(value) else "unbounded"


SHARE: Final = Scale(
    write=lambda value, decimals: f"{value:z.{decimals}f}", decimals=2, factor=1, ticks=".1f"
)

PERCENT: Final = Scale(
    write=lambda value, decimals: f"{value * 100:z.{decimals}f}".rstrip("0").rstrip(".") + " %",
    decimals=1,
    factor=100,
    ticks=".0%",
)

HALF_WIDTH: Final = Scale(
    write=_half_width,
    decimals=2,
    factor=100,
    ticks=".1%",
    by_hand=_half_width,
    lower_is_better=True,
    worse="wider than",
    within="within",
)


Sizes = tuple[float, ...]
"""The samples of each group, or the events of a hazard ratio."""


def _ratio(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


@dataclass(frozen=True, kw_only=True)
class NormalScale:
    """A scale on which estimates are nearly normal.

    A standard error is that of an effect near 0, so an estimate over it is the t of the study.
    """

    name: str
    value: Callable[[float], float] = float  # 0 for no effect
    effect: Callable[[float], float] = float  # its inverse
    # The standard error by the sizes
    spread: Callable[[Sequence[float]], float] = lambda sizes: math.sqrt(sum(1 / n for n in sizes))
    groups: int = 1
    lost: int | None = None  # samples minus degrees of freedom; None for a normal statistic
    least: int = 2  # the fewest samples, or events, that have a standard error and a test
    in_events: bool = False

    def sizes(self, n: int, event_share: float = 1.0) -> Sizes:
        """Return the sizes of ``n`` samples: groups that differ by at most one, or events."""
        if self.in_events:
            return (n * event_share,)
        return (n // 2, n - n // 2) if self.groups == 2 else (n,)

    def se(self, sizes: Sequence[float]) -> float:
        """Return the standard error of an estimate; inf for too few samples."""
        return self.spread(sizes) if self.can_test(sizes) else math.inf

    def df(self, sizes: Sequence[float]) -> int | None:
        """Return the degrees of freedom of the t-test; None for a normal statistic."""
        return None if self.lost is None else int(sum(sizes)) - self.lost

    def can_test(self, sizes: Sequence[float]) -> bool:
        """Return whether the sizes are large enough for a standard error and a test."""
        return len(sizes) > 0 and min(sizes) > 0 and sum(sizes) >= self.least


TWO_MEANS: Final = NormalScale(name="d", groups=2, lost=2, least=3)
ONE_MEAN: Final = NormalScale(name="d", lost=1)
FISHER_Z: Final = NormalScale(
    name="Fisher’s z",
    value=math.atanh,
    effect=math.tanh,
    spread=lambda sizes: 1 / math.sqrt(sizes[0] - 3),
    least=4,
)
COHEN_H: Final = NormalScale(name="h", groups=2)
LOG_HAZARD_RATIO: Final = NormalScale(
    name="log hazard ratio",
    value=math.log,
    effect=_ratio,
    spread=lambda sizes: 2 / math.sqrt(sizes[0]),
    groups=2,
    least=1,
    in_events=True,
)


AS_PUBLISHED: Final = "as published"
HALVED: Final = "halved"
SMALLEST: Final = "smallest of interest"

LARGEST: Final = 1e15  # of effects in a search
HIGHEST_ALPHA: Final = 0.5


@dataclass(frozen=True, kw_only=True)
class Effect:
    """An effect that is 0 without a difference, such as a difference or a correlation."""

    name: str
    below: float = math.inf
    signed: bool = True
    within_margin: bool = False  # tested to lie within a margin; the planned effect may be 0
    offered: tuple[str, ...] = (AS_PUBLISHED, HALVED, SMALLEST)  # the other effects to plan at
    seen: Callable[[float, float], float] = operator.mul  # after substitutions of a factor
    seen_text: str = "planning effect × {factor:g}"

    @property
    def largest_size(self) -> float:
        return min(math.nextafter(self.below, 0), LARGEST)

    def offers(self, name: str) -> bool:
        row = (AS_PUBLISHED, HALVED, SMALLEST)
        return (name if name in row else HALVED) in self.offered

    def size(self, effect: float) -> float:
        """Return the distance of an effect from no effect."""
        return abs(effect)

    def of_size(self, size: float, like: float) -> float:
        """Return the effect of a size; a ratio is on the same side of 1 as ``like``."""
        return size

    def fault(self, effect: float) -> str | None:
        """Return the rule of the formula that an effect breaks, if any."""
        if self.signed and effect <= -self.below:
            return f"more than {-self.below:g}"
        if abs(effect) >= self.below:
            return f"less than {self.below:g}"
        return None if self.signed or effect >= 0 else "0 or more"

    def fault_in_file(self, effect: float) -> str | None:
        if self.below < math.inf and not (self.size(effect) and self.fault(effect) is None):
            return f"between 0 and {self.below:g}"
        return self.fault(effect)

    def fault_in_plan(self, effect: float | None) -> str | None:
        if effect is None or effect < 0 or not (effect or self.within_margin):
            return "of 0 or more" if self.within_margin else "above 0"
        return None


class Ratio(Effect):
    """An effect that is 1 without a difference; its size is that of its logarithm."""

    @property
    def largest_size(self) -> float:
        return math.log(LARGEST)

    def size(self, effect: float) -> float:
        return abs(math.log(effect))

    def of_size(self, size: float, like: float) -> float:
        return math.exp(math.copysign(size, math.log(like)))

    def fault(self, effect: float) -> str | None:
        return None if effect > 0 else "above 0"

    def fault_in_plan(self, effect: float | None) -> str | None:
        return "above 0, but not 1" if effect is None or effect <= 0 or effect == 1 else None


Formula = Callable[[int, float, DesignParameters], float]
"""The evidence of n samples, 1 or more, at an effect of that size; it never falls with n."""

Information = Callable[[int, DesignParameters], float]
"""One over the variance of the estimate of n samples on the normal scale; 0 for too few."""


class Shape(NamedTuple):
    """A dot, or a box if it has a width; all in percent of the sketch, from its lower left.

    The colours ``one``, ``two`` and ``three`` are groups, ``quiet`` is the background.
    """

    x: float
    y: float
    colour: str = "one"
    w: float = 0.0
    h: float = 0.0


class Given(NamedTuple):
    """The words that change if an optional number of a design changes the evidence."""

    method: str
    setting: str
    source: str
    counts: Callable[[Any], bool] = lambda _: True


@lru_cache(maxsize=16384)
def _value(formula: Formula, n: int, size: float, design: DesignParameters) -> float:
    return formula(n, size, design)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of design."""

    kind: str
    title: str
    asks: str
    sketch: tuple[Shape, ...]
    usual: Mapping[str, float]  # the first numbers of a new study, except alpha
    formula: Formula
    method: str  # how the evidence is computed; {level} is one- or two-sided
    source: str
    effect: Effect | None
    needs: tuple[str, ...] = ("alpha",)  # the numbers and `GROUPINGS` that a design must have
    optional: tuple[str, ...] = ()  # those that it may have
    given: Mapping[str, Given] = field(default_factory=dict)
    groups: int = 1
    is_interval: bool = False
    setting: str = ""  # other assumptions, as they follow the effect in a sentence
    measure: str = "power"
    meaning: str = "the chance of p < alpha if the assumed effect is true"
    axis: str = ""
    scale: Scale = SHARE
    level: str = "two-sided"
    sought: str | None = "smallest detectable effect"  # None without a test
    sources: tuple[EffectSource, ...] = ()
    normal: NormalScale | None = None
    # Why the planning effect does not fit the other numbers, with the remedy, or empty
    misfit: Callable[[float, DesignParameters], Refusal | None] | None = None
    # A shortcut to the least size shown: by n, power, baseline, alpha and sides
    least_size: Callable[[int, float, float, float, int], float | None] | None = None
    information: Information | None = None

    @property
    def named(self) -> str:
        """The kind with its article: ``an audit``."""
        return f"{'an' if self.kind[0] in 'aeiu' else 'a'} {self.kind.replace('_', '-')}"

    @property
    def numbers(self) -> list[str]:
        """The numbers of a design that count for this kind, except its effects and bounds."""
        # The population limits the samples of every kind.
        return [name for name in PARAMETERS if self.uses(name) or name == "population_max"]

    @property
    def extras(self) -> list[str]:
        return [name for name in PARAMETERS if name in self.optional]

    def groups_of(self, design: _Design) -> int:
        return design.groups or self.groups

    def method_of(self, design: _Design) -> str:
        """Return how the evidence of a design is computed, with the confidence of an interval."""
        method = self.words_of(design).method.format(level=self.level_of(design.sides))
        if not self.is_interval or design.alpha is None:
            return method
        return f"{method}, at {percent_text(1 - design.alpha)} confidence"

    def words_of(self, design: _Design) -> Given:
        """Return the words of the first optional number of a design, or those without any."""
        options = ((getattr(design, name), words) for name, words in self.given.items())
        usual = Given(self.method, self.setting, self.source)
        return next((words for x, words in options if x is not None and words.counts(x)), usual)

    def uses(self, number: str) -> bool:
        return number in self.needs or number in self.optional

    def level_of(self, sides: object) -> str:
        """Return what alpha is the level of: ``one-sided``, ``of the F-test``."""
        return "one-sided" if sides == 1 and self.uses("sides") else self.level

    def label(self, number: str, sides: object = 2) -> str:
        """Return the label of a number of a design."""
        parameter = PARAMETERS[number]
        label = parameter.label.format(level=self.level_of(sides))
        return f"{label}, in {parameter.unit}" if parameter.unit else label

    def setting_text(self, design: DesignParameters) -> str:
        """Return the other assumptions, as they follow the effect in a sentence."""
        text = self.setting
        for name, words in self.given.items():
            text += words.setting if getattr(design, name, None) is not None else ""
        return text.format(**design._asdict())

    def value(self, n: int, effect: float | None, design: DesignParameters) -> float:
        """Return the evidence of ``n`` samples; ValueError if the effect is impossible."""
        if n < 1:
            return self.scale.worst
        if self.effect is None:
            return _value(self.formula, n, 0.0, design)
        if effect is None or not math.isfinite(effect):
            raise ValueError(f"the effect is {effect}; give a finite number")
        if fault := self.effect.fault(effect):
            raise ValueError(f"the effect is {effect}; {self.named} effect is {fault}")
        return _value(self.formula, n, self.effect.size(effect), design)

    def least_sought(
        self, design: _Design, n: int, factor: float, planned: int | None = None
    ) -> float | None:
        """Return the smallest effect or margin that ``n`` samples show with the target power.

        It is that of the study's own items if substitutions leave a ``factor`` of every effect, and
        as exact as `least_reaching`. 0 if the target is no higher than alpha. None without a test,
        if ``n`` is too small for one, and if only an effect beyond 1e15 would do.
        """
        effect, usual = self.effect, design.effect_planning
        if self.sought is None or effect is None or usual is None or n < 1:
            return None
        parameters = DesignParameters.by(design, factor, planned)
        assumed = effect.size(usual) * factor

        def power(size: float) -> float:
            seen = size * factor
            if effect.within_margin:
                return _value(self.formula, n, assumed, parameters._replace(margin=seen))
            return _value(self.formula, n, seen, parameters)

        top = LARGEST if effect.within_margin else effect.largest_size
        baseline, alpha = parameters.baseline, parameters.alpha
        if self.least_size and baseline is not None and design.target > alpha:
            seen = self.least_size(n, design.target, baseline, alpha, parameters.sides)
            minimum = seen and seen / factor
        else:
            minimum = least_reaching(power, design.target, top)
        return None if minimum is None else effect.of_size(minimum, usual)

    def level_fault(self, alpha: float, target: float) -> Refusal | None:
        """Return the fault of an alpha and a target; None if they fit."""
        if alpha > HIGHEST_ALPHA:
            problem = f"alpha is {alpha:g}, an error more likely than not"
            return Refusal(problem, f"give a small share, such as {1 - alpha:.3g}", "alpha")
        if self.sought and target <= alpha:
            problem = f"a target of {target:g} is reached without any effect: alpha is {alpha:g}"
            return Refusal(problem, "aim at more than alpha", "target")
        return None

    def faults(self, design: _Design) -> Iterator[Refusal]:
        yield from self._of_effects(design)
        if design.alpha is not None:
            yield from filter(None, [self.level_fault(design.alpha, design.target)])
        for name, parameter in PARAMETERS.items():
            value = getattr(design, name)
            if name in self.needs and value is None:
                yield Refusal(f"{self.named} design has no {name}", parameter.remedy, name)
            elif not (self.uses(name) or value == parameter.usual or parameter.always_allowed):
                problem = f"{name} is {value}, but {self.named} design has {parameter.lack}"
                yield Refusal(problem, parameter.omit, name)
        for name, called in GROUPINGS.items():
            if getattr(design, name) is not None and name not in self.optional:
                problem = f"{name} are given, but {self.named} design has no {called}"
                yield Refusal(problem, "leave them out", name)

    def _of_effects(self, design: _Design) -> Iterator[Refusal]:
        planned, margin = design.effect_planning, design.margin
        effects = {n: effect for n in _EFFECTS if (effect := getattr(design, n)) is not None}
        if self.effect is None:
            for name in effects:
                yield Refusal(f"{self.kind} has no effect", "write null", name)
        else:
            if fault := self.effect.fault_in_plan(planned):
                remedy = f"{self.named} design needs one {fault}"
                yield Refusal(f"the effect is {planned}", remedy, "effect_planning")
            elif self.effect.within_margin and margin is not None and (planned or 0) >= margin:
                problem = f"the effect is {planned}, and the margin {margin}"
                remedy = "assume less than the margin, or widen it"
                yield Refusal(problem, remedy, "effect_planning")
            for name, effect in effects.items():
                if fault := self.effect.fault_in_file(effect):
                    remedy = f"{self.named} effect is {fault}"
                    yield Refusal(f"{_EFFECTS[name]} is {effect}", remedy, name)
        if self.misfit and planned is not None:
            yield from filter(None, [self.misfit(planned, DesignParameters.by(design))])
