import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from replicalab.models import (
    ACCEPT_ACTION,
    DIMENSIONS,
    LAB_DIMENSIONS,
    PROTOCOL_FIELDS,
    ConversationEntry,
    LabManagerAction,
    LabManagerActionType,
    LabManagerObservation,
    Protocol,
    Record,
    ScientistAction,
    ScientistActionType,
    ScientistObservation,
    plan_action,
    revise,
)
from tests.factories import (
    make_entry,
    make_lab_manager_action,
    make_lab_manager_observation,
    make_protocol,
    make_scientist_action,
    make_scientist_observation,
)
from tests.strategies import (
    entries,
    lab_manager_actions,
    lab_manager_observations,
    protocols,
    scientist_actions,
    scientist_observations,
)

RECORDS: tuple[Record, ...] = (
    make_protocol(),
    make_scientist_action(),
    make_lab_manager_action(),
    make_entry(),
    make_scientist_observation(),
    make_lab_manager_observation(),
)
COUNTS = (
    (Protocol, "sample_size"),
    (Protocol, "duration_days"),
    (ScientistAction, "sample_size"),
    (ScientistAction, "duration_days"),
    (LabManagerAction, "suggested_sample_size"),
    (ConversationEntry, "round_number"),
    (ScientistObservation, "round_number"),
    (ScientistObservation, "max_rounds"),
    (LabManagerObservation, "staff_count"),
    (LabManagerObservation, "time_limit_days"),
    (LabManagerObservation, "round_number"),
    (LabManagerObservation, "max_rounds"),
)
LABEL_LISTS = (
    (Protocol, "controls"),
    (Protocol, "required_equipment"),
    (Protocol, "required_reagents"),
    (ScientistAction, "controls"),
    (ScientistAction, "required_equipment"),
    (ScientistAction, "required_reagents"),
    (ScientistAction, "questions"),
    (LabManagerAction, "suggested_controls"),
    (LabManagerObservation, "equipment_available"),
    (LabManagerObservation, "equipment_booked"),
    (LabManagerObservation, "reagents_in_stock"),
    (LabManagerObservation, "reagents_out_of_stock"),
    (LabManagerObservation, "safety_restrictions"),
)
NON_EMPTY = (
    (Protocol, "technique"),
    (Protocol, "rationale"),
    (LabManagerAction, "explanation"),
    (ConversationEntry, "message"),
    (ConversationEntry, "action_type"),
    (ScientistObservation, "paper_title"),
    (ScientistObservation, "paper_hypothesis"),
    (ScientistObservation, "paper_method"),
    (ScientistObservation, "paper_key_finding"),
    (ScientistObservation, "experiment_goal"),
)
FLAGS = ("feasible", *(f"{dimension}_ok" for dimension in LAB_DIMENSIONS))
EXAMPLES = {type(record): record for record in RECORDS}

Case = tuple[type[Record], str]


def problems(model: type[Record], **changes: object) -> list[str]:
    """Return ``field`` (or ``field.0``) of each problem that ``changes`` cause; [] when valid."""
    try:
        model.model_validate({**EXAMPLES[model].model_dump(), **changes})
    except ValidationError as error:
        return [".".join(map(str, item["loc"])) for item in error.errors()]
    return []


def complaint(model: type[Record], **changes: object) -> str:
    """Return the one message of a cross-field rule that ``changes`` break."""
    with pytest.raises(ValidationError) as caught:
        model.model_validate({**EXAMPLES[model].model_dump(), **changes})
    (problem,) = caught.value.errors()
    assert problem["loc"] == ()
    return problem["msg"].removeprefix("Value error, ")


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_models_refuse_further_keys(record: Record) -> None:
    assert problems(type(record), surprise=1) == ["surprise"]


REQUIRED = [
    (type(record), name)
    for record in RECORDS
    for name in type(record).model_fields
    if name != "suggested_protocol"
]


