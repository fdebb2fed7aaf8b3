"""Who asks: nobody in particular, a person whom a trusted proxy names, or one who signed in.

Off until configured. A request is known before Streamlit sees it, and a page is told by a header
that nobody else can set: what stands in a browser is a random token, or nothing at all.
"""

import asyncio
import ipaddress
import math
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Final, NamedTuple, Protocol

import streamlit as st
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from replicalab.lexicon import joined
from replicalab.people import Person
from replicalab.server.sessions import Refusal

PERSON_HEADER: Final = "REPLICALAB_PERSON_HEADER"
GROUPS_HEADER: Final = "REPLICALAB_GROUPS_HEADER"
TRUSTED_PROXY: Final = "REPLICALAB_TRUSTED_PROXY"
_FORWARDED: Final = "FORWARDED_ALLOW_IPS"
_LOOPBACK: Final = "127.0.0.1,::1"

_NOTED_AGAIN: Final = 3600.0
"""Seconds after which somebody whom the proxy names is noted once more."""

NOT_TOLD: Final = Refusal(
    503, "The library does not answer, and without it nobody is known here. Try again in a minute."
)
_NO_NAME: Final = Refusal(
    401, "The proxy before ReplicaLab names nobody: open its own address, and sign in there."
)
_PAST_THE_PROXY: Final = Refusal(
    403, "ReplicaLab is asked through its proxy here: open the address of that one."
)


class PeopleKeeper(Protocol):
    """What the library knows of people; each raises LibraryError where it does not answer."""

    def sign_in(self, person: Person, token: str, state: str, hours: float, /) -> bool:
        """Let a token stand for a person; False where the state was used before."""

    def signed_in(self, token: str, /) -> Person | None:
        """Return whom a token stands for."""

    def sign_out(self, token: str, /) -> None:
        """Let a token stand for nobody."""

    def see(self, person: Person, /) -> None:
        """Note a person whom the proxy names."""

    def note_refusal(self, note: str, /) -> None:
        """Note that somebody was refused."""


class Known(NamedTuple):
    """Who asks, if anybody is known, and the token that says so where one does."""

    person: Person | None = None
    token: str = ""


def base_path() -> str:
    """Return the path below which the server stands; empty where it has its host for itself."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    return f"/{base}" if base else ""


class AccessGate:
    """The gate of a server that asks nobody who they are.

    Attributes:
        is_open: whether whoever comes may use the pages.
        base: the path below which the server stands, where that matters.
        paths: addresses of Streamlit's that are open for signing in alone.
    """

    is_open = True
    base = ""
    paths: frozenset[str] = frozenset()

    def refused(self, scope: Scope) -> Refusal | None:
        """Return why a request goes no further, whoever asks."""
        del scope
        return None

    async def known(self, scope: Scope) -> Known:
        """Return who asks.

        Raises:
            LibraryError: it does not answer.
        """
        del scope
        return Known()

    async def answer(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request for one of ``paths``."""
        await app(scope, receive, send)

    def note_page(self, scope: Scope) -> str:
        """Return a cookie for the answer that is a page; empty where it needs none."""
        del scope
        return ""

    async def ended(self, known: Known) -> None:
        """Return once somebody is not signed in any more."""
        del known
        await asyncio.Event().wait()


class HeaderGate(AccessGate):
    """The gate behind a proxy that asks who somebody is, and writes it into a header.

    The header is believed from the proxy's own address alone; what comes from elsewhere is refused
    whether it has the header or not. The server before the wall puts the browser's address in the
    place of a proxy's, without a port, where a proxy that it trusts tells it: all those are
    ``proxies`` too, so an address without a port came through one of them.
    """

    is_open = False

    def __init__(self, keeper: PeopleKeeper, header: str, groups: str, proxies: "Networks") -> None:
        self._keeper, self._proxies = keeper, proxies
        self._header, self._groups = header, groups
        self._seen: dict[str, float] = {}
        self.base = base_path()
        self._probes = {f"{self.base}/_stcore/health", f"{self.base}/ready"}

    def refused(self, scope: Scope) -> Refusal | None:
        """Refuse whom the proxy did not let in, but for a probe of whether the server does."""
        if scope["path"] in self._probes:
            return None
        if not self._is_from_proxy(scope):
            return _PAST_THE_PROXY
        return None if self._person(scope) else _NO_NAME

    async def known(self, scope: Scope) -> Known:
        """Return whom the proxy names."""
        person = self._person(scope)
        now = time.monotonic()
        if person and now - self._seen.get(person.key, -math.inf) > _NOTED_AGAIN:
            await asyncio.to_thread(self._keeper.see, person)
            self._seen[person.key] = now
        return Known(person)

    def _is_from_proxy(self, scope: Scope) -> bool:
        host, port = scope.get("client") or ("", 1)
        return port == 0 or self._proxies.has(host)

    def _person(self, scope: Scope) -> Person | None:
        headers = Headers(scope=scope)
        named = headers.getlist(self._header)
        groups = headers.get(self._groups, "") if self._groups else ""
        return Person.of_header(named[0], groups) if len(named) == 1 else None


class Networks:
    """Addresses and networks, as a variable of the environment lists them.

    Raises:
        SystemExit: one is neither.
    """

    def __init__(self, variable: str, text: str) -> None:
        try:
            self._all = [ipaddress.ip_network(each) for each in text.replace(",", " ").split()]
        except ValueError as error:
            raise SystemExit(
                f"ReplicaLab does not start: {variable} has what is no address ({error}); write "
                "such as 127.0.0.1 or 10.0.0.0/24, with commas between."
            ) from None

    def has(self, host: str) -> bool:
        """Return whether an address is among them; this machine has several, which are one."""
        with suppress(ValueError):
            return self._covers(ipaddress.ip_network(host))
        return False

    def lack(self, others: "Networks") -> list[str]:
        """Return which of other networks are not among these."""
        return [str(other) for other in others._all if not self._covers(other)]  # noqa: SLF001 - its own kind

    def _covers(self, other: ipaddress.IPv4Network | ipaddress.IPv6Network) -> bool:
        return any(
            (other.is_loopback and each.is_loopback)
            or (other.version == each.version and other.subnet_of(each))  # type: ignore[arg-type]  # of one version
            for each in self._all
        )


def header_gate(keeper: PeopleKeeper, environment: Mapping[str, str]) -> HeaderGate | None:
    """Return the gate that the environment asks for, None where it asks for none.

    Raises:
        SystemExit: it says half of what is needed, or trusts further proxies with addresses.
    """
    header, listed = (environment.get(each, "").strip() for each in (PERSON_HEADER, TRUSTED_PROXY))
    if not (header or listed):
        return None
    if not (header and listed):
        lacking = TRUSTED_PROXY if header else PERSON_HEADER
        raise SystemExit(
            f"ReplicaLab does not start: {PERSON_HEADER} and {TRUSTED_PROXY} are set together or "
            f"not at all; {lacking} is missing."
        )
    proxies = Networks(TRUSTED_PROXY, listed)
    forwarded = Networks(_FORWARDED, environment.get(_FORWARDED) or _LOOPBACK)
    if more := proxies.lack(forwarded):
        raise SystemExit(
            f"ReplicaLab does not start: {joined(more)} may say in X-Forwarded-For where a request "
            f"comes from, and is not in {TRUSTED_PROXY}. Set {_FORWARDED} to the addresses of "
            f"{TRUSTED_PROXY}."
        )
    return HeaderGate(keeper, header, environment.get(GROUPS_HEADER, "").strip(), proxies)
