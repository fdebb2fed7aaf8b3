"""What a reviewer would ask of a plan: its concerns, what nobody said, what is answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from replicalab.facts.blocks import (
    Cell,
    Column,
    Group,
    Sentence,
    Status,
    Table,
    group,
    table,
)
from replicalab.features.critique import Place, Remark, RemarkStanding
from replicalab.lexicon import capitalised, count_text

TITLE: Final = "What a reviewer would ask"
_CAPTIONS: Final = {
    RemarkStanding.CONCERN: "It raises a concern",
    RemarkStanding.UNSAID: "Nobody said",
    RemarkStanding.ANSWERED: "It is answered",
}
_SIGNS: Final = {RemarkStanding.CONCERN: Status.CAUTION, RemarkStanding.ANSWERED: Status.PASS}


def summary_text(remarks: Sequence[Remark]) -> str:
    """Return how many questions stand where: ``Of 25 questions 6 raise a concern, …``."""
    concerns, unsaid, answered = (
        sum(remark.standing is each for remark in remarks) for each in RemarkStanding
    )
    return (
        f"Of {count_text(len(remarks), 'question')} {concerns} "
        f"{'raises' if concerns == 1 else 'raise'} a concern, to {unsaid} nobody said anything, "
        f"and {answered} {'is' if answered == 1 else 'are'} answered."
    )


def _nowhere(_: Place) -> str:
    return ""


def critique_panel(remarks: Sequence[Remark], link: Callable[[Place], str] = _nowhere) -> Group:
    """Return the questions as a page and a notebook show them.

    Args:
        remarks: in their order.
        link: where a click on a place leads; empty for nowhere.
    """
    tables = (_shown(standing, remarks, link) for standing in RemarkStanding)
    return group(Sentence(summary_text(remarks)), *tables)


def _shown(
    standing: RemarkStanding, remarks: Sequence[Remark], link: Callable[[Place], str]
) -> Table:
    """Return the questions of a standing, with each what is said and by whom."""
    rows = [
        (
            Cell(each.asks, status=_SIGNS.get(standing), note=_said(each)),
            Cell(str(each.place), link=link(each.place)),
        )
        for each in remarks
        if each.standing is standing
    ]
    caption = f"{_CAPTIONS[standing]} ({len(rows)})"
    columns = (Column(caption), Column("Where to mend it", "quiet"))
    return table(caption, columns, rows, kind="asked")


def _said(remark: Remark) -> str:
    return f"{capitalised(remark.finder)}: {remark.text}" if remark.finder else remark.text


def critique_blocks(remarks: Sequence[Remark]) -> list[Sentence | Table]:
    """Return the questions as a document has them: a table for each standing."""
    tables = (_printed(standing, remarks) for standing in RemarkStanding)
    return [Sentence(summary_text(remarks)), *tables]


def _printed(standing: RemarkStanding, remarks: Sequence[Remark]) -> Table:
    is_said = standing is not RemarkStanding.UNSAID
    rows: list[tuple[Cell | str, ...]] = [
        (
            Cell(each.asks, status=_SIGNS.get(standing)),
            each.text,
            *([each.finder or ""] if is_said else []),
            str(each.place),
        )
        for each in remarks
        if each.standing is standing
    ]
    who = ["Who says so"] if is_said else []
    names = ("Question", "What is known", *who, "Where to mend it")
    return table(_CAPTIONS[standing], names, rows)
