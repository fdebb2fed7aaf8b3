"""A plan in its lab as blocks: its verdict, the seven dimensions, its evidence and its cost."""

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

from replicalab import assessment
from replicalab.assessment.phrases import failing_text, last_day_text
from replicalab.facts import blocks, verdicts
from replicalab.facts import plan as texts
from replicalab.facts.blocks import Bar, Cell, Column, Fold, Group, Heading, Panel, Sentence, Status
from replicalab.facts.lab import lab_text
from replicalab.facts.original import takes_text
from replicalab.lexicon import amount_text, capitalised, plural
from replicalab.models import Dimension
from replicalab.scenarios import Study

BINDING: Final = "Binding constraint."
YOURS: Final = "Your plan"


def header_panel(plan: assessment.Assessment, *, yours: bool = True, quiet: bool = False) -> Panel:
    """Return where we are: study and lab, the plan's verdict, its credits and its evidence.

    Args:
        plan: the plan.
        yours: whether it is the visitor's own, and not the study's reference protocol.
        quiet: whether it judges nothing.
    """
    pack, evidence = plan.pack, plan.evidence
    return blocks.panel(
        "header",
        study=pack.paper.name,
        lab=lab_text(pack),
        unit=texts.sample_text(pack.design),
        asked=texts.asked_text(pack),
        named=YOURS if yours else "Reference protocol",
        quiet=quiet,
        verdict=verdicts.plan_verdict(plan),
        failing=failing_text(plan) if plan.failing else "",
        cost=cost_bar(plan),
        credits=f"{amount_text(plan.cost)} of {pack.lab.money(pack.lab.budget)}",
        over=plan.cost > pack.lab.budget,
        evidence=evidence_bar(evidence, [evidence]),
        evidence_status=verdicts.evidence_status(plan.evidence),
        worth=evidence.text,
        target=f"target {evidence.amount(evidence.target)}",
        meaning=verdicts.terms_text(plan),
    )


# --- the seven dimensions -------------------------------------------------------------------


def check_panel(
    plan: assessment.Assessment, binding: str | None = None, mended: Container[str] = ()
) -> Group:
    """Return the seven dimensions, used of the limit and why one fails; then what else to know.

    A page lays a button over the place of each dimension that can be mended.
    """
    study = plan.pack.study
    rows = [
        (
            Cell(capitalised(study.term(dimension)), status=_sign(slack.ok)),
            Cell(texts.used_text(plan, slack), bar=slack_bar(slack), shade=_sign(slack.ok)),
            Cell(texts.slack_text(slack), slack.slack),
        )
        for dimension, slack in plan.slack.items()
    ]
    used = Column("Used", "fixed", bar="after", picture="Share of the limit")
    columns = ("Dimension", used, Column("Slack", "number"))
    notes = [Sentence(text, f"{kind}:") for kind, text in texts.notes(plan)]
    below: list[list[str]] = []
    for slack in plan.slack.values():
        # A reason is given only where the numbers do not say it.
        in_numbers = slack.row.is_amount or slack.dimension not in plan.causes
        reasons = [] if in_numbers else plan.reasons_once
        bound = [BINDING] if slack.dimension == binding else []
        below.append(bound + [text for failing, text in reasons if failing == slack.dimension])
    places = [mend_place(study, item) if item in mended else "" for item in plan.slack]
    caption = "The seven dimensions"
    return blocks.group(
        blocks.table(caption, columns, rows, below=below, kind="check", places=places),
        blocks.listing(notes),
    )


def mend_place(study: Study, dimension: str) -> str:
    """Return the name of the place of the button that mends a dimension."""
    return f"mend_{study.term(dimension).split()[0]}"


def slack_table(plan: assessment.Assessment) -> blocks.Table:
    """Return the seven dimensions with used and limit apart, as a spreadsheet takes them."""
    reasons, term = plan.reasons_once, plan.pack.study.term
    rows = [
        (
            Cell(capitalised(term(dimension)), status=_sign(slack.ok)),
            *_amounts(plan, slack),
            " ".join(reason for failing, reason in reasons if failing == dimension),
        )
        for dimension, slack in plan.slack.items()
    ]
    names = ("Dimension", "Used", "Limit", "Slack", "Why it fails")
    return blocks.table("The seven dimensions", names, rows)


def _amounts(plan: assessment.Assessment, slack: assessment.Slack) -> tuple[Cell, Cell, Cell]:
    """Return what is used, the limit, and what is left; words alone where nothing can be left."""
    text, bar = texts.slack_text(slack), slack_bar(slack)
    if not text:
        return Cell(texts.used_text(plan, slack), bar=bar), Cell(), Cell()
    unit = "free" if slack.row.category else plural(slack.row.noun, slack.limit)
    limit = f"{amount_text(slack.limit)} {unit}"
    if slack.row.currency:
        limit = plan.pack.lab.money(slack.limit)
    last = last_day_text(plan) if slack.dimension is Dimension.SCHEDULE else ""
    return (
        Cell(f"{amount_text(slack.used)}{last}", slack.used, bar=bar),
        Cell(limit, slack.limit),
        Cell(text, slack.slack),
    )


