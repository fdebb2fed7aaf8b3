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
from replicalab.answers import AnswerSource, Registration
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
    """The outcome of a rule; ``final`` results ignore the author's answer."""

    name: str
    values: Mapping[str, Any] = {}
    source: AnswerSource = AnswerSource.CORE
    final: bool = False


def _quote(text: str) -> str:
    return f"“{lexicon.one_line(text)}”"


class _Review:
    """A plan and its author's answers on registration forms."""

    def __init__(self, plan: Assessment, author: Registration) -> None:
        self.judged, self.author = plan, author
        self.pack, self.design, self.evidence = plan.pack, plan.pack.design, plan.evidence
        self.kind, self.effect = self.design.row, self.design.row.effect
        self.samples_text = lexicon.count_text(plan.counts.samples, self.design.sample_noun)
        self.groups = self.kind.groups_of(self.design)
        self.is_test = self.kind.sought is not None
        self.criteria = [text for text in self.pack.success_criteria if lexicon.is_given(text)]
        self.criteria_text = " ".join(map(_quote, self.criteria))

    def answers(self, *keys: str) -> str:
        texts = (self.author.answer(key) for key in keys)
        return " ".join(_quote(text) for text in texts if lexicon.is_given(text))

    def source(self, field: str) -> AnswerSource:
        changed = getattr(self.pack.question, field) is not None
        return AnswerSource.AUTHOR if changed else AnswerSource.STUDY

    def reason(self, field: str) -> str:
        reasons = {str(name): reason for name, reason in self.pack.question.why.items()}
        if self.source(field) is AnswerSource.STUDY:
            reasons = dict(self.design.why)
        reason = reasons.get(field, "")
        return _quote(reason) if lexicon.is_given(reason) else ""

    def guarded(self, controls: Sequence[str]) -> str:
        guards = {c.name: f" ({c.guards})" for c in self.pack.controls if c.guards}
        return lexicon.joined([f"'{name}'{guards.get(name, '')}" for name in controls])


_CONDITIONS: Final[Mapping[str, Callable[[_Review], bool]]] = {
    "always": lambda _: True,
    "has_units_field": lambda review: "units" in review.kind.optional,
    "has_units": lambda review: review.design.units is not None,
    "has_arms_field": lambda review: "arms" in review.kind.optional,
    "has_groups": lambda review: review.groups > 1,
    "has_limits": lambda review: bool(review.pack.limits),
    "is_sampled": lambda review: review.effect is not None,
    "is_test": lambda review: review.is_test,
    "is_test_with_evidence": lambda review: review.is_test and review.evidence.void_reason is None,
    "is_test_of_effect": lambda review: review.is_test and review.effect is not None,
    "is_test_of_difference": lambda review: bool(
        review.is_test and review.effect and not review.effect.within_margin
    ),
}
"""Whether a question applies."""


def _correlation(review: _Review) -> RuleResult:
    units, evidence = review.design.units, review.evidence
    assert units is not None  # noqa: S101 - the question's condition
    if units.icc is not None:
        values = {"icc": units.icc, "reason": review.reason("units")}
        return RuleResult("reason" if values["reason"] else "bare", values, review.source("units"))
    tried = {} if evidence.void_reason else Curves(review.judged).by_correlation
    text = lexicon.joined([f"{evidence.format(value)} at {rho:g}" for rho, value in tried.items()])
    values = {"name": units.name, "measure": evidence.measure, "values": text}
    return RuleResult("tried" if tried else "independent", values)


def _few_units(review: _Review) -> RuleResult:
    unit = review.design.units.name if review.design.units else "unit"
    arms = counted_units(review.design, review.evidence.usable)
    number = min(arms) if len(arms) == review.groups else arms[0] // review.groups
    values = {
        "counted": lexicon.count_text(number, unit),
        "arm": " in an arm" if review.groups > 1 else "",
        "each": "" if review.design.units else ", if each sample is one",
        "least": _FEWEST_UNITS,
        "units": lexicon.plural(unit, 2),
    }
    return RuleResult("few" if number < _FEWEST_UNITS else "enough", values)


def _unequal_arms(review: _Review) -> RuleResult:
    arms = review.design.arms
    if arms is None or not review.design.uneven:
        name = "nearly" if review.judged.counts.samples % review.groups else "even"
        return RuleResult(name, {"samples": review.samples_text})
    values = {"share": lexicon.percent_text(arms.share), "reason": review.reason("arms")}
    return RuleResult("reason" if values["reason"] else "bare", values, review.source("arms"))


def _controls(review: _Review) -> RuleResult:
    judged = review.judged
    names, dropped = judged.plan.controls, [control.name for control in judged.dropped]
    values = {"dropped": review.guarded(dropped), "answer": review.answers("controls")}
    values["controls"] = lexicon.joined(lexicon.quoted(names))
    return RuleResult("dropped" if dropped else "kept" if names else "none", values)


def _substitutions(review: _Review) -> RuleResult:
    plan, protocol = review.judged, review.pack.reference_protocol
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
    return RuleResult(name, values, AnswerSource.STUDY if texts else AnswerSource.CORE)


