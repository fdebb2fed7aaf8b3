"""The Lab Manager's answer: which one, with which flags, in which words."""

from __future__ import annotations

from typing import Any, Final

import pytest
from hypothesis import given

from replicalab.agents import (
    AlternativeSuggestion,
    FeasibilityCheckResult,
    check_feasibility,
    compose_lab_manager_response,
    suggest_alternative,
)
from replicalab.models import (
    LAB_DIMENSIONS,
    Dimension,
    LabManagerAction,
    LabManagerActionType,
    Protocol,
)
from replicalab.scenarios import Pack
from tests.factories import (
    EQUIPMENT,
    make_pack,
    make_policy_rule,
    make_protocol,
    make_substitution,
)
from tests.strategies import itemised_protocols, studied_packs

CHAMBER, METER = EQUIPMENT
REPORT, SUGGEST, REJECT, ACCEPT = LabManagerActionType

TIGHT: Final = make_pack(booked={CHAMBER: 9}, days=4, budget=800)
"""A lab in which three dimensions and the plan's soundness fail, and all can be mended."""

Answer = tuple[FeasibilityCheckResult, AlternativeSuggestion | None, LabManagerAction]


def answer(protocol: Protocol, pack: Pack) -> Answer:
    check = check_feasibility(protocol, pack)
    suggestion = suggest_alternative(protocol, check, pack)
    return check, suggestion, compose_lab_manager_response(check, suggestion)


# --- which answer, row by row -----------------------------------------------------------------


def test_answer_accepts_when_all_seven_pass() -> None:
    assert answer(make_protocol(), make_pack())[2].action_type is ACCEPT


@pytest.mark.parametrize(
    "protocol",
    [
        pytest.param(make_protocol(technique="open flame"), id="policy"),
        pytest.param(make_protocol(sample_size=2), id="protocol"),
        pytest.param(make_protocol(technique="open flame", duration_days=0), id="both"),
    ],
)
def test_answer_reports_when_only_policy_or_protocol_fail(protocol: Protocol) -> None:
    _, suggestion, action = answer(protocol, make_pack())
    assert action.action_type is REPORT
    assert action.feasible
    assert suggestion is not None
    assert suggestion.applied_changes == []


def test_answer_suggests_when_the_lab_can_run_the_improved_plan() -> None:
    _, suggestion, action = answer(make_protocol(), TIGHT)
    assert suggestion is not None
    assert suggestion.post_check.feasible
    assert action.action_type is SUGGEST


def test_answer_suggests_although_policy_goes_on_failing() -> None:
    check, suggestion, action = answer(make_protocol(technique="open flame"), TIGHT)
    assert suggestion is not None
    assert suggestion.remaining_failures == ["policy"]
    assert not check.policy.ok
    assert action.action_type is SUGGEST


def test_answer_rejects_without_a_suggestion() -> None:
    check = check_feasibility(make_protocol(), TIGHT)
    assert compose_lab_manager_response(check).action_type is REJECT
    assert compose_lab_manager_response(check, None).action_type is REJECT


def test_answer_rejects_a_suggestion_that_did_not_improve() -> None:
    _, suggestion, action = answer(make_protocol(), make_pack(budget=10))
    assert suggestion is not None
    assert not suggestion.improved
    assert action.action_type is REJECT


def test_answer_rejects_an_improvement_that_leaves_a_lab_failure() -> None:
    _, suggestion, action = answer(make_protocol(duration_days=9), make_pack(days=8, staff=1))
    assert suggestion is not None
    assert suggestion.improved
    assert suggestion.remaining_failures == ["staff"]
    assert action.action_type is REJECT


def test_answer_rejects_a_plan_that_the_lab_could_run_but_that_breaks_a_new_rule() -> None:
    pack = make_pack(
        booked={CHAMBER: 9},
        allowed_substitutions=[make_substitution(alternative="open flame heater")],
        policy_rules=[make_policy_rule()],
    )
    _, suggestion, action = answer(make_protocol(), pack)
    assert suggestion is not None
    assert suggestion.post_check.lab_feasible
    assert not suggestion.improved
    assert action.action_type is REJECT


