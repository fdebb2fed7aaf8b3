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
    packs = [pack_of(study, level) for level in Difficulty]
    labs = [PlanAnalysis(assessment.assess(pack.reference_protocol, pack)) for pack in packs]
    findings = [
        *(finding for lab in labs for finding in _lab_findings(lab)),
        *_number_findings(study),
        *_plan_findings(study, labs[0].yours),
        *_substitution_findings(study),
        *_policy_findings(study),
    ]
    extra = len(findings) - MOST_FAULTS
    if extra <= 0:
        return findings
    rest = f"{count_text(extra, 'finding', 'more')}; correct these first."
    return [*findings[:MOST_FAULTS], _note("the rest", rest)]


def _note(place: str, message: str) -> LintFinding:
    return LintFinding(level=LintLevel.NOTE, place=place, message=message)


def _warning(place: str, message: str) -> LintFinding:
    return LintFinding(level=LintLevel.WARNING, place=place, message=message)


_ANSWERS: Final = {
    models.LabManagerActionType.ACCEPT: "accepts it",
    models.LabManagerActionType.REPORT_FEASIBILITY: "reports what fails",
    models.LabManagerActionType.SUGGEST_ALTERNATIVE: "suggests changes",
    models.LabManagerActionType.REJECT: "rejects it",
}


def _lab_findings(lab: PlanAnalysis) -> Iterator[LintFinding]:
    counts, failing, pack = lab.offered.counts, lab.yours.failing, lab.yours.pack
    answer = answer_type_to(lab.yours, lab.offer)
    place, answers = f"labs.{pack.difficulty}", _ANSWERS[answer]
    fails = f"fails {assessment.dimensions_text(pack, failing)}"
    yield _note(
        place,
        f"The reference protocol {fails if failing else 'passes all checks'}; "
        f"{pack.study.term(lab.binding or 'nothing')} binds. The Lab Manager {answers}"
        f"{'; with all the changes that it offers' if lab.offer else ''}: "
        f"{count_text(counts.samples, 'sample')} in {count_text(counts.days, 'day')}, "
        f"{lab.offered.evidence.placed_text}.",
    )
    accepts = answer is models.LabManagerActionType.ACCEPT
    easy = pack.difficulty is Difficulty.EASY
    if easy and not accepts:
        yield _warning(
            place,
            f"The easy lab should accept the reference protocol, but its Lab Manager {answers}, "
            f"since {lab.yours.fails_text}; give this lab more, or plan less.",
        )
    elif accepts and not easy:
        yield _warning(
            place,
            "This lab accepts the reference protocol, so there is nothing to negotiate; give it "
            "less budget, days or staff, or let an item be missing.",
        )
    for field, written, actual in _compared(lab, answer, pack.expected) if pack.expected else ():
        if written != actual:
            text = f"The file says {written}, the result is {actual}"
            yield _warning(f"{place}.expected.{field}", f"{text}; correct this value or the lab.")


def _compared(
    lab: PlanAnalysis, answer: str, expected: ExpectedOutcome
) -> Iterator[tuple[str, str, str]]:
    after, pack = lab.offered, lab.yours.pack
    plan, evidence = after.plan, after.evidence
    fails = [d for d in lab.yours.failing if d in models.LAB_DIMENSIONS or d in expected.fails]
    yield "fails", _named(expected.fails), _named(fails)
    yield "answer", expected.answer, answer
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
            yield _warning(
                f"design.{field}",
                f"{visible} has no source; give its reason under design.why.{field}, or add a fact "
                "whose text carries it.",
            )
    yield from _original_findings(design)
    chosen = {name: called for name, called in GROUPINGS.items() if getattr(design, name)}
    chosen |= {"sides": "one-sided test"} if design.sides == 1 else {}
    for name, called in chosen.items():
        if name not in design.why:
            problem = f"no reason is given for the {called}; give one under design.why.{name}."
            yield _warning(f"design.{name}", problem)
    for field in ("key_finding", "published"):
        for number, text in numbers_in(getattr(study.paper, field)).items():
            if number not in carried:
                carried.add(number)  # reported once
                remedy = "add a fact whose text carries it, with its source."
                yield _warning(f"paper.{field}", f"{text} is in no fact; {remedy}")


