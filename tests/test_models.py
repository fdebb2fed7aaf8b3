"""The document's models: allowed values of each field, and consistency."""

from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from replicalab.agents import check_feasibility, compose_lab_manager_response
from replicalab.limits import LONGEST_LABEL, LONGEST_TEXT, MOST_LABELS, MOST_PLAN_BYTES
from replicalab.models import (
    ACCEPT_ACTION,
    LAB_DIMENSIONS,
    PROTOCOL_FIELDS,
    ConversationEntry,
    LabManagerAction,
    LabManagerObservation,
    Protocol,
    Record,
    ScientistAction,
    ScientistActionType,
    ScientistObservation,
    plan_action,
    revise,
    too_large,
)
from replicalab.negotiation.case import Case, read_case, record_text
from replicalab.scenarios import Difficulty
from tests.factories import (
    make_entry,
    make_pack,
    make_protocol,
    make_scientist_action,
    make_scientist_observation,
)
from tests.strategies import entries, protocols, scientist_actions, scientist_observations

ACCEPTED: Final = compose_lab_manager_response(
    check_feasibility(make_protocol(), make_pack()), None
)
"""Every lab flag holds and nothing is suggested."""
RECORDS: Final[tuple[Record, ...]] = (
    make_protocol(),
    make_scientist_action(),
    ACCEPTED,
    make_entry(),
    make_scientist_observation(),
    make_pack().lab_manager_observation,
)
EXAMPLES: Final = {type(record): record for record in RECORDS}
ITEMS: Final = "controls required_equipment required_reagents"
COUNT: Final = ("", ["12", True, 12.0, 12.5, None, -1, [12]])
LABELS: Final = ("", ["dark control", {"a": 1}, None])
SECOND_LABEL: Final = (".1", [["x", ""], ["x", "\n\t"], ["x", 1], ["x", None]])
TEXT: Final = ("", ["", " \n", 3, True])
FLAG: Final = ("", [1, 0, "true", None])
CREDITS: Final = ("", [-0.01, float("nan"), float("inf"), None, "12", True])
ROLE: Final = ("", ["judge", "Scientist", "", None])
PROTOCOL: Final = ("", ["none"])
MISSING: Final = "equipment_booked reagents_out_of_stock safety_restrictions"
LISTS: Final[dict[type[Record], str]] = {
    Protocol: ITEMS,
    ScientistAction: f"{ITEMS} questions",
    LabManagerAction: "suggested_controls",
    LabManagerObservation: f"equipment_available reagents_in_stock {MISSING}",
}
PAPER: Final = "paper_title paper_hypothesis paper_method paper_key_finding experiment_goal"
FIELDS: Final[list[tuple[type[Record], str, tuple[str, list[Any]]]]] = [
    *(
        (model, names, refused)
        for model, names in LISTS.items()
        for refused in (LABELS, SECOND_LABEL)
    ),
    (Protocol, "sample_size duration_days", COUNT),
    (Protocol, "technique rationale", TEXT),
    (ScientistAction, "sample_size duration_days", COUNT),
    (LabManagerAction, "suggested_sample_size", COUNT),
    (LabManagerAction, "explanation", TEXT),
    (LabManagerAction, " ".join(["feasible", *(f"{item}_ok" for item in LAB_DIMENSIONS)]), FLAG),
    (ConversationEntry, "round_number", COUNT),
    (ConversationEntry, "message action_type", TEXT),
    (ConversationEntry, "role", ROLE),
    (ScientistObservation, "round_number max_rounds", COUNT),
    (ScientistObservation, PAPER, TEXT),
    (ScientistObservation, "current_protocol", PROTOCOL),
    (LabManagerObservation, "staff_count time_limit_days round_number max_rounds", COUNT),
    (LabManagerObservation, "budget_total budget_remaining", CREDITS),
    (LabManagerObservation, "current_protocol", PROTOCOL),
]
"""Fields of a model, and the values that they refuse at a place within."""


