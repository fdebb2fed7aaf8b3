"""Make a study: by a power analysis, by the form, by its file; nothing that is typed is lost."""

from __future__ import annotations

import math
from datetime import date
from itertools import product

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.assessment import assess
from replicalab.designs import KINDS, Unknown
from replicalab.drafts import Draft, check, new_study
from replicalab.scenarios import Arms, Difficulty, Study, Units, pack_of, parse_study, template_text
from replicalab.ui import own_studies, study_form
from replicalab.ui.own_studies import StudyCache
from tests.hostile import ATTACK, marked
from tests.hostile_files import hostile_study
from tests.ui.acting import can_press, choose, labels, number, pick, press, run, type_text
from tests.ui.pages import PROTOCOL
from tests.ui.reading import alerts, said, where
from tests.ui.test_hostile_text import leaks, seen
from tests.ui.test_lab_form import fill
from tests.ui.walking import at_editor, at_gallery, at_making, go, query_of, unopened, write

COMPARISON, ASSUMPTIONS, NEEDS, LAB, CHECK, ADVANCED = study_form.PARTS


@pytest.fixture(autouse=True)
def _no_studies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_studies, "_STUDIES", StudyCache())


def begun(kind: str | None = None) -> AppTest:
    """Return the app where a study is begun, with a power analysis of a kind."""
    app = at_making(unopened())
    return pick(app, "Design", kind) if kind else app


def form(source: str = "an empty form", part: str | None = None) -> AppTest:
    """Return the app with the form of a new study, or of a copy, at a part."""
    app = begun()
    next(box for box in app.selectbox if box.label == "Start from").set_value(source)
    press(app, "Start the form")
    return at(app, part) if part else app


def at(app: AppTest, part: str) -> AppTest:
    """Open a part of the form and return the app."""
    app.session_state[study_form.PARTS_KEY] = part
    return at_making(app)


def type_value(app: AppTest, label: str, value: float | None) -> AppTest:
    """Type a number, or empty its field, and return the app."""
    number(app, label).set_value(value)
    return run(app)


def study_of(app: AppTest) -> Study:
    """Return the study in the editor."""
    return parse_study(file_of(app), "x.yaml")


def file_of(app: AppTest) -> str:
    """Return the text in the editor."""
    return str(at_editor(app).text_area(key="own_text").value)


def said_of(app: AppTest, word: str) -> str:
    """Return the one box that speaks of something."""
    [text] = [alert.text for alert in alerts(app) if word in alert.text]
    return text


# --- a power analysis ---

NAME = "Name of the study"
WORK_OUT = "Work out"


def test_power_analysis_is_open_on_protocol_as_it_was_typed_in_its_lab_and_in_any_other() -> None:
    app = type_text(begun(), NAME, "Naps")
    typed = {"Effect: Cohen's d": 0.5, "Power": 0.8, "Days it takes": 30}
    for label, value in typed.items():
        number(app, label).set_value(value)
    assert "128 in all: 64 a group." in said(run(app))
    press(app, "Use this analysis")
    assert where(app) == "Naps · medium lab · Feasible"
    assert number(app, "Sample size").value == 128
    assert number(app, "Duration (days)").value == 30
    assert "power 0.80" in said(app)
    assert query_of(app)["study"] == "my_study"
    fill(press(app, "Your lab"), "Staff units", 2)
    assert "128 samples in 30 days" in said(go(app, PROTOCOL))
    press(type_text(at_making(app), NAME, "Naps again"), "Use this analysis")
    assert query_of(app)["study"] == "my_study_2"
    assert "14 studies." in said(at_gallery(app))


def test_power_analysis_of_any_kind_can_be_used_as_it_is_offered() -> None:
    app = begun()
    for kind in KINDS:
        pick(app, "Design", kind)
        offered = check(Draft(new_study("my_study", kind))).study
        assert offered is not None
        groups = KINDS[kind].groups_of(offered.design)
        fewest = offered.reference_protocol.sample_size
        assert number(app, "Samples in all").value == fewest + -fewest % groups
        assert not alerts(app)
        assert can_press(app, "Use this analysis"), kind


