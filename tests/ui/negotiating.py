"""What the tests of the Negotiation page share: seat the players, read its tables, play a model."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block, Table

from replicalab.models import Protocol, ScientistAction, ScientistActionType, plan_action
from replicalab.scenarios import load_scenario
from tests.scripted import ScriptedGenerate
from tests.ui.reading import NEGOTIATION, keyed, plain, run, texts, type_text, visit

REFERENCE: Final = load_scenario("fin_momentum").reference_protocol
MODEL: Final = "replicalab.ui.negotiation.model_view.build_generate_fn"
URL: Final = "http://127.0.0.1:9/v1"
KEY: Final = "canary-key-0123456789"


def seat(app: AppTest, label: str, value: str) -> AppTest:
    """Choose a player, or a recorded run, and return the app."""
    next(box for box in app.selectbox if box.label == label).set_value(value)
    return run(app)


def seated(app: AppTest, label: str = "Scientist") -> str:
    """Return who is chosen."""
    return str(next(box for box in app.selectbox if box.label == label).value)


def options(app: AppTest, label: str) -> list[str]:
    """Return who may be chosen."""
    return list(next(box for box in app.selectbox if box.label == label).options)


def round_shown(app: AppTest) -> str:
    """Return where the scrubber stands: ``Round 2 of 5``."""
    return next(text for text in texts(keyed(app, "scrubber")) if text.startswith("Round "))


def rows_in(app: AppTest, key: str, number: int = 0) -> list[list[str]]:
    """Return the rows of a table in the container of that key, as read, its header first."""
    block: Block = keyed(app, key)
    tables = [node for node in block if isinstance(node, Table)]
    frame = tables[number].value
    rows = [[str(name) for name in frame.columns], *frame.astype(str).to_numpy().tolist()]
    return [[plain(cell) for cell in row] for row in rows]


def matrix(app: AppTest) -> list[list[str]]:
    """Return the seven dimensions by round."""
    return rows_in(app, "matrix")


def labels(app: AppTest) -> list[str]:
    """Return the labels of the page's buttons, from top to bottom."""
    return [button.label for button in app.button]


# --- a model ---


def proposing(plan: Protocol = REFERENCE) -> str:
    """Return what a model says that puts a plan forward."""
    return plan_action(ScientistActionType.PROPOSE_PROTOCOL, plan).model_dump_json()


def saying(**fields: object) -> str:
    """Return what a model says, field by field."""
    empty = dict.fromkeys(("technique", "rationale"), "")
    numbers = {"sample_size": 0, "duration_days": 0}
    lists: dict[str, object] = {
        name: [] for name in ScientistAction.model_fields if name not in {*empty, *numbers}
    }
    return json.dumps({**lists, **empty, **numbers, **fields})


ACCEPTING: Final = saying(action_type="accept")


def model_at_the_table(
    monkeypatch: pytest.MonkeyPatch, *script: str | Exception, **query: str
) -> tuple[AppTest, ScriptedGenerate]:
    """Return the page with a model set that says what the script says, and the model."""
    model = ScriptedGenerate(script)
    monkeypatch.setattr(MODEL, answering(model))
    app = visit(NEGOTIATION, scientist="model", **query)
    for label, text in (("Base URL", URL), ("Model", "m-1"), ("Key", KEY)):
        type_text(app, label, text)
    return app, model


def answering(model: ScriptedGenerate) -> Callable[..., ScriptedGenerate]:
    """Return a stand-in for `build_generate_fn`."""

    def build(*_: object, **__: object) -> ScriptedGenerate:
        return model

    return build
