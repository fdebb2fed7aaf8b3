"""The changes of a plan's two numbers, each with its reason and what is lost."""

from __future__ import annotations

from collections.abc import Iterator

from replicalab.agents.suggestions import SuggestionChange
from replicalab.costs import amount_text
from replicalab.labels import count_text
from replicalab.models import Protocol
from replicalab.scenarios.models import NormalizedScenarioPack


def number_changes(
    plan: Protocol, samples: int, days: int, scenario: NormalizedScenarioPack
) -> list[SuggestionChange]:
    """Return the changes that give a plan so many days and samples, the days first."""
    return [*_days_change(plan, days, scenario), *_samples_change(plan, samples)]


def _days_change(
    plan: Protocol, days: int, scenario: NormalizedScenarioPack
) -> Iterator[SuggestionChange]:
    before, limit = plan.duration_days, scenario.lab.time_limit_days
    if days == before:
        return
    gap = count_text(abs(days - before), "day")
    if days > before:
        reason = f"{gap} more keep the endpoint, or let more samples count."
        tradeoff = "Nothing of the evidence; the lab is in use for longer."
    else:
        reason = f"The lab has {count_text(limit, 'day')}."
        if before <= limit:
            reason = f"{gap} fewer leave credits, or hands, for samples."
        tradeoff = f"{gap} fewer to run and to repeat what fails."
    if days < scenario.min_days:
        tradeoff = f"Below {scenario.min_days} days the study's endpoint is lost."
    yield SuggestionChange(
        field="duration_days",
        original=str(before),
        revised=str(days),
        reason=reason,
        tradeoff=tradeoff,
    )


def _samples_change(plan: Protocol, samples: int) -> Iterator[SuggestionChange]:
    before = plan.sample_size
    if samples == before:
        return
    gap = counted_samples_text(abs(samples - before))
    fewer = samples < before
    yield SuggestionChange(
        field="sample_size",
        original=str(before),
        revised=str(samples),
        reason=(
            f"{amount_text(samples)} is the most that fits."
            if fewer
            else f"{gap} more fit, up to what the study asks for."
        ),
        tradeoff=f"{gap} fewer: weaker evidence." if fewer else "Nothing; the cost rises.",
    )


def counted_samples_text(number: int) -> str:
    """Return a number of samples for people: ``1 sample``, ``1,200 samples``."""
    return f"{amount_text(number)} {'sample' if number == 1 else 'samples'}"
