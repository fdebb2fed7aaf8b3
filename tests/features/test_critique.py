"""A reviewer's questions, each with every standing."""

from collections.abc import Mapping
from itertools import product
from typing import Any, Final, NamedTuple

import pytest

from replicalab import scenarios
from replicalab.answers import QUESTIONS as FORM
from replicalab.answers import AnswerSource, Registration
from replicalab.assessment import assess
from replicalab.designs import KINDS
from replicalab.drafts import Draft, check, new_study
from replicalab.facts.blocks import group
from replicalab.features.critique import QUESTIONS, Remark, Standing, critique, critique_blocks
from replicalab.lexicon import one_line
from replicalab.models import revise
from replicalab.render.html import html
from tests import hostile
from tests.factories import (
    make_constraint,
    make_control,
    make_design,
    make_pack,
    make_paper,
    make_substitution,
)
from tests.golden import assert_golden, new_lines

CONCERN, UNSAID, ANSWERED = Standing
AUTHOR, CORE, _ = AnswerSource
STUDIES: Final = [summary.scenario_id for summary in scenarios.list_scenarios()]


class Spec(NamedTuple):
    """A plan of the synthetic study with its author's texts, choices and reasons.

    ``question`` replaces the study's design.
    """

    key: str = ""
    pack: Mapping[str, Any] = {}
    plan: Mapping[str, Any] = {}
    question: scenarios.EvidenceAssumptions = scenarios.EvidenceAssumptions()
    texts: Mapping[str, str] = {}
    choices: Mapping[str, tuple[str, ...]] = {}
    reasons: Mapping[str, str] = {}

    def remarks(self) -> dict[str, Remark]:
        pack = make_pack(**self.pack).with_own(scenarios.LabOverrides(), self.question)
        plan = revise(pack.reference_protocol, **self.plan)
        registration = Registration(
            texts=dict(self.texts), choices=dict(self.choices), reasons=dict(self.reasons)
        )
        return {remark.key: remark for remark in critique(assess(plan, pack), registration)}


def designed(**changes: Any) -> dict[str, Any]:
    return {"design": make_design(**changes)}


def reported(**numbers: Any) -> dict[str, Any]:
    return designed(
        original=scenarios.Original(source="Invented", confidence="verified", **numbers)
    )


def trays(**changes: Any) -> scenarios.Units:
    return scenarios.Units(**{"name": "bench", "samples": 4.0, "icc": 0.1, **changes})


WISH: Final = make_constraint(
    label="Watching", comparator=">=", quantity=9, hard=False, bounds="days"
)
SILENT: Final = {"controls": [], "success_criteria": ["Not given."]}
TWO_CRITERIA: Final = {"success_criteria": ["More germinate, p < 0.05.", "All are counted."]}
SHELF: Final = {"required_equipment": ["window shelf", "light meter"]}
FREE_SHELF: Final = make_substitution(fidelity_loss=0)
LAMP: Final = make_substitution(original="light meter", alternative="lamp")
SHAM: Final = make_control(name="sham lamp", protects_against="Not given.")
CASES: Final = [
    Spec("correlation", designed(units=trays())),
    Spec("correlation", designed(units=trays(), why={"units": "A pilot of nine benches."})),
    Spec("few_units", designed(units=trays()), {"sample_size": 24}),
    Spec("few_units", designed(kind="anova", groups=10)),
    Spec("few_units", designed(units=trays(), dropout=0.5), {"sample_size": 32}),
    Spec("unequal_arms", designed(arms=scenarios.Arms(share=0.25))),
    Spec("unequal_arms", plan={"sample_size": 27}),
    Spec("randomisation", choices={"study_type": ("Observational study",)}),
    Spec(
        "blinding",
        choices={"blinding": ("Subjects", "Analysts")},
        texts={"more_blinding": "To the light."},
    ),
    Spec("control_kinds", {"controls": []}, {"controls": []}),
    Spec("controls", {"controls": [make_control(), SHAM]}, {"controls": []}),
    Spec("substitutions", plan={"required_equipment": ["growth chamber"]}),
    Spec("substitutions", {"allowed_substitutions": [FREE_SHELF]}, SHELF),
    Spec(
        "substitutions",
        {"allowed_substitutions": [FREE_SHELF, LAMP]},
        {"required_equipment": ["window shelf", "lamp"]},
    ),
    Spec("availability", choices={"original_materials": ("Yes",)}),
    Spec("availability", choices={"original_materials": ("No",)}),
    Spec("limits", {"constraints": [make_constraint(bounds="days")]}, {"duration_days": 21}),
    Spec("limits", {"constraints": [WISH]}, {"duration_days": 8}),
    Spec(
        "original_n", reported(effect=0.9, n=64), reasons={"sample_size": "There is one chamber."}
    ),
    Spec("dropout", designed(dropout=0.1)),
    Spec("dropout", designed(why={"dropout": "Seeds stay."})),
    # t = d × √(38 / 4) on 36 degrees of freedom: 2.158, p = 0.038; 11, beyond any table; 1.849.
    *(Spec("original_uncertainty", reported(effect=d, n=38)) for d in (0.7, 3.6, 0.6)),
    Spec("face_value"),
    Spec("sidedness", reported(effect=0.9, n=38, sides=1)),
    Spec("sidedness", designed(sides=1)),
    Spec("success", SILENT),
    Spec("success", plan={"duration_days": 0}),
    Spec("covered", SILENT),
    Spec("covered"),
    Spec(
        "sameness",
        designed(kind="equivalence", effect_planning=0.0, effect_published=None, sesoi=None),
    ),
    Spec("multiplicity"),
]


