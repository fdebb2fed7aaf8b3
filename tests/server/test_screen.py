"""What is held back of a run: a browser that works as Streamlit's does shows the same without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, NamedTuple

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from replicalab.server.internals import END, read_sent
from replicalab.server.screen import Screen

# --- what a script draws ----------------------------------------------------------------------

Place = tuple[int, ...]
FORMS: Final = ("flex_container", "expandable", "tab_container", "dialog")
PART: Final = "part"


class Element(NamedTuple):
    """An element; one that acts does so each time that it comes, one with a key is a widget."""

    text: str
    acts: bool = False
    key: str = ""


class Block(NamedTuple):
    """A container; all in one that is a part belongs to a fragment."""

    form: str
    label: str
    children: tuple[Element | Block | Twice, ...]
    is_part: bool = False


class Twice(NamedTuple):
    """A place that a script draws twice in a run, as `st.empty` and what is written into it."""

    first: Element | Block
    then: Element | Block


Content = tuple[Element | Block | Twice, ...]


class Run(NamedTuple):
    """A run of a page, or of the part of it, that draws so many messages and then ends."""

    content: Content
    page: str = "one"
    cut: int | None = None
    timers: tuple[str, ...] = ()
    of_part: bool = False


def drawing(
    content: Content, keys: set[str], place: Place = (0,), part: str = "", first: int = 0
) -> Iterator[ForwardMsg]:
    """Yield a message for each thing that is drawn, in the order of the script.

    Streamlit refuses a second widget of the same key, so that one is an element like any other.
    """
    for number, each in enumerate(content, first):
        if isinstance(each, Twice):
            for one in each:
                yield from drawing((one,), keys, place, part, number)
            continue
        message, at = ForwardMsg(), (*place, number)
        within = PART if isinstance(each, Block) and each.is_part else part
        message.metadata.delta_path.extend(at)
        message.delta.fragment_id = within
        if isinstance(each, Element):
            element = each._replace(key="" if each.key in keys else each.key)
            keys.add(each.key)
            message.delta.new_element.text_input.id = element.key
            message.delta.new_element.text_input.label = each.text
            message.delta.new_element.has_one_shot_effect = each.acts
            message.hash = f"{element}{within}"
            yield message
            continue
        block = message.delta.add_block
        getattr(block, each.form).SetInParent()
        block.id = each.label
        message.hash = f"{each.form}{each.label}{within}"
        yield message
        yield from drawing(each.children, keys, at, within)


def part_of(run: Run) -> Content:
    return (Block("flex_container", "part", run.content, is_part=True),)


def messages(run: Run, number: int, part: int) -> list[bytes]:
    """Return what a run says, as Streamlit does; one of the part draws it in its place."""
    begin, end = ForwardMsg(), ForwardMsg()
    begin.new_session.page_script_hash = run.page
    end.script_finished = ForwardMsg.FINISHED_SUCCESSFULLY
    for message in (begin, end):
        message.metadata.run.script_run_id = str(number)
        message.metadata.run.fragment_ids.extend([PART] * run.of_part)
    content, first = (part_of(run), part) if run.of_part else (run.content, 0)
    drawn = list(drawing(content, set(), first=first))
    for timer in run.timers * (not run.of_part):
        message = ForwardMsg(hash=timer)
        message.auto_rerun.fragment_id = timer
        drawn.append(message)
    if run.of_part:
        end.script_finished = ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
    if run.cut is not None and run.cut < len(drawn):
        drawn = drawn[: run.cut]
        end.script_finished = ForwardMsg.FINISHED_EARLY_FOR_RERUN
    return [bytes(each.SerializeToString()) for each in (begin, *drawn, end)]


# --- what a browser shows of it ---------------------------------------------------------------


@dataclass
class Node:
    """What stands in a place: since which run, and of which fragment."""

    form: str
    content: str
    run: str
    part: str = ""
    key: str = ""
    children: list[Node] = field(default_factory=list)
    kept: list[Node] = field(default_factory=list)

    def shown(self) -> object:
        """Return what is seen: widgets that were replaced in this run, too."""
        children, kept = ([each.shown() for each in some] for some in (self.children, self.kept))
        return self.form, self.content, children, kept


@dataclass
class Browser:
    """Streamlit's front end, as far as it takes messages in: what it shows, and has been told."""

    page: str = ""
    run: str = ""
    root: Node = field(default_factory=lambda: Node("", "", ""))
    timers: set[str] = field(default_factory=set)
    acts: list[str] = field(default_factory=list)
    taken: int = 0

    def take(self, data: bytes) -> None:
        message = ForwardMsg.FromString(data)
        self.taken += 1
        match message.WhichOneof("type"):
            case "new_session":
                self.run = message.metadata.run.script_run_id
                if not message.metadata.run.fragment_ids:
                    self.timers.clear()
                if message.new_session.page_script_hash != self.page:
                    self.page = message.new_session.page_script_hash
                    self.root = Node("", "", "")
            case "delta":
                self._draw(message)
            case "auto_rerun":
                self.timers.add(message.auto_rerun.fragment_id)
            case "script_finished":
                finished = {
                    ForwardMsg.FINISHED_SUCCESSFULLY,
                    ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY,
                }
                if message.script_finished in finished:
                    self._clear(self.root, set(message.metadata.run.fragment_ids), within=False)

    def _draw(self, message: ForwardMsg) -> None:
        at, delta = self.root, message.delta
        *above, last = list(message.metadata.delta_path)[1:]
        for number in above:
            at = at.children[number]
        before = at.children[last] if last < len(at.children) else None
        assert last <= len(at.children), "a place that does not follow on the ones before"
        is_block = delta.WhichOneof("type") == "add_block"
        form = (delta.add_block.WhichOneof("type") if is_block else "") or ""
        key = "" if is_block else delta.new_element.text_input.id
        node = Node(form, message.hash, self.run, delta.fragment_id, key)
        is_same = form != "dialog" or (before is not None and before.content == node.content)
        if before is not None and is_block and before.form == form and is_same:
            node.children, node.kept = before.children, before.kept
        at.kept = [each for each in at.kept if each.key != key]
        if before is not None and before.key not in ("", key) and before.run != self.run:
            at.kept.append(before)
        at.children[last:] = [node, *at.children[last + 1 :]]
        if form == "dialog" or delta.new_element.has_one_shot_effect:
            self.acts.append(f"{self.run}: {message.hash}")

    def _clear(self, node: Node, parts: set[str], *, within: bool) -> None:
        """Let go of what the run did not draw: of a part's run only what stands in that part."""
        kept = []
        for each in node.children:
            is_stale = each.run != self.run
            if is_stale and (within or not parts):
                continue
            inner = within or (each.part in parts and not is_stale)
            self._clear(each, parts, within=inner)
            kept.append(each)
        node.children = kept
        if within or not parts:
            node.kept = [each for each in node.kept if each.run == self.run]


