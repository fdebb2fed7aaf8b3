"""A report fit for a preregistration: every choice with its reason, every number with its basis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from types import MappingProxyType
from typing import Final

from replicalab import features, lexicon
from replicalab.assessment import Assessment, assess
from replicalab.assessment.effects import published_effect
from replicalab.assessment.phrases import last_day_text
from replicalab.drafts import stated
from replicalab.facts import blocks, changes, check, documents, region
from replicalab.facts import negotiation as rounds
from replicalab.facts import plan as texts
from replicalab.facts import texts as sentences
from replicalab.facts.blocks import (
    NOT_GIVEN,
    Block,
    Cell,
    Document,
    Part,
    Sentence,
    Table,
    listing,
    number_cell,
    part,
    row,
    table,
)
from replicalab.facts.check import design_tables, evidence_cell
from replicalab.facts.curves import bound_text
from replicalab.facts.lab import amounts_text, lab_text
from replicalab.facts.options import search_text, wasted_text
from replicalab.facts.original import CONFIDENCE, original_blocks
from replicalab.facts.plan import (
    basis_text,
    counting_text,
    dropout_text,
    effect_text,
    groupings,
    groups_text,
    source_text,
)
from replicalab.facts.verdicts import marked, plan_verdict
from replicalab.limits import LARGEST_PLANNED
from replicalab.models import revise
from replicalab.negotiation import Negotiation, Round
from replicalab.planner import PlanAnalysis, largest_sample, leanest
from replicalab.planner.curves import Curves
from replicalab.registration import Registration
from replicalab.scenarios import QUESTION_FIELDS, QUESTION_RECORDS, Pack


def report(
    options: PlanAnalysis,
    *,
    on: date,
    written: Pack | None = None,
    run: Negotiation | None = None,
    said: Registration | None = None,
    more: Iterable[Part] = (),
) -> Document:
    """Return all that is known of a plan in its lab, with more parts before the sources."""
    yours = options.yours
    pack, reference = yours.pack, documents.reference_of(yours)
    reasons = said.reasons if said else Registration().reasons
    plans = documents.plans_of(options, reference)
    changed = reference is not yours
    curves = Curves(yours, written.design if written else None)
    title, authors = (said.title, said.authors) if said else ("", "")
    registered = _fields("What is registered, and by whom", {"Title": title, "Authors": authors})
    parts = [
        *([part("The registration", registered)] if said else []),
        part("The question", *_question(pack)),
        part(
            "The verdict",
            documents.verdict_sentence(plan_verdict(yours)),
            documents.sized_sentence(yours),
            listing(f"{kind}: {text}" for kind, text in texts.notes(yours)),
        ),
        part("The plan", _plan_table(options), *design_tables(yours)),
        part(
            "Differences from the reference protocol",
            Sentence("" if changed else documents.UNCHANGED),
            changes.changes_table(reference, yours),
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
            *original_blocks(curves),
            samples_table(yours),
            Sentence(bound_text(curves), quiet=True),
        ),
        part(
            "Slack",
            check.slack_table(yours),
            Sentence(f"Staff: {texts.staff_text(yours)}.", quiet=True),
        ),
        part("Cost", check.cost_table(yours)),
        part("Trade-offs", *region.trade_off_blocks(options)),
        part("What it would take", Sentence(search_text(options)), *documents.take_blocks(options)),
        part(
            "The lab",
            Sentence(f"{amounts_text(pack.lab)}."),
            listing(documents.own_lines(written, pack)),
        ),
        *more,
        *([part("The negotiation", *_transcript(run))] if run else []),
        part(
            "Sources",
            Sentence(documents.cited(pack.paper), link=documents.doi_link(pack.paper)),
            blocks.table(
                "Facts and their sources",
                ("Fact", "Source", "How sure"),
                [
                    (fact.text, fact.source, CONFIDENCE[fact.confidence])
                    for fact in pack.paper.facts
                ],
            ),
        ),
    ]
    of = pack.paper.name if title else ""
    return Document(
        title=title or pack.paper.title,
        about=" · ".join(filter(None, ("Report", of, lab_text(pack), documents.day_text(on)))),
        parts=tuple(parts),
        foot=documents.origin_lines(yours),
        on=on,
        authors=authors,
    )


def _question(pack: Pack) -> Iterator[Block]:
    """Yield what the study asks, claims and calls a success, and which of it nobody has given."""
    paper, criteria = pack.paper, list(filter(None, map(stated, pack.success_criteria)))
    yield Sentence(stated(paper.goal))
    yield Sentence(stated(paper.hypothesis), "The study claims:")
    yield Sentence(stated(paper.caution), "Take care:")
    yield Sentence(paper.contested or "", "Contested:")
    yield listing(f"A success if: {criterion}" for criterion in criteria)
    record = {
        documents.GOAL: paper.goal,
        "what the study claims": paper.hypothesis,
        "what to take care of": paper.caution,
        "what counts as a success": " ".join(criteria),
        documents.SOURCE: documents.cited(paper),
    }
    yield documents.unstated_sentence(record)


def _fields(caption: str, fields: Mapping[str, str]) -> Table:
    """Return what each field holds, or that nobody has said it."""
    rows = [row(name, text or lexicon.capitalised(NOT_GIVEN)) for name, text in fields.items()]
    return blocks.table(caption, ("Field", "Value"), rows)


def _plan_table(options: PlanAnalysis) -> Table:
    yours, plan = options.yours, options.yours.plan
    lists = {
        "Controls": plan.controls,
        "Equipment": plan.required_equipment,
        yours.pack.study.term("Reagents"): plan.required_reagents,
    }
    rows = [
        row("Sample size", Cell(f"{plan.sample_size:,}", plan.sample_size)),
        row("Days", Cell(f"{plan.duration_days:,}{last_day_text(yours)}", plan.duration_days)),
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
    rows = []
    for done in run.rounds:
        verdict = rounds.answer_verdict(done)
        answer = Cell(verdict.title, status=verdict.status) if verdict else "–"
        number = Cell(str(done.number + 1), done.number + 1)
        plan, summary = done.plan, rounds.round_summary(done)
        text = marked(plan, plan.evidence, summary)[1] if plan else summary
        rows.append((number, rounds.turn_title(done), text, answer))
    return (
        documents.verdict_sentence(rounds.outcome_verdict(run)),
        Sentence(players, quiet=True),
        blocks.table("Round by round", names, rows),
        *(block for done in run.rounds for block in said_blocks(done)),
    )


def said_blocks(done: Round) -> Iterator[Block]:
    """Yield what both sides said in a round, in full."""
    number = done.number + 1
    questions = done.action.questions if done.action else []
    reason = done.reason or "A person chose this."
    why = lexicon.lines_text([reason, *questions])
    yield Sentence(why, f"Round {number}, Scientist:")
    verdict, parts = rounds.answer_verdict(done), rounds.answer_parts(done)
    if verdict is None:
        return
    answer = parts.pop("Answer", [verdict.text])
    yield Sentence(lexicon.lines_text(answer), f"Round {number}, Lab Manager:")
    for title, lines in parts.items():
        yield Sentence(f"{title}:")
        yield listing(lines)
    if offer := rounds.offered_plan(done):
        yield Sentence(f"Offers {rounds.numbers_text(offer)}.")
    yield Sentence(rounds.offer_breaks_text(done))


# --- the sample-size justification ------------------------------------------------------------

# Each choice as registries ask for it, in the order of common preregistration forms: design and
# test, the effect and where it comes from, error rates and target, then what the means allow.

# The number of a question that stands for a field of a design.
_NUMBERS: Final = {
    **{field: number for number, field in QUESTION_FIELDS.items()},
    **{name: name for name in QUESTION_RECORDS},
}
_ASKED: Final = "Asked here in place of the study’s number."
# Shares of the planned sample at which its evidence is shown: from a quarter to twice as many.
_QUARTERS: Final = range(1, 9)

Choice = tuple[str, Cell | str, str]  # What is chosen, what it is, and why


def justification_table(plan: Assessment, said: Mapping[str, str] = MappingProxyType({})) -> Table:
    """Return each choice behind a sample size, with its reason or that none is given."""
    rows = [
        row(name, value, why.strip() or lexicon.capitalised(NOT_GIVEN))
        for name, value, why in (*_design(plan), *_numbers(plan), *_sizes(plan, said))
    ]
    return table("Each choice and its reason", ("Choice", "Value", "Reason"), rows)


def _design(plan: Assessment) -> Iterator[Choice]:
    """Yield what is compared, how it is tested, and which effects are assumed."""
    pack, kind = plan.pack, plan.evidence.row
    design = pack.design
    counted = f"{lexicon.capitalised(kind.title)}; n counts {design.unit_of_n}"
    method = stated(pack.paper.method)
    yield "Design", counted, f"The published study: {method}" if method else ""
    how = f"Planned {kind.measure}: {kind.meaning}."
    worked = lexicon.capitalised(kind.method_of(design))
    pair = (f"{worked}.", source_text(design))
    yield "Test and method", " ".join(filter(None, pair)), how
    if kind.effect is None:
        return
    name = kind.effect.name
    yield f"Published {name}", _number(published_effect(design)), design.source
    yield f"Assumed {name}", _number(design.effect_planning), _why(pack, "effect_planning")
    yield f"Smallest {name} of interest", _number(design.sesoi), _why(pack, "sesoi")


def _numbers(plan: Assessment) -> Iterator[Choice]:
    """Yield the error rate, the bounds of the evidence, and what else its formula is given."""
    pack, evidence = plan.pack, plan.evidence
    design, kind = pack.design, evidence.row
    for name in kind.numbers:
        value = getattr(design, name)
        if value is not None or name in kind.needs:
            yield kind.label(name), _number(value), _why(pack, name)
    for name in ("target", "floor"):
        bound = getattr(design, name)
        value = Cell(evidence.amount(bound), bound)
        yield f"{lexicon.capitalised(name)} of {kind.measure}", value, _why(pack, name)
    for name, (title, text) in groupings(design).items():
        basis = basis_text(plan) if name == "units" else ""
        yield title, f"{text}. {basis}".strip(), _why(pack, name)
    yield (
        "Dropout",
        Cell(lexicon.percent_text(design.dropout), design.dropout),
        _why(pack, "dropout"),
    )
    if pack.samples_per_day:
        per_day = pack.samples_per_day
        yield "Samples a day, at most", _number(per_day.value), per_day.why
    yield "Fewest days", _number(pack.min_days), "A plan of fewer days yields no evidence."


def _sizes(plan: Assessment, said: Mapping[str, str]) -> Iterator[Choice]:
    """Yield the sample that is planned, the one that the means allow, and what is detected."""
    evidence, kind = plan.evidence, plan.evidence.row
    planned = _samples(plan.counts.samples)
    shared = groups_text(plan.counts.samples, plan.pack.design, per_group=True)
    why = _why_planned(plan, said), shared, dropout_text(plan), wasted_text(plan)
    yield "Planned sample", planned, " ".join(filter(None, why))
    largest, lean = largest_sample(plan.plan, plan.pack), leanest(plan)
    what = "Budget, staff, throughput, population and the study’s own bounds, all else as planned."
    yield "Most that the means allow", "none" if largest is None else _samples(largest), what
    if lean:
        fewest = _samples(lean.counts.samples)
        yield "Fewest that meet the target", fewest, "All else as planned."
    if kind.sought:
        target = evidence.amount(evidence.target)
        swapped = ", through the plan’s substitutions" if evidence.factor != 1 else ""
        text = f"At the target of {kind.measure} {target}{swapped}."
        value = plan.detectable_effect
        yield lexicon.capitalised(kind.sought), Cell(effect_text(value), value), text
    for reply in features.ask("facts", plan):
        if reply.note:
            yield reply.feature.title, NOT_GIVEN, reply.note
        for fact in reply.value or ():
            yield fact.label, fact.shown, fact.note


def _why_planned(plan: Assessment, said: Mapping[str, str]) -> str:
    """Return why so many samples are planned.

    A rationale is written for a whole plan: it is no reason for its sample.
    """
    reference = plan.pack.reference_protocol
    if reason := said.get("sample_size"):
        return reason
    if plan.counts.samples == reference.sample_size:
        return f"{lexicon.capitalised(NOT_GIVEN)}."
    planned = lexicon.count_text(reference.sample_size, "sample")
    return sentences.ALREADY_IN_REFERENCE.format(planned=planned)


def _why(pack: Pack, field: str) -> str:
    """Return the reason for a number of the design; the study's is none for one's own number."""
    number = _NUMBERS.get(field)
    if number in pack.question.asked:
        record = {str(name): reason for name, reason in pack.question.why.items()}
        return f"{record.get(number, lexicon.capitalised(NOT_GIVEN) + '.')} {_ASKED}"
    return pack.design.why.get(field, "")


def _number(value: float | None) -> Cell:
    return Cell("none" if value is None else lexicon.exact_text(value), value)


def _samples(number: int) -> Cell:
    return Cell(lexicon.count_text(number, "sample"), number)


# --- evidence over n ------------------------------------------------------------------------


def samples_table(plan: Assessment) -> Table:
    """Return what more and fewer samples are worth and cost, with everything else as planned."""
    sizes = _sizes_shown(plan)
    plans = [assess(revise(plan.plan, sample_size=n), plan.pack) for n in sizes]
    evidences = [item.evidence for item in plans]
    rows = [
        row(
            number_cell(n),
            evidence_cell(item, evidences),
            number_cell(item.cost),
            "; ".join(filter(None, (sizes[n], _cut_text(item)))),
        )
        for n, item in zip(sizes, plans, strict=True)
    ]
    measure = plan.evidence.title
    names = ("Samples", measure, lexicon.capitalised(plan.pack.lab.currency), "What it is")
    return table(f"{measure} over the sample, all else as planned", names, rows)


def _cut_text(plan: Assessment) -> str:
    """Return how many samples of a plan can count, and why no more; empty where all can."""
    able = plan.evidence.able
    if able >= plan.counts.samples:
        return ""
    return f"{lexicon.amount_text(able)} can count: {counting_text(plan.counts.days, plan.pack)}"


def _sizes_shown(plan: Assessment) -> dict[int, str]:
    """Return the sample sizes to show, in their order, and what is particular to each."""
    planned, record = plan.counts.samples, dict[int, list[str]]()
    for quarter in _QUARTERS:
        record[min(LARGEST_PLANNED, -(-planned * quarter // 4))] = []
    lean = leanest(plan)
    for name, n in (
        ("planned", planned),
        ("the most that the means allow", largest_sample(plan.plan, plan.pack)),
        ("the fewest that meet the target", lean.counts.samples if lean else None),
    ):
        if n is not None:
            record.setdefault(n, []).append(name)
    return {n: ", ".join(record[n]) for n in sorted(record) if n > 0}
