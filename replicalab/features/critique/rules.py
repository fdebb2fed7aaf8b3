"""The rules of a reviewer's questions: conditions, and outcomes with the values of their texts.

Sources: Hayes & Moulton, Cluster Randomised Trials (2017), for four units in an arm; Schulz &
Grimes (2002), Lancet 359, 781, for 20 % dropout; Benjamin et al. (2018), Nature Human Behaviour 2,
6, for p of 0.005.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from replicalab import lexicon
from replicalab.assessment import Assessment, counted_units, original_estimate, phrases, placed_text
from replicalab.assessment.effects import original_interval, published_effect
from replicalab.planner.curves import by_correlation
from replicalab.registration import Finder, Registration
from replicalab.scenarios import Bounds, EvidenceTier

_FEWEST_UNITS: Final = 4
_LARGE_DROPOUT: Final = 0.2
_JUST_SIGNIFICANT: Final = 0.005
_LEVEL: Final = 0.05
_TINY_P: Final = 1e-4
_ALIKE: Final = 0.01  # effects that differ by less of the larger are the same
_SHOWN: Final = 3  # criteria
_QUOTE: Final = 240  # characters of a quoted text


class Outcome(NamedTuple):
    """The outcome of a rule.

    Attributes:
        name: key of its text.
        values: for the text.
        finder: who says so; ReplicaLab if None.
        firm: whether an author's answer does not change it.
    """

    name: str
    values: Mapping[str, Any] = {}
    finder: Finder | None = None
    firm: bool = False


def quote(text: str) -> str:
    """Return a text in quotation marks, on one line and not too long."""
    return f"“{lexicon.shortened(lexicon.one_line(text), _QUOTE)}”"


class Review:
    """A plan, and what its author answers on registration forms."""

    def __init__(self, plan: Assessment, said: Registration) -> None:
        self.plan, self.said = plan, said
        self.pack, self.design, self.evidence = plan.pack, plan.pack.design, plan.evidence
        self.kind = self.design.row
        self.groups = self.kind.groups_of(self.design)
        self.is_test = self.kind.sought is not None
        self.criteria = [text for text in self.pack.success_criteria if lexicon.is_given(text)]

    def answers(self, *keys: str) -> str:
        """Return the author's answers to some questions, quoted; empty without any."""
        texts = (self.said.answer(key) for key in keys)
        return " ".join(quote(text) for text in texts if lexicon.is_given(text))

    def finder(self, field: str) -> Finder:
        """Return whose choice a field of the design is."""
        return Finder.STUDY if getattr(self.pack.question, field) is None else Finder.AUTHOR

    def reason(self, field: str) -> str:
        """Return the quoted reason for a field of the design; empty if not given.

        The study's reason does not hold for a value asked in its place.
        """
        request = getattr(self.pack.question, field) is not None
        record = {str(name): reason for name, reason in self.pack.question.why.items()}
        reason = (record if request else self.design.why).get(field, "")
        return quote(reason) if lexicon.is_given(reason) else ""

    def shown_criteria(self) -> str:
        """Return the first criteria of success, quoted, and the number of the others."""
        extra = len(self.criteria) - _SHOWN
        texts = [
            *map(quote, self.criteria[:_SHOWN]),
            *([f"And {extra} more."] if extra > 0 else []),
        ]
        return " ".join(texts)


CONDITIONS: Final[Mapping[str, Callable[[Review], bool]]] = {
    "always": lambda _: True,
    "has_units_field": lambda of: "units" in of.kind.optional,
    "has_units": lambda of: of.design.units is not None,
    "has_arms_field": lambda of: "arms" in of.kind.optional,
    "has_groups": lambda of: of.groups > 1,
    "has_limits": lambda of: bool(of.pack.limits),
    "is_sampled": lambda of: of.kind.effect is not None,
    "is_test": lambda of: of.is_test,
    "is_test_with_evidence": lambda of: of.is_test and of.evidence.void_reason is None,
    "is_test_of_effect": lambda of: of.is_test and of.kind.effect is not None,
    "is_test_of_difference": lambda of: (
        of.is_test and of.kind.effect is not None and not of.kind.effect.within_margin
    ),
}
"""Whether a reviewer would ask a question."""


def _unit(of: Review) -> Outcome:
    units, n = of.design.units, of.design.unit_of_n
    if units is None:
        return Outcome("open", {"n": n})
    values = {"unit": units.name, "samples": units.samples, "n": n}
    return Outcome("named", values, of.finder("units"))


def _correlation(of: Review) -> Outcome:
    units, evidence = of.design.units, of.evidence
    assert units is not None  # noqa: S101 - the question's condition
    if units.icc is not None:
        values = {"icc": units.icc, "reason": of.reason("units")}
        return Outcome("reason" if values["reason"] else "bare", values, of.finder("units"))
    tried = {} if evidence.void_reason else by_correlation(of.plan)
    text = lexicon.joined([f"{evidence.amount(value)} at {rho:g}" for rho, value in tried.items()])
    values = {"unit": units.name, "measure": evidence.measure, "values": text}
    return Outcome("tried" if tried else "independent", values)


