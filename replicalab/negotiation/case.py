"""A case: study, lab, changes of both, plan and players; and the sides of a comparison."""

import json
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, NamedTuple, Self, TypeVar

from pydantic import AfterValidator, FailFast, Field, ValidationError, model_validator

from replicalab import errors, scenarios
from replicalab.answers import Registration
from replicalab.assessment import Assessment, assess
from replicalab.lexicon import joined
from replicalab.limits import MOST_ROUNDS, MOST_SIDES
from replicalab.models import NotebookTable, Protocol, Record, too_large
from replicalab.negotiation import Negotiation, play_moves, records, replay, shipped_recordings
from replicalab.scenarios.reading import FILE_FORMAT, format_problem, record_error

FindPack = Callable[[str, str, int, str | None], scenarios.Pack]
"""Finds a study in its lab by study, lab, seed and own key, or raises ScenarioError."""

_AS_IN_A_SETUP: Final = ("seed", "own_lab", "question", "lab_manager", "max_rounds")
FEWEST_SIDES: Final = 2
_C = TypeVar("_C", bound="Case")
_R = TypeVar("_R", bound=Record)


class Case(Record):
    """A plan in its lab with its players; defaults are the study's own values.

    ``text`` is the content of an own study's file, ``own`` its key in a link; ``recording`` is a
    shipped one, ``moves`` are the rounds played by hand.
    """

    format: Literal[2] = 2
    study: scenarios.Identifier
    text: str = ""
    own: Annotated[str, Field(pattern="^[0-9a-f]{32}$")] | None = None
    lab: scenarios.Difficulty
    seed: scenarios.Seed = 0
    own_lab: scenarios.LabOverrides = scenarios.LabOverrides()
    question: scenarios.EvidenceAssumptions = scenarios.EvidenceAssumptions()
    plan: Protocol | None = None
    scientist: records.ScientistKind = records.ScientistKind.STEP_BY_STEP
    lab_manager: records.LabManagerKind = records.LabManagerKind.REFERENCE
    max_rounds: Annotated[int, Field(strict=True, ge=1, le=MOST_ROUNDS)] = scenarios.MAX_ROUNDS
    recording: scenarios.Identifier | None = None
    moves: Annotated[tuple[records.Move, ...], Field(max_length=MOST_ROUNDS), FailFast()] = ()
    registration: Registration = Registration()

    @model_validator(mode="after")
    def _belongs_together(self) -> Self:
        if self.moves and (self.recording or self.scientist is records.ScientistKind.MODEL):
            raise ValueError("a recorded run or a model takes no moves by hand")
        if any(move.outputs for move in self.moves):
            remedy = "open the negotiation's file"
            raise errors.Refusal("moves hold no output of a model", remedy).error
        records.check_seats(self.scientist, self.lab_manager)
        return self

    @classmethod
    def of(cls, pack: scenarios.Pack, plan: Protocol | None = None, **others: Any) -> Self:
        """Return the case of a plan in a pack; ``others`` are further fields."""
        return cls(
            study=pack.scenario_id,
            lab=pack.difficulty,
            seed=pack.seed,
            own_lab=pack.own_lab,
            question=pack.question,
            plan=None if plan == pack.reference_protocol else plan,
            **others,
        )

    @classmethod
    def of_run(cls, setup: records.Setup, **others: Any) -> Self:
        """Return the case in which a negotiation was saved; ``others`` are further fields."""
        same = {name: getattr(setup, name) for name in _AS_IN_A_SETUP}
        return cls(study=setup.scenario_id, lab=setup.difficulty, **same, **others)

    def own_study(self) -> scenarios.Study | None:
        """Return the study in ``text``, None if empty; raises ScenarioError."""
        if not self.text:
            return None
        study = _parsed(self.text)
        if study.scenario_id != self.study:
            problem = f"'{self.study}' is not the study of the file, '{study.scenario_id}'"
            fault = errors.Fault("study", problem, "name that one")
            raise errors.ScenarioError("the plan", [fault])
        return study

    def author_pack(self, find: FindPack | None = None) -> scenarios.Pack:
        """Return the study in its lab as written, by default a shipped one."""
        if study := self.own_study():
            return scenarios.pack_of(study, self.lab, self.seed)
        return (find or on_the_shelf)(*self.where)

    def pack(self, find: FindPack | None = None) -> scenarios.Pack:
        """Return the study in the lab, both with the user's changes; raises ScenarioError."""
        return self.author_pack(find).with_own(self.own_lab, self.question)

    def protocol(self, find: FindPack | None = None) -> Protocol:
        return self.plan or self.pack(find).reference_protocol

    def assess(self, find: FindPack | None = None) -> Assessment:
        pack = self.pack(find)
        return assess(self.plan or pack.reference_protocol, pack)

    @property
    def where(self) -> tuple[str, str, int, str | None]:
        """The study and its lab, as arguments of `FindPack`."""
        return self.study, self.lab.value, self.seed, self.own

    def setup(self, pack: scenarios.Pack, model: str | None = None) -> records.Setup:
        """Return the setup of its negotiation; a person and a ``model`` open as they choose."""
        by_rule = self.scientist in records.AUTOMATIC
        return records.Setup(
            scenario_id=pack.scenario_id,
            difficulty=pack.difficulty,
            seed=pack.seed,
            scientist=self.scientist,
            lab_manager=self.lab_manager,
            max_rounds=self.max_rounds,
            opening=(self.plan or pack.reference_protocol) if by_rule else None,
            model=model,
            own_lab=pack.own_lab,
            question=pack.question,
        )

    @property
    def is_run(self) -> bool:
        """Whether it is a course of a negotiation: a recorded one or a fork."""
        is_fork = self.moves and self.scientist in records.AUTOMATIC
        return self.recording is not None or bool(is_fork)

    @property
    def has_run(self) -> bool:
        """Whether its negotiation can be played again from it."""
        return self.is_run or bool(self.moves) or self.scientist in records.AUTOMATIC

    def replace(self, **changes: object) -> Self:
        return self.model_copy(update=changes)

    def with_plan(self, plan: Protocol | None, find: FindPack | None = None) -> Self:
        same = plan is not None and plan == self.pack(find).reference_protocol
        return self._anew(plan=None if same else plan, moves=self._kept_moves)

    def with_study(self, study: str, own: str | None = None) -> Self:
        """Return the case of another study; only a named lab of the user's own is kept."""
        own_lab = self.own_lab if self.own_lab.name else scenarios.LabOverrides()
        reset = {"question": scenarios.EvidenceAssumptions(), "registration": Registration()}
        return self._anew(study=study, own=own, plan=None, own_lab=own_lab, **reset)

    def with_lab(self, lab: str, seed: int) -> Self:
        """Return the same study and plan in another of its labs, without changes of the lab."""
        return self._anew(lab=lab, seed=seed, own_lab=scenarios.LabOverrides())

    def with_own(self, **values: object) -> Self:
        """Return the same plan with another ``own_lab`` or ``question``."""
        return self._anew(moves=self._kept_moves, **values)

    def restart(self, **players: object) -> Self:
        """Return this case with other players or rounds, and its negotiation from the start."""
        return self._anew(**players)

    @property
    def _kept_moves(self) -> tuple[records.Move, ...]:
        return self.moves if self.scientist is records.ScientistKind.PERSON else ()

    def _anew(self, **changes: object) -> Self:
        return self.replace(**{"recording": None, "moves": (), **changes})


