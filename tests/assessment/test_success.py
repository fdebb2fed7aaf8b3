"""How probable it is that a plan's study counts as replicated: rows, sentences, facts."""

from __future__ import annotations

from typing import Any

import pytest
from scipy import stats

from replicalab.assessment import Assessment, assess, missing_choices
from replicalab.assessment.success import likelier_with_fewer, success_of, success_rows
from replicalab.cli import facts
from replicalab.measures.success import Criterion
from replicalab.models import revise
from replicalab.planner.curves import Curves
from replicalab.render import terminal
from replicalab.scenarios import EvidenceAssumptions, EvidenceTier, LabOverrides, Replication
from replicalab.views.original import fits_text
from replicalab.views.plan import asked_text, assumption_text, source_text
from replicalab.views.report import justification_table
from replicalab.views.success import (
    chosen_text,
    fewer_text,
    rough_text,
    success_cell,
    success_panel,
)
from replicalab.views.unreached import ceiling_text
from tests.factories import make_design, make_pack, make_protocol

ORIGINAL = {"effect": 0.5, "n": 16, "source": "Invented", "confidence": "verified"}  # z = 2


def plan_of(
    samples: int,
    dropout: float = 0.0,
    n: int | None = 16,
    se: float | None = None,
    effect: float = 0.5,
    target: float = 0.8,
    exist: int | None = None,
    **chosen: Any,
) -> Assessment:
    """Return a plan of one sample of a mean, whose original had a z of 2, or other samples."""
    design = make_design(
        kind="one_sample",
        target=target,
        floor=0.5,
        dropout=dropout,
        population_max=exist,
        original={**ORIGINAL, "effect": effect, "n": n, "se": se},
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


@pytest.mark.parametrize(("exist", "needed"), [(24, None), (25, 25)])
def test_rows_need_no_more_samples_than_exist(exist: int, needed: int | None) -> None:
    assert success_rows(plan_of(20, exist=exist))[0].needed == needed


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


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.2, 0.3])
def test_chance_that_is_the_target_but_for_rounding_is_neither_short_nor_too_large(
    alpha: float,
) -> None:
    # An effect that is the original's lies in an interval of level 1 - alpha as often at any n.
    target = 1 - alpha
    plan = plan_of(40, target=target, criteria=["interval"], level=alpha, plan_with="success")
    assert plan.evidence.tier is EvidenceTier.MEETS_TARGET
    assert ceiling_text(plan) == ""
    panel = success_panel(plan)
    assert panel is not None
    assert "too many" not in "\n".join(terminal.lines(panel))


def test_ceiling_of_varying_effects_names_the_heterogeneity_and_what_is_without() -> None:
    plan = plan_of(400, criteria=["significant"], tau=1.0, plan_with="success")
    most = success_rows(plan)[-1].ceiling
    # Without end of samples the effect alone must be above 0: its mean is 0.5, its SD 1.
    assert most == pytest.approx(stats.norm.cdf(0.5), abs=1e-6)
    assert ceiling_text(plan) == (
        f"The probability of success cannot exceed {most:.2f}, however many samples there are, "
        "with a heterogeneity tau of 1; the target is 0.80. "
        "Without heterogeneity it can be nearly 1."
    )


@pytest.mark.parametrize(
    ("criterion", "sides", "n", "words"),
    [
        # z = 0.5 √n; at level 0.05 the z is 1.645 one-sided, 1.96 two-sided, golden 1.96 / 1.272.
        ("sceptical_nominal", 1, 10, "a nominal sceptical p at the level takes an original with "
         "a |z| above 1.64; this one has 1.58."),
        ("sceptical_nominal", 2, 15, "a |z| above 1.96; this one has 1.94."),
        ("sceptical", 2, 9, "a golden sceptical p at the level takes an original with a |z| above "
         "1.54; this one has 1.5."),
    ],
)  # fmt: skip
def test_sceptical_p_that_cannot_be_met_names_both_z(
    criterion: str, sides: int, n: int, words: str
) -> None:
    plan = plan_of(400, n=n, criteria=["significant", criterion], sides=sides)
    text = ceiling_text(plan)
    assert text.startswith("Success is impossible, however many samples there are: ")
    assert text.endswith(words)
    assert success_rows(plan)[-1].ceiling == 0
    assert "impossible" not in ceiling_text(plan_of(400, n=16, criteria=[criterion], sides=sides))


