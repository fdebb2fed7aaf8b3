"""What the planner says of each change is true of the plan: every sentence is taken apart."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

import pytest

from replicalab.agents import check_feasibility, suggest_alternative
from replicalab.agents.suggestions import SuggestionChange
from replicalab.assessment import assess
from replicalab.lexicon import joined, label_key
from replicalab.models import Dimension, Protocol, revise
from replicalab.planner import LeastLoss, least_loss
from replicalab.scenarios import Bounds, EvidenceTier, Pack, hard_range
from tests.planner.brute_force import can_count, days_of
from tests.planner.small_labs import small_labs

LABS: Final = 1200


class Said(NamedTuple):
    """A change with the plan that it led to, and the one that it set out from."""

    change: SuggestionChange
    original: Protocol
    found: LeastLoss
    pack: Pack

    @property
    def before(self) -> int:
        return int(self.change.original)

    def at(self, **numbers: int) -> Protocol:
        """Return the found plan with other numbers."""
        return revise(self.found.plan, **numbers)

    def fails_more(self, plan: Protocol) -> bool:
        """Return whether a plan fails a dimension that the found one does not."""
        mine = check_feasibility(plan, self.pack).failing
        return not set(mine) <= set(self.found.after.check.failing)

    def worth(self, samples: int) -> tuple[EvidenceTier, float]:
        """Return tier and evidence of so many samples, given days enough."""
        plan = self.at(sample_size=samples, duration_days=self.pack.min_days + samples)
        evidence = assess(plan, self.pack).evidence
        return evidence.tier, round(evidence.value, 12)


def _no_more_fit(said: Said, number: int) -> bool:
    return number == said.found.plan.sample_size and all(
        number + 1 > can_count(days, said.pack)
        or said.fails_more(said.at(sample_size=number + 1, duration_days=days))
        for days in days_of(said.pack)
    )


def _held(said: Said, samples: int) -> bool:
    """Return whether so many samples break a hard constraint of the study's own."""
    broken = assess(said.at(sample_size=samples), said.pack).broken_limits
    return any(limit.hard and limit.number is not Bounds.DAYS for limit in broken)


def _reaches(said: Said, number: int, tier: EvidenceTier) -> bool:
    tiers = list(EvidenceTier)
    last, first = said.worth(number - 1)[0], said.worth(number)[0]
    return number == said.found.plan.sample_size and (
        tiers.index(first) <= tiers.index(tier) < tiers.index(last)
    )


def _same(said: Said, number: int) -> bool:
    lost = said.pack.lab.days < said.pack.min_days
    return lost or said.worth(number) == said.worth(said.found.plan.sample_size)


def _scarce(said: Said, fewer: int, dimension: str) -> bool:
    days = min(said.before, said.pack.lab.days)
    check = check_feasibility(said.at(duration_days=days), said.pack)
    return days - said.found.plan.duration_days == fewer and dimension in check.failing


def _enough(said: Said, number: int) -> bool:
    limit = said.pack.lab.days
    return number == said.found.plan.duration_days and not said.fails_more(
        said.at(duration_days=limit)
    )


def _weaker(said: Said, fewer: int, *, truly: bool) -> bool:
    now, then = (
        assess(said.at(sample_size=n), said.pack).evidence.value
        for n in (said.found.plan.sample_size, said.before)
    )
    return said.before - said.found.plan.sample_size == fewer and (
        (round(now, 12) != round(then, 12)) is truly
    )


