"""The Lab Manager: the four fixes in order, and which answer, with which flags and words."""

from random import Random
from typing import Any, Final

import pytest
from hypothesis import given

from replicalab import agents, models
from replicalab.agents import lab_manager_policy as policy
from replicalab.assessment import assess
from replicalab.assessment.dimensions import DROPPED, apply_changes
from replicalab.lexicon import count_text
from replicalab.models import Protocol, revise
from replicalab.scenarios import Pack, StaffModel, Throughput, list_scenarios, load_scenario
from tests import factories
from tests.golden import assert_golden
from tests.planner.brute_force import cost_of, staff_of
from tests.strategies import itemised_protocols, studied_packs
from tests.tiers import batches

CHAMBER, METER = factories.EQUIPMENT
PLATES = factories.REAGENTS[0]
REST: Final = 250 + 50 + 200 + 150
"""Credits of the factory's plan without its samples, which cost 10 each."""

Changes = dict[str, Any]


def afford(samples: int) -> float:
    return float(REST + 10 * samples)


def exist(number: int, **design: object) -> Changes:
    return {"design": factories.make_design(population_max=number, **design)}


def swaps(*pairs: tuple[str, str], **more: object) -> Changes:
    pairs_of = ({"original": one, "alternative": other, **more} for one, other in pairs)
    rows = [factories.make_substitution(**pair) for pair in pairs_of]
    return {"allowed_substitutions": rows}


BOTH_BOOKED: Final[Changes] = {"booked": {CHAMBER: 9, METER: 9}}
CHAMBER_BOOKED: Final[Changes] = {"booked": {CHAMBER: 9}}
EACH_FIX: Final[Changes] = {
    "booked": {METER: 9}, "out_of_stock": [PLATES], "days": 4, "budget": afford(20),
    **swaps((PLATES, "filter paper"), (METER, "phone camera")),
}  # fmt: skip
HUNDRED: Final[Changes] = {"sample_size": 100}
CASES: Final[dict[str, tuple[Changes, Changes]]] = {
    # Changes of the plan that fits, and of its lab.
    "a booked item": ({}, CHAMBER_BOOKED),
    "the first usable alternative of the file": (
        {"required_equipment": [CHAMBER]},
        {**BOTH_BOOKED, **swaps((CHAMBER, METER), (CHAMBER, "z shelf"), (CHAMBER, "a shelf"))},
    ),
    "an alternative that the plan lists": (
        {}, {**CHAMBER_BOOKED, **swaps((CHAMBER, f"  {METER.upper()}"), (CHAMBER, "a shelf"))},
    ),
    "one alternative for two": ({}, {**BOTH_BOOKED, **swaps((CHAMBER, "kit"), (METER, "kit"))}),
    "too long": ({"duration_days": 23}, {"days": 20}),
    # The last is the floor: one more than the controls.
    **{f"budget for {limit}": ({}, {"budget": afford(limit)}) for limit in (20, 19, 5, 4, 3)},
    "too poor for the floor": ({}, {"budget": afford(3) - 1}),
    "ten halvings": ({"sample_size": 20 * 2**10}, {"budget": afford(20)}),
    "eleven halvings": ({"sample_size": 20 * 2**11}, {"budget": afford(20)}),
    # 23 days cost 900 more than 5; the clamp to 20 saves 150, which is all that was missing.
    "a clamp that saves enough": (
        {"duration_days": 23}, {"days": 20, "budget": afford(40) + 750}
    ),
    "every fix in its order": ({}, EACH_FIX),
    "a staff unit saved": (HUNDRED, {"staff": 1}),
    "a staff unit that is not enough": (
        {**HUNDRED, "duration_days": 6}, {"staff": 1, "budget": afford(50) + 50}
    ),
    "a lab's own threshold": (
        HUNDRED, {"staff": 1, "staff_model": StaffModel(sample_threshold=30)}
    ),
    # The alternative's own label breaks a restriction: two failures fewer, one new.
    "a new failure": ({}, {"days": 4, **CHAMBER_BOOKED, **swaps((CHAMBER, "open flame heater"))}),
}  # fmt: skip


def suggest(protocol: Protocol, pack: Pack) -> agents.AlternativeSuggestion:
    check = agents.check_feasibility(protocol, pack)
    suggestion = agents.suggest_alternative(protocol, check, pack)
    assert suggestion is not None
    return suggestion


def test_suggestions_read_as_written() -> None:
    lines = []
    for case, (plan, lab) in CASES.items():
        suggestion = suggest(factories.make_protocol(**plan), factories.make_pack(**lab))
        lines += [
            f"{case}: {change.field} {change.original} → {change.revised}: "
            f"{change.reason} {change.tradeoff}"
            for change in suggestion.applied_changes
        ]
        text = " ".join(suggestion.remaining_failures) or "nothing"
        lines += [f"{case}: {text} still fails, {'' if suggestion.improved else 'not '}improved"]
    assert_golden("lab_manager_changes", "\n".join(lines))