def test_sceptical_p_that_is_missed_by_little_shows_by_how_little() -> None:
    plan = plan_of(40, n=None, se=0.5 / 1.6448, criteria=["sceptical_nominal"])
    assert ceiling_text(plan).endswith("above 1.6449; this one has 1.6448.")


def test_criteria_that_exclude_each_other_have_no_probability_that_reads_as_nothing() -> None:
    # An estimate in so narrow a range about no effect is far from what 16 samples could see.
    plan = plan_of(40, criteria=["small_telescopes", "equivalence"], margin=0.05)
    assert ceiling_text(plan).startswith("The probability of success cannot reach 0.005, ")


def test_plan_by_success_cites_its_papers_and_not_those_of_power() -> None:
    chosen: dict[str, Any] = {"criteria": ["significant", "sceptical"], "plan_with": "success"}
    plan = plan_of(60, **chosen)
    assert source_text(plan.pack.design) == (
        "Source: Pawel & Held (2020); Open Science Collaboration (2015); "
        "Held, Micheloud & Pawel (2022)."
    )
    assert source_text(plan_of(60).pack.design) == "Source: Cohen (1988), chapter 2."
    twice = plan_of(60, criteria=["significant", "interval"], plan_with="success")
    assert source_text(twice.pack.design).count("Open Science") == 1


def test_plan_by_success_says_with_which_estimate() -> None:
    text = assumption_text(plan_of(60, plan_with="success"))
    assert text.startswith(
        "Planned with the original’s estimate, Cohen's d 0.5, by the probability of the "
        "criterion (significant) under the conditional prior, "
    )
    assert "planning" not in text


def test_plan_by_success_explains_no_column_that_it_has_not() -> None:
    assert not fits_text(Curves(plan_of(60, plan_with="success"))).startswith("Takes")
    assert fits_text(Curves(plan_of(60))).startswith("Takes: the samples for power 0.80. ")


@pytest.mark.parametrize("units", [None, {"name": "class", "samples": 4, "icc": 0.1}])
def test_plan_by_success_is_told_by_its_own_method(units: dict[str, object] | None) -> None:
    design = make_design(
        kind="correlation",
        effect_planning=0.3,
        units=units,
        original={**ORIGINAL, "n": 60},
        replication={"criteria": ["significant"], "plan_with": "success"},
    )
    assert design.row.method_of(design).startswith("the probability of the criterion")


@pytest.mark.parametrize("name", list(Criterion))
def test_sides_are_told_where_a_criterion_has_them(name: Criterion) -> None:
    margin = 0.3 if name is Criterion.EQUIVALENCE else None
    one, two = (
        plan_of(40, criteria=[name.value], sides=sides, margin=margin, tau=0.1) for sides in (1, 2)
    )
    moves = success_rows(one)[-1].chance != success_rows(two)[-1].chance
    for plan, word in ((one, "one-sided"), (two, "two-sided")):
        chosen = plan.pack.design.replication
        assert chosen is not None
        assert chosen.has_sides is moves
        assert (word in chosen_text(chosen, plan.pack.design)) is moves


def test_original_whose_t_is_far_from_normal_is_told_with_both_z() -> None:
    # A t of 2.5 from 4: p = 0.0877 at 3 degrees of freedom, which is that of a z of 1.708.
    few = plan_of(40, n=4, effect=1.25).pack.design
    assert rough_text(few).endswith("counts as 2.5, and its p = 0.088 is that of 1.71.")
    assert rough_text(plan_of(40, n=60).pack.design) == ""
    assert rough_text(plan_of(40, n=None, se=0.2).pack.design) == ""


def test_reason_for_a_target_of_power_is_told_as_that_under_success() -> None:
    target = {"target": "Usual for power."}
    design = make_design(kind="one_sample", original=ORIGINAL, why=target)
    pack, plan = make_pack(design=design), make_protocol(sample_size=40)
    assert reasons(assess(plan, pack))["Target of power"] == "Usual for power."
    chosen = Replication.model_validate({"criteria": ("significant",), "plan_with": "success"})
    question = EvidenceAssumptions(replication=chosen)
    found = reasons(assess(plan, pack.with_own(LabOverrides(), question)))
    told = "The study’s reason, for its power: Usual for power."
    assert found["Target of probability of success"] == told


