"""How wrong a plan may be: its break-evens, and the most robust plan over three worlds.

The break-even of an assumption is how far it may move before the verdict on a plan changes.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import Any, Final, NamedTuple

from replicalab.answers import Registration
from replicalab.assessment import Assessment, assess, counted_of
from replicalab.designs import analysed_of
from replicalab.documents import Report
from replicalab.errors import ArgumentError, Fault
from replicalab.facts import blocks
from replicalab.facts.blocks import Block, Cell, Column, Part, Sentence, Status, table
from replicalab.facts.change_facts import run_text
from replicalab.facts.plan_facts import effect_text
from replicalab.facts.score_facts import robust_table, robust_text
from replicalab.facts.verdicts import change_text, marked, verdict_of
from replicalab.lexicon import amount_text, capitalised, count_text, joined, label_key, percent_text
from replicalab.negotiation import is_worth_running
from replicalab.negotiation.score import RobustPlan, robust_of
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import AMOUNTS, MOST, Item, ItemStatus, Lab, Pack
from replicalab.scenarios.reading import checked_call, known_names, shown

TITLE: Final = "How wrong may we be"
_BISECTIONS: Final = 45  # costs and evidence are monotone in every number
_NO_ROOM: Final = 0.001 - 1e-12  # of an assumption's scale; a smaller one shows as 0 %
_SMALL: Final = 1e-9  # the size of an effect that is as good as none
_HOLDS: Final = "{} still holds with {}."
_FITS: Final = "{} still fits the lab with {}."
_LOST: Final = "{} does not survive {}."
_SHOWS: Final = "{} has no usable evidence. It has some with {}."
_SAME: Final = "The verdict is the same at any worse value of: {}."
Change = Callable[[Pack, float], Pack]


class Assumption(NamedTuple):
    """A number that a plan rests on; ``phrase`` is a change in words, ``least`` the smallest."""

    key: str
    label: str
    now: float
    ends: tuple[float, float]  # its most favourable and its least favourable value
    scale: float  # the change that fills the bar
    change: Change  # the study in its lab with another value
    text: Callable[[float], str]
    phrase: Callable[[float], str]
    least: str
    values: Callable[[float], Iterable[float]] | None = None  # to try up to an end; None for all

    def at(self, plan: Assessment, value: float) -> Assessment:
        """Return the plan with another value."""
        pack = self.change(plan.pack, value)
        return plan.in_lab(pack) if pack.study is plan.pack.study else assess(plan.plan, pack)


class BreakEven(NamedTuple):
    """The break-even of an assumption, and the first change of the verdict."""

    assumption: Assumption
    to: float | None  # the last value that still passes, or the first that changes a failure
    shown: float = 0.0  # the same in few digits
    change: str = ""
    status: Status | None = None

    @property
    def distance(self) -> float:
        """The change as a share of the scale: 0 if too small to show, infinite without one."""
        one = self.assumption
        far = math.inf if self.to is None else abs(self.to - one.now) / one.scale
        return 0.0 if far < math.inf and one.text(self.shown) == one.text(one.now) else far


@checked_call
def break_evens(plan: Assessment) -> list[BreakEven]:
    """Return the break-even of each assumption, the nearest first.

    >>> rows = break_evens(assess(load("psy_stroop", lab="easy")))
    >>> [(row.assumption.key, row.shown) for row in rows[:3]]
    [('staff', 2), ('budget', 1600.0), ('price of sample', 11.0)]
    """
    rows = [_break_even(plan, assumption) for assumption in assumptions_of(plan)]
    return sorted(rows, key=lambda row: row.distance)


def _break_even(plan: Assessment, assumption: Assumption) -> BreakEven:
    verdict, is_passing = verdict_of(plan), plan.passes

    def same(value: float) -> bool:
        return verdict_of(assumption.at(plan, value)) == verdict

    now, end = assumption.now, assumption.ends[is_passing]
    last, after = now, None
    if assumption.values:
        pairs: Iterator[Any] = pairwise(chain([now], assumption.values(end)))
        last, after = next((pair for pair in pairs if not same(pair[1])), (end, None))
    elif now != end and not same(end):
        after = end
        for _ in range(_BISECTIONS):
            middle = (last + after) / 2
            last, after = (middle, after) if same(middle) else (last, middle)
    if after is None:
        return BreakEven(assumption, None)
    shown = to = last if is_passing else after
    if not assumption.values:
        # A number with few digits near the break-even, on the same side of it.
        digits, (low, high) = max(2, 2 - math.floor(math.log10(abs(to) or 1))), sorted((now, end))
        near = (round(round(to, digits) + side * 10**-digits, digits) for side in (0, -1, 1))
        shown = next((one for one in near if low <= one <= high and same(one) is is_passing), to)
    changed = assumption.at(plan, after)
    status = marked(changed, changed.evidence, "")[0] if is_passing else Status.CAUTION
    status = Status.PASS if changed.passes > is_passing else status
    return BreakEven(assumption, to, shown, change_text(plan, changed), status)


def assumptions_of(plan: Assessment) -> list[Assumption]:
    """Return the assumptions of a plan: the design's, then means, bookings and prices."""
    return [*_of_design(plan), *_of_means(plan), *_of_prices(plan)]


