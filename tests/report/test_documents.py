"""What a brief and a report say: pinned once; every number is the core's, every choice reasoned."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Final

import pytest

from replicalab.assessment import Assessment, assess, smallest_detectable_effect
from replicalab.drafts import Draft, check, new_study
from replicalab.models import revise
from replicalab.planner import PlanAnalysis, largest_sample
from replicalab.planner.steps import field_steps
from replicalab.report import Document, Registration, brief, input_hash, markdown, report
from replicalab.scenarios import (
    Difficulty,
    EvidenceAssumptions,
    LabOverrides,
    list_scenarios,
    load_scenario,
    pack_of,
)
from replicalab.views.blocks import Cell, Sentence, Table
from replicalab.views.documents import reference_of
from replicalab.views.report import justification_table
from tests.golden import assert_golden
from tests.report.making import DAY, Work, decided, work
from tests.tiers import EVERY_LAB

MOMENTUM: Final = load_scenario("fin_momentum", "easy")
STUDIES = [("fin_momentum", "medium"), ("psy_ego_depletion", "hard")]


def table(document: Document, caption: str) -> Table:
    [found] = [each for each in document.tables if each.caption.startswith(caption)]
    return found


def column(found: Table, name: str) -> list[Cell]:
    return [row[found.names.index(name)] for row in found.rows]


def choices(found: Work) -> dict[str, tuple[str, str]]:
    """Return what the justification says of each choice: its value and its reason."""
    rows = table(found.report(), "Each choice").rows
    return {name.text: (value.text, why.text) for name, value, why in rows}


def edited(
    scenario_id: str = "fin_momentum",
    lab: str = "medium",
    question: EvidenceAssumptions | None = None,
    **changes: object,
) -> Work:
    """Return a shipped study with a changed plan, asked a question of one's own."""
    written = load_scenario(scenario_id, lab)
    pack = written.with_own(LabOverrides(), question or EvidenceAssumptions())
    return Work(PlanAnalysis(assess(revise(pack.reference_protocol, **changes), pack)), written)


@pytest.mark.parametrize(("scenario_id", "lab"), STUDIES)
def test_documents_read_as_pinned(scenario_id: str, lab: str) -> None:
    found = work(scenario_id, lab, "offered")
    assert_golden(f"report/{scenario_id}_brief", markdown(found.brief()))
    assert_golden(f"report/{scenario_id}_report", markdown(found.report()))


def swapped() -> Work:
    """Return a plan with an alternative through which the effect is seen smaller."""
    pack = load_scenario("chem_suzuki_ppb", "easy")
    [swap] = [each for each in pack.allowed_substitutions if each.evidence_factor < 1][:1]
    reagents, equipment = (
        [swap.alternative if item == swap.original else item for item in items]
        for items in (pack.reagents, pack.equipment)
    )
    named = {"required_reagents": reagents, "required_equipment": equipment}
    return edited("chem_suzuki_ppb", "easy", **named)


def quick_start() -> Work:
    """Return a plan of a study whose author has said one number."""
    study = check(Draft(new_study("mine", numbers={"effect_planning": 0.4}))).study
    assert study is not None
    pack = pack_of(study, Difficulty.MEDIUM)
    return Work(PlanAnalysis(assess(revise(study.reference_protocol, sample_size=40), pack)), pack)


EDITED: Final[dict[str, Callable[[], Work]]] = {
    "the study’s own plan": edited,
    "fewer days": lambda: edited(duration_days=5),
    "a rationale": lambda: edited(rationale="Forty were at hand."),
    "a technique": lambda: edited(technique="A coin that is thrown."),
    "40 samples": lambda: edited(sample_size=40),
    "an effect": lambda: edited(question=EvidenceAssumptions(effect=0.2)),
    "an effect with its reason": lambda: edited(
        question=EvidenceAssumptions(effect=0.2, why={"effect": "A pilot."})
    ),
    "dropout": lambda: edited(
        question=EvidenceAssumptions(dropout=0.1, why={"dropout": "As many left before."})
    ),
    "an audit": lambda: edited("math_pythagorean", question=EvidenceAssumptions(alpha=0.01)),
    "substitutions that shrink the effect": swapped,
    "a quick start": quick_start,
}


def test_choices_and_their_reasons_read_as_pinned() -> None:
    """Of a plan of the same study those alone that differ from its own plan's."""
    own, told = dict[str, tuple[str, str]](), list[str]()
    for what, make in EDITED.items():
        found = choices(make())
        rows = [row for row in found.items() if own.get(row[0]) != row[1]]
        own = own or found
        told += [f"{what}:", *(f"- {name} | {value} | {why}" for name, (value, why) in rows)]
    assert_golden("report/choices", "\n".join(told))


