"""An OpenID Connect provider of the tests' own, on this machine: honest, or lying as it is told."""

from __future__ import annotations

import base64
import hmac
import json
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final, Self
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT: Final = "replicalab"
SECRET: Final = "the client's secret"
COOKIE_SECRET: Final = "c" * 40
PEOPLE: Final = {
    "ann": {"name": "Ann", "email": "ann@example.org", "groups": ["staff"]},
    "ben": {"name": "Ben", "email": "ben@example.org", "groups": []},
}

Claims = dict[str, Any]
Lie = Callable[[Claims], Claims]


def write_secrets(file: Path, issuer: str, port: int, base: str = "") -> Path:
    """Write what an app at a port is told of its provider; return the file."""
    settings = {
        "redirect_uri": f"http://127.0.0.1:{port}{base}/oauth2callback",
        "cookie_secret": COOKIE_SECRET,
        "client_id": CLIENT,
        "client_secret": SECRET,
        "server_metadata_url": f"{issuer}/.well-known/openid-configuration",
    }
    lines = (f"{name} = {json.dumps(value)}\n" for name, value in settings.items())
    patience = "client_kwargs = {timeout = 60}\n"  # however busy this machine is
    file.write_text("[auth]\n" + "".join(lines) + patience)
    return file


class Provider:
    """A provider that signs in whoever is chosen on its page; a context manager.

    Attributes:
        lie: what it makes of the claims of the next tokens.
        header: of the next tokens.
        key: that it signs the next tokens with; `true_key` is the one that it publishes.
        sells_twice: whether a code is good more than once.
    """

    def __init__(self) -> None:
        self.true_key = RSAKey.generate_key(2048, {"kid": "true", "use": "sig"}, auto_kid=False)
        self.asked: list[str] = []
        self._codes: dict[str, Claims] = {}
        self.be_honest()

    def be_honest(self) -> None:
        self.lie: Lie = dict
        self.key, self.header = self.true_key, {"alg": "RS256", "kid": "true"}
        self.sells_twice = False

    def __enter__(self) -> Self:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.answer(self, "")

            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                provider.answer(self, self.rfile.read(length).decode())

            def log_message(self, *_: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, handler: BaseHTTPRequestHandler, body: str) -> None:
        path, query = urlsplit(handler.path).path, parse_qs(urlsplit(handler.path).query)
        self.asked.append(path)
        if path == "/authorize":
            self._authorize(handler, {name: values[0] for name, values in query.items()})
        elif path == "/token":
            self._send(handler, *self._token({n: v[0] for n, v in parse_qs(body).items()}))
        elif path == "/jwks":
            self._send(handler, 200, {"keys": [self.true_key.as_dict(private=False)]})
        else:
            self._send(handler, 200, self._metadata())

    def _metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/jwks",
            "code_challenge_methods_supported": ["S256"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }

    def _authorize(self, handler: BaseHTTPRequestHandler, query: dict[str, str]) -> None:
        """Ask who it is; whoever says so is believed, and goes back with a code."""
        if (chosen := query.get("as")) is None:
            links = (
                f'<p><a href="{handler.path.replace("&", "&amp;")}&amp;as={name}">{name}</a></p>'
                for name in PEOPLE
            )
            handler.send_response(200)
            handler.send_header("Content-Type", "text/html")
            handler.end_headers()
            handler.wfile.write("".join(links).encode())
            return
        code = secrets.token_urlsafe()
        self._codes[code] = {"nonce": query.get("nonce"), "sub": chosen, **PEOPLE[chosen]}
        back = urlencode({"code": code, "state": query["state"]})
        handler.send_response(302)
        handler.send_header("Location", f"{query['redirect_uri']}?{back}")
        handler.end_headers()

    def _token(self, asked: dict[str, str]) -> tuple[int, dict[str, Any]]:
        code = asked.get("code", "")
        about = self._codes.get(code) if self.sells_twice else self._codes.pop(code, None)
        if about is None or not asked.get("code_verifier"):
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 300, **about}
        claims["email_verified"] = True
        return 200, {
            "access_token": secrets.token_urlsafe(),
            "token_type": "Bearer",
            "id_token": self._signed(self.lie(claims)),
        }

    def _signed(self, claims: Claims) -> str:
        if self.header["alg"] == "RS256":
            return jwt.encode(self.header, claims, self.key)
        signed = ".".join(_base64(json.dumps(each).encode()) for each in (self.header, claims))
        if self.header["alg"] == "none":
            return f"{signed}."
        public = self.key.as_pem(private=False)
        return f"{signed}.{_base64(hmac.digest(public, signed.encode(), 'sha256'))}"

    def _send(self, handler: BaseHTTPRequestHandler, status: int, said: dict[str, Any]) -> None:
        with suppress(BrokenPipeError):
            handler.send_response(status)
            handler.send_header("Content-Type", "application/json")
            handler.end_headers()
            handler.wfile.write(json.dumps(said).encode())


def _base64(said: bytes) -> str:
    return base64.urlsafe_b64encode(said).decode().rstrip("=")
