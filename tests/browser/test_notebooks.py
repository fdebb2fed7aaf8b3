"""Results in a notebook: JupyterLab's own stylesheets change nothing of them, nor they of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any, Final

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Route

import replicalab

THEMES: Final = ("light", "dark")
HERE: Final = "The result stands here."
LOOKS: Final = """
(style) => [...document.querySelectorAll(".replicalab, .replicalab :not(style)")].map((element) => {
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
WIDTH: Final = "() => document.querySelector('.replicalab').getBoundingClientRect().width"

PLAN: Final = replicalab.assess(replicalab.load("psy_stroop"))
RESULTS: Final[dict[str, Callable[[], Any]]] = {
    "studies": replicalab.studies,
    "lab": lambda: replicalab.Lab(name="Ours", budget=900),
    "load": lambda: replicalab.load("psy_stroop"),
    "assess": lambda: PLAN,
    "dimensions": lambda: PLAN.dimensions,
    "costs": lambda: PLAN.costs,
    "least_loss": lambda: replicalab.least_loss(PLAN),
    "asks": lambda: replicalab.asks(PLAN),
    "frontier": lambda: replicalab.frontier(PLAN),
    "compare": lambda: replicalab.compare(published=PLAN, best=replicalab.least_loss(PLAN)),
    "report": lambda: replicalab.report(PLAN),
    "negotiate": lambda: replicalab.negotiate(PLAN),
    "score": lambda: replicalab.negotiate(PLAN).score,
    "run_batch": lambda: replicalab.run_batch("psy_stroop", ["hard"], range(3)),
}


@cache
def notebook(theme: str) -> str:
    """Return a notebook as JupyterLab draws it in a theme, with a place for a result."""
    data = {"text/html": HERE}
    output = {"output_type": "display_data", "data": data, "metadata": {}}
    code = {"cell_type": "code", "id": "code", "source": "1", "outputs": [output]}
    cells = [
        {"cell_type": "markdown", "id": "text", "source": "A cell of *text*.", "metadata": {}},
        {**code, "execution_count": 1, "metadata": {}},
    ]
    python = {"language_info": {"name": "python"}}
    written = {"nbformat": 4, "nbformat_minor": 5, "metadata": python, "cells": cells}
    exporter = import_module("nbconvert").HTMLExporter(theme=theme)
    html, _ = exporter.from_notebook_node(import_module("nbformat").from_dict(written))
    return str(html)


@pytest.fixture(autouse=True)
def offline(page: Page) -> Iterator[None]:
    """Answer nothing from elsewhere, such as the scripts with which a notebook draws formulas."""

    def refuse(route: Route) -> None:
        route.abort()

    page.route("**/*", refuse)
    yield
    page.unroute("**/*", refuse)


def show(page: Page, html: str) -> None:
    """Show a page, with the pointer where rows of a table may be."""
    page.set_content(html, wait_until="domcontentloaded")
    page.mouse.move(300, 200)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", RESULTS)
def test_result_looks_in_a_notebook_as_it_does_alone(page: Page, name: str, theme: str) -> None:
    result = RESULTS[name]()._repr_html_()
    show(page, notebook(theme).replace(HERE, result))
    in_notebook, width = page.evaluate(LOOKS, STYLE), page.evaluate(WIDTH)
    body = f'<body data-jp-theme-light="{str(theme == "light").lower()}">'
    show(page, f'<!DOCTYPE html>{body}<div style="width: {width}px">{result}</div></body>')
    alone = page.evaluate(LOOKS, STYLE)
    assert len(alone) > 3
    assert [pair for pair in zip(alone, in_notebook, strict=True) if pair[0] != pair[1]] == []


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", RESULTS)
def test_result_is_readable_and_of_the_theme_of_its_notebook(
    page: Page, name: str, theme: str
) -> None:
    show(page, notebook(theme).replace(HERE, RESULTS[name]()._repr_html_()))
    paper = page.evaluate(
        "() => getComputedStyle(document.querySelector('.replicalab')).backgroundColor"
    )
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 24, 28)"}[theme]
    found = Axe().run(page, context=".replicalab", options={"runOnly": ["color-contrast"]})
    assert found.response["violations"] == []
    assert found.response["passes"], "texts were looked at"


@pytest.mark.parametrize("name", RESULTS)
def test_bar_in_a_notebook_stays_in_its_cell(page: Page, name: str) -> None:
    show(page, notebook("light").replace(HERE, RESULTS[name]()._repr_html_()))
    over = page.evaluate(
        """() => [...document.querySelectorAll(".replicalab .bar")].filter((bar) =>
        bar.getBoundingClientRect().right > bar.parentElement.getBoundingClientRect().right + 1
        ).map((bar) => bar.parentElement.parentElement.innerText)"""
    )
    assert over == []


@pytest.mark.parametrize("theme", THEMES)
def test_result_leaves_the_page_around_it_as_it_was(page: Page, theme: str) -> None:
    page.set_viewport_size({"width": 1920, "height": 1000})
    beside = """() => [document.documentElement, document.body, document.querySelector("em")]
        .map((element) => JSON.stringify({...getComputedStyle(element)}))"""
    looks = []
    for result in ("", PLAN._repr_html_()):
        held = f'<div style="height: 1000px; overflow: auto">{result}</div>'
        show(page, notebook(theme).replace(HERE, held))
        looks.append(page.evaluate(beside))
    assert looks[0] == looks[1]