def test_analysis_may_plan_with_the_safeguard_effect_of_what_was_reported() -> None:
    app = pick(begun(), "The effect is typed as", "t and n of both groups")
    # d 0.5 from 20 an arm: the safeguard effect is 0.2263, for which 308 an arm are needed.
    for label, value in (
        ("Reported t", 0.5 * math.sqrt(10)),
        ("Reported n, group 1", 20),
        ("Reported n, group 2", 20),
    ):
        type_value(app, label, value)
    assert "128 in all: 64 a group." in said(app)
    [toggle] = [item for item in app.toggle if "safeguard" in item.label]
    toggle.set_value(True)
    assert "616 in all: 308 a group." in said(run(app))
    type_value(app, "Reported t", 0.8)
    assert "reaches no effect" in said_of(app, "safeguard")
    type_value(app, "Reported t", 0.5 * math.sqrt(10))
    press(app, "Continue in the form")
    design = study_of(app).design
    assert design.effect_planning == pytest.approx(0.2263, abs=5e-5)
    assert design.original is not None
    assert (design.original.n1, design.original.n2) == (20, 20)


def test_wrong_number_of_an_analysis_stays_and_is_told() -> None:
    app = begun()
    for unknown, label, value, text in (
        (Unknown.SAMPLES, "Effect: Cohen's d", 0.0, "effect_planning is 0.0: a two_group design"),
        (Unknown.SAMPLES, "Alpha, two-sided", 1.5, "1.5 is not allowed: must be less than 1."),
        (Unknown.SAMPLES, "Dropout, %", 100.0, "dropout is 100 %: type 0 % or more, below 100 %."),
        (Unknown.SAMPLES, "Days it takes", 0, "must be greater than or equal to 1."),
        (Unknown.SAMPLES, "Power", 1.0, "aim at less than 1, such as 0.99."),
        (Unknown.EVIDENCE, "Samples in all", -1, "-1 is not allowed: must be greater than or"),
        (Unknown.ALPHA, "Samples in all", 2, "2 samples do not reach power 0.80 at any alpha"),
    ):
        pick(app, WORK_OUT, unknown)
        right = number(app, label).value
        [alert] = alerts(type_value(app, label, value))
        assert text in alert.text
        assert number(app, label).value == value
        assert not can_press(app, "Use this analysis")
        type_value(app, label, right)


def test_power_analysis_outlives_another_kind_and_page_and_goes_on_in_the_form() -> None:
    app = type_value(begun(), "Effect: Cohen's d", 0.3)
    pick(app, "Design", "survival")
    pick(at_making(go(app, PROTOCOL)), "Design", "two_group")
    assert number(app, "Effect: Cohen's d").value == 0.3
    press(app, "Continue in the form")
    assert study_of(app).design.effect_planning == 0.3


def test_study_has_a_name_that_no_other_has() -> None:
    app = press(begun(), "Use this analysis")
    assert alerts(app)[0].text.startswith("The study has no name yet.")
    press(type_text(app, NAME, "  Naps   and recall "), "Use this analysis")
    assert where(app).startswith("Naps and recall · ")
    press(type_text(at_making(app), NAME, "naps and Recall"), "Use this analysis")
    taken = "Another study is named “naps and Recall” already. Give this one another name."
    assert [alert.text for alert in alerts(app)] == [taken]
    press(type_text(app, NAME, "Stroop interference"), "Use this analysis")
    assert "is named “Stroop interference” already" in alerts(app)[0].text
    for name in ("My study", "My study (2)", "My study (3)"):
        press(at_making(app), "Start the form")
        assert study_of(app).paper.title == name
        press(app, "Use this study")
        press(at_making(app), "Start over")
    type_text(at(press(app, "Start the form"), COMPARISON), NAME, "My study (2)")
    assert "is named “My study (2)” already" in said(app)
    assert not can_press(app, "Use this study")


# --- the form ---


def test_empty_form_says_what_its_plan_is_worth_and_makes_a_study_that_can_be_used_at_once() -> (
    None
):
    app = form()
    assert {row.title for row in KINDS.values()} <= set(labels(app)), "a card for each kind"
    assert "passes Feasible. Every dimension passes." in said(app)
    assert "Planned evidence: power 0.801, which meets the target of 0.80." in said(app)
    assert "at most 130 samples are affordable: power 0.81." in said(app)
    type_value(at(app, LAB), "Sample size", 40)
    assert "caution Feasible" in said(app) or "power 0.34" in said(app)
    assert not app.get("plotly_chart")
    assert len(at(app, CHECK).get("plotly_chart")) == 1
    press(press(app, "Undo"), "Use this study")
    assert where(app) == "My study · medium lab · Feasible"
    assert study_of(app) == check(Draft(new_study("my_study"))).study


