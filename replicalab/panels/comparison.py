"""Plans side by side: what each shows and costs in bars, then row by row, differences first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from replicalab.comparison import Side
from replicalab.lexicon import amount_text, count_text
from replicalab.panels.drawing import Bar, drawn
from replicalab.panels.plan import cost_bar, evidence_bar, slack_bar
from replicalab.text.comparison import COST, OUTCOME, SLACK, Line, parts, same_text
from replicalab.text.verdicts import Status, evidence_status, plan_verdict, standing

_LONG: Final = 120
"""A text of more characters is unfolded on demand."""
_TOLD_ABOVE: Final = {OUTCOME: "Plan"}
"""Rows that the heads of the columns tell already."""


def comparison_panel(sides: Sequence[Side]) -> str:
    """Return some sides beside each other.

    Args:
        sides: two or more.
    """
    return drawn(
        "comparison",
        picture=[_pictured(side, sides) for side in sides],
        heads=[(side.name, plan_verdict(side.plan)) for side in sides],
        parts=[
            (title, [_row(title, line, at, sides) for at, line in enumerate(lines)])
            for title, lines in _told(sides)
        ],
        same=same_text(sides),
        long=_LONG,
    )


def _told(sides: Sequence[Side]) -> list[tuple[str, list[Line]]]:
    return [
        (title, [line for line in lines if line.label != _TOLD_ABOVE.get(title)])
        for title, lines in parts(sides).items()
    ]


def _pictured(side: Side, sides: Sequence[Side]) -> dict[str, object]:
    """Return what a side shows and costs; evidence of one kind is drawn on one scale.

    The sign beside the evidence is the plan's: what cannot be run shows nothing.
    """
    plan, evidence = side.plan, side.plan.evidence
    alike = [each.plan.evidence for each in sides if each.plan.evidence.kind is evidence.kind]
    budget = plan.pack.lab.budget
    failed = "" if plan.feasible else plan_verdict(plan).title.lower()
    return {
        "name": side.name,
        "evidence": ", ".join(filter(None, (evidence.text, failed))),
        "evidence_bar": evidence_bar(evidence, alike),
        "evidence_shade": evidence_status(evidence),
        "evidence_sign": standing(plan)[0],
        "credits": f"{amount_text(plan.cost)} of {count_text(budget, 'credit')}",
        "cost_bar": cost_bar(plan),
        "cost_status": Status.PASS if plan.cost <= budget else Status.FAIL,
    }


def _row(title: str, line: Line, at: int, sides: Sequence[Side]) -> dict[str, object]:
    return {
        "label": line.label,
        "differs": line.differs,
        "cells": [
            (cell.text, cell.status, bar)
            for cell, bar in zip(line.cells, _bars(title, line, at, sides), strict=True)
        ],
    }


def _bars(title: str, line: Line, at: int, sides: Sequence[Side]) -> list[Bar | None]:
    """Return the bar of each cell: of a limit what is used, of a cost its share of the dearest."""
    if title == SLACK:
        return [slack_bar([*side.plan.slack.values()][at]) for side in sides]
    if title == COST:
        dearest = max(side.plan.cost for side in sides) or 1.0
        return [Bar((cell.number or 0.0) / dearest) for cell in line.cells]
    return [None] * len(sides)
