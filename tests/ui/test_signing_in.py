"""The pages where people sign in: the way in and out, whose work it is, and who may do what."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.library import EntryKind, EventKind, Owner
from replicalab.people import PROXY, Person, Right, packed
from replicalab.server import visitor
from replicalab.ui.batches import BATCHES
from replicalab.ui.library import shelf, writer
from replicalab.ui.library.shelf import owner
from replicalab.ui.negotiation import model
from tests.browser.driving import ROOT
from tests.library.making import make_plan
from tests.ui.acting import labels, press, type_number
from tests.ui.pages import LIBRARY, NEGOTIATION, PAGES, PROTOCOL
from tests.ui.reading import alerts, keyed, said, texts
from tests.ui.test_compare_page import at_many
from tests.ui.visitors import Browsers
from tests.ui.walking import go, visit

ANN = Person("https://issuer.example", "ann", "Ann *the* first")
BEN = Person(PROXY, "ben")

Tell = Callable[..., None]


@pytest.fixture
def tell(browsers: Browsers, monkeypatch: pytest.MonkeyPatch) -> Tell:
    """What lets the wall tell a page who its visitor is, and what they may do."""
    assert browsers.token

    def told(person: Person, rights: frozenset[Right] = frozenset(Right)) -> None:
        monkeypatch.setattr(visitor, "_told", lambda: packed(person, rights))

    return told


@pytest.mark.parametrize("file", PAGES)
def test_no_page_shows_anything_before_its_visitor_is_known(
    browsers: Browsers, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    assert browsers.token
    monkeypatch.setattr(visitor, "_told", lambda: visitor.NOBODY)
    app = AppTest.from_file(str(ROOT / file), default_timeout=60).run()
    assert not app.exception
    assert labels(app) == ["Sign in"]
    assert [each.value for each in app.title] == ["ReplicaLab"]
    assert "state" not in app.session_state


def test_work_is_the_person_s_in_any_browser(browsers: Browsers, tell: Tell) -> None:
    tell(ANN)
    press(visit(PROTOCOL, study="psy_stroop"), "Save")
    [entry] = shelf.shelf().entries(Owner.of_person(ANN))
    assert shelf.shelf().entries(Owner.of(browsers.token)) == []
    browsers.use()
    assert entry.name in said(visit(LIBRARY))
    tell(BEN)
    assert entry.name not in said(visit(LIBRARY))


def test_library_says_whose_it_is_and_who_else_reads_it(tell: Tell) -> None:
    tell(ANN)
    app = visit(LIBRARY)
    usage = said(pick_usage(app))
    assert "in any browser in which you sign in as Ann *the* first" in usage.replace("\\", "")
    assert "the audit log says so" in usage


def warned(app: AppTest) -> str:
    """Return what the page's boxes say."""
    return "\n".join(each.text for each in alerts(app))


def pick_usage(app: AppTest) -> AppTest:
    app.session_state["library_more"] = "How much is saved, and where"
    return app.run()


def test_what_is_deleted_by_oneself_is_in_the_audit_log(tell: Tell) -> None:
    tell(ANN)
    app = press(visit(PROTOCOL), "Save")
    app = pick_usage(go(app, LIBRARY))
    app.checkbox[0].check().run()
    press(app, "Delete it for good")
    writer.finish()
    assert shelf.shelf().entries(owner()) == []
    [event] = shelf.shelf().people.events(9)
    assert (event.event, event.note) == (EventKind.DELETION, "by themselves")


def test_what_a_browser_kept_is_offered_to_who_signed_in_alone(
    browsers: Browsers, tell: Tell
) -> None:
    browser = Owner.of(browsers.token)
    shelf.shelf().keep(browser, EntryKind.PLAN, "Of before", make_plan())
    assert "Take it along" not in labels(visit(LIBRARY)), "nobody signed in"
    tell(ANN, frozenset({Right.ASK}))
    assert "Take it along" not in labels(visit(LIBRARY)), "who may not keep"
    tell(ANN)
    app = visit(LIBRARY)
    assert "kept work here: 1 entry" in "\n".join(texts(keyed(app, "left_behind")))
    app = press(app, "Take it along")
    assert "Of before" in said(app)
    assert "Take it along" not in labels(app)
    assert shelf.shelf().entries(browser) == []


def test_who_may_not_keep_is_told_and_nothing_is_saved(tell: Tell) -> None:
    tell(ANN, frozenset({Right.ASK, Right.BATCH}))
    app = press(type_number(visit(PROTOCOL), "Sample size", 41), "Save")
    assert "Not saved: you may look here, and keep nothing" in warned(app)
    writer.finish()
    assert shelf.shelf().entries(owner()) == []
    assert shelf.shelf().drafts(owner()) == []


def test_who_may_not_ask_a_model_has_none(tell: Tell) -> None:
    tell(ANN, frozenset({Right.KEEP, Right.BATCH}))
    app = visit(NEGOTIATION, scientist="model")
    assert "You may not ask a language model here" in warned(app)
    assert "Test the connection" not in labels(app)
    assert not [each for each in app.text_input if each.label == "Base URL"]
    assert model.usable_endpoint() is None


def test_who_may_not_run_batches_runs_none(tell: Tell) -> None:
    tell(ANN, frozenset({Right.KEEP, Right.ASK}))
    app = at_many()
    run = next(each for each in app.button if each.label == "Run")
    assert run.disabled
    assert "You may not run batches here" in run.help
    run.proto.disabled = False  # a browser may send what its page does not let one press
    run.click().run()
    assert BATCHES.of(visitor.secret()) is None


def test_way_out_names_who_signed_in_and_is_the_proxy_s_own_behind_one(tell: Tell) -> None:
    tell(ANN)
    [menu] = visit(PROTOCOL).menu_button
    assert menu.options[-1].endswith(r"Sign out \(Ann \*the\* first\)")
    tell(BEN)
    [menu] = visit(PROTOCOL).menu_button
    assert "Sign out" not in " ".join(menu.options)