def _availability(review: _Review) -> RuleResult:
    missing = [f"'{item.label}' is {item.status_text}" for item in review.judged.missing_items]
    if missing:
        return RuleResult("missing", {"missing": lexicon.joined(missing)})
    chosen = review.author.choices.get("original_materials", ())
    name = "withheld" if "No" in chosen else "all" if chosen else "open"
    return RuleResult(name, {}, AnswerSource.AUTHOR if chosen else AnswerSource.CORE)


def _limits(review: _Review) -> RuleResult:
    if not (broken := review.judged.broken_limits):
        kept = lexicon.joined([limit.kept_text for limit in review.pack.limits])
        return RuleResult("kept", {"kept": kept})
    texts = [
        f"'{limit.constraint.label}' {'must' if limit.hard else 'should'} be {limit.text}, and the "
        f"plan has {phrases.bounded_text(limit, review.judged)}"
        for limit in broken
    ]
    days = review.judged.counts.days
    short = any(limit.number is Bounds.DAYS and days < limit.least for limit in broken)
    values = {"broken": lexicon.capitalised("; ".join(texts))}
    return RuleResult("short" if short else "broken", values)


def _original_n(review: _Review) -> RuleResult:
    reported, analysed = review.design.original, review.evidence.analysed
    arms = (reported.n1, reported.n2) if reported else ()
    number = reported.n if reported and reported.n else sum(filter(None, arms))
    if not number:
        published = review.pack.paper.published
        name = "unknown" if lexicon.is_given(published) else "silent"
        return RuleResult(name, {"published": _quote(published)})
    reason = review.author.reasons.get("sample_size", "").strip()
    values = {"analysed": lexicon.amount_text(analysed), "original": lexicon.amount_text(number)}
    if reason and analysed < number:
        return RuleResult("reason", {**values, "reason": _quote(reason)}, AnswerSource.AUTHOR)
    return RuleResult("smaller" if analysed < number else "enough", values)


def _dropout(review: _Review) -> RuleResult:
    share, reason = review.design.dropout, review.reason("dropout")
    analysed = lexicon.count_text(review.evidence.analysed, review.design.sample_noun)
    values = {"share": lexicon.percent_text(share), "left": analysed, "reason": reason}
    name = "large" if share >= _LARGE_DROPOUT else "planned" if share else "none"
    name = "reason" if reason and not share else name
    return RuleResult(name, values, review.source("dropout"))


def _original_uncertainty(review: _Review) -> RuleResult:
    reported, estimate = review.design.original, original_estimate(review.design)
    if estimate is None:
        return RuleResult("partial" if reported else "unknown")
    interval = lexicon.capitalised(curve_facts.worked_out_interval_text(review.design))
    if reported and (text := curve_facts.interval_text(reported)):
        interval = f"Reported {text}."
    name = "insignificant" if estimate.p >= _LEVEL else "sure"
    if _JUST_SIGNIFICANT < estimate.p < _LEVEL:
        name = "just"
    return RuleResult(name, {"interval": interval, "p": curve_facts.p_text(estimate.p)})


def _face_value(review: _Review) -> RuleResult:
    effect, design = review.effect, review.design
    planned, published = design.effect_planning, published_effect(design)
    if effect is None or planned is None or published is None:
        return RuleResult("unknown")
    values = {"effect": effect.name, "planned": planned, "published": published}
    as_large = effect.size(planned) >= effect.size(published) * (1 - _ALIKE)
    return RuleResult("as_large" if as_large else "smaller", values)


def _sidedness(review: _Review) -> RuleResult:
    design, reason = review.design, review.reason("sides")
    values = {"measure": review.evidence.measure, "level": review.kind.level_of(design.sides)}
    if design.sides == 1:
        return RuleResult("one", {**values, "reason": reason}, review.source("sides"))
    reported = design.original
    differs = reported is not None and reported.sides == 1 and review.kind.uses("sides")
    return RuleResult("original" if differs else "open", values)


def _covered(review: _Review) -> RuleResult:
    values = {"number": len(review.criteria), "criteria": review.criteria_text}
    values |= {"measure": review.evidence.measure, "value": review.evidence.number}
    return RuleResult(("unknown", "one", "several")[min(len(review.criteria), 2)], values)


