"""Panels of the open study: its story in the lab, the paper, the lab and the rules."""

from collections.abc import Iterator, Mapping
from typing import Final

from replicalab import assessment, lexicon, negotiation, planner, scenarios
from replicalab.assessment import effects
from replicalab.designs import KINDS, PARAMETERS, Kind, Unknown
from replicalab.drafts import stated_text
from replicalab.facts import blocks, plan_facts, verdicts
from replicalab.facts.blocks import Cell, Column, Fold, Group, Panel, Sentence, Status
from replicalab.facts.check_facts import evidence_bar
from replicalab.facts.curve_facts import CONFIDENCE, reported_text, source_text
from replicalab.facts.lab_facts import item_row, lab_text

Choice = tuple[str, Cell | str, str]  # name, value and reason

# The number of a question that replaces a field of a design.
_NUMBERS: Final = {
    **{field: number for number, field in scenarios.QUESTION_FIELDS.items()},
    **{name: name for name in scenarios.QUESTION_RECORDS},
}
_ASKED: Final = "Asked here in place of the study’s number."


def story_panel(reference: planner.PlanAnalysis) -> Group:
    """Return the goal of the study, and the Lab Manager's answer to its reference protocol."""
    paper, story = reference.yours.pack.paper, verdicts.offer_story(reference)
    return blocks.group(
        Sentence(stated_text(paper.goal), lexicon.ended(paper.title)),
        Sentence(story.text, status=story.status),
        Sentence(verdicts.terms_text(reference.yours), quiet=True),
    )


def paper_panel(pack: scenarios.Pack) -> Panel:
    """Return the paper: citation, claim, cautions, and every fact with its source."""
    paper = pack.paper
    about = {
        "Hypothesis": paper.hypothesis,
        "Method": paper.method,
        "Key finding": paper.key_finding,
        "Published n and effect": paper.published,
        "Take care": paper.caution,
    }
    return blocks.panel(
        "paper",
        paper=paper,
        citation=stated_text(paper.citation),
        about=[(name, text) for name, text in about.items() if stated_text(text)],
        facts=[(fact, CONFIDENCE[fact.confidence]) for fact in paper.facts],
    )


def design_panel(plan: assessment.Assessment) -> Fold:
    """Return the numbers behind the planned evidence of the reference protocol, with reasons."""
    design = plan.pack.design
    columns = ("Number", Column("Value"), Column("Why", "why"))
    original = design.original
    reported = original and f"{reported_text(design, original)} {source_text(original)}"
    parts = blocks.group(
        Sentence(stated_text(design.source)),
        Sentence(reported or ""),
        blocks.table("Numbers of the power analysis", columns, choices(plan)),
    )
    return Fold("Basis of the planned evidence", parts.blocks)


def choices(plan: assessment.Assessment) -> Iterator[Choice]:
    """Yield the choices behind planned evidence, in the order of common preregistration forms."""
    pack, kind = plan.pack, plan.evidence.row
    design = pack.design
    counted = f"{lexicon.capitalised(kind.title)}; n counts {design.unit_of_n}"
    method = stated_text(pack.paper.method)
    yield "Design", counted, f"Published: {method}" if method else ""
    test = f"{lexicon.capitalised(kind.method_of(design))}. {plan_facts.source_text(design)}"
    yield "Test and method", test.strip(), f"Planned {kind.measure}: {kind.meaning}."
    if kind.effect is not None:
        name = kind.effect.name
        yield f"Published {name}", _number(effects.published_effect(design)), design.source
        yield f"Assumed {name}", _number(design.effect_planning), _why(pack, "effect_planning")
        yield f"Smallest {name} of interest", _number(design.sesoi), _why(pack, "sesoi")
    for name in kind.numbers:
        value = getattr(design, name)
        if value != PARAMETERS[name].usual or name in kind.needs:
            yield kind.label(name, design.sides), _number(value), _why(pack, name)
    for name, bound in (("target", design.target), ("floor", design.floor)):
        title = f"{lexicon.capitalised(name)} of {kind.measure}"
        yield title, Cell(plan.evidence.format(bound), bound), _why(pack, name)
    for name, (title, text) in plan_facts.groupings(design).items():
        basis = plan_facts.basis_text(plan) if name == "units" else ""
        yield title, f"{text}. {basis}".strip(), _why(pack, name)
    dropout = Cell(lexicon.percent_text(design.dropout), design.dropout)
    yield "Dropout", dropout, _why(pack, "dropout")
    if rate := pack.samples_per_day:
        yield "Samples a day, at most", _number(rate.value), rate.why
    yield "Fewest days", _number(pack.min_days), "Fewer days show nothing."


def _why(pack: scenarios.Pack, field: str) -> str:
    number = _NUMBERS.get(field)
    if number not in pack.question.asked:
        return pack.design.why.get(field, "")
    reasons = {str(name): reason for name, reason in pack.question.why.items()}
    return f"{reasons.get(number, lexicon.capitalised(blocks.NOT_GIVEN) + '.')} {_ASKED}"


def _number(value: float | None) -> Cell:
    return Cell("none" if value is None else lexicon.exact_text(value), value)


def lab_panel(reference: assessment.Assessment) -> Panel:
    """Return the lab: budget, days, staff, and the state of each item."""
    pack, lab = reference.pack, reference.pack.lab
    items = [
        (item.label, *item_row(pack, pack, item.label, item.category))
        for item in pack.resources
        if item.category is not scenarios.ResourceCategory.PERSONNEL
    ]
    shared = [row for row in scenarios.AMOUNTS.values() if row.is_shared]
    means = {row.label_in(lab.currency): lexicon.amount_text(row.of(lab)) for row in shared}
    means["Days"] = lab.left_text or f"{means['Days']}{lab.dated(lab.days, 'to')}"
    means["Shortest useful plan, days"] = lexicon.amount_text(pack.min_days)
    return blocks.panel(
        "lab",
        means=means,
        staff=plan_facts.staff_text(reference),
        start_day=lab.start_day,
        dated=lab.dated(lab.start_day),
        items=items,
    )


