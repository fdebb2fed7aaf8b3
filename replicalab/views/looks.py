"""A plan with interim looks in words: when it may stop, what it takes then, and on average."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from replicalab.assessment import Assessment, failing_text, units_in_arms
from replicalab.lexicon import (
    amount_text,
    capitalised,
    count_text,
    exact_text,
    joined,
    plural,
    quoted,
)
from replicalab.measures import KINDS
from replicalab.measures.looks import FAMILIES, LEAST_ALPHA, MOST_ALPHA, MOST_POWER
from replicalab.measures.replicated import within
from replicalab.measures.success import CRITERIA
from replicalab.planner.looks import Analysis, LookedAt, LooksPlan, NoLooks, looked_at, with_looks
from replicalab.scenarios import Design, Pack
from replicalab.views.blocks import Block, Cell, Column, Group, Sentence, Table, group, table
from replicalab.views.plan import group_text, looks_text, with_cautions
from replicalab.views.unreached import unreached_text

TITLE: Final = "Interim looks"
FOR_TARGET: Final = "To reach the target with these looks"
"""What heads the sample that keeps the target, which need not be the plan's."""
_NOT_WORKED_OUT: Final = "What the plan comes to with its interim looks is not worked out."
_P_DIGITS: Final = 4
_MOST_P_DIGITS: Final = 9  # A p that needs more decimals is written with an exponent


def summary_text(found: LooksPlan) -> str:
    """Return what a plan with looks takes beside the fixed one, on average and at worst.

    ``On average 71 in place of 128 samples if the effect is there, 129 if there is none; at worst
    130, which this lab can run.`` Then which wishes it breaks at worst, which controls it lacks.
    """
    with_effect, without = (
        amount_text(round(found.mean(lambda each: each.samples, effect=effect)))
        for effect in (True, False)
    )
    fixed = count_text(found.fixed.counts.samples, "sample")
    worst = amount_text(found.worst.counts.samples)
    text = (
        f"On average {with_effect} in place of {fixed} if the effect is there, "
        f"{without} if there is none; at worst {worst}, which this lab {_run_text(found)}."
    )
    return with_cautions(text, found.worst)


def _run_text(found: LooksPlan) -> str:
    """Return whether the lab can run the plan at worst, and if not, what is in its way."""
    if found.fits:
        return "can run"
    worst = found.worst
    why = [failing_text(worst.failing)] if worst.failing else []
    if worst.evidence.able < worst.counts.samples:
        why.append(f"only {amount_text(worst.evidence.able)} can count")
    if found.over:
        why.append(f"{count_text(found.over, 'sample')} over")
    return f"cannot run: {', '.join(why)}"


def looked_text(plan: Assessment) -> str:
    """Return what a plan's own sample comes to with its looks; empty without any.

    ``With Pocock, 1 interim look, these 128 samples have power 0.76. On average …; at worst …``
    Where that is not worked out, why.
    """
    found = looked_at(plan)
    if found is None:
        return ""
    if isinstance(found, NoLooks):
        return f"{_NOT_WORKED_OUT} {why_not_text(found, plan.pack)}"
    named, size = looks_text(plan.pack.design.looks), count_text(plan.counts.samples, "sample")
    have = "has" if plan.counts.samples == 1 else "have"
    with_effect, without = (_expected_text(found, effect=effect) for effect in (True, False))
    worst = found.worst
    return (
        f"With {named}, the plan’s {size} {have} {power_text(found)}. On average {with_effect} if "
        f"the effect is there; {without} if there is none; at worst "
        f"{_amounts_text(plan, worst.counts.samples, worst.cost, worst.counts.days)}"
        f"{_in_the_way(worst)}."
    )