def reasons(plan: Assessment) -> dict[str, str]:
    """Return the reason for each choice behind a sample size."""
    rows = [[cell.text for cell in row] for row in justification_table(plan).rows]
    return {choice: why for choice, _, why in rows}


def test_numbers_without_a_part_in_success_are_said_to_have_none() -> None:
    chosen = {"criteria": ("significant",), "plan_with": "success"}
    question = EvidenceAssumptions.model_validate(
        {"effect": 0.3, "target": 0.7, "baseline": 0.5, "alpha": 0.01, "replication": chosen}
    )
    design = make_design(kind="two_proportions", original=ORIGINAL)
    pack = make_pack(design=design).with_own(LabOverrides(), question)
    assert pack.asked == ("alpha", "target", "replication")
    assert asked_text(pack, None) == (
        "alpha 0.01, target 0.70, replicated if significant, yours; effect 0.3 and baseline 0.5, "
        "yours, play no part, for plans are made with the original’s estimate and estimates are "
        "taken as normal on their scale"
    )
    level = question.model_copy(
        update={"replication": Replication.model_validate({**chosen, "level": 0.1})}
    )
    assert [*level.unused_in(design)] == ["effect", "alpha", "baseline"]
    power = Replication.model_validate({**chosen, "plan_with": "power"})
    assert not question.model_copy(update={"replication": power}).unused_in(design)


@pytest.mark.parametrize("kind", ["two_group", "paired", "correlation", "two_proportions"])
def test_number_without_a_part_in_success_moves_no_evidence(kind: str) -> None:
    chosen = {"criteria": ["significant", "interval"], "plan_with": "success", "level": 0.03}
    design = make_design(
        kind=kind,
        effect_published=None,
        effect_planning=0.3,
        sesoi=None,
        original=ORIGINAL,
        replication=chosen,
    )
    plan = make_protocol(sample_size=50)
    plain = assess(plan, make_pack(design=design)).evidence.value
    assert design.replication is not None
    asked = {"effect": 0.2, "alpha": 0.2, "baseline": 0.7}
    assert {*design.replication.unused} == {*asked}
    for name, value in asked.items():
        if name == "baseline" and kind != "two_proportions":
            continue
        question = EvidenceAssumptions.model_validate({name: value})
        pack = make_pack(design=design).with_own(LabOverrides(), question)
        assert assess(plan, pack).evidence.value == plain
    others: dict[str, object] = {
        "dropout": 0.3,
        "units": {"name": "x", "samples": 5, "icc": 0.4},
    }
    for name, other in others.items():
        if name == "units" and kind == "two_proportions":
            continue
        question = EvidenceAssumptions.model_validate({name: other})
        pack = make_pack(design=design).with_own(LabOverrides(), question)
        assert assess(plan, pack).evidence.value != plain


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


def test_fewer_samples_are_likelier_only_where_something_is_chosen_and_shown() -> None:
    assert likelier_with_fewer(assess(make_protocol(), make_pack())) is None
    large = plan_of(2000, criteria=["sceptical_nominal"])
    assert likelier_with_fewer(large) is not None
    void = assess(revise(large.plan, duration_days=1), large.pack)
    assert void.evidence.void_reason
    assert likelier_with_fewer(void) is None


def test_plan_by_success_has_its_measure_and_no_effect_to_choose() -> None:
    plan = plan_of(60, plan_with="success")
    assert plan.evidence.text == f"probability of success {plan.evidence.number}"
    assert plan.evidence.effect is None
    assert plan.detectable_effect is None
    assert Curves(plan).effects == ()
    assert missing_choices(plan.pack.design) == []
    assert Curves(plan).needed() == 25
    assert "probability of the criterion (significant)" in assumption_text(plan)
    several = plan_of(60, plan_with="success", criteria=["significant", "interval"])
    assert "joint probability of the criteria (significant and " in assumption_text(several)
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
