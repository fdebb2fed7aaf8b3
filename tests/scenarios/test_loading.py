"""Studies from files: every shipped one loads, every broken one says where and why."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.errors import Fault, ScenarioError
from replicalab.models import LAB_DIMENSIONS, LabManagerActionType
from replicalab.scenarios import (
    Difficulty,
    Pack,
    Study,
    broken_scenarios,
    generate_scenario,
    list_scenarios,
    load_scenario,
    parse_study,
)
from replicalab.scenarios.loading import SCENARIO_FOLDER
from replicalab.scenarios.reading import Data, read_document
from tests.scenarios.tiny_study import STUDY_TEXT

FILES = sorted(SCENARIO_FOLDER.glob("*/*.yaml"))
SHIPPED = [path.stem for path in FILES]


def shipped_study(path: Path) -> Study:
    """Return the study in a shipped file."""
    return parse_study(path.read_bytes(), path.name)


def bent(*changes: tuple[str, str]) -> str:
    """Return the small study file with each (old, new) part replaced, once."""
    text = STUDY_TEXT
    for old, new in changes:
        assert text.count(old) >= 1, old
        text = text.replace(old, new, 1)
    return text


def message(text: str) -> str:
    """Return what is said about a study file that must be refused."""
    with pytest.raises(ScenarioError) as refused:
        parse_study(text, "x.yaml")
    return str(refused.value)


# --- Shipped files ---


def test_shipped_folder_has_studies_and_none_is_broken() -> None:
    assert broken_scenarios() == []
    assert {"bio_jq1_myeloma", "fin_momentum", "math_four_colour", "ml_resnet_cifar10"} <= {
        study.scenario_id for study in list_scenarios()
    }


@pytest.mark.parametrize("scenario_id", SHIPPED)
@pytest.mark.parametrize("difficulty", list(Difficulty))
def test_shipped_study_loads_at_each_difficulty(scenario_id: str, difficulty: Difficulty) -> None:
    pack = load_scenario(scenario_id, difficulty)
    assert (pack.scenario_id, pack.difficulty, pack.seed) == (scenario_id, difficulty, 0)
    assert pack.expected is not None


@pytest.mark.parametrize("path", FILES, ids=SHIPPED)
def test_shipped_study_survives_python_json_and_its_own_file_format(path: Path) -> None:
    study = shipped_study(path)
    assert Study.model_validate(study.model_dump()) == study
    assert Study.model_validate_json(study.model_dump_json()) == study
    assert parse_study(study.model_dump_json(), "json is yaml") == study


@pytest.mark.parametrize("path", FILES, ids=SHIPPED)
@pytest.mark.parametrize("difficulty", list(Difficulty))
def test_expected_outcome_adds_up(path: Path, difficulty: Difficulty) -> None:
    study = shipped_study(path)
    lab = study.labs.at(difficulty)
    expected, plan = lab.expected, study.reference_protocol
    assert expected is not None
    assert expected.credits == (
        10 * expected.sample_size
        + 50 * expected.duration_days
        + 25 * len(plan.controls)
        + 100 * len(plan.required_equipment)
        + 75 * len(plan.required_reagents)
    )
    assert expected.credits <= lab.budget
    assert expected.duration_days == min(plan.duration_days, lab.days)
    assert (expected.answer is LabManagerActionType.ACCEPT) == (not expected.fails)
    assert (expected.answer is LabManagerActionType.REJECT) == bool(expected.still_fails)
    assert set(expected.fails) <= set(LAB_DIMENSIONS)
    assert ("equipment" in expected.fails) == bool(lab.booked)
    assert ("reagents" in expected.fails) == bool(lab.out_of_stock)
    assert ("schedule" in expected.fails) == (plan.duration_days > lab.days)
    assert (expected.evidence is None) == (expected.duration_days < study.min_days)


@pytest.mark.parametrize("path", FILES, ids=SHIPPED)
def test_shipped_study_explains_every_number_we_chose(path: Path) -> None:
    study = shipped_study(path)
    design = study.design
    assert (design.effect_planning is None) or "effect_planning" in design.why
    assert (design.sesoi is None) or "sesoi" in design.why
    assert any(fact.confidence.value == "verified" for fact in study.paper.facts)


@pytest.mark.parametrize("scenario_id", ["bio_jq1_myeloma", "fin_momentum"])
def test_contested_study_says_so_on_its_card(scenario_id: str) -> None:
    card = next(study for study in list_scenarios() if study.scenario_id == scenario_id)
    assert re.match("Mixed replication|Weaker after publication", card.contested or "")


# --- One file ---


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            [("budget: 500", "budget: -5")],
            "x.yaml: line 66, labs.easy.budget: -5 is not allowed; must be greater than 0",
        ),
        (
            [("budget: 500", 'budget: "500"')],
            "x.yaml: line 66, labs.easy.budget: '500' is not allowed; must be a number",
        ),
        (
            [("budget: 500", "budget: 1e999")],
            "x.yaml: line 66, labs.easy.budget: inf is not allowed; must be a finite number",
        ),
        (
            [("budget: 500", "budget: 2e9")],
            "x.yaml: line 65, labs.easy: budget is 2,000,000,000; "
            "a study's lab has at most 1,000,000,000",
        ),
        (
            [("days: 5", "days: 2.5")],
            "x.yaml: line 67, labs.easy.days: 2.5 is not allowed; must be a whole number",
        ),
        (
            [("days: 5", "days: 12:30")],
            "x.yaml: line 67, labs.easy.days: '12:30' is not allowed; must be a whole number",
        ),
        (
            [("hard: false", "hard: no")],
            "x.yaml: line 39, constraints[0].hard: 'no' is not allowed; must be true or false",
        ),
        (
            [('title: "A tiny study"', "title: true")],
            "x.yaml: line 5, paper.title: true is not allowed; "
            "must be text, in quotes if it looks like a number or true or false",
        ),
        (
            [('title: "A tiny study"', 'title: " "')],
            "x.yaml: line 5, paper.title: ' ' is not allowed; must not be empty",
        ),
        (
            [('title: "A tiny study"', "title:")],
            "x.yaml: line 5, paper.title: an empty value is not allowed; "
            "must be text, in quotes if it looks like a number or true or false",
        ),
        (
            [("staff: 2", "stuff: 2")],
            "x.yaml: line 65, labs.easy.staff: this field is missing; add it\n"
            "x.yaml: line 68, labs.easy.stuff: unknown key; did you mean 'staff'? known: "
            "budget, days, staff, booked, out_of_stock, cost_model, staff_model, expected",
        ),
        (
            [("    staff: 2", "    staff: 2\n    cost_model: {xyz: 1}")],
            "x.yaml: line 69, labs.easy.cost_model.xyz: unknown key; known: "
            "per_sample, per_day, per_control, per_equipment_item, per_reagent",
        ),
        (
            [("      source:", "      sauce:")],
            "x.yaml: line 16, paper.facts[0].source: this field is missing; add it\n"
            "x.yaml: line 17, paper.facts[0].sauce: unknown key; did you mean 'source'? known: "
            "text, source, confidence, where",
        ),
        ([("min_days: 1\n", "")], "x.yaml: min_days: this field is missing; add it"),
        (
            [("doi: ", 'doi: "https://doi.org/10.1000/x" # ')],
            "x.yaml: line 7, paper.doi: 'https://doi.org/10.1000/x' is not allowed; "
            "must be a bare DOI such as 10.1000/xyz123, or null",
        ),
        (
            [("scenario_id: tiny", "scenario_id: Tiny-1")],
            "x.yaml: line 2, scenario_id: 'Tiny-1' is not allowed; "
            "must be lower-case letters, digits and _, beginning with a letter",
        ),
        (
            [("confidence: verified", "confidence: sure")],
            "x.yaml: line 18, paper.facts[0].confidence: 'sure' is not allowed; "
            "must be 'verified', 'recalled', 'derived' or 'planning value'",
        ),
        (
            [('success_criteria:\n  - "p < 0.05"', "success_criteria: []")],
            "x.yaml: line 30, success_criteria: a list of 0 is not allowed; "
            "must have at least one entry",
        ),
        (
            [('success_criteria:\n  - "p < 0.05"', "success_criteria: {a: b}")],
            "x.yaml: line 30, success_criteria: a block of keys is not allowed; "
            "must be a list, one '- entry' per line",
        ),
        (
            [('booked: {"kettle": 6}', "booked: [kettle]")],
            "x.yaml: line 73, labs.medium.booked: a list of 1 is not allowed; "
            "must be 'key: value' lines, or {} for none",
        ),
        (
            [('booked: {"kettle": 6}', 'booked: {"": 6}')],
            "x.yaml: line 73, labs.medium.booked.: '' is not allowed; must not be empty",
        ),
        (
            [("design:\n", "design: soon\nold:\n")],
            "x.yaml: line 19, design: 'soon' is not allowed; must be 'key: value' lines\n"
            "x.yaml: line 20, old: unknown key; known: format, scenario_id, domain_id, paper, "
            "design, success_criteria, hidden_reference, constraints, equipment, reagents, "
            "substitutions, controls, policy_rules, min_days, samples_per_day, "
            "reference_protocol, labs",
        ),
        (
            [("alpha: 0.05", "alpha: null")],
            "x.yaml: line 19, design: a two_group design has no alpha; give one, for example 0.05",
        ),
        (
            [('"empty cup", droppable', '"empty cup", droppable: 1, dropable')],
            "x.yaml: line 49, controls[0].dropable: unknown key; did you mean 'droppable'? "
            "known: name, droppable, protects_against\n"
            "x.yaml: line 49, controls[0].droppable: 1 is not allowed; must be true or false",
        ),
        (
            [("technique: ", f"technique: [] # {'x' * 99}\n  rationals: ")],
            "x.yaml: line 59, reference_protocol.technique: a list of 0 is not allowed; "
            "must be text, in quotes if it looks like a number or true or false\n"
            "x.yaml: line 60, reference_protocol.rationals: unknown key; "
            "did you mean 'rationale'? known: sample_size, controls, technique, duration_days, "
            "required_equipment, required_reagents, rationale",
        ),
        (
            [("days: 5", f"days: {'9' * 99}")],
            f"x.yaml: line 67, labs.easy.days: '{'9' * 58}… is not allowed; must be a whole number",
        ),
    ],
    ids=lambda value: str(value[0][1])[:24] if isinstance(value, list) else "",
)
def test_field_fault_names_line_path_value_and_remedy(
    changes: list[tuple[str, str]], said: str
) -> None:
    assert message(bent(*changes)) == said


HEAT_AGAIN = "  - {key: heat, label: x, quantity: 1, unit: x, comparator: '=', hard: true}"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            [('booked: {"kettle": 6}', 'booked: {"ketle": 6}')],
            "x.yaml: line 73, labs.medium.booked.ketle: 'ketle' is not in this study; "
            "did you mean 'kettle'? known: kettle, Thermometer, ice box",
        ),
        (
            [('booked: {"kettle": 6}', 'booked: {"kettle": 6, "KETTLE ": 7}')],
            "x.yaml: line 73, labs.medium.booked: 'kettle' is listed twice; list it once",
        ),
        (
            [('out_of_stock: ["tea"]', 'out_of_stock: ["kettle", "water", " Water"]')],
            "x.yaml: line 79, labs.hard.out_of_stock: 'water' is listed twice; list it once\n"
            "x.yaml: line 79, labs.hard.out_of_stock[0]: 'kettle' is not in this study; "
            "known: tea, water, (-)-tea",
        ),
        (
            [('original: "kettle"', 'original: "samovar"')],
            "x.yaml: line 43, substitutions[0].original: 'samovar' is not in this study; "
            "known: kettle, Thermometer, ice box, tea, water, (-)-tea",
        ),
        (
            [
                ('controls: ["empty cup"]', 'controls: ["empty cap"]'),
                ('required_equipment: ["kettle"]', 'required_equipment: ["kettle", "pot"]'),
                ('required_reagents: ["tea"]', 'required_reagents: ["(+)-tea"]'),
            ],
            "x.yaml: line 58, reference_protocol.controls[0]: 'empty cap' is not in this study; "
            "did you mean 'empty cup'? known: empty cup\n"
            "x.yaml: line 61, reference_protocol.required_equipment[1]: 'pot' is not in this "
            "study; known: kettle, Thermometer, ice box\n"
            "x.yaml: line 62, reference_protocol.required_reagents[0]: '(+)-tea' is not in this "
            "study; did you mean '(-)-tea'? known: tea, water, (-)-tea",
        ),
        (
            [("key: heat", "key: budget")],
            "x.yaml: line 39, constraints[0].key: 'budget' is taken; "
            "choose another key: every lab adds this one itself",
        ),
        (
            [("hard: false}", "hard: false}\n" + HEAT_AGAIN)],
            "x.yaml: line 40, constraints[1].key: 'heat' is used twice; choose another key",
        ),
        (
            [
                (
                    'forbidden_phrases: ["open fire"]\n',
                    'forbidden_phrases: ["open fire"]\n'
                    '  - {key: no_fire, restriction: "x", forbidden_phrases: ["y"]}\n',
                )
            ],
            "x.yaml: line 54, policy_rules[1].key: 'no_fire' is used twice; choose another key",
        ),
        (
            [('source: "Table 1"\nsuccess', 'source: "Table 1"\n  why: {flor: "x"}\nsuccess')],
            "x.yaml: line 30, design.why.flor: 'flor' is not in this study; did you mean 'floor'? "
            "known: kind, effect_published, effect_planning, sesoi, alpha, target, floor, "
            "unit_of_n, population_max, groups, margin, event_share, source, why",
        ),
    ],
    ids=lambda value: str(value[0][1])[:24] if isinstance(value, list) else "",
)
def test_fault_between_fields_names_line_path_value_and_remedy(
    changes: list[tuple[str, str]], said: str
) -> None:
    assert message(bent(*changes)) == said


def test_every_fault_is_reported_at_once_in_file_order() -> None:
    with pytest.raises(ScenarioError) as refused:
        parse_study(
            bent(("days: 5", "days: 0"), ("alpha: 0.05", "alpha: 2"), ("1\n", "1\nx: y\n")), "x"
        )
    assert [fault.path for fault in refused.value.faults] == ["x", "design.alpha", "labs.easy.days"]


def test_labels_compare_without_case_and_spare_spaces() -> None:
    study = parse_study(bent(('booked: {"kettle": 6}', 'booked: {"KETTLE ": 6}')), "x")
    assert study.labs.medium.booked == {"KETTLE": 6}


@given(st.text() | st.binary())
def test_parse_study_raises_nothing_but_scenario_errors(text: str | bytes) -> None:
    with pytest.raises(ScenarioError):
        parse_study(text, "x.yaml")


def faults_in(text: str) -> tuple[Fault, ...]:
    """Return the faults that are reported of a file, none if it can be used."""
    try:
        parse_study(text, "x.yaml")
    except ScenarioError as error:
        return error.faults
    return ()


def paths_in(data: Data, here: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Return the path of every value in the data, except the whole."""
    inner: list[tuple[str | int, Data]] = []
    if isinstance(data, dict):
        inner = [*data.items()]
    elif isinstance(data, list):
        inner = [*enumerate(data)]
    found = [[(*here, step), *paths_in(value, (*here, step))] for step, value in inner]
    return [path for part in found for path in part]


