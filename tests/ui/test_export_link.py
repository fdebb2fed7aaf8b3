"""Hand over, Link: the address in full, what it carries, and what it does not."""

from __future__ import annotations

import random
from typing import Final
from urllib.parse import parse_qsl

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Element

from replicalab.models import revise
from replicalab.scenarios import load_scenario
from replicalab.ui import frame
from replicalab.ui.address import encode_plan
from tests.ui.reading import (
    PAGES,
    PROTOCOL,
    alerts,
    choose,
    choose_more,
    drawer_of,
    in_drawer,
    query_of,
    visit,
)

STROOP: Final = load_scenario("psy_stroop", "medium")


def handing(page: str = PROTOCOL, **query: str) -> AppTest:
    """Return a page with the drawer open."""
    return choose_more(visit(page, **query), "Hand over")


def link(app: AppTest) -> dict[str, str]:
    """Return what the drawer's link carries."""
    [code] = [each for each in drawer_of(app) if isinstance(each, Element) and each.type == "code"]
    return dict(parse_qsl(str(code.value).partition("?")[2]))


@pytest.mark.parametrize("page", PAGES)
def test_link_of_every_page_is_its_address(page: str) -> None:
    plan = revise(STROOP.reference_protocol, sample_size=42)
    app = handing(page, study="psy_stroop", budget="1200", plan=encode_plan(plan))
    assert link(app) == query_of(app)
    told = in_drawer(app)
    for part in (STROOP.paper.name, "medium lab, 1 change", "differs from it in 1 field"):
        assert part in told
    assert "does not carry" not in told


@pytest.mark.parametrize(
    ("server", "here_only"),
    [
        ("http://localhost:8501/Protocol", True),
        ("http://127.0.0.1:8501/Protocol", True),
        ("http://127.8.0.1/", True),
        ("http://[::1]:8501/", True),
        ("http://192.168.1.7:8501/Protocol", False),
        ("https://lab.example.org/Protocol", False),
        ("https://localhost.example.org/", False),
    ],
)
def test_link_of_this_machine_alone_is_promised_to_nobody_else(
    monkeypatch: pytest.MonkeyPatch, server: str, here_only: bool
) -> None:
    monkeypatch.setattr(type(st.context), "url", property(lambda _: server))
    told = in_drawer(handing())
    assert ("of this machine only" in told) is here_only
    assert ("Whoever can reach this server" in told) is not here_only


def test_link_tells_the_question_and_the_round() -> None:
    told = in_drawer(handing(study="psy_stroop", alpha="0.01", round="2"))
    assert "(alpha)" in told
    assert "round 2" in told


def test_alpha_of_an_audit_is_told_once_and_named_nowhere() -> None:
    app = visit(PROTOCOL, study="math_pythagorean", alpha="0.01", dropout="0.1")
    [told] = alerts(app)
    assert "alpha '0.01' plays no part in an audit design; it is left out." in told.text
    assert "alpha" not in query_of(app)
    assert "(dropout)" in in_drawer(choose_more(app, "Hand over"))


def test_link_without_a_plan_that_is_too_long_says_so() -> None:
    chance = random.Random(7)
    letters = [f"{chance.randrange(16**200):0200x}" for _ in range(95)]
    app = choose_more(choose(visit(PROTOCOL), "Controls", *letters), "Hand over")
    assert "plan" not in link(app)
    told = in_drawer(app)
    assert "your plan: it is too long for a link" in told
    assert "your plan, which differs" not in told


def test_menu_offers_only_what_it_can_do() -> None:
    [menu] = visit().menu_button
    assert [option.split(": ")[-1] for option in menu.options] == list(frame.MORE)
