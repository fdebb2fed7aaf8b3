"""The assumptions on Protocol: numbers, units and arms, curves, and the original."""

import json
from typing import Final

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import NumberInput, Radio

from replicalab.assessment import assess
from replicalab.facts import curve_facts
from replicalab.planner.curves import Curves
from replicalab.scenarios import Arms, EvidenceAssumptions, Units, load_scenario
from replicalab.ui.protocol_page.assumptions import PART_KEY, PLACE, UNITS_AND_ARMS
from tests.ui.acting import labels, number, pick, press, run, type_number, type_text, undo
from tests.ui.pages import PROTOCOL, STUDY, TRADE_OFFS
from tests.ui.reading import alerts, heard, page_text, panel_tables, panels
from tests.ui.walking import go, query_of, show, unfolded, unopened, visit

MOMENTUM: Final = load_scenario("fin_momentum", "medium")
REEF: Final = "eco_reef_fish"
EFFECTS: Final = (
    "planned (0.131)|as published (0.177)|halved (0.0885)|smallest of interest (0.09)|"
    "safeguard (0.128)|small telescopes (0.0885)|shrunken (0.158)"
).split("|")


def opened(part: str | None = None, **query: str) -> AppTest:
    app = unopened(PROTOCOL, **query)
    app.session_state[PLACE] = True
    if part:
        app.session_state[PART_KEY] = part
    return run(app)


def field(app: AppTest, name: str) -> NumberInput:
    return next(item for item in app.number_input if (item.key or "").startswith(f"ask_{name}_"))


def ask(app: AppTest, **numbers: float | None) -> AppTest:
    for name, value in numbers.items():
        field(app, name).set_value(value)
        run(app)
    return app


def radio(app: AppTest, label: str) -> Radio[int]:
    return next(radio for radio in app.radio if radio.label == label)


def header(app: AppTest) -> str:
    return next(
        heard(line) for panel in panels(app) for line in panel.iter("p") if line.get("role")
    )


def worth(app: AppTest) -> str:
    return panel_tables(app)[1][1][2]


def evidence(
    question: EvidenceAssumptions, study: str = "fin_momentum", lab: str = "medium"
) -> str:
    pack = load_scenario(study, lab)
    return assess(pack.reference_protocol, pack.with_own(pack.own_lab, question)).evidence.number


def test_closed_place_draws_nothing() -> None:
    app = visit(PROTOCOL)
    assert any(expander.label.startswith("Assumptions:") for expander in app.expander)
    assert not [item for item in app.number_input if (item.key or "").startswith("ask_")]
    assert not app.get("plotly_chart")


def test_typed_number_changes_the_evidence() -> None:
    app, asked = opened(), dict[str, float]()
    for name, typed, value, mark in (
        ("sides", 1, 1, "one-sided, yours"),
        ("dropout", 7.0, 0.07, "one-sided, dropout 7 %, yours"),
        ("target", 0.9, 0.9, "3 assumptions, yours"),
        ("effect", 0.2, 0.2, "4 assumptions, yours"),
        ("alpha", 0.1, 0.1, "5 assumptions, yours"),
    ):
        asked[name] = value
        ask(app, **{name: typed})
        assert worth(app) == evidence(EvidenceAssumptions.model_validate(asked))
        assert mark in header(app)
    again = visit(PROTOCOL, **query_of(app))
    assert (worth(again), mark in header(again)) == (worth(app), True)


def test_effects_are_one_click_away() -> None:
    app = opened()
    assert radio(app, "Effect to plan with").options == EFFECTS
    assert worth(pick(app, "Effect to plan with", 3)) == evidence(EvidenceAssumptions(effect=0.09))
    assert field(app, "effect").value == 0.09
    choice = radio(go(app, TRADE_OFFS), "Effect assumed")
    options = ["yours, smallest of interest (0.09)", *EFFECTS[:3], *EFFECTS[4:]]
    assert (choice.options, choice.value) == (options, 0)


def test_refused_number_stays_with_its_reason() -> None:
    app = opened()
    for name, value, refused in (
        ("effect", 0.0, "Cohen's d: the effect is 0.0; a one-sample design needs one above 0"),
        ("target", 0.3, "Target: power: a target of 0.3 and a floor of 0.5 are out of order"),
        ("dropout", 100.0, "Dropout, %: the dropout is 100 %; give 0 % or more"),
    ):
        ask(app, **{name: value})
        [box] = [alert for alert in alerts(app) if alert.text.startswith(refused)]
        assert "It stays" in box.text
        assert field(app, name).value == value
    assert "yours" not in header(app)
    assert "effect 0.1, yours" in header(ask(app, effect=0.1)), "the refused ones play no part"


