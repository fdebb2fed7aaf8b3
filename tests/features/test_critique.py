"""What a reviewer would ask: each question in each place where it can stand."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, Final, NamedTuple

import pytest

from replicalab.assessment import assess
from replicalab.designs import KINDS
from replicalab.drafts import Draft, check, new_study
from replicalab.facts.blocks import group
from replicalab.features.critique import QUESTIONS, Remark, Standing, critique, critique_blocks
from replicalab.models import revise
from replicalab.planner import PlanAnalysis
from replicalab.registration import Finder, Registration
from replicalab.render.html import html
from replicalab.scenarios import (
    Arms,
    Difficulty,
    EvidenceAssumptions,
    LabOverrides,
    Original,
    Units,
    list_scenarios,
    load_scenario,
    pack_of,
)
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
STUDIES: Final = [summary.scenario_id for summary in list_scenarios()]


class Case(NamedTuple):
    """A plan of the synthetic study, and what is to be said of it.

    Attributes:
        words: what the sentence holds.
        who: who says so.
        pack: what is changed of the study and its lab.
        plan: what is changed of the plan.
        asked: what is asked in place of the study's design.
        texts, choices, reasons: what the author answers.
    """

    words: str
    who: Finder | None
    pack: Mapping[str, Any] = {}
    plan: Mapping[str, Any] = {}
    asked: EvidenceAssumptions = EvidenceAssumptions()
    texts: Mapping[str, str] = {}
    choices: Mapping[str, tuple[str, ...]] = {}
    reasons: Mapping[str, str] = {}

    def remarks(self) -> dict[str, Remark]:
        pack = make_pack(**self.pack).with_own(LabOverrides(), self.asked)
        plan = revise(pack.reference_protocol, **self.plan)
        said = Registration(
            texts=dict(self.texts), choices=dict(self.choices), reasons=dict(self.reasons)
        )
        return {each.key: each for each in critique(assess(plan, pack), said)}


def designed(**changes: Any) -> dict[str, Any]:
    """Return a pack's design with changes."""
    return {"design": make_design(**changes)}


def original(**numbers: Any) -> Original:
    return Original(source="Invented", confidence="verified", **numbers)


def trays(**changes: Any) -> Units:
    return Units(**{"name": "bench", "samples": 4.0, "icc": 0.1, **changes})


