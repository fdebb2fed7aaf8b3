"""Start a Streamlit server, wait for its runs, watch a page, take pictures."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final, Literal, Self
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from axe_playwright_python.sync_playwright import Axe
from playwright import sync_api
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

ROOT: Final = Path(__file__).resolve().parents[2]
APP: Final = ROOT / "app.py"
ARTIFACTS: Final = ROOT / "test-artifacts"
HOST: Final = "127.0.0.1"

START_SECONDS: Final = 180.0
"""A server that fails ends by itself; on a busy machine one that starts may take minutes."""
RUN_SECONDS: Final = 20.0

CHROMIUM_FLAGS: Final = (
    "--no-sandbox",  # containers run as root; the browser only sees our own server
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-component-update",
    "--disable-background-networking",
)


def find_chromium(bundled: str | None = None) -> Path | None:
    named = os.environ.get("REPLICALAB_CHROMIUM")
    if named:
        return Path(named) if os.access(named, os.X_OK) else None
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    texts = (shutil.which(name) for name in names)
    candidates = ("/usr/bin/chromium", *texts, bundled)
    return next((Path(path) for path in candidates if path and os.access(path, os.X_OK)), None)


@dataclass(frozen=True)
class View:
    """A window in CSS pixels and its colour scheme."""

    name: str
    width: int
    height: int
    scheme: Literal["light", "dark"] = "light"
    touch: bool = False

    def __str__(self) -> str:
        return self.name

    def context_args(self) -> dict[str, object]:
        return {
            "viewport": {"width": self.width, "height": self.height},
            "color_scheme": self.scheme,
            "reduced_motion": "reduce",
            "has_touch": self.touch,
            "locale": "en-GB",
            "timezone_id": "UTC",
        }


PROJECTOR: Final = View("projector", 1280, 720)
PROJECTOR_DARK: Final = View("projector-dark", 1280, 720, "dark")
PHONE: Final = View("phone", 390, 844, touch=True)
PHONE_DARK: Final = View("phone-dark", 390, 844, "dark", touch=True)


@dataclass
class AppServer:
    """A running Streamlit server of the app; a context manager that ends it by its handle."""

    app: Path
    log: Path
    options: Mapping[str, str] = field(default_factory=dict)
    port: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)
    command: Sequence[str] = ()
    """The command that serves the app, given ``--port``; Streamlit if empty."""
    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def base(self) -> str:
        path = self.options.get("server.baseUrlPath", "")
        return f"/{path}" if path else ""

    @property
    def resident_mib(self) -> float:
        assert self._process is not None, "the server is not running"
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def __enter__(self) -> Self:
        self.port = self.port or free_port()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command(),
                cwd=self.app.parent,
                env=_environment() | dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            self._wait_until_healthy(self._process)
        except BaseException:
            self.stop()
            raise
        return self

    def _command(self) -> list[str]:
        if self.command:
            return [*self.command, f"--port={self.port}"]
        flags = {"server.port": str(self.port), "server.headless": "true", **self.options}
        command = [sys.executable, "-m", "streamlit", "run", str(self.app)]
        return command + [f"--{key}={value}" for key, value in flags.items()]

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for sign in (signal.SIGTERM, signal.SIGKILL):
            if process.poll() is None:
                os.killpg(process.pid, sign)
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                continue
            return

    def tail(self, lines: int = 60) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def _wait_until_healthy(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if process.poll() is not None:
                message = f"the server ended with code {process.returncode}:\n{self.tail()}"
                raise RuntimeError(message)
            try:
                with urllib.request.urlopen(f"{self.url}{self.base}/_stcore/health", timeout=1):
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
        message = f"no answer from {self.url} within {START_SECONDS:.0f} s:\n{self.tail()}"
        raise RuntimeError(message)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
    return port


def _environment() -> dict[str, str]:
    record = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("STREAMLIT_", "REPLICALAB_"))
    }
    record |= {key: os.environ[key] for key in ("REPLICALAB_DATA",) if key in os.environ}
    return {**record, "PYTHONUNBUFFERED": "1"}


_FINISHED_RUNS: Final[WeakKeyDictionary[sync_api.Page, list[sync_api.WebSocket]]] = (
    WeakKeyDictionary()
)
"""Per page, the connection of each script run that ended."""


def count_runs(page: sync_api.Page) -> None:
    finished = _FINISHED_RUNS.setdefault(page, [])

    def listen(heard: sync_api.WebSocket) -> None:
        heard.on("framereceived", partial(note, heard))

    def note(heard: sync_api.WebSocket, payload: str | bytes) -> None:
        if isinstance(payload, str):
            return
        message = ForwardMsg.FromString(payload)
        if message.WhichOneof("type") != "script_finished":
            return
        status = ForwardMsg.ScriptFinishedStatus.Name(message.script_finished)
        if status != "FINISHED_EARLY_FOR_RERUN":
            finished.append(heard)

    page.on("websocket", listen)


@contextmanager
def wait_for_run(page: sync_api.Page, seconds: float = RUN_SECONDS) -> Iterator[None]:
    """Return when the run that the body starts has been drawn.

    Only the server's messages are reliable: the front end does not show a fast run.
    """
    finished = _FINISHED_RUNS[page]
    before = len(finished)
    yield
    _wait_until(page, lambda: len(finished) > before, seconds)


def _wait_until(
    page: sync_api.Page, finished: Callable[[], bool], seconds: float = RUN_SECONDS
) -> None:
    deadline = time.monotonic() + seconds
    while not finished():
        assert time.monotonic() < deadline, f"no script run ended within {seconds:.0f} s"
        page.wait_for_timeout(10)
    wait_until_idle(page)


def wait_until_idle(page: sync_api.Page) -> None:
    app = '[data-testid="stApp"][data-test-connection-state="CONNECTED"]'
    page.locator(f'{app}[data-test-script-state="notRunning"]').wait_for(state="attached")
    page.evaluate(DRAWN)
    sync_api.expect(page.locator("[data-stale=true] .stHtml")).to_have_count(0)


DRAWN: Final = """() => new Promise(resolve =>
    requestAnimationFrame(() => requestAnimationFrame(resolve)))"""


STILL_MS: Final = 250
STILL: Final = """quiet => new Promise(resolve => {
  let timer = setTimeout(resolve, quiet);
  new PerformanceObserver(() => { clearTimeout(timer); timer = setTimeout(resolve, quiet); })
    .observe({type: 'layout-shift'});
})"""


def open_app(page: sync_api.Page, address: str = "/") -> None:
    _load(page, lambda: page.goto(address))


def reload_app(page: sync_api.Page) -> None:
    _load(page, page.reload)


def _load(page: sync_api.Page, load: Callable[[], object]) -> None:
    """Load, and wait until the page can be used.

    A widget that loads late moves the parts below it, so a click aimed before it would miss.
    Only a run on a new connection counts: one of the old page may end meanwhile.
    """
    opened: list[sync_api.WebSocket] = []

    def note(heard: sync_api.WebSocket) -> None:
        opened.append(heard)

    page.on("websocket", note)
    load()
    finished = _FINISHED_RUNS[page]
    _wait_until(page, lambda: any(item in finished and not item.is_closed() for item in opened))
    page.remove_listener("websocket", note)
    page.evaluate(STILL, STILL_MS)


def looks(page: sync_api.Page, views: Sequence[View]) -> Iterator[View]:
    for view in views:
        page.set_viewport_size({"width": view.width, "height": view.height})
        page.emulate_media(color_scheme=view.scheme)
        sync_api.expect(page.get_by_test_id("stApp")).to_have_css("color-scheme", view.scheme)
        # Charts follow a resize in their own time.
        page.wait_for_timeout(500 if page.locator(".js-plotly-plot").count() else 100)
        yield view


_DEEP_LINK_PROBE: Final = re.compile(r"/[^/]+/_stcore/(host-config|health)")
"""The front end looks for the server below a page's address first: two harmless 404s."""


