"""Texts of a plan: its lab, its evidence, its units and arms, and a step to another plan."""

from collections.abc import Iterable, Sequence
from typing import Final

from replicalab import assessment, lexicon, models
from replicalab.assessment import Assessment, Evidence, phrases
from replicalab.assessment.findings import IssueCategory
from replicalab.designs import KINDS, DesignParameters
from replicalab.facts import texts
from replicalab.facts.blocks import Cell, Fact, Group, Sentence, Table, count, group, money, table
from replicalab.planner import PlanStep, leanest
from replicalab.planner.curves import Curves, units_worth
from replicalab.scenarios import QUESTION_RECORDS, Arms, Control, Design, Pack, Units

WISHES: Final = "Wishes broken"
UNITS_TITLE: Final = "Experimental unit"
ARMS_TITLE: Final = "Two arms"
_ENOUGH_FEWER: Final = 0.75  # fewer samples are suggested from this share of those planned
_WHOLE: Final = 100  # from here on, samples are shown without decimals


def plan_facts(plan: Assessment) -> list[Fact]:
    """Return the size, cost and evidence of a plan."""
    evidence, lab = plan.evidence, plan.pack.lab
    value = None if evidence.void_reason else evidence.value
    samples, tier = plan.counts.samples, str(evidence.tier)
    groups = group_text(samples, plan.pack.design)

    def counted(key: str, label: str, number: int) -> Fact:
        text = lexicon.count_text(number, plan.pack.design.sample_noun)
        return Fact(key, label, number, "samples", text=text)

    return [
        counted("samples", "Samples", samples)._replace(note=groups),
        count("days", "Days", plan.counts.days, "day"),
        money("cost", "Cost", plan.cost, lab),
        count("staff", "Staff", plan.staff, "staff unit"),
        Fact("evidence", evidence.title, value, evidence.measure, None, tier, evidence.number),
        counted("analysed", "Samples analysed", evidence.analysed),
        Fact("fidelity_loss", "Fidelity loss", plan.fidelity_loss),
        Fact("wishes_broken", "Wishes broken", len(plan.broken_wishes)),
    ]


def listed(opening: str, labels: Iterable[str]) -> str:
    """Return labels in quotation marks after an opening; empty without labels."""
    text = lexicon.joined(lexicon.quoted(labels))
    return f"{opening}{text}" if text else ""


def elsewhere_text(saved_for: str | None, pack: Pack) -> str:
    """Return that a plan was saved for another study, or an empty text."""
    if saved_for in (None, pack.scenario_id):
        return ""
    return texts.ELSEWHERE.format(study=saved_for, here=pack.scenario_id)


def used_text(plan: Assessment, slack: assessment.Slack) -> str:
    """Return used against the limit: ``2,250 / 2,600 credits``, ``2 needed, 1 free``."""
    row, used, limit = slack.row, *map(lexicon.amount_text, (slack.used, slack.limit))
    if row.category:
        return f"{used} needed, {limit} free"
    if row.currency:
        return f"{used} / {plan.pack.lab.money(slack.limit)}"
    if row.lab_limit:
        last = plan.last_day_text if slack.dimension is models.Dimension.SCHEDULE else ""
        return f"{used} / {limit} {lexicon.plural(row.noun, slack.limit)}{last}"
    if not slack.ok and slack.dimension not in plan.causes:
        return f"(see {phrases.dimensions_text(plan.pack, plan.repeated)})"
    return lexicon.count_text(slack.used, row.noun)


def excess_text(plan: Assessment) -> str:
    """Return what fails with its amount: ``1,250 credits over the budget, 2 days too many``."""
    failing, currency = [plan.slack[dimension] for dimension in plan.causes], plan.pack.lab.currency
    term, amounts = plan.pack.study.term, list[str]()
    for at in failing:
        amounts.append(f"{at.row.amount_text(-at.slack, currency)} {term(at.row.over)}".rstrip())
    return ", ".join(amounts)


