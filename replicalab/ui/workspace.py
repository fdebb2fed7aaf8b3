"""The workspace of every page, its link, and the four stories for a demo.

Short values have keys of their own in a link (`KEYS`); ``samples`` is the sample size of the plan.
``more`` has the rest: JSON without defaults, compressed with zlib, as URL-safe base64.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final, NamedTuple, Self
from urllib.parse import urlencode

from pydantic import Field, StringConstraints, ValidationError, model_validator

from replicalab import limits, negotiation, scenarios
from replicalab.agents.lab_manager_policy import reference_offer
from replicalab.assessment import assess
from replicalab.assessment.dimensions import apply_changes
from replicalab.errors import LinkError, Refusal, ScenarioError
from replicalab.lexicon import shortened
from replicalab.models import Protocol, Record, too_large
from replicalab.negotiation.case import Case, FindPack

DEFAULT_STUDY: Final = "fin_momentum"
DEFAULT_DIFFICULTY: Final = scenarios.Difficulty.MEDIUM
_MORE: Final = "more"
_SAMPLES: Final = "samples"
_ROUND: Final = "round"  # counted from 1
_PLAN: Final = ("case", "plan")
KEYS: Final[dict[str, tuple[str, ...]]] = {
    "study": ("case", "study"),
    "own": ("case", "own"),
    "lab": ("case", "lab"),
    "seed": ("case", "seed"),
    "budget": ("case", "own_lab", "budget"),
    "days": ("case", "own_lab", "days"),
    "staff": ("case", "own_lab", "staff"),
    **{name: ("case", "question", name) for name in scenarios.QUESTION_FIELDS},
    "scientist": ("case", "scientist"),
    "manager": ("case", "lab_manager"),
    "recording": ("case", "recording"),
    "rounds": ("case", "max_rounds"),
    _ROUND: ("round_number",),
    "present": ("presenting",),
    "survey": ("survey",),
    "challenge": ("challenge",),
    _SAMPLES: (*_PLAN, "sample_size"),
}
"""Keys of plain values, and the field that each one sets."""
_NAMES: Final = {path: key for key, path in KEYS.items()}
_ALWAYS: Final = {"study": DEFAULT_STUDY, "lab": DEFAULT_DIFFICULTY.value}
_TEXTS: Final = ("study", "own", "lab", "scientist", "manager", "recording")
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]{0,19})(\.[0-9]{1,20})?(e[-+]?[0-9]{1,3})?")


class TrayCase(Record):
    """A named case in the tray; ``run`` compares the final plan of its negotiation."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=limits.LONGEST_NAME)]
    case: Case
    run: bool = False

    @property
    def is_run(self) -> bool:
        return self.run or self.case.is_run


class Workspace(Record):
    """The state that every page shows.

    Attributes:
        round_number: the shown round of its negotiation, from 0.
        presenting: the shown slide, from 1; 0 without a presentation.
        survey: whether the Scenarios page shows all studies in the visitor's lab.
        challenge: whether checks and the best plan are hidden until a plan is handed in.
        tray: the cases to compare.
    """

    case: Case = Case(study=DEFAULT_STUDY, lab=DEFAULT_DIFFICULTY)
    round_number: Annotated[int, Field(strict=True, ge=0, lt=limits.MOST_PAGE_ROUNDS)] = 0
    presenting: Annotated[int, Field(strict=True, ge=0, le=limits.MOST_SLIDES)] = 0
    survey: bool = False
    challenge: bool = False
    tray: Annotated[tuple[TrayCase, ...], Field(max_length=limits.MOST_SIDES)] = ()

    @model_validator(mode="after")
    def _can_be_shown(self) -> Self:
        for fault in not_shown(self.case):
            raise fault.error
        return self

    def replace(self, **changes: object) -> Workspace:
        """Return this workspace with changed fields, also of its case, validated."""
        record = {name: value for name, value in changes.items() if name in Workspace.model_fields}
        if of_case := {name: value for name, value in changes.items() if name not in record}:
            record["case"] = self.case.replace(**of_case)
        return self.model_copy(update=record)

    def with_case(self, case: Case) -> Workspace:
        """Return this workspace with another case at its first round."""
        return self.replace(case=case, round_number=0)

    def reset_to(self, case: Case) -> Workspace:
        """Return a new workspace with a case and the same tray."""
        return Workspace(case=case, tray=self.tray)

    def stepped_from(self, now: Workspace) -> Workspace:
        """Return this workspace as a step of undo or redo restores it.

        Players, rounds, presentation, survey, challenge and the registration of the same study
        stay as they are now; in the same lab also a person's moves. Other moves are restored only
        for the same players.
        """
        case, last, moves = self.case, now.case, self.case.moves
        players = {n: getattr(last, n) for n in ("max_rounds", "scientist", "lab_manager")}
        same = case.where == last.where and case.recording == last.recording
        if same and last.scientist is negotiation.ScientistKind.PERSON:
            moves = last.moves
        elif any(getattr(case, name) != value for name, value in players.items()):
            moves = ()
        is_same_study = (case.study, case.own) == (last.study, last.own)
        registration = (last if is_same_study else case).registration
        restored = case.replace(**players, moves=moves, registration=registration)
        view = {name: getattr(now, name) for name in ("presenting", "survey", "challenge")}
        return self.replace(case=restored, round_number=0, **view)


