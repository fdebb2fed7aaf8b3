"""Every row of the table of kinds is complete, and kinds are named in this package alone."""

import ast
import re
from pathlib import Path
from typing import Final

import pytest
from pydantic import ValidationError

from replicalab.designs import KINDS, PARAMETERS, DesignParameters, Kind
from replicalab.scenarios import Design
from tests.designs.examples import design_of, effect_of
from tests.factories import make_design

ROOT: Final = Path(__file__).resolve().parents[2]
DESIGNS: Final = ROOT / "replicalab" / "designs"
NUMBERS: Final = {
    "alpha": 0.05, "population_max": 100, "groups": 3, "margin": 9.0, "event_share": 0.5,
}  # fmt: skip

rows: Final = pytest.mark.parametrize("row", KINDS.values(), ids=KINDS)


@rows
def test_a_factor_never_adds_evidence(row: Kind) -> None:
    design = design_of(row.kind)
    effect = effect_of(row.kind, 1.0)
    values = []
    for factor in (1.0, 0.9, 0.5, 0.01):
        seen = row.effect.seen(effect, factor) if row.effect and effect is not None else None
        values.append(row.value(50, seen, DesignParameters.by(design, factor)))
    assert values == sorted(values, reverse=not row.scale.lower_is_better)


def design_with(row: Kind, **numbers: object) -> Design:
    bounds = {"target": 0.1, "floor": 0.2} if row.scale.lower_is_better else {}
    return make_design(kind=row.kind, **{**dict.fromkeys(NUMBERS), **bounds, **numbers})


def needed(row: Kind) -> dict[str, object]:
    return {name: NUMBERS[name] for name in row.needs}


@rows
def test_a_design_gives_what_its_kind_needs(row: Kind) -> None:
    assert design_with(row, **needed(row)).kind == row.kind
    for name in row.needs:
        message = rf"{row.named} design has no {name}; {re.escape(PARAMETERS[name].remedy)}"
        with pytest.raises(ValidationError, match=message):
            design_with(row, **{**needed(row), name: None})


@rows
def test_design_refuses_unused_numbers(row: Kind) -> None:
    for name in ("groups", "margin", "event_share"):
        if name not in row.needs:
            value = NUMBERS[name]
            message = rf"{name} is {value}, but {row.named} design has none; leave it out"
            with pytest.raises(ValidationError, match=message):
                design_with(row, **needed(row), **{name: value})
    if not row.uses("sides"):
        message = rf"sides is 1, but {row.named} design has no one-sided test; leave sides out"
        with pytest.raises(ValidationError, match=message):
            design_with(row, **needed(row), sides=1)
    for name in ("alpha", "population_max"):
        design = design_with(row, **{**needed(row), name: NUMBERS[name]})
        assert getattr(design, name) == NUMBERS[name]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "anova", "effect_planning": -0.2}, "an anova design needs one above 0"),
        ({"kind": "anova", "sesoi": -0.2}, "interest is -0.2; an anova effect is 0 or more"),
        ({"kind": "equivalence", "effect_planning": -0.1}, "needs one of 0 or more"),
        (
            {"kind": "equivalence", "effect_planning": 0.5, "margin": 0.5},
            "the effect is 0.5, and the margin 0.5; assume less than the margin, or widen it",
        ),
        ({"kind": "survival", "effect_planning": 1.0}, "needs one above 0, but not 1"),
        ({"kind": "survival", "effect_published": 0.0}, "a survival effect is above 0"),
        ({"kind": "correlation", "sesoi": 1.0}, "a correlation effect is between 0 and 1"),
        ({"kind": "coverage", "population_max": 9, "sesoi": 0.1}, "coverage has no effect"),
    ],
)
def test_unfit_number_is_refused(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        make_design(**changes)


def test_no_other_module_names_a_kind() -> None:
    names = {row.measure for row in KINDS.values()} | {*KINDS}
    files = [*(ROOT / "replicalab").rglob("*.py"), *(ROOT / "pages").glob("*.py"), ROOT / "app.py"]
    texts = []
    for file in files:
        text = file.read_text(encoding="utf-8")
        if file.is_relative_to(DESIGNS) or not any(f'"{name}"' in text for name in names):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Compare | ast.Set | ast.Dict):
                inside = [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.Constant)]
                keys = [k for k in getattr(node, "keys", []) if isinstance(k, ast.Constant)]
                if any(key.value not in names for key in keys):  # keyed by something else
                    inside = [c for c in inside if c not in keys]
                constants = [c for c in inside if c.value in names]
                texts += [
                    f"{file.relative_to(ROOT)}:{n.lineno}: {ast.unparse(n)}" for n in constants
                ]
    assert not texts, "read it from the row of the kind:\n" + "\n".join(texts)
