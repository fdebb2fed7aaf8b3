"""The brief and the funding request, one page each, and their parts shared with the report."""

import json
import shlex
from collections.abc import Iterator, Mapping
from datetime import date
from hashlib import sha256
from typing import Any, Final
from urllib.parse import quote

from replicalab import __version__, drafts, lexicon, models, negotiation, scenarios
from replicalab.answers import Registration
from replicalab.assessment import Assessment, assess, phrases
from replicalab.facts import blocks, change_facts, check_facts, plan_facts
from replicalab.facts.blocks import Block, Cell, Column, Document, Sentence, listing, part
from replicalab.facts.lab_facts import amounts_text, lab_text, own_values
from replicalab.facts.negotiation_facts import outcome_verdict
from replicalab.facts.verdicts import distinct, plan_size, plan_verdict, verdict_cell
from replicalab.planner import PlanAnalysis, change_steps
from replicalab.planner.shortfalls import Addition, additions_text

THIS: Final = "This plan"
LEAST: Final = "Least-loss plan"
OFFERED: Final = "Lab Manager's plan"
GOAL: Final = "the question"
SOURCE: Final = "the source"
SHARES: Final = (0.9, 0.75, 0.5, 0.25)  # of the money, for a table of the best plans
_WAYS: Final = 2  # ways to more evidence, of each kind; the report has all


def of_run(analysis: PlanAnalysis, run: negotiation.Negotiation | None) -> PlanAnalysis:
    """Return the analysis of a negotiation's final plan, or the given one if it has none."""
    final = run.final_plan if run else None
    return analysis if final is None or final.plan == analysis.yours.plan else PlanAnalysis(final)


def reference_of(plan: Assessment) -> Assessment:
    """Return the reference protocol in the lab of a plan; the plan itself if they are equal."""
    pack = plan.pack
    same = plan.plan == pack.reference_protocol
    return plan if same else assess(pack.reference_protocol, pack)


def verdict_sentences(plan: Assessment) -> Iterator[Sentence]:
    """Yield the verdict on a plan behind its sign, and its size and cost."""
    verdict = plan_verdict(plan)
    yield Sentence(verdict.text, status=verdict.status)
    yield Sentence(f"{lexicon.capitalised(plan_size(plan))}.")


def plans_of(analysis: PlanAnalysis, reference: Assessment) -> dict[str, Assessment]:
    """Return the different plans that a document compares, by name."""
    named = {THIS: analysis.yours, "Reference protocol": reference}
    return distinct({**named, OFFERED: analysis.offered, LEAST: analysis.least.after})


def difference_blocks(reference: Assessment, yours: Assessment) -> Iterator[Block]:
    """Yield a plan's changes of the reference protocol."""
    if reference is yours:
        yield Sentence("Nothing: the plan is the study’s reference protocol.")
    yield change_facts.changes_table(reference, yours)


def evidence_blocks(analysis: PlanAnalysis, compared: Mapping[str, Assessment]) -> Iterator[Block]:
    """Yield evidence and cost of the compared plans, with their cautions and assumptions."""
    yours = analysis.yours
    yield check_facts.plans_table(compared)
    others = (compared[name] for name in (OFFERED, LEAST) if name in compared)
    if any(plan.plan == analysis.least.plan for plan in others):
        yield Sentence(change_facts.no_gain_text(analysis), f"{LEAST}:")
    # A caution on the units of all plans alike is part of this plan's verdict.
    shared = compared[THIS].units_text
    for name, plan in compared.items():
        text = plan_facts.cautions_sentence(plan)
        if name != THIS and text and (not shared or plan.cautions_text != shared):
            yield Sentence(text, f"{name}:")
    yield Sentence(plan_facts.assumption_text(yours), quiet=True)
    yield Sentence(plan_facts.asked_text(yours.pack, None), "Asked here:")


