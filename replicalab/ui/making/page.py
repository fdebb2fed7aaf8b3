"""Make a study: what it begins with, then its form and its file, and beside it what it is worth."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

import streamlit as st

from replicalab.assessment import assess, failing_text
from replicalab.lexicon import capitalised, count_text, joined
from replicalab.panels import sentences_panel
from replicalab.scenarios import Study, pack_of
from replicalab.scenarios.lab import Difficulty
from replicalab.text.verdicts import evidence_sentence, largest_text, plan_verdict
from replicalab.ui import own_studies, panel
from replicalab.ui.controls import button
from replicalab.ui.making import beginning, checking, editor, needs, parts, record
from replicalab.ui.making.checking import (
    ADVANCED,
    ASSUMPTIONS,
    CHECK,
    COMPARISON,
    LAB,
    NEEDS,
    part_of,
)
from replicalab.ui.words import escaped

PARTS_KEY: Final = "making_part"
PARTS: Final[dict[str, Callable[[], None]]] = {
    COMPARISON: parts.draw_comparison,
    ASSUMPTIONS: parts.draw_assumptions,
    NEEDS: needs.draw,
    LAB: parts.draw_lab,
    CHECK: checking.draw,
    ADVANCED: editor.draw,
}
"""The parts of the form; only the one that is looked at is drawn."""
FIRST: Final = next(iter(PARTS))


def draw() -> None:
    """Draw the ways to begin, or the form of what was begun."""
    now = record.current()
    if not now.begun or now.choosing:
        beginning.draw()
        return
    form, side = st.columns([5, 2], gap="large")
    with form:
        _draw_parts(now)
    with side:
        _draw_side(now)


def show(part: str) -> None:
    """Open a part of the form."""
    now = record.current()
    now.part, now.choosing = part, False
    st.session_state[PARTS_KEY] = part


def _draw_parts(now: record.Making) -> None:
    names = list(PARTS)
    st.session_state.setdefault(PARTS_KEY, now.part or FIRST)
    tabs = st.tabs(names, key=PARTS_KEY, on_change="rerun")
    for place, (name, tab) in enumerate(zip(names, tabs, strict=True)):
        if not tab.open:
            continue
        now.part = name
        with tab:
            if now.refused and name != ADVANCED:
                _draw_refused(now)
                continue
            PARTS[name]()
            if name not in (CHECK, ADVANCED):
                button(
                    f"Next: {names[place + 1]}", "arrow_forward", partial(show, names[place + 1])
                )


def _draw_refused(now: record.Making) -> None:
    st.warning(
        "The file under Advanced cannot be read as a study yet. Mend it there, or press Undo to go "
        "back to what stood here.",
        icon=":material/code_off:",
    )
    button("Show the file", "code", partial(show, ADVANCED), type="tertiary")


# --- beside the form ------------------------------------------------------------------------


def _draw_side(now: record.Making) -> None:
    study = now.study
    with st.container(key="making_side"):
        if study is None:
            _draw_number_of_faults(now)
        else:
            _draw_worth(study)
            _draw_place_taken(now, study)
        refused = own_studies.refusal(now.file, study) if study else ""
        if refused:
            st.warning(refused, icon=":material/inventory_2:")
        if (
            st.button(
                "Use this study",
                icon=":material/play_arrow:",
                type="primary",
                width="stretch",
                disabled=study is None or bool(refused),
            )
            and study is not None
        ):
            parts.open_on_protocol(now.file, study)
        with st.container(horizontal=True, gap="xsmall", key="own_actions"):
            button("Undo", "undo", record.undo, disabled=not now.past, key="making_undo")
            st.download_button(
                "Download the file",
                lambda: now.file,
                file_name=f"{now.draft.at('scenario_id')}.yaml",
                mime="application/yaml",
                icon=":material/download:",
                on_click="ignore",
            )
            button("Start anew", "restart_alt", _choose_again)
        st.caption(_where_it_is(now))


def _where_it_is(now: record.Making) -> str:
    """Return where what the form shows is kept, and so what would lose it."""
    study_id = now.study.scenario_id if now.study else ""
    mine = own_studies.kept().get(study_id)
    if mine is None or mine.text != now.file:
        return (
            "In this tab alone until you press Use this study: loading the page anew loses it. "
            "Download the file to keep it."
        )
    where = "In this server's memory only: download the file to keep it."
    if own_studies.is_saved(study_id, now.file):
        where = "Saved in your library."
    return f"{where} Whoever has its address can read it; only this browser can change it."


def _choose_again() -> None:
    record.current().choosing = True


def _draw_number_of_faults(now: record.Making) -> None:
    """Draw how many faults there are, and in which parts of the form."""
    faults, more = now.faults, now.more_faults
    places = [ADVANCED] if now.refused else list(dict.fromkeys(map(part_of, now.found.faults)))
    number = len(faults) + more
    count = count_text(number, "fault") if number > 1 else "One fault"
    first = f" The first {len(faults)} are listed." if more else ""
    st.error(
        f"{count}, under {joined(places)}. The study can be used when none is left.{first}",
        icon=":material/cancel:",
    )


def _draw_worth(study: Study) -> None:
    """Draw what the study's plan is worth in its lab."""
    plan = assess(study.reference_protocol, pack_of(study, Difficulty.MEDIUM))
    fails = f"{capitalised(failing_text(plan.failing))}." if plan.failing else ""
    told = [fails or "All seven dimensions pass.", evidence_sentence(plan.evidence)]
    worth = sentences_panel(
        [*told, largest_text(plan)], title=study.paper.name, verdict=plan_verdict(plan)
    )
    panel.draw(worth)


def _draw_place_taken(now: record.Making, study: Study) -> None:
    mine = own_studies.kept().get(study.scenario_id)
    if mine and mine.text != now.file:
        st.caption(f"It takes the place of your '{escaped(study.scenario_id)}' as it is now.")
