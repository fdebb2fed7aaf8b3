"""What people already have still opens: links, files and a library of an earlier version.

``tests/saved`` was written once, by the version of November 2026, with what each of them holds in
the core's own numbers. It is never written anew: what no longer opens has to open again.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy.engine import URL

from replicalab.assessment import assess
from replicalab.case import Case, read_case, read_draft
from replicalab.comparison import negotiated
from replicalab.library import EntryKind, Library, Owner, read_decision
from replicalab.library.contents import read_batch
from replicalab.models import Protocol
from replicalab.negotiation import Negotiation, load, replay
from replicalab.reports.bundle import open_bundle
from replicalab.scenarios import Pack, load_scenario, parse_study, read_lab
from replicalab.scenarios.writing import read_plan as read_plan_file
from replicalab.ui.address import from_query
from replicalab.ui.own_studies import find
from replicalab.ui.workspace import Workspace

Holds = dict[str, Any]

SAVED: Final = Path(__file__).with_name("saved")
LINKS: Final[list[Holds]] = json.loads((SAVED / "links.json").read_text(encoding="utf-8"))
HOLDS: Final[Holds] = json.loads((SAVED / "holds.json").read_text(encoding="utf-8"))
FILES: Final[Holds] = HOLDS["files"]


# --- what is found in them, by the names of holds.json ----------------------------------------


def plan_held(pack: Pack, plan: Protocol) -> Holds:
    """Return a plan in its lab as the core judges it."""
    judged = assess(plan, pack)
    return {
        "study": pack.scenario_id,
        "lab": pack.difficulty.value,
        "seed": pack.seed,
        "budget": pack.lab.budget,
        "days_left": pack.lab.days_left,
        "lab_staff": pack.lab.staff,
        "samples": plan.sample_size,
        "days": plan.duration_days,
        "controls": list(plan.controls),
        "equipment": list(plan.required_equipment),
        "reagents": list(plan.required_reagents),
        "technique": plan.technique,
        "rationale": plan.rationale,
        "credits": judged.cost,
        "staff": judged.staff,
        "failing": sorted(map(str, judged.failing)),
        "evidence": judged.evidence.value,
        "target": judged.evidence.target,
        "floor": judged.evidence.floor,
    }


def run_held(run: Negotiation) -> Holds:
    """Return how a negotiation went."""
    by_hand = [done for done in run.rounds if done.turn.by.value in ("person", "fork")]
    return {
        "rounds": len(run.rounds),
        "outcome": run.outcome and run.outcome.value,
        "samples": run.final_plan and run.final_plan.plan.sample_size,
        "moves": [[done.number, done.turn.by.value] for done in by_hand],
    }


def case_held(pack: Pack, case: Case) -> Holds:
    """Return a plan with those who negotiate it, and what they come to."""
    plan = case.plan or pack.reference_protocol
    held = plan_held(pack, plan)
    held["players"] = [case.scientist.value, case.lab_manager.value, case.max_rounds]
    if case.recording:
        return held | {"recording": case.recording}
    run = negotiated(assess(plan, pack), case)
    return held if run is None else held | {"run": run_held(run)}


def link_held(work: Workspace) -> Holds:
    """Return what a link shows."""
    held = case_held(work.case.pack(find), work.case)
    shown = {
        "slide": work.presenting,
        "round": work.round_number and work.round_number + 1,
        "survey": work.survey,
        "beside": {
            each.name: {"is_run": each.is_run, **link_held(Workspace(case=each.case))}
            for each in work.tray
        },
    }
    return held | {name: value for name, value in shown.items() if value}


# --- links and files --------------------------------------------------------------------------


@pytest.mark.parametrize("link", LINKS, ids=[link["name"] for link in LINKS])
def test_link_opens_as_it_was(link: Holds) -> None:
    reading = from_query(link["query"], find)
    assert reading.problems == []
    assert link_held(reading.workspace) == link["holds"]


@pytest.mark.parametrize("file", [name for name in FILES if name.startswith("bundle_")])
def test_bundle_opens_as_it_was(file: str) -> None:
    opened, holds = open_bundle((SAVED / file).read_bytes()), dict(FILES[file])
    assert opened.differences == ()
    yours = opened.options.yours
    run, players = holds.pop("run"), holds.pop("players")
    assert plan_held(yours.pack, yours.plan) == holds
    if opened.run is not None:
        setup = opened.run.setup
        assert run_held(opened.run) == run
        assert [setup.scientist.value, setup.lab_manager.value, setup.max_rounds] == players
    assert (opened.decision is not None) is (file == "bundle_question.json")


@pytest.mark.parametrize("file", [name for name in FILES if name.startswith("run_")])
def test_negotiation_opens_and_replays_as_it_was(file: str) -> None:
    transcript, holds = load((SAVED / file).read_text(encoding="utf-8")), FILES[file]
    pack = load_scenario(holds["study"], holds["lab"], holds["seed"])
    played = replay(transcript, pack)
    assert played.differences == ()
    assert run_held(played.negotiation) == holds["run"]


def test_plan_and_lab_open_as_they_were() -> None:
    holds = FILES["plan.json"]
    plan = read_plan_file((SAVED / "plan.json").read_bytes()).plan
    pack = load_scenario(holds["study"], holds["lab"], holds["seed"])
    assert plan_held(pack, plan).items() <= holds.items()
    lab = read_lab((SAVED / "lab.json").read_bytes())
    assert lab.model_dump(mode="json", exclude_defaults=True) == FILES["lab.json"]


# --- the library ------------------------------------------------------------------------------


def entry_held(kind: EntryKind, content: str) -> Holds:
    """Return what an entry of the library holds."""
    if kind is EntryKind.PLAN:
        kept = read_case(content)
        return case_held(kept.pack(), kept)
    if kind is EntryKind.LAB:
        return read_lab(content.encode()).model_dump(mode="json", exclude_defaults=True)
    if kind is EntryKind.STUDY:
        return {"study": parse_study(content, "kept").scenario_id}
    if kind is EntryKind.RUN:
        setup = load(content).setup
        pack = load_scenario(setup.scenario_id, setup.difficulty, setup.seed)
        players = [setup.scientist.value, setup.lab_manager.value, setup.max_rounds]
        plan = plan_held(pack, setup.opening or pack.reference_protocol)
        return plan | {"players": players, "run": run_held(replay(load(content), pack).negotiation)}
    if kind is EntryKind.BATCH:
        outcomes = [
            result.outcome and result.outcome.value for result in read_batch(content).came()
        ]
        return {"results": len(outcomes), "outcomes": outcomes}
    return {"chosen": read_decision(content).names[0]}


def test_library_opens_as_it_was(tmp_path: Path) -> None:
    shutil.copy(SAVED / "library.db", tmp_path)
    library = Library(str(URL.create("sqlite", database=str(tmp_path / "library.db"))))
    ann = Owner.of("ann")
    held = {entry["name"]: (entry["kind"], entry["holds"]) for entry in HOLDS["library"]}
    _, draft_holds = held.pop("draft")
    found = {
        entry.name: (entry.kind.value, entry_held(entry.kind, library.read(ann, entry.id).content))
        for entry in library.entries(ann)
    }
    (draft,) = library.drafts(ann)
    kept = read_draft(draft.content)
    library.close()
    assert found == held
    beside = draft_holds.pop("beside")
    assert case_held(kept.pack(), kept) == draft_holds
    assert [name for name, _ in kept.beside] == list(beside)
