import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab.labels import label_key, repeated_labels, same_label


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


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Agar plates", "agar  PLATES", True),
        ("agar plates", "agar plate", False),
        ("agar plates", "agarplates", False),
    ],
)
def test_same_label_of(one: str, other: str, same: bool) -> None:
    assert same_label(one, other) is same


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
