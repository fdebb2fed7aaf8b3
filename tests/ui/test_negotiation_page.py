"""The Negotiation page: how it ended, every round of it, who plays, and what cannot be opened."""

from __future__ import annotations

from typing import Final, NoReturn

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.lexicon import amount_text
from replicalab.models import DIMENSIONS, revise
from replicalab.negotiation import LabManagerKind, ScientistKind
from replicalab.scenarios import Difficulty, list_scenarios, load_scenario
from replicalab.text.negotiation import outcome_verdict, round_caption
from replicalab.ui.address import encode_plan
from tests.golden import assert_golden
from tests.negotiation.playing import by_rule
from tests.ui.negotiating import (
    PACK,
    REFERENCE,
    TOLD,
    headers,
    labels,
    matrix,
    round_shown,
    rows_in,
    seat,
    seated,
    shows,
)
from tests.ui.reading import (
    NEGOTIATION,
    PROTOCOL,
    alerts,
    can_press,
    go,
    keyed,
    number,
    plain,
    press,
    query_of,
    run,
    said,
    texts,
    type_number,
    visit,
)

LABS: Final = [
    (study.scenario_id, difficulty.value) for study in list_scenarios() for difficulty in Difficulty
]
STEPS: Final = ("First", "Back", "Next", "Last", "Play")


# --- how it ended, in every lab ---


@pytest.mark.parametrize(("study", "lab"), LABS)
def test_page_shows_what_the_core_has_found(study: str, lab: str) -> None:
    pack = load_scenario(study, lab)
    negotiation = by_rule(pack, pack.reference_protocol)
    plans = [done.plan for done in negotiation.rounds if done.plan is not None]
    verdict = outcome_verdict(negotiation)
    colour = {"pass": "success", "caution": "warning", "fail": "error"}[verdict.status]
    app = visit(NEGOTIATION, study=study, lab=lab)
    assert alerts(app) == [(colour, verdict.text)]
    assert (colour == "success") <= plans[-1].feasible
    columns = list(zip(*matrix(app), strict=True))[1:]
    rows = rows_in(app, "numbers")[1:]
    for at, (plan, column, row) in enumerate(zip(plans, columns, rows, strict=True), start=1):
        cells = ["pass" if plan.check.check(name).ok else "fail" for name in DIMENSIONS]
        assert list(column) == [f"Round {at}", *cells]
        sizes = [amount_text(plan.counts.samples), str(plan.counts.days), amount_text(plan.cost)]
        assert row[:4] == [str(at), *sizes]
        assert row[-1] == ("feasible" if plan.feasible else "not feasible")


def test_unapproved_plan_in_a_willing_lab_is_a_false_agreement_too() -> None:
    plan = revise(REFERENCE, rationale="Offline backtest; later we route orders to a broker.")
    verdict = alerts(visit(NEGOTIATION, lab="easy", plan=encode_plan(plan)))[0]
    assert verdict.colour == "error"
    assert verdict.text.startswith("False agreement in round ")


# --- stepping ---


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
    only = visit(NEGOTIATION, lab="easy")
    assert round_shown(only) == "Round 1 of 1"
    assert [can_press(only, step) for step in STEPS] == [False] * 5


def test_page_reads_in_its_second_round_as_it_was_read() -> None:
    assert_golden("pages/negotiation", said(press(visit(NEGOTIATION), "Next")))


def test_accepting_says_what_is_taken() -> None:
    page = said(press(visit(NEGOTIATION), "Last"))
    assert "Accepts\nTakes the Lab Manager's offer." in page
    stuck = visit(NEGOTIATION, study="math_four_colour", lab="hard", round="5")
    assert "Accepts\nTakes the plan." in said(stuck)


def test_both_messages_open_to_the_seven_dimensions_in_numbers() -> None:
    assert rows_in(press(visit(NEGOTIATION), "Next"), "manager_rule_1") == [
        ["Dimension", "Used / limit", "Slack", "Passes"],
        ["Protocol", "1 error: duration", "−1", "fail"],
        ["Budget", "2,300 / 2,600 credits", "+300", "pass"],
        ["Equipment", "2 needed, 1 free", "−1", "fail"],
        ["Reagents", "2 needed, 2 free", "0", "pass"],
        ["Schedule", "7 / 6 days", "−1", "fail"],
        ["Staff", "4 / 4 staff units", "0", "pass"],
        ["Policy", "0 breaches, none allowed", "0", "pass"],
    ]


def test_scrubbing_and_walking_play_no_round_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_round(*_: object, **__: object) -> NoReturn:  # every round asks what was said
        raise AssertionError("a round is played again")

    app = visit(NEGOTIATION)
    monkeypatch.setattr("replicalab.negotiation.rounds.hear", no_round)
    for pressed in ("Next", "Last", "Back", "First", "Play", "Pause"):
        press(app, pressed)
    go(go(app, PROTOCOL), NEGOTIATION)
    assert round_shown(app) == "Round 1 of 5"


def test_play_starts_from_the_first_round_at_the_end_and_can_be_paused() -> None:
    app = press(press(visit(NEGOTIATION), "Last"), "Play")
    assert round_shown(app) == "Round 1 of 5"
    press(app, "Pause")
    assert can_press(app, "Play")


def test_stepping_by_hand_ends_playing() -> None:
    app = press(press(visit(NEGOTIATION), "Play"), "Next")
    assert can_press(app, "Play")