SILENT: Final = {"controls": [], "success_criteria": ["Not given."]}
TWO_CRITERIA: Final = {"success_criteria": ["More germinate, p < 0.05.", "All are counted."]}
CASES: Final[dict[tuple[str, Standing], Case]] = {
    ("unit", UNSAID): Case("n counts seed tray; whether several", None),
    ("unit", ANSWERED): Case("A bench is the unit, with 4", STUDY, pack=designed(units=trays())),
    ("correlation", UNSAID): Case(
        "a bench are taken as independent. The power would be",
        None,
        pack=designed(units=trays(icc=None)),
    ),
    ("correlation", CONCERN): Case(
        "It is 0.1, without a reason", STUDY, pack=designed(units=trays())
    ),
    ("correlation", ANSWERED): Case(
        "0.1: “A pilot of nine benches.”",
        STUDY,
        pack=designed(units=trays(), why={"units": "A pilot of nine benches."}),
    ),
    ("few_units", CONCERN): Case(
        "3 benches in an arm: with fewer than 4",
        CORE,
        pack=designed(units=trays()),
        plan={"sample_size": 24},
    ),
    ("few_units", ANSWERED): Case("20 units in an arm, if each sample is one", CORE),
    ("unequal_arms", CONCERN): Case(
        "25 % of the samples are in the first arm, without a reason",
        STUDY,
        pack=designed(arms=Arms(share=0.25)),
    ),
    ("unequal_arms", ANSWERED): Case("of one size", CORE),
    ("randomisation", UNSAID): Case("No answer on the form.", None),
    ("randomisation", CONCERN): Case(
        "nothing is allocated at random",
        AUTHOR,
        choices={"study_type": ("Observational study",)},
    ),
    ("randomisation", ANSWERED): Case(
        "“Blocks of four, by a list.”",
        AUTHOR,
        texts={"randomisation": "Blocks of four, by a list."},
    ),
    ("concealment", UNSAID): Case("No answer on the form.", None),
    ("concealment", ANSWERED): Case(
        "“In sealed envelopes.”", AUTHOR, texts={"concealment": "In sealed envelopes."}
    ),
    ("blinding", UNSAID): Case("No answer on the form.", None),
    ("blinding", CONCERN): Case("Nobody is blinded", AUTHOR, choices={"blinding": ("Nobody",)}),
    ("blinding", ANSWERED): Case(
        "“Subjects and Analysts” “To the light.”",
        AUTHOR,
        choices={"blinding": ("Subjects", "Analysts")},
        texts={"more_blinding": "To the light."},
    ),
    ("controls", CONCERN): Case(
        "The plan lacks 'dark control' against germination that needs no light",
        CORE,
        plan={"controls": ["white light control"]},
    ),
    ("controls", ANSWERED): Case("'dark control' and 'white light control'", CORE),
    ("control_kinds", UNSAID): Case("which is a positive and which a negative one", None),
    ("control_kinds", CONCERN): Case(
        "no controls", CORE, pack={"controls": []}, plan={"controls": []}
    ),
    ("control_kinds", ANSWERED): Case(
        "“The dark is the negative one.”",
        AUTHOR,
        texts={"controls": "The dark is the negative one."},
    ),
    ("substitutions", CONCERN): Case(
        "window shelf for growth chamber: temperature varies more.",
        STUDY,
        plan={"required_equipment": ["window shelf", "light meter"]},
    ),
    ("substitutions", ANSWERED): Case("None is made", CORE),
    ("availability", UNSAID): Case("has all that the plan lists; whether the original’s", None),
    ("availability", CONCERN): Case(
        "'growth chamber' is booked until day 9", CORE, pack={"booked": {"growth chamber": 9}}
    ),
    ("availability", ANSWERED): Case(
        "available from its authors", AUTHOR, choices={"original_materials": ("Yes",)}
    ),
    ("power", CONCERN): Case("below the floor of 0.50", CORE, plan={"sample_size": 8}),
    ("power", ANSWERED): Case("which meets the target of 0.80", CORE, plan={"sample_size": 60}),
    ("limits", CONCERN): Case(
        "'Time in the lab' must be at most 20 days, and the plan has 21",
        CORE,
        pack={"constraints": [make_constraint(bounds="days")]},
        plan={"duration_days": 21},
    ),
    ("limits", ANSWERED): Case(
        "It keeps 'Time in the lab' (at most 20 days).",
        CORE,
        pack={"constraints": [make_constraint(bounds="days")]},
    ),
    ("original_n", UNSAID): Case(
        "not given as a number of its own. Published: “d = 0.9”",
        None,
        pack={"paper": make_paper(published="d = 0.9")},
    ),
    ("original_n", CONCERN): Case(
        "The plan analyses 40, the original had 64.",
        CORE,
        pack=designed(original=original(effect=0.9, n1=32, n2=32)),
    ),
    ("original_n", ANSWERED): Case(
        "the original had 38", CORE, pack=designed(original=original(effect=0.9, n=38))
    ),
    ("dropout", UNSAID): Case("assumes none, without a reason", None),
    ("dropout", CONCERN): Case("20 % dropout leaves 32 samples", STUDY, pack=designed(dropout=0.2)),
    ("dropout", ANSWERED): Case(
        "10 % dropout leaves 36 samples.", STUDY, pack=designed(dropout=0.1)
    ),
    ("stopping", UNSAID): Case(
        "The plan has 40 samples, and no other stopping rule is given", None
    ),
    ("stopping", ANSWERED): Case(
        "We stop when every participant is measured.",
        AUTHOR,
        texts={"stopping": "We stop when every participant is measured."},
    ),
    ("original_uncertainty", UNSAID): Case("No result in numbers", None),
    # t = 0.7 × √(38 / 4) = 2.158 on 36 degrees of freedom: p = 0.038.
    ("original_uncertainty", CONCERN): Case(
        "two-sided p is 0.038", CORE, pack=designed(original=original(effect=0.7, n=38))
    ),
    # t = 3.6 × √(38 / 4) = 11: beyond any table.
    ("original_uncertainty", ANSWERED): Case(
        "two-sided p is below 0.0001.",
        CORE,
        pack=designed(original=original(effect=3.6, n=38)),
    ),
    ("face_value", UNSAID): Case(
        "No published effect is given", None, pack=designed(effect_published=None)
    ),
    ("face_value", CONCERN): Case("Planned with Cohen's d 0.9; published is 0.9.", CORE),
    ("face_value", ANSWERED): Case(
        "Planned with Cohen's d 0.4", CORE, pack=designed(effect_planning=0.4)
    ),
    ("sidedness", CONCERN): Case(
        "the original’s was one-sided",
        CORE,
        pack=designed(original=original(effect=0.9, n=38, sides=1)),
    ),
    ("sidedness", UNSAID): Case(
        "The level behind the power is two-sided; whether the test of the analysis is", None
    ),
    ("sidedness", ANSWERED): Case(
        "is two-sided. “A two-sided t-test.”",
        AUTHOR,
        pack=designed(original=original(effect=0.9, n=38, sides=1)),
        texts={"analysis": "A two-sided t-test."},
    ),
    ("success", UNSAID): Case("Neither study nor author", None, pack=SILENT),
    ("success", CONCERN): Case(
        "since the study's endpoint needs 3 days, and the plan has 0. “Germination rates",
        STUDY,
        plan={"duration_days": 0},
    ),
    ("success", ANSWERED): Case("“Germination rates of both groups are compared.”", STUDY),
    ("covered", UNSAID): Case("No criterion of success is given.", None, pack=SILENT),
    ("covered", CONCERN): Case("The study names 2 criteria", CORE, pack=TWO_CRITERIA),
    ("covered", ANSWERED): Case("One criterion is named", CORE),
    ("sameness", UNSAID): Case("would mean is not given", None),
    ("sameness", ANSWERED): Case(
        "with a margin of 1.2",
        CORE,
        pack=designed(kind="equivalence", effect_planning=0.0, effect_published=None, sesoi=None),
    ),
    ("multiplicity", UNSAID): Case("how many primary outcomes", None),
    ("multiplicity", CONCERN): Case("names 2 criteria of success", STUDY, pack=TWO_CRITERIA),
    ("multiplicity", ANSWERED): Case(
        "“Holm’s correction over both.”",
        AUTHOR,
        pack=TWO_CRITERIA,
        texts={"analysis": "Holm’s correction over both."},
    ),
    ("exclusions", UNSAID): Case("No answer on the form.", None),
    ("exclusions", ANSWERED): Case(
        "“Mouldy trays.”", AUTHOR, texts={"exclusions": "Mouldy trays."}
    ),
    ("outliers", UNSAID): Case("No answer on the form.", None),
    ("outliers", ANSWERED): Case(
        "“No outlier is removed.”", AUTHOR, texts={"exclusions": "No outlier is removed."}
    ),
    ("missing_data", UNSAID): Case("No answer on the form.", None),
    ("missing_data", ANSWERED): Case(
        "“Counted as not germinated.”",
        AUTHOR,
        texts={"missing_data": "Counted as not germinated."},
    ),
}


