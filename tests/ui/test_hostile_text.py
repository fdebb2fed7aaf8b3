"""Text of strangers on every page: whatever it holds, it is read as text and hides nothing."""

import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Element, Node, Table

from replicalab.characters import hidden
from replicalab.limits import LONGEST_NAME
from replicalab.negotiation import Transcript
from replicalab.scenarios import Study, parse_study
from replicalab.ui import study_page
from replicalab.ui.lab_form.lab_fields import row_key
from replicalab.ui.workspace import TrayCase, Workspace, to_query
from tests import hostile_files
from tests.hostile import (
    ATTACK,
    UNSEEN,
    leaves,
    marked,
    marks,
    read_as_markup,
    refusal,
    text_places,
)
from tests.scenarios.small_study import put
from tests.ui.acting import can_press, labels, open_texts, press, run, type_text
from tests.ui.negotiating import hand_over, model_at_the_table
from tests.ui.pages import COMPARE, LIBRARY, NEGOTIATION, PAGES, PROTOCOL, SCENARIOS, STUDY
from tests.ui.reading import alerts, drawer_of, html_of, panel_of
from tests.ui.walking import at_editor, go, show, unopened, visit

PLAIN: Final = {
    "text": {"body"},
    "panel": {"text", "doi"},
    "code": {"code_text"},
    "multiselect": {"options"},
    "selectbox": {"options", "raw_value"},
}
"""What shows its text as it is, by kind of element: no Markdown is read there."""
TYPED: Final = {
    "text_input": {"default", "value"},
    "text_area": {"default", "value"},
    "multiselect": {"raw_values", "default"},
}


def strings(message: Any) -> Iterator[tuple[str, str]]:
    for field, value in message.ListFields():
        many = value if field.is_repeated else [value]
        for one in many:
            if isinstance(one, str):
                yield field.name, one
            elif hasattr(one, "ListFields"):
                yield from strings(one)


def sent(app: AppTest) -> Iterator[tuple[str, str, str]]:
    for node in (*app.main, *drawer_of(app)):
        if isinstance(node, Table):
            frame = node.value
            for cell in (*frame.columns, *frame.astype(str).to_numpy().flatten()):
                yield "table", "cell", str(cell)
        if html_of(node):
            yield from in_panel(node)
            continue
        proto = getattr(node, "proto", None)
        if proto is not None and isinstance(node, Block | Element):
            for field, text in strings(proto):
                yield node.type, field, text


def in_panel(panel: Node) -> Iterator[tuple[str, str, str]]:
    for part in panel_of(panel).iter():
        yield from (("panel", "text", text) for text in (part.text, part.tail) if text)
        yield from (("panel", "name", name) for name in (part.tag, *part.keys()))
        for name, value in part.attrib.items():
            kind = "doi" if value.startswith("https://doi.org/10.") else "attribute"
            # Labels are read out, or written by the style sheet, as text.
            yield "panel", "text" if name in ("data-label", "aria-label") else kind, value


def leaks(app: AppTest) -> list[str]:
    texts = []
    for kind, field, text in sent(app):
        if not marks(text) or field in TYPED.get(kind, ()):
            continue
        bare = text.replace("\u2068", "").replace("\u2069", "").replace("\u2060", "")
        unseen = hidden(bare.replace("\u200b", ""))
        wrong = [] if field in PLAIN.get(kind, ()) else read_as_markup(text)
        if wrong or unseen or ("\u05d0" in text and "\u2068\u05d0\u2069" not in text):
            texts.append(f"{kind}.{field}: {wrong or 'unseen'} in {text[:300]!r}")
    return texts


def seen(app: AppTest) -> set[int]:
    return set().union(*(marks(text) for _, _, text in sent(app)))


def test_hidden_characters_of_a_study_are_refused() -> None:
    assert set(text_places(Study)) <= {leaf.place for leaf in leaves(hostile_files.full_study())}
    for place, text in hostile_files.hostile_study().refused.items():
        assert place[-1 if place[-1] != "*" else 0] in text
    for leaf in leaves(hostile_files.full_study()):
        if not leaf.is_key:
            data = hostile_files.full_study()
            put(data, leaf.path, f"a\u202e{leaf.text}")
            text = refusal(partial(parse_study, json.dumps(data), "x.yaml"))
            assert "U+202E" in text
            assert str([step for step in leaf.path if isinstance(step, str)][-1]) in text


@pytest.mark.long
def test_hostile_study_is_text_on_every_page() -> None:
    app = at_editor(unopened())
    app.text_area(key="own_text").set_value(hostile_files.hostile_study().text)
    run(app)
    assert not leaks(app)
    press(app, "Use this study")
    numbers: set[int] = set()
    for page in PAGES:
        go(app, page)
        assert not leaks(app), page
        numbers |= seen(app)
    for part in study_page.PARTS:
        show(go(app, STUDY), part, study_page.TABS)
        assert not leaks(app), part
        numbers |= seen(app)
    for label in ("", *app.session_state["state"].analysed.yours.pack.known_items):
        app.session_state["lab_is_open"] = True
        app.session_state[row_key(label)] = True
        assert not leaks(show(app, "Items", "lab_part"))
    walked = hostile_files.hostile_study().marks
    go(app, SCENARIOS)
    opened = app.session_state["state"]
    opened.workspace = opened.workspace.replace(survey=True)
    assert not leaks(run(app))
    assert ("paper", "short_title") in {walked[number] for number in seen(app) & walked.keys()}
    unseen = {walked[number] for number in walked.keys() - numbers}
    goal = next(number for number, place in walked.items() if place[:2] == ("paper", "goal"))
    assert goal in presented(app)
    walls = {"hidden_reference", "policy_rules", "constraints"}
    assert {place[0] for place in unseen} <= walls


