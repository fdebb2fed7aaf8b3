"""The Scenarios page: stories, the open study and what happens in its lab, the gallery."""

from __future__ import annotations

import streamlit as st

from replicalab.planner import Options
from replicalab.ui.gallery import reference_options
from replicalab.ui.scenarios import gallery, own, study

__all__ = ["draw"]


def draw(here: Options) -> None:
    """Draw the page."""
    pack = here.yours.pack
    is_reference = here.yours.plan == pack.reference_protocol
    reference = here if is_reference else reference_options(pack)
    st.header("What can this lab run, and what does each cut cost?")
    st.markdown(
        "A published experiment assumes ideal conditions; a lab has a budget, a calendar and "
        "booked instruments. Open a story, or pick a study and a lab below."
    )
    gallery.draw_stories()
    study.draw_story(reference)
    studies, paper, lab, substitutions, rules, yours = st.tabs(
        [
            "All studies",
            "The paper",
            "The lab",
            "Substitutions",
            "Restrictions and criteria",
            "Bring your own",
        ]
    )
    with studies:
        gallery.draw_gallery()
    with paper:
        study.draw_paper(pack)
        study.draw_design(pack)
    with lab:
        study.draw_lab(reference.yours)
    with substitutions:
        study.draw_substitutions(pack)
    with rules:
        study.draw_rules(pack)
    with yours:
        own.draw()
