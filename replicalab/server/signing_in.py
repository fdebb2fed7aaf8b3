"""Signing in by OpenID Connect: Streamlit and Authlib ask the provider, this decides who is in.

Streamlit would write all claims and tokens into the browser's cookies, good for thirty days
wherever they are copied to, and too large beside the addresses of the pages. None of them leaves:
the browser gets a random token, the library knows whom it stands for and until when, and signing
out ends it.
"""

import asyncio
import hmac
import html
import logging
import math
import re
import secrets
import time
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qs, quote, unquote, urlsplit

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from replicalab.characters import on_one_line, shown
from replicalab.errors import LibraryError
from replicalab.lexicon import joined
from replicalab.people import Person
from replicalab.server import internals
from replicalab.server.gate import NOT_TOLD, AccessGate, Known, PeopleKeeper, base_path
from replicalab.server.visitor import LOOPBACK, is_over_tls, proof_of

GROUPS_CLAIM: Final = "REPLICALAB_GROUPS_CLAIM"
HOURS: Final = "REPLICALAB_SIGN_IN_HOURS"
_HOURS: Final = 12.0

TOKEN_COOKIE: Final = "replicalab_sign_in"
_BEGUN_COOKIE: Final = "replicalab_sign_in_begun"
_WANTED_COOKIE: Final = "replicalab_wanted"
_BEGUN_SECONDS: Final = 3600  # as long as Authlib takes a state for good
_LONGEST_WANTED: Final = 3_000
# A path of this server: what begins with two slashes would be another's.
_OWN_PATH: Final = re.compile(r"/(?![/\\])[\x21-\x5b\x5d-\x7e]*")

_NEEDED: Final = (
    *("redirect_uri", "cookie_secret"),
    *("client_id", "client_secret", "server_metadata_url"),
)
_SHORTEST_SECRET: Final = 32
_CHECKED_EACH: Final = 60.0
"""Seconds between two looks whether who has a page open is still signed in."""

_AGAIN: Final = "Sign in again"
_CANNOT: Final = (
    "What came back from the sign-in service cannot be trusted and was refused, or it did not "
    "answer in time; the log says which."
)

_LOG: Final = logging.getLogger(__name__)


def provider_gate(
    keeper: PeopleKeeper, hosts: frozenset[str], environment: Mapping[str, str]
) -> AccessGate | None:
    """Return the gate that Streamlit's ``[auth]`` asks for, None where there is no such section.

    Raises:
        SystemExit: it cannot work so, or Authlib is not installed.
    """
    settings = internals.auth_settings()
    if settings is None:
        return None
    if problem := _problem(settings, hosts):
        raise SystemExit(
            f"ReplicaLab does not start: [auth] of secrets.toml {problem}. docs/serving.md has an "
            "example."
        )
    internals.require_sign_in()
    try:
        hours = float(environment.get(HOURS) or _HOURS)
    except ValueError:
        hours = math.nan
    if not 0.1 <= hours <= 24 * 90:
        raise SystemExit(
            f"ReplicaLab does not start: {HOURS} is no number of hours; write one from 0.1 to 2160."
        )
    return ProviderGate(keeper, str(settings["client_id"]), hours, environment)


def _problem(settings: Mapping[str, Any], hosts: frozenset[str]) -> str:
    texts = {name: str(settings.get(name) or "") for name in _NEEDED}
    if lacking := [name for name, text in texts.items() if not text]:
        return f"lacks {joined(lacking)}"
    if len(texts["cookie_secret"]) < _SHORTEST_SECRET:
        return f"has a cookie_secret of less than {_SHORTEST_SECRET} characters: make a random one"
    back, metadata = urlsplit(texts["redirect_uri"]), urlsplit(texts["server_metadata_url"])
    if back.path != f"{base_path()}/oauth2callback" or back.query or back.fragment:
        return f"has a redirect_uri that does not end at the path {base_path()}/oauth2callback"
    if (back.hostname or "") not in hosts:
        return f"has a redirect_uri of the host '{back.hostname}', which server.allowedHosts lacks"
    for name, url in (("redirect_uri", back), ("server_metadata_url", metadata)):
        is_local = url.scheme == "http" and LOOPBACK.fullmatch(url.hostname or "")
        if not (url.hostname and (url.scheme == "https" or is_local)):
            return f"has a {name} that is no https address"
    return ""


