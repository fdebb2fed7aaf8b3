"""Shared data: protocols, actions, observations, and the seven dimensions.

Every model is immutable, refuses unknown keys, strips its text and repairs nothing: a number
written as text is refused. Amounts are credits, time is whole days, people are staff units.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, FailFast, Field, StringConstraints, model_validator

from replicalab import limits
from replicalab.errors import Refusal

if TYPE_CHECKING:
    import pandas as pd

Text = Annotated[str, StringConstraints(strip_whitespace=True)]
NonEmptyText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]

Count = Annotated[int, Field(strict=True, ge=0, le=limits.LARGEST_COUNT)]
Credits = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Flag = Annotated[bool, Field(strict=True)]
Labels = Annotated[list[NonEmptyText], FailFast()]  # each fault costs time and memory

_Label = Annotated[NonEmptyText, Field(max_length=limits.LONGEST_LABEL)]
_Question = Annotated[NonEmptyText, Field(max_length=limits.LONGEST_QUESTION)]
FewLabels = Annotated[list[_Label], Field(max_length=limits.MOST_LABELS), FailFast()]
Questions = Annotated[list[_Question], Field(max_length=limits.MOST_QUESTIONS), FailFast()]
Passage = Annotated[Text, Field(max_length=limits.LONGEST_TEXT)]


class Record(BaseModel):
    """Base of every model: immutable, closed to unknown keys, validated on construction."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _has_few_keys(cls, data: object) -> object:
        # Each unknown key would be a fault of its own, and a file may hold a million.
        if isinstance(data, dict) and len(data) > limits.MOST_KEYS:
            problem = f"{len(data):,} keys are in one place, at most {limits.MOST_KEYS} are read"
            raise Refusal(problem, "omit those that no file saved here has").error
        return data

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with some fields changed, validated and with nothing cached."""
        # pydantic's own copy lets any value in and keeps properties computed from the old ones.
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        record = copy.deepcopy(fields) if deep else fields
        return type(self).model_validate({**record, **(update or {})})


_RENDERER: Final = "replicalab.render.notebook"


class NotebookView:
    """An object that a notebook shows as the pages do.

    The core imports no panel and no pandas, so the renderer is imported by name when it is needed.
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        html: str = import_module(_RENDERER).html_of(self)
        return html


class NotebookTable(NotebookView):
    """An object with a table, too."""

    __slots__ = ()

    def frame(self) -> pd.DataFrame:
        frame: pd.DataFrame = import_module(_RENDERER).frame_of(self)
        return frame


class Dimension(StrEnum):
    """The seven dimensions of a check, in the order of display."""

    PROTOCOL = "protocol"
    BUDGET = "budget"
    EQUIPMENT = "equipment"
    REAGENTS = "reagents"
    SCHEDULE = "schedule"
    STAFF = "staff"
    POLICY = "policy"


DIMENSIONS: Final = tuple(Dimension)
LAB_DIMENSIONS: Final = tuple(d for d in Dimension if d not in ("protocol", "policy"))
"""The dimensions that are the lab's own constraints."""


class Protocol(Record):
    """A plan at planning level; the duration is in whole days."""

    sample_size: Count
    controls: Labels
    technique: NonEmptyText
    duration_days: Count
    required_equipment: Labels
    required_reagents: Labels
    rationale: NonEmptyText


class ProtocolField(NamedTuple):
    """A field of the protocol, for people and models."""

    label: str
    form: str  # of its value in a model's answer
    help: str = ""  # of its input; ``unit`` is replaced by the study's unit of n
    noun: str = ""  # of the counted things
    category: str = ""  # of a list's items
    if_empty: str = ""  # the remedy for an empty text


WHOLE_NUMBER: Final = "whole number, 0 or more"
LIST_OF_TEXTS: Final = "list of strings"
TEXT: Final = "string"
PROTOCOL_ROWS: Final = {
    "sample_size": ProtocolField("Sample size", WHOLE_NUMBER, "In {unit}.", noun="sample"),
    "controls": ProtocolField("Controls", LIST_OF_TEXTS),
    "technique": ProtocolField("Technique", TEXT, if_empty="Describe the method in a few words."),
    "duration_days": ProtocolField("Duration", WHOLE_NUMBER, "Whole days in the lab.", noun="day"),
    "required_equipment": ProtocolField("Equipment", LIST_OF_TEXTS, category="equipment"),
    "required_reagents": ProtocolField("Reagents", LIST_OF_TEXTS, category="reagent"),
    "rationale": ProtocolField(
        "Rationale", TEXT, if_empty="Write why this plan answers the question."
    ),
}
"""The fields of `Protocol`, in its order."""


