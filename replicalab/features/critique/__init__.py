"""Critique: a reviewer's questions about a plan, judged, each with the place of its remedy.

An author's answer counts, whatever its content: it is quoted for the reader to judge. Sources:
Hayes & Moulton, Cluster Randomised Trials (2017), for four units in an arm; Schulz & Grimes (2002),
Lancet 359, 781, for 20 % dropout; Benjamin et al. (2018), Nature Human Behaviour 2, 6, for p of
0.005.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NamedTuple

from replicalab import lexicon
from replicalab.answers import QUESTIONS as FORM
from replicalab.answers import Finder, Registration
from replicalab.assessment import Assessment, counted_units, original_estimate, phrases
from replicalab.assessment.effects import published_effect
from replicalab.documents import Report
from replicalab.facts import curve_facts
from replicalab.facts.blocks import Cell, Column, Part, Sentence, Status, Table, part, table
from replicalab.planner.curves import Curves
from replicalab.scenarios import Bounds, EvidenceTier

_FEWEST_UNITS: Final = 4
_LARGE_DROPOUT: Final = 0.2
_JUST_SIGNIFICANT: Final = 0.005
_LEVEL: Final = 0.05
_ALIKE: Final = 0.01  # share of the larger effect by which equal ones may differ


class RuleResult(NamedTuple):
    """The outcome of a rule; an author's answer does not change a firm one."""

    name: str
    values: Mapping[str, Any] = {}
    source: Finder = Finder.CORE
    firm: bool = False


def _quote(text: str) -> str:
    return f"“{lexicon.one_line(text)}”"


class _Review:
    """A plan and its author's answers on registration forms."""

    def __init__(self, plan: Assessment, author: Registration) -> None:
        self.plan, self.author = plan, author
        self.pack, self.design, self.evidence = plan.pack, plan.pack.design, plan.evidence
        self.kind, self.effect = self.design.row, self.design.row.effect
        self.groups = self.kind.groups_of(self.design)
        self.is_test = self.kind.sought is not None
        self.criteria = [text for text in self.pack.success_criteria if lexicon.is_given(text)]

    def answers(self, *keys: str) -> str:
        texts = (self.author.answer(key) for key in keys)
        return " ".join(_quote(text) for text in texts if lexicon.is_given(text))

    def source(self, field: str) -> Finder:
        return Finder.STUDY if getattr(self.pack.question, field) is None else Finder.AUTHOR

    def reason(self, field: str) -> str:
        reasons = {str(name): reason for name, reason in self.pack.question.why.items()}
        if self.source(field) is Finder.STUDY:
            reasons = dict(self.design.why)
        reason = reasons.get(field, "")
        return _quote(reason) if lexicon.is_given(reason) else ""

    def guarded(self, controls: Sequence[str]) -> str:
        guards = {c.name: f" ({c.guards})" for c in self.pack.controls if c.guards}
        return lexicon.joined([f"'{name}'{guards.get(name, '')}" for name in controls])

    def quoted_criteria(self) -> str:
        return " ".join(map(_quote, self.criteria))


_CONDITIONS: Final[Mapping[str, Callable[[_Review], bool]]] = {
    "always": lambda _: True,
    "has_units_field": lambda of: "units" in of.kind.optional,
    "has_units": lambda of: of.design.units is not None,
    "has_arms_field": lambda of: "arms" in of.kind.optional,
    "has_groups": lambda of: of.groups > 1,
    "has_limits": lambda of: bool(of.pack.limits),
    "is_sampled": lambda of: of.effect is not None,
    "is_test": lambda of: of.is_test,
    "is_test_with_evidence": lambda of: of.is_test and of.evidence.void_reason is None,
    "is_test_of_effect": lambda of: of.is_test and of.effect is not None,
    "is_test_of_difference": lambda of: bool(
        of.is_test and of.effect and not of.effect.within_margin
    ),
}
"""Whether a question applies."""


def _correlation(of: _Review) -> RuleResult:
    units, evidence = of.design.units, of.evidence
    assert units is not None  # noqa: S101 - the question's condition
    if units.icc is not None:
        values = {"icc": units.icc, "reason": of.reason("units")}
        return RuleResult("reason" if values["reason"] else "bare", values, of.source("units"))
    tried = {} if evidence.void_reason else Curves(of.plan).by_correlation
    text = lexicon.joined([f"{evidence.amount(value)} at {rho:g}" for rho, value in tried.items()])
    values = {"name": units.name, "measure": evidence.measure, "values": text}
    return RuleResult("tried" if tried else "independent", values)


