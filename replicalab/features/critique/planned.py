"""What the numbers of a plan rest on: its units, its sample, the original, and what is concluded.

Sources: Hayes & Moulton, Cluster Randomised Trials (2017), for four units in an arm; Schulz &
Grimes (2002), Lancet 359, 781, for 20 % dropout; Benjamin et al. (2018), Nature Human Behaviour 2,
6, for p of 0.005.
"""

from __future__ import annotations

import re
from typing import Final

from replicalab.assessment import counted_units, original_estimate, placed_text
from replicalab.assessment.effects import original_interval, published_effect
from replicalab.assessment.phrases import bounded_text, kept_text
from replicalab.designs import KINDS
from replicalab.features.critique.remarks import (
    Judged,
    Reviewed,
    answered,
    concern,
    quoted,
    sentence_with,
    unsaid,
    who_asks,
)
from replicalab.lexicon import (
    amount_text,
    capitalised,
    count_text,
    ended,
    is_given,
    joined,
    label_key,
    percent_text,
    plural,
)
from replicalab.lexicon import quoted as labels_quoted
from replicalab.planner.unreached import by_correlation
from replicalab.registration import Finder
from replicalab.scenarios import AllowedSubstitution, Bounds, Design, EvidenceTier

_FEW_UNITS: Final = 4
_LARGE_DROPOUT: Final = 0.2
_JUST_SIGNIFICANT: Final = 0.005
_LEVEL: Final = 0.05
_TINY_P: Final = 1e-4
_TWO: Final = 2
_ALIKE: Final = 0.01  # Effects that differ by less of the larger are the same
_MOST_QUOTED: Final = 3
_UNIT: Final = re.compile(r"\bunits?\b|\bcluster|\bnested\b|\bindependen", re.IGNORECASE)
_DAY: Final = re.compile(r"\bday (\d{1,6})\b", re.IGNORECASE)
_N: Final = re.compile(r"\bn\s?=\s?\d", re.IGNORECASE)
_ONE_SIDED: Final = re.compile(r"\bone[- ](?:sided|tailed)\b", re.IGNORECASE)
_TWO_SIDED: Final = re.compile(r"\btwo[- ](?:sided|tailed)\b", re.IGNORECASE)
_ABSENCE: Final = re.compile(
    r"\bno (?:effect|difference|association|correlation)\b|\babsence of\b|\bnull is accepted\b"
    r"|\baccept the null\b|\bthe same as\b|\bp\s?(?:>|≥|>=)\s?0?\.\d+",
    re.IGNORECASE,
)
_DENIAL: Final = re.compile(
    r"\b(?:no|not|never|cannot|neither|nor|without|rather than)\b|n't\b", re.IGNORECASE
)


# --- units and arms ---------------------------------------------------------------------------


def unit(of: Reviewed) -> Judged:
    """Judge whether the experimental unit is named, and what n counts."""
    units = of.design.units
    if units is not None:
        return answered(
            f"A {units.name} is the unit, with {units.samples:g} samples in each; n counts "
            f"{of.design.unit_of_n}.",
            who_asks(of.pack, "units"),
        )
    if text := sentence_with(of.author("design", "randomisation"), _UNIT):
        return answered(quoted(text), Finder.AUTHOR)
    return unsaid(
        f"n counts {of.design.unit_of_n}; whether several of them share a unit, such as a cage, a "
        "batch or a class, is not given."
    )


def few_units(of: Reviewed) -> Judged:
    """Judge whether an arm has enough units to tell a treatment from a unit."""
    design = of.design
    name = design.units.name if design.units else "unit"
    arms = counted_units(design, of.plan.evidence.able)
    each = min(arms) if len(arms) == of.groups else arms[0] // of.groups
    where = " in an arm" if of.groups > 1 else ""
    counted = f"{count_text(each, name)}{where}"
    if design.units is None:
        counted += ", if each sample is one"
    if each < _FEW_UNITS:
        return concern(
            f"{counted}: with fewer than {_FEW_UNITS} a test can hardly tell a treatment from "
            f"what differs between {plural(name, 2)}."
        )
    return answered(f"{counted}.")


