"""Documents in a real browser: on the screen of a phone, read by axe, and printed to paper."""

from base64 import b64encode
from datetime import date
from pathlib import Path

import streamlit
from playwright.sync_api import Page

from replicalab.facts.document_facts import funding_request
from replicalab.render.html import STYLE, document_html, preview
from tests.browser.driving import PHONE, PROJECTOR, assert_accessible
from tests.reports.making import pages_in, strangers, work

SHEETS = (
    ("fin_momentum", "medium", "A4"),
    ("psy_ego_depletion", "hard", "Letter"),
    ("math_four_colour", "hard", "A4"),
)


def app_font() -> str:
    media = Path(streamlit.__file__).parent / "static" / "static" / "media"
    [file] = media.glob("SourceSansVF-Upright*.woff2")
    data = b64encode(file.read_bytes()).decode()
    face = f"font-family: app; src: url(data:font/woff2;base64,{data}); font-weight: 200 900"
    return f"<style>@font-face {{ {face} }}</style>"


def assert_preview_breaks_no_word(page: Page) -> None:
    offered = work("psy_ego_depletion", "hard", "offered")
    documents = funding_request(offered.options, on=date(2026, 3, 2)), offered.report()
    for window, width in ((PHONE.width, 282), (PROJECTOR.width, 560)):  # the width of a drawer
        page.set_viewport_size({"width": window, "height": 800})
        for document in documents:
            text = f"<div style='width: {width}px; font-family: app'>{preview(document)}</div>"
            page.set_content(f"{STYLE}{app_font()}{text}")
            page.evaluate("document.fonts.ready")
            assert page.evaluate(BROKEN) == [], (document.about, width)


# Short words broken over two lines, and tables that are too wide.
BROKEN = r"""() => {
  const found = [];
  for (const table of document.querySelectorAll("table")) {
    if (table.scrollWidth > table.parentElement.clientWidth + 8)
      found.push(table.caption.textContent);
    const texts = document.createTreeWalker(table, NodeFilter.SHOW_TEXT), range = new Range();
    while (texts.nextNode()) {
      if (texts.currentNode.parentElement.closest(".long")) continue;
      for (const word of texts.currentNode.data.matchAll(/[\p{L}\p{N}]{2,20}/gu)) {
        range.setStart(texts.currentNode, word.index);
        range.setEnd(texts.currentNode, word.index + word[0].length);
        if (range.getClientRects().length > 1) found.push(word[0]);
      }
    }
  }
  return found;
}"""


def test_document_fits_screen_and_paper(page: Page) -> None:
    assert_preview_breaks_no_word(page)
    for study, lab, paper in SHEETS:
        page.set_content(document_html(work(study, lab, "offered").brief()))
        assert pages_in(page.pdf(format=paper, prefer_css_page_size=False)) == 1, study
    for result in (strangers()["run"], work("psy_ego_depletion", "hard")):
        for document in (result.brief(), result.report()):
            for view in (PROJECTOR, PHONE):
                page.set_viewport_size({"width": view.width, "height": view.height})
                page.set_content(document_html(document))
                assert_accessible(page)
                wide, room = page.evaluate(WIDTHS)
                assert wide <= room, f"{document.about} at {view.width} px"


WIDTHS = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
