"""The open study: what happens in its lab, the paper and its sources, the lab, and the rules."""

from collections.abc import Mapping
from typing import Final

from replicalab import lexicon, scenarios
from replicalab.assessment import Assessment
from replicalab.assessment.phrases import left_text
from replicalab.designs import KINDS, Kind, Unknown
from replicalab.designs.originals import effect_of
from replicalab.drafts import stated
from replicalab.facts import blocks, verdicts
from replicalab.facts.blocks import Column, Fold, Group, Panel, Sentence, Status, sentences_panel
from replicalab.facts.check import evidence_bar
from replicalab.facts.original import CONFIDENCE, reported_text, source_text
from replicalab.facts.plan import assumption_text, dropout_text, effect_text, staff_text, unit_noun
from replicalab.facts.units import groupings
from replicalab.lexicon import amount_text, capitalised, percent_text
from replicalab.negotiation import is_worth_running
from replicalab.planner import PlanAnalysis


def story_panel(reference: PlanAnalysis) -> Group:
    """Return what the study is to find out, and what happens to it in this lab."""
    paper, story = reference.yours.pack.paper, verdicts.offer_story(reference)
    return blocks.group(
        Sentence(stated(paper.goal), lexicon.ended(paper.title)),
        Sentence(story.text, status=story.status),
        Sentence(verdicts.terms_text(reference.yours), quiet=True),
    )


def paper_panel(pack: scenarios.Pack) -> Panel:
    """Return the paper: citation, claim, cautions, and every fact with its source."""
    paper = pack.paper
    return blocks.panel(
        "paper",
        paper=paper,
        citation=stated(paper.citation),
        about=[
            (name, text)
            for name, text in (
                ("Hypothesis", paper.hypothesis),
                ("Method", paper.method),
                ("Key finding", paper.key_finding),
                ("Published n and effect", paper.published),
                ("Take care", paper.caution),
            )
            if stated(text)
        ],
        facts=[(fact, CONFIDENCE[fact.confidence]) for fact in paper.facts],
    )


def design_panel(pack: scenarios.Pack) -> Fold:
    """Return what the planned evidence rests on: each number, and why it was chosen."""
    design, kind = pack.design, KINDS[pack.design.kind]
    judged = design.row
    texts = {scenarios.QUESTION_FIELDS.get(name, name) for name in pack.question.asked}
    rows = [(f"{label}{', yours' * (field in texts)}", _number(value), design.why.get(field, ""))
            for field, label, value in (
        ("effect_published", "Published effect", design.effect_published),
        ("effect_planning", "Planning effect", design.effect_planning),
        ("sesoi", "Smallest effect of interest", design.sesoi),
        ("target", "Target of the evidence", design.target),
        ("floor", "Floor of the evidence", design.floor),
        *((name, kind.label(name), getattr(design, name)) for name in kind.numbers),
    ) if value is not None or field not in kind.optional]  # fmt: skip
    if (original := design.original) is not None:
        effect = _number(effect_of(kind, original))
        why = f"{reported_text(design, original)} {source_text(original)}"
        rows.insert(1, ("Original's effect", effect, why))
    rows += [
        (f"{title}{', yours' * (name in texts)}", text, design.why.get(name, ""))
        for name, (title, text) in groupings(design).items()
    ]
    if design.dropout:
        name = f"Dropout of planned samples{', yours' * ('dropout' in texts)}"
        rows.append((name, lexicon.percent_text(design.dropout), design.why.get("dropout", "")))
    if pack.samples_per_day:
        per_day = pack.samples_per_day
        rows.append(("Samples a day, at most", _number(per_day.value), per_day.why))
    rows.append(("Shortest useful plan, days", _number(pack.min_days), ""))
    worked = f"{lexicon.capitalised(judged.measure)} by {judged.method_of(design)}"
    method = f"{worked}. {stated(design.source)}"
    columns = ("Number", Column("Value", "number"), Column("Why", "why"))
    numbers = blocks.table("What it is worked out from", columns, rows)
    return Fold("What the planned evidence rests on", (Sentence(method.strip()), numbers))


