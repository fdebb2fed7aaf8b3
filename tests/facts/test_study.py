"""The open study: its panels without empty parts, and a sketch for each kind of design."""

import re
from xml.etree import ElementTree

from replicalab.assessment import assess
from replicalab.designs import KINDS
from replicalab.drafts import Draft, check, new_study
from replicalab.facts import study as panels
from replicalab.facts.present import stake_slide
from replicalab.planner import PlanAnalysis
from replicalab.render.html import html, numbers_style
from replicalab.scenarios import Difficulty, Pack, load_scenario, pack_of
from tests.facts.reading import tree
from tests.ui.reading import heard


def quick_start() -> Pack:
    study = check(Draft(new_study("mine", numbers={"effect_planning": 0.5}))).study
    assert study is not None
    return pack_of(study, Difficulty.MEDIUM)


def story(pack: Pack) -> str:
    return html(panels.story_panel(PlanAnalysis(assess(pack.reference_protocol, pack))))


def test_panels_leave_out_missing_parts() -> None:
    pack = quick_start()
    rules = html(panels.rules_panel(pack))
    assert rules.count("<h2") == 1
    assert "Constraints</h2>" in rules
    assert "The study names no restrictions, success criteria or controls." in rules
    lab = html(panels.lab_panel(assess(pack.reference_protocol, pack)))
    assert "The study names no items." in lab
    assert "<table" not in lab
    stroop = load_scenario("psy_stroop")
    assert "names no" not in html(panels.rules_panel(stroop))
    assert "<table" in html(panels.lab_panel(assess(stroop.reference_protocol, stroop)))
    paper, design = html(panels.paper_panel(pack)), html(panels.design_panel(pack))
    slide = html(stake_slide(assess(pack.reference_protocol, pack)))
    assert "Not given" not in story(pack) + paper + slide
    assert "Hypothesis" not in paper
    assert "<p>Power by the exact two-sided t-test (noncentral t).</p>" in design


def test_each_kind_has_its_own_silent_sketch() -> None:
    assert len({row.sketch for row in KINDS.values()}) == len(KINDS)
    for kind, row in KINDS.items():
        for shape in row.sketch:
            assert 0 <= shape.x <= shape.x + shape.w <= 100
            assert 0 <= shape.y <= shape.y + shape.h <= 100
        [panel] = tree(panels.kind_panel(kind))
        [sketch] = panel.findall("div")
        assert sketch.get("aria-hidden") == "true"
        assert len(sketch.findall("i")) == len(row.sketch)
        assert heard(panel) == row.asks


def test_editor_numbers_every_line() -> None:
    for text, minimum in (("", 1), ("a\nb", 2), ("\n" * 300, 301)):
        numbers = [int(n) for n in re.findall(r"%3E(\d+)%3C", numbers_style("key", text))]
        assert numbers == [*range(1, len(numbers) + 1)]
        assert minimum < len(numbers) < minimum + 100
    assert len(numbers_style("key", "\n" * 300_000)) < 200_000, "a small message"
    style = numbers_style("own_text", "a")
    assert ElementTree.fromstring(style).tag == "style"  # noqa: S314  # ours
    assert style.count("<") == 2
    assert ".st-key-own_text textarea" in style
