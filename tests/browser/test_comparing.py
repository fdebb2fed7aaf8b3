"""Comparing in a real browser: three labs, a download, a batch."""

from playwright.sync_api import Page, expect

from tests.browser import driving
from tests.browser.visiting import press, show


def test_comparison_downloads_and_batch_is_accessible(app_page: Page) -> None:
    driving.open_app(app_page, "/Compare?study=psy_stroop")
    press(app_page, "The three labs")
    with app_page.expect_download() as begun:
        app_page.get_by_role("button", name="Download as CSV").click()
    text = begun.value.path().read_text(encoding="utf-8-sig")
    assert text.splitlines()[0] == '"Part","What","easy lab","medium lab","hard lab"'
    assert '"What differs","Budget, credits","1700","1000","620"' in text.splitlines()
    show(app_page, "Many negotiations")
    press(app_page, "Run")
    expect(app_page.get_by_role("button", name="Results as CSV")).to_be_visible()
    expect(app_page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    shares = app_page.locator("table.shares")
    for view in driving.looks(app_page, (driving.PROJECTOR, driving.PROJECTOR_DARK, driving.PHONE)):
        driving.assert_accessible(app_page)
        for part in (app_page.get_by_test_id("stMain"), shares.locator("xpath=..")):
            wide, room = part.evaluate("one => [one.scrollWidth, one.clientWidth]")
            assert wide <= room, f"{view}: {wide} px in {room} px"
        cells = shares.locator("th, td")
        heights = cells.evaluate_all("cells => cells.map(cell => cell.offsetHeight)")
        assert max(heights) < 150, f"{view}: words are broken into letters"
