"""The Scenarios page: what this is, the stories, and every study at a glance.

Run, this file draws the Scenarios page. `streamlit run app.py` imports it first: then it defines
the app that serves every page.
"""

import streamlit as st

if __name__ == "__main__":
    from replicalab.ui import frame, scenarios_page

    frame.page("Scenarios", lambda _: scenarios_page.draw())
else:
    from replicalab import server
    from replicalab.ui import startup

    app = st.App(  # by this name and this call Streamlit knows that the file is an app of its own
        __file__,
        middleware=server.middleware(startup),
        lifespan=server.lifespan(startup),
        routes=server.routes(startup),
    )