def bounds_text(found: LookedAt) -> str:
    """Return when the plan is looked at, and beyond which bound each analysis stops it.

    ``Look 1 at 44 samples: |z| above 3.471, p below 0.0005, alpha spent by then 0.0005.``
    """
    alpha, texts = 0.0, list[str]()
    for place, each in enumerate(found.analyses, start=1):
        is_last = place == len(found.analyses)
        alpha = (found.plan.pack.design.alpha or 0.0) if is_last else alpha + each.without
        name = "Final analysis" if is_last else f"Look {place}"
        at = f"{count_text(each.samples, 'sample')}{', the largest sample' if is_last else ''}"
        texts.append(
            f"{name} at {at}: |z| above {each.z:.3f}, "
            f"p below {_p_text(each.p)}, alpha spent by then {_p_text(alpha)}."
        )
    return " ".join(texts)


def stopping_text(plan: Assessment) -> str:
    """Return the stopping rule of a plan with looks: family, bounds, spending, most samples."""
    looks, found = plan.pack.design.looks, looked_at(plan)
    if looks is None or found is None:
        return ""
    rule = f"{capitalised(FAMILIES[looks.family].about)}; stops for efficacy alone."
    if isinstance(found, NoLooks):
        return f"{rule} {_NOT_WORKED_OUT} {why_not_text(found, plan.pack)}"
    return f"{rule} {bounds_text(found)}"


def power_text(found: LookedAt) -> str:
    """Return what power a plan has with its looks: ``power 0.79``."""
    evidence = found.plan.evidence
    return f"{evidence.measure} {evidence.amount(found.power)}"


def header_text(plan: Assessment) -> str:
    """Return the same in a few words: ``0.79 with 2 looks``; empty without any."""
    found = looked_at(plan)
    if found is None or plan.pack.design.looks is None:
        return ""
    number = count_text(plan.pack.design.looks.interim, "look")
    if isinstance(found, NoLooks):
        return f"not worked out with {number}"
    return f"{plan.evidence.amount(found.power)} with {number}"


def _expected_text(found: LookedAt, *, effect: bool) -> str:
    """Return what is taken on average: ``107 samples, 1,770 credits and 8.1 days``."""
    samples, cost, days = (
        found.mean(of, effect=effect)
        for of in (lambda each: each.samples, lambda each: each.credits, lambda each: each.day)
    )
    return _amounts_text(found.plan, round(samples), round(cost), days)


def _amounts_text(plan: Assessment, samples: float, cost: float, days: float) -> str:
    money, rounded = plan.pack.lab.money(cost), round(days, 1)
    shown = amount_text(round(days)) if rounded == round(days) else f"{rounded:,.1f}"
    return f"{count_text(samples, 'sample')}, {money} and {shown} {plural('day', rounded)}"


def _in_the_way(worst: Assessment) -> str:
    """Return what of the lab a plan exceeds that no look stops; empty where nothing."""
    return f", where {failing_text(worst.failing)}" if worst.failing else ""


def why_not_text(why: NoLooks, pack: Pack) -> str:
    """Return why a plan can have no looks, and where there is something to do, what."""
    design = pack.design
    row = KINDS[design.kind]
    match why:
        case NoLooks.KIND:
            return (
                f"{capitalised(row.named.replace('_', '-'))} design has no test that can be looked "
                "at on the way."
            )
        case NoLooks.SUCCESS:
            return (
                f"Looks are worked out for the power of the study’s own two-sided test alone, and "
                f"{_planned_for(design)}; choose significance at its alpha alone under What counts "
                "as replicated on Protocol, or no looks."
            )
        case NoLooks.TARGET:
            target = row.scale.amount(design.target, (design.target,))
            return (
                f"No number of samples that can be planned reaches the target of {row.measure} "
                f"{target}, so there is nothing to stop early."
            )
        case NoLooks.LEVEL:
            return (
                f"Looks are worked out for an alpha of {LEAST_ALPHA:.5f} to {MOST_ALPHA:g}, and it "
                f"is {design.alpha:g}; assume another on Protocol."
            )
        case NoLooks.POWER:
            return (
                f"Looks are worked out for a target above alpha, at most {MOST_POWER:g}, and it is "
                f"{design.target:g}; assume another on Protocol."
            )
        case NoLooks.FEW:
            return (
                f"There are too few samples for so many looks: in whole {_wholes_text(design)} two "
                "analyses would be one, or one has too few for a test. Choose fewer looks, or "
                f"further apart{_or_shares(design)}."
            )


