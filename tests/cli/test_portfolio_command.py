"""``portfolio``: its answer is the core's, and what it cannot take is refused in one line."""

from pathlib import Path
from typing import Final

import pytest

from replicalab.planner import PortfolioStudy, portfolio_of
from replicalab.scenarios import EvidenceAssumptions, LabOverrides, copy_text, load_scenario
from tests.cli.asking import Asking

LAB: Final = "--budget 2500 --days-available 12 --staff 4"


def test_portfolio_answers_what_the_core_chooses(ask: Asking) -> None:
    own = LabOverrides(budget=2500, days=12, staff=4, start_day=1)
    names = "psy_stroop", "ml_rl_seeds", "chem_suzuki_ppb"
    packs = (load_scenario(n, "medium").with_own(own, EvidenceAssumptions()) for n in names)
    found = portfolio_of(PortfolioStudy(pack, 2 if pack.scenario_id == names[1] else 1)
                         for pack in packs)  # fmt: skip
    said = ask(f"portfolio {' '.join(names)} {LAB} --worth {names[1]}=2 --json")
    assert said.code == 1
    told = [(each["id"], each["first_day"], each["last_day"]) for each in said.data["studies"]]
    assert told == [(e.plan.pack.scenario_id, e.first, e.last) for e in found.chosen]
    assert said.data["worth"] == found.worth == 3
    assert said.data["more"][0]["credits"] == found.rises[0].more


def test_portfolio_runs_one_study_twice_and_an_own_one_in_an_own_lab(ask: Asking) -> None:
    Path("mine.yaml").write_text(copy_text("psy_stroop", "mine"), encoding="utf-8")
    said = ask(f"portfolio psy_stroop psy_stroop mine.yaml {LAB} --worth mine.yaml=5 --json")
    assert said.code == 0
    assert sorted(each["worth"] for each in said.data["studies"]) == [1, 1, 5]
    days = [each["first_day"] for each in said.data["studies"]]
    assert len(set(days)) == 3, "they share their instruments"


@pytest.mark.parametrize(
    ("asked", "problem"),
    [
        ("psy_stroop ml_rl_seeds", "--budget is not given"),
        (f"psy_stroop {LAB} --worth psy_strop=2", "is none of the studies; did you mean"),
        (f"psy_stroop {LAB} --worth psy_stroop=nan", "no study with a number from 0 to"),
        (f"psy_stroop {LAB} --worth psy_stroop=-1", "no study with a number from 0 to"),
        (f"psy_stroop {LAB} --worth psy_stroop=1e10", "no study with a number from 0 to"),
        (f"psy_stroop {LAB} --worth psy_stroop=1 --worth psy_stroop=2", "is given twice"),
        (f"psy_stroop {LAB} --floor-share 2", "no number from 0 to 1"),
        (f"{'psy_stroop ' * 61}{LAB}", "name 60 at most"),
        ("psy_stroop --budget 0", "whole number from 1"),
    ],
)
def test_portfolio_refuses_in_one_line(ask: Asking, asked: str, problem: str) -> None:
    said = ask(f"portfolio {asked}")
    assert said.code == 2
    assert problem in said.err
    assert len(said.err.strip().splitlines()) == 1