def _number(value: float | None) -> str:
    return "–" if value is None else lexicon.exact_text(value)


def lab_panel(reference: Assessment) -> Panel:
    """Return what the lab has: budget, days, staff and how it is counted, where each item is."""
    pack, lab = reference.pack, reference.pack.lab
    days = f"{lexicon.amount_text(lab.days)}{lab.dated(lab.days, 'to')}"
    items = [
        item for item in pack.resources if item.category is not scenarios.ResourceCategory.PERSONNEL
    ]
    return blocks.panel(
        "lab",
        means=[
            (f"Budget, {lab.currency}", lexicon.amount_text(lab.budget)),
            ("Days", left_text(lab) or days),
            ("Staff units", lexicon.amount_text(lab.staff)),
            ("Shortest useful plan, days", lexicon.amount_text(pack.min_days)),
        ],
        staff=staff_text(reference),
        start_day=lab.start_day,
        dated=lab.dated(lab.start_day),
        items=[
            (i.label, pack.study.term(i.category), *_where(pack, i.label, i.category))
            for i in items
        ],
    )


def _where(
    pack: scenarios.Pack, label: str, category: scenarios.ResourceCategory
) -> tuple[Status, str]:
    """Return how an item is shown, and where it stands."""
    status = pack.inventory.status(label, category.value)
    if status is scenarios.ItemStatus.AVAILABLE:
        price = pack.inventory.price(label)
        custom = f", at {pack.lab.money(price)}" if price is not None else ""
        return Status.PASS, f"{status}{custom}"
    return Status.FAIL, pack.inventory.status_text(label, category.value)


def substitutions_panel(pack: scenarios.Pack) -> Panel:
    """Return what may be replaced, on which condition, and what that loses."""
    effect, swaps = KINDS[pack.design.kind].effect, []
    for swap in pack.allowed_substitutions:
        factor = swap.evidence_factor
        seen = effect.seen_text.format(factor=factor) if effect and factor != 1 else ""
        swaps.append((swap, seen))
    return blocks.panel("substitutions", swaps=swaps)


def rules_panel(pack: scenarios.Pack) -> Panel:
    """Return the restrictions, the success criteria, the constraints and the controls.

    Of those of which the study has none, that.
    """
    parts = {
        "restrictions": pack.policy_rules,
        "success criteria": list(filter(None, map(stated, pack.success_criteria))),
        "constraints": [
            (constraint.label, *_constraint_texts(constraint)) for constraint in pack.constraints
        ],
        "controls": pack.controls,
    }
    rules, criteria, constraints, controls = parts.values()
    return blocks.panel(
        "rules",
        rules=rules,
        criteria=criteria,
        constraints=constraints,
        controls=controls,
        lacking=lexicon.joined([name for name, part in parts.items() if not part], "or"),
    )


def _constraint_texts(constraint: scenarios.ScenarioConstraint) -> tuple[str, str, str]:
    """Return a constraint's bound, whether it must hold and is checked, and its details."""
    force = "must hold" if constraint.hard else "should hold"
    if constraint.bounds is None and constraint.key not in scenarios.LAB_CONSTRAINT_KEYS:
        force += "; stated, not checked"
    return constraint.bound_text, force, constraint.details


# --- at a glance ---


_FIELDS: Final = {"finance_trading": "Finance"}


def field_name(domain_id: str) -> str:
    """Return what a field of research is called."""
    return _FIELDS.get(domain_id, domain_id.replace("_", " ").capitalize())


def idea_panel(sentence: str, *, level: int = 2) -> Panel:
    """Return what this is, in a sentence."""
    return blocks.panel("idea", sentence=sentence, level=level)


