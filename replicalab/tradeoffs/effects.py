"""The effects worth assuming, each size once."""

from __future__ import annotations

import math
from collections.abc import Iterable

from replicalab.evidence import AssumedEffect


def merged_effects(effects: Iterable[AssumedEffect]) -> tuple[AssumedEffect, ...]:
    """Return the effects in their order, those of one size as one: ``halved, as published``."""
    found: list[AssumedEffect] = []
    for effect in effects:
        same = next((i for i, e in enumerate(found) if math.isclose(e.effect, effect.effect)), None)
        if same is None:
            found.append(effect)
        else:
            found[same] = AssumedEffect(f"{found[same].label}, {effect.label}", found[same].effect)
    return tuple(found)
