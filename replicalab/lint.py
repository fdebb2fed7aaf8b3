"""Findings in a valid study file: notes on each lab, warnings for its author."""

import re
from collections.abc import Collection, Iterator
from decimal import Decimal
from enum import StrEnum
from typing import Final

from replicalab import assessment, models
from replicalab.agents.lab_manager_policy import answer_type_to
from replicalab.designs import GROUPINGS, PARAMETERS
from replicalab.designs.originals import agree, doubt_of, effect_of
from replicalab.lexicon import amount_text, count_text, label_key, parts_of
from replicalab.limits import MOST_FAULTS
from replicalab.planner import PlanAnalysis, largest_sample
from replicalab.scenarios import Design, Difficulty, ExpectedOutcome, Study, pack_of


class LintLevel(StrEnum):
    """A note informs, a warning asks for a change."""

    NOTE = "note"
    WARNING = "warning"


class LintFinding(models.Record):
    """One finding; ``place`` is the dotted path of its field."""

    level: LintLevel
    place: models.NonEmptyText
    message: models.NonEmptyText


def lint(study: Study) -> list[LintFinding]:
    """Return the findings of a study: first its labs, then its parts."""
    labs = []
    for level in Difficulty:
        pack = pack_of(study, level)
        labs.append(PlanAnalysis(assessment.assess(pack.reference_protocol, pack)))
    findings = [
        *map(_lab_note, labs),
        *(finding for lab in labs for finding in _lab_findings(lab)),
        *_number_findings(study),
        *_plan_findings(study, labs[0].yours),
        *_substitution_findings(study),
        *_policy_findings(study),
    ]
    extra = len(findings) - MOST_FAULTS
    if extra <= 0:
        return findings
    rest = _note("the rest", "rest", more=count_text(extra, "finding", "more"))
    return [*findings[:MOST_FAULTS], rest]


_NOTES: Final = {
    "lab": "The reference protocol {checks}; {binds} binds. The Lab Manager {answers}{changed}: "
    "{samples} in {days}, {evidence}.",
    "rest": "{more}; mend these first.",
    "not used": "The reference protocol does not use '{item}'; use it, or omit this substitution.",
    "never missing": "'{item}' is missing in no lab of seed 0, so this substitution is never used "
    "there; let the item be missing in one.",
}
_WARNINGS: Final = {
    "easy": "The easy lab should accept the reference protocol, but its Lab Manager {answers}, "
    "since {fails}; give this lab more, or plan less.",
    "accepts": "This lab accepts the reference protocol, so there is nothing to negotiate; give it "
    "less budget, days or staff, or let an item be missing.",
    "expected": "The file says {written}, the result is {actual}; correct this value or the lab.",
    "source": "{value} has no source; give its reason under design.why.{field}, or add a fact "
    "whose text carries it.",
    "reason": "no reason is given for the {called}; give one under design.why.{field}.",
    "fact": "{number} is in no fact; add a fact whose text carries it, with its source.",
    "doubt": "{doubt} Correct one of them, or explain the difference under design.why.original.",
    "published": "Its numbers give {found:.4g}, but effect_published is {published:g}; correct one "
    "of them, or explain the difference under design.why.effect_published.",
    "population": "{most} is fewer than the {samples} samples of the reference protocol; plan "
    "fewer samples, or raise this number.",
    "days": "{days} is below min_days, {least}, so the plan yields no evidence; plan more days, or "
    "lower min_days.",
    "rate": "At {rate} a day only {counted} of the {samples} can count; plan fewer samples or more "
    "days.",
    "element": "The reference protocol lacks '{element}'; put all its words into the technique or "
    "the rationale.",
    "limit": "The reference protocol breaks '{label}', {limit}; plan otherwise, or state another "
    "bound.",
    "two originals": "'{item}' is also the substitute for '{first}', and can replace only one at a "
    "time; name another item here.",
    "own item": "'{item}' is an item of the study itself{missing}; name another item.",
    "phrase": "'{phrase}' is never found, because a clause ends within it; omit punctuation, and "
    "words such as 'but' and 'then'.",
    "mention": "'{mention}' breaks a restriction by '{phrase}'; put 'no', 'never' or 'without' "
    "before the phrase, in the same clause.",
}


def _note(place: str, key: str, **values: object) -> LintFinding:
    return LintFinding(level=LintLevel.NOTE, place=place, message=_NOTES[key].format(**values))


def _warning(place: str, key: str, **values: object) -> LintFinding:
    message = _WARNINGS[key].format(**values)
    return LintFinding(level=LintLevel.WARNING, place=place, message=message)