@pytest.mark.parametrize(("model", "field"), REQUIRED)
def test_models_require(model: type[Record], field: str) -> None:
    data = EXAMPLES[model].model_dump()
    del data[field]
    with pytest.raises(ValidationError) as caught:
        model.model_validate(data)
    assert [item["loc"] for item in caught.value.errors()] == [(field,)]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_models_are_immutable(record: Record) -> None:
    field = next(iter(type(record).model_fields))
    with pytest.raises(ValidationError, match="frozen"):
        setattr(record, field, getattr(record, field))


@pytest.mark.parametrize(("model", "field"), COUNTS)
@pytest.mark.parametrize("value", ["12", True, 12.0, 12.5, None, -1, [12]])
def test_models_refuse_as_a_count(model: type[Record], field: str, value: object) -> None:
    assert problems(model, **{field: value}) == [field]


@pytest.mark.parametrize(("model", "field"), LABEL_LISTS)
@pytest.mark.parametrize("entry", ["", " ", "\n\t", 1, None])
def test_models_refuse_as_a_list_entry(model: type[Record], field: str, entry: object) -> None:
    assert problems(model, **{field: ["fine", entry]}) == [f"{field}.1"]


@pytest.mark.parametrize(("model", "field"), LABEL_LISTS)
@pytest.mark.parametrize("value", ["dark control", {"a": 1}, None])
def test_models_refuse_as_a_list(model: type[Record], field: str, value: object) -> None:
    assert problems(model, **{field: value}) == [field]


@pytest.mark.parametrize(("model", "field"), NON_EMPTY)
@pytest.mark.parametrize("value", ["", "  ", "\n", 3, True])
def test_models_refuse_as_text(model: type[Record], field: str, value: object) -> None:
    assert problems(model, **{field: value}) == [field]


@pytest.mark.parametrize("field", FLAGS)
@pytest.mark.parametrize("value", [1, 0, "true", None])
def test_models_refuse_as_a_flag(field: str, value: object) -> None:
    assert problems(LabManagerAction, **{field: value}) == [field]


@pytest.mark.parametrize("field", ["budget_total", "budget_remaining"])
@pytest.mark.parametrize("value", [-0.01, float("nan"), float("inf"), None, "12", True])
def test_models_refuse_as_credits(field: str, value: object) -> None:
    assert problems(LabManagerObservation, **{field: value}) == [field]


@pytest.mark.parametrize("value", [0, 0.0, 12, 12.5])
def test_models_take_as_credits(value: float) -> None:
    assert make_lab_manager_observation(budget_remaining=value).budget_remaining == value


def test_models_strip_text_and_list_entries() -> None:
    protocol = make_protocol(technique=" count\n", controls=["\tdark  control "])
    assert protocol.technique == "count"
    assert protocol.controls == ["dark  control"]


def test_models_repair_nothing_else() -> None:
    protocol = make_protocol(controls=["b", "A", "b"], technique="Two  Spaces")
    assert protocol.controls == ["b", "A", "b"]
    assert protocol.technique == "Two  Spaces"


@pytest.mark.parametrize("field", ["sample_size", "duration_days"])
def test_protocol_takes_zero(field: str) -> None:
    assert problems(Protocol, **{field: 0}) == []


@pytest.mark.parametrize("field", ["controls", "required_equipment", "required_reagents"])
def test_protocol_takes_an_empty_list(field: str) -> None:
    assert problems(Protocol, **{field: []}) == []


def test_scientist_action_types_are_in_order() -> None:
    assert list(ScientistActionType) == [
        "propose_protocol",
        "revise_protocol",
        "request_info",
        "accept",
    ]


def test_lab_manager_action_types_are_in_order() -> None:
    assert list(LabManagerActionType) == [
        "report_feasibility",
        "suggest_alternative",
        "reject",
        "accept",
    ]


def test_dimensions_are_in_order() -> None:
    assert list(LAB_DIMENSIONS) == ["budget", "equipment", "reagents", "schedule", "staff"]
    assert list(DIMENSIONS) == ["protocol", *LAB_DIMENSIONS, "policy"]