def test_wrong_value_is_told_beside_its_field_and_kept_wherever_one_goes() -> None:
    app = type_value(form(part=ASSUMPTIONS), "Assumed: Cohen's d", -2.0)
    assert said_of(app, "needs one") == (
        "effect_planning is -2.0: a two_group design needs one above 0."
    )
    assert said_of(app, "fault") == ("1 fault to correct, under Assumptions.")
    assert not can_press(app, "Use this study")
    at(app, NEEDS)
    at(go(app, PROTOCOL), ASSUMPTIONS)
    assert number(app, "Assumed: Cohen's d").value == -2.0
    assert "Assumptions: effect_planning is -2.0" in said(at(app, CHECK))
    type_value(at(app, ASSUMPTIONS), "Assumed: Cohen's d", 0.4)
    assert not alerts(app)
    assert can_press(app, "Use this study")


def test_kind_that_is_chosen_again_and_undo_bring_back_what_stood_there() -> None:
    app = form("the template", COMPARISON)
    app.button(key="choose_coverage").click()
    at(run(app), ASSUMPTIONS)
    assert "Assumed: Cohen's d" not in [field.label for field in app.number_input]
    assert number(app, "Most samples there are").value == 1000
    at(app, COMPARISON).button(key="choose_two_group").click()
    assert study_of(run(app)) == parse_study(template_text(), "x.yaml")
    press(press(app, "Undo"), "Undo")
    press(at(app, NEEDS), "Remove this replacement")
    assert len(study_of(app).substitutions) == 1
    press(app, "Undo")
    assert len(study_of(app).substitutions) == 2
    press(app, "Undo")
    press(at_making(app), "Start the form")
    assert study_of(app) == check(Draft(new_study("my_study"))).study


def test_items_replacements_controls_and_rules_are_named_and_described() -> None:
    app = form(part=NEEDS)
    for label, value in (("Minimum days", 3), ("Samples a day", 20)):
        type_value(app, label, value)
    type_text(app, "Reason for the rate", "One booth.")
    choose(app, "Equipment", "booth", "screen")
    choose(app, "Materials and data", "pay")
    type_text(app, "Add a replacement", "quiet room")
    pick(app, "Fidelity loss (0–3)", 2)
    type_value(app, "Effect multiplier (0–1)", 0.8)
    for label, text in (
        ("Add a control", "blind rater"),
        ("Protects against", "hope"),
        ("Add a rule", "No deceit"),
    ):
        type_text(app, label, text)
    at(app, LAB)
    choose(app, "Booked", "booth")
    type_value(app, "booth: booked until day", 4)
    choose(app, "Not available", "pay")
    pick(app, "The easy and the hard lab are", "made from it")
    study = study_of(app)
    assert (study.min_days, study.samples_per_day and study.samples_per_day.value) == (3, 20)
    assert (study.equipment, study.reagents) == (["booth", "screen"], ["pay"])
    [swap] = study.substitutions
    assert (swap.original, swap.alternative) == ("booth", "quiet room")
    assert (swap.fidelity_loss, swap.evidence_factor) == (2, 0.8)
    [control], [rule] = study.controls, study.policy_rules
    assert (control.name, control.protects_against) == ("blind rater", "hope")
    assert (rule.restriction, rule.forbidden_phrases) == ("No deceit", ["No deceit"])
    plan = study.reference_protocol
    assert plan.required_equipment == ["booth", "screen"]
    assert plan.controls == ["blind rater"]
    lab = study.labs.medium
    assert (lab.booked, lab.out_of_stock) == ({"booth": 4}, ["pay"])
    assert not study.labs.easy.booked
    assert assess(plan, pack_of(study, Difficulty.EASY)).lab_feasible
    type_value(at(app, NEEDS), "Samples a day", None)
    assert study_of(app).samples_per_day is None


