"""The Scenarios page: stories, gallery, survey of your lab, and a form."""

import secrets
from collections.abc import Callable, Hashable
from contextlib import suppress
from functools import lru_cache, partial
from typing import Final, NamedTuple

import streamlit as st

from replicalab import characters, errors, models, planner, scenarios
from replicalab.facts import blocks, study_facts
from replicalab.lexicon import count_text, label_key
from replicalab.ui import own_studies, screen, state, study_form, study_page, workspace
from replicalab.ui.controls import button, escape
from replicalab.ui.scenarios_page import survey_list

ALL_STUDIES: Final = "All studies"
MAKE: Final = study_form.MAKE
TABS: Final = study_form.PAGE_TABS
_PAGES: Final = {"Protocol": "pages/1_Protocol.py", "Negotiation": "pages/2_Negotiation.py"}
_IDEA: Final = "Plan a replication in the lab you have, and see what every cut costs in evidence."
_PAGE_SIZE: Final = 12
_ANY: Final = "any"
# For a page that needs a study: easy to explain, and from three fields.
_FIRST: Final = ("psy_stroop", "bio_jq1_myeloma", "ml_resnet_cifar10")
_NO_FILTER: Final = {
    "filter_text": "", "filter_domain": _ANY, "filter_binds": _ANY, "filter_lab": _ANY
}  # fmt: skip


def draw() -> None:
    request = state.workspace().survey  # the address opens and leaves the survey
    if request != (st.session_state.get(TABS) == survey_list.IN_YOUR_LAB):
        st.session_state[TABS] = survey_list.IN_YOUR_LAB if request else ALL_STUDIES
    if st.session_state.get(TABS, ALL_STUDIES) == ALL_STUDIES:
        _draw_idea()
    names = [ALL_STUDIES, survey_list.IN_YOUR_LAB, MAKE]
    studies, lab, yours = st.tabs(
        names,
        key=TABS,
        on_change=lambda: state.update(survey=st.session_state[TABS] == survey_list.IN_YOUR_LAB),
    )
    if yours.open:
        with yours:
            study_form.draw()
    elif lab.open:
        with lab:
            survey_list.draw()
    else:
        with studies:
            _draw_gallery()


class ShownLabs(NamedTuple):
    """The labs of a card: the study's three at a seed, and the visitor's if it differs."""

    seed: int = 0
    level: scenarios.Difficulty = scenarios.Difficulty.MEDIUM  # the lab that ``own`` changes
    own: str = "{}"  # the changes as JSON, which can be hashed


class Card(NamedTuple):
    """A study at a glance: the reference protocol in each lab, by the lab's name."""

    summary: scenarios.ScenarioSummary
    labs: dict[str, planner.PlanAnalysis]
    own: own_studies.OwnStudy | None = None  # None for a shipped study


class Filter(NamedTuple):
    """A search; ``binds`` is the binding limit of the reference protocol, in ``lab`` or any."""

    text: str = ""
    domain: str = _ANY
    binds: str = _ANY
    lab: str = _ANY


_AS_WRITTEN: Final = ShownLabs()


def cards(labs: ShownLabs = _AS_WRITTEN) -> list[Card]:
    """Return a card per shipped study; cached until a file changes."""
    return list(_cards(scenarios.shelf_fingerprint(), labs))


@lru_cache(maxsize=4)
def _cards(_fingerprint: Hashable, labs: ShownLabs) -> tuple[Card, ...]:
    return tuple(
        Card(about, _analyses(partial(scenarios.load_scenario, about.scenario_id), labs))
        for about in scenarios.list_scenarios()
    )


