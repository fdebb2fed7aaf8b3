"""Make a study: by a power analysis, by the form, by its file."""

import math
from datetime import date
from itertools import product

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.assessment import assess
from replicalab.designs import KINDS, Unknown
from replicalab.drafts import Draft, check, new_study
from replicalab.scenarios import Arms, Difficulty, Study, Units, pack_of, parse_study, template_text
from replicalab.ui import study_form
from tests.hostile import ATTACK, marked
from tests.hostile_files import hostile_study
from tests.tiers import one_in
from tests.ui.acting import can_press, choose, labels, number, pick, press, type_number, type_text
from tests.ui.pages import PROTOCOL
from tests.ui.reading import alerts, page_text, where
from tests.ui.test_hostile_text import leaks, seen
from tests.ui.test_lab_form import fill
from tests.ui.walking import at_editor, at_gallery, at_making, go, query_of, unopened, write

COMPARISON, ASSUMPTIONS, NEEDS, LAB, CHECK, ADVANCED = study_form.PARTS
NAME = "Name of the study"
EFFECT = "Effect: Cohen's d"
WAY = "The original reports"

pytestmark = pytest.mark.usefixtures("browsers")


def begun() -> AppTest:
    return at_making(unopened())


def form(source: str = "an empty form", part: str | None = None) -> AppTest:
    app = press(pick(begun(), "Start from", source), "Start the form")
    return at(app, part) if part else app


def at(app: AppTest, part: str) -> AppTest:
    app.session_state[study_form.PARTS_KEY] = part
    return at_making(app)


def choose_kind(app: AppTest, kind: str, part: str = ASSUMPTIONS) -> AppTest:
    return at(press(at(app, COMPARISON), KINDS[kind].title), part)


def type_values(app: AppTest, **values: float) -> AppTest:
    return [type_number(app, label, value) for label, value in values.items()][-1]


def study_of(app: AppTest) -> Study:
    return parse_study(file_of(app), "x.yaml")


def file_of(app: AppTest) -> str:
    return str(at_editor(app).text_area(key="own_text").value)


def test_power_analysis_opens_on_protocol() -> None:
    app = type_text(begun(), NAME, "Naps")
    type_values(app, **{EFFECT: 0.5, "Power": 0.8, "Days it takes": 30})
    assert "128 in all: 64 a group." in page_text(app)
    press(app, "Use this analysis")
    assert where(app) == "Naps · medium lab · Feasible"
    assert number(app, "Sample size").value == 128
    assert number(app, "Duration (days)").value == 30
    assert query_of(app)["study"] == "my_study"
    fill(press(app, "Your lab"), "Staff units", 2)
    assert "128 samples in 30 days" in page_text(go(app, PROTOCOL))
    press(type_text(at_making(app), NAME, "Naps again"), "Use this analysis")
    assert query_of(app)["study"] == "my_study_2"


def test_power_analysis_of_each_kind_can_be_used() -> None:
    app = begun()
    for kind, row in KINDS.items():
        pick(app, "Design", kind)
        offered = check(Draft(new_study("my_study", kind))).study
        assert offered is not None
        fewest = offered.reference_protocol.sample_size
        rounded = fewest + -fewest % row.groups_of(offered.design)
        assert number(app, "Samples in all").value == rounded
        assert not alerts(app)
        assert can_press(app, "Use this analysis"), kind


def test_one_sided_analysis_reaches_the_study() -> None:
    app = type_number(pick(begun(), "Design", "paired"), "Sides of the test", 1)
    assert number(app, "Samples in all").value == 27
    assert "one-sided paired t-test (noncentral t). Alpha 0.05, one-sided." in page_text(app)
    press(app, "Continue in the form")
    assert study_of(app).design.sides == 1
    pick(at(app, ASSUMPTIONS), "Test", 2)
    assert number(app, "Alpha, two-sided").value == 0.05


def test_analysis_plans_with_the_safeguard_effect() -> None:
    app = pick(begun(), "Effect typed as", "t and n of both groups")
    # d 0.5 from 20 an arm: the safeguard effect is 0.2263, for which 308 an arm are needed.
    typed = {"Reported n, group 1": 20, "Reported n, group 2": 20}
    type_values(app, **{"Reported t": 0.5 * math.sqrt(10), **typed})
    assert "128 in all: 64 a group." in page_text(app)
    next(item for item in app.toggle if "safeguard" in item.label).set_value(True)
    assert "616 in all: 308 a group." in page_text(at_making(app))
    [alert] = alerts(type_number(app, "Reported t", 0.8))
    assert "reaches no effect" in alert.text
    press(type_number(app, "Reported t", 0.5 * math.sqrt(10)), "Continue in the form")
    assert study_of(app).design.effect_planning == pytest.approx(0.2263, abs=5e-5)


