"""Drafts: any study passes through one unharmed, and each fault is at its field."""

import math
from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from replicalab import scenarios
from replicalab.assessment import assess
from replicalab.designs import KINDS
from replicalab.drafts import UNSTATED, YOUR_LAB, Draft, OtherLabs, check, new_study
from replicalab.lint import LintLevel, lint
from replicalab.scenarios.reading import Data
from tests.strategies import designs, studies

SHIPPED: Final = [summary.scenario_id for summary in scenarios.list_scenarios()]
thoroughly = settings(suppress_health_check=[HealthCheck.too_slow])


def template() -> Draft:
    return Draft.of(scenarios.parse_study(scenarios.template_text(), "template.yaml"))


def made(draft: Draft) -> scenarios.Study:
    checked = check(draft)
    assert checked.study is not None, checked.faults
    return checked.study


def faults(draft: Draft) -> dict[str, list[str]]:
    return {path: [fault.problem for fault in at] for path, at in check(draft).faults.items()}


@thoroughly
@given(studies())
def test_study_passes_through_a_draft(study: scenarios.Study) -> None:
    draft = Draft.of(study)
    assert made(draft) == study
    assert Draft.of(made(draft)) == draft
    for others in OtherLabs:  # and labs of any choice are read back as that choice
        other = draft.with_others(others)
        assert Draft.of(made(other)).content() == other.content()
        assert made(other).labs.medium == study.labs.medium
        assert other.with_others(OtherLabs.SAME).others is OtherLabs.SAME


@pytest.mark.parametrize("scenario_id", SHIPPED)
def test_shipped_study_passes_through_a_draft(scenario_id: str) -> None:
    study = scenarios.parse_study(scenarios.study_text(scenario_id), scenario_id)
    checked = check(Draft.of(study))
    assert (checked.study, checked.text) == (study, scenarios.study_yaml(study))


def test_labs_of_the_file_come_back() -> None:
    draft = template()
    away = draft.with_others(OtherLabs.SAME).put(99, "labs", YOUR_LAB, "budget")
    assert made(away).labs.easy == made(away).labs.medium == made(away).labs.hard
    back = made(away.with_others(OtherLabs.KEPT))
    assert back.labs.hard == made(draft).labs.hard
    assert back.labs.medium.budget == 99


def test_changes_leave_the_draft_itself_alone() -> None:
    draft = template()
    before = check(draft).read
    draft.put(1, "labs", YOUR_LAB, "booked", "loudspeaker").with_labels("equipment", [])
    draft.of_kind("coverage").with_others(OtherLabs.MADE).without("controls", 0)
    assert check(draft).read == before


FORM: Final = (
    *(("design", name) for name in ("effect_planning", "sesoi", "alpha", "target", "groups")),
    *(("labs", YOUR_LAB, name) for name in ("budget", "days", "staff")),
    *(("reference_protocol", name) for name in ("sample_size", "duration_days", "technique")),
    ("paper", "title"),
    ("min_days",),
    ("samples_per_day", "value"),
)
_typed: Final = st.none() | st.integers(-5, 10**17) | st.floats(allow_nan=False) | st.text()
_changes: Final = st.one_of(
    st.tuples(st.sampled_from(FORM), _typed).map(
        lambda typed: lambda d: d.put(typed[1], *typed[0])
    ),
    st.sampled_from([*KINDS]).map(lambda kind: lambda d: d.of_kind(kind)),
    st.sampled_from(OtherLabs).map(lambda others: lambda d: d.with_others(others)),
    st.tuples(st.sampled_from(["equipment", "reagents"]), st.lists(st.text(), max_size=3)).map(
        lambda typed: lambda d: d.with_labels(*typed)
    ),
    st.text().map(lambda name: lambda d: d.with_control(name)),
    st.sampled_from(["substitutions", "controls", "policy_rules"]).map(
        lambda part: lambda d: d.without(part, 0)
    ),
)


@thoroughly
@given(studies(), st.lists(_changes, max_size=8))
def test_changes_make_a_study_or_faults(
    study: scenarios.Study, changes: list[Callable[[Draft], Draft]]
) -> None:
    before = draft = Draft.of(study)
    for change in changes:
        draft = change(draft)
    checked = check(draft)
    assert checked.study is not None or checked.faults
    if checked.study is not None:
        assert scenarios.parse_study(checked.text, "x.yaml") == checked.study
        assert made(Draft.of(checked.study)) == checked.study
    for path in (("constraints",), ("hidden_reference",), ("success_criteria",), ("format",)):
        assert draft.at(*path) == before.at(*path)
    assert draft.at("paper", "facts") == before.at("paper", "facts")


@pytest.mark.parametrize("kind", KINDS)
def test_new_study_reaches_its_target(kind: str) -> None:
    study = made(Draft(new_study("mine", kind)))
    plan = assess(study.reference_protocol, scenarios.pack_of(study, scenarios.Difficulty.MEDIUM))
    assert plan.feasible
    assert plan.evidence.tier == "meets target"
    warned = [f.place for f in lint(study) if f.level is LintLevel.WARNING]
    assert warned == ["labs.medium", "labs.hard"]
    paper, why = study.paper, {**study.design.why}
    assert why.pop("floor") == "ReplicaLab’s default."
    texts = [paper.citation, paper.hypothesis, paper.method, paper.key_finding, paper.goal]
    texts += [paper.published, paper.caution, *(fact.source for fact in paper.facts)]
    texts += [plan.plan.technique, plan.plan.rationale, study.design.source, *why.values()]
    texts += [*study.success_criteria, study.hidden_reference.summary]
    assert {*texts} == {UNSTATED}


