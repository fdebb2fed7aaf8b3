"""What a study needs: days, items and what may stand in for them, its controls and its rules."""

from __future__ import annotations

from functools import partial
from typing import Final

import streamlit as st

from replicalab.drafts import UNSTATED, Draft
from replicalab.models import LONGEST_TEXT
from replicalab.scenarios.reading import Data
from replicalab.ui.making import fields, record
from replicalab.ui.making.lists import draw_list

_PAIR: Final = ("alternative", "original")
_LOSSES: Final = {
    0: "0: the same study",
    1: "1: a small declared deviation",
    2: "2: a related but different test",
    3: "3: the hypothesis goes untested",
}


def draw() -> None:
    """Draw how long it takes, what it uses, what may stand in, its controls and its rules."""
    days, rate, why = st.columns([1, 1, 2])
    with days:
        fields.number("Least days", "min_days", help="With fewer there is nothing to measure.")
    with rate:
        fields.optional_number(
            "Samples a day",
            *("samples_per_day", "value"),
            change=_with_rate,
            help="The most that can be finished; empty where all run together.",
        )
    if record.draft().at("samples_per_day") is not None:
        with why:
            fields.text("Why so many a day", "samples_per_day", "why")
    for part, label, note in (
        ("equipment", "Equipment", "What is booked."),
        ("reagents", "Reagents", "What is used up: materials, data sets, licences, pay."),
    ):
        fields.labels(
            label,
            part,
            change=partial(_with_labels, part),
            help=f"{note} One that you take away leaves the plan and the lab too.",
        )
    st.markdown("**What may stand in**")
    _draw_substitutions()
    st.markdown("**Controls**")
    _draw_controls()
    st.markdown("**What is forbidden**")
    _draw_rules()


def _with_labels(part: str, draft: Draft, chosen: list[str]) -> Draft:
    return draft.with_labels(part, chosen)


def _with_rate(draft: Draft, rate: int | None) -> Draft:
    if rate is None:
        return draft.put(None, "samples_per_day")
    why = draft.at("samples_per_day", "why")
    return draft.put({"value": rate, "why": why if why else UNSTATED}, "samples_per_day")


def _draw_substitutions() -> None:
    items = [*record.draft().labels("equipment"), *record.draft().labels("reagents")]
    swaps = record.draft().items("substitutions")
    if not items and not swaps:
        st.caption("Name an item above first.")
        return

    def add(draft: Draft, name: str) -> Draft:
        swap: Data = {
            "original": items[0] if items else "",
            "alternative": name,
            "condition": UNSTATED,
            "tradeoff": UNSTATED,
            "fidelity_loss": 1,
        }
        return draft.put([*draft.items("substitutions"), swap], "substitutions")

    def draw(place: int) -> None:
        at = ("substitutions", place)
        instead, other = st.columns(2)
        with instead:
            fields.choice("In place of", items, *at, "original")
            fields.choice(
                "How far it leads away",
                list(_LOSSES),
                *at,
                "fidelity_loss",
                format_func=lambda loss: _LOSSES.get(loss, str(loss)),
            )
            fields.text("When it is allowed", *at, "condition", max_chars=LONGEST_TEXT)
        with other:
            fields.text("What stands in", *at, "alternative")
            fields.number(
                "What is left of the effect",
                *at,
                "evidence_factor",
                step=0.05,
                usual=1.0,
                help="1 for all of it.",
            )
            fields.text("What is lost", *at, "tradeoff", max_chars=LONGEST_TEXT)

    pairs = zip(*(record.draft().names("substitutions", of) for of in _PAIR), strict=True)
    names = [" for ".join(pair) for pair in pairs]
    draw_list(
        "substitutions", "replacement", names, add=add, draw=draw, placeholder="What stands in"
    )


def _draw_controls() -> None:
    def draw(place: int) -> None:
        name, guard = st.columns(2)
        with name:
            fields.text(
                "Name",
                *("controls", place, "name"),
                change=lambda draft, name: draft.with_control_named(place, name),
            )
        with guard:
            fields.text(
                "Protects against", "controls", place, "protects_against", max_chars=LONGEST_TEXT
            )
        fields.switch("The study is worth something without it", "controls", place, "droppable")

    names = record.draft().names("controls", "name")
    draw_list(
        "controls", "control", names, add=Draft.with_control, draw=draw, placeholder="Its name"
    )


def _draw_rules() -> None:
    def add(draft: Draft, restriction: str) -> Draft:
        rules = draft.items("policy_rules")
        taken = draft.names("policy_rules", "key")
        key = next(name for n in range(len(rules) + 1) if (name := f"rule_{n + 1}") not in taken)
        rule: Data = {"key": key, "restriction": restriction, "forbidden_phrases": [restriction]}
        return draft.put([*rules, rule], "policy_rules")

    def draw(place: int) -> None:
        fields.text("Rule", "policy_rules", place, "restriction", max_chars=LONGEST_TEXT)
        fields.labels(
            "Phrases that break it",
            *("policy_rules", place, "forbidden_phrases"),
            help="A plan that says one of them breaks the rule, unless it says 'no' before.",
        )

    names = record.draft().names("policy_rules", "restriction")
    draw_list("policy_rules", "rule", names, add=add, draw=draw, placeholder="open flame")
