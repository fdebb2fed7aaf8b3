"""Every page: a first visit with the real story, and the front door of every study and lab."""

from __future__ import annotations

import pytest

from replicalab.lexicon import amount_text
from replicalab.scenarios import LAB_CONSTRAINTS, load_scenario
from replicalab.scenarios.reading import MAX_BYTES
from replicalab.text.plan import staff_text
from replicalab.text.verdicts import offer_story, terms_text
from replicalab.ui.gallery import reference_options
from tests.factories import change_pack
from tests.golden import assert_golden
from tests.ui.reading import (
    COLOURS,
    IN_EVERY_LAB,
    PAGES,
    PROTOCOL,
    SCENARIOS,
    Alert,
    alerts,
    go,
    said,
    table,
    texts,
    type_number,
    visit,
    visit_lab,
    where,
)

# --- A first visit ---


@pytest.mark.parametrize("file", PAGES)
def test_page_opens_on_the_default_study_and_says_what_a_sample_is(file: str) -> None:
    app = visit(file)
    assert where(app).endswith(" · medium lab · Not feasible")
    assert where(app).startswith(load_scenario("fin_momentum").paper.name)
    sample = f"Samples: {load_scenario('fin_momentum').design.unit_of_n}"
    assert sample in said(app)


@pytest.mark.parametrize(("name", "file"), [("scenarios", SCENARIOS), ("protocol", PROTOCOL)])
def test_page_reads_on_a_first_visit_as_it_was_read(name: str, file: str) -> None:
    assert_golden(f"pages/{name}", said(visit(file)))


@pytest.mark.parametrize("scientist", ["person", "model"])
def test_every_field_for_text_takes_only_so_much(scientist: str) -> None:
    """A message of more than 2 MB ends the page's connection, each time that it connects again."""
    app = visit(scientist=scientist)
    found: dict[str, int] = {}
    for file in PAGES:
        go(app, file)
        found |= {field.label: field.max_chars for field in (*app.text_input, *app.text_area)}
    assert {"Search", "Study file (YAML)", "Rationale"} < found.keys()
    assert {"person": "Or ask the lab a question", "model": "Key"}[scientist] in found
    assert found["Study file (YAML)"] > MAX_BYTES, "the reader says how much too long a file is"
    assert all(0 < most <= MAX_BYTES * 1.2 for most in found.values()), found


# --- The front door of every study in every lab ---


@IN_EVERY_LAB
def test_front_door_tells_what_the_core_answers_and_shows_what_the_lab_has(
    study: str, lab: str
) -> None:
    pack = load_scenario(study, lab)
    reference = reference_options(pack)
    app = visit_lab(SCENARIOS, study, lab)
    page, story = said(app), offer_story(reference)
    assert alerts(app)[0] == Alert(COLOURS[story.status], story.text)
    assert terms_text(reference.yours) in texts(app.main)
    assert f"Staff for the reference protocol: {staff_text(reference.yours)}." in page
    assert {metric.label: metric.value for metric in app.metric} == {
        "Budget, credits": amount_text(pack.lab.budget),
        "Days": str(pack.lab.days),
        "Staff units": str(pack.lab.staff),
        "Shortest useful plan, days": str(pack.min_days),
    }
    shown = [row[0] for row in table(app, 1)[1:]]
    assert shown == [r.label for r in pack.resources if r.category.value != "personnel"]
    reasons = [row[2] for row in table(app)[1:]]
    assert len(reasons) >= 8
    assert {" ".join(why.split()) for why in pack.design.why.values()} <= set(reasons)
    stated = [c for c in pack.constraints if not c.bounds and c.key not in LAB_CONSTRAINTS]
    assert page.count("stated, not checked") == len(stated)
    assert pack.hidden_reference_spec.summary not in page


def test_front_door_tells_of_the_reference_protocol_whatever_the_plan() -> None:
    app = type_number(visit(PROTOCOL, lab="easy"), "Sample size", 75)
    pack = load_scenario("fin_momentum", "easy")
    assert alerts(go(app, SCENARIOS))[0].text == offer_story(reference_options(pack)).text
    assert where(app).endswith("· Feasible, below the floor")


def test_lab_tab_says_until_when_an_item_is_booked() -> None:
    app = visit(study="psy_stroop")
    assert ["voice-key booth", "equipment", "booked until day 1"] in table(app, 1)


def test_front_door_writes_a_negative_effect_with_a_minus_sign(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pack = load_scenario("fin_momentum")
    own = change_pack(pack, design=pack.design.model_copy(update={"effect_published": -0.5}))
    monkeypatch.setattr("replicalab.ui.own_studies.find", lambda *_: own)
    assert table(visit())[1][:2] == ["Published effect", "−0.5"]
