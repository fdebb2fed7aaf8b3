"""Which effect to plan with: each choice against papers and scipy, and their common properties."""

import math
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

from replicalab import assessment
from replicalab.assessment.effects import CHOICES, original_interval
from replicalab.designs import KINDS, PowerAnalysis, Unknown
from replicalab.designs.parts import DesignParameters
from replicalab.facts.curve_facts import worked_out_interval_text
from replicalab.scenarios import Design
from tests.designs.test_originals import original_of
from tests.factories import make_design

NORMAL: Final = sorted(kind for kind, row in KINDS.items() if row.normal)
POWER: Final = 1 / 3


def design_of(kind: str = "two_group", **reported: object) -> Design:
    return make_design(
        kind=kind, effect_published=None, sesoi=None, original=dict(original_of(**reported))
    )


def choices(kind: str = "two_group", **reported: object) -> dict[str, float]:
    design = design_of(kind, **reported)
    named = {choice.label: assessment.named_effect(design, choice.label) for choice in CHOICES}
    return {name: effect for name, effect in named.items() if effect is not None}


@pytest.mark.parametrize(
    ("kind", "reported", "ends"),
    [
        # 1.959964 standard errors to either side: of d the one that is given, of r 1/√(n - 3) of
        # its Fisher's z, of a logarithm of a hazard ratio 2/√events.
        ("two_group", {"effect": 0.9, "se": 0.3}, (0.9 - 0.5879892, 0.9 + 0.5879892)),
        ("two_group", {"effect": -0.9, "se": 0.3}, (-0.9 - 0.5879892, -0.9 + 0.5879892)),
        (
            "correlation",
            {"effect": 0.5, "n": 28},
            (math.tanh(math.atanh(0.5) - 0.3919928), math.tanh(math.atanh(0.5) + 0.3919928)),
        ),
        (
            "survival",
            {"effect": 0.5, "events": 100},
            (0.5 * math.exp(-0.3919928), 0.5 * math.exp(0.3919928)),
        ),
        # Neither a standard error nor n, no normal scale, an end that is no effect.
        ("two_group", {"effect": 0.9}, None),
        ("anova", {"effect": 0.5, "n": 60}, None),
        # Of these two an end alone is no correlation: the other is 4e-16 from it.
        ("correlation", {"effect": 0.9, "se": 10.0}, None),
        ("correlation", {"effect": -0.9, "se": 10.0}, None),
        ("survival", {"effect": 0.5, "se": 1e6}, None),
        ("survival", {"effect": 0.5, "se": 370.0}, None),
    ],
)
def test_interval_of_an_original_by_hand(
    kind: str, reported: dict[str, object], ends: tuple[float, float] | None
) -> None:
    pair = original_interval(design_of(kind, **reported))
    assert pair == (None if ends is None else pytest.approx(ends, abs=1e-6))


def test_safeguard_matches_the_paper() -> None:
    # Perugini, Gallucci & Costantini (2014): of d 0.5 from 20 an arm, 0.226.
    assert choices(effect=0.5, n=40)["safeguard"] == pytest.approx(0.2263, abs=5e-5)


