"""Every study in the visitor's lab: what may be said of it, the best plan of each, and a way in."""

from collections.abc import Callable
from typing import Final, NamedTuple
from urllib.parse import urlencode

import streamlit as st

from replicalab.case import Case
from replicalab.characters import on_one_line
from replicalab.errors import LinkError
from replicalab.facts.lab import any_lab_text
from replicalab.facts.survey import COLUMNS, COST, ORDERS, cells, order_key, survey_panel
from replicalab.lexicon import CREDITS, capitalised
from replicalab.models import Protocol
from replicalab.planner import SurveyedStudy, surveyed
from replicalab.scenarios import EvidenceAssumptions, Pack, list_scenarios, shelf_fingerprint
from replicalab.tables import sheet
from replicalab.ui import own_studies, panel, state
from replicalab.ui.address import to_query
from replicalab.ui.controls import complain
from replicalab.ui.files import download
from replicalab.ui.lab.fields import draw_means_everywhere
from replicalab.ui.own_studies import OwnStudy
from replicalab.ui.workspace import Workspace

IN_YOUR_LAB: Final = "Your lab"
_FOUND: Final = "survey_found"


class ListedStudy(NamedTuple):
    """A study of the table for the features below it.

    Attributes:
        key: its id, or the key of a visitor's study.
        origin: its owner if it is not a shipped study.
        link: the address of a plan of it that starts on a certain day.
    """

    pack: Pack
    key: str
    origin: str
    link: Callable[[Protocol, int], str]


class _Row(NamedTuple):
    """A study in the lab, and how it is opened.

    Attributes:
        own: the key of a visitor's study, None on the shelf.
        origin: whose it is, where it is not on the shelf.
    """

    found: SurveyedStudy
    own: str | None
    origin: str


def draw() -> None:
    """Draw the table, above it the lab and the order, below it the ways on."""
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
    visible = (row for row in _rows() if row.found.pack.scenario_id != hidden)
    rows = sorted(visible, key=lambda row: order_key(order)(row.found))
    case = state.case()
    lab = any_lab_text(case.own_lab, case.lab, case.seed)
    listed = [(row.found, row.origin, _link(row)) for row in rows]
    # The page's heading until its header has one.
    panel.draw(survey_panel(lab, listed, order, level=2 if state.is_chosen() else 1))
    _draw_ways_on(rows)
    panel.draw_features("survey", {name: _listed(row) for name, row in _names(rows).items()})


def _listed(row: _Row) -> ListedStudy:
    def link(plan: Protocol, first: int) -> str:
        case = _opened(row)
        overrides = case.own_lab.model_copy(update={"start_day": first})
        case = case.with_own(own_lab=overrides).with_plan(plan, own_studies.find)
        return _address(case)

    return ListedStudy(row.found.pack, row.own or row.found.pack.scenario_id, row.origin, link)


def _rows() -> tuple[_Row, ...]:
    """Return every study in the lab; worked out anew where the lab or a study has changed."""
    case = state.case()
    brought = own_studies.readable(case.own)
    row = (case.own_lab, case.lab, case.seed, shelf_fingerprint(), brought)
    pair: tuple[object, tuple[_Row, ...]] | None = st.session_state.get(_FOUND)
    if pair is None or pair[0] != row:
        studies: list[tuple[str, OwnStudy | None]]
        studies = [(summary.scenario_id, None) for summary in list_scenarios()]
        studies += [(study.study.scenario_id, study) for study in brought]
        pair = row, tuple(_row(name, custom, case) for name, custom in studies)
        st.session_state[_FOUND] = pair
    return pair[1]


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
        result = [cells(row.found) for row in rows]
        download("Download as CSV", lambda: sheet(COLUMNS, result), "studies.csv")


def _opened(row: _Row) -> Case:
    """Return the case of a study in this lab; an open one keeps its plan."""
    now, scenario_id = state.case(), row.found.pack.scenario_id
    if (scenario_id, row.own) == (now.study, now.own):
        return now
    return now.with_study(scenario_id, row.own).with_own(own_lab=now.own_lab)


def _link(row: _Row) -> str:
    """Return where a row opens, empty where an address has no room for it."""
    return _address(_opened(row))


def _address(case: Case) -> str:
    try:
        return f"Protocol?{urlencode(to_query(Workspace(case=case)))}"
    except LinkError:
        return ""


def _names(rows: list[_Row]) -> dict[str, _Row]:
    """Return the studies by name; one of a name that is taken by its id too."""
    named: dict[str, _Row] = {}
    for row in rows:
        pack = row.found.pack
        name = on_one_line(pack.paper.name)
        named[f"{name} ({row.own or pack.scenario_id})" if name in named else name] = row
    return named
