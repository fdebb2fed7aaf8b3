"""The break-even of each assumption: how far it may move before the verdict on a plan changes.

The verdict is the list of failing dimensions and the evidence tier. If a plan passes, each
assumption gets worse until the verdict changes; if it does not pass, each gets better. Whole
numbers are tried one by one, dropout by the samples that it leaves, and other numbers by
bisection: neither costs nor evidence turn back as one of them grows.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

from replicalab.assessment import Assessment, assess, counted_of, failing_text
from replicalab.assessment.phrases import are_many, dimensions_text
from replicalab.designs import analysed_of
from replicalab.documents import Report
from replicalab.facts.blocks import Bar, Block, Cell, Column, Part, Sentence, Status, part, table
from replicalab.facts.plan import effect_text
from replicalab.lexicon import capitalised, count_text, joined, label_key, percent_text
from replicalab.scenarios import Item, ItemStatus, Lab

TITLE: Final = "How wrong may we be"
_BISECTIONS: Final = 45
_NAMED: Final = 3  # assumptions in the sentence
_NO_ROOM: Final = 0.0005  # of an assumption's scale
_SMALL: Final = 1e-9  # the size of an effect that is as good as none
_LARGE: Final = 100.0  # times the planned size: the largest effect tried

_LESS_OR_MORE: Final = ("less", "more")

Verdict = tuple[tuple[str, ...], str]
"""The failing dimensions, and the tier of the evidence or ``no evidence``."""


class Assumption(NamedTuple):
    """A number that a plan rests on.

    Attributes:
        now: its value in the study or the lab.
        ends: its most favourable and its least favourable value.
        at: the plan with another value.
        text: a value with its unit.
        phrase: the words for a change to a value: ``2 fewer days``.
        least: the words for the smallest change to the worse.
        scale: the change that fills the bar; 0 for the present value.
        values: the values to try up to an end, in order; None for all.
    """

    key: str
    label: str
    now: float
    ends: tuple[float, float]
    at: Callable[[float], Assessment]
    text: Callable[[float], str]
    phrase: Callable[[float], str]
    least: str
    scale: float = 0.0
    values: Callable[[float], Iterable[float]] | None = None


class BreakEven(NamedTuple):
    """The break-even of an assumption, and the first change of the verdict.

    ``to`` is the last value at which a plan still passes, or the first at which the verdict on a
    failing plan changes; None if no value changes it. ``shown`` is the same in few digits.
    """

    assumption: Assumption
    to: float | None
    shown: float = 0.0
    change: str = ""
    status: Status | None = None

    @property
    def distance(self) -> float:
        """The change from the present value as a share of the scale; infinite without a change."""
        if self.to is None:
            return math.inf
        scale = self.assumption.scale or abs(self.assumption.now) or 1.0
        return abs(self.to - self.assumption.now) / scale


def passes(plan: Assessment) -> bool:
    """Return whether a plan passes all dimensions and has evidence."""
    return plan.feasible and not plan.evidence.void_reason


def verdict_of(plan: Assessment) -> Verdict:
    """Return the verdict on a plan."""
    evidence = plan.evidence
    return tuple(plan.failing), "no evidence" if evidence.void_reason else str(evidence.tier)


def break_evens(plan: Assessment) -> list[BreakEven]:
    """Return the break-even of each assumption, the nearest first.

    >>> rows = break_evens(assess(load("psy_stroop", lab="easy")))
    >>> [(row.assumption.key, row.shown) for row in rows[:3]]
    [('staff', 2), ('budget', 1600.0), ('price of sample', 11.0)]
    """
    rows = [_break_even(plan, assumption) for assumption in assumptions_of(plan)]
    return sorted(rows, key=lambda row: row.distance)


def _break_even(plan: Assessment, assumption: Assumption) -> BreakEven:
    now, is_passing = verdict_of(plan), passes(plan)

    def same(value: float) -> bool:
        return verdict_of(assumption.at(value)) == now

    end = assumption.ends[is_passing]
    tried = assumption.values(end) if assumption.values else None
    last, after = (
        _bisected(assumption.now, end, same)
        if tried is None
        else _last_same(tried, assumption.now, same)
    )
    if after is None:
        return BreakEven(assumption, None)
    to = last if is_passing else after
    low, high = sorted((assumption.now, end))
    shown = (
        to
        if tried is not None
        else _short(to, lambda v: low <= v <= high and same(v) is is_passing)
    )
    changed = assumption.at(after)
    status = Status.CAUTION if passes(changed) else Status.FAIL
    if not is_passing:
        status = Status.PASS if passes(changed) else Status.CAUTION
    return BreakEven(assumption, to, shown, _change_text(plan, changed), status)


def _last_same(
    values: Iterable[float], now: float, same: Callable[[float], bool]
) -> tuple[float, float | None]:
    last = now
    for value in values:
        if not same(value):
            return last, value
        last = value
    return last, None


def _bisected(
    start: float, end: float, same: Callable[[float], bool]
) -> tuple[float, float | None]:
    if start == end or same(end):
        return end, None
    low, high = start, end
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if same(middle) else (low, middle)
    return low, high


def _short(value: float, serves: Callable[[float], bool]) -> float:
    # A number with few digits near the break-even, on the same side of it.
    digits = max(2, 2 - math.floor(math.log10(abs(value) or 1)))
    near = (round(round(value, digits) + side * 10**-digits, digits) for side in (0, -1, 1))
    return next((number for number in near if serves(number)), value)


def _change_text(plan: Assessment, changed: Assessment) -> str:
    if fails := [name for name in changed.causes if name not in plan.failing]:
        return failing_text(changed, fails)
    if solved := [name for name in plan.causes if name not in changed.failing]:
        return f"{dimensions_text(plan.pack, solved)} {'pass' if are_many(solved) else 'passes'}"
    return f"{plan.evidence.measure} {verdict_of(changed)[1]}"


def assumptions_of(plan: Assessment) -> list[Assumption]:
    """Return the assumptions of a plan: the design's, then prices, means and bookings."""
    return [*_of_design(plan), *_of_prices(plan), *_of_means(plan), *_of_bookings(plan)]


