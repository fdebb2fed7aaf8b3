import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.lexicon import (
    amount_text,
    distinct_text,
    exact_text,
    label_key,
    one_line,
    parts_of,
    percent_text,
    plural,
    repeated_labels,
    same_label,
    signed_text,
)
from replicalab.measures.scales import HALF_WIDTH, PERCENT, SHARE
from replicalab.views.plan import effect_text


@pytest.mark.parametrize(
    ("label", "key"),
    [
        ("pH meter", "ph meter"),
        ("  pH   meter\t", "ph meter"),
        ("pH\nmeter", "ph meter"),
        ("pH\u00a0meter", "ph meter"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("pH-meter", "ph-meter"),
        ("", ""),
    ],
)
def test_label_key_of(label: str, key: str) -> None:
    assert label_key(label) == key


@given(st.text())
def test_label_key_of_a_key_is_the_key(label: str) -> None:
    assert label_key(label_key(label)) == label_key(label)


@given(st.text(), st.sampled_from([" {}", "{}\n", "\t{} "]))
def test_label_key_ignores_space_around(label: str, padded: str) -> None:
    assert same_label(label, padded.replace("{}", label))


def test_labels_that_differ_in_a_letter_are_two() -> None:
    assert not same_label("agar plates", "agar plate")
    assert not same_label("agar plates", "agarplates")


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "0"), (820.0, "820"), (3850.0, "3,850"), (1234567, "1,234,567"), (12.5, "12.50")],
)
def test_amount_text_separates_thousands_and_shows_decimals_only_where_there_are_any(
    amount: float, text: str
) -> None:
    assert amount_text(amount) == text


@pytest.mark.parametrize(
    ("labels", "repeated"),
    [
        ([], []),
        (["a", "b"], []),
        (["a", "b", "a"], ["a"]),
        (["A", "b", " a ", "a"], ["A"]),
        (["b", "a", "a", "b"], ["a", "b"]),
    ],
)
def test_repeated_labels_of(labels: list[str], repeated: list[str]) -> None:
    assert repeated_labels(labels) == repeated


@given(st.lists(st.sampled_from(["a", "A", "b", " b", "c"])))
def test_repeated_labels_are_those_that_occur_more_than_once(labels: list[str]) -> None:
    keys = [label_key(label) for label in labels]
    found = repeated_labels(labels)
    assert {label_key(label) for label in found} == {key for key in keys if keys.count(key) > 1}
    assert len(found) == len({label_key(label) for label in found})
    assert all(label == labels[keys.index(label_key(label))] for label in found)


@pytest.mark.parametrize(
    ("value", "bounds", "said"),
    [
        (0.5, [0.8], "0.50"),
        (0.797, [0.8], "0.797"),
        (0.4999, [0.5], "0.4999"),
        (0.7999999, [0.8, 0.5], "0.7999999"),
        (0.8, [0.8], "0.80"),
        (0.8 + 1e-15, [0.8], "0.80"),
        (1.0, [], "1.00"),
    ],
)
def test_value_beside_a_bound_has_the_digits_that_tell_them_apart(
    value: float, bounds: list[float], said: str
) -> None:
    assert distinct_text(value, bounds, 2, lambda number, digits: f"{number:.{digits}f}") == said


@pytest.mark.parametrize(
    ("noun", "number", "said"),
    [
        ("day", 1, "day"),
        ("day", 0, "days"),
        ("breach", 2, "breaches"),
        ("breach", 1, "breach"),
        ("entry", 2, "entries"),
    ],
)
def test_noun_follows_its_number(noun: str, number: int, said: str) -> None:
    assert plural(noun, number) == said


@pytest.mark.parametrize(
    ("amount", "said"), [(250.5, "+250.50"), (0, "±0"), (-1550, "\u22121,550")]
)
def test_signed_amount_of(amount: float, said: str) -> None:
    assert signed_text(amount, "±") == said
    assert signed_text(amount) == said.replace("±", "")


@pytest.mark.parametrize("nothing", [-0.0, -1e-18, -1e-9])
def test_no_zero_is_negative(nothing: float) -> None:
    told = [amount_text(nothing), signed_text(nothing), percent_text(-0.0), exact_text(-0.0)]
    told += [scale.amount(nothing, ()) for scale in (SHARE, PERCENT, HALF_WIDTH)]
    told += [scale.by_hand(nothing) for scale in (SHARE, PERCENT, HALF_WIDTH)]
    told += [effect_text(-0.0)]
    assert not [text for text in told if {"-", "\u2212"} & {*text}]


@pytest.mark.parametrize(
    ("number", "text"),
    [(1_000_000, "1,000,000"), (3, "3"), (0.177, "0.177"), (-0.5, "\u22120.5"), (0.0, "0")],
)
def test_exact_text_of(number: float, text: str) -> None:
    assert exact_text(number) == text


@given(st.text(st.characters(max_codepoint=127)) | st.text())
def test_parts_are_the_runs_of_letters_and_digits(text: str) -> None:
    assert parts_of(text) == set(re.findall(r"[^\W_]+", text.casefold()))


@given(st.text("a \n\t\r\x1c\x85\xa0\u2009\u2028") | st.text())
def test_a_line_has_single_spaces(text: str) -> None:
    assert one_line(text) == " ".join(text.split())