def _few_units(of: Review) -> Outcome:
    unit = of.design.units.name if of.design.units else "unit"
    arms = counted_units(of.design, of.evidence.able)
    number = min(arms) if len(arms) == of.groups else arms[0] // of.groups
    values = {
        "counted": lexicon.count_text(number, unit),
        "arm": " in an arm" if of.groups > 1 else "",
        "each": "" if of.design.units else ", if each sample is one",
        "least": _FEWEST_UNITS,
        "units": lexicon.plural(unit, 2),
    }
    return Outcome("few" if number < _FEWEST_UNITS else "enough", values)


def _unequal_arms(of: Review) -> Outcome:
    arms, samples = of.design.arms, of.plan.counts.samples
    if arms is None or not of.design.uneven:
        small, rest = divmod(samples, of.groups)
        sizes = {"small": lexicon.amount_text(small), "large": lexicon.amount_text(small + 1)}
        name = "nearly" if rest else "even"
        return Outcome(name, {"samples": lexicon.count_text(samples, "sample"), **sizes})
    values = {"share": lexicon.percent_text(arms.share), "reason": of.reason("arms")}
    return Outcome("reason" if values["reason"] else "bare", values, of.finder("arms"))


def _controls(of: Review) -> Outcome:
    if dropped := of.plan.dropped:
        names = [
            f"'{control.name}'{f' against {control.guards}' if control.guards else ''}"
            for control in dropped
        ]
        return Outcome("dropped", {"dropped": lexicon.joined(names)})
    if not of.plan.plan.controls:
        return Outcome("none")
    names = lexicon.quoted(of.plan.plan.controls)
    return Outcome("kept", {"controls": lexicon.joined(names), "said": of.answers("controls")})


def _control_kinds(of: Review) -> Outcome:
    guards = {control.name: control.guards for control in of.pack.controls}
    names = of.plan.plan.controls
    listed = [f"'{name}'{f' ({guards[name]})' if guards.get(name) else ''}" for name in names]
    return Outcome("open", {"controls": lexicon.joined(listed)}) if listed else Outcome("none")


def _substitutions(of: Review) -> Outcome:
    plan, study = of.plan, of.pack.study
    listed = {item.key for item in plan.items}
    listed |= {lexicon.label_key(swap.original) for swap in plan.substitutions}
    protocol = of.pack.reference_protocol
    needed = (*protocol.required_equipment, *protocol.required_reagents)
    left_out = [label for label in needed if lexicon.label_key(label) not in listed]
    costly = [swap.fidelity_loss > 0 or swap.evidence_factor < 1 for swap in plan.substitutions]
    swaps = [
        f"{swap.alternative} for {swap.original}{'' if costs else ' (fidelity loss 0)'}: "
        f"{lexicon.ended(swap.tradeoff)}"
        for swap, costs in zip(plan.substitutions, costly, strict=True)
    ]
    values = {"swaps": " ".join(swaps), "left_out": lexicon.joined(lexicon.quoted(left_out))}
    finder = Finder.STUDY if swaps else None
    if left_out or any(costly):
        return Outcome("left_out" if left_out else "costly", values, finder)
    none = "none" if study.equipment or study.reagents else "nothing"
    return Outcome("free" if swaps else none, values, finder)


def _availability(of: Review) -> Outcome:
    if missing := [f"'{item.label}' is {item.status_text}" for item in of.plan.missing_items]:
        return Outcome("missing", {"missing": lexicon.joined(missing)})
    chosen = of.said.choices.get("original_materials", ())
    name = "withheld" if "No" in chosen else "all" if chosen else "open"
    return Outcome(name, {}, Finder.AUTHOR if chosen else None)


def _power(of: Review) -> Outcome:
    meets = of.evidence.tier is EvidenceTier.MEETS_TARGET
    return Outcome(
        "met" if meets else "below", {"placed": lexicon.capitalised(placed_text(of.evidence))}
    )


def _limits(of: Review) -> Outcome:
    broken = of.plan.broken_limits
    if not broken:
        return Outcome("kept", {"kept": lexicon.joined([*map(phrases.kept_text, of.pack.limits)])})
    clauses = [
        f"'{limit.constraint.label}' {'must' if limit.hard else 'should'} be {limit.text}, and the "
        f"plan has {phrases.bounded_text(limit, of.plan)}"
        for limit in broken
    ]
    days = of.plan.counts.days
    short = any(limit.number is Bounds.DAYS and days < limit.least for limit in broken)
    return Outcome(
        "short" if short else "broken", {"broken": lexicon.capitalised("; ".join(clauses))}
    )


