"""What the curves of power analysis show, as titles, and their numbers."""

from __future__ import annotations

from typing import Final

from replicalab.assessment import counted_of
from replicalab.lexicon import amount_text, capitalised, count_text, joined, percent_text
from replicalab.planner.curves import Curves, Point
from replicalab.text.plan import effect_text

_ROWS: Final = 12
"""So many of a curve's points stand in its table, beside those that have a name."""


def samples_title(found: Curves) -> str:
    """Return how many samples reach the target, and how many fit the lab."""
    needed = found.needed()
    reach = "None reaches" if needed is None else f"{amount_text(needed)} reach"
    return f"{reach} {_target(found)}; {fit_text(found.largest)}"


def fit_text(largest: int | None) -> str:
    """Return how many samples fit the lab: ``175 fit this lab``, ``none fits this lab``."""
    most = "none" if largest is None else amount_text(largest)
    return f"{most} {'fit' if largest and largest > 1 else 'fits'} this lab"


def effect_title(found: Curves) -> str:
    """Return what the plan's samples are worth at the effect that is assumed."""
    return f"{count_text(found.plan.counts.samples, 'sample')}: {found.plan.evidence.text}"


def needed_title(found: Curves) -> str:
    """Return how many samples reach the target at the effect that is assumed."""
    needed = found.needed()
    reach = "No sample size reaches" if needed is None else f"{amount_text(needed)} samples reach"
    return f"{reach} {_target(found)}"


def _target(found: Curves) -> str:
    evidence = found.plan.evidence
    return f"target {evidence.amount(evidence.target)}"


def assumed_text(found: Curves) -> str:
    """Return at which effect the curves are planned: ``planned, at an assumed Cohen's d 0.177``."""
    effect = found.plan.evidence.row.effect
    if effect is None or not found.effects:
        return "planned, no effect is assumed"
    return f"planned, at an assumed {effect.name} of {effect_text(found.effects[0].effect)}"


def level_text(found: Curves) -> str:
    """Return what else the curves assume: alpha, and what drops out; empty for neither."""
    design, row = found.plan.pack.design, found.plan.evidence.row
    told = [f"alpha {design.alpha:g}, {row.level}"] if design.alpha and row.uses("alpha") else []
    told += [f"{percent_text(design.dropout)} dropout"] if design.dropout else []
    return f"{capitalised('; '.join(told))}." if told else ""


def outside_text(found: Curves) -> str:
    """Return which effects no sample size reaches the target at; empty for none."""
    lost = [f"{each.label} ({effect_text(each.effect)})"
            for each in found.effects if found.needed(each.effect) is None]  # fmt: skip
    return f"No sample size reaches the target at the effect {joined(lost, 'or')}." if lost else ""


# --- tables ---------------------------------------------------------------------------------


def samples_rows(found: Curves) -> list[tuple[str, ...]]:
    """Return samples planned, those counted, and their evidence; what has a name first."""
    evidence = found.plan.evidence
    named = {"for the target": found.needed(), "the most that fit this lab": found.largest}
    rows = [("your plan", found.plan.counts.samples, evidence.counted, evidence.number)]
    rows += [(name, n, *_counted(found, n)) for name, n in named.items() if n is not None]
    rows += [("", int(n), *_counted(found, int(n))) for n, _ in _some(found.over_samples)]
    return [(amount_text(n), amount_text(c), worth, name) for name, n, c, worth in rows]


def _counted(found: Curves, n: int) -> tuple[int, str]:
    counted = counted_of(found.plan.pack.design, n)
    return counted, found.plan.evidence.amount(found.worth(n))


def effect_rows(found: Curves) -> list[tuple[str, ...]]:
    """Return effects, what the plan's samples are worth at each, and how many the target takes."""
    named = [(label, effect) for label, effect in found.effects]
    named += [("", point.x) for point in _some(found.over_effects)]
    evidence = found.plan.evidence
    return [
        (
            effect_text(effect),
            evidence.amount(found.worth(evidence.able, effect)),
            "none" if (needed := found.needed(effect)) is None else amount_text(needed),
            label,
        )
        for label, effect in named
    ]


def _some(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """Return some points, evenly spread."""
    return points[:: max(1, -(-len(points) // _ROWS))]
