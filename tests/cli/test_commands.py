"""What the commands answer: the core's values, in words that are pinned, with their exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import docx
import pytest

from replicalab.assessment import assess
from replicalab.cli import COMMANDS, serve
from replicalab.cli.printing import SCHEMA
from replicalab.critique import critique
from replicalab.models import LONGEST_TEXT, revise
from replicalab.negotiation import load
from replicalab.planner import PlanAnalysis, least_loss
from replicalab.registration import PROFILES, QUESTIONS
from replicalab.reports import open_bundle
from replicalab.scenarios import (
    EvidenceAssumptions,
    LabOverrides,
    OwnItem,
    lab_json,
    load_scenario,
    plan_json,
)
from tests.cli.asking import Asking
from tests.golden import assert_golden

STUDY: Final = "psy_stroop"
EXAMPLES: Final = [
    (command.__name__.rpartition(".")[2], number, example)
    for command in COMMANDS
    if command is not serve  # which answers when somebody ends it
    for number, example in enumerate(command.EXAMPLES, start=1)
]


@pytest.mark.parametrize(("command", "number", "example"), EXAMPLES)
def test_example_of_the_help_answers(ask: Asking, command: str, number: int, example: str) -> None:
    for name, made_by in (("plan.json", "plan"), ("talk.json", "negotiate")):
        if name in example:
            ask(f"{made_by} {STUDY} --save {name}")
    said = ask(example)
    assert said.code in (0, 1)
    if command != "batch":
        assert said.err == ""
    told = re.sub(r"^(Library: )/.*/", r"\1/…/", said.out.rstrip("\n"))
    if "--json" in example:
        # Whole answers are long; which values they hold is asked for below.
        told = "\n".join(sorted(_keys(json.loads(told))))
    assert_golden(f"commands/{command}_{number}", f"$ {example}\n{told}\nexit code {said.code}")


@pytest.mark.parametrize(
    "line",
    [
        *("studies", "check {}", "plan {}", "negotiate {}", "negotiate --replay talk.json"),
        *("report {}", "compare {} --lab easy --lab hard", "batch {} --lab hard --workers 1"),
    ],
)
def test_answer_as_json_begins_with_the_number_of_its_form(ask: Asking, line: str) -> None:
    ask(f"negotiate {STUDY} --save talk.json")
    assert next(iter(ask(f"{line.format(STUDY)} --json").data.items())) == ("schema", 1)


def _keys(data: object, path: str = "") -> set[str]:
    """Return every place in plain data, whichever entry of a list it is in."""
    if isinstance(data, dict):
        return {each for key, value in data.items() for each in _keys(value, f"{path}.{key}")}
    if isinstance(data, list) and data:
        return {each for value in data for each in _keys(value, f"{path}[]")}
    return {path}


# --- check --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("study", "lab"),
    [("psy_stroop", "hard"), ("bio_jq1_myeloma", "easy"), ("math_pythagorean", "medium")],
)
def test_check_says_what_the_assessment_says(ask: Asking, study: str, lab: str) -> None:
    said = ask(f"check {study} --lab {lab} --seed 3 --json")
    pack = load_scenario(study, lab, 3)
    plan = assess(pack.reference_protocol, pack)
    assert said.code == (0 if plan.feasible else 1)
    assert said.data["feasible"] is plan.feasible
    assert said.data["cost"] == plan.cost == sum(t["credits"] for t in said.data["cost_terms"])
    assert said.data["evidence"]["value"] == plan.evidence.value
    numbers = [(d["dimension"], d["used"], d["limit"]) for d in said.data["dimensions"]]
    assert numbers == [(str(d), s.used, s.limit) for d, s in plan.slack.items()]


def test_check_takes_a_plan_by_its_changes(ask: Asking) -> None:
    pack = load_scenario(STUDY, "medium")
    control, item = pack.controls[0].name, pack.equipment[0]
    changes = f'--samples 9 --days 2 --without "{control.upper()}" --swap "{item}" "a new one"'
    found = ask(f"check {STUDY} {changes} --json").data["plan"]
    assert (found["sample_size"], found["duration_days"]) == (9, 2)
    assert control not in found["controls"]
    assert found["required_equipment"][0] == "a new one"
    assert found["technique"] == pack.reference_protocol.technique


def test_check_takes_a_lab_file_a_question_and_the_options_in_their_place(ask: Asking) -> None:
    own = LabOverrides(name="Ours", budget=5000, days=9)
    Path("lab.json").write_text(lab_json(own))
    asked = "--effect 0.4 --dropout 0.25 --target 0.9"
    line = f"check {STUDY} --lab-file lab.json --budget 7000 --start-day 2 {asked} --json"
    found = ask(line).data
    assert found["lab"] | {"budget": 7000, "days": 9, "days_left": 8} == found["lab"]
    assert found["own_lab"]["name"] == "Ours"
    assert found["question"] == {"effect": 0.4, "dropout": 0.25, "target": 0.9}
    pack = load_scenario(STUDY, "medium")
    question = EvidenceAssumptions(effect=0.4, dropout=0.25, target=0.9)
    evidence = assess(pack.reference_protocol, pack.with_own(own, question)).evidence
    assert (found["evidence"]["value"], found["evidence"]["counted"]) == (evidence.value, 75)


# --- critique -----------------------------------------------------------------------------------


def test_critique_tells_what_the_core_says_and_what_its_author_answers(ask: Asking) -> None:
    Path("answers.json").write_text(json.dumps({"choices": {"blinding": ["Nobody"]}}))
    found = {
        name: {
            each["question"]: each
            for each in ask(f"critique {STUDY} {how} --json").data["critique"]
        }
        for name, how in (("silent", ""), ("said", "--answers answers.json"))
    }
    pack = load_scenario(STUDY, "medium")
    remarks = critique(assess(pack.reference_protocol, pack))
    assert [each["text"] for each in found["silent"].values()] == [each.text for each in remarks]
    assert [found[name]["blinding"]["standing"] for name in found] == ["unsaid", "concern"]
    assert ask(f"critique {STUDY}").code == 1
    assert ask(f"critique {STUDY} --answers nowhere.json").code == 2


# --- plan ---------------------------------------------------------------------------------------


def test_plan_that_is_saved_passes_the_check(ask: Asking) -> None:
    assert ask(f"plan {STUDY} --lab hard --save best.json").code == 0
    pack = load_scenario(STUDY, "hard")
    assert Path("best.json").read_text() == plan_json(
        least_loss(pack.reference_protocol, pack).plan, STUDY
    )
    assert ask(f"check {STUDY} --lab hard").code == 1
    assert ask(f"check {STUDY} --lab hard --plan best.json").code == 0
    assert ask(f"plan {STUDY} --budget 1").code == 1, "no plan fits"


def test_plan_tells_each_change_and_what_it_would_take(ask: Asking) -> None:
    found = ask(f"plan {STUDY} --json").data
    pack = load_scenario(STUDY, "medium")
    options = PlanAnalysis(assess(pack.reference_protocol, pack))
    assert found["least_loss"]["plan"] == options.least.plan.model_dump()
    saved = sum(change["credits_saved"] for change in found["least_loss"]["changes"])
    assert saved == found["least_loss"]["credits_saved"] == 1000
    assert found["offer"]["plan"] == options.offered.plan.model_dump()
    assert [ask["text"] for ask in found["takes"]["run"]["asks"]] == [
        each.text for each in options.asks.run.asks
    ]


# --- negotiate ----------------------------------------------------------------------------------


def test_negotiation_that_is_saved_replays_unless_it_was_edited(ask: Asking) -> None:
    assert ask(f"negotiate {STUDY} --budget 900 --alpha 0.01 --save talk.json").code == 0
    said = ask("negotiate --replay talk.json --json")
    assert (said.code, said.data["identical"]) == (0, True)
    assert said.data["own_lab"] == {"budget": 900}
    assert load(Path("talk.json").read_text()).setup.question.alpha == 0.01
    text = Path("talk.json").read_text()
    Path("talk.json").write_text(text.replace('"sample_size": 25', '"sample_size": 26'))
    told = ask("negotiate --replay talk.json")
    assert told.code == 1
    assert "does not replay" in told.out
    found = ask("negotiate --replay talk.json --json").data
    assert found["differences"]
    assert not found["identical"]


def test_negotiation_opens_with_the_plan_that_is_named_and_without_an_agreement_is_1(
    ask: Asking,
) -> None:
    found = ask(f"negotiate {STUDY} --samples 30 --json").data
    assert found["rounds"][0]["plan"]["plan"]["sample_size"] == 30
    said = ask(f"negotiate {STUDY} --lab hard --seed 3 --scientist baseline --rounds 1 --json")
    assert (said.code, said.data["outcome"]) == (1, "no_deal")


# --- compare ------------------------------------------------------------------------------------


def test_transcript_is_compared_and_checked_by_the_plan_on_which_it_ended(ask: Asking) -> None:
    """The Scientist takes the offer of 25 samples; it opened with the study's 100."""
    ask(f"negotiate {STUDY} --save talk.json")
    study, talk = ask(f"compare {STUDY} --plan study --plan talk.json --json").data["sides"]
    assert [each["plan"]["sample_size"] for each in (study, talk)] == [100, 25]
    assert [each["judged"] for each in (study, talk)] == ["the plan itself", "agreed in round 2"]
    checked = ask(f"check {STUDY} --plan talk.json --json")
    assert (checked.code, checked.data["plan"]["sample_size"]) == (0, 25)
    hard = ask(f"compare {STUDY} --lab hard --plan study --plan talk.json --json").data["sides"][1]
    assert (hard["plan"]["sample_size"], hard["judged"]) == (25, "the plan itself")