def test_reason_of_a_default_goes_with_it() -> None:
    place = "design", "why", "floor"
    draft = Draft(new_study("mine"))
    assert Draft(new_study("mine", numbers={"floor": 0.6})).at(*place) == UNSTATED
    assert draft.with_number("target", 0.9).at(*place) == "ReplicaLab’s default."
    typed = draft.with_number("floor", 0.6)
    assert (typed.at("design", "floor"), typed.at(*place)) == (0.6, UNSTATED)
    changed = template().with_number("effect_planning", 0.6)
    why = ("design", "why", "effect_planning")
    assert changed.at(*why) == template().at(*why) not in (None, UNSTATED)


def test_new_floor_is_not_above_its_target() -> None:
    designs = [made(Draft(new_study("mine", numbers={"target": t}))).design for t in (0.8, 0.3)]
    assert [(design.target, design.floor) for design in designs] == [(0.8, 0.5), (0.3, 0.3)]


@given(designs(), st.integers(0, 10**6))
def test_new_study_takes_the_numbers_of_any_design(design: object, sample: int) -> None:
    numbers = dict(design)  # type: ignore[call-overload]
    names = ("effect_planning", "alpha", "target", "population_max", "groups", "margin")
    data = {name: numbers[name] for name in (*names, "event_share", "baseline", "assurance")}
    study = made(Draft(new_study("mine", numbers["kind"], data, sample)))
    assert {name: getattr(study.design, name) for name in data} == data
    assert study.reference_protocol.sample_size == sample


def test_numbers_of_a_kind_come_back_with_it() -> None:
    draft = template()
    for kind in KINDS:
        other = draft.of_kind(kind)
        assert made(other).design.kind == kind
        assert made(other.of_kind("two_group")) == made(draft)
    draft = draft.put(0.01, "design", "alpha").put(0.9, "design", "target")
    same = made(draft.of_kind("anova")).design
    assert (same.alpha, same.target) == (0.01, 0.9)
    assert made(draft.of_kind("precision")).design.target == 0.1


def test_items_enter_and_leave_plan_and_lab() -> None:
    draft = template().with_others(OtherLabs.SAME)
    draft = draft.with_labels("equipment", ["loudspeaker", "lamp"])
    assert draft.labels("reference_protocol", "required_equipment") == ["loudspeaker", "lamp"]
    assert draft.labels("labs", YOUR_LAB, "booked") == []
    assert faults(draft) == {"substitutions[0].original": ["'growth chamber' is not in this study"]}
    assert "lamp" in made(draft.without("substitutions", 0)).equipment
    draft = template().put(["seed compost"], "labs", YOUR_LAB, "out_of_stock")
    draft = draft.with_labels("reagents", ["bean seeds of one lot"])
    assert made(draft).labs.medium.out_of_stock == []


def test_controls_change_in_the_plan_too() -> None:
    draft = template().with_control("warm chamber")
    assert draft.labels(*("reference_protocol", "controls"))[-1] == "warm chamber"
    draft = draft.with_control_named(2, "cold chamber").without("controls", 0)
    controls = ["chambers swapped at half-time", "cold chamber"]
    assert made(draft).reference_protocol.controls == controls


@thoroughly
@given(studies())
def test_made_labs_ease_and_harden_the_given_one(study: scenarios.Study) -> None:
    study = made(Draft.of(study).with_others(OtherLabs.MADE))
    easy, lab, hard = study.labs.easy, study.labs.medium, study.labs.hard
    plan = study.reference_protocol
    judged = assess(plan, scenarios.pack_of(study, scenarios.Difficulty.EASY))
    assert not easy.booked
    assert not easy.out_of_stock
    for name in ("budget", "days", "staff"):
        assert getattr(easy, name) >= getattr(lab, name) >= getattr(hard, name)
    if judged.cost <= 10**9:
        assert not {"budget", "staff"} & {*judged.failing}
        assert plan.duration_days <= easy.days_left or plan.duration_days > 10**9 - easy.start_day
    assert hard.budget <= 0.75 * lab.budget
    assert hard.days == max(1, math.floor(0.75 * lab.days))
    assert hard.staff == max(1, lab.staff - 1)
    assert (hard.booked, hard.out_of_stock) == (lab.booked, lab.out_of_stock)


WRONG: Final[dict[str, list[Data]]] = {
    "design effect_planning": [0.0, None], "design alpha": [None, 1.5], "design groups": [3],
    "design unit_of_n": [""], "paper title": ["x" * 201], "labs medium budget": [-1, 2e9],
    "labs medium staff": [None], "labs medium booked kettle": [3],
    "reference_protocol sample_size": [2_000_000], "reference_protocol duration_days": [-1],
    "reference_protocol technique": [" "], "substitutions 0 tradeoff": [""],
    "substitutions 0 fidelity_loss": [4], "min_days": [0], "reagents 0": ["loudspeaker"],
    "scenario_id": ["No"],
}  # fmt: skip
ELSEWHERE: Final[dict[str, tuple[Data, str]]] = {
    "design floor": (0.9, "design.target"),
    "controls 0 name": ("chambers swapped at half-time", "controls[1].name"),
    "samples_per_day": ({"value": 0, "why": "x"}, "samples_per_day.value"),
}


@pytest.mark.parametrize("others", list(OtherLabs))
def test_fault_is_once_at_its_field(others: OtherLabs) -> None:
    draft = template().with_others(others)
    cases = [(path, value, "") for path, values in WRONG.items() for value in values]
    cases += [(path, value, field) for path, (value, field) in ELSEWHERE.items()]
    for path, value, elsewhere in cases:
        steps = [int(step) if step.isdigit() else step for step in path.split()]
        problems = faults(draft.put(value, *steps))
        assert [*problems] == [elsewhere or path.replace(" 0", "[0]").replace(" ", ".")]
        assert [*map(len, problems.values())] == [1]