def problems(model: type[Record], **changes: object) -> list[str]:
    try:
        model.model_validate({**EXAMPLES[model].model_dump(), **changes})
    except ValidationError as error:
        return [".".join(map(str, item["loc"])) for item in error.errors()]
    return []


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_models_are_closed_and_frozen(record: Record) -> None:
    model = type(record)
    assert problems(model, surprise=1) == ["surprise"]
    for field in model.model_fields:
        with pytest.raises(ValidationError, match="frozen"):
            setattr(record, field, getattr(record, field))
        data = record.model_dump()
        del data[field]
        if field == "suggested_protocol":
            assert model.model_validate(data) == record
            continue
        with pytest.raises(ValidationError) as caught:
            model.model_validate(data)
        assert [item["loc"] for item in caught.value.errors()] == [(field,)]


@pytest.mark.parametrize(("model", "names", "refused"), FIELDS)
def test_models_refuse(model: type[Record], names: str, refused: tuple[str, list[Any]]) -> None:
    place, values = refused
    for name in names.split():
        for value in values:
            assert problems(model, **{name: value}) == [f"{name}{place}"], value


Changes = dict[str, object]
FAILS: Final[Changes] = {"feasible": False, "budget_ok": False}
OFFER: Final[Changes] = {
    **FAILS, "action_type": "suggest_alternative", "suggested_sample_size": 5
}  # fmt: skip
EMPTY: Final[Changes] = {**ACCEPT_ACTION.model_dump(), "action_type": "accept"}
ASKING: Final[Changes] = {**EMPTY, "action_type": "request_info", "questions": ["why?"]}
PLAN: Final[Changes] = make_protocol().model_dump()
SUGGESTED: Final[list[Changes]] = [
    {"suggested_technique": "count"},
    {"suggested_sample_size": 1},
    {"suggested_controls": ["dark control"]},
]
NOT_FOR_OTHERS: Final = "takes no suggested_* values; leave them empty"
NO_PLAN: Final = "takes no plan; leave these empty or 0:"


