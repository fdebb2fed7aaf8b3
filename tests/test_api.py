"""The names of ``import replicalab``: each with an example that runs, each shown."""

import doctest
import inspect
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import replicalab
from replicalab import api
from replicalab.documents import open_bundle
from replicalab.environment import compare_players
from replicalab.errors import ArgumentError, NegotiationError, ScenarioError
from replicalab.models import revise
from replicalab.negotiation import load as loaded
from replicalab.negotiation import replay, save, score
from replicalab.scenarios import EvidenceAssumptions, LabOverrides, load_scenario, study_text
from tests.negotiation.playing import ACCEPT, propose, said

ROOT: Final = Path(__file__).resolve().parents[1]
NAMES: Final = replicalab.__all__
README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
STUDY: Final = "psy_stroop"


@pytest.mark.parametrize("name", NAMES)
def test_example_of_each_name_runs(name: str) -> None:
    result = getattr(replicalab, name)
    globs = {**vars(replicalab), **vars(api), name: result, "date": date}
    [test] = doctest.DocTestFinder(recurse=False).find(result, name, globs=globs)
    assert test.examples, f"{name} has no example"
    assert inspect.getdoc(result)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_readme_example_runs() -> None:
    [block] = re.findall(r"```pycon\n(.*?)```", README, flags=re.DOTALL)
    test = doctest.DocTestParser().get_doctest(block, {}, "README.md", None, 0)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_lab_and_question_are_ones_own() -> None:
    place = replicalab.load(STUDY, own={"budget": 2000}, question={"target": 0.9})
    records = LabOverrides(budget=2000), EvidenceAssumptions(target=0.9)
    assert replicalab.load(STUDY, own=records[0], question=records[1]) == place
    assert (place.lab.budget, place.design.target) == (2000, 0.9)
    assert place.own_lab == LabOverrides(budget=2000)
    assert replicalab.assess(place).slack["budget"].limit == 2000


def test_study_is_loaded_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(study_text(STUDY), encoding="utf-8")
    assert dict(replicalab.load(path)) == dict(replicalab.load(STUDY))
    for study in (STUDY, path):
        with pytest.raises(
            ValueError, match="lab: 'huge' is not allowed; must be 'easy', 'medium' or"
        ):
            replicalab.load(study, "huge")
    path.write_text("scenario_id: 3", encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"mine\.yaml"):
        replicalab.load(path)
    with pytest.raises(ScenarioError, match="'gone' is unknown"):
        replicalab.run_batch([STUDY, "gone"])
    for missing in (tmp_path / "missing.yaml", str(tmp_path / "missing"), Path("missing")):
        with pytest.raises(ScenarioError, match=r"missing.*: the file cannot be read"):
            replicalab.load(missing)


