"""The most robust plan over three worlds against every plan of small labs, tried one by one."""

import re
from collections.abc import Sequence
from math import isfinite
from random import Random
from typing import Any, Final

import pytest

from replicalab.answers import Registration
from replicalab.api import report
from replicalab.assessment import Assessment, assess
from replicalab.errors import ArgumentError
from replicalab.facts.score_facts import robust_text
from replicalab.features.break_even import Assumption, robust_plan, values_in
from replicalab.models import Protocol
from replicalab.negotiation.case import on_the_shelf
from replicalab.scenarios import Pack, list_scenarios
from replicalab.ui.workspace import from_query
from tests.features.test_break_even import assess_in, changed
from tests.planner.brute_force import Place, Tried, ranked, tried
from tests.planner.small_labs import analysed, shipped, small_lab
from tests.tiers import FEW_LABS, batches
from tests.ui.acting import number, press, run, type_number
from tests.ui.pages import PROTOCOL
from tests.ui.reading import alerts, page_text
from tests.ui.walking import query_of, visit

TERMS: Final = 11
SEARCHED: Final = {study.scenario_id for study in list_scenarios()} - {
    *("fin_momentum", "psy_ego_depletion")  # too many plans
}
DIGITS: Final = 9
TYPED: Final = Registration(worlds={"grim": {"budget": 500.0}})


def pack_of(plan: Assessment, values: dict[str, Assumption]) -> Pack:
    """Return a world through the changes that a visitor makes."""
    for key, row in values.items():
        plan = changed(plan, key, row.now)
    return plan.pack


def regret(mine: Place, best: Place) -> float:
    for place, (value, least) in enumerate(zip(mine, best, strict=True)):
        if value != least:
            gap = float(value - least)
            return TERMS - 1 - place + (gap / (1 + gap) if isfinite(gap) else 1.0)
    return 0.0


class ByHand:
    """The regrets of plans in some worlds, from the ranks of all plans."""

    def __init__(self, original: Protocol, packs: Sequence[Pack]) -> None:
        self.original, self.packs = original, packs
        self.grids = [{key(one): of(one) for one in tried(original, pack)} for pack in packs]
        self.plans = {key(one): one for pack in packs for one in tried(original, pack)}
        self.best = []
        for pack, grid in zip(packs, self.grids, strict=True):
            options = analysed(original, pack)
            theirs = [self.seen(options.yours), self.seen(options.offered)]
            self.best.append(min([*theirs, *grid.values()]))

    def seen(self, plan: Assessment) -> tuple[Place, bool]:
        is_void = plan.evidence.void_reason is not None
        return ranked(plan, self.original), bool(plan.failing) or is_void

    def regrets(self, plan: Protocol, one: Tried | None = None) -> list[float]:
        """Return the regrets of a plan, the largest first."""
        regrets = []
        for pack, grid, (best, none_passes) in zip(self.packs, self.grids, self.best, strict=True):
            is_long = plan.duration_days > pack.lab.days_left
            value = (best, True) if is_long else one and grid.get(key(one))
            mine, is_lost = value or self.seen(assess(plan, pack))
            most = 0.0 if none_passes else float(TERMS)
            regrets.append(most if none_passes or is_lost else regret(mine, best))
        return sorted(regrets, reverse=True)


def key(one: Tried) -> tuple[str, int, int]:
    return repr(one.worded), one.samples, one.days


def of(one: Tried) -> tuple[Place, bool]:
    return one.rank, bool(one.failing) or one.void


def assert_best(plan: Assessment, **given: Any) -> None:
    robust = robust_plan(plan, **given)
    hand = ByHand(plan.plan, [pack_of(plan, world) for world in values_in(robust).values()])
    mine = hand.regrets(robust.plan.plan)
    assert robust.exact
    assert sorted(robust.regrets(robust.plan).values(), reverse=True) == pytest.approx(mine)
    rounded = [round(number, DIGITS) for number in mine]
    for one in hand.plans.values():
        assert rounded <= [round(number, DIGITS) for number in hand.regrets(one.plan(), one)], one


@pytest.mark.parametrize("seeds", batches(5, quick=12, long=10))
def test_robust_plan_is_best_in_small_labs(seeds: range) -> None:
    for seed in seeds:
        chance = Random(f"worlds {seed}")
        numbers: Any = {
            name: {key: chance.randint(1, 5) for key in ("days", "staff") if chance.random() < 0.3}
            for name in ("hopeful", "grim")
        }
        assert_best(assess(*small_lab(seed)), **numbers)


@pytest.mark.long
@pytest.mark.parametrize("study", sorted(SEARCHED))
def test_robust_plan_is_best_in_hard_labs(study: str) -> None:
    assert_best(shipped(study, "hard").yours)


