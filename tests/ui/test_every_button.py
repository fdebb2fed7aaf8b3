"""Every button of every page, pressed once with a study of one's own open in a lab of one's own.

A walk opens parts and presses buttons, new ones too, until it sees no other; then another walk
begins in a fresh session.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, Final, NamedTuple

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest, element_tree

from replicalab import scenarios
from replicalab.library import EntryKind
from replicalab.negotiation import ScientistKind, save
from replicalab.negotiation.case import record_text
from replicalab.ui import own_studies
from replicalab.ui.frame import PAGES as NAVIGATION
from replicalab.ui.library_page import shelf as writer
from replicalab.ui.library_page.shelf import owner, shelf
from replicalab.ui.workspace import TrayCase, Workspace, to_query
from tests.library.making import make_batch
from tests.negotiation.playing import by_rule
from tests.scripted import ScriptedGenerate
from tests.ui.acting import run
from tests.ui.negotiating import BUILD, KEY, URL, answering, proposing
from tests.ui.pages import COMPARE, LIBRARY, NEGOTIATION, PROTOCOL
from tests.ui.reading import drawer_of
from tests.ui.visitors import Browsers
from tests.ui.walking import visit

MINE: Final = scenarios.copy_text("psy_stroop", "my_stroop")
STUDY: Final = scenarios.parse_study(MINE, "my_stroop.yaml")
# Too few people for the study's plan, so that there is something to suggest.
OURS: Final = scenarios.LabOverrides(
    name="Ours",
    staff=2,
    items=(scenarios.OwnItem(label="eye tracker", category="equipment", price=3.0),),
)
# A drawer is kept open until the next run by its key: the harness runs no fragment alone.
DRAWERS: Final = {
    "Your lab": "lab_is_open",
    "Share": "export_is_open",
    "Open a file": "opening_is_open",
}
LISTING: Final = (COMPARE, LIBRARY, PROTOCOL)
KINDS: Final = "library_filter"
BEHIND: Final = "a drawer or a presentation"
_COUNTED: Final = re.compile(r"[0-9a-f]{6,}|\d+")


class Step(NamedTuple):
    place: str
    name: str
    opens: Any = None

    @property
    def once(self) -> tuple[str, ...]:
        return self.place, _COUNTED.sub("", self.name), str(self.opens)


Walk = tuple[Step, ...]
Begin = Callable[[], AppTest]


def place(app: AppTest) -> str:
    names = [node.label for node in app.main if isinstance(node, element_tree.PageLink)]
    visible = [name.strip("*") for name in names if name.startswith("**")]
    return visible[0] if visible else BEHIND


def steps(app: AppTest) -> Iterator[Step]:
    for part, where in ((app.main, place(app)), (drawer_of(app), BEHIND)):
        for node in part:
            yield from (Step(where, *pair) for pair in _doable(node))


def _doable(node: element_tree.Node) -> Iterator[tuple[str, Any]]:
    if isinstance(node, element_tree.Button) and not node.proto.disabled:
        yield node.key or node.label, None
    elif isinstance(node, element_tree.MenuButton) and not node.proto.disabled:
        yield from ((node.key or "", option.partition(": ")[2]) for option in node.options)
    elif isinstance(node, element_tree.Selectbox) and node.key == KINDS:
        yield from ((KINDS, kind) for kind in node.options)
    elif isinstance(node, element_tree.Block) and node.key:
        if node.type in ("expander", "popover"):
            yield node.key, True
        elif node.type == "tab_container":
            tabs = (tab for tab in node.children.values() if isinstance(tab, element_tree.Tab))
            yield from ((node.key, tab.label) for tab in tabs)


def do(app: AppTest, step: Step) -> None:
    behind = step.place == BEHIND and place(app) != BEHIND
    part = drawer_of(app) if behind else app.main
    named = {Step(step.place, *pair).once: node for node in part for pair in _doable(node)}
    assert step.once in named, f"{step} is not there again"
    node = named[step.once]
    for item in drawer_of(app) if behind else ():
        if isinstance(item, element_tree.Block) and item.type == "dialog":
            app.session_state[DRAWERS[item.proto.dialog.title]] = True
    if isinstance(node, element_tree.Button):
        node.click()
    elif isinstance(node, element_tree.MenuButton):
        node.click(step.opens)
    else:
        app.session_state[step.name] = step.opens
    run(app)


@pytest.fixture
def downloads(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], object]]:
    result: list[Callable[[], object]] = []
    made: set[tuple[str, str]] = set()
    draw = st.download_button

    def drawn(label: str, data: Any, *args: Any, **how: Any) -> bool:
        name = label, how.get("file_name", "")
        if callable(data) and name not in made:
            made.add(name)
            result.append(data)
        return draw(label, data, *args, **how)

    monkeypatch.setattr(st, "download_button", drawn)
    return result


@cache
def one_of_each() -> dict[EntryKind, str]:
    work = Workspace().replace(study="my_stroop", own="0" * 32)
    plan = record_text(work.case.replace(own=None, text=MINE))
    pack = scenarios.pack_of(STUDY, scenarios.Difficulty.MEDIUM).with_own(
        OURS, scenarios.EvidenceAssumptions()
    )
    return {
        EntryKind.PLAN: plan,
        EntryKind.LAB: scenarios.lab_json(OURS),
        EntryKind.RUN: save(by_rule(pack, pack.reference_protocol)),
        EntryKind.BATCH: make_batch(1),
    }


@pytest.fixture
def begin(browsers: Browsers, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:

    def visited(page: str, **players: Any) -> AppTest:
        browsers.use()
        monkeypatch.setattr(BUILD, answering(ScriptedGenerate([proposing()] * 40)))
        for name, value in (("BASE_URL", URL), ("MODEL", "m-1"), ("KEY", KEY)):
            monkeypatch.setenv(f"REPLICALAB_LLM_{name}", value)
        assert not own_studies.keep(MINE, STUDY)
        writer.finish()
        question = scenarios.EvidenceAssumptions(dropout=0.1)
        custom = own_studies.key_of("my_stroop")
        work = Workspace().replace(study="my_stroop", own=custom, own_lab=OURS, question=question)
        for kind, content in one_of_each().items() if page in LISTING else ():
            shelf().keep(owner(), kind, kind.capitalize(), content)
        sides = (
            TrayCase(name="A", case=work.case),
            TrayCase(name="B", case=work.case.with_lab("hard", 0)),
        )
        return visit(page, **to_query(work.replace(tray=sides, **players)))

    return visited


def walk_all(begun: Begin, places: set[str], downloads: list[Callable[[], object]]) -> set[Step]:
    # A walk does the steps that it sees first; the next walk goes the shortest way to a missed one.
    done, seen = dict[tuple[str, ...], Step](), dict[tuple[str, ...], Walk]()
    app, walk = begun(), Walk()
    while True:
        for make in downloads:
            assert make()
        downloads.clear()
        here = {item.once: item for item in steps(app) if item.place in places}
        seen |= {once: (*walk, step) for once, step in here.items() if once not in seen}
        if rest := [once for once in here if once not in done]:
            walk = (*walk, here[rest[0]])
            do(app, walk[-1])
        elif rest := [once for once in seen if once not in done]:
            walk = min((seen[once] for once in rest), key=len)
            app = begun()
            for step in walk:
                do(app, step)
        else:
            return set(done.values())
        done[walk[-1].once] = walk[-1]


CASES: Final = (
    *((file, title, {}) for file, title, *_ in NAVIGATION if title != "Negotiation"),
    (NEGOTIATION, "Negotiation", {"scientist": ScientistKind.PERSON}),
)


@pytest.mark.parametrize(
    ("file", "title", "players"),
    [
        pytest.param(
            *case,
            id=(name := "-".join([case[1], *case[2].values()])),
            marks=() if name == "Study" else pytest.mark.long,  # other pages take longer
        )
        for case in CASES
    ],
)
def test_every_button_of_a_page_can_be_pressed(
    begin: Callable[..., AppTest],
    downloads: list[Callable[[], object]],
    file: str,
    title: str,
    players: dict[str, Any],
) -> None:
    places = {title, BEHIND} if file == PROTOCOL else {title}
    done = walk_all(partial(begin, file, **players), places, downloads)
    assert {"save", "Your lab"} <= {step.name for step in done}
