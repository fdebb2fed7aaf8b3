"""A design kind that only this file knows is checked, changed, shown and printed like any other."""

import math
from pathlib import Path

import pytest

from replicalab.agents.lab_manager_policy import suggest_alternative
from replicalab.assessment import assess
from replicalab.cli import main
from replicalab.designs import KINDS, Kind
from replicalab.designs.parts import Effect
from replicalab.planner import PlanAnalysis
from replicalab.scenarios import Difficulty, Study, pack_of, parse_study, template_text
from replicalab.ui import study_form
from tests.ui.acting import press, run
from tests.ui.reading import page_text
from tests.ui.walking import at_making, unopened, write

TEXT = template_text().replace("kind: two_group", "kind: toy")
TOY = Kind(
    kind="toy",
    title="Toy kind",
    asks="Does the toy move?",
    sketch=(),
    usual={"effect_planning": 0.5},
    formula=lambda n, size, _: -math.expm1(-n * size * size / 20),
    method="a toy formula",
    source="this test",
    effect=Effect(name="toy effect"),
    measure="toy power",
    groups=2,
    optional=("units", "arms"),
)


@pytest.fixture(autouse=True)
def study(monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.setitem(KINDS, "toy", TOY)
    return parse_study(TEXT, "toy.yaml")


def test_toy_kind_is_checked_and_changed(study: Study) -> None:
    pack = pack_of(study, Difficulty.HARD)
    yours = assess(pack.reference_protocol, pack)
    counted, effect = yours.evidence.analysed, study.design.effect_planning
    assert effect is not None
    assert yours.evidence.value == pytest.approx(1 - math.exp(-counted * effect**2 / 20))
    assert yours.failing
    suggestion = suggest_alternative(yours.plan, yours.check, pack)
    assert suggestion is not None
    plan = PlanAnalysis(yours).least.after
    assert not plan.failing
    assert plan.evidence.measure == "toy power"


def test_toy_kind_is_in_form_and_page() -> None:
    app = write(unopened(), TEXT)
    app.session_state[study_form.PARTS_KEY] = study_form.FIRST
    assert "Does the toy move?" in page_text(at_making(app))
    press(app, "Use this study")
    assert "toy power" in page_text(run(app))


def test_command_prints_toy_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "toy.yaml"
    file.write_text(TEXT)
    assert main(["check", str(file), "--lab", "hard"]) == 1
    assert "toy power" in capsys.readouterr().out
