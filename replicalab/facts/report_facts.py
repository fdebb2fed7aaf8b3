"""A report fit for a preregistration: every choice with its reason, every number with its basis."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date

from replicalab import drafts, features, lexicon, models, negotiation, planner, scenarios
from replicalab.answers import Registration
from replicalab.assessment import Assessment, assess, assumed_effects
from replicalab.facts import blocks, check_facts, document_facts, negotiation_facts, plan_facts
from replicalab.facts.blocks import NOT_GIVEN, Cell, Part, Sentence, listing, number_cell, part, row
from replicalab.facts.change_facts import reasons_table, search_text, wasted_text
from replicalab.facts.curve_facts import CONFIDENCE, bound_text, original_blocks
from replicalab.facts.lab_facts import lab_text
from replicalab.facts.region_facts import trade_off_blocks
from replicalab.facts.round_facts import rounds_table
from replicalab.facts.study_facts import Choice, choices
from replicalab.limits import LARGEST_PLANNED
from replicalab.planner.curves import Curves


def report(
    analysis: planner.PlanAnalysis,
    *,
    on: date,
    written: scenarios.Pack | None = None,
    run: negotiation.Negotiation | None = None,
    answers: Registration | None = None,
    more: Iterable[Part] = (),
) -> blocks.Document:
    """Return a full report on a plan in its lab; more parts precede the sources."""
    yours = analysis.yours
    pack, reference = yours.pack, document_facts.reference_of(yours)
    author, term = answers or Registration(), pack.study.term
    compared = document_facts.plans_of(analysis, reference)
    changed, days = reference is not yours, yours.plan.duration_days
    plan_rows = [
        row("Sample size", number_cell(yours.plan.sample_size)),
        row("Days", Cell(f"{days:,}{yours.last_day_text}", days)),
        *(row(*named) for named in plan_facts.field_rows(yours)),
    ]
    curves = Curves(yours, written.design if written else None)
    answered = {"Title": author.title, "Authors": author.authors}
    rows = [(name, text or lexicon.capitalised(NOT_GIVEN)) for name, text in answered.items()]
    registered = blocks.table("Title and authors", ("Field", "Value"), rows)
    facts = [(fact.text, fact.source, CONFIDENCE[fact.confidence]) for fact in pack.paper.facts]
    notes = (f"{kind}: {text}" for kind, text in plan_facts.notes(yours) if kind != "Caution")
    reasons = (f"{lexicon.capitalised(term(name))}: {why}" for name, why in yours.reasons_once)
    takes = document_facts.take_blocks(analysis)
    parts = [
        part("The registration", registered if answers else None),
        part("The question", *_question(pack)),
        part("The verdict", *document_facts.verdict_sentences(yours), listing(notes)),
        part(
            "The plan",
            blocks.table("The plan in full", ("Field", "Value"), plan_rows),
            check_facts.design_table(yours),
        ),
        part(
            "Differences from the reference protocol",
            *document_facts.difference_blocks(reference, yours),
            reasons_table(analysis, reference, author.reasons) if changed else None,
        ),
        part("Sample-size justification", justification_table(yours, author.reasons)),
        part(
            "Evidence",
            *document_facts.evidence_blocks(analysis, compared),
            check_facts.effects_table(assumed_effects(pack.design), {document_facts.THIS: yours}),
            *original_blocks(curves),
            samples_table(yours),
            Sentence(bound_text(curves), quiet=True),
        ),
        part(
            "Slack",
            replace(check_facts.check_table(yours), below=()),  # files show no lines below a row
            listing(reasons),
            Sentence(f"Staff: {plan_facts.staff_text(yours)}.", quiet=True),
        ),
        part("Cost", check_facts.cost_table(yours)),
        part("Trade-offs", *trade_off_blocks(analysis)),
        part("What it would take", Sentence(search_text(analysis)), *takes),
        part("The lab", *document_facts.lab_blocks(written, pack)),
        *more,
        part("The negotiation", *(_transcript(run) if run else ())),
        part(
            "Sources",
            Sentence(document_facts.citation(pack.paper), link=document_facts.doi_link(pack.paper)),
            blocks.table("Facts and their sources", ("Fact", "Source", "How sure"), facts),
        ),
    ]
    name = pack.paper.name if author.title else ""
    about = "Report", name, lab_text(pack), document_facts.day_text(on)
    return blocks.Document(
        title=author.title or pack.paper.title,
        about=" · ".join(filter(None, about)),
        parts=tuple(parts),
        foot=document_facts.origin_lines(yours),
        on=on,
        authors=author.authors,
    )


def _question(pack: scenarios.Pack) -> Iterator[blocks.Block]:
    paper, criteria = pack.paper, list(filter(None, map(drafts.stated_text, pack.success_criteria)))
    yield Sentence(drafts.stated_text(paper.goal))
    yield Sentence(drafts.stated_text(paper.hypothesis), "The study claims:")
    yield Sentence(drafts.stated_text(paper.caution), "Take care:")
    yield Sentence(paper.contested or "", "Contested:")
    yield listing(f"A success if: {criterion}" for criterion in criteria)
    texts_by_name = {
        document_facts.GOAL: paper.goal,
        "the claim": paper.hypothesis,
        "the caution": paper.caution,
        "the success criteria": " ".join(criteria),
        document_facts.SOURCE: document_facts.citation(paper),
    }
    yield document_facts.unstated_sentence(texts_by_name)


def _transcript(run: negotiation.Negotiation) -> Iterator[blocks.Block]:
    setup, outcome = run.setup, negotiation_facts.outcome_verdict(run)
    yield Sentence(outcome.text, status=outcome.status)
    players = (
        f"Scientist: {negotiation_facts.SCIENTISTS[setup.scientist].name}; "
        f"Lab Manager: {negotiation_facts.LAB_MANAGERS[setup.lab_manager].name}."
    )
    yield Sentence(players, quiet=True)
    yield rounds_table(run, len(run.rounds))
    for done in run.rounds:
        yield from said_blocks(done)


def said_blocks(done: negotiation.Round) -> Iterator[blocks.Block]:
    """Yield the full texts of both sides in a round."""
    number = done.number + 1
    questions = done.action.questions if done.action else []
    reason = done.reason or "A person chose this."
    yield Sentence(lexicon.lines_text([reason, *questions]), f"Round {number}, Scientist:")
    verdict, parts = negotiation_facts.answer_verdict(done), negotiation_facts.answer_parts(done)
    if verdict is None:
        return
    answer = parts.pop("Answer", [verdict.text])
    yield Sentence(lexicon.lines_text(answer), f"Round {number}, Lab Manager:")
    for title, lines in parts.items():
        yield Sentence(f"{title}:")
        yield listing(lines)
    if offer := negotiation_facts.offered_plan(done):
        yield Sentence(f"Offers {negotiation_facts.numbers_text(offer)}.")
    yield Sentence(negotiation_facts.offer_breaks_text(done))


def justification_table(plan: Assessment, reasons: Mapping[str, str]) -> blocks.Table:
    """Return each choice behind a sample size, with its reason if given."""
    rows = [
        row(name, value, why.strip() or lexicon.capitalised(NOT_GIVEN))
        for name, value, why in (*choices(plan), *_sizes(plan, reasons))
    ]
    return blocks.table("Each choice and its reason", ("Choice", "Value", "Reason"), rows)


def _sizes(plan: Assessment, reasons: Mapping[str, str]) -> Iterator[Choice]:
    evidence, kind, planned = plan.evidence, plan.evidence.row, plan.counts.samples
    why = reasons.get("sample_size") or f"{lexicon.capitalised(NOT_GIVEN)}."
    in_reference = plan.pack.reference_protocol.sample_size
    if planned != in_reference and "sample_size" not in reasons:
        text = lexicon.count_text(in_reference, plan.pack.design.sample_noun)
        why = f"The reference protocol has {text}; that change stands above."
    shared = plan_facts.groups_text(planned, plan.pack.design, per_group=True)
    parts = why, shared, plan_facts.dropout_text(plan), wasted_text(plan)
    yield "Planned sample", _samples(planned, plan), " ".join(filter(None, parts))
    largest, lean = planner.largest_sample(plan.plan, plan.pack), planner.leanest(plan)
    limits = "Budget, staff, throughput, population and the study’s bounds, all else as planned."
    yield "Largest sample possible", "none" if largest is None else _samples(largest, plan), limits
    if lean:
        fewest = _samples(lean.counts.samples, plan)
        yield "Fewest that meet the target", fewest, "All else as planned."
    if kind.sought:
        target = evidence.format(evidence.target)
        swapped = ", through the plan’s substitutions" if evidence.factor != 1 else ""
        effect = Cell(plan_facts.effect_text(plan.detectable_effect), plan.detectable_effect)
        text = f"At the target of {kind.measure} {target}{swapped}."
        yield lexicon.capitalised(kind.sought), effect, text
    for reply in features.ask("facts", plan):
        if reply.note:
            yield reply.feature.title, NOT_GIVEN, reply.note
        for fact in reply.value or ():
            yield fact.label, fact.shown, fact.note


def _samples(number: int, plan: Assessment) -> Cell:
    return Cell(lexicon.count_text(number, plan.pack.design.sample_noun), number)


def samples_table(plan: Assessment) -> blocks.Table:
    """Return the evidence and the cost of other sample sizes, all else as planned."""
    planned, lean, pack = plan.counts.samples, planner.leanest(plan), plan.pack
    named = {
        "planned": planned,
        "largest possible": planner.largest_sample(plan.plan, pack),
        "fewest that meet the target": lean.counts.samples if lean else None,
    }
    quarters = (min(LARGEST_PLANNED, -(-planned * quarter // 4)) for quarter in range(1, 9))
    sizes = sorted(filter(None, {*quarters, *named.values()}))
    sized = {n: assess(models.revise(plan.plan, sample_size=n), pack) for n in sizes}
    evidences, rows = [item.evidence for item in sized.values()], []
    for n, item in sized.items():
        notes = [name for name, size in named.items() if size == n]
        if item.evidence.usable < n:
            counting = plan_facts.counting_text(item)
            notes.append(f"{item.evidence.usable:,} at most analysed: {counting}")
        worth = check_facts.evidence_cell(item, item.evidence, evidences)
        rows.append(row(number_cell(n), worth, number_cell(item.cost), ", ".join(notes)))
    measure = plan.evidence.title
    names = ("Samples", measure, lexicon.capitalised(pack.lab.currency), "Note")
    return blocks.table(f"{measure} over the sample, all else as planned", names, rows)
