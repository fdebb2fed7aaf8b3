"""The environment: Gymnasium's own check, rewards by the order of plans, and paired players."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from math import inf
from random import Random

import pytest
from gymnasium.utils.env_checker import check_env
from scipy.stats import ttest_rel

from replicalab.api import run_batch
from replicalab.environment import NegotiationEnv, PairedComparison, PlayedCase, compare_players
from replicalab.errors import ArgumentError, NegotiationError
from replicalab.facts.blocks import Table
from replicalab.facts.score_facts import regret_panel
from replicalab.models import ACCEPT_ACTION, ScientistAction, ScientistObservation
from replicalab.negotiation import AUTOMATIC, ScientistKind, negotiate, score
from replicalab.negotiation.batch import in_pairs
from replicalab.negotiation.case import Case
from replicalab.planner import Rank, rank
from replicalab.scenarios import load_scenario
from tests.tiers import EVERY_LAB

WITHOUT = """
import sys
sys.modules["gymnasium"] = None
from replicalab.environment import NegotiationEnv
env = NegotiationEnv("psy_stroop")
seen, info = env.reset(seed=3)
assert seen in env.observation_space
env.action_space.seed(1)
rewards = [env.step(env.action_space.sample())[1:3] for _ in range(1)]
print(seen.round_number, rewards)
"""


@pytest.mark.parametrize("lab_manager", ["reference", "least_loss"])
def test_gymnasium_accepts_the_environment(lab_manager: str) -> None:
    env = NegotiationEnv("fin_momentum", "hard", lab_manager=lab_manager)
    check_env(env, skip_render_check=True)  # it draws nothing


def test_environment_works_without_gymnasium() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("0 [(")


@pytest.mark.parametrize(("study", "lab"), EVERY_LAB)
def test_reward_is_minus_the_regret_at_the_end(study: str, lab: str) -> None:
    pack = load_scenario(study, lab, 2)
    for scientist in AUTOMATIC - {ScientistKind.STEP_BY_STEP}:
        run = negotiate(Case.of(pack, scientist=scientist).setup(pack), pack)
        env = NegotiationEnv(study, lab)
        seen, _ = env.reset(seed=2)
        for done in run.rounds:
            assert seen in env.observation_space
            seen, reward, has_ended, is_cut, info = env.step(done.action)
            assert is_cut is False
            assert has_ended is (done is run.rounds[-1])
            assert reward == (-score(run).regret if has_ended else 0)
        assert (info["outcome"], info["answer"]) == (run.outcome, run.rounds[-1].answer)


@pytest.mark.parametrize("study", ["psy_stroop", "eco_reef_fish", "phys_millikan"])
def test_reward_follows_the_order_of_plans(study: str) -> None:
    env, chance = NegotiationEnv(study), Random(1)
    original = env.negotiation.pack.reference_protocol
    env.action_space.seed(chance.randrange(99))
    ranked: list[tuple[Rank, float]] = []
    while len(ranked) < 40:
        env.reset()
        env.step(env.action_space.sample())
        if env.negotiation.ending is None:
            _, reward, *_ = env.step(ACCEPT_ACTION)
            if plan := env.negotiation.final_plan:
                ranked.append((rank(plan, original), reward))
    ranked.sort(key=lambda pair: pair[0])
    rewards = [reward for _, reward in ranked]
    assert rewards == sorted(rewards, reverse=True)
    assert len({*rewards}) > 3


def test_seed_chooses_the_lab() -> None:
    env = NegotiationEnv("psy_stroop", "hard", own={"budget": 777})
    for seed, wanted in ((3, 3), (None, 3), (0, 0)):
        env.reset(seed=seed)
        pack = env.negotiation.pack
        assert (pack.seed, pack.lab.budget) == (wanted, 777)


def accepting(seen: ScientistObservation) -> ScientistAction | None:
    return ACCEPT_ACTION if seen.suggested_protocol else None


def test_players_are_compared_pair_by_pair() -> None:
    compared = compare_players("direct", "baseline", "psy_stroop", seeds=range(4))
    assert [case[:3] for case in compared.cases[:5]] == [
        *(("psy_stroop", "easy", seed) for seed in range(4)),
        ("psy_stroop", "medium", 0),
    ]
    first, second = ([case[place] for case in compared.cases] for place in (3, 4))
    wanted = ttest_rel(first, second).confidence_interval(0.95)
    assert compared.interval == pytest.approx((wanted.low, wanted.high), rel=1e-9)
    assert compared.mean == pytest.approx(sum(compared.differences) / 12)
    for player, rewards in (("direct", first), ("baseline", second)):
        for case, reward in zip(compared.cases, rewards, strict=True):
            pack = load_scenario(*case[:3])
            run = negotiate(Case.of(pack, scientist=player).setup(pack), pack)
            assert reward == -score(run).regret
    with ThreadPoolExecutor(2) as pool:
        again = compare_players("direct", "baseline", "psy_stroop", seeds=range(4), executor=pool)
    assert again == compared


def test_batch_pairs_each_player_with_the_first() -> None:
    results = run_batch("psy_stroop", seeds=range(4), scientists=["direct", "baseline"]).results
    compared = compare_players("direct", "baseline", "psy_stroop", seeds=range(4))
    assert in_pairs(results)[ScientistKind.BASELINE] == compared.differences
    *_, table = regret_panel(results).blocks
    assert isinstance(table, Table)
    ends = " to ".join(f"{end:+.2f}" for end in compared.interval)
    assert [row[3].text for row in table.rows] == ["–", f"{compared.mean:+.2f} ({ends})"]


def test_function_is_a_player() -> None:
    compared = compare_players(accepting, lambda _: None, "psy_stroop", labs=["medium"])
    [(_, _, _, first, second)] = compared.cases
    assert first == second < 0, "both leave, though a plan reaches the target"
    assert compared.interval == (-inf, inf)
    assert PairedComparison((PlayedCase("s", "easy", 0, 1.0, 1.0),) * 3).interval == (0.0, 0.0)


def test_bad_arguments_are_named() -> None:
    env = NegotiationEnv("psy_stroop")
    with pytest.raises(ArgumentError, match="'accept' is no action; use a ScientistAction or None"):
        env.step("accept")  # type: ignore[arg-type]
    env.step(None)
    with pytest.raises(NegotiationError, match="has ended, the Scientist walked away; reset it"):
        env.step(None)
    for wrong in ({"lab": "soft"}, {"lab_manager": "person"}, {"max_rounds": 0}):
        with pytest.raises(ArgumentError, match=next(iter(wrong))):
            NegotiationEnv("psy_stroop", **wrong)
    with pytest.raises(ArgumentError, match="no case is named"):
        compare_players("direct", "baseline", [])
    with pytest.raises(ArgumentError, match="scientist"):
        compare_players("wise", "baseline", "psy_stroop")
