"""What the planner says of each change is true of the plan: every sentence is taken apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import Final, NamedTuple

import pytest

from replicalab.agents.suggestions import SuggestionChange
from replicalab.assessment import Assessment, assess
from replicalab.lexicon import joined, label_key
from replicalab.models import NUMBER_FIELDS, revise
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import (
    Bounds,
    EvidenceTier,
    Pack,
    StudyLimit,
    hard_range,
)
from tests.planner.brute_force import (
    can_count,
    cost_of,
    days_of,
    evidence_of,
    ranked,
    tried,
    wishes_broken,
)
from tests.planner.small_labs import opened
from tests.tiers import batches

LABS: Final = 620
BATCHES: Final = pytest.mark.parametrize("first", batches(LABS, short=1, long=2))


class Said(NamedTuple):
    """A change of a plan, and what it set out from."""

    change: SuggestionChange
    yours: Assessment
    found: Assessment

    @property
    def before(self) -> int:
        return int(self.change.original)

    @property
    def samples(self) -> int:
        return self.found.plan.sample_size

    @property
    def days(self) -> int:
        return self.found.plan.duration_days

    @property
    def pack(self) -> Pack:
        return self.yours.pack

    def at(self, **numbers: int) -> Assessment:
        """Return the found plan with other numbers."""
        return assess(revise(self.found.plan, **numbers), self.pack)

    def fails_more(self, plan: Assessment) -> bool:
        """Return whether a plan fails a dimension that the found one does not."""
        return not set(plan.failing) <= set(self.found.failing)

    def wish(self, number: int) -> StudyLimit:
        """Return a wish of the study by the number in its name."""
        return next(x for x in self.pack.limits if x.constraint.key == f"wish_{number}")

    def broken(self, plan: Assessment) -> int:
        """Return how many of the study's wishes a plan breaks."""
        counts, value = plan.plan, plan.evidence.value
        return wishes_broken(counts.sample_size, counts.duration_days, value, self.pack)

    def worth(self, samples: int) -> tuple[EvidenceTier, float]:
        """Return tier and evidence of so many samples, given days enough."""
        evidence = evidence_of(self.found.plan, samples, self.pack)
        return evidence.tier, round(evidence.value, 12)


def _no_more_fit(said: Said, number: int, *, apart: bool = False) -> bool:
    """Return whether so many fit and no more do; ``apart`` from what fails all the same."""
    failing = {*said.found.failing}
    over = failing & ({"budget", "staff", "protocol"} if apart else {"budget", "staff"})
    return (
        bool(over) is apart
        and number == said.samples
        and all(
            number + 1 > can_count(days, said.pack)
            or said.fails_more(said.at(sample_size=number + 1, duration_days=days))
            for days in days_of(said.pack)
        )
    )


def _no_more_count(said: Said, number: int) -> bool:
    most = max(can_count(days, said.pack) for days in days_of(said.pack))
    return number == said.samples == most


def _held(said: Said, samples: int) -> bool:
    """Return whether so many samples break a hard constraint of the study's own."""
    broken = said.at(sample_size=samples).broken_limits
    return any(limit.hard and limit.number is not Bounds.DAYS for limit in broken)


def _reaches(said: Said, number: int, tier: EvidenceTier) -> bool:
    tiers = list(EvidenceTier)
    last, first = said.worth(number - 1)[0], said.worth(number)[0]
    return number == said.samples and (tiers.index(first) <= tiers.index(tier) < tiers.index(last))


def _same(said: Said, number: int) -> bool:
    lost = said.pack.lab.days_left < said.pack.min_days
    found = said.found.evidence
    return lost or said.worth(number) == (found.tier, round(found.value, 12))


def _more_show_more(said: Said, number: int) -> bool:
    """Return whether so many samples show more than one fewer, and not enough for the target."""
    evidence, less = said.found.evidence, said.worth(number - 1)[1]
    short = evidence.tier is not EvidenceTier.MEETS_TARGET
    return number == said.samples and short and less != round(evidence.value, 12)


def _as_many_as_fit(said: Said, needed: int) -> bool:
    """Return whether the endpoint is lost anyway, and a day more is too long or fails more."""
    longer = said.at(duration_days=said.days + 1)
    return needed == said.pack.min_days > said.days and (
        said.days + 1 > said.pack.lab.days_left or said.fails_more(longer)
    )


