"""Slides for an audience: one screen each in large type, with headings of at most twelve words."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

from replicalab import drafts, lexicon, models, planner
from replicalab import negotiation as core
from replicalab.agents import SuggestionChange
from replicalab.assessment import Assessment, failing_text
from replicalab.assessment.phrases import are_many, dimensions_text
from replicalab.facts import blocks, negotiation_facts, plan_facts
from replicalab.facts.blocks import Cell, Column, Panel, Status, Verdict
from replicalab.facts.change_facts import lost_text, nothing_needed, run_text, single_addition_lines
from replicalab.facts.check_facts import evidence_bar
from replicalab.facts.lab_facts import amounts_text
from replicalab.facts.round_facts import amounts, given_up_table
from replicalab.facts.verdicts import evidence_sentence, evidence_status, terms_text, value_of
from replicalab.planner.least_loss import field_steps

_FEW_STEPS: Final = 4  # Of more steps each field is shown once


class Slide(StrEnum):
    """The subject of a slide."""

    STAKE = "stake"
    PLAN = "plan"
    CONCESSION = "concession"
    LEDGER = "ledger"
    RULE = "rule"
    FEATURE = "feature"
    DECISION = "decision"


def stake_slide(
    yours: Assessment,
    scientist: core.ScientistKind = core.ScientistKind.STEP_BY_STEP,
    lab_manager: core.LabManagerKind = core.LabManagerKind.REFERENCE,
) -> Panel:
    """Return the paper's claim, the doubt, the question, the lab and the two roles."""
    pack = yours.pack
    paper, design = pack.paper, pack.design
    about = {
        "The claim": drafts.stated_text(paper.hypothesis),
        "In doubt": drafts.stated_text(paper.contested or ""),
        "To find out": drafts.stated_text(paper.goal),
    }
    seeks = negotiation_facts.SCIENTISTS[scientist]
    runs = negotiation_facts.LAB_MANAGERS[lab_manager]
    mode = "" if lab_manager is core.LabManagerKind.REFERENCE else f", {runs.name.lower()}"
    unit, dropout = plan_facts.sample_text(design), lexicon.percent_text(design.dropout)
    lab = pack.own_lab.name or f"the {pack.difficulty} lab"
    return blocks.panel(
        "slide_stake",
        study=paper.name,
        about=[(name, text) for name, text in about.items() if text],
        roomy=not about["In doubt"],
        lab=f"{lexicon.capitalised(lab)} has {amounts_text(pack.lab)}.",
        unit=f"Samples: {unit}." if unit else "",
        dropout=f"Dropout: {dropout}." if design.dropout else "",
        roles=[
            (f"Scientist, {seeks.name.lower()}", "wants evidence", seeks.rule),
            (f"Lab Manager{mode}", "runs what the lab can", runs.rule),
        ],
    )


def plan_slide(yours: Assessment) -> Panel:
    """Return a plan against its lab: verdict, the seven dimensions, numbers and limits."""
    failing, checks = len(yours.causes), f"{len(yours.slack)} checks"
    does = f"fails {failing} of the {checks}" if failing else f"passes all {checks}"
    fails = f"{lexicon.capitalised(failing_text(yours.pack, yours.causes))}. " if failing else ""
    text = f"{fails}{plan_facts.with_cautions(evidence_sentence(yours.evidence), yours)}"
    return blocks.panel(
        "slide_plan",
        title=f"{lexicon.capitalised(_owner(yours))} {does}",
        status=Status.FAIL if failing else evidence_status(yours.evidence),
        text=text,
        terms=terms_text(yours),
        state=_state(planner.PlanStep(yours, yours)),
    )


def _owner(yours: Assessment) -> str:
    is_own = yours.plan != yours.pack.reference_protocol
    return "your plan" if is_own else "the study’s own plan"


