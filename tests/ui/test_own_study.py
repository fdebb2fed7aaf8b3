"""A study's file in the editor: start, write, see every fault, use it everywhere, take it away."""

from __future__ import annotations

from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.scenarios import copy_text, study_text, template_text
from replicalab.ui import own_studies, study_cache
from replicalab.ui.library import writer
from replicalab.ui.library.shelf import shelf
from replicalab.ui.study_cache import StudyCache
from tests.ui.reading import (
    NEGOTIATION,
    PROTOCOL,
    STUDY,
    Alert,
    alerts,
    at_editor,
    at_gallery,
    at_making,
    can_press,
    go,
    keyed,
    labels,
    pick,
    press,
    query_of,
    run,
    said,
    table,
    texts,
    unopened,
    visit,
    where,
    write,
)
from tests.ui.visitors import Browsers, restart

MINE: Final = copy_text("psy_stroop", "my_stroop")


@pytest.fixture(autouse=True)
def _no_studies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_studies, "_STUDIES", StudyCache())


def using(text: str = MINE) -> AppTest:
    """Return the app after a visitor has brought a study and chosen to use it."""
    return press(write(unopened(), text), "Use this study")


def faults(app: AppTest) -> list[list[str]]:
    """Return the rows of the table of faults."""
    [number] = [n for n in range(len(app.table)) if "What is wrong" in table(app, n)[0]]
    return table(app, number)[1:]


def own_alert(app: AppTest) -> Alert:
    """Return the box that says whether the file in the editor can be used."""
    [alert] = [a for a in alerts(app) if "can be used" in a.text]
    return alert


@pytest.mark.parametrize(
    ("source", "text"),
    [("the template", template_text()), ("psy_stroop", copy_text("psy_stroop", "my_psy_stroop"))],
)
def test_editor_starts_with_a_study_that_can_be_used(source: str, text: str) -> None:
    app = at_editor(pick(at_making(unopened()), "Start from", source))
    assert app.text_area(key="own_text").value == text
    assert can_press(app, "Use this study")
    assert not alerts(app)


def test_faults_are_named_all_at_once_by_line_field_value_and_remedy_and_counted_beyond_fifty() -> (
    None
):
    broken = MINE.replace("budget: 620", "budget: -5").replace("staff: 2", "staff: no", 1)
    app = write(unopened(), broken)
    lines = [number for number, line in enumerate(broken.splitlines(), 1) if "staff: no" in line]
    count = "faults, under Advanced. The study can be used when none is left."
    assert own_alert(app) == Alert("error", f"2 {count}")
    [staff, budget] = faults(app)
    assert staff == [str(lines[0]), "labs.easy.staff", "'no' is not allowed", staff[3]]
    assert budget[1:] == ["labs.hard.budget", "-5 is not allowed", "must be greater than 0"]
    write(app, MINE + "".join(f"\nwrong_{number}: 1" for number in range(60)))
    assert own_alert(app) == Alert("error", f"60 {count} The first 50 are listed.")
    assert len(faults(app)) == 50
    [fault] = faults(write(app, study_text("psy_stroop")))
    assert fault[1] == "scenario_id"


def test_study_that_is_used_is_open_everywhere_and_found_by_its_address_alone() -> None:
    app = using()
    address = query_of(app)
    assert address["study"] == "my_stroop"
    assert "Psychology · yours" in texts(keyed(at_gallery(app), "card_my_stroop"))[0]
    assert "13 of 13 studies" in said(app)
    for page in (PROTOCOL, NEGOTIATION):
        assert where(go(app, page)).startswith("Stroop interference")
    again = visit(**address)
    assert query_of(again) == address
    assert not [alert for alert in alerts(again) if "opened" in alert.text]
    del address["own"]
    unknown = visit(**address)
    assert query_of(unknown)["study"] == "fin_momentum"
    assert "study 'my_stroop' cannot be opened" in said(unknown)


def test_shipped_study_that_is_opened_afterwards_leaves_no_key_in_the_address() -> None:
    app = using()
    at_gallery(app).button(key="open_fin_momentum").click()
    assert "own" not in query_of(run(app))