def test_justification_tells_the_numbers_of_the_core() -> None:
    found = work("fin_momentum", "medium")
    yours, design = found.options.yours, found.written.design
    told = choices(found)
    largest = largest_sample(yours.plan, yours.pack)
    assert told["Most that the means allow"][0] == f"{largest} samples"
    least = smallest_detectable_effect(design, yours.evidence.analysed, yours.evidence_factor)
    assert told["Smallest detectable effect"][0] == f"{least:.3g}"
    assert told["Assumed Cohen's d"] == (str(design.effect_planning), design.why["effect_planning"])


def test_alpha_is_told_where_the_formula_has_one() -> None:
    for each in list_scenarios():
        pack = load_scenario(each.scenario_id, "medium")
        rows = justification_table(assess(pack.reference_protocol, pack)).rows
        tested = pack.design.kind not in ("audit", "coverage")
        assert any(row[0].text.startswith("Alpha") for row in rows) == tested, each


@pytest.mark.parametrize("which", ["reference", "offered", "least"])
@pytest.mark.parametrize(("scenario_id", "lab"), EVERY_LAB)
def test_plans_are_told_with_the_numbers_of_the_core(
    scenario_id: str, lab: Difficulty, which: str
) -> None:
    found = work(scenario_id, lab.value, which)
    yours, pack = found.options.yours, found.written
    plans: dict[str, Assessment] = {
        "This plan": yours,
        "Reference protocol": assess(pack.reference_protocol, pack),
        "Lab Manager's plan": PlanAnalysis(yours).offered,
        "Least-loss plan": PlanAnalysis(yours).least.after,
    }
    expected = {
        name: [plan.counts.samples, plan.counts.days, plan.evidence.value, plan.cost]
        for name, plan in plans.items()
    }
    for document in (found.brief(), found.report()):
        [told] = [each for each in document.tables if each.names[:2] == ("Plan", "Samples")]
        rows = {row[0].text: [cell.number for cell in row[1:]] for row in told.rows}
        assert rows == {name: expected[name] for name in rows}
        distinct = [
            name
            for at, (name, plan) in enumerate(plans.items())
            if all(plan.plan != other.plan for other in [*plans.values()][:at])
        ]
        assert [*rows] == distinct
        blocks = [block for part in document.parts for block in part.blocks]
        said = " ".join(block.text for block in blocks if isinstance(block, Sentence))
        assert "the Lab Manager's plan" not in said or "Lab Manager's plan" in rows
    assert_evidence_is_called_weaker_where_it_moved(found.report(), yours)


def assert_evidence_is_called_weaker_where_it_moved(told: Document, plan: Assessment) -> None:
    rows = {each.caption.split(",")[0]: each.rows for each in told.tables}
    losses = {row[0].text: row[-1].text for row in rows.get("Why", ())}
    for name, *_, moved in rows.get("Changes from the reference protocol", ()):
        lost = losses.get(name.text, "")
        if "no weaker" in lost or ("weaker" in lost and not plan.evidence.void_reason):
            assert moved.text.startswith("unchanged") == ("no weaker" in lost)


@pytest.mark.parametrize(
    ("make", "told", "untold"),
    [
        (  # it costs 1,600 of 620 credits: no evidence of it has the mark of a plan that passes
            lambda: work("psy_stroop", "hard", "reference"),
            [
                "| This plan | 100 | 4 | ✕ 1.00, not feasible | ✕ 1,600 |",
                "| halved, smallest of interest | 0.5 | ✕ 1.00, not feasible |",
                "| 100 | ✕ 1.00, not feasible | 1,600 | planned |",
                "Nothing: the plan is the study’s reference protocol.",
            ],
            ["✓ 1.00", "Changes from"],
        ),
        (  # all 24 animals there are can be had; a quarter of them drops out
            lambda: work("bio_jq1_myeloma", "easy", "reference"),
            ["24 samples (18 analysed) in 36 days", "24 can count: no more exist"],
            ["counted"],
        ),
        (
            lambda: edited(question=EvidenceAssumptions(alpha=0.01, target=0.9, dropout=0.1)),
            ["alpha 0.01, target 0.90, dropout 10 %, yours"],
            [],
        ),
        (
            lambda: edited(
                "math_pythagorean", question=EvidenceAssumptions(alpha=0.01, dropout=0.1)
            ),
            ["dropout 10 %, yours"],
            ["alpha 0.01"],
        ),
        (
            lambda: edited(
                "psy_ego_depletion", question=EvidenceAssumptions(dropout=0.1), sample_size=200
            ),
            ["100 a group = 200 in all. Recruit 200 to analyse 180: 10 % dropout."],
            [],
        ),
        (quick_start, [], ["planning value", "endpoint", "the plan’s substitutions"]),
    ],
)  # fmt: skip
def test_report_tells(make: Callable[[], Work], told: list[str], untold: list[str]) -> None:
    found = make()
    text = markdown(found.report()).replace("\\", "")
    assert [each for each in told if each not in text] == []
    assert [each for each in untold if each in text] == []
    brief = markdown(found.brief()).replace("\\", "")
    assert [
        each for each in told if "yours" in each or "a group" in each if each not in brief
    ] == []
    assert [each for each in untold if each in brief] == []


