"""Documents of shipped studies and of strangers, made as a page would make them."""

from __future__ import annotations

import re
import zlib
from datetime import date
from functools import cache
from typing import Final, NamedTuple

from replicalab.assessment import assess
from replicalab.negotiation import (
    LabManagerKind,
    Negotiation,
    ScientistKind,
    load,
    negotiate,
    replay,
    setup_for,
)
from replicalab.planner import Options
from replicalab.report import Document, brief, report
from replicalab.scenarios import Difficulty, Pack, load_scenario, pack_of, parse_study
from tests.hostile_files import PACK, hostile_run, hostile_study

DAY: Final = date(2026, 11, 22)


class Work(NamedTuple):
    """What a workspace holds: a plan in its lab, the lab as written, and a negotiation."""

    options: Options
    written: Pack
    run: Negotiation | None = None

    def brief(self) -> Document:
        return brief(self.options, on=DAY, written=self.written, run=self.run)

    def report(self) -> Document:
        return report(self.options, on=DAY, written=self.written, run=self.run)


@cache
def work(scenario_id: str, lab: str, which: str = "least") -> Work:
    """Return a shipped study with its reference protocol, the offered or the least-loss plan."""
    pack = load_scenario(scenario_id, lab)
    reference = Options(assess(pack.reference_protocol, pack))
    plans = {
        "reference": reference.yours,
        "offered": reference.offered,
        "least": reference.least.after,
    }
    setup = setup_for(
        pack, scientist=ScientistKind.EVIDENCE_AWARE, lab_manager=LabManagerKind.REFERENCE
    )
    return Work(Options(plans[which]), pack, negotiate(setup, pack))


@cache
def strangers() -> dict[str, Work]:
    """Return a study and a run in which every text is hostile that is taken so."""
    pack = pack_of(parse_study(hostile_study().text, "x.yaml"), Difficulty.MEDIUM, 0)
    transcript = load(hostile_run())
    asked = PACK.with_own(transcript.setup.own_lab, transcript.setup.question)
    run = replay(transcript, asked).negotiation
    assert run.final_plan is not None
    return {
        "study": Work(Options(assess(pack.reference_protocol, pack)), pack),
        "run": Work(Options(run.final_plan), PACK, run),
    }


def pages_in(pdf: bytes) -> int:
    """Return how many pages a PDF has; it packs its objects into compressed streams."""
    streams = re.findall(rb"stream\r?\n(.*?)\nendstream", pdf, flags=re.DOTALL)
    text = b"\n".join([pdf, *filter(None, map(_unpacked, streams))])
    return len(re.findall(rb"/Type ?/Page\b", text))


def _unpacked(stream: bytes) -> bytes | None:
    try:
        return zlib.decompressobj().decompress(stream)
    except zlib.error:
        return None