def correlation(of: Reviewed) -> Judged:
    """Judge whether the intraclass correlation is given, with a reason."""
    units, evidence = of.design.units, of.plan.evidence
    if units is None or units.icc is None:
        tried = by_correlation(of.plan)
        values = joined([f"{evidence.amount(value)} at {rho:g}" for rho, value in tried.items()])
        known = (
            f" The {evidence.measure} would be {values}."
            if tried and not evidence.void_reason
            else ""
        )
        name = units.name if units else "unit"
        return unsaid(f"Samples that share a {name} are taken as independent.{known}")
    if reason := _reason(of, "units"):
        return answered(f"{units.icc:g}: {quoted(reason)}", who_asks(of.pack, "units"))
    return concern(f"It is {units.icc:g}, without a reason.", who_asks(of.pack, "units"))


def unequal_arms(of: Reviewed) -> Judged:
    """Judge whether unlike arms have a reason."""
    design = of.design
    if not design.uneven or design.arms is None:
        return answered(_even_arms(of))
    share = f"{percent_text(design.arms.share)} of the samples are in the first arm"
    if reason := _reason(of, "arms"):
        return answered(f"{share}: {quoted(reason)}", who_asks(of.pack, "arms"))
    return concern(
        f"{share}, without a reason; equal arms show the most for the same samples.",
        who_asks(of.pack, "arms"),
    )


def _even_arms(of: Reviewed) -> str:
    """Return how equal the arms are of a plan that asks for equal ones."""
    samples = of.plan.counts.samples
    each, left = divmod(samples, of.groups)
    if not left:
        return "The arms are of one size."
    sizes = f"{amount_text(each)} and {amount_text(each + 1)}"
    return f"The arms are as equal as {count_text(samples, 'sample')} can be shared out: {sizes}."


def _reason(of: Reviewed, field: str) -> str:
    """Return the reason for a choice of the design, empty where none is given.

    The study's reason is none for what is asked in its place.
    """
    own = {str(name): reason for name, reason in of.pack.question.why.items()}
    asked = getattr(of.pack.question, field) is not None
    reason = own.get(field, "") if asked else of.design.why.get(field, "")
    return reason if is_given(reason) else ""


# --- the sample -------------------------------------------------------------------------------


def power(of: Reviewed) -> Judged:
    """Judge whether the evidence reaches its target."""
    evidence = of.plan.evidence
    meets = evidence.tier is EvidenceTier.MEETS_TARGET
    return (answered if meets else concern)(f"{capitalised(placed_text(evidence))}.")


def limits(of: Reviewed) -> Judged:
    """Judge whether the plan keeps what the study itself asks of its numbers."""
    broken = [
        f"'{limit.constraint.label}' {'must' if limit.hard else 'should'} be {limit.text}, and the "
        f"plan has {bounded_text(limit, of.plan)}"
        for limit in of.plan.broken_limits
    ]
    if broken:
        days = of.plan.counts.days
        short = any(one.number is Bounds.DAYS and days < one.least for one in of.plan.broken_limits)
        lost = " What rests on the missing days cannot be shown." if short else ""
        return concern(f"{ended(capitalised('; '.join(broken)))}{lost}")
    return answered(f"It keeps {joined([*map(kept_text, of.pack.limits)])}.")


def original_n(of: Reviewed) -> Judged:
    """Judge whether the sample is smaller than the original's, and why."""
    original, analysed = of.design.original, of.plan.evidence.analysed
    both = (original.n1, original.n2) if original else (None, None)
    known = original.n if original and original.n else sum(filter(None, both))
    if not known:
        if text := sentence_with([of.pack.paper.published], _N):
            return unsaid(
                "The original’s n is not given as a number of its own; of the published result the "
                f"study’s file says: {quoted(text)}"
            )
        return unsaid("The original’s n is not given.")
    text = f"The plan analyses {amount_text(analysed)}, the original had {amount_text(known)}."
    if analysed >= known:
        return answered(text)
    if reason := of.said.reasons.get("sample_size", "").strip():
        return answered(f"{text} {quoted(reason)}", Finder.AUTHOR)
    return concern(f"{text} A smaller study is likelier to miss what the original found.")


