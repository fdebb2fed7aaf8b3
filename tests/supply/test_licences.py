"""What the app brings is under licences that let anyone run, change and pass it on."""

from __future__ import annotations

import re
import sys
from typing import Final

import pytest

from supply.licences import PAGE, ROOT, is_allowed, packages, page

ROW: Final = re.compile(r"^\| \[(.+)\]\((https?://\S+)\) \| (\S+) \| (.+) \|$", re.MULTILINE)


def test_licences_tell_every_pinned_package() -> None:
    lock = (ROOT / "requirements.txt").read_text()
    pinned = re.findall(r"^([\w.-]+)==(\S+)", lock, flags=re.MULTILINE)
    told = [(name, version) for name, _, version, _ in ROW.findall(PAGE.read_text())]
    assert told == pinned


def test_licences_are_allowed() -> None:
    rows = ROW.findall(PAGE.read_text())
    assert rows
    assert [(name, licence) for name, _, _, licence in rows if not is_allowed(licence)] == []


def test_licences_of_what_signing_in_needs_are_allowed() -> None:
    brought = {each.name: each.licence for each in packages("requirements-signin.txt")}
    assert brought["authlib"] == "BSD-3-Clause"
    assert [name for name, licence in brought.items() if not is_allowed(licence)] == []


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS lacks watchdog, which is pinned")
def test_licences_are_what_the_packages_state() -> None:
    assert PAGE.read_text() == page(packages())


@pytest.mark.parametrize(
    ("licence", "allowed"),
    [
        ("MIT", True),
        ("BSD-3-Clause AND 0BSD AND CC0-1.0", True),
        ("GPL-3.0-only OR MIT", True),
        ("MIT AND GPL-3.0-only", False),
        ("MIT AND (GPL-3.0-only OR AGPL-3.0-only)", False),
        ("UNKNOWN", False),
        ("OSI Approved", False),
        ("", False),
    ],
)
def test_licence_is_allowed_where_each_part_offers_one(licence: str, allowed: bool) -> None:
    assert is_allowed(licence) is allowed