def test_plan_that_was_saved_for_another_study_is_told(ask: Asking) -> None:
    ask(f"plan {STUDY} --save plan.json")
    for command in ("check", "plan", "negotiate", "compare", "report"):
        many = "--plan study" if command == "compare" else ""
        save = "--save report.html" if command == "report" else ""
        said = ask(f"{command} fin_momentum {many} --plan plan.json {save}")
        assert said.err == (
            "plan.json: This plan was saved for another study, 'psy_stroop'; here it is judged as "
            "a plan for 'fin_momentum'.\n"
        )
        assert ask(f"{command} {STUDY} {many} --plan plan.json {save}").err == ""


def test_comparison_of_labs_names_their_means(ask: Asking) -> None:
    found = ask(f"compare {STUDY} --lab easy --lab hard --json").data["sides"]
    assert [each["name"] for each in found] == ["easy lab", "hard lab"]
    budgets = [load_scenario(STUDY, lab).lab.budget for lab in ("easy", "hard")]
    assert [each["lab"]["budget"] for each in found] == budgets


# --- report -------------------------------------------------------------------------------------


def test_report_is_saved_in_the_form_that_its_name_says(ask: Asking) -> None:
    beginnings = {
        "a.html": b"<!doctype html",
        "a.md": b"# Stroop",
        "a.xlsx": b"PK",
        "a.docx": b"PK",
    }
    for name, beginning in beginnings.items():
        said = ask(f"report {STUDY} --brief --save {name}")
        assert said.code == 0
        assert f"Saved: {name}" in said.out
        assert Path(name).read_bytes().lower().startswith(beginning.lower())


