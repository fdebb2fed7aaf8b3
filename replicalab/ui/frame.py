"""The frame of every page: settings, navigation and header."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import streamlit as st

from replicalab import server
from replicalab.characters import shown
from replicalab.errors import ScenarioError
from replicalab.facts.blocks import Heading, Status
from replicalab.facts.check_facts import header_panel
from replicalab.lexicon import capitalised
from replicalab.planner import PlanAnalysis
from replicalab.render.html import STAGE_STYLE, STYLE
from replicalab.ui import export, lab_form, present, scenarios_page, screen, state, tray
from replicalab.ui.controls import ICONS, button, escape, page_link
from replicalab.ui.library_page import keeping


class Page(NamedTuple):
    """A page of the navigation."""

    path: str
    title: str
    needs_study: bool = False  # without one it draws the choice of a study
    shows_plan: bool = True  # else its header has no verdict on the open plan
    tells_best: bool = False  # it shows the best plan, so a challenge hides it
    is_fragment: bool = False  # an edit draws it without its frame; a press does not interrupt that


_FRONT: Final = Page("app.py", "Scenarios")
_PROTOCOL: Final = Page("pages/1_Protocol.py", "Protocol", needs_study=True, is_fragment=True)
_NEGOTIATION: Final = Page(
    "pages/2_Negotiation.py", "Negotiation", needs_study=True, shows_plan=False, tells_best=True
)
PAGES: Final = (
    _FRONT,
    Page("pages/0_Study.py", "Study", needs_study=True),
    _PROTOCOL,
    _NEGOTIATION,
    Page(
        "pages/3_Trade-offs.py", "Trade-offs", needs_study=True, tells_best=True, is_fragment=True
    ),
    Page(tray.COMPARE_PAGE, "Compare", shows_plan=False, tells_best=True),
    Page("pages/5_Library.py", "Library", shows_plan=False),
)
HIDDEN: Final = "This opens once you have handed in: it would give the answer away."
MORE: Final[dict[str, tuple[str, Callable[[str], None]]]] = {
    "Open a file": ("folder_open", lambda _: export.open_drawer(export.OPENING)),
    "Reset the plan": ("restart_alt", lambda _: state.replace_plan(None)),
}
"""More actions of every page: a symbol, and a function of the page's title."""
_WHOLE_RUN: Final = "whole_run"
_Look = tuple[bool, bool]  # whether slides are shown, and whether a challenge hides the check
_SENT_TITLE: Final = "sent_title"
_TITLE_RUNS: Final = 2  # runs that send the title; the next run may lose it


def page(title: str, draw: Callable[[PlanAnalysis], Any]) -> None:
    """Draw a page, then make the call that ``draw`` may return."""
    [row] = [row for row in PAGES if row.title == title]
    with server.take_turn():
        sent, times = st.session_state.get(_SENT_TITLE, ("", 0))
        times = times if sent == title else 0
        if times < _TITLE_RUNS:
            st.set_page_config(page_title=f"{title} · ReplicaLab", layout="wide")
        _begin()
        presenting, hidden = look = _look()
        # In an element of its own, which edits do not send again.
        screen.draw_styles(STAGE_STYLE if presenting else STYLE)
        links = None if presenting else _draw_navigation(row)
        if row.is_fragment:
            st.session_state[_WHOLE_RUN] = True
            call = _draw_alone(row, draw, links, look)
        else:
            _ask_again_after_a_restart()
            call = _draw_body(row, draw, links)
        if not presenting:
            lab_form.draw_if_open()
        if not presenting and not hidden:
            export.draw_if_open()
        st.session_state[_SENT_TITLE] = (title, min(times + 1, _TITLE_RUNS))
    if call:
        call()


@st.fragment(run_every=24 * 60 * 60)
def _ask_again_after_a_restart() -> None:
    """Draw nothing: a page runs again on reconnecting only if it has a timed fragment."""


@st.fragment(run_every=24 * 60 * 60)
def _draw_alone(row: Page, draw: Callable[[PlanAnalysis], Any], links: Any, look: _Look) -> None:
    """Draw the body as a fragment: an edit in it does not send the navigation again."""
    if st.session_state.pop(_WHOLE_RUN, False):  # which has the turn
        _draw_body(row, draw, links)
        return
    with server.take_turn():
        _begin()
        if _look() != look:
            st.rerun()
        _draw_body(row, draw, links)


