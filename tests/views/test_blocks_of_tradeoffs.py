"""The panels of trade-offs: numbers of the core beside bars of their length, tables to unfold."""

from __future__ import annotations

import re
from typing import Final
from xml.etree import ElementTree

import plotly.graph_objects as go
import pytest

from replicalab.assessment import Assessment, assess, effects_of, scale_of
from replicalab.render.figures import Tag
from replicalab.render.figures.region import Labelled, over_panel
from replicalab.render.html import html
from replicalab.scenarios import load_scenario
from replicalab.views.blocks import Block, listed_panel, plain_table
from replicalab.views.check import effects_panel
from tests.hostile import ATTACK
from tests.ui.reading import heard
from tests.views.reading import tree

_TO: Final = re.compile(r"--to:([\d.]+)")


def reference(study: str) -> Assessment:
    """Return a study's reference protocol in its medium lab."""
    pack = load_scenario(study, "medium")
    return assess(pack.reference_protocol, pack)


@pytest.mark.parametrize("study", ["fin_momentum", "psy_stroop", "bio_jq1_myeloma"])
def test_each_effect_has_the_evidence_of_each_plan_as_a_number_and_a_bar(study: str) -> None:
    plan = reference(study)
    effects = effects_of(plan.pack.design)
    assert len(effects) > 1
    panel = tree(effects_panel(effects, {"your plan": plan, "other": plan}))
    rows = list(panel.iter("tr"))[1:]
    found = [plan.evidence_at(each.effect) for each in effects]
    worst, best = scale_of(found)
    for row, evidence in zip(rows, found, strict=True):
        numbers = [heard(cell) for cell in row.iter("td") if cell.get("class") == "number"]
        assert [number.split()[-1] for number in numbers] == [evidence.number.split()[-1]] * 2
        bars = [float(to) for to in _TO.findall(ElementTree.tostring(row, "unicode"))]
        assert bars == [pytest.approx((evidence.value - worst) / (best - worst), abs=1e-3)] * 2


def test_each_row_of_a_table_has_a_heading() -> None:
    table = plain_table("The plans", ("Plan", "Evidence"), [("mine", "0.9"), ("yours", "0.8")])
    panel = tree(table)
    headings = [heard(cell) for cell in panel.iter("th") if cell.get("scope") == "row"]
    assert headings == ["mine", "yours"]
    assert heard(next(panel.iter("caption"))) == "The plans"


@pytest.mark.parametrize(
    "panel",
    [
        plain_table(ATTACK, (ATTACK,), [(ATTACK,)]),
        listed_panel(ATTACK, [ATTACK]),
    ],
    ids=["tables", "list"],
)
def test_hostile_text_is_text_in_every_place_of_a_panel(panel: Block) -> None:
    found = tree(panel)
    assert not {"img", "a", "script"} & {part.tag for part in found.iter()}
    assert heard(found).count("<img src=//x.test/b>") == html(panel).count("&lt;img") > 0


def test_what_lies_over_the_chart_is_nothing_to_a_screen_reader() -> None:
    """It has the point's two fields, and the table."""
    room = {"left": 50, "right": 10, "below": 40, "height": 300}
    tag = Tag(ATTACK, 0.5, 0.75, -12.5, 21.0, "#B84E00", "#FFFFFF")
    chart = Labelled(go.Figure(), [tag], room)
    [over] = tree(over_panel(chart, (0.25, 0.5)))
    assert over.get("aria-hidden") == "true"
    assert all(f"--{name}:{px}px" in (over.get("style") or "") for name, px in room.items())
    label, cross = over
    assert heard(label).count("<img src=//x.test/b>") == 1
    assert not len(label)
    assert label.get("style") == (
        "--across:0.5000;--up:0.7500;--aside:-12.5px;--above:21.0px;"
        "background:#B84E00;color:#FFFFFF"
    )
    assert cross.get("style") == "--across:0.2500;--up:0.5000"
    [without] = tree(over_panel(chart, None))
    assert len(without) == 1
