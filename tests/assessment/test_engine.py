"""The check against a second engine, and substitutions against every assignment."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.assessment import assess, used_substitutions
from replicalab.models import DIMENSIONS, Protocol, revise
from replicalab.scenarios import AllowedSubstitution, Pack
from tests.factories import change_pack, make_study, make_substitution
from tests.planner.brute_force import cost_of, key, missing, staff_of
from tests.planner.small_labs import FORBIDDEN, small_lab
from tests.strategies import itemised_protocols, own_packs, studied_packs
from tests.tiers import batches

BATCH = 250
PLANS = 8  # tried in each lab


def days_left(pack: Pack) -> int:
    return len(range(pack.lab.start_day, pack.lab.days + 1))


def replacements(label: str, pack: Pack) -> list[str]:
    gone = missing(pack)
    return [
        row.alternative
        for row in pack.study.substitutions
        if key(row.original) == key(label) and key(row.alternative) not in gone
    ]


def is_free(label: str, own: list[str], pack: Pack) -> bool:
    gone = missing(pack)
    if key(label) in map(key, own):
        return key(label) not in gone
    stand_ins = {key(other) for item in own for other in replacements(item, pack)}
    return key(label) in stand_ins


def is_stuck(label: str, own: list[str], pack: Pack) -> bool:
    listed = key(label) in map(key, own)
    return listed and not is_free(label, own, pack) and not replacements(label, pack)


def failing(plan: Protocol, pack: Pack) -> set[str]:
    study, lab = pack.study, pack.lab
    numbers = plan.sample_size, plan.duration_days
    equipment, reagents = study.equipment + lab.equipment, study.reagents + lab.reagents
    items = [
        *((label, equipment) for label in plan.required_equipment),
        *((label, reagents) for label in plan.required_reagents),
    ]
    texts = [plan.technique, plan.rationale, *plan.controls, *(label for label, _ in items)]
    phrases = [phrase for rule in study.policy_rules for phrase in rule.forbidden_phrases]
    fails = {
        "protocol": plan.sample_size < 1
        or plan.duration_days < 1
        or plan.duration_days > days_left(pack)
        or 0 < len(plan.controls) >= plan.sample_size
        or any(is_stuck(label, custom, pack) for label, custom in items),
        "budget": cost_of(plan, *numbers, pack) > lab.budget,
        "equipment": not all(is_free(i, equipment, pack) for i in plan.required_equipment),
        "reagents": not all(is_free(i, reagents, pack) for i in plan.required_reagents),
        "schedule": plan.duration_days > days_left(pack),
        "staff": staff_of(plan, *numbers, pack) > lab.staff,
        "policy": FORBIDDEN in phrases and any(FORBIDDEN in key(text) for text in texts),
    }
    return {dimension for dimension, fault in fails.items() if fault}


def assert_agree(plan: Protocol, pack: Pack) -> None:
    result = assess(plan, pack)
    assert set(result.failing) == failing(plan, pack)
    # Rates of up to 10⁹ with any digits: sums in another order may differ in the last of them.
    numbers = plan.sample_size, plan.duration_days
    assert math.isclose(result.cost, cost_of(plan, *numbers, pack), rel_tol=1e-15)
    assert math.isclose(sum(term.credits for term in result.cost_terms), result.cost, rel_tol=1e-9)
    assert result.staff == staff_of(plan, *numbers, pack)
    assert result.staff == pack.staff_model.base + sum(step.adds for step in result.staff_steps)
    assert all(bool(result.check.check(d).reasons) == (d in result.failing) for d in DIMENSIONS)


def near(plan: Protocol, pack: Pack, rng: Random) -> Protocol:
    items = [
        *pack.study.equipment,
        *pack.study.reagents,
        *(row.alternative for row in pack.study.substitutions),
        *pack.lab.equipment,
        *pack.lab.reagents,
        "crystal ball",
    ]
    return revise(
        plan,
        sample_size=rng.randint(0, 25),
        duration_days=rng.randint(0, 7),
        required_equipment=rng.choices(items, k=rng.randint(0, 4)),
        required_reagents=rng.choices(items, k=rng.randint(0, 3)),
        controls=rng.choices(["blank", "Blank", "an open  flame control"], k=rng.randint(0, 3)),
    )


@pytest.mark.parametrize("seeds", batches(BATCH, quick=BATCH // 4, long=3))
def test_check_in_small_labs_matches_second_engine(seeds: range) -> None:
    for seed in seeds:
        plan, pack = small_lab(seed)
        pack, rng = change_pack(pack, constraints=[]), Random(seed)
        for protocol in [plan, *(near(plan, pack, rng) for _ in range(PLANS - 1))]:
            assert_agree(protocol, pack)


@given(itemised_protocols(), studied_packs() | own_packs(st.just(make_study())))
def test_check_of_any_plan_matches_second_engine(plan: Protocol, pack: Pack) -> None:
    assert_agree(plan, pack)


ORIGINALS = ("lamp", "oven", "scale", "stove")
ALTERNATIVES = ("torch", "sun", "fire", "moon")


def swap(original: str, alternative: str, loss: int = 1) -> AllowedSubstitution:
    return make_substitution(original=original, alternative=alternative, fidelity_loss=loss)


def assignments(rows: Sequence[AllowedSubstitution]) -> Iterator[tuple[int, ...]]:
    for size in range(len(rows) + 1):
        for places in combinations(range(len(rows)), size):
            originals = {rows[place].original for place in places}
            alternatives = {rows[place].alternative for place in places}
            if len(originals) == len(alternatives) == size:
                yield places


def expected(listed: set[str], rows: list[AllowedSubstitution]) -> list[AllowedSubstitution]:
    open_ = [row for row in rows if row.alternative in listed and row.original not in listed]

    def order(places: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
        return -len(places), sum(open_[p].fidelity_loss for p in places), places

    return [open_[place] for place in min(assignments(open_), key=order)]


@pytest.mark.parametrize("seeds", batches(250, quick=80, long=5))
def test_assignment_is_the_best_of_all(seeds: range) -> None:
    for seed in seeds:
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
