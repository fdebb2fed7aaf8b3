"""Whose browser it is: a cookie with a random secret, and the proof that it was made here.

Over TLS its name begins with ``__Host-``: a browser takes such a cookie from this host alone, and
over TLS alone, so that no page under a neighbouring name can plant its own in its place.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import os
import re
import secrets
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from math import inf
from pathlib import Path
from typing import Any, Final

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection

from replicalab.errors import LibraryError
from replicalab.places import data_folder

VISITOR_COOKIE: Final = "replicalab_visitor"
"""A random secret of 256 bits; the server's proof that two sessions are of one browser."""
SECURE_COOKIE: Final = f"__Host-{VISITOR_COOKIE}"
"""The same over TLS."""
KEY_FILE: Final = "visitors.key"
"""Stands in the data folder: with it the server knows again what it made."""

_A_YEAR: Final = 365 * 24 * 60 * 60
"""Seconds that a browser keeps it, so that whoever comes back finds what they kept."""
_SECRET: Final = r"[A-Za-z0-9_-]{43}"
_VALUE: Final = re.compile(rf"(?P<secret>{_SECRET})(\.(?P<proof>[A-Za-z0-9_-]{{22}}))?")
"""What a cookie holds; before there were proofs it held the secret alone."""
_KEY_BYTES: Final = 32
_LOOPBACK: Final = re.compile(r"(localhost|.*\.localhost|127\..*|\[::1\])(:[0-9]+)?")

_HANDED_OUT: Final[deque[tuple[str, float]]] = deque(maxlen=1_000)
"""The latest secrets with which no page has begun yet, and when they were handed out."""
_HANDED_OVER: Final[deque[tuple[str, float]]] = deque(maxlen=1_000)
"""The latest secrets whose work went over to new ones, and when; several tabs may open at once."""
_NEW_SECONDS: Final = 10.0
"""So long a secret is new: another server of the same library may see its second page."""

_OPEN: Final[Counter[str]] = Counter()
"""How many pages of each browser are open."""
_LEFT: Final[OrderedDict[str, float]] = OrderedDict()
"""When the last page was closed, of the browsers that left last."""
_MOST_LEFT: Final = 5_000


def is_over_tls(headers: Mapping[str, str], scheme: str = "") -> bool:
    """Return whether a browser asked over TLS, whatever a proxy passes on.

    The browser tells: its origin, where it names one; and it says how it came to ask only over
    TLS, and to this machine's own names. The scheme is that of the connection, or what a proxy on
    this machine says of it.
    """
    if origin := headers.get("origin"):
        return origin.startswith("https://")
    told = "sec-fetch-site" in headers and not _LOOPBACK.fullmatch(headers.get("host", ""))
    return told or scheme in ("https", "wss")


def secret_shown(cookies: Mapping[str, str], *, over_tls: bool) -> str:
    """Return the secret that a browser shows and that was made here; empty where it shows none."""
    value = cookies.get(SECURE_COOKIE) or ("" if over_tls else cookies.get(VISITOR_COOKIE, ""))
    found = _VALUE.fullmatch(str(value))  # no text where no browser asks
    proven = found and hmac.compare_digest(found["proof"] or "", _proof(found["secret"]))
    return found["secret"] if found and proven else ""


def value_of(secret: str) -> str:
    """Return what a cookie holds for a secret."""
    return f"{secret}.{_proof(secret)}"


async def know_visitor(asked: HTTPConnection, headers: MutableHeaders) -> None:
    """Hand out a secret, or the one that the browser shows again: for a year from now.

    Where the library cannot say whether it knows a secret, nothing is handed out, and nothing lost.
    """
    over_tls = is_over_tls(asked.headers, asked.url.scheme)
    secret = secret_shown(asked.cookies, over_tls=over_tls)
    if not secret:
        try:
            secret = await _returning(asked.cookies, over_tls=over_tls)
        except (LibraryError, _HandedOverError):
            return
    if not secret:
        secret = secrets.token_urlsafe(32)
        _HANDED_OUT.append((secret, time.monotonic()))
    name, secure = (SECURE_COOKIE, "; Secure") if over_tls else (VISITOR_COOKIE, "")
    # Lax, not Strict: a Strict cookie is not shown when a link elsewhere is followed, and a new one
    # would then take its place.
    settings = f"Path=/; Max-Age={_A_YEAR}; HttpOnly; SameSite=Lax{secure}"
    headers.append("set-cookie", f"{name}={value_of(secret)}; {settings}")
    if over_tls and VISITOR_COOKIE in asked.cookies:
        headers.append("set-cookie", f"{VISITOR_COOKIE}=; Path=/; Max-Age=0")


