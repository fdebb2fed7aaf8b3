"""The workspace as an address: what a copied link carries, and reading one back.

Keys of the query string: ``v`` (a checksum of the rest), ``study``, ``lab``, ``seed``, ``rounds``,
``round`` (shown from 1), ``plan`` (absent for the reference protocol), and ``budget``, ``days`` and
``staff`` (each only where another lab is supposed), ``scientist``, ``manager``, ``recording`` and
``present``, the slide of a presentation (each only where it is not the default), ``own``, a key to
a visitor's study, and ``moves``, what was played by hand. Plan and moves are JSON, compressed, with
a checksum of their own, so that a link that was cut anywhere is noticed rather than half read. An
address typed by hand needs no ``v``; in one with it an absent ``scientist`` is the simple rule, as
it was in links from before.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from pydantic import TypeAdapter, ValidationError

from replicalab.errors import LinkError, ScenarioError
from replicalab.lexicon import shortened
from replicalab.models import PROTOCOL_FIELDS, Protocol, too_large
from replicalab.negotiation import Move, ScientistKind
from replicalab.scenarios import MAX_ROUNDS, Difficulty
from replicalab.ui.workspace import (
    DEFAULT_DIFFICULTY,
    DEFAULT_STUDY,
    LEVERS,
    FindPack,
    Workspace,
    on_the_shelf,
)

_CHECK: Final = "v"
_PLAYED: Final = "moves"
_LARGEST: Final = 64 * 1024
"""The most bytes of a plan, or of moves, before they are compressed."""
_MOVES: Final = TypeAdapter(tuple[Move, ...])


class _Key(NamedTuple):
    """A key of an address: the field that it sets, and what is said of a text that cannot be used.

    ``shift`` is the field's value for 0.
    """

    field: str
    otherwise: str
    shift: int = 0


_BROKEN: Final = "the link is incomplete or was changed on its way; copy it again in full."
_LEFT_OUT: Final = "is not usable; it is left out."
_KEYS: Final = {
    "seed": _Key("seed", "is not usable; showing seed 0."),
    "rounds": _Key("max_rounds", f"is not usable; showing rounds {MAX_ROUNDS}."),
    "round": _Key("round_number", "is not usable; showing round 1.", -1),
    **{name: _Key(name, "is not usable; showing the lab's own.") for name in LEVERS},
    "lab": _Key(
        "difficulty",
        f"is not known; use {', '.join(Difficulty)}. Showing the {DEFAULT_DIFFICULTY} lab.",
    ),
    "scientist": _Key("scientist", _LEFT_OUT),
    "manager": _Key("lab_manager", _LEFT_OUT),
    "recording": _Key("recording", _LEFT_OUT),
    "present": _Key("presenting", _LEFT_OUT),
    "own": _Key("own", "is no key of a visitor's study; it is left out."),
}
"""Every key but those of the study and the plan, in the order in which they are read."""
_FIRST: Final = ("study", "lab", "seed", "rounds", "round", "plan")
"""The keys that the checksum counts even where they are absent."""
_UNCOUNTED: Final = ("own",)
"""The keys that it never counts: links from before have them, and a cut one is noticed anyway."""
_DEFAULT: Final = Workspace()
_UNSAID: Final = Workspace(scientist=ScientistKind.BASELINE)
"""What an address with a checksum stands for where it says nothing else."""


class LinkReading(NamedTuple):
    """A workspace read from an address, and what of the address could not be used."""

    workspace: Workspace
    problems: list[str]


def to_query(workspace: Workspace) -> dict[str, str]:
    """Return the query string of a workspace; `from_query` gives an equal one back."""
    query = {"study": workspace.scenario_id}
    for key, (field, _, shift) in _KEYS.items():
        value = getattr(workspace, field)
        if key in _FIRST or value != getattr(_UNSAID, field):
            query[key] = str(value - shift) if isinstance(value, int) else str(value)
    if workspace.protocol is not None:
        query["plan"] = encode_plan(workspace.protocol)
    if moves := encode_moves(workspace.moves):
        query[_PLAYED] = moves
    return {_CHECK: _checksum(query), **query}


def _checksum(query: Mapping[str, str]) -> str:
    """Return a checksum of what a workspace put into an address.

    Keys that came later count only where they stand, so links from before them still hold.
    """
    parts = [f"{key}={query.get(key, '')}" for key in _FIRST]
    later = [key for key in (*_KEYS, _PLAYED) if key in query]
    later = [key for key in later if key not in (*_FIRST, *_UNCOUNTED)]
    parts += [f"{key}={query[key]}" for key in later]
    return f"{zlib.crc32('&'.join(parts).encode()):08x}"


def from_query(query: Mapping[str, str], find: FindPack = on_the_shelf) -> LinkReading:
    """Return the workspace of an address; a part that cannot be read keeps its default.

    A plan belongs to its study: when that cannot be opened, the plan is left out too. A visitor's
    study that is not here is asked for all the same: its file may be at hand.
    """
    work, problems = _UNSAID if _CHECK in query else _DEFAULT, list[str]()
    for key, (field, otherwise, _) in _KEYS.items():
        if key in query:
            try:
                work = work.changed(**{field: _value(key, query[key])})
            except ValueError:
                problems.append(f"{key} '{shortened(query[key])}' {otherwise}")
    study = query.get("study", DEFAULT_STUDY)
    try:
        work = _with_study(work, study, find)
        plan = decode_plan(query["plan"]) if "plan" in query else None
        work = work.changed(protocol=plan)
    except ScenarioError as error:
        fault = error.faults[0]
        problems.append(
            f"study '{shortened(study)}' cannot be opened: {shortened(fault.problem, 60)}; "
            f"{shortened(fault.remedy, 250)}. "
            f"Showing '{DEFAULT_STUDY}' with its reference protocol."
        )
        work = work.changed(own=None)
    except LinkError as error:
        problems.append(f"plan: {error} Showing the study's reference protocol instead.")
    else:
        if _PLAYED in query:
            work = _with_moves(work, query[_PLAYED], problems)
    if not problems and _CHECK in query and query[_CHECK] != _checksum(query):
        problems.append(
            "the address was cut or changed since it was copied; what is left of it is shown."
        )
    return LinkReading(work, problems)


def _with_study(work: Workspace, study: str, find: FindPack) -> Workspace:
    """Return a workspace on the study that an address names: a visitor's, or one on the shelf.

    Links from before carried a key beside every study, also beside one on the shelf.

    Raises:
        ScenarioError: it is not on the shelf, and the address has no key for it.
    """
    for own in dict.fromkeys((work.own, None)):
        try:
            find(study, work.difficulty.value, work.seed, own)
            return work.changed(scenario_id=study, own=own)
        except ScenarioError as error:
            wrong = error
    if work.own is not None:
        with suppress(ValidationError):  # the study has a name that none can have
            return work.changed(scenario_id=study)
    raise wrong


def _with_moves(work: Workspace, text: str, problems: list[str]) -> Workspace:
    """Return a workspace with what was played by hand in it, or add why it cannot be."""
    try:
        return work.changed(moves=decode_moves(text))
    except LinkError as error:
        problems.append(f"moves: {error} Showing the negotiation from its start.")
    except ValidationError:
        problems.append("moves: these players have none. Showing the negotiation as they play it.")
    return work


def _value(key: str, text: str) -> object:
    """Return what a key's text stands for; what is no number stays text, which no number takes."""
    is_number = key != "own" and text.isascii() and text.isdigit()
    return int(text) + _KEYS[key].shift if is_number else text