def test_wrong_number_of_an_analysis_stays() -> None:
    app = begun()
    for unknown, label, value, text in (
        (Unknown.SAMPLES, EFFECT, 0.0, "needs one above 0."),
        (Unknown.SAMPLES, "Dropout, %", 100.0, "dropout is 100 %: type 0 % or more, below 100 %."),
        (Unknown.SAMPLES, "Power", 1.0, "aim at less than 1, such as 0.99."),
        (Unknown.EVIDENCE, "Samples in all", -1, "-1 is not allowed: must be greater than or"),
    ):
        pick(app, "Work out", unknown)
        right = number(app, label).value
        [alert] = alerts(type_number(app, label, value))
        assert text in alert.text
        assert number(app, label).value == value
        assert not can_press(app, "Use this analysis")
        type_number(app, label, right)


def test_name_of_a_study_must_be_free() -> None:
    app = press(begun(), "Use this analysis")
    assert "The study has no name yet." in page_text(app)
    press(type_text(app, NAME, "  Naps   and recall "), "Use this analysis")
    assert where(app).startswith("Naps and recall · ")
    for name in ("naps and Recall", "Stroop interference"):
        press(type_text(at_making(app), NAME, name), "Use this analysis")
        assert f"Another study is named “{name}” already." in page_text(app)
    press(press(at_making(app), "Start the form"), "Use this study")
    press(press(at_making(app), "Start over"), "Start the form")
    assert study_of(app).paper.title == "My study (2)"
    type_text(at(app, COMPARISON), NAME, "My study")
    assert not can_press(app, "Use this study")


def test_empty_form_makes_a_study_at_once() -> None:
    app = form()
    assert {row.title for row in KINDS.values()} <= set(labels(app)), "a card for each kind"
    assert "passes Feasible. Every dimension passes." in page_text(app)
    type_number(at(app, LAB), "Sample size", 40)
    assert "power 0.34" in page_text(app)
    assert len(at(app, CHECK).get("plotly_chart")) == 1
    press(press(app, "Undo"), "Use this study")
    assert where(app) == "My study · medium lab · Feasible"
    assert study_of(app) == check(Draft(new_study("my_study"))).study


def test_wrong_value_stays_with_its_fault() -> None:
    app = type_number(form(part=ASSUMPTIONS), "Assumed: Cohen's d", -2.0)
    count, fault = sorted(alert.text for alert in alerts(app))
    assert count == "1 fault to correct, under Assumptions."
    assert "the effect is -2.0: a two-group design needs one above 0." in fault
    at(go(app, PROTOCOL), ASSUMPTIONS)
    assert number(app, "Assumed: Cohen's d").value == -2.0
    assert not can_press(app, "Use this study")
    assert not alerts(type_number(app, "Assumed: Cohen's d", 0.4))
    assert can_press(app, "Use this study")


def test_kind_and_undo_bring_back_earlier_values() -> None:
    app = choose_kind(form("the template"), "coverage")
    assert "Assumed: Cohen's d" not in [field.label for field in app.number_input]
    assert study_of(choose_kind(app, "two_group")) == parse_study(template_text(), "x.yaml")
    press(at(app, NEEDS), "Remove this replacement")
    assert len(study_of(app).substitutions) == 1
    assert len(study_of(press(app, "Undo")).substitutions) == 2


def test_needs_and_lab_are_filled_in() -> None:
    app = type_values(form(part=NEEDS), **{"Minimum days": 3, "Samples a day": 20})
    choose(app, "Equipment", "booth", "screen")
    choose(app, "Materials and data", "pay")
    type_text(app, "Add a replacement", "quiet room")
    type_number(pick(app, "Fidelity loss (0–3)", 2), "Effect multiplier (0–1)", 0.8)
    type_text(type_text(app, "Add a control", "blind rater"), "Protects against", "hope")
    type_text(app, "Add a rule", "No deceit")
    choose(at(app, LAB), "Booked", "booth")
    type_number(app, "booth: booked until day", 4)
    choose(app, "Not available", "pay")
    pick(app, "Easy and hard lab", "made from it")
    study = study_of(app)
    assert (study.min_days, study.samples_per_day and study.samples_per_day.value) == (3, 20)
    assert (study.equipment, study.reagents) == (["booth", "screen"], ["pay"])
    [swap], [control], [rule] = study.substitutions, study.controls, study.policy_rules
    assert (swap.original, swap.alternative) == ("booth", "quiet room")
    assert (swap.fidelity_loss, swap.evidence_factor) == (2, 0.8)
    assert (control.name, control.protects_against) == ("blind rater", "hope")
    assert (rule.restriction, rule.forbidden_phrases) == ("No deceit", ["No deceit"])
    assert (study.labs.medium.booked, study.labs.medium.out_of_stock) == ({"booth": 4}, ["pay"])
    assert not study.labs.easy.booked
    assert assess(study.reference_protocol, pack_of(study, Difficulty.EASY)).feasible


def test_units_and_arms_are_filled_in_by_kind() -> None:
    app = type_text(form("the template", ASSUMPTIONS), "Experimental unit", "tray")
    type_number(app, "Samples per unit", 6.0)
    at(app, ASSUMPTIONS)
    type_values(app, **{"Intraclass correlation": 0.1, "Share of first arm": 0.25})
    design = study_of(app).design
    assert design.units == Units(name="tray", samples=6.0, icc=0.1)
    assert design.arms == Arms(share=0.25)
    texts = {field.label for field in choose_kind(app, "anova").text_input}
    assert texts & {"Sampling unit", "Experimental unit"} == {"Sampling unit"}
    assert study_of(choose_kind(app, "two_group")).design.units == design.units