@pytest.mark.parametrize(
    ("study", "lost"),
    [
        ({}, "20 samples fewer: weaker evidence."),
        ({"min_days": 6}, "20 samples fewer: there is no evidence to lose."),
        (
            {"samples_per_day": Throughput(value=4, why="One chamber.")},  # 5 days, 20 count
            "20 samples fewer: the evidence is no weaker for it.",
        ),
        ({"min_days": 5}, "20 samples fewer: weaker evidence."),
        (exist(20), "20 samples fewer: the evidence is no weaker for it."),
        (exist(21), "20 samples fewer: weaker evidence."),
        (exist(41), "20 samples fewer: weaker evidence."),
        # Of 21 as of 20 dropout leaves 10, of 22 it leaves 11.
        (exist(21, dropout=0.5), "20 samples fewer: the evidence is no weaker for it."),
        (exist(22, dropout=0.5), "20 samples fewer: weaker evidence."),
    ],
)
def test_fewer_samples_weaken_only_counted_ones(study: Changes, lost: str) -> None:
    pack = factories.make_pack(budget=afford(20), **study)
    [change] = suggest(factories.make_protocol(), pack).applied_changes
    assert (change.original, change.revised, change.tradeoff) == ("40", "20", lost)


# The plan takes 5 days, and cannot be run as it is: its chamber is booked.
@pytest.mark.parametrize(
    ("lab", "clamped"),
    [
        ({"days": 6}, None),
        ({"days": 5}, None),
        ({"days": 4}, ("4", "1 day less to run, and to repeat failed runs.")),
        ({"days": 3}, ("3", "2 days less to run, and to repeat failed runs.")),
        ({"days": 2}, ("2", "Below 3 days the study's endpoint is lost.")),
        ({"days": 1}, ("1", "Below 3 days the study's endpoint is lost.")),
        ({"days": 5, "start_day": 5}, ("1", "Below 3 days the study's endpoint is lost.")),
        ({"days": 5, "start_day": 6}, None),
    ],
)
def test_days_are_clamped_to_those_left(lab: Changes, clamped: tuple[str, str] | None) -> None:
    pack = factories.make_pack(**CHAMBER_BOOKED, **lab)
    result = suggest(factories.make_protocol(), pack).applied_changes
    changes = [item for item in result if item.field == "duration_days"]
    assert [(item.revised, item.tradeoff) for item in changes] == ([clamped] if clamped else [])


