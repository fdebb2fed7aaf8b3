"""Helpers for the Negotiation page: players, tables, and a scripted model."""

import json
from collections.abc import Callable
from typing import Final

import pytest
from streamlit.testing.v1 import AppTest

from replicalab.facts.negotiation_facts import outcome_verdict
from replicalab.models import Protocol, ScientistActionType, plan_action
from replicalab.negotiation import Negotiation
from replicalab.scenarios import load_scenario
from tests.negotiation.playing import by_rule
from tests.scripted import ScriptedGenerate
from tests.ui.acting import can_press, labels, press, run
from tests.ui.pages import NEGOTIATION
from tests.ui.reading import heard, keyed, panels, plain, texts
from tests.ui.walking import visit

PACK: Final = load_scenario("fin_momentum", "medium")
REFERENCE: Final = PACK.reference_protocol
SIMPLE: Final = {"scientist": "baseline"}
CAPTIONS: Final = {
    "rounds": "The rounds",
    "checked": "The seven dimensions of the plan",
    "table": "The plan on the table after this round",
    "given": "Concessions",
    "forks": "Run and fork, round by round",
}
TOLD: Final = by_rule(PACK, REFERENCE)
BUILD: Final = "replicalab.features.language_model.build_generate_fn"
BACK: Final = "Undo last negotiation"
URL: Final = "http://127.0.0.1:9/v1"
KEY: Final = "canary-key-0123456789"


def shows(app: AppTest, negotiation: Negotiation) -> bool:
    return outcome(app)[1] == outcome_verdict(negotiation).text


def outcome(app: AppTest) -> tuple[str, str]:
    """Go to the last round; return pass, caution or fail, if it has ended, and the sentence."""
    if "Last" in labels(app) and can_press(app, "Last"):
        press(app, "Last")
    elements = (part for panel in panels(app) for part in panel.iter("h2"))
    part = next(element for element in elements if element.get("class", "").startswith("outcome"))
    status = part.get("class", "").removeprefix("outcome").strip()
    return status, heard(part).partition(" ")[2] if status else heard(part)


def seated(app: AppTest, label: str = "Scientist") -> str:
    return str(next(box for box in app.selectbox if box.label == label).value)


def hand_over(app: AppTest, data: str | bytes, name: str = "mine.json") -> AppTest:
    content = data.encode() if isinstance(data, str) else data
    app.file_uploader[-1].set_value((name, content, "application/json"))
    return run(app)


def scrubber(app: AppTest) -> str:
    return next(text for text in texts(keyed(app, "scrubber")) if "Round " in text)


def round_shown(app: AppTest) -> str:
    return scrubber(app).removesuffix(" so far").rpartition(": ")[2]


def rows_in(app: AppTest, key: str) -> list[list[str]]:
    tables = (table for panel in panels(app) for table in panel.iter("table"))
    element = next(item for item in tables if item.findtext("caption") == CAPTIONS[key])
    return [[heard(cell) for cell in row] for row in element.iter("tr")]


def headers(app: AppTest) -> list[str]:
    return [plain(str(header.value)) for header in app.header]


def proposing(plan: Protocol = REFERENCE) -> str:
    return plan_action(ScientistActionType.PROPOSE_PROTOCOL, plan).model_dump_json()


ACCEPTING: Final = json.dumps(
    {name: type(value)() for name, value in json.loads(proposing()).items()}
    | {"action_type": "accept"}
)


def model_at_the_table(
    monkeypatch: pytest.MonkeyPatch, *script: str | Exception, **query: str
) -> tuple[AppTest, ScriptedGenerate]:
    model = ScriptedGenerate(script)
    monkeypatch.setattr(BUILD, answering(model))
    app = visit(NEGOTIATION, scientist="model", **query)
    typed = {"Base URL": URL, "Model": "m-1", "Key": KEY}
    for field in app.text_input:
        if field.label in typed:
            field.set_value(typed[field.label])
    return run(app), model


def answering(model: ScriptedGenerate) -> Callable[..., ScriptedGenerate]:

    def build(*_: object, **__: object) -> ScriptedGenerate:
        return model

    return build
