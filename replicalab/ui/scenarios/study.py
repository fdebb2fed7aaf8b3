"""The open study: the choice of lab, what happens in it, and the study with its sources."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.lexicon import amount_text, capitalised
from replicalab.measures import KINDS
from replicalab.planner import Options
from replicalab.scenarios import (
    LAB_CONSTRAINTS,
    AllowedSubstitution,
    Confidence,
    Difficulty,
    Pack,
    ResourceCategory,
    ScenarioConstraint,
)
from replicalab.text.plan import staff_text
from replicalab.text.verdicts import Status, offer_story, terms_text
from replicalab.ui import state
from replicalab.ui.controls import page_link
from replicalab.ui.words import coloured, draw_table, draw_verdict, escaped
from replicalab.ui.workspace import LARGEST_SEED

_CONFIDENCE: Final = {
    Confidence.VERIFIED: "verified",
    Confidence.RECALLED: "recalled, not found again",
    Confidence.DERIVED: "derived from verified numbers",
    Confidence.PLANNING_VALUE: "planning value, ours",
}
_LAB: Final = "lab_choice"
_SEED: Final = "seed_choice"


def draw_story(reference: Options) -> None:
    """Draw the choice of lab, what happens to the reference protocol in it, and the ways on."""
    pack = reference.yours.pack
    choice, story = st.columns([1, 3], gap="large")
    with choice:
        _draw_lab_choice(pack)
    with story:
        st.markdown(f"**{escaped(pack.paper.title)}.** {escaped(pack.paper.goal)}")
        draw_verdict(offer_story(reference))
        st.caption(escaped(terms_text(reference.yours)))
        with st.container(horizontal=True, key="ways_on"):
            page_link("pages/1_Protocol.py", "Edit the protocol", "tune")
            page_link("pages/2_Negotiation.py", "Step through the negotiation", "forum")


def _draw_lab_choice(pack: Pack) -> None:
    st.session_state[_LAB] = pack.difficulty.value
    st.session_state[_SEED] = pack.seed
    st.radio(
        "Lab",
        [level.value for level in Difficulty],
        format_func=str.capitalize,
        key=_LAB,
        horizontal=True,
        on_change=_open_lab,
    )
    with st.expander("Vary the lab"):
        st.number_input(
            "Seed", min_value=0, max_value=LARGEST_SEED, step=1, key=_SEED, on_change=_open_lab
        )
        st.caption(
            "0 is the lab as written; any other number moves budget, time and which items are "
            "missing, always the same way."
        )


def _open_lab() -> None:
    chosen = state.workspace().with_lab(st.session_state[_LAB], st.session_state[_SEED])
    state.open_workspace(chosen)


def draw_paper(pack: Pack) -> None:
    """Draw the paper: citation, claim, cautions, and every fact with its source."""
    paper = pack.paper
    doi = f" [doi\\:{escaped(paper.doi)}](https://doi.org/{quote(paper.doi)})" if paper.doi else ""
    st.caption(f"{escaped(paper.citation)}{doi}")
    if paper.contested:
        st.warning(f"Contested. {escaped(paper.contested)}", icon=":material/balance:")
    for label, text in (
        ("Hypothesis", paper.hypothesis),
        ("Method", paper.method),
        ("Key finding", paper.key_finding),
        ("Goal here", paper.goal),
        ("Published n and effect", paper.published),
        ("Take care", paper.caution),
    ):
        st.markdown(f"**{label}.** {escaped(text)}")
    st.markdown("**Facts, their sources and how sure they are**")
    for fact in paper.facts:
        where = f", {escaped(fact.where)}" if fact.where else ""
        st.markdown(
            f"- {escaped(fact.text)} :gray[{escaped(fact.source)} "
            f"({_CONFIDENCE[fact.confidence]}{where})]"
        )


def draw_design(pack: Pack) -> None:
    """Draw what the planned evidence rests on: each number, and why it was chosen."""
    design, kind = pack.design, KINDS[pack.design.kind]
    rows = [(label, _number(value), design.why.get(field, "")) for field, label, value in (
        ("effect_published", "Published effect", design.effect_published),
        ("effect_planning", "Planning effect", design.effect_planning),
        ("sesoi", "Smallest effect of interest", design.sesoi),
        ("target", "Target of the evidence", design.target),
        ("floor", "Floor of the evidence", design.floor),
        *((name, kind.label(name), getattr(design, name)) for name in kind.numbers),
    )]  # fmt: skip
    if pack.samples_per_day:
        per_day = pack.samples_per_day
        rows.append(("Samples a day, at most", _number(per_day.value), per_day.why))
    rows.append(("Shortest useful plan, days", _number(pack.min_days), ""))
    st.markdown(
        f"**What the planned evidence rests on.** {capitalised(kind.measure)} by "
        f"{escaped(kind.method)}. {escaped(design.source)} Numbers that are not printed in the "
        "paper are planning values, chosen by us."
    )
    draw_table(
        ("Number", "Value", "Why"),
        [(label, value, why or "–") for label, value, why in rows],
        alt="Numbers that the planned evidence rests on",
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:,g}".replace("-", "−")


def draw_lab(reference: Assessment) -> None:
    """Draw what the lab has: budget, days, staff and how it is counted, where each item stands."""
    pack, lab = reference.pack, reference.pack.lab
    with st.grid("auto", min_column_width=140):
        st.metric("Budget, credits", amount_text(lab.budget))
        st.metric("Days", lab.days)
        st.metric("Staff units", lab.staff)
        st.metric("Shortest useful plan, days", pack.min_days)
    st.caption(f"Staff for the reference protocol: {staff_text(reference)}.")
    items = [r for r in pack.resources if r.category is not ResourceCategory.PERSONNEL]
    st.table(
        {
            "Item": [escaped(item.label) for item in items],
            "Kind": [item.category.value for item in items],
            "Where it stands": [_item_status(pack, item.label, item.category) for item in items],
        },
        hide_index=True,
    )
    st.caption(
        f"Samples are {escaped(pack.design.unit_of_n)}. A plan starts on day 1 and needs its "
        "equipment throughout, so an item that is booked on any day cannot be used."
    )


def _item_status(pack: Pack, label: str, category: ResourceCategory) -> str:
    status = pack.inventory.status(label, category.value)
    until = pack.inventory.booked_until(label)
    if status.value == "available":
        return coloured(Status.PASS, "available")
    return coloured(Status.FAIL, f"{status} until day {until}" if until is not None else status)


def draw_substitutions(pack: Pack) -> None:
    """Draw what may be replaced, on which condition, and what that loses."""
    if not pack.allowed_substitutions:
        st.caption("Nothing in this study may be replaced.")
    for swap in pack.allowed_substitutions:
        with st.container(border=True, gap="small"):
            st.markdown(f"{escaped(swap.original)} → **{escaped(swap.alternative)}**")
            lost = escaped(swap.tradeoff.removesuffix("."))
            st.markdown(f"Allowed {escaped(swap.condition)}. Lost: {lost}.")
            st.caption(f"Fidelity loss {swap.fidelity_loss} of 3{_factor_text(swap, pack)}")


def _factor_text(swap: AllowedSubstitution, pack: Pack) -> str:
    """Return what a substitution does to the effect that is seen; empty where it does nothing."""
    effect, factor = KINDS[pack.design.kind].effect, swap.evidence_factor
    return f" · {effect.seen_text.format(factor=factor)}" if effect and factor != 1 else ""


def draw_rules(pack: Pack) -> None:
    """Draw the restrictions, the success criteria, the constraints and the controls."""
    st.markdown("**Restrictions, checked by phrase**")
    for rule in pack.policy_rules:
        phrases = ", ".join(f"“{phrase}”" for phrase in rule.forbidden_phrases)
        st.markdown(f"- {escaped(rule.restriction)} :gray[Broken by: {escaped(phrases)}]")
    st.markdown("**Success criteria**")
    st.markdown("\n".join(f"- {escaped(criterion)}" for criterion in pack.success_criteria))
    st.markdown("**Constraints**")
    st.markdown("\n".join(f"- {escaped(_constraint_text(c))}" for c in pack.constraints))
    st.markdown("**Controls**")
    for control in pack.controls:
        fate = "may be dropped" if control.droppable else "fixed: the study is void without it"
        st.markdown(
            f"- {escaped(control.name)} ({fate}); protects against "
            f"{escaped(control.protects_against)}"
        )


def _constraint_text(constraint: ScenarioConstraint) -> str:
    """Return a constraint in words: ``heat: at most 90 °C (should hold; stated, not checked)``."""
    force = "must hold" if constraint.hard else "should hold"
    if constraint.bounds is None and constraint.key not in LAB_CONSTRAINTS:
        force += "; stated, not checked"
    bound = f": {constraint.bound_text}" if constraint.bound_text else ""
    details = f"; {constraint.details}" if constraint.details else ""
    return f"{constraint.label}{bound} ({force}){details}"
