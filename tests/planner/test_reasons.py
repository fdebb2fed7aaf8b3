"""What the planner says of each change is true of the plan: every sentence is taken apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import product
from typing import Final, NamedTuple

import pytest

from replicalab.agents.suggestions import SuggestionChange, change_of
from replicalab.assessment import Assessment, assess
from replicalab.lexicon import joined, label_key
from replicalab.models import NUMBER_FIELDS, revise
from replicalab.planner import PlanAnalysis, least_loss
from replicalab.planner.reasons import with_reasons
from replicalab.scenarios import (
    Bounds,
    CostModel,
    DesignKind,
    EvidenceAssumptions,
    EvidenceTier,
    LabOverrides,
    Pack,
    ScenarioConstraint,
    StaffModel,
    StudyLimit,
    hard_range,
)
from tests.factories import (
    CONTROLS,
    EQUIPMENT,
    change_pack,
    make_constraint,
    make_design,
    make_pack,
    make_protocol,
    make_substitution,
    make_throughput,
)
from tests.measures.designs import design_of
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
CHAMBER: Final = EQUIPMENT[0]
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


def test_wish_is_no_reason_for_a_replacement_where_another_loses_as_much() -> None:
    # The fan shows more, but its 200 credits leave only 30 samples; 50 are wished.
    swaps = [
        make_substitution(original=CHAMBER, alternative=name, fidelity_loss=1, evidence_factor=left)
        for name, left in (("shelf", 0.5), ("fan", 1.0))
    ]
    plan = make_protocol(sample_size=50, duration_days=3, required_equipment=[CHAMBER])
    pack = make_pack(
        design=make_design(effect_planning=0.3),
        allowed_substitutions=swaps,
        booked={CHAMBER: 30},
        prices={CHAMBER: 0.0, "shelf": 0.0, "fan": 200.0},
        constraints=[make_constraint(bounds="samples", comparator=">=", quantity=50, hard=False)],
    )
    budget = assess(plan, pack).cost
    [change] = least_loss(plan, change_pack(pack, budget=budget)).changes
    assert (change.original, change.revised) == (CHAMBER, "shelf")
    assert "No revision" not in change.reason
    wishless = least_loss(plan, change_pack(pack, budget=budget, constraints=[]))
    assert wishless.plan.required_equipment == ["fan"]


def test_most_samples_that_fit_are_those_of_all_that_keep_as_many_wishes() -> None:
    # Of two wishes that contradict each other either can be kept: by 10 samples, and by 30.
    wishes = [
        make_constraint(key="few", bounds="samples", comparator="<=", quantity=10, hard=False),
        make_constraint(key="many", bounds="samples", comparator=">=", quantity=20, hard=False),
    ]
    plan = make_protocol(sample_size=50, duration_days=3)
    pack = make_pack(design=make_design(effect_planning=0.3), constraints=wishes)
    there = change_pack(pack, budget=assess(plan, pack).cost - 20 * 10)
    [change] = least_loss(plan, there).changes
    assert (change.field, change.revised) == ("sample_size", "30")
    assert change.reason.endswith("No more than 30 samples fit and count.")


def test_plan_of_no_day_is_given_as_many_as_fit_where_the_endpoint_is_lost_anyway() -> None:
    found = least_loss(make_protocol(duration_days=0), make_pack(days=3, min_days=6))
    [change] = [each for each in found.changes if each.field == "duration_days"]
    assert (change.revised, change.reason) == ("3", "Of the study's 6 days as many as fit.")


def test_samples_are_as_good_as_any_other_number_where_the_endpoint_is_lost_anyway() -> None:
    plan = make_protocol(sample_size=9, duration_days=1, controls=[])
    pack = make_pack(days=1, min_days=3, budget=assess(plan, make_pack()).cost - 1)
    [change] = least_loss(plan, pack).changes
    assert (change.field, change.revised) == ("sample_size", "1")
    assert change.reason == "The evidence is the same as with 9."


def test_plan_of_no_day_is_given_as_many_as_a_wish_allows_where_the_endpoint_is_lost_anyway() -> (
    None
):
    short = make_constraint(bounds="days", comparator="<=", quantity=3, hard=False)
    pack = make_pack(days=5, min_days=6, constraints=[short])
    [change] = least_loss(make_protocol(duration_days=0), pack).changes
    assert (change.field, change.revised) == ("duration_days", "3")
    assert change.reason == "Of the study's 6 days as many as its wishes allow."


# Cohen (1988), table 2.4.1: at d = 0.5 and alpha 0.05, 64 a group have power 0.80. With 128 samples
# a plan of the synthetic study costs 1,680 credits and 50 a day.
HALF: Final = make_design(effect_planning=0.5, alpha=0.05, target=0.8, floor=0.5)
ONE_HAND: Final = StaffModel(
    base=1,
    sample_threshold=1000,
    control_threshold=10,
    day_threshold=3,
    equipment_threshold=10,
)


def asks(
    bounds: str, comparator: str, quantity: float, *, name: str = "wish", hard: bool = False
) -> ScenarioConstraint:
    """Return a wish of a study, or a constraint, on one of its numbers."""
    return make_constraint(
        key=name,
        label=name,
        bounds=bounds,
        comparator=comparator,
        quantity=quantity,
        unit=None,
        hard=hard,
    )


@pytest.mark.parametrize(
    ("before", "after", "lab", "reason"),
    [
        # more of them
        (0, 1, {"min_days": 1}, "A plan takes at least 1 day."),
        (0, 1, {"min_days": 6, "days": 1}, "A plan takes at least 1 day."),
        (
            0,
            7,
            {"min_days": 1, "samples_per_day": make_throughput()},
            "A plan takes at least 1 day.",
        ),
        (
            6,
            7,
            {"min_days": 1, "samples_per_day": make_throughput()},
            "In 6 days no more than 120 samples can count.",
        ),
        (0, 2, {"min_days": 2}, "The study's endpoint needs 2 days."),
        (
            1,
            2,
            {
                "min_days": 1,
                "constraints": [asks("days", ">=", 2, hard=True)],
            },
            "The study asks for 2 days at least.",
        ),
        # The lab has a day more, which the wish does not allow.
        (
            0,
            3,
            {"min_days": 6, "days": 4, "constraints": [asks("days", "<=", 3, name="haste")]},
            "Of the study's 6 days as many as its wishes allow.",
        ),
        # fewer of them
        (8, 1, {"min_days": 1, "days": 5}, "The lab has 5 days; 1 is enough."),
        (8, 2, {"min_days": 2, "days": 5}, "The lab has 5 days; 2 are enough."),
        (8, 5, {"min_days": 5, "days": 5}, "The lab has 5 days."),
        (
            8,
            3,
            {
                "min_days": 3,
                "constraints": [
                    asks("days", "<=", 5, name="haste"),
                    asks("days", "<=", 3, name="hurry"),
                ],
            },
            "'hurry' should be at most 3.",
        ),
        (
            8,
            3,
            {
                "min_days": 3,
                "constraints": [
                    asks("days", "<=", 5, name="haste"),
                    asks("days", "<=", 4, name="hurry"),
                ],
            },
            "'hurry' should be at most 4; 3 are enough.",
        ),
        # As many as the credits pay for, or the hands are for, and fewer still.
        (
            6,
            1,
            {"min_days": 1, "budget": 1880.0},
            "2 fewer leave credits for the samples; 1 is enough.",
        ),
        (
            6,
            1,
            {"min_days": 1, "budget": 1930.0},
            "1 fewer leaves credits for the samples; 1 is enough.",
        ),
        (4, 2, {"min_days": 2, "budget": 1780.0}, "2 fewer leave credits for the samples."),
        (
            4,
            2,
            {"min_days": 2, "budget": 1830.0},
            "1 fewer leaves credits for the samples; 2 are enough.",
        ),
        (
            8,
            2,
            {"min_days": 2, "days": 5, "budget": 1830.0},
            "The lab has 5 days; 2 fewer leave credits for the samples; 2 are enough.",
        ),
        # The credits are just enough for the fourth day, for which there is no hand.
        (
            5,
            2,
            {"min_days": 2, "budget": 1880.0, "staff": 1, "staff_model": ONE_HAND},
            "2 fewer leave hands for the samples; 2 are enough.",
        ),
    ],
)
def test_days_are_changed_for_the_reason_that_holds(
    before: int, after: int, lab: dict[str, object], reason: str
) -> None:
    pack = make_pack(**{"design": HALF, "constraints": [], **lab})
    plan = make_protocol(sample_size=128, duration_days=before)
    [change] = [each for each in least_loss(plan, pack).changes if each.field == "duration_days"]
    assert (change.revised, change.reason) == (str(after), reason)


RISES: Final = "Nothing of the evidence; the cost rises."
TARGET: Final = "It takes 128 samples to reach the study's target."
SHORT_OF_IT: Final = "Short of the study's target more samples show more"
LOST: Final[dict[str, object]] = {"min_days": 6, "days": 5}
FREE: Final = CostModel(per_sample=0.0)


@pytest.mark.parametrize(
    ("before", "after", "lab", "reason", "tradeoff"),
    [
        # more of them
        (10, 128, {}, TARGET, RISES),
        (10, 128, {"cost_model": FREE}, TARGET, "Nothing of the evidence."),
        # Above 100 samples it takes one more staff unit, which may be paid.
        (
            10,
            128,
            {"cost_model": FREE, "staff_model": StaffModel(sample_threshold=100)},
            TARGET,
            "Nothing of the evidence.",
        ),
        (
            10,
            128,
            {
                "cost_model": CostModel(per_sample=0.0, per_staff_day=1.0),
                "staff_model": StaffModel(sample_threshold=100),
            },
            TARGET,
            RISES,
        ),
        (
            10,
            128,
            {
                "cost_model": CostModel(per_sample=0.0, per_staff_day=1.0),
                "staff_model": StaffModel(sample_threshold=128),
            },
            TARGET,
            "Nothing of the evidence.",
        ),
        (
            0,
            3,
            LOST,
            "Fewer than 3 samples leave no experimental sample beside the controls.",
            RISES,
        ),
        (
            10,
            50,
            {**LOST, "constraints": [asks("samples", ">=", 50, hard=True)]},
            "The study's own constraints ask for 50 samples.",
            RISES,
        ),
        (
            10,
            50,
            {**LOST, "constraints": [asks("samples", ">=", 50)]},
            "'wish' should be at least 50.",
            RISES,
        ),
        # R's pwr: 85.03 a group have power 0.90, so 85 and 86 do.
        (
            128,
            171,
            {"constraints": [asks("evidence", ">=", 0.9)]},
            "'wish' should be at least 0.9; it takes 171 samples.",
            RISES,
        ),
        (
            128,
            171,
            {"constraints": [asks("evidence", ">=", 0.9, hard=True)]},
            "The study's own constraints ask for 171 samples.",
            RISES,
        ),
        # 85 and 86 have a power of 0.9016, 86 and 86 one of 0.9032.
        (
            128,
            172,
            {
                "constraints": [
                    asks("evidence", ">=", 0.9, name="most"),
                    asks("evidence", ">=", 0.902, name="more"),
                ]
            },
            "'more' should be at least 0.902; it takes 172 samples.",
            RISES,
        ),
        # All that exist cover 1, which is the number of days, too.
        (
            45,
            50,
            {
                "design": design_of(DesignKind.COVERAGE, population_max=50, target=0.9),
                "constraints": [asks("days", ">=", 1, name="long"), asks("evidence", ">=", 1)],
            },
            "'wish' should be at least 1; it takes 50 samples.",
            RISES,
        ),
        # 400 for items and controls, 250 for days, 10 each.
        (
            10,
            100,
            {"budget": 1650.0},
            f"{SHORT_OF_IT}; no more than 100 samples fit and count.",
            RISES,
        ),
        (
            10,
            90,
            {"budget": 1650.0, "constraints": [asks("samples", "<=", 90)]},
            f"{SHORT_OF_IT}; no more than 90 samples fit and count, unless more of the study's "
            "wishes are broken.",
            RISES,
        ),
        # No plan is paid for; what exists, or what the staff can do, is a limit all the same.
        (
            10,
            100,
            {"budget": 1.0, "design": HALF.model_copy(update={"population_max": 100})},
            f"{SHORT_OF_IT}; no more than 100 samples can count.",
            RISES,
        ),
        (
            10,
            100,
            {
                "budget": 1.0,
                "staff": 1,
                "staff_model": ONE_HAND.model_copy(
                    update={"sample_threshold": 100, "day_threshold": 99}
                ),
            },
            f"{SHORT_OF_IT}; no more than 100 samples fit and count, budget apart.",
            RISES,
        ),
        # fewer of them
        (
            200,
            128,
            {"budget": 2150.0},
            TARGET,
            "72 samples fewer: weaker evidence, which meets the target.",
        ),
        (
            200,
            100,
            {"budget": 1650.0},
            "No more than 100 samples fit and count.",
            "100 samples fewer: weaker evidence.",
        ),
        (
            200,
            100,
            {"budget": 1700.0, "design": HALF.model_copy(update={"population_max": 100})},
            "No more than 100 samples fit and count.",
            "100 samples fewer: the evidence is no weaker for it.",
        ),
        (
            50,
            3,
            {**LOST, "budget": 700.0},
            "The evidence is the same as with 50.",
            "47 samples fewer: the evidence is no weaker for it.",
        ),
        (
            200,
            150,
            {"budget": 2250.0, "constraints": [asks("samples", ">=", 150, hard=True)]},
            "The study's own constraints ask for 150 samples.",
            "50 samples fewer: weaker evidence, which meets the target.",
        ),
        # More must be planned than the 100 that can count in five days.
        (
            200,
            150,
            {
                "budget": 2250.0,
                "days": 5,
                "samples_per_day": make_throughput(),
                "constraints": [asks("samples", ">=", 150, hard=True)],
            },
            "The evidence is the same as with 100.",
            "50 samples fewer: the evidence is no weaker for it.",
        ),
        (
            200,
            150,
            {"budget": 2250.0, "constraints": [asks("samples", ">=", 150)]},
            "'wish' should be at least 150.",
            "50 samples fewer: weaker evidence, which meets the target.",
        ),
        (
            300,
            171,
            {"budget": 2650.0, "constraints": [asks("evidence", ">=", 0.9)]},
            "'wish' should be at least 0.9; it takes 171 samples.",
            "129 samples fewer: weaker evidence, which meets the target.",
        ),
        (
            200,
            90,
            {"budget": 1650.0, "constraints": [asks("samples", "<=", 90)]},
            "'wish' should be at most 90.",
            "110 samples fewer: weaker evidence.",
        ),
        (
            200,
            128,
            {"budget": 2150.0, "constraints": [asks("samples", "<=", 140)]},
            f"'wish' should be at most 140. {TARGET}",
            "72 samples fewer: weaker evidence, which meets the target.",
        ),
    ],
)
def test_samples_are_changed_for_the_reason_that_holds(
    before: int, after: int, lab: dict[str, object], reason: str, tradeoff: str
) -> None:
    pack = make_pack(**{"design": HALF, "constraints": [], "min_days": 5, **lab})
    plan = make_protocol(sample_size=before, duration_days=5)
    [change] = [each for each in least_loss(plan, pack).changes if each.field == "sample_size"]
    told = (change.revised, change.reason, change.tradeoff)
    assert told == (str(after), reason, tradeoff)


@pytest.mark.parametrize(
    ("constraints", "reason"),
    [
        # By scipy 124 have a power of 0.789, 125 one of 0.792, 126 one of 0.795.
        ([], "With it no more than 125 samples fit and count, short of the study's target."),
        (
            [asks("evidence", ">=", 0.79, hard=True)],
            "With it no more than 125 samples fit and count, short of the study's target.",
        ),
        ([asks("evidence", ">=", 0.793, hard=True)], "With it the plan fails on budget."),
    ],
)
def test_control_is_dropped_for_the_samples_that_it_costs(
    constraints: list[ScenarioConstraint], reason: str
) -> None:
    # 128 samples in 5 days cost 1,930 with both controls, and 25 less with one of them.
    pack = make_pack(design=HALF, constraints=constraints, budget=1905.0, min_days=5)
    plan = make_protocol(sample_size=128, duration_days=5)
    [change] = least_loss(plan, pack).changes
    assert (change.field, change.original) == ("controls", CONTROLS[1])
    assert change.reason == reason


def test_control_that_nothing_stands_against_is_dropped_for_what_it_costs() -> None:
    # Only a search that leaves plans out may drop it.
    plan = assess(make_protocol(controls=CONTROLS[:1]), make_pack())
    dropped = change_of("controls", CONTROLS[1], "none", "A reason.", "What is lost.")
    kept = change_of("controls", CONTROLS[0], "none", "A reason.", "What is lost.")
    found, same = with_reasons([dropped, kept], plan)
    assert found.reason == "With it the plan costs 25 credits more."
    assert same == kept


@pytest.mark.parametrize(
    ("further", "keeps"),
    [
        ([], "keeps 'wish', which should be at least 180."),
        ([asks("days", "<=", 9, name="haste")], "breaks so few of the study's wishes."),
    ],
)
def test_substitution_that_keeps_a_wish_says_so_and_no_other_change_does(
    further: list[ScenarioConstraint], keeps: str
) -> None:
    # 180 samples cost 2,450 with the window shelf and each control once, and 400 more with the
    # chamber, with which the money is for 140: more than the 128 of the target.
    pack = make_pack(
        design=HALF,
        constraints=[asks("samples", ">=", 180), *further],
        budget=2450.0,
        min_days=5,
        prices={EQUIPMENT[0]: 500.0},
    )
    kept = (
        "No revision that passes all seven dimensions, reaches the study's target and loses less "
        f"fidelity {keeps}"
    )
    # There is no money for a third control: what is listed twice is listed once, and beside one
    # of the plan's own the study's is dropped.
    for third, reason in (
        (CONTROLS[1], "The plan lists it more than once, and it is billed so."),
        ("grey light control", kept),
    ):
        plan = make_protocol(sample_size=128, duration_days=5, controls=[*CONTROLS, third])
        changes = least_loss(plan, pack).changes
        assert {each.field: each.reason for each in changes} == {
            "required_equipment": "'window shelf' costs 400 credits less here; allowed when the "
            f"chamber is booked. {kept}",
            "controls": reason,
            "sample_size": "'wish' should be at least 180.",
        }


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


@pytest.mark.parametrize(
    ("question", "whose"),
    [
        (EvidenceAssumptions(), "the study's target"),
        (EvidenceAssumptions(target=0.9), "the target"),
    ],
)
def test_target_of_ones_own_is_not_called_the_studys(
    question: EvidenceAssumptions, whose: str
) -> None:
    # Cohen (1988), table 2.4.1: at d = 0.5 and alpha 0.05, 64 a group have power 0.80.
    design = make_design(effect_planning=0.5, alpha=0.05, target=0.8, floor=0.5)
    for budget, told in (
        (1500.0, f"Short of {whose} more samples show more; "),  # pays for fewer than 128
        (5000.0, "It takes "),
    ):
        pack = make_pack(design=design, budget=budget).with_own(LabOverrides(), question)
        found = least_loss(make_protocol(sample_size=10), pack)
        [reason] = [each.reason for each in found.changes if each.field == "sample_size"]
        assert reason.startswith(told)
        assert whose in reason
