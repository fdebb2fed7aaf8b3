"""What a row of the table of kinds holds, and the numbers of a design that it is asked about."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

from replicalab.measures.effects import LARGEST, Effect
from replicalab.measures.scales import SHARE, Scale

# --- the numbers of a design ------------------------------------------------------------------


class DesignNumbers(Protocol):
    """The numbers of a design that evidence depends on, beside target and floor."""

    @property
    def effect_published(self) -> float | None:
        """The effect as printed."""

    @property
    def effect_planning(self) -> float | None:
        """The effect that is planned with."""

    @property
    def sesoi(self) -> float | None:
        """The smallest effect of interest."""

    @property
    def alpha(self) -> float | None:
        """The significance level."""

    @property
    def population_max(self) -> int | None:
        """The most samples that there are."""

    @property
    def groups(self) -> int | None:
        """How many groups are compared."""

    @property
    def margin(self) -> float | None:
        """The difference that counts as none."""

    @property
    def event_share(self) -> float | None:
        """The share of samples with an event."""


class Parameter(NamedTuple):
    """A number of a design that only some kinds need: its name for people, and what to give."""

    label: str
    remedy: str
    always_allowed: bool = False


PARAMETERS: Final = {
    "alpha": Parameter("Alpha, {level}", "give one, for example 0.05", always_allowed=True),
    "population_max": Parameter(
        "Most samples there are", "give the number of units there are", always_allowed=True
    ),
    "groups": Parameter("Groups", "give how many there are, for example 3"),
    "margin": Parameter(
        "Margin, in units of d", "give the difference, in units of d, below which there is none"
    ),
    "event_share": Parameter(
        "Share of samples with an event", "give the share that will have one, 1 for all"
    ),
}
"""By field. What is always allowed does no harm where no formula asks for it."""


_EFFECTS: Final = ("effect_published", "effect_planning", "sesoi")


class Given(NamedTuple):
    """What a formula is given beside n and the effect, as seen through a plan's substitutions."""

    alpha: float = 0.0
    population_max: int | None = None
    groups: int = 0
    margin: float = 0.0
    event_share: float = 1.0

    @classmethod
    def by(cls, design: DesignNumbers, factor: float = 1.0) -> Given:
        """Return the numbers of a design.

        Args:
            design: the design.
            factor: what the substitutions leave of every effect. A difference as large as the
                margin is seen smaller by it too, so what is seen must lie within less.
        """
        return cls(
            alpha=design.alpha or 0.0,
            population_max=design.population_max,
            groups=design.groups or 0,
            margin=(design.margin or 0.0) * factor,
            event_share=design.event_share or 1.0,
        )


Formula = Callable[[int, float, Given], float]
"""The evidence of n samples, 1 or more, at an effect of that size."""


class Sought(NamedTuple):
    """What a test may ask for the least of.

    Attributes:
        name: for people.
        number: the number of the design that it is; None where it is the effect.
    """

    name: str
    number: str | None = None


_AN_EFFECT: Final = Sought("smallest detectable effect")


