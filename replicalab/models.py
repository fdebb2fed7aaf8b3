"""The data that everyone shares: protocols, actions, observations, and the seven dimensions.

Every model is immutable, refuses unknown keys, strips its text and repairs nothing: a number
written as text is refused rather than read. Amounts are credits, time is whole days, people are
staff units.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, FailFast, Field, StringConstraints, model_validator

from replicalab import limits

Text = Annotated[str, StringConstraints(strip_whitespace=True)]
NonEmptyText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]

Count = Annotated[int, Field(strict=True, ge=0, le=limits.LARGEST_COUNT)]
Credits = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Flag = Annotated[bool, Field(strict=True)]
Labels = Annotated[list[NonEmptyText], FailFast()]
"""Labels; of many faults only the first is reported, as each costs time and memory."""


# --- how large a plan may be: what the pages, the links and the study files take ------------


FewLabels = Annotated[
    list[Annotated[NonEmptyText, Field(max_length=limits.LONGEST_LABEL)]],
    Field(max_length=limits.MOST_LABELS),
    FailFast(),
]
Questions = Annotated[
    list[Annotated[NonEmptyText, Field(max_length=limits.LONGEST_QUESTION)]],
    Field(max_length=limits.MOST_QUESTIONS),
    FailFast(),
]
Passage = Annotated[Text, Field(max_length=limits.LONGEST_TEXT)]


class Record(BaseModel):
    """Base of every model here: immutable, closed to unknown keys, validated on construction."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _has_few_keys(cls, data: object) -> object:
        # Each unknown key would be a fault of its own, and a file may hold a million.
        if isinstance(data, dict) and len(data) > limits.MOST_KEYS:
            raise ValueError(
                f"{len(data):,} keys stand in one place, and {limits.MOST_KEYS} are read at most; "
                "leave those out that no file saved here has"
            )
        return data

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with some fields changed, validated and with nothing cached."""
        # pydantic's own copy lets any value in and keeps what was computed from the old ones.
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        record = copy.deepcopy(fields) if deep else fields
        return type(self).model_validate({**record, **(update or {})})


class Dimension(StrEnum):
    """The seven things a plan is checked for, in the order they are always shown."""

    PROTOCOL = "protocol"
    BUDGET = "budget"
    EQUIPMENT = "equipment"
    REAGENTS = "reagents"
    SCHEDULE = "schedule"
    STAFF = "staff"
    POLICY = "policy"


DIMENSIONS: Final = tuple(Dimension)
LAB_DIMENSIONS: Final = (
    Dimension.BUDGET,
    Dimension.EQUIPMENT,
    Dimension.REAGENTS,
    Dimension.SCHEDULE,
    Dimension.STAFF,
)
"""The dimensions that are the lab's own constraints: not ``protocol``, not ``policy``."""


class Protocol(Record):
    """A plan: how many samples, for how many days, with which controls and items, and why.

    Attributes:
        sample_size: how many samples.
        controls: which controls are run.
        technique: how it is done, at planning level.
        duration_days: whole days.
        required_equipment: what must be free.
        required_reagents: what must be in stock.
        rationale: why the plan is as it is.
    """

    sample_size: Count
    controls: Labels
    technique: NonEmptyText
    duration_days: Count
    required_equipment: Labels
    required_reagents: Labels
    rationale: NonEmptyText


class ProtocolField(NamedTuple):
    """A field of the protocol, for people and models.

    Attributes:
        label: its name.
        form: the form of its value in a model's answer.
        help: what is typed into it; ``unit`` stands for the study's unit of n.
        noun: what a number counts.
        category: the kind of item that a list holds.
        if_empty: what to do if a text is empty.
    """

    label: str
    form: str
    help: str = ""
    noun: str = ""
    category: str = ""
    if_empty: str = ""


WHOLE_NUMBER: Final = "whole number, 0 or more"
LIST_OF_TEXTS: Final = "list of strings"
TEXT: Final = "string"
PROTOCOL_ROWS: Final = {
    "sample_size": ProtocolField("Sample size", WHOLE_NUMBER, "In {unit}.", noun="sample"),
    "controls": ProtocolField("Controls", LIST_OF_TEXTS),
    "technique": ProtocolField("Technique", TEXT, if_empty="Write in a few words what is done."),
    "duration_days": ProtocolField("Duration", WHOLE_NUMBER, "Whole days in the lab.", noun="day"),
    "required_equipment": ProtocolField("Equipment", LIST_OF_TEXTS, category="equipment"),
    "required_reagents": ProtocolField("Reagents", LIST_OF_TEXTS, category="reagent"),
    "rationale": ProtocolField(
        "Rationale", TEXT, if_empty="Write why this plan answers the question."
    ),
}
"""The fields of `Protocol`, in its order."""


def _of_form(form: str) -> tuple[str, ...]:
    return tuple(name for name, row in PROTOCOL_ROWS.items() if row.form == form)


PROTOCOL_FIELDS: Final = tuple(PROTOCOL_ROWS)
NUMBER_FIELDS: Final = _of_form(WHOLE_NUMBER)
LIST_FIELDS: Final = _of_form(LIST_OF_TEXTS)
TEXT_FIELDS: Final = _of_form(TEXT)
FIELD_LABELS: Final = {name: row.label for name, row in PROTOCOL_ROWS.items()}


def texts_of(protocol: Protocol) -> list[tuple[str, str]]:
    """Return every text of a plan with its field: technique, rationale, then the labels."""
    texts = [(name, getattr(protocol, name)) for name in TEXT_FIELDS]
    return texts + [(name, label) for name in LIST_FIELDS for label in getattr(protocol, name)]


