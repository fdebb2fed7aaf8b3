"""From a key press to the paint, in a real browser, as a ratio to a stock app in the same run."""

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from replicalab.ui.workspace import Workspace, stories, to_query
from tests.bench.measuring import hold
from tests.browser.driving import APP, CHROMIUM_FLAGS, AppServer, find_chromium
from tests.browser.visiting import COMPARING

pytestmark = pytest.mark.bench

TURNS: Final = 23
WARMING: Final = 3  # of the turns on each page, which do not count
STARTS: Final = 5
QUIET_MS: Final = 350  # a page without a change for this time is painted

STOCK: Final = """
import streamlit as st

number = st.number_input("Number", value=1)
st.write(f"The number is {number}.")
"""


def query(state: str, **shown: object) -> str:
    workspaces = {story.key: story.workspace for story in stories()} | {"first visit": Workspace()}
    return urlencode(to_query(workspaces[state].replace(**{"presenting": 0, **shown})))


STATES: Final = {name: query(name) for name in ("first visit", *(s.key for s in stories()))}

WATCH: Final = """
quiet => {
  window.painted = new Promise(resolve => {
    let began = null, last = null, timer = null;
    const begin = event => {
      const acts = event.type === "click" || /^(Enter|Arrow)/.test(event.key);
      if (acts) began = began ?? performance.now();
    };
    addEventListener("keydown", begin, true);
    addEventListener("click", begin, true);
    const settle = () => { clearTimeout(timer); timer = setTimeout(done, quiet); };
    const seen = new MutationObserver(() => {
      if (began === null) return;
      requestAnimationFrame(() => { last = performance.now(); settle(); });
    });
    const done = () => {
      seen.disconnect();
      removeEventListener("keydown", begin, true);
      removeEventListener("click", begin, true);
      resolve(last - began);
    };
    seen.observe(document.body, {childList: true, characterData: true, subtree: true});
  });
}
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = find_chromium(playwright.chromium.executable_path)
        if chromium is None:
            pytest.skip("no Chromium found; name one in REPLICALAB_CHROMIUM")
        result = playwright.chromium.launch(executable_path=chromium, args=list(CHROMIUM_FLAGS))
        yield result
        result.close()


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stock")
    (folder / "pages").mkdir()
    (folder / "stock.py").write_text(STOCK)
    (folder / "pages" / "1_Other.py").write_text(STOCK.replace("Number", "Other number"))
    return folder / "stock.py"


@pytest.fixture(scope="module")
def stock_url(stock: Path) -> Iterator[str]:
    with AppServer(stock, stock.with_suffix(".log")) as server:
        yield server.url


@pytest.fixture(scope="module")
def our_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with AppServer(APP, tmp_path_factory.mktemp("ours") / "server.log") as server:
        yield server.url


def opened(browser: Browser, address: str) -> Page:
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto(address)
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for(
        state="attached"
    )
    page.wait_for_timeout(2500)
    return page


def painted(page: Page, act: Callable[[], object]) -> float:
    page.evaluate(WATCH, QUIET_MS)
    act()
    taken: float = page.evaluate("window.painted")
    return taken


Act = Callable[[int], float]
"""Something done on a page for one turn; returns the milliseconds to its paint."""


def typing(page: Page, label: str) -> Act:
    field = page.get_by_role("spinbutton", name=label, exact=True)
    start = int(field.input_value() or 1)

    def act(turn: int) -> float:
        field.fill(str(start + 1 + turn % 2))
        return painted(page, lambda: field.press("Enter"))

    return act


def pulling(page: Page, label: str) -> Act:
    slider = page.get_by_role("slider", name=label)
    return lambda turn: painted(page, lambda: slider.press(_arrow(turn)))


def stepping(page: Page) -> Act:
    return lambda turn: painted(page, lambda: page.keyboard.press(_arrow(turn + 1)))


def _arrow(turn: int) -> str:
    return "ArrowRight" if turn % 2 else "ArrowLeft"


def choosing(page: Page, names: tuple[str, str]) -> Act:
    return lambda turn: painted(
        page, page.get_by_role("radio", name=names[turn % 2], exact=True).click
    )


def moving(page: Page, links: tuple[str, str]) -> Act:
    return lambda turn: painted(
        page, page.get_by_role("link", name=links[turn % 2], exact=True).first.click
    )


def medians(stock: Page, blank: Act, ours: Page, full: Act) -> tuple[float, float]:
    """Return the median milliseconds on the stock page and on ours.

    They take turns: what else the machine does falls on both alike.
    """
    times = []
    for turn in range(TURNS):
        pair = []
        for page, act in ((stock, blank), (ours, full)):
            page.bring_to_front()
            pair.append(act(turn))
        times.append(pair)
    first, second = zip(*times[WARMING:], strict=True)
    stock.close()
    ours.close()
    return statistics.median(first), statistics.median(second)


class Task(NamedTuple):
    """An act on one of our pages, its address, and its bar."""

    bar: str
    detail: str
    address: str
    act: Callable[[Page], Act]


EDITS: Final[tuple[tuple[str, str, Callable[[Page], Act]], ...]] = (
    ("an edit on Protocol", "sample size", partial(typing, label="Sample size")),
    ("an edit on Protocol", "duration (days)", partial(typing, label="Duration (days)")),
    ("a point on Trade-offs", "samples", partial(typing, label="Point: samples")),
    ("a slider on Trade-offs", "the budget", partial(pulling, label="Budget, credits")),
)
CASES: Final = [
    *(
        Task(bar, f"{state}: {what}", f"/{bar.rpartition(' ')[2]}?{text}", act)
        for state, text in STATES.items()
        for bar, what, act in EDITS
    ),
    *(
        Task(bar, state, f"/Negotiation?{query(state, **record)}", stepping)
        for state in STATES
        if state != "plan_that_fits"  # its negotiation has one round
        for bar, record in (("a round of a negotiation", {}), ("a slide", {"presenting": 1}))
    ),
    Task(
        "a click on what is beside, Compare",
        "three labs",
        COMPARING,
        partial(choosing, names=("easy", "hard")),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.bar}, {case.detail}")
def test_act_to_paint(
    case: Task, browser: Browser, stock_url: str, our_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    page, ours = opened(browser, stock_url), opened(browser, f"{our_url}{case.address}")
    blank, full = medians(page, typing(page, "Number"), ours, case.act(ours))
    detail = f"{case.detail}: {full:.0f} ms to {blank:.0f} ms"
    hold(capsys, case.bar, full / blank, detail)


def test_move_between_pages(
    browser: Browser, stock_url: str, our_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    page, ours = opened(browser, stock_url), opened(browser, our_url)
    pair = moving(page, ("Other", "stock")), moving(ours, ("Protocol", "Scenarios"))
    blank, full = medians(page, pair[0], ours, pair[1])
    hold(capsys, "move between pages", full / blank, f"{full:.0f} ms to {blank:.0f} ms")


def test_cold_start(
    browser: Browser, stock: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def start(app: Path, text: str) -> float:
        began = time.perf_counter()
        with AppServer(app, tmp_path / "cold.log") as server:
            page = browser.new_page()
            page.goto(server.url)
            # In the page, at each of its frames: from here it would be asked twice a second.
            page.wait_for_function("text => document.body.innerText.includes(text)", arg=text)
            taken = time.perf_counter() - began
            page.close()
        return taken

    apps = (stock, "The number is"), (APP, "Plan a replication")
    starts = [[start(*app) for app in apps] for _ in range(STARTS)]
    blank, full = map(statistics.median, zip(*starts, strict=True))
    hold(capsys, "cold start", full / blank, f"{full:.2f} s to {blank:.2f} s")
