"""The batches of visitors: each keeps its own, none holds the server, what has come stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from threading import Event

import pytest

from replicalab.batch import Result, is_same, jobs_of, run_job
from replicalab.case import Case
from replicalab.facts.batch import again_text
from replicalab.library import KeptBatch, read_batch
from replicalab.limits import MOST_BATCHES, MOST_PAGE_JOBS
from replicalab.scenarios import Difficulty, LabOverrides
from replicalab.ui import batches
from replicalab.ui.batches import AWAY_SECONDS, IN_USE_SECONDS, Batches, VisitorBatch
from tests.library.making import make_batch

JOBS = jobs_of(("psy_stroop",), (Difficulty.HARD,), range(40))


def until(is_so: Callable[[], bool]) -> None:
    """Wait for something that another thread brings about."""
    waiting = Event()
    for _ in range(6000):
        if is_so():
            return
        waiting.wait(0.01)
    raise AssertionError("it has not come about in a minute")


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """Batches that play nothing until they are let go, and then one job each."""
    going = Event()

    def play(jobs: list[Case], **_: object) -> Iterator[Result]:
        going.wait(60)
        yield Result(job=jobs[0], error="played")

    monkeypatch.setattr(batches, "run_batch", play)
    yield going
    going.set()


def of(found: Batches, owner: str) -> VisitorBatch:
    batch = found.of(owner)
    assert batch is not None
    return batch


def played(found: Batches, owner: str = "a", jobs: Sequence[Case] = JOBS) -> VisitorBatch:
    """Return a visitor's batch once it is begun and over."""
    assert not found.begin(owner, jobs)
    until(lambda: of(found, owner).is_over)
    return of(found, owner)


def test_batch_is_played_to_its_end_by_processes() -> None:
    came = played(Batches(), jobs=JOBS[:5]).came
    assert sorted(result.job.seed for result in came) == list(range(5))
    assert all(result.outcome and not result.error for result in came)


def test_batch_that_is_stopped_keeps_what_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    def play(jobs: list[Case], **_: object) -> Iterator[Result]:
        for number, job in enumerate(jobs):
            if number == 20:
                of(result, "a").stop()
            yield Result(job=job, error="played")

    monkeypatch.setattr(batches, "run_batch", play)
    result = Batches()
    batch = played(result)
    assert len(batch.came) == 20
    assert batch.is_stopping
    assert not batch.problem


def test_batch_that_breaks_off_says_why_without_a_path_and_keeps_what_has_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def play(jobs: list[Case], **_: object) -> Iterator[Result]:
        yield Result(job=jobs[0], error="played")
        raise FileNotFoundError(2, "No such file or directory", "/srv/of/ours")

    monkeypatch.setattr(batches, "run_batch", play)
    batch = played(Batches())
    assert len(batch.came) == 1
    assert batch.problem == "FileNotFoundError: No such file or directory"


@pytest.mark.usefixtures("held")
def test_visitor_has_one_batch_at_a_time_and_sees_no_other() -> None:
    result = Batches()
    assert not result.begin("a", JOBS)
    under_way = of(result, "a")
    assert "under way" in result.begin("a", JOBS)
    assert "under way" in result.show("a", VisitorBatch.opened("x", read_batch(make_batch())))
    assert of(result, "a") is under_way
    assert result.of("b") is None


def test_batches_under_way_are_bounded_whoever_runs_them(held: Event) -> None:
    result = Batches()
    for number in range(MOST_BATCHES):
        assert not result.begin(f"visitor {number}", JOBS)
    assert "the most that this server runs" in result.begin("one more", JOBS)
    assert result.of("one more") is None
    held.set()
    until(lambda: of(result, "visitor 0").is_over)
    assert not result.begin("one more", JOBS)


