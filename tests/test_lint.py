"""The lint: notes on the three labs, and a warning for each thing that an author should see."""

from __future__ import annotations

from functools import cache
from typing import Final

import pytest

from replicalab.lint import LintFinding, LintLevel, lint
from replicalab.lint.numbers import numbers_in
from replicalab.models import Protocol, Record
from replicalab.scenarios import (
    Difficulty,
    Study,
    list_scenarios,
    load_scenario,
    parse_study,
    study_text,
    template_text,
)

SHIPPED: Final = [study.scenario_id for study in list_scenarios()]
TEMPLATE: Final = parse_study(template_text(), "template.yaml")


def bent(*changes: tuple[str, object]) -> Study:
    """Return the template's study with other values at some dotted paths."""
    data: dict[str, object] = TEMPLATE.model_dump(mode="json")
    for path, value in changes:
        put(data, path.split("."), value)
    return Study.model_validate(data)


def put(data: object, steps: list[str], value: object) -> None:
    """Put a value at a path; numbers are places in a list."""
    step = int(steps[0]) if isinstance(data, list) else steps[0]
    assert isinstance(data, dict | list)
    if len(steps) > 1:
        put(data[step], steps[1:], value)  # type: ignore[index]  # a list has an int, a dict a key
    else:
        data[step] = value  # type: ignore[index]


def said(study: Study, level: LintLevel = LintLevel.WARNING) -> list[tuple[str, str]]:
    """Return (place, message) of the findings of a level."""
    return [(found.place, found.message) for found in lint(study) if found.level is level]


@cache
def shipped(scenario_id: str) -> list[LintFinding]:
    return lint(parse_study(study_text(scenario_id), scenario_id))


# --- What is shipped ---


@pytest.mark.parametrize("scenario_id", SHIPPED)
def test_shipped_study_has_no_warning(scenario_id: str) -> None:
    assert [found for found in shipped(scenario_id) if found.level is LintLevel.WARNING] == []


def test_template_has_no_warning() -> None:
    assert said(TEMPLATE) == []


@pytest.mark.parametrize("scenario_id", SHIPPED)
def test_note_of_a_lab_says_what_its_author_expects(scenario_id: str) -> None:
    notes = {found.place: found.message for found in shipped(scenario_id)}
    for difficulty in Difficulty:
        expected = load_scenario(scenario_id, difficulty).expected
        assert expected is not None
        message = notes[f"labs.{difficulty}"]
        assert f"The Lab Manager answers {expected.answer}, for a plan of " in message
        assert message.endswith(f", {expected.verdict}.")
        assert all(dimension in message for dimension in expected.fails)


def test_finding_survives_python_and_json() -> None:
    found = lint(TEMPLATE)[0]
    assert isinstance(found, Record)
    assert LintFinding.model_validate_json(found.model_dump_json()) == found


# --- The three labs ---


def test_notes_come_first_one_per_lab() -> None:
    assert said(TEMPLATE, LintLevel.NOTE) == [
        (
            "labs.easy",
            "What binds for the reference protocol: nothing. Tightest is staff: 3 of 3 staff "
            "units. The Lab Manager answers accept, for a plan of 68 samples in 21 days: power "
            "0.81, meets target.",
        ),
        (
            "labs.medium",
            "What binds for the reference protocol: protocol, budget, equipment, schedule. "
            "Tightest is budget: 2,130 of 1,800 credits. The Lab Manager answers "
            "suggest_alternative, for a plan of 34 samples in 18 days: power 0.43, below floor.",
        ),
        (
            "labs.hard",
            "What binds for the reference protocol: protocol, budget, equipment, reagents, "
            "schedule, staff. Tightest is budget: 2,130 of 1,400 credits. The Lab Manager answers "
            "suggest_alternative, for a plan of 17 samples in 14 days: power 0.19, below floor.",
        ),
    ]


def test_easy_lab_that_does_not_accept_is_a_warning() -> None:
    assert said(bent(("labs.easy.budget", 2000.0))) == [
        (
            "labs.easy",
            "The easy lab should accept the reference protocol but answers suggest_alternative, "
            "for budget; give this lab more, or plan less.",
        )
    ]


@pytest.mark.parametrize("lab", ["medium", "hard"])
def test_other_lab_that_accepts_is_a_warning(lab: str) -> None:
    easy = TEMPLATE.labs.easy.model_dump(mode="json")
    assert said(bent((f"labs.{lab}", easy))) == [
        (
            f"labs.{lab}",
            "This lab accepts the reference protocol, so there is nothing to negotiate; give it "
            "less budget, days or staff, or let an item be missing.",
        )
    ]