def slack_text(slack: assessment.Slack) -> str:
    """Return the signed slack (``+350``, ``−2``, ``0``); empty for errors and breaches."""
    is_counted = slack.row.lab_limit or slack.row.category
    return lexicon.signed_text(slack.slack) if is_counted else ""


def term_text(term: assessment.CostTerm) -> str:
    """Return the parts of a cost term: ``2 × 100 + 1 × 400``, ``15 % of 1,200``."""
    if term.of == "overhead":
        return f"{lexicon.percent_text(term.rate)} of {lexicon.amount_text(term.number)}"
    prices = term.prices or {term.rate: term.number}
    return " + ".join(
        f"{lexicon.amount_text(number)} × {lexicon.amount_text(price)}"
        for price, number in prices.items()
    )


def staff_text(plan: Assessment) -> str:
    """Return the parts of the staff: ``1 + 1 for more than 20 samples = 2 of 4 staff units``."""
    terms = [
        f"{step.adds:.0f} for more than {lexicon.count_text(step.threshold, step.noun)}"
        for step in plan.staff_steps
        if step.adds
    ]
    sum_of = " + ".join([str(plan.pack.staff_model.base), *terms]) + " = " if terms else ""
    return f"{sum_of}{plan.staff} of {lexicon.count_text(plan.pack.lab.staff, 'staff unit')}"


def field_rows(plan: Assessment) -> list[tuple[str, str]]:
    """Return the fields of a plan except its numbers, by name."""
    values = {name: getattr(plan.plan, name) for name in models.TEXT_FIELDS}
    values |= {name: "; ".join(getattr(plan.plan, name)) or "none" for name in models.LIST_FIELDS}
    labels = {name: plan.pack.study.term(label) for name, label in models.FIELD_LABELS.items()}
    return [(label, values[name]) for name, label in labels.items() if name in values]


def cautions_sentence(plan: Assessment) -> str:
    """Return the cautions about a plan as a sentence; empty if none."""
    text = plan.cautions_text
    return f"{lexicon.capitalised(text)}." if text else ""


def with_cautions(text: str, plan: Assessment) -> str:
    """Return a text about a plan, followed by its cautions."""
    return " ".join(filter(None, [text, cautions_sentence(plan)]))


def newly_broken_text(step: PlanStep) -> str:
    """Return the soft constraints that a step breaks, or misses by more; empty if none."""
    before, after = step.before, step.after
    new = [wish for wish in after.broken_wishes if wish not in before.broken_wishes]
    sentences = phrases.wishes_text(after, new), phrases.further_text(before, after)
    return " ".join(f"{lexicon.capitalised(text)}." for text in sentences if text)


def notes(plan: Assessment) -> list[tuple[str, str]]:
    """Return notes on a plan: the kind of each, and its sentence."""
    named = IssueCategory.CONSTRAINT  # in the cautions
    warnings = [one.message for one in plan.validation.paper_warnings if one.category is not named]
    kinds = {
        "Caution": [cautions_sentence(plan)],
        "Note": [*warnings, spare_text(plan)],
        "At a limit": _cliff_texts(plan.cliffs),
    }
    return [(name, text) for name, lines in kinds.items() for text in lines if text]


def spare_text(plan: Assessment) -> str:
    """Return a sample that would do; empty unless it is at least a quarter smaller."""
    lean, planned = leanest(plan), plan.counts.samples
    if lean is None or lean.counts.samples > planned * _ENOUGH_FEWER:
        return ""
    size, evidence = lean.samples_text, lean.evidence.text
    return texts.TO_SPARE.format(size=size, evidence=evidence, planned=f"{planned:,}")


def _cliff_texts(cliffs: Iterable[assessment.Cliff]) -> list[str]:
    nouns: dict[str, list[str]] = {}
    for cliff in cliffs:
        fewer = texts.LOSES_ENDPOINT if cliff.endpoint else texts.SAVES_STAFF
        nouns.setdefault(texts.ADDS_STAFF if cliff.more else fewer, []).append(cliff.noun)
    return [text.format(noun=lexicon.joined(names, "or")) for text, names in nouns.items()]