def _state(step: planner.PlanStep) -> dict[str, object]:
    now = step.after
    samples, *others = amounts(step)
    noun, term = lexicon.capitalised(now.pack.design.samples_noun), now.pack.study.term
    repeated = [name for name in now.failing if name not in now.causes]
    return {
        "seven": [
            (
                f"{lexicon.capitalised(term(name))}{' (same errors)' * (name in repeated)}",
                "" if name in repeated else Status.PASS if slack.ok else Status.FAIL,
            )
            for name, slack in now.slack.items()
        ],
        "numbers": [samples._replace(name=noun), *others],
    }


def scientist_concessions(negotiation: core.Negotiation) -> list[core.Concession]:
    """Return the Scientist's concessions, one for each round in which its plan moved."""
    by_scientist = (row for row in core.ledger(negotiation) if row.who is models.Role.SCIENTIST)
    return [row for row in by_scientist if _moves_more_than_rationale(row.step)]


def _moves_more_than_rationale(step: planner.PlanStep) -> bool:
    return [field.field for field in step.fields] != ["rationale"]


def concession_slide(
    negotiation: core.Negotiation, at: int, changes: Iterable[SuggestionChange]
) -> Panel:
    """Return concession ``at``, from 0, and the Lab Manager's answer."""
    steps, changes = scientist_concessions(negotiation), list(changes)
    step, done = steps[at].step, negotiation.rounds[steps[at].round_number]
    rows = negotiation_facts.change_rows(step, ("rationale",))
    fields = [*filter(_moves_more_than_rationale, field_steps(step.before, step.after))]
    lost = " ".join(dict.fromkeys(filter(None, (lost_text(field, changes) for field in fields))))
    loses = filter(None, (plan_facts.evidence_text(step), plan_facts.fidelity_move(step)))
    verdict, offer = negotiation_facts.answer_verdict(done), negotiation_facts.offered_plan(done)
    moved = (
        negotiation_facts.step_changes(fields[0]) if len(fields) == 1 else f"{len(fields)} changes"
    )
    causes = step.after.causes
    objections = failing_text(step.after.pack, causes, still=True)
    return blocks.panel(
        "slide_concession",
        title=f"Concession {at + 1} of {len(steps)}: {moved}",
        rows=rows,
        saves=f"{lexicon.capitalised(plan_facts.saved_text(step))}{_passes(step)}.",
        loses=f"{lexicon.capitalised('; '.join(loses))}.",
        status=evidence_status(step.after.evidence),
        lost=lost,
        roomy=len(rows) == 1,
        answer=verdict,
        objections=f"{lexicon.capitalised(objections)}." if causes else "",
        offer=f"{offer.size_text}: {offer.evidence.text}" if offer else "",
        offer_status=evidence_status(offer.evidence) if offer else "",
        offer_breaks=negotiation_facts.offer_breaks_text(done) if offer else "",
        state=_state(step),
    )


def _passes(step: planner.PlanStep) -> str:
    passes = [cause for cause in step.before.causes if cause not in step.after.failing]
    verb = "pass" if are_many(passes) else "passes"
    return f"; {dimensions_text(step.after.pack, passes)} then {verb}" if passes else ""


def ledger_slide(steps: Sequence[core.Concession], changes: Sequence[SuggestionChange]) -> Panel:
    """Return the concessions in rows and in all; of many steps each field once."""
    first, last = steps[0].step.before, steps[-1].step.after
    if len(steps) > _FEW_STEPS:
        fields = field_steps(first, last)
        whole = (steps[-1]._replace(step=s, total=planner.PlanStep(first, s.after)) for s in fields)
        steps = [concession for concession in whole if concession.counts] or steps
    saved = planner.PlanStep(first, last).credits_saved
    return blocks.panel(
        "slide_ledger",
        title=f"Concessions{f' to save {first.pack.lab.money(saved)}' if saved > 0 else ''}",
        ledger=given_up_table(steps, changes),
        roomy=len(steps) <= _FEW_STEPS // 2,
    )


