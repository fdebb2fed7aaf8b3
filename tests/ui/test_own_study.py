"""Bring your own study: start, write, see every fault, use it on every page, take it away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from replicalab.scenarios import copy_text, study_text, template_text
from tests.ui.reading import (
    NEGOTIATION,
    PROTOCOL,
    Alert,
    alerts,
    can_press,
    go,
    keyed,
    press,
    query_of,
    run,
    said,
    table,
    texts,
    visit,
    where,
)

MINE: Final = copy_text("psy_stroop", "my_stroop")


@pytest.fixture(autouse=True)
def _empty_cupboard() -> Iterator[None]:
    st.cache_resource.clear()
    yield
    st.cache_resource.clear()


def write(app: AppTest, text: str) -> AppTest:
    """Type a text into the editor and return the app."""
    app.text_area(key="own_text").set_value(text)
    return run(app)


def using(text: str = MINE) -> AppTest:
    """Return the app after a visitor has brought a study and chosen to use it."""
    return press(write(visit(), text), "Use this study")


def faults(app: AppTest) -> list[list[str]]:
    """Return the rows of the table of faults."""
    [number] = [n for n in range(len(app.table)) if "What is wrong" in table(app, n)[0]]
    return table(app, number)[1:]


def own_alert(app: AppTest) -> Alert:
    """Return the box that says whether the file in the editor can be used."""
    [alert] = [a for a in alerts(app) if "can be used" in a.text]
    return alert


def test_editor_starts_with_the_template_and_it_can_be_used() -> None:
    app = press(visit(), "Put it into the editor")
    assert app.text_area(key="own_text").value == template_text()
    assert own_alert(app).colour == "success"


def test_editor_starts_with_a_copy_under_an_id_of_its_own() -> None:
    app = visit()
    app.selectbox(key="own_source").set_value("psy_stroop")
    app = press(app, "Put it into the editor")
    assert "\nscenario_id: my_psy_stroop\n" in str(app.text_area(key="own_text").value)
    assert own_alert(app).colour == "success"


def test_faults_are_named_all_at_once_by_line_field_value_and_remedy() -> None:
    broken = MINE.replace("budget: 620", "budget: -5").replace("staff: 2", "staff: no", 1)
    app = write(visit(), broken)
    lines = [number for number, line in enumerate(broken.splitlines(), 1) if "staff: no" in line]
    assert own_alert(app) == Alert("error", "2 faults. The file can be used when none is left.")
    [staff, budget] = faults(app)
    assert staff == [str(lines[0]), "labs.easy.staff", "'no' is not allowed", staff[3]]
    assert budget[1:] == ["labs.hard.budget", "-5 is not allowed", "must be greater than 0"]


def test_faults_beyond_fifty_are_counted() -> None:
    wrong = "".join(f"wrong_{number}: 1\n" for number in range(60))
    app = write(visit(), f"{MINE}\n{wrong}")
    assert own_alert(app) == Alert(
        "error",
        "60 faults. The file can be used when none is left. The first 50 are listed.",
    )
    assert len(faults(app)) == 50


def test_id_of_a_shipped_study_is_refused() -> None:
    app = write(visit(), study_text("psy_stroop"))
    [fault] = faults(app)
    assert fault == [
        "–",
        "scenario_id",
        "'psy_stroop' is already the id of a study on the shelf",
        "choose another id",
    ]


def test_study_that_is_used_is_open_on_every_page() -> None:
    app = using()
    assert query_of(app)["study"] == "my_stroop"
    assert "100 samples, 4 days, 1,600 credits" in said(app)
    app = go(app, PROTOCOL)
    assert where(app).startswith("Studies of interference in serial verbal reactions")
    app = go(app, NEGOTIATION)
    assert any(alert.text.startswith("Agreed") for alert in alerts(app))


def test_study_that_is_used_stands_first_in_the_gallery_as_yours() -> None:
    app = using()
    assert texts(keyed(app, "card_my_stroop"))[0] == "Psychology · yours"
    assert "13 of 13 studies" in said(app)


def test_address_finds_the_study_again_in_a_new_session() -> None:
    address = query_of(using())
    again = visit(**address)
    assert query_of(again)["study"] == "my_stroop"
    assert not [alert for alert in alerts(again) if "opened" in alert.text]


def test_address_without_its_key_says_that_the_study_is_unknown() -> None:
    address = query_of(using())
    del address["own"]
    again = visit(**address)
    assert query_of(again)["study"] == "fin_momentum"
    assert "study 'my_stroop' cannot be opened" in said(again)


def test_edited_study_replaces_the_one_in_use() -> None:
    app = using()
    changed = MINE.replace("budget: 1000", "budget: 5000")
    app = press(write(app, changed), "Use this study")
    assert "13 of 13 studies" in said(app)
    assert "3 of 7 checks here: protocol, equipment and schedule" in said(app)


def test_study_taken_away_leaves_its_text_in_the_editor() -> None:
    app = press(write(using(), ""), "Remove")
    assert app.text_area(key="own_text").value == MINE
    assert query_of(app)["study"] == "fin_momentum"
    assert "12 of 12 studies" in said(app)


def test_hostile_study_is_shown_as_it_is_written() -> None:
    hostile = "![x](https://evil.example/x.png) <b>bold</b> :red[y]"
    title = "Studies of interference in serial verbal reactions"
    app = using(MINE.replace(title, hostile))
    assert hostile in where(app)
    for element in app.markdown:
        assert "![x](" not in str(element.value)
        assert "<b>" not in str(element.value)
    for page in (PROTOCOL, NEGOTIATION):
        app = go(app, page)
        assert hostile in where(app)


@pytest.mark.parametrize(
    "text",
    ["[" * 10_000, "a: &x [1]\nb: *x", "!!python/object:os.system {}", "\x00", "- a\n- b", "no"],
)
def test_hostile_text_gives_faults_and_no_exception(text: str) -> None:
    app = write(visit(), text)
    assert own_alert(app).colour == "error"
    assert faults(app)


def test_file_that_cannot_be_read_leaves_the_page_working() -> None:
    app = write(visit(), "format: 1")
    assert own_alert(app).colour == "error"
    assert "3,850 credits" in said(app)
    assert go(app, PROTOCOL)


def test_study_beyond_the_room_there_is_waits_until_one_is_removed() -> None:
    app = visit()
    for number in range(12):
        mine = MINE.replace("my_stroop", f"my_stroop_{number}")
        app = press(write(app, mine), "Use this study")
    app = write(app, MINE)
    assert not can_press(app, "Use this study")
    assert "You keep 12 studies here" in said(app)
    app = write(press(app, "Remove"), MINE)
    assert can_press(app, "Use this study")