@pytest.mark.parametrize(
    ("field", "written", "both"),
    [
        ("fails", ["budget"], ("budget", "budget, equipment, reagents, schedule, staff")),
        ("answer", "reject", ("reject", "suggest_alternative")),
        ("still_fails", ["staff"], ("staff", "none")),
        ("sample_size", 34, ("34", "17")),
        ("duration_days", 15, ("15", "14")),
        ("credits", 1280.0, ("1,280", "1,270")),
        ("evidence", 0.2, ("0.20", "0.19")),
        ("evidence", None, ("no evidence", "0.19")),
        ("verdict", "above floor", ("above floor", "below floor")),
        ("largest_sample", 31, ("31", "20")),
    ],
)
def test_expectation_that_does_not_come_true_is_a_warning_with_both_values(
    field: str, written: object, both: tuple[str, str]
) -> None:
    [(place, message)] = said(bent((f"labs.hard.expected.{field}", written)))
    assert place == f"labs.hard.expected.{field}"
    assert message == (
        f"The file says {both[0]}, but what happens is {both[1]}; correct this value, or the lab."
    )


def test_expectation_may_name_the_dimensions_that_are_not_the_labs_own() -> None:
    fails = ["protocol", "budget", "equipment", "reagents", "schedule", "staff"]
    assert said(bent(("labs.hard.expected.fails", fails))) == []
    [(_, message)] = said(bent(("labs.hard.expected.fails", [*fails, "policy"])))
    assert "policy" in message


def test_expectation_of_a_largest_sample_that_fits_is_no_warning() -> None:
    assert said(bent(("labs.hard.expected.largest_sample", 20))) == []


# --- Numbers ---


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("effect_published", 0.95, "0.95"),
        ("effect_planning", 0.65, "0.65"),
        ("sesoi", 0.45, "0.45"),
        ("population_max", 12345, "12,345"),
    ],
)
def test_number_of_the_design_without_a_source_is_a_warning(
    field: str, value: float, shown: str
) -> None:
    study = bent((f"design.{field}", value), ("design.why", {}))
    warnings = dict(said(study))
    assert warnings[f"design.{field}"] == (
        f"{shown} has no source; give its reason under design.why.{field}, or add a fact whose "
        "text carries it."
    )
    study = bent((f"design.{field}", value), (f"design.why.{field}", "A reason."))
    assert not [place for place, _ in said(study) if place.startswith("design.")]


def test_bound_that_no_source_names_is_a_warning() -> None:
    assert [place for place, _ in said(bent(("design.source", "Table 1.")))] == [
        "design.target",
        "design.floor",
    ]


def test_number_that_a_fact_carries_has_a_source() -> None:
    study = bent(("design.effect_published", 0.95), ("paper.facts.2.text", "In all, d = 0.950."))
    assert said(study) == []


@pytest.mark.parametrize("field", ["published", "key_finding"])
def test_number_of_the_paper_that_no_fact_carries_is_a_warning_once(field: str) -> None:
    study = bent(
        (f"paper.{field}", "1,234 seedlings, d = 0.90; 1234 seedlings, with a 95 % CI, since 1999.")
    )
    assert said(study) == [
        (
            f"paper.{field}",
            "1,234 stands in no fact; add a fact whose text carries it, with its source.",
        )
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("d = 2.30 [1.10, 3.46]", ["2.30", "1.10", "3.46"]),
        ("-0.42 and \u22120.43", ["0.42", "0.43"]),
        ("1,936 maps, 1936.5 of them", ["1,936", "1936.5"]),
        ("10^6 cubes and 10^-10 esu", ["10^6", "10^-10"]),
        ("0^-1", ["0^-1"]),
        ("F(2,24) = 1.126", ["2", "24", "1.126"]),
        ("24.6 %, t = 2.20.", ["24.6", "2.20"]),
        ("63.3 \u2192 110.3 s", ["63.3", "110.3"]),
        ("H2O and CO2 and x3", []),
        ("in 2010, and 1965\u20131989, and 2009\u201310", []),
        ("n = 2010 and 2,010 people", ["2010"]),
        ("95 % CI, 99.9 % confidence, but 95 % of them", ["95"]),
        ("5 and 5.0 and 5", ["5"]),
        ("9" * 50, []),
        ("1" * 5000 + ".1.1.1" * 1000, []),
    ],
)
def test_numbers_are_read_as_people_write_them(text: str, found: list[str]) -> None:
    assert list(numbers_in(text).values()) == found


# --- The parts and how they fit ---


def test_plan_that_the_study_itself_cannot_count_is_a_warning() -> None:
    study = bent(
        ("design.population_max", 60),
        ("design.why.population_max", "The seeds there are."),
        ("min_days", 22),
        ("samples_per_day", {"value": 3, "why": "One person measures."}),
    )
    found = dict(said(study))
    assert found["design.population_max"] == (
        "60 is fewer than the 68 samples of the reference protocol; plan fewer samples, or raise "
        "this number."
    )
    assert found["reference_protocol.duration_days"] == (
        "21 days is below min_days, 22, so the plan yields no evidence; plan more days, or lower "
        "min_days."
    )
    assert found["reference_protocol.sample_size"] == (
        "At 3 a day only 63 of the 68 samples can count; plan fewer samples or more days."
    )


def test_limits_that_just_fit_are_no_warning() -> None:
    study = bent(
        ("design.population_max", 68),
        ("design.why.population_max", "The seeds there are."),
        ("samples_per_day", {"value": 4, "why": "One person measures."}),
    )
    assert said(study) == []