def _original_n(of: Review) -> Outcome:
    original, analysed = of.design.original, of.evidence.analysed
    arms = (original.n1, original.n2) if original else ()
    number = original.n if original and original.n else sum(filter(None, arms))
    if not number:
        published = of.pack.paper.published
        name = "unknown" if lexicon.is_given(published) else "silent"
        return Outcome(name, {"published": quote(published)})
    values = {"analysed": lexicon.amount_text(analysed), "known": lexicon.amount_text(number)}
    if analysed >= number:
        return Outcome("enough", values)
    if reason := of.said.reasons.get("sample_size", "").strip():
        return Outcome("reason", {**values, "reason": quote(reason)}, Finder.AUTHOR)
    return Outcome("smaller", values)


def _dropout(of: Review) -> Outcome:
    share = of.design.dropout
    text = lexicon.count_text(of.evidence.analysed, "sample")
    values = {"share": lexicon.percent_text(share), "left": text, "reason": of.reason("dropout")}
    if share:
        name = "large" if share >= _LARGE_DROPOUT else "planned"
    else:
        name = "reason" if values["reason"] else "none"
    return Outcome(name, values, of.finder("dropout"))


def _original_uncertainty(of: Review) -> Outcome:
    original, estimate = of.design.original, original_estimate(of.design)
    if estimate is None:
        return Outcome("partial" if original else "unknown")
    interval = ""
    if original and original.low is not None and original.high is not None:
        ends = f"{original.low:g} to {original.high:g}"
        interval = f"The reported {lexicon.percent_text(original.level)} interval is {ends}. "
    elif worked_out := original_interval(of.design):
        ends = f"{worked_out[0]:z.3g} to {worked_out[1]:z.3g}"
        interval = f"The 95 % interval is {ends}, from the estimate and its standard error. "
    p = "below 0.0001" if estimate.p < _TINY_P else f"{estimate.p:.2g}"
    name = "insignificant" if estimate.p >= _LEVEL else "sure"
    if _JUST_SIGNIFICANT < estimate.p < _LEVEL:
        name = "just"
    return Outcome(name, {"interval": interval, "p": p})


def _face_value(of: Review) -> Outcome:
    effect, planned = of.kind.effect, of.design.effect_planning
    published = published_effect(of.design)
    if effect is None or planned is None or published is None:
        return Outcome("unknown")
    values = {"effect": effect.name, "planned": planned, "published": published}
    as_large = effect.size(planned) >= effect.size(published) * (1 - _ALIKE)
    return Outcome("as_large" if as_large else "smaller", values)


def _sidedness(of: Review) -> Outcome:
    original = of.design.original
    effect = of.kind.effect
    two_sided = effect is not None and effect.signed and not effect.within_margin
    differs = original is not None and original.sides == 1 and two_sided
    values = {"measure": of.evidence.measure, "level": of.kind.level}
    return Outcome("original" if differs else "open", values)


def _success(of: Review) -> Outcome:
    values = {"criteria": of.shown_criteria(), "reason": of.evidence.void_reason}
    if not of.criteria:
        return Outcome("unknown")
    return Outcome("void" if of.evidence.void_reason else "criteria", values, Finder.STUDY)


def _covered(of: Review) -> Outcome:
    values = {
        "number": len(of.criteria),
        "criteria": of.shown_criteria(),
        "measure": of.evidence.measure,
        "value": of.evidence.number,
    }
    return Outcome(("unknown", "one", "several")[min(len(of.criteria), 2)], values)


def _sameness(of: Review) -> Outcome:
    effect = of.kind.effect
    if effect is not None and effect.within_margin:
        return Outcome("margin", {"margin": of.design.margin}, firm=True)
    return Outcome("open")


def _multiplicity(of: Review) -> Outcome:
    number = len(of.criteria)
    return Outcome("several" if number > 1 else "unknown", {"number": number}, Finder.STUDY)


RULES: Final[Mapping[str, Callable[[Review], Outcome]]] = {
    "unit": _unit,
    "correlation": _correlation,
    "few_units": _few_units,
    "unequal_arms": _unequal_arms,
    "controls": _controls,
    "control_kinds": _control_kinds,
    "substitutions": _substitutions,
    "availability": _availability,
    "power": _power,
    "limits": _limits,
    "original_n": _original_n,
    "dropout": _dropout,
    "stopping": lambda of: Outcome(
        "size", {"samples": lexicon.count_text(of.plan.counts.samples, "sample")}
    ),
    "original_uncertainty": _original_uncertainty,
    "face_value": _face_value,
    "sidedness": _sidedness,
    "success": _success,
    "covered": _covered,
    "sameness": _sameness,
    "multiplicity": _multiplicity,
}
"""The rule of each question that is not answered on a form alone."""
