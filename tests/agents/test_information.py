"""The Lab Manager's answer to a question: the lab's data, never the hidden reference."""

from typing import Final

import pytest

from replicalab.agents.lab_manager_policy import answer_questions
from replicalab.scenarios import list_scenarios, load_scenario
from tests.factories import EQUIPMENT, REAGENTS, make_pack

CHAMBER, PLATES = EQUIPMENT[0], REAGENTS[0]

LAB: Final = make_pack(budget=2600, days=6, staff=4, booked={CHAMBER: 10}, out_of_stock=[PLATES])
BUDGET: Final = "Budget: 2,600 credits remain."
DAYS: Final = "Time: at most 6 days."
STAFF: Final = "Staff: 4 staff units."
CHAMBER_LINE: Final = "'growth chamber' is booked until day 10; may be replaced by 'window shelf'."
EQUIPMENT_LINE: Final = f"Equipment: {CHAMBER_LINE} 'light meter' is available."
REAGENT_LINE: Final = "Reagents: 'agar plates' is out of stock. 'nutrient broth' is available."
RULES: Final = "Restrictions: No open flames."
EVERYTHING: Final = f"{BUDGET}\n{DAYS}\n{STAFF}\n{EQUIPMENT_LINE}\n{REAGENT_LINE}\n{RULES}"


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("What is the BUDGET?", BUDGET),
        ("How many days do we have?", DAYS),
        ("What is the time\n limit?", DAYS),
        ("How many people are there?", STAFF),
        ("Which equipment is free?", EQUIPMENT_LINE),
        ("Which reagents are there?", REAGENT_LINE),
        ("Which policies apply?", RULES),
        # An item by its name, or the whole lab if no name is recognised.
        ("Until when is the Growth  Chamber taken?", CHAMBER_LINE),
        ("Do we have a light meter?", "'light meter' is available."),
        ("And agar plates?", "'agar plates' is out of stock."),
        ("Hello?", EVERYTHING),
        ("Does it belong to today's ruler?", EVERYTHING),
        ("Sometimes accosted, understaffed.", EVERYTHING),
    ],
)
def test_answer_is_about_what_the_question_asks(question: str, line: str) -> None:
    assert answer_questions([question], LAB) == line


def test_answer_takes_items_first_and_each_topic_once() -> None:
    questions = ["What is the budget?", "Is the budget fixed?", "Is the light meter free today?"]
    assert answer_questions(questions, LAB) == f"'light meter' is available.\n{BUDGET}"
    assert answer_questions([], LAB) == EVERYTHING


def test_answer_says_none_of_an_empty_lab() -> None:
    pack = make_pack(equipment=[], reagents=[], policy_rules=[])
    lines = answer_questions([], pack).splitlines()
    assert lines[3:] == ["Equipment: none.", "Reagents: none.", "Restrictions: none."]


@pytest.mark.parametrize("study", [study.scenario_id for study in list_scenarios()])
def test_shipped_lab_is_answered_without_the_reference(study: str) -> None:
    pack = load_scenario(study, "hard")
    answer = answer_questions([], pack)
    items = [r.label for r in pack.resources if r.category != "personnel"]
    assert [item for item in items if f"'{item}'" not in answer] == []
    assert pack.hidden_reference_spec.summary not in answer
    assert pack.hidden_reference_spec.target_value not in answer


def test_item_name_is_no_topic() -> None:
    lab = load_scenario("fin_overreaction", "hard")
    [line] = answer_questions(["Is the CRSP monthly stock file 1978–2022 there?"], lab).split("\n")
    assert line.startswith("'CRSP monthly stock file 1978–2022' is not available")
