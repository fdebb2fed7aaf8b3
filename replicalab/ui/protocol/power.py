"""The curves of power analysis on Protocol; only the one that is looked at is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import plotly.graph_objects as go
import streamlit as st

from replicalab.planner.curves import Curves
from replicalab.render.figures import (
    CONFIG,
    evidence_by_effect,
    evidence_by_samples,
    samples_by_effect,
)
from replicalab.ui import panel
from replicalab.views import curves
from replicalab.views.blocks import plain_table, sentences_panel
from replicalab.views.plan import assumption_text


class Chart(NamedTuple):
    """A curve to look at: its title, its figure, and its numbers."""

    title: Callable[[Curves], str]
    figure: Callable[[Curves, tuple[str, str]], go.Figure]
    rows: Callable[[Curves], list[tuple[str, ...]]]
    names: tuple[str, ...]
    over_effect: bool = True

    def fits(self, lines: Curves) -> bool:
        """Return whether there is such a curve: without an effect only the one over n."""
        return bool(lines.effects) or not self.over_effect

    def draw(self, lines: Curves) -> None:
        """Draw the curve, and its table."""
        title, assumed = self.title(lines), curves.assumed_text(lines)
        st.plotly_chart(
            self.figure(lines, (title, assumed)),
            key="power_chart",
            config=CONFIG,
            alt=f"{title}; {assumed}. The same stands in the table below.",
        )
        assumption = f"{assumption_text(lines.plan)} {curves.level_text(lines)}".strip()
        outside = curves.outside_text(lines) if self.over_effect else ""
        panel.draw(sentences_panel([assumption, curves.bound_text(lines), outside], quiet=True))
        panel.draw_tables(lambda: [plain_table(title, self.names, self.rows(lines))])


_BY_EFFECT: Final = ("Effect", "Evidence of your samples", "Samples for the target", "Which")
CHARTS: Final = {
    "Evidence over n": Chart(
        curves.samples_title, evidence_by_samples, curves.samples_rows,
        ("Samples planned", "Analysed", "Evidence", "Which"), over_effect=False,
    ),
    "Evidence over effect": Chart(
        curves.effect_title, evidence_by_effect, curves.effect_rows, _BY_EFFECT,
    ),
    "n over effect": Chart(curves.needed_title, samples_by_effect, curves.effect_rows, _BY_EFFECT),
}  # fmt: skip
"""The curves, by what they are called."""