@pytest.mark.parametrize(
    ("make", "what", "reason", "lost"),
    [
        (lambda: edited(lab="easy", sample_size=123), "Sample size", "Not given", "–"),
        (
            lambda: edited(lab="easy", controls=MOMENTUM.reference_protocol.controls[1:]),
            "Controls",
            "Not given",
            MOMENTUM.controls[0].protects_against,
        ),
        (
            lambda: work("ml_resnet_cifar10", "hard"),
            "Controls",
            "Planner: With it no more than 7 samples fit and count, short of the study's floor.",
            "leakage between training and test data",
        ),
        (
            lambda: work("eco_reef_fish", "medium"),
            "Controls",
            "Planner: ",
            "Without 'side-swap of currents' nothing protects against an asymmetric flume.",
        ),
    ],
)
def test_change_is_told_with_its_reason_and_its_loss(
    make: Callable[[], Work], what: str, reason: str, lost: str
) -> None:
    rows = table(make().report(), "Why, and what is lost").rows
    [[_, why, told]] = [row for row in rows if row[0].text == what]
    assert why.text.startswith(reason)
    assert told.text.count(lost) == 1


@pytest.mark.parametrize(
    ("scenario_id", "which", "moved"),
    [
        (
            "psy_stroop",
            "offered",
            {
                "Equipment": "unchanged, fidelity loss 0 → 1",
                "Duration": "unchanged",
                "Sample size": "1.00 → 0.97",
            },
        ),
        (
            "fin_momentum",
            "least",
            {"Equipment": "unchanged", "Duration": "0.76 → 0.62", "Sample size": "unchanged"},
        ),
    ],
)
def test_changes_stand_in_the_order_for_which_their_losses_are_worded_without_a_mark(
    scenario_id: str, which: str, moved: dict[str, str]
) -> None:
    """As on Protocol: 100 × 10 → 25 is what weakens Stroop, 480 → 300 that count momentum.

    What fails before the last change is made has no mark of it.
    """
    found = work(scenario_id, "medium", which)
    for document in (found.brief(), found.report()):
        told = table(document, "Changes from the reference")
        assert {row[0].text: row[-1].text for row in told.rows[:-1]} == moved
        assert [row[0].text for row in told.rows] == [*moved, "In all"]
        assert {cell.status for cell in column(told, "Evidence")} == {None}


def test_credits_add_up_to_their_totals() -> None:
    found = work("psy_ego_depletion", "hard", "offered")
    before = assess(found.written.reference_protocol, found.written)
    *parts, whole = column(table(found.brief(), "Changes"), "Credits")
    assert len(parts) == 4
    assert sum(cell.number or 0.0 for cell in parts) == whole.number
    assert whole.number == found.options.yours.cost - before.cost
    *terms, total = column(table(found.report(), "The cost"), "Credits")
    assert sum(cell.number or 0.0 for cell in terms) == total.number == found.options.yours.cost


def test_words_of_whoever_registers_stand_first() -> None:
    found = work("fin_momentum", "medium", "offered")
    [first, *_] = field_steps(reference_of(found.options.yours), found.options.yours)
    reasons = {first.fields[0].field: "Because we say so.", "sample_size": "We have that many."}
    told = report(found.options, on=DAY, said=Registration("A title", "", reasons))
    why = table(told, "Why, and what is lost").rows[0][1].text
    assert why.startswith("Because we say so. Lab Manager: "), "whose the other is"
    values = [cell.text for cell in column(table(told, "What is registered"), "Value")]
    assert values == ["A title", "Not given"]
    [planned] = [
        r[2].text for r in table(told, "Each choice").rows if r[0].text == "Planned sample"
    ]
    assert planned.startswith("We have that many.")