def protection_text(control: Control) -> str:
    """Return the loss without a control."""
    text = texts.UNPROTECTED if control.guards else texts.LACKS
    return text.format(control=control.name, guards=control.guards)


def asked_text(pack: Pack, most: int | None = 2) -> str:
    """Return the assumptions that are the visitor's own: ``effect 0.3, yours``; empty if none."""
    if most is not None and len(pack.asked) > most:
        return f"{len(pack.asked)} assumptions, yours"
    text = ", ".join(_number_text(name, pack) for name in pack.asked)
    return f"{text}, yours" if text else ""


def _number_text(name: str, pack: Pack) -> str:
    value, by_hand = getattr(pack.question, name), KINDS[pack.design.kind].scale.by_hand
    if name in QUESTION_RECORDS:
        return grouping_text(value)
    if name == "sides":
        return pack.design.row.level_of(value)
    write = {"dropout": lexicon.percent_text, "effect": effect_text}
    write |= dict.fromkeys(("target", "floor"), by_hand)
    return f"{name} {write.get(name, '{:g}'.format)(value)}"


def sample_text(design: Design) -> str:
    """Return the sampling unit of a study; empty if it is just "samples"."""
    return "" if lexicon.label_key(design.unit_of_n) == "samples" else design.unit_of_n


def group_text(samples: int, design: Design) -> str:
    """Return how large the groups of a design are: ``64 a group``; empty for one group."""
    if arms := arms_text(samples, design):
        return arms
    groups = KINDS[design.kind].groups_of(design)
    number, rest = divmod(samples, groups)
    if groups < 2:
        return ""
    size = lexicon.amount_text(number)
    if not rest:
        return f"{size} a group"
    if design.groups is None:
        return f"groups of {size} and {lexicon.amount_text(samples - number)}"
    return f"{groups} groups of {size}, {rest} left over"


def groups_text(samples: int, design: Design, *, per_group: bool) -> str:
    """Return the sample and its groups; empty for one group, or equal ones if not ``per_group``."""
    text = group_text(samples, design)
    equal = not design.uneven and samples % KINDS[design.kind].groups_of(design) == 0
    if not text or (equal and not per_group):
        return ""
    return f"{samples:,} in all: {text}."


def dropout_text(plan: Assessment) -> str:
    """Return how many samples are planned and analysed; empty if all that can count are."""
    usable, counted, planned = plan.evidence.usable, plan.evidence.analysed, plan.counts.samples
    if counted >= usable:
        return ""
    dropout = lexicon.percent_text(plan.pack.design.dropout)
    of_able = f" of {usable:,}" if usable < planned else ""
    numbers = {"planned": f"{planned:,}", "counted": f"{counted:,}"}
    return texts.RECRUIT.format(**numbers, dropout=dropout, usable=of_able)


def counting_text(plan: Assessment) -> str:
    """Return the limit on the samples that count: ``20 a day, 12 days``; or empty."""
    rate, exist, days = plan.pack.samples_per_day, plan.pack.design.population_max, plan.counts.days
    if exist is not None and (rate is None or exist <= rate.value * days):
        return "the population"
    if rate is None:
        return ""
    return f"{lexicon.amount_text(rate.value)} a day, {lexicon.count_text(days, 'day')}"


def effect_text(effect: float | None) -> str:
    """Return an effect to three digits, or ``none``."""
    return "none" if effect is None else f"{effect:z.3g}"


