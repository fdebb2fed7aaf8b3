"""Whose browser it is: the cookie that a page hands out, and the proof in it."""

from __future__ import annotations

import time
from math import inf
from pathlib import Path
from typing import Any, Final

import pytest
from starlette.testclient import TestClient

from replicalab.library import EntryKind, Owner
from replicalab.server import visitor
from replicalab.server.visitor import (
    SECURE_COOKIE,
    VISITOR_COOKIE,
    away_seconds,
    begins_with,
    is_over_tls,
    secret_shown,
    value_of,
)
from replicalab.ui.library import shelf
from tests.library.making import make_plan
from tests.server.asking import HOST, OWN, STREAM, TOKEN
from tests.ui.test_batches import until
from tests.ui.visitors import Browsers


def test_page_hands_out_a_token_that_only_the_server_reads(client: TestClient) -> None:
    handed = client.get("/").headers["set-cookie"]
    name, _, rest = handed.partition("=")
    token, *flags = rest.split("; ")
    assert name == VISITOR_COOKIE
    assert token == value_of(token[: len(TOKEN)])
    assert set(flags) == {"Path=/", f"Max-Age={365 * 86_400}", "HttpOnly", "SameSite=Lax"}
    assert client.get("/").headers["set-cookie"] == handed, "it is the same, for a year from now"
    assert "set-cookie" not in client.get("/all", headers={"cookie": ""}).headers, "is no page"


NOT_MADE_HERE: Final = [
    "",
    "short",
    TOKEN,
    TOKEN + "A",
    TOKEN[:-1] + "!",
    "../" + TOKEN[:-3],
    f"{TOKEN}.",
    f"{TOKEN}.{'A' * 22}",
    f"{'B' * 43}.{value_of(TOKEN).partition('.')[2]}",
    f"{value_of(TOKEN)}A",
    value_of(TOKEN).replace(".", ".."),
]


@pytest.mark.parametrize("shown", NOT_MADE_HERE)
def test_token_that_was_not_made_here_is_replaced(client: TestClient, shown: str) -> None:
    cookie = {"cookie": f"{VISITOR_COOKIE}={shown}"}
    handed = handed_out(client.get("/", headers=cookie))
    assert handed == [f"{VISITOR_COOKIE}={value_of(secret_in(handed[0]))}"]
    assert secret_in(handed[0]) != TOKEN
    assert secret_shown({VISITOR_COOKIE: shown}, over_tls=False) == ""


def handed_out(answer: Any) -> list[str]:
    """Return the cookies that an answer hands out, each by name and value."""
    return [each.partition(";")[0] for each in answer.headers.get_list("set-cookie")]


def secret_in(cookie: str) -> str:
    """Return the secret of a cookie that is handed out."""
    return cookie.partition("=")[2].partition(".")[0]


@pytest.mark.parametrize("held", [None, b"", b"cut short"])
def test_key_is_made_for_its_user_alone_and_outlives_the_server(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: bytes | None
) -> None:
    key = tmp_path / "kept" / "visitors.key"
    if held is not None:
        key.parent.mkdir()
        key.write_bytes(held)
    monkeypatch.setenv("REPLICALAB_DATA", str(key.parent))
    handed = handed_out(client.get("/"))
    visitor._key.cache_clear()  # noqa: SLF001 - as a server that is started anew has none
    assert handed_out(client.get("/")) == handed
    assert key.stat().st_size == 32
    assert key.stat().st_mode & 0o077 == 0
    assert list(key.parent.iterdir()) == [key]


