"""``serve``: the dashboard, from this machine and to it alone."""

import os
import runpy
import socket
import sys
import time
import urllib.request
import webbrowser
from threading import Thread
from typing import Final

from replicalab.cli.commands import Options, command
from replicalab.cli.printing import Answer, CommandError
from replicalab.places import TREE

HOST: Final = "127.0.0.1"
_HIGHEST_PORT: Final = 65535
_MOST_TRIES: Final = 600  # 0.1 s apart


@command(
    "port",
    "no_browser",
    codes="1 after Ctrl-C or if it cannot start, 2 if the port is taken",
    example="--port 8600",
)
def serve(options: Options) -> Answer:
    """Serve the dashboard on this computer; `replicalab` alone does the same."""
    _require_free(options.port)
    # Without a screen, a text browser would take the terminal.
    has_screen = any(os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))
    if not options.no_browser and (has_screen or sys.platform in {"darwin", "win32"}):
        # Streamlit opens none for an `st.App`.
        Thread(target=_open_when_ready, args=(options.port,), daemon=True).start()
    # As `python -m streamlit run app.py` does, which reads .streamlit/config.toml next to app.py.
    sys.argv = ["streamlit", "run", str(TREE / "app.py"), f"--server.port={options.port}"]
    runpy.run_module("streamlit", run_name="__main__", alter_sys=True)
    return Answer(0, (), dict)


def _require_free(port: int) -> None:
    """Refuse a port that is taken: Streamlit's own message names no remedy."""
    if not 0 < port <= _HIGHEST_PORT:
        raise CommandError(f"--port {port} is no port; name one from 1024 to {_HIGHEST_PORT}")
    try:
        socket.create_server((HOST, port)).close()
    except OSError as error:
        problem = f"port {port} cannot be had ({os.strerror(error.errno or 0)})"
        raise CommandError(f"{problem}; end what uses it, or name another --port") from None


def _open_when_ready(port: int) -> None:
    url = f"http://{HOST}:{port}"
    for _ in range(_MOST_TRIES):
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1):  # noqa: S310 - ours
                webbrowser.open(url)
                return
        except OSError:
            time.sleep(0.1)
