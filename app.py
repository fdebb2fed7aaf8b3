"""Scenarios, the front door: pick a study and a lab, read both, and see what happens there.

Run, this file draws the front door. `streamlit run app.py` imports it first: then it is what
serves every page, behind the wall.
"""

import streamlit as st

from replicalab.ui import frame, scenarios, wall

if __name__ == "__main__":
    with frame.page("Scenarios") as here:
        scenarios.draw(here)
else:
    app = st.App(__file__, middleware=wall.MIDDLEWARE)
