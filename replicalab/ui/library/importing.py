"""A file that arrives: which of our formats it is, and what of it is kept under which name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final, NamedTuple

from replicalab.errors import Fault, ScenarioError
from replicalab.library import Entry, KeptPlan, Kind, plan_text, read_plan
from replicalab.negotiation import save
from replicalab.report import Opened, open_bundle
from replicalab.scenarios import (
    list_scenarios,
    load_scenario,
    read_lab,
    readable_text,
    study_yaml,
)
from replicalab.scenarios import read_plan as read_bare_plan
from replicalab.ui import own_studies, state
from replicalab.ui.library.shelf import keep_beside, owner
from replicalab.ui.library.work import any_name_of, kept_plan

TYPES: Final = ("json", "yaml", "yml")
_MOST_BYTES: Final = 6 * 2**20
_KNOWN: Final = {
    "input_hash": "a bundle",
    "setup": Kind.RUN,
    "asked": Kind.BATCH,
    "options": Kind.DECISION,
    "study": Kind.PLAN,
    "sample_size": "a plan alone",
}
"""The key by which each of our JSON formats is told; the first that is there says it."""


class Arrived(NamedTuple):
    """A part of a file, as it is kept."""

    kind: Kind
    name: str
    content: str


def take(data: bytes, file: str) -> tuple[list[Entry], tuple[str, ...]]:
    """Keep what a file holds; return the entries, and where it parts from what it says.

    Raises:
        ReplicaLabError: it holds nothing that can be kept; names every fault.
    """
    parts, differences = _read(data, file)
    return [keep_beside(owner(), *part) for part in parts], differences


def _read(data: bytes, file: str) -> tuple[list[Arrived], tuple[str, ...]]:
    text, stem = readable_text(data, file, _MOST_BYTES), PurePath(file).stem
    if not file.lower().endswith(".json"):
        return [Arrived(Kind.STUDY, own_studies.usable_study(text, file).paper.name, text)], ()
    kind = _kind_of(text, file)
    if kind == "a bundle":
        found = open_bundle(data)
        return list(_of_bundle(found, stem)), found.differences
    if kind == "a plan alone":
        work = state.workspace().alone.changed(protocol=read_bare_plan(data, file))
        plan = kept_plan(work, own_studies.text_of(work.own))
        return [Arrived(Kind.PLAN, any_name_of(plan), plan_text(plan))], ()
    if kind is Kind.PLAN:
        return [Arrived(Kind.PLAN, any_name_of(read_plan(text)), text)], ()
    if kind is Kind.LAB:
        return [Arrived(Kind.LAB, read_lab(data).name or stem, text)], ()
    return [Arrived(Kind(kind), stem, text)], ()


def _kind_of(text: str, file: str) -> Kind | str:
    try:
        held = json.loads(text)
    except (ValueError, RecursionError) as error:
        fault = Fault("", f"it is no JSON ({error})", "choose a file that was exported here")
        raise ScenarioError(file, [fault]) from error
    if not isinstance(held, dict):
        fault = Fault("", "it holds no plan, lab, run, batch or bundle", "choose one exported here")
        raise ScenarioError(file, [fault])
    return next((kind for key, kind in _KNOWN.items() if key in held), Kind.LAB)


def _of_bundle(found: Opened, stem: str) -> Iterator[Arrived]:
    """Yield the plan of a bundle, with its study where the shelf has another, and its run."""
    pack, plan = found.options.yours.pack, found.options.yours.plan
    shelved = {summary.scenario_id for summary in list_scenarios()}
    same = pack.scenario_id in shelved and load_scenario(pack.scenario_id).study == pack.study
    kept = KeptPlan(
        study=pack.scenario_id,
        text="" if same else study_yaml(found.written.study),
        lab=pack.difficulty,
        seed=pack.seed,
        own_lab=pack.own_lab,
        question=pack.question,
        plan=None if plan == pack.reference_protocol else plan,
    )
    yield Arrived(Kind.PLAN, any_name_of(kept), plan_text(kept))
    if found.run is not None:
        yield Arrived(Kind.RUN, stem, save(found.run, found.recording))