def _scarce(said: Said, fewer: int, dimension: str, enough: int | None = None) -> bool:
    """Return whether so many days fewer fit, one more does not, and fewer still are planned."""
    wished = [w for w in said.pack.limits if not w.hard and w.number is Bounds.DAYS]
    kept = (wish.most for wish in wished if wish.allows(said.days))
    days = int(min(said.before, said.pack.lab.days_left, *kept)) - fewer
    return (
        dimension in said.at(duration_days=days + 1).failing
        and not said.fails_more(said.at(duration_days=days))
        and (days == said.days if enough is None else days > said.days == enough)
    )


def _enough(said: Said, number: int) -> bool:
    limit = said.pack.lab.days_left
    return number == said.days and not said.fails_more(said.at(duration_days=limit))


def _costs_more(said: Said) -> bool:
    """Return whether the samples that were added cost something, in the days that are found."""
    then, now = (
        cost_of(said.found.plan, n, said.days, said.pack) for n in (said.before, said.samples)
    )
    return now > then


def _weaker(said: Said, fewer: int, *, truly: bool) -> bool:
    now, then = (said.at(sample_size=n).evidence.value for n in (said.samples, said.before))
    return said.before - said.samples == fewer and ((round(now, 12) != round(then, 12)) is truly)


def _as_many_as_wished(said: Said, needed: int) -> bool:
    """Return whether the endpoint is lost anyway, and a day more breaks more wishes."""
    longer = said.at(duration_days=said.days + 1)
    assert not said.fails_more(longer)
    return needed == said.pack.min_days > said.days and said.broken(longer) > said.broken(
        said.found
    )


def _no_more_fit_as_wished(said: Said, number: int) -> bool:
    """Return whether so many fit and count, and more do only where more wishes are broken."""
    fitting = []
    for samples, days in product(range(number + 1, number + 40), days_of(said.pack)):
        there = said.at(sample_size=samples, duration_days=days)
        if there.evidence.able > number and not said.fails_more(there):
            fitting.append(there)
    return number == said.samples and min(map(said.broken, fitting)) > said.broken(said.found)


def _kept(said: Said, wish: int) -> bool:
    """Return whether a wish on n or the days is kept, and was broken."""
    number = said.wish(wish).number
    before = dict.fromkeys((Bounds.SAMPLES, Bounds.DAYS), said.before)
    after = {Bounds.SAMPLES: said.samples, Bounds.DAYS: said.days}
    return said.wish(wish).allows(after[number]) and not said.wish(wish).allows(before[number])


def _wished_end(said: Said, wish: int) -> bool:
    """Return whether a wish is kept that was broken, to the number."""
    limit = said.wish(wish)
    after = said.samples if limit.number is Bounds.SAMPLES else said.days
    return _kept(said, wish) and after in (limit.least, limit.most)


def _wished_evidence(said: Said, wish: int, number: int) -> bool:
    """Return whether so many samples keep a wish on the evidence, and fewer do not."""
    values = [said.worth(n)[1] for n in (number - 1, number)]
    return number == said.samples and [*map(said.wish(wish).allows, values)] == [False, True]


