"""Documents on paper, without a browser: the brief on one page of either size, for every study."""

import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.request import OpenerDirector, Request

import pytest

from replicalab.answers import Registration
from replicalab.errors import PrintError
from replicalab.facts.report_facts import report
from replicalab.features.office import pdf, print_html
from replicalab.scenarios import Difficulty
from tests.reports.making import DAY, pages_in, text_of, texts_of, unpacked, work
from tests.tiers import EVERY_LAB, one_in

needs_weasyprint = pytest.mark.skipif(
    find_spec("weasyprint") is None and os.environ.get("REPLICALAB_REQUIRE_BROWSER") != "1",
    reason="WeasyPrint is not installed: pip install weasyprint",
)


@needs_weasyprint
def test_file_names_title_and_authors() -> None:
    registration = Registration(title="Our <own> title", authors="A. Nobody")
    document = report(work("psy_stroop", "medium").options, on=DAY, answers=registration)
    data = pdf(document)
    text = b"\n".join(unpacked(data)).decode("latin-1")
    assert re.search(r"<dc:title>.*Our &lt;own&gt; title.*</dc:title>", text, re.DOTALL)
    assert re.search(r"<dc:creator>.*A\. Nobody.*</dc:creator>", text, re.DOTALL)


@needs_weasyprint
@pytest.mark.parametrize(
    ("scenario_id", "lab"), one_in(12, (item.values for item in EVERY_LAB[::3]))
)
def test_brief_fits_one_page_with_copyable_text(scenario_id: str, lab: Difficulty) -> None:
    longest = work(scenario_id, lab.value, "offered").brief()
    data = pdf(longest, "letter")
    assert pages_in(data) == 1
    copied = text_of(data).replace("•", "").split()
    assert "".join(copied) == "".join("".join(texts_of(longest)).split())


def test_missing_weasyprint_has_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(
        PrintError, match=r"WeasyPrint.* is not installed; run pip install weasyprint.*Pango"
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
    texts: list[str] = []

    def listen(self: OpenerDirector, request: Request, *_: object, **__: object) -> None:
        texts.append(request.full_url)
        raise OSError(self)

    for address in (tmp_path.as_uri(), "http://127.0.0.1:1", "ftp://127.0.0.1:1", "data:text/css,"):
        with monkeypatch.context() as patch:
            patch.setattr(OpenerDirector, "open", listen)
            data = print_html(f"<html>{FETCHED.format(address)}</html>", "A4", compact=False)
        assert "printed" in text_of(data)
    assert texts == []
