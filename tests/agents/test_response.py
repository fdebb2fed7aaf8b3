"""The Lab Manager's answer: which one, with which flags, in which words."""

from typing import Any, Final

import pytest
from hypothesis import given

from replicalab import agents, models
from replicalab.agents.lab_manager_policy import answer_to as answer_on
from replicalab.agents.lab_manager_policy import answer_type_to, reference_offer
from replicalab.assessment import assess
from replicalab.scenarios import Pack, list_scenarios, load_scenario
from tests.factories import EQUIPMENT, make_pack, make_policy_rule, make_protocol, make_substitution
from tests.golden import assert_golden
from tests.strategies import itemised_protocols, studied_packs

CHAMBER = EQUIPMENT[0]
REPORT, SUGGEST, REJECT, ACCEPT = models.LabManagerActionType
OPEN_FLAME: Final = {"technique": "open flame"}
TIGHT: Final[dict[str, Any]] = {"booked": {CHAMBER: 9}, "days": 4, "budget": 800}
"""A lab in which three dimensions and the plan's soundness fail, and all can be mended."""

CASES: Final[dict[str, tuple[dict[str, Any], dict[str, Any]]]] = {
    # Changes of the plan that fits, and of its lab.
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


Answer = tuple[
    agents.FeasibilityCheckResult, agents.AlternativeSuggestion | None, models.LabManagerAction
]


def answer_to(plan: models.Protocol, pack: Pack) -> Answer:
    check = agents.check_feasibility(plan, pack)
    suggestion = agents.suggest_alternative(plan, check, pack)
    return check, suggestion, agents.compose_lab_manager_response(check, suggestion)


def answer(case: str) -> Answer:
    plan, lab = CASES[case]
    return answer_to(make_protocol(**plan), make_pack(**lab))


def expected_type(
    check: agents.FeasibilityCheckResult, suggestion: agents.AlternativeSuggestion | None
) -> models.LabManagerActionType:
    lab_fails = {d.value for d in models.LAB_DIMENSIONS if not check.check(d).ok}
    if check.feasible:
        return ACCEPT
    if not lab_fails:
        return REPORT
    if suggestion is None or not suggestion.improved:
        return REJECT
    texts = {d.value for d in models.LAB_DIMENSIONS} & {*suggestion.remaining_failures}
    return REJECT if texts else SUGGEST


def test_explanations_read_as_written() -> None:
    texts = (f"{case}: {answer(case)[2].explanation}" for case in CASES)
    assert_golden("lab_manager_answers", "\n\n".join(texts))


@given(itemised_protocols(), studied_packs())
def test_any_answer_follows_the_contract(protocol: models.Protocol, pack: Pack) -> None:
    check, suggestion, action = answer_to(protocol, pack)
    lab_fails = [d for d in models.LAB_DIMENSIONS if not check.check(d).ok]
    expected = expected_type(check, suggestion)
    assert action.action_type is expected
    offered = action.suggested_technique, action.suggested_sample_size, action.suggested_controls
    plan = suggestion.revised_protocol if suggestion and expected is SUGGEST else None
    assert offered == ((plan.technique, plan.sample_size, plan.controls) if plan else ("", 0, []))
    assert action.feasible == (not lab_fails)
    assert [d for d in models.LAB_DIMENSIONS if not getattr(action, f"{d}_ok")] == lab_fails
    for dimension in models.Dimension:
        for reason in check.check(dimension).reasons:
            assert f"- {dimension}: {reason}" in action.explanation
    required = pack.hidden_reference_spec.required_elements
    assert not any(f"Not addressed by the plan: {item}" in action.explanation for item in required)
    assert agents.compose_lab_manager_response(check, suggestion) == action
    judged = assess(protocol, pack)
    offer = reference_offer(judged)
    assert (offer and offer.improved) == (suggestion and suggestion.improved)
    assert answer_on(judged, offer) == action
    assert answer_type_to(judged, offer) is expected
    assert answer_type_to(judged, None) is expected_type(check, None)


def no_model(*_: object) -> str:
    raise RuntimeError("no model today")


@pytest.mark.parametrize(
    "renderer",
    [
        no_model,
        *((lambda *_, value=value: value) for value in ("", " \n\t\u00a0", None, b"b", "\ud83d")),
        "no function at all",
    ],
)
def test_failing_renderer_falls_back(renderer: Any) -> None:
    check, suggestion, plain = answer("all can be mended")
    assert agents.compose_lab_manager_response(check, suggestion, renderer) == plain


def test_renderer_rewords_only_the_explanation() -> None:
    check, suggestion, plain = answer("all can be mended")
    seen: list[tuple[object, ...]] = []

    def renderer(*given_to_it: object) -> str:
        seen.append(given_to_it)
        return "  I accept, all is well. "

    reworded = agents.compose_lab_manager_response(check, suggestion, renderer)
    assert seen == [(SUGGEST, check, suggestion)]
    assert reworded.explanation == "I accept, all is well."
    assert reworded == plain.model_copy(update={"explanation": reworded.explanation})


@pytest.mark.parametrize("between", ["\n", "\r\n- ", "\u2028", "\x85"])
def test_quoted_text_stays_on_one_line(between: str) -> None:
    pack = make_pack(policy_rules=[make_policy_rule(restriction=f"No open{between}flames.")])
    plan = make_protocol(**OPEN_FLAME)
    judged = assess(plan, pack)
    for action in (answer_to(plan, pack)[2], answer_on(judged, reference_offer(judged))):
        [line] = [line for line in action.explanation.split("\n") if "open" in line.lower()]
        assert between not in line


@pytest.mark.parametrize("study", [scenario.scenario_id for scenario in list_scenarios()])
def test_restriction_is_reported_if_broken(study: str) -> None:
    pack = load_scenario(study)

    def saying(sentence: str) -> models.Protocol:
        plan = pack.reference_protocol
        return models.revise(plan, rationale=f"{plan.rationale} {sentence}")

    for rule in pack.policy_rules:
        for phrase in rule.forbidden_phrases:
            check, _, action = answer_to(saying(f"We will {phrase}."), pack)
            assert action.action_type is REPORT
            assert check.failing == ["policy"]
            assert rule.restriction in action.explanation
    mentions = [mention for rule in pack.policy_rules for mention in rule.allowed_mentions]
    assert mentions
    for mention in mentions:
        for sentence in (f"Of course {mention}.", f"As agreed, {mention}.", mention.capitalize()):
            assert assess(saying(sentence), pack).feasible
