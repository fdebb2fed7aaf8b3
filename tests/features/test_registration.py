"""Registration forms: the registries' ids, answers from plan, file and author, proposals."""

import json
from collections.abc import Iterator
from datetime import date
from itertools import chain, product
from typing import Any, Final

import pytest
from pydantic import ValidationError

from replicalab import scenarios
from replicalab.answers import QUESTIONS, AnswerSource, Registration
from replicalab.assessment import assess
from replicalab.documents import OWN
from replicalab.drafts import Draft, check, new_study
from replicalab.facts.blocks import NOT_GIVEN
from replicalab.features import registration as forms
from replicalab.features.registration import PROFILES, FormAnswer, FormItem, RegisteredPlan
from replicalab.limits import LONGEST_LABEL, LONGEST_TEXT
from replicalab.models import revise
from replicalab.negotiation import LabManagerKind, ScientistKind, negotiate
from replicalab.planner import PlanAnalysis
from replicalab.render.html import document_html
from replicalab.render.markdown import markdown
from tests.factories import make_setup
from tests.golden import assert_golden
from tests.tiers import one_in

DAY = date(2026, 1, 31)
RECIPE, OSF = "brandt-prereg-2", "osf-preregistration-3"
STUDIES = [summary.scenario_id for summary in scenarios.list_scenarios()]
VERBATIM = ("effect", "original_administration", "question", "hypotheses", "success")
"""Questions that the study's file answers word for word."""


def items_of(form: str) -> list[FormItem]:
    return [*chain.from_iterable(PROFILES[form].sections.values())]


def planned(
    pack: scenarios.Pack, author: Registration | None = None, **changes: object
) -> RegisteredPlan:
    plan = assess(revise(pack.reference_protocol, **changes), pack)
    return RegisteredPlan(PlanAnalysis(plan), author or Registration())


def stroop(author: Registration | None = None, **changes: object) -> RegisteredPlan:
    return planned(scenarios.load_scenario("psy_stroop", "medium"), author, **changes)


def answers(registered: RegisteredPlan, form: str = "replication") -> dict[str, FormAnswer]:
    sections = forms.answers_of(PROFILES[form], registered)
    listed = chain.from_iterable(sections.values())
    return {answer.item.question.key: answer for answer in listed}


def sources(answer: FormAnswer) -> list[AnswerSource]:
    return [source for source, _ in answer.sources]


def values(registered: RegisteredPlan, form: str) -> Any:
    return forms.registration(PROFILES[form], registered, on=DAY).values


def text_of(registered: RegisteredPlan, form: str) -> str:
    return markdown(forms.registration(PROFILES[form], registered, on=DAY))


def empty_study() -> scenarios.Study:
    study = check(Draft(new_study("mine", name="Mine"))).study
    assert study is not None
    return study


def test_replication_recipe_has_its_28_items() -> None:
    items = items_of(RECIPE)
    assert [item.id for item in items] == [f"item{number}" for number in range(1, 29)]
    keys = {item.id: item.question.key for item in items}
    named = [keys[f"item{number}"] for number in (3, 10, 15, 16, 28)]
    expected = "original_effect original_materials sample_size sample_rationale success"
    assert named == expected.split()
    assert [item.id for item in items if item.question.options] == [
        f"item{number}" for number in (10, *range(17, 24))
    ]


def test_osf_form_has_its_required_items() -> None:
    items = items_of(OSF)
    assert [item.id for item in items] == [f"q{number}" for number in range(2, 24)]
    required = {item.id for item in items if item.required}
    assert required == {"q2", "q3", "q4", "q6", "q8", "q10", "q11", "q15", "q17"}
    options = {item.id: item.question.options for item in items if item.question.options}
    assert options.keys() == {"q3", "q4", "q8"}
    assert [item.id for item in items if item.question.several] == ["q4"]
    assert len(options["q8"]) == 5


def test_every_question_is_once_on_some_form() -> None:
    assert {*PROFILES} == {*OWN}
    asked = [[item.question.key for item in items_of(form)] for form in PROFILES]
    assert all(len(keys) == len(set(keys)) for keys in asked)
    assert {key for keys in asked for key in keys} == QUESTIONS.keys()


