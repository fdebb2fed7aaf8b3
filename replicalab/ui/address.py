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
_LARGEST_PLAN: Final = 64 * 1024
_FIRST: Final = ("study", "lab", "seed", "rounds", "round", "plan")
"""The keys that the checksum counts even where they are absent."""


class _Number(NamedTuple):
    """A number in an address: its key, the field it sets, and the field's value for key 0."""

    key: str
    field: str
    shift: int = 0


_NUMBERS: Final = (
    _Number("seed", "seed"),
    _Number("rounds", "max_rounds"),
    _Number("round", "round_number", -1),
    *(_Number(name, name) for name in LEVERS),
)
_TALKS: Final = {
    "scientist": "scientist",
    "manager": "lab_manager",
    "recording": "recording",
    "present": "presenting",
}
"""Keys of an address and the fields of the negotiation that they set."""
_YES: Final = "1"


class LinkReading(NamedTuple):
    """A workspace read from an address, and what of the address could not be used."""

    workspace: Workspace
    problems: list[str]


def to_query(workspace: Workspace) -> dict[str, str]:
    """Return the query string of a workspace; `from_query` gives an equal one back."""
    query = {"study": workspace.scenario_id, "lab": workspace.difficulty.value}
    for key, field, shift in _NUMBERS:
        if (value := getattr(workspace, field)) is not None:
            query[key] = str(value - shift)
    if workspace.protocol is not None:
        query["plan"] = encode_plan(workspace.protocol)
    for key, field in _TALKS.items():
        value = getattr(workspace, field)
        if value != getattr(_DEFAULT, field):
            query[key] = _YES if value is True else str(value)
    return {_CHECK: _checksum(query), **query}


_DEFAULT: Final = Workspace()


def _checksum(query: Mapping[str, str]) -> str:
    """Return a checksum of what a workspace put into an address.

    Keys that came later count only where they stand, so links from before them still hold.
    """
    parts = [f"{key}={query.get(key, '')}" for key in _FIRST]
    parts += [f"{key}={query[key]}" for key in (*LEVERS, *_TALKS) if key in query]
    return f"{zlib.crc32('&'.join(parts).encode()):08x}"


def from_query(query: Mapping[str, str], find: FindPack = load_scenario) -> LinkReading:
    """Return the workspace of an address; a part that cannot be read keeps its default.

    A plan belongs to its study: when that cannot be opened, the plan is left out too.
    """
    found = LinkReading(_DEFAULT, [])
    for number in _NUMBERS:
        found = _with_number(found, number, query.get(number.key))
    found = _with_lab(found, query.get("lab", DEFAULT_DIFFICULTY.value))
    study = query.get("study", DEFAULT_STUDY)
    found = _with_study(found, study, find)
    for key, field in _TALKS.items():
        found = _with_choice(found, key, field, query.get(key))
    if "plan" in query and found.workspace.scenario_id == study:
        found = _with_plan(found, query["plan"])
    if not found.problems and _CHECK in query and query[_CHECK] != _checksum(query):
        cut = "the address was cut or changed since it was copied; what is left of it is shown."
        return _noted(found, cut)
    return found


def _with_lab(found: LinkReading, lab: str) -> LinkReading:
    if lab in set(Difficulty):
        return found._replace(workspace=found.workspace.changed(difficulty=lab))
    return _noted(
        found,
        f"lab '{shortened(lab)}' is not known; use {', '.join(Difficulty)}. "
        f"Showing the {DEFAULT_DIFFICULTY} lab.",
    )


def _with_study(found: LinkReading, study: str, find: FindPack) -> LinkReading:
    workspace = found.workspace
    try:
        find(study, workspace.difficulty.value, workspace.seed)
    except ScenarioError as error:
        fault = error.faults[0]
        return _noted(
            found,
            f"study '{shortened(study)}' cannot be opened: {shortened(fault.problem, 60)}; "
            f"{shortened(fault.remedy, 250)}. "
            f"Showing '{DEFAULT_STUDY}' with its reference protocol.",
        )
    return found._replace(workspace=workspace.changed(scenario_id=study))


def _with_number(found: LinkReading, number: _Number, text: str | None) -> LinkReading:
    if text is None:
        return found
    try:
        if not (text.isascii() and text.isdigit()):
            raise ValueError(text)
        changed = found.workspace.changed(**{number.field: int(text) + number.shift})
    except ValueError:
        default = getattr(found.workspace, number.field)
        shown = "the lab's own" if default is None else f"{number.key} {default - number.shift}"
        problem = f"{number.key} '{shortened(text)}' is not usable; showing {shown}."
        return _noted(found, problem)
    return found._replace(workspace=changed)


def _with_choice(found: LinkReading, key: str, field: str, text: str | None) -> LinkReading:
    if text is None:
        return found
    value: object = text
    if field == "presenting":
        value = {_YES: True, "0": False}.get(text, text)
    try:
        return found._replace(workspace=found.workspace.changed(**{field: value}))
    except ValidationError:
        return _noted(found, f"{key} '{shortened(text)}' is not usable; it is left out.")


def _with_plan(found: LinkReading, text: str) -> LinkReading:
    try:
        return found._replace(workspace=found.workspace.changed(protocol=decode_plan(text)))
    except LinkError as error:
        problem = f"plan: {error} Showing the study's reference protocol instead."
        return _noted(found, problem)


def _noted(found: LinkReading, problem: str) -> LinkReading:
    return found._replace(problems=[*found.problems, problem])


# --- the plan -------------------------------------------------------------------------------


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
    for problem in too_large(plan):
        raise LinkError(f"{problem}.")
    return plan


def _unpacked(text: str) -> bytes:
    packed = base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4))
    reader = zlib.decompressobj()
    raw = reader.decompress(packed, _LARGEST_PLAN)
    if not reader.eof or reader.unused_data:
        raise ValueError("incomplete or oversized")
    return raw