def _few_units(of: _Review) -> RuleResult:
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
    return RuleResult("few" if number < _FEWEST_UNITS else "enough", values)


def _unequal_arms(of: _Review) -> RuleResult:
    arms, samples = of.design.arms, of.plan.counts.samples
    if arms is None or not of.design.uneven:
        name = "nearly" if samples % of.groups else "even"
        return RuleResult(name, {"samples": lexicon.count_text(samples, of.design.sample_noun)})
    values = {"share": lexicon.percent_text(arms.share), "reason": of.reason("arms")}
    return RuleResult("reason" if values["reason"] else "bare", values, of.source("arms"))


def _controls(of: _Review) -> RuleResult:
    names, dropped = of.plan.plan.controls, [control.name for control in of.plan.dropped]
    values = {"dropped": of.guarded(dropped), "answer": of.answers("controls")}
    values["controls"] = lexicon.joined(lexicon.quoted(names))
    return RuleResult("dropped" if dropped else "kept" if names else "none", values)


def _substitutions(of: _Review) -> RuleResult:
    plan, protocol = of.plan, of.pack.reference_protocol
    used = {item.key for item in plan.items}
    used |= {lexicon.label_key(swap.original) for swap in plan.substitutions}
    needed = (*protocol.required_equipment, *protocol.required_reagents)
    left_out = [label for label in needed if lexicon.label_key(label) not in used]
    is_costly = any(swap.fidelity_loss or swap.evidence_factor < 1 for swap in plan.substitutions)
    texts = [
        f"{swap.alternative} for {swap.original} (fidelity loss {swap.fidelity_loss}): "
        f"{lexicon.ended(swap.tradeoff)}"
        for swap in plan.substitutions
    ]
    values = {"swaps": " ".join(texts), "left_out": lexicon.joined(lexicon.quoted(left_out))}
    name = "left_out" if left_out else "costly" if is_costly else "free" if texts else "none"
    return RuleResult(name, values, Finder.STUDY if texts else Finder.CORE)


def _availability(of: _Review) -> RuleResult:
    if missing := [f"'{item.label}' is {item.status_text}" for item in of.plan.missing_items]:
        return RuleResult("missing", {"missing": lexicon.joined(missing)})
    chosen = of.author.choices.get("original_materials", ())
    name = "withheld" if "No" in chosen else "all" if chosen else "open"
    return RuleResult(name, {}, Finder.AUTHOR if chosen else Finder.CORE)


def _limits(of: _Review) -> RuleResult:
    if not (broken := of.plan.broken_limits):
        return RuleResult(
            "kept", {"kept": lexicon.joined([limit.kept_text for limit in of.pack.limits])}
        )
    texts = [
        f"'{limit.constraint.label}' {'must' if limit.hard else 'should'} be {limit.text}, and the "
        f"plan has {phrases.bounded_text(limit, of.plan)}"
        for limit in broken
    ]
    days = of.plan.counts.days
    short = any(limit.number is Bounds.DAYS and days < limit.least for limit in broken)
    values = {"broken": lexicon.capitalised("; ".join(texts))}
    return RuleResult("short" if short else "broken", values)


def _original_n(of: _Review) -> RuleResult:
    reported, analysed = of.design.original, of.evidence.analysed
    arms = (reported.n1, reported.n2) if reported else ()
    number = reported.n if reported and reported.n else sum(filter(None, arms))
    if not number:
        published = of.pack.paper.published
        name = "unknown" if lexicon.is_given(published) else "silent"
        return RuleResult(name, {"published": _quote(published)})
    reason = of.author.reasons.get("sample_size", "").strip()
    values = {"analysed": lexicon.amount_text(analysed), "original": lexicon.amount_text(number)}
    if reason and analysed < number:
        return RuleResult("reason", {**values, "reason": _quote(reason)}, Finder.AUTHOR)
    return RuleResult("smaller" if analysed < number else "enough", values)