_ANSWERS: Final = {
    models.LabManagerActionType.ACCEPT: "accepts it",
    models.LabManagerActionType.REPORT_FEASIBILITY: "reports what fails",
    models.LabManagerActionType.SUGGEST_ALTERNATIVE: "suggests changes",
    models.LabManagerActionType.REJECT: "rejects it",
}


def _answer(lab: PlanAnalysis) -> models.LabManagerActionType:
    return answer_type_to(lab.yours, lab.offer)


def _lab_note(lab: PlanAnalysis) -> LintFinding:
    counts, failing, pack = lab.offered.counts, lab.yours.failing, lab.yours.pack
    return _note(
        f"labs.{pack.difficulty}",
        "lab",
        checks=f"fails {assessment.dimensions_text(pack, failing)}"
        if failing
        else "passes all checks",
        binds=pack.study.term(lab.binding or "nothing"),
        answers=_ANSWERS[_answer(lab)],
        changed="; with all the changes that it offers" if lab.offer else "",
        samples=count_text(counts.samples, "sample"),
        days=count_text(counts.days, "day"),
        evidence=assessment.placed_text(lab.offered.evidence),
    )


def _lab_findings(lab: PlanAnalysis) -> Iterator[LintFinding]:
    place, answer = f"labs.{lab.yours.pack.difficulty}", _answer(lab)
    accepts = answer is models.LabManagerActionType.ACCEPT
    easy = lab.yours.pack.difficulty is Difficulty.EASY
    if easy and not accepts:
        yield _warning(
            place, "easy", answers=_ANSWERS[answer], fails=assessment.failing_text(lab.yours)
        )
    elif accepts and not easy:
        yield _warning(place, "accepts")
    expected = lab.yours.pack.expected
    for field, written, actual in _compared(lab, expected) if expected else ():
        if written != actual:
            where = f"{place}.expected.{field}"
            yield _warning(where, "expected", written=written, actual=actual)


def _compared(lab: PlanAnalysis, expected: ExpectedOutcome) -> Iterator[tuple[str, str, str]]:
    after, pack = lab.offered, lab.yours.pack
    plan, evidence = after.plan, after.evidence
    fails = [d for d in lab.yours.failing if d in models.LAB_DIMENSIONS or d in expected.fails]
    yield "fails", _named(expected.fails), _named(fails)
    yield "answer", expected.answer, _answer(lab)
    yield "still_fails", _named(expected.still_fails), _named(after.failing)
    yield "sample_size", str(expected.sample_size), str(plan.sample_size)
    yield "duration_days", str(expected.duration_days), str(plan.duration_days)
    yield "credits", amount_text(expected.credits), amount_text(after.cost)
    values = (expected.evidence, None if evidence.void_reason else evidence.value)
    written, actual = (
        "no evidence" if value is None else evidence.row.scale.by_hand(value) for value in values
    )
    yield "evidence", written, actual
    yield "verdict", expected.verdict, evidence.tier
    if expected.largest_sample is not None:
        fitting = min(largest_sample(plan, pack) or 0, pack.reference_protocol.sample_size)
        yield "largest_sample", str(expected.largest_sample), str(fitting)


def _named(dimensions: Collection[str]) -> str:
    return ", ".join(d for d in models.DIMENSIONS if d in dimensions) or "none"


_NUMBER: Final = re.compile(
    r"(?<![\w.])((?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?:\.\d{1,15})?)(?:\^(-?\d\d?))?(?!\w)"
)
_YEARS: Final = re.compile(
    r"(?<![\w.,])(?<!= )(?:1[5-9]|20)\d\d(?:\u2013\d\d(?:\d\d)?)?(?!\w|[.,]\d| ?%)"
)
_INTERVAL_LEVEL: Final = re.compile(r"\b\d\d(?:\.\d)? ?% (?=CI|confidence|interval)")
# The numbers of a design, without its level: 0.05 is a convention.
_CHOSEN: Final = (
    "effect_published",
    "effect_planning",
    "sesoi",
    "target",
    "floor",
    *(number for number in PARAMETERS if number not in ("alpha", "sides")),
    "dropout",
)


def numbers_in(text: str) -> dict[Decimal, str]:
    """Return the numbers in a text, in order, each with its spelling.

    Signs are left out; so are years, the level of an interval, and digits within a word (H2O).
    """
    numbers: dict[Decimal, str] = {}
    for match in _NUMBER.finditer(_INTERVAL_LEVEL.sub("", _YEARS.sub("", text))):
        number = Decimal(match[1].replace(",", ""))
        if match[2] and number:
            number **= int(match[2])
        numbers.setdefault(number.normalize(), match[0])
    return numbers