def test_lab_of_the_form_has_calendar_and_currency() -> None:
    app = pick(form("the template", LAB), "Easy and hard lab", "the same lab")
    app.date_input[0].set_value(date(2027, 3, 6))
    type_text(at(app, LAB), "Currency", " EUR ")
    type_values(at(app, LAB), **{"A staff unit a day, EUR": 30.0, "Overhead, %": 20.0})
    lab = study_of(app).labs.medium
    assert (lab.start_date, lab.currency) == (date(2027, 3, 6), "EUR")
    assert (lab.cost_model.per_staff_day, lab.cost_model.overhead_percent) == (30, 20)
    assert "'$' is not allowed" in alerts(type_text(at(app, LAB), "Currency", "$"))[0].text


def test_file_keeps_its_notes_and_faults() -> None:
    app = form("the template")
    assert file_of(app) == template_text()
    type_text(at(app, COMPARISON), NAME, "Beans")
    assert "# " not in file_of(app)
    assert file_of(press(app, "Undo")) == template_text()
    broken = template_text().replace("kind: two_group", "kind: two: group")
    write(app, broken)
    assert "mapping values are not allowed in this context" in app.table[0].value.to_string()
    assert not can_press(at(app, LAB), "Use this study")
    assert file_of(app) == broken
    assert file_of(press(app, "Undo")) == template_text()


def test_forbidden_text_is_refused_at_its_field() -> None:
    app = form(part=COMPARISON)
    for text in ("a\u202eb", "x\x00y", "![i](//x.test/a)\u2066"):
        assert alerts(type_text(app, "Research question", text))
        assert not leaks(app)
        assert not can_press(app, "Use this study")
    type_text(app, "Research question", "Why.")
    type_text(at(app, CHECK), "Id in addresses", "psy_stroop")
    assert "'psy_stroop' is already the id of a study on" in alerts(app)[0].text


def test_form_comes_back_after_another_start() -> None:
    app = type_text(form(), NAME, "Mine")
    press(press(app, "Start over"), "Back to the form")
    assert study_of(app).paper.title == "Mine"
    press(press(app, "Start over"), "Start the form")
    assert study_of(press(app, "Undo")).paper.title == "Mine"
    press(press(app, "Use this study") and at_gallery(app), "Edit")
    assert app.text_input[0].value == "Mine"


@pytest.mark.long
def test_hostile_text_is_text_in_every_field() -> None:
    app = write(unopened(), hostile_study().text)
    numbers: set[int] = set()
    for part in study_form.PARTS:
        assert not leaks(at(app, part)), part
        numbers |= seen(app)
        for field in (*app.text_input, *app.text_area):
            assert 0 < field.max_chars <= 300_000, field.label
    assert len(numbers) > 20
    for part, adds in product((COMPARISON, ASSUMPTIONS, NEEDS, LAB), (True, False)):
        at(app, part)  # an entry before its fields
        for field in [*app.text_input, *app.text_area]:
            other = ("Study file (YAML)", "Id in addresses", "Field of research")
            if field.label not in other and field.label.startswith("Add a ") == adds:
                limit = {"Short name": 30, "Currency": 8}.get(field.label, 200)
                field.set_value(marked(99, ATTACK.replace("\n", " "))[:limit])
        assert not leaks(at(app, part)), part
    type_text(at(app, LAB), "Currency", "EUR")  # the attack is no currency
    assert 99 in seen(at(app, CHECK))
    assert not leaks(press(app, "Use this study"))


def test_original_by_its_interval_is_removed_again() -> None:
    app = pick(form(part=ASSUMPTIONS), WAY, "Cohen's d")
    type_values(app, **{"Cohen's d": 0.5, "Interval from": 0.6, "to": 0.9})
    assert "does not hold the effect of 0.5" in " ".join(alert.text for alert in alerts(app))
    type_number(app, "Interval from", 0.1)
    original = study_of(app).design.original
    assert original is not None
    assert (original.effect, original.low, original.high) == (0.5, 0.1, 0.9)
    app = pick(at(app, ASSUMPTIONS), WAY, "not given")
    assert study_of(app).design.original is None


@pytest.mark.parametrize("kind", one_in(4, (kind for kind, row in KINDS.items() if row.effect)))
def test_original_of_every_kind_in_every_way(kind: str) -> None:
    app, counts = choose_kind(form(), kind), {"n", "n1", "n2", "events", "samples"}
    ways = next(box for box in app.selectbox if box.label == WAY).options
    numbers = {
        source.label: [number for number in source.asked if number.name not in counts]
        for source in KINDS[kind].sources
    }
    assert len(ways) - 2 == len({frozenset(n.name for n in asked) for asked in numbers.values()})
    for way in ways[2:]:
        drawn = {field.label for field in pick(app, WAY, way).number_input}
        assert {number.label for number in numbers[way]} <= drawn
