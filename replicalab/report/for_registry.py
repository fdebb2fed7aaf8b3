"""A report fit for a preregistration: every choice with its reason, every number with its basis."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Final

from replicalab.assessment import Assessment, assumed_effects
from replicalab.lexicon import capitalised, joined, lines_text
from replicalab.library import Decision
from replicalab.negotiation import Negotiation, Round
from replicalab.panels.negotiation import text_blocks
from replicalab.panels.study import CONFIDENCE
from replicalab.planner import Options
from replicalab.report.document import (
    NOT_GIVEN,
    Block,
    Cell,
    Document,
    Listing,
    Said,
    Sentence,
    Table,
    part,
    row,
)
from replicalab.report.for_stakeholder import UNCHANGED, cited, means_text, own_lines
from replicalab.report.justification import justification_table, samples_table
from replicalab.report.origin import day_text, origin_lines
from replicalab.report.parts import (
    cautions_sentences,
    changes_table,
    cost_table,
    least_sentence,
    plans_of,
    plans_table,
    reasons_table,
    reference_of,
    sized_sentence,
    slack_table,
    take_blocks,
    verdict_sentence,
)
from replicalab.scenarios import Pack
from replicalab.text.lab import lab_text
from replicalab.text.negotiation import (
    LAB_MANAGERS,
    SCIENTISTS,
    answer_verdict,
    offer_breaks_text,
    outcome_verdict,
    round_summary,
    turn_title,
)
from replicalab.text.options import search_text
from replicalab.text.plan import asked_text, assumed_rows, assumption_text, notes, staff_text
from replicalab.text.verdicts import marked, plan_verdict

LONGEST: Final = 4_000
"""No value of a plan is longer."""


def report(
    options: Options,
    *,
    on: date,
    written: Pack | None = None,
    run: Negotiation | None = None,
    said: Said | None = None,
    decision: Decision | None = None,
) -> Document:
    """Return all that is known of a plan in its lab, for whoever is to check it.

    Args:
        options: the plan in its lab, and what may be done about it.
        on: the date that it bears.
        written: the lab as the study's author wrote it, to tell what of it is one's own.
        run: the negotiation that led to the plan (see `of_run`), None where there was none.
        said: what only whoever registers it can say; None where nobody is asked.
        decision: for or against the plan, None where none is recorded.
    """
    yours = options.yours
    pack, reference = yours.pack, reference_of(yours)
    reasons = said.reasons if said else Said().reasons
    plans = plans_of(options, reference)
    changed = reference is not yours
    told = [
        *([part("The registration", _registration(said))] if said else []),
        part("The question", *_question(pack)),
        part(
            "The verdict",
            verdict_sentence(plan_verdict(yours)),
            sized_sentence(yours),
            Listing(tuple(f"{kind}: {text}" for kind, text in notes(yours))),
        ),
        *([part("The decision", _decided(decision, yours))] if decision else []),
        part("The plan", _plan_table(options)),
        part(
            "Differences from the reference protocol",
            Sentence("" if changed else UNCHANGED),
            changes_table(reference, yours, LONGEST),
            reasons_table(options, reference, reasons) if changed else None,
        ),
        part("Sample-size justification", justification_table(yours, reasons)),
        part(
            "Evidence",
            plans_table(plans),
            least_sentence(options, plans),
            *cautions_sentences(plans),
            Sentence(assumption_text(yours), quiet=True),
            Sentence(asked_text(pack, None), "Asked here:"),
            _effects_table(options),
            samples_table(yours),
        ),
        part("Slack", slack_table(yours), Sentence(f"Staff: {staff_text(yours)}.", quiet=True)),
        part("Cost", cost_table(yours)),
        part(
            "What it would take",
            Sentence(search_text(options)),
            *take_blocks(options),
        ),
        part("The lab", Sentence(means_text(pack)), Listing(own_lines(written, pack))),
        *([part("The negotiation", *_transcript(run))] if run else []),
        part("Sources", *_sources(pack)),
    ]
    typed = said.title.strip() if said else ""
    of = pack.paper.name if typed else ""
    return Document(
        title=typed or pack.paper.title,
        about=" · ".join(filter(None, ("Report", of, lab_text(pack), day_text(on)))),
        parts=tuple(told),
        foot=origin_lines(yours),
        authors=said.authors.strip() if said else "",
    )


def _registration(said: Said) -> Table:
    rows = [
        row(name, text.strip() or capitalised(NOT_GIVEN))
        for name, text in (("Title", said.title), ("Authors", said.authors))
    ]
    return Table("What is registered, and by whom", ("Field", "Value"), tuple(rows))


def _decided(decision: Decision, plan: Assessment) -> Table:
    """Return what was decided between which plans, and which of them this one is."""
    chosen, *others = decision.names
    here = [option.name for option in decision.options if option.is_plan(plan)]
    rows = [
        row(name, text or capitalised(NOT_GIVEN))
        for name, text in (
            ("Chosen", chosen),
            ("Not chosen", joined(others)),
            ("Why", decision.why.strip()),
            ("Who decided", decision.who.strip()),
            ("When", day_text(decision.when.date()) if decision.when else ""),
            ("This plan is", joined(here)),
        )
    ]
    return Table("What was decided", ("Field", "Value"), tuple(rows))


def _question(pack: Pack) -> tuple[Block, ...]:
    paper = pack.paper
    return (
        Sentence(paper.goal),
        Sentence(paper.hypothesis, "The study claims:"),
        Sentence(paper.caution, "Take care:"),
        Sentence(paper.contested or "", "Contested:"),
        Listing(tuple(f"A success if: {criterion}" for criterion in pack.success_criteria)),
    )


def _plan_table(options: Options) -> Table:
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
    return Table("The plan in full", ("Field", "Value"), tuple(rows))


def _effects_table(options: Options) -> Table:
    """Return what the plan is worth if the effect is not what was assumed."""
    plan = options.yours
    sizes = [each.effect for each in assumed_effects(plan.pack.design)]
    rows = [
        row(label, Cell(text, size), Cell(told, found.value, status))
        for (label, text, found), size in zip(assumed_rows(plan), sizes, strict=True)
        for status, told in [marked(plan, found, found.number)]
    ]
    names = ("Effect", "Size", "Evidence")
    return Table("If the effect is not what was assumed", names, tuple(rows))


# --- the negotiation ------------------------------------------------------------------------


def _transcript(run: Negotiation) -> tuple[Block, ...]:
    setup = run.setup
    players = (
        f"Scientist: {SCIENTISTS[setup.scientist].name}; "
        f"Lab Manager: {LAB_MANAGERS[setup.lab_manager].name}."
    )
    names = ("Round", "Scientist", "Plan on the table", "Lab Manager")
    rows = tuple(_round_row(done) for done in run.rounds)
    return (
        verdict_sentence(outcome_verdict(run)),
        Sentence(players, quiet=True),
        Table("Round by round", names, rows),
        *(block for done in run.rounds for block in _said(done)),
    )


def _round_row(done: Round) -> tuple[Cell, ...]:
    verdict = answer_verdict(done)
    return row(
        Cell(str(done.number + 1), done.number + 1),
        turn_title(done),
        round_summary(done),
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
            yield Listing(tuple(lines))
        else:
            yield Sentence(lines_text(lines), lead)
            lead = ""
    yield Sentence(offer_breaks_text(done))


# --- where it comes from --------------------------------------------------------------------


def _sources(pack: Pack) -> tuple[Block, ...]:
    paper = pack.paper
    names = ("Fact", "Source", "How sure")
    rows = tuple(row(f.text, f.source, CONFIDENCE[f.confidence]) for f in paper.facts)
    return Sentence(cited(paper)), Table("Facts and their sources", names, rows)
