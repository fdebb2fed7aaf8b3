"""The ways to word a plan: which items are substituted, and which controls are dropped.

Items tied by a chain of substitutions are one *component*, since two may share an alternative. Of
very many combinations only the best assignments are tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import prod
from typing import Final, NamedTuple

from replicalab import assessment
from replicalab.assessment.dimensions import DROPPED, SuggestionChange, change_of, substitution
from replicalab.lexicon import label_key
from replicalab.limits import MOST_COMBINATIONS, MOST_VARIANTS
from replicalab.models import Dimension, Protocol
from replicalab.scenarios import AllowedSubstitution, Item, ItemStatus, Pack

_UNKNOWN_LOSS: Final = "The control; its purpose is not given."
_NONE: Final[frozenset[str]] = frozenset()


class Swap(NamedTuple):
    """A substitution of an item."""

    item: Item
    alternative: str


class PlanVariant(NamedTuple):
    """One way to word a plan, or a part of it: some of its items, or its controls."""

    failing: frozenset[str] = _NONE  # dimensions that fail whatever the numbers
    controls: int = 0  # the controls that stay; 0 in a part without controls
    loss: int = 0  # the fidelity loss of its substitutions, and 1 for each dropped control
    factor: float = 1.0  # the share of the effect that its substitutions leave, in (0, 1]
    swaps: tuple[Swap, ...] = ()
    gone: tuple[str, ...] = ()  # the labels of controls that go, in order
    dropped: frozenset[str] = frozenset()  # the keys of those of which no copy stays
    price: float = 0.0  # the credits that its swaps add to the items' cost; negative if they save
    instruments: frozenset[str] = frozenset()  # replaceable equipment, if relevant

    def counts(self, before: assessment.Counts) -> assessment.Counts:
        own_prices = before.own_prices + self.price
        return before._replace(controls=self.controls, own_prices=own_prices)

    @property
    def fields(self) -> frozenset[str]:
        gone = ["controls"] if self.gone else []
        return frozenset([*(swap.item.field for swap in self.swaps), *gone])

    def combined(self, other: PlanVariant) -> PlanVariant:
        return PlanVariant(
            self.failing | other.failing,
            self.controls + other.controls,
            self.loss + other.loss,
            self.factor * other.factor,
            (*self.swaps, *other.swaps),
            (*self.gone, *other.gone),
            self.dropped | other.dropped,
            self.price + other.price,
            self.instruments | other.instruments,
        )

    def applied_to(self, plan: Protocol, **numbers: int) -> Protocol:
        """Return the plan worded so, perhaps with other numbers."""
        fields = plan.model_dump() | numbers
        for item, alternative in self.swaps:
            labels = fields[item.field]
            fields[item.field] = [alternative if x == item.label else x for x in labels]
        for label in self.gone:
            fields["controls"].remove(label)
        return Protocol.model_validate(fields)

    def changes(self, pack: Pack) -> list[SuggestionChange]:
        controls = {label_key(control.name): control for control in pack.controls}
        changes = [
            substitution(*swap, pack, _cause(*swap, pack))
            for swap in self.swaps
            for _ in range(swap.item.times)
        ]
        for label in self.gone:
            reason = "The plan lists it more than once, and it is billed so."
            tradeoff = "Nothing; the control is still in the plan."
            if (key := label_key(label)) in self.dropped:
                # The reason is another once the whole plan is known.
                reason = "Without it less has to be given up."
                guards = controls[key].guards
                tradeoff = f"No longer protects against {guards}." if guards else _UNKNOWN_LOSS
            changes.append(change_of("controls", label, DROPPED, reason, tradeoff))
        return changes


def _cause(item: Item, alternative: str, pack: Pack) -> str | None:
    if item.status is not ItemStatus.AVAILABLE:
        return None
    if _forbidden([item.label], pack):
        return f"A restriction forbids '{item.label}'"
    if (saved := -_added(item, alternative, pack)) > 0:
        return f"'{alternative}' costs {pack.lab.money(saved)} less here"
    return f"With '{alternative}' less of the study is given up"


def _added(item: Item, alternative: str, pack: Pack) -> float:
    return pack.price(alternative, item.category) - pack.price(item.label, item.category)


def price_range(plan: assessment.Assessment) -> tuple[float, float]:
    """Return the least and the most cost that substitutions can add."""
    if not plan.pack.lab.prices:
        return 0.0, 0.0
    added = [
        [0.0]
        + [
            item.times * _added(item, row.alternative, plan.pack)
            for row in plan.pack.allowed_substitutions
            if label_key(row.original) == item.key
        ]
        for item in plan.items
    ]
    return sum(map(min, added)), sum(map(max, added))


class PlanVariants(NamedTuple):
    """The variants of a plan that matter; ``exact`` is False if some may be missing."""

    listed: tuple[PlanVariant, ...]
    exact: bool = True


def variants_of(plan: assessment.Assessment, *, by_instruments: bool = False) -> PlanVariants:
    """Return the ways to word a plan that no other beats in every respect."""
    stated = PlanVariant(_forbidden([plan.plan.technique, plan.plan.rationale], plan.pack))
    items, controls = _items(plan, by_instruments), control_variants(plan)
    room = max(1, MOST_VARIANTS // len(controls))
    variants = tuple(
        stated.combined(part).combined(rest) for part in items.listed[:room] for rest in controls
    )
    return PlanVariants(variants, items.exact and len(items.listed) <= room)


def _forbidden(texts: Sequence[str], pack: Pack) -> frozenset[str]:
    rows = assessment.DIMENSION_ROWS.items()
    return frozenset(key for key, row in rows if row.forbids and row.forbids(texts, pack))


def _item_failing(items: Sequence[Item], pack: Pack) -> frozenset[str]:
    failing, item = _forbidden([entry.label for entry in items], pack), items[0]
    if item.status is not ItemStatus.AVAILABLE:
        failing |= {assessment.ITEM_DIMENSIONS[item.category]}
        if item.status is not ItemStatus.UNKNOWN and not item.options:
            failing |= {Dimension.PROTOCOL}
    return failing


class _Need(NamedTuple):
    key: str
    items: list[Item]  # one for each spelling, as the plan lists it
    failing: frozenset[str]  # the dimensions that fail while it stays
    options: dict[str, frozenset[str]]  # with the dimensions that fail by each
    prices: dict[str, float]  # the credits that each alternative adds to the cost


def _items(plan: assessment.Assessment, by_instruments: bool) -> PlanVariants:
    rows, listed = plan.pack.allowed_substitutions, {label_key(i.label) for i in plan.items}
    needs, decided = _needs(plan, listed, by_instruments)
    variants, exact = [PlanVariant(decided)], True
    components = list(_components(needs, rows))
    for keys, tied in components:
        substitutions = [row for row in rows if label_key(row.original) in keys]
        component = _component(tied, substitutions, listed & keys, by_instruments)
        variants = _pareto(one.combined(other) for one in variants for other in component.listed)
        exact, most = exact and component.exact, MOST_VARIANTS // len(components)
        if len(variants) > most and (by_instruments or any(one.price for one in variants)):
            cheapest = sorted(variants, key=lambda one: one.price)
            few = _pareto([*variants[: most // 2], *cheapest[: most // 2]])
            exact, variants = exact and len(few) == len(variants), few
    return PlanVariants(tuple(variants), exact)


def _needs(
    plan: assessment.Assessment, listed: set[str], by_instruments: bool
) -> tuple[list[_Need], frozenset[str]]:
    groups, inventory = dict[tuple[str, str], list[Item]](), plan.pack.inventory
    for item in plan.items:
        groups.setdefault((item.field, label_key(item.label)), []).append(item)
    needs, spare, decided = list[_Need](), list[_Need](), _NONE
    for (_, key), items in groups.items():
        failing, first = _item_failing(items, plan.pack), items[0]
        options = {  # an item of the other kind is none that the lab has, nor is what replaces it
            alternative: _item_failing(inventory.items([alternative], first.category), plan.pack)
            for alternative in inventory.alternatives(first.label)
            if label_key(alternative) not in listed
        }
        if options:
            times = sum(item.times for item in items)
            prices = {option: times * _added(first, option, plan.pack) for option in options}
            frees = by_instruments and first.category == "equipment"
            useful = failing or frees or min(prices.values()) < 0
            need = _Need(key, items, failing, options, prices)
            (needs if useful else spare).append(need)
        else:
            decided |= failing
    # Replacing a passing item by nothing cheaper gains only if it changes what other substitutions
    # count as, since the fidelity lost follows from all items of the finished plan.
    rows = plan.pack.allowed_substitutions
    pairs = [(label_key(row.original), label_key(row.alternative)) for row in rows]
    gone = {original for original, _ in pairs} - listed | {need.key for need in needs}
    while bearing := [need for need in spare if _bears_on(gone, need, pairs)]:
        needs += bearing
        gone |= {need.key for need in bearing}
        spare = [need for need in spare if need not in bearing]
    return needs, decided


def _bears_on(gone: set[str], need: _Need, pairs: Sequence[tuple[str, str]]) -> bool:
    # It does if an alternative was gone, or if one or the item replaces an item that is gone.
    come = {alternative for original, alternative in pairs if original == need.key}
    return bool(come & gone) or any(
        alternative in come | {need.key} and original in gone for original, alternative in pairs
    )


def _components(
    needs: Sequence[_Need], rows: Sequence[AllowedSubstitution]
) -> Iterator[tuple[set[str], list[_Need]]]:
    # The labels without a need are one further component: substitutions already made.
    pairs = [{label_key(row.original), label_key(row.alternative)} for row in rows]
    rest = list(needs)
    while rest:
        keys = {rest[0].key}
        while tied := [pair for pair in pairs if pair & keys]:
            pairs = [pair for pair in pairs if not pair & keys]
            keys = keys.union(*tied)
        yield keys, [need for need in rest if need.key in keys]
        rest = [need for need in rest if need.key not in keys]
    if pairs:
        yield set[str]().union(*pairs), []


def _component(
    needs: Sequence[_Need],
    rows: Sequence[AllowedSubstitution],
    listed: set[str],
    by_instruments: bool,
) -> PlanVariants:
    def decided(taken: Sequence[str | None]) -> PlanVariant | None:
        failing, swaps, price = _NONE, list[Swap](), 0.0
        stay, gone, come = set[str](), set[str](), list[str]()
        for need, alternative in zip(needs, taken, strict=True):
            if alternative is None:
                failing |= need.failing
                stay.add(need.key)
            else:
                failing |= need.options[alternative]
                price += need.prices[alternative]
                swaps += [Swap(item, alternative) for item in need.items]
                gone.add(need.key)
                come.append(label_key(alternative))
        if len(set(come)) < len(come):
            return None  # two needs cannot share an alternative
        used = assessment.used_substitutions((listed - gone) | stay | {*come}, rows)
        loss, factor = sum(r.fidelity_loss for r in used), prod(r.evidence_factor for r in used)
        assigned = zip(needs, taken, strict=True) if by_instruments else ()
        return PlanVariant(
            failing,
            loss=loss,
            factor=factor,
            swaps=tuple(swaps),
            price=price,
            instruments=frozenset(
                need.key if alternative is None else label_key(alternative)
                for need, alternative in assigned
                if need.items[0].category == "equipment"
            ),
        )

    exact = prod(len(need.options) + 1 for need in needs) <= MOST_COMBINATIONS
    tried: Iterable[tuple[str | None, ...]] = product(*([None, *n.options] for n in needs))
    variants = map(decided, tried if exact else _best_assignments(needs, rows))
    return PlanVariants(tuple(_pareto(part for part in variants if part is not None)), exact)


def _best_assignments(
    needs: Sequence[_Need], rows: Sequence[AllowedSubstitution]
) -> Iterator[tuple[str | None, ...]]:
    # If there are too many: none, and those that cover most needs of equipment, of reagents or of
    # both with the least loss. Replacing only some of one kind leaves its dimension failing.
    yield (None,) * len(needs)
    for categories in ({"equipment"}, {"reagent"}, {"equipment", "reagent"}):
        wanted = [need for need in needs if need.items[0].category in categories]
        keys = {need.key for need in wanted}
        offered = {label_key(option) for need in wanted for option in need.options}
        substitutions = [row for row in rows if label_key(row.original) in keys]
        used = assessment.used_substitutions(offered, substitutions)
        pairs = {(label_key(row.original), label_key(row.alternative)) for row in used}
        yield tuple(
            next((a for a in need.options if (need.key, label_key(a)) in pairs), None)
            if need in wanted
            else None
            for need in needs
        )


def _pareto(candidates: Iterable[PlanVariant]) -> list[PlanVariant]:
    def order(part: PlanVariant) -> tuple[float, ...]:
        fields, labels = len(part.fields), len(part.swaps) + len(part.gone)
        return len(part.failing), part.loss, -part.factor, fields, part.price, labels

    variants: list[PlanVariant] = []
    for one in sorted(candidates, key=order):
        fields = one.fields
        if not any(
            better.price <= one.price
            and better.failing <= one.failing
            and better.loss <= one.loss
            and better.factor >= one.factor
            and better.fields <= fields
            and better.instruments <= one.instruments
            for better in variants
        ):
            variants.append(one)
    return variants


def control_variants(plan: assessment.Assessment) -> list[PlanVariant]:
    """Return the sets of controls that may go: copies first, then in the plan's order."""
    droppable = {label_key(control.name) for control in plan.pack.controls if control.droppable}
    copies: dict[str, list[str]] = {}
    for label in plan.plan.controls:
        copies.setdefault(label_key(label), []).append(label)
    broken = {
        key: fails for key, labels in copies.items() if (fails := _forbidden(labels, plan.pack))
    }
    may_go = [key for key in copies if key in droppable]

    def chain(first: list[str]) -> Iterator[PlanVariant]:
        # Without the controls that go first, then one label fewer each time
        others = [key for key in may_go if key not in first]
        steps = [[(key, label) for key in first for label in copies[key]]]
        steps += [[(key, label)] for key in others for label in copies[key][:-1]]
        steps += [[(key, copies[key][-1])] for key in others]
        gone: list[tuple[str, str]] = []
        for step in steps:
            gone += step
            times = Counter(key for key, _ in gone)
            dropped = frozenset(key for key in times if times[key] == len(copies[key]))
            yield PlanVariant(
                _NONE.union(*(fails for key, fails in broken.items() if key not in dropped)),
                controls=plan.counts.controls - len(gone),
                loss=len(dropped),
                gone=tuple(label for _, label in gone),
                dropped=dropped,
            )

    # Policy passes only where every forbidden name goes, so a second chain begins with them.
    forbidden = [key for key in may_go if key in broken] if broken.keys() <= droppable else []
    return [*dict.fromkeys([*chain([]), *chain(forbidden)])]
