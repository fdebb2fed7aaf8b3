"""The Negotiation page: how it ended, every round of it, and what cannot be opened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from replicalab.lexicon import amount_text
from replicalab.ui.address import encode_plan
from replicalab.models import DIMENSIONS, revise
from replicalab.negotiation import (
    LabManagerKind,
    ScientistKind,
    games,
    negotiate,
    setup_for,
)
from replicalab.scenarios import load_scenario
from replicalab.sentences import outcome_verdict
from tests.ui.negotiating import matrix, options, round_shown, rows_in, seat, seated
from tests.ui.reading import (
    NEGOTIATION,
    PROTOCOL,
    Alert,
    alerts,
    can_press,
    go,
    number,
    press,
    query_of,
    run,
    said,
    texts,
    type_number,
    visit,
)
from tests.ui.test_pages import LABS

REFERENCE: Final = load_scenario("fin_momentum").reference_protocol
STEPS: Final = ("First", "Back", "Next", "Last", "Play")


def outcome(study: str, lab: str) -> Alert:
    """Return how the negotiation over the reference protocol is said to have ended."""
    return alerts(visit(NEGOTIATION, study=study, lab=lab))[0]


# --- How it ended ---


def test_agreement_that_meets_the_target_is_success() -> None:
    assert outcome("ml_resnet_cifar10", "easy") == Alert(
        "success",
        "Agreed in round 1: 12 samples in 6 days for 820 of 900 credits; "
        "planned evidence: power 0.88, which meets the target of 0.80.",
    )


def test_agreement_below_the_floor_is_a_caution() -> None:
    assert outcome("fin_momentum", "hard") == Alert(
        "warning",
        "Agreed below the floor in round 5: 37 samples in 5 days for 1,070 of 1,500 credits; "
        "planned evidence: power 0.18, below the floor of 0.50; no plan above the floor of 0.50 "
        "exists in this lab with this method: the best has power 0.38.",
    )


def test_false_agreement_is_never_shown_as_success() -> None:
    app = visit(NEGOTIATION, study="math_four_colour", lab="hard")
    assert alerts(app) == [
        Alert(
            "error",
            "False agreement in round 5: the Scientist accepted, but protocol, equipment, "
            "reagents, schedule and staff fail, so the lab cannot run the plan of 79 samples in 7 "
            "days for 1,465 of 2,500 credits; no plan above the floor of 100 % exists in this lab "
            "with this method: the best has share examined 3.2 %.",
        )
    ]
    press(app, "Last")
    assert "Takes the plan." in said(app)
    assert [row[-1] for row in matrix(app)[1:]] == [
        "fail",
        "pass",
        "fail",
        "fail",
        "fail",
        "fail",
        "pass",
    ]
    assert rows_in(app, "numbers")[-1][-1] == "not feasible"
    assert not app.success


def test_unapproved_plan_in_a_willing_lab_is_a_false_agreement_too() -> None:
    plan = revise(REFERENCE, rationale="Offline backtest; later we route orders to a broker.")
    app = visit(NEGOTIATION, lab="easy", plan=encode_plan(plan))
    verdict = alerts(app)[0]
    assert verdict.colour == "error"
    assert verdict.text.startswith("False agreement in round ")
    assert "policy fails" in verdict.text


@pytest.mark.parametrize(("study", "lab"), LABS)
def test_outcome_is_success_only_where_the_last_plan_is_feasible(study: str, lab: str) -> None:
    app = visit(NEGOTIATION, study=study, lab=lab)
    last = [row[-1] for row in matrix(app)[1:]]
    if alerts(app)[0].colour == "success":
        assert last == ["pass"] * 7
    if "fail" in last:
        assert alerts(app)[0].colour == "error"


# --- The matrix, the table and the chart ---


def test_matrix_of_the_default_story() -> None:
    p, f = "pass", "fail"
    assert matrix(visit(NEGOTIATION)) == [
        ["Dimension", "Round 1", "Round 2", "Round 3", "Round 4", "Round 5"],
        ["Protocol", f, f, p, p, p],
        ["Budget", f, p, p, p, p],
        ["Equipment", f, f, f, f, p],
        ["Reagents", p, p, p, p, p],
        ["Schedule", f, f, p, p, p],
        ["Staff", p, p, p, p, p],
        ["Policy", p, p, p, p, p],
    ]


@pytest.mark.parametrize(("study", "lab"), LABS)
def test_matrix_and_table_show_the_core_checks(study: str, lab: str) -> None:
    pack = load_scenario(study, lab)
    trace = negotiate(setup_for(pack, pack.reference_protocol), pack)
    app = visit(NEGOTIATION, study=study, lab=lab)
    columns = list(zip(*matrix(app), strict=True))[1:]
    rows = rows_in(app, "numbers")[1:]
    assert len(columns) == len(rows) == len(trace.rounds)
    for done, column, row in zip(trace.rounds, columns, rows, strict=True):
        assert done.check is not None
        assert done.plan is not None
        cells = ["pass" if done.check.check(name).ok else "fail" for name in DIMENSIONS]
        assert list(column) == [f"Round {done.number + 1}", *cells]
        assert row[:4] == [
            str(done.number + 1),
            amount_text(done.plan.sample_size),
            str(done.plan.duration_days),
            amount_text(done.check.estimated_cost),
        ]
        assert row[-1] == ("feasible" if done.check.feasible else "not feasible")


# --- Stepping ---


def test_scrubber_goes_on_and_back_and_to_both_ends() -> None:
    app = visit(NEGOTIATION)
    seen = [round_shown(app)]
    for step in ("Next", "Next", "Back", "Last", "First"):
        press(app, step)
        seen.append(round_shown(app))
        assert query_of(app)["round"] == round_shown(app).split()[1]
    assert seen == [f"Round {n} of 5" for n in (1, 2, 3, 2, 5, 1)]


def test_scrubber_stops_at_the_ends() -> None:
    app = visit(NEGOTIATION)
    assert [can_press(app, step) for step in STEPS] == [False, False, True, True, True]
    press(app, "Last")
    assert [can_press(app, step) for step in STEPS] == [True, True, False, False, True]


def test_negotiation_of_one_round_has_nothing_to_step_through() -> None:
    app = visit(NEGOTIATION, lab="easy")
    assert round_shown(app) == "Round 1 of 1"
    assert [can_press(app, step) for step in STEPS] == [False] * 5


def test_round_says_what_was_asked_what_changed_and_what_was_answered() -> None:
    page = said(press(visit(NEGOTIATION), "Next"))
    assert "Revises\nThe last answer names something that stands in the way, so it halves" in page
    assert "150 samples in 7 days, offline decile" in page
    assert "Sample size: 300 → 150" in page
    assert "Duration: 8 days → 7 days" in page
    assert "−1,550 credits · power 0.86 → 0.58" in page
    assert "Suggests changes" in page
    assert "I offer instead:" in page


def test_last_round_takes_the_offer() -> None:
    page = said(press(visit(NEGOTIATION), "Last"))
    assert "Accepts\nTakes the Lab Manager's offer." in page
    assert "I accept: all seven dimensions pass." in page


def test_scrubbing_asks_no_agent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def counted(name: str, agent: Callable[..., object]) -> Callable[..., object]:
        def call(*arguments: object, **named: object) -> object:
            calls.append(name)
            return agent(*arguments, **named)

        return call

    for name in ("choose_turn", "take"):
        agent = counted(name, getattr(games, name))
        monkeypatch.setattr(games, name, agent)
    app = visit(NEGOTIATION)
    assert calls.count("choose_turn") == 5
    calls.clear()
    for step in ("Next", "Last", "Back", "First", "Play", "Pause"):
        press(app, step)
    go(go(app, PROTOCOL), NEGOTIATION)
    assert calls == []


def test_play_starts_from_the_first_round_at_the_end_and_can_be_paused() -> None:
    app = press(press(visit(NEGOTIATION), "Last"), "Play")
    assert round_shown(app) == "Round 1 of 5"
    press(app, "Pause")
    assert can_press(app, "Play")


def test_stepping_by_hand_ends_playing() -> None:
    app = press(press(visit(NEGOTIATION), "Play"), "Next")
    assert can_press(app, "Play")


def test_round_is_told_in_one_line_of_numbers() -> None:
    page = said(press(visit(NEGOTIATION), "Next"))
    assert (
        "Round 2: halving to 150 samples and cutting to 7 days saves 1,550 credits; power falls "
        "from 0.86 to 0.58."
    ) in page


def test_both_messages_open_to_their_rule_and_the_seven_margins() -> None:
    app = press(visit(NEGOTIATION), "Next")
    page = said(app)
    assert "so it halves the sample and takes a day off." in page
    assert "Third in its order: a lab constraint fails" in page
    assert rows_in(app, "manager_rule_1") == [
        ["Dimension", "Used / limit", "Slack", "Passes"],
        ["Protocol", "1 error: duration", "−1", "fail"],
        ["Budget", "2,300 / 2,600 credits", "+300", "pass"],
        ["Equipment", "2 needed, 1 free", "−1", "fail"],
        ["Reagents", "2 needed, 2 free", "0", "pass"],
        ["Schedule", "7 / 6 days", "−1", "fail"],
        ["Staff", "4 / 4 staff units", "0", "pass"],
        ["Policy", "0 breaches, none allowed", "0", "pass"],
    ]


def test_judge_speaks_after_the_end_with_the_formula() -> None:
    page = said(visit(NEGOTIATION))
    assert "Reward 0.23 = rigor 0.23 × feasibility 1.00 × fidelity 1.00." in page
    assert "Required, not addressed: nothing." in page


# --- Who plays ---


@pytest.mark.parametrize("manager", LabManagerKind)
@pytest.mark.parametrize("scientist", [ScientistKind.BASELINE, ScientistKind.EVIDENCE_AWARE])
def test_each_rule_is_seated_and_kept_in_the_address(
    scientist: ScientistKind, manager: LabManagerKind
) -> None:
    pack = load_scenario("fin_momentum", "medium")
    trace = negotiate(setup_for(pack, pack.reference_protocol, 5, scientist, manager), pack)
    app = seat(visit(NEGOTIATION), "Scientist", scientist.value)
    seat(app, "Lab Manager", manager.value)
    assert alerts(app)[0].text == outcome_verdict(trace, pack).text
    again = visit(NEGOTIATION, **query_of(app))
    assert alerts(again)[0] == alerts(app)[0]
    assert (seated(again), seated(again, "Lab Manager")) == (scientist.value, manager.value)


def test_every_player_is_offered_with_its_rule() -> None:
    app = visit(NEGOTIATION)
    assert options(app, "Scientist") == [
        "Baseline",
        "Evidence-aware",
        "Language model",
        "You",
        "Recorded run",
    ]
    assert options(app, "Lab Manager") == ["Reference", "Least-loss"]
    assert "Substitutes items, cuts days, then halves the sample until the budget fits." in said(
        app
    )


def test_unknown_player_of_a_link_is_said_and_left_out() -> None:
    app = visit(NEGOTIATION, scientist="<b>nobody</b>")
    assert alerts(app)[0].colour == "warning"
    assert "scientist '<b>nobody</b>' is not usable; it is left out." in alerts(app)[0].text
    assert seated(app) == "baseline"


# --- How long it may last ---


@pytest.mark.parametrize(("most", "last"), [(1, 1), (2, 2), (12, 12)])
def test_rounds_limit_is_kept(most: int, last: int) -> None:
    app = type_number(visit(NEGOTIATION), "Rounds at most", most)
    assert round_shown(app) == f"Round 1 of {last}"
    assert query_of(app)["rounds"] == str(most)


def test_rounds_limit_survives_a_walk_to_another_page() -> None:
    app = type_number(visit(NEGOTIATION), "Rounds at most", 3)
    go(go(app, PROTOCOL), NEGOTIATION)
    assert number(app, "Rounds at most").value == 3
    assert round_shown(app) == "Round 1 of 3"


def test_rounds_limit_shown_is_within_its_bounds() -> None:
    field = number(visit(NEGOTIATION), "Rounds at most")
    assert (field.min, field.max) == (1, 12)


def test_new_plan_is_negotiated_from_its_first_round() -> None:
    app = go(press(visit(NEGOTIATION), "Last"), PROTOCOL)
    go(press(app, "Apply all changes"), NEGOTIATION)
    assert round_shown(app) == "Round 1 of 1"
    assert alerts(app)[0] == Alert(
        "success",
        "Agreed in round 1: 150 samples in 6 days for 2,250 of 2,600 credits; "
        "planned evidence: power 0.58, below the target of 0.80 but above the floor of 0.50.",
    )


# --- What cannot be opened ---


def test_plan_without_samples_gives_the_way_out_and_no_round() -> None:
    app = visit(NEGOTIATION, plan=encode_plan(revise(REFERENCE, sample_size=0)))
    assert alerts(app) == [
        Alert(
            "error",
            "The negotiation cannot start: the plan has a sample size of 0; a proposal needs at "
            "least 1 sample.",
        )
    ]
    assert not any(text.startswith("Round ") for text in texts(app.main))
    go(type_number(go(app, PROTOCOL), "Sample size", 150), NEGOTIATION)
    assert round_shown(app).startswith("Round 1 of ")


def test_plan_without_days_or_controls_is_negotiated() -> None:
    plan = revise(REFERENCE, duration_days=0, controls=[], required_equipment=[])
    app = visit(NEGOTIATION, plan=encode_plan(plan))
    assert round_shown(app).startswith("Round 1 of ")
    assert "Protects against: nothing: it has no controls." in said(app)


def test_choosing_players_and_presenting_are_no_steps_to_undo() -> None:
    app = type_number(visit(PROTOCOL), "Sample size", 100)
    go(app, NEGOTIATION)
    next(box for box in app.selectbox if box.label == "Lab Manager").set_value("least_loss")
    run(app)
    app.toggle[0].set_value(True)
    run(app)
    go(app, PROTOCOL)
    press(app, "Undo")
    assert number(app, "Sample size").value == 300
    assert (query_of(app)["manager"], query_of(app)["present"]) == ("least_loss", "1")
