"""Interim looks in words: a sentence, a row for each analysis, and where else they are told."""

from __future__ import annotations

import re
from datetime import date
from typing import Any, Final, cast

from replicalab import api
from replicalab.assessment import Assessment, assess
from replicalab.cli import facts
from replicalab.comparison import Side
from replicalab.planner import PlanAnalysis
from replicalab.planner.looks import LookedAt, LooksPlan, NoLooks, looked_at, with_looks
from replicalab.reports import brief, markdown, report
from replicalab.scenarios import DesignKind, EvidenceAssumptions, LabOverrides, read_looks
from replicalab.scenarios.loading import summary_of
from replicalab.views.check import evidence_panel, header_panel
from replicalab.views.comparison import DIFFERS, comparison_panel, parts
from replicalab.views.looks import (
    FOR_TARGET,
    TITLE,
    analyses_table,
    header_text,
    looked_text,
    looks_panel,
    means_table,
    why_not_text,
)
from replicalab.views.present import decision_slide, plan_slide
from replicalab.views.study import card_panel
from tests.factories import change_pack, make_design, make_pack, make_protocol, make_throughput
from tests.golden import assert_golden
from tests.measures.designs import design_of
from tests.planner.test_looks import ORIGINAL, REFUSED
from tests.views.reading import rows, words

SAYS: Final = (
    "On average 116 in place of 128 samples if the effect is there, 130 if there is none; at worst "
)


def looked(
    text: str = "obrien_fleming:1",
    design: dict[str, Any] | None = None,
    samples: int | None = None,
    planned_days: int | None = None,
    **lab: Any,
) -> Assessment:
    """Return a plan of d = 0.5 in a lab that does 20 samples a day, with looks."""
    written = make_design(**{"effect_planning": 0.5, **(design or {})})
    pack = make_pack(design=written, samples_per_day=make_throughput(), constraints=[])
    asked = EvidenceAssumptions(looks=read_looks(text) if text else None)
    sized = {"sample_size": samples, "duration_days": planned_days}
    plan = make_protocol(**{name: n for name, n in sized.items() if n is not None})
    return assess(plan, change_pack(pack, **lab).with_own(LabOverrides(), asked))


def test_sentence_says_what_is_taken_on_average_and_at_worst_and_whether_the_lab_has_it() -> None:
    assert f"{SAYS}130, which this lab can run." in words(looks_panel(looked()))
    poor = words(looks_panel(looked(budget=1900.0)))
    assert f"{SAYS}130, which this lab cannot run: budget fails, 20 samples over." in poor
    few = words(looks_panel(looked(design={"population_max": 129})))
    assert "cannot run: only 129 can count, 1 sample over." in few


def test_each_analysis_is_a_row_with_its_day_and_date() -> None:
    plan = looked(start_date=date(2026, 12, 7), weekends=False, start_day=3)
    found = with_looks(plan)
    assert isinstance(found, LooksPlan)
    heading, first, last = rows(analyses_table(found))
    assert heading[:3] == ["Analysis", "Samples", "Day"]
    assert first[:3] == ["Look 1", "66 (33 a group)", "4 (Mon 14 Dec 2026)"]
    assert last[:3] == ["Final", "130 (65 a group)", "8 (Fri 18 Dec 2026)"]
    assert (first[-1], last[-1]) == ("1,260", "2,100")
    _, *means = rows(means_table(found))
    assert [row[:2] for row in means] == [["Samples", "128"], ["Days", "7"], ["Credits", "2,030"]]
    assert [row[-1] for row in means] == ["130", "8", "2,100"]


def test_time_to_an_event_is_looked_at_after_so_many_events() -> None:
    design = design_of(DesignKind.SURVIVAL, effect_planning=0.5, event_share=0.6)
    found = with_looks(looked(design=dict(design)))
    assert isinstance(found, LooksPlan)
    heading, first, _ = rows(analyses_table(found))
    assert heading[2] == "Events"
    assert first[1:3] == ["56 (28 a group)", "34"]


def test_reason_for_having_no_looks_is_given_with_what_to_do() -> None:
    told = []
    for changes, why in REFUSED:
        pack = make_pack(design=make_design(**changes))
        told.append(f"{why}: {why_not_text(why, pack)}")
    assert {why for _, why in REFUSED} == {*NoLooks}
    assert_golden("looks_refused", "\n".join(dict.fromkeys(told)))


def test_report_has_looks_where_they_are_chosen() -> None:
    day = date(2026, 11, 24)
    titles = [
        [part.title for part in report(PlanAnalysis(plan), on=day).parts if part.blocks]
        for plan in (looked(), looked(""))
    ]
    assert [FOR_TARGET in each for each in titles] == [True, False]


def test_own_plan_is_told_with_its_looks_in_one_sentence() -> None:
    plan = looked(days=7, samples=128, planned_days=7)
    found = looked_at(plan)
    assert isinstance(found, LookedAt)
    # Two batches of 64 take four days each; 10 a sample, 50 a day, 400 the rest. The look's z of
    # 1.977 times the root of 2 is crossed by 0.0052 of all, which spare 840 credits each.
    assert looked_text(plan) == (
        "With O’Brien–Fleming, 1 interim look, the plan’s 128 samples have power 0.798. On average "
        f"{found.mean(lambda each: each.samples, effect=True):.0f} samples, "
        f"{found.mean(lambda each: each.credits, effect=True):,.0f} credits and "
        f"{found.mean(lambda each: each.day, effect=True):.1f} days if the effect is there; "
        "128 samples, 2,076 credits and 8 days if there is none; at worst 128 samples, 2,080 "
        "credits and 8 days, where protocol and schedule fail."
    )
    assert looked_text(looked("")) == ""
    assert header_text(looked("")) == ""


