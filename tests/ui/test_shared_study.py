"""A study belongs to whoever made it: a link reads it, and what is gone is asked for by name."""

from __future__ import annotations

from typing import Final

import pytest
import streamlit
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from replicalab.errors import ScenarioError
from replicalab.negotiation import save
from replicalab.scenarios import Difficulty, copy_text, list_scenarios, pack_of, parse_study
from replicalab.ui import own_studies, state
from replicalab.ui.address import from_query, to_query
from replicalab.ui.study_cache import StudyCache, key_of
from tests.negotiation.playing import by_rule
from tests.ui.negotiating import hand_over as give_negotiation
from tests.ui.reading import (
    NEGOTIATION,
    PAGES,
    PROTOCOL,
    SCENARIOS,
    STUDY,
    alerts,
    at_gallery,
    go,
    keyed,
    labels,
    number,
    pick,
    press,
    query_of,
    run,
    said,
    texts,
    type_number,
    visit,
    where,
    write,
)
from tests.ui.visitors import Browsers, move

MINE: Final = copy_text("psy_stroop", "my_stroop")
OTHER: Final = copy_text("phys_millikan", "my_millikan")
TITLE: Final = "Stroop interference"
GONE: Final = "The study 'my_stroop' is not on this server"


pytestmark = pytest.mark.usefixtures("browsers")


def using(*files: str) -> AppTest:
    """Return the app after a visitor has brought these studies; the last one is open."""
    app = visit()
    for text in files or (MINE,):
        press(write(app, text), "Use this study")
    return app


def hand_over(app: AppTest, text: str | bytes, name: str = "mine.yaml") -> AppTest:
    """Open a file where one is missing, and return the app."""
    data = text.encode() if isinstance(text, str) else text
    app.file_uploader(key="missing_study_file").set_value((name, data, "application/yaml"))
    return run(app)


def cards_of_visitors(app: AppTest) -> list[str]:
    """Return what the cards of studies that visitors brought say of their origin."""
    cards = [text.split("\n")[0] for text in texts(keyed(at_gallery(app), "gallery"))]
    return [line for line in cards if "yours" in line or "shared" in line]


# --- who reads, who changes ---


def test_key_that_an_attacker_chose_is_not_adopted(browsers: Browsers) -> None:
    chosen = "a" * 32
    app = visit(own=chosen)
    press(write(app, MINE), "Use this study")
    assert query_of(app)["own"] != chosen
    browsers.use()
    theirs = visit(own=chosen, study="my_stroop")
    assert GONE in said(theirs)
    assert cards_of_visitors(theirs) == []


def test_link_reads_the_study_on_every_page_and_changes_nothing(browsers: Browsers) -> None:
    author = browsers.token
    link = query_of(using(OTHER, MINE))
    browsers.use()
    reader = visit(**link)
    assert cards_of_visitors(reader) == ["Psychology · shared with you, to read"]
    assert not {"Edit", "Remove"} & set(labels(reader))
    for page in PAGES:
        assert where(go(reader, page)).startswith(TITLE)
        assert query_of(reader) == link
    press(press(go(reader, SCENARIOS), "Copy it into the form"), "Use this study")
    assert query_of(reader)["own"] != link["own"]
    press(at_gallery(reader), "Remove")
    browsers.token = author
    assert cards_of_visitors(visit()) == ["Physics · contested · yours", "Psychology · yours"]


def test_reader_of_a_study_of_the_same_id_sees_both_and_each_is_named(browsers: Browsers) -> None:
    link = query_of(using(MINE.replace("budget: 1000", "budget: 1111")))
    browsers.use()
    own = query_of(using(MINE))
    reader = visit(**link)
    assert cards_of_visitors(reader) == [
        "Psychology · shared with you, to read",
        "Psychology · yours",
    ]
    assert "/ 1,111 credits" in said(go(reader, PROTOCOL))
    go(reader, SCENARIOS).button(key="open_my_stroop").click()
    assert query_of(run(reader))["own"] == own["own"]
    assert "/ 1,000 credits" in said(go(reader, PROTOCOL))


def test_browser_still_owns_its_studies_in_another_tab_and_after_emptied_caches() -> None:
    app = using()
    streamlit.cache_resource.clear()
    streamlit.cache_data.clear()
    assert where(run(app)).startswith(TITLE)
    assert cards_of_visitors(visit(**query_of(app))) == ["Psychology · yours"]
    again = visit()
    press(again, "Remove")
    assert cards_of_visitors(again) == []


def test_browser_without_a_token_owns_nothing_in_another_tab(browsers: Browsers) -> None:
    browsers.token = ""
    link = query_of(using())
    assert cards_of_visitors(visit()) == []
    assert cards_of_visitors(visit(**link)) == ["Psychology · shared with you, to read"]


def test_saved_negotiation_opens_in_ones_own_study(browsers: Browsers) -> None:
    using()
    study = parse_study(MINE, "mine")
    saved = save(by_rule(pack_of(study, Difficulty.HARD), study.reference_protocol))
    app = give_negotiation(visit(NEGOTIATION), saved)
    assert where(app).startswith(f"{TITLE} · hard lab")
    assert query_of(app)["own"] == key_of(browsers.token, "my_stroop")


# --- what is gone ---


