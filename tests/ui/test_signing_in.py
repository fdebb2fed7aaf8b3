"""Pages of a server that asks for sign-in, and whose work is whose."""

from __future__ import annotations

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.browser.driving import ROOT
from tests.ui.acting import labels, press
from tests.ui.pages import LIBRARY, PAGES, PROTOCOL
from tests.ui.reading import said
from tests.ui.visitors import Browsers
from tests.ui.walking import visit


@pytest.mark.parametrize("file", PAGES)
def test_pages_ask_for_sign_in_first(monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    monkeypatch.setattr(st, "user", {"is_logged_in": False})
    app = AppTest.from_file(str(ROOT / file), default_timeout=60).run()
    assert not app.exception
    assert labels(app) == ["Sign in"]
    assert "state" not in app.session_state


def test_work_follows_person_to_other_browsers(
    browsers: Browsers, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = {"is_logged_in": True, "iss": "https://issuer.example", "sub": "1", "name": "Ann *A*"}
    monkeypatch.setattr(st, "user", ann)
    app = press(visit(PROTOCOL, study="psy_stroop"), "Save")
    assert app.menu_button[0].options[-1].endswith(r"Sign out \(Ann \*A\*\)")
    browsers.use()
    assert "Stroop" in said(visit(LIBRARY))
    monkeypatch.setattr(st, "user", ann | {"iss": "https://other.example"})
    assert "Stroop" not in said(visit(LIBRARY))
