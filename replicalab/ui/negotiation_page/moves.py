"""A person's moves, and forks: another plan in a past round, next to the original."""

from contextlib import AbstractContextManager
from functools import partial
from itertools import zip_longest
from typing import Final, NamedTuple

import streamlit as st

from replicalab import assessment, lexicon, limits, planner
from replicalab import negotiation as core
from replicalab.facts.negotiation_facts import outcome_verdict
from replicalab.facts.round_facts import forks_panel, outcome_panel
from replicalab.models import ACCEPT_ACTION, ScientistAction
from replicalab.negotiation import LabManagerKind, Negotiation, Reply
from replicalab.ui import editor, notices, screen, state, tray
from replicalab.ui.controls import button, choice_callback, escape
from replicalab.ui.negotiation_page import sessions
from replicalab.ui.negotiation_page.sessions import Fork, RunSession

_RUN: Final = "The run"
_MOST_FORKS: Final = 8  # the latest ones stay
_COURSE: Final = "course_choice"


def draw_move(session: RunSession, place: str = "table") -> None:
    """Draw a person's next move: accept, walk away, put a plan forward, ask or answer."""
    negotiation = session.negotiation
    if negotiation.ending is not None:
        setup = negotiation.setup
        if setup.scientist in core.AUTOMATIC and setup.lab_manager is not LabManagerKind.PERSON:
            return
        with st.container(horizontal=True, key=f"{place}_after_the_end"):
            _draw_undo(session, place)
            if place == "table" and not session.source:
                button("Start again", "replay", sessions.start_again)
        return
    if negotiation.awaits_reply:
        _draw_answer(session, place)
        return
    st.header("Your move")
    if negotiation.state.plan is None:
        st.caption("The fields start from the plan of the Protocol page.")
    now, number = negotiation.state, len(negotiation.rounds)
    label = "Accept the offer" if now.offer else "Accept the plan"
    accept, leave = (partial(_act, session, number, action) for action in (ACCEPT_ACTION, None))
    with st.container(horizontal=True, key=f"{place}_ways_out"):
        button(label, "handshake", accept, key=f"{place}_accept", disabled=now.plan is None)
        button("Walk away", "logout", leave, key=f"{place}_leave")
        _draw_undo(session, place)
    form = _form_of(f"{place}_{now.round_number}", negotiation, now.offer or now.plan)
    title = "Or propose another plan" if now.plan else "Your plan"

    def send() -> None:
        if plan := form.read():
            _act(session, number, core.put_forward(session.negotiation.state_before(number), plan))

    with _draw_form(form, negotiation, title):
        button("Put this plan forward", "send", send, type="primary", key=f"{place}_send")
        _draw_question(session, place, form.key("question"))


def _draw_answer(session: RunSession, place: str) -> None:
    negotiation = session.negotiation
    at, plan = len(negotiation.rounds) - 1, negotiation.state.plan
    if plan is None:
        return
    st.header("Your answer")
    fails = f"{lexicon.capitalised(plan.fails_text)}." if plan.failing else None
    with st.container(horizontal=True, key=f"{place}_answers"):
        accept = partial(sessions.answer, session, at, Reply(accepts=True))
        button("Accept", "handshake", accept, disabled=bool(fails), help=fails)
        button("Reject", "block", partial(sessions.answer, session, at, Reply()))
        _draw_undo(session, place)
    form = _form_of(f"{place}_answer_{at}", negotiation, planner.PlanAnalysis(plan).offered)

    def send() -> None:
        if plan := form.read():  # as typed by now
            sessions.answer(session, at, Reply(counter=plan))

    with _draw_form(form, negotiation, "Or offer another plan"):
        counter = form.read()
        fits = counter is not None and plan.revised(counter).feasible
        if fits:
            after = core.play_on(core.reply_to(negotiation, Reply(counter=counter)))
            if after.ending is core.Ending.SCIENTIST_ACCEPTED:
                st.caption("**The Scientist accepts this plan: the negotiation ends.**")
        key, why = f"{place}_counter", None if fits else "The lab must be able to run it."
        button(
            "Send this offer", "send", send, type="primary", key=key, disabled=not fits, help=why
        )


def _form_of(
    name: str, negotiation: Negotiation, start: assessment.Assessment | None
) -> editor.PlanForm:
    plan = start.plan if start else state.plan()
    # Typed values stay in a form of the same name, so each negotiation has its own.
    identity = hash((negotiation.setup.model_dump_json(), plan.model_dump_json()))
    return editor.PlanForm(f"{name}_{identity:x}", plan, term=negotiation.pack.study.term)


