"""Each of effect, alpha, evidence, samples and dropout from the other four."""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy import optimize, stats

from replicalab.designs import KINDS, DesignParameters, Kind, PowerAnalysis, Unknown, unknowns_of
from replicalab.errors import ScenarioError
from tests.designs.examples import design_of


def analysis(kind: str, **changes: Any) -> PowerAnalysis:
    row = KINDS[kind]
    usual = {name: value for name, value in row.usual.items() if name != "floor"}
    effect, target = usual.pop("effect_planning", None), usual.pop("target", 0.8)
    names = {name: changes.pop(name) for name in list(changes) if name in DesignParameters._fields}
    parameters = DesignParameters(**{"alpha": 0.05, **usual, **names})
    return replace(PowerAnalysis(row, parameters, effect, target, 0), **changes)


@pytest.mark.parametrize(
    ("kind", "changes", "samples"),
    [
        # Cohen (1988), table 2.4.1, and R's pwr: 64 a group; 34 pairs; 159 in three groups.
        ("two_group", {}, 128),
        ("paired", {}, 34),
        ("anova", {}, 159),
        # R's pwr, alternative = "greater": 26.14 pairs; 27 / 0.85 = 31.8.
        ("paired", {"sides": 1}, 27),
        ("paired", {"sides": 1, "dropout": 0.15}, 32),
        # G*Power 3.1, bivariate normal model.
        ("correlation", {}, 84),
        # Schoenfeld: 246.8 events (R's gsDesign), in two equal arms; of half as many events 494.
        ("survival", {}, 248),
        ("survival", {"event_share": 0.5}, 494),
        # 64 / 0.9 = 71.1 a group, 64 / 0.8 = 80 a group, 34 / 0.85 = 40, 53 / 0.9 = 58.9 a group.
        ("two_group", {"dropout": 0.1}, 144),
        ("two_group", {"dropout": 0.2}, 160),
        ("paired", {"dropout": 0.15}, 40),
        ("anova", {"dropout": 0.1}, 177),
    ],
)
def test_samples_are_the_fewest_including_dropout(
    kind: str, changes: dict[str, object], samples: int
) -> None:
    value = analysis(kind, **changes).worked_out(Unknown.SAMPLES)
    assert value == samples
    assert isinstance(value, int)


@pytest.mark.parametrize("per_group", [10, 64, 200])
def test_smallest_effect_matches_scipy(per_group: int) -> None:
    def short_of(d: float) -> float:
        df, shift = 2 * per_group - 2, d * math.sqrt(per_group / 2)
        t = stats.t.ppf(0.975, df)
        return float(stats.nct.sf(t, df, shift)) - 0.8  # the other tail is below 1e-6

    exact = float(optimize.brentq(short_of, 0.01, 5))
    value = analysis("two_group", samples=2 * per_group).worked_out(Unknown.EFFECT)
    assert exact <= value == pytest.approx(exact, rel=1.1e-3)
    assert len(f"{value:.10g}".replace(".", "").lstrip("0")) <= 4


def test_alpha_is_the_smallest_by_scipy() -> None:
    def short_of(alpha: float) -> float:
        t, shift = stats.t.ppf(1 - alpha / 2, 126), 0.5 * math.sqrt(32)
        return float(stats.nct.sf(t, 126, shift)) - 0.9

    exact = float(optimize.brentq(short_of, 1e-6, 0.9))
    value = analysis("two_group", samples=128, target=0.9).worked_out(Unknown.ALPHA)
    assert exact <= value == pytest.approx(exact, rel=1.1e-3)


@pytest.mark.parametrize(
    ("kind", "samples", "dropout"),
    # 1 - 128/160, 1 - 34/40, 1 - 84/100; of 128 none.
    [("two_group", 160, 0.2), ("paired", 40, 0.15), ("correlation", 100, 0.16),
     ("two_group", 128, 0.0)],
)  # fmt: skip
def test_dropout_is_the_most_that_leaves_enough(kind: str, samples: int, dropout: float) -> None:
    assert analysis(kind, samples=samples).worked_out(Unknown.DROPOUT) == dropout


def test_hazard_ratio_stays_on_its_side_of_one() -> None:
    # 4 (z + z)² / log(hr)² = 66 events: 2 or 1/2.
    for like, value in ((0.7, 0.5), (1.3, 2.0)):
        ratio = analysis("survival", samples=66, effect=like).worked_out(Unknown.EFFECT)
        assert ratio == pytest.approx(value, rel=0.01)


