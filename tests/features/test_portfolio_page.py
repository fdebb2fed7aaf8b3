"""One budget for several studies, below the table of the visitor's lab."""

import csv
import io
from typing import Final
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.features.portfolio import FIELDS, portfolio
from replicalab.scenarios import EvidenceAssumptions, LabOverrides, load_scenario
from replicalab.ui import own_studies
from replicalab.ui.workspace import from_query
from tests.ui.acting import choose, run, type_number
from tests.ui.reading import alerts, page_text, panel_tables, panels
from tests.ui.walking import visit

STUDIES: Final = ("psy_stroop", "ml_rl_seeds", "chem_suzuki_ppb")
NAMES: Final = ("Stroop interference", "RL seeds", "Metal-free Suzuki")
OWN: Final = LabOverrides(budget=2500, days=12, staff=4, start_day=1)


def open_part(**query: str) -> AppTest:
    app = visit(survey="1", **query)
    app.session_state["portfolio"] = True
    return run(app)


def test_closed_part_computes_nothing() -> None:
    app = visit(survey="1", budget="2500", days="12", staff="4")
    assert [part.label for part in app.expander] == ["One budget for several studies"]
    assert not app.multiselect
    app = open_part(budget="2500")
    assert not app.multiselect
    assert "Type the days and staff that the studies share" in page_text(app)


def test_part_shows_the_choice_with_links_and_file(monkeypatch: pytest.MonkeyPatch) -> None:
    files: list[str] = []
    monkeypatch.setattr("streamlit.download_button", lambda label, data, **_: files.append(data()))
    app = open_part(budget="2500", days="12", staff="4")
    choose(app, "Studies to choose from", *NAMES)
    packs = (load_scenario(s, "medium").with_own(OWN, EvidenceAssumptions()) for s in STUDIES)
    chosen = portfolio(packs).chosen
    _, table, left_out = panel_tables(app)
    assert [row[0] for row in table[1:]] == [study.plan.pack.paper.name for study in chosen]
    short = "Its cheapest plan needs 235 more credits than the others, as chosen, leave."
    assert left_out[1:] == [["RL seeds", short]]
    rows = list(csv.reader(io.StringIO(files[-1].removeprefix("\ufeff"))))
    assert rows[0] == list(FIELDS)
    assert [row[0] for row in rows[1:]] == [study.plan.pack.scenario_id for study in chosen]
    links = (a.get("href", "") for part in panels(app) for a in part.iter("a"))
    for href, study in zip((link for link in links if "more=" in link), chosen, strict=True):
        page, _, query = href.partition("?")
        plan = from_query(dict(parse_qsl(query)), own_studies.find).workspace.case.assess()
        assert (page, plan.plan, plan.feasible) == ("Protocol", study.plan.plan, True)
        assert plan.pack.lab.start_day == study.first


def test_worth_is_read_or_refused() -> None:
    app = open_part(budget="2500", days="12", staff="4")
    choose(app, "Studies to choose from", *NAMES)
    type_number(app, "Worth of RL seeds", 3)
    assert "RL seeds" in [row[0] for row in panel_tables(app)[1]]
    type_number(app, "Worth of RL seeds", -1)
    assert alerts(app)[0].text.startswith("The worth of RL seeds cannot be")
    assert len(panel_tables(app)) == 1