def test_no_place_tells_the_power_of_a_plan_with_looks_as_if_it_had_none() -> None:
    plan, day = looked("pocock:2", samples=120, planned_days=7), date(2026, 11, 24)
    found = looked_at(plan)
    assert isinstance(found, LookedAt)
    # SciPy: 0.7753, and with 2.289 as bound of three even looks 0.7062.
    assert (plan.evidence.text, f"{found.power:.2f}") == ("power 0.78 without looks", "0.71")
    options, shown = PlanAnalysis(plan), api.assess(plan.pack, plan.plan)
    places = {
        "header": words(header_panel(plan)),
        "evidence": words(evidence_panel({"Your plan": plan})),
        "comparison": words(comparison_panel([Side("A", plan, None)] * 2)),
        "brief": markdown(brief(options, on=day)),
        "report": markdown(report(options, on=day)),
        "prompt": repr(shown),
        "notebook": shown._repr_html_(),
        "slide": words(plan_slide(plan)),
        "decision": words(decision_slide(options, None)),
    }
    assert ", without looks" in words(card_panel(summary_of(plan.pack.study), [options]))
    for place, text in places.items():
        assert "without looks" in text, place
        assert ("with 2 looks" if place == "decision" else "0.71") in text, place
        assert not re.findall(r"power (?:is )?0[.]78(?! without looks)", text), place
    for place in ("evidence", "notebook", "report", "brief"):
        assert places[place].count("the plan’s 120 samples have") == 1, place


def test_data_of_a_plan_has_its_own_looks() -> None:
    plan = looked("pocock:2", samples=128, planned_days=7)
    found = looked_at(plan)
    assert isinstance(found, LookedAt)
    data = facts.plan(plan)
    told = cast("dict[str, Any]", data["looked_at"])
    assert told["power"] == found.power
    assert told["worst"] == {"samples": 128, "days": 9, "cost": found.worst.cost}
    assert cast("dict[str, Any]", data["evidence"])["looks"] == "without"
    plain = facts.plan(looked(""))
    assert "looked_at" not in plain
    assert "looks" not in cast("dict[str, Any]", plain["evidence"])


def test_looks_under_another_criterion_are_refused_once_in_each_place() -> None:
    plan = looked("pocock:1", design={**ORIGINAL, "replication": {"criteria": ["interval"]}})
    why = "choose significance at its alpha alone under What counts as replicated on Protocol"
    assert facts.plan(plan)["looked_at"] == {"none": "success"}
    assert words(looks_panel(plan)).count(why) == 1
    shown = report(PlanAnalysis(plan), on=date(2026, 11, 24))
    assert [part.title for part in shown.parts if part.blocks].count(FOR_TARGET) == 0
    assert words(evidence_panel({"Your plan": plan})).count(why) == 1
    assert api.assess(plan.pack, plan.plan)._repr_html_().count(why) == 1


def test_comparison_has_looks_where_a_side_has() -> None:
    sides = [Side(name, looked(text), None) for name, text in (("A", "pocock:1"), ("B", ""))]
    found = parts(sides)
    [chosen] = [line for line in found[DIFFERS] if line.label == TITLE]
    assert [cell.text for cell in chosen.cells] == ["Pocock, 1 interim look", "none"]
    lines = {line.label: [cell.text for cell in line.cells] for line in found[TITLE]}
    # Pocock's 1.110 times 128 are 142.1, and 72 pairs the first that reach it.
    assert lines["For the target: samples at worst"] == ["144", "no looks"]
    assert lines["For the target: can be run at worst"] == ["yes", "no looks"]
    own = looked_at(sides[0].plan)
    assert isinstance(own, LookedAt)
    assert lines["Power with looks"] == [f"{own.power:.2f}", "no looks"]
    assert lines["Samples at worst"] == [str(sides[0].plan.counts.samples), "no looks"]
    assert words(comparison_panel(sides))
    assert TITLE not in parts([Side("A", looked(""), None)] * 2)


def test_small_level_is_written_with_two_digits() -> None:
    for alpha, is_tiny in ((0.05, False), (1e-5, True)):
        found = with_looks(looked("obrien_fleming:4", design={"alpha": alpha}))
        assert isinstance(found, LooksPlan)
        _, first, *_ = rows(analyses_table(found))
        assert float(first[4]) == float(f"{found.analyses[0].p:.1e}")
        assert ("e-" in first[4]) is is_tiny


def test_notebook_shows_looks_where_they_are_chosen() -> None:
    plan, without = (api.assess(looked(text).pack) for text in ("pocock:1", ""))
    assert isinstance(plan.looks, LooksPlan)
    assert without.looks is None
    shown = [each._repr_html_() for each in (plan, without)]
    assert ["On average" in each for each in shown] == [True, False]
