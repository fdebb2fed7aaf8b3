"""The front door's upper part, and the gallery: filters, and a card for each study."""

import secrets
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

import streamlit as st

from replicalab.characters import shown
from replicalab.errors import ScenarioError
from replicalab.facts.blocks import Group, Heading
from replicalab.facts.study import card_panel, field_name, idea_panel, legend_panel, picture_panel
from replicalab.lexicon import count_text
from replicalab.models import LAB_DIMENSIONS
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import Difficulty, broken_scenarios
from replicalab.ui import challenge, own_studies, panel, state, study, study_form
from replicalab.ui.cards import Card, Filter, ShownLabs, cards, matching, own_card
from replicalab.ui.controls import button
from replicalab.ui.stories import Story, StoryPage, stories
from replicalab.ui.study_cache import OwnStudy
from replicalab.ui.words import escaped
from replicalab.ui.workspace import Workspace

ALL_STUDIES: Final = "All studies"
MAKE: Final = study_form.MAKE
TABS: Final = study_form.DOOR
_PAGE_OF_STORY: Final = {
    StoryPage.PROTOCOL: "pages/1_Protocol.py",
    StoryPage.NEGOTIATION: "pages/2_Negotiation.py",
}
_WHAT_THIS_IS: Final = (
    "Plan a replication in the lab you have, and see what every cut costs in evidence."
)
_CARDS_A_PAGE: Final = 12
_ANY: Final = "any"
# Offered on a page that needs a study: of three fields, and easy to explain.
_FIRST: Final = ("psy_stroop", "bio_jq1_myeloma", "ml_resnet_cifar10")
_FILTERS: Final = ("filter_text", "filter_domain", "filter_binds", "filter_lab")


def draw_idea() -> None:
    """Draw what this is, the stories with a picture each, and the way in for those who plan."""
    try:
        found = stories()
    except ScenarioError:
        found = []  # the gallery names the broken file; the stories that need it are left out
    level = 2 if state.is_chosen() else 1  # the page's heading until the header has one
    panel.draw(idea_panel(_WHAT_THIS_IS, level=level))
    with st.grid("auto", min_column_width=270, key="stories"):
        for number, (story, options) in enumerate(_judged(found)):
            _draw_story(story, options, first=number == 0)
    with st.container(border=True, key="plan_here", horizontal=True, vertical_alignment="center"):
        button("Plan in your lab", "biotech", _plan_here, key="plan")
        st.caption("The best plan of every study for your budget, days and staff.", width="content")
        if st.button(
            "Surprise me",
            key="surprise",
            icon=":material/casino:",
            type="tertiary",
            help="A study in its easy or medium lab.",
        ):
            _open_a_surprise()
            study.go_there()


def _plan_here() -> None:
    state.show(survey=True)


def _judged(found: list[Story]) -> list[tuple[Story, PlanAnalysis]]:
    """Return each story whose study can be read, with the plan in which it begins."""
    judged = []
    for story in found:
        with suppress(ScenarioError):
            plan = story.workspace.case.assessed(own_studies.find)
            judged.append((story, PlanAnalysis(plan)))
    return judged


def _draw_story(story: Story, options: PlanAnalysis, *, first: bool) -> None:
    with st.container(border=True, key=f"story_{story.key}", height="stretch"):
        if st.button(
            story.title,
            key=story.key,
            icon=":material/play_circle:",
            type="primary" if first else "secondary",
            width="stretch",
            help=story.line,
        ):
            tray = state.workspace().tray
            state.open_workspace(story.workspace.changed(tray=tray))
            state.current().story = story
            st.switch_page(_PAGE_OF_STORY[story.page], query_params=state.address())
        panel.draw(picture_panel(options))


def _open_a_surprise() -> None:
    card = secrets.choice(_all_cards())
    _open(card, secrets.choice([Difficulty.EASY, Difficulty.MEDIUM]))


def _all_cards() -> list[Card]:
    case = state.case()
    labs = ShownLabs(case.seed, case.lab, case.own_lab.model_dump_json(exclude_defaults=True))
    brought = own_studies.readable(case.own)
    return [*(own_card(study, labs) for study in brought), *cards(labs)]


def draw_choice(page: str) -> None:
    """Draw three studies to choose from, on a page that needs one."""
    shelf = {card.summary.scenario_id: card for card in cards()}
    first = [shelf[name] for name in _FIRST if name in shelf] or [*shelf.values()][:3]
    panel.draw(Group((Heading(f"{page}: choose a study", 1),)))
    with st.grid("auto", min_column_width=270, key="choice"):
        for card in first:
            _draw_card(card, on_click=partial(_open, card))
    st.page_link("app.py", label="All studies", query_params=state.address())