_RULES: Final[Mapping[str, Callable[[_Review], RuleResult]]] = {
    rule.__name__.removeprefix("_"): rule
    for rule in (
        *(_correlation, _few_units, _unequal_arms, _controls, _substitutions, _availability),
        *(_limits, _original_n, _dropout, _original_uncertainty, _face_value, _sidedness),
        _covered,
    )
} | {
    "unit": lambda review: RuleResult(
        "named" if review.design.units else "open",
        {"units": review.design.units, "n": review.design.unit_of_n},
        review.source("units"),
    ),
    "control_kinds": lambda review: RuleResult(
        "open" if review.judged.plan.controls else "none",
        {"controls": review.guarded(review.judged.plan.controls)},
    ),
    "success": lambda review: RuleResult(
        ("void" if review.evidence.void_reason else "criteria") if review.criteria else "unknown",
        {"criteria": review.criteria_text, "reason": review.evidence.void_reason},
        AnswerSource.STUDY,
    ),
    "sameness": lambda review: (
        RuleResult("margin", {"margin": review.design.margin}, final=True)
        if review.effect and review.effect.within_margin
        else RuleResult("open")
    ),
    "power": lambda review: RuleResult(
        "met" if review.evidence.tier is EvidenceTier.MEETS_TARGET else "below",
        {"placed": lexicon.capitalised(review.evidence.placed_text)},
    ),
    "multiplicity": lambda review: RuleResult(
        "several" if len(review.criteria) > 1 else "unknown",
        {"number": len(review.criteria)},
        AnswerSource.STUDY,
    ),
    "stopping": lambda review: RuleResult("size", {"samples": review.samples_text}),
}
"""The rules by question; a question without one is answered on a form alone."""

QUESTIONS: Final[Mapping[str, Mapping[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("questions.toml").read_text(encoding="utf-8")
)
TITLE: Final = "Reviewer’s questions"
PROTOCOL: Final = "Protocol"
_REMEDY: Final = "Remedy"


class Standing(StrEnum):
    """How a plan fares on a question, in the order of the lists."""

    CONCERN = "concern"
    UNSAID = "unsaid"
    ANSWERED = "answered"


_CAPTIONS: Final = dict(zip(Standing, ("Concerns", "Not answered", "Answered"), strict=True))
_SIGNS: Final = {Standing.CONCERN: Status.CAUTION, Standing.ANSWERED: Status.PASS}
_DEFAULTS: Final = {
    "answer": (Standing.ANSWERED, "{answer}"),
    "not_on_form": (Standing.UNSAID, "No answer on the form."),
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
    standing: Standing
    text: str
    source: AnswerSource | None
    place: Place


def critique(plan: Assessment, author: Registration | None = None) -> tuple[Remark, ...]:
    """Return a reviewer's questions about a plan: concerns first, then those not answered."""
    review = _Review(plan, author or Registration())
    remarks = [
        _remark(key, row, review)
        for key, row in QUESTIONS.items()
        if _CONDITIONS[row.get("when", "always")](review)
    ]
    return tuple(sorted(remarks, key=lambda remark: [*Standing].index(remark.standing)))


def _remark(key: str, row: Mapping[str, Any], review: _Review) -> Remark:
    outcome = _RULES[key](review) if key in _RULES else RuleResult("not_on_form")
    forms: Sequence[str] = row.get("forms", ())
    answer, refused = review.answers(*forms), row.get("refused", {})
    if any(option in review.author.choices.get(form, ()) for form, option in refused.items()):
        outcome = RuleResult("refused", {"answer": answer}, AnswerSource.AUTHOR)
    elif answer and not outcome.final:
        outcome = RuleResult("answer", {**outcome.values, "answer": answer}, AnswerSource.AUTHOR)
    texts = {name: (each, text) for each in Standing for name, text in row.get(each, {}).items()}
    standing, template = (_DEFAULTS | texts)[outcome.name]
    source = None if standing is Standing.UNSAID else outcome.source
    field = FORM[forms[0]].label if forms else row["field"]
    page = row.get("page", "Share, Registration" if forms else PROTOCOL)
    place = Place(page, review.pack.study.term(field))
    text = template.format_map(outcome.values).strip()
    return Remark(key, row["asks"], standing, text, source, place)


def critique_blocks(
    remarks: Sequence[Remark], link: Callable[[Place], str] | None = None
) -> list[Sentence | Table]:
    """Return a table for each standing; with links to places, answers are below the questions."""
    standings = [remark.standing for remark in remarks]
    concerns, unanswered, answered = map(standings.count, Standing)
    count, concern = map(lexicon.count_text, (len(remarks), concerns), ("question", "concern"))
    summary = f"{count}: {concern}, {unanswered} not answered, {answered} answered."
    blocks: list[Sentence | Table] = [Sentence(summary)]
    for standing, caption in _CAPTIONS.items():
        listed = [_row(remark, link) for remark in remarks if remark.standing is standing]
        if link:
            columns = [Column(f"{caption} ({len(listed)})"), Column(_REMEDY, "quiet")]
            blocks.append(table(columns[0].name, columns, listed, kind="asked"))
        else:
            source = [] if standing is Standing.UNSAID else ["Source"]
            blocks.append(table(caption, ["Question", "Answer", *source, _REMEDY], listed))
    return blocks


def _row(remark: Remark, link: Callable[[Place], str] | None) -> list[Cell | str]:
    sign, place, source = _SIGNS.get(remark.standing), ": ".join(remark.place), remark.source or ""
    if link:
        note = lexicon.capitalised(": ".join(filter(None, (source, remark.text))))
        return [Cell(remark.question, status=sign, note=note), Cell(place, link=link(remark.place))]
    return [Cell(remark.question, status=sign), remark.text, *filter(None, [source]), place]


def section(report: Report) -> list[Part]:
    return [part(TITLE, *critique_blocks(critique(report.shown.yours, report.answers)))]
