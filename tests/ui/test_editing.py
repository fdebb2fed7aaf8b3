"""The Protocol page, edited: what is typed, what cannot be a plan, what is applied and undone."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.models import revise
from replicalab.scenarios import Difficulty, load_scenario
from replicalab.ui.address import to_query
from replicalab.ui.workspace import Workspace
from tests.ui.reading import (
    NEGOTIATION,
    PROTOCOL,
    SCENARIOS,
    Alert,
    alerts,
    can_press,
    choose,
    chosen,
    go,
    number,
    open_lab,
    press,
    query_of,
    run,
    said,
    tile,
    type_number,
    type_text,
    visit,
    where,
)

REFERENCE = load_scenario("fin_momentum").reference_protocol
TERMINAL = "licensed-data terminal"
EXTRACT = "vendor-approved extract on the research server"


# --- Numbers ---


def test_sample_size_changes_verdict_tiles_header_and_chart() -> None:
    app = type_number(visit(PROTOCOL, lab="easy"), "Sample size", 150)
    assert alerts(app)[0] == Alert(
        "success",
        "Feasible: all seven dimensions pass. "
        "Planned evidence: power 0.58, below the target of 0.80 but above the floor of 0.50.",
    )
    assert tile(app, "budget")[1:] == ["2,350 / 3,900 credits", "slack +1,550"]
    assert where(app).endswith("· easy lab · Feasible")
    assert "The plan costs 2,350 credits: 1,550 credits left" in (
        app.get("plotly_chart")[1].proto.spec
    )


def test_duration_changes_verdict_tiles_and_header() -> None:
    app = type_number(visit(PROTOCOL, lab="easy"), "Duration (days)", 11)
    assert alerts(app)[0] == Alert(
        "error",
        "Not feasible here: protocol, budget and schedule fail. "
        "Planned evidence: power 0.86, which meets the target of 0.80.",
    )
    assert tile(app, "schedule") == ["Schedule fail", "11 / 10 days", "slack −1 · binding"]
    assert where(app).endswith("· easy lab · Not feasible")
    assert "Schedule: The plan takes 11 days, 1 over the limit of 10." in said(app)


def test_plan_below_the_floor_is_feasible_but_not_shown_as_success() -> None:
    app = type_number(visit(PROTOCOL, lab="easy"), "Sample size", 75)
    assert alerts(app)[0] == Alert(
        "warning",
        "Feasible: all seven dimensions pass. "
        "Planned evidence: power 0.33, below the floor of 0.50.",
    )
    assert where(app).endswith("· Feasible, below the floor")


@pytest.mark.parametrize(
    ("field", "value", "reason", "evidence"),
    [
        (
            "Sample size",
            0,
            "Sample size is 0; plan at least 1 sample.",
            "It yields no evidence: no samples are planned.",
        ),
        (
            "Duration (days)",
            0,
            "Duration is 0 days; plan at least 1 day.",
            "It yields no evidence: the study's endpoint needs 3 days, and the plan has 0.",
        ),
        (
            "Sample size",
            4,
            "4 controls for 4 samples: no experimental samples remain; plan at least 5 samples.",
            "Planned evidence: power",
        ),
    ],
    ids=["no samples", "no days", "only controls"],
)
def test_impossible_number_names_value_place_and_remedy(
    field: str, value: int, reason: str, evidence: str
) -> None:
    app = type_number(visit(PROTOCOL, lab="easy"), field, value)
    verdict = alerts(app)[0]
    assert verdict.colour != "success"
    assert "protocol fails" in verdict.text
    assert evidence in verdict.text
    assert f"Protocol: {reason}" in said(app)
    assert number(app, field).value == value


def test_largest_plan_that_can_be_typed_gives_a_calm_verdict() -> None:
    app = type_number(visit(PROTOCOL), "Sample size", 1_000_000)
    app = type_number(app, "Duration (days)", 1_000_000)
    assert tile(app, "budget")[1] == "60,000,450 / 2,600 credits"
    assert alerts(app)[0].colour == "error"


# --- Texts ---


@pytest.mark.parametrize("blank", ["", "   "])
@pytest.mark.parametrize(
    ("field", "kept", "remedy"),
    [
        ("Technique", REFERENCE.technique, "Write in a few words what is done."),
        ("Rationale", REFERENCE.rationale, "Write why this plan answers the question."),
    ],
)
def test_empty_text_names_place_and_remedy_and_keeps_the_plan(
    field: str, kept: str, remedy: str, blank: str
) -> None:
    app = visit(PROTOCOL)
    before = shown_plan(app)
    type_text(app, field, blank)
    message = f"{field} is empty, so the plan keeps “{kept}”. {remedy}"
    assert Alert("error", message) in alerts(app)
    assert shown_plan(app) == before
    type_text(app, field, "another way")
    assert not any("is empty" in alert.text for alert in alerts(app))


def shown_plan(app: AppTest) -> tuple[list[str], dict[str, str]]:
    """Return what shows the plan besides the editor: the budget's tile and the address."""
    return tile(app, "budget"), query_of(app)


