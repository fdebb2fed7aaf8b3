"""The studies that a visitor brought: kept in this server's memory, under a key in the address.

The key is a random one; whoever has the address sees them. Nothing is written to a disk.
"""

from __future__ import annotations

import re
import secrets
from collections import OrderedDict
from threading import Lock
from typing import Final, NamedTuple

import streamlit as st

from replicalab.scenarios import Difficulty, Pack, Study, load_scenario, pack_of

ADDRESS_KEY: Final = "own"
MOST_STUDIES: Final = 12
_MOST_VISITORS: Final = 64
_KEY: Final = "own_studies_key"
_LOCK: Final = Lock()
_KEY_SHAPE: Final = re.compile(r"[0-9a-f]{32}")


class OwnStudy(NamedTuple):
    """A study as its author wrote it, and as it was read."""

    text: str
    study: Study


@st.cache_resource(show_spinner=False)
def _cupboard() -> OrderedDict[str, dict[str, OwnStudy]]:
    """Every visitor's studies by key, the visitor seen longest ago first."""
    return OrderedDict()


def begin(key: str | None) -> None:
    """Take the key that an address carries, unless this session has one already."""
    if key and _KEY not in st.session_state and _KEY_SHAPE.fullmatch(key):
        st.session_state[_KEY] = key


def address() -> dict[str, str]:
    """Return what the address must carry for these studies to be found again."""
    return {ADDRESS_KEY: st.session_state[_KEY]} if kept() else {}


def kept() -> dict[str, OwnStudy]:
    """Return this visitor's studies by id, the latest last."""
    return dict(_cupboard().get(st.session_state.get(_KEY, ""), {}))


def has_room(scenario_id: str) -> bool:
    """Return whether a study of that id can be kept beside the others."""
    return len({*kept(), scenario_id}) <= MOST_STUDIES


def keep(text: str, study: Study) -> None:
    """Keep a study; one of the same id is replaced."""
    studies = kept()
    studies.pop(study.scenario_id, None)
    _put({**studies, study.scenario_id: OwnStudy(text, study)})


def remove(scenario_id: str) -> None:
    """Forget a study."""
    studies = kept()
    studies.pop(scenario_id, None)
    _put(studies)


def _put(studies: dict[str, OwnStudy]) -> None:
    key, cupboard = st.session_state.setdefault(_KEY, secrets.token_hex(16)), _cupboard()
    with _LOCK:
        cupboard[key] = studies
        cupboard.move_to_end(key)
        while len(cupboard) > _MOST_VISITORS:
            cupboard.popitem(last=False)


def find(scenario_id: str, difficulty: str, seed: int) -> Pack:
    """Return a study in its lab: the visitor's own of that id, or the one on the shelf.

    Raises:
        ScenarioError: neither has it.
    """
    own = kept().get(scenario_id)
    if own is None:
        return load_scenario(scenario_id, difficulty, seed)
    return pack_of(own.study, Difficulty(difficulty), seed)
