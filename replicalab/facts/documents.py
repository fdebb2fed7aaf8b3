"""One page for whoever decides, and what it shares with the report: verdict, evidence, origin."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import date
from hashlib import sha256
from typing import Final
from urllib.parse import quote

from replicalab import __version__
from replicalab.assessment import Assessment, assess, cautions_text
from replicalab.assessment.phrases import units_text
from replicalab.drafts import stated
from replicalab.facts import check
from replicalab.facts import options as options_text
from replicalab.facts import plan as texts
from replicalab.facts.blocks import Block, Document, Sentence, Verdict, listing, part
from replicalab.facts.changes import changes_table
from replicalab.facts.lab import amounts_text, lab_text, own_values
from replicalab.facts.negotiation import outcome_verdict
from replicalab.facts.verdicts import plan_size, plan_verdict
from replicalab.lexicon import capitalised, joined
from replicalab.negotiation import Negotiation
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import Pack, Paper

THIS: Final = "This plan"
REFERENCE: Final = "Reference protocol"
LEAST: Final = "Least-loss plan"
OFFERED: Final = "Lab Manager's plan"
GOAL: Final = "what is to be found out"
SOURCE: Final = "where the study was published"


def of_run(options: PlanAnalysis, run: Negotiation | None) -> PlanAnalysis:
    """Return the plan that a document with a negotiation is about: the one that it came to.

    The plan itself where there is no negotiation, or no plan in it.
    """
    final = run.final_plan if run else None
    return options if final is None or final.plan == options.yours.plan else PlanAnalysis(final)


def reference_of(plan: Assessment) -> Assessment:
    """Return the study's reference protocol in the lab of a plan; the plan itself where it is it.

    A document shows every other plan next to it.
    """
    pack = plan.pack
    same = plan.plan == pack.reference_protocol
    return plan if same else assess(pack.reference_protocol, pack)


def verdict_sentence(verdict: Verdict) -> Sentence:
    """Return a verdict behind its sign, its first sentence in bold."""
    first, stop, rest = verdict.text.partition(". ")
    return Sentence(rest, f"{first}{stop.rstrip()}", verdict.status)


def sized_sentence(plan: Assessment) -> Sentence:
    """Return a plan in numbers."""
    return Sentence(f"{capitalised(plan_size(plan))}.")


def plans_of(options: PlanAnalysis, reference: Assessment) -> dict[str, Assessment]:
    """Return the plans that a document compares, by name: those that are different plans."""
    named = {
        THIS: options.yours,
        REFERENCE: reference,
        OFFERED: options.offered,
        LEAST: options.least.after,
    }
    plans: dict[str, Assessment] = {}
    for name, plan in named.items():
        if all(plan.plan != other.plan for other in plans.values()):
            plans[name] = plan
    return plans


def least_sentence(options: PlanAnalysis, plans: dict[str, Assessment]) -> Sentence:
    """Return how the least-loss plan differs; nothing where it is this one or the reference."""
    named = (plans[name] for name in (OFFERED, LEAST) if name in plans)
    is_one = any(plan.plan == options.least.plan for plan in named)
    text = options_text.difference_text(options) if is_one else ""
    return Sentence(text, f"{LEAST}:")


def cautions_sentences(plans: dict[str, Assessment]) -> Iterator[Sentence]:
    """Yield which wishes each plan but this one breaks, which controls it lacks, and of its units.

    What holds of the units of all plans alike stands with this one's verdict.
    """
    shared = units_text(plans[THIS]) if THIS in plans else ""
    for name, plan in plans.items():
        text = texts.cautions_sentence(plan)
        if name != THIS and text and (not shared or cautions_text(plan) != shared):
            yield Sentence(text, f"{name}:")


def take_blocks(options: PlanAnalysis, most: int | None = None) -> Iterator[Block]:
    """Yield what the lab would have to add, at most so many sentences of each kind."""
    for title, ways in options_text.take_parts(options):
        number = len(ways[most:]) if most is not None else 0
        rest = [f"And {number} more, in the report."] if number else []
        if len(ways) == 1:
            yield Sentence(ways[0], f"{title}:" if title else "")
        else:
            yield Sentence(f"{title}:")
            yield listing([*ways[:most], *rest])


# --- the brief ------------------------------------------------------------------------------

_WAYS: Final = 2  # to more evidence, of each kind; the report has all
UNCHANGED: Final = "Nothing: the plan is the study’s reference protocol."


def brief(
    options: PlanAnalysis,
    *,
    on: date,
    written: Pack | None = None,
    run: Negotiation | None = None,
    decision: str = "",
) -> Document:
    """Return one page about a plan in its lab."""
    yours = options.yours
    pack, reference = yours.pack, reference_of(yours)
    plans = plans_of(options, reference)
    outcome = outcome_verdict(run) if run else None
    samples, design = yours.counts.samples, pack.design
    shared = texts.groups_text(samples, design, per_group=True), texts.dropout_text(yours)
    return Document(
        title=pack.paper.name,
        about=f"Brief · {lab_text(pack)} · {day_text(on)}",
        parts=(
            part(
                "The question",
                Sentence(stated(pack.paper.goal)),
                Sentence(cited(pack.paper), quiet=True, link=doi_link(pack.paper)),
                unstated_sentence({GOAL: pack.paper.goal, SOURCE: cited(pack.paper)}),
            ),
            part(
                "The verdict",
                verdict_sentence(plan_verdict(yours)),
                sized_sentence(yours),
                Sentence(outcome.text, "The negotiation.", outcome.status) if outcome else None,
                Sentence(decision, "The decision."),
            ),
            part(
                "What is changed from the reference protocol",
                Sentence("" if yours is not reference else UNCHANGED),
                changes_table(reference, yours),
            ),
            part(
                "Evidence and cost",
                check.plans_table(plans),
                least_sentence(options, plans),
                *cautions_sentences(plans),
                Sentence(texts.assumption_text(yours), quiet=True),
                Sentence(texts.asked_text(pack, None), "Asked here:"),
                Sentence(" ".join(filter(None, shared)), quiet=True),
            ),
            part("What it would take", *take_blocks(options, _WAYS)),
            part(
                "The lab", Sentence(f"{amounts_text(pack.lab)}."), listing(own_lines(written, pack))
            ),
        ),
        foot=origin_lines(yours),
        on=on,
        compact=True,
    )


def cited(paper: Paper) -> str:
    """Return the citation of a paper and its DOI; empty if not given."""
    return " ".join(filter(None, (stated(paper.citation), paper.doi and f"doi:{paper.doi}")))


def unstated_sentence(texts: Mapping[str, str]) -> Sentence:
    """Return which texts of a study nobody has given, by what they say; nothing where all are."""
    rest = [name for name, text in texts.items() if not stated(text)]
    return Sentence(f"Not given: {joined(rest)}." if rest else "")


def doi_link(paper: Paper) -> str:
    """Return the address that a paper's DOI leads to, empty where it has none."""
    return f"https://doi.org/{quote(paper.doi)}" if paper.doi else ""


