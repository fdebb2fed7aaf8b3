"""Panels that are changed in place: they show what a new one would, and what is open stays open."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from replicalab.assessment import assess
from replicalab.planner import PlanAnalysis
from replicalab.render.html import html
from replicalab.scenarios import Difficulty, list_scenarios, load_scenario
from replicalab.ui import panel
from replicalab.views.check import check_panel, cost_panel, evidence_panel
from replicalab.views.options import take_panel
from tests.browser.driving import open_app
from tests.browser.visiting import type_number

SCRIPT: Final = Path(panel.__file__).with_suffix(".js").read_text(encoding="utf-8")
DIFFERENT: Final = """async ([script, texts]) => {
    const {default: draw} = await import("data:text/javascript," + encodeURIComponent(script));
    const place = document.body.appendChild(document.createElement("div"));
    const fresh = document.createElement("div");
    fresh.className = "in_place";
    return texts.flatMap(html => {
        draw({parentElement: place, data: {html}});
        fresh.innerHTML = html;
        const [shown] = place.children;
        return shown.isEqualNode(fresh) ? [] : [[shown.innerHTML, fresh.innerHTML]];
    });
}"""
"""Draws panels one after the other in one place; what is then shown where a new one is another."""


def different(page: Page, texts: list[str]) -> list[list[str]]:
    found: list[list[str]] = page.evaluate(DIFFERENT, [SCRIPT, texts])
    return found


def test_panel_of_any_study_follows_that_of_any_other(page: Page) -> None:
    texts = []
    for study in list_scenarios():
        for lab in Difficulty:
            pack = load_scenario(study.scenario_id, lab)
            here = PlanAnalysis(assess(pack.reference_protocol, pack))
            yours, least = here.yours, here.least.after
            texts += [
                html(check_panel(yours, here.binding, here.mends)),
                html(evidence_panel({"yours": yours, "least": least}), cost_panel(yours, least)),
                html(take_panel(here)),
            ]
    Random(7).shuffle(texts)
    assert len(set(texts)) > 90
    assert different(page, texts) == []


def _any_html(rng: Random, depth: int = 0) -> str:
    """Return some parts one after the other, in each other, with texts between them or none."""
    parts = [rng.choice(["", "", "text", "3 &lt; 4", "\n"])]
    for _ in range(rng.randrange(4 if depth < 3 else 1)):
        tag = rng.choice(["p", "p", "div", "b", "details", "i"])
        look = "".join(
            f' {name}="{rng.choice("abc")}"'
            for name in rng.sample(["class", "style", "title"], rng.randrange(3))
        )
        inside = _any_html(rng, depth + 1)
        if tag == "details":
            inside = f"<summary>{rng.choice('ab')}</summary>{inside}"
        parts.append(f"<{tag}{look}>{inside}</{tag}>{rng.choice(['', ' between '])}")
    return "".join(parts)


def test_any_html_follows_any_other(page: Page) -> None:
    rng = Random(1)
    texts = [_any_html(rng) for _ in range(2000)]
    assert len(set(texts)) > 1000
    assert different(page, texts) == []


def opened(page: Page, before: str, after: str) -> list[bool]:
    """Open every fold of a panel, change it to another, and return which are open then."""
    act = """async ([script, before, after]) => {
        const {default: draw} = await import("data:text/javascript," + encodeURIComponent(script));
        const place = document.body.appendChild(document.createElement("div"));
        draw({parentElement: place, data: {html: before}});
        for (const fold of place.querySelectorAll("details")) fold.open = true;
        draw({parentElement: place, data: {html: after}});
        return [...place.querySelectorAll("details")].map(fold => fold.open);
    }"""
    found: list[bool] = page.evaluate(act, [SCRIPT, before, after])
    return found


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("<summary>Basis</summary>1", "<summary>Basis</summary>2", True),
        ("<summary>Duration</summary>1", "<summary>Sample size</summary>1", False),
    ],
)
def test_fold_stays_open_where_it_is_still_the_same(
    page: Page, before: str, after: str, expected: bool
) -> None:
    folds = [f"<p>first</p><details>{each}</details>" for each in (before, after)]
    assert opened(page, *folds) == [expected]


def test_fold_of_the_workbench_stays_open_while_numbers_are_typed(app_page: Page) -> None:
    open_app(app_page, "/Protocol?study=fin_momentum&lab=medium")
    fold = app_page.locator("details").filter(has=app_page.get_by_text("Basis", exact=True))
    fold.locator("summary").first.click()
    rows = fold.locator("table").first
    expect(rows).to_contain_text("0.137")
    type_number(app_page, "Sample size", 300)
    expect(rows).to_contain_text("0.162")
    expect(rows).to_be_visible()