def test_key_is_its_users_alone_as_a_copy_and_behind_a_link_too(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPLICALAB_DATA", str(tmp_path))
    there = tmp_path / "there" / "ours.key"
    (tmp_path / "visitors.key").symlink_to(there)
    handed = handed_out(client.get("/"))
    there.chmod(0o644)
    visitor._key.cache_clear()  # noqa: SLF001
    assert handed_out(client.get("/")) == handed
    assert there.stat().st_mode & 0o777 == 0o600


def test_log_says_that_a_key_lasts_only_until_the_end(
    client: TestClient,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("REPLICALAB_DATA", str(tmp_path / "file" / "within"))
    (tmp_path / "file").write_bytes(b"")
    assert secret_in(handed_out(client.get("/"))[0])
    assert "The key of visitors lasts until this process ends: [Errno" in caplog.text


def test_visitor_begins_once_with_a_new_token_and_never_with_an_old_one(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = secret_in(handed_out(client.get("/"))[0])
    client.get("/")
    assert [begins_with(token), begins_with(token)] == [True, False]
    later = secret_in(handed_out(client.get("/", headers={"cookie": ""}))[0])
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 11)
    assert not begins_with(later)
    client.get("/", headers={"cookie": f"{VISITOR_COOKIE}={value_of(TOKEN)}"})
    assert not begins_with(TOKEN)


def test_token_of_an_encrypted_page_can_be_planted_by_no_other_host(client: TestClient) -> None:
    handed = client.get(f"https://{HOST}/").headers["set-cookie"]
    assert handed.startswith(f"__Host-{VISITOR_COOKIE}=")
    assert "; Path=/;" in handed
    assert handed.endswith("; Secure")
    assert "Domain" not in handed


@pytest.fixture
def kept(browsers: Browsers) -> str:
    """The secret of a visitor of whom an earlier version kept a plan, and made no proof."""
    shelf.keep_beside(Owner.of(browsers.token), EntryKind.PLAN, "ours", make_plan())
    return browsers.token


@pytest.mark.parametrize("proof", ["", f".{'A' * 22}"])
def test_token_from_before_is_known_by_what_was_kept(
    client: TestClient, kept: str, proof: str
) -> None:
    shown = {"cookie": f"{VISITOR_COOKIE}={kept}{proof}"}
    assert handed_out(client.get("/", headers=shown)) == [f"{VISITOR_COOKIE}={value_of(kept)}"]


def test_work_from_before_is_found_over_tls_with_a_secret_that_nobody_else_has(
    client: TestClient, kept: str
) -> None:
    shown = {"cookie": f"{VISITOR_COOKIE}={kept}"}
    fresh = secret_in(handed_out(client.get(f"https://{HOST}/", headers=shown))[0])
    assert fresh != kept
    assert not begins_with(fresh)
    [entry] = shelf.shelf().entries(Owner.of(fresh))
    assert entry.name == "ours"
    assert not shelf.shelf().knows(Owner.of(kept))
    assert handed_out(client.get(f"https://{HOST}/", headers=shown)) == [], "a tab beside it"
    again = {"cookie": f"{shown['cookie']}; {SECURE_COOKIE}={value_of(fresh)}"}
    assert secret_in(handed_out(client.get(f"https://{HOST}/", headers=again))[0]) == fresh


def test_token_from_before_is_left_alone_while_the_library_does_not_answer(
    client: TestClient, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelf, "_SHELF", shelf._Shelf())  # noqa: SLF001 - as a new process has
    monkeypatch.setenv("REPLICALAB_DATABASE_URL", "nonsense")
    shown = {"cookie": f"{VISITOR_COOKIE}={kept}"}
    assert handed_out(client.get("/", headers=shown)) == []


def test_planted_token_is_not_adopted_over_tls(client: TestClient) -> None:
    """Made here, but for another: under a plain name any neighbour may have planted it."""
    planted = {"cookie": f"{VISITOR_COOKIE}={value_of(TOKEN)}"}
    fresh, gone = handed_out(client.get(f"https://{HOST}/", headers=planted))
    assert fresh.startswith(f"{SECURE_COOKIE}=")
    assert secret_in(fresh) != TOKEN
    assert gone == f"{VISITOR_COOKIE}="
    assert secret_shown({VISITOR_COOKIE: value_of(TOKEN)}, over_tls=True) == ""
    both = {VISITOR_COOKIE: value_of(TOKEN), SECURE_COOKIE: fresh.partition("=")[2]}
    assert secret_shown(both, over_tls=True) == secret_in(fresh)


@pytest.mark.parametrize(
    ("headers", "scheme", "over_tls"),
    [
        ({"host": "lab.example"}, "https", True),
        ({"host": "lab.example"}, "wss", True),
        ({"host": "lab.example"}, "http", False),
        # Anybody may write these.
        ({"host": "lab.example", "x-forwarded-proto": "https"}, "http", False),
        ({"host": "lab.example", "forwarded": "proto=https"}, "http", False),
        # A proxy that tells nothing: the browser says so only over TLS.
        ({"host": "lab.example", "sec-fetch-site": "none"}, "http", True),
        ({"host": "lab.example:8501", "sec-fetch-site": "same-origin"}, "http", True),
        ({"host": "localhost.evil.example", "sec-fetch-site": "none"}, "http", True),
        # To this machine's own names it says so without, too.
        ({"host": "localhost:8501", "sec-fetch-site": "none"}, "http", False),
        ({"host": "127.0.0.1:8501", "sec-fetch-site": "none"}, "http", False),
        ({"host": "[::1]:8501", "sec-fetch-site": "none"}, "http", False),
        ({"host": "lab.localhost", "sec-fetch-site": "none"}, "http", False),
        # The origin is the browser's word for what its visitor sees.
        ({"host": "lab.example", "origin": "https://lab.example"}, "ws", True),
        ({"host": "localhost:1", "origin": "http://localhost:1"}, "wss", False),
    ],
)
def test_tls_is_what_the_browser_has(headers: dict[str, str], scheme: str, over_tls: bool) -> None:
    assert is_over_tls(headers, scheme) is over_tls


def test_visitor_is_away_once_their_last_page_is_closed(client: TestClient) -> None:
    secret = "C" * 43
    shown = {"origin": OWN, "cookie": f"{VISITOR_COOKIE}={value_of(secret)}"}
    assert away_seconds(secret) == inf
    with client.websocket_connect(STREAM, headers=shown):
        with client.websocket_connect(STREAM, headers=shown):
            assert away_seconds(secret) == 0
        until(lambda: visitor._OPEN[secret] == 1)  # noqa: SLF001
        assert away_seconds(secret) == 0
    until(lambda: 0 < away_seconds(secret) < inf)
