"""The parts of the form: what is compared, assumed and needed, and the lab with its plan."""

from functools import partial
from typing import Final

import streamlit as st

from replicalab.designs import KINDS
from replicalab.drafts import YOUR_LAB, OtherLabs
from replicalab.drafts import fields as rows
from replicalab.facts.blocks import NOT_GIVEN, sentences_panel
from replicalab.facts.original import choices_texts
from replicalab.facts.study import kind_panel
from replicalab.lexicon import CREDITS
from replicalab.scenarios import AmountGroup, amounts_in
from replicalab.ui import panel
from replicalab.ui.study_form import fields, record
from replicalab.ui.words import escaped

_LAB: Final = f"labs.{YOUR_LAB}"


def kinds_shown() -> list[str]:
    """Return the kinds of design, those that test something first."""
    return sorted(KINDS, key=lambda kind: KINDS[kind].sought is None)


def draw_comparison() -> None:
    """Draw the name of the study, its question, and a sketch of every kind of design."""
    fields.draw_columns([3, 1], "paper.title", "paper.short_title")
    fields.draw("paper.goal")
    fields.draw_faults_at("design", "kind")
    with st.grid("auto", min_column_width=170, key="kinds"):
        for kind in kinds_shown():
            is_chosen = KINDS[kind] is record.draft().row
            with st.container(key=f"kind_{kind}", gap=None):
                st.button(
                    KINDS[kind].title,
                    key=f"choose_{kind}",
                    icon=":material/check:" if is_chosen else None,
                    type="primary" if is_chosen else "secondary",
                    width="stretch",
                    on_click=partial(_choose_kind, kind),
                )
                panel.draw(kind_panel(kind))


def _choose_kind(kind: str) -> None:
    record.current().change(record.draft().of_kind(kind), redraw=True)


def draw_assumptions() -> None:
    """Draw the effect with its source, what is aimed at, and the numbers that the kind needs."""
    draft = record.draft()
    row = draft.row
    if row.effect is not None:
        effects = ("design.effect_planning", "design.effect_published", "design.sesoi")
        fields.draw_rows(3, effects)
    fields.draw("design.source")
    numbers = ("target", "floor", *row.numbers)
    fields.draw_rows(3, [f"design.{name}" for name in numbers])
    fields.draw_columns([2, 1], "design.unit_of_n", "design.dropout")
    _draw_original()
    if row.uses("units"):
        names = ["name", "samples", "icc"] if draft.at("design", "units") is not None else ["name"]
        why = ["design.why.units"] if len(names) > 1 else []
        fields.draw_rows(4, [*(f"design.units.{name}" for name in names), *why])
    if row.uses("arms"):
        why = ["design.why.arms"] if draft.at("design", "arms") is not None else []
        fields.draw_rows(2, ["design.arms.share", *why])


def _draw_original() -> None:
    """Draw how the original's effect is known, its numbers, and the effects that they come to."""
    draft, key = record.draft(), fields.key(*rows.ORIGINAL, "way")
    if draft.row.effect is None:
        return
    ways = [NOT_GIVEN, *rows.original_ways(draft.row)]
    way = st.selectbox(
        "The original’s effect, as it was reported",
        ways,
        index=ways.index(rows.original_way(draft) or NOT_GIVEN),
        key=key,
        on_change=partial(_choose_way, key),
        help="With its numbers, more cautious effects to plan with are offered.",
    )
    if draft.at(*rows.ORIGINAL) is None:
        return
    fields.draw_rows(5, rows.original_paths(draft.row, way))
    row = ("source", "confidence", "sides")
    fields.draw_columns([3, 1, 1], *(f"design.original.{name}" for name in row))
    fields.draw_faults_at(*rows.ORIGINAL)
    if (study := record.current().study) is not None:
        panel.draw(sentences_panel(choices_texts(study.design), quiet=True))


def _choose_way(key: str) -> None:
    way = st.session_state[key]
    record.current().change(
        rows.with_original_way(record.draft(), None if way == NOT_GIVEN else way)
    )


def draw_needs() -> None:
    """Draw how long it takes, what it uses, allowed substitutes, its controls and its rules."""
    draft = record.draft()
    why = ("samples_per_day.why",) if draft.at("samples_per_day") is not None else ()
    fields.draw_rows(3, ("min_days", "samples_per_day.value", *why))
    fields.draw("equipment")
    fields.draw("reagents")
    for part, row in rows.ITEM_LISTS.items():
        st.markdown(f"**{row.title}**")
        if part == "substitutions" and not draft.used_items and not draft.items(part):
            st.caption("Name an item above first.")
        else:
            fields.draw_items(part)


def draw_lab() -> None:
    """Draw the plan that does the study justice, and the lab that is to run it."""
    plan, lab = st.columns(2, gap="large")
    with plan:
        st.markdown("**The plan that does it justice**")
        first, *others = (name for name in rows.FIELDS if name.startswith("reference_protocol."))
        fields.draw_columns([1, 1], first, others[0])
        for name in others[1:]:
            fields.draw(name)
    with lab:
        st.markdown("**The lab**")
        _draw_means()


def _draw_means() -> None:
    draft = record.draft()
    fields.draw_columns([3, 2, 2], *(f"{_LAB}.{name}" for name in ("budget", "days", "staff")))
    fields.draw_columns([1, 1], f"{_LAB}.start_date", f"{_LAB}.currency")
    money = (f"{_LAB}.cost_model.{amount.key}" for amount in amounts_in(AmountGroup.MONEY))
    fields.draw_rows(2, money)
    for name in ("weekends", "booked"):
        fields.draw(f"{_LAB}.{name}")
    for item in draft.labels("labs", YOUR_LAB, "booked"):
        fields.draw(("labs", YOUR_LAB, "booked", item))
    fields.draw(f"{_LAB}.out_of_stock")
    has_kept = draft.others is OtherLabs.KEPT or "labs" in draft.aside
    others = [choice for choice in OtherLabs if choice is not OtherLabs.KEPT or has_kept]
    currency = escaped(str(draft.at("labs", YOUR_LAB, "currency") or CREDITS))
    st.radio(
        "The easy and the hard lab are",
        others,
        index=others.index(draft.others),
        key=fields.key("others"),
        on_change=_choose_others,
        help="Made from it: in the easy one nothing is missing and the plan fits; the hard one has "
        f"three quarters of the {currency} and the days, and one person fewer.",
    )


def _choose_others() -> None:
    record.current().change(record.draft().with_others(st.session_state[fields.key("others")]))
