"""Results in a notebook: they look the same under JupyterLab's stylesheet, and leave it alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest
from playwright.sync_api import Page

import replicalab

OUTPUT: Final = "jp-RenderedHTMLCommon"
JUPYTER: Final = f"""
<style>
:root {{ font-size: 16px; }}
body {{ margin: 0; background: #111; color: #eee; font: 13px/1.3 serif; }}
.{OUTPUT} {{ color: #eee; font-family: serif; font-size: 14px; line-height: 1.6; }}
.{OUTPUT} table {{
  table-layout: fixed; margin: 0 auto; border: none; border-collapse: collapse;
  border-spacing: 0; color: #ddd; font-size: 12px;
}}
.{OUTPUT} :is(td, th, tr) {{
  max-width: none; padding: 0.5em; border: none; line-height: normal;
  text-align: right; vertical-align: middle; white-space: normal;
}}
.{OUTPUT} thead {{ border-bottom: 1px solid #777; vertical-align: bottom; }}
.{OUTPUT} thead tr:nth-child(odd), .{OUTPUT} tbody tr:nth-child(odd) {{ background: #111; }}
.{OUTPUT} tbody tr:nth-child(even) {{ background: #333; }}
.{OUTPUT} tbody tr:hover {{ background: #023; }}
.{OUTPUT} th {{ font-weight: bold; }}
.{OUTPUT} :is(h1, h2, h3, h4) {{
  margin: 1em 0 0.5em; color: #fff; font-weight: 400; line-height: 1;
}}
.{OUTPUT} :is(p, blockquote, dl) {{ margin: 0 0 1em; text-align: left; }}
.{OUTPUT} :is(ul, ol):not(.list-inline):not(.x) {{ padding-left: 2em; margin: 1em; }}
.{OUTPUT} :is(ul, ol) li {{ margin-bottom: 1em; }}
.{OUTPUT} dt {{ float: left; clear: left; width: 20%; font-weight: bold; }}
.{OUTPUT} dd {{ display: table; width: 60%; }}
.{OUTPUT} :is(pre, code) {{ border: 0; background: #333; color: #eee; padding: 4px; }}
.{OUTPUT} > *:last-child {{ margin-bottom: 0.5em; }}
</style>
"""
"""What of JupyterLab's stylesheet meets an output, in its dark theme; as of JupyterLab 4."""

LOOKS: Final = """
(style) => [...document.querySelectorAll("#output *:not(style)")].map((element) => {
  const found = getComputedStyle(element);
  return element.tagName + "." + element.className + " " + style.map((name) => found[name]).join();
})
"""
STYLE: Final = [
    *("display", "position", "float", "width", "height", "marginTop", "marginBottom"),
    *("marginLeft", "paddingTop", "paddingLeft", "paddingBottom", "color", "backgroundColor"),
    *("borderBottomWidth", "borderBottomColor", "textAlign", "verticalAlign", "whiteSpace"),
    *("fontFamily", "fontSize", "fontWeight", "lineHeight", "tableLayout", "maxWidth"),
]

PLAN: Final = replicalab.assess(replicalab.load("psy_stroop"))
RESULTS: Final[dict[str, Callable[[], Any]]] = {
    "studies": replicalab.studies,
    "lab": lambda: replicalab.Lab(name="Ours", budget=900),
    "load": lambda: replicalab.load("psy_stroop"),
    "assess": lambda: PLAN,
    "least_loss": lambda: replicalab.least_loss(PLAN),
    "asks": lambda: replicalab.asks(PLAN),
    "frontier": lambda: replicalab.frontier(PLAN),
    "negotiate": lambda: replicalab.negotiate(PLAN),
    "run_batch": lambda: replicalab.run_batch("psy_stroop", ["hard"], range(3)),
}


def shown(page: Page, result: str, around: str) -> None:
    """Show a result in a notebook's cell, as wide whatever is around it."""
    output = f'<div style="width: 900px"><div class="{OUTPUT}" id="output">{result}</div></div>'
    page.set_content(f"<!DOCTYPE html>{around}<p id='beside'>A cell of text.</p>{output}")


@pytest.mark.parametrize("name", RESULTS)
def test_result_looks_the_same_under_the_stylesheet_of_a_notebook(page: Page, name: str) -> None:
    result = RESULTS[name]()._repr_html_()
    looks = []
    for around in ("<style>:root { font-size: 16px; } body { margin: 0; }</style>", JUPYTER):
        shown(page, result, around)
        page.mouse.move(300, 200)
        looks.append(page.evaluate(LOOKS, STYLE))
    plain, in_jupyter = looks
    assert len(plain) > 3
    assert [pair for pair in zip(plain, in_jupyter, strict=True) if pair[0] != pair[1]] == []


def test_result_leaves_the_page_around_it_as_it_was(page: Page) -> None:
    page.set_viewport_size({"width": 1920, "height": 1000})
    beside = """() => [document.documentElement, document.body, document.querySelector("#beside")]
        .map((element) => JSON.stringify({...getComputedStyle(element)}))"""
    looks = []
    for result in ("", PLAN._repr_html_()):
        shown(page, '<div style="height: 1000px; overflow: auto">' + result + "</div>", JUPYTER)
        looks.append(page.evaluate(beside))
    assert looks[0] == looks[1]
