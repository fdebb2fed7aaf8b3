"""Signing in by OpenID Connect: the app as it is served, and a provider that may lie."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from replicalab.library import Event, EventKind, Library
from tests.browser.driving import APP, HOST, AppServer, free_port
from tests.server.provider import CLIENT, COOKIE_SECRET, Provider, write_secrets
from tests.server.test_served import run

pytestmark = pytest.mark.xdist_group("signing in")  # one server for all of them

TOKEN: Final = "replicalab_sign_in"
BEGUN: Final = "replicalab_sign_in_begun"
WANTED: Final = "replicalab_wanted"


@pytest.fixture(scope="module")
def honest() -> Iterator[Provider]:
    with Provider() as provider:
        yield provider


@pytest.fixture(autouse=True)
def provider(honest: Provider) -> Provider:
    honest.be_honest()
    return honest


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("signing_in")


@pytest.fixture(scope="module")
def server(honest: Provider, folder: Path) -> Iterator[AppServer]:
    port = free_port()
    environment = {
        "STREAMLIT_SECRETS_FILES": str(write_secrets(folder / "secrets.toml", honest.url, port)),
        "REPLICALAB_DATA": str(folder / "data"),
        "REPLICALAB_MAY_BATCH": "group:staff",
    }
    log = folder / "streamlit.log"
    with AppServer(APP, log, port=port, environment=environment) as running:
        yield running


_CLIENTS: Final[list[httpx2.Client]] = []


@pytest.fixture(autouse=True)
def _nobody_stays() -> Iterator[None]:
    yield
    while _CLIENTS:
        _CLIENTS.pop().close()


class Visitor:
    """A browser that keeps cookies, and follows no link by itself."""

    def __init__(self, server: AppServer) -> None:
        self.server, self.base = server, server.base
        self.client = httpx2.Client(base_url=server.url, timeout=30)
        _CLIENTS.append(self.client)
        self.get(f"{self.base}/")

    def get(self, address: str, **headers: str) -> httpx2.Response:
        sent = [(name.encode(), value.encode()) for name, value in headers.items()]
        return self.client.get(address, headers=sent)

    def begin(self) -> str:
        """Begin to sign in; return where the provider is asked."""
        payload = {"provider": "default", "exp": int(time.time()) + 60}
        asked = jwt.encode({"alg": "HS256"}, payload, OctKey.import_key(COOKIE_SECRET))
        answer = self.get(f"{self.base}/auth/login?provider={asked}")
        assert answer.status_code == 302
        return str(answer.headers["location"])

    def chosen(self, name: str = "ann") -> str:
        """Begin, say who one is, and return where the provider sends the browser back to."""
        answer = httpx2.get(f"{self.begin()}&as={name}")
        return str(answer.headers["location"])

    def try_to_sign_in(self) -> httpx2.Response:
        return self.get(self.chosen())

    def sign_in(self, name: str = "ann") -> httpx2.Response:
        answer = self.get(self.chosen(name))
        assert answer.status_code == 302, answer.text + self.server.tail()
        return answer

    @property
    def token(self) -> str:
        return str(self.client.cookies.get(TOKEN, ""))

    def connect(self, joins: str = "") -> ClientConnection:
        cookies = "; ".join(f"{name}={value}" for name, value in self.client.cookies.items())
        protocols = ["streamlit", "token", joins] if joins else ["streamlit"]
        return connect(
            f"ws://{HOST}:{self.server.port}{self.base}/_stcore/stream",
            origin=Origin(self.server.url),
            additional_headers={"Cookie": cookies},
            subprotocols=[Subprotocol(each) for each in protocols],
            max_size=None,
        )


@pytest.fixture
def visitor(server: AppServer) -> Visitor:
    return Visitor(server)


@pytest.fixture
def audit(server: AppServer, folder: Path) -> Callable[[], list[Event]]:
    def read() -> list[Event]:
        library = Library(f"sqlite:///{folder / 'data' / 'library.db'}")
        events = library.people.events(1_000)
        library.close()
        return events

    assert server.port
    return read


def page_of(socket: ClientConnection) -> str:
    """Return all that a run of the front door sends."""
    message, drawn = BackMsg(), ""
    message.rerun_script.page_name = ""
    socket.send(message.SerializeToString())
    while True:
        received = socket.recv(timeout=30)
        answer = ForwardMsg.FromString(bytes(received))  # type: ignore[arg-type]
        drawn += str(answer.delta) if answer.WhichOneof("type") == "delta" else ""
        if answer.WhichOneof("type") == "script_finished":
            return drawn


def is_closed(socket: ClientConnection) -> bool:
    """Return whether the server ends a web socket, whatever it still sends."""
    try:
        while True:
            socket.recv(timeout=10)
    except ConnectionClosed:
        return True


def named_on(drawn: str) -> str:
    """Return whom the way out on a page names; empty where there is none."""
    found = re.search(r"Sign out \W+(\w+)", drawn)
    return found[1] if found else ""


def test_who_has_not_signed_in_sees_the_way_in_and_nothing_else(visitor: Visitor) -> None:
    with visitor.connect() as socket:
        drawn = page_of(socket)
    assert "Sign in" in drawn
    assert "navigation" not in drawn
    assert visitor.get("/media/anything.json").status_code == 401
    upload = "/_stcore/upload_file/session/file"
    assert visitor.client.put(upload, content=b"x").status_code == 401


def test_who_signed_in_has_a_token_and_no_claims_in_the_browser(
    provider: Provider, visitor: Visitor, audit: Callable[[], list[Event]]
) -> None:
    answer = visitor.sign_in()
    assert (answer.status_code, answer.headers["location"]) == (302, "/")
    named = {each.partition("=")[0]: each for each in answer.headers.get_list("set-cookie")}
    assert set(named) >= {TOKEN, BEGUN, WANTED}
    assert not [name for name in visitor.client.cookies if name.startswith("_streamlit_user")]
    assert set(named[TOKEN].split("; ")[1:]) == {
        "Path=/",
        f"Max-Age={12 * 3600}",
        "HttpOnly",
        "SameSite=Lax",
    }
    with visitor.connect() as socket:
        assert named_on(page_of(socket)) == "Ann"
    assert audit()[0].event is EventKind.SIGN_IN
    assert audit()[0].who == f"Ann (ann of {provider.url})"


def test_sign_in_leads_back_to_the_page_that_was_asked_for(visitor: Visitor) -> None:
    wanted = "/Protocol?study=fin_momentum&x=%2F%2Fevil"
    visitor.get(wanted)
    assert visitor.sign_in().headers["location"] == wanted


@pytest.mark.parametrize(
    "planted",
    ["//evil.example/", "https://evil.example/", "/%5Cevil.example", "%2F%2Fevil.example", "x", ""],
)
def test_planted_way_back_leads_nowhere_else(visitor: Visitor, planted: str) -> None:
    back = visitor.chosen()
    visitor.client.cookies.delete(WANTED)
    visitor.client.cookies.set(WANTED, planted, path="/oauth2callback")
    assert visitor.get(back).headers["location"] == "/"


def other_key(provider: Provider) -> None:
    provider.key = RSAKey.generate_key(2048, {"kid": "true"}, auto_kid=False)


def unsigned(provider: Provider) -> None:
    provider.header = {"alg": "none"}


def signed_with_the_public_key(provider: Provider) -> None:
    """As where whoever checks takes a public RSA key for a shared secret."""
    provider.header = {"alg": "HS256", "kid": "true"}


def claims(**lies: Any) -> Callable[[Provider], None]:
    def tell(provider: Provider) -> None:
        provider.lie = lambda true: {
            name: value for name, value in (true | lies).items() if value is not None
        }

    return tell


NOW: Final = int(time.time())
LIES: Final[dict[str, Callable[[Provider], None]]] = {
    "another key": other_key,
    "no signature": unsigned,
    "the public key as a secret": signed_with_the_public_key,
    "expired": claims(iat=NOW - 7200, exp=NOW - 3600),
    "from the future": claims(iat=NOW + 7200, exp=NOW + 9000),
    "without an end": claims(exp=None),
    "another issuer": claims(iss="https://evil.example"),
    "no issuer": claims(iss=None),
    "another audience": claims(aud="another app"),
    "another audience, issued to us": claims(aud="another app", azp=CLIENT),
    "two audiences, issued to another": claims(aud=[CLIENT, "another app"], azp="another app"),
    "no audience": claims(aud=None),
    "another nonce": claims(nonce="another"),
    "no nonce": claims(nonce=None),
    "nobody": claims(sub=None),
    "an empty name": claims(sub=""),
    "a number": claims(sub=7),
    "a name of two lines": claims(sub="ann\nben"),
    "a very long name": claims(sub="a" * 256),
}


@pytest.mark.parametrize("lie", LIES)
def test_token_that_is_not_what_it_should_be_signs_nobody_in(
    provider: Provider, visitor: Visitor, audit: Callable[[], list[Event]], lie: str
) -> None:
    LIES[lie](provider)
    answer = visitor.try_to_sign_in()
    assert answer.status_code == 403, lie
    assert "cannot be trusted and was refused" in answer.text
    assert not visitor.token
    assert audit()[0].event in {EventKind.REFUSAL, EventKind.SIGN_IN}  # no faster than some
    with visitor.connect() as socket:
        assert "Sign in" in page_of(socket)


def test_way_back_is_good_once(provider: Provider, visitor: Visitor) -> None:
    provider.sells_twice = True
    back = visitor.chosen()
    before = dict(visitor.client.cookies.items())
    assert visitor.get(back).status_code == 302
    again = visitor.get(back)
    assert (again.status_code, "did not begin in this browser" in again.text) == (403, True)
    # All cookies as they were, and a provider that takes the code once more.
    copied = "; ".join(f"{name}={value}" for name, value in before.items())
    replayed = httpx2.get(back, headers={"cookie": copied})
    assert (replayed.status_code, "was used before" in replayed.text) == (403, True)


def test_code_is_good_once(visitor: Visitor, server: AppServer) -> None:
    code = parse_qs(urlsplit(visitor.chosen()).query)["code"][0]
    visitor.sign_in()
    another = Visitor(server)
    state = parse_qs(urlsplit(another.chosen()).query)["state"][0]
    another.get(f"/oauth2callback?code={code}&state={state}")
    answer = another.get(f"/oauth2callback?code={code}&state={state}")
    assert answer.status_code == 403
    assert not another.token


def test_way_back_of_another_browser_is_refused(visitor: Visitor, server: AppServer) -> None:
    """Else a page elsewhere could sign its visitor in as somebody else."""
    victim = Visitor(server)
    back = visitor.chosen("ben")
    assert victim.get(back).status_code == 403
    # A neighbour may plant what Streamlit checks the answer with, whose name is a plain one.
    victim.begin()
    victim.client.cookies.delete("_streamlit_session")
    victim.client.cookies.set("_streamlit_session", visitor.client.cookies["_streamlit_session"])
    assert victim.get(back).status_code == 403
    assert not victim.token


@pytest.mark.parametrize(
    "query", ["", "state=x", "code=x", "state=x&state=y", "error=access_denied", "state=%ff%00"]
)
def test_way_back_that_nobody_began_is_refused(visitor: Visitor, query: str) -> None:
    assert visitor.get(f"/oauth2callback?{query}", cookie=f"{BEGUN}=é").status_code == 403


def test_refusal_of_the_provider_is_told_as_text(visitor: Visitor) -> None:
    state = parse_qs(urlsplit(visitor.begin()).query)["state"][0]
    reason = "error_description=unknown%0Aprompt"
    answer = visitor.get(f"/oauth2callback?state={state}&error=<b>no</b>&{reason}")
    assert answer.status_code == 403
    assert "said no: &lt;b&gt;no&lt;/b&gt;" in answer.text
    assert "unknown" not in answer.text
    last = visitor.server.tail().splitlines()[-1]
    assert last == "The sign-in service said no: <b>no</b>. Its reason: unknown prompt"
    assert "default-src 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["/auth/login", "/auth/logout"])
@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_page_elsewhere_signs_nobody_in_or_out(visitor: Visitor, path: str, site: str) -> None:
    visitor.sign_in()
    followed = {"sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert visitor.get(path, **followed).status_code == 403
    with visitor.connect() as socket:
        assert named_on(page_of(socket)) == "Ann"


@pytest.mark.parametrize("path", ["/auth", "/auth/login/x", "/x/auth/login", "/x/oauth2callback"])
def test_no_other_address_is_open(visitor: Visitor, path: str) -> None:
    assert visitor.get(path).status_code == 404


def test_signing_out_ends_every_page_and_every_copy(
    visitor: Visitor, server: AppServer, audit: Callable[[], list[Event]]
) -> None:
    visitor.sign_in()
    thief = Visitor(server)
    thief.client.cookies.set(TOKEN, visitor.token)
    with visitor.connect() as mine, thief.connect() as copied:
        assert named_on(page_of(copied)) == "Ann"
        answer = visitor.get("/auth/logout")
        assert (answer.status_code, answer.headers["location"]) == (302, "/")
        for page in (mine, copied):
            assert is_closed(page)
    assert not visitor.token
    assert audit()[0].event is EventKind.SIGN_OUT
    with thief.connect() as socket:
        assert "Sign in" in page_of(socket)


def test_token_of_the_visitor_s_own_choice_signs_nobody_in(
    visitor: Visitor, server: AppServer
) -> None:
    """No session is fixed: another token comes with each sign-in, and the one before ends."""
    visitor.client.cookies.set(TOKEN, "A" * 43)
    with visitor.connect() as socket:
        assert "Sign in" in page_of(socket)
    visitor.client.cookies.delete(TOKEN)
    visitor.sign_in()
    first = visitor.token
    visitor.sign_in("ben")
    assert visitor.token not in {"A" * 43, first}
    left = Visitor(server)
    left.client.cookies.set(TOKEN, first)
    with left.connect() as socket:
        assert "Sign in" in page_of(socket)


def test_session_of_a_person_is_joined_by_nobody_else(visitor: Visitor) -> None:
    visitor.sign_in()
    with visitor.connect() as socket:
        session = run(socket)
    with visitor.connect(session) as socket:
        assert run(socket) == session
    visitor.sign_in("ben")
    with visitor.connect(session) as socket:
        assert run(socket) != session, "in the same browser, as somebody else"


@pytest.mark.parametrize("named", ["nobody", "eyJ9", "W10="])
def test_who_somebody_is_cannot_be_told_from_outside(visitor: Visitor, named: str) -> None:
    answer = connect(
        f"ws://{HOST}:{visitor.server.port}/_stcore/stream",
        origin=Origin(visitor.server.url),
        additional_headers={"X-Replicalab-Person": named, "x-replicalab-wall": "passed"},
        subprotocols=[Subprotocol("streamlit")],
        max_size=None,
    )
    with answer as socket:
        assert "Sign in" in page_of(socket)


def test_over_tls_no_other_host_can_plant_a_cookie(visitor: Visitor) -> None:
    """The browser says that it is TLS, as behind a proxy."""
    secure = {"sec-fetch-site": "none", "host": f"localhost:{visitor.server.port}"}
    answer = visitor.get("/", origin=f"https://{secure['host']}", host=secure["host"])
    cookies = answer.headers.get_list("set-cookie")
    assert cookies
    assert all("; Secure" in each for each in cookies)


def test_signing_in_below_a_path_of_the_proxy_s(honest: Provider, tmp_path: Path) -> None:
    port = free_port()
    environment = {
        "STREAMLIT_SECRETS_FILES": str(
            write_secrets(tmp_path / "s.toml", honest.url, port, "/lab")
        ),
        "REPLICALAB_DATA": str(tmp_path / "data"),
    }
    below = {"server.baseUrlPath": "lab"}
    app = AppServer(APP, tmp_path / "log", options=below, port=port, environment=environment)
    with app as server:
        visitor = Visitor(server)
        visitor.get("/lab/Protocol?study=psy_stroop")
        assert visitor.get("/auth/login").status_code == 404
        assert visitor.sign_in().headers["location"] == "/lab/Protocol?study=psy_stroop"
        visitor.get("/lab/")
        with visitor.connect() as socket:
            assert named_on(page_of(socket)) == "Ann"
        assert visitor.get("/lab/media/none.png").status_code == 404
        assert visitor.get("/lab/auth/logout").headers["location"] == "/lab/"
        assert visitor.get("/lab/media/none.png").status_code == 401
        with visitor.connect() as socket:
            assert "Sign in" in page_of(socket)


@pytest.fixture(params=[3600, -3600], ids=["good for an hour", "expired an hour ago"])
def another(request: pytest.FixtureRequest) -> Iterator[tuple[str, int]]:
    """A provider that others wrote, and for how many seconds its tokens are good."""
    port, seconds = free_port(), int(request.param)
    who = {"sub": "ann", "name": "Ann", "email": "ann@example.org"}
    # In a process of its own: what it warns of is no failure of ours.
    asked = ("-m", "oidc_provider_mock", "--port", str(port), "--require-nonce", "true")
    more = ("--token-max-age", str(seconds), "--user-claims", json.dumps(who))
    command = [sys.executable, "-W", "ignore", *asked, *more]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            with httpx2.Client(transport=httpx2.HTTPTransport(retries=9)) as client:
                client.get(f"http://127.0.0.1:{port}/")
            yield f"http://127.0.0.1:{port}", seconds
        finally:
            process.terminate()


def test_provider_that_others_wrote(another: tuple[str, int], tmp_path: Path) -> None:
    """Its tokens sign somebody in; its refusal and a token that has expired do not."""
    (issuer, seconds), port = another, free_port()
    environment = {
        "STREAMLIT_SECRETS_FILES": str(write_secrets(tmp_path / "s.toml", issuer, port)),
        "REPLICALAB_DATA": str(tmp_path / "data"),
    }
    with AppServer(APP, tmp_path / "log", port=port, environment=environment) as server:
        visitor = Visitor(server)
        denied = httpx2.post(visitor.begin(), data={"action": "deny"})
        answer = visitor.get(denied.headers["location"])  # without the state that it began with
        assert (answer.status_code, "You are not signed in" in answer.text) == (403, True)
        allowed = httpx2.post(visitor.begin(), data={"sub": "ann"})
        answer = visitor.get(allowed.headers["location"])
        if seconds < 0:
            assert answer.status_code == 403
            assert "cannot be trusted and was refused" in answer.text
            assert "expired" in server.tail()
            return
        assert answer.status_code == 302, answer.text + server.tail()
        with visitor.connect() as socket:
            assert named_on(page_of(socket)) == "Ann"
