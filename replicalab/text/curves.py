"""What the curves of power analysis show, as titles, and their numbers."""

from __future__ import annotations

from replicalab.assessment import counted_of
from replicalab.lexicon import amount_text, count_text, percent_text
from replicalab.measures import Given
from replicalab.planner.curves import Curves, Point
from replicalab.text.options import bound_text
from replicalab.text.plan import effect_text

_ROWS = 12
"""So many of a curve's points stand in its table, beside those that have a name."""


def samples_title(found: Curves) -> str:
    """Return how many samples reach the target, and how many the lab pays."""
    needed, goal = found.needed(), bound_text(found.plan.evidence, "target")
    reached = "No sample size reaches" if needed is None else f"{amount_text(needed)} reach"
    return f"{reached} {goal}; {_pays(found)}"


def _pays(found: Curves) -> str:
    most = "for none" if found.largest is None else amount_text(found.largest)
    return f"this lab pays {most}"


def effect_title(found: Curves) -> str:
    """Return what the plan's samples are worth at the effect that is assumed."""
    evidence, effect = found.plan.evidence, found.effects[0].effect
    size = count_text(found.plan.counts.samples, "sample")
    return f"{size}: {evidence.text} at {_effect_name(found)} {effect_text(effect)}"


def needed_title(found: Curves) -> str:
    """Return how many samples the target takes at the effect that is assumed."""
    needed, goal = found.needed(), bound_text(found.plan.evidence, "target")
    effect = f"at {_effect_name(found)} {effect_text(found.effects[0].effect)}"
    if needed is None:
        return f"No sample size reaches {goal} {effect}"
    return f"{amount_text(needed)} samples reach {goal} {effect}"


def assumed_text(found: Curves) -> str:
    """Return what the curves assume, in a line: the effect, alpha, what drops out."""
    design, row = found.plan.pack.design, found.plan.evidence.row
    told = ["planned, never observed"]
    if found.effects:
        setting = row.setting_text(Given.by(design))
        told = [f"planned, at an assumed {row.effect.name}{setting}" if row.effect else told[0]]
    if design.alpha is not None and "alpha" in row.needs:
        told.append(f"alpha {design.alpha:g}, {row.level}")
    if design.dropout:
        told.append(f"{percent_text(design.dropout)} dropout")
    return "; ".join(told)


def _effect_name(found: Curves) -> str:
    effect = found.plan.evidence.row.effect
    return effect.name if effect else ""


# --- tables ---------------------------------------------------------------------------------


def samples_rows(found: Curves) -> list[tuple[str, ...]]:
    """Return samples planned, those counted, and their evidence; what has a name first."""
    evidence = found.plan.evidence
    named = {
        f"the {evidence.amount(evidence.target)} of the target": found.needed(),
        "the most that this lab pays": found.largest,
    }
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