def test_batch_of_nothing_or_of_too_many_is_refused_with_the_limit() -> None:
    result = Batches()
    assert "Nothing is chosen" in result.begin("a", [])
    refused = result.begin("a", JOBS * (MOST_PAGE_JOBS // len(JOBS) + 1))
    assert f"at most {MOST_PAGE_JOBS:,}" in refused
    assert result.of("a") is None


def test_what_is_over_gives_way_only_when_nobody_looks_at_it(
    held: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    held.set()
    now = [0.0]
    result = Batches(lambda: now[0])
    monkeypatch.setattr(batches, "MOST_HELD", 2 * len(JOBS))
    for owner in "ab":
        played(result, owner)
    assert "no room" in result.begin("c", JOBS)
    now[0] = IN_USE_SECONDS + 1
    of(result, "b")  # its visitor looks at it
    assert not result.begin("c", JOBS)
    assert result.of("a") is None
    assert result.of("b") is not None
    text = "Your last batch was dropped, as this server had no room."
    assert [result.dropped(owner) for owner in "abc"] == [f"{text} Run it again.", "", ""]
    result.back("a")  # on a page that was drawn before
    now[0] *= 3
    assert not result.begin("a", JOBS)
    assert [bool(result.dropped(owner)) for owner in "abc"] == [False, True, False]


def opened(rows: int = len(JOBS)) -> VisitorBatch:
    came = [Result(job=job, error="played") for job in (JOBS * rows)[:rows]]
    return VisitorBatch(JOBS[:rows], came, is_over=True, kept_as="x")


def test_batches_from_the_library_hold_no_room_against_another(
    held: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    held.set()
    result = Batches()
    monkeypatch.setattr(batches, "MOST_HELD", 3 * len(JOBS))
    played(result)
    for owner in "abc":
        last = result.of(owner)
        assert not result.show(owner, opened())
        assert of(result, owner).before is (last if owner == "a" else None)
    of(result, "b")
    assert not result.begin("d", JOBS)
    assert not of(result, "a").kept_as, (
        "what it played itself is there, and can be got nowhere else"
    )
    assert result.of("c") is None, "it was looked at least lately"
    assert result.dropped("a").endswith("had no room. Open x again from the library.")
    assert result.of("b") is not None
    played(result, "e")
    assert result.of("b") is None
    assert "no room" in result.begin("f", JOBS)


def test_batch_from_the_library_before_the_last_gives_way_too(
    held: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    held.set()
    result = Batches()
    monkeypatch.setattr(batches, "MOST_HELD", 2 * len(JOBS))
    assert not result.show("a", opened())
    played(result)
    assert of(result, "a").before is not None
    assert not result.begin("b", JOBS)
    assert of(result, "a").before is None
    assert played(result).before is None, "there is no room for both"


@pytest.mark.usefixtures("held")
def test_batch_of_who_has_left_gives_its_slot_to_another() -> None:
    now = [0.0]
    result = Batches(lambda: now[0])
    for number in range(MOST_BATCHES):
        assert not result.begin(f"visitor {number}", JOBS)
    assert "the most that this server runs" in result.begin("one more", JOBS), (
        "they looked just now"
    )
    now[0] = AWAY_SECONDS + 1
    for present in ("visitor 0", "visitor 2"):
        of(result, present)  # they look at it
    assert not result.begin("one more", JOBS)
    stopped = [of(result, f"visitor {number}").is_stopping for number in range(MOST_BATCHES)]
    assert stopped == [False, True, False]
    assert "you were away for 10 minutes" in of(result, "visitor 1").problem
    assert "the most that this server runs" in result.begin("another", JOBS)


def test_new_batch_takes_the_place_of_the_last_which_comes_back_and_goes_again(held: Event) -> None:
    held.set()
    result = Batches()
    for jobs in (JOBS, JOBS[:3]):
        played(result, jobs=jobs)
    last, first = of(result, "a"), of(result, "a").before
    assert len(last.jobs) == 3
    result.back("a")
    assert first is of(result, "a")
    assert len(first.jobs) == len(JOBS)
    assert first.before is last
    assert last.before is None, "of each visitor two are held"
    result.back("a")
    assert of(result, "a") is last


def test_batch_from_the_library_is_played_again_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "MOST_PLAYED_AGAIN", 3)
    batch = VisitorBatch.opened("x", KeptBatch.of(list(map(run_job, JOBS[:6])), 50))
    assert (batch.number, len(batch.came), batch.is_over) == (50, 6, True)
    assert [was.job.seed for was, _ in batch.again] == [0, 2, 4]
    assert again_text(batch.again, 6) == "3 of 6 played again: all as they were kept."


def test_batch_from_the_library_that_comes_out_otherwise_says_where() -> None:
    came = [run_job(job) for job in JOBS[:5]]
    forged = came[2].model_copy(update={"samples": came[2].samples + 1})
    batch = VisitorBatch.opened("x", KeptBatch.of([*came[:2], forged, *came[3:]], 5))
    text = again_text(batch.again, 5)
    assert "1 came out otherwise, such as psy_stroop, hard lab, seed 2: " in text
    assert f"{forged.samples} samples" in text


def test_rounding_is_no_difference() -> None:
    came = run_job(JOBS[0])
    assert came.evidence is not None
    assert is_same(came, came.model_copy(update={"evidence": came.evidence * (1 + 1e-13)}))
    assert not is_same(came, came.model_copy(update={"wishes_broken": 1}))


def test_result_that_came_out_otherwise_is_priced_in_the_currency_of_its_lab() -> None:
    overrides = LabOverrides(currency="EUR")
    was = run_job(Case(study="psy_stroop", lab=Difficulty.MEDIUM, own_lab=overrides))
    now = was.model_copy(update={"samples": 3, "credits": 12.5})
    text = again_text([(was, now)], 1)
    assert f"{was.credits:,.0f} EUR as kept" in text
    assert "3 samples, 12.50 EUR now" in text
