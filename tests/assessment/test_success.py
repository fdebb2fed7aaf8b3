"""How probable it is that a plan's study counts as replicated: rows, sentences, facts."""

from __future__ import annotations

from typing import Any

import pytest

from replicalab.assessment import Assessment, assess, missing_choices
from replicalab.assessment.success import likelier_with_fewer, success_of, success_rows
from replicalab.cli import facts
from replicalab.measures.success import Criterion
from replicalab.planner.curves import Curves
from replicalab.render import terminal
from replicalab.scenarios import EvidenceTier
from replicalab.views.plan import assumption_text
from replicalab.views.success import ceiling_text, fewer_text, success_cell, success_panel
from tests.factories import make_design, make_pack, make_protocol

ORIGINAL = {"effect": 0.5, "n": 16, "source": "Invented", "confidence": "verified"}  # z = 2


def plan_of(samples: int, dropout: float = 0.0, **chosen: Any) -> Assessment:
    """Return a plan of one sample of a mean, whose original had a z of 2."""
    design = make_design(
        kind="one_sample",
        target=0.8,
        floor=0.5,
        dropout=dropout,
        original=ORIGINAL,
        replication={"criteria": ["significant"], "sides": 1, "prior": "conditional", **chosen},
    )
    plan = make_protocol(sample_size=samples)
    return assess(plan, make_pack(design=design, budget=1e6, reference_protocol=plan))


def test_rows_are_each_criterion_and_all_together() -> None:
    # Micheloud & Held (2022): at z 2 one-sided .05, c = 1.54564 has a power of .8; n = 24.73.
    rows = success_rows(plan_of(25, criteria=["significant", "interval"]))
    assert [row.criterion for row in rows] == ["significant", "interval", None]
    assert rows[0].needed == 25
    assert rows[0].chance == pytest.approx(0.80376, abs=5e-6)
    assert rows[1].chance == pytest.approx(0.95)
    # Both are normal tails of one estimate: 1 - .197 - .025.
    assert rows[2].chance == pytest.approx(0.80376 - 0.025, abs=5e-6)
    assert rows[0].ceiling == pytest.approx(1)


def test_rows_are_of_what_dropout_leaves_and_need_what_it_takes() -> None:
    rows = success_rows(plan_of(50, dropout=0.5))
    assert rows[0].chance == success_rows(plan_of(25))[0].chance
    assert rows[0].needed == 50


def test_rows_of_a_plan_without_anything_chosen_are_none() -> None:
    plan = assess(make_protocol(), make_pack())
    assert success_rows(plan) == []
    assert success_of(plan) is None
    assert success_panel(plan) is None


def test_sceptical_p_of_a_weak_original_names_its_ceiling() -> None:
    # There is no size for a nominal sceptical p at z 2, one-sided .05 (Micheloud & Held 2022).
    plan = plan_of(400, criteria=["sceptical_nominal"], plan_with="success")
    row = success_rows(plan)[-1]
    assert row.needed is None
    assert row.ceiling < 0.8
    assert ceiling_text(plan).startswith(
        f"The probability of success cannot exceed {row.ceiling:.2f}"
    )
    assert plan.evidence.tier is not EvidenceTier.MEETS_TARGET


def test_plan_that_is_larger_than_the_likeliest_says_so_and_counts_as_that() -> None:
    # A sceptical p of so weak an original fails in the end, however large the effect that is found.
    chosen: dict[str, Any] = {"criteria": ["sceptical_nominal"], "plan_with": "success"}
    large = plan_of(2000, **chosen)
    fewer = likelier_with_fewer(large)
    assert fewer is not None
    success = success_of(large)
    assert success is not None
    every = [success.chance(n) for n in range(1, 2001)]
    assert fewer.samples == every.index(max(every)) + 1
    assert fewer.chance == max(every)
    assert success.chance(2000) < 0.01 < fewer.chance
    assert large.evidence.value == pytest.approx(max(every), abs=1e-3)
    small = plan_of(fewer.samples, **chosen)
    assert small.evidence.value == pytest.approx(max(every), abs=1e-3)
    assert fewer_text(large).startswith("Fewer samples are likelier to succeed")
    assert fewer_text(small) == ""


def test_plan_by_success_has_its_measure_and_no_effect_to_choose() -> None:
    plan = plan_of(60, plan_with="success")
    assert plan.evidence.text == f"probability of success {plan.evidence.number}"
    assert plan.evidence.effect is None
    assert plan.detectable_effect is None
    assert Curves(plan).effects == ()
    assert missing_choices(plan.pack.design) == []
    assert Curves(plan).needed() == 25
    assert "joint probability" in assumption_text(plan)
    power = plan_of(60)
    assert power.evidence.text.startswith("power")
    assert power.evidence == plan_of(60, tau=0.4).evidence


def test_facts_and_panel_carry_each_criterion() -> None:
    plan = plan_of(40, criteria=["significant", "small_telescopes"])
    found: dict[str, Any] = {**facts.success(plan)}
    assert [each["criterion"] for each in found["criteria"]] == [
        Criterion.SIGNIFICANT, Criterion.SMALL_TELESCOPES, None,
    ]  # fmt: skip
    assert found["chosen"]["prior"] == "conditional"
    panel = success_panel(plan)
    assert panel is not None
    text = "\n".join(terminal.lines(panel))
    for words in ("Chosen before the data", "Small telescopes", "Simonsohn (2015)", "All together"):
        assert words in text
    assert success_cell(plan).number == success_rows(plan)[-1].chance
