"""The table of the Scenarios page: every study in the visitor's lab, its orders and its ways on."""

import csv
import io
from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.facts.survey_facts import COLUMNS, ORDERS, fits_text, order_key
from replicalab.lexicon import amount_text
from replicalab.planner import SurveyedStudy, surveyed
from replicalab.scenarios import (
    EvidenceAssumptions,
    EvidenceTier,
    LabOverrides,
    list_scenarios,
    load_scenario,
)
from tests.golden import assert_golden
from tests.ui.acting import number, pick, press, type_number, undo
from tests.ui.pages import COMPARE, PROTOCOL, SCENARIOS
from tests.ui.reading import page_text, panel_tables, where
from tests.ui.walking import go, query_of, visit

LAB: Final = LabOverrides(budget=3000, days=40)

pytestmark = pytest.mark.usefixtures("browsers")


def at_survey(**query: str) -> AppTest:
    return visit(survey="1", **query)


def rows(app: AppTest) -> list[list[str]]:
    return [[*row[:2], *row[3:]] for row in panel_tables(app)[0][1:]]


def names(app: AppTest) -> list[str]:
    return [row[0] for row in rows(app)]


def in_lab(own: LabOverrides = LAB, difficulty: str = "medium") -> list[SurveyedStudy]:
    packs = (load_scenario(study.scenario_id, difficulty) for study in list_scenarios())
    studies = (surveyed(pack.with_own(own, EvidenceAssumptions())) for pack in packs)
    return sorted(studies, key=lambda study: study.rank)


def test_table_shows_the_core_answers_best_first() -> None:
    app, studies = at_survey(budget="3000", days="40"), in_lab()
    assert_golden("pages/scenarios#in_your_lab", page_text(app))
    assert names(app) == [study.pack.paper.name for study in studies]
    for row, study in zip(rows(app), studies, strict=True):
        best, evidence = study.best, study.best.evidence
        sign = "fails" if evidence.tier is EvidenceTier.BELOW_FLOOR else "passes"
        _, fits, worth, samples, days, credits_, _, binding = row
        assert fits.split("\n")[0] == f"{sign} {fits_text(study)}"
        assert worth.endswith(f"{evidence.text} {evidence.tier}")
        assert samples.partition(" ")[0] == amount_text(best.counts.samples)
        assert [days, credits_] == [amount_text(best.counts.days), amount_text(best.cost)]
        all_exist = best.counts.samples == study.pack.design.population_max
        limit = "population" if all_exist else "no one limit"
        assert binding in (study.binding, "none: nothing is lost", limit)


def test_typed_lab_is_that_of_every_page() -> None:
    app = type_number(type_number(at_survey(lab="hard"), "Budget, credits", 3000), "Days", 40)
    assert names(app) == [study.pack.paper.name for study in in_lab(LAB, "hard")]
    assert where(app) == "Momentum returns · hard lab, 2 changes"
    assert query_of(app).items() >= {"budget": "3000", "days": "40", "survey": "1"}.items()
    assert "8 / 40 days" in page_text(go(app, PROTOCOL))
    app = go(undo(app), SCENARIOS)
    assert (number(app, "Days").value, number(app, "Staff units").value) == (None, None)


def test_every_order_of_page_and_file(monkeypatch: pytest.MonkeyPatch) -> None:
    files: list[str] = []
    monkeypatch.setattr("streamlit.download_button", lambda label, data, **_: files.append(data()))
    app, studies = at_survey(budget="3000", days="40"), in_lab()
    for order in ORDERS:
        pick(app, "Sort by", order)
        texts = [study.pack.paper.name for study in sorted(studies, key=order_key(order))]
        assert names(app) == texts
        read = list(csv.reader(io.StringIO(files[-1].removeprefix("\ufeff"))))
        assert read[0] == list(COLUMNS)
        assert [row[0] for row in read[1:]] == texts
        assert {row[COLUMNS.index("credits")] for row in read[1:]} >= {"820", "2995", "3000"}


def test_study_opens_in_the_surveyed_lab() -> None:
    app = pick(at_survey(budget="3000", days="40"), "Study to open", "Oil drops")
    app = go(press(app, "Open in this lab"), PROTOCOL)
    assert where(app).startswith("Oil drops · medium lab, 2 changes")
    app = go(type_number(app, "Sample size", 31), SCENARIOS)
    press(pick(app, "Study to open", "Oil drops"), "Open in this lab")
    assert number(go(app, PROTOCOL), "Sample size").value == 31
    undo(undo(go(app, COMPARE)))
    assert number(go(app, PROTOCOL), "Sample size").value == 420
