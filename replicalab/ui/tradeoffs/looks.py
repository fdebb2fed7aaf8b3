"""Trade-offs: the same study with interim looks, chosen here and worked out when it is opened."""

from contextlib import suppress
from typing import Final

import streamlit as st

from replicalab.assessment import Assessment
from replicalab.measures import KINDS
from replicalab.measures.looks import FAMILIES, MOST_LOOKS, LooksFamily
from replicalab.planner.looks import NoLooks
from replicalab.scenarios import Looks
from replicalab.scenarios.looks import MOST_GAMMA, with_shares
from replicalab.ui import panel, state
from replicalab.ui.controls import NumberField, between, complain
from replicalab.views.blocks import sentences_panel
from replicalab.views.looks import TITLE, looks_panel, why_not_text

PLACE: Final = "looks"
_NONE: Final = "No interim looks"
_LONGEST: Final = 60


def draw(yours: Assessment) -> None:
    """Draw the place; while it is closed nothing is worked out or sent."""
    place = st.expander(f"{TITLE}: stop early?", key=PLACE, on_change="rerun")
    if not place.open:
        return
    with place:
        design = yours.pack.design
        if KINDS[design.kind].information is None:
            panel.draw(sentences_panel([why_not_text(NoLooks.KIND, yours.pack)]))
            return
        complain(*_draw_choice(design.looks if design.looks and design.looks.interim else None))
        panel.draw(looks_panel(yours))


def _draw_choice(looks: Looks | None) -> tuple[str, ...]:
    """Draw which family, how many looks and what else they are given; return what is wrong."""
    key = f"looks_{state.current().version}_{looks}"
    with st.container(horizontal=True, vertical_alignment="bottom", key="looks_choice"):
        families = ["", *LooksFamily]
        st.selectbox(
            "Stopping rule",
            families,
            index=families.index(looks.family if looks else ""),
            format_func=lambda each: FAMILIES[LooksFamily(each)].title if each else _NONE,
            help="; ".join(f"{each.title}: {each.about}" for each in FAMILIES.values()),
            key=f"{key}_family",
            on_change=lambda: _take_family(st.session_state[f"{key}_family"], looks),
        )
        if looks is None:
            return ()
        st.selectbox(
            TITLE,
            range(1, MOST_LOOKS + 1),
            index=looks.interim - 1,
            key=f"{key}_interim",
            on_change=lambda: _take(looks, interim=st.session_state[f"{key}_interim"], shares=()),
        )
        return _draw_shares(looks, f"{key}_shares"), _draw_gamma(looks, f"{key}_gamma")


def _draw_shares(looks: Looks, key: str) -> str:
    """Draw when the looks are; return what is wrong with what was typed."""
    own = ", ".join(f"{share:g}" for share in looks.shares)

    def asked() -> Looks:
        return with_shares(looks, st.session_state.get(key, own))

    def take() -> None:
        with suppress(ValueError):
            _ask(asked())

    st.text_input(
        "When, as shares of n",
        own,
        max_chars=_LONGEST,
        placeholder="Evenly spaced",
        key=key,
        on_change=take,
    )
    try:
        asked()
    except ValueError as error:
        return f"{error}."
    return ""


def _draw_gamma(looks: Looks, key: str) -> str:
    """Draw what spends the level, in the families that have it; return what is wrong with it."""
    usual = FAMILIES[looks.family].usual_gamma
    if usual is None:
        return ""
    field = NumberField(
        "Gamma",
        key,
        usual if looks.gamma is None else looks.gamma,
        take=lambda gamma: _take(looks, gamma=gamma),
        why_not=between("Gamma", (-MOST_GAMMA, MOST_GAMMA)),
        step=0.5,
    )
    field.draw()
    return field.problem


def _take_family(name: str, looks: Looks | None) -> None:
    """Take another family; without one the looks of the study itself, if any, are taken away."""
    if name:
        family = LooksFamily(name)
        _take(looks or Looks(family=family), family=family, gamma=None)
    elif looks is not None:
        of_the_study = state.written().design.looks
        _ask(
            None if of_the_study is None else looks.model_copy(update={"interim": 0, "shares": ()})
        )


def _take(looks: Looks, **changes: object) -> None:
    _ask(looks.model_copy(update=changes))


def _ask(looks: Looks | None) -> None:
    """Let these be the looks; those of the study itself need not be said."""
    said = None if looks == state.written().design.looks else looks
    state.ask(state.case().question.model_copy(update={"looks": said}))