def assumption_text(plan: Assessment) -> str:
    """Return the assumed effect and the method of the evidence, then its units and arms."""
    evidence, row, design = plan.evidence, plan.evidence.row, plan.pack.design
    method = row.method_of(design)
    planned = texts.PLANNED_WITHOUT_EFFECT.format(method=method)
    if row.effect is not None:
        setting, seen = (
            row.setting_text(DesignParameters.by(design, factor))
            for factor in (1.0, evidence.factor)
        )
        assumed = f"{row.effect.name} of {effect_text(design.effect_planning)}{setting}"
        if seen != setting or evidence.factor != 1:
            changed = seen if seen != setting else ""
            assumed += texts.SEEN_AS.format(effect=effect_text(evidence.effect), setting=changed)
        planned = texts.PLANNED.format(assumed=assumed, method=method)
    return f"{planned} {basis_text(plan)}".strip()


def source_text(design: Design) -> str:
    """Return the source of the formula for the evidence of a design; empty if unnamed."""
    source = design.row.words_of(design).source
    return f"Source: {source}." if source else ""


def bounds_text(evidence: Evidence) -> str:
    """Return floor and target: ``floor 0.50, target 0.80``."""
    return f"floor {evidence.format(evidence.floor)}, target {evidence.format(evidence.target)}"


def effect_label(effect: assessment.AssumedEffect) -> str:
    """Return an assumed effect with its size: ``halved (0.0885)``."""
    return f"{effect.label} ({effect_text(effect.effect)})"


def grouping_text(value: models.Record) -> str:
    """Return units or arms in a few words: ``tanks of 16, correlation 0.1``."""
    if isinstance(value, Units):
        icc = "not given" if value.icc is None else f"{value.icc:g}"
        return f"{lexicon.plural(value.name, 2)} of {value.samples:g}, correlation {icc}"
    if isinstance(value, Arms) and value.share != Arms().share:
        return f"{lexicon.percent_text(value.share)} in the first arm"
    return "equal arms" if isinstance(value, Arms) else ""


def groupings(design: Design) -> dict[str, tuple[str, str]]:
    """Return the title and the text of a design's units and arms, by field."""
    pairs = {"units": (UNITS_TITLE, design.units), "arms": (ARMS_TITLE, design.arms)}
    return {
        name: (title, lexicon.capitalised(grouping_text(value)))
        for name, (title, value) in pairs.items()
        if value is not None
    }


def arms_text(samples: int, design: Design) -> str:
    """Return the samples of unequal arms: ``96 + 32``; empty for equal ones."""
    if not design.uneven:
        return ""
    return " + ".join(map(lexicon.amount_text, assessment.samples_in_arms(samples, design)))


def _units_text(units: Units, arms: Sequence[int]) -> str:
    shared = f" ({' + '.join(map(lexicon.amount_text, arms))})" if len(arms) > 1 else ""
    return f"{lexicon.count_text(sum(arms), units.name)} of {units.samples:g}{shared}"


def basis_text(plan: Assessment) -> str:
    """Return the effect of units and unequal arms on the evidence; empty if none."""
    design, counted = plan.pack.design, plan.evidence.analysed
    arms, units = arms_text(counted, design), design.units
    lines = [f"Arms of {arms}."] if arms else []
    worth = units_worth(plan, units.icc) if units and units.icc is not None else None
    if units and worth:
        by_arm = assessment.counted_units(design, plan.evidence.usable)
        samples = lexicon.count_text(counted, design.sample_noun)
        line = texts.DESIGN_EFFECT.format(
            units=_units_text(units, by_arm),
            icc=f"{units.icc:g}",
            effect=f"{worth.design_effect:.3g}",
            samples=samples,
            worth=_worth_text(worth.worth),
        )
        lines.append(line)
    return " ".join(lines)


def _worth_text(samples: float) -> str:
    return lexicon.amount_text(round(samples)) if samples >= _WHOLE else f"{samples:.3g}"