def test_answer_ignores_a_suggestion_for_a_feasible_plan() -> None:
    _, suggestion, _ = answer(make_protocol(), TIGHT)
    check = check_feasibility(make_protocol(), make_pack())
    assert compose_lab_manager_response(check, suggestion).action_type is ACCEPT


@given(itemised_protocols(), studied_packs())
def test_answer_follows_the_contracts_order_and_carries_the_flags(
    protocol: Protocol, pack: Pack
) -> None:
    check, suggestion, action = answer(protocol, pack)
    lab_fails = [d for d in LAB_DIMENSIONS if not check.check(d).ok]
    if check.feasible:
        expected = ACCEPT
    elif not lab_fails:
        expected = REPORT
    elif (
        suggestion
        and suggestion.improved
        and not set(suggestion.remaining_failures) & {d.value for d in LAB_DIMENSIONS}
    ):
        expected = SUGGEST
    else:
        expected = REJECT
    assert action.action_type is expected
    assert action.feasible == (not lab_fails)
    assert [d for d in LAB_DIMENSIONS if not getattr(action, f"{d}_ok")] == lab_fails
    assert compose_lab_manager_response(check, suggestion) == action


# --- what is offered --------------------------------------------------------------------------


def test_offer_is_the_revised_plan() -> None:
    _, _, action = answer(make_protocol(), TIGHT)
    assert action.suggested_technique == make_protocol().technique
    assert action.suggested_controls == make_protocol().controls
    assert action.suggested_sample_size == 20


@pytest.mark.parametrize(
    ("protocol", "pack"),
    [
        pytest.param(make_protocol(), make_pack(), id="accept"),
        pytest.param(make_protocol(technique="open flame"), make_pack(), id="report"),
        pytest.param(make_protocol(), make_pack(staff=1, days=4, budget=10), id="reject"),
    ],
)
def test_nothing_is_offered_in_any_other_answer(protocol: Protocol, pack: Pack) -> None:
    action = answer(protocol, pack)[2]
    offered = (action.suggested_technique, action.suggested_sample_size, action.suggested_controls)
    assert offered == ("", 0, [])


# --- the renderer -----------------------------------------------------------------------------


def raising(*_: object) -> str:
    raise RuntimeError("no model today")


def returning(value: object) -> Any:
    """Return a renderer that answers ``value``, whatever its type."""
    return lambda *_: value


@pytest.mark.parametrize(
    "renderer",
    [
        pytest.param(raising, id="raises"),
        pytest.param(returning(""), id="empty"),
        pytest.param(returning(" \n\t\u00a0"), id="blank"),
        pytest.param(returning(None), id="none"),
        pytest.param(returning(b"bytes"), id="bytes"),
        pytest.param(returning(7), id="number"),
        pytest.param(returning(["text"]), id="list"),
        pytest.param(returning("half a character \ud83d"), id="lone surrogate"),
        pytest.param(returning("unused")(), id="no function at all"),
    ],
)
@pytest.mark.parametrize("protocol", [make_protocol(), make_protocol(duration_days=3)])
def test_renderer_that_fails_falls_back_to_the_built_in_words(
    renderer: Any, protocol: Protocol
) -> None:
    check = check_feasibility(protocol, TIGHT)
    suggestion = suggest_alternative(protocol, check, TIGHT)
    assert compose_lab_manager_response(check, suggestion, renderer) == (
        compose_lab_manager_response(check, suggestion)
    )


def test_renderer_may_reword_the_explanation_and_nothing_else() -> None:
    check, suggestion, plain = answer(make_protocol(), TIGHT)
    reworded = compose_lab_manager_response(
        check, suggestion, returning("  I accept, all is well. ")
    )
    assert reworded.explanation == "I accept, all is well."
    assert reworded == plain.model_copy(update={"explanation": reworded.explanation})


