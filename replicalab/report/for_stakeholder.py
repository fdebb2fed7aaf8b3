"""One page for whoever decides: the question, the verdict, and what it would cost to do more."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Final

from replicalab.assessment import Assessment
from replicalab.assessment.phrases import days_text
from replicalab.lexicon import count_text, shortened
from replicalab.models import LONGEST_TEXT
from replicalab.negotiation import Negotiation
from replicalab.planner import Options
from replicalab.report.document import Block, Document, Listing, Part, Sentence, Table, part
from replicalab.report.origin import day_text, origin_lines
from replicalab.report.parts import (
    cautions_sentences,
    changes_table,
    least_sentence,
    plans_of,
    plans_table,
    reference_of,
    sized_sentence,
    take_blocks,
    verdict_sentence,
)
from replicalab.scenarios import Pack, Paper
from replicalab.text.lab import lab_text, own_values
from replicalab.text.negotiation import outcome_verdict
from replicalab.text.plan import asked_text, assumption_text, dropout_text, groups_text
from replicalab.text.verdicts import plan_verdict

LONGEST: Final = 64
"""The most characters of a value of a plan, and of a name, on one page."""
LONGEST_LINE: Final = 140
LONGEST_CITED: Final = 260
LONGEST_SENTENCE: Final = 420
MOST_SENTENCES: Final = 2
MOST_OWN: Final = 5
UNCHANGED: Final = "Nothing: the plan is the study’s reference protocol."


def brief(
    options: Options, *, on: date, written: Pack | None = None, run: Negotiation | None = None
) -> Document:
    """Return one page about a plan in its lab.

    Args:
        options: the plan in its lab, and what may be done about it.
        on: the date that it bears.
        written: the lab as the study's author wrote it, to tell what of it is one's own.
        run: the negotiation that led to the plan (see `of_run`), None where there was none.
    """
    yours = options.yours
    pack, reference = yours.pack, reference_of(yours)
    plans = plans_of(options, reference)
    outcome = outcome_verdict(run) if run else None
    document = Document(
        title=shortened(pack.paper.name, LONGEST),
        about=f"Brief · {lab_text(pack)} · {day_text(on)}",
        parts=(
            part(
                "The question",
                Sentence(pack.paper.goal),
                Sentence(cited(pack.paper, LONGEST_CITED), quiet=True),
            ),
            part(
                "The verdict",
                verdict_sentence(plan_verdict(yours)),
                sized_sentence(yours),
                Sentence(outcome.text, "The negotiation.", outcome.status) if outcome else None,
            ),
            part(
                "What is changed from the reference protocol",
                Sentence("" if yours is not reference else UNCHANGED),
                changes_table(reference, yours, LONGEST),
            ),
            part(
                "Evidence and cost",
                plans_table(plans),
                least_sentence(options, plans),
                *cautions_sentences(plans),
                Sentence(assumption_text(yours), quiet=True),
                Sentence(asked_text(pack, None), "Asked here:"),
                Sentence(_shared_out(yours), quiet=True),
            ),
            part("What it would take", *take_blocks(options, MOST_SENTENCES)),
            part("The lab", Sentence(means_text(pack)), Listing(_few(own_lines(written, pack)))),
        ),
        foot=origin_lines(yours),
        compact=True,
    )
    parts = [Part(each.title, tuple(map(_fitting, each.blocks))) for each in document.parts]
    return replace(document, parts=tuple(parts))


def _shared_out(plan: Assessment) -> str:
    """Return how the samples stand in groups, and how many are left after dropout."""
    shared = groups_text(plan.counts.samples, plan.pack.design, per_group=True)
    return " ".join(filter(None, (shared, dropout_text(plan))))


def _fitting(block: Block) -> Block:
    """Return a block no longer than there is room for on one page, whatever a study says."""
    match block:
        case Sentence():
            return replace(block, text=shortened(block.text, LONGEST_SENTENCE))
        case Listing():
            return Listing(tuple(shortened(text, LONGEST_SENTENCE) for text in block.texts))
        case Table():
            return block


def cited(paper: Paper, longest: int = LONGEST_TEXT) -> str:
    """Return where a paper is found, its citation in at most so many characters."""
    citation = shortened(paper.citation, longest)
    return f"{citation} doi:{paper.doi}" if paper.doi else citation


def _few(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return the first of some lines, each short, and how many more there are."""
    told = tuple(shortened(line, LONGEST_LINE) for line in lines[:MOST_OWN])
    more = len(lines) - len(told)
    return (*told, f"And {more} more, in the report.") if more else told


def means_text(pack: Pack) -> str:
    """Return what a lab has: ``2,600 credits, 6 days, 3 staff units.``."""
    lab = pack.lab
    has = count_text(lab.budget, "credit"), days_text(lab), count_text(lab.staff, "staff unit")
    return f"{', '.join(has)}."


def own_lines(written: Pack | None, pack: Pack) -> tuple[str, ...]:
    """Return what of a lab is one's own, in place of the study's."""
    return tuple(f"{own.text}." for own in own_values(written, pack)) if written else ()