@pytest.mark.parametrize(
    ("model", "changes", "message"),
    [
        *(
            (ScientistAction, {"action_type": kind, **changes}, f"{kind} {message}")
            for kind in ("propose_protocol", "revise_protocol")
            for changes, message in (
                ({"sample_size": 0}, "needs sample_size >= 1, got 0"),
                ({"technique": " "}, "needs a technique, got an empty one"),
                ({"rationale": ""}, "needs a rationale, got an empty one"),
                ({"questions": ["why?"]}, "takes no questions; leave questions empty"),
            )
        ),
        *(
            (ScientistAction, {**kind, field: PLAN[field]},
             f"{kind['action_type']} {NO_PLAN} {field}")
            for kind in (EMPTY, ASKING)
            for field in PROTOCOL_FIELDS
        ),
        (ScientistAction, {**ASKING, "questions": []}, "request_info needs at least one question"),
        (ScientistAction, {**ASKING, "action_type": "accept"},
         "accept takes no questions; leave questions empty"),
        *(
            (LabManagerAction, {"action_type": "report_feasibility", f"{dimension}_ok": False},
             f"feasible is True but the lab flags that fail are: {dimension}")
            for dimension in LAB_DIMENSIONS
        ),
        (LabManagerAction, {"action_type": "reject", "feasible": False},
         "feasible is False but the lab flags that fail are: none"),
        *(
            (LabManagerAction, {"action_type": kind, **flags, **suggested},
             f"{kind} {NOT_FOR_OTHERS}")
            for kind, flags in (("report_feasibility", {}), ("accept", {}), ("reject", FAILS))
            for suggested in SUGGESTED
        ),
        (LabManagerAction, {**OFFER, "suggested_sample_size": 0},
         "suggest_alternative needs at least one suggested_* value"),
        (LabManagerAction, {"action_type": "accept", **FAILS}, "accept needs feasible = True"),
        (LabManagerAction, {"action_type": "reject"}, "reject needs feasible = False"),
        (LabManagerAction, {**OFFER, "feasible": True, "budget_ok": True},
         "suggest_alternative needs feasible = False"),
    ],
)  # fmt: skip
def test_inconsistent_action_is_refused(
    model: type[Record], changes: Changes, message: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        model.model_validate({**EXAMPLES[model].model_dump(), **changes})
    [problem] = caught.value.errors()
    assert problem["loc"] == ()
    assert problem["msg"].removeprefix("Value error, ") == message


def test_consistent_action_is_valid() -> None:
    assert problems(ScientistAction, **{name: [] for name in ITEMS.split()}, duration_days=0) == []
    assert problems(LabManagerAction, action_type="report_feasibility") == []
    assert problems(LabManagerObservation, budget_total=0, current_protocol=PLAN) == []
    assert ScientistAction.model_validate(ASKING).protocol is None
    assert ACCEPT_ACTION.protocol is None
    for dimension in LAB_DIMENSIONS:
        flags = {"feasible": False, f"{dimension}_ok": False}
        for kind in ("reject", "report_feasibility"):
            assert problems(LabManagerAction, action_type=kind, **flags) == []
    for suggested in SUGGESTED:
        offer = {"action_type": "suggest_alternative", **FAILS, **suggested}
        assert problems(LabManagerAction, **offer) == []


@given(
    protocols(sample_size=st.integers(1, 100)),
    st.sampled_from([ScientistActionType.PROPOSE_PROTOCOL, ScientistActionType.REVISE_PROTOCOL]),
)
def test_plan_action_carries_the_plan(protocol: Protocol, kind: ScientistActionType) -> None:
    action = plan_action(kind, protocol)
    assert action.action_type == kind
    assert action.protocol == protocol
    with pytest.raises(ValidationError, match="needs sample_size >= 1"):
        plan_action(kind, protocol.model_copy(update={"sample_size": 0}))


def test_revise_validates_and_shares_no_list() -> None:
    protocol = make_protocol()
    assert revise(protocol, sample_size=3) == make_protocol(sample_size=3)
    revise(protocol).controls.append("late")
    assert protocol == make_protocol()
    for changes in ({"sample_size": -3}, {"sample": 3}):
        with pytest.raises(ValidationError):
            revise(protocol, **changes)


@given(
    st.one_of(
        protocols(),
        scientist_actions(),
        entries(),
        scientist_observations(),
        st.sampled_from(RECORDS),
    )
)
def test_models_survive_the_round_trip(record: Record) -> None:
    model = type(record)
    assert model.model_validate(record.model_dump()) == record
    assert model.model_validate(record.model_dump(mode="json")) == record
    assert model.model_validate_json(record.model_dump_json()) == record


@pytest.mark.parametrize(
    ("field", "largest", "above", "problem"),
    [
        ("sample_size", 10**6, 10**6 + 1, "Sample size is 1,000,001; at most 1,000,000"),
        ("duration_days", 10**6, 2 * 10**6, "Duration is 2,000,000; at most 1,000,000"),
        ("technique", "x" * LONGEST_TEXT, "x" * 4001,
         "Technique has 4,001 characters; at most 4,000 fit"),
        ("controls", ["c"] * MOST_LABELS, ["c"] * 201, "Controls has 201 entries; at most 200"),
        ("controls", [], [f"{n:03}{'x' * 200}" for n in range(100)], "The plan's texts"),
        ("required_reagents", ["x" * LONGEST_LABEL], ["x" * 301],
         "Reagents has an entry of 301 characters; at most 300 fit"),
    ],
)  # fmt: skip
def test_each_limit_holds_and_is_named(
    field: str, largest: object, above: object, problem: str
) -> None:
    assert too_large(make_protocol(**{field: largest})) == []
    [fault] = too_large(make_protocol(**{field: above}))
    assert fault.text.startswith(problem)


def test_any_plan_within_the_limits_can_be_saved() -> None:
    letters = [chr(0x4E00 + (n * 7919) % 20000) for n in range(MOST_PLAN_BYTES // 3 - 100)]
    text = "".join(letters)
    labels = [text[at : at + 250] for at in range(0, len(text), 250)]
    plan = make_protocol(
        controls=labels, required_equipment=[], required_reagents=[], technique="t", rationale="r"
    )
    assert too_large(plan) == []
    case = Case(study="psy_stroop", lab=Difficulty.EASY, plan=plan)
    assert read_case(record_text(case)) == case
