"""One budget for several studies, below the table of the visitor's lab."""

import csv
import io
from typing import Final
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.facts.records import PORTFOLIO
from replicalab.planner import Portfolio, PortfolioStudy, portfolio_of
from replicalab.scenarios import EvidenceAssumptions, LabOverrides, load_scenario
from replicalab.ui import own_studies
from replicalab.ui.address import from_query
from replicalab.ui.scenarios import portfolio
from tests.ui.acting import choose, run, type_number
from tests.ui.reading import alerts, panel_tables, panels, said
from tests.ui.walking import visit

STUDIES: Final = ("psy_stroop", "ml_rl_seeds", "chem_suzuki_ppb")
NAMES: Final = ("Stroop interference", "RL seeds", "Metal-free Suzuki")
OWN: Final = LabOverrides(budget=2500, days=12, staff=4, start_day=1)


def at_portfolio(**query: str) -> AppTest:
    """Return the page with the part open."""
    app = visit(survey="1", **query)
    app.session_state[portfolio.PLACE] = True
    return run(app)


def chosen_among(*names: str) -> AppTest:
    """Return the part with studies to choose from."""
    app = at_portfolio(budget="2500", days="12", staff="4")
    return choose(app, "Studies to choose from", *names)


def in_core(own: LabOverrides = OWN, worth: float = 1.0) -> Portfolio:
    packs = (load_scenario(each, "medium").with_own(own, EvidenceAssumptions()) for each in STUDIES)
    return portfolio_of(PortfolioStudy(pack, worth) for pack in packs)


def test_part_works_nothing_out_while_it_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portfolio, "portfolio_of", pytest.fail)
    app = visit(survey="1", budget="2500", days="12", staff="4")
    assert [each.label for each in app.expander] == ["One budget for several studies"]
    assert not app.multiselect


def test_part_asks_for_the_amounts_that_the_studies_share() -> None:
    app = at_portfolio(budget="2500")
    assert not app.multiselect
    assert "Type the days and staff that the studies share" in said(app)


def test_part_shows_what_the_core_chooses_and_leaves_out() -> None:
    app, found = chosen_among(*NAMES), in_core()
    _, run_table, left = panel_tables(app)
    assert [row[0] for row in run_table[1:]] == [c.plan.pack.paper.name for c in found.chosen]
    short = "Its cheapest plan needs 235 more credits than the others, as chosen, leave."
    assert left[1:] == [["RL seeds", short]]


def test_row_opens_the_plan_in_the_lab_from_its_first_day() -> None:
    found = in_core()
    links = (a.get("href", "") for part in panels(chosen_among(*NAMES)) for a in part.iter("a"))
    hrefs = [href for href in links if "more=" in href]
    assert len(hrefs) == len(found.chosen)
    for href, each in zip(hrefs, found.chosen, strict=True):
        page, _, query = href.partition("?")
        assert page == "Protocol"
        case = from_query(dict(parse_qsl(query)), own_studies.find).workspace.case
        plan = case.assessed()
        assert plan.plan == each.plan.plan
        assert plan.pack.lab.start_day == each.first
        assert plan.feasible


def test_file_has_the_rows_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    files: list[str] = []
    monkeypatch.setattr(
        "replicalab.ui.files.st.download_button", lambda label, data, **_: files.append(data())
    )
    chosen_among(*NAMES)
    rows = list(csv.reader(io.StringIO(files[-1].removeprefix("\ufeff"))))
    assert rows[0] == list(PORTFOLIO)
    assert [row[0] for row in rows[1:]] == [c.plan.pack.scenario_id for c in in_core().chosen]


def test_part_chooses_by_what_each_study_is_worth() -> None:
    app = chosen_among(*NAMES)
    type_number(app, "Worth of RL seeds", 3)
    assert "RL seeds" in [row[0] for row in panel_tables(app)[1]]


@pytest.mark.parametrize("worth", [-1, 10**10])
def test_part_refuses_a_worth_that_cannot_be(worth: int) -> None:
    app = type_number(chosen_among(*NAMES), "Worth of RL seeds", worth)
    assert alerts(app)[0].text.startswith("The worth of RL seeds cannot be")
    assert len(panel_tables(app)) == 1
