"""The Negotiation page: how it ended, every round of it, who plays, and what cannot be opened."""

from __future__ import annotations

from typing import Final, NoReturn

import pytest

from replicalab.models import revise
from replicalab.negotiation import LabManagerKind, ScientistKind
from replicalab.ui.address import encode_plan
from tests.golden import assert_golden
from tests.negotiation.playing import by_rule
from tests.ui.negotiating import (
    PACK,
    REFERENCE,
    SIMPLE,
    outcome,
    round_shown,
    seated,
    shows,
)
from tests.ui.reading import (
    NEGOTIATION,
    PROTOCOL,
    alerts,
    can_press,
    choose_more,
    go,
    number,
    pick,
    press,
    query_of,
    said,
    texts,
    type_number,
    visit,
)

AWARE: Final = ScientistKind.EVIDENCE_AWARE
STUCK: Final = {"study": "math_four_colour", "lab": "hard"}
STEPS: Final = ("First", "Back", "Next", "Last", "Play")


# --- stepping ---


def test_scrubber_goes_to_both_ends_and_plays_and_no_round_is_played_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_round(*_: object, **__: object) -> NoReturn:  # every round asks what was said
        raise AssertionError("a round is played again")

    app = visit(NEGOTIATION, **SIMPLE)
    monkeypatch.setattr("replicalab.negotiation.rounds.hear", no_round)
    assert [can_press(app, step) for step in STEPS] == [False, False, True, True, True]
    seen = [round_shown(app)]
    for step in ("Next", "Next", "Back", "Last", "First", "Last", "Play"):
        press(app, step)
        seen.append(round_shown(app))
        assert query_of(app)["round"] == round_shown(app).split()[1]
        if step == "Last":
            assert [can_press(app, each) for each in STEPS] == [True, True, False, False, True]
    assert seen == [f"Round {n} of 5" for n in (1, 2, 3, 2, 5, 1, 5, 1)]
    assert can_press(press(app, "Pause"), "Play")
    assert can_press(press(press(app, "Play"), "Next"), "Play"), "a step ends it too"
    go(go(app, PROTOCOL), NEGOTIATION)
    assert round_shown(app) == "Round 2 of 5"


def test_scrubber_of_one_round_shows_it_whatever_round_is_asked_for() -> None:
    app = visit(NEGOTIATION, lab="easy", round="9")
    assert round_shown(app) == "Round 1 of 1"
    assert not any(can_press(app, step) for step in STEPS)


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("negotiation", {**SIMPLE, "round": "2"}),
        ("negotiation_evidence_aware", {"round": "2"}),
        ("negotiation_stuck", {**STUCK, **SIMPLE, "round": "5"}),
        ("negotiation_by_hand", {"scientist": "person"}),
        ("negotiation_model", {"scientist": "model"}),
        ("negotiation_recorded", {"recording": "momentum_revised"}),
    ],
)
def test_page_opens_with_each_scientist_as_it_was_read(name: str, query: dict[str, str]) -> None:
    assert_golden(f"pages/{name}", said(visit(NEGOTIATION, **query)))


# --- who plays, and for how long ---


def test_every_player_is_offered_and_a_rule_is_seated_and_kept_in_the_address() -> None:
    app = visit(NEGOTIATION, **SIMPLE)
    scientists = ["Evidence-aware", "You", "Language model", "Simple rule", "Recorded run"]
    assert {box.label: list(box.options) for box in app.selectbox} == {
        "Scientist": scientists,
        "Lab Manager": ["Reference", "Least-loss"],
    }
    assert shows(pick(app, "Scientist", "evidence_aware"), by_rule(PACK, REFERENCE, 5, AWARE))
    pick(pick(app, "Scientist", "baseline"), "Lab Manager", "least_loss")
    assert shows(app, by_rule(PACK, REFERENCE, lab_manager=LabManagerKind.LEAST_LOSS))
    again = visit(NEGOTIATION, **query_of(app))
    assert outcome(again) == outcome(app)
    assert (seated(again), seated(again, "Lab Manager")) == ("baseline", "least_loss")


def test_rounds_limit_is_kept_and_another_plan_begins_at_the_first() -> None:
    app = type_number(visit(NEGOTIATION, **SIMPLE), "Rounds at most", 12)
    assert query_of(app)["rounds"] == "12"
    press(app, "Last")
    type_number(go(app, PROTOCOL), "Sample size", 290)
    assert round_shown(go(app, NEGOTIATION)) == "Round 1 of 12"
    field = number(app, "Rounds at most")
    assert (field.value, field.min, field.max) == (12, 1, 12)


def test_choosing_players_and_presenting_are_no_steps_to_undo() -> None:
    app = go(type_number(visit(PROTOCOL), "Sample size", 100), NEGOTIATION)
    pick(app, "Lab Manager", "least_loss")
    press(choose_more(app, "Present"), "Next")
    press(press(go(app, PROTOCOL), "Leave"), "Undo")
    assert number(app, "Sample size").value == 420
    assert query_of(app)["manager"] == "least_loss"


# --- what cannot be opened ---


def test_plan_without_samples_is_not_negotiated_and_one_without_days_or_controls_is() -> None:
    app = visit(NEGOTIATION, plan=encode_plan(revise(REFERENCE, sample_size=0)))
    [problem] = alerts(app)
    assert problem.colour == "error"
    assert "cannot start: the plan has a sample size of 0" in problem.text
    assert not any(text.startswith("Round ") for text in texts(app.main))
    go(type_number(go(app, PROTOCOL), "Sample size", 150), NEGOTIATION)
    assert round_shown(app).startswith("Round 1 of ")
    plan = revise(REFERENCE, duration_days=0, controls=[], required_equipment=[])
    app = visit(NEGOTIATION, plan=encode_plan(plan))
    assert round_shown(app).startswith("Round 1 of ")
    assert "Protects against: nothing: it has no controls\n" in said(app)
