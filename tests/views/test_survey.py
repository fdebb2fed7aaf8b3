"""The table of all studies: its orders, its words, and its columns in a file."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.planner import SurveyedStudy, surveyed
from replicalab.scenarios import EvidenceAssumptions, LabOverrides, list_scenarios, load_scenario
from replicalab.views.survey import COLUMNS, ORDERS, binding_text, cells, fits_text, order_key

POOR: Final = LabOverrides(budget=900, days=4, staff=2)


def found(study: str, own: LabOverrides = POOR) -> SurveyedStudy:
    return surveyed(load_scenario(study, "medium").with_own(own, EvidenceAssumptions()))


def told(study: str, own: LabOverrides = POOR) -> dict[str, str | float]:
    return dict(zip(COLUMNS, cells(found(study, own)), strict=True))


def test_row_of_the_file_has_numbers_as_they_are() -> None:
    row = told("fin_momentum", LabOverrides(budget=3000, days=40))
    assert row == {
        "study": "Momentum returns",
        "id": "fin_momentum",
        "fits": "yes",
        "fails": "",
        "evidence": "power",
        "value": pytest.approx(0.52, abs=0.005),
        "target": 0.8,
        "floor": 0.5,
        "verdict": "above floor",
        "share of target": pytest.approx(0.52 / 0.8, abs=0.007),
        "samples": 235,
        "samples of the reference protocol": 420,
        "days": 4,
        "credits": 3000,
        "fidelity loss": 0,
        "given up": "nothing",
        "wishes broken": "",
        "binds": "budget",
        "proven best": "yes",
    }


def test_row_of_a_plan_that_fails_or_shows_nothing_says_so() -> None:
    failing = told("chem_suzuki_ppb")
    assert (failing["fits"], failing["fails"], failing["binds"]) == ("no", "budget", "budget")
    nothing = told("eco_reef_fish")
    assert (nothing["value"], nothing["verdict"]) == ("", "no evidence")
    assert nothing["share of target"] == 0


@pytest.mark.parametrize(
    ("study", "fits", "binds"),
    [
        ("ml_resnet_cifar10", "fits", "nothing"),
        ("fin_momentum", "fits", "budget"),
        ("eco_reef_fish", "fits", "no one limit"),
        ("chem_suzuki_ppb", "budget fails", "budget"),
    ],
)
def test_study_fits_or_says_what_fails_and_what_binds(study: str, fits: str, binds: str) -> None:
    each = found(study)
    assert (fits_text(each), binding_text(each)) == (fits, binds)


def test_order_is_by_its_column_and_of_equals_the_best_first() -> None:
    rows = [found(study.scenario_id) for study in list_scenarios()]
    by_merit = sorted(rows, key=lambda each: each.rank)
    column = {"Study": "study", "Evidence": "share of target", "Samples": "samples"}
    column |= {"Days": "days", "Credits": "credits", "Given up": "fidelity loss"}
    for order in ORDERS:
        cell = COLUMNS.index(column.get(order, "binds"))
        expected = by_merit
        if order != ORDERS[0]:
            values = {id(each): cells(each)[cell] for each in rows}
            folded = {k: v.casefold() if isinstance(v, str) else v for k, v in values.items()}
            expected = sorted(by_merit, key=lambda e: folded[id(e)], reverse=order == "Evidence")
        names = [each.pack.paper.name for each in sorted(rows, key=order_key(order))]
        assert names == [each.pack.paper.name for each in expected], order