class DraftCase(Case):
    """An unsaved case with its comparison tray: names and JSON."""

    beside: Annotated[tuple[tuple[str, str], ...], Field(max_length=MOST_SIDES), FailFast()] = ()

    @property
    def case(self) -> Case:
        return Case(**{name: getattr(self, name) for name in Case.model_fields})


def in_labs_of(study: scenarios.Study) -> FindPack:
    """Return a `FindPack` that always finds this study."""
    return lambda _, lab, seed, __: scenarios.pack_of(study, scenarios.Difficulty(lab), seed)


def on_the_shelf(study: str, lab: str, seed: int, own: str | None = None) -> scenarios.Pack:
    """Return a shipped study in its lab; raises ScenarioError if it does not exist."""
    if own is not None:
        fault = errors.Fault("scenario_id", f"'{study}' is not here", "open its file")
        raise errors.ScenarioError("studies of visitors", [fault])
    return scenarios.load_scenario(study, lab, seed)


@lru_cache(maxsize=8)
def _parsed(text: str) -> scenarios.Study:
    return scenarios.parse_study(text, "the study's file")


def _played_by(*scientists: records.ScientistKind) -> AfterValidator:
    seats = {"scientist": sorted(scientists), "lab_manager": records.RULED_LAB_MANAGERS}

    def check(case: Case) -> Case:
        for name, allowed in seats.items():
            if (value := getattr(case, name)) not in allowed:
                raise errors.Refusal(f"{name} is {value}", f"use {joined(allowed, 'or')}").error
        return case

    return AfterValidator(check)


