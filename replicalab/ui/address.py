"""The workspace as an address: what a copied link carries, and reading one back.

Keys of the query string, most of them only where they are not the default:

- ``v``: a checksum of the rest, which an address that is typed by hand does not need.
- ``study``, ``lab``, ``seed``, ``rounds``, ``round`` (from 1), ``plan`` (else the reference).
- ``scientist``, ``manager``, ``recording``; ``moves``: what was played by hand.
- ``present``: the slide of a presentation; ``survey``: 1 for the table of all studies in the lab.
- ``own``: a key to a visitor's study; ``beside``: the names and query strings of the tray.
- Of one's own lab ``budget``, ``days``, ``staff``, ``start`` and, for the rest, ``own_lab``; of the
  evidence ``effect``, ``alpha``, ``target``, ``floor``, ``dropout``, ``baseline``, ``assurance``,
  ``units``, ``arms``, ``replication`` and ``why``; of its author ``registration``.

Plan, moves, beside, own_lab and why are JSON by field names, compressed, with a checksum of their
own: a link that was cut anywhere is noticed rather than half read. An own_lab is then taken value
by value. With a ``v``, an absent ``scientist`` is the simple rule, as it was in links from before.
"""

import base64
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from itertools import islice
from typing import Annotated, Any, Final, NamedTuple, TypeVar
from urllib.parse import urlencode

from pydantic import FailFast, Field, TypeAdapter, ValidationError

from replicalab import scenarios
from replicalab.case import MOST_SIDES, Case, FindPack
from replicalab.errors import LinkError, ScenarioError
from replicalab.lexicon import count_text, shortened
from replicalab.models import Protocol, Record, too_large
from replicalab.negotiation import MOST_ROUNDS, Move, ScientistKind
from replicalab.registration import Registration
from replicalab.ui.workspace import (
    DEFAULT_DIFFICULTY,
    DEFAULT_STUDY,
    LONGEST_NAME,
    TrayCase,
    Workspace,
)

LONGEST_QUERY: Final = 14_000
"""Characters of an address after its question mark: uvicorn takes 16,384 bytes with all headers."""
_CHECK: Final = "v"
_PLAYED: Final = "moves"
_OWN_LAB: Final = "own_lab"  # What is said of a lab besides its means
_TRAY: Final = "beside"
_WHY: Final = "why"
_REGISTRATION: Final = "registration"
_RUN: Final = "run"  # The key that says of a case in the tray that its negotiation is compared
_LARGEST: Final = 64 * 1024  # The most bytes of a plan, or of moves, before they are compressed
_MOVES: Final = TypeAdapter(Annotated[tuple[Move, ...], Field(max_length=MOST_ROUNDS), FailFast()])
_Query = Annotated[dict[str, str], FailFast()]
_TRAY_CASES: Final = TypeAdapter(
    Annotated[
        list[tuple[Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)], _Query]],
        Field(max_length=MOST_SIDES),
        FailFast(),
    ]
)
# What a plan without names holds, in this order: links from before have such. Never add to it.
_PLAN_IN_ORDER: Final = (
    "sample_size",
    "controls",
    "technique",
    "duration_days",
    "required_equipment",
    "required_reagents",
    "rationale",
)
# So many values of what is packed are read one by one, more than any that was packed here has.
_MOST_ENTRIES: Final = 250
_MOST_NAMED: Final = 8
# What of a lab of one's own stands under `own_lab`.
_REST: Final = {
    *("name", "currency", "start_date", "weekends"),
    *("rates", "steps", "items", "sheet"),
}
_R = TypeVar("_R", scenarios.LabOverrides, scenarios.EvidenceAssumptions, Registration)
_Any = TypeVar("_Any", bound=Record)


class _Key(NamedTuple):
    """A key of an address: the field that it sets, and what is said of a text that cannot be used.

    ``shift`` is the field's value for 0.
    """

    path: str
    otherwise: str
    shift: int = 0