# --- the same, whether all leaves or what has changed -----------------------------------------


def played(runs: Sequence[Run]) -> tuple[Browser, Browser]:
    """Return a browser that got everything and one that got what has changed, equal throughout."""
    everything, changes, screen, part = Browser(), Browser(), Screen(), -1
    for number, run in enumerate(runs):
        if run.of_part and part < 0:
            continue
        if not run.of_part:
            is_there = run.cut is None and any(
                isinstance(e, Block) and e.is_part for e in run.content
            )
            part = len(run.content) - 1 if is_there else -1
        for data in messages(
            run._replace(page=run.page if not run.of_part else everything.page), number, part
        ):
            everything.take(data)
            for left in screen.changes(data, read_sent(data)):
                changes.take(left)
        assert changes.root.shown() == everything.root.shown(), runs[: number + 1]
        assert changes.timers == everything.timers
        assert changes.acts == everything.acts
    return everything, changes


def any_part(random: Random, depth: int = 0) -> Element | Block | Twice:
    if random.random() < 0.1:
        return Twice(any_thing(random, depth), any_thing(random, depth))
    return any_thing(random, depth)


def any_thing(random: Random, depth: int) -> Element | Block:
    if depth > 2 or random.random() < 0.6:
        key = random.choice(("", "", "k", "l"))
        return Element(random.choice("abc"), acts=random.random() < 0.1, key=key)
    return Block(random.choice(FORMS), random.choice("ab"), any_content(random, depth + 1))


def any_content(random: Random, depth: int = 0) -> Content:
    return tuple(any_part(random, depth) for _ in range(random.randrange(4)))


def edited(content: Content, random: Random, depth: int = 0) -> Content:
    """Return what a script draws after an edit: one thing is another, gone, new or changed."""
    if not content:
        return any_content(random, depth)
    number = random.randrange(len(content))
    before, at, after = content[:number], content[number], content[number + 1 :]
    match random.randrange(5):
        case 0:
            return (*before, *after)
        case 1:
            return (*before, any_part(random, depth), at, *after)
        case 2 if isinstance(at, Block):
            form, label = random.choice(FORMS), random.choice("ab")
            return (*before, at._replace(form=form, label=label), *after)
        case 3 | 4 if isinstance(at, Block):
            return (*before, at._replace(children=edited(at.children, random, depth + 1)), *after)
    return (*before, any_part(random, depth), *after)


def any_runs(random: Random) -> Iterator[Run]:
    """Yield runs, most of which draw what the one before drew but for an edit or two."""
    timers: tuple[str, ...] = ()
    content, page, cuts = any_content(random), "one", random.random() < 0.3
    for _ in range(random.randrange(2, 9)):
        for _ in range(random.choice((0, 1, 1, 2))):
            content = edited(content, random)
        timers = random.choice((timers, timers, timers, ("t",), ("t", "u")))
        page = random.choice((page, page, page, page, "two"))
        whole = content
        if random.random() < 0.3:
            whole = (*content, Block("flex_container", "part", content, is_part=True))
        cut = random.randrange(8) if cuts and random.random() < 0.3 else None
        yield Run(whole, page, cut, timers)
        if random.random() < 0.2:
            yield Run(edited(content, random), cut=cut, of_part=True)


