"""Every page: a first visit with the real story, and the front door of every study and lab."""

from __future__ import annotations

from typing import Final

import pytest

from replicalab.assessment import assess
from replicalab.lexicon import amount_text
from replicalab.scenarios import LAB_CONSTRAINTS, Difficulty, list_scenarios, load_scenario
from replicalab.text.plan import staff_text
from replicalab.text.verdicts import offer_story, terms_text
from replicalab.ui.gallery import reference_options
from tests.factories import change_pack
from tests.golden import assert_golden
from tests.ui.reading import (
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
    where,
)

LABS: Final = [
    pytest.param(study.scenario_id, level.value, id=f"{study.scenario_id}-{level}")
    for study in list_scenarios()
    for level in Difficulty
]
TITLES: Final = {study.scenario_id: study.title for study in list_scenarios()}


# --- A first visit ---


@pytest.mark.parametrize("file", PAGES)
def test_page_opens_on_a_first_visit_on_the_default_study(file: str) -> None:
    app = visit(file)
    assert where(app) == f"{TITLES['fin_momentum']} · medium lab · Not feasible"
    assert len(app.title) == 1


@pytest.mark.parametrize(("name", "file"), [("scenarios", SCENARIOS), ("protocol", PROTOCOL)])
def test_page_reads_on_a_first_visit_as_it_was_read(name: str, file: str) -> None:
    assert_golden(f"pages/{name}", said(visit(file)))


@pytest.mark.parametrize("file", [file for file in PAGES if file != SCENARIOS])
def test_header_says_what_a_sample_is(file: str) -> None:
    assert "Samples: mice in the two primary arms." in texts(
        visit(file, study="bio_jq1_myeloma").main
    )


# --- Every study in every lab ---


@pytest.mark.parametrize("file", PAGES)
@pytest.mark.parametrize(("study", "lab"), LABS)
def test_page_opens_each_study_in_each_lab(file: str, study: str, lab: str) -> None:
    title, level, verdict = where(visit(file, study=study, lab=lab)).split(" · ")
    assert (title, level) == (TITLES[study], f"{lab} lab")
    expected = load_scenario(study, lab).expected
    assert expected is not None
    assert verdict == ("Feasible" if expected.answer == "accept" else "Not feasible")


@pytest.mark.parametrize(("study", "lab"), LABS)
def test_front_door_tells_what_the_core_answers_and_shows_what_the_lab_has(
    study: str, lab: str
) -> None:
    pack = load_scenario(study, lab)
    reference = reference_options(pack)
    app = visit(study=study, lab=lab)
    page, story = said(app), offer_story(reference)
    colour = {"pass": "success", "caution": "warning", "fail": "error"}[story.status]
    assert alerts(app)[0] == Alert(colour, story.text)
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


def test_staff_on_the_front_door_is_that_of_the_check() -> None:
    pack = load_scenario("chem_suzuki_ppb", "hard")
    plan = assess(pack.reference_protocol, pack)
    page = said(visit(study="chem_suzuki_ppb", lab="hard"))
    assert f"= {plan.staff} of {pack.lab.staff} staff units." in page