UNUSABLE: Final[list[dict[str, Any]]] = [
    {"texts": {"zebra": "x"}},
    {"texts": {"blinding": "x"}},
    {"choices": {"ethics": ["x"]}},
    {"choices": {"same_pay": ["Same"]}},
    {"choices": {"same_pay": ["Exact", "Close"]}},
    {"choices": {"blinding": ["Nobody", "Nobody"]}},
    {"choices": {"blinding": ["Subjects", "Nobody", "Analysts"]}},
    {"reasons": {"zebra": "x"}},
    {"title": "x" * (LONGEST_LABEL + 1)},
    {"texts": {"ethics": "x" * (LONGEST_TEXT + 1)}},
    {"texts": {"k" * 41: "x"}},
]


def test_unusable_answers_are_refused() -> None:
    problems = []
    for answers in UNUSABLE:
        with pytest.raises(ValidationError) as caught:
            Registration.model_validate(answers)
        problems += [error["msg"] for error in caught.value.errors(include_url=False)]
    assert_golden("registration_faults", "\n".join(problems))


def test_answer_is_set_changed_and_removed() -> None:
    author = Registration().answering("ethics", "Approved.").answering("same_pay", ("Close",))
    assert (author.answer("ethics"), author.answer("same_pay")) == ("Approved.", "Close")
    several = author.answering("blinding", ("Subjects", "Analysts"))
    assert several.answer("blinding") == "Subjects and Analysts"
    assert author.answering("ethics", "").answering("same_pay", ()) == Registration()


def test_author_replaces_the_file_and_joins_replicalab() -> None:
    author = Registration(
        texts={"effect": "Naming is slowed.", "sample_size": "All who come in May."},
        choices={"same_pay": ("Exact",), "blinding": ("Subjects", "Analysts")},
        reasons={"sample_size": "A class."},
    )
    registered = stroop(author)
    filled = answers(registered, RECIPE)
    assert filled["effect"].sources == ((AnswerSource.AUTHOR, "Naming is slowed."),)
    assert sources(filled["sample_size"]) == [AnswerSource.CORE, AnswerSource.AUTHOR]
    assert filled["sample_rationale"].sources[-1] == (AnswerSource.AUTHOR, "A class.")
    recipe = values(registered, RECIPE)
    assert (recipe["item1"], recipe["item22"]) == ("Naming is slowed.", "Exact")
    assert values(registered, OSF)["q4"] == ["Subjects", "Analysts"]


