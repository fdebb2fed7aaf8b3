"""The heatmap of a batch: every cell holds its number, no name becomes a link."""

from __future__ import annotations

import plotly.graph_objects as go

from replicalab.render.figures import outcomes_figure


def test_each_cell_that_was_played_holds_its_share() -> None:
    shares: list[list[float | None]] = [[1.0, 0.5], [None, 0.0]]
    told = [["a", "b"], ["", "c"]]
    drawn = outcomes_figure(["one", "two"], ["easy", "hard"], shares, told, "T")
    cells = [(each.text, each.x, each.y) for each in drawn.layout.annotations]
    assert cells == [
        ("100%", "easy", "1. one"),
        ("50%", "hard", "1. one"),
        ("0%", "hard", "2. two"),
    ]
    assert [*map(list, drawn.data[0].z)] == shares
    go.Figure(drawn.to_dict())  # every name in it is one of plotly's


def test_names_are_short_and_no_markup() -> None:
    name = f"<a href='x'>{'y' * 100}"
    drawn = outcomes_figure([name], ["easy"], [[0.2]], [["<b>"]], "T")
    assert "<" not in drawn.data[0].y[0]
    assert len(drawn.data[0].y[0]) < 40
    assert "<" not in drawn.data[0].text[0][0]