_TELL_VIOLATIONS: Final = """document.addEventListener("securitypolicyviolation", event =>
  console.error(`policy violation: ${event.effectiveDirective} of ${event.blockedURI}`))"""


def tell_violations(context: sync_api.BrowserContext) -> None:
    context.add_init_script(_TELL_VIOLATIONS)


def forget_visitor(page: sync_api.Page, url: str) -> None:
    page.context.clear_permissions()
    page.context.clear_cookies()
    record = {"origin": url, "storageTypes": "cookies,local_storage,indexeddb"}
    page.context.new_cdp_session(page).send("Storage.clearDataForOrigin", record)
    page.context.request.get(url)


class Watch:
    """Notes errors and foreign requests of a page during a test."""

    def __init__(self, context: sync_api.BrowserContext) -> None:
        self.findings: list[str] = []
        self._context = context
        context.on("request", self._on_request)
        context.on("console", self._on_console)
        context.on("weberror", self._on_error)

    def leave(self) -> None:
        self._context.remove_listener("request", self._on_request)
        self._context.remove_listener("console", self._on_console)
        self._context.remove_listener("weberror", self._on_error)

    def assert_clean(self, page: sync_api.Page) -> None:
        findings = list(self.findings)
        if not page.is_closed():
            boxes = page.get_by_test_id("stException").all_inner_texts()
            findings += [f"exception box: {text}" for text in boxes]
        assert not findings, "\n".join(findings)

    def _on_request(self, request: sync_api.Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in {"data", "blob", "about"} and address.hostname != HOST:
            self.findings.append(f"request to another machine: {request.url}")

    def _on_console(self, message: sync_api.ConsoleMessage) -> None:
        if message.type != "error":
            return
        source = message.location.get("url", "")
        is_probe = _DEEP_LINK_PROBE.fullmatch(urlsplit(source).path) and "404" in message.text
        if not is_probe:
            self.findings.append(f"console error: {message.text} ({source})")

    def _on_error(self, error: sync_api.WebError) -> None:
        self.findings.append(f"page error: {error.error}")


def keep_picture(page: sync_api.Page, node_id: str) -> Path | None:
    """Save a picture of a failed test's page under ``test-artifacts/``; None if it is closed.

    Streamlit scrolls inside ``stMain``, so the window grows to the content.
    """
    if page.is_closed():
        return None
    name = re.sub(r"[^A-Za-z0-9]+", "-", node_id.removeprefix("tests/browser/")).strip("-")
    path, main = ARTIFACTS / f"{name}.png", page.get_by_test_id("stMain")
    path.parent.mkdir(parents=True, exist_ok=True)
    if page.viewport_size and main.count():
        height = int(main.first.evaluate("element => element.scrollHeight"))
        page.set_viewport_size({"width": page.viewport_size["width"], "height": height})
    page.screenshot(path=path, animations="disabled")
    return path


def assert_accessible(page: sync_api.Page, allowed: Sequence[str] = ()) -> None:
    if page.get_by_test_id("stApp").count():  # a document that was handed over is no app
        wait_until_idle(page)  # dimmed text is faint on purpose
    response = Axe().run(page).response
    bad = [
        f"{rule['id']} ({rule['impact']}): {node['html']}\n{node['failureSummary']}"
        for rule in response["violations"]
        if rule["impact"] in {"serious", "critical"} and rule["id"] not in allowed
        for node in rule["nodes"]
    ]
    assert not bad, "\n\n".join(bad)