def test_answers_to_single_questions() -> None:
    lines = [_line(case.remarks()[case.key]) for case in CASES]
    assert_golden("critique_cases", "\n".join(lines))


@pytest.mark.parametrize("key", [key for key, row in QUESTIONS.items() if "forms" in row])
def test_answer_on_form_answers_question(key: str) -> None:
    form = next(name for name in QUESTIONS[key]["forms"] if not FORM[name].options)
    remark = Spec(texts={form: "By a list."}).remarks()[key]
    assert (remark.standing, remark.source) == (ANSWERED, AUTHOR)
    assert "“By a list.”" in remark.text


def test_questions_about_shipped_studies() -> None:
    texts = {}
    for study, lab in product(STUDIES, scenarios.Difficulty):
        pack = scenarios.load_scenario(study, lab.value)
        remarks = critique(assess(pack.reference_protocol, pack))
        assert all((remark.source is None) is (remark.standing is UNSAID) for remark in remarks)
        assert not any(remark.source is AUTHOR for remark in remarks)
        order = [list(Standing).index(remark.standing) for remark in remarks]
        assert order == sorted(order)
        texts[f"{study}, {lab}"] = "\n".join(map(_line, remarks))
    assert_golden("critique", new_lines(texts))


def _line(remark: Remark) -> str:
    who = f" ({remark.source})" if remark.source else ""
    return f"{remark.standing}: {remark.key}{who}: {remark.text}"


def test_new_study_is_answered_by_replicalab_alone() -> None:
    for kind in KINDS:
        study = check(Draft(new_study("mine", kind, name="Mine"))).study
        assert study is not None
        pack = scenarios.pack_of(study, scenarios.Difficulty.MEDIUM)
        remarks = critique(assess(pack.reference_protocol, pack))
        assert {remark.source for remark in remarks} <= {None, CORE}, kind
        assert all(remark.text and "Not given" not in remark.text for remark in remarks)


def test_plan_without_evidence_gets_no_numbers() -> None:
    for plan in ({"sample_size": 0}, {"duration_days": 0}):
        remarks = Spec(plan=plan, pack=TWO_CRITERIA).remarks()
        keys = {*remarks}
        assert "power" in keys
        assert not {"few_units", "covered"} & keys
        assert not any("of no evidence" in remark.text for remark in remarks.values())


def test_studys_reason_covers_only_its_own_value() -> None:
    written = designed(arms=scenarios.Arms(share=0.25), why={"arms": "Light is dear."})
    assumptions = scenarios.EvidenceAssumptions(arms=scenarios.Arms(share=0.1))
    study, custom = Spec(pack=written), Spec(pack=written, question=assumptions)
    assert study.remarks()["unequal_arms"].standing is ANSWERED
    assert custom.remarks()["unequal_arms"].standing is CONCERN
    assert custom.remarks()["unequal_arms"].source is AUTHOR


def test_hostile_texts_are_quoted_whole_and_safely() -> None:
    attack = hostile.ATTACK * 20
    case = Spec(
        pack={
            "paper": make_paper(method=f"random {hostile.ATTACK}"),
            "success_criteria": [attack[:300], f"p > 0.05 {hostile.ATTACK}"],
            "controls": [make_control(name="a\u202eb", protects_against="c")],
            "allowed_substitutions": [make_substitution(tradeoff=hostile.ATTACK)],
        },
        plan={"required_equipment": ["window shelf"]},
        texts={"exclusions": attack, "analysis": attack, "stopping": f"look {attack}"},
    )
    assert one_line(f"“look {attack}”") in case.remarks()["stopping"].text
    drawn = html(group(*critique_blocks([*case.remarks().values()], str)))
    assert "<img" not in drawn
    assert "⟨U+202E⟩" in drawn
