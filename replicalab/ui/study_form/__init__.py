"""Make a study: what it begins with, then its form and its file, and beside it what it is worth."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

import streamlit as st

from replicalab.assessment import assess, failing_text
from replicalab.lexicon import capitalised, count_text, joined
from replicalab.scenarios import Difficulty, Study, pack_of
from replicalab.ui import own_studies, panel
from replicalab.ui.controls import button
from replicalab.ui.files import download
from replicalab.ui.study_form import beginning, checking, parts, record
from replicalab.ui.words import escaped
from replicalab.views.blocks import sentences_panel
from replicalab.views.verdicts import evidence_sentence, largest_text, plan_verdict

PARTS_KEY: Final = "making_part"
PARTS: Final[dict[str, Callable[[], None]]] = {
    checking.COMPARISON: parts.draw_comparison,
    checking.ASSUMPTIONS: parts.draw_assumptions,
    checking.NEEDS: parts.draw_needs,
    checking.LAB: parts.draw_lab,
    checking.CHECK: checking.draw,
    checking.ADVANCED: checking.draw_file,
}
"""The parts of the form; only the one that is looked at is drawn."""
FIRST: Final = next(iter(PARTS))
ADVANCED: Final = checking.ADVANCED


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


def _draw_parts(now: record.FormSession) -> None:
    names = list(PARTS)
    st.session_state.setdefault(PARTS_KEY, now.part or FIRST)
    tabs = st.tabs(names, key=PARTS_KEY, on_change="rerun")
    for place, (name, tab) in enumerate(zip(names, tabs, strict=True)):
        if not tab.open:
            continue
        now.part = name
        with tab:
            if now.refused and name != ADVANCED:
                st.warning(
                    "The file under Advanced cannot be read as a study yet. Mend it there, or "
                    "press Undo to go back to what stood here.",
                    icon=":material/code_off:",
                )
                button("Show the file", "code", partial(show, ADVANCED), type="tertiary")
                continue
            PARTS[name]()
            if name not in (checking.CHECK, ADVANCED):
                after = names[place + 1]
                button(f"Next: {after}", "arrow_forward", partial(show, after))


# --- beside the form ------------------------------------------------------------------------


def _draw_side(now: record.FormSession) -> None:
    study = now.study
    with st.container(key="making_side"):
        refused = own_studies.refusal(now.file, study) if study else ""
        if study is None:
            _draw_number_of_faults(now)
        else:
            _draw_worth(study)
            if _mine(study) not in (None, now.file):
                mine = escaped(study.scenario_id)
                st.caption(f"It takes the place of your '{mine}' as it is now.")
        if refused:
            st.warning(refused, icon=":material/inventory_2:")
        pressed = st.button(
            "Use this study",
            icon=":material/play_arrow:",
            type="primary",
            width="stretch",
            disabled=study is None or bool(refused),
        )
        if pressed and study is not None:
            beginning.open_on_protocol(now.file, study)
        with st.container(horizontal=True, gap="xsmall", key="own_actions"):
            button("Undo", "undo", record.undo, disabled=not now.past, key="making_undo")
            name = f"{now.draft.at('scenario_id')}.yaml"
            download("Download the file", lambda: now.file, name)
            button("Start anew", "restart_alt", _choose_again)
        st.caption(_where_it_is(now))


def _mine(study: Study) -> str | None:
    """Return the file of this visitor's study of that id; None where there is none."""
    mine = own_studies.kept().get(study.scenario_id)
    return mine and mine.text


def _where_it_is(now: record.FormSession) -> str:
    """Return where what the form shows is kept, and so what would lose it."""
    if now.study is None or _mine(now.study) != now.file:
        return (
            "In this tab alone until you press Use this study: loading the page anew loses it. "
            "Download the file to keep it."
        )
    where = "In this server's memory only: download the file to keep it."
    if own_studies.is_saved(now.study.scenario_id, now.file):
        where = "Saved in your library."
    return f"{where} Whoever has its address can read it; only this browser can change it."


def _choose_again() -> None:
    record.current().choosing = True


def _draw_number_of_faults(now: record.FormSession) -> None:
    """Draw how many faults there are, and in which parts of the form."""
    faults, more = now.faults, now.more_faults
    places = (
        [ADVANCED] if now.refused else list(dict.fromkeys(map(checking.part_of, now.result.faults)))
    )
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
    sentences = [fails or "All seven dimensions pass.", evidence_sentence(plan.evidence)]
    sentences.append(largest_text(plan))
    panel.draw(sentences_panel(sentences, title=study.paper.name, verdict=plan_verdict(plan)))