@pytest.mark.parametrize("start", range(10))
def test_browser_shows_the_same_whatever_is_held_back(start: int) -> None:
    less = 0
    for seed in range(start * SEEDS, (start + 1) * SEEDS):
        everything, changes = played(list(any_runs(Random(seed))))
        assert changes.taken <= everything.taken
        less += everything.taken - changes.taken
    assert less > SEEDS, "something is held back"


SEEDS: Final = 200


def sent_of(run: Run, screen: Screen) -> list[str]:
    """Return what leaves of a run, by its kinds."""
    left = [each for data in messages(run, 0, 0) for each in screen.changes(data, read_sent(data))]
    return [ForwardMsg.FromString(each).WhichOneof("type") or "" for each in left]


def test_run_that_draws_the_same_leaves_without_it() -> None:
    screen, page = Screen(), Run((Element("a"), Element("b", acts=True)), timers=("t",))
    assert sent_of(page, screen) == ["new_session", "delta", "delta", "auto_rerun", END]
    again = ["new_session", "delta", "auto_rerun", END]
    assert sent_of(page, screen) == again, "what acts comes each time, and so do timers"
    assert len(sent_of(page._replace(page="two"), screen)) == 5, "another page"


def test_what_passes_is_sent_each_time_and_what_it_covered_too() -> None:
    screen, page = Screen(), Run((Element("a"), Element("b")))
    sent_of(page, screen)
    passing = ForwardMsg(hash="spinner")
    passing.metadata.delta_path.extend([0, 1])
    passing.delta.new_transient.elements.add().spinner.text = "Making the PDF"
    data = bytes(passing.SerializeToString())
    begin, *drawn, end = messages(page, 0, 0)
    for _ in range(2):
        left = [screen.changes(each, read_sent(each)) for each in (begin, *drawn, data, end)]
        assert [len(each) for each in left][-2:] == [1, 3 - len(left[2])]
    assert sent_of(page, screen) == ["new_session", "delta", "delta", END]


def test_widget_that_takes_another_s_place_is_followed_by_all_once() -> None:
    screen, first, second = Screen(), Element("a", key="k"), Element("a", key="l")
    sent_of(Run((first, Element("b"))), screen)
    page = Run((second, Element("b")))
    assert sent_of(page, screen) == ["new_session", "delta", "delta", END]
    assert sent_of(page, screen) == ["new_session", END]


def test_place_that_is_drawn_twice_shows_the_second() -> None:
    empty, answer = Element(""), Element("2 is not allowed")
    page = (Twice(empty, empty), Element("b"), Element("c"))
    told = (Twice(empty, answer), Element("b"))
    everything, _ = played([Run(page), Run(told), Run(told), Run(page)])
    assert everything.root.children[0].children == []
    first, changes = played([Run(page), Run(told)])
    assert first.root.children[0].content == changes.root.children[0].content == f"{answer}"


@pytest.mark.parametrize("acts", [False, True])
def test_what_only_names_its_content_is_known_by_it(acts: bool) -> None:
    screen, page = Screen(), Run((Element("a", acts, key="k"), Element("b")))
    sent_of(page, screen)
    begin, first, *rest = messages(page, 0, 0)
    named = ForwardMsg(ref_hash=ForwardMsg.FromString(first).hash)
    named.metadata.delta_path.extend([0, 0])
    data = bytes(named.SerializeToString())
    left = [screen.changes(each, read_sent(each)) for each in (begin, data, *rest)]
    assert [len(each) for each in left] == [1, int(acts), 0, 1]
    assert sent_of(page, screen) == ["new_session", *["delta"] * acts, END]


def test_interrupted_run_leaves_what_it_has_changed() -> None:
    screen, page = Screen(), Run((Element("a"), Element("b"), Element("c")))
    sent_of(page, screen)
    page = Run((Element("a"), Element("d"), Element("c")), cut=2)
    assert sent_of(page, screen) == ["new_session", "delta", END]
    assert sent_of(page._replace(cut=None), screen) == ["new_session", END]


def test_run_that_names_no_page_leaves_as_it_comes() -> None:
    screen = Screen()
    for data in messages(Run((Element("a"),)), 0, 0) * 2:
        assert screen.changes(data, read_sent(data)._replace(page="")) == [data]


def test_what_has_no_hash_is_sent_each_time() -> None:
    screen, page = Screen(), Run((Element("a"),))
    for data in messages(page, 0, 0) * 2:
        message = ForwardMsg.FromString(data)
        message.hash = ""
        bare = bytes(message.SerializeToString())
        assert len(screen.changes(bare, read_sent(bare))) == 1
