"""Searches what foreign input breaks: `make fuzz`, by default in the numbers of a whole run.

Valid input is bent, spliced and nested, and what leads to something new is kept and bent further:
another kind of value, or a message of another form. Each case ends in a named error or in a value,
within `MOST_SECONDS` of the processor and `MOST_MIB` of further memory. One that does not is
written to tests/fuzz/found/, and `make test` tries it from then on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple, NoReturn

from replicalab.errors import ReplicaLabError
from replicalab.scenarios.reading import Data
from tests.fuzz.targets import TARGETS, Target
from tests.scenarios.small_study import parts, put
from tests.test_strangers import NUMBERS, bent_data, bent_text

FOUND: Final = Path(__file__).with_name("found")
MOST_SECONDS: Final = 5.0
MOST_MIB: Final = 256
LONGEST_MESSAGE: Final = 20_000
LONGEST_CASE: Final = 64 * 1024
MOST_KEPT: Final = 2_000
REFUSED: Final = 0.3
"""Of the cases that many are made from one that was refused."""
_SAID: Final = re.compile(r"'.*?'|“.*?”|\"[^\"]*\"|[0-9][0-9.,]*", re.DOTALL)
"""What of a message comes from the case."""


class Outcome(NamedTuple):
    """What came of a case: a form, alike for what is refused for the same reason; or a finding."""

    form: str
    finding: str = ""


class _TooLongError(BaseException):
    """Nothing of ours catches it."""


def _stop(_number: int, _frame: FrameType | None) -> NoReturn:
    raise _TooLongError


def tried(target: Target, data: bytes, most_seconds: float = MOST_SECONDS) -> Outcome:
    """Return what comes of a case."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, most_seconds)
    try:
        outcome = Outcome(f"value {_SAID.sub('#', str(target.use(data))[:400])}")
    except ReplicaLabError as error:
        message = str(error)
        outcome = Outcome(f"{type(error).__name__} {_SAID.sub('#', message[:400])}")
        if not 0 < len(message) <= LONGEST_MESSAGE:
            outcome = Outcome("message", f"a message of {len(message)} characters")
    except _TooLongError:
        outcome = Outcome("slow", f"more than {most_seconds:g} s of the processor")
    except Exception as error:  # noqa: BLE001 - what is looked for
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__} in {Path(place.filename).name}:{place.lineno}"
        outcome = Outcome(where, f"{where}: {error}"[:300])
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    if more > MOST_MIB and not outcome.finding:
        outcome = Outcome("large", f"{more} MiB more of memory")
    return outcome


def bent(kept: list[bytes], chance: random.Random) -> bytes:
    """Return a case made from those that are kept."""
    data = chance.choice(kept)
    how = chance.random()
    if how < 0.6 and data[:1] in b"{[":
        bend = bent_data if how < 0.2 else turned_data
        said = json.dumps(bend(json.loads(data), chance), ensure_ascii=False)
        return said.encode("utf-8", "surrogatepass")
    if how < 0.7:
        return bent_text(data.decode("utf-8", "replace"), chance).encode("utf-8", "surrogatepass")
    at, to = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    if how < 0.8:  # bits
        flipped = bytearray(data)
        for _ in range(chance.choice((1, 2, 8))):
            if flipped:
                flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
        return bytes(flipped)
    if how < 0.9:  # a piece of another
        other = chance.choice(kept)
        first, last = sorted(chance.randrange(len(other) + 1) for _ in range(2))
        return data[:at] + other[first:last] + data[to:]
    if how < 0.97:  # another number
        number = str(chance.choice(NUMBERS)).encode()
        places = [*re.finditer(rb"-?[0-9][0-9.eE+-]*", data)]
        place = chance.choice(places).span() if places else (at, at)
        return data[: place[0]] + number + data[place[1] :]
    return data[:at] + data[at:to] * chance.choice((2, 20, 200)) + data[to:]  # nested, repeated


def turned_data(data: Any, chance: random.Random) -> Any:
    """Return data with a few numbers and texts turned into others that may stand there too."""
    places = [(path, held) for path, held in parts(data) if isinstance(held, int | float | str)]
    texts = [held for _, held in places if isinstance(held, str)]
    for path, held in chance.sample(places, min(len(places), chance.choice((1, 1, 2, 5)))):
        match held:
            case bool():
                new: Data = not held
            case int():
                new = chance.choice((0, 1, 2, held + 1, held * 2, held // 2, -held, 10**6))
            case float():
                new = held * chance.choice((0.0, 0.5, 0.99, 1.01, 2.0, 1e-6, 1e6, -1.0))
            case _:
                new = chance.choice(texts)
        put(data, path, new)
    return data


def cases(target: Target, seed: str) -> Iterator[tuple[bytes, Outcome]]:
    """Yield cases without end, each with what came of it."""
    chance = random.Random(seed)
    valid, refused = target.seeds(), list[bytes]()
    known = {tried(target, data).form for data in valid}
    while True:
        # What is refused leads to further messages, what is valid deeper; both are few at first.
        data = bent(refused if refused and chance.random() < REFUSED else valid, chance)
        outcome = tried(target, data)
        yield data, outcome
        kept = valid if outcome.form.startswith("value") else refused
        small = len(data) <= LONGEST_CASE and len(kept) < MOST_KEPT
        if outcome.form not in known and not outcome.finding and small and _is_whole(data):
            kept.append(data)
        known.add(outcome.form)


def _is_whole(data: bytes) -> bool:
    """Return whether a case that begins as JSON is some, so that it can be bent as such."""
    try:
        return data[:1] not in b"{[" or json.loads(data) is not None
    except (ValueError, RecursionError):
        return False


def main(arguments: list[str]) -> int:
    """Return 1 where something was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, help="cases of each kind; else those of a whole run")
    parser.add_argument("--only", nargs="*", choices=sorted(TARGETS), default=[])
    asked = parser.parse_args(arguments)
    found = 0
    for name in asked.only or TARGETS:
        found += _searched(name, asked.count or TARGETS[name].cases, asked.seed)
    return int(found > 0)


def _searched(name: str, count: int, seed: str) -> int:
    """Search one kind, tell what came of it, and return how many different things were found."""
    began, valid, forms, found = time.process_time(), 0, set[str](), Counter[str]()
    for _, (data, outcome) in zip(
        range(count), cases(TARGETS[name], f"{name} {seed}"), strict=False
    ):
        valid += outcome.form.startswith("value")
        forms.add(outcome.form)
        if outcome.finding and not found[outcome.form]:
            file = FOUND / name / hashlib.sha256(data).hexdigest()[:12]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
            sys.stdout.write(f"FOUND {name} {file.name}: {outcome.finding}\n")
        found[outcome.form] += bool(outcome.finding)
    seconds = time.process_time() - began
    sys.stdout.write(
        f"{name}: {count:,} cases, {valid:,} of them valid, {len(forms):,} outcomes, "
        f"{len(+found)} found, {seconds:.0f} s\n"
    )
    sys.stdout.flush()
    return len(+found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
