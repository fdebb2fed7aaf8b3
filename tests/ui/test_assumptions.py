"""What the evidence assumes, on Protocol: asked number by number, refused in words, taken back."""

from __future__ import annotations

import json
from typing import Final

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import NumberInput, Radio

from replicalab.assessment import Assessment, assess
from replicalab.facts.curves import (
    effect_rows,
    effect_title,
    needed_title,
    samples_rows,
    samples_title,
)
from replicalab.planner.curves import Curves
from replicalab.scenarios import EvidenceAssumptions, load_scenario
from replicalab.ui.protocol.assumptions import CHARTS, MORE, PARTS, PLACE
from tests.ui.acting import labels, number, press, run, type_number, type_text, undo
from tests.ui.pages import PROTOCOL, STUDY, TRADE_OFFS
from tests.ui.reading import alerts, heard, panel_tables, panels, said, texts
from tests.ui.walking import go, query_of, show, unfolded, unopened, visit

MOMENTUM: Final = load_scenario("fin_momentum", "medium")
REEF: Final = "eco_reef_fish"
EFFECTS: Final = [
    "planned (0.131)",
    "as published (0.177)",
    "halved (0.0885)",
    "smallest of interest (0.09)",
    "safeguard (0.128)",
    "small telescopes (0.0885)",
    "shrunken (0.158)",
]


def opened(part: str | None = None, **query: str) -> AppTest:
    """Return Protocol with the place open, at its numbers or at a curve."""
    app = unopened(PROTOCOL, **query)
    app.session_state[PLACE] = True
    if part:
        app.session_state[PARTS] = part
    return run(app)


def field(app: AppTest, name: str) -> NumberInput:
    """Return a number's field, whatever its label says now."""
    return next(item for item in app.number_input if (item.key or "").startswith(f"ask_{name}_"))


def ask(app: AppTest, **numbers: float) -> AppTest:
    """Type numbers, one after the other, and return the app."""
    for name, value in numbers.items():
        field(app, name).set_value(value)
        run(app)
    return app


def choices(app: AppTest) -> Radio[int]:
    """Return the effects that are one click away."""
    return next(radio for radio in app.radio if radio.label == "Effect to plan with")


def header(app: AppTest) -> str:
    """Return the line of the header that stays in sight."""
    return next(
        heard(line) for panel in panels(app) for line in panel.iter("p") if line.get("role")
    )


def worth(app: AppTest) -> str:
    """Return the evidence of your plan, as the page's table has it."""
    return panel_tables(app)[1][1][2]


def of_reference(question: EvidenceAssumptions, study: str = "fin_momentum") -> Assessment:
    pack = load_scenario(study, "medium")
    return assess(pack.reference_protocol, pack.with_own(pack.own_lab, question))


# --- one number after the other ---


def test_closed_place_draws_nothing() -> None:
    app = visit(PROTOCOL)
    assert any(expander.label.startswith("Assumptions:") for expander in app.expander)
    assert not any((item.key or "").startswith("ask_") for item in app.number_input)
    assert not app.get("plotly_chart")


def test_number_that_is_asked_changes_the_evidence_and_is_marked() -> None:
    app, record = opened(), dict[str, float]()
    for name, typed, value, mark in (
        ("target", 0.9, 0.9, "target 0.90, yours"),
        ("dropout", 7.0, 0.07, "target 0.90, dropout 7 %, yours"),
        ("effect", 0.2, 0.2, "3 assumptions, yours"),
        ("alpha", 0.1, 0.1, "4 assumptions, yours"),
    ):
        record[name] = value
        plan = of_reference(EvidenceAssumptions.model_validate(record))
        ask(app, **{name: typed})
        assert worth(app) == plan.evidence.number
        assert mark in header(app)
        assert plan.evidence.text in said(app)
    again = visit(PROTOCOL, **query_of(app))
    assert (worth(again), mark in header(again)) == (plan.evidence.number, True)


