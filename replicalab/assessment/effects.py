"""The effect to plan with: one row for each choice that a design offers."""

import math
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from replicalab import designs
from replicalab.designs.distributions import z_critical
from replicalab.designs.originals import effect_of, safeguard, shrunken, small_telescopes
from replicalab.scenarios import Design, Original

PLANNED: Final = "planned"
YOURS: Final = "yours"
"""Labels of a study's planning effect, and of one given in its place."""
_LEVEL: Final = 0.05


class AssumedEffect(NamedTuple):
    """An effect to plan at, with its label."""

    label: str
    effect: float


class EffectChoice(NamedTuple):
    """A choice of the effect to plan with."""

    label: str
    meaning: str  # one sentence on the effect
    work: Callable[[Design], float | None]  # the effect with its sign, or None
    source: str = ""  # the paper that proposes it, empty if none
    missing: str = ""  # the reason if a complete original gives no such effect
    is_reported: Callable[[Design], bool] = lambda _: False  # whether the original is complete


def published_effect(design: Design) -> float | None:
    if design.effect_published is not None or design.original is None:
        return design.effect_published
    return effect_of(design.row, design.original)


def original_estimate(design: Design) -> designs.Estimate | None:
    return designs.estimate_of(design.row, design.original) if design.original else None


def original_interval(design: Design) -> tuple[float, float] | None:
    """Return the original's 95 % interval; None if unknown or beyond the kind's range."""
    estimate, row = original_estimate(design), design.row
    if estimate is None or row.normal is None or row.effect is None:
        return None
    margin = z_critical(_LEVEL) * estimate.se
    low, high = sorted(row.normal.effect(estimate.value + side * margin) for side in (-1, 1))
    if not math.isfinite(high) or row.effect.fault(low) or row.effect.fault(high):
        return None
    return low, high


def _halved(design: Design) -> float | None:
    effect, published = design.row.effect, published_effect(design)
    whole = design.effect_planning if published is None else published
    return None if effect is None or whole is None else effect.seen(whole, 0.5)


def _of_original(
    work: Callable[[designs.Kind, Original], float | None],
) -> Callable[..., float | None]:
    return lambda design: design.original and work(design.row, design.original)


def _any_telescopes(design: Design) -> float | None:
    if design.original is None:
        return None
    parameters = designs.DesignParameters.by(design)
    return small_telescopes(design.row, design.original, parameters)


def _telescopes(design: Design) -> float | None:
    value, effect = _any_telescopes(design), design.row.effect
    original = design.original and effect_of(design.row, design.original)
    if value is None or effect is None or not original:
        return None
    return None if effect.size(value) > effect.size(original) else value


CHOICES: Final = (
    EffectChoice(designs.AS_PUBLISHED, "The effect as it was published.", published_effect),
    EffectChoice(
        designs.HALVED, "Half of it: large replication projects found about half.", _halved
    ),
    EffectChoice(
        designs.SMALLEST,
        "The smallest effect that the study is interested in.",
        lambda of: of.sesoi,
    ),
    EffectChoice(
        "safeguard",
        "The lower end of the original's 60 % interval, which is a one-sided bound at 80 %.",
        _of_original(safeguard),
        "Perugini, Gallucci & Costantini (2014)",
        "the original's 60 % interval reaches no effect",
    ),
    EffectChoice(
        "small telescopes",
        "The effect for which the original had a power of one third: a smaller one it could "
        "hardly have seen.",
        _telescopes,
        "Simonsohn (2015)",
        "the original had a power of less than one third even at the effect that it found",
        lambda design: _any_telescopes(design) is not None,
    ),
    EffectChoice(
        "shrunken",
        "The original's estimate times 1 − 1/z²: the less, the nearer it is to its standard error.",
        _of_original(shrunken),
        "Pawel & Held (2020)",
        "the original's estimate is no larger than its standard error",
    ),
)


def chosen_effect(choice: EffectChoice, design: Design) -> float | None:
    """Return the effect of a choice, without a sign; None if the design does not offer it."""
    effect = design.row.effect
    if effect is None or design.effect_planning is None or not effect.offers(choice.label):
        return None
    value = choice.work(design)
    if value is None:
        return None
    # An original's numbers may give no effect, which cannot be planned with.
    cannot = effect.fault_in_plan(abs(value)) or effect.fault_in_file(abs(value))
    return None if design.original and cannot else abs(value)


def named_effect(design: Design, name: str) -> float | None:
    """Return the effect of a choice by name, such as ``Small-Telescopes``, or None."""
    label = " ".join(name.casefold().replace("-", " ").split())
    return next((chosen_effect(row, design) for row in CHOICES if row.label == label), None)


def missing_choices(design: Design) -> list[tuple[str, str]]:
    """Return the choices that the original does not allow, each with the reason."""
    effect, unknown = design.row.effect, ""
    if design.original is None or effect is None:
        return []
    if design.row.normal is None:
        unknown = f"no normal scale is known for {design.row.named} effect"
    elif original_estimate(design) is None:
        unknown = "neither a standard error nor an interval nor n of the original is given"
    return [
        (choice.label, choice.missing if choice.is_reported(design) else unknown or choice.missing)
        for choice in CHOICES
        if choice.missing and effect.offers(choice.label) and chosen_effect(choice, design) is None
    ]


def offered_effects(design: Design) -> list[tuple[EffectChoice, float]]:
    """Return each choice that a design offers with its effect, without a sign."""
    pairs = ((choice, chosen_effect(choice, design)) for choice in CHOICES)
    return [(choice, effect) for choice, effect in pairs if effect is not None]


def assumed_effects(design: Design) -> tuple[AssumedEffect, ...]:
    """Return the other effects worth planning at, in a fixed order, equal ones as one."""
    effects = offered_effects(design)
    return merged_effects(AssumedEffect(choice.label, effect) for choice, effect in effects)


def effects_of(design: Design, written: Design | None = None) -> tuple[AssumedEffect, ...]:
    """Return the effects to choose from, the assumed one first; ``written`` by the author."""
    written = written or design
    value, planned = design.effect_planning, written.effect_planning
    others = assumed_effects(written)
    if value is None or planned is None or not others:
        return ()
    effects = [AssumedEffect(YOURS, abs(value))] if value != planned else []
    return merged_effects([*effects, AssumedEffect(PLANNED, abs(planned)), *others])


def merged_effects(effects: Iterable[AssumedEffect]) -> tuple[AssumedEffect, ...]:
    """Return the effects in order, equal ones as one: ``halved, as published``."""
    labels: dict[float, list[str]] = {}
    for label, effect in effects:
        same = next((value for value in labels if math.isclose(value, effect)), effect)
        labels.setdefault(same, []).append(label)
    return tuple(AssumedEffect(", ".join(names), effect) for effect, names in labels.items())
