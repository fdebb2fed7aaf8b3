import pytest
from hypothesis import given

from replicalab import models
from replicalab.agents.scientist_policy import build_baseline_scientist_action
from tests.factories import make_entry, make_protocol, make_scientist_observation
from tests.strategies import protocols, scientist_observations

BLOCKED = make_entry(action_type="reject", message="The chamber is booked.")
FREE = make_entry(action_type="reject", message="I would rather not.")


def act(**changes: object) -> models.ScientistAction:
    turn = {"current_protocol": make_protocol(), "round_number": 1, "max_rounds": 5}
    return build_baseline_scientist_action(make_scientist_observation(**{**turn, **changes}))


def revision(**changes: object) -> models.Protocol:
    action = act(current_protocol=make_protocol(**changes), conversation_history=[BLOCKED])
    assert action.action_type is models.ScientistActionType.REVISE_PROTOCOL
    assert action.protocol is not None
    return action.protocol


def test_baseline_proposes_when_there_is_no_protocol() -> None:
    action = act(current_protocol=None, round_number=9, conversation_history=[BLOCKED])
    assert action.action_type is models.ScientistActionType.PROPOSE_PROTOCOL


@pytest.mark.parametrize(
    ("at", "of", "accepts"),
    [
        *((3, 5, False), (4, 5, True), (5, 5, True), (0, 1, False), (1, 1, True)),
        *((0, 0, False), (1, 0, True)),
    ],
)
def test_baseline_accepts_blocked_plan_only_at_end(at: int, of: int, accepts: bool) -> None:
    action = act(round_number=at, max_rounds=of, conversation_history=[BLOCKED])
    assert (action == models.ACCEPT_ACTION) is accepts
    assert accepts or action.action_type is models.ScientistActionType.REVISE_PROTOCOL


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        ([], "accept"),
        ([FREE], "accept"),
        ([BLOCKED], "revise_protocol"),
        ([BLOCKED, FREE], "accept"),
        ([BLOCKED, make_entry(role="scientist", message="Fine.")], "revise_protocol"),
        ([make_entry(role="scientist", message="It is booked.")], "accept"),
        ([FREE, make_entry(role="system", message="It is booked.")], "accept"),
        *(
            ([make_entry(action_type=kind, message="It is booked.")], expected)
            for kind, expected in (
                ("accept", "accept"),
                ("report_feasibility", "accept"),
                ("suggest_alternative", "revise_protocol"),
                (None, "revise_protocol"),
            )
        ),
        *(
            ([make_entry(action_type="reject", message=message)], "revise_protocol")
            for message in ("OUT OF\nSTOCK", "(costly)", "two-budget", "So understaffedish")
        ),
        ([make_entry(action_type="reject", message="It is unbooked.")], "accept"),
    ],
)
def test_baseline_heeds_the_latest_answer(history: list[object], expected: str) -> None:
    assert act(conversation_history=history).action_type == expected


@pytest.mark.parametrize(
    ("samples", "controls", "expected"),
    [
        *((41, 2, 20), (6, 2, 3), (4, 2, 3), (3, 2, 3), (2, 2, 2)),
        *((1, 2, 1), (0, 2, 1), (2, 0, 1), (1, 0, 1), (0, 0, 1), (10, 7, 8)),
    ],
)
def test_baseline_revision_halves_the_sample(samples: int, controls: int, expected: int) -> None:
    names = [f"control {n}" for n in range(controls)]
    assert revision(sample_size=samples, controls=names).sample_size == expected


@given(protocols())
def test_baseline_revision_takes_a_day_off(protocol: models.Protocol) -> None:
    plan = revision(**protocol.model_dump())
    assert plan.duration_days == max(1, protocol.duration_days - 1)
    sizes = {"sample_size": plan.sample_size, "duration_days": plan.duration_days}
    assert models.revise(protocol, **sizes) == plan


@given(scientist_observations())
def test_baseline_is_deterministic_and_never_asks(obs: models.ScientistObservation) -> None:
    before = obs.model_copy(deep=True)
    action = build_baseline_scientist_action(obs)
    assert action == build_baseline_scientist_action(obs)
    assert action.action_type is not models.ScientistActionType.REQUEST_INFO
    assert obs == before


@pytest.mark.parametrize(
    ("titles", "technique"),
    [
        (("A benchmark", "Training and rest", "A dataset of backtests", "Deep Learnings"),
         "independent training runs with fixed seeds"),
        (("A backtest", "On stock returns"), "walk-forward backtest on historical data"),
        (("A strained rostrum", "Alberta and its lakes", "An unsharpened bound"),
         "case-by-case check of the published claim"),
    ],
)  # fmt: skip
def test_baseline_proposal_fits_the_domain(titles: tuple[str, ...], technique: str) -> None:
    plan, *others = (act(current_protocol=None, paper_title=t).protocol for t in titles)
    assert plan is not None
    assert all(other == plan for other in others)
    assert plan.technique.startswith(technique)
    assert 0 < len(plan.controls) < plan.sample_size
    assert plan.duration_days >= 1
    assert plan.required_equipment == plan.required_reagents == []
    assert "does not say what the lab has" in plan.rationale