def test_message_about_an_empty_text_goes_when_the_plan_is_shown_again() -> None:
    app = type_text(visit(PROTOCOL), "Technique", "")
    go(app, SCENARIOS)
    go(app, PROTOCOL)
    assert app.text_area[0].value == REFERENCE.technique
    assert not any("is empty" in alert.text for alert in alerts(app))


def test_rationale_with_a_forbidden_phrase_is_reported_not_approved() -> None:
    app = visit(PROTOCOL, lab="easy")
    type_text(app, "Rationale", "An offline backtest; later we route orders to a broker.")
    assert tile(app, "policy") == ["Policy fail", "1 breach, none allowed"]
    verdict = alerts(app)[0]
    assert (verdict.colour, verdict.text.split(".")[0]) == (
        "warning",
        "Lab-feasible, but not approved: policy fails",
    )
    assert where(app).endswith("· Not approved")
    assert (
        "Reports The lab has the means, but the plan breaks a restriction or is unsound on paper."
        in said(app)
    )
    assert "route orders to a broker" in said(app)


def test_rationale_that_only_denies_a_forbidden_phrase_passes() -> None:
    app = visit(PROTOCOL, lab="easy")
    type_text(app, "Rationale", "An offline backtest with no live trading.")
    assert tile(app, "policy")[0] == "Policy pass"


# --- Lists ---


def test_list_offers_booked_items_and_substitutes_with_where_they_stand() -> None:
    equipment = next(f for f in visit(PROTOCOL).multiselect if f.label == "Equipment")
    assert equipment.options == [
        "research server",
        "licensed-data terminal (booked until day 10)",
        EXTRACT,
    ]


def test_item_out_of_stock_is_said_in_the_list_and_in_the_reasons() -> None:
    app = visit(PROTOCOL, lab="hard")
    reagents = next(f for f in app.multiselect if f.label == "Reagents")
    assert "CRSP daily returns file 1962-1989 (out of stock)" in reagents.options
    assert "'CRSP daily returns file 1962-1989' is out of stock" in said(app)


def test_substitute_picked_from_the_list_passes() -> None:
    app = choose(visit(PROTOCOL), "Equipment", "research server", EXTRACT)
    assert tile(app, "equipment") == ["Equipment pass", "2 needed, 2 free", "slack 0"]


def with_equipment(*labels: str) -> dict[str, str]:
    """Return the query string of a plan with that equipment in the easy lab."""
    plan = revise(REFERENCE, required_equipment=list(labels))
    return to_query(Workspace(difficulty=Difficulty.EASY, protocol=plan))


def test_unknown_item_of_a_plan_fails_by_name_and_stays_in_the_list() -> None:
    app = visit(PROTOCOL, **with_equipment("research server", "quantum abacus"))
    assert tile(app, "equipment") == ["Equipment fail", "2 needed, 1 free", "slack −1"]
    assert "'quantum abacus' is not in this lab's inventory" in said(app)
    type_number(app, "Sample size", 150)
    go(app, NEGOTIATION)
    go(app, PROTOCOL)
    assert chosen(app, "Equipment") == ["research server", "quantum abacus"]


def test_unknown_item_typed_in_is_taken_as_it_was_typed() -> None:
    app = choose(visit(PROTOCOL, lab="easy"), "Equipment", "research server", "quantum abacus")
    assert "'quantum abacus' is not in this lab's inventory" in said(app)
    equipment = next(f for f in app.multiselect if f.label == "Equipment")
    assert equipment.options == ["research server", TERMINAL, EXTRACT, "quantum abacus"]


def test_empty_lists_are_a_plan_without_controls() -> None:
    app = visit(PROTOCOL, lab="easy")
    for label in ("Controls", "Equipment", "Reagents"):
        choose(app, label)
    assert "Note: No controls: nothing guards the result against artefacts." in said(app)
    assert tile(app, "budget")[1] == "3,400 / 3,900 credits"


def test_hostile_item_is_shown_as_it_is_written() -> None:
    hostile = "![x](https://evil.example/x.png) <b>bold</b> :red[y] $a$"
    app = visit(PROTOCOL, **with_equipment(hostile))
    assert f"'{hostile}' is not in this lab's inventory" in said(app)
    raw = next(str(m.value) for m in app.markdown if "evil" in str(m.value))
    assert "![" not in raw
    assert "<b>" not in raw
    assert " :red[y" not in raw
    assert " $a" not in raw


# --- The suggestion ---