def _with_design(plan: Assessment, **changes: object) -> Assessment:
    study, design = plan.pack.study, plan.pack.design.model_copy(update=changes)
    changed = study.model_copy(update={"design": design})
    return assess(plan.plan, plan.pack.model_copy(update={"study": changed}))


def _of_design(plan: Assessment) -> Iterator[Assumption]:
    design, able = plan.pack.design, plan.evidence.able
    effect, planned = design.row.effect, design.effect_planning
    if effect is not None and planned is not None:
        size = effect.size(planned)
        most = min(effect.largest_size, _LARGE * (size or 1))
        if effect.within_margin and design.margin:
            most = math.nextafter(design.margin, 0)
        ends = [effect.of_size(end, planned) for end in (most, min(_SMALL, size))]
        words = ("smaller", "larger")
        if design.lower_is_better or effect.within_margin:
            ends, words = ends[::-1], words[::-1]
        yield Assumption(
            "effect",
            f"Effect, {effect.name}",
            planned,
            (ends[0], ends[1]),
            lambda value: _with_design(plan, effect_planning=value),
            effect_text,
            lambda value: f"an effect of {effect_text(value)}",
            f"a {words[0]} effect",
            scale=size,
        )

    def dropouts(end: float) -> Iterator[float]:
        # The sample changes only when one more of those planned drops out.
        counted, step = counted_of(design, able), -1 if end > design.dropout else 1
        for left in range(counted + step, able + 1 if step > 0 else -1, step):
            value = min(1 - left / able, math.nextafter(1.0, 0))
            yield value if analysed_of(able, value) == left else value - _SMALL

    def share(value: float) -> str:
        return percent_text(math.floor(value * 1000 + _SMALL) / 1000)

    yield Assumption(
        "dropout",
        "Dropout",
        design.dropout,
        (0.0, 1.0),
        lambda value: _with_design(plan, dropout=value),
        share,
        lambda value: f"{share(value)} dropout",
        "any more dropout",
        scale=1.0,
        values=dropouts,
    )
    if (units := design.units) and units.icc is not None:
        yield Assumption(
            "icc",
            "Intraclass correlation",
            units.icc,
            (0.0, 1.0),
            lambda value: _with_design(plan, units=units.model_copy(update={"icc": value})),
            "{:.3g}".format,
            "an intraclass correlation of {:.3g}".format,
            "a higher intraclass correlation",
            scale=1.0,
        )


def _in_lab(plan: Assessment, **changes: object) -> Assessment:
    # Not validated: a lab without any staff cannot be written, but ends a search.
    lab = Lab.model_construct(**{**dict(plan.pack.lab), **changes})
    return plan.in_lab(plan.pack.in_lab(lab))


def _of_prices(plan: Assessment) -> Iterator[Assumption]:
    pack, lab, noun = plan.pack, plan.pack.lab, plan.pack.design.sample_noun

    def at_rate(value: float) -> Mapping[str, object]:
        return {"cost_model": lab.cost_model.model_copy(update={"per_sample": value})}

    def at_price(item: Item, value: float) -> Mapping[str, object]:
        others = {name: one for name, one in lab.prices.items() if label_key(name) != item.key}
        return {"prices": {**others, item.label: value}}

    def row(
        key: str, of: str, now: float, changes: Callable[[float], Mapping[str, Any]]
    ) -> Assumption:
        def phrase(value: float) -> str:
            if not now:
                return f"{lab.money(value)} for {of}"
            return f"{_percent(plan, now, value, _LESS_OR_MORE)} for {of}"

        ends, scale = (0.0, now + lab.budget + 1), now or lab.budget
        return Assumption(
            f"price of {key}",
            f"Price of {of}",
            now,
            ends,
            lambda value: _in_lab(plan, **changes(value)),
            lab.money,
            phrase,
            "any higher price",
            scale,
        )

    yield row("sample", f"a {noun}", pack.cost_model.per_sample, at_rate)
    known = (item for item in plan.items if item.status is not ItemStatus.UNKNOWN)
    for item in dict.fromkeys(known):
        now = pack.price(item.label, item.category)
        yield row(item.key, item.label, now, partial(at_price, item))


