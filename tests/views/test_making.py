"""What a study is made with: a sketch for each kind of design, and the editor's line numbers."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from replicalab.measures import KINDS, DesignKind
from replicalab.render.html import numbers_style
from replicalab.views.study import kind_panel
from tests.views.reading import tree


def test_every_kind_has_a_sketch_of_its_own() -> None:
    assert len({row.sketch for row in KINDS.values()}) == len(DesignKind)


@pytest.mark.parametrize("kind", list(DesignKind))
def test_sketch_lies_in_its_box_and_is_not_read_out(kind: DesignKind) -> None:
    for shape in KINDS[kind].sketch:
        assert 0 <= shape.x <= shape.x + shape.w <= 100
        assert 0 <= shape.y <= shape.y + shape.h <= 100
    [panel] = tree(kind_panel(kind))
    [sketch] = panel.findall("div")
    assert sketch.get("aria-hidden") == "true"
    assert len(sketch.findall("i")) == len(KINDS[kind].sketch)
    assert "".join(panel.find("p").itertext()) == KINDS[kind].asks  # type: ignore[union-attr]


@pytest.mark.parametrize(("text", "least"), [("", 1), ("a\nb", 2), ("\n" * 300, 301)])
def test_every_line_of_the_editor_has_its_number_and_some_that_follow(
    text: str, least: int
) -> None:
    numbers = [int(n) for n in re.findall(r"%3E(\d+)%3C", numbers_style("key", text))]
    assert numbers == [*range(1, len(numbers) + 1)]
    assert least < len(numbers) < least + 100


def test_numbers_of_the_longest_file_stay_a_small_message() -> None:
    assert len(numbers_style("key", "\n" * 300_000)) < 200_000


def test_style_of_the_editor_holds_nothing_that_a_browser_takes_out() -> None:
    style = numbers_style("own_text", "a")
    assert ElementTree.fromstring(style).tag == "style"  # noqa: S314  # ours
    assert style.count("<") == 2
    assert ".st-key-own_text textarea" in style
