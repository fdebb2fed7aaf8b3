"""What a brief and a report say: pinned once; every number is the core's, every choice reasoned."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

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
from replicalab.views.blocks import NOT_GIVEN, Cell, Sentence, Table
from replicalab.views.documents import reference_of
from tests.golden import assert_golden
from tests.report.making import DAY, Work, decided, work
from tests.tiers import EVERY_LAB

SHIPPED = [summary.scenario_id for summary in list_scenarios()]
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


@pytest.mark.parametrize("which", ["reference", "offered", "least"])
@pytest.mark.parametrize(("scenario_id", "lab"), STUDIES)
def test_plans_are_told_with_the_numbers_of_the_core(
    scenario_id: str, lab: str, which: str
) -> None:
    found = work(scenario_id, lab, which)
    yours, pack = found.options.yours, found.written
    told = next(
        each for each in found.brief().tables if each.names[:3] == ("Plan", "Samples", "Days")
    )
    names = {row[0].text: row for row in told.rows}
    plans: dict[str, Assessment] = {"This plan": yours}
    if "Reference protocol" in names:
        plans["Reference protocol"] = assess(pack.reference_protocol, pack)
    if "Lab Manager's plan" in names:
        plans["Lab Manager's plan"] = PlanAnalysis(yours).offered
    if "Least-loss plan" in names:
        plans["Least-loss plan"] = PlanAnalysis(yours).least.after
    assert list(names) == list(plans)
    for name, plan in plans.items():
        _, samples, days, evidence, cost = (cell.number for cell in names[name])
        assert (samples, days) == (plan.counts.samples, plan.counts.days)
        assert (evidence, cost) == (plan.evidence.value, plan.cost)


@pytest.mark.parametrize("which", ["reference", "offered", "least"])
@pytest.mark.parametrize(("scenario_id", "lab"), EVERY_LAB)
def test_plan_that_a_sentence_names_stands_in_the_table(
    scenario_id: str, lab: Difficulty, which: str
) -> None:
    found = work(scenario_id, lab.value, which)
    for document in (found.brief(), found.report()):
        [plans] = [each for each in document.tables if each.names[:2] == ("Plan", "Samples")]
        blocks = [block for part in document.parts for block in part.blocks]
        told = " ".join(block.text for block in blocks if isinstance(block, Sentence))
        named = {row[0].text for row in plans.rows}
        assert "the Lab Manager's plan" not in told or "Lab Manager's plan" in named


def test_brief_says_which_paper_it_is_about() -> None:
    told = markdown(work("psy_stroop", "medium").brief())
    assert "Stroop JR" in told
    assert "doi:10" in told.replace("\\", "")


def test_evidence_of_a_plan_that_fails_has_no_mark_of_one_that_passes() -> None:
    """The reference protocol costs 1,600 of 620 credits."""
    told = markdown(work("psy_stroop", "hard", "reference").report())
    assert "| This plan | 100 | 4 | ✕ 1.00, not feasible | ✕ 1,600 |" in told
    assert "| halved, smallest of interest | 0.5 | ✕ 1.00, not feasible |" in told
    assert "| 100 | ✕ 1.00, not feasible | 1,600 | planned |" in told
    assert "✓ 1.00" not in told


def test_step_on_the_way_to_a_plan_has_no_mark() -> None:
    """420 samples of 8 days fail before the last change is made."""
    found = work("fin_momentum", "medium", "least")
    cells = column(table(found.report(), "Changes"), "Evidence")
    assert [cell.status for cell in cells] == [None] * len(cells)


def test_changes_add_up_to_the_whole_step() -> None:
    found = work("psy_ego_depletion", "hard", "offered")
    before = assess(found.written.reference_protocol, found.written)
    told = column(table(found.brief(), "Changes"), "Credits")
    *parts, whole = (cell.number or 0.0 for cell in told)
    assert sum(parts) == whole == found.options.yours.cost - before.cost
    assert len(parts) == 4


def test_reference_protocol_changes_nothing() -> None:
    document = work("fin_momentum", "medium", "reference").report()
    assert not [each for each in document.tables if each.caption.startswith("Changes")]
    assert "Nothing: the plan is the study’s reference protocol." in markdown(document)


def test_change_that_nobody_proposed_has_no_reason() -> None:
    [[what, reason, _]] = table(edited(lab="easy", sample_size=123).report(), "Why").rows
    assert (what.text, reason.text.casefold()) == ("Sample size", NOT_GIVEN)


def test_dropped_control_says_what_nothing_protects_against() -> None:
    pack = load_scenario("fin_momentum", "easy")
    first, *rest = pack.reference_protocol.controls
    [[_, _, lost]] = table(edited(lab="easy", controls=rest).report(), "Why").rows
    [control] = [each for each in pack.controls if each.name == first]
    assert control.protects_against in lost.text


def test_control_that_the_planner_drops_has_its_reason() -> None:
    rows = table(work("ml_resnet_cifar10", "hard").report(), "Why").rows
    [[_, reason, lost]] = [row for row in rows if row[0].text == "Controls"]
    assert reason.text == (
        "Planner: With it no more than 7 samples fit and count, short of the study's floor."
    )
    assert "leakage between training and test data" in lost.text


def test_justification_tells_each_number_of_the_design() -> None:
    found = work("fin_momentum", "medium")
    yours, design = found.options.yours, found.written.design
    told = choices(found)
    assert told["Assumed Cohen's d"] == ("0.131", design.why["effect_planning"])
    assert told["Published Cohen's d"] == ("0.177", design.source)
    assert told["Smallest Cohen's d of interest"] == ("0.09", design.why["sesoi"])
    assert told["Alpha, two-sided"] == ("0.05", "Not given")
    assert told["Target of power"][0] == "0.80"
    largest = largest_sample(yours.plan, yours.pack)
    assert told["Most that the means allow"][0] == f"{largest} samples"
    least = smallest_detectable_effect(design, yours.evidence.analysed, yours.evidence_factor)
    assert told["Smallest detectable effect"][0] == f"{least:.3g}"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"duration_days": 5}, "Not given"),
        ({"rationale": "Forty were at hand."}, "Not given"),
        ({"sample_size": 40}, "The reference protocol has 420 samples; that change stands above."),
    ],
)
def test_rationale_of_a_plan_is_no_reason_for_its_sample(
    changes: dict[str, Any], reason: str
) -> None:
    assert choices(edited(**changes))["Planned sample"][1].startswith(reason)


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
def test_changes_stand_in_the_order_for_which_their_losses_are_worded(
    scenario_id: str, which: str, moved: dict[str, str]
) -> None:
    """As on Protocol: 100 × 10 → 25 is what weakens Stroop, 480 → 300 that count momentum."""
    found = work(scenario_id, "medium", which)
    for document in (found.brief(), found.report()):
        told = table(document, "Changes from the reference")
        assert {row[0].text: row[-1].text for row in told.rows[:-1]} == moved
        assert [row[0].text for row in told.rows] == [*moved, "In all"]


@pytest.mark.parametrize("which", ["offered", "least"])
@pytest.mark.parametrize(("scenario_id", "lab"), EVERY_LAB)
def test_evidence_is_called_weaker_where_its_row_says_so(
    scenario_id: str, lab: Difficulty, which: str
) -> None:
    found = work(scenario_id, lab, which)
    told = {each.caption.split(",")[0]: each.rows for each in found.report().tables}
    losses = {row[0].text: row[-1].text for row in told.get("Why", ())}
    for name, *_, moved in told.get("Changes from the reference protocol", ()):
        lost = losses.get(name.text, "")
        if "no weaker" in lost or (
            "weaker" in lost and not found.options.yours.evidence.void_reason
        ):
            assert moved.text.startswith("unchanged") == ("no weaker" in lost)


def test_protection_that_a_dropped_control_gave_is_told_once() -> None:
    told = table(work("eco_reef_fish", "medium").report(), "Why, and")
    [lost] = [row[2].text for row in told.rows if row[0].text == "Controls"]
    assert lost == "Without 'side-swap of currents' nothing protects against an asymmetric flume."


def test_reason_of_whoever_registers_is_that_of_the_planned_sample() -> None:
    found = work("fin_momentum", "medium")
    said = Registration(reasons={"sample_size": "We have that many."})
    told = report(found.options, on=DAY, said=said)
    [[_, _, why]] = [r for r in table(told, "Each choice").rows if r[0].text == "Planned sample"]
    assert why.text.startswith("We have that many.")


@pytest.mark.parametrize("scenario_id", SHIPPED)
def test_alpha_is_told_where_the_formula_has_one(scenario_id: str) -> None:
    found = work(scenario_id, "medium")
    design = found.written.design
    tested = design.kind not in ("audit", "coverage")
    assert any(name.startswith("Alpha") for name in choices(found)) == tested


def test_alpha_that_is_asked_of_an_audit_is_told_nowhere() -> None:
    question = EvidenceAssumptions(alpha=0.01, dropout=0.1)
    found = edited("math_pythagorean", question=question)
    for document in (found.brief(), found.report()):
        told = markdown(document)
        assert "dropout 10 %, yours" in told
        assert "alpha 0.01" not in told


def own_words(document: Document) -> Iterator[str]:
    """Yield what a document says in words of its own: headings, and what leads a sentence."""
    for part in document.parts:
        yield part.title
        for block in part.blocks:
            if isinstance(block, Table):
                yield from (block.caption, *block.names, *(row[0].text for row in block.rows))
            elif isinstance(block, Sentence):
                yield block.lead


@pytest.mark.parametrize("which", ["reference", "offered", "least"])
@pytest.mark.parametrize("scenario_id", SHIPPED)
def test_document_calls_no_plan_the_original_and_no_evidence_unobserved(
    scenario_id: str, which: str
) -> None:
    found = work(scenario_id, "medium", which)
    for document in (found.brief(), found.report()):
        assert "never observed" not in markdown(document)
        of_the_study = {fact.text for fact in found.written.paper.facts}
        named = [words for words in own_words(document) if "riginal" in words]
        assert {*named} <= of_the_study


@pytest.mark.parametrize("scenario_id", SHIPPED)
def test_design_is_that_of_the_published_study_whatever_the_technique(scenario_id: str) -> None:
    found = edited(scenario_id, technique="A coin that is thrown.")
    why = choices(found)["Design"][1]
    assert why == f"The published study: {found.written.paper.method}"


def test_samples_that_drop_out_are_not_said_to_count() -> None:
    """All 24 animals there are can be had; a quarter of them drops out."""
    told = markdown(work("bio_jq1_myeloma", "easy", "reference").report())
    assert "24 samples (18 analysed) in 36 days" in told
    assert "24 can count: no more exist" in told
    assert "counted" not in told


def test_document_of_a_quick_start_puts_no_words_into_its_authors_mouth() -> None:
    study = check(Draft(new_study("mine", numbers={"effect_planning": 0.4}))).study
    assert study is not None
    pack = pack_of(study, Difficulty.MEDIUM)
    plan = assess(revise(study.reference_protocol, sample_size=40), pack)
    told = choices(Work(PlanAnalysis(plan), pack))
    reasons = {name: why for name, (_, why) in told.items()}
    for name in ("Assumed Cohen's d", "Published Cohen's d", "Target of power", "Alpha, two-sided"):
        assert reasons[name].casefold().rstrip(".") == NOT_GIVEN
    assert reasons["Planned sample"].startswith("The reference protocol has 199 samples; that")
    assert reasons["Fewest days"] == "A plan of fewer days yields no evidence."
    assert reasons["Smallest detectable effect"] == "At the target of power 0.80."
    written = markdown(Work(PlanAnalysis(plan), pack).report())
    for invented in ("planning value", "endpoint", "the plan’s substitutions"):
        assert invented not in written


def test_effect_that_substitutions_shrink_is_said_to_be_seen_through_them() -> None:
    pack = load_scenario("chem_suzuki_ppb", "easy")
    [swap] = [each for each in pack.allowed_substitutions if each.evidence_factor < 1][:1]
    items = [swap.alternative if item == swap.original else item for item in pack.reagents]
    gear = [swap.alternative if item == swap.original else item for item in pack.equipment]
    found = edited("chem_suzuki_ppb", "easy", required_reagents=items, required_equipment=gear)
    _, why = choices(found)["Smallest detectable effect"]
    assert why == "At the target of power 0.80, through the plan’s substitutions."


def test_number_of_ones_own_has_ones_own_reason() -> None:
    question = EvidenceAssumptions(effect=0.2, why={"effect": "A pilot."})
    assert choices(edited(question=question))["Assumed Cohen's d"] == (
        "0.2",
        "A pilot. Asked here in place of the study’s number.",
    )


def test_number_of_ones_own_does_not_inherit_the_studys_reason() -> None:
    value, why = choices(edited(question=EvidenceAssumptions(effect=0.2)))["Assumed Cohen's d"]
    assert (value, why.startswith("Not given.")) == ("0.2", True)


def test_dropout_of_ones_own_is_told_with_who_is_left() -> None:
    question = EvidenceAssumptions(dropout=0.1, why={"dropout": "As many left before."})
    told = choices(edited(question=question))
    assert told["Dropout"][0] == "10 %"
    assert told["Dropout"][1].startswith("As many left before.")
    assert "Recruit 420 to analyse 378: 10 % dropout." in told["Planned sample"][1]


def test_reason_of_whoever_registers_stands_first() -> None:
    found = work("fin_momentum", "medium", "offered")
    [first, *_] = field_steps(reference_of(found.options.yours), found.options.yours)
    said = Registration("A title", "", {first.fields[0].field: "Because we say so."})
    told = report(found.options, on=DAY, said=said)
    rows = table(told, "Why, and what is lost").rows
    assert rows[0][1].text.startswith("Because we say so.")
    assert rows[0][1].text.startswith("Because we say so. Lab Manager: "), "whose the other is"
    assert [cell.text for cell in column(table(told, "What is registered"), "Value")] == [
        "A title",
        "Not given",
    ]


def test_documents_tell_each_number_that_is_asked() -> None:
    found = edited(question=EvidenceAssumptions(alpha=0.01, target=0.9, dropout=0.1))
    for document in (found.brief(), found.report()):
        assert "alpha 0.01, target 0.90, dropout 10 %, yours" in markdown(document)


def test_brief_tells_groups_and_dropout() -> None:
    question = EvidenceAssumptions(dropout=0.1)
    found = edited("psy_ego_depletion", question=question, sample_size=200)
    told = markdown(found.brief()).replace("\\", "")
    assert "100 a group = 200 in all. Recruit 200 to analyse 180: 10 % dropout." in told


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


def test_cost_terms_add_up_to_the_total() -> None:
    found = work("fin_momentum", "medium")
    *terms, total = column(table(found.report(), "The cost"), "Credits")
    assert sum(cell.number or 0.0 for cell in terms) == total.number == found.options.yours.cost


def test_transcript_tells_every_round() -> None:
    found = work("psy_ego_depletion", "hard")
    assert found.run is not None
    told = table(found.report(), "Round by round")
    assert len(told.rows) == len(found.run.rounds)
    text = markdown(found.report())
    for number in range(1, len(found.run.rounds) + 1):
        assert (
            f"**Round {number}, Scientist\\:**" in text or f"**Round {number}, Scientist:**" in text
        )


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


def test_report_without_a_decision_tells_none() -> None:
    titles = [part.title for part in work("psy_ego_depletion", "hard").report().parts]
    assert "The decision" not in titles


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
