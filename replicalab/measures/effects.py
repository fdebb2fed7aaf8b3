"""What a kind of design assumes: its effect, how large that is, what a substitution leaves of it.

Evidence depends on an effect's *size* only: how far it is from no effect, in either direction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

AS_PUBLISHED: Final = "as published"
HALVED: Final = "halved"
SMALLEST: Final = "smallest of interest"
"""The effects that may be planned at beside the planning effect."""

LARGEST: Final = 1e15
"""No effect beyond this is looked for."""


@dataclass(frozen=True, kw_only=True)
class Effect:
    """An effect that is 0 where there is none, such as a difference or a correlation.

    Attributes:
        name: in words, such as ``Cohen's d``.
        below: what its size stays below: 1 for a correlation or a share.
        signed: whether it may be negative.
        none_is_planned: whether a study may plan with no effect at all.
        within: the number of a design that the planned size stays below, None where none does.
        offered: the other effects worth planning at.
        seen_text: what a substitution's factor does to it.
    """

    name: str
    below: float = math.inf
    signed: bool = True
    none_is_planned: bool = False
    within: str | None = None
    offered: tuple[str, ...] = (AS_PUBLISHED, HALVED, SMALLEST)
    seen_text: str = "planning effect × {factor:g}"

    @property
    def largest_size(self) -> float:
        """The largest size that is looked for."""
        return min(math.nextafter(self.below, 0), LARGEST)

    def size(self, effect: float) -> float:
        """Return how far an effect is from none."""
        return abs(effect)

    def of_size(self, size: float, like: float) -> float:
        """Return the effect of a size: without a sign, or on the same side of 1 as another."""
        return size

    def unsigned(self, effect: float) -> float:
        """Return an effect as it is named beside others, where its direction does not matter."""
        return self.of_size(self.size(effect), effect)

    def seen(self, effect: float, factor: float) -> float:
        """Return what is seen of an effect through substitutions that leave that part of it."""
        return effect * factor

    def halved(self, effect: float) -> float:
        """Return half an effect."""
        return self.seen(effect, 0.5)

    def fault(self, effect: float) -> str | None:
        """Return what an effect must be that evidence can be computed at, None if it is that."""
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
        if effect is None or effect < 0 or not (effect or self.none_is_planned):
            return "of 0 or more" if self.none_is_planned else "above 0"
        return None


class Spread(Effect):
    """The standard deviation of one sample: the worse what is used, the larger it is."""

    def seen(self, effect: float, factor: float) -> float:
        """Return the deviation that is seen through substitutions of that factor."""
        return effect / factor