def lost(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return the address of an edited plan in a lab of a study that the server then forgot."""
    app = type_number(go(pick(go(using(), STUDY), "Lab", "hard"), PROTOCOL), "Sample size", 31)
    move(monkeypatch)
    return query_of(app)


def test_study_that_is_gone_is_named_on_every_page_and_its_address_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    link = lost(monkeypatch)
    app = visit(PROTOCOL, **link)
    assert "Until then 'fin_momentum' stands in for it." in said(app)
    type_number(app, "Sample size", 150)
    for page in PAGES:
        assert GONE in said(go(app, page))
        assert query_of(app) == link
        for way in app.get("page_link")[: len(PAGES)]:
            assert dict(part.split("=", 1) for part in way.proto.query_string.split("&")) == link
    assert number(go(app, PROTOCOL), "Sample size").value == 150


def test_file_of_a_study_that_is_gone_brings_its_plan_and_lab_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    link = lost(monkeypatch)
    app = hand_over(visit(PROTOCOL, **link), MINE)
    assert "· hard lab ·" in where(app)
    assert where(app).startswith(TITLE)
    assert number(app, "Sample size").value == 31
    assert GONE not in said(app)
    assert query_of(app) == link, "its key is the same again, so links that others have still open"


def test_reader_who_has_the_file_goes_on_with_a_study_of_their_own(
    browsers: Browsers, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = lost(monkeypatch)
    token = browsers.use()
    app = press(write(visit(**link), MINE), "Use this study")
    assert GONE not in said(app)
    assert number(go(app, PROTOCOL), "Sample size").value == 31
    assert query_of(app) == {**link, "own": key_of(token, "my_stroop")}


@pytest.mark.parametrize(
    ("file", "told"),
    [
        (OTHER, "this is the file of 'my_millikan'; open the file of 'my_stroop'"),
        (MINE.replace("budget: 620", "budget: -5"), "labs.hard.budget: -5 is not allowed"),
        (MINE.replace("my_stroop", "psy_stroop"), "already the id of a study on the shelf"),
        (b"\xff\xfe", "byte 0xff is not UTF-8 text"),
        (f"{MINE}\n#{'x' * 262_144}", "more than the 262144 allowed"),
    ],
    ids=["another", "broken", "shipped", "binary", "too large"],
)
def test_file_that_does_not_help_is_said_beside_and_nothing_is_lost(
    monkeypatch: pytest.MonkeyPatch, file: str | bytes, told: str
) -> None:
    link = lost(monkeypatch)
    app = hand_over(visit(**link), file)
    assert told in next(alert.text for alert in alerts(app) if alert.colour == "error")
    assert GONE in said(app)
    assert query_of(app) == link
    assert where(hand_over(app, MINE)).startswith(TITLE)


def test_link_to_a_presentation_of_a_study_that_is_gone_names_it_and_opens_its_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    link = lost(monkeypatch)
    presented = visit(NEGOTIATION, **{**link, "present": "1"})
    assert GONE in said(presented)
    assert GONE in said(press(presented, "Next"))
    app = press(visit(PROTOCOL, **link), "Dismiss")
    assert GONE not in said(app)
    assert query_of(app)["study"] == "fin_momentum"


def test_study_that_goes_while_it_is_read_keeps_what_was_edited(
    browsers: Browsers, monkeypatch: pytest.MonkeyPatch
) -> None:
    author = using()
    mine, link = browsers.token, query_of(author)
    browsers.use()
    reader = type_number(visit(PROTOCOL, **link), "Sample size", 31)
    edited = query_of(reader)
    browsers.token = mine
    press(at_gallery(author), "Remove")
    browsers.use()
    assert GONE in said(run(reader))
    assert query_of(reader) == edited
    assert number(hand_over(reader, MINE), "Sample size").value == 31


def test_older_address_too_soon_leaves_the_one_that_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    link = lost(monkeypatch)
    app = visit(**link)
    monkeypatch.setattr(state, "_SETTLED_AFTER", 1e9)
    app.query_params["study"] = "fin_momentum"
    run(app)
    assert GONE in said(app)
    for way in app.get("page_link")[: len(PAGES)]:
        assert dict(part.split("=", 1) for part in way.proto.query_string.split("&")) == link


def test_undo_goes_back_beyond_a_study_that_was_removed() -> None:
    app = type_number(visit(PROTOCOL), "Sample size", 150)
    press(write(go(app, SCENARIOS), MINE), "Use this study")
    press(at_gallery(app), "Remove")
    go(app, PROTOCOL)
    assert GONE in said(press(app, "Undo"))
    assert number(press(app, "Undo"), "Sample size").value == 150


# --- any address ---

STUDIES: Final = [study.scenario_id for study in list_scenarios()]
ADDRESSES: Final = st.fixed_dictionaries(
    {
        "own": st.text(max_size=40)
        | st.from_regex(r"\A[0-9a-f]{30,34}\Z")
        | st.just(key_of("a", "x"))
    },
    optional={
        "study": st.text() | st.sampled_from([*STUDIES, "x", "my_stroop", "../x"]),
        "lab": st.sampled_from(["easy", "hard", "no"]),
        "plan": st.text(),
        "v": st.text(),
    },
)


@given(ADDRESSES)
def test_any_key_gives_a_study_that_is_here_or_one_that_is_asked_for(query: dict[str, str]) -> None:
    store = StudyCache()
    store.keep("a", MINE, parse_study(copy_text("psy_stroop", "x"), "x"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(own_studies, "_STUDIES", store)
        work, problems = from_query(query, own_studies.find)
        assert work.case.own in (None, query["own"])
        assert all(problem.endswith(".") for problem in problems)
        if work.case.own is None or (work.case.own, work.case.study) == (key_of("a", "x"), "x"):
            assert work.case.pack(own_studies.find).scenario_id == work.case.study
        else:
            with pytest.raises(ScenarioError):
                work.case.pack(own_studies.find)
        assert from_query(to_query(work), own_studies.find) == (work, [])
