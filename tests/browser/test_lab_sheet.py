"""A lab's own sheet of forty rows, messy as they are, read into the lab in a few acts."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from playwright.sync_api import Page, expect

from tests.browser.driving import (
    PHONE_DARK,
    PROJECTOR,
    assert_accessible,
    looks,
    open_app,
    wait_for_run,
)
from tests.browser.test_questions import Visitor
from tests.browser.visiting import press, show, strike, upload, where
from tests.tables.messy import MESSY

WORDS: Final = ("in stock", "at Kim's", "worn out")


def written(folder: Path) -> Path:
    """Return a sheet of a workshop: titles, words and a heading that nobody else uses, dates."""
    rows = ["Workshop of the second floor;;;;", "as of 4 May 2026;;;;", ""]
    rows.append("Thing;Status;Back on;Einzelpreis (€);Shelf")
    for n in range(40):
        back = f"{n % 28 + 1}/6/2026" if n % 3 == 1 else "-"
        rows.append(f"Größe {n};{WORDS[n % 3]};{back};1.0{n:02d},50 €;{n}")
    rows += [f"Größe {n};{WORDS[n % 3]};-;1.0{n:02d},50 €;{n}" for n in (0, 2)]
    file = folder / "workshop.csv"
    file.write_bytes("\r\n".join(rows).encode("cp1252"))
    return file


def test_messy_sheet_of_forty_rows_is_read_into_the_lab_in_twenty_acts(
    app_page: Page, tmp_path: Path
) -> None:
    visitor, drawer = Visitor(app_page), app_page.get_by_role("dialog")
    open_app(app_page, "/Protocol")
    visitor.presses("Your lab")
    visitor.opens("Save")
    visitor.acts.append("the file")
    upload(app_page, written(tmp_path))
    expect(drawer).to_contain_text("This is a proposal of how to read it")
    visitor.chooses("Name of the item", "Thing")
    visitor.clicks(drawer.get_by_text("equipment", exact=True).last, "equipment")
    visitor.chooses("“at Kim's” means", "booked")
    visitor.chooses("“worn out” means", "out of stock")
    visitor.acts.append("Date of the lab’s day 1")
    drawer.get_by_role("spinbutton", name="year, Date of the lab’s day 1").click()
    app_page.keyboard.type("20260504")
    strike(app_page, "Tab", "Tab")
    expect(drawer).to_contain_text("40 items of 42 rows; 2 rows repeated.")
    expect(drawer.get_by_role("row", name="Größe 1 equipment")).to_contain_text(
        "booked until day 29"
    )
    expect(drawer.get_by_role("row", name="Größe 39 equipment")).to_contain_text("1,039.50")
    visitor.presses("Take 40 items")
    expect(drawer).to_contain_text("40 items read from workshop.csv; 40 differ")
    visitor.closes_the_drawer()
    expect(where(app_page)).to_contain_text("medium lab, 80 changes")
    visitor.has_answered()


def test_form_of_a_sheet_is_accessible_in_both_themes(app_page: Page, tmp_path: Path) -> None:
    messy = MESSY["dates_and_currency"]()
    file = tmp_path / messy.name
    file.write_bytes(messy.data)
    open_app(app_page, "/Protocol")
    press(app_page, "Your lab")
    show(app_page, "Save")
    upload(app_page, file)
    drawer = app_page.get_by_role("dialog")
    with wait_for_run(app_page):
        drawer.get_by_text("reagent", exact=True).last.click()
    for part in ("How it is read", "Not read", "Read"):
        expect(drawer.get_by_text(part, exact=True)).to_be_attached()
    for _ in looks(app_page, (PROJECTOR, PHONE_DARK)):
        assert_accessible(app_page)