def _wholes_text(design: Design) -> str:
    """Return of what an analysis has whole numbers: ``groups``, ``tanks of 16 in each arm``."""
    if design.units is None:
        scale = KINDS[design.kind].normal
        return "groups and events" if scale and scale.in_events else "groups"
    where = " in each arm" if KINDS[design.kind].groups_of(design) > 1 else ""
    return f"{plural(design.units.name, 2)} of {design.units.samples:g}{where}"


def _or_shares(design: Design) -> str:
    """Return what else to do where unlike arms seldom fill whole units; empty where they do."""
    if design.units is None or not design.uneven:
        return ""
    return f", or arms whose shares fill whole {plural(design.units.name, 2)} sooner, such as 0.75"


def _planned_for(design: Design) -> str:
    """Return by what else a study counts as replicated, or is planned."""
    chosen = design.replication
    if chosen is None or chosen.is_planned_with:
        return "this study is planned by the probability of success"
    names = [within(CRITERIA[name].label) for name in chosen.criteria]
    named = f"{'criterion' if len(names) == 1 else 'criteria'} {joined(quoted(names))}"
    level = f" at level {exact_text(chosen.level or design.alpha or 0.0)}"
    sides = ", one-sided" if chosen.sides == 1 and chosen.has_sides else ""
    return f"what counts as replicated here is decided by the {named}{level}{sides}"


def basis_text(found: LooksPlan) -> str:
    """Return what the bounds rest on, and when samples are begun."""
    design = found.fixed.pack.design
    target = found.fixed.evidence.amount(design.target)
    waits = f"at least {count_text(found.fixed.pack.min_days, 'day')}"
    return (
        f"{looks_text(found.looks)}; stops for efficacy alone. Each analysis holds the p of its "
        f"usual two-sided test against its own level; together they keep alpha {design.alpha:g} "
        f"and the target of {target}, by a normal approximation that is rough where a group has "
        f"fewer than about ten{_alike_text(design)}. {_whole_text(design)}Samples after a look are "
        f"begun when it is done, and each batch takes {waits}."
    )


def _alike_text(design: Design) -> str:
    """Return what counts of a group whose samples are alike in units; empty of others."""
    return f" {plural(design.units.name, 2)}" if design.units and design.units.icc else ""


def _whole_text(design: Design) -> str:
    """Return when a study with units is looked at; empty without."""
    return f"Analyses are at whole {_wholes_text(design)}. " if design.units else ""


def analyses_table(found: LooksPlan) -> Table:
    """Return a row for each analysis: its samples, its day, its bound, and what it comes to."""
    pack = found.fixed.pack
    noun = KINDS[pack.design.kind].information
    events = noun.noun if noun and noun.noun != "sample" else ""
    columns = [
        Column("Analysis"),
        Column("Samples", "number"),
        *([Column(capitalised(plural(events, 2)), "number")] if events else []),
        Column("Day", "fixed"),
        Column("z", "number", meaning="Significant beyond this z, on either side."),
        Column("p", "number", meaning="Significant below this two-sided p."),
        *(
            Column(name, "number", meaning="What no look stops ends with the final analysis.")
            for name in ("Ends here, no effect", "Ends here, with the effect")
        ),
        Column(f"{capitalised(pack.lab.currency)} by then", "number"),
    ]
    rows = [
        _row(place, each, found.analyses, pack, events=bool(events))
        for place, each in enumerate(found.analyses, start=1)
    ]
    return table(
        f"{FOR_TARGET}: {looks_text(found.looks)}", columns, rows, kind="looks", scrolls=True
    )


