"""Trade-offs: verdicts on the frontier, titles of the region, and one golden file."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

import pytest

from replicalab.assessment import AssumedEffect, assess
from replicalab.facts import frontier_facts
from replicalab.facts.blocks import Fact, Status
from replicalab.facts.change_facts import no_evidence_text
from replicalab.facts.region_facts import limit_facts, point_facts, region_facts, region_title
from replicalab.models import Protocol
from replicalab.planner import BetterPlans, PlanAnalysis, least_to_draw, plan_to_draw
from replicalab.planner.region import region
from replicalab.scenarios import Pack, load_scenario
from tests.factories import make_pack, make_protocol, make_throughput, with_means
from tests.facts.labs import LONE
from tests.golden import assert_golden

MOMENTUM: Final = ("fin_momentum", "medium")
MYELOMA: Final = ("bio_jq1_myeloma", "hard")
SUZUKI: Final = ("chem_suzuki_ppb", "hard")
REEF: Final = ("eco_reef_fish", "medium")


def opened(place: tuple[str, str], samples: int | None = None, days: int = 0) -> PlanAnalysis:
    pack = load_scenario(*place)
    options = PlanAnalysis(assess(pack.reference_protocol, pack))
    return options if samples is None else PlanAnalysis(plan_to_draw(options).at(days, samples))


def inexact(options: PlanAnalysis) -> PlanAnalysis:
    analysis = PlanAnalysis(options.yours)
    analysis.__dict__["frontier"] = replace(options.frontier, exact=False)
    analysis.__dict__["least"] = replace(options.least, exact=False)
    return analysis


def too_dear() -> PlanAnalysis:
    plan = make_protocol(sample_size=4, duration_days=2)
    analysis = PlanAnalysis(assess(plan, make_pack(budget=540.0)))
    assert analysis.yours.feasible
    assert analysis.least.plan == plan
    return analysis


# One addition buys something, or nothing is needed.
EXTRAS: Final = (MOMENTUM, REEF, ("ml_rl_seeds", "hard"), SUZUKI, ("psy_stroop", "easy"))
STANDINGS: Final = {
    "beaten in credits": (
        opened(("bio_jq1_myeloma", "easy")), Status.CAUTION, "Off the frontier"
    ),
    "beaten": (opened(MOMENTUM, 150, 6), Status.CAUTION, "Off the frontier"),
    "unbeaten": (opened(MOMENTUM, 161, 3), Status.PASS, "On the frontier"),
    "unbeaten, not proven": (
        inexact(opened(MOMENTUM, 161, 3)), Status.CAUTION, "On the frontier, not proven"
    ),
    "does not fit": (opened(MOMENTUM), Status.FAIL, "Does not fit"),
    "does not fit, least loss as good": (
        opened(("psy_stroop", "medium")), Status.FAIL, "Does not fit"
    ),
    "does not fit, nor shows": (opened(MOMENTUM, 320, 2), Status.FAIL, "Does not fit"),
    "fits, shows nothing": (opened(MOMENTUM, 50, 2), Status.FAIL, "No evidence"),
    "nothing fits": (opened(SUZUKI), Status.FAIL, "Nothing fits"),
    "nothing shows": (opened(MYELOMA), Status.FAIL, "Nothing fits"),
    "nothing shows, yours fits": (opened(MYELOMA, 12, 14), Status.FAIL, "Nothing fits"),
    "nothing fits in the days that show, yours fits": (too_dear(), Status.FAIL, "Nothing fits"),
}  # fmt: skip


@pytest.mark.parametrize("case", STANDINGS)
def test_verdict_follows_the_frontier(case: str) -> None:
    options, status, title = STANDINGS[case]
    verdict = frontier_facts.standing_verdict(options)
    assert (verdict.status, verdict.title) == (status, title)
    unbeaten = options.yours.feasible and bool(options.frontier.plans)
    unbeaten = unbeaten and options.frontier.standing(options.yours) == BetterPlans()
    assert unbeaten == (title in ("On the frontier", "On the frontier, not proven", "No evidence"))
    if title == "Off the frontier":
        assert all(
            options.yours.feasible <= plan.feasible
            for plan in frontier_facts.better_plans(options).values()
        )


def title(pack: Pack, plan: Protocol | None = None) -> str:
    yours = assess(plan or pack.reference_protocol, pack)
    options = PlanAnalysis(yours)
    return region_title(region(plan_to_draw(options), [yours, options.least.after]))


@pytest.mark.parametrize(
    ("lab", "span"),
    [
        # 5,000 credits less 50 for controls, 350 for items and 50 a day, at 10 a sample.
        ({}, "up to 445 samples, 3 to 20 days"),
        ({"days": 80}, "up to 445 samples, 3 to 80 days"),
        # With 3 samples, one beside the controls, (4,600 - 30) / 50 days.
        ({"days": 200}, "up to 445 samples, 3 to 91 days"),
        ({"days": 200, "min_days": 75}, "up to 85 samples, 75 to 91 days"),
        # 5 a day: 46 days count 230 samples, for 46 × 50 + 2,300 = 4,600 credits.
        (
            {"days": 200, "samples_per_day": make_throughput(value=5)},
            "up to 230 samples, 3 to 91 days",
        ),
        ({"days": 200, "min_days": 92}, ""),
        ({"budget": 400.0}, None),
    ],
)
def test_title_covers_long_labs(lab: dict[str, Any], span: str | None) -> None:
    text = title(make_pack(**lab), make_protocol(duration_days=3))
    if span is None:
        assert text == "No plan with these items and controls fits this lab"
    else:
        none = "No plan that fits with these items and controls has evidence"
        assert text == (f"Feasible, all analysed: {span}" if span else none)


def test_trade_off_sentences() -> None:
    assert_golden("tradeoffs", "\n".join(_lines()))


def _rows(name: str, facts: Iterable[Fact]) -> Iterator[str]:
    for fact in facts:
        yield " | ".join(filter(None, (name, fact.label, fact.shown, fact.note)))


def _lines() -> Iterator[str]:
    momentum, reef, myeloma = opened(MOMENTUM), opened(REEF), opened(MYELOMA)
    for case, (options, _, _) in STANDINGS.items():
        yield f"{case}: {frontier_facts.standing_verdict(options).text}"
        for name, plan in frontier_facts.better_plans(options).items():
            yield f"  {name}: {plan.size_text}, {plan.evidence.text}"
    for place in EXTRAS:
        yield from _rows(" ".join(place), frontier_facts.extra_facts(opened(place)))
    yield from map(frontier_facts.given_up_text, (reef.yours, reef.least.after))
    tight = assess(opened(MOMENTUM, 300, 3).yours.plan, with_means(momentum.yours.pack, days=3))
    for options in (momentum, PlanAnalysis(tight), myeloma, opened(SUZUKI), reef):
        drawn = plan_to_draw(options)
        outside, draw = [("your plan", 1633)], least_to_draw(options, drawn)
        yield from _rows("region", region_facts(drawn, options.yours, None, outside, draw))
    for days, samples in ((3, 161), (2, 161)):
        yield from _rows(
            "point",
            point_facts(plan_to_draw(momentum).at(days, samples), AssumedEffect("halved", 0.1)),
        )
    for pack in (momentum.yours.pack, LONE):
        yield from _rows("limit", limit_facts(pack).values())
    yield from map(no_evidence_text, (myeloma, too_dear()))