def own_lines(written: Pack | None, pack: Pack) -> tuple[str, ...]:
    """Return what of a lab is one's own, in place of the study's."""
    return tuple(f"{own_value.text}." for own_value in own_values(written, pack)) if written else ()


# --- where it comes from ---


FORMAT: Final = 1  # Of the documents; it rises if an older one could be misread


def input_hash(plan: Assessment) -> str:
    """Return a fingerprint of the study, its lab and the plan, as they were judged.

    The study holds the question already, the lab what is said of it; whatever changes a number of
    a document changes one of the three.
    """
    pack = plan.pack
    records = [
        record.model_dump(mode="json", exclude_defaults=True)
        for record in (pack.study, pack.lab, plan.plan)
    ]
    return sha256(json.dumps(records, sort_keys=True).encode()).hexdigest()[:16]


def day_text(day: date) -> str:
    """Return a date that everyone reads in one way: ``22 November 2026``."""
    return f"{day.day} {day:%B %Y}"


def origin_lines(plan: Assessment) -> tuple[str, ...]:
    """Return which versions made a document, and of which inputs."""
    pack = plan.pack
    return (
        f"ReplicaLab {__version__}, document format {FORMAT}.",
        f"Input hash {input_hash(plan)}: study {pack.scenario_id}, {pack.difficulty} lab, "
        f"seed {pack.seed}, plan, and what is said of lab and evidence.",
    )