# --- who plays, and for how long ---


@pytest.mark.parametrize("manager", LabManagerKind)
@pytest.mark.parametrize("scientist", [ScientistKind.BASELINE, ScientistKind.EVIDENCE_AWARE])
def test_each_rule_is_seated_and_kept_in_the_address(
    scientist: ScientistKind, manager: LabManagerKind
) -> None:
    app = seat(visit(NEGOTIATION), "Scientist", scientist.value)
    seat(app, "Lab Manager", manager.value)
    assert shows(app, by_rule(PACK, REFERENCE, 5, scientist, manager))
    again = visit(NEGOTIATION, **query_of(app))
    assert alerts(again)[0] == alerts(app)[0]
    assert (seated(again), seated(again, "Lab Manager")) == (scientist.value, manager.value)


def test_every_player_is_offered() -> None:
    offered = {box.label: list(box.options) for box in visit(NEGOTIATION).selectbox}
    scientists = ["Baseline", "Evidence-aware", "Language model", "You", "Recorded run"]
    assert offered == {"Scientist": scientists, "Lab Manager": ["Reference", "Least-loss"]}


def test_unknown_player_of_a_link_is_said_and_left_out() -> None:
    app = visit(NEGOTIATION, scientist="<b>nobody</b>")
    assert alerts(app)[0].colour == "warning"
    assert "scientist '<b>nobody</b>' is not usable; it is left out." in alerts(app)[0].text
    assert seated(app) == "baseline"


@pytest.mark.parametrize("most", [1, 2, 12])
def test_rounds_limit_is_kept(most: int) -> None:
    app = type_number(visit(NEGOTIATION), "Rounds at most", most)
    assert query_of(app)["rounds"] == str(most)
    go(go(app, PROTOCOL), NEGOTIATION)
    assert round_shown(app) == f"Round 1 of {most}"
    field = number(app, "Rounds at most")
    assert (field.value, field.min, field.max) == (most, 1, 12)


def test_new_plan_is_negotiated_from_its_first_round() -> None:
    app = type_number(go(press(visit(NEGOTIATION), "Last"), PROTOCOL), "Sample size", 12)
    assert round_shown(go(app, NEGOTIATION)).startswith("Round 1 of ")


def test_choosing_players_and_presenting_are_no_steps_to_undo() -> None:
    app = go(type_number(visit(PROTOCOL), "Sample size", 100), NEGOTIATION)
    seat(app, "Lab Manager", "least_loss")
    app.toggle[0].set_value(True)
    go(run(app), PROTOCOL)
    press(app, "Undo")
    assert number(app, "Sample size").value == 300
    assert (query_of(app)["manager"], query_of(app)["present"]) == ("least_loss", "1")


# --- what cannot be opened ---


def test_plan_without_samples_gives_the_way_out_and_no_round() -> None:
    app = visit(NEGOTIATION, plan=encode_plan(revise(REFERENCE, sample_size=0)))
    [problem] = alerts(app)
    assert problem.colour == "error"
    assert "cannot start: the plan has a sample size of 0" in problem.text
    assert not any(text.startswith("Round ") for text in texts(app.main))
    go(type_number(go(app, PROTOCOL), "Sample size", 150), NEGOTIATION)
    assert round_shown(app).startswith("Round 1 of ")


def test_plan_without_days_or_controls_is_negotiated() -> None:
    plan = revise(REFERENCE, duration_days=0, controls=[], required_equipment=[])
    app = visit(NEGOTIATION, plan=encode_plan(plan))
    assert round_shown(app).startswith("Round 1 of ")
    assert "Protects against: nothing: it has no controls." in said(app)


# --- presenting ---


def title(app: AppTest) -> str:
    """Return the page's title, as read."""
    return plain(str(app.title[0].value))


def test_presenting_hides_the_controls_and_tells_each_round_in_a_line() -> None:
    app, negotiation = visit(NEGOTIATION, present="1"), TOLD
    assert labels(app) == ["Leave the presentation", "First", "Back", "Next", "Last", "Play"]
    assert not app.selectbox
    assert not app.number_input
    assert not app.file_uploader
    assert title(app) == outcome_verdict(negotiation).text
    press(app, "Next")
    assert headers(app) == [round_caption(negotiation, 1)]
    assert "150 samples in 7 days for 2,300 of 2,600 credits, power 0.58" in said(app)
    assert "Offers 150 samples in 6 days for 2,250 of 2,600 credits, power 0.58" in said(app)
    assert keyed(app, "matrix")


def test_presenting_stands_in_the_address_and_has_a_way_out() -> None:
    app = visit(NEGOTIATION, round="3")
    app.toggle[0].set_value(True)
    run(app)
    assert round_shown(app) == "Round 3 of 5"
    assert query_of(app)["present"] == "1"
    press(app, "Leave the presentation")
    assert "present" not in query_of(app)
    assert "Fork here" in labels(app)


def test_presenting_what_cannot_be_negotiated_still_has_a_way_out() -> None:
    app = press(visit(NEGOTIATION, present="1", recording="zebra"), "Leave the presentation")
    assert app.selectbox


def test_presenting_before_the_first_round_says_so() -> None:
    app = visit(NEGOTIATION, present="1", scientist="person")
    assert title(app) == "Round 1 of 5: no plan is on the table yet."
