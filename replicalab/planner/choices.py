"""How a plan may be worded otherwise: allowed substitutions of missing items, droppable controls.

Each item that this lab lacks may stay or give way to a usable alternative; each droppable control
may stay or go. Every combination is a `Choice`; those that another beats in every respect are
left out as they arise, so that their number stays small and nothing is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from replicalab.agents.feasibility import needs, replacements
from replicalab.agents.suggestions import DROPPED, SuggestionChange, substitution
from replicalab.labels import label_key
from replicalab.models import Dimension, Protocol, Wording, wording_of
from replicalab.policy import wording_violations
from replicalab.scenarios.inventory import ItemStatus
from replicalab.scenarios.models import AllowedSubstitution, NormalizedScenarioPack

_NOTHING: Final = Wording("", "", (), (), ())


@dataclass(frozen=True)
class Choice:
    """One way to word the plan.

    Attributes:
        changes: from the original wording to this one.
        failing: the dimensions that fail because of the wording, whatever the numbers.
        controls: how many controls stay.
        loss: the fidelity that the changes give up.
        factor: what the changes leave of the effect, in (0, 1].
        taken: alternatives that no other item may take any more.
        apart: choices that cannot be compared with others, since they share alternatives.
    """

    changes: tuple[SuggestionChange, ...]
    failing: frozenset[Dimension]
    controls: int
    loss: int = 0
    factor: float = 1.0
    taken: frozenset[str] = frozenset()
    apart: tuple[str, ...] = ()

    def beats(self, other: Choice) -> bool:
        """Return whether this is at least as good in every respect."""
        return (
            self.failing <= other.failing
            and self.controls <= other.controls
            and self.loss <= other.loss
            and self.factor >= other.factor
            and len(self.changes) <= len(other.changes)
            and self.apart == other.apart
        )


def choices(protocol: Protocol, scenario: NormalizedScenarioPack) -> list[Choice]:
    """Return every way to word the plan that no other way beats in every respect."""
    wording = wording_of(protocol)
    stated = _NOTHING._replace(technique=wording.technique, rationale=wording.rationale)
    found = [Choice((), _policy_failing(stated, scenario), len(wording.controls))]
    for need in _distinct_needs(wording):
        options = [each for choice in found for each in _item_options(choice, need, scenario)]
        found = _unbeaten(options)
    droppable = {label_key(c.name) for c in scenario.controls if c.droppable}
    for key in dict.fromkeys(map(label_key, wording.controls)):
        stay = [label for label in wording.controls if label_key(label) == key]
        kept = [_with_control(choice, stay[0], scenario) for choice in found]
        gone = [_without_control(choice, stay, scenario) for choice in found]
        found = _unbeaten([*kept, *gone] if key in droppable else kept)
    return found


def _policy_failing(wording: Wording, scenario: NormalizedScenarioPack) -> frozenset[Dimension]:
    broken = wording_violations(wording, scenario.policy_rules)
    return frozenset({Dimension.POLICY}) if broken else frozenset()


class _Need(NamedTuple):
    """An item that the plan needs: every label that names it, and what else the plan lists."""

    field: str
    category: str
    labels: tuple[str, ...]
    listed: frozenset[str]


def _distinct_needs(wording: Wording) -> list[_Need]:
    listed = frozenset(label_key(label) for _, _, label in needs(wording))
    same: dict[tuple[str, str, str], list[str]] = {}
    for field, category, label in needs(wording):
        same.setdefault((field, category, label_key(label)), []).append(label)
    return [
        _Need(field, category, tuple(labels), listed)
        for (field, category, _), labels in same.items()
    ]


def _item_options(
    choice: Choice, need: _Need, scenario: NormalizedScenarioPack
) -> Iterator[Choice]:
    """Yield the choice with the item kept, and with each alternative that nothing else uses."""
    label = need.labels[0]
    shared = _is_shared(label, scenario)
    mark = (*choice.apart, f"{need.field}:{label_key(label)}") if shared else choice.apart
    failing = choice.failing | _item_failing(need.category, label, scenario)
    yield replace(choice, failing=failing, apart=mark)
    for alternative in replacements(label, need.category, scenario):
        key = label_key(alternative)
        if key in need.listed or key in choice.taken:
            continue
        allowed = _allowed(label, alternative, scenario)
        changes = (
            substitution(need.field, need.category, each, alternative, scenario)
            for each in need.labels
        )
        yield replace(
            choice,
            changes=(*choice.changes, *changes),
            failing=choice.failing | _item_failing(need.category, alternative, scenario),
            loss=choice.loss + allowed.fidelity_loss,
            factor=choice.factor * allowed.evidence_factor,
            taken=choice.taken | {key},
            apart=(*mark, key) if shared else choice.apart,
        )


def _is_shared(label: str, scenario: NormalizedScenarioPack) -> bool:
    """Return whether an alternative of the item plays a part for another item too."""
    mine = {label_key(a) for a in scenario.inventory.alternatives(label)}
    others = (
        s for s in scenario.allowed_substitutions if label_key(s.original) != label_key(label)
    )
    return any(label_key(s.alternative) in mine or label_key(s.original) in mine for s in others)


def _allowed(label: str, alternative: str, scenario: NormalizedScenarioPack) -> AllowedSubstitution:
    return next(
        s
        for s in scenario.allowed_substitutions
        if label_key(s.original) == label_key(label) and s.alternative == alternative
    )


def _item_failing(
    category: str, label: str, scenario: NormalizedScenarioPack
) -> frozenset[Dimension]:
    """Return the dimensions that fail because the plan lists this item."""
    alone = _NOTHING._replace(equipment=(label,))
    failing = set(_policy_failing(alone, scenario))
    status = scenario.inventory.status(label, category)
    if status is not ItemStatus.AVAILABLE:
        failing.add(Dimension.EQUIPMENT if category == "equipment" else Dimension.REAGENTS)
        if status is not ItemStatus.UNKNOWN and not scenario.inventory.alternatives(label):
            failing.add(Dimension.PROTOCOL)
    return frozenset(failing)


def _with_control(choice: Choice, label: str, scenario: NormalizedScenarioPack) -> Choice:
    failing = _policy_failing(_NOTHING._replace(controls=(label,)), scenario)
    return replace(choice, failing=choice.failing | failing)


def _without_control(choice: Choice, labels: list[str], scenario: NormalizedScenarioPack) -> Choice:
    return replace(
        choice,
        changes=(*choice.changes, *(dropping(label, scenario) for label in labels)),
        controls=choice.controls - len(labels),
        loss=choice.loss + 1,
    )


def dropping(label: str, scenario: NormalizedScenarioPack) -> SuggestionChange:
    """Return the change that drops a control, with what it protected against."""
    control = next(c for c in scenario.controls if label_key(c.name) == label_key(label))
    return SuggestionChange(
        field="controls",
        original=label,
        revised=DROPPED,
        reason="Without it the plan reaches more evidence, or fits a limit that it breaks.",
        tradeoff=f"No longer protects against {control.protects_against}.",
    )


def _unbeaten(found: list[Choice]) -> list[Choice]:
    kept: list[Choice] = []
    for choice in sorted(found, key=_promise):
        if not any(better.beats(choice) for better in kept):
            kept.append(choice)
    return kept


def _promise(choice: Choice) -> tuple[int, int, float, int, int]:
    """Return a key by which no choice comes before one that beats it."""
    return (
        len(choice.failing),
        choice.loss,
        -choice.factor,
        choice.controls,
        len(choice.changes),
    )
