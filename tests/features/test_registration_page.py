"""Share, Registration: a form is filled in, saved with the plan, and leaves as files."""

import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.features.registration import PROFILES
from replicalab.ui.controls import escape
from replicalab.ui.own_studies import find
from replicalab.ui.workspace import Workspace, from_query
from tests.tiers import one_in
from tests.ui.acting import press, type_number, undo
from tests.ui.reading import in_drawer
from tests.ui.test_export import Files, again, files, part, text
from tests.ui.walking import query_of

__all__ = ["files"]
FORM = "registration_form"
PLACE = f"{FORM}_psy_stroop"
IDS = "JSON with form ids"
RECIPE, OSF = "brandt-prereg-2", "osf-preregistration-3"


def opened(app: AppTest, form: str) -> AppTest:
    sections = PROFILES[form].sections.values()
    places = {f"{FORM}_{form}_{items[0].id}": True for items in sections}
    return again(app, "Registration", **{FORM: form, **places})


def registered(app: AppTest) -> Workspace:
    return from_query(query_of(app), find).workspace


def test_form_is_saved_with_the_plan(files: Files) -> None:
    app = opened(part("Registration", study="psy_stroop"), RECIPE)
    drawer = in_drawer(app)
    assert "ReplicaLab: 100 participants." in drawer
    assert "The study’s file: Incongruent words add" in drawer
    assert "Proposed: Exact. Why: the plan uses all equipment that the study lists" in drawer
    assert json.loads(text(files, IDS))["item2"] is None
    app.text_area(key=f"{PLACE}_importance").set_value("Much is built on it. ")
    app.segmented_control(key=f"{PLACE}_same_pay").set_value("Close")
    app.text_input(key="hand_psy_stroop_title_").set_value("Stroop, again")
    press(app, "Confirm Exact")
    registration = registered(app).case.registration
    assert registration.texts == {"importance": "Much is built on it."}
    assert registration.choices == {"same_pay": ("Close",), "same_measures": ("Exact",)}
    assert registration.title == "Stroop, again"
    opened(app, RECIPE)
    values = json.loads(text(files, IDS))
    assert (values["item2"], values["item22"]) == ("Much is built on it.", "Close")
    assert text(files, "Markdown").startswith("# Stroop, again\n")
    # Undo restores a plan, not the author's answers.
    undo(type_number(app, "Sample size", 42))
    assert registered(app).case.registration == registration
    assert registered(app).case.plan is None


def test_proposed_text_counts_once_confirmed() -> None:
    app = opened(part("Registration", study="psy_stroop"), OSF)
    assert not registered(app).case.registration.texts
    proposed = "With 100 participants, without an interim analysis."
    assert f"Proposed: {proposed}" in in_drawer(app)
    app.session_state["export_is_open"] = True
    press(app, "Confirm this")
    assert registered(app).case.registration.texts == {"stopping": proposed}
    app = opened(app, OSF)
    assert app.text_area(key=f"{PLACE}_stopping").value == proposed
    assert "Proposed: With" not in in_drawer(app)


def test_exclusive_option_replaces_the_others(files: Files) -> None:
    app = opened(part("Registration", study="psy_stroop"), OSF)
    for chosen, settled in ((["Subjects"],) * 2, (["Nobody", "Subjects"], ["Nobody"]),
                            (["Nobody", "Analysts"], ["Analysts"]),
                            (["Subjects", "Analysts"],) * 2):  # fmt: skip
        app.pills(key=f"{PLACE}_blinding").set_value(chosen)
        app = opened(app.run(), OSF)
        assert app.pills(key=f"{PLACE}_blinding").value == settled
        assert registered(app).case.registration.choices == {"blinding": tuple(settled)}
        assert json.loads(text(files, IDS))["q4"] == settled


@pytest.mark.parametrize("form", one_in(4, PROFILES))
def test_form_draws_every_item(form: str, files: Files) -> None:
    app = opened(part("Registration", study="fin_momentum"), form)
    drawer = in_drawer(app)
    labels = {entry.label for entry in (*app.text_area, *app.segmented_control, *app.pills)}
    for title, items in PROFILES[form].sections.items():
        assert labels.issuperset(escape(item.label) for item in items)
        assert re.search(rf"{re.escape(title)} · \d+ of {len(items)}", drawer)