def take_blocks(analysis: PlanAnalysis, most: int | None = None) -> Iterator[Block]:
    """Yield the additions that the lab needs, at most ``most`` sentences of each kind."""
    for title, ways in change_facts.needs_parts(analysis):
        number = len(ways[most:]) if most is not None else 0
        rest = [f"And {number} more, in the report."] if number else []
        if len(ways) == 1:
            yield Sentence(ways[0], f"{title}:" if title else "")
        else:
            yield Sentence(f"{title}:")
            yield listing([*ways[:most], *rest])


def lab_blocks(written: scenarios.Pack | None, pack: scenarios.Pack) -> Iterator[Block]:
    """Yield the amounts of the lab, and the visitor's own values."""
    yield Sentence(f"{amounts_text(pack.lab)}.")
    yield listing(f"{value.text}." for value in (own_values(written, pack) if written else ()))


def brief(
    analysis: PlanAnalysis,
    *,
    on: date,
    written: scenarios.Pack | None = None,
    run: negotiation.Negotiation | None = None,
    decision: str = "",
) -> Document:
    """Return one page about a plan in its lab."""
    yours = analysis.yours
    pack, paper, reference = yours.pack, yours.pack.paper, reference_of(yours)
    outcome = outcome_verdict(run) if run else None
    samples, design = yours.counts.samples, pack.design
    shared = plan_facts.groups_text(samples, design, per_group=True), plan_facts.dropout_text(yours)
    return Document(
        title=paper.name,
        about=f"Brief · {lab_text(pack)} · {day_text(on)}",
        parts=(
            part(
                "The question",
                Sentence(drafts.stated_text(paper.goal)),
                Sentence(citation(paper), quiet=True, link=doi_link(paper)),
                unstated_sentence({GOAL: paper.goal, SOURCE: citation(paper)}),
            ),
            part(
                "The verdict",
                *verdict_sentences(yours),
                Sentence(outcome.text, "The negotiation.", outcome.status) if outcome else None,
                Sentence(decision, "The decision."),
            ),
            part("Changes from the reference protocol", *difference_blocks(reference, yours)),
            part(
                "Evidence and cost",
                *evidence_blocks(analysis, plans_of(analysis, reference)),
                Sentence(" ".join(filter(None, shared)), quiet=True),
            ),
            part("What it would take", *take_blocks(analysis, _WAYS)),
            part("The lab", *lab_blocks(written, pack)),
        ),
        foot=origin_lines(yours),
        on=on,
        compact=True,
    )


def citation(paper: scenarios.Paper) -> str:
    """Return the citation of a paper and its DOI; empty if not given."""
    source = drafts.stated_text(paper.citation)
    return " ".join(filter(None, (source, paper.doi and f"doi:{paper.doi}")))


def unstated_sentence(answers: Mapping[str, str]) -> Sentence:
    """Return the names of the texts that a study leaves out."""
    rest = [name for name, text in answers.items() if not drafts.stated_text(text)]
    return Sentence(f"Not given: {lexicon.joined(rest)}." if rest else "")


def doi_link(paper: scenarios.Paper) -> str:
    """Return the address of a paper's DOI, empty without one."""
    return f"https://doi.org/{quote(paper.doi)}" if paper.doi else ""


DOCUMENT_FORMAT: Final = 1  # of the documents; it rises if an older one could be misread


def input_hash(plan: Assessment) -> str:
    """Return a fingerprint of study, lab and plan, which determine every number of a document."""
    pack = plan.pack
    inputs = pack.study, pack.lab, plan.plan
    records = [record.model_dump(mode="json", exclude_defaults=True) for record in inputs]
    return sha256(json.dumps(records, sort_keys=True).encode()).hexdigest()[:16]


def day_text(day: date) -> str:
    """Return a date without ambiguity: ``22 November 2026``."""
    return f"{day.day} {day:%B %Y}"


def origin_lines(plan: Assessment) -> tuple[str, ...]:
    """Return the versions and the inputs of a document."""
    pack = plan.pack
    return (
        f"ReplicaLab {__version__}, document format {DOCUMENT_FORMAT}.",
        f"Input hash {input_hash(plan)}: study {pack.scenario_id}, {pack.difficulty} lab, "
        f"seed {pack.seed}, plan, and own values of lab and evidence.",
    )