def _draw_form(
    form: editor.PlanForm, negotiation: Negotiation, title: str
) -> AbstractContextManager[object]:
    fields, preview = st.columns([3, 2], gap="large")
    with fields:
        st.markdown(f"**{title}**")
        editor.draw_fields(form, negotiation.pack)
    with preview:
        st.markdown("**Preview**")
        editor.draw_preview(form, negotiation.pack)
    return preview


def _draw_undo(session: RunSession, place: str) -> None:
    negotiation = session.negotiation
    forked, last = negotiation.setup.forked_at, len(negotiation.rounds) - 1
    if negotiation.setup.lab_manager is LabManagerKind.PERSON:
        answered = [done.number for done in negotiation.rounds if done.reply]
        last = answered[-1] if answered else -1
    undo, first = partial(sessions.back_to, session, last), 0 if forked is None else forked + 1
    button("Undo last round", "undo", undo, key=f"{place}_undo", disabled=last < first)


def _draw_question(session: RunSession, place: str, key: str) -> None:
    hint, length = "Which instruments are free, and from which day?", limits.LONGEST_QUESTION
    st.text_input("Question to the lab", key=key, max_chars=length, placeholder=hint)
    number, limit = len(session.negotiation.rounds), session.negotiation.setup.max_rounds
    with st.container(horizontal=True, vertical_alignment="center", key=f"{place}_asking"):
        button("Ask", "help", partial(_ask, session, number, key), key=f"{place}_ask")
        rounds = lexicon.count_text(limit - number - 1, "round")
        st.caption(f"A question uses this round; {rounds} left.", width="content")
    notices.draw(key)


def _ask(session: RunSession, number: int, key: str) -> None:
    if text := st.session_state[key].strip():
        _act(session, number, core.ask_lab(text))
    else:
        notices.leave_problem("Type a question.", key, "edit_off")


def _act(session: RunSession, number: int, action: ScientistAction | None) -> None:
    # The turn keeps the failed answer of the model that the person acts for.
    outputs = session.failure.outputs if session.failure and session.acting else ()
    sessions.play(session, number, core.Turn(action=action, outputs=outputs))


def draw_fork_button(session: RunSession) -> None:
    if _forking(session) is None:
        at = sessions.shown_round(session.negotiation)
        then = f"Put another plan forward in round {at + 1}, and compare the rounds after it."
        ask_plan = partial(setattr, sessions.table(), "forking", (session, at))
        button("Fork here", "call_split", ask_plan, help=then)


def _forking(origin: RunSession) -> int | None:
    session, at = sessions.table().forking or (None, 0)
    return at if session is origin and at < len(origin.negotiation.rounds) else None


def draw_fork(session: RunSession) -> None:
    """Draw the open form for a fork, and the fork on show next to its origin."""
    if (at := _forking(session)) is not None:
        negotiation = session.negotiation
        form = _form_of(f"fork_{at}", negotiation, negotiation.rounds[at].plan)

        def go_on() -> None:
            plan = form.read()
            if plan is not None and not sessions.is_full():
                now = sessions.table()
                run = RunSession(core.fork(session.negotiation, at, plan))
                now.shown_fork, now.forking = Fork(session, at, run), None
                now.forks = [*now.forks[1 - _MOST_FORKS :], now.shown_fork]
                state.update(round_number=at)

        with st.container(border=True, key="forking"):
            st.header(f"Fork in round {at + 1}")
            preview = _draw_form(form, negotiation, "Plan of that round")
            with preview, st.container(horizontal=True, key="forking_buttons"):
                button("Continue from here", "call_split", go_on, type="primary")
                st.button("Cancel", on_click=setattr, args=(sessions.table(), "forking", None))
    if (fork := fork_of(session)) is not None:
        _draw_next_to_origin(fork)


def fork_of(session: RunSession) -> Fork | None:
    fork = sessions.table().shown_fork
    return fork if fork is not None and fork.origin is session else None


class _Course(NamedTuple):
    """A run in the tree of forks; ``fork`` is None for the root."""

    name: str
    depth: int
    run: RunSession
    fork: Fork | None


