"""Whose browser it is: a cookie with a random secret, and the proof that it was made here.

The wall hands it out with a page, and a page's run asks whose it is. No page and no address shows
it.

Over TLS its name begins with ``__Host-``: a browser takes such a cookie from this host alone, and
over TLS alone, so that no page under a neighbouring name can plant its own in its place.
"""

import asyncio
import base64
import hmac
import json
import logging
import os
import re
import secrets
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from math import inf
from pathlib import Path
from typing import Final, Protocol

import streamlit as st
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection

from replicalab.errors import LibraryError
from replicalab.places import data_folder

_LOG: Final = logging.getLogger(__name__)

VISITOR_COOKIE: Final = "replicalab_visitor"
"""A random secret of 256 bits; the server's proof that two sessions are of one browser."""
SECURE_COOKIE: Final = f"__Host-{VISITOR_COOKIE}"
"""The same over TLS."""
KEY_FILE: Final = "visitors.key"
"""Stands in the data folder: with it the server knows again what it made."""

# Seconds that a browser keeps it, so that whoever comes back finds what they kept.
_A_YEAR: Final = 365 * 24 * 60 * 60
_SECRET: Final = r"[A-Za-z0-9_-]{43}"
# What a cookie holds; before there were proofs it held the secret alone.
_VALUE: Final = re.compile(rf"(?P<secret>{_SECRET})(\.(?P<proof>[A-Za-z0-9_-]{{22}}))?")
_KEY_BYTES: Final = 32
LOOPBACK: Final = re.compile(r"(localhost|.*\.localhost|127\..*|\[::1\])(:[0-9]+)?")
"""A name, with or without a port, that means this machine."""

# The latest secrets with which no page has begun yet, and when they were handed out.
_HANDED_OUT: Final[deque[tuple[str, float]]] = deque(maxlen=1_000)
# So long a secret is new: another server of the same library may see its second page.
_NEW_SECONDS: Final = 10.0

# Where a session keeps a secret of its own, for a browser that shows none of ours.
_SESSION_SECRET: Final = "visitor_secret"

_OPEN: Final[Counter[str]] = Counter()  # How many pages of each browser are open
# When the last page was closed, of the browsers that left last.
_LEFT: Final[OrderedDict[str, float]] = OrderedDict()
_MOST_LEFT: Final = 5_000


class Keeper(Protocol):
    """What the library knows of visitors; raises LibraryError where it does not answer."""

    def is_known(self, secret: str, /) -> bool:
        """Return whether it has work of the visitor with that secret."""


# --- in a page's run --------------------------------------------------------------------------


def cookie() -> str:
    """Return the secret that the visitor's browser shows; no text where it shows none of ours."""
    asked = st.context
    headers = {name.lower(): value for name, value in asked.headers.items()}
    return secret_shown(asked.cookies, over_tls=is_over_tls(headers))


def is_known() -> bool:
    """Return whether the visitor finds again what is kept: by their browser, or signed in."""
    return bool(name() or cookie())


def must_sign_in() -> bool:
    """Return whether the visitor may see no page before they sign in."""
    return st.user.get("is_logged_in") is False


def name() -> str:
    """Return the name of the visitor if signed in."""
    user = st.user
    names = (user.get(key) for key in ("name", "email", "sub"))
    return str(next(filter(None, names))) if user.get("is_logged_in") else ""


def begins() -> bool:
    """Return whether this is the first page of the visitor's browser: True once, when it begins.

    Nothing can have been kept for it before, so nobody waits for the library. Who signed in may
    have kept something in another browser.
    """
    return begins_with(cookie()) and not name()


def secret() -> str:
    """Return the visitor's secret: the person's, else the cookie's, else one of this session."""
    if st.user.get("is_logged_in"):
        return json.dumps([st.user["iss"], st.user["sub"]])
    if shown := cookie():
        return shown
    made: str = st.session_state.setdefault(_SESSION_SECRET, secrets.token_urlsafe(32))
    return made


# --- in an answer -----------------------------------------------------------------------------


def is_over_tls(headers: Mapping[str, str], scheme: str = "") -> bool:
    """Return whether a browser asked over TLS, whatever a proxy passes on.

    It says so itself: its origin, where it names one; and it says how it came to ask only over
    TLS, and to this machine's own names. The scheme is that of the connection, or what a proxy on
    this machine says of it.
    """
    if origin := headers.get("origin"):
        return origin.startswith("https://")
    secure = "sec-fetch-site" in headers and not LOOPBACK.fullmatch(headers.get("host", ""))
    return secure or scheme in ("https", "wss")


def secret_shown(cookies: Mapping[str, str], *, over_tls: bool) -> str:
    """Return the secret that a browser shows and that was made here; empty where it shows none."""
    value = cookies.get(SECURE_COOKIE) or ("" if over_tls else cookies.get(VISITOR_COOKIE, ""))
    found = _VALUE.fullmatch(str(value))  # no text where no browser asks
    proven = found and hmac.compare_digest(found["proof"] or "", proof_of(found["secret"]))
    return found["secret"] if found and proven else ""