@pytest.mark.parametrize("n", [20, 41, 300])
@pytest.mark.parametrize("d", [0.5, 1.3, -2.0])
def test_safeguard_leaves_a_fifth_by_scipy(d: float, n: int) -> None:
    root = math.sqrt((n // 2) * (n - n // 2) / n)
    value = choices(effect=d, n=n)["safeguard"]
    chance = stats.nct.sf(abs(d) * root, n - 2, value * root)
    assert chance == pytest.approx(0.2, abs=1e-9)


def test_safeguard_needs_308_per_arm() -> None:
    row, at = KINDS["two_group"], DesignParameters(alpha=0.05)
    exact = choices(effect=0.5, n=40)["safeguard"]

    def needed(d: float) -> float:
        return PowerAnalysis(row, at, d, 0.8, 1).worked_out(Unknown.SAMPLES) / 2

    # Cohen (1988), table 2.4.1: 64. With the effect rounded to 0.226 it is one more than without.
    assert (needed(0.5), needed(exact), needed(0.226)) == (64, 308, 309)
    for an_arm, enough in ((307, False), (308, True)):
        shift, critical = exact * math.sqrt(an_arm / 2), stats.t.isf(0.025, 2 * an_arm - 2)
        power = stats.nct.sf(critical, 2 * an_arm - 2, shift)
        assert bool(power >= 0.8) is enough


def test_safeguard_on_the_normal_scale() -> None:
    # tanh(atanh 0.5 - 0.841621 / 5) and exp(log 0.5 + 0.841621 · 0.2).
    assert choices("correlation", effect=0.5, n=28)["safeguard"] == pytest.approx(
        0.363560, abs=1e-6
    )
    value = choices("survival", effect=0.5, events=100)["safeguard"]
    assert value == pytest.approx(0.591664, abs=1e-5)
    value = choices("two_proportions", effect=0.5, n1=50, n2=50)["safeguard"]
    assert value == pytest.approx(0.5 - 0.841621 * 0.2, abs=1e-6)


def test_safeguard_of_a_reported_error() -> None:
    # Of n 40 alone the error would be 0.316, with what d adds 0.332; the telescopes count n alone.
    record = choices(effect=0.9, se=0.5, n=40)
    assert record["safeguard"] == pytest.approx(0.9 - 0.841621 * 0.5, abs=1e-6)
    # Simonsohn (2015): 0.5 for 20 an arm, 0.4959 exactly.
    assert record["small telescopes"] == pytest.approx(0.4959, abs=5e-5)


def test_safeguard_that_loses_its_sign() -> None:
    # A t of 0.851 at 38 degrees of freedom has a one-sided p of 0.2 (tables of t).
    just = 0.8512 / math.sqrt(10)
    assert choices(effect=just, n=40)["safeguard"] < 0.001
    design = design_of(effect=0.8505 / math.sqrt(10), n=40)
    assert assessment.named_effect(design, "safeguard") is None
    assert dict(assessment.missing_choices(design))["safeguard"].endswith("reaches no effect")


@pytest.mark.parametrize("sides", [1, 2])
@pytest.mark.parametrize(("first", "second"), [(20, 20), (10, 9), (5, 30), (2, 2), (150, 150)])
def test_telescopes_have_power_one_third(first: int, second: int, sides: int) -> None:
    value = choices(effect=30.0, n1=first, n2=second, sides=sides)["small telescopes"]
    df, shift = first + second - 2, value / math.sqrt(1 / first + 1 / second)
    critical = stats.t.isf(0.05 / sides, df)
    # Significance with the wrong sign does not count as power of a one-sided test.
    other = stats.nct.cdf(-critical, df, shift) if sides == 2 else 0
    assert stats.nct.sf(critical, df, shift) + other == pytest.approx(POWER, abs=1e-9)


def test_one_sided_telescopes_of_other_kinds() -> None:
    for kind in ("paired", "one_sample"):
        value = choices(kind, effect=2.0, n=12, sides=1)["small telescopes"]
        power = stats.nct.sf(stats.t.isf(0.05, 11), 11, value * math.sqrt(12))
        assert power == pytest.approx(POWER, abs=1e-9)
    # Of a normal statistic Phi^-1(.95) + Phi^-1(1/3) standard errors: 1.644854 - 0.430727.
    shift = 1.214126
    value = choices("two_proportions", effect=0.9, n=50, sides=1)["small telescopes"]
    assert value == pytest.approx(shift * math.sqrt(2 / 25), abs=1e-6)
    value = choices("survival", effect=0.4, events=100, sides=1)["small telescopes"]
    assert value == pytest.approx(math.exp(-shift * 0.2), abs=1e-6)
    value = choices("two_group", effect=0.9, se=0.3, sides=1)["small telescopes"]
    assert value == pytest.approx(shift * 0.3, abs=1e-6)
    # Several groups have no side: the F test stays one at 0.05.
    two, one = (
        choices("anova", numbers={"F": 9.0, "groups": 3}, n=60, sides=sides) for sides in (2, 1)
    )
    assert two == one


@pytest.mark.parametrize("n", [4, 10, 60])
def test_one_sided_telescopes_of_a_correlation(n: int) -> None:
    value = choices("correlation", effect=0.999999, n=n, sides=1)["small telescopes"]
    critical = stats.t.isf(0.05, n - 2)

    def beyond(scale: float) -> float:
        # Given the spread of the first measure, t is that of a regression: noncentral by r/√(1-r²).
        shift = value / math.sqrt(1 - value * value) * math.sqrt(scale)
        return float(stats.nct.sf(critical, n - 2, shift) * stats.chi2.pdf(scale, n - 1))

    power, _ = integrate.quad(beyond, 0, stats.chi2.isf(1e-13, n - 1), limit=200)
    assert power == pytest.approx(POWER, abs=1e-7)


@pytest.mark.parametrize("kind", sorted(kind for kind, row in KINDS.items() if row.normal))
def test_telescopes_match_the_kinds_own_formula(kind: str) -> None:
    row = KINDS[kind]
    effect, counts = (0.2 if kind == "survival" else 0.95), {"n": 40}
    if kind == "survival":
        counts = {"n": 40, "events": 24}
    design = design_of(kind, effect=effect, **counts)
    value = assessment.named_effect(design, "small telescopes")
    assert row.value(40, value, DesignParameters.by(design)) == pytest.approx(POWER, abs=1e-9)


def test_small_telescopes_of_several_groups_by_scipy() -> None:
    value = choices("anova", numbers={"F": 9.0, "groups": 3}, n=60)["small telescopes"]
    critical = stats.f.isf(0.05, 2, 57)
    assert stats.ncf.sf(critical, 2, 57, 60 * value**2) == pytest.approx(POWER, abs=1e-9)


@pytest.mark.parametrize("ratio", [0.5, 2.0])
def test_telescopes_of_an_uninformative_hazard_ratio(ratio: float) -> None:
    # 1.53 standard errors of a million are a ratio that no computer holds.
    why = dict(assessment.missing_choices(design_of("survival", effect=ratio, se=1e6)))
    assert "less than one third" in why["small telescopes"]


def test_shrunken_is_what_the_empirical_bayes_factor_leaves() -> None:
    # Pawel & Held (2020): 1 - 1/z², at z 2 three quarters, at z 4 fifteen sixteenths.
    assert choices("paired", effect=0.4, n=25)["shrunken"] == pytest.approx(0.3)
    assert choices("paired", effect=0.8, n=25)["shrunken"] == pytest.approx(0.75)


def test_shrunken_to_nothing_is_not_offered() -> None:
    design = design_of("paired", effect=0.2, n=25)
    assert assessment.named_effect(design, "shrunken") is None
    assert (
        "no larger than its standard error" in dict(assessment.missing_choices(design))["shrunken"]
    )


def test_choices_of_an_original_alone() -> None:
    record = choices(numbers={"t": 2.2}, n=32)
    assert record["as published"] == pytest.approx(2.2 * math.sqrt(2 / 16))
    assert record["halved"] == pytest.approx(record["as published"] / 2)
    assert [*record] == ["as published", "halved", "safeguard", "small telescopes", "shrunken"]


def test_choices_without_a_standard_error() -> None:
    why = dict(assessment.missing_choices(design_of(effect=0.5)))
    assert [*why] == ["safeguard", "small telescopes", "shrunken"]
    assert all("nor an interval nor n" in text for text in why.values())
    anova = dict(assessment.missing_choices(design_of("anova", numbers={"eta²": 0.2})))
    assert all("no normal scale" in text for text in anova.values())


@pytest.mark.parametrize("kind", ["two_group", "correlation"])
def test_null_original_offers_no_effect(kind: str) -> None:
    assert choices(kind, effect=0.0, n=40) == {}


@given(
    st.sampled_from(NORMAL),
    st.floats(0.01, 0.99),
    st.booleans(),
    st.integers(4, 10**6),
    st.sampled_from([1, 2]),
)
def test_choices_of_an_original_are_never_beyond_it(
    kind: str, size: float, other_side: bool, n: int, sides: int
) -> None:
    effect = KINDS[kind].effect
    assert effect is not None
    reported: dict[str, object] = {"n": n, "sides": sides, "effect": -size if other_side else size}
    if kind == "survival":
        reported.update(effect=1 / size if other_side else size, events=n)
    record = choices(kind, **reported)
    published = record["as published"]
    for value in record.values():
        assert 0 < effect.size(value) <= effect.size(published) * (1 + 1e-9)
        assert effect.fault(value) is None


@given(st.floats(0.05, 3), st.integers(2, 500))
def test_safeguard_grows_with_n(d: float, an_arm: int) -> None:
    smaller, larger = choices(effect=d, n=2 * an_arm), choices(effect=d, n=2 * an_arm + 20)
    assert smaller.get("safeguard", 0.0) <= larger.get("safeguard", 0.0)


@pytest.mark.parametrize(
    ("kind", "reported"),
    [
        ("two_group", {"effect": 1e6, "n": 10**9}), ("two_group", {"effect": 0.0, "n": 40}),
        ("two_group", {"effect": 5e-324, "n": 3}), ("two_group", {"effect": 0.5, "se": 1e-6}),
        ("two_group", {"effect": 1e6, "se": 1e6, "n": 3}),
        ("correlation", {"effect": math.nextafter(1, 0), "n": 10**9}),
        ("survival", {"effect": 5e-324, "events": 10**9}),
        ("survival", {"effect": 1e6, "events": 1}), ("survival", {"effect": 1.0, "events": 9}),
        ("survival", {"effect": 0.5, "se": 1e6}), ("survival", {"effect": 2.0, "se": 1e6}),
        ("survival", {"effect": 2.0, "se": 1e6, "sides": 1, "n": 9}),
        ("correlation", {"effect": 0.5, "se": 1e6}), ("anova", {"effect": 0.5, "n": 10**9}),
        ("anova", {"effect": 0.5, "n": 1}), ("audit", {"effect": 0.5, "n": 1}),
        ("equivalence", {"effect": 0.5, "n": 40}), ("precision", {"effect": 0.5, "n": 40}),
    ],
)  # fmt: skip
def test_choices_at_valid_ends_are_effects(kind: str, reported: dict[str, object]) -> None:
    changes = {"target": 0.1, "floor": 0.2} if kind == "precision" else {}
    design = make_design(
        kind=kind,
        effect_published=None,
        sesoi=None,
        original=dict(original_of(**reported)),
        **changes,
    )
    effect = KINDS[design.kind].effect
    assert effect is not None
    for _, value in assessment.assumed_effects(design):
        assert effect.fault(value) is None
        assert math.isfinite(value)
    assert not any(bad in worked_out_interval_text(design) for bad in ("nan", "inf"))
    assert all(why for _, why in assessment.missing_choices(design))


@pytest.mark.long
def test_safeguard_and_telescopes_of_many_originals_by_scipy() -> None:
    for an_arm in range(3, 200, 7):
        for d in (0.3, 0.8, 2.0):
            root, df = math.sqrt(an_arm / 2), 2 * an_arm - 2
            record = choices(effect=d, n=2 * an_arm)
            if "safeguard" in record:
                wanted = optimize.brentq(
                    lambda s, t=d * root, df=df: stats.nct.sf(t, df, s) - 0.2, 1e-9, d * root
                )
                assert record["safeguard"] == pytest.approx(wanted / root, abs=1e-8)


def named_effects(asked: Design, written: Design | None = None) -> list[tuple[str, float]]:
    return [(effect.label, effect.effect) for effect in assessment.effects_of(asked, written)]


def test_effects_begin_with_the_one_that_is_asked() -> None:
    design = make_design(effect_planning=0.7)
    name, value = named_effects(design)[0]
    assert (name, value) == ("planned", 0.7)
    request = design.model_copy(update={"effect_planning": 0.6})
    assert [value for _, value in named_effects(request, design)][:2] == [0.6, 0.7]
    assert named_effects(request, design)[0][0] == "yours"
    assert named_effects(request)[0][0] == "planned"
