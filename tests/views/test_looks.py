"""Interim looks in words: a sentence, a row for each analysis, and where else they are told."""

from __future__ import annotations

from datetime import date
from typing import Any, Final

from replicalab import api
from replicalab.assessment import Assessment, assess
from replicalab.comparison import Side
from replicalab.planner import PlanAnalysis
from replicalab.planner.looks import LooksPlan, NoLooks, with_looks
from replicalab.reports import report
from replicalab.scenarios import DesignKind, EvidenceAssumptions, LabOverrides, read_looks
from replicalab.views.comparison import DIFFERS, comparison_panel, parts
from replicalab.views.looks import TITLE, analyses_table, looks_panel, means_table, why_not_text
from tests.factories import change_pack, make_design, make_pack, make_protocol, make_throughput
from tests.golden import assert_golden
from tests.measures.designs import design_of
from tests.planner.test_looks import REFUSED
from tests.views.reading import rows, words

SAYS: Final = (
    "On average 116 of 128 samples if the effect is there, 130 if there is none; at worst "
)


def looked(
    text: str = "obrien_fleming:1", design: dict[str, Any] | None = None, **lab: Any
) -> Assessment:
    """Return a plan of d = 0.5 in a lab that does 20 samples a day, with looks."""
    written = make_design(**{"effect_planning": 0.5, **(design or {})})
    pack = make_pack(design=written, samples_per_day=make_throughput(), constraints=[])
    asked = EvidenceAssumptions(looks=read_looks(text) if text else None)
    return assess(make_protocol(), change_pack(pack, **lab).with_own(LabOverrides(), asked))


def test_sentence_says_what_is_taken_on_average_and_at_worst_and_whether_the_lab_has_it() -> None:
    assert words(looks_panel(looked())).startswith(f"{SAYS}130, which this lab can run.")
    poor = words(looks_panel(looked(budget=1900.0)))
    assert poor.startswith(f"{SAYS}130, which this lab cannot run: budget fails, 20 samples over.")
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
    assert [TITLE in each for each in titles] == [True, False]


def test_comparison_has_looks_where_a_side_has() -> None:
    sides = [Side(name, looked(text), None) for name, text in (("A", "pocock:1"), ("B", ""))]
    found = parts(sides)
    [chosen] = [line for line in found[DIFFERS] if line.label == TITLE]
    assert [cell.text for cell in chosen.cells] == ["Pocock, 1 interim look", "none"]
    lines = {line.label: [cell.text for cell in line.cells] for line in found[TITLE]}
    # Pocock's 1.110 times 128 are 142.1, and 72 pairs the first that reach it.
    assert lines["Samples at worst"] == ["144", "no looks"]
    assert lines["Can be run at worst"] == ["yes", "no looks"]
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