def not_shown(case: Case) -> Iterator[Refusal]:
    """Yield why pages cannot show a case."""
    for name, value, limit in (
        ("seed", case.seed, limits.LARGEST_SEED),
        ("max_rounds", case.max_rounds, limits.MOST_PAGE_ROUNDS),
        ("moves", len(case.moves), limits.MOST_PAGE_ROUNDS),
    ):
        if value > limit:
            text = f"{value:,}" if value < 10**12 else "over 1,000,000,000,000"
            problem = f"{name} is {text}, and at most {limit:,} can be shown here"
            yield Refusal(problem, f"play that negotiation again with {limit:,} or less")


class LinkReading(NamedTuple):
    """The workspace of a link; ``problems`` says why it is the default one."""

    workspace: Workspace
    problems: list[str]


def to_query(workspace: Workspace) -> dict[str, str]:
    """Return the query string of a workspace; raise LinkError if it is too long."""
    values = workspace.model_dump(mode="json", exclude_defaults=True)
    query = dict(_ALWAYS)
    for key, path in KEYS.items():
        if (value := _take(values, path)) is not None:
            query[key] = _text(value + 1 if key == _ROUND else value)
    if values:
        raw = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
        query[_MORE] = base64.urlsafe_b64encode(zlib.compress(raw, 9)).decode().rstrip("=")
        if len(raw) > limits.MOST_LINK_BYTES or len(urlencode(query)) > limits.LONGEST_QUERY:
            raise LinkError("this is too long for a link; send the bundle instead")
    return query


def from_query(query: Mapping[str, str], find: FindPack) -> LinkReading:
    """Return the workspace of a link, or the default one with the reason in one sentence."""
    try:
        return LinkReading(_read(_ALWAYS | dict(query), find), [])
    except LinkError as error:
        problem = str(error)
    except ScenarioError as error:
        fault, study = error.faults[0], shortened(query.get("study", DEFAULT_STUDY))
        reason = f"{shortened(fault.problem, 60)}; {shortened(fault.remedy, 250)}"
        problem = f"study '{study}' cannot be opened: {reason}"
    instead = f"Showing '{DEFAULT_STUDY}' instead."
    return LinkReading(Workspace(), [f"The link cannot be read: {problem}. {instead}"])


def _read(query: Mapping[str, str], find: FindPack) -> Workspace:
    if "v" in query:
        raise LinkError("ReplicaLab 1 wrote it; ask for a new one")
    values = _unpacked(query[_MORE]) if _MORE in query else {}
    for key in (KEYS.keys() & query.keys()) - {_SAMPLES}:
        value = _value(key, query[key])
        is_round = key == _ROUND and isinstance(value, int)
        if is_round and not 0 < value <= limits.MOST_PAGE_ROUNDS:
            raise LinkError(f"round '{value}': use 1 to {limits.MOST_PAGE_ROUNDS}")
        _put(values, KEYS[key], value - 1 if is_round else value)
    samples = _value(_SAMPLES, query[_SAMPLES]) if _SAMPLES in query else None
    if has_plan := values["case"].get("plan") is not None:
        _put(values, KEYS[_SAMPLES], samples)
    work = _validated(values)
    if samples is not None and not has_plan:
        plan = work.case.protocol(find).model_dump(mode="json")
        _put(values, _PLAN, plan | {"sample_size": samples})
        work = _validated(values)
    for case in (work.case, *(saved.case for saved in work.tray)):
        if case.text:
            raise LinkError("it holds the file of a study; open a bundle instead")
        sizes = too_large(case.plan) if case.plan else []
        idle = case.question.idle_in(case.author_pack(find).design).values()
        for problem in (*(fault.text for fault in sizes), *idle):
            raise LinkError(problem)
        case.pack(find)
    return work


