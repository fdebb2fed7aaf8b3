"""The evidence meter: what the plan, the ticked changes and the least-loss plan are worth."""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from replicalab.evidence import Evidence
from replicalab.figures import CONFIG, evidence_chart
from replicalab.lexicon import capitalised
from replicalab.models import Protocol
from replicalab.scenarios import Pack
from replicalab.sentences import (
    Options,
    assumed_rows,
    assumed_text,
    assumption_text,
    detectable_effect,
    effect_text,
)
from replicalab.ui.session import Here
from replicalab.ui.suggestion_view import Ticked
from replicalab.ui.words import escaped


class Mark(NamedTuple):
    """A plan on the meter."""

    name: str
    plan: Protocol
    evidence: Evidence


def marks(here: Here, options: Options, found: Ticked) -> list[Mark]:
    """Return the plans to show: yours, and the two revisions where they are other plans."""
    shown = [Mark("Your plan", here.plan, here.evidence)]
    if found.result.plan != here.plan:
        shown.append(Mark("As ticked", found.result.plan, found.result.evidence))
    lost = options.least.price.evidence.void
    if not lost and options.least.plan not in (here.plan, found.result.plan):
        shown.append(Mark("Least loss", options.least.plan, options.least.price.evidence))
    return shown


def draw(here: Here, options: Options, found: Ticked) -> None:
    """Draw the meter, what it rests on in words, and the same as a table."""
    shown = marks(here, options, found)
    st.plotly_chart(
        evidence_chart([(mark.name, mark.evidence) for mark in shown]),
        key="evidence_chart",
        config=CONFIG,
        alt=_alt(shown),
    )
    st.markdown(_basis(here))
    with st.expander("The evidence as a table"):
        st.table(_table(shown, here.pack), hide_index=True)


def _alt(shown: list[Mark]) -> str:
    first = shown[0].evidence
    plans = ", ".join(f"{mark.name}: {mark.evidence.text}, {mark.evidence.tier}" for mark in shown)
    bounds = f"floor {first.amount(first.floor)}, target {first.amount(first.target)}"
    return f"Planned evidence. {plans}; {bounds}."


def _basis(here: Here) -> str:
    """Return what the evidence rests on: all of it our own words and numbers."""
    lines = []
    if sought := here.evidence.row.sought:
        effect = effect_text(detectable_effect(here.evidence, here.pack))
        lines.append(f"{capitalised(sought.name)}: **{effect}**.")
    lines.append(escaped(assumption_text(here.evidence, here.pack)))
    assumed = assumed_text(here.plan, here.pack)
    return " ".join(lines) + (f"  \n{escaped(assumed)}" if assumed else "")


def _table(shown: list[Mark], pack: Pack) -> dict[str, list[str]]:
    """Return one column per plan: its evidence, the effect it detects, other effects assumed."""
    first = shown[0].evidence
    sought = first.row.sought
    rows = [first.measure.capitalize(), "Where it stands", "Floor", "Target"]
    rows += [capitalised(sought.name)] if sought else []
    rows += [
        f"At the effect {label} ({size})" for label, size, _ in assumed_rows(shown[0].plan, pack)
    ]
    rows.append("Method")
    return {"": rows, **{mark.name: _column(mark, pack) for mark in shown}}


def _column(mark: Mark, pack: Pack) -> list[str]:
    evidence = mark.evidence
    cells = [_value(evidence), str(evidence.tier)]
    cells += [evidence.amount(evidence.floor), evidence.amount(evidence.target)]
    if evidence.row.sought:
        cells.append(effect_text(detectable_effect(evidence, pack)))
    cells += [_value(found) for _, _, found in assumed_rows(mark.plan, pack)]
    return [*cells, capitalised(evidence.row.method)]


def _value(evidence: Evidence) -> str:
    return "no evidence" if evidence.void else evidence.amount(evidence.value)
