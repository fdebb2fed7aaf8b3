"""Origin checks in a real browser: no page of another site reads or embeds the app."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Final

from playwright.sync_api import BrowserContext, Page

from replicalab.server import VISITOR_COOKIE
from tests.browser.driving import HOST, AppServer, Watch, open_app, tell_violations, wait_for_run


class Elsewhere:
    """Another web site on this machine: its page and its requests."""

    def __init__(self, page: str, port: int) -> None:
        self.page = page
        self.url = f"http://{HOST}:{port}"
        self.requests: list[str] = []


@contextmanager
def elsewhere(page: str) -> Iterator[Elsewhere]:
    class PageHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.requests.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(site.page.encode())

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer((HOST, 0), PageHandler) as httpd:
        site = Elsewhere(page, httpd.server_port)
        thread = Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield site
        finally:
            httpd.shutdown()
            thread.join()


def test_page_fetches_nothing_from_elsewhere(
    context: BrowserContext, app_server: AppServer
) -> None:
    tell_violations(context)
    watch, page = Watch(context), context.new_page()
    page.goto("/")
    page.get_by_test_id("stApp").wait_for()
    with elsewhere("") as site:
        page.evaluate(
            """async url => {
              const image = new Image();
              const failed = new Promise(done => { image.onerror = done; });
              image.src = url + '/picture';
              document.body.append(image);
              await failed;
              await fetch(url + '/fetched', {mode: 'no-cors'}).catch(() => null);
              const script = document.createElement('script');
              script.textContent = 'window.ran = true';
              document.body.append(script);
              document.body.setAttribute('onclick', 'window.ran = true');
              document.body.click();
            }""",
            site.url,
        )
        assert not site.requests
    assert page.evaluate("window.ran") is None
    violated = "\n".join(watch.findings)
    for directive in ("img-src", "connect-src", "script-src-elem", "script-src-attr"):
        assert f"policy violation: {directive} of" in violated


ATTACK: Final = """<!doctype html><title>Elsewhere</title>
<a href="{app}/">a link</a>
<iframe src="{app}/Trade-offs"></iframe>
<object data="{app}/Trade-offs"></object>
<embed src="{app}/Trade-offs">
<script>
  const socketed = url => new Promise(done => {{
    const socket = new WebSocket(url, ['streamlit']);
    socket.onopen = () => done('opened');
    socket.onerror = () => done('refused');
  }});
  const fetched = (path, mode) =>
    fetch('{app}' + path, {{mode}}).then(() => 'answered', () => 'refused');
  const loaded = (kind, path) => new Promise(done => {{
    const element = document.createElement(kind);
    element.onload = () => done('answered');
    element.onerror = () => done('refused');
    element.src = '{app}' + path;
    document.body.append(element);
  }});
  addEventListener('load', async () => {{
    window.answers = await Promise.all([
      socketed('{app}/_stcore/stream'.replace('http', 'ws')),
      fetched('/_stcore/health', 'cors'),
      fetched('/_stcore/health', 'no-cors'),
      loaded('img', '/favicon.png'),
      loaded('script', '/_stcore/host-config'),
    ]);
  }});
</script>"""


def test_page_elsewhere_gets_nothing(context: BrowserContext, app_server: AppServer) -> None:
    page = context.new_page()
    sockets: list[str] = []
    page.on("websocket", lambda socket: sockets.append(socket.url))
    with elsewhere(ATTACK.format(app=app_server.url)) as site:
        page.goto(site.url)
        page.wait_for_function("window.answers")
        assert set(page.evaluate("window.answers")) == {"refused"}
        assert len(sockets) == 1, "the page's own attempt; a frame opened none"
        assert all("ReplicaLab" not in frame.content() for frame in page.frames[1:])


def test_visitor_stays_after_link_from_elsewhere(app_page: Page, app_server: AppServer) -> None:
    def token() -> list[str]:
        cookies = app_page.context.cookies(app_server.url)
        return [cooky["value"] for cooky in cookies if cooky["name"] == VISITOR_COOKIE]

    open_app(app_page)
    first = token()
    with elsewhere(
        f'<link rel="icon" href="data:,"><a href="{app_server.url}/">a link</a>'
    ) as site:
        app_page.goto(site.url)
        with wait_for_run(app_page):
            app_page.get_by_role("link", name="a link").click()
    assert len(first) == 1
    assert token() == first
