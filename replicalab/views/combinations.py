"""Every smallest combination of means that reaches a goal: what it takes, and what it buys."""

from typing import Final

from replicalab.assessment import Assessment, phrases
from replicalab.lexicon import amount_text, capitalised, joined, money_text, plural, quoted
from replicalab.planner import Aim, Combination, Combinations, Goal, MeansPrices, PlanAnalysis
from replicalab.views.blocks import Cell, Column, Group, Sentence, Table, group, table
from replicalab.views.frontier import given_up_text
from replicalab.views.options import bound_text
from replicalab.views.plan import moved_text, with_cautions
from replicalab.views.standing import with_standing
from replicalab.views.verdicts import FIDELITY_MEANS, evidence_cell

MOST_SHOWN: Final = 12
"""So many combinations are shown; of more it is said how many there are."""

TITLE: Final = "Every combination"
GOALS: Final = {
    Goal.TARGET: "The target",
    Goal.FLOOR: "The floor",
    Goal.PLAN: "The plan as it is",
}
"""What the goals are called where one is chosen."""
PRICES: Final = {"day": "a day", "staff": "a staff unit", "item": "an item released or restocked"}
"""What has a price where somebody names one, by the names of `MeansPrices`."""


def means_text(one: Combination) -> str:
    """Return what a combination takes: ``Start on day 10 ('X' is free) and 5 more credits``."""
    are = "is" if len(one.free) == 1 else "are"
    free = f" ({joined(quoted(one.free))} {are} free)" if one.free else ""
    waits = [f"start on day {one.start_day:,}{free}"] if one.waits else []
    return capitalised(joined([*waits, *(ask.text for ask in one.asks)])) or "Nothing"


def goal_text(options: PlanAnalysis, goal: Goal) -> str:
    """Return a goal with its number, as it stands after *reach*: ``the target of power 0.80``."""
    if goal is Goal.PLAN:
        return f"the plan as it is ({phrases.size_text(options.yours)})"
    return bound_text(options.yours.evidence, goal.value)


def combinations_text(options: PlanAnalysis, goal: Goal) -> str:
    """Return whether a goal is reached, can be reached, or not, and what is proven of that."""
    found, reached = options.combinations(goal), goal_text(options, goal)
    verb = "runs" if goal is Goal.PLAN else "reaches"
    if found.reached:
        return _reached_text(options, goal, found.found[0].plan)
    if found.found:
        number = len(found.found)
        each, of = (f"Each of {number:,} ways", "each") if number > 1 else ("One way", "it")
        least = f"every part of {of} is needed, and no amount could be smaller"
        ways = f"{each} {verb} {reached}; {least}."
        return " ".join(filter(None, (ways, _looked_text(options), _proof(found))))
    if not found.exact:
        return f"No way was found that {verb} {reached}. {_proof(found)}"
    return f"Nothing that the lab could add {verb} {reached}{_why_not(options, goal)}."


def _reached_text(options: PlanAnalysis, goal: Goal, plan: Assessment) -> str:
    """Return that a goal is reached with what the lab has, and by which plan."""
    if goal is Goal.PLAN:
        none = "Nothing is needed: the lab runs"
        return with_cautions(f"{none} {goal_text(options, goal)} with what it has.", plan)
    verb = "reaches" if plan.counts.samples == 1 else "reach"
    none = f"Nothing is needed for {goal_text(options, goal)}: {phrases.size_text(plan)} {verb} it"
    return with_standing(f"{none}, and the lab has the means.", plan)


def _looked_text(options: PlanAnalysis) -> str:
    """Return that the looks are left out where ways to a bound are named; empty without any."""
    evidence = options.yours.evidence
    if not evidence.is_looked_at:
        return ""
    return f"Looks are left out of that; the {evidence.measure} with them stands beside each way."


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


def order_text(prices: MeansPrices, currency: str) -> str:
    """Return what combinations are ranked by."""
    given = {what: getattr(prices, name) for name, what in PRICES.items()}
    named = [f"{what} {amount_text(price)}" for what, price in given.items() if price is not None]
    if not prices.given:
        return f"Fewest kinds of means first, then fewest {currency}."
    return (
        f"By price: {joined([f'{money_text(1, currency)} is 1', *named])}; a later start costs "
        "nothing. What has no price comes last."
    )


def combinations_panel(options: PlanAnalysis, aim: Aim) -> Group:
    """Return the ways to reach a goal as one panel."""
    return group(*blocks_of(options, aim))


def blocks_of(
    options: PlanAnalysis, aim: Aim, most: int = MOST_SHOWN
) -> tuple[Sentence, Table, Sentence]:
    """Return the ways to reach a goal, a row each: what it takes, the plan then, what it loses."""
    goal, prices = aim
    found = options.combinations(goal)
    shown = [] if found.reached else found.ranked(prices)[:most]
    more = len(found.found) - len(shown)
    columns = [
        Column("What it takes"),
        *([Column("Price", "number")] if prices.given else []),
        Column("The plan then"),
        Column("Evidence"),
        Column("Gives up", meaning=FIDELITY_MEANS),
    ]
    rows = [_row(options, one, prices) for one in shown]
    rest = f"And {more:,} more; the command line's JSON lists them all." if shown and more else ""
    caption = f"What it would take: {GOALS[goal].lower()}"
    order = order_text(prices, options.yours.pack.lab.currency)
    last = f"{rest} {order}".strip() if shown[1:] else ""
    return (
        Sentence(combinations_text(options, goal)),
        table(caption, columns, rows, kind="ways", scrolls=True),
        Sentence(last, quiet=True),
    )


def _row(options: PlanAnalysis, one: Combination, prices: MeansPrices) -> tuple[Cell, ...]:
    after, before = one.plan, options.yours
    moved = (
        moved_text(before.counts.samples, after.counts.samples, "sample"),
        moved_text(before.counts.days, after.counts.days, "day"),
    )
    price, changed = one.price(prices), [text for text in moved if text]
    priced = Cell("not known") if price is None else Cell(amount_text(price), price)
    return (
        Cell(means_text(one)),
        *([priced] if prices.given else []),
        Cell(phrases.size_text(after), note=f"({joined(changed)})" if changed else ""),
        evidence_cell(after),
        Cell(lost_text(after)),
    )


def lost_text(plan: Assessment) -> str:
    """Return a plan's fidelity loss, where it comes from, and which of the study's wishes break."""
    lost = f"{plan.fidelity_loss}: {given_up_text(plan)}" if plan.fidelity_loss else ""
    broken = phrases.wishes_text(plan, plan.broken_wishes)
    return "; ".join(filter(None, (lost, broken))) or "nothing"