def test_all_changes_applied_are_feasible_and_fill_the_editor() -> None:
    app = press(visit(PROTOCOL), "Apply all changes")
    assert alerts(app) == [
        Alert(
            "success",
            "Feasible: all seven dimensions pass. "
            "Planned evidence: power 0.58, below the target of 0.80 but above the floor of 0.50.",
        )
    ]
    assert where(app).endswith("· medium lab · Feasible")
    assert (number(app, "Sample size").value, number(app, "Duration (days)").value) == (150, 6)
    assert chosen(app, "Equipment") == ["research server", EXTRACT]
    assert "Nothing needs to change: the plan passes all seven dimensions." in said(app)


@pytest.mark.parametrize(
    ("change", "samples", "days", "equipment", "failing"),
    [
        (1, 300, 8, EXTRACT, "protocol, budget and schedule fail"),
        (2, 300, 6, TERMINAL, "budget and equipment fail"),
        (3, 150, 8, TERMINAL, "protocol, equipment and schedule fail"),
    ],
)
def test_one_ticked_change_applied_changes_that_field_only(
    change: int, samples: int, days: int, equipment: str, failing: str
) -> None:
    app = visit(PROTOCOL)
    for number_, box in enumerate(app.checkbox, start=1):
        box.set_value(number_ == change)
    run(app)
    press(app, "Apply the ticked changes (1 of 3)")
    assert (number(app, "Sample size").value, number(app, "Duration (days)").value) == (
        samples,
        days,
    )
    assert chosen(app, "Equipment") == ["research server", equipment]
    assert failing in alerts(app)[0].text


def test_feasible_plan_has_nothing_to_apply() -> None:
    app = visit(PROTOCOL, lab="easy")
    assert [key for key in (button.key for button in app.button) if key] == []


# --- Undo, redo, reset ---


def test_history_buttons_are_off_on_a_first_visit() -> None:
    app = visit(PROTOCOL)
    labels = ("Undo", "Redo", "Reset to reference")
    assert [can_press(app, label) for label in labels] == [False, False, False]


def test_undo_and_redo_walk_the_edits_one_by_one() -> None:
    app = visit(PROTOCOL)
    for samples in (200, 100):
        type_number(app, "Sample size", samples)
    seen = [number(press(app, "Undo"), "Sample size").value for _ in range(2)]
    assert seen == [200, 300]
    assert not can_press(app, "Undo")
    seen = [number(press(app, "Redo"), "Sample size").value for _ in range(2)]
    assert seen == [200, 100]
    assert not can_press(app, "Redo")


def test_new_edit_after_undo_clears_redo() -> None:
    app = press(type_number(visit(PROTOCOL), "Sample size", 200), "Undo")
    type_number(app, "Duration (days)", 5)
    assert not can_press(app, "Redo")
    press(app, "Undo")
    assert number(app, "Duration (days)").value == 8


def test_undo_brings_back_each_kind_of_field() -> None:
    app = visit(PROTOCOL)
    choose(app, "Controls", "size terciles")
    type_text(app, "Technique", "another way")
    press(app, "Undo")
    assert app.text_area[0].value == REFERENCE.technique
    press(app, "Undo")
    assert chosen(app, "Controls") == REFERENCE.controls


def test_undo_takes_back_all_changes_in_one_step() -> None:
    app = press(press(visit(PROTOCOL), "Apply all changes"), "Undo")
    assert (number(app, "Sample size").value, number(app, "Duration (days)").value) == (300, 8)
    assert not can_press(app, "Undo")


def test_reset_shows_the_reference_and_undo_brings_the_plan_back() -> None:
    app = press(type_number(visit(PROTOCOL), "Sample size", 7), "Reset to reference")
    assert number(app, "Sample size").value == 300
    assert "plan" not in query_of(app)
    assert not can_press(app, "Reset to reference")
    press(app, "Undo")
    assert number(app, "Sample size").value == 7


def test_typing_the_reference_again_is_the_reference() -> None:
    app = visit(PROTOCOL)
    type_number(app, "Sample size", 200)
    assert can_press(app, "Reset to reference")
    type_number(app, "Sample size", 300)
    assert not can_press(app, "Reset to reference")
    assert "plan" not in query_of(app)


def test_edits_in_one_lab_are_checked_in_the_next() -> None:
    app = go(type_number(visit(PROTOCOL), "Sample size", 150), SCENARIOS)
    go(open_lab(app, "easy"), PROTOCOL)
    assert number(app, "Sample size").value == 150
    assert tile(app, "budget")[1] == "2,350 / 3,900 credits"


@pytest.mark.parametrize("label", ["   ", "\u0085", "\t"])
def test_label_without_a_name_is_said_and_not_taken(label: str) -> None:
    app = visit(PROTOCOL)
    before = chosen(app, "Controls")
    choose(app, "Controls", *before, label)
    assert "has an entry without a name" in said(app)
    assert query_of(app).get("plan") is None


def test_label_too_long_for_an_address_is_said_and_not_taken() -> None:
    app = visit(PROTOCOL)
    choose(app, "Reagents", "x" * 301)
    assert "Reagents has an entry of 301 characters; at most 300 fit" in said(app)
    assert query_of(app).get("plan") is None