def _number_findings(study: Study) -> Iterator[LintFinding]:
    design = study.design
    carried = {number for fact in study.paper.facts for number in numbers_in(fact.text)}
    for field in _CHOSEN:
        value = getattr(design, field)
        named = field in design.why or field in design.source.casefold().split()
        if value is None or named or (field == "dropout" and not value):
            continue
        if abs(Decimal(repr(value))).normalize() not in {*carried, *numbers_in(design.source)}:
            visible = amount_text(value) if isinstance(value, int) else f"{value:g}"
            yield _warning(f"design.{field}", "source", value=visible, field=field)
    yield from _original_findings(design)
    chosen = {name: called for name, called in GROUPINGS.items() if getattr(design, name)}
    chosen |= {"sides": "one-sided test"} if design.sides == 1 else {}
    for name, called in chosen.items():
        if name not in design.why:
            yield _warning(f"design.{name}", "reason", called=called, field=name)
    for field in ("key_finding", "published"):
        for number, text in numbers_in(getattr(study.paper, field)).items():
            if number not in carried:
                carried.add(number)  # reported once
                yield _warning(f"paper.{field}", "fact", number=text)


def _original_findings(design: Design) -> Iterator[LintFinding]:
    original, row, published = design.original, design.row, design.effect_published
    if original is None:
        return
    doubt = doubt_of(row, original)
    if doubt and "original" not in design.why:
        yield _warning("design.original", "doubt", doubt=doubt)
    if row.effect is None or published is None or "effect_published" in design.why:
        return
    value = effect_of(row, original)
    if value and not agree(row.effect.size(value), row.effect.size(published)):
        yield _warning("design.original", "published", found=value, published=published)


def _plan_findings(study: Study, reference: assessment.Assessment) -> Iterator[LintFinding]:
    plan, maximum, rate = reference.plan, study.design.population_max, study.samples_per_day
    if maximum is not None and maximum < plan.sample_size:
        yield _warning(
            "design.population_max", "population", most=maximum, samples=plan.sample_size
        )
    if plan.duration_days < study.min_days:
        days = count_text(plan.duration_days, "day")
        place = "reference_protocol.duration_days"
        yield _warning(place, "days", days=days, least=study.min_days)
    if rate is not None and plan.sample_size > rate.value * plan.duration_days:
        counted, samples = rate.value * plan.duration_days, count_text(plan.sample_size, "sample")
        place = "reference_protocol.sample_size"
        yield _warning(place, "rate", rate=rate.value, counted=counted, samples=samples)
    for number, element in enumerate(study.hidden_reference.required_elements):
        if element in reference.missing_elements:
            place = f"hidden_reference.required_elements[{number}]"
            yield _warning(place, "element", element=element)
    for limit in reference.broken_limits:
        place = f"constraints[{study.constraints.index(limit.constraint)}]"
        yield _warning(place, "limit", label=limit.constraint.label, limit=limit.text)


def _substitution_findings(study: Study) -> Iterator[LintFinding]:
    plan = study.reference_protocol
    used = set(map(label_key, (*plan.required_equipment, *plan.required_reagents)))
    labs = {level: study.labs.at(level) for level in Difficulty}
    missing = {
        level: {label_key(item) for item in (*lab.booked, *lab.out_of_stock)}
        for level, lab in labs.items()
    }
    first_for: dict[str, str] = {}
    for number, swap in enumerate(study.substitutions):
        path, original = f"substitutions[{number}]", label_key(swap.original)
        if original not in used:
            yield _note(f"{path}.original", "not used", item=swap.original)
        elif not any(original in items for items in missing.values()):
            yield _note(f"{path}.original", "never missing", item=swap.original)
        alternative = label_key(swap.alternative)
        if alternative in map(label_key, (*study.equipment, *study.reagents)):
            without = [level for level, items in missing.items() if alternative in items]
            where = f"; it is missing in the {' and '.join(without)} lab" if without else ""
            yield _warning(f"{path}.alternative", "own item", item=swap.alternative, missing=where)
        first = first_for.setdefault(alternative, swap.original)
        if label_key(first) != original:
            yield _warning(
                f"{path}.alternative", "two originals", item=swap.alternative, first=first
            )


def _policy_findings(study: Study) -> Iterator[LintFinding]:
    for place, rule in enumerate(study.policy_rules):
        path = f"policy_rules[{place}]"
        for number, phrase in enumerate(rule.forbidden_phrases):
            if not assessment.breaks(phrase, phrase):
                yield _warning(f"{path}.forbidden_phrases[{number}]", "phrase", phrase=phrase)
        for number, mention in enumerate(rule.allowed_mentions):
            texts = [("allowed_mentions", mention)]
            for broken in assessment.violations(texts, parts_of(mention), study.policy_rules)[:1]:
                where = f"{path}.allowed_mentions[{number}]"
                yield _warning(where, "mention", mention=mention, phrase=broken.phrase)
