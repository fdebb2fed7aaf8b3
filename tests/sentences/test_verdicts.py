"""The sentences people read first: true, and never shown as a pass where something fails."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.agents import check_feasibility, suggest_alternative
from replicalab.evidence import Evidence, planned_evidence
from replicalab.models import Dimension, LabManagerActionType, Protocol, ScientistAction
from replicalab.negotiation import (
    LabManagerKind,
    Outcome,
    ScientistKind,
    Trace,
    begin,
    negotiate,
    play_action,
    scenario_digest,
    setup_for,
)
from replicalab.negotiation.rounds import outcome_of
from replicalab.scenarios import (
    DesignKind,
    EvidenceTier,
    Pack,
    load_scenario,
)
from replicalab.sentences import (
    ANSWER_MEANINGS,
    ANSWER_STATUS,
    ANSWER_TITLES,
    OUTCOME_STATUS,
    OUTCOME_TITLES,
    TIER_STATUS,
    Status,
    Verdict,
    evidence_sentence,
    evidence_status,
    failing_text,
    offer_story,
    outcome_verdict,
    plan_size,
    plan_verdict,
    terms_text,
)
from replicalab.sentences.verdicts import UNFINISHED_TITLE
from tests.factories import EQUIPMENT, change_pack, make_pack, make_protocol
from tests.negotiation.playing import (
    ACCEPT,
    BOOKED,
    FLAMING,
    OPEN,
    PLAN,
    SMALL,
    STUCK,
    ask,
    play,
    propose,
)
from tests.strategies import itemised_protocols, studied_packs


def make_evidence(
    value: float = 0.86, tier: EvidenceTier = EvidenceTier.MEETS_TARGET, void: str | None = None
) -> Evidence:
    return Evidence(
        DesignKind.TWO_GROUP, value, 0.8, 0.5, tier, counted=300, effect=0.177, void=void
    )


MEETS = make_evidence()
ABOVE = make_evidence(0.58, EvidenceTier.ABOVE_FLOOR)
BELOW = make_evidence(0.33, EvidenceTier.BELOW_FLOOR)
VOID = make_evidence(0.0, EvidenceTier.BELOW_FLOOR, "no samples are planned")


# --- the plan -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("evidence", "sentence"),
    [
        (MEETS, "Planned evidence: power 0.86, which meets the target of 0.80."),
        (
            ABOVE,
            "Planned evidence: power 0.58, below the target of 0.80 but above the floor of 0.50.",
        ),
        (BELOW, "Planned evidence: power 0.33, below the floor of 0.50."),
        (VOID, "It yields no evidence: no samples are planned."),
    ],
)
def test_evidence_sentence_of_each_tier(evidence: Evidence, sentence: str) -> None:
    assert evidence_sentence(evidence) == sentence


FEASIBLE = "Feasible: all seven dimensions pass."
WITH_MEETS = "Planned evidence: power 0.86, which meets the target of 0.80."


@pytest.mark.parametrize(
    ("pack", "plan", "evidence", "verdict"),
    [
        (OPEN, PLAN, MEETS, Verdict(Status.PASS, "Feasible", f"{FEASIBLE} {WITH_MEETS}")),
        (
            OPEN,
            PLAN,
            BELOW,
            Verdict(
                Status.CAUTION,
                "Feasible, below the floor",
                f"{FEASIBLE} Planned evidence: power 0.33, below the floor of 0.50.",
            ),
        ),
        (
            OPEN,
            PLAN,
            VOID,
            Verdict(
                Status.FAIL,
                "Feasible, no evidence",
                f"{FEASIBLE} It yields no evidence: no samples are planned.",
            ),
        ),
        (
            OPEN,
            FLAMING,
            MEETS,
            Verdict(
                Status.CAUTION,
                "Not approved",
                f"Lab-feasible, but not approved: policy fails. {WITH_MEETS}",
            ),
        ),
        (
            STUCK,
            PLAN,
            MEETS,
            Verdict(
                Status.FAIL,
                "Not feasible",
                f"Not feasible here: protocol and equipment fail. {WITH_MEETS}",
            ),
        ),
    ],
    ids=["feasible", "below the floor", "void", "not approved", "not feasible"],
)
def test_plan_verdict_is(pack: Pack, plan: Protocol, evidence: Evidence, verdict: Verdict) -> None:
    assert plan_verdict(check_feasibility(plan, pack), evidence) == verdict


@pytest.mark.parametrize(
    ("failing", "text"),
    [
        (["budget"], "budget fails"),
        (["budget", "staff"], "budget and staff fail"),
        (["protocol", "budget", "staff"], "protocol, budget and staff fail"),
    ],
)
def test_failing_dimensions_in_words(failing: list[str], text: str) -> None:
    assert failing_text([Dimension(name) for name in failing]) == text


@pytest.mark.parametrize(
    ("plan", "text"),
    [
        (PLAN, "40 samples in 5 days for 1,050 of 5,000 credits"),
        # 10 for the sample, 50 for the day, 50 + 200 + 150 for controls, equipment and reagents
        (
            make_protocol(sample_size=1, duration_days=1),
            "1 sample in 1 day for 460 of 5,000 credits",
        ),
        (
            make_protocol(sample_size=1200, duration_days=0),
            "1,200 samples in 0 days for 12,400 of 5,000 credits",
        ),
    ],
)
def test_plan_size_in_words(plan: Protocol, text: str) -> None:
    assert plan_size(plan, check_feasibility(plan, OPEN), 5000.0) == text


# --- how the Lab Manager meets the reference protocol -----------------------------------------


@pytest.mark.parametrize(
    ("study", "lab", "verdict"),
    [
        (
            "fin_momentum",
            "easy",
            Verdict(
                Status.PASS,
                "Accepts",
                "The reference protocol (300 samples, 8 days, 3,850 credits) passes all 7 checks. "
                "This lab can run it. Planned evidence: power 0.86, which meets the target of "
                "0.80.",
            ),
        ),
        (
            "fin_momentum",
            "medium",
            Verdict(
                Status.CAUTION,
                "Suggests changes",
                "The reference protocol (300 samples, 8 days, 3,850 credits) fails 4 of 7 checks "
                "here: protocol, budget, equipment and schedule. The Lab Manager offers 150 "
                "samples, 6 days, 2,250 credits: the planned power falls from 0.86 to 0.58, below "
                "the target of 0.80 but above the floor of 0.50.",
            ),
        ),
        (
            "fin_momentum",
            "hard",
            Verdict(
                Status.FAIL,
                "Suggests changes",
                "The reference protocol (300 samples, 8 days, 3,850 credits) fails 6 of 7 checks "
                "here: protocol, budget, equipment, reagents, schedule and staff. The Lab Manager "
                "offers 75 samples, 5 days, 1,450 credits: the planned power falls from 0.86 to "
                "0.33, below the floor of 0.50.",
            ),
        ),
        (
            "ml_resnet_cifar10",
            "medium",
            Verdict(
                Status.CAUTION,
                "Suggests changes",
                "The reference protocol (12 samples, 6 days, 820 credits) fails 4 of 7 checks "
                "here: protocol, budget, equipment and schedule. The Lab Manager offers 12 "
                "samples, 4 days, 720 credits: the planned power stays 0.88, which meets the "
                "target of 0.80.",
            ),
        ),
        (
            "bio_jq1_myeloma",
            "hard",
            Verdict(
                Status.FAIL,
                "Suggests changes",
                "The reference protocol (24 samples, 36 days, 2,890 credits) fails 6 of 7 checks "
                "here: protocol, budget, equipment, reagents, schedule and staff. The Lab Manager "
                "offers 12 samples, 14 days, 1,670 credits: the planned power of 0.802 is lost, "
                "since the study's endpoint needs 22 days, and the plan has 14.",
            ),
        ),
        (
            "math_four_colour",
            "hard",
            Verdict(
                Status.FAIL,
                "Rejects",
                "The reference protocol (633 samples, 10 days, 7,155 credits) fails 6 of 7 checks "
                "here: protocol, budget, equipment, reagents, schedule and staff. The Lab Manager "
                "rejects it: after every change it may make, staff fails.",
            ),
        ),
    ],
)
def test_offer_story_of_a_shipped_lab(study: str, lab: str, verdict: Verdict) -> None:
    assert offer_story(load_scenario(study, lab)) == verdict


def test_offer_story_of_a_half_width_that_grows_says_that_it_rises() -> None:
    # 1.96 times 5 % over the root of 58; over the root of 29 and the substitution's factor 0.9
    assert (
        "the planned half-width rises from ±1.29 % to ±2.02 %, wider than the target of ±1.50 % "
        "but within the floor of ±2.50 %."
    ) in offer_story(load_scenario("phys_millikan", "medium")).text


def test_offer_story_of_a_reference_protocol_without_evidence_loses_none() -> None:
    found = story(make_protocol(duration_days=2), {EQUIPMENT[0]: 10})
    assert found.text.endswith(
        "credits: no evidence, since the study's endpoint needs 3 days, and the plan has 2."
    )


@pytest.mark.parametrize(
    ("study", "text"),
    [
        (
            "fin_momentum",
            "Samples: months of long-short return. Power: the chance of finding the assumed "
            "effect; target 0.80: what the study aims for; floor 0.50: the least worth running.",
        ),
        (
            "math_four_colour",
            "Samples: configurations re-checked. Share examined: how much of all there is gets "
            "checked; target 100 %: what the study aims for; floor 100 %: the least worth running.",
        ),
        (
            "phys_millikan",
            "Samples: drops. Half-width: how far the result may be off, either way; target "
            "±1.50 %: what the study aims for; floor ±2.50 %: the least worth running.",
        ),
    ],
)
def test_terms_of_a_study_say_what_is_counted_and_what_is_aimed_for(study: str, text: str) -> None:
    assert terms_text(load_scenario(study)) == text


def story(plan: Protocol, booked: dict[str, int] | None = None) -> Verdict:
    """Return the story of the synthetic study with that reference protocol."""
    return offer_story(make_pack(booked=booked, reference_protocol=plan))


def test_offer_story_of_an_accepted_plan_below_the_floor_is_no_pass() -> None:
    found = story(SMALL)
    assert (found.status, found.title) == (Status.CAUTION, "Accepts")
    assert found.text.startswith(
        "The reference protocol (10 samples, 5 days, 750 credits) passes all 7 checks. This lab "
        "can run it. Planned evidence: power 0.2"
    )
    assert found.text.endswith(", below the floor of 0.50.")


def test_offer_story_of_a_plan_that_breaks_a_restriction_does_not_say_rejected() -> None:
    assert story(FLAMING) == Verdict(
        Status.CAUTION,
        "Reports",
        "The reference protocol (40 samples, 5 days, 1,050 credits) fails 1 of 7 checks here: "
        "policy. The lab has the means, but the Lab Manager does not approve it.",
    )


def test_offer_story_of_an_offer_that_still_fails_says_so() -> None:
    found = story(FLAMING, {EQUIPMENT[0]: 10})
    assert (found.status, found.title) == (Status.FAIL, "Suggests changes")
    assert found.text.endswith(" Still policy fails.")


# --- the outcome ----------------------------------------------------------------------------


def made(pack: Pack, actions: list[ScientistAction | None], most: int) -> Trace:
    """Return the trace of hand-made turns that end a negotiation."""
    state, rounds = play(pack, *actions, max_rounds=most)
    assert state.ending is not None
    return Trace(
        setup=setup_for(pack, max_rounds=most),
        scenario_digest=scenario_digest(pack),
        rounds=rounds,
        ending=state.ending,
        outcome=outcome_of(state.ending, rounds[-1], pack),
    )


SIZE = "40 samples in 5 days for 1,050 of 5,000 credits"


@pytest.mark.parametrize(
    ("pack", "actions", "most", "expected"),
    [
        (
            STUCK,
            [propose(PLAN), ACCEPT],
            5,
            Verdict(
                Status.FAIL,
                "False agreement",
                "False agreement in round 2: the Scientist accepted, but protocol and equipment "
                f"fail, so the lab cannot run the plan of {SIZE}; no plan with this method passes "
                "in this lab: at best protocol and equipment fail.",
            ),
        ),
        (
            OPEN,
            [propose(FLAMING), ACCEPT],
            5,
            Verdict(
                Status.FAIL,
                "False agreement",
                "False agreement in round 2: the Scientist accepted, but policy fails, so the lab "
                f"does not approve the plan of {SIZE}; in this lab 41 samples in 5 days would have "
                "reached power 0.802.",
            ),
        ),
        (
            BOOKED,
            [propose(PLAN)],
            1,
            Verdict(
                Status.FAIL,
                "No deal",
                f"No deal after round 1: the rounds ran out; the last plan was {SIZE}, and "
                "equipment fails; in this lab 41 samples in 5 days would have reached power 0.802.",
            ),
        ),
        (
            BOOKED,
            [propose(PLAN), None],
            5,
            Verdict(
                Status.FAIL,
                "No deal",
                f"No deal after round 2: the Scientist walked away; the last plan was {SIZE}, and "
                "equipment fails; in this lab 41 samples in 5 days would have reached power 0.802.",
            ),
        ),
        (
            OPEN,
            [None],
            5,
            Verdict(
                Status.FAIL,
                "No deal",
                "No deal: the Scientist walked away with no plan on the table; in this lab 41 "
                "samples in 5 days would have reached power 0.802.",
            ),
        ),
        (
            OPEN,
            [ACCEPT],
            1,
            Verdict(
                Status.FAIL,
                "No deal",
                "No deal: the rounds ran out with no plan on the table; in this lab 41 samples in "
                "5 days would have reached power 0.802.",
            ),
        ),
        (
            OPEN,
            [propose(make_protocol(duration_days=2))],
            5,
            Verdict(
                Status.FAIL,
                "Agreed below the floor",
                "Agreed below the floor in round 1: 40 samples in 2 days for 900 of 5,000 "
                "credits; it yields no evidence: the study's endpoint needs 3 days, and the plan "
                "has 2; in this lab 41 samples in 3 days would have reached power 0.802.",
            ),
        ),
    ],
)
def test_outcome_verdict_is(
    pack: Pack,
    actions: list[ScientistAction | None],
    most: int,
    expected: Verdict,
) -> None:
    assert outcome_verdict(made(pack, actions, most), pack) == expected


@pytest.mark.parametrize(
    ("lab", "rounds", "expected"),
    [
        (
            "easy",
            5,
            Verdict(
                Status.PASS,
                "Agreed",
                "Agreed in round 1: 300 samples in 8 days for 3,850 of 3,900 credits; planned "
                "evidence: power 0.86, which meets the target of 0.80.",
            ),
        ),
        (
            "medium",
            2,
            Verdict(
                Status.PASS,
                "Agreed",
                "Agreed in round 2: 150 samples in 6 days for 2,250 of 2,600 credits; planned "
                "evidence: power 0.58, below the target of 0.80 but above the floor of 0.50.",
            ),
        ),
        (
            "medium",
            4,
            Verdict(
                Status.CAUTION,
                "Agreed below the floor",
                "Agreed below the floor in round 4: 75 samples in 6 days for 1,500 of 2,600 "
                "credits; planned evidence: power 0.33, below the floor of 0.50; in this lab 195 "
                "samples in 4 days would have reached power 0.69.",
            ),
        ),
    ],
)
def test_outcome_verdict_of_momentum(lab: str, rounds: int, expected: Verdict) -> None:
    pack = load_scenario("fin_momentum", lab)
    trace = negotiate(setup_for(pack, pack.reference_protocol, rounds), pack)
    assert outcome_verdict(trace, pack) == expected


# The four outcomes, each reached by a shipped study and pairing. Worked out by hand: momentum's
# months cost 10 credits and its days 50; 195 x 10 + 4 x 50 + 450 = 2600.
FOUR_OUTCOMES: Final = [
    (
        ("fin_momentum", "medium", ScientistKind.EVIDENCE_AWARE, LabManagerKind.REFERENCE),
        Outcome.AGREED,
        Status.PASS,
        "Agreed in round 2: 195 samples in 4 days for 2,600 of 2,600 credits; planned evidence: "
        "power 0.69, below the target of 0.80 but above the floor of 0.50.",
    ),
    (
        ("fin_momentum", "medium", ScientistKind.BASELINE, LabManagerKind.REFERENCE),
        Outcome.AGREED_BELOW_FLOOR,
        Status.CAUTION,
        "Agreed below the floor in round 5: 37 samples in 5 days for 1,070 of 2,600 credits; "
        "planned evidence: power 0.18, below the floor of 0.50; in this lab 195 samples in 4 days "
        "would have reached power 0.69.",
    ),
    (
        ("math_four_colour", "hard", ScientistKind.BASELINE, LabManagerKind.REFERENCE),
        Outcome.FALSE_AGREEMENT,
        Status.FAIL,
        "False agreement in round 5: the Scientist accepted, but protocol, equipment, reagents, "
        "schedule and staff fail, so the lab cannot run the plan of 79 samples in 7 days for 1,465 "
        "of 2,500 credits; no plan above the floor of 100 % exists in this lab with this method: "
        "the best has share examined 3.2 %.",
    ),
    (
        ("fin_momentum", "hard", ScientistKind.EVIDENCE_AWARE, LabManagerKind.LEAST_LOSS),
        Outcome.NO_DEAL,
        Status.FAIL,
        "No deal after round 3: the Scientist walked away; the last plan was 300 samples in 8 days "
        "for 3,850 of 1,500 credits, and protocol, budget, equipment, reagents, schedule and staff "
        "fail; no plan above the floor of 0.50 exists in this lab with this method: the best has "
        "power 0.38.",
    ),
]


@pytest.mark.parametrize(("place", "outcome", "status", "sentence"), FOUR_OUTCOMES)
def test_each_outcome_is_reached_on_the_shelf_and_told_in_one_sentence(
    place: tuple[str, str, ScientistKind, LabManagerKind],
    outcome: Outcome,
    status: Status,
    sentence: str,
) -> None:
    study, lab, scientist, manager = place
    pack = load_scenario(study, lab)
    trace = negotiate(setup_for(pack, pack.reference_protocol, 5, scientist, manager), pack)
    assert trace.outcome is outcome
    assert outcome_verdict(trace, pack) == Verdict(status, OUTCOME_TITLES[outcome], sentence)
    assert ". " not in sentence, "one sentence"


def test_the_four_are_all_there_are() -> None:
    assert [outcome for _, outcome, _, _ in FOUR_OUTCOMES] == list(Outcome)


def test_proof_that_no_plan_exists_names_the_days_that_the_endpoint_needs() -> None:
    pack = load_scenario("bio_jq1_myeloma", "hard")
    trace = negotiate(setup_for(pack, pack.reference_protocol), pack)
    assert outcome_verdict(trace, pack) == Verdict(
        Status.FAIL,
        "Agreed below the floor",
        "Agreed below the floor in round 5: 4 samples in 14 days for 1,590 of 1,700 credits; it "
        "yields no evidence: the study's endpoint needs 22 days, and the plan has 14; no plan "
        "above the floor of 0.50 exists in this lab with this method: the study's endpoint needs "
        "22 days, and this lab has 14.",
    )


def test_half_width_below_the_floor_is_wider_and_the_plan_that_would_have_reached_it_is_named() -> (
    None
):
    pack = load_scenario("phys_millikan", "medium")
    trace = negotiate(setup_for(pack, pack.reference_protocol), pack)
    assert outcome_verdict(trace, pack).text == (
        "Agreed below the floor in round 5: 7 samples in 2 days for 670 of 1,000 credits; planned "
        "evidence: half-width ±4.12 %, wider than the floor of ±2.50 %; in this lab 40 samples in "
        "2 days would have reached half-width ±1.72 %."
    )


@pytest.mark.parametrize(
    ("actions", "text"),
    [
        ([], "Round 1 of 5: no plan is on the table yet."),
        ([ask("The budget?")], "Round 2 of 5: no plan is on the table yet."),
        (
            [propose(PLAN)],
            f"Round 2 of 5: on the table is the plan of {SIZE}, and equipment fails; the Lab "
            "Manager offers 40 samples in 5 days: power 0.79, below the target of 0.80 but above "
            "the floor of 0.50.",
        ),
    ],
)
def test_negotiation_that_goes_on_is_a_caution_with_its_round(
    actions: list[ScientistAction], text: str
) -> None:
    trace = begin(setup_for(BOOKED, scientist=ScientistKind.PERSON), BOOKED)
    for action in actions:
        trace = play_action(trace, action, BOOKED)
    assert trace.outcome is None
    assert outcome_verdict(trace, BOOKED) == Verdict(Status.CAUTION, UNFINISHED_TITLE, text)


def test_negotiation_that_goes_on_without_an_offer_says_what_fails() -> None:
    trace = play_action(
        begin(setup_for(STUCK, scientist=ScientistKind.PERSON), STUCK), propose(PLAN), STUCK
    )
    assert outcome_verdict(trace, STUCK).text == (
        f"Round 2 of 5: on the table is the plan of {SIZE}, and protocol and equipment fail."
    )


# --- nothing that fails is a pass ---------------------------------------------------------------


def test_outcomes_are_the_contracts_four_and_each_title_is_its_name() -> None:
    names = ["agreed", "agreed_below_floor", "false_agreement", "no_deal"]
    assert [outcome.value for outcome in OUTCOME_TITLES] == names == [o.value for o in Outcome]
    for outcome, title in OUTCOME_TITLES.items():
        assert title.casefold().replace(" the ", " ").replace(" ", "_") == outcome.value


def test_only_an_agreement_above_the_floor_is_shown_as_a_pass() -> None:
    assert [o for o, status in OUTCOME_STATUS.items() if status is Status.PASS] == [Outcome.AGREED]
    assert OUTCOME_STATUS[Outcome.FALSE_AGREEMENT] is Status.FAIL


def test_evidence_below_the_floor_is_never_shown_as_a_pass() -> None:
    assert TIER_STATUS == {
        EvidenceTier.MEETS_TARGET: Status.PASS,
        EvidenceTier.ABOVE_FLOOR: Status.PASS,
        EvidenceTier.BELOW_FLOOR: Status.CAUTION,
    }


def test_void_evidence_is_shown_as_a_failure() -> None:
    assert evidence_status(VOID) is Status.FAIL


def test_only_an_accept_is_shown_as_a_pass() -> None:
    passes = [kind for kind, status in ANSWER_STATUS.items() if status is Status.PASS]
    assert passes == [LabManagerActionType.ACCEPT]


@pytest.mark.parametrize("table", [ANSWER_MEANINGS, ANSWER_STATUS, ANSWER_TITLES])
def test_every_answer_is_shown_and_explained(table: dict[LabManagerActionType, str]) -> None:
    assert set(table) == set(LabManagerActionType)
    assert all(table.values())


@given(studied_packs(), itemised_protocols())
def test_plan_verdict_passes_only_what_passes_above_the_floor(pack: Pack, plan: Protocol) -> None:
    check, evidence = check_feasibility(plan, pack), planned_evidence(plan, pack)
    verdict = plan_verdict(check, evidence)
    holds = check.feasible and evidence.tier is not EvidenceTier.BELOW_FLOOR
    assert (verdict.status is Status.PASS) is holds
    empty = check.feasible and evidence.void is not None
    assert (verdict.status is Status.FAIL) is (empty or not check.lab_feasible)


@given(studied_packs(), itemised_protocols())
def test_offer_story_passes_only_what_ends_feasible_above_the_floor(
    pack: Pack, plan: Protocol
) -> None:
    pack = change_pack(pack, reference_protocol=plan)
    verdict = offer_story(pack)
    check = check_feasibility(plan, pack)
    suggestion = suggest_alternative(plan, check, pack)
    end, result = plan, check
    if suggestion is not None:
        end, result = suggestion.revised_protocol, suggestion.post_check
    holds = result.feasible and planned_evidence(end, pack).tier is not EvidenceTier.BELOW_FLOOR
    assert verdict.status is not Status.PASS or holds
    assert verdict.text.endswith(".")


@given(studied_packs(), itemised_protocols(), st.integers(1, 5))
def test_outcome_verdict_passes_only_what_the_lab_can_run(
    pack: Pack, plan: Protocol, rounds: int
) -> None:
    trace = negotiate(setup_for(pack, plan if plan.sample_size else None, rounds), pack)
    verdict = outcome_verdict(trace, pack)
    assert trace.outcome is not None
    assert (verdict.status is Status.PASS) is (trace.outcome is Outcome.AGREED)
    assert verdict.text.startswith(OUTCOME_TITLES[trace.outcome])
    last = trace.rounds[-1].check
    assert last is not None
    assert verdict.status is not Status.PASS or last.feasible