@pytest.mark.parametrize(("key", "standing"), CASES)
def test_question_stands_where_core_study_and_author_put_it(key: str, standing: Standing) -> None:
    case = CASES[key, standing]
    remark = case.remarks()[key]
    assert (remark.standing, remark.finder) == (standing, case.who), remark.text
    assert case.words in remark.text
    assert remark.asks == QUESTIONS[key]["asks"]


OTHERS: Final = [
    (
        "unequal_arms",
        ANSWERED,
        Case(
            "The arms are as equal as 27 samples can be shared out: 13 and 14.",
            CORE,
            plan={"sample_size": 27},
        ),
    ),
    (
        "controls",
        CONCERN,
        Case(
            "lacks 'dark control' against germination that needs no light and 'sham lamp'.",
            CORE,
            pack={
                "controls": [
                    make_control(),
                    make_control(name="sham lamp", protects_against="Not given."),
                ]
            },
            plan={"controls": []},
        ),
    ),
    (
        "substitutions",
        CONCERN,
        Case("leaves out 'light meter'", CORE, plan={"required_equipment": ["growth chamber"]}),
    ),
    (
        "substitutions",
        ANSWERED,
        Case(
            "window shelf for growth chamber (fidelity loss 0): temperature varies more.",
            STUDY,
            pack={"allowed_substitutions": [make_substitution(fidelity_loss=0)]},
            plan={"required_equipment": ["window shelf", "light meter"]},
        ),
    ),
    (
        "substitutions",
        CONCERN,
        Case(
            "shelf for growth chamber (fidelity loss 0): temperature varies more. lamp for light",
            STUDY,
            pack={
                "allowed_substitutions": [
                    make_substitution(fidelity_loss=0),
                    make_substitution(original="light meter", alternative="lamp"),
                ]
            },
            plan={"required_equipment": ["window shelf", "lamp"]},
        ),
    ),
    (
        "original_uncertainty",
        ANSWERED,
        Case(
            "The reported 95 % interval is 0.4 to 1.4. The original’s",
            CORE,
            pack=designed(original=original(effect=0.9, n=64, low=0.4, high=1.4)),
        ),
    ),
    (
        "availability",
        CONCERN,
        Case("not available", AUTHOR, choices={"original_materials": ("No",)}),
    ),
    (
        "original_n",
        ANSWERED,
        Case(
            "“There is one chamber.”",
            AUTHOR,
            pack=designed(original=original(effect=0.9, n=64)),
            reasons={"sample_size": "There is one chamber."},
        ),
    ),
    (
        "dropout",
        ANSWERED,
        Case("“Seeds stay.”", STUDY, pack=designed(why={"dropout": "Seeds stay."})),
    ),
    # t = 0.6 × √(38 / 4) = 1.849 on 36 degrees of freedom: p = 0.073.
    (
        "original_uncertainty",
        CONCERN,
        Case("was not significant", CORE, pack=designed(original=original(effect=0.6, n=38))),
    ),
    (
        "original_uncertainty",
        UNSAID,
        Case("Neither a standard error nor n", None, pack=designed(original=original(effect=0.6))),
    ),
    (
        "few_units",
        CONCERN,
        Case("3 units in an arm", CORE, plan={"sample_size": 6, "controls": []}),
    ),
    (
        "few_units",
        ANSWERED,
        Case("4 units in an arm", CORE, pack=designed(kind="anova", groups=10)),
    ),
    (
        "few_units",
        ANSWERED,
        Case(
            "4 benches in an arm.",
            CORE,
            pack=designed(units=trays(), dropout=0.5),
            plan={"sample_size": 32},
        ),
    ),
]
"""Other ways to the same standing."""