def test_required_element_that_the_plan_does_not_say_is_a_warning() -> None:
    elements = ["blind measurement", "sealed envelopes"]
    assert said(bent(("hidden_reference.required_elements", elements))) == [
        (
            "hidden_reference.required_elements[1]",
            "The reference protocol does not say 'sealed envelopes'; say all its words in the "
            "technique or the rationale.",
        )
    ]


def test_substitution_of_an_item_that_the_plan_does_not_use_is_a_note() -> None:
    plan = Protocol.model_validate(
        {**TEMPLATE.reference_protocol.model_dump(), "required_reagents": ["seed compost"]}
    )
    notes = dict(said(bent(("reference_protocol", plan.model_dump())), LintLevel.NOTE))
    assert notes["substitutions[1].original"] == (
        "The reference protocol does not use 'bean seeds of one lot', so nobody needs this "
        "replacement; use the item, or leave the replacement out."
    )


def test_substitution_of_an_item_that_no_lab_lacks_is_a_note() -> None:
    study = bent(("substitutions.0.original", "loudspeaker"))
    assert dict(said(study, LintLevel.NOTE))["substitutions[0].original"] == (
        "'loudspeaker' is missing in no lab as written, so this replacement plays only in labs of "
        "other seeds; let the item be missing in one."
    )


def test_substitution_by_an_item_of_the_study_is_a_warning() -> None:
    study = bent(("substitutions.0.alternative", "Loudspeaker"))
    warnings = dict(said(study))
    assert warnings["substitutions[0].alternative"] == (
        "'Loudspeaker' is an item of the study itself; name something that the study does not list."
    )
    study = bent(("substitutions.0.alternative", "growth chamber"))
    assert "; it is missing in the medium and hard lab; name" in dict(said(study)).get(
        "substitutions[0].alternative", ""
    )


def test_alternative_of_two_originals_is_a_warning() -> None:
    study = bent(("substitutions.1.alternative", "Windowsill  rack"), ("labs.hard.expected", None))
    assert said(study) == [
        (
            "substitutions[1].alternative",
            "'Windowsill  rack' may stand in for 'growth chamber' too, and can for only one of the "
            "two at a time; name another item here.",
        )
    ]


def test_alternative_listed_twice_for_one_original_is_no_warning() -> None:
    swap = TEMPLATE.substitutions[0].model_dump()
    again = {**swap, "condition": "if it is dry"}
    assert said(bent(("substitutions", [swap, again]), ("labs.hard.expected", None))) == []


@pytest.mark.parametrize("bounds", ["samples", "samples_per_condition"])
def test_constraint_that_the_plan_breaks_is_a_warning(bounds: str) -> None:
    conditions = {"samples": None, "samples_per_condition": 2}[bounds]
    bound = {"bounds": bounds, "conditions": conditions, "quantity": 69.0, "hard": False}
    text = {
        "samples": "at least 69 seedlings",
        "samples_per_condition": "at least 69 seedlings in each of 2 conditions: at least 138 in "
        "all",
    }[bounds]
    study = bent(("constraints.1", {**TEMPLATE.constraints[1].model_dump(mode="json"), **bound}))
    assert said(study) == [
        (
            "constraints[1]",
            f"The reference protocol breaks 'seedlings per chamber', {text}; plan otherwise, or "
            "state another bound.",
        )
    ]


def test_findings_are_listed_to_a_hundred_and_then_counted() -> None:
    many = " ".join(map(str, range(3000, 3700)))
    found = lint(bent(("paper.published", many)))
    assert len(found) == 101
    assert (found[-1].place, found[-1].level) == ("the rest", LintLevel.NOTE)
    assert found[-1].message == "603 more findings; mend these first."


@pytest.mark.parametrize("phrase", ["tell, or show", "measure it. Then tell", "look but hide", "!"])
def test_forbidden_phrase_that_catches_nothing_is_a_warning(phrase: str) -> None:
    study = bent(("policy_rules.0.forbidden_phrases", ["unblinded measurement", phrase]))
    assert said(study) == [
        (
            "policy_rules[0].forbidden_phrases[1]",
            f"A plan that says '{phrase}' is not caught, for a clause ends within it; leave out "
            "punctuation, and words such as 'but' and 'then'.",
        )
    ]


def test_allowed_mention_that_is_caught_is_a_warning() -> None:
    mentions = ["no unblinded measurement", "unblinded measurement is bad"]
    assert said(bent(("policy_rules.0.allowed_mentions", mentions))) == [
        (
            "policy_rules[0].allowed_mentions[1]",
            "'unblinded measurement is bad' breaks a restriction by 'unblinded measurement'; put "
            "'no', 'never' or 'without' before the phrase, in the same clause.",
        )
    ]


def test_allowed_mention_is_held_against_every_rule() -> None:
    other = {"key": "quiet", "restriction": "No drums.", "forbidden_phrases": ["play drums"]}
    mention = "no unblinded measurement, we play drums"
    rules = [TEMPLATE.policy_rules[0].model_dump(), other]
    rules[0]["allowed_mentions"] = [mention]
    [(place, message)] = said(bent(("policy_rules", rules)))
    assert place == "policy_rules[0].allowed_mentions[0]"
    assert "'play drums'" in message
