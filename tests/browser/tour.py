"""`make tour` walks the running app and writes docs/tour.md and all pictures of the documents."""

import sys
import tempfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from textwrap import fill
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

from replicalab.scenarios import Difficulty
from replicalab.ui.workspace import TrayCase, stories, to_query
from tests.browser import driving
from tests.browser.test_tradeoffs_journey import wait_for_chart
from tests.browser.visiting import press

DOCS: Final = driving.ROOT / "docs"
_COLOURS: Final = 128
_FILM_SIZE: Final = (960, 540)
_FRAME_MS: Final = 4000
_STORY: Final = next(story for story in stories() if story.key == "half_the_sample")
_QUERY: Final = urlencode(to_query(_STORY.workspace.replace(presenting=0)))
_SLIDE: Final = urlencode(to_query(_STORY.workspace.replace(presenting=3)))
_LABS: Final = tuple(
    TrayCase(name=level, case=_STORY.workspace.replace(lab=level).case) for level in Difficulty
)
_COMPARING: Final = urlencode(to_query(_STORY.workspace.replace(presenting=0, tray=_LABS)))
_HEAD: Final = f"""# ReplicaLab in two minutes

The story *{_STORY.title}*, from the study to the report. `make tour` takes the pictures.
"""


def _nothing(_: Page) -> None:
    """Do nothing more than open the page."""


def _opens(name: str) -> Callable[[Page], None]:
    return lambda page: press(page, name)


def _to(heading: str) -> Callable[[Page], None]:
    def scroll(page: Page) -> None:
        locator = page.get_by_role("heading", name=heading).first
        locator.evaluate("each => each.scrollIntoView({block: 'center'})")

    return scroll


class Stop(NamedTuple):
    """A picture of the tour.

    Attributes:
        name: path of its file in docs, without the extension.
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
        "tour/scenarios",
        "Choose a study",
        "Each published study has three labs. Add your own study by a form, a power analysis or a"
        " file.",
        "/",
    ),
    Stop(
        "tour/study",
        "Read the study",
        "Claim, disputed points, method and numbers of the paper, each with its source and "
        "confidence; allowed substitutions and their price.",
        f"/Study?{_QUERY}",
    ),
    Stop(
        "tour/protocol",
        "Edit the plan",
        "Every edit is checked on seven dimensions. Here the plan is over the budget.",
        f"/Protocol?{_QUERY}",
    ),
    Stop(
        "tour/change",
        "Suggested changes",
        "The Lab Manager's changes, one button each, and the least-loss plan: savings, and cost in "
        "evidence.",
        f"/Protocol?{_QUERY}",
        _to("What to change"),
    ),
    Stop(
        "tour/negotiation",
        "Negotiate",
        "The Scientist protects the evidence, the Lab Manager the lab. By default the "
        "Scientist gives up one thing each round. Step through the rounds, fork one, or take "
        "either seat.",
        f"/Negotiation?{_QUERY}",
    ),
    Stop(
        "tour/present",
        "Present",
        "The negotiation as slides: the claim, each concession with its answer, the decision.",
        f"/Protocol?{_SLIDE}",
    ),
    Stop(
        "tour/tradeoffs",
        "Compare all plans",
        "Every plan that the lab can run, by days and samples, with each limit as a line. Choose a"
        " point, move a slider, load the plan into the editor.",
        f"/Trade-offs?{_QUERY}",
        wait_for_chart,
    ),
    Stop(
        "tour/compare",
        "Compare",
        "Up to four plans, labs or negotiations next to each other, differences first.",
        f"/Compare?{_COMPARING}",
    ),
    Stop(
        "tour/lab",
        "Your lab",
        "Your budget, days, staff and items, typed or read from a sheet. Every page uses them.",
        f"/Protocol?{_QUERY}",
        _opens("Your lab"),
    ),
    Stop(
        "tour/share",
        "Share",
        "A link, a one-page brief, a report, a registration form, tables, and a bundle.",
        f"/Protocol?{_QUERY}",
        _opens("Share"),
    ),
)


def guide() -> str:
    parts = (
        f"\n## {number}. {stop.title}\n\n{fill(stop.caption, 100)}\n\n"
        f"![{stop.title}]({stop.name}.png)\n"
        for number, stop in enumerate(STOPS, 1)
    )
    return _HEAD + "".join(parts)


def main() -> int:
    chromium = driving.find_chromium()
    if chromium is None:
        sys.stderr.write("No Chromium found: name it in REPLICALAB_CHROMIUM.\n")
        return 1
    with (
        tempfile.TemporaryDirectory() as text,
        driving.AppServer(
            driving.APP, Path(text, "server.log"), environment={"REPLICALAB_DATA": text}
        ) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=chromium, args=[*driving.CHROMIUM_FLAGS]
        )
        record: dict[str, Any] = {**driving.PROJECTOR.context_args(), "base_url": server.url}
        for stop in STOPS:
            context = browser.new_context(**record)
            page = context.new_page()
            driving.count_runs(page)
            _take(page, stop)
            context.close()
        page = browser.new_context(**record).new_page()
        driving.count_runs(page)
        _film(page)
        browser.close()
    (DOCS / "tour.md").write_text(guide(), encoding="utf-8")
    return 0


def _film(page: Page) -> None:
    driving.open_app(
        page, f"/Protocol?{urlencode(to_query(_STORY.workspace.replace(presenting=1)))}"
    )
    expect(page.get_by_role("button", name="Next")).to_be_enabled()
    frames = []
    for number in range(page.locator(".deck > .page").count()):
        if number:
            page.keyboard.press("PageDown")
        page.wait_for_timeout(500)
        with Image.open(BytesIO(page.screenshot(animations="disabled", caret="hide"))) as taken:
            frames.append(taken.convert("RGB").resize(_FILM_SIZE).quantize(_COLOURS // 2))
    file = DOCS / "story.gif"
    first, *others = frames
    first.save(file, save_all=True, append_images=others, duration=_FRAME_MS, loop=0)
    sys.stdout.write(f"{file.relative_to(driving.ROOT)}: {file.stat().st_size // 1024} KiB\n")


def _take(page: Page, stop: Stop) -> None:
    expect.set_options(timeout=20_000)
    driving.open_app(page, stop.address)
    stop.then(page)
    page.wait_for_timeout(1500)  # a drawer slides in, a chart follows its window
    file = DOCS / f"{stop.name}.png"
    page.screenshot(path=file, animations="disabled", caret="hide")
    with Image.open(file) as taken:
        small = taken.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE)
    small.save(file, optimize=True)
    sys.stdout.write(f"{file.relative_to(driving.ROOT)}: {file.stat().st_size // 1024} KiB\n")


if __name__ == "__main__":
    sys.exit(main())
