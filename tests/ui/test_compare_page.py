"""The Compare page: its sides, and batches of negotiations."""

import pytest
from streamlit.testing.v1 import AppTest

from replicalab import scenarios, server
from replicalab.drafts import Draft, check, new_study
from replicalab.library import EntryKind
from replicalab.models import revise
from replicalab.negotiation import ScientistKind, save
from replicalab.negotiation.batch import run_job
from replicalab.negotiation.case import record_text
from replicalab.ui import batches, own_studies
from replicalab.ui.batches import BATCHES
from replicalab.ui.compare_page import MANY, TABS
from replicalab.ui.library_page.shelf import owner, shelf
from replicalab.ui.own_studies import find
from replicalab.ui.workspace import TrayCase, Workspace
from tests.golden import assert_golden
from tests.library.making import make_batch
from tests.negotiation.playing import by_model, by_rule
from tests.ui.acting import can_press, labels, number, press, run, type_number
from tests.ui.negotiating import proposing
from tests.ui.pages import COMPARE, LIBRARY, PROTOCOL
from tests.ui.reading import alerts, page_text, panel_tables, tray
from tests.ui.test_batches import until
from tests.ui.walking import go, query_of, show, visit

WAYS = "Yours, offer, least loss"


def row(app: AppTest, label: str) -> list[str]:
    return next(cells[1:] for cells in panel_tables(app)[-1] if cells[0] == label)


def test_single_plan_is_compared_with_the_open_one() -> None:
    assert "Nothing to compare yet." in page_text(visit(COMPARE))
    app = go(press(visit(PROTOCOL), "Compare this"), COMPARE)
    assert "Plan A is the open plan; add one to compare it with." in page_text(app)
    go(type_number(go(app, PROTOCOL), "Sample size", 100), COMPARE)
    assert row(app, "Sample size") == ["420", "100"]
    press(app, "The three labs")
    assert number(go(app, PROTOCOL), "Sample size").value == 100


def test_three_labs_by_a_click_or_a_link() -> None:
    app = press(visit(COMPARE, study="psy_stroop"), "The three labs")
    assert [item.name for item in tray(app)] == ["easy lab", "medium lab", "hard lab"]
    assert_golden("pages/compare#labs", page_text(app))
    again = visit(COMPARE, **query_of(app))
    assert (tray(again), panel_tables(again)) == (tray(app), panel_tables(app))
    lost = TrayCase(name="Lost", case=Workspace().replace(study="mine", own="0" * 32).case)
    state = app.session_state["state"]
    state.workspace = state.workspace.replace(tray=(*tray(app), lost))
    [warning] = alerts(run(app))
    assert warning.text.startswith("Not compared: Lost: ")
    assert panel_tables(app) == panel_tables(again), "the rest is compared"


def test_three_ways_by_a_click() -> None:
    app = press(visit(COMPARE), WAYS)
    assert row(app, "Sample size") == ["420", "210", "295"]
    assert not tray(press(app, "Undo"))


