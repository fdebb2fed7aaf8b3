"""How labels compare, and how amounts and nouns are written."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab import lexicon
from replicalab.designs.parts import HALF_WIDTH, PERCENT, SHARE
from replicalab.facts.plan_facts import effect_text


@pytest.mark.parametrize(
    ("label", "key"),
    [
        ("  pH \n meter\t", "ph meter"),
        ("pH\u00a0meter", "ph meter"),
        ("Straße", "strasse"),
        ("pH-meter", "ph-meter"),
        ("", ""),
    ],
)
def test_label_key_of(label: str, key: str) -> None:
    assert lexicon.label_key(label) == key


@given(st.text(), st.sampled_from([" {}", "{}\n", "\t{} "]))
def test_label_key_is_idempotent(label: str, padded: str) -> None:
    assert lexicon.label_key(lexicon.label_key(label)) == lexicon.label_key(label)
    assert lexicon.label_key(label) == lexicon.label_key(padded.replace("{}", label))


@given(st.lists(st.sampled_from(["a", "A", "b", " b", "c"])))
def test_repeated_labels(labels: list[str]) -> None:
    keys = [lexicon.label_key(label) for label in labels]
    texts = lexicon.repeated_labels(labels)
    assert {lexicon.label_key(label) for label in texts} == {
        key for key in keys if keys.count(key) > 1
    }
    assert len(texts) == len({lexicon.label_key(label) for label in texts})
    assert all(label == labels[keys.index(lexicon.label_key(label))] for label in texts)
    assert lexicon.repeated_labels(["a", "b", " B", "a"]) == ["b", "a"]


def decimals(number: float, digits: int) -> str:
    return f"{number:.{digits}f}"


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (lexicon.amount_text(0), "0"),
        (lexicon.amount_text(820.0), "820"),
        (lexicon.amount_text(1234567), "1,234,567"),
        (lexicon.amount_text(12.5), "12.50"),
        (lexicon.signed_text(250.5), "+250.50"),
        (lexicon.signed_text(0), "0"),
        (lexicon.signed_text(0, "±"), "±0"),
        (lexicon.signed_text(-1550, "±"), "\u22121,550"),
        (lexicon.exact_text(1_000_000), "1,000,000"),
        (lexicon.exact_text(0.177), "0.177"),
        (lexicon.exact_text(-0.5), "\u22120.5"),
        (lexicon.exact_text(0.0), "0"),
        (lexicon.plural("day", 1), "day"),
        (lexicon.plural("day", 0), "days"),
        (lexicon.plural("breach", 2), "breaches"),
        (lexicon.plural("entry", 2), "entries"),
        (lexicon.distinct_text(0.5, [0.8], 2, decimals), "0.50"),
        (lexicon.distinct_text(0.797, [0.8], 2, decimals), "0.797"),
        (lexicon.distinct_text(0.7999999, [0.8, 0.5], 2, decimals), "0.7999999"),
        (lexicon.distinct_text(0.8 + 1e-15, [0.8], 2, decimals), "0.80"),
        (lexicon.distinct_text(1.0, [], 2, decimals), "1.00"),
    ],
)
def test_number_or_noun_is_written_as(found: str, text: str) -> None:
    assert found == text


@pytest.mark.parametrize("nothing", [-0.0, -1e-18, -1e-9])
def test_no_zero_is_negative(nothing: float) -> None:
    texts = [
        lexicon.amount_text(nothing),
        lexicon.signed_text(nothing),
        lexicon.percent_text(-0.0),
        lexicon.exact_text(-0.0),
    ]
    scales: tuple[Any, ...] = (SHARE, PERCENT, HALF_WIDTH)
    texts += [
        text for scale in scales for text in (scale.format(nothing, ()), scale.by_hand(nothing))
    ]
    texts += [effect_text(-0.0)]
    assert not [text for text in texts if {"-", "\u2212"} & {*text}]


@given(st.text(st.characters(max_codepoint=127)) | st.text())
def test_parts_are_letters_and_digits(text: str) -> None:
    assert lexicon.parts_of(text) == set(re.findall(r"[^\W_]+", text.casefold()))


@given(st.text("a \n\t\r\x1c\x85\xa0\u2009\u2028") | st.text())
def test_a_line_has_single_spaces(text: str) -> None:
    assert lexicon.one_line(text) == " ".join(text.split())