def _dropout(of: _Review) -> RuleResult:
    share, reason = of.design.dropout, of.reason("dropout")
    analysed = lexicon.count_text(of.evidence.analysed, of.design.sample_noun)
    values = {"share": lexicon.percent_text(share), "left": analysed, "reason": reason}
    name = "large" if share >= _LARGE_DROPOUT else "planned" if share else "none"
    name = "reason" if reason and not share else name
    return RuleResult(name, values, of.source("dropout"))


def _original_uncertainty(of: _Review) -> RuleResult:
    reported, estimate = of.design.original, original_estimate(of.design)
    if estimate is None:
        return RuleResult("partial" if reported else "unknown")
    interval = lexicon.capitalised(curve_facts.worked_out_interval_text(of.design))
    if reported and (text := curve_facts.interval_text(reported)):
        interval = f"Reported {text}."
    name = "insignificant" if estimate.p >= _LEVEL else "sure"
    if _JUST_SIGNIFICANT < estimate.p < _LEVEL:
        name = "just"
    return RuleResult(name, {"interval": interval, "p": curve_facts.p_text(estimate.p)})


def _face_value(of: _Review) -> RuleResult:
    effect, planned, published = of.effect, of.design.effect_planning, published_effect(of.design)
    if effect is None or planned is None or published is None:
        return RuleResult("unknown")
    values = {"effect": effect.name, "planned": planned, "published": published}
    as_large = effect.size(planned) >= effect.size(published) * (1 - _ALIKE)
    return RuleResult("as_large" if as_large else "smaller", values)


def _sidedness(of: _Review) -> RuleResult:
    values = {"measure": of.evidence.measure, "level": of.kind.level_of(of.design.sides)}
    if of.design.sides == 1:
        return RuleResult("one", {**values, "reason": of.reason("sides")}, of.source("sides"))
    reported = of.design.original
    differs = reported is not None and reported.sides == 1 and of.kind.uses("sides")
    return RuleResult("original" if differs else "open", values)


def _covered(of: _Review) -> RuleResult:
    values = {"number": len(of.criteria), "criteria": of.quoted_criteria()}
    values |= {"measure": of.evidence.measure, "value": of.evidence.number}
    return RuleResult(("unknown", "one", "several")[min(len(of.criteria), 2)], values)


_RULES: Final[Mapping[str, Callable[[_Review], RuleResult]]] = {
    rule.__name__.removeprefix("_"): rule
    for rule in (
        *(_correlation, _few_units, _unequal_arms, _controls, _substitutions, _availability),
        *(_limits, _original_n, _dropout, _original_uncertainty, _face_value, _sidedness),
        _covered,
    )
} | {
    "unit": lambda of: RuleResult(
        "named" if of.design.units else "open",
        {"units": of.design.units, "n": of.design.unit_of_n},
        of.source("units"),
    ),
    "control_kinds": lambda of: RuleResult(
        "open" if of.plan.plan.controls else "none", {"controls": of.guarded(of.plan.plan.controls)}
    ),
    "success": lambda of: RuleResult(
        ("void" if of.evidence.void_reason else "criteria") if of.criteria else "unknown",
        {"criteria": of.quoted_criteria(), "reason": of.evidence.void_reason},
        Finder.STUDY,
    ),
    "sameness": lambda of: (
        RuleResult("margin", {"margin": of.design.margin}, firm=True)
        if of.effect and of.effect.within_margin
        else RuleResult("open")
    ),
    "power": lambda of: RuleResult(
        "met" if of.evidence.tier is EvidenceTier.MEETS_TARGET else "below",
        {"placed": lexicon.capitalised(of.evidence.placed_text)},
    ),
    "multiplicity": lambda of: RuleResult(
        "several" if len(of.criteria) > 1 else "unknown", {"number": len(of.criteria)}, Finder.STUDY
    ),
    "stopping": lambda of: RuleResult(
        "size", {"samples": lexicon.count_text(of.plan.counts.samples, of.design.sample_noun)}
    ),
}
"""The rules by question; a question without one is answered on a form alone."""

