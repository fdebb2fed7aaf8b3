import pytest
from hypothesis import given

from replicalab.agents.scientist_policy import (
    _BLOCKER_HINTS,
    _FINANCE_HINTS,
    _ML_HINTS,
    _feedback_indicates_blocker,
    _infer_domain,
    build_baseline_scientist_action,
)
from replicalab.models import (
    ACCEPT_ACTION,
    Protocol,
    ScientistAction,
    ScientistActionType,
    ScientistObservation,
    revise,
)
from tests.factories import make_entry, make_protocol, make_scientist_observation
from tests.strategies import protocols, scientist_observations

BLOCKED = make_entry(action_type="reject", message="The chamber is booked.")
FREE = make_entry(action_type="reject", message="I would rather not.")


def act(**changes: object) -> ScientistAction:
    turn = {"current_protocol": make_protocol(), "round_number": 1, "max_rounds": 5}
    return build_baseline_scientist_action(make_scientist_observation(**{**turn, **changes}))


def revision(**changes: object) -> Protocol:
    action = act(current_protocol=make_protocol(**changes), conversation_history=[BLOCKED])
    assert action.action_type is ScientistActionType.REVISE_PROTOCOL
    assert action.protocol is not None
    return action.protocol


def test_baseline_proposes_when_there_is_no_protocol() -> None:
    action = act(current_protocol=None, round_number=9, conversation_history=[BLOCKED])
    assert action.action_type is ScientistActionType.PROPOSE_PROTOCOL


@pytest.mark.parametrize(
    ("round_number", "max_rounds", "accepts"),
    [
        *((3, 5, False), (4, 5, True), (5, 5, True), (0, 1, False), (1, 1, True)),
        *((0, 0, False), (1, 0, True)),
    ],
)
def test_baseline_accepts_blocked_plan_only_at_end(
    round_number: int, max_rounds: int, accepts: bool
) -> None:
    action = act(round_number=round_number, max_rounds=max_rounds, conversation_history=[BLOCKED])
    assert (action == ACCEPT_ACTION) is accepts
    assert accepts or action.action_type is ScientistActionType.REVISE_PROTOCOL


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
    ],
)
def test_baseline_heeds_the_latest_answer(history: list[object], expected: str) -> None:
    assert act(conversation_history=history).action_type == expected


@pytest.mark.parametrize(
    ("action_type", "blocks"),
    [("accept", False), ("report_feasibility", False), ("suggest_alternative", True), (None, True)],
)
def test_blocker_depends_on_the_kind_of_answer(action_type: str | None, blocks: bool) -> None:
    feedback = make_entry(action_type=action_type, message="The chamber is booked.")
    assert _feedback_indicates_blocker(feedback) is blocks


@pytest.mark.parametrize("hint", _BLOCKER_HINTS)
def test_blocker_hint_starts_a_word(hint: str) -> None:
    for template in ("It is {}.", "{}", "({})", "So {}ish", "two-{}"):
        for message in (template.format(hint), template.format(hint.upper())):
            assert _feedback_indicates_blocker(make_entry(message=message))
    assert _feedback_indicates_blocker(make_entry(message=hint.replace(" ", "\n")))
    assert not _feedback_indicates_blocker(make_entry(message=f"un{hint}"))


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
def test_baseline_revision_takes_a_day_off(protocol: Protocol) -> None:
    plan = revision(**protocol.model_dump())
    assert plan.duration_days == max(1, protocol.duration_days - 1)
    assert revise(protocol, sample_size=plan.sample_size, duration_days=plan.duration_days) == plan


@given(scientist_observations())
def test_baseline_is_deterministic_and_never_asks(obs: ScientistObservation) -> None:
    before = obs.model_copy(deep=True)
    action = build_baseline_scientist_action(obs)
    assert action == build_baseline_scientist_action(obs)
    assert action.action_type is not ScientistActionType.REQUEST_INFO
    assert obs == before


@pytest.mark.parametrize(
    ("title", "domain"),
    [
        *((f"On the {hint.title()}s", "machine_learning") for hint in _ML_HINTS),
        *((f"On the {hint.title()}s", "finance_trading") for hint in _FINANCE_HINTS),
        ("A strained rostrum", "mathematics"),
        ("Training and rest", "machine_learning"),
        ("Alberta and its lakes", "mathematics"),
        ("An unsharpened bound", "mathematics"),
        ("A dataset of backtests", "machine_learning"),
    ],
)
def test_domain_of_a_paper_titled(title: str, domain: str) -> None:
    assert _infer_domain(make_scientist_observation(paper_title=title)) == domain


@pytest.mark.parametrize(
    ("title", "technique"),
    [
        ("A benchmark", "independent training runs with fixed seeds, scored on the held-out split"),
        ("A backtest", "walk-forward backtest on historical data, costs included"),
        ("A lemma", "case-by-case check of the published claim, written out step by step"),
    ],
)
def test_baseline_proposal_fits_the_domain(title: str, technique: str) -> None:
    plan = act(current_protocol=None, paper_title=title).protocol
    assert plan is not None
    assert plan.technique == technique
    assert 0 < len(plan.controls) < plan.sample_size
    assert plan.duration_days >= 1
    assert plan.required_equipment == plan.required_reagents == []
    assert "does not say what the lab has" in plan.rationale
