"""Every page: a first visit with the real story, and the Scenarios page of every study and lab."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Expander

from replicalab.limits import MOST_STUDY_BYTES
from replicalab.models import Dimension
from replicalab.scenarios import Difficulty, list_scenarios, load_scenario, loading
from replicalab.ui import scenarios_page, study_form
from replicalab.ui.study_page import PARTS, TABS
from tests.browser.driving import ROOT
from tests.golden import assert_golden, new_lines
from tests.ui import pages
from tests.ui.acting import labels, number, open_texts, pick, press, run, type_number, type_text
from tests.ui.reading import page_text, plain, texts, where
from tests.ui.visitors import Browsers
from tests.ui.walking import at_editor, at_making, go, query_of, show, unopened, visit


@pytest.mark.parametrize("file", pages.PAGES)
def test_page_opens_and_reads_as_pinned(file: str) -> None:
    app, pack = visit(file), load_scenario("fin_momentum")
    opened = f"{pack.paper.name} · medium lab"
    quiet = dict.fromkeys((pages.SCENARIOS, pages.COMPARE, pages.LIBRARY), "")
    quiet[pages.NEGOTIATION] = opened
    assert where(app) == quiet.get(file, f"{opened} · Not feasible")
    assert (f"Samples: {pack.design.unit_of_n}" in page_text(app)) is (file in pages.NEED_STUDY)
    if file == pages.SCENARIOS:
        assert_golden("pages/scenarios#first", page_text(app))


def test_part_of_a_study_reads_as_pinned() -> None:
    app = visit(pages.STUDY)
    texts = {part: page_text(show(app, part, TABS)) for part in PARTS}
    assert_golden("pages/study", new_lines(texts))


def test_form_with_template_reads_as_pinned() -> None:
    app = at_making(unopened())
    texts = {"begin": page_text(app)}
    press(pick(app, "Start from", "the template"), "Start the form")
    texts |= {p: page_text(show(app, p, study_form.PARTS_KEY)) for p in study_form.PARTS}
    assert_golden("pages/making", new_lines(texts))


@pytest.mark.parametrize("scientist", ["person", "model"])
def test_every_text_field_is_bounded(scientist: str) -> None:
    app = open_texts(visit(scientist=scientist))
    record: dict[str, int] = {}
    for page in pages.PAGES:
        go(app, page)
        record |= {field.label: field.max_chars for field in (*app.text_input, *app.text_area)}
    fields = at_editor(app).text_area
    record |= {field.label: field.max_chars for field in fields}
    assert {"Search", "Study file (YAML)", "Rationale"} < record.keys()
    assert {"person": "Question to the lab", "model": "Key"}[scientist] in record
    assert record["Study file (YAML)"] > MOST_STUDY_BYTES, "a longer file is refused by its size"
    assert all(0 < limit <= MOST_STUDY_BYTES * 1.2 for limit in record.values()), record


@pytest.mark.parametrize("file", pages.PAGES)
def test_pages_ask_for_sign_in_first(monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    monkeypatch.setattr(st, "user", {"is_logged_in": False})
    app = AppTest.from_file(str(ROOT / file), default_timeout=60).run()
    assert not app.exception
    assert labels(app) == ["Sign in"]
    assert "state" not in app.session_state


def test_work_follows_person_to_other_browsers(
    browsers: Browsers, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = {"is_logged_in": True, "iss": "https://issuer.example", "sub": "1", "name": "Ann *A*"}
    monkeypatch.setattr(st, "user", ann)
    app = press(visit(pages.PROTOCOL, study="psy_stroop"), "Save")
    assert app.menu_button[0].options[-1].endswith(r"Sign out \(Ann \*A\*\)")
    browsers.use()
    assert "Stroop" in page_text(visit(pages.LIBRARY))
    monkeypatch.setattr(st, "user", ann | {"iss": "https://other.example"})
    assert "Stroop" not in page_text(visit(pages.LIBRARY))


def test_first_page_waits_for_no_slow_import() -> None:
    code = """
