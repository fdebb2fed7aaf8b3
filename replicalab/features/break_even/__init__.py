"""How wrong a plan may be: its break-evens, and the most robust plan over three worlds."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from replicalab.answers import Registration
from replicalab.assessment import Assessment, assess
from replicalab.documents import Report
from replicalab.errors import ArgumentError, Fault
from replicalab.facts.blocks import Block, Part, Sentence, group, listing, part, table
from replicalab.facts.score_facts import robust_table, robust_text
from replicalab.features.break_even import sensitivity
from replicalab.features.break_even.sensitivity import Assumption, BreakEven, break_evens
from replicalab.lexicon import amount_text, capitalised
from replicalab.negotiation import is_worth_running
from replicalab.negotiation.score import Robust, robust_of
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import MOST, Pack
from replicalab.scenarios.reading import checked_call, known_names, shown

WORLDS: Final = ("hopeful", "likely", "grim")
_SWAPPED: Final = "The grim world is better than the hopeful one in '{}'."
_SHARE: Final = 0.1  # of a bar, by which the hopeful and the grim world differ from now
_BOUNDS: Final[Mapping[str, tuple[float, float]]] = {
    "dropout": (0, 0.99), "icc": (0, 1), "price of sample": (0, MOST),
    "budget": (1, MOST), "days": (1, MOST), "staff": (1, MOST),
}  # fmt: skip


class Range(NamedTuple):
    """An assumption that differs between the worlds, with its least and its largest value."""

    row: Assumption
    low: float
    high: float
    step: float  # its default change; an int if its values are

    def default(self, world: str) -> float:
        """Return the value in a world."""
        best, worst = self.row.ends
        way = (WORLDS.index(world) - 1) * (1 if worst > best else -1)
        value = min(max(self.row.now + way * self.step, self.low), self.high)
        return value if isinstance(self.step, int) else float(f"{value:.12g}")


def ranges_of(plan: Assessment) -> dict[str, Range]:
    """Return the assumptions that differ between the worlds, by key."""
    ranges = {}
    for row in sensitivity.assumptions_of(plan):
        if row.key in ("effect", *_BOUNDS):
            step = _SHARE * (row.scale if row.key in ("dropout", "icc") else abs(row.now))
            step = max(1, round(step)) if row.key in ("days", "staff") else step
            ends = (*_BOUNDS.get(row.key, row.ends), row.now)
            ranges[row.key] = Range(row, min(ends), max(ends), step)
    return ranges


@checked_call
def robust_plan(
    plan: Assessment,
    hopeful: Mapping[str, float] | None = None,
    grim: Mapping[str, float] | None = None,
) -> Robust:
    """Return the revision of a plan with the smallest largest regret over three worlds.

    ``hopeful`` and ``grim`` hold effect, dropout, icc, price of sample, budget, days or staff.

    >>> robust = robust_plan(assess(load("psy_stroop")), grim={"staff": 2, "budget": 800})
    >>> robust.plan.plan.sample_size, robust.plan.cost
    (31, 760.0)
    """
    changes = {"hopeful": hopeful or {}, "likely": {}, "grim": grim or {}}
    packs = {world: _pack_in(plan, world, changes[world]) for world in WORLDS}
    options = {world: PlanAnalysis(assess(plan.plan, pack)) for world, pack in packs.items()}
    return robust_of(options, "likely")


def _pack_in(plan: Assessment, world: str, values: Mapping[str, float]) -> Pack:
    ranges, pack = ranges_of(plan), plan.pack
    faults = [
        Fault(f"{world}.{key}", "no such assumption", known_names(str(key), [*ranges]))
        for key in values.keys() - ranges
    ]
    for key, one in ranges.items():
        value = values.get(key, one.default(world))
        is_whole = isinstance(one.step, int)
        if isinstance(value, int if is_whole else int | float) and one.low <= value <= one.high:
            pack = one.row.change(pack, value)
        else:
            low, high = amount_text(one.low), amount_text(one.high)
            remedy = f"give a {'whole ' * is_whole}number of {low} to {high}"
            faults.append(Fault(f"{world}.{key}", f"{shown(value)} is not allowed", remedy))
    if faults:
        raise ArgumentError("robust_plan", faults)
    return pack


def answered(plan: Assessment, answers: Registration) -> tuple[Robust, str]:
    """Return the robust plan for the author's numbers, or for the defaults with the reason."""
    try:
        return robust_plan(plan, **answers.worlds), ""
    except ArgumentError as error:
        return robust_plan(plan), f"{error}. The worlds have their default values."


def values_in(robust: Robust) -> dict[str, dict[str, Assumption]]:
    """Return the assumptions by world and key, each with its value there."""
    return {
        name: {key: one.row for key, one in ranges_of(options.yours).items()}
        for name, options in robust.options.items()
    }


def blocks_of(
    plan: Assessment, rows: Sequence[BreakEven], robust: Robust, most: int | None = None
) -> tuple[Block, ...]:
    """Return two sentences, the break-evens, both plans in each world, and the worlds' values."""
    lines = [*zip(*(world.values() for world in values_in(robust).values()), strict=True)]
    values = [(row[0].label, *(one.text(one.now) for one in row)) for row in lines]
    gaps = {low.label: (low.now - high.now) * (low.ends[1] - low.ends[0]) for high, _, low in lines}
    odd = listing(_SWAPPED.format(label) for label, gap in gaps.items() if gap < 0)
    three = table("Three worlds", ("Assumption", *map(capitalised, WORLDS)), values, kind="worlds")
    least, text = robust.least, sensitivity.sentence(plan, rows)
    if plan.failing and is_worth_running(least):
        text += f" {sensitivity.sentence(least, break_evens(least), 'The least-loss plan')}"
    bars, both = sensitivity.bars(plan, rows, most), robust_table(robust)
    return group(Sentence(text), Sentence(robust_text(robust)), *bars, both, odd, three).blocks


def section(report: Report) -> list[Part]:
    """Return the break-evens and the robust plan for the report; for the brief the sentences."""
    plan = report.shown.yours
    robust, problem = answered(plan, report.answers)
    blocks = blocks_of(plan, break_evens(plan), robust)
    parts = blocks[:2] if report.kind == "brief" else blocks
    return [part(sensitivity.TITLE, Sentence(problem), *parts)]
