"""Registration forms: the registries' ids, answers from plan, file and author, proposals."""

import json
from datetime import date
from itertools import chain, product
from typing import Any, Final

import pytest
from pydantic import ValidationError

from replicalab import scenarios
from replicalab.assessment import assess
from replicalab.documents import OWN
from replicalab.drafts import Draft, check, new_study
from replicalab.facts.blocks import NOT_GIVEN
from replicalab.features import registration as forms
from replicalab.features.registration import PROFILES, FormAnswer, FormItem, Registered
from replicalab.limits import LONGEST_LABEL, LONGEST_TEXT
from replicalab.models import revise
from replicalab.negotiation import LabManagerKind, ScientistKind, negotiate
from replicalab.planner import PlanAnalysis
from replicalab.registration import QUESTIONS, Finder, Registration
from replicalab.render.html import document_html
from replicalab.render.markdown import markdown
from tests.factories import make_setup
from tests.golden import assert_golden

DAY = date(2026, 1, 31)
RECIPE, OSF = "brandt-prereg-2", "osf-preregistration-3"
STUDIES = [summary.scenario_id for summary in scenarios.list_scenarios()]
VERBATIM = ("effect", "original_administration", "question", "hypotheses", "success")
"""Questions that the study's file answers word for word."""


def items_of(form: str) -> list[FormItem]:
    return [*chain.from_iterable(PROFILES[form].sections.values())]


def planned(
    pack: scenarios.Pack, author: Registration | None = None, **changes: object
) -> Registered:
    plan = assess(revise(pack.reference_protocol, **changes), pack)
    return Registered(PlanAnalysis(plan), author or Registration())


def stroop(author: Registration | None = None, **changes: object) -> Registered:
    return planned(scenarios.load_scenario("psy_stroop", "medium"), author, **changes)


def answers(registered: Registered, form: str = "replication") -> dict[str, FormAnswer]:
    sections = forms.answers_of(PROFILES[form], registered)
    listed = chain.from_iterable(sections.values())
    return {answer.item.question.key: answer for answer in listed}


def sources(answer: FormAnswer) -> list[Finder]:
    return [source for source, _ in answer.sources]


def values(registered: Registered, form: str) -> Any:
    return forms.registration(PROFILES[form], registered, on=DAY).values


def text_of(registered: Registered, form: str) -> str:
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
    assert {key: profile.title for key, profile in PROFILES.items()} == OWN
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
    assert filled["effect"].sources == ((Finder.AUTHOR, "Naming is slowed."),)
    assert sources(filled["sample_size"]) == [Finder.CORE, Finder.AUTHOR]
    assert filled["sample_rationale"].sources[-1] == (Finder.AUTHOR, "A class.")
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


@pytest.mark.parametrize("study", [*STUDIES, "mine"])
def test_every_item_is_answered_or_not_given(study: str) -> None:
    own = empty_study() if study == "mine" else None
    for lab, form in product(scenarios.Difficulty, PROFILES):
        pack = scenarios.pack_of(own, lab) if own else scenarios.load_scenario(study, lab.value)
        registered, file = planned(pack), json.dumps(pack.study.model_dump(), default=str)
        written, filled = text_of(registered, form), answers(registered, form)
        by_id = values(registered, form)
        assert [*by_id] == [item.id for item in items_of(form)]
        for key, answer in filled.items():
            assert Finder.AUTHOR not in sources(answer)
            for source, text in answer.sources:
                plain = text.strip(" .").casefold()
                assert plain not in ("", "none", NOT_GIVEN, answer.item.question.label.casefold())
                if source is Finder.STUDY and key in VERBATIM:
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
        assert all(Finder.STUDY not in sources(a) for a in answers(registered, form).values())
    filled = answers(registered)
    # Its 128 samples are the fewest that meet the target.
    assert {key for key, answer in filled.items() if answer.proposal} == {"stopping"}
    for key in ("controls", "here_stimuli", "here_measures", "here_procedure", "dates"):
        assert not filled[key].sources
    assert str(filled["sample_size"].value).startswith("128 samples.")


def test_sample_is_justified_by_the_fewest_that_suffice() -> None:
    # Paired, d = 1, alpha 0.05: power 0.78 on 9 pairs and 0.80 on 10 (SciPy).
    fewest = "The fewest that meet the target, all else as planned: 10 participants."
    answer = answers(stroop())["sample_rationale"]
    assert not answer.sources
    assert fewest in answer.hint
    assert "| ! Not given. Known: Power 1.00; target 0.80" in text_of(stroop(), RECIPE)
    of_ten = answers(stroop(sample_size=10))["sample_rationale"]
    assert sources(of_ten) == [Finder.CORE]
    assert "No fewer meet the target, all else as planned." in str(of_ten.value)
    assert of_ten.hint == ""
    reasoned = answers(stroop(Registration(reasons={"sample_size": "A class."})))
    assert sources(reasoned["sample_rationale"]) == [Finder.CORE, Finder.AUTHOR]
    assert fewest in str(reasoned["sample_rationale"].value)
    assert reasoned["sample_rationale"].hint == ""