def test_edited_study_replaces_the_one_in_use_until_it_is_taken_away() -> None:
    changed = MINE.replace("budget: 1000", "budget: 5000")
    app = press(write(using(), changed), "Use this study")
    assert "equipment and schedule" in said(go(app, STUDY))
    write(app, "")
    assert "13 of 13 studies" in said(at_gallery(app))
    press(app, "Remove")
    assert at_editor(app).text_area(key="own_text").value == changed
    assert query_of(app)["study"] == "fin_momentum"
    assert "12 of 12 studies" in said(at_gallery(app))


@pytest.mark.parametrize("text", ["[" * 10_000, "!!python/object:os.system {}", "\x00", "no"])
def test_hostile_text_gives_faults_and_no_exception(text: str) -> None:
    app = write(unopened(), text)
    assert own_alert(app).colour == "error"
    assert faults(app)


def test_study_beyond_the_room_there_is_waits_until_one_is_removed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(study_cache, "MOST_STUDIES", 2)
    app = visit()
    for number in range(2):
        mine = MINE.replace("my_stroop", f"my_stroop_{number}")
        app = press(write(app, mine), "Use this study")
    app = write(app, MINE)
    assert not can_press(app, "Use this study")
    assert "You keep 2 studies here" in said(app)
    app = write(press(at_gallery(app), "Remove"), MINE)
    assert can_press(app, "Use this study")


def test_study_waits_in_the_editor_while_the_server_is_full_as_is_said_before_and_after_a_press(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late, full = write(unopened(), MINE), "This server has no room for another study"
    with monkeypatch.context() as patch:
        patch.setattr(study_cache, "MOST_BYTES_IN_ALL", 1)
        press(late, "Use this study")  # there was room when it was drawn
        assert full in said(late)
        assert query_of(late)["study"] == "fin_momentum"
    monkeypatch.setattr(study_cache, "MOST_BYTES_IN_ALL", len(MINE.encode()))
    using()
    write(late, MINE)
    assert not can_press(late, "Use this study")
    assert full in said(late)
    assert late.text_area(key="own_text").value == MINE


def test_study_that_takes_the_place_of_one_says_so() -> None:
    app = write(using(), MINE.replace("budget: 1000", "budget: 5000"))
    assert "It takes the place of your 'my_stroop' as it is now." in said(app)
    assert "It takes the place" not in said(write(app, MINE))


def test_link_to_a_study_that_is_gone_carries_no_more_than_says_something_here() -> None:
    key = "0" * 32
    app = visit(PROTOCOL, study="gone", own=key, lab="hard", x="y" * 60_000)
    assert {"study": "gone", "own": key, "lab": "hard"}.items() <= query_of(app).items()
    assert "x" not in query_of(app)
    sizes = [len(link.proto.SerializeToString()) for link in app.get("page_link")]
    assert sizes
    assert max(sizes) < 1000


# --- where it is kept -------------------------------------------------------------------------


def caption(app: AppTest) -> str:
    """Return what the form says of where the study is."""
    [found] = [
        each.value
        for each in at_making(app).caption
        if "Download" in each.value or "address" in each.value
    ]
    return str(found)


def test_study_is_lost_by_a_reload_until_it_is_used_and_then_in_the_library_as_its_form_says(
    browsers: Browsers, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = write(unopened(), MINE)
    assert caption(app).startswith("In this tab alone until you press Use this study: ")
    assert "Back to the form" not in labels(at_making(unopened()))
    press(app, "Use this study")
    writer.finish()
    assert caption(app).startswith("Saved in your library. ")
    assert caption(write(app, MINE.replace("0.8", "0.9"))).startswith("In this tab alone")
    restart(monkeypatch)
    assert "yours" in said(at_gallery(unopened()))


@pytest.mark.parametrize("has_cookie", [True, False])
def test_study_that_is_not_saved_is_in_memory_as_its_form_says(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, *, has_cookie: bool
) -> None:
    if has_cookie:  # and the library is full
        request.getfixturevalue("browsers")
        limits = shelf()._limits._replace(entries=0)  # noqa: SLF001
        monkeypatch.setattr(shelf(), "_limits", limits)
    app = using()
    writer.finish()
    assert caption(app).startswith("In this server's memory only: ")
