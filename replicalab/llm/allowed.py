"""Which servers may be asked at all, where whoever runs this app serves it to others."""

from __future__ import annotations

import re
from ipaddress import IPv6Address
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from replicalab.errors import ModelSettingsError

ALLOWED_SETTING: Final = "REPLICALAB_LLM_ALLOWED"
NONE: Final = "none"

_ADDRESS: Final = re.compile(
    r"https?://(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d+)?(/[a-z0-9._~%!$&'()*+,;=:@/-]*)?",
    re.IGNORECASE | re.ASCII,
)
_PORTS: Final = {"http": 80, "https": 443}


def checked_address(value: str) -> str:
    """Return the address without slashes at its end.

    No message repeats what was given: it may be a key that was pasted into the wrong place.

    Raises:
        ValueError: it is no plain address.
    """
    text = value.strip()
    if not text.lower().startswith(("http://", "https://")):
        raise ValueError("this address does not begin with http:// or https://; write it in full")
    if not _ADDRESS.fullmatch(text):
        raise ValueError(
            "this is not a plain address; write host, port and path only "
            "(https://host:port/v1), without user name, ?, # or spaces"
        )
    try:
        _place(text)
    except ValueError:
        raise ValueError(
            "the host of this address is not one, or its port is not from 0 to 65535"
        ) from None
    return text.rstrip("/")


class _Place(NamedTuple):
    scheme: str
    host: str
    port: int
    path: str


def _place(address: str) -> _Place:
    """Return where an address leads, so that two of one place are equal."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    if parts.netloc.startswith("["):
        host = str(IPv6Address(host))
    port = _PORTS[parts.scheme] if parts.port is None else parts.port
    return _Place(parts.scheme, host, port, parts.path.rstrip("/"))


class Allowed:
    """The addresses that may be asked.

    Without a list any may be: the app is made for one's own machine, where the model often is
    another program on it. Whoever serves it to others sets a list, or each visitor can make the
    server send requests into its own network, and learn from the answers what is there.

    An entry is an address (``https://models.example.org``, ``http://127.0.0.1:11434/v1``), or a
    host alone, for https. Scheme, host and port are compared whole, and the path if the entry has
    one; ``none``, or a list that is set and blank, allows nothing.
    """

    def __init__(self, setting: str | None) -> None:
        """Read the list.

        Raises:
            ModelSettingsError: an entry is no address; nothing may be asked until it is one.
        """
        entries = [entry.strip() for entry in (setting or "").split(",") if entry.strip()]
        named = [entry for entry in entries if entry.lower() != NONE]
        self.anything = setting is None
        try:
            self.addresses = tuple(
                checked_address(entry if "://" in entry else f"https://{entry}") for entry in named
            )
        except ValueError as error:
            failure = ModelSettingsError(f"{ALLOWED_SETTING}: {error}")
        else:
            return
        raise failure

    def __contains__(self, address: str) -> bool:
        asked = _place(address)
        places = map(_place, self.addresses)
        return self.anything or any(
            asked[:3] == place[:3] and place.path in ("", asked.path) for place in places
        )

    def told(self) -> str:
        """Return a sentence that says what may be asked; empty where anything may be."""
        if self.anything:
            return ""
        if not self.addresses:
            return "No language model may be asked here."
        return f"Only these may be asked here: {', '.join(self.addresses)}."