def test_renderer_is_given_the_verdict_the_check_and_the_suggestion() -> None:
    check, suggestion, _ = answer(make_protocol(), TIGHT)
    seen: list[tuple[object, ...]] = []

    def renderer(*given_to_it: object) -> str:
        seen.append(given_to_it)
        return "noted"

    compose_lab_manager_response(check, suggestion, renderer)
    assert seen == [(SUGGEST, check, suggestion)]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_renderer_may_be_interrupted(stop: type[BaseException]) -> None:
    def renderer(*_: object) -> str:
        raise stop

    check = check_feasibility(make_protocol(), TIGHT)
    with pytest.raises(stop):
        compose_lab_manager_response(check, None, renderer)


# --- the words --------------------------------------------------------------------------------


def test_explanation_of_an_accept() -> None:
    assert answer(make_protocol(), make_pack())[2].explanation == (
        "I accept: all seven dimensions pass. The plan costs 1,050 credits and needs 2 staff units."
    )


def test_explanation_of_an_accept_for_one_person() -> None:
    protocol = make_protocol(sample_size=20)
    assert answer(protocol, make_pack())[2].explanation == (
        "I accept: all seven dimensions pass. The plan costs 850 credits and needs 1 staff unit."
    )


def test_explanation_of_a_report() -> None:
    protocol = make_protocol(technique="count beside an open flame", sample_size=2)
    assert (
        answer(protocol, make_pack())[2].explanation
        == """\
The lab can run this plan, but I do not approve it:
- protocol: 2 controls for 2 samples: no experimental samples remain; plan at least 3 samples.
- policy: 'open flame' in technique breaks the restriction: No open flames."""
    )


def test_explanation_of_an_offer() -> None:
    assert (
        answer(make_protocol(), TIGHT)[2].explanation
        == """\
The lab cannot run this plan as it stands:
- protocol: Duration is 5 days; this lab has 4.
- budget: The plan costs 1,050 credits, 250 over the budget of 800.
- equipment: 'growth chamber' is booked until day 9; 'window shelf' may replace it.
- schedule: The plan takes 5 days, 1 over the limit of 4.
I offer instead:
- equipment: growth chamber → window shelf. 'growth chamber' is booked until day 9; \
allowed when the chamber is booked. What is lost: Temperature varies more.
- duration: 5 → 4. The lab has 4 days. What is lost: 1 day fewer to run and to repeat what \
fails.
- sample size: 40 → 20. The budget is 200 credits short; the sample is halved once. \
What is lost: 20 samples fewer: weaker evidence.
That plan costs 800 credits and needs 1 staff unit; all seven dimensions pass."""
    )


def test_explanation_of_an_offer_that_leaves_a_failure() -> None:
    explanation = answer(make_protocol(technique="open flame"), TIGHT)[2].explanation
    assert explanation.splitlines()[-1] == (
        "That plan costs 800 credits and needs 1 staff unit; still failing: policy."
    )


def test_explanation_of_a_reject_with_a_partial_revision() -> None:
    action = answer(make_protocol(duration_days=9), make_pack(days=8, staff=1))[2]
    assert (
        action.explanation
        == """\
I reject this plan:
- protocol: Duration is 9 days; this lab has 8.
- schedule: The plan takes 9 days, 1 over the limit of 8.
- staff: The plan needs 3 staff units (1 to start, 1 for more than 20 samples, 1 for more than 5 \
days); the lab has 1.
These changes alone are not enough:
- duration: 9 → 8. The lab has 8 days. What is lost: 1 day fewer to run and to repeat what \
fails.
Still failing: staff."""
    )


def test_explanation_of_a_reject_without_any_change() -> None:
    assert (
        answer(make_protocol(), make_pack(budget=10))[2].explanation
        == """\
I reject this plan:
- budget: The plan costs 1,050 credits, 1,040 over the budget of 10.
I see no change that would help."""
    )


@given(itemised_protocols(), studied_packs())
def test_explanation_gives_every_reason_of_the_check_and_never_the_reference(
    protocol: Protocol, pack: Pack
) -> None:
    check, _, action = answer(protocol, pack)
    for dimension in Dimension:
        for reason in check.check(dimension).reasons:
            assert f"- {dimension}: {reason}" in action.explanation
    required = pack.hidden_reference_spec.required_elements
    assert not any(f"Not addressed by the plan: {item}" in action.explanation for item in required)
