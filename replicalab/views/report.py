"""A report fit for a preregistration: every choice with its reason, every number with its basis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from replicalab.assessment import Assessment
from replicalab.lexicon import capitalised, joined, lines_text
from replicalab.negotiation import Negotiation, Round
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import Pack
from replicalab.views import blocks, changes, check, documents
from replicalab.views import negotiation as rounds
from replicalab.views import plan as texts
from replicalab.views.blocks import (
    NOT_GIVEN,
    Block,
    Cell,
    Document,
    Sentence,
    Table,
    listing,
    part,
    row,
)
from replicalab.views.justification import justification_table, samples_table
from replicalab.views.lab import amounts_text, lab_text
from replicalab.views.options import search_text
from replicalab.views.rounds import text_blocks
from replicalab.views.study import CONFIDENCE
from replicalab.views.verdicts import plan_verdict

if TYPE_CHECKING:
    from replicalab.library import Decision

LONGEST: Final = 4_000
"""No value of a plan is longer."""


class Registration(NamedTuple):
    """What only whoever registers a plan can say; empty where they do not.

    Attributes:
        title: of the registration.
        authors: who registers.
        reasons: why a field of the reference protocol is changed, by its name in the protocol.
    """

    title: str = ""
    authors: str = ""
    reasons: Mapping[str, str] = MappingProxyType({})


def report(
    options: PlanAnalysis,
    *,
    on: date,
    written: Pack | None = None,
    run: Negotiation | None = None,
    said: Registration | None = None,
    decision: Decision | None = None,
) -> Document:
    """Return all that is known of a plan in its lab, for whoever is to check it."""
    yours = options.yours
    pack, reference = yours.pack, documents.reference_of(yours)
    reasons = said.reasons if said else Registration().reasons
    plans = documents.plans_of(options, reference)
    changed = reference is not yours
    parts = [
        *([part("The registration", _registered(said))] if said else []),
        part("The question", *_question(pack)),
        part(
            "The verdict",
            documents.verdict_sentence(plan_verdict(yours)),
            documents.sized_sentence(yours),
            listing(f"{kind}: {text}" for kind, text in texts.notes(yours)),
        ),
        *([part("The decision", _decided(decision, yours))] if decision else []),
        part("The plan", _plan_table(options)),
        part(
            "Differences from the reference protocol",
            Sentence("" if changed else documents.UNCHANGED),
            changes.changes_table(reference, yours, LONGEST),
            changes.reasons_table(options, reference, reasons) if changed else None,
        ),
        part("Sample-size justification", justification_table(yours, reasons)),
        part(
            "Evidence",
            check.plans_table(plans),
            documents.least_sentence(options, plans),
            *documents.cautions_sentences(plans),
            Sentence(texts.assumption_text(yours), quiet=True),
            Sentence(texts.asked_text(pack, None), "Asked here:"),
            check.effects_table(yours),
            samples_table(yours),
        ),
        part(
            "Slack",
            check.slack_table(yours),
            Sentence(f"Staff: {texts.staff_text(yours)}.", quiet=True),
        ),
        part("Cost", check.cost_table(yours)),
        part(
            "What it would take",
            Sentence(search_text(options)),
            *documents.take_blocks(options),
        ),
        part(
            "The lab",
            Sentence(f"{amounts_text(pack.lab)}."),
            listing(documents.own_lines(written, pack)),
        ),
        *([part("The negotiation", *_transcript(run))] if run else []),
        part("Sources", *_sources(pack)),
    ]
    typed = said.title.strip() if said else ""
    of = pack.paper.name if typed else ""
    return Document(
        title=typed or pack.paper.title,
        about=" · ".join(filter(None, ("Report", of, lab_text(pack), documents.day_text(on)))),
        parts=tuple(parts),
        foot=documents.origin_lines(yours),
        authors=said.authors.strip() if said else "",
    )


def _registered(said: Registration) -> Table:
    fields = {"Title": said.title.strip(), "Authors": said.authors.strip()}
    return _fields("What is registered, and by whom", fields)


def _decided(decision: Decision, plan: Assessment) -> Table:
    """Return what was decided between which plans, and which of them this one is."""
    chosen, *others = decision.names
    fields = {
        "Chosen": chosen,
        "Not chosen": joined(others),
        "Why": decision.why.strip(),
        "Who decided": decision.who.strip(),
        "When": documents.day_text(decision.when.date()) if decision.when else "",
        "This plan is": joined([each.name for each in decision.options if each.is_plan(plan)]),
    }
    return _fields("What was decided", fields)


def _fields(caption: str, fields: Mapping[str, str]) -> Table:
    """Return what each field holds, or that nobody has said it."""
    rows = [row(name, text or capitalised(NOT_GIVEN)) for name, text in fields.items()]
    return blocks.table(caption, ("Field", "Value"), rows)


def _question(pack: Pack) -> tuple[Block, ...]:
    paper = pack.paper
    return (
        Sentence(paper.goal),
        Sentence(paper.hypothesis, "The study claims:"),
        Sentence(paper.caution, "Take care:"),
        Sentence(paper.contested or "", "Contested:"),
        listing(f"A success if: {criterion}" for criterion in pack.success_criteria),
    )


def _plan_table(options: PlanAnalysis) -> Table:
    plan = options.yours.plan
    lists = {
        "Controls": plan.controls,
        "Equipment": plan.required_equipment,
        "Reagents": plan.required_reagents,
    }
    rows = [
        row("Sample size", Cell(f"{plan.sample_size:,}", plan.sample_size)),
        row("Days", Cell(f"{plan.duration_days:,}", plan.duration_days)),
        row("Technique", plan.technique),
        *(row(name, "; ".join(labels) or "none") for name, labels in lists.items()),
        row("Rationale", plan.rationale),
    ]
    return blocks.table("The plan in full", ("Field", "Value"), rows)


# --- the negotiation ------------------------------------------------------------------------


def _transcript(run: Negotiation) -> tuple[Block, ...]:
    setup = run.setup
    players = (
        f"Scientist: {rounds.SCIENTISTS[setup.scientist].name}; "
        f"Lab Manager: {rounds.LAB_MANAGERS[setup.lab_manager].name}."
    )
    names = ("Round", "Scientist", "Plan on the table", "Lab Manager")
    rows = [_round_row(done) for done in run.rounds]
    return (
        documents.verdict_sentence(rounds.outcome_verdict(run)),
        Sentence(players, quiet=True),
        blocks.table("Round by round", names, rows),
        *(block for done in run.rounds for block in _said(done)),
    )


def _round_row(done: Round) -> tuple[Cell, ...]:
    verdict = rounds.answer_verdict(done)
    return row(
        Cell(str(done.number + 1), done.number + 1),
        rounds.turn_title(done),
        rounds.round_summary(done),
        Cell(verdict.title, status=verdict.status) if verdict else "–",
    )


def _said(done: Round) -> Iterator[Block]:
    """Yield what both sides said in a round, in full."""
    number = done.number + 1
    questions = done.action.questions if done.action else []
    why = lines_text([done.reason or "A person chose this.", *questions])
    yield Sentence(why, f"Round {number}, Scientist:")
    lead = f"Round {number}, Lab Manager:"
    for is_list, lines in text_blocks(done.answer.explanation) if done.answer else []:
        if is_list:
            yield listing(lines)
        else:
            yield Sentence(lines_text(lines), lead)
            lead = ""
    yield Sentence(rounds.offer_breaks_text(done))


# --- where it comes from --------------------------------------------------------------------


def _sources(pack: Pack) -> tuple[Block, ...]:
    paper = pack.paper
    names = ("Fact", "Source", "How sure")
    rows = [row(f.text, f.source, CONFIDENCE[f.confidence]) for f in paper.facts]
    return Sentence(documents.cited(paper)), blocks.table("Facts and their sources", names, rows)
