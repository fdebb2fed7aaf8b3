"""What is said of experimental units and of unlike arms: what they are, and what they make of n."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from replicalab.assessment import Assessment, counted_units, samples_in_arms, units_in_arms
from replicalab.facts import texts
from replicalab.facts.blocks import Cell, Group, Sentence, Table, group, row, table
from replicalab.lexicon import amount_text, capitalised, count_text, joined, percent_text, plural
from replicalab.models import Record
from replicalab.planner.curves import by_correlation, units_limit, units_worth
from replicalab.scenarios import Arms, Design, Units

UNITS_TITLE: Final = "Experimental unit"
ARMS_TITLE: Final = "Two arms"
_WHOLE: Final = 100  # From here on samples are counted without decimals


# --- what they are ----------------------------------------------------------------------------


def grouping_text(value: Record) -> str:
    """Return units or arms in a few words: ``tanks of 16, correlation 0.1``."""
    if isinstance(value, Units):
        correlation = "not given" if value.icc is None else f"{value.icc:g}"
        return texts.UNITS.format(units=plural(value.name, 2), value=value, icc=correlation)
    if isinstance(value, Arms):
        share = texts.FIRST_ARM.format(share=percent_text(value.share))
        return "equal arms" if value.share == Arms().share else share
    return ""


def groupings(design: Design) -> dict[str, tuple[str, str]]:
    """Return the units and the arms of a design, by field: how they are called, and in words."""
    pairs = {"units": (UNITS_TITLE, design.units), "arms": (ARMS_TITLE, design.arms)}
    return {
        name: (title, capitalised(grouping_text(value)))
        for name, (title, value) in pairs.items()
        if value is not None
    }


def arms_text(samples: int, design: Design) -> str:
    """Return how unlike arms share the samples: ``96 + 32``; empty where they are alike."""
    if not design.uneven:
        return ""
    return " + ".join(amount_text(arm) for arm in samples_in_arms(samples, design))


def units_text(plan: Assessment) -> str:
    """Return how many units a plan has: ``8 tanks of 16 (4 + 4)``; empty without any."""
    design = plan.pack.design
    if design.units is None:
        return ""
    return _units_text(
        design, [int(units_in_arm) for units_in_arm in units_in_arms(plan.counts.samples, design)]
    )


def _units_text(design: Design, arms: Sequence[int]) -> str:
    if design.units is None:
        return ""
    shared = f" ({' + '.join(map(amount_text, arms))})" if len(arms) > 1 else ""
    return f"{count_text(sum(arms), design.units.name)} of {design.units.samples:g}{shared}"


def basis_text(plan: Assessment) -> str:
    """Return what units and unlike arms make of the evidence; empty where they make nothing.

    ``8 tanks of 16 (4 + 4) with an intraclass correlation of 0.1: design effect 2.5; …``.
    """
    design, counted = plan.pack.design, plan.evidence.analysed
    lines = [texts.ARMS_OF.format(arms=arms) for arms in [arms_text(counted, design)] if arms]
    units = design.units
    worth = units_worth(plan, units.icc or 0.0) if units else None
    if units is not None and units.icc is not None and worth:
        arms = counted_units(design, plan.evidence.able)
        some_left = worth.remaining < units.samples
        text = texts.LEFT_IN_EACH.format(left=f"{worth.remaining:.3g}") if some_left else ""
        lines.append(
            texts.DESIGN_EFFECT.format(
                units=_units_text(design, arms),
                left=text,
                icc=f"{units.icc:g}",
                effect=f"{worth.design_effect:.3g}",
                samples=count_text(counted, "sample"),
                worth=_worth_text(worth.worth),
            )
        )
    return " ".join(lines)


def unknown_text(plan: Assessment) -> str:
    """Return what an intraclass correlation would make of a plan.

    Empty where one is given, or none can be.

    ``With an intraclass correlation of 0.01, 0.05 and 0.1 the power would be 0.60, 0.44 and 0.33.``
    """
    units, evidence = plan.pack.design.units, plan.evidence
    if units is None or units.icc is not None or evidence.void_reason:
        return ""
    if not (record := by_correlation(plan)):
        return ""
    tried = joined([f"{rho:g}" for rho in record])
    values = joined([evidence.amount(value) for value in record.values()])
    return texts.AT_CORRELATIONS.format(tried=tried, measure=evidence.measure, values=values)


# --- what they make of a plan -------------------------------------------------------------------


def units_panel(plan: Assessment) -> Group:
    """Return what a plan's units are, what they make of it, and what would be better."""
    design = plan.pack.design
    sentences = [*_sentences(plan)]
    return group(*sentences, correlations_table(plan, design.units) if design.units else None)