def with_value(data: Data, path: tuple[str | int, ...], value: Data) -> Data:
    """Return the data with another value at the path."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if isinstance(data, dict):
        return {
            key: with_value(old, rest, value) if key == step else old for key, old in data.items()
        }
    assert isinstance(data, list)
    return [with_value(old, rest, value) if at == step else old for at, old in enumerate(data)]


TINY = read_document(STUDY_TEXT, "tiny").data
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.sampled_from(paths_in(TINY)), anything)
def test_any_value_anywhere_is_read_or_refused_with_its_place(
    path: tuple[str | int, ...], value: Data
) -> None:
    text = json.dumps(with_value(TINY, path, value), ensure_ascii=False, indent=1)
    assert all(fault.problem and fault.remedy for fault in faults_in(text))


# --- A folder ---

Shelf = Callable[..., Path]


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """Write files, given as name=text with ``__`` for the slash, and return their folder."""

    def write(**files: str | bytes) -> Path:
        for name, text in files.items():
            path = tmp_path / f"{name.replace('__', '/')}.yaml"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path

    return write


def named(scenario_id: str, domain_id: str = "demo") -> str:
    """Return the small study under another id and domain."""
    return bent(("tiny", scenario_id), ("demo", domain_id))


def test_list_is_sorted_by_domain_and_id(shelf: Shelf) -> None:
    folder = shelf(
        demo_b__one=named("one", "demo_b"), demo__two_b=named("two_b"), demo__two=named("two")
    )
    assert [(one.domain_id, one.scenario_id) for one in list_scenarios(folder)] == [
        ("demo", "two"),
        ("demo", "two_b"),
        ("demo_b", "one"),
    ]


def test_summary_holds_what_a_card_needs(shelf: Shelf) -> None:
    (card,) = list_scenarios(shelf(demo__tiny=bent(("caution:", "contested: Yes.\n  caution:"))))
    assert card.model_dump(mode="json") == {
        "scenario_id": "tiny",
        "domain_id": "demo",
        "title": "A tiny study",
        "citation": "Someone (2020). A tiny study.",
        "doi": "10.1000/tiny",
        "goal": "Measure both again.",
        "published": "n = 10, d = 1.",
        "teaches": "Patience.",
        "contested": "Yes.",
        "kind": "two_group",
        "unit_of_n": "cups",
        "reference_sample_size": 10,
    }


def test_broken_files_leave_the_rest_listed(shelf: Shelf) -> None:
    folder = shelf(
        demo__tiny=STUDY_TEXT,
        demo__other=STUDY_TEXT,
        wrong__stray=named("stray"),
        demo__bytes=b"\xff",
        demo__bad=bent(("days: 5", "days: 0")),
        later__tiny=named("tiny", "later"),
        demo__huge="#" * 300 * 1024,
    )
    (folder / "demo" / "folder.yaml").mkdir()
    (folder / "demo" / "gone.yaml").symlink_to(folder / "nowhere")
    assert [one.scenario_id for one in list_scenarios(folder)] == ["tiny"]
    here = folder.name
    assert [str(one) for one in broken_scenarios(folder)] == [
        f"{here}/demo/bad.yaml: line 67, labs.easy.days: 0 is not allowed; "
        "must be greater than or equal to 1",
        f"{here}/demo/bytes.yaml: line 1, byte 0xff is not UTF-8 text; save the file as UTF-8",
        f"{here}/demo/folder.yaml: the file cannot be read (it is a folder); "
        "check that it is a readable file",
        f"{here}/demo/gone.yaml: the file cannot be read (No such file or directory); "
        "check that it is a readable file",
        f"{here}/demo/huge.yaml: the file has 307200 bytes, more than the 262144 allowed; "
        "shorten it",
        f"{here}/demo/other.yaml: line 2, scenario_id: 'tiny' is not the file's name; "
        "write 'other', or move the file",
        f"{here}/later/tiny.yaml: scenario_id: 'tiny' is already the id of "
        f"{here}/demo/tiny.yaml; choose another id",
        f"{here}/wrong/stray.yaml: line 3, domain_id: 'demo' is not the folder's name; "
        "write 'wrong', or move the file",
    ]


def test_missing_folder_lists_nothing(tmp_path: Path) -> None:
    assert list_scenarios(tmp_path / "none") == []
    assert broken_scenarios(tmp_path / "none") == []


def test_changed_file_is_read_again(shelf: Shelf) -> None:
    folder = shelf(demo__tiny=STUDY_TEXT)
    assert load_scenario("tiny", folder=folder).lab.budget == 500
    shelf(demo__tiny=bent(("budget: 500", "budget: 600")))
    os.utime(folder / "demo" / "tiny.yaml", ns=(1, 1))
    assert load_scenario("tiny", folder=folder).lab.budget == 600


def test_unchanged_pack_is_not_built_again() -> None:
    assert load_scenario("fin_momentum", "hard", 3) is load_scenario("fin_momentum", "hard", 3)


def test_loaded_broken_file_says_what_is_wrong_each_time(shelf: Shelf) -> None:
    folder = shelf(demo__tiny=bent(("days: 5", "days: 0")))
    for _ in range(2):
        with pytest.raises(ScenarioError, match=r"tiny\.yaml: line 67, labs\.easy\.days: 0 is not"):
            load_scenario("tiny", folder=folder)


@pytest.mark.parametrize("path", FILES, ids=SHIPPED)
def test_broken_copy_of_a_shipped_file_leaves_the_others(path: Path, tmp_path: Path) -> None:
    shutil.copytree(SCENARIO_FOLDER, tmp_path, dirs_exist_ok=True)
    (tmp_path / path.parent.name / path.name).write_text("format: 1\nformat: 2\n")
    assert [one.scenario_id for one in list_scenarios(tmp_path)] == [
        one for one in SHIPPED if one != path.stem
    ]
    assert [one.source for one in broken_scenarios(tmp_path)] == [
        f"{tmp_path.name}/{path.parent.name}/{path.name}"
    ]


# --- One study in one lab ---


def refusal(call: Callable[[], Pack]) -> str:
    """Return what is said about a study or lab that there is not."""
    with pytest.raises(ScenarioError) as refused:
        call()
    return str(refused.value)


def test_load_refuses_unknown_names_with_the_known_ones(shelf: Shelf) -> None:
    folder = shelf(demo__tiny=STUDY_TEXT, demo__other=named("other"))
    said = refusal(lambda: load_scenario("tinny", folder=folder))
    assert said == (
        "scenarios: scenario_id: 'tinny' is unknown; did you mean 'tiny'? known: other, tiny"
    )
    said = refusal(lambda: load_scenario("../../etc/passwd", folder=folder))
    assert said == "scenarios: scenario_id: '../../etc/passwd' is unknown; known: other, tiny"
    said = refusal(lambda: load_scenario("tiny", "harder", folder=folder))
    assert said == (
        "scenarios: difficulty: 'harder' is unknown; did you mean 'hard'? known: easy, medium, hard"
    )
    said = refusal(lambda: generate_scenario(1, "dem", "easy", folder=folder))
    assert said == "scenarios: domain_id: 'dem' is unknown; did you mean 'demo'? known: demo"
    said = refusal(lambda: load_scenario("tiny", folder=folder / "none"))
    assert said == "scenarios: scenario_id: 'tiny' is unknown; known: none"


@pytest.mark.parametrize("seed", [-1, True, 2.0, "2", None, 2**63])
def test_load_and_generate_refuse_what_is_no_seed(seed: int) -> None:
    load_scenario("fin_momentum", "easy", 1)
    load_scenario("fin_momentum", "easy", 2)
    said = f"lab: seed: {seed!r} is not a seed; use a whole number from 0 to {2**63 - 1}"
    assert refusal(lambda: load_scenario("fin_momentum", "easy", seed)) == said
    assert refusal(lambda: generate_scenario(seed, "finance_trading", "easy")) == said


def test_difficulty_may_be_a_name_or_the_enum() -> None:
    assert load_scenario("fin_momentum", "hard") is load_scenario("fin_momentum", Difficulty.HARD)
    assert load_scenario("fin_momentum").difficulty is Difficulty.EASY


def test_generated_study_depends_on_seed_and_domain_only(shelf: Shelf) -> None:
    folder = shelf(**{f"demo__{one}": named(one) for one in "abc"}, far__d=named("d", "far"))
    packs = [generate_scenario(seed, "demo", "hard", folder=folder) for seed in range(12)]
    assert [pack.scenario_id for pack in packs] == list("abccbbaccaba")
    assert [pack.seed for pack in packs] == list(range(12))
    assert packs[5] == load_scenario(packs[5].scenario_id, "hard", 5, folder=folder)
    easy = [generate_scenario(seed, "demo", "easy", folder=folder) for seed in range(12)]
    assert [pack.scenario_id for pack in easy] == [pack.scenario_id for pack in packs]
    assert generate_scenario(5, "far", "easy", folder=folder).scenario_id == "d"
