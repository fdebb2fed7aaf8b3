"""The lint: notes on the three labs, and a warning for each thing that an author should see."""

from typing import Final

import pytest

from replicalab import scenarios
from replicalab.limits import MOST_FAULTS
from replicalab.lint import LintFinding, LintLevel, lint, numbers_in
from tests.golden import assert_golden, new_lines
from tests.scenarios.small_study import put

TEMPLATE: Final = scenarios.parse_study(scenarios.template_text(), "template.yaml")


def bent(*changes: tuple[str, object]) -> scenarios.Study:
    data: dict[str, object] = TEMPLATE.model_dump(mode="json")
    for path, value in changes:
        put(data, path, value)
    return scenarios.Study.model_validate(data)


@pytest.mark.parametrize("scenario_id", [study.scenario_id for study in scenarios.list_scenarios()])
def test_shipped_study_has_notes_and_no_warning(scenario_id: str) -> None:
    findings = lint(scenarios.parse_study(scenarios.study_text(scenario_id), scenario_id))
    assert [finding.place for finding in findings[:3]] == [
        f"labs.{level}" for level in scenarios.Difficulty
    ]
    assert {finding.level for finding in findings} == {LintLevel.NOTE}


Bend = tuple[str, object]
EASY: Final = TEMPLATE.labs.easy.model_dump(mode="json")
PLAN: Final = TEMPLATE.reference_protocol.model_dump(mode="json")
CHAMBERS: Final = TEMPLATE.constraints[1].model_dump(mode="json")
BOUND: Final = {"quantity": 69.0, "hard": False}
SWAP: Final = TEMPLATE.substitutions[0].model_dump(mode="json")
SEEDS: Final = ("design.why.population_max", "The seeds there are.")
DIMENSIONS_MET: Final = ["protocol", "budget", "equipment", "reagents", "schedule", "staff"]

ORIGINAL: Final = ("design.original.se", 0.1)
OTHER: Final = ("design.original.effect", 0.5)
BENDS: Final[dict[str, list[Bend]]] = {
    "an easy lab that does not accept": [("labs.easy.budget", 2000.0)],
    "a hard lab that accepts": [("labs.hard", EASY)],
    "other failures than expected": [("labs.hard.expected.fails", ["budget"])],
    "a failure that is not the lab's": [("labs.hard.expected.fails", [*DIMENSIONS_MET, "policy"])],
    "another answer": [("labs.hard.expected.answer", "reject")],
    "other samples": [("labs.hard.expected.sample_size", 34)],
    "other evidence": [("labs.hard.expected.evidence", 0.2)],
    "another largest sample": [("labs.hard.expected.largest_sample", 31)],
    "a published effect of no source": [("design.effect_published", 0.95)],
    "effects without a reason": [("design.sesoi", 0.45), ("design.why", {})],
    "a one-sided test without a reason": [("design.sides", 1)],
    "a population without a reason": [("design.population_max", 12345)],
    "a dropout without a reason": [
        ("design.dropout", 0.12), ("labs.easy.expected", None), ("labs.hard.expected", None)
    ],
    "units and arms without a reason": [
        ("design.units", {"name": "tray", "samples": 6.0}), ("design.arms", {"share": 0.5})
    ],
    "a number that no fact carries": [
        ("paper.published", "1,234 seedlings, d = 0.90; 1234 seedlings, with a 95 % CI, in 1999.")
    ],
    "an original whose error does not fit": [ORIGINAL],
    "an original of another effect": [OTHER],
    "a plan that the study cannot count": [
        ("design.population_max", 60),
        SEEDS,
        ("min_days", 22),
        ("samples_per_day", {"value": 3, "why": "One person measures."}),
    ],
    "a required element that the plan does not say": [
        ("hidden_reference.required_elements", ["blind measurement", "sealed envelopes"])
    ],
    "a plan that breaks a bound": [("constraints.1", CHAMBERS | BOUND)],
    "a replaceable item that the plan does not use": [
        ("reference_protocol", PLAN | {"required_reagents": ["seed compost"]}),
        ("labs.hard.expected", None),
    ],
    "a replaceable item that no lab lacks": [("substitutions.0.original", "loudspeaker"),
                                             ("labs.hard.expected", None)],
    "a replacement that is an item": [("substitutions.0.alternative", "Loudspeaker")],
    "a replacement that is missing too": [("substitutions.0.alternative", "growth chamber"),
                                          ("labs.hard.expected", None)],
    "a replacement of two originals": [("substitutions.1.alternative", "Windowsill  rack"),
                                       ("labs.hard.expected", None)],
    "a phrase with a comma": [("policy_rules.0.forbidden_phrases", ["tell, or show"])],
    "a phrase with a but": [("policy_rules.0.forbidden_phrases", ["look but hide"])],
    "a mention that is caught": [
        ("policy_rules.0.allowed_mentions", ["no unblinded measurement", "unblinded measurement"])
    ],
}  # fmt: skip
"""Ways to bend the template, each with something to be seen."""

