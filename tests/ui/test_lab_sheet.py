"""A lab's own sheet of items in the drawer: proposed, changed, seen row by row, and taken."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any, Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.lexicon import count_text
from replicalab.library import EntryKind
from replicalab.scenarios import LabOverrides, lab_json, load_scenario, read_lab
from replicalab.ui.library.shelf import owner, shelf
from tests.tables.messy import DAY_ONE, MESSY, Messy
from tests.ui.acting import can_press, labels, press, undo
from tests.ui.reading import in_drawer
from tests.ui.test_lab_form import again, at, drawer
from tests.ui.walking import show

HAND_OVER: Final = "Open a lab, or a list of items (CSV or Excel)"


def hand_over(app: AppTest, name: str, data: bytes) -> AppTest:
    """Hand a file over in the drawer."""
    app = at(app, "Save")
    uploader = next(each for each in app.file_uploader if each.label == HAND_OVER)
    uploader.set_value((name, data, "text/csv"))
    app.session_state["lab_is_open"] = True
    return show(app, "Save", "lab_part")


def choose(app: AppTest, label: str, value: Any) -> AppTest:
    """Answer a question of the form, which stays open."""
    fields = [*app.selectbox, *app.radio, *app.date_input]
    next(field for field in fields if field.label == label).set_value(value)
    return again(app)


def own_lab(app: AppTest) -> LabOverrides:
    """Return what the workspace says of the lab."""
    found: LabOverrides = app.session_state["state"].workspace.case.own_lab
    return found


def take(app: AppTest, number: int) -> AppTest:
    """Take the items that were read, and stay in the drawer."""
    app.session_state["lab_is_open"] = True
    app.session_state["lab_part"] = "Save"
    return press(app, f"Take {count_text(number, 'item')}")


ANSWERS: Final[dict[str, tuple[tuple[str, Any], ...]]] = {
    "german": (),
    "second_sheet": (("All items are", "equipment"),),
    "states_in_words": (),
    "dates_and_currency": (("All items are", "reagent"), ("Date of the lab’s day 1", DAY_ONE)),
    "repeated_rows": (("All items are", "reagent"),),
}
"""What is answered besides what is proposed; nobody but the lab knows it."""


@pytest.mark.parametrize("make", MESSY.values(), ids=MESSY)
def test_messy_sheet_is_read_wholly_once_its_questions_are_answered(
    make: Callable[[], Messy],
) -> None:
    messy = make()
    app = hand_over(drawer(), messy.name, messy.data)
    assert own_lab(app) == LabOverrides(), "nothing is taken before it is confirmed"
    for label, value in ANSWERS[make.__name__]:
        assert f"Take {len(messy.items)} items" not in labels(app)
        app = choose(app, label, value)
    told = in_drawer(app)
    assert "This is a proposal of how to read it" in told
    assert f"{len(messy.items)} items of 40 rows" in told
    assert ("10 rows repeated" in told) is bool(messy.repeated)
    assert ("rows left out" in told) is bool(messy.left_out)
    assert "rows not read" not in told
    take(app, len(messy.items))
    differ = load_scenario("fin_momentum").said_otherwise(messy.items)
    assert own_lab(app).items == differ
    assert own_lab(app).sheet == messy.mapping
    counts = f"{len(messy.items)} items read from {messy.name}; {len(differ)} differ"
    assert counts in in_drawer(app)
    assert "Take nothing" not in labels(again(app))
    undo(app)
    assert own_lab(app) == LabOverrides()


@pytest.mark.usefixtures("browsers")
def test_next_months_sheet_is_read_as_the_last_one_of_a_lab_that_was_kept() -> None:
    messy = MESSY["dates_and_currency"]()
    app = hand_over(drawer(), messy.name, messy.data)
    for label, value in ANSWERS["dates_and_currency"]:
        choose(app, label, value)
    take(app, len(messy.items))
    next(
        field for field in at(app, "Save").text_input if field.label == "Name of this lab"
    ).set_value("Ours")
    press(at(app, "Save"), "Save this lab")
    [entry] = shelf().entries(owner(), EntryKind.LAB)
    assert read_lab(shelf().read(owner(), entry.id).content.encode()).sheet == messy.mapping
    other = drawer("Save", study="psy_stroop")
    press(at(other, "Save"), "Use")
    hand_over(other, messy.name, messy.data)
    assert "is read as that one was. Day 1 is 2026-05-04." in in_drawer(other)
    assert not form_is_open(other)
    take(other, len(messy.items))
    assert own_lab(other).sheet == messy.mapping


@pytest.mark.parametrize(
    ("currency", "taken", "head"),
    [
        ("EUR", "", "EUR"),
        ("CHF", "1 EUR is taken as 1 CHF.", "CHF"),
        ("credits", "1 EUR is taken as 1 credit.", "Credits"),
    ],
)
def test_prices_of_a_sheet_are_told_in_the_currency_of_the_lab(
    currency: str, taken: str, head: str
) -> None:
    app = hand_over(drawer(), "lab.json", lab_json(LabOverrides(currency=currency)).encode())
    app = hand_over(app, "a.csv", "Item;Status;Price\nmug;available;€ 4\n".encode())
    told = in_drawer(choose(app, "All items are", "equipment"))
    assert taken in told
    assert told.count("is taken as") == bool(taken)
    assert ("redit" in told) is (currency == "credits")
    assert head in told
    take(app, 1)
    assert "1 item read from a.csv; 1 differs from the study’s lab." in in_drawer(app)


def form_is_open(app: AppTest) -> bool:
    """Return whether the questions are seen, and not folded away."""
    [form] = [part for part in app.expander if part.label == "How it is read"]
    return bool(form.proto.expanded)


def test_what_is_new_in_next_months_sheet_is_told_and_asked() -> None:
    head, row = "Item;Status;Price\n", "A;at Kim's;€ 1\n"
    app = hand_over(drawer(), "may.csv", f"{head}{row}".encode())
    assert form_is_open(app)
    choose(app, "All items are", "reagent")
    choose(app, "“at Kim's” means", "booked")
    take(app, 1)
    for more, new in (
        ("", ""),
        ("B;broken;2\nC;lost & found;3\n", " New in it: 'broken' and 'lost & found'."),
        ("B;at Kim's;$ 2\n", " New in it: '$'."),
        ("B;at Kim's;1,250\n", ""),
    ):
        hand_over(app, "june.csv", f"New title\n\n{head}{row}{more}".encode())
        assert f"is read as that one was.{new}" in in_drawer(app)
        assert form_is_open(app) is bool(more)
        assert next(f for f in app.selectbox if f.label == "“at Kim's” means").value == "booked"


def test_rows_that_cannot_be_read_are_told_and_the_others_are_taken() -> None:
    app = hand_over(
        drawer(), "a.csv", b"Stock list\nItem;Status;Price\nA;here;5\nB;gone;x\nC;ok;1\n"
    )
    assert not can_press(app, "Take 0 items")
    assert "Nothing says which items are equipment and which are reagents: choose a" in in_drawer(
        app
    )
    choose(app, "All items are", "reagent")
    assert "1 item of 3 rows; 2 rows not read." in in_drawer(app)
    choose(app, "“here” means", "available")
    choose(app, "“gone” means", "left out")
    assert "2 items of 3 rows; 1 row left out." in in_drawer(app)
    choose(app, "“gone” means", "out of stock")
    why = "Price: 'x' is no price that is 0 or more; write a number such as 12.5"
    assert f"4 | B | fails {why}" in in_drawer(app)
    take(app, 2)
    assert [item.label for item in own_lab(app).items] == ["A", "C"]
    assert "1 row could not be read." in in_drawer(app)


def test_sheet_row_and_columns_can_be_changed_and_no_column_says_two_things() -> None:
    messy = MESSY["second_sheet"]()
    app = hand_over(drawer(), messy.name, messy.data)
    choose(app, "Sheet", "Read me")
    assert "row 1: Equipment of the imaging core" in options(app, "Row of the headings")
    choose(app, "Sheet", "Instruments")
    choose(app, "Row of the headings", 1)
    assert options(app, "Name of the item")[:2] == ["not used", "Imaging core: instruments"]
    choose(app, "Row of the headings", 3)
    choose(app, "Where it stands", "Item name")
    choose(app, "All items are", "equipment")
    assert "One column is to say two things: choose another for one of them." in in_drawer(app)
    choose(app, "Where it stands", "")
    choose(app, "Name of the item", "")
    assert "No column names the items: choose one." in in_drawer(app)
    choose(app, "Name of the item", "Room")
    assert "40 items of 40 rows." in in_drawer(app)
    choose(app, "Where it stands", "Item name")
    assert "More than 30 different words stand in the column of “Where it stands”" in in_drawer(app)
    press(again(app), "Take nothing")
    assert "How it is read" not in in_drawer(again(app))
    assert own_lab(app) == LabOverrides()


def test_title_between_the_items_is_left_out_by_its_name_and_next_month_too() -> None:
    rows = b"Item;Status\nA;ok\n Optics \nB;ok\noptics\n"
    app = hand_over(drawer(), "a.csv", rows)
    choose(app, "All items are", "equipment")
    assert "3 items of 4 rows; 1 row repeated." in in_drawer(app)
    [field] = [each for each in app.multiselect if each.label == "Leave these out"]
    assert field.options == ["A", "Optics", "B"], "each name once"
    field.set_value([" Optics "])
    assert "2 items of 4 rows; 2 rows left out." in in_drawer(again(app))
    take(app, 2)
    assert [item.label for item in own_lab(app).items] == ["A", "B"]
    assert "2 items of 5 rows; 2 rows left out; 1 row not read." in in_drawer(
        hand_over(app, "b.csv", rows + b"C;what\n")
    )


def test_answers_are_there_again_after_a_look_at_another_tab_and_a_file_that_is_refused() -> None:
    rows = b"Title\nItem;Status;Price;Free from\nA;here;1,250;3/4/2026\nB;ok;1;-\n"
    app = hand_over(drawer(), "a.csv", rows)
    for label, value in (
        *(("All items are", "reagent"), ("“here” means", "booked"), ("“ok” means", "left out")),
        *(("A price of 1,250 is", "1250"), ("3/4/2026 is", "4 March")),
        ("Date of the lab’s day 1", date(2026, 3, 1)),
    ):
        choose(app, label, value)
    told = "3 | A reagent | booked until day 3 2026-03-04 | 1,250"
    assert told in in_drawer(app)
    at(app, "Items")
    assert told in in_drawer(at(app, "Save"))
    hand_over(app, "b.xlsx", b"PK")
    assert "b.xlsx: the file is no Excel workbook" in in_drawer(app)
    assert told in in_drawer(again(app))
    hand_over(app, "c.csv", f"{HEAD}cup,reagent,,,\n".encode())
    assert "Take nothing" not in labels(again(app)), "another file takes its place"


def options(app: AppTest, label: str) -> list[str]:
    """Return what a list of the form offers."""
    return list(next(field for field in app.selectbox if field.label == label).options)


HEAD: Final = "name,kind,state,until,price\n"


def test_file_in_the_form_of_the_template_is_told_its_faults_and_can_be_read_otherwise() -> None:
    app = hand_over(drawer(), "a.csv", f"{HEAD}mug,reagent,gone,,€5\n".encode())
    assert "row 2, state: 'gone' is not known here" in in_drawer(app)
    choose(app, "“gone” means", "out of stock")
    assert "row 2, state" not in in_drawer(app)
    take(app, 1)
    assert [(item.label, item.price) for item in own_lab(app).items] == [("mug", 5)]
    hand_over(app, "b.csv", f"{HEAD}cup,reagent,,,\n".encode())
    assert [item.label for item in own_lab(app).items] == ["cup"]
    assert own_lab(app).sheet is not None, "the next sheet of the other form is read as before"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", b"Item;Status\n"),
        ("a.csv", b"a\n" * 10**6),
        ("a.xlsx", b"PK\x03\x04" + b"x" * 99),
        ("a.csv", b""),
        ("a.csv", b'Item;Status\n"a;b'),
    ],
    ids=["header", "a million rows", "damaged", "empty", "open quote"],
)
def test_file_without_a_table_is_refused_and_nothing_is_asked(name: str, data: bytes) -> None:
    app = hand_over(drawer(), name, data)
    assert f"{name}: " in in_drawer(app)
    assert "Take nothing" not in labels(app)
    assert own_lab(app) == LabOverrides()


def test_hostile_texts_of_a_sheet_are_shown_as_text() -> None:
    heading, word = "**Item** <b>x</b>", "[a](javascript:b) `c`"
    app = hand_over(drawer(), "<b>.csv", f"{heading};Status\n<i>mug</i>;{word}\n".encode())
    choose(app, "Name of the item", heading)
    choose(app, "All items are", "reagent")
    [question] = [field.label for field in app.selectbox if "javascript" in field.label]
    assert question == r"“\[a\](javascript\:b) \`c\`” means"
    choose(app, question, "booked")
    take(app, 1)
    assert own_lab(app).items[0].label == "<i>mug</i>"


def test_more_items_than_a_lab_takes_are_told_and_not_taken() -> None:
    rows = "".join(f"item {n};in stock\n" for n in range(201))
    app = hand_over(drawer(), "a.csv", f"Item;Status\n{rows}".encode())
    choose(app, "All items are", "reagent")
    assert "the file lists 201 items; keep those that your studies may need" in in_drawer(app)
    assert not can_press(app, "Take 201 items")
    assert "1 more row read." in in_drawer(app)


def test_date_of_the_first_day_counts_the_days() -> None:
    app = hand_over(drawer(), "a.csv", b"Item;Booked until;Type\nA;3/4/2026;Device\n")
    assert "“Device” means" in [field.label for field in app.selectbox]
    choose(app, "3/4/2026 is", "3 April")
    assert "is a date, and day 1 has none" in in_drawer(app)
    choose(app, "Date of the lab’s day 1", date(2026, 4, 1))
    assert "booked until day 3 2026-04-03" in in_drawer(app)


def test_dates_count_from_the_start_date_of_the_lab_and_past_its_weekends() -> None:
    app = drawer()
    now = app.session_state["state"]
    ours = LabOverrides(start_date=date(2026, 4, 1), weekends=False)  # a Wednesday
    now.workspace = now.workspace.changed(own_lab=ours)
    app = hand_over(app, "a.csv", b"Item;Booked until;Type\nA;2026-04-07;Device\n")
    choose(app, "“Device” means", "equipment")
    assert "Day 1 is Wed 1 Apr 2026, as the lab’s calendar says; weekends do not count." in [
        each.value for each in app.caption
    ]
    assert "Date of the lab’s day 1" not in [each.label for each in app.date_input]
    [item] = own_lab(take(app, 1)).items
    assert (item.label, item.until) == ("A", 5)
