"""The frame of every page: settings, navigation and header."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

import streamlit as st

from replicalab import server
from replicalab.characters import shown
from replicalab.errors import ScenarioError
from replicalab.facts.blocks import Heading, Status
from replicalab.facts.check import header_panel
from replicalab.lexicon import capitalised
from replicalab.planner import PlanAnalysis
from replicalab.render.html import STAGE_STYLE, STYLE
from replicalab.ui import export, lab, panel, present, scenarios, state, tray
from replicalab.ui.controls import button, page_link
from replicalab.ui.library import keeping
from replicalab.ui.words import ICONS, escaped

PAGES: Final = (
    ("app.py", "Scenarios"),
    ("pages/0_Study.py", "Study"),
    ("pages/1_Protocol.py", "Protocol"),
    ("pages/2_Negotiation.py", "Negotiation"),
    ("pages/3_Trade-offs.py", "Trade-offs"),
    (tray.PAGE, "Compare"),
    ("pages/5_Library.py", "Library"),
)
_NEED_STUDY: Final = {"Study", "Protocol", "Negotiation", "Trade-offs"}
_WITHOUT_PLAN: Final = {"Negotiation", "Compare", "Library"}  # they do not show the open plan
_HIDDEN: Final = {"Negotiation", "Trade-offs", "Compare"}  # they would show the best plan
HIDDEN: Final = "This opens once you have handed in: it would give the answer away."
MORE: Final[dict[str, tuple[str, Callable[[str], None]]]] = {
    "Open a file": ("folder_open", lambda _: export.open_opening()),
    "Reset the plan": ("restart_alt", lambda _: state.replace_plan(None)),
}
"""More actions of every page: a symbol, and a function of the page's title."""
_SENT_TITLE: Final = "sent_title"
_TITLE_RUNS: Final = 2  # runs that send the title; the next run may lose it


@contextmanager
def page(title: str) -> Iterator[PlanAnalysis]:
    """Set up a page, draw its header, yield its analysis, and write the address last."""
    with server.take_turn():
        sent, times = st.session_state.get(_SENT_TITLE, ("", 0))
        times = times if sent == title else 0
        if times < _TITLE_RUNS:
            st.set_page_config(page_title=f"{title} · ReplicaLab", layout="wide")
        _begin()
        analysis, hidden = state.analysis(), state.is_hidden()
        presenting = bool(state.workspace().presenting) and not hidden
        # In an element of its own, which edits do not send again.
        panel.draw_styles(STAGE_STYLE if presenting else STYLE)
        if not presenting:
            _draw_navigation(title)
            _draw_header(analysis, title)
        _draw_problems()
        if not presenting:
            keeping.draw_offer(state.current().offered)
            keeping.draw(title)
        _ask_again_after_a_restart()
        if presenting:
            present.draw(analysis)
            _finish(title, times)
            st.stop()
        lab.draw_if_open()
        if not hidden:
            export.draw_if_open()
        if hidden and title != "Protocol":
            page_link("pages/1_Protocol.py", "A challenge is on: to its plan", "emoji_events")
        needs_study = title in _NEED_STUDY and not state.current().chosen
        if needs_study:
            scenarios.draw_choice(title)
        gated = hidden and title in _HIDDEN
        if gated and not needs_study:
            st.info(HIDDEN, icon=":material/lock:")
            button("Leave the challenge", "lock_open", state.leave_challenge)
        if needs_study or gated:
            _finish(title, times)
            st.stop()
        yield analysis
        _finish(title, times)


def _finish(title: str, times: int) -> None:
    state.write_address()
    st.session_state[_SENT_TITLE] = (title, min(times + 1, _TITLE_RUNS))


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


@st.fragment(run_every=24 * 60 * 60)
def _ask_again_after_a_restart() -> None:
    """Draw nothing: a page runs again on reconnecting only if it has a timed fragment."""


def _draw_navigation(title: str) -> None:
    query = state.address()
    with st.container(horizontal=True, vertical_alignment="center", key="navigation"):
        panel.draw_skip(target=False)
        for file, label in PAGES:
            name = f"**{label}**" if label == title else label
            st.page_link(file, label=name, query_params=query)
        demo = f"{capitalised(server.DEMO_TEXT)}." if server.is_demo() else None
        button("Save", "bookmark_add", keeping.keep, key="save", disabled=bool(demo), help=demo)
        add = partial(tray.keep_and_notify, run=title == "Negotiation")
        button("Compare this", "compare_arrows", add, key="add_to_comparison")
        locked = state.is_hidden()
        help_ = HIDDEN if locked else None
        show = partial(state.update, presenting=1)
        button("Present", "slideshow", show, key="present", disabled=locked, help=help_)
        button("Share", "ios_share", export.open_drawer, key="share", disabled=locked, help=help_)
        button("Your lab", "biotech", lab.open_form, type="tertiary")
        actions = MORE | panel.draw_features("more", None)
        if name := server.user_name():
            actions[f"Sign out ({name})"] = "logout", lambda _: st.logout()
        st.menu_button(
            "More",
            list(actions),
            key="more",
            type="tertiary",
            icon=":material/more_horiz:",
            format_func=lambda name: f":material/{actions[name][0]}: {escaped(name)}",
            on_click=lambda: actions[st.session_state["more"]][1](title),
        )
        panel.draw_skip(target=True)


def _draw_header(analysis: PlanAnalysis, title: str) -> None:
    if state.current().chosen:
        # The front door judges only a visitor's own plan; a negotiation has its own verdict.
        yours = state.case().plan is not None
        quiet = title in _WITHOUT_PLAN or state.is_hidden() or (title == "Scenarios" and not yours)
        panel.draw(header_panel(analysis.yours, yours=yours, quiet=quiet))
    elif title not in _NEED_STUDY and title != "Scenarios":
        panel.draw(Heading(title, 1))
    story = state.open_story()
    if story is not None and title.lower() == story.page:
        st.markdown(
            f":material/auto_stories: **Story: {escaped(story.title)}.** {escaped(story.line)}"
        )


def _draw_problems() -> None:
    if problems := state.current().problems:
        lines = "\n".join(f"- {escaped(problem)}" for problem in problems)
        st.warning(f"Not everything could be opened.\n{lines}", icon=":material/link_off:")
        st.button("Dismiss", on_click=problems.clear)
    if state.workspace().presenting or not state.is_too_long():
        return
    back = "a reload here brings it back from your draft"
    if problem := state.current().tab.problem:
        back = f"it could not be saved as a draft either ({escaped(problem)})"
    st.warning(
        f"This page is too long for a link: a copied link opens the study alone; {back}. "
        f"Save it to find it by name.",
        icon=ICONS[Status.CAUTION],
    )