def substitutions_panel(pack: scenarios.Pack) -> Panel:
    """Return the allowed substitutions, their conditions and their losses."""
    effect = KINDS[pack.design.kind].effect
    return blocks.panel("substitutions", swaps=pack.allowed_substitutions, effect=effect)


def rules_panel(pack: scenarios.Pack) -> Panel:
    """Return restrictions, success criteria, constraints and controls, and which are missing."""
    constraints = []
    for item in pack.constraints:
        is_checked = item.bounds is not None or item.key in scenarios.LAB_CONSTRAINTS
        force = f"{'must' if item.hard else 'should'} hold{'' if is_checked else ', not checked'}"
        constraints.append((item.label, item.bound_text, force, item.details))
    criteria = [*filter(None, map(stated_text, pack.success_criteria))]
    parts = {
        "restrictions": pack.policy_rules,
        "success criteria": criteria,
        "constraints": constraints,
        "controls": pack.controls,
    }
    lacking = lexicon.joined([name for name, rows in parts.items() if not rows], "or")
    return blocks.panel("rules", parts=parts, lacking=lacking)


def field_name(domain_id: str) -> str:
    """Return the name of a field of research."""
    return "Finance" if domain_id == "finance_trading" else domain_id.replace("_", " ").capitalize()


def picture_panel(analysis: planner.PlanAnalysis) -> Panel:
    """Return a story as bars: its plan, the Lab Manager's offer and the least-loss plan."""
    yours, rows = analysis.yours, []
    plans = {"Asked": yours, "Offered": analysis.offered, "Least loss": analysis.least.after}
    shown = verdicts.distinct(plans)
    evidence = [plan.evidence for plan in shown.values()]
    for name, plan in shown.items():
        rows.append(
            {
                "name": name,
                "size": lexicon.count_text(plan.counts.samples, plan.pack.design.sample_noun),
                "bar": evidence_bar(plan.evidence, evidence, yours.evidence),
                "status": verdicts.evidence_status(plan.evidence),
                "number": plan.evidence.number,
            }
        )
    about = f"{yours.pack.paper.name} · {lab_text(yours.pack)}: {yours.evidence.measure}"
    return blocks.panel("story", about=about, rows=rows)


def card_panel(
    about: scenarios.ScenarioSummary,
    labs: Mapping[str, planner.PlanAnalysis],
    origin: str = "",
    *,
    hidden: bool = False,
) -> Panel:
    """Return a study at a glance: its field, its lesson, and the best plan of each lab."""
    marks = [field_name(about.domain_id), "contested" if about.paper.contested else "", origin]
    return blocks.panel(
        "card",
        field=" · ".join(filter(None, marks)),
        teaches="" if hidden else about.paper.teaches,
        labs=[_lab_row(name, lab) for name, lab in labs.items()],
    )


def _lab_row(name: str, lab: planner.PlanAnalysis) -> dict[str, object]:
    yours, best = lab.yours, lab.least.after
    fails = yours.fails_text if yours.failing else verdicts.ALL_PASS
    answer = verdicts.ANSWERS[lab.answer]
    status, text, number = Status.FAIL, "none", ""
    bar = evidence_bar(best.evidence, [best.evidence, yours.evidence], yours.evidence)
    if negotiation.is_worth_running(best):
        status, number = verdicts.evidence_status(best.evidence), best.evidence.number
        text = "fits" if best.plan == yours.plan else "cut"
    return {
        "name": name,
        "answer": f"{fails}; the Lab Manager {answer.title.lower()}",
        "bar": bar if best.feasible else bar._replace(to=0.0),
        "status": status,
        "text": text,
        "number": number,
    }


def kind_panel(kind: str) -> Panel:
    """Return a kind of design: its sketch and its question."""
    return blocks.panel("kind", shapes=KINDS[kind].sketch, asks=KINDS[kind].asks)


def unknown_name(row: Kind, unknown: Unknown) -> str:
    """Return the name of a number of a power analysis: ``power``."""
    effect = row.effect.name if row.effect else ""
    named = {Unknown.EFFECT: effect, Unknown.EVIDENCE: row.measure, Unknown.SAMPLES: "samples"}
    return named.get(unknown, unknown.value)


def worked_out_panel(plan: assessment.Assessment, unknown: Unknown) -> Group:
    """Return the solved number of a power analysis, and the analysis with it."""
    evidence, design = plan.evidence, plan.pack.design
    values = {
        Unknown.EFFECT: plan_facts.effect_text(design.effect_planning),
        Unknown.ALPHA: f"{design.alpha or 0:.4g}",
        Unknown.EVIDENCE: evidence.number,
        Unknown.SAMPLES: lexicon.amount_text(plan.counts.samples),
        Unknown.DROPOUT: lexicon.percent_text(design.dropout),
    }
    level = f", {evidence.row.level_of(1)}" if design.sides == 1 else ""
    alpha = f"Alpha {design.alpha:.4g}{level}." if evidence.row.uses("alpha") else ""
    parts = verdicts.evidence_sentence(evidence), plan_facts.assumption_text(plan), alpha
    return blocks.sentences_panel(
        [" ".join(filter(None, parts)), plan_facts.dropout_text(plan), stated_text(design.source)],
        title=f"{lexicon.capitalised(unknown_name(evidence.row, unknown))}: {values[unknown]}",
        level=4,
    )
