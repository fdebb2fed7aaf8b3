"""What is said of a negotiation: each round in a line, who gave what, by which rule."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.models import LabManagerActionType, Protocol, revise
from replicalab.negotiation import (
    AUTOMATIC,
    Ending,
    LabManagerKind,
    Outcome,
    ScientistKind,
    Trace,
    begin,
    judge,
    ledger,
    negotiate,
    play_action,
    setup_for,
    state_of,
)
from replicalab.scenarios import Pack, list_scenarios, load_scenario
from replicalab.sentences import (
    LAB_MANAGERS,
    SCIENTISTS,
    answer_rule,
    answer_verdict,
    judge_parts,
    ledger_sentence,
    move_text,
    on_the_table,
    outcome_verdict,
    reward_formula,
    round_caption,
    round_summary,
    step_changes,
    turn_title,
)
from tests.negotiation.playing import (
    ACCEPT,
    BOOKED,
    OFFER,
    OPEN,
    PLAN,
    SHORT,
    STUCK,
    ask,
    propose,
    revise_to,
)

MOMENTUM: Final = load_scenario("fin_momentum", "medium")
BASELINE: Final = negotiate(setup_for(MOMENTUM, MOMENTUM.reference_protocol), MOMENTUM)
SETUP: Final = setup_for(BOOKED, None, 5, ScientistKind.PERSON)


def played(*plans: Protocol, pack: Pack = BOOKED) -> Trace:
    """Return a negotiation by hand over these plans, not yet finished."""
    trace = begin(setup_for(pack, None, 9, ScientistKind.PERSON), pack)
    for number, plan in enumerate(plans):
        trace = play_action(trace, revise_to(plan) if number else propose(plan), pack)
    return trace


def second(plan: Protocol) -> str:
    """Return the caption of a round that revises `PLAN` to another plan."""
    return round_caption(played(PLAN, plan, pack=STUCK), 1, STUCK)


# --- a round in a line ---


def test_caption_of_the_default_story() -> None:
    assert [round_caption(BASELINE, at, MOMENTUM) for at in range(5)] == [
        "Round 1: the Scientist opens with 300 samples in 8 days for 3,850 of 2,600 credits, "
        "power 0.86; protocol, budget, equipment and schedule fail.",
        "Round 2: halving to 150 samples and cutting to 7 days saves 1,550 credits; power falls "
        "from 0.86 to 0.58.",
        "Round 3: halving to 75 samples and cutting to 6 days saves 800 credits; power falls from "
        "0.58 to 0.33.",
        "Round 4: halving to 37 samples and cutting to 5 days saves 430 credits; power falls from "
        "0.33 to 0.18.",
        "Round 5: taking the offer of 37 samples in 5 days saves no credits; power 0.18 stays.",
    ]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"sample_size": 20}, "halving to 20 samples saves 200 credits"),
        ({"sample_size": 30}, "cutting to 30 samples saves 100 credits"),
        ({"sample_size": 60}, "raising to 60 samples costs 200 credits"),
        ({"sample_size": 2000}, "raising to 2,000 samples costs 19,600 credits"),
        ({"duration_days": 4}, "cutting to 4 days saves 50 credits"),
        ({"sample_size": 30, "duration_days": 4}, "cutting to 30 samples and 4 days saves 150"),
        ({"sample_size": 60, "duration_days": 6}, "raising to 60 samples and 6 days costs 250"),
        ({"rationale": "Another."}, "changing rationale saves no credits"),
    ],
)
def test_caption_says_what_was_done(changes: dict[str, object], said: str) -> None:
    assert second(revise(PLAN, **changes)).startswith(f"Round 2: {said}")


def test_caption_of_evidence_that_is_lost_and_that_returns() -> None:
    trace = played(PLAN, SHORT, SHORT, PLAN, pack=STUCK)
    assert "is lost: the study's endpoint needs 3 days, and the plan has 2." in round_caption(
        trace, 1, STUCK
    )
    assert round_caption(trace, 2, STUCK).startswith("Round 3: the Scientist puts the same plan")
    assert "evidence returns: power " in round_caption(trace, 3, STUCK)


def test_caption_of_a_question_and_of_leaving() -> None:
    trace = play_action(begin(SETUP, BOOKED), ask("How many days?"), BOOKED)
    trace = play_action(trace, None, BOOKED)
    assert round_caption(trace, 0, BOOKED) == (
        "Round 1: the Scientist asks, and the lab answers from its own data."
    )
    assert round_caption(trace, 1, BOOKED) == "Round 2: the Scientist walks away."
    assert [turn_title(done) for done in trace.rounds] == ["Asks", "Walks away"]


def test_caption_of_accepting_nothing() -> None:
    trace = play_action(begin(SETUP, BOOKED), ACCEPT, BOOKED)
    assert round_caption(trace, 0, BOOKED) == "Round 1: no plan is put forward."


def test_caption_of_accepting_the_plan_as_it_is() -> None:
    trace = play_action(played(PLAN, pack=STUCK), ACCEPT, STUCK)
    assert round_caption(trace, 1, STUCK).startswith("Round 2: the Scientist accepts the plan: 40")


@pytest.mark.parametrize("study", [study.scenario_id for study in list_scenarios()])
@pytest.mark.parametrize("scientist", sorted(AUTOMATIC))
def test_every_round_of_every_study_has_a_caption(study: str, scientist: ScientistKind) -> None:
    pack = load_scenario(study, "hard")
    for manager in LabManagerKind:
        setup = setup_for(pack, pack.reference_protocol, 5, scientist, manager)
        trace = negotiate(setup, pack)
        for at in range(len(trace.rounds)):
            caption = round_caption(trace, at, pack)
            assert caption.startswith(f"Round {at + 1}: ")
            assert caption.endswith(".")
            assert "  " not in caption
            assert "None" not in caption


# --- rules ---


@pytest.mark.parametrize(
    ("pack", "kind", "rule"),
    [
        (OPEN, LabManagerActionType.ACCEPT, "First in its order"),
        (BOOKED, LabManagerActionType.SUGGEST_ALTERNATIVE, "Third in its order"),
        (STUCK, LabManagerActionType.REJECT, "Last in its order"),
    ],
)
def test_answer_is_explained_by_its_place_in_the_order(
    pack: Pack, kind: LabManagerActionType, rule: str
) -> None:
    done = played(PLAN, pack=pack).rounds[0]
    assert done.lab_manager_action is not None
    assert done.lab_manager_action.action_type is kind
    assert answer_rule(done).startswith(rule)


def test_unapproved_plan_is_second_in_the_order() -> None:
    flaming = revise(PLAN, rationale="An open flame, with a dark control and blinded counting.")
    assert answer_rule(played(flaming, pack=OPEN).rounds[0]).startswith("Second in its order")


def test_answers_without_a_plan_have_their_own_rules() -> None:
    trace = begin(SETUP, BOOKED)
    asked = play_action(trace, ask("Why?"), BOOKED).rounds[0]
    assert answer_rule(asked).startswith("A question is answered from the lab's own data")
    accepted = play_action(trace, ACCEPT, BOOKED).rounds[0]
    assert answer_rule(accepted) == "There is no plan to check, so it asks for one."
    left = play_action(trace, None, BOOKED).rounds[0]
    assert answer_rule(left) == "Nobody waits for an answer: the Scientist has left."


def test_every_player_has_a_name_and_a_rule() -> None:
    assert set(SCIENTISTS) == set(ScientistKind)
    assert set(LAB_MANAGERS) == set(LabManagerKind)
    rules = [player.rule for player in (*SCIENTISTS.values(), *LAB_MANAGERS.values())]
    assert all(rule.endswith(".") for rule in rules)


# --- who gave what ---


def test_ledger_sentence_of_a_deal() -> None:
    setup = setup_for(MOMENTUM, None, 5, ScientistKind.PERSON)
    trace = play_action(begin(setup, MOMENTUM), propose(MOMENTUM.reference_protocol), MOMENTUM)
    trace = play_action(trace, ACCEPT, MOMENTUM)
    assert ledger_sentence(ledger(trace, MOMENTUM)) == (
        "The Scientist gave 1,600 credits and 0.28 of power; the Lab Manager gave 0 credits."
    )


def test_ledger_sentence_of_a_lab_manager_that_comes_down() -> None:
    assert ledger_sentence(ledger(BASELINE, MOMENTUM)) == (
        "The Scientist gave 2,780 credits and 0.68 of power; the Lab Manager came to offer 1,180 "
        "credits less."
    )


def test_ledger_sentence_of_a_scientist_that_wants_more() -> None:
    gifts = ledger(played(PLAN, revise(PLAN, sample_size=60), pack=STUCK), STUCK)
    assert ledger_sentence(gifts).startswith("The Scientist came to want 200 credits more and won ")


def test_ledger_sentence_where_nobody_moved() -> None:
    assert ledger_sentence([]) == "The Scientist gave nothing; the Lab Manager gave 0 credits."


def test_ledger_sentence_of_a_lab_manager_that_gives() -> None:
    setup = setup_for(MOMENTUM, MOMENTUM.reference_protocol, 5, ScientistKind.EVIDENCE_AWARE)
    trace = negotiate(setup, MOMENTUM)
    # The first offer costs 2,250 credits; the plan that is accepted takes the whole 2,600.
    assert ledger_sentence(ledger(trace, MOMENTUM)).endswith("the Lab Manager gave 350 credits.")


def test_ledger_sentence_names_a_measure_that_is_no_probability() -> None:
    pack = load_scenario("phys_millikan", "hard")
    trace = negotiate(setup_for(pack, pack.reference_protocol), pack)
    assert "let half-width go from ±1.29 % to ±4.12 %" in ledger_sentence(ledger(trace, pack))


def test_step_is_told_in_numbers_and_no_wording_is_repeated() -> None:
    gifts = ledger(played(PLAN, revise(PLAN, sample_size=20, rationale="So."), pack=STUCK), STUCK)
    assert step_changes(gifts[0].step) == "40 → 20 samples, other rationale"
    odd = revise(PLAN, sample_size=20, technique="one; two")
    gifts = ledger(played(PLAN, odd, pack=STUCK), STUCK)
    assert step_changes(gifts[0].step) == "other sample size, other technique"


# --- what is on the table, and the judge ---


def test_plan_on_the_table_is_told_in_numbers() -> None:
    assert on_the_table(OFFER, BOOKED).startswith("40 samples in 5 days for 1,050 of ")
    assert on_the_table(OFFER, BOOKED).endswith("; all seven dimensions pass")
    assert on_the_table(PLAN, BOOKED).endswith("; equipment fails")


def test_move_names_its_round() -> None:
    trace = played(PLAN)
    assert move_text(state_of(trace, BOOKED)) == "Your move: round 2 of 9"


def test_reward_is_given_with_its_formula() -> None:
    judgement = judge(BASELINE, MOMENTUM)
    assert judgement is not None
    assert reward_formula(judgement) == (
        "Reward 0.23 = rigor 0.23 × feasibility 1.00 × fidelity 1.00."
    )
    assert judge_parts(judgement)[1] == ("Evidence", "0.23", "power 0.18 of a target of 0.80")
    assert judge_parts(judgement)[3][1:] == ("1.00", "7 of 7 dimensions pass")


def test_reward_without_an_agreement_is_none_and_says_why() -> None:
    judgement = judge(play_action(played(PLAN), None, BOOKED), BOOKED)
    assert judgement is not None
    assert reward_formula(judgement).startswith("Reward 0.00: nothing was agreed.")


def test_round_is_summed_up_for_a_narrow_place() -> None:
    assert round_summary(BASELINE.rounds[1], MOMENTUM) == (
        "150 samples in 7 days, 2,300 credits, power 0.58"
    )
    asked = play_action(begin(SETUP, BOOKED), ask("Why?"), BOOKED)
    assert round_summary(asked.rounds[0], BOOKED) == "no plan"


def test_answer_to_a_question_is_no_report_on_the_plan() -> None:
    trace = play_action(played(PLAN), ask("How many days are there?"), BOOKED)
    offered, asked = (answer_verdict(done) for done in trace.rounds)
    assert offered is not None
    assert offered.title == "Suggests changes"
    assert asked is not None
    assert asked.text == "Answers from the lab's own data; no plan was put forward."


def test_walking_away_has_no_answer_to_judge() -> None:
    assert answer_verdict(play_action(played(PLAN), None, BOOKED).rounds[-1]) is None


# --- a file that was edited -------------------------------------------------------------------

AGREED: Final = play_action(played(PLAN), ACCEPT, BOOKED)
"""One plan that fails, then the offer accepted: all seven dimensions pass."""


def edited(**changes: object) -> Trace:
    """Return the agreed negotiation with fields changed, as the model accepts it."""
    return Trace.model_validate({**dict(AGREED), **changes})


@pytest.mark.parametrize(
    ("ending", "outcome", "found"),
    [
        (Ending.SCIENTIST_ACCEPTED, Outcome.NO_DEAL, "Agreed"),
        (Ending.SCIENTIST_ACCEPTED, Outcome.FALSE_AGREEMENT, "Agreed"),
        (Ending.WALKED_AWAY, Outcome.AGREED, "No deal"),
        (Ending.OUT_OF_ROUNDS, Outcome.FALSE_AGREEMENT, "No deal"),
    ],
)
def test_outcome_that_the_last_round_does_not_bear_out_is_said(
    ending: Ending, outcome: Outcome, found: str
) -> None:
    assert AGREED.outcome is Outcome.AGREED
    verdict = outcome_verdict(edited(ending=ending, outcome=outcome), BOOKED)
    assert verdict.title == "Contradicts itself"
    assert f"{ending} in round 2, and that would be '{found}'." in verdict.text


def test_no_deal_over_a_plan_that_passes_says_so() -> None:
    trace = edited(ending=Ending.WALKED_AWAY, outcome=Outcome.NO_DEAL)
    text = outcome_verdict(trace, BOOKED).text
    assert text.startswith("No deal after round 2: the Scientist walked away; the last plan was ")
    assert ", and all seven dimensions pass; " in text


def test_negotiation_left_open_over_a_plan_that_passes_says_so() -> None:
    text = outcome_verdict(edited(ending=None, outcome=None), BOOKED).text
    assert text.startswith("Round 3 of 9: on the table is the plan of ")
    assert text.endswith(", and all seven dimensions pass.")


def test_negotiation_left_open_after_its_last_round_names_no_round_to_come() -> None:
    setup = AGREED.setup.model_copy(update={"max_rounds": 2})
    text = outcome_verdict(edited(setup=setup, ending=None, outcome=None), BOOKED).text
    assert text.startswith("After round 2 of 2: on the table is ")


def test_rounds_after_an_ending_are_told_without_an_offer() -> None:
    trace = edited(rounds=[*AGREED.rounds, *AGREED.rounds], ending=None, outcome=None)
    assert outcome_verdict(trace, BOOKED).text.startswith("Round 5 of 9: on the table is ")


def test_plan_whose_check_was_taken_out_is_checked_again() -> None:
    last = AGREED.rounds[-1].model_copy(update={"check": None})
    rounds = [*AGREED.rounds[:-1], last]
    trace = edited(rounds=rounds, ending=Ending.WALKED_AWAY, outcome=Outcome.NO_DEAL)
    assert "the last plan was " in outcome_verdict(trace, BOOKED).text
