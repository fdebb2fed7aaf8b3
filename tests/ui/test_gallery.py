"""The gallery, and a study file that cannot be read: it is named, and the rest works."""

import shutil
from pathlib import Path
from typing import Final

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Expander

from replicalab.models import Dimension
from replicalab.scenarios import Difficulty, list_scenarios, loading
from replicalab.ui import scenarios as gallery
from replicalab.ui.stories import Story, stories
from tests.ui.acting import number, pick, press, run, type_number, type_text
from tests.ui.pages import NEED_STUDY, NEGOTIATION, PAGES, PROTOCOL, SCENARIOS
from tests.ui.reading import keyed, plain, said, texts, where
from tests.ui.walking import go, query_of, visit

SHIPPED: Final = [study.scenario_id for study in list_scenarios()]


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the shipped studies that the app reads instead, to be spoilt by a test."""
    copy = tmp_path / "scenarios"
    shutil.copytree(loading.SCENARIO_FOLDER, copy)
    monkeypatch.setattr(loading, "SCENARIO_FOLDER", copy)
    return copy


def spoil(
    shelf: Path, old: str, new: str, study: str = "machine_learning/ml_resnet_cifar10"
) -> None:
    """Replace a part of a study's file."""
    file = shelf / f"{study}.yaml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def broken(app: AppTest) -> list[Expander]:
    """Return the boxes that tell of files that cannot be read."""
    return [box for box in app.expander if "could not be read" in box.label]


def cards(app: AppTest) -> list[str]:
    """Return the ids of the studies that the gallery offers, in its order."""
    keys = [str(button.key) for button in app.button if str(button.key).startswith("open_")]
    return [key.removeprefix("open_") for key in keys]


# --- the gallery ------------------------------------------------------------------------------


def test_gallery_shows_every_study_by_its_short_name_and_how_each_lab_answers() -> None:
    app = visit(study="psy_stroop")
    assert cards(app) == SHIPPED
    names = {button.key: plain(button.label) for button in app.button}
    for study in list_scenarios():
        assert names[f"open_{study.scenario_id}"] == study.paper.name
    assert broken(app) == []
    [study] = [
        scenario for scenario in list_scenarios() if scenario.scenario_id == "math_four_colour"
    ]
    [panel] = texts(keyed(app, "card_math_four_colour"))
    assert panel.splitlines() == [
        "Mathematics",
        "Easy passes fits 100 %",
        "Medium fails none",
        "Hard fails none",
        study.paper.teaches,
    ]
    type_text(pick(app, "Binding constraint", "staff"), "Search", "no such study")
    assert cards(app) == []
    assert 'No study matches "no such study".' in said(app)
    assert cards(press(app, "Clear search")) == SHIPPED
    assert app.text_input(key="filter_text").value == ""


def test_card_opens_medium_lab_and_keeps_open_plan() -> None:
    app = visit(study="fin_momentum", lab="hard", seed="5")
    assert "Labs at seed 5." in said(app)
    app.button(key="open_psy_stroop").click()
    assert "Studies of interference in serial verbal reactions." in said(run(app))
    assert where(app).startswith("Stroop interference · medium lab · ")
    assert {"study": "psy_stroop", "lab": "medium"}.items() <= query_of(app).items()
    go(type_number(go(app, PROTOCOL), "Sample size", 31), SCENARIOS)
    app.button(key="open_psy_stroop").click()
    assert number(go(run(app), PROTOCOL), "Sample size").value == 31


def test_cards_show_the_visitors_lab() -> None:
    app = visit(study="psy_stroop", budget="600")
    assert "Yours passes cut" in said(app)


@pytest.mark.parametrize("page", NEED_STUDY)
def test_page_without_study_offers_three(page: str) -> None:
    app = go(visit(), page)
    assert cards(app) == ["psy_stroop", "bio_jq1_myeloma", "ml_resnet_cifar10"]
    app.button(key="open_bio_jq1_myeloma").click()
    assert where(run(app)).startswith("JQ1 in myeloma · medium lab")
    assert cards(app) == []


