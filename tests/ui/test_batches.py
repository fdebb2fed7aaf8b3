"""The batches of visitors: one each, bounded for all, results stay."""

from collections.abc import Callable, Iterator, Sequence
from threading import Event

import pytest

from replicalab.facts.score_facts import again_text
from replicalab.library import KeptBatch
from replicalab.limits import MOST_BATCHES, MOST_PAGE_JOBS
from replicalab.negotiation.batch import Result, is_same, jobs_of, run_job
from replicalab.negotiation.case import Case
from replicalab.scenarios import Difficulty
from replicalab.ui import batches
from replicalab.ui.batches import AWAY_SECONDS, IN_USE_SECONDS, Batches, VisitorBatch

JOBS = jobs_of(("psy_stroop",), (Difficulty.HARD,), range(40))
BUSY = "the most at once"


def until(is_so: Callable[[], bool]) -> None:
    waiting = Event()
    for _ in range(6000):
        if is_so():
            return
        waiting.wait(0.01)
    raise AssertionError("it has not happened in a minute")


@pytest.fixture
def going(monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    event = Event()

    def play(jobs: list[Case], **_: object) -> Iterator[Result]:
        event.wait(60)
        yield Result(job=jobs[0], error="played")

    monkeypatch.setattr(batches, "run_batch", play)
    yield event
    event.set()


def of(found: Batches, owner: str) -> VisitorBatch:
    batch = found.of(owner)
    assert batch is not None
    return batch


def played(found: Batches, owner: str = "a", jobs: Sequence[Case] = JOBS) -> VisitorBatch:
    assert not found.begin(owner, jobs)
    until(lambda: of(found, owner).is_over)
    return of(found, owner)


def test_batch_is_played_to_its_end_by_processes() -> None:
    came = played(Batches(), jobs=JOBS[:5]).results
    assert sorted(result.job.seed for result in came) == list(range(5))
    assert all(result.outcome and not result.error for result in came)


def test_broken_batch_gives_reason_without_path(monkeypatch: pytest.MonkeyPatch) -> None:
    def play(jobs: list[Case], **_: object) -> Iterator[Result]:
        yield Result(job=jobs[0], error="played")
        raise FileNotFoundError(2, "No such file or directory", "/srv/of/ours")

    monkeypatch.setattr(batches, "run_batch", play)
    batch = played(Batches())
    assert len(batch.results) == 1
    assert batch.problem == "FileNotFoundError: No such file or directory"


@pytest.mark.usefixtures("going")
def test_visitor_has_one_batch_at_a_time() -> None:
    batches = Batches()
    assert not batches.begin("a", JOBS)
    assert "under way" in batches.begin("a", JOBS)
    assert "under way" in batches.show("a", VisitorBatch([], is_over=True))
    assert batches.of("b") is None


def test_batches_under_way_are_bounded(going: Event) -> None:
    batches = Batches()
    for number in range(MOST_BATCHES):
        assert not batches.begin(f"visitor {number}", JOBS)
    assert BUSY in batches.begin("one more", JOBS)
    assert batches.of("one more") is None
    going.set()
    until(lambda: of(batches, "visitor 0").is_over)
    assert not batches.begin("one more", JOBS)


def test_empty_and_too_large_batches_are_refused() -> None:
    batches = Batches()
    assert "A field is empty" in batches.begin("a", [])
    refused = batches.begin("a", JOBS * (MOST_PAGE_JOBS // len(JOBS) + 1))
    assert f"at most {MOST_PAGE_JOBS:,}" in refused
    assert batches.of("a") is None


def test_unseen_finished_batch_is_dropped_for_room(
    going: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    going.set()
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
    text = "Your last batch was dropped, as this server had no room. Run it again."
    assert [result.notice_for(owner) for owner in "abc"] == [text, "", ""]
    result.back("a")  # on a page that was drawn before
    now[0] *= 3
    assert not result.begin("a", JOBS)
    assert [bool(result.notice_for(owner)) for owner in "abc"] == [False, True, False]


@pytest.mark.usefixtures("going")
def test_absent_visitor_loses_the_slot() -> None:
    now = [0.0]
    batches = Batches(lambda: now[0])
    for number in range(MOST_BATCHES):
        assert not batches.begin(f"visitor {number}", JOBS)
    assert BUSY in batches.begin("one more", JOBS), "they looked just now"
    now[0] = AWAY_SECONDS + 1
    for present in ("visitor 0", "visitor 2"):
        of(batches, present)  # they look at it
    assert not batches.begin("one more", JOBS)
    stopped = [of(batches, f"visitor {number}").is_stopping for number in range(MOST_BATCHES)]
    assert stopped == [False, True, False]
    assert "you were away for 10 minutes" in of(batches, "visitor 1").problem
    assert BUSY in batches.begin("another", JOBS)


def test_opened_batch_is_played_again_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "MOST_PLAYED_AGAIN", 3)
    batch = VisitorBatch.from_library("x", KeptBatch.of(list(map(run_job, JOBS[:6])), 50))
    assert (batch.number, len(batch.results), batch.is_over) == (50, 6, True)
    assert [was.job.seed for was, _ in batch.again] == [0, 2, 4]
    assert again_text(batch.again, 6) == "3 of 6 played again: same results."
    forged = batch.results[2].model_copy(update={"samples": batch.results[2].samples + 1})
    batch = VisitorBatch.from_library("x", KeptBatch.of([forged], 1))
    assert "1 with another result" in again_text(batch.again, 1)


def test_rounding_is_no_difference() -> None:
    came = run_job(JOBS[0])
    assert came.evidence is not None
    assert is_same(came, came.model_copy(update={"evidence": came.evidence * (1 + 1e-13)}))
    assert not is_same(came, came.model_copy(update={"wishes_broken": 1}))