def _with_design(pack: Pack, **changes: object) -> Pack:
    design = pack.design.model_copy(update=changes)
    return pack.model_copy(update={"study": pack.study.model_copy(update={"design": design})})


def _in_lab(name: str, pack: Pack, value: object, of: str = "") -> Pack:
    value = {**getattr(pack.lab, name), of: value} if of else value
    # Not validated: a lab without any staff cannot be written, but ends a search.
    return pack.in_lab(Lab.model_construct(**{**dict(pack.lab), name: value}))


def _of_design(plan: Assessment) -> Iterator[Assumption]:
    design, usable = plan.pack.design, plan.evidence.usable
    effect, planned = design.row.effect, design.effect_planning
    if effect is not None and planned is not None:
        size, least = effect.size(planned), "a smaller effect"
        most = min(effect.largest_size, 100 * (size or 1))  # times the planned size
        if effect.within_margin and design.margin:
            most = math.nextafter(design.margin, 0)
        best, worst = (effect.of_size(end, planned) for end in (most, min(_SMALL, size)))
        if design.lower_is_better or effect.within_margin:
            best, worst, least = worst, best, "a larger effect"
        yield Assumption(
            "effect", f"Effect, {effect.name}", planned, (best, worst), size or 1.0,
            lambda pack, value: _with_design(pack, effect_planning=value),
            effect_text, lambda value: f"an effect of {effect_text(value)}", least,
        )  # fmt: skip

    def dropouts(end: float) -> Iterator[float]:
        # The sample changes only when one more of those planned drops out.
        counted, step = counted_of(design, usable), -1 if end > design.dropout else 1
        for analysed in range(counted + step, usable + 1 if step > 0 else -1, step):
            value = min(1 - analysed / usable, math.nextafter(1.0, 0))
            yield value if analysed_of(usable, value) == analysed else value - _SMALL

    yield Assumption(
        "dropout", "Dropout", design.dropout, (0.0, 1.0), 1.0,
        lambda pack, value: _with_design(pack, dropout=value),
        _floored, lambda value: f"{_floored(value)} dropout", "any more dropout", dropouts,
    )  # fmt: skip
    if (units := design.units) and units.icc is not None:
        yield Assumption(
            "icc", "Intraclass correlation", units.icc, (0.0, 1.0), 1.0,
            lambda pack, value: _with_design(pack, units=units.model_copy(update={"icc": value})),
            "{:.3g}".format, lambda value: f"an intraclass correlation of {value:.3g}",
            "a higher intraclass correlation",
        )  # fmt: skip


