"""The file with slides and sliders, without a browser."""

import json
import random
import re
import shlex
from datetime import date
from html import unescape
from typing import Any

import pytest

from replicalab.api import load
from replicalab.assessment import Assessment, assess
from replicalab.cli import main
from replicalab.facts.slide_facts import plan_slide, stake_slide
from replicalab.features.one_file import file_html, pdf, slider_values, state_of
from replicalab.models import Dimension, revise
from replicalab.negotiation.case import Case, read_case
from replicalab.scenarios import load_scenario
from tests.tiers import EVERY_LAB, one_in

_MOST_BYTES = 400_000
_TRIED = 12


def plan_in(study: str, lab: str) -> Assessment:
    pack = load_scenario(study, lab)
    return assess(pack.reference_protocol, pack)


def written(plan: Assessment) -> str:
    slides = [stake_slide(plan), plan_slide(plan)]
    return file_html(plan, slides, date(2026, 11, 28), Case.of(plan.pack, plan.plan))


def data_of(page: str) -> dict[str, Any]:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert match
    data: dict[str, Any] = json.loads(match[1])
    return data


@pytest.mark.parametrize(("study", "lab"), one_in(6, (item.values for item in EVERY_LAB[::6])))
def test_states_are_those_of_the_core(study: str, lab: str) -> None:
    plan = plan_in(study, lab)
    page = written(plan)
    assert len(page.encode()) <= _MOST_BYTES
    data = data_of(page)
    sliders, chance = [*data["sliders"].values()], random.Random(study + lab)
    for _ in range(_TRIED):
        places = [chance.randrange(len(values)) for values in sliders]
        at = 0
        for place, values in zip(places, sliders, strict=True):
            at = at * len(values) + place
        budget, days, staff = (values[p] for p, values in zip(places, sliders, strict=True))
        texts = tuple(tuple(data["texts"][number]) for number in data["states"][at])
        assert texts == state_of(plan, budget, days, staff)


@pytest.mark.parametrize(("study", "lab"), EVERY_LAB)
def test_sliders_hold_the_lab_and_exact_needs(study: str, lab: str) -> None:
    plan = plan_in(study, lab)
    pack, sliders = plan.pack, slider_values(plan)
    dimensions = {"budget": Dimension.BUDGET, "days": Dimension.SCHEDULE, "staff": Dimension.STAFF}
    for name, values in sliders._asdict().items():
        assert getattr(pack.lab, name) in values

        def fails(value: float, name: str = name) -> bool:
            means: dict[str, Any] = {name: value}
            here = plan.in_lab(pack.in_lab(pack.lab.with_means(**means)))
            return dimensions[name] in here.failing

        least = min(value for value in values if not fails(value))
        assert least == 1 or fails(least - 1)


def test_sliders_name_what_they_cannot_change() -> None:
    assert "The sliders cannot free &#39;bioluminescence imager&#39;." in written(
        plan_in("bio_jq1_myeloma", "medium")
    )
    assert "cannot free" not in written(plan_in("psy_stroop", "easy"))


def test_evidence_below_the_floor_has_its_mark() -> None:
    texts = data_of(written(plan_in("psy_stroop", "medium")))["texts"]
    signs = {sign for sign, text in texts if "below the floor" in text}
    assert signs == {"✕"}


def test_file_asks_for_nothing_from_outside() -> None:
    page = written(plan_in("psy_stroop", "easy"))
    assert "default-src 'none'" in page
    assert re.findall('label for="(.*?)"', page) == re.findall('range" id="(.*?)"', page)
    assert "document format" not in page
    assert not re.findall(r'(?:src|href)="(?!#)|@import|url\(', page)


def test_inputs_open_as_the_same_case() -> None:
    plan = plan_in("psy_stroop", "hard")
    match = re.search("<pre>(.*?)</pre>", written(plan), re.S)
    assert match
    assert read_case(match[1].replace("&#34;", '"')) == Case.of(plan.pack)


def test_command_gives_the_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    pack = load("psy_stroop", "hard", 3, own={"budget": 900})
    plan = assess(revise(pack.reference_protocol, sample_size=31), pack)
    [command] = re.findall("<code>replicalab (.*?)</code>", written(plan))
    assert main([*shlex.split(unescape(command)), "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["cost"], answer["failing"]) == (plan.cost, [*plan.failing])


def test_hostile_texts_stay_text() -> None:
    pack = load_scenario("psy_stroop", "easy")
    design = pack.design.model_copy(update={"sample_noun": "</script><b>"})
    study = pack.study.model_copy(update={"design": design})
    page = written(assess(pack.reference_protocol, pack.model_copy(update={"study": study})))
    assert "<b>" not in page
    assert page.count("</script>") == 2


def test_slides_become_a_pdf() -> None:
    pytest.importorskip("weasyprint")
    assert pdf(written(plan_in("psy_stroop", "easy"))).startswith(b"%PDF")
