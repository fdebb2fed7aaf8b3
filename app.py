"""Scenarios, the front door: what this is, the stories, and every study at a glance.

Run, this file draws the front door. `streamlit run app.py` imports it first: then it is what
serves every page, behind the wall.
"""

import streamlit as st

from replicalab.ui import frame, scenarios, wall

if __name__ == "__main__":
    with frame.page("Scenarios"):
        scenarios.draw()
else:
    app = st.App(__file__, middleware=wall.MIDDLEWARE)
