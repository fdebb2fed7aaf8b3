"""A few side by side: where they come from, the comparison, and what leaves of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import streamlit as st

from replicalab.comparison import FEWEST_SIDES, Side
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import Difficulty
from replicalab.tables import sheet, workbook
from replicalab.ui import notices, own_studies, panel, state, tray
from replicalab.ui.compare import deciding, shelved, sides
from replicalab.ui.controls import button
from replicalab.ui.files import download
from replicalab.ui.tray import TrayCandidate
from replicalab.ui.words import escaped
from replicalab.ui.workspace import TrayCase
from replicalab.views.comparison import comparison_panel, table


def draw(here: PlanAnalysis) -> None:
    """Draw the sides, or how to come by some."""
    _draw_sources(here)
    notices.draw()
    tray.draw_line(linked=False)
    found = sides.found()
    for problem in found.problems:
        st.warning(f"Not compared: {escaped(problem)}", icon=":material/link_off:")
    if len(found.sides) < FEWEST_SIDES:
        _draw_too_few(found.kept)
    else:
        deciding.draw_decided(found.kept)
        panel.draw(comparison_panel(found.sides))
        with st.container(horizontal=True, key="compare_files"):
            _draw_files(found.sides)
        deciding.draw_form(found.kept)
    deciding.draw_listed()


def _draw_too_few(kept: Sequence[TrayCase]) -> None:
    """Say what to do next where there are not two to compare."""
    lacking = "Nothing to compare yet."
    if kept:
        lacking = f"{escaped(kept[0].name)} is the plan that is open: it needs another beside it."
    st.info(
        f"{lacking} Choose above, or press Keep beside on Protocol.",
        icon=":material/compare_arrows:",
    )


def _draw_files(compared: Sequence[Side]) -> None:
    download("Download as CSV", partial(_csv, compared), "comparison.csv")
    rows = partial(table, compared)
    download("Download as Excel", lambda: workbook({"Comparison": rows()}), "comparison.xlsx")


def _csv(compared: Sequence[Side]) -> str:
    heading, *rows = table(compared)
    return sheet([str(name) for name in heading], rows)


def _draw_sources(here: PlanAnalysis) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="sources"):
        button("The three labs", "science", lambda: tray.keep_only(_labs()))
        button(
            "Yours, the Lab Manager’s and least loss",
            "balance",
            lambda: tray.keep_only(_ways(here)),
        )
        shelved.draw()
        button("Undo", "undo", state.undo, disabled=not state.current().past)


def _labs() -> Iterator[TrayCandidate]:
    """Yield the open plan in each lab of its study."""
    case = state.case()
    for level in Difficulty:
        yield TrayCandidate(f"{level} lab", case.with_lab(level, case.seed))


def _ways(here: PlanAnalysis) -> Iterator[TrayCandidate]:
    """Yield the open plan, and each of the two ways that makes another of it."""
    case = state.case()
    yield TrayCandidate("Your plan", case.seated())
    for name, plan in (("The Lab Manager’s", here.offered), ("Least loss", here.least.after)):
        if plan.plan != here.yours.plan:
            yield TrayCandidate(name, case.with_plan(plan.plan, own_studies.find))