N: Final = r"(\d+)"
SENTENCES: Final[dict[str, Callable[..., bool]]] = {
    # samples
    rf"No more than {N} samples? fit\.": _no_more_fit,
    rf"The study asks for {N}; no more than {N} samples? fit\.": lambda s, asked, n: (
        asked == s.pack.reference_protocol.sample_size and _no_more_fit(s, n)
    ),
    rf"The study asks for {N} samples?\.": lambda s, n: (
        n == s.found.plan.sample_size == s.pack.reference_protocol.sample_size
    ),
    rf"It takes {N} samples? to reach the study's target\.": lambda s, n: _reaches(
        s, n, EvidenceTier.MEETS_TARGET
    ),
    rf"It takes {N} samples? to reach the study's floor\.": lambda s, n: _reaches(
        s, n, EvidenceTier.ABOVE_FLOOR
    ),
    rf"The evidence is the same as with {N}\.": _same,
    rf"Fewer than {N} samples? leave no experimental sample beside the controls\.": lambda s, n: (
        n == len(s.found.plan.controls) + 1
    ),
    rf"The study's own constraints ask for {N} samples?\.": lambda s, n: (
        n == s.found.plan.sample_size and _held(s, n - 1) and not _held(s, n)
    ),
    rf"The study asks for {N} days? at least\.": lambda s, n: (
        n == hard_range(s.pack.limits, Bounds.DAYS)[0] <= s.found.plan.duration_days
    ),
    rf"The study allows {N} days? at most\.": lambda s, n: (
        n == hard_range(s.pack.limits, Bounds.DAYS)[1] >= s.found.plan.duration_days
    ),
    r"A plan takes at least 1 (?:sample|day)\.": lambda s: s.before == 0,
    rf"{N} samples? fewer: weaker evidence\.": lambda s, n: _weaker(s, n, truly=True),
    rf"{N} samples? fewer: the evidence is no weaker for it\.": lambda s, n: _weaker(
        s, n, truly=False
    ),
    r"Nothing of the evidence; the cost rises\.": lambda s: s.pack.cost_model.per_sample > 0,
    r"Nothing of the evidence\.": lambda s: s.pack.cost_model.per_sample == 0,
    # days
    rf"The lab has {N} days?\.": lambda s, n: n == s.pack.lab.days < s.before,
    rf"The lab has {N} days?; {N} are enough\.": lambda s, limit, n: (
        limit == s.pack.lab.days and _enough(s, n)
    ),
    rf"(?:The lab has \d+ days?; )?{N} fewer leave credits for the samples\.": lambda s, n: _scarce(
        s, n, "budget"
    ),
    rf"(?:The lab has \d+ days?; )?{N} fewer leave hands for the samples\.": lambda s, n: _scarce(
        s, n, "staff"
    ),
    rf"The study's endpoint needs {N} days?\.": lambda s, n: (
        s.before < n == s.pack.min_days <= s.found.plan.duration_days
    ),
    rf"In {N} days? no more than {N} samples? can count\.": lambda s, days, most: (
        most == can_count(days, s.pack) and most < s.found.plan.sample_size
    ),
    rf"{N} days? fewer to run and to repeat what fails\.": lambda s, n: (
        s.before - s.found.plan.duration_days == n
    ),
    rf"{N} days? fewer to run and to repeat what fails\. In {N} days? no more than {N} samples? "
    r"can count\.": lambda s, n, days, most: (
        s.before - s.found.plan.duration_days == n
        and most == can_count(days, s.pack) < s.original.sample_size
    ),
    r"Nothing of the evidence; the lab is in use for longer\.": lambda s: (
        s.before < s.found.plan.duration_days
    ),
    rf"Below {N} days the study's endpoint is lost\.": lambda s, n: (
        s.found.plan.duration_days < n == s.pack.min_days
    ),
}


def _number_changes(labs: int) -> list[Said]:
    """Return each change of a number that the planner made itself, not the Lab Manager."""
    found = []
    for plan, pack in small_labs(0, labs):
        best = least_loss(plan, pack)
        suggestion = suggest_alternative(plan, check_feasibility(plan, pack), pack)
        theirs = suggestion.applied_changes if suggestion else []
        if list(best.changes) == theirs:
            continue
        found += [
            Said(change, plan, best, pack)
            for change in best.changes
            if change.field in ("sample_size", "duration_days")
        ]
    return found


@pytest.fixture(scope="module")
def said() -> list[Said]:
    return _number_changes(LABS)


def test_every_sentence_about_a_number_is_true(said: list[Said]) -> None:
    used = set()
    for each in said:
        for text in (each.change.reason, each.change.tradeoff):
            pattern, match = next(
                (pattern, match)
                for pattern in SENTENCES
                if (match := re.fullmatch(pattern, text.replace(",", "")))
            )
            used.add(pattern)
            assert SENTENCES[pattern](each, *map(int, match.groups())), (text, each)
    rare = {r"Nothing of the evidence\."} | {p for p in SENTENCES if "The study allows" in p}
    assert used >= set(SENTENCES) - rare


def _told(found: LeastLoss, change: SuggestionChange, pack: Pack) -> str:
    """Return the reason that a dropped control must have, from checks of plans with it."""
    kept = revise(found.plan, controls=[*found.plan.controls, change.original])
    most = 0
    for samples in range(len(kept.controls) + 1, found.plan.sample_size):
        for days in (d for d in days_of(pack) if samples <= can_count(d, pack)):
            sized = revise(kept, sample_size=samples, duration_days=days)
            there = assess(sized, pack)
            broken = {limit.number for limit in there.broken_limits if limit.hard}
            short = broken == {Bounds.EVIDENCE} and there.failing == [Dimension.PROTOCOL]
            if there.feasible or short:
                most = samples
    failing = check_feasibility(kept, pack).failing
    if most and failing:
        return f"With it no more than {most} sample{'' if most == 1 else 's'} fit, short of"
    if failing:
        return f"With it the plan fails on {joined(failing)}."
    return "With it the plan costs "


def test_every_dropped_control_is_worth_dropping() -> None:
    dropped = 0
    for plan, pack in small_labs(0, LABS):
        found = least_loss(plan, pack)
        for change in found.changes:
            if change.field != "controls":
                continue
            dropped += 1
            gone = label_key(change.original) not in map(label_key, found.plan.controls)
            if gone and found.after.check.feasible:
                assert change.reason.startswith(_told(found, change, pack))
            kept = revise(found.plan, controls=[*found.plan.controls, change.original])
            check = check_feasibility(kept, pack)
            costs_more = check.estimated_cost > found.after.check.estimated_cost
            assert costs_more or len(check.failing) > len(found.after.check.failing)
    assert dropped > LABS / 50