def rule_slide(negotiation: core.Negotiation, rule: core.Negotiation) -> Panel:
    """Return the last plan of a run, the Lab Manager's first offer and the Simple rule's plan."""
    judged = [done.plan for done in negotiation.rounds if done.plan]
    offer = next(filter(None, map(negotiation_facts.offered_plan, negotiation.rounds)), None)
    ended = next(done.plan for done in reversed(rule.rounds) if done.plan)
    named = {"Asked": judged[0], "Lab Manager’s first offer": offer, "Simple rule": ended}
    plans = {name: plan for name, plan in {**named, "This run": judged[-1]}.items() if plan}
    evidence = [plan.evidence for plan in plans.values()]
    keeps = ended.failing and "a plan that fails"
    rows = [
        (
            name,
            plan.size_text,
            Cell("yes", status=Status.PASS) if plan.feasible else Cell("no", status=Status.FAIL),
            Cell(lexicon.amount_text(plan.cost), plan.cost),
            Cell(
                plan.evidence.number,
                value_of(plan.evidence),
                evidence_status(plan.evidence),
                evidence_bar(plan.evidence, evidence, evidence[0]),
            ),
        )
        for name, plan in plans.items()
    ]
    columns = (
        *("Plan", "Size", Column("Feasible", "fixed")),
        Column(lexicon.capitalised(ended.pack.lab.currency), "number"),
        Column(evidence[0].title, "fixed", "after"),
    )
    return blocks.panel(
        "slide_rule",
        title=f"The simple rule, halving each round, ends at {keeps or ended.evidence.text}",
        ways=blocks.table("Ways to make the plan fit", columns, rows, kind="rule"),
        text=negotiation_facts.simple_rule_text(rule),
    )


def decided_plan(here: planner.PlanAnalysis, negotiation: core.Negotiation | None) -> Assessment:
    """Return the agreed plan, or the least-loss plan without an agreement."""
    if negotiation and negotiation.outcome is core.Outcome.AGREED and negotiation.final_plan:
        return negotiation.final_plan
    return here.least.after


def decision_slide(
    here: planner.PlanAnalysis,
    negotiation: core.Negotiation | None,
    verdict: Verdict | None = None,
    note: str = "",
) -> Panel:
    """Return the decision on a plan in one sentence and one number."""
    run, yours = decided_plan(here, negotiation), here.yours.evidence
    evidence, runs = run.evidence, core.is_worth_running(run)
    title = f"Run {run.size_text} for {run.pack.lab.money(run.cost)}"
    if not runs:
        missed = "reaches the floor" if run.feasible else "passes"
        title = f"Do not run this study here: no plan {missed}"
    number = "none" if evidence.void_reason else evidence.number
    worth = f"{evidence.title}, {evidence.void_reason or plan_facts.bounds_text(evidence)}"
    if not run.feasible:
        number = str(len(run.causes))
        worth = f"of {len(run.slack)} checks fail at best: {dimensions_text(run.pack, run.causes)}"
    lead, ended = "", verdict.text if verdict else ""
    rounds = negotiation.rounds if negotiation else ()
    if negotiation and negotiation.outcome is core.Outcome.AGREED:
        ended = f"Agreed in round {len(rounds)}."
    elif rounds and rounds[-1].action is None and rounds[-1].reason:
        lead, ended = f"The Scientist leaves in round {len(rounds)}", rounds[-1].reason
    lines = {lead: ended, "Caution": run.cautions_text if runs else "", "Note": note}
    if not (lead or nothing_needed(here)):
        original = f"{_owner(here.yours)} of {here.yours.size_text}"
        lines["To do more"] = run_text(here.yours, original)
        if here.asks.singles:
            lines["To do more"] = next(single_addition_lines(here))
    pairs = [(name, text) for name, text in lines.items() if text]
    return blocks.panel(
        "slide_decision",
        title=title,
        status=evidence_status(evidence) if runs else Status.FAIL,
        number=number,
        worth=worth,
        bar=evidence_bar(evidence, [evidence, yours], yours) if run.feasible else None,
        texts=pairs,
        roomy=len(pairs) <= _FEW_STEPS // 2,
    )