def draw_gallery() -> None:
    """Draw the filters and the cards that fit them, and say which files could not be read."""
    found = _all_cards()
    wanted = _draw_filters(found)
    fitting = matching(found, wanted)
    if fitting:
        panel.draw(legend_panel(len(fitting), len(found), state.case().seed))
    else:
        text = f'No study matches "{escaped(wanted.text)}".' if wanted.text else "No study matches."
        st.caption(text)
        button("Clear search", "filter_alt_off", _take_filters_away)
    pages = -(-len(fitting) // _CARDS_A_PAGE)  # rounded up
    page = st.pagination(pages, key="gallery_page") if pages > 1 else 1
    with st.grid("auto", min_column_width=270, key="gallery"):
        for card in fitting[(page - 1) * _CARDS_A_PAGE : page * _CARDS_A_PAGE]:
            _draw_card(card)
    _draw_broken_files()


def _draw_filters(found: list[Card]) -> Filter:
    domains = sorted({card.summary.domain_id for card in found})
    of_text, of_domain, of_binds, of_lab = _FILTERS
    search, more = st.columns([3, 1], vertical_alignment="bottom")
    text = search.text_input(
        "Search", key=of_text, max_chars=200, placeholder="Title, author, goal…"
    )
    with more.popover("Filter", icon=":material/filter_alt:", width="stretch"):
        domain = st.selectbox("Field", [_ANY, *domains], key=of_domain, format_func=field_name)
        binds = st.selectbox(
            "Binding constraint",
            [_ANY, *LAB_DIMENSIONS],
            key=of_binds,
            format_func=str.capitalize,
            help="The limit whose relief would buy the reference protocol most.",
        )
        lab = st.selectbox(
            "In the lab", [_ANY, *Difficulty], key=of_lab, format_func=str.capitalize
        )
    return Filter(
        text,
        None if domain == _ANY else domain,
        next((d for d in LAB_DIMENSIONS if d == binds), None),
        next((level for level in Difficulty if level == lab), None),
    )


def _take_filters_away() -> None:
    for key in _FILTERS:
        st.session_state[key] = "" if key == _FILTERS[0] else _ANY


def _take_away(own: OwnStudy) -> None:
    """Forget one of the visitor's studies; it goes into the form, so nothing is lost."""
    study_form.edit(own)
    own_studies.remove(own.study.scenario_id)
    if state.case().own == own.key:
        state.open_workspace(Workspace())


_OWN_BUTTONS: Final = (
    ("Edit", ":material/edit:", study_form.edit),
    ("Remove", ":material/delete:", _take_away),
)
_SHARED_BUTTONS: Final = (("Copy it into the form", ":material/edit_document:", study_form.edit),)


def _draw_card(card: Card, on_click: Callable[[], None] | None = None) -> None:
    """Draw a card, whose button opens the study here or, without a callback, on its page."""
    summary = card.summary
    key = card.own.key if card.own else None
    is_mine = card.own is not None and own_studies.is_mine(card.own)
    hidden = challenge.hides(summary.scenario_id)
    place = summary.scenario_id if is_mine or key is None else f"shared_{key}"
    origin = own_studies.origin(card.own) if card.own else ""
    with st.container(border=True, key=f"card_{place}", height="stretch", gap=None):
        if st.button(
            f"**{escaped(summary.paper.name)}**",
            key=f"open_{place}",
            icon=":material/arrow_forward:",
            icon_position="right",
            type="tertiary",
            on_click=on_click,
        ):
            _open(card)
            study.go_there()
        panel.draw(card_panel(summary, {} if hidden else card.labs, origin, hidden=hidden))
        if card.own:
            with st.container(horizontal=True):
                for label, icon, pressed in _OWN_BUTTONS if is_mine else _SHARED_BUTTONS:
                    st.button(
                        label,
                        key=f"{label.split()[0].lower()}_{place}",
                        icon=icon,
                        on_click=pressed,
                        args=(card.own,),
                    )


def _open(card: Card, lab: Difficulty = Difficulty.MEDIUM) -> None:
    """Open a study in one of its labs as written; one that is open there keeps its plan."""
    study_id, own = card.summary.scenario_id, card.own and card.own.key
    if state.is_chosen() and state.case().where == (study_id, lab.value, 0, own):
        return
    state.open_study(study_id, own, lab)


def _draw_broken_files() -> None:
    for error in broken_scenarios():
        with st.expander(f"A study file could not be read: {escaped(error.source)}"):
            for fault in error.faults:
                st.text(shown(str(fault)))
            if error.more:
                st.text(f"and {count_text(error.more, 'fault', 'more')}")
