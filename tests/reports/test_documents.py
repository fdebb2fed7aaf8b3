"""Brief and report: pinned once; their numbers are the core's."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

import pytest

from replicalab.answers import Registration
from replicalab.assessment import Assessment, assess
from replicalab.drafts import Draft, check, new_study
from replicalab.facts.blocks import Cell, Document, Sentence, Table
from replicalab.facts.document_facts import input_hash, reference_of
from replicalab.facts.report_facts import report
from replicalab.models import revise
from replicalab.planner import PlanAnalysis
from replicalab.planner.least_loss import field_steps
from replicalab.render.markdown import markdown
from replicalab.scenarios import (
    Difficulty,
    EvidenceAssumptions,
    LabOverrides,
    load_scenario,
    pack_of,
)
from tests.golden import assert_golden, new_lines
from tests.reports.making import DAY, Work, table_in, work
from tests.tiers import EVERY_LAB

MOMENTUM: Final = load_scenario("fin_momentum", "easy")


def column(found: Table, name: str) -> list[Cell]:
    return [row[found.names.index(name)] for row in found.rows]


def edited(
    scenario_id: str = "fin_momentum",
    lab: str = "medium",
    question: EvidenceAssumptions | None = None,
    **changes: object,
) -> Work:
    written = load_scenario(scenario_id, lab)
    pack = written.with_own(LabOverrides(), question or EvidenceAssumptions())
    return Work(PlanAnalysis(assess(revise(pack.reference_protocol, **changes), pack)), written)


def swapped() -> Work:
    pack = load_scenario("chem_suzuki_ppb", "easy")
    swap = next(swap for swap in pack.allowed_substitutions if swap.evidence_factor < 1)
    reagents, equipment = (
        [swap.alternative if item == swap.original else item for item in items]
        for items in (pack.reagents, pack.equipment)
    )
    return edited(
        "chem_suzuki_ppb", "easy", required_reagents=reagents, required_equipment=equipment
    )


def of_draft(draft: dict[str, Any], **changes: object) -> Work:
    study = check(Draft(draft)).study
    assert study is not None
    pack = pack_of(study, Difficulty.MEDIUM)
    return Work(PlanAnalysis(assess(revise(study.reference_protocol, **changes), pack)), pack)


def quick_start() -> Work:
    return of_draft(new_study("mine", numbers={"effect_planning": 0.4}), sample_size=40)


MYELOMA: Final = "bio_jq1_myeloma"
ASKED: Final = EvidenceAssumptions(alpha=0.01, target=0.9, dropout=0.1)
PILOT: Final = EvidenceAssumptions(effect=0.2, why={"effect": "A pilot."})
LEFT: Final = EvidenceAssumptions(dropout=0.1, why={"dropout": "As many left before."})

PLANS: Final[dict[str, Callable[[], Work]]] = {
    "momentum": lambda: work("fin_momentum", "medium", "offered"),
    "ego depletion": lambda: work("psy_ego_depletion", "hard", "offered"),
    "a reference protocol that fails": lambda: work("psy_stroop", "hard", "reference"),
    "one that passes, of which a quarter drops out": lambda: work(MYELOMA, "easy", "reference"),
    "one of more samples than there are": lambda: work("eco_reef_fish", "easy", "reference"),
    "an offer": lambda: work("psy_stroop", "medium", "offered"),
    "one without a control": lambda: work("eco_reef_fish", "medium"),
    "the study’s own": edited,
    "a rationale": lambda: edited(rationale="Forty were at hand."),
    "a control less": lambda: edited(controls=MOMENTUM.reference_protocol.controls[1:]),
    "a question": lambda: edited(question=ASKED),
    "an effect with its reason": lambda: edited(question=PILOT),
    "dropout of groups": lambda: edited("psy_ego_depletion", question=LEFT, sample_size=200),
    "substitutions that shrink the effect": swapped,
    "a quick start": quick_start,
    "a bare study": lambda: of_draft(new_study("mine")),
}
PINNED: Final = ("The question", "The plan", "Slack", "Cost", "The lab", "Sources")


WHOLE: Final = ("momentum", "a bare study")


def test_documents_read_as_pinned() -> None:
    texts = {}
    for name, make in PLANS.items():
        result = make()
        documents = [result.report(), result.brief(), *registered(result)]
        if name not in WHOLE:
            documents = [*map(without_pinned, documents)]
        texts[name] = "\n".join(map(markdown, documents))
    assert_golden("report#documents", new_lines(texts))


def without_pinned(document: Document) -> Document:
    parts = tuple(part for part in document.parts if part.title not in PINNED)
    return replace(document, parts=parts, foot=())


def registered(found: Work) -> Iterator[Document]:
    steps = field_steps(reference_of(found.options.yours), found.options.yours)
    if found.run is None or not steps:
        return
    reasons = {steps[0].fields[0].field: "Because we say so.", "sample_size": "We have that many."}
    registration = Registration(title="A title", reasons=reasons)
    yield report(found.options, on=DAY, answers=registration)


@pytest.mark.parametrize("which", ["reference", "offered", "least"])
@pytest.mark.parametrize(("scenario_id", "lab"), EVERY_LAB)
def test_plans_have_numbers_of_the_core(scenario_id: str, lab: Difficulty, which: str) -> None:
    result = work(scenario_id, lab.value, which)
    yours, pack = result.options.yours, result.written
    plans: dict[str, Assessment] = {
        "This plan": yours,
        "Reference protocol": assess(pack.reference_protocol, pack),
        "Lab Manager's plan": PlanAnalysis(yours).offered,
        "Least-loss plan": PlanAnalysis(yours).least.after,
    }
    expected = {
        name: [
            plan.counts.samples,
            plan.counts.days,
            None if plan.evidence.void_reason else plan.evidence.value,
            plan.cost,
            plan.fidelity_loss,
        ]
        for name, plan in plans.items()
    }
    for document in (result.brief(), result.report()):
        text = next(table for table in document.tables if table.names[:2] == ("Plan", "Samples"))
        rows = {row[0].text: [cell.number for cell in row[1:]] for row in text.rows}
        assert rows == {name: expected[name] for name in rows}
        listed = [plans[name].plan for name in rows]
        assert len({*map(repr, listed)}) == len(rows)
        assert all(plan.plan in listed for plan in plans.values())
        blocks = [block for part in document.parts for block in part.blocks]
        line = " ".join(block.text for block in blocks if isinstance(block, Sentence))
        assert "the Lab Manager's plan" not in line or "Lab Manager's plan" in rows


def test_credits_add_up_to_their_totals() -> None:
    result = work("psy_ego_depletion", "hard", "offered")
    before = assess(result.written.reference_protocol, result.written)
    *parts, whole = column(table_in(result.brief(), "Changes"), "Credits")
    assert len(parts) == 4
    assert sum(cell.number or 0.0 for cell in parts) == whole.number
    assert whole.number == result.options.yours.cost - before.cost
    *terms, total = column(table_in(result.report(), "The cost"), "Credits")
    assert sum(cell.number or 0.0 for cell in terms) == total.number == result.options.yours.cost


def test_input_hash_depends_on_each_input() -> None:
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
    hashes = [input_hash(assess(plan, item)) for item in packs]
    hashes.append(input_hash(assess(revise(plan, sample_size=299), pack)))
    assert len({*hashes}) == len(hashes)
    assert input_hash(assess(plan, load_scenario("fin_momentum", "medium"))) == hashes[0]
