"""Forking at a round: the form, both branches side by side, keeping and dropping."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.models import Protocol, revise
from replicalab.negotiation import (
    ScientistKind,
    begin,
    fork,
    negotiate,
    play_action,
    save_trace,
    setup_for,
)
from replicalab.scenarios import load_scenario
from replicalab.sentences import outcome_verdict
from tests.negotiation.playing import propose
from tests.ui.negotiating import labels, round_shown, rows_in, seat
from tests.ui.reading import (
    NEGOTIATION,
    alerts,
    choose,
    number,
    press,
    run,
    said,
    type_number,
    type_text,
    visit,
)

PACK = load_scenario("fin_momentum", "medium")
TRACE = negotiate(setup_for(PACK, PACK.reference_protocol), PACK)
PLAN = TRACE.rounds[1].plan
assert PLAN is not None
EXTRACT = ["research server", "vendor-approved extract on the research server"]
OTHER = revise(PLAN, sample_size=195, duration_days=4, required_equipment=EXTRACT)
FORKED = fork(TRACE, 1, OTHER, PACK)


def forked() -> AppTest:
    """Return the page with a branch from round 2."""
    app = press(press(visit(NEGOTIATION), "Next"), "Fork here")
    type_number(type_number(app, "Sample size", 195), "Duration (days)", 4)
    return press(choose(app, "Equipment", *EXTRACT), "Continue from here")


def test_fork_form_holds_the_plan_of_its_round() -> None:
    app = press(press(visit(NEGOTIATION), "Next"), "Fork here")
    assert "What if round 2 had gone differently?" in [header.value for header in app.header]
    assert (number(app, "Sample size").value, number(app, "Duration (days)").value) == (150, 7)


def test_fork_form_can_be_left() -> None:
    app = press(press(visit(NEGOTIATION), "Fork here"), "Cancel")
    assert "Continue from here" not in labels(app)
    assert "Fork here" in labels(app)


def test_both_branches_stand_side_by_side() -> None:
    app = forked()
    verdicts = [alert.text for alert in alerts(app)]
    before, after = outcome_verdict(TRACE, PACK).text, outcome_verdict(FORKED, PACK).text
    assert before != after
    assert verdicts == [before, before, after]
    assert "Two branches from round 2" in [header.value for header in app.header]


def test_branches_are_compared_round_by_round() -> None:
    rows = rows_in(forked(), "branches")
    assert rows[0] == ["Round", "As it was", "Answer", "Your branch", "Answer to it"]
    assert rows[1] == [
        "2",
        "Revises: 150 samples in 7 days, 2,300 credits, power 0.58",
        "Suggests changes",
        "Revises: 195 samples in 4 days, 2,600 credits, power 0.69",
        "Accepts",
    ]
    assert [row[0] for row in rows[1:]] == ["2", "3", "4", "5"]
    assert rows[2][3:] == ["–", "–"]


def test_branch_is_dropped() -> None:
    app = press(forked(), "Drop the branch")
    assert [alert.text for alert in alerts(app)] == [outcome_verdict(TRACE, PACK).text]


def test_branch_is_kept_in_place_of_the_original_and_closed_again() -> None:
    app = press(forked(), "Keep the branch")
    assert alerts(app)[0].text == outcome_verdict(FORKED, PACK).text
    assert round_shown(app) == "Round 2 of 2"
    assert "Your branch from round 2." in said(app)
    press(app, "Close it")
    assert alerts(app)[0].text == outcome_verdict(TRACE, PACK).text


def test_kept_branch_can_be_forked_again() -> None:
    app = press(press(forked(), "Keep the branch"), "Fork here")
    press(app, "Continue from here")
    assert "Two branches from round 2" in [header.value for header in app.header]


def test_branch_goes_when_other_players_sit_down() -> None:
    app = seat(forked(), "Lab Manager", "least_loss")
    assert "Keep the branch" not in labels(app)


def test_branch_of_a_person_is_played_on_by_the_person() -> None:
    app = press(visit(NEGOTIATION, scientist="person"), "Put this plan forward")
    press(press(app, "Fork here"), "Continue from here")
    assert labels(app).count("Accept the offer") == 1
    press(app, "Accept the offer")
    assert [alert.colour for alert in alerts(app)] == ["warning", "warning", "success"]
    press(app, "Undo last round")
    assert [alert.colour for alert in alerts(app)][:3] == ["warning", "warning", "warning"]
    press(press(app, "Accept the offer"), "Keep the branch")
    assert alerts(app)[0].colour == "success"


def test_plan_that_cannot_be_one_is_not_forked() -> None:
    app = press(visit(NEGOTIATION), "Fork here")
    press(type_text(app, "Rationale", ""), "Continue from here")
    assert "Keep the branch" not in labels(app)
    assert "Continue from here" in labels(app)


def forking(plan: Protocol) -> AppTest:
    """Return the fork form over a negotiation whose first plan is that one."""
    setup = setup_for(PACK, None, 5, ScientistKind.PERSON)
    trace = play_action(begin(setup, PACK), propose(plan), PACK)
    app = visit(NEGOTIATION)
    data = save_trace(trace).encode()
    app.file_uploader[0].set_value(("mine.json", data, "application/json"))
    return press(run(app), "Fork here")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"sample_size": 2_000_000}, "The plan has 2,000,000 here, and 1 to 1,000,000 can be sent"),
        ({"technique": "t" * 4001}, "4,001 characters here, and at most 4,000 can be sent"),
        ({"controls": ["a", "b", "a"]}, "The plan lists a more than once; each is sent once."),
    ],
)
def test_fork_form_says_what_it_could_not_take_over(changes: dict[str, object], told: str) -> None:
    app = forking(revise(PACK.reference_protocol, **changes))
    assert told in said(app)


def test_fork_form_says_nothing_of_a_plan_that_it_holds_as_it_is() -> None:
    app = forking(PACK.reference_protocol)
    assert "can be sent" not in said(app)
    assert "is sent once" not in said(app)


def test_plan_too_large_is_not_sent() -> None:
    many = [f"control {number}" for number in range(201)]
    app = choose(press(visit(NEGOTIATION), "Fork here"), "Controls", *many)
    assert any("Controls has 201 entries" in alert.text for alert in alerts(app))
    press(app, "Continue from here")
    assert "Keep the branch" not in labels(app)