def test_word_file_is_laid_out_for_the_paper_that_is_asked_for(ask: Asking) -> None:
    for option, wide in (("", 210), ("--paper letter", 215.9)):
        assert ask(f"report {STUDY} --brief --save a.docx {option}").code == 0
        width = docx.Document("a.docx").sections[0].page_width
        assert width is not None
        assert width.mm == pytest.approx(wide, abs=0.1)


def test_report_as_json_is_a_bundle_that_opens_as_it_was(ask: Asking) -> None:
    line = f"report {STUDY} --samples 60 --budget 900 --negotiated"
    ask(f"{line} --save bundle.json")
    opened = open_bundle(Path("bundle.json").read_bytes())
    assert not opened.caution
    assert opened.options.yours.counts.samples == 60
    assert opened.options.yours.pack.lab.budget == 900
    assert opened.run
    told = ask(f"{line} --json")
    saved = json.loads(Path("bundle.json").read_text())
    assert told.data == {"schema": SCHEMA, **saved}
    assert not open_bundle(told.out).caution


def test_every_question_of_a_registration_is_answered_from_a_file(ask: Asking) -> None:
    long = ("<b>Ja & 否</b> | `x` =1+1 " * LONGEST_TEXT)[:LONGEST_TEXT].strip()
    answers = {
        "texts": {key: long for key, asked in QUESTIONS.items() if not asked.options},
        "choices": {key: [asked.options[-1]] for key, asked in QUESTIONS.items() if asked.options},
    }
    Path("answers.json").write_text(json.dumps(answers), encoding="utf-8")
    for form, profile in PROFILES.items():
        said = ask(f"report {STUDY} --registration {form} --answers answers.json --save a.json")
        assert said.code == 0
        values = json.loads(Path("a.json").read_text(encoding="utf-8"))
        for item in profile.items:
            asked, value = item.question, values[item.id]
            if asked.options:
                assert value == (list(asked.options[-1:]) if asked.several else asked.options[-1])
            else:
                assert value.endswith(long)


def test_report_with_a_negotiation_is_about_the_plan_that_it_came_to(ask: Asking) -> None:
    """The Scientist takes the offer of 25 samples; it opened with the study's 100."""
    for form in ("", "--brief"):
        told = ask(f"report {STUDY} --negotiated {form}").out
        assert "25 samples in 3 days" in told
        assert "100 samples in 4 days for 1,600 of 1,000 credits" not in told.split("Round")[0]
        assert "as it is to be run" not in told
        assert form or "| Sample size | 25 |" in told.splitlines()
    assert "25 samples in 3 days" in ask(f"report {STUDY} --negotiated --save talk.html").out


# --- what others wrote ----------------------------------------------------------------------------


