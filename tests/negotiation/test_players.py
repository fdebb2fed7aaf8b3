"""The Scientists that follow a rule: what they do at each standing of an offer, and why."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from replicalab.assessment import assess
from replicalab.errors import NegotiationError
from replicalab.models import Protocol, ScientistActionType, revise
from replicalab.negotiation import (
    AUTOMATIC,
    Ending,
    LabManagerKind,
    Negotiation,
    Outcome,
    Round,
    ScientistKind,
    State,
    best_options,
    best_text,
    fork,
    negotiate,
)
from replicalab.negotiation.players import Choice, choose, is_worth_running
from replicalab.planner import options_of
from replicalab.scenarios import Difficulty, EvidenceTier, Pack, list_scenarios, load_scenario
from tests.factories import make_pack, make_protocol, with_means
from tests.golden import assert_golden
from tests.negotiation.playing import (
    BOOKED,
    FLAMING,
    OFFER,
    OPEN,
    PLAN,
    SHORT,
    SMALL,
    STUCK,
    acts,
    answer_of,
    ask,
    by_person,
    by_rule,
    game,
    plan_of,
    propose,
    revise_to,
    said_in,
)
from tests.strategies import itemised_protocols, protocols, studied_packs

AWARE: Final = ScientistKind.EVIDENCE_AWARE
LEAST: Final = LabManagerKind.LEAST_LOSS
SHIPPED: Final = [
    (study.scenario_id, lab.value) for study in list_scenarios() for lab in Difficulty
]
MOMENTUM: Final = {lab: load_scenario("fin_momentum", lab) for lab in ("medium", "hard")}


def aware(
    pack: Pack,
    opening: Protocol | None = None,
    rounds: int = 5,
    lab_manager: LabManagerKind = LabManagerKind.REFERENCE,
) -> Negotiation:
    return by_rule(pack, opening, rounds, AWARE, lab_manager)


def choice(pack: Pack, state: State) -> Choice:
    """Return what the evidence-aware Scientist does."""
    return choose(game(pack, scientist=AWARE), state, pack)


def reasons(negotiation: Negotiation) -> str:
    """Return what the Scientist did in each round, and why."""
    pairs = zip(acts(negotiation), negotiation.rounds, strict=True)
    return "\n".join(f"{does}: {done.reason}" for does, done in pairs)


# --- the opening, and who has no rule -------------------------------------------------------


@pytest.mark.parametrize("scientist", sorted(set(ScientistKind) - AUTOMATIC))
def test_negotiation_by_hand_waits_after_the_opening(scientist: ScientistKind) -> None:
    setup = game(BOOKED, scientist=scientist)
    assert negotiate(setup, BOOKED).rounds == ()
    with pytest.raises(NegotiationError, match=f"played by a {scientist}, who follows no rule"):
        choose(setup, State(0, 5), BOOKED)
    opened = by_rule(BOOKED, PLAN, scientist=scientist)
    assert [plan_of(done) for done in opened.rounds] == [PLAN]
    assert opened.outcome is None


def test_opening_without_samples_is_refused_by_name() -> None:
    with pytest.raises(NegotiationError) as caught:
        by_rule(OPEN, make_protocol(sample_size=0))
    assert str(caught.value) == (
        "the plan has a sample size of 0; a proposal needs at least 1 sample"
    )


# --- the baseline ---------------------------------------------------------------------------


class Line(NamedTuple):
    """One round in numbers."""

    action: str
    n: int
    days: int
    credits: float
    answer: str


def line(done: Round) -> Line:
    assert done.action is not None
    assert done.plan is not None
    counts = done.plan.counts
    action = done.action.action_type.value
    return Line(action, counts.samples, counts.days, done.plan.cost, answer_of(done))


# Worked out on paper from the document's rules. Cost: 10 n + 50 days + 450, for 4 controls, 2 items
# and 2 reagents. The lab: 2600 credits, 6 days, 4 people, the terminal booked.
#  1  300/8: 3850, too dear and too long -> offer 300/6 = 3750 -> 150/6 = 2250
#  2  150/7: 2300, terminal and days     -> offer 150/6 = 2250
#  3   75/6: 1500, terminal              -> offer  75/6
#  4   37/5: 1070, terminal              -> offer  37/5
#  5  last round: accepts that offer.
MOMENTUM_MEDIUM: Final = [
    (Line("propose_protocol", 300, 8, 3850, "suggest_alternative"), (150, 6)),
    (Line("revise_protocol", 150, 7, 2300, "suggest_alternative"), (150, 6)),
    (Line("revise_protocol", 75, 6, 1500, "suggest_alternative"), (75, 6)),
    (Line("revise_protocol", 37, 5, 1070, "suggest_alternative"), (37, 5)),
    (Line("accept", 37, 5, 1070, "accept"), None),
]
MOMENTUM_MEDIUM_FAILS: Final = [
    ["protocol", "budget", "equipment", "schedule"],
    ["protocol", "equipment", "schedule"],
    ["equipment"],
    ["equipment"],
    [],
]


def test_baseline_on_momentum_medium_round_by_round() -> None:
    pack = MOMENTUM["medium"]
    negotiation = by_rule(pack, pack.reference_protocol)
    offers = [done.offer and done.offer.after.counts for done in negotiation.rounds]
    found = [
        (line(done), offer and (offer.samples, offer.days))
        for done, offer in zip(negotiation.rounds, offers, strict=True)
    ]
    assert found == MOMENTUM_MEDIUM
    failing = [done.plan.failing for done in negotiation.rounds if done.plan]
    assert failing == MOMENTUM_MEDIUM_FAILS
    assert negotiation.ending is Ending.SCIENTIST_ACCEPTED
    assert negotiation.outcome is Outcome.AGREED_BELOW_FLOOR
    assert plan_of(negotiation.rounds[-1]).required_equipment == [
        "research server",
        "vendor-approved extract on the research server",
    ]


@pytest.mark.parametrize(("study", "lab"), SHIPPED)
def test_baseline_follows_the_documents_rules_on_every_shipped_lab(study: str, lab: str) -> None:
    pack = load_scenario(study, lab)
    plan = pack.reference_protocol
    negotiation = by_rule(pack, plan)
    lines = [line(done) for done in negotiation.rounds]
    least = len(plan.controls) + 1
    for earlier, later in pairwise(lines[:-1]):
        assert earlier.answer != "accept"
        assert (later.n, later.days) == (max(earlier.n // 2, least), earlier.days - 1)
    assert lines[0][:3] == ("propose_protocol", plan.sample_size, plan.duration_days)
    assert pack.expected is not None
    assert lines[0].answer == pack.expected.answer
    if lab == Difficulty.EASY:
        assert (len(lines), negotiation.outcome) == (1, Outcome.AGREED)


@pytest.mark.parametrize(
    ("rounds", "expected"),
    [
        (1, Outcome.NO_DEAL),
        (2, Outcome.AGREED),  # takes 150 in 6 days: power 0.58, over the floor of 0.50
        (3, Outcome.AGREED),  # takes the offer of round 2, which is the same plan
        (4, Outcome.AGREED_BELOW_FLOOR),
    ],
)
def test_baseline_with_fewer_rounds_takes_the_offer_that_stands(
    rounds: int, expected: Outcome
) -> None:
    pack = MOMENTUM["medium"]
    negotiation = by_rule(pack, pack.reference_protocol, rounds)
    assert (len(negotiation.rounds), negotiation.outcome) == (rounds, expected)


def test_baseline_may_take_more_rounds_and_is_no_better_for_it() -> None:
    pack = load_scenario("math_four_colour", "hard")
    # The lab has one person; over 20 samples and over 5 days take one more each.
    assert [line(d)[1:3] for d in by_rule(pack, pack.reference_protocol, 7).rounds[4:]] == [
        (39, 6),
        (19, 5),
        (19, 5),
    ]


@given(
    st.integers(0, 999_999), st.sampled_from(SHIPPED), protocols(sample_size=st.integers(1, 200))
)
def test_every_negotiation_on_the_shelf_ends(
    seed: int, place: tuple[str, str], plan: Protocol
) -> None:
    assert 1 <= len(by_rule(load_scenario(*place, seed), plan).rounds) <= 5


# --- the one that weighs the evidence: at or above the target -------------------------------


def test_aware_scientist_opens_with_the_reference_protocol_or_as_it_was_told() -> None:
    pack = MOMENTUM["medium"]
    assert choice(pack, State(0, 5)).action == propose(pack.reference_protocol)
    opened = aware(OPEN, SMALL)
    assert plan_of(opened.rounds[0]) == SMALL
    assert opened.outcome is Outcome.AGREED_BELOW_FLOOR


def test_aware_scientist_never_opens_with_a_reference_protocol_below_the_floor() -> None:
    pack = make_pack(reference_protocol=SMALL)
    negotiation = aware(pack)
    opening = negotiation.rounds[0].plan
    assert opening is not None
    assert opening.counts.samples > SMALL.sample_size
    assert negotiation.outcome is Outcome.AGREED


def test_aware_scientist_with_one_round_opens_with_the_best_or_leaves() -> None:
    # 10 × 195 + 50 × 4 + 450 = 2600, the whole budget.
    negotiation = aware(MOMENTUM["medium"], rounds=1)
    assert line(negotiation.rounds[0])[1:3] == (195, 4)
    assert negotiation.outcome is Outcome.AGREED
    hopeless = aware(MOMENTUM["hard"], rounds=1)
    assert (acts(hopeless), hopeless.outcome) == (["leaves"], Outcome.NO_DEAL)


def test_aware_scientist_does_not_take_a_strong_offer_that_fails() -> None:
    # 60 in two groups at d = 0.9 have power above 0.9; the open flame breaks the lab's restriction,
    # which no change of numbers or items repairs, so it goes back to the reference protocol.
    state = by_person(BOOKED, propose(revise(FLAMING, sample_size=60))).state
    assert state.offer is not None
    found = choice(BOOKED, state)
    assert found.action is not None
    assert found.action.action_type is ScientistActionType.REVISE_PROTOCOL
    assert "but policy fails. In the same lab a plan of" in found.reason
    assert found.action.protocol is not None
    assert assess(found.action.protocol, BOOKED).feasible


# --- between floor and target ---------------------------------------------------------------


def test_aware_scientist_counters_with_the_planners_best_or_takes_it_as_an_offer() -> None:
    pack = MOMENTUM["medium"]
    countered = aware(pack, pack.reference_protocol, rounds=2)
    assert acts(countered) == ["propose_protocol", "revise_protocol"]
    assert countered.ending is Ending.LAB_MANAGER_ACCEPTED
    taken = aware(pack, pack.reference_protocol, lab_manager=LEAST)
    assert acts(taken) == ["propose_protocol", "accept"]
    assert plan_of(taken.rounds[-1]) == plan_of(countered.rounds[-1])


def test_aware_scientist_counters_a_plan_that_was_rejected_without_an_offer() -> None:
    # 20 days cost 1000 credits, and the reference Lab Manager halves only the sample. In 3 days
    # 10 n + 150 + 400 leave room for 45 samples, and 41 are enough for the target.
    pack = make_pack(budget=1000, days=30)
    state = by_person(pack, propose(make_protocol(duration_days=20))).state
    assert state.offer is None
    found = choice(pack, state).action
    assert found == revise_to(make_protocol(sample_size=41, duration_days=3))


def test_aware_scientist_goes_past_the_offer_where_one_more_sample_meets_the_target() -> None:
    # Forty in two groups at d = 0.9 reach power 0.79; one more is enough for the target of 0.80.
    found = choice(BOOKED, by_person(BOOKED, propose(PLAN)).state).action
    assert found == revise_to(revise(OFFER, sample_size=41))


# --- below the floor ------------------------------------------------------------------------


def test_aware_scientist_asks_for_the_cheapest_relief_and_then_walks_away() -> None:
    pack = MOMENTUM["hard"]
    negotiation = aware(pack, pack.reference_protocol)
    assert acts(negotiation) == ["propose_protocol", "request_info", "leaves"]
    asked = negotiation.rounds[1]
    assert asked.action is not None
    assert asked.action.questions == ["Could the lab give 275 more credits?"]
    assert said_in(asked) == "Budget: 1,500 credits remain."
    assert (negotiation.ending, negotiation.outcome) == (Ending.WALKED_AWAY, Outcome.NO_DEAL)
    # Checked in labs made with that budget: 1500 + 275 credits are enough, one less is not.
    for budget, expected in ((1775.0, True), (1774.0, False)):
        outcome = aware(with_means(pack, budget=budget), pack.reference_protocol).outcome
        assert (outcome is Outcome.AGREED) is expected


def test_aware_scientist_asks_for_an_item_alone_where_that_opens_it() -> None:
    pack = load_scenario("chem_suzuki_ppb", "hard")
    asked = aware(pack, pack.reference_protocol).rounds[1].action
    assert asked is not None
    assert asked.questions == ["Could the lab have 'ultrapure sodium carbonate' restocked?"]


def test_aware_scientist_does_not_ask_in_the_last_round_nor_where_nothing_helps() -> None:
    pack = MOMENTUM["hard"]
    negotiation = aware(pack, pack.reference_protocol, rounds=2)
    assert acts(negotiation) == ["propose_protocol", "leaves"]
    assert not negotiation.rounds[1].reason.startswith("The lab adds nothing")
    # Twelve units at d = 0.3 have power below 0.10, so no sample reaches the floor of 0.50.
    design = OPEN.design.model_copy(update={"population_max": 12, "effect_planning": 0.3})
    poor = make_pack(budget=1, design=design, reference_protocol=SMALL)
    found = choice(poor, by_person(poor, propose(SMALL)).state)
    assert found.action is None
    assert found.reason.endswith("No single addition by the lab would open one.")


def test_aware_scientist_goes_on_by_its_rule_after_a_fork_or_what_was_done_in_its_name() -> None:
    pack = MOMENTUM["hard"]
    negotiation = aware(pack, pack.reference_protocol)
    forked = fork(negotiation, 1, revise(pack.reference_protocol, sample_size=80))
    assert acts(forked)[1:] == ["revise_protocol", "request_info", "leaves"]
    asked = by_person(pack, propose(pack.reference_protocol), ask("The budget?"))
    assert choice(pack, asked.state).action is None
    weak = by_person(BOOKED, propose(PLAN), revise_to(make_protocol(sample_size=8)))
    back = choice(BOOKED, weak.state).action
    assert back is not None
    assert back.sample_size > 8


@pytest.mark.parametrize(("study", "lab"), SHIPPED)
def test_every_ask_on_the_shelf_is_answered_thing_by_thing(study: str, lab: str) -> None:
    pack = load_scenario(study, lab)
    for done in aware(pack, pack.reference_protocol).rounds:
        if done.action is None or not done.action.questions:
            continue
        [asked], said = done.action.questions, said_in(done)
        words = {"credit": "Budget:", "day": "Time:", "staff unit": "Staff:"}
        for noun, answer in words.items():
            assert (answer in said) or not re.search(rf"\d more {noun}", asked)
        for item in re.findall(r"'(.+?)' (?:released|restocked)", asked):
            assert f"'{item}' is " in said


# --- every pairing --------------------------------------------------------------------------


@pytest.mark.parametrize("lab_manager", LabManagerKind)
@pytest.mark.parametrize(("study", "lab"), SHIPPED)
def test_aware_scientist_agrees_above_the_floor_or_not_at_all(
    study: str, lab: str, lab_manager: LabManagerKind
) -> None:
    negotiation = aware(load_scenario(study, lab), lab_manager=lab_manager)
    assert negotiation.outcome in {Outcome.AGREED, Outcome.NO_DEAL}
    assert len(negotiation.rounds) <= 3
    assert acts(negotiation).count("request_info") <= 1
    assert all(done.reason for done in negotiation.rounds)


@settings(max_examples=40)
@given(
    studied_packs(),
    st.none() | itemised_protocols(),
    st.integers(1, 6),
    st.sampled_from(LabManagerKind),
)
def test_every_negotiation_of_the_aware_scientist_ends_well_or_not_at_all(
    pack: Pack, plan: Protocol | None, rounds: int, manager: LabManagerKind
) -> None:
    opening = plan if plan and plan.sample_size else None
    negotiation = aware(pack, opening, rounds, manager)
    assert negotiation.outcome is not Outcome.FALSE_AGREEMENT
    if negotiation.outcome is Outcome.AGREED_BELOW_FLOOR:
        assert [plan_of(done) for done in negotiation.rounds] == [opening]
    assert len(negotiation.rounds) <= min(rounds, 4)
    assert "request_info" not in acts(negotiation)[-1:]


# --- what a lab could run at best -----------------------------------------------------------


def test_prospect_is_of_the_plan_on_the_table_or_else_of_the_reference_protocol() -> None:
    plan = assess(make_protocol(technique="another technique"), OPEN)
    found = best_options(options_of(plan), OPEN)
    assert is_worth_running(found.least.after)
    assert found.least.plan.technique == "another technique"
    for options in (None, options_of(assess(FLAMING, OPEN))):
        assert best_options(options, OPEN).yours.plan == OPEN.reference_protocol
    # In 600 credits the plan with the flame fails more than the reference protocol does.
    poor = make_pack(budget=100, days=5)
    hopeless = best_options(options_of(assess(FLAMING, poor)), poor)
    assert not is_worth_running(hopeless.least.after)
    assert hopeless.yours.plan == poor.reference_protocol


@given(studied_packs(), st.none() | itemised_protocols())
def test_prospect_that_exists_can_run_above_the_floor(pack: Pack, plan: Protocol | None) -> None:
    found = best_options(options_of(assess(plan, pack)) if plan else None, pack).least
    best = assess(found.plan, pack)
    worth = best.evidence.tier is not EvidenceTier.BELOW_FLOOR
    assert is_worth_running(found.after) is (best.feasible and worth)


# --- in words -------------------------------------------------------------------------------


def test_reasons_in_words() -> None:
    momentum, hard = MOMENTUM["medium"], MOMENTUM["hard"]
    suzuki, millikan = (
        load_scenario("chem_suzuki_ppb", "hard"),
        load_scenario("phys_millikan", "medium"),
    )
    fish, fewer = (load_scenario("eco_reef_fish", lab) for lab in ("medium", "hard"))
    played = {
        "baseline": by_rule(momentum, momentum.reference_protocol, 3),
        "baseline, its own plan": by_rule(OPEN),
        "baseline, a report": by_rule(OPEN, FLAMING),
        "aware": aware(momentum),
        "aware, one round": aware(momentum, rounds=1),
        "aware, least loss": aware(momentum, momentum.reference_protocol, lab_manager=LEAST),
        "aware, hopeless": aware(hard),
        "aware, an item": aware(suzuki),
        "aware, half-width": aware(millikan, millikan.reference_protocol),
        "aware, fidelity": aware(fish, fish.reference_protocol),
        "aware, everything": aware(fewer),
        "aware, rejected": aware(make_pack(budget=1000, days=30), make_protocol(duration_days=20)),
    }
    told = [f"{name}\n{reasons(negotiation)}" for name, negotiation in played.items()]
    assert_golden("negotiation_reasons", "\n\n".join(told))


def test_proof_says_what_was_searched_and_what_the_best_comes_to() -> None:
    millikan = with_means(load_scenario("phys_millikan", "hard"), budget=750.0)
    endless = make_pack(days=2)
    labs = {
        "an item missing": (STUCK, PLAN),
        "an item missing, and too few days": (STUCK.in_lab(STUCK.lab.with_means(days=2)), PLAN),
        "too weak": (MOMENTUM["hard"], MOMENTUM["hard"].reference_protocol),
        "a half-width": (millikan, millikan.reference_protocol),
        "the endpoint out of reach": (endless, SHORT),
    }
    told = []
    for name, (pack, plan) in labs.items():
        best = best_options(options_of(assess(plan, pack)), pack).least
        assert not is_worth_running(best.after)
        told.append(f"{name}: {best_text(best)}")
        unproven = best_text(replace(best, exact=False))
        told.append(f"{name}, not all searched: {unproven}")
    assert_golden("negotiation_proofs", "\n".join(told))
