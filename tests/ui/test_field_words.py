"""Names of dimensions, categories and statuses in the words of each study's field."""

import re
from typing import Any, Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.negotiation import LabManagerKind, ScientistKind
from replicalab.render.markdown import markdown
from replicalab.scenarios import list_scenarios
from tests.facts.reading import tree
from tests.reports.making import work
from tests.tiers import one_in
from tests.ui.pages import COMPARE, NEED_STUDY, STUDY
from tests.ui.reading import heard, in_drawer, page_text
from tests.ui.test_lab_form import drawer
from tests.ui.test_present import Deck
from tests.ui.walking import show, visit

WET: Final = {"bio_jq1_myeloma", "chem_suzuki_ppb", "eco_reef_fish"}
WET_WORDS: Final = re.compile(r".*(?:reagent|out of stock).*", re.IGNORECASE)
DRY_WORDS: Final = re.compile(r"materials and data", re.IGNORECASE)


def shown(app: AppTest) -> str:
    fields: list[Any] = [*app.multiselect, *app.selectbox, *app.radio, *app.button]
    fields += [*app.number_input, *app.expander]
    labels = [text for field in fields for text in (field.label, *getattr(field, "options", ()))]
    return "\n".join([page_text(app), *labels])


@pytest.mark.parametrize("study", one_in(4, [study.scenario_id for study in list_scenarios()]))
def test_reagents_are_named_in_wet_labs_only(study: str) -> None:
    texts = [shown(visit(page, study=study, lab="hard")) for page in (*NEED_STUDY, COMPARE)]
    texts.append(shown(show(visit(STUDY, study=study, lab="hard"), "The lab", "study_part")))
    for part in ("Rates and staff", "Items"):
        app = drawer(part, study=study, lab="hard")
        texts += [shown(app), in_drawer(app)]
    texts += [heard(tree(item.panel)) for item in Deck(study, "hard", *PLAYERS).slides]
    made = work(study, "hard", "reference")
    texts += [markdown(document) for document in (made.brief(), made.funding(), made.report())]
    lines = [line for text in texts for line in WET_WORDS.findall(text)]
    if study in WET:
        assert lines
        assert not any(map(DRY_WORDS.search, texts))
    else:
        assert lines == []
        assert any(map(DRY_WORDS.search, texts))


PLAYERS: Final = (ScientistKind.BASELINE, LabManagerKind.REFERENCE)
