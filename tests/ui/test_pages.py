"""Every page: a first visit with the real story, and the front door of every study and lab."""

from collections.abc import Callable
from functools import partial
from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.facts.study import story_panel
from replicalab.facts.verdicts import offer_story
from replicalab.limits import MOST_STUDY_BYTES
from replicalab.scenarios import load_scenario
from replicalab.ui import study_form
from replicalab.ui.study import PARTS, TABS, reference_options
from tests.facts.reading import tree
from tests.golden import assert_golden
from tests.ui.acting import pick, press, type_number
from tests.ui.pages import (
    COMPARE,
    LIBRARY,
    NEED_STUDY,
    NEGOTIATION,
    PAGES,
    PROTOCOL,
    SCENARIOS,
    STUDY,
)
from tests.ui.reading import heard, said, visit_lab, where
from tests.ui.walking import at_editor, at_making, go, show, unopened, visit

GOLDEN: Final = {SCENARIOS: "scenarios", STUDY: "study", PROTOCOL: "protocol"}
"""Pages whose first visit is pinned here, and how."""


@pytest.mark.parametrize("file", PAGES)
def test_page_opens_on_the_default_study_says_what_a_sample_is_and_reads_as_it_was_read(
    file: str,
) -> None:
    app, pack = visit(file), load_scenario("fin_momentum")
    opened = f"{pack.paper.name} · medium lab"
    judged = f"{opened} · Not feasible"
    quiet = {NEGOTIATION: opened} | dict.fromkeys((SCENARIOS, COMPARE, LIBRARY), "")
    assert where(app) == quiet.get(file, judged)
    assert (f"Samples: {pack.design.unit_of_n}" in said(app)) is (file in NEED_STUDY)
    if file in GOLDEN:
        assert_golden(f"pages/{GOLDEN[file]}#first", said(app))


def test_part_of_a_study_reads_as_it_was_read() -> None:
    app = visit(STUDY)
    for part in list(PARTS)[1:]:
        name = part.lower().replace(" ", "_")
        assert_golden(f"pages/study#{name}", said(show(app, part, TABS)))


def test_part_of_the_form_reads_with_the_template_as_it_was_read() -> None:
    app = at_making(unopened())
    assert_golden("pages/making#begin", said(app))
    press(pick(app, "Start from", "the template"), "Start the form")
    for part in study_form.PARTS:
        name = part.lower().replace(" ", "_")
        assert_golden(f"pages/making#{name}", said(show(app, part, study_form.PARTS_KEY)))


@pytest.mark.parametrize("scientist", ["person", "model"])
def test_every_field_for_text_takes_only_so_much(scientist: str) -> None:
    """A message of more than 2 MB ends the page's connection, each time that it connects again."""
    app = visit(scientist=scientist)
    record: dict[str, int] = {}
    ways: list[Callable[[AppTest], object]] = [partial(go, page=page) for page in PAGES]
    for go_on in (*ways, at_editor):
        go_on(app)
        record |= {field.label: field.max_chars for field in (*app.text_input, *app.text_area)}
    assert {"Search", "Study file (YAML)", "Rationale"} < record.keys()
    assert {"person": "Or ask the lab a question", "model": "Key"}[scientist] in record
    assert record["Study file (YAML)"] > MOST_STUDY_BYTES, (
        "the reader says how much too long a file is"
    )
    assert all(0 < limit <= MOST_STUDY_BYTES * 1.2 for limit in record.values()), record


# --- the Study page ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("study", "lab"),
    [("bio_jq1_myeloma", "easy"), ("psy_stroop", "medium"), ("math_four_colour", "hard")],
)
def test_study_page_shows_each_part_of_the_study_in_its_lab(study: str, lab: str) -> None:
    app, pack = visit_lab(STUDY, study, lab), load_scenario(study, lab)
    reference = reference_options(pack)
    for name, blocks in PARTS.items():
        page = said(show(app, name, TABS))
        for block in (story_panel(reference), *blocks(reference)):
            assert heard(tree(block)) in page
        assert pack.hidden_reference_spec.summary not in page


def test_study_page_tells_of_the_reference_protocol_whatever_the_plan() -> None:
    app = type_number(visit(PROTOCOL, lab="easy"), "Sample size", 75)
    pack = load_scenario("fin_momentum", "easy")
    assert offer_story(reference_options(pack)).text in said(go(app, STUDY))
    assert where(app).endswith("· Feasible, below the floor")
