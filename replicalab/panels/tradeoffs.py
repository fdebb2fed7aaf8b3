"""Trade-offs: where the chosen point lies, what more means buy, what the effects come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from replicalab.assessment import Assessment, AssumedEffect
from replicalab.lexicon import capitalised
from replicalab.panels.drawing import drawn
from replicalab.panels.plan import evidence_bar
from replicalab.text.tradeoffs import bounds_text, effect_label
from replicalab.text.verdicts import evidence_status


class Rows(NamedTuple):
    """A table: what it is, the names of its columns, and its rows, the first cell a heading."""

    caption: str
    names: Sequence[str]
    rows: Sequence[Sequence[str]]


def over_panel(
    tags: Sequence[tuple[str, float, float, float, float, str, str]],
    room: Mapping[str, int],
    spot: tuple[float, float] | None,
) -> str:
    """Return labels and the cross at the chosen point, to be laid over the chart above them.

    Args:
        tags: the labels: text, shares of the plot across and up, px from there, ground, ink.
        room: the plot's ``height``, and what is ``left``, ``right`` and ``below`` of it, in px.
        spot: how far across and up the plot the cross stands; None for none.
    """
    return drawn("over", tags=tags, room=room, spot=spot)


def listed_panel(title: str, lines: Sequence[str]) -> str:
    """Return a short list under its title."""
    return drawn("listed", title=title, lines=lines)


def tables_panel(tables: Sequence[Rows]) -> str:
    """Return tables of nothing but text, one below the other."""
    return drawn("tables", tables=tables)


def effects_panel(effects: Sequence[AssumedEffect], plans: Mapping[str, Assessment]) -> str:
    """Return what each plan's sample is worth at each effect, on one scale with floor and target.

    Args:
        effects: those to assume, at least one.
        plans: by name, at least one.
    """
    found = [[plan.evidence_at(each.effect) for plan in plans.values()] for each in effects]
    beside = [evidence for row in found for evidence in row]
    rows = [
        {
            "name": effect_label(effect),
            "cells": [
                (evidence.number, evidence_status(evidence), evidence_bar(evidence, beside))
                for evidence in row
            ],
        }
        for effect, row in zip(effects, found, strict=True)
    ]
    first = beside[0]
    return drawn(
        "effects",
        title=f"{capitalised(first.measure)}, if the effect is not what was assumed",
        columns=[capitalised(name) for name in plans],
        rows=rows,
        marks=bounds_text(first),
    )
