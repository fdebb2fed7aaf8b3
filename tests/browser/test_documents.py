"""Documents in a real browser: on the screen of a phone, read by axe, and printed to paper."""

from base64 import b64encode
from datetime import date
from pathlib import Path

import pytest
import streamlit
from playwright.sync_api import Page

from replicalab.facts.documents import funding_request
from replicalab.render.html import STYLE, document_html, preview
from tests.browser.driving import PHONE, PROJECTOR, assert_accessible
from tests.reports.making import pages_in, strangers, work

WORKS = {
    "momentum": lambda: work("fin_momentum", "medium", "offered"),
    "ego depletion": lambda: work("psy_ego_depletion", "hard", "offered"),
    "four colours": lambda: work("math_four_colour", "hard", "offered"),
}


@pytest.mark.parametrize(("name", "paper"), [*zip(WORKS, ("A4", "Letter", "A4"), strict=True)])
def test_brief_prints_on_one_page(page: Page, name: str, paper: str) -> None:
    page.set_content(document_html(WORKS[name]().brief()))
    assert pages_in(page.pdf(format=paper, prefer_css_page_size=False)) == 1


def app_font() -> str:
    media = Path(streamlit.__file__).parent / "static" / "static" / "media"
    [file] = media.glob("SourceSansVF-Upright*.woff2")
    data = b64encode(file.read_bytes()).decode()
    face = f"font-family: app; src: url(data:font/woff2;base64,{data}); font-weight: 200 900"
    return f"<style>@font-face {{ {face} }}</style>"


@pytest.mark.parametrize("width", [282, 560])  # of a drawer on a phone, and on a projector
def test_preview_breaks_no_word(page: Page, width: int) -> None:
    page.set_viewport_size({"width": PHONE.width if width < PHONE.width else 1280, "height": 800})
    options, on = WORKS["ego depletion"]().options, date(2026, 3, 2)
    for document in (funding_request(options, on=on), WORKS["ego depletion"]().report()):
        text = f"<div style='width: {width}px; font-family: app'>{preview(document)}</div>"
        page.set_content(f"{STYLE}{app_font()}{text}")
        page.evaluate("document.fonts.ready")
        assert page.evaluate(BROKEN) == []


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


@pytest.mark.parametrize("name", ["shipped", "strangers"])
def test_document_is_accessible_and_fits_the_width(page: Page, name: str) -> None:
    result = strangers()["run"] if name == "strangers" else work("psy_ego_depletion", "hard")
    for document in (result.brief(), result.report()):
        for view in (PROJECTOR, PHONE):
            page.set_viewport_size({"width": view.width, "height": view.height})
            page.set_content(document_html(document))
            assert_accessible(page)
            wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            assert page.evaluate(wider) <= 0, f"{document.about} at {view.width} px"
