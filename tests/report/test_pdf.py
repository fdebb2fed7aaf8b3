"""Documents on paper, without a browser: the brief on one page of either size, for every study."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from itertools import product
from typing import Final

import pytest

from replicalab.errors import PrintError
from replicalab.report import pdf
from replicalab.report.as_pdf import Paper
from replicalab.scenarios import Difficulty, list_scenarios
from tests.report.making import pages_in, strangers, work

STUDIES: Final = [summary.scenario_id for summary in list_scenarios()]

needs_weasyprint = pytest.mark.skipif(
    find_spec("weasyprint") is None and os.environ.get("REPLICALAB_REQUIRE_BROWSER") != "1",
    reason="WeasyPrint is not installed: pip install -r requirements-pdf.txt",
)


@needs_weasyprint
@pytest.mark.parametrize(("scenario_id", "lab"), [*product(STUDIES, Difficulty)])
def test_brief_is_one_page_for_every_study_in_every_lab(scenario_id: str, lab: Difficulty) -> None:
    longest = work(scenario_id, lab.value, "offered").brief()
    assert pages_in(pdf(longest, "letter")) == 1


@needs_weasyprint
@pytest.mark.parametrize("paper", ["A4", "letter"])
@pytest.mark.parametrize("which", ["study", "run"])
def test_brief_of_strangers_is_one_page(which: str, paper: Paper) -> None:
    assert pages_in(pdf(strangers()[which].brief(), paper)) == 1


@needs_weasyprint
def test_report_takes_a_few_pages_and_the_same_bytes_each_time() -> None:
    found = work("psy_ego_depletion", "hard").report()
    first = pdf(found)
    assert 3 <= pages_in(first) <= 9
    assert pdf(found) == first


def test_missing_weasyprint_is_told_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)
    with pytest.raises(
        PrintError, match=r"WeasyPrint is not installed; run pip install -r .*Pango"
    ):
        pdf(work("psy_stroop", "easy").brief())