def _original_findings(design: Design) -> Iterator[LintFinding]:
    original, row, published = design.original, design.row, design.effect_published
    if original is None:
        return
    explain = "or explain the difference under design.why"
    doubt = doubt_of(row, original)
    if doubt and "original" not in design.why:
        yield _warning("design.original", f"{doubt} Correct one of them, {explain}.original.")
    if row.effect is None or published is None or "effect_published" in design.why:
        return
    value = effect_of(row, original)
    if value and not agree(row.effect.size(value), row.effect.size(published)):
        problem = f"Its numbers give {value:.4g}, but effect_published is {published:g}"
        yield _warning(
            "design.original", f"{problem}; correct one of them, {explain}.effect_published."
        )


def _plan_findings(study: Study, reference: assessment.Assessment) -> Iterator[LintFinding]:
    plan, maximum, rate = reference.plan, study.design.population_max, study.samples_per_day
    samples = count_text(plan.sample_size, "sample")
    if maximum is not None and maximum < plan.sample_size:
        yield _warning(
            "design.population_max",
            f"{maximum} is fewer than the {samples} of the reference protocol; plan fewer samples, "
            "or raise this number.",
        )
    if plan.duration_days < study.min_days:
        yield _warning(
            "reference_protocol.duration_days",
            f"{count_text(plan.duration_days, 'day')} is below min_days, {study.min_days}, so the "
            "plan yields no evidence; plan more days, or lower min_days.",
        )
    if rate is not None and plan.sample_size > rate.value * plan.duration_days:
        yield _warning(
            "reference_protocol.sample_size",
            f"At {rate.value} a day only {rate.value * plan.duration_days} of the {samples} can "
            "count; plan fewer samples or more days.",
        )
    for number, element in enumerate(study.hidden_reference.required_elements):
        if element in reference.missing_elements:
            yield _warning(
                f"hidden_reference.required_elements[{number}]",
                f"The reference protocol lacks '{element}'; put all its words into the technique "
                "or the rationale.",
            )
    for limit in reference.broken_limits:
        yield _warning(
            f"constraints[{study.constraints.index(limit.constraint)}]",
            f"The reference protocol breaks '{limit.constraint.label}', {limit.text}; plan "
            "otherwise, or state another bound.",
        )


def _substitution_findings(study: Study) -> Iterator[LintFinding]:
    plan, labs = study.reference_protocol, {level: study.labs.at(level) for level in Difficulty}
    used = set(map(label_key, (*plan.required_equipment, *plan.required_reagents)))
    items = set(map(label_key, (*study.equipment, *study.reagents)))
    missing = {
        level: {*map(label_key, (*lab.booked, *lab.out_of_stock))} for level, lab in labs.items()
    }
    first_for: dict[str, str] = {}
    for number, swap in enumerate(study.substitutions):
        path, original = f"substitutions[{number}]", label_key(swap.original)
        if original not in used:
            yield _note(
                f"{path}.original",
                f"The reference protocol does not use '{swap.original}'; use it, or omit this "
                "substitution.",
            )
        elif not any(original in gone for gone in missing.values()):
            yield _note(
                f"{path}.original",
                f"'{swap.original}' is missing in no lab of seed 0, so this substitution is never "
                "used there; let the item be missing in one.",
            )
        alternative = label_key(swap.alternative)
        if alternative in items:
            without = [level for level, gone in missing.items() if alternative in gone]
            where = f"; it is missing in the {' and '.join(without)} lab" if without else ""
            problem = f"'{swap.alternative}' is an item of the study itself{where}"
            yield _warning(f"{path}.alternative", f"{problem}; name another item.")
        first = first_for.setdefault(alternative, swap.original)
        if label_key(first) != original:
            yield _warning(
                f"{path}.alternative",
                f"'{swap.alternative}' is also the substitute for '{first}', and can replace only "
                "one at a time; name another item here.",
            )


def _policy_findings(study: Study) -> Iterator[LintFinding]:
    for place, rule in enumerate(study.policy_rules):
        for number, phrase in enumerate(rule.forbidden_phrases):
            if not assessment.breaks(phrase, phrase):
                yield _warning(
                    f"policy_rules[{place}].forbidden_phrases[{number}]",
                    f"'{phrase}' is never found, because a clause ends within it; omit "
                    "punctuation, and words such as 'but' and 'then'.",
                )
        for number, mention in enumerate(rule.allowed_mentions):
            texts = [("allowed_mentions", mention)]
            for broken in assessment.violations(texts, parts_of(mention), study.policy_rules)[:1]:
                yield _warning(
                    f"policy_rules[{place}].allowed_mentions[{number}]",
                    f"'{mention}' breaks a restriction by '{broken.phrase}'; put 'no', 'never' or "
                    "'without' before the phrase, in the same clause.",
                )