def _sentences(plan: Assessment) -> Iterator[Sentence]:
    design = plan.pack.design
    if design.units is not None:
        yield Sentence(f"{capitalised(units_text(plan))}.")
        if design.units.icc is None:
            otherwise = texts.SEE_TABLE if design.baseline is None else texts.OMIT_BASELINE
            yield Sentence(texts.NO_CORRELATION.format(unit=design.units.name, otherwise=otherwise))
    if arms := arms_text(plan.counts.samples, design):
        yield Sentence(f"{capitalised(count_text(plan.counts.samples, 'sample'))}: {arms}.")
    if limit := units_limit_text(plan):
        yield Sentence(limit)


def correlations_table(plan: Assessment, units: Units) -> Table:
    """Return what the plan shows at each intraclass correlation of its units."""
    evidence, rows = plan.evidence, list[tuple[Cell | str, ...]]()
    which = () if units.icc is None else ("Which",)
    for rho, value in by_correlation(plan).items():
        worth = units_worth(plan, rho)
        if worth is None:
            continue
        mark = "yours" if rho == units.icc else ""
        rows.append(
            row(
                Cell(f"{rho:g}", rho),
                Cell(f"{worth.design_effect:.3g}", worth.design_effect),
                Cell(_worth_text(worth.worth), worth.worth),
                Cell(evidence.amount(value), value),
                *([mark] if which else []),
            )
        )
    measure = evidence.title
    names = ("Correlation", "Design effect", "Worth, samples", measure, *which)
    return table(f"By the intraclass correlation of samples in one {units.name}", names, rows)


def _worth_text(samples: float) -> str:
    """Return how many independent samples some are worth: ``51.2``, ``1,250``."""
    return amount_text(round(samples)) if samples >= _WHOLE else f"{samples:.3g}"


def units_limit_text(plan: Assessment, *, alone: bool = True) -> str:
    """Return what a plan's units allow, and what would reach the target; empty where they do.

    Where it does not stand ``alone``, without how many samples exist.

    ``With 4 tanks in each arm no number of samples shows more than power 0.47; power 0.80 takes
    12 tanks of 16 in each arm.``
    """
    limit, design, evidence = units_limit(plan), plan.pack.design, plan.evidence
    if limit is None or design.units is None:
        return ""
    name, target = design.units.name, evidence.amount(evidence.target)
    extra = list[str]()
    if limit.per_unit is not None:
        extra.append(texts.IN_EACH.format(samples=count_text(limit.per_unit, "sample"), unit=name))
    if limit.enough is not None:
        of = f"{plural(name, 2)} of {design.units.samples:g}"
        extra.append(f"{in_arms_text(limit.enough, name, of)}")
    takes = ""
    if extra:
        takes = texts.UNITS_FOR_TARGET.format(
            measure=evidence.measure, target=target, ways=" or ".join(extra)
        )
    if limit.exceeds and takes and alone:
        exist = count_text(design.population_max or 0, "sample")
        takes += texts.STUDY_HAS.format(samples=exist)
    if limit.per_unit is None:
        text = texts.NO_SIZE_SHOWS.format(
            measure=evidence.measure, most=evidence.amount(limit.most)
        )
        takes = "; ".join(filter(None, [text, takes]))
    return texts.WITH_UNITS.format(units=in_arms_text(limit.units, name), takes=takes)


def in_arms_text(units: tuple[int, ...], name: str, named: str = "") -> str:
    """Return how many units arms have: ``4 tanks in each arm``, ``4 and 2 tanks in the arms``."""
    if len(set(units)) > 1:
        numbers = " and ".join(map(amount_text, units))
        return texts.IN_ARMS.format(units=f"{numbers} {named or plural(name, 2)}")
    counted = f"{amount_text(units[0])} {named}" if named else count_text(units[0], name)
    return texts.IN_EACH_ARM.format(units=counted) if len(units) > 1 else counted