_BROKEN: Final = "the link is incomplete or was changed on its way; copy it again in full."
_LEFT_OUT: Final = "is not usable; it is left out."
_OF_LAB: Final = "is not usable; showing the lab's own."
_OF_STUDY: Final = "is not usable; showing the study's own."
# Every key of a plain value but those of the study, in the order in which they are read.
_KEYS: Final = {
    "seed": _Key("case.seed", "is not usable; showing seed 0."),
    "rounds": _Key("case.max_rounds", f"is not usable; showing rounds {scenarios.MAX_ROUNDS}."),
    "round": _Key("round_number", "is not usable; showing round 1.", -1),
    "budget": _Key("case.own_lab.budget", _OF_LAB),
    "days": _Key("case.own_lab.days", _OF_LAB),
    "staff": _Key("case.own_lab.staff", _OF_LAB),
    "lab": _Key(
        "case.lab",
        f"is not known; use {', '.join(scenarios.Difficulty)}. "
        f"Showing the {DEFAULT_DIFFICULTY} lab.",
    ),
    "scientist": _Key("case.scientist", _LEFT_OUT),
    "manager": _Key("case.lab_manager", _LEFT_OUT),
    "recording": _Key("case.recording", _LEFT_OUT),
    "present": _Key("presenting", _LEFT_OUT),
    "survey": _Key("survey", _LEFT_OUT),
    "challenge": _Key("challenge", _LEFT_OUT),
    "own": _Key("case.own", "is no key of a visitor's study; it is left out."),
    "start": _Key("case.own_lab.start_day", _OF_LAB),
    **{name: _Key(f"case.question.{name}", _OF_STUDY) for name in scenarios.QUESTION_FIELDS},
}
# The keys that the checksum counts even where they are absent.
_FIRST: Final = ("study", "lab", "seed", "rounds", "round", "plan")
# The keys that it never counts: links from before have them, and a cut one is noticed anyway.
_UNCOUNTED: Final = ("own",)
_DEFAULT: Final = Workspace()
# What an address with a checksum stands for where it says nothing else.
_UNSAID: Final = _DEFAULT.changed(scientist=ScientistKind.BASELINE)


class AddressPart(NamedTuple):
    """What an address may have no room for: its key there, its field, what a sentence calls it."""

    key: str
    path: str
    called: str


PARTS: Final = {
    "b": AddressPart(_TRAY, "tray", "the comparison"),
    "m": AddressPart(_PLAYED, "case.moves", "what was played by hand"),
    "i": AddressPart(_OWN_LAB, "case.own_lab.items", "what is said of the lab’s items"),
    "t": AddressPart(_OWN_LAB, "case.own_lab.sheet", "how the lab’s sheet of items is read"),
    "r": AddressPart(_REGISTRATION, "case.registration", "what is said in the registration"),
    "p": AddressPart("plan", "case.plan", "the plan"),
}
"""By the letters that name them in an address where only the draft has them, as they give way."""


def fitted(work: Workspace, room: int) -> tuple[Workspace, dict[str, str]]:
    """Return what an address of so many characters carries of a workspace, and that address.

    The cases of the tray give way one by one, the last first; every other part as a whole.
    """
    query = to_query(work)
    for part in PARTS.values():
        none = at(_DEFAULT, part.path)
        while (held := at(work, part.path)) != none and (
            part.key not in query or len(urlencode(query)) > room
        ):
            less = held[:-1] if part.key == _TRAY else none
            work = put(work, part.path, less)
            query = to_query(work)
    return work, query


def left_out(work: Workspace, carried: Workspace) -> dict[str, AddressPart]:
    """Return the parts of a workspace that its address does not carry in full, by their letters."""
    parts = reversed(PARTS.items())
    return {n: part for n, part in parts if at(work, part.path) != at(carried, part.path)}


def at(record: Record, path: str) -> Any:
    """Return the value of a field within a record, such as ``case.plan``."""
    return reduce(getattr, path.split("."), record)


def put(record: _Any, path: str, value: object) -> _Any:
    """Return a record with another value of a field within it.

    Raises:
        pydantic.ValidationError: it takes no such value.
    """
    first, _, rest = path.partition(".")
    return record.model_copy(
        update={first: put(getattr(record, first), rest, value) if rest else value}
    )


class LinkReading(NamedTuple):
    """A workspace read from an address, and what of the address could not be used."""

    workspace: Workspace
    problems: list[str]


def to_query(workspace: Workspace) -> dict[str, str]:
    """Return the query string of a workspace; `from_query` gives an equal one back."""
    case, query = workspace.case, {"study": workspace.case.study}
    for key, entry in _KEYS.items():
        value = at(workspace, entry.path)
        if key in _FIRST or value != at(_UNSAID, entry.path):
            query[key] = str(value - entry.shift) if isinstance(value, int) else str(value)
    if case.plan is not None:
        query["plan"] = encode_plan(case.plan)
    if moves := encode_moves(case.moves):
        query[_PLAYED] = moves
    query |= _packed_parts(case)
    if tray := _encode_tray(workspace.tray):
        query[_TRAY] = tray
    return {_CHECK: _checksum(query), **query}