def dropout(of: Reviewed) -> Judged:
    """Judge whether dropout is planned for."""
    share, evidence = of.design.dropout, of.plan.evidence
    who = who_asks(of.pack, "dropout")
    kept = f"{percent_text(share)} dropout leaves {count_text(evidence.analysed, 'sample')}"
    if share >= _LARGE_DROPOUT:
        return concern(f"{kept}; from 20 % on those who stay may differ from those who leave.", who)
    if share:
        return answered(f"{kept}.", who)
    if reason := _reason(of, "dropout"):
        return answered(f"None is expected: {quoted(reason)}", who)
    return unsaid("The plan assumes none, without a reason.")


def substitutions(of: Reviewed) -> Judged:
    """Judge what the plan's substitutions, and what it leaves out, lose of the study."""
    plan, study = of.plan, of.pack.study
    swaps = plan.substitutions
    replaced = {label_key(swap.original) for swap in swaps}
    listed = {item.key for item in plan.items} | replaced
    own = of.pack.reference_protocol
    needed = (*own.required_equipment, *own.required_reagents)
    left_out = [label for label in needed if label_key(label) not in listed]
    told = [_traded(swap) for swap in swaps]
    if left_out:
        told.append(f"The plan leaves out {joined(labels_quoted(left_out))}.")
    if left_out or any(map(_costs, swaps)):
        return concern(" ".join(told), Finder.STUDY if swaps else Finder.CORE)
    if swaps:
        return answered(" ".join(told), Finder.STUDY)
    has = "what the study lists" if study.equipment or study.reagents else "nothing in particular"
    return answered(f"None is made: the plan uses {has}.")


def _costs(swap: AllowedSubstitution) -> bool:
    return swap.fidelity_loss > 0 or swap.evidence_factor < 1


def _traded(swap: AllowedSubstitution) -> str:
    """Return a substitution with what the study's file says of it, and that it loses nothing."""
    none_lost = "" if _costs(swap) else " (fidelity loss 0)"
    return f"{swap.alternative} for {swap.original}{none_lost}: {ended(swap.tradeoff)}"


# --- the original -----------------------------------------------------------------------------


def original_uncertainty(of: Reviewed) -> Judged:
    """Judge how sure the original's effect is."""
    estimate = original_estimate(of.design)
    if estimate is None:
        known = "Neither a standard error nor n" if of.design.original else "No result in numbers"
        return unsaid(f"{known} of the original is given.")
    p = "below 0.0001" if estimate.p < _TINY_P else f"{estimate.p:.2g}"
    interval = _interval_text(of.design)
    known = f"The original’s {interval}; its two-sided p is {p}"
    if not interval:
        known = f"The original’s two-sided p is {p}"
    if estimate.p >= _LEVEL:
        return concern(f"{known}: it was not significant.")
    if estimate.p > _JUST_SIGNIFICANT:
        return concern(f"{known}: just significant results overestimate most.")
    return answered(f"{known}.")


def _interval_text(design: Design) -> str:
    """Return the original's interval, as reported or else as worked out; empty without either."""
    original = design.original
    if original and original.low is not None and original.high is not None:
        level = percent_text(original.level)
        return f"reported {level} interval is {original.low:g} to {original.high:g}"
    if ends := original_interval(design):
        low, high = ends
        worked_out = "from the estimate and its standard error"
        return f"95 % interval is {low:z.3g} to {high:z.3g}, {worked_out}"
    return ""


def face_value(of: Reviewed) -> Judged:
    """Judge whether the published effect is planned with as it stands."""
    design, effect = of.design, of.kind.effect
    published, planned = published_effect(design), design.effect_planning
    if effect is None or planned is None or published is None:
        return unsaid("No published effect is given that the planned one could be held against.")
    own, other = effect.size(planned), effect.size(published)
    text = f"Planned with {effect.name} {planned:z.3g}; published is {published:z.3g}."
    if own >= other * (1 - _ALIKE):
        return concern(f"{text} Published effects are more often too large than too small.")
    return answered(text)