@pytest.fixture(autouse=True)
def _whose(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    # The processes that play a batch are tried in test_batches.py.
    secret = f"secret of {request.node.name}"
    monkeypatch.setattr("replicalab.server.visitor", lambda: secret)
    monkeypatch.setattr(batches, "run_batch", lambda jobs, **_: (run_job(job) for job in jobs))


def from_library(app: AppTest) -> AppTest:
    app.session_state["compare_library"] = True
    return press(run(app), "Add it")


def kept(kind: EntryKind, name: str, content: str) -> None:
    shelf().keep(owner(), kind, name, content)


def test_saved_plan_and_lab_are_compared() -> None:
    plan = revise(scenarios.load_scenario("fin_momentum").reference_protocol, sample_size=77)
    work, name = Workspace().replace(plan=plan), "Momentum · n 77 (v2.1)"
    kept(EntryKind.PLAN, name, record_text(work.case))
    app = from_library(visit(COMPARE))
    assert [(item.name, item.case) for item in tray(app)] == [(name, work.case)]
    assert row(app, "Sample size") == ["77", "420"]
    kept(
        EntryKind.LAB, "Ours", scenarios.lab_json(scenarios.LabOverrides(name="Ours", budget=5000))
    )
    assert row(from_library(visit(COMPARE)), "Budget, credits") == ["5,000", "3,700"]


def test_saved_run_is_replayed() -> None:
    pack = scenarios.load_scenario("psy_stroop", "hard")
    run_ = by_rule(pack, pack.reference_protocol, scientist=ScientistKind.BASELINE)
    kept(EntryKind.RUN, "A run", save(run_))
    [result] = tray(from_library(visit(COMPARE)))
    assert (result.case.scientist, result.case.lab) == (
        ScientistKind.BASELINE,
        scenarios.Difficulty.HARD,
    )
    assert result.case.protocol(find) == run_.setup.opening


def test_saved_model_run_is_its_last_plan() -> None:
    mine = scenarios.copy_text("psy_stroop", "my_stroop")
    study = scenarios.parse_study(mine, "mine.yaml")
    assert not own_studies.keep(mine, study)
    pack = scenarios.pack_of(study, scenarios.Difficulty.MEDIUM)
    plan = revise(pack.reference_protocol, sample_size=77)
    kept(EntryKind.RUN, "A run", save(by_model(pack, [proposing(plan)], rounds=1)))
    key = own_studies.key_of("my_stroop") or ""
    [result] = tray(from_library(visit(COMPARE, study="my_stroop", own=key)))
    assert result.name == "A run: its last plan"
    assert result.case.protocol(find) == plan


def test_own_lab_is_compared_with_its_study() -> None:
    app = press(visit(COMPARE, study="psy_stroop", budget="1500"), "Yours and the study’s")
    assert [item.name for item in tray(app)] == ["Your lab", "easy lab", "medium lab", "hard lab"]
    assert row(app, "Budget, credits") == ["1,500", "1,700", "1,000", "620"]


def test_equal_labs_are_one_column() -> None:
    study = check(Draft(new_study("mine"))).study
    assert study is not None
    assert not own_studies.keep(scenarios.study_yaml(study), study)
    query = {"study": "mine", "own": own_studies.key_of("mine") or ""}
    alone = visit(COMPARE, **query)
    assert not can_press(alone, "The three labs")
    text = "The three labs of this study are the same. Enter yours under Your lab"
    assert text in page_text(alone)
    app = press(visit(COMPARE, **query, staff="2"), "Yours and the study’s")
    assert [item.name for item in tray(app)] == ["Your lab", "the study’s lab"]
    assert row(app, "Staff units") == ["2", "3"]


def at_many(**query: str) -> AppTest:
    return show(visit(COMPARE, **query), MANY, TABS)


def over(app: AppTest) -> AppTest:
    batch = BATCHES.of(server.visitor())
    assert batch is not None
    until(lambda: batch.is_over)
    return run(app)


def test_batch_is_run_saved_and_opened() -> None:
    app = type_number(at_many(study="psy_stroop"), "Last seed", 3)
    sentence = "1 study × 3 labs × 4 seeds × 1 Scientist × 1 Lab Manager = 12 negotiations"
    assert sentence in page_text(app)
    over(press(app, "Run"))
    shares, regret = panel_tables(app)[-2:]
    assert [cells[-1].split(",")[0] for cells in shares[1:]][:2] == ["4 of 4", "4 of 4"]
    assert (regret[1][1], regret[1][-1]) == ("0", "12")
    assert panel_tables(at_many())[-2:] == [shares, regret], "after a reload too"
    press(app, "Save to the library")
    [entry] = shelf().entries(owner(), EntryKind.BATCH)
    assert entry.name == "Stroop interference · 3 labs · 12 negotiations"
    app = press(visit(LIBRARY), "Open")
    assert panel_tables(go(app, COMPARE))[-2:] == [shares, regret]
    assert "12 of 12 played again: same results." in page_text(app)
    assert "Save to the library" not in labels(app)


def test_batch_before_is_one_click_away() -> None:
    kept(EntryKind.BATCH, "Of spring", make_batch())
    app = over(press(type_number(at_many(study="psy_stroop"), "Last seed", 0), "Run"))
    shares = panel_tables(app)[-1]
    press(go(app, LIBRARY), "Open")
    assert "Of spring" in page_text(go(app, COMPARE))
    press(app, "The batch before")
    assert panel_tables(app)[-1] == shares
    assert "Of spring" in page_text(press(app, "The batch before"))


def test_batch_in_the_own_lab() -> None:
    app = at_many(study="psy_stroop", budget="900")
    app.toggle(key="batch_own").set_value(True)
    over(press(type_number(run(app), "Last seed", 0), "Run"))
    batch = BATCHES.of(server.visitor())
    assert batch is not None
    assert {job.own_lab.budget for job in batch.jobs} == {900}