import gc, sys
from replicalab.ui import startup
slow = ("sqlalchemy", "replicalab.render.figures.region_map", "numpy", "scipy")
startup.load()
print("replicalab.ui.scenarios_page" in sys.modules, *(each in sys.modules for each in slow))
print(gc.isenabled())
startup.open_library()
print(*(each in sys.modules for each in slow[:2]), gc.get_freeze_count() > 100_000)
"""
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert process.stdout.splitlines() == ["True False False False False", "True", "True True True"]


SHIPPED: Final = [study.scenario_id for study in list_scenarios()]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy = tmp_path / "scenarios"
    shutil.copytree(loading.SCENARIO_FOLDER, copy)
    monkeypatch.setattr(loading, "SCENARIO_FOLDER", copy)
    return copy


def spoil(
    folder: Path, old: str, new: str, study: str = "machine_learning/ml_resnet_cifar10"
) -> None:
    file = folder / f"{study}.yaml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def broken(app: AppTest) -> list[Expander]:
    return [box for box in app.expander if "Unreadable file" in box.label]


def cards(app: AppTest) -> list[str]:
    keys = [str(button.key) for button in app.button if str(button.key).startswith("open_")]
    return [key.removeprefix("open_") for key in keys]


def test_gallery_shows_every_study_and_filters() -> None:
    app = visit(study="psy_stroop", budget="600")
    assert "Yours passes cut" in page_text(app), "cards show the visitor's lab"
    assert cards(app) == SHIPPED
    names = [plain(button.label) for button in app.button if str(button.key).startswith("open_")]
    assert names == [study.paper.name for study in list_scenarios()]
    assert broken(app) == []
    type_text(pick(app, "Binding constraint", "staff"), "Search", "no such study")
    assert cards(app) == []
    assert 'No study matches "no such study".' in page_text(app)
    assert cards(press(app, "Clear search")) == SHIPPED


def test_card_opens_medium_lab_and_keeps_open_plan() -> None:
    app = visit(study="fin_momentum", lab="hard", seed="5")
    app.button(key="open_psy_stroop").click()
    assert where(run(app)).startswith("Stroop interference · medium lab · ")
    assert {"study": "psy_stroop", "lab": "medium"}.items() <= query_of(app).items()
    go(type_number(go(app, pages.PROTOCOL), "Sample size", 31), pages.SCENARIOS)
    app.button(key="open_psy_stroop").click()
    assert number(go(run(app), pages.PROTOCOL), "Sample size").value == 31


@pytest.mark.parametrize("page", pages.NEED_STUDY)
def test_page_without_study_offers_three(page: str) -> None:
    app = go(visit(), page)
    assert cards(app) == ["psy_stroop", "bio_jq1_myeloma", "ml_resnet_cifar10"]
    app.button(key="open_bio_jq1_myeloma").click()
    assert where(run(app)).startswith("JQ1 in myeloma · medium lab")
    assert cards(app) == []


def test_scenarios_page_judges_only_own_plans() -> None:
    assert where(visit()) == "", "nothing was chosen yet"
    app = visit(pages.SCENARIOS, study="fin_momentum")
    assert "easible" not in page_text(app)
    assert "Reference protocol: not feasible" in page_text(go(app, pages.PROTOCOL))
    go(type_number(app, "Sample size", 31), pages.SCENARIOS)
    assert "Your plan: not feasible" in page_text(app)


def test_filter_finds_matching_cards_in_order() -> None:
    for wanted, actual in (
        (scenarios_page.Filter(text="  STROOP  serial "), ["psy_stroop"]),
        (scenarios_page.Filter(domain="psychology"), ["psy_ego_depletion", "psy_stroop"]),
        (
            scenarios_page.Filter(binds=Dimension.EQUIPMENT, lab=Difficulty.MEDIUM),
            ["bio_jq1_myeloma", "chem_suzuki_ppb", "eco_reef_fish", "psy_stroop"],
        ),
        # Every hard lab has too few staff, and all but this one lose more by something else.
        (scenarios_page.Filter(binds=Dimension.STAFF), ["math_four_colour"]),
        # Every study's own protocol passes there in the best tier.
        (scenarios_page.Filter(binds=Dimension.BUDGET, lab=Difficulty.EASY), []),
    ):
        fitting = [card for card in scenarios_page.cards() if scenarios_page.matches(card, wanted)]
        assert [card.summary.scenario_id for card in fitting] == actual, wanted


def test_story_ends_when_the_case_changes() -> None:
    app = visit(study="ml_resnet_cifar10")
    app.button(key="cut_that_costs_nothing").click()
    press(press(run(app), "Leave"), "Next")
    assert "Story: " in page_text(app)
    assert "Story: " not in page_text(type_number(app, "Rounds at most", 6))


def test_broken_file_is_named_until_repaired(folder: Path) -> None:
    spoil(folder, "budget: 900", "budget: -5")
    app = visit(lab="easy")
    assert cards(app) == [study for study in SHIPPED if study != "ml_resnet_cifar10"]
    [box] = broken(app)
    assert "ml_resnet_cifar10" in plain(box.label)
    assert all(part in texts(box)[0] for part in ("line ", "labs.easy.budget", "-5"))
    spoil(folder, "budget: -5", "budget: 900")
    assert cards(type_text(app, "Search", "")) == SHIPPED
    for text in ("", "a: &a [*a]\n", "\x00"):
        (folder / "biology" / "broken.yaml").write_text(text)
        assert cards(type_text(app, "Search", " ")) == SHIPPED
        assert len(broken(app)) == 1


def test_study_that_breaks_while_open_is_replaced(folder: Path) -> None:
    app = visit(pages.NEGOTIATION, study="ml_resnet_cifar10")
    spoil(folder, "budget: 900", "budget: -5")
    assert "labs.easy.budget" in page_text(run(app))
    assert "Another study is open instead." in page_text(app)
    again = visit(pages.PROTOCOL, study="ml_resnet_cifar10")
    assert "study 'ml_resnet_cifar10' cannot be opened" in page_text(again)
    assert not any(where(page).startswith("ResNet depth") for page in (app, again))


def test_pages_open_with_broken_or_missing_studies(folder: Path) -> None:
    spoil(folder, "format: 1", "format: [")
    spoil(folder, "budget: 5100", "budget: -5", "finance_trading/fin_momentum")
    for file in pages.PAGES:
        app = visit(file)
        assert "labs.easy.budget" in page_text(app)
        assert where(app)
    shutil.rmtree(folder)
    assert "There is no study that can be read." in page_text(visit())
