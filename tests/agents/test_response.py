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
from replicalab.agents.lab_manager_policy import (
    _select_lab_manager_action_type,
    answer_type_to,
    reference_offer,
)
from replicalab.agents.lab_manager_policy import answer_to as answer_on
from replicalab.assessment import assess
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
    make_constraint,
    make_pack,
    make_policy_rule,
    make_protocol,
    make_substitution,
)
from tests.golden import assert_golden
from tests.strategies import itemised_protocols, studied_packs

CHAMBER = EQUIPMENT[0]
REPORT, SUGGEST, REJECT, ACCEPT = LabManagerActionType
OPEN_FLAME: Final = {"technique": "open flame"}
TIGHT: Final[dict[str, Any]] = {"booked": {CHAMBER: 9}, "days": 4, "budget": 800}
"""A lab in which three dimensions and the plan's soundness fail, and all can be mended."""

CASES: Final[dict[str, tuple[dict[str, Any], dict[str, Any]]]] = {
    # What is changed of the plan that fits, and what of its lab.
    "all seven pass": ({}, {}),
    "policy fails": (OPEN_FLAME, {}),
    "protocol fails": ({"sample_size": 2}, {}),
    "all can be mended": ({}, TIGHT),
    "all but policy": (OPEN_FLAME, TIGHT),
    "nothing helps": ({}, {"budget": 10}),
    "a lab failure is left": ({"duration_days": 9}, {"days": 8, "staff": 1}),
    "the lab could run it, but it breaks a new rule": (
        {},
        {
            "booked": {CHAMBER: 9},
            "allowed_substitutions": [make_substitution(alternative="open flame heater")],
        },
    ),
}


Answer = tuple[FeasibilityCheckResult, AlternativeSuggestion | None, LabManagerAction]


def answer_to(plan: Protocol, pack: Pack) -> Answer:
    check = check_feasibility(plan, pack)
    suggestion = suggest_alternative(plan, check, pack)
    return check, suggestion, compose_lab_manager_response(check, suggestion)


def answer(case: str) -> Answer:
    plan, lab = CASES[case]
    return answer_to(make_protocol(**plan), make_pack(**lab))


# --- which answer -----------------------------------------------------------------------------


def expected_type(
    check: FeasibilityCheckResult, suggestion: AlternativeSuggestion | None
) -> LabManagerActionType:
    """Return the type of the answer in the contract's order."""
    lab_fails = {d.value for d in LAB_DIMENSIONS if not check.check(d).ok}
    if check.feasible:
        return ACCEPT
    if not lab_fails:
        return REPORT
    if suggestion is None or not suggestion.improved:
        return REJECT
    texts = {d.value for d in LAB_DIMENSIONS} & {*suggestion.remaining_failures}
    return REJECT if texts else SUGGEST


@pytest.mark.parametrize("case", CASES)
def test_type_of_an_answer_is_the_same_whatever_is_asked_for_it(case: str) -> None:
    plan, lab = CASES[case]
    judged = assess(make_protocol(**plan), make_pack(**lab))
    check, suggestion, action = answer(case)
    expected = expected_type(check, suggestion)
    assert action.action_type is expected
    assert _select_lab_manager_action_type(check, suggestion) is expected
    assert answer_type_to(judged, reference_offer(judged)) is expected
    unhelped = expected_type(check, None)
    assert _select_lab_manager_action_type(check, None) is unhelped
    assert answer_type_to(judged, None) is unhelped


def test_explanations_read_as_written() -> None:
    texts = (f"{case}: {answer(case)[2].explanation}" for case in CASES)
    assert_golden("lab_manager_answers", "\n\n".join(texts))


def test_answer_depends_on_the_suggestion_where_the_lab_fails() -> None:
    fits, (fails, suggestion, _) = answer("all seven pass")[0], answer("all can be mended")
    assert compose_lab_manager_response(fails, None).action_type is REJECT
    assert compose_lab_manager_response(fits, suggestion).action_type is ACCEPT


@given(itemised_protocols(), studied_packs())
def test_answer_follows_the_contracts_order_and_carries_flags_and_reasons(
    protocol: Protocol, pack: Pack
) -> None:
    check, suggestion, action = answer_to(protocol, pack)
    lab_fails = [d for d in LAB_DIMENSIONS if not check.check(d).ok]
    expected = expected_type(check, suggestion)
    assert action.action_type is expected
    offered = action.suggested_technique, action.suggested_sample_size, action.suggested_controls
    plan = suggestion.revised_protocol if suggestion and expected is SUGGEST else None
    assert offered == ((plan.technique, plan.sample_size, plan.controls) if plan else ("", 0, []))
    assert action.feasible == (not lab_fails)
    assert [d for d in LAB_DIMENSIONS if not getattr(action, f"{d}_ok")] == lab_fails
    for dimension in Dimension:
        for reason in check.check(dimension).reasons:
            assert f"- {dimension}: {reason}" in action.explanation
    required = pack.hidden_reference_spec.required_elements
    assert not any(f"Not addressed by the plan: {item}" in action.explanation for item in required)
    assert compose_lab_manager_response(check, suggestion) == action
    judged = assess(protocol, pack)
    offer = reference_offer(judged)
    assert (offer and offer.improved) == (suggestion and suggestion.improved)
    assert answer_on(judged, offer) == action
    assert LabManagerAction.model_validate(action.model_dump()) == action