def opened(text: str) -> AppTest:
    app = hand_over(visit(NEGOTIATION), text)
    assert not any("cannot be opened" in alert.text for alert in alerts(app)), alerts(app)
    return app


def walk(app: AppTest) -> set[int]:
    numbers: set[int] = set()
    for _ in range(60):
        assert not leaks(app)
        numbers |= seen(app)
        if "Next" not in labels(app) or not can_press(app, "Next"):
            break
        press(app, "Next")
    return numbers | presented(app)


def presented(app: AppTest) -> set[int]:
    numbers = seen(press(app, "Present"))
    assert not leaks(app)
    while can_press(app, "Next"):
        assert not leaks(press(app, "Next"))
        numbers |= seen(app)
    return numbers


@pytest.mark.long
def test_hostile_run_is_text_in_every_round() -> None:
    runs = hostile_files.hostile_run(), hostile_files.hostile_counter()
    result = {leaf.place for text in runs for leaf in leaves(json.loads(text))}
    assert set(text_places(Transcript)) <= result
    assert {*range(240, 245)} <= walk(opened(hostile_files.hostile_counter()))
    numbers = walk(opened(hostile_files.hostile_run()))
    assert {*range(200, 205), *range(210, 217), 218, 220, *range(230, 235)} <= numbers


def test_edited_run_is_text_or_refused() -> None:
    walked = hostile_files.hostile_edit(hostile_files.hostile_run(), 300)
    for place, text in walked.refused.items():
        assert re.match(r"[a-z_]+(\[\d+\])?(\..+)?: .+; ", text, re.DOTALL), (place, text)
    edited, original = json.loads(walked.text), json.loads(hostile_files.hostile_run())
    for move, before in zip(edited["moves"], original["moves"], strict=True):
        move["outputs"] = before["outputs"]  # another action would end it
    walk(opened(json.dumps(edited)))


def test_hostile_key_of_a_file_is_text() -> None:
    app = visit(NEGOTIATION)
    for name in ("![x](//x.test)\u202e", "setup", marked(7)):
        data = json.loads(hostile_files.hostile_run()) | {f"{name}\u202e": marked(8)}
        hand_over(app, json.dumps(data))
        assert any("cannot be opened" in alert.text for alert in alerts(app))
        assert not leaks(app)
        assert not any("![" in text or "\u202e" in text for _, _, text in sent(app))


def test_hostile_plan_and_question_are_text() -> None:
    work = Workspace().replace(plan=hostile_files.hostile_plan(200), scientist="person")
    app = visit(**to_query(work))
    for page in PAGES:
        assert not leaks(go(app, page)), page
    assert {200, 203, 204} <= seen(app) | seen(open_texts(go(app, PROTOCOL)))
    type_text(go(app, NEGOTIATION), "Question to the lab", marked(5, f"{ATTACK}{UNSEEN}"))
    assert not leaks(press(app, "Ask"))
    assert 5 in seen(app)
    assert not leaks(press(app, "Put this plan forward"))
    assert {200, 201, 202, 203, 204} <= seen(app)
    presented(app)


def test_hostile_name_in_comparison_is_text() -> None:
    name, plan = marked(5, ATTACK)[:LONGEST_NAME], hostile_files.hostile_plan(200)
    cases = [TrayCase(name=name, case=Workspace().replace(plan=plan).case)]
    cases.append(TrayCase(name=f"{name[:-2]} 2", case=Workspace().case))
    app = visit(COMPARE, **to_query(Workspace().replace(tray=tuple(cases))))
    assert not leaks(app)
    assert {5, 200, 201, 202, 203, 204} <= seen(app)
    app.session_state["compare_library"] = True
    assert not leaks(run(app))
    press(go(app, LIBRARY), "Save")
    assert not leaks(go(app, PROTOCOL))
    assert 5 in seen(app)


KEYS: Final = (
    "v study lab seed rounds round samples budget days staff scientist manager recording present "
    "survey own more unknown"
).split()


@pytest.mark.parametrize(
    "key", [*(pytest.param(key, marks=pytest.mark.long) for key in KEYS), "all"]
)
def test_hostile_key_of_a_link_is_text(key: str) -> None:
    text = marked(9, f"{ATTACK}{UNSEEN}")
    app = visit(**dict.fromkeys(KEYS if key == "all" else (key,), text))
    for page in PAGES:
        assert not leaks(go(app, page))


def test_hostile_model_is_text_in_its_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = marked(6, f"{ATTACK}{UNSEEN}")
    app, _ = model_at_the_table(monkeypatch, hostile, hostile, hostile)
    type_text(app, "Model", marked(4)[:150])
    press(app, "Run")
    assert not leaks(app)
    assert "Try again" in labels(app)
    assert {4, 6} <= seen(app)


def test_hostile_fault_of_a_study_is_text() -> None:
    data: Any = hostile_files.full_study() | {marked(3): marked(2), "scenario_id": marked(1)}
    app = at_editor(unopened())
    app.text_area(key="own_text").set_value(hostile_files.as_file(data))
    run(app)
    assert not leaks(app)
    assert {1, 3} <= seen(app)