RuleCase = Annotated[Case, _played_by(*records.AUTOMATIC)]  # needs no person and no model
JobCase = Annotated[Case, _played_by(*records.AUTOMATIC, records.ScientistKind.MODEL)]


def read_case(text: str) -> Case:
    """Return the case that `record_text` wrote; raises LibraryContentError."""
    return _short(read_record(Case, text))


def read_draft(text: str) -> DraftCase:
    return _short(read_record(DraftCase, text))


def _short(case: _C) -> _C:
    for fault in too_large(case.plan) if case.plan else ():
        problem = f"the plan: {fault.text}; shorten it, then save it again"
        raise errors.LibraryContentError(problem)
    return case


def record_text(record: Record, indent: int | None = 1) -> str:
    """Return a record as the text of a file, without default values."""
    text = record.model_dump(mode="json", exclude_defaults=True)
    return json.dumps({"format": FILE_FORMAT, **text}, ensure_ascii=False, indent=indent) + "\n"


def read_record(model: type[_R], text: str) -> _R:
    """Return the record that `record_text` wrote; raises LibraryContentError."""
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        for number in (fault["input"] for fault in faults if fault["loc"] == ("format",)):
            if fault := format_problem(number, FILE_FORMAT):
                raise errors.LibraryContentError(fault.text) from error
        problem = f"the text: {faults[0]['msg']}; load a file saved here"
        if faults[0]["type"] != "json_invalid":
            problem = str(record_error(error, model, "").faults[0])
        raise errors.LibraryContentError(problem) from error


class Side(NamedTuple):
    """A plan in its lab, or a negotiation by its final plan."""

    name: str
    plan: Assessment
    played: Negotiation | None  # that follows from the plan or led to it
    is_run: bool = False  # whether the negotiation is compared, not the plan


class Comparison(tuple[Side, ...], NotebookTable):
    """Two to four sides."""

    __slots__ = ()


def side_of(name: str, played: Assessment | Negotiation) -> Side:
    """Return a plan as a side, or a negotiation by its last plan on the table."""
    if isinstance(played, Assessment):
        return Side(name, played, play_case(played))
    if played.final_plan is None:
        raise errors.NegotiationError(
            "the negotiation has no plan on the table; put one forward first"
        )
    return Side(name, played.final_plan, played, is_run=True)


def play_case(plan: Assessment, case: Case | None = None) -> Negotiation | None:
    """Return a plan's negotiation by the players of ``case``; None if it needs a person."""
    case = case or Case.of(plan.pack, plan.plan)
    if not (case.scientist in records.AUTOMATIC or case.moves) or not plan.counts.samples:
        return None
    return play_moves(case.setup(plan.pack), case.moves, plan.pack)


def play_recording(plan: Assessment, key: str) -> Negotiation | None:
    """Return the shipped recording of this key, replayed; None if it is missing or differs."""
    for transcript in shipped_recordings():
        if transcript.recording and transcript.recording.key == key:
            with suppress(errors.TraceError):
                return replay(transcript, plan.pack)
    return None
