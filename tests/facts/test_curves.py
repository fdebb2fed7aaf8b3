"""What the curves of power analysis say: titles, what they assume, and their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from replicalab.assessment import assess
from replicalab.designs import KINDS
from replicalab.facts import texts
from replicalab.facts.curves import (
    assumed_text,
    bound_text,
    effect_rows,
    effect_title,
    level_text,
    needed_title,
    outside_text,
    samples_rows,
    samples_title,
)
from replicalab.models import revise
from replicalab.planner.curves import Curves
from replicalab.scenarios import Design, Difficulty, list_scenarios, load_scenario
from tests.designs.examples import design_of
from tests.factories import make_pack, make_protocol
from tests.golden import assert_golden


def of_kind(design: Design) -> Curves:
    return Curves(assess(make_protocol(sample_size=152), make_pack(design=design)))


def said(found: Curves) -> Iterator[str]:
    yield samples_title(found)
    yield assumed_text(found)
    if found.effects:
        yield effect_title(found)
        yield needed_title(found)
        yield outside_text(found)
    yield bound_text(found)
    yield level_text(found)


def tables(found: Curves) -> Iterator[str]:
    """Yield the rows of both tables, those of the samples first."""
    for row in (*samples_rows(found), *effect_rows(found)):
        yield " | ".join(filter(None, row))


def test_curves_are_told_as_the_golden_file_has_them() -> None:
    shipped = {
        study.scenario_id: load_scenario(study.scenario_id, Difficulty.MEDIUM)
        for study in list_scenarios()
    }
    curveses = {name: Curves(assess(p.reference_protocol, p)) for name, p in shipped.items()}
    curveses |= {f"{kind}, 15 % dropout": of_kind(design_of(kind, dropout=0.15)) for kind in KINDS}
    text = [
        "\n".join([f"# {name}", *filter(None, said(curves))]) for name, curves in curveses.items()
    ]
    reef = load_scenario("eco_reef_fish", Difficulty.EASY)
    short = revise(shipped["psy_ego_depletion"].reference_protocol, duration_days=2)
    for name, curves in {
        "a table with dropout": curveses["two_group, 15 % dropout"],
        "more than exist": Curves(assess(revise(reef.reference_protocol, sample_size=400), reef)),
        "too few days": Curves(assess(short, shipped["psy_ego_depletion"])),
    }.items():
        text.append("\n".join([f"# {name}", *filter(None, said(curves)), *tables(curves)]))
    assert_golden("curves", "\n\n".join(text))


def test_table_over_the_effect_tells_the_evidence_and_the_samples_of_each() -> None:
    curves = of_kind(design_of("two_group", effect_planning=0.5, sesoi=0.4))
    rows = {row[3]: row[:3] for row in effect_rows(curves)}
    assert rows["planned"] == ("0.5", "0.86", "128")
    assert rows["smallest of interest"] == ("0.4", "0.69", "199")


def test_each_text_has_one_name() -> None:
    names = re.findall(r"^[A-Z_]+(?= = )", Path(texts.__file__).read_text("utf-8"), re.MULTILINE)
    assert len(names) == len(set(names))