PLANS = ("propose_protocol", "revise_protocol")
EMPTY = ACCEPT_ACTION.model_dump()
FILLED = {
    "sample_size": 1,
    "controls": ["dark control"],
    "technique": "count",
    "duration_days": 1,
    "required_equipment": ["light meter"],
    "required_reagents": ["agar plates"],
    "rationale": "because",
}


@pytest.mark.parametrize("kind", PLANS)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sample_size": 0}, "{} needs sample_size >= 1, got 0"),
        ({"technique": " "}, "{} needs a technique, got an empty one"),
        ({"rationale": ""}, "{} needs a rationale, got an empty one"),
        ({"questions": ["why?"]}, "{} takes no questions; leave questions empty"),
    ],
)
def test_plan_action_refuses(kind: str, changes: dict[str, object], message: str) -> None:
    assert complaint(ScientistAction, action_type=kind, **changes) == message.format(kind)


@pytest.mark.parametrize("kind", PLANS)
@pytest.mark.parametrize(
    "changes",
    [
        {"sample_size": 1},
        {"controls": []},
        {"duration_days": 0},
        {"required_equipment": []},
        {"required_reagents": []},
    ],
)
def test_plan_action_takes(kind: str, changes: dict[str, object]) -> None:
    assert problems(ScientistAction, action_type=kind, **changes) == []


@pytest.mark.parametrize("kind", ["request_info", "accept"])
@pytest.mark.parametrize("field", PROTOCOL_FIELDS)
def test_other_actions_take_no_plan(kind: str, field: str) -> None:
    questions = ["why?"] if kind == "request_info" else []
    changes = {
        **EMPTY,
        "action_type": kind,
        "questions": questions,
        field: FILLED[field],
    }
    assert complaint(ScientistAction, **changes) == (
        f"{kind} takes no plan; leave these empty or 0: {field}"
    )


def test_request_info_needs_a_question() -> None:
    changes = {**EMPTY, "action_type": "request_info"}
    assert complaint(ScientistAction, **changes) == "request_info needs at least one question"
    assert problems(ScientistAction, **{**changes, "questions": ["why?"]}) == []


def test_accept_takes_no_questions() -> None:
    assert complaint(ScientistAction, **{**EMPTY, "questions": ["why?"]}) == (
        "accept takes no questions; leave questions empty"
    )


@given(protocols(sample_size=st.integers(1, 100)), st.sampled_from(PLANS))
def test_plan_action_carries_the_plan_and_gives_it_back(protocol: Protocol, kind: str) -> None:
    action = plan_action(ScientistActionType(kind), protocol)
    assert action.action_type == kind
    assert action.protocol == protocol


def test_plan_action_refuses_a_plan_without_samples() -> None:
    with pytest.raises(ValidationError, match="needs sample_size >= 1"):
        plan_action(ScientistActionType.PROPOSE_PROTOCOL, make_protocol(sample_size=0))


@pytest.mark.parametrize(
    "action",
    [
        ACCEPT_ACTION,
        ScientistAction.model_validate(
            {**EMPTY, "action_type": "request_info", "questions": ["why?"]}
        ),
    ],
)
def test_action_without_a_plan_has_no_protocol(action: ScientistAction) -> None:
    assert action.protocol is None


def test_revise_builds_the_copy_through_validation() -> None:
    protocol = make_protocol()
    assert revise(protocol, sample_size=3) == make_protocol(sample_size=3)
    assert protocol == make_protocol()
    with pytest.raises(ValidationError):
        revise(protocol, sample_size=-3)
    with pytest.raises(ValidationError):
        revise(protocol, sample=3)


def test_revise_shares_no_list_with_the_original() -> None:
    protocol = make_protocol()
    revise(protocol).controls.append("late")
    assert protocol == make_protocol()