QUESTIONS: Final[Mapping[str, Mapping[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("questions.toml").read_text(encoding="utf-8")
)
TITLE: Final = "Reviewer’s questions"
PROTOCOL: Final = "Protocol"
_REMEDY: Final = "Remedy"


class QuestionResult(StrEnum):
    """The result of a question, in the order of their lists."""

    CONCERN = "concern"
    UNSAID = "unsaid"
    ANSWERED = "answered"


_CAPTIONS: Final = dict(zip(QuestionResult, ("Concerns", "Not answered", "Answered"), strict=True))
_SIGNS: Final = {QuestionResult.CONCERN: Status.CAUTION, QuestionResult.ANSWERED: Status.PASS}
_DEFAULTS: Final = {
    "answer": (QuestionResult.ANSWERED, "{answer}"),
    "not_on_form": (QuestionResult.UNSAID, "No answer on the form."),
}
"""Standing and text of the outcomes that all questions share."""


class Place(NamedTuple):
    """The page or drawer of a remedy, and the field there."""

    page: str
    field: str


class Remark(NamedTuple):
    """A question, judged; without a source if it is not answered."""

    key: str
    question: str
    standing: QuestionResult
    text: str
    source: Finder | None
    place: Place


def critique(plan: Assessment, author: Registration | None = None) -> tuple[Remark, ...]:
    """Return a reviewer's questions about a plan: concerns first, then those not answered."""
    review = _Review(plan, author or Registration())
    remarks = [
        _remark(key, row, review)
        for key, row in QUESTIONS.items()
        if _CONDITIONS[row.get("when", "always")](review)
    ]
    return tuple(sorted(remarks, key=lambda remark: [*QuestionResult].index(remark.standing)))


def _remark(key: str, row: Mapping[str, Any], review: _Review) -> Remark:
    outcome = _RULES[key](review) if key in _RULES else RuleResult("not_on_form")
    forms: Sequence[str] = row.get("forms", ())
    answer, refused = review.answers(*forms), row.get("refused", {})
    if any(option in review.author.choices.get(form, ()) for form, option in refused.items()):
        outcome = RuleResult("refused", {"answer": answer}, Finder.AUTHOR)
    elif answer and not outcome.firm:
        outcome = RuleResult("answer", {**outcome.values, "answer": answer}, Finder.AUTHOR)
    texts = {
        name: (kind, text) for kind in QuestionResult for name, text in row.get(kind, {}).items()
    }
    standing, template = (_DEFAULTS | texts)[outcome.name]
    source = None if standing is QuestionResult.UNSAID else outcome.source
    field = FORM[forms[0]].label if forms else row["field"]
    page = row.get("page", "Share, Registration" if forms else PROTOCOL)
    place = Place(page, review.pack.study.term(field))
    text = template.format_map(outcome.values).strip()
    return Remark(key, row["asks"], standing, text, source, place)


def critique_blocks(
    remarks: Sequence[Remark], link: Callable[[Place], str] | None = None
) -> list[Sentence | Table]:
    """Return a table for each standing; with links to places, answers are below the questions."""
    rows = {kind: [_row(r, link) for r in remarks if r.standing is kind] for kind in QuestionResult}
    concerns, unanswered, answered = map(len, rows.values())
    count, concern = map(lexicon.count_text, (len(remarks), concerns), ("question", "concern"))
    summary = f"{count}: {concern}, {unanswered} not answered, {answered} answered."
    blocks: list[Sentence | Table] = [Sentence(summary)]
    for standing, caption in _CAPTIONS.items():
        listed = rows[standing]
        if link:
            columns = [Column(f"{caption} ({len(listed)})"), Column(_REMEDY, "quiet")]
            blocks.append(table(columns[0].name, columns, listed, kind="asked"))
        else:
            source = [] if standing is QuestionResult.UNSAID else ["Source"]
            blocks.append(table(caption, ["Question", "Answer", *source, _REMEDY], listed))
    return blocks


def _row(remark: Remark, link: Callable[[Place], str] | None) -> list[Cell | str]:
    sign, place, source = _SIGNS.get(remark.standing), ": ".join(remark.place), remark.source or ""
    if link:
        note = lexicon.capitalised(": ".join(filter(None, (source, remark.text))))
        return [Cell(remark.question, status=sign, note=note), Cell(place, link=link(remark.place))]
    return [Cell(remark.question, status=sign), remark.text, *filter(None, [source]), place]


def section(report: Report) -> list[Part]:
    """Return the questions as a part of the report."""
    return [part(TITLE, *critique_blocks(critique(report.shown.yours, report.answers)))]