PROTOCOL_FIELDS: Final = tuple(PROTOCOL_ROWS)
NUMBER_FIELDS, LIST_FIELDS, TEXT_FIELDS = (
    tuple(name for name, row in PROTOCOL_ROWS.items() if row.form == form)
    for form in (WHOLE_NUMBER, LIST_OF_TEXTS, TEXT)
)
FIELD_LABELS: Final = {name: row.label for name, row in PROTOCOL_ROWS.items()}


def texts_of(protocol: Protocol) -> list[tuple[str, str]]:
    """Return every text of a plan with its field: technique, rationale, then the labels."""
    texts = [(name, getattr(protocol, name)) for name in TEXT_FIELDS]
    return texts + [(name, label) for name in LIST_FIELDS for label in getattr(protocol, name)]


def revise(protocol: Protocol, **changes: object) -> Protocol:
    """Return a plan with changes; raises ValidationError if a value is not allowed."""
    return protocol.model_copy(update=changes)


def too_large(protocol: Protocol, term: Callable[[str], str] = str) -> list[Refusal]:
    """Return the parts of a plan above the planning limits; ``term`` words the labels."""
    most, size = limits.LARGEST_PLANNED, text_bytes(protocol)
    faults = [
        Refusal(
            f"{FIELD_LABELS[field]} is {value:,}", f"at most {most:,} can be planned here", field
        )
        for field in NUMBER_FIELDS
        if (value := getattr(protocol, field)) > most
    ]
    faults += too_long(protocol, term)
    if size > (most := limits.MOST_PLAN_BYTES):
        faults.append(Refusal(f"The plan's texts take {size:,} bytes", f"at most {most:,} fit"))
    return faults


def too_long(protocol: Protocol, term: Callable[[str], str] = str) -> list[Refusal]:
    """Return the lists and texts of a plan above their limits."""
    sizes: list[tuple[str, str, int, str, int]] = []
    for field in TEXT_FIELDS:
        size = len(getattr(protocol, field))
        sizes.append((field, "has", size, "characters", limits.LONGEST_TEXT))
    for field in LIST_FIELDS:
        labels = getattr(protocol, field)
        longest = max(map(len, labels), default=0)
        sizes.append((field, "has", len(labels), "entries", limits.MOST_LABELS))
        sizes.append((field, "has an entry of", longest, "characters", limits.LONGEST_LABEL))
    return [
        Refusal(
            f"{term(FIELD_LABELS[field])} {has} {size:,} {noun}", f"at most {most:,} fit", field
        )
        for field, has, size, noun, most in sizes
        if size > most
    ]


def text_bytes(protocol: Protocol) -> int:
    return len("".join(text for _, text in texts_of(protocol)).encode("utf-8", "replace"))


class ScientistActionType(StrEnum):
    """The Scientist's actions."""

    PROPOSE_PROTOCOL = "propose_protocol"
    REVISE_PROTOCOL = "revise_protocol"
    REQUEST_INFO = "request_info"
    ACCEPT = "accept"


_WITH_A_PLAN: Final = (ScientistActionType.PROPOSE_PROTOCOL, ScientistActionType.REVISE_PROTOCOL)


class ScientistAction(Record):
    """One turn of the Scientist.

    propose_protocol and revise_protocol carry a whole plan and no questions; request_info carries
    only questions; accept carries nothing.
    """

    action_type: ScientistActionType
    sample_size: Count
    controls: FewLabels
    technique: Passage
    duration_days: Count
    required_equipment: FewLabels
    required_reagents: FewLabels
    questions: Questions
    rationale: Passage

    @model_validator(mode="after")
    def _fields_fit_the_action(self) -> Self:
        kind = self.action_type
        filled = [name for name in PROTOCOL_FIELDS if getattr(self, name)]
        if kind in _WITH_A_PLAN:
            if self.sample_size < 1:
                raise ValueError(f"{kind} needs sample_size >= 1, got {self.sample_size}")
            for name in TEXT_FIELDS:
                if name not in filled:
                    raise ValueError(f"{kind} needs a {name}, got an empty one")
        elif filled:
            raise ValueError(f"{kind} takes no plan; leave these empty or 0: {', '.join(filled)}")
        if kind is ScientistActionType.REQUEST_INFO and not self.questions:
            raise ValueError("request_info needs at least one question")
        if kind is not ScientistActionType.REQUEST_INFO and self.questions:
            raise ValueError(f"{kind} takes no questions; leave questions empty")
        return self

    @property
    def protocol(self) -> Protocol | None:
        """The plan of this action, None for request_info and accept."""
        if self.action_type not in _WITH_A_PLAN:
            return None
        return Protocol(**{name: getattr(self, name) for name in PROTOCOL_FIELDS})