FAILS = {"feasible": False, "budget_ok": False}
OFFER = {**FAILS, "action_type": "suggest_alternative", "suggested_sample_size": 5}


@pytest.mark.parametrize("dimension", LAB_DIMENSIONS)
def test_lab_manager_action_feasible_is_the_five_flags(dimension: str) -> None:
    flag = {f"{dimension}_ok": False}
    reject = {"action_type": "reject", "feasible": False}
    assert problems(LabManagerAction, **reject, **flag) == []
    assert complaint(LabManagerAction, action_type="report_feasibility", **flag) == (
        f"feasible is True but the lab flags that fail are: {dimension}"
    )


def test_lab_manager_action_is_feasible_when_no_flag_fails() -> None:
    assert complaint(LabManagerAction, action_type="reject", feasible=False) == (
        "feasible is False but the lab flags that fail are: none"
    )


@pytest.mark.parametrize(
    "suggested",
    [
        {"suggested_technique": "count"},
        {"suggested_sample_size": 1},
        {"suggested_controls": ["dark control"]},
    ],
)
@pytest.mark.parametrize(
    ("kind", "flags"), [("report_feasibility", {}), ("accept", {}), ("reject", FAILS)]
)
def test_only_an_offer_may_suggest(
    kind: str, flags: dict[str, object], suggested: dict[str, object]
) -> None:
    assert complaint(LabManagerAction, action_type=kind, **flags, **suggested) == (
        f"{kind} takes no suggested_* values; leave them empty"
    )
    offer = {"action_type": "suggest_alternative", **FAILS, **suggested}
    assert problems(LabManagerAction, **offer) == []


def test_an_offer_must_suggest_something() -> None:
    assert complaint(LabManagerAction, **{**OFFER, "suggested_sample_size": 0}) == (
        "suggest_alternative needs at least one suggested_* value"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"action_type": "accept", **FAILS}, "accept needs feasible = True"),
        ({"action_type": "reject"}, "reject needs feasible = False"),
        (
            {**OFFER, "feasible": True, "budget_ok": True},
            "suggest_alternative needs feasible = False",
        ),
    ],
)
def test_lab_manager_action_kind_fits_feasible(changes: dict[str, object], message: str) -> None:
    assert complaint(LabManagerAction, **changes) == message


@pytest.mark.parametrize("flags", [{}, FAILS])
def test_a_report_may_be_feasible_or_not(flags: dict[str, object]) -> None:
    assert problems(LabManagerAction, action_type="report_feasibility", **flags) == []


@pytest.mark.parametrize("role", ["scientist", "lab_manager", "system"])
def test_entry_takes_the_role(role: str) -> None:
    assert make_entry(role=role).role == role


@pytest.mark.parametrize("role", ["judge", "Scientist", "", None])
def test_entry_refuses_the_role(role: object) -> None:
    assert problems(ConversationEntry, role=role) == ["role"]


def test_entry_action_type_may_be_none() -> None:
    assert make_entry(action_type=None).action_type is None


@pytest.mark.parametrize("model", [ScientistObservation, LabManagerObservation])
def test_observation_protocol_may_be_none_or_a_plan(model: type[Record]) -> None:
    assert problems(model, current_protocol=None) == []
    assert problems(model, current_protocol=make_protocol()) == []
    assert problems(model, current_protocol="none") == ["current_protocol"]


def test_scientist_observation_has_no_offer_by_default() -> None:
    assert make_scientist_observation().suggested_protocol is None


@given(
    st.one_of(
        protocols(),
        scientist_actions(),
        lab_manager_actions(),
        entries(),
        scientist_observations(),
        lab_manager_observations(),
    )
)
def test_models_survive_the_round_trip_in_python_and_in_json(record: Record) -> None:
    model = type(record)
    assert model.model_validate(record.model_dump()) == record
    assert model.model_validate(record.model_dump(mode="json")) == record
    assert model.model_validate_json(record.model_dump_json()) == record
