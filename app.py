"""Scenarios, the front door: what this is, the stories, and every study at a glance.

Run, this file draws the front door. `streamlit run app.py` imports it first: then it is what
serves every page, behind the wall, and loads them while the browser loads its own part.
"""

import streamlit as st

if __name__ == "__main__":
    from replicalab.ui import frame, scenarios

    with frame.page("Scenarios"):
        scenarios.draw()
else:
    from replicalab.ui import wall, warming

    middleware = (*wall.MIDDLEWARE, *warming.MIDDLEWARE)
    app = st.App(__file__, middleware=middleware, lifespan=warming.ended_well)