def test_effects_are_one_click_away() -> None:
    app = opened()
    assert not any("per group" in toggle.label for toggle in app.toggle), "the study has no groups"
    assert choices(app).options == EFFECTS
    choices(app).set_value(3)
    run(app)
    assert worth(app) == of_reference(EvidenceAssumptions(effect=0.09)).evidence.number
    assert field(app, "effect").value == 0.09
    [radio] = [item for item in go(app, TRADE_OFFS).radio if item.label == "Effect assumed"]
    assert (radio.options, radio.value) == (
        ["yours, smallest of interest (0.09)", *EFFECTS[:3], *EFFECTS[4:]],
        0,
    )
    app.session_state[PLACE] = True
    go(app, PROTOCOL)
    choices(app).set_value(0)
    run(app)
    assert "yours" not in header(app)
    assert query_of(app) == query_of(visit(PROTOCOL))


def test_number_that_cannot_be_asked_is_said_beside_it_and_nothing_is_lost() -> None:
    app = opened()
    for typed, refused in (
        ({"effect": 0.0}, "Cohen's d: the effect is 0.0; a one-sample design needs one above 0"),
        ({"alpha": 1.5}, "Alpha, two-sided: the alpha is 1.5; give a share above 0 and below 1"),
        ({"target": 0.3}, "Target: power: a target of 0.3 and a floor of 0.5 are out of order"),
        ({"dropout": 100.0}, "Dropout, %: the dropout is 100 %; give 0 % or more"),
        ({"dropout": -1.0}, "Dropout, %: the dropout is -1 %; give 0 % or more"),
    ):
        [[name, value]] = typed.items()
        ask(app, **typed)
        [box] = [alert for alert in alerts(app) if alert.text.startswith(refused)]
        assert box.colour == "error"
        assert "It stays" in box.text
        assert field(app, name).value == value
    assert "yours" not in header(app)
    assert len(alerts(app)) == 4
    ask(app, effect=0.1)
    assert "effect 0.1, yours" in header(app), "it is asked alone where the rest cannot be"
    assert field(app, "alpha").value == 1.5


def test_target_below_the_floor_is_taken_once_its_floor_is() -> None:
    app = ask(opened(), target=0.4)
    assert "yours" not in header(app)
    app = ask(app, floor=0.3)
    assert "target 0.40, floor 0.30, yours" in header(app)
    assert not [alert for alert in alerts(app) if alert.colour == "error"]


def test_numbers_are_taken_back_one_by_one_and_all() -> None:
    app = ask(opened(), effect=0.1, alpha=0.01, dropout=12.5)
    assert field(app, "effect").label == "Cohen's d (yours)"
    assert field(app, "target").label == "Target: power"
    assert "Recruit 420 to analyse 367: 12.5 % dropout." in said(app)
    press(app, "Back to the study’s 0.05")
    assert "effect 0.1, dropout 12.5 %, yours" in header(app)
    assert field(app, "alpha").value == 0.05
    press(app, "All as the study has it")
    assert "yours" not in header(app)
    assert "All as the study has it" not in labels(app)
    assert worth(app) == of_reference(EvidenceAssumptions()).evidence.number
    undo(app)
    assert "effect 0.1, dropout 12.5 %, yours" in header(app)
    assert field(app, "effect").value == 0.1


def test_reason_is_kept_with_its_number_and_goes_with_it() -> None:
    app = ask(opened(), effect=0.1)
    type_text(app, "Your reason for effect 0.1", "A pilot of <b>ours</b>.")
    assert "A pilot of <b>ours</b>." in said(go(app, STUDY))
    assert "more" in query_of(app)
    app = opened(**query_of(app))
    press(app, "Back to the study’s 0.131")
    assert "more" not in query_of(app)