@pytest.mark.parametrize(("key", "standing", "case"), OTHERS)
def test_question_stands_there_for_other_reasons_too(
    key: str, standing: Standing, case: Case
) -> None:
    remark = case.remarks()[key]
    assert (remark.standing, remark.finder) == (standing, case.who), remark.text
    assert case.words in remark.text


def test_original_is_as_sure_as_its_estimate_and_standard_error_leave_it() -> None:
    """1.96 standard errors about the estimate: d = 0.9 ± 1.96 × 0.3."""
    case = Case("", None, pack=designed(original=original(effect=0.9, se=0.3)))
    assert "95 % interval is 0.312 to 1.49, from" in case.remarks()["original_uncertainty"].text


def test_every_question_is_tried_in_each_of_at_least_two_standings() -> None:
    tried = {key: [each for name, each in CASES if name == key] for key in QUESTIONS}
    assert {*tried} == {key for key, _ in CASES}
    assert [key for key, standings in tried.items() if len(standings) < 2] == []


@pytest.mark.parametrize("study", STUDIES)
def test_shipped_study_is_asked_what_the_golden_file_says(study: str) -> None:
    told = []
    for lab in Difficulty:
        pack = load_scenario(study, lab.value)
        remarks = critique(assess(pack.reference_protocol, pack))
        assert {(each.key, each.standing) for each in remarks} <= {*CASES}, "no case tries it"
        assert all((each.finder is None) is (each.standing is UNSAID) for each in remarks)
        assert not any(each.finder is AUTHOR for each in remarks)  # who has said nothing
        told += [f"# {lab}", *(line for line in map(_line, remarks) if line not in told)]
    assert_golden(f"critique#{study}", "\n".join(told))