def test_units_and_arms_are_asked_for_by_kinds_that_may_have_them() -> None:
    app = form("the template", ASSUMPTIONS)
    type_text(app, "Experimental unit", "tray")
    type_value(app, "Samples per unit", 6.0)
    assert study_of(app).design.units == Units(name="tray", samples=6.0)
    type_value(at(app, ASSUMPTIONS), "Intraclass correlation", 0.1)
    type_text(app, "Reason for the units", "Six fit in.")
    type_value(app, "First arm, as a share", 0.25)
    design = study_of(app).design
    assert design.units == Units(name="tray", samples=6.0, icc=0.1)
    assert (design.arms, design.why["units"]) == (Arms(share=0.25), "Six fit in.")
    at(app, COMPARISON).button(key="choose_anova").click()
    texts = [field.label for field in at(run(app), ASSUMPTIONS).text_input]
    assert "Sampling unit" in texts
    assert "Experimental unit" not in texts
    at(app, COMPARISON).button(key="choose_two_group").click()
    assert study_of(at(run(app), ASSUMPTIONS)).design.units == design.units
    type_text(at(app, ASSUMPTIONS), "Experimental unit", "")
    type_value(app, "First arm, as a share", None)
    assert (study_of(app).design.units, study_of(app).design.arms) == (None, None)


def test_dropout_is_asked_for_and_a_worked_out_effect_is_shown_as_documents_write_it() -> None:
    app = form("the template", ASSUMPTIONS)
    type_value(app, "Dropout, as a share", 0.25)
    assert study_of(app).design.dropout == 0.25
    type_value(at(app, ASSUMPTIONS), "Assumed: Cohen's d", 2.5 * math.sqrt(0.1))
    field = number(at(app, ASSUMPTIONS), "Assumed: Cohen's d")
    assert (field.value, field.proto.format) == (2.5 * math.sqrt(0.1), "%.6g")
    assert study_of(app).design.effect_planning == 2.5 * math.sqrt(0.1)


def test_number_beyond_all_bounds_is_told() -> None:
    app = form(part=LAB)
    for value, text in ((1e300, "has at most"), (-1e300, "is not allowed: must be")):
        assert text in alerts(type_value(app, "Budget (credits)", value))[0].text
        at(at(app, NEEDS), LAB)
        assert not can_press(app, "Use this study")


def test_lab_of_the_form_has_a_calendar_and_a_currency_of_its_own() -> None:
    app = form("the template", LAB)
    pick(app, "The easy and the hard lab are", "the same lab")
    app.date_input[0].set_value(date(2027, 3, 6))
    type_text(at(app, LAB), "Currency", " EUR ")
    type_value(at(app, LAB), "A staff unit a day, EUR", 30.0)
    type_value(at(app, LAB), "Overhead, %", 20.0)
    next(toggle for toggle in app.toggle if toggle.label == "Weekends count as days").set_value(
        False
    )
    lab = study_of(run(app)).labs.medium
    assert (lab.start_date, lab.currency, lab.weekends) == (date(2027, 3, 6), "EUR", False)
    assert (lab.cost_model.per_staff_day, lab.cost_model.overhead_percent) == (30, 20)
    type_text(at(app, LAB), "Currency", "")
    assert study_of(app).labs.medium.currency == "credits"
    alert, _ = alerts(type_text(at(app, LAB), "Currency", "$"))
    assert alert.text.startswith("'$' is not allowed: must be 1 to 8 letters or €, £ or ¥")


# --- the file ---


def test_file_keeps_its_notes_until_the_form_changes_it_and_a_faulty_one_waits_under_advanced() -> (
    None
):
    app = form("the template")
    assert file_of(app) == template_text()
    type_text(at(app, COMPARISON), "Name of the study", "Beans")
    assert "# " not in file_of(app)
    title = "Chamber Music and the Growth of Bean Seedlings"
    assert study_of(app) == parse_study(template_text().replace(title, "Beans"), "x.yaml")
    press(app, "Undo")
    assert file_of(app) == template_text()
    broken = template_text().replace("kind: two_group", "kind: two: group")
    write(app, broken)
    assert "mapping values are not allowed in this context" in app.table[0].value.to_string()
    assert "cannot be read as a study yet" in said(at(app, LAB))
    assert not can_press(app, "Use this study")
    assert file_of(app) == broken
    press(app, "Undo")
    assert file_of(app) == template_text()


def test_text_that_cannot_be_is_refused_next_to_its_field() -> None:
    app = form(part=COMPARISON)
    for text in ("a\u202eb", "x\x00y", "![i](//x.test/a)\u2066"):
        assert alerts(type_text(app, "Research question", text))
        assert not leaks(app)
        assert not can_press(app, "Use this study")
    type_text(app, "Research question", "Why.")
    type_text(at(app, CHECK), "Id in addresses", "psy_stroop")
    assert "'psy_stroop' is already the id of a study on" in alerts(app)[0].text
    assert not can_press(app, "Use this study")


