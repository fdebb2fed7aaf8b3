"""What the curves of power analysis say: titles, what they assume, and their numbers."""

from __future__ import annotations

from collections.abc import Iterator

from replicalab.assessment import assess
from replicalab.planner.curves import Curves
from replicalab.scenarios import Design, DesignKind, Difficulty, list_scenarios, load_scenario
from replicalab.text.curves import (
    assumed_text,
    effect_rows,
    effect_title,
    level_text,
    needed_title,
    outside_text,
    samples_rows,
    samples_title,
)
from tests.factories import make_pack, make_protocol
from tests.golden import assert_golden
from tests.measures.designs import design_of


def of_kind(design: Design) -> Curves:
    return Curves(assess(make_protocol(sample_size=152), make_pack(design=design)))


def said(found: Curves) -> Iterator[str]:
    yield samples_title(found)
    yield assumed_text(found)
    if found.effects:
        yield effect_title(found)
        yield needed_title(found)
        yield outside_text(found)
    yield level_text(found)


def test_curves_are_told_as_the_golden_file_has_them() -> None:
    shipped = {
        study.scenario_id: load_scenario(study.scenario_id, Difficulty.MEDIUM)
        for study in list_scenarios()
    }
    found = {name: Curves(assess(p.reference_protocol, p)) for name, p in shipped.items()}
    found |= {
        f"{kind}, 15 % dropout": of_kind(design_of(kind, dropout=0.15)) for kind in DesignKind
    }
    told = ("\n".join([f"# {name}", *filter(None, said(each))]) for name, each in found.items())
    assert_golden("curves", "\n\n".join(told))


def test_table_over_samples_tells_those_planned_and_those_counted() -> None:
    found = of_kind(design_of(DesignKind.TWO_GROUP, dropout=0.15, effect_planning=0.5))
    yours, target, largest, *rest = samples_rows(found)
    assert yours == ("152", "129", "0.805", "your plan")
    assert target[:2] == ("151", "128")
    assert largest[3] == "the most that fit this lab"
    assert all(int(c.replace(",", "")) <= int(n.replace(",", "")) for n, c, *_ in rest)
    assert 8 <= len(rest) <= 13


def test_table_over_the_effect_tells_the_evidence_and_the_samples_of_each() -> None:
    found = of_kind(design_of(DesignKind.TWO_GROUP, effect_planning=0.5, sesoi=0.4))
    rows = {row[3]: row[:3] for row in effect_rows(found)}
    assert rows["planned"] == ("0.5", "0.86", "128")
    assert rows["smallest of interest"] == ("0.4", "0.69", "199")
