"""Who may ask for what: the host, the origin, the way in and the address, each told exactly."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from starlette.datastructures import Headers
from starlette.types import Scope
from streamlit import config

LONGEST_QUERY: Final = 14_000
"""Characters of an address after its question mark. The server behind takes 16 384 bytes of a
request and its headers, and above that refuses it without a word before anyone is asked."""

_LOOPBACK: Final = ("localhost", "127.0.0.1", "[::1]")
_HOST: Final = re.compile(r"(?P<name>[a-z0-9.-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
_OPEN: Final = re.compile(r"(health|host-config|stream|upload_file/[^/]+/[^/]+)")
"""What the pages ask for below `_stcore/`."""

_CLOSED: Final = frozenset({"component", "auth", "oauth2callback"})
"""Parts of Streamlit's addresses that no page needs."""

_METHODS: Final = frozenset({"GET", "HEAD"})
_UPLOADS: Final = frozenset({"PUT", "DELETE"})
_FRAMED: Final = frozenset({"iframe", "frame", "fencedframe", "embed", "object"})
_FROM_ELSEWHERE: Final = frozenset({"cross-site", "same-site"})


class Refusal(NamedTuple):
    """Why a request goes no further."""

    status: int
    reason: str


def allowed_hosts() -> frozenset[str]:
    """Return the names under which this server may be asked: what is configured, or loopback."""
    return frozenset(config.get_option("server.allowedHosts") or _LOOPBACK)


def refused(scope: Scope, hosts: frozenset[str]) -> Refusal | None:
    """Return why a request goes no further, or None if it may."""
    headers = Headers(scope=scope)
    return (
        _refused_host(headers, hosts)
        or _refused_origin(headers, scope)
        or _refused_way_in(headers)
        or _refused_address(scope)
    )


def is_for_a_session(scope: Scope) -> bool:
    """Return whether a file of a session is handed over or taken back."""
    return scope["type"] == "http" and scope["method"] in _UPLOADS


def is_upload(scope: Scope) -> bool:
    """Return whether a file is handed over."""
    return bool(scope["type"] == "http" and scope["method"] == "PUT")


def _refused_host(headers: Headers, hosts: frozenset[str]) -> Refusal | None:
    named = headers.getlist("host")
    found = _HOST.fullmatch(named[0]) if len(named) == 1 else None
    if found and found["name"] in hosts:
        return None
    return Refusal(
        400,
        "This address is not one that ReplicaLab answers to: whoever serves it lists the names in "
        "server.allowedHosts of .streamlit/config.toml.",
    )


def _refused_origin(headers: Headers, scope: Scope) -> Refusal | None:
    """Refuse any origin but this server's own; a web socket must name one."""
    named = headers.getlist("origin")
    own = {f"{scheme}://{headers['host']}" for scheme in ("http", "https")}
    if (not named and scope["type"] == "http") or (len(named) == 1 and named[0] in own):
        return None
    return Refusal(403, "Another page asked for this: open ReplicaLab at its own address.")


def _refused_way_in(headers: Headers) -> Refusal | None:
    """Refuse frames, and what a page elsewhere loads; a link that is followed may come from there.

    The browser tells, where the address is a secure one or this machine's own.
    """
    target = headers.get("sec-fetch-dest")
    followed = headers.get("sec-fetch-mode") == "navigate" and target == "document"
    elsewhere = headers.get("sec-fetch-site") in _FROM_ELSEWHERE and not followed
    if target in _FRAMED or elsewhere:
        return Refusal(403, "Another page shows this inside it: open ReplicaLab in its own tab.")
    return None


def _refused_address(scope: Scope) -> Refusal | None:
    if len(scope["query_string"]) > LONGEST_QUERY:
        return Refusal(
            414,
            f"This address has more than the {LONGEST_QUERY:,} characters that ReplicaLab writes: "
            "copy the link again, or open the page without what follows the question mark.",
        )
    path: str = scope["path"]
    if not path.isprintable():
        return Refusal(404, "There is nothing at this address.")
    _, core, below = path.partition("/_stcore/")
    if (core and not _OPEN.fullmatch(below)) or _CLOSED & set(path.split("/")):
        return Refusal(404, "There is nothing at this address.")
    if scope["type"] == "websocket":
        return None
    allowed = _UPLOADS if below.startswith("upload_file/") else _METHODS
    if scope["method"] not in allowed:
        return Refusal(405, "This address is not asked in that way.")
    return None