BOUND: Final = (
    r"(?:at least|at most|exactly) [\d.]+(?: in each of 2 conditions: (?:at least|at most|exactly) "
    r"\d+ in all)?"
)
N: Final = r"(\d+)"
SHORT: Final = r"Short of the(?: study's)? target more samples show more"
APART: Final = "(?:protocol|budget|staff)(?: and (?:budget|staff))?"
SENTENCES: Final[dict[str, Callable[..., bool]]] = {
    # samples
    rf"No more than {N} samples? fit and count\.": _no_more_fit,
    rf"No more than {N} samples? fit and count {APART} apart\.": lambda s, n: _no_more_fit(
        s, n, apart=True
    ),
    rf"No more than {N} samples? can count\.": _no_more_count,
    rf"{SHORT} up to {N}\.": _more_show_more,
    rf"It takes {N} samples? to reach the(?: study's)? target\.": lambda s, n: _reaches(
        s, n, EvidenceTier.MEETS_TARGET
    ),
    rf"It takes {N} samples? to reach the(?: study's)? floor\.": lambda s, n: _reaches(
        s, n, EvidenceTier.ABOVE_FLOOR
    ),
    rf"The evidence is the same as with {N}\.": _same,
    rf"Fewer than {N} samples? leave no experimental sample beside the controls\.": lambda s, n: (
        n == s.found.counts.controls + 1
    ),
    rf"No more than {N} samples? fit and count(?: {APART} apart)? unless more of the study's "
    r"wishes are broken\.": _no_more_fit_as_wished,
    rf"'wish {N}' should be {BOUND}(?:; 'wish \d' should be {BOUND})*\.": _wished_end,
    rf"'wish {N}' should be {BOUND}; it takes {N} samples?\.": _wished_evidence,
    rf"'wish {N}' should be {BOUND}; {N} (?:is|are) enough\.": lambda s, wish, n: (
        _kept(s, wish) and n == s.days < s.wish(wish).most
    ),
    rf"The study's own constraints ask for {N} samples?\.": lambda s, n: (
        n == s.samples and _held(s, n - 1) and not _held(s, n)
    ),
    rf"The study asks for {N} days? at least\.": lambda s, n: (
        n == hard_range(s.pack.limits, Bounds.DAYS)[0] <= s.days
    ),
    rf"The study allows {N} days? at most\.": lambda s, n: (
        n == hard_range(s.pack.limits, Bounds.DAYS)[1] >= s.days
    ),
    r"A plan takes at least 1 (?:sample|day)\.": lambda s: s.before == 0,
    rf"{N} samples? fewer: weaker evidence\.": lambda s, n: _weaker(s, n, truly=True),
    rf"{N} samples? fewer: weaker evidence which meets the target\.": lambda s, n: (
        _weaker(s, n, truly=True) and s.found.evidence.tier is EvidenceTier.MEETS_TARGET
    ),
    rf"{N} samples? fewer: the evidence is no weaker for it\.": lambda s, n: _weaker(
        s, n, truly=False
    ),
    r"Nothing of the evidence; the cost rises\.": _costs_more,
    r"Nothing of the evidence\.": lambda s: not _costs_more(s),
    # days
    rf"The lab has {N} days?\.": lambda s, n: n == s.pack.lab.days_left < s.before,
    rf"The lab has {N} days?; {N} (?:is|are) enough\.": lambda s, limit, n: (
        limit == s.pack.lab.days_left and _enough(s, n)
    ),
    rf"{N} fewer leaves? (?:credits|EUR) for the samples(?:; {N} (?:is|are) enough)?\.": (
        lambda s, n, days=None: _scarce(s, n, "budget", days)
    ),
    rf"{N} fewer leaves? hands for the samples(?:; {N} (?:is|are) enough)?\.": (
        lambda s, n, days=None: _scarce(s, n, "staff", days)
    ),
    rf"The study's endpoint needs {N} days?\.": lambda s, n: (
        s.before < n == s.pack.min_days <= s.days
    ),
    rf"Of the study's {N} days? as many as fit\.": _as_many_as_fit,
    rf"Of the study's {N} days? as many as its wishes allow\.": _as_many_as_wished,
    rf"In {N} days? no more than {N} samples? can count\.": lambda s, days, most: (
        most == can_count(days, s.pack) and most < s.samples
    ),
    rf"{N} days? fewer to run and to repeat what fails\.": lambda s, n: s.before - s.days == n,
    rf"{N} days? fewer to run and to repeat what fails\. In {N} days? no more than {N} samples? "
    r"can count\.": lambda s, n, days, most: (
        s.before - s.days == n and most == can_count(days, s.pack) < s.yours.plan.sample_size
    ),
    r"Nothing of the evidence; the lab is in use for longer\.": lambda s: s.before < s.days,
    rf"Below {N} days the study's endpoint is lost\.": lambda s, n: s.days < n == s.pack.min_days,
}