def _row(
    place: int, each: Analysis, all_of_them: Sequence[Analysis], pack: Pack, *, events: bool
) -> Iterator[Cell]:
    yield Cell(f"Look {place}" if place < len(all_of_them) else "Final")
    notes = (group_text(each.samples, pack.design), _in_units_text(each.samples, pack.design))
    note = "; ".join(filter(None, notes))
    yield Cell(amount_text(each.samples), each.samples, note=f"({note})" if note else "")
    if events:
        yield Cell(amount_text(each.number), each.number)
    dated = pack.lab.dated(pack.lab.start_day + each.day - 1)
    yield Cell(f"{amount_text(each.day)}{dated}", each.day)
    yield Cell(f"{each.z:.3f}", each.z)
    yield Cell(_p_text(each.p), each.p)
    for chance in (each.without, each.with_effect):
        yield Cell(_chance_text(chance), chance)
    yield Cell(amount_text(each.credits), each.credits)


def _in_units_text(samples: int, design: Design) -> str:
    """Return how many units of each arm so many samples fill: ``4 + 4 tanks``; empty without."""
    if design.units is None:
        return ""
    arms = [int(each) for each in units_in_arms(samples, design)]
    return f"{' + '.join(map(amount_text, arms))} {plural(design.units.name, sum(arms))}"


def _p_text(p: float) -> str:
    """Return a p with two digits at least: ``0.0141``, ``0.000089``, ``8.9e-12``."""
    digits = max(_P_DIGITS, 1 - math.floor(math.log10(p)))
    return f"{p:.{digits}f}" if digits <= _MOST_P_DIGITS else f"{p:.1e}"


def _chance_text(chance: float) -> str:
    percent = 100 * chance
    return f"{percent:.1f} %" if percent >= 0.1 else "< 0.1 %"


def means_table(found: LooksPlan) -> Table:
    """Return samples, days and credits without looks, on average with them, and at worst."""
    fixed, worst = found.fixed, found.worst
    currency = capitalised(fixed.pack.lab.currency)
    amounts: tuple[tuple[str, float, Callable[[Analysis], float], float], ...] = (
        ("Samples", fixed.counts.samples, lambda each: each.samples, worst.counts.samples),
        ("Days", fixed.counts.days, lambda each: each.day, worst.counts.days),
        (currency, fixed.cost, lambda each: each.credits, worst.cost),
    )
    columns = [
        Column("What it takes"),
        Column("Without looks", "number"),
        Column("On average, with the effect", "number"),
        Column("On average, no effect", "number"),
        Column("At worst", "number"),
    ]
    rows = []
    for name, without, of, most in amounts:
        means = [found.mean(of, effect=effect) for effect in (True, False)]
        digits = 0 if name == currency else 1
        cells = (Cell(f"{mean:,.{digits}f}", mean) for mean in means)
        rows.append([Cell(name), _whole(without), *cells, _whole(most)])
    return table("Beside the plan without looks", columns, rows, kind="looks", scrolls=True)


def _whole(amount: float) -> Cell:
    return Cell(amount_text(amount), amount)


def looks_blocks(plan: Assessment) -> tuple[Block, ...]:
    """Return which sample keeps the target with the looks of a study, or of the visitor.

    None without looks, and where `looked_text`, which stands with the evidence, gives the reason
    why there is none.
    """
    found = with_looks(plan)
    if found is None or found is looked_at(plan):
        return ()
    if isinstance(found, NoLooks):
        why = unreached_text(plan) if found is NoLooks.TARGET else ""
        return (Sentence(" ".join(filter(None, [why_not_text(found, plan.pack), why]))),)
    return (
        Sentence(summary_text(found), "For the target:"),
        analyses_table(found),
        means_table(found),
        Sentence(basis_text(found), quiet=True),
    )


def looks_panel(plan: Assessment) -> Group:
    """Return what a plan comes to with its looks, then the same, as one panel."""
    return group(Sentence(looked_text(plan)), *looks_blocks(plan))
