"""A file that arrives, and what of it is kept under which name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Final, NamedTuple

from replicalab.library import Entry, Kind, decision_text, plan_text, read_plan
from replicalab.models import Protocol
from replicalab.negotiation import save
from replicalab.report import Opened, open_bundle
from replicalab.scenarios import read_lab
from replicalab.scenarios import read_plan as read_bare_plan
from replicalab.scenarios.json_file import Held
from replicalab.text.plan import elsewhere_text
from replicalab.ui import own_studies, state
from replicalab.ui.formats import Found, held_in
from replicalab.ui.library.shelf import owner, shelf
from replicalab.ui.library.work import any_name_of, kept_plan, plan_in, require_its_own

_AS_IT_IS: Final = {
    Held.RUN: Kind.RUN,
    Held.BATCH: Kind.BATCH,
    Held.DECISION: Kind.DECISION,
}
"""What is kept under its file's name; the library checks it."""


class Arrived(NamedTuple):
    """A part of a file, as it is kept."""

    kind: Kind
    name: str
    content: str


class Taken(NamedTuple):
    """What came of a file.

    Attributes:
        entries: what is kept of it.
        differences: where it parts from what it says.
        caution: what else is to be known of it; empty for nothing.
    """

    entries: list[Entry]
    differences: tuple[str, ...]
    caution: str


def take(data: bytes, file: str) -> Taken:
    """Keep what a file holds.

    Raises:
        ReplicaLabError: it holds nothing that can be kept; names every fault.
    """
    parts, differences, caution = _read(data, file)
    return Taken(shelf().keep_beside(owner(), *parts), differences, caution)


def _read(data: bytes, file: str) -> tuple[list[Arrived], tuple[str, ...], str]:
    found, stem = held_in(data, file), PurePath(file).stem
    if found.held is Held.BUNDLE:
        bundle = open_bundle(found.values, file)
        return list(_of_bundle(bundle, file, stem)), bundle.differences, ""
    if found.held is Held.PLAN:
        saved = read_bare_plan(found.values, file)
        return [_of_plan(saved.plan)], (), elsewhere_text(saved.study, state.written())
    return [_alone(found, file, stem)], (), ""


def _of_plan(found: Protocol) -> Arrived:
    """Return a plan, which is kept with the study and in the lab that are open."""
    work = state.workspace().alone.changed(protocol=found)
    plan = kept_plan(work, own_studies.text_of(work.own))
    return Arrived(Kind.PLAN, any_name_of(plan), plan_text(plan))


def _alone(found: Found, file: str, stem: str) -> Arrived:
    held, text, values = found
    match held:
        case Held.STUDY:
            return Arrived(Kind.STUDY, own_studies.usable_study(text, file).paper.name, text)
        case Held.KEPT_PLAN:
            plan = read_plan(text)
            require_its_own(plan)
            return Arrived(Kind.PLAN, any_name_of(plan), text)
        case Held.LAB:
            return Arrived(Kind.LAB, read_lab(values, file).name or stem, text)
    return Arrived(_AS_IT_IS[held], stem, text)


def _of_bundle(found: Opened, file: str, stem: str) -> Iterator[Arrived]:
    """Yield a bundle's plan, with its study where the shelf has none such, run and decision."""
    plan = plan_in(found, file)
    yield Arrived(Kind.PLAN, any_name_of(plan), plan_text(plan))
    if found.run is not None:
        yield Arrived(Kind.RUN, stem, save(found.run, found.recording))
    if found.decision is not None:
        yield Arrived(Kind.DECISION, found.decision.name, decision_text(found.decision))
