"""The document's models: what each field takes, and what must fit together."""

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
EXAMPLES = {type(record): record for record in RECORDS}
FIELDS = [(type(record), name) for record in RECORDS for name in type(record).model_fields]
LAB_FLAGS = [f"{dimension}_ok" for dimension in LAB_DIMENSIONS]
ITEMS = "controls required_equipment required_reagents"

FAILS = {"feasible": False, "budget_ok": False}

Refusal = tuple[type[Record], str, list[object], str]


def refusals(
    values: list[object], fields: dict[type[Record], str], entry: str = ""
) -> list[Refusal]:
    """Return (model, field, values, place of the fault) for values that these fields refuse."""
    return [
        (model, name, values, f"{name}{entry}")
        for model, names in fields.items()
        for name in names.split()
    ]


LABEL_LISTS: dict[type[Record], str] = {
    Protocol: ITEMS,
    ScientistAction: f"{ITEMS} questions",
    LabManagerAction: "suggested_controls",
    LabManagerObservation: "equipment_available equipment_booked reagents_in_stock "
    "reagents_out_of_stock safety_restrictions",
}
REFUSED = [
    *refusals(
        ["12", True, 12.0, 12.5, None, -1, [12]],
        {
            Protocol: "sample_size duration_days",
            ScientistAction: "sample_size duration_days",
            LabManagerAction: "suggested_sample_size",
            ConversationEntry: "round_number",
            ScientistObservation: "round_number max_rounds",
            LabManagerObservation: "staff_count time_limit_days round_number max_rounds",
        },
    ),
    *refusals([["x", ""], ["x", " "], ["x", "\n\t"], ["x", 1], ["x", None]], LABEL_LISTS, ".1"),
    *refusals(["dark control", {"a": 1}, None], LABEL_LISTS),
    *refusals(
        ["", "  ", "\n", 3, True],
        {
            Protocol: "technique rationale",
            LabManagerAction: "explanation",
            ConversationEntry: "message action_type",
            ScientistObservation: "paper_title paper_hypothesis paper_method paper_key_finding "
            "experiment_goal",
        },
    ),
    *refusals([1, 0, "true", None], {LabManagerAction: " ".join(["feasible", *LAB_FLAGS])}),
    *refusals(
        [-0.01, float("nan"), float("inf"), None, "12", True],
        {LabManagerObservation: "budget_total budget_remaining"},
    ),
    *refusals(["judge", "Scientist", "", None], {ConversationEntry: "role"}),
    *refusals(
        ["none"], dict.fromkeys([ScientistObservation, LabManagerObservation], "current_protocol")
    ),
]


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


@pytest.mark.parametrize(("model", "field"), FIELDS)
def test_models_require_every_field_but_the_offer(model: type[Record], field: str) -> None:
    data = EXAMPLES[model].model_dump()
    del data[field]
    if field == "suggested_protocol":
        assert model.model_validate(data) == make_scientist_observation(suggested_protocol=None)
        return
    with pytest.raises(ValidationError) as caught:
        model.model_validate(data)
    assert [item["loc"] for item in caught.value.errors()] == [(field,)]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_models_are_immutable(record: Record) -> None:
    field = next(iter(type(record).model_fields))
    with pytest.raises(ValidationError, match="frozen"):
        setattr(record, field, getattr(record, field))


@pytest.mark.parametrize(("model", "field", "values", "place"), REFUSED)
def test_models_refuse(model: type[Record], field: str, values: list[object], place: str) -> None:
    assert [problems(model, **{field: value}) for value in values] == [[place]] * len(values)


@pytest.mark.parametrize(
    ("model", "changes"),
    [
        (Protocol, {"sample_size": 0, "duration_days": 0}),
        (Protocol, {name: [] for name in ITEMS.split()}),
        (ScientistAction, {"sample_size": 1, "duration_days": 0}),
        (ScientistAction, {name: [] for name in ITEMS.split()}),
        (LabManagerObservation, {"budget_total": 0, "budget_remaining": 12.5}),
        *((ConversationEntry, {"role": role}) for role in ("scientist", "lab_manager", "system")),
        (ConversationEntry, {"action_type": None}),
        (ScientistObservation, {"current_protocol": make_protocol()}),
        (LabManagerObservation, {"current_protocol": make_protocol()}),
        (LabManagerAction, {"action_type": "report_feasibility"}),
        (LabManagerAction, {"action_type": "report_feasibility", **FAILS}),
    ],
)
def test_models_take(model: type[Record], changes: dict[str, object]) -> None:
    assert problems(model, **changes) == []


def test_models_strip_text_and_repair_nothing_else() -> None:
    protocol = make_protocol(technique=" Two  Spaces\n", controls=["\tb", "A  a ", "b"])
    assert protocol.technique == "Two  Spaces"
    assert protocol.controls == ["b", "A  a", "b"]


def test_choices_are_in_order() -> None:
    assert " ".join(ScientistActionType) == "propose_protocol revise_protocol request_info accept"
    assert " ".join(LabManagerActionType) == "report_feasibility suggest_alternative reject accept"
    assert " ".join(LAB_DIMENSIONS) == "budget equipment reagents schedule staff"
    assert [*DIMENSIONS] == ["protocol", *LAB_DIMENSIONS, "policy"]


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


@pytest.mark.parametrize("kind", ["request_info", "accept"])
@pytest.mark.parametrize("field", PROTOCOL_FIELDS)
def test_other_actions_take_no_plan(kind: str, field: str) -> None:
    questions = ["why?"] if kind == "request_info" else []
    changes = {**EMPTY, "action_type": kind, "questions": questions, field: FILLED[field]}
    assert complaint(ScientistAction, **changes) == (
        f"{kind} takes no plan; leave these empty or 0: {field}"
    )


def test_questions_belong_to_request_info() -> None:
    asking = {**EMPTY, "action_type": "request_info", "questions": ["why?"]}
    assert ScientistAction.model_validate(asking).protocol is None
    assert ACCEPT_ACTION.protocol is None
    assert complaint(ScientistAction, **{**asking, "questions": []}) == (
        "request_info needs at least one question"
    )
    assert complaint(ScientistAction, **{**asking, "action_type": "accept"}) == (
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


def test_revise_builds_the_copy_through_validation_and_shares_no_list() -> None:
    protocol = make_protocol()
    assert revise(protocol, sample_size=3) == make_protocol(sample_size=3)
    revise(protocol).controls.append("late")
    assert protocol == make_protocol()
    for changes in ({"sample_size": -3}, {"sample": 3}):
        with pytest.raises(ValidationError):
            revise(protocol, **changes)


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