class ProviderGate(AccessGate):
    """The gate of a server whose people sign in."""

    is_open = False

    def __init__(
        self, keeper: PeopleKeeper, client_id: str, hours: float, environment: Mapping[str, str]
    ) -> None:
        self._keeper, self._client_id, self._hours = keeper, client_id, hours
        self._groups_claim = environment.get(GROUPS_CLAIM, "").strip() or "groups"
        self.base = base_path()
        self._login, self._logout, self._callback = (
            f"{self.base}/{name}" for name in ("auth/login", "auth/logout", "oauth2callback")
        )
        self.paths = frozenset({self._login, self._logout, self._callback})
        self._open: defaultdict[str, set[asyncio.Event]] = defaultdict(set)
        self._refusals = 0.0, 0.0

    async def known(self, scope: Scope) -> Known:
        """Return who has signed in with this browser."""
        if not (token := self._token(scope)):
            return Known()
        person = await asyncio.to_thread(self._keeper.signed_in, token)
        return Known(person, token if person else "")

    def _token(self, scope: Scope) -> str:
        token = HTTPConnection(scope).cookies.get(self._named(scope, TOKEN_COOKIE), "")
        return token if len(token) == len(_new_token()) else ""

    async def ended(self, known: Known) -> None:
        """Return once somebody has signed out, here or elsewhere, or their time is up."""
        over = asyncio.Event()
        self._open[known.token].add(over)
        try:
            while True:
                try:
                    await asyncio.wait_for(over.wait(), _CHECKED_EACH)
                except TimeoutError:
                    if await self._is_still_in(known):
                        continue
                return
        finally:
            self._open[known.token].discard(over)
            if not self._open[known.token]:
                del self._open[known.token]

    async def _is_still_in(self, known: Known) -> bool:
        try:
            return await asyncio.to_thread(self._keeper.signed_in, known.token) is not None
        except LibraryError:
            return True  # as far as anybody knows

    def note_page(self, scope: Scope) -> str:
        """Return the cookie that leads back to a page once its visitor has signed in.

        Only the address to come back to is shown it: with others it would take room.
        """
        query = scope["query_string"].decode("ascii", "replace")
        wanted = quote(f"{scope['path']}?{query}" if query else scope["path"], safe="/")
        if len(wanted) > _LONGEST_WANTED:
            wanted = ""
        return self._cookie(scope, _WANTED_COOKIE, wanted, _BEGUN_SECONDS, path=self._callback)

    # --- the three addresses ------------------------------------------------------------------

    async def answer(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request to sign in, to come back from that, or to sign out."""
        if scope["path"] == self._callback:
            response = await self._came_back(app, scope, receive)
        elif Headers(scope=scope).get("sec-fetch-site", "none") not in {"same-origin", "none"}:
            # A page elsewhere could sign its visitor out, or in as somebody else.
            response = self._page(403, "Another page asked for this. Open ReplicaLab itself.")
        elif scope["path"] == self._login:
            response = await self._begin(app, scope, receive)
        else:
            response = await self._sign_out(scope)
        await response(scope, receive, send)

    async def _begin(self, app: ASGIApp, scope: Scope, receive: Receive) -> Response:
        """Send the browser to the provider; it must come back with what it leaves with."""
        answer = await _answered(app, scope, receive)
        if not (state := _state(urlsplit(answer.headers.get("location", "")).query)):
            return self._page(
                502,
                "The sign-in service does not answer, or this page was open for too long. Try "
                "again in a minute; the log says more.",
            )
        answer.headers.append("set-cookie", self._begun(scope, proof_of(f"state {state}")))
        return answer

    async def _came_back(self, app: ASGIApp, scope: Scope, receive: Receive) -> Response:
        """Sign in whom the provider vouches for, or say why nobody is."""
        cookies = HTTPConnection(scope).cookies
        query = scope["query_string"].decode("ascii", "replace")
        state, refused, reason = _state(query), "", ""
        begun = cookies.get(self._named(scope, _BEGUN_COOKIE), "")
        person = None
        proof = proof_of(f"state {state}")
        if not (state and hmac.compare_digest(begun.encode(), proof.encode())):
            refused = "This sign-in did not begin in this browser, or was used before."
        elif error := parse_qs(query).get("error"):
            refused = f"The sign-in service said no: {shown(error[0][:100])}."
            reason = parse_qs(query).get("error_description", [""])[0][:300]
        else:
            answer = await _answered(app, scope, receive)
            person = self._person(internals.signed_in_claims(_cookies(answer)))
            refused = "" if person else _CANNOT
        if person is None:
            return await self._refuse(scope, refused, reason)
        token = _new_token()
        try:
            is_new = await asyncio.to_thread(
                self._keeper.sign_in, person, token, state, self._hours
            )
            if is_new and (before := self._token(scope)):
                await self._end(before)
        except LibraryError:
            return self._page(NOT_TOLD.status, NOT_TOLD.reason)
        if not is_new:
            return await self._refuse(scope, "This sign-in was used before.")
        response = RedirectResponse(self._wanted(cookies), 302)
        seconds = int(self._hours * 3600)
        for cookie in (
            self._cookie(scope, TOKEN_COOKIE, token, seconds),
            self._begun(scope, ""),
            self._cookie(scope, _WANTED_COOKIE, "", 0, path=self._callback),
            *_session_cookies(answer),
        ):
            response.headers.append("set-cookie", cookie)
        return response

    def _person(self, claims: Mapping[str, Any]) -> Person | None:
        """Return whom claims are about that Authlib has checked.

        It takes a token for another audience where that names us as the party it was issued to.
        """
        audience = claims.get("aud")
        audiences = audience if isinstance(audience, list) else [audience]
        if self._client_id not in audiences:
            return None
        return Person.of_claims(claims, self._groups_claim)

    def _wanted(self, cookies: Mapping[str, str]) -> str:
        wanted = unquote(cookies.get(_WANTED_COOKIE, ""))
        is_own = _OWN_PATH.fullmatch(wanted) and wanted.startswith(f"{self.base}/")
        return wanted if is_own else f"{self.base}/"

    async def _refuse(self, scope: Scope, why: str, reason: str = "") -> Response:
        """Say why nobody is signed in; the provider's reason stands in the log alone."""
        # However fast somebody asks, the log grows at a person's pace.
        left, since = self._refusals
        now = time.monotonic()
        left = min(20.0, left + (now - since) / 6) if since else 20.0
        self._refusals = max(0.0, left - 1), now
        if left >= 1:
            if reason:
                _LOG.warning("%s Its reason: %s", why, on_one_line(reason))
            try:
                await asyncio.to_thread(self._keeper.note_refusal, why)
            except LibraryError as error:
                _LOG.warning("A refused sign-in is not in the audit log: %s", error)
        response = self._page(403, f"You are not signed in. {why}")
        response.headers.append("set-cookie", self._begun(scope, ""))
        return response

    async def _sign_out(self, scope: Scope) -> Response:
        if token := self._token(scope):
            try:
                await self._end(token)
            except LibraryError:
                return self._page(
                    503, "The library does not answer, so you are still signed in. Try again."
                )
        response = RedirectResponse(f"{self.base}/", 302)
        response.headers.append("set-cookie", self._cookie(scope, TOKEN_COOKIE, "", 0))
        return response

    async def _end(self, token: str) -> None:
        await asyncio.to_thread(self._keeper.sign_out, token)
        for page in self._open.get(token, ()):
            page.set()

    # --- what is answered ---------------------------------------------------------------------

    def _page(self, status: int, text: str) -> Response:
        return HTMLResponse(
            _PAGE.format(text=html.escape(text), again=_AGAIN, base=html.escape(self.base)), status
        )

    def _begun(self, scope: Scope, proof: str) -> str:
        return self._cookie(scope, _BEGUN_COOKIE, proof, _BEGUN_SECONDS if proof else 0)

    def _named(self, scope: Scope, name: str) -> str:
        """Return a cookie's name: over TLS one that no other host can plant."""
        asked = HTTPConnection(scope)
        return f"__Host-{name}" if is_over_tls(asked.headers, asked.url.scheme) else name

    def _cookie(self, scope: Scope, name: str, value: str, seconds: int, path: str = "/") -> str:
        named = self._named(scope, name)
        secure = "; Secure" if named != name else ""
        named = named if path == "/" else name  # which the browser takes for "/" alone
        age = seconds if value else 0
        return f"{named}={value}; Path={path}; Max-Age={age}; HttpOnly; SameSite=Lax{secure}"


_PAGE: Final = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Sign in · ReplicaLab</title>
<meta name="viewport" content="width=device-width">
<style>:root{{color-scheme:light dark}}body{{font:1rem/1.5 system-ui,sans-serif;max-width:34rem;
margin:15vh auto 0;padding:0 1rem}}</style></head>
<body><h1>ReplicaLab</h1><p>{text}</p><p><a href="{base}/">{again}</a></p></body></html>
"""


def _new_token() -> str:
    return secrets.token_urlsafe(32)


def _state(query: str) -> str:
    """Return the state that a query names, where it names one."""
    found = parse_qs(query).get("state", [])
    return found[0] if len(found) == 1 else ""


async def _answered(app: ASGIApp, scope: Scope, receive: Receive) -> Response:
    """Return what the app answers, whole."""
    begun: dict[str, Any] = {}
    body = bytearray()

    async def take(message: Message) -> None:
        if message["type"] == "http.response.start":
            begun.update(message)
        body.extend(message.get("body", b""))

    await app(scope, receive, take)
    answer = Response(bytes(body), begun["status"])
    answer.raw_headers = list(begun["headers"])
    return answer


def _cookies(answer: Response) -> dict[str, str]:
    """Return the cookies that an answer hands out."""
    set_ = (each.partition(";")[0] for each in answer.headers.getlist("set-cookie"))
    return {name: value.strip('"') for name, _, value in (each.partition("=") for each in set_)}


def _session_cookies(answer: Response) -> list[str]:
    """Return those of an answer's cookies that do not say who somebody is."""
    handed = answer.headers.getlist("set-cookie")
    return [each for each in handed if each.startswith(internals.SESSION_COOKIE)]
