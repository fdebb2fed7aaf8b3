"""The studies that a visitor brought, and those that others let one read by a link.

Who owns a study is told by a cookie that no page and no address shows; whoever has a study's
address reads it. Nothing is written to a disk.
"""

from __future__ import annotations

from typing import Final

from replicalab.errors import Fault, ScenarioError
from replicalab.scenarios import (
    Difficulty,
    Pack,
    Study,
    list_scenarios,
    load_scenario,
    pack_of,
    parse_study,
)
from replicalab.ui import visitor
from replicalab.ui.cupboard import Cupboard, OwnStudy

_CUPBOARD: Final = Cupboard()
"""Not a cache of Streamlit's, which any session can have cleared."""


def kept() -> dict[str, OwnStudy]:
    """Return this visitor's studies by id, the latest last; they are in use."""
    return _CUPBOARD.of(visitor.secret())


def shared(key: str | None) -> OwnStudy | None:
    """Return another visitor's study by its key; None where there is none, or it is one's own."""
    found = _CUPBOARD.read(key) if key else None
    return None if found is None or key_of(found.study.scenario_id) == key else found


def readable(key: str | None) -> tuple[OwnStudy, ...]:
    """Return the studies beside the shelf: that of a key where it is another's, and one's own."""
    other = shared(key)
    return (*([other] if other else []), *kept().values())


def is_mine(own: OwnStudy) -> bool:
    """Return whether a study is this visitor's own."""
    return own.key == key_of(own.study.scenario_id)


def origin(own: OwnStudy) -> str:
    """Return whose a study is."""
    return "yours" if is_mine(own) else "shared with you, to read"


def key_of(scenario_id: str) -> str | None:
    """Return the key of this visitor's study of that id, None where there is none."""
    own = kept().get(scenario_id)
    return own.key if own else None


def refusal(text: str, study: Study) -> str:
    """Return why a study cannot be kept now, and what to do; empty where it can."""
    return _CUPBOARD.refusal(visitor.secret(), study.scenario_id, text)


def keep(text: str, study: Study) -> str:
    """Keep a study in place of one's own of that id; return why not, and change nothing."""
    return _CUPBOARD.keep(visitor.secret(), text, study)


def remove(scenario_id: str) -> None:
    """Forget one of this visitor's studies."""
    _CUPBOARD.remove(visitor.secret(), scenario_id)


def usable_study(text: str, name: str) -> Study:
    """Return the study in a visitor's file.

    Raises:
        ScenarioError: with what is wrong, also that its id belongs to a study on the shelf.
    """
    study = parse_study(text, name)
    if any(study.scenario_id == summary.scenario_id for summary in list_scenarios()):
        taken = f"'{study.scenario_id}' is already the id of a study on the shelf"
        raise ScenarioError(name, [Fault("scenario_id", taken, "choose another id")])
    return study


def find(scenario_id: str, difficulty: str, seed: int, own: str | None) -> Pack:
    """Return a study in its lab: a visitor's, by its key, or one on the shelf.

    Raises:
        ScenarioError: it is not there.
    """
    if own is None:
        return load_scenario(scenario_id, difficulty, seed)
    found = _CUPBOARD.read(own)
    if found is None or found.study.scenario_id != scenario_id:
        gone = Fault("scenario_id", f"'{scenario_id}' is not here", "open its file")
        raise ScenarioError("studies of visitors", [gone])
    return pack_of(found.study, Difficulty(difficulty), seed)
