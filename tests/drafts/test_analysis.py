"""A typed power analysis, right or wrong, and its study."""

from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replicalab import drafts, scenarios
from replicalab.assessment import assess
from replicalab.assessment.effects import published_effect
from replicalab.designs import KINDS, EffectSource, Unknown, unknowns_of
from replicalab.designs.exact_tests import largest_h
from replicalab.drafts.beginning import usual_numbers
from replicalab.errors import ScenarioError
from replicalab.lint import LintLevel, lint
from tests.designs.test_exact_tests import power_by_totals
from tests.tiers import one_in

NUMBERS: Final = {"effect_planning": 0.5, "alpha": 0.05, "target": 0.8, "dropout": 0.0}


def typed(
    unknown: Unknown = Unknown.SAMPLES, samples: object = 128, **numbers: Any
) -> drafts.TypedAnalysis:
    kind = "two_group"
    return drafts.TypedAnalysis(kind, unknown, NUMBERS | numbers, samples, 10)  # type: ignore[arg-type]


def study_of(analysis: drafts.TypedAnalysis) -> scenarios.Study:
    study = drafts.check(analysis.draft("mine", "Naps")).study
    assert study is not None
    return study


def test_study_has_the_numbers_of_its_analysis() -> None:
    study = study_of(typed(dropout=0.1))
    assert study.paper.name == "Naps"
    assert study.reference_protocol.sample_size == 144
    assert study.design.dropout == 0.1
    plan = assess(study.reference_protocol, scenarios.pack_of(study, scenarios.Difficulty.MEDIUM))
    assert plan.evidence.analysed == 129
    assert plan.feasible
    assert not [f for f in lint(study) if f.level is LintLevel.WARNING and "design" in f.place]
    effect = study_of(typed(Unknown.EFFECT)).design
    assert 0.49 < (effect.effect_planning or 0) < 0.5
    assert effect.why["effect_planning"].startswith("Worked out from the other numbers")


def test_target_is_usual_if_evidence_is_worked_out() -> None:
    analysis = typed(Unknown.EVIDENCE, samples=60, target=0.99)
    # R's pwr.t.test(n = 30, d = 0.5), quoted in public course notes.
    assert analysis.worked_out == pytest.approx(0.477896520760209, abs=1e-12)
    assert study_of(analysis).design.target == 0.8


@pytest.mark.parametrize("kind", KINDS)
def test_each_unknown_follows_from_usual_numbers(kind: str) -> None:
    usual = drafts.Draft(drafts.new_study("usual", kind))
    names = {"effect_planning", "target", *KINDS[kind].needs}
    typed = {name: usual.at("design", name) for name in names}
    numbers = {"dropout": 0.0} | {name: x for name, x in typed.items() if x is not None}
    size = usual.at("reference_protocol", "sample_size")
    assert isinstance(size, int)
    for unknown in unknowns_of(KINDS[kind]):
        analysis = drafts.TypedAnalysis(kind, unknown, numbers, size, 10)
        assert not analysis.faults
        assert analysis.worked_out is not None
        groups = 3 if kind == "anova" else KINDS[kind].groups
        number = study_of(analysis).reference_protocol.sample_size
        assert number == (size + -size % groups if unknown is Unknown.SAMPLES else size)


def test_two_shares_use_fishers_test() -> None:
    kind = "two_proportions"
    source = KINDS[kind].sources[0]
    numbers = {"alpha": 0.05, "target": 0.8, "dropout": 0.0}
    shares = {"p1": 0.3, "p2": 0.5}
    analysis = drafts.TypedAnalysis(kind, Unknown.SAMPLES, numbers, None, 10, source, shares)
    assert analysis.worked_out == 204
    design = study_of(analysis).design
    assert (design.baseline, f"{design.effect_planning:.3f}") == (0.5, "0.412")
    powers = [power_by_totals(item, 0.5, 0.3, 0.05) for item in (*range(90, 102), 102)]
    assert max(powers[:-1]) < 0.8 <= powers[-1]


def test_effect_is_worked_out_within_the_baseline() -> None:
    kind, numbers = "two_proportions", {"alpha": 0.05, "target": 0.8, "dropout": 0.0}
    effect = {"effect_planning": 0.5, "baseline": 0.05}
    analysis = drafts.TypedAnalysis(kind, Unknown.EFFECT, numbers | effect, 1000, 10)
    assert analysis.worked_out is not None
    assert 0.15 < analysis.worked_out < largest_h(0.05)
    assert study_of(analysis).design.baseline == 0.05


@given(
    st.sampled_from(list(Unknown)),
    st.fixed_dictionaries(
        dict.fromkeys(
            NUMBERS, st.one_of(st.none(), st.floats(-1e15, 1e15), st.sampled_from([0.0, 1.0, 1e-9]))
        )
    ),
    st.one_of(st.none(), st.integers(-(10**15), 10**15)),
)
def test_typed_numbers_make_a_study_or_faults(
    unknown: Unknown, numbers: dict[str, Any], samples: int | None
) -> None:
    analysis = typed(unknown, samples, **numbers)
    checked = drafts.check(analysis.draft("mine", "Naps"))
    if analysis.worked_out is None:
        assert analysis.faults or checked.faults
    else:
        assert checked.study is not None or checked.faults