def test_only_what_a_kind_has_is_asked_and_shares_in_percent() -> None:
    for study, request in (
        ("math_four_colour", ["target", "floor", "dropout"]),
        ("phys_millikan", ["effect", "alpha", "target", "floor", "dropout", "assurance"]),
    ):
        app = opened(study=study)
        keys = [item.key or "" for item in app.number_input]
        assert [key.split("_")[1] for key in keys if key.startswith("ask_")] == request
    target = field(app, "target")
    assert (target.label, target.value) == ("Target: half-width, %", 1.5)
    assert "target ±1.20 %, yours" in header(ask(app, target=1.2))
    assert query_of(app)["target"] == "0.012"


def test_number_that_a_kind_can_do_without_is_asked_in_a_field_that_is_empty() -> None:
    app = opened(study="phys_millikan")
    assert field(app, "assurance").value is None
    ask(app, assurance=0.8)
    assert "assurance 0.8, yours" in header(app)
    assert query_of(app)["assurance"] == "0.8"
    assert "an assurance of 0.8, by the exact t-interval" in said(app)
    ask(app, assurance=0.3)
    assert "give a share of 0.5 or more" in said(app)
    press(app, "Back to the study’s none")
    assert "assurance" not in query_of(app)


# --- the curves ---


def test_curves_are_the_cores_with_their_tables() -> None:
    app, curves = unfolded(opened()), Curves(assess(MOMENTUM.reference_protocol, MOMENTUM))
    [radio] = [item for item in app.radio if item.key == PARTS]
    assert radio.options == ["Numbers", *CHARTS, *MORE, "Probability of success"]
    for part, title, text in (
        ("Evidence over n", samples_title, samples_rows),
        ("Evidence over effect", effect_title, effect_rows),
        ("n over effect", needed_title, effect_rows),
    ):
        [chart] = show(app, part, PARTS).get("plotly_chart")
        assert json.loads(chart.proto.spec)["layout"]["title"]["text"] == title(curves)
        rows = [row for table in panel_tables(app) for row in table]
        assert all([*row] in rows for row in text(curves))


def test_curves_over_the_effect_stand_only_where_there_is_one() -> None:
    app = opened("Evidence over n", study="math_four_colour")
    [radio] = [item for item in app.radio if item.key == PARTS]
    assert radio.options == ["Numbers", "Evidence over n", "The design"]
    assert app.get("plotly_chart")


# --- n per group ---


def test_sample_size_may_be_typed_per_group() -> None:
    app = opened(study=REEF)
    next(toggle for toggle in app.toggle if "per group" in toggle.label).set_value(True)
    run(app)
    assert number(app, "Sample size per group").value == 64
    assert "128 in all: 64 a group." in said(app)
    type_number(app, "Sample size per group", 50)
    assert "100 in all: 50 a group." in said(app)
    assert "100 × 10" in "\n".join(texts(app.main))
    undo(app)
    assert number(app, "Sample size per group").value == 64
    type_number(app, "Sample size per group", 600_000)
    [box] = [alert for alert in alerts(app) if alert.colour == "error"]
    assert "Sample size cannot be 1,200,000, so the plan keeps 128." in box.text


def test_odd_total_tells_how_it_is_shared_out() -> None:
    app = visit(PROTOCOL, study=REEF)
    type_number(app, "Sample size", 127)
    assert "127 in all: groups of 63 and 64." in said(app)
    type_number(app, "Sample size", 126)
    assert "126 in all" not in said(app)


# --- the original ---


def test_original_stands_with_each_effect_and_only_where_it_is_known() -> None:
    app = opened("The original")
    text = said(app)
    assert "Cohen's d 0.177, from t = 3.07, n = 300" in text
    rows = {row[0]: row[1:] for table in panel_tables(app) for row in table if len(row) > 2}
    # By scipy's noncentral t 0.12813, for which a t-test needs 481 of 0.80 power.
    assert rows["Safeguard"][:2] == ["0.128", "481"]
    assert "285 affordable here" in text
    [radio] = [item for item in opened(study=REEF).radio if item.key == PARTS]
    assert "The original" not in radio.options
