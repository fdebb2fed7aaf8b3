"""What the evidence assumes: the numbers of a plan's question, and the curves of power analysis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.facts import curves
from replicalab.facts.blocks import Block, plain_table, sentences_panel
from replicalab.facts.design import TITLE as DESIGN
from replicalab.facts.design import design_tables
from replicalab.facts.original import TITLE as THE_ORIGINAL
from replicalab.facts.original import original_blocks
from replicalab.facts.plan import assumption_text
from replicalab.planner.curves import Curves
from replicalab.render import figures
from replicalab.ui import panel, state
from replicalab.ui.protocol import numbers

PLACE: Final = "assumptions"
PARTS: Final = "assumptions_part"


class Part(NamedTuple):
    """A part of the place: whether a design has it, and how it is drawn."""

    fits: Callable[[Curves], object]
    draw: Callable[[Curves], None]


def draw(yours: Assessment) -> None:
    """Draw the place; nothing is computed or sent while it is closed."""
    place = st.expander("Assumptions: effect, alpha, target, dropout", key=PLACE, on_change="rerun")
    if not place.open:
        return
    with place:
        lines = Curves(yours, state.written().design)
        fitting = {name: part for name, part in ALL_PARTS.items() if part.fits(lines)}
        entries = panel.draw_features(PLACE, yours)
        chosen = st.radio(
            "Numbers or a curve",
            [*fitting, *entries],
            horizontal=True,
            label_visibility="collapsed",
            key=PARTS,
            persist_state="session",
        )
        if chosen in entries:
            entries[chosen]()
        else:
            fitting.get(chosen or "", ALL_PARTS[_NUMBERS]).draw(lines)


class Chart(NamedTuple):
    """A curve: its title, the figure's function in `figures`, and its numbers as a table."""

    title: Callable[[Curves], str]
    figure: str
    rows: Callable[[Curves], list[tuple[str, ...]]]
    names: tuple[str, ...]
    over_effect: bool = True

    def fits(self, lines: Curves) -> bool:
        """Return whether a design has the curve: without an effect only the one over n."""
        return bool(lines.effects) or not self.over_effect

    def draw(self, lines: Curves) -> None:
        """Draw the curve, and its table."""
        title, assumed = self.title(lines), curves.assumed_text(lines)
        st.plotly_chart(
            getattr(figures, self.figure)(lines, (title, assumed)),
            key="power_chart",
            config=figures.CONFIG,
            alt=f"{title}; {assumed}. The table below has the same numbers.",
        )
        assumption = f"{assumption_text(lines.plan)} {curves.level_text(lines)}".strip()
        outside = curves.outside_text(lines) if self.over_effect else ""
        panel.draw(sentences_panel([assumption, curves.bound_text(lines), outside], quiet=True))
        panel.draw_tables(lambda: [plain_table(title, self.names, self.rows(lines))])


_BY_EFFECT: Final = ("Effect", "Evidence of your samples", "Samples for the target", "Which")
CHARTS: Final = {
    "Evidence over n": Chart(
        curves.samples_title, "evidence_by_samples", curves.samples_rows,
        ("Samples planned", "Analysed", "Evidence", "Which"), over_effect=False,
    ),
    "Evidence over effect": Chart(
        curves.effect_title, "evidence_by_effect", curves.effect_rows, _BY_EFFECT,
    ),
    "n over effect": Chart(
        curves.needed_title, "samples_by_effect", curves.effect_rows, _BY_EFFECT,
    ),
}  # fmt: skip
"""The curves by title."""


def _panel_part(
    blocks: Callable[[Curves], Sequence[Block]], fits: Callable[[Curves], object] | None = None
) -> Part:
    return Part(fits or blocks, lambda lines: panel.draw(*blocks(lines)))


MORE: Final = {
    THE_ORIGINAL: _panel_part(
        original_blocks, lambda lines: lines.written and lines.written.original
    ),
    numbers.UNITS_AND_ARMS: Part(numbers.has_units, numbers.draw_units),
    DESIGN: _panel_part(lambda lines: design_tables(lines.plan)),
}
"""The parts after the curves."""

_NUMBERS: Final = "Numbers"
ALL_PARTS: Final[dict[str, Part | Chart]] = {
    _NUMBERS: Part(lambda _: True, numbers.draw),
    **CHARTS,
    **MORE,
}