def _draw_body(row: Page, draw: Callable[[PlanAnalysis], Any], links: Any) -> Any:
    analysis, (presenting, hidden), call = state.analysis(), _look(), None
    if presenting:
        _draw_problems()
        present.draw(analysis)
    else:
        query = state.address()
        with links:
            for other in PAGES:
                name = f"**{other.title}**" if other == row else other.title
                st.page_link(other.path, label=name, query_params=query)
        _draw_header(analysis, row)
        _draw_problems()
        keeping.draw_offer(state.current().offered)
        keeping.draw(row.title)
        if hidden and row != _PROTOCOL:
            page_link(_PROTOCOL.path, "A challenge is on: to its plan", "emoji_events")
        if row.needs_study and not state.current().chosen:
            scenarios_page.draw_choice(row.title)
        elif hidden and row.tells_best:
            st.info(HIDDEN, icon=":material/lock:")
            button("Leave the challenge", "lock_open", state.leave_challenge)
        else:
            call = draw(analysis)
    state.write_address()
    return call


def _look() -> _Look:
    hidden = state.is_hidden()
    return bool(state.workspace().presenting) and not hidden, hidden


def _begin() -> None:
    if server.must_sign_in():
        st.title("ReplicaLab")
        st.markdown("Sign in to continue. Your saved plans are then yours in any browser.")
        button("Sign in", "login", st.login, key="sign_in", type="primary")
        st.stop()
    try:
        state.begin()
    except ScenarioError as error:
        st.error(
            "There is no study that can be read. Put one into the folder scenarios/ and load "
            "this page again.",
            icon=":material/folder_off:",
        )
        st.text(shown(str(error)))
        st.stop()


def _draw_navigation(row: Page) -> Any:
    """Draw what every edit leaves alone, and return the place of the links."""
    with st.container(horizontal=True, vertical_alignment="center", key="navigation"):
        screen.draw_skip(target=False)
        links = st.container(horizontal=True, key="pages")
        demo = f"{capitalised(server.DEMO_TEXT)}." if server.is_demo() else None
        button("Save", "bookmark_add", keeping.keep, key="save", disabled=bool(demo), help=demo)
        add = partial(tray.keep_and_notify, run=row == _NEGOTIATION)
        button("Compare this", "compare_arrows", add, key="add_to_comparison")
        locked = state.is_hidden()
        help_ = HIDDEN if locked else None
        show = partial(state.update, presenting=1)
        button("Present", "slideshow", show, key="present", disabled=locked, help=help_)
        button("Share", "ios_share", export.open_drawer, key="share", disabled=locked, help=help_)
        button("Your lab", "biotech", lab_form.open_form, type="tertiary")
        actions = MORE | screen.draw_features("more", None)
        if name := server.user_name():
            actions[f"Sign out ({name})"] = "logout", lambda _: st.logout()
        st.menu_button(
            "More",
            list(actions),
            key="more",
            type="tertiary",
            icon=":material/more_horiz:",
            format_func=lambda name: f":material/{actions[name][0]}: {escape(name)}",
            on_click=lambda: actions[st.session_state["more"]][1](row.title),
        )
        screen.draw_skip(target=True)
    return links


def _draw_header(analysis: PlanAnalysis, row: Page) -> None:
    if state.current().chosen:
        # The Scenarios page judges only a visitor's own plan.
        yours = state.case().plan is not None
        quiet = not row.shows_plan or state.is_hidden() or (row == _FRONT and not yours)
        screen.draw(header_panel(analysis.yours, yours=yours, quiet=quiet))
    elif not (row.needs_study or row.shows_plan):
        screen.draw(Heading(row.title, 1))
    story = state.open_story()
    if story is not None and row.title == story.page:
        st.markdown(
            f":material/auto_stories: **Story: {escape(story.title)}.** {escape(story.line)}"
        )


def _draw_problems() -> None:
    if problems := state.current().problems:
        lines = "\n".join(f"- {escape(problem)}" for problem in problems)
        st.warning(f"Not everything could be opened.\n{lines}", icon=":material/link_off:")
        st.button("Dismiss", on_click=problems.clear)
    if state.workspace().presenting or not state.is_too_long():
        return
    back = "a reload here brings it back from your draft"
    if problem := state.current().tab.problem:
        back = f"it could not be saved as a draft either ({escape(problem)})"
    st.warning(
        f"This page is too long for a link: a copied link opens the study alone; {back}. "
        f"Save it to find it by name.",
        icon=ICONS[Status.CAUTION],
    )
