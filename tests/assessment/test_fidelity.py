"""What a plan gives up of the study, held against every assignment there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random

import pytest

from replicalab.assessment import used_substitutions
from replicalab.scenarios import AllowedSubstitution
from tests.factories import make_substitution
from tests.tiers import batches

ORIGINALS = ("lamp", "oven", "scale", "stove")
ALTERNATIVES = ("torch", "sun", "fire", "moon")


def swap(original: str, alternative: str, loss: int = 1) -> AllowedSubstitution:
    return make_substitution(original=original, alternative=alternative, fidelity_loss=loss)


def assignments(rows: Sequence[AllowedSubstitution]) -> Iterator[tuple[int, ...]]:
    """Yield the places of every set of rows in which no item and no alternative stands twice."""
    for size in range(len(rows) + 1):
        for places in combinations(range(len(rows)), size):
            originals = {rows[place].original for place in places}
            alternatives = {rows[place].alternative for place in places}
            if len(originals) == len(alternatives) == size:
                yield places


def expected(listed: set[str], rows: list[AllowedSubstitution]) -> list[AllowedSubstitution]:
    """Return what the rule says, of all assignments: most covered, least loss, earliest rows."""
    open_ = [row for row in rows if row.alternative in listed and row.original not in listed]

    def order(places: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
        return -len(places), sum(open_[p].fidelity_loss for p in places), places

    return [open_[place] for place in min(assignments(open_), key=order)]


@pytest.mark.parametrize("first", batches(250, short=1, long=20))
def test_assignment_is_the_best_of_all(first: int) -> None:
    for seed in range(first, first + 250):
        rng = Random(seed)
        rows = [
            swap(rng.choice(ORIGINALS), rng.choice([*ALTERNATIVES, *ORIGINALS]), rng.randint(0, 3))
            for _ in range(rng.randint(0, 9))
        ]
        rows = [row for row in rows if row.original != row.alternative]
        listed = set(rng.sample([*ORIGINALS, *ALTERNATIVES], rng.randint(0, 6)))
        assert used_substitutions(listed, rows) == expected(listed, rows), seed


def test_assignment_of_eighty_rows() -> None:
    rows = [swap(f"item {n // 2}", f"other {n * 7 % 40}", n % 4) for n in range(80)]
    used = used_substitutions({f"other {n}" for n in range(40)}, rows)
    assert len({row.original for row in used}) == len({row.alternative for row in used}) > 30
