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
from replicalab.planner import PlanAnalysis
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
_FRONT_DOOR: Final = "Scenarios"
_NEGOTIATION: Final = "Negotiation"
_NEED_STUDY: Final = {"Study", "Protocol", _NEGOTIATION, "Trade-offs"}
_WITHOUT_PLAN: Final = {_NEGOTIATION, "Compare", "Library"}  # they do not show the open plan
_PROTOCOL: Final = "Protocol"
_HIDDEN: Final = (_NEGOTIATION, "Trade-offs", "Compare")  # they would show the best plan
HIDDEN: Final = "This opens once you have handed in: it would give the answer away."
MORE: Final[dict[str, tuple[str, Callable[[str], None]]]] = {
    "Present": ("slideshow", lambda _: present.open_first()),
    "Open a file": ("folder_open", lambda _: export.open_opening()),
    "Reset the plan": ("restart_alt", lambda _: state.replace_plan(None)),
}
"""Further actions of every page: a symbol, and a function of the page's title."""
_MORE: Final = "more"
_SENT_TITLE: Final = "sent_title"
_TITLE_RUNS: Final = 2  # runs that send the title; the next run may lose what one sent
_A_DAY: Final = 24 * 60 * 60


@contextmanager
def page(title: str) -> Iterator[PlanAnalysis]:
    """Set up a page, draw its header, yield its analysis, and write the address last.

    A presentation replaces the page, its header and its navigation.
    """
    with server.take_turn():
        sent, times = st.session_state.get(_SENT_TITLE, ("", 0))
        times = times if sent == title else 0
        if times < _TITLE_RUNS:
            st.set_page_config(page_title=f"{title} · ReplicaLab", layout="wide")
        _begin()
        analysis, hidden = state.analysis(), state.is_hidden()
        presenting = bool(state.workspace().presenting) and not hidden
        panel.draw_style(presenting=presenting)
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
        if hidden and title != _PROTOCOL:
            page_link("pages/1_Protocol.py", "A challenge is on: to its plan", "emoji_events")
        needs_study = title in _NEED_STUDY and not state.is_chosen()
        if needs_study:
            scenarios.draw_choice(title)
        if needs_study or _draw_gate(title):
            _finish(title, times)
            st.stop()
        yield analysis
        _finish(title, times)


def _draw_gate(title: str) -> bool:
    """Draw why a page is hidden, and return whether it is."""
    if not state.is_hidden() or title not in _HIDDEN:
        return False
    st.info(HIDDEN, icon=":material/lock:")
    button("Leave the challenge", "lock_open", state.leave_challenge)
    return True


def _finish(title: str, times: int) -> None:
    """Write the address and count the run."""
    state.write_address()
    st.session_state[_SENT_TITLE] = (title, min(times + 1, _TITLE_RUNS))


def _begin() -> None:
    if server.must_sign_in():
        draw_sign_in()
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


@st.fragment(run_every=_A_DAY)
def _ask_again_after_a_restart() -> None:
    """Draw nothing: only a page with a timed fragment runs again when it reconnects."""


def _draw_navigation(title: str) -> None:
    """Draw links to all pages, and the actions of every page."""
    query = state.address()
    with st.container(horizontal=True, vertical_alignment="center", key="navigation"):
        panel.draw_skip_link()
        for file, label in PAGES:
            name = f"**{label}**" if label == title else label
            st.page_link(file, label=name, query_params=query)
        button("Save", "bookmark_add", keeping.keep, key="save")
        beside = partial(tray.keep_and_notify, run=title == _NEGOTIATION)
        button("Add to comparison", "compare_arrows", beside, key="add_to_comparison")
        locked = state.is_hidden()
        help_ = HIDDEN if locked else None
        button("Share", "ios_share", export.open_drawer, key="share", disabled=locked, help=help_)
        button("Your lab", "biotech", lab.open_form, type="tertiary")
        record = MORE | panel.draw_features("more", None) | sign_out_entry()
        st.menu_button(
            "More",
            list(record),
            key=_MORE,
            type="tertiary",
            icon=":material/more_horiz:",
            format_func=lambda name: f":material/{record[name][0]}: {escaped(name)}",
            on_click=lambda: record[st.session_state[_MORE]][1](title),
        )
        panel.draw_skip_target()


def _draw_header(analysis: PlanAnalysis, title: str) -> None:
    """Draw the open study, its verdict and the open story."""
    if state.is_chosen():
        # The front door judges only a visitor's own plan; a negotiation has its own verdict.
        quiet = title in _WITHOUT_PLAN or state.is_hidden()
        yours = state.case().plan is not None
        quiet = quiet or (title == _FRONT_DOOR and not yours)
        panel.draw(header_panel(analysis.yours, yours=yours, quiet=quiet))
    elif title not in _NEED_STUDY and title != _FRONT_DOOR:
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


def draw_sign_in() -> None:
    """Draw the sign-in button in place of a page."""
    st.title("ReplicaLab")
    st.markdown("Sign in to continue. What you save is then yours in any browser.")
    button("Sign in", "login", st.login, key="sign_in", type="primary")


def sign_out_entry() -> dict[str, tuple[str, Callable[[str], None]]]:
    """Return the menu entry that signs out, if somebody signed in."""
    name = server.user_name()
    return {f"Sign out ({name})": ("logout", lambda _: st.logout())} if name else {}
