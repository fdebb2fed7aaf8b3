"""How a plan may be worded otherwise: which items give way to what, and which controls go.

An item that fails a check, because the lab lacks it or a restriction forbids its name, may stay or
give way to an alternative; of each droppable control every copy may stay or go. What the numbers
of a plan can do depends on a wording only through five respects: the dimensions that fail whatever
the numbers, the fidelity lost, what is left of the effect, how many controls stay, and how many
changes it takes. So of all wordings only those matter that no other beats in every respect.

**Items.** An item that fails nothing may give way as well, where that bears on what else the plan
has substituted; so a lab that releases an item never makes the best plan worse. Two items may
share an alternative, which only one of them can take, and the loss is told from what the finished
plan lists. Items that are tied by a chain of substitutions are one *component*; nothing in one
component bears on another. Within a component every combination is tried, or where there are too
many, only the best assignments; the answers of the components are then combined, and the beaten
ones left out after each.

**Controls.** Equal labels are one control with a count. A further copy costs no fidelity, so
copies go before any control does; among controls that may go, all cost the same, so they go in
the plan's order. That leaves one chain of wordings, and a second one that begins with all controls
whose names break a restriction.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Final, NamedTuple

from replicalab.agents.suggestions import DROPPED, SuggestionChange, substitution
from replicalab.assessment import Assessment, Item, used_substitutions, violations
from replicalab.lexicon import label_key, words_of
from replicalab.models import Dimension
from replicalab.scenarios import AllowedSubstitution, Control, ItemStatus, Pack

MOST_COMBINATIONS: Final = 500
"""So many combinations of a component's items are tried; of more, only the best assignments."""
MOST_WORDINGS: Final = 2000
"""So many wordings are looked at; of more, the most promising ones."""

_DIMENSION_OF: Final = {"equipment": Dimension.EQUIPMENT, "reagent": Dimension.REAGENTS}
_NONE: Final[frozenset[Dimension]] = frozenset()


class Swap(NamedTuple):
    """An item that gives way to an alternative."""

    item: Item
    alternative: str


@dataclass(frozen=True)
class Wording:
    """One way to word a plan.

    Attributes:
        failing: the dimensions that fail because of the wording, whatever the numbers.
        controls: how many controls stay.
        loss: the fidelity that its substitutions give up, and 1 for each control that goes.
        factor: what its substitutions leave of the effect, in (0, 1].
        swaps: the items that give way.
        gone: the labels of controls that go, in the plan's order.
        dropped: the keys of those of which no copy stays.
    """

    failing: frozenset[Dimension]
    controls: int
    loss: int = 0
    factor: float = 1.0
    swaps: tuple[Swap, ...] = ()
    gone: tuple[str, ...] = ()
    dropped: frozenset[str] = frozenset()

    @property
    def changed(self) -> int:
        """How many labels of the plan change."""
        return sum(swap.item.times for swap in self.swaps) + len(self.gone)

    def changes(self, pack: Pack) -> list[SuggestionChange]:
        """Return the changes that lead from the plan to it."""
        known = {label_key(control.name): control for control in pack.controls}
        swaps = (
            substitution(swap.item, swap.alternative, pack, _cause(swap, pack))
            for swap in self.swaps
            for _ in range(swap.item.times)
        )
        drops = (
            _dropping(label, known[label_key(label)], last=label_key(label) in self.dropped)
            for label in self.gone
        )
        return [*swaps, *drops]


class Wordings(NamedTuple):
    """The wordings of a plan that matter; ``exact`` is False where some may be missing."""

    found: tuple[Wording, ...]
    exact: bool = True


