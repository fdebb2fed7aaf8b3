"""Visitors' studies in memory: readers, owners, and bounds to the byte."""

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab import limits
from replicalab.limits import MOST_OWN_STUDIES, MOST_OWN_STUDY_BYTES
from replicalab.scenarios import copy_text, parse_study
from replicalab.ui.own_studies import IN_USE_SECONDS, StudyCache, cache_key

STUDY: Final = parse_study(copy_text("psy_stroop", "mine"), "mine")
IN_USE: Final = "those it keeps are in use"


class SetClock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def keep(cache: StudyCache, owner: str, size: int = 1, name: str = "mine") -> str:
    return cache.keep(owner, "x" * size, STUDY.model_copy(update={"scenario_id": name}))


def test_key_reads_but_only_owner_changes() -> None:
    cache = StudyCache()
    keep(cache, "ada", size=3)
    study = cache.read(cache_key("ada", "mine"))
    assert study is not None
    assert study == cache.of("ada")["mine"]
    assert not cache.of("eve")
    cache.remove("eve", "mine")
    keep(cache, "eve", size=5)
    assert cache.read(study.key) == study
    cache.remove("ada", "mine")
    assert cache.read(study.key) is None
    assert cache.of("eve")


def test_owner_is_bounded_in_studies_and_bytes() -> None:
    cache = StudyCache()
    for number in range(MOST_OWN_STUDIES):
        assert not keep(cache, "ada", name=f"s{number}")
    assert keep(cache, "ada", name="more").startswith(f"You keep {MOST_OWN_STUDIES} studies here")
    limit = MOST_OWN_STUDY_BYTES - MOST_OWN_STUDIES + 1
    assert not keep(cache, "ada", limit, "s0")
    before = cache.of("ada")
    refused = keep(cache, "ada", limit + 1, "s0")
    assert f"{MOST_OWN_STUDY_BYTES + 1:,} bytes" in refused
    assert refused == cache.refusal("ada", "s0", "x" * (limit + 1))
    assert cache.of("ada") == before
    assert list(before)[-1] == "s0", "the latest is last"


def test_longest_unused_is_dropped_after_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_CACHED_BYTES", 40)
    cache = StudyCache(clock := SetClock())
    for owner in ("ada", "bob", "cyd"):
        keep(cache, owner, 10)
        clock.now += 1
    clock.now += IN_USE_SECONDS - 1
    assert cache.read(cache_key("ada", "mine")), "a reader keeps it in use"
    assert not keep(cache, "dan", 10), "there was room"
    assert cache.read(cache_key("bob", "mine"))
    assert IN_USE in keep(cache, "eve", 10), "it is an hour to the second"
    clock.now += 1
    assert not keep(cache, "eve", 10)
    assert cache.read(cache_key("cyd", "mine")) is None
    assert IN_USE in keep(cache, "fay", 1)
    assert all(cache.of(owner) for owner in ("ada", "bob", "dan", "eve"))


steps = st.tuples(
    st.sampled_from(["keep", "keep", "remove", "read", "look", "wait"]),
    st.sampled_from("abcd"),
    st.sampled_from(["mine", "other"]),
    st.integers(1, 30),
)


@given(st.lists(steps, max_size=40))
def test_bounds_hold_and_nothing_in_use_is_lost(done: list[tuple[str, str, str, int]]) -> None:
    cache = StudyCache(clock := SetClock())
    sizes: dict[tuple[str, str], int] = {}
    seen: dict[str, float] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "MOST_CACHED_BYTES", 60)
        patch.setattr(limits, "MOST_OWN_STUDY_BYTES", 40)
        for act, owner, name, number in done:
            if act == "wait":
                clock.now += number * 200
                continue
            if act == "read" and cache.read(cache_key(owner, name)) is None:
                continue
            seen[owner], mine = clock.now, cache.of(owner)
            sizes = {place: size for place, size in sizes.items() if place[0] != owner}
            sizes |= {(owner, text): study.size for text, study in mine.items()}
            if act == "keep" and not keep(cache, owner, number, name):
                sizes[owner, name] = number
            elif act == "remove":
                cache.remove(owner, name)
                sizes.pop((owner, name), None)
        recent = {owner for owner in seen if clock.now - seen[owner] <= IN_USE_SECONDS}
        in_use = {place: size for place, size in sizes.items() if place[0] in recent}
        cached = {
            (owner, name): study.size for owner in "abcd" for name, study in cache.of(owner).items()
        }
        assert in_use.items() <= cached.items() <= sizes.items()
        assert sum(cached.values()) <= 60
        for owner, name in cached:
            assert cache.read(cache_key(owner, name)) == cache.of(owner)[name]
