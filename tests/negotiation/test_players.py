"""The Scientists that follow a rule: their actions and reasons."""

from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab import negotiation as core
from replicalab.assessment import assess
from replicalab.errors import NegotiationError
from replicalab.models import Protocol, ScientistAction, revise
from replicalab.negotiation.players import Choice, choose, is_worth_running
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import Difficulty, EvidenceTier, Pack, load_scenario
from tests.factories import make_constraint, make_pack, make_protocol, with_means
from tests.golden import assert_golden
from tests.negotiation import playing
from tests.strategies import openings, studied_packs
from tests.tiers import EVERY_LAB

DIRECT: Final = core.ScientistKind.DIRECT
LEAST: Final = core.LabManagerKind.LEAST_LOSS
POOR: Final = make_pack(budget=1000, days=30)
"""20 days cost all of it, and the reference Lab Manager halves only the sample."""


def direct(
    pack: Pack,
    opening: Protocol | None = None,
    rounds: int = 5,
    lab_manager: core.LabManagerKind = core.LabManagerKind.REFERENCE,
) -> core.Negotiation:
    return playing.by_rule(pack, opening, rounds, DIRECT, lab_manager)


def choice(pack: Pack, *actions: ScientistAction) -> Choice:
    state = playing.by_person(pack, *actions).state
    return choose(playing.game(pack, scientist=DIRECT), state, pack)


@pytest.mark.parametrize("scientist", sorted(set(core.ScientistKind) - core.AUTOMATIC))
def test_negotiation_by_hand_waits_after_the_opening(scientist: core.ScientistKind) -> None:
    setup = playing.game(playing.BOOKED, scientist=scientist)
    assert core.negotiate(setup, playing.BOOKED).rounds == ()
    with pytest.raises(NegotiationError, match=f"played by a {scientist}, that follows no rule"):
        choose(setup, core.State(0, 5), playing.BOOKED)
    opened = playing.by_rule(playing.BOOKED, playing.PLAN, scientist=scientist)
    assert [playing.plan_of(done) for done in opened.rounds] == [playing.PLAN]
    assert opened.outcome is None


class Row(NamedTuple):
    action: str
    n: int
    days: int
    credits: float
    answer: str


def line(done: core.Round) -> Row:
    assert done.action is not None
    assert done.answer is not None
    assert done.plan is not None
    counts, answer = done.plan.counts, done.answer.action_type.value
    return Row(done.action.action_type.value, counts.samples, counts.days, done.plan.cost, answer)


def test_baseline_on_momentum_medium_round_by_round() -> None:
    # Worked out on paper from the document's rules. Cost: 10 n + 50 days + 450, for 4 controls, 2
    # items and 2 reagents. The lab: 3700 credits, 6 days, 4 people, the terminal booked.
    #  1  420/8: 5050, too dear and too long -> offer 420/6 = 4950 -> 210/6 = 2850
    #  2  210/7: 2900, terminal and days     -> offer 210/6 = 2850
    #  3  105/6: 1800, terminal              -> offer 105/6
    #  4   52/5: 1220, terminal              -> offer  52/5
    #  5  last round: accepts that offer.
    assert [line(done) for done in playing.RULED.rounds] == [
        ("propose_protocol", 420, 8, 5050, "suggest_alternative"),
        ("revise_protocol", 210, 7, 2900, "suggest_alternative"),
        ("revise_protocol", 105, 6, 1800, "suggest_alternative"),
        ("revise_protocol", 52, 5, 1220, "suggest_alternative"),
        ("accept", 52, 5, 1220, "accept"),
    ]
    offers = [done.offer.after.counts for done in playing.RULED.rounds if done.offer]
    assert [(c.samples, c.days) for c in offers] == [(210, 6), (210, 6), (105, 6), (52, 5)]
    assert [done.plan.failing for done in playing.RULED.rounds if done.plan] == [
        ["protocol", "budget", "equipment", "schedule"],
        ["protocol", "equipment", "schedule"],
        ["equipment"],
        ["equipment"],
        [],
    ]
    assert playing.RULED.ending is core.Ending.SCIENTIST_ACCEPTED
    assert playing.RULED.outcome is core.Outcome.AGREED_BELOW_FLOOR
    items = ["research server", "vendor-approved extract on the research server"]
    assert playing.plan_of(playing.RULED.rounds[-1]).required_equipment == items


