"""Every item of every form: answered from what the core or a person says, or not given."""

from __future__ import annotations

import json
from datetime import date
from itertools import product
from typing import Final

import pytest

from replicalab.assessment import assess
from replicalab.documents.forms import document_html, markdown
from replicalab.drafts import Draft, check, new_study
from replicalab.facts.blocks import NOT_GIVEN
from replicalab.features.registration import (
    PROFILES,
    FormAnswer,
    answers_of,
    left_text,
    registration,
)
from replicalab.features.registration.answers import Registered
from replicalab.limits import LONGEST_TEXT
from replicalab.models import revise
from replicalab.negotiation import LabManagerKind, ScientistKind, negotiate
from replicalab.planner import PlanAnalysis
from replicalab.registration import QUESTIONS, Finder, Registration
from replicalab.scenarios import (
    Difficulty,
    EvidenceAssumptions,
    LabOverrides,
    Pack,
    Study,
    list_scenarios,
    load_scenario,
    pack_of,
)
from tests.factories import make_pack, make_protocol, make_setup

DAY = date(2026, 1, 31)
STUDIES = [summary.scenario_id for summary in list_scenarios()]


def registered(pack: Pack, said: Registration | None = None) -> Registered:
    options = PlanAnalysis(assess(pack.reference_protocol, pack))
    return Registered(options, said or Registration())


def answered(found: Registered, form: str) -> dict[str, FormAnswer]:
    return {answer.item.question.key: answer for answer in answers_of(PROFILES[form], found)}


VERBATIM: Final = ("effect", "original_administration", "question", "hypotheses", "success")
"""Of these questions the study's file has the answer, word for word."""


def two_minutes() -> Study:
    """Return a study of one's own of which nothing but its name is said."""
    study = check(Draft(new_study("mine", name="Mine"))).study
    assert study is not None
    return study


@pytest.mark.parametrize("study", [*STUDIES, "mine"])
def test_every_item_of_every_form_is_answered_by_somebody_or_not_given(study: str) -> None:
    of = two_minutes() if study == "mine" else None
    for lab, profile in product(Difficulty, PROFILES.values()):
        pack = pack_of(of, lab) if of else load_scenario(study, lab.value)
        result, file = registered(pack), json.dumps(pack.study.model_dump(), default=str)
        values, message = (
            registration(profile, result, on=DAY).values,
            markdown(registration(profile, result, on=DAY)),
        )
        answers = answers_of(profile, result)
        assert [*values] == [item.id for item in profile.items]
        for answer in answers:
            assert not any(who is Finder.AUTHOR for who, _ in answer.found)  # who has said nothing
            for who, text in answer.found:
                said = text.strip(" .").casefold()
                assert said not in ("", "none", NOT_GIVEN, answer.item.question.label.casefold())
                if who is Finder.STUDY and answer.item.question.key in VERBATIM:
                    assert all(json.dumps(line)[1:-1] in file for line in text.splitlines())
            assert (values[answer.item.id] in (None, [])) is not answer.is_given
        rest = sum(not answer.is_given for answer in answers)
        listed = message.partition("## Not given")[2].partition("##")[0].partition("---")[0]
        assert listed.count("\n- ") == rest
        assert ("! Not given" in message) is bool(rest)
        assert f"{len(answers) - rest} of {len(answers)} items are answered" in message or not rest


def test_study_of_which_nothing_is_known_claims_nothing() -> None:
    result = registered(pack_of(two_minutes(), Difficulty.MEDIUM))
    texts = {
        key
        for form in PROFILES
        for key, answer in answered(result, form).items()
        if any(who is Finder.STUDY for who, _ in answer.found)
    }
    assert texts == set()
    proposed = {key for key, answer in answered(result, "replication").items() if answer.proposal}
    assert proposed == {"stopping"}  # its 128 samples are the fewest that meet the target
    for key in ("controls", "here_stimuli", "here_measures", "here_procedure", "dates"):
        assert not answered(result, "replication")[key].is_given
    assert answered(result, "brandt-prereg-2")["sample_size"].text.startswith("128 samples.")


def test_author_takes_the_place_of_the_file_and_stands_beside_the_core() -> None:
    text = Registration(
        texts={"effect": "Naming is slowed.", "sample_size": "All who come in May."},
        choices={"same_pay": ("Exact",), "blinding": ("Subjects", "Analysts")},
        reasons={"sample_size": "A class."},
    )
    result = registered(load_scenario("psy_stroop", "medium"), text)
    answers = answered(result, "brandt-prereg-2")
    assert answers["effect"].found == ((Finder.AUTHOR, "Naming is slowed."),)
    assert [who for who, _ in answers["sample_size"].found] == [Finder.CORE, Finder.AUTHOR]
    assert answers["sample_rationale"].found[-1] == (Finder.AUTHOR, "A class.")
    recipe = registration(PROFILES["brandt-prereg-2"], result, on=DAY).values
    assert (recipe["item1"], recipe["item22"]) == ("Naming is slowed.", "Exact")
    assert registration(PROFILES["osf-preregistration-3"], result, on=DAY).values["q4"] == [
        "Subjects",
        "Analysts",
    ]