async def _returning(cookies: Mapping[str, str], *, over_tls: bool) -> str:
    """Return the secret of a browser whose cookie has no proof, but whose work the library has.

    A cookie of a plain name that is shown over TLS may have been planted: nobody else may know the
    secret of a visitor, so what was kept with it goes over to a new one.

    Raises:
        LibraryError: the library does not answer.
        _HandedOverError: another page of the browser has just been given a new one.
    """
    for name in (SECURE_COOKIE, VISITOR_COOKIE):
        found = _VALUE.fullmatch(cookies.get(name, ""))
        if not found:
            continue
        secret = found["secret"]
        if over_tls and name == VISITOR_COOKIE:
            return await _handed_over(secret)
        if await asyncio.to_thread(_shelf("is_known"), secret):
            return secret
    return ""


async def _handed_over(secret: str) -> str:
    """Return a new secret with which all is found that was kept with another, empty for nothing."""
    if any(_is_new(*handed) for handed in list(_HANDED_OVER) if handed[0] == secret):
        raise _HandedOverError
    begun = secret, time.monotonic()
    _HANDED_OVER.append(begun)  # before anything is waited for: another tab may ask meanwhile
    if not await asyncio.to_thread(_shelf("is_known"), secret):
        with suppress(ValueError):  # a thousand others pushed it out
            _HANDED_OVER.remove(begun)
        return ""
    fresh = secrets.token_urlsafe(32)
    await asyncio.to_thread(_shelf("hand_over"), secret, fresh)
    return fresh


class _HandedOverError(Exception):
    """What was kept with a secret went to a new one a moment ago; it is not told a second time."""


def _shelf(name: str) -> Callable[..., Any]:
    """Return a function of the shelf; the database's part comes with it, which few answers need."""
    found: Callable[..., Any] = getattr(import_module("replicalab.ui.library.shelf"), name)
    return found


def begins_with(secret: str) -> bool:
    """Return whether no page has begun with a new secret yet; then one has, and is the first."""
    for handed in list(_HANDED_OUT):
        if handed[0] == secret:
            with suppress(ValueError):  # another page of the same browser was faster
                _HANDED_OUT.remove(handed)
                return _is_new(*handed)
    return False


def _is_new(_: str, since: float) -> bool:
    return time.monotonic() - since <= _NEW_SECONDS


# --- who is here ------------------------------------------------------------------------------


@contextmanager
def is_here(asked: HTTPConnection) -> Iterator[None]:
    """Note that a page of a browser is open, for as long as the block lasts."""
    over_tls = is_over_tls(asked.headers, asked.url.scheme)
    secret = secret_shown(asked.cookies, over_tls=over_tls)
    _OPEN[secret] += 1
    try:
        yield
    finally:
        _OPEN[secret] -= 1
        if not _OPEN[secret]:
            del _OPEN[secret]
            _LEFT[secret] = time.monotonic()
            _LEFT.move_to_end(secret)
            if len(_LEFT) > _MOST_LEFT:
                _LEFT.popitem(last=False)


def away_seconds(secret: str) -> float:
    """Return for how long no page of a browser has been open, without end if none ever was."""
    if secret in _OPEN:
        return 0.0
    return time.monotonic() - _LEFT.get(secret, -inf)


# --- the proof --------------------------------------------------------------------------------


def _proof(secret: str) -> str:
    made = hmac.digest(_key(data_folder()), secret.encode(), "sha256")[:16]
    return base64.urlsafe_b64encode(made).decode().rstrip("=")


@cache
def _key(folder: Path) -> bytes:
    """Return the key of a data folder, made where there is none yet.

    Where it can be neither read nor written it is good for this process; the library still knows
    who kept something.
    """
    file = Path(os.path.realpath(folder / KEY_FILE))
    with suppress(OSError):
        if not _is_key(file):
            _write_key(file)
        with suppress(OSError):  # another user's, or on a disk that is only read
            if file.stat().st_mode & 0o077:
                file.chmod(0o600)
        return file.read_bytes()
    return secrets.token_bytes(_KEY_BYTES)


def _is_key(file: Path) -> bool:
    return file.is_file() and file.stat().st_size == _KEY_BYTES


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
