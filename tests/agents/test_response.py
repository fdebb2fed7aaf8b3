"""The Lab Manager's answer: which one, with which flags, in which words."""

from typing import Any, Final

import pytest
from hypothesis import given

from replicalab import agents, models
from replicalab.agents import lab_manager_policy as policy
from replicalab.assessment import assess
from replicalab.scenarios import Pack, list_scenarios, load_scenario
from tests.factories import (
    EQUIPMENT,
    REAGENTS,
    make_pack,
    make_policy_rule,
    make_protocol,
    make_substitution,
)
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
    offer = policy.reference_offer(judged)
    assert (offer and offer.improved) == (suggestion and suggestion.improved)
    assert policy.answer_to(judged, offer) == action
    assert policy.answer_type_to(judged, offer) is expected
    assert policy.answer_type_to(judged, None) is expected_type(check, None)


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
    ours = policy.answer_to(judged, policy.reference_offer(judged))
    for action in (answer_to(plan, pack)[2], ours):
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


LAB = make_pack(budget=2600, days=6, staff=4, booked={CHAMBER: 10}, out_of_stock=REAGENTS[:1])
BUDGET: Final = "Budget: 2,600 credits remain."
DAYS: Final = "Time: at most 6 days."
STAFF: Final = "Staff: 4 staff units."
CHAMBER_LINE: Final = "'growth chamber' is booked until day 10; may be replaced by 'window shelf'."
EQUIPMENT_LINE: Final = f"Equipment: {CHAMBER_LINE} 'light meter' is available."
REAGENT_LINE: Final = "Reagents: 'agar plates' is out of stock. 'nutrient broth' is available."
RULES: Final = "Restrictions: No open flames."
EVERYTHING: Final = f"{BUDGET}\n{DAYS}\n{STAFF}\n{EQUIPMENT_LINE}\n{REAGENT_LINE}\n{RULES}"


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("What is the BUDGET?", BUDGET),
        ("How many days do we have?", DAYS),
        ("What is the time\n limit?", DAYS),
        ("How many people are there?", STAFF),
        ("Which equipment is free?", EQUIPMENT_LINE),
        ("Which reagents are there?", REAGENT_LINE),
        ("Which policies apply?", RULES),
        # An item by its name, or the whole lab if no name is recognised.
        ("Until when is the Growth  Chamber taken?", CHAMBER_LINE),
        ("Do we have a light meter?", "'light meter' is available."),
        ("And agar plates?", "'agar plates' is out of stock."),
        ("Hello?", EVERYTHING),
        ("Does it belong to today's ruler?", EVERYTHING),
        ("Sometimes accosted, understaffed.", EVERYTHING),
    ],
)
def test_answer_is_about_what_the_question_asks(question: str, line: str) -> None:
    assert policy.answer_questions([question], LAB) == line


def test_answer_takes_items_first_and_each_topic_once() -> None:
    questions = ["What is the budget?", "Is the budget fixed?", "Is the light meter free today?"]
    assert policy.answer_questions(questions, LAB) == f"'light meter' is available.\n{BUDGET}"
    assert policy.answer_questions([], LAB) == EVERYTHING


def test_answer_says_none_of_an_empty_lab() -> None:
    pack = make_pack(equipment=[], reagents=[], policy_rules=[])
    lines = policy.answer_questions([], pack).splitlines()
    assert lines[3:] == ["Equipment: none.", "Reagents: none.", "Restrictions: none."]


@pytest.mark.parametrize("study", [study.scenario_id for study in list_scenarios()])
def test_shipped_lab_is_answered_without_the_reference(study: str) -> None:
    pack = load_scenario(study, "hard")
    answer = policy.answer_questions([], pack)
    items = [r.label for r in pack.resources if r.category != "personnel"]
    assert [item for item in items if f"'{item}'" not in answer] == []
    assert pack.hidden_reference_spec.summary not in answer
    assert pack.hidden_reference_spec.target_value not in answer


def test_item_name_is_no_topic() -> None:
    lab = load_scenario("fin_overreaction", "hard")
    asked = "Is the CRSP monthly stock file 1978–2022 there?"
    [line] = policy.answer_questions([asked], lab).split("\n")
    assert line.startswith("'CRSP monthly stock file 1978–2022' is not available")