def test_numbers_of_a_sample_are_its_reason_only_where_no_fewer_meet_the_target() -> None:
    stroop = load_scenario("psy_stroop", "medium")
    answer = answered(registered(stroop), "brandt-prereg-2")["sample_rationale"]
    assert not answer.is_given
    # Paired, d = 1, alpha 0.05: power 0.78 on 9 pairs and 0.80 on 10 (SciPy).
    fewest = "The fewest that meet the target, all else as planned: 10 participants."
    assert fewest in answer.hint
    text = markdown(registration(PROFILES["brandt-prereg-2"], registered(stroop), on=DAY))
    assert "| ! Not given. What is known: Power 1.00, where 0.80 is aimed for" in text
    lean = assess(revise(stroop.reference_protocol, sample_size=10), stroop)
    of_ten = Registered(PlanAnalysis(lean), Registration())
    minimum = answered(of_ten, "brandt-prereg-2")["sample_rationale"]
    assert [who for who, _ in minimum.found] == [Finder.CORE]
    assert "No fewer meet the target, all else as planned." in minimum.text
    assert minimum.hint == ""
    reasoned = registered(stroop, Registration(reasons={"sample_size": "A class."}))
    value = answered(reasoned, "brandt-prereg-2")["sample_rationale"]
    assert [who for who, _ in value.found] == [Finder.CORE, Finder.AUTHOR]
    assert fewest in value.text
    assert value.hint == ""


def test_proposal_counts_once_it_is_confirmed() -> None:
    pack = load_scenario("psy_stroop", "medium")
    proposed = answered(registered(pack), "brandt-prereg-2")["same_measures"]
    assert proposed.proposal is not None
    assert proposed.proposal[0] == "Exact"
    assert not proposed.is_given
    text = Registration(choices={"same_measures": ("Exact",)})
    confirmed = answered(registered(pack, text), "brandt-prereg-2")["same_measures"]
    assert (confirmed.text, confirmed.proposal) == ("Exact", None)


def test_substitution_is_proposed_as_close_or_different_by_what_it_loses() -> None:
    seen = set()
    for study, lab in product(STUDIES, Difficulty):
        pack = load_scenario(study, lab.value)
        options = PlanAnalysis(assess(pack.reference_protocol, pack))
        plan = options.least.after
        result = Registered(PlanAnalysis(plan), Registration())
        for key, owned in (("same_measures", pack.equipment), ("same_stimuli", pack.reagents)):
            losses = [s.fidelity_loss for s in plan.substitutions if s.original in owned]
            if losses:
                proposal = answered(result, "replication")[key].proposal
                assert proposal is not None
                assert proposal[0] == ("Close" if max(losses) <= 1 else "Different")
                seen.add(proposal[0])
    assert seen == {"Close", "Different"}


@pytest.mark.parametrize(
    ("equipment", "cut"),
    [
        (["window shelf", "light meter"], "'window shelf' in place of 'growth chamber': ±0 cr"),
        (["growth chamber"], "without 'light meter': −100 credits, power"),
        (["growth chamber", "light meter", "lamp"], "with 'lamp': +100 credits, power"),
    ],
)
def test_cut_of_a_funders_form_names_what_comes_and_goes(equipment: list[str], cut: str) -> None:
    plan = revise(make_protocol(), required_equipment=equipment)
    result = Registered(PlanAnalysis(assess(plan, make_pack())), Registration())
    assert cut in answered(result, "funder")["cuts"].text


def test_count_of_what_is_left_names_what_the_form_requires() -> None:
    result = registered(load_scenario("psy_stroop", "medium"))
    answers = answers_of(PROFILES["osf-preregistration-3"], result)
    required = sum(a.item.required for a in answers if not a.is_given)
    assert left_text(answers).endswith(f" items are answered; {required} required ones are not.")
    value = [a for a in answers if a.is_given]
    assert left_text(value) == f"{len(value)} of {len(value)} items are answered."


@pytest.mark.parametrize(
    ("study", "interval", "counts"),
    [
        ("bio_jq1_myeloma", "95 % interval 1.1 to 3.46.", "n = 10 and 9."),  # N would be of both
        # t = 3.07, 300 months: d = t / √n = 0.17725, ± 1.96 / √300 = 0.11316.
        ("fin_momentum", "95 % interval 0.0641 to 0.29, from the estimate and its", "n = 300."),
    ],
)
def test_original_is_told_with_its_interval_and_n(study: str, interval: str, counts: str) -> None:
    answers = answered(registered(load_scenario(study, "medium")), "brandt-prereg-2")
    assert answers["original_interval"].text.startswith(interval)
    assert answers["original_n"].text == counts


