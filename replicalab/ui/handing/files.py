"""Files that open here again: the bundle of everything, the plan alone, the lab alone."""

from __future__ import annotations

from functools import partial

import streamlit as st

from replicalab.lexicon import count_text, joined
from replicalab.scenarios import lab_json
from replicalab.scenarios.plan_file import plan_json
from replicalab.ui import state
from replicalab.ui.handing.whole import download, whole


def draw() -> None:
    """Draw the bundle, what is in it, and the smaller files."""
    found = whole()
    plan = found.options.yours.plan
    talks = f"negotiation ({count_text(len(found.run.rounds), 'round')})" if found.run else ""
    decided = "decision" if found.decision else ""
    held = joined([*filter(None, ("Study", "lab", "question", "plan", decided, talks))])
    st.caption(
        f"{held} as one file. It opens here and elsewhere under "
        "More, Open a file, also where nobody has the study; there everything is worked out anew "
        "and held against it."
    )
    download("Bundle", found.bundle, found.name("bundle", "json"), type="primary")
    with st.container(horizontal=True):
        alone = partial(plan_json, plan, found.written.scenario_id)
        download("Plan alone", alone, found.name("plan", "json"))
        lab = state.workspace().own_lab
        download("Lab alone", partial(lab_json, lab), found.name("lab", "json"))
