"""What the curves of power analysis say: titles, what they assume, and their numbers."""

from __future__ import annotations

from collections.abc import Iterator

from replicalab.assessment import assess
from replicalab.models import revise
from replicalab.planner.curves import Curves
from replicalab.scenarios import Design, DesignKind, Difficulty, list_scenarios, load_scenario
from replicalab.views.curves import (
    assumed_text,
    bound_text,
    effect_rows,
    effect_title,
    level_text,
    needed_title,
    outside_text,
    samples_rows,
    samples_title,
)
from tests.factories import make_pack, make_protocol
from tests.golden import assert_golden
from tests.measures.designs import design_of


def of_kind(design: Design) -> Curves:
    return Curves(assess(make_protocol(sample_size=152), make_pack(design=design)))


def said(found: Curves) -> Iterator[str]:
    yield samples_title(found)
    yield assumed_text(found)
    if found.effects:
        yield effect_title(found)
        yield needed_title(found)
        yield outside_text(found)
    yield bound_text(found)
    yield level_text(found)


def test_curves_are_told_as_the_golden_file_has_them() -> None:
    shipped = {
        study.scenario_id: load_scenario(study.scenario_id, Difficulty.MEDIUM)
        for study in list_scenarios()
    }
    found = {name: Curves(assess(p.reference_protocol, p)) for name, p in shipped.items()}
    found |= {
        f"{kind}, 15 % dropout": of_kind(design_of(kind, dropout=0.15)) for kind in DesignKind
    }
    told = ("\n".join([f"# {name}", *filter(None, said(each))]) for name, each in found.items())
    assert_golden("curves", "\n\n".join(told))


def test_tables_tell_the_samples_planned_and_analysed_and_the_evidence_of_each_effect() -> None:
    found = of_kind(design_of(DesignKind.TWO_GROUP, dropout=0.15, effect_planning=0.5))
    yours, target, largest, *rest = samples_rows(found)
    assert yours == ("152", "129", "0.805", "your plan")
    assert target[:2] == ("151", "128")
    assert largest[3] == "the most that fit this lab"
    assert all(int(c.replace(",", "")) <= int(n.replace(",", "")) for n, c, *_ in rest)
    assert 8 <= len(rest) <= 13
    asked = of_kind(design_of(DesignKind.TWO_GROUP, effect_planning=0.5, sesoi=0.4))
    rows = {row[3]: row[:3] for row in effect_rows(asked)}
    assert rows["planned"] == ("0.5", "0.86", "128")
    assert rows["smallest of interest"] == ("0.4", "0.69", "199")


def test_table_over_samples_tells_how_many_of_them_can_count_and_why() -> None:
    reef = load_scenario("eco_reef_fish", Difficulty.EASY)
    found = Curves(assess(revise(reef.reference_protocol, sample_size=400), reef))
    told = samples_rows(found)
    assert told[0] == ("400", "160", "0.88", "your plan")
    assert ("160", "160", "0.88", "the most that can count: no more exist") in told
    assert all(int(analysed) == min(int(n), 160) for n, analysed, *_ in told)
    assert bound_text(found) == "No more than 160 samples can count: no more exist."


def test_plan_of_too_few_days_is_told_what_would_do() -> None:
    ego = load_scenario("psy_ego_depletion", Difficulty.MEDIUM)
    found = Curves(assess(ego.reference_protocol, ego))
    assert bound_text(found) == (
        "No more than 240 samples can count: 20 a day, 12 days. "
        "329 samples in 17 days would reach the target."
    )
    short = Curves(assess(revise(ego.reference_protocol, duration_days=2), ego))
    assert samples_title(short).startswith("None reaches target 0.80")
    assert {worth for _, _, worth, _ in samples_rows(short)} == {"no evidence"}
    assert {worth for _, worth, *_ in effect_rows(short)} == {"no evidence"}
    assert bound_text(short) == (
        "The study's endpoint needs 3 days, and the plan has 2. "
        "329 samples in 17 days would reach the target."
    )
