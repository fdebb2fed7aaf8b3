"""Ask whether this container is ready, below the path and by a name that it serves."""

import os
from urllib.request import Request, urlopen

path = os.environ.get("STREAMLIT_SERVER_BASE_URL_PATH", "").strip("/")
names = os.environ.get("STREAMLIT_SERVER_ALLOWED_HOSTS", "").split() or ["127.0.0.1"]
asked = f"http://127.0.0.1:8501{f'/{path}' if path else ''}/ready"
urlopen(Request(asked, headers={"Host": names[0]}), timeout=4)