def _tree(session: RunSession) -> list[_Course]:
    forks, root = sessions.table().forks, session
    parents = {id(item.run): item.origin for item in forks}
    while (parent := parents.get(id(root))) is not None:
        root = parent
    courses = [_Course(_RUN, 0, root, None)]

    def add_forks(origin: RunSession, depth: int) -> None:
        for fork in forks:
            if fork.origin is origin:
                name = f"Fork {len(courses)} in round {fork.at + 1}"
                courses.append(_Course(name, depth, fork.run, fork))
                add_forks(fork.run, depth + 1)

    add_forks(root, 1)
    return courses


def name_of(run: RunSession) -> str:
    return next(course.name for course in _tree(run) if course.run is run)


def draw_courses(origin: RunSession) -> None:
    """Draw the run and its forks as a tree with outcomes; a click shows one."""
    tree = _tree(origin)
    if len(tree) < 2:
        return
    on_show = fork_of(origin)
    session = on_show.run if on_show else origin
    st.session_state[_COURSE] = next(n for n, course in enumerate(tree) if course.run is session)

    def name_in_tree(at: int) -> str:
        """Return a line such as ``└─ Fork 1 in round 2: agreed, power 0.57``."""
        name, depth, run, _ = tree[at]
        stem = f"└{'─' * (2 * depth - 1)} " if depth else ""
        plan = run.negotiation.final_plan
        evidence = f", {plan.evidence.text}" if plan else ""
        return escape(f"{stem}{name}: {run.verdict.title.lower()}{evidence}")

    with st.container(horizontal=True, vertical_alignment="bottom", key="courses"):
        places = range(len(tree))
        show = choice_callback(
            _COURSE, places, lambda: _choose(origin, tree[st.session_state[_COURSE]])
        )
        st.radio("Run and forks", places, format_func=name_in_tree, key=_COURSE, on_change=show)
        cases = [(course.name, sessions.with_moves(course.run.negotiation)) for course in tree]
        candidates = [tray.TrayCandidate(name, case, run=True) for name, case in cases if case]
        if len(candidates) > 1 and st.button("Compare them", icon=":material/compare_arrows:"):
            tray.keep_only(candidates)
            st.switch_page(tray.COMPARE_PAGE, query_params=state.address())


def _choose(session: RunSession, course: _Course) -> None:
    # A fork of the run on show is drawn next to it, any other course in its place.
    fork = course.fork
    if fork is None or fork.origin is not session:
        if course.run is not session:
            sessions.show(course.run, sessions.last_round(course.run.negotiation), whole=True)
        fork = None
    sessions.table().shown_fork = fork


def _draw_next_to_origin(fork: Fork) -> None:
    original, other = fork.origin.negotiation, fork.run.negotiation
    names = name_of(fork.origin), name_of(fork.run)
    st.header(f"{names[0]} and {names[1].lower()}")
    outcomes = [
        outcome_panel(outcome_verdict(negotiation), name, is_open=negotiation.outcome is None)
        for name, negotiation in zip(names, (original, other), strict=True)
    ]
    pairs = list(zip_longest(original.rounds, other.rounds))[fork.at :]
    screen.draw(*outcomes, forks_panel(pairs, fork.at + 1, names))

    def keep() -> None:
        session, sessions.table().shown_fork = fork.run, None
        if sessions.with_moves(other) is None:
            session.source = f"The fork from round {fork.at + 1}"
            sessions.open_run(session, state.workspace())
        sessions.show(session, min(fork.at, sessions.last_round(other)), whole=True)

    with st.container(horizontal=True, key="fork_buttons"):
        hint = "It replaces the run. Undo brings the run back."
        button("Continue with this fork", "check", keep, help=hint)
        button("Drop this fork", "delete", drop_fork)
        draw_using(other, "fork_use")
    draw_move(fork.run, "fork")


def draw_using(negotiation: Negotiation, key: str) -> None:
    final = negotiation.final_plan
    if final is None or negotiation.outcome is None:
        return
    used = st.button(
        "Use this plan",
        icon=":material/check:",
        type="primary",
        disabled=final.plan == state.plan(),
        help="Opens it on the Protocol page. Undo brings yours back.",
        key=key,
    )
    if used:
        state.replace_plan(final.plan)
        st.switch_page("pages/1_Protocol.py", query_params=state.address())


def drop_fork() -> None:
    now = sessions.table()
    now.forks = [fork for fork in now.forks if fork is not now.shown_fork]
    now.shown_fork = None
