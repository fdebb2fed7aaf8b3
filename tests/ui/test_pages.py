"""Every page: a first visit with the real story, and the front door of every study and lab."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.lexicon import amount_text
from replicalab.scenarios import LAB_CONSTRAINT_KEYS, load_scenario
from replicalab.scenarios.reading import MAX_BYTES
from replicalab.ui import study_form
from replicalab.ui.cards import reference_options
from replicalab.ui.study import PARTS, TABS
from replicalab.views.blocks import Status
from replicalab.views.plan import staff_text
from replicalab.views.verdicts import offer_story, terms_text
from tests.factories import change_pack
from tests.golden import assert_golden
from tests.ui.reading import (
    IN_EVERY_LAB,
    PAGES,
    PROTOCOL,
    SCENARIOS,
    STUDY,
    at_editor,
    at_making,
    go,
    panel_tables,
    pick,
    press,
    said,
    show,
    type_number,
    unopened,
    visit,
    visit_lab,
    where,
)

READ: Final = {Status.PASS: "passes", Status.CAUTION: "caution", Status.FAIL: "fails"}
"""How the sign of a status is read."""

# --- A first visit ---


@pytest.mark.parametrize("file", PAGES)
def test_page_opens_on_the_default_study_and_says_what_a_sample_is(file: str) -> None:
    app = visit(file)
    opened = f"{load_scenario('fin_momentum').paper.name} · medium lab · Not feasible"
    assert where(app) == ("" if file == SCENARIOS else opened)
    sample = f"Samples: {load_scenario('fin_momentum').design.unit_of_n}"
    assert (sample in said(app)) is (file != SCENARIOS)


@pytest.mark.parametrize(
    ("name", "file"),
    [("scenarios", SCENARIOS), ("study", STUDY), ("protocol", PROTOCOL)],
)
def test_page_reads_on_a_first_visit_as_it_was_read(name: str, file: str) -> None:
    assert_golden(f"pages/{name}", said(visit(file)))


@pytest.mark.parametrize("part", list(PARTS)[1:])
def test_part_of_a_study_reads_as_it_was_read(part: str) -> None:
    name = part.lower().replace(" ", "_")
    assert_golden(f"pages/study_{name}", said(show(visit(STUDY), part, TABS)))


@pytest.mark.parametrize("part", ["begin", *study_form.PARTS])
def test_part_of_the_form_reads_with_the_template_as_it_was_read(part: str) -> None:
    app = at_making(unopened())
    if part != "begin":
        app = press(pick(app, "Start from", "the template"), "Start the form")
        app = show(app, part, study_form.PARTS_KEY)
    name = part.lower().replace(" ", "_")
    assert_golden(f"pages/making_{name}", said(app))


@pytest.mark.parametrize("scientist", ["person", "model"])
def test_every_field_for_text_takes_only_so_much(scientist: str) -> None:
    """A message of more than 2 MB ends the page's connection, each time that it connects again."""
    app = visit(scientist=scientist)
    found: dict[str, int] = {}
    ways: list[Callable[[AppTest], object]] = [partial(go, page=page) for page in PAGES]
    for go_on in (*ways, at_editor):
        go_on(app)
        found |= {field.label: field.max_chars for field in (*app.text_input, *app.text_area)}
    assert {"Search", "Study file (YAML)", "Rationale"} < found.keys()
    assert {"person": "Or ask the lab a question", "model": "Key"}[scientist] in found
    assert found["Study file (YAML)"] > MAX_BYTES, "the reader says how much too long a file is"
    assert all(0 < most <= MAX_BYTES * 1.2 for most in found.values()), found


# --- Every study in every lab ---


@IN_EVERY_LAB
def test_study_page_tells_what_the_core_answers_and_shows_what_the_lab_has(
    study: str, lab: str
) -> None:
    pack = load_scenario(study, lab)
    reference = reference_options(pack)
    app = visit_lab(STUDY, study, lab)
    page, story = said(app), offer_story(reference)
    assert f"{READ[story.status]} {story.text}" in page.splitlines()
    assert terms_text(reference.yours) in page
    reasons = [row[-1] for row in panel_tables(app)[0][1:]]
    assert len(reasons) >= 8
    assert {" ".join(why.split()) for why in pack.design.why.values()} <= set(reasons)
    page = said(show(app, "The lab", TABS))
    assert f"Staff for the reference protocol: {staff_text(reference.yours)}." in page
    for name, amount in (
        ("Budget, credits", amount_text(pack.lab.budget)),
        ("Days", pack.lab.days),
        ("Staff units", pack.lab.staff),
        ("Shortest useful plan, days", pack.min_days),
    ):
        assert f"\n{name}\n{amount}\n" in page
    shown = [row[0] for row in panel_tables(app)[0][1:]]
    assert shown == [r.label for r in pack.resources if r.category.value != "personnel"]
    page = said(show(app, "Restrictions and criteria", TABS))
    stated = [c for c in pack.constraints if not c.bounds and c.key not in LAB_CONSTRAINT_KEYS]
    assert page.count("stated, not checked") == len(stated)
    assert pack.hidden_reference_spec.summary not in page


def test_study_page_tells_of_the_reference_protocol_whatever_the_plan() -> None:
    app = type_number(visit(PROTOCOL, lab="easy"), "Sample size", 75)
    pack = load_scenario("fin_momentum", "easy")
    assert offer_story(reference_options(pack)).text in said(go(app, STUDY))
    assert where(app).endswith("· Feasible, below the floor")


def test_lab_tab_says_until_when_an_item_is_booked() -> None:
    app = show(visit(STUDY, study="psy_stroop"), "The lab", TABS)
    assert ["voice-key booth", "equipment", "fails booked until day 1"] in panel_tables(app)[0]


def test_study_page_writes_a_negative_effect_with_a_minus_sign(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pack = load_scenario("fin_momentum")
    own = change_pack(pack, design=pack.design.model_copy(update={"effect_published": -0.5}))
    monkeypatch.setattr("replicalab.ui.own_studies.find", lambda *_: own)
    assert panel_tables(visit(STUDY))[0][1][:2] == ["Published effect", "−0.5"]
