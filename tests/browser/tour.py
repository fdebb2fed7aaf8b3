"""A tour of the running app: `make tour` walks it, and writes docs/tour.md and its pictures."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from textwrap import fill
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

from replicalab.scenarios import Difficulty
from replicalab.ui.address import to_query
from replicalab.ui.stories import stories
from replicalab.ui.workspace import TrayCase
from tests.browser.driving import (
    APP,
    CHROMIUM_FLAGS,
    PROJECTOR,
    ROOT,
    AppServer,
    count_runs,
    find_chromium,
    open_app,
)
from tests.browser.test_tradeoffs_journey import wait_for_chart
from tests.browser.visiting import press

GUIDE: Final = ROOT / "docs" / "tour.md"
PICTURES: Final = ROOT / "docs" / "tour"
_COLOURS: Final = 128
_STORY: Final = stories()[0]
_QUERY: Final = urlencode(to_query(_STORY.workspace.changed(presenting=0)))
_SLIDE: Final = urlencode(to_query(_STORY.workspace.changed(presenting=4)))
_LABS: Final = tuple(
    TrayCase(name=level, case=_STORY.workspace.changed(lab=level).case) for level in Difficulty
)
_COMPARING: Final = urlencode(to_query(_STORY.workspace.changed(presenting=0, tray=_LABS)))
_HEAD: Final = f"""# ReplicaLab in two minutes

One story from its beginning to what is handed over: *{_STORY.title}*. The pictures
are of the running app; `make tour` takes them anew.
"""


def _nothing(_: Page) -> None:
    """Do nothing more than open the page."""


def _opens(name: str) -> Callable[[Page], None]:
    return lambda page: press(page, name)


def _to(heading: str) -> Callable[[Page], None]:
    def scroll(page: Page) -> None:
        found = page.get_by_role("heading", name=heading).first
        found.evaluate("each => each.scrollIntoView({block: 'center'})")

    return scroll


class Stop(NamedTuple):
    """A picture of the tour.

    Attributes:
        name: of its file.
        title, caption: what is seen, and what it is for.
        address: where it is seen.
        then: what is done there before the picture is taken.
    """

    name: str
    title: str
    caption: str
    address: str
    then: Callable[[Page], None] = _nothing


STOPS: Final = (
    Stop(
        "scenarios",
        "Choose a study",
        "Each published study stands here with three labs, and what each of them lacks. Bring"
        " your own by a form, a power analysis or a file.",
        "/",
    ),
    Stop(
        "study",
        "Read what it found",
        "The paper, each figure with its source and how sure it is, what may be replaced in "
        "it, and at what price.",
        f"/Study?{_QUERY}",
    ),
    Stop(
        "protocol",
        "Plan, and see at once",
        "Every edit is judged on seven dimensions. Cost and evidence stay in sight at the "
        "top; here the plan is over its budget.",
        f"/Protocol?{_QUERY}",
    ),
    Stop(
        "change",
        "What to change",
        "The Lab Manager's changes, one tick each, beside the plan that gives up the least: "
        "what each saves, and what it costs in evidence.",
        f"/Protocol?{_QUERY}",
        _to("What to change"),
    ),
    Stop(
        "negotiation",
        "Let them negotiate",
        "A Scientist asks for what the evidence needs, a Lab Manager answers with what the "
        "lab has. Every round can be stepped through, forked or played by you.",
        f"/Negotiation?{_QUERY}",
    ),
    Stop(
        "present",
        "Present it",
        "The same negotiation as slides, in type for a hall: what was at stake, what each "
        "concession cost, what is to be decided.",
        f"/Protocol?{_SLIDE}",
    ),
    Stop(
        "tradeoffs",
        "Weigh it",
        "Every plan that the lab can run, by days and samples; each limit is one line. Choose"
        " a point, move a lever, load it into the editor.",
        f"/Trade-offs?{_QUERY}",
        wait_for_chart,
    ),
    Stop(
        "compare",
        "Compare",
        "Up to four plans, labs or negotiations side by side, what differs first, and a "
        "decision that is kept.",
        f"/Compare?{_COMPARING}",
    ),
    Stop(
        "lab",
        "Your lab",
        "Your budget, days, people and items in place of the study's, typed or read from a "
        "sheet. Every page uses it.",
        f"/Protocol?{_QUERY}",
        _opens("Your lab"),
    ),
    Stop(
        "share",
        "Hand it over",
        "A link, a brief of one page, a report, a registration form filled in, tables, "
        "pictures, and a bundle that replays.",
        f"/Protocol?{_QUERY}",
        _opens("Share"),
    ),
)


def guide() -> str:
    """Return docs/tour.md."""
    parts = (
        f"\n## {number}. {stop.title}\n\n{fill(stop.caption, 100)}\n\n"
        f"![{stop.title}](tour/{stop.name}.png)\n"
        for number, stop in enumerate(STOPS, 1)
    )
    return _HEAD + "".join(parts)


def main() -> int:
    """Walk the app, and write the guide and its pictures."""
    chromium = find_chromium()
    if chromium is None:
        sys.stderr.write("No Chromium found: name it in REPLICALAB_CHROMIUM.\n")
        return 1
    PICTURES.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as kept,
        AppServer(APP, Path(kept, "server.log"), environment={"REPLICALAB_DATA": kept}) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=[*CHROMIUM_FLAGS])
        asked: dict[str, Any] = {**PROJECTOR.context_args(), "base_url": server.url}
        for stop in STOPS:
            context = browser.new_context(**asked)
            page = context.new_page()
            count_runs(page)
            _take(page, stop)
            context.close()
        browser.close()
    GUIDE.write_text(guide(), encoding="utf-8")
    return 0


def _take(page: Page, stop: Stop) -> None:
    expect.set_options(timeout=20_000)
    open_app(page, stop.address)
    stop.then(page)
    page.wait_for_timeout(1500)  # a drawer slides in, a chart follows its window
    file = PICTURES / f"{stop.name}.png"
    page.screenshot(path=file, animations="disabled", caret="hide")
    with Image.open(file) as taken:
        small = taken.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    small.save(file, optimize=True)
    sys.stdout.write(f"{file.relative_to(ROOT)}: {file.stat().st_size // 1024} KiB\n")


if __name__ == "__main__":
    sys.exit(main())