@pytest.mark.parametrize(
    ("name", "taken", "free"),
    [
        ("My study", [], "My study"),
        ("My study", ["my  STUDY"], "My study (2)"),
        ("My study", ["My study", "My study (2)", "My study (4)"], "My study (3)"),
        ("x" * 30, ["x" * 30], "x" * 26 + " (2)"),
    ],
)
def test_free_name_has_a_number_if_taken(name: str, taken: list[str], free: str) -> None:
    assert drafts.free_name(name, taken, 30) == free


@pytest.mark.parametrize(
    "name",
    one_in(
        4, ["Naps", "a: b # c", "null", "- 1", '"quoted" \\ back', "Sömmer’s 眠り", "{x}", "1.5"]
    ),
)
def test_renamed_file_keeps_everything_else(name: str) -> None:
    texts = [
        scenarios.template_text(),
        scenarios.study_yaml(scenarios.parse_study(scenarios.template_text(), "x.yaml")),
    ]
    texts += [
        scenarios.copy_text(scenario.scenario_id, "mine") for scenario in scenarios.list_scenarios()
    ]
    for text in texts:
        study = scenarios.parse_study(text, "x.yaml")
        written = drafts.rename(text, study, name)
        result = scenarios.parse_study(written, "x.yaml")
        assert result.paper.name == name
        field = "title" if study.paper.short_title is None else "short_title"
        was = getattr(study.paper, field)
        assert result.paper.model_copy(update={field: was}) == study.paper
        assert result.design == study.design
        before, after = text.splitlines(), written.splitlines()
        saved = [line for line in before if line.lstrip().startswith("#")]
        assert [line for line in after if line.lstrip().startswith("#")] == saved


@pytest.mark.parametrize("name", ["", "a\u202eb", "x" * 201, "a\x00b"])
def test_wrong_name_is_refused(name: str) -> None:
    text = scenarios.template_text()
    with pytest.raises(ScenarioError):
        drafts.rename(text, scenarios.parse_study(text, "x.yaml"), name)


SOURCES_WITH_N: Final = [
    (kind, source)
    for kind, row in KINDS.items()
    for source in row.sources
    if drafts.can_safeguard(kind, source)
]


@pytest.mark.parametrize(("kind", "source"), SOURCES_WITH_N)
def test_safeguard_effect_of_every_source(kind: str, source: EffectSource) -> None:
    row, reported = KINDS[kind], {number.name: number.usual for number in source.asked}
    numbers = {**usual_numbers(row), "dropout": 0.0}
    plain = drafts.TypedAnalysis(kind, Unknown.SAMPLES, numbers, 10, 10, source, reported)
    safe = replace(plain, safeguarded=True)
    if safe.faults:
        [fault] = safe.faults["effect_planning"]
        assert "reaches no effect" in fault.problem
        return
    design, without = study_of(safe).design, study_of(plain).design
    assert without.original == design.original is not None
    assert row.effect is not None
    sizes = [row.effect.size(of.effect_planning or 0.0) for of in (design, without)]
    assert sizes[0] < sizes[1]
    assert (safe.worked_out or 0) > (plain.worked_out or 0)


def reporting(kind: str, label: str, **reported: Any) -> drafts.TypedAnalysis:
    [source] = [item for item in KINDS[kind].sources if item.label == label]
    numbers = {**usual_numbers(KINDS[kind]), "dropout": 0.0}
    return drafts.TypedAnalysis(kind, Unknown.SAMPLES, numbers, 10, 10, source, reported)


T_OF_TWO: Final = reporting("two_group", "t and n of both groups", t=2.5, n1=20, n2=20)
FOUND: Final[list[tuple[drafts.TypedAnalysis, dict[str, Any]]]] = [
    (T_OF_TWO, {"numbers": {"t": 2.5}, "n1": 20, "n2": 20}),
    (
        reporting("anova", "F, groups and n in all", F=4.0, groups=3, n=60),
        {"numbers": {"F": 4.0, "groups": 3}, "n": 60},
    ),
    (
        reporting("survival", "hazard ratio and events", HR=0.7, events=50, samples=90),
        {"numbers": {"HR": 0.7}, "n": 90, "events": 50},
    ),
    (
        reporting("audit", "bad units in a sample", bad=2, all=100),
        {"numbers": {"bad": 2, "all": 100}, "n": 100},
    ),
]


@pytest.mark.parametrize(("analysis", "numbers"), FOUND)
def test_reported_numbers_become_the_original(
    analysis: drafts.TypedAnalysis, numbers: dict[str, Any]
) -> None:
    study = study_of(analysis)
    assert study.design.original == scenarios.Original(
        **numbers, source="Not given.", confidence="recalled"
    )
    assert study.design.effect_published is None
    assert published_effect(study.design) == study.design.effect_planning
    assert study.design.why["effect_planning"] == study.design.source
    assert study.design.source.startswith("From ")
    assert scenarios.parse_study(scenarios.study_yaml(study), "mine.yaml") == study
    assert drafts.check(drafts.Draft.of(study)).study == study


def test_numbers_without_n_are_no_original() -> None:
    assert study_of(typed()).design.original is None
    means = reporting("two_group", "two means and two SDs", m1=1.0, m2=0.5, SD1=1.0, SD2=1)
    assert study_of(means).design.original is None
    shares = reporting("two_proportions", "two proportions", p1=0.3, p2=0.5)
    assert study_of(shares).design.original is None
