"""The Compare page: a few side by side, and many negotiations at once; one is drawn."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

import streamlit as st

from replicalab.comparison import FEWEST_SIDES, Side
from replicalab.facts.comparison import comparison_panel, table
from replicalab.lexicon import joined
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import Difficulty
from replicalab.tables import sheet, workbook
from replicalab.ui import notices, own_studies, panel, state, tray
from replicalab.ui.compare import many, sides
from replicalab.ui.controls import button, open_tab
from replicalab.ui.files import download
from replicalab.ui.tray import TrayCandidate
from replicalab.ui.words import escaped
from replicalab.ui.workspace import TrayCase

TABS: Final = "compare_part"
BESIDE: Final = "Side by side"
MANY: Final = "Many negotiations"
_ONE_LAB: Final = (
    "The three labs of this study are the same. Say under **Your lab** what yours has, and it "
    "stands beside the study’s."
)


def draw(here: PlanAnalysis) -> None:
    """Draw the part that is open; whoever comes back to a batch under way finds that one open."""
    if TABS not in st.session_state and many.is_under_way():
        st.session_state[TABS] = MANY
    with open_tab((BESIDE, MANY), TABS) as name:
        (many.draw if name == MANY else _draw_sides)(here)


# --- a few side by side -----------------------------------------------------------------------


def _draw_sides(here: PlanAnalysis) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key="sources"):
        ways = "Yours, the Lab Manager’s and least loss"
        has_labs = _draw_labs()
        button(ways, "balance", lambda: tray.keep_only(_ways(here)))
        sides.draw_library()
        button("Undo", "undo", state.undo, disabled=not state.current().past)
    if not has_labs:
        st.caption(_ONE_LAB)
    notices.draw()
    tray.draw_line(linked=False)
    result = sides.found()
    for problem in result.problems:
        st.warning(f"Not compared: {escaped(problem)}", icon=":material/link_off:")
    if len(result.sides) < FEWEST_SIDES:
        _draw_too_few(result.kept)
    else:
        panel.draw(comparison_panel(result.sides))
        with st.container(horizontal=True, key="compare_files"):
            download("Download as CSV", partial(_csv, result.sides), "comparison.csv")
            download("Download as Excel", partial(_excel, result.sides), "comparison.xlsx")


def _draw_too_few(kept: Sequence[TrayCase]) -> None:
    lacking = "Nothing to compare yet."
    if kept:
        lacking = f"{escaped(kept[0].name)} is the plan that is open: it needs another one."
    st.info(
        f"{lacking} Choose above, or press Add to comparison on any page.",
        icon=":material/compare_arrows:",
    )


def _csv(compared: Sequence[Side]) -> str:
    heading, *rows = table(compared)
    return sheet([str(name) for name in heading], rows)


def _excel(compared: Sequence[Side]) -> bytes:
    return workbook({"Comparison": table(compared)})


def _draw_labs() -> bool:
    """Draw the way to compare labs; return whether there are any to compare."""
    own = state.case().own_lab
    label = "Your lab and the study’s" if own.name or own.changes else "The three labs"
    alone = state.case().own is not None and len(_labs()) < FEWEST_SIDES
    button(label, "science", lambda: tray.keep_only(_labs()), disabled=alone)
    return not alone


def _labs() -> list[TrayCandidate]:
    """Return the open plan in the visitor's lab, if there is one, and in each lab of its study.

    Labs that are the same are one.
    """
    case = state.case()
    cases = {level: case.with_lab(level, case.seed) for level in Difficulty}
    labs = {level: item.written(own_studies.find).lab for level, item in cases.items()}
    alike: dict[Difficulty, list[Difficulty]] = {}
    for level in Difficulty:
        first = next((difficulty for difficulty in alike if labs[difficulty] == labs[level]), level)
        alike.setdefault(first, []).append(level)
    overrides, candidates = case.own_lab, []
    if overrides.name or overrides.changes:
        candidates = [TrayCandidate(overrides.name or "Your lab", case.seated())]
    for first, levels in alike.items():
        name = "the study’s lab" if len(levels) == len(Difficulty) else f"{joined(levels)} lab"
        candidates.append(TrayCandidate(name, cases[first]))
    return candidates


def _ways(here: PlanAnalysis) -> Iterator[TrayCandidate]:
    """Yield the open plan, and each of the two ways that makes another of it."""
    case = state.case()
    yield TrayCandidate("Your plan", case.seated())
    for name, plan in (("The Lab Manager’s", here.offered), ("Least loss", here.least.after)):
        if plan.plan != here.yours.plan:
            yield TrayCandidate(name, case.with_plan(plan.plan, own_studies.find))
