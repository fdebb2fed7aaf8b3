"""Every smallest combination of means that reaches a goal: what it takes, and what it buys."""

from typing import Final

from replicalab.assessment import phrases
from replicalab.lexicon import amount_text, capitalised, joined, plural, quoted
from replicalab.planner import Combination, Combinations, Goal, MeansPrices, PlanAnalysis
from replicalab.views.blocks import Cell, Column, Group, Sentence, group, table
from replicalab.views.frontier import given_up_text
from replicalab.views.options import bound_text
from replicalab.views.plan import moved_text
from replicalab.views.verdicts import FIDELITY_MEANS, evidence_status

MOST_SHOWN: Final = 12
"""So many combinations are shown; of more it is said how many there are."""

GOALS: Final = {
    Goal.TARGET: "The target",
    Goal.FLOOR: "The floor",
    Goal.PLAN: "The plan as it is",
}
"""What the goals are called where one is chosen."""
PRICES: Final = {"day": "a day", "staff": "a staff unit", "item": "an item released or restocked"}
"""What has a price where somebody names one, by the names of `MeansPrices`."""


def means_text(one: Combination) -> str:
    """Return what a combination takes: ``Start on day 10 and 1,575 more credits``."""
    waits = [f"start on day {one.start_day:,}"] if one.waits else []
    return capitalised(joined([*waits, *(ask.text for ask in one.asks)])) or "Nothing"


def goal_text(options: PlanAnalysis, goal: Goal) -> str:
    """Return a goal with its number, as it stands after *reach*: ``the target of power 0.80``."""
    if goal is Goal.PLAN:
        return f"the plan as it is, {phrases.size_text(options.yours)}"
    return bound_text(options.yours.evidence, goal.value)


def combinations_text(options: PlanAnalysis, goal: Goal) -> str:
    """Return whether a goal is reached, can be reached, or not, and what is proven of that."""
    found, reached = options.combinations(goal), goal_text(options, goal)
    verb = "runs" if goal is Goal.PLAN else "reaches"
    if found.reached:
        return f"Nothing is needed: the lab {verb} {reached} with what it has."
    if found.found:
        ways = len(found.found)
        each, of = (f"Each of {ways:,} ways", "each") if ways > 1 else ("One way", "it")
        least = f"of {of} nothing can be left out, and of no amount would less do"
        return f"{each} {verb} {reached}; {least}. {_proof(found)}".strip()
    if not found.exact:
        return f"No way was found that {verb} {reached}. {_proof(found)}"
    return f"Nothing that the lab could add {verb} {reached}{_why_not(options, goal)}."


def _why_not(options: PlanAnalysis, goal: Goal) -> str:
    """Return why no means reach a goal, behind a colon; empty where it is not known."""
    run, yours = options.asks.run, options.yours
    if goal is Goal.PLAN:
        return f": {phrases.failing_text(run.left)} all the same" if run.left else ""
    most = yours.pack.design.population_max
    if options.asks.target is None and most:
        return f": the study has {most:,} {plural('sample', most)} at most"
    return ""


def _proof(found: Combinations) -> str:
    """Return that other ways may take less; empty where all were searched."""
    if found.exact:
        return ""
    return "Not every set of items and wordings could be searched, so other ways may take less."


def order_text(prices: MeansPrices) -> str:
    """Return what combinations are ranked by."""
    given = {what: getattr(prices, name) for name, what in PRICES.items()}
    named = [f"{what} {amount_text(price)}" for what, price in given.items() if price is not None]
    if not named:
        return "Fewest kinds of means first, then fewest credits."
    return (
        f"By price in credits: a credit is 1, {joined(named)}; a later start costs nothing. "
        "What has no price comes last."
    )


def combinations_panel(
    options: PlanAnalysis, goal: Goal, prices: MeansPrices | None = None
) -> Group:
    """Return the ways to reach a goal, a row each: what it takes, the plan then, what that loses.

    Args:
        options: the plan in its lab.
        goal: what is to be reached.
        prices: what means are worth to whoever asks, in credits; by it they are ranked.
    """
    found, prices = options.combinations(goal), prices or MeansPrices()
    shown = [] if found.reached else found.ranked(prices)[:MOST_SHOWN]
    more = len(found.found) - len(shown)
    columns = [
        "What it takes",
        *([Column("Price", "number")] if prices.given else []),
        "The plan then",
        "Evidence",
        Column("Gives up", meaning=FIDELITY_MEANS),
    ]
    rows = [_row(options, one, prices) for one in shown]
    below = [_below(one) for one in shown] if any(map(_below, shown)) else []
    rest = f"And {more:,} more; the command line's JSON lists them all." if shown and more else ""
    return group(
        Sentence(combinations_text(options, goal)),
        table(
            f"What it would take: {GOALS[goal].lower()}",
            columns,
            rows,
            below=below,
            kind="ways",
            scrolls=True,
        ),
        Sentence(
            " ".join(filter(None, [rest, order_text(prices)])) if shown[1:] else "", quiet=True
        ),
    )


def _row(options: PlanAnalysis, one: Combination, prices: MeansPrices) -> tuple[Cell, ...]:
    after, before = one.plan, options.yours
    moved = [
        moved_text(before.counts.samples, after.counts.samples, "sample"),
        moved_text(before.counts.days, after.counts.days, "day"),
    ]
    price, lost = one.price(prices), given_up_text(after)
    priced = Cell("not known") if price is None else Cell(amount_text(price), price)
    return (
        Cell(means_text(one)),
        *([priced] if prices.given else []),
        Cell(phrases.size_text(after), note=", ".join(filter(None, moved))),
        Cell(after.evidence.text, status=evidence_status(after.evidence)),
        Cell(f"{after.fidelity_loss}: {lost}" if after.fidelity_loss else lost),
    )


def _below(one: Combination) -> tuple[str, ...]:
    """Return which items are free by a later start, and which of the study's wishes are broken."""
    are = "is" if len(one.free) == 1 else "are"
    free = f"{joined(quoted(one.free))} {are} free by then." if one.free else ""
    broken = phrases.wishes_text(one.plan, one.plan.broken_wishes)
    return tuple(filter(None, (free, f"{capitalised(broken)}." if broken else "")))
