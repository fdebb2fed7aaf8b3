"""The original, and each effect to plan with, in numbers worked out by hand."""

import pytest

from replicalab.assessment import assess
from replicalab.facts import original
from replicalab.facts.blocks import Table
from replicalab.planner.curves import Curves
from replicalab.scenarios import Design
from tests.designs.test_originals import original_of
from tests.factories import make_design, make_pack, make_protocol


def design_with(kind: str = "two_group", **reported: object) -> Design:
    return make_design(
        kind=kind,
        effect_published=None,
        effect_planning=0.5,
        sesoi=None,
        original=dict(original_of(**reported)),
    )


def curves(design: Design, samples: int = 128) -> Curves:
    return Curves(assess(make_protocol(sample_size=samples), make_pack(design=design)))


def rows(lines: Curves) -> dict[str, tuple[str, ...]]:
    [table] = [block for block in original.original_blocks(lines) if isinstance(block, Table)]
    return {row[0].text: tuple(cell.text for cell in row[1:]) for row in table.rows}


@pytest.mark.parametrize(
    ("kind", "reported", "text"),
    [
        (
            "two_group",
            {"numbers": {"t": 2.2}, "n1": 16, "n2": 16},
            "Cohen's d 0.778, from t = 2.2, n = 16 and 16: t = 2.2 (30 df), two-sided p = 0.036.",
        ),
        (
            "survival",
            {"effect": 0.81, "low": 0.70, "high": 0.94, "sides": 1},
            "Hazard ratio 0.81, 95 % interval 0.7 to 0.94, tested one-sided: "
            "z = −2.8, two-sided p = 0.0051.",
        ),
        (
            "correlation",
            {"effect": 0.5, "se": 0.1, "n": 103},
            "Correlation r 0.5, standard error 0.1, n = 103: z = 5.49, two-sided p < 0.0001.",
        ),
        (
            # The interval's z is the estimate over half its width by 1.96; the t is n's.
            "two_group",
            {"effect": 2.3, "low": 1.1, "high": 3.46, "n1": 10, "n2": 9},
            "Cohen's d 2.3, 95 % interval 1.1 to 3.46, n = 10 and 9: t = 5.01 (17 df), "
            "two-sided p = 0.00011; by its standard error z = 3.82.",
        ),
        ("two_group", {"effect": 0.5}, "Cohen's d 0.5."),
    ],
)
def test_reported_numbers(kind: str, reported: dict[str, object], text: str) -> None:
    design = design_with(kind, **reported)
    assert design.original is not None
    assert original.reported_text(design, design.original) == text


def test_effects_table_has_samples_and_evidence() -> None:
    record = rows(curves(design_with(effect=0.5, n=40)))
    # 64 and 308 an arm; the powers at 64 an arm are 0.8015 and 0.2458 (by scipy).
    assert record["Planned"] == ("0.5", "128", "0.801")
    assert record["Safeguard"] == ("0.226", "616", "0.25")
    # Its 20 an arm had a power of 0.338 at d 0.5, so that d33 is 0.4959.
    assert record["Small telescopes"][0] == "0.496"
    # 1 - 1/2.5 of 0.5.
    assert record["Shrunken"][0] == "0.3"


@pytest.mark.parametrize(
    ("change", "needed"),
    [({"population_max": 100}, "128"), ({"dropout": 0.25}, "171")],  # 128 of 171 are left
)
def test_needed_samples_ignore_population_and_include_dropout(
    change: dict[str, float], needed: str
) -> None:
    lines = curves(design_with(effect=0.5, n=40).model_copy(update=change))
    assert rows(lines)["Planned"][1] == needed
    assert ("100 can count" in original.fits_text(lines)) == ("population_max" in change)


def test_study_without_original_has_no_blocks() -> None:
    result = curves(make_design())
    assert original.original_blocks(result) == []
    assert original.original_panel(result) is None
    assert original.choices_texts(make_design()) == []