def wordings(plan: Assessment) -> Wordings:
    """Return the ways to word a plan; of those left out, one here is as good in every respect."""
    items, drops = _items(plan), _drops(plan)
    stated = [text for name, text in plan.texts if name in ("technique", "rationale")]
    base = _policy(stated, plan.pack)
    room = max(1, MOST_WORDINGS // len(drops))
    found = tuple(
        Wording(
            base | item.failing | drop.failing,
            drop.controls,
            item.loss + drop.loss,
            item.factor,
            item.swaps,
            drop.gone,
            drop.dropped,
        )
        for item in items.found[:room]
        for drop in drops
    )
    return Wordings(found, items.exact and len(items.found) <= room)


def _policy(texts: Iterable[str], pack: Pack) -> frozenset[Dimension]:
    """Return policy, if any of these texts breaks a restriction."""
    said = [("", text) for text in texts]
    words = words_of("\n".join(text for _, text in said))
    return frozenset({Dimension.POLICY}) if violations(said, words, pack.policy_rules) else _NONE


# --- items ----------------------------------------------------------------------------------


class _Need(NamedTuple):
    """An item under all labels that name it, that may be replaced.

    Attributes:
        key: of its label.
        items: one for each spelling, as the plan lists it.
        failing: what fails while it stays.
        options: what may take its place, and what fails because of that.
    """

    key: str
    items: tuple[Item, ...]
    failing: frozenset[Dimension]
    options: tuple[tuple[str, frozenset[Dimension]], ...]


class _Choice(NamedTuple):
    """Some needs decided: what fails, what is lost, what is left of the effect, and how."""

    failing: frozenset[Dimension] = _NONE
    loss: int = 0
    factor: float = 1.0
    swaps: tuple[Swap, ...] = ()

    @property
    def changed(self) -> int:
        return sum(swap.item.times for swap in self.swaps)


class _Choices(NamedTuple):
    found: list[_Choice]
    exact: bool = True


def _items(plan: Assessment) -> _Choices:
    """Return the ways to replace what fails, without those that another beats."""
    needs, fixed = _needs(plan)
    rows = plan.pack.allowed_substitutions
    listed = {label_key(item.label) for item in plan.items}
    found, exact = [_Choice(failing=fixed)], True
    for keys, component in _components(needs, rows):
        options = _component(component, [row for row in rows if label_key(row.original) in keys],
                             listed & keys)  # fmt: skip
        exact = exact and options.exact
        found = _unbeaten(_both(one, other) for one in found for other in options.found)
    return _Choices(found, exact)


def _needs(plan: Assessment) -> tuple[list[_Need], frozenset[Dimension]]:
    """Return what may be replaced, and what fails because of all that has to stay."""
    needs: list[_Need] = []
    spare: list[_Need] = []
    fixed = _NONE
    listed = {label_key(item.label) for item in plan.items}
    for items in _groups(plan):
        failing = _item_failing(items, plan.pack)
        options = {
            alternative: _policy([alternative], plan.pack)
            for alternative in plan.pack.inventory.alternatives(items[0].label)
            if label_key(alternative) not in listed
        }
        if options:
            need = _Need(label_key(items[0].label), items, failing, tuple(options.items()))
            (needs if failing else spare).append(need)
        else:
            fixed |= failing
    # What fails nothing is worth replacing only where that may bear on what else the plan has
    # substituted, from which the fidelity lost is told.
    gone = {label_key(row.original) for row in plan.pack.allowed_substitutions} - listed
    gone |= {need.key for need in needs}
    while useful := [need for need in spare if _bears_on(gone, need, plan.pack)]:
        needs += useful
        gone |= {need.key for need in useful}
        spare = [need for need in spare if need not in useful]
    return needs, fixed


def _bears_on(gone: set[str], need: _Need, pack: Pack) -> bool:
    """Return whether replacing an item may end, or newly cover, the want of others that are gone.

    So it is where what comes was gone, or where it or the item is an alternative to what is.
    """
    come = {label_key(alternative) for alternative, _ in need.options}
    return bool(come & gone) or any(
        label_key(row.alternative) in come | {need.key} and label_key(row.original) in gone
        for row in pack.allowed_substitutions
    )


def _groups(plan: Assessment) -> Iterator[tuple[Item, ...]]:
    """Yield each item of the plan under all its spellings."""
    groups: dict[tuple[str, str], list[Item]] = {}
    for item in plan.items:
        groups.setdefault((item.field, label_key(item.label)), []).append(item)
    return map(tuple, groups.values())


def _item_failing(items: Sequence[Item], pack: Pack) -> frozenset[Dimension]:
    """Return the dimensions that fail because a plan lists an item under these labels."""
    failing, item = set(_policy([item.label for item in items], pack)), items[0]
    if item.status is not ItemStatus.AVAILABLE:
        failing.add(_DIMENSION_OF[item.category])
        if item.status is not ItemStatus.UNKNOWN and not item.options:
            failing.add(Dimension.PROTOCOL)
    return frozenset(failing)


def _components(
    needs: Sequence[_Need], rows: Sequence[AllowedSubstitution]
) -> Iterator[tuple[set[str], list[_Need]]]:
    """Yield the labels that substitutions tie together, with the needs among them.

    The labels that no need is among are one component more: what the plan has substituted already.
    """
    left = [{label_key(row.original), label_key(row.alternative)} for row in rows]
    open_needs = list(needs)
    while open_needs:
        keys = {open_needs[0].key}
        while tied := [pair for pair in left if pair & keys]:
            left = [pair for pair in left if not pair & keys]
            keys = keys.union(*tied)
        yield keys, [need for need in open_needs if need.key in keys]
        open_needs = [need for need in open_needs if need.key not in keys]
    if left:
        yield set[str]().union(*left), []


def _component(
    needs: Sequence[_Need], rows: Sequence[AllowedSubstitution], listed: set[str]
) -> _Choices:
    """Return the ways to replace the needs of one component, without those that another beats."""
    number = math.prod(len(need.options) + 1 for need in needs)
    if number <= MOST_COMBINATIONS:
        decided: Iterable[tuple[int, ...]] = product(
            *(range(-1, len(need.options)) for need in needs)
        )
    else:
        decided = _best_assignments(needs, rows)
    choices = (_chosen(needs, places, rows, listed) for places in decided)
    found = _unbeaten(choice for choice in choices if choice is not None)
    return _Choices(found, number <= MOST_COMBINATIONS)


def _chosen(
    needs: Sequence[_Need],
    places: Sequence[int],
    rows: Sequence[AllowedSubstitution],
    listed: set[str],
) -> _Choice | None:
    """Return what comes of deciding each need; None where two take one alternative.

    Args:
        needs: of one component.
        places: for each need the place of its option, -1 where it stays.
        rows: the component's substitutions.
        listed: what of the component the plan lists before.
    """
    failing, swaps = set[Dimension](), []
    gone, come = set[str](), list[str]()
    for need, place in zip(needs, places, strict=True):
        if place < 0:
            failing |= need.failing
            continue
        alternative, broken = need.options[place]
        failing |= broken
        swaps += [Swap(item, alternative) for item in need.items]
        gone.add(need.key)
        come.append(label_key(alternative))
    if len(set(come)) < len(come):
        return None
    kept = {need.key for need, place in zip(needs, places, strict=True) if place < 0}
    used = used_substitutions((listed - gone) | kept | {*come}, rows)
    return _Choice(
        frozenset(failing),
        sum(row.fidelity_loss for row in used),
        math.prod(row.evidence_factor for row in used),
        tuple(swaps),
    )


def _best_assignments(
    needs: Sequence[_Need], rows: Sequence[AllowedSubstitution]
) -> Iterator[tuple[int, ...]]:
    """Yield the decisions worth trying where there are too many: none, and all that can be.

    All needs of equipment, of reagents or of both are replaced by the assignment that covers most
    of them with the least loss. Replacing only some of one kind leaves its dimension failing.
    """
    yield (-1,) * len(needs)
    for categories in ({"equipment"}, {"reagent"}, {"equipment", "reagent"}):
        wanted = [need for need in needs if need.items[0].category in categories]
        keys = {need.key for need in wanted}
        offered = {label_key(each) for need in wanted for each, _ in need.options}
        used = used_substitutions(
            offered - keys, [r for r in rows if label_key(r.original) in keys]
        )
        taken = {label_key(row.original): label_key(row.alternative) for row in used}
        if taken:
            yield tuple(_place(need, taken) if need in wanted else -1 for need in needs)


def _place(need: _Need, taken: Mapping[str, str]) -> int:
    keys = [label_key(alternative) for alternative, _ in need.options]
    return keys.index(taken[need.key]) if taken.get(need.key) in keys else -1


def _both(one: _Choice, other: _Choice) -> _Choice:
    return _Choice(
        one.failing | other.failing,
        one.loss + other.loss,
        one.factor * other.factor,
        (*one.swaps, *other.swaps),
    )


def _unbeaten(found: Iterable[_Choice]) -> list[_Choice]:
    """Return the choices, best first, without those that another is as good as in every respect."""
    kept: list[_Choice] = []
    for one in sorted(found, key=lambda c: (len(c.failing), c.loss, -c.factor, c.changed)):
        if not any(
            better.failing <= one.failing
            and better.loss <= one.loss
            and better.factor >= one.factor
            and better.changed <= one.changed
            for better in kept
        ):
            kept.append(one)
    return kept


# --- controls -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Drop:
    """Some controls dropped."""

    failing: frozenset[Dimension]
    controls: int
    loss: int
    gone: tuple[str, ...]
    dropped: frozenset[str] = field(default_factory=frozenset)


def _drops(plan: Assessment) -> list[_Drop]:
    """Return the sets of controls that may go and matter: two chains, see above."""
    droppable = {label_key(c.name) for c in plan.pack.controls if c.droppable}
    copies: dict[str, list[str]] = {}
    for label in plan.plan.controls:
        copies.setdefault(label_key(label), []).append(label)
    broken = {key for key, labels in copies.items() if _policy(labels, plan.pack)}
    chain = _Chain(copies, broken)
    may_go = [key for key in copies if key in droppable]
    found = list(chain.from_here(may_go, []))
    forbidden = [key for key in may_go if key in broken]
    if forbidden and broken <= droppable:
        found += chain.from_here(may_go, forbidden)
    return found


@dataclass(frozen=True)
class _Chain:
    """The controls of a plan: the copies of each, and which names break a restriction."""

    copies: Mapping[str, list[str]]
    broken: set[str]

    def from_here(self, may_go: Sequence[str], gone: Sequence[str]) -> Iterator[_Drop]:
        """Yield the plan without the controls gone, then one label less each time."""
        others = [key for key in may_go if key not in gone]
        spare = [(key, label) for key in others for label in self.copies[key][:-1]]
        last = [(key, self.copies[key][-1]) for key in others]
        labels = [label for key in gone for label in self.copies[key]]
        dropped = [*gone]
        yield self._drop(labels, dropped)
        for _, label in spare:
            labels.append(label)
            yield self._drop(labels, dropped)
        for key, label in last:
            labels.append(label)
            dropped.append(key)
            yield self._drop(labels, dropped)

    def _drop(self, labels: Sequence[str], dropped: Sequence[str]) -> _Drop:
        stays = self.broken - {*dropped}
        return _Drop(
            failing=frozenset({Dimension.POLICY}) if stays else _NONE,
            controls=sum(map(len, self.copies.values())) - len(labels),
            loss=len(dropped),
            gone=tuple(labels),
            dropped=frozenset(dropped),
        )


def _cause(swap: Swap, pack: Pack) -> str | None:
    """Return why an item that the lab has gives way, None where its status says it."""
    if swap.item.status is not ItemStatus.AVAILABLE:
        return None
    if _policy([swap.item.label], pack):
        return f"A restriction forbids '{swap.item.label}'"
    return f"With '{swap.alternative}' less of the study is given up"


def _dropping(label: str, control: Control, *, last: bool) -> SuggestionChange:
    """Return the change that drops a control; its reason is told once the whole plan is known."""
    return SuggestionChange(
        field="controls",
        original=label,
        revised=DROPPED,
        reason="Without it less has to be given up."
        if last
        else "The plan lists it more than once, and it is billed so.",
        tradeoff=f"No longer protects against {control.protects_against}."
        if last
        else "Nothing; the control is still in the plan.",
    )