PACK: Final = replicalab.load(STUDY)
PLAN: Final = replicalab.assess(PACK)
UNTYPED: Final[Any] = replicalab
UNTYPED_PLAYERS: Final[Any] = compare_players
CALLS: Final[dict[str, Callable[[], object]]] = {
    "studies: domain: 'alchemy' is not allowed; use .*psy": lambda: replicalab.studies("alchemy"),
    "load: seed: -1 is not allowed; ": lambda: replicalab.load(STUDY, seed=-1),
    "load: own_lab.budget: -5 is not": lambda: replicalab.load(STUDY, own={"budget": -5}),
    "load: own_lab.buget: unknown key; did": lambda: replicalab.load(STUDY, own={"buget": 5}),
    "load: question.target: 'a' is": lambda: replicalab.load(STUDY, question={"target": "a"}),
    "assess: sample_size: -1 is not": lambda: replicalab.assess(PACK, sample_size=-1),
    "assess: samples: unknown key; ": lambda: replicalab.assess(PACK, samples=60),
    "negotiate: lab_manager: 'x' is": lambda: replicalab.negotiate(PACK, lab_manager="x"),
    "negotiate: scientist: 'person' is not allowed; use .*a function": lambda: replicalab.negotiate(
        PACK, "person"
    ),
    "run_batch: scientist: 3 is not allowed; use .*a function": lambda: UNTYPED.run_batch(
        STUDY, scientists=[3]
    ),
    "negotiate: max_rounds: 0 is not": lambda: replicalab.negotiate(PACK, max_rounds=0),
    "run_batch: lab: 'huge' is not": lambda: replicalab.run_batch(STUDY, ["huge"]),
    "report: kind: 'book' is not allowed; use": lambda: replicalab.report(PLAN, "book"),
    "load: study: 0.5 is not allowed; use a text or Path": lambda: UNTYPED.load(0.5),
    "least_loss: plan: 'a' is not allowed; use Assess": lambda: UNTYPED.least_loss("a"),
    "assess: pack: .* is not allowed; use Pack": lambda: UNTYPED.assess(PLAN),
    "compare: a: 5 is not allowed; use Assessment or Neg": lambda: UNTYPED.compare(PLAN, a=5),
    "compare: plans 2: an empty value is not": lambda: UNTYPED.compare(PLAN, None),
    "run_batch: seeds: 5 is not allowed; use a list": lambda: UNTYPED.run_batch(STUDY, seeds=5),
    "run_batch: seed: 'a' is not allowed; must be a": lambda: UNTYPED.run_batch(STUDY, seeds=["a"]),
    "run_batch: labs: 'hard' is not allowed; use a list": lambda: UNTYPED.run_batch(STUDY, "hard"),
    "run_batch: progress: 1 is not .* a function": lambda: UNTYPED.run_batch(STUDY, progress=1),
    "portfolio: packs: 'a' is not allowed; use Pack": lambda: UNTYPED.portfolio(["a"]),
    "report: on: '1 May' is not allowed; use date or": lambda: UNTYPED.report(PLAN, on="1 May"),
    "portfolio: packs: 0 is not allowed; use Pack": lambda: UNTYPED.portfolio(range(3)),
    "run_batch: study: 1 is not allowed; ": lambda: UNTYPED.run_batch([1]),
    "studies: domain: array.* is not allowed": lambda: UNTYPED.studies(np.array([1, 2])),
    "negotiate: model: 5 is not": lambda: UNTYPED.negotiate(PACK, lambda _: "", model=5),
    "report: extension: a list of 0 is": lambda: UNTYPED.report(PLAN).form([]),
    "save: path: 5 is not allowed; use a text or Path": lambda: UNTYPED.report(PLAN).save(5),
    "compare_players: seeds: 5 is not": lambda: UNTYPED_PLAYERS("direct", "direct", STUDY, seeds=5),
    "negotiate: scientist: 5 is not": lambda: UNTYPED_PLAYERS("direct", 5, STUDY),
    "save: paper: 'A5' is not": lambda: UNTYPED.report(PLAN).save("a.pdf", "A5"),
    "break_evens: plan: .* is not": lambda: UNTYPED.break_evens(PACK),
    "portfolio: worth: 'x' is": lambda: replicalab.portfolio([PACK], worth={"x": 1.0}),
}


