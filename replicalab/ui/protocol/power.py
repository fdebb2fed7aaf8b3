"""The curves of power analysis on Protocol; only the one that is looked at is drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

import plotly.graph_objects as go
import streamlit as st

from replicalab.figures import CONFIG, evidence_by_effect, evidence_by_samples, samples_by_effect
from replicalab.panels import Rows, sentences_panel
from replicalab.planner.curves import Curves
from replicalab.text.curves import (
    assumed_text,
    bound_text,
    effect_rows,
    effect_title,
    level_text,
    needed_title,
    outside_text,
    samples_rows,
    samples_title,
)
from replicalab.text.plan import assumption_text
from replicalab.ui import panel


class Chart(NamedTuple):
    """A curve to look at: its title, its figure, and its numbers."""

    title: Callable[[Curves], str]
    figure: Callable[[Curves, tuple[str, str]], go.Figure]
    rows: Callable[[Curves], list[tuple[str, ...]]]
    names: tuple[str, ...]
    over_effect: bool = True

    def fits(self, found: Curves) -> bool:
        """Return whether there is such a curve: without an effect only the one over n."""
        return bool(found.effects) or not self.over_effect

    def draw(self, found: Curves) -> None:
        """Draw the curve, and its table."""
        title, assumed = self.title(found), assumed_text(found)
        st.plotly_chart(
            self.figure(found, (title, assumed)),
            key="power_chart",
            config=CONFIG,
            alt=f"{title}; {assumed}. The same stands in the table below.",
        )
        told = f"{assumption_text(found.plan)} {level_text(found)}".strip()
        lines = [told, bound_text(found), outside_text(found) if self.over_effect else ""]
        panel.draw(sentences_panel(lines, quiet=True))
        panel.draw_tables(lambda: [Rows(title, self.names, self.rows(found))])


_BY_EFFECT: Final = ("Effect", "Evidence of your samples", "Samples for the target", "Which")
CHARTS: Final = {
    "Evidence over n": Chart(
        samples_title, evidence_by_samples, samples_rows,
        ("Samples planned", "Analysed", "Evidence", "Which"), over_effect=False,
    ),
    "Evidence over effect": Chart(effect_title, evidence_by_effect, effect_rows, _BY_EFFECT),
    "n over effect": Chart(needed_title, samples_by_effect, effect_rows, _BY_EFFECT),
}  # fmt: skip
"""The curves, by what they are called."""