def slack_bar(slack: assessment.Slack) -> Bar | None:
    """Return what is used of a limit, with its mark; None where there is none to use."""
    widest = max(slack.used, slack.limit)
    return Bar(slack.used / widest, slack.limit / widest) if slack.limit else None


def _sign(ok: bool) -> Status:
    return Status.PASS if ok else Status.FAIL


# --- cost -----------------------------------------------------------------------------------


def cost_panel(plan: assessment.Assessment, after: assessment.Assessment | None = None) -> Group:
    """Return the cost term by term, and how the staff is counted."""
    staff = Sentence(f"Staff: {texts.staff_text(plan)}.", quiet=True)
    return blocks.group(Heading("Cost", 2, part=True), cost_table(plan, after, signed=False), staff)


def cost_table(
    plan: assessment.Assessment, after: assessment.Assessment | None = None, *, signed: bool = True
) -> blocks.Table:
    """Return the terms of the cost, each where the one before ends, and totals of the budget."""
    budget, terms = plan.pack.lab.budget, plan.cost_terms
    totals = {"Total": plan}
    if after is not None and after.cost != plan.cost:
        totals["As ticked"] = after
    widest = max(budget, *(total.cost for total in totals.values())) or 1.0
    ends = accumulate(term.credits for term in terms)
    mark = budget / widest
    rows = [
        (
            plan.pack.study.term(term.label),
            texts.term_text(term),
            Cell(
                amount_text(term.credits),
                term.credits,
                bar=Bar(end / widest, mark, begins=(end - term.credits) / widest),
            ),
        )
        for term, end in zip(terms, ends, strict=True)
    ]
    rows += [
        (
            name,
            f"of {amount_text(budget)}",
            Cell(
                amount_text(total.cost),
                total.cost,
                _within(total) if signed else None,
                Bar(total.cost / widest, mark),
                _within(total),
            ),
        )
        for name, total in totals.items()
    ]
    columns = (
        Column("Term", is_seen=False),
        Column("Units × rate", "quiet fixed", is_seen=False),
        Column(
            capitalised(plan.pack.lab.currency),
            "number",
            bar="before",
            picture="Share",
            is_seen=False,
        ),
    )
    return blocks.table("The cost, term by term", columns, rows, totals=len(totals))


def cost_bar(plan: assessment.Assessment) -> Bar:
    """Return what a plan costs, with the mark of the budget."""
    budget = plan.pack.lab.budget
    widest = max(plan.cost, budget) or 1.0
    return Bar(plan.cost / widest, budget / widest)


def cost_cell(plan: assessment.Assessment) -> Cell:
    """Return what a plan costs, with a sign for whether the budget covers it."""
    return Cell(amount_text(plan.cost), plan.cost, _within(plan), cost_bar(plan))


def _within(plan: assessment.Assessment) -> Status:
    return _sign(plan.cost <= plan.pack.lab.budget)


# --- evidence -------------------------------------------------------------------------------


def evidence_panel(plans: Mapping[str, assessment.Assessment], *, at_effects: bool = True) -> Group:
    """Return what each plan's sample is worth, on one scale with floor and target.

    Args:
        plans: by name, your own first; all of one study.
        at_effects: whether it says so at each other effect worth assuming too.
    """
    yours = next(iter(plans.values()))
    first, void = yours.evidence, yours.evidence.void_reason
    rows, others = [], [plan.evidence for plan in plans.values()]
    for name, plan in plans.items():
        status, stands = verdicts.standing(plan)
        rows.append((name, _on_scale(plan.evidence, others, first), Cell(stands, status=status)))
    columns = (
        Column("Plan", is_seen=False),
        Column("Evidence", "number", bar="before", picture="On the scale", is_seen=False),
        Column("Where it stands", is_seen=False),
    )
    return blocks.group(
        Heading(bounds_title(first), 2, part=True, meaning=verdicts.terms_text(yours)),
        Sentence("", f"No evidence: {void}.", Status.FAIL) if void else None,
        None if void else Sentence(texts.dropout_text(yours)),
        blocks.table("What the plans are worth", columns, rows),
        Fold(
            "Basis",
            (
                Sentence(
                    f"{texts.assumption_text(yours)} {texts.source_text(yours.pack.design)}".strip()
                ),
                *_assumed(plans, at_effects=at_effects),
            ),
        ),
    )


def _on_scale(
    evidence: assessment.Evidence,
    others: Sequence[assessment.Evidence],
    before: assessment.Evidence,
) -> Cell:
    bar, shade = evidence_bar(evidence, others, before), verdicts.evidence_status(evidence)
    return Cell(evidence.number, _value(evidence), None, bar, shade)


def bounds_title(evidence: assessment.Evidence) -> str:
    """Return what is measured, with its bounds: ``Power: floor 0.50, target 0.80``."""
    floor, target = evidence.amount(evidence.floor), evidence.amount(evidence.target)
    return f"{evidence.title}: floor {floor}, target {target}"


