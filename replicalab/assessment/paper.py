"""What a plan says on paper: the findings about it, and the phrases that break a restriction.

A finding has a severity, a category and a message. Nothing here raises: an unsound plan is an
answer, not an accident.
Source: docs/methods.md, Validation and The check.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from replicalab.assessment.phrases import bounded_text, left_text, wishes_text
from replicalab.assessment.results import IssueCategory, Severity
from replicalab.lexicon import capitalised, count_text, folded, parts_of, repeated_labels, words_of
from replicalab.scenarios import Bounds, Item, Pack, PolicyRule, StudyLimit

if TYPE_CHECKING:
    from replicalab.assessment.assess import Assessment

Finding = tuple[Severity, IssueCategory, str]  # How much it matters, its category, and the message

_ERROR, _WARNING = Severity

# --- is the plan sound on paper? ------------------------------------------------------------


def findings(plan: Assessment) -> Iterator[Finding]:
    """Yield the findings about a plan and its lab, in a fixed order; every error is among them."""
    yield from _number_findings(plan)
    for limit in plan.broken_limits:
        if limit.hard:
            planned, label = _PLANNED[limit.number](limit, plan), limit.constraint.label
            message = f"{planned}; the study's '{label}' must be {limit.text}."
            yield _ERROR, IssueCategory.CONSTRAINT, message
        else:
            yield _WARNING, IssueCategory.CONSTRAINT, f"{capitalised(wishes_text(plan, [limit]))}."
    for category, labels in _lists_with_duplicates(plan):
        for label in repeated_labels(labels):
            yield _WARNING, category, f"'{label}' is listed more than once, and billed so."
    yield from (_item_finding(item, plan.pack.study.term) for item in plan.missing_items)


def element_findings(plan: Assessment) -> list[Finding]:
    """Return the findings about the elements that the hidden reference requires; none is an error.

    They come last.
    """
    return [
        (_WARNING, IssueCategory.REQUIRED_ELEMENT, f"Not addressed by the plan: {element}.")
        for element in plan.missing_elements
    ]


def count_errors(plan: Assessment) -> int:
    """Return how many of the findings are errors."""
    # Without a sentence: a search judges a thousand plans and reads none of theirs.
    return (
        sum(_number_errors(plan))
        + sum([limit.hard for limit in plan.broken_limits])
        + sum([item.is_irreplaceable for item in plan.missing_items])
    )


def _number_errors(plan: Assessment) -> tuple[bool, bool, bool, bool]:
    """Return whether it has no samples, no days, more days than the lab, only controls."""
    samples, days, controls, *_ = plan.counts
    return samples < 1, days < 1, days > plan.pack.lab.days_left, 0 < controls >= samples


def _number_findings(plan: Assessment) -> Iterator[Finding]:
    samples, days, controls, *_ = plan.counts
    no_samples, no_days, too_long, only_controls = _number_errors(plan)
    lab, minimum = plan.pack.lab, plan.pack.min_days
    exist, rate = plan.pack.design.population_max, plan.pack.samples_per_day
    if no_samples:
        yield (
            _ERROR,
            IssueCategory.SAMPLE_SIZE,
            f"Sample size is {samples}; plan at least 1 sample.",
        )
    if no_days:
        yield _ERROR, IssueCategory.DURATION, f"{_duration(days)}; plan at least 1 day."
    if too_long:
        has = left_text(lab) or f"this lab has {lab.days_left}"
        yield _ERROR, IssueCategory.DURATION, f"{_duration(days)}; {has}."
    if days < minimum != 1:
        lost = f"{_duration(days)}; below {minimum} the study's endpoint is lost."
        yield _WARNING, IssueCategory.DURATION, lost
    if exist is not None and samples > exist:
        beyond = f"the study has {exist:,}, so {samples - exist:,} cannot count."
        yield _WARNING, IssueCategory.THROUGHPUT, f"{samples:,} samples planned; {beyond}"
    if rate is not None and samples > rate.value * days:
        planned = f"{count_text(samples, 'sample')} in {count_text(days, 'day')}"
        beyond = f"at {rate.value} a day only {rate.value * days} of them can count."
        yield _WARNING, IssueCategory.THROUGHPUT, f"{planned}; {beyond}"
    if not controls:
        none = "No controls: nothing guards the result against artefacts."
        yield _WARNING, IssueCategory.CONTROLS, none
    elif only_controls:
        planned = f"{count_text(controls, 'control')} for {count_text(samples, 'sample')}"
        remain = f"no experimental samples remain; plan at least {controls + 1} samples."
        yield _ERROR, IssueCategory.SAMPLE_CONTROLS, f"{planned}: {remain}"


def _item_finding(item: Item, term: Callable[[str], str]) -> Finding:
    label, status, category = item.label, term(item.status), IssueCategory(item.category)
    if item.is_irreplaceable:
        return _ERROR, category, f"'{label}' is {status} and nothing may replace it."
    if item.options:
        return _WARNING, category, f"'{label}' is {status}; could use '{item.options[0]}'."
    return _WARNING, category, f"'{label}' is not in this lab's inventory."


def _lists_with_duplicates(plan: Assessment) -> Iterator[tuple[IssueCategory, list[str]]]:
    if len(set(plan.control_keys)) < plan.counts.controls:
        yield IssueCategory.DUPLICATE_CONTROLS, plan.plan.controls
    if len({item.key for item in plan.items}) < plan.counts.equipment + plan.counts.reagents:
        yield IssueCategory.DUPLICATE_EQUIPMENT, plan.plan.required_equipment
        yield IssueCategory.DUPLICATE_REAGENTS, plan.plan.required_reagents


def _duration(days: int) -> str:
    return f"Duration is {count_text(days, 'day')}"


def _evidence(limit: StudyLimit, plan: Assessment) -> str:
    value = bounded_text(limit, plan)
    void = plan.evidence.void_reason
    return (
        "The plan yields no evidence" if void else f"The planned {plan.evidence.measure} is {value}"
    )


_PLANNED: Final[dict[Bounds | None, Callable[[StudyLimit, Assessment], str]]] = {
    Bounds.SAMPLES: lambda _, plan: f"Sample size is {plan.counts.samples:,}",
    Bounds.DAYS: lambda _, plan: _duration(plan.counts.days),
    Bounds.EVIDENCE: _evidence,
}


# --- does its wording break a restriction? --------------------------------------------------

NEGATIONS: Final = frozenset(
    "no not never without none nobody nothing neither nor cannot avoid avoids avoiding refuse "
    "refuses forbid forbids forbidden prohibit prohibits prohibited".split()
)
_NEGATING_IDIOMS: Final = ("instead of", "rather than")
_NOT_A_NEGATION: Final = ("not only", "no doubt", "no matter", "not just", "not merely")
_CLAUSE_END: Final = re.compile(
    r"[,;:!?()\[\]\n\u2014]|\s\u2013\s|-{2,}|\.(?![^\W_])"
    r"|\b(?:but|however|although|though|yet|then|instead(?!\s+of\b))\b"
)


class Violation(NamedTuple):
    """A phrase that breaks a rule, and the protocol field in which it stands."""

    restriction: str
    phrase: str
    field: str


def violations(
    texts: Sequence[tuple[str, str]], parts: frozenset[str], rules: Sequence[PolicyRule]
) -> list[Violation]:
    """Return every broken phrase once per field, in the order of the rules.

    The texts come with the protocol field that each stands in; ``parts`` are all their words, as
    `lexicon.parts_of` gives them.
    """
    broken = [
        Violation(rule.restriction, phrase, field)
        for rule in rules
        for phrase, wanted in zip(rule.forbidden_phrases, rule.phrase_parts, strict=True)
        # Most phrases have a word that no text of the plan has, so no text need be searched.
        if wanted <= parts
        for field, text in texts
        if breaks(text, phrase)
    ]
    return list(dict.fromkeys(broken))


def breaks_policy(texts: Iterable[str], pack: Pack) -> bool:
    """Return whether any of some texts of a plan breaks a restriction of the study."""
    listed = list(texts)
    together = "\n".join(listed)
    if not pack.study.may_forbid(together):
        return False
    result = violations([("", text) for text in listed], parts_of(together), pack.policy_rules)
    return bool(result)


def breaks(text: str, phrase: str) -> bool:
    """Return whether a clause of ``text`` says ``phrase`` with no negation before it."""
    wanted = words_of(phrase)
    for part in _CLAUSE_END.split(folded(text)):
        clause = words_of(part)
        before, match, _ = f" {clause} ".partition(f" {wanted} ")
        if clause and match and not _negated(before):
            return True
    return False


def _negated(before: str) -> bool:
    words = f"{before} "
    for idiom in _NOT_A_NEGATION:
        words = words.replace(f" {idiom} ", " ")
    if any(f" {idiom} " in words for idiom in _NEGATING_IDIOMS):
        return True
    return any(word in NEGATIONS or word.endswith("n't") for word in words.split())
