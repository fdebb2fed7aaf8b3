"""The changes of a plan's two numbers, each with its reason and what is lost."""

from __future__ import annotations

from collections.abc import Iterator

from replicalab.agents.suggestions import SuggestionChange
from replicalab.costs import counts_of, credits_needed
from replicalab.evidence import planned_evidence
from replicalab.lexicon import amount_text, count_text
from replicalab.models import Dimension, Protocol, revise
from replicalab.planner.limits import Limits
from replicalab.planner.order import TIER_RANK, shortfall
from replicalab.planner.search import Found
from replicalab.scenarios import Pack


def number_changes(plan: Protocol, found: Found, scenario: Pack) -> list[SuggestionChange]:
    """Return the changes that give a worded plan the days and samples found, the days first."""
    timed = revise(plan, duration_days=found.days)
    return [*_days_change(plan, found, scenario), *_samples_change(timed, found, scenario)]


def _days_change(plan: Protocol, found: Found, scenario: Pack) -> Iterator[SuggestionChange]:
    before, days = plan.duration_days, found.days
    if days == before:
        return
    if days > before:
        reason = _more_days_reason(before, found, scenario)
        tradeoff = "Nothing of the evidence; the lab is in use for longer."
    else:
        reason = _fewer_days_reason(plan, found, scenario)
        tradeoff = _fewer_days_tradeoff(plan, days, scenario)
    if days < scenario.min_days:
        tradeoff = f"Below {scenario.min_days} days the study's endpoint is lost."
    yield _change("duration_days", before, days, reason, tradeoff)


def _more_days_reason(before: int, found: Found, scenario: Pack) -> str:
    if before < scenario.min_days <= found.days:
        return f"The study's endpoint needs {count_text(scenario.min_days, 'day')}."
    if before < 1:
        return "A plan takes at least 1 day."
    return _most_text(before, scenario)


def _most_text(days: int, scenario: Pack) -> str:
    most = count_text(Limits.of(scenario).most_samples(days), "sample")
    return f"In {count_text(days, 'day')} no more than {most} can count."


def _fewer_days_reason(plan: Protocol, found: Found, scenario: Pack) -> str:
    before, limit = plan.duration_days, scenario.lab.days
    counts = counts_of(plan)._replace(samples=found.samples, days=min(before, limit))
    limits = Limits(scenario, Dimension.BUDGET in found.given_up, Dimension.STAFF in found.given_up)
    given = f"The lab has {count_text(limit, 'day')}"
    if limits.affords(counts):
        return f"{given}; {found.days} are enough." if found.days < limit else f"{given}."
    over = credits_needed(counts, scenario.cost_model) > scenario.lab.budget
    scarce = "credits" if over and not limits.over_budget else "hands"
    fewer = f"{counts.days - found.days} fewer leave {scarce} for the samples."
    return f"{given}; {fewer}" if before > limit else fewer


def _fewer_days_tradeoff(plan: Protocol, days: int, scenario: Pack) -> str:
    fewer = f"{count_text(plan.duration_days - days, 'day')} fewer to run and to repeat what fails."
    at_most = Limits.of(scenario).most_samples(days)
    if at_most < min(plan.sample_size, Limits.of(scenario).most_samples(plan.duration_days)):
        return f"{fewer} {_most_text(days, scenario)}"
    return fewer


def _samples_change(plan: Protocol, found: Found, scenario: Pack) -> Iterator[SuggestionChange]:
    before, samples = plan.sample_size, found.samples
    if samples == before:
        return
    gap = count_text(abs(samples - before), "sample")
    if samples > before:
        reason = _more_samples_reason(plan, found, scenario)
        tradeoff = "Nothing of the evidence"
        tradeoff += "; the cost rises." if scenario.cost_model.per_sample else "."
    else:
        reason = _fewer_samples_reason(before, found)
        weaker = _shortfall(plan, samples, scenario) > _shortfall(plan, before, scenario)
        lost = "weaker evidence" if weaker else "the evidence is no weaker for it"
        tradeoff = f"{gap} fewer: {lost}."
    yield _change("sample_size", before, samples, reason, tradeoff)


def _fewer_samples_reason(before: int, found: Found) -> str:
    if found.samples == found.most:
        return f"No more than {count_text(found.most, 'sample')} fit."
    return f"The evidence is the same as with {amount_text(min(found.most, before))}."


def _more_samples_reason(plan: Protocol, found: Found, scenario: Pack) -> str:
    samples, asked = count_text(found.samples, "sample"), scenario.reference_protocol.sample_size
    if _tier(plan, found.samples, scenario) < _tier(plan, found.samples - 1, scenario):
        bound = ("target", "floor")[_tier(plan, found.samples, scenario)]
        return f"It takes {samples} to reach the study's {bound}."
    if found.samples == 1:
        return "A plan takes at least 1 sample."
    if found.samples == asked:
        return f"The study asks for {samples}."
    if found.samples == len(plan.controls) + 1:
        return f"Fewer than {samples} leave no experimental sample beside the controls."
    if found.samples == found.most:
        return f"The study asks for {amount_text(asked)}; no more than {samples} fit."
    return f"The evidence is the same as with {amount_text(min(found.most, asked))}."


def _shortfall(plan: Protocol, samples: int, scenario: Pack) -> float:
    sized = revise(plan, sample_size=samples)
    return shortfall(planned_evidence(sized, scenario).value, scenario.design)


def _tier(plan: Protocol, samples: int, scenario: Pack) -> int:
    return TIER_RANK[planned_evidence(revise(plan, sample_size=samples), scenario).tier]


def _change(field: str, before: int, after: int, reason: str, tradeoff: str) -> SuggestionChange:
    return SuggestionChange(
        field=field, original=str(before), revised=str(after), reason=reason, tradeoff=tradeoff
    )