def _line(remark: Remark) -> str:
    return f"{remark.standing}: {remark.key}: {remark.text}"


def test_study_made_in_two_minutes_is_answered_by_the_core_alone() -> None:
    for kind in KINDS:
        study = check(Draft(new_study("mine", kind, name="Mine"))).study
        assert study is not None
        pack = pack_of(study, Difficulty.MEDIUM)
        remarks = critique(assess(pack.reference_protocol, pack))
        assert {each.finder for each in remarks} <= {None, CORE}, kind
        assert all(each.text and "Not given" not in each.text for each in remarks)


def test_remarks_come_concerns_first_and_each_once() -> None:
    for study, lab in product(STUDIES, Difficulty):
        pack = load_scenario(study, lab.value)
        remarks = critique(PlanAnalysis(assess(pack.reference_protocol, pack)).least.after)
        order = [list(Standing).index(each.standing) for each in remarks]
        assert order == sorted(order)
        assert len({each.key for each in remarks}) == len(remarks)


def test_plan_without_evidence_is_asked_no_number() -> None:
    for plan in ({"sample_size": 0}, {"duration_days": 0}):
        remarks = Case("", None, plan=plan, pack=TWO_CRITERIA).remarks()
        keys = {*remarks}
        assert "power" in keys
        assert not {"few_units", "covered"} & keys
        assert not any("of no evidence" in remark.text for remark in remarks.values())


def test_reason_of_the_study_is_none_for_what_is_asked_in_its_place() -> None:
    written = designed(arms=Arms(share=0.25), why={"arms": "Light is dear."})
    asked = EvidenceAssumptions(arms=Arms(share=0.1))
    study, own = Case("", None, pack=written), Case("", None, pack=written, asked=asked)
    assert study.remarks()["unequal_arms"].standing is ANSWERED
    assert own.remarks()["unequal_arms"].standing is CONCERN
    assert own.remarks()["unequal_arms"].finder is AUTHOR


def test_hostile_texts_are_quoted_short_on_one_line() -> None:
    attack = hostile.ATTACK * 20
    case = Case(
        "",
        None,
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


# --- days that the study names, and the plan has not -------------------------------------------


def test_days_that_lack_for_a_wish_are_told_and_days_that_are_too_many_are_not() -> None:
    wish = make_constraint(label="Watching", comparator=">=", quantity=9, hard=False, bounds="days")
    lacks = Case("", None, pack={"constraints": [wish]}, plan={"duration_days": 8}).remarks()
    assert lacks["limits"].text == (
        "'Watching' should be at least 9 days, and the plan has 8. What rests on the missing days "
        "cannot be shown."
    )
    most = {"constraints": [make_constraint(bounds="days")]}
    over = Case("", None, pack=most, plan={"duration_days": 21}).remarks()["limits"]
    assert "cannot be shown" not in over.text
