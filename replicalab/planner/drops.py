"""Which of a plan's controls may go: every copy of each droppable one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from replicalab.agents.suggestions import DROPPED, SuggestionChange
from replicalab.lexicon import label_key
from replicalab.models import Dimension
from replicalab.planner.missing import policy_failing
from replicalab.scenarios import Control, Pack


class Drops(NamedTuple):
    """Some controls dropped.

    Attributes:
        changes: one for each control, or copy of one, that goes.
        failing: policy, where the label of a control that stays breaks a restriction.
        loss: 1 for each control of which no copy stays.
        controls: how many stay, copies counted as listed.
    """

    changes: tuple[SuggestionChange, ...] = ()
    failing: frozenset[Dimension] = frozenset()
    loss: int = 0
    controls: int = 0

    def beats(self, other: Drops) -> bool:
        """Return whether this is at least as good in every respect."""
        return (
            self.failing <= other.failing
            and self.loss <= other.loss
            and self.controls <= other.controls
            and len(self.changes) <= len(other.changes)
        )


def drops(controls: tuple[str, ...], scenario: Pack) -> list[Drops]:
    """Return the sets of controls that may go, without those that another beats."""
    droppable = {label_key(c.name): c for c in scenario.controls if c.droppable}
    found = [Drops()]
    staying: list[str] = []
    for key, copies in _copies(controls).items():
        if key in droppable or len(copies) > 1:
            options = list(_options(copies, droppable.get(key), scenario))
            found = _unbeaten([_joined(drop, option) for option in options for drop in found])
        else:
            staying += copies
    fixed = Drops(failing=policy_failing(tuple(staying), scenario), controls=len(staying))
    return _unbeaten([_joined(drop, fixed) for drop in found])


def _copies(controls: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for label in controls:
        found.setdefault(label_key(label), []).append(label)
    return {key: tuple(labels) for key, labels in found.items()}


def _options(copies: tuple[str, ...], control: Control | None, scenario: Pack) -> Iterator[Drops]:
    """Yield what may happen to the copies of one control, None for one that has to stay."""
    failing = policy_failing(copies, scenario)
    yield Drops(failing=failing, controls=len(copies))
    if control is None:
        return
    for gone in range(1, len(copies)):
        changes = tuple(_copy_dropped(label, len(copies)) for label in copies[:gone])
        stay = copies[gone:]
        yield Drops(changes, policy_failing(stay, scenario), controls=len(stay))
    yield Drops(tuple(dropping(label, control) for label in copies), loss=1)


def _joined(one: Drops, other: Drops) -> Drops:
    return Drops(
        (*one.changes, *other.changes),
        one.failing | other.failing,
        one.loss + other.loss,
        one.controls + other.controls,
    )


def _unbeaten(found: list[Drops]) -> list[Drops]:
    kept: list[Drops] = []
    for drop in sorted(found, key=lambda d: (len(d.failing), d.loss, d.controls, len(d.changes))):
        if not any(better.beats(drop) for better in kept):
            kept.append(drop)
    return kept


def dropping(label: str, control: Control) -> SuggestionChange:
    """Return the change that drops a control, with what it protected against.

    Its reason is told once the whole plan is known (`planner.dropping`).
    """
    return SuggestionChange(
        field="controls",
        original=label,
        revised=DROPPED,
        reason="Without it less has to be given up.",
        tradeoff=f"No longer protects against {control.protects_against}.",
    )


def _copy_dropped(label: str, copies: int) -> SuggestionChange:
    return SuggestionChange(
        field="controls",
        original=label,
        revised=DROPPED,
        reason=f"The plan lists it {copies} times, and it is billed so.",
        tradeoff="Nothing; the control is still in the plan.",
    )
