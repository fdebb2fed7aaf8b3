"""Studies that one lab runs with one budget: which, when, and what is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from replicalab.assessment.phrases import cautions_title
from replicalab.facts import blocks
from replicalab.facts.blocks import Cell, Column, Group, Heading, Sentence, Status
from replicalab.facts.frontier import given_up_text
from replicalab.facts.plan import cautions_sentence
from replicalab.facts.verdicts import FIDELITY_MEANS, evidence_status
from replicalab.lexicon import CREDITS, amount_text, capitalised, count_text, money_text
from replicalab.planner import ChosenStudy, Lacking, LeftOut, Portfolio

TITLE: Final = "One budget for several studies"
LEFT_OUT: Final = "Left out"
NOTE: Final = (
    "Order: most worth, then least given up, then lowest cost. The chosen plans then end early. "
    "Studies share the staff of a day; an item of equipment serves one study at a time."
)
_NUMBERS: Final = ("Samples", "Days", "Starts", "Ends", "Staff")


def names_of(found: Portfolio) -> list[str]:
    """Return what the candidates are called, each name once: the second of a name has a number."""
    seen: Counter[str] = Counter()
    names = []
    for each in found.candidates:
        name = each.pack.paper.name
        seen[name] += 1
        names.append(f"{name} ({seen[name]})" if seen[name] > 1 else name)
    return names


def summary_text(found: Portfolio) -> str:
    """Return how many studies are run, what they count, and what they take of the lab."""
    if not found.candidates:
        return "No study is chosen from; name one."
    chosen, number = len(found.chosen), len(found.candidates)
    said = f"{amount_text(chosen)} of {count_text(number, 'study')}, worth {_worth(found.worth)}"
    spent = f"{amount_text(found.credits)} of {_money(found, found.budget)}"
    if not chosen:
        return f"{said}: none can be run for {_money(found, found.budget)} in this lab."
    lab = found.candidates[0].pack.lab
    days = f"from day {found.chosen[0].first} to day {amount_text(found.last)} of {lab.days:,}"
    return f"{said}: {spent}, {days}."


def proof_text(found: Portfolio) -> str:
    """Return whether the choice is proven, and an upper bound of the worth if it is not."""
    if found.exact:
        return "No other choice of studies and plans is better."
    return f"Best found so far; no choice is worth more than {_worth(found.most)}."


def left_out_text(left: LeftOut, found: Portfolio) -> str:
    """Return why a study is not run."""
    match left.lacking:
        case Lacking.EVIDENCE:
            return "No plan that counts fits this lab, whatever the budget."
        case Lacking.CREDITS:
            short = _money(found, left.credits, "more")
            return f"Its cheapest plan needs {short} than the others, as chosen, leave."
        case Lacking.TIME:
            return "The others leave no days on which staff and equipment are free for it."


def _money(found: Portfolio, amount: float, word: str = "") -> str:
    labs = [each.pack.lab for each in found.candidates]
    return labs[0].money(amount, word) if labs else money_text(amount, CREDITS, word)


def _worth(number: float) -> str:
    return amount_text(number)


# --- as a panel -----------------------------------------------------------------------------


def portfolio_panel(
    found: Portfolio, links: Sequence[str] = (), origins: Sequence[str] = (), level: int = 3
) -> Group:
    """Return the studies that are run, a row each, and what is left out.

    Args:
        found: the choice.
        links: where each chosen study opens, in their order; none where nowhere.
        origins: whose each candidate is, where it is not on the shelf.
        level: of its heading.
    """
    names = names_of(found)
    notes = [*origins] or [""] * len(names)
    return blocks.group(
        Heading(TITLE, level),
        Sentence(summary_text(found)),
        Sentence(proof_text(found), status=None if found.exact else Status.CAUTION, quiet=True),
        _table(found, names, links, notes) if found.chosen else None,
        *_left_out(found, names, level),
        Sentence(NOTE, quiet=True),
    )


def _table(
    found: Portfolio, names: Sequence[str], links: Sequence[str], notes: Sequence[str]
) -> blocks.Table:
    currency = found.candidates[0].pack.lab.currency
    columns = [
        Column("Study"),
        Column("Evidence"),
        *(Column(name, "number") for name in _NUMBERS),
        Column(capitalised(currency), "number"),
        Column("Given up", "number", meaning=FIDELITY_MEANS),
        Column("Worth", "number"),
    ]
    places = [*links] or [""] * len(found.chosen)
    rows = [
        _row(each, names[each.place], link, notes[each.place])
        for each, link in zip(found.chosen, places, strict=True)
    ]
    return blocks.table("The studies that are run", columns, rows, kind="survey", scrolls=True)


def _row(each: ChosenStudy, name: str, link: str, origin: str) -> tuple[Cell, ...]:
    plan = each.plan
    broken = Sentence(cautions_sentence(plan), cautions_title(plan), Status.CAUTION)
    numbers = (plan.counts.samples, plan.counts.days, each.first, each.last, plan.staff, plan.cost)
    return (
        Cell(name, note=origin, link=link),
        Cell(
            plan.evidence.text,
            status=evidence_status(plan.evidence),
            note=str(plan.evidence.tier),
            more=broken if broken.lead else None,
        ),
        *(Cell(amount_text(number)) for number in numbers),
        Cell(
            amount_text(plan.fidelity_loss),
            more=Sentence(given_up_text(plan)) if plan.fidelity_loss else None,
        ),
        Cell(_worth(each.worth)),
    )


def _left_out(found: Portfolio, names: Sequence[str], level: int) -> Iterator[blocks.Block]:
    if found.left_out:
        rows = [(names[each.place], left_out_text(each, found)) for each in found.left_out]
        yield Heading(LEFT_OUT, level + 1)
        yield blocks.plain_table(LEFT_OUT, ("Study", "Why"), rows)