def _plain(text: str, said: Said) -> str:
    """Return a sentence without what may stand before its point, which is looked at here.

    Nor has it thousands' commas, or its lab's own start day.
    """
    text = text.replace(",", "").replace(f" from day {said.pack.lab.start_day} on", "")
    if before := re.match(rf"{SHORT}; n", text):
        assert _more_show_more(said, said.samples)
        text = f"N{text[before.end() :]}"
    if before := re.match(rf"'wish {N}' should be {BOUND}(?:\. |; (?=\d+ fewer))", text):
        assert _kept(said, int(before[1]))
        text = text[before.end() :]
    if before := re.match(rf"The lab has {N} days?; (?=\d+ fewer)", text):
        assert int(before[1]) == said.pack.lab.days_left < said.before
        text = text[before.end() :]
    return text


def _of_its_own(options: PlanAnalysis) -> Iterator[SuggestionChange]:
    """Yield each change that the planner makes itself, not the Lab Manager."""
    theirs = options.offer.changes if options.offer else ()
    return iter(() if options.least.changes == theirs else options.least.changes)


@BATCHES
def test_every_sentence_about_a_number_is_true(first: int) -> None:
    used = set()
    for options in map(opened, range(first, first + LABS)):
        for change in _of_its_own(options):
            if change.field not in NUMBER_FIELDS:
                continue
            said = Said(change, options.yours, options.least.after)
            for text in (change.reason, change.tradeoff):
                plain = _plain(text, said)
                pattern, match = next(
                    (pattern, match)
                    for pattern in SENTENCES
                    if (match := re.fullmatch(pattern, plain))
                )
                used.add(pattern)
                numbers = [int(each) for each in match.groups() if each is not None]
                assert SENTENCES[pattern](said, *numbers), (text, said)
    if first == 0:
        assert used == {each for each in SENTENCES if "as many as" not in each}


def _told(found: Assessment, kept: Assessment) -> str:
    """Return the reason that a dropped control must have, from checks of plans with it."""
    most, pack = 0, found.pack
    tiers = list(EvidenceTier)
    for days in days_of(pack):
        for samples in range(kept.counts.controls + 1, max(40, found.counts.samples) + 1):
            there = assess(revise(kept.plan, sample_size=samples, duration_days=days), pack)
            short = tiers.index(there.evidence.tier) > tiers.index(found.evidence.tier)
            if there.feasible and short:
                most = max(most, there.evidence.able)
    if most and kept.failing:
        counted = f"{most} sample{'' if most == 1 else 's'}"
        return f"With it no more than {counted} fit and count, short of"
    if kept.failing:
        return f"With it the plan fails on {joined(kept.failing)}."
    return "With it the plan costs "


@BATCHES
def test_every_dropped_control_is_worth_dropping(first: int) -> None:
    dropped = wished = 0
    for options in map(opened, range(first, first + LABS)):
        found, pack = options.least.after, options.yours.pack
        for change in options.least.changes:
            if change.field != "controls":
                continue
            dropped += 1
            controls = [*found.plan.controls, change.original]
            kept = assess(revise(found.plan, controls=controls), pack)
            gone = label_key(change.original) not in map(label_key, found.plan.controls)
            if gone and change.reason.startswith("No revision"):
                _assert_keeps_as_few(change.reason, found, options)
                wished += 1
            elif gone and found.feasible:
                assert change.reason.startswith(_told(found, kept))
            assert kept.cost > found.cost or len(kept.failing) > len(found.failing)
    assert dropped > LABS / 50
    assert wished


def _assert_keeps_as_few(reason: str, found: Assessment, options: PlanAnalysis) -> None:
    """Check that of all plans as good in checks and tier those that lose less break more wishes."""
    original, pack = options.yours.plan, found.pack
    failing, tier, wishes, loss, *_ = ranked(found, original)
    rivals = [
        each
        for each in tried(original, pack)
        if (each.failing, each.tier) <= (failing, tier) and each.loss < loss
    ]
    assert rivals
    assert all(each.wishes > wishes for each in rivals)
    assert ("passes all seven dimensions" in reason) is found.feasible
    tiers = ["reaches the study's target", "reaches the study's floor", ""]
    assert tiers[int(tier)] in reason
    named = [limit for limit in pack.limits if not limit.hard]
    if len(named) == 1:
        assert wishes == 0
        assert reason.endswith(
            f" keeps '{named[0].constraint.label}', which should be {named[0].text}."
        )
    else:
        assert reason.endswith(" breaks so few of the study's wishes.")
