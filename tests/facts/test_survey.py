"""The table of all studies: its orders, its words, and its columns in a file."""

from typing import Final

from replicalab.facts import survey_facts
from replicalab.planner import SurveyedStudy, surveyed
from replicalab.scenarios import EvidenceAssumptions, LabOverrides, list_scenarios, load_scenario
from tests.golden import assert_golden

POOR: Final = LabOverrides(budget=900, days=4, staff=2)


def found(study: str, own: LabOverrides = POOR) -> SurveyedStudy:
    return surveyed(load_scenario(study, "medium").with_own(own, EvidenceAssumptions()))


def sentences(study: str, own: LabOverrides) -> str:
    item = found(study, own)
    row = (
        f"{value:.4g}" if isinstance(value, float) else f"{value}"
        for value in survey_facts.cells(item)
    )
    return " | ".join([survey_facts.fits_text(item), survey_facts.binding_text(item), *row])


def test_rows_of_table_and_file() -> None:
    studies = "ml_resnet_cifar10", "fin_momentum", "eco_reef_fish", "chem_suzuki_ppb"
    rows = [" | ".join(survey_facts.COLUMNS)]
    rows.append(sentences("fin_momentum", LabOverrides(budget=3000, days=40)))
    rows += [sentences(study, POOR) for study in studies]
    assert_golden("survey", "\n".join(rows))


def test_equal_rows_are_ordered_by_merit() -> None:
    rows = [found(study.scenario_id) for study in list_scenarios()]
    by_merit = sorted(rows, key=lambda each: each.rank)
    column = {"evidence": "share of target", "cost": "credits", "given_up": "fidelity loss"}
    column |= {"best": "binds", "binding": "binds"}
    for order in survey_facts.ORDERS:
        cell = survey_facts.COLUMNS.index(column.get(order, order))
        expected = by_merit
        if order != survey_facts.ORDERS[0]:
            values = {id(row): survey_facts.cells(row)[cell] for row in rows}
            folded = {k: v.casefold() if isinstance(v, str) else v for k, v in values.items()}
            expected = sorted(by_merit, key=lambda e: folded[id(e)], reverse=order == "evidence")
        names = [row.pack.paper.name for row in sorted(rows, key=survey_facts.order_key(order))]
        assert names == [each.pack.paper.name for each in expected], order