def test_evidence_over_samples_is_that_of_each_plan() -> None:
    found = work("fin_momentum", "medium")
    yours = found.options.yours
    told = table(found.report(), "Power over the sample")
    sizes = [int(cell.number or 0) for cell in column(told, "Samples")]
    assert sizes == sorted({*sizes})
    assert {yours.counts.samples, largest_sample(yours.plan, yours.pack)} <= {*sizes}
    plans = [assess(revise(yours.plan, sample_size=n), yours.pack) for n in sizes]
    values = [plan.evidence.value for plan in plans]
    assert [cell.number for cell in column(told, "Power")] == values
    assert [cell.number for cell in column(told, "Credits")] == [plan.cost for plan in plans]


@pytest.mark.parametrize(
    ("scenario_id", "most", "why"),
    [("psy_ego_depletion", 240, "20 a day, 12 days"), ("eco_reef_fish", 160, "no more exist")],
)
def test_evidence_over_samples_says_why_more_of_them_show_no_more(
    scenario_id: str, most: int, why: str
) -> None:
    found = table(work(scenario_id, "easy", "reference").report(), "Power over the sample")
    beyond = [row for row in found.rows if (row[0].number or 0) > most]
    assert len(beyond) >= 3
    assert len({row[1].text for row in beyond}) == 1
    assert all(f"{most} can count: {why}" in row[3].text for row in beyond)
    assert not any("can count" in row[3].text for row in found.rows if row not in beyond)


def test_document_bears_the_date_that_it_is_given() -> None:
    found = work("psy_stroop", "easy")
    for make in (brief, report):
        early = make(found.options, on=date(2027, 1, 2))
        assert "2 January 2027" in early.about
        assert make(found.options, on=date(2027, 1, 2)) == early


def test_input_hash_moves_with_study_lab_plan_and_question() -> None:
    pack = load_scenario("fin_momentum", "medium")
    plan = pack.reference_protocol
    packs = [
        pack,
        load_scenario("fin_momentum", "hard"),
        load_scenario("fin_momentum", "medium", 7),
        pack.with_own(LabOverrides(budget=9), EvidenceAssumptions()),
        pack.with_own(LabOverrides(), EvidenceAssumptions(alpha=0.01)),
        pack.with_own(LabOverrides(), EvidenceAssumptions(why={"alpha": "Because."})),
    ]
    hashes = [input_hash(assess(plan, each)) for each in packs]
    hashes.append(input_hash(assess(revise(plan, sample_size=299), pack)))
    assert len({*hashes}) == len(hashes)
    assert input_hash(assess(plan, load_scenario("fin_momentum", "medium"))) == hashes[0]


@pytest.mark.parametrize(
    ("chosen", "said", "values"),
    [
        (
            0,
            {"why": "It fits.", "who": "Ada", "when": datetime(2026, 11, 20, 9, tzinfo=UTC)},
            ["Ours", "As it was", "It fits.", "Ada", "20 November 2026", "Ours"],
        ),
        (1, {}, ["As it was", "Ours", "Not given", "Not given", "Not given", "Ours"]),
    ],
)
def test_decision_stands_in_the_report(
    chosen: int, said: dict[str, object], values: list[str]
) -> None:
    found = work("psy_ego_depletion", "hard", "offered")
    document = report(found.options, on=DAY, decision=decided(found, chosen, **said))
    told = table(document, "What was decided")
    assert [cell.text for cell in column(told, "Value")] == values
    assert column(told, "Field")[-1].text == "This plan is"


def test_option_is_a_plan_in_the_same_lab_and_for_the_same_question_alone() -> None:
    found = work("psy_ego_depletion", "hard", "offered")
    yours = found.options.yours
    [ours, _] = decided(found, 0).options
    assert ours.is_plan(yours)
    others = [
        assess(revise(yours.plan, sample_size=7), yours.pack),
        assess(yours.plan, load_scenario("psy_ego_depletion", "easy")),
        assess(yours.plan, yours.pack.with_own(LabOverrides(budget=9), EvidenceAssumptions())),
        assess(yours.plan, yours.pack.with_own(LabOverrides(), EvidenceAssumptions(alpha=0.01))),
    ]
    assert not any(ours.is_plan(other) for other in others)
    broken = ours.model_copy(update={"content": "{"})
    assert not broken.is_plan(yours)
