"""The argument as one file, opened from disk."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page

from replicalab.features.one_file import slider_values, state_of
from replicalab.lexicon import amount_text
from replicalab.scenarios import list_scenarios
from tests.browser.driving import assert_accessible
from tests.features.test_one_file import plan_in, written

_POSITIONS: Final = 200
_MOVE: Final = """moves => moves.map(places => {
  const sliders = ["budget", "days", "staff"].map(id => document.getElementById(id));
  sliders.forEach((slider, at) => {
    slider.value = places[at];
    slider.dispatchEvent(new Event("input"));
  });
  return ["budget_shown", "days_shown", "staff_shown", "plan", "least"].map(
    id => document.getElementById(id).textContent).concat(sliders.map(s => s.ariaValueText));
})"""

Opened = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Opened:
    def open_file(study: str, lab: str, **how: object) -> Page:
        file = tmp_path / "argument.html"
        file.write_text(written(plan_in(study, lab)), "utf-8")
        page = browser.new_page(viewport={"width": 1280, "height": 720}, **how)  # type: ignore[arg-type]
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.on("pageerror", lambda error: pytest.fail(str(error)))
        page.goto(file.as_uri())
        assert requests == [file.as_uri()]
        return page

    return open_file


def test_sliders_show_the_core_s_results(opened: Opened) -> None:
    for study in [study.scenario_id for study in list_scenarios()]:
        plan, chance = plan_in(study, "medium"), random.Random(study)
        sliders = slider_values(plan)
        moves = [[chance.randrange(len(values)) for values in sliders] for _ in range(_POSITIONS)]
        page = opened(study, "medium")
        for move, shown in zip(moves, page.evaluate(_MOVE, moves), strict=True):
            means = [values[place] for values, place in zip(sliders, move, strict=True)]
            state = state_of(plan, means[0], int(means[1]), int(means[2]))
            numbers = [*map(amount_text, means)]
            assert shown == [*numbers, *(" ".join(pair) for pair in state), *numbers], study
        page.close()


def test_slides_with_keys_and_without_scripts(opened: Opened) -> None:
    page = opened("psy_stroop", "medium")
    assert page.locator(".page:visible").count() == 1
    page.get_by_text("Inputs", exact=True).click()
    assert page.evaluate("scrollTo(0, 9999), scrollY") > 0
    page.keyboard.press("ArrowRight")
    assert page.evaluate("scrollY") == 0
    assert page.locator("#place").inner_text() == "2 of 3"
    page.keyboard.press("End")
    assert page.get_by_label("Budget").is_visible()
    assert_accessible(page)
    page.close()
    page = opened("psy_stroop", "medium", java_script_enabled=False)
    assert page.locator(".page:visible").count() == 3
    assert not page.get_by_role("button", name="Next").is_visible()
    page.close()