@pytest.mark.parametrize("message", CALLS)
def test_wrong_argument_is_named(message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        CALLS[message]()


def test_batch_is_in_order_with_progress() -> None:
    pairs: list[tuple[int, int]] = []
    with ThreadPoolExecutor(2) as executor:
        batch = replicalab.run_batch(
            STUDY,
            ["hard", "easy"],
            range(12),
            executor=executor,
            progress=lambda came, number: pairs.append((came, number)),
        )
    places = [(str(result.job.lab), result.job.seed) for result in batch.results]
    assert places == [(lab, seed) for lab in ("hard", "easy") for seed in range(12)]
    assert pairs == [(came, 24) for came in range(1, 25)]
    assert list(batch.frame()["seed"]) == [*range(12)] * 2


Messages = list[dict[str, str]]


def takes_the_offer(messages: Messages) -> str:
    plan = load_scenario(STUDY, "medium").reference_protocol
    offered = "The Lab Manager's standing offer" in messages[-1]["content"]
    return said(ACCEPT if offered else propose(plan))


def test_function_plays_the_scientist() -> None:
    plan = replicalab.assess(replicalab.load(STUDY))
    talk = replicalab.negotiate(plan, scientist=takes_the_offer, model="mine")
    assert (str(talk.outcome), len(talk.rounds)) == ("agreed", 2)
    assert score(talk).regret == 5.75, "its power is 0.03 lower than the best"
    assert talk.setup.model == "mine"
    assert "mine" in save(talk)
    again = replay(loaded(save(talk)), load_scenario(STUDY, "medium"))
    assert (again.outcome, len(again.rounds)) == (talk.outcome, len(talk.rounds))
    shorter = replicalab.negotiate(plan.pack, takes_the_offer, max_rounds=1)
    assert (str(shorter.outcome), score(shorter).regret) == ("no_deal", 11)


def test_results_show_panels_in_a_notebook() -> None:
    place = replicalab.load(STUDY, "hard")
    plan = replicalab.assess(place)
    offer = replicalab.suggest(plan)
    assert offer
    pairs: list[tuple[Any, str]] = [
        (replicalab.studies(), "Stroop interference"),
        (place, "Journal of Experimental Psychology"),
        (plan, "980"),
        (replicalab.least_loss(plan), "17 participants"),
        (offer, "12 participants"),
        (replicalab.asks(plan), "980 more credits"),
        (replicalab.frontier(plan), "<td>620.0</td>"),
        (replicalab.compare(plan, offer.after), "Sample size"),
        (replicalab.report(plan), "The question"),
        (replicalab.negotiate(plan), "Agreed in round"),
        (replicalab.run_batch(STUDY, ["hard"], range(10)), "6 of 10, 60 % (31 to 83 %)"),
    ]
    for result, text in pairs:
        html = result._repr_html_()
        assert "<style" in html
        assert text in html, type(result).__name__


def test_notebook_escapes_foreign_text() -> None:
    place = replicalab.load(STUDY)
    wild = revise(place.reference_protocol, required_equipment=["<script>alert(1)</script>"])
    plan = replicalab.assess(place, wild)
    for result in (plan, replicalab.negotiate(plan)):
        html = result._repr_html_()
        assert "<script>" not in html
        assert "&lt;script&gt;" in html


DAY: Final = date(2026, 1, 31)


def test_comparison_holds_the_plan_of_each_side() -> None:
    plan = replicalab.assess(replicalab.load(STUDY))
    comparison = replicalab.compare(
        plan, replicalab.negotiate(plan), least=replicalab.least_loss(plan).after
    )
    assert [side.name for side in comparison] == ["plan 1", "plan 2", "least"]
    assert [side.plan.counts.samples for side in comparison] == [100, 45, 45]
    size = comparison.frame().set_index("what").loc["Sample size"]
    assert list(size[["plan 1", "plan 2", "least"]]) == [100, 45, 45]


def test_impossible_comparison_is_refused() -> None:
    plan = replicalab.assess(replicalab.load(STUDY))
    for number in (0, 1, 5):
        with pytest.raises(ValueError, match=f"plans: {number} are named; name 2 to 4"):
            replicalab.compare(*[plan] * number)
    silent = replicalab.negotiate(plan.pack, scientist=lambda _: "no")
    with pytest.raises(NegotiationError, match="has no plan on the table"):
        replicalab.compare(plan, silent)
    none = replicalab.assess(plan.pack, sample_size=0)
    assert "no samples" in replicalab.compare(plan, none)._repr_html_()


def test_report_form_follows_its_name(tmp_path: Path) -> None:
    report = replicalab.report(replicalab.assess(replicalab.load(STUDY)), on=DAY)
    for name, beginning in (("a.HTML", b"<!DOCTYPE"), ("a.md", b"# Studies of"), ("a.xlsx", b"PK")):
        assert report.save(tmp_path / name).read_bytes().startswith(beginning)
    for name in ("a.doc", "a", ".html/"):
        text = "is not allowed; use html, md, xlsx, pdf, docx or json"
        with pytest.raises(ValueError, match=text):
            report.save(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        report.save(tmp_path / "missing" / "a.html")


def test_report_of_a_negotiation_has_its_plan() -> None:
    plan = replicalab.assess(replicalab.load(STUDY))
    for kind in ("report", "brief"):
        report = replicalab.report(replicalab.negotiate(plan), kind, on=DAY)
        assert report.shown.yours.counts.samples == 45
        assert "45 participants in 3 days" in str(report.form("md"))
    opened = open_bundle(str(report.form("json")))
    assert not opened.caution
    assert opened.options.yours.counts.samples == 100
    assert opened.run


def test_frames_hold_the_core_s_numbers() -> None:
    plan = replicalab.assess(replicalab.load(STUDY, "hard"))
    dimensions = plan.frame()
    assert list(dimensions["slack"]) == [slack.slack for slack in plan.slack.values()]
    assert list(dimensions[~dimensions["ok"]]["dimension"]) == [*map(str, plan.failing)]
    front = replicalab.frontier(plan)
    assert list(front.frame()["credits"]) == [plan.credits for plan in front.plans]
    studies = replicalab.studies().frame().set_index("id")
    assert studies.loc[STUDY, "n"] == 100
