"""Documents on paper, without a browser: the brief on one page of either size, for every study."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from shutil import which as found_on_path
from typing import Final, get_args
from urllib.request import OpenerDirector, Request

import pytest

from replicalab.characters import on_one_line
from replicalab.errors import PrintError
from replicalab.registration import Registration
from replicalab.render import pdf as printing
from replicalab.render.pdf import Paper, printed
from replicalab.reports import Document, missing, pdf, pdf_apart, pdfs_apart, report
from replicalab.scenarios import Difficulty
from replicalab.views.blocks import Cell, Listing, Part, Sentence, table
from tests.reports.making import (
    DAY,
    pages_in,
    pictures_in,
    seen_in,
    strangers,
    text_of,
    unpacked,
    work,
)
from tests.tiers import EVERY_LAB, one_in

needs_weasyprint = pytest.mark.skipif(
    find_spec("weasyprint") is None and os.environ.get("REPLICALAB_REQUIRE_BROWSER") != "1",
    reason="WeasyPrint is not installed: pip install weasyprint",
)

needs_pdftotext = pytest.mark.skipif(
    found_on_path("pdftotext") is None, reason="pdftotext is not installed (Poppler)"
)


def pages_of(pdf_file: bytes) -> list[str]:
    """Return what is copied of each page, without its number."""
    command = [found_on_path("pdftotext") or "", "-", "-"]
    done = subprocess.run(command, input=pdf_file, capture_output=True, check=True)
    *pages, end = done.stdout.decode().split("\f")
    assert end == ""
    for number, page in enumerate(pages, start=1):
        assert len(pages) == 1 or page.rstrip().endswith(f"{number} of {len(pages)}")
    return [re.sub(r"\d+ of \d+\s*$", "", page) for page in pages]


@needs_weasyprint
@needs_pdftotext
def test_sentences_of_a_report_are_copied_as_they_stand() -> None:
    document = work("fin_momentum", "medium").report()
    copied = "".join("".join(pages_of(pdf(document))).split())
    said = [document.title, document.about, *document.foot]
    for part in document.parts:
        for block in part.blocks:
            match block:
                case Sentence():
                    said.append(f"{block.lead} {block.text}")
                case Listing():
                    said += (item.text for item in block.items)
    assert len(said) > 30
    assert [text for text in said if "".join(on_one_line(text).split()) not in copied] == []


@needs_weasyprint
@needs_pdftotext
@pytest.mark.parametrize("paper", get_args(Paper))
def test_no_row_breaks_and_no_heading_ends_a_page(paper: Paper) -> None:
    rows = [
        (Cell(f"begins{n}"), Cell(f"{'a text ' * (12 + 9 * (n % 7))} ends{n}")) for n in range(70)
    ]
    parts = [
        Part(
            f"Heading{n}",
            (
                Sentence(f"{'a text ' * 37 * (n % 5 + 1)}"),
                table(f"Caption{n}", ("Left", "Right"), rows[n : n + 2]),
            ),
        )
        for n in range(25)
    ]
    long = Part("Long", (table("A long one", ("First", "Second"), rows),))
    document = Document("A title", "About", (*parts, long), ("Foot.",), DAY)
    pages = pages_of(pdf(document, paper))
    assert len(pages) > 8
    for n in range(70):
        both = [(page.count(f"begins{n}\n"), page.count(f"ends{n}\n")) for page in pages]
        assert all(begun == ended for begun, ended in both), n
    last = [page.split()[-1] for page in pages]
    assert not [word for word in last if word.startswith(("Heading", "Caption", "Right"))]
    headed = [page for page in pages if "First" in page.split()]
    assert len(headed) > 2, "the headings of a long table are repeated"


@needs_weasyprint
def test_title_authors_and_pictures_are_told_by_the_file() -> None:
    said = Registration(title="Our <own> title", authors="A. Nobody")
    document = report(work("psy_stroop", "medium").options, on=DAY, said=said)
    data = pdf(document)
    held = b"\n".join(unpacked(data)).decode("latin-1")
    assert re.search(r"<dc:title>.*Our &lt;own&gt; title.*</dc:title>", held, re.DOTALL)
    assert re.search(r"<dc:creator>.*A\. Nobody.*</dc:creator>", held, re.DOTALL)
    told = [re.sub(r"\\(.)", r"\1", each) for each in pictures_in(data)]
    for picture in document.pictures:
        assert f"{picture.title}. {picture.alt}" in told


@needs_weasyprint
@pytest.mark.parametrize(("scenario_id", "lab"), one_in(10, (each.values for each in EVERY_LAB)))
def test_brief_is_one_page_in_every_lab_and_its_text_copies_as_it_is_seen(
    scenario_id: str, lab: Difficulty
) -> None:
    longest = work(scenario_id, lab.value, "offered").brief()
    data = pdf(longest, "letter")
    assert pages_in(data) == 1
    copied = text_of(data).replace("•", "")
    assert copied.replace(" ", "") == seen_in(longest).replace(" ", "")


@needs_weasyprint
@pytest.mark.parametrize(("which", "paper"), one_in(3, product(("study", "run"), get_args(Paper))))
def test_brief_of_strangers_is_one_page_of_either_size(which: str, paper: Paper) -> None:
    assert pages_in(pdf(strangers()[which].brief(), paper)) == 1


@needs_weasyprint
def test_report_takes_a_few_pages() -> None:
    assert 3 <= pages_in(pdf(work("psy_ego_depletion", "hard").report())) <= 11


def test_missing_weasyprint_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(
        PrintError, match=r"WeasyPrint is not installed; run pip install weasyprint.*Pango"
    ):
        pdf(work("psy_stroop", "easy").brief())


FETCHED: Final = """
<link rel="stylesheet" href="{0}/a.css"><link rel="attachment" href="{0}/b.txt">
<style>@import "{0}/c.css"; @font-face {{ font-family: x; src: url({0}/d.woff) }}
p {{ background: url({0}/e.png); font-family: x }}</style>
<img src="{0}/f.png"><object data="{0}/g.svg"></object><embed src="{0}/h.svg">
<svg><image href="{0}/i.png"/><use href="{0}/j.svg#k"/></svg><p>printed</p>
"""


@needs_weasyprint
def test_pdf_fetches_nothing_whatever_its_page_asks_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def listen(self: OpenerDirector, request: Request, *_: object, **__: object) -> None:
        asked.append(request.full_url)
        raise OSError(self)

    for address in (tmp_path.as_uri(), "http://127.0.0.1:1", "ftp://127.0.0.1:1", "data:text/css,"):
        with monkeypatch.context() as patch:
            patch.setattr(OpenerDirector, "open", listen)
            data = printed(f"<html>{FETCHED.format(address)}</html>", "A4", compact=False)
        assert "printed" in text_of(data)
    assert asked == []


@needs_weasyprint
def test_pdf_from_a_process_of_its_own_is_the_same() -> None:
    """And so the same bytes each time."""
    found = work("psy_stroop", "easy").brief()
    report = work("psy_stroop", "easy").report()
    apart = pdfs_apart([found, report], "letter", seconds=600)
    assert apart == [pdf(found, "letter"), pdf(report, "letter")]


@needs_weasyprint
@pytest.mark.long
@pytest.mark.parametrize("which", ["study", "run"])
def test_report_of_strangers_is_printed(which: str) -> None:
    assert pages_in(pdf_apart(strangers()[which].report(), seconds=600)) > 1


def test_pdf_that_takes_too_long_is_ended() -> None:
    with pytest.raises(PrintError, match=r"not done after 0\.01 s; print the HTML"):
        pdf_apart(work("psy_stroop", "easy").brief(), seconds=0.01)


@pytest.mark.parametrize(
    ("does", "told"),
    [
        ("sys.stderr.write('no PDF: nothing to draw with'); sys.exit(3)", "nothing to draw with$"),
        ("raise ValueError('a/path/of/ours')", "making it failed; print the HTML from a browser$"),
        ("import os; os.kill(os.getpid(), 9)", "making it failed; print the HTML from a browser$"),
    ],
)
def test_fault_of_the_other_process_is_told_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, does: str, told: str
) -> None:
    found = work("psy_stroop", "easy").brief()
    monkeypatch.setattr(printing, "_RUN", f"import sys; {does}")
    with pytest.raises(PrintError, match=f"^no PDF: {told}"):
        pdf_apart(found)
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(PrintError, match="making it failed; print the HTML"):
        pdf_apart(found)


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("find_spec", lambda _: None, "WeasyPrint is not installed"),
        ("_PANGO_FILES", ("no-such-library",), "Pango, a library of WeasyPrint, is not installed"),
    ],
)
def test_what_is_missing_is_told_before_anything_is_printed(
    monkeypatch: pytest.MonkeyPatch, name: str, value: object, what: str
) -> None:
    monkeypatch.setattr(printing, "find_spec", lambda _: object())
    monkeypatch.setattr(printing, name, value)
    missing.cache_clear()
    assert what in missing()
    missing.cache_clear()