def _assumed(plans: Mapping[str, assessment.Assessment], *, at_effects: bool) -> list[blocks.Table]:
    """Return what the plans' evidence is worked out from, and what they detect."""
    judged = list(plans.values())
    rows: list[tuple[str, ...]] = []
    if any(plan.evidence.analysed < plan.counts.samples for plan in judged):
        sizes = [f"{plan.evidence.analysed:,} of {plan.counts.samples:,}" for plan in judged]
        rows.append(("Samples analysed, of those planned", *sizes))
    if sought := judged[0].evidence.row.sought:
        detected = [texts.effect_text(plan.detectable_effect) for plan in judged]
        rows.append((capitalised(sought), *detected))
    if at_effects:
        rows += _at_effects(judged)
    columns = (Column("What", is_seen=False), *(Column(name, "number") for name in plans))
    return [blocks.table("What it is worked out from", columns, rows)] if rows else []


def _at_effects(plans: Sequence[assessment.Assessment]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each other effect worth assuming: its size, what it takes, the evidence."""
    effects = assessment.assumed_effects(plans[0].pack.design)
    for effect, *at_effect in zip(effects, *map(texts.assumed_rows, plans), strict=True):
        label, size, _ = at_effect[0]
        text = "; ".join(filter(None, (size, takes_text(plans[0], effect.effect))))
        numbers = [evidence.number for *_, evidence in at_effect]
        yield (f"At the effect {label} ({text})", *numbers)


def evidence_bar(
    evidence: assessment.Evidence,
    others: Sequence[assessment.Evidence],
    before: assessment.Evidence | None = None,
) -> Bar:
    """Return an evidence on one scale with others; a better one is always longer.

    What it lost since ``before`` is seen behind it.
    """
    worst, best = assessment.scale_of(others)

    def share(at: float) -> float:
        return (at - worst) / (best - worst)

    return Bar(
        share(assessment.place_of(evidence, worst)),
        limit=share(evidence.target),
        floor=share(evidence.floor),
        before=share(assessment.place_of(before, worst)) if before else None,
    )


def evidence_cell(plan: assessment.Assessment, others: Sequence[assessment.Evidence]) -> Cell:
    """Return a plan's evidence with the plan's sign, on one scale with others."""
    evidence = plan.evidence
    status, text = verdicts.marked(plan, evidence, evidence.number)
    return Cell(text, _value(evidence), status, evidence_bar(evidence, others))


def _value(evidence: assessment.Evidence) -> float | None:
    return None if evidence.void_reason else evidence.value


def plans_table(plans: Mapping[str, assessment.Assessment]) -> blocks.Table:
    """Return what each plan is worth and costs, with floor, target and budget in the caption."""
    judged = [plan.evidence for plan in plans.values()]
    lab = next(iter(plans.values())).pack.lab
    rows = [
        (
            name,
            blocks.number_cell(plan.counts.samples),
            blocks.number_cell(plan.counts.days),
            evidence_cell(plan, judged)._replace(note=assessment.cautions_title(plan)),
            cost_cell(plan),
            Cell(str(plan.fidelity_loss), plan.fidelity_loss),
        )
        for name, plan in plans.items()
    ]
    names = ("Plan", "Samples", "Days", judged[0].title, capitalised(lab.currency), "Fidelity loss")
    return blocks.table(f"{bounds_title(judged[0])}; budget: {lab.money(lab.budget)}", names, rows)


# --- by the effect --------------------------------------------------------------------------


def effects_panel(
    effects: Sequence[assessment.AssumedEffect], plans: Mapping[str, assessment.Assessment]
) -> Group:
    """Return what each plan's sample is worth at each effect, all on one scale."""
    judged = [[plan.evidence_at(item.effect) for plan in plans.values()] for item in effects]
    others = [evidence for row in judged for evidence in row]
    rows = [
        (
            Cell(
                texts.effect_label(effect),
                note=takes_text(next(iter(plans.values())), effect.effect),
            ),
            *(
                Cell(
                    evidence.number,
                    _value(evidence),
                    verdicts.evidence_status(evidence),
                    evidence_bar(evidence, others),
                )
                for evidence in row
            ),
        )
        for effect, row in zip(effects, judged, strict=True)
    ]
    named = (Column(capitalised(name), "number", bar="after") for name in plans)
    columns = (Column("Effect assumed"), *named)
    title = f"{others[0].title}, if the effect is not what was assumed"
    return blocks.group(
        Heading(title, 2, part=True),
        blocks.table("What the plans are worth for each effect", columns, rows, kind="effects"),
        Sentence(texts.bounds_text(others[0]), quiet=True),
    )


def effects_table(plan: assessment.Assessment) -> blocks.Table:
    """Return what a plan is worth if the effect is not what was assumed, with the plan's signs."""
    design, rows = plan.pack.design, []
    planned = abs(design.effect_planning or 0.0)
    for label, effect in assessment.assumed_effects(design):
        if math.isclose(effect, planned):
            continue
        evidence = plan.evidence_at(effect)
        status, text = verdicts.marked(plan, evidence, evidence.number)
        size = Cell(texts.effect_text(effect), effect)
        rows.append((label, size, Cell(text, evidence.value, status)))
    names = ("Effect", "Size", "Evidence")
    return blocks.table("If the effect is not what was assumed", names, rows)
