"""Documents of shipped and of hostile studies, and readers of PDF files."""

import re
import zlib
from collections.abc import Iterator
from datetime import date
from functools import cache
from typing import Final, NamedTuple

from replicalab import negotiation
from replicalab.assessment import assess
from replicalab.facts.blocks import Document, Listing, Sentence, Status, Table
from replicalab.facts.document_facts import brief, funding_request
from replicalab.facts.report_facts import report
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import Difficulty, Pack, load_scenario, pack_of, parse_study
from tests.factories import make_setup
from tests.hostile_files import PACK, hostile_run, hostile_study

DAY: Final = date(2026, 11, 22)


class Work(NamedTuple):
    """A plan in its lab, the lab as written, and a negotiation."""

    options: PlanAnalysis
    written: Pack
    run: negotiation.Negotiation | None = None

    def brief(self) -> Document:
        return brief(self.options, on=DAY, written=self.written, run=self.run)

    def funding(self) -> Document:
        return funding_request(self.options, on=DAY)

    def report(self) -> Document:
        return report(self.options, on=DAY, written=self.written, run=self.run)


@cache
def work(scenario_id: str, lab: str, which: str = "least") -> Work:
    pack = load_scenario(scenario_id, lab)
    reference = PlanAnalysis(assess(pack.reference_protocol, pack))
    plans = {
        "reference": reference.yours,
        "offered": reference.offered,
        "least": reference.least.after,
    }
    setup = make_setup(
        pack,
        pack.reference_protocol,
        scientist=negotiation.ScientistKind.DIRECT,
        lab_manager=negotiation.LabManagerKind.REFERENCE,
    )
    return Work(PlanAnalysis(plans[which]), pack, negotiation.negotiate(setup, pack))


@cache
def strangers() -> dict[str, Work]:
    pack = pack_of(parse_study(hostile_study().text, "x.yaml"), Difficulty.MEDIUM, 0)
    transcript = negotiation.load(hostile_run())
    request = PACK.with_own(transcript.setup.own_lab, transcript.setup.question)
    run = negotiation.replay(transcript, request)
    assert run.final_plan is not None
    return {
        "study": Work(PlanAnalysis(assess(pack.reference_protocol, pack)), pack),
        "run": Work(PlanAnalysis(run.final_plan), PACK, run),
    }


def texts_of(document: Document) -> Iterator[str]:
    signs = {Status.PASS: "✓", Status.CAUTION: "!", Status.FAIL: "✕"}

    def joined(status: Status | None, *texts: str) -> str:
        return " ".join(filter(None, (signs.get(status) if status else "", *texts)))

    yield from (document.title, document.authors, document.about)
    for part in filter(lambda part: part.blocks, document.parts):
        yield part.title
        for block in part.blocks:
            match block:
                case Sentence():
                    yield joined(block.status, block.lead, block.text)
                case Listing():
                    yield from (joined(None, item.lead, item.text) for item in block.items)
                case Table():
                    yield from (block.caption, *block.names)
                    for row in block.rows:
                        yield from (joined(cell.status, cell.text, cell.note) for cell in row)
    yield from document.foot


def table_in(document: Document, caption: str) -> Table:
    [result] = [item for item in document.tables if item.caption.startswith(caption)]
    return result


def pages_in(pdf: bytes) -> int:
    text = b"\n".join([pdf, *unpacked(pdf)])
    return len(re.findall(rb"/Type ?/Page\b", text))


def text_of(pdf: bytes) -> str:
    objects = {
        int(n): body for n, body in re.findall(rb"(\d+) 0 obj\n(.*?)\nendobj", pdf, re.DOTALL)
    }
    for packed in unpacked(pdf):
        if pairs := re.match(rb"(?:\d+ \d+ )*\d+ \d+\s*(?=<<|\[|\()", packed):
            numbers = [*map(int, pairs[0].split())]
            data = packed[pairs.end() :]
            ends = [*numbers[3::2], len(data)]
            for number, start, end in zip(numbers[::2], numbers[1::2], ends, strict=True):
                objects[number] = data[start:end]
    fonts = {}
    for body in objects.values():
        for name, number in re.findall(rb"/([A-Z]{6}) (\d+) 0 R", body):
            if match := re.search(rb"/ToUnicode (\d+) 0 R", objects[int(number)]):
                fonts[name] = _letters(next(iter(unpacked(objects[int(match[1])]))))
    drawn = b"\n".join(item for item in unpacked(pdf) if b"\nBT\n" in item)
    text, letters = "", dict[bytes, str]()
    for name, visible in re.findall(rb"/([A-Z]{6}) [\d.]+ Tf|\[(.*?)\] TJ", drawn, re.DOTALL):
        letters = fonts[name] if name else letters
        glyphs = b"".join(re.findall(rb"<(\w+)>", visible))
        text += "".join(letters[glyphs[at : at + 4]] for at in range(0, len(glyphs), 4))
    return text


def _letters(table: bytes) -> dict[bytes, str]:
    pairs = re.findall(rb"<(\w{4})> <(\w+)>\n", table)
    return {glyph: bytes.fromhex(text.decode()).decode("utf-16-be") for glyph, text in pairs}


def unpacked(pdf: bytes) -> list[bytes]:
    streams = re.findall(rb"stream\r?\n(.*?)\nendstream", pdf, flags=re.DOTALL)
    return [*filter(None, map(_unpacked, streams))]


def _unpacked(stream: bytes) -> bytes | None:
    try:
        return zlib.decompressobj().decompress(stream)
    except zlib.error:
        return None
