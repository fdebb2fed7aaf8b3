"""Whether the parts of a study fit together: plan and design, substitutions, restrictions."""

from __future__ import annotations

from collections.abc import Iterator

from replicalab.assessment import Assessment, breaks, violations
from replicalab.lexicon import count_text, label_key, words_of
from replicalab.lint.findings import LintFinding, note, warning
from replicalab.scenarios import AllowedSubstitution, Difficulty, Study


def plan_findings(study: Study, reference: Assessment) -> Iterator[LintFinding]:
    """Yield where the reference protocol does not do what the study itself asks for.

    Args:
        study: the study.
        reference: its reference protocol in any lab.
    """
    yield from _sizes(study)
    for place, element in enumerate(study.hidden_reference.required_elements):
        if element in reference.missing_elements:
            yield warning(
                f"hidden_reference.required_elements[{place}]",
                f"The reference protocol does not say '{element}'; say all its words in the "
                "technique or the rationale.",
            )
    for limit in reference.broken_limits:
        yield warning(
            f"constraints[{study.constraints.index(limit.constraint)}]",
            f"The reference protocol breaks '{limit.constraint.label}', {limit.text}; plan "
            "otherwise, or state another bound.",
        )


def _sizes(study: Study) -> Iterator[LintFinding]:
    plan, most = study.reference_protocol, study.design.population_max
    if most is not None and most < plan.sample_size:
        yield warning(
            "design.population_max",
            f"{most} is fewer than the {plan.sample_size} samples of the reference protocol; plan "
            "fewer samples, or raise this number.",
        )
    if plan.duration_days < study.min_days:
        yield warning(
            "reference_protocol.duration_days",
            f"{count_text(plan.duration_days, 'day')} is below min_days, {study.min_days}, so the "
            "plan yields no evidence; plan more days, or lower min_days.",
        )
    yield from _throughput(study)


def _throughput(study: Study) -> Iterator[LintFinding]:
    plan, rate = study.reference_protocol, study.samples_per_day
    if rate is not None and plan.sample_size > rate.value * plan.duration_days:
        yield warning(
            "reference_protocol.sample_size",
            f"At {rate.value} a day only {rate.value * plan.duration_days} of the "
            f"{plan.sample_size} samples can count; plan fewer samples or more days.",
        )


def substitution_findings(study: Study) -> Iterator[LintFinding]:
    """Yield the substitutions that are never needed, or that no lab could make."""
    plan = study.reference_protocol
    used = set(map(label_key, (*plan.required_equipment, *plan.required_reagents)))
    missing = {label_key(item) for level in Difficulty for item in _missing(study, level)}
    first_for: dict[str, str] = {}
    for place, swap in enumerate(study.substitutions):
        path, original = f"substitutions[{place}]", label_key(swap.original)
        if original not in used:
            yield note(
                f"{path}.original",
                f"The reference protocol does not use '{swap.original}', so nobody needs this "
                "replacement; use the item, or leave the replacement out.",
            )
        elif original not in missing:
            yield note(
                f"{path}.original",
                f"'{swap.original}' is missing in no lab as written, so this replacement plays "
                "only in labs of other seeds; let the item be missing in one.",
            )
        yield from _alternative(study, swap, f"{path}.alternative")
        first = first_for.setdefault(label_key(swap.alternative), swap.original)
        if label_key(first) != original:
            yield warning(
                f"{path}.alternative",
                f"'{swap.alternative}' may stand in for '{first}' too, and can for only one of the "
                "two at a time; name another item here.",
            )


def _alternative(study: Study, swap: AllowedSubstitution, path: str) -> Iterator[LintFinding]:
    alternative = label_key(swap.alternative)
    if alternative not in map(label_key, (*study.equipment, *study.reagents)):
        return
    without = [
        level.value for level in Difficulty if alternative in map(label_key, _missing(study, level))
    ]
    where = f"; it is missing in the {' and '.join(without)} lab" if without else ""
    yield warning(
        path,
        f"'{swap.alternative}' is an item of the study itself{where}; name something that the "
        "study does not list.",
    )


def _missing(study: Study, level: Difficulty) -> list[str]:
    lab = study.labs.at(level)
    return [*lab.booked, *lab.out_of_stock]


def policy_findings(study: Study) -> Iterator[LintFinding]:
    """Yield the phrases that catch nothing, and the allowed mentions that are caught."""
    for place, rule in enumerate(study.policy_rules):
        path = f"policy_rules[{place}]"
        for number, phrase in enumerate(rule.forbidden_phrases):
            if not breaks(phrase, phrase):
                yield warning(
                    f"{path}.forbidden_phrases[{number}]",
                    f"A plan that says '{phrase}' is not caught, for a clause ends within it; "
                    "leave out punctuation, and words such as 'but' and 'then'.",
                )
        for number, mention in enumerate(rule.allowed_mentions):
            texts = [("allowed_mentions", mention)]
            for found in violations(texts, words_of(mention), study.policy_rules)[:1]:
                yield warning(
                    f"{path}.allowed_mentions[{number}]",
                    f"'{mention}' breaks a restriction by '{found.phrase}'; put 'no', 'never' or "
                    "'without' before the phrase, in the same clause.",
                )