def command_line(
    name: str, study: str, pack: scenarios.Pack, plan: models.Protocol | None = None, *options: str
) -> str:
    """Return a command about a plan, by default the study's; ``options`` replace the lab's."""
    seed = ["--seed", str(pack.seed)] if pack.seed else []
    options = options or ("--lab", pack.difficulty.value)
    settings = _settings(changes_of(pack, plan))
    return shlex.join(["replicalab", name, study, *options, *seed, *settings])


def changes_of(pack: scenarios.Pack, plan: models.Protocol | None) -> dict[str, dict[str, Any]]:
    """Return the changes of lab, question and plan."""
    values = plan.model_dump(mode="json") if plan else {}
    study = pack.reference_protocol.model_dump(mode="json")
    return {
        "own_lab": pack.own_lab.model_dump(mode="json", exclude_defaults=True),
        "question": pack.question.model_dump(mode="json", exclude_defaults=True),
        "plan": {name: value for name, value in values.items() if value != study[name]},
    }


def _settings(tree: dict[str, Any], path: str = "") -> Iterator[str]:
    for name, value in tree.items():
        is_block = isinstance(value, dict) and name not in scenarios.QUESTION_RECORDS
        text = json.dumps(value, ensure_ascii=False)
        text = text if text.isprintable() else json.dumps(value)  # no hidden character
        setting = "--set", f"{path}{name}={text}"
        yield from _settings(value, f"{path}{name}.") if is_block else setting


def funding_request(
    analysis: PlanAnalysis, *, on: date, answers: Registration | None = None
) -> Document:
    """Return one page for a funder: the plan, the price of each cut, and that of the target."""
    yours = analysis.yours
    pack, lab = yours.pack, yours.pack.lab
    terms = [
        f"{pack.study.term(term.label)}: {plan_facts.term_text(term)} = "
        f"{lexicon.amount_text(term.credits)}"
        for term in yours.cost_terms
    ]
    cost = f"{'; '.join(terms)}. In all {lab.money(yours.cost)} of {lab.money(lab.budget)}."
    return Document(
        title=headline(analysis),
        about=f"Funding request · {pack.paper.name} · {lab_text(pack)} · {day_text(on)}",
        parts=(
            part(
                "The plan asked for",
                Sentence(drafts.stated_text(pack.paper.goal)),
                unstated_sentence({GOAL: pack.paper.goal}),
                *verdict_sentences(yours),
            ),
            part("Cost", Sentence(cost)),
            part("With the lab’s own means", *_cuts(analysis)),
            part("With less money", _less_table(analysis)),
            part("What it would take", *take_blocks(analysis, _WAYS)),
        ),
        foot=origin_lines(yours),
        compact=True,
        authors=answers.authors if answers else "",
        on=on,
    )


def headline(analysis: PlanAnalysis) -> str:
    """Return the request and its gain in at most twelve words."""
    yours, best = analysis.yours, analysis.least.after
    evidence, lab = yours.evidence, yours.pack.lab
    cheaper = _better_for_less(analysis)
    if _meets_target(yours):
        bought, end = (cheaper, ", adapted") if cheaper else (yours, ": target met")
        return f"{lexicon.capitalised(lab.money(bought.cost))} buy {bought.evidence.text}{end}."
    best = cheaper or best
    if _meets_target(best):
        return f"No more money needed: adapted, it shows {best.evidence.text}."
    is_shown = best.feasible and not best.evidence.void_reason
    now = best.evidence.number if is_shown else "nothing"
    for asks, after in _ways(analysis):
        is_short = len(asks) == 1 and asks[0].item is None
        means = additions_text(asks) if is_short else "the means below"
        return f"Give {means}: {after.evidence.text} instead of {now}."
    target = evidence.text_of(evidence.format(evidence.target))
    return f"The lab cannot reach the target of {target}."


def _meets_target(plan: Assessment) -> bool:
    return plan.feasible and plan.evidence.tier is scenarios.EvidenceTier.MEETS_TARGET