def _validated(values: dict[str, Any]) -> Workspace:
    try:
        return Workspace.model_validate_json(json.dumps(values))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = tuple(map(str, first["loc"]))
        name, value = _NAMES.get(path, ".".join(path)), shortened(str(first["input"]))
        raise LinkError(f"{shortened(name)} '{value}': {shortened(first['msg'], 200)}") from error


def _value(key: str, text: str) -> Any:
    return json.loads(text) if key not in _TEXTS and _NUMBER.fullmatch(text) else text


def _text(value: Any) -> str:
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < limits.LARGEST_COUNT
    return str(int(value) if is_whole or isinstance(value, bool) else value)


def _take(values: dict[str, Any], path: tuple[str, ...]) -> Any:
    # Also removes the records that become empty.
    first, *rest = path
    if first not in values or values[first] is None:
        return None
    if not rest:
        return values.pop(first)
    value = _take(values[first], tuple(rest))
    if not values[first]:
        del values[first]
    return value


def _put(values: dict[str, Any], path: tuple[str, ...], value: object) -> None:
    *parents, last = path
    for name in parents:
        values = values.setdefault(name, {})
        if not isinstance(values, dict):
            raise LinkError(f"{name} is no record; copy it again in full")
    values[last] = value


def _unpacked(text: str) -> dict[str, Any]:
    reader = zlib.decompressobj()
    try:
        packed = base64.urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4))
        values = json.loads(reader.decompress(packed, limits.MOST_LINK_BYTES))
        if reader.eof and not reader.unused_data and isinstance(values, dict):
            return values
    except (ValueError, RecursionError, zlib.error):
        pass
    raise LinkError("it was cut or changed; copy it again in full")


class Story(NamedTuple):
    """A presentation, and the page that opens after its last slide."""

    key: str
    title: str  # its point, in a few words
    line: str  # its point, in a sentence
    page: str  # its title
    workspace: Workspace  # its beginning


def stories() -> list[Story]:
    """Return the four stories, the simplest first; raise ScenarioError if a study is broken."""
    halved = scenarios.load_scenario("bio_jq1_myeloma", DEFAULT_DIFFICULTY)
    offer = reference_offer(assess(halved.reference_protocol, halved))
    changes = [change for change in offer.changes if change.field != "sample_size"] if offer else []
    all_but_the_sample = apply_changes(halved.reference_protocol, changes)
    return [
        Story(
            "plan_that_fits",
            "The plan that fits",
            "100 participants in 4 days cost 1,600 of the lab’s 1,700 credits. All checks pass and "
            "power is 1.00, so nothing is given up.",
            "Protocol",
            _begins("psy_stroop", lab=scenarios.Difficulty.EASY),
        ),
        Story(
            "half_the_sample",
            "Ten credits too many",
            "For ten credits the Lab Manager halves the sample: power 0.53 → 0.26. One day less "
            "saves 50 credits and keeps all 24 mice. No plan in this lab allows the 36 days of "
            "survival follow-up.",
            "Protocol",
            _begins(halved.scenario_id, all_but_the_sample),
        ),
        Story(
            "cut_that_costs_nothing",
            "The free cut",
            "The lab has 4 of the 6 days, and another computer. With both changes all 12 runs "
            "stay, at power 0.88; a halving in every round ends at 0.10.",
            "Negotiation",
            _begins("ml_resnet_cifar10"),
        ),
        Story(
            "do_not_run",
            "A study not run",
            "The lab can check at most 437 of 633 cases, and a check of 69 % proves nothing. 2,055 "
            "more credits would pay for all; without them the Scientist leaves.",
            "Negotiation",
            _begins("math_four_colour"),
        ),
    ]


def _begins(
    study: str, plan: Protocol | None = None, lab: scenarios.Difficulty = DEFAULT_DIFFICULTY
) -> Workspace:
    return Workspace(case=Case(study=study, lab=lab, plan=plan), presenting=1)