def halved(plan: Protocol, pack: Pack) -> tuple[int, int, int]:
    days, sizes = plan.duration_days, [plan.sample_size]
    for _ in range(10):
        sizes.append(max(sizes[-1] // 2, min(sizes[-1], len(plan.controls) + 1)))
    paid = [n for n, size in enumerate(sizes) if cost_of(plan, size, days, pack) <= pack.lab.budget]
    if not paid:
        return 0, 0, plan.sample_size
    staffed = [n for n in paid if staff_of(plan, sizes[n], days, pack) <= pack.lab.staff]
    times = (staffed or paid)[0]
    return paid[0], times, sizes[times]


@pytest.mark.parametrize("seeds", batches(150, quick=50, long=5))
def test_sample_is_halved_as_the_contract_says(seeds: range) -> None:
    for seed in seeds:
        rng = Random(seed)
        plan = factories.make_protocol(
            sample_size=rng.choice((rng.randint(0, 12), rng.randint(0, 90))),
            controls=[f"control {n}" for n in range(rng.randint(0, 4))],
            duration_days=rng.randint(1, 7),
        )
        threshold = rng.choice((1, 2, 3, 5, 9, 10, 20))
        fits = cost_of(plan, rng.choice((plan.sample_size, threshold, 3)), 1, factories.make_pack())
        fits += 50 * (plan.duration_days - 1)
        pack = factories.make_pack(
            budget=fits + rng.choice((-1.0, -0.5, 0.0, 0.5, 99.0)),
            staff=rng.randint(1, 4),
            staff_model=StaffModel(sample_threshold=threshold),
        )
        suggestion = agents.suggest_alternative(plan, agents.check_feasibility(plan, pack), pack)
        changes = suggestion.applied_changes if suggestion else []
        for_budget, times, rest = halved(plan, pack)
        if not times:
            assert changes == [], seed
            continue
        [result] = changes
        assert (result.original, result.revised) == (str(plan.sample_size), str(rest)), seed
        short = cost_of(plan, plan.sample_size, plan.duration_days, pack) - pack.lab.budget
        why = [f"the budget is {pack.lab.money(short)} short"] * bool(for_budget)
        few = count_text(threshold, "sample")
        why += [f"at {few} or fewer the plan needs one staff unit less"] * (times > for_budget)
        often = {1: "once", 2: "twice"}.get(times, f"{times} times")
        text = f"{'; '.join(why)}; the sample is halved {often}."
        assert result.reason == text[0].upper() + text[1:], seed


@given(itemised_protocols(), studied_packs())
def test_suggestion_agrees_with_a_fresh_check(protocol: Protocol, pack: Pack) -> None:
    check = agents.check_feasibility(protocol, pack)
    inputs = protocol.model_dump(), pack.model_dump(), check.model_dump()
    suggestion = agents.suggest_alternative(protocol, check, pack)
    assert (protocol.model_dump(), pack.model_dump(), check.model_dump()) == inputs
    assert (suggestion is None) == check.feasible
    if suggestion is None:
        return
    revised = suggestion.revised_protocol
    assert suggestion.pre_check == check
    assert suggestion.post_check == agents.check_feasibility(revised, pack)
    assert revised == apply_changes(protocol, suggestion.applied_changes)
    assert suggestion.remaining_failures == suggestion.post_check.failing
    before, after = set(check.failing), set(suggestion.post_check.failing)
    assert suggestion.improved == (len(after) < len(before) and after <= before)
    assert suggestion == agents.suggest_alternative(protocol, check, pack)
    # It only ever gives up.
    row = ("controls", "technique", "rationale")
    assert all(getattr(revised, name) == getattr(protocol, name) for name in row)
    limit = pack.lab.days_left or protocol.duration_days  # without a day left, days stay
    assert revised.duration_days == min(protocol.duration_days, limit)
    n, floor = protocol.sample_size, len(protocol.controls) + 1
    assert revised.sample_size in {n, min(n, floor), *(n >> times for times in range(1, 11))}
    assert revised.sample_size >= min(floor, n)
    for name in ("required_equipment", "required_reagents"):
        assert len(getattr(revised, name)) == len(getattr(protocol, name))


@pytest.mark.parametrize(("price", "samples"), [(0.0, 40), (100.0, 40), (101.0, 20), (380.0, 10)])
def test_prices_of_substitutes_halve_the_sample(price: float, samples: int) -> None:
    plan = factories.make_protocol()
    pack = factories.make_pack(booked={CHAMBER: 9}, budget=1050.0, prices={"Window SHELF": price})
    suggestion = agents.suggest_alternative(plan, agents.check_feasibility(plan, pack), pack)
    assert suggestion
    assert suggestion.revised_protocol.required_equipment[0] == "window shelf"
    assert suggestion.revised_protocol.sample_size == samples
    assert suggestion.post_check.estimated_cost == 1050 + price - 100 - 10 * (40 - samples)


def change(field: str, original: str, revised: str) -> agents.SuggestionChange:
    values = {"field": field, "original": original, "revised": revised}
    return agents.SuggestionChange(**values, reason="why", tradeoff="what is lost")


@pytest.mark.parametrize(
    ("field", "items", "changes", "left"),
    [
        ("required_reagents", "a b a", ["a c"], "c b a"),
        ("controls", "a b c", [f"b {DROPPED}"], "a c"),
        ("controls", "a b a", [f"a {DROPPED}"], "b a"),  # one copy for each change
        ("controls", "a b a", [f"a {DROPPED}"] * 3, "b"),
        ("required_reagents", "a b", ["z c"], "a b"),
        ("required_equipment", "a b", [f"a {DROPPED}"], f"{DROPPED} b"),  # only controls go
        ("required_equipment", "a b", ["a x", "x y"], "y b"),
    ],
)
def test_apply_changes_of_a_list(field: str, items: str, changes: list[str], left: str) -> None:
    plan = factories.make_protocol(**{field: items.split()})
    made = [change(field, *text.split(" ", 1)) for text in changes]
    assert apply_changes(plan, made) == revise(plan, **{field: left.split()})
    assert getattr(plan, field) == items.split()


CHAMBER = factories.EQUIPMENT[0]
REPORT, SUGGEST, REJECT, ACCEPT = models.LabManagerActionType
OPEN_FLAME: Final = {"technique": "open flame"}
TIGHT: Final[dict[str, Any]] = {"booked": {CHAMBER: 9}, "days": 4, "budget": 800}
"""A lab in which three dimensions and the plan's soundness fail, and all can be mended."""

ANSWERED: Final[dict[str, tuple[dict[str, Any], dict[str, Any]]]] = {
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
            "allowed_substitutions": [factories.make_substitution(alternative="open flame heater")],
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
    plan, lab = ANSWERED[case]
    return answer_to(factories.make_protocol(**plan), factories.make_pack(**lab))


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
    texts = (f"{case}: {answer(case)[2].explanation}" for case in ANSWERED)
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
    pack = factories.make_pack(
        policy_rules=[factories.make_policy_rule(restriction=f"No open{between}flames.")]
    )
    plan = factories.make_protocol(**OPEN_FLAME)
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


LAB = factories.make_pack(
    budget=2600, days=6, staff=4, booked={CHAMBER: 10}, out_of_stock=factories.REAGENTS[:1]
)
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
    pack = factories.make_pack(equipment=[], reagents=[], policy_rules=[])
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
