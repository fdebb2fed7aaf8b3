"""What every page has: its settings, the navigation, and a header that says where you are."""

from __future__ import annotations

import gc
from typing import Final

import streamlit as st

from replicalab.agents import check_feasibility
from replicalab.costs import cost_terms, counts_of
from replicalab.evidence import planned_evidence
from replicalab.figures import cost_chart
from replicalab.links import Workspace, to_query
from replicalab.sentences import plan_verdict
from replicalab.ui import session
from replicalab.ui.words import escaped, verdict_badge

PAGES: Final = (
    ("app.py", "Scenarios", ":material/science:"),
    ("pages/1_Protocol.py", "Protocol", ":material/tune:"),
    ("pages/2_Negotiation.py", "Negotiation", ":material/forum:"),
)


def open_page(title: str) -> None:
    """Set the page up and draw its header; the first call of every page."""
    st.set_page_config(
        page_title=f"{title} · ReplicaLab", page_icon=":material/science:", layout="wide"
    )
    _warm_up()
    session.begin()
    _draw_navigation(session.workspace())
    _draw_header()
    _draw_link_problems()


def close_page() -> None:
    """Write the workspace into the address; the last call of every page."""
    session.write_address()


@st.cache_resource(show_spinner=False)
def _warm_up() -> None:
    """Load what the pages use, once per process, and keep it out of every later collection."""
    pack = Workspace().pack()
    plan = pack.reference_protocol
    check_feasibility(plan, pack)
    cost_chart(cost_terms(counts_of(plan), pack.cost_model), 1.0, 1.0).to_json()
    gc.collect()
    gc.freeze()


def _draw_navigation(workspace: Workspace) -> None:
    query = to_query(workspace)
    with st.container(horizontal=True, vertical_alignment="center", key="navigation"):
        st.markdown("**ReplicaLab**", width="content")
        for page, label, icon in PAGES:
            st.page_link(page, label=label, icon=icon, query_params=query)


def _draw_header() -> None:
    pack, plan = session.pack(), session.plan()
    verdict = plan_verdict(check_feasibility(plan, pack), planned_evidence(plan, pack))
    seed = f", seed {pack.seed}" if pack.seed else ""
    with st.container(key="where"):
        st.markdown(
            f"{escaped(pack.study.title)} · **{pack.difficulty} lab**{seed} · "
            f"{verdict_badge(verdict)}"
        )


def _draw_link_problems() -> None:
    problems = session.link_problems()
    if problems:
        lines = "\n".join(f"- {escaped(problem)}" for problem in problems)
        st.warning(f"This link could not be opened in full.\n{lines}", icon=":material/link_off:")
        st.button("Dismiss", on_click=session.dismiss_link_problems)