def _percent(plan: Assessment, now: float, value: float, words: tuple[str, str]) -> str:
    # A plan holds with a little less than the break-even; one that fails needs a little more.
    thousandths = abs(value - now) / now * 1000
    whole = math.floor(thousandths + _SMALL) if passes(plan) else math.ceil(thousandths - _SMALL)
    return f"{percent_text(whole / 1000)} {words[value > now]}"


def _whole(now: int, end: float) -> Iterable[float]:
    step = 1 if end > now else -1
    return range(now + step, int(end) + step, step)


def _of_means(plan: Assessment) -> Iterator[Assumption]:
    lab, need = plan.pack.lab, plan.counts.days

    def fewer_or_more(noun: str, now: float, value: float) -> str:
        return count_text(abs(value - now), noun, "fewer" if value < now else "more")

    yield Assumption(
        "budget",
        "Budget",
        lab.budget,
        (max(plan.cost, lab.budget) + 1, 0.0),
        lambda value: _in_lab(plan, budget=value),
        lab.money,
        lambda value: f"{_percent(plan, lab.budget, value, _LESS_OR_MORE)} money",
        "any smaller budget",
    )
    rows = (
        ("days", "Days", "day", lab.days, lab.start_day + need - 1, lab.start_day - 1),
        ("staff", "Staff units", "staff unit", lab.staff, plan.staff, 0),
    )
    for key, label, noun, now, enough, least in rows:
        yield Assumption(
            key,
            label,
            now,
            (max(now, enough), least),
            lambda value, key=key: _in_lab(plan, **{key: value}),  # type: ignore[misc]
            partial(count_text, noun=noun),
            partial(fewer_or_more, noun, now),
            f"the loss of one {noun}",
            values=partial(_whole, now),
        )
    yield Assumption(
        "delay",
        "Delay of the start",
        0,
        (0, lab.days_left),
        lambda value: _in_lab(plan, start_day=lab.start_day + value),
        partial(count_text, noun="day"),
        lambda value: f"a delay of {count_text(value, 'day')}",
        "a delay of one day",
        lab.days,
        partial(_whole, 0),
    )


def _of_bookings(plan: Assessment) -> Iterator[Assumption]:
    lab, used = plan.pack.lab, {item.key: item.label for item in plan.items}
    for item, until in lab.booked.items():
        if label := used.get(label_key(item)):
            yield Assumption(
                f"booking of {label_key(item)}",
                f"Booking of {label}",
                until,
                (lab.start_day - 1, max(until, lab.start_day)),
                lambda value, item=item: _in_lab(plan, booked={**lab.booked, item: value}),  # type: ignore[misc]
                "to day {:,.0f}".format,
                f"{label} booked to day {{:,.0f}}".format,
                f"a longer booking of {label}",
                lab.days,
                partial(_whole, until),
            )


def sentence(plan: Assessment, rows: Sequence[BreakEven]) -> str:
    """Return the nearest break-evens in words, for a reader without the table."""
    near = [row for row in rows if row.to is not None]
    named = [(row, row.assumption.phrase(row.shown)) for row in near if row.distance >= _NO_ROOM]
    if not near:
        return "No change of a single one of these numbers changes the verdict."
    if not passes(plan):
        ways = [f"{row.change} with {phrase}" for row, phrase in named[:_NAMED]]
        return f"The plan does not pass. The nearest changes: {'; '.join(ways)}."
    kept = [phrase for _, phrase in named[:_NAMED]]
    lost = dict.fromkeys(row.assumption.least for row in near if row.distance < _NO_ROOM)
    texts = [f"The plan still holds with {joined(kept, 'or')}." if kept else ""]
    texts += [f"It does not survive {joined([*lost], 'or')}." if lost else ""]
    return " ".join(filter(None, texts))


def break_even_blocks(
    plan: Assessment, rows: Sequence[BreakEven], most: int | None = None
) -> list[Block]:
    """Return the sentence, and a bar for each assumption or for the nearest ones."""
    columns = (
        Column("Assumption"),
        Column("Now", "fixed"),
        Column(
            "Holds to" if passes(plan) else "Changes at",
            "fixed",
            bar="after",
            picture="Distance from now",
        ),
        Column("Beyond it" if passes(plan) else "Then"),
    )
    cells = [
        (
            Cell(row.assumption.label),
            Cell(row.assumption.text(row.assumption.now), row.assumption.now),
            Cell(
                "any value" if row.to is None else row.assumption.text(row.shown),
                row.to,
                bar=Bar(min(row.distance, 1.0)),
                shade=row.status,
            ),
            Cell(capitalised(row.change) or "The verdict stays", status=row.status),
        )
        for row in rows[:most]
    ]
    return [Sentence(sentence(plan, rows)), table(TITLE, columns, cells, kind="break_evens")]


def section(report: Report) -> list[Part]:
    """Return the break-evens as a part of the report; the brief has the sentence alone."""
    plan = report.shown.yours
    blocks = break_even_blocks(plan, break_evens(plan))
    return [part(TITLE, *(blocks[:1] if report.kind == "brief" else blocks))]
