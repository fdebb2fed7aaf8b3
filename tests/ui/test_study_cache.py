"""Where visitors' studies are kept: who reads, who changes, what gives way, and at which byte."""

import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.limits import MOST_OWN_STUDIES, MOST_OWN_STUDY_BYTES
from replicalab.scenarios import Study, copy_text, parse_study
from replicalab.ui.own_studies import IN_USE_SECONDS, StudyCache, cache_key

STUDY: Final = parse_study(copy_text("psy_stroop", "mine"), "mine")
OTHERS_USE_IT: Final = "those it keeps are in use"


class Clock:
    """A clock that stands still until it is moved on."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def named(name: str) -> Study:
    """Return a study of that id."""
    return STUDY.model_copy(update={"scenario_id": name})


def kept(store: StudyCache, owner: str, size: int = 1, name: str = "mine") -> str:
    """Keep a study of that many bytes and return why not."""
    return store.keep(owner, "x" * size, named(name))


@pytest.fixture
def clock() -> Clock:
    """The time that the store goes by."""
    return Clock()


@pytest.fixture
def store(clock: Clock) -> StudyCache:
    """An empty store."""
    return StudyCache(clock)


def small(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """Leave room for that many bytes in all."""
    monkeypatch.setattr(own_studies, "MOST_CACHED_BYTES", most)


# --- whose it is ---


def test_study_is_read_by_its_key_and_changed_by_its_owner_alone(store: StudyCache) -> None:
    kept(store, "ada", size=3)
    study = store.read(cache_key("ada", "mine"))
    assert study is not None
    assert study == store.of("ada")["mine"]
    assert not store.of("eve")
    store.remove("eve", "mine")
    kept(store, "eve", size=5)
    assert store.read(study.key) == study
    store.remove("ada", "mine")
    assert store.read(study.key) is None
    assert store.of("eve")


def test_key_is_the_same_again_and_another_for_each_owner_and_study_and_no_other_reads(
    store: StudyCache,
) -> None:
    keys = {cache_key(owner, name) for owner in ("ada", "eve") for name in ("mine", "other")}
    assert len(keys) == 4
    assert all(len(key) == 32 and int(key, 16) for key in keys)
    for _ in range(2):
        kept(store, "ada")
        assert store.read(cache_key("ada", "mine")) is not None
        others = ["", "ada", "mine", "0" * 32, cache_key("eve", "mine")]
        assert [store.read(key) for key in others] == [None] * len(others)
        store.remove("ada", "mine")


# --- what one owner may keep ---


def test_owner_keeps_up_to_so_many_studies_and_bytes(store: StudyCache) -> None:
    for number in range(MOST_OWN_STUDIES):
        assert not kept(store, "ada", name=f"s{number}")
    assert kept(store, "ada", name="more").startswith(f"You keep {MOST_OWN_STUDIES} studies here")
    limit = MOST_OWN_STUDY_BYTES - MOST_OWN_STUDIES + 1
    assert not kept(store, "ada", limit, "s0")
    before = store.of("ada")
    refused = kept(store, "ada", limit + 1, "s0")
    assert f"{MOST_OWN_STUDY_BYTES + 1:,} bytes" in refused
    assert refused == store.refusal("ada", "s0", "x" * (limit + 1))
    assert store.of("ada") == before
    assert list(before)[-1] == "s0", "what was kept anew is the latest"


def test_text_is_counted_in_bytes(store: StudyCache) -> None:
    alphas = "\N{GREEK SMALL LETTER ALPHA}" * (MOST_OWN_STUDY_BYTES // 2)
    assert not store.refusal("ada", "mine", alphas)
    assert store.refusal("ada", "mine", f"{alphas}\N{GREEK SMALL LETTER ALPHA}")
    assert not store.refusal("ada", "mine", "\ud800")


# --- what all may keep, and what gives way ---


def test_store_that_is_full_refuses_and_loses_nothing(
    store: StudyCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(monkeypatch, 30)
    for owner in ("ada", "bob", "cyd"):
        assert not kept(store, owner, 10)
    assert OTHERS_USE_IT in store.refusal("dan", "mine", "x")
    assert OTHERS_USE_IT in kept(store, "dan")
    assert OTHERS_USE_IT in kept(store, "ada", 11)
    assert [store.of(owner)["mine"].size for owner in ("ada", "bob", "cyd")] == [10, 10, 10]
    assert not kept(store, "ada", 9)
    assert not kept(store, "dan", 1)


def test_unused_for_an_hour_gives_way_under_need_alone_and_the_longest_unused_first(
    store: StudyCache, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(monkeypatch, 40)
    for owner in ("ada", "bob", "cyd"):
        kept(store, owner, 10)
        clock.now += 1
    clock.now += IN_USE_SECONDS - 1
    assert store.read(cache_key("ada", "mine")), "a reader keeps it in use"
    assert not kept(store, "dan", 10), "there was room"
    assert store.read(cache_key("bob", "mine"))
    assert OTHERS_USE_IT in kept(store, "eve", 10), "it is an hour to the second"
    clock.now += 1
    assert not kept(store, "eve", 10)
    assert store.read(cache_key("cyd", "mine")) is None
    assert OTHERS_USE_IT in kept(store, "fay", 1)
    assert all(store.of(owner) for owner in ("ada", "bob", "dan", "eve"))


def test_nothing_stays_of_what_was_removed_or_gave_way(
    store: StudyCache, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(monkeypatch, 20)
    tracemalloc.start()
    try:
        for number in range(400):
            kept(store, "ada", 10, name=f"s{number}")
            store.remove("ada", f"s{number}")
            kept(store, f"visitor {number}", 10)
            clock.now += 2 * IN_USE_SECONDS
        rest, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert rest < 20_000


Step = tuple[str, str, str, int]
steps: st.SearchStrategy[Step] = st.tuples(
    st.sampled_from(["keep", "keep", "remove", "read", "look", "wait"]),
    st.sampled_from("abcd"),
    st.sampled_from(["mine", "other"]),
    st.integers(1, 30),
)


@given(st.lists(steps, max_size=40))
def test_whatever_is_done_the_bounds_hold_and_nothing_in_use_is_lost(done: list[Step]) -> None:
    clock = Clock()
    store = StudyCache(clock)
    record: dict[tuple[str, str], int] = {}
    seen: dict[str, float] = {}
    with pytest.MonkeyPatch.context() as patch:
        small(patch, 60)
        patch.setattr(own_studies, "MOST_OWN_STUDY_BYTES", 40)
        for what, owner, name, number in done:
            if what == "wait":
                clock.now += number * 200
                continue
            if what == "read" and store.read(cache_key(owner, name)) is None:
                continue
            seen[owner], mine = clock.now, store.of(owner)
            record = {place: size for place, size in record.items() if place[0] != owner}
            record |= {(owner, text): study.size for text, study in mine.items()}
            if what == "keep" and not kept(store, owner, number, name):
                record[owner, name] = number
            elif what == "remove":
                store.remove(owner, name)
                record.pop((owner, name), None)
        in_use = {
            place: size
            for place, size in record.items()
            if clock.now - seen[place[0]] <= IN_USE_SECONDS
        }
        result = {
            (owner, name): study.size for owner in "abcd" for name, study in store.of(owner).items()
        }
        assert in_use.items() <= result.items() <= record.items()
        assert sum(result.values()) <= 60
        for owner, name in result:
            assert store.read(cache_key(owner, name)) == store.of(owner)[name]


def test_threads_leave_each_owner_with_what_was_kept_last(store: StudyCache) -> None:
    numbers = count(1)

    def use(_: int) -> None:
        owner = f"o{next(numbers) % 4}"
        for size in range(1, 20):
            kept(store, owner, size)
            store.read(cache_key(owner, "mine"))
            store.remove(owner, "mine")
        kept(store, owner, 20)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(use, range(16)))
    assert {store.of(f"o{number}")["mine"].size for number in range(4)} == {20}
