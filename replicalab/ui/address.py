"""The workspace as an address: what a copied link carries, and reading one back.

Keys of the query string: ``v`` (a checksum of the rest), ``study``, ``lab``, ``seed``, ``rounds``,
``round`` (shown from 1), ``plan`` (absent for the reference protocol), and ``budget``, ``days`` and
``staff`` (each only where another lab is supposed), and ``scientist``, ``manager``, ``recording``
and ``present`` (each only where it is not the default). A plan is JSON, compressed, with a checksum
of its own, so that a link that was cut anywhere is noticed rather than half read. An address typed
by hand needs no ``v``.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Mapping
from typing import Final, NamedTuple

from pydantic import ValidationError

from replicalab.errors import LinkError, ScenarioError
from replicalab.lexicon import shortened
from replicalab.models import PROTOCOL_FIELDS, Protocol, too_large
from replicalab.scenarios import Difficulty, load_scenario
from replicalab.ui.workspace import (
    DEFAULT_DIFFICULTY,
    DEFAULT_STUDY,
    LEVERS,
    FindPack,
    Workspace,
)

_CHECK: Final = "v"
_KEYS: Final = ("study", "lab", "seed", "rounds", "round", "plan")
_LARGEST_PLAN: Final = 64 * 1024


class LinkReading(NamedTuple):
    """A workspace read from an address, and what of the address could not be used."""

    workspace: Workspace
    problems: list[str]


def to_query(workspace: Workspace) -> dict[str, str]:
    """Return the query string of a workspace; `from_query` gives an equal one back."""
    query = {
        "study": workspace.scenario_id,
        "lab": workspace.difficulty.value,
        "seed": str(workspace.seed),
        "rounds": str(workspace.max_rounds),
        "round": str(workspace.round_number + 1),
    }
    if workspace.protocol is not None:
        query["plan"] = encode_plan(workspace.protocol)
    query |= {name: str(value) for name, value in workspace.levers.items()}
    query |= _talks_query(workspace)
    return {_CHECK: _checksum(query), **query}


def _checksum(query: Mapping[str, str]) -> str:
    """Return a checksum of what a workspace put into an address.

    Keys that came later count only where they stand, so links from before them still hold.
    """
    parts = [f"{key}={query.get(key, '')}" for key in _KEYS]
    parts += [f"{key}={query[key]}" for key in (*LEVERS, *_TALKS) if key in query]
    return f"{zlib.crc32('&'.join(parts).encode()):08x}"


def from_query(query: Mapping[str, str], find: FindPack = load_scenario) -> LinkReading:
    """Return the workspace of an address; a part that cannot be read keeps its default.

    A plan belongs to its study: when that cannot be opened, the plan is left out too.
    """
    problems: list[str] = []
    workspace = _lab_from(query, find, problems)
    workspace = _with_number(workspace, _ROUNDS, query, problems)
    workspace = _with_number(workspace, _ROUND, query, problems)
    for name in LEVERS:
        workspace = _with_number(workspace, _NumberKey(name, name), query, problems)
    for key, field in _TALKS.items():
        workspace = _with_choice(workspace, key, field, query, problems)
    if "plan" in query and workspace.scenario_id == query.get("study", DEFAULT_STUDY):
        try:
            workspace = workspace.changed(protocol=decode_plan(query["plan"]))
        except LinkError as error:
            problems.append(f"plan: {error} Showing the study's reference protocol instead.")
    if not problems and _CHECK in query and query[_CHECK] != _checksum(query):
        problems.append(
            "the address was cut or changed since it was copied; what is left of it is shown."
        )
    return LinkReading(workspace, problems)


def _lab_from(query: Mapping[str, str], find: FindPack, problems: list[str]) -> Workspace:
    workspace = _with_number(Workspace(), _SEED, query, problems)
    study, lab = query.get("study", DEFAULT_STUDY), query.get("lab", DEFAULT_DIFFICULTY.value)
    if lab not in set(Difficulty):
        problems.append(
            f"lab '{shortened(lab)}' is not known; use {', '.join(Difficulty)}. "
            f"Showing the {DEFAULT_DIFFICULTY} lab."
        )
        lab = DEFAULT_DIFFICULTY.value
    try:
        find(study, lab, workspace.seed)
    except ScenarioError as error:
        fault = error.faults[0]
        problems.append(
            f"study '{shortened(study)}' cannot be opened: {shortened(fault.problem, 60)}; "
            f"{shortened(fault.remedy, 250)}. "
            f"Showing '{DEFAULT_STUDY}' with its reference protocol."
        )
        study = DEFAULT_STUDY
    return workspace.changed(scenario_id=study, difficulty=lab)


class _NumberKey(NamedTuple):
    """A number in an address: its key, the field it sets, and the field's value for key 0."""

    key: str
    field: str
    shift: int = 0


