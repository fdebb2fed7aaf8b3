"""Files that earlier versions saved: each opens, replays, and is found out where it was edited."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from replicalab.errors import TraceError
from replicalab.negotiation import By, Made, Outcome, Replay, load, replay, save
from replicalab.scenarios import load_scenario
from tests.negotiation.modelling import CUT_OFF, PROSE

SAVED: Final = Path(__file__).with_name("saved")
RULE, FORK, MODEL, PERSON = By.RULE, By.FORK, By.MODEL, By.PERSON

Edit = Callable[[dict[str, Any]], object]


def data_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SAVED / f"{name}.json").read_text(encoding="utf-8"))
    return found


def replayed(data: dict[str, Any]) -> Replay:
    transcript = load(json.dumps(data))
    setup = transcript.setup
    pack = load_scenario(setup.scenario_id, setup.difficulty.value, setup.seed)
    return replay(transcript, pack)


@pytest.mark.parametrize(
    ("name", "by", "outcome"),
    [
        ("trace_baseline", [RULE] * 5, Outcome.AGREED),
        ("trace_evidence_aware", [RULE] * 3, Outcome.NO_DEAL),
        ("trace_fork", [RULE, FORK, RULE, RULE, RULE], Outcome.AGREED_BELOW_FLOOR),
        ("trace_person", [PERSON] * 3, Outcome.FALSE_AGREEMENT),
        ("trace_model", [MODEL] * 2, Outcome.AGREED),
        ("cassette", [MODEL] * 2, Outcome.AGREED),
    ],
)
def test_old_file_opens_replays_and_is_saved_in_todays_form(
    name: str, by: list[By], outcome: Outcome
) -> None:
    data = data_of(name)
    again = replayed(data)
    assert again.differences == ()
    assert [done.turn.by for done in again.negotiation.rounds] == by
    assert again.negotiation.outcome is outcome
    for old, new in zip(data.get("rounds", ()), again.negotiation.rounds, strict=False):
        assert old["plan"] == (new.plan and new.plan.plan.model_dump())
        cost = old["check"] and old["check"]["estimated_cost"]
        assert cost == (new.plan and new.plan.cost)
    kept = replay(load(save(again.negotiation)), again.negotiation.pack)
    assert kept == Replay(again.negotiation, ())


def test_old_cassette_keeps_what_was_noted_of_its_model() -> None:
    transcript = load(json.dumps(data_of("cassette")))
    recording = transcript.recording
    assert recording is not None
    assert (recording.key, recording.title, recording.note) == (
        "scripted_run",
        "A scripted run",
        "note",
    )
    assert (recording.made, recording.settings.host) == (Made.RECORDED, "127.0.0.1:8080")
    assert [len(turn.outputs) for turn in transcript.turns] == [2, 1]
    assert replayed(data_of("cassette")).negotiation.setup == transcript.setup


def test_model_that_failed_in_an_old_trace_walked_away_or_was_acted_for() -> None:
    data = data_of("trace_model")
    first = data["rounds"][0]
    del first["attempts"][1]
    first["attempts"].append(first["attempts"][0] | {"raw_output": None, "failure": "gone"})
    acted = json.loads(json.dumps(data))
    acted["rounds"][0]["reason"] = "A person acted for the model in this round."
    again = replayed(acted)
    assert again.differences == ()
    assert again.negotiation.rounds[0].turn.by is PERSON
    assert [each.output.failure for each in again.negotiation.rounds[0].attempts] == [None, "gone"]
    first.update(scientist_action=None, lab_manager_action=None, plan=None, check=None)
    first.update(suggestion=None, reason="gone")
    data.update(rounds=[first], ending="the Scientist walked away", outcome="no_deal")
    again = replayed(data)
    assert again.differences == ()
    assert again.negotiation.rounds[0].turn.by is MODEL


# --- edited ---------------------------------------------------------------------------------


def at(*path: str | int, **changes: object) -> Edit:
    """Return the edit of what stands at a place."""

    def edit(data: dict[str, Any]) -> None:
        place: Any = data
        for key in path:
            place = place[key]
        place.update(changes)

    return edit


def attempt(number: int, **changes: object) -> Edit:
    return at("rounds", 0, "attempts", number, **changes)


@pytest.mark.parametrize(
    ("name", "edit", "number", "what"),
    [
        ("baseline", at("rounds", 1, "scientist_action", sample_size=7), 1, "acts differently"),
        ("baseline", at("rounds", 1, scientist_action=None), 1, "acts differently"),
        ("baseline", at("rounds", 2, "plan", sample_size=7), 2, "another plan is on the table"),
        ("baseline", at("rounds", 2, plan=None), 2, "another plan is on the table"),
        ("baseline", at("rounds", 2, "check", estimated_cost=7.0), 2, "and was 7"),
        ("baseline", at("rounds", 2, "check", required_staff=7), 2, "and was 7"),
        (
            "baseline",
            at("rounds", 4, "check", "staff", ok=False),
            4,
            "failing is none and was staff",
        ),
        ("baseline", at("rounds", 4, "check", "budget", ok="yes"), 4, "was budget"),
        ("baseline", at("rounds", 2, check=None), 2, "staff is"),
        ("baseline", at("rounds", 4, "lab_manager_action", action_type="reject"), 4, "was reject"),
        ("baseline", at("rounds", 0, lab_manager_action=None), 0, "and was none"),
        (
            "baseline",
            at("rounds", 1, "suggestion", "revised_protocol", sample_size=7),
            1,
            "offered",
        ),
        ("baseline", at("rounds", 1, suggestion=None), 1, "another plan is offered"),
        ("baseline", at("setup", max_rounds=3), 2, "acts differently"),
        ("baseline", at("setup", "opening", sample_size=7), 0, "acts differently"),
        ("baseline", at("setup", "opening", sample_size=0), 0, "sample size of 0"),
        ("baseline", at("setup", scientist="evidence_aware"), 1, "acts differently"),
        ("baseline", at("setup", lab_manager="least_loss"), 0, "another plan is offered"),
        ("baseline", at("setup", seed=3), 0, "another plan is offered"),
        ("baseline", at("setup", forked_at=2), None, "round 3 was forked, and the last"),
        ("baseline", at("setup", forked_at=9), None, "round 10 was forked"),
        ("baseline", at(ending="the rounds ran out"), 4, "the ending is not 'the rounds ran out'"),
        ("baseline", at(outcome="no_deal"), 4, "the outcome is not 'no_deal'"),
        ("baseline", lambda data: data["rounds"].pop(), 3, "the ending is not"),
        ("fork", at("setup", forked_at=None), None, "no round was forked, and the last"),
        ("fork", at("rounds", 1, "scientist_action", sample_size=31), 1, "another plan"),
        ("person", at("rounds", 1, "scientist_action", sample_size=7), 1, "another plan"),
        ("person", at("setup", scientist="baseline"), 0, "acts differently"),
        ("person", at("setup", max_rounds=2), 2, "the negotiation had ended"),
        ("model", attempt(1, raw_output=PROSE), 0, "hold no valid action"),
        ("model", attempt(0, observation="Round 1"), 0, "told something else now"),
        ("model", attempt(0, system_prompt="Be nice."), 0, "told something else now"),
        ("model", at("rounds", 1, attempts=[]), 1, "no model plays here"),
        ("model", at("rounds", 1, reason="It was told to."), None, None),
        ("person", at("rounds", 1, reason="The offer has power 0.99."), 1, "no model plays here"),
        ("evidence_aware", at("rounds", 1, "scientist_action", questions=["?"]), 1, "differently"),
    ],
)
def test_edit_of_an_old_trace_is_found(
    name: str, edit: Edit, number: int | None, what: str | None
) -> None:
    data = data_of(f"trace_{name}")
    edit(data)
    assert data != data_of(f"trace_{name}"), "the edit changes nothing"
    found = replayed(data).differences
    if what is None:
        assert found == ()
        return
    assert found[0].round_number == number
    assert what in found[0].message


@pytest.mark.parametrize(
    "edit",
    [
        at("rounds", 1, "lab_manager_action", explanation="Well done."),
        at("rounds", 1, "check", summary="All is well."),
        at("rounds", 1, reason="It was told to."),
        at("rounds", 1, "suggestion", applied_changes=[]),
        at(scenario_digest="0" * 16),
        at(note="mine"),
    ],
)
def test_what_an_old_trace_says_beside_its_facts_is_made_anew(edit: Edit) -> None:
    data = data_of("trace_baseline")
    edit(data)
    assert replayed(data) == replayed(data_of("trace_baseline"))


def test_edit_of_an_old_cassette_is_found_where_something_was_kept_of_it() -> None:
    data = data_of("cassette")
    data["turns"][0][0]["text"] = CUT_OFF
    assert replayed(data).differences == (), "nothing was kept of an answer that was corrected"
    data["turns"][0][1]["text"] = data["turns"][0][1]["text"].replace(":24,", ":25,")
    [difference] = replayed(data).differences
    assert difference.message.startswith("Round 2: the model would be told something else now")
    data = data_of("cassette")
    data["turns"][0].insert(0, data["turns"][0][1])
    assert "attempt 1 is a valid action, and 2 outputs left over" in (
        replayed(data).differences[0].message
    )


def test_old_cassette_keeps_an_opening_that_was_given() -> None:
    data = data_of("cassette")
    pack = load_scenario("chem_suzuki_ppb", "medium")
    data["setup"]["opening"] = pack.reference_protocol.model_dump()
    data.update(turns=data["turns"][1:], prompts=None)
    again = replayed(data)
    assert [done.turn.by for done in again.negotiation.rounds] == [RULE, MODEL]
    assert again.negotiation.outcome is Outcome.AGREED
    data["setup"]["opening"]["sample_size"] = 0
    with pytest.raises(TraceError, match=r"^setup\.opening: the plan has a sample size of 0"):
        replayed(data)


# --- refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "edit", "why"),
    [
        ("trace_baseline", at("rounds", 1, number=40), "rounds.1.number is 40; number the rounds"),
        (
            "trace_baseline",
            at("rounds", 1, "plan", sample_size=-3),
            "turns.1.facts.plan.sample_siz",
        ),
        ("trace_baseline", at("setup", max_rounds=51), "setup.max_rounds is 51: "),
        ("trace_baseline", at(outcome="won"), "outcome: "),
        ("trace_baseline", at(rounds=[]), None),
        ("trace_baseline", at(rounds=7), "rounds is 7: "),
        ("trace_baseline", at("rounds", 0, check=7), "rounds.0.check is 7: "),
        ("trace_model", attempt(0, usage={"mine": 1}), "turns.0.outputs.0.mine is 1: "),
        ("trace_model", attempt(0, usage=None), "rounds.0.attempts.0.usage: "),
        (
            "trace_model",
            at("rounds", 0, "scientist_action", controls=["x"] * 201),
            "turns.0.action",
        ),
        ("cassette", at(turns=[]), "turns: "),
        ("cassette", at(turns=[[]]), "turns.0: "),
        ("cassette", at(turns=[[{"text": PROSE}]], prompts=None), "turns.0: No JSON object found"),
        (
            "cassette",
            at(prompts=["0" * 16]),
            "prompts has 1 entries for 2 turns; give one for each",
        ),
        ("cassette", at("settings", host="user:secret@host"), "recording.settings.host: "),
        ("cassette", at("settings", max_retries=0), "the file: round 1 has 2 outputs"),
        ("cassette", at("setup", scientist="baseline"), "the file: setup.scientist is baseline"),
    ],
)
def test_old_file_that_cannot_be_read_is_refused_by_place(
    name: str, edit: Edit, why: str | None
) -> None:
    data = data_of(name)
    edit(data)
    if why is None:
        assert replayed(data).differences[0].message == (
            "Round 1: the ending is not 'the Scientist accepted'."
        )
        return
    with pytest.raises(TraceError) as caught:
        load(json.dumps(data))
    assert str(caught.value).startswith(why)