def _analyses(
    pack_in: Callable[[scenarios.Difficulty, int], scenarios.Pack], labs: ShownLabs
) -> dict[str, planner.PlanAnalysis]:
    packs = {level.capitalize(): pack_in(level, labs.seed) for level in scenarios.Difficulty}
    if labs.own != _AS_WRITTEN.own:
        own_lab = scenarios.LabOverrides.model_validate_json(labs.own)
        written = packs[labs.level.capitalize()]
        packs["Yours"] = written.with_own(own_lab, scenarios.EvidenceAssumptions())
    return {name: study_page.reference_options(pack) for name, pack in packs.items()}


def matches(card: Card, wanted: Filter) -> bool:
    """Return whether a card matches a filter; a search needs every word."""
    about, paper = card.summary, card.summary.paper
    labs = [lab for lab in card.labs.values() if wanted.lab in (_ANY, lab.yours.pack.difficulty)]
    domain = about.domain_id.replace("_", " ")
    texts = (paper.name, paper.title, paper.citation, paper.goal, paper.teaches)
    searched = label_key(" ".join((about.scenario_id, domain, *texts, about.design.unit_of_n)))
    return (
        wanted.domain in (_ANY, about.domain_id)
        and (wanted.binds == _ANY or any(wanted.binds == lab.binding for lab in labs))
        and all(word in searched for word in label_key(wanted.text).split())
    )


def _draw_idea() -> None:
    # The page's heading until the header has one.
    heading = 2 if state.current().chosen else 1
    slides = blocks.Heading("Stories as slides", heading + 1, part=True)
    screen.draw(blocks.Group((blocks.panel("idea", sentence=_IDEA, level=heading), slides)))
    # A broken study takes its stories along; the gallery names it.
    with st.grid("auto", min_column_width=270, key="stories"), suppress(errors.ScenarioError):
        for number, story in enumerate(workspace.stories()):
            with suppress(errors.ScenarioError):
                plan = story.workspace.case.assess(own_studies.find)
                _draw_story(story, planner.PlanAnalysis(plan), first=number == 0)
    with st.container(border=True, key="plan_here", horizontal=True, vertical_alignment="center"):
        button("Plan in your lab", "biotech", partial(state.update, survey=True), key="plan")
        st.caption("The best plan of every study for your budget, days and staff.", width="content")
        icon, hint = ":material/casino:", "Opens a random study in its easy or medium lab."
        if st.button("Surprise me", key="surprise", icon=icon, type="tertiary", help=hint):
            level = secrets.choice([scenarios.Difficulty.EASY, scenarios.Difficulty.MEDIUM])
            _open(secrets.choice(_all_cards()), level)
            study_page.go_there()


def _draw_story(story: workspace.Story, analysis: planner.PlanAnalysis, *, first: bool) -> None:
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
            state.open_workspace(story.workspace.replace(tray=tray))
            state.current().story = story
            st.switch_page(_PAGES[story.page], query_params=state.address())
        screen.draw(study_facts.picture_panel(analysis))


def _all_cards() -> list[Card]:
    case = state.case()
    labs = ShownLabs(case.seed, case.lab, case.own_lab.model_dump_json(exclude_defaults=True))
    extra = (
        Card(brought.study, _analyses(partial(scenarios.pack_of, brought.study), labs), brought)
        for brought in own_studies.readable_studies(case.own)
    )
    return [*extra, *cards(labs)]


def draw_choice(page: str) -> None:
    """Offer three studies on a page that needs one."""
    shelf = {card.summary.scenario_id: card for card in cards()}
    first = [shelf[name] for name in _FIRST if name in shelf] or [*shelf.values()][:3]
    screen.draw(blocks.Group((blocks.Heading(f"{page}: choose a study", 1),)))
    with st.grid("auto", min_column_width=270, key="choice"):
        for card in first:
            _draw_card(card, on_click=partial(_open, card))
    st.page_link("app.py", label="All studies", query_params=state.address())