@pytest.mark.parametrize(("study", "lab"), EVERY_LAB)
def test_baseline_follows_the_documents_rules_everywhere(study: str, lab: str) -> None:
    pack = load_scenario(study, lab)
    plan = pack.reference_protocol
    negotiation = playing.by_rule(pack, plan, 7)
    lines = [line(done) for done in negotiation.rounds]
    minimum = len(plan.controls) + 1
    for earlier, later in pairwise(lines[:-1]):
        assert earlier.answer != "accept"
        assert (later.n, later.days) == (max(earlier.n // 2, minimum), max(earlier.days - 1, 1))
    assert lines[0][:3] == ("propose_protocol", plan.sample_size, plan.duration_days)
    assert pack.expected is not None
    assert lines[0].answer == pack.expected.answer
    if lab == Difficulty.EASY:
        below = pack.expected.verdict is EvidenceTier.BELOW_FLOOR
        outcome = core.Outcome.AGREED_BELOW_FLOOR if below else core.Outcome.AGREED
        assert (len(lines), negotiation.outcome) == (1, outcome)


def test_direct_scientist_with_one_round() -> None:
    # 10 × 295 + 50 × 6 + 450 = 3700, the whole budget.
    negotiation = direct(playing.MEDIUM, rounds=1)
    assert line(negotiation.rounds[0])[1:3] == (295, 6)
    assert negotiation.outcome is core.Outcome.AGREED
    hopeless = direct(playing.HARD, rounds=1)
    assert (playing.acts(hopeless), hopeless.outcome) == (["leaves"], core.Outcome.NO_DEAL)


@pytest.mark.parametrize(
    ("pack", "actions", "expected"),
    [
        (playing.MEDIUM, [], playing.propose(playing.MEDIUM.reference_protocol)),
        # Forty in two groups at d = 0.9 reach power 0.79; one more is enough for the target, 0.80.
        (
            playing.BOOKED,
            [playing.propose(playing.PLAN)],
            playing.revise_to(revise(playing.OFFER, sample_size=41)),
        ),
        # Rejected without an offer. In 3 days 10 n + 150 + 400 leave room for 45 samples, and 41
        # are enough for the target.
        (
            POOR,
            [playing.propose(make_protocol(duration_days=20))],
            playing.revise_to(make_protocol(sample_size=41, duration_days=3)),
        ),
        # Asked in its name, with nothing that the lab could add.
        (
            playing.HARD,
            [playing.propose(playing.HARD.reference_protocol), playing.ask("The budget?")],
            None,
        ),
        # Revised in its name to a plan that is too weak.
        (
            playing.BOOKED,
            [playing.propose(playing.PLAN), playing.revise_to(make_protocol(sample_size=8))],
            playing.revise_to(revise(playing.OFFER, sample_size=41)),
        ),
    ],
    ids=["opens", "goes past the offer", "counters a rejection", "leaves", "comes back"],
)
def test_direct_scientist_chooses(
    pack: Pack, actions: list[ScientistAction], expected: ScientistAction | None
) -> None:
    assert choice(pack, *actions).action == expected


@pytest.mark.parametrize(("wished", "ends"), [(80, 85), (60, 60), (200, 85)])
def test_offer_that_misses_a_soft_constraint_is_refused(wished: int, ends: int) -> None:
    # Halved, the plan fits and meets the target; up to 85 trays would fit.
    wish = make_constraint(bounds="samples", comparator=">=", quantity=wished, hard=False)
    plan = make_protocol(sample_size=120)
    pack = make_pack(constraints=[wish], reference_protocol=plan, budget=1500.0, min_days=5)
    played = playing.by_rule(pack, plan, scientist=core.ScientistKind.DIRECT)
    assert played.outcome is core.Outcome.AGREED
    assert played.final_plan is not None
    assert played.final_plan.plan.sample_size == ends


def test_direct_scientist_asks_once_then_leaves() -> None:
    negotiation = direct(playing.HARD, playing.HARD.reference_protocol)
    assert playing.acts(negotiation) == ["propose_protocol", "request_info", "leaves"]
    assert playing.said_in(negotiation.rounds[1]) == "Budget: 1,500 credits remain."
    assert negotiation.ending is core.Ending.WALKED_AWAY
    assert negotiation.outcome is core.Outcome.NO_DEAL
    # It asks for 1,335. Checked in labs made so: 1500 + 1335 credits are enough, one less is not.
    for budget, expected in ((2835.0, True), (2834.0, False)):
        lab = with_means(playing.HARD, budget=budget)
        outcome = direct(lab, playing.HARD.reference_protocol).outcome
        assert (outcome is core.Outcome.AGREED) is expected


def test_direct_scientist_asks_only_if_it_helps() -> None:
    negotiation = direct(playing.HARD, playing.HARD.reference_protocol, rounds=2)
    assert playing.acts(negotiation) == ["propose_protocol", "leaves"]
    assert not negotiation.rounds[1].reason.startswith("The lab adds nothing")
    # Twelve units at d = 0.3 have power below 0.10, so no sample reaches the floor of 0.50.
    design = playing.OPEN.design.model_copy(update={"population_max": 12, "effect_planning": 0.3})
    poor = make_pack(budget=1, design=design, reference_protocol=playing.SMALL)
    result = choice(poor, playing.propose(playing.SMALL))
    assert result.action is None
    assert result.reason.endswith("No single addition to the lab gives a plan worth running.")


@given(
    studied_packs(),
    st.none() | openings(),
    st.integers(1, 6),
    st.sampled_from(core.RULED_LAB_MANAGERS),
)
def test_direct_scientist_never_agrees_falsely(
    pack: Pack, opening: Protocol | None, rounds: int, manager: core.LabManagerKind
) -> None:
    negotiation = direct(pack, opening, rounds, manager)
    assert negotiation.outcome is not core.Outcome.FALSE_AGREEMENT
    if negotiation.outcome is core.Outcome.AGREED_BELOW_FLOOR:
        assert [playing.plan_of(done) for done in negotiation.rounds] == [opening]
    assert all(done.reason for done in negotiation.rounds)
    assert playing.acts(negotiation).count("request_info") <= 1
    assert len(negotiation.rounds) <= min(rounds, 4)
    assert "request_info" not in playing.acts(negotiation)[-1:]


def test_best_options_fall_back_to_the_reference_protocol() -> None:
    plan = assess(make_protocol(technique="another technique"), playing.OPEN)
    analysis = core.best_options(PlanAnalysis(plan), playing.OPEN)
    assert is_worth_running(analysis.least.after)
    assert analysis.least.plan.technique == "another technique"
    for options in (None, PlanAnalysis(assess(playing.FLAMING, playing.OPEN))):
        best = core.best_options(options, playing.OPEN).yours.plan
        assert best == playing.OPEN.reference_protocol
    # In 600 credits the plan with the flame fails more than the reference protocol does.
    poor = make_pack(budget=100, days=5)
    hopeless = core.best_options(PlanAnalysis(assess(playing.FLAMING, poor)), poor)
    assert not is_worth_running(hopeless.least.after)
    assert hopeless.yours.plan == poor.reference_protocol
    assert core.best_options(hopeless, poor) is hopeless, "it is judged already"


def test_reasons_in_words() -> None:
    suzuki = load_scenario("chem_suzuki_ppb", "hard")
    millikan = load_scenario("phys_millikan", "medium")
    fish, fewer = (load_scenario("eco_reef_fish", lab) for lab in ("medium", "hard"))
    played = {
        "baseline": playing.by_rule(playing.MEDIUM, playing.MEDIUM.reference_protocol, 3),
        "baseline, its own plan": playing.by_rule(playing.OPEN),
        "baseline, a report": playing.by_rule(playing.OPEN, playing.FLAMING),
        "direct": direct(playing.MEDIUM),
        "direct, one round": direct(playing.MEDIUM, rounds=1),
        "direct, least loss": direct(
            playing.MEDIUM, playing.MEDIUM.reference_protocol, lab_manager=LEAST
        ),
        "direct, hopeless": direct(playing.HARD),
        "direct, an item": direct(suzuki),
        "direct, half-width": direct(millikan, millikan.reference_protocol),
        "direct, fidelity": direct(fish, fish.reference_protocol),
        "direct, everything": direct(fewer),
        "direct, rejected": direct(POOR, make_protocol(duration_days=20)),
    }
    texts = []
    for name, negotiation in played.items():
        texts.append(name)
        for does, done in zip(playing.acts(negotiation), negotiation.rounds, strict=True):
            request = done.action.questions if done.action else []
            texts.append(" ".join([f"{does}: {done.reason}", *request]))
        texts.append("")
    assert_golden("negotiation#reasons", "\n".join(texts).rstrip())


def test_proofs_in_words() -> None:
    millikan = with_means(load_scenario("phys_millikan", "hard"), budget=750.0)
    labs = {
        "an item missing": (playing.STUCK, playing.PLAN),
        "an item missing, and too few days": (with_means(playing.STUCK, days=2), playing.PLAN),
        "too weak": (playing.HARD, playing.HARD.reference_protocol),
        "a half-width": (millikan, millikan.reference_protocol),
        "the endpoint out of reach": (make_pack(days=2), playing.SHORT),
    }
    texts = []
    for name, (pack, plan) in labs.items():
        best = core.best_options(PlanAnalysis(assess(plan, pack)), pack).least
        assert not is_worth_running(best.after)
        texts.append(f"{name}: {core.best_text(best)}")
        texts.append(f"{name}, not all searched: {core.best_text(replace(best, exact=False))}")
    assert_golden("negotiation#proofs", "\n".join(texts))
