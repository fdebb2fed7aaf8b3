"""A plan in its lab as blocks: verdict, dimensions, cost, evidence, and its arms and days."""

from collections.abc import Container, Mapping, Sequence
from itertools import accumulate
from typing import Final

from replicalab import assessment, lexicon
from replicalab.assessment import Assessment, Evidence
from replicalab.facts import blocks, plan_facts, verdicts
from replicalab.facts.blocks import Bar, Cell, Column, Fold, Group, Heading, Panel, Sentence, Status
from replicalab.facts.lab_facts import lab_text

BINDING: Final = "Binding constraint."
YOURS: Final = "Your plan"
CHOSEN: Final = "Selected changes"


def header_panel(plan: Assessment, *, yours: bool = True, quiet: bool = False) -> Panel:
    """Return study and lab, and a plan's verdict, which a ``quiet`` header leaves out."""
    pack, evidence = plan.pack, plan.evidence
    return blocks.panel(
        "header",
        study=pack.paper.name,
        lab=lab_text(pack),
        unit=plan_facts.sample_text(pack.design),
        asked=plan_facts.asked_text(pack),
        named=YOURS if yours else "Reference protocol",
        quiet=quiet,
        verdict=verdicts.plan_verdict(plan),
        failing=plan.fails_text if plan.failing else "",
        cost=cost_cell(plan).bar,
        credits=f"{lexicon.amount_text(plan.cost)} of {pack.lab.money(pack.lab.budget)}",
        over=plan.cost > pack.lab.budget,
        evidence=evidence_bar(evidence, [evidence]),
        evidence_status=verdicts.evidence_status(plan.evidence),
        worth=evidence.text,
        target=f"target {evidence.format(evidence.target)}",
        meaning=verdicts.terms_text(plan),
    )


def check_panel(
    plan: Assessment, binding: str | None = None, repaired: Container[str] = ()
) -> Group:
    """Return `check_table`, then notes."""
    notes = [Sentence(text, f"{kind}:") for kind, text in plan_facts.notes(plan)]
    return blocks.group(check_table(plan, binding, repaired), blocks.listing(notes))


def check_table(
    plan: Assessment, binding: str | None = None, repaired: Container[str] = ()
) -> blocks.Table:
    """Return used, limit and slack of each dimension, with the reasons of failures."""
    rows, below = [], []
    for dimension, slack in plan.slack.items():
        name, sign = lexicon.capitalised(plan.pack.study.term(dimension)), _sign(slack.ok)
        rows.append(
            (
                Cell(name, status=sign),
                Cell(
                    plan_facts.used_text(plan, slack), slack.used, bar=slack_bar(slack), shade=sign
                ),
                Cell(plan_facts.slack_text(slack), slack.slack),
            )
        )
        # A reason is given only if the numbers do not say it.
        in_numbers = slack.row.lab_limit or dimension not in plan.causes
        reasons = (
            () if in_numbers else (why for name, why in plan.reasons_once if name == dimension)
        )
        below.append([*([BINDING] if dimension == binding else []), *reasons])
    used = Column("Used", "fixed", bar="after", picture="Share of the limit")
    columns = ("Dimension", used, Column("Slack", "number"))
    places = [f"repair_{dimension}" if dimension in repaired else "" for dimension in plan.slack]
    return blocks.table("The check", columns, rows, below=below, kind="check", places=places)


def slack_bar(slack: assessment.Slack) -> Bar | None:
    """Return the used share of a limit, with its mark; None without a limit."""
    widest = max(slack.used, slack.limit)
    return Bar(slack.used / widest, slack.limit / widest) if slack.limit else None


def _sign(ok: bool) -> Status:
    return Status.PASS if ok else Status.FAIL


def cost_panel(plan: Assessment, after: Assessment | None = None) -> Group:
    """Return the cost term by term, and the parts of the staff."""
    staff = Sentence(f"Staff: {plan_facts.staff_text(plan)}.", quiet=True)
    return blocks.group(Heading("Cost", 2, part=True), cost_table(plan, after), staff)