def test_numbers_are_reset_one_by_one_and_all() -> None:
    app = ask(opened(), effect=0.1, alpha=0.01, dropout=12.5)
    press(app, "Back to the study’s 0.05")
    assert "effect 0.1, dropout 12.5 %, yours" in header(app)
    assert field(app, "alpha").value == 0.05
    press(app, "Reset to the study")
    assert "yours" not in header(app)
    assert "Reset to the study" not in labels(app)
    assert "effect 0.1, dropout 12.5 %, yours" in header(undo(app))


def test_reason_goes_with_its_number() -> None:
    app = ask(opened(), effect=0.1)
    type_text(app, "Your reason for effect 0.1", "A pilot of <b>ours</b>.")
    assert "A pilot of <b>ours</b>." in page_text(go(app, STUDY))
    assert "more" in query_of(app)
    app = press(opened(**query_of(app)), "Back to the study’s 0.131")
    assert "more" not in query_of(app)


def test_numbers_follow_the_kind_of_design() -> None:
    for study, names in (
        ("phys_millikan", ["effect", "alpha", "target", "floor", "dropout", "assurance"]),
        ("math_four_colour", ["target", "floor", "dropout"]),
    ):
        keys = [(item.key or "").split("_") for item in opened(study=study).number_input]
        assert [key[1] for key in keys if key[0] == "ask"] == names


def test_sample_size_is_typed_per_group() -> None:
    app = opened(study=REEF)
    next(toggle for toggle in app.toggle if "per group" in toggle.label).set_value(True)
    assert number(run(app), "Sample size per group").value == 64
    assert "128 in all: 64 a group." in page_text(app)
    assert "100 × 10" in page_text(type_number(app, "Sample size per group", 50))
    assert number(undo(app), "Sample size per group").value == 64
    [box] = alerts(type_number(app, "Sample size per group", 600_000))
    assert "Sample size cannot be 1,200,000, so the plan keeps 128." in box.text


EGO: Final = {"study": "psy_ego_depletion", "lab": "easy"}


def test_units_and_arms_change_the_evidence() -> None:
    app = opened(UNITS_AND_ARMS, **EGO)
    before = worth(app)
    type_text(app, "One unit is a", "class")
    assert worth(type_number(app, "Samples in one unit", 25.0)) == before
    type_number(app, "Intraclass correlation", 0.05)
    units = Units(name="class", samples=25.0, icc=0.05)
    assert worth(app) == evidence(EvidenceAssumptions(units=units), **EGO) != before
    assert "8 classes of 25 (4 + 4)" in page_text(app)
    type_number(app, "First arm, % of samples", 25.0)
    question = EvidenceAssumptions(units=units, arms=Arms(share=0.25))
    assert worth(app) == evidence(question, **EGO)
    assert "classes of 25, correlation 0.05, 25 % in the first arm, yours" in header(app)
    assert worth(visit(PROTOCOL, **query_of(app))) == worth(app)


def test_units_and_arms_are_reset() -> None:
    app = type_number(opened(UNITS_AND_ARMS, **EGO), "Samples in one unit", 10.0)
    with_correlation = worth(type_number(app, "Intraclass correlation", 0.2))
    type_number(app, "Intraclass correlation", None)
    assert worth(app) == evidence(EvidenceAssumptions(), **EGO) != with_correlation
    press(undo(app), "Units and arms as the study has them")
    assert "yours" not in header(app)
    assert number(app, "Samples in one unit").value == 1.0


def test_refused_unit_number_stays() -> None:
    app = type_number(opened(UNITS_AND_ARMS, **EGO), "First arm, % of samples", 100.0)
    assert "First arm, % of samples cannot be 100. Type 5 to 95." in page_text(app)
    assert number(app, "First arm, % of samples").value == 100.0
    assert "yours" not in header(app)


def test_curves_are_those_of_the_core() -> None:
    app, lines = unfolded(opened()), Curves(assess(MOMENTUM.reference_protocol, MOMENTUM))
    parts = radio(app, "Numbers or a curve").options
    assert parts == [
        *("Numbers", "Evidence over n", "Evidence over effect", "n over effect"),
        *("The original", "Units and arms", "The design", "Probability of success"),
    ]
    for part, title, rows in (
        ("Evidence over n", curve_facts.samples_title, curve_facts.samples_rows),
        ("n over effect", curve_facts.samples_title, curve_facts.effect_rows),
    ):
        [chart] = show(app, part, PART_KEY).get("plotly_chart")
        assert json.loads(chart.proto.spec)["layout"]["title"]["text"] == title(lines)
        listed = [row for table in panel_tables(app) for row in table]
        assert all([cell.text for cell in row] in listed for row in rows(lines))
