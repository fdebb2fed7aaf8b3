"""Every study in the visitor's lab: the front door's table, its lab, its orders, its ways on."""

from __future__ import annotations

import csv
import io
from typing import Any, Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.lexicon import amount_text
from replicalab.planner import SurveyedStudy, surveyed
from replicalab.scenarios import (
    EvidenceAssumptions,
    LabOverrides,
    copy_text,
    list_scenarios,
    load_scenario,
)
from replicalab.ui import own_studies
from replicalab.ui.scenarios import survey
from replicalab.ui.study_cache import StudyCache
from replicalab.views.survey import COLUMNS, ORDERS
from tests.golden import assert_golden
from tests.ui.reading import (
    PROTOCOL,
    SCENARIOS,
    alerts,
    go,
    labels,
    number,
    panel_tables,
    pick,
    press,
    query_of,
    run,
    said,
    type_number,
    visit,
    where,
)

LAB: Final = LabOverrides(budget=3000, days=40)
COUNTED: Final = [study.scenario_id for study in list_scenarios()]


@pytest.fixture(autouse=True)
def _no_studies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_studies, "_STUDIES", StudyCache())


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The studies that are worked out, one after the other."""
    found: list[str] = []

    def counting(pack: Any) -> SurveyedStudy:
        found.append(pack.scenario_id)
        return surveyed(pack)

    monkeypatch.setattr(survey, "surveyed", counting)
    return found


def at_survey(**query: str) -> AppTest:
    """Return the front door with every study in the lab of an address."""
    return visit(survey="1", **query)


def rows(app: AppTest) -> list[list[str]]:
    """Return the rows of the table, as heard, without the cells of the bars, which say nothing."""
    return [[*row[:2], *row[3:]] for row in panel_tables(app)[0][1:]]


def names(app: AppTest) -> list[str]:
    """Return the studies of the table in their order."""
    return [row[0] for row in rows(app)]


def in_lab(own: LabOverrides = LAB, difficulty: str = "medium") -> list[SurveyedStudy]:
    """Return the shipped studies in a lab, best first."""
    packs = (
        load_scenario(study, difficulty).with_own(own, EvidenceAssumptions()) for study in COUNTED
    )
    return sorted(map(surveyed, packs), key=lambda each: each.rank)


def test_table_shows_of_every_study_what_the_core_answers_best_first() -> None:
    app, found = at_survey(budget="3000", days="40"), in_lab()
    assert names(app) == [each.pack.paper.name for each in found]
    for row, each in zip(rows(app), found, strict=True):
        best, evidence = each.best, each.best.evidence
        _, fits, worth, samples, days, credits_, lost, binding = row
        assert fits.split("\n")[0] == "passes fits"
        assert ("breaks a wish" in fits) == bool(each.best.broken_wishes)
        assert worth.endswith(f"{evidence.text} {evidence.tier}")
        assert samples.partition(" ")[0] == amount_text(best.counts.samples)
        assert [days, credits_] == [amount_text(best.counts.days), amount_text(best.cost)]
        assert lost.split("\n")[0].strip() == str(best.fidelity_loss)
        assert binding in (each.binding, "nothing", "no one limit")


def test_table_reads_in_a_lab_of_forty_days_and_3000_credits_as_it_was_read() -> None:
    assert_golden("pages/scenarios_in_your_lab", said(at_survey(budget="3000", days="40")))


def test_plan_that_does_not_fit_is_said_to_fail_and_stands_below() -> None:
    app = at_survey(budget="900", days="4", staff="2")
    fails = [row[0] for row in rows(app) if row[1].startswith("fails budget fails")]
    assert fails[0] == rows(app)[-2][0] == "Metal-free Suzuki"


def test_nothing_is_worked_out_until_the_table_is_opened_or_the_lab_changes(
    judged: list[str],
) -> None:
    visit()
    assert judged == []
    app = at_survey()
    assert judged == COUNTED
    run(app)
    pick(app, "Sort by", "Credits")
    assert judged == COUNTED
    type_number(app, "Days", 40)
    assert judged == COUNTED * 2


def test_two_numbers_are_the_lab_of_the_drawer_of_every_page_and_of_the_address() -> None:
    app = type_number(type_number(at_survey(), "Budget, credits", 3000), "Days", 40)
    assert names(app) == [each.pack.paper.name for each in in_lab()]
    assert where(app) == "Momentum returns · medium lab, 2 changes"
    assert query_of(app).items() >= {"budget": "3000", "days": "40", "survey": "1"}.items()
    assert "Your lab: 3,000 credits and 40 days; the rest is each study’s own" in said(app)
    press(app, "Your lab")
    drawn = [field.value for field in app.number_input if field.label in ("Days", "Staff units")]
    assert drawn == [40, None, 40, 4]
    assert "8 / 40 days" in said(go(app, PROTOCOL))


def test_number_that_is_emptied_is_each_studys_own_again() -> None:
    app = at_survey(budget="3000", days="40")
    number(app, "Days").set_value(None)
    run(app)
    assert names(app) == [each.pack.paper.name for each in in_lab(LabOverrides(budget=3000))]
    assert "days" not in query_of(app)


def test_number_that_the_drawer_or_undo_says_stands_in_the_field() -> None:
    app = type_number(at_survey(days="40"), "Days", 41)
    press(go(app, PROTOCOL), "Undo")
    app = go(app, SCENARIOS)
    assert (number(app, "Days").value, number(app, "Staff units").value) == (40, None)


def test_number_that_cannot_be_is_said_and_not_taken() -> None:
    app = type_number(at_survey(), "Days", 0)
    [alert] = alerts(app)
    text = "Days cannot be 0, so each study keeps its own. Type 1 to 1,000,000,000."
    assert alert == ("error", text)
    assert "days" not in query_of(app)
    assert not alerts(type_number(app, "Days", 3))


@pytest.mark.parametrize("level", ["easy", "hard"])
def test_what_is_not_said_is_of_the_chosen_lab(level: str) -> None:
    app = at_survey(days="40", lab=level)
    found = in_lab(LabOverrides(days=40), level)
    assert names(app) == [each.pack.paper.name for each in found]
    assert f"the rest is each study’s own, of its {level} lab" in said(app)


@pytest.mark.parametrize(
    ("order", "column"), [("Study", 0), ("Samples", 3), ("Days", 4), ("Credits", 5)]
)
def test_table_is_sorted_by_a_column(order: str, column: int) -> None:
    app = pick(at_survey(budget="3000", days="40"), "Sort by", order)
    cells = [
        row[column].split(" of ")[0].split(" instead")[0].replace(",", "") for row in rows(app)
    ]
    told = [cell.casefold() if order == "Study" else int(cell) for cell in cells]
    assert told == sorted(told)
    assert names(app) != [each.pack.paper.name for each in in_lab()]


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_keeps_every_study(order: str) -> None:
    app = pick(at_survey(), "Sort by", order)
    assert sorted(names(app)) == sorted(study.name for study in list_scenarios())


def test_study_opens_on_protocol_with_the_lab_that_it_was_counted_in() -> None:
    app = pick(at_survey(budget="3000", days="40"), "Study to open", "Oil drops")
    press(app, "Open in this lab")
    app = go(app, PROTOCOL)
    assert where(app).startswith("Oil drops · medium lab, 2 changes")
    assert query_of(app).items() >= {"study": "phys_millikan", "days": "40"}.items()
    plans = {row[0]: row for table in panel_tables(app) for row in table}
    assert plans["As ticked"][2:] == ["±1.43 %", "passes meets target"]
    assert number(press(app, "Undo"), "Sample size").value == 420


def test_study_that_is_open_already_keeps_its_plan() -> None:
    app = type_number(visit(PROTOCOL, days="40", survey="1"), "Sample size", 31)
    app = pick(go(app, SCENARIOS), "Study to open", "Momentum returns")
    press(app, "Open in this lab")
    assert number(go(app, PROTOCOL), "Sample size").value == 31


def test_study_of_ones_own_stands_among_the_others_and_opens() -> None:
    text = copy_text("psy_stroop", "my_stroop")
    study = own_studies.usable_study(text, "mine")
    app = visit()
    app.session_state["visitor_secret"] = "me"
    own_studies._STUDIES.keep("me", text, study)  # noqa: SLF001 - as its owner would
    app.query_params["survey"] = "1"
    del app.session_state["state"]
    run(app)
    assert names(app).count("Stroop interference yours") == 1
    [option] = [o for o in app.selectbox[-1].options if "(" in o]
    press(pick(app, "Study to open", option), "Open in this lab")
    assert query_of(go(app, PROTOCOL))["study"] == "my_stroop"


def test_table_is_left_for_the_gallery_and_found_again() -> None:
    app = at_survey()
    assert "Surprise me" not in labels(app)
    press(app, "Open in this lab")
    assert "Open in this lab" in labels(go(go(app, PROTOCOL), SCENARIOS))


def test_download_has_the_rows_in_their_order_and_no_formula(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files: list[str] = []
    monkeypatch.setattr(
        "replicalab.ui.files.st.download_button",
        lambda label, data, **_: files.append(data()),
    )
    app = pick(at_survey(budget="3000", days="40"), "Sort by", "Credits")
    read = list(csv.reader(io.StringIO(files[-1].removeprefix("\ufeff"))))
    assert read[0] == list(COLUMNS)
    assert [row[0] for row in read[1:]] == names(app)
    assert {row[COLUMNS.index("credits")] for row in read[1:]} >= {"820", "2995", "3000"}