def _of_prices(plan: Assessment) -> Iterator[Assumption]:
    pack, lab = plan.pack, plan.pack.lab

    def row(key: str, of: str, now: float, change: Change) -> Assumption:
        return Assumption(
            f"price of {key}", f"Price of {of}", now, (0.0, now + lab.budget + 1),
            now or lab.budget, change, lab.money,
            lambda value: f"{_percent(now, value) if now else lab.money(value)} for {of}",
            "any higher price",
        )  # fmt: skip

    def at_rate(pack: Pack, value: float) -> Pack:
        return _in_lab("cost_model", pack, lab.cost_model.model_copy(update={"per_sample": value}))

    def at_price(item: Item, pack: Pack, value: float) -> Pack:
        prices = {name: one for name, one in lab.prices.items() if label_key(name) != item.key}
        return _in_lab("prices", pack, {**prices, item.label: value})

    yield row("sample", f"a {pack.design.sample_noun}", pack.cost_model.per_sample, at_rate)
    for item in dict.fromkeys(plan.items):
        if item.status is not ItemStatus.UNKNOWN:
            change, now = partial(at_price, item), pack.price(item.label, item.category)
            yield row(item.key, item.label, now, change)


def _floored(share: float) -> str:
    return percent_text(math.floor(share * 1000 + _SMALL) / 1000)


def _percent(now: float, value: float) -> str:
    return f"{_floored(abs(value - now) / now)} {'more' if value > now else 'less'}"


def _whole(now: int, end: float) -> Iterable[float]:
    step = 1 if end > now else -1
    return range(now + step, int(end) + step, step)


def _of_means(plan: Assessment) -> Iterator[Assumption]:
    lab, labels = plan.pack.lab, {item.key: item.label for item in plan.items}
    first, last = lab.start_day - 1, lab.start_day + plan.counts.days - 1
    yield Assumption(
        "budget", "Budget", lab.budget, (max(plan.cost, lab.budget) + 1, 0.0), lab.budget,
        partial(_in_lab, "budget"), lab.money,
        lambda value: f"{_percent(lab.budget, value)} money", "any smaller budget",
    )  # fmt: skip
    for row, now, ends in (
        (AMOUNTS["days"], lab.days, (max(lab.days, last), first)),
        (AMOUNTS["staff"], lab.staff, (max(lab.staff, plan.staff), 0)),
    ):
        yield Assumption(
            row.key, row.label, now, ends, now, partial(_in_lab, row.key),
            partial(row.text, currency=lab.currency),
            partial(lambda row, now, value: f"{row.text(now - value, '')} less", row, now),
            f"the loss of one {row.noun}", partial(_whole, now),
        )  # fmt: skip
    yield Assumption(
        "delay", "Delay of the start", 0, (0, lab.days_left), lab.days,
        lambda pack, value: _in_lab("start_day", pack, lab.start_day + value),
        partial(count_text, noun="day"), lambda value: f"a delay of {count_text(value, 'day')}",
        "a delay of one day", partial(_whole, 0),
    )  # fmt: skip
    for item, until in lab.booked.items():
        if of := labels.get(label_key(item)):
            ends = first, max(until, lab.start_day)
            yield Assumption(
                f"booking of {label_key(item)}", f"Booking of {of}, until", until, ends, lab.days,
                partial(_in_lab, "booked", of=item),
                lambda day: f"day {day:,.0f}" if day >= 1 else "not booked",
                partial("{} booked until day {:,.0f}".format, of),
                f"a longer booking of {of}", partial(_whole, until),
            )  # fmt: skip


def sentence(plan: Assessment, rows: Sequence[BreakEven], name: str = "The plan") -> str:
    """Return the nearest break-evens in words, or all additions with which the plan fits."""
    if plan.failing:
        return f"The plan does not pass. {run_text(plan)}"
    near = [row for row in rows if _NO_ROOM <= row.distance < math.inf]
    lost = dict.fromkeys(row.assumption.least for row in rows if row.distance < _NO_ROOM)
    holds = _HOLDS if is_worth_running(plan) else _FITS if plan.passes else _SHOWS
    near.sort(key=lambda row: row.assumption.key != "effect")  # the effect is named always
    kept = [row.assumption.phrase(row.shown) for row in near[:3]]
    texts = ((holds, name, kept), (_LOST, "It" if kept else name, [*lost]))
    return " ".join(text.format(who, joined(parts, "or")) for text, who, parts in texts if parts)


