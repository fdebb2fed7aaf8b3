"""The row of a design kind: its effect, formula, words and sketch.

Evidence depends on an effect's *size* only: its distance from no effect, in either direction.
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
    """An effect that is 0 without a difference, such as a difference or a correlation.

    Attributes:
        name: its measure, such as ``Cohen's d``.
        below: the bound of its size: 1 for a correlation or a share.
        signed: whether it may be negative.
        within_margin: whether the study shows that it lies within a margin. The planned effect may
            then be 0, and is below the margin.
        offered: the other effects to plan at; those of an original go with half the published one.
        seen: the effect that remains after substitutions of a factor.
        seen_text: a description of it.
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
        """The largest size to look for."""
        return min(math.nextafter(self.below, 0), LARGEST)

    def offers(self, name: str) -> bool:
        """Return whether an effect of a name is worth planning at."""
        row = (AS_PUBLISHED, HALVED, SMALLEST)
        return (name if name in row else HALVED) in self.offered

    def size(self, effect: float) -> float:
        """Return how far an effect is from none."""
        return abs(effect)

    def of_size(self, size: float, like: float) -> float:
        """Return the effect of a size; a ratio is on the same side of 1 as ``like``."""
        return size

    def fault(self, effect: float) -> str | None:
        """Return the rule for computing evidence that an effect breaks, None if it keeps it."""
        if self.signed and effect <= -self.below:
            return f"more than {-self.below:g}"
        if abs(effect) >= self.below:
            return f"less than {self.below:g}"
        return None if self.signed or effect >= 0 else "0 or more"

    def fault_in_file(self, effect: float) -> str | None:
        """Return the rule of a study file that an effect breaks, None if it keeps it."""
        if self.below < math.inf and not (self.size(effect) and self.fault(effect) is None):
            return f"between 0 and {self.below:g}"
        return self.fault(effect)

    def fault_in_plan(self, effect: float | None) -> str | None:
        """Return the rule for planning that an effect breaks, None if it keeps it."""
        if effect is None or effect < 0 or not (effect or self.within_margin):
            return "of 0 or more" if self.within_margin else "above 0"
        return None


class Ratio(Effect):
    """An effect that is 1 without a difference: its size is its logarithm, on either side of 1."""

    @property
    def largest_size(self) -> float:
        """The largest size to look for."""
        return math.log(LARGEST)

    def size(self, effect: float) -> float:
        """Return how far an effect is from none."""
        return abs(math.log(effect))

    def of_size(self, size: float, like: float) -> float:
        """Return the effect of a size, on the same side of 1 as another."""
        return math.exp(math.copysign(size, math.log(like)))

    def fault(self, effect: float) -> str | None:
        """Return the rule for computing evidence that an effect breaks, None if it keeps it."""
        return None if effect > 0 else "above 0"

    def fault_in_plan(self, effect: float | None) -> str | None:
        """Return the rule for planning that an effect breaks, None if it keeps it."""
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
    """The information of samples about an effect: a test statistic grows as its root.

    Attributes:
        of: the information of n samples, 1 or more: one over the variance of their estimate on the
            kind's normal scale; 0 for too few.
    """

    of: Callable[[int, DesignParameters], float]


class Given(NamedTuple):
    """The words that change if a design gives an optional number.

    ``counts`` returns whether a value of it changes the evidence.
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
    """A kind of design.

    Attributes:
        kind: its name in a study file.
        title: its name for people.
        asks: the question of such a study.
        sketch: a picture of the comparison.
        usual: the first numbers of a new study of this kind, besides alpha, by field.
        formula: the evidence.
        method: how it is computed; an approximation is named as such.
        source: the publication of the formula, empty for a plain count.
        endless_method: the method without a population, if it differs.
        uneven_method: the method for two arms of unlike size, if it differs.
        is_interval: whether the evidence is an interval's, with confidence 1 − alpha.
        effect: the assumed effect; None if the kind assumes none.
        needs: the numbers that a design of this kind must give.
        optional: the numbers and the `GROUPINGS` that it may give.
        given: the words that change if a design gives an optional number.
        groups: the number of groups, unless the design says it.
        setting: other assumptions, as they follow the effect in a sentence.
        measure: the name of the evidence.
        meaning: its explanation for newcomers.
        axis: its title in a chart, if longer than the measure.
        scale: how it is written and compared.
        level: the kind of level that alpha is.
        sought: the least value that a test may look for: the effect or the margin; None without a
            test.
        sources: the numbers that an effect can be computed from.
        wrong_sign: the power that is significant with the wrong sign; None if a test has no sign.
        misfit: why the planning effect does not fit the other numbers, with the remedy, or empty.
        normal: the scale on which its estimates are nearly normal, if any.
        least_size: the least size that ``n`` samples show with a target power above alpha, if there
            is a shorter way than by the formula.
        information: the information of samples, by which success is planned, if any.
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
        """The title of a chart's axis."""
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
        """Return the number of groups of a design, 1 without groups."""
        return design.groups or self.groups

    def method_of(self, design: _Design) -> str:
        """Return how the evidence of a design is computed, with the confidence of an interval."""
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
        """Return the publication of the formula for a design."""
        words = self._words(design)
        return words.source if words else self.source

    def _words(self, design: _Design) -> Given | None:
        """Return the words of the first optional number that a design gives, if any."""
        for name, words in self.given.items():
            value = getattr(design, name)
            if value is not None and words.counts(value):
                return words
        return None

    def uses(self, number: str) -> bool:
        """Return whether the evidence of this kind depends on a number of a design."""
        return number in self.needs or number in self.optional

    def label(self, number: str) -> str:
        """Return the label of a number of a design."""
        parameter = PARAMETERS[number]
        label = parameter.label.format(level=self.level)
        return f"{label}, in {parameter.unit}" if parameter.unit else label

    def setting_text(self, given: DesignParameters) -> str:
        """Return the other assumptions, as they follow the effect in a sentence."""
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
        parameters, assumed = (
            DesignParameters.by(design, factor, planned),
            effect.size(usual) * factor,
        )

        def power(size: float) -> float:
            seen = size * factor
            if effect.within_margin:
                return _value(self.formula, n, assumed, parameters._replace(margin=seen))
            return _value(self.formula, n, seen, parameters)

        top = LARGEST if effect.within_margin else effect.largest_size
        if self.least_size and design.target > parameters.alpha:
            seen = self.least_size(n, design.target, parameters)
            minimum = seen and seen / factor
        else:
            minimum = least_reaching(power, design.target, top)
        return None if minimum is None else effect.of_size(minimum, usual)

    def faults(self, design: _Design) -> Iterator[str]:
        """Yield the faults in the numbers of a design, each with its remedy."""
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
        record = {name: effect for name in names if (effect := getattr(design, name)) is not None}
        if self.effect is None:
            for name in record:
                yield f"{self.kind} has no effect, and {name} gives one; write null"
        else:
            if fault := self.effect.fault_in_plan(planned):
                yield f"effect_planning is {planned}; {self.named} design needs one {fault}"
            elif self.effect.within_margin and margin is not None and (planned or 0) >= margin:
                yield (
                    f"effect_planning is {planned}, and the margin {margin}; "
                    "assume less than the margin, or widen it"
                )
            for name, effect in record.items():
                if fault := self.effect.fault_in_file(effect):
                    yield f"{name} is {effect}; {self.named} effect is {fault}"
        if self.misfit and planned is not None:
            yield from filter(None, [self.misfit(planned, DesignParameters.by(design))])
