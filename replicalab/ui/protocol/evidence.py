"""The evidence meter: what the plan, the ticked changes and the least-loss plan are worth."""

from __future__ import annotations

import streamlit as st

from replicalab.assessment import Assessment, Evidence
from replicalab.figures import CONFIG, evidence_chart
from replicalab.lexicon import capitalised
from replicalab.planner import Options
from replicalab.text.asks import assumed_rows, assumed_text, assumption_text
from replicalab.text.plan import detectable_effect, effect_text
from replicalab.ui.protocol.changes import Ticked
from replicalab.ui.words import escaped

Marks = dict[str, Assessment]
"""The plans on the meter by their names, your own first."""


def marks(options: Options, found: Ticked) -> Marks:
    """Return the plans to show: yours, and the two revisions where they are other plans."""
    shown = {"Your plan": options.yours}
    if found.result.plan != options.yours.plan:
        shown["As ticked"] = found.result
    least = options.least.after
    if not least.evidence.void and least.plan not in (options.yours.plan, found.result.plan):
        shown["Least loss"] = least
    return shown


def draw(options: Options, found: Ticked) -> None:
    """Draw the meter, what it rests on in words, and the same as a table."""
    shown = marks(options, found)
    st.plotly_chart(
        evidence_chart([(name, plan.evidence) for name, plan in shown.items()]),
        key="evidence_chart",
        config=CONFIG,
        alt=_alt(shown),
    )
    st.markdown(_basis(options.yours))
    with st.expander("The evidence as a table"):
        st.table(_table(shown), hide_index=True)


def _alt(shown: Marks) -> str:
    first = shown["Your plan"].evidence
    found = [f"{n}: {plan.evidence.text}, {plan.evidence.tier}" for n, plan in shown.items()]
    bounds = f"floor {first.amount(first.floor)}, target {first.amount(first.target)}"
    return f"Planned evidence. {', '.join(found)}; {bounds}."


def _basis(plan: Assessment) -> str:
    """Return what the evidence rests on: all of it our own words and numbers."""
    text = escaped(assumption_text(plan))
    if sought := plan.evidence.row.sought:
        effect = effect_text(detectable_effect(plan))
        text = f"{capitalised(sought)}: **{effect}**. {text}"
    assumed = assumed_text(plan)
    return f"{text}  \n{escaped(assumed)}" if assumed else text


def _table(shown: Marks) -> dict[str, list[str]]:
    """Return one column per plan: its evidence, the effect it detects, other effects assumed."""
    first = shown["Your plan"]
    sought = first.evidence.row.sought
    rows = [first.evidence.measure.capitalize(), "Where it stands", "Floor", "Target"]
    rows += [capitalised(sought)] if sought else []
    rows += [f"At the effect {label} ({size})" for label, size, _ in assumed_rows(first)]
    rows.append("Method")
    return {"": rows, **{name: _column(plan) for name, plan in shown.items()}}


def _column(plan: Assessment) -> list[str]:
    evidence = plan.evidence
    cells = [_value(evidence), str(evidence.tier)]
    cells += [evidence.amount(evidence.floor), evidence.amount(evidence.target)]
    if evidence.row.sought:
        cells.append(effect_text(detectable_effect(plan)))
    cells += [_value(found) for _, _, found in assumed_rows(plan)]
    return [*cells, capitalised(evidence.row.method)]


def _value(evidence: Evidence) -> str:
    return "no evidence" if evidence.void else evidence.amount(evidence.value)