def picture_panel(options: PlanAnalysis) -> Panel:
    """Return the picture of a story: its plan, the Lab Manager's, and the one closest to it."""
    yours = options.yours
    named = {"Asked": yours, "Offered": options.offered, "Least loss": options.least.after}
    plans: dict[str, Assessment] = {}
    for name, plan in named.items():
        if all(plan.plan != other.plan for other in plans.values()):
            plans[name] = plan
    evidence = [plan.evidence for plan in plans.values()]
    noun = unit_noun(yours.pack.design)
    return blocks.panel(
        "story",
        about=f"{yours.pack.paper.name}: {yours.evidence.measure}",
        rows=[
            {
                "name": name,
                "size": f"{lexicon.amount_text(plan.counts.samples)} {noun}",
                "bar": evidence_bar(plan.evidence, evidence, evidence[0]),
                "status": verdicts.evidence_status(plan.evidence),
                "number": plan.evidence.number,
            }
            for name, plan in plans.items()
        ],
    )


def card_panel(
    about: scenarios.ScenarioSummary,
    labs: Mapping[str, PlanAnalysis],
    origin: str = "",
    *,
    hidden: bool = False,
) -> Panel:
    """Return a study at a glance: its field, its lesson, and the best that each lab can run.

    A challenge hides the lesson, which may be the answer.
    """
    marks = [field_name(about.domain_id), "contested" if about.paper.contested else "", origin]
    return blocks.panel(
        "card",
        field=" · ".join(filter(None, marks)),
        teaches="" if hidden else about.paper.teaches,
        labs=[_lab_row(name, lab) for name, lab in labs.items()],
    )


def _lab_row(name: str, lab: PlanAnalysis) -> dict[str, object]:
    """Return the best plan of a lab: whether the study fits, and its evidence."""
    yours, best = lab.yours, lab.least.after
    status, text = Status.FAIL, "none"
    if is_worth_running(best):
        status = verdicts.evidence_status(best.evidence)
        text = "fits" if best.plan == yours.plan else "cut"
    return {
        "name": name,
        "said": verdicts.lab_line(lab),
        "bar": evidence_bar(best.evidence, [best.evidence, yours.evidence], yours.evidence),
        "status": status,
        "text": text,
        "number": "" if text == "none" else best.evidence.number,
    }


def legend_panel(number: int, of: int, seed: int) -> Panel:
    """Return how many studies are shown, and how to read the bars of their labs."""
    text = f"{number} of {of}" if number < of else f"{of}"
    at = f" Labs at seed {seed}." if seed else ""
    return blocks.panel("legend", count=f"{text} studies.{at}")


def kind_panel(kind: str) -> Panel:
    """Return a kind of design: its sketch, and the question that it asks."""
    return blocks.panel("kind", shapes=KINDS[kind].sketch, asks=KINDS[kind].asks)


def unknown_name(row: Kind, unknown: Unknown) -> str:
    """Return what a number of a power analysis of a kind is called: ``power``."""
    effect = row.effect.name if row.effect else ""
    named = {Unknown.EFFECT: effect, Unknown.EVIDENCE: row.measure, Unknown.SAMPLES: "samples"}
    return named.get(unknown, unknown.value)


def worked_out_panel(plan: Assessment, unknown: Unknown) -> Group:
    """Return what was worked out, and what the analysis comes to with it."""
    evidence, design = plan.evidence, plan.pack.design
    name = capitalised(unknown_name(evidence.row, unknown))
    assumed = assumption_text(plan).removesuffix(".")
    alpha = f", alpha {design.alpha:.4g}" if evidence.row.uses("alpha") else ""
    comes_to = f"{verdicts.evidence_sentence(evidence)} {assumed}{alpha}."
    return sentences_panel(
        [comes_to, dropout_text(plan), stated(design.source)],
        title=f"{name}: {_value_text(plan, unknown)}",
        level=4,
    )


def _value_text(plan: Assessment, unknown: Unknown) -> str:
    design, planned = plan.pack.design, plan.counts.samples
    match unknown:
        case Unknown.EFFECT:
            return effect_text(design.effect_planning)
        case Unknown.ALPHA:
            return f"{design.alpha:.4g}"
        case Unknown.EVIDENCE:
            return plan.evidence.number
        case Unknown.SAMPLES:
            return amount_text(planned)
        case Unknown.DROPOUT:
            return percent_text(design.dropout)
