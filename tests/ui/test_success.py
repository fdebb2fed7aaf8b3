"""What counts as replicated, on Protocol: ticked, planned with, carried by the link, taken back."""

from __future__ import annotations

from typing import Final

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Checkbox

from replicalab.measures.success import CRITERIA, Criterion
from replicalab.scenarios import EvidenceAssumptions, PlanWith, Replication, load_scenario
from replicalab.ui.protocol.assumptions import MORE, PARTS
from replicalab.views.success import TITLE
from tests.ui.acting import press, run, undo
from tests.ui.pages import PROTOCOL
from tests.ui.reading import alerts, heard, panel_tables, panels
from tests.ui.test_assumptions import ask, header, opened
from tests.ui.walking import query_of, visit

STUDY: Final = {"study": "fin_momentum", "lab": "easy"}


def tick(app: AppTest, *names: Criterion) -> AppTest:
    """Tick criteria, or take their ticks away, and return the app."""
    for name in names:
        box = next(each for each in boxes(app) if each.label == CRITERIA[name].label)
        (box.uncheck if box.value else box.check)()
        run(app)
    return app


def plan_with(app: AppTest, success: bool) -> AppTest:
    """Let plans be judged by the probability of success, or by their power again."""
    toggle = next(each for each in app.toggle if each.label.startswith("Plan with"))
    toggle.set_value(success)
    return run(app)


def turn(app: AppTest, part: str) -> AppTest:
    """Open another part of the assumptions and return the app."""
    app.radio(key=PARTS).set_value(part)
    return run(app)


def rows(app: AppTest) -> dict[str, list[str]]:
    """Return the table of the probability of success, by criterion."""
    table = next(each for each in panel_tables(app) if each[0][0] == "Criterion")
    return {row[0]: row[1:] for row in table[1:] if row[0] and len(row) > 1}


def whole(app: AppTest) -> str:
    """Return all that the panels of the page say."""
    return " ".join(heard(panel) for panel in panels(app))


def ticked(app: AppTest) -> list[str]:
    """Return the criteria that are ticked."""
    return [each.label for each in boxes(app) if each.value]


def boxes(app: AppTest) -> list[Checkbox]:
    """Return the criteria."""
    return [each for each in app.checkbox if (each.key or "").startswith("success_")]


def test_part_is_there_where_the_original_has_a_standard_error() -> None:
    assert TITLE in MORE
    app = opened(TITLE, **STUDY)
    assert [each.label for each in boxes(app)] == [row.label for row in CRITERIA.values()]
    assert not ticked(app)
    other = opened(study="eco_reef_fish")
    assert TITLE not in next(r for r in other.radio if r.label == "Numbers or a curve").options


def test_ticked_criteria_have_a_probability_each_and_one_together() -> None:
    app = tick(opened(TITLE, **STUDY), Criterion.SIGNIFICANT, Criterion.INTERVAL)
    found = rows(app)
    assert [*found] == ["Significant", "Original in the interval", "All together"]
    alone = [float(found[name][0]) for name in [*found][:2]]
    assert float(found["All together"][0]) <= min(alone)
    assert "2 criteria of replication, yours" in header(app)
    assert "power" in whole(app)


def test_plan_is_judged_by_success_where_that_is_asked_and_taken_back() -> None:
    app = tick(opened(TITLE, **STUDY), Criterion.SIGNIFICANT)
    plan_with(app, True)
    shown = rows(app)["All together"][0]
    assert f"probability of success {shown}" in whole(app)
    again = visit(PROTOCOL, **query_of(app))
    assert header(again) == header(app)
    press(app, "Back to the study’s")
    assert f"probability of success {shown}" not in whole(app)
    assert not ticked(app)
    undo(app)
    assert f"probability of success {shown}" in whole(app)


def test_effect_that_is_yours_plays_no_part_under_success_and_comes_back() -> None:
    app = tick(turn(ask(opened(**STUDY), effect=0.2), TITLE), Criterion.SIGNIFICANT)
    assert "effect 0.2" in header(app)
    plan_with(app, True)
    # An original's estimate is planned with, and its effect is no field then.
    alone = "effect 0.2, yours, plays no part, for plans are made with the original’s estimate"
    assert alone in header(app)
    turn(app, "Numbers")
    assert not [each for each in app.number_input if each.label.startswith("Cohen")]
    assert any("No effect is asked for: plans are made with" in each.value for each in app.caption)
    again = visit(PROTOCOL, **query_of(app))
    assert alone in header(again)
    assert not alerts(again)
    plan_with(turn(app, TITLE), False)
    assert "effect 0.2, replicated if significant, yours" in header(app)


def test_last_criterion_that_is_unticked_leaves_the_studys() -> None:
    app = tick(opened(TITLE, **STUDY), Criterion.SCEPTICAL, Criterion.SCEPTICAL)
    assert not ticked(app)
    assert "yours" not in header(app)


def test_equivalence_brings_its_margin_and_takes_it_along() -> None:
    app = tick(opened(TITLE, **STUDY), Criterion.SIGNIFICANT, Criterion.EQUIVALENCE)
    margin = next(each for each in app.number_input if each.label == "Margin")
    assert margin.value == 0.09  # the study's smallest effect of interest
    tick(app, Criterion.EQUIVALENCE)
    assert not [each for each in app.number_input if each.label == "Margin"]


@pytest.mark.parametrize("typed", [-0.1, 1e308, -1e9])
def test_heterogeneity_that_cannot_be_says_why_and_changes_nothing(typed: float) -> None:
    app = tick(opened(TITLE, **STUDY), Criterion.SIGNIFICANT)
    before = rows(app)
    tau = next(each for each in app.number_input if each.label.startswith("Heterogeneity"))
    tau.set_value(typed)
    run(app)
    assert any("It stays 0" in each.text for each in alerts(app))
    assert rows(app) == before


def test_link_whose_choice_does_not_fit_says_so_and_shows_the_studys() -> None:
    question = EvidenceAssumptions(
        replication=Replication(criteria=(Criterion.SIGNIFICANT,), plan_with=PlanWith.SUCCESS)
    )
    pack = load_scenario("fin_momentum", "medium")
    assert question.over(pack.design).row.measure == "probability of success"
    app = tick(opened(TITLE, **STUDY), Criterion.SIGNIFICANT)
    query = {key: value for key, value in query_of(app).items() if key not in ("study", "plan")}
    other = visit(PROTOCOL, **query, study="eco_reef_fish")
    assert any("replication cannot be asked" in each.text for each in alerts(other))
    assert "replicated if" not in header(other)


def test_looks_stay_chosen_under_a_criterion_they_are_not_worked_out_for_and_it_is_said() -> None:
    app = opened(TITLE, **STUDY, looks="pocock:1")
    none, reason = "not worked out with 1 look", "choose significance at its alpha alone"
    assert none not in whole(tick(app, Criterion.SIGNIFICANT))
    tick(app, Criterion.INTERVAL)
    assert none in heard(panels(app)[0])
    assert whole(app).count(reason) == 1
    assert query_of(app)["looks"] == "pocock:1"
    assert none not in whole(tick(app, Criterion.INTERVAL))
    assert reason in whole(plan_with(app, True))