def test_form_that_is_left_for_a_new_start_is_one_click_away() -> None:
    app = type_text(form(), "Name of the study", "Mine")
    press(app, "Start over")
    press(app, "Back to the form")
    assert study_of(app).paper.title == "Mine"
    press(app, "Start over")
    press(app, "Start the form")
    assert study_of(app).paper.title == "My study"
    assert study_of(press(app, "Undo")).paper.title == "Mine"
    press(app, "Use this study")
    press(at_gallery(app), "Edit")
    assert app.text_input[0].value == "Mine"


# --- hostile text ---


def test_hostile_text_in_every_field_is_text() -> None:
    app = write(unopened(), hostile_study().text)
    numbers: set[int] = set()
    for part in study_form.PARTS:
        assert not leaks(at(app, part)), part
        numbers |= seen(app)
        for field in (*app.text_input, *app.text_area):
            assert 0 < field.max_chars <= 300_000, field.label
    assert len(numbers) > 20
    written = (COMPARISON, ASSUMPTIONS, NEEDS, LAB)
    for part, adds in product(written, (True, False)):  # an entry before its fields
        at(app, part)
        for field in [*app.text_input, *app.text_area]:
            row = ("Study file (YAML)", "Id in addresses", "Field of research")
            if field.label not in row and field.label.startswith("Add a ") == adds:
                limit = {"Short name": 30, "Currency": 8}.get(field.label, 200)
                field.set_value(marked(99, ATTACK.replace("\n", " "))[:limit])
        assert not leaks(run(app)), part
    type_text(at(app, LAB), "Currency", "EUR")  # for the text is none, which was told
    assert 99 in seen(at(app, CHECK))
    assert not leaks(press(app, "Use this study"))


# --- what the original found ----------------------------------------------------------------------

WAY = "The original’s effect, as reported"


def test_original_by_its_t_gives_the_effects_to_plan_with() -> None:
    app = pick(form(part=ASSUMPTIONS), WAY, "t and n of both groups")
    for label, value in (("Reported t", 2.2), ("n, group 1", 16), ("n, group 2", 16)):
        type_value(app, label, value)
    # d = 2.2 √(2/16); a t of 2.2 at 30 degrees of freedom has p = 0.036.
    assert "Cohen's d 0.778, from t = 2.2, n = 16 and 16" in said(app)
    assert "p = 0.036" in said(app)
    assert "safeguard 0.462" in said(app)
    original = study_of(app).design.original
    assert original is not None
    assert (original.numbers, original.n1, original.n2) == ({"t": 2.2}, 16, 16)


def test_original_by_its_interval_and_taken_away_again() -> None:
    app = pick(form(part=ASSUMPTIONS), WAY, "Cohen's d")
    for label, value in (("Cohen's d", 0.5), ("Interval from", 0.6), ("to", 0.9)):
        type_value(app, label, value)
    assert "does not hold the effect of 0.5" in " ".join(alert.text for alert in alerts(app))
    type_value(app, "Interval from", 0.1)
    original = study_of(app).design.original
    assert original is not None
    assert (original.effect, original.low, original.high) == (0.5, 0.1, 0.9)
    app = pick(at(app, ASSUMPTIONS), WAY, "not given")
    assert study_of(app).design.original is None


@pytest.mark.parametrize("kind", [kind for kind, row in KINDS.items() if row.effect])
def test_original_of_every_kind_is_asked_in_every_way(kind: str) -> None:
    app = form(part=COMPARISON)
    press(app, KINDS[kind].title)
    at(app, ASSUMPTIONS)
    counts = {"n", "n1", "n2", "events", "samples"}
    ways = next(box for box in app.selectbox if box.label == WAY).options
    by_numbers = {
        frozenset(number.name for number in source.asked if number.name not in counts): source
        for source in KINDS[kind].sources
    }
    assert sorted(ways[2:]) == sorted(source.label for source in by_numbers.values())
    for source in by_numbers.values():
        pick(app, WAY, source.label)
        texts = [item.label for item in run(app).number_input]
        request = {number.label for number in source.asked if number.name not in counts}
        assert request <= {*texts}
        assert not app.exception