def test_hostile_text_reaches_no_terminal(ask: Asking) -> None:
    label = "pump \u202e\u200b"
    own = LabOverrides(items=(OwnItem(label=label, category="equipment", price=3.0),))
    Path("lab.json").write_text(lab_json(own))
    pack = load_scenario(STUDY, "medium")
    plan = revise(pack.reference_protocol, required_equipment=[f"{label}\x1b[31m"])
    Path("plan.json").write_text(plan_json(plan, STUDY))
    files = "--lab-file lab.json --plan plan.json"
    told = ask(f"check {STUDY} {files}").out + ask(f"plan {STUDY} {files}").out
    told += ask(f"negotiate {STUDY} {files}").out
    assert "⟨U+202E⟩" in told
    assert not {"\u202e", "\u200b", "\x1b"} & set(told)


# --- a wish of the study, told by each command that judges a plan --------------------------------

MYELOMA: Final = "bio_jq1_myeloma"
ASKED: Final = {
    "check": f"check {MYELOMA} --days 28",
    "plan": f"plan {MYELOMA}",
    "critique": f"critique {MYELOMA} --days 28",
    "negotiate": f"negotiate {MYELOMA}",
    "compare": f"compare {MYELOMA} --plan study --plan offer",
    "report": f"report {MYELOMA} --days 28",
    "portfolio": f"portfolio {MYELOMA} --budget 9000 --floor-share 0.5",
}
"""In the medium lab, whose 28 days are too few for the survival follow-up."""
JUDGE_NO_PLAN: Final = {"studies", "batch", "serve"}


def test_every_command_is_asked_or_judges_no_plan() -> None:
    names = {command.__name__.rpartition(".")[2] for command in COMMANDS}
    assert names - {*ASKED} == JUDGE_NO_PLAN


@pytest.mark.parametrize("command", ASKED)
def test_command_tells_the_follow_up_that_is_lost(command: str, ask: Asking) -> None:
    assert "'survival follow-up'" in " ".join(ask(ASKED[command]).out.split())
    if command != "report":  # whose JSON is the bundle
        found = json.dumps(ask(f"{ASKED[command]} --json").data)
        asks = '"key": "survival_window", "bounds": "days", "least": 36.0, "most": null'
        assert asks in found


# --- a lab's calendar and money ----------------------------------------------------------------

MONEY: Final = "--currency EUR --staff-price 40 --overhead 15 --start-date 2026-12-05 --weekends no"


def test_calendar_and_money_are_asked_for_and_answered(ask: Asking) -> None:
    found = ask(f"check fin_momentum {MONEY} --json").data
    lab = found["lab"]
    assert (lab["currency"], lab["start_date"], lab["weekends"]) == ("EUR", "2026-12-05", False)
    # 5,050 as written; 4 people for 8 days at 40 are 1,280 more, and 15 % on 6,330 are 949.50.
    assert [each["credits"] for each in found["cost_terms"][5:]] == [1280.0, 949.5]
    assert found["cost"] == 7279.5
    text = ask(f"check fin_momentum {MONEY}").out
    assert "7,279.50 / 3,700 EUR" in text
    assert "'licensed-data terminal' is booked until day 10 (Fri 18 Dec 2026)" in text


def test_options_stand_in_place_of_what_a_lab_s_file_says(ask: Asking) -> None:
    said = LabOverrides(currency="kr", rates={"per_staff_day": 9.0, "per_day": 20.0})
    Path("lab.json").write_text(lab_json(said), encoding="utf-8")
    own = ask("check fin_momentum --lab-file lab.json --staff-price 40 --json").data["own_lab"]
    assert own == {"currency": "kr", "rates": {"per_staff_day": 40.0, "per_day": 20.0}}


@pytest.mark.parametrize("command", ["plan", "negotiate", "report --negotiated", "report --brief"])
@pytest.mark.parametrize("lab", ["easy", "medium", "hard"])
def test_no_command_counts_in_credits_in_a_lab_of_another_currency(
    ask: Asking, command: str, lab: str
) -> None:
    name, _, option = command.partition(" ")
    for study in ("fin_momentum", "bio_jq1_myeloma"):
        text = ask(f"{name} {study} --lab {lab} {MONEY} {option}").out
        assert "EUR" in text
        assert "credit" not in text.replace("EUR instead of credits", "")


def test_bundle_of_such_a_lab_opens_as_it_was_saved(ask: Asking) -> None:
    ask(f"report fin_momentum {MONEY} --negotiated --save bundle.json")
    found = open_bundle(Path("bundle.json").read_bytes())
    assert not found.caution
    assert (found.options.yours.cost, found.case.own_lab.currency) == (7279.5, "EUR")
