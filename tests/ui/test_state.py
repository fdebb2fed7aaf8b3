"""One workspace for all pages: across them, in its address, back in the browser, and undone."""

from typing import Final
from urllib.parse import urlencode

from streamlit.testing.v1 import AppTest

from replicalab.limits import LONGEST_NAME
from replicalab.models import revise
from replicalab.negotiation import ScientistKind
from replicalab.scenarios import Difficulty, LabOverrides, load_scenario
from replicalab.ui.own_studies import find
from replicalab.ui.workspace import Workspace, to_query
from tests.ui import acting
from tests.ui.pages import COMPARE, LETTERS, LIBRARY, NEGOTIATION, PAGES, PROTOCOL, STUDY
from tests.ui.reading import alerts, dimension, links, page_text, plain, tray, where
from tests.ui.walking import go, query_of, visit

FULL: Final = to_query(
    Workspace().replace(
        study="ml_resnet_cifar10",
        lab=Difficulty.HARD,
        seed=42,
        plan=revise(load_scenario("ml_resnet_cifar10").reference_protocol, sample_size=8),
        max_rounds=7,
        round_number=2,
        scientist=ScientistKind.BASELINE,
    )
)
CANNOT: Final = "Not everything could be opened."
TOO_LONG: Final = "This page is too long for a link"


def test_changed_lab_and_seed_keep_the_plan() -> None:
    app = go(acting.type_number(visit(PROTOCOL), "Sample size", 150), STUDY)
    acting.type_number(acting.type_number(acting.pick(app, "Lab", "easy"), "Seed", 7), "Seed", 0)
    assert acting.number(go(app, PROTOCOL), "Sample size").value == 150
    assert dimension(app, "budget")[1] == "2,350 / 5,100 credits"
    for lab in ("easy lab, seed 7", "easy lab", "medium lab"):
        assert f"· {lab} ·" in where(acting.undo(app))
    assert acting.number(app, "Sample size").value == 150


def test_full_link_opens_the_same_on_every_page() -> None:
    app = visit(PROTOCOL, **FULL)
    assert acting.number(app, "Sample size").value == 8
    assert not acting.can_press(app, "Undo")
    assert CANNOT not in page_text(app)
    for page in PAGES:
        go(app, page)
        judged = "" if page in {NEGOTIATION, COMPARE, LIBRARY} else " · "
        assert where(app).startswith(f"ResNet depth · hard lab, seed 42{judged}")
        assert query_of(app) == FULL
        assert links(app) == [FULL] * len(PAGES)
    go(app, NEGOTIATION)
    assert acting.number(app, "Rounds at most").value == 7
    assert "Round 3 of" in page_text(app)


def test_bad_link_shows_one_message_until_dismissed() -> None:
    app = visit(PROTOCOL, seed="![](https://evil.example)<b>x</b>")
    for page in PAGES:
        [message] = [alert.text for alert in alerts(go(app, page)) if CANNOT in alert.text]
        assert message.splitlines()[1].startswith("- The link cannot be read: seed ")
        assert query_of(app) == to_query(Workspace())
    acting.press(app, "Dismiss")
    assert CANNOT not in page_text(app)


def test_plan_too_long_for_a_link_is_reported() -> None:
    app = acting.choose(visit(PROTOCOL, study="fin_momentum"), "Controls", *LETTERS[:40])
    assert "more" in query_of(app)
    assert TOO_LONG not in page_text(app)
    acting.choose(app, "Controls", *LETTERS)
    assert len(urlencode(query_of(app))) < 200
    for page in PAGES:
        assert page_text(go(app, page)).count(TOO_LONG) == 1
        assert all(len(way.proto.query_string) < 200 for way in app.get("page_link"))
    assert acting.chosen(go(app, PROTOCOL), "Controls") == LETTERS
    acting.choose(app, "Controls", *LETTERS[:40])
    assert TOO_LONG not in page_text(app)