HARD: Final = TEMPLATE.labs.hard.model_dump(mode="json")
COUNTED: Final = {"fails": ["equipment", "reagents", "schedule"], "answer": "suggest_alternative",
                  "still_fails": [], "sample_size": 68, "duration_days": 14, "credits": 1780.0,
                  "evidence": 0.55, "verdict": "above floor", "largest_sample": 56}  # fmt: skip
"""The template's hard lab with more means: 14 days × 4 samples count."""

FINE: Final[dict[str, list[Bend]]] = {
    "a failure that is no lab's own": [("labs.hard.expected.fails", DIMENSIONS_MET)],
    "the largest sample that fits": [("labs.hard.expected.largest_sample", 20)],
    "the largest sample that can be counted": [
        ("labs.hard", HARD | {"budget": 2200.0, "staff": 3, "expected": COUNTED}),
        ("samples_per_day", {"value": 4, "why": "One person measures."}),
    ],
    "a number that a fact carries": [
        ("design.effect_published", 0.95),
        ("paper.facts.2.text", "In all, d = 0.950."),
    ],
    "an original with a reason": [ORIGINAL, ("design.why.original", "Several labs.")],
    "another effect with a reason": [OTHER, ("design.why.effect_published", "Of a review.")],
    "a number with a reason": [("design.population_max", 12345), SEEDS],
    "limits that just fit": [
        ("design.population_max", 68),
        SEEDS,
        ("samples_per_day", {"value": 4, "why": "One person measures."}),
    ],
    "a replacement listed twice for one original": [
        ("substitutions", [SWAP, SWAP | {"condition": "if it is dry"}]),
        ("labs.hard.expected", None),
    ],
}
"""Ways to bend the template that are no cause for a warning."""


def test_findings_in_words() -> None:
    texts = {"the template": listed(lint(TEMPLATE))}
    texts |= {name: listed(lint(bent(*bends))) for name, bends in BENDS.items()}
    assert_golden("study_lint", new_lines(texts))


def listed(findings: list[LintFinding]) -> str:
    return "\n".join(f"{finding.level} {finding.place}: {finding.message}" for finding in findings)


@pytest.mark.parametrize("name", FINE)
def test_unusual_study_has_no_warning(name: str) -> None:
    findings = lint(bent(*FINE[name]))
    assert [finding for finding in findings if finding.level is LintLevel.WARNING] == []


def test_findings_beyond_the_limit_are_counted() -> None:
    findings = lint(bent(("paper.published", " ".join(map(str, range(3000, 3700))))))
    assert len(findings) == MOST_FAULTS + 1
    assert (findings[-1].place, findings[-1].level) == ("the rest", LintLevel.NOTE)
    assert findings[-1].message == f"{703 - MOST_FAULTS} more findings; correct these first."


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
def test_numbers_in_a_text(text: str, found: list[str]) -> None:
    assert list(numbers_in(text).values()) == found