def test_what_is_asked_here_is_the_authors_and_the_studys_own_is_the_files() -> None:
    pack = load_scenario("fin_momentum", "medium")
    assert not answered(registered(pack), "replication")["stopping"].is_given
    fish = answered(registered(load_scenario("eco_reef_fish", "easy")), "replication")
    assert "Tanks of 16, correlation not given" in fish["design"].text


# --- the plans that were refused ----------------------------------------------------------------


def negotiated(study: str) -> Registered:
    pack = load_scenario(study, "medium")
    scientist, manager = ScientistKind.DIRECT, LabManagerKind.REFERENCE
    setup = make_setup(pack, pack.reference_protocol, scientist=scientist, lab_manager=manager)
    run = negotiate(setup, pack)
    assert run.final_plan is not None
    return Registered(PlanAnalysis(run.final_plan), Registration(), run=run)


def test_refused_plans_stand_with_their_reasons_on_every_form() -> None:
    result = negotiated("phys_millikan")
    assert result.plan.counts.samples == 40
    [(who, message)] = answered(result, "replication")["refused"].found
    assert who is Finder.CORE
    by_lab, by_scientist = message.splitlines()
    assert by_lab.startswith("Round 1: 58 drops in 5 days, 1,330 credits")
    assert "Refused by the lab." in by_lab
    assert "330 over the budget of 1,000" in by_lab
    assert by_scientist.startswith("Round 1: offered by the lab, 29 drops in 4 days, 990 credits")
    assert "Not taken by the Scientist. The offer has half-width ±2.02 %" in by_scientist
    for form in PROFILES.values():
        text = markdown(registration(form, result, on=DAY))
        assert text.count("Refused by the lab.") == 1
        assert ("## How the plan was chosen" in text) is (form.key != "replication")


def test_plan_that_is_registered_is_not_among_those_that_were_refused() -> None:
    result = negotiated("psy_stroop")
    assert result.run is not None
    opening = result.run.rounds[0].plan
    assert opening is not None
    answers = answered(
        Registered(PlanAnalysis(opening), Registration(), run=result.run), "replication"
    )
    assert not answers["refused"].is_given
    assert not answered(registered(opening.pack), "replication")["refused"].is_given


# --- further proposals and dates ------------------------------------------------------------------


def test_procedure_is_proposed_by_what_differs_from_the_studys_plan() -> None:
    pack = load_scenario("psy_stroop", "medium")
    protocol = pack.reference_protocol
    proposed = []
    for changes in (
        {},
        {"duration_days": 3},
        {"controls": protocol.controls[:1]},
        {"technique": "Ask."},
    ):
        plan = assess(revise(protocol, **changes), pack)
        result = Registered(PlanAnalysis(plan), Registration())
        proposed.append(answered(result, "replication")["same_procedure"].proposal)
    exact, shorter, without, other = (proposal and proposal.answer for proposal in proposed)
    assert (exact, shorter, without, other) == ("Exact", "Close", "Close", "Different")
    assert proposed[1] is not None
    assert proposed[1].why.endswith("3 days in place of 4")


def test_dates_are_given_where_the_lab_has_some() -> None:
    pack = load_scenario("psy_stroop", "easy")
    assert not answered(registered(pack), "funder")["dates"].is_given
    overrides = LabOverrides(start_date=date(2026, 12, 7))  # a Monday; four days on, a Thursday
    answer = answered(registered(pack.with_own(overrides, EvidenceAssumptions())), "funder")[
        "dates"
    ]
    assert answer.text == "4 days (from Mon 7 Dec 2026 to Thu 10 Dec 2026)."


def test_original_that_is_worked_out_is_the_cores_and_what_is_printed_the_files() -> None:
    answers = answered(registered(load_scenario("fin_momentum", "medium")), "replication")
    (core, worked_out), (file, printed) = answers["original_effect"].found
    assert (core, file) == (Finder.CORE, Finder.STUDY)
    assert "t = 3.07 (299 df)" in worked_out
    assert printed.startswith("n = 300 months")


def test_hostile_and_very_long_answers_are_text_in_every_form() -> None:
    hostile = "<script>alert(1)</script> | [x](javascript:1) ![y](http://e.vil/z) =1+1 \u202e"
    long = (hostile * (LONGEST_TEXT // len(hostile) + 1))[:LONGEST_TEXT].strip()
    texts = {key: long for key, question in QUESTIONS.items() if not question.options}
    text = Registration(title=hostile[:100], authors=hostile, licence=hostile, texts=texts)
    result = registered(load_scenario("psy_stroop", "medium"), text)
    document = registration(PROFILES["replication"], result, on=DAY)
    assert "<script" not in document_html(document)
    assert "\n<script" not in markdown(document)
    values = registration(PROFILES["replication"], result, on=DAY).values
    assert values["ethics"] == long
    assert all(str(value).endswith(long) for key, value in values.items() if key in texts)
