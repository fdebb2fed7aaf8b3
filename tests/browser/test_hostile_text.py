"""Hostile text in a real browser draws the same elements as harmless text of its shape."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from replicalab.ui.workspace import Workspace, to_query
from tests.browser.driving import PHONE, AppServer, forget_visitor, open_app
from tests.browser.visiting import ADDRESSES, follow, press, show, type_text, upload
from tests.hostile import HOST, Write, marked, tame, tamed
from tests.hostile_files import as_file, hostile_plan, hostile_run, hostile_study

_SETTLED: Final = """quiet => new Promise((resolve, reject) => {
  const begun = performance.now();
  let changed = begun;
  const look = () => {
    const now = performance.now();
    const closed = document.querySelectorAll('details:not([open]) > summary');
    closed.forEach(summary => summary.click());
    const rests = document.querySelector('[data-testid=stApp][data-test-script-state=notRunning]');
    const waits = document.querySelector('[data-testid=stSkeleton]');  // a chart on its way
    if (closed.length || !rests || waits) changed = now;
    if (now - changed < quiet) {
      if (now - begun > 20000) reject(new Error('the page never comes to rest'));
      return void setTimeout(look, 20);
    }
    watch.disconnect();
    const found = {};
    for (const one of document.querySelectorAll('[data-testid=stApp] *')) {
      if (one.closest('svg, canvas, [data-testid=stFileUploader], [role=listbox]')) continue;
      if (one.closest('[data-testid^=stTabsScroll]')) continue;  // depends on the scroll position
      if (one.parentElement.closest('code')) continue;  // the colours of JSON
      const look = /badge|katex/i.exec(one.className) || '';
      const kind = [one.tagName, one.dataset.testid || '', look].join(' ').trim();
      found[kind] = (found[kind] || 0) + 1;
    }
    resolve(found);
  };
  const watch = new MutationObserver(() => { changed = performance.now(); });
  watch.observe(document.body, {childList: true, subtree: true});
  look();
})"""
"""The elements of each kind, once all is unfolded and none has come or gone for a while."""
_QUIET_MS: Final = 250
_HOSTS: Final = (
    "[...document.querySelectorAll('a[href], img[src]')].map(e => new URL(e.href || e.src).host)"
)
_TOO_WIDE: Final = """() => {
  const main = document.querySelector('[data-testid=stMain]');
  return [document.documentElement, main].map(e => e.scrollWidth - e.clientWidth);
}"""


def looked_at(page: Page) -> dict[str, int]:
    record: dict[str, int] = page.evaluate(_SETTLED, _QUIET_MS)
    assert max(page.evaluate(_TOO_WIDE)) <= 0, "the page is wider than its window"
    assert HOST not in str(page.evaluate(_HOSTS))
    return record


def tour(page: Page, write: Write, folder: Path) -> Iterator[tuple[str, dict[str, int]]]:
    study = json.loads(hostile_study().text)
    for rule in study["policy_rules"]:  # of punctuation in one there is a finding more
        rule["forbidden_phrases"] = tamed(rule["forbidden_phrases"])
    tame_it = write is tame
    open_app(page)
    show(page, "Make a study")
    press(page, "Start the form")
    show(page, "Advanced")
    type_text(page, "Study file (YAML)", as_file(tamed(study) if tame_it else study))
    yield "study in the editor", looked_at(page)
    for name in ("Comparison", "Needs", "Check"):
        show(page, name)
        yield f"form: {name}", looked_at(page)
    press(page, "Use this study")
    for name in ADDRESSES:
        follow(page, name)
        yield f"study on {name}", looked_at(page)
    follow(page, "Study")
    for name in ("The lab", "Substitutions"):
        show(page, name)
        yield name, looked_at(page)
    open_app(
        page, "/Negotiation?study=fin_momentum&rounds=5"
    )  # an empty address would offer the draft
    (folder / "run.json").write_text(hostile_run(write), encoding="utf-8")
    upload(page, folder / "run.json")
    expect(page.get_by_text("cannot be opened")).to_have_count(0)
    yield "run", looked_at(page)
    press(page, "Next")
    yield "a later round", looked_at(page)
    text = write(9)
    page.goto("about:blank")
    plain = to_query(Workspace().replace(plan=hostile_plan(200, write)))
    for query in (plain, {"recording": text, "lab": text}):
        open_app(page, f"/Protocol?{urlencode(query)}")
        yield f"a link with {', '.join(query)}", looked_at(page)


@pytest.mark.parametrize("view", [PHONE], ids=str)
def test_hostile_text_draws_no_new_elements(
    app_page: Page, app_server: AppServer, tmp_path: Path
) -> None:
    harmless = list(tour(app_page, tame, tmp_path))
    forget_visitor(app_page, app_server.url)  # the twin is another visitor's
    hostile = list(tour(app_page, marked, tmp_path))
    assert len(hostile) > 15
    for (name, drawn), (_, expected) in zip(hostile, harmless, strict=True):
        assert drawn == expected, name
