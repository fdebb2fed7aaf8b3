"""Every item of every form: answered from what the core or a person says, or not given."""

from __future__ import annotations

from datetime import UTC, date, datetime
from itertools import product

import pytest

from replicalab.assessment import assess
from replicalab.drafts import Draft, check, new_study
from replicalab.library import Decision, EntryKind, Option
from replicalab.measures.success import Criterion
from replicalab.planner import PlanAnalysis
from replicalab.registration import PROFILES, Finder, Registration
from replicalab.reports import markdown
from replicalab.scenarios import (
    Difficulty,
    EvidenceAssumptions,
    LabOverrides,
    Pack,
    Replication,
    list_scenarios,
    load_scenario,
    pack_of,
    read_looks,
)
from replicalab.views.blocks import NOT_GIVEN
from replicalab.views.registration import (
    FormAnswer,
    Registered,
    answers_of,
    left_text,
    registration,
    registry_values,
)

DAY = date(2026, 1, 31)
STUDIES = [summary.scenario_id for summary in list_scenarios()]


def registered(pack: Pack, said: Registration | None = None) -> Registered:
    options = PlanAnalysis(assess(pack.reference_protocol, pack))
    return Registered(options, said or Registration())


def answered(found: Registered, form: str) -> dict[str, FormAnswer]:
    return {each.item.question.key: each for each in answers_of(PROFILES[form], found)}


@pytest.mark.parametrize("study", STUDIES)
def test_every_item_of_every_form_is_answered_by_somebody_or_not_given(study: str) -> None:
    for lab, profile in product(Difficulty, PROFILES.values()):
        found = registered(load_scenario(study, lab.value))
        values, told = (
            registry_values(profile, found),
            markdown(registration(profile, found, on=DAY)),
        )
        answers = answers_of(profile, found)
        assert [*values] == [item.id for item in profile.items]
        for each in answers:
            assert not any(who is Finder.AUTHOR for who, _ in each.found)  # who has said nothing
            assert all(text.strip(" .").casefold() not in ("", NOT_GIVEN) for _, text in each.found)
            assert (values[each.item.id] in (None, [])) is not each.is_given
        left = sum(not each.is_given for each in answers)
        assert told.count("! Not given") == left
        assert f"{len(answers) - left} of {len(answers)} items are answered" in told or not left


def test_study_of_which_nothing_is_known_claims_nothing() -> None:
    study = check(Draft(new_study("mine", name="Mine"))).study
    assert study is not None
    found = registered(pack_of(study, Difficulty.MEDIUM))
    given = {
        key
        for form in PROFILES
        for key, each in answered(found, form).items()
        if any(who is Finder.STUDY for who, _ in each.found)
    }
    assert given == set()
    assert answered(found, "brandt-prereg-2")["sample_size"].text.startswith("128 samples.")


def test_author_takes_the_place_of_the_file_and_stands_beside_the_core() -> None:
    said = Registration(
        texts={"effect": "Naming is slowed.", "sample_size": "All who come in May."},
        choices={"same_pay": ("Exact",), "blinding": ("Subjects", "Analysts")},
        reasons={"sample_size": "A class."},
    )
    found = registered(load_scenario("psy_stroop", "medium"), said)
    answers = answered(found, "brandt-prereg-2")
    assert answers["effect"].found == ((Finder.AUTHOR, "Naming is slowed."),)
    assert [who for who, _ in answers["sample_size"].found] == [Finder.CORE, Finder.AUTHOR]
    assert answers["sample_rationale"].found[-1] == (Finder.AUTHOR, "A class.")
    recipe = registry_values(PROFILES["brandt-prereg-2"], found)
    assert (recipe["item1"], recipe["item22"]) == ("Naming is slowed.", "Exact")
    assert registry_values(PROFILES["osf-preregistration-3"], found)["q4"] == [
        "Subjects",
        "Analysts",
    ]


def test_proposal_counts_once_it_is_confirmed() -> None:
    pack = load_scenario("psy_stroop", "medium")
    proposed = answered(registered(pack), "brandt-prereg-2")["same_measures"]
    assert proposed.proposal is not None
    assert proposed.proposal[0] == "Exact"
    assert not proposed.is_given
    said = Registration(choices={"same_measures": ("Exact",)})
    confirmed = answered(registered(pack, said), "brandt-prereg-2")["same_measures"]
    assert (confirmed.text, confirmed.proposal) == ("Exact", None)


