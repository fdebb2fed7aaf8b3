"""The survey: the best plan of every study in the visitor's lab."""

from collections.abc import Callable
from typing import Final, NamedTuple
from urllib.parse import urlencode

import streamlit as st

from replicalab.characters import on_one_line
from replicalab.errors import LinkError
from replicalab.facts.lab import any_lab_text
from replicalab.facts.survey import COLUMNS, COST, ORDERS, cells, order_key, survey_panel
from replicalab.lexicon import CREDITS, capitalised
from replicalab.models import Protocol
from replicalab.negotiation.case import Case
from replicalab.planner import SurveyedStudy, surveyed
from replicalab.scenarios import EvidenceAssumptions, Pack, list_scenarios, shelf_fingerprint
from replicalab.tables import sheet
from replicalab.ui import own_studies, panel, state
from replicalab.ui.controls import complain
from replicalab.ui.files import download
from replicalab.ui.lab.fields import draw_means_everywhere
from replicalab.ui.own_studies import OwnStudy
from replicalab.ui.workspace import Workspace, to_query

IN_YOUR_LAB: Final = "Your lab"
_ROWS: Final = "survey_rows"


class ListedStudy(NamedTuple):
    """A study of the table, for features; ``link`` takes a plan and its first day."""

    pack: Pack
    key: str  # its id, or the key of a visitor's study
    origin: str  # its owner if it is not a shipped study
    link: Callable[[Protocol, int], str]


class _Row(NamedTuple):
    study: SurveyedStudy
    own: str | None  # the key of a visitor's study
    origin: str  # its owner if it is not a shipped study


def draw() -> None:
    """Draw the lab and the order, the table, and the buttons that open a study."""
    with st.grid("auto", min_column_width=150, vertical_alignment="bottom", key="survey_said"):
        problems = draw_means_everywhere()
        currency = state.case().own_lab.currency or CREDITS
        order = st.selectbox(
            "Sort by",
            ORDERS,
            format_func=lambda name: capitalised(currency) if name == COST else name,
            key="survey_order",
            persist_state="session",
        )
    complain(*problems)
    hidden = state.case().study if state.is_hidden() else None
    visible = (row for row in _rows() if row.study.pack.scenario_id != hidden)
    rows = sorted(visible, key=lambda row: order_key(order)(row.study))
    case = state.case()
    lab = any_lab_text(case.own_lab, case.lab, case.seed)
    listed = [(row.study, row.origin, _link(row)) for row in rows]
    # The page's heading until its header has one.
    panel.draw(survey_panel(lab, listed, order, level=2 if state.current().chosen else 1))
    _draw_ways_on(rows)
    panel.draw_features("survey", {name: _listed(row) for name, row in _names(rows).items()})


def _listed(row: _Row) -> ListedStudy:
    def link(plan: Protocol, first: int) -> str:
        case = _opened(row)
        overrides = case.own_lab.model_copy(update={"start_day": first})
        case = case.with_own(own_lab=overrides).with_plan(plan, own_studies.find)
        return _address(case)

    return ListedStudy(row.study.pack, row.own or row.study.pack.scenario_id, row.origin, link)


def _rows() -> tuple[_Row, ...]:
    case = state.case()
    brought = own_studies.readable(case.own)
    inputs = (case.own_lab, case.lab, case.seed, shelf_fingerprint(), brought)
    cached: tuple[object, tuple[_Row, ...]] | None = st.session_state.get(_ROWS)
    if cached is None or cached[0] != inputs:  # it takes seconds
        shelved = [_row(summary.scenario_id, None, case) for summary in list_scenarios()]
        own = [_row(study.study.scenario_id, study, case) for study in brought]
        cached = st.session_state[_ROWS] = inputs, (*shelved, *own)
    return cached[1]


def _row(scenario_id: str, own: OwnStudy | None, case: Case) -> _Row:
    key = own and own.key
    pack = own_studies.find(scenario_id, case.lab.value, case.seed, key)
    study = surveyed(pack.with_own(case.own_lab, EvidenceAssumptions()))
    return _Row(study, key, own_studies.origin(own) if own else "")


def _draw_ways_on(rows: list[_Row]) -> None:
    names = _names(rows)
    with st.container(horizontal=True, vertical_alignment="bottom", key="survey_ways"):
        chosen = st.selectbox(
            "Study to open",
            list(names),
            key="survey_choice",
            label_visibility="collapsed",
            width=260,
        )
        if st.button("Open in this lab", icon=":material/tune:", type="primary"):
            opened = _opened(names[chosen])
            if opened != state.case():
                state.open_case(opened)
            st.switch_page("pages/1_Protocol.py", query_params=state.address())
        table = [cells(row.study) for row in rows]
        download("Download as CSV", lambda: sheet(COLUMNS, table), "studies.csv")


def _opened(row: _Row) -> Case:
    # An open study keeps its plan.
    now, scenario_id = state.case(), row.study.pack.scenario_id
    if (scenario_id, row.own) == (now.study, now.own):
        return now
    return now.with_study(scenario_id, row.own).with_own(own_lab=now.own_lab)


def _link(row: _Row) -> str:
    return _address(_opened(row))


def _address(case: Case) -> str:
    try:
        return f"Protocol?{urlencode(to_query(Workspace(case=case)))}"
    except LinkError:  # it is too long
        return ""


def _names(rows: list[_Row]) -> dict[str, _Row]:
    named: dict[str, _Row] = {}
    for row in rows:
        pack = row.study.pack
        name = on_one_line(pack.paper.name)
        named[f"{name} ({row.own or pack.scenario_id})" if name in named else name] = row
    return named