def test_front_door_judges_no_plan_before_one_was_made() -> None:
    app = visit()
    assert where(app) == "", "nothing was chosen yet"
    for text in ("Momentum returns · medium lab", "Reference protocol", "easible"):
        assert text not in said(app)
    assert (
        where(visit(SCENARIOS, study="fin_momentum", lab="easy")) == "Momentum returns · easy lab"
    )
    app = visit(SCENARIOS, study="fin_momentum")
    assert where(go(app, PROTOCOL)).endswith("· Not feasible")
    assert "Reference protocol: not feasible" in said(app)
    go(type_number(app, "Sample size", 31), SCENARIOS)
    assert "Your plan: not feasible" in said(app)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (gallery.Filter(), SHIPPED),
        (gallery.Filter(text="stroop"), ["psy_stroop"]),
        (gallery.Filter(text="  STROOP  serial "), ["psy_stroop"]),
        (gallery.Filter(text="no such study anywhere"), []),
        (gallery.Filter(domain="psychology"), ["psy_ego_depletion", "psy_stroop"]),
        (
            gallery.Filter(binds=Dimension.EQUIPMENT, lab=Difficulty.MEDIUM),
            ["bio_jq1_myeloma", "chem_suzuki_ppb", "eco_reef_fish", "psy_stroop"],
        ),
        # Every hard lab has too few staff, and all but this one lose more by something else.
        (gallery.Filter(binds=Dimension.STAFF), ["math_four_colour"]),
        # Every study's own protocol passes there, and no better tier is possible.
        (gallery.Filter(binds=Dimension.BUDGET, lab=Difficulty.EASY), []),
    ],
    ids=str,
)
def test_filter_finds_matching_cards_in_order(wanted: gallery.Filter, found: list[str]) -> None:
    assert [card.summary.scenario_id for card in gallery.matching(gallery.cards(), wanted)] == found


# --- the stories ------------------------------------------------------------------------------


STORIES: Final = {story.key: story for story in stories()}


def tell(key: str) -> AppTest:
    """Press a story's button on the front door and return the app, on the page that tells it."""
    app = visit(study="ml_resnet_cifar10")
    app.button(key=key).click()
    return press(run(app), "Leave")


def story_lines(app: AppTest) -> list[str]:
    """Return the lines that say which story is being told."""
    return [line for line in texts(app.main) if line.startswith("Story: ")]


@pytest.mark.parametrize("story", STORIES.values(), ids=list(STORIES))
def test_story_says_its_line_where_it_is_told(story: Story) -> None:
    assert story_lines(tell(story.key)) == [f"Story: {story.title}. {story.line}"]


def test_story_goes_on_through_the_rounds_and_ends_when_more_are_played() -> None:
    app = press(tell("cut_that_costs_nothing"), "Next")
    assert len(story_lines(app)) == 1
    assert story_lines(type_number(app, "Rounds at most", 6)) == []


# --- a broken file ----------------------------------------------------------------------------


def test_broken_file_is_named_with_its_fault_and_offered_again_when_it_is_repaired(
    shelf: Path,
) -> None:
    spoil(shelf, "budget: 900", "budget: -5")
    app = visit(lab="easy")
    assert cards(app) == [study for study in SHIPPED if study != "ml_resnet_cifar10"]
    message = STORIES.keys() & {button.key for button in app.button}
    assert message == STORIES.keys() - {"cut_that_costs_nothing"}
    [box] = broken(app)
    assert "ml_resnet_cifar10" in plain(box.label)
    fault = texts(box)[0]
    assert fault.startswith("line ")
    assert "labs.easy.budget" in fault
    assert "-5" in fault
    spoil(shelf, "budget: -5", "budget: 900")
    assert cards(type_text(app, "Search", "")) == SHIPPED
    for text in ("", "a: &a [*a]\n", "\x00"):
        (shelf / "biology" / "broken.yaml").write_text(text)
        assert cards(type_text(app, "Search", " ")) == SHIPPED
        assert len(broken(app)) == 1


def test_study_that_breaks_while_it_is_open_gives_a_calm_message(shelf: Path) -> None:
    app = visit(NEGOTIATION, study="ml_resnet_cifar10")
    spoil(shelf, "budget: 900", "budget: -5")
    run(app)
    assert "labs.easy.budget" in said(app)
    assert "Another study is open instead." in said(app)
    again = visit(PROTOCOL, study="ml_resnet_cifar10")
    assert "study 'ml_resnet_cifar10' cannot be opened" in said(again)
    for page in (app, again):
        assert not where(page).startswith("ResNet depth")


def test_app_starts_on_every_page_when_the_default_study_or_each_is_broken(shelf: Path) -> None:
    spoil(shelf, "format: 1", "format: [")
    spoil(shelf, "budget: 5100", "budget: -5", "finance_trading/fin_momentum")
    st.cache_resource.clear()
    for file in PAGES:
        app = visit(file)
        assert "labs.easy.budget" in said(app)
        assert where(app)
    shutil.rmtree(shelf)
    st.cache_resource.clear()
    assert "There is no study that can be read." in said(visit())
