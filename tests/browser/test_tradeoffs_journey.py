"""Trade-offs in a real browser: choose a point, load it, read tables and labels."""

from typing import Final

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import driving
from tests.browser.visiting import box_of, follow, number, press, type_number

PAGE: Final = "/Trade-offs"
CHART_MS: Final = 30_000
LOAD: Final = "Load this point"
PLOT: Final = ".nsewdrag"


def chart_title(page: Page) -> Locator:
    return page.locator(".st-key-region_chart .gtitle")


def wait_for_chart(page: Page) -> None:
    chart_title(page).wait_for(timeout=CHART_MS)


def opened(page: Page, query: str = "?study=fin_momentum") -> None:
    driving.open_app(page, f"{PAGE}{query}")
    wait_for_chart(page)


def click_chart(page: Page, across: float, up: float) -> None:
    plot = box_of(page.locator(f".st-key-region_chart {PLOT}"))
    x, y = plot["x"] + across * plot["width"], plot["y"] + (1 - up) * plot["height"]
    page.mouse.move(x, y)
    page.wait_for_timeout(200)
    with driving.wait_for_run(page):
        page.mouse.click(x, y)


def test_points_and_plans_are_chosen_in_charts(app_page: Page) -> None:
    _a_click_chooses_a_point(app_page)
    _frontier_loads_the_balanced_plan(app_page)
    _labels_of_the_region_do_not_overlap(app_page)


def _a_click_chooses_a_point(page: Page) -> None:
    opened(page)
    chart, plot = (page.locator(f".st-key-region {part}") for part in (".stPlotlyChart", PLOT))
    assert (box := box_of(chart))["y"] + box["height"] <= driving.PROJECTOR.height, (
        "in the first screen"
    )
    click_chart(page, across=2.5 / 9, up=0.2)
    expect(number(page, "Point: days")).to_have_value("3")
    click_chart(page, across=4.5 / 9, up=0.4)  # nine columns: the middle of the fifth
    expect(number(page, "Point: days")).to_have_value("5")
    samples = int(number(page, "Point: samples").input_value())
    assert 160 <= samples <= 200, "two fifths of a scale that ends a little above 420"
    for across, days in ((5.05, "6"), (4.95, "5")):  # anywhere in a column its day is meant
        click_chart(page, across=across / 9, up=0.4)
        expect(number(page, "Point: days")).to_have_value(days)
    press(page, LOAD)
    type_number(page, "Point: days", 4)
    type_number(page, "Point: samples", 100)
    for view in driving.looks(page, (driving.PROJECTOR, driving.PHONE)):
        cross, room = box_of(page.locator(".st-key-region .over > b")), box_of(plot)
        across = (cross["x"] + cross["width"] / 2 - room["x"]) / room["width"]
        up = 1 - (cross["y"] + cross["height"] / 2 - room["y"]) / room["height"]
        assert across == pytest.approx(3.5 / 9, abs=0.01), view  # the middle of the fourth
        assert up == pytest.approx(100 / 456, abs=0.01), view  # the scale ends at 456
    follow(page, "Protocol")
    expect(number(page, "Sample size")).to_have_value(str(samples))
    expect(number(page, "Duration (days)")).to_have_value("5")


def _frontier_loads_the_balanced_plan(page: Page) -> None:
    opened(page)
    yours = page.get_by_role("rowheader", name="your plan")
    expect(yours).to_have_count(0)
    page.get_by_text("Numbers as a table").click()
    expect(yours).to_be_visible()
    for _ in driving.looks(page, (driving.PHONE_DARK, driving.PROJECTOR)):
        driving.assert_accessible(page)
    with driving.wait_for_run(page):
        page.get_by_text("Evidence for credits").click()
    title = page.locator(".st-key-frontier_chart .gtitle")
    expect(title).to_have_text("Evidence for credits: better plans", timeout=CHART_MS)
    for _ in driving.looks(page, (driving.PHONE_DARK, driving.PROJECTOR)):
        driving.assert_accessible(page)
    press(page, "Load the balanced plan")
    expect(title).to_have_text("Evidence for credits: no plan beats yours")
    follow(page, "Protocol")
    expect(number(page, "Sample size")).to_have_value("262")


LABELS: Final = """() => {
  const boxes = [...document.querySelectorAll('.st-key-region .over > span')]
    .map(e => [e.textContent, e.getBoundingClientRect()]);
  const chart = document.querySelector('.st-key-region_chart').getBoundingClientRect();
  const bad = [];
  boxes.forEach(([text, b], i) => {
    if (b.left < chart.left - 1 || b.right > chart.right + 1) bad.push(text + ' is cut');
    boxes.slice(0, i).forEach(([other, o]) => {
      const across = b.left < o.right - 1 && o.left < b.right - 1;
      if (across && b.top < o.bottom - 3 && o.top < b.bottom - 3)
        bad.push(text + ' covers ' + other);
    });
  });
  return bad;
}"""
"""Labels of the region's chart that cover each other or are cut; letters may touch by 3 px."""


def _labels_of_the_region_do_not_overlap(page: Page) -> None:
    opened(page, "?study=psy_ego_depletion&lab=medium&budget=4600")
    for view in driving.looks(page, (driving.PHONE, driving.PROJECTOR)):
        assert page.evaluate(LABELS) == [], view
    with driving.wait_for_run(page):
        page.get_by_text("Samples that cannot count").click()
    expect(page.get_by_text("Dotted: fits")).to_be_attached()
    for view in driving.looks(page, (driving.PROJECTOR, driving.PHONE)):
        assert page.evaluate(LABELS) == [], f"{view}, with what cannot count"