def _packed_parts(case: Case) -> dict[str, str]:
    """Return what of a lab, a question and a registration stands packed in an address."""
    found = {}
    if rest := case.own_lab.model_dump(mode="json", exclude_defaults=True, include=_REST):
        found[_OWN_LAB] = _packed_json(rest)
    if case.question.why:
        found[_WHY] = _packed_json(case.question.why)
    for name in scenarios.QUESTION_RECORDS:
        if (record := getattr(case.question, name)) is not None:
            found[name] = _packed_json(record.model_dump(mode="json", exclude_defaults=True))
    if said := _encode_registration(case.registration):
        found[_REGISTRATION] = said
    return found


def _checksum(query: Mapping[str, str]) -> str:
    """Return a checksum of what a workspace put into an address.

    Keys that came later count only where they stand, so links from before them still hold.
    """
    parts = [f"{key}={query.get(key, '')}" for key in _FIRST]
    packed = (_PLAYED, _OWN_LAB, _WHY, *scenarios.QUESTION_RECORDS, _REGISTRATION, _TRAY)
    later = [key for key in (*_KEYS, *packed) if key in query]
    later = [key for key in later if key not in (*_FIRST, *_UNCOUNTED)]
    parts += [f"{key}={query[key]}" for key in later]
    return f"{zlib.crc32('&'.join(parts).encode()):08x}"


def from_query(query: Mapping[str, str], find: FindPack) -> LinkReading:
    """Return the workspace of an address; a part that cannot be read keeps its default.

    A plan belongs to its study: when that cannot be opened, the plan is left out too. A visitor's
    study that is not here is asked for all the same: its file may be at hand.
    """
    work, problems = _UNSAID if _CHECK in query else _DEFAULT, list[str]()
    for key, entry in _KEYS.items():
        if key in query:
            try:
                work = put(work, entry.path, _value(key, query[key]))
            except ValueError:
                problems.append(f"{key} '{shortened(query[key])}' {entry.otherwise}")
    work = _with_rest(work, query, problems)
    study = query.get("study", DEFAULT_STUDY)
    try:
        work = _with_study(work, study, find)
        work = work.changed(case=askable(work.case, find, problems))
        plan = decode_plan(query["plan"]) if "plan" in query else None
        work = work.changed(plan=plan)
    except ScenarioError as error:
        fault = error.faults[0]
        problems.append(
            f"study '{shortened(study)}' cannot be opened: {shortened(fault.problem, 60)}; "
            f"{shortened(fault.remedy, 250)}. "
            f"Showing '{DEFAULT_STUDY}' with its reference protocol."
        )
        work = work.changed(own=None, question=scenarios.EvidenceAssumptions())
    except LinkError as error:
        problems.append(f"plan: {error} Showing the study's reference protocol instead.")
    else:
        if _PLAYED in query:
            work = _with_moves(work, query[_PLAYED], problems)
    if _TRAY in query:
        work = work.changed(tray=_with_tray(query[_TRAY], find, problems))
    if not problems and _CHECK in query and query[_CHECK] != _checksum(query):
        problems.append(
            "the address was cut or changed since it was copied; what is left of it is shown."
        )
    return LinkReading(work, problems)


def _with_study(work: Workspace, study: str, find: FindPack) -> Workspace:
    """Return a workspace on the study that an address names: a visitor's, or one on the shelf.

    Raises:
        ScenarioError: it is not there.
    """
    find(study, work.case.lab.value, work.case.seed, work.case.own)
    return work.changed(study=study)


def _with_rest(work: Workspace, query: Mapping[str, str], problems: list[str]) -> Workspace:
    """Return a workspace with what is packed of its lab and its question, taken value by value."""
    for key, part, otherwise in (
        (_OWN_LAB, "own_lab", "showing the lab's own rates, steps and items"),
        (_WHY, "question", "showing no reasons for what you assume"),
        (_REGISTRATION, "registration", "showing no registration"),
        *((name, "question", "showing the study's own") for name in scenarios.QUESTION_RECORDS),
    ):
        if key in query:
            try:
                said = _unpacked_json(query[key])
                if not isinstance(said, dict):
                    raise LinkError("the link carries none; copy it again from the address bar.")
            except LinkError as error:
                problems.append(f"{key}: {error} Until then: {otherwise}.")
                continue
            if key in scenarios.QUESTION_RECORDS:
                work = _with_record(work, key, said, problems)
                continue
            said = {"why": said} if key == _WHY else said
            work = work.changed(**{part: _taken(getattr(work.case, part), said, key, problems)})
    return work