def _draw_gallery() -> None:
    every = _all_cards()
    wanted = _draw_filters(every)
    fitting = [card for card in every if matches(card, wanted)]
    if fitting:
        seed = state.case().seed
        screen.draw(blocks.panel("legend", number=len(fitting), of=len(every), seed=seed))
    else:
        text = f'No study matches "{escape(wanted.text)}".' if wanted.text else "No study matches."
        st.caption(text)
        clear = partial(st.session_state.update, _NO_FILTER)
        button("Clear search", "filter_alt_off", clear)
    pages = -(-len(fitting) // _PAGE_SIZE)  # rounded up
    page = st.pagination(pages, key="gallery_page") if pages > 1 else 1
    with st.grid("auto", min_column_width=270, key="gallery"):
        for card in fitting[(page - 1) * _PAGE_SIZE : page * _PAGE_SIZE]:
            _draw_card(card)
    for error in scenarios.broken_scenarios():
        with st.expander(f"Unreadable file: {escape(error.source)}"):
            for fault in error.faults:
                st.text(characters.shown(str(fault)))
            if error.more:
                st.text(f"and {count_text(error.more, 'fault', 'more')}")


def _draw_filters(cards: list[Card]) -> Filter:
    domains = sorted({card.summary.domain_id for card in cards})
    search, choices = st.columns([3, 1], vertical_alignment="bottom")
    hint = "Title, author, goal…"
    text = search.text_input("Search", key="filter_text", max_chars=200, placeholder=hint)
    with choices.popover("Filter", icon=":material/filter_alt:", width="stretch"):
        domain = st.selectbox(
            "Field", [_ANY, *domains], key="filter_domain", format_func=study_facts.field_name
        )
        binds = st.selectbox(
            "Binding constraint",
            [_ANY, *models.LAB_DIMENSIONS],
            key="filter_binds",
            format_func=str.capitalize,
            help="Without this limit the reference protocol would gain most.",
        )
        levels = [_ANY, *scenarios.Difficulty]
        lab = st.selectbox("In the lab", levels, key="filter_lab", format_func=str.capitalize)
    return Filter(text, domain, binds, lab)


def _remove(own: own_studies.OwnStudy) -> None:
    study_form.edit(own)  # the form keeps its text
    own_studies.remove(own.study.scenario_id)
    if state.case().own == own.key:
        state.open_workspace(workspace.Workspace())


_BUTTONS: Final = (
    (True, "edit", "Edit", "edit", study_form.edit),
    (True, "remove", "Remove", "delete", _remove),
    (False, "copy", "Copy into the form", "edit_document", study_form.edit),
)
"""The buttons of a visitor's study: for its owner or for a reader, key, label, icon, action."""


def _draw_card(card: Card, on_click: Callable[[], None] | None = None) -> None:
    summary, brought = card.summary, card.own
    is_mine = brought is not None and own_studies.is_mine(brought)
    hidden = state.is_hidden() and summary.scenario_id == state.case().study
    place = summary.scenario_id if brought is None or is_mine else f"shared_{brought.key}"
    with st.container(border=True, key=f"card_{place}", height="stretch", gap=None):
        if st.button(
            f"**{escape(summary.paper.name)}**",
            key=f"open_{place}",
            icon=":material/arrow_forward:",
            icon_position="right",
            type="tertiary",
            on_click=on_click,
        ):
            _open(card)
            study_page.go_there()
        labs, origin = {} if hidden else card.labs, own_studies.origin(brought)
        screen.draw(study_facts.card_panel(summary, labs, origin, hidden=hidden))
        if brought is not None:
            with st.container(horizontal=True):
                for is_owners, key, label, icon, pressed in _BUTTONS:
                    if is_owners == is_mine:
                        button(label, icon, partial(pressed, brought), key=f"{key}_{place}")


def _open(card: Card, lab: scenarios.Difficulty = scenarios.Difficulty.MEDIUM) -> None:
    # If it is open there already, its plan stays.
    study_id, own_key = card.summary.scenario_id, card.own and card.own.key
    if state.current().chosen and state.case().where == (study_id, lab.value, 0, own_key):
        return
    state.open_study(study_id, own_key, lab)
