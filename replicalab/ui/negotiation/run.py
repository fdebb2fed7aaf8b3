"""The whole run: the seven dimensions by round, how it converges, who gave what, and the judge."""

from __future__ import annotations

from typing import Final

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.figures import CONFIG, convergence_chart
from replicalab.negotiation import Negotiation
from replicalab.panels.negotiation import judge_panel, ledger_panel, matrix_panel
from replicalab.ui import panel
from replicalab.ui.negotiation.table import shown_round

_MOST_SIDE_BY_SIDE: Final = 6


def draw(negotiation: Negotiation) -> None:
    """Draw matrix and convergence, side by side or in turn when there are many rounds."""
    few = len(negotiation.rounds) <= _MOST_SIDE_BY_SIDE
    matrix, chart = st.columns(2, gap="large") if few else (st.container(), st.container())
    with matrix:
        draw_matrix(negotiation)
    with chart:
        draw_convergence(negotiation)


def draw_matrix(negotiation: Negotiation) -> None:
    """Draw the seven dimensions by round, and each round's plan in numbers."""
    panel.draw(matrix_panel(negotiation, shown_round(negotiation)))


def draw_convergence(negotiation: Negotiation) -> None:
    """Draw what each round's plan uses and would show."""
    plans = plans_by_round(negotiation)
    if not plans:
        st.caption("No plan has been put forward yet, so there is nothing to compare.")
        return
    st.plotly_chart(
        convergence_chart(plans),
        key="convergence",
        config=CONFIG,
        theme=None,
        alt="Use of budget, days and staff by round, and below it the evidence by round",
    )


def plans_by_round(negotiation: Negotiation) -> list[tuple[int, Assessment]]:
    """Return the plans of the rounds that have one, by the round's number."""
    return [(done.number + 1, done.plan) for done in negotiation.rounds if done.plan is not None]


def draw_end(negotiation: Negotiation) -> None:
    """Draw who gave what, and after the end what a judge makes of it, who knows the reference."""
    judged = [judge_panel(negotiation)] if negotiation.ending is not None else []
    panel.draw(ledger_panel(negotiation), *judged)