def _with_record(
    work: Workspace, name: str, said: Mapping[str, object], problems: list[str]
) -> Workspace:
    """Return a workspace with units or arms in its question, taken as a whole or not at all."""
    try:
        return work.changed(question=work.case.question.model_copy(update={name: dict(said)}))
    except ValidationError:
        shown = shortened(json.dumps(said, ensure_ascii=False), 80)
        problems.append(f"{name} {shown} {_OF_STUDY}")
        return work


def _taken(record: _R, said: Mapping[str, object], key: str, problems: list[str]) -> _R:
    """Return a record with every value that it can take; of each other add what it was."""
    with suppress(ValidationError):
        return record.model_copy(update=dict(said))
    refused = []
    for name, entry in islice(_entries(said), _MOST_ENTRIES):
        try:
            record = _with_entry(record, name, entry)
        except ValidationError:
            shown = shortened(json.dumps(entry, ensure_ascii=False), 80)
            refused.append(f"{key}: {shortened(name)} {shown} is not usable; it is left out.")
    if more := len(refused[_MOST_NAMED:]):
        refused[_MOST_NAMED:] = [f"{key}: {count_text(more, 'value')} more cannot be used."]
    problems += refused
    return record


def _entries(said: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Yield each value alone with its field, of a list or a mapping each entry."""
    for name, value in said.items():
        if isinstance(value, dict):
            yield from ((name, {key: entry}) for key, entry in value.items())
        elif isinstance(value, list):
            yield from ((name, [entry]) for entry in value)
        else:
            yield name, value


def _with_entry(record: _R, name: str, entry: object) -> _R:
    """Return a record with one more entry in a field, or with that field set.

    Raises:
        pydantic.ValidationError: it has no such field, or that takes no such entry.
    """
    before: object = dict(record).get(name)
    if isinstance(entry, dict) and isinstance(before, dict):
        entry = before | entry
    elif isinstance(entry, list) and isinstance(before, tuple):
        entry = list(before) + entry
    return record.model_copy(update={name: entry})


def askable(case: Case, find: FindPack, problems: list[str]) -> Case:
    """Return a case whose question its study can be asked; add what of it cannot be.

    All of it is tried together first: a target may fit only with its floor. Of a study that is
    not here nothing is known.
    """
    try:
        design = case.written(find).design
    except ScenarioError:
        return case
    said = {n: v for n in scenarios.QUESTION_FIELDS if (v := getattr(case.question, n)) is not None}
    none = dict.fromkeys((*said, *scenarios.QUESTION_RECORDS))
    fits, wrong = case.question.model_copy(update=none), dict[str, str]()
    # Each number that fits may make room for another, so the rest is tried again after each.
    while left := [name for name in said if getattr(fits, name) is None]:
        tried = [{name: said[name] for name in left}, *({name: said[name]} for name in left)]
        for some in tried:
            try:
                question = fits.model_copy(update=some)
                question.over(design)
            except ScenarioError as error:
                wrong |= dict.fromkeys(some, error.faults[0].problem)
            else:
                fits = question
                break
        else:
            problems += [
                f"{name} '{said[name]:g}' cannot be asked of this study ({wrong[name]}); "
                "showing the study's own."
                for name in left
            ]
            break
    fits = _with_askable_records(fits, case.question, design, problems)
    for name, problem in fits.idle_in(design).items():
        problems.append(f"{problem}; it is left out.")
        fits = fits.asking(name, None, design)
    return case.changed(question=fits)


def _with_askable_records(
    fits: scenarios.EvidenceAssumptions,
    asked: scenarios.EvidenceAssumptions,
    design: scenarios.Design,
    problems: list[str],
) -> scenarios.EvidenceAssumptions:
    """Return a question with the units and arms of another that the design can be asked."""
    for name in scenarios.QUESTION_RECORDS:
        if (value := getattr(asked, name)) is None:
            continue
        try:
            question = fits.model_copy(update={name: value})
            question.over(design)
        except ScenarioError as error:
            problem = error.faults[0].problem
            problems.append(
                f"{name} cannot be asked of this study ({problem}); showing the study's own."
            )
        else:
            fits = question
    return fits


def _with_moves(work: Workspace, text: str, problems: list[str]) -> Workspace:
    """Return a workspace with what was played by hand in it, or add why it cannot be."""
    try:
        return work.changed(moves=decode_moves(text))
    except LinkError as error:
        problems.append(f"moves: {error} Showing the negotiation from its start.")
    except ValidationError:
        problems.append("moves: these players have none. Showing the negotiation as they play it.")
    return work


def _encode_registration(said: Registration) -> str:
    """Return what is said in a registration as URL-safe text; empty for nothing, or too much."""
    raw = said.model_dump_json(exclude_defaults=True).encode()
    return _packed(raw) if said != Registration() and len(raw) <= _LARGEST else ""


def _encode_tray(tray: Sequence[TrayCase]) -> str:
    """Return the tray as URL-safe text; empty for nothing, or for more than is read."""
    kept = [[each.name, tray_query(each)] for each in tray]
    raw = json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode()
    return _packed(raw) if tray and len(raw) <= _LARGEST else ""


def tray_query(kept: TrayCase) -> dict[str, str]:
    """Return the query string of a case in the tray; `tray_in` gives an equal one back."""
    return to_query(Workspace(case=kept.case)) | ({_RUN: "1"} if kept.run else {})


def tray_in(
    said: Iterable[tuple[str, Mapping[str, str]]], find: FindPack, problems: list[str]
) -> tuple[TrayCase, ...]:
    """Return the tray of these names and addresses; add what of each cannot be used."""
    kept = []
    for name, query in said:
        reading = from_query({key: query[key] for key in query if key != _TRAY}, find)
        problems += [f"comparison, {shortened(name)}: {problem}" for problem in reading.problems]
        kept.append(TrayCase(name=name, case=reading.workspace.case, run=_RUN in query))
    return tuple(kept)


def _with_tray(text: str, find: FindPack, problems: list[str]) -> tuple[TrayCase, ...]:
    try:
        return tray_in(_TRAY_CASES.validate_json(_unpacked(text)), find, problems)
    except ValidationError:
        problems.append("comparison: the link carries nothing that can be compared.")
    except LinkError as error:
        problems.append(f"comparison: {error}")
    return ()


def _value(key: str, text: str) -> object:
    """Return what a key's text stands for; what is no number stays text, which no number takes."""
    if key in scenarios.QUESTION_FIELDS:
        with suppress(ValueError):
            return float(text)
    # int() also takes digits of other scripts, signs and underscores, which no address of ours has.
    is_number = key != "own" and text.isascii() and text.isdigit()
    return int(text) + _KEYS[key].shift if is_number else text


# --- the plan -------------------------------------------------------------------------------


def encode_plan(protocol: Protocol) -> str:
    """Return a plan as URL-safe text with a checksum."""
    return _packed_json(protocol.model_dump(exclude_defaults=True))


def decode_plan(text: str) -> Protocol:
    """Return the plan that `encode_plan` wrote, now or in an earlier version.

    Raises:
        LinkError: the text was cut or changed, or holds no possible plan.
    """
    values = _unpacked_json(text)
    if isinstance(values, list) and len(values) == len(_PLAN_IN_ORDER):
        values = dict(zip(_PLAN_IN_ORDER, values, strict=True))
    fields = Protocol.model_fields
    required = {name for name, field in fields.items() if field.is_required()}
    if not (isinstance(values, dict) and required <= values.keys() <= fields.keys()):
        raise LinkError("the link carries no plan; copy it again from the address bar.")
    try:
        plan = Protocol.model_validate(values)
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


def _packed_json(said: object) -> str:
    return _packed(json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode())


def _unpacked_json(text: str) -> object:
    """Return what was packed.

    Raises:
        LinkError: the text was cut or changed.
    """
    try:
        return json.loads(_unpacked(text))
    except (ValueError, RecursionError) as error:
        raise LinkError(_BROKEN) from error


def _packed(raw: bytes) -> str:
    return base64.urlsafe_b64encode(zlib.compress(raw, 9)).decode().rstrip("=")


def _unpacked(text: str) -> bytes:
    reader = zlib.decompressobj()
    try:
        packed = base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4))
        # No more than was ever packed: a few bytes may unpack to gigabytes.
        raw = reader.decompress(packed, _LARGEST)
    except (ValueError, zlib.error) as error:
        raise LinkError(_BROKEN) from error
    if not reader.eof or reader.unused_data:
        raise LinkError(_BROKEN)
    return raw