@pytest.mark.parametrize(
    ("study", "interval", "counts"),
    [
        ("bio_jq1_myeloma", "95 % interval 1.1 to 3.46.", "n = 10 and 9."),  # N would be of both
        # t = 3.07, 300 months: d = t / √n = 0.17725, ± 1.96 / √300 = 0.11316.
        ("fin_momentum", "95 % interval 0.0641 to 0.29, from the estimate and its", "n = 300."),
    ],
)
def test_original_has_its_interval_and_n(study: str, interval: str, counts: str) -> None:
    filled = answers(planned(scenarios.load_scenario(study, "medium")), RECIPE)
    assert str(filled["original_interval"].value).startswith(interval)
    assert filled["original_n"].value == counts


def test_computed_and_printed_original_have_their_sources() -> None:
    filled = answers(planned(scenarios.load_scenario("fin_momentum", "medium")))
    assert not filled["stopping"].sources
    (core, worked_out), (file, printed) = filled["original_effect"].sources
    assert (core, file) == (Finder.CORE, Finder.STUDY)
    assert "t = 3.07 (299 df)" in worked_out
    assert printed.startswith("n = 300 months")
    fish = answers(planned(scenarios.load_scenario("eco_reef_fish", "easy")))
    assert "Tanks of 16, correlation not given" in str(fish["design"].value)


def test_dates_need_a_first_day() -> None:
    pack = scenarios.load_scenario("psy_stroop", "easy")
    assert not answers(planned(pack), "funder")["dates"].sources
    overrides = scenarios.LabOverrides(start_date=date(2026, 12, 7))  # a Monday
    dated = planned(pack.with_own(overrides, scenarios.EvidenceAssumptions()))
    expected = "4 days (from Mon 7 Dec 2026 to Thu 10 Dec 2026)."
    assert answers(dated, "funder")["dates"].value == expected


def test_substitution_is_close_up_to_loss_one() -> None:
    seen = set()
    for study, lab in product(STUDIES, scenarios.Difficulty):
        pack = scenarios.load_scenario(study, lab.value)
        plan = PlanAnalysis(assess(pack.reference_protocol, pack)).least.after
        filled = answers(Registered(PlanAnalysis(plan), Registration()))
        for key, owned in (("same_measures", pack.equipment), ("same_stimuli", pack.reagents)):
            losses = [s.fidelity_loss for s in plan.substitutions if s.original in owned]
            if losses:
                proposal = filled[key].proposal
                assert proposal is not None
                assert proposal.answer == ("Close" if max(losses) <= 1 else "Different")
                seen.add(proposal.answer)
    assert seen == {"Close", "Different"}


def test_procedure_is_compared_with_the_studys_plan() -> None:
    controls = scenarios.load_scenario("psy_stroop", "medium").reference_protocol.controls
    for expected, why, changes in (
        ("Exact", "", {}),
        ("Close", "3 days in place of 4", {"duration_days": 3}),
        ("Close", "", {"controls": controls[:1]}),
        ("Different", "", {"technique": "Ask."}),
    ):
        proposal = answers(stroop(**changes))["same_procedure"].proposal
        assert proposal is not None
        assert (proposal.answer, proposal.why.endswith(why)) == (expected, True)


def negotiated(study: str) -> Registered:
    pack = scenarios.load_scenario(study, "medium")
    scientist, manager = ScientistKind.DIRECT, LabManagerKind.REFERENCE
    setup = make_setup(pack, pack.reference_protocol, scientist=scientist, lab_manager=manager)
    run = negotiate(setup, pack)
    assert run.final_plan is not None
    return Registered(PlanAnalysis(run.final_plan), Registration(), run=run)


def test_refused_plans_have_reasons_on_every_form() -> None:
    registered = negotiated("phys_millikan")
    assert registered.options.yours.counts.samples == 40
    [(source, text)] = answers(registered)["refused"].sources
    assert source is Finder.CORE
    by_lab, by_scientist = text.splitlines()
    assert by_lab.startswith("Round 1: 58 drops in 5 days, 1,330 credits")
    assert "Refused by the lab." in by_lab
    assert "330 over the budget of 1,000" in by_lab
    assert by_scientist.startswith("Round 1: offered by the lab, 29 drops in 4 days, 990 credits")
    assert "Not taken by the Scientist. The offer has half-width ±2.02 %" in by_scientist
    for form in PROFILES:
        written = text_of(registered, form)
        assert written.count("Refused by the lab.") == 1
        assert ("## How the plan was chosen" in written) is (form != "replication")


def test_registered_plan_is_not_among_the_refused() -> None:
    registered = negotiated("psy_stroop")
    assert registered.run is not None
    opening = registered.run.rounds[0].plan
    assert opening is not None
    own = Registered(PlanAnalysis(opening), Registration(), run=registered.run)
    assert not answers(own)["refused"].sources
    assert not answers(planned(opening.pack))["refused"].sources