def revise(protocol: Protocol, **changes: object) -> Protocol:
    """Return a copy of ``protocol`` with ``changes``, built through validation.

    Raises:
        pydantic.ValidationError: a changed value is not allowed.
    """
    return protocol.model_copy(update=changes)


def too_large(protocol: Protocol) -> list[str]:
    """Return what of a plan is larger than can be planned here, each with value and limit."""
    problems = [
        f"{FIELD_LABELS[field]} is {value:,}; "
        f"at most {limits.LARGEST_PLANNED:,} can be planned here"
        for field, value in dict(protocol).items()
        if isinstance(value, int) and value > limits.LARGEST_PLANNED
    ]
    problems += too_long(protocol)
    size = text_bytes(protocol)
    if size > limits.MOST_PLAN_BYTES:
        problems.append(
            f"The plan's texts take {size:,} bytes; at most {limits.MOST_PLAN_BYTES:,} fit"
        )
    return problems


def too_long(protocol: Protocol) -> list[str]:
    """Return which list or text of a plan is longer than a plan can need, and its limit."""
    problems = []
    for field, value in dict(protocol).items():
        name = FIELD_LABELS[field]
        if isinstance(value, str) and len(value) > limits.LONGEST_TEXT:
            problems.append(
                f"{name} has {len(value):,} characters; at most {limits.LONGEST_TEXT:,} fit"
            )
        elif isinstance(value, list):
            if len(value) > limits.MOST_LABELS:
                problems.append(
                    f"{name} has {len(value):,} entries; at most {limits.MOST_LABELS} fit"
                )
            if (longest := max(map(len, value), default=0)) > limits.LONGEST_LABEL:
                problems.append(
                    f"{name} has an entry of {longest:,} characters; "
                    f"at most {limits.LONGEST_LABEL} fit"
                )
    return problems


def text_bytes(protocol: Protocol) -> int:
    """Return how many bytes a plan's texts take together (UTF-8)."""
    return len("".join(text for _, text in texts_of(protocol)).encode("utf-8", "replace"))


class ScientistActionType(StrEnum):
    """What the Scientist may do in a turn."""

    PROPOSE_PROTOCOL = "propose_protocol"
    REVISE_PROTOCOL = "revise_protocol"
    REQUEST_INFO = "request_info"
    ACCEPT = "accept"


class ScientistAction(Record):
    """One turn of the Scientist.

    propose_protocol and revise_protocol carry a whole plan and no questions; request_info carries
    questions and nothing else; accept carries nothing at all. None of its texts is without bound.
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
        if self._has_a_plan:
            if self.sample_size < 1:
                raise ValueError(f"{kind} needs sample_size >= 1, got {self.sample_size}")
            for name in ("technique", "rationale"):
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
    def _has_a_plan(self) -> bool:
        proposals = (ScientistActionType.PROPOSE_PROTOCOL, ScientistActionType.REVISE_PROTOCOL)
        return self.action_type in proposals

    @property
    def protocol(self) -> Protocol | None:
        """The plan this action carries, or None for request_info and accept."""
        if not self._has_a_plan:
            return None
        return Protocol(**{name: getattr(self, name) for name in PROTOCOL_FIELDS})


def plan_action(
    action_type: ScientistActionType, protocol: Protocol, **changes: object
) -> ScientistAction:
    """Return the propose_protocol or revise_protocol action that carries ``protocol``, changed so.

    Raises:
        pydantic.ValidationError: the plan has no samples, which no proposal may have.
    """
    plan = {**vars(protocol), **changes}
    return ScientistAction.model_validate({"action_type": action_type, **plan, "questions": []})


ACCEPT_ACTION: Final = ScientistAction(
    action_type=ScientistActionType.ACCEPT,
    sample_size=0,
    controls=[],
    technique="",
    duration_days=0,
    required_equipment=[],
    required_reagents=[],
    questions=[],
    rationale="",
)


class LabManagerActionType(StrEnum):
    """What the Lab Manager may answer."""

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
            raise ValueError(
                f"feasible is {self.feasible} but the lab flags that fail are: "
                f"{', '.join(failing) or 'none'}"
            )
        suggested = bool(
            self.suggested_technique or self.suggested_sample_size or self.suggested_controls
        )
        suggests = self.action_type is LabManagerActionType.SUGGEST_ALTERNATIVE
        if suggested and not suggests:
            raise ValueError(f"{self.action_type} takes no suggested_* values; leave them empty")
        if suggests and not suggested:
            raise ValueError("suggest_alternative needs at least one suggested_* value")
        expected = {
            LabManagerActionType.ACCEPT: True,
            LabManagerActionType.SUGGEST_ALTERNATIVE: False,
            LabManagerActionType.REJECT: False,
        }.get(self.action_type, self.feasible)
        if self.feasible != expected:
            raise ValueError(f"{self.action_type} needs feasible = {expected}")
        return self


class Role(StrEnum):
    """Who speaks in a conversation."""

    SCIENTIST = "scientist"
    LAB_MANAGER = "lab_manager"
    SYSTEM = "system"


class ConversationEntry(Record):
    """One line of the conversation; ``action_type`` is None only for lines that are no action."""

    role: Role
    message: NonEmptyText
    round_number: Count
    action_type: NonEmptyText | None


class ScientistObservation(Record):
    """What the Scientist sees in a turn; the hidden reference is never part of it.

    ``suggested_protocol`` is the Lab Manager's standing offer, None when there is none.
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
    """What the Lab Manager sees in a turn: the lab's means and the plan on the table."""

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
