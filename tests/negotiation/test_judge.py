"""The judge: what a finished plan is worth against the hidden reference, heard by no agent."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.agents.scientist_policy import (
    build_scientist_system_prompt,
    format_scientist_observation,
)
from replicalab.errors import NegotiationError
from replicalab.models import Protocol
from replicalab.negotiation import (
    AUTOMATIC,
    Judgement,
    LabManagerKind,
    ScientistKind,
    judge,
    observe,
)
from replicalab.scenarios import Pack, load_scenario
from tests.factories import make_hidden_reference, make_pack, make_protocol, with_means
from tests.negotiation.playing import (
    CANARY_PACK,
    FLAMING,
    OPEN,
    PLAN,
    STUCK,
    by_person,
    by_rule,
    propose,
)
from tests.strategies import openings, studied_packs

REQUIRED = ["randomised trays", "blinded counting", "a second site", "temperature log"]
KNOWING = make_pack(hidden_reference_spec=make_hidden_reference(required_elements=REQUIRED))
"""The plan's rationale has the first two of the four elements."""


def judged(pack: Pack, plan: Protocol = PLAN, rounds: int = 5) -> Judgement:
    found = judge(by_rule(pack, plan, rounds))
    assert found is not None
    return found


def test_reward_of_an_agreement_is_rigor_times_feasibility_times_fidelity() -> None:
    # Forty in two groups at d = 0.9: power 0.79204 (SciPy's noncentral t), of a target of 0.80;
    # nothing fails, nothing is substituted or dropped; half the required elements are there.
    found = judged(KNOWING)
    assert found.agreed
    assert (found.required, found.coverage) == (4, 0.5)
    assert found.missing == ("a second site", "temperature log")
    assert found.attained == pytest.approx(0.79204 / 0.8, abs=1e-4)
    assert found.rigor == pytest.approx(0.5 * 0.79204 / 0.8, abs=1e-4)
    assert (found.feasibility, found.fidelity) == (1.0, 1.0)
    assert found.reward == pytest.approx(0.49503, abs=1e-4)


def test_feasibility_is_the_share_of_the_seven_that_pass() -> None:
    # A chamber that nothing may replace fails both equipment and the plan on paper.
    found = judged(STUCK, rounds=2)
    assert len(found.plan.failing) == 2
    assert found.feasibility == pytest.approx(5 / 7)
    # A false agreement is an agreement, over a plan that fails.
    assert found.reward > 0
    assert found.reward == pytest.approx(found.rigor * 5 / 7)
    none = judged(STUCK, rounds=1)
    assert (none.agreed, none.rigor > 0, none.reward) == (False, True, 0)


def test_precision_attained_is_the_target_over_the_half_width() -> None:
    pack = load_scenario("phys_millikan", "easy")
    found = judged(pack, pack.reference_protocol)
    assert found.attained == 1.0, "58 drops: 1.29 %, better than the target of 1.50 %"
    weaker = judged(pack, pack.reference_protocol.model_copy(update={"sample_size": 29}))
    # 1.96 × 0.05 / √29 = 0.01820
    assert weaker.attained == pytest.approx(0.015 / 0.0182, abs=1e-3)


def test_parts_at_their_bounds() -> None:
    dropped = judged(OPEN, make_protocol(controls=["dark control"]))
    assert dropped.fidelity == 0.5, "one is dropped"
    assert dropped.reward == pytest.approx(dropped.rigor * 0.5)
    assert judged(OPEN, make_protocol(duration_days=2)).reward == 0, "no evidence at all"
    pack = make_pack(hidden_reference_spec=make_hidden_reference(required_elements=[]))
    assert judged(pack).coverage == 1.0, "nothing is required"


def test_judge_waits_for_the_end_and_has_nothing_to_say_of_no_plan() -> None:
    assert judge(by_person(OPEN, None)) is None
    for going_on in (by_person(STUCK), by_person(STUCK, propose(PLAN))):
        with pytest.raises(NegotiationError, match="the negotiation is not finished; a judge "):
            judge(going_on)


@given(studied_packs(), openings(), st.integers(1, 5))
def test_reward_is_a_share(pack: Pack, opening: Protocol | None, rounds: int) -> None:
    found = judge(by_rule(pack, opening, rounds))
    assert found is not None
    assert 0 <= found.reward <= min(found.rigor, found.feasibility, found.fidelity) <= 1


# --- never to an agent ----------------------------------------------------------------------


@pytest.mark.parametrize("scientist", sorted(AUTOMATIC))
@pytest.mark.parametrize("lab_manager", LabManagerKind)
@pytest.mark.parametrize("plan", [PLAN, FLAMING])
@pytest.mark.parametrize("budget", [CANARY_PACK.lab.budget, 600.0])
def test_no_agent_ever_hears_of_the_hidden_reference(
    scientist: ScientistKind, lab_manager: LabManagerKind, plan: Protocol, budget: float
) -> None:
    pack = with_means(CANARY_PACK, budget=budget)
    negotiation = by_rule(pack, plan, 5, scientist, lab_manager)
    heard = [build_scientist_system_prompt(pack)]
    for number, done in enumerate(negotiation.rounds):
        seen = observe(negotiation.state_before(number), pack)
        heard += [seen.model_dump_json(), format_scientist_observation(seen), done.reason]
        heard += done.action.questions if done.action else []
        heard += [done.answer.explanation] if done.answer else []
    assert not any("canary" in text for text in heard)
    found = judge(negotiation)
    assert found is not None
    assert found.missing == ("canary-two",), "the canary is dead"
