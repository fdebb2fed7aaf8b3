"""Which substitutions a plan has made.

The study's items that the plan does not list are assigned to the alternatives that it does list:
as many as possible are covered, then with the least loss, then in the study file's order.
Source: docs/methods.md, Fidelity.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from replicalab.lexicon import label_key
from replicalab.scenarios import AllowedSubstitution


class _Row(NamedTuple):
    """A substitution that a plan may have made.

    The sum of the costs orders sets of rows by loss, then by file order: the bits below the loss
    say which rows are taken, the first in the highest bit, so that of two sets with the same loss
    the one that takes the earlier row costs less.
    """

    original: str
    alternative: str
    cost: int


def used_substitutions(
    listed: Collection[str], rows: Sequence[AllowedSubstitution]
) -> list[AllowedSubstitution]:
    """Return those of the substitutions that a plan has made which lists items of these keys."""
    possible = [
        (row, label_key(row.original), label_key(row.alternative))
        for row in rows
        if label_key(row.alternative) in listed and label_key(row.original) not in listed
    ]
    alike = len({o for _, o, _ in possible}) == len({a for _, _, a in possible}) == len(possible)
    if alike:  # each stands for one item and each item has one: nothing to choose
        return [row for row, _, _ in possible]
    most = len(possible)
    chosen = _assigned(
        [
            _Row(original, other, (row.fidelity_loss << most) - (1 << (most - 1 - place)))
            for place, (row, original, other) in enumerate(possible)
        ]
    )
    return [possible[place][0] for place in sorted(chosen)]


def _assigned(rows: list[_Row]) -> set[int]:
    """Return the places of the rows of the cheapest assignment that covers most originals."""
    # It grows by one original at a time, each time along the cheapest path that frees an
    # alternative (successive shortest paths), so that it is the cheapest of its size throughout.
    taken: dict[str, int] = {}  # alternative -> place of the row that takes it
    while (path := _cheapest_path(rows, taken)) is not None:
        for place in path:  # later rows take over what the rows before them let go
            taken[rows[place].alternative] = place
    return set(taken.values())


def _cheapest_path(rows: list[_Row], taken: dict[str, int]) -> list[int] | None:
    """Return the rows to take so that one original more is covered, None where none can be."""
    # Bellman-Ford over the originals: an original is reached by taking its alternative from it.
    covered = {rows[place].original for place in taken.values()}
    best: dict[str, tuple[int, list[int]]] = {
        row.original: (0, []) for row in rows if row.original not in covered
    }
    changed = True
    while changed:
        changed = False
        for place, row in enumerate(rows):
            holder = taken.get(row.alternative)
            if row.original not in best or holder is None or holder == place:
                continue
            cost, path = best[row.original]
            further = (cost + row.cost - rows[holder].cost, [*path, place])
            freed = rows[holder].original
            if freed not in best or further[0] < best[freed][0]:
                best[freed], changed = further, True
    ends = [
        (best[row.original][0] + row.cost, [*best[row.original][1], place])
        for place, row in enumerate(rows)
        if row.alternative not in taken and row.original in best
    ]
    return min(ends)[1] if ends else None
