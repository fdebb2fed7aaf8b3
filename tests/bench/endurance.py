"""A server under people who never stop: `make endurance`, by default thirty for an hour.

Each is a raw web socket session with a seed of its own: opens a study, edits its sample size, looks
at another page, leaves, and comes back as somebody new. Every edit is checked: the page shows the
cost, the failing dimensions and the evidence that the core works out for that plan. A line for each
minute tells the slowest twentieth of the runs, memory, threads and descriptors; the last line tells
first and last.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from replicalab.assessment import assess
from replicalab.assessment.phrases import failing_text
from replicalab.lexicon import amount_text
from replicalab.scenarios import list_scenarios, load_scenario
from tests.bench.sessions import Session, visiting
from tests.browser.driving import APP, AppServer

STUDIES: Final = [each.scenario_id for each in list_scenarios()]
LABS: Final = ("easy", "medium", "hard")
OTHERS: Final = ("", "Study", "Trade-offs", "Negotiation", "Library", "Compare")
EDITS: Final = 12
"""Of each visit."""


@dataclass
class Minute:
    """What was seen in a minute."""

    taken: list[float] = field(default_factory=list)
    memory: float = 0.0
    threads: int = 0
    descriptors: int = 0
    busy: float = 0.0

    @property
    def p95(self) -> float:
        """The slowest twentieth of the runs, in seconds."""
        return statistics.quantiles(self.taken, n=20)[-1] if len(self.taken) > 1 else 0.0


class Crowd:
    """People at work on a server until a time."""

    def __init__(
        self, server: AppServer, people: int, seconds: float, seed: int, think: float
    ) -> None:
        self._server, self._people, self._seed, self._think = server, people, seed, think
        self._ends = time.monotonic() + seconds
        self.minutes = [Minute()]
        self.wrong: list[str] = []

    async def work(self) -> None:
        """Let all of them work, and count each minute."""
        await asyncio.gather(self._count(), *(self._person(n) for n in range(self._people)))

    @property
    def _is_over(self) -> bool:
        return time.monotonic() >= self._ends

    async def _count(self) -> None:
        before = self._server.usage()
        while not self._is_over:
            await asyncio.sleep(max(0.0, min(60.0, self._ends - time.monotonic())))
            now, minute = self._server.usage(), self.minutes[-1]
            minute.memory, minute.threads = now.resident_mib, now.threads
            minute.descriptors, minute.busy = now.descriptors, now.seconds - before.seconds
            before = now
            sys.stdout.write(
                f"minute {len(self.minutes):3}: {len(minute.taken):5} runs, p95 "
                f"{minute.p95 * 1000:5.0f} ms, {minute.memory:6.1f} MiB, {minute.threads} threads, "
                f"{minute.descriptors} descriptors, {minute.busy:.0f} s of the processor\n"
            )
            sys.stdout.flush()
            self.minutes.append(Minute())
        self.minutes.pop()

    async def _person(self, number: int) -> None:
        chance = random.Random(f"{self._seed} {number}")
        await asyncio.sleep(chance.random() * self._think * 3)
        while not self._is_over:
            await self._visit(chance)

    async def _visit(self, chance: random.Random) -> None:
        study, lab = chance.choice(STUDIES), chance.choice(LABS)
        query = f"study={study}&lab={lab}"
        async with visiting(self._server, "Protocol", query) as session:
            for _ in range(EDITS):
                await asyncio.sleep(self._think * (0.5 + chance.random()))
                if self._is_over:
                    return
                await self._edit(session, study, lab, chance.randint(10, 400))
        async with visiting(self._server, chance.choice(OTHERS), query):
            await asyncio.sleep(self._think * (0.5 + chance.random()))

    async def _edit(self, session: Session, study: str, lab: str, samples: int) -> None:
        self.minutes[-1].taken.append(await session.run({"Sample size": float(samples)}))
        pack = load_scenario(study, lab)
        plan = pack.reference_protocol.model_copy(update={"sample_size": samples})
        judged = assess(plan, pack)
        shown = " ".join(session.drawn.values())
        failing = failing_text(judged.failing) if judged.failing else "feasible"
        for told in (amount_text(judged.cost), failing, judged.evidence.text):
            if told not in shown:
                self.wrong.append(f"{study}, {lab}, n {samples}: no '{told}' on the page")


def main(arguments: list[str]) -> int:
    """Return 1 where the page showed what the core does not say, or something failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--people", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--think", type=float, default=1.0, help="seconds between two steps")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "server.log")
        with AppServer(APP, log, environment={"REPLICALAB_DATA": folder}) as server:
            crowd = Crowd(server, asked.people, asked.minutes * 60, asked.seed, asked.think)
            asyncio.run(crowd.work())
        faults = log.read_text(encoding="utf-8").count("Traceback")
    # The first minute loads what is used for the first time.
    first, last = crowd.minutes[min(1, len(crowd.minutes) - 1)], crowd.minutes[-1]
    sys.stdout.write(
        f"p95 {first.p95 * 1000:.0f} to {last.p95 * 1000:.0f} ms, {first.memory:.1f} to "
        f"{last.memory:.1f} MiB, {first.threads} to {last.threads} threads, {first.descriptors} to "
        f"{last.descriptors} descriptors; {faults} tracebacks in the log, "
        f"{len(crowd.wrong)} pages wrong\n"
        + "".join(f"WRONG {line}\n" for line in crowd.wrong[:20])
    )
    return int(bool(faults or crowd.wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
