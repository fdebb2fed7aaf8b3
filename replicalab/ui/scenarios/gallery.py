"""The gallery: filters, a card per study, three stories for a demo, and a surprise."""

from __future__ import annotations

import secrets
from functools import partial
from typing import Final

import streamlit as st

from replicalab.characters import shown
from replicalab.errors import ScenarioError
from replicalab.lexicon import count_text
from replicalab.models import DIMENSIONS, LAB_DIMENSIONS
from replicalab.scenarios import Difficulty, broken_scenarios
from replicalab.ui import own_studies, state
from replicalab.ui.controls import button
from replicalab.ui.gallery import Card, Filter, cards, lab_line, matching, own_card
from replicalab.ui.scenarios import own
from replicalab.ui.stories import StoryPage, stories
from replicalab.ui.words import escaped
from replicalab.ui.workspace import Workspace

_PAGE_OF_STORY: Final = {
    StoryPage.PROTOCOL: "pages/1_Protocol.py",
    StoryPage.NEGOTIATION: "pages/2_Negotiation.py",
}
_CARDS_A_PAGE: Final = 12
_SEEDS: Final = 1000
_ANY: Final = "any"
_DOMAINS: Final = {"finance_trading": "Finance"}
_OWN_BUTTONS: Final = (
    ("Edit", ":material/edit:", own.edit),
    ("Remove", ":material/delete:", own.take_away),
)
_SHARED_BUTTONS: Final = (("Copy it into the editor", ":material/edit_document:", own.edit),)


def draw_stories() -> None:
    """Draw the three stories and the surprise, each one click: the title is the button."""
    try:
        found = stories()
    except ScenarioError:
        found = []  # the gallery names the broken file; the stories that need it are left out
    with st.grid("auto", min_column_width=240, key="stories"):
        for story in found:
            with st.container(gap="xsmall"):
                title = f"**{story.title}**"
                if st.button(title, key=story.key, icon=":material/play_circle:", width="stretch"):
                    state.open_workspace(story.workspace)
                    state.current().story = story
                    st.switch_page(_PAGE_OF_STORY[story.page], query_params=state.address())
                st.caption(story.line)
        with st.container(gap="xsmall"):
            button("**Surprise me**", "casino", _open_a_surprise, key="surprise", width="stretch")
            st.caption("Any study, in any of its labs, under any seed.")


def _open_a_surprise() -> None:
    card = secrets.choice(_all_cards())
    state.open_workspace(
        Workspace(
            scenario_id=card.summary.scenario_id,
            own=card.own and card.own.key,
            difficulty=secrets.choice(list(Difficulty)),
            seed=secrets.randbelow(_SEEDS),
        )
    )


def _all_cards() -> list[Card]:
    shared = own_studies.shared(state.workspace().own)
    brought = [*([shared] if shared else []), *own_studies.kept().values()]
    return [*map(own_card, brought), *cards()]


def draw_gallery() -> None:
    """Draw the filters and the cards that fit them, and say which files could not be read."""
    found = _all_cards()
    fitting = matching(found, _draw_filters(found))
    st.caption(
        f"{len(fitting)} of {len(found)} studies. Per lab: which of the {len(DIMENSIONS)} checks "
        "the reference protocol fails there, and how the Lab Manager answers."
    )
    if not fitting:
        st.info("No study fits. Take a filter away.", icon=":material/filter_alt_off:")
    pages = -(-len(fitting) // _CARDS_A_PAGE)
    page = st.pagination(pages, key="gallery_page") if pages > 1 else 1
    with st.grid("auto", min_column_width=270, key="gallery"):
        for card in fitting[(page - 1) * _CARDS_A_PAGE : page * _CARDS_A_PAGE]:
            _draw_card(card)
    _draw_broken_files()


def _draw_filters(found: list[Card]) -> Filter:
    domains = sorted({card.summary.domain_id for card in found})
    with st.grid(4, min_column_width=150, key="filters"):
        text = st.text_input(
            "Search", key="filter_text", max_chars=200, placeholder="Title, author, goal…"
        )
        domain = st.selectbox(
            "Domain", [_ANY, *domains], key="filter_domain", format_func=_domain_label
        )
        binds = st.selectbox(
            "What binds",
            [_ANY, *LAB_DIMENSIONS],
            key="filter_binds",
            format_func=str.capitalize,
            help="The limit whose relief would buy the reference protocol most.",
        )
        lab = st.selectbox(
            "In the lab", [_ANY, *Difficulty], key="filter_lab", format_func=str.capitalize
        )
    return Filter(
        text,
        None if domain == _ANY else domain,
        next((d for d in LAB_DIMENSIONS if d == binds), None),
        next((level for level in Difficulty if level == lab), None),
    )


def _draw_card(card: Card) -> None:
    summary, work = card.summary, state.workspace()
    key = card.own.key if card.own else None
    is_mine = key is not None and key == own_studies.key_of(summary.scenario_id)
    place = summary.scenario_id if is_mine or key is None else f"shared_{key}"
    is_open = (summary.scenario_id, key) == (work.scenario_id, work.own)
    with st.container(border=True, key=f"card_{place}", height="stretch"):
        origin = " · contested" if summary.contested else ""
        if card.own:
            origin = " · yours" if is_mine else " · shared with you, to read"
        st.caption(f"{escaped(_domain_label(summary.domain_id))}{origin}")
        st.markdown(f"**{escaped(summary.title)}**  \n{escaped(summary.teaches)}")
        st.markdown("  \n".join(lab_line(lab) for lab in card.labs))
        with st.container(horizontal=True):
            button(
                "This one is open" if is_open else "Open",
                "visibility" if is_open else "folder_open",
                partial(_open, summary.scenario_id, summary.title, key),
                key=f"open_{place}",
                disabled=is_open,
            )
            if card.own:
                for label, icon, pressed in _OWN_BUTTONS if is_mine else _SHARED_BUTTONS:
                    st.button(
                        label,
                        key=f"{label.split()[0].lower()}_{place}",
                        icon=icon,
                        on_click=pressed,
                        args=(card.own,),
                    )


def _domain_label(domain_id: str) -> str:
    return _DOMAINS.get(domain_id, domain_id.replace("_", " ").capitalize())


def _open(scenario_id: str, title: str, key: str | None) -> None:
    """Open a study and say so: on a phone what happens to it is far above the card."""
    work = state.workspace()
    if (scenario_id, key) != (work.scenario_id, work.own):  # it may be pressed twice
        state.open_study(scenario_id, key)
    st.toast(f"{escaped(title)} is open, above the studies.", icon=":material/visibility:")


def _draw_broken_files() -> None:
    for error in broken_scenarios():
        with st.expander(f"A study file could not be read: {escaped(error.source)}"):
            for fault in error.faults:
                st.text(shown(str(fault)))
            if error.more:
                st.text(f"and {count_text(error.more, 'fault', 'more')}")
