"""A decision that was recorded on a page goes along with what the terminal makes of its plan."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import pytest

from replicalab.case import Case, case_text
from replicalab.library import Decision, EntryKind, Option, decision_text
from replicalab.reports import open_bundle
from replicalab.scenarios import Difficulty, plan_json
from tests.cli.asking import Asking

STUDY: Final = "psy_stroop"
WHY: Final = "Sixty is what the room holds"


@pytest.fixture(autouse=True)
def recorded(ask: Asking) -> Decision:
    """The decision for a plan of 60 samples over the study's own, as a file beside the plan's."""
    case = Case(study=STUDY, lab=Difficulty.MEDIUM)
    own = case.pack().reference_protocol
    smaller = own.model_copy(update={"sample_size": 60})
    Path("plan.json").write_text(plan_json(smaller, STUDY))
    options = tuple(
        Option(name=name, kind=EntryKind.PLAN, content=case_text(case.changed(plan=plan)))
        for name, plan in (("As published", own), ("Sixty", smaller))
    )
    when = datetime(2026, 1, 30, tzinfo=UTC)
    decision = Decision(options=options, chosen=1, why=WHY, who="Ada", when=when)
    Path("decision.json").write_text(decision_text(decision))
    return decision


@pytest.mark.parametrize(
    "document", ["", "--brief", "--registration brandt-prereg-2", "--registration replication"]
)
def test_documents_say_what_was_decided_and_why(ask: Asking, document: str) -> None:
    line = f"report {STUDY} --plan plan.json {document} --date 2026-01-31"
    assert WHY not in ask(line).out
    told = ask(f"{line} --decision decision.json").out
    assert WHY in told
    assert "As published" in told


def test_bundle_and_crate_hold_the_decision(ask: Asking, recorded: Decision) -> None:
    line = f"report {STUDY} --plan plan.json --decision decision.json --date 2026-01-31"
    assert ask(f"{line} --save bundle.json").code == 0
    assert open_bundle(Path("bundle.json").read_text()).decision == recorded
    told = ask(f"{line} --json")
    assert open_bundle(told.out).decision == recorded
    assert ask(f"{line} --save crate.zip").code == 0
    with zipfile.ZipFile("crate.zip") as crate:
        names = {Path(name).name: name for name in crate.namelist()}
        assert WHY in crate.read(names["report.md"]).decode()
        assert WHY in crate.read(names["registration.md"]).decode()
        bundle = json.loads(crate.read(names["bundle.json"]))
    assert bundle["decision"]["why"] == WHY


def test_decision_against_a_plan_goes_along_with_it(ask: Asking) -> None:
    told = ask(f"report {STUDY} --decision decision.json").out
    assert WHY in told


def test_decision_about_what_a_negotiation_came_to_goes_along_with_it(ask: Asking) -> None:
    case = Case(study=STUDY, lab=Difficulty.MEDIUM)
    option = Option(name="Agreed", kind=EntryKind.PLAN, content=case_text(case), run=True)
    Path("decision.json").write_text(decision_text(Decision(options=(option,), chosen=0, why=WHY)))
    assert WHY in ask(f"report {STUDY} --negotiated --decision decision.json").out
    refused = ask(f"report {STUDY} --decision decision.json")
    assert (refused.code, "this plan is none of the 1 plan in it" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("--decision plan.json", "plan.json: it is a plan, not a decision"),
        ("--decision nowhere.json", "'nowhere.json' cannot be read"),
        ("--decision bad.json", "bad.json: chosen: 7 is none of the 2 options"),
        ("--decision many.json", "many.json: "),
        (
            "--decision decision.json --samples 61",
            "decision.json: this plan is none of the 2 plans",
        ),
        ("--decision decision.json --lab hard", "decision.json: this plan is none of the 2 plans"),
        ("--decision decision.json --funding", "is not of a funding request; leave --funding out"),
        ("--decision - --plan -", "'-' is named 2 times, and standard input holds one file"),
    ],
)
def test_what_is_no_decision_about_the_plan_is_refused_with_a_remedy(
    ask: Asking, options: str, problem: str, recorded: Decision
) -> None:
    held = json.loads(decision_text(recorded))
    Path("bad.json").write_text(json.dumps({**held, "chosen": 7}))
    Path("many.json").write_text(json.dumps({**held, "options": held["options"] * 5}))
    done = ask(f"report {STUDY} {options} --save report.md")
    assert done.code == 2
    assert problem in done.err
    assert "; " in done.err
    assert "Traceback" not in done.err
    assert not Path("report.md").exists()


def test_decision_of_another_study_is_none_about_this_plan(ask: Asking) -> None:
    done = ask("report phys_millikan --decision decision.json")
    assert done.code == 2
    assert "this plan is none of the 2 plans in it" in done.err
