"""A reviewer's questions, each with every standing."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import pytest

from replicalab import scenarios
from replicalab.assessment import assess
from replicalab.designs import KINDS
from replicalab.drafts import Draft, check, new_study
from replicalab.facts.blocks import group
from replicalab.features.critique import QUESTIONS, Remark, Standing, critique, critique_blocks
from replicalab.models import revise
from replicalab.registration import QUESTIONS as FORM
from replicalab.registration import Finder, Registration
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
from tests.golden import assert_golden

CONCERN, UNSAID, ANSWERED = Standing
AUTHOR, CORE, STUDY = Finder
STUDIES: Final = [summary.scenario_id for summary in scenarios.list_scenarios()]


class Case(NamedTuple):
    """A plan of the synthetic study, and its expected answer to a question.

    ``question`` replaces the study's design; texts, choices and reasons are the author's.
    """

    key: str = ""
    standing: Standing = ANSWERED
    words: str = ""
    source: Finder | None = None
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


SILENT: Final = {"controls": [], "success_criteria": ["Not given."]}
TWO_CRITERIA: Final = {"success_criteria": ["More germinate, p < 0.05.", "All are counted."]}
CASES: Final = [
    Case("correlation", CONCERN, "It is 0.1, without a reason", STUDY, designed(units=trays())),
    Case("correlation", ANSWERED, "0.1: “A pilot of nine benches.”", STUDY,
         designed(units=trays(), why={"units": "A pilot of nine benches."})),
    Case("few_units", CONCERN, "3 benches in an arm: with fewer than 4", CORE,
         designed(units=trays()), plan={"sample_size": 24}),
    Case("unequal_arms", CONCERN, "25 % of the samples are in the first arm, without a reason",
         STUDY, designed(arms=scenarios.Arms(share=0.25))),
    Case("randomisation", CONCERN,
         "observational study: without random allocation, a difference may come from how", AUTHOR,
         choices={"study_type": ("Observational study",)}),
    Case("blinding", ANSWERED, "“Subjects and Analysts” “To the light.”", AUTHOR,
         choices={"blinding": ("Subjects", "Analysts")}, texts={"more_blinding": "To the light."}),
    Case("control_kinds", CONCERN, "no controls", CORE, pack={"controls": []},
         plan={"controls": []}),
    Case("availability", ANSWERED, "available from its authors", AUTHOR,
         choices={"original_materials": ("Yes",)}),
    Case("limits", CONCERN, "'Time in the lab' must be at most 20 days, and the plan has 21", CORE,
         pack={"constraints": [make_constraint(bounds="days")]}, plan={"duration_days": 21}),
    Case("dropout", ANSWERED, "10 % dropout leaves 36 samples.", STUDY, designed(dropout=0.1)),
    # t = 0.7 × √(38 / 4) = 2.158 on 36 degrees of freedom: p = 0.038.
    Case("original_uncertainty", CONCERN, "two-sided p = 0.038", CORE, reported(effect=0.7, n=38)),
    # t = 3.6 × √(38 / 4) = 11: beyond any table.
    Case("original_uncertainty", ANSWERED, "two-sided p < 0.0001.", CORE,
         reported(effect=3.6, n=38)),
    Case("face_value", CONCERN, "Planned with Cohen's d 0.9; published is 0.9.", CORE),
    Case("sidedness", CONCERN, "the original’s was one-sided", CORE,
         reported(effect=0.9, n=38, sides=1)),
    Case("sidedness", ANSWERED, "is one-sided: only an effect in the assumed direction", STUDY,
         designed(sides=1)),
    Case("success", UNSAID, "Neither study nor author", None, SILENT),
    Case("success", CONCERN,
         "because the study's endpoint needs 3 days, and the plan has 0. “Germination rates",
         STUDY, plan={"duration_days": 0}),
    Case("covered", UNSAID, "No criterion of success is given.", None, SILENT),
    Case("covered", ANSWERED, "One criterion is named", CORE),
    Case("sameness", ANSWERED, "with a margin of 1.2", CORE,
         designed(kind="equivalence", effect_planning=0.0, effect_published=None, sesoi=None)),
    Case("multiplicity", UNSAID, "how many primary outcomes", None),
    Case("unequal_arms", ANSWERED,
         "The arms are as equal as 27 samples allow.", CORE,
         plan={"sample_size": 27}),
    Case("controls", CONCERN,
         "lacks 'dark control' against germination that needs no light and 'sham lamp'.", CORE,
         pack={"controls": [make_control(),
                            make_control(name="sham lamp", protects_against="Not given.")]},
         plan={"controls": []}),
    Case("substitutions", CONCERN, "leaves out 'light meter'", CORE,
         plan={"required_equipment": ["growth chamber"]}),
    Case("substitutions", ANSWERED,
         "window shelf for growth chamber (fidelity loss 0): temperature varies more.", STUDY,
         pack={"allowed_substitutions": [make_substitution(fidelity_loss=0)]},
         plan={"required_equipment": ["window shelf", "light meter"]}),
    Case("substitutions", CONCERN,
         "shelf for growth chamber (fidelity loss 0): temperature varies more. lamp for light",
         STUDY,
         pack={"allowed_substitutions": [
             make_substitution(fidelity_loss=0),
             make_substitution(original="light meter", alternative="lamp"),
         ]},
         plan={"required_equipment": ["window shelf", "lamp"]}),
    Case("availability", CONCERN, "not available", AUTHOR, choices={"original_materials": ("No",)}),
    Case("original_n", ANSWERED, "“There is one chamber.”", AUTHOR, reported(effect=0.9, n=64),
         reasons={"sample_size": "There is one chamber."}),
    Case("dropout", ANSWERED, "“Seeds stay.”", STUDY, designed(why={"dropout": "Seeds stay."})),
    # t = 0.6 × √(38 / 4) = 1.849 on 36 degrees of freedom: p = 0.073.
    Case("original_uncertainty", CONCERN, "was not significant", CORE, reported(effect=0.6, n=38)),
    Case("few_units", ANSWERED, "4 units in an arm", CORE, designed(kind="anova", groups=10)),
    Case("few_units", ANSWERED, "4 benches in an arm.", CORE, designed(units=trays(), dropout=0.5),
         plan={"sample_size": 32}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.key}-{case.standing}")
def test_question_has_standing_text_and_source(case: Case) -> None:
    remark = case.remarks()[case.key]
    assert (remark.standing, remark.source) == (case.standing, case.source), remark.text
    assert case.words in remark.text


@pytest.mark.parametrize("key", [key for key, row in QUESTIONS.items() if "forms" in row])
def test_answer_on_form_answers_question(key: str) -> None:
    form = next(name for name in QUESTIONS[key]["forms"] if not FORM[name].options)
    remark = Case(texts={form: "By a list."}).remarks()[key]
    assert (remark.standing, remark.source) == (ANSWERED, AUTHOR)
    assert "“By a list.”" in remark.text


@pytest.mark.parametrize("study", STUDIES)
def test_questions_about_shipped_studies(study: str) -> None:
    texts = []
    for lab in scenarios.Difficulty:
        pack = scenarios.load_scenario(study, lab.value)
        remarks = critique(assess(pack.reference_protocol, pack))
        assert all((remark.source is None) is (remark.standing is UNSAID) for remark in remarks)
        assert not any(remark.source is AUTHOR for remark in remarks)
        order = [list(Standing).index(remark.standing) for remark in remarks]
        assert order == sorted(order)
        texts += [f"# {lab}", *(line for line in map(_line, remarks) if line not in texts)]
    assert_golden(f"critique#{study}", "\n".join(texts))


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
        remarks = Case(plan=plan, pack=TWO_CRITERIA).remarks()
        keys = {*remarks}
        assert "power" in keys
        assert not {"few_units", "covered"} & keys
        assert not any("of no evidence" in remark.text for remark in remarks.values())


def test_studys_reason_covers_only_its_own_value() -> None:
    written = designed(arms=scenarios.Arms(share=0.25), why={"arms": "Light is dear."})
    assumptions = scenarios.EvidenceAssumptions(arms=scenarios.Arms(share=0.1))
    study, custom = Case(pack=written), Case(pack=written, question=assumptions)
    assert study.remarks()["unequal_arms"].standing is ANSWERED
    assert custom.remarks()["unequal_arms"].standing is CONCERN
    assert custom.remarks()["unequal_arms"].source is AUTHOR


def test_hostile_texts_are_quoted_short() -> None:
    attack = hostile.ATTACK * 20
    case = Case(
        pack={
            "paper": make_paper(method=f"random {hostile.ATTACK}"),
            "success_criteria": [attack[:300], f"p > 0.05 {hostile.ATTACK}"],
            "controls": [make_control(name="a\u202eb", protects_against="c")],
            "allowed_substitutions": [make_substitution(tradeoff=hostile.ATTACK)],
        },
        plan={"required_equipment": ["window shelf"]},
        texts={"exclusions": attack, "analysis": attack, "stopping": f"look {attack}"},
    )
    for remark in case.remarks().values():
        assert len(remark.text) < 1_000
    drawn = html(group(*critique_blocks([*case.remarks().values()], str)))
    assert "<img" not in drawn
    assert "⟨U+202E⟩" in drawn


def test_missing_days_weaken_more_than_extra_days() -> None:
    wish = make_constraint(label="Watching", comparator=">=", quantity=9, hard=False, bounds="days")
    lacks = Case(pack={"constraints": [wish]}, plan={"duration_days": 8}).remarks()
    assert lacks["limits"].text == (
        "'Watching' should be at least 9 days, and the plan has 8. What rests on the missing days "
        "cannot be shown."
    )
    record = {"constraints": [make_constraint(bounds="days")]}
    over = Case(pack=record, plan={"duration_days": 21}).remarks()["limits"]
    assert "cannot be shown" not in over.text