# --- what is concluded ------------------------------------------------------------------------


def sidedness(of: Reviewed) -> Judged:
    """Judge whether the sides of the test are chosen, and the power is of that test."""
    original = of.design.original
    said = of.author("analysis", "inference", "hypotheses")
    level = of.kind.level
    planned = f"The {of.plan.evidence.measure} is that of a {level} test"
    if "sided test" in level:
        planned = f"The {of.plan.evidence.measure} is at the level {level}"
    elif "-sided" not in level:
        planned = f"The level is that {level}"
    one, two = sentence_with(said, _ONE_SIDED), sentence_with(said, _TWO_SIDED)
    if one and "two-sided" in level:
        return concern(f"{planned}, and the author says {quoted(one)}.", Finder.AUTHOR)
    if two and level == "one-sided":
        return concern(f"{planned}, and the author says {quoted(two)}.", Finder.AUTHOR)
    if original and original.sides == 1 and "two-sided" in level and not two:
        return concern(f"{planned}; the original’s was one-sided.")
    if text := one or two:
        return answered(f"{planned}. {quoted(text)}", Finder.AUTHOR)
    return unsaid(f"{planned}; whether that of the analysis is one- or two-sided is not given.")


def sameness(of: Reviewed) -> Judged:
    """Judge whether a result that is not significant would be taken for no effect."""
    effect = KINDS[of.design.kind].effect
    if effect is not None and effect.within_margin:
        return answered(f"Equivalence is tested, with a margin of {of.design.margin:g}.")
    said = of.author("success", "meanings", "hypotheses")
    paper = of.pack.paper
    texts = {
        Finder.AUTHOR: said,
        Finder.STUDY: [*of.pack.success_criteria, paper.goal, paper.hypothesis],
    }
    for who, lines in texts.items():
        sentence = sentence_with(lines, _ABSENCE)
        if not sentence:
            continue
        if _DENIAL.search(_ABSENCE.sub("", sentence)):
            return answered(quoted(sentence), who)
        return concern(
            f"{quoted(sentence)} Without a margin of equivalence p above the level is no evidence "
            "of sameness.",
            who,
        )
    for text in of.author("meanings", "success"):
        return answered(quoted(text), Finder.AUTHOR)
    return unsaid("What a result that is not significant would mean is not given.")


def success(of: Reviewed) -> Judged:
    """Judge whether it is chosen what counts as replicated."""
    for text in of.author("success"):
        return answered(quoted(text), Finder.AUTHOR)
    criteria, days = _criteria(of), of.plan.counts.days
    if later := [text for text in criteria if any(int(day) > days for day in _DAY.findall(text))]:
        has = f"The plan has {count_text(days, 'day')}, and the study names a later one"
        return concern(f"{has}: {_few(later)}", Finder.STUDY)
    if criteria:
        return answered(_few(criteria), Finder.STUDY)
    return unsaid("Neither study nor author says what counts as replicated.")


def covered(of: Reviewed) -> Judged:
    """Judge whether the power is of all that counts as success."""
    criteria, evidence = _criteria(of), of.plan.evidence
    if len(criteria) > 1:
        return concern(
            f"The study names {len(criteria)} criteria, and the {evidence.measure} of "
            f"{evidence.number} is of one test: {_few(criteria)}"
        )
    if criteria:
        return answered(f"One criterion is named, and the {evidence.measure} is of one test.")
    return unsaid("No criterion of success is given.")


def _criteria(of: Reviewed) -> list[str]:
    return [text for text in of.pack.success_criteria if is_given(text)]


def _few(texts: list[str]) -> str:
    more = len(texts) - _MOST_QUOTED
    rest = f" And {more} more." if more > 0 else ""
    return f"{' '.join(map(quoted, texts[:_MOST_QUOTED]))}{rest}"