def bars(plan: Assessment, rows: Sequence[BreakEven], most: int | None) -> tuple[Block, ...]:
    """Return a bar for each of the nearest break-evens, and the rows without one."""
    passing, failing = ("Holds to", "Beyond it", "Margin"), ("Changes at", "Then", "Change needed")
    end, beyond, picture = passing if plan.passes else failing
    to, cells = Column(end, "fixed", "after", picture, shows_picture=True), []
    for (one, end_at, value, change, status), share in ((row, row.distance) for row in rows[:most]):
        if end_at is not None:
            up = 0.001 - 2 * _SMALL if plan.failing else 0  # a needed change is rounded up
            bar = blocks.Bar(
                min(share, 1.0), text="none" if share < _NO_ROOM else _floored(share + up)
            )
            limit = Cell(one.text(value), end_at, bar=bar, shade=status)
            then = Cell(capitalised(change), status=status)
            cells.append((one.label, Cell(one.text(one.now), one.now), limit, then))
    columns = ("Assumption", Column("Now", "fixed"), to, beyond)
    drawn = table(TITLE, columns, cells, kind="break_evens")
    same = "; ".join(row.assumption.label for row in rows[:most] if row.to is None)
    text = _SAME.format(same) if same and not plan.failing else ""
    return drawn, Sentence(text, quiet=True)


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
    for row in assumptions_of(plan):
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
) -> RobustPlan:
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


def answered(plan: Assessment, answers: Registration) -> tuple[RobustPlan, str]:
    """Return the robust plan for the author's numbers, or for the defaults with the reason."""
    try:
        return robust_plan(plan, **answers.worlds), ""
    except ArgumentError as error:
        return robust_plan(plan), f"{error}. The worlds have their default values."


def values_in(robust: RobustPlan) -> dict[str, dict[str, Assumption]]:
    """Return the assumptions by world and key, each with its value there."""
    return {
        name: {key: one.row for key, one in ranges_of(options.yours).items()}
        for name, options in robust.options.items()
    }


def blocks_of(
    plan: Assessment, rows: Sequence[BreakEven], robust: RobustPlan, most: int | None = None
) -> tuple[Block, ...]:
    """Return two sentences, the break-evens, both plans in each world, and the worlds' values."""
    lines = [*zip(*(world.values() for world in values_in(robust).values()), strict=True)]
    values = [(row[0].label, *(one.text(one.now) for one in row)) for row in lines]
    gaps = {low.label: (low.now - high.now) * (low.ends[1] - low.ends[0]) for high, _, low in lines}
    odd = blocks.listing(_SWAPPED.format(label) for label, gap in gaps.items() if gap < 0)
    three = table("Three worlds", ("Assumption", *map(capitalised, WORLDS)), values, kind="worlds")
    least, text = robust.least, sentence(plan, rows)
    if plan.failing and is_worth_running(least):
        text += f" {sentence(least, break_evens(least), 'The least-loss plan')}"
    shown = *bars(plan, rows, most), robust_table(robust), odd, three
    return blocks.group(Sentence(text), Sentence(robust_text(robust)), *shown).blocks


def section(report: Report) -> list[Part]:
    """Return the break-evens and the robust plan for the report; for the brief the sentences."""
    plan = report.shown.yours
    robust, problem = answered(plan, report.answers)
    parts = blocks_of(plan, break_evens(plan), robust)
    parts = parts[:2] if report.kind == "brief" else parts
    return [blocks.part(TITLE, Sentence(problem), *parts)]
