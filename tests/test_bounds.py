"""How large a plan may be: each limit holds at its value and is named above it."""

from __future__ import annotations

import pytest

from replicalab.limits import LONGEST_LABEL, LONGEST_TEXT, MOST_LABELS, MOST_PLAN_BYTES
from replicalab.models import too_large
from replicalab.negotiation.case import Case, case_text, read_case
from replicalab.scenarios import Difficulty
from tests.factories import make_protocol


@pytest.mark.parametrize(
    ("field", "largest", "above", "problem"),
    [
        ("sample_size", 10**6, 10**6 + 1, "Sample size is 1,000,001; at most 1,000,000"),
        ("duration_days", 10**6, 2 * 10**6, "Duration is 2,000,000; at most 1,000,000"),
        ("technique", "x" * LONGEST_TEXT, "x" * 4001,
         "Technique has 4,001 characters; at most 4,000 fit"),
        ("controls", ["c"] * MOST_LABELS, ["c"] * 201, "Controls has 201 entries; at most 200"),
        ("required_reagents", ["x" * LONGEST_LABEL], ["x" * 301],
         "Reagents has an entry of 301 characters; at most 300 fit"),
    ],
)  # fmt: skip
def test_each_limit_holds_and_is_named(
    field: str, largest: object, above: object, problem: str
) -> None:
    assert too_large(make_protocol(**{field: largest})) == []
    [text] = too_large(make_protocol(**{field: above}))
    assert text.startswith(problem)


def test_texts_together_have_a_limit_too() -> None:
    labels = [f"{n:03}{'x' * 200}" for n in range(100)]
    [text] = too_large(make_protocol(controls=labels))
    assert "at most 20,000 fit" in text


def test_any_plan_within_the_limits_can_be_saved() -> None:
    letters = [chr(0x4E00 + (n * 7919) % 20000) for n in range(MOST_PLAN_BYTES // 3 - 100)]
    text = "".join(letters)
    labels = [text[at : at + 250] for at in range(0, len(text), 250)]
    plan = make_protocol(
        controls=labels, required_equipment=[], required_reagents=[], technique="t", rationale="r"
    )
    assert too_large(plan) == []
    case = Case(study="psy_stroop", lab=Difficulty.EASY, plan=plan)
    assert read_case(case_text(case)) == case
