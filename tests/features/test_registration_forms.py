"""Registration forms: the registries' own ids and order, and what an author may answer."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from replicalab.documents import OWN
from replicalab.errors import LinkError
from replicalab.features.registration import PROFILES
from replicalab.limits import LONGEST_LABEL, LONGEST_TEXT
from replicalab.registration import QUESTIONS, Registration
from replicalab.ui.address import to_query
from replicalab.ui.workspace import Workspace

RECIPE = PROFILES["brandt-prereg-2"]
OSF = PROFILES["osf-preregistration-3"]


def test_replication_recipe_has_its_twenty_eight_items_under_their_ids() -> None:
    assert [item.id for item in RECIPE.items] == [f"item{number}" for number in range(1, 29)]
    record = {item.id: item.question.key for item in RECIPE.items}
    assert record["item3"] == "original_effect"
    assert (record["item15"], record["item16"]) == ("sample_size", "sample_rationale")
    same = [
        item.id for item in RECIPE.items if item.question.options == QUESTIONS["same_pay"].options
    ]
    assert same == [f"item{number}" for number in range(17, 24)]
    assert record["item28"] == "success"
    yes_or_no = [item.id for item in RECIPE.items if item.question.options == ("Yes", "No")]
    assert yes_or_no == ["item10"]


def test_osf_preregistration_has_its_items_and_which_it_requires() -> None:
    assert [item.id for item in OSF.items] == [f"q{number}" for number in range(2, 24)]
    required = {item.id for item in OSF.items if item.required}
    assert required == {"q2", "q3", "q4", "q6", "q8", "q10", "q11", "q15", "q17"}
    options = {item.id: item.question.options for item in OSF.items if item.question.options}
    assert options.keys() == {"q3", "q4", "q8"}
    assert [item.id for item in OSF.items if item.question.several] == ["q4"]
    assert len(options["q8"]) == 5


def test_list_of_features_names_every_form() -> None:
    assert {key: profile.title for key, profile in PROFILES.items()} == OWN


def test_every_question_is_on_a_form_and_once_on_each() -> None:
    request = [[item.question.key for item in profile.items] for profile in PROFILES.values()]
    assert all(len(keys) == len(set(keys)) for keys in request)
    assert {key for keys in request for key in keys} == QUESTIONS.keys()


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"texts": {"zebra": "x"}}, "texts: 'zebra' is no question for a text"),
        ({"texts": {"blinding": "x"}}, "texts: 'blinding' is no question for a text"),
        ({"choices": {"ethics": ["x"]}}, "choices: 'ethics' is no question with options"),
        ({"choices": {"same_pay": ["Same"]}}, "'Same' is no option; use 'Exact', 'Close' or"),
        ({"choices": {"same_pay": ["Exact", "Close"]}}, "2 options are chosen; choose one"),
        ({"choices": {"blinding": ["Nobody", "Nobody"]}}, "2 options are chosen"),
        (
            {"choices": {"blinding": ["Subjects", "Nobody", "Analysts"]}},
            "choices: blinding: 'Nobody' stands beside 'Subjects' and 'Analysts'; leave it or",
        ),
        ({"reasons": {"zebra": "x"}}, "reasons: 'zebra' is no field of a plan"),
        ({"title": "x" * (LONGEST_LABEL + 1)}, "at most 300 characters"),
        ({"texts": {"ethics": "x" * (LONGEST_TEXT + 1)}}, "at most 4000 characters"),
        ({"texts": {"k" * 41: "x"}}, "at most 40 characters"),
    ],
)
def test_answer_that_no_form_takes_is_refused(said: dict[str, object], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Registration.model_validate(said)


def test_answer_is_taken_changed_and_taken_away() -> None:
    registration = Registration().answering("ethics", "Approved.").answering("same_pay", ("Close",))
    assert (registration.answer("ethics"), registration.answer("same_pay")) == (
        "Approved.",
        "Close",
    )
    assert registration.answering("blinding", ("Subjects", "Analysts")).answer("blinding") == (
        "Subjects and Analysts"
    )
    assert registration.answering("ethics", "").answering("same_pay", ()) == Registration()


@pytest.mark.parametrize(
    ("before", "chosen", "left"),
    [
        ([], ["Nobody"], ("Nobody",)),
        (["Subjects"], ["Nobody", "Subjects"], ("Nobody",)),
        (["Nobody"], ["Nobody", "Subjects"], ("Subjects",)),
        (["Subjects"], ["Subjects", "Analysts"], ("Subjects", "Analysts")),
        (["Nobody"], [], ()),
    ],
)
def test_choice_of_nobody_takes_the_place_of_the_others_and_they_of_it(
    before: list[str], chosen: list[str], left: tuple[str, ...]
) -> None:
    assert QUESTIONS["blinding"].settled(before, chosen) == left


def test_registration_longer_than_a_link_is_refused() -> None:
    letters = [chr(0x4E00 + (n * 7919) % 20000) for n in range(LONGEST_TEXT)]
    keys = [key for key, question in QUESTIONS.items() if not question.options]
    registration = Registration(title="Long", texts=dict.fromkeys(keys, "".join(letters)))
    with pytest.raises(LinkError, match="too long for a link"):
        to_query(Workspace().changed(registration=registration))