def test_hostile_answers_stay_text_in_every_form() -> None:
    hostile = "<script>alert(1)</script> | [x](javascript:1) ![y](http://e.vil/z) =1+1 \u202e"
    long = (hostile * (LONGEST_TEXT // len(hostile) + 1))[:LONGEST_TEXT].strip()
    texts = {key: long for key, question in QUESTIONS.items() if not question.options}
    author = Registration(title=hostile[:100], authors=hostile, licence=hostile, texts=texts)
    document = forms.registration(PROFILES["replication"], stroop(author), on=DAY)
    assert "<script" not in document_html(document)
    assert "\n<script" not in markdown(document)
    assert document.values["ethics"] == long
    assert all(str(value).endswith(long) for key, value in document.values.items() if key in texts)


@pytest.mark.parametrize("study", one_in(6, [*STUDIES, "mine"]))
def test_every_item_is_answered_or_not_given(study: str) -> None:
    own = empty_study() if study == "mine" else None
    for lab, form in product(scenarios.Difficulty, PROFILES):
        pack = scenarios.pack_of(own, lab) if own else scenarios.load_scenario(study, lab.value)
        registered, file = planned(pack), json.dumps(pack.study.model_dump(), default=str)
        written, filled = text_of(registered, form), answers(registered, form)
        by_id = values(registered, form)
        assert [*by_id] == [item.id for item in items_of(form)]
        for key, answer in filled.items():
            assert AnswerSource.AUTHOR not in sources(answer)
            for source, text in answer.sources:
                plain = text.strip(" .").casefold()
                assert plain not in ("", "none", NOT_GIVEN, answer.item.question.label.casefold())
                if source is AnswerSource.STUDY and key in VERBATIM:
                    assert all(json.dumps(line)[1:-1] in file for line in text.splitlines())
            assert (by_id[answer.item.id] in (None, [])) is not bool(answer.sources)
        open_items = [answer.item for answer in filled.values() if not answer.sources]
        rest, required = len(open_items), sum(item.required for item in open_items)
        listed = written.partition("## Not given")[2].partition("##")[0].partition("---")[0]
        assert listed.count("\n- ") == rest
        assert ("! Not given" in written) is bool(rest)
        must = f"; {required} required ones are not" if required else ""
        assert f"{len(filled) - rest} of {len(filled)} items are answered{must}." in written


def test_empty_study_claims_nothing() -> None:
    registered = planned(scenarios.pack_of(empty_study(), scenarios.Difficulty.MEDIUM))
    for form in PROFILES:
        assert all(AnswerSource.STUDY not in sources(a) for a in answers(registered, form).values())
    filled = answers(registered)
    # Its 128 samples are the fewest that meet the target.
    assert {key for key, answer in filled.items() if answer.proposal} == {"stopping"}
    for key in ("controls", "here_stimuli", "here_measures", "here_procedure", "dates"):
        assert not filled[key].sources
    assert str(filled["sample_size"].value).startswith("128 samples.")


def test_substitution_is_close_up_to_loss_one() -> None:
    seen = set()
    for study, lab in product(STUDIES, scenarios.Difficulty):
        pack = scenarios.load_scenario(study, lab.value)
        plan = PlanAnalysis(assess(pack.reference_protocol, pack)).least.after
        filled = answers(RegisteredPlan(PlanAnalysis(plan), Registration()))
        for key, owned in (("same_measures", pack.equipment), ("same_stimuli", pack.reagents)):
            losses = [s.fidelity_loss for s in plan.substitutions if s.original in owned]
            if losses:
                proposal = filled[key].proposal
                assert proposal is not None
                assert proposal.answer == ("Close" if max(losses) <= 1 else "Different")
                seen.add(proposal.answer)
    assert seen == {"Close", "Different"}


def negotiated(study: str) -> RegisteredPlan:
    pack = scenarios.load_scenario(study, "medium")
    scientist, manager = ScientistKind.DIRECT, LabManagerKind.REFERENCE
    setup = make_setup(pack, pack.reference_protocol, scientist=scientist, lab_manager=manager)
    run = negotiate(setup, pack)
    assert run.final_plan is not None
    return RegisteredPlan(PlanAnalysis(run.final_plan), Registration(), run=run)


def shipped(study: str, lab: str = "medium") -> RegisteredPlan:
    return planned(scenarios.load_scenario(study, lab))


def answer_lines() -> Iterator[str]:
    controls = scenarios.load_scenario("psy_stroop", "medium").reference_protocol.controls
    reasoned = Registration(reasons={"sample_size": "A class."})
    monday = scenarios.LabOverrides(start_date=date(2026, 12, 7))
    dated = shipped("psy_stroop", "easy").options.yours.pack.with_own(
        monday, scenarios.EvidenceAssumptions()
    )
    run = negotiated("psy_stroop")
    assert run.run is not None
    opening = run.run.rounds[0].plan
    assert opening is not None
    own = RegisteredPlan(PlanAnalysis(opening), Registration(), run=run.run)
    for registered, *keys in (
        # Paired, d = 1, alpha 0.05: power 0.78 on 9 pairs and 0.80 on 10 (SciPy).
        (stroop(), "sample_rationale", "refused"),
        (stroop(sample_size=10), "sample_rationale"),
        (stroop(reasoned), "sample_rationale"),
        (shipped("bio_jq1_myeloma"), "original_interval", "original_n"),  # n of each group
        # t = 3.07, 300 months: d = t / √n = 0.17725, ± 1.96 / √300 = 0.11316.
        (shipped("fin_momentum"), "original_interval", "original_n", "original_effect", "stopping"),
        (shipped("eco_reef_fish", "easy"), "design"),
        (shipped("psy_stroop", "easy"), "dates"),
        (planned(dated), "dates"),
        (stroop(), "same_procedure"),
        (stroop(duration_days=3), "same_procedure"),
        (stroop(controls=controls[:1]), "same_procedure"),
        (stroop(technique="Ask."), "same_procedure"),
        (negotiated("phys_millikan"), "refused"),
        (own, "refused"),  # its own plan is not among the refused
    ):
        filled = answers(registered) | answers(registered, "funder")
        for key in keys:
            yield f"# {key}"
            yield from (f"{source}: {text}" for source, text in filled[key].sources)
            yield from filter(None, [filled[key].hint, ": ".join(filled[key].proposal or ())])


def test_answers_to_single_questions() -> None:
    assert_golden("registration_answers", "\n".join(answer_lines()))


def test_refused_plans_are_on_every_form() -> None:
    registered = negotiated("phys_millikan")
    for form in PROFILES:
        written = text_of(registered, form)
        assert written.count("Refused by the lab.") == 1
        assert ("## How the plan was chosen" in written) is (form != "replication")