# --- a row ------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of design: all that differs from one kind to the next.

    Attributes:
        kind: its name in a study file.
        formula: the evidence, which never falls with n.
        method: how that is computed; what only approximates says so.
        effect: what is assumed; None where nothing is.
        needs: the numbers that a design of this kind must give.
        setting: what else is assumed, as it follows upon the effect in a sentence.
        measure: what the evidence is called.
        meaning: what it says, for people who meet it first.
        axis: what a chart calls it, where that is more than the measure.
        scale: how it is written and compared.
        level: what alpha is the level of.
        sought: what a test may ask for the least of, None where nothing is tested.
    """

    kind: StrEnum
    formula: Formula
    method: str
    effect: Effect | None
    needs: tuple[str, ...] = ("alpha",)
    setting: str = ""
    measure: str = "power"
    meaning: str = "the chance of finding the assumed effect"
    axis: str = ""
    scale: Scale = SHARE
    level: str = "two-sided"
    sought: Sought | None = _AN_EFFECT

    @property
    def axis_title(self) -> str:
        """What the axis of a chart says."""
        return self.axis or self.measure

    @property
    def named(self) -> str:
        """The kind with its article: ``an audit``."""
        return f"{'an' if self.kind[0] in 'aeiou' else 'a'} {self.kind}"

    @property
    def numbers(self) -> list[str]:
        """The numbers of a design that count for this kind, beside its effects and bounds."""
        return [n for n, p in PARAMETERS.items() if p.always_allowed or n in self.needs]

    def label(self, number: str) -> str:
        """Return what a number of a design is called for people."""
        return PARAMETERS[number].label.format(level=self.level)

    def setting_text(self, given: Given) -> str:
        """Return what is assumed beside the effect, as it follows upon it in a sentence."""
        return self.setting.format(**given._asdict())

    def value(self, n: int, effect: float | None, given: Given) -> float:
        """Return the evidence of ``n`` samples.

        Raises:
            ValueError: nothing can be planned at that effect.
        """
        if n < 1:
            return self.scale.worst
        return _value(self.formula, n, self._size(effect), given)

    def _size(self, effect: float | None) -> float:
        if self.effect is None:
            return 0.0
        if effect is None:
            raise ValueError(f"{self.kind} needs an effect to assume")
        if not math.isfinite(effect):
            raise ValueError(f"the effect is {effect}; give a finite number")
        if fault := self.effect.fault(effect):
            raise ValueError(f"the effect is {effect}; {self.named} effect is {fault}")
        return self.effect.size(effect)

    def value_if(self, sought: float, n: int, design: DesignNumbers, factor: float) -> float:
        """Return the evidence of ``n`` samples if what is sought were of that size.

        Args:
            sought: the size that the study's own items would show, 0 or more.
            n: samples that count.
            design: all other numbers.
            factor: what a plan's substitutions leave of every effect.
        """
        if n < 1:
            return self.scale.worst
        given, seen = Given.by(design, factor), sought * factor
        if self._sought_number is None:
            return _value(self.formula, n, seen, given)
        size = self._size(design.effect_planning) * factor
        changed: dict[str, Any] = {self._sought_number: seen}
        return _value(self.formula, n, size, given._replace(**changed))

    @property
    def largest_sought(self) -> float:
        """The largest size of what is sought that is looked for."""
        if self.effect is None or self._sought_number:
            return LARGEST
        return self.effect.largest_size

    def as_sought(self, size: float, design: DesignNumbers) -> float:
        """Return what is sought of a size, in its own unit."""
        if self.effect is None or self._sought_number:
            return size
        return self.effect.of_size(size, design.effect_planning or 0.0)

    @property
    def _sought_number(self) -> str | None:
        return self.sought.number if self.sought else None

    def faults(self, design: DesignNumbers) -> Iterator[str]:
        """Yield what is wrong with the numbers of a design, each with its remedy."""
        yield from self._wrong_effects(design)
        for name, parameter in PARAMETERS.items():
            value = getattr(design, name)
            if name in self.needs and value is None:
                yield f"{self.named} design has no {name}; {parameter.remedy}"
            elif not (name in self.needs or value is None or parameter.always_allowed):
                yield f"{name} is {value}, but {self.named} design has none; leave it out"

    def _wrong_effects(self, design: DesignNumbers) -> Iterator[str]:
        given = [name for name in _EFFECTS if getattr(design, name) is not None]
        if self.effect is None:
            yield from (f"{self.kind} has no effect, and {name} gives one; write null"
                        for name in given)  # fmt: skip
            return
        planned = design.effect_planning
        if fault := self.effect.fault_in_plan(planned):
            yield f"effect_planning is {planned}; {self.named} design needs one {fault}"
        limit = getattr(design, self.effect.within) if self.effect.within else None
        if planned is not None and limit is not None and self.effect.size(planned) >= limit:
            what = self.effect.within
            yield (
                f"effect_planning is {planned}, and the {what} {limit}; "
                f"assume less than the {what}, or widen it"
            )
        for name in given:
            effect = getattr(design, name)
            if fault := self.effect.fault_in_file(effect):
                yield f"{name} is {effect}; {self.named} effect is {fault}"


@lru_cache(maxsize=65536)
def _value(formula: Formula, n: int, size: float, given: Given) -> float:
    return formula(n, size, given)
