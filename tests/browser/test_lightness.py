"""How light the pages are: words and screens at a projector's size, for each page and some plans.

Numbers, and what a person types in, are no words. What stands in a closed part does not count.
"""

from __future__ import annotations

from typing import Final

import pytest
from playwright.sync_api import Page

from tests.browser.driving import PROJECTOR, open_app
from tests.browser.visiting import ADDRESSES, COMPARING

WORDS: Final = r"""height => {
  const main = document.querySelector('[data-testid=stMain]');
  const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let words = 0;
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    const within = text.parentElement;
    range.selectNodeContents(text);
    const box = range.getBoundingClientRect();
    const seen = box.width > 1 && within.checkVisibility({visibilityProperty: true});
    const told = seen && !within.closest('.unseen, style, [aria-hidden=true], .st-key-navigation');
    if (!told || box.top >= height) continue;
    words += text.textContent.split(/\s+/).filter(part => /\p{L}/u.test(part)).length;
  }
  return words;
}"""
"""Counts the words that are seen above a height of the page, without the navigation's."""

FIRST_SCREEN: Final = 183
READING: Final = 345
"""Of the pages that are read: a study, whose paper stands there, and the table of all studies."""
READ: Final = ("/Study", "/?survey")
OPEN: Final = 450
SCREENS: Final = 2.2


@pytest.mark.parametrize(
    "address",
    [
        *ADDRESSES.values(),
        COMPARING,
        "/?survey=1&budget=900&days=4",
        "/Study?study=bio_jq1_myeloma&lab=hard",
        "/Protocol?study=bio_jq1_myeloma&lab=hard",
        "/Protocol?study=math_four_colour&lab=hard",
        "/Negotiation?study=psy_stroop&round=2",
        "/Negotiation?study=math_four_colour&lab=hard&round=2",
        "/Trade-offs?study=psy_ego_depletion&budget=4600",
    ],
)
def test_page_says_what_it_has_to_say_in_few_words_on_two_screens(
    app_page: Page, address: str
) -> None:
    app_page.set_viewport_size({"width": PROJECTOR.width, "height": PROJECTOR.height})
    open_app(app_page, address)
    app_page.wait_for_timeout(1000)
    first, whole = (app_page.evaluate(WORDS, height) for height in (PROJECTOR.height, 10**6))
    height = app_page.get_by_test_id("stMain").evaluate("element => element.scrollHeight")
    assert 20 <= first <= (READING if address.startswith(READ) else FIRST_SCREEN)
    assert first <= whole <= OPEN
    assert height <= SCREENS * PROJECTOR.height