def _better_for_less(analysis: PlanAnalysis) -> Assessment | None:
    yours = analysis.yours
    named = yours if _meets_target(yours) else analysis.least.after
    after = _best_for(yours, _money(yours) * SHARES[0])
    scale = named.evidence.row.scale
    if not after or not named.feasible:
        return after
    reaches = scale.reaches(after.evidence.value, named.evidence.value)
    return after if reaches and after.evidence.text != named.evidence.text else None


def _best_for(yours: Assessment, money: float) -> Assessment | None:
    """Return the first plan in the order of plans for some money; None if it shows nothing."""
    lab = yours.pack.in_lab(yours.pack.lab.with_means(budget=money))
    after = PlanAnalysis(yours.in_lab(lab)).least.after
    return after if after.feasible and not after.evidence.void_reason else None


def _money(yours: Assessment) -> float:
    return min(yours.pack.lab.budget, yours.cost)


def _ways(analysis: PlanAnalysis) -> Iterator[tuple[tuple[Addition, ...], Assessment]]:
    for single in analysis.asks.alone_target:
        yield (single.ask,), single.least.after
    for relief in filter(None, (analysis.asks.target, analysis.asks.run)):
        is_enough = relief.asks and relief.possible
        if is_enough and relief.judged.evidence.tier is not scenarios.EvidenceTier.BELOW_FLOOR:
            yield relief.asks, relief.judged


def _cuts(analysis: PlanAnalysis) -> Iterator[Block]:
    yours, loss = analysis.yours, analysis.least
    yield Sentence(change_facts.search_text(analysis))
    if not loss.changes or loss.after.evidence.void_reason:
        if yours.feasible and not loss.changes:
            yield Sentence("No cut is needed: no plan for this lab gives up less.")
        reference = reference_of(yours)
        if reference is not yours:
            yield change_facts.changes_table(reference, yours)
        return
    rows = [_row("The plan asked for", "", yours, _lost_text(yours))]
    for step in change_steps(yours, loss.changes):
        extra = step.after.fidelity_loss - step.before.fidelity_loss
        lost = f"{extra} of fidelity" if extra else "", plan_facts.newly_broken_text(step)
        gives_up = ". ".join(filter(None, lost)) or "nothing more"
        saved = lexicon.amount_text(step.credits_saved or 0)
        rows.append(_row(change_facts.change_text(step).title, saved, step.after, gives_up))
    name = f"Changes that fit this lab, one after the other, {yours.pack.lab.currency}"
    yield blocks.table(name, _columns("Change", "Saves"), rows)


def _less_table(analysis: PlanAnalysis) -> Block:
    yours, lab, money = analysis.yours, analysis.yours.pack.lab, _money(analysis.yours)
    rows, seen = [], list[models.Protocol]()
    for share in SHARES:
        best = _best_for(yours, money * share)
        named = lexicon.percent_text(share)
        amount = lexicon.amount_text(money * share)
        if best is None:
            rows.append(blocks.row(named, amount, "no plan with evidence fits", "", "", ""))
            break
        if best.plan not in seen:
            seen.append(best.plan)
            rows.append(_row(named, amount, best, _lost_text(best)))
    limit = "the plan’s cost" if money == yours.cost else "the lab’s budget"
    name = f"The least-loss plans for less than {lab.money(money)}, {limit}"
    return blocks.table(name, _columns("Share", "At most"), rows)


def _columns(change: str, amount: str) -> tuple[Column, ...]:
    names = "The plan then", "Costs", "Evidence", "Gives up"
    return Column(change), Column(amount, "number"), *map(Column, names)


def _row(change: str, amount: str, plan: Assessment, gives_up: str) -> tuple[Cell, ...]:
    cost = blocks.number_cell(plan.cost)
    size = plan.size_text
    return blocks.row(change, amount, size, cost, verdict_cell(plan), gives_up)


def _lost_text(plan: Assessment) -> str:
    lost = f"{plan.fidelity_loss} of fidelity" if plan.fidelity_loss else ""
    wishes = phrases.wishes_text(plan, plan.broken_wishes)
    return "; ".join(filter(None, (lost, wishes))) or "nothing"