def value_of(shown: str) -> str:
    """Return what a cookie holds for a secret."""
    return f"{shown}.{proof_of(shown)}"


async def know_visitor(asked: HTTPConnection, headers: MutableHeaders, keeper: Keeper) -> None:
    """Hand out a secret, or the one that the browser shows again: for a year from now.

    Where the library cannot say whether it knows a secret, nothing is handed out, and nothing lost.
    """
    over_tls = is_over_tls(asked.headers, asked.url.scheme)
    shown = secret_shown(asked.cookies, over_tls=over_tls)
    if not shown:
        try:
            shown = await _returning(asked.cookies, keeper, over_tls=over_tls)
        except LibraryError:
            return
    if not shown:
        shown = secrets.token_urlsafe(32)
        _HANDED_OUT.append((shown, time.monotonic()))
    name, secure = (SECURE_COOKIE, "; Secure") if over_tls else (VISITOR_COOKIE, "")
    # Lax, not Strict: a Strict cookie is not shown when a link elsewhere is followed, and a new one
    # would then take its place.
    settings = f"Path=/; Max-Age={_A_YEAR}; HttpOnly; SameSite=Lax{secure}"
    headers.append("set-cookie", f"{name}={value_of(shown)}; {settings}")
    if over_tls and VISITOR_COOKIE in asked.cookies:
        headers.append("set-cookie", f"{VISITOR_COOKIE}=; Path=/; Max-Age=0")


async def _returning(cookies: Mapping[str, str], keeper: Keeper, *, over_tls: bool) -> str:
    """Return the secret of a browser whose cookie has no proof, but whose work the library has.

    Raises:
        LibraryError: the library does not answer.
    """
    for name in (SECURE_COOKIE, VISITOR_COOKIE):
        value = _VALUE.fullmatch(cookies.get(name, ""))
        if not value:
            continue
        shown = value["secret"]
        if over_tls and name == VISITOR_COOKIE:
            return ""
        if await asyncio.to_thread(keeper.is_known, shown):
            return shown
    return ""


def begins_with(shown: str) -> bool:
    """Return whether no page has begun with a new secret yet; then one has, and is the first."""
    for handed in list(_HANDED_OUT):  # a copy: answers add to it in another thread
        if handed[0] == shown:
            with suppress(ValueError):  # another page of the same browser was faster
                _HANDED_OUT.remove(handed)
                return _is_new(*handed)
    return False


def _is_new(_: str, since: float) -> bool:
    return time.monotonic() - since <= _NEW_SECONDS


# --- who is here ------------------------------------------------------------------------------


@contextmanager
def page_open(asked: HTTPConnection) -> Iterator[None]:
    """Note that a page of a browser is open, as long as the block lasts."""
    over_tls = is_over_tls(asked.headers, asked.url.scheme)
    shown = secret_shown(asked.cookies, over_tls=over_tls)
    _OPEN[shown] += 1
    try:
        yield
    finally:
        _OPEN[shown] -= 1
        if not _OPEN[shown]:
            del _OPEN[shown]
            _LEFT[shown] = time.monotonic()
            _LEFT.move_to_end(shown)
            if len(_LEFT) > _MOST_LEFT:
                _LEFT.popitem(last=False)


def away_seconds(shown: str) -> float:
    """Return for how long no page of a browser has been open, without end if none ever was."""
    if shown in _OPEN:
        return 0.0
    return time.monotonic() - _LEFT.get(shown, -inf)


# --- the proof --------------------------------------------------------------------------------


def proof_of(shown: str) -> str:
    """Return the proof that a text was made here, by the key of the data folder."""
    made = hmac.digest(_key(data_folder()), shown.encode(), "sha256")[:16]
    return base64.urlsafe_b64encode(made).decode().rstrip("=")


@cache
def _key(folder: Path) -> bytes:
    """Return the key of a data folder, made where there is none yet.

    Where it can be neither read nor written it is good for this process, and the log says so; the
    library still knows who kept something.
    """
    file = Path(os.path.realpath(folder / KEY_FILE))
    try:
        if not (file.is_file() and file.stat().st_size == _KEY_BYTES):
            _write_key(file)
        with suppress(OSError):  # another user's, or on a disk that is only read
            if file.stat().st_mode & 0o077:
                file.chmod(0o600)
        return file.read_bytes()
    except OSError as error:
        _LOG.warning("The key of visitors lasts until this process ends: %s", error)
        return secrets.token_bytes(_KEY_BYTES)


def _write_key(file: Path) -> None:
    """Write a new key, for its user alone; of several processes the first one's stays."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    begun = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(begun, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as writing:
        writing.write(secrets.token_bytes(_KEY_BYTES))
    try:
        if file.exists():  # it was cut short
            begun.replace(file)
        else:
            os.link(begun, file)
    except FileExistsError:
        pass
    finally:
        begun.unlink(missing_ok=True)