def cost_table(plan: Assessment, after: Assessment | None = None) -> blocks.Table:
    """Return the terms of the cost as a waterfall, and the total of the plan and of ``after``."""
    budget, terms, money = plan.pack.lab.budget, plan.cost_terms, lexicon.amount_text
    totals = {"Total": plan}
    if after is not None and after.cost != plan.cost:
        totals[CHOSEN] = after
    widest = max(budget, *(total.cost for total in totals.values())) or 1.0
    mark, rows = budget / widest, list[tuple[str, str, Cell]]()
    for term, end in zip(terms, accumulate(term.credits for term in terms), strict=True):
        bar = Bar(end / widest, mark, begins=(end - term.credits) / widest)
        cell = Cell(money(term.credits), term.credits, bar=bar)
        rows.append((plan.pack.study.term(term.label), plan_facts.term_text(term), cell))
    for name, total in totals.items():
        bar, shade = Bar(total.cost / widest, mark), _sign(total.cost <= budget)
        cell = Cell(money(total.cost), total.cost, None, bar, shade)
        rows.append((name, f"of {money(budget)}", cell))
    currency = lexicon.capitalised(plan.pack.lab.currency)
    columns = (
        Column("Term", is_seen=False),
        Column("Units × rate", "quiet fixed", is_seen=False),
        Column(currency, "number", bar="before", picture="Share", is_seen=False),
    )
    return blocks.table("The cost, term by term", columns, rows, totals=len(totals))


def cost_cell(plan: Assessment) -> Cell:
    """Return the cost of a plan, with a sign for whether the budget covers it."""
    cost, budget = plan.cost, plan.pack.lab.budget
    widest = max(cost, budget) or 1.0
    bar = Bar(cost / widest, budget / widest)
    return Cell(lexicon.amount_text(cost), cost, _sign(cost <= budget), bar)


def evidence_panel(plans: Mapping[str, Assessment]) -> Group:
    """Return the evidence of plans on one scale with floor and target, and its basis."""
    yours = next(iter(plans.values()))
    first, void = yours.evidence, yours.evidence.void_reason
    rows, others = [], [plan.evidence for plan in plans.values()]
    for name, plan in plans.items():
        (status, tier), evidence = verdicts.status_and_tier(plan), plan.evidence
        bar, shade = evidence_bar(evidence, others, first), verdicts.evidence_status(evidence)
        on_scale = Cell(evidence.number, verdicts.value_of(evidence), None, bar, shade)
        rows.append((name, on_scale, Cell(tier, status=status)))
    columns = (
        Column("Plan", is_seen=False),
        Column("Evidence", "number", bar="before", picture="On the scale", is_seen=False),
        Column("Tier", is_seen=False),
    )
    basis = (
        f"{plan_facts.assumption_text(yours)} {plan_facts.source_text(yours.pack.design)}".strip()
    )
    return blocks.group(
        Heading(_bounds_title(first), 2, part=True, meaning=verdicts.terms_text(yours)),
        Sentence("", f"No evidence: {void}.", Status.FAIL) if void else None,
        None if void else Sentence(plan_facts.dropout_text(yours)),
        blocks.table("Evidence of the plans", columns, rows),
        Fold("Basis", (Sentence(basis), _basis_table(plans))),
    )


def _bounds_title(evidence: Evidence) -> str:
    return f"{evidence.title}: {plan_facts.bounds_text(evidence)}"


def _basis_table(plans: Mapping[str, Assessment]) -> blocks.Table:
    judged, rows = list(plans.values()), list[tuple[str, ...]]()
    if any(plan.evidence.analysed < plan.counts.samples for plan in judged):
        sizes = [f"{plan.evidence.analysed:,} of {plan.counts.samples:,}" for plan in judged]
        rows.append(("Samples analysed, of those planned", *sizes))
    if sought := judged[0].evidence.row.sought:
        detected = [plan_facts.effect_text(plan.detectable_effect) for plan in judged]
        rows.append((lexicon.capitalised(sought), *detected))
    columns = (Column("What", is_seen=False), *(Column(name, "number") for name in plans))
    return blocks.table("Basis of the evidence", columns, rows)


