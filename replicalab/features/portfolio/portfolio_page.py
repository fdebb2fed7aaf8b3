"""The part of the Scenarios page on several studies."""

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from replicalab.errors import PortfolioError
from replicalab.features import portfolio as feature
from replicalab.features.portfolio import PortfolioStudy
from replicalab.lexicon import joined
from replicalab.scenarios import MOST
from replicalab.tables import sheet
from replicalab.ui import state
from replicalab.ui.controls import NumberField, between, complain, escape
from replicalab.ui.file_transfer import download
from replicalab.ui.scenarios_page.survey_list import ListedStudy
from replicalab.ui.screen import draw

_RESULT: Final = "portfolio_found"


def panel(_: str, studies: Mapping[str, ListedStudy]) -> None:
    """Draw the part; nothing is computed while it is closed."""
    icon = ":material/account_balance_wallet:"
    place = st.expander(feature.TITLE, key="portfolio", icon=icon, on_change="rerun")
    if place.open:
        with place:
            _draw(studies)


def _draw(studies: Mapping[str, ListedStudy]) -> None:
    own_lab = state.case().own_lab
    missing = [name for name in ("budget", "days", "staff") if getattr(own_lab, name) is None]
    if missing:
        st.caption(f"Type the {joined(missing)} that the studies share into the fields above.")
        return
    names = st.multiselect(
        "Studies to choose from",
        list(studies),
        key="portfolio_studies",
        placeholder="Choose studies",
        max_selections=feature.MAX_STUDIES,
        persist_state="session",
    )
    if not names:
        st.caption("Choose the studies that are to share this budget.")
        return
    listed = [studies[name] for name in names]
    candidates = _candidates(names, listed)
    if candidates is None:
        return
    try:
        last: feature.Portfolio | None = st.session_state.get(_RESULT)
        if last is None or last.candidates != tuple(candidates):
            last = st.session_state[_RESULT] = feature.portfolio_of(candidates)
    except PortfolioError as error:
        complain(f"{error}.")
        return
    links = [listed[study.place].link(study.plan.plan, study.first) for study in last.chosen]
    draw(feature.portfolio_panel(last, links, [study.origin for study in listed]))
    if last.chosen:
        rows = [tuple(feature.row_of(study).values()) for study in last.chosen]
        download("Download these as CSV", lambda: sheet(feature.FIELDS, rows), "portfolio.csv")


def _candidates(names: Sequence[str], listed: Sequence[ListedStudy]) -> list[PortfolioStudy] | None:
    """Draw the worth of each study; return the studies, or None if a number is impossible."""
    label, check = "Share counted above the floor", between("The share", (0, 1))
    share = NumberField(label, "portfolio_share", 0.0, None, check, 0.05)
    worths = []
    for name, study in zip(names, listed, strict=True):
        label, check = f"Worth of {escape(name)}", between(f"The worth of {name}", (0, MOST))
        worths.append(NumberField(label, f"portfolio_worth_{study.key}", 1.0, None, check, 0.5))
    meaning = "A plan that only reaches its floor counts this share of its study’s worth."
    with st.grid("auto", min_column_width=150, vertical_alignment="bottom", key="portfolio_worths"):
        share.draw(persist_state="session", help=meaning)
        for field in worths:
            field.draw(persist_state="session")
    if problems := [field.problem for field in (share, *worths) if field.problem]:
        complain(*problems)
        return None
    first = state.case().own_lab.start_day or 1
    return [
        PortfolioStudy(
            study.pack.in_lab(study.pack.lab.with_means(start_day=first)),
            1.0 if field.typed is None else float(field.typed),
            float(share.typed or 0),
        )
        for study, field in zip(listed, worths, strict=True)
    ]
