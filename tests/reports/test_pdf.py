"""Documents on paper, without a browser: the brief on one page of either size, for every study."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Final, get_args
from urllib.request import OpenerDirector, Request

import pytest

from replicalab.errors import PrintError
from replicalab.render import pdf as printing
from replicalab.render.pdf import Paper, printed
from replicalab.reports import missing, pdf, pdf_apart, pdfs_apart
from replicalab.scenarios import Difficulty
from tests.reports.making import pages_in, seen_in, strangers, text_of, work
from tests.tiers import EVERY_LAB, one_in

needs_weasyprint = pytest.mark.skipif(
    find_spec("weasyprint") is None and os.environ.get("REPLICALAB_REQUIRE_BROWSER") != "1",
    reason="WeasyPrint is not installed: pip install -r requirements-pdf.txt",
)


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
    assert 3 <= pages_in(pdf(work("psy_ego_depletion", "hard").report())) <= 9


def test_missing_weasyprint_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(
        PrintError, match=r"WeasyPrint is not installed; run pip install -r .*Pango"
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
