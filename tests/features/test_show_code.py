"""Share, Code: the commands and the Python give the numbers of the page."""

import json
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Element

from replicalab import api
from replicalab.cli import main
from replicalab.features.show_code import CodeSide, compare_command, compare_python
from replicalab.negotiation import ScientistKind
from replicalab.ui.export import TABS
from replicalab.ui.workspace import Workspace, to_query
from tests.ui.acting import press
from tests.ui.conftest import browsers
from tests.ui.pages import COMPARE, PROTOCOL, TRADE_OFFS
from tests.ui.reading import drawer_of, in_drawer, page_text
from tests.ui.test_compare_page import row
from tests.ui.test_export import STROOP, Files, files
from tests.ui.test_own_study import using
from tests.ui.walking import go, visit

__all__ = ["browsers", "files"]
RATIONALE = 'Because "it\'s"\nénough \u202e$(x).'
PLAN = {"sample_size": 33, "controls": ["x, y's"], "rationale": RATIONALE}
SCOPE = {"label": "Scope", "category": "equipment", "state": "booked", "until": 4}
CASE = {
    "study": "psy_stroop", "lab": "hard", "seed": 3,
    "plan": {**STROOP.reference_protocol.model_dump(mode="json"), **PLAN},
    "own_lab": {
        "name": "12", "budget": 900, "start_date": "2026-12-07",
        "rates": {"per_sample": 3.5}, "items": [SCOPE],
    },
    "question": {"alpha": 0.01, "units": {"name": "tank", "samples": 4.0}},
}  # fmt: skip


class Code(NamedTuple):
    """The shown commands and codes, in their order."""

    commands: list[str]
    python: list[str]


def shown(app: AppTest, page: str) -> Code:
    app.session_state[TABS] = "Code"
    press(go(app, page), "Share")
    codes = [item for item in drawer_of(app) if isinstance(item, Element) and item.type == "code"]
    of_language: dict[str, list[str]] = {code.proto.language: [] for code in codes}
    for code in codes:
        of_language[code.proto.language].append(str(code.value))
    lines = [line for text in of_language["bash"] for line in text.splitlines()]
    return Code(lines, of_language["python"])


def answer(line: str, capsys: pytest.CaptureFixture[str]) -> Any:
    words = shlex.split(line)
    assert words[0] == "replicalab"
    capsys.readouterr()
    assert main([*words[1:], "--json"]) in {0, 1}
    return json.loads(capsys.readouterr().out)


def names_of(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(code, names)  # noqa: S102 - it is shown for this
    return names


def test_code_gives_the_numbers_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    work = Workspace.model_validate({"case": CASE})
    wanted = work.case.assess()
    app = visit(PROTOCOL, **to_query(work))
    assert f"{wanted.cost:,.2f}" in page_text(app)
    for page in (PROTOCOL, TRADE_OFFS):
        (check, plan), [python] = shown(app, page)
        assert check.isprintable(), "no hidden character"
        assert answer(check, capsys)["plan"] == wanted.plan.model_dump(mode="json")
        for data in (answer(check, capsys), answer(plan, capsys)):
            assert (data["cost"], data["failing"]) == (wanted.cost, [*wanted.failing])
            assert data["evidence"]["value"] == wanted.evidence.value
        names = names_of(python)
        assert (names["plan"].plan, names["plan"].cost) == (wanted.plan, wanted.cost)
        assert names["plan"].evidence == wanted.evidence
        best = api.least_loss(names["plan"]).after
        assert best.cost == answer(plan, capsys)["least_loss"]["cost"]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def saved(files: Files) -> set[str]:
    made = {name: data for label, (name, data) in files.items() if label == f"Save {name}"}
    for name, content in made.items():
        Path(name).write_text(content, encoding="utf-8")
    return {*made}


def assert_same_sides(code: Code, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    compared: dict[str, Any] = names_of(code.python[-1])["sides"]
    sides = answer(code.commands[-1], capsys)["sides"]
    for side, plan in zip(sides, compared.values(), strict=True):
        assert (side["cost"], side["evidence"]["value"]) == (plan.cost, plan.evidence.value)
    return compared


def test_code_of_a_comparison_gives_its_numbers(
    capsys: pytest.CaptureFixture[str], files: Files
) -> None:
    app = visit(COMPARE, study="psy_stroop", alpha="0.01")
    for source, number in (("The three labs", 0), ("Yours, offer, least loss", 2)):
        totals = row(press(app, source), "Total")
        files.clear()
        code = shown(app, COMPARE)
        assert len(saved(files)) == number
        sides = assert_same_sides(code, capsys)
        assert [f"{plan.cost:,.0f}" for plan in sides.values()] == totals


def test_runs_have_code_if_played_by_rule() -> None:
    case = Workspace.model_validate({"case": {**CASE, "scientist": "direct"}}).case
    sides = [CodeSide(case, case.pack(), name, name == "Run") for name in ("Run", "Plan")]
    assert compare_command(sides) == ("", {})
    names = names_of(compare_python(sides))
    assert names["sides"]["Run"].setup == case.setup(case.pack())
    hand = case.replace(scientist=ScientistKind.PERSON)
    assert compare_python([CodeSide(hand, hand.pack(), "Hand", is_run=True), *sides]) == ""


@pytest.mark.usefixtures("browsers")
def test_own_study_is_a_file_to_download(capsys: pytest.CaptureFixture[str], files: Files) -> None:
    app = using()
    files.clear()
    (check, _), [python] = shown(app, PROTOCOL)
    assert "not part of ReplicaLab" in in_drawer(app)
    assert saved(files) == {"my_stroop.yaml"}
    assert answer(check, capsys)["cost"] == names_of(python)["plan"].cost
    app.session_state[TABS] = "One file"
    press(app, "Share")
    _, make = files["Save the file"]
    assert "&#34;text&#34;: &#34;" in make()