def test_undone_step_keeps_players_and_restores_lab() -> None:
    before = Workspace().replace(seed=4, lab=Difficulty.HARD, own_lab=LabOverrides(budget=2700))
    before = before.replace(round_number=4)
    players = {"max_rounds": 7, "scientist": "person", "lab_manager": "least_loss"}
    record = {"presenting": 3, "survey": True}
    now = Workspace().replace(**players, **record, round_number=2, recording="one_run")
    assert before.stepped_from(now) == before.replace(round_number=0, **players, **record)


ADD: Final = "Compare this"


def names(app: AppTest) -> list[str]:
    return [item.name for item in tray(app)]


def line(app: AppTest) -> list[str]:
    return [option for group in app.segmented_control for option in group.options]


def load(app: AppTest, place: int) -> AppTest:
    app.segmented_control[0].set_value(place)
    return acting.run(app)


def toast(app: AppTest) -> str:
    [toast] = app.toast
    return plain(toast.value)


def test_plan_is_added_once_and_undone() -> None:
    app = visit(PROTOCOL)
    assert not line(app)
    assert toast(acting.press(app, ADD)) == "Added as Plan A: see Compare."
    assert toast(acting.press(app, ADD)) == "Already in the comparison: Plan A."
    assert line(app) == names(app) == ["Plan A"]
    assert app.segmented_control[0].value == 0
    acting.type_number(app, "Sample size", 100)
    assert app.segmented_control[0].value is None
    load(acting.press(app, ADD), 0)
    assert acting.number(app, "Sample size").value == 420
    assert acting.number(acting.undo(app), "Sample size").value == 100
    assert names(acting.undo(app)) == ["Plan A"]
    assert names(acting.press(app, "Redo")) == ["Plan A", "Plan B"]


def test_open_case_is_renamed_or_removed() -> None:
    app = acting.type_number(acting.press(visit(PROTOCOL), ADD), "Sample size", 100)
    acting.type_text(acting.press(app, ADD), "Rename", "  small\tand   cheap ")
    assert names(app) == ["Plan A", "small and cheap"]
    for same in ("Plan A", "   ", " Plan A 2 "):
        assert names(acting.type_text(app, "Rename", same)) == ["Plan A", "Plan A 2"]
    long = "x" * LONGEST_NAME
    load(acting.type_text(app, "Rename", long), 0)
    assert names(acting.type_text(app, "Rename", long)) == [f"{long[:-4]} 2", long]
    assert names(acting.press(load(app, 1), "Remove it")) == [f"{long[:-4]} 2"]


def test_four_plans_at_most_survive_a_reload() -> None:
    app = visit(PROTOCOL)
    for samples in (10, 20, 30, 40):
        acting.press(acting.type_number(app, "Sample size", samples), ADD)
    acting.press(acting.type_number(app, "Sample size", 50), ADD)
    assert toast(app) == "The comparison is full with 4 cases; remove one."
    assert names(app) == ["Plan A", "Plan B", "Plan C", "Plan D"]
    load(acting.press(load(app, 1), "Remove it"), 0)
    acting.press(acting.type_number(app, "Sample size", 60), ADD)
    assert names(app) == ["Plan A", "Plan C", "Plan D", "Plan B"]
    again = tray(visit(PROTOCOL, **query_of(app)))
    assert again == tray(app)
    assert [item.case.protocol(find).sample_size for item in again] == [10, 30, 40, 60]


def test_played_run_is_added_with_its_moves() -> None:
    app = acting.type_text(visit(NEGOTIATION, scientist="person"), "Question to the lab", "When?")
    acting.press(app, "Ask")
    moves = app.session_state["state"].workspace.case.moves
    assert len(moves) == 1
    assert toast(acting.press(app, ADD)) == "Added as Run A: see Compare."
    [result] = tray(app)
    assert (result.name, result.case.moves, result.is_run) == ("Run A", moves, True)
    assert toast(acting.press(go(app, PROTOCOL), ADD)) == "Added as Plan A: see Compare."
    assert tray(visit(PROTOCOL, **query_of(app))) == tray(app)