def evidence_bar(
    evidence: Evidence, others: Sequence[Evidence], before: Evidence | None = None
) -> Bar:
    """Return an evidence on one scale with others; better evidence is always longer."""
    worst, best = assessment.scale_of(others)

    def share(value: float) -> float:
        return (value - worst) / (best - worst)

    return Bar(
        share(assessment.place_of(evidence, worst)),
        limit=share(evidence.target),
        floor=share(evidence.floor),
        before=share(assessment.place_of(before, worst)) if before else None,
    )


def evidence_cell(plan: Assessment, evidence: Evidence, others: Sequence[Evidence]) -> Cell:
    """Return an evidence of a plan with the plan's sign, on one scale with others."""
    status, text = verdicts.marked(plan, evidence, evidence.number)
    return Cell(text, verdicts.value_of(evidence), status, evidence_bar(evidence, others))


def plans_table(plans: Mapping[str, Assessment]) -> blocks.Table:
    """Return size, evidence, cost and fidelity loss of plans; the caption has the bounds."""
    judged, rows = [plan.evidence for plan in plans.values()], []
    lab = next(iter(plans.values())).pack.lab
    for name, plan in plans.items():
        rows.append(
            (
                name,
                blocks.number_cell(plan.counts.samples),
                blocks.number_cell(plan.counts.days),
                evidence_cell(plan, plan.evidence, judged)._replace(note=plan.cautions_title),
                cost_cell(plan),
                Cell(str(plan.fidelity_loss), plan.fidelity_loss),
            )
        )
    currency = lexicon.capitalised(lab.currency)
    names = ("Plan", "Samples", "Days", judged[0].title, currency, "Fidelity loss")
    return blocks.table(f"{_bounds_title(judged[0])}; budget: {lab.money(lab.budget)}", names, rows)


def effects_panel(
    effects: Sequence[assessment.AssumedEffect], plans: Mapping[str, Assessment]
) -> Group:
    """Return `effects_table` between a title and the bounds."""
    evidence = next(iter(plans.values())).evidence
    title = f"{evidence.title}, if the effect is not what was assumed"
    floor, target = map(evidence.format, (evidence.floor, evidence.target))
    bounds = Sentence(f"Dotted mark: floor {floor}. Solid mark: target {target}.", quiet=True)
    return blocks.group(Heading(title, 2, part=True), effects_table(effects, plans), bounds)


def effects_table(
    effects: Sequence[assessment.AssumedEffect], plans: Mapping[str, Assessment]
) -> blocks.Table:
    """Return the evidence of each plan at each effect, all on one scale."""
    judged = [[plan.evidence_at(effect.effect) for plan in plans.values()] for effect in effects]
    others = [evidence for row in judged for evidence in row]
    rows = []
    for effect, evidences in zip(effects, judged, strict=True):
        pairs = zip(plans.values(), evidences, strict=True)
        cells = (evidence_cell(plan, evidence, others) for plan, evidence in pairs)
        rows.append(blocks.row(plan_facts.effect_label(effect), *cells))
    named = (Column(lexicon.capitalised(name), "number", bar="after") for name in plans)
    columns = (Column("Effect assumed"), *named)
    return blocks.table("Evidence of the plans at each effect", columns, rows, kind="effects")


def design_table(plan: Assessment) -> blocks.Table:
    """Return the arms of a design with their samples and units."""
    design, samples, units = plan.pack.design, plan.counts.samples, plan.pack.design.units
    groups = plan.evidence.row.groups_of(design)
    sizes = [int(size) for size in assessment.samples_in_arms(samples, design)]
    numbers = [int(number) for number in assessment.units_in_arms(samples, design)]
    names = ["First arm", "Second arm"] if len(sizes) > 1 else ["One group"]
    if groups > len(sizes):  # samples left over belong to no group
        names, sizes, numbers = [f"Each of {groups}"], [samples // groups], [numbers[0] // groups]
    rows = []
    for name, size, number in zip(names, sizes, numbers, strict=True):
        counted = lexicon.count_text(number, units.name) if units else ""
        text = f"{size:,} in {counted} of {units.samples:g}" if units else f"{size:,}"
        rows.append((name, Cell(text, size, bar=Bar(size / (max(sizes) or 1)))))
    column = Column("Samples", bar="after", picture="Share of the largest group")
    return blocks.table(f"The design: {plan.samples_text}", ("Group", column), rows)
