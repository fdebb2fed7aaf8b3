"""The survey: the best plan of every study in the visitor's lab."""

from typing import Final, NamedTuple
from urllib.parse import urlencode

import streamlit as st

from replicalab import characters, errors, lexicon, models, planner, scenarios, tables
from replicalab.facts import lab_facts, survey_facts
from replicalab.negotiation.case import Case
from replicalab.ui import controls, file_transfer, own_studies, screen, state, workspace
from replicalab.ui.lab_form.lab_fields import draw_means_everywhere

IN_YOUR_LAB: Final = "Your lab"
_ROWS: Final = "survey_rows"


class ListedStudy(NamedTuple):
    """A study of the table."""

    study: planner.SurveyedStudy
    own: str | None  # the key of a visitor's study
    origin: str  # its owner if it is not a shipped study

    @property
    def pack(self) -> scenarios.Pack:
        return self.study.pack

    @property
    def key(self) -> str:
        return self.own or self.pack.scenario_id

    def case_to_open(self) -> Case:
        """Return its case; an open study keeps its plan."""
        now, scenario_id = state.case(), self.pack.scenario_id
        if (scenario_id, self.own) == (now.study, now.own):
            return now
        return now.with_study(scenario_id, self.own).with_own(own_lab=now.own_lab)

    def link(self, plan: models.Protocol | None = None, first: int = 1) -> str:
        """Return its address, or that of a plan from its first day; empty if too long."""
        case = self.case_to_open()
        if plan is not None:
            overrides = case.own_lab.model_copy(update={"start_day": first})
            case = case.with_own(own_lab=overrides).with_plan(plan, own_studies.find)
        try:
            return f"Protocol?{urlencode(workspace.to_query(workspace.Workspace(case=case)))}"
        except errors.LinkError:
            return ""


def draw() -> None:
    """Draw the lab and the order, the table, and the buttons that open a study."""
    with st.grid("auto", min_column_width=150, vertical_alignment="bottom", key="survey_said"):
        problems = draw_means_everywhere()
        currency = state.case().own_lab.currency or lexicon.CREDITS
        order = st.selectbox(
            "Sort by",
            survey_facts.ORDERS,
            format_func=lambda order: survey_facts.order_name(order, currency),
            key="survey_order",
            persist_state="session",
        )
    controls.complain(*problems)
    hidden = state.case().study if state.is_hidden() else None
    visible = (row for row in _rows() if row.pack.scenario_id != hidden)
    rows = sorted(visible, key=lambda row: survey_facts.order_key(order)(row.study))
    case = state.case()
    lab = lab_facts.any_lab_text(case.own_lab, case.lab, case.seed)
    listed = [(row.study, row.origin, row.link()) for row in rows]
    level = 2 if state.current().chosen else 1  # the page's heading until its header has one
    screen.draw(survey_facts.survey_panel(lab, listed, order, level))
    named: dict[str, ListedStudy] = {}
    for row in rows:
        name = characters.on_one_line(row.pack.paper.name)
        named[f"{name} ({row.key})" if name in named else name] = row
    with st.container(horizontal=True, vertical_alignment="bottom", key="survey_ways"):
        label, names = "Study to open", list(named)
        chosen = st.selectbox(
            label, names, key="survey_choice", label_visibility="collapsed", width=260
        )
        if st.button("Open in this lab", icon=":material/tune:", type="primary"):
            opened = named[chosen].case_to_open()
            if opened != case:
                state.open_case(opened)
            st.switch_page("pages/1_Protocol.py", query_params=state.address())
        table = [survey_facts.cells(row.study) for row in rows]
        file_transfer.download(
            "Download as CSV", lambda: tables.sheet(survey_facts.COLUMNS, table), "studies.csv"
        )
    screen.draw_features("survey", named)


def _rows() -> tuple[ListedStudy, ...]:
    case = state.case()
    brought = own_studies.readable_studies(case.own)
    inputs = (case.own_lab, case.lab, case.seed, scenarios.shelf_fingerprint(), brought)
    cached: tuple[object, tuple[ListedStudy, ...]] | None = st.session_state.get(_ROWS)
    if cached is None or cached[0] != inputs:  # it takes seconds
        shipped = [(summary.scenario_id, None) for summary in scenarios.list_scenarios()]
        rows = []
        for scenario_id, own in (*shipped, *((own.study.scenario_id, own) for own in brought)):
            key = own.key if own else None
            pack = own_studies.find(scenario_id, case.lab.value, case.seed, key)
            study = planner.surveyed(pack.with_own(case.own_lab, scenarios.EvidenceAssumptions()))
            rows.append(ListedStudy(study, key, own_studies.origin(own)))
        cached = st.session_state[_ROWS] = inputs, tuple(rows)
    return cached[1]