def test_substitution_is_proposed_as_close_or_different_by_what_it_loses() -> None:
    seen = set()
    for study, lab in product(STUDIES, Difficulty):
        pack = load_scenario(study, lab.value)
        options = PlanAnalysis(assess(pack.reference_protocol, pack))
        least = options.least.after
        found = Registered(PlanAnalysis(least), Registration())
        for key, owned in (("same_measures", pack.equipment), ("same_stimuli", pack.reagents)):
            losses = [s.fidelity_loss for s in least.substitutions if s.original in owned]
            if losses:
                proposal = answered(found, "replication")[key].proposal
                assert proposal is not None
                assert proposal[0] == ("Close" if max(losses) <= 1 else "Different")
                seen.add(proposal[0])
    assert seen == {"Close", "Different"}


def test_decision_is_told_in_the_words_of_whoever_decided() -> None:
    pack = load_scenario("psy_stroop", "medium")
    option = Option(name="Plan B", kind=EntryKind.LAB, content="{}")
    when = datetime(2026, 1, 30, tzinfo=UTC)
    decision = Decision(options=(option,), chosen=0, why="It fits", who="Ada", when=when)
    found = Registered(registered(pack).options, Registration(), decision)
    told = answered(found, "replication")["decision"]
    assert told.found == ((Finder.AUTHOR, "Plan B. It fits."),)


def test_count_of_what_is_left_names_what_the_form_requires() -> None:
    found = registered(load_scenario("psy_stroop", "medium"))
    answers = answers_of(PROFILES["osf-preregistration-3"], found)
    required = sum(a.item.required for a in answers if not a.is_given)
    assert left_text(answers).endswith(f", {required} of which the form requires.")
    assert left_text([a for a in answers if a.is_given]).startswith("All ")


@pytest.mark.parametrize(
    ("study", "interval", "counts"),
    [
        ("bio_jq1_myeloma", "95 % interval 1.1 to 3.46.", "n = 10 and 9."),
        # t = 3.07, 300 months: d = t / √n = 0.17725, ± 1.96 / √300 = 0.11316.
        ("fin_momentum", "95 % interval 0.0641 to 0.29, from the estimate and its", "N = 300."),
    ],
)
def test_original_is_told_with_its_interval_and_n(study: str, interval: str, counts: str) -> None:
    answers = answered(registered(load_scenario(study, "medium")), "brandt-prereg-2")
    assert answers["original_interval"].text.startswith(interval)
    assert answers["original_n"].text.casefold() == counts.casefold()


def test_what_is_asked_here_is_the_authors_and_the_studys_own_is_the_files() -> None:
    pack = load_scenario("fin_momentum", "medium")
    question = EvidenceAssumptions(
        looks=read_looks("pocock:2"), replication=Replication(criteria=(Criterion.SIGNIFICANT,))
    )
    asked = answered(registered(pack.with_own(LabOverrides(), question)), "replication")
    (who, chosen), (worked_out_by, bounds) = asked["stopping"].found
    assert (who, chosen) == (Finder.AUTHOR, "Pocock, 2 interim looks.")
    # Jennison & Turnbull (2000), table 2.1: three looks of Pocock's at 0.05 have z 2.289.
    assert worked_out_by is Finder.CORE
    assert bounds.count("|z| above 2.289, p below 0.0221") == 3
    assert "Look 1 at 140 samples" in bounds
    assert "Final analysis at 420 samples, the largest sample" in bounds
    assert bounds.endswith("alpha spent by then 0.0500.")
    rationale = asked["sample_rationale"].text
    # SciPy: 0.7638 without, 0.6935 with these bounds.
    assert "With Pocock, 2 interim looks, the plan’s 420 samples have power 0.69." in rationale
    assert "without looks, where 0.80 is aimed for" in rationale
    assert [who for who, _ in asked["success"].found] == [Finder.STUDY, Finder.AUTHOR]
    assert "significant" in asked["success"].text
    assert not answered(registered(pack), "replication")["stopping"].is_given
    fish = answered(registered(load_scenario("eco_reef_fish", "easy")), "replication")
    assert "Tanks of 16, correlation not given" in fish["design"].text
