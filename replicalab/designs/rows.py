"""What a row of the table of kinds holds: its effect, its numbers, its formula and its words.

Evidence depends on an effect's *size* only: how far it is from no effect, in either direction.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple

from replicalab.designs.distributions import least_reaching
from replicalab.designs.parameters import GROUPINGS, PARAMETERS, DesignParameters, _Design
from replicalab.designs.reported import EffectSource
from replicalab.designs.scales import SHARE, NormalScale, Scale
from replicalab.lexicon import percent_text

# --- the effect that is assumed ---------------------------------------------------------------

AS_PUBLISHED: Final = "as published"
HALVED: Final = "halved"
SMALLEST: Final = "smallest of interest"  # The other effects that a plan may be judged at

LARGEST: Final = 1e15  # No effect beyond this is looked for


@dataclass(frozen=True, kw_only=True)
class Effect:
    """An effect that is 0 where there is none, such as a difference or a correlation.

    Attributes:
        name: in words, such as ``Cohen's d``.
        below: what its size stays below: 1 for a correlation or a share.
        signed: whether it may be negative.
        within_margin: whether the study is to show that it lies within a margin: then there may be
            none, and what is planned stays below the margin.
        offered: the other effects worth planning at; those of an original go with half of the
            published one.
        seen: what is seen of it through substitutions of a factor.
        seen_text: the same in words.
    """

    name: str
    below: float = math.inf
    signed: bool = True
    within_margin: bool = False
    offered: tuple[str, ...] = (AS_PUBLISHED, HALVED, SMALLEST)
    seen: Callable[[float, float], float] = operator.mul
    seen_text: str = "planning effect × {factor:g}"

    @property
    def largest_size(self) -> float:
        """The largest size that is looked for."""
        return min(math.nextafter(self.below, 0), LARGEST)

    def offers(self, name: str) -> bool:
        """Return whether an effect of a name is worth planning at."""
        known = (AS_PUBLISHED, HALVED, SMALLEST)
        return (name if name in known else HALVED) in self.offered

    def size(self, effect: float) -> float:
        """Return how far an effect is from none."""
        return abs(effect)

    def of_size(self, size: float, like: float) -> float:
        """Return the effect of a size: a ratio on the same side of 1 as another, else no sign."""
        return size

    def fault(self, effect: float) -> str | None:
        """Return what an effect must be that evidence can be computed at, None if it is that."""
        if self.signed and effect <= -self.below:
            return f"more than {-self.below:g}"
        if abs(effect) >= self.below:
            return f"less than {self.below:g}"
        return None if self.signed or effect >= 0 else "0 or more"

    def fault_in_file(self, effect: float) -> str | None:
        """Return what an effect must be to stand in a study, None if it is that."""
        if self.below < math.inf and not (self.size(effect) and self.fault(effect) is None):
            return f"between 0 and {self.below:g}"
        return self.fault(effect)

    def fault_in_plan(self, effect: float | None) -> str | None:
        """Return what an effect must be for a study to plan with it, None if it is that."""
        if effect is None or effect < 0 or not (effect or self.within_margin):
            return "of 0 or more" if self.within_margin else "above 0"
        return None


class Ratio(Effect):
    """An effect that is 1 where there is none: its size is its logarithm, on either side of 1."""

    @property
    def largest_size(self) -> float:
        """The largest size that is looked for."""
        return math.log(LARGEST)

    def size(self, effect: float) -> float:
        """Return how far an effect is from none."""
        return abs(math.log(effect))

    def of_size(self, size: float, like: float) -> float:
        """Return the effect of a size, on the same side of 1 as another."""
        return math.exp(math.copysign(size, math.log(like)))

    def fault(self, effect: float) -> str | None:
        """Return what an effect must be that evidence can be computed at, None if it is that."""
        return None if effect > 0 else "above 0"

    def fault_in_plan(self, effect: float | None) -> str | None:
        """Return what an effect must be for a study to plan with it, None if it is that."""
        return "above 0, but not 1" if effect is None or effect <= 0 or effect == 1 else None


# --- a row ------------------------------------------------------------------------------------

Formula = Callable[[int, float, DesignParameters], float]
"""The evidence of n samples, 1 or more, at an effect of that size; it never falls with n."""


class Shape(NamedTuple):
    """A dot, or a box where it has a width; all in percent of the sketch, from its lower left.

    The colours ``one``, ``two`` and ``three`` are groups, ``quiet`` is what they stand against.
    """

    x: float
    y: float
    colour: str = "one"
    w: float = 0.0
    h: float = 0.0


class Information(NamedTuple):
    """What samples tell of an effect: the statistic of a test grows as its root.

    Attributes:
        of: the information of n samples, 1 or more: one over the variance of their estimate on the
            kind's normal scale; 0 for too few.
    """

    of: Callable[[int, DesignParameters], float]


class Given(NamedTuple):
    """What changes in words where a design gives a number that its kind can do without.

    ``counts`` is whether a value of it changes the evidence.
    """

    method: str
    setting: str
    source: str
    counts: Callable[[Any], bool] = lambda _: True


@lru_cache(maxsize=16384)
def _value(formula: Formula, n: int, size: float, given: DesignParameters) -> float:
    return formula(n, size, given)


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of design: all that differs from one kind to the next.

    Attributes:
        kind: its name in a study file.
        title: its name for people.
        asks: what such a study asks, in a sentence.
        sketch: what is compared, as a picture.
        usual: numbers that a new study of this kind may begin with, besides alpha, by field.
        formula: the evidence.
        method: how that is computed; what only approximates says so.
        source: where that is published, empty for a plain count; docs/methods.md says more.
        endless_method: how, where no population is given, if that is another way.
        uneven_method: how, where two arms are not of one size, if that is said otherwise.
        is_interval: whether its evidence is that of an interval, whose confidence is 1 − alpha.
        effect: what is assumed; None where nothing is.
        needs: the numbers that a design of this kind must give.
        optional: those that it may give, and which of `GROUPINGS`.
        given: by such a number, what is said of a design that gives it.
        groups: how many groups the samples are of, where the kind says it; else the design does.
        setting: what else is assumed, as it follows upon the effect in a sentence.
        measure: what the evidence is called.
        meaning: what it says, for people who meet it first.
        axis: what a chart calls it, where that is more than the measure.
        scale: how it is written and compared.
        level: what alpha is the level of.
        sought: what a test may ask for the least of, None where nothing is tested: the effect, or
            the margin that it is to lie within.
        sources: the numbers that an effect may be worked out from.
        wrong_sign: how much of a power is significant with the wrong sign, None where a test has
            no sign.
        misfit: why the planning effect does not go with the other numbers, and the remedy; empty
            where it does.
        normal: the scale on which its estimates are as good as normal, None where there is none.
        least_size: the least size that ``n`` samples show with a target power above alpha, where
            there is a shorter way to it than by the formula.
        information: what samples tell, by which success is planned; None where nothing
            is tested on a normal scale.
    """

    kind: str
    title: str
    asks: str
    sketch: tuple[Shape, ...]
    usual: Mapping[str, float]
    formula: Formula
    method: str
    source: str
    effect: Effect | None
    needs: tuple[str, ...] = ("alpha",)
    optional: tuple[str, ...] = ()
    given: Mapping[str, Given] = field(default_factory=dict)
    groups: int = 1
    endless_method: str = ""
    uneven_method: str = ""
    is_interval: bool = False
    setting: str = ""
    measure: str = "power"
    meaning: str = "the chance of p < alpha if the assumed effect is true"
    axis: str = ""
    scale: Scale = SHARE
    level: str = "two-sided"
    sought: str | None = "smallest detectable effect"
    sources: tuple[EffectSource, ...] = ()
    wrong_sign: Formula | None = None
    normal: NormalScale | None = None
    misfit: Callable[[float, DesignParameters], str] | None = None
    least_size: Callable[[int, float, DesignParameters], float | None] | None = None
    information: Information | None = None

    @property
    def axis_title(self) -> str:
        """What the axis of a chart says."""
        return self.axis or self.measure

    @property
    def named(self) -> str:
        """The kind with its article: ``an audit``."""
        return f"{'an' if re.match('[aeiu]', self.kind) else 'a'} {self.kind}"

    @property
    def numbers(self) -> list[str]:
        """The numbers of a design that count for this kind, besides its effects and bounds."""
        # The population counts for every kind: nobody can plan more samples than there are.
        return [name for name in PARAMETERS if self.uses(name) or name == "population_max"]

    @property
    def extras(self) -> list[str]:
        """The numbers of a design that this kind may have, and can do without."""
        return [name for name in PARAMETERS if name in self.optional]

    def groups_of(self, design: _Design) -> int:
        """Return how many groups the samples of a design are of, 1 where they are of none."""
        return design.groups or self.groups

    def method_of(self, design: _Design) -> str:
        """Return how the evidence of a design is computed, of an interval at which confidence."""
        method, alpha = self._method_of(design), design.alpha
        if not self.is_interval or alpha is None:
            return method
        return f"{method}, at {percent_text(1 - alpha)} confidence"

    def _method_of(self, design: _Design) -> str:
        if self.uneven_method and design.arms and design.arms.share != DesignParameters().share:
            return self.uneven_method
        if words := self._words(design):
            return words.method
        return (design.population_max is None and self.endless_method) or self.method

    def source_of(self, design: _Design) -> str:
        """Return where the formula for the evidence of a design is published."""
        words = self._words(design)
        return words.source if words else self.source

    def _words(self, design: _Design) -> Given | None:
        """Return what is said of a number that a design gives, None where it gives none."""
        for name, words in self.given.items():
            value = getattr(design, name)
            if value is not None and words.counts(value):
                return words
        return None

    def uses(self, number: str) -> bool:
        """Return whether the evidence of this kind depends on a number of a design."""
        return number in self.needs or number in self.optional

    def label(self, number: str) -> str:
        """Return what a number of a design is called for people."""
        parameter = PARAMETERS[number]
        label = parameter.label.format(level=self.level)
        return f"{label}, in {parameter.unit}" if parameter.unit else label

    def setting_text(self, given: DesignParameters) -> str:
        """Return what is assumed besides the effect, as it follows upon it in a sentence."""
        besides = [
            words.setting
            for name, words in self.given.items()
            if getattr(given, name, None) is not None
        ]
        return "".join((self.setting, *besides)).format(**given._asdict())

    def value(self, n: int, effect: float | None, given: DesignParameters) -> float:
        """Return the evidence of ``n`` samples.

        Raises:
            ValueError: nothing can be planned at that effect.
        """
        return _value(self.formula, n, self._size(effect), given) if n >= 1 else self.scale.worst

    def _size(self, effect: float | None) -> float:
        """Return the size of an effect at which something can be planned, 0 where none is assumed.

        Raises:
            ValueError: nothing can be.
        """
        if self.effect is None:
            return 0.0
        if effect is None:
            raise ValueError(f"{self.kind} needs an effect to assume")
        if not math.isfinite(effect):
            raise ValueError(f"the effect is {effect}; give a finite number")
        if fault := self.effect.fault(effect):
            raise ValueError(f"the effect is {effect}; {self.named} effect is {fault}")
        return self.effect.size(effect)

    def least_sought(
        self, design: _Design, n: int, factor: float, planned: int | None = None
    ) -> float | None:
        """Return the least of what is sought that ``n`` samples show with the target power.

        Exact to 1e-12 of itself and on the side where the target is met. 0
        where the target is no higher than alpha. None where nothing is tested, where ``n`` is too
        small for a test, and where only an effect beyond 1e15 would do.

        Args:
            design: the design.
            n: samples that count.
            factor: what a plan's substitutions leave of every effect; what is returned is what the
                study's own items would show.
            planned: the samples before dropout; None where none drop out.
        """
        effect, usual = self.effect, design.effect_planning
        if self.sought is None or effect is None or usual is None or n < 1:
            return None
        given, assumed = DesignParameters.by(design, factor, planned), effect.size(usual) * factor

        def power(size: float) -> float:
            seen = size * factor
            if effect.within_margin:
                return _value(self.formula, n, assumed, given._replace(margin=seen))
            return _value(self.formula, n, seen, given)

        top = LARGEST if effect.within_margin else effect.largest_size
        if self.least_size and design.target > given.alpha:
            seen = self.least_size(n, design.target, given)
            least = seen and seen / factor
        else:
            least = least_reaching(power, design.target, top)
        return None if least is None else effect.of_size(least, usual)

    def faults(self, design: _Design) -> Iterator[str]:
        """Yield what is wrong with the numbers of a design, each with its remedy."""
        yield from self._of_effects(design)
        for name, parameter in PARAMETERS.items():
            value = getattr(design, name)
            if name in self.needs and value is None:
                yield f"{self.named} design has no {name}; {parameter.remedy}"
            elif not (self.uses(name) or value is None or parameter.always_allowed):
                yield f"{name} is {value}, but {self.named} design has none; leave it out"
        for name, called in GROUPINGS.items():
            if getattr(design, name) is not None and name not in self.optional:
                yield f"{name} are given, but {self.named} design has no {called}; leave them out"

    def _of_effects(self, design: _Design) -> Iterator[str]:
        planned, margin = design.effect_planning, design.margin
        names = ("effect_published", "effect_planning", "sesoi")
        given = {name: effect for name in names if (effect := getattr(design, name)) is not None}
        if self.effect is None:
            for name in given:
                yield f"{self.kind} has no effect, and {name} gives one; write null"
        else:
            if fault := self.effect.fault_in_plan(planned):
                yield f"effect_planning is {planned}; {self.named} design needs one {fault}"
            elif self.effect.within_margin and margin is not None and (planned or 0) >= margin:
                yield (
                    f"effect_planning is {planned}, and the margin {margin}; "
                    "assume less than the margin, or widen it"
                )
            for name, effect in given.items():
                if fault := self.effect.fault_in_file(effect):
                    yield f"{name} is {effect}; {self.named} effect is {fault}"
        if self.misfit and planned is not None:
            yield from filter(None, [self.misfit(planned, DesignParameters.by(design))])