_SEED: Final = _NumberKey("seed", "seed")
_ROUNDS: Final = _NumberKey("rounds", "max_rounds")
_ROUND: Final = _NumberKey("round", "round_number", -1)


def _with_number(
    workspace: Workspace, number: _NumberKey, query: Mapping[str, str], problems: list[str]
) -> Workspace:
    text = query.get(number.key)
    if text is None:
        return workspace
    try:
        if not (text.isascii() and text.isdigit()):
            raise ValueError(text)
        return workspace.changed(**{number.field: int(text) + number.shift})
    except ValueError:
        default = getattr(workspace, number.field)
        shown = "the lab's own" if default is None else f"{number.key} {default - number.shift}"
        problems.append(f"{number.key} '{shortened(text)}' is not usable; showing {shown}.")
        return workspace


_TALKS: Final = {
    "scientist": "scientist",
    "manager": "lab_manager",
    "recording": "recording",
    "present": "presenting",
}
"""Keys of an address and the fields of the negotiation that they set."""
_YES: Final = "1"


def _talks_query(workspace: Workspace) -> dict[str, str]:
    """Return who negotiates, and how it is shown, where it is not the default."""
    found = {key: getattr(workspace, field) for key, field in _TALKS.items()}
    default = Workspace()
    return {
        key: _YES if value is True else str(value)
        for key, value in found.items()
        if value != getattr(default, _TALKS[key])
    }


def _with_choice(
    workspace: Workspace, key: str, field: str, query: Mapping[str, str], problems: list[str]
) -> Workspace:
    text = query.get(key)
    if text is None:
        return workspace
    value: object = text
    if field == "presenting":
        value = {_YES: True, "0": False}.get(text, text)
    try:
        return workspace.changed(**{field: value})
    except ValidationError:
        problems.append(f"{key} '{shortened(text)}' is not usable; it is left out.")
        return workspace


def encode_plan(protocol: Protocol) -> str:
    """Return a plan as URL-safe text with a checksum."""
    values = [getattr(protocol, name) for name in PROTOCOL_FIELDS]
    raw = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(zlib.compress(raw, 9)).decode().rstrip("=")


def decode_plan(text: str) -> Protocol:
    """Return the plan that `encode_plan` wrote.

    Raises:
        LinkError: the text was cut or changed, or holds no possible plan.
    """
    try:
        values = json.loads(_unpacked(text))
    except (ValueError, zlib.error, binascii.Error, RecursionError) as error:
        raise LinkError(
            "the link is incomplete or was changed on its way; copy it again in full."
        ) from error
    if not isinstance(values, list) or len(values) != len(PROTOCOL_FIELDS):
        raise LinkError("the link carries no plan; copy it again from the address bar.")
    try:
        plan = Protocol.model_validate(dict(zip(PROTOCOL_FIELDS, values, strict=True)))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        value = shortened(repr(first["input"]))
        raise LinkError(f"{place} is {value}: {first['msg'].lower()}.") from error
    return _within_limits(plan)


def _within_limits(protocol: Protocol) -> Protocol:
    for problem in too_large(protocol):
        raise LinkError(f"{problem}.")
    return protocol


def _unpacked(text: str) -> bytes:
    packed = base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4))
    reader = zlib.decompressobj()
    raw = reader.decompress(packed, _LARGEST_PLAN)
    if not reader.eof or reader.unused_data:
        raise ValueError("incomplete or oversized")
    return raw