# --- the renderer -----------------------------------------------------------------------------


def raising(error: BaseException) -> Any:
    """Return a renderer that raises."""

    def renderer(*_: object) -> str:
        raise error

    return renderer


def returning(value: object) -> Any:
    """Return a renderer that answers ``value``, whatever its type."""
    return lambda *_: value


@pytest.mark.parametrize(
    "renderer",
    [
        pytest.param(raising(RuntimeError("no model today")), id="raises"),
        pytest.param(returning(""), id="empty"),
        pytest.param(returning(" \n\t\u00a0"), id="blank"),
        pytest.param(returning(None), id="none"),
        pytest.param(returning(b"bytes"), id="bytes"),
        pytest.param(returning("half a character \ud83d"), id="lone surrogate"),
        pytest.param("unused", id="no function at all"),
    ],
)
def test_renderer_that_fails_falls_back_to_the_built_in_words(renderer: Any) -> None:
    check, suggestion, plain = answer("all can be mended")
    assert compose_lab_manager_response(check, suggestion, renderer) == plain


def test_renderer_may_reword_the_explanation_of_what_it_is_given_and_nothing_else() -> None:
    check, suggestion, plain = answer("all can be mended")
    seen: list[tuple[object, ...]] = []

    def renderer(*given_to_it: object) -> str:
        seen.append(given_to_it)
        return "  I accept, all is well. "

    reworded = compose_lab_manager_response(check, suggestion, renderer)
    assert seen == [(SUGGEST, check, suggestion)]
    assert reworded.explanation == "I accept, all is well."
    assert reworded == plain.model_copy(update={"explanation": reworded.explanation})


def explanations(text: str, place: str) -> tuple[str, str]:
    """Return both ways' words on a plan that fails everything; the text stands in one place."""
    record = {name: f"any {name}" for name in QUOTED} | {place: text}
    swap = {name: record[name] for name in ("alternative", "condition", "tradeoff")}
    rule = make_policy_rule(restriction=record["restriction"], forbidden_phrases=[record["phrase"]])
    limit = make_constraint(
        label=record["constraint"],
        unit=record["unit"],
        quantity=10**6,
        comparator=">=",
        bounds="samples",
    )
    pack = make_pack(
        **TIGHT,
        allowed_substitutions=[make_substitution(original=CHAMBER, **swap)],
        policy_rules=[rule],
        constraints=[limit],
    )
    phrase = " ".join(record["phrase"].split())
    plan = make_protocol(technique=phrase, required_equipment=[*EQUIPMENT, record["item"]])
    judged = assess(plan, pack)
    action = answer_on(judged, reference_offer(judged))
    return answer_to(plan, pack)[2].explanation, action.explanation


QUOTED: Final = (
    "restriction", "phrase", "constraint", "unit", "alternative", "condition", "tradeoff", "item",
)  # fmt: skip
"""What of a study, and of a plan, an answer quotes."""


@pytest.mark.parametrize("place", QUOTED)
def test_answer_says_on_one_line_what_it_quotes(place: str) -> None:
    same = explanations("one two", place)
    assert same[0] == same[1]
    assert "one two" in same[0].lower()
    for between in ("\n", "\r\n- ", "  ", "\u2028", "\x85", "\xa0"):
        dash = " -" if "-" in between else ""
        assert explanations(f"one{between}two", place) == explanations(f"one{dash} two", place)


def test_answer_says_on_one_line_what_a_suggestion_or_a_check_from_elsewhere_quotes() -> None:
    check, suggestion, plain = answer("all can be mended")
    assert suggestion is not None
    reason = check.budget.reasons[0]
    broken = check.model_dump()
    broken["budget"]["reasons"] = [reason.replace(" ", "\n", 1)]
    foreign = FeasibilityCheckResult.model_validate(broken)
    assert compose_lab_manager_response(foreign, suggestion) == plain
    dump = suggestion.model_dump()
    for change in dump["applied_changes"]:
        change["tradeoff"] = change["tradeoff"].replace(" ", "\n", 1)
    changed = AlternativeSuggestion.model_validate(dump)
    assert compose_lab_manager_response(check, changed) == plain


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_renderer_may_be_interrupted(stop: type[BaseException]) -> None:
    with pytest.raises(stop):
        compose_lab_manager_response(answer("nothing helps")[0], None, raising(stop()))