@pytest.mark.parametrize(
    ("kind", "unknown", "changes", "message"),
    [
        ("two_group", Unknown.SAMPLES, {"effect": 1e-9, "target": 0.99},
         "sample_size: more than 1,000,000 samples would be needed to reach power 0.99"),
        ("two_group", Unknown.SAMPLES, {"dropout": 0.9999}, "aim at less"),
        ("two_group", Unknown.EFFECT, {"samples": 2}, "do not reach power 0.80 at any Cohen's d"),
        ("two_group", Unknown.EFFECT, {"samples": 0}, "0 samples do not reach power 0.80"),
        ("two_group", Unknown.EFFECT, {"samples": 50, "target": 0.05}, "aim at more than alpha"),
        ("paired", Unknown.SAMPLES, {"alpha": 0.95, "sides": 1}, "an error more likely than not"),
        ("equivalence", Unknown.EFFECT, {"samples": 20}, "at any true difference"),
        ("two_group", Unknown.ALPHA, {"samples": 12}, "at any alpha up to 0.5; plan more samples"),
        ("two_group", Unknown.DROPOUT, {"samples": 100}, "plan 128 samples or more"),
        ("precision", Unknown.EVIDENCE, {"samples": 0}, "leave no samples and no half-width"),
        ("anova", Unknown.SAMPLES, {"groups": 10**9}, "more than 1,000,000 samples"),
    ],
)  # fmt: skip
def test_impossible_number_is_refused_with_a_remedy(
    kind: str, unknown: Unknown, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(ScenarioError) as caught:
        analysis(kind, **changes).worked_out(unknown)
    [fault] = caught.value.faults
    assert fault.path == unknown
    assert fault.remedy
    assert message in str(fault)


@pytest.mark.parametrize("unknown", [item for item in Unknown if item is not Unknown.ALPHA])
@pytest.mark.parametrize("row", KINDS.values(), ids=lambda row: row.kind)
def test_alpha_that_contradicts_power_is_refused(row: Kind, unknown: Unknown) -> None:
    cases: list[tuple[dict[str, Any], str]] = [({"alpha": 0.95}, "such as 0.05")]
    if row.sought and unknown is not Unknown.EVIDENCE:
        cases.append(({"alpha": 0.05, "target": 0.03}, "aim at more than alpha"))
    for numbers, remedy in cases if unknown in unknowns_of(row) and row.uses("alpha") else ():
        with pytest.raises(ScenarioError, match=remedy):
            analysis(row.kind, **numbers).worked_out(unknown)
        with pytest.raises(ValidationError, match=remedy):
            design_of(row.kind).model_copy(
                update={"floor": 9 if row.scale.lower_is_better else 0.01, **numbers}
            )


@pytest.mark.parametrize("kind", KINDS)
def test_results_reach_the_target_barely(kind: str) -> None:
    enough = analysis(kind)
    enough = replace(enough, samples=int(enough.worked_out(Unknown.SAMPLES)) * 2)
    for unknown in unknowns_of(enough.row):
        if unknown is Unknown.EVIDENCE:
            continue
        value = enough.worked_out(unknown)
        assert _with(enough, unknown, value).reaches, unknown
        assert not _with(enough, unknown, _a_little_less(enough, unknown, value)).reaches, unknown


def _with(of: PowerAnalysis, unknown: Unknown, value: float) -> PowerAnalysis:
    match unknown:
        case Unknown.EFFECT:
            return replace(of, effect=value)
        case Unknown.ALPHA:
            return replace(of, given=of.given._replace(alpha=value))
        case Unknown.SAMPLES:
            return replace(of, samples=int(value))
    return replace(of, dropout=value)


def _a_little_less(of: PowerAnalysis, unknown: Unknown, value: float) -> float:
    grows = unknown is Unknown.EFFECT and (
        (of.row.effect is not None and of.row.effect.within_margin)
        or of.row.scale.lower_is_better
        or of.row.kind == "survival"
    )
    match unknown:
        case Unknown.SAMPLES:
            return value - (of.given.groups or of.row.groups)
        case Unknown.DROPOUT:
            return value + 0.002
    return value * (1.002 if grows else 0.998)


@given(
    st.sampled_from(sorted(KINDS)),
    st.sampled_from(list(Unknown)),
    st.integers(0, 10**6),
    st.floats(1e-12, 1 - 1e-12),
    st.sampled_from([0.0, 0.1, 0.999]),
)
def test_any_analysis_has_an_answer_or_a_reason(
    kind: str, unknown: Unknown, samples: int, share: float, dropout: float
) -> None:
    request = analysis(kind, samples=samples, target=share, alpha=share, dropout=dropout)
    if unknown not in unknowns_of(request.row):
        return
    try:
        value = request.worked_out(unknown)
    except ScenarioError as error:
        assert error.faults[0].remedy  # noqa: PT017
        return
    assert math.isfinite(value)
    assert value >= 0 if unknown is Unknown.EVIDENCE else _with(request, unknown, value).reaches


@pytest.mark.parametrize("unknown", [item for item in Unknown if item is not Unknown.EVIDENCE])
@pytest.mark.parametrize(
    "kind", [row for row in KINDS.values() if row.sought], ids=lambda row: row.kind
)
def test_no_number_makes_a_significant_result_certain(kind: Any, unknown: Unknown) -> None:
    request = analysis(str(kind.kind), target=1.0, samples=10_000)
    with pytest.raises(ScenarioError, match="aim at less than 1"):
        request.worked_out(unknown)