def plan_action(
    action_type: ScientistActionType, protocol: Protocol, **changes: object
) -> ScientistAction:
    """Return the action that puts a plan forward; raises ValidationError without samples."""
    plan = {**vars(protocol), **changes}
    return ScientistAction.model_validate({"action_type": action_type, **plan, "questions": []})


_EMPTY: Final = {WHOLE_NUMBER: 0, LIST_OF_TEXTS: [], TEXT: ""}
ACCEPT_ACTION: Final = ScientistAction.model_validate(
    {name: _EMPTY[row.form] for name, row in PROTOCOL_ROWS.items()}
    | {"action_type": ScientistActionType.ACCEPT, "questions": []}
)


class LabManagerActionType(StrEnum):
    """The Lab Manager's answers."""

    REPORT_FEASIBILITY = "report_feasibility"
    SUGGEST_ALTERNATIVE = "suggest_alternative"
    REJECT = "reject"
    ACCEPT = "accept"


class LabManagerAction(Record):
    """One answer of the Lab Manager. ``feasible`` here means lab-feasible: the five lab flags."""

    action_type: LabManagerActionType
    feasible: Flag
    budget_ok: Flag
    equipment_ok: Flag
    reagents_ok: Flag
    schedule_ok: Flag
    staff_ok: Flag
    suggested_technique: Text
    suggested_sample_size: Count
    suggested_controls: list[NonEmptyText]
    explanation: NonEmptyText

    @model_validator(mode="after")
    def _fields_fit_the_action(self) -> Self:
        failing = [d.value for d in LAB_DIMENSIONS if not getattr(self, f"{d}_ok")]
        if self.feasible == bool(failing):
            names = ", ".join(failing) or "none"
            raise ValueError(
                f"feasible is {self.feasible} but the lab flags that fail are: {names}"
            )
        texts = self.suggested_technique, self.suggested_controls
        suggested = any((*texts, self.suggested_sample_size))
        suggests = self.action_type is LabManagerActionType.SUGGEST_ALTERNATIVE
        if suggested and not suggests:
            raise ValueError(f"{self.action_type} takes no suggested_* values; leave them empty")
        if suggests and not suggested:
            raise ValueError("suggest_alternative needs at least one suggested_* value")
        accepts = self.action_type is LabManagerActionType.ACCEPT
        reports = self.action_type is LabManagerActionType.REPORT_FEASIBILITY
        if not reports and self.feasible != accepts:
            raise ValueError(f"{self.action_type} needs feasible = {accepts}")
        return self


class Role(StrEnum):
    """The speakers of a conversation."""

    SCIENTIST = "scientist"
    LAB_MANAGER = "lab_manager"
    SYSTEM = "system"


class ConversationEntry(Record):
    """One line of the conversation; ``action_type`` is None if it is no action."""

    role: Role
    message: NonEmptyText
    round_number: Count
    action_type: NonEmptyText | None


class ScientistObservation(Record):
    """The Scientist's view before a turn, without the hidden reference.

    ``suggested_protocol`` is the Lab Manager's standing offer.
    """

    paper_title: NonEmptyText
    paper_hypothesis: NonEmptyText
    paper_method: NonEmptyText
    paper_key_finding: NonEmptyText
    experiment_goal: NonEmptyText
    conversation_history: list[ConversationEntry]
    current_protocol: Protocol | None
    round_number: Count
    max_rounds: Count
    suggested_protocol: Protocol | None = None


class LabManagerObservation(Record):
    """The Lab Manager's view before a turn: the lab's means and the plan."""

    budget_total: Credits
    budget_remaining: Credits
    equipment_available: list[NonEmptyText]
    equipment_booked: list[NonEmptyText]
    reagents_in_stock: list[NonEmptyText]
    reagents_out_of_stock: list[NonEmptyText]
    staff_count: Count
    time_limit_days: Count
    safety_restrictions: list[NonEmptyText]
    conversation_history: list[ConversationEntry]
    current_protocol: Protocol | None
    round_number: Count
    max_rounds: Count