def units_panel(plan: Assessment) -> Group:
    """Return a plan's units and arms, their limit, and a table by intraclass correlation."""
    design, samples = plan.pack.design, plan.counts.samples
    units, sentences = design.units, list[str]()
    if units:
        arms = [int(number) for number in assessment.units_in_arms(samples, design)]
        sentences.append(f"{lexicon.capitalised(_units_text(units, arms))}.")
        if units.icc is None:
            sentences.append(texts.SEE_TABLE if design.baseline is None else texts.OMIT_BASELINE)
    if shares := arms_text(samples, design):
        sentences.append(f"{lexicon.count_text(samples, 'sample')}: {shares}.")
    by_icc = correlations_table(plan, units) if units else None
    return group(*map(Sentence, (*sentences, units_limit_text(plan))), by_icc)


def correlations_table(plan: Assessment, units: Units) -> Table:
    """Return the evidence of a plan at each intraclass correlation of its units."""
    rows = list[tuple[Cell | str, ...]]()
    for rho, value in Curves(plan).by_correlation.items():
        if (worth := units_worth(plan, rho)) is not None:
            rows.append(
                (
                    Cell(f"{rho:g}{' (yours)' * (rho == units.icc)}", rho),
                    Cell(f"{worth.design_effect:.3g}", worth.design_effect),
                    Cell(_worth_text(worth.worth), worth.worth),
                    Cell(plan.evidence.format(value), value),
                )
            )
    names = ("Correlation", "Design effect", "Worth, samples", plan.evidence.title)
    return table(f"By the intraclass correlation of samples in one {units.name}", names, rows)


def units_limit_text(plan: Assessment) -> str:
    """Return the limit of a plan's units, and more units for the target; empty if it is met."""
    limit, units, evidence = Curves(plan).units_limit, plan.pack.design.units, plan.evidence
    if limit is None or units is None:
        return ""
    names, ways, clauses = lexicon.plural(units.name, 2), list[str](), list[str]()
    if limit.per_unit is None:
        most = evidence.text_of(evidence.format(limit.most))
        clauses.append(f"no number of samples shows more than {most}")
    else:
        ways.append(f"{lexicon.count_text(limit.per_unit, 'sample')} in each {units.name}")
    if limit.enough is not None:
        ways.append(f"{' + '.join(map(str, limit.enough))} {names} of {units.samples:g}")
    if ways:
        target = evidence.text_of(evidence.format(evidence.target))
        clauses.append(f"{target} takes {' or '.join(ways)}")
    return f"With {' + '.join(map(str, limit.units))} {names} {'; '.join(clauses)}."


def saved_text(step: PlanStep) -> str:
    """Return the saving of a step: ``saves 1,500 credits``, ``costs 50 credits``."""
    lab = step.after.pack.lab
    if step.credits_saved == 0:
        return f"saves no {lab.currency}"
    word = "saves" if step.credits_saved > 0 else "costs"
    return f"{word} {lab.money(abs(step.credits_saved))}"


def evidence_text(step: PlanStep, moved: str = texts.MOVED) -> str:
    """Return how a step moves the evidence: ``power 0.86 → 0.58``, ``power 0.86, unchanged``."""
    old, new = step.before.evidence, step.after.evidence
    if not step.evidence_changed:
        return f"still {old.text}" if old.void_reason else f"{old.text}, unchanged"
    if old.void_reason or new.void_reason:
        return f"{old.text} → {new.text}"
    return old.text_of(moved.format(old.number, new.number))


def loss_text(step: PlanStep, moved: str = texts.MOVED) -> str:
    """Return how a step moves the evidence, the detectable effect and the fidelity loss."""
    old, new = (effect_text(plan.detectable_effect) for plan in (step.before, step.after))
    sought = step.after.evidence.row.sought
    detects = f"{sought} {moved.format(old, new)}" if sought and old != new else ""
    parts = evidence_text(step, moved), detects, fidelity_move(step, moved)
    return "; ".join(filter(None, parts))


def fidelity_move(step: PlanStep, moved: str = texts.MOVED) -> str:
    """Return how a step moves the fidelity loss: ``fidelity loss 0 → 2``; empty if unchanged."""
    old, new = step.before.fidelity_loss, step.after.fidelity_loss
    return f"fidelity loss {moved.format(old, new)}" if old != new else ""