# --- the plan -------------------------------------------------------------------------------


def encode_plan(protocol: Protocol) -> str:
    """Return a plan as URL-safe text with a checksum."""
    values = [getattr(protocol, name) for name in PROTOCOL_FIELDS]
    return _packed(json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode())


def decode_plan(text: str) -> Protocol:
    """Return the plan that `encode_plan` wrote.

    Raises:
        LinkError: the text was cut or changed, or holds no possible plan.
    """
    try:
        values = json.loads(_unpacked(text))
    except (ValueError, zlib.error, binascii.Error, RecursionError) as error:
        raise LinkError(_BROKEN) from error
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


# --- what was played by hand ----------------------------------------------------------------


def encode_moves(moves: Sequence[Move]) -> str:
    """Return moves as URL-safe text with a checksum; empty for none, or for more than fits."""
    raw = _MOVES.dump_json(tuple(moves), exclude_defaults=True)
    return _packed(raw) if moves and len(raw) <= _LARGEST else ""


def decode_moves(text: str) -> tuple[Move, ...]:
    """Return the moves that `encode_moves` wrote.

    Raises:
        LinkError: the text was cut or changed, or holds no possible moves.
    """
    try:
        return _MOVES.validate_json(_unpacked(text))
    except ValidationError as error:
        raise LinkError(
            "the link carries none that can be played; copy it again from the address bar."
        ) from error
    except (ValueError, zlib.error, binascii.Error) as error:
        raise LinkError(_BROKEN) from error


def _packed(raw: bytes) -> str:
    return base64.urlsafe_b64encode(zlib.compress(raw, 9)).decode().rstrip("=")


def _unpacked(text: str) -> bytes:
    packed = base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4))
    reader = zlib.decompressobj()
    raw = reader.decompress(packed, _LARGEST)
    if not reader.eof or reader.unused_data:
        raise ValueError("incomplete or oversized")
    return raw
