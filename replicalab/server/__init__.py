"""What stands between the network and the pages, and all that touches Streamlit's inside.

`app.py` gives `middleware` and `lifespan` to `st.App`. The pages ask `visitor` whose they are, take
turns, and refuse to be drawn where the wall is not there.
"""

from replicalab.server import internals
from replicalab.server.messages import LONGEST_QUERY
from replicalab.server.running import Pages, lifespan, middleware, take_turn
from replicalab.server.wall import stands_before_this_run

# Before anything else is asked of it: of an older one app.py may ask for what it has not.
internals.require_version()
