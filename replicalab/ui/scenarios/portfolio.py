"""One budget for several studies: which are to be chosen from, what each counts, what is chosen."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import streamlit as st

from replicalab.errors import PortfolioError
from replicalab.facts.portfolio import TITLE, portfolio_panel
from replicalab.facts.records import PORTFOLIO, portfolio_row
from replicalab.lexicon import joined
from replicalab.models import Protocol
from replicalab.planner import Portfolio, PortfolioStudy, portfolio_of
from replicalab.planner.plan_options import MOST_WORTH
from replicalab.planner.portfolio import MOST_STUDIES
from replicalab.scenarios import LabOverrides, Pack
from replicalab.tables import sheet
from replicalab.ui import panel, state
from replicalab.ui.controls import NumberField, between, complain
from replicalab.ui.files import download
from replicalab.ui.words import escaped

PLACE: Final = "portfolio"
_FOUND: Final = "portfolio_found"
# What the studies have to share, as the fields above the table call it.
_SHARED: Final = {"budget": "budget", "days": "days", "staff": "staff"}


class Listed(NamedTuple):
    """A study of the table.

    Attributes:
        key: what tells it from the others.
        origin: whose it is, where it is not on the shelf.
        link: where a plan of it opens that starts on a certain day.
    """

    pack: Pack
    key: str
    origin: str
    link: Callable[[Protocol, int], str]


def draw(studies: Mapping[str, Listed]) -> None:
    """Draw the part of the page; closed nothing of it is worked out."""
    place = st.expander(TITLE, key=PLACE, icon=":material/account_balance_wallet:",
                        on_change="rerun")  # fmt: skip
    if place.open:
        with place:
            _draw(studies)


def _draw(studies: Mapping[str, Listed]) -> None:
    own = state.case().own_lab
    if missing := [word for name, word in _SHARED.items() if getattr(own, name) is None]:
        st.caption(f"Type the {joined(missing)} that the studies share into the fields above.")
        return
    picked = st.multiselect(
        "Studies to choose from",
        list(studies),
        key="portfolio_studies",
        placeholder="Choose studies",
        persist_state="session",
    )
    if not picked:
        st.caption("Choose the studies that are to share this budget.")
        return
    if problem := _too_many(picked):
        complain(problem)
        return
    listed = [studies[name] for name in picked]
    candidates = _candidates(picked, listed, own)
    if candidates is not None:
        _draw_found(candidates, listed)


def _too_many(picked: Sequence[str]) -> str:
    if len(picked) <= MOST_STUDIES:
        return ""
    return f"{len(picked)} studies are chosen. Choose {MOST_STUDIES} at most."


def _candidates(
    picked: Sequence[str], listed: Sequence[Listed], own: LabOverrides
) -> list[PortfolioStudy] | None:
    """Draw what each study counts, and return them; None while a number cannot be."""
    share = NumberField(
        "Share counted above the floor",
        "portfolio_share",
        0.0,
        why_not=between("The share", (0, 1)),
        step=0.05,
    )
    worths = [
        NumberField(
            f"Worth of {escaped(name)}",
            f"portfolio_worth_{each.key}",
            1.0,
            why_not=between(f"The worth of {name}", (0, MOST_WORTH)),
            step=0.5,
        )
        for name, each in zip(picked, listed, strict=True)
    ]
    with st.grid("auto", min_column_width=150, vertical_alignment="bottom", key="portfolio_worths"):
        share.draw(
            persist_state="session",
            help="A plan that only reaches its floor counts this share of its study’s worth.",
        )
        for field in worths:
            field.draw(persist_state="session")
    if problems := [field.problem for field in (share, *worths) if field.problem]:
        complain(*problems)
        return None
    first = own.start_day or 1
    return [
        PortfolioStudy(
            each.pack.in_lab(each.pack.lab.with_means(start_day=first)),
            1.0 if field.typed is None else float(field.typed),
            float(share.typed or 0),
        )
        for each, field in zip(listed, worths, strict=True)
    ]


def _draw_found(candidates: Sequence[PortfolioStudy], listed: Sequence[Listed]) -> None:
    try:
        found = _found(tuple(candidates))
    except PortfolioError as error:
        complain(f"{error}.")
        return
    links = [listed[each.place].link(each.plan.plan, each.first) for each in found.chosen]
    panel.draw(portfolio_panel(found, links, [each.origin for each in listed]))
    if found.chosen:
        rows = [tuple(portfolio_row(each).values()) for each in found.chosen]
        download("Download these as CSV", lambda: sheet(PORTFOLIO, rows), "portfolio.csv")


def _found(candidates: tuple[PortfolioStudy, ...]) -> Portfolio:
    """Return what is chosen; worked out anew where something has changed."""
    kept: Portfolio | None = st.session_state.get(_FOUND)
    if kept is None or kept.candidates != candidates:
        kept = st.session_state[_FOUND] = portfolio_of(candidates)
    return kept