@pytest.mark.parametrize(("study", "lab"), FEW_LABS)
def test_worlds_keep_their_definition(study: str, lab: str) -> None:
    robust = robust_plan(shipped(study, lab).yours)
    assert robust.least.plan == shipped(study, lab).least.plan
    largest = max(robust.regrets(robust.plan).values())
    for name, options in robust.options.items():
        regrets = robust.regrets(options.least.after)
        assert regrets[name] == 0
        assert largest <= max(regrets.values())
    worlds = values_in(robust)
    for key, row in worlds["likely"].items():
        tenth = 0.1 * (1.0 if key in ("dropout", "icc") else abs(row.now))
        step, least = (max(1, round(tenth)), 1) if key in ("days", "staff") else (tenth, 0)
        way = 1 if row.ends[1] > row.ends[0] else -1
        assert worlds["grim"][key].now == pytest.approx(max(least, row.now + way * step))
        assert worlds["hopeful"][key].now == pytest.approx(max(0, row.now - way * step))


def test_users_numbers_replace_the_defaults() -> None:
    plan = assess_in("easy")
    robust = robust_plan(plan, hopeful={"staff": 3}, grim={"budget": 1000, "dropout": 0.2})
    worlds = values_in(robust)
    assert [world["staff"].now for world in worlds.values()] == [3, 2, 1]
    assert [world["budget"].now for world in worlds.values()] == [1870, 1700, 1000]
    assert robust.everywhere(robust.plan)["grim"].cost <= 1000


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"grim": {"budget": 0}}, "grim.budget: 0 is not allowed; give a number of 1 to"),
        ({"grim": {"days": 2.5}}, "grim.days: 2.5 is not allowed; give a whole number of 1 to"),
        ({"hopeful": {"dropout": 1.0}}, "hopeful.dropout: 1.0 is not allowed; give a number of 0"),
        ({"hopeful": {"luck": 1}}, "hopeful.luck: no such assumption; known: effect, dropout"),
        ({"grim": {"effect": float("nan")}}, "grim.effect: nan is not allowed"),
    ],
)
def test_bad_number_is_refused(given: Any, problem: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(problem)):
        robust_plan(assess_in("easy"), **given)


def test_fold_takes_numbers_and_applies_the_plan() -> None:
    app = visit(PROTOCOL, study="psy_stroop", lab="easy")
    assert "most robust plan" not in page_text(app)
    app.session_state["break_even"] = True
    assert "The most robust plan reaches the floor in 3 of 3 worlds" in page_text(run(app))
    type_number(app, "Budget: grim", 2000.0)
    assert "The grim world is better than the hopeful one in 'Budget'." in page_text(app)
    press(app, "Reset the worlds")
    assert number(app, "Budget: grim").value == 1530
    assert "better than the hopeful one" not in page_text(app)
    type_number(app, "Budget: grim", 500.0)
    assert "500 credits" in page_text(app)
    assert from_query(query_of(app), on_the_shelf).workspace.case.registration == TYPED
    type_number(app, "Dropout, %: grim", 120.0)
    refusal = "Dropout, %: grim cannot be 120, so it stays 10 %. Type 0 to 99."
    assert alerts(app)[0].text == refusal
    press(app, "Apply most robust plan")
    robust = robust_plan(assess_in("easy"), **TYPED.worlds)
    assert number(app, "Sample size").value == robust.plan.counts.samples


@pytest.mark.parametrize("kind", ["report", "brief"])
def test_typed_numbers_reach_the_documents(kind: str) -> None:
    plan = assess_in("easy")
    wanted = robust_text(robust_plan(plan, **TYPED.worlds))
    assert wanted in report(plan, kind, answers=TYPED).form("md")
    assert wanted not in report(plan, kind).form("md")


@pytest.mark.parametrize(
    ("study", "lab", "text"),
    [
        ("bio_jq1_myeloma", "hard", "No plan reaches the floor in any of the worlds."),
        (
            "ml_resnet_cifar10",
            "hard",
            "Least loss reaches the floor in 2 of 3 worlds; the most robust plan fits the lab "
            "in 3, but reaches the floor in 0.",
        ),
    ],
)
def test_plan_below_the_floor_is_not_offered(study: str, lab: str, text: str) -> None:
    app = visit(PROTOCOL, study=study, lab=lab)
    app.session_state["break_even"] = True
    assert text in page_text(run(app))
    assert ("Most robust" in page_text(app)) is ("any of the worlds" not in text)
    assert "Apply most robust plan" not in [button.label for button in app.button]
